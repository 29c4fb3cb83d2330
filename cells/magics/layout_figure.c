/*
 * The picture of a layout: the block in the shape that the programmer gave it,
 * coloured by warp, and below it the warps, lane by lane.
 */
#include "cells/figure.h"
#include "cells/internal.h"
#include "cells/magics/layout.h"

enum {
    MOST_ROWS = 64,
    COLOURS = 6, /* warps are told apart by these, in turn */
    STATE_THREAD = 0,
    STATE_ASKED,
    STATE_IDLE,
};

static const enum figure_tone WARP_TONES[COLOURS] = { TONE_SELECTED,  TONE_NOT_SELECTED,
                                                      TONE_STALLED_3, TONE_STALLED_2,
                                                      TONE_STALLED_4, TONE_STALLED };

/* "warp 0", or "warps 0, 6, ..." where several share a colour. */
static void name_colours(struct result *result, const struct layout_point *p,
                         struct figure_state states[COLOURS])
{
    for (int i = 0; i < COLOURS; i++) {
        states[i].tone = WARP_TONES[i];
        states[i].name = i + COLOURS < p->layout.warps
                             ? result_text(result, "warps %d, %d%s", i, i + COLOURS,
                                           i + 2 * COLOURS < p->layout.warps ? ", ..." : "")
                             : result_text(result, "warp %d", i);
    }
}

/* The threads of one row of the block, each with the number of its warp. */
static void add_row(struct panel *panel, const struct layout_point *p, int64_t y, int64_t z)
{
    const char *texts[FIGURE_MARK_COLUMNS];
    uint8_t states[FIGURE_MARK_COLUMNS];
    struct figure_marks marks = { .states = states, .texts = texts };
    const struct extent *block = &p->layout.block;

    for (int64_t x = 0; x < block->x; x++) {
        int warp = (int)extent_rank(*block, (struct extent){ x, y, z }) / WARP;

        states[x] = (uint8_t)(warp % COLOURS);
        texts[x] = result_text(panel->result, "%d", warp);
    }
    marks.name = result_text(panel->result, "y = %lld", (long long)y);
    if (block->z > 1)
        marks.group = result_text(panel->result, "z = %lld", (long long)z);
    panel_marks(panel, (size_t)(z * block->y + y), &marks);
}

static void add_shape(struct figure *figure, const struct layout_point *p)
{
    const struct extent *block = &p->layout.block;
    struct figure_state states[COLOURS];
    struct panel *panel;

    if (extent_rank_of(*block) == 1 || block->x > FIGURE_MARK_COLUMNS ||
        block->y * block->z > MOST_ROWS)
        return;
    name_colours(figure->result, p, states);
    panel = figure_add_cells(figure, "The block: the warp of each thread",
                             (struct figure_axis){ .label = "x" }, states, COLOURS,
                             (size_t)(block->y * block->z), (size_t)block->x, 0);
    for (int64_t z = 0; panel && z < block->z; z++)
        for (int64_t y = 0; y < block->y; y++)
            add_row(panel, p, y, z);
}

/* "warp 2: 64..95" */
static const char *warp_name(struct result *result, const struct layout_point *p, int w)
{
    int first = w * WARP, last = (int)min_i64(p->layout.threads, first + WARP) - 1;

    return result_text(result, "warp %d: %d..%d", w, first, last);
}

/* "y 3", the row of the block that a thread is in. */
static const char *row_name(struct result *result, const struct layout_point *p, int tid)
{
    struct extent at = extent_place(p->layout.block, tid);

    if (p->layout.block.z > 1)
        return result_text(result, "y %lld z %lld", (long long)at.y, (long long)at.z);
    return result_text(result, "y %lld", (long long)at.y);
}

/* The lanes of one warp, with the row of the block that they come from. */
static void add_warp(struct panel *panel, const struct layout_point *p, int w)
{
    const char *texts[WARP] = { NULL };
    uint8_t states[WARP];
    uint32_t mask = layout_mask(&p->layout, w);
    struct figure_marks marks = { .states = states, .texts = texts };
    bool has_shape = extent_rank_of(p->layout.block) > 1;

    for (int lane = 0; lane < WARP; lane++) {
        bool is_asked = p->question != LAYOUT_CUT && p->warp == w &&
                        (p->question == LAYOUT_WARP || p->lane == lane);

        states[lane] = !(mask >> lane & 1) ? STATE_IDLE : is_asked ? STATE_ASKED : STATE_THREAD;
        if (has_shape && mask >> lane & 1)
            texts[lane] = row_name(panel->result, p, w * WARP + lane);
    }
    marks.name = warp_name(panel->result, p, w);
    if (mask != UINT32_MAX)
        marks.note = result_text(panel->result, "%d of 32", __builtin_popcount(mask));
    panel_marks(panel, (size_t)w, &marks);
}

static void add_lanes(struct figure *figure, const struct layout_point *p)
{
    const struct figure_state states[] = {
        [STATE_THREAD] = { "a thread", TONE_SELECTED },
        [STATE_ASKED] = { p->question == LAYOUT_WARP ? "the warp asked for"
                                                     : "the thread asked for",
                          TONE_NOT_SELECTED },
        [STATE_IDLE] = { "idle: no thread", TONE_NONE },
    };
    struct panel *panel =
        figure_add_cells(figure, "Its warps", (struct figure_axis){ .label = "lane" }, states,
                         COUNT(states), (size_t)p->layout.warps, WARP, 8);

    for (int w = 0; panel && w < p->layout.warps; w++)
        add_warp(panel, p, w);
}

void layout_add_figure(struct result *result, const struct layout_point *p)
{
    const char *title =
        result_text(result, "A block of %s threads in warps", layout_block_text(result, p));
    struct figure *figure = figure_new(result, title,
                                       result_text(result,
                                                   "A row for each warp and a mark for "
                                                   "each of its 32 lanes. %s",
                                                   result->view.answer),
                                       result->view.answer);

    if (!figure)
        return;
    add_shape(figure, p);
    add_lanes(figure, p);
}
