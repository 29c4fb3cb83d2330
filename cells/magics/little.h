/*
 * What the files of %little share: one kernel on one device with what the closed
 * forms and the core layer say of it, and its readers: the bare law, one kernel, or a sweep.
 */
#ifndef WB_CELLS_MAGICS_LITTLE_H
#define WB_CELLS_MAGICS_LITTLE_H

#include "cells/figure.h"
#include "cells/sweep.h"
#include "model/little_core.h"

struct little_case {
    struct session_device device;
    bool is_arithmetic;   /* no load: what fills the FP32 units */
    bool has_own_latency; /* latency= was given */
    double bandwidth;     /* bytes a second, of the device */
    struct little_machine machine;
    struct little_kernel kernel; /* its queue is that of `loaded` */
    int max_warps, ilp, bytes_per_thread;
    struct little_point plain, loaded; /* the same latency whatever the load; and rising */
    struct little_simulated simulated; /* plain's kernel, on the core layer */
    struct little_simulated crowded;   /* loaded's kernel there, where memory works in bursts */
};

/* Fills plain and loaded. */
int little_case_run(struct little_case *c, struct err *err) MUST_CHECK;

/*
 * Fills simulated of the cases that the core layer can have; where all of them would take too many
 * instructions, of every n-th group of `inner` cases. Fails with Interrupted or ResourceError.
 */
int little_simulate(struct little_case *cases, size_t count, size_t inner, const struct call *call,
                    struct err *err) MUST_CHECK;

/* The same of crowded, for the cases that have a queue. */
int little_simulate_crowded(struct little_case *cases, size_t count, size_t inner,
                            const struct call *call, struct err *err) MUST_CHECK;

/* How far the points that were simulated are from their closed forms, in parts of the unit. */
struct little_agreement {
    size_t simulated; /* points */
    double difference;
    size_t at; /* the case that has it, the first of several */
};
struct little_agreement little_compare(const struct little_case *cases, size_t count,
                                       bool is_crowded);

/* Bytes under way of n iterations, and warps that bring so many; whole warps. */
double little_bytes(const struct little_case *c, double iterations);
double little_warps_for(const struct little_case *c, double iterations);

/* "bandwidth", "FP32 units", "issue slots": what the part is of. Static. */
const char *little_unit_text(enum little_bound unit);

/* "64.6 %"; in the result's arena. */
const char *little_percent(struct result *result, double fraction);

/* What a case reached: {"fraction", "bound", ...}. New reference, or NULL. */
json_t *little_reached_json(const struct little_case *c);

/* Fields, view and figure of the law alone, of one case, and of a sweep's cases. */
int little_show_law(struct result *result, const struct call *call, struct err *err) MUST_CHECK;
int little_show_case(struct result *result, const struct call *call, struct little_case *c,
                     struct err *err) MUST_CHECK;
int little_show_sweep(struct result *result, const struct sweep *sweep, struct little_case *cases,
                      struct err *err) MUST_CHECK;

#endif
