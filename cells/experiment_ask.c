/*
 * Points as launches that travel to a child: modules, buffers at virtual addresses, and each round
 * every point once.
 */
#include "cells/experiment_internal.h"

#include "cells/internal.h"

/* Virtual addresses: in, then the outs, then the clocks, each behind an unmapped page. */
static uint64_t in_address(const struct experiment_work *w, size_t i)
{
    return LESSON_FIRST_ADDRESS +
           i * (uint64_t)round_up(w->in_words * 4 + LESSON_PAGE, LESSON_PAGE);
}

static uint64_t out_address(const struct experiment_work *w, size_t i)
{
    return in_address(w, w->run->count) + w->out_at[i] + i * LESSON_PAGE;
}

static uint64_t clocks_address(const struct experiment_work *w, size_t i)
{
    return out_address(w, w->run->count) + w->clocks_at[i] + i * LESSON_PAGE;
}

static void put_in(const struct experiment_work *w, size_t i, int64_t words, bool is_scratch,
                   struct buf *body)
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
static size_t view_of(const struct experiment_work *w, size_t i)
{
    size_t first = 0;

    while (w->run->points[first].launch.skipped[0] ||
           w->run->points[first].launch.in_words != w->run->points[i].launch.in_words)
        first++;
    return first;
}

static void put_buffers(const struct experiment_work *w, bool is_gpu, struct buf *body)
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

static void put_launch(const struct experiment_work *w, size_t i, bool is_gpu, int round,
                       struct buf *body)
{
    const struct experiment_outcome *o = &w->run->points[i];
    const struct experiment_launch *l = &o->launch;
    struct launch_config config = { .module = (uint32_t)experiment_module_of(w, l),
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

int experiment_ask(struct experiment_work *w, const struct experiment_asking *a,
                   struct child_message *answer, struct err *err)
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
            if (experiment_takes_part(&w->run->points[i], a->only_correct)) {
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
