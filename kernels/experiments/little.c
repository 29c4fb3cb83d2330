/*
 * little: bandwidth by the bytes in flight, however they came about (experiments/little.cu), and
 * beside it what the driver's own copy reaches in the same run.
 */
#include "kernels/experiments/share.h"

#include <math.h>
#include <stdio.h>

enum {
    BLOCK = 128,
    FOOTPRINT_WORDS = 1 << 27, /* 512 MB */
    SAMPLE = 1,
    KB = 1024,
};

enum { FLOAT, FLOAT2, FLOAT4, FLOAT_X4, FLOAT4_X4, FLOAT4_X8, LOADS };

static const struct load {
    int words, unrolled;
    int most_warps; /* of an SM, by the registers of a thread */
} LOAD[] = { [FLOAT] = { 1, 1, 64 },    [FLOAT2] = { 2, 1, 64 },    [FLOAT4] = { 4, 1, 64 },
             [FLOAT_X4] = { 1, 4, 64 }, [FLOAT4_X4] = { 4, 4, 48 }, [FLOAT4_X8] = { 4, 8, 32 } };

EXPERIMENT_SOURCE(little)

static const int64_t IN_FLIGHT[] = { 512,     1 * KB,  2 * KB,  4 * KB,  8 * KB,
                                     16 * KB, 32 * KB, 64 * KB, 128 * KB };
static const int64_t ALL[] = { FLOAT, FLOAT2, FLOAT4, FLOAT_X4, FLOAT4_X4, FLOAT4_X8 };
static const char *const NAMES[] = {
    "float", "float2", "float4", "floatx4", "float4x4", "float4x8"
};

static int64_t bytes_of_warp(const struct experiment_point *p)
{
    return (int64_t)LOAD[p->series].words * LOAD[p->series].unrolled * 4 * WARP;
}

static int64_t warps_of(const struct experiment_point *p)
{
    return p->x / bytes_of_warp(p);
}

static int64_t threads_of(const struct experiment_point *p)
{
    return share_sms(p->device) * warps_of(p) * WARP;
}

static int64_t rounds_of(const struct experiment_point *p)
{
    const struct load *load = &LOAD[p->series];

    return FOOTPRINT_WORDS / (threads_of(p) * load->words * load->unrolled);
}

static bool is_possible(const struct experiment_point *p)
{
    int64_t warps = warps_of(p),
            most = min_i64(LOAD[p->series].most_warps, p->device->warps_per_sm);

    return p->x % bytes_of_warp(p) == 0 && warps % (BLOCK / WARP) == 0 && warps > 0 &&
           warps <= most;
}

static void plan(const struct experiment_point *p, struct experiment_launch *l)
{
    const struct load *load = &LOAD[p->series];

    if (!is_possible(p)) {
        snprintf(l->skipped, sizeof(l->skipped),
                 "%.3g warps of %lld bytes each: an SM has room for %d to %d, by blocks of %d",
                 (double)p->x / (double)bytes_of_warp(p), (long long)bytes_of_warp(p), BLOCK / WARP,
                 load->most_warps, BLOCK / WARP);
        return;
    }
    snprintf(l->kernel, sizeof(l->kernel), "read_%d_%d", load->words, load->unrolled);
    l->grid.x = (unsigned)(threads_of(p) / BLOCK);
    l->block.x = BLOCK;
    l->arguments[l->argument_count++] = (int32_t)rounds_of(p);
    l->in_words = FOOTPRINT_WORDS;
    l->out_words = threads_of(p);
    l->model_blocks = SAMPLE;
}

static void reference(const struct experiment_point *p, const struct experiment_launch *l,
                      const uint32_t *in, uint32_t *out)
{
    const struct load *load = &LOAD[p->series];
    int64_t loads = rounds_of(p) * load->unrolled, step = threads_of(p) * load->words;

    for (int64_t i = 0; i < l->out_words; i++) {
        out[i] = 0;
        for (int k = 0; k < load->words; k++)
            out[i] += share_sum_line(in, i * load->words + k, step, loads);
    }
}

static double value(const struct experiment_point *p, const struct experiment_time *t)
{
    double bytes = (double)(rounds_of(p) * threads_of(p) * 4) * LOAD[p->series].words *
                   LOAD[p->series].unrolled;

    return bytes / t->time_us / 1e3;
}

static double formula(const struct experiment_point *p)
{
    double flight = (double)(p->x * share_sms(p->device));

    return fmin(flight / share_us(p, p->costs->memory_latency), share_memory_rate(p)) / 1e3;
}

static void conclude(const struct experiment_data *d, struct buf *out)
{
    double best = 0;
    size_t s_best = 0, x_best = 0;
    int64_t knee = 0;

    for (size_t s = 0; s < d->series_count; s++)
        for (size_t i = 0; i < d->x_count; i++)
            if (experiment_at(d, d->value, s, i) > best) {
                best = experiment_at(d, d->value, s, i);
                s_best = s;
                x_best = i;
            }
    for (size_t s = 0; s < d->series_count; s++)
        for (size_t i = 0; i < d->x_count; i++)
            if (experiment_at(d, d->value, s, i) >= 0.9 * best && (!knee || d->xs[i] < knee))
                knee = d->xs[i];
    buf_printf(out,
               "The best is %.0f GB/s with %s and %.4g KB in flight on each SM; 90 %% of it needs "
               "%.4g KB",
               best, NAMES[d->series[s_best]], (double)d->xs[x_best] / KB, (double)knee / KB);
    if (d->copy_gbs > 0)
        buf_printf(out,
                   "; the driver's copy reaches %.0f GB/s in the same run, so the best is "
                   "%.1f %% of it",
                   d->copy_gbs, 100 * best / d->copy_gbs);
    buf_puts(out, ".");
}

const struct experiment EXPERIMENT_little = {
    .name = "little",
    .question = "how many bytes must be in flight to use the memory's bandwidth?",
    .teaches = "In flight = latency x bandwidth. Many warps, wide loads, or several loads of one "
               "warp: what counts is the product.",
    .source = little_source,
    .axis = { "inflight", "bytes in flight on an SM", IN_FLIGHT, COUNT(IN_FLIGHT), 512, 256 * KB,
              .is_log = true, .is_bytes = true },
    .series = { "load", "loads of a thread", ALL, COUNT(ALL), 0, LOADS - 1, .names = NAMES },
    .basis = EXPERIMENT_EVENT,
    .quantity = "bandwidth",
    .unit = "GB/s",
    .goal_percent = 15,
    .left_out = "latency grows with the load on the memory, and pages of DRAM are opened",
    .closed_form = "min(in flight / latency, memory's bandwidth)",
    .wants_copy = true,
    .plan = plan,
    .fill = share_fill_line,
    .reference = reference,
    .value = value,
    .formula = formula,
    .conclude = conclude,
};
