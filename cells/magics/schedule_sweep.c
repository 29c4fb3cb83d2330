/*
 * %schedule over ranges and lists: the sawtooth of a growing grid, and one grid
 * on ever more SMs (transparent scaling).
 */
#include "cells/magics/schedule.h"

#include "cells/render/text.h"
#include "cells/sweep_view.h"

enum { MOST_ROWS = 40 };

struct schedule_sweep {
    struct sweep_view view;
    const struct schedule *schedules;
};

static const struct sweep_axis AXES[] = {
    { "grid", "blocks of the grid", UNIT_NUMBER, false },
    { "block", "threads a block", UNIT_POW2, false },
    { "cost", "cycles of a block", UNIT_NUMBER, false },
    { "sms", "SMs", UNIT_NUMBER, false },
    { "per_sm", "blocks on an SM at once", UNIT_NUMBER, false },
    { "regs", "registers a thread", UNIT_POW2, true },
    { "static", "static shared bytes a block", UNIT_BYTES, true },
    { "dynamic", "dynamic shared bytes a block", UNIT_BYTES, true },
    { "jitter", "jitter, cycles", UNIT_NUMBER, false },
    { "start", "cycles that a start costs", UNIT_NUMBER, false },
    { "launch", "cycles that the launch costs", UNIT_NUMBER, false },
};

/* ---- fields ---- */

static json_t *point_json(const struct sweep_view *view, const void *of, size_t i)
{
    const struct schedule_sweep *v = of;
    const struct schedule *s = &v->schedules[i];
    double us = schedule_time_us(s, s->run.cycles);
    json_t *object = sweep_to_json(view->sweep, i);
    json_t *more =
        json_pack("{s:I, s:i, s:i, s:f, s:f, s:I, s:o, s:f, s:f, s:f}", "blocks",
                  (json_int_t)s->grid.blocks, "sms", s->grid.sms, "blocks_per_sm", s->grid.per_sm,
                  "waves", s->waves.waves, "tail_efficiency", s->waves.efficiency, "cycles",
                  (json_int_t)s->run.cycles, "time_us", us > 0 ? json_real(us) : json_null(),
                  "efficiency", s->run.efficiency, "sm_busy", s->run.sm_busy, "speedup",
                  (double)v->schedules[0].run.cycles / (double)s->run.cycles);
    int failed = json_object_update(object, more);

    json_decref(more);
    return json_whole(object, failed);
}

/* ---- words ---- */

static const char *cycles_text(const struct schedule_sweep *v, size_t i)
{
    return schedule_count(v->view.result, v->schedules[i].run.cycles);
}

/* The same grid on other machines: how the time follows. */
static bool is_scaling(const struct sweep *sweep)
{
    return sweep->key_count == 1 &&
           (sweep_find(sweep, "sms") >= 0 || sweep_find(sweep, "device") >= 0);
}

static const char *scaling_text(const struct schedule_sweep *v)
{
    size_t last = v->view.sweep->points - 1;
    char speedup[TEXT_NUMBER];

    return result_text(v->view.result,
                       "%s times as fast: %s cycles at %s, %s at %s, the same blocks.",
                       text_number(speedup, (double)v->schedules[0].run.cycles /
                                                (double)v->schedules[last].run.cycles),
                       cycles_text(v, 0), sweep_point_text(&v->view, 0), cycles_text(v, last),
                       sweep_point_text(&v->view, last));
}

static const char *answer_text(const struct schedule_sweep *v)
{
    const struct sweep_view *view = &v->view;
    size_t best = sweep_best(view);

    if (is_scaling(view->sweep))
        return scaling_text(v);
    if (sweep_is_flat(view))
        return result_text(view->result, "Places busy %s at %s.", sweep_percent(view, best),
                           result_points_text(view->result, view->sweep->points));
    return result_text(view->result, "Places busy %s to %s: the best first at %s.",
                       sweep_percent(view, sweep_worst(view)), sweep_percent(view, best),
                       sweep_point_text(view, best));
}

static const char *title_text(const struct sweep_view *v)
{
    const struct sweep *sweep = v->sweep;

    if (sweep->key_count == 1)
        return result_text(v->result, "How busy the places for blocks are, by %s",
                           sweep->keys[0].param->name);
    return result_text(v->result, "How busy the places for blocks are, by %s and %s",
                       sweep->keys[0].param->name, sweep->keys[1].param->name);
}

/* ---- one key: a row for each tooth of the saw ---- */

/* Neighbours that take equally long on equally many places. */
static size_t tooth_end(const struct schedule_sweep *v, size_t from)
{
    size_t to = from;

    if (!v->view.sweep->keys[0].is_number)
        return from;
    while (to + 1 < v->view.sweep->points &&
           v->schedules[to + 1].run.cycles == v->schedules[from].run.cycles &&
           v->schedules[to + 1].waves.places == v->schedules[from].waves.places)
        to++;
    return to;
}

static const char *waves_span(const struct schedule_sweep *v, size_t from, size_t to)
{
    double first = v->schedules[from].waves.waves, last = v->schedules[to].waves.waves;

    return first == last ? result_text(v->view.result, "%.2f", first)
                         : result_text(v->view.result, "%.2f..%.2f", first, last);
}

