/*
 * The card: title, conclusion, panels, and a note when marks were merged. The
 * body is drawn first, because only then it is known which hatches it uses.
 */
#include "cells/render/svg.h"

#include "cells/render/panels.h"
#include "cells/render/pen.h"
#include "cells/render/text.h"

#include <stdlib.h>

enum {
    CARD_WIDTH = 720 * PX,
    MARGIN = 18 * PX,
    GUTTER = 20 * PX, /* between panels */
    MOST_SIDE_BY_SIDE = 3,
    MOST_PANELS = 24,
    MOST_COARSE = 9,
    LINE = 17 * PX,
    MOST_LINES = 3, /* of the conclusion */
};

static const char FONT[] = "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,"
                           "'DejaVu Sans',sans-serif";

int panel_title(struct drawing *d, const struct panel *panel, struct box box)
{
    if (!panel->title || !*panel->title)
        return box.y;
    pen_text(d, box.x, box.y + 12 * PX, ANCHOR_START, SIZE_NORMAL, LOOK_STRONG, box.width,
             panel->title);
    return box.y + PANEL_TITLE;
}

void panel_empty(struct drawing *d, struct box box)
{
    pen_rect(d, box, 0, "fill=\"none\" stroke=\"" COLOUR_GRID "\"");
    pen_text(d, box.x + box.width / 2, box.y + box.height / 2 + 4 * PX, ANCHOR_MIDDLE, SIZE_SMALL,
             LOOK_MUTED, box.width, "no values to draw");
}

static int panel_height(const struct panel *panel, int width)
{
    bool has_title = panel->title && *panel->title;

    switch (panel->kind) {
    case PANEL_LINES:
        return lines_height(&panel->lines, has_title, width);
    case PANEL_BARS:
        return bars_height(&panel->bars, has_title, width);
    case PANEL_HEAT:
        return heat_height(&panel->heat, has_title, width);
    case PANEL_GANTT:
        return gantt_height(&panel->gantt, has_title, width);
    case PANEL_CELLS:
        return cells_height(&panel->cells, has_title, width);
    case PANEL_PLAN:
        return plan_height(&panel->plan, has_title, width);
    }
    return 0;
}

static void draw_panel(struct drawing *d, const struct panel *panel, struct box box)
{
    switch (panel->kind) {
    case PANEL_LINES:
        lines_draw(d, panel, box);
        break;
    case PANEL_BARS:
        bars_draw(d, panel, box);
        break;
    case PANEL_HEAT:
        heat_draw(d, panel, box);
        break;
    case PANEL_GANTT:
        gantt_draw(d, panel, box);
        break;
    case PANEL_CELLS:
        cells_draw(d, panel, box);
        break;
    case PANEL_PLAN:
        plan_draw(d, panel, box);
        break;
    }
}

/* Panels of the same kind that follow each other, from here on. */
static size_t run_length(const struct panel *panel)
{
    const struct panel *p;
    size_t n = 0;

    for (p = panel; p && p->kind == panel->kind; p = p->next)
        n++;
    return n;
}

/* Curve panels stand side by side, up to three a row and four as two by two. */
static size_t columns_of(const struct panel *panel, size_t run)
{
    if (panel->kind != PANEL_LINES)
        return 1;
    if (run == 4)
        return 2;
    return run < MOST_SIDE_BY_SIDE ? run : MOST_SIDE_BY_SIDE;
}

/* Draws n panels into a row that has room for `columns`; returns its height. */
static int draw_row(struct drawing *d, const struct panel *panel, size_t n, size_t columns, int y)
{
    int inner = CARD_WIDTH - 2 * MARGIN, step = (inner + GUTTER) / (int)(columns ? columns : 1);
    int width = step - GUTTER, height = 0, h;
    const struct panel *p;
    size_t i;

    for (i = 0, p = panel; i < n; i++, p = p->next) {
        h = panel_height(p, width);
        height = h > height ? h : height;
    }
    for (i = 0, p = panel; i < n; i++, p = p->next)
        draw_panel(d, p, (struct box){ MARGIN + (int)i * step, y, width, height });
    return height;
}

static int draw_panels(struct drawing *d, const struct figure *figure, int y)
{
    const struct panel *panel = figure->first;
    size_t drawn = 0, run = 0, columns = 1, n;

    while (panel && drawn < MOST_PANELS) {
        if (!run) {
            run = run_length(panel);
            columns = columns_of(panel, run);
        }
        n = run < columns ? run : columns;
        y += draw_row(d, panel, n, columns, y) + GUTTER;
        run -= n;
        drawn += n;
        while (n--)
            panel = panel->next;
    }
    if (panel)
        d->is_coarse = true;
    return y - GUTTER;
}

