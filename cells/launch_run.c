/*
 * A request carries the code, every buffer of the session (a kernel may follow a
 * pointer that lies in one) and one launch. The child works on private mappings, so
 * nothing has to be undone here when it fails, not even when it dies.
 */
#include "cells/launch_run.h"

#include "cells/buffer_symbol.h"
#include "cells/internal.h"
#include "cells/samples.h"
#include "kernels/launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    TICK_MS = 100,
    WHOLE_THREADS = 1 << 18, /* of a launch that runs whole as written, when its threads end soon */
    WHOLE_ALL = 1 << 26,     /* instructions of all of them */
    WRITTEN_THREADS = 1 << 15, /* of a sample of the code as written, two blocks at least */
    WRITTEN_LEAST = 1 << 14,   /* instructions of one of its threads, at least and at most */
    WRITTEN_MOST = 1 << 22,
    WRITTEN_ALL = 1 << 28, /* and of all of them together */
};

struct runner {
    struct call *call;
    const struct launch_plan *plan;
    const struct launch_request_options *options;
    struct child_message request;
    struct cuda_image written; /* the code as written, when has_written */
    bool has_written;
    size_t trials;         /* launches of it before the real one */
    const char *fresh[64]; /* device variables that had no memory before */
    size_t fresh_count;
};

/* ---- memory ---- */

static int add_fd(struct runner *r, int fd)
{
    r->request.fds[r->request.fd_count] = fd;
    return (int)r->request.fd_count++;
}

static void put_buffer(struct runner *r, const struct buffer *b)
{
    struct launch_buffer row = { .address = b->address,
                                 .size = b->size,
                                 .defined_offset = r->plan->device.is_gpu ? 0 : b->defined_offset,
                                 .fd = (uint32_t)add_fd(r, b->fd),
                                 .element_bytes = (uint32_t)b->type.bytes };
    struct launch_buffer_texts texts = { .name = b->name,
                                         .element = b->type.name,
                                         .origin = b->origin };

    launch_put_buffer(&r->request.body, &row, &texts);
}

static bool points_into(const struct launch_plan *plan, const struct buffer *b)
{
    for (size_t i = 0; i < plan->value_count; i++)
        if (launch_value_is_in(&plan->values[i], b))
            return true;
    return false;
}

/*
 * The arguments' buffers first: a message carries so many descriptors and no more. A card gets no
 * others: the addresses in a buffer are not the card's, so no kernel can follow them there.
 */
static void put_buffers(struct runner *r)
{
    struct session *session = r->call->session;

    for (int pass = 0; pass < (r->plan->device.is_gpu ? 1 : 2); pass++)
        for (size_t i = 0; i < buffer_count(session); i++) {
            const struct buffer *b = buffer_at(session, i);

            if (b->is_symbol || points_into(r->plan, b) != (pass == 0) ||
                r->request.fd_count >= CHILD_MAX_FDS - 2)
                continue;
            put_buffer(r, b);
        }
}

/* What was freed has no memory, but a name. */
static void put_freed(struct runner *r)
{
    struct session *session = r->call->session;
    size_t n = freed_count(session), most = 1024;

    for (size_t i = n > most ? n - most : 0; i < n; i++) {
        const struct freed_buffer *f = freed_at(session, i);
        struct launch_buffer row = { .address = f->address,
                                     .size = f->size,
                                     .flags = LAUNCH_IS_FREED };
        struct launch_buffer_texts texts = { .name = f->name, .freed = f->where };

        launch_put_buffer(&r->request.body, &row, &texts);
    }
}

/* ---- device variables ---- */

/*
 * The memory of a device variable: made when a launch meets it first. Then it is fresh, and gets
 * the value of its declaration in the child, which has the code.
 */
static struct buffer *make_symbol(struct runner *r, const struct cuda_symbol *symbol,
                                  struct err *err)
{
    struct element_type type;
    int64_t shape[BUFFER_RANK_MAX] = { (int64_t)symbol->bytes, 1, 1 };
    struct buffer *b = NULL;
    struct err ignored = { 0 };
    bool is_found = false;
    int rank = 1;

