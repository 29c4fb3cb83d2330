/*
 * The timeline of a program: a row for each role, engine and slot of the ring,
 * from the start on. The same marks make lines of text and the chart; the state
 * at the first cycle of a column stands for the column.
 */
#include "cells/magics/specialize.h"

#include "cells/internal.h"
#include "model/base/buf.h"

enum {
    TEXT_NAMES = 12,
    TEXT_CYCLES = 70,
    CHART_CYCLES = 210,
    SHORT_CHART = 70, /* where work is of one or two cycles, and would be a bar code */
    SHORT_WORK = 3,
    SHOWN_ROUNDS = 4, /* of the ring, then it repeats */
    MOST_ROLES = 16,
    MOST_SLOTS = 12,
};

enum mark {
    MARK_NONE,
    MARK_HELD,
    MARK_WAITS,
    MARK_BLOCKED,
    MARK_BUSY,
    MARK_IDLE,
    MARK_FILLING,
    MARK_FULL,
    MARK_USED,
};

struct row {
    const char *name, *group;
    uint8_t *marks;
    int32_t *numbers;
};

struct picture {
    const struct specialization *s;
    struct row rows[MOST_ROLES + ASYNC_MAX_ENGINES + MOST_SLOTS];
    size_t row_count, columns;
    int64_t step;
    int roles, slots;                  /* shown */
    int engine_row[ASYNC_MAX_ENGINES]; /* -1: it takes no time here */
    int64_t *read_until;               /* by step: the end of its last read */
};

/* ---- what is shown ---- */

/* Until the step after some rounds has been worked on; the whole run when it is shorter. */
static int64_t shown_cycles(const struct specialization *s, size_t columns)
{
    int last = s->program->pipe * SHOWN_ROUNDS;
    int64_t most = 0;

    for (size_t i = 0; i < s->run.event_count; i++)
        if (s->run.events[i].step <= last)
            most = max_i64(most, s->run.events[i].to);
    if (s->run.cycles <= (int64_t)columns)
        return s->run.cycles;
    return max_i64(min_i64(s->run.cycles, (int64_t)columns), most);
}

/* The next of 1, 2, 4, 5, 8, 10, 20, ... */
static int64_t round_step(int64_t cycles)
{
    static const int steps[] = { 1, 2, 4, 5, 8 };

    for (int64_t power = 1;; power *= 10)
        for (size_t i = 0; i < COUNT(steps); i++)
            if (steps[i] * power >= cycles)
                return steps[i] * power;
}

static int add_row(struct picture *p, struct arena *arena, const char *name, const char *group,
                   enum mark empty)
{
    struct row *row = &p->rows[p->row_count];

    *row = (struct row){ name, group, arena_array(arena, p->columns, sizeof(*row->marks)),
                         arena_array(arena, p->columns, sizeof(*row->numbers)) };
    if (!row->marks || !row->numbers)
        return -1;
    memset(row->marks, (int)empty, p->columns);
    memset(row->numbers, -1, p->columns * sizeof(*row->numbers));
    return (int)p->row_count++;
}

static bool has_ring(const struct specialization *s)
{
    for (int r = 0; r < s->program->role_count; r++)
        for (int f = 0; f < s->program->roles[r].phase_count; f++)
            for (int i = 0; i < s->program->roles[r].phases[f].op_count; i++)
                if (s->program->roles[r].phases[f].ops[i].access == ASYNC_WRITES)
                    return true;
    return false;
}

static bool lay_rows(struct picture *p, struct result *result)
{
    const struct async_program *program = p->s->program;
    bool ok = true;

    p->roles = program->role_count < MOST_ROLES ? program->role_count : MOST_ROLES;
    p->slots = !has_ring(p->s) ? 0 : program->pipe < MOST_SLOTS ? program->pipe : MOST_SLOTS;
    for (int r = 0; r < p->roles; r++)
        ok &= add_row(p, result->arena,
                      program->role_count > 1 && strcmp(program->roles[r].name, "warp") == 0
                          ? result_text(result, "warp %d", r)
                          : program->roles[r].name,
                      "roles", MARK_NONE) >= 0;
    for (int e = 0; e < program->engine_count; e++) {
        p->engine_row[e] = -1;
        if (!p->s->run.engine_busy[e])
            continue;
        p->engine_row[e] = add_row(p, result->arena, program->engines[e], "engines", MARK_IDLE);
        ok &= p->engine_row[e] >= 0;
    }
    for (int i = 0; i < p->slots; i++)
        ok &= add_row(p, result->arena, result_text(result, "slot %d", i), "ring", MARK_NONE) >= 0;
    return ok;
}

/* ---- drawing ---- */

