/*
 * Random numbers that are the same on every machine and in every order: a
 * number is a function of (seed, index), not of the numbers drawn before it.
 *
 * Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC'11),
 * Philox4x32-10; the constants and test vectors are those of the Random123 library.
 */
#ifndef WB_MODEL_BASE_PHILOX_H
#define WB_MODEL_BASE_PHILOX_H

#include "model/base/base.h"

struct philox {
    uint32_t word[4];
};

/* The generator itself: 128 bits of counter and 64 of key to 128 random bits. */
struct philox philox4x32(struct philox counter, uint32_t key0, uint32_t key1);

/* Four words for element `index` of stream `stream` under a seed. */
static inline struct philox philox_at(uint64_t seed, uint64_t index, uint64_t stream)
{
    struct philox counter = { { (uint32_t)index, (uint32_t)(index >> 32), (uint32_t)stream,
                                (uint32_t)(stream >> 32) } };

    return philox4x32(counter, (uint32_t)seed, (uint32_t)(seed >> 32));
}

/* Uniform in 0 <= x < 1, every value a multiple of 2^-24: exact in float and in double. */
static inline float philox_float(uint32_t word)
{
    return (float)(word >> 8) * 0x1p-24f;
}

/* Uniform in 0..most, without the bias that a remainder has; off by less than 2^-32 * most. */
static inline uint32_t philox_below(uint32_t word, uint32_t most)
{
    return (uint32_t)(((uint64_t)word * ((uint64_t)most + 1)) >> 32);
}

#endif
