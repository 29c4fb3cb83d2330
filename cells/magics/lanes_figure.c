/*
 * The picture of a branch: 32 lanes by passes, warp by warp, and below it who
 * issues in each cycle under the two orders.
 */
#include "cells/figure.h"
#include "cells/internal.h"
#include "cells/magics/lanes.h"

enum {
    MOST_ROWS = 96,
    MOST_CYCLES = 240,
    COLOURS = 6, /* paths are told apart by these, in turn */
    STATE_ALL = COLOURS,
    STATE_MASKED,
    STATE_NO_THREAD,
    STATE_WAITS,
    STATE_COUNT,
};

static const enum figure_tone PATH_TONES[COLOURS] = { TONE_SELECTED,  TONE_NOT_SELECTED,
                                                      TONE_STALLED_3, TONE_STALLED_2,
                                                      TONE_STALLED_4, TONE_IDLE };

/* More paths than colours have no names in the legend: their rows say them. */
static void name_states(struct result *result, const struct lanes_point *p,
                        struct figure_state states[STATE_COUNT])
{
    bool is_loop = p->form == LANES_TRIPS;

    for (int i = 0; i < COLOURS; i++) {
        states[i] = (struct figure_state){ "", PATH_TONES[i] };
        if (is_loop && i == 0)
            states[i].name = "in the loop";
        else if (!is_loop && p->key_count <= COLOURS && i < p->key_count)
            states[i].name = lanes_path_name(result, p, p->keys[i]);
    }
    states[STATE_ALL] = (struct figure_state){ "all threads", TONE_STALLED };
    states[STATE_MASKED] =
        (struct figure_state){ is_loop ? "has left it, waits" : "masked off, waits", TONE_NONE };
    states[STATE_NO_THREAD] = (struct figure_state){ NULL, TONE_NONE };
    states[STATE_WAITS] = (struct figure_state){ "all wait", TONE_NONE };
}

/* The colour of a stretch: of a path its place among the launch's, of a loop always the same. */
static uint8_t colour_of(const struct lanes_point *p, const struct lanes_warp *warp, int stretch)
{
    return warp->is_loop ? 0 : (uint8_t)(lanes_path_place(p, warp, stretch) % COLOURS);
}

static void put_row(struct panel *panel, size_t row, const struct lanes_warp *warp, uint32_t mask,
                    uint8_t colour, struct figure_marks *marks)
{
    uint8_t states[WARP];

    for (int l = 0; l < WARP; l++)
        states[l] = mask >> l & 1            ? colour
                    : warp->threads >> l & 1 ? STATE_MASKED
                                             : STATE_COUNT; /* nothing drawn */
    marks->states = states;
    panel_marks(panel, row, marks);
}

static const char *slots_text(struct result *result, int64_t slots, uint32_t mask)
{
    return result_text(result, "%s slot%s, %d lane%s", lanes_count(result, slots),
                       slots == 1 ? "" : "s", __builtin_popcount(mask),
                       __builtin_popcount(mask) == 1 ? "" : "s");
}

static size_t add_warp(struct panel *panel, const struct lanes_point *p, int64_t w, size_t row)
{
    struct result *result = panel->result;
    const struct lanes_warp *warp = &p->warps[w];
    int64_t alike = lanes_alike(p, w);
    struct figure_marks marks = { .group =
                                      p->total.warps == 1
                                          ? NULL
                                          : result_text(result, "warp%s %s", alike > 1 ? "s" : "",
                                                        lanes_warp_text(result, w, alike)) };

    for (int i = -1; i <= warp->count; i++) {
        bool is_around = i < 0 || i == warp->count;
        int64_t around = i < 0 ? p->before : p->after;

        if (is_around && !around)
            continue;
        marks.name = i < 0              ? "before"
                     : i == warp->count ? "after"
                                        : lanes_stretch_name(result, p, warp, i);
        marks.note =
            slots_text(result,
                       is_around ? around : warp->stretches[i].passes * warp->stretches[i].length,
                       is_around ? warp->threads : warp->stretches[i].mask);
        put_row(panel, row++, warp, is_around ? warp->threads : warp->stretches[i].mask,
                is_around ? STATE_ALL : colour_of(p, warp, i), &marks);
    }
    return row;
}

