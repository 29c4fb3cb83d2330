/*
 * %occupancy over ranges and lists: every point is in the `sweep` field, and
 * the table says where something changes. A staircase has few steps, however
 * many points were asked for.
 */
#include "cells/magics/occupancy.h"

#include "cells/figure.h"
#include "cells/render/text.h"
#include "model/base/buf.h"

#include <math.h>
#include <stdio.h>

enum {
    MOST_ROWS = 40,
    MOST_COLUMNS = 24,
    MOST_CURVES = 8,
    CURVES_NOT_MAP = 3, /* a key with so few values is drawn as curves, not as a map */
    BEST_ROWS = 10,
};

struct view_of_sweep {
    struct result *result;
    const struct sweep *sweep;
    const struct occupancy_point *points;
    struct arena *arena;
};

/* ---- fields ---- */

static json_t *point_json(const struct view_of_sweep *v, size_t i)
{
    const struct occupancy *occ = &v->points[i].occ;
    json_t *object = sweep_to_json(v->sweep, i);

    json_object_set_new(object, "active_blocks", json_integer(occ->active_blocks));
    json_object_set_new(object, "active_warps", json_integer(occ->active_warps));
    json_object_set_new(object, "occupancy", json_real(occ->occupancy));
    json_object_set_new(object, "limiters", occupancy_limiters_json(occ));
    return object;
}

static size_t best_point(const struct view_of_sweep *v)
{
    size_t best = 0;

    for (size_t i = 1; i < v->sweep->points; i++)
        if (v->points[i].occ.occupancy > v->points[best].occ.occupancy)
            best = i;
    return best;
}

static size_t worst_point(const struct view_of_sweep *v)
{
    size_t worst = 0;

    for (size_t i = 1; i < v->sweep->points; i++)
        if (v->points[i].occ.occupancy < v->points[worst].occ.occupancy)
            worst = i;
    return worst;
}

static int set_fields(const struct view_of_sweep *v, struct err *err)
{
    json_t *list = json_array(), *fields = v->result->fields;

    for (size_t i = 0; i < v->sweep->points; i++)
        if (json_array_append_new(list, point_json(v, i)) < 0)
            break;
    if (json_array_size(list) != v->sweep->points) {
        json_decref(list);
        return err_set(err, ERR_ResourceError, "%zu points do not fit in memory", v->sweep->points);
    }
    if (json_object_set_new(fields, "sweep", list) < 0 ||
        json_object_set_new(fields, "best", point_json(v, best_point(v))) < 0)
        return err_set(err, ERR_ResourceError, "out of memory");
    return 0;
}

/* ---- words ---- */

static const char *label(const struct view_of_sweep *v, size_t point, size_t k)
{
    return sweep_label(v->sweep, v->arena, point, k);
}

/* "block=64 regs=16" */
static const char *point_text(const struct view_of_sweep *v, size_t point)
{
    struct buf out = { 0 };
    const char *text;

    for (size_t k = 0; k < v->sweep->key_count; k++)
        buf_printf(&out, "%s%s=%s", k ? " " : "", v->sweep->keys[k].param->name,
                   label(v, point, k));
    text = result_text(v->result, "%s", buf_text(&out));
    buf_done(&out);
    return text;
}

static const char *percent(const struct view_of_sweep *v, size_t point)
{
    return occupancy_percent(v->result, v->points[point].occ.occupancy);
}

/* "16..40" for neighbouring values of the only key, or of key k along a row. */
static const char *span_text(const struct view_of_sweep *v, size_t from, size_t to, size_t k)
{
    const char *first = label(v, from, k);

    if (from == to)
        return result_text(v->result, "%s", first);
    return result_text(v->result, v->sweep->keys[k].is_number ? "%s..%s" : "%s, %s", first,
                       label(v, to, k));
}

static const char *origin_text(const struct view_of_sweep *v, const char *parameters)
{
    int k = sweep_find(v->sweep, "device");
    const struct arg *arg = k < 0 ? NULL : v->sweep->keys[k].arg;

    if (!arg)
        return occupancy_origin(v->result, occupancy_device_text(v->result, &v->points[0].device),
                                parameters);
    return occupancy_origin(v->result, result_text(v->result, "%zu devices (model)", arg->count),
                            parameters);
}

static bool is_flat(const struct view_of_sweep *v)
{
    return v->points[best_point(v)].occ.occupancy == v->points[worst_point(v)].occ.occupancy;
}

/* The last of the neighbours of a point of the only key that are as good. */
static size_t end_of_level(const struct view_of_sweep *v, size_t point)
{
    while (point + 1 < v->sweep->points &&
           v->points[point + 1].occ.occupancy == v->points[point].occ.occupancy)
        point++;
    return point;
}

