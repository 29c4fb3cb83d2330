/*
 * nested: depth of nested ifs on the bits of a thread's number (experiments/nested.cu).
 */
#include "kernels/experiment.h"

#include <math.h>
#include <stdio.h>

enum { STEPS = 64, ROUNDS = 4, BLOCK = 128 };

EXPERIMENT_SOURCE(nested)

static const int64_t DEPTHS[] = { 0, 1, 2, 3, 4, 5, 6, 7 };

static void plan(const struct experiment_point *p, struct experiment_launch *l)
{
    snprintf(l->kernel, sizeof(l->kernel), "nested_%lld", (long long)p->x);
    l->grid.x = (unsigned)max_i64(p->device->sms, 1);
    l->block.x = BLOCK;
    l->arguments[l->argument_count++] = ROUNDS;
    l->in_words = BLOCK;
    l->out_words = (int64_t)l->grid.x * BLOCK;
    l->model_blocks = 1;
}

static void reference(const struct experiment_point *p, const struct experiment_launch *l,
                      const uint32_t *in, uint32_t *out)
{
    for (int64_t i = 0; i < l->out_words; i++) {
        float r = 3.5f + 0.003f * (float)(i % BLOCK & ((1 << p->x) - 1)), v;

        if (i >= BLOCK) {
            out[i] = out[i % BLOCK];
            continue;
        }
        memcpy(&v, &in[i], sizeof(v));
        for (int k = 0; k < ROUNDS * STEPS; k++)
            v = r * fmaf(-v, v, v);
        memcpy(&out[i], &v, sizeof(v));
    }
}

/* Time of a warp, in paths of FFMAs that need each other. */
static double value(const struct experiment_point *p, const struct experiment_time *t)
{
    return t->cycles / (ROUNDS * STEPS * 2 * p->costs->classes[LAT_FMA].latency);
}

static double formula(const struct experiment_point *p)
{
    return (double)min_i64(1 << p->x, WARP);
}

static void conclude(const struct experiment_data *d, struct buf *out)
{
    size_t last = d->x_count - 1;
    int five = experiment_index(d->xs, d->x_count, 5);

    buf_printf(out, "Depth %lld takes %.1f times as long as depth %lld", (long long)d->xs[last],
               d->value[last] / d->value[0], (long long)d->xs[0]);
    if (five >= 0 && (size_t)five < last)
        buf_printf(out,
                   ", and %.2f times as long as depth 5: a warp has 32 lanes, so no more than "
                   "32 paths",
                   d->value[last] / d->value[five]);
    buf_putc(out, '.');
}

const struct experiment EXPERIMENT_nested = {
    .name = "nested",
    .question = "how fast do nested ifs multiply the paths of a warp?",
    .teaches = "Each if that splits lanes doubles the paths, up to one a lane. An if on which all "
               "lanes of a warp agree costs nothing.",
    .source = nested_source,
    .axis = { "depth", "depth of the ifs", DEPTHS, COUNT(DEPTHS), 0, 7 },
    .basis = EXPERIMENT_CLOCK,
    .quantity = "time of a warp, in paths",
    .unit = "paths",
    .goal_percent = 5,
    .left_out = "fetching the instructions of many paths",
    .closed_form = "min(2^depth, 32)",
    .plan = plan,
    .reference = reference,
    .value = value,
    .formula = formula,
    .conclude = conclude,
};
