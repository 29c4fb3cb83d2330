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

/*
 * The name of a template kernel with its arguments as C++ deduces them: "scale<float>" for "scale"
 * that is launched over a buffer of floats. An argument to a pointer decides before one to a value.
 *
 * type_of  the C++ type of argument i, of a pointer's elements; NULL: it has none
 *
 * NULL when the name is no template's, has its arguments already, or they do not follow from the
 * launch (a number without a default); the text is the arena's.
 */
typedef const char *cuda_argument_type(void *arg, size_t i, bool is_pointer);
const char *cuda_deduce_template(const struct cuda *cuda, const char *name,
                                 cuda_argument_type *type_of, void *arg, size_t argument_count,
                                 struct arena *arena);

#endif
