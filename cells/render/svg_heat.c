/*
 * A map of two swept keys. Up to eight different values have a colour each,
 * because occupancy comes in steps and a step is what one looks for; more are
 * put into eight classes. Where a cell has room its number stands in it.
 */
#include "cells/render/axis.h"
#include "cells/render/panels.h"

#include <math.h>
#include <stdio.h>

enum {
    HEAT_AXIS = 39 * PX, /* names and label below */
    HEAT_Y_LABEL = 17 * PX,
    MOST_Y_NAME = 120 * PX,
    MOST_HEIGHT = 400 * PX,
    MOST_CELL = 26 * PX,
    ROOMY = 8 * PX, /* cells of this size stand apart */
};

/* How values become steps of the ramp. */
struct classes {
    double value[RAMP_STEPS]; /* each different value, or the lower ends of the classes */
    double max;
    size_t count;
    bool is_exact; /* one value a class */
    bool has_gaps; /* some cells have no value */
    bool has_zero; /* and some fractions are 0: nothing fits, no step of a ramp */
};

static bool is_empty(const struct figure_heat *heat)
{
    return !heat->x_count || !heat->y_count;
}

static int map_height(const struct figure_heat *heat)
{
    int64_t wanted = (int64_t)heat->y_count * MOST_CELL;

    if (is_empty(heat))
        return 60 * PX;
    return wanted < MOST_HEIGHT ? (int)wanted : MOST_HEIGHT;
}

/* Inserts v into the sorted different values; false when it is a ninth one. */
static bool add_value(struct classes *c, double v)
{
    size_t at = 0, i;

    while (at < c->count && c->value[at] < v)
        at++;
    if (at < c->count && c->value[at] == v)
        return true;
    if (c->count == RAMP_STEPS)
        return false;
    for (i = c->count++; i > at; i--)
        c->value[i] = c->value[i - 1];
    c->value[at] = v;
    return true;
}

/* Eight equal classes; eighths of the whole for fractions, so that maps can be compared. */
static void set_classes(struct classes *c, enum figure_unit unit, struct axis_range range)
{
    size_t i;

    if (unit == UNIT_PERCENT && range.min >= 0 && range.max <= 1 && range.max - range.min > 0.5) {
        range.min = 0;
        c->max = 1;
    }
    c->count = RAMP_STEPS;
    for (i = 0; i < RAMP_STEPS; i++)
        c->value[i] = range.min + (c->max - range.min) / RAMP_STEPS * (double)i;
}

static bool is_nothing(const struct figure_heat *heat, double v)
{
    return heat->value.unit == UNIT_PERCENT && v == 0;
}

static struct classes classify(const struct figure_heat *heat)
{
    struct classes c = { .is_exact = true };
    size_t n = heat->x_count * heat->y_count, i;
    struct axis_range range = AXIS_RANGE_EMPTY;

    for (i = 0; i < n; i++) {
        if (!is_nothing(heat, heat->values[i]))
            axis_range_add(&range, SCALE_LINEAR, heat->values[i]);
        if (!isfinite(heat->values[i]))
            c.has_gaps = true;
        else if (is_nothing(heat, heat->values[i]))
            c.has_zero = true;
        else if (c.is_exact)
            c.is_exact = add_value(&c, heat->values[i]);
    }
    c.max = range.max;
    if (!c.is_exact)
        set_classes(&c, heat->value.unit, range);
    return c;
}

/* The class of a value; RAMP_STEPS where there is none, or nothing. */
static size_t class_of(const struct classes *c, double v)
{
    size_t i = c->count;

    if (!isfinite(v) || !c->count || (c->has_zero && v == 0))
        return RAMP_STEPS;
    while (i-- > 1)
        if (v >= c->value[i])
            return i;
    return 0;
}

/* A few classes are spread over the whole ramp. */
static size_t step_of(const struct classes *c, size_t class)
{
    return c->count > 1 ? class * (RAMP_STEPS - 1) / (c->count - 1) : RAMP_STEPS - 3;
}

static size_t entries_of(const struct figure_heat *heat, const struct classes *c,
                         struct legend_entry entries[LEGEND_MAX], char names[][2 * TEXT_NUMBER + 8])
{
    size_t i;

    for (i = 0; i < c->count; i++) {
        char low[TEXT_NUMBER], high[TEXT_NUMBER];
        double end = i + 1 < c->count ? c->value[i + 1] : c->max;

        axis_label(low, heat->value.unit, c->value[i]);
        axis_label(high, heat->value.unit, end);
        if (c->is_exact)
            snprintf(names[i], 2 * TEXT_NUMBER + 8, "%s", low);
        else
            snprintf(names[i], 2 * TEXT_NUMBER + 8, "%s to %s", low, high);
        entries[i] = (struct legend_entry){ names[i], LEGEND_RAMP, step_of(c, i) };
    }
    return c->count;
}

