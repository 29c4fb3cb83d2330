/*
 * A timeline: one row a warp, one box for each stretch of cycles in the same
 * state. Who issues stands as a number in the row of its scheduler, so that
 * the order of a policy can be read and not only seen.
 */
#include "cells/render/axis.h"
#include "cells/render/panels.h"

#include <stdio.h>

enum {
    GANTT_AXIS = 39 * PX,
    GROUP_HEAD = 18 * PX,
    MOST_ROW_NAME = 110 * PX,
    MOST_ROWS = 256,
    MOST_STATES = 16,
};

static size_t drawn_rows(const struct figure_gantt *gantt)
{
    return gantt->row_count < MOST_ROWS ? gantt->row_count : MOST_ROWS;
}

static int row_height(const struct figure_gantt *gantt)
{
    static const struct {
        size_t rows;
        int height;
    } heights[] = { { 20, 17 * PX }, { 40, 15 * PX }, { 72, 8 * PX }, { 140, 5 * PX } };
    size_t i;

    for (i = 0; i < COUNT(heights); i++)
        if (drawn_rows(gantt) <= heights[i].rows)
            return heights[i].height;
    return 3 * PX;
}

static int row_gap(int height)
{
    if (height >= 13 * PX)
        return 2 * PX;
    return height >= 5 * PX ? PX : 0;
}

static bool starts_group(const struct figure_gantt *gantt, size_t row)
{
    const char *group = gantt->rows[row].group;

    return group && *group &&
           (row == 0 || !gantt->rows[row - 1].group ||
            strcmp(group, gantt->rows[row - 1].group) != 0);
}

static bool ends_group(const struct figure_gantt *gantt, size_t row)
{
    return row + 1 == drawn_rows(gantt) || starts_group(gantt, row + 1);
}

static bool is_empty(const struct figure_gantt *gantt)
{
    return !gantt->row_count || !gantt->cycle_count;
}

static int rows_height(const struct figure_gantt *gantt)
{
    int height = 0;
    size_t r;

    if (is_empty(gantt))
        return 60 * PX;
    for (r = 0; r < drawn_rows(gantt); r++)
        height += row_height(gantt) + (starts_group(gantt, r) ? GROUP_HEAD : 0);
    return height;
}

static uint8_t state_at(const struct figure_gantt *gantt, const struct figure_row *row,
                        size_t cycle)
{
    uint8_t state = row->states ? row->states[cycle] : UINT8_MAX;

    return state < gantt->state_count && state < MOST_STATES ? state : MOST_STATES;
}

/* Only states that occur are explained. */
static size_t entries_of(const struct figure_gantt *gantt, struct legend_entry entries[LEGEND_MAX])
{
    bool occurs[MOST_STATES + 1] = { false };
    size_t r, c, i, n = 0;

    for (r = 0; r < drawn_rows(gantt); r++)
        for (c = 0; c < gantt->cycle_count; c++)
            occurs[state_at(gantt, &gantt->rows[r], c)] = true;
    for (i = 0; i < gantt->state_count && i < MOST_STATES; i++)
        if (occurs[i] && gantt->states[i].tone != TONE_NONE)
            entries[n++] = (struct legend_entry){ gantt->states[i].name, LEGEND_FILLS,
                                                  pen_tone_fill(gantt->states[i].tone) };
    return n;
}

int gantt_height(const struct figure_gantt *gantt, bool has_title, int width)
{
    struct legend_entry entries[LEGEND_MAX];
    size_t n = entries_of(gantt, entries);

    return (has_title ? PANEL_TITLE : 0) + rows_height(gantt) + GANTT_AXIS +
           pen_legend(NULL, 0, 0, width, entries, n, true);
}

/* What is drawn of the timeline: where, and how many cycles share a mark. */
struct track {
    const struct figure_gantt *gantt;
    struct box box;
    size_t merged;
};

static int cycle_x(const struct track *t, size_t cycle)
{
    return t->box.x +
           (int)((int64_t)t->box.width * (int64_t)cycle / (int64_t)t->gantt->cycle_count);
}

/* The state that fills most of the merged cycles from `cycle` on. */
static uint8_t main_state(const struct track *t, const struct figure_row *row, size_t cycle)
{
    size_t counts[MOST_STATES + 1] = { 0 }, end = cycle + t->merged;
    size_t best = MOST_STATES, i;

    if (t->merged == 1)
        return state_at(t->gantt, row, cycle);
    for (; cycle < end && cycle < t->gantt->cycle_count; cycle++)
        counts[state_at(t->gantt, row, cycle)]++;
    for (i = 0; i < MOST_STATES; i++)
        if (counts[i] > counts[best])
            best = i;
    return (uint8_t)best;
}

