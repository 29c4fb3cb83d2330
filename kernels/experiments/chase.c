/*
 * chase: one thread follows pointers over a footprint (experiments/chase.cu).
 */
#include "kernels/experiment.h"

#include <math.h>
#include <stdio.h>

enum { LINE = 128, LOADS = 8192, BLOCK = 1024 };

EXPERIMENT_SOURCE(chase)

static const int64_t FOOTPRINTS[] = {
    8 << 10, 16 << 10, 32 << 10, 64 << 10, 128 << 10, 256 << 10, 512 << 10, 1 << 20,
    2 << 20, 4 << 20,  8 << 20,  16 << 20, 32 << 20,  64 << 20,  128 << 20, 256 << 20,
};

static void plan(const struct experiment_point *p, struct experiment_launch *l)
{
    if (p->x & (p->x - 1)) {
        snprintf(l->skipped, sizeof(l->skipped), "a footprint is a power of two");
        return;
    }
    memcpy(l->kernel, "chase", sizeof("chase"));
    l->block.x = BLOCK;
    l->arguments[l->argument_count++] = (int32_t)(p->x / LINE);
    l->arguments[l->argument_count++] = LOADS;
    l->in_words = p->x / 4;
    l->is_scratch = true;
    l->out_words = 1;
}

/* The kernel writes the pointers itself. */
static void fill(uint32_t *in, int64_t first, int64_t count, uint64_t seed)
{
    (void)in;
    (void)first;
    (void)count;
    (void)seed;
}

static void reference(const struct experiment_point *p, const struct experiment_launch *l,
                      const uint32_t *in, uint32_t *out)
{
    uint32_t lines = (uint32_t)(p->x / LINE), line = 0;

    (void)l;
    (void)in;
    for (int k = 0; k < LOADS; k++)
        line = (1664525 * line + 1013904223) & (lines - 1);
    out[0] = line;
}

static double value(const struct experiment_point *p, const struct experiment_time *t)
{
    (void)p;
    return t->cycles / LOADS;
}

/* By what the footprint fits into; beyond L2, in proportion to what of it L2 can hold. */
static double formula(const struct experiment_point *p)
{
    const struct costs *c = p->costs;
    int64_t l2 = p->device->l2_bytes, near = c->far_latency ? l2 / 2 : l2;
    double hits;

    if (p->x <= costs_l1_bytes(p->device))
        return c->l1_latency;
    if (!l2 || p->x <= near)
        return c->l2_latency;
    hits = fmin(1, (double)l2 / (double)p->x);
    return hits * (c->far_latency ? (c->l2_latency + c->far_latency) / 2.0 : c->l2_latency) +
           (1 - hits) * c->memory_latency;
}

/* The value at the largest footprint up to so many bytes; NaN: there is none. */
static double up_to(const struct experiment_data *d, int64_t bytes)
{
    double v = (double)NAN;

    for (size_t i = 0; i < d->x_count; i++)
        if (d->xs[i] <= bytes)
            v = d->value[i];
    return v;
}

static void conclude(const struct experiment_data *d, struct buf *out)
{
    size_t last = d->x_count - 1;
    double l1 = up_to(d, 64 << 10), l2 = up_to(d, 4 << 20);
    const char *between = "";

    if (isfinite(l1) && d->xs[0] <= 64 << 10) {
        buf_printf(out, "L1 answers after %.0f cycles", l1);
        between = ", ";
    }
    if (isfinite(l2) && d->xs[last] >= 1 << 20) {
        buf_printf(out, "%sL2 after %.0f", between, l2);
        between = ", ";
    }
    buf_printf(out, "%s%lldK of memory after %.0f cycles.", between, (long long)(d->xs[last] >> 10),
               d->value[last]);
}

const struct experiment EXPERIMENT_chase = {
    .name = "chase",
    .question = "how long does a load take, from L1, L2 and memory?",
    .teaches = "A load's latency is that of the level that has the data: what fits decides.",
    .source = chase_source,
    .axis = { "footprint", "footprint, bytes", FOOTPRINTS, COUNT(FOOTPRINTS), 4 << 10, 1 << 30,
              .is_log = true, .is_bytes = true },
    .basis = EXPERIMENT_CLOCK,
    .quantity = "cycles a load",
    .unit = "cycles",
    .goal_percent = 15,
    .is_calibrated = true,
    .left_out = "lines that a cache keeps of a footprint that does not fit, and translation",
    .closed_form = "the latency of the level that the footprint fits into",
    .plan = plan,
    .fill = fill,
    .reference = reference,
    .value = value,
    .formula = formula,
    .conclude = conclude,
};
