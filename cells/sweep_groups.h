/*
 * Neighbouring values of one of two keys that have the same value at every value
 * of the other: one row of a table, one row of a large map.
 */
#ifndef WB_CELLS_SWEEP_GROUPS_H
#define WB_CELLS_SWEEP_GROUPS_H

#include "cells/sweep_view.h"

enum { SWEEP_MOST_GROUPS = 64 };

struct sweep_groups {
    size_t start[SWEEP_MOST_GROUPS + 1]; /* start[count] ends the last one */
    size_t count;
    bool is_cut; /* there were more */
};

/* The groups of key k (0 or 1), the first `most` (up to SWEEP_MOST_GROUPS) of them. */
void sweep_find_groups(const struct sweep_view *v, size_t k, size_t most, struct sweep_groups *out);

/* "16..40": group g of key k, in the result's arena. */
const char *sweep_group_text(const struct sweep_view *v, const struct sweep_groups *groups,
                             size_t g, size_t k);

#endif
