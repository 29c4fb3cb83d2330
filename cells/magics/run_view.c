/*
 * What a person reads of %run: the factor first, then every variant with what the
 * compiler made of it, and under the table what was checked and what the code
 * would do as it was written.
 */
#include "cells/figure.h"
#include "cells/magics/run.h"
#include "cells/render/text.h"

#include <math.h>
#include <stdio.h>

static const char *percent(struct result *r, double fraction)
{
    char text[TEXT_NUMBER];

    return result_text(r, "%s", text_percent(text, fraction));
}

/* Microseconds with one decimal, none from 1,000 on. */
static const char *us(struct result *r, double v)
{
    char text[TEXT_NUMBER];

    return v < 999.95 ? result_text(r, "%.1f", v) : result_text(r, "%s", text_number(text, v));
}

/* 1.98x, 31.1x */
static const char *factor(struct result *r, double v)
{
    return v < 10 ? result_text(r, "%.2fx", v) : result_text(r, "%.1fx", v);
}

static const char *count(struct result *r, double v)
{
    char text[TEXT_NUMBER];

    return result_text(r, "%s", text_number(text, floor(v)));
}

/* ---- words ---- */

const char *run_device_text(struct result *r, const struct session_device *device, bool use_gpu,
                            bool use_model)
{
    const struct device *d = &device->device;

    if (use_gpu && use_model)
        return result_text(r, "%s gpu:%d and its model", d->name, device->gpu_index);
    if (use_gpu)
        return result_text(r, "%s gpu:%d", d->name, device->gpu_index);
    return result_text(r, "%s (model, cc %d.%d)", d->name, d->cc_major, d->cc_minor);
}

static size_t wrong_rungs(const struct lesson_run *run, size_t *first)
{
    size_t n = 0;

    for (size_t i = run->rung_count; i > 0; i--)
        if (!run->rungs[i - 1].is_correct) {
            n++;
            *first = i - 1;
        }
    return n;
}

/* The first variant with a twin whose branch is (or is not) a select by intent; -1: none. */
static int find_pair(const struct lesson_run *run, bool is_select)
{
    for (size_t i = 0; i < run->rung_count; i++)
        if (run->rungs[i].twin && run->rungs[i].rung->is_select == is_select)
            return (int)i;
    return -1;
}

static const char *long_sentence(struct result *r, const struct lesson_run *run)
{
    int i = find_pair(run, false);
    double ratio = i < 0 ? 0 : rung_twin_ratio(run, (size_t)i);

    if (ratio <= 0)
        return "The long bodies have no time";
    if (ratio > 1.75 && ratio < 2.25)
        return result_text(r, "Divergence doubled the long bodies (%s)", factor(r, ratio));
    if (ratio < 1.05)
        return result_text(r, "Divergence cost the long bodies nothing (%s)", factor(r, ratio));
    return result_text(r, "Divergence cost the long bodies %s", factor(r, ratio));
}

static const char *short_sentence(struct result *r, const struct lesson_run *run)
{
    int i = find_pair(run, true);
    double ratio = i < 0 ? 0 : rung_twin_ratio(run, (size_t)i);
    const struct rung_outcome *o = i < 0 ? NULL : &run->rungs[i];

    if (!o || ratio <= 0)
        return ".";
    if (strcmp(o->branch, "selp") != 0)
        return result_text(r, "; the short ones %s, where the compiler left a branch.",
                           factor(r, ratio));
    return result_text(r,
                       "; the short ones %s:\nthe compiler left no branch there, only a select "
                       "(%%source %s, line %d).",
                       ratio < 1.1 ? result_text(r, "cost nothing (%s)", factor(r, ratio))
                                   : result_text(r, "%s", factor(r, ratio)),
                       run->lesson->name, o->line);
}

static const char *conclusion(struct result *r, const struct lesson_run *run)
{
    size_t first = 0, wrong = wrong_rungs(run, &first);
    const struct rung_outcome *o = &run->rungs[first];

    if (wrong == 0)
        return result_text(r, "%s%s", long_sentence(r, run), short_sentence(r, run));
    if (o->verdict.first < 0)
        return result_text(r, "Wrong: %zu of %zu results; %s does not hold its twin's values.",
                           wrong, run->rung_count, o->rung->name);
    return result_text(r,
                       "Wrong: %zu of %zu results differ from the CPU's;\n"
                       "%s: y[%lld] got %.9g, expected %.9g.",
                       wrong, run->rung_count, o->rung->name, (long long)o->verdict.first,
                       (double)o->verdict.got, (double)o->verdict.want);
}

/* ---- the table ---- */

