/*
 * Host code in a cell: a kernel is often pasted with the functions that call it.
 */
#ifndef WB_CELLS_CUDA_HOST_H
#define WB_CELLS_CUDA_HOST_H

#include "cells/cuda_state.h"

/*
 * Makes ITEM_HOST of what is for the host alone: functions and variables without __device__ and its
 * like (macros of the session that hold one count), types that hold what only hosts have. A
 * function marked by such a macro becomes what the macro says.
 *
 * Fails with CompileError for a function that reads threadIdx and the like but is not marked: its
 * author forgot __global__.
 */
int cuda_mark_host(const struct cuda *cuda, struct cuda_items *fresh, struct err *err) MUST_CHECK;

/*
 * After a compilation failed: what no device code of the segment uses (types, constants) and the
 * compiler blames for a name that it does not know was written for the host, and becomes ITEM_HOST
 * in both lists (fresh is the end of merged). So does a kernel that launches kernels, where the
 * segment has others. Returns how many did; 0: the error stands. -1 when out of memory.
 */
int cuda_give_up_host(struct cuda_items *merged, struct cuda_items *fresh, const char *log,
                      struct err *err) MUST_CHECK;

/*
 * The same for a header of the user that is in no folder: most hold the host's helpers. Returns how
 * many includes of it were left out of both lists.
 */
int cuda_leave_out_missing(struct cuda_items *merged, struct cuda_items *fresh, const char *log);

/* Adds to a compiler's error that the cell includes a header that was not found. */
void cuda_hint_at_missing(const struct cuda_items *items, int cell, struct err *err);

/* Is this a kernel that was left out, as it launches kernels itself? */
bool cuda_is_lost_kernel(const struct cuda_item *item);

/* One or two lines that say what was left out, and the launch that it held. */
void cuda_print_host(const struct cuda_items *fresh, int cell, struct sink *sink);

/* Adds to a compiler's error that a name is defined for the host: "sq() is host code". */
void cuda_hint_at_host(const struct cuda_items *items, struct err *err);

#endif
