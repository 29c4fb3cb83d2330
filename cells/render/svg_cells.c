/*
 * A grid of marks that are counted one by one: the lanes of a warp pass by pass,
 * the words of a line, the threads of a block. A mark is as high as its row and
 * never merged with its neighbour, because how many there are is the point.
 */
#include "cells/render/axis.h"
#include "cells/render/panels.h"

#include <stdio.h>

enum {
    CELLS_AXIS = 34 * PX,
    GROUP_HEAD = 18 * PX,
    MOST_NAME = 150 * PX,
    MOST_NOTE = 110 * PX,
    MOST_ROWS = 128,
    MOST_STATES = 16,
    WIDEST_MARK = 30 * PX,
    BUNDLE_GAP = 5 * PX,
};

static size_t drawn_rows(const struct figure_cells *cells)
{
    return cells->row_count < MOST_ROWS ? cells->row_count : MOST_ROWS;
}

static bool is_empty(const struct figure_cells *cells)
{
    return !cells->row_count || !cells->column_count;
}

static int row_height(const struct figure_cells *cells)
{
    return drawn_rows(cells) <= 40 ? 17 * PX : drawn_rows(cells) <= 72 ? 11 * PX : 6 * PX;
}

static bool starts_group(const struct figure_cells *cells, size_t row)
{
    const char *group = cells->rows[row].group;

    return group && *group &&
           (row == 0 || !cells->rows[row - 1].group ||
            strcmp(group, cells->rows[row - 1].group) != 0);
}

static int rows_height(const struct figure_cells *cells)
{
    int height = 0;

    if (is_empty(cells))
        return 60 * PX;
    for (size_t r = 0; r < drawn_rows(cells); r++)
        height += row_height(cells) + (starts_group(cells, r) ? GROUP_HEAD : 0);
    return height;
}

static uint8_t state_at(const struct figure_cells *cells, size_t row, size_t column)
{
    const uint8_t *states = cells->rows[row].states;
    uint8_t state = states ? states[column] : UINT8_MAX;

    return state < cells->state_count && state < MOST_STATES ? state : MOST_STATES;
}

static size_t entries_of(const struct figure_cells *cells, struct legend_entry entries[LEGEND_MAX])
{
    bool occurs[MOST_STATES + 1] = { false };
    size_t n = 0;

    for (size_t r = 0; r < drawn_rows(cells); r++)
        for (size_t c = 0; c < cells->column_count; c++)
            occurs[state_at(cells, r, c)] = true;
    for (size_t i = 0; i < cells->state_count && i < MOST_STATES; i++)
        if (occurs[i] && cells->states[i].name && *cells->states[i].name)
            entries[n++] = (struct legend_entry){ cells->states[i].name, LEGEND_FILLS,
                                                  pen_tone_fill(cells->states[i].tone) };
    return n;
}

int cells_height(const struct figure_cells *cells, bool has_title, int width)
{
    struct legend_entry entries[LEGEND_MAX];
    size_t n = entries_of(cells, entries);

    return (has_title ? PANEL_TITLE : 0) + CELLS_AXIS + rows_height(cells) + 6 * PX +
           pen_legend(NULL, 0, 0, width, entries, n, true);
}

/* Where the marks are: x of a column, and the height of a row. */
struct raster {
    const struct figure_cells *cells;
    struct box box;
    int mark, height, gap; /* width of a column, height of a row, blank between rows */
};

static int column_x(const struct raster *r, size_t column)
{
    int bundles = r->cells->bundle ? (int)(column / r->cells->bundle) : 0;

    return r->box.x + (int)column * r->mark + bundles * BUNDLE_GAP;
}

static int text_room(const struct figure_cells *cells, bool is_note, int most)
{
    int room = 0;

    for (size_t r = 0; r < drawn_rows(cells); r++) {
        const char *text = is_note ? cells->rows[r].note : cells->rows[r].name;
        int w = text ? pen_text_width(SIZE_SMALL, LOOK_MUTED, text) : 0;

        room = w > room ? w : room;
    }
    room = room < most ? room : most;
    return room ? room + 8 * PX : 0;
}

static struct raster raster_of(const struct figure_cells *cells, struct box box)
{
    int names = text_room(cells, false, MOST_NAME), notes = text_room(cells, true, MOST_NOTE);
    int columns = (int)cells->column_count;
    int bundles = cells->bundle ? (columns - 1) / (int)cells->bundle : 0;
    struct raster r = { .cells = cells, .box = box, .height = row_height(cells) };