    if (symbol_type(r->call->session, symbol->name, &is_found, &type, &rank, shape, &ignored) < 0)
        is_found = false;
    err_done(&ignored);
    if (!is_found ||
        (size_t)shape[0] * (size_t)shape[1] * (size_t)shape[2] * type.bytes != symbol->bytes) {
        rank = 1;
        shape[0] = (int64_t)symbol->bytes;
        if (element_type_find(r->call->session, "uchar", &type, err) < 0)
            return NULL;
    }
    if (buffer_make(r->call->session, symbol->name, &type, rank, shape, true, &b, err) < 0)
        return NULL;
    buffer_define(b, 0, b->size);
    return b;
}

static int put_symbol(struct runner *r, const struct cuda_symbol *symbol, struct err *err)
{
    struct buffer *b = buffer_find_symbol(r->call->session, symbol->name);
    struct launch_buffer row = { .flags = LAUNCH_IS_SYMBOL };
    struct launch_buffer_texts texts = { .name = symbol->name, .linked = symbol->linked };

    if (symbol->bytes == 0)
        return 0;
    if (!b || b->size != symbol->bytes) {
        if (r->fresh_count == COUNT(r->fresh))
            return err_set(err, ERR_ResourceError, "%s uses more than %zu new device variables",
                           r->plan->kernel, COUNT(r->fresh));
        b = make_symbol(r, symbol, err);
        if (!b)
            return -1;
        row.flags |= LAUNCH_IS_FRESH;
        r->fresh[r->fresh_count++] = symbol->name;
    }
    if (symbol->is_constant)
        row.flags |= row.flags & LAUNCH_IS_FRESH ? 0 : LAUNCH_READ_ONLY;
    row.address = b->address;
    row.size = b->size;
    row.fd = (uint32_t)add_fd(r, b->fd);
    row.element_bytes = (uint32_t)b->type.bytes;
    texts.element = b->type.name;
    launch_put_buffer(&r->request.body, &row, &texts);
    return 0;
}

/* A launch that failed, or changed nothing, gave no value to what it met first. */
static void drop_fresh(struct runner *r)
{
    for (size_t i = 0; i < r->fresh_count; i++) {
        struct buffer *b = buffer_find_symbol(r->call->session, r->fresh[i]);

        if (b)
            buffer_drop(r->call->session, b, NULL);
    }
}

/* ---- the request ---- */

static void put_values(struct buf *body, const struct launch_plan *p)
{
    for (size_t i = 0; i < p->value_count; i++) {
        const struct launch_value *v = &p->values[i];

        fields_put_text(body, TAG_PARAMETER, p->image.parameters[i].name);
        if (v->is_pointer)
            launch_put_pointer(body, v->address);
        else
            launch_put_value(body, v->bytes, v->size, v->align);
        for (size_t k = 0; k < v->pointer_count; k++)
            launch_put_pointer_at(body, v->pointers[k].offset);
    }
}

static void put_launch(struct runner *r, const char *symbol, const struct launch_config *config)
{
    struct buf *body = &r->request.body;
    size_t begin = launch_begin(body, config, symbol);

    fields_put_text(body, TAG_DISPLAY, r->plan->kernel);
    put_values(body, r->plan);
    launch_end(body, begin);
}

static void put_trial(struct runner *r, struct launch_config config, int64_t blocks, int64_t most)
{
    config.module = 1;
    config.is_trial = 1;
    config.sample_blocks = blocks;
    config.max_thread_instructions = most;
    put_launch(r, r->written.symbol, &config);
    r->trials++;
}

/*
 * The code as written, while the buffers are as they were: a sample of its blocks, and all of
 * them where that takes no longer, for the warp that a branch splits is often the grid's last.
 */
static void put_trials(struct runner *r, const struct launch_config *config)
{
    const struct launch_plan *p = r->plan;
    int64_t sample = max_i64(WRITTEN_THREADS / p->threads, 2), blocks = p->blocks;

    if (p->sample_blocks > 0) {
        sample = min_i64(sample, p->sample_blocks);
        blocks = min_i64(blocks, p->sample_blocks);
    }
    if (sample < blocks && blocks <= WHOLE_THREADS / p->threads)
        put_trial(r, *config, p->sample_blocks > 0 ? blocks : 0, WHOLE_ALL / (blocks * p->threads));
    put_trial(r, *config, sample,
              min_i64(max_i64(WRITTEN_ALL / (min_i64(blocks, sample) * p->threads), WRITTEN_LEAST),
                      WRITTEN_MOST));
}