static void set_texts(const struct view_of_sweep *v, const char *parameters)
{
    size_t best = best_point(v), worst = worst_point(v);
    const struct sweep_key *key = &v->sweep->keys[0];
    struct view *view = &v->result->view;

    view->origin = origin_text(v, parameters);
    if (is_flat(v))
        view->answer = result_text(v->result, "Occupancy %s at all %zu points: no cliff here.",
                                   percent(v, best), v->sweep->points);
    else if (v->sweep->key_count == 1 && key->is_number)
        view->answer = result_text(v->result, "Occupancy %s to %s: the best at %s=%s.",
                                   percent(v, worst), percent(v, best), key->param->name,
                                   span_text(v, best, end_of_level(v, best), 0));
    else
        view->answer = result_text(v->result, "Occupancy %s to %s: the best first at %s.",
                                   percent(v, worst), percent(v, best), point_text(v, best));
}

/* ---- one key: a row for each step of the staircase ---- */

static bool is_same_step(const struct occupancy *a, const struct occupancy *b)
{
    return a->active_warps == b->active_warps && a->active_blocks == b->active_blocks &&
           a->max_warps == b->max_warps && a->limiters == b->limiters;
}

/* Ends of runs of equal neighbours; devices are never merged. */
static size_t list_steps(const struct view_of_sweep *v, size_t *starts, size_t most)
{
    size_t count = 0;

    for (size_t i = 0; i < v->sweep->points; i++)
        if (i == 0 || !v->sweep->keys[0].is_number ||
            !is_same_step(&v->points[i].occ, &v->points[i - 1].occ)) {
            if (count < most)
                starts[count] = i;
            count++;
        }
    return count;
}

static void add_steps(const struct view_of_sweep *v)
{
    const struct view_column columns[] = {
        { v->sweep->keys[0].param->name, VIEW_LEFT },
        { "blocks", VIEW_RIGHT },
        { "warps", VIEW_RIGHT },
        { "occupancy", VIEW_RIGHT },
        { "limit", VIEW_LEFT },
    };
    size_t starts[MOST_ROWS + 1], count = list_steps(v, starts, MOST_ROWS + 1);
    size_t shown = count < MOST_ROWS ? count : MOST_ROWS;
    struct view_table *table = view_add_table(v->result, columns, COUNT(columns), shown);
    size_t best = best_point(v);

    for (size_t r = 0; r < shown; r++) {
        size_t from = starts[r], to = r + 1 < count ? starts[r + 1] - 1 : v->sweep->points - 1;
        const struct occupancy *occ = &v->points[from].occ;

        view_cell(table, r, 0, span_text(v, from, to, 0));
        view_cell(table, r, 1, result_text(v->result, "%d", occ->active_blocks));
        view_cell(table, r, 2,
                  result_text(v->result, "%d of %d", occ->active_warps, occ->max_warps));
        view_cell(table, r, 3, percent(v, from));
        view_cell(table, r, 4, occupancy_limiters_text(v->result, occ));
        if (from <= best && best <= to && !is_flat(v))
            view_mark(table, r);
    }
    if (count > shown)
        v->result->view.closing =
            result_text(v->result,
                        "The first %zu of %zu steps; the sweep field has all %zu points.", shown,
                        count, v->sweep->points);
}

/* The deepest step down between neighbours, which is what a reader should remember. */
static void add_cliff(const struct view_of_sweep *v)
{
    size_t at = 0;
    double drop = 0;

    for (size_t i = 1; i < v->sweep->points; i++)
        if (v->points[i - 1].occ.occupancy - v->points[i].occ.occupancy > drop) {
            drop = v->points[i - 1].occ.occupancy - v->points[i].occ.occupancy;
            at = i;
        }
    if (at && v->sweep->keys[0].is_number && !v->result->view.closing)
        v->result->view.closing =
            result_text(v->result, "Deepest cliff: from %s to %s it falls from %s to %s.",
                        point_text(v, at - 1), label(v, at, 0), percent(v, at - 1), percent(v, at));
}

/* ---- two keys: a matrix, equal neighbouring columns as one ---- */

static bool is_same_column(const struct view_of_sweep *v, size_t rows, size_t columns, size_t a,
                           size_t b)
{
    for (size_t r = 0; r < rows; r++)
        if (v->points[r * columns + a].occ.occupancy != v->points[r * columns + b].occ.occupancy)
            return false;
    return true;
}

