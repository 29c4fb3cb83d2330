/*
 * One program of %specialize as a person reads it: how busy the tensor cores
 * are, what the roles run, who does what in each cycle, whether a tile was lost,
 * and the curve that the ring's depth lies on.
 */
#include "cells/internal.h"
#include "cells/magics/occupancy.h"
#include "cells/magics/specialize_budget.h"

#include <ctype.h>

enum {
    LISTED_EVENTS = 2000,
    SHOWN_EVENTS = 10,
    MOST_FACTS = 10,
    LEAST_CURVE = 8, /* slots */
};

static const char *main_engine(const struct specialization *s)
{
    return s->program->engines[s->program->main_engine];
}

/* "Tensor": it starts a sentence. */
static const char *main_engine_title(struct result *result, const struct specialization *s)
{
    const char *name = main_engine(s);

    return result_text(result, "%c%s", toupper((unsigned char)*name), name + 1);
}

/* ---- fields ---- */

static json_t *roles_json(const struct specialization *s)
{
    const struct async_program *p = s->program;
    json_t *list = json_array();
    int failed = 0;

    for (int r = 0; r < p->role_count; r++) {
        const int64_t *cycles = s->run.role_cycles[r];
        int regs = s->registers.per_thread[r];

        failed |= json_array_append_new(
            list,
            json_pack("{s:s, s:i, s:o, s:I, s:I, s:I, s:I}", "name", p->roles[r].name, "warps",
                      p->roles[r].warps, "registers", regs ? json_integer(regs) : json_null(),
                      "end", (json_int_t)s->run.role_end[r], "working",
                      (json_int_t)cycles[ASYNC_HELD], "waiting", (json_int_t)cycles[ASYNC_WAITING],
                      "blocked", (json_int_t)cycles[ASYNC_BLOCKED]));
    }
    return json_whole(list, failed);
}

static json_t *engines_json(const struct specialization *s)
{
    json_t *list = json_array();
    int failed = 0;

    for (int e = 0; e < s->program->engine_count; e++)
        failed |= json_array_append_new(
            list, json_pack("{s:s, s:I, s:f}", "name", s->program->engines[e], "busy_cycles",
                            (json_int_t)s->run.engine_busy[e], "utilization",
                            (double)s->run.engine_busy[e] / (double)max_i64(s->run.cycles, 1)));
    return json_whole(list, failed);
}

static json_t *overwrites_json(const struct specialization *s)
{
    json_t *list = json_array();
    int failed = 0;

    for (int64_t i = 0; i < s->run.overwrites && i < ASYNC_MAX_OVERWRITES; i++) {
        const struct async_overwrite *o = &s->run.overwrite[i];

        failed |= json_array_append_new(
            list, json_pack("{s:i, s:i, s:i, s:I, s:I, s:I}", "slot", o->slot, "writer", o->writer,
                            "reader", o->reader, "written", (json_int_t)o->written, "read_from",
                            (json_int_t)o->read_from, "read_until", (json_int_t)o->read_until));
    }
    return json_whole(list, failed);
}

/* "load", "mma"; "wait full"; "softmax". */
static const char *event_what(struct result *result, const struct specialization *s,
                              const struct async_event *e)
{
    if (e->op->kind == ASYNC_WAIT)
        return result_text(result, "wait %s", s->program->tokens[e->op->token].name);
    return e->op->name;
}

static json_t *slot_json(const struct specialization *s, const struct async_event *e)
{
    return e->op->access == ASYNC_NO_SLOT ? json_null() : json_integer(e->step % s->params.pipe);
}