static void put_launches(struct runner *r)
{
    const struct launch_plan *p = r->plan;
    struct launch_config config = { .grid = p->grid,
                                    .block = p->block,
                                    .cluster = p->cluster,
                                    .dynamic_shared_bytes = (int32_t)p->dynamic_bytes,
                                    .registers = p->image.resources.registers,
                                    .sample_blocks = p->sample_blocks,
                                    .checks = p->checks,
                                    .is_stack = p->is_stack,
                                    .is_cooperative = p->is_cooperative };

    if (r->has_written)
        put_trials(r, &config);
    put_launch(r, p->image.symbol, &config);
}

/* What the compiler says of it was said before; a launch does not fail for want of it. */
static void find_written(struct runner *r)
{
    const struct launch_plan *p = r->plan;
    struct err ignored = { 0 };

    r->has_written = r->options->wants_written && !p->device.is_gpu && !p->is_debug &&
                     !p->is_cooperative &&
                     cuda_kernel_image(r->call->session, p->asked, &p->device.device,
                                       IMAGE_PTX_DEBUG, r->call->arena, &r->written, &ignored) == 0;
    err_done(&ignored);
}

static int put_request(struct runner *r, int status_fd, struct err *err)
{
    const struct launch_plan *p = r->plan;
    struct launch_options options = { .gpu_index = p->device.gpu_index,
                                      .repeat = r->options->repeat,
                                      .is_cold = r->options->is_cold,
                                      .is_single = 1,
                                      .wants_copy = r->options->wants_copy,
                                      .is_timed = !p->is_debug,
                                      .is_writing =
                                          r->options->is_writing && p->sample_blocks == 0 };
    struct buf *body = &r->request.body;

    r->request.op = OP_RUN;
    launch_put_module(body, p->device.is_gpu ? p->image.cubin : p->image.ptx, p->image.id);
    if (r->options->repeat > 0 && r->options->probe)
        fields_put(body, TAG_PROBE, *r->options->probe);
    fields_put_int(body, TAG_STATUS, add_fd(r, status_fd));
    if (r->has_written)
        launch_put_module(body, r->written.ptx, r->written.id);
    for (size_t i = 0; i < p->image.symbol_count; i++)
        if (put_symbol(r, &p->image.symbols[i], err) < 0)
            return -1;
    put_buffers(r);
    if (!p->device.is_gpu)
        put_freed(r);
    launch_put_options(body, &options);
    launch_put_device(body, &p->device.device);
    put_launches(r);
    return 0;
}

/* ---- the answer ---- */

static int read_answer(struct runner *r, const struct child_message *answer,
                       struct launch_outcome *out, struct err *err)
{
    struct arena *arena = r->call->arena;
    struct bytes done, copy;
    size_t clocks;

    if (fields_find(child_message_body(answer), TAG_COPY_GBS, 0, &copy) &&
        copy.size == sizeof(out->copy_gbs))
        memcpy(&out->copy_gbs, copy.data, sizeof(out->copy_gbs));
    for (size_t i = 0; i < r->trials && !out->has_written; i++)
        if (fields_find(child_message_body(answer), TAG_DONE, i, &done))
            out->has_written = launch_read_facts(done, arena, &out->written);
    if (!fields_find(child_message_body(answer), TAG_DONE, r->trials, &done))
        return err_set(err, ERR_InternalError, "the launch gave no answer");
    out->has_facts = launch_read_facts(done, arena, &out->facts);
    out->samples_us = samples_read(arena, done, TAG_SAMPLES_US, &out->sample_count);
    out->clocks_mhz = samples_read(arena, done, TAG_CLOCKS_MHZ, &clocks);
    out->is_measured = out->samples_us != NULL;
    out->rejected = (int)fields_int(done, TAG_REJECTED, 0);
    out->inner = (int)fields_int(done, TAG_INNER, 1);
    out->blocks_per_sm = (int)fields_int(done, TAG_BLOCKS_PER_SM, 0);
    if (!out->has_facts && !r->plan->device.is_gpu)
        return err_set(err, ERR_InternalError, "the launch gave no facts");
    return 0;
}

/* What was written is known of the interpreter; of a card's launch all that it could reach is. */
static void settle_buffers(const struct runner *r)
{
    struct session *session = r->call->session;

    for (size_t i = 0; i < buffer_count(session); i++) {
        struct buffer *b = buffer_at(session, i);

        if (!b->defined_offset)
            continue;
        if (r->plan->device.is_gpu && points_into(r->plan, b))
            buffer_define(b, 0, b->size);
        else
            buffer_settle(b);
    }
}

/*
 * What a launch that was stopped answers, whatever it was, is its timeout: a child that did not
 * stop by itself was ended, and that is no crash.
 */
