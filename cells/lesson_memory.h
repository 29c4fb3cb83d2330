/*
 * Memory that lessons and experiments share with the children: a sealed memfd, mapped here. A
 * worker gets it by its descriptor.
 */
#ifndef WB_CELLS_LESSON_MEMORY_H
#define WB_CELLS_LESSON_MEMORY_H

#include "model/base/base.h"
#include "model/base/err.h"

/* Offsets in it are multiples of the largest page of any Linux this runs on. */
enum { LESSON_PAGE = 1 << 16 };

/* Virtual; any address that looks like a GPU's. */
#define LESSON_FIRST_ADDRESS UINT64_C(0x100000000000)

struct lesson_memory {
    int fd; /* -1: none */
    void *data;
    size_t size;
};

/* Zeros, and no memory until they are written. name: for errors. Fails with ResourceError. */
int lesson_memory_init(struct lesson_memory *m, const char *name, size_t size,
                       struct err *err) MUST_CHECK;
void lesson_memory_done(struct lesson_memory *m);

#endif
