/*
 * ilp: chains of FFMAs in each warp against warps a scheduler (experiments/ilp.cu).
 */
#include "kernels/experiment.h"

#include <math.h>
#include <stdio.h>

enum { WORK = 256, ROUNDS = 16, MOST_BLOCK = 1024 };

EXPERIMENT_SOURCE(ilp)

static const int64_t WARPS[] = { 1, 2, 3, 4, 5, 6, 8, 12, 16 }, CHAINS[] = { 1, 2, 4, 8 };

static void plan(const struct experiment_point *p, struct experiment_launch *l)
{
    int64_t threads = p->x * p->device->partitions * WARP;
    int64_t blocks = ceil_div(threads, MOST_BLOCK);

    if (threads > p->device->threads_per_sm || p->x % blocks != 0) {
        snprintf(l->skipped, sizeof(l->skipped),
                 "%lld warps a scheduler are no whole blocks that fit on an SM", (long long)p->x);
        return;
    }
    snprintf(l->kernel, sizeof(l->kernel), "ilp_%lld", (long long)p->series);
    l->grid.x = (unsigned)(blocks * max_i64(p->device->sms, 1));
    l->block.x = (unsigned)(threads / blocks);
    l->arguments[l->argument_count++] = ROUNDS;
    l->in_words = MOST_BLOCK;
    l->out_words = (int64_t)l->grid.x * l->block.x;
    l->model_blocks = blocks;
}

static int64_t work_of(const struct experiment_point *p)
{
    return ROUNDS * (WORK / p->series) * p->series;
}

/* Blocks have the same input: one is computed and copied. */
static void reference(const struct experiment_point *p, const struct experiment_launch *l,
                      const uint32_t *in, uint32_t *out)
{
    for (unsigned i = 0; i < l->block.x; i++) {
        float sum = 0, x;

        memcpy(&x, &in[i], sizeof(x));
        for (int64_t k = 0; k < p->series; k++) {
            float v = x + (float)k;

            for (int64_t r = 0; r < work_of(p) / p->series; r++)
                v = v * 0.5f + 0.5f; /* v * 0.5 is exact, so this is the fused result */
            sum += v;
        }
        memcpy(&out[i], &sum, sizeof(sum));
    }
    for (unsigned b = 1; b < l->grid.x; b++)
        memcpy(out + (size_t)b * l->block.x, out, l->block.x * sizeof(*out));
}

/* FFMAs a cycle and scheduler. */
static double value(const struct experiment_point *p, const struct experiment_time *t)
{
    return (double)(p->x * work_of(p)) / t->cycles;
}

static double formula(const struct experiment_point *p)
{
    const struct class_cost *fma = &p->costs->classes[LAT_FMA];

    return fmin(1.0 / fma->interval, (double)(p->x * p->series) / fma->latency);
}

/* The smallest product of warps and chains from which on a scheduler is busy for 95 %. */
static void conclude(const struct experiment_data *d, struct buf *out)
{
    int64_t least = 0;
    double most = 0, one = experiment_at(d, d->value, 0, 0);

    for (size_t s = 0; s < d->series_count; s++)
        for (size_t i = 0; i < d->x_count; i++)
            most = fmax(most, experiment_at(d, d->value, s, i));
    for (size_t s = 0; s < d->series_count; s++)
        for (size_t i = 0; i < d->x_count; i++) {
            int64_t product = d->series[s] * d->xs[i];

            if (experiment_at(d, d->value, s, i) >= 0.95 * most && (!least || product < least))
                least = product;
        }
    buf_printf(out,
               "From warps x chains = %lld on, a scheduler issues all that it can (%.2f FFMA a "
               "cycle)",
               (long long)least, most);
    if (d->xs[0] == 1 && d->series[0] == 1)
        buf_printf(out, "; one chain alone gets a result every %.1f cycles", 1 / one);
    buf_puts(out, ".");
}

const struct experiment EXPERIMENT_ilp = {
    .name = "ilp",
    .question = "how much independent work fills a scheduler: warps, or chains in a warp?",
    .teaches = "A result takes a few cycles, so a scheduler needs that many instructions on their "
               "way. Whether warps or independent instructions of one warp give them is the same.",
    .source = ilp_source,
    .axis = { "warps", "warps a scheduler", WARPS, COUNT(WARPS), 1, 16, .is_log = true },
    .series = { "chains", "chains a thread", CHAINS, COUNT(CHAINS), 1, 8 },
    .basis = EXPERIMENT_CLOCK,
    .quantity = "FFMAs a cycle and scheduler",
    .unit = "%",
    .scale_max = 1,
    .goal_percent = 5,
    .is_calibrated = true,
    .left_out = "the loop's own instructions, the clock's",
    .closed_form = "min(1, warps x chains / latency)",
    .plan = plan,
    .reference = reference,
    .value = value,
    .formula = formula,
    .conclude = conclude,
};
