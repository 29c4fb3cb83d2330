/*
 * policy: batches of I instructions and a wait, and N warps that share a scheduler.
 *
 * The pattern layer (model/scheduler.h) knows this pattern under every policy. So the curve names
 * the policy: the wait follows from one warp alone, and the policy is the one whose curve is
 * nearest over all points.
 */
#include "kernels/experiment.h"

#include "model/scheduler.h"

#include <math.h>
#include <stdio.h>

enum {
    UNROLL = 16,
    ROUNDS = 8,
    BATCHES = UNROLL * ROUNDS,
    RING = 8,
    BETWEEN = 5,
    MOST_BLOCK = 1024
};

EXPERIMENT_SOURCE(policy)

static const int64_t WARPS[] = { 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16 }, ISSUE[] = { 8, 16 };

static void plan(const struct experiment_point *p, struct experiment_launch *l)
{
    int64_t threads = p->x * p->device->partitions * WARP;
    int64_t blocks = ceil_div(threads, MOST_BLOCK);

    if (p->series != 8 && p->series != 12 && p->series != 16 && p->series != 24 &&
        p->series != 32) {
        snprintf(l->skipped, sizeof(l->skipped), "issue=%lld: there are 8, 12, 16, 24 and 32",
                 (long long)p->series);
        return;
    }
    if (threads > p->device->threads_per_sm || threads % (blocks * WARP) != 0) {
        snprintf(l->skipped, sizeof(l->skipped),
                 "%lld warps a scheduler are no whole blocks that fit on an SM", (long long)p->x);
        return;
    }
    snprintf(l->kernel, sizeof(l->kernel), "policy_%lld", (long long)p->series);
    l->grid.x = (unsigned)(blocks * max_i64(p->device->sms, 1));
    l->block.x = (unsigned)(threads / blocks);
    l->arguments[l->argument_count++] = ROUNDS;
    l->arguments[l->argument_count++] = 0x3f800000; /* 1.0f */
    l->arguments[l->argument_count++] = 0;          /* 0.0f */
    l->in_words = p->series;
    l->out_words = (int64_t)l->grid.x * l->block.x;
    l->model_blocks = blocks;
}

/* An address is a number so small that adding it to an accumulator changes nothing. */
static void reference(const struct experiment_point *p, const struct experiment_launch *l,
                      const uint32_t *in, uint32_t *out)
{
    for (int64_t i = 0; i < l->out_words; i++) {
        int64_t place = (i % l->block.x % WARP + (int64_t)BATCHES * WARP) % (RING * WARP);
        float sum = 0, v;

        for (int64_t k = 0; k < p->series - 2; k++) {
            memcpy(&v, &in[k], sizeof(v));
            sum += v;
        }
        sum += (float)place;
        memcpy(&out[i], &sum, sizeof(sum));
    }
}

static double value(const struct experiment_point *p, const struct experiment_time *t)
{
    return (double)(p->x * p->series * BATCHES) / t->cycles;
}

/* Cycles from one batch of a warp to its next, when it is alone. */
static double alone(const struct experiment_point *p)
{
    return fmax(1 + BETWEEN, p->costs->classes[LAT_FMA].latency) + p->costs->shared_latency;
}

static double formula(const struct experiment_point *p)
{
    return fmin(1, (double)(p->x * p->series) / fmax(alone(p), (double)p->series));
}

/* What a policy makes of a point; NaN when the pattern is none. */
static double predicted(int policy, int64_t warps, int64_t issue, int64_t wait)
{
    struct pattern pattern = { .warps = (int)warps,
                               .issue = (int)issue,
                               .wait = (int)max_i64(wait, 0),
                               .schedulers = 1,
                               .policy = (enum scheduler_policy)policy };
    struct arena *arena = arena_new(0);
    struct steady steady;
    struct err err = { 0 };
    double busy = (double)NAN;

    if (arena && scheduler_steady(&pattern, arena, &steady, NULL, &err) == 0)
        busy = steady.issue_utilization;
    err_done(&err);
    arena_free(&arena);
    return busy;
}

