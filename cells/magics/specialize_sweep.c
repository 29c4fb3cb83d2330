/*
 * %specialize over ranges and lists: the curve of the ring's depth, with the
 * formula and the scheduler of %simulate on it, and programs side by side.
 */
#include "cells/magics/specialize_budget.h"

#include "cells/internal.h"
#include "cells/sweep_view.h"

enum { MOST_ROWS = 40 };

struct specialize_sweep {
    struct sweep_view view;
    const struct specialization *points;
};

static const struct sweep_axis AXES[] = {
    { "pipe", "slots of the ring", UNIT_NUMBER, false },
    { "load", "cycles of a load", UNIT_NUMBER, false },
    { "compute", "cycles of an MMA", UNIT_NUMBER, false },
    { "steps", "steps", UNIT_NUMBER, false },
    { "wake", "cycles that a blocked wait adds", UNIT_NUMBER, false },
    { "tma", "cycles of the copy engine", UNIT_NUMBER, false },
    { "softmax", "cycles of a softmax", UNIT_NUMBER, false },
    { "plan", "cycles of other work", UNIT_NUMBER, false },
    { "jitter", "jitter, cycles", UNIT_NUMBER, false },
    { "tile", "rows and columns of the tile", UNIT_NUMBER, false },
    { "ktile", "K of a step", UNIT_NUMBER, false },
};

/* ---- fields ---- */

static json_t *point_json(const struct sweep_view *view, const void *of, size_t i)
{
    const struct specialize_sweep *v = of;
    const struct specialization *s = &v->points[i];
    json_t *object = sweep_to_json(view->sweep, i);
    json_t *more =
        json_pack("{s:f, s:f, s:o, s:o, s:I, s:f, s:I, s:o, s:o, s:I}", "busy", s->run.busy,
                  "utilization", s->run.utilization, "formula",
                  s->has_formula ? json_real(s->formula) : json_null(), "as_warps",
                  s->as_warps >= 0 ? json_real(s->as_warps) : json_null(), "cycles",
                  (json_int_t)s->run.cycles, "idle_per_work", s->run.idle_per_work, "overwritten",
                  (json_int_t)s->run.overwrites, "registers", budget_registers_json(s), "shared",
                  budget_shared_json(s), "works", (json_int_t)s->run.main_works);
    int failed = more ? json_object_update(object, more) : -1;

    json_decref(more);
    return json_whole(object, failed);
}

/* ---- words ---- */

static bool has_as_warps(const struct specialize_sweep *v)
{
    for (size_t i = 0; i < v->view.sweep->points; i++)
        if (v->points[i].as_warps < 0)
            return false;
    return true;
}

/* Points that an SM cannot have: their times are of no program. */
static size_t count_misfits(const struct specialize_sweep *v, bool *by_registers)
{
    size_t count = 0;

    *by_registers = true;
    for (size_t i = 0; i < v->view.sweep->points; i++)
        if (!budget_fits(&v->points[i])) {
            count++;
            *by_registers &= !v->points[i].tile.fits;
        }
    return count;
}

static const char *misfits_text(const struct specialize_sweep *v)
{
    bool by_registers;
    size_t count = count_misfits(v, &by_registers);

    if (!count)
        return ".";
    if (by_registers)
        return result_text(v->view.result, "; %zu need%s more registers than a thread has.", count,
                           count == 1 ? "s" : "");
    return result_text(v->view.result, "; %zu do%s not fit on an SM.", count,
                       count == 1 ? "es" : "");
}

/* Keys that the heading leaves out: those that play no part, unless they were written. */
static const char *unused_keys(const struct specialize_sweep *v)
{
    static const char *const TIMES[] = { "device", "jitter", "seed",    "fp",
                                         "int",    "plan",   "softmax", "tma" };
    static const char *const TILE[] = { "tile", "ktile", "acc", "rate", "groups" };
    const struct call *call = v->view.sweep->call;
    bool has_tile = v->points->tile.is_given;
    const char *skip = has_tile ? "compute" : "";

    for (size_t i = 0; i < COUNT(TIMES); i++)
        if (!call_given(call, TIMES[i]))
            skip = result_text(v->view.result, "%s %s", skip, TIMES[i]);
    for (size_t i = 0; i < COUNT(TILE) && !has_tile; i++)
        skip = result_text(v->view.result, "%s %s", skip, TILE[i]);
    return skip;
}

static const char *answer_text(const struct specialize_sweep *v)
{
    const struct sweep_view *view = &v->view;
    size_t best = sweep_best(view), worst = sweep_worst(view);

    if (sweep_is_flat(view))
        return result_text(view->result, "Busy %s at %s%s", sweep_percent(view, best),
                           result_points_text(view->result, view->sweep->points), misfits_text(v));
    return result_text(view->result, "Busy %s to %s: %s at %s%s", sweep_percent(view, worst),
                       sweep_percent(view, best),
                       view->values[best] >= 1 ? "full first" : "the best",
                       sweep_point_text(view, best), misfits_text(v));
}

static const char *title_text(const struct sweep_view *v)
{
    const struct sweep *sweep = v->sweep;

    if (sweep->key_count == 1)
        return result_text(v->result, "How busy the engine is, by %s", sweep->keys[0].param->name);
    return result_text(v->result, "How busy the engine is, by %s and %s",
                       sweep->keys[0].param->name, sweep->keys[1].param->name);
}

