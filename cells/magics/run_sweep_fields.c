/*
 * The fields of an experiment's result: the sweep, every point with its samples, and the verdict on
 * the model.
 */
#include "cells/magics/run.h"

#include <math.h>

static json_t *maybe(double v)
{
    return isfinite(v) ? json_number(v) : json_null();
}

static json_t *key_json(const struct experiment_key *key, int64_t value)
{
    return key->names ? json_string(key->names[value]) : json_integer(value);
}

static json_t *measured_json(const struct experiment_outcome *o)
{
    json_t *samples;
    int failed = 0;

    if (!o->is_measured)
        return json_null();
    samples = json_array();
    for (int i = 0; i < o->repeat; i++)
        failed |= json_array_append_new(samples, json_number(o->samples[i]));
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:i, s:i, s:i, s:o, s:i, s:o}", "median",
                     json_number(o->median), "iqr", json_number(o->iqr), "min", json_number(o->min),
                     "cycles", json_number(floor(o->cycles + 0.5)), "time_us",
                     o->time_us > 0 ? json_number(o->time_us) : json_null(), "repeat", o->repeat,
                     "throttled", o->rejected, "launches_a_sample", o->launches_a_sample,
                     "clock_mhz", json_number(o->clock_mhz), "blocks_per_sm", o->blocks_per_sm,
                     "samples", json_whole(samples, failed));
}

static json_t *modelled_json(const struct experiment_run *run, size_t i)
{
    const struct experiment_outcome *o = &run->points[i];
    bool is_by_clock = run->experiment->basis == EXPERIMENT_CLOCK;

    if (!isfinite(run->data.modelled[i]))
        return json_null();
    return json_pack("{s:o, s:I, s:o, s:o}", "value", json_number(o->modelled), "cycles",
                     (json_int_t)(is_by_clock ? o->model.clock_cycles : o->model.cycles), "time_us",
                     is_by_clock ? json_null() : json_number(o->model.time_us), "issue_utilization",
                     json_number(o->model.issue_utilization));
}

static json_t *point_json(const struct experiment_run *run, size_t i)
{
    const struct experiment *e = run->experiment;
    const struct experiment_outcome *o = &run->points[i];
    bool has_both = o->is_measured && isfinite(run->data.modelled[i]);

    return json_pack("{s:o, s:o, s:s, s:o, s:i, s:o, s:o, s:o, s:o, s:o}", "x",
                     key_json(&e->axis, o->point.x), "series",
                     e->series.name ? key_json(&e->series, o->point.series) : json_null(), "kernel",
                     o->launch.kernel, "correct",
                     o->is_checked ? json_boolean(o->is_correct) : json_null(), "registers",
                     o->registers, "measured", measured_json(o), "modelled", modelled_json(run, i),
                     "closed_form", maybe(run->data.closed[i]), "ratio",
                     has_both ? maybe(run->data.modelled[i] / o->median) : json_null(), "skipped",
                     o->launch.skipped[0] ? json_string(o->launch.skipped) : json_null());
}

static int set(struct result *r, const char *name, json_t *value)
{
    return json_object_set_new(r->fields, name, value);
}

static json_t *points_json(const struct experiment_run *run)
{
    json_t *points = json_array();
    int failed = 0;

    for (size_t i = 0; i < run->count; i++)
        failed |= json_array_append_new(points, point_json(run, i));
    return json_whole(points, failed);
}

static json_t *axis_json(const struct experiment_key *key)
{
    if (!key->name)
        return json_null();
    return json_pack("{s:s, s:s}", "name", key->name, "label", key->label ? key->label : key->name);
}

int run_set_sweep_fields(struct result *r, const struct experiment_run *run, struct err *err)
{
    const struct experiment *e = run->experiment;
    int failed = set(r, "experiment", json_string(e->name));

    failed |= set(r, "question", json_string(e->question));
    failed |= set(r, "axis", axis_json(&e->axis));
    failed |= set(r, "curves", axis_json(&e->series));
    failed |= set(r, "quantity", json_string(e->quantity));
    failed |= set(r, "unit", json_string(e->scale_max == 1 ? "0..1" : e->unit));
    failed |= set(r, "points", points_json(run));
    failed |= set(r, "mape", maybe(run->error_percent));
    failed |= set(r, "formula_mape", maybe(run->formula_error_percent));
    failed |= set(r, "copy_gbs", maybe(run->copy_gbs > 0 ? run->copy_gbs : (double)NAN));
    failed |= set(r, "goal_percent", json_number(e->goal_percent));
    failed |= set(r, "parameters", json_string(e->is_calibrated ? "calibrated" : "predicted"));
    failed |= set(r, "left_out", run_is_off(run) ? json_string(e->left_out) : json_null());
    failed |= set(r, "conclusion", json_string(r->view.answer ? r->view.answer : ""));
    return failed ? err_set(err, ERR_ResourceError, "out of memory for the result of %%run") : 0;
}
