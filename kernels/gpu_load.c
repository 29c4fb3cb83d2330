/*
 * What a request brings goes onto the card and comes off again: code as modules, buffers
 * as allocations that replace their virtual addresses, device variables as the memory
 * that their module has for them.
 */
#include "kernels/cubin.h"
#include "kernels/gpu_work.h"

/* ---- code ---- */

/*
 * Why the driver refuses code. It runs what a compiler of its own major version made, or an older
 * one (CUDA Compatibility, "Minor Version Compatibility").
 */
static int explain_refusal(struct gpu_work *w, cu_result code, struct bytes image, struct err *err)
{
    enum { CC_MAJOR = 75, CC_MINOR = 76 }; /* CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_... */
    struct cubin_origin origin = cubin_origin_of(image);
    int driver = w->cu->version, major = 0, minor = 0;
    cu_device device;

    if (origin.toolkit_major > driver / 1000) {
        err_set(err, ERR_DeviceError,
                "the driver is for CUDA %d.%d, too old for code of NVRTC %d.%d", driver / 1000,
                driver % 1000 / 10, origin.toolkit_major, origin.toolkit_minor);
        return err_next(err,
                        "update the driver, or take the compiler for it: pip install "
                        "nvidia-cuda-nvrtc-cu%d nvidia-cuda-runtime-cu%d; device=model needs none",
                        driver / 1000, driver / 1000);
    }
    if (w->cu->DeviceGet(&device, w->request->options.gpu_index) == CU_OK) {
        w->cu->DeviceGetAttribute(&major, CC_MAJOR, device);
        w->cu->DeviceGetAttribute(&minor, CC_MINOR, device);
    }
    if (origin.sm && major && (origin.sm / 10 != major || origin.sm % 10 > minor)) {
        err_set(err, ERR_DeviceError, "code for sm_%d does not run on capability %d.%d", origin.sm,
                major, minor);
        return err_next(err, "leave arch= out: then it is compiled for the card that is here");
    }
    return gpu_check(w, code, "cuModuleLoadData", err);
}

static int load_modules(struct gpu_work *w, struct err *err)
{
    for (size_t i = 0; i < w->request->module_count; i++) {
        struct bytes image = w->request->modules[i].image;
        cu_result code = w->cu->ModuleLoadData(&w->modules[i], image.data);

        if (code != CU_OK)
            return explain_refusal(w, code, image, err);
    }
    return 0;
}

/* ---- memory ---- */

/* Memory of the card; what: whom it is for. Fails with ResourceError when there is not so much. */
static int allocate(struct gpu_work *w, cu_address *address, size_t bytes, const char *what,
                    struct err *err)
{
    cu_result code = w->cu->MemAlloc(address, bytes);
    size_t left = 0, total = 0;

    if (code != CU_OUT_OF_MEMORY)
        return gpu_check(w, code, "cuMemAlloc", err);
    w->cu->MemGetInfo(&left, &total);
    err_set(err, ERR_ResourceError,
            "out of memory on the GPU: %s takes %zu bytes, and %zu of its %zu are free", what,
            bytes, left, total);
    return err_next(err, "take smaller buffers; a card may be shared: nvidia-smi says with whom");
}

/* The module's own memory of a device variable; 0 bytes when no module has it. */
static int find_symbol(struct gpu_work *w, const struct launch_memory *m, struct gpu_buffer *b,
                       struct err *err)
{
    size_t size = 0;

    for (size_t i = 0; i < w->request->module_count; i++)
        if (w->cu->ModuleGetGlobal(&b->address, &size, w->modules[i], m->texts.linked) == CU_OK &&
            size >= m->row.size) {
            b->is_module = w->has_symbols = true;
            return 0;
        }
    return err_set(err, ERR_InternalError, "the module has no variable %s of %llu bytes",
                   m->texts.linked, (unsigned long long)m->row.size);
}

static int keep_pristine(struct gpu_work *w, const struct launch_memory *m, struct gpu_buffer *b,
                         struct err *err)
{
    if ((m->row.flags & LAUNCH_READ_ONLY) || w->request->options.repeat == 0)
        return 0;
    if (allocate(w, &b->pristine, m->row.size, "the copy from which a buffer is restored", err) < 0)
        return -1;
    return gpu_check(w, w->cu->MemcpyDtoDAsync(b->pristine, b->address, m->row.size, NULL),
                     "keeping a buffer", err);
}

static int upload(struct gpu_work *w, size_t i, struct err *err)
{
    const struct launch_memory *m = &w->request->buffers[i];
    struct gpu_buffer *b = &w->buffers[i];

    if (m->row.flags & LAUNCH_IS_FREED)
        return 0;
    if (m->row.flags & LAUNCH_IS_SYMBOL) {
        if (find_symbol(w, m, b, err) < 0)
            return -1;
    } else if (allocate(w, &b->address, m->row.size, m->texts.name, err) < 0) {
        return -1;
    }
    /* A fresh variable has the value of its declaration: the module was just loaded. */
    if (!(m->row.flags & LAUNCH_IS_FRESH) &&
        gpu_check(w, w->cu->MemcpyHtoD(b->address, m->data, m->row.size), "cuMemcpyHtoD", err) < 0)
        return -1;
    return keep_pristine(w, m, b, err);
}

