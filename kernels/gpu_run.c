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

/* Once, between two events; what it prints goes to the front. */
static int run_once(struct gpu_work *w, struct err *err)
{
    const struct launch_request *q = w->request;

    gpu_output_begin();
    for (size_t i = 0; i < q->launch_count; i++) {
        struct gpu_launch *l = &w->launches[i];
        float ms = 0;

        if (gpu_check(w, w->cu->EventRecord(w->start, NULL), "cuEventRecord", err) < 0 ||
            gpu_start(w, l, err) < 0 ||
            gpu_check(w, w->cu->EventRecord(w->stop, NULL), "cuEventRecord", err) < 0)
            return -1;
        if (gpu_wait(w, w->stop, l, err) < 0 ||
            gpu_error(w->cu, w->cu->CtxSynchronize(), gpu_launch_name(l), err) < 0) {
            gpu_output_explain(err);
            return -1;
        }
        if (w->cu->EventElapsedTime(&ms, w->start, w->stop) == CU_OK)
            l->once_us = 1e3 * (double)ms;
        gpu_output_flush();
        if (q->status) {
            const struct ptx_dim *g = &l->launch->shape.grid;

            atomic_store(&q->status->blocks_done, (long long)g->x * g->y * g->z);
            atomic_fetch_add(&q->status->launches_done, 1);
        }
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
}

int gpu_run(const struct driver *cu, const unsigned char *uuid,
            const struct launch_request *request, struct buf *answer, bool *is_broken,
            struct err *err)
{
    struct gpu_work w = { .cu = cu, .request = request };
    int rc = gpu_load(&w, uuid, err);

    if (rc == 0)
        rc = request->options.repeat > 0 ? gpu_time(&w, err) : run_once(&w, err);
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
