/*
 * What the files share that show a run of the core layer: its numbers, named as
 * Nsight Compute names them.
 */
#ifndef WB_CELLS_MAGICS_SIMULATE_CORE_VIEW_H
#define WB_CELLS_MAGICS_SIMULATE_CORE_VIEW_H

#include "cells/magics/simulate.h"

/* What a run of the core layer is read for. */
struct core_view {
    struct result *result;
    const struct call *call;
    const struct core_simulation *c;
    const struct simulation *s;
};

/* The mark of a state in text: '#' selected, 'L' long scoreboard; by enum stall, CORE_NO_WARP too.
 */
extern const char CORE_VIEW_MARKS[];

/* Adds the states that occur in the recorded cycles. */
void core_view_find_states(const struct core_view *v, bool is_used[STALL_COUNT + 1]);

/* Cycles of warps in a state, and in all of them, for each instruction that issues. */
double core_view_per_issue(const struct core_view *v, enum stall stall);
double core_view_cycles_per_issue(const struct core_view *v);

/* Means of a scheduler: warps that it has; the share of cycles in which one is eligible. */
double core_view_active_warps(const struct core_view *v);
double core_view_some_eligible(const struct core_view *v);

double core_view_lane_efficiency(const struct core_view *v); /* 0..1 */

/* A unit (enum latency_class): "fp32"; the share of cycles in which it is taken. */
const char *core_view_unit_name(int unit);
double core_view_unit_share(const struct core_view *v, int unit);

/* Of a place (enum core_place): bytes a cycle, for shared memory passes a cycle. */
double core_view_place_rate(const struct core_view *v, int place);

int core_view_set_fields(const struct core_view *v, struct err *err) MUST_CHECK;

/* The result's figure; its answer was set before. */
void core_view_add_figure(const struct core_view *v);

#endif
