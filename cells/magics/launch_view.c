/*
 * How a launch reads: what happened and how long it took, where to look, then the
 * counts in the order in which a person asks for them, and the lines of the source.
 */
#include "cells/internal.h"
#include "cells/magics/launch.h"
#include "cells/magics/occupancy.h"
#include "cells/render/text.h"

#include <math.h>
#include <stdio.h>

enum {
    MOST_LINES = 24,
    SOURCE_COLUMNS = 34,
    FEW_COLUMNS = 15,
    MOST_STALLS = 3,
    MOST_FACTS = 24,
    LANES_COLUMNS = 70
};

/* ---- numbers ---- */

static const char *count(struct result *r, int64_t v)
{
    char text[TEXT_NUMBER];

    return result_text(r, "%s", text_number(text, (double)v));
}

static const char *percent(struct result *r, double fraction)
{
    char text[TEXT_NUMBER];

    return result_text(r, "%s", text_percent(text, fraction));
}

static const char *one_decimal(struct result *r, double v)
{
    return result_text(r, "%.1f", v);
}

/* Powers of ten, as bandwidth counts: 4.19 MB. */
static const char *bytes(struct result *r, int64_t v)
{
    static const struct {
        double unit;
        const char *name;
    } UNITS[] = { { 1e12, "TB" }, { 1e9, "GB" }, { 1e6, "MB" }, { 1e3, "KB" } };

    for (size_t i = 0; i < COUNT(UNITS); i++)
        if ((double)v >= UNITS[i].unit)
            return result_text(r, "%.3g %s", (double)v / UNITS[i].unit, UNITS[i].name);
    return result_text(r, "%lld B", (long long)v);
}

static const char *time_text(struct result *r, double us)
{
    if (us >= 1e6)
        return result_text(r, "%.3g s", us / 1e6);
    if (us >= 1e4)
        return result_text(r, "%.4g ms", us / 1e3);
    return us >= 100 ? result_text(r, "%.0f us", us) : result_text(r, "%.1f us", us);
}

static const char *plural(int64_t n)
{
    return n == 1 ? "" : "s";
}

/* ---- the first lines ---- */

static const char *warning_words(struct result *r, const struct launch_point *p)
{
    size_t n = p->outcome.facts.warning_count;

    if (!p->outcome.has_facts)
        return "no fault reported";
    if (n)
        return result_text(r, "no fault, but %zu warning%s", n, plural((int64_t)n));
    return p->plan.checks ? "no fault found" : "nothing was checked";
}

static const char *answer(struct result *r, const struct launch_point *p)
{
    struct launch_time measured = launch_measured(p), t = launch_modelled(p);
    const char *name = text_show(r->arena, bytes_of(p->plan.kernel), 40);
    double ghz = 0;

    if (p->plan.sample_blocks > 0 && p->outcome.has_facts)
        return result_text(r, "%s: %s of %s blocks ran for their counts; no buffer was changed.",
                           name, count(r, min_i64(p->plan.sample_blocks, p->plan.blocks)),
                           count(r, p->plan.blocks));
    if (measured.is_known)
        return result_text(r, "%s ran: %s measured, %s.", name, time_text(r, measured.us),
                           warning_words(r, p));
    if (!t.is_known)
        return result_text(r, "%s ran: %s warp instructions, %s.", name,
                           count(r, p->outcome.facts.warp_instructions), warning_words(r, p));
    ghz = p->plan.device.device.clock_mhz / 1000.0;
    if (ghz > 0)
        return result_text(r, "%s ran: %s cycles = %s at %.4g GHz (model), %s.", name,
                           count(r, (int64_t)t.cycles), time_text(r, t.us), ghz,
                           warning_words(r, p));
    return result_text(r, "%s ran: %s cycles (model), %s.", name, count(r, (int64_t)t.cycles),
                       warning_words(r, p));
}

