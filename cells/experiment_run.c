/*
 * `in` is one memfd for all points; each point has its own stretch of `out`, poisoned before each
 * run, so that a word that no thread wrote is seen. Where a kernel reads the clock itself, all
 * repeats are one request: round after round, every point in turn, each launch with a stretch of
 * `clocks` of its own.
 */
#include "cells/experiment_run.h"

#include "cells/cuda_table.h"
#include "cells/images.h"
#include "cells/internal.h"
#include "cells/lesson_memory.h"
#include "cells/samples.h"
#include "kernels/launch.h"
#include "kernels/lessons.h"

#include <math.h>
#include <stdlib.h>

enum {
    PIECE = 1 << 18, /* words: a few milliseconds */
    MAX_MODULES = 64,
    STAMP = 3,      /* words of a warp in clocks: first reading, last reading, SM */
    MAX_SMS = 1024, /* numbers of SMs that are told apart */
    CLOCK_REPEATS = 3,
    WARM_ROUNDS = 1,
};

/* Points with the same options of the compiler. */
struct module {
    const char *options;
    const struct image *machine, *ptx;
};

struct work {
    struct call *call;
    struct experiment_run *run;
    struct module modules[MAX_MODULES];
    size_t module_count;
    const struct image *probe;
    struct lesson_memory in, out, clocks;
    int64_t in_words;
    size_t *out_at, *clocks_at; /* byte of each point's stretch */
    size_t *clock_bytes;        /* of one launch */
    int rounds;                 /* of clocks: with those that warm up */
};

static int out_of_memory(struct err *err)
{
    return err_set(err, ERR_ResourceError, "out of memory for the experiment");
}

static bool is_by_clock(const struct work *w)
{
    return w->run->experiment->basis == EXPERIMENT_CLOCK;
}

static int64_t warps_of(const struct experiment_launch *l)
{
    int64_t threads = (int64_t)l->block.x * l->block.y * l->block.z;

    return (int64_t)l->grid.x * l->grid.y * l->grid.z * ceil_div(threads, WARP);
}

static bool exists(const struct experiment_outcome *o)
{
    return !o->launch.skipped[0];
}

/* ---- planning ---- */

static int plan(struct work *w, struct err *err)
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
        return out_of_memory(err);
    w->rounds = run->use_gpu && is_by_clock(w) ? run->repeat + WARM_ROUNDS : 1;
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
        w->clock_bytes[i] = (size_t)(is_by_clock(w) ? warps_of(l) : 1) * STAMP * sizeof(int64_t);
        w->out_at[i + 1] =
            w->out_at[i] + (size_t)round_up(max_i64(l->out_words, 1) * 4, LESSON_PAGE);
        w->clocks_at[i + 1] =
            w->clocks_at[i] + (size_t)round_up((int64_t)w->clock_bytes[i] * w->rounds, LESSON_PAGE);
    }
    return 0;
}

static uint32_t *out_of(const struct work *w, size_t i)
{
    return (uint32_t *)(void *)((char *)w->out.data + w->out_at[i]);
}

/* In pieces, as an interrupt wants to be heard. */
static int fill(const struct work *w, struct err *err)
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

static int poison(const struct work *w, struct err *err)
{
    for (size_t i = 0; i < w->run->count; i++) {
        if (call_check_stop(w->call, err) < 0)
            return -1;
        lesson_poison((float *)(void *)out_of(w, i), w->run->points[i].launch.out_words);
    }
    return 0;
}

static int make_memory(struct work *w, struct err *err)
{
    size_t n = w->run->count;

    if (lesson_memory_init(&w->in, "in", (size_t)w->in_words * 4, err) < 0 ||
        lesson_memory_init(&w->out, "out", w->out_at[n], err) < 0 ||
        lesson_memory_init(&w->clocks, "clocks", w->clocks_at[n], err) < 0)
        return -1;
    return fill(w, err);
}

/* ---- compiling ---- */

static int get_image(struct work *w, struct bytes source, const char *name, const char *arch,
                     const char *options, const struct image **out, struct err *err)
{
    struct session *session = w->call->session;
    struct image_request request = { .arch = arch, .options = options };
    struct bytes before = experiment_prelude();
    char *text = arena_printf(w->call->arena, "#line 1 \"stamp.cu\"\n%.*s\n#line 1 \"%s\"\n%.*s",
                              (int)before.size, before.data, name, (int)source.size, source.data);

    if (!text)
        return out_of_memory(err);
    request.source = bytes_of(text);
    return image_of(cuda_images(session_cuda(session)), session_workers(session), &request, out,
                    err);
}

