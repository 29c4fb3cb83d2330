/*
 * Blocks in flight: which run, and which wait for others.
 */
#ifndef WB_MODEL_PTX_RESIDENT_H
#define WB_MODEL_PTX_RESIDENT_H

#include "model/ptx/internal.h"

/* What the launch does for each block. */
struct resident_host {
    void *context;
    struct cta *(*make)(void *context); /* state for one more block in flight; NULL: no memory */
    int (*begin)(void *context, struct cta *cta, int64_t place); /* -1: failed, context knows */
    int (*step)(void *context, struct cta *cta);                 /* enum simt_step */
    int (*end)(void *context, struct cta *cta, int64_t place);
    /* All blocks in flight wait, and nothing will change: the report, by the block that is named.
     */
    void (*stuck)(void *context, struct cta *cta);
};

/* Blocks that the device holds at the same time; at least 1. */
int64_t resident_most(const struct ptx_launch *launch);

/*
 * Runs places 0 to places - 1, at most `most` of them at a time. One runs to its end before the
 * next begins, except that where all its threads wait for memory to change, later ones begin and
 * take turns with it. needs_all: all must be in flight together (a cooperative launch).
 *
 * Returns -1 when a block failed or all are stuck; *failed_at is its place.
 */
int resident_run(const struct resident_host *host, int64_t places, int64_t most, bool needs_all,
                 int64_t *failed_at) MUST_CHECK;

#endif
