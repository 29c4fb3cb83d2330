/*
 * The figure of an experiment: measured points are dots and the model is a line, in the colour of
 * their curve; where the axis has words, bars in unlike fills.
 */
#include "cells/figure.h"
#include "cells/magics/run.h"

static void add_curve(struct panel *panel, const struct experiment_run *run, size_t s,
                      const double *xs, const double *values, const char *name, bool is_points)
{
    struct figure_series *series =
        panel_add_series(panel, name, xs, values + s * run->x_count, run->x_count);

    if (!series)
        return;
    series->is_points = is_points;
    series->is_bare = !is_points && run->use_gpu; /* its dots are the measured ones */
    series->look = s + 1;
}

static const char *marks_text(const struct experiment_run *run)
{
    if (run->use_gpu)
        return run->use_model ? "dots: measured, lines: the model" : "dots: measured";
    return "lines: the model";
}

static struct panel *add_panel(struct figure *figure, struct result *r,
                               const struct experiment_run *run)
{
    const struct experiment *e = run->experiment;
    bool is_fraction = e->scale_max == 1;
    const char *label = e->axis.label ? e->axis.label : e->axis.name;
    struct figure_axis x = { .label = label,
                             .scale = e->axis.is_log ? SCALE_LOG2 : SCALE_LINEAR,
                             .unit = e->axis.is_bytes ? UNIT_BYTES
                                     : e->axis.is_log ? UNIT_POW2
                                                      : UNIT_NUMBER };
    bool says_unit = is_fraction || strstr(e->quantity, e->unit);
    struct figure_axis y = { .label = says_unit ? e->quantity
                                                : result_text(r, "%s, %s", e->quantity, e->unit),
                             .unit = is_fraction ? UNIT_PERCENT : UNIT_NUMBER };

    return figure_add_lines(figure, marks_text(run), x, y);
}

static void add_lines(struct result *r, const struct experiment_run *run, struct figure *figure,
                      const double *xs)
{
    const struct experiment *e = run->experiment;
    struct panel *panel = add_panel(figure, r, run);

    for (size_t s = 0; s < run->series_count; s++) {
        const char *name = !run_has_curves(run)
                               ? NULL
                               : result_text(r, "%s=%s", e->series.name,
                                             run_key_text(r, &e->series, run->series[s]));

        if (run->use_model)
            add_curve(panel, run, s, xs, run->data.modelled, name, false);
        if (run->use_gpu)
            add_curve(panel, run, s, xs, run->data.value, run->use_model ? NULL : name, true);
    }
}

/* Words on the axis: bars, what was measured and the model side by side in unlike fills. */
static void add_bars(struct result *r, const struct experiment_run *run, struct figure *figure)
{
    const struct experiment *e = run->experiment;
    size_t sources = (size_t)run->use_gpu + (size_t)run->use_model, n = 0, bars = 0;
    const char **groups = arena_array(r->arena, run->count, sizeof(*groups));
    double *values = arena_array(r->arena, run->count * 2, sizeof(*values));
    const char *names[2];
    struct figure_axis axis = { .label = e->quantity,
                                .unit = e->scale_max == 1 ? UNIT_PERCENT : UNIT_NUMBER };

    if (!groups || !values)
        return;
    if (run->use_gpu)
        names[n++] = "measured";
    if (run->use_model)
        names[n++] = "model";
    for (size_t i = 0; i < run->count; i++) {
        const char *x = run_key_text(r, &e->axis, run->points[i].point.x);

        groups[i] = run_has_curves(run)
                        ? result_text(r, "%s, %s=%s", x, e->series.name,
                                      run_key_text(r, &e->series, run->points[i].point.series))
                        : x;
        if (run->use_gpu)
            values[bars++] = run->data.value[i];
        if (run->use_model)
            values[bars++] = run->data.modelled[i];
    }
    figure_add_bars(figure, NULL, axis, groups, run->count, names, sources, values, NULL);
}

void run_add_sweep_figure(struct result *r, const struct experiment_run *run)
{
    const struct experiment *e = run->experiment;
    double *xs = arena_array(r->arena, run->x_count, sizeof(*xs));
    struct figure *figure;

    if (!xs)
        return;
    for (size_t i = 0; i < run->x_count; i++)
        xs[i] = (double)run->xs[i];
    figure = figure_new(r, result_text(r, "%s: %s", e->name, e->quantity),
                        result_text(r, "%s by %s; %s.", e->quantity,
                                    e->axis.label ? e->axis.label : e->axis.name, marks_text(run)),
                        r->view.answer);
    if (e->axis.names)
        add_bars(r, run, figure);
    else
        add_lines(r, run, figure, xs);
}
