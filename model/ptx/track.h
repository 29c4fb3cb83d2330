/*
 * Races in global memory (races=all): two threads touch the same bytes within one launch, one of
 * them writes, and nothing puts them in an order.
 *
 * Each word of a buffer that the kernel may write has two cells: who wrote it last, and who read
 * it. Blocks run one after the other, so that every access finds what came before it. In an order
 * are
 *
 * - accesses of one thread, and of one warp (which runs in lockstep here; since Volta only
 *   __syncwarp promises it), except two lanes that store different values in one instruction;
 * - accesses of one block with a barrier of the block between them;
 * - atomics with each other;
 * - what a block does after it used the result of an atomic or read a volatile or acquired value:
 *   it may have learned that another block is done, as the last block of a reduction does. Locks
 *   and flags are believed, so that a right program has no false alarm.
 *
 * Two stores of the same value are no race that anybody can see.
 */
#ifndef WB_MODEL_PTX_TRACK_H
#define WB_MODEL_PTX_TRACK_H

#include "model/ptx/access.h"

struct track;

/* For the buffers that the kernel may write; takes 4 bytes a byte. NULL: out of memory. */
struct track *track_new(const struct run *run);
void track_free(struct track **track);

/* A block starts; a barrier of it was passed. */
void track_block(struct cta *cta);
void track_barrier(struct cta *cta);

/* Whether accesses of an allocation (NULL: of several) are looked at. */
bool track_needs(const struct track *track, const struct region *region);

/*
 * Sees an access of global memory before it is made. EXEC_FAULT: it races; w->fault.race has
 * both parties.
 */
int track_access(struct warp *w, const struct insn *in, const struct access *a, uint32_t mask);

/* The same of a full access in the shape of before, with lane 0 at `first`. */
int track_pattern(struct warp *w, const struct insn *in, const struct pattern *p, uint64_t first);

#endif
