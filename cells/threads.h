/*
 * Threads as keys of a magic name them: sizes and places, and expressions whose
 * value differs from thread to thread, such as if={lane < 24}.
 */
#ifndef WB_CELLS_THREADS_H
#define WB_CELLS_THREADS_H

#include "cells/magic.h"
#include "model/layout.h"

/* (8,8,2), or a number, which is x. What was not written is `missing`: 1 of a size, 0 of a place.
 */
struct extent extent_of_value(const struct value *v, int64_t missing);

/* "(8,8,2)"; with fewer dimensions "(8,8)" and "8". The result's arena. */
const char *extent_text(struct result *result, struct extent e, int rank);

/* 1, 2 or 3: dimensions up to the last one above 1. */
int extent_rank_of(struct extent size);

/* [x, y, z]: a new array, or NULL. */
json_t *extent_json(struct extent e);

#endif