static bool is_same_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

static size_t module_of(const struct work *w, const struct experiment_launch *l)
{
    size_t i = 0;

    while (i < w->module_count && !is_same_text(w->modules[i].options, l->options))
        i++;
    return i;
}

static int compile_one(struct work *w, const char *options, const char *arch, struct err *err)
{
    const struct experiment *e = w->run->experiment;
    struct module *m = &w->modules[w->module_count];
    const char *name = arena_printf(w->call->arena, "%s.cu", e->name);

    if (!name)
        return out_of_memory(err);
    if (w->module_count == MAX_MODULES)
        return err_set(err, ERR_ValueError,
                       "%s: the points of one sweep need at most %d compilations", e->name,
                       MAX_MODULES);
    *m = (struct module){ .options = options };
    w->module_count++;
    if (arch[0] && get_image(w, e->source(), name, arch, options, &m->machine, err) < 0)
        return -1;
    return get_image(w, e->source(), name, "compute_80", options, &m->ptx, err);
}

static int compile(struct work *w, struct err *err)
{
    struct experiment_run *run = w->run;
    char arch[24];

    image_arch(&run->device.device, arch, sizeof(arch));
    if (run->use_gpu && !arch[0])
        return err_set(err, ERR_DeviceError, "no code can be compiled for capability %d.%d",
                       run->device.device.cc_major, run->device.device.cc_minor);
    if (run->use_gpu &&
        get_image(w, lesson_clock_source(), "clock.cu", arch, NULL, &w->probe, err) < 0)
        return -1;
    for (size_t i = 0; i < run->count; i++) {
        struct experiment_outcome *o = &run->points[i];
        const struct cuda_kernel *k;

        if (!exists(o))
            continue;
        if (module_of(w, &o->launch) == w->module_count &&
            compile_one(w, o->launch.options, arch, err) < 0)
            return -1;
        if (!arch[0])
            continue;
        k = image_kernel(w->modules[module_of(w, &o->launch)].machine, o->launch.kernel);
        o->registers = k ? k->registers : 0;
        o->spill_bytes = k ? k->spill_store_bytes + k->spill_load_bytes : 0;
    }
    return 0;
}

/* ---- requests ---- */

/* Virtual addresses: in, then the outs, then the clocks, each behind an unmapped page. */
static uint64_t in_address(const struct work *w, size_t i)
{
    return LESSON_FIRST_ADDRESS +
           i * (uint64_t)round_up(w->in_words * 4 + LESSON_PAGE, LESSON_PAGE);
}

static uint64_t out_address(const struct work *w, size_t i)
{
    return in_address(w, w->run->count) + w->out_at[i] + i * LESSON_PAGE;
}

static uint64_t clocks_address(const struct work *w, size_t i)
{
    return out_address(w, w->run->count) + w->clocks_at[i] + i * LESSON_PAGE;
}

static void put_in(const struct work *w, size_t i, int64_t words, bool is_scratch, struct buf *body)
{
    struct launch_buffer row = { .address = in_address(w, i),
                                 .size = (uint64_t)max_i64(words, 1) * 4,
                                 .flags = is_scratch ? 0 : LAUNCH_READ_ONLY,
                                 .element_bytes = 4 };
    static const struct launch_buffer_texts texts = { .name = "in" };

    launch_put_buffer(body, &row, &texts);
}

static void put_written(struct buf *body, const char *name, uint64_t address, uint64_t size,
                        uint64_t offset, uint32_t fd)
{
    struct launch_buffer row = {
        .address = address, .size = size, .offset = offset, .fd = fd, .element_bytes = 4
    };
    struct launch_buffer_texts texts = { .name = name };

    launch_put_buffer(body, &row, &texts);
}

/*
 * On the card all points read the same `in`; for the model each has a view of it as large as what
 * it uses, because that says from which level of memory it comes. Points that use as much share
 * one. The first of them:
 */
static size_t view_of(const struct work *w, size_t i)
{
    size_t first = 0;

    while (w->run->points[first].launch.skipped[0] ||
           w->run->points[first].launch.in_words != w->run->points[i].launch.in_words)
        first++;
    return first;
}

static void put_buffers(const struct work *w, bool is_gpu, struct buf *body)
{
    if (is_gpu)
        put_in(w, 0, w->in_words, false, body); /* scratch too: nobody wants it back */
    for (size_t i = 0; i < w->run->count; i++) {
        const struct experiment_launch *l = &w->run->points[i].launch;

        if (l->skipped[0])
            continue;
        if (!is_gpu && view_of(w, i) == i)
            put_in(w, i, l->in_words, l->is_scratch, body);
        put_written(body, "out", out_address(w, i), (uint64_t)max_i64(l->out_words, 1) * 4,
                    w->out_at[i], 1);
        put_written(body, "clocks", clocks_address(w, i), w->clock_bytes[i] * (size_t)w->rounds,
                    w->clocks_at[i], 2);
    }
}

