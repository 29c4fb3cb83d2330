/*
 * `in` is one memfd for all points; each point has its own stretch of `out`, poisoned before each
 * run, so that a word that no thread wrote is seen. Where a kernel reads the clock itself, all
 * repeats are one request: round after round, every point in turn, each launch with a stretch of
 * `clocks` of its own.
 */
#include "cells/experiment_run.h"

#include "cells/experiment_internal.h"
#include "cells/internal.h"
#include "kernels/lessons.h"

#include <math.h>

enum { PIECE = 1 << 18 }; /* words: a few milliseconds */

int64_t experiment_warps_of(const struct experiment_launch *l)
{
    int64_t threads = (int64_t)l->block.x * l->block.y * l->block.z;

    return (int64_t)l->grid.x * l->grid.y * l->grid.z * ceil_div(threads, WARP);
}

/* ---- planning ---- */

static int plan(struct experiment_work *w, struct err *err)
{
    struct experiment_run *run = w->run;
    struct arena *arena = w->call->arena;
    size_t n = run->series_count * run->x_count;
    struct costs *room = arena_alloc(arena, sizeof(*room));

    run->count = n;
    run->points = arena_array(arena, n, sizeof(*run->points));
    w->out_at = arena_array(arena, n + 1, sizeof(*w->out_at));
    w->clocks_at = arena_array(arena, n + 1, sizeof(*w->clocks_at));
    w->clock_bytes = arena_array(arena, n, sizeof(*w->clock_bytes));
    if (!room || !run->points || !w->out_at || !w->clocks_at || !w->clock_bytes)
        return experiment_no_memory(err);
    w->rounds =
        run->use_gpu && experiment_is_by_clock(w) ? run->repeat + EXPERIMENT_WARM_ROUNDS : 1;
    w->in_words = 1;
    for (size_t i = 0; i < n; i++) {
        struct experiment_outcome *o = &run->points[i];
        struct experiment_launch *l = &o->launch;

        *o = (struct experiment_outcome){ .first = -1 };
        o->point = (struct experiment_point){ .x = run->xs[i % run->x_count],
                                              .series = run->series[i / run->x_count],
                                              .device = &run->device.device,
                                              .costs = costs_with(&run->device.device, room) };
        l->grid = l->block = (struct ptx_dim){ 1, 1, 1 };
        run->experiment->plan(&o->point, l);
        w->in_words = max_i64(w->in_words, l->in_words);
        w->clock_bytes[i] = (size_t)(experiment_is_by_clock(w) ? experiment_warps_of(l) : 1) *
                            EXPERIMENT_STAMP * sizeof(int64_t);
        w->out_at[i + 1] =
            w->out_at[i] + (size_t)round_up(max_i64(l->out_words, 1) * 4, LESSON_PAGE);
        w->clocks_at[i + 1] =
            w->clocks_at[i] + (size_t)round_up((int64_t)w->clock_bytes[i] * w->rounds, LESSON_PAGE);
    }
    return 0;
}

/* In pieces, as an interrupt wants to be heard. */
static int fill(const struct experiment_work *w, struct err *err)
{
    const struct experiment *e = w->run->experiment;
    uint32_t *in = w->in.data;

    for (int64_t at = 0; at < w->in_words; at += PIECE) {
        int64_t n = min_i64(PIECE, w->in_words - at);

        if (call_check_stop(w->call, err) < 0)
            return -1;
        if (e->fill)
            e->fill(in + at, at, n, w->run->seed);
        else
            lesson_fill((float *)(void *)(in + at), at, n, w->run->seed);
    }
    return 0;
}

int experiment_poison(const struct experiment_work *w, struct err *err)
{
    for (size_t i = 0; i < w->run->count; i++) {
        if (call_check_stop(w->call, err) < 0)
            return -1;
        lesson_poison((float *)(void *)experiment_out_of(w, i), w->run->points[i].launch.out_words);
    }
    return 0;
}

static int make_memory(struct experiment_work *w, struct err *err)
{
    size_t n = w->run->count;

    if (lesson_memory_init(&w->in, "in", (size_t)w->in_words * 4, err) < 0 ||
        lesson_memory_init(&w->out, "out", w->out_at[n], err) < 0 ||
        lesson_memory_init(&w->clocks, "clocks", w->clocks_at[n], err) < 0)
        return -1;
    return fill(w, err);
}

/* ---- the model ---- */

