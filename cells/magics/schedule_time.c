/*
 * %schedule in time: which SMs do the same, who runs where in which cycle, and
 * that as lines of text and as rows of a figure. SMs with the same history
 * share one row.
 */
#include "cells/magics/schedule.h"

#include "cells/render/text.h"
#include "cells/internal.h"
#include "model/base/buf.h"

enum { LEAST_NAME = 9, PLACE = 10 /* " place 12 " */, LISTED_BLOCKS = 1024 };

enum mark { MARK_EMPTY, MARK_RUNS, MARK_NEXT, MARK_STARTS, MARK_PARTLY };

/* ---- which SMs do the same ---- */

static uint64_t mix(uint64_t hash, int64_t v)
{
    /* FNV-1a over eight bytes at once is too weak; the multiply and shift of splitmix64 is not. */
    hash = (hash ^ (uint64_t)v) * 0xbf58476d1ce4e5b9ULL;
    return hash ^ hash >> 29;
}

static void note_history(void *data, const struct grid_block *b)
{
    struct schedule_history *h = data;
    uint64_t *hash = &h->hash[b->sm];

    *hash = mix(mix(mix(*hash, b->slot + 1), b->placed), b->end);
    h->blocks[b->sm]++;
    h->end[b->sm] = max_i64(h->end[b->sm], b->end);
    h->busy[b->sm] += b->end - b->placed;
    if (h->replaced < 0 && b->block >= h->places) {
        h->replaced = b->block;
        h->replaced_at = b->placed;
        h->replaced_sm = b->sm;
    }
}

static void find_classes(struct schedule_history *h, int sms)
{
    for (int sm = 0; sm < sms; sm++) {
        int c = 0;

        while (c < h->class_count && h->hash[h->classes[c].first] != h->hash[sm])
            c++;
        if (c == h->class_count)
            h->classes[h->class_count++] =
                (struct schedule_class){ sm, sm, 0, h->blocks[sm], h->end[sm], h->busy[sm] };
        h->classes[c].last = sm;
        h->classes[c].count++;
    }
}

int schedule_visit(const struct call *call, const struct schedule *s, grid_visit *visit, void *data,
                   struct err *err)
{
    struct grid_run run;

    if (!s->stays)
        return grid_run(&s->grid, visit, data, call->arena, call_stop(call), &run, err);
    for (int64_t i = 0; i < s->grid.blocks; i++)
        visit(data, &s->stays[i]);
    return 0;
}

int schedule_read_history(const struct call *call, const struct schedule *s,
                          struct schedule_history **out, struct err *err)
{
    struct schedule_history *h = arena_alloc(call->arena, sizeof(*h));

    *out = h;
    if (!h)
        return err_set(err, ERR_ResourceError, "out of memory");
    h->replaced = -1;
    h->places = s->waves.places;
    if (schedule_visit(call, s, note_history, h, err) < 0)
        return -1;
    find_classes(h, s->grid.sms);
    return 0;
}

/* "SM 3", "SM 0..75", "SM 0 and 51 more". */
const char *schedule_class_name(struct result *result, const struct schedule_class *c)
{
    if (c->count == 1)
        return result_text(result, "SM %d", c->first);
    if (c->last - c->first + 1 == c->count)
        return result_text(result, "SM %d..%d", c->first, c->last);
    return result_text(result, "SM %d +%d", c->first, c->count - 1);
}

/* ---- time in columns ---- */

static size_t column_of(const struct schedule_picture *p, int64_t cycle)
{
    return (size_t)ceil_div(cycle, p->step);
}

static void draw_slot(struct schedule_picture *p, size_t row, const struct grid_block *b)
{
    bool is_even = p->rounds[row]++ % 2 == 0;

    for (size_t c = column_of(p, b->placed); c < column_of(p, b->end); c++) {
        bool starts = (int64_t)c * p->step < b->placed + p->s->grid.start;

        p->marks[row * p->columns + c] = starts ? MARK_STARTS : is_even ? MARK_RUNS : MARK_NEXT;
        p->numbers[row * p->columns + c] = (int32_t)b->block;
    }
}

static void draw_sm(struct schedule_picture *p, size_t row, const struct grid_block *b)
{
    for (size_t c = column_of(p, b->placed); c < column_of(p, b->end); c++) {
        int32_t *held = &p->numbers[row * p->columns + c];

        *held = *held < 0 ? 1 : *held + 1;
        p->marks[row * p->columns + c] = *held == p->s->grid.per_sm ? MARK_RUNS : MARK_PARTLY;
    }
}

static void list_block(struct schedule_picture *p, const struct grid_block *b)
{
    p->failed |=
        json_array_append_new(p->blocks,
                              json_pack("{s:I, s:i, s:i, s:I, s:I}", "block", (json_int_t)b->block,
                                        "sm", b->sm, "slot", b->slot, "start",
                                        (json_int_t)b->placed, "end", (json_int_t)b->end));
}

