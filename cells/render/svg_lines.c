/*
 * Curves. Each differs in colour, dashes and marker; the point that was asked
 * for carries a ring and its words. Of many points, those that fall on the same
 * column of pixels are drawn as one stroke from the lowest to the highest.
 */
#include "cells/render/axis.h"
#include "cells/render/panels.h"

#include <math.h>
#include <stdio.h>

enum {
    Y_LABEL = 20 * PX,
    X_TICKS = 18 * PX,
    X_LABEL = 20 * PX,
    INSET = 5 * PX, /* a curve at 100 % does not lie on the edge */
    FEW_POINTS = 40,
    MOST_MARKERS = 120,
    MOST_CURVES = 64,
};

struct plot {
    struct box box;
    struct axis x, y;
};

static int plot_height(int width)
{
    if (width > 500 * PX)
        return 220 * PX;
    return width > 300 * PX ? 170 * PX : 150 * PX;
}

static size_t look_of(const struct figure_series *s, size_t i)
{
    return s->look ? s->look - 1 : i;
}

static size_t entries_of(const struct figure_lines *lines, struct legend_entry entries[LEGEND_MAX])
{
    const struct figure_series *s;
    size_t n = 0, i = 0;

    for (s = lines->series; s && n < LEGEND_MAX; s = s->next, i++)
        if (s->name && *s->name)
            entries[n++] = (struct legend_entry){ s->name, LEGEND_CURVES, look_of(s, i) };
    /* One curve needs no key: the axis says what it is. */
    return lines->series && !lines->series->next ? 0 : n;
}

static int legend_height(const struct figure_lines *lines, int width)
{
    struct legend_entry entries[LEGEND_MAX];
    size_t n = entries_of(lines, entries);

    return pen_legend(NULL, 0, 0, width, entries, n, true);
}

int lines_height(const struct figure_lines *lines, bool has_title, int width)
{
    return (has_title ? PANEL_TITLE : 0) + Y_LABEL + plot_height(width) + X_TICKS + X_LABEL +
           legend_height(lines, width);
}

static struct axis_range range_of(const struct figure_lines *lines, bool is_x)
{
    struct axis_range range = AXIS_RANGE_EMPTY;
    enum figure_scale scale = is_x ? lines->x.scale : lines->y.scale;
    const struct figure_reference *r;
    const struct figure_series *s;
    size_t i;

    for (s = lines->series; s; s = s->next)
        for (i = 0; i < s->count; i++)
            if (isfinite(s->x[i]) && isfinite(s->y[i]))
                axis_range_add(&range, scale, is_x ? s->x[i] : s->y[i]);
    for (r = lines->references; r; r = r->next)
        if (r->is_vertical == is_x)
            axis_range_add(&range, scale, r->at);
    if (is_x && lines->has_highlight)
        axis_range_add(&range, scale, lines->highlight_x);
    return range;
}

static int tick_room(const struct axis *y)
{
    double ticks[AXIS_MAX_TICKS];
    size_t n = axis_ticks(y, 5, ticks), i;
    int room = 0;

    for (i = 0; i < n; i++) {
        char text[TEXT_NUMBER];
        int w = pen_text_width(SIZE_SMALL, LOOK_MUTED, axis_label(text, y->unit, ticks[i]));

        room = w > room ? w : room;
    }
    return room + 8 * PX;
}

/* Half of the last tick label stands beyond the plot; narrow panels keep room for it. */
enum { RIGHT_ROOM = 16 * PX };

static struct plot make_plot(const struct figure_lines *lines, struct box box)
{
    int bottom = box.y + Y_LABEL + plot_height(box.width), top = box.y + Y_LABEL, left;
    struct plot plot;

    plot.y = axis_make(&lines->y, range_of(lines, false), true, bottom, top + INSET);
    left = box.x + tick_room(&plot.y);
    plot.x =
        axis_make(&lines->x, range_of(lines, true), false, left, box.x + box.width - RIGHT_ROOM);
    plot.box = (struct box){ left, top, plot.x.to - left, bottom - top };
    return plot;
}

static void draw_axes(struct drawing *d, const struct figure_lines *lines, const struct plot *plot,
                      struct box box)
{
    const struct box *b = &plot->box;
    int bottom = b->y + b->height, right = b->x + b->width;
    double ticks[AXIS_MAX_TICKS];
    char text[TEXT_NUMBER];
    size_t n, i;

