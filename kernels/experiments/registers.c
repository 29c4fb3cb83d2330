/*
 * registers: warps that share an SM, by the registers of a thread (experiments/registers.cu).
 */
#include "kernels/experiments/share.h"

#include <math.h>
#include <stdio.h>

enum { WALK, COMPUTE, KERNELS };
enum {
    BLOCK = 256,
    FULL_SMS = 8, /* the launch has so many threads for each that an SM can hold */
    WALK_STEPS = 64,
    COMPUTE_STEPS = 36, /* of four times eight multiplications */
    CHAINS = 8,
    UNROLLED = 4,
    SAMPLE = 2,
    WALK_OWN = 8, /* registers beside the values that are held: registers.cu */
    COMPUTE_OWN = 20
};

EXPERIMENT_SOURCE(registers)

static const int64_t REGISTERS[] = { 24, 32, 36, 40, 48, 56, 64, 72, 80, 96, 128 },
                     BOTH[] = { WALK, COMPUTE };
static const char *const NAMES[] = { "walk", "compute" };

static void plan(const struct experiment_point *p, struct experiment_launch *l)
{
    if (experiment_index(REGISTERS, COUNT(REGISTERS), p->x) < 0) {
        snprintf(l->skipped, sizeof(l->skipped), "registers.cu has no kernel of %lld registers",
                 (long long)p->x);
        return;
    }
    snprintf(l->kernel, sizeof(l->kernel), "%s_%lld", NAMES[p->series], (long long)p->x);
    l->grid.x = (unsigned)(share_sms(p->device) * p->device->threads_per_sm * FULL_SMS / BLOCK);
    l->block.x = BLOCK;
    l->arguments[l->argument_count++] = p->series == WALK ? WALK_STEPS : COMPUTE_STEPS;
    if (p->series == COMPUTE)
        l->arguments[l->argument_count++] = SHARE_FACTOR;
    l->in_words = SHARE_TABLE_WORDS;
    l->out_words = (int64_t)l->grid.x * BLOCK / WARP;
    l->model_blocks = SAMPLE;
}

/* The sum of what a warp held through the loop: its number times 3, 5, 7, ... */
static uint32_t sum_held(int64_t warp, int64_t count)
{
    return (uint32_t)warp * (uint32_t)(count * (count + 2));
}

static void reference(const struct experiment_point *p, const struct experiment_launch *l,
                      const uint32_t *in, uint32_t *out)
{
    (void)in;
    for (int64_t w = 0; w < l->out_words; w++) {
        if (p->series == WALK) {
            out[w] = share_walk(w, WALK_STEPS) + sum_held(w, p->x - WALK_OWN);
            continue;
        }
        out[w] = sum_held(w, p->x - COMPUTE_OWN);
        for (uint32_t k = 0; k < CHAINS; k++)
            out[w] += share_multiply((uint32_t)w + k, SHARE_FACTOR, COMPUTE_STEPS * UNROLLED);
    }
}

static double value(const struct experiment_point *p, const struct experiment_time *t)
{
    (void)p;
    return t->time_us;
}

static double formula(const struct experiment_point *p)
{
    int64_t blocks = p->device->threads_per_sm * FULL_SMS / BLOCK;
    int64_t resident = share_resident_blocks(p->device, BLOCK, (int)p->x, 0);
    int64_t multiplications = blocks * (BLOCK / WARP) * COMPUTE_STEPS * UNROLLED * CHAINS;
    double walk =
        (double)(ceil_div(blocks, max_i64(resident, 1)) * WALK_STEPS) * p->costs->l2_latency;
    double compute = (double)multiplications * p->costs->classes[LAT_IMUL].interval /
                     max_i64(p->device->partitions, 1);

    return share_launch_us(p, p->series == WALK ? walk : compute);
}

static void conclude(const struct experiment_data *d, struct buf *out)
{
    size_t last = d->x_count - 1;

    for (size_t s = 0; s < d->series_count; s++)
        buf_printf(out, "%s%s takes %.2f times as long with %lld registers as with %lld",
                   s ? "; " : "", NAMES[d->series[s]],
                   experiment_at(d, d->value, s, last) / experiment_at(d, d->value, s, 0),
                   (long long)d->xs[last], (long long)d->xs[0]);
    buf_printf(
        out, " (%lld warps an SM in place of %lld).",
        (long long)(share_resident_blocks(d->device, BLOCK, (int)d->xs[last], 0) * (BLOCK / WARP)),
        (long long)(share_resident_blocks(d->device, BLOCK, (int)d->xs[0], 0) * (BLOCK / WARP)));
}

const struct experiment EXPERIMENT_registers = {
    .name = "registers",
    .question = "what does a register cost in warps, and do they cost time?",
    .teaches = "Registers are handed out to warps in units, from each scheduler's own quarter: "
               "every few more, a warp in some has no place. Who waits for memory feels it; who "
               "keeps the units busy does not.",
    .source = registers_source,
    .axis = { "registers", "registers a thread", REGISTERS, COUNT(REGISTERS), 24, 128 },
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