static void draw_block(void *data, const struct grid_block *b)
{
    struct schedule_picture *p = data;
    int row = p->row_of[b->sm];

    for (size_t c = column_of(p, b->placed); c < column_of(p, b->end); c++)
        p->resident[c]++;
    if (p->blocks && b->block < LISTED_BLOCKS)
        list_block(p, b);
    if (row >= 0 && p->is_by_slot)
        draw_slot(p, (size_t)(row + b->slot), b);
    else if (row >= 0)
        draw_sm(p, (size_t)row, b);
}

/* Which SMs have rows: one of each class, while there is room. */
static void lay_rows(struct schedule_picture *p, const struct schedule_history *h, size_t most)
{
    size_t per_sm = (size_t)p->s->grid.per_sm, rows;

    p->is_by_slot = per_sm == 1 || (size_t)h->class_count * per_sm <= SCHEDULE_SLOT_ROWS;
    rows = p->is_by_slot ? per_sm : 1;
    memset(p->row_of, -1, sizeof(p->row_of));
    for (int c = 0; c < h->class_count && p->rows + rows <= most; c++, p->rows += rows)
        p->row_of[h->classes[c].first] = (int)p->rows;
}

/* The next of 1, 2, 4, 5, 8, 10, 20, ...: a ruler of such steps has round numbers. */
static int64_t round_step(int64_t cycles)
{
    static const int steps[] = { 1, 2, 4, 5, 8 };

    for (int64_t power = 1;; power *= 10)
        for (size_t i = 0; i < COUNT(steps); i++)
            if (steps[i] * power >= cycles)
                return steps[i] * power;
}

int schedule_draw(const struct call *call, const struct schedule *s,
                  const struct schedule_history *h, size_t columns, size_t most_rows,
                  bool lists_blocks, struct schedule_picture **out, struct err *err)
{
    struct schedule_picture *p = arena_alloc(call->arena, sizeof(*p));
    int64_t span = s->span ? s->span : s->run.cycles;

    *out = p;
    if (!p)
        return err_set(err, ERR_ResourceError, "out of memory");
    p->s = s;
    p->step = round_step(ceil_div(span, (int64_t)columns));
    p->columns = (size_t)ceil_div(span, p->step);
    lay_rows(p, h, most_rows);
    p->rounds = arena_array(call->arena, p->rows, sizeof(*p->rounds));
    p->marks = arena_array(call->arena, p->rows * p->columns, sizeof(*p->marks));
    p->numbers = arena_array(call->arena, p->rows * p->columns, sizeof(*p->numbers));
    p->resident = arena_array(call->arena, p->columns, sizeof(*p->resident));
    if (!p->rounds || !p->marks || !p->numbers || !p->resident)
        return err_set(err, ERR_ResourceError, "out of memory");
    memset(p->numbers, -1, p->rows * p->columns * sizeof(*p->numbers));
    p->blocks = lists_blocks ? json_array() : NULL;
    return schedule_visit(call, s, draw_block, p, err);
}

/* ---- time as text ---- */

/* 0..9 a..z, then '+'. */
static char digit_mark(int64_t n)
{
    static const char marks[] = "0123456789abcdefghijklmnopqrstuvwxyz";

    return n < (int64_t)sizeof(marks) - 1 ? marks[n] : '+';
}

static const char *ruler_line(struct result *result, const char *title,
                              const struct schedule_picture *p, int names)
{
    struct buf out = { 0 };
    const char *text;
    size_t start;

    buf_printf(&out, "%-*s", names, title);
    start = out.size;
    for (size_t c = 0; c < p->columns; c += 10) {
        const char *label = schedule_count(result, (int64_t)c * p->step);

        if (start + c < out.size || start + c + strlen(label) > TEXT_COLUMNS)
            continue; /* no room behind the last one, or on the page */
        buf_fill(&out, ' ', start + c - out.size);
        buf_puts(&out, label);
    }
    text = result_text(result, "%s", buf_text(&out));
    buf_done(&out);
    return text;
}

/* By place: the number of the round; by SM: how many blocks it holds. '.': nothing. */
static const char *row_line(struct result *result, const struct schedule_picture *p, size_t row,
                            const char *name, int names)
{
    struct buf out = { 0 };
    const char *text;
    int64_t round = -1;
    int32_t last = -1;

    buf_printf(&out, "%-*s", names, name);
    for (size_t c = 0; c < p->columns; c++) {
        int32_t number = p->numbers[row * p->columns + c];

        round += number >= 0 && number != last;
        last = number >= 0 ? number : last;
        buf_putc(&out, number < 0 ? '.' : digit_mark(p->is_by_slot ? round : number));
    }
    text = result_text(result, "%s", buf_text(&out));
    buf_done(&out);
    return text;
}