/* The wait of a curve: from one warp alone where the sweep has it. */
static int64_t wait_of(const struct experiment_data *d, size_t s)
{
    int one = experiment_index(d->xs, d->x_count, 1);
    double busy = one < 0 ? (double)NAN : experiment_at(d, d->value, s, (size_t)one);
    struct experiment_point p = {
        .x = 1, .series = d->series[s], .device = d->device, .costs = d->costs
    };
    double period = isfinite(busy) ? (double)d->series[s] / busy : alone(&p);

    return (int64_t)floor(period + 0.5) - d->series[s];
}

/* The most that a curve reaches: what the loop's own instructions and the start leave. */
static double most_of(const struct experiment_data *d, size_t s)
{
    double most = 0;

    for (size_t i = 0; i < d->x_count; i++)
        most = fmax(most, experiment_at(d, d->value, s, i));
    return most;
}

/*
 * Mean distance of a policy's curves, cut off where the data's are, from the data, in percent of
 * the data; NaN: no points.
 */
static double distance(const struct experiment_data *d, int policy)
{
    double sum = 0;
    int n = 0;

    for (size_t s = 0; s < d->series_count; s++)
        for (size_t i = 0; i < d->x_count; i++) {
            double seen = experiment_at(d, d->value, s, i);

            if (!isfinite(seen) || seen <= 0)
                continue;
            sum +=
                fabs(fmin(predicted(policy, d->xs[i], d->series[s], wait_of(d, s)), most_of(d, s)) -
                     seen) /
                seen;
            n++;
        }
    return n ? 100 * sum / n : (double)NAN;
}

/* Whether no other policy is about as near. */
static bool is_alone(const double *distances, int best)
{
    for (int p = 0; p < POLICY_COUNT; p++)
        if (p != best && distances[p] < distances[best] + 0.5)
            return false;
    return true;
}

static void conclude(const struct experiment_data *d, struct buf *out)
{
    int best = POLICY_GTO, worst = POLICY_GTO;
    double distances[POLICY_COUNT];

    for (int p = 0; p < POLICY_COUNT; p++) {
        distances[p] = distance(d, p);
        best = distances[p] < distances[best] ? p : best;
        worst = distances[p] > distances[worst] ? p : worst;
    }
    buf_printf(out, "%s fits best, %.1f %% off in the mean",
               scheduler_policy_name((enum scheduler_policy)best), distances[best]);
    for (int p = 0, n = 0; p < POLICY_COUNT; p++)
        if (p != best && distances[p] < distances[best] + 0.5)
            buf_printf(out, "%s%s",
                       n++ ? ", " : " (as good: ", scheduler_policy_name((enum scheduler_policy)p));
    buf_printf(out, "%s; gto %.1f %%, lrr %.1f %%, farthest is %s with %.1f %%.",
               is_alone(distances, best) ? "" : ")", distances[POLICY_GTO], distances[POLICY_LRR],
               scheduler_policy_name((enum scheduler_policy)worst), distances[worst]);
}

const struct experiment EXPERIMENT_policy = {
    .name = "policy",
    .question = "which of its warps does a scheduler take: the same one again, or each in turn?",
    .teaches = "A scheduler that stays with a warp lets the waits fall apart, so that a few warps "
               "keep it busy; one that takes turns lets them wait together.",
    .source = policy_source,
    .axis = { "warps", "warps a scheduler", WARPS, COUNT(WARPS), 1, 16 },
    .series = { "issue", "instructions a batch", ISSUE, COUNT(ISSUE), 8, 32 },
    .basis = EXPERIMENT_CLOCK,
    .quantity = "issue slots used",
    .unit = "%",
    .scale_max = 1,
    .goal_percent = 5,
    .is_calibrated =
        true, /* the order of ready warps in model/ptx/timing was chosen by its results */
    .left_out = "what the scheduler takes into account beyond ready or not",
    .closed_form = "greedy: min(1, warps x issue / (issue + wait))",
    .plan = plan,
    .reference = reference,
    .value = value,
    .formula = formula,
    .conclude = conclude,
};
