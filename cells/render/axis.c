/*
 * Ticks at 1, 2 and 5 times a power of ten, or at multiples of a power of two
 * where the numbers are threads or bytes: people read those without counting.
 */
#include "cells/render/axis.h"

#include "cells/render/pen.h"

#include <math.h>

static bool can_show(enum figure_scale scale, double v)
{
    return isfinite(v) && (scale == SCALE_LINEAR || v > 0);
}

void axis_range_add(struct axis_range *range, enum figure_scale scale, double v)
{
    if (!can_show(scale, v))
        return;
    if (range->min > range->max) {
        range->min = range->max = v;
    } else {
        range->min = v < range->min ? v : range->min;
        range->max = v > range->max ? v : range->max;
    }
    range->is_whole &= v == floor(v);
}

double axis_log2(double v)
{
    int exponent, i;
    double m = frexp(v, &exponent) * 2, log = exponent - 1, bit = 0.5;

    /* Squaring doubles a logarithm: each time its next binary digit comes before the point. */
    for (i = 0; i < 40; i++, bit /= 2) {
        m *= m;
        if (m >= 2) {
            m /= 2;
            log += bit;
        }
    }
    return log;
}

static double transform(enum figure_scale scale, double v)
{
    return scale == SCALE_LINEAR ? v : axis_log2(v);
}

/* The largest power of base that is not above v, or the smallest not below it. */
static double power_below(double base, double v)
{
    double p = 1;

    while (p > v && p > 1e-300)
        p /= base;
    while (p * base <= v && p < 1e300)
        p *= base;
    return p;
}

static double power_above(double base, double v)
{
    double p = power_below(base, v);

    return p < v ? p * base : p;
}

/* The smallest round step that is at least `least`. */
static double round_step(enum figure_unit unit, double least)
{
    static const double decimal[] = { 1, 2, 5, 10 }, percent[] = { 1, 2, 2.5, 5, 10 };
    const double *steps = unit == UNIT_PERCENT ? percent : decimal;
    size_t n = unit == UNIT_PERCENT ? COUNT(percent) : COUNT(decimal), i;
    double p;

    if (unit == UNIT_BYTES || unit == UNIT_POW2)
        return power_above(2, least);
    p = power_below(10, least);
    for (i = 0; i + 1 < n && p * steps[i] < least; i++)
        ;
    return p * steps[i];
}

/* An empty or a single-point axis still needs two different ends. */
static void spread(struct axis *axis)
{
    double by = fabs(axis->max) > 2 ? fabs(axis->max) / 2 : 1;

    if (axis->min < axis->max)
        return;
    if (axis->scale != SCALE_LINEAR) {
        axis->min /= 2;
        axis->max *= 2;
    } else {
        axis->min -= by;
        axis->max += by;
    }
}

static void make_room(struct axis *axis)
{
    double base = axis->scale == SCALE_LOG2 ? 2 : 10, step;

    if (axis->scale != SCALE_LINEAR) {
        axis->min = power_below(base, axis->min);
        axis->max = power_above(base, axis->max);
        return;
    }
    if (axis->min > 0)
        axis->min = 0;
    if (axis->unit == UNIT_PERCENT && axis->max > 0.3 && axis->max <= 1) {
        axis->max = 1;
        return;
    }
    if (axis->max <= axis->min)
        axis->max = axis->min + 1;
    step = round_step(axis->unit, (axis->max - axis->min) / 5);
    axis->max = ceil(axis->max / step) * step;
    axis->min = floor(axis->min / step) * step;
}

struct axis axis_make(const struct figure_axis *wanted, struct axis_range range, bool has_room,
                      int from, int to)
{
    struct axis axis = {
        .scale = wanted->scale,
        .unit = wanted->unit,
        .min = range.min,
        .max = range.max,
        .from = from,
        .to = to,
        .is_whole = range.is_whole,
    };

    if (range.min > range.max)
        axis.min = axis.max = 1;
    if (has_room)
        make_room(&axis);
    if (wanted->min < wanted->max && can_show(axis.scale, wanted->min) && isfinite(wanted->max)) {
        axis.min = wanted->min;
        axis.max = wanted->max;
    }
    spread(&axis);
    /* Beyond any real quantity, where differences would overflow. */
    if (!isfinite(axis.max - axis.min)) {
        axis.min = -1e300;
        axis.max = 1e300;
    }
    return axis;
}

bool axis_shows(const struct axis *axis, double v)
{
    return can_show(axis->scale, v);
}

int axis_at(const struct axis *axis, double v)
{
    double low = transform(axis->scale, axis->min), high = transform(axis->scale, axis->max);
    double part = (transform(axis->scale, v) - low) / (high - low);

    if (!(part > 0))
        part = 0;
    if (part > 1)
        part = 1;
    return axis->from + (int)floor(part * (axis->to - axis->from) + 0.5);
}

static size_t linear_ticks(const struct axis *axis, size_t most, double ticks[AXIS_MAX_TICKS])
{
    double range = axis->max - axis->min,
           step = round_step(axis->unit, range / (double)(most - 1) * (1 - 1e-9));
    double first;
    size_t n = 0;

    if (axis->is_whole && axis->unit != UNIT_PERCENT && step < 1)
        step = 1;
    first = ceil(axis->min / step - 1e-9);
    /* Each tick is a product, not a sum: no error adds up. */
    while (n < most && (first + (double)n) * step <= axis->max + range * 1e-9) {
        ticks[n] = (first + (double)n) * step;
        n++;
    }
    return n;
}

static size_t log_ticks(const struct axis *axis, size_t most, double ticks[AXIS_MAX_TICKS])
{
    double base = axis->scale == SCALE_LOG2 ? 2 : 10, factor = base;
    double first = power_above(base, axis->min), v;
    size_t n;

    for (;;) {
        n = 0;
        for (v = first; v <= axis->max * (1 + 1e-12) && n <= most; v *= factor)
            if (n++ < most)
                ticks[n - 1] = v;
        if (n <= most)
            break;
        factor *= base;
    }
    /* Less than a decade: round numbers say more than a single power. */
    return n >= 2 ? n : linear_ticks(axis, most, ticks);
}

size_t axis_ticks(const struct axis *axis, size_t most, double ticks[AXIS_MAX_TICKS])
{
    if (most > AXIS_MAX_TICKS)
        most = AXIS_MAX_TICKS;
    if (most < 2)
        most = 2;
    return axis->scale == SCALE_LINEAR ? linear_ticks(axis, most, ticks)
                                       : log_ticks(axis, most, ticks);
}

size_t axis_ticks_fitting(const struct axis *axis, double ticks[AXIS_MAX_TICKS])
{
    size_t most, n = 0, i;

    for (most = 10; most >= 2; most--) {
        int end = -1000 * PX;
        bool fits = true;

        n = axis_ticks(axis, most, ticks);
        for (i = 0; i < n; i++) {
            char text[TEXT_NUMBER];
            int half =
                pen_text_width(SIZE_SMALL, LOOK_MUTED, axis_label(text, axis->unit, ticks[i])) / 2;
            int at = axis_at(axis, ticks[i]);

            fits &= at - half > end + 8 * PX;
            end = at + half;
        }
        if (fits)
            return n;
    }
    return n < 2 ? n : 2;
}

const char *axis_label(char out[TEXT_NUMBER], enum figure_unit unit, double v)
{
    if (unit == UNIT_PERCENT)
        return text_percent(out, v);
    return unit == UNIT_BYTES ? text_bytes(out, v) : text_number(out, v);
}
