/*
 * A staircase has few steps, however many points were asked for: tables merge
 * what does not change, and a figure is chosen by what the keys are (words make
 * curves or bars, two long ranges make a map).
 */
#include "cells/sweep_view.h"

#include "cells/internal.h"
#include "cells/render/text.h"
#include "model/base/buf.h"

#include <math.h>

enum {
    MOST_ROWS = 40,
    MOST_COLUMNS = 24,
    MOST_GROUPS = 64,
    MOST_CELLS = 4096, /* of a map; a larger one shows each group of equal rows once */
    MOST_CURVES = 8,
    MOST_DOUBLED = 3,   /* of two keys: curves that have a second one */
    CURVES_NOT_MAP = 3, /* a key with so few values is drawn as curves, not as a map */
    BEST_ROWS = 10,
    FEW_POINTS = 64, /* each is marked on its curve */
};

/* ---- words ---- */

static const char *label(const struct sweep_view *v, size_t point, size_t k)
{
    return sweep_label(v->sweep, v->result->arena, point, k);
}

const char *sweep_point_text(const struct sweep_view *v, size_t point)
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

const char *sweep_percent(const struct sweep_view *v, size_t point)
{
    char text[TEXT_NUMBER];

    return result_text(v->result, "%s", text_percent(text, v->values[point]));
}

const char *sweep_span_text(const struct sweep_view *v, size_t from, size_t to, size_t k)
{
    const char *first = label(v, from, k);

    if (from == to)
        return result_text(v->result, "%s", first);
    return result_text(v->result, v->sweep->keys[k].is_number ? "%s..%s" : "%s, %s", first,
                       label(v, to, k));
}

/* "%occupancy block=64 regs=16 device=A100": the line that asks for one point of the sweep. */
static const char *call_text_at(const struct sweep_view *v, size_t point)
{
    const struct call *call = v->sweep->call;
    struct buf out = { 0 };
    const char *text;

    buf_printf(&out, "%%%s", call->magic->name);
    for (size_t i = 0; i < call->magic->param_count; i++) {
        const char *name = call->magic->params[i].name;
        int k = sweep_find(v->sweep, name);

        if (k >= 0)
            buf_printf(&out, " %s=%s", name, label(v, point, (size_t)k));
        else if (call->args[i].is_given && (call->magic->params[i].flags & PARAM_POSITIONAL))
            buf_printf(&out, " %s", call->args[i].text);
        else if (call->args[i].is_given) {
            buf_printf(&out, " %s=", name);
            arg_put(&out, &call->args[i]);
        }
    }
    text = result_text(v->result, "%s", buf_text(&out));
    buf_done(&out);
    return text;
}

/* ---- extremes ---- */

static bool is_out(const struct sweep_view *v, size_t point)
{
    return v->is_out && v->is_out[point];
}

size_t sweep_best(const struct sweep_view *v)
{
    size_t best = 0;

    for (size_t i = 1; i < v->sweep->points; i++)
        if (is_out(v, i) != is_out(v, best) ? is_out(v, best) : v->values[i] > v->values[best])
            best = i;
    return best;
}

size_t sweep_worst(const struct sweep_view *v)
{
    size_t worst = 0;

    for (size_t i = 1; i < v->sweep->points; i++)
        if (v->values[i] < v->values[worst])
            worst = i;
    return worst;
}

bool sweep_is_flat(const struct sweep_view *v)
{
    for (size_t i = 1; i < v->sweep->points; i++)
        if (v->values[i] != v->values[0])
            return false;
    return true;
}

size_t sweep_level_end(const struct sweep_view *v, size_t point)
{
    while (point + 1 < v->sweep->points && v->values[point + 1] == v->values[point])
        point++;
    return point;
}

/* ---- tables ---- */

/* Neighbouring values of one of two keys that have the same value at every value of the other. */
struct groups {
    size_t start[MOST_GROUPS + 1]; /* start[count] ends the last one */
    size_t count;
    bool is_cut; /* there were more */
};

