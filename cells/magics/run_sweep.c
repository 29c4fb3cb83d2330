/*
 * What a person reads of an experiment: its conclusion, then every point with what was measured
 * beside what the model says, and under the table how far the two are apart, whether the model had
 * been told (calibrated) or not (predicted), and what it leaves out where it is off.
 */
#include "cells/magics/run.h"
#include "cells/render/text.h"

#include <math.h>

enum { WIDE_SERIES = 4 }; /* more curves than that get rows of their own */

bool run_has_curves(const struct experiment_run *run)
{
    return run->experiment->series.name != NULL;
}

const char *run_key_text(struct result *r, const struct experiment_key *key, int64_t value)
{
    struct buf text = { 0 };
    const char *copy;

    experiment_put_value(key, value, &text);
    copy = result_text(r, "%s", buf_text(&text));
    buf_done(&text);
    return copy;
}

static const char *quantity_text(struct result *r, const struct experiment *e, double v)
{
    char text[TEXT_NUMBER];

    if (!isfinite(v))
        return NULL;
    if (e->scale_max == 1)
        return result_text(r, "%s", text_percent(text, v));
    return result_text(r, "%s", text_number(text, v));
}

static const char *spread_text(struct result *r, const struct experiment *e, double v)
{
    char text[TEXT_NUMBER];

    if (e->scale_max == 1)
        return result_text(r, "%s", text_percent(text, v));
    return v == 0 ? "0" : result_text(r, "%s", text_number(text, v));
}

static const struct experiment_outcome *first_where(const struct experiment_run *run,
                                                    bool (*is)(const struct experiment_outcome *))
{
    for (size_t i = 0; i < run->count; i++)
        if (is(&run->points[i]))
            return &run->points[i];
    return NULL;
}

static bool is_skipped(const struct experiment_outcome *o)
{
    return o->launch.skipped[0] != 0;
}

static bool is_wrong(const struct experiment_outcome *o)
{
    return o->is_checked && !o->is_correct;
}

static bool is_right(const struct experiment_outcome *o)
{
    return o->is_checked && o->is_correct;
}

static bool is_measured(const struct experiment_outcome *o)
{
    return o->is_measured;
}

static size_t count_where(const struct experiment_run *run,
                          bool (*is)(const struct experiment_outcome *))
{
    size_t n = 0;

    for (size_t i = 0; i < run->count; i++)
        n += is(&run->points[i]);
    return n;
}

/* ---- the answer ---- */

static const char *wrong_text(struct result *r, const struct experiment_run *run)
{
    const struct experiment_outcome *o = first_where(run, is_wrong);

    if (o->first < 0)
        return result_text(r, "Wrong: %s wrote none of its results.", o->launch.kernel);
    return result_text(
        r, "Wrong: %zu of %zu results differ from the CPU's;\n%s: out[%lld] got %#x, expected %#x.",
        count_where(run, is_wrong), run->count, o->launch.kernel, (long long)o->first, o->got,
        o->want);
}

static const char *conclusion(struct result *r, const struct experiment_run *run)
{
    struct buf text = { 0 };
    const char *copy;

    if (count_where(run, is_wrong) > 0)
        return wrong_text(r, run);
    if (count_where(run, is_right) == 0)
        return result_text(r, "Nothing was run: %s.", run->points[0].launch.skipped);
    run->experiment->conclude(&run->data, &text);
    copy = result_text(r, "%s%s", run->data.is_measured ? "" : "Modelled: ", buf_text(&text));
    buf_done(&text);
    return copy;
}

static void put_values(struct result *r, const struct experiment_key *key, const int64_t *values,
                       size_t n, struct buf *out)
{
    if (!key->name)
        return;
    buf_printf(out, "%s=", key->name);
    for (size_t i = 0; i < n; i++)
        buf_printf(out, "%s%s", i ? "," : "", run_key_text(r, key, values[i]));
    buf_putc(out, ' ');
}

static const char *origin(struct result *r, const struct experiment_run *run)
{
    const struct experiment *e = run->experiment;
    struct buf text = { 0 };
    const char *copy;

    put_values(r, &e->axis, run->xs, run->x_count, &text);
    put_values(r, &e->series, run->series, run->series_count, &text);
    if (run->use_gpu)
        buf_printf(&text, "repeat=%d ", run->repeat);
    copy = result_text(r, "%s   %sseed=%llu",
                       run_device_text(r, &run->device, run->use_gpu, run->use_model),
                       buf_text(&text), (unsigned long long)run->seed);
    buf_done(&text);
    return copy;
}

/* ---- the table ---- */

