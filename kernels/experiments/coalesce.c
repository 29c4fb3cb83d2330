/*
 * coalesce: useful bandwidth by the stride of a warp's words (experiments/coalesce.cu).
 */
#include "kernels/experiments/share.h"

#include "model/memory.h"

#include <math.h>
#include <stdio.h>

enum { BLOCK = 256, UNROLLED = 4, SAMPLE = 1, FOOTPRINT_WORDS = 1 << 27, MOST_STRIDE = 32 };

EXPERIMENT_SOURCE(coalesce)

static const int64_t STRIDES[] = { 1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32 }, OFFSETS[] = { 0, 1 };

static int64_t threads_of(const struct experiment_point *p)
{
    return share_sms(p->device) * (p->device->threads_per_sm / BLOCK) * BLOCK;
}

/* Words of each thread: the whole stretch, in rounds of loads that are on their way together. */
static int64_t words_of(const struct experiment_point *p)
{
    int64_t words = (FOOTPRINT_WORDS - MOST_STRIDE) / p->x / threads_of(p);

    return words / UNROLLED * UNROLLED;
}

static void plan(const struct experiment_point *p, struct experiment_launch *l)
{
    snprintf(l->kernel, sizeof(l->kernel), "strided");
    l->grid.x = (unsigned)(threads_of(p) / BLOCK);
    l->block.x = BLOCK;
    l->arguments[l->argument_count++] = (int32_t)words_of(p);
    l->arguments[l->argument_count++] = (int32_t)p->x;
    l->arguments[l->argument_count++] = (int32_t)p->series;
    l->in_words = FOOTPRINT_WORDS;
    l->out_words = threads_of(p);
    l->model_blocks = SAMPLE;
}

static void reference(const struct experiment_point *p, const struct experiment_launch *l,
                      const uint32_t *in, uint32_t *out)
{
    for (int64_t i = 0; i < l->out_words; i++)
        out[i] = share_sum_line(in, i * p->x + p->series, threads_of(p) * p->x, words_of(p));
}

/* GB/s of the words that were asked for. */
static double value(const struct experiment_point *p, const struct experiment_time *t)
{
    return (double)(words_of(p) * threads_of(p) * 4) / t->time_us / 1e3;
}

static int64_t sectors_of(int64_t stride)
{
    return memory_sectors_linear(0, (uint64_t)stride * 4, 4);
}

static double formula(const struct experiment_point *p)
{
    double useful = WARP * 4.0 / (double)(sectors_of(p->x) * SECTOR_BYTES);

    return share_memory_rate(p) * useful / 1e3;
}

static void conclude(const struct experiment_data *d, struct buf *out)
{
    double one = experiment_at(d, d->value, 0, 0);
    int eight = experiment_index(d->xs, d->x_count, 8);
    int most = (int)d->x_count - 1;

    buf_printf(out, "Words side by side come at %.0f GB/s", one);
    if (eight > 0)
        buf_printf(out, ", every eighth at %.1f %% of that",
                   100 * experiment_at(d, d->value, 0, (size_t)eight) / one);
    if (most > 0 && most != eight)
        buf_printf(out, ", every %lldth at %.1f %%", (long long)d->xs[most],
                   100 * experiment_at(d, d->value, 0, (size_t)most) / one);
    if (d->series_count > 1)
        buf_printf(out, "; an offset of %lld word%s leaves %.1f %% at stride %lld",
                   (long long)d->series[1], d->series[1] == 1 ? "" : "s",
                   100 * experiment_at(d, d->value, 1, 0) / one, (long long)d->xs[0]);
    buf_puts(out, ".");
}

const struct experiment EXPERIMENT_coalesce = {
    .name = "coalesce",
    .question = "what does it cost when the words of a warp lie apart?",
    .teaches = "Memory comes in sectors of 32 bytes. A warp whose lanes read every second word "
               "pays for twice the sectors, and from every eighth on for one a lane.",
    .source = coalesce_source,
    .axis = { "stride", "stride in words", STRIDES, COUNT(STRIDES), 1, MOST_STRIDE,
              .is_log = true },
    .series = { "offset", "offset in words", OFFSETS, COUNT(OFFSETS), 0, MOST_STRIDE - 1 },
    .basis = EXPERIMENT_EVENT,
    .quantity = "useful bandwidth",
    .unit = "GB/s",
    .goal_percent = 15,
    .left_out = "pages of DRAM, which far strides open for little each",
    .closed_form = "memory's bandwidth x 128 / (32 x sectors)",
    .plan = plan,
    .fill = share_fill_line,
    .reference = reference,
    .value = value,
    .formula = formula,
    .conclude = conclude,
};