static bool is_same_slice(const struct sweep_view *v, size_t k, size_t a, size_t b)
{
    size_t columns = v->sweep->keys[1].arg->count, n = v->sweep->keys[1 - k].arg->count;
    size_t step = k == 0 ? columns : 1, across = k == 0 ? 1 : columns;

    for (size_t i = 0; i < n; i++)
        if (v->values[a * step + i * across] != v->values[b * step + i * across])
            return false;
    return true;
}

static void find_groups(const struct sweep_view *v, size_t k, size_t most, struct groups *out)
{
    const struct sweep_key *key = &v->sweep->keys[k];

    *out = (struct groups){ .count = 0 };
    for (size_t i = 0; i < key->arg->count; i++) {
        if (i && key->is_number && is_same_slice(v, k, i - 1, i))
            continue;
        out->start[out->count] = i;
        out->is_cut = out->count == most;
        if (out->is_cut)
            return;
        out->count++;
    }
    out->start[out->count] = key->arg->count;
}

/* "16..40", "" behind it; of key k, whose neighbouring points are `step` apart. */
static const char *group_text(const struct sweep_view *v, const struct groups *groups, size_t g,
                              size_t k)
{
    size_t step = k == 0 ? v->sweep->keys[1].arg->count : 1;

    return sweep_span_text(v, groups->start[g] * step, (groups->start[g + 1] - 1) * step, k);
}

void sweep_add_matrix(const struct sweep_view *v)
{
    const struct sweep_key *keys = v->sweep->keys;
    struct view_column heads[MOST_COLUMNS + 1];
    struct view_table *table;
    struct groups down, right;
    size_t best = sweep_best(v), columns = keys[1].arg->count;

    find_groups(v, 0, MOST_ROWS, &down);
    find_groups(v, 1, MOST_COLUMNS, &right);
    heads[0] = (struct view_column){
        result_text(v->result, "%s \\ %s, %%", keys[0].param->name, keys[1].param->name), VIEW_LEFT
    };
    for (size_t c = 0; c < right.count; c++)
        heads[c + 1] = (struct view_column){ group_text(v, &right, c, 1), VIEW_RIGHT };
    table = view_add_table(v->result, heads, right.count + 1, down.count);
    for (size_t r = 0; r < down.count; r++) {
        const double *row = &v->values[down.start[r] * columns];

        view_cell(table, r, 0, group_text(v, &down, r, 0));
        for (size_t c = 0; c < right.count; c++)
            view_cell(table, r, c + 1, result_text(v->result, "%.3g", 100 * row[right.start[c]]));
        if (best / columns >= down.start[r] && best / columns < down.start[r + 1])
            view_mark(table, r);
    }
    v->result->view.closing =
        down.is_cut || right.is_cut
            ? result_text(v->result, "A part of the map; the sweep field has all %zu points.",
                          v->sweep->points)
            : result_text(v->result, "Next: %s shows %s.", call_text_at(v, best),
                          v->peak ? v->peak : "the best point");
}

void sweep_add_best(const struct sweep_view *v)
{
    const struct view_column columns[] = { { "point", VIEW_LEFT }, { v->what, VIEW_RIGHT } };
    double level = INFINITY, next;
    size_t chosen[BEST_ROWS], count = 0;
    struct view_table *table;

    /* Level by level from the top, in the order of the sweep within each. */
    while (count < BEST_ROWS && count < v->sweep->points) {
        next = -1;
        for (size_t i = 0; i < v->sweep->points; i++)
            if (v->values[i] < level && v->values[i] > next)
                next = v->values[i];
        level = next;
        for (size_t i = 0; i < v->sweep->points && count < BEST_ROWS; i++)
            if (v->values[i] == level)
                chosen[count++] = i;
    }
    table = view_add_table(v->result, columns, COUNT(columns), count);
    for (size_t r = 0; r < count; r++) {
        view_cell(table, r, 0, sweep_point_text(v, chosen[r]));
        view_cell(table, r, 1, sweep_percent(v, chosen[r]));
    }
    v->result->view.closing =
        result_text(v->result, "The best %zu of %zu points; the sweep field has all.", count,
                    v->sweep->points);
}

/* ---- figures ---- */

