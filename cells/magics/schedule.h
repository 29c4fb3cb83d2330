/*
 * What the files of %schedule share: one launch with the device that runs it
 * and what became of it, and its two readers: one launch block by block, or a sweep.
 */
#ifndef WB_CELLS_MAGICS_SCHEDULE_H
#define WB_CELLS_MAGICS_SCHEDULE_H

#include "cells/sweep.h"
#include "model/grid.h"
#include "model/occupancy.h"

struct schedule {
    struct session_device device;
    struct launch_shape shape;
    struct occupancy occ; /* all 0 when per_sm= says how many blocks an SM holds */
    struct grid grid;
    struct grid_waves waves;
    struct grid_run run;
};

/* In us; 0 when the device's clock is unknown. */
double schedule_time_us(const struct schedule *s, int64_t cycles);

/* Fields, view and figure of one launch. origin: where the numbers come from. */
int schedule_show_one(struct result *result, const struct call *call, const struct schedule *s,
                      const char *origin, struct err *err) MUST_CHECK;

/* The same of all launches of a sweep. */
int schedule_show_sweep(struct result *result, const struct sweep *sweep,
                        const struct schedule *schedules, const char *origin,
                        struct err *err) MUST_CHECK;

/* Texts are the result's. "12,288"; "3.23 us"; "80.2 %"; " = 3.23 us", "" without a clock. */
const char *schedule_count(struct result *result, int64_t v);
const char *schedule_percent(struct result *result, double fraction);
const char *schedule_time(struct result *result, const struct schedule *s, int64_t cycles);

#endif
