/*
 * The interpreter is pure: this file gives it what only a process has, namely
 * memory with a limit, host threads, the signal that says stop, and a way to say
 * what a kernel prints while it runs.
 *
 * Decoded modules are kept: a kernel that is launched again starts at once.
 */
#include "kernels/model_worker.h"

#include "kernels/launch.h"
#include "kernels/model_estimate.h"

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum {
    MAX_HOST_THREADS = 64,
    KEPT_MODULES = 16,
    PRINT_LIMIT =
        1 << 20, /* bytes of a launch, as the device's own buffer (cudaLimitPrintfFifoSize) */
    PRINT_BATCH = 1 << 14, /* bytes that are sent at once */
    PRINT_MS = 50,         /* text waits at most about this long */
};

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

/* ---- modules ---- */

struct kept_module {
    uint64_t id;
    uint64_t last_use;
    struct ptx_module *module;
};

static struct kept_module kept[KEPT_MODULES];
static uint64_t uses;

/* The module of an id that is kept, or else the slot that was used longest ago. */
static struct kept_module *find_slot(uint64_t id)
{
    struct kept_module *oldest = &kept[0];

    for (size_t i = 0; i < KEPT_MODULES; i++) {
        if (kept[i].module && kept[i].id == id)
            return &kept[i];
        if (kept[i].last_use < oldest->last_use)
            oldest = &kept[i];
    }
    return oldest;
}

/*
 * A module without an id is not kept, nor are those of a request that has more than there are
 * slots: *is_own says that the caller ends it.
 */
static int load_module(const struct launch_module *m, bool is_keeping, struct ptx_module **out,
                       bool *is_own, struct err *err)
{
    struct kept_module *slot = find_slot(m->id);

    *is_own = m->id == 0 || !is_keeping;
    if (*is_own)
        return ptx_module_load(m->image, out, err);
    slot->last_use = ++uses;
    if (!slot->module || slot->id != m->id) {
        ptx_module_free(&slot->module);
        if (ptx_module_load(m->image, &slot->module, err) < 0)
            return -1;
        slot->id = m->id;
    }
    *out = slot->module;
    return 0;
}

/* ---- what a kernel prints ---- */

struct printer {
    struct buf text;
    int64_t bytes; /* of the whole launch */
    int64_t last_ms;
    bool is_cut;
};

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void flush(struct printer *p)
{
    struct buf body = { 0 };

    if (p->text.size == 0)
        return;
    fields_put(&body, TAG_PRINT, (struct bytes){ buf_text(&p->text), p->text.size });
    if (!body.is_failed)
        child_say(&body);
    buf_done(&body);
    buf_cut(&p->text, 0);
    p->last_ms = now_ms();
}

static void print(void *context, const char *text, size_t size)
{
    struct printer *p = context;

    if (p->is_cut)
        return;
    if (p->bytes + (int64_t)size > PRINT_LIMIT) {
        p->is_cut = true;
        buf_printf(&p->text, "\n... the kernel prints more than %d bytes: the rest is left out\n",
                   PRINT_LIMIT);
        return;
    }
    p->bytes += (int64_t)size;
    buf_put(&p->text, text, size);
    if (p->text.size >= PRINT_BATCH || now_ms() - p->last_ms >= PRINT_MS)
        flush(p);
}

/* ---- memory ---- */

/* Freed ones too: the interpreter names the use of what is gone. Symbols are no buffers. */
static size_t describe_buffers(const struct launch_request *request, struct ptx_buffer *out)
{
    size_t n = 0;

    for (size_t i = 0; i < request->buffer_count; i++) {
        struct launch_memory *m = &request->buffers[i];

        if (m->row.flags & LAUNCH_IS_SYMBOL)
            continue;
        atomic_init(&m->is_written, false); /* the interpreter says when it is */
        out[n++] = (struct ptx_buffer){ .address = m->row.address,
                                        .data = m->data,
                                        .size = m->row.size,
                                        .name = m->texts.name,
                                        .element_type = m->texts.element,
                                        .element_bytes = (int)m->row.element_bytes,
                                        .origin = m->texts.origin,
                                        .is_read_only = m->row.flags & LAUNCH_READ_ONLY,
                                        .defined = m->defined,
                                        .is_written = &m->is_written,
                                        .freed = m->texts.freed };
    }
    return n;
}

