/*
 * What the files of %launch and its relatives share: one launch as planned and as it
 * went, and how it becomes a result.
 */
#ifndef WB_CELLS_MAGICS_LAUNCH_H
#define WB_CELLS_MAGICS_LAUNCH_H

#include "cells/launch_run.h"

struct launch_point {
    struct launch_plan plan;
    struct launch_outcome outcome;
};

/* launch_view.c: fields and view of one launch. Fails with ResourceError. */
int launch_fill_result(struct result *result, struct call *call, const struct launch_point *point,
                       struct err *err) MUST_CHECK;

#endif