static void put_launch(const struct work *w, size_t i, bool is_gpu, int round, struct buf *body)
{
    const struct experiment_outcome *o = &w->run->points[i];
    const struct experiment_launch *l = &o->launch;
    struct launch_config config = { .module = (uint32_t)module_of(w, l),
                                    .grid = l->grid,
                                    .block = l->block,
                                    .dynamic_shared_bytes = l->dynamic_bytes,
                                    .registers = o->registers,
                                    .sample_blocks = l->model_blocks,
                                    .way = (int32_t)l->way,
                                    .checks = LAUNCH_NO_CHECKS };
    size_t begin = launch_begin(body, &config, l->kernel);

    launch_put_pointer(body, in_address(w, is_gpu ? 0 : view_of(w, i)));
    launch_put_pointer(body, out_address(w, i));
    launch_put_pointer(body, clocks_address(w, i) + (uint64_t)round * w->clock_bytes[i]);
    for (int k = 0; k < l->argument_count; k++)
        launch_put_value(body, &l->arguments[k], sizeof(l->arguments[k]), sizeof(l->arguments[k]));
    launch_end(body, begin);
}

/* Points that take part: all that exist, or those that were right so far. */
static bool takes_part(const struct experiment_outcome *o, bool only_correct)
{
    return exists(o) && (!only_correct || (o->is_checked && o->is_correct));
}

struct asking {
    enum child_kind kind;
    struct launch_options options;
    int rounds;        /* each round has every point once */
    size_t most;       /* points; 0: all */
    bool only_correct; /* points */
};

static int ask(struct work *w, const struct asking *a, struct child_message *answer,
               struct err *err)
{
    struct child_message request = { .op = OP_RUN };
    bool is_gpu = a->kind == CHILD_GPU;
    int rc;

    for (size_t m = 0; m < w->module_count; m++)
        launch_put_module(&request.body,
                          is_gpu ? w->modules[m].machine->cubin : w->modules[m].ptx->ptx, 0);
    if (w->probe)
        fields_put(&request.body, TAG_PROBE, w->probe->cubin);
    put_buffers(w, is_gpu, &request.body);
    launch_put_options(&request.body, &a->options);
    launch_put_device(&request.body, &w->run->device.device);
    for (int round = 0; round < a->rounds; round++) {
        size_t n = 0;

        for (size_t i = 0; i < w->run->count && (!a->most || n < a->most); i++)
            if (takes_part(&w->run->points[i], a->only_correct)) {
                put_launch(w, i, is_gpu, round, &request.body);
                n++;
            }
    }
    request.fds[request.fd_count++] = w->in.fd;
    request.fds[request.fd_count++] = w->out.fd;
    request.fds[request.fd_count++] = w->clocks.fd;
    rc = workers_ask(session_workers(w->call->session), a->kind, &request, answer, err);
    request.fd_count = 0; /* they are still ours */
    child_message_done(&request);
    return rc;
}

/* ---- checking ---- */

static float float_of(uint32_t bits)
{
    float v;

    memcpy(&v, &bits, sizeof(v));
    return v;
}

/* Written so that a NaN on either side is wrong. */
static bool is_right(uint32_t got, uint32_t want, double tolerance)
{
    if (tolerance == 0)
        return got == want;
    return fabs((double)float_of(got) - (double)float_of(want)) <= tolerance;
}

static void check_words(struct experiment_outcome *o, const uint32_t *got, const uint32_t *want,
                        double tolerance, bool is_sampled)
{
    o->checked = 0;
    for (int64_t k = 0; k < o->launch.out_words; k++) {
        if (is_sampled && lesson_is_poison(got[k]))
            continue;
        o->checked++;
        if (is_right(got[k], want[k], tolerance))
            continue;
        if (o->wrong++ == 0) {
            o->first = k;
            o->got = got[k];
            o->want = want[k];
        }
    }
    o->is_correct = o->wrong == 0 && o->checked > 0;
    o->is_checked = true;
}