enum column {
    COLUMN_NAME,
    COLUMN_BRANCH,
    COLUMN_LANES,
    COLUMN_MEDIAN,
    COLUMN_IQR,
    COLUMN_MODEL,
    COLUMN_CYCLES,
    COLUMN_RATIO,
    COLUMN_TWIN,
    COLUMN_COUNT,
};

static const struct view_column COLUMNS[COLUMN_COUNT] = {
    [COLUMN_NAME] = { "variant", VIEW_LEFT },
    [COLUMN_BRANCH] = { "PTX of the\nbranch", VIEW_LEFT },
    [COLUMN_LANES] = { "lanes\nbusy", VIEW_RIGHT },
    [COLUMN_MEDIAN] = { "measured us\nmedian", VIEW_RIGHT },
    [COLUMN_IQR] = { "\niqr", VIEW_RIGHT },
    [COLUMN_MODEL] = { "model\nus", VIEW_RIGHT },
    [COLUMN_CYCLES] = { "model\ncycles", VIEW_RIGHT },
    [COLUMN_RATIO] = { "model/\nmeas.", VIEW_RIGHT },
    [COLUMN_TWIN] = { "to\ntwin", VIEW_RIGHT },
};

static bool has_column(const struct lesson_run *run, enum column c)
{
    switch (c) {
    case COLUMN_MEDIAN:
    case COLUMN_IQR:
        return run->use_gpu;
    case COLUMN_MODEL:
        return run->use_model;
    case COLUMN_CYCLES:
        return run->use_model && !run->use_gpu;
    case COLUMN_RATIO:
        return run->use_gpu && run->use_model;
    default:
        return true;
    }
}

static const char *cell_text(struct result *r, const struct lesson_run *run, size_t i,
                             enum column c)
{
    const struct rung_outcome *o = &run->rungs[i];
    double ratio = rung_twin_ratio(run, i);

    switch (c) {
    case COLUMN_NAME:
        return o->rung->name;
    case COLUMN_BRANCH:
        return o->branch;
    case COLUMN_LANES:
        return result_text(r, "%.0f %%", 100 * o->opt.lane_efficiency);
    case COLUMN_MEDIAN:
        return !o->is_correct ? "wrong" : o->is_measured ? us(r, o->median_us) : NULL;
    case COLUMN_IQR:
        return o->is_measured ? us(r, o->iqr_us) : NULL;
    case COLUMN_MODEL:
        return !o->is_correct ? "wrong" : o->is_modelled ? us(r, o->model.time_us) : NULL;
    case COLUMN_CYCLES:
        return o->is_modelled && o->is_correct ? count(r, (double)o->model.cycles) : NULL;
    case COLUMN_RATIO:
        return o->is_measured && o->is_modelled
                   ? result_text(r, "%.2f", o->model.time_us / o->median_us)
                   : NULL;
    case COLUMN_TWIN:
        return !o->twin ? "twin" : ratio > 0 ? factor(r, ratio) : NULL;
    default:
        return NULL;
    }
}

static void add_table(struct result *r, const struct lesson_run *run)
{
    struct view_column columns[COLUMN_COUNT];
    enum column which[COLUMN_COUNT];
    struct view_table *table;
    size_t n = 0;

    for (int c = 0; c < COLUMN_COUNT; c++)
        if (has_column(run, (enum column)c)) {
            which[n] = (enum column)c;
            columns[n++] = COLUMNS[c];
        }
    table = view_add_table(r, columns, n, run->rung_count);
    for (size_t i = 0; table && i < run->rung_count; i++)
        for (size_t c = 0; c < n; c++)
            view_cell(table, i, c, cell_text(r, run, i, which[c]));
}

/* ---- under the table ---- */

static const char *checked_text(struct result *r, const struct lesson_run *run)
{
    size_t first = 0, wrong = wrong_rungs(run, &first);
    const char *order = run->is_order_checked ? ", the short pair as the same values" : "";

    if (wrong)
        return result_text(r, "%zu of %zu equal the CPU's", run->rung_count - wrong,
                           run->rung_count);
    if (run->use_gpu)
        return result_text(r, "all %zu results equal the CPU's%s, checked before timing",
                           run->rung_count, order);
    if (run->blocks_run < run->blocks)
        return result_text(r,
                           "all %zu results equal the CPU's, in the %s of %s blocks that the "
                           "interpreter ran; the counts are scaled to all",
                           run->rung_count, count(r, (double)run->blocks_run),
                           count(r, (double)run->blocks));
    return result_text(r, "all %zu results equal the CPU's%s", run->rung_count, order);
}

