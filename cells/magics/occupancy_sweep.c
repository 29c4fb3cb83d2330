/*
 * %occupancy over ranges and lists: every point is in the `sweep` field, and
 * the table says where something changes.
 */
#include "cells/magics/occupancy.h"

enum { MOST_ROWS = 40 };

/* A sweep as it is shown, and what was computed at its points. */
struct occupancy_sweep {
    struct sweep_view view;
    const struct occupancy_point *points;
    json_t **limiters; /* by set of limits: one list for all points that have it */
};

/* Between two block sizes nothing holds; registers and bytes hold up to the next step. */
const struct sweep_axis OCCUPANCY_AXES[] = {
    { "regs", "registers a thread", UNIT_POW2, true },
    { "block", "threads a block", UNIT_POW2, false },
    { "static", "static shared bytes a block", UNIT_BYTES, true },
    { "dynamic", "dynamic shared bytes a block", UNIT_BYTES, true },
    { "carveout", "carve-out, percent", UNIT_NUMBER, true },
    { "cluster", "blocks a cluster", UNIT_NUMBER, true },
    { "maxreg", "most registers a thread", UNIT_POW2, false },
    { "parts", "parts of an SM", UNIT_NUMBER, false },
};
const size_t OCCUPANCY_AXIS_COUNT = COUNT(OCCUPANCY_AXES);

/* ---- fields ---- */

static json_t *point_json(const struct sweep_view *view, const void *of, size_t i)
{
    const struct occupancy_sweep *s = of;
    const struct occupancy *occ = &s->points[i].occ;
    json_t *object = sweep_to_json(view->sweep, i), **limiters = &s->limiters[occ->limiters];
    int failed = 0;

    if (!*limiters)
        *limiters = occupancy_limiters_json(occ);
    failed |= json_object_set_new(object, "active_blocks", json_integer(occ->active_blocks));
    failed |= json_object_set_new(object, "active_warps", json_integer(occ->active_warps));
    failed |= json_object_set_new(object, "occupancy", json_real(occ->occupancy));
    failed |= json_object_set(object, "limiters", *limiters);
    if (s->points[i].kernel)
        failed |= json_object_set_new(object, "spills", occupancy_spills_json(&s->points[i]));
    if (s->points[i].rule >= 0)
        failed |= json_object_set_new(object, "compare", occupancy_other_json(&s->points[i]));
    return json_whole(object, failed);
}

/* ---- words ---- */

static const char *title_text(const struct occupancy_sweep *s)
{
    const struct sweep *sweep = s->view.sweep;
    const char *keys = sweep->keys[0].param->name;

    if (sweep->key_count > 1)
        keys = result_text(s->view.result, "%s and %s", keys, sweep->keys[1].param->name);
    if (sweep_find(sweep, "device") >= 0)
        return result_text(s->view.result, "Occupancy over %s", keys);
    return result_text(s->view.result, "Occupancy over %s, %s", keys,
                       s->points[0].device.device.name);
}

static const char *answer_text(const struct sweep_view *v)
{
    size_t best = sweep_best(v), worst = sweep_worst(v);
    const struct sweep_key *key = &v->sweep->keys[0];

    if (sweep_is_flat(v))
        return result_text(v->result, "Occupancy %s at %s: no cliff here.", sweep_percent(v, best),
                           result_points_text(v->result, v->sweep->points));
    if (v->sweep->key_count == 1 && key->is_number)
        return result_text(v->result, "Occupancy %s to %s: the best at %s=%s.",
                           sweep_percent(v, worst), sweep_percent(v, best), key->param->name,
                           sweep_span_text(v, best, sweep_level_end(v, best), 0));
    return result_text(v->result, "Occupancy %s to %s: the best first at %s.",
                       sweep_percent(v, worst), sweep_percent(v, best), sweep_point_text(v, best));
}

static const char *origin_text(const struct occupancy_sweep *s, const char *parameters)
{
    struct result *result = s->view.result;
    int k = sweep_find(s->view.sweep, "device");

    if (k < 0)
        return occupancy_origin(result, occupancy_device_text(result, &s->points[0].device),
                                parameters);
    return occupancy_origin(result,
                            result_text(result, "%zu devices (model)",
                                        s->view.sweep->keys[k].arg->count),
                            parameters);
}

/* ---- one key: a row for each step of the staircase ---- */

static bool is_same_step(const struct occupancy *a, const struct occupancy *b)
{
    return a->active_warps == b->active_warps && a->active_blocks == b->active_blocks &&
           a->max_warps == b->max_warps && a->limiters == b->limiters;
}

