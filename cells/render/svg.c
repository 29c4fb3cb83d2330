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
    }
}

/* Curve panels that follow each other share rows of up to three; others have their own row. */
static size_t side_by_side(const struct panel *panel)
{
    size_t n = 0;

    if (panel->kind != PANEL_LINES)
        return 1;
    for (; panel && panel->kind == PANEL_LINES; panel = panel->next)
        n++;
    if (n == 4)
        return 2;
    return n < MOST_SIDE_BY_SIDE ? n : MOST_SIDE_BY_SIDE;
}

/* Draws n panels in one row; returns its height. */
static int draw_row(struct drawing *d, const struct panel *panel, size_t n, int y)
{
    int inner = CARD_WIDTH - 2 * MARGIN;
    int width = (inner - ((int)n - 1) * GUTTER) / (int)n, height = 0;
    const struct panel *p;
    size_t i;

    for (i = 0, p = panel; i < n; i++, p = p->next) {
        int h = panel_height(p, width);

        height = h > height ? h : height;
    }
    for (i = 0, p = panel; i < n; i++, p = p->next)
        draw_panel(d, p, (struct box){ MARGIN + (int)i * (width + GUTTER), y, width, height });
    return height;
}

static int draw_panels(struct drawing *d, const struct figure *figure, int y)
{
    const struct panel *panel = figure->first;
    size_t drawn = 0, left = 0, n = 0, i;

    while (panel && drawn < MOST_PANELS) {
        /* A row that was begun keeps its width, so that its curves can be compared. */
        if (!left) {
            n = side_by_side(panel);
            for (const struct panel *p = panel; p && p->kind == panel->kind; p = p->next)
                left++;
        }
        if (panel->kind != PANEL_LINES)
            left = 1;
        i = n < left ? n : left;
        y += draw_row(d, panel, i, y) + GUTTER;
        left -= i;
        drawn += i;
        while (i--)
            panel = panel->next;
    }
    if (panel)
        d->is_coarse = true;
    return y - GUTTER;
}

/* Words in lines of at most `room`; returns the base line below the last one. */
static int draw_words(struct drawing *d, int y, int room, const char *text, size_t size)
{
    size_t at = 0;

    while (at < size) {
        struct buf line = { 0 };
        size_t end = at, next;

        for (next = at; next < size; next = end) {
            end = next + strspn(text + next, " ");
            end += strcspn(text + end, " \n");
            end = end < size ? end : size;
            buf_cut(&line, 0);
            buf_put(&line, text + at, end - at);
            if (next > at && pen_text_width(SIZE_NORMAL, LOOK_MUTED, buf_text(&line)) > room)
                break;
        }
        buf_cut(&line, 0);
        buf_put(&line, text + at, (next < size ? next : size) - at);
        pen_text(d, MARGIN, y, ANCHOR_START, SIZE_NORMAL, LOOK_MUTED, room, buf_text(&line));
        d->body.is_failed |= line.is_failed;
        buf_done(&line);
        at = next < size ? next + strspn(text + next, " ") : size;
        y += LINE;
    }
    return y;
}

static int draw_heading(struct drawing *d, const struct figure *figure)
{
    int y = MARGIN + 10 * PX, room = CARD_WIDTH - 2 * MARGIN;
    size_t size = strcspn(figure->conclusion, "\n");

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