static const char *clock_text(struct result *r, const struct lesson_run *run)
{
    double low = run->clock_low_mhz, high = run->clock_high_mhz;
    const struct rung_outcome *o = NULL;
    const char *mhz;

    for (size_t i = 0; !o && i < run->rung_count; i++)
        if (run->rungs[i].is_measured)
            o = &run->rungs[i];
    if (!o)
        return "nothing was measured";
    if (low <= 0)
        mhz = "";
    else if (high - low <= 0.01 * high)
        mhz = result_text(r, "; SM clock %s MHz, steady", count(r, o->clock_mhz + 0.5));
    else
        mhz = result_text(r, "; SM clock %s to %s MHz", count(r, low + 0.5), count(r, high + 0.5));
    return result_text(r, "median of %d; %d of %d repeats throttled%s", o->repeat, o->rejected,
                       o->repeat + o->rejected, mhz);
}

static const char *written_text(struct result *r, const struct lesson_run *run)
{
    int i = find_pair(run, true);
    const struct rung_outcome *o = i < 0 ? NULL : &run->rungs[i];

    if (!o)
        return NULL;
    return result_text(r,
                       "as written (build=debug) the short pair has %s, with %s of the lanes in "
                       "its lines; no GPU runs it so",
                       o->as_written.divergent_branches > 0 ? "2 passes" : "1 pass",
                       percent(r, o->as_written.body_lane_efficiency));
}

/* What the model foretells and what was set by measuring; model/costs.c has the numbers. */
static const char *model_text(struct result *r, const struct lesson_run *run)
{
    return result_text(r,
                       "predicted from published latencies and rates; the starts of launches and "
                       "blocks calibrated on an H200%s%s",
                       run->device.device.cc_major == 9 ? "" : ", assumed here",
                       run->device.device.sms ? "" : "; one SM at 1 GHz stands in for the card");
}

static void add_facts(struct result *r, const struct lesson_run *run)
{
    const char *names[5] = { "results" }, *texts[5] = { checked_text(r, run) };
    struct view_block *facts;
    size_t n = 1;

    if (run->use_gpu) {
        names[n] = "timing";
        texts[n++] = clock_text(r, run);
    }
    texts[n] = written_text(r, run);
    if (texts[n])
        names[n++] = "written";
    if (run->block % WARP != 0) {
        names[n] = "block";
        texts[n++] = result_text(r,
                                 "%d is no multiple of 32: a warp's lanes then straddle what "
                                 "should be whole warps, and the twins diverge too",
                                 run->block);
    }
    if (run->use_model) {
        names[n] = "model";
        texts[n++] = model_text(r, run);
    }
    facts = view_add_facts(r, n);
    for (size_t i = 0; facts && i < n; i++) {
        facts->names[i] = names[i];
        facts->texts[i] = texts[i];
    }
}

static const char *closing(struct result *r, const struct lesson_run *run)
{
    int i = find_pair(run, true);

    if (i >= 0 && strcmp(run->rungs[i].branch, "selp") == 0)
        return result_text(r, "Look at %%source %s: its line %d became line %d of the PTX, a selp.",
                           run->rungs[i].rung->kernel, run->rungs[i].line, run->rungs[i].ptx_line);
    return result_text(r, "Next: %%source %s prints the kernels.", run->lesson->name);
}

/* ---- fields ---- */

static json_t *counts_json(const struct rung_counts *c)
{
    return json_pack("{s:o, s:o, s:I, s:I}", "lane_efficiency", json_number(c->lane_efficiency),
                     "body_lane_efficiency", json_number(c->body_lane_efficiency), "branches",
                     (json_int_t)c->branches, "divergent_branches",
                     (json_int_t)c->divergent_branches);
}

static json_t *measured_json(const struct rung_outcome *o)
{
    json_t *samples;
    int failed = 0;

    if (!o->is_measured)
        return json_null();
    samples = json_array();
    for (int i = 0; i < o->repeat; i++)
        failed |= json_array_append_new(samples, json_number(o->samples_us[i]));
    return json_pack("{s:o, s:o, s:o, s:o, s:i, s:i, s:i, s:o, s:i, s:o}", "median_us",
                     json_number(o->median_us), "iqr_us", json_number(o->iqr_us), "min_us",
                     json_number(o->min_us), "cycles",
                     json_number(floor(o->median_us * o->clock_mhz + 0.5)), "repeat", o->repeat,
                     "throttled", o->rejected, "launches_a_sample", o->inner, "clock_mhz",
                     json_number(o->clock_mhz), "blocks_per_sm", o->blocks_per_sm, "samples_us",
                     json_whole(samples, failed));
}

