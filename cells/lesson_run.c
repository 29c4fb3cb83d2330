/*
 * x and y of every rung lie in one memfd each, so that a worker gets them all by
 * two descriptors; a rung's y is its own stretch of the second. Poison fills them
 * before each run: what no thread wrote is seen.
 */
#include "cells/lesson_run.h"

#include "cells/cuda_table.h"
#include "cells/images.h"
#include "cells/internal.h"
#include "cells/lesson_memory.h"
#include "cells/samples.h"
#include "kernels/launch.h"

#include <stdlib.h>

enum {
    PIECE = 1 << 18,  /* elements: a few milliseconds */
    DEBUG_BLOCKS = 2, /* as-written counts: every block is like the next */
};

struct work {
    struct call *call;
    struct lesson_run *run;
    const struct image *machine, *opt, *debug, *probe; /* machine: of the device; or NULL */
    struct lesson_memory x, y;
    size_t stride; /* bytes of one rung's y */
};

static int out_of_memory(struct err *err)
{
    return err_set(err, ERR_ResourceError, "out of memory for the lesson");
}

/* ---- memory ---- */

static float *x_of(const struct work *w)
{
    return w->x.data;
}

static float *y_of(const struct work *w, size_t rung)
{
    return (float *)(void *)((char *)w->y.data + rung * w->stride);
}

/* In pieces, as an interrupt wants to be heard. */
static int poison(const struct work *w, struct err *err)
{
    for (size_t i = 0; i < w->run->rung_count; i++)
        for (int64_t at = 0; at < w->run->n; at += PIECE) {
            if (call_check_stop(w->call, err) < 0)
                return -1;
            lesson_poison(y_of(w, i) + at, min_i64(PIECE, w->run->n - at));
        }
    return 0;
}

static int fill(const struct work *w, struct err *err)
{
    for (int64_t at = 0; at < w->run->n; at += PIECE) {
        if (call_check_stop(w->call, err) < 0)
            return -1;
        lesson_fill(x_of(w) + at, at, min_i64(PIECE, w->run->n - at), w->run->seed);
    }
    return 0;
}

/* ---- compiling ---- */

static int get_image(struct work *w, struct bytes source, const char *name, const char *arch,
                     bool is_debug, const struct image **out, struct err *err)
{
    struct session *session = w->call->session;
    char *text =
        arena_printf(w->call->arena, "#line 1 \"%s\"\n%.*s", name, (int)source.size, source.data);

    if (!text)
        return out_of_memory(err);
    return image_get(cuda_images(session_cuda(session)), session_workers(session), bytes_of(text),
                     arch, is_debug, out, err);
}

static int compile(struct work *w, struct err *err)
{
    struct bytes source = w->run->lesson->source();
    const char *name = arena_printf(w->call->arena, "%s.cu", w->run->lesson->name);
    char arch[24];

    image_arch(&w->run->device.device, arch, sizeof(arch));
    if (!name)
        return out_of_memory(err);
    if (arch[0] && get_image(w, source, name, arch, false, &w->machine, err) < 0)
        return -1;
    if (w->run->use_gpu && !arch[0])
        return err_set(err, ERR_DeviceError, "no code can be compiled for capability %d.%d",
                       w->run->device.device.cc_major, w->run->device.device.cc_minor);
    if (w->run->use_gpu &&
        get_image(w, lesson_clock_source(), "clock.cu", arch, false, &w->probe, err) < 0)
        return -1;
    if (get_image(w, source, name, "compute_80", false, &w->opt, err) < 0)
        return -1;
    return get_image(w, source, name, "compute_80", true, &w->debug, err);
}

/* What the compiler made of each rung's branch. */
static int read_branches(struct work *w, struct err *err)
{
    struct ptx_module *module;

    if (ptx_module_load(w->opt->ptx, &module, err) < 0)
        return -1;
    for (size_t i = 0; i < w->run->rung_count; i++) {
        struct rung_outcome *o = &w->run->rungs[i];
        struct lesson_lines lines;
        const char *branch = "";

        if (lesson_lines_of(w->run->lesson, o->rung->kernel, &lines)) {
            branch =
                ptx_kernel_branch(module, o->rung->kernel, lines.body, lines.last, &o->ptx_line);
            o->line = lines.body;
        }
        if (o->rung->is_loop && strcmp(branch, "bra") == 0)
            branch = "loop";
        o->branch = arena_string(w->call->arena, branch);
        if (!o->branch) {
            ptx_module_free(&module);
            return out_of_memory(err);
        }
    }
    ptx_module_free(&module);
    return 0;
}

