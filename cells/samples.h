/*
 * Times and clocks as a card's repeats give them: how they come out of an answer,
 * and the quantiles that results show.
 */
#ifndef WB_CELLS_SAMPLES_H
#define WB_CELLS_SAMPLES_H

#include "model/base/arena.h"
#include "model/base/base.h"

/* A field of doubles, copied to the arena; *n gets how many. NULL: none, or out of memory. */
double *samples_read(struct arena *arena, struct bytes record, unsigned tag, size_t *n);

/* Ascending, in place. */
void samples_sort(double *samples, size_t n);

/* The quantile q (0..1) of n > 0 sorted values, between neighbours by distance (numpy's default).
 */
double samples_quantile(const double *sorted, size_t n, double q);

#endif
