/*
 * atomics: additions by how many addresses they go to (experiments/atomics.cu).
 */
#include "kernels/experiments/share.h"

#include <math.h>
#include <stdio.h>

enum { SHARED, GLOBAL, SPACES };
enum {
    BLOCK = 1024,
    STEPS = 32,
    MOST = 4096,        /* addresses: MOST of atomics.cu */
    POISON = 0x7fc0dead /* what the words of out hold before (lesson_poison) */
};

EXPERIMENT_SOURCE(atomics)

static const int64_t ADDRESSES[] = { 1, 2, 4, 8, 16, 32, 64, 256, 1024, 4096 },
                     BOTH[] = { SHARED, GLOBAL };
static const char *const NAMES[] = { "shared", "global" };

static void plan(const struct experiment_point *p, struct experiment_launch *l)
{
    snprintf(l->kernel, sizeof(l->kernel), "%s_add", NAMES[p->series]);
    l->grid.x = (unsigned)share_sms(p->device);
    l->block.x = BLOCK;
    l->arguments[l->argument_count++] = (int32_t)p->x;
    l->in_words = BLOCK;
    l->out_words = p->series == SHARED ? share_sms(p->device) * BLOCK : p->x;
    l->model_blocks = p->series == SHARED ? 1 : 0; /* all blocks add to the same words */
}

/* What `threads` threads, from thread 0 on, add to each address in all of their steps. */
static void add_up(const uint32_t *in, int64_t threads, int64_t addresses, uint32_t *sums)
{
    for (int64_t i = 0; i < threads; i++)
        for (int64_t s = 0; s < STEPS; s++)
            sums[(i + s) % addresses] += in[i % BLOCK];
}

static void reference(const struct experiment_point *p, const struct experiment_launch *l,
                      const uint32_t *in, uint32_t *out)
{
    uint32_t sums[MOST] = { 0 };

    if (p->series == SHARED)
        add_up(in, BLOCK, p->x, sums);
    for (int64_t i = 0; i < l->out_words; i++)
        out[i] = p->series == SHARED ? sums[i % BLOCK % p->x] : POISON;
    if (p->series == GLOBAL)
        add_up(in, share_sms(p->device) * BLOCK, p->x, out);
}

/* Additions of single threads in a nanosecond, all SMs together. */
static double value(const struct experiment_point *p, const struct experiment_time *t)
{
    return (double)(share_sms(p->device) * BLOCK * STEPS) / t->time_us / 1e3;
}

static void conclude(const struct experiment_data *d, struct buf *out)
{
    size_t last = d->x_count - 1;

    for (size_t s = 0; s < d->series_count; s++) {
        double few = experiment_at(d, d->value, s, 0), many = experiment_at(d, d->value, s, last);

        buf_printf(out,
                   "%sin %s memory %lld address%s take%s %.3g additions a nanosecond and %lld take "
                   "%.3g, %.3g times as many",
                   s ? "; " : "", NAMES[d->series[s]], (long long)d->xs[0],
                   d->xs[0] == 1 ? "" : "es", d->xs[0] == 1 ? "s" : "", few, (long long)d->xs[last],
                   many, many / few);
    }
    buf_puts(out, ".");
}

const struct experiment EXPERIMENT_atomics = {
    .name = "atomics",
    .question = "what does it cost when threads add to the same address?",
    .teaches = "Additions to one address happen one after the other, wherever they come from. "
               "Spread over some addresses, they happen side by side.",
    .source = atomics_source,
    .axis = { "addresses", "addresses", ADDRESSES, COUNT(ADDRESSES), 1, MOST, .is_log = true },
    .series = { "space", "memory", BOTH, COUNT(BOTH), 0, SPACES - 1, .names = NAMES },
    .basis = EXPERIMENT_EVENT,
    .quantity = "additions a ns",
    .unit = "",
    .goal_percent = 25,
    .left_out =
        "additions from the far half of L2 pass two slices, and a slice takes longer for many "
        "requests of one word than for one of many",
    .plan = plan,
    .fill = share_fill_line,
    .reference = reference,
    .value = value,
    .conclude = conclude,
};
