/*
 * What several experiments have in common: inputs whose results the host knows without a loop, and
 * how many blocks of a launch share an SM.
 */
#ifndef WB_KERNELS_EXPERIMENTS_SHARE_H
#define WB_KERNELS_EXPERIMENTS_SHARE_H

#include "kernels/experiment.h"

/* ---- v = v * factor + 1, so many times ---- */

enum { SHARE_FACTOR = 1664525 }; /* of Numerical Recipes' generator: no power of it is small */

/* What `steps` rounds make of v; modulo 2^32. In time log(steps). */
uint32_t share_multiply(uint32_t v, uint32_t factor, int64_t steps);

/* ---- A table to walk through: in[v] is the next v ---- */

enum { SHARE_TABLE_WORDS = 1 << 20 }; /* 4 MB: in the L2 of any GPU that this models */

/* As experiment.fill: one cycle through all words, by leaps. */
void share_fill_table(uint32_t *in, int64_t first, int64_t count, uint64_t seed);

/* The word at which a warp ends that begins as blocksize.cu's do. */
uint32_t share_walk(int64_t warp, int64_t steps);

/* ---- Words that grow by the same amount ---- */

/* As experiment.fill: in[k] = seed + k * a large odd number, modulo 2^32. */
void share_fill_line(uint32_t *in, int64_t first, int64_t count, uint64_t seed);

/* in[first] + in[first + step] + ... of `count` words, from in[0] and the rule alone. */
uint32_t share_sum_line(const uint32_t *in, int64_t first, int64_t step, int64_t count);

/* ---- The device ---- */

/* SMs, or 1 for a bare compute capability. */
int64_t share_sms(const struct device *device);

/* Blocks of a launch that share an SM; 0: none fits. registers 0: they are no limit. */
int64_t share_resident_blocks(const struct device *device, int64_t block, int registers,
                              int64_t dynamic_bytes);

/* Microseconds of `cycles` at the device's clock, and of a launch that takes them. */
double share_us(const struct experiment_point *p, double cycles);
double share_launch_us(const struct experiment_point *p, double cycles);

/* Bytes a microsecond that the model's memory gives to kernels. */
double share_memory_rate(const struct experiment_point *p);

#endif
