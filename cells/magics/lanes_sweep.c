/*
 * %lanes over ranges and lists: how lane efficiency, slots and cycles follow a
 * key, such as the depth of ifs inside each other or the order of the paths.
 */
#include "cells/internal.h"
#include "cells/magics/lanes.h"
#include "cells/sweep_view.h"

enum { MOST_ROWS = 40 };

static const struct sweep_axis AXES[] = {
    { "depth", "ifs inside each other", UNIT_NUMBER, false },
    { "paths", "paths", UNIT_NUMBER, false },
    { "then", "instructions where the condition holds", UNIT_NUMBER, false },
    { "else", "instructions where it does not", UNIT_NUMBER, false },
    { "before", "instructions before the branch", UNIT_NUMBER, false },
    { "after", "instructions after the join", UNIT_NUMBER, false },
    { "wait", "cycles that a path waits", UNIT_NUMBER, false },
    { "block", "threads a block", UNIT_POW2, false },
    { "grid", "blocks", UNIT_NUMBER, false },
};

static json_t *point_json(const struct sweep_view *v, const void *of, size_t i)
{
    const struct lanes_point *p = (const struct lanes_point *)of + i;
    json_t *object = sweep_to_json(v->sweep, i);
    const struct lanes_total *t = &p->total;
    int failed = 0;

    failed |= json_object_set_new(object, "passes", json_integer(t->passes));
    failed |= json_object_set_new(object, "paths_taken", json_integer(p->paths));
    failed |= json_object_set_new(object, "issue_slots", json_integer(t->issue_slots));
    failed |= json_object_set_new(object, "lane_slots", json_integer(t->lane_slots));
    failed |= json_object_set_new(object, "lane_efficiency", json_real(t->lane_efficiency));
    failed |= json_object_set_new(object, "time_ratio", json_real(t->time_ratio));
    failed |= json_object_set_new(object, "cycles", json_integer(lanes_point_cycles(p)));
    failed |= json_object_set_new(object, "split", json_integer(t->split));
    failed |= json_object_set_new(object, "warps", json_integer(t->warps));
    return json_whole(object, failed);
}

static void add_table(const struct sweep_view *v, const struct lanes_point *points, size_t rows)
{
    static const struct view_column columns[] = {
        { "", VIEW_LEFT },        { "paths", VIEW_RIGHT },     { "passes", VIEW_RIGHT },
        { "slots", VIEW_RIGHT },  { "undivided", VIEW_RIGHT }, { "lanes busy", VIEW_RIGHT },
        { "cycles", VIEW_RIGHT },
    };
    struct view_table *table = view_add_table(v->result, columns, COUNT(columns), rows);

    for (size_t i = 0; i < rows; i++) {
        const struct lanes_total *t = &points[i].total;

        view_cell(table, i, 0, sweep_point_text(v, i));
        view_cell(table, i, 1, lanes_count(v->result, points[i].paths));
        view_cell(table, i, 2, lanes_count(v->result, t->passes));
        view_cell(table, i, 3, lanes_count(v->result, t->issue_slots));
        view_cell(table, i, 4,
                  result_text(v->result, "%sx", lanes_ratio(v->result, t->time_ratio)));
        view_cell(table, i, 5, sweep_percent(v, i));
        view_cell(table, i, 6, lanes_count(v->result, lanes_point_cycles(&points[i])));
    }
}

/* Where only the cycles differ, the answer is about them. */
static const char *cycles_answer(const struct sweep_view *v, const struct lanes_point *points)
{
    size_t best = 0, worst = 0;

    for (size_t i = 1; i < v->sweep->points; i++) {
        if (lanes_point_cycles(&points[i]) < lanes_point_cycles(&points[best]))
            best = i;
        if (lanes_point_cycles(&points[i]) > lanes_point_cycles(&points[worst]))
            worst = i;
    }
    if (lanes_point_cycles(&points[best]) == lanes_point_cycles(&points[worst]))
        return result_text(v->result, "Lanes busy %s and %s cycles at %s.", sweep_percent(v, 0),
                           lanes_count(v->result, lanes_point_cycles(points)),
                           result_points_text(v->result, v->sweep->points));
    return result_text(v->result, "%s to %s cycles for lanes busy %s: the fewest at %s.",
                       lanes_count(v->result, lanes_point_cycles(&points[best])),
                       lanes_count(v->result, lanes_point_cycles(&points[worst])),
                       sweep_percent(v, 0), sweep_point_text(v, best));
}

static const char *answer(const struct sweep_view *v, const struct lanes_point *points)
{
    size_t best = sweep_best(v), worst = sweep_worst(v);

    if (sweep_is_flat(v))
        return cycles_answer(v, points);
    return result_text(v->result, "Lanes busy %s to %s: %sx the slots at %s, %sx at %s.",
                       sweep_percent(v, worst), sweep_percent(v, best),
                       lanes_ratio(v->result, points[worst].total.time_ratio),
                       sweep_point_text(v, worst),
                       lanes_ratio(v->result, points[best].total.time_ratio),
                       sweep_point_text(v, best));
}

int lanes_show_sweep(struct result *result, const struct sweep *sweep,
                     const struct lanes_point *points, struct err *err)
{
    double *values = sweep_array(sweep, sizeof(*values), err);
    struct sweep_view v = { .result = result,
                            .sweep = sweep,
                            .values = values,
                            .what = "lanes busy",
                            .title = "Lanes busy at a branch",
                            .axes = AXES,
                            .axis_count = COUNT(AXES) };
    size_t rows = sweep->points < MOST_ROWS ? sweep->points : MOST_ROWS;

    if (!values)
        return -1;
    for (size_t i = 0; i < sweep->points; i++)
        values[i] = points[i].total.lane_efficiency;
    if (sweep_set_fields(&v, point_json, points, false, err) < 0)
        return -1;
    result->view.answer = answer(&v, points);
    result->view.origin =
        result_text(result, "lane model   %s", lanes_parameters(sweep->call, points));
    add_table(&v, points, rows);
    result->view.closing = rows < sweep->points
                               ? result_first_text(result, rows, sweep->points)
                               : result_text(result, "Next: %s shows its passes one by one.",
                                             sweep_call_text(&v, sweep_worst(&v)));
    if (sweep_is_flat(&v)) {
        for (size_t i = 0; i < sweep->points; i++)
            values[i] = (double)lanes_point_cycles(&points[i]);
        v.what = "cycles";
        v.title = "Cycles from the branch to the join";
        v.is_count = true;
    }
    sweep_add_figure(&v);
    return 0;
}
