/*
 * its: paths of one warp, each of which waits for loads (experiments/its.cu).
 */
#include "kernels/experiment.h"

#include <math.h>
#include <stdio.h>

enum { LOADS = 64, WORDS = 256, MOST_PATHS = 8 };
enum from { FROM_SHARED, FROM_L2 };

EXPERIMENT_SOURCE(its)

static const int64_t PATHS[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
static const int64_t FROM[] = { FROM_SHARED, FROM_L2 };
static const char *const NAMES[] = { "shared", "l2" };

static void plan(const struct experiment_point *p, struct experiment_launch *l)
{
    snprintf(l->kernel, sizeof(l->kernel), "its_%s", NAMES[p->series]);
    l->block.x = WARP;
    l->arguments[l->argument_count++] = (int32_t)p->x;
    l->in_words = MOST_PATHS * WORDS;
    l->out_words = WARP;
}

/* From each word to the same lane's next one; every path has the same chain. */
static void fill(uint32_t *in, int64_t first, int64_t count, uint64_t seed)
{
    (void)seed;
    for (int64_t k = 0; k < count; k++)
        in[k] = (uint32_t)((first + k + WARP) % WORDS * 4);
}

static void reference(const struct experiment_point *p, const struct experiment_launch *l,
                      const uint32_t *in, uint32_t *out)
{
    (void)p;
    (void)l;
    for (uint32_t lane = 0; lane < WARP; lane++) {
        out[lane] = lane;
        for (int k = 0; k < LOADS; k++)
            out[lane] = in[out[lane]] / 4;
    }
}

/* Cycles of the warp, for each load of a path. */
static double value(const struct experiment_point *p, const struct experiment_time *t)
{
    (void)p;
    return t->cycles / LOADS;
}

/* One path after the other. */
static double formula(const struct experiment_point *p)
{
    const struct costs *c = p->costs;

    return (double)(p->x * (p->series == FROM_SHARED ? c->shared_latency : c->l2_latency));
}

static void conclude_one(const struct experiment_data *d, size_t s, struct buf *out)
{
    size_t last = d->x_count - 1;
    double ratio = experiment_at(d, d->value, s, last) / experiment_at(d, d->value, s, 0);
    double paths = (double)d->xs[last] / (double)d->xs[0];

    buf_printf(out, "%s%s: %lld paths take %.2f times as long as %lld, %s", s ? "; " : "",
               NAMES[d->series[s]], (long long)d->xs[last], ratio, (long long)d->xs[0],
               ratio > 0.85 * paths       ? "so they wait one after the other"
               : ratio < 1 + 0.15 * paths ? "so they wait at the same time"
                                          : "so their waits overlap in part");
}

static void conclude(const struct experiment_data *d, struct buf *out)
{
    for (size_t s = 0; s < d->series_count; s++)
        conclude_one(d, s, out);
    buf_putc(out, '.');
}

const struct experiment EXPERIMENT_its = {
    .name = "its",
    .question = "do the paths of a warp wait one after the other, or at the same time?",
    .teaches = "Lanes on other paths may only use a wait if the hardware changes the path "
               "meanwhile. What it does is measured here.",
    .source = its_source,
    .axis = { "paths", "paths of the warp", PATHS, COUNT(PATHS), 1, 8 },
    .series = { "from", "loads from", FROM, COUNT(FROM), FROM_SHARED, FROM_L2, .names = NAMES },
    .basis = EXPERIMENT_CLOCK,
    .quantity = "cycles for a load of every path",
    .unit = "cycles",
    .goal_percent = 15,
    .left_out = "when the hardware goes over to another path of the warp",
    .closed_form = "paths x latency: one after the other",
    .plan = plan,
    .fill = fill,
    .reference = reference,
    .value = value,
    .formula = formula,
    .conclude = conclude,
};