static size_t rows_of(const struct lanes_point *p, int64_t w)
{
    return (size_t)p->warps[w].count + (p->before > 0) + (p->after > 0);
}

static void add_masks(struct figure *figure, const struct lanes_point *p,
                      const struct figure_state states[STATE_COUNT])
{
    size_t rows = 0, row = 0;
    struct panel *panel;

    for (int64_t w = 0; w < p->total.warps && rows + rows_of(p, w) <= MOST_ROWS;
         w += lanes_alike(p, w))
        rows += rows_of(p, w);
    panel =
        figure_add_cells(figure, "The lanes of each pass", (struct figure_axis){ .label = "lane" },
                         states, STATE_COUNT, rows, WARP, 8);
    for (int64_t w = 0; panel && w < p->total.warps && row + rows_of(p, w) <= rows;
         w += lanes_alike(p, w))
        row = add_warp(panel, p, w, row);
}

/* The cycles of one order: before, the paths, after. */
static void add_order(struct panel *panel, size_t row, const struct lanes_point *p, int64_t w,
                      bool is_its, int64_t shown)
{
    struct lanes_order order = p->order;
    uint8_t states[MOST_CYCLES];
    int8_t issuer[MOST_CYCLES];
    int64_t cycles, c = 0;

    order.is_its = is_its;
    cycles = lanes_cycles(&p->warps[w], &order, issuer, MOST_CYCLES);
    for (; c < shown && c < p->before; c++)
        states[c] = STATE_ALL;
    for (int64_t k = 0; c < shown && k < cycles; k++, c++)
        states[c] = issuer[k] < 0 ? STATE_WAITS : colour_of(p, &p->warps[w], issuer[k]);
    for (int64_t k = 0; c < shown && k < p->after; k++, c++)
        states[c] = STATE_ALL;
    for (; c < shown; c++)
        states[c] = UINT8_MAX;
    panel_row(panel, row, is_its ? "its" : "stack", NULL, states, NULL);
}

static void add_orders(struct figure *figure, const struct lanes_point *p,
                       const struct figure_state states[STATE_COUNT])
{
    int64_t w = lanes_shown_warp(p), shown = max_i64(p->stack_cycles, p->its_cycles);
    struct figure_state drawn[STATE_COUNT];
    struct panel *panel;

    if (p->warps[w].count < 2 || p->form == LANES_TRIPS)
        return;
    memcpy(drawn, states, sizeof(drawn));
    drawn[STATE_WAITS].tone = TONE_IDLE;
    shown = min_i64(shown, MOST_CYCLES);
    panel = figure_add_gantt(figure,
                             p->total.warps == 1
                                 ? "Who issues when"
                                 : result_text(figure->result, "Who issues when, warp %lld",
                                               (long long)w),
                             (struct figure_axis){ .label = "cycle" }, drawn, STATE_COUNT, 2,
                             (size_t)shown);
    add_order(panel, 0, p, w, false, shown);
    add_order(panel, 1, p, w, true, shown);
}

void lanes_add_figure(struct result *result, const struct lanes_point *p)
{
    struct figure_state states[STATE_COUNT];
    struct figure *figure =
        figure_new(result,
                   p->form == LANES_TRIPS ? "A loop whose lanes leave it one by one"
                   : p->total.split       ? "A branch where lanes disagree"
                                          : "A branch where each warp agrees",
                   result_text(result, "A row for each pass and a mark for each of 32 lanes. %s",
                               result->view.answer),
                   result->view.answer);

    if (!figure)
        return;
    name_states(result, p, states);
    add_masks(figure, p, states);
    add_orders(figure, p, states);
}