enum column {
    COLUMN_SERIES,
    COLUMN_AXIS,
    COLUMN_MEASURED,
    COLUMN_IQR,
    COLUMN_MODEL,
    COLUMN_RATIO,
    COLUMN_FORMULA,
    COLUMN_COUNT,
};

static bool has_column(const struct experiment_run *run, enum column c)
{
    switch (c) {
    case COLUMN_SERIES:
        return run_has_curves(run);
    case COLUMN_MEASURED:
    case COLUMN_IQR:
        return run->use_gpu;
    case COLUMN_MODEL:
        return run->use_model;
    case COLUMN_RATIO:
        return run->use_gpu && run->use_model;
    case COLUMN_FORMULA:
        return run->experiment->formula != NULL;
    default:
        return true;
    }
}

static const char *cell_text(struct result *r, const struct experiment_run *run, size_t i,
                             enum column c)
{
    const struct experiment *e = run->experiment;
    const struct experiment_outcome *o = &run->points[i];

    switch (c) {
    case COLUMN_SERIES:
        return run_key_text(r, &e->series, o->point.series);
    case COLUMN_AXIS:
        return run_key_text(r, &e->axis, o->point.x);
    case COLUMN_MEASURED:
        return is_wrong(o) ? "wrong" : o->is_measured ? quantity_text(r, e, o->median) : NULL;
    case COLUMN_IQR:
        return o->is_measured ? spread_text(r, e, o->iqr) : NULL;
    case COLUMN_MODEL:
        return quantity_text(r, e, run->data.modelled[i]);
    case COLUMN_RATIO:
        return o->is_measured && o->is_modelled
                   ? result_text(r, "%.2f", run->data.modelled[i] / o->median)
                   : NULL;
    default:
        return quantity_text(r, e, run->data.closed[i]);
    }
}

static const char *column_title(struct result *r, const struct experiment_run *run, enum column c)
{
    const struct experiment *e = run->experiment;
    static const char *const TITLES[] = {
        [COLUMN_MEASURED] = "measured",   [COLUMN_IQR] = "iqr",         [COLUMN_MODEL] = "model",
        [COLUMN_RATIO] = "model/\nmeas.", [COLUMN_FORMULA] = "formula",
    };

    if (c == COLUMN_SERIES)
        return e->series.name;
    if (c == COLUMN_AXIS)
        return e->axis.name;
    if (c == COLUMN_RATIO || c == COLUMN_IQR || !*e->unit || e->scale_max == 1)
        return TITLES[c];
    return result_text(r, "%s\n%s", TITLES[c], e->unit);
}

/* A row a point. */
static void add_long_table(struct result *r, const struct experiment_run *run)
{
    struct view_column columns[COLUMN_COUNT];
    enum column which[COLUMN_COUNT];
    struct view_table *table;
    size_t n = 0, row = 0;

    for (int c = 0; c < COLUMN_COUNT; c++)
        if (has_column(run, (enum column)c)) {
            which[n] = (enum column)c;
            columns[n++] = (struct view_column){ column_title(r, run, (enum column)c),
                                                 c == COLUMN_SERIES ? VIEW_LEFT : VIEW_RIGHT };
        }
    table = view_add_table(r, columns, n, run->count - count_where(run, is_skipped));
    for (size_t i = 0; table && i < run->count; i++) {
        if (is_skipped(&run->points[i]))
            continue;
        for (size_t c = 0; c < n; c++)
            view_cell(table, row, c, cell_text(r, run, i, which[c]));
        row++;
    }
}

/* The two columns of a curve in the wide table. */
static void choose_pair(const struct experiment_run *run, enum column pair[2])
{
    pair[0] = run->use_gpu ? COLUMN_MEASURED : COLUMN_MODEL;
    pair[1] = run->use_gpu && run->use_model ? COLUMN_MODEL : COLUMN_FORMULA;
}

/* A row a value of the axis, and for each curve what was measured beside the model. */
static void add_wide_table(struct result *r, const struct experiment_run *run)
{
    const struct experiment *e = run->experiment;
    struct view_column columns[1 + 2 * WIDE_SERIES];
    enum column pair[2];
    struct view_table *table;
    size_t each, n = 1;

    choose_pair(run, pair);
    each = has_column(run, pair[1]) ? 2 : 1;
    columns[0] = (struct view_column){ result_text(r, "\n%s", e->axis.name), VIEW_RIGHT };
    for (size_t s = 0; s < run->series_count; s++)
        for (size_t k = 0; k < each; k++) {
            const char *head = k ? ""
                                 : result_text(r, "%s=%s", e->series.name,
                                               run_key_text(r, &e->series, run->series[s]));
            const char *what = pair[k] == COLUMN_MEASURED ? "meas."
                               : pair[k] == COLUMN_MODEL  ? "model"
                                                          : "formula";

            columns[n++] = (struct view_column){ result_text(r, "%s\n%s", head, what), VIEW_RIGHT };
        }
    table = view_add_table(r, columns, n, run->x_count);
    for (size_t x = 0; table && x < run->x_count; x++) {
        view_cell(table, x, 0, run_key_text(r, &e->axis, run->xs[x]));
        for (size_t s = 0; s < run->series_count; s++)
            for (size_t k = 0; k < each; k++)
                view_cell(table, x, 1 + s * each + k,
                          is_skipped(&run->points[s * run->x_count + x])
                              ? NULL
                              : cell_text(r, run, s * run->x_count + x, pair[k]));
    }
}

