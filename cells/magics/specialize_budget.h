/*
 * What a specialized block takes of an SM: accumulators and shared memory of a
 * tile, and registers handed from role to role by setmaxnreg.
 */
#ifndef WB_CELLS_MAGICS_SPECIALIZE_BUDGET_H
#define WB_CELLS_MAGICS_SPECIALIZE_BUDGET_H

#include "cells/magics/specialize.h"

/*
 * tile= (with ktile, acc, groups and rate): fills s->tile and sets s->params.compute; nothing
 * without it. Fails with UsageError when compute= is given too, ValueError for acc=24 or a
 * step of too many cycles.
 */
int budget_read_tile(const struct sweep *sweep, size_t i, struct specialization *s,
                     struct err *err) MUST_CHECK;

/*
 * regs=: registers a thread for each role of s->program. Fails with NameError (no such role), or
 * ValueError: not a multiple of 8 in 24..256 (PTX ISA, setmaxnreg), or more together than an SM
 * has; the nearest that fits is named.
 */
int budget_read_registers(const struct sweep *sweep, size_t i, struct specialization *s,
                          struct err *err) MUST_CHECK;

/* {"accumulators": ...}; {"slot_bytes": ...}; each null where nothing was said. New references. */
json_t *budget_registers_json(const struct specialization *s);
json_t *budget_shared_json(const struct specialization *s);

/* Whether tile= leaves each thread its accumulators and the ring its slots; true without tile=. */
bool budget_fits(const struct specialization *s);

/* "To fit: groups=4 pipe=3 ...", where it does not. The result's text. */
const char *budget_advice(struct result *result, const struct specialization *s);

/* "256 accumulators a thread: more than 255, so 2 groups"; NULL: no tile, no regs. */
const char *budget_tile_text(struct result *result, const struct specialization *s);
const char *budget_shared_text(struct result *result, const struct specialization *s);
const char *budget_registers_text(struct result *result, const struct specialization *s);

#endif