static const struct launch_memory *find_symbol(const struct launch_request *request,
                                               const char *linked)
{
    for (size_t i = 0; i < request->buffer_count; i++)
        if ((request->buffers[i].row.flags & LAUNCH_IS_SYMBOL) &&
            strcmp(request->buffers[i].texts.linked, linked) == 0)
            return &request->buffers[i];
    return NULL;
}

/* The memory of every variable of a module: the session's where it has some, else its own. */
static struct ptx_buffer *describe_variables(const struct launch_request *request,
                                             const struct ptx_module *module, struct err *err)
{
    size_t count = ptx_variable_count(module);
    struct ptx_buffer *out = arena_array(request->arena, count, sizeof(*out));

    for (size_t i = 0; out && i < count; i++) {
        const struct ptx_variable *v = ptx_variable_at(module, i);
        const struct launch_memory *m = find_symbol(request, v->name);
        bool is_session = m && m->row.size >= v->size;
        void *data = is_session ? m->data : arena_alloc(request->arena, v->size + 1);

        if (!data) {
            err_set(err, ERR_ResourceError, "no memory for variable %s of %zu bytes", v->name,
                    v->size);
            return NULL;
        }
        if (v->size && (!is_session || (m->row.flags & LAUNCH_IS_FRESH)))
            memcpy(data, v->initial, v->size);
        out[i] = (struct ptx_buffer){ .address = v->address,
                                      .data = data,
                                      .size = v->size,
                                      .name = is_session ? m->texts.name : v->name,
                                      .element_type = is_session ? m->texts.element : NULL,
                                      .element_bytes = is_session ? (int)m->row.element_bytes : 0,
                                      .is_read_only = v->is_constant };
    }
    if (!out)
        err_set(err, ERR_ResourceError, "out of memory for the variables of a launch");
    return out;
}

/* ---- a launch ---- */

struct job {
    const struct launch_request *request;
    const struct ptx_buffer *buffers;
    size_t buffer_count;
    struct printer printer;
    struct buf *answer;
    bool has_trial;                      /* one ended well */
    struct ptx_fault fault, unset_fault; /* of the last that failed; of a trial: */
    struct err unset;                    /* a variable without a value */
    struct err lost;                     /* a buffer that could not be given back */
};

/* The memory of buffer i of a launch, which leaves the symbols out. */
static struct launch_memory *memory_of(const struct job *job, size_t i)
{
    struct launch_memory *m = job->request->buffers;

    while (m->row.flags & LAUNCH_IS_SYMBOL || i-- > 0)
        m++;
    return m;
}

/* Before anything is written to it, a buffer is what its file holds. */
static void restore(void *context, size_t i, size_t at, size_t size)
{
    struct job *job = context;
    const struct launch_memory *m = memory_of(job, i);
    const struct launch_buffer *row = &m->row;

    if (launch_map_reread(m->fd, row->offset, at, size, m->data, m->texts.name, &job->lost) == 0 &&
        m->defined)
        (void)!launch_map_reread(m->fd, row->defined_offset, at / 8, (size + 7) / 8, m->defined,
                                 m->texts.name, &job->lost);
}

/* No launch of the request wrote so far. */
static bool is_first(const struct job *job)
{
    for (size_t i = 0; i < job->buffer_count; i++)
        if (atomic_load(job->buffers[i].is_written))
            return false;
    return true;
}

static void put_done(struct buf *body, const struct ptx_facts *facts)
{
    size_t begin = fields_begin(body, TAG_DONE);

    launch_put_facts(body, facts);
    fields_end(body, begin);
}

/* One name a parameter, or NULL when they are not all known. */
static const char *const *names_of(const struct launch *launch, const struct ptx_kernel *kernel)
{
    return launch->parameter_count == kernel->parameter_count ? launch->parameters : NULL;
}

