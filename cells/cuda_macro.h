/*
 * Macros that define: MAKE_KERNEL(add, +) is a kernel called add.
 */
#ifndef WB_CELLS_CUDA_MACRO_H
#define WB_CELLS_CUDA_MACRO_H

#include "cells/cuda_state.h"

/*
 * For every item that is a call of a macro of the session or of the list: what it defines becomes
 * its inner items, and their names its own. The text that is compiled stays the call. Fails with
 * ResourceError.
 */
int cuda_expand_calls(const struct cuda *cuda, struct cuda_items *fresh,
                      struct err *err) MUST_CHECK;

#endif
