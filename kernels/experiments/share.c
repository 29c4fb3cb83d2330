/*
 * All of these are linear modulo 2^32, so that many steps are one: f(v) = a v + c after itself is
 * a^2 v + (a + 1) c, and so on by doubling.
 */
#include "kernels/experiments/share.h"

#include "model/occupancy.h"

/* Of full period modulo every power of two: 1 modulo 4, and an odd term. */
enum { WALK_FACTOR = 1664525, WALK_TERM = 1013904223, WARP_LEAP = 97 };

#define LINE_STEP 2654435769u /* 2^32 divided by the golden ratio: neighbours are far apart */

static uint32_t leap(uint32_t v, uint32_t factor, uint32_t term, int64_t steps)
{
    for (; steps > 0; steps >>= 1) {
        if (steps & 1)
            v = v * factor + term;
        term = (factor + 1) * term;
        factor *= factor;
    }
    return v;
}

uint32_t share_multiply(uint32_t v, uint32_t factor, int64_t steps)
{
    return leap(v, factor, 1, steps);
}

void share_fill_table(uint32_t *in, int64_t first, int64_t count, uint64_t seed)
{
    (void)seed;
    for (int64_t k = 0; k < count; k++)
        in[k] = leap((uint32_t)(first + k), WALK_FACTOR, WALK_TERM, 1) % SHARE_TABLE_WORDS;
}

uint32_t share_walk(int64_t warp, int64_t steps)
{
    uint32_t at = (uint32_t)(warp * WARP_LEAP) % SHARE_TABLE_WORDS;

    return leap(at, WALK_FACTOR, WALK_TERM, steps) % SHARE_TABLE_WORDS;
}

void share_fill_line(uint32_t *in, int64_t first, int64_t count, uint64_t seed)
{
    uint32_t v = (uint32_t)seed + (uint32_t)first * LINE_STEP;

    for (int64_t k = 0; k < count; k++)
        in[k] = v + (uint32_t)k * LINE_STEP;
}

uint32_t share_sum_line(const uint32_t *in, int64_t first, int64_t step, int64_t count)
{
    uint64_t pairs = (uint64_t)count * (uint64_t)(count - 1) / 2;

    return (uint32_t)count * (in[0] + (uint32_t)first * LINE_STEP) +
           (uint32_t)pairs * (uint32_t)step * LINE_STEP;
}

int64_t share_sms(const struct device *device)
{
    return max_i64(device->sms, 1);
}

int64_t share_resident_blocks(const struct device *device, int64_t block, int registers,
                              int64_t dynamic_bytes)
{
    struct launch_shape shape = { .block = (int)block,
                                  .regs = registers,
                                  .dynamic_bytes = dynamic_bytes,
                                  .carveout = OCCUPANCY_DEFAULT_CARVEOUT };
    struct occupancy occupancy = { 0 };
    struct err err = { 0 };
    int rc = occupancy_of(device, &shape, &occupancy, &err);

    err_done(&err);
    return rc < 0 ? 0 : occupancy.active_blocks;
}

double share_us(const struct experiment_point *p, double cycles)
{
    return cycles / (p->device->clock_mhz > 0 ? p->device->clock_mhz : 1000);
}

double share_launch_us(const struct experiment_point *p, double cycles)
{
    double us = share_us(p, cycles) + p->costs->launch_ns / 1e3;
    double least = p->costs->launch_least_ns / 1e3;

    return us > least ? us : least;
}

double share_memory_rate(const struct experiment_point *p)
{
    return p->device->bandwidth_gbs * 1e3 * p->costs->memory_percent / 100;
}