/* ---- requests ---- */

static void put_buffers(const struct work *w, struct buf *body)
{
    struct launch_buffer row = { .address = LESSON_FIRST_ADDRESS,
                                 .size = (uint64_t)w->run->n * sizeof(float),
                                 .flags = LAUNCH_READ_ONLY,
                                 .element_bytes = sizeof(float) };
    static const struct launch_buffer_texts x = { .name = "x", .element = "float" },
                                            y = { .name = "y", .element = "float" };

    launch_put_buffer(body, &row, &x);
    row.flags = 0;
    row.fd = 1;
    for (size_t i = 0; i < w->run->rung_count; i++) {
        row.address = LESSON_FIRST_ADDRESS + (i + 1) * (w->stride + LESSON_PAGE);
        row.offset = i * w->stride;
        launch_put_buffer(body, &row, &y);
    }
}

static void put_launch(const struct work *w, size_t rung, int64_t sample, struct buf *body)
{
    const struct rung_outcome *o = &w->run->rungs[rung];
    struct launch_config config = { .grid = { (unsigned)w->run->blocks, 1, 1 },
                                    .block = { (unsigned)w->run->block, 1, 1 },
                                    .registers = o->registers,
                                    .sample_blocks = sample };
    int32_t n = (int32_t)w->run->n;
    size_t begin = launch_begin(body, &config, o->rung->kernel);

    launch_put_pointer(body, LESSON_FIRST_ADDRESS);
    launch_put_pointer(body, LESSON_FIRST_ADDRESS + (rung + 1) * (w->stride + LESSON_PAGE));
    launch_put_value(body, &n, sizeof(n), sizeof(n));
    launch_end(body, begin);
}

/* Rungs that take part in a request: all, or those that were right so far. */
static bool takes_part(const struct rung_outcome *o, bool only_correct)
{
    return !only_correct || o->is_correct;
}

static int ask(struct work *w, enum child_kind kind, struct bytes module,
               const struct launch_options *options, int64_t sample, bool only_correct,
               struct child_message *answer, struct err *err)
{
    struct child_message request = { .op = OP_RUN };
    int rc;

    launch_put_module(&request.body, module, 0);
    if (w->probe)
        fields_put(&request.body, TAG_PROBE, w->probe->cubin);
    put_buffers(w, &request.body);
    launch_put_options(&request.body, options);
    launch_put_device(&request.body, &w->run->device.device);
    for (size_t i = 0; i < w->run->rung_count; i++)
        if (takes_part(&w->run->rungs[i], only_correct))
            put_launch(w, i, sample, &request.body);
    request.fds[request.fd_count++] = w->x.fd;
    request.fds[request.fd_count++] = w->y.fd;
    rc = workers_ask(session_workers(w->call->session), kind, &request, answer, err);
    request.fd_count = 0; /* they are still ours */
    child_message_done(&request);
    return rc;
}

/* ---- checking ---- */

static int check_all(struct work *w, bool is_sampled, struct err *err)
{
    struct lesson_run *run = w->run;

    for (size_t i = 0; i < run->rung_count; i++) {
        struct rung_outcome *o = &run->rungs[i];

        if (!o->is_correct)
            continue;
        if (lesson_check(o->rung, x_of(w), y_of(w, i), run->n, run->block, is_sampled,
                         call_stop(w->call), &o->verdict, err) < 0)
            return -1;
        o->is_correct = o->verdict.is_correct;
    }
    if (is_sampled || run->n % (2 * WARP) != 0)
        return 0;
    for (size_t i = 0; i < run->rung_count; i++) {
        struct rung_outcome *o = &run->rungs[i];

        if (!o->rung->is_same_values || !o->twin)
            continue;
        run->is_order_checked = true;
        o->is_same_values = lesson_same_values(y_of(w, i), y_of(w, o->twin_index), run->n);
        o->is_correct = o->is_correct && o->is_same_values;
    }
    return 0;
}