/* Where runs of equal neighbours start; words are never merged. Up to most are stored. */
static size_t list_steps(const struct occupancy_sweep *s, size_t *starts, size_t most)
{
    size_t count = 0;

    for (size_t i = 0; i < s->view.sweep->points; i++)
        if (i == 0 || !s->view.sweep->keys[0].is_number ||
            !is_same_step(&s->points[i].occ, &s->points[i - 1].occ)) {
            if (count < most)
                starts[count] = i;
            count++;
        }
    return count;
}

static void add_steps(const struct occupancy_sweep *s)
{
    const struct sweep_view *v = &s->view;
    const struct view_column columns[] = {
        { v->sweep->keys[0].param->name, VIEW_LEFT },
        { "blocks", VIEW_RIGHT },
        { "warps", VIEW_RIGHT },
        { "occupancy", VIEW_RIGHT },
        { "limit", VIEW_LEFT },
    };
    size_t starts[MOST_ROWS + 1], count = list_steps(s, starts, MOST_ROWS + 1);
    size_t shown = count < MOST_ROWS ? count : MOST_ROWS, best = sweep_best(v);
    struct view_table *table = view_add_table(v->result, columns, COUNT(columns), shown);

    for (size_t r = 0; r < shown; r++) {
        size_t from = starts[r], to = r + 1 < count ? starts[r + 1] - 1 : v->sweep->points - 1;
        const struct occupancy *occ = &s->points[from].occ;

        view_cell(table, r, 0, sweep_span_text(v, from, to, 0));
        view_cell(table, r, 1, result_text(v->result, "%d", occ->active_blocks));
        view_cell(table, r, 2,
                  result_text(v->result, "%d of %d", occ->active_warps, occ->max_warps));
        view_cell(table, r, 3, sweep_percent(v, from));
        view_cell(table, r, 4, occupancy_limiters_text(v->result, occ));
        if (from <= best && best <= to && !sweep_is_flat(v))
            view_mark(table, r);
    }
    if (count > shown)
        v->result->view.closing =
            result_text(v->result,
                        "The first %zu of %zu steps; the sweep field has all %zu points.", shown,
                        count, v->sweep->points);
}

/* The deepest step down between neighbours, which is what a reader should remember. */
static void add_cliff(const struct sweep_view *v)
{
    size_t at = 0;
    double drop = 0;

    for (size_t i = 1; i < v->sweep->points; i++)
        if (v->values[i - 1] - v->values[i] > drop) {
            drop = v->values[i - 1] - v->values[i];
            at = i;
        }
    if (at && v->sweep->keys[0].is_number && !v->result->view.closing)
        v->result->view.closing =
            result_text(v->result, "Deepest cliff: from %s to %s it falls from %s to %s.",
                        sweep_point_text(v, at - 1), sweep_span_text(v, at, at, 0),
                        sweep_percent(v, at - 1), sweep_percent(v, at));
}

int occupancy_set_sweep(struct sweep_view *v, const struct occupancy_point *points,
                        const char *parameters, struct err *err)
{
    json_t *limiters[1 << OCCUPANCY_LIMIT_COUNT] = { 0 };
    struct occupancy_sweep s = { .view = *v, .points = points, .limiters = limiters };
    int rc;

    v->title = s.view.title = title_text(&s);
    rc = sweep_set_fields(&s.view, point_json, &s, true, err);
    for (size_t i = 0; i < COUNT(limiters); i++)
        json_decref(limiters[i]);
    v->result->view.origin = origin_text(&s, parameters);
    return rc;
}

int occupancy_show_sweep(struct result *result, const struct sweep *sweep,
                         const struct occupancy_point *points, const char *parameters,
                         struct err *err)
{
    double *values = sweep_array(sweep, sizeof(*values), err);
    struct occupancy_sweep s = { .view = { .result = result,
                                           .sweep = sweep,
                                           .values = values,
                                           .what = "occupancy",
                                           .axes = OCCUPANCY_AXES,
                                           .axis_count = COUNT(OCCUPANCY_AXES) },
                                 .points = points };

    if (!values)
        return -1;
    for (size_t i = 0; i < sweep->points; i++)
        values[i] = points[i].occ.occupancy;
    if (occupancy_set_sweep(&s.view, points, parameters, err) < 0)
        return -1;
    result->view.answer = answer_text(&s.view);
    if (sweep->key_count == 1) {
        add_steps(&s);
        add_cliff(&s.view);
    } else if (sweep->key_count == 2) {
        sweep_add_matrix(&s.view);
    } else {
        sweep_add_best(&s.view);
    }
    sweep_add_figure(&s.view);
    return 0;
}