static struct figure_axis value_axis(const struct sweep_view *v)
{
    if (v->is_count)
        return (struct figure_axis){ .label = v->what };
    return (struct figure_axis){
        .label = v->scale ? v->scale : v->what, .unit = UNIT_PERCENT, .min = 0, .max = 1
    };
}

static const struct sweep_axis *find_axis(const struct sweep_view *v, size_t k)
{
    for (size_t i = 0; i < v->axis_count; i++)
        if (strcmp(v->axes[i].key, v->sweep->keys[k].param->name) == 0)
            return &v->axes[i];
    return NULL;
}

static struct figure_axis key_axis(const struct sweep_view *v, size_t k)
{
    const struct sweep_axis *axis = find_axis(v, k);

    return (struct figure_axis){ .label = axis ? axis->label : v->sweep->keys[k].param->name,
                                 .unit = axis ? axis->unit : UNIT_NUMBER };
}

/* A curve along a key: room for its points, and which of them it has. */
struct curve {
    const struct sweep_view *view;
    struct panel *panel;
    size_t key, count; /* along which key; its values */
    size_t curves;     /* beside it, itself included */
    size_t first, stride;
    bool is_step;
    double *xs, *ys;
};

static size_t curve_point(const struct curve *c, size_t i)
{
    return c->first + i * c->stride;
}

static struct figure_series *add_curve(const struct curve *c, const char *name,
                                       const double *values)
{
    for (size_t i = 0; i < c->count; i++) {
        c->xs[i] = sweep_number(c->view->sweep, curve_point(c, i), c->key);
        c->ys[i] = values[curve_point(c, i)];
    }
    return c->is_step ? panel_add_steps(c->panel, name, c->xs, c->ys, c->count)
                      : panel_add_series(c->panel, name, c->xs, c->ys, c->count);
}

/* The values, what is beside them, and dots in the colour of the values. */
static void add_curve_set(const struct curve *c, size_t number, const char *name,
                          const char *second_name)
{
    const struct sweep_view *v = c->view;
    struct figure_series *series = add_curve(c, name, v->values);

    /* Few points: where they are matters, for a cliff may lie anywhere between two. */
    if (series) {
        series->has_markers = c->count <= FEW_POINTS;
        series->is_bare = v->dots != NULL;
        series->look = number;
    }
    if (v->dots)
        series = add_curve(c, number == 1 ? v->dots_what : "", v->dots);
    if (v->dots && series) {
        series->is_points = true;
        series->look = number;
    }
    if (v->seconds && second_name)
        series = add_curve(c, second_name, v->seconds);
    if (v->seconds && second_name && series) {
        series->look = c->curves + number;
        series->is_bare = v->dots != NULL;
    }
}

/* One curve along key x for each value of the other key (y < 0: the only one). */
static void add_curves(const struct sweep_view *v, struct figure *figure, size_t x, int y)
{
    const struct sweep *sweep = v->sweep;
    size_t n = sweep->keys[x].arg->count, curves = y < 0 ? 1 : sweep->keys[y].arg->count;
    const struct sweep_axis *axis = find_axis(v, x);
    struct curve c = { .view = v,
                       .panel = figure_add_lines(figure, NULL, key_axis(v, x), value_axis(v)),
                       .key = x,
                       .count = n,
                       .curves = curves,
                       .stride = y < 0 || x == 1 ? 1 : curves,
                       .is_step = axis && axis->is_step,
                       .xs = arena_array(sweep->call->arena, n, sizeof(*c.xs)),
                       .ys = arena_array(sweep->call->arena, n, sizeof(*c.ys)) };

    for (size_t i = 0; c.xs && c.ys && i < curves; i++) {
        const char *name = v->what, *second = v->second_what;

        c.first = x == 1 ? i * n : i;
        if (y >= 0)
            name = result_text(v->result, "%s=%s", sweep->keys[y].param->name,
                               label(v, c.first, (size_t)y));
        if (y >= 0 && second && v->dots)
            second = result_text(v->result, "%s, %s", name, second);
        add_curve_set(&c, i + 1, name,
                      y < 0 || (v->dots && curves <= MOST_DOUBLED) ? second : NULL);
    }
}

