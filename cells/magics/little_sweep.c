/*
 * %little over ranges and lists: how the part of a unit that is reached grows with
 * warps, with independent work in each, and with how much work follows a load.
 */
#include "cells/magics/little.h"

#include "cells/magics/occupancy.h"
#include "cells/render/text.h"
#include "cells/sweep_view.h"

#include <math.h>

enum { MOST_ROWS = 40 };

struct little_sweep {
    struct sweep_view view;
    const struct little_case *cases;
    struct little_agreement agreement, crowd; /* alone, and under load */
};

static const struct sweep_axis AXES[] = {
    { "warps", "warps an SM", UNIT_NUMBER, false },
    { "ilp", "independent loads or operations a warp", UNIT_NUMBER, false },
    { "bytes_per_thread", "bytes a thread and load", UNIT_NUMBER, false },
    { "alpha", "operations a load", UNIT_NUMBER, false },
    { "latency", "latency, cycles", UNIT_NUMBER, false },
    { "bandwidth", "bytes a second", UNIT_NUMBER, false },
    { "queue", "wait under load, parts of the latency", UNIT_NUMBER, false },
    { "alu_latency", "latency of an operation, cycles", UNIT_NUMBER, false },
};

static json_t *point_json(const struct sweep_view *view, const void *of, size_t i)
{
    const struct little_sweep *s = of;
    json_t *object = sweep_to_json(view->sweep, i);
    int failed = json_object_set_new(object, "reached", little_reached_json(&s->cases[i]));

    return json_whole(object, failed);
}

/* ---- words ---- */

static const char *answer_text(const struct little_sweep *s)
{
    const struct sweep_view *v = &s->view;
    size_t best = sweep_best(v), worst = sweep_worst(v);
    const char *what = v->what;

    if (sweep_is_flat(v))
        return result_text(v->result, "%s of the %s at %s.", sweep_percent(v, best), what,
                           result_points_text(v->result, v->sweep->points));
    if (v->values[best] >= 1)
        return result_text(v->result, "%s to 100 %% of the %s: full first at %s.",
                           sweep_percent(v, worst), what, sweep_point_text(v, best));
    return result_text(v->result, "%s to %s of the %s, never full: the most at %s.",
                       sweep_percent(v, worst), sweep_percent(v, best), what,
                       sweep_point_text(v, best));
}

static const char *simulated_text(const struct little_sweep *s, const struct little_simulated *p)
{
    return p->cycles ? little_percent(s->view.result, p->fraction) : "-";
}

/* One key: a row a point, as far as there is room. */
static void add_rows(const struct little_sweep *s)
{
    const struct sweep_view *v = &s->view;
    bool is_memory = !s->cases[0].is_arithmetic;
    const struct view_column columns[] = {
        { v->sweep->keys[0].param->name, VIEW_LEFT },
        { "in flight an SM", VIEW_RIGHT },
        { "simulated", VIEW_RIGHT },
        { "closed form", VIEW_RIGHT },
        { "under load", VIEW_RIGHT },
        { "simulated", VIEW_RIGHT },
        { "bound by", VIEW_LEFT },
    };
    size_t n = v->sweep->points, shown = n < MOST_ROWS ? n : MOST_ROWS;
    struct view_table *table = view_add_table(v->result, columns, COUNT(columns), shown);

    for (size_t r = 0; r < shown; r++) {
        const struct little_case *c = &s->cases[r];
        char text[TEXT_NUMBER];

        view_cell(table, r, 0, sweep_span_text(v, r, r, 0));
        view_cell(table, r, 1,
                  result_text(v->result, "%s", text_number(text, c->kernel.warps * c->ilp)));
        view_cell(table, r, 2, simulated_text(s, &c->simulated));
        view_cell(table, r, 3, sweep_percent(v, r));
        view_cell(table, r, 4, is_memory ? little_percent(v->result, c->loaded.fraction) : "-");
        view_cell(table, r, 5, simulated_text(s, &c->crowded));
        view_cell(table, r, 6, little_bound_name(c->plain.bound));
        if (r == sweep_best(v) && !sweep_is_flat(v))
            view_mark(table, r);
    }
    v->result->view.closing =
        shown < n ? result_first_text(v->result, shown, n)
                  : "Next: %simulate body=\"ldg; use\" shows one of these kernels issue by issue.";
}

