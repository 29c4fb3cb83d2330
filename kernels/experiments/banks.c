/*
 * banks: loads from shared memory by the stride of the lanes (experiments/banks.cu).
 */
#include "kernels/experiment.h"

#include <math.h>
#include <stdio.h>

enum { UNROLL = 16, ROUNDS = 9, LOADS = UNROLL * ROUNDS, WORDS = 1024, WARPS = 32 };
enum way { WAY_CHAIN, WAY_STREAM };

_Static_assert(ROUNDS % 2 == 1, "an odd number of equal words leaves one of them");

EXPERIMENT_SOURCE(banks)

static const int64_t STRIDES[] = { 1, 2, 3, 4, 6, 8, 12, 16, 24, 32 };
static const int64_t WAYS[] = { WAY_CHAIN, WAY_STREAM };
static const char *const WAY_NAMES[] = { "chain", "stream" };

static int64_t warps_of(const struct experiment_point *p)
{
    return p->series == WAY_CHAIN ? 1 : WARPS;
}

static void plan(const struct experiment_point *p, struct experiment_launch *l)
{
    snprintf(l->kernel, sizeof(l->kernel), "banks_%s", WAY_NAMES[p->series]);
    l->grid.x = (unsigned)max_i64(p->device->sms, 1);
    l->block.x = (unsigned)(warps_of(p) * WARP);
    l->arguments[l->argument_count++] = ROUNDS;
    l->arguments[l->argument_count++] = (int32_t)p->x;
    l->in_words = 1;
    l->out_words = (int64_t)l->grid.x * l->block.x;
    l->model_blocks = 1;
}

static void reference(const struct experiment_point *p, const struct experiment_launch *l,
                      const uint32_t *in, uint32_t *out)
{
    (void)in;
    for (int64_t i = 0; i < l->out_words; i++) {
        uint32_t word = (uint32_t)(i % WARP * p->x);

        out[i] = p->series == WAY_CHAIN ? word : UNROLL * 4 * word;
    }
}

/* Cycles that one load of one warp takes. */
static double value(const struct experiment_point *p, const struct experiment_time *t)
{
    return t->cycles / (double)(LOADS * warps_of(p));
}

/* How many lanes want different words of the same bank: gcd(stride, 32). */
static int64_t passes_of(int64_t stride)
{
    return stride & -stride;
}

static double formula(const struct experiment_point *p)
{
    int64_t passes = min_i64(passes_of(p->x), WARP);

    if (p->series == WAY_STREAM)
        return (double)passes;
    return p->costs->shared_latency + (double)((passes - 1) * p->costs->shared_pass_latency);
}

static double at(const struct experiment_data *d, enum way way, int64_t stride)
{
    int s = experiment_index(d->series, d->series_count, way);
    int x = experiment_index(d->xs, d->x_count, stride);

    return s < 0 || x < 0 ? (double)NAN : experiment_at(d, d->value, (size_t)s, (size_t)x);
}

static void conclude(const struct experiment_data *d, struct buf *out)
{
    double one = at(d, WAY_CHAIN, 1), all = at(d, WAY_CHAIN, 32);
    double first = at(d, WAY_STREAM, 1), last = at(d, WAY_STREAM, 32);
    bool has_chain = isfinite(one) && isfinite(all), has_stream = isfinite(first) && isfinite(last);

    if (has_chain)
        buf_printf(out,
                   "A load without conflict takes %.1f cycles, and %.2f more for each further pass "
                   "(%.0f with all 32 lanes on one bank)",
                   one, (all - one) / 31, all);
    if (has_stream)
        buf_printf(out,
                   "%s of many loads each takes %.1f cycles of the SM, with all on one bank %.1f",
                   has_chain ? ";" : "Out", first, last);
    if (!has_chain && !has_stream)
        buf_printf(out, "%.1f cycles a load at %s", d->value[0], "the first point");
    buf_putc(out, '.');
}

const struct experiment EXPERIMENT_banks = {
    .name = "banks",
    .question = "what do bank conflicts cost, for one load and for many?",
    .teaches = "Lanes that want different words of one bank take turns. One load feels a few "
               "cycles for each turn; a stream of loads is slower by the number of turns.",
    .source = banks_source,
    .axis = { "stride", "stride of the lanes, words", STRIDES, COUNT(STRIDES), 1, 32,
              .is_log = true },
    .series = { "way", "loads", WAYS, COUNT(WAYS), WAY_CHAIN, WAY_STREAM, .names = WAY_NAMES },
    .basis = EXPERIMENT_CLOCK,
    .quantity = "cycles a load",
    .unit = "cycles",
    .goal_percent = 5,
    .is_calibrated = true,
    .left_out = "what the queue in front of shared memory holds back",
    .closed_form = "chain: latency + (passes - 1) x further; stream: passes",
    .plan = plan,
    .reference = reference,
    .value = value,
    .formula = formula,
    .conclude = conclude,
};
