/*
 * CUDA C of a session. What a cell defines (kernels, device functions, structs,
 * templates, constants, macros, device variables) stays by name: a later
 * definition of the name replaces it, and a cell is compiled together with just
 * those earlier definitions that it uses.
 */
#ifndef WB_CELLS_CUDA_H
#define WB_CELLS_CUDA_H

#include "cells/buffer.h"
#include "cells/session.h"
#include "cells/sink.h"
#include "model/base/arena.h"
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

/* How the definitions of one cell are compiled: what %%kernel takes. Texts are borrowed. */
struct cuda_options {
    const char *compiler; /* options of NVRTC, one a line; "" */
    const char *arch;     /* "sm_90a"; "": the device's */
    bool is_debug;        /* -G: launches run the code as written */
    bool is_clean;        /* nothing of other cells is seen */
};

/*
 * From now on cells are compiled with these options, which are remembered with what they define
 * (copied); NULL: without. Returns what was set before.
 */
const struct cuda_options *cuda_set_options(struct cuda *cuda, const struct cuda_options *options);

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

/*
 * The same of a kernel that may take maxreg registers a thread at most (nvcc -maxrregcount), in
 * place of what its cell says; the assembler spills what does not fit. 0: as the cell says.
 */
int cuda_kernel_capped(struct session *session, const char *name, const struct device *device,
                       int maxreg, struct cuda_kernel *out, struct err *err) MUST_CHECK;

/* ---- what a launch needs ---- */

/* One parameter of a kernel. What is said of the value is said of the pointee for a pointer. */
struct cuda_parameter {
    const char *type, *name; /* "const float *", "x": as written; name "" when it has none */
    bool is_pointer;
    const char *pointee; /* without const: "float", "void"; "" for no pointer */
    size_t bytes, align; /* 0: not known (void, a type that is only declared) */
    enum scalar_kind kind;
    int lanes;
    const char *base; /* the type without const and *, as written: "T", "real" */
    int levels;       /* of pointers: 2 for float ** */
};

/* A __device__ or __constant__ variable of the session that a kernel's code refers to. */
struct cuda_symbol {
    const char *name, *linked; /* "F"; "_ZN1m1FE" */
    bool is_constant;
    size_t bytes;
};

struct cuda_image {
    const char *kernel;           /* as asked for: "k<float,32>" */
    const char *symbol;           /* as linked */
    const char *signature;        /* one line: "__global__ void k(int n, float *x)" */
    struct bytes ptx, cubin;      /* what was asked for; else empty */
    struct cuda_kernel resources; /* for the device; registers 0 below compute capability 7.5 */
    const struct cuda_parameter *parameters;
    size_t parameter_count;
    const struct cuda_symbol *symbols;
    size_t symbol_count;
    bool uses_heap; /* it, or what is compiled with it, calls malloc on the device */
    uint64_t id;    /* of the content: equal ids are equal images */
};

enum cuda_need {
    IMAGE_PTX = 1,       /* optimized, with source lines, for the interpreter */
    IMAGE_PTX_DEBUG = 2, /* in its place: the code as written (-G) */
    IMAGE_CUBIN = 4,     /* machine code for the device */
};

/*
 * Everything that a launch of a kernel needs, compiled when it was not yet: kept by content, so
 * that asking again costs no compilation.
 *
 * name   "saxpy", "ns::k", or a template with its arguments: "k<float,32>"
 * needs  IMAGE_PTX or IMAGE_PTX_DEBUG, IMAGE_CUBIN, or both sorts
 *
 * Texts and lists of *out are in the arena; ptx and cubin are borrowed from the session until
 * IMAGE_SLOTS further compilations. Fails with NameError (no such kernel, or its newest definition
 * did not compile), CompileError, UsageError (a template without its arguments), or ValueError for
 * IMAGE_CUBIN below compute capability 7.5.
 */
int cuda_kernel_image(struct session *session, const char *name, const struct device *device,
                      int needs, struct arena *arena, struct cuda_image *out,
                      struct err *err) MUST_CHECK;

/* A line of In[cell] as it was run, without its newline; false when it is not known any more. */
bool cuda_source_line(struct session *session, int cell, int line, struct bytes *out);

/* ---- names ---- */

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