const char *launch_origin(struct result *r, struct call *call, const struct launch_point *p)
{
    struct buf out = { 0 };
    const char *text;

    buf_printf(&out, "%s   <<<", occupancy_device_text(r, &p->plan.device));
    launch_put_dim(&out, &p->plan.grid, true);
    buf_puts(&out, ", ");
    launch_put_dim(&out, &p->plan.block, true);
    if (p->plan.dynamic_bytes)
        buf_printf(&out, ", %lld", (long long)p->plan.dynamic_bytes);
    buf_printf(&out, ">>>   build=%s", p->plan.is_debug ? "debug" : "opt");
    if (p->plan.is_stack)
        buf_puts(&out, " its=off");
    if (p->plan.is_cooperative)
        buf_puts(&out, " cooperative=yes");
    if (!p->plan.device.is_gpu && (p->plan.checks & PTX_CHECK_GLOBAL_RACES))
        buf_puts(&out, " races=all");
    if (call->target)
        buf_printf(&out, "   -> %s", call->target);
    text = result_text(r, "%s", buf_text(&out));
    buf_done(&out);
    return text;
}

/* ---- the rows ---- */

struct rows {
    const char *names[MOST_FACTS], *texts[MOST_FACTS];
    size_t count;
};

static void add(struct rows *rows, const char *name, const char *text)
{
    if (rows->count == MOST_FACTS)
        return;
    rows->names[rows->count] = name;
    rows->texts[rows->count++] = text;
}

static void add_work(struct rows *rows, struct result *r, const struct launch_point *p)
{
    int64_t warps = p->plan.blocks * ceil_div(p->plan.threads, WARP);
    double waves = launch_waves(p);
    const char *base = result_text(r, "%s thread%s, %s warp%s, %s block%s",
                                   count(r, p->plan.blocks * p->plan.threads),
                                   plural(p->plan.blocks * p->plan.threads), count(r, warps),
                                   plural(warps), count(r, p->plan.blocks), plural(p->plan.blocks));

    if (waves > 0)
        base =
            result_text(r, waves < 0.95 ? "%s, %.2g waves on %d SMs" : "%s, %.1f waves on %d SMs",
                        base, waves, p->plan.device.device.sms);
    add(rows, "work", base);
}

static void add_lanes(struct rows *rows, struct result *r, const struct launch_point *p)
{
    const struct launch_outcome *o = &p->outcome;
    const char *text =
        result_text(r, "%s busy   branches %s divergent of %s (%s)",
                    percent(r, o->facts.lane_efficiency), count(r, o->facts.divergent_branches),
                    count(r, o->facts.branches), p->plan.is_debug ? "as written" : "opt");
    const char *both;

    if (!o->has_written) {
        add(rows, "lanes", text);
        return;
    }
    both = result_text(r, "%s | %s of %s (as written)", text,
                       count(r, o->written.divergent_branches), count(r, o->written.branches));
    if (both && !o->written.is_sampled && strlen(both) <= LANES_COLUMNS) {
        add(rows, "lanes", both);
        return;
    }
    add(rows, "lanes", text);
    add(rows, "written",
        result_text(r, "%s divergent of %s%s", count(r, o->written.divergent_branches),
                    count(r, o->written.branches),
                    o->written.is_sampled ? ", scaled from a sample of the blocks" : ""));
}

static const char *access_text(struct result *r, const char *verb, const struct ptx_access_facts *a)
{
    double sectors = launch_per_request(a, a->sectors), best = launch_per_request(a, a->bytes) / 32;

    best = best < 1 ? 1 : best;
    return result_text(r, "%s   %s sectors a request (best %s)    %s    %s a warp", verb,
                       one_decimal(r, sectors), one_decimal(r, best < sectors ? best : sectors),
                       bytes(r, a->bytes), bytes(r, (int64_t)launch_per_request(a, a->bytes)));
}

static void add_memory(struct rows *rows, struct result *r, const struct ptx_facts *f)
{
    const char *name = "global";

    if (f->global_load.requests) {
        add(rows, name, access_text(r, "load ", &f->global_load));
        name = "";
    }
    if (f->global_store.requests)
        add(rows, name, access_text(r, "store", &f->global_store));
    if (f->shared.requests)
        add(rows, "shared",
            result_text(r, "%s request%s, %s passes (best %s): %s conflicts",
                        count(r, f->shared.requests), plural(f->shared.requests),
                        count(r, f->shared.passes),
                        count(r, f->shared.passes - f->shared_conflicts),
                        f->shared_conflicts ? count(r, f->shared_conflicts) : "no"));
    if (f->local.requests)
        add(rows, "local",
            result_text(r, "%s request%s: arrays or spills in local memory, %s",
                        count(r, f->local.requests), plural(f->local.requests),
                        bytes(r, f->local.bytes)));
}