static const char **key_names(const struct sweep_view *v, size_t k)
{
    const struct sweep_key *key = &v->sweep->keys[k];
    size_t stride = k == 0 && v->sweep->key_count == 2 ? v->sweep->keys[1].arg->count : 1;
    const char **names = arena_array(v->sweep->call->arena, key->arg->count, sizeof(*names));

    for (size_t i = 0; names && i < key->arg->count; i++)
        names[i] = label(v, i * stride, k);
    return names;
}

/* A map of what differs: each group of equal rows and columns once. */
static void add_merged_map(const struct sweep_view *v, struct figure *figure)
{
    size_t columns = v->sweep->keys[1].arg->count;
    struct groups down, right;
    const char *ys[MOST_GROUPS], *xs[MOST_GROUPS];
    double *values;

    find_groups(v, 0, MOST_GROUPS, &down);
    find_groups(v, 1, MOST_GROUPS, &right);
    values = arena_array(v->sweep->call->arena, down.count * right.count, sizeof(*values));
    for (size_t r = 0; values && r < down.count; r++) {
        ys[r] = group_text(v, &down, r, 0);
        for (size_t c = 0; c < right.count; c++) {
            xs[c] = group_text(v, &right, c, 1);
            values[r * right.count + c] = v->values[down.start[r] * columns + right.start[c]];
        }
    }
    if (values)
        figure_add_heat(figure, NULL, key_axis(v, 1), key_axis(v, 0), value_axis(v), xs,
                        right.count, ys, down.count, values);
}

/* The first key upwards, the second to the right. */
static void add_map(const struct sweep_view *v, struct figure *figure)
{
    size_t best = sweep_best(v), columns = v->sweep->keys[1].arg->count;
    const char **ys = key_names(v, 0), **xs = key_names(v, 1);
    struct panel *panel;

    if (!ys || !xs)
        return;
    panel = figure_add_heat(figure, NULL, key_axis(v, 1), key_axis(v, 0), value_axis(v), xs,
                            columns, ys, v->sweep->keys[0].arg->count, v->values);
    panel_highlight_cell(panel, best % columns, best / columns);
}

static void add_bars(const struct sweep_view *v, struct figure *figure)
{
    const char **names = key_names(v, 0), *const what[] = { v->what, v->second_what };
    size_t n = v->sweep->points, series = v->seconds ? 2 : 1;
    double *values = arena_array(v->sweep->call->arena, n, series * sizeof(*values));

    if (!names || !values)
        return;
    for (size_t i = 0; i < n * series; i++)
        values[i] = i % series ? v->seconds[i / series] : v->values[i / series];
    figure_add_bars(figure, NULL, value_axis(v), names, n, what, series, values, NULL);
}

void sweep_add_figure(const struct sweep_view *v)
{
    const struct sweep_key *keys = v->sweep->keys;
    struct figure *figure;
    size_t curve_key;

    if (v->sweep->key_count > 2 || v->sweep->points < 2)
        return;
    figure = figure_new(v->result, v->title, v->result->view.answer, v->result->view.answer);
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
            (size_t)(keys[curve_key].is_number && !v->wants_curves ? CURVES_NOT_MAP : MOST_CURVES))
        add_curves(v, figure, 1 - curve_key, (int)curve_key);
    else if (v->sweep->points <= MOST_CELLS)
        add_map(v, figure);
    else
        add_merged_map(v, figure);
}

/* ---- fields ---- */

int sweep_set_fields(const struct sweep_view *v, sweep_point_json *point_json, const void *of,
                     bool has_best, struct err *err)
{
    json_t *list = json_array(), *fields = v->result->fields;
    size_t n = v->sweep->points;

    for (size_t i = 0; i < n; i++)
        if (json_array_append_new(list, point_json(v, of, i)) < 0)
            break;
    if (json_array_size(list) != n) {
        json_decref(list);
        return err_set(err, ERR_ResourceError, "%zu points do not fit in memory", n);
    }
    if (json_object_set_new(fields, "sweep", list) < 0 ||
        (has_best && json_object_set_new(fields, "best", point_json(v, of, sweep_best(v))) < 0))
        return err_set(err, ERR_ResourceError, "out of memory");
    return 0;
}