static void add_matrix(const struct view_of_sweep *v)
{
    const struct sweep_key *keys = v->sweep->keys;
    size_t rows = keys[0].arg->count, columns = keys[1].arg->count, count = 0;
    size_t shown_rows = rows < MOST_ROWS ? rows : MOST_ROWS, starts[MOST_COLUMNS + 1];
    struct view_column heads[MOST_COLUMNS + 1];
    struct view_table *table;
    size_t best = best_point(v);

    for (size_t c = 0; c < columns; c++)
        if ((c == 0 || !keys[1].is_number || !is_same_column(v, rows, columns, c, c - 1)) &&
            count <= MOST_COLUMNS)
            starts[count++] = c;
    if (count > MOST_COLUMNS)
        count = MOST_COLUMNS;
    else
        starts[count] = columns;
    heads[0] = (struct view_column){
        result_text(v->result, "%s \\ %s, %%", keys[0].param->name, keys[1].param->name), VIEW_LEFT
    };
    for (size_t c = 0; c < count; c++)
        heads[c + 1] =
            (struct view_column){ span_text(v, starts[c], starts[c + 1] - 1, 1), VIEW_RIGHT };
    table = view_add_table(v->result, heads, count + 1, shown_rows);
    for (size_t r = 0; r < shown_rows; r++) {
        view_cell(table, r, 0, result_text(v->result, "%s", label(v, r * columns, 0)));
        for (size_t c = 0; c < count; c++)
            view_cell(table, r, c + 1,
                      result_text(v->result, "%.3g",
                                  100 * v->points[r * columns + starts[c]].occ.occupancy));
        if (best / columns == r)
            view_mark(table, r);
    }
    v->result->view.closing =
        shown_rows < rows || starts[count] < columns
            ? result_text(v->result, "A part of the map; the sweep field has all %zu points.",
                          v->sweep->points)
            : result_text(v->result, "Next: %%occupancy %s explains the best point.",
                          point_text(v, best));
}

/* ---- more keys: the best points ---- */

static void add_best(const struct view_of_sweep *v)
{
    const struct view_column columns[] = { { "point", VIEW_LEFT },
                                           { "warps", VIEW_RIGHT },
                                           { "occupancy", VIEW_RIGHT } };
    double level = INFINITY, next;
    size_t chosen[BEST_ROWS], count = 0;
    struct view_table *table;

    /* Level by level from the top, in the order of the sweep within each. */
    while (count < BEST_ROWS && count < v->sweep->points) {
        next = -1;
        for (size_t i = 0; i < v->sweep->points; i++)
            if (v->points[i].occ.occupancy < level && v->points[i].occ.occupancy > next)
                next = v->points[i].occ.occupancy;
        level = next;
        for (size_t i = 0; i < v->sweep->points && count < BEST_ROWS; i++)
            if (v->points[i].occ.occupancy == level)
                chosen[count++] = i;
    }
    table = view_add_table(v->result, columns, COUNT(columns), count);
    for (size_t r = 0; r < count; r++) {
        const struct occupancy *occ = &v->points[chosen[r]].occ;

        view_cell(table, r, 0, point_text(v, chosen[r]));
        view_cell(table, r, 1,
                  result_text(v->result, "%d of %d", occ->active_warps, occ->max_warps));
        view_cell(table, r, 2, percent(v, chosen[r]));
    }
    v->result->view.closing =
        result_text(v->result, "The best %zu of %zu points; the sweep field has all.", count,
                    v->sweep->points);
}

/* ---- figures ---- */

static struct figure *new_figure(const struct view_of_sweep *v)
{
    struct buf title = { 0 };
    struct figure *figure;

    buf_puts(&title, "Occupancy over ");
    for (size_t k = 0; k < v->sweep->key_count; k++)
        buf_printf(&title, "%s%s", k ? " and " : "", v->sweep->keys[k].param->name);
    if (sweep_find(v->sweep, "device") < 0)
        buf_printf(&title, ", %s", v->points[0].device.device.name);
    figure =
        figure_new(v->result, buf_text(&title), v->result->view.answer, v->result->view.answer);
    buf_done(&title);
    return figure;
}

