/*
 * Which branch of a block of #if counts, as far as names of the session decide it.
 */
#ifndef WB_CELLS_CUDA_CONDITION_H
#define WB_CELLS_CUDA_CONDITION_H

#include "cells/cuda_state.h"

/*
 * The item inside `item` (itself when it is no block) that defines a name in the branch that is
 * compiled, and its entry of the name in *found (may be NULL); NULL: none. A condition of more than
 * `defined(X)`, `X` or a number, each with or without `!`, is taken as true; so is an #elif right
 * behind #if 0.
 */
const struct cuda_item *cuda_active_item(const struct cuda *cuda, const struct cuda_item *item,
                                         const char *name, const struct item_name **found);

#endif
