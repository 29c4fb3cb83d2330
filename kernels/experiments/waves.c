/*
 * waves: time by the number of blocks, when an SM has room for one (experiments/waves.cu).
 */
#include "kernels/experiments/share.h"

#include <math.h>
#include <stdio.h>

enum { BLOCK = 128, STEPS = 4096, SAMPLE = 2 };

EXPERIMENT_SOURCE(waves)

/* In percent of the SMs, so that the sweep is the same wave by wave on each device. */
static const int64_t PERCENT[] = { 25,  50,  75,  100, 101, 125, 150, 175, 200,
                                   201, 225, 250, 275, 300, 301, 350, 400 };

static int64_t blocks_of(const struct experiment_point *p)
{
    return max_i64(ceil_div(share_sms(p->device) * p->x, 100), 1);
}

/* More than half of an SM's shared memory: one block an SM. */
static int dynamic_of(const struct device *device)
{
    return (int)min_i64(device->shared_per_sm / 2 + 1024, device->shared_per_block_optin) / 4 * 4;
}

static void plan(const struct experiment_point *p, struct experiment_launch *l)
{
    snprintf(l->kernel, sizeof(l->kernel), "chain");
    l->grid.x = (unsigned)blocks_of(p);
    l->block.x = BLOCK;
    l->dynamic_bytes = dynamic_of(p->device);
    l->arguments[l->argument_count++] = STEPS;
    l->arguments[l->argument_count++] = SHARE_FACTOR;
    l->in_words = BLOCK;
    l->out_words = blocks_of(p) * BLOCK;
    l->model_blocks = SAMPLE;
}

static void reference(const struct experiment_point *p, const struct experiment_launch *l,
                      const uint32_t *in, uint32_t *out)
{
    (void)p;
    for (int64_t i = 0; i < BLOCK; i++)
        out[i] = share_multiply(in[i], SHARE_FACTOR, STEPS);
    for (int64_t i = BLOCK; i < l->out_words; i++)
        out[i] = out[i % BLOCK];
}

static double value(const struct experiment_point *p, const struct experiment_time *t)
{
    (void)p;
    return t->time_us;
}

static double formula(const struct experiment_point *p)
{
    int64_t waves = ceil_div(blocks_of(p), share_sms(p->device));

    return share_launch_us(p, (double)(waves * STEPS) * p->costs->classes[LAT_IMUL].latency);
}

static void conclude(const struct experiment_data *d, struct buf *out)
{
    int full = experiment_index(d->xs, d->x_count, 100);
    int more = experiment_index(d->xs, d->x_count, 101);
    size_t last = d->x_count - 1;
    int64_t sms = share_sms(d->device);

    if (full >= 0 && more >= 0)
        buf_printf(out, "%lld blocks take %.1f us and %lld take %.1f us, %.2f times as long; ",
                   (long long)sms, experiment_at(d, d->value, 0, (size_t)full),
                   (long long)ceil_div(sms * 101, 100), experiment_at(d, d->value, 0, (size_t)more),
                   experiment_at(d, d->value, 0, (size_t)more) /
                       experiment_at(d, d->value, 0, (size_t)full));
    buf_printf(out, "%.2f waves take %.2f times as long as %.2f.", (double)d->xs[last] / 100,
               experiment_at(d, d->value, 0, last) / experiment_at(d, d->value, 0, 0),
               (double)d->xs[0] / 100);
}

const struct experiment EXPERIMENT_waves = {
    .name = "waves",
    .question = "what does the last, partly filled wave of blocks cost?",
    .teaches = "Blocks beyond what the SMs hold wait for a place. One block more than a wave takes "
               "as long as another whole wave.",
    .source = waves_source,
    .axis = { "blocks", "blocks, % of the SMs", PERCENT, COUNT(PERCENT), 1, 1600 },
    .basis = EXPERIMENT_EVENT,
    .quantity = "time",
    .unit = "us",
    .goal_percent = 5,
    .left_out = "the time between the end of a block and the start of the next",
    .closed_form = "ceil(blocks / SMs) x steps x latency",
    .plan = plan,
    .fill = share_fill_line,
    .reference = reference,
    .value = value,
    .formula = formula,
    .conclude = conclude,
};
