/*
 * What is timed need not be launches one by one: the same launches as one graph say what a launch
 * costs without the stream.
 */
#include "kernels/gpu_work.h"

/* cuda.h: CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, CU_STREAM_NON_BLOCKING */
enum { CAPTURE_THREAD_LOCAL = 1, STREAM_NON_BLOCKING = 1 };

static void drop_graph(struct gpu_work *w, struct gpu_launch *l)
{
    if (l->graph_exec)
        w->cu->GraphExecDestroy(l->graph_exec);
    if (l->graph)
        w->cu->GraphDestroy(l->graph);
    l->graph = NULL;
    l->graph_exec = NULL;
}

/* The default stream cannot be captured, so the launches go to one of their own. */
static int capture(struct gpu_work *w, struct gpu_launch *l, int count, struct err *err)
{
    int rc = 0;

    if (gpu_check(w, w->cu->StreamBeginCapture(w->stream, CAPTURE_THREAD_LOCAL),
                  "cuStreamBeginCapture", err) < 0)
        return -1;
    for (int i = 0; rc == 0 && i < count; i++)
        rc = gpu_start(w, l, err);
    /* It is ended in any case: a stream that is being captured cannot be destroyed. */
    if (gpu_check(w, w->cu->StreamEndCapture(w->stream, &l->graph), "cuStreamEndCapture", err) < 0)
        return -1;
    return rc;
}

static int make_graph(struct gpu_work *w, struct gpu_launch *l, int count, struct err *err)
{
    int rc;

    if (!w->cu->GraphInstantiate || !w->cu->StreamBeginCapture)
        return err_set(err, ERR_DeviceError, "the driver is older than CUDA 11.4: no graphs");
    drop_graph(w, l);
    if (gpu_check(w, w->cu->StreamCreate(&w->stream, STREAM_NON_BLOCKING), "cuStreamCreate", err) <
        0)
        return -1;
    rc = capture(w, l, count, err);
    w->cu->StreamDestroy(w->stream);
    w->stream = NULL;
    if (rc < 0)
        return -1;
    l->graph_launches = count;
    return gpu_check(w, w->cu->GraphInstantiate(&l->graph_exec, l->graph, 0), "cuGraphInstantiate",
                     err);
}

int gpu_way_prepare(struct gpu_work *w, struct gpu_launch *l, int count, struct err *err)
{
    if (l->launch->shape.way == LAUNCH_BY_GRAPH && (!l->graph || l->graph_launches != count))
        return make_graph(w, l, count, err);
    return 0;
}

int gpu_way_start(struct gpu_work *w, struct gpu_launch *l, int count, struct err *err)
{
    if (l->launch->shape.way == LAUNCH_BY_GRAPH)
        return gpu_check(w, w->cu->GraphLaunch(l->graph_exec, NULL), "cuGraphLaunch", err);
    for (int i = 0; i < count; i++)
        if (gpu_start(w, l, err) < 0)
            return -1;
    return 0;
}

void gpu_way_done(struct gpu_work *w, struct gpu_launch *l)
{
    drop_graph(w, l);
}