/* How far the two are apart. */
static void add_agreement(const struct little_sweep *s)
{
    const struct sweep_view *v = &s->view;
    const struct little_agreement *a = &s->agreement;
    struct view_block *block = view_add_facts(v->result, 1 + (s->crowd.simulated > 0));

    if (!block)
        return;
    block->names[0] = "simulated";
    block->texts[0] =
        !a->simulated ? "no point: the core layer has whole cycles and operations, and not too many"
        : a->difference < 0.0005
            ? result_text(v->result,
                          "%zu of %zu points on the core layer, the dots: the closed "
                          "form, which the lines are, agrees to 0.1 %% of the unit",
                          a->simulated, v->sweep->points)
            : result_text(v->result,
                          "%zu of %zu points on the core layer, the dots: the closed "
                          "form, which the lines are, is up to %s of the unit away, at "
                          "%s",
                          a->simulated, v->sweep->points, little_percent(v->result, a->difference),
                          sweep_point_text(v, a->at));
    if (!s->crowd.simulated)
        return;
    block->names[1] = "under load";
    block->texts[1] = result_text(
        v->result,
        "%zu points simulated with memory that works in bursts: up to %s of the unit from their "
        "closed form, at %s",
        s->crowd.simulated, little_percent(v->result, fmax(s->crowd.difference, 0.001)),
        sweep_point_text(v, s->crowd.at));
}

/* The unit with the least room, when it is the same at all points. */
static const char *what_text(const struct sweep *sweep, const struct little_case *cases)
{
    for (size_t i = 1; i < sweep->points; i++)
        if (cases[i].plain.unit != cases[0].plain.unit)
            return "unit with the least room";
    return little_unit_text(cases[0].plain.unit);
}

static int set_fields(const struct little_sweep *s, struct err *err)
{
    json_t *simulated = json_pack("{s:I, s:f}", "points", (json_int_t)s->agreement.simulated,
                                  "difference", s->agreement.difference);

    if (json_object_set_new(s->view.result->fields, "simulated", simulated) < 0)
        return err_set(err, ERR_ResourceError, "out of memory");
    return sweep_set_fields(&s->view, point_json, s, true, err);
}

int little_show_sweep(struct result *result, const struct sweep *sweep, struct little_case *cases,
                      struct err *err)
{
    double *values = sweep_array(sweep, 3 * sizeof(*values), err);
    bool is_loaded = !cases[0].is_arithmetic && cases[0].kernel.queue > 0;
    struct little_sweep s = { .view = { .result = result,
                                        .sweep = sweep,
                                        .values = values,
                                        .what = what_text(sweep, cases),
                                        .title = "What warps and independent work reach",
                                        .seconds = is_loaded ? values + sweep->points : NULL,
                                        .second_what = "under load",
                                        .scale = what_text(sweep, cases),
                                        .dots = values + 2 * sweep->points,
                                        .dots_what = "simulated",
                                        .wants_curves = true,
                                        .axes = AXES,
                                        .axis_count = COUNT(AXES) },
                              .cases = cases,
                              .agreement = little_compare(cases, sweep->points, false),
                              .crowd = little_compare(cases, sweep->points, true) };
    int k = sweep_find(sweep, "device");

    if (!values)
        return -1;
    for (size_t i = 0; i < sweep->points; i++) {
        values[i] = cases[i].plain.fraction;
        values[sweep->points + i] = cases[i].loaded.fraction;
        values[2 * sweep->points + i] =
            cases[i].simulated.cycles ? cases[i].simulated.fraction : NAN;
    }
    if (set_fields(&s, err) < 0)
        return -1;
    result->view.answer = answer_text(&s);
    result->view.origin =
        result_text(result, "%s  %s",
                    k < 0 ? occupancy_device_text(result, &cases[0].device)
                          : result_text(result, "%zu devices (model)", sweep->keys[k].arg->count),
                    call_parameters_text(sweep->call, k < 0 ? "device" : NULL));
    if (sweep->key_count == 1)
        add_rows(&s);
    else if (sweep->key_count == 2)
        sweep_add_matrix(&s.view);
    else
        sweep_add_best(&s.view);
    add_agreement(&s);
    sweep_add_figure(&s.view);
    return 0;
}
