/*
 * What the card's memory gives: a copy within it reads and writes every byte once, and no
 * kernel of a lesson is expected to move more. It is long enough for the events to be exact
 * and larger than the cache, as far as the card has room; the median of a few counts.
 */
#include "kernels/gpu_work.h"

#include <stdlib.h>

enum { COPIES = 9, MOST_BYTES = 1 << 28, LEAST_BYTES = 1 << 20 };

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* One copy between the halves of an allocation, in GB/s. */
static int time_copy(struct gpu_work *w, cu_address memory, size_t half, double *gbs,
                     struct err *err)
{
    float ms = 0;

    if (gpu_check(w, w->cu->EventRecord(w->start, NULL), "cuEventRecord", err) < 0 ||
        gpu_check(w, w->cu->MemcpyDtoDAsync(memory + half, memory, half, NULL), "a copy", err) <
            0 ||
        gpu_check(w, w->cu->EventRecord(w->stop, NULL), "cuEventRecord", err) < 0 ||
        gpu_check(w, w->cu->CtxSynchronize(), "a copy", err) < 0 ||
        gpu_check(w, w->cu->EventElapsedTime(&ms, w->start, w->stop), "cuEventElapsedTime", err) <
            0)
        return -1;
    *gbs = ms > 0 ? 2e-6 * (double)half / (double)ms : 0;
    return 0;
}

int gpu_time_copy(struct gpu_work *w, struct err *err)
{
    size_t left = 0, total = 0, half = MOST_BYTES;
    double gbs[COPIES];
    cu_address memory = 0;
    int rc = 0;

    if (gpu_check(w, w->cu->MemGetInfo(&left, &total), "cuMemGetInfo", err) < 0)
        return -1;
    while (half > left / 4)
        half /= 2;
    /* Full cards have launches to time all the same. */
    if (half < LEAST_BYTES || w->cu->MemAlloc(&memory, 2 * half) != CU_OK)
        return 0;
    for (int i = 0; rc == 0 && i < COPIES; i++)
        rc = time_copy(w, memory, half, &gbs[i], err);
    w->cu->MemFree(memory);
    if (rc < 0)
        return -1;
    qsort(gbs, COPIES, sizeof(*gbs), by_value);
    w->copy_gbs = gbs[COPIES / 2];
    return 0;
}
