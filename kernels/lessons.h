/*
 * Lesson experiments: a .cu file each, and here the rows that say how its rungs
 * are launched, what they must compute and what they teach.
 */
#ifndef WB_KERNELS_LESSONS_H
#define WB_KERNELS_LESSONS_H

#include "model/base/base.h"

#include <stdbool.h>

/*
 * Every rung has the signature  extern "C" __global__ void k(const float *x, float *y, int n)
 * and writes y[0..n-1]; x is uniform random in [0, 1).
 */
struct lesson_rung {
    const char *name;    /* "long, odd/even lanes" */
    const char *kernel;  /* its name in the .cu */
    const char *twin;    /* kernel with the same work and whole warps on one path; NULL: is one */
    const char *teaches; /* one sentence */
    bool is_same_values; /* y holds the twin's values in another order (checked as multisets) */
    double tolerance;    /* largest |got - want|; 0: equal to the bit */

    /* y[i] for i in first .. first+count-1, computed on the CPU. */
    void (*reference)(const float *x, float *y, int64_t first, int64_t count);
};

struct lesson {
    const char *name;     /* "divergence": the file is kernels/divergence.cu */
    const char *question; /* one line for the list of %run */
    const struct lesson_rung *rungs;
    size_t rung_count;
    struct bytes (*source)(void); /* the embedded .cu */
};

extern const struct lesson LESSONS[];
extern const size_t LESSON_COUNT;
const struct lesson *lesson_find(const char *name); /* NULL: unknown */

/* The 1-based line of the source on which a kernel's definition starts; 0: not there. */
int lesson_line(const struct lesson *lesson, const char *kernel);

#endif