/* All stretches of one state in one row. */
static bool put_row_state(struct drawing *d, const struct track *t, const struct figure_row *row,
                          uint8_t state, int y, int height)
{
    size_t cycle, end, cycles = t->gantt->cycle_count;
    bool is_any = false;

    for (cycle = 0; cycle < cycles; cycle = end) {
        end = cycle + t->merged;
        if (main_state(t, row, cycle) != state)
            continue;
        while (end < cycles && main_state(t, row, end) == state)
            end += t->merged;
        end = end < cycles ? end : cycles;
        pen_put_mark(&d->body, (struct box){ cycle_x(t, cycle), y,
                                             cycle_x(t, end) - cycle_x(t, cycle), height });
        is_any = true;
    }
    return is_any;
}

static void draw_states(struct drawing *d, const struct track *t)
{
    int height = row_height(t->gantt), gap = row_gap(height);
    bool has_edges = gap && cycle_x(t, t->merged) - t->box.x >= 4 * PX;
    size_t state, r;

    for (state = 0; state < t->gantt->state_count && state < MOST_STATES; state++) {
        enum figure_tone tone = t->gantt->states[state].tone;
        size_t start = d->body.size;
        bool is_any = false;
        int y = t->box.y;

        if (tone == TONE_NONE)
            continue;
        buf_puts(&d->body, "<path d=\"");
        for (r = 0; r < drawn_rows(t->gantt); r++) {
            if (starts_group(t->gantt, r))
                y += GROUP_HEAD;
            is_any |= put_row_state(d, t, &t->gantt->rows[r], (uint8_t)state, y, height - gap);
            y += height;
        }
        if (!is_any) {
            buf_cut(&d->body, start);
            continue;
        }
        buf_printf(&d->body, "\" fill=\"%s\"%s/>\n", pen_fill(d, pen_tone_fill(tone)),
                   has_edges ? " stroke=\"" COLOUR_CARD "\" stroke-width=\"0.6\"" : "");
    }
}

/* Light tones carry dark numbers. */
static enum text_look number_look(const struct track *t, const struct figure_row *row, size_t cycle)
{
    uint8_t state = state_at(t->gantt, row, cycle);

    return state < MOST_STATES && t->gantt->states[state].tone != TONE_SELECTED ? LOOK_HALO
                                                                                : LOOK_LIGHT;
}

/* A stretch of the same number in a row, from cycle on: its end, and whether there is room. */
struct stretch {
    size_t end;
    int left, right;
    char text[16]; /* "" where no number stands */
    bool has_room;
};

static struct stretch stretch_at(const struct track *t, const struct figure_row *row, size_t cycle)
{
    struct stretch s = { .end = cycle + 1, .left = cycle_x(t, cycle) };

    while (s.end < t->gantt->cycle_count && row->numbers[s.end] == row->numbers[cycle])
        s.end++;
    s.right = cycle_x(t, s.end);
    if (row->numbers[cycle] >= 0)
        snprintf(s.text, sizeof(s.text), "%d", row->numbers[cycle]);
    s.has_room = s.text[0] && pen_text_width(SIZE_SMALL, LOOK_LIGHT, s.text) <= s.right - s.left;
    return s;
}

/* Most of the numbers fit. A few among many bare stretches would look as if only those counted. */
static bool is_readable(const struct track *t, const struct figure_row *row)
{
    size_t numbers = 0, room = 0;
    struct stretch s;

    for (size_t cycle = 0; cycle < t->gantt->cycle_count; cycle = s.end) {
        s = stretch_at(t, row, cycle);
        numbers += s.text[0] != '\0';
        room += s.has_room;
    }
    return 2 * room > numbers;
}

/* Numbers of the row of a scheduler: once in each stretch of the same number, where it fits. */
static void draw_numbers(struct drawing *d, const struct track *t, const struct figure_row *row,
                         int y)
{
    int height = row_height(t->gantt);
    struct stretch s;

    if (!row->numbers || height < 13 * PX || t->merged > 1 || !is_readable(t, row))
        return;
    for (size_t cycle = 0; cycle < t->gantt->cycle_count; cycle = s.end) {
        s = stretch_at(t, row, cycle);
        if (!s.has_room)
            continue;
        pen_text(d, (s.left + s.right) / 2, y + height / 2 + 3 * PX, ANCHOR_MIDDLE, SIZE_SMALL,
                 number_look(t, row, cycle), 0, s.text);
        if (cycle && row->numbers[cycle - 1] >= 0)
            pen_line(d, s.left, y, s.left, y + height - row_gap(height),
                     "stroke=\"" COLOUR_CARD "\"");
    }
}

