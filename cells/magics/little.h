/*
 * What the files of %little share: one kernel on one device with what the closed
 * forms say of it, and its readers: the bare law, one kernel, or a sweep.
 */
#ifndef WB_CELLS_MAGICS_LITTLE_H
#define WB_CELLS_MAGICS_LITTLE_H

#include "cells/figure.h"
#include "cells/sweep.h"
#include "model/little.h"

struct little_case {
    struct session_device device;
    bool is_arithmetic; /* no load: what fills the FP32 units */
    double bandwidth;   /* bytes a second, of the device */
    struct little_machine machine;
    struct little_kernel kernel; /* its queue is that of `loaded` */
    int max_warps, ilp, bytes_per_thread;
    struct little_point plain, loaded; /* the same latency whatever the load; and rising */
};

/* Fills plain and loaded. */
int little_case_run(struct little_case *c, struct err *err) MUST_CHECK;

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
int little_show_case(struct result *result, const struct call *call, const struct little_case *c,
                     struct err *err) MUST_CHECK;
int little_show_sweep(struct result *result, const struct sweep *sweep,
                      const struct little_case *cases, struct err *err) MUST_CHECK;

#endif
