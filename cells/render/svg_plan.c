/*
 * A floor plan: parts that are all alike stand side by side, what they share
 * lies below them. It is a picture of how much there is of each thing, so what
 * can be counted is drawn one by one; where a thing lies on the chip, nobody says.
 */
#include "cells/render/panels.h"

#include <stdio.h>

enum {
    MOST_A_ROW = 4, /* parts side by side */
    GAP = 8 * PX,   /* between parts */
    PADDING = 6 * PX,
    LINE = 16 * PX, /* a thing's words */
    HEAD = 18 * PX, /* a part's name */
    MARK_STEP = 88, /* 16 of them fit into the quarter of a card */
    MARK = 7 * PX,
    THING_GAP = 4 * PX,
};

/* ---- how large ---- */

static int columns_of(const struct figure_plan *plan)
{
    return plan->part_count < MOST_A_ROW ? (int)plan->part_count : MOST_A_ROW;
}

static int rows_of(const struct figure_plan *plan)
{
    return plan->part_count ? ((int)plan->part_count + MOST_A_ROW - 1) / MOST_A_ROW : 0;
}

static int part_width(const struct figure_plan *plan, int width)
{
    int columns = columns_of(plan);

    return columns ? (width - (columns - 1) * GAP) / columns : width;
}

/* Marks a row: as many as there is room for, in eights where they fit. */
static int marks_a_row(int width)
{
    int n = (width - 2 * PADDING) / MARK_STEP;

    return n > 8 ? n / 8 * 8 : n > 1 ? n : 1;
}

static bool is_one_line(const struct figure_thing *thing, int width)
{
    return !thing->note || pen_text_width(SIZE_SMALL, LOOK_STRONG, thing->name) +
                                   pen_text_width(SIZE_SMALL, LOOK_PLAIN, thing->note) +
                                   3 * PADDING <=
                               width;
}

static int marks_height(const struct figure_thing *thing, int width)
{
    int a_row = marks_a_row(width);

    return thing->marks ? ((int)thing->marks + a_row - 1) / a_row * MARK_STEP + 4 * PX : 0;
}

static int words_height(const struct figure_thing *thing, int width)
{
    return (is_one_line(thing, width) ? LINE : 2 * LINE) + 2 * PX;
}

static int thing_height(const struct figure_thing *thing, int width)
{
    return words_height(thing, width) + marks_height(thing, width);
}

static int things_height(const struct figure_thing *things, size_t count, int width)
{
    int height = 0;

    for (size_t i = 0; i < count; i++)
        height += thing_height(&things[i], width) + THING_GAP;
    return height;
}

static int part_height(const struct figure_plan *plan, int width)
{
    return HEAD + things_height(plan->things, plan->thing_count, width - 2 * PADDING) + PADDING -
           THING_GAP;
}

int plan_height(const struct figure_plan *plan, bool has_title, int width)
{
    return (has_title ? PANEL_TITLE : 0) +
           rows_of(plan) * (part_height(plan, part_width(plan, width)) + GAP) +
           things_height(plan->shared, plan->shared_count, width);
}

/* ---- drawing ---- */

static void draw_marks(struct drawing *d, const struct figure_thing *thing, struct box box)
{
    int a_row = marks_a_row(box.width);

    if (!thing->marks || d->coarseness)
        return; /* half of them would be a wrong number: all, or the words alone */
    buf_puts(&d->body, "<path d=\"");
    for (int i = 0; i < (int)thing->marks; i++)
        pen_put_mark(&d->body, (struct box){ box.x + PADDING + i % a_row * MARK_STEP,
                                             box.y + i / a_row * MARK_STEP, MARK, MARK });
    buf_printf(&d->body, "\" fill=\"%s\"/>\n", pen_fill(d, pen_tone_fill(thing->tone)));
}

/* The note at the right end of the name's line, or below it. */
static void draw_words(struct drawing *d, const struct figure_thing *thing, struct box box)
{
    int room = box.width - 2 * PADDING, left = box.x + PADDING, base = box.y + 13 * PX;

    pen_text(d, left, base, ANCHOR_START, SIZE_SMALL, LOOK_STRONG, room, thing->name);
    if (is_one_line(thing, box.width))
        pen_text(d, left + room, base, ANCHOR_END, SIZE_SMALL, LOOK_PLAIN, room, thing->note);
    else
        pen_text(d, left, base + LINE, ANCHOR_START, SIZE_SMALL, LOOK_PLAIN, room, thing->note);
}

static void draw_thing(struct drawing *d, const struct figure_thing *thing, struct box box)
{
    pen_rect(d, box, 3 * PX, "fill=\"" COLOUR_CARD "\" stroke=\"" COLOUR_BORDER "\"");
    draw_words(d, thing, box);
    box.y += words_height(thing, box.width);
    draw_marks(d, thing, box);
}

static void draw_things(struct drawing *d, const struct figure_thing *things, size_t count,
                        struct box box)
{
    for (size_t i = 0; i < count; i++) {
        box.height = thing_height(&things[i], box.width);
        draw_thing(d, &things[i], box);
        box.y += box.height + THING_GAP;
    }
}

static void draw_part(struct drawing *d, const struct figure_plan *plan, size_t part,
                      struct box box)
{
    char name[80];

    snprintf(name, sizeof(name), "%.60s %zu", plan->part ? plan->part : "", part);
    pen_rect(d, box, 5 * PX, "fill=\"" COLOUR_GRID "\" stroke=\"" COLOUR_AXIS "\"");
    pen_text(d, box.x + 2 * PADDING, box.y + 13 * PX, ANCHOR_START, SIZE_SMALL, LOOK_MUTED,
             box.width - 2 * PADDING, name);
    draw_things(d, plan->things, plan->thing_count,
                (struct box){ box.x + PADDING, box.y + HEAD, box.width - 2 * PADDING, 0 });
}

void plan_draw(struct drawing *d, const struct panel *panel, struct box box)
{
    const struct figure_plan *plan = &panel->plan;
    int width = part_width(plan, box.width), height = part_height(plan, width);
    int y = panel_title(d, panel, box);

    for (size_t i = 0; i < plan->part_count; i++)
        draw_part(d, plan, i,
                  (struct box){ box.x + (int)(i % MOST_A_ROW) * (width + GAP),
                                y + (int)(i / MOST_A_ROW) * (height + GAP), width, height });
    y += rows_of(plan) * (height + GAP);
    draw_things(d, plan->shared, plan->shared_count, (struct box){ box.x, y, box.width, 0 });
}
