/*
 * The figure of a sweep is chosen by what the keys are: a number makes curves, words make bars
 * or name the curves, two long ranges make a map.
 */
#include "cells/internal.h"
#include "cells/sweep_groups.h"

#include <math.h>

enum {
    MOST_CELLS = 4096, /* of a map; a larger one shows each group of equal rows once */
    MOST_CURVES = 8,
    MOST_DOUBLED = 3,   /* of two keys: curves that have a second one */
    CURVES_NOT_MAP = 3, /* a key with so few values is drawn as curves, not as a map */
    FEW_POINTS = 64,    /* each is marked on its curve */
};

/* ---- axes ---- */

/* The highest of all that is drawn. */
static double highest(const struct sweep_view *v)
{
    const double *drawn[] = { v->values, v->seconds, v->dots };
    double most = 0;

    for (size_t k = 0; k < COUNT(drawn); k++)
        for (size_t i = 0; drawn[k] && i < v->sweep->points; i++)
            most = fmax(most, drawn[k][i]);
    return most;
}

/* 100 %, or where that would press all curves to the ground a round number above them. */
static double axis_end(double most)
{
    static const double ENDS[] = { 0.01, 0.02, 0.04, 0.08, 0.2 };

    for (size_t i = 0; i < COUNT(ENDS); i++)
        if (most > 0 && most <= ENDS[i])
            return ENDS[i];
    return 1;
}

static struct figure_axis value_axis(const struct sweep_view *v)
{
    if (v->is_count)
        return (struct figure_axis){ .label = v->what };
    return (struct figure_axis){ .label = v->scale ? v->scale : v->what,
                                 .unit = UNIT_PERCENT,
                                 .min = 0,
                                 .max = axis_end(highest(v)) };
}

static const struct sweep_axis *find_axis(const struct sweep_view *v, size_t k)
{
    for (size_t i = 0; i < v->axis_count; i++)
        if (strcmp(v->axes[i].key, v->sweep->keys[k].param->name) == 0)
            return &v->axes[i];
    return NULL;
}

/*
 * Values that double, or leap as 2, 4, 132 do, lie at one end of a linear axis: more than half of
 * them in its first quarter.
 */
enum figure_scale sweep_scale(const struct sweep *sweep, size_t k)
{
    const struct sweep_key *key = &sweep->keys[k];
    size_t n = key->arg->count,
           stride = k + 1 == sweep->key_count ? 1 : sweep->keys[k + 1].arg->count;
    double last = sweep_number(sweep, (n - 1) * stride, k), before;

    if (!key->is_number || n < 3 || sweep_number(sweep, 0, k) <= 0)
        return SCALE_LINEAR;
    before = sweep_number(sweep, n / 2 * stride, k);
    return before < last / 4 && last >= 16 * sweep_number(sweep, 0, k) ? SCALE_LOG2 : SCALE_LINEAR;
}

static struct figure_axis key_axis(const struct sweep_view *v, size_t k)
{
    const struct sweep_axis *axis = find_axis(v, k);

    return (struct figure_axis){ .label = axis ? axis->label : v->sweep->keys[k].param->name,
                                 .scale = sweep_scale(v->sweep, k),
                                 .unit = axis ? axis->unit : UNIT_NUMBER };
}

/* ---- curves ---- */

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
                               sweep_label(v->sweep, v->result->arena, c.first, (size_t)y));
        if (y >= 0 && second && v->dots)
            second = result_text(v->result, "%s, %s", name, second);
        add_curve_set(&c, i + 1, name,
                      y < 0 || (v->dots && curves <= MOST_DOUBLED) ? second : NULL);
    }
}

/* ---- maps and bars ---- */

static const char **key_names(const struct sweep_view *v, size_t k)
{
    const struct sweep_key *key = &v->sweep->keys[k];
    size_t stride = k == 0 && v->sweep->key_count == 2 ? v->sweep->keys[1].arg->count : 1;
    const char **names = arena_array(v->sweep->call->arena, key->arg->count, sizeof(*names));

    for (size_t i = 0; names && i < key->arg->count; i++)
        names[i] = sweep_label(v->sweep, v->result->arena, i * stride, k);
    return names;
}

/* A map of what differs: each group of equal rows and columns once. */
static void add_merged_map(const struct sweep_view *v, struct figure *figure)
{
    size_t columns = v->sweep->keys[1].arg->count;
    struct sweep_groups down, right;
    const char *ys[SWEEP_MOST_GROUPS], *xs[SWEEP_MOST_GROUPS];
    double *values;

    sweep_find_groups(v, 0, SWEEP_MOST_GROUPS, &down);
    sweep_find_groups(v, 1, SWEEP_MOST_GROUPS, &right);
    values = arena_array(v->sweep->call->arena, down.count * right.count, sizeof(*values));
    for (size_t r = 0; values && r < down.count; r++) {
        ys[r] = sweep_group_text(v, &down, r, 0);
        for (size_t c = 0; c < right.count; c++) {
            xs[c] = sweep_group_text(v, &right, c, 1);
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
