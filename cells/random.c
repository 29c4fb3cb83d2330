/*
 * Each lane of an element has a counter of its own (its stream), so that lane 0 of a
 * float4 draws what a float would.
 */
#include "cells/random.h"

#include "cells/real.h"
#include "model/base/philox.h"

#include <math.h>

static const double TWO_PI = 0x1.921fb54442d18p+2;

double random_uniform(uint64_t seed, uint64_t index, unsigned lane, bool wide)
{
    struct philox p = philox_at(seed, index, lane);

    if (!wide)
        return (double)philox_float(p.word[0]);
    return (double)(((uint64_t)p.word[0] << 32 | p.word[1]) >> 11) * 0x1p-53;
}

uint64_t random_bits(uint64_t seed, uint64_t index, unsigned lane)
{
    struct philox p = philox_at(seed, index, lane);

    return (uint64_t)p.word[1] << 32 | p.word[0];
}

double random_normal(uint64_t seed, uint64_t index, unsigned lane)
{
    struct philox p = philox_at(seed, index, lane);
    double u = ((double)p.word[0] + 0.5) * 0x1p-32, v = (double)p.word[1] * 0x1p-32;

    return sqrt(-2 * real_log(u)) * real_cos(TWO_PI * v);
}

int64_t random_between(uint64_t seed, uint64_t index, unsigned lane, int64_t lo, int64_t hi)
{
    uint64_t width = (uint64_t)hi - (uint64_t)lo + 1, bits = random_bits(seed, index, lane);

    if (width == 0) /* all of 64 bits */
        return (int64_t)bits;
    /* The high half of bits * width; a bias of width / 2^64 is none that can be seen. */
    return (int64_t)((uint64_t)lo + (uint64_t)(((unsigned __int128)bits * width) >> 64));
}