static void add_ops(struct rows *rows, struct result *r, const struct ptx_facts *f)
{
    const struct {
        const char *name;
        int64_t n;
    } ops[] = { { "barrier", f->barriers },
                { "shuffle", f->shfl },
                { "vote", f->vote },
                { "atomic", f->atom } };
    struct buf out = { 0 };

    for (size_t i = 0; i < COUNT(ops); i++)
        if (ops[i].n)
            buf_printf(&out, "%s%s %s%s", out.size ? ", " : "", count(r, ops[i].n), ops[i].name,
                       plural(ops[i].n));
    if (out.size)
        add(rows, "ops", result_text(r, "%s, by warp", buf_text(&out)));
    buf_done(&out);
}

static void add_occupancy(struct rows *rows, struct result *r, const struct launch_point *p)
{
    const struct occupancy *occ = &p->plan.occupancy;
    const char *text = result_text(r, "%s theoretical (%d block%s, limit: %s)",
                                   percent(r, occ->occupancy), occ->active_blocks,
                                   plural(occ->active_blocks), occupancy_limiters_text(r, occ));

    if (p->outcome.blocks_per_sm > 0)
        text = result_text(r, "%s; driver: %d", text, p->outcome.blocks_per_sm);
    if (p->outcome.has_facts && p->outcome.facts.timing.cycles > 0)
        text = result_text(r, "%s    %s achieved", text,
                           percent(r, p->outcome.facts.timing.achieved_occupancy));
    add(rows, "occupancy", text);
}

/* What a card's launch is made of; the interpreter's counts say more. */
static void add_code(struct rows *rows, struct result *r, const struct launch_point *p)
{
    const struct cuda_kernel *k = &p->plan.image.resources;
    int spills = k->spill_store_bytes + k->spill_load_bytes;

    add(rows, "code",
        result_text(r, "%d registers a thread, %s; shared %s static + %s dynamic bytes",
                    k->registers,
                    spills ? result_text(r, "%s bytes of spills", count(r, spills)) : "no spills",
                    count(r, k->static_bytes), count(r, p->plan.dynamic_bytes)));
}

/* The largest stalls; selected and not selected are no stalls. */
static void add_issue(struct rows *rows, struct result *r, const struct ptx_timing *t)
{
    struct buf out = { 0 };
    bool is_used[STALL_COUNT] = { false };

    buf_printf(&out, "%s busy", percent(r, t->issue_utilization));
    for (int n = 0; n < MOST_STALLS; n++) {
        int best = -1;

        for (int i = STALL_not_selected + 1; i < STALL_COUNT; i++)
            if (!is_used[i] && t->stalls[i] >= 0.005 &&
                (best < 0 || t->stalls[i] > t->stalls[best]))
                best = i;
        if (best < 0)
            break;
        is_used[best] = true;
        buf_printf(&out, "%s%s %.0f %%", n ? ", " : "   stalls: ", stall_name((enum stall)best),
                   100 * t->stalls[best]);
    }
    add(rows, "issue", result_text(r, "%s", buf_text(&out)));
    buf_done(&out);
}

static void add_warnings(struct rows *rows, struct result *r, const struct ptx_facts *f)
{
    for (size_t i = 0; i < f->warning_count; i++) {
        const struct ptx_warning *w = &f->warnings[i];

        add(rows, "warning",
            w->file && *w->file && w->line > 0 && !strstr(w->text, w->file)
                ? result_text(r, "%s line %d: %s", w->file, w->line, w->text)
                : w->text);
    }
}

static int add_rows(struct result *result, const struct launch_point *p, struct err *err)
{
    struct rows rows = { .count = 0 };
    struct view_block *block;
    const struct launch_outcome *o = &p->outcome;

    add_work(&rows, result, p);
    if (!o->has_facts)
        add_code(&rows, result, p);
    if (o->has_facts) {
        add_lanes(&rows, result, p);
        add_memory(&rows, result, &o->facts);
        add_ops(&rows, result, &o->facts);
    }
    add_occupancy(&rows, result, p);
    if (o->has_facts && o->facts.timing.cycles > 0)
        add_issue(&rows, result, &o->facts.timing);
    if (o->has_facts)
        add_warnings(&rows, result, &o->facts);
    block = view_add_facts(result, rows.count);
    if (!block)
        return err_set(err, ERR_ResourceError, "out of memory");
    for (size_t i = 0; i < rows.count; i++) {
        block->names[i] = rows.names[i];
        block->texts[i] = rows.texts[i] ? rows.texts[i] : "";
    }
    return 0;
}

