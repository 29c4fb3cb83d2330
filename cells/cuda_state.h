/*
 * The inside of a session's CUDA C, for the files that know it (cells/cuda*.c).
 */
#ifndef WB_CELLS_CUDA_STATE_H
#define WB_CELLS_CUDA_STATE_H

#include "cells/cuda_source.h"
#include "cells/images.h"

enum { CUDA_MAX_FAILED = 1024, CUDA_MAX_SOURCES = 4096 };

/* Bytes of all sources that are kept for excerpts; the oldest go first. */
#define CUDA_SOURCES_LIMIT ((size_t)8 << 20)

/* A name whose newest definition did not compile. */
struct failed_name {
    char *name;
    int cell;
};

/* A stretch of CUDA C as it was run: for the excerpts of faults. */
struct cell_source {
    int cell, first_line;
    char *text;
    size_t size;
};

struct cuda {
    struct cuda_items items;
    struct failed_name failed[CUDA_MAX_FAILED];
    size_t failed_count;
    struct images images;
    struct cell_source sources[CUDA_MAX_SOURCES]; /* in order of their cells */
    size_t source_count, source_bytes;
    int segments;                       /* run so far: items of one were compiled together */
    const struct cuda_options *options; /* of the %%kernel that runs, or NULL */
};

/* A kernel's name and the item that defines it. */
struct kernel_found {
    const struct cuda_item *item;
    const struct item_name *name;
    const char *head;
};

/*
 * Finds the kernel of a name, "k", "ns::k" or "k<float>" (blocks of #if may define it). Fails with
 * NameError: none, the nearest named, or its newest definition did not compile.
 */
int cuda_find_kernel(const struct cuda *cuda, const char *name, struct kernel_found *out,
                     struct err *err) MUST_CHECK;

/* Appends the plain name inside "ns::k<float,32>" to out. */
void cuda_base_name(const char *name, struct buf *out);

/* What is compiled together. */
enum compile_with {
    WITH_SEGMENT, /* everything that was run together with it */
    ALONE,
};

/*
 * The text in which an item is compiled, with all that it uses, and what the names in `also` need
 * ("k<particle>"; NULL: nothing). Fails with ResourceError.
 */
int cuda_compose_item(const struct cuda_items *items, const struct cuda_item *item,
                      enum compile_with with, const char *also, struct buf *out,
                      struct err *err) MUST_CHECK;

/*
 * Which items the device code of a segment (kernels, functions, variables) uses, itself included:
 * is_needed has one entry an item. Fails with ResourceError.
 */
int cuda_find_needed(const struct cuda_items *items, int segment, bool *is_needed,
                     struct err *err) MUST_CHECK;

/* Where code is compiled for. */
struct cuda_target {
    char machine[24]; /* "sm_89"; "" below compute capability 7.5 */
    char ptx[24]; /* what the interpreter runs: "compute_80"; the machine's when it gives both */
};
void cuda_target_of(const struct device *device, const struct cuda_options *options,
                    struct bytes source, struct cuda_target *out);

/* What the code as written (-G) is compiled for: no machine code of it is wanted. Returns out. */
const char *cuda_written_arch(const struct cuda_target *target, char *out, size_t capacity);

/* Keeps a segment's text for cuda_source_line. Out of memory: it is not kept. */
void cuda_keep_source(struct cuda *cuda, int cell, int first_line, struct bytes text);
void cuda_drop_sources(struct cuda *cuda);

/* Adds to a compiler's error what only the session knows: macros of other cells, host code. */
void cuda_explain(const struct cuda_items *items, struct bytes composed, int cell,
                  struct bytes source, int first_line, struct err *err);

#endif
