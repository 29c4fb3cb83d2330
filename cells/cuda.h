/*
 * CUDA C of a session. What a cell defines (kernels, device functions, structs,
 * templates, constants, macros, device variables) stays by name: a later
 * definition of the name replaces it, and a cell is compiled together with just
 * those earlier definitions that it uses.
 */
#ifndef WB_CELLS_CUDA_H
#define WB_CELLS_CUDA_H

#include "cells/session.h"
#include "cells/sink.h"
#include "model/base/base.h"
#include "model/base/err.h"
#include "model/device.h"

#include <stdbool.h>

struct cuda;

struct cuda *cuda_new(void); /* NULL: out of memory */
void cuda_free(struct cuda **cuda);

/* Forgets every definition (%reset code). */
void cuda_reset(struct cuda *cuda);

/*
 * Compiles a CUDA C segment of the running cell for the session's device, remembers what it
 * defines and shows the resource table of its kernels (a result that sets `_`).
 *
 * source      the segment; blank or comments only: nothing happens
 * first_line  line of the cell at which it starts, 1-based
 *
 * Fails with CompileError: place, line and column in the cell, the compiler's log as detail.
 */
int cuda_run_segment(struct session *session, struct bytes source, int first_line,
                     struct sink *sink, struct err *err) MUST_CHECK;

/* What a compiled kernel takes; from the machine code and the assembler's report. */
struct cuda_kernel {
    char name[128];   /* as written: "saxpy" */
    char symbol[256]; /* as linked: "_Z5saxpyifPKfPf" */
    int registers;    /* per thread */
    int static_bytes; /* shared memory, declared */
    int stack_bytes;  /* local memory per thread */
    int spill_store_bytes, spill_load_bytes;
};

/*
 * The resources of kernel `name` on a device (borrowed), compiled for it when that was not done
 * yet. Fails with NameError (no such kernel, the nearest one named; or its last definition did not
 * compile), CompileError, or ValueError below compute capability 7.5, where the compiler of CUDA
 * 13 cannot say: the text asks for regs=.
 */
int cuda_kernel_resources(struct session *session, const char *name, const struct device *device,
                          struct cuda_kernel *out, struct err *err) MUST_CHECK;

enum cuda_name_kind {
    CUDA_KERNEL,
    CUDA_FUNCTION,
    CUDA_TYPE,
    CUDA_VARIABLE, /* __device__, __constant__, __managed__ */
    CUDA_CONSTANT, /* constexpr, const */
    CUDA_MACRO,
};

/* For completion and inspection: every name that is defined now, in order of definition. */
struct cuda_name {
    const char *name;
    enum cuda_name_kind kind;
    const char *head; /* "__global__ void saxpy(int n, float a, ...)"; one line */
    int cell;         /* the n of In[n] */
};
size_t cuda_name_count(const struct cuda *cuda);
struct cuda_name cuda_name_at(const struct cuda *cuda, size_t i); /* borrowed until the next cell */

/*
 * The definition of a name as it stands in its cell: its text, the n of In[n] and its first line
 * there. False when nothing has the name. Borrowed until the next cell.
 */
bool cuda_definition(const struct cuda *cuda, const char *name, struct bytes *text, int *cell,
                     int *line);

/*
 * The text after `#define NAME` or after the `=` of a constexpr or const: for expressions
 * such as block=TILE. False when there is no such constant, or it is no single expression.
 */
bool cuda_constant_text(const struct cuda *cuda, const char *name, struct bytes *text);

#endif
