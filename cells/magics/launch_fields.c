/*
 * The fields of a launch: what expressions, grading and logs read. What a device does
 * not count is null, never 0.
 */
#include "cells/internal.h"
#include "cells/magics/launch.h"
#include "cells/magics/occupancy.h"

#include <stdio.h>

/* Collects what could not be added; one check in the end. */
struct fields {
    json_t *object;
    int failed;
};

static void set(struct fields *f, const char *name, json_t *value)
{
    f->failed |= !value || json_object_set_new(f->object, name, value) < 0;
}

static void set_int(struct fields *f, const char *name, int64_t v)
{
    set(f, name, json_integer(v));
}

/* The number, or null where nobody counted. */
static void set_count(struct fields *f, const char *name, bool is_known, int64_t v)
{
    set(f, name, is_known ? json_integer(v) : json_null());
}

static void set_real(struct fields *f, const char *name, bool is_known, double v)
{
    set(f, name, is_known ? json_number(v) : json_null());
}

double launch_per_request(const struct ptx_access_facts *a, int64_t of)
{
    return a->requests ? (double)of / (double)a->requests : 0;
}

static json_t *access_json(const struct ptx_access_facts *a)
{
    struct fields f = { json_object(), 0 };

    set_int(&f, "requests", a->requests);
    set_int(&f, "sectors", a->sectors);
    set_real(&f, "sectors_per_request", a->requests > 0, launch_per_request(a, a->sectors));
    set_int(&f, "bytes", a->bytes);
    return json_whole(f.object, f.failed);
}

static json_t *shared_json(const struct ptx_facts *facts)
{
    struct fields f = { json_object(), 0 };

    set_int(&f, "requests", facts->shared.requests);
    set_int(&f, "passes", facts->shared.passes);
    set_int(&f, "conflicts", facts->shared_conflicts);
    set_int(&f, "bytes", facts->shared.bytes);
    return json_whole(f.object, f.failed);
}

static json_t *global_json(const struct ptx_facts *facts)
{
    struct fields f = { json_object(), 0 };

    set(&f, "load", access_json(&facts->global_load));
    set(&f, "store", access_json(&facts->global_store));
    return json_whole(f.object, f.failed);
}

static json_t *ops_json(const struct ptx_facts *facts)
{
    struct fields f = { json_object(), 0 };

    set_int(&f, "shfl", facts->shfl);
    set_int(&f, "vote", facts->vote);
    set_int(&f, "atom", facts->atom);
    set_int(&f, "calls", facts->calls);
    return json_whole(f.object, f.failed);
}

static json_t *stalls_json(const struct ptx_timing *timing)
{
    struct fields f = { json_object(), 0 };

    for (int i = 0; i < STALL_COUNT; i++) {
        char name[40];
        const char *text = stall_name((enum stall)i);
        size_t n = 0;

        for (; text[n] && n + 1 < sizeof(name); n++)
            name[n] = text[n] == ' '                     ? '_'
                      : text[n] >= 'A' && text[n] <= 'Z' ? (char)(text[n] | 32)
                                                         : text[n];
        name[n] = '\0';
        set_real(&f, name, true, timing->stalls[i]);
    }
    return json_whole(f.object, f.failed);
}

static json_t *dim_json(const struct ptx_dim *d)
{
    return json_pack("[I,I,I]", (json_int_t)d->x, (json_int_t)d->y, (json_int_t)d->z);
}

/* ---- lines ---- */

static json_t *line_json(struct call *call, const struct ptx_line_facts *l)
{
    struct fields f = { json_object(), 0 };
    struct bytes text = { "", 0 };
    bool is_shared = l->shared.requests > 0, is_global = l->global.requests > 0;

    launch_line_text(call, l, &text);
    set(&f, "file", json_string(l->file));
    set_int(&f, "line", l->line);
    set(&f, "text", json_stringn(text.data, text.size));
    set_int(&f, "warp_instructions", l->warp_instructions);
    set_int(&f, "thread_instructions", l->thread_instructions);
    set_real(&f, "lane_efficiency", l->warp_instructions > 0, launch_line_lanes(l));
    set_int(&f, "branches", l->branches);
    set_int(&f, "divergent_branches", l->divergent_branches);
    set_real(&f, "sectors", is_global, launch_per_request(&l->global, l->global.sectors));
    set_real(&f, "passes", is_shared, launch_per_request(&l->shared, l->shared.passes));
    set(&f, "global", access_json(&l->global));
    set(&f, "shared",
        json_pack("{s:I,s:I,s:I}", "requests", (json_int_t)l->shared.requests, "passes",
                  (json_int_t)l->shared.passes, "bytes", (json_int_t)l->shared.bytes));
    return json_whole(f.object, f.failed);
}

static json_t *lines_json(struct call *call, const struct ptx_facts *facts)
{
    json_t *list = json_array();
    int failed = 0;

    for (size_t i = 0; i < facts->line_count; i++)
        if (facts->lines[i].line > 0)
            failed |= json_array_append_new(list, line_json(call, &facts->lines[i]));
    return json_whole(list, failed);
}

static json_t *warnings_json(const struct ptx_facts *facts)
{
    json_t *list = json_array();
    int failed = 0;

    for (size_t i = 0; i < facts->warning_count; i++) {
        const struct ptx_warning *w = &facts->warnings[i];

        failed |= json_array_append_new(list, json_pack("{s:s,s:s,s:i,s:I}", "text",
                                                        w->text ? w->text : "", "file",
                                                        w->file ? w->file : "", "line", w->line,
                                                        "count", (json_int_t)w->count));
    }
    return json_whole(list, failed);
}

/* ---- the launch ---- */

