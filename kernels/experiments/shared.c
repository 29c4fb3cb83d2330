/*
 * shared: warps that share an SM, by the shared memory of a block (experiments/shared.cu).
 */
#include "kernels/experiments/share.h"

#include <stdio.h>

enum { BLOCK = 256, FULL_SMS = 8, STEPS = 32, SAMPLE = 2, KB = 1024 };

EXPERIMENT_SOURCE(shared)

static const int64_t BYTES[] = { 1 * KB,  8 * KB,  16 * KB, 24 * KB,  27 * KB,  28 * KB,
                                 31 * KB, 32 * KB, 37 * KB, 44 * KB,  45 * KB,  56 * KB,
                                 75 * KB, 76 * KB, 99 * KB, 113 * KB, 114 * KB, 227 * KB };

static void plan(const struct experiment_point *p, struct experiment_launch *l)
{
    if (p->x > p->device->shared_per_block_optin || p->x % 4 != 0) {
        snprintf(l->skipped, sizeof(l->skipped), "%lld bytes: a block has 4 to %d, in words",
                 (long long)p->x, p->device->shared_per_block_optin);
        return;
    }
    snprintf(l->kernel, sizeof(l->kernel), "walk");
    l->grid.x = (unsigned)(share_sms(p->device) * p->device->threads_per_sm * FULL_SMS / BLOCK);
    l->block.x = BLOCK;
    l->dynamic_bytes = (int)p->x;
    l->arguments[l->argument_count++] = STEPS;
    l->arguments[l->argument_count++] = (int32_t)(p->x / 4);
    l->in_words = SHARE_TABLE_WORDS;
    l->out_words = (int64_t)l->grid.x * BLOCK / WARP;
    l->model_blocks = SAMPLE;
}

static void reference(const struct experiment_point *p, const struct experiment_launch *l,
                      const uint32_t *in, uint32_t *out)
{
    (void)p;
    (void)in;
    for (int64_t w = 0; w < l->out_words; w++)
        out[w] = share_walk(w, STEPS) + (uint32_t)(w / (BLOCK / WARP));
}

static double value(const struct experiment_point *p, const struct experiment_time *t)
{
    (void)p;
    return t->time_us;
}

static double formula(const struct experiment_point *p)
{
    int64_t blocks = p->device->threads_per_sm * FULL_SMS / BLOCK;
    int64_t resident = share_resident_blocks(p->device, BLOCK, 0, p->x);

    return share_launch_us(p, (double)(ceil_div(blocks, max_i64(resident, 1)) * STEPS) *
                                  p->costs->l2_latency);
}

/* Where the curve climbs by the largest factor from one size to the next. */
static void conclude(const struct experiment_data *d, struct buf *out)
{
    size_t at = 1, last = d->x_count - 1;
    double most = 0;

    while (last > 0 && !(experiment_at(d, d->value, 0, last) > 0))
        last--;
    for (size_t i = 1; i <= last; i++) {
        double step = experiment_at(d, d->value, 0, i) / experiment_at(d, d->value, 0, i - 1);

        if (step > most) {
            most = step;
            at = i;
        }
    }
    if (last == 0) {
        buf_puts(out, "One size alone shows no step.");
        return;
    }
    buf_printf(out,
               "%lld KB a block take %.2f times as long as %lld KB; the steepest step is from %lld "
               "to %lld KB, where %lld blocks an SM become %lld and the time %.2f times as long.",
               (long long)d->xs[last] / KB,
               experiment_at(d, d->value, 0, last) / experiment_at(d, d->value, 0, 0),
               (long long)d->xs[0] / KB, (long long)d->xs[at - 1] / KB, (long long)d->xs[at] / KB,
               (long long)share_resident_blocks(d->device, BLOCK, 0, d->xs[at - 1]),
               (long long)share_resident_blocks(d->device, BLOCK, 0, d->xs[at]), most);
}

const struct experiment EXPERIMENT_shared = {
    .name = "shared",
    .question = "what does a block's shared memory cost in warps?",
    .teaches = "Each block takes its shared memory whole, and 1 KB for the system: a KB more than "
               "a part of the SM's, and one block less fits.",
    .source = shared_source,
    .axis = { "dynamic", "shared bytes a block", BYTES, COUNT(BYTES), 4, 227 * KB,
              .is_bytes = true },
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
