/*
 * launch: time of a launch by what its kernel does, in a stream and in a graph
 * (experiments/launch.cu).
 */
#include "kernels/experiments/share.h"

#include <math.h>
#include <stdio.h>

enum { STREAM, GRAPH, WAYS };
enum {
    BLOCK = 32,
    SAMPLE = 1,
    GRAPH_NS = 1300 /* between kernels of a graph: RRZE gpu-benches, small kernels, H200 */
};

EXPERIMENT_SOURCE(launch)

static const int64_t STEPS[] = { 0, 128, 256, 512, 1024, 2048, 4096, 8192 },
                     BOTH[] = { STREAM, GRAPH };
static const char *const NAMES[] = { "stream", "graph" };

static void plan(const struct experiment_point *p, struct experiment_launch *l)
{
    snprintf(l->kernel, sizeof(l->kernel), "spin");
    l->grid.x = (unsigned)share_sms(p->device);
    l->block.x = BLOCK;
    l->arguments[l->argument_count++] = (int32_t)p->x;
    l->arguments[l->argument_count++] = SHARE_FACTOR;
    l->in_words = 1;
    l->out_words = share_sms(p->device) * BLOCK;
    l->model_blocks = SAMPLE;
    l->way = p->series == GRAPH ? LAUNCH_BY_GRAPH : LAUNCH_BY_STREAM;
}

static void reference(const struct experiment_point *p, const struct experiment_launch *l,
                      const uint32_t *in, uint32_t *out)
{
    (void)in;
    for (int64_t i = 0; i < l->out_words; i++)
        out[i] = share_multiply((uint32_t)i, SHARE_FACTOR, p->x);
}

static double value(const struct experiment_point *p, const struct experiment_time *t)
{
    (void)p;
    return t->time_us;
}

/* What a launch adds to its kernel is less by the published difference; the kernel is the same. */
static double in_graph(const struct experiment_point *p, double us)
{
    double saved = p->costs->launch_least_ns - GRAPH_NS;

    return us - (saved > 0 ? saved : 0) / 1e3;
}

static void model(const struct experiment_point *p, struct experiment_time *t)
{
    if (p->series != GRAPH)
        return;
    t->time_us = in_graph(p, t->time_us);
    t->cycles = t->time_us * t->clock_mhz;
}

static double formula(const struct experiment_point *p)
{
    double us = share_launch_us(p, (double)p->x * p->costs->classes[LAT_IMUL].latency);

    return p->series == GRAPH ? in_graph(p, us) : us;
}

/* The first point of a curve that takes twice as long as its empty kernel. */
static void conclude(const struct experiment_data *d, struct buf *out)
{
    for (size_t s = 0; s < d->series_count; s++) {
        double empty = experiment_at(d, d->value, s, 0);
        size_t i = 1;

        while (i < d->x_count && experiment_at(d, d->value, s, i) < 2 * empty)
            i++;
        buf_printf(out, "%sin a %s a kernel of %lld steps takes %.2f us", s ? "; " : "",
                   NAMES[d->series[s]], (long long)d->xs[0], empty);
        if (i < d->x_count)
            buf_printf(out, " and one of %lld steps %.2f us", (long long)d->xs[i],
                       experiment_at(d, d->value, s, i));
    }
    buf_puts(out, ".");
}

const struct experiment EXPERIMENT_launch = {
    .name = "launch",
    .question = "what does a launch cost, and when does it not matter?",
    .teaches = "Each launch takes a few microseconds, however little its kernel does. A graph of "
               "the same launches takes less of them, as the card knows what comes next.",
    .source = launch_source,
    .axis = { "steps", "multiplications in a row", STEPS, COUNT(STEPS), 0, 1 << 20 },
    .series = { "way", "launched", BOTH, COUNT(BOTH), 0, WAYS - 1, .names = NAMES },
    .basis = EXPERIMENT_EVENT,
    .quantity = "time of a launch",
    .unit = "us",
    .goal_percent = 25,
    .is_calibrated = true,
    .left_out = "how long the host takes to hand over a launch",
    .closed_form = "max(least, launch + steps x latency)",
    .plan = plan,
    .fill = share_fill_line,
    .reference = reference,
    .value = value,
    .model = model,
    .formula = formula,
    .conclude = conclude,
};