    pen_text(d, box.x, box.y + 11 * PX, ANCHOR_START, SIZE_SMALL, LOOK_MUTED, box.width,
             lines->y.label);
    n = axis_ticks(&plot->y, 5, ticks);
    for (i = 0; i < n; i++) {
        int y = axis_at(&plot->y, ticks[i]);

        pen_line(d, b->x, y, right, y, "stroke=\"" COLOUR_GRID "\"");
        pen_text(d, b->x - 6 * PX, y + 4 * PX, ANCHOR_END, SIZE_SMALL, LOOK_MUTED, 0,
                 axis_label(text, plot->y.unit, ticks[i]));
    }
    pen_line(d, b->x, bottom, right, bottom, "stroke=\"" COLOUR_AXIS "\"");
    n = axis_ticks_fitting(&plot->x, ticks);
    for (i = 0; i < n; i++) {
        int x = axis_at(&plot->x, ticks[i]);

        pen_line(d, x, bottom, x, bottom + 4 * PX, "stroke=\"" COLOUR_AXIS "\"");
        pen_text(d, x, bottom + 16 * PX, ANCHOR_MIDDLE, SIZE_SMALL, LOOK_MUTED, 0,
                 axis_label(text, plot->x.unit, ticks[i]));
    }
    pen_text(d, (b->x + right) / 2, bottom + X_TICKS + 13 * PX, ANCHOR_MIDDLE, SIZE_SMALL,
             LOOK_MUTED, box.width, lines->x.label);
}

static void draw_references(struct drawing *d, const struct figure_lines *lines,
                            const struct plot *plot)
{
    static const char look[] = "stroke=\"" COLOUR_MUTED "\" stroke-dasharray=\"4 3\"";
    const struct figure_reference *r;
    const struct box *b = &plot->box;

    for (r = lines->references; r; r = r->next) {
        if (!axis_shows(r->is_vertical ? &plot->x : &plot->y, r->at))
            continue;
        if (r->is_vertical) {
            int x = axis_at(&plot->x, r->at);
            bool is_left = x > b->x + b->width / 2;

            pen_line(d, x, b->y, x, b->y + b->height, look);
            pen_text(d, x + (is_left ? -4 : 4) * PX, b->y + b->height - 6 * PX,
                     is_left ? ANCHOR_END : ANCHOR_START, SIZE_SMALL, LOOK_MUTED, 0, r->label);
        } else {
            int y = axis_at(&plot->y, r->at);

            pen_line(d, b->x, y, b->x + b->width, y, look);
            pen_text(d, b->x + b->width, y - 4 * PX, ANCHOR_END, SIZE_SMALL, LOOK_MUTED, b->width,
                     r->label);
        }
    }
}

/* The part of a curve that falls on one column of pixels. */
struct column {
    int x, first, low, high, last;
    bool is_open;
};

static void flush_column(struct buf *path, struct column *c)
{
    if (!c->is_open)
        return;
    if (c->low != c->high) {
        int turn = c->first <= c->last ? c->low : c->high;
        int back = c->first <= c->last ? c->high : c->low;

        if (turn != c->first) {
            buf_putc(path, 'V');
            pen_number(path, turn);
        }
        if (back != turn) {
            buf_putc(path, 'V');
            pen_number(path, back);
        }
        if (c->last != back) {
            buf_putc(path, 'V');
            pen_number(path, c->last);
        }
    }
    c->is_open = false;
}

static void add_point(struct buf *path, struct column *c, int x, int y, bool is_start, bool is_step)
{
    if (c->is_open && x == c->x && !is_start) {
        c->low = y < c->low ? y : c->low;
        c->high = y > c->high ? y : c->high;
        c->last = y;
        return;
    }
    flush_column(path, c);
    if (is_start) {
        buf_putc(path, 'M');
        pen_point(path, x, y);
    } else if (!is_step) {
        buf_putc(path, 'L');
        pen_point(path, x, y);
    } else {
        buf_putc(path, 'H');
        pen_number(path, x);
        if (y != c->last) {
            buf_putc(path, 'V');
            pen_number(path, y);
        }
    }
    *c = (struct column){ x, y, y, y, y, true };
}

static bool is_drawn(const struct figure_series *s, const struct plot *plot, size_t i)
{
    return axis_shows(&plot->x, s->x[i]) && axis_shows(&plot->y, s->y[i]);
}

static bool is_followed(const struct figure_series *s, const struct plot *plot, size_t i)
{
    return i + 1 < s->count && is_drawn(s, plot, i + 1);
}

