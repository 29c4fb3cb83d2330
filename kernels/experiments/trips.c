/*
 * trips: a loop whose lanes make 6 - s to 6 + s trips (experiments/trips.cu).
 */
#include "kernels/experiment.h"

#include <math.h>

enum { MEAN = 6, BODY = 64, ROUNDS = 16, BLOCK = 256 };

EXPERIMENT_SOURCE(trips)

static const int64_t SPREADS[] = { 0, 1, 2, 3, 4, 5, 6 };

static void plan(const struct experiment_point *p, struct experiment_launch *l)
{
    memcpy(l->kernel, "trips", sizeof("trips"));
    l->grid.x = (unsigned)max_i64(p->device->sms, 1);
    l->block.x = BLOCK;
    l->arguments[l->argument_count++] = ROUNDS;
    l->arguments[l->argument_count++] = (int32_t)p->x;
    l->in_words = BLOCK;
    l->out_words = (int64_t)l->grid.x * BLOCK;
    l->model_blocks = 1;
}

static void reference(const struct experiment_point *p, const struct experiment_launch *l,
                      const uint32_t *in, uint32_t *out)
{
    for (int64_t i = 0; i < l->out_words; i++) {
        int64_t trips = MEAN - p->x + i % WARP % (2 * p->x + 1);
        float v;

        if (i >= BLOCK) {
            out[i] = out[i % BLOCK];
            continue;
        }
        memcpy(&v, &in[i], sizeof(v));
        for (int r = 0; r < ROUNDS; r++) {
            for (int64_t k = 0; k < trips * BODY; k++)
                v = v * 0.5f + 0.25f; /* v * 0.5 is exact, so this is the fused result */
            v += 1;
        }
        memcpy(&out[i], &v, sizeof(v));
    }
}

/* Cycles of a warp, in trips' worth of FFMAs that need each other. */
static double value(const struct experiment_point *p, const struct experiment_time *t)
{
    return t->cycles / (ROUNDS * BODY * p->costs->classes[LAT_FMA].latency);
}

static double formula(const struct experiment_point *p)
{
    return (double)(MEAN + p->x);
}

static void conclude(const struct experiment_data *d, struct buf *out)
{
    size_t last = d->x_count - 1;
    double first = d->value[0];

    buf_printf(out, "A warp stays for its longest lane: %.2f trips' time", d->value[last]);
    if (d->xs[0] == 0)
        buf_printf(out, " with %lld to %lld, %.2f times that of 6 each",
                   (long long)(MEAN - d->xs[last]), (long long)(MEAN + d->xs[last]),
                   d->value[last] / first);
    buf_printf(out, "; (6 + %lld) / 6 is %.2f.", (long long)d->xs[last],
               (double)(MEAN + d->xs[last]) / MEAN);
}

const struct experiment EXPERIMENT_trips = {
    .name = "trips",
    .question = "what do lanes with unlike numbers of trips cost their warp?",
    .teaches = "A warp leaves a loop with its longest lane. Lanes that are done wait for it, and "
               "their share of the issue slots is lost.",
    .source = trips_source,
    .axis = { "spread", "spread of the trips around 6", SPREADS, COUNT(SPREADS), 0, 6 },
    .basis = EXPERIMENT_CLOCK,
    .quantity = "time of a warp, in trips",
    .unit = "trips",
    .goal_percent = 5,
    .left_out = "what the loop's own instructions cost",
    .closed_form = "6 + spread",
    .plan = plan,
    .reference = reference,
    .value = value,
    .formula = formula,
    .conclude = conclude,
};
