/*
 * A request is loaded, run once or timed, and its buffers come back. They come back
 * only when every launch ended well: until then the front's are as they were.
 */
#include "kernels/gpu_run.h"

#include "kernels/gpu_output.h"
#include "kernels/gpu_work.h"

static int download(struct gpu_work *w, struct err *err)
{
    const struct launch_request *q = w->request;

    for (size_t i = 0; i < q->buffer_count; i++)
        if (!(q->buffers[i].row.flags & (LAUNCH_READ_ONLY | LAUNCH_IS_FREED)) &&
            gpu_check(w,
                      w->cu->MemcpyDtoH(q->buffers[i].data, w->buffers[i].address,
                                        q->buffers[i].row.size),
                      "cuMemcpyDtoH", err) < 0)
            return -1;
    return 0;
}

/*
 * From start to end, between two events. Whatever is asked of the driver after a kernel's fault
 * answers with that fault, and may be first to do so.
 */
static int run_launch(struct gpu_work *w, struct gpu_launch *l, struct err *err)
{
    const char *name = gpu_launch_name(l);
    float ms = 0;

    if (gpu_check(w, w->cu->EventRecord(w->start, NULL), "cuEventRecord", err) < 0 ||
        gpu_start(w, l, err) < 0 ||
        gpu_error(w->cu, w->cu->EventRecord(w->stop, NULL), name, err) < 0 ||
        gpu_wait(w, w->stop, l, err) < 0 ||
        gpu_error(w->cu, w->cu->CtxSynchronize(), name, err) < 0)
        return -1;
    if (w->cu->EventElapsedTime(&ms, w->start, w->stop) == CU_OK)
        l->once_us = 1e3 * (double)ms;
    return 0;
}

static void count_blocks(struct launch_status *status, const struct ptx_dim *grid)
{
    if (!status)
        return;
    atomic_store(&status->blocks_done, (long long)grid->x * grid->y * grid->z);
    atomic_fetch_add(&status->launches_done, 1);
}

/* Each launch once; what it prints goes to the front. */
static int run_once(struct gpu_work *w, struct err *err)
{
    gpu_output_begin();
    for (size_t i = 0; i < w->request->launch_count; i++) {
        if (run_launch(w, &w->launches[i], err) < 0) {
            gpu_output_explain(gpu_launch_name(&w->launches[i]), err);
            return -1;
        }
        gpu_output_flush();
        count_blocks(w->request->status, &w->launches[i].launch->shape.grid);
    }
    return download(w, err);
}

static void put_done(const struct gpu_work *w, struct buf *answer)
{
    for (size_t i = 0; i < w->request->launch_count; i++) {
        const struct gpu_launch *l = &w->launches[i];
        const struct ptx_dim *b = &l->launch->shape.block;
        size_t begin = fields_begin(answer, TAG_DONE), n = (size_t)w->good * sizeof(double);
        int blocks = 0;

        if (w->cu->OccupancyMaxActiveBlocks(&blocks, l->function, (int)(b->x * b->y * b->z),
                                            (size_t)l->launch->shape.dynamic_shared_bytes) == CU_OK)
            fields_put_int(answer, TAG_BLOCKS_PER_SM, blocks);
        if (w->good > 0) {
            fields_put(answer, TAG_SAMPLES_US, (struct bytes){ (char *)l->samples_us, n });
            fields_put(answer, TAG_CLOCKS_MHZ, (struct bytes){ (char *)l->clocks_mhz, n });
            fields_put_int(answer, TAG_REJECTED, w->rejected);
            fields_put_int(answer, TAG_INNER, l->inner);
        } else if (l->once_us > 0) {
            fields_put(answer, TAG_SAMPLES_US,
                       (struct bytes){ (const char *)&l->once_us, sizeof(l->once_us) });
        }
        fields_end(answer, begin);
    }
    if (w->copy_gbs > 0)
        fields_put(answer, TAG_COPY_GBS,
                   (struct bytes){ (const char *)&w->copy_gbs, sizeof(w->copy_gbs) });
}

int gpu_run(const struct driver *cu, const unsigned char *uuid,
            const struct launch_request *request, struct buf *answer, bool *is_broken,
            struct err *err)
{
    struct gpu_work w = { .cu = cu, .request = request };
    int rc = gpu_load(&w, uuid, err);

    if (request->status)
        atomic_store(&request->status->is_started, 1);
    if (rc == 0)
        rc = request->options.repeat > 0 ? gpu_time(&w, err) : run_once(&w, err);
    if (rc == 0 && request->options.repeat > 0 && request->options.wants_copy)
        rc = gpu_time_copy(&w, err);
    if (rc == 0 && request->options.repeat == 0 && request->options.is_writing)
        rc = launch_request_write_back(request, err);
    if (rc == 0)
        put_done(&w, answer);
    /* A kernel's fault stays with the context for ever: the next call would fail with it too. */
    *is_broken = w.is_stuck || cu->CtxSynchronize() != CU_OK;
    if (!w.is_stuck)
        gpu_unload(&w);
    return rc;
}