static void put(struct picture *p, size_t row, int64_t from, int64_t to, enum mark mark, int number)
{
    for (int64_t c = ceil_div(from, p->step); c < ceil_div(to, p->step); c++) {
        if (c >= (int64_t)p->columns)
            return;
        p->rows[row].marks[c] = (uint8_t)mark;
        p->rows[row].numbers[c] = number;
    }
}

static void put_role(struct picture *p, const struct async_event *e)
{
    static const enum mark marks[] = {
        [ASYNC_HELD] = MARK_HELD, [ASYNC_WAITING] = MARK_WAITS, [ASYNC_BLOCKED] = MARK_BLOCKED
    };

    if (e->role < p->roles)
        put(p, (size_t)e->role, e->from, e->to, marks[e->state],
            e->state == ASYNC_HELD ? e->step : -1);
}

/* A slot fills while its copy is under way, and is full until its last reader has ended. */
static void put_slot(struct picture *p, const struct async_event *e)
{
    int slot = e->step % p->s->program->pipe;
    size_t row = p->row_count - (size_t)p->slots + (size_t)slot;

    if (slot >= p->slots)
        return;
    if (e->op->access == ASYNC_WRITES) {
        put(p, row, e->from, e->arrived, MARK_FILLING, e->step);
        put(p, row, e->arrived, INT64_MAX / 2, MARK_FULL, e->step);
    } else if (e->op->access == ASYNC_READS) {
        put(p, row, e->from, e->to, MARK_USED, e->step);
        put(p, row, e->to, INT64_MAX / 2, e->to < p->read_until[e->step] ? MARK_FULL : MARK_NONE,
            -1);
    }
}

static void draw(struct picture *p)
{
    for (size_t i = 0; i < p->s->run.event_count; i++) {
        const struct async_event *e = &p->s->run.events[i];

        if (e->engine != ASYNC_NONE && e->op->access == ASYNC_READS)
            p->read_until[e->step] = max_i64(p->read_until[e->step], e->to);
    }
    for (size_t i = 0; i < p->s->run.event_count; i++) {
        const struct async_event *e = &p->s->run.events[i];

        if (e->engine == ASYNC_NONE)
            put_role(p, e);
        else if (p->engine_row[e->engine] >= 0)
            put(p, (size_t)p->engine_row[e->engine], e->from, e->to, MARK_BUSY, e->step);
        if (e->engine != ASYNC_NONE && p->slots)
            put_slot(p, e);
    }
}

static struct picture *picture_of(struct result *result, const struct specialization *s,
                                  size_t columns)
{
    struct picture *p = arena_alloc(result->arena, sizeof(*p));
    int64_t cycles = shown_cycles(s, columns);

    if (!p)
        return NULL;
    p->s = s;
    p->step = round_step(ceil_div(max_i64(cycles, 1), (int64_t)columns));
    p->columns = (size_t)min_i64(ceil_div(max_i64(cycles, 1), p->step), (int64_t)columns);
    p->read_until = arena_array(result->arena, (size_t)s->program->steps, sizeof(*p->read_until));
    if (!p->read_until || !lay_rows(p, result))
        return NULL;
    draw(p);
    return p;
}

/* ---- as text ---- */

static char mark_char(const struct row *row, size_t c)
{
    static const char marks[] = " #-:..-=#";
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";

    if (row->marks[c] == MARK_BUSY || row->marks[c] == MARK_USED || row->marks[c] == MARK_HELD)
        return row->numbers[c] < 0 ? '#' : digits[row->numbers[c] % 36];
    return marks[row->marks[c]];
}

static const char *row_text(struct result *result, const struct row *row, size_t columns)
{
    struct buf out = { 0 };
    const char *text;
    size_t end = columns;

    while (end && mark_char(row, end - 1) == ' ')
        end--;
    buf_printf(&out, "%-*s", TEXT_NAMES, row->name);
    for (size_t c = 0; c < end; c++)
        buf_putc(&out, mark_char(row, c));
    text = result_text(result, "%s", buf_text(&out));
    buf_done(&out);
    return text;
}

static const char *ruler_text(struct result *result, const struct picture *p)
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
            buf_puts(&out, specialize_count(result, (double)((int64_t)c * p->step)));
    }
    text = result_text(result, "%s", buf_text(&out));
    buf_done(&out);
    return text;
}

void specialize_add_lines(struct result *result, const struct specialization *s)
{
    struct picture *p = picture_of(result, s, TEXT_CYCLES);
    struct view_block *block = p ? view_add_lines(result, p->row_count + 2) : NULL;

    if (!block)
        return;
    block->texts[0] = ruler_text(result, p);
    for (size_t r = 0; r < p->row_count; r++)
        block->texts[r + 1] = row_text(result, &p->rows[r], p->columns);
    block->texts[p->row_count + 1] =
        p->slots
            ? "            0 1 2 ... on that step   - waits, fills   = full   blank: free   . idle"
            : "            0 1 2 ... on that step   - waits   : unit is taken   . idle";
}