static const char *row_name(struct result *result, const struct schedule_picture *p,
                            const struct schedule_class *c, int slot, int names)
{
    const char *name = schedule_class_name(result, c);

    if (!p->is_by_slot || p->s->grid.per_sm == 1)
        return name;
    return result_text(result, "%-*s place %d", names - PLACE, slot ? "" : name, slot);
}

/* Columns in front of the time: the longest "SM 100..131" and a place of it. */
static int name_columns(struct result *result, const struct schedule_history *h, int shown)
{
    int64_t longest = LEAST_NAME;

    for (int c = 0; c < shown; c++)
        longest = max_i64(longest, (int64_t)strlen(schedule_class_name(result, &h->classes[c])));
    return (int)longest + PLACE;
}

void schedule_add_lines(struct result *result, const char *ruler, const struct schedule_picture *p,
                        const struct schedule_history *h)
{
    int slots = p->is_by_slot ? p->s->grid.per_sm : 1;
    int shown = (int)p->rows / slots, left = h->class_count - shown;
    int names = name_columns(result, h, shown);
    struct view_block *block = view_add_lines(result, p->rows + 2 + (left > 0));
    size_t n = 0;

    if (!block)
        return;
    block->texts[n++] = ruler_line(result, ruler, p, names);
    for (int c = 0; c < shown; c++)
        for (int slot = 0; slot < slots; slot++, n++)
            block->texts[n] =
                row_line(result, p, n - 1, row_name(result, p, &h->classes[c], slot, names), names);
    if (left > 0)
        block->texts[n++] = result_text(result, "%*s%d more kind%s of SM in the timeline field",
                                        names, "", left, left == 1 ? "" : "s");
    block->texts[n] = result_text(result, "%*s%s   . empty", names, "",
                                  p->is_by_slot ? "0 1 2 ... the first, second, third block there"
                                                : "so many blocks at once (a is 10)");
}

/* ---- time as a figure ---- */

static const struct figure_state STATES[] = {
    [MARK_EMPTY] = { "empty place", TONE_IDLE },
    [MARK_RUNS] = { "block runs", TONE_SELECTED },
    [MARK_NEXT] = { "next block", TONE_NOT_SELECTED },
    [MARK_STARTS] = { "block starts", TONE_STALLED },
    [MARK_PARTLY] = { "some places empty", TONE_NOT_SELECTED },
};

void schedule_add_gantt(struct figure *figure, const char *title, const struct schedule_picture *p,
                        const struct schedule_history *h)
{
    struct figure_axis x = { .label = "cycle", .max = (double)p->columns * (double)p->step };
    struct panel *panel =
        figure_add_gantt(figure, title, x, STATES, COUNT(STATES), p->rows, p->columns);
    int slots = p->is_by_slot ? p->s->grid.per_sm : 1;
    size_t row = 0;

    for (int c = 0; c < h->class_count && row < p->rows; c++)
        for (int slot = 0; slot < slots; slot++, row++) {
            const char *name = schedule_class_name(figure->result, &h->classes[c]);
            const char *group = slots > 1 ? name : NULL;

            if (slots > 1)
                name = result_text(figure->result, "place %d", slot);
            panel_row(panel, row, name, group, p->marks + row * p->columns,
                      p->is_by_slot ? p->numbers + row * p->columns : NULL);
        }
}

static void add_line(struct panel *panel, const struct schedule_named *n, struct arena *arena)
{
    const struct schedule_picture *p = n->picture;
    double *xs = arena_array(arena, p->columns + 1, sizeof(*xs));
    double *ys = arena_array(arena, p->columns + 1, sizeof(*ys));

    if (!xs || !ys)
        return;
    for (size_t c = 0; c <= p->columns; c++) {
        xs[c] = (double)((int64_t)c * p->step);
        ys[c] = c < p->columns ? (double)p->resident[c] : 0;
    }
    panel_add_steps(panel, n->name, xs, ys, p->columns + 1);
}

void schedule_add_resident(struct figure *figure, const struct schedule_named *pictures,
                           size_t count, struct arena *arena)
{
    struct figure_axis x = { .label = "cycle" }, y = { .label = "resident blocks" };
    struct panel *panel = figure_add_lines(figure, "Resident blocks", x, y);
    const struct schedule *s = pictures->picture->s;

    for (size_t i = 0; i < count; i++)
        add_line(panel, &pictures[i], arena);
    panel_add_reference(panel, (double)s->waves.places, false,
                        result_text(figure->result, "%lld places", (long long)s->waves.places));
}
