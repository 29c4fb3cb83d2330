/*
 * blocksize: warps that share an SM, by the size of the block (experiments/blocksize.cu).
 */
#include "kernels/experiments/share.h"

#include <math.h>
#include <stdio.h>

enum { WALK, COMPUTE, KERNELS };
enum {
    FULL_SMS = 8, /* the launch has so many threads for each that an SM can hold */
    WALK_STEPS = 32,
    COMPUTE_STEPS = 36, /* of eight multiplications: about as long as the walk */
    CHAINS = 8,
    SAMPLE = 2
};

EXPERIMENT_SOURCE(blocksize)

static const int64_t SIZES[] = { 32,  64,  96,  128, 160, 192, 224, 256, 320, 352,
                                 384, 448, 512, 576, 640, 672, 704, 768, 896, 1024 },
                     BOTH[] = { WALK, COMPUTE };
static const char *const NAMES[] = { "walk", "compute" };

static int64_t blocks_of(const struct experiment_point *p)
{
    return ceil_div(share_sms(p->device) * p->device->threads_per_sm * FULL_SMS, p->x);
}

static void plan(const struct experiment_point *p, struct experiment_launch *l)
{
    snprintf(l->kernel, sizeof(l->kernel), "%s", NAMES[p->series]);
    l->grid.x = (unsigned)blocks_of(p);
    l->block.x = (unsigned)p->x;
    l->arguments[l->argument_count++] = p->series == WALK ? WALK_STEPS : COMPUTE_STEPS;
    if (p->series == COMPUTE)
        l->arguments[l->argument_count++] = SHARE_FACTOR;
    l->in_words = SHARE_TABLE_WORDS;
    l->out_words = l->grid.x * ceil_div(p->x, WARP);
    l->model_blocks = SAMPLE;
}

static void reference(const struct experiment_point *p, const struct experiment_launch *l,
                      const uint32_t *in, uint32_t *out)
{
    (void)in;
    for (int64_t w = 0; w < l->out_words; w++) {
        out[w] = p->series == WALK ? share_walk(w, WALK_STEPS) : 0;
        for (uint32_t k = 0; p->series == COMPUTE && k < CHAINS; k++)
            out[w] += share_multiply((uint32_t)w + k, SHARE_FACTOR, COMPUTE_STEPS);
    }
}

static double value(const struct experiment_point *p, const struct experiment_time *t)
{
    (void)p;
    return t->time_us;
}

/* Rounds of resident blocks, each as long as its steps; or the units' time for all of the work. */
static double formula(const struct experiment_point *p)
{
    int64_t blocks = ceil_div(blocks_of(p), share_sms(p->device));
    int64_t resident = share_resident_blocks(p->device, p->x, 0, 0);
    int64_t warps = blocks * ceil_div(p->x, WARP);
    double walk =
        (double)(ceil_div(blocks, max_i64(resident, 1)) * WALK_STEPS) * p->costs->l2_latency;
    double compute = (double)(warps * COMPUTE_STEPS * CHAINS) *
                     p->costs->classes[LAT_IMUL].interval / max_i64(p->device->partitions, 1);

    return share_launch_us(p, p->series == WALK ? walk : compute);
}

/* The index of the least of a curve, or of the most with sign -1. */
static size_t extreme(const struct experiment_data *d, size_t series, double sign)
{
    size_t best = 0;

    for (size_t i = 1; i < d->x_count; i++) {
        double v = sign * experiment_at(d, d->value, series, i);

        if (v < sign * experiment_at(d, d->value, series, best) ||
            isnan(experiment_at(d, d->value, series, best)))
            best = i;
    }
    return best;
}

static void conclude(const struct experiment_data *d, struct buf *out)
{
    for (size_t s = 0; s < d->series_count; s++) {
        size_t worst = extreme(d, s, -1), best = extreme(d, s, 1);
        double ratio = experiment_at(d, d->value, s, worst) / experiment_at(d, d->value, s, best);

        buf_printf(out, "%s%s takes %.2f times as long in blocks of %lld as in blocks of %lld",
                   s ? "; " : "", NAMES[d->series[s]], ratio, (long long)d->xs[worst],
                   (long long)d->xs[best]);
        if (d->series[s] == WALK)
            buf_printf(out, " (%lld against %lld warps an SM)",
                       (long long)(share_resident_blocks(d->device, d->xs[worst], 0, 0) *
                                   ceil_div(d->xs[worst], WARP)),
                       (long long)(share_resident_blocks(d->device, d->xs[best], 0, 0) *
                                   ceil_div(d->xs[best], WARP)));
    }
    buf_puts(out, ".");
}

const struct experiment EXPERIMENT_blocksize = {
    .name = "blocksize",
    .question = "which sizes of blocks fill an SM, and does time follow?",
    .teaches = "An SM takes whole blocks, so some sizes leave places for warps empty. Code that "
               "waits for memory is slower by as much; code that keeps the units busy is not.",
    .source = blocksize_source,
    .axis = { "threads", "threads a block", SIZES, COUNT(SIZES), 32, 1024 },
    .series = { "kernel", "kernel", BOTH, COUNT(BOTH), 0, KERNELS - 1, .names = NAMES },
    .basis = EXPERIMENT_EVENT,
    .quantity = "time",
    .unit = "us",
    .goal_percent = 10,
    .left_out = "the distance to the slices of L2, and the time between two blocks",
    .closed_form = "rounds of resident blocks x steps x latency",
    .plan = plan,
    .fill = share_fill_table,
    .reference = reference,
    .value = value,
    .formula = formula,
    .conclude = conclude,
};
