/*
 * A launch over ranges and lists of its keys. Every point starts from the buffers as
 * they were; the last one's writes stay, as if it had been the only launch.
 */
#include "cells/figure.h"
#include "cells/internal.h"
#include "cells/magics/launch.h"
#include "cells/magics/occupancy.h"
#include "cells/render/text.h"

#include <math.h>

enum { MOST_POINTS = 1024, MOST_ROWS = 40, MOST_CURVES = 8, FEW_POINTS = 32 };

struct swept {
    struct call *call;
    const struct sweep *sweep;
    struct launch_point *points;
    double *us; /* per point; NaN: no time */
    struct result *result;
    size_t best, worst;
    bool has_cycles, has_conflicts; /* columns that not every sweep needs */
    bool is_by_cycles;              /* how points are ranked */
};

/* ---- running ---- */

static int run_points(struct swept *s, const struct launch_line *line, struct err *err)
{
    for (size_t i = 0; i < s->sweep->points; i++) {
        struct launch_request_options options = { .is_writing = i + 1 == s->sweep->points };
        struct launch_point *p = &s->points[i];
        struct launch_time measured, modelled;

        if (call_check_stop(s->call, err) < 0 ||
            launch_plan_make(s->call, line, s->sweep, i, &p->plan, err) < 0 ||
            launch_run(s->call, &p->plan, &options, &p->outcome, err) < 0)
            return -1;
        measured = launch_measured(p);
        modelled = launch_modelled(p);
        s->us[i] = measured.is_known ? measured.us : modelled.is_known ? modelled.us : NAN;
    }
    return 0;
}

/*
 * What points are ranked by: cycles on one model, where a short launch's time is all start-up;
 * else time.
 */
static double rank(const struct swept *s, size_t point)
{
    struct launch_time t = launch_modelled(&s->points[point]);

    return s->is_by_cycles && t.is_known ? t.cycles : s->us[point];
}

/* The first with the least and with the most. */
static void find_ends(struct swept *s)
{
    s->is_by_cycles = sweep_find(s->sweep, "device") < 0;
    for (size_t i = 0; i < s->sweep->points; i++) {
        s->has_cycles |= launch_modelled(&s->points[i]).is_known;
        s->has_conflicts |= s->points[i].outcome.facts.shared_conflicts > 0;
        s->is_by_cycles &= launch_modelled(&s->points[i]).is_known || isnan(s->us[i]);
    }
    for (size_t i = 0; i < s->sweep->points; i++) {
        double v = isnan(s->us[i]) ? NAN : rank(s, i);

        if (v < rank(s, s->best) || isnan(rank(s, s->best)))
            s->best = i;
        if (v > rank(s, s->worst) || isnan(rank(s, s->worst)))
            s->worst = i;
    }
}

/* ---- words ---- */

static const char *label(const struct swept *s, size_t point, size_t k)
{
    return sweep_label(s->sweep, s->result->arena, point, k);
}

/* "block=64 grid=4" */
static const char *point_text(const struct swept *s, size_t point)
{
    const char *text = NULL;

    for (size_t k = 0; k < s->sweep->key_count; k++)
        text = result_text(s->result, "%s%s%s=%s", text ? text : "", text ? " " : "",
                           s->sweep->keys[k].param->name, label(s, point, k));
    return text ? text : "";
}

static const char *us_text(const struct swept *s, double us)
{
    return us < 100 ? result_text(s->result, "%.1f", us) : result_text(s->result, "%.0f", us);
}

/* The start takes nearly all of the time, so that only the cycles tell the points apart. */
static bool is_told_by_cycles(const struct swept *s)
{
    return s->us[s->worst] < s->us[s->best] * 1.005 && s->is_by_cycles &&
           rank(s, s->worst) > 1.005 * rank(s, s->best);
}

static const char *answer(const struct swept *s)
{
    const char *name = s->points[0].plan.kernel;
    double best = s->us[s->best], worst = s->us[s->worst];

    if (isnan(best) || isnan(worst))
        return result_text(s->result, "%.40s ran at %zu points, no fault found.", name,
                           s->sweep->points);
    if (is_told_by_cycles(s))
        return result_text(s->result,
                           "%.40s takes %s us at %s, most of it to start; the fewest "
                           "cycles at %s: %.0f, the most at %s: %.0f.",
                           name, us_text(s, best), result_points_text(s->result, s->sweep->points),
                           point_text(s, s->best), rank(s, s->best), point_text(s, s->worst),
                           rank(s, s->worst));
    if (worst < best * 1.005)
        return result_text(s->result, "%.40s takes %s us at %s.", name, us_text(s, best),
                           result_points_text(s->result, s->sweep->points));
    return result_text(s->result, "%.40s is fastest at %s: %s us; slowest at %s: %s us (%.2fx).",
                       name, point_text(s, s->best), us_text(s, best), point_text(s, s->worst),
                       us_text(s, worst), worst / best);
}

