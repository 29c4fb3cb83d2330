/*
 * The masks of .sync instructions: who names whom.
 */
#ifndef WB_MODEL_PTX_MASK_H
#define WB_MODEL_PTX_MASK_H

#include "model/ptx/internal.h"

/*
 * Lanes of `mask` came to a .sync whose row insn.rows[0] names lanes. EXEC_FAULT: one is not in its
 * own mask. A lane that has returned may be named; that is noted.
 */
int mask_check(struct warp *w, const struct insn *in, uint32_t mask);

/* Lanes read by a shuffle from a lane that is not there, the first of them from `from`. EXEC_FAULT.
 */
int mask_absent_source(struct warp *w, const struct insn *in, uint32_t lanes, int from);

#endif
