/*
 * %layout over ranges and lists: how full the lanes are at each block size, or,
 * with n, which share of the warps a boundary test splits.
 */
#include "cells/internal.h"
#include "cells/magics/layout.h"
#include "cells/sweep_view.h"

enum { MOST_ROWS = 40 };

static const struct sweep_axis AXES[] = {
    { "block", "threads a block", UNIT_POW2, false },
    { "grid", "blocks", UNIT_NUMBER, false },
    { "n", "n", UNIT_NUMBER, false },
};

static json_t *point_json(const struct sweep_view *v, const void *of, size_t i)
{
    const struct layout_point *p = (const struct layout_point *)of + i;
    json_t *object = sweep_to_json(v->sweep, i);
    int failed = 0;

    failed |= json_object_set_new(object, "threads", json_integer(p->layout.threads));
    failed |= json_object_set_new(object, "warps", json_integer(p->layout.warps));
    failed |= json_object_set_new(object, "idle_lanes", json_integer(p->layout.idle_lanes));
    failed |= json_object_set_new(object, "lane_efficiency", json_real(p->layout.lane_efficiency));
    failed |= json_object_set_new(object, "total_warps", json_integer(p->layout.all_warps));
    if (p->has_n) {
        failed |= json_object_set_new(object, "whole", json_integer(p->bounds.whole));
        failed |= json_object_set_new(object, "split", json_integer(p->bounds.split));
        failed |= json_object_set_new(object, "out", json_integer(p->bounds.out));
        failed |= json_object_set_new(object, "split_share", json_real(layout_split_share(p)));
    }
    return json_whole(object, failed);
}

/* ---- the table ---- */

static void add_cut(struct sweep_view *v, const struct layout_point *points, size_t rows)
{
    const struct view_column columns[] = {
        { "", VIEW_LEFT },
        { "threads", VIEW_RIGHT },
        { "warps", VIEW_RIGHT },
        { "idle lanes", VIEW_RIGHT },
        { "lanes in use", VIEW_RIGHT },
    };
    struct view_table *table = view_add_table(v->result, columns, COUNT(columns), rows);

    for (size_t i = 0; i < rows; i++) {
        const struct layout *l = &points[i].layout;

        view_cell(table, i, 0, sweep_point_text(v, i));
        view_cell(table, i, 1, layout_count(v->result, l->threads));
        view_cell(table, i, 2, layout_count(v->result, l->warps));
        view_cell(table, i, 3, layout_count(v->result, l->idle_lanes));
        view_cell(table, i, 4, sweep_percent(v, i));
    }
}

static void add_bounds(struct sweep_view *v, const struct layout_point *points, size_t rows)
{
    const struct view_column columns[] = {
        { "", VIEW_LEFT },
        { "warps", VIEW_RIGHT },
        { "whole", VIEW_RIGHT },
        { "split", VIEW_RIGHT },
        { "out", VIEW_RIGHT },
        { "split, of all", VIEW_RIGHT },
        { "lanes busy", VIEW_RIGHT },
    };
    struct view_table *table = view_add_table(v->result, columns, COUNT(columns), rows);

    for (size_t i = 0; i < rows; i++) {
        const struct layout_point *p = &points[i];

        view_cell(table, i, 0, sweep_point_text(v, i));
        view_cell(table, i, 1, layout_count(v->result, p->layout.all_warps));
        view_cell(table, i, 2, layout_count(v->result, p->bounds.whole));
        view_cell(table, i, 3, layout_count(v->result, p->bounds.split));
        view_cell(table, i, 4, layout_count(v->result, p->bounds.out));
        view_cell(table, i, 5, sweep_percent(v, i));
        view_cell(table, i, 6, layout_percent(v->result, p->bounds.lane_efficiency));
    }
}

static const char *answer(const struct sweep_view *v, bool has_n)
{
    size_t best = sweep_best(v), worst = sweep_worst(v);

    if (has_n)
        return result_text(v->result, "Warps that split: %s at %s, %s at %s.",
                           sweep_percent(v, best), sweep_point_text(v, best),
                           sweep_percent(v, worst), sweep_point_text(v, worst));
    if (sweep_is_flat(v))
        return result_text(v->result, "Lanes in use %s at %s.", sweep_percent(v, best),
                           result_points_text(v->result, v->sweep->points));
    return result_text(v->result, "Lanes in use %s to %s: the worst at %s, the best first at %s.",
                       sweep_percent(v, worst), sweep_percent(v, best), sweep_point_text(v, worst),
                       sweep_point_text(v, best));
}

int layout_show_sweep(struct result *result, const struct sweep *sweep,
                      const struct layout_point *points, struct err *err)
{
    double *values = sweep_array(sweep, sizeof(*values), err);
    bool has_n = points[0].has_n;
    struct sweep_view v = { .result = result,
                            .sweep = sweep,
                            .values = values,
                            .what = has_n ? "warps that split" : "lanes in use",
                            .title = has_n ? "Warps that a boundary test splits" : "Lanes in use",
                            .axes = AXES,
                            .axis_count = COUNT(AXES) };
    size_t rows = sweep->points < MOST_ROWS ? sweep->points : MOST_ROWS;

    if (!values)
        return -1;
    for (size_t i = 0; i < sweep->points; i++)
        values[i] = has_n ? layout_split_share(&points[i]) : points[i].layout.lane_efficiency;
    if (sweep_set_fields(&v, point_json, points, false, err) < 0)
        return -1;
    result->view.answer = answer(&v, has_n);
    result->view.origin = result_text(result, "any NVIDIA GPU: a warp is 32 threads   %s",
                                      call_parameters_text(sweep->call, NULL));
    if (has_n)
        add_bounds(&v, points, rows);
    else
        add_cut(&v, points, rows);
    if (rows < sweep->points)
        result->view.closing = result_first_text(result, rows, sweep->points);
    sweep_add_figure(&v);
    return 0;
}
