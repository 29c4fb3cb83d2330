/*
 * units: chains and streams of one kind of instruction (experiments/units.cu).
 */
#include "kernels/experiment.h"

#include <math.h>
#include <stdio.h>

enum { WORK = 128, ROUNDS = 8, STEPS = WORK * ROUNDS, CHAINS = 4, STREAM_WARPS = 8 };
enum unit { UNIT_FP32, UNIT_HALF2, UNIT_FP64, UNIT_INT32, UNIT_IMAD, UNIT_SFU, UNIT_SHUFFLE };
enum way { WAY_CHAIN, WAY_STREAM };

EXPERIMENT_SOURCE(units)

static const int64_t KINDS[] = { UNIT_FP32, UNIT_HALF2, UNIT_FP64,   UNIT_INT32,
                                 UNIT_IMAD, UNIT_SFU,   UNIT_SHUFFLE };
static const char *const NAMES[] = { "fp32", "half2", "fp64", "int32", "imad", "sfu", "shuffle" };
static const enum latency_class CLASSES[] = { LAT_FMA,  LAT_HALF, LAT_F64, LAT_ALU,
                                              LAT_IMUL, LAT_SFU,  LAT_SHFL };
static const int64_t WAYS[] = { WAY_CHAIN, WAY_STREAM };
static const char *const WAY_NAMES[] = { "chain", "stream" };

static void plan(const struct experiment_point *p, struct experiment_launch *l)
{
    bool is_chain = p->series == WAY_CHAIN;

    snprintf(l->kernel, sizeof(l->kernel), "%s_%s", NAMES[p->x], WAY_NAMES[p->series]);
    l->grid.x = (unsigned)max_i64(p->device->sms, 1);
    l->block.x = (unsigned)(is_chain ? WARP : STREAM_WARPS * p->device->partitions * WARP);
    l->arguments[l->argument_count++] = ROUNDS;
    l->in_words = WARP;
    l->out_words = (int64_t)l->grid.x * l->block.x;
    l->model_blocks = 1;
    if (l->block.x > (unsigned)p->device->threads_per_block)
        snprintf(l->skipped, sizeof(l->skipped), "a block of %u threads is too large", l->block.x);
}

static uint32_t float_chain(uint32_t bits, int64_t steps)
{
    float v;

    memcpy(&v, &bits, sizeof(v));
    while (steps-- > 0)
        v = v * 0.5f + 0.5f; /* v * 0.5 is exact, so this is the fused result */
    memcpy(&bits, &v, sizeof(v));
    return bits;
}

static uint32_t double_chain(uint32_t bits, int64_t steps)
{
    double v;
    float f;

    memcpy(&f, &bits, sizeof(f));
    v = (double)f;
    while (steps-- > 0)
        v = v * 0.5 + 0.5;
    f = (float)v;
    memcpy(&bits, &f, sizeof(f));
    return bits;
}

/* What one chain of so many steps makes of the word of a lane. */
static uint32_t chain(enum unit unit, const uint32_t *in, int64_t lane, int64_t steps)
{
    uint32_t v = in[lane];

    switch (unit) {
    case UNIT_FP32:
        return float_chain(v, steps);
    case UNIT_HALF2:
        return 0x3c003c00;
    case UNIT_FP64:
        return double_chain(v, steps);
    case UNIT_INT32:
        steps %= 32;
        return steps ? v << steps | v >> (32 - steps) : v;
    case UNIT_IMAD:
        while (steps-- > 0)
            v = v * v + v;
        return v;
    case UNIT_SFU:
        return 0x3f800000;
    default: /* an even number of swaps with the neighbour is none */
        return in[steps % 2 ? lane ^ 1 : lane];
    }
}

static void reference(const struct experiment_point *p, const struct experiment_launch *l,
                      const uint32_t *in, uint32_t *out)
{
    uint32_t chains = p->series == WAY_CHAIN ? 1 : CHAINS;

    for (int64_t lane = 0; lane < WARP; lane++)
        out[lane] = chains * chain((enum unit)p->x, in, lane, STEPS / chains);
    for (int64_t i = WARP; i < l->out_words; i++)
        out[i] = out[i % WARP];
}

/* Cycles of a scheduler that one instruction of one warp takes. */
static double value(const struct experiment_point *p, const struct experiment_time *t)
{
    return t->cycles / (double)(STEPS * (p->series == WAY_CHAIN ? 1 : STREAM_WARPS));
}

static double formula(const struct experiment_point *p)
{
    const struct class_cost *cost = &p->costs->classes[CLASSES[p->x]];

    return p->series == WAY_CHAIN ? cost->latency : cost->interval;
}

static double at(const struct experiment_data *d, enum way way, enum unit unit)
{
    int s = experiment_index(d->series, d->series_count, way);
    int x = experiment_index(d->xs, d->x_count, unit);

    return s < 0 || x < 0 ? (double)NAN : experiment_at(d, d->value, (size_t)s, (size_t)x);
}

static void conclude(const struct experiment_data *d, struct buf *out)
{
    const char *between = "";

    for (int unit = UNIT_FP32; unit <= UNIT_SHUFFLE; unit++) {
        double latency = at(d, WAY_CHAIN, (enum unit)unit);
        double interval = at(d, WAY_STREAM, (enum unit)unit);

        if (isfinite(latency) && isfinite(interval)) {
            buf_printf(out, "%s%s %.1f/%.1f", between, NAMES[unit], latency, interval);
            between = ", ";
        }
    }
    buf_printf(out, "%s cycles until the result / until the next.", *between ? "" : "No pair of");
}

const struct experiment EXPERIMENT_units = {
    .name = "units",
    .question = "how long does each unit take, and how often does it take an instruction?",
    .teaches = "Latency and rate are two numbers: a unit of 4 lanes takes an instruction of a warp "
               "every 8th cycle, however many warps wait.",
    .source = units_source,
    .axis = { "unit", "unit", KINDS, COUNT(KINDS), UNIT_FP32, UNIT_SHUFFLE, .names = NAMES },
    .series = { "way", "instructions", WAYS, COUNT(WAYS), WAY_CHAIN, WAY_STREAM,
                .names = WAY_NAMES },
    .basis = EXPERIMENT_CLOCK,
    .quantity = "cycles an instruction",
    .unit = "cycles",
    .goal_percent = 5,
    .is_calibrated = true,
    .left_out = "units that instructions of several kinds share",
    .closed_form = "chain: latency; stream: 32 / lanes of a sub-core",
    .plan = plan,
    .reference = reference,
    .value = value,
    .formula = formula,
    .conclude = conclude,
};