static void put_curve(struct drawing *d, const struct figure_series *s, const struct plot *plot)
{
    int width = d->coarseness ? PX << d->coarseness : 1;
    struct column column = { 0 };
    bool is_start = true;
    size_t i;

    /* With a few points, exact places; with many, one stroke a column of pixels. */
    if (!d->coarseness && s->count > (size_t)plot->box.width / PX)
        width = PX;
    for (i = 0; i < s->count; i++) {
        int x, y;

        if (!is_drawn(s, plot, i)) {
            flush_column(&d->body, &column);
            is_start = true;
            continue;
        }
        x = axis_at(&plot->x, s->x[i]);
        y = axis_at(&plot->y, s->y[i]);
        /* A flat stretch of a staircase is one stroke. */
        if (s->is_step && !is_start && y == column.last && column.low == column.high &&
            is_followed(s, plot, i))
            continue;
        add_point(&d->body, &column, plot->box.x + (x - plot->box.x) / width * width, y, is_start,
                  s->is_step);
        is_start = false;
    }
    flush_column(&d->body, &column);
}

static void draw_markers(struct drawing *d, const struct figure_series *s, size_t look,
                         const struct plot *plot)
{
    bool has_markers = s->has_markers ? s->count <= (size_t)MOST_MARKERS >> d->coarseness
                                      : s->count <= FEW_POINTS && !s->is_step;
    size_t i;

    if (s->is_bare || (!has_markers && !s->is_points && s->count > 1))
        return;
    buf_puts(&d->body, "<path d=\"");
    for (i = 0; i < s->count; i++)
        if (is_drawn(s, plot, i))
            pen_put_marker(&d->body, look, axis_at(&plot->x, s->x[i]), axis_at(&plot->y, s->y[i]));
    buf_printf(&d->body, "\" fill=\"%s\" stroke=\"" COLOUR_CARD "\" stroke-width=\"0.8\"/>\n",
               pen_series_colour(look));
}

static void draw_line(struct drawing *d, const struct figure_series *s, size_t look,
                      const struct plot *plot)
{
    buf_puts(&d->body, "<path d=\"");
    put_curve(d, s, plot);
    buf_printf(&d->body,
               "\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"%s%s%s "
               "stroke-linejoin=\"round\"/>\n",
               pen_series_colour(look), *pen_series_dashes(look) ? " stroke-dasharray=\"" : "",
               pen_series_dashes(look), *pen_series_dashes(look) ? "\"" : "");
}

static void draw_series(struct drawing *d, const struct figure_lines *lines,
                        const struct plot *plot)
{
    const struct figure_series *s;
    size_t i = 0;

    for (s = lines->series; s; s = s->next, i++) {
        if (i == MOST_CURVES) {
            d->is_coarse = true;
            return;
        }
        if (!s->is_points)
            draw_line(d, s, look_of(s, i), plot);
        draw_markers(d, s, look_of(s, i), plot);
    }
}

/* The height of a curve at x: of the last point not after it, or between its neighbours. */
static bool value_at(const struct figure_series *s, double x, double *y)
{
    size_t i;

    for (i = s->count; i-- > 0;) {
        if (!isfinite(s->x[i]) || !isfinite(s->y[i]) || s->x[i] > x)
            continue;
        *y = s->y[i];
        if (!s->is_step && s->x[i] < x && i + 1 < s->count && isfinite(s->y[i + 1]) &&
            s->x[i + 1] > x)
            *y += (s->y[i + 1] - s->y[i]) * ((x - s->x[i]) / (s->x[i + 1] - s->x[i]));
        return true;
    }
    return false;
}

static bool is_inside(const struct box *b, int x, int y)
{
    return x >= b->x && x <= b->x + b->width && y >= b->y && y <= b->y + b->height;
}

/* How much of the curves a label in this box would cover; a sample of very long ones. */
static size_t covered(const struct figure_lines *lines, const struct plot *plot,
                      const struct box *b)
{
    enum { PARTS = 8, SAMPLE = 2000 };
    const struct figure_series *s;
    size_t hits = 0, i;
    int k;

    for (s = lines->series; s; s = s->next) {
        for (i = 0; i < s->count; i += 1 + s->count / SAMPLE) {
            int x1, x2, y1, y2;

            if (!is_drawn(s, plot, i) || !is_followed(s, plot, i))
                continue;
            x1 = axis_at(&plot->x, s->x[i]);
            x2 = axis_at(&plot->x, s->x[i + 1]);
            y1 = axis_at(&plot->y, s->y[i]);
            y2 = axis_at(&plot->y, s->y[i + 1]);
            for (k = 0; k <= PARTS; k++) {
                int y = s->is_step ? y1 : y1 + (y2 - y1) * k / PARTS;

                hits += is_inside(b, x1 + (x2 - x1) * k / PARTS, y);
                hits += s->is_step && is_inside(b, x2, y1 + (y2 - y1) * k / PARTS);
            }
        }
    }
    return hits;
}

enum { LABEL_HEIGHT = 13 * PX };

