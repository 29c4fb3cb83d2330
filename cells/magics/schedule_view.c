/*
 * One launch of %schedule as a person reads it: how many waves and what they
 * cost, which SMs do the same, who runs where in time, and which grid would
 * have no tail. SMs with the same history share one row.
 */
#include "cells/magics/schedule.h"

#include "cells/figure.h"
#include "cells/internal.h"
#include "cells/magics/occupancy.h"
#include "cells/render/text.h"
#include "model/base/buf.h"

enum {
    TEXT_NAMES = 18,  /* columns of a text line: names, */
    TEXT_CYCLES = 65, /* and time */
    CHART_CYCLES = 216,
    SLOT_ROWS = 20, /* up to so many places have a row each; more: a row an SM */
    TEXT_ROWS = SLOT_ROWS,
    CHART_ROWS = 140,
    TABLE_ROWS = 8,
    LISTED_BLOCKS = 1024,
};

/* SMs that placed and ended their blocks in the same cycles. */
struct sm_class {
    int first, last, count;
    int64_t blocks, end, busy;
};

struct history {
    uint64_t hash[GRID_MAX_SMS]; /* of (slot, placed, end) of its blocks, in order */
    int64_t blocks[GRID_MAX_SMS], end[GRID_MAX_SMS], busy[GRID_MAX_SMS];
    struct sm_class classes[GRID_MAX_SMS];
    int class_count;
    int64_t replaced, replaced_at; /* the first block that took another one's place; -1: none */
    int replaced_sm;
    int64_t launch;
    int64_t places;
};

/* ---- which SMs do the same ---- */

static uint64_t mix(uint64_t hash, int64_t v)
{
    /* FNV-1a over eight bytes at once is too weak; the multiply and shift of splitmix64 is not. */
    hash = (hash ^ (uint64_t)v) * 0xbf58476d1ce4e5b9ULL;
    return hash ^ hash >> 29;
}

