/*
 * order: FP FP INT INT against FP INT FP INT (experiments/order.cu).
 */
#include "kernels/experiment.h"

#include <math.h>
#include <stdio.h>

enum { WORK = 128, ROUNDS = 8, STEPS = WORK * ROUNDS, CHAINS = 8 };
enum order { ORDER_PAIRED, ORDER_ALTERNATING };

EXPERIMENT_SOURCE(order)

static const int64_t WARPS[] = { 1, 2, 4, 8 }, ORDERS[] = { ORDER_PAIRED, ORDER_ALTERNATING };
static const char *const NAMES[] = { "paired", "alternating" };

static void plan(const struct experiment_point *p, struct experiment_launch *l)
{
    snprintf(l->kernel, sizeof(l->kernel), "order_%s", NAMES[p->series]);
    l->grid.x = (unsigned)max_i64(p->device->sms, 1);
    l->block.x = (unsigned)(p->x * p->device->partitions * WARP);
    l->arguments[l->argument_count++] = ROUNDS;
    l->in_words = WARP;
    l->out_words = (int64_t)l->grid.x * l->block.x;
    l->model_blocks = 1;
    if (l->block.x > (unsigned)p->device->threads_per_block)
        snprintf(l->skipped, sizeof(l->skipped), "a block of %u threads is too large", l->block.x);
}

/* Each chain of a kind gets the same number of steps, in either order. */
static uint32_t lane_sum(uint32_t word)
{
    int steps = STEPS / 2 / CHAINS;
    uint32_t sum = 0, bits;
    float f;

    memcpy(&f, &word, sizeof(f));
    for (int s = 0; s < steps; s++)
        f = f * 0.5f + 0.5f; /* f * 0.5 is exact, so this is the fused result */
    memcpy(&bits, &f, sizeof(bits));
    for (uint32_t k = 0; k < CHAINS; k++) {
        uint32_t n = word + k;

        for (int s = 0; s < steps; s++)
            n = n << 1 | n >> 31;
        sum += n + bits;
    }
    return sum;
}

static void reference(const struct experiment_point *p, const struct experiment_launch *l,
                      const uint32_t *in, uint32_t *out)
{
    (void)p;
    for (int64_t i = 0; i < l->out_words; i++)
        out[i] = i < WARP ? lane_sum(in[i]) : out[i % WARP];
}

static double value(const struct experiment_point *p, const struct experiment_time *t)
{
    return (double)(p->x * STEPS) / t->cycles;
}

/* In a pair the second instruction waits until the unit takes it: one warp, alone. */
static double formula(const struct experiment_point *p)
{
    double waits = p->costs->classes[LAT_ALU].interval - 1;

    return p->series == ORDER_PAIRED && p->x == 1 ? 4 / (4 + waits) : 1;
}

static void conclude(const struct experiment_data *d, struct buf *out)
{
    int pair = experiment_index(d->series, d->series_count, ORDER_PAIRED);
    int turn = experiment_index(d->series, d->series_count, ORDER_ALTERNATING);
    double a = pair < 0 ? (double)NAN : experiment_at(d, d->value, (size_t)pair, 0);
    double b = turn < 0 ? (double)NAN : experiment_at(d, d->value, (size_t)turn, 0);

    if (!isfinite(a) || !isfinite(b)) {
        buf_printf(out, "%.1f %% of the issue slots with %lld warps: give both orders to compare.",
                   100 * d->value[0], (long long)d->xs[0]);
        return;
    }
    buf_printf(out,
               "Written in pairs %.1f %% of the issue slots, alternating %.1f %%, with %lld "
               "warp%s a scheduler: ",
               100 * a, 100 * b, (long long)d->xs[0], d->xs[0] == 1 ? "" : "s");
    if (fabs(a - b) < 0.03 * b)
        buf_puts(out, d->is_measured ? "the order in the source made no difference; the compiler "
                                       "has one of its own (%sass)."
                                     : "the order makes no difference.");
    else
        buf_printf(out, "the order costs %.0f %%.", 100 * (1 - fmin(a, b) / fmax(a, b)));
}

const struct experiment EXPERIMENT_order = {
    .name = "order",
    .question = "does the order of instructions for two units matter?",
    .teaches = "Two instructions in a row for a slow unit make the second wait. A warp issues in "
               "the order of the machine code, and that order is the compiler's.",
    .source = order_source,
    .axis = { "warps", "warps a scheduler", WARPS, COUNT(WARPS), 1, 8 },
    .series = { "order", "as written", ORDERS, COUNT(ORDERS), ORDER_PAIRED, ORDER_ALTERNATING,
                .names = NAMES },
    .basis = EXPERIMENT_CLOCK,
    .quantity = "issue slots used",
    .unit = "%",
    .scale_max = 1,
    .goal_percent = 10,
    .left_out = "the order that ptxas gives the machine code: the model runs the PTX's",
    .closed_form = "one warp: paired 4 / (4 + interval - 1), else 1",
    .plan = plan,
    .reference = reference,
    .value = value,
    .formula = formula,
    .conclude = conclude,
};
