/*
 * barrier: barriers with nothing between, against the warps of the block (experiments/barrier.cu).
 */
#include "kernels/experiment.h"

#include <math.h>

enum { UNROLL = 16, ROUNDS = 16, BARRIERS = UNROLL * ROUNDS };

EXPERIMENT_SOURCE(barrier)

static const int64_t WARPS[] = { 1, 2, 4, 6, 8, 12, 16, 20, 24, 28, 32 };

static void plan(const struct experiment_point *p, struct experiment_launch *l)
{
    memcpy(l->kernel, "barrier", sizeof("barrier"));
    l->grid.x = (unsigned)max_i64(p->device->sms, 1);
    l->block.x = (unsigned)(p->x * WARP);
    l->arguments[l->argument_count++] = ROUNDS;
    l->in_words = l->block.x;
    l->out_words = (int64_t)l->grid.x * l->block.x;
    l->model_blocks = 1;
}

static void reference(const struct experiment_point *p, const struct experiment_launch *l,
                      const uint32_t *in, uint32_t *out)
{
    (void)p;
    for (int64_t i = 0; i < l->out_words; i++)
        out[i] = in[i % l->block.x] + BARRIERS;
}

static double value(const struct experiment_point *p, const struct experiment_time *t)
{
    (void)p;
    return t->cycles / BARRIERS;
}

static double formula(const struct experiment_point *p)
{
    return p->costs->barrier_base + (double)p->costs->barrier_per_warp * (double)p->x;
}

/* The straight line through all points that is nearest in the squares. */
static void fit(const struct experiment_data *d, double *base, double *slope)
{
    double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;

    for (size_t i = 0; i < d->x_count; i++) {
        double x = (double)d->xs[i], y = d->value[i];

        if (!isfinite(y))
            continue;
        n++;
        sx += x;
        sy += y;
        sxx += x * x;
        sxy += x * y;
    }
    *slope = n * sxx - sx * sx > 0 ? (n * sxy - sx * sy) / (n * sxx - sx * sx) : 0;
    *base = n > 0 ? (sy - *slope * sx) / n : 0;
}

static void conclude(const struct experiment_data *d, struct buf *out)
{
    double base, slope;
    size_t last = d->x_count - 1;

    fit(d, &base, &slope);
    buf_printf(out,
               "A barrier takes about %.1f cycles and %.2f more for each warp: %.0f for a block of "
               "%lld warps.",
               base, slope, d->value[last], (long long)d->xs[last]);
}

const struct experiment EXPERIMENT_barrier = {
    .name = "barrier",
    .question = "what does __syncthreads() cost, and how much more with more warps?",
    .teaches = "A barrier is not free: every warp has to come, and be told. Large blocks pay more "
               "for each one.",
    .source = barrier_source,
    .axis = { "warps", "warps of the block", WARPS, COUNT(WARPS), 1, 32 },
    .basis = EXPERIMENT_CLOCK,
    .quantity = "cycles a barrier",
    .unit = "cycles",
    .goal_percent = 10,
    .is_calibrated = true,
    .left_out = "how arrivals are counted: the model's cost is a straight line",
    .closed_form = "base + warps x per_warp",
    .plan = plan,
    .reference = reference,
    .value = value,
    .formula = formula,
    .conclude = conclude,
};
