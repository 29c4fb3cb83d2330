/*
 * Lesson experiments: a .cu file each, and here the rows that say how its rungs
 * are launched, what they must compute and what they teach.
 */
#ifndef WB_KERNELS_LESSONS_H
#define WB_KERNELS_LESSONS_H

#include "model/base/base.h"
#include "model/base/err.h"

#include <stdatomic.h>
#include <stdbool.h>

/*
 * Every rung has the signature  extern "C" __global__ void k(const float *x, float *y, int n)
 * and writes y[0..n-1], one thread an element; x is uniform random in [0, 1).
 */
struct lesson_rung {
    const char *name;    /* "long, odd/even lanes" */
    const char *kernel;  /* its name in the .cu */
    const char *twin;    /* kernel with the same work and whole warps on one path; NULL: is one */
    const char *teaches; /* one sentence */
    bool is_loop;        /* its branch is a loop's */
    bool is_select;      /* its branch is so short that compilers make a select of it */
    double expected;     /* time over its twin's once the paths outweigh everything else; 1: twin */
    double tolerance;    /* largest |got - want|; 0: equal to the bit */
    bool is_same_values; /* y holds its twin's values in another order when n is a multiple of 64 */

    /* y[k] for the element first + k, k < count, as the host computes it; x likewise. */
    void (*reference)(const float *x, float *y, int64_t first, int64_t count, int block);
};

enum { LESSON_MAX_RUNGS = 16 };

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
const struct lesson_rung *lesson_rung(const struct lesson *, const char *kernel); /* the same */

/* Device code that is no lesson: kernels/clock.cu, which measures the SM's clock. */
struct bytes lesson_clock_source(void);

/* kernels/timeline.cu, which says where and when blocks run, and what it writes for each. */
struct bytes lesson_timeline_source(void);
struct timeline_stay {
    uint64_t start_ns, end_ns;
    int64_t start, end;
    uint32_t sm, strangers;
};

/*
 * Lines of the source, 1-based: where a kernel's definition starts, the first line behind its
 * bounds test, and its last line. False when the source has no such kernel.
 */
struct lesson_lines {
    int first, body, last;
};
bool lesson_lines_of(const struct lesson *lesson, const char *kernel, struct lesson_lines *out);

/* The source lines `first`..`last` as they stand (for %source); empty when out of range. */
struct bytes lesson_text(const struct lesson *lesson, int first, int last);

/* x[k] for element first + k, k < count: uniform in [0, 1) by seed, the same on every machine. */
void lesson_fill(float *x, int64_t first, int64_t count, uint64_t seed);

/* What y holds where no thread has written yet: a NaN that no rung computes. */
void lesson_poison(float *y, int64_t n);
bool lesson_is_poison(uint32_t bits);

struct lesson_verdict {
    bool is_correct; /* every element that had to be written is, and is right; NaN is wrong */
    int64_t checked; /* elements that were written */
    int64_t wrong;   /* how many are wrong */
    int64_t first;   /* the first wrong one, -1: none */
    float got, want; /* there */
};

/*
 * Compares y with the reference. is_sampled: elements that hold the poison were not run and do
 * not count. Fails with Interrupted or ResourceError.
 */
int lesson_check(const struct lesson_rung *rung, const float *x, const float *y, int64_t n,
                 int block, bool is_sampled, const atomic_bool *stop, struct lesson_verdict *out,
                 struct err *err) MUST_CHECK;

/*
 * True when a and b hold the same values (by their bits), in any order. Compares the sums of a
 * 64-bit mix of each value, so that it takes one pass; a false yes is as likely as a lost bit.
 */
bool lesson_same_values(const float *a, const float *b, int64_t n);

#endif
