/*
 * A kernel's parameters as its head spells them, and their sizes as its PTX has them.
 */
#ifndef WB_CELLS_CUDA_PARAMETERS_H
#define WB_CELLS_CUDA_PARAMETERS_H

#include "cells/cuda.h"

/*
 * Reads the parameters of a head such as "__global__ void k(int n, const float *x)". Types that
 * are built in get kind, lanes and size; any other is SCALAR_STRUCT with size 0, and
 * *all_known becomes false. The list is in the arena. Fails with ResourceError.
 */
int cuda_read_parameters(struct arena *arena, const char *head, struct cuda_parameter **list,
                         size_t *count, bool *all_known, struct err *err) MUST_CHECK;

/* One line of PTX: `.param .align 8 .b8 name[24]`. */
struct ptx_parameter {
    size_t bytes, align;
};

/*
 * The parameters of an entry: fills at most capacity and returns how many there are, or -1 when
 * the PTX has no such entry.
 */
int cuda_ptx_parameters(struct bytes ptx, const char *symbol, struct ptx_parameter *out,
                        size_t capacity);

/* Calls each(arg, symbol) for every entry of a PTX text. */
void cuda_each_entry(struct bytes ptx, void (*each)(void *arg, struct bytes symbol), void *arg);

/* A variable of a PTX text's top level. */
struct ptx_variable {
    struct bytes linked;
    bool is_constant; /* .const, else .global */
    size_t bytes;
};
/* The next one from *at, which starts as ptx.data; false at the end. */
bool cuda_next_variable(struct bytes ptx, const char **at, struct ptx_variable *out);

#endif
