/*
 * How a sweep reads, whatever was computed at its points: a matrix or the best
 * points as a table, and curves, bars or a map as the figure. Every point has
 * one value, a fraction 0..1 such as occupancy.
 */
#ifndef WB_CELLS_SWEEP_VIEW_H
#define WB_CELLS_SWEEP_VIEW_H

#include "cells/figure.h"
#include "cells/sweep.h"

/* How a key is drawn. is_step: a value holds up to the next one. */
struct sweep_axis {
    const char *key, *label;
    enum figure_unit unit;
    bool is_step;
};

struct sweep_view {
    struct result *result;
    const struct sweep *sweep;
    const double *values;    /* per point */
    const char *what;        /* "occupancy": what the values are */
    const double *seconds;   /* per point, drawn beside the values; NULL: none */
    const char *scale;       /* what both are, beside the axis; NULL: what */
    const char *second_what; /* "plain division" */
    const double *dots; /* per point, beside the curves of values; NaN: none; NULL: none at all */
    const char *dots_what; /* "simulated" */
    const char *peak;      /* what a call of the best point shows; NULL: "the best point" */
    const char *title;     /* "Occupancy on L40S" */
    bool wants_curves;     /* of two numbers the one with fewer values names curves, not a map */
    const struct sweep_axis *axes;
    size_t axis_count;
    const bool *is_out; /* per point: it cannot be, so it is not the best; NULL: all can */
    bool is_count;      /* the figure's values are numbers from 0 on, not fractions 0..1 */
};

/* Texts are the result's. "83.3 %"; "block=64 regs=16"; "16..40" of key k; its value alone. */
const char *sweep_percent(const struct sweep_view *v, size_t point);
const char *sweep_point_text(const struct sweep_view *v, size_t point);
const char *sweep_span_text(const struct sweep_view *v, size_t from, size_t to, size_t k);

/* "%occupancy block=64 regs=16 device=A100": the line that asks for one point of the sweep. */
const char *sweep_call_text(const struct sweep_view *v, size_t point);

/* The first point with the highest, and the lowest, value; whether all have the same. */
size_t sweep_best(const struct sweep_view *v);
size_t sweep_worst(const struct sweep_view *v);
bool sweep_is_flat(const struct sweep_view *v);

/* The last of the neighbours after a point of the only key that have its value. */
size_t sweep_level_end(const struct sweep_view *v, size_t point);

/*
 * Two keys: the values in percent, first key down, second to the right, equal neighbouring
 * columns as one.
 */
void sweep_add_matrix(const struct sweep_view *v);

/* Three keys and more: the best points. */
void sweep_add_best(const struct sweep_view *v);

/* A new object: what the sweep field says of point i; `of` is what sweep_set_fields was given. */
typedef json_t *sweep_point_json(const struct sweep_view *v, const void *of, size_t i);

/*
 * Fills the field sweep, one entry a point, and with has_best the field best: the entry of
 * sweep_best. Fails with ResourceError.
 */
int sweep_set_fields(const struct sweep_view *v, sweep_point_json *point_json, const void *of,
                     bool has_best, struct err *err) MUST_CHECK;

/* How the values of key k, one of the last two, lie best along an axis. */
enum figure_scale sweep_scale(const struct sweep *sweep, size_t k);

/* The figure of one or two keys; its conclusion is the view's answer, set before. */
void sweep_add_figure(const struct sweep_view *v);

#endif
