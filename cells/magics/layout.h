/*
 * What the files of %layout share: one launch cut into warps with what was asked
 * about it, and its two readers: one launch, or a sweep.
 */
#ifndef WB_CELLS_MAGICS_LAYOUT_H
#define WB_CELLS_MAGICS_LAYOUT_H

#include "cells/sweep.h"
#include "cells/threads.h"
#include "model/layout.h"

enum layout_question {
    LAYOUT_CUT,    /* how the block is cut */
    LAYOUT_WARP,   /* warp=: which threads it holds */
    LAYOUT_THREAD, /* thread=, warp= lane= or i=: where a thread is */
};

struct layout_point {
    struct layout layout;
    bool has_n, is_linear; /* a boundary test; its n is a number: i < n */
    struct extent n;
    struct layout_bounds bounds;
    enum layout_question question;
    struct extent at, block_at; /* threadIdx and blockIdx of a THREAD */
    int tid, warp, lane;        /* number in the block; of a WARP only warp */
    int64_t i;                  /* number in the grid */
};

/* "(8,8,2)", "256": the block as it is best written, and a thread of it. */
const char *layout_block_text(struct result *result, const struct layout_point *p);
const char *layout_thread_text(struct result *result, const struct layout_point *p, int tid);

/* "78.1 %", "12,288", and "i < 1,000" or "x < 40 && y < 33"; the result's arena. */
const char *layout_percent(struct result *result, double fraction);
const char *layout_count(struct result *result, int64_t v);
const char *layout_test_text(struct result *result, const struct layout_point *p);

/* Warps that disagree at the boundary test, of all. */
double layout_split_share(const struct layout_point *p);

/* Fields, view and figure of one launch, and of all points of a sweep. */
int layout_show_one(struct result *result, const struct call *call, const struct layout_point *p,
                    struct err *err) MUST_CHECK;
int layout_show_sweep(struct result *result, const struct sweep *sweep,
                      const struct layout_point *points, struct err *err) MUST_CHECK;

/* The block in its own shape and the lanes of its warps. */
void layout_add_figure(struct result *result, const struct layout_point *p);

#endif