/* The bytes of text[0..size) that fit into `room`, whole words; at least one word. */
static size_t fitting_words(const char *text, size_t size, int room)
{
    struct buf line = { 0 };
    size_t taken = 0, end = 0;

    while (end < size) {
        end += strspn(text + end, " \n");
        end += strcspn(text + end, " \n");
        end = end < size ? end : size;
        buf_cut(&line, 0);
        buf_put(&line, text, end);
        if (taken && pen_text_width(SIZE_NORMAL, LOOK_MUTED, buf_text(&line)) > room)
            break;
        taken = end;
    }
    buf_done(&line);
    return taken;
}

/* The conclusion under the title; returns the base line below it. */
static int draw_words(struct drawing *d, int y, int room, const char *text, size_t size)
{
    size_t at = 0, lines = 0;

    while (at < size && lines++ < MOST_LINES) {
        struct buf line = { 0 };
        size_t n = lines < MOST_LINES ? fitting_words(text + at, size - at, room) : size - at;

        buf_put(&line, text + at, n);
        pen_text(d, MARGIN, y, ANCHOR_START, SIZE_NORMAL, LOOK_MUTED, room, buf_text(&line));
        d->body.is_failed |= line.is_failed;
        buf_done(&line);
        at += n + strspn(text + at + n, " \n");
        y += LINE;
    }
    return y;
}

/* The conclusion up to its details, which stand on lines that begin with a blank. */
static size_t sentence(const char *conclusion)
{
    const char *details = strstr(conclusion, "\n ");

    return details ? (size_t)(details - conclusion) : strlen(conclusion);
}

static int draw_heading(struct drawing *d, const struct figure *figure)
{
    int y = MARGIN + 10 * PX, room = CARD_WIDTH - 2 * MARGIN;
    size_t size = sentence(figure->conclusion);

    if (*figure->title) {
        pen_text(d, MARGIN, y, ANCHOR_START, SIZE_TITLE, LOOK_STRONG, room, figure->title);
        y += 20 * PX;
    }
    if (size)
        y = draw_words(d, y, room, figure->conclusion, size);
    return y;
}

static int draw_note(struct drawing *d, int y)
{
    static const char note[] = "Marks were merged or left out to keep the picture small; "
                               "the table has the numbers.";

    if (!d->is_coarse)
        return y;
    pen_text(d, MARGIN, y + LINE, ANCHOR_START, SIZE_SMALL, LOOK_MUTED, CARD_WIDTH - 2 * MARGIN,
             note);
    return y + LINE;
}

static void put_open(struct buf *out, const struct figure *figure, int height)
{
    int width = CARD_WIDTH / PX;

    height = (height + PX - 1) / PX;
    buf_printf(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"%d\" "
               "height=\"%d\" viewBox=\"0 0 %d %d\">\n<title>",
               width, height, width, height);
    text_put_xml(out, figure->title);
    buf_puts(out, "</title>\n<desc>");
    text_put_xml(out, *figure->desc ? figure->desc : figure->conclusion);
    buf_puts(out, "</desc>\n");
}

static void put_card(struct buf *out, int height)
{
    height = (height + PX - 1) / PX;
    buf_printf(out,
               "<rect x=\"0.5\" y=\"0.5\" width=\"%d\" height=\"%d\" rx=\"8\" "
               "fill=\"" COLOUR_CARD "\" stroke=\"" COLOUR_BORDER "\"/>\n",
               CARD_WIDTH / PX - 1, height - 1);
}

/* One attempt; true when the picture is complete and within limit bytes. */
static bool put_picture(struct buf *out, const struct figure *figure, int coarseness, size_t limit)
{
    struct drawing d = { .coarseness = coarseness, .is_coarse = coarseness > 0 };
    size_t start = out->size;
    int y = draw_heading(&d, figure);

    y = draw_panels(&d, figure, y);
    y = draw_note(&d, y) + MARGIN;
    put_open(out, figure, y);
    pen_put_hatches(out, d.fills);
    put_card(out, y);
    buf_printf(out, "<g font-family=\"%s\" fill=\"" COLOUR_INK "\">\n", FONT);
    buf_put(out, buf_text(&d.body), d.body.size);
    buf_puts(out, "</g>\n</svg>\n");
    out->is_failed |= d.body.is_failed;
    buf_done(&d.body);
    return out->size - start <= limit;
}

void svg_put_figure(struct buf *out, const struct figure *figure, size_t limit)
{
    size_t start = out->size;
    int coarseness;

    for (coarseness = 0; coarseness <= MOST_COARSE; coarseness++) {
        if (put_picture(out, figure, coarseness, limit) || out->is_failed)
            return;
        if (coarseness < MOST_COARSE)
            buf_cut(out, start);
    }
}
