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
 * - accesses of one block with a barrier of the block between them, or after a lock or a flag;
 * - atomics with each other, and a flag's readers with who sets it, unless their scope is a block;
 * - what a block did before a fence and an atomic or a flag after it, and what another does after
 * it has read that same flag or had the result of that atomic: so a sum that the last block makes,
 * and locks, are right with __threadfence() and are races without it.
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

/* A block starts (-1: out of memory); a barrier of it was passed; a thread of it did a fence. */
int track_block(struct cta *cta) MUST_CHECK;
void track_barrier(struct cta *cta);
void track_fence(struct cta *cta);

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