static struct figure_axis key_axis(const struct sweep_key *key)
{
    static const struct {
        const char *key, *text;
        enum figure_unit unit;
    } rows[] = {
        { "regs", "registers a thread", UNIT_NUMBER },
        { "block", "threads a block", UNIT_NUMBER },
        { "static", "static shared bytes a block", UNIT_BYTES },
        { "dynamic", "dynamic shared bytes a block", UNIT_BYTES },
        { "carveout", "carve-out, percent", UNIT_NUMBER },
        { "cluster", "blocks a cluster", UNIT_NUMBER },
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        if (strcmp(rows[i].key, key->param->name) == 0)
            return (struct figure_axis){ .label = rows[i].text, .unit = rows[i].unit };
    return (struct figure_axis){ .label = key->param->name };
}

static const struct figure_axis OCCUPANCY_AXIS = {
    .label = "occupancy", .unit = UNIT_PERCENT, .min = 0, .max = 1
};

/* One curve along key x for each value of the other key (y < 0: the only one). */
static void add_curves(const struct view_of_sweep *v, struct figure *figure, size_t x, int y)
{
    const struct sweep *sweep = v->sweep;
    size_t n = sweep->keys[x].arg->count, curves = y < 0 ? 1 : sweep->keys[y].arg->count;
    double *xs = arena_array(v->arena, n, sizeof(*xs)), *ys = arena_array(v->arena, n, sizeof(*ys));
    struct panel *panel = figure_add_lines(figure, NULL, key_axis(&sweep->keys[x]), OCCUPANCY_AXIS);
    /* Between two block sizes nothing holds; registers and bytes hold until the next step. */
    bool is_step = strcmp(sweep->keys[x].param->name, "block") != 0;

    for (size_t c = 0; xs && ys && c < curves; c++) {
        const char *name = "occupancy";
        size_t point = 0;

        for (size_t i = 0; i < n; i++) {
            point = y < 0 ? i : x == 1 ? c * n + i : i * curves + c;
            xs[i] = sweep_number(sweep, point, x);
            ys[i] = v->points[point].occ.occupancy;
        }
        if (y >= 0)
            name = result_text(v->result, "%s=%s", sweep->keys[y].param->name,
                               label(v, point, (size_t)y));
        if (is_step)
            panel_add_steps(panel, name, xs, ys, n);
        else
            panel_add_series(panel, name, xs, ys, n);
    }
}

static const char **key_names(const struct view_of_sweep *v, size_t k)
{
    const struct sweep_key *key = &v->sweep->keys[k];
    size_t stride = k == 0 && v->sweep->key_count == 2 ? v->sweep->keys[1].arg->count : 1;
    const char **names = arena_array(v->arena, key->arg->count, sizeof(*names));

    for (size_t i = 0; names && i < key->arg->count; i++)
        names[i] = label(v, i * stride, k);
    return names;
}

/* The first key upwards, the second to the right. */
static void add_map(const struct view_of_sweep *v, struct figure *figure)
{
    const char **ys = key_names(v, 0), **xs = key_names(v, 1);
    double *values = arena_array(v->arena, v->sweep->points, sizeof(*values));
    struct panel *panel;
    size_t best = best_point(v), columns = v->sweep->keys[1].arg->count;

    if (!ys || !xs || !values)
        return;
    for (size_t i = 0; i < v->sweep->points; i++)
        values[i] = v->points[i].occ.occupancy;
    panel =
        figure_add_heat(figure, NULL, key_axis(&v->sweep->keys[1]), key_axis(&v->sweep->keys[0]),
                        OCCUPANCY_AXIS, xs, columns, ys, v->sweep->keys[0].arg->count, values);
    panel_highlight_cell(panel, best % columns, best / columns);
}

static void add_bars(const struct view_of_sweep *v, struct figure *figure)
{
    static const char *const series[] = { "occupancy" };
    const char **names = key_names(v, 0);
    double *values = arena_array(v->arena, v->sweep->points, sizeof(*values));

    if (!names || !values)
        return;
    for (size_t i = 0; i < v->sweep->points; i++)
        values[i] = v->points[i].occ.occupancy;
    figure_add_bars(figure, NULL, OCCUPANCY_AXIS, names, v->sweep->points, series, 1, values, NULL);
}

static void add_figure(const struct view_of_sweep *v)
{
    const struct sweep_key *keys = v->sweep->keys;
    struct figure *figure;
    size_t curve_key;

    if (v->sweep->key_count > 2 || v->sweep->points < 2)
        return;
    figure = new_figure(v);
    if (v->sweep->key_count == 1) {
        if (keys[0].is_number)
            add_curves(v, figure, 0, -1);
        else
            add_bars(v, figure);
        return;
    }
    /* The key that names the curves: words, or few numbers. */
    curve_key =
        keys[1].is_number && (!keys[0].is_number || keys[0].arg->count <= keys[1].arg->count) ? 0
                                                                                              : 1;
    if (keys[1 - curve_key].is_number &&
        keys[curve_key].arg->count <=
            (size_t)(keys[curve_key].is_number ? CURVES_NOT_MAP : MOST_CURVES))
        add_curves(v, figure, 1 - curve_key, (int)curve_key);
    else
        add_map(v, figure);
}

int occupancy_show_sweep(struct result *result, const struct sweep *sweep,
                         const struct occupancy_point *points, const char *parameters,
                         struct err *err)
{
    struct view_of_sweep v = { result, sweep, points, sweep->call->arena };

    if (set_fields(&v, err) < 0)
        return -1;
    set_texts(&v, parameters);
    if (sweep->key_count == 1) {
        add_steps(&v);
        add_cliff(&v);
    } else if (sweep->key_count == 2) {
        add_matrix(&v);
    } else {
        add_best(&v);
    }
    add_figure(&v);
    return 0;
}