static json_t *events_json(struct result *result, const struct specialization *s)
{
    json_t *list = json_array();
    int failed = 0;

    for (size_t i = 0; i < s->run.event_count && i < LISTED_EVENTS; i++) {
        const struct async_event *e = &s->run.events[i];
        bool is_engine = e->engine != ASYNC_NONE;

        failed |= json_array_append_new(
            list,
            json_pack("{s:I, s:I, s:s, s:o, s:s, s:i, s:o, s:o}", "from", (json_int_t)e->from, "to",
                      (json_int_t)e->to, "role", s->program->roles[e->role].name, "engine",
                      is_engine ? json_string(s->program->engines[e->engine]) : json_null(), "what",
                      event_what(result, s, e), "step", e->step, "slot", slot_json(s, e), "arrived",
                      is_engine ? json_integer(e->arrived) : json_null()));
    }
    return json_whole(list, failed);
}

static int set_fields(struct result *result, const struct specialization *s, struct err *err)
{
    json_t *fields = json_pack(
        "{s:s, s:s, s:f, s:f, s:o, s:o, s:I, s:I, s:f, s:o, s:o, s:I, s:o, s:o, s:o, s:o}",
        "program", s->program->name, "main_engine", main_engine(s), "busy", s->run.busy,
        "utilization", s->run.utilization, "formula",
        s->has_formula ? json_real(s->formula) : json_null(), "as_warps",
        s->as_warps >= 0 ? json_real(s->as_warps) : json_null(), "cycles",
        (json_int_t)s->run.cycles, "works", (json_int_t)s->run.main_works, "idle_per_work",
        s->run.idle_per_work, "roles", roles_json(s), "engines", engines_json(s), "overwritten",
        (json_int_t)s->run.overwrites, "overwrites", overwrites_json(s), "registers",
        budget_registers_json(s), "shared", budget_shared_json(s), "events",
        events_json(result, s));
    int rc = fields ? json_object_update(result->fields, fields) : -1;

    json_decref(fields);
    return rc < 0 ? err_set(err, ERR_ResourceError, "out of memory") : 0;
}

/* ---- the first lines ---- */

static const char *busy_text(struct result *result, const struct specialization *s)
{
    const char *busy = specialize_percent(result, s->run.busy);
    const char *engine = main_engine_title(result, s);

    if (s->run.busy >= 1)
        return result_text(result, "%s busy %s: full, once it runs.", engine, busy);
    if (s->run.idle_per_work > 0)
        return result_text(result, "%s busy %s: it idles %s cycles for every %s of work.", engine,
                           busy, specialize_count(result, s->run.idle_per_work),
                           specialize_count(result, s->run.idle_per_work * s->run.busy /
                                                        (1 - s->run.busy)));
    return result_text(result, "%s busy %s of the whole run, %s cycles.", engine, busy,
                       specialize_count(result, (double)s->run.cycles));
}

static const char *answer_text(struct result *result, const struct specialization *s)
{
    const struct async_overwrite *o = &s->run.overwrite[0];

    if (!s->run.overwrites && !budget_fits(s))
        return result_text(result, "Does not fit on an SM of %s.\nIf it did: %s",
                           s->device.device.name, busy_text(result, s));
    if (!s->run.overwrites)
        return busy_text(result, s);
    return result_text(result, "Slot %d: step %d is loaded over step %d before that was read.%s",
                       o->slot, o->writer, o->reader,
                       s->run.overwrites > 1
                           ? result_text(result, " So are %s more.",
                                         specialize_count(result, (double)s->run.overwrites - 1))
                           : "");
}

/* Keys that a program does not use. */
static const char *unused_keys(const struct call *call, struct result *result,
                               const struct specialization *s)
{
    bool is_units = s->id >= ASYNC_FFII && s->id <= ASYNC_FFII_ROLES;
    bool is_attention = s->id >= ASYNC_ATTENTION_ONE && s->id <= ASYNC_BLACKWELL;
    bool is_planned = s->id == ASYNC_STATIC || s->id == ASYNC_DYNAMIC;

    return result_text(result, "program device%s%s%s%s%s%s", s->params.jitter ? "" : " jitter seed",
                       is_units ? " pipe load compute tma wake plan softmax" : " fp int",
                       is_attention ? "" : " softmax", is_planned ? "" : " plan",
                       s->tile.is_given ? " compute" : " tile ktile acc rate groups",
                       call_given(call, "tma") ? "" : " tma");
}