static void fill_launch(struct job *job, const struct launch *launch, struct ptx_launch *l)
{
    const struct launch_request *request = job->request;
    const struct launch_config *shape = &launch->shape;

    l->kernel_name = launch->display;
    l->parameter_names = names_of(launch, l->kernel);
    l->grid = shape->grid;
    l->block = shape->block;
    l->dynamic_shared_bytes = shape->dynamic_shared_bytes;
    l->buffers = job->buffers;
    l->buffer_count = job->buffer_count;
    l->restore = is_first(job) ? restore : NULL;
    l->restore_context = job;
    l->device = &request->device;
    l->registers = shape->registers;
    l->host_threads = host_threads();
    l->sample_blocks = shape->sample_blocks;
    l->max_thread_instructions = shape->max_thread_instructions
                                     ? shape->max_thread_instructions
                                     : request->options.max_thread_instructions;
    l->groups = shape->is_stack ? PTX_GROUPS_STACK : PTX_GROUPS_ITS;
    l->checks = shape->checks == LAUNCH_NO_CHECKS ? 0
                : shape->checks                   ? shape->checks
                                                  : PTX_CHECK_DEFAULT;
    l->is_timed = request->options.is_timed != 0 && !shape->is_trial;
    l->is_cooperative = shape->is_cooperative != 0;
    l->memory_limit = (size_t)request->options.memory_limit;
    l->print = shape->is_trial ? NULL : print;
    l->print_context = &job->printer;
    l->stop = &child_stop;
    l->progress = request->status && !shape->is_trial ? &request->status->blocks_done : NULL;
}

/* A stop that the front asked for because the time was up is no interrupt; who ran where stays. */
static void name_timeout(const struct launch_request *request, const struct ptx_fault *fault,
                         const char *kernel, struct err *err)
{
    char *report;

    if (err->name != ERR_Interrupted)
        return;
    if (!request->status || atomic_load(&request->status->stop_reason) != LAUNCH_STOP_TIMEOUT) {
        err_done(err); /* who pressed stop knows: no report */
        err_set(err, ERR_Interrupted, "%s was stopped", kernel);
        return;
    }
    report = err->detail;
    err->detail = NULL;
    err_done(err);
    err_set(err, ERR_Timeout, "%s did not end in time", kernel);
    err_take_detail(err, report);
    if (fault->file && fault->line > 0) {
        size_t n = strlen(fault->file);

        memcpy(err->place, fault->file, n < sizeof(err->place) ? n + 1 : 0);
        err_at(err, fault->line, fault->column, 1);
    }
}

/* Tells the front of a long launch before it starts. */
static void announce(const struct job *job, const struct ptx_module *module,
                     const struct ptx_launch *l)
{
    struct launch_status *status = job->request->status;
    struct launch_estimate estimate = { 0 };

    if (!l->progress)
        return;
    estimate = model_estimate(module, l, job->request->arena);
    atomic_store(&status->is_estimate_least, estimate.is_least);
    atomic_store(&status->estimate_ms, estimate.ms);
}

static int run_launch(struct job *job, const struct launch *launch, const struct ptx_module *module,
                      struct err *err)
{
    const struct launch_request *request = job->request;
    const struct ptx_kernel *kernel = ptx_kernel_find(module, launch->symbol);
    const char *name = launch->display ? launch->display : launch->symbol;
    struct ptx_facts facts = { 0 };
    struct ptx_fault fault = { 0 };
    struct ptx_launch l = { .kernel = kernel };
    size_t size;
    int rc;

    if (!kernel)
        return err_set(err, ERR_NameError, "%s: the module has no such kernel", launch->symbol);
    if (kernel->is_dynamic_shared && launch->shape.dynamic_shared_bytes == 0) {
        err_set(err, ERR_LaunchError,
                "%s uses extern __shared__ memory, and the launch's third number is 0 bytes", name);
        return err_next(err, "%s<<<grid, block, bytes>>>(...): 4 bytes for each float", name);
    }
    l.parameters = launch_parameters(request, launch, NULL, &size, err);
    if (!l.parameters)
        return -1;
    if (size != (size_t)kernel->parameter_bytes)
        return err_set(err, ERR_LaunchError, "%s takes %d bytes of arguments, not %zu", name,
                       kernel->parameter_bytes, size);
    l.variables = describe_variables(request, module, err);
    if (!l.variables)
        return -1;
    fill_launch(job, launch, &l);
    announce(job, module, &l);
    rc = ptx_run(module, &l, request->arena, &facts, &fault, err);
    flush(&job->printer);
    if (job->lost.name) {
        err_done(err);
        *err = job->lost;
        job->lost = (struct err){ 0 };
        return -1;
    }
    if (rc < 0) {
        name_timeout(request, &fault, name, err);
        job->fault = fault;
        if (fault.name != ERR_none)
            launch_put_fault(job->answer, &fault);
        return -1;
    }
    put_done(job->answer, &facts);
    if (request->status)
        atomic_fetch_add(&request->status->launches_done, 1);
    return 0;
}

