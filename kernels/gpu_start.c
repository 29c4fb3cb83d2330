/*
 * One launch is started, and waited for. The driver's own wait cannot be left, so the
 * event is asked again and again: that is how an interrupt is heard while a kernel runs.
 */
#include "kernels/gpu_output.h"
#include "kernels/gpu_work.h"

#include <time.h>
#include <unistd.h>

enum { GRACE_MS = 300 }; /* a kernel that ends so soon after a stop costs no new process */

int64_t gpu_now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int gpu_check(const struct gpu_work *w, cu_result code, const char *what, struct err *err)
{
    return driver_check(w->cu, code, what, err);
}

int gpu_no_memory(struct err *err)
{
    return err_set(err, ERR_ResourceError, "out of memory for a launch on the GPU");
}

const char *gpu_launch_name(const struct gpu_launch *l)
{
    return l->launch->display ? l->launch->display : l->launch->symbol;
}

/* Clusters and cooperative grids are attributes of the newer call. */
static cu_result start_with_attributes(struct gpu_work *w, struct gpu_launch *l, void **extra)
{
    const struct launch_config *s = &l->launch->shape;
    struct cu_launch_attribute attributes[2] = { { 0 } };
    struct cu_launch_config config = {
        .grid = { s->grid.x, s->grid.y, s->grid.z },
        .block = { s->block.x, s->block.y, s->block.z },
        .dynamic_shared_bytes = (unsigned)s->dynamic_shared_bytes,
        .stream = w->stream,
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
    return w->cu->LaunchKernelEx(&config, l->function, NULL, extra);
}

int gpu_start(struct gpu_work *w, struct gpu_launch *l, struct err *err)
{
    /* cuda.h: CU_LAUNCH_PARAM_BUFFER_POINTER, _BUFFER_SIZE and _END are pointers 1, 2 and 0. */
    void *extra[] = { (void *)1, l->parameters, (void *)2, &l->parameter_bytes, (void *)0 };
    const struct launch_config *s = &l->launch->shape;
    bool has_attributes = s->is_cooperative || s->cluster.x;
    cu_result code;

    if (has_attributes && !w->cu->LaunchKernelEx)
        return err_set(err, ERR_DeviceError,
                       "the driver is older than CUDA 11.8: no clusters, no cooperative launches");
    code = has_attributes
               ? start_with_attributes(w, l, extra)
               : w->cu->LaunchKernel(l->function, s->grid.x, s->grid.y, s->grid.z, s->block.x,
                                     s->block.y, s->block.z, (unsigned)s->dynamic_shared_bytes,
                                     w->stream, NULL, extra);
    return gpu_error(w->cu, code, gpu_launch_name(l), err);
}

int gpu_wait(struct gpu_work *w, cu_event event, const struct gpu_launch *l, struct err *err)
{
    int64_t stopped_ms = 0;

    for (int round = 0;; round++) {
        cu_result code = w->cu->EventQuery(event);

        if (code != CU_NOT_READY && !stopped_ms)
            return gpu_error(w->cu, code, gpu_launch_name(l), err);
        if (!stopped_ms && atomic_load(&child_stop))
            stopped_ms = gpu_now_ms();
        w->is_stuck = stopped_ms && code == CU_NOT_READY && gpu_now_ms() - stopped_ms >= GRACE_MS;
        if (w->is_stuck || (stopped_ms && code != CU_NOT_READY))
            return err_set(err, ERR_Interrupted, "interrupted while %s ran on the GPU",
                           gpu_launch_name(l));
        /* Most kernels end within a few microseconds: no sleep before they had a chance. */
        if (round > 1000)
            usleep(200);
    }
}
