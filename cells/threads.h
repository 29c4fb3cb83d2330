/*
 * Threads as keys of a magic name them: sizes and places, and expressions whose
 * value differs from thread to thread, such as if={lane < 24}.
 */
#ifndef WB_CELLS_THREADS_H
#define WB_CELLS_THREADS_H

#include "cells/magic.h"
#include "model/layout.h"

/* (8,8,2), or a number, which is x. What was not written is `missing`: 1 of a size, 0 of a place.
 */
struct extent extent_of_value(const struct value *v, int64_t missing);

/* "(8,8,2)"; with fewer dimensions "(8,8)" and "8". The result's arena. */
const char *extent_text(struct result *result, struct extent e, int rank);

/* 1, 2 or 3: dimensions up to the last one above 1. */
int extent_rank_of(struct extent size);

/* [x, y, z]: a new array, or NULL. */
json_t *extent_json(struct extent e);

/*
 * Cuts the launch of a call into warps. Fails with ValueError: at block= with the nearest block
 * that fits, or at grid_key when the grid has too many threads.
 */
int call_layout(const struct call *call, struct extent block, struct extent grid,
                const char *grid_key, struct layout *out, struct err *err) MUST_CHECK;

/* One thread of a launch, as an expression sees it. */
struct thread {
    struct extent block, grid;  /* sizes */
    struct extent at, block_at; /* threadIdx, blockIdx */
    int tid;                    /* number in the block */
    int64_t i;                  /* number in the grid */
};

/* The thread with this number in a block of the launch. */
struct thread thread_of(const struct layout *layout, struct extent block_at, int tid);

/*
 * The expression of a PARAM_EXPR, parsed once. Besides the session's variables it may name, of each
 * thread: lane warp tid i x y z tx ty tz threadIdx blockIdx blockDim gridDim, and one more name of
 * the magic's own (extra, or NULL). Lives in the call's arena.
 */
struct thread_expr;

/* item: which of the key's values. Fails with SyntaxError at the place of the expression. */
int thread_expr_open(const struct call *call, const char *key, size_t item, const char *extra,
                     struct thread_expr **out, struct err *err) MUST_CHECK;

/* An integer (a bool is 0 or 1). Fails with NameError, UsageError or ValueError, caret set. */
int thread_expr_eval(struct thread_expr *e, const struct thread *thread, int64_t extra,
                     int64_t *out, struct err *err) MUST_CHECK;

/* The same for a condition: any number, true when it is not 0. */
int thread_expr_truth(struct thread_expr *e, const struct thread *thread, bool *out,
                      struct err *err) MUST_CHECK;

/* Fails with ValueError under the expression: "trips=-1 of thread 3: ...". Returns -1. */
int thread_expr_fail(const struct thread_expr *e, struct err *err, const char *fmt, ...)
    PRINTF_LIKE(3, 4);

/* The whole expression as written. */
const char *thread_expr_text(const struct thread_expr *e);

#endif