/* ---- as a chart ---- */

/* Work looks the same in every row, so it has one entry of the legend. */
static const struct figure_state STATES[] = {
    [MARK_NONE] = { "", TONE_NONE },
    [MARK_HELD] = { "works; a slot: is read", TONE_SELECTED },
    [MARK_WAITS] = { "role waits", TONE_STALLED },
    [MARK_BLOCKED] = { "unit is taken", TONE_STALLED_2 },
    [MARK_BUSY] = { "", TONE_NONE },
    [MARK_IDLE] = { "engine idles", TONE_IDLE },
    [MARK_FILLING] = { "slot fills", TONE_STALLED_3 },
    [MARK_FULL] = { "slot is full", TONE_NOT_SELECTED },
};

static void merge_work(struct row *row, size_t columns)
{
    for (size_t c = 0; c < columns; c++)
        if (row->marks[c] == MARK_BUSY || row->marks[c] == MARK_USED)
            row->marks[c] = MARK_HELD;
}

/* So many that most works have room for their number. */
static size_t chart_cycles(const struct specialization *s)
{
    int64_t shortest = SHORT_WORK;

    for (size_t i = 0; i < s->run.event_count; i++)
        if (s->run.events[i].to > s->run.events[i].from)
            shortest = min_i64(shortest, s->run.events[i].to - s->run.events[i].from);
    return shortest < SHORT_WORK ? SHORT_CHART : CHART_CYCLES;
}

void specialize_add_gantt(struct figure *figure, const struct specialization *s)
{
    struct picture *p = figure ? picture_of(figure->result, s, chart_cycles(s)) : NULL;
    struct figure_axis x = { .label = "cycle" };
    struct panel *panel;

    if (!p)
        return;
    x.max = (double)p->columns * (double)p->step;
    panel = figure_add_gantt(figure, NULL, x, STATES, COUNT(STATES), p->row_count, p->columns);
    for (size_t r = 0; r < p->row_count; r++) {
        merge_work(&p->rows[r], p->columns);
        panel_row(panel, r, p->rows[r].name, p->rows[r].group, p->rows[r].marks,
                  p->rows[r].numbers);
    }
}

/* ---- as code ---- */

static void put_step(struct buf *out, int shift)
{
    if (shift)
        buf_printf(out, "[k%+d]", shift);
    else
        buf_puts(out, "[k]");
}

static void put_op(struct buf *out, const struct async_program *p, const struct async_op *op)
{
    if (op->kind == ASYNC_WAIT) {
        buf_printf(out, "wait %s", p->tokens[op->token].name);
        put_step(out, op->shift);
        return;
    }
    buf_puts(out, op->name);
    put_step(out, op->shift);
    if (op->token == ASYNC_NONE)
        return;
    buf_printf(out, " -> %s", p->tokens[op->token].name);
    put_step(out, op->shift);
}

/* "k = 4..63: wait empty[k-4]; load[k] -> full[k]" */
static const char *phase_text(struct result *result, const struct async_program *p,
                              const struct async_phase *phase)
{
    struct buf out = { 0 };
    const char *text;

    if (phase->to - phase->from == 1)
        buf_printf(&out, "k = %d: ", phase->from);
    else
        buf_printf(&out, "k = %d..%d: ", phase->from, phase->to - 1);
    for (int i = 0; i < phase->op_count; i++) {
        buf_puts(&out, i ? "; " : "");
        put_op(&out, p, &phase->ops[i]);
    }
    text = result_text(result, "%s", buf_text(&out));
    buf_done(&out);
    return text;
}

void specialize_add_code(struct result *result, const struct specialization *s)
{
    const struct async_program *p = s->program;
    int roles = p->role_count < MOST_ROLES && s->id != ASYNC_WARPS ? p->role_count : 1;
    struct view_block *block;
    size_t n = 0;

    for (int r = 0; r < roles; r++)
        for (int f = 0; f < p->roles[r].phase_count; f++)
            n += p->roles[r].phases[f].from < p->roles[r].phases[f].to;
    block = view_add_facts(result, n);
    n = 0;
    for (int r = 0; block && r < roles; r++) {
        const char *name = p->roles[r].name;

        for (int f = 0; f < p->roles[r].phase_count; f++) {
            const struct async_phase *phase = &p->roles[r].phases[f];

            if (phase->from >= phase->to)
                continue;
            block->names[n] = name;
            block->texts[n++] = phase_text(result, p, phase);
            name = "";
        }
    }
}
