/*
 * How a launch is timed here: the card is warmed up until its clock stands still;
 * then, `repeat` times, every launch in turn (so that drift meets all alike) is
 * measured between two events, after its written buffers were restored. A short
 * kernel runs several times in a row between the events and the time is divided,
 * since an event resolves half a microsecond. A repeat in which the card throttled
 * is thrown away and done again.
 */
#include "kernels/gpu_output.h"
#include "kernels/gpu_work.h"

#include <math.h>

enum {
    MAX_TRIES = 3,    /* times `repeat`: then the card is given up as throttling */
    MAX_INNER = 100,  /* launches in one sample */
    SAMPLE_US = 200,  /* a sample lasts at least about this long */
    WARM_UP_MS = 300, /* at least */
    WARM_UP_MAX_MS = 3000,
};

/* True when a launch can reach a buffer. */
static bool is_of(const struct gpu_work *w, const struct gpu_launch *l, size_t buffer)
{
    for (size_t i = 0; i < l->launch->argument_count; i++) {
        const struct launch_argument *a = &l->launch->arguments[i];

        if (a->is_pointer && launch_buffer_at(w->request, a->address) == (int)buffer)
            return true;
        for (size_t k = 0; k < a->pointer_count; k++) {
            uint64_t address;

            memcpy(&address, a->value.data + a->pointers[k], sizeof(address));
            if (launch_buffer_at(w->request, address) == (int)buffer)
                return true;
        }
    }
    return w->buffers[buffer].is_module;
}

/* Puts the buffers that a launch can write back to what they were, and flushes the caches. */
static int restore(struct gpu_work *w, const struct gpu_launch *l, struct err *err)
{
    for (size_t b = 0; b < w->request->buffer_count; b++)
        if (w->buffers[b].pristine && is_of(w, l, b) &&
            gpu_check(w,
                      w->cu->MemcpyDtoDAsync(w->buffers[b].address, w->buffers[b].pristine,
                                             w->request->buffers[b].row.size, NULL),
                      "restoring a buffer", err) < 0)
            return -1;
    if (!w->flush)
        return 0;
    return gpu_check(w, w->cu->MemsetD8Async(w->flush, 0, w->flush_bytes, NULL),
                     "flushing the cache", err);
}

/* One sample: microseconds a launch, between two events. */
static int measure(struct gpu_work *w, struct gpu_launch *l, int inner, double *us, struct err *err)
{
    float ms = 0;

    if (gpu_way_prepare(w, l, inner, err) < 0 || restore(w, l, err) < 0 ||
        gpu_check(w, w->cu->EventRecord(w->start, NULL), "cuEventRecord", err) < 0 ||
        gpu_way_start(w, l, inner, err) < 0)
        return -1;
    if (gpu_error(w->cu, w->cu->EventRecord(w->stop, NULL), gpu_launch_name(l), err) < 0 ||
        gpu_wait(w, w->stop, l, err) < 0 ||
        gpu_check(w, w->cu->EventElapsedTime(&ms, w->start, w->stop), "cuEventElapsedTime", err) <
            0)
        return -1;
    *us = 1e3 * (double)ms / inner;
    if (w->request->status) /* to whoever watches for a launch that does not end */
        atomic_fetch_add(&w->request->status->launches_done, inner);
    if (atomic_load(&child_stop))
        return err_set(err, ERR_Interrupted, "interrupted while the GPU was timed");
    return 0;
}

static int read_clock(struct gpu_work *w, double *mhz, struct err *err)
{
    *mhz = 0;
    return w->has_clock ? gpu_clock_read(&w->clock, mhz, err) : 0;
}

/* Runs everything until the clock of two rounds agrees within 0.5 %, and no shorter than needed. */
static int warm_up(struct gpu_work *w, struct err *err)
{
    int64_t began = gpu_now_ms();
    double before, now = 0, us;

    for (;;) {
        before = now;
        for (size_t i = 0; i < w->request->launch_count; i++)
            if (measure(w, &w->launches[i], w->launches[i].inner, &us, err) < 0)
                return -1;
        if (read_clock(w, &now, err) < 0)
            return -1;
        if (gpu_now_ms() - began >= WARM_UP_MAX_MS)
            return 0;
        if (gpu_now_ms() - began >= WARM_UP_MS && fabs(now - before) <= 0.005 * now)
            return 0;
    }
}

/* How often each launch runs in one sample, from one measurement of a warm card. */
static int choose_inner(struct gpu_work *w, struct err *err)
{
    if (w->request->options.is_single || w->request->options.is_cold || w->has_symbols)
        return 0;
    for (size_t i = 0; i < w->request->launch_count; i++) {
        double us;

        if (measure(w, &w->launches[i], 1, &us, err) < 0)
            return -1;
        w->launches[i].inner = us * MAX_INNER <= SAMPLE_US ? MAX_INNER : 1 + (int)(SAMPLE_US / us);
    }
    return 0;
}

int gpu_time(struct gpu_work *w, struct err *err)
{
    int repeat = w->request->options.repeat;

    if (warm_up(w, err) < 0 || choose_inner(w, err) < 0)
        return -1;
    for (int tries = 0; w->good < repeat && tries < repeat * MAX_TRIES; tries++) {
        double mhz;
        bool is_throttled;

        if (read_clock(w, &mhz, err) < 0)
            return -1;
        is_throttled = w->has_clock && gpu_clock_is_throttled(&w->clock);
        for (size_t i = 0; i < w->request->launch_count; i++) {
            struct gpu_launch *l = &w->launches[i];

            if (measure(w, l, l->inner, &l->samples_us[w->good], err) < 0)
                return -1;
            l->clocks_mhz[w->good] = mhz;
        }
        is_throttled = is_throttled || (w->has_clock && gpu_clock_is_throttled(&w->clock));
        if (is_throttled)
            w->rejected++;
        else
            w->good++;
    }
    if (w->good == 0)
        return err_set(err, ERR_DeviceError, "the card throttled in all %d repeats: no times",
                       w->rejected);
    return 0;
}
