/*
 * Which words of global memory a host thread read, wrote and combined, so that blocks of a launch
 * can run side by side with the result of running them in order.
 *
 * Each host thread runs its blocks in ascending order. If no word that one of them wrote was read
 * or written by another, it cannot matter how the threads interleaved. Otherwise everything is
 * undone, page by page, and the blocks run again in order (team.c). Only allocations that the code
 * may write are followed; inputs cost nothing.
 *
 * Atomics whose result nobody uses commute where they are on integers: they combine in place, by
 * atomics of the host, as long as everybody uses the same one. Those on floats round: they are kept
 * in a list and done at the end, in the order of blocks.
 */
#ifndef WB_MODEL_PTX_FOOTPRINT_H
#define WB_MODEL_PTX_FOOTPRINT_H

#include "model/ptx/access.h"

struct undo;      /* old content of pages, shared by the host threads */
struct footprint; /* of one host thread */

/*
 * Follows the allocations of a run that the kernel may write. NULL: out of memory, or the bitmaps
 * would take more than `limit` bytes for each of `threads` host threads.
 */
struct undo *undo_new(const struct run *run, int threads, size_t limit);
void undo_free(struct undo **undo);

/* is_written, by region: false where no code of the kernel can write. */
void footprint_find_written(const struct run *run, bool *is_written);

/* Gives the pages that were written their old content, and the bits of defined bytes too. */
void undo_all(struct undo *undo);

/* NULL: out of memory. */
struct footprint *footprint_new(struct undo *undo);
void footprint_free(struct footprint **footprint);

/* Whether accesses to an allocation are noted; NULL (several, or not known): they are. */
bool footprint_needs(const struct footprint *footprint, const struct region *region);

/* Notes an access of global memory before it is made; pages that it writes are saved first. */
void footprint_access(struct footprint *f, const struct insn *in, const struct access *a,
                      uint32_t mask);

/* The same of a full access in the shape of before, with lane 0 at `first`. */
void footprint_pattern(struct footprint *f, const struct insn *in, const struct pattern *p,
                       uint64_t first);

/*
 * An atomic on floats whose result nobody uses, by lane `lane` at host address `p`: true when it
 * was put on the list and must not be done now.
 */
bool footprint_defers(struct warp *w, const struct insn *in, uint8_t *p, uint64_t operand);

/* The place of the block whose atomics come next on the list. */
void footprint_block(struct footprint *footprint, int64_t place);

/* Whether what the host threads did depends on the order between them. */
bool footprints_conflict(struct footprint *const *footprints, int n);

/* Does the atomics of all lists in the order of blocks. */
void footprints_finish(struct footprint *const *footprints, int n);

#endif