static int check_all(struct work *w, bool is_model, struct err *err)
{
    const struct experiment *e = w->run->experiment;

    for (size_t i = 0; i < w->run->count; i++) {
        struct experiment_outcome *o = &w->run->points[i];
        uint32_t *want;

        if (!takes_part(o, o->is_checked))
            continue;
        if (call_check_stop(w->call, err) < 0)
            return -1;
        want = malloc((size_t)max_i64(o->launch.out_words, 1) * sizeof(*want));
        if (!want)
            return out_of_memory(err);
        e->reference(&o->point, &o->launch, w->in.data, want);
        check_words(o, out_of(w, i), want, e->tolerance, is_model && o->launch.model_blocks > 0);
        free(want);
    }
    return 0;
}

/* ---- the model ---- */

/* What is known before anything ran. */
static struct experiment_time start_time(const struct experiment_outcome *o)
{
    return (struct experiment_time){ .launch = &o->launch,
                                     .registers = o->registers,
                                     .spill_bytes = o->spill_bytes };
}

static void take_model(struct work *w, struct experiment_outcome *o, struct bytes done)
{
    struct ptx_facts facts = { 0 };
    struct experiment_time t = start_time(o);
    int mhz = w->run->device.device.clock_mhz > 0 ? w->run->device.device.clock_mhz : 1000;

    if (!launch_read_facts(done, w->call->arena, &facts))
        return;
    o->model = facts.timing;
    t.clock_mhz = mhz;
    t.time_us = is_by_clock(w) ? 0 : o->model.time_us;
    t.cycles = is_by_clock(w) ? (double)o->model.clock_cycles : o->model.time_us * mhz;
    t.blocks_per_sm = o->model.blocks_per_sm;
    if (w->run->experiment->model)
        w->run->experiment->model(&o->point, &t);
    o->is_modelled = t.cycles > 0;
    o->modelled = o->is_modelled ? w->run->experiment->value(&o->point, &t) : (double)NAN;
}

static int run_model(struct work *w, struct err *err)
{
    struct asking asking = { .kind = CHILD_MODEL,
                             .options = { .is_timed = 1, .is_writing = 1 },
                             .rounds = 1 };
    struct child_message answer;
    struct bytes done;
    size_t at = 0;

    if (poison(w, err) < 0 || ask(w, &asking, &answer, err) < 0)
        return -1;
    for (size_t i = 0; i < w->run->count; i++)
        if (takes_part(&w->run->points[i], false) &&
            fields_find(child_message_body(&answer), TAG_DONE, at++, &done))
            take_model(w, &w->run->points[i], done);
    child_message_done(&answer);
    return check_all(w, true, err);
}

/* ---- the card ---- */

/* Medians and spread of a point's samples, which are the quantity already. */
static int summarize(struct work *w, struct experiment_outcome *o, double *samples, size_t n,
                     struct err *err)
{
    double *sorted = arena_array(w->call->arena, n, sizeof(*sorted));

