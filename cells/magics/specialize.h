/*
 * What the files of %specialize share: one program with what it was made from
 * and what it came to, and its three readers: one program event by event, a
 * sweep, and the three conditions under which roles pay.
 */
#ifndef WB_CELLS_MAGICS_SPECIALIZE_H
#define WB_CELLS_MAGICS_SPECIALIZE_H

#include "cells/figure.h"
#include "cells/sweep.h"
#include "model/async_programs.h"

/* What the accumulators and the ring of a tile take; threads: those of the consumers. */
struct tile_budget {
    bool is_given;
    int m, n, k, groups, threads;
    int accumulators;  /* registers a thread */
    int groups_needed; /* so that a thread's accumulators fit: a power of two */
    bool fits;
    int64_t slot_bytes, ring_bytes;
    int most_slots; /* that shared memory has room for */
};

/* setmaxnreg: what each role keeps; 0: not said. */
struct register_budget {
    bool is_given;
    int per_thread[ASYNC_MAX_ROLES];
    int64_t total;
};

struct specialization {
    enum async_program_id id;
    struct async_params params;
    struct session_device device;
    struct tile_budget tile;
    struct register_budget registers;
    struct async_program *program;
    struct async_run run;
    bool has_formula;
    double formula;
    double as_warps; /* the pattern layer: pipe warps, issue = compute, wait = load; -1: no ring */
};

enum { SPECIALIZE_EVENTS = 4096 };

/* Builds and runs; what it makes is the arena's. events: how many to keep. */
int specialize_run(struct specialization *s, size_t events, struct arena *arena,
                   const atomic_bool *stop, struct err *err) MUST_CHECK;

/* Fields, view and figure of one program. */
int specialize_show_one(struct result *result, const struct call *call,
                        const struct specialization *s, struct err *err) MUST_CHECK;

/* The same of all programs of a sweep. */
int specialize_show_sweep(struct result *result, const struct sweep *sweep,
                          const struct specialization *points, struct err *err) MUST_CHECK;

/* The three conditions of specialization, each off and on. */
int specialize_show_conditions(struct result *result, const struct call *call,
                               struct err *err) MUST_CHECK;

/* Roles, engines and slots over time: lines of text, and a panel of the figure. */
void specialize_add_lines(struct result *result, const struct specialization *s);
void specialize_add_gantt(struct figure *figure, const struct specialization *s);

/* "for k = 4..63: wait empty[k-4]; load[k] -> full[k]": what a role runs, in its phases. */
void specialize_add_code(struct result *result, const struct specialization *s);

/* Texts are the result's. */
const char *specialize_percent(struct result *result, double fraction);
const char *specialize_count(struct result *result, double v);

#endif
