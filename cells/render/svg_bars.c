/*
 * Bars lie, so that names of variants have room. A bar's length is its value
 * only from zero on; a logarithmic axis has no zero, so there the value is a
 * point at the end of a thin line, and no length lies about a ratio.
 */
#include "cells/render/axis.h"
#include "cells/render/panels.h"

#include <math.h>
#include <stdio.h>

enum {
    BAR = 14 * PX,
    BAR_GAP = 2 * PX,
    GROUP_GAP = 11 * PX,
    BAR_AXIS = 39 * PX, /* ticks and label */
    MOST_NAME = 240 * PX,
    MOST_LABEL = 150 * PX,
    MOST_BARS = 160,
};

static int group_height(const struct figure_bars *bars)
{
    return (int)bars->series_count * (BAR + BAR_GAP) - BAR_GAP + GROUP_GAP;
}

/* How many groups are drawn: a picture of thousands of bars is no picture. */
static size_t drawn_groups(const struct figure_bars *bars)
{
    size_t most = bars->series_count ? MOST_BARS / bars->series_count : 0;

    if (most < 1)
        most = 1;
    return bars->group_count < most ? bars->group_count : most;
}

static size_t drawn_series(const struct figure_bars *bars)
{
    return bars->series_count < MOST_BARS ? bars->series_count : MOST_BARS;
}

static enum legend_kind legend_of(const struct figure_bars *bars)
{
    return bars->value.scale == SCALE_LINEAR ? LEGEND_BARS : LEGEND_CURVES;
}

static size_t entries_of(const struct figure_bars *bars, struct legend_entry entries[LEGEND_MAX])
{
    size_t n = 0, i;

    if (bars->series_count < 2)
        return 0;
    for (i = 0; i < bars->series_count && n < LEGEND_MAX; i++)
        if (bars->series[i])
            entries[n++] = (struct legend_entry){ bars->series[i], legend_of(bars), i };
    return n;
}

static bool is_empty(const struct figure_bars *bars)
{
    return !bars->group_count || !bars->series_count;
}

static int plot_height(const struct figure_bars *bars)
{
    struct figure_bars drawn = *bars;

    if (is_empty(bars))
        return 60 * PX;
    drawn.series_count = drawn_series(bars);
    return (int)drawn_groups(bars) * group_height(&drawn) + GROUP_GAP;
}

int bars_height(const struct figure_bars *bars, bool has_title, int width)
{
    struct legend_entry entries[LEGEND_MAX];
    size_t n = entries_of(bars, entries);

    return (has_title ? PANEL_TITLE : 0) + plot_height(bars) + BAR_AXIS +
           pen_legend(NULL, 0, 0, width, entries, n, true);
}

/* The words beside a bar: the magic's, else the value. */
static const char *label_of(const struct figure_bars *bars, size_t i, char out[TEXT_NUMBER])
{
    if (bars->labels && bars->labels[i])
        return bars->labels[i];
    if (!isfinite(bars->values[i]))
        return "no value";
    return axis_label(out, bars->value.unit, bars->values[i]);
}

static int names_width(const struct figure_bars *bars)
{
    int width = 0;
    size_t g;

    for (g = 0; g < drawn_groups(bars); g++) {
        const char *name = bars->groups[g] ? bars->groups[g] : "";
        int w = pen_text_width(SIZE_NORMAL, LOOK_PLAIN, name);

        width = w > width ? w : width;
    }
    return width < MOST_NAME ? width : MOST_NAME;
}

static int labels_width(const struct figure_bars *bars)
{
    size_t n = drawn_groups(bars) * bars->series_count, i;
    int width = 0;

    for (i = 0; i < n; i++) {
        char text[TEXT_NUMBER];
        int w = pen_text_width(SIZE_SMALL, LOOK_PLAIN, label_of(bars, i, text));

        width = w > width ? w : width;
    }
    return width < MOST_LABEL ? width : MOST_LABEL;
}

static struct axis make_axis(const struct figure_bars *bars, int from, int to)
{
    struct axis_range range = AXIS_RANGE_EMPTY;
    size_t n = bars->group_count * bars->series_count, i;

    for (i = 0; i < n; i++)
        axis_range_add(&range, bars->value.scale, bars->values[i]);
    if (range.min <= range.max)
        axis_range_add(&range, bars->value.scale, bars->base);
    return axis_make(&bars->value, range, true, from, to);
}