static void draw_names(struct drawing *d, const struct track *t, struct box box)
{
    int height = row_height(t->gantt);
    int every = (12 * PX + height - 1) / height;
    size_t r;
    int y = t->box.y, since = 0;

    for (r = 0; r < drawn_rows(t->gantt); r++, y += height, since++) {
        const struct figure_row *row = &t->gantt->rows[r];

        if (starts_group(t->gantt, r)) {
            pen_text(d, box.x, y + 13 * PX, ANCHOR_START, SIZE_SMALL, LOOK_STRONG, box.width,
                     row->group);
            y += GROUP_HEAD;
            since = 0;
        }
        if (since % every == 0 && (every == 1 || !ends_group(t->gantt, r)))
            pen_text(d, t->box.x - 6 * PX, y + (every > 1 ? 9 * PX : height / 2 + 3 * PX),
                     ANCHOR_END, SIZE_SMALL, LOOK_MUTED, MOST_ROW_NAME, row->name);
        draw_numbers(d, t, row, y);
    }
}

static void draw_axis(struct drawing *d, const struct track *t, int bottom)
{
    double first = t->gantt->x.min, last = t->gantt->x.max;
    struct axis_range range = { first, last > first ? last : first + (double)t->gantt->cycle_count,
                                true };
    struct figure_axis wanted = { .scale = SCALE_LINEAR, .unit = t->gantt->x.unit };
    struct axis axis = axis_make(&wanted, range, false, t->box.x, t->box.x + t->box.width);
    double ticks[AXIS_MAX_TICKS];
    size_t n = axis_ticks_fitting(&axis, ticks), i;

    pen_line(d, axis.from, bottom, axis.to, bottom, "stroke=\"" COLOUR_AXIS "\"");
    for (i = 0; i < n; i++) {
        char text[TEXT_NUMBER];
        int x = axis_at(&axis, ticks[i]);

        pen_line(d, x, bottom, x, bottom + 4 * PX, "stroke=\"" COLOUR_AXIS "\"");
        pen_text(d, x, bottom + 15 * PX, ANCHOR_MIDDLE, SIZE_SMALL, LOOK_MUTED, 0,
                 axis_label(text, axis.unit, ticks[i]));
    }
    pen_text(d, (axis.from + axis.to) / 2, bottom + 30 * PX, ANCHOR_MIDDLE, SIZE_SMALL, LOOK_MUTED,
             0, t->gantt->x.label);
}

static int names_room(const struct figure_gantt *gantt)
{
    int room = 0;
    size_t r;

    for (r = 0; r < drawn_rows(gantt); r++) {
        const char *name = gantt->rows[r].name ? gantt->rows[r].name : "";
        int w = pen_text_width(SIZE_SMALL, LOOK_MUTED, name);

        room = w > room ? w : room;
    }
    return (room < MOST_ROW_NAME ? room : MOST_ROW_NAME) + 8 * PX;
}

void gantt_draw(struct drawing *d, const struct panel *panel, struct box box)
{
    const struct figure_gantt *gantt = &panel->gantt;
    int top = panel_title(d, panel, box), names = names_room(gantt), bottom;
    struct legend_entry entries[LEGEND_MAX];
    struct track t = { .gantt = gantt, .box = { box.x + names, top, 0, rows_height(gantt) } };
    size_t pixels;

    t.box.width = box.width - names - 12 * PX; /* half of the last tick's label */
    bottom = top + t.box.height;
    if (is_empty(gantt)) {
        panel_empty(d, t.box);
        return;
    }
    pixels = (size_t)(t.box.width / PX) >> d->coarseness;
    t.merged = pixels ? (gantt->cycle_count + pixels - 1) / pixels : gantt->cycle_count;
    d->is_coarse |= t.merged > 1 || drawn_rows(gantt) < gantt->row_count;
    draw_states(d, &t);
    draw_names(d, &t, box);
    draw_axis(d, &t, bottom + PX);
    pen_legend(d, box.x, bottom + GANTT_AXIS, box.width, entries, entries_of(gantt, entries),
               false);
}
