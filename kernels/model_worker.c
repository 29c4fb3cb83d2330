/*
 * The interpreter is pure: this file gives it what only a process has, namely
 * memory with a limit, host threads, and the signal that says stop.
 */
#include "kernels/model_worker.h"

#include "kernels/launch.h"

#include <sys/resource.h>
#include <unistd.h>

enum { MAX_HOST_THREADS = 64 };

/* Half of the machine's memory is enough for any lesson and leaves room for the front end. */
static void limit_memory(void)
{
#ifndef __SANITIZE_ADDRESS__ /* its shadow is larger than any memory */
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    struct rlimit limit;

    if (pages <= 0 || page <= 0 || getrlimit(RLIMIT_DATA, &limit) < 0)
        return;
    limit.rlim_cur = (rlim_t)pages * (rlim_t)page / 2;
    if (limit.rlim_max != RLIM_INFINITY && limit.rlim_cur > limit.rlim_max)
        return;
    setrlimit(RLIMIT_DATA, &limit);
#endif
}

static int host_threads(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);

    return n < 1 ? 1 : n > MAX_HOST_THREADS ? MAX_HOST_THREADS : (int)n;
}

static int load_modules(const struct launch_request *request, struct ptx_module **modules,
                        struct err *err)
{
    for (size_t i = 0; i < request->module_count; i++)
        if (ptx_module_load(request->modules[i], &modules[i], err) < 0)
            return -1;
    return 0;
}

static void describe_buffers(const struct launch_request *request, struct ptx_buffer *out)
{
    for (size_t i = 0; i < request->buffer_count; i++) {
        const struct launch_memory *m = &request->buffers[i];

        out[i] = (struct ptx_buffer){ .address = m->row.address,
                                      .data = m->data,
                                      .size = m->row.size,
                                      .name = m->name,
                                      .element_bytes = (int)m->row.element_bytes,
                                      .is_read_only = m->row.is_read_only };
    }
}

static void put_lines(struct buf *body, const struct ptx_facts *facts)
{
    for (size_t i = 0; i < facts->line_count; i++) {
        const struct ptx_line_facts *l = &facts->lines[i];
        struct launch_line row = { l->warp_instructions,
                                   l->thread_instructions,
                                   l->branches,
                                   l->divergent_branches,
                                   l->line,
                                   0 };
        size_t begin = fields_begin(body, TAG_LINE);

        buf_put(body, (const char *)&row, sizeof(row));
        buf_puts(body, l->file ? l->file : "");
        fields_end(body, begin);
    }
}

static void put_done(struct buf *body, const struct ptx_facts *facts)
{
    size_t begin = fields_begin(body, TAG_DONE);
    struct ptx_facts plain = *facts;

    plain.lines = NULL;
    plain.line_count = 0;
    fields_put(body, TAG_FACTS, (struct bytes){ (const char *)&plain, sizeof(plain) });
    put_lines(body, facts);
    fields_end(body, begin);
}

static int run_launch(const struct launch_request *request, const struct launch *launch,
                      const struct ptx_module *module, const struct ptx_buffer *buffers,
                      struct buf *answer, struct err *err)
{
    const struct ptx_kernel *kernel = ptx_kernel_find(module, launch->symbol);
    struct ptx_facts facts = { 0 };
    struct ptx_fault fault = { 0 };
    struct ptx_launch l = { .kernel = kernel };
    size_t size;

    if (!kernel)
        return err_set(err, ERR_NameError, "%s: the module has no such kernel", launch->symbol);
    l.parameters = launch_parameters(request, launch, NULL, &size, err);
    if (!l.parameters)
        return -1;
    if (size != (size_t)kernel->parameter_bytes)
        return err_set(err, ERR_LaunchError, "%s takes %d bytes of arguments, not %zu",
                       launch->symbol, kernel->parameter_bytes, size);
    l.grid = launch->shape.grid;
    l.block = launch->shape.block;
    l.dynamic_shared_bytes = launch->shape.dynamic_shared_bytes;
    l.buffers = buffers;
    l.buffer_count = request->buffer_count;
    l.device = &request->device;
    l.registers = launch->shape.registers;
    l.host_threads = host_threads();
    l.sample_blocks = launch->shape.sample_blocks;
    l.max_thread_instructions = request->options.max_thread_instructions;
    l.checks = PTX_CHECK_DEFAULT;
    l.is_timed = request->options.is_timed != 0;
    l.memory_limit = (size_t)request->options.memory_limit;
    l.stop = &child_stop;
    if (ptx_run(module, &l, request->arena, &facts, &fault, err) < 0)
        return -1;
    put_done(answer, &facts);
    return 0;
}

static int run_launches(const struct launch_request *request, struct ptx_module **modules,
                        struct buf *answer, struct err *err)
{
    struct ptx_buffer *buffers =
        arena_array(request->arena, request->buffer_count, sizeof(*buffers));

    if (!buffers)
        return err_set(err, ERR_ResourceError, "out of memory for the buffers of a launch");
    if (!request->has_device)
        return err_set(err, ERR_InternalError, "a launch request without a device");
    describe_buffers(request, buffers);
    if (load_modules(request, modules, err) < 0)
        return -1;
    for (size_t i = 0; i < request->launch_count; i++) {
        const struct launch *l = &request->launches[i];

        if (run_launch(request, l, modules[l->shape.module], buffers, answer, err) < 0)
            return -1;
    }
    return request->options.is_writing ? launch_request_write_back(request, err) : 0;
}

int model_worker_serve(const struct child_message *message, struct child_message *answer,
                       struct err *err)
{
    struct launch_request request;
    struct ptx_module **modules;
    int rc = -1;

    if (message->op != OP_RUN)
        return err_set(err, ERR_InternalError, "the model worker has no request %u", message->op);
    limit_memory();
    if (launch_request_read(message, &request, err) < 0)
        return -1;
    modules = arena_array(request.arena, request.module_count, sizeof(*modules));
    if (modules)
        rc = run_launches(&request, modules, &answer->body, err);
    else
        err_set(err, ERR_ResourceError, "out of memory for the modules of a launch");
    for (size_t i = 0; modules && i < request.module_count; i++)
        ptx_module_free(&modules[i]);
    launch_request_done(&request);
    return rc;
}