/*
 * A local variable without a value is found in the code as written only: the optimizer takes for it
 * what suits it, and leaves nothing to be seen. The launch fails for it if nothing else is wrong.
 */
static void keep_unset(struct job *job, struct err *err)
{
    if (job->fault.is_unset && !job->unset.name) {
        job->unset = *err;
        job->unset_fault = job->fault;
        *err = (struct err){ 0 };
    }
    err_done(err);
}

static int fail_unset(struct job *job, struct err *err)
{
    if (!job->unset.name)
        return 0;
    *err = job->unset;
    job->unset = (struct err){ 0 };
    launch_put_fault(job->answer, &job->unset_fault);
    return -1;
}

/* Nothing is left of a trial. */
static void forget_written(const struct job *job)
{
    for (size_t i = 0; i < job->buffer_count; i++)
        atomic_store(job->buffers[i].is_written, false);
}

static void run_trial(struct job *job, const struct launch *launch, const struct ptx_module *module)
{
    size_t before = job->answer->size;
    struct err err = { 0 };

    if (!job->has_trial) {
        job->fault = (struct ptx_fault){ .is_unset = false };
        job->has_trial = run_launch(job, launch, module, &err) == 0;
        keep_unset(job, &err);
        launch_request_restore(job->request);
        forget_written(job);
        if (job->has_trial)
            return;
    }
    buf_cut(job->answer, before);
    fields_end(job->answer, fields_begin(job->answer, TAG_DONE));
}

static int run_launches(struct job *job, struct ptx_module **modules, struct err *err)
{
    const struct launch_request *request = job->request;
    struct ptx_buffer *buffers =
        arena_array(request->arena, request->buffer_count, sizeof(*buffers));

    if (!buffers)
        return err_set(err, ERR_ResourceError, "out of memory for the buffers of a launch");
    if (!request->has_device)
        return err_set(err, ERR_InternalError, "a launch request without a device");
    job->buffers = buffers;
    job->buffer_count = describe_buffers(request, buffers);
    for (size_t i = 0; i < request->launch_count; i++) {
        const struct launch *l = &request->launches[i];

        if (l->shape.is_trial)
            run_trial(job, l, modules[l->shape.module]);
        else if (run_launch(job, l, modules[l->shape.module], err) < 0)
            return -1;
    }
    if (fail_unset(job, err) < 0)
        return -1;
    return request->options.is_writing ? launch_request_write_back(request, err) : 0;
}

static int run_request(const struct launch_request *request, struct buf *answer, struct err *err)
{
    struct ptx_module **modules =
        arena_array(request->arena, request->module_count, sizeof(*modules));
    bool *is_own = arena_array(request->arena, request->module_count, sizeof(*is_own));
    struct job job = { .request = request, .answer = answer };
    int rc = 0;

    if (!modules || !is_own)
        return err_set(err, ERR_ResourceError, "out of memory for the modules of a launch");
    for (size_t i = 0; rc == 0 && i < request->module_count; i++)
        rc = load_module(&request->modules[i], request->module_count <= KEPT_MODULES, &modules[i],
                         &is_own[i], err);
    if (rc == 0)
        rc = run_launches(&job, modules, err);
    buf_done(&job.printer.text);
    err_done(&job.unset);
    for (size_t i = 0; i < request->module_count; i++)
        if (is_own[i])
            ptx_module_free(&modules[i]);
    return rc;
}

int model_worker_serve(const struct child_message *message, struct child_message *answer,
                       struct err *err)
{
    struct launch_request request;
    int rc;

    if (message->op != OP_RUN)
        return err_set(err, ERR_InternalError, "the model worker has no request %u", message->op);
    limit_memory();
    if (launch_request_read(message, &request, err) < 0)
        return -1;
    rc = run_request(&request, &answer->body, err);
    launch_request_done(&request);
    return rc;
}