/* ---- the lines ---- */

/* How many warp instructions a line needs to be among the `most` busiest. */
static int64_t least_shown(const struct ptx_facts *f, size_t most)
{
    int64_t least = 1;

    for (;;) {
        size_t n = 0;
        int64_t next = INT64_MAX;

        for (size_t i = 0; i < f->line_count; i++) {
            int64_t w = f->lines[i].warp_instructions;

            if (f->lines[i].line <= 0 || w < least)
                continue;
            n++;
            next = min_i64(next, w);
        }
        if (n <= most)
            return least;
        least = next + 1;
    }
}

/* A header's name without its folders. */
static const char *short_file(const char *file)
{
    const char *slash = strrchr(file, '/');

    return slash ? slash + 1 : file;
}

static bool has_one_file(const struct ptx_facts *f)
{
    for (size_t i = 0; i < f->line_count; i++)
        if (f->lines[i].line > 0 && strncmp(f->lines[i].file, "In[", 3) == 0 &&
            strcmp(f->lines[i].file, f->lines[f->line_count - 1].file) != 0)
            return false;
    return true;
}

static void put_line(struct result *r, struct call *call, const struct ptx_line_facts *l,
                     bool is_plain, struct view_table *table, size_t row)
{
    struct bytes text = { "", 0 };
    bool is_known = launch_line_text(call, l, &text);

    view_cell(table, row, 0,
              is_plain && is_known ? result_text(r, "%d", l->line)
                                   : result_text(r, "%.24s %d", short_file(l->file), l->line));
    view_cell(table, row, 1, text_show(r->arena, text, is_plain ? SOURCE_COLUMNS : FEW_COLUMNS));
    view_cell(table, row, 2, count(r, l->warp_instructions));
    view_cell(table, row, 3, percent(r, floor(launch_line_lanes(l) * 100 + 0.5) / 100));
    if (l->global.requests)
        view_cell(table, row, 4, one_decimal(r, launch_per_request(&l->global, l->global.sectors)));
    if (l->shared.requests)
        view_cell(table, row, 5,
                  result_text(r, "%.3g", launch_per_request(&l->shared, l->shared.passes)));
}

/* A table of lines with their source, the busiest `most` of them in order. */
static void launch_add_lines(struct result *result, struct call *call,
                             const struct ptx_facts *facts, size_t marked, size_t most)
{
    static const struct view_column COLUMNS[] = {
        { "line", VIEW_RIGHT },  { "source", VIEW_LEFT },   { "warp instr", VIEW_RIGHT },
        { "lanes", VIEW_RIGHT }, { "sectors", VIEW_RIGHT }, { "passes", VIEW_RIGHT },
    };
    int64_t least = least_shown(facts, most);
    struct view_table *table;
    size_t rows = 0;

    for (size_t i = 0; i < facts->line_count; i++)
        rows += facts->lines[i].line > 0 && facts->lines[i].warp_instructions >= least;
    table = rows ? view_add_table(result, COLUMNS, COUNT(COLUMNS), rows) : NULL;
    if (!table)
        return;
    rows = 0;
    for (size_t i = 0; i < facts->line_count; i++) {
        if (facts->lines[i].line <= 0 || facts->lines[i].warp_instructions < least)
            continue;
        put_line(result, call, &facts->lines[i], has_one_file(facts), table, rows);
        if (i == marked)
            view_mark(table, rows);
        rows++;
    }
}

int launch_view(struct result *result, struct call *call, const struct launch_point *point,
                struct err *err)
{
    struct launch_hint hint = launch_find_hint(result, point);
    const char *origin = launch_origin(result, call, point);

    result->view.answer = answer(result, point);
    result->view.origin = hint.text ? result_text(result, "%s\n%s", origin, hint.text) : origin;
    if (!result->view.answer || !result->view.origin)
        return err_set(err, ERR_ResourceError, "out of memory");
    if (add_rows(result, point, err) < 0)
        return -1;
    if (point->outcome.has_facts)
        launch_add_lines(result, call, &point->outcome.facts, hint.line, MOST_LINES);
    return 0;
}