static json_t *time_json(bool is_known, double us, double cycles)
{
    struct fields f = { NULL, 0 };

    if (!is_known)
        return json_null();
    f.object = json_object();
    set_real(&f, "time_us", true, us);
    if (cycles > 0)
        set_int(&f, "cycles", (int64_t)(cycles + 0.5));
    else
        set(&f, "cycles", json_null());
    return json_whole(f.object, f.failed);
}

static void set_times(struct fields *f, const struct launch_point *p)
{
    struct launch_time measured = launch_measured(p), modelled = launch_modelled(p);
    struct launch_time best = measured.is_known ? measured : modelled;

    set_real(f, "time_us", best.is_known, best.us);
    set_count(f, "cycles", best.is_known && best.cycles > 0, (int64_t)(best.cycles + 0.5));
    set(f, "measured", time_json(measured.is_known, measured.us, measured.cycles));
    set(f, "modelled", time_json(modelled.is_known, modelled.us, modelled.cycles));
}

static json_t *written_json(const struct launch_point *p)
{
    const struct launch_outcome *o = &p->outcome;
    const struct ptx_facts *w = p->plan.is_debug ? &o->facts : &o->written;
    struct fields f = { NULL, 0 };

    if (!(p->plan.is_debug ? o->has_facts : o->has_written))
        return json_null();
    f.object = json_object();
    set_int(&f, "branches", w->branches);
    set_int(&f, "divergent_branches", w->divergent_branches);
    set_real(&f, "lane_efficiency", true, w->lane_efficiency);
    set(&f, "is_sampled", json_boolean(w->is_sampled));
    return json_whole(f.object, f.failed);
}

static json_t *occupancy_json(const struct launch_point *p)
{
    const struct launch_outcome *o = &p->outcome;
    const struct occupancy *occ = &p->plan.occupancy;
    struct fields f = { json_object(), 0 };
    bool is_timed = o->has_facts && o->facts.timing.cycles > 0;

    set_real(&f, "theoretical", true, occ->occupancy);
    set_real(&f, "achieved", is_timed, o->facts.timing.achieved_occupancy);
    set_int(&f, "active_blocks", occ->active_blocks);
    set_count(&f, "driver_blocks", o->blocks_per_sm > 0, o->blocks_per_sm);
    set(&f, "limiters", occupancy_limiters_json(occ));
    return json_whole(f.object, f.failed);
}

static void set_counts(struct fields *f, const struct launch_point *p)
{
    const struct launch_outcome *o = &p->outcome;
    const struct ptx_facts *c = &o->facts;
    bool has = o->has_facts;

    set_count(f, "thread_instructions", has, c->thread_instructions);
    set_count(f, "warp_instructions", has, c->warp_instructions);
    set_real(f, "lane_efficiency", has, c->lane_efficiency);
    set_count(f, "branches", has, c->branches);
    set_count(f, "divergent_branches", has, c->divergent_branches);
    set(f, "as_written", written_json(p));
    set(f, "global", has ? global_json(c) : json_null());
    set(f, "shared", has ? shared_json(c) : json_null());
    set(f, "local", has ? access_json(&c->local) : json_null());
    set_count(f, "barriers", has, c->barriers);
    set(f, "ops", has ? ops_json(c) : json_null());
}

static void set_model(struct fields *f, struct call *call, const struct launch_point *p)
{
    const struct launch_outcome *o = &p->outcome;
    const struct ptx_timing *t = &o->facts.timing;
    bool is_timed = o->has_facts && t->cycles > 0;

    set(f, "occupancy", occupancy_json(p));
    set_real(f, "issue_utilization", is_timed, t->issue_utilization);
    set(f, "stalls", is_timed ? stalls_json(t) : json_null());
    set_count(f, "registers", p->plan.image.resources.registers > 0,
              p->plan.image.resources.registers);
    set_int(f, "spills",
            p->plan.image.resources.spill_store_bytes + p->plan.image.resources.spill_load_bytes);
    set_int(f, "static_bytes", p->plan.image.resources.static_bytes);
    set_int(f, "dynamic_bytes", p->plan.dynamic_bytes);
    set_real(f, "waves", launch_waves(p) > 0, launch_waves(p));
    set(f, "is_sampled", json_boolean(o->has_facts && o->facts.is_sampled));
    set(f, "warnings", o->has_facts ? warnings_json(&o->facts) : json_null());
    set(f, "lines", o->has_facts ? lines_json(call, &o->facts) : json_null());
}

json_t *launch_fields(struct call *call, const struct launch_point *p)
{
    struct fields f = { json_object(), 0 };

    set(&f, "kernel", json_string(p->plan.kernel));
    set(&f, "launch", json_string(p->plan.text));
    set_times(&f, p);
    set_int(&f, "blocks", p->plan.blocks);
    set_int(&f, "threads", p->plan.blocks * p->plan.threads);
    set_int(&f, "warps", p->plan.blocks * ceil_div(p->plan.threads, WARP));
    set_counts(&f, p);
    set_model(&f, call, p);
    return json_whole(f.object, f.failed);
}

json_t *launch_input(struct call *call, const struct launch_point *p)
{
    struct fields f = { json_object(), 0 };
    json_t *args = json_array();

    (void)call;
    set(&f, "grid", dim_json(&p->plan.grid));
    set(&f, "block", dim_json(&p->plan.block));
    set_int(&f, "dynamic", p->plan.dynamic_bytes);
    for (size_t i = 0; i < p->plan.value_count; i++)
        f.failed |= json_array_append_new(args, json_string(p->plan.values[i].text));
    set(&f, "args", args);
    return json_whole(f.object, f.failed);
}