/* The steps of the ramp, then what a cell without value looks like. */
static int draw_legend(struct drawing *d, const struct figure_heat *heat, const struct classes *c,
                       int x, int y, int width, bool is_dry)
{
    char names[RAMP_STEPS][2 * TEXT_NUMBER + 8];
    struct legend_entry entries[LEGEND_MAX];
    size_t n = entries_of(heat, c, entries, names);

    if (c->has_gaps || c->has_zero)
        entries[n++] =
            (struct legend_entry){ c->has_gaps ? "no value" : "0 %", LEGEND_FILLS, FILL_NOTHING };
    return pen_legend(d, x, y, width, entries, n, is_dry);
}

int heat_height(const struct figure_heat *heat, bool has_title, int width)
{
    struct classes c = classify(heat);

    return (has_title ? PANEL_TITLE : 0) + HEAT_Y_LABEL + map_height(heat) + HEAT_AXIS +
           draw_legend(NULL, heat, &c, 0, 0, width, true);
}

static int names_room(const struct figure_heat *heat)
{
    int room = 0;
    size_t i;

    for (i = 0; i < heat->y_count; i++) {
        int w = heat->y_names[i] ? pen_text_width(SIZE_SMALL, LOOK_MUTED, heat->y_names[i]) : 0;

        room = w > room ? w : room;
    }
    return room < MOST_Y_NAME ? room : MOST_Y_NAME;
}

/* Where part `i` of `count` equal parts of a length begins. */
static int part_of(int length, size_t i, size_t count)
{
    return count ? (int)((int64_t)length * (int64_t)i / (int64_t)count) : 0;
}

static int column_x(const struct figure_heat *heat, const struct box *map, size_t x)
{
    return map->x + part_of(map->width, x, heat->x_count);
}

/* The first row stands at the bottom, as on every axis. */
static int row_y(const struct figure_heat *heat, const struct box *map, size_t y)
{
    return map->y + map->height - part_of(map->height, y + 1, heat->y_count);
}

static struct box cell_box(const struct figure_heat *heat, const struct box *map, size_t x,
                           size_t y)
{
    int left = column_x(heat, map, x), top = row_y(heat, map, y);
    int bottom = y ? row_y(heat, map, y - 1) : map->y + map->height;

    return (struct box){ left, top, column_x(heat, map, x + 1) - left, bottom - top };
}

/* How many neighbours share a mark, so that no mark is thinner than a pixel. */
static size_t merged(size_t count, int room, int coarseness)
{
    size_t pixels = (size_t)(room / PX) >> coarseness;

    if (pixels < 1)
        pixels = 1;
    return (count + pixels - 1) / pixels;
}

/* All cells of one class as one path: runs of equal neighbours are one box. */
static void put_class(struct drawing *d, const struct figure_heat *heat, const struct classes *c,
                      const struct box *map, size_t class)
{
    size_t across = merged(heat->x_count, map->width, d->coarseness);
    size_t down = merged(heat->y_count, map->height, d->coarseness), x, y, end;
    bool is_roomy =
        map->width / (int)heat->x_count >= ROOMY && map->height / (int)heat->y_count >= ROOMY;

    d->is_coarse |= across > 1 || down > 1;
    for (y = 0; y < heat->y_count; y += down) {
        for (x = 0; x < heat->x_count; x = end) {
            const double *row = &heat->values[y * heat->x_count];
            struct box b;

            end = x + across;
            if (class_of(c, row[x]) != class)
                continue;
            while (!is_roomy && end < heat->x_count && class_of(c, row[end]) == class)
                end += across;
            end = end < heat->x_count ? end : heat->x_count;
            b = cell_box(heat, map, x, y);
            b.width = column_x(heat, map, end) - b.x;
            if (down > 1) {
                size_t last = y + down < heat->y_count ? y + down - 1 : heat->y_count - 1;
                int top = row_y(heat, map, last);

                b.height += b.y - top;
                b.y = top;
            }
            if (is_roomy) {
                b.width -= PX;
                b.height -= PX;
            }
            pen_put_mark(&d->body, b);
        }
    }
}

static void draw_cells(struct drawing *d, const struct figure_heat *heat, const struct classes *c,
                       const struct box *map)
{
    size_t class;

    for (class = 0; class <= RAMP_STEPS; class ++) {
        const char *fill;

        if (class >= c->count && class < RAMP_STEPS)
            continue;
        if (class == RAMP_STEPS && !c->has_gaps && !c->has_zero)
            continue;
        fill = class == RAMP_STEPS ? pen_fill(d, FILL_NOTHING) : pen_ramp_colour(step_of(c, class));
        buf_puts(&d->body, "<path d=\"");
        put_class(d, heat, c, map, class);
        buf_printf(&d->body, "\" fill=\"%s\" shape-rendering=\"crispEdges\"/>\n", fill);
    }
}

