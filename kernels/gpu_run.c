/*
 * How a launch is timed here: the card is warmed up until its clock stands still;
 * then, `repeat` times, every launch in turn (so that drift meets all alike) is
 * measured between two events, after its written buffers were restored. A short
 * kernel runs several times in a row between the events and the time is divided,
 * since an event resolves half a microsecond. A repeat in which the card throttled
 * is thrown away and done again.
 */
#include "kernels/gpu_run.h"

#include "kernels/gpu_clock.h"
#include "kernels/gpu_output.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
    MAX_TRIES = 3,    /* times `repeat`: then the card is given up as throttling */
    MAX_INNER = 100,  /* launches in one sample */
    SAMPLE_US = 200,  /* a sample lasts at least about this long */
    WARM_UP_MS = 300, /* at least */
    WARM_UP_MAX_MS = 3000,
};

struct gpu_buffer {
    cu_address address, pristine; /* pristine: what a repeat starts from; 0 when read-only */
    bool is_module;               /* a device variable: its memory is the module's */
};

struct gpu_launch {
    const struct launch *launch;
    cu_function function;
    void *parameters;
    size_t parameter_bytes;
    int inner;
    double once_us; /* of a launch that is not timed: one sample, 0 for none */
    double *samples_us, *clocks_mhz;
};

struct run {
    const struct driver *cu;
    const struct launch_request *request;
    struct gpu_buffer *buffers;
    cu_module *modules;
    struct gpu_launch *launches;
    cu_event start, stop;
    cu_address flush; /* written to push everything else out of the cache */
    size_t flush_bytes;
    bool has_symbols, is_stuck;
    struct gpu_clock clock;
    bool has_clock;
    int good, rejected;
};

static int check(const struct run *r, cu_result code, const char *what, struct err *err)
{
    return driver_check(r->cu, code, what, err);
}

static int no_memory(struct err *err)
{
    return err_set(err, ERR_ResourceError, "out of memory for a launch on the GPU");
}

/* The module's own memory of a device variable; 0 bytes when no module has it. */
static int find_symbol(struct run *r, const struct launch_memory *m, struct gpu_buffer *b,
                       struct err *err)
{
    size_t size = 0;

    for (size_t i = 0; i < r->request->module_count; i++)
        if (r->cu->ModuleGetGlobal(&b->address, &size, r->modules[i], m->texts.linked) == CU_OK &&
            size >= m->row.size) {
            b->is_module = r->has_symbols = true;
            return 0;
        }
    return err_set(err, ERR_InternalError, "the module has no variable %s of %llu bytes",
                   m->texts.linked, (unsigned long long)m->row.size);
}

static int keep_pristine(struct run *r, const struct launch_memory *m, struct gpu_buffer *b,
                         struct err *err)
{
    if ((m->row.flags & LAUNCH_READ_ONLY) || r->request->options.repeat == 0)
        return 0;
    if (check(r, r->cu->MemAlloc(&b->pristine, m->row.size), "cuMemAlloc", err) < 0)
        return -1;
    return check(r, r->cu->MemcpyDtoDAsync(b->pristine, b->address, m->row.size, NULL),
                 "keeping a buffer", err);
}

static int upload(struct run *r, size_t i, struct err *err)
{
    const struct launch_memory *m = &r->request->buffers[i];
    struct gpu_buffer *b = &r->buffers[i];

    if (m->row.flags & LAUNCH_IS_FREED)
        return 0;
    if (m->row.flags & LAUNCH_IS_SYMBOL) {
        if (find_symbol(r, m, b, err) < 0)
            return -1;
    } else if (check(r, r->cu->MemAlloc(&b->address, m->row.size), "cuMemAlloc", err) < 0) {
        return -1;
    }
    /* A fresh variable has the value of its declaration: the module was just loaded. */
    if (!(m->row.flags & LAUNCH_IS_FRESH) &&
        check(r, r->cu->MemcpyHtoD(b->address, m->data, m->row.size), "cuMemcpyHtoD", err) < 0)
        return -1;
    return keep_pristine(r, m, b, err);
}