    r.box.x += names;
    r.box.width -= names + notes;
    r.mark = (r.box.width - bundles * BUNDLE_GAP) / columns;
    r.mark = r.mark > WIDEST_MARK ? WIDEST_MARK : r.mark;
    r.gap = r.height >= 11 * PX ? 2 * PX : PX;
    return r;
}

/* Where the stretch of columns with the same text, or the same state, ends; gaps cut the latter. */
static size_t stretch_end(const struct raster *r, size_t row, size_t column, bool by_text)
{
    const char *const *texts = r->cells->rows[row].texts;
    size_t end = column + 1, bundle = r->cells->bundle;

    while (end < r->cells->column_count && !(bundle && !by_text && end % bundle == 0) &&
           (by_text ? texts[column] && texts[end] && !strcmp(texts[column], texts[end])
                    : state_at(r->cells, row, end) == state_at(r->cells, row, column)))
        end++;
    return end;
}

static int right_of(const struct raster *r, size_t end)
{
    return column_x(r, end - 1) + r->mark;
}

/* All marks of one state; false when there is none. */
static bool put_state(struct drawing *d, const struct raster *r, uint8_t state)
{
    int y = r->box.y;
    bool is_any = false;

    for (size_t row = 0; row < drawn_rows(r->cells); row++) {
        y += starts_group(r->cells, row) ? GROUP_HEAD : 0;
        for (size_t c = 0, end; c < r->cells->column_count; c = end) {
            end = stretch_end(r, row, c, false);
            if (state_at(r->cells, row, c) != state)
                continue;
            pen_put_mark(&d->body,
                         (struct box){ column_x(r, c), y, right_of(r, end) - column_x(r, c),
                                       r->height - r->gap });
            is_any = true;
        }
        y += r->height;
    }
    return is_any;
}

/* Lines in the colour of the card cut the stretches into marks. */
static void cut_marks(struct drawing *d, const struct raster *r)
{
    if (r->mark < 6 * PX)
        return;
    buf_puts(&d->body, "<path d=\"");
    for (size_t c = 1; c < r->cells->column_count; c++) {
        buf_putc(&d->body, 'M');
        pen_point(&d->body, column_x(r, c), r->box.y);
        buf_putc(&d->body, 'v');
        pen_number(&d->body, rows_height(r->cells));
    }
    buf_puts(&d->body, "\" fill=\"none\" stroke=\"" COLOUR_CARD "\"/>\n");
}

static void draw_states(struct drawing *d, const struct raster *r)
{
    for (size_t state = 0; state < r->cells->state_count && state < MOST_STATES; state++) {
        enum figure_tone tone = r->cells->states[state].tone;
        size_t start = d->body.size;

        buf_puts(&d->body, "<path d=\"");
        if (put_state(d, r, (uint8_t)state))
            buf_printf(&d->body, "\" fill=\"%s\"/>\n", pen_fill(d, pen_tone_fill(tone)));
        else
            buf_cut(&d->body, start);
    }
    cut_marks(d, r);
}

/*
 * On the one dark fill words are white, on the light ones with hatches they have a white edge;
 * so have those that are wider than a mark, for they stand on the lines between marks.
 */
static enum text_look look_on(const struct raster *r, uint8_t state, const char *text)
{
    if (state == MOST_STATES || r->cells->states[state].tone == TONE_NONE)
        return LOOK_MUTED;
    return pen_tone_fill(r->cells->states[state].tone) == FILL_BLUE &&
                   pen_text_width(SIZE_SMALL, LOOK_LIGHT, text) < r->mark
               ? LOOK_LIGHT
               : LOOK_HALO;
}

/* Half a grid of words misleads: all of them have room, or none is written. */
static bool has_room_for_words(const struct raster *r)
{
    if (r->height < 15 * PX)
        return false;
    for (size_t row = 0; row < drawn_rows(r->cells); row++)
        for (size_t c = 0, end; r->cells->rows[row].texts && c < r->cells->column_count; c = end) {
            const char *text = r->cells->rows[row].texts[c];

            end = stretch_end(r, row, c, true);
            if (text && pen_text_width(SIZE_SMALL, look_on(r, state_at(r->cells, row, c), text),
                                       text) > right_of(r, end) - column_x(r, c))
                return false;
        }
    return true;
}

