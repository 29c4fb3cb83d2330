/*
 * Which functions a launch may run: its kernel, and what that calls.
 *
 * A module of a debug build holds every device function as written, atomicAdd() among them, and a
 * kernel that calls none of those must not be held to what they ask for. A call through a pointer
 * may go to any of them.
 */
#include "model/ptx/internal.h"

#include <stdlib.h>

/* Puts a function on the list of those whose calls are still to be followed. */
static void reach(bool *is_reached, int *list, int *count, const struct function *f)
{
    if (!f->is_defined || is_reached[f->index])
        return;
    is_reached[f->index] = true;
    list[(*count)++] = f->index;
}

static void follow_calls(const struct ptx_module *m, bool *is_reached, int *list, int count)
{
    while (count) {
        const struct function *f = &m->functions[list[--count]];

        for (int i = 0; i < f->insn_count; i++) {
            const struct call *call = f->insns[i].extra;

            if (f->insns[i].control != CONTROL_CALL)
                continue;
            if (call->callee)
                reach(is_reached, list, &count, call->callee);
            for (int k = 0; !call->callee && k < m->ast.function_count; k++)
                if (!m->functions[k].is_entry)
                    reach(is_reached, list, &count, &m->functions[k]);
        }
    }
}

int reach_find(struct run *run, struct arena *arena)
{
    const struct ptx_module *m = run->module;
    int *list = malloc((size_t)m->ast.function_count * sizeof *list), count = 0;
    bool *is_reached = arena_array(arena, (size_t)m->ast.function_count, sizeof *is_reached);

    if (list && is_reached) {
        reach(is_reached, list, &count, run->entry);
        follow_calls(m, is_reached, list, count);
    }
    free(list);
    run->is_reached = is_reached;
    return list && is_reached ? 0 : -1;
}