/* ---- the model ---- */

/* Lines of the kernel behind its bounds test, and whatever they call. */
static bool is_body_line(const struct lesson_lines *own, int line)
{
    return line > own->body && line < own->last;
}

static double body_lanes(const struct work *w, const struct rung_outcome *o,
                         const struct ptx_facts *facts)
{
    int64_t warps = 0, threads = 0;
    struct lesson_lines own;

    if (!lesson_lines_of(w->run->lesson, o->rung->kernel, &own))
        return 0;
    for (size_t i = 0; i < facts->line_count; i++) {
        const struct ptx_line_facts *line = &facts->lines[i];

        /* The last line of the body stores the result: all lanes are together again. */
        if (!is_body_line(&own, line->line) || line->line >= own.last - 1)
            continue;
        warps += line->warp_instructions;
        threads += line->thread_instructions;
    }
    return warps ? (double)threads / ((double)warps * WARP) : 0;
}

static void take_facts(const struct work *w, struct rung_outcome *o, struct bytes done,
                       bool is_debug)
{
    struct rung_counts *counts = is_debug ? &o->as_written : &o->opt;
    struct ptx_facts facts = { 0 };

    if (!launch_read_facts(done, w->call->arena, &facts))
        return;
    counts->lane_efficiency = facts.lane_efficiency;
    counts->branches = facts.branches;
    counts->divergent_branches = facts.divergent_branches;
    counts->body_lane_efficiency = body_lanes(w, o, &facts);
    if (is_debug)
        return;
    o->model = facts.timing;
    o->is_modelled = w->run->use_model;
}

static int run_model(struct work *w, bool is_debug, struct err *err)
{
    struct launch_options options = { .is_timed = !is_debug, .is_writing = !is_debug };
    int64_t sample = is_debug ? DEBUG_BLOCKS : w->run->model_blocks;
    bool is_sampled = sample > 0 && sample < w->run->blocks;
    const struct image *image = is_debug ? w->debug : w->opt;
    struct child_message answer;
    struct bytes done;

    if (poison(w, err) < 0)
        return -1;
    if (ask(w, CHILD_MODEL, image->ptx, &options, is_sampled ? sample : 0, false, &answer, err) < 0)
        return -1;
    for (size_t i = 0; i < w->run->rung_count; i++)
        if (fields_find(child_message_body(&answer), TAG_DONE, i, &done))
            take_facts(w, &w->run->rungs[i], done, is_debug);
    child_message_done(&answer);
    if (is_debug)
        return 0;
    w->run->blocks_run = is_sampled ? sample : w->run->blocks;
    return check_all(w, is_sampled, err);
}

/* ---- the card ---- */

static void take_clock(struct lesson_run *run, struct rung_outcome *o, double *clocks, size_t n)
{
    samples_sort(clocks, n);
    o->clock_mhz = samples_quantile(clocks, n, 0.5);
    if (run->clock_low_mhz == 0 || clocks[0] < run->clock_low_mhz)
        run->clock_low_mhz = clocks[0];
    if (clocks[n - 1] > run->clock_high_mhz)
        run->clock_high_mhz = clocks[n - 1];
}

static int take_times(struct work *w, struct rung_outcome *o, struct bytes done, struct err *err)
{
    size_t n, clocks;
    double *sorted = samples_read(w->call->arena, done, TAG_SAMPLES_US, &n);
    double *mhz = samples_read(w->call->arena, done, TAG_CLOCKS_MHZ, &clocks);

    o->samples_us = samples_read(w->call->arena, done, TAG_SAMPLES_US, &n);
    if (!sorted || !o->samples_us)
        return err_set(err, ERR_InternalError, "the GPU process gave no times for %s",
                       o->rung->kernel);
    samples_sort(sorted, n);
    o->is_measured = true;
    o->median_us = samples_quantile(sorted, n, 0.5);
    o->iqr_us = samples_quantile(sorted, n, 0.75) - samples_quantile(sorted, n, 0.25);
    o->min_us = sorted[0];
    o->repeat = (int)n;
    o->rejected = (int)fields_int(done, TAG_REJECTED, 0);
    o->inner = (int)fields_int(done, TAG_INNER, 1);
    o->blocks_per_sm = (int)fields_int(done, TAG_BLOCKS_PER_SM, 0);
    if (mhz && clocks > 0 && mhz[0] > 0)
        take_clock(w->run, o, mhz, clocks);
    return 0;
}

