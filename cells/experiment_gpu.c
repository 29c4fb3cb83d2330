/*
 * The card: every point runs once and is checked; then those that are right are timed, between two
 * events (kernels/gpu_time.c takes them in turn), or by the clock that the kernel reads itself.
 */
#include "cells/experiment_internal.h"

#include "cells/samples.h"

#include <math.h>

enum {
    MAX_SMS = 1024, /* numbers of SMs that are told apart */
    CLOCK_REPEATS = 3,
};

/* Medians and spread of a point's samples, which are the quantity already. */
static int summarize(struct experiment_work *w, struct experiment_outcome *o, double *samples,
                     size_t n, struct err *err)
{
    double *sorted = arena_array(w->call->arena, n, sizeof(*sorted));

    if (!sorted)
        return experiment_no_memory(err);
    memcpy(sorted, samples, n * sizeof(*sorted));
    samples_sort(sorted, n);
    o->is_measured = true;
    o->samples = samples;
    o->repeat = (int)n;
    o->median = samples_quantile(sorted, n, 0.5);
    o->iqr = samples_quantile(sorted, n, 0.75) - samples_quantile(sorted, n, 0.25);
    o->min = sorted[0];
    return 0;
}

static void widen_clock(struct experiment_run *run, double mhz)
{
    if (mhz <= 0)
        return;
    if (run->clock_low_mhz == 0 || mhz < run->clock_low_mhz)
        run->clock_low_mhz = mhz;
    if (mhz > run->clock_high_mhz)
        run->clock_high_mhz = mhz;
}

/* The SM clock of a launch that was timed by events; the median over its repeats. */
static double read_clock(struct experiment_work *w, struct bytes done)
{
    size_t n;
    double *mhz = samples_read(w->call->arena, done, TAG_CLOCKS_MHZ, &n);

    if (!mhz || n == 0)
        return 0;
    samples_sort(mhz, n);
    widen_clock(w->run, mhz[0]);
    widen_clock(w->run, mhz[n - 1]);
    return samples_quantile(mhz, n, 0.5);
}

static int take_event(struct experiment_work *w, struct experiment_outcome *o, struct bytes done,
                      struct err *err)
{
    struct experiment_time t = experiment_start_time(o);
    size_t n;
    double *samples = samples_read(w->call->arena, done, TAG_SAMPLES_US, &n);
    double *us = samples_read(w->call->arena, done, TAG_SAMPLES_US, &n);

    if (!samples || !us)
        return err_set(err, ERR_InternalError, "the GPU process gave no times for %s",
                       o->launch.kernel);
    o->clock_mhz = read_clock(w, done);
    o->rejected = (int)fields_int(done, TAG_REJECTED, 0);
    o->launches_a_sample = (int)fields_int(done, TAG_INNER, 1);
    o->blocks_per_sm = (int)fields_int(done, TAG_BLOCKS_PER_SM, 0);
    t.clock_mhz = o->clock_mhz;
    t.blocks_per_sm = o->blocks_per_sm;
    for (size_t k = 0; k < n; k++) {
        t.time_us = us[k];
        t.cycles = us[k] * o->clock_mhz;
        samples[k] = w->run->experiment->value(&o->point, &t);
    }
    samples_sort(us, n);
    o->time_us = samples_quantile(us, n, 0.5);
    o->cycles = o->time_us * o->clock_mhz;
    return summarize(w, o, samples, n, err);
}

static int time_events(struct experiment_work *w, struct err *err)
{
    struct experiment_asking asking = { .kind = CHILD_GPU,
                                        .options = { .gpu_index = w->run->device.gpu_index,
                                                     .repeat = w->run->repeat,
                                                     .wants_copy = w->run->experiment->wants_copy },
                                        .rounds = 1,
                                        .only_correct = true };
    struct child_message answer;
    struct bytes done, copy;
    size_t at = 0;
    int rc = 0;

    if (experiment_ask(w, &asking, &answer, err) < 0)
        return -1;
    for (size_t i = 0; rc == 0 && i < w->run->count; i++)
        if (experiment_takes_part(&w->run->points[i], true) &&
            fields_find(child_message_body(&answer), TAG_DONE, at++, &done))
            rc = take_event(w, &w->run->points[i], done, err);
    if (fields_find(child_message_body(&answer), TAG_COPY_GBS, 0, &copy) &&
        copy.size == sizeof(w->run->copy_gbs))
        memcpy(&w->run->copy_gbs, copy.data, sizeof(w->run->copy_gbs));
    child_message_done(&answer);
    return rc;
}

