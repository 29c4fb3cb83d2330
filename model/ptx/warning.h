/*
 * What is no fault and still worth a word: noted while blocks run, told in ptx_facts.warnings.
 */
#ifndef WB_MODEL_PTX_WARNING_H
#define WB_MODEL_PTX_WARNING_H

#include "model/ptx/internal.h"

/* By lanes of w at `in`; other: a second place that takes part, or NULL. */
void warning_note(struct warp *w, enum ptx_warning_kind kind, const struct insn *in,
                  const struct insn *other, uint32_t lanes);

/* Adds what another host thread noted; both end up in `to`. */
void warning_merge(struct cta *to, const struct cta *from);

/* Adds what a host thread's blocks noted to the facts. -1: out of memory. */
int warning_tell(const struct cta *cta, struct arena *arena, struct ptx_facts *facts);

#endif
