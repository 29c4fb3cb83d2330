#include "kernels/model_estimate.h"

#include <time.h>

enum {
    LEAST_BLOCKS = 4, /* the sample itself is three */
    MANY_BLOCKS = 64, /* of which three are little beside the rest */
    BUDGET = 1 << 16, /* instructions of a sampled thread, among many blocks */
    SMALL_BUDGET = 1 << 12,
    MOST_BUDGET = 1 << 24,
    SURE_MS = 15000, /* so long that a faster moment of the machine makes no difference */
    TRIES = 3,       /* of a sample that is over too soon to be measured once */
};

static const double SOON_S = 5e-3;

/*
 * More thread instructions a second than any kernel of docs/benchmarks.md has on one host thread
 * (3.8e9 without checks). Three blocks may be over before the clock tells them from one; then their
 * instructions still say how long all must take at the least.
 */
static const double FASTEST_PER_S = 8e9;

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int64_t first_budget(const struct ptx_launch *launch)
{
    int64_t blocks = (int64_t)launch->grid.x * launch->grid.y * launch->grid.z;

    return blocks < MANY_BLOCKS ? SMALL_BUDGET : BUDGET;
}

/* Seconds that a sample took whose threads execute at most budget instructions, or -1. */
static double sample(const struct ptx_module *module, const struct ptx_launch *launch,
                     int64_t budget, struct arena *arena, struct ptx_cost *cost)
{
    struct err err = { 0 };
    double start = now_s();
    int rc;

    if (launch->max_thread_instructions > 0 && launch->max_thread_instructions < budget)
        budget = launch->max_thread_instructions;
    rc = ptx_launch_cost(module, launch, budget, arena, cost, &err);
    err_done(&err);
    return rc < 0 ? -1 : now_s() - start;
}

/*
 * What a block that is not cut off takes beside what starting takes: three blocks less one block,
 * the best of some.
 */
static double block_seconds(const struct ptx_module *module, const struct ptx_launch *launch,
                            struct arena *arena)
{
    struct ptx_launch one = *launch;
    double three_s = 1, one_s = 1;

    one.sample_blocks = 1;
    for (int i = 0; i < TRIES; i++) {
        struct ptx_cost cost;
        double a = sample(module, launch, MOST_BUDGET, arena, &cost);
        double b = sample(module, &one, MOST_BUDGET, arena, &cost);

        if (a < 0 || b < 0)
            return 0;
        three_s = a < three_s ? a : three_s;
        one_s = b < one_s ? b : one_s;
    }
    return three_s > one_s ? (three_s - one_s) / 2 : 0;
}

static double all_ms(const struct ptx_cost *cost, double s)
{
    return 1e3 * s / (double)cost->sampled_blocks * (double)cost->blocks / cost->host_threads;
}

/*
 * Milliseconds for all blocks by a sample of a few, or -1. Threads that are cut off say only how
 * long the launch takes at the least: they go further as long as that is less than what is told,
 * and a moment.
 */
static double sampled_ms(const struct ptx_module *module, const struct ptx_launch *launch,
                         struct arena *arena, struct ptx_cost *cost, double *s)
{
    double ms = -1;

    for (int64_t budget = first_budget(launch); budget <= MOST_BUDGET; budget *= 4) {
        *s = sample(module, launch, budget, arena, cost);
        if (*s < 0 || cost->sampled_blocks < 1)
            return -1;
        ms = all_ms(cost, *s);
        if (!cost->is_cut || ms >= SURE_MS || *s >= SOON_S)
            return ms;
    }
    return ms;
}

struct launch_estimate model_estimate(const struct ptx_module *module,
                                      const struct ptx_launch *launch, struct arena *arena)
{
    struct launch_estimate out = { 0 };
    struct ptx_cost cost = { 0 };
    double s = 0, ms;

    /* A grid's barrier waits for all its blocks: a few of them do not get far. */
    if (launch->is_cooperative ||
        (int64_t)launch->grid.x * launch->grid.y * launch->grid.z < LEAST_BLOCKS)
        return out;
    ms = sampled_ms(module, launch, arena, &cost, &s);
    if (ms >= ESTIMATE_FROM_MS && s < SOON_S && !cost.is_cut) {
        double least_s = (double)cost.thread_instructions / FASTEST_PER_S;
        double all_s = block_seconds(module, launch, arena) * (double)cost.blocks;

        ms = 1e3 * (all_s > least_s ? all_s : least_s) / cost.host_threads;
    }
    if (ms < ESTIMATE_FROM_MS)
        return out;
    out.ms = ms < 1e15 ? (int64_t)ms : (int64_t)1e15;
    out.is_least = cost.is_cut;
    return out;
}