/* Twice the cache: what is written last stays, and that is nobody's data. */
static int prepare_flush(struct run *r, struct err *err)
{
    enum { L2_CACHE_SIZE = 38 }; /* CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE */
    cu_device device;
    int bytes = 0;

    if (!r->request->options.is_cold || r->request->options.repeat == 0)
        return 0;
    if (check(r, r->cu->DeviceGet(&device, r->request->options.gpu_index), "cuDeviceGet", err) < 0)
        return -1;
    r->cu->DeviceGetAttribute(&bytes, L2_CACHE_SIZE, device);
    r->flush_bytes = 2 * (size_t)(bytes > 0 ? bytes : 1 << 26);
    return check(r, r->cu->MemAlloc(&r->flush, r->flush_bytes), "cuMemAlloc", err);
}

static int prepare_launch(struct run *r, size_t i, const uint64_t *addresses, struct err *err)
{
    enum { DYNAMIC_SHARED = 8 }; /* CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES */
    struct gpu_launch *l = &r->launches[i];
    size_t repeat = (size_t)r->request->options.repeat;
    int dynamic;

    l->launch = &r->request->launches[i];
    l->inner = 1;
    dynamic = l->launch->shape.dynamic_shared_bytes;
    if (check(r,
              r->cu->ModuleGetFunction(&l->function, r->modules[l->launch->shape.module],
                                       l->launch->symbol),
              "cuModuleGetFunction", err) < 0)
        return -1;
    if (dynamic > 0 && check(r, r->cu->FuncSetAttribute(l->function, DYNAMIC_SHARED, dynamic),
                             "cuFuncSetAttribute of dynamic shared memory", err) < 0)
        return -1;
    l->parameters = launch_parameters(r->request, l->launch, addresses, &l->parameter_bytes, err);
    l->samples_us = arena_array(r->request->arena, repeat, sizeof(double));
    l->clocks_mhz = arena_array(r->request->arena, repeat, sizeof(double));
    if (!l->parameters || !l->samples_us || !l->clocks_mhz)
        return no_memory(err);
    return 0;
}

static int prepare(struct run *r, const unsigned char *uuid, struct err *err)
{
    const struct launch_request *q = r->request;
    uint64_t *addresses = arena_array(q->arena, q->buffer_count, sizeof(*addresses));

    r->buffers = arena_array(q->arena, q->buffer_count, sizeof(*r->buffers));
    r->modules = arena_array(q->arena, q->module_count, sizeof(*r->modules));
    r->launches = arena_array(q->arena, q->launch_count, sizeof(*r->launches));
    if (!addresses || !r->buffers || !r->modules || !r->launches)
        return no_memory(err);
    for (size_t i = 0; i < q->module_count; i++)
        if (check(r, r->cu->ModuleLoadData(&r->modules[i], q->modules[i].image.data),
                  "cuModuleLoadData", err) < 0)
            return -1;
    for (size_t i = 0; i < q->buffer_count; i++) {
        if (upload(r, i, err) < 0)
            return -1;
        addresses[i] = r->buffers[i].address;
    }
    for (size_t i = 0; i < q->launch_count; i++)
        if (prepare_launch(r, i, addresses, err) < 0)
            return -1;
    if (prepare_flush(r, err) < 0)
        return -1;
    if (check(r, r->cu->EventCreate(&r->start, 0), "cuEventCreate", err) < 0 ||
        check(r, r->cu->EventCreate(&r->stop, 0), "cuEventCreate", err) < 0)
        return -1;
    if (q->options.repeat > 0 && q->probe.size > 0) {
        if (gpu_clock_init(&r->clock, r->cu, q->probe, uuid, err) < 0)
            return -1;
        r->has_clock = true;
    }
    return 0;
}

static void release(struct run *r)
{
    const struct launch_request *q = r->request;

    if (r->has_clock)
        gpu_clock_done(&r->clock);
    if (r->start)
        r->cu->EventDestroy(r->start);
    if (r->stop)
        r->cu->EventDestroy(r->stop);
    for (size_t i = 0; r->buffers && i < q->buffer_count; i++) {
        if (r->buffers[i].address && !r->buffers[i].is_module)
            r->cu->MemFree(r->buffers[i].address);
        if (r->buffers[i].pristine)
            r->cu->MemFree(r->buffers[i].pristine);
    }
    if (r->flush)
        r->cu->MemFree(r->flush);
    for (size_t i = 0; r->modules && i < q->module_count; i++)
        if (r->modules[i])
            r->cu->ModuleUnload(r->modules[i]);
}