static void note_history(void *data, const struct grid_block *b)
{
    struct history *h = data;
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

static void find_classes(struct history *h, int sms)
{
    for (int sm = 0; sm < sms; sm++) {
        int c = 0;

        while (c < h->class_count && h->hash[h->classes[c].first] != h->hash[sm])
            c++;
        if (c == h->class_count)
            h->classes[h->class_count++] =
                (struct sm_class){ sm, sm, 0, h->blocks[sm], h->end[sm], h->busy[sm] };
        h->classes[c].last = sm;
        h->classes[c].count++;
    }
}

static int read_history(const struct call *call, const struct schedule *s, struct history **out,
                        struct err *err)
{
    struct history *h = arena_alloc(call->arena, sizeof(*h));
    struct grid_run run;

    *out = h;
    if (!h)
        return err_set(err, ERR_ResourceError, "out of memory");
    h->replaced = -1;
    h->places = s->waves.places;
    if (grid_run(&s->grid, note_history, h, call->arena, call_stop(call), &run, err) < 0)
        return -1;
    find_classes(h, s->grid.sms);
    return 0;
}

/* "SM 3", "SM 0..75", "SM 0 and 51 more". */
static const char *class_name(struct result *result, const struct sm_class *c)
{
    if (c->count == 1)
        return result_text(result, "SM %d", c->first);
    if (c->last - c->first + 1 == c->count)
        return result_text(result, "SM %d..%d", c->first, c->last);
    return result_text(result, "SM %d +%d", c->first, c->count - 1);
}

/* ---- time in columns ---- */

enum mark { MARK_EMPTY, MARK_RUNS, MARK_NEXT, MARK_STARTS, MARK_PARTLY };

/* The first cycle of each column stands for the column. */
struct picture {
    const struct schedule *s;
    int64_t step; /* cycles of a column */
    size_t columns, rows;
    bool is_by_slot;          /* a row a place, else a row an SM */
    int row_of[GRID_MAX_SMS]; /* the first row of an SM that stands for its class; -1 */
    int64_t *rounds;          /* per row: blocks so far */
    uint8_t *marks;           /* rows * columns */
    int32_t *numbers;         /* rows * columns: who runs, or how many; -1: nobody */
    int64_t *resident;        /* per column */
    json_t *blocks;           /* the first ones, or NULL */
    int failed;
};

static size_t column_of(const struct picture *p, int64_t cycle)
{
    return (size_t)ceil_div(cycle, p->step);
}

static void draw_slot(struct picture *p, size_t row, const struct grid_block *b)
{
    bool is_even = p->rounds[row]++ % 2 == 0;

    for (size_t c = column_of(p, b->placed); c < column_of(p, b->end); c++) {
        bool starts = (int64_t)c * p->step < b->placed + p->s->grid.start;

        p->marks[row * p->columns + c] = starts ? MARK_STARTS : is_even ? MARK_RUNS : MARK_NEXT;
        p->numbers[row * p->columns + c] = (int32_t)b->block;
    }
}

static void draw_sm(struct picture *p, size_t row, const struct grid_block *b)
{
    for (size_t c = column_of(p, b->placed); c < column_of(p, b->end); c++) {
        int32_t *held = &p->numbers[row * p->columns + c];

        *held = *held < 0 ? 1 : *held + 1;
        p->marks[row * p->columns + c] = *held == p->s->grid.per_sm ? MARK_RUNS : MARK_PARTLY;
    }
}

static void list_block(struct picture *p, const struct grid_block *b)
{
    p->failed |=
        json_array_append_new(p->blocks,
                              json_pack("{s:I, s:i, s:i, s:I, s:I}", "block", (json_int_t)b->block,
                                        "sm", b->sm, "slot", b->slot, "start",
                                        (json_int_t)b->placed, "end", (json_int_t)b->end));
}

static void draw_block(void *data, const struct grid_block *b)
{
    struct picture *p = data;
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
static void lay_rows(struct picture *p, const struct history *h, size_t most)
{
    size_t per_sm = (size_t)p->s->grid.per_sm, rows;

    p->is_by_slot = per_sm == 1 || (size_t)h->class_count * per_sm <= SLOT_ROWS;
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

static int draw_picture(const struct call *call, const struct schedule *s, const struct history *h,
                        size_t columns, size_t most_rows, bool lists_blocks, struct picture **out,
                        struct err *err)
{
    struct picture *p = arena_alloc(call->arena, sizeof(*p));
    struct grid_run run;

    *out = p;
    if (!p)
        return err_set(err, ERR_ResourceError, "out of memory");
    p->s = s;
    p->step = round_step(ceil_div(s->run.cycles, (int64_t)columns));
    p->columns = (size_t)ceil_div(s->run.cycles, p->step);
    lay_rows(p, h, most_rows);
    p->rounds = arena_array(call->arena, p->rows, sizeof(*p->rounds));
    p->marks = arena_array(call->arena, p->rows * p->columns, sizeof(*p->marks));
    p->numbers = arena_array(call->arena, p->rows * p->columns, sizeof(*p->numbers));
    p->resident = arena_array(call->arena, p->columns, sizeof(*p->resident));
    if (!p->rounds || !p->marks || !p->numbers || !p->resident)
        return err_set(err, ERR_ResourceError, "out of memory");
    memset(p->numbers, -1, p->rows * p->columns * sizeof(*p->numbers));
    p->blocks = lists_blocks ? json_array() : NULL;
    return grid_run(&s->grid, draw_block, p, call->arena, call_stop(call), &run, err);
}

/* ---- fields ---- */

static json_t *classes_json(const struct history *h)
{
    json_t *list = json_array();
    int failed = 0;

    for (int c = 0; c < h->class_count; c++)
        failed |=
            json_array_append_new(list, json_pack("{s:i, s:i, s:I, s:I}", "sm", h->classes[c].first,
                                                  "count", h->classes[c].count, "blocks",
                                                  (json_int_t)h->classes[c].blocks, "end",
                                                  (json_int_t)h->classes[c].end));
    return json_whole(list, failed);
}

static json_t *timeline_json(struct picture *p, const struct history *h)
{
    json_t *resident = json_array(), *blocks = p->blocks;
    int failed = p->failed;

    p->blocks = NULL;
    for (size_t c = 0; c < p->columns; c++)
        failed |= json_array_append_new(resident, json_integer(p->resident[c]));
    return json_pack("{s:o, s:o, s:I, s:o}", "blocks", json_whole(blocks, failed), "sms",
                     classes_json(h), "resident_step", (json_int_t)p->step, "resident", resident);
}

static int set_fields(struct result *result, const struct schedule *s, struct picture *p,
                      const struct history *h, struct err *err)
{
    const struct grid_waves *w = &s->waves;
    double us = schedule_time_us(s, s->run.cycles);
    json_t *fields = json_pack(
        "{s:I, s:i, s:i, s:I, s:f, s:I, s:I, s:f, s:I, s:o, s:f, s:f, s:I, s:{s:I, s:f, s:b}, s:o, "
        "s:o}",
        "blocks", (json_int_t)s->grid.blocks, "sms", s->grid.sms, "blocks_per_sm", s->grid.per_sm,
        "places", (json_int_t)w->places, "waves", w->waves, "full_waves", (json_int_t)w->full,
        "partial_blocks", (json_int_t)w->partial, "tail_efficiency", w->efficiency, "cycles",
        (json_int_t)s->run.cycles, "time_us", us > 0 ? json_real(us) : json_null(), "efficiency",
        s->run.efficiency, "sm_busy", s->run.sm_busy, "work", (json_int_t)s->run.work, "tail",
        "cycles", (json_int_t)s->run.tail, "share", w->tail_share, "warns", w->has_tail,
        "occupancy", s->occ.max_warps ? json_real(s->occ.occupancy) : json_null(), "timeline",
        timeline_json(p, h));
    int rc = fields ? json_object_update(result->fields, fields) : -1;

    json_decref(fields);
    return rc < 0 ? err_set(err, ERR_ResourceError, "out of memory") : 0;
}

/* ---- the first lines ---- */

static const char *answer_text(struct result *result, const struct schedule *s)
{
    char waves[TEXT_NUMBER];

    return result_text(result, "%s block%s: %s wave%s, %s cycles%s. Places busy %s.",
                       schedule_count(result, s->grid.blocks), s->grid.blocks == 1 ? "" : "s",
                       text_number(waves, s->waves.waves), s->waves.waves == 1 ? "" : "s",
                       schedule_count(result, s->run.cycles),
                       schedule_time(result, s, s->run.cycles),
                       schedule_percent(result, s->run.efficiency));
}

/* ---- time as text ---- */

/* 0..9 a..z, then '+'. */
static char digit_mark(int64_t n)
{
    static const char marks[] = "0123456789abcdefghijklmnopqrstuvwxyz";

    return n < (int64_t)sizeof(marks) - 1 ? marks[n] : '+';
}

static const char *ruler_line(struct result *result, const struct picture *p)
{
    struct buf out = { 0 };
    const char *text;
    size_t start;

    buf_printf(&out, "%-*s", TEXT_NAMES, "cycle");
    start = out.size;
    for (size_t c = 0; c < p->columns; c += 10) {
        if (c && start + c > out.size)
            buf_fill(&out, ' ', start + c - out.size);
        if (start + c == out.size)
            buf_puts(&out, schedule_count(result, (int64_t)c * p->step));
    }
    text = result_text(result, "%s", buf_text(&out));
    buf_done(&out);
    return text;
}

/* By place: the number of the round; by SM: how many blocks it holds. '.': nothing. */
static const char *row_line(struct result *result, const struct picture *p, size_t row,
                            const char *name)
{
    struct buf out = { 0 };
    const char *text;
    int64_t round = -1;
    int32_t last = -1;

    buf_printf(&out, "%-*s", TEXT_NAMES, name);
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

static const char *row_name(struct result *result, const struct picture *p,
                            const struct sm_class *c, int slot)
{
    const char *name = class_name(result, c);

    if (!p->is_by_slot || p->s->grid.per_sm == 1)
        return name;
    return result_text(result, slot ? "%9s place %d" : "%-9s place %d", slot ? "" : name, slot);
}

static void add_lines(struct result *result, const struct picture *p, const struct history *h)
{
    int slots = p->is_by_slot ? p->s->grid.per_sm : 1;
    int shown = (int)p->rows / slots, left = h->class_count - shown;
    struct view_block *block = view_add_lines(result, p->rows + 2 + (left > 0));
    size_t n = 0;

    if (!block)
        return;
    block->texts[n++] = ruler_line(result, p);
    for (int c = 0; c < shown; c++)
        for (int slot = 0; slot < slots; slot++, n++)
            block->texts[n] = row_line(result, p, n - 1, row_name(result, p, &h->classes[c], slot));
    if (left > 0)
        block->texts[n++] = result_text(result, "%*s%d more kinds of SM in the timeline field",
                                        TEXT_NAMES, "", left);
    block->texts[n] = result_text(result, "%*s%s   . empty", TEXT_NAMES, "",
                                  p->is_by_slot ? "0 1 2 ... the first, second, third block there"
                                                : "so many blocks at once (a is 10)");
}

/* ---- who did what ---- */

/* The SMs that decide when the launch ends. */
static int last_class(const struct history *h)
{
    int last = 0;

    for (int c = 1; c < h->class_count; c++)
        if (h->classes[c].end > h->classes[last].end)
            last = c;
    return last;
}

/* The first kinds of SM, and always the one that ends last. */
static void add_table(struct result *result, const struct schedule *s, const struct history *h)
{
    static const struct view_column columns[] = {
        { "SMs", VIEW_LEFT },        { "how many", VIEW_RIGHT },    { "blocks each", VIEW_RIGHT },
        { "last ends", VIEW_RIGHT }, { "places busy", VIEW_RIGHT },
    };
    int count = h->class_count < TABLE_ROWS ? h->class_count : TABLE_ROWS, last = last_class(h);
    struct view_table *table = view_add_table(result, columns, COUNT(columns), (size_t)count);

    for (int i = 0; i < count; i++) {
        const struct sm_class *c = &h->classes[i == count - 1 && last > i ? last : i];
        double places = (double)s->run.cycles * s->grid.per_sm;
        size_t r = (size_t)i;

        view_cell(table, r, 0, class_name(result, c));
        view_cell(table, r, 1, schedule_count(result, c->count));
        view_cell(table, r, 2, schedule_count(result, c->blocks));
        view_cell(table, r, 3, schedule_count(result, c->end));
        view_cell(table, r, 4, schedule_percent(result, (double)c->busy / places));
        if (c->end == s->run.cycles && h->class_count > 1)
            view_mark(table, r);
    }
}

/* ---- the facts ---- */

enum { MOST_FACTS = 8 };

struct facts {
    struct result *result;
    const char *names[MOST_FACTS], *texts[MOST_FACTS];
    size_t count;
};

static void add_fact(struct facts *facts, const char *name, const char *text)
{
    if (!text || facts->count == MOST_FACTS)
        return;
    facts->names[facts->count] = name;
    facts->texts[facts->count++] = text;
}

static const char *places_text(struct result *result, const struct schedule *s)
{
    const char *held =
        result_text(result, "%s = %d SM%s x %d block%s", schedule_count(result, s->waves.places),
                    s->grid.sms, s->grid.sms == 1 ? "" : "s", s->grid.per_sm,
                    s->grid.per_sm == 1 ? "" : "s");

    if (!s->occ.max_warps)
        return held;
    return result_text(result, "%s   occupancy %s, limit %s", held,
                       schedule_percent(result, s->occ.occupancy),
                       occupancy_limiters_text(result, &s->occ));
}

static const char *waves_text(struct result *result, const struct schedule *s)
{
    const struct grid_waves *w = &s->waves;

    if (!w->partial)
        return result_text(result, "%s whole, no partial one: 100 %%",
                           schedule_count(result, w->full));
    return result_text(result, "%s whole and one of %s of %s blocks: waves / ceil(waves) = %s",
                       schedule_count(result, w->full), schedule_count(result, w->partial),
                       schedule_count(result, w->places), schedule_percent(result, w->efficiency));
}

static const char *replaced_text(struct result *result, const struct history *h)
{
    if (h->replaced < 0)
        return "nobody: all blocks are resident at once";
    return result_text(result, "block %s starts on SM %d in cycle %s, as soon as a place is free",
                       schedule_count(result, h->replaced), h->replaced_sm,
                       schedule_count(result, h->replaced_at));
}

static const char *tail_text(struct result *result, const struct schedule *s)
{
    return result_text(result, "%s cycles with an empty place, %s of the launch",
                       schedule_count(result, s->run.tail),
                       schedule_percent(result, (double)s->run.tail / (double)s->run.cycles));
}

static const char *barrier_text(struct result *result, const struct schedule *s)
{
    return result_text(result, "%s of %s blocks can meet at one (cooperative launch)%s",
                       schedule_count(result, min_i64(s->waves.places, s->grid.blocks)),
                       schedule_count(result, s->grid.blocks),
                       s->grid.blocks <= s->waves.places ? "" : ": this grid is refused");
}

/* What the launch takes when starting it costs what it costs on the device. */
static int as_launched(struct result *result, const struct call *call, const struct schedule *s,
                       const char **text, struct err *err)
{
    struct schedule with = *s;

    *text = NULL;
    if (s->grid.start || s->grid.launch || !grid_add_overheads(&s->device.device, &with.grid))
        return 0;
    if (grid_run(&with.grid, NULL, NULL, call->arena, call_stop(call), &with.run, err) < 0)
        return -1;
    *text = result_text(result, "%s cycles%s (start=device launch=device, as calibrated)",
                        schedule_count(result, with.run.cycles),
                        schedule_time(result, &with, with.run.cycles));
    return 0;
}

static const char *nsight_text(struct result *result, const struct schedule *s)
{
    if (!s->waves.has_tail)
        return NULL;
    return result_text(result, "the partial wave takes up to %s of the time (its rule: from 20 %%)",
                       schedule_percent(result, s->waves.tail_share));
}

static int add_facts(struct result *result, const struct call *call, const struct schedule *s,
                     const struct history *h, struct err *err)
{
    struct facts facts = { .result = result };
    struct view_block *block;
    const char *launched;

    if (as_launched(result, call, s, &launched, err) < 0)
        return -1;
    if (h->class_count > TABLE_ROWS)
        add_fact(&facts, "kinds of SM",
                 result_text(result, "%d; the first, and the one that ends last", h->class_count));
    add_fact(&facts, "places", places_text(result, s));
    add_fact(&facts, "waves", waves_text(result, s));
    add_fact(&facts, "replaced", replaced_text(result, h));
    add_fact(&facts, "tail", tail_text(result, s));
    add_fact(&facts, "Nsight says", nsight_text(result, s));
    add_fact(&facts, "grid barrier", barrier_text(result, s));
    add_fact(&facts, "with starts", launched);
    block = view_add_facts(result, facts.count);
    for (size_t i = 0; block && i < facts.count; i++) {
        block->names[i] = facts.names[i];
        block->texts[i] = facts.texts[i];
    }
    return 0;
}

static const char *closing_text(struct result *result, const struct schedule *s)
{
    const struct grid_waves *w = &s->waves;
    int64_t next = (w->full + 1) * w->places;

    if (!w->partial)
        return result_text(result, "Next: %%schedule grid=1..%lld%s draws the sawtooth.",
                           (long long)min_i64(4 * w->places, GRID_MAX_BLOCKS),
                           s->occ.max_warps ? "" : " with the same keys");
    if (!w->full)
        return result_text(result, "To fill all places: grid=%lld. More blocks of less work each.",
                           (long long)next);
    return result_text(result,
                       "To have no tail: grid=%lld or grid=%lld; or shorter blocks, so that a "
                       "wave is short.",
                       (long long)(w->full * w->places), (long long)next);
}

/* ---- the figure ---- */

static const struct figure_state STATES[] = {
    [MARK_EMPTY] = { "empty place", TONE_IDLE },
    [MARK_RUNS] = { "block runs", TONE_SELECTED },
    [MARK_NEXT] = { "next block", TONE_NOT_SELECTED },
    [MARK_STARTS] = { "block starts", TONE_STALLED },
    [MARK_PARTLY] = { "some places empty", TONE_NOT_SELECTED },
};

static void add_gantt(struct figure *figure, const struct picture *p, const struct history *h)
{
    struct figure_axis x = { .label = "cycle", .max = (double)p->columns * (double)p->step };
    struct panel *panel =
        figure_add_gantt(figure, NULL, x, STATES, COUNT(STATES), p->rows, p->columns);
    int slots = p->is_by_slot ? p->s->grid.per_sm : 1;
    size_t row = 0;

    for (int c = 0; c < h->class_count && row < p->rows; c++)
        for (int slot = 0; slot < slots; slot++, row++) {
            const char *name = class_name(figure->result, &h->classes[c]);
            const char *group = slots > 1 ? name : NULL;

            if (slots > 1)
                name = result_text(figure->result, "place %d", slot);
            panel_row(panel, row, name, group, p->marks + row * p->columns,
                      p->is_by_slot ? p->numbers + row * p->columns : NULL);
        }
}

static void add_resident(struct figure *figure, const struct picture *p, struct arena *arena)
{
    struct figure_axis x = { .label = "cycle" }, y = { .label = "resident blocks" };
    struct panel *panel = figure_add_lines(figure, "Resident blocks", x, y);
    double *xs = arena_array(arena, p->columns + 1, sizeof(*xs));
    double *ys = arena_array(arena, p->columns + 1, sizeof(*ys));

    if (!xs || !ys)
        return;
    for (size_t c = 0; c <= p->columns; c++) {
        xs[c] = (double)((int64_t)c * p->step);
        ys[c] = c < p->columns ? (double)p->resident[c] : 0;
    }
    panel_add_steps(panel, "resident", xs, ys, p->columns + 1);
    panel_add_reference(panel, (double)p->s->waves.places, false,
                        result_text(figure->result, "%lld places", (long long)p->s->waves.places));
}

static void add_figure(struct result *result, const struct call *call, const struct picture *p,
                       const struct history *h)
{
    const struct schedule *s = p->s;
    const char *title = result_text(result, "%s blocks on %d SM%s, %d at once on each",
                                    schedule_count(result, s->grid.blocks), s->grid.sms,
                                    s->grid.sms == 1 ? "" : "s", s->grid.per_sm);
    struct figure *figure =
        figure_new(result, title,
                   result_text(result,
                               "Time to the right, a row for each %s that differs from the others. "
                               "%s",
                               p->is_by_slot ? "place of an SM" : "SM", result->view.answer),
                   result_text(result, "%s\n  waves  %s", result->view.answer,
                               waves_text(result, s)));

    if (!figure)
        return;
    add_gantt(figure, p, h);
    add_resident(figure, p, call->arena);
}

int schedule_show_one(struct result *result, const struct call *call, const struct schedule *s,
                      const char *origin, struct err *err)
{
    struct picture *text, *chart;
    struct history *h;
    int rc;

    if (read_history(call, s, &h, err) < 0 ||
        draw_picture(call, s, h, TEXT_CYCLES, TEXT_ROWS, false, &text, err) < 0)
        return -1;
    rc = draw_picture(call, s, h, CHART_CYCLES, CHART_ROWS, true, &chart, err);
    if (rc == 0)
        rc = set_fields(result, s, chart, h, err);
    if (chart)
        json_decref(chart->blocks);
    if (rc < 0)
        return -1;
    result->view.answer = answer_text(result, s);
    result->view.origin = origin;
    add_lines(result, text, h);
    add_table(result, s, h);
    if (add_facts(result, call, s, h, err) < 0)
        return -1;
    result->view.closing = closing_text(result, s);
    add_figure(result, call, chart, h);
    return 0;
}
