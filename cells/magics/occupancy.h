/*
 * What the files of %occupancy share: a point (one device, one launch shape,
 * what fits), and its two readers: one point with its what-ifs, or a sweep.
 */
#ifndef WB_CELLS_MAGICS_OCCUPANCY_H
#define WB_CELLS_MAGICS_OCCUPANCY_H

#include "cells/cuda.h"
#include "cells/sweep_view.h"
#include "model/occupancy_compare.h"

struct occupancy_point {
    struct session_device device;
    struct launch_shape shape;
    struct occupancy occ;
    const struct cuda_kernel *kernel; /* with maxreg=: as compiled under it; else NULL */
    int rule;                         /* enum occupancy_rule, or -1: not compared */
    struct occupancy_other other;
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

/* What a compared point says by its rule: {"rule", "blocks", ...}. New reference, or NULL. */
json_t *occupancy_other_json(const struct occupancy_point *point);

/* What the compiler made of a cap: {"registers", "store_bytes", ...}. New reference, or NULL. */
json_t *occupancy_spills_json(const struct occupancy_point *point);

/* The fields of a single point. advice: of it, or NULL where none was computed. */
int occupancy_set_fields(struct result *result, const struct occupancy_point *point,
                         const struct occupancy_advice *advice, struct err *err) MUST_CHECK;

/* Rows that say which roundings and rules acted; occupancy_add_facts adds what others would give.
 */
void occupancy_add_reasons(struct result *result, const struct occupancy_point *point);
void occupancy_add_facts(struct result *result, const struct occupancy_point *point);

/* "..40: 100 %    41..48: 83.3 % <": around what was asked for; NULL: nothing to say. */
const char *occupancy_regs_text(struct result *result, const struct occupancy_point *point);
const char *occupancy_block_text(struct result *result, const struct occupancy_point *point);
const char *occupancy_shared_text(struct result *result, const struct occupancy_point *point);

/* The figure of a point; its closing and answer were set before. */
void occupancy_add_what_ifs(struct result *result, const struct occupancy_point *point);

/* "12,288", in the result's arena. */
const char *occupancy_number(struct result *result, int64_t v);

/* Fields, view and figure of a single point. parameters: as call_parameters_text gives them. */
int occupancy_show_point(struct result *result, const struct occupancy_point *point,
                         const char *parameters, struct err *err) MUST_CHECK;

/* The same of all points of a sweep (at least one swept key). */
int occupancy_show_sweep(struct result *result, const struct sweep *sweep,
                         const struct occupancy_point *points, const char *parameters,
                         struct err *err) MUST_CHECK;

/* Fields and origin of a sweep, as above; v->values are the points' values. */
int occupancy_set_sweep(struct sweep_view *v, const struct occupancy_point *points,
                        const char *parameters, struct err *err) MUST_CHECK;

/* How keys of %occupancy are drawn. */
extern const struct sweep_axis OCCUPANCY_AXES[];
extern const size_t OCCUPANCY_AXIS_COUNT;

/* The same with compare=: the launch's own answer beside that of a rule. */
int occupancy_show_comparison(struct result *result, const struct occupancy_point *point,
                              const char *parameters, struct err *err) MUST_CHECK;
int occupancy_show_comparisons(struct result *result, const struct sweep *sweep,
                               const struct occupancy_point *points, const char *parameters,
                               struct err *err) MUST_CHECK;

/* A sweep of maxreg= alone: what each cap wins in warps and costs in spills. */
int occupancy_show_spills(struct result *result, const struct sweep *sweep,
                          const struct occupancy_point *points, const char *parameters,
                          struct err *err) MUST_CHECK;

#endif
