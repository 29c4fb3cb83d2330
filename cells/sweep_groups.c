/*
 * Words have no neighbours: only the values of a number are merged.
 */
#include "cells/sweep_groups.h"

#include "cells/internal.h"

static bool is_same_slice(const struct sweep_view *v, size_t k, size_t a, size_t b)
{
    size_t columns = v->sweep->keys[1].arg->count, n = v->sweep->keys[1 - k].arg->count;
    size_t step = k == 0 ? columns : 1, across = k == 0 ? 1 : columns;

    for (size_t i = 0; i < n; i++)
        if (v->values[a * step + i * across] != v->values[b * step + i * across])
            return false;
    return true;
}

void sweep_find_groups(const struct sweep_view *v, size_t k, size_t most, struct sweep_groups *out)
{
    const struct sweep_key *key = &v->sweep->keys[k];

    *out = (struct sweep_groups){ .count = 0 };
    for (size_t i = 0; i < key->arg->count; i++) {
        if (i && key->is_number && is_same_slice(v, k, i - 1, i))
            continue;
        out->start[out->count] = i;
        out->is_cut = out->count == most;
        if (out->is_cut)
            return;
        out->count++;
    }
    out->start[out->count] = key->arg->count;
}

const char *sweep_group_text(const struct sweep_view *v, const struct sweep_groups *groups,
                             size_t g, size_t k)
{
    size_t step = k == 0 ? v->sweep->keys[1].arg->count : 1;

    return sweep_span_text(v, groups->start[g] * step, (groups->start[g + 1] - 1) * step, k);
}
