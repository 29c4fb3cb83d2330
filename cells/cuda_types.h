/*
 * What a parameter's type is in the end: through typedefs, macros and template arguments.
 */
#ifndef WB_CELLS_CUDA_TYPES_H
#define WB_CELLS_CUDA_TYPES_H

#include "cells/cuda_state.h"

/*
 * Fills kind, lanes, size and pointee of a parameter whose type is no built-in one, as far as the
 * session knows it; else it stays SCALAR_STRUCT.
 *
 * name  the kernel as asked for, with the arguments of its template: "k<float,32>"
 *
 * Fails with ResourceError.
 */
int cuda_resolve_type(struct session *session, const struct kernel_found *kernel, const char *name,
                      struct arena *arena, struct cuda_parameter *parameter,
                      struct err *err) MUST_CHECK;

#endif