/* ---- tables ---- */

static const char *share(struct result *result, int64_t cycles, int64_t of)
{
    return of ? specialize_percent(result, (double)cycles / (double)of) : "";
}

static void add_roles(struct result *result, const struct specialization *s)
{
    static const struct view_column columns[] = {
        { "role", VIEW_LEFT },           { "warps", VIEW_RIGHT }, { "ends", VIEW_RIGHT },
        { "works", VIEW_RIGHT },         { "waits", VIEW_RIGHT }, { "blocked", VIEW_RIGHT },
        { "regs a thread", VIEW_RIGHT },
    };
    const struct async_program *p = s->program;
    size_t count = s->id == ASYNC_WARPS ? 1 : (size_t)p->role_count;
    size_t shown = s->registers.is_given ? COUNT(columns) : COUNT(columns) - 1;
    struct view_table *table = view_add_table(result, columns, shown, count);

    for (size_t r = 0; r < count; r++) {
        const int64_t *cycles = s->run.role_cycles[r];
        int64_t end = s->run.role_end[r];

        view_cell(table, r, 0, p->roles[r].name);
        view_cell(table, r, 1, specialize_count(result, p->roles[r].warps));
        view_cell(table, r, 2, specialize_count(result, (double)end));
        view_cell(table, r, 3, share(result, cycles[ASYNC_HELD], end));
        view_cell(table, r, 4, share(result, cycles[ASYNC_WAITING], end));
        view_cell(table, r, 5, share(result, cycles[ASYNC_BLOCKED], end));
        if (s->registers.per_thread[r])
            view_cell(table, r, 6, specialize_count(result, s->registers.per_thread[r]));
    }
}

/* What the engines do first. */
static void add_events(struct result *result, const struct specialization *s)
{
    static const struct view_column columns[] = {
        { "cycle", VIEW_RIGHT }, { "engine", VIEW_LEFT }, { "event", VIEW_LEFT },
        { "slot", VIEW_RIGHT },  { "done", VIEW_RIGHT },
    };
    size_t count = 0, r = 0;
    struct view_table *table;

    for (size_t i = 0; i < s->run.event_count && count < SHOWN_EVENTS; i++)
        count += s->run.events[i].engine != ASYNC_NONE;
    table = view_add_table(result, columns, COUNT(columns), count);
    for (size_t i = 0; i < s->run.event_count && r < count; i++) {
        const struct async_event *e = &s->run.events[i];

        if (e->engine == ASYNC_NONE)
            continue;
        view_cell(table, r, 0, specialize_count(result, (double)e->from));
        view_cell(table, r, 1, s->program->engines[e->engine]);
        view_cell(table, r, 2, result_text(result, "%s[%d]", e->op->name, e->step));
        view_cell(table, r, 3,
                  e->op->access == ASYNC_NO_SLOT
                      ? ""
                      : specialize_count(result, e->step % s->params.pipe));
        view_cell(table, r++, 4, specialize_count(result, (double)e->arrived));
    }
}

/* ---- facts ---- */

struct facts {
    struct result *result;
    const char *names[MOST_FACTS], *texts[MOST_FACTS];
    size_t count;
};

static void add_fact(struct facts *facts, const char *name, const char *text)
{
    if (!text || facts->count == MOST_FACTS)
        return;
    facts->names[facts->count] = name;
    facts->texts[facts->count++] = text;
}

