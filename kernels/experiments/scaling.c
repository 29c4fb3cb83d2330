/*
 * scaling: share of the card's peak by the number of SMs that work (experiments/scaling.cu).
 */
#include "kernels/experiments/share.h"

#include <math.h>
#include <stdio.h>

enum { COMPUTE, MEMORY, KERNELS };
enum {
    BLOCK = 1024,
    CHAINS = 4,
    COMPUTE_STEPS = 2048,      /* long beside the launch */
    FOOTPRINT_WORDS = 1 << 27, /* 512 MB */
    VECTORS = FOOTPRINT_WORDS / 4,
    UNROLLED = 4,
    VECTOR_BYTES = 16,
    MOST_BYTES = 64 << 20, /* that a block reads */
    MOST_BLOCKS = 192
};

EXPERIMENT_SOURCE(scaling)

static const int64_t BLOCKS[] = { 1, 2, 4, 8, 16, 32, 48, 64, 96, 132 },
                     BOTH[] = { COMPUTE, MEMORY };
static const char *const NAMES[] = { "compute", "memory" };

/* Each block reads more than L2 holds, so that one alone does not find its stretch there again. */
static int64_t rounds_of(const struct experiment_point *p)
{
    int64_t bytes = min_i64(2 * max_i64(p->device->l2_bytes, 1 << 22), MOST_BYTES);

    return bytes / (BLOCK * UNROLLED * VECTOR_BYTES);
}

static void plan(const struct experiment_point *p, struct experiment_launch *l)
{
    if (p->x > share_sms(p->device)) {
        snprintf(l->skipped, sizeof(l->skipped), "%lld blocks are more than the %lld SMs",
                 (long long)p->x, (long long)share_sms(p->device));
        return;
    }
    snprintf(l->kernel, sizeof(l->kernel), "%s", NAMES[p->series]);
    l->grid.x = (unsigned)p->x;
    l->block.x = BLOCK;
    l->arguments[l->argument_count++] =
        p->series == COMPUTE ? COMPUTE_STEPS : (int32_t)rounds_of(p);
    l->arguments[l->argument_count++] = p->series == COMPUTE ? SHARE_FACTOR : VECTORS;
    l->in_words = p->series == COMPUTE ? 1 : FOOTPRINT_WORDS;
    l->out_words = p->x * BLOCK;
    l->model_blocks = 1;
}

/* The words of `count` vectors that lie `step` apart; the last run on from the input's start. */
static uint32_t sum_vectors(const uint32_t *in, int64_t first, int64_t step, int64_t count)
{
    int64_t before = min_i64(ceil_div(VECTORS - first, step), count), sum_at;
    uint32_t sum = 0;

    for (int k = 0; k < 4; k++)
        sum += share_sum_line(in, first * 4 + k, step * 4, before);
    sum_at = first + before * step - VECTORS;
    for (int k = 0; k < 4 && before < count; k++)
        sum += share_sum_line(in, sum_at * 4 + k, step * 4, count - before);
    return sum;
}

static void reference(const struct experiment_point *p, const struct experiment_launch *l,
                      const uint32_t *in, uint32_t *out)
{
    for (int64_t i = 0; i < l->out_words; i++) {
        int64_t thread = i % BLOCK, block = i / BLOCK;

        out[i] = 0;
        for (uint32_t k = 0; p->series == COMPUTE && k < CHAINS; k++)
            out[i] += share_multiply((uint32_t)thread + k, SHARE_FACTOR, COMPUTE_STEPS);
        if (p->series == MEMORY)
            out[i] =
                sum_vectors(in, VECTORS * block / p->x + thread, BLOCK, rounds_of(p) * UNROLLED);
    }
}

/* Of all units, or of the memory's nominal bandwidth. */
static double value(const struct experiment_point *p, const struct experiment_time *t)
{
    int64_t warps = p->x * BLOCK / WARP;
    double instructions = (double)(warps * COMPUTE_STEPS * CHAINS);
    double most = (double)(share_sms(p->device) * max_i64(p->device->partitions, 1)) /
                  p->costs->classes[LAT_IMUL].interval;
    double bytes = (double)(p->x * rounds_of(p) * BLOCK * UNROLLED * VECTOR_BYTES);

    if (p->series == COMPUTE)
        return instructions / t->cycles / most;
    return bytes / t->time_us / (p->device->bandwidth_gbs * 1e3);
}

static double formula(const struct experiment_point *p)
{
    double part = (double)p->x / (double)share_sms(p->device);
    double bytes_us = (double)(p->x * p->costs->sm_bytes_per_cycle) / share_us(p, 1);

    if (p->series == COMPUTE)
        return part;
    return fmin(bytes_us, share_memory_rate(p)) / (p->device->bandwidth_gbs * 1e3);
}

/* The fewest SMs that reach 90 % of what all reach. */
static int64_t enough(const struct experiment_data *d, size_t series)
{
    for (size_t i = 0; i < d->x_count; i++)
        if (experiment_at(d, d->value, series, i) >=
            0.9 * experiment_at(d, d->value, series, d->x_count - 1))
            return d->xs[i];
    return d->xs[d->x_count - 1];
}

static void conclude(const struct experiment_data *d, struct buf *out)
{
    size_t last = d->x_count - 1;

    for (size_t s = 0; s < d->series_count; s++)
        buf_printf(out,
                   "%s%lld SMs do %.1f times the %s of %lld, %.0f %% of the card's peak, and %lld "
                   "SMs reach 90 %% of that",
                   s ? "; " : "", (long long)d->xs[last],
                   experiment_at(d, d->value, s, last) / experiment_at(d, d->value, s, 0),
                   d->series[s] == COMPUTE ? "multiplications" : "reading", (long long)d->xs[0],
                   100 * experiment_at(d, d->value, s, last), (long long)enough(d, s));
    buf_puts(out, ".");
}

const struct experiment EXPERIMENT_scaling = {
    .name = "scaling",
    .question = "do more SMs do more, and until when?",
    .teaches = "Blocks are independent, so work spreads over as many SMs as there are. What each "
               "SM has of its own grows with them; the memory is shared and is soon used up.",
    .source = scaling_source,
    .axis = { "blocks", "blocks, an SM each", BLOCKS, COUNT(BLOCKS), 1, MOST_BLOCKS },
    .series = { "kernel", "kernel", BOTH, COUNT(BOTH), 0, KERNELS - 1, .names = NAMES },
    .basis = EXPERIMENT_EVENT,
    .quantity = "share of the card's peak",
    .unit = "%",
    .scale_max = 1,
    .goal_percent = 15,
    .left_out = "the network between SMs and L2, and pages of DRAM",
    .closed_form = "blocks / SMs; min(blocks x an SM's part of L2, memory's bandwidth)",
    .plan = plan,
    .fill = share_fill_line,
    .reference = reference,
    .value = value,
    .formula = formula,
    .conclude = conclude,
};