static int run_gpu(struct work *w, struct err *err)
{
    struct launch_options options = { .gpu_index = w->run->device.gpu_index, .is_writing = 1 };
    struct child_message answer;
    struct bytes done;
    size_t at = 0;
    int rc = 0;

    if (poison(w, err) < 0)
        return -1;
    if (ask(w, CHILD_GPU, w->machine->cubin, &options, 0, false, &answer, err) < 0)
        return -1;
    child_message_done(&answer);
    if (check_all(w, false, err) < 0)
        return -1;
    options.repeat = w->run->repeat;
    options.is_writing = 0;
    if (ask(w, CHILD_GPU, w->machine->cubin, &options, 0, true, &answer, err) < 0)
        return -1;
    for (size_t i = 0; rc == 0 && i < w->run->rung_count; i++)
        if (takes_part(&w->run->rungs[i], true) &&
            fields_find(child_message_body(&answer), TAG_DONE, at++, &done))
            rc = take_times(w, &w->run->rungs[i], done, err);
    child_message_done(&answer);
    return rc;
}

/* ---- all of it ---- */

static void start(struct work *w)
{
    struct lesson_run *run = w->run;

    run->rung_count = run->lesson->rung_count;
    run->blocks = ceil_div(run->n, run->block);
    for (size_t i = 0; i < run->rung_count; i++) {
        struct rung_outcome *o = &run->rungs[i];

        *o = (struct rung_outcome){ .rung = &run->lesson->rungs[i], .branch = "" };
        o->is_correct = true;
        if (!o->rung->twin)
            continue;
        o->twin = lesson_rung(run->lesson, o->rung->twin);
        o->twin_index = (size_t)(o->twin - run->lesson->rungs);
    }
    w->stride = (size_t)round_up(run->n * (int64_t)sizeof(float), LESSON_PAGE);
}

static void take_registers(struct work *w)
{
    for (size_t i = 0; w->machine && i < w->run->rung_count; i++) {
        const struct cuda_kernel *k = image_kernel(w->machine, w->run->rungs[i].rung->kernel);

        w->run->rungs[i].registers = k ? k->registers : 0;
    }
}

static int run_everywhere(struct work *w, struct err *err)
{
    if (lesson_memory_init(&w->x, "x", w->stride, err) < 0 ||
        lesson_memory_init(&w->y, "y", w->stride * w->run->rung_count, err) < 0)
        return -1;
    if (fill(w, err) < 0)
        return -1;
    if (compile(w, err) < 0 || read_branches(w, err) < 0)
        return -1;
    take_registers(w);
    if (run_model(w, true, err) < 0 || run_model(w, false, err) < 0)
        return -1;
    return w->run->use_gpu ? run_gpu(w, err) : 0;
}

int lesson_run(struct call *call, struct lesson_run *run, struct err *err)
{
    struct work w = { .call = call, .run = run, .x = { .fd = -1 }, .y = { .fd = -1 } };
    int rc;

    start(&w);
    rc = run_everywhere(&w, err);
    lesson_memory_done(&w.x);
    lesson_memory_done(&w.y);
    return rc;
}

double rung_twin_ratio(const struct lesson_run *run, size_t i)
{
    const struct rung_outcome *o = &run->rungs[i];
    const struct rung_outcome *twin = &run->rungs[o->twin_index];

    if (!o->twin)
        return 1;
    if (o->is_measured && twin->is_measured && twin->median_us > 0)
        return o->median_us / twin->median_us;
    if (o->is_modelled && twin->is_modelled && twin->model.time_us > 0 && o->is_correct)
        return o->model.time_us / twin->model.time_us;
    return 0;
}
