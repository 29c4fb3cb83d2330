/*
 * An axis: from values to tenths of a pixel, and where its ticks stand. Only
 * exact arithmetic and the four operations are used, never libm's logarithm,
 * so that ticks and curves are the same bytes on every machine.
 */
#ifndef WB_CELLS_RENDER_AXIS_H
#define WB_CELLS_RENDER_AXIS_H

#include "cells/figure.h"
#include "cells/render/text.h"

enum { AXIS_MAX_TICKS = 14 };

/* Smallest and largest value that an axis can show, and whether all are whole numbers. */
struct axis_range {
    double min, max; /* min > max: nothing yet */
    bool is_whole;
};

struct axis {
    enum figure_scale scale;
    enum figure_unit unit;
    double min, max; /* min < max; above 0 on a logarithmic scale */
    int from, to;    /* where they are; from > to on a vertical axis */
    bool is_whole;
};

#define AXIS_RANGE_EMPTY ((struct axis_range){ 1, 0, true })

/* Takes v into account; what the scale cannot show (NaN, infinities, log of 0) is skipped. */
void axis_range_add(struct axis_range *range, enum figure_scale scale, double v);

/*
 * An axis from `from` to `to`. With has_room it starts at 0 (a linear scale without negative
 * values) and ends at a round number, so that heights can be compared; else it is the range.
 */
struct axis axis_make(const struct figure_axis *wanted, struct axis_range range, bool has_room,
                      int from, int to);

bool axis_shows(const struct axis *axis, double v);

/* The place of v, kept between from and to. */
int axis_at(const struct axis *axis, double v);

/* Up to `most` ticks (<= AXIS_MAX_TICKS), rising; returns how many. */
size_t axis_ticks(const struct axis *axis, size_t most, double ticks[AXIS_MAX_TICKS]);

/* As many ticks of a horizontal axis as fit with their labels beside each other. */
size_t axis_ticks_fitting(const struct axis *axis, double ticks[AXIS_MAX_TICKS]);

const char *axis_label(char out[TEXT_NUMBER], enum figure_unit unit, double v);

/* log2 to about 2^-40, by squaring: the same on every machine. v > 0, finite. */
double axis_log2(double v);

#endif