/* Once in the middle of its stretch; in the mark left of the middle when it fits into one. */
static void draw_word(struct drawing *d, const struct raster *r, size_t row, size_t from,
                      size_t end, int y)
{
    const char *text = r->cells->rows[row].texts[from];
    enum text_look look;
    int x = (column_x(r, from) + right_of(r, end)) / 2;

    if (!text)
        return;
    look = look_on(r, state_at(r->cells, row, from), text);
    if (pen_text_width(SIZE_SMALL, look, text) < r->mark)
        x = column_x(r, (from + end - 1) / 2) + r->mark / 2;
    pen_text(d, x, y, ANCHOR_MIDDLE, SIZE_SMALL, look, 0, text);
}

static void draw_words(struct drawing *d, const struct raster *r)
{
    int y = r->box.y + (r->height - r->gap) / 2 + 4 * PX;

    if (d->coarseness || !has_room_for_words(r))
        return;
    for (size_t row = 0; row < drawn_rows(r->cells); row++) {
        y += starts_group(r->cells, row) ? GROUP_HEAD : 0;
        for (size_t c = 0, end; r->cells->rows[row].texts && c < r->cells->column_count; c = end) {
            end = stretch_end(r, row, c, true);
            draw_word(d, r, row, c, end, y);
        }
        y += r->height;
    }
}

/* Names, notes and the heads of groups; low rows have a name every few. */
static void draw_names(struct drawing *d, const struct raster *r, struct box box)
{
    int every = (12 * PX + r->height - 1) / r->height, since = 0, y = r->box.y;
    int right = right_of(r, r->cells->column_count) + 6 * PX;

    for (size_t row = 0; row < drawn_rows(r->cells); row++, y += r->height, since++) {
        const struct figure_marks *marks = &r->cells->rows[row];
        int base;

        if (starts_group(r->cells, row)) {
            pen_text(d, box.x, y + 13 * PX, ANCHOR_START, SIZE_SMALL, LOOK_STRONG, box.width,
                     marks->group);
            y += GROUP_HEAD;
            since = 0;
        }
        base = y + (every > 1 ? 9 * PX : (r->height - r->gap) / 2 + 4 * PX);
        if (since % every)
            continue;
        pen_text(d, r->box.x - 6 * PX, base, ANCHOR_END, SIZE_SMALL, LOOK_MUTED, MOST_NAME,
                 marks->name);
        pen_text(d, right, base, ANCHOR_START, SIZE_SMALL, LOOK_MUTED, MOST_NOTE, marks->note);
    }
}

/* Numbers of the columns above them: of every bundle, or as many as have room. */
static void draw_axis(struct drawing *d, const struct raster *r, int y)
{
    size_t n = r->cells->column_count, every = r->cells->bundle ? r->cells->bundle : 1;
    char text[TEXT_NUMBER];

    if (!r->cells->bundle)
        while ((int)every * r->mark < 26 * PX)
            every *= 2;
    for (size_t c = 0; c < n; c += every)
        pen_text(d, column_x(r, c) + (r->mark - PX) / 2, y + 26 * PX, ANCHOR_MIDDLE, SIZE_SMALL,
                 LOOK_MUTED, 0, axis_label(text, r->cells->x.unit, r->cells->x.min + (double)c));
    pen_text(d, column_x(r, 0), y + 11 * PX, ANCHOR_START, SIZE_SMALL, LOOK_MUTED, r->box.width,
             r->cells->x.label);
}

void cells_draw(struct drawing *d, const struct panel *panel, struct box box)
{
    const struct figure_cells *cells = &panel->cells;
    struct legend_entry entries[LEGEND_MAX];
    int top = panel_title(d, panel, box);
    struct raster r;

    if (is_empty(cells)) {
        panel_empty(d, (struct box){ box.x, top, box.width, rows_height(cells) });
        return;
    }
    r = raster_of(cells, box);
    r.box.y = top + CELLS_AXIS;
    d->is_coarse |= drawn_rows(cells) < cells->row_count;
    draw_axis(d, &r, top);
    draw_states(d, &r);
    draw_words(d, &r);
    draw_names(d, &r, box);
    pen_legend(d, box.x, r.box.y + rows_height(cells) + 6 * PX, box.width, entries,
               entries_of(cells, entries), false);
}
