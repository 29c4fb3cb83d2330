/*
 * A launch ready to run: what was written, evaluated and checked against the kernel's
 * signature and the device's limits. Nothing has run yet; what no GPU would start is
 * refused here, with the number and the limit.
 */
#ifndef WB_CELLS_LAUNCH_PLAN_H
#define WB_CELLS_LAUNCH_PLAN_H

#include "cells/buffer.h"
#include "cells/cuda.h"
#include "cells/expr.h"
#include "cells/launch_line.h"
#include "cells/sweep.h"
#include "model/base/buf.h"
#include "model/occupancy.h"
#include "model/ptx/ptx.h"

/* A parameter's value in the bytes that the kernel reads. */
struct launch_value {
    bool is_pointer;
    uint64_t address; /* of a pointer: virtual, 0 for null */
    void *bytes;      /* of everything else */
    size_t size, align;
    struct launch_place_of_pointer { /* of a struct's members that are pointers */
        size_t offset;
        uint64_t address;
    } pointers[16];
    size_t pointer_count;
    const char *text; /* "1000", "x + 16" */
};

/* Does an argument, or a pointer in one, lie in the buffer or at its end? */
bool launch_value_is_in(const struct launch_value *value, const struct buffer *buffer);

struct launch_plan {
    struct session_device device;
    struct cuda_image image;             /* its code is filled in when it runs */
    const char *kernel;                  /* "k<float,32>" */
    const char *asked;                   /* the same; "k(float *)" of several kernels named k */
    struct ptx_dim grid, block, cluster; /* cluster.x 0: none */
    int64_t dynamic_bytes;
    const struct launch_value *values; /* one a parameter */
    size_t value_count;
    bool is_debug;       /* build=debug */
    bool is_stack;       /* its=off */
    bool is_cooperative; /* cooperative=yes */
    int checks;          /* PTX_CHECK_ flags, or LAUNCH_NO_CHECKS */
    int64_t sample_blocks;
    double timeout_s; /* 0: not given */
    struct occupancy occupancy;
    int64_t blocks, threads; /* of the grid; of a block */
    const char *text;        /* "saxpy<<<4, 256>>>(1000, 2, x, y)" */
};

/* Keys that every magic which launches shares, as rows of its table; build: the default build. */
#define LAUNCH_KEYS(build_preset)                                                                  \
    { .name = "what",                                                                              \
      .type = PARAM_REST,                                                                          \
      .flags = PARAM_POSITIONAL | PARAM_REQUIRED,                                                  \
      .help = "kernel<<<grid, block, dynamic>>>(arguments), or the kernel's name" },               \
        { .name = "grid", .type = PARAM_DIM, .flags = PARAM_SWEEP, .help = "blocks: 4 or (4,4)" }, \
        { .name = "block",                                                                         \
          .type = PARAM_DIM,                                                                       \
          .flags = PARAM_SWEEP,                                                                    \
          .help = "threads of a block: 256 or (16,16)" },                                          \
        { .name = "dynamic",                                                                       \
          .type = PARAM_INT,                                                                       \
          .flags = PARAM_SWEEP,                                                                    \
          .min = 0,                                                                                \
          .max = 1 << 30,                                                                          \
          .help = "bytes of dynamic shared memory" },                                              \
        { .name = "args", .type = PARAM_TUPLE, .help = "the arguments: (n, 2.0, x, y)" },          \
        { .name = "build",                                                                         \
          .type = PARAM_CHOICE,                                                                    \
          .flags = PARAM_SWEEP,                                                                    \
          .preset = build_preset,                                                                  \
          .choices = "opt debug",                                                                  \
          .help = "opt: what a GPU runs; debug: the code as written" },                            \
        { .name = "device",                                                                        \
          .type = PARAM_DEVICE,                                                                    \
          .flags = PARAM_SWEEP,                                                                    \
          .help = "gpu, model or a name; else the session's" },                                    \
        { .name = "cluster", .type = PARAM_DIM, .help = "blocks of a cluster: 2 or (2,1,1)" },     \
        { .name = "cooperative",                                                                   \
          .type = PARAM_BOOL,                                                                      \
          .preset = "no",                                                                          \
          .help = "all blocks at once, so that the grid can wait for itself" },                    \
    {                                                                                              \
        .name = "timeout", .type = PARAM_FLOAT, .min = 0.001, .max = 1e6, .unit = NUMBER_TIME,     \
        .per_unit = 1, .help = "seconds that the launch may take in all"                           \
    }

/*
 * The plan of one point of a sweep (or of the only one). line and sweep are borrowed; everything
 * in *out is the call's arena's. In <<< >>> and the arguments, keys that were given are names:
 * k<<<(n + block - 1) / block, block>>>(n) block=[64,128].
 *
 * Fails with NameError (no such kernel), UsageError and ValueError (an argument that does not fit
 * the signature, a grid that is no number), LaunchError (what no launch on the device can have),
 * CompileError; the caret is under the part that is wrong.
 */
int launch_plan_make(struct call *call, const struct launch_line *line, const struct sweep *sweep,
                     size_t point, struct launch_plan *out, struct err *err) MUST_CHECK;

/* ---- launch_dim.c: dimensions as C writes them ---- */

/*
 * The value of a text that may be dim3(x, y, z): a dimension, or whatever else the expression is.
 * Fails with UsageError, ValueError or what the expression fails with; the caret is set.
 */
int launch_dim_read(struct call *call, struct source where, const struct local *locals,
                    size_t local_count, struct value *out, struct err *err) MUST_CHECK;

/* dim3 block(16, 16), grid(n / 16); sets session variables. */
int launch_dim_declare(struct call *call, struct source statement, struct err *err) MUST_CHECK;

/* int n = 1 << 20, m = n / 2; the same for numbers, converted as C does. */
int launch_scalar_declare(struct call *call, struct source statement, struct err *err) MUST_CHECK;

/*
 * A call of the runtime API between launches: synchronizing is what every launch does here, so it
 * passes; memory has magics of its own, and the UsageError names them.
 */
int launch_host_call(struct source statement, struct err *err) MUST_CHECK;

/* ---- launch_argument.c ---- */

/*
 * One argument as the bytes of its parameter. where: its text and place. Fails with UsageError,
 * ValueError or what the expression fails with; the signature is the hint.
 */
int launch_argument_read(struct call *call, const struct cuda_image *image, size_t index,
                         struct source where, const struct local *locals, size_t local_count,
                         struct launch_value *out, struct err *err) MUST_CHECK;

/* ---- launch_limits.c ---- */

/*
 * Checks a plan's shape against its device: dimensions, threads, shared bytes, registers, cluster,
 * cooperative grids; fills occupancy, blocks and threads. Fails with LaunchError.
 */
int launch_limits_check(struct launch_plan *plan, struct err *err) MUST_CHECK;

/* "256", "16x16": a dimension as a table shows it; "256" and "dim3(16, 16)": as CUDA C does. */
void launch_put_dim(struct buf *out, const struct ptx_dim *dim, bool is_code);

#endif