static void add_table(struct result *r, const struct experiment_run *run)
{
    if (run->series_count > 1 && run->series_count <= WIDE_SERIES && run->x_count > 1)
        add_wide_table(r, run);
    else
        add_long_table(r, run);
}

/* ---- under the table ---- */

static const char *checked_text(struct result *r, const struct experiment_run *run)
{
    size_t wrong = count_where(run, is_wrong), right = count_where(run, is_right);

    if (wrong)
        return result_text(r, "%zu of %zu equal the CPU's", right, right + wrong);
    return result_text(r, "all %zu equal the CPU's, in every word%s", right,
                       run->use_gpu ? ", checked before timing" : "");
}

static const char *clock_text(struct result *r, const struct experiment_run *run)
{
    const struct experiment_outcome *o = first_where(run, is_measured);
    double low = run->clock_low_mhz, high = run->clock_high_mhz;
    char text[TEXT_NUMBER], other[TEXT_NUMBER];
    const char *how = run->experiment->basis == EXPERIMENT_CLOCK
                          ? "cycles by the SM's own clock, the median of the SMs"
                          : "time between two events";

    if (!o)
        return "nothing was measured";
    if (high <= 0)
        return result_text(r, "%s; median of %d", how, o->repeat);
    if (high - low <= 0.01 * high)
        return result_text(r, "%s; median of %d; SM clock %s MHz, steady", how, o->repeat,
                           text_number(text, floor(o->clock_mhz + 0.5)));
    return result_text(r, "%s; median of %d; SM clock %s to %s MHz", how, o->repeat,
                       text_number(text, floor(low + 0.5)), text_number(other, floor(high + 0.5)));
}

static const char *kind_text(const struct experiment *e)
{
    return e->is_calibrated ? "calibrated by this experiment on an H200"
                            : "predicted: no number of the model was set by this experiment";
}

bool run_is_off(const struct experiment_run *run)
{
    return isfinite(run->error_percent) && run->error_percent > run->experiment->goal_percent;
}

static const char *model_text(struct result *r, const struct experiment_run *run)
{
    const struct experiment *e = run->experiment;

    if (!isfinite(run->error_percent))
        return kind_text(e);
    return result_text(r, "%.1f %% off in the mean (goal %.0f %%); %s", run->error_percent,
                       e->goal_percent, kind_text(e));
}

static const char *formula_text(struct result *r, const struct experiment_run *run)
{
    const struct experiment *e = run->experiment;

    if (!e->formula)
        return NULL;
    if (!isfinite(run->formula_error_percent))
        return e->closed_form;
    return result_text(r, "%s; %.1f %% off in the mean", e->closed_form,
                       run->formula_error_percent);
}

static const char *skipped_text(struct result *r, const struct experiment_run *run)
{
    size_t n = count_where(run, is_skipped);

    return n ? result_text(r, "%zu point%s: %s", n, n == 1 ? "" : "s, the first",
                           first_where(run, is_skipped)->launch.skipped)
             : NULL;
}

static void add_facts(struct result *r, const struct experiment_run *run)
{
    const struct experiment *e = run->experiment;

    view_fact(r, "quantity", e->quantity);
    view_fact(r, "results", checked_text(r, run));
    view_fact(r, "timing", run->use_gpu ? clock_text(r, run) : NULL);
    view_fact(r, "model", run->use_model ? model_text(r, run) : NULL);
    view_fact(r, "left out", run_is_off(run) ? e->left_out : NULL);
    view_fact(r, "formula", formula_text(r, run));
    view_fact(r, "skipped", skipped_text(r, run));
}

int run_fill_sweep(struct result *r, const struct experiment_run *run, struct err *err)
{
    r->view.answer = conclusion(r, run);
    r->view.origin = origin(r, run);
    add_table(r, run);
    add_facts(r, run);
    r->view.closing =
        result_text(r, "Next: %%source %s prints the kernel that was run.", run->experiment->name);
    if (count_where(run, is_right) > 0)
        run_add_sweep_figure(r, run);
    return run_set_sweep_fields(r, run, err);
}
