/*
 * What the files of %occupancy share: a point (one device, one launch shape,
 * what fits), and its two readers: one point with its what-ifs, or a sweep.
 */
#ifndef WB_CELLS_MAGICS_OCCUPANCY_H
#define WB_CELLS_MAGICS_OCCUPANCY_H

#include "cells/sweep.h"
#include "model/occupancy.h"

struct occupancy_point {
    struct session_device device;
    struct launch_shape shape;
    struct occupancy occ;
};

/* Fills point->occ from its device and shape, as a compiled kernel would get it. */
int occupancy_point_eval(struct occupancy_point *point, struct err *err) MUST_CHECK;

/* "registers and warps", for the limits that bind; the result's arena. */
const char *occupancy_limiters_text(struct result *result, const struct occupancy *occ);
json_t *occupancy_limiters_json(const struct occupancy *occ); /* new reference */

/* "83.3 %", in the result's arena. */
const char *occupancy_percent(struct result *result, double fraction);

/* "L40S (model, cc 8.9)" or "H200 gpu:0 (cc 9.0)", in the result's arena. */
const char *occupancy_device_text(struct result *result, const struct session_device *device);

/* The second line of a table: device, parameters and, where there is room, what kind of number. */
const char *occupancy_origin(struct result *result, const char *device, const char *parameters);

/* Fields, view and figure of a single point. parameters: as call_parameters_text gives them. */
int occupancy_show_point(struct result *result, const struct occupancy_point *point,
                         const char *parameters, struct err *err) MUST_CHECK;

/* The same of all points of a sweep (at least one swept key). */
int occupancy_show_sweep(struct result *result, const struct sweep *sweep,
                         const struct occupancy_point *points, const char *parameters,
                         struct err *err) MUST_CHECK;

#endif