    if (!sorted)
        return out_of_memory(err);
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
static double read_clock(struct work *w, struct bytes done)
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

static int take_event(struct work *w, struct experiment_outcome *o, struct bytes done,
                      struct err *err)
{
    struct experiment_time t = start_time(o);
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

static int time_events(struct work *w, struct err *err)
{
    struct asking asking = { .kind = CHILD_GPU,
                             .options = { .gpu_index = w->run->device.gpu_index,
                                          .repeat = w->run->repeat },
                             .rounds = 1,
                             .only_correct = true };
    struct child_message answer;
    struct bytes done;
    size_t at = 0;
    int rc = 0;

    if (ask(w, &asking, &answer, err) < 0)
        return -1;
    for (size_t i = 0; rc == 0 && i < w->run->count; i++)
        if (takes_part(&w->run->points[i], true) &&
            fields_find(child_message_body(&answer), TAG_DONE, at++, &done))
            rc = take_event(w, &w->run->points[i], done, err);
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
        const int64_t *s = stamps + i * STAMP;

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

static int take_stamps(struct work *w, size_t i, double mhz, struct err *err)
{
    struct experiment_outcome *o = &w->run->points[i];
    struct experiment_time t = start_time(o);
    size_t n = (size_t)w->run->repeat;
    double *samples = arena_array(w->call->arena, n, sizeof(*samples));
    double *cycles = arena_array(w->call->arena, n, sizeof(*cycles));

    if (!samples || !cycles)
        return out_of_memory(err);
    t.clock_mhz = mhz;
    t.blocks_per_sm = o->blocks_per_sm;
    for (size_t k = 0; k < n; k++) {
        const char *at =
            (const char *)w->clocks.data + w->clocks_at[i] + (k + WARM_ROUNDS) * w->clock_bytes[i];

        t.cycles = cycles[k] = cycles_of((const int64_t *)(const void *)at, warps_of(&o->launch));
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
static int warm_up(struct work *w, double *mhz, struct err *err)
{
    struct asking asking = { .kind = CHILD_GPU,
                             .options = { .gpu_index = w->run->device.gpu_index,
                                          .repeat = CLOCK_REPEATS },
                             .rounds = 1,
                             .most = 1,
                             .only_correct = true };
    struct child_message answer;
    struct bytes done;

    if (ask(w, &asking, &answer, err) < 0)
        return -1;
    if (fields_find(child_message_body(&answer), TAG_DONE, 0, &done))
        *mhz = read_clock(w, done);
    child_message_done(&answer);
    return 0;
}

static int time_clocks(struct work *w, struct err *err)
{
    struct asking asking = { .kind = CHILD_GPU,
                             .options = { .gpu_index = w->run->device.gpu_index, .is_writing = 1 },
                             .rounds = w->rounds,
                             .only_correct = true };
    struct child_message answer;
    struct bytes done;
    size_t at = 0;
    double mhz = 0;

    if (warm_up(w, &mhz, err) < 0 || ask(w, &asking, &answer, err) < 0)
        return -1;
    for (size_t i = 0; i < w->run->count; i++)
        if (takes_part(&w->run->points[i], true) &&
            fields_find(child_message_body(&answer), TAG_DONE, at++, &done))
            w->run->points[i].blocks_per_sm = (int)fields_int(done, TAG_BLOCKS_PER_SM, 0);
    child_message_done(&answer);
    for (size_t i = 0; i < w->run->count; i++)
        if (takes_part(&w->run->points[i], true) && take_stamps(w, i, mhz, err) < 0)
            return -1;
    return 0;
}

static bool is_any_correct(const struct work *w)
{
    for (size_t i = 0; i < w->run->count; i++)
        if (takes_part(&w->run->points[i], true))
            return true;
    return false;
}

static int run_gpu(struct work *w, struct err *err)
{
    struct asking once = { .kind = CHILD_GPU,
                           .options = { .gpu_index = w->run->device.gpu_index, .is_writing = 1 },
                           .rounds = 1 };
    struct child_message answer;

    if (poison(w, err) < 0 || ask(w, &once, &answer, err) < 0)
        return -1;
    child_message_done(&answer);
    if (check_all(w, false, err) < 0)
        return -1;
    if (!is_any_correct(w))
        return 0;
    return is_by_clock(w) ? time_clocks(w, err) : time_events(w, err);
}

/* ---- all of it ---- */

static int fill_data(struct work *w, struct err *err)
{
    struct experiment_run *run = w->run;
    const struct experiment *e = run->experiment;
    struct arena *arena = w->call->arena;
    double *value = arena_array(arena, run->count, sizeof(*value));
    double *modelled = arena_array(arena, run->count, sizeof(*modelled));
    double *closed = arena_array(arena, run->count, sizeof(*closed));

    if (!value || !modelled || !closed)
        return out_of_memory(err);
    for (size_t i = 0; i < run->count; i++) {
        const struct experiment_outcome *o = &run->points[i];
        bool is_right = exists(o) && o->is_correct;

        modelled[i] = is_right && o->is_modelled ? o->modelled : (double)NAN;
        value[i] =
            run->use_gpu ? is_right && o->is_measured ? o->median : (double)NAN : modelled[i];
        closed[i] = exists(o) && e->formula ? e->formula(&o->point) : (double)NAN;
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
                                          .is_measured = run->use_gpu };
    run->error_percent = run->use_gpu ? experiment_error(modelled, value, run->count) : (double)NAN;
    run->formula_error_percent =
        run->use_gpu ? experiment_error(closed, value, run->count) : (double)NAN;
    return 0;
}

static int run_everywhere(struct work *w, struct err *err)
{
    if (plan(w, err) < 0 || make_memory(w, err) < 0 || compile(w, err) < 0)
        return -1;
    if (w->run->use_model && run_model(w, err) < 0)
        return -1;
    if (w->run->use_gpu && run_gpu(w, err) < 0)
        return -1;
    return fill_data(w, err);
}

int experiment_run(struct call *call, struct experiment_run *run, struct err *err)
{
    struct work w = {
        .call = call, .run = run, .in = { .fd = -1 }, .out = { .fd = -1 }, .clocks = { .fd = -1 }
    };
    int rc = run_everywhere(&w, err);

    lesson_memory_done(&w.in);
    lesson_memory_done(&w.out);
    lesson_memory_done(&w.clocks);
    return rc;
}
