/*
 * What the files of %simulate share: one pattern with what it settles into, and
 * its two readers: one pattern cycle by cycle, or a sweep.
 */
#ifndef WB_CELLS_MAGICS_SIMULATE_H
#define WB_CELLS_MAGICS_SIMULATE_H

#include "cells/figure.h"
#include "cells/sweep.h"
#include "model/scheduler.h"

struct simulation {
    struct pattern pattern;
    int cycles; /* of the timeline */
    struct steady steady;
    struct timeline timeline;
};

/* Fields, view and figure of one pattern. */
int simulate_show_one(struct result *result, const struct call *call,
                      const struct simulation *simulation, struct err *err) MUST_CHECK;

/* The same of all patterns of a sweep; with frames=yes the figure is a slider of Gantt charts. */
int simulate_show_sweep(struct result *result, const struct sweep *sweep,
                        const struct simulation *simulations, struct err *err) MUST_CHECK;

/* The first cycles as a Gantt chart with a row for each warp, as far as there is room. */
void simulate_add_gantt(struct figure *figure, const struct simulation *simulation);

/* "Scheduler busy 71.4 %: ..."; the result's arena. */
const char *simulate_answer(struct result *result, const struct simulation *simulation);

/* "71.4 %"; the result's arena. */
const char *simulate_percent(struct result *result, double fraction);

#endif
