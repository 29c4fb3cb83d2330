/*
 * %access over ranges and lists: how sectors or passes follow a stride, an offset,
 * a padding or the index itself.
 */
#include "cells/internal.h"
#include "cells/magics/access.h"
#include "cells/sweep_view.h"

enum { MOST_ROWS = 40 };

static const struct sweep_axis AXES[] = {
    { "stride", "stride in elements", UNIT_NUMBER, false },
    { "offset", "offset in elements", UNIT_NUMBER, false },
    { "pad", "elements of padding a row", UNIT_NUMBER, false },
    { "row", "elements a row", UNIT_NUMBER, false },
    { "base", "byte at which the array starts", UNIT_NUMBER, false },
    { "bytes", "bytes an element", UNIT_NUMBER, false },
    { "block", "threads a block", UNIT_POW2, false },
};

static json_t *count_or_null(bool is_known, int64_t v)
{
    return is_known ? json_integer(v) : json_null();
}

static json_t *point_json(const struct sweep_view *v, const void *of, size_t i)
{
    const struct access_point *p = (const struct access_point *)of + i;
    json_t *object = sweep_to_json(v->sweep, i);
    bool is_global = !p->is_shared;
    int failed = 0;

    failed |= json_object_set_new(object, "requests", json_integer(p->requests));
    failed |= json_object_set_new(object, "efficiency", json_real(p->efficiency));
    failed |= json_object_set_new(object, "sectors", count_or_null(is_global, p->sectors));
    failed |= json_object_set_new(object, "lines", json_integer(p->lines));
    failed |= json_object_set_new(object, "passes", count_or_null(p->is_shared, p->passes));
    failed |= json_object_set_new(object, "conflicts", count_or_null(p->is_shared, p->conflicts));
    failed |= json_object_set_new(object, "degree", count_or_null(p->is_shared, p->degree));
    return json_whole(object, failed);
}

/* Global memory has sectors and lines, shared memory passes and lanes that want one bank. */
static const char *cell(const struct sweep_view *v, const struct access_point *p, size_t column)
{
    bool is_known = column == 0 || p->is_shared == (column == 2 || column == 3);
    int64_t values[] = { p->requests, p->sectors, p->passes, p->degree, p->lines };

    return is_known ? access_number(v->result, values[column]) : "-";
}

static void add_table(const struct sweep_view *v, const struct access_point *points, size_t rows)
{
    static const char *const heads[] = { "requests", "sectors", "passes", "degree", "lines" };
    struct view_column columns[COUNT(heads) + 2] = { { "", VIEW_LEFT } };
    size_t shown[COUNT(heads)], count = 0;
    bool has_global = false, has_shared = false;
    struct view_table *table;

    for (size_t i = 0; i < v->sweep->points; i++) {
        has_shared |= points[i].is_shared;
        has_global |= !points[i].is_shared;
    }
    for (size_t c = 0; c < COUNT(heads); c++)
        if (c == 0 || (c == 2 || c == 3 ? has_shared : has_global)) {
            shown[count++] = c;
            columns[count] = (struct view_column){ heads[c], VIEW_RIGHT };
        }
    columns[count + 1] = (struct view_column){ !has_shared   ? "useful"
                                               : !has_global ? "banks used"
                                                             : "efficiency",
                                               VIEW_RIGHT };
    table = view_add_table(v->result, columns, count + 2, rows);
    for (size_t i = 0; i < rows; i++) {
        view_cell(table, i, 0, sweep_point_text(v, i));
        for (size_t c = 0; c < count; c++)
            view_cell(table, i, c + 1, cell(v, &points[i], shown[c]));
        view_cell(table, i, count + 1, sweep_percent(v, i));
    }
}

static const char *answer(const struct sweep_view *v, const struct access_point *points)
{
    size_t best = sweep_best(v), worst = sweep_worst(v);
    const char *what = points[0].is_shared ? "Banks used" : "Useful";

    if (sweep_is_flat(v))
        return result_text(v->result, "%s %s at %s.", what, sweep_percent(v, best),
                           result_points_text(v->result, v->sweep->points));
    return result_text(v->result, "%s %s to %s: the worst first at %s, the best at %s.", what,
                       sweep_percent(v, worst), sweep_percent(v, best), sweep_point_text(v, worst),
                       sweep_point_text(v, best));
}

int access_show_sweep(struct result *result, const struct sweep *sweep,
                      const struct access_point *points, struct err *err)
{
    double *values = sweep_array(sweep, sizeof(*values), err);
    struct sweep_view v = {
        .result = result,
        .sweep = sweep,
        .values = values,
        .what = points[0].is_shared ? "best of actual passes" : "bytes asked for of bytes moved",
        .title = points[0].is_shared ? "Passes of shared memory" : "Sectors of global memory",
        .axes = AXES,
        .axis_count = COUNT(AXES)
    };
    size_t rows = sweep->points < MOST_ROWS ? sweep->points : MOST_ROWS;

    if (!values)
        return -1;
    for (size_t i = 0; i < sweep->points; i++)
        values[i] = points[i].efficiency;
    if (sweep_set_fields(&v, point_json, points, false, err) < 0)
        return -1;
    result->view.answer = answer(&v, points);
    result->view.origin = result_text(result, "memory model   %s", access_parameters(sweep->call));
    add_table(&v, points, rows);
    result->view.closing = rows < sweep->points
                               ? result_first_text(result, rows, sweep->points)
                               : result_text(result, "Next: %s shows which lane touches what.",
                                             sweep_call_text(&v, sweep_worst(&v)));
    sweep_add_figure(&v);
    return 0;
}