/* "min(1, 4 x 2 / (8 + 2))"; NULL: there is no formula. */
static const char *closed_form(struct result *result, const struct specialization *s)
{
    const struct async_params *a = &s->params;
    int p = a->pipe;
    long long c = a->compute, l = a->load + a->tma, w = a->wake;

    if (!s->has_formula)
        return NULL;
    if (s->id == ASYNC_WARPS)
        return result_text(result, "min(1, %d x %lld / (%lld + %lld))", p, c, (long long)a->load,
                           c);
    if (s->id == ASYNC_V2)
        return result_text(result, "min(1, (%d - 1) x %lld / (%lld + %lld))", p, c, l, w);
    if (s->id == ASYNC_V1)
        return result_text(result,
                           "min(%lld / (%lld + %lld), %d x %lld / (%lld + %lld + 2 x %lld))", c, c,
                           w, p, c, l, c, w);
    if (!w)
        return result_text(result, "min(1, %d x %lld / (%lld + %lld))", p, c, l, c);
    return result_text(result, "min(1, %d x %lld / (%lld + %lld + 2 x %lld))", p, c, l, c, w);
}

static const char *formula_text(struct result *result, const struct specialization *s)
{
    const char *formula = closed_form(result, s);

    if (!formula)
        return NULL;
    return result_text(result, "%s = %s, simulated %s", formula,
                       specialize_percent(result, s->formula),
                       specialize_percent(result, s->run.busy));
}

static const char *warps_text(struct result *result, const struct specialization *s)
{
    const struct async_params *a = &s->params;
    long long wait = s->id == ASYNC_WARPS ? a->load : a->load + a->tma + 2 * a->wake;

    if (s->as_warps < 0)
        return NULL;
    return result_text(result, "%s: %%simulate warps=%d issue=%lld wait=%lld is the same curve",
                       specialize_percent(result, s->as_warps), a->pipe, (long long)a->compute,
                       wait);
}

/* The fewest slots with which a ring is full. */
static int64_t full_depth(const struct specialization *s)
{
    const struct async_params *a = &s->params;

    return ceil_div(a->load + a->tma + a->compute + 2 * a->wake, max_i64(a->compute, 1));
}

static const char *depth_text(struct result *result, const struct specialization *s)
{
    if (s->id != ASYNC_RING || !s->has_formula || s->params.tma > s->params.compute)
        return NULL;
    return result_text(result, "pipe=%lld is enough: (load + compute) / compute, rounded up",
                       (long long)full_depth(s));
}

static const char *overwrite_text(struct result *result, const struct specialization *s)
{
    const struct async_overwrite *o = &s->run.overwrite[0];

    if (!s->run.overwrites)
        return NULL;
    return result_text(result,
                       "the copy of step %d may land in slot %d from cycle %s on; step %d reads it "
                       "in cycles %s..%s",
                       o->writer, o->slot, specialize_count(result, (double)o->written), o->reader,
                       specialize_count(result, (double)o->read_from),
                       specialize_count(result, (double)o->read_until - 1));
}

static const char *run_text(struct result *result, const struct specialization *s)
{
    return result_text(result, "%s cycles, %s busy with start and end; %s works of the %s engine",
                       specialize_count(result, (double)s->run.cycles),
                       specialize_percent(result, s->run.utilization),
                       specialize_count(result, (double)s->run.main_works), main_engine(s));
}

static void add_facts(struct result *result, const struct specialization *s)
{
    struct facts facts = { .result = result };
    struct view_block *block;

    add_fact(&facts, "lost tile", overwrite_text(result, s));
    if (s->run.overwrites)
        add_fact(&facts, "busy", busy_text(result, s));
    add_fact(&facts, "formula", formula_text(result, s));
    add_fact(&facts, "as warps", warps_text(result, s));
    add_fact(&facts, "depth", depth_text(result, s));
    add_fact(&facts, "whole run", run_text(result, s));
    add_fact(&facts, "accumulators", budget_tile_text(result, s));
    add_fact(&facts, "shared", budget_shared_text(result, s));
    add_fact(&facts, "registers", budget_registers_text(result, s));
    block = view_add_facts(result, facts.count);
    for (size_t i = 0; block && i < facts.count; i++) {
        block->names[i] = facts.names[i];
        block->texts[i] = facts.texts[i];
    }
}