static void name_timeout(const struct launch_progress *p, struct err *err)
{
    struct err late = { 0 };
    int64_t done = p->last_done;

    /* A GPU worker says Interrupted for whatever ended it. */
    if (!p->is_stopped || (err->name == ERR_Interrupted && !p->plan->device.is_gpu))
        return;
    if (p->plan->timeout_s > 0)
        err_set(&late, ERR_Timeout, "%s did not end within %g s: %lld of %lld blocks finished",
                p->plan->kernel, p->plan->timeout_s, (long long)done, (long long)p->plan->blocks);
    else
        err_set(&late, ERR_Timeout,
                "%s was stopped: no block finished for %d s (%lld of %lld before)", p->plan->kernel,
                LAUNCH_STUCK_MS / 1000, (long long)done, (long long)p->plan->blocks);
    err_next(&late, "look at the condition of the loop there; timeout=300 allows 300 s in all");
    memcpy(late.place, err->place, sizeof(late.place));
    late.line = err->line;
    late.column = err->column;
    late.detail = err->detail; /* where it was stopped */
    err->detail = NULL;
    err_done(err);
    *err = late;
}

static const char HEAP_IS_GONE[] = "what kernels took with malloc on the GPU is gone";

static void say_loss(struct runner *r)
{
    char text[160];
    int n = snprintf(text, sizeof(text), "A new GPU process runs %.40s: %s.\n", r->plan->kernel,
                     HEAP_IS_GONE);

    sink_write(r->call->sink, STREAM_STDOUT, text, (size_t)n);
}

/*
 * What went with a GPU process: its device heap. Device variables do not, as they travel with each
 * launch. Says it when the process went before this launch; returns it when it goes now.
 */
static const char *find_loss(struct runner *r, struct bytes answer, bool is_ok)
{
    struct workers *workers = session_workers(r->call->session);
    bool is_ending = fields_int(answer, TAG_IS_BROKEN, 0) != 0;
    bool is_lost = r->plan->device.is_gpu && workers_lost_heap(workers, is_ending);

    if (is_ok && r->plan->device.is_gpu && r->plan->image.uses_heap)
        workers_note_heap(workers);
    if (is_lost && !is_ending)
        say_loss(r);
    return is_lost && is_ending ? HEAP_IS_GONE : NULL;
}

static int ask(struct runner *r, struct launch_progress *progress, struct launch_outcome *out,
               struct err *err)
{
    enum child_kind kind = r->plan->device.is_gpu ? CHILD_GPU : CHILD_MODEL;
    struct worker_watch watch = { .context = progress,
                                  .part = launch_progress_part,
                                  .tick = launch_progress_tick,
                                  .tick_ms = TICK_MS };
    struct child_message answer;
    struct ptx_fault fault = { 0 };
    int rc = workers_ask_watched(session_workers(r->call->session), kind, &r->request, &watch,
                                 &answer, err);
    const char *lost = find_loss(r, child_message_body(&answer), rc == 0);

    if (rc < 0) {
        bool has_fault = launch_read_fault(child_message_body(&answer), r->call->arena, &fault);

        name_timeout(progress, err);
        launch_explain(r->call, r->plan, has_fault ? &fault : NULL, lost, err);
    } else {
        rc = read_answer(r, &answer, out, err);
    }
    child_message_done(&answer);
    return rc;
}

int launch_run(struct call *call, const struct launch_plan *plan,
               const struct launch_request_options *options, struct launch_outcome *out,
               struct err *err)
{
    struct runner r = { .call = call, .plan = plan, .options = options };
    struct launch_progress progress;
    int status_fd, rc = -1;

    *out = (struct launch_outcome){ 0 };
    find_written(&r); /* may compile, which is no time of the launch */
    if (launch_progress_begin(&progress, call, plan, options->is_quiet, &status_fd, err) == 0) {
        rc = put_request(&r, status_fd, err);
        if (rc == 0)
            rc = ask(&r, &progress, out, err);
        out->printed = progress.printed;
    }
    launch_progress_end(&progress, rc == 0);
    if (status_fd >= 0)
        close(status_fd);
    r.request.fd_count = 0; /* the buffers' are theirs */
    child_message_done(&r.request);
    if (rc < 0 || !options->is_writing || plan->sample_blocks > 0)
        drop_fresh(&r);
    else
        settle_buffers(&r);
    return rc;
}