/* SM by SM, from the first reading of a warp there to the last one; the median of the SMs. */
static double cycles_of(const int64_t *stamps, int64_t warps)
{
    static int64_t first[MAX_SMS], last[MAX_SMS];
    double spans[MAX_SMS];
    size_t n = 0;

    for (int k = 0; k < MAX_SMS; k++) {
        first[k] = INT64_MAX;
        last[k] = INT64_MIN;
    }
    for (int64_t i = 0; i < warps; i++) {
        const int64_t *s = stamps + i * EXPERIMENT_STAMP;

        if (s[2] < 0 || s[2] >= MAX_SMS || s[1] <= s[0])
            continue;
        first[s[2]] = min_i64(first[s[2]], s[0]);
        last[s[2]] = max_i64(last[s[2]], s[1]);
    }
    for (int k = 0; k < MAX_SMS; k++)
        if (last[k] > first[k])
            spans[n++] = (double)(last[k] - first[k]);
    samples_sort(spans, n);
    return n ? samples_quantile(spans, n, 0.5) : 0;
}

static int take_stamps(struct experiment_work *w, size_t i, double mhz, struct err *err)
{
    struct experiment_outcome *o = &w->run->points[i];
    struct experiment_time t = experiment_start_time(o);
    size_t n = (size_t)w->run->repeat;
    double *samples = arena_array(w->call->arena, n, sizeof(*samples));
    double *cycles = arena_array(w->call->arena, n, sizeof(*cycles));

    if (!samples || !cycles)
        return experiment_no_memory(err);
    t.clock_mhz = mhz;
    t.blocks_per_sm = o->blocks_per_sm;
    for (size_t k = 0; k < n; k++) {
        const char *at = (const char *)w->clocks.data + w->clocks_at[i] +
                         (k + EXPERIMENT_WARM_ROUNDS) * w->clock_bytes[i];

        t.cycles = cycles[k] =
            cycles_of((const int64_t *)(const void *)at, experiment_warps_of(&o->launch));
        if (cycles[k] <= 0)
            return err_set(err, ERR_InternalError, "%s stored no readings of the clock",
                           o->launch.kernel);
        samples[k] = w->run->experiment->value(&o->point, &t);
    }
    samples_sort(cycles, n);
    o->cycles = samples_quantile(cycles, n, 0.5);
    o->clock_mhz = mhz;
    o->launches_a_sample = 1;
    return summarize(w, o, samples, n, err);
}

/* A few timed repeats of one point warm the card up and say how fast its clock runs. */
static int warm_up(struct experiment_work *w, double *mhz, struct err *err)
{
    struct experiment_asking asking = { .kind = CHILD_GPU,
                                        .options = { .gpu_index = w->run->device.gpu_index,
                                                     .repeat = CLOCK_REPEATS },
                                        .rounds = 1,
                                        .most = 1,
                                        .only_correct = true };
    struct child_message answer;
    struct bytes done;

    if (experiment_ask(w, &asking, &answer, err) < 0)
        return -1;
    if (fields_find(child_message_body(&answer), TAG_DONE, 0, &done))
        *mhz = read_clock(w, done);
    child_message_done(&answer);
    return 0;
}

static int time_clocks(struct experiment_work *w, struct err *err)
{
    struct experiment_asking asking = { .kind = CHILD_GPU,
                                        .options = { .gpu_index = w->run->device.gpu_index,
                                                     .is_writing = 1 },
                                        .rounds = w->rounds,
                                        .only_correct = true };
    struct child_message answer;
    struct bytes done;
    size_t at = 0;
    double mhz = 0;

    if (warm_up(w, &mhz, err) < 0 || experiment_ask(w, &asking, &answer, err) < 0)
        return -1;
    for (size_t i = 0; i < w->run->count; i++)
        if (experiment_takes_part(&w->run->points[i], true) &&
            fields_find(child_message_body(&answer), TAG_DONE, at++, &done))
            w->run->points[i].blocks_per_sm = (int)fields_int(done, TAG_BLOCKS_PER_SM, 0);
    child_message_done(&answer);
    for (size_t i = 0; i < w->run->count; i++)
        if (experiment_takes_part(&w->run->points[i], true) && take_stamps(w, i, mhz, err) < 0)
            return -1;
    return 0;
}

static bool is_any_correct(const struct experiment_work *w)
{
    for (size_t i = 0; i < w->run->count; i++)
        if (experiment_takes_part(&w->run->points[i], true))
            return true;
    return false;
}

int experiment_run_gpu(struct experiment_work *w, struct err *err)
{
    struct experiment_asking once = { .kind = CHILD_GPU,
                                      .options = { .gpu_index = w->run->device.gpu_index,
                                                   .is_writing = 1 },
                                      .rounds = 1 };
    struct child_message answer;

    if (experiment_poison(w, err) < 0 || experiment_ask(w, &once, &answer, err) < 0)
        return -1;
    child_message_done(&answer);
    if (experiment_check_all(w, false, err) < 0)
        return -1;
    if (!is_any_correct(w))
        return 0;
    return experiment_is_by_clock(w) ? time_clocks(w, err) : time_events(w, err);
}
