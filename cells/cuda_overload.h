/*
 * Kernels of one name that differ in their parameters. One of them is asked for by its types:
 * "k(float *, int)".
 */
#ifndef WB_CELLS_CUDA_OVERLOAD_H
#define WB_CELLS_CUDA_OVERLOAD_H

#include "cells/cuda_types.h"

/*
 * The kernels of a name in the scope of its newest, in order of definition: fills at most capacity
 * of out and returns how many there are. Specializations of a template are none of them.
 */
size_t cuda_overloads(const struct cuda *cuda, const char *name, struct kernel_found *out,
                      size_t capacity);

/* "k(float *, int)" of a kernel whose head is given; NULL: out of memory. The text is the arena's.
 */
const char *cuda_overload_name(struct arena *arena, const char *name, const char *head);

/*
 * A constant expression that C++ takes for this one of several: "(void (*)(float *))m::k", from
 * "k(float *)" in the scope "m::"; NULL: out of memory. The text is the arena's.
 */
const char *cuda_overload_expression(struct arena *arena, const char *scope, const char *name);

/* Is this the overload that the name "k(float *)" asks for? A name without types asks for any. */
bool cuda_is_overload(const char *name, const char *head);

/*
 * The overload that fits the arguments of a launch best, as C++ would choose; *out stays NULL when
 * the name has one kernel alone. Fails with UsageError that lists them: none fits, or two do
 * equally well.
 */
int cuda_pick_overload(struct session *session, const char *name, cuda_argument_type *type_of,
                       void *arg, size_t argument_count, struct arena *arena, const char **out,
                       struct err *err) MUST_CHECK;

/* UsageError: several kernels have this name, and nothing says which. Lists them. */
int cuda_refuse_overloaded(const struct cuda *cuda, const char *name, struct err *err) MUST_CHECK;

#endif