static const char *origin(const struct swept *s)
{
    const struct launch_point *last = &s->points[s->sweep->points - 1];
    const char *device = sweep_find(s->sweep, "device") >= 0
                             ? "several devices"
                             : occupancy_device_text(s->result, &last->plan.device);
    const char *build = sweep_find(s->sweep, "build") >= 0 ? ""
                        : last->plan.is_debug              ? "   build=debug"
                                                           : "   build=opt";
    struct buf keys = { 0 };
    const char *text;

    for (size_t k = 0; k < s->sweep->key_count; k++)
        buf_printf(&keys, "   %s=%s", s->sweep->keys[k].param->name,
                   s->sweep->keys[k].arg->text ? s->sweep->keys[k].arg->text : "...");
    text =
        result_text(s->result, "%s%s%s   each from the same buffers%s%s", device, buf_text(&keys),
                    build, s->call->target ? "   -> " : "", s->call->target ? s->call->target : "");
    buf_done(&keys);
    return text;
}

/* ---- the table ---- */

static void put_row(const struct swept *s, struct view_table *table, size_t row, size_t point)
{
    const struct launch_point *p = &s->points[point];
    const struct ptx_facts *f = &p->outcome.facts;
    struct result *r = s->result;
    char text[TEXT_NUMBER];
    size_t c = 0;

    for (; c < s->sweep->key_count; c++)
        view_cell(table, row, c, label(s, point, c));
    view_cell(table, row, c++, isnan(s->us[point]) ? NULL : us_text(s, s->us[point]));
    if (s->has_cycles) {
        double cycles = launch_modelled(p).cycles;

        view_cell(table, row, c++,
                  cycles > 0 ? result_text(r, "%s", text_number(text, cycles)) : NULL);
    }
    view_cell(table, row, c++,
              result_text(r, "%s", text_percent(text, p->plan.occupancy.occupancy)));
    view_cell(table, row, c++, result_text(r, "%.2g", launch_waves(p)));
    if (!p->outcome.has_facts)
        return;
    view_cell(table, row, c++,
              result_text(r, "%s", text_number(text, (double)f->warp_instructions)));
    view_cell(table, row, c++, result_text(r, "%.0f %%", 100 * f->lane_efficiency));
    view_cell(table, row, c++,
              result_text(r, "%s",
                          text_number(text,
                                      (double)(f->global_load.sectors + f->global_store.sectors))));
    if (s->has_conflicts)
        view_cell(table, row, c,
                  result_text(r, "%s", text_number(text, (double)f->shared_conflicts)));
}

static void add_table(const struct swept *s)
{
    struct view_column columns[SWEEP_MAX_KEYS + 8];
    size_t n = 0, rows = s->sweep->points < MOST_ROWS ? s->sweep->points : MOST_ROWS;
    struct view_table *table;

    for (; n < s->sweep->key_count; n++)
        columns[n] = (struct view_column){ s->sweep->keys[n].param->name,
                                           s->sweep->keys[n].is_number ? VIEW_RIGHT : VIEW_LEFT };
    columns[n++] = (struct view_column){ "us", VIEW_RIGHT };
    if (s->has_cycles)
        columns[n++] = (struct view_column){ "cycles", VIEW_RIGHT };
    columns[n++] = (struct view_column){ "occupancy", VIEW_RIGHT };
    columns[n++] = (struct view_column){ "waves", VIEW_RIGHT };
    columns[n++] = (struct view_column){ "warp instr", VIEW_RIGHT };
    columns[n++] = (struct view_column){ "lanes", VIEW_RIGHT };
    columns[n++] = (struct view_column){ "sectors", VIEW_RIGHT };
    if (s->has_conflicts)
        columns[n++] = (struct view_column){ "conflicts", VIEW_RIGHT };
    table = view_add_table(s->result, columns, n, rows);
    for (size_t i = 0; table && i < rows; i++) {
        put_row(s, table, i, i);
        if (i == s->best && !isnan(s->us[i]))
            view_mark(table, i);
    }
    if (rows < s->sweep->points)
        s->result->view.closing = result_first_text(s->result, rows, s->sweep->points);
}

/* ---- the figure ---- */

static struct figure_axis value_axis(const struct swept *s)
{
    return (struct figure_axis){ .label = is_told_by_cycles(s) ? "cycles" : "us" };
}

static double value_at(const struct swept *s, size_t point)
{
    return is_told_by_cycles(s) ? rank(s, point) : s->us[point];
}

