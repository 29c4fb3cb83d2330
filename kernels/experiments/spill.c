/*
 * spill: cycles of an addition by how many sums are kept at once (experiments/spill.cu).
 */
#include "kernels/experiments/share.h"

#include <math.h>
#include <stdio.h>

enum { BLOCK = 256, ROUNDS = 64, SAMPLE = 1, WARPS_A_SCHEDULER = 2, MOST_REGISTERS = 255 };

EXPERIMENT_SOURCE(spill)

static const int64_t LIVE[] = { 32, 64, 96, 128, 192, 224, 240, 256, 300 };
static const int64_t CAPS[] = { MOST_REGISTERS, 64 };

static void plan(const struct experiment_point *p, struct experiment_launch *l)
{
    static const char *const OPTIONS[] = { NULL, "-maxrregcount=64" };
    int cap = experiment_index(CAPS, COUNT(CAPS), p->series);

    if (cap < 0 || experiment_index(LIVE, COUNT(LIVE), p->x) < 0) {
        snprintf(l->skipped, sizeof(l->skipped), "spill.cu has no kernel of %lld sums",
                 (long long)p->x);
        if (cap < 0)
            snprintf(l->skipped, sizeof(l->skipped), "cap=%lld: it is 255 or 64",
                     (long long)p->series);
        return;
    }
    snprintf(l->kernel, sizeof(l->kernel), "live_%lld", (long long)p->x);
    l->options = OPTIONS[cap];
    l->grid.x = (unsigned)share_sms(p->device);
    l->block.x = BLOCK;
    l->arguments[l->argument_count++] = ROUNDS;
    l->arguments[l->argument_count++] = 1;
    l->in_words = BLOCK;
    l->out_words = share_sms(p->device) * BLOCK;
    l->model_blocks = SAMPLE;
}

/* Small whole numbers as floats: 0 to 7. */
static void fill(uint32_t *in, int64_t first, int64_t count, uint64_t seed)
{
    for (int64_t k = 0; k < count; k++) {
        float v = (float)(((uint64_t)(first + k) * 5 + seed) % 8);

        memcpy(&in[k], &v, sizeof(v));
    }
}

/* Sum k begins as k times the thread's number and grows by it in each round: all exact. */
static void reference(const struct experiment_point *p, const struct experiment_launch *l,
                      const uint32_t *in, uint32_t *out)
{
    int64_t times = p->x * (p->x - 1) / 2 + p->x * ROUNDS;

    for (int64_t i = 0; i < l->out_words; i++) {
        float by, sum;

        memcpy(&by, &in[i % BLOCK], sizeof(by));
        sum = by * (float)times;
        memcpy(&out[i], &sum, sizeof(sum));
    }
}

/* Cycles of a scheduler for each addition of a warp. */
static double value(const struct experiment_point *p, const struct experiment_time *t)
{
    return t->cycles / (double)(WARPS_A_SCHEDULER * ROUNDS * p->x);
}

/* Bytes that an SM may hand to L2 in a cycle while all SMs do. */
static double l2_rate(const struct experiment_point *p)
{
    return fmin((double)p->costs->l2_bytes_per_cycle / (double)share_sms(p->device),
                p->costs->sm_bytes_per_cycle);
}

/*
 * The interpreter runs the code before registers were given out. The assembler says how many bytes
 * of instructions store and load spilled ones: half of them stand in the loop, as each spilled sum
 * is also stored once before it and loaded once behind it. Each takes the unit of loads, and as L1
 * writes through, the stores take the SM's share of L2 besides: what takes longer decides.
 */
static void model(const struct experiment_point *p, struct experiment_time *t)
{
    double words = (double)t->spill_bytes / 4 / 2, stores = words / 2;
    double units = words * ROUNDS * WARPS_A_SCHEDULER * p->costs->classes[LAT_GLOBAL].interval;
    double through = stores * ROUNDS * BLOCK * 4 / l2_rate(p);

    t->cycles = fmax(t->cycles + units, through);
}

static void conclude(const struct experiment_data *d, struct buf *out)
{
    size_t last = d->x_count - 1;

    for (size_t s = 0; s < d->series_count; s++) {
        double first = experiment_at(d, d->value, s, 0);
        size_t knee = 0;

        while (knee < last && !(experiment_at(d, d->value, s, knee + 1) > 1.25 * first))
            knee++;
        buf_printf(out, "%swith %lld registers an addition takes %.2f cycles up to %lld sums",
                   s ? "; " : "", (long long)d->series[s], first, (long long)d->xs[knee]);
        if (knee < last)
            buf_printf(out, " and %.2f at %lld", experiment_at(d, d->value, s, last),
                       (long long)d->xs[last]);
    }
    buf_puts(out, ".");
}

const struct experiment EXPERIMENT_spill = {
    .name = "spill",
    .question = "what does it cost to need more values than registers?",
    .teaches = "What finds no register is spilled to local memory: a load for each use and a store "
               "for each change. The limit is 255, or what the compiler was told to take.",
    .source = spill_source,
    .axis = { "live", "sums kept at once", LIVE, COUNT(LIVE), 1, 300 },
    .series = { "cap", "registers a thread may take", CAPS, COUNT(CAPS), 64, MOST_REGISTERS },
    .basis = EXPERIMENT_CLOCK,
    .quantity = "cycles an addition",
    .unit = "cycles",
    .goal_percent = 25,
    .left_out = "loads of spilled registers that miss L1, and spills that overlap with additions",
    .plan = plan,
    .fill = fill,
    .reference = reference,
    .value = value,
    .model = model,
    .conclude = conclude,
};
