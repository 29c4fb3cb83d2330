/*
 * The inside of a session's CUDA C, for the files that know it (cells/cuda*.c).
 */
#ifndef WB_CELLS_CUDA_STATE_H
#define WB_CELLS_CUDA_STATE_H

#include "cells/cuda_source.h"
#include "cells/images.h"

enum { CUDA_MAX_FAILED = 256, CUDA_MAX_SOURCES = 4096 };

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
};

/*
 * The item that defines a kernel (blocks of #if and extern "C" may); NULL with NameError: none, the
 * nearest named, or its newest definition did not compile.
 */
const struct cuda_item *cuda_find_kernel(const struct cuda *cuda, const char *name,
                                         struct err *err);

/* The text in which the items [first, first + count) are compiled. Fails with ResourceError. */
int cuda_compose_from(const struct cuda_items *items, size_t first, size_t count, struct buf *out,
                      struct err *err) MUST_CHECK;

/* Keeps a segment's text for cuda_source_line. Out of memory: it is not kept. */
void cuda_keep_source(struct cuda *cuda, int cell, int first_line, struct bytes text);

#endif
