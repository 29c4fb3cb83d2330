/*
 * The layout of structs that cells define: where each member lies, by the rules of
 * the C++ ABI that nvcc and NVRTC follow on 64-bit hosts.
 */
#ifndef WB_CELLS_BUFFER_STRUCT_H
#define WB_CELLS_BUFFER_STRUCT_H

#include "cells/buffer.h"
#include "model/base/arena.h"

struct struct_member {
    const char *name;
    struct element_type type;
    size_t offset;                  /* bytes from the start of the struct */
    int64_t shape[BUFFER_RANK_MAX]; /* of an array member */
    int rank;                       /* 0: no array */
    int64_t count;                  /* elements of the array, or 1 */
    bool is_pointer;                /* type is ulong: an address */
};

struct struct_layout {
    const struct struct_member *members;
    size_t count;
    size_t bytes, align;
};

/* The member of a name, or NULL. */
const struct struct_member *struct_member_find(const struct struct_layout *layout,
                                               const char *name);

/*
 * The struct of this name that a cell defined. Returns 0, or -1: without an error when there is
 * no such struct, with UnsupportedError when its layout cannot be told (the member is named).
 * *out lives in the arena of the running cell.
 */
int struct_type_find(struct session *session, const char *name, struct element_type *out,
                     struct err *err) MUST_CHECK;

/* A deep copy in another arena. Fails with ResourceError. */
int element_type_copy(struct arena *arena, const struct element_type *from, struct element_type *to,
                      struct err *err) MUST_CHECK;

/* A number or vector by its name alone. name must live as long as *out. */
bool element_type_builtin(const char *name, struct element_type *out);

/* Names of the plain types, for completion; returns how many were given. */
size_t element_type_names(const char **names, size_t most);

#endif