static const char *closing_text(struct result *result, const struct specialization *s)
{
    const struct async_params *a = &s->params;

    if (s->run.overwrites)
        return "To keep every tile: wait_when=\"k >= pipe\". Step pipe is the first that reuses one.";
    if (!budget_fits(s))
        return budget_advice(result, s);
    switch (s->id) {
    case ASYNC_RING:
    case ASYNC_WARPS:
        return result_text(result,
                           "Next: %%specialize pipe=1..%lld load=%lld compute=%lld draws it.",
                           (long long)min_i64(max_i64(LEAST_CURVE, full_depth(s) + 2),
                                              ASYNC_MAX_PIPE),
                           (long long)a->load, (long long)a->compute);
    case ASYNC_V1:
    case ASYNC_V2:
        return result_text(
            result,
            "Next: %%specialize program=[v1,v2,ring] load=%lld compute=%lld wake=%lld "
            "pipe=%d",
            (long long)a->load, (long long)a->compute, (long long)a->wake,
            a->pipe < 2 ? 2 : a->pipe);
    case ASYNC_STATIC:
    case ASYNC_DYNAMIC:
        return "Next: %specialize program=[static,dynamic] load=10 jitter=90 plan=25 compute=5";
    case ASYNC_FFII:
    case ASYNC_FIFI:
    case ASYNC_FFII_ROLES:
        return "Next: %specialize program=[ffii,fifi,ffii-roles] sets them side by side.";
    default:
        return "Next: %specialize program=[attention-one,attention,blackwell] compares them.";
    }
}

/* ---- the figure ---- */

/* The formula over the ring's depth, with the depth that was asked for. */
static void add_curve(struct figure *figure, const struct specialization *s)
{
    struct figure_axis x = { .label = "slots of the ring (pipe)" };
    struct figure_axis y = { .label = "busy", .unit = UNIT_PERCENT, .min = 0, .max = 1 };
    double xs[ASYNC_MAX_PIPE], ys[ASYNC_MAX_PIPE];
    int64_t most = min_i64(max_i64(LEAST_CURVE, full_depth(s) + 2), ASYNC_MAX_PIPE);
    struct async_params a = s->params;
    size_t n = 0;

    if (!s->has_formula)
        return;
    most = max_i64(most, s->params.pipe);
    for (a.pipe = s->id == ASYNC_V2 ? 2 : 1; a.pipe <= most; a.pipe++) {
        xs[n] = a.pipe;
        async_formula(s->id, &a, &ys[n++]);
    }
    if (n < 2)
        return;
    panel_add_series(figure_add_lines(figure, "Depth of the ring", x, y), "busy", xs, ys, n);
    panel_highlight(figure->last, s->params.pipe,
                    result_text(figure->result, "pipe=%d: %s", s->params.pipe,
                                specialize_percent(figure->result, s->formula)));
}

static void add_figure(struct result *result, const struct specialization *s)
{
    struct figure *figure = figure_new(
        result, result_text(result, "%s: who works and who waits", s->program->name),
        result_text(result, "Time to the right; rows for roles, engines and slots of the ring. %s",
                    result->view.answer),
        result->view.answer);

    if (!figure)
        return;
    specialize_add_gantt(figure, s);
    add_curve(figure, s);
}

int specialize_show_one(struct result *result, const struct call *call,
                        const struct specialization *s, struct err *err)
{
    if (set_fields(result, s, err) < 0)
        return -1;
    result->view.answer = answer_text(result, s);
    result->view.origin = result_text(result, "async model, %s of %s  %s", s->program->name,
                                      occupancy_device_text(result, &s->device),
                                      call_parameters_text(call, unused_keys(call, result, s)));
    specialize_add_lines(result, s);
    specialize_add_code(result, s);
    add_roles(result, s);
    add_events(result, s);
    add_facts(result, s);
    result->view.closing = closing_text(result, s);
    add_figure(result, s);
    return 0;
}