static const char *name_of(const struct gpu_launch *l)
{
    return l->launch->display ? l->launch->display : l->launch->symbol;
}

/* Clusters and cooperative grids are attributes of the newer call. */
static cu_result start_with_attributes(struct run *r, struct gpu_launch *l, void **extra)
{
    const struct launch_config *s = &l->launch->shape;
    struct cu_launch_attribute attributes[2] = { { 0 } };
    struct cu_launch_config config = {
        .grid = { s->grid.x, s->grid.y, s->grid.z },
        .block = { s->block.x, s->block.y, s->block.z },
        .dynamic_shared_bytes = (unsigned)s->dynamic_shared_bytes,
        .attributes = attributes,
    };

    if (s->is_cooperative) {
        attributes[config.attribute_count].id = CU_ATTRIBUTE_COOPERATIVE;
        attributes[config.attribute_count++].value.cooperative = 1;
    }
    if (s->cluster.x) {
        struct cu_launch_attribute *a = &attributes[config.attribute_count++];

        a->id = CU_ATTRIBUTE_CLUSTER;
        a->value.cluster[0] = s->cluster.x;
        a->value.cluster[1] = s->cluster.y;
        a->value.cluster[2] = s->cluster.z;
    }
    return r->cu->LaunchKernelEx(&config, l->function, NULL, extra);
}

static int start_launch(struct run *r, struct gpu_launch *l, struct err *err)
{
    /* cuda.h: CU_LAUNCH_PARAM_BUFFER_POINTER, _BUFFER_SIZE and _END are pointers 1, 2 and 0. */
    void *extra[] = { (void *)1, l->parameters, (void *)2, &l->parameter_bytes, (void *)0 };
    const struct launch_config *s = &l->launch->shape;
    bool has_attributes = s->is_cooperative || s->cluster.x;
    cu_result code;

    if (has_attributes && !r->cu->LaunchKernelEx)
        return err_set(err, ERR_DeviceError,
                       "the driver is older than CUDA 11.8: no clusters, no cooperative launches");
    code = has_attributes
               ? start_with_attributes(r, l, extra)
               : r->cu->LaunchKernel(l->function, s->grid.x, s->grid.y, s->grid.z, s->block.x,
                                     s->block.y, s->block.z, (unsigned)s->dynamic_shared_bytes,
                                     NULL, NULL, extra);
    return gpu_error(r->cu, code, name_of(l), err);
}

/*
 * Waits for an event, hearing a stop. A kernel that does not end cannot be stopped: its process
 * has to end, which gpu_run says with *is_broken.
 */
static int wait_for(struct run *r, cu_event event, const struct gpu_launch *l, struct err *err)
{
    for (int round = 0;; round++) {
        cu_result code = r->cu->EventQuery(event);

        if (code != CU_NOT_READY)
            return gpu_error(r->cu, code, name_of(l), err);
        if (atomic_load(&child_stop)) {
            r->is_stuck = true;
            return err_set(err, ERR_Interrupted, "interrupted while %s ran on the GPU", name_of(l));
        }
        /* Most kernels end within a few microseconds: no sleep before they had a chance. */
        if (round > 1000)
            usleep(200);
    }
}

static int download(struct run *r, struct err *err)
{
    const struct launch_request *q = r->request;

    for (size_t i = 0; i < q->buffer_count; i++)
        if (!(q->buffers[i].row.flags & (LAUNCH_READ_ONLY | LAUNCH_IS_FREED)) &&
            check(r,
                  r->cu->MemcpyDtoH(q->buffers[i].data, r->buffers[i].address,
                                    q->buffers[i].row.size),
                  "cuMemcpyDtoH", err) < 0)
            return -1;
    return 0;
}

