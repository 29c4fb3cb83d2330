/*
 * What the checks see of memory: every access that may be wrong though it lies in an allocation.
 *
 * defined  a byte that nobody wrote has no value (defined.c): a bit a byte of global, shared and
 *          local memory
 * races    two threads in the same word of shared memory, with no barrier between (race.c)
 *
 * Most accesses need neither, and it shows in advance: an input buffer is defined throughout, a
 * shared tile once it is filled. access_learn asks shadow_needs once a shape, so that the fast way
 * of lanes_memory.h stays fast.
 */
#ifndef WB_MODEL_PTX_SHADOW_H
#define WB_MODEL_PTX_SHADOW_H

#include "model/ptx/access.h"

/* Whether accesses of this shape must be shown to shadow_access or shadow_pattern. */
bool shadow_needs(const struct warp *w, const struct insn *in, const struct access *a);

/* Sees an access after it was located and before it is made. EXEC_FAULT: w->fault says why. */
int shadow_access(struct warp *w, const struct insn *in, const struct access *a, uint32_t mask);

/* The bytes of shared memory have values now. */
void shadow_define(struct warp *w, const struct access *a, uint32_t lanes);

/* The same of a full access in the shape of before, with lane 0 at `first`. */
int shadow_pattern(struct warp *w, const struct insn *in, const struct pattern *p, uint64_t first);

/* At the start of a block: its shared memory has no values. */
void shadow_block(struct cta *cta);

/* Memory for the above, of one host thread and of one warp. -1: out of memory. */
int shadow_new(struct cta *cta);

/* The local variables of a call by the lanes of mask have no values. */
void shadow_frame(struct warp *w, const struct frame *frame, uint32_t mask);

/* Before the launch: allocations whose bytes are all defined need no bitmap. */
void shadow_regions(struct run *run);

/* defined.c: a bit a byte. */
bool defined_all(const uint8_t *bits, uint64_t at, uint64_t n);
void defined_set(uint8_t *bits, uint64_t at, uint64_t n);
uint64_t defined_count(const uint8_t *bits, uint64_t at, uint64_t n);

/* race.c: memory of one host thread (-1: there is none), a new block, an access of shared memory.
 */
int race_new(struct cta *cta);
void race_block(struct cta *cta);

/*
 * A warp comes to a barrier of the block, with a count of threads or without; what it knows is
 * given to those who leave a barrier of some threads; it leaves one, of all threads or of some.
 */
void race_arrive(struct warp *w, int barrier, bool is_counted);
void race_gather(struct warp *w, int barrier);
void race_leave(struct warp *w, int barrier, bool is_full);
void race_forget(struct cta *cta, int barrier); /* it is used again from here on */

/* Lanes of a warp have met in a .sync. */
void race_meet(struct warp *w, uint32_t lanes);

/* An access that takes or gives a lock (CHECK_ORDERS), in any space. */
void race_order(struct warp *w, const struct insn *in, const struct access *a, uint32_t mask);
int race_access(struct warp *w, const struct insn *in, const struct access *a, uint32_t mask);

/* What lanes know is given to those who take it at the same address later. */
void race_pass(struct warp *w, const struct access *a, uint32_t mask, bool gives, bool takes);

/*
 * A copy beside the thread: any access of its bytes between start and end races with it. is_waited:
 * the lanes that started it know that it is over.
 */
int race_start_copy(struct warp *w, const struct insn *in, const struct access *a, uint32_t mask,
                    uint32_t *since);
int race_end_copy(struct warp *w, const struct insn *in, const struct access *a, uint32_t mask,
                  uint32_t since, bool is_waited);

/* phases.c: what of a module's accesses to shared memory cannot race. */
int phases_find(struct ptx_module *module, struct err *err) MUST_CHECK;

/* seeds.c: CHECK_SEEDS of loads. Fails with ResourceError. */
int seeds_find(struct ptx_module *module, struct err *err) MUST_CHECK;

#endif