/* A label may stand above the plot, but not over the axis's own label there. */
static bool has_room(const struct plot *plot, const struct box *at, int label_end)
{
    const struct box *b = &plot->box;

    return at->x >= b->x && at->x + at->width <= b->x + b->width + RIGHT_ROOM &&
           at->y + LABEL_HEIGHT <= b->y + b->height && at->y >= b->y - LABEL_HEIGHT - 2 * PX &&
           (at->y >= b->y || at->x >= label_end);
}

/* Near the ring, nearest places first, where it covers least. */
static void draw_highlight_label(struct drawing *d, const struct figure_lines *lines,
                                 const struct plot *plot, int x, int y, int label_end)
{
    static const int right[] = { 7 * PX, 0, 24 * PX, 48 * PX, 72 * PX }; /* 0: to the left */
    static const int below[] = { -20 * PX, 9 * PX, 24 * PX, 42 * PX };
    const char *label = lines->highlight_label;
    int width = pen_text_width(SIZE_SMALL, LOOK_HALO, label);
    struct box best = { plot->box.x + plot->box.width + RIGHT_ROOM - width, y - 20 * PX, width,
                        LABEL_HEIGHT };
    size_t least = SIZE_MAX, i;

    for (i = 0; i < COUNT(right) * COUNT(below) && least; i++) {
        int across = right[i / COUNT(below)], down = below[i % COUNT(below)];
        struct box at = { across ? x + across : x - 7 * PX - width, y + down, width, LABEL_HEIGHT };
        size_t hits;

        if (!has_room(plot, &at, label_end))
            continue;
        hits = covered(lines, plot, &at);
        if (hits < least) {
            least = hits;
            best = at;
        }
    }
    pen_text(d, best.x, best.y + 11 * PX, ANCHOR_START, SIZE_SMALL, LOOK_HALO, 0, label);
}

static void draw_ring(struct drawing *d, int x, int y)
{
    buf_puts(&d->body, "<circle cx=\"");
    pen_number(&d->body, x);
    buf_puts(&d->body, "\" cy=\"");
    pen_number(&d->body, y);
    buf_puts(&d->body, "\" r=\"5\" fill=\"" COLOUR_CARD "\" stroke=\"" COLOUR_INK
                       "\" stroke-width=\"2.5\"/>\n");
}

/* A ring on every curve at x, one line down to the axis, the words beside the highest ring. */
static void draw_highlight(struct drawing *d, const struct figure_lines *lines,
                           const struct plot *plot, int label_end)
{
    int rings[LEGEND_MAX], bottom = plot->box.y + plot->box.height, top = bottom, x;
    const struct figure_series *s;
    size_t n = 0;
    double y;

    if (!lines->has_highlight || !axis_shows(&plot->x, lines->highlight_x))
        return;
    x = axis_at(&plot->x, lines->highlight_x);
    for (s = lines->series; s && n < LEGEND_MAX; s = s->next)
        if (value_at(s, lines->highlight_x, &y) && axis_shows(&plot->y, y))
            rings[n++] = axis_at(&plot->y, y);
    if (!n)
        return;
    for (size_t i = 0; i < n; i++)
        top = rings[i] < top ? rings[i] : top;
    pen_line(d, x, bottom, x, top, "stroke=\"" COLOUR_INK "\" stroke-dasharray=\"2 2\"");
    while (n--)
        draw_ring(d, x, rings[n]);
    if (lines->highlight_label)
        draw_highlight_label(d, lines, plot, x, top, label_end);
}

static bool has_points(const struct figure_lines *lines)
{
    struct axis_range x = range_of(lines, true), y = range_of(lines, false);

    return x.min <= x.max && y.min <= y.max;
}

void lines_draw(struct drawing *d, const struct panel *panel, struct box box)
{
    const struct figure_lines *lines = &panel->lines;
    struct legend_entry entries[LEGEND_MAX];
    int label_end = box.x;
    struct plot plot;
    size_t n;

    box.y = panel_title(d, panel, box);
    plot = make_plot(lines, box);
    if (!has_points(lines)) {
        panel_empty(d, plot.box);
        return;
    }
    draw_axes(d, lines, &plot, box);
    draw_references(d, lines, &plot);
    draw_series(d, lines, &plot);
    if (lines->y.label)
        label_end += pen_text_width(SIZE_SMALL, LOOK_MUTED, lines->y.label) + 8 * PX;
    draw_highlight(d, lines, &plot, label_end);
    n = entries_of(lines, entries);
    pen_legend(d, box.x, plot.box.y + plot.box.height + X_TICKS + X_LABEL, box.width, entries, n,
               false);
}