/* Once, between two events; what it prints goes to the front. */
static int run_once(struct run *r, struct err *err)
{
    const struct launch_request *q = r->request;

    gpu_output_begin();
    for (size_t i = 0; i < q->launch_count; i++) {
        struct gpu_launch *l = &r->launches[i];
        float ms = 0;

        if (check(r, r->cu->EventRecord(r->start, NULL), "cuEventRecord", err) < 0 ||
            start_launch(r, l, err) < 0 ||
            check(r, r->cu->EventRecord(r->stop, NULL), "cuEventRecord", err) < 0)
            return -1;
        if (wait_for(r, r->stop, l, err) < 0 ||
            gpu_error(r->cu, r->cu->CtxSynchronize(), name_of(l), err) < 0) {
            gpu_output_explain(err);
            return -1;
        }
        if (r->cu->EventElapsedTime(&ms, r->start, r->stop) == CU_OK)
            l->once_us = 1e3 * (double)ms;
        gpu_output_flush();
        if (q->status) {
            const struct ptx_dim *g = &l->launch->shape.grid;

            atomic_store(&q->status->blocks_done, (long long)g->x * g->y * g->z);
            atomic_fetch_add(&q->status->launches_done, 1);
        }
    }
    return download(r, err);
}

/* Puts the buffers that a launch can write back to what they were. */
static bool is_of(const struct run *r, const struct gpu_launch *l, size_t buffer)
{
    for (size_t i = 0; i < l->launch->argument_count; i++) {
        const struct launch_argument *a = &l->launch->arguments[i];

        if (a->is_pointer && launch_buffer_at(r->request, a->address) == (int)buffer)
            return true;
        for (size_t k = 0; k < a->pointer_count; k++) {
            uint64_t address;

            memcpy(&address, a->value.data + a->pointers[k], sizeof(address));
            if (launch_buffer_at(r->request, address) == (int)buffer)
                return true;
        }
    }
    return r->buffers[buffer].is_module;
}

static int restore(struct run *r, const struct gpu_launch *l, struct err *err)
{
    for (size_t b = 0; b < r->request->buffer_count; b++)
        if (r->buffers[b].pristine && is_of(r, l, b) &&
            check(r,
                  r->cu->MemcpyDtoDAsync(r->buffers[b].address, r->buffers[b].pristine,
                                         r->request->buffers[b].row.size, NULL),
                  "restoring a buffer", err) < 0)
            return -1;
    if (!r->flush)
        return 0;
    return check(r, r->cu->MemsetD8Async(r->flush, 0, r->flush_bytes, NULL), "flushing the cache",
                 err);
}

/* One sample: microseconds a launch, between two events. */
static int measure(struct run *r, struct gpu_launch *l, int inner, double *us, struct err *err)
{
    float ms = 0;

    if (restore(r, l, err) < 0 ||
        check(r, r->cu->EventRecord(r->start, NULL), "cuEventRecord", err) < 0)
        return -1;
    for (int i = 0; i < inner; i++)
        if (start_launch(r, l, err) < 0)
            return -1;
    if (check(r, r->cu->EventRecord(r->stop, NULL), "cuEventRecord", err) < 0 ||
        wait_for(r, r->stop, l, err) < 0 ||
        check(r, r->cu->EventElapsedTime(&ms, r->start, r->stop), "cuEventElapsedTime", err) < 0)
        return -1;
    *us = 1e3 * (double)ms / inner;
    if (atomic_load(&child_stop))
        return err_set(err, ERR_Interrupted, "interrupted while the GPU was timed");
    return 0;
}

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int read_clock(struct run *r, double *mhz, struct err *err)
{
    *mhz = 0;
    return r->has_clock ? gpu_clock_read(&r->clock, mhz, err) : 0;
}

/* Runs everything until the clock of two rounds agrees within 0.5 %, and no shorter than needed. */
static int warm_up(struct run *r, struct err *err)
{
    int64_t began = now_ms();
    double before, now = 0, us;

    for (;;) {
        before = now;
        for (size_t i = 0; i < r->request->launch_count; i++)
            if (measure(r, &r->launches[i], r->launches[i].inner, &us, err) < 0)
                return -1;
        if (read_clock(r, &now, err) < 0)
            return -1;
        if (now_ms() - began >= WARM_UP_MAX_MS)
            return 0;
        if (now_ms() - began >= WARM_UP_MS && fabs(now - before) <= 0.005 * now)
            return 0;
    }
}