/* Twice the cache: what is written last stays, and that is nobody's data. */
static int prepare_flush(struct gpu_work *w, struct err *err)
{
    enum { L2_CACHE_SIZE = 38 }; /* CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE */
    cu_device device;
    int bytes = 0;

    if (!w->request->options.is_cold || w->request->options.repeat == 0)
        return 0;
    if (gpu_check(w, w->cu->DeviceGet(&device, w->request->options.gpu_index), "cuDeviceGet", err) <
        0)
        return -1;
    w->cu->DeviceGetAttribute(&bytes, L2_CACHE_SIZE, device);
    w->flush_bytes = 2 * (size_t)(bytes > 0 ? bytes : 1 << 26);
    return allocate(w, &w->flush, w->flush_bytes, "the buffer that flushes the cache", err);
}

static int prepare_launch(struct gpu_work *w, size_t i, const uint64_t *addresses, struct err *err)
{
    enum { DYNAMIC_SHARED = 8 }; /* CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES */
    struct gpu_launch *l = &w->launches[i];
    size_t repeat = (size_t)w->request->options.repeat;
    int dynamic;

    l->launch = &w->request->launches[i];
    l->inner = 1;
    dynamic = l->launch->shape.dynamic_shared_bytes;
    if (gpu_check(w,
                  w->cu->ModuleGetFunction(&l->function, w->modules[l->launch->shape.module],
                                           l->launch->symbol),
                  "cuModuleGetFunction", err) < 0)
        return -1;
    if (dynamic > 0 && gpu_check(w, w->cu->FuncSetAttribute(l->function, DYNAMIC_SHARED, dynamic),
                                 "cuFuncSetAttribute of dynamic shared memory", err) < 0)
        return -1;
    l->parameters = launch_parameters(w->request, l->launch, addresses, &l->parameter_bytes, err);
    l->samples_us = arena_array(w->request->arena, repeat, sizeof(double));
    l->clocks_mhz = arena_array(w->request->arena, repeat, sizeof(double));
    if (!l->parameters || !l->samples_us || !l->clocks_mhz)
        return gpu_no_memory(err);
    return 0;
}

int gpu_load(struct gpu_work *w, const unsigned char *uuid, struct err *err)
{
    const struct launch_request *q = w->request;
    uint64_t *addresses = arena_array(q->arena, q->buffer_count, sizeof(*addresses));

    w->buffers = arena_array(q->arena, q->buffer_count, sizeof(*w->buffers));
    w->modules = arena_array(q->arena, q->module_count, sizeof(*w->modules));
    w->launches = arena_array(q->arena, q->launch_count, sizeof(*w->launches));
    if (!addresses || !w->buffers || !w->modules || !w->launches)
        return gpu_no_memory(err);
    if (load_modules(w, err) < 0)
        return -1;
    for (size_t i = 0; i < q->buffer_count; i++) {
        if (upload(w, i, err) < 0)
            return -1;
        addresses[i] = w->buffers[i].address;
    }
    for (size_t i = 0; i < q->launch_count; i++)
        if (prepare_launch(w, i, addresses, err) < 0)
            return -1;
    if (prepare_flush(w, err) < 0)
        return -1;
    if (gpu_check(w, w->cu->EventCreate(&w->start, 0), "cuEventCreate", err) < 0 ||
        gpu_check(w, w->cu->EventCreate(&w->stop, 0), "cuEventCreate", err) < 0)
        return -1;
    if (q->options.repeat > 0 && q->probe.size > 0) {
        if (gpu_clock_init(&w->clock, w->cu, q->probe, uuid, err) < 0)
            return -1;
        w->has_clock = true;
    }
    return 0;
}

void gpu_unload(struct gpu_work *w)
{
    const struct launch_request *q = w->request;

    if (w->has_clock)
        gpu_clock_done(&w->clock);
    if (w->start)
        w->cu->EventDestroy(w->start);
    if (w->stop)
        w->cu->EventDestroy(w->stop);
    for (size_t i = 0; w->launches && i < q->launch_count; i++)
        gpu_way_done(w, &w->launches[i]);
    for (size_t i = 0; w->buffers && i < q->buffer_count; i++) {
        if (w->buffers[i].address && !w->buffers[i].is_module)
            w->cu->MemFree(w->buffers[i].address);
        if (w->buffers[i].pristine)
            w->cu->MemFree(w->buffers[i].pristine);
    }
    if (w->flush)
        w->cu->MemFree(w->flush);
    for (size_t i = 0; w->modules && i < q->module_count; i++)
        if (w->modules[i])
            w->cu->ModuleUnload(w->modules[i]);
}