/* Numbers only where all of them have room: half a map of numbers misleads. */
static void draw_numbers(struct drawing *d, const struct figure_heat *heat, const struct classes *c,
                         const struct box *map)
{
    size_t n = heat->x_count * heat->y_count, i;
    int width = map->width / (int)heat->x_count, height = map->height / (int)heat->y_count;
    char text[TEXT_NUMBER];

    if (height < 15 * PX || width < 20 * PX)
        return;
    for (i = 0; i < n; i++)
        if (isfinite(heat->values[i]) &&
            pen_text_width(SIZE_SMALL, LOOK_PLAIN,
                           axis_label(text, heat->value.unit, heat->values[i])) > width - 2 * PX)
            return;
    for (i = 0; i < n; i++) {
        struct box b = cell_box(heat, map, i % heat->x_count, i / heat->x_count);
        size_t class = class_of(c, heat->values[i]);

        if (!isfinite(heat->values[i]))
            continue;
        pen_text(d, b.x + b.width / 2, b.y + b.height / 2 + 4 * PX, ANCHOR_MIDDLE, SIZE_SMALL,
                 class < RAMP_STEPS && pen_ramp_is_dark(step_of(c, class)) ? LOOK_LIGHT
                                                                           : LOOK_PLAIN,
                 0, axis_label(text, heat->value.unit, heat->values[i]));
    }
}

/* Every n-th name, so that they do not touch. */
static void draw_names(struct drawing *d, const struct figure_heat *heat, const struct box *map,
                       struct box box)
{
    int widest = 0, bottom = map->y + map->height;
    size_t every, i;

    for (i = 0; i < heat->x_count; i++) {
        int w = heat->x_names[i] ? pen_text_width(SIZE_SMALL, LOOK_MUTED, heat->x_names[i]) : 0;

        widest = w > widest ? w : widest;
    }
    widest += 8 * PX;
    every = (size_t)(((int64_t)widest * (int64_t)heat->x_count + map->width - 1) / map->width);
    every = every ? every : 1;
    for (i = 0; i < heat->x_count; i += every) {
        int x = (column_x(heat, map, i) + column_x(heat, map, i + 1)) / 2;

        pen_text(d, x, bottom + 14 * PX, ANCHOR_MIDDLE, SIZE_SMALL, LOOK_MUTED, map->width,
                 heat->x_names[i]);
    }
    every = (size_t)((14 * PX * (int64_t)heat->y_count + map->height - 1) / map->height);
    every = every ? every : 1;
    for (i = 0; i < heat->y_count; i += every) {
        struct box b = cell_box(heat, map, 0, i);

        pen_text(d, map->x - 6 * PX, b.y + b.height / 2 + 4 * PX, ANCHOR_END, SIZE_SMALL,
                 LOOK_MUTED, MOST_Y_NAME, heat->y_names[i]);
    }
    pen_text(d, map->x + map->width / 2, bottom + 31 * PX, ANCHOR_MIDDLE, SIZE_SMALL, LOOK_MUTED,
             map->width, heat->x.label);
    pen_text(d, box.x, map->y - 6 * PX, ANCHOR_START, SIZE_SMALL, LOOK_MUTED, box.width,
             heat->y.label);
}

/* A frame around a tiny cell would hide it: it gets some room. */
static void widen(int *at, int *length)
{
    if (*length >= ROOMY)
        return;
    *at -= (ROOMY - *length) / 2;
    *length = ROOMY;
}

static void draw_highlight(struct drawing *d, const struct figure_heat *heat, const struct box *map)
{
    struct box b;

    if (!heat->has_highlight)
        return;
    b = cell_box(heat, map, heat->highlight_x, heat->highlight_y);
    widen(&b.x, &b.width);
    widen(&b.y, &b.height);
    pen_rect(d, b, 0, "fill=\"none\" stroke=\"#ffffff\" stroke-width=\"5\"");
    pen_rect(d, b, 0, "fill=\"none\" stroke=\"" COLOUR_INK "\" stroke-width=\"2.5\"");
}

void heat_draw(struct drawing *d, const struct panel *panel, struct box box)
{
    const struct figure_heat *heat = &panel->heat;
    struct classes c = classify(heat);
    int top = panel_title(d, panel, box) + HEAT_Y_LABEL, names = names_room(heat) + 8 * PX;
    struct box map = { box.x + names, top, box.width - names, map_height(heat) };

    if (is_empty(heat)) {
        panel_empty(d, map);
        return;
    }
    draw_cells(d, heat, &c, &map);
    draw_numbers(d, heat, &c, &map);
    draw_names(d, heat, &map, box);
    draw_highlight(d, heat, &map);
    draw_legend(d, heat, &c, box.x, map.y + map.height + HEAT_AXIS, box.width, false);
}