static const char *busy_span(const struct schedule_sweep *v, size_t from, size_t to)
{
    if (v->view.values[from] == v->view.values[to])
        return sweep_percent(&v->view, from);
    return result_text(v->view.result, "%s..%s", sweep_percent(&v->view, from),
                       sweep_percent(&v->view, to));
}

static void add_tooth(const struct schedule_sweep *v, struct view_table *table, size_t r,
                      size_t from, size_t to)
{
    struct result *result = v->view.result;
    const struct schedule *s = &v->schedules[from];

    view_cell(table, r, 0, sweep_span_text(&v->view, from, to, 0));
    view_cell(table, r, 1, result_text(result, "%d x %d", s->grid.sms, s->grid.per_sm));
    view_cell(table, r, 2, waves_span(v, from, to));
    view_cell(table, r, 3, cycles_text(v, from));
    view_cell(table, r, 4, busy_span(v, from, to));
    view_cell(table, r, 5,
              result_text(result, "%.2fx",
                          (double)v->schedules[0].run.cycles / (double)s->run.cycles));
}

static void add_teeth(const struct schedule_sweep *v)
{
    const struct view_column columns[] = {
        { v->view.sweep->keys[0].param->name, VIEW_LEFT },
        { "SMs x places", VIEW_RIGHT },
        { "waves", VIEW_RIGHT },
        { "cycles", VIEW_RIGHT },
        { "places busy", VIEW_RIGHT },
        { "speed", VIEW_RIGHT },
    };
    size_t n = v->view.sweep->points, starts[MOST_ROWS + 1], count = 0, best = sweep_best(&v->view);
    struct view_table *table;

    for (size_t i = 0; i < n && count <= MOST_ROWS; i = tooth_end(v, i) + 1)
        starts[count++] = i;
    table = view_add_table(v->view.result, columns, COUNT(columns),
                           count < MOST_ROWS ? count : MOST_ROWS);
    for (size_t r = 0; r < count && r < MOST_ROWS; r++) {
        size_t to = tooth_end(v, starts[r]);

        add_tooth(v, table, r, starts[r], to);
        if (starts[r] <= best && best <= to && !sweep_is_flat(&v->view))
            view_mark(table, r);
    }
    v->view.result->view.closing =
        count > MOST_ROWS
            ? result_text(v->view.result, "The first %d rows; the sweep field has all %zu points.",
                          MOST_ROWS, n)
        : is_scaling(v->view.sweep)
            ? "Blocks may run in any order, so the same program fills a larger device."
            : "Look at the rows' ends: one block more than whole waves costs a whole round.";
}

/* ---- figures ---- */

static const char *axis_label(const char *key)
{
    for (size_t i = 0; i < COUNT(AXES); i++)
        if (strcmp(AXES[i].key, key) == 0)
            return AXES[i].label;
    return key;
}

/* Beside how busy the places are: how long it takes. */
static void add_time_panel(const struct schedule_sweep *v)
{
    const struct sweep *sweep = v->view.sweep;
    struct arena *arena = sweep->call->arena;
    double *xs = arena_array(arena, sweep->points, sizeof(*xs));
    double *ys = arena_array(arena, sweep->points, sizeof(*ys));
    struct figure_axis x = { .label = axis_label(sweep->keys[0].param->name),
                             .scale = sweep_scale(sweep, 0) };
    struct figure_axis y = { .label = "cycles" };
    struct panel *panel;

    if (!xs || !ys || !v->view.result->figure)
        return;
    for (size_t i = 0; i < sweep->points; i++) {
        xs[i] = sweep_number(sweep, i, 0);
        ys[i] = (double)v->schedules[i].run.cycles;
    }
    panel = figure_add_lines(v->view.result->figure, "How long it takes", x, y);
    panel_add_series(panel, "cycles", xs, ys, sweep->points);
}

int schedule_show_sweep(struct result *result, const struct sweep *sweep,
                        const struct schedule *schedules, const char *origin, struct err *err)
{
    double *values = sweep_array(sweep, sizeof(*values), err);
    struct schedule_sweep v = { .view = { .result = result,
                                          .sweep = sweep,
                                          .values = values,
                                          .what = "places busy",
                                          .axes = AXES,
                                          .axis_count = COUNT(AXES) },
                                .schedules = schedules };

    if (!values)
        return -1;
    for (size_t i = 0; i < sweep->points; i++)
        values[i] = schedules[i].run.efficiency;
    v.view.title = title_text(&v.view);
    if (sweep_set_fields(&v.view, point_json, &v, true, err) < 0)
        return -1;
    result->view.answer = answer_text(&v);
    result->view.origin = origin;
    if (sweep->key_count == 1)
        add_teeth(&v);
    else if (sweep->key_count == 2)
        sweep_add_matrix(&v.view);
    else
        sweep_add_best(&v.view);
    sweep_add_figure(&v.view);
    if (sweep->key_count == 1 && sweep->keys[0].is_number && sweep->points > 1)
        add_time_panel(&v);
    return 0;
}