/* What is known before anything ran. */
struct experiment_time experiment_start_time(const struct experiment_outcome *o)
{
    return (struct experiment_time){ .launch = &o->launch,
                                     .registers = o->registers,
                                     .spill_bytes = o->spill_bytes };
}

static void take_model(struct experiment_work *w, struct experiment_outcome *o, struct bytes done)
{
    struct ptx_facts facts = { 0 };
    struct experiment_time t = experiment_start_time(o);
    int mhz = w->run->device.device.clock_mhz > 0 ? w->run->device.device.clock_mhz : 1000;

    if (!launch_read_facts(done, w->call->arena, &facts))
        return;
    o->model = facts.timing;
    t.clock_mhz = mhz;
    t.time_us = experiment_is_by_clock(w) ? 0 : o->model.time_us;
    t.cycles = experiment_is_by_clock(w) ? (double)o->model.clock_cycles : o->model.time_us * mhz;
    t.blocks_per_sm = o->model.blocks_per_sm;
    if (w->run->experiment->model)
        w->run->experiment->model(&o->point, &t);
    o->is_modelled = t.cycles > 0;
    o->modelled = o->is_modelled ? w->run->experiment->value(&o->point, &t) : (double)NAN;
}

static int run_model(struct experiment_work *w, struct err *err)
{
    struct experiment_asking asking = { .kind = CHILD_MODEL,
                                        .options = { .is_timed = 1, .is_writing = 1 },
                                        .rounds = 1 };
    struct child_message answer;
    struct bytes done;
    size_t at = 0;

    if (experiment_poison(w, err) < 0 || experiment_ask(w, &asking, &answer, err) < 0)
        return -1;
    for (size_t i = 0; i < w->run->count; i++)
        if (experiment_takes_part(&w->run->points[i], false) &&
            fields_find(child_message_body(&answer), TAG_DONE, at++, &done))
            take_model(w, &w->run->points[i], done);
    child_message_done(&answer);
    return experiment_check_all(w, true, err);
}

/* ---- all of it ---- */

static int fill_data(struct experiment_work *w, struct err *err)
{
    struct experiment_run *run = w->run;
    const struct experiment *e = run->experiment;
    struct arena *arena = w->call->arena;
    double *value = arena_array(arena, run->count, sizeof(*value));
    double *modelled = arena_array(arena, run->count, sizeof(*modelled));
    double *closed = arena_array(arena, run->count, sizeof(*closed));

    if (!value || !modelled || !closed)
        return experiment_no_memory(err);
    for (size_t i = 0; i < run->count; i++) {
        const struct experiment_outcome *o = &run->points[i];
        bool is_right = experiment_exists(o) && o->is_correct;

        modelled[i] = is_right && o->is_modelled ? o->modelled : (double)NAN;
        value[i] =
            run->use_gpu ? is_right && o->is_measured ? o->median : (double)NAN : modelled[i];
        closed[i] = experiment_exists(o) && e->formula ? e->formula(&o->point) : (double)NAN;
    }
    run->data = (struct experiment_data){ .device = &run->device.device,
                                          .costs = run->points[0].point.costs,
                                          .xs = run->xs,
                                          .series = run->series,
                                          .x_count = run->x_count,
                                          .series_count = run->series_count,
                                          .value = value,
                                          .modelled = modelled,
                                          .closed = closed,
                                          .copy_gbs = run->copy_gbs,
                                          .is_measured = run->use_gpu };
    run->error_percent = run->use_gpu ? experiment_error(modelled, value, run->count) : (double)NAN;
    run->formula_error_percent =
        run->use_gpu ? experiment_error(closed, value, run->count) : (double)NAN;
    return 0;
}

static int run_everywhere(struct experiment_work *w, struct err *err)
{
    if (plan(w, err) < 0 || make_memory(w, err) < 0 || experiment_compile(w, err) < 0)
        return -1;
    if (w->run->use_model && run_model(w, err) < 0)
        return -1;
    if (w->run->use_gpu && experiment_run_gpu(w, err) < 0)
        return -1;
    return fill_data(w, err);
}

int experiment_run(struct call *call, struct experiment_run *run, struct err *err)
{
    struct experiment_work w = {
        .call = call, .run = run, .in = { .fd = -1 }, .out = { .fd = -1 }, .clocks = { .fd = -1 }
    };
    int rc = run_everywhere(&w, err);

    lesson_memory_done(&w.in);
    lesson_memory_done(&w.out);
    lesson_memory_done(&w.clocks);
    return rc;
}
