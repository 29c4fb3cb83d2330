/*
 * Functions that no PTX has and a kernel may call all the same.
 */
#ifndef WB_MODEL_PTX_SYSTEM_H
#define WB_MODEL_PTX_SYSTEM_H

#include "model/ptx/internal.h"

struct system_function {
    const char *name;
    exec_fn *exec;                  /* insn.extra is the struct call */
    const char *arguments, *result; /* words of each, as digits */
    bool is_ordered;                /* what it does shows the order of blocks */
    bool is_heap;                   /* one launch has one heap: its blocks run one after another */
};

/* NULL: there is none of this name. */
const struct system_function *system_find(const char *name);

/* Why a function of this name is not executed, or NULL: nothing is known of it. Static. */
const char *system_refusal(const char *name);

/* Adds leaks of the heap, and printed bytes that were dropped, to the facts. -1: out of memory. */
int system_warn(const struct run *run, int64_t lost, struct arena *arena, struct ptx_facts *facts);

#endif
