/*
 * The cursor in a launch line: which kernel, and which of its arguments.
 */
#ifndef WB_CELLS_COMPLETE_LAUNCH_H
#define WB_CELLS_COMPLETE_LAUNCH_H

#include "cells/cuda.h"
#include "model/base/buf.h"

struct launch_cursor {
    const char *kernel; /* "k<float,32>", in the arena */
    bool in_arguments;  /* else inside <<< >>> */
    size_t argument;    /* 0 for the first */
};

/* False when the cursor stands in no launch. Works on any bytes. */
bool complete_launch_find(struct bytes code, size_t cursor, struct arena *arena,
                          struct launch_cursor *out);

/*
 * The parameters of a kernel as its head spells them, their types followed as far as that needs
 * no compiler. False when there is no such kernel. The list is in the arena.
 */
bool complete_launch_parameters(struct session *session, const char *kernel, struct arena *arena,
                                const struct cuda_parameter **list, size_t *count);

/* May a buffer of this type be passed for the parameter? */
bool complete_launch_takes(const struct cuda_parameter *parameter, const struct element_type *type);

/*
 * The i-th kernel that a name may mean: the name itself where it has one, "k(float *, int)" of
 * overloads; NULL behind the last, or when there is no such kernel. In the arena.
 */
const char *complete_launch_overload(struct session *session, const char *kernel, size_t i,
                                     struct arena *arena);

/*
 * The page of a kernel, or those of all overloads of a name: signature, the parameter under the
 * cursor (current; SIZE_MAX: none), what it takes on the session's device, where it is defined.
 * False when there is no such kernel.
 */
bool complete_launch_page(struct session *session, const char *kernel, size_t current,
                          struct arena *arena, struct buf *out);

/* "saxpy<<<1, 256>>>(n, a, x, y);" to start from, in the arena; NULL: no such kernel. */
const char *complete_launch_skeleton(struct session *session, const char *kernel,
                                     struct arena *arena);

#endif