/* One curve over key x for each value of the other key, or one curve. */
static void add_curves(const struct swept *s, struct figure *figure, size_t x)
{
    const struct sweep *sweep = s->sweep;
    size_t other = 1 - x, n = sweep->keys[x].arg->count;
    size_t curves = sweep->key_count == 1 ? 1 : sweep->keys[other].arg->count;
    double *xs = arena_array(s->call->arena, n, sizeof(*xs));
    double *ys = arena_array(s->call->arena, n, sizeof(*ys));
    struct figure_axis axis = { .label = sweep->keys[x].param->name, .unit = UNIT_POW2 };
    struct figure_axis value = value_axis(s);
    struct panel *panel = figure_add_lines(figure, NULL, axis, value);

    for (size_t c = 0; xs && ys && c < curves; c++) {
        const char *name = "time";
        struct figure_series *series;

        for (size_t i = 0; i < n; i++) {
            size_t point = sweep->key_count == 1 ? i : x == 1 ? c * n + i : i * curves + c;

            xs[i] = sweep_number(sweep, point, x);
            ys[i] = value_at(s, point);
            if (sweep->key_count > 1)
                name = result_text(s->result, "%s=%s", sweep->keys[other].param->name,
                                   label(s, point, other));
        }
        series = panel_add_series(panel, name, xs, ys, n);
        if (series)
            series->has_markers = n <= FEW_POINTS;
    }
}

static void add_bars(const struct swept *s, struct figure *figure)
{
    static const char *const WHAT = "time";
    size_t n = s->sweep->points < MOST_ROWS ? s->sweep->points : MOST_ROWS;
    const char **names = arena_array(s->call->arena, n, sizeof(*names));
    double *values = arena_array(s->call->arena, n, sizeof(*values));

    if (!names || !values)
        return;
    for (size_t i = 0; i < n; i++) {
        names[i] = point_text(s, i);
        values[i] = value_at(s, i);
    }
    figure_add_bars(figure, NULL, value_axis(s), names, n, &WHAT, 1, values, NULL);
}

static void add_figure(const struct swept *s)
{
    const struct sweep_key *keys = s->sweep->keys;
    struct figure *figure;
    size_t x = 0;

    if (s->sweep->key_count > 2 || s->sweep->points < 2 || isnan(s->us[s->best]))
        return;
    figure =
        figure_new(s->result, result_text(s->result, "Time of %.40s", s->points[0].plan.kernel),
                   s->result->view.answer, s->result->view.answer);
    if (s->sweep->key_count == 2 &&
        (!keys[0].is_number || (keys[1].is_number && keys[1].arg->count > keys[0].arg->count)))
        x = 1;
    if (keys[x].is_number && (s->sweep->key_count == 1 || keys[1 - x].arg->count <= MOST_CURVES))
        add_curves(s, figure, x);
    else
        add_bars(s, figure);
}

/* ---- fields ---- */

static json_t *point_json(const struct swept *s, size_t i)
{
    json_t *object = sweep_to_json(s->sweep, i), *fields = launch_fields(s->call, &s->points[i]);
    int failed = !object || !fields;

    if (!failed) {
        /* The lines of every point would be most of the notebook. */
        json_object_del(fields, "lines");
        json_object_del(fields, "warnings");
        failed = json_object_update_missing(object, fields) < 0;
    }
    json_decref(fields);
    return json_whole(object, failed);
}

static int set_fields(const struct swept *s, struct err *err)
{
    json_t *list = json_array(), *fields = s->result->fields;
    size_t last = s->sweep->points - 1;
    int failed = 0;

    for (size_t i = 0; i < s->sweep->points; i++)
        failed |= json_array_append_new(list, point_json(s, i));
    failed |= json_object_set_new(fields, "sweep", list);
    failed |= json_object_set_new(fields, "best", point_json(s, s->best));
    failed |= json_object_set_new(fields, "kernel", json_string(s->points[0].plan.kernel));
    if (sweep_find(s->sweep, "device") < 0)
        failed |= json_object_set_new(fields, "device",
                                      session_device_json(&s->points[last].plan.device));
    return failed ? err_set(err, ERR_ResourceError, "out of memory") : 0;
}

int launch_sweep_run(struct result *result, struct call *call, const struct launch_line *line,
                     const struct sweep *sweep, struct err *err)
{
    struct swept s = { .call = call, .sweep = sweep, .result = result };

    if (sweep->points > MOST_POINTS)
        return err_set(err, ERR_UsageError, "a launch at %zu points: at most %d", sweep->points,
                       MOST_POINTS);
    s.points = arena_array(call->arena, sweep->points, sizeof(*s.points));
    s.us = arena_array(call->arena, sweep->points, sizeof(*s.us));
    if (!s.points || !s.us)
        return err_set(err, ERR_ResourceError, "out of memory for %zu launches", sweep->points);
    if (run_points(&s, line, err) < 0)
        return -1;
    find_ends(&s);
    if (set_fields(&s, err) < 0)
        return -1;
    result->view.answer = answer(&s);
    result->view.origin = origin(&s);
    add_table(&s);
    add_figure(&s);
    return 0;
}
