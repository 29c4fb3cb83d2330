/*
 * What the two files of %run share: run.c asks and runs, run_view.c words it.
 */
#ifndef WB_CELLS_MAGICS_RUN_H
#define WB_CELLS_MAGICS_RUN_H

#include "cells/lesson_run.h"

/* Fills fields, view and figure of a result from what was found. Fails with ResourceError. */
int run_fill_result(struct result *result, const struct call *call, const struct lesson_run *run,
                    struct err *err) MUST_CHECK;

#endif
