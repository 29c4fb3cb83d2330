/*
 * printf of a kernel: records made by lanes, and texts that leave in the order of blocks.
 */
#ifndef WB_MODEL_PTX_PRINT_H
#define WB_MODEL_PTX_PRINT_H

#include "model/base/buf.h"
#include "model/ptx/internal.h"

#include <pthread.h>

/*
 * Appends one record, as vprintf(format, arguments) of the lane: generic addresses of a string and
 * of the arguments as the compiler stored them.
 *
 * Returns how many arguments were printed, or -1: format is null, or a string or argument cannot be
 * read, and *bad is its address (0: format is null).
 *
 * Source: "Formatted Output", CUDA C++ Programming Guide 13.0, for the specifiers and the result; a
 * conversion that C does not have stands for itself.
 */
int print_format(const struct warp *w, int lane, uint64_t format, uint64_t arguments,
                 struct buf *out, uint64_t *bad);

/* Texts of blocks by place in the order of the launch; filled from any host thread. */
struct span;
struct print_queue {
    const struct ptx_launch *launch;
    pthread_mutex_t lock;
    struct span *spans; /* done, but not in front yet */
    int64_t next;       /* place whose text leaves next */
    int64_t stop;       /* nothing behind this place leaves */
    int64_t bytes, lost;
    bool is_full;
};

void print_queue_init(struct print_queue *q, const struct ptx_launch *launch);
void print_queue_done(struct print_queue *q);

/* Adds a record to what a block printed, or counts it as lost when that is full. */
void print_add(struct printed *printed, const struct buf *record);

/*
 * Place is done and printed this, which is emptied. Every place comes once, also one without
 * a text. is_last: it failed; nothing of a later place leaves. -1: out of memory.
 */
int print_place(struct print_queue *q, int64_t place, struct printed *printed, bool is_last);

#endif
