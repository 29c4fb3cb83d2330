/*
 * Device variables as buffers: `__constant__ float F[3];` of an earlier cell is a buffer of
 * three floats once somebody fills it, shows it, or launches a kernel that uses it.
 */
#ifndef WB_CELLS_BUFFER_SYMBOL_H
#define WB_CELLS_BUFFER_SYMBOL_H

#include "cells/buffer.h"

/*
 * Type and shape as its declaration says; rank 0 for one that is no array. *is_found: false when no
 * device variable has the name. Fails with UnsupportedError for a declaration that cannot be read
 * here; the text says why.
 */
int symbol_type(struct session *session, const char *name, bool *is_found,
                struct element_type *type, int *rank, int64_t *shape, struct err *err) MUST_CHECK;

/*
 * The buffer of a device variable, made with the value of its declaration when there was none
 * yet; *out NULL: no device variable has the name. Fails with UnsupportedError when the value is
 * more than numbers in braces: the first launch that uses the variable gives it.
 */
int symbol_find(struct session *session, const char *name, struct buffer **out,
                struct err *err) MUST_CHECK;

#endif
