/*
 * Random numbers of elements: element i draws from Philox4x32-10 with i as counter and the
 * seed as key, so that data are the same on every machine and for every order of drawing.
 */
#ifndef WB_CELLS_RANDOM_H
#define WB_CELLS_RANDOM_H

#include "cells/buffer.h"

/* lane: 0 .. 3 of a vector; further numbers of an element take further streams. */

/* Uniform in 0 <= x < 1: a multiple of 2^-24, or of 2^-53 for wide (a double). */
double random_uniform(uint64_t seed, uint64_t index, unsigned lane, bool wide);
/* 64 random bits; the low ones are those of the narrow kinds. */
uint64_t random_bits(uint64_t seed, uint64_t index, unsigned lane);
/* Normal with mean 0 and deviation 1 (Box and Muller); 32 bits of radius: at most 6.77. */
double random_normal(uint64_t seed, uint64_t index, unsigned lane);
/* A whole number in lo..hi, both included. */
int64_t random_between(uint64_t seed, uint64_t index, unsigned lane, int64_t lo, int64_t hi);

#endif