static void draw_axis(struct drawing *d, const struct figure_bars *bars, const struct axis *axis,
                      int top, int bottom)
{
    double ticks[AXIS_MAX_TICKS];
    char text[TEXT_NUMBER], label[200];
    size_t n = axis_ticks_fitting(axis, ticks), i;

    for (i = 0; i < n; i++) {
        int x = axis_at(axis, ticks[i]);

        pen_line(d, x, top, x, bottom, "stroke=\"" COLOUR_GRID "\"");
        pen_text(d, x, bottom + 15 * PX, ANCHOR_MIDDLE, SIZE_SMALL, LOOK_MUTED, 0,
                 axis_label(text, axis->unit, ticks[i]));
    }
    if (!bars->value.label)
        return;
    snprintf(label, sizeof(label), "%.150s%s", bars->value.label,
             axis->scale == SCALE_LINEAR ? "" : " (logarithmic)");
    pen_text(d, (axis->from + axis->to) / 2, bottom + 31 * PX, ANCHOR_MIDDLE, SIZE_SMALL,
             LOOK_MUTED, 0, label);
}

static void draw_bar(struct drawing *d, const struct axis *axis, size_t series, int from, int to,
                     int y)
{
    struct box box = { from < to ? from : to, y, from < to ? to - from : from - to, BAR };
    char attributes[160];

    if (axis->scale == SCALE_LINEAR) {
        snprintf(attributes, sizeof(attributes), "fill=\"%s\" stroke=\"%s\" stroke-width=\"0.7\"",
                 pen_fill(d, pen_series_fill(series)), COLOUR_MUTED);
        pen_rect(d, box, 0, attributes);
        return;
    }
    snprintf(attributes, sizeof(attributes), "stroke=\"%s\" stroke-width=\"1.5\"%s%s%s",
             pen_series_colour(series), *pen_series_dashes(series) ? " stroke-dasharray=\"" : "",
             pen_series_dashes(series), *pen_series_dashes(series) ? "\"" : "");
    pen_line(d, from, y + BAR / 2, to, y + BAR / 2, attributes);
    buf_puts(&d->body, "<path d=\"");
    pen_put_marker(&d->body, series, to, y + BAR / 2);
    buf_printf(&d->body, "\" fill=\"%s\"/>\n", pen_series_colour(series));
}

/* A base that the axis cannot show (0 on a logarithmic one) is its end. */
static int base_of(const struct figure_bars *bars, const struct axis *axis)
{
    return axis_shows(axis, bars->base) ? axis_at(axis, bars->base) : axis->from;
}

static void draw_group(struct drawing *d, const struct figure_bars *bars, const struct axis *axis,
                       size_t group, int y)
{
    int zero = base_of(bars, axis);
    size_t s;

    for (s = 0; s < drawn_series(bars); s++) {
        size_t i = group * bars->series_count + s;
        char text[TEXT_NUMBER];
        int end = zero;

        if (axis_shows(axis, bars->values[i])) {
            end = axis_at(axis, bars->values[i]);
            draw_bar(d, axis, s, zero, end, y);
        }
        pen_text(d, (end > zero ? end : zero) + 6 * PX, y + 11 * PX, ANCHOR_START, SIZE_SMALL,
                 LOOK_PLAIN, MOST_LABEL, label_of(bars, i, text));
        y += BAR + BAR_GAP;
    }
}

void bars_draw(struct drawing *d, const struct panel *panel, struct box box)
{
    const struct figure_bars *bars = &panel->bars;
    int top = panel_title(d, panel, box), height = plot_height(bars), bottom = top + height;
    struct legend_entry entries[LEGEND_MAX];
    int names, y = top + GROUP_GAP, group, base;
    struct figure_bars drawn = *bars;
    struct axis axis;
    size_t g;

    if (is_empty(bars)) {
        panel_empty(d, (struct box){ box.x, top, box.width, height });
        return;
    }
    drawn.series_count = drawn_series(bars);
    group = group_height(&drawn);
    names = names_width(bars);
    axis = make_axis(bars, box.x + names + 8 * PX, box.x + box.width - labels_width(bars) - 8 * PX);
    draw_axis(d, bars, &axis, top + GROUP_GAP / 2, bottom - GROUP_GAP / 2);
    for (g = 0; g < drawn_groups(bars); g++, y += group) {
        pen_text(d, box.x + names, y + (group - GROUP_GAP) / 2 + 4 * PX, ANCHOR_END, SIZE_NORMAL,
                 LOOK_PLAIN, MOST_NAME, bars->groups[g]);
        draw_group(d, bars, &axis, g, y);
    }
    if (g < bars->group_count || drawn.series_count < bars->series_count)
        d->is_coarse = true;
    base = base_of(bars, &axis);
    pen_line(d, base, top + GROUP_GAP / 2, base, bottom - GROUP_GAP / 2,
             "stroke=\"" COLOUR_AXIS "\"");
    pen_legend(d, box.x, bottom + BAR_AXIS, box.width, entries, entries_of(bars, entries), false);
}