/* How often each launch runs in one sample, from one measurement of a warm card. */
static int choose_inner(struct run *r, struct err *err)
{
    if (r->request->options.is_single || r->request->options.is_cold || r->has_symbols)
        return 0;
    for (size_t i = 0; i < r->request->launch_count; i++) {
        double us;

        if (measure(r, &r->launches[i], 1, &us, err) < 0)
            return -1;
        r->launches[i].inner = us * MAX_INNER <= SAMPLE_US ? MAX_INNER : 1 + (int)(SAMPLE_US / us);
    }
    return 0;
}

static int time_all(struct run *r, struct err *err)
{
    int repeat = r->request->options.repeat;

    if (warm_up(r, err) < 0 || choose_inner(r, err) < 0)
        return -1;
    for (int tries = 0; r->good < repeat && tries < repeat * MAX_TRIES; tries++) {
        double mhz;
        bool is_throttled;

        if (read_clock(r, &mhz, err) < 0)
            return -1;
        is_throttled = r->has_clock && gpu_clock_is_throttled(&r->clock);
        for (size_t i = 0; i < r->request->launch_count; i++) {
            struct gpu_launch *l = &r->launches[i];

            if (measure(r, l, l->inner, &l->samples_us[r->good], err) < 0)
                return -1;
            l->clocks_mhz[r->good] = mhz;
        }
        is_throttled = is_throttled || (r->has_clock && gpu_clock_is_throttled(&r->clock));
        if (is_throttled)
            r->rejected++;
        else
            r->good++;
    }
    if (r->good == 0)
        return err_set(err, ERR_DeviceError, "the card throttled in all %d repeats: no times",
                       r->rejected);
    return 0;
}

static void put_done(const struct run *r, struct buf *answer)
{
    for (size_t i = 0; i < r->request->launch_count; i++) {
        const struct gpu_launch *l = &r->launches[i];
        const struct ptx_dim *b = &l->launch->shape.block;
        size_t begin = fields_begin(answer, TAG_DONE), n = (size_t)r->good * sizeof(double);
        int blocks = 0;

        if (r->cu->OccupancyMaxActiveBlocks(&blocks, l->function, (int)(b->x * b->y * b->z),
                                            (size_t)l->launch->shape.dynamic_shared_bytes) == CU_OK)
            fields_put_int(answer, TAG_BLOCKS_PER_SM, blocks);
        if (r->good > 0) {
            fields_put(answer, TAG_SAMPLES_US, (struct bytes){ (char *)l->samples_us, n });
            fields_put(answer, TAG_CLOCKS_MHZ, (struct bytes){ (char *)l->clocks_mhz, n });
            fields_put_int(answer, TAG_REJECTED, r->rejected);
            fields_put_int(answer, TAG_INNER, l->inner);
        } else if (l->once_us > 0) {
            fields_put(answer, TAG_SAMPLES_US,
                       (struct bytes){ (const char *)&l->once_us, sizeof(l->once_us) });
        }
        fields_end(answer, begin);
    }
}

int gpu_run(const struct driver *cu, const unsigned char *uuid,
            const struct launch_request *request, struct buf *answer, bool *is_broken,
            struct err *err)
{
    struct run r = { .cu = cu, .request = request };
    int rc = prepare(&r, uuid, err);

    if (rc == 0)
        rc = request->options.repeat > 0 ? time_all(&r, err) : run_once(&r, err);
    if (rc == 0 && request->options.repeat == 0 && request->options.is_writing)
        rc = launch_request_write_back(request, err);
    if (rc == 0)
        put_done(&r, answer);
    /* A kernel's fault stays with the context for ever: the next call would fail with it too. */
    *is_broken = r.is_stuck || cu->CtxSynchronize() != CU_OK;
    if (!r.is_stuck)
        release(&r);
    return rc;
}