static json_t *modelled_json(const struct rung_outcome *o)
{
    const struct ptx_timing *t = &o->model;

    if (!o->is_modelled || !o->is_correct)
        return json_null();
    return json_pack("{s:o, s:I, s:o, s:o, s:o}", "time_us", json_number(t->time_us), "cycles",
                     (json_int_t)t->cycles, "issue_utilization", json_number(t->issue_utilization),
                     "theoretical_occupancy", json_number(t->theoretical_occupancy), "waves",
                     json_number(t->waves));
}

static json_t *ratio_json(double v)
{
    return v > 0 ? json_number(v) : json_null();
}

static json_t *variant_json(const struct lesson_run *run, size_t i)
{
    const struct rung_outcome *o = &run->rungs[i];
    bool has_both = o->is_measured && o->is_modelled;

    return json_pack(
        "{s:s, s:s, s:s, s:b, s:s, s:i, s:i, s:i, s:o, s:I, s:o, s:o, s:o, s:o, s:o, s:o}", "name",
        o->rung->name, "kernel", o->rung->kernel, "teaches", o->rung->teaches, "correct",
        o->is_correct, "branch", o->branch, "line", o->line, "ptx_line", o->ptx_line, "registers",
        o->registers, "lane_efficiency", json_number(o->opt.lane_efficiency), "divergent_branches",
        (json_int_t)o->opt.divergent_branches, "as_written", counts_json(&o->as_written),
        "measured", measured_json(o), "modelled", modelled_json(o), "model_ratio",
        ratio_json(has_both ? o->model.time_us / o->median_us : 0), "twin_ratio",
        ratio_json(rung_twin_ratio(run, i)), "expected_ratio", json_number(o->rung->expected));
}

static int set_fields(struct result *r, const struct lesson_run *run, struct err *err)
{
    json_t *variants = json_array();
    const char *text = r->view.answer ? r->view.answer : "";

    for (size_t i = 0; variants && i < run->rung_count; i++)
        if (json_array_append_new(variants, variant_json(run, i)) < 0) {
            json_decref(variants);
            variants = NULL;
        }
    if (!variants || json_object_set_new(r->fields, "variants", variants) < 0 ||
        json_object_set_new(r->fields, "lesson", json_string(run->lesson->name)) < 0 ||
        json_object_set_new(r->fields, "blocks", json_integer(run->blocks)) < 0 ||
        json_object_set_new(r->fields, "blocks_interpreted", json_integer(run->blocks_run)) < 0 ||
        json_object_set_new(r->fields, "conclusion", json_string(text)) < 0)
        return err_set(err, ERR_ResourceError, "out of memory for the result of %%run");
    return 0;
}

/* ---- the figure: time over the twin's ---- */

static void add_figure(struct result *r, const struct lesson_run *run)
{
    const char *groups[LESSON_MAX_RUNGS], *series[2], *labels[2 * LESSON_MAX_RUNGS];
    double values[2 * LESSON_MAX_RUNGS];
    size_t group_count = 0, n = 0;
    struct figure_axis axis = { "time, twin = 1", SCALE_LOG2, UNIT_NUMBER, 0, 0 };
    struct figure *figure;

    if (run->use_gpu)
        series[n++] = "measured";
    if (run->use_model)
        series[n++] = "model";
    for (size_t i = 0; i < run->rung_count; i++) {
        const struct rung_outcome *o = &run->rungs[i], *twin = &run->rungs[o->twin_index];
        size_t at = group_count * n;

        if (!o->twin || !o->is_correct || !twin->is_correct)
            continue;
        if (run->use_gpu)
            values[at++] =
                o->is_measured && twin->is_measured ? o->median_us / twin->median_us : (double)NAN;
        if (run->use_model)
            values[at++] = o->model.time_us / twin->model.time_us;
        for (size_t k = group_count * n; k < at; k++)
            labels[k] = factor(r, values[k]);
        groups[group_count++] = o->rung->name;
    }
    if (group_count == 0)
        return;
    figure = figure_new(r, result_text(r, "%s: what a branch costs", run->lesson->name),
                        "For each variant, its time divided by the time of a twin that does the "
                        "same work with whole warps on one path.",
                        r->view.answer);
    panel_base(figure_add_bars(figure, NULL, axis, groups, group_count, series, n, values, labels),
               1);
}

int run_fill_result(struct result *r, const struct call *call, const struct lesson_run *run,
                    struct err *err)
{
    const char *skip = run->use_gpu ? "name device" : "name device repeat";

    r->view.answer = conclusion(r, run);
    r->view.origin =
        result_text(r, "%s   %s", run_device_text(r, &run->device, run->use_gpu, run->use_model),
                    call_parameters_text(call, skip));
    add_table(r, run);
    add_facts(r, run);
    r->view.closing = closing(r, run);
    add_figure(r, run);
    return set_fields(r, run, err);
}
