/*
 * What the files of %simulate share: one pattern with what it settles into, and
 * its two readers: one pattern cycle by cycle, or a sweep.
 */
#ifndef WB_CELLS_MAGICS_SIMULATE_H
#define WB_CELLS_MAGICS_SIMULATE_H

#include "cells/figure.h"
#include "cells/sweep.h"
#include "model/body.h"
#include "model/scheduler.h"

struct core_simulation;

struct simulation {
    struct pattern pattern;
    int cycles; /* of the timeline */
    struct steady steady;
    struct timeline timeline;

    /* Of the core layer. core: as long as the timeline is kept, else NULL. */
    const struct core_simulation *core;
    double round_cycles; /* that a warp takes for a round; 0: none ended */
    double ipc;          /* instructions a cycle of all schedulers */
};

/* A run of the core layer. It stays where it is: its parts point to each other. */
struct core_simulation {
    struct session_device device;
    struct costs room;
    struct core_config config;
    struct body body; /* of a kernel: stream, instructions and lanes alone */
    const char *text; /* the body, or the kernel's name */
    bool is_cut;      /* of a kernel: longer than what is kept */
    int warps;
    struct core_record record;
    struct core_steady steady;
};

/* The value of a key without a default, at a point of the sweep. */
int simulate_optional(const struct sweep *sweep, size_t i, const char *name, int preset);

/* Does the call say what warps run? Then it is the core layer's. */
bool simulate_is_core(const struct call *call);
int simulate_check_layer(const struct call *call, struct err *err) MUST_CHECK;

/* Runs a point of the sweep on the core layer; *s gets the numbers that a pattern has too. */
int simulate_core_run(const struct sweep *sweep, size_t i, struct core_simulation *c,
                      struct simulation *s, struct arena *arena, struct err *err) MUST_CHECK;

/* Fields, view and figure of one run. */
int simulate_show_core(struct result *result, const struct call *call,
                       const struct core_simulation *c, const struct simulation *s,
                       struct err *err) MUST_CHECK;

/* "cycle    0         10", and "issued   0011223344": of the first cycles; the result's arena. */
const char *simulate_ruler_line(struct result *result, int cycles);
const char *simulate_issued_line(struct result *result, const struct simulation *s, int scheduler,
                                 int cycles);

/* Fields, view and figure of one pattern. */
int simulate_show_one(struct result *result, const struct call *call,
                      const struct simulation *simulation, struct err *err) MUST_CHECK;

/* The same of all patterns of a sweep; with frames=yes the figure is a slider of Gantt charts. */
int simulate_show_sweep(struct result *result, const struct sweep *sweep,
                        const struct simulation *simulations, struct err *err) MUST_CHECK;

/* The first cycles as a Gantt chart with a row for each warp, as far as there is room. */
void simulate_add_gantt(struct figure *figure, const struct simulation *simulation);

void simulate_core_add_gantt(struct figure *figure, const struct simulation *simulation);

/* "Scheduler busy 71.4 %: ..."; the result's arena. */
const char *simulate_answer(struct result *result, const struct simulation *simulation);

/* "71.4 %"; the result's arena. */
const char *simulate_percent(struct result *result, double fraction);

#endif
