/*
 * predication: an if with n steps on both ways, on which lanes or warps disagree
 * (experiments/predication.cu).
 */
#include "kernels/experiment.h"

#include <math.h>
#include <stdio.h>

enum { ROUNDS = 32, BLOCK = 128 };
enum split { SPLIT_LANES, SPLIT_WARPS };

EXPERIMENT_SOURCE(predication)

static const int64_t STEPS[] = { 1, 2, 4, 8, 16, 32, 64, 128 };
static const int64_t MADE[] = { 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128 };
static const int64_t SPLITS[] = { SPLIT_LANES, SPLIT_WARPS };
static const char *const NAMES[] = { "lanes", "warps" };

static void plan(const struct experiment_point *p, struct experiment_launch *l)
{
    if (experiment_index(MADE, COUNT(MADE), p->x) < 0) {
        snprintf(l->skipped, sizeof(l->skipped),
                 "body=%lld: there are 1 to 4, 6, 8, 12, 16, 24, 32, 64, 128", (long long)p->x);
        return;
    }
    snprintf(l->kernel, sizeof(l->kernel), "predication_%lld", (long long)p->x);
    l->grid.x = (unsigned)max_i64(p->device->sms, 1);
    l->block.x = BLOCK;
    l->arguments[l->argument_count++] = ROUNDS;
    l->arguments[l->argument_count++] = p->series == SPLIT_LANES ? 0 : 5;
    l->in_words = BLOCK;
    l->out_words = (int64_t)l->grid.x * BLOCK;
    l->model_blocks = 1;
}

static float steps_of(float v, bool is_odd, int64_t steps)
{
    for (int64_t k = 0; k < steps; k++)
        if (is_odd)
            v = v * 0.5f + 0.25f; /* v * 0.5 is exact, so this is the fused result */
        else
            v = k % 2 ? v + 0.125f : v * 0.75f;
    return v;
}

static void reference(const struct experiment_point *p, const struct experiment_launch *l,
                      const uint32_t *in, uint32_t *out)
{
    for (int64_t i = 0; i < l->out_words; i++) {
        int64_t thread = i % BLOCK;
        bool is_odd = (p->series == SPLIT_LANES ? thread : thread / WARP) % 2;
        float v;

        memcpy(&v, &in[thread], sizeof(v));
        for (int r = 0; r < ROUNDS; r++)
            v = steps_of(v, is_odd, p->x);
        memcpy(&out[i], &v, sizeof(v));
    }
}

static double value(const struct experiment_point *p, const struct experiment_time *t)
{
    (void)p;
    return t->cycles / ROUNDS;
}

/* The ways that a warp runs, of steps that need each other. */
static double formula(const struct experiment_point *p)
{
    return (double)((p->series == SPLIT_LANES ? 2 : 1) * p->x) * p->costs->classes[LAT_FMA].latency;
}

static void conclude(const struct experiment_data *d, struct buf *out)
{
    int lanes = experiment_index(d->series, d->series_count, SPLIT_LANES);
    int warps = experiment_index(d->series, d->series_count, SPLIT_WARPS);
    size_t last = d->x_count - 1, even = d->x_count;
    double ratio = 0;

    if (lanes < 0 || warps < 0) {
        buf_printf(out, "%.0f cycles a round with %lld steps: give both splits to compare.",
                   d->value[last], (long long)d->xs[last]);
        return;
    }
    for (size_t i = 0; i < d->x_count; i++) {
        ratio = experiment_at(d, d->value, (size_t)lanes, i) /
                experiment_at(d, d->value, (size_t)warps, i);
        if (ratio < 1.1)
            even = i;
    }
    if (even < d->x_count)
        buf_printf(out, "Up to a body of %lld it does not matter who disagrees; ",
                   (long long)d->xs[even]);
    else
        buf_printf(out, "Already with a body of %lld lanes that disagree cost more; ",
                   (long long)d->xs[0]);
    buf_printf(out, "with %lld, lanes that disagree take %.2f times as long as warps that do.",
               (long long)d->xs[last], ratio);
}

const struct experiment EXPERIMENT_predication = {
    .name = "predication",
    .question = "from which length on is an if a branch, and what does it cost?",
    .teaches = "A short if is done by conditions on instructions: everybody goes through both "
               "ways. A long one is a branch, and only warps that disagree run both.",
    .source = predication_source,
    .axis = { "body", "steps on each way of the if", STEPS, COUNT(STEPS), 1, 128, .is_log = true },
    .series = { "split", "who disagrees", SPLITS, COUNT(SPLITS), SPLIT_LANES, SPLIT_WARPS,
                .names = NAMES },
    .basis = EXPERIMENT_CLOCK,
    .quantity = "cycles a round",
    .unit = "cycles",
    .goal_percent = 15,
    .left_out = "that ptxas makes conditions of branches which the PTX still has",
    .closed_form = "ways that a warp runs x steps x latency",
    .plan = plan,
    .reference = reference,
    .value = value,
    .formula = formula,
    .conclude = conclude,
};
