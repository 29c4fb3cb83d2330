/*
 * %simulate over ranges and lists: curves of how busy the scheduler is, and with
 * frames=yes a slider that shows the first cycles at every value.
 */
#include "cells/magics/simulate.h"

#include "cells/sweep_view.h"

enum { MOST_ROWS = 40 };

struct simulate_sweep {
    struct sweep_view view;
    const struct simulation *simulations;
};

static const struct sweep_axis AXES[] = {
    { "warps", "warps", UNIT_NUMBER, false },
    { "issue", "instructions before a wait", UNIT_NUMBER, false },
    { "wait", "cycles of a wait", UNIT_NUMBER, false },
    { "schedulers", "schedulers", UNIT_NUMBER, false },
    { "jitter", "jitter, cycles", UNIT_NUMBER, false },
    { "ilp", "independent chains of a warp", UNIT_NUMBER, false },
    { "switch_cost", "cycles of a change of warps", UNIT_NUMBER, false },
    { "window", "instructions of the window", UNIT_NUMBER, false },
    { "seed", "seed", UNIT_NUMBER, false },
};

/* ---- fields ---- */

static json_t *point_json(const struct sweep_view *view, const void *of, size_t i)
{
    const struct simulate_sweep *v = of;
    const struct simulation *s = &v->simulations[i];
    json_t *object = sweep_to_json(view->sweep, i);
    int failed = 0;

    failed |=
        json_object_set_new(object, "issue_utilization", json_real(s->steady.issue_utilization));
    failed |= json_object_set_new(object, "period",
                                  s->steady.period ? json_integer(s->steady.period) : json_null());
    failed |= json_object_set_new(object, "issued", json_integer(s->timeline.issued));
    failed |= json_object_set_new(object, "warp_states",
                                  json_pack("{s:f, s:f, s:f, s:f}", "selected", s->steady.selected,
                                            "not_selected", s->steady.not_selected, "stalled",
                                            s->steady.stalled, "eligible", s->steady.eligible));
    if (simulate_is_core(view->sweep->call)) {
        failed |= json_object_set_new(object, "ipc", json_real(s->ipc));
        failed |=
            json_object_set_new(object, "round_cycles",
                                s->round_cycles > 0 ? json_real(s->round_cycles) : json_null());
    }
    return json_whole(object, failed);
}

/* ---- words ---- */

static const char *answer_text(const struct sweep_view *v)
{
    size_t best = sweep_best(v), worst = sweep_worst(v);

    if (sweep_is_flat(v))
        return result_text(v->result, "Scheduler busy %s at %s.", sweep_percent(v, best),
                           result_points_text(v->result, v->sweep->points));
    if (v->values[best] >= 1)
        return result_text(v->result, "Scheduler busy %s to %s: full first at %s.",
                           sweep_percent(v, worst), sweep_percent(v, best),
                           sweep_point_text(v, best));
    return result_text(v->result, "Scheduler busy %s to %s, never full: the best at %s.",
                       sweep_percent(v, worst), sweep_percent(v, best), sweep_point_text(v, best));
}

static const char *title_text(const struct sweep_view *v)
{
    const struct sweep *sweep = v->sweep;

    if (sweep->key_count == 1)
        return result_text(v->result, "How busy the scheduler is, by %s",
                           sweep->keys[0].param->name);
    return result_text(v->result, "How busy the scheduler is, by %s and %s",
                       sweep->keys[0].param->name, sweep->keys[1].param->name);
}

/* One key: a row a point, until the scheduler is full for good. */
static void add_rows(const struct simulate_sweep *s)
{
    const struct sweep_view *v = &s->view;
    const struct view_column columns[] = {
        { v->sweep->keys[0].param->name, VIEW_LEFT },
        { "busy", VIEW_RIGHT },
        { "period", VIEW_RIGHT },
        { "selected", VIEW_RIGHT },
        { "not selected", VIEW_RIGHT },
        { "stalled", VIEW_RIGHT },
    };
    size_t n = v->sweep->points, shown = n < MOST_ROWS ? n : MOST_ROWS;
    struct view_table *table = view_add_table(v->result, columns, COUNT(columns), shown);

    for (size_t r = 0; r < shown; r++) {
        const struct steady *steady = &s->simulations[r].steady;

        view_cell(table, r, 0, sweep_span_text(v, r, r, 0));
        view_cell(table, r, 1, sweep_percent(v, r));
        view_cell(table, r, 2,
                  steady->period ? result_text(v->result, "%lld", (long long)steady->period)
                                 : "none");
        view_cell(table, r, 3, result_text(v->result, "%.2f", steady->selected));
        view_cell(table, r, 4, result_text(v->result, "%.2f", steady->not_selected));
        view_cell(table, r, 5, result_text(v->result, "%.2f", steady->stalled));
        if (r == sweep_best(v) && !sweep_is_flat(v))
            view_mark(table, r);
    }
    if (shown < n)
        v->result->view.closing = result_first_text(v->result, shown, n);
}

/* ---- figures ---- */

static void add_frames(const struct simulate_sweep *s)
{
    const struct sweep_view *v = &s->view;
    struct figure *figure = v->result->figure, *frame;

    for (size_t i = 0; figure && i < v->sweep->points; i++) {
        const char *label = sweep_point_text(v, i);
        const char *answer = simulate_answer(v->result, &s->simulations[i]);

        frame = figure_add_frame(figure, v->sweep->keys[0].param->name, label,
                                 result_text(v->result, "%s", label), answer, answer);
        if (frame)
            (s->simulations[i].core ? simulate_core_add_gantt
                                    : simulate_add_gantt)(frame, &s->simulations[i]);
    }
}

/* Keys that the line under the answer leaves out. */
static const char *skipped_keys(const struct sweep *sweep)
{
    if (simulate_is_core(sweep->call))
        return sweep_find(sweep, "body") < 0 ? "issue wait seed cycles frames"
                                             : "issue wait seed cycles frames body";
    return sweep_find(sweep, "seed") < 0 ? "seed cycles frames" : "cycles frames";
}

int simulate_show_sweep(struct result *result, const struct sweep *sweep,
                        const struct simulation *simulations, struct err *err)
{
    double *values = sweep_array(sweep, sizeof(*values), err);
    struct simulate_sweep s = { .view = { .result = result,
                                          .sweep = sweep,
                                          .values = values,
                                          .what = "busy",
                                          .axes = AXES,
                                          .axis_count = COUNT(AXES) },
                                .simulations = simulations };

    if (!values)
        return -1;
    for (size_t i = 0; i < sweep->points; i++)
        values[i] = simulations[i].steady.issue_utilization;
    s.view.title = title_text(&s.view);
    if (sweep_set_fields(&s.view, point_json, &s, true, err) < 0)
        return -1;
    result->view.answer = answer_text(&s.view);
    result->view.origin =
        result_text(result,
                    simulate_is_core(sweep->call) ? "core model   %s" : "pattern model   %s",
                    call_parameters_text(sweep->call, skipped_keys(sweep)));
    if (sweep->key_count == 1)
        add_rows(&s);
    else if (sweep->key_count == 2)
        sweep_add_matrix(&s.view);
    else
        sweep_add_best(&s.view);
    sweep_add_figure(&s.view);
    if (call_bool(sweep->call, "frames"))
        add_frames(&s);
    return 0;
}