/* ---- one key: a row a point ---- */

static const char *fraction_text(const struct specialize_sweep *v, bool is_known, double fraction)
{
    return is_known ? specialize_percent(v->view.result, fraction) : "";
}

/* With a tile, the registers of its accumulators; else the scheduler of %simulate. */
static const char *fourth_text(const struct specialize_sweep *v, const struct specialization *s)
{
    if (!s->tile.is_given)
        return fraction_text(v, s->as_warps >= 0, s->as_warps);
    return result_text(v->view.result, s->tile.fits ? "%d" : "%d > %d", (int)s->tile.accumulators,
                       s->device.device.registers_per_thread);
}

static void add_row(const struct specialize_sweep *v, struct view_table *table, size_t r)
{
    const struct specialization *s = &v->points[r];
    struct result *result = v->view.result;

    view_cell(table, r, 0, sweep_span_text(&v->view, r, r, 0));
    view_cell(table, r, 1, sweep_percent(&v->view, r));
    view_cell(table, r, 2, fraction_text(v, s->has_formula, s->formula));
    view_cell(table, r, 3, fourth_text(v, s));
    view_cell(table, r, 4, specialize_count(result, s->run.idle_per_work));
    view_cell(table, r, 5, specialize_count(result, (double)s->run.cycles));
    view_cell(table, r, 6,
              v->points[0].run.utilization > 0
                  ? result_text(result, "%.3fx", s->run.utilization / v->points[0].run.utilization)
                  : "");
}

static void add_rows(const struct specialize_sweep *v)
{
    const struct view_column columns[] = {
        { v->view.sweep->keys[0].param->name, VIEW_LEFT },
        { "busy", VIEW_RIGHT },
        { "formula", VIEW_RIGHT },
        { v->points->tile.is_given ? "regs a thread" : "as warps", VIEW_RIGHT },
        { "idle a work", VIEW_RIGHT },
        { "cycles", VIEW_RIGHT },
        { "speed", VIEW_RIGHT },
    };
    size_t n = v->view.sweep->points, shown = n < MOST_ROWS ? n : MOST_ROWS;
    struct view_table *table = view_add_table(v->view.result, columns, COUNT(columns), shown);

    for (size_t r = 0; r < shown; r++)
        add_row(v, table, r);
    if (!sweep_is_flat(&v->view) && sweep_best(&v->view) < shown)
        view_mark(table, sweep_best(&v->view));
    v->view.result->view.closing =
        shown < n ? result_first_text(v->view.result, shown, n)
        : has_as_warps(v)
            ? "as warps: %simulate with pipe warps, issue=compute, wait=load. One curve for both."
            : "Next: one of these alone, without a list, shows its events and its timeline.";
}

/* The formula, and the scheduler's curve, over the simulated points. */
static void add_comparisons(const struct specialize_sweep *v)
{
    const struct sweep *sweep = v->view.sweep;
    struct arena *arena = sweep->call->arena;
    struct panel *panel = v->view.result->figure ? v->view.result->figure->first : NULL;
    double *xs = arena_array(arena, sweep->points, sizeof(*xs));
    double *formula = arena_array(arena, sweep->points, sizeof(*formula));
    double *warps = arena_array(arena, sweep->points, sizeof(*warps));

    if (!panel || !xs || !formula || !warps || !has_as_warps(v))
        return;
    for (size_t i = 0; i < sweep->points; i++) {
        xs[i] = sweep_number(sweep, i, 0);
        formula[i] = v->points[i].formula;
        warps[i] = v->points[i].as_warps;
    }
    panel_add_series(panel, "formula", xs, formula, sweep->points);
    panel_add_series(panel, "warps on a scheduler (%simulate)", xs, warps, sweep->points);
}

int specialize_show_sweep(struct result *result, const struct sweep *sweep,
                          const struct specialization *points, struct err *err)
{
    double *values = sweep_array(sweep, sizeof(*values), err);
    bool *misfits = sweep_array(sweep, sizeof(*misfits), err);
    struct specialize_sweep v = { .view = { .result = result,
                                            .sweep = sweep,
                                            .values = values,
                                            .is_out = misfits,
                                            .what = "busy",
                                            .axes = AXES,
                                            .axis_count = COUNT(AXES) },
                                  .points = points };

    if (!values || !misfits)
        return -1;
    for (size_t i = 0; i < sweep->points; i++) {
        values[i] = points[i].run.busy;
        misfits[i] = !budget_fits(&points[i]);
    }
    v.view.title = title_text(&v.view);
    if (sweep_set_fields(&v.view, point_json, &v, true, err) < 0)
        return -1;
    result->view.answer = answer_text(&v);
    result->view.origin =
        result_text(result, "async model  %s", call_parameters_text(sweep->call, unused_keys(&v)));
    if (sweep->key_count == 1)
        add_rows(&v);
    else if (sweep->key_count == 2)
        sweep_add_matrix(&v.view);
    else
        sweep_add_best(&v.view);
    sweep_add_figure(&v.view);
    if (sweep->key_count == 1 && sweep->keys[0].is_number)
        add_comparisons(&v);
    return 0;
}
