/*
 * One run of the core layer as a person reads it: how busy the schedulers are, who issues in each
 * of the first cycles and why the others do not, and where the warps' cycles go, in the words and
 * with the identities of Nsight Compute.
 */
#include "cells/magics/simulate_core_view.h"

#include "cells/internal.h"
#include "cells/magics/device.h"
#include "cells/render/text.h"
#include "model/base/buf.h"
#include "model/memory.h"

enum {
    SHOWN_CYCLES = 72,
    SHOWN_WARPS = 24,
    BODY_COLUMNS = 66,
    LEGEND_COLUMNS = 48,
    MOST_LEGENDS = 4,
};

/* ---- the first cycles as text ---- */

static const char *warp_line(const struct core_view *v, int warp, int cycles)
{
    struct buf out = { 0 };
    const char *text;

    buf_printf(&out, "warp %-4d", warp);
    for (int k = 0; k < cycles; k++)
        buf_putc(&out, CORE_VIEW_MARKS[v->c->record.states[warp * v->s->cycles + k]]);
    text = result_text(v->result, "%s", buf_text(&out));
    buf_done(&out);
    return text;
}

/* The marks of the states that occur, in lines of the texts. Returns how many. */
static size_t add_legend(const struct core_view *v, const bool is_used[STALL_COUNT + 1],
                         const char **texts)
{
    struct buf out = { 0 };
    size_t n = 0;

    for (int i = 0; i < STALL_COUNT; i++) {
        if (!is_used[i])
            continue;
        if (out.size > LEGEND_COLUMNS) {
            texts[n++] = result_text(v->result, "         %s", buf_text(&out));
            buf_cut(&out, 0);
        }
        buf_printf(&out, out.size ? "  %c %s" : "%c %s", CORE_VIEW_MARKS[i],
                   stall_name((enum stall)i));
    }
    texts[n++] = result_text(v->result, "         %s", buf_text(&out));
    buf_done(&out);
    return n;
}

static void add_lines(const struct core_view *v)
{
    int cycles = (int)min_i64(v->s->cycles, SHOWN_CYCLES);
    int warps = (int)min_i64(v->c->warps, SHOWN_WARPS), schedulers = v->c->config.partitions;
    bool is_used[STALL_COUNT + 1] = { false }, is_cut = warps < v->c->warps;
    const char *legends[MOST_LEGENDS];
    struct view_block *block;
    size_t n = 0, legend_count;

    core_view_find_states(v, is_used);
    legend_count = add_legend(v, is_used, legends);
    block = view_add_lines(v->result, (size_t)(1 + schedulers + warps + is_cut) + legend_count);
    if (!block)
        return;
    block->texts[n++] = simulate_ruler_line(v->result, cycles);
    for (int i = 0; i < schedulers; i++)
        block->texts[n++] = simulate_issued_line(v->result, v->s, i, cycles);
    for (int w = 0; w < warps; w++)
        block->texts[n++] = warp_line(v, w, cycles);
    if (is_cut)
        block->texts[n++] = result_text(v->result, "         %d more warps in the timeline field",
                                        v->c->warps - warps);
    for (size_t i = 0; i < legend_count; i++)
        block->texts[n++] = legends[i];
}

/* ---- the facts ---- */

static void add_stalls(const struct core_view *v)
{
    static const struct view_column columns[] = { { "a warp's cycles", VIEW_LEFT },
                                                  { "per issue", VIEW_RIGHT },
                                                  { "share", VIEW_RIGHT } };
    double all = core_view_cycles_per_issue(v);
    struct view_table *table;
    size_t n = 1, row = 0;

    for (int i = 0; i < STALL_COUNT; i++)
        n += core_view_per_issue(v, (enum stall)i) > 0;
    table = view_add_table(v->result, columns, COUNT(columns), n);
    for (int i = 0; i < STALL_COUNT; i++) {
        double share = core_view_per_issue(v, (enum stall)i);

        if (!(share > 0))
            continue;
        view_cell(table, row, 0, stall_name((enum stall)i));
        view_cell(table, row, 1, result_text(v->result, "%.2f", share));
        view_cell(table, row++, 2, simulate_percent(v->result, share / all));
    }
    view_cell(table, row, 0, "all");
    view_cell(table, row, 1, result_text(v->result, "%.2f", all));
    view_cell(table, row, 2, simulate_percent(v->result, 1));
}

static const char *units_text(const struct core_view *v)
{
    struct buf out = { 0 };
    const char *text;

    for (int u = 0; u < LAT_COUNT; u++)
        if (v->c->steady.sums.unit_busy[u] && out.size < 50)
            buf_printf(&out, out.size ? ", %s %s" : "%s %s", core_view_unit_name(u),
                       simulate_percent(v->result, core_view_unit_share(v, u)));
    text = result_text(v->result, "%s", buf_text(&out));
    buf_done(&out);
    return text;
}

static const char *memory_text(const struct core_view *v)
{
    struct buf out = { 0 };
    const char *text;

    for (int i = 0; i < CORE_PLACE_COUNT; i++)
        if (v->c->steady.sums.sectors[i])
            buf_printf(&out, "%s%s %.1f %s a cycle", out.size ? ", " : "",
                       core_place_name((enum core_place)i), core_view_place_rate(v, i),
                       i == CORE_SHARED ? "passes" : "bytes");
    text = out.size ? result_text(v->result, "%s", buf_text(&out)) : NULL;
    buf_done(&out);
    return text;
}

static const char *steady_text(const struct core_view *v)
{
    const struct core_steady *steady = &v->c->steady;
    char cycles[TEXT_NUMBER], warmup[TEXT_NUMBER];
    int starving = 0;

    for (int w = 0; w < v->c->warps; w++)
        starving += steady->warp_issued[w] == 0;
    return result_text(v->result, "%s %s cycles after %s%s",
                       steady->is_exact ? "exact: one period of" : "counted over",
                       text_number(cycles, (double)steady->cycles),
                       text_number(warmup, (double)steady->warmup),
                       starving ? result_text(v->result, "; %d warp%s", starving,
                                              starving == 1 ? " never issues" : "s never issue")
                                : "");
}

static const char *round_text(const struct core_view *v)
{
    const char *cycles =
        v->c->steady.sums.rounds
            ? result_text(v->result, "%.1f cycles", v->s->round_cycles)
            : result_text(v->result, "more than %lld cycles", (long long)v->c->steady.cycles);

    return result_text(v->result, "%lld instructions in %s, %s of the lanes busy%s",
                       (long long)v->c->body.instructions, cycles,
                       simulate_percent(v->result, core_view_lane_efficiency(v)),
                       v->c->is_cut ? "; cut" : "");
}

static const char *short_text(const struct core_view *v)
{
    const char *text = v->c->text;
    int n = (int)strlen(text);

    return n <= BODY_COLUMNS ? result_text(v->result, "%s", text)
                             : result_text(v->result, "%.*s...", BODY_COLUMNS - 3, text);
}

static void add_facts(const struct core_view *v)
{
    bool is_kernel = call_given(v->call, "kernel");
    const struct {
        const char *name, *text;
    } facts[] = {
        { is_kernel ? "kernel" : "body",
          is_kernel ? "not run: branches forward not taken, loops trips=16 or as given"
                    : short_text(v) },
        { "round", round_text(v) },
        { "eligible", result_text(v->result, "one or more %s + none %s = 100 %%; mean %.2f warps",
                                  simulate_percent(v->result, core_view_some_eligible(v)),
                                  simulate_percent(v->result, 1 - core_view_some_eligible(v)),
                                  v->s->steady.eligible) },
        { "warps", result_text(v->result, "%.2f active a scheduler / %.3f issued = %.2f cycles",
                               core_view_active_warps(v), v->s->steady.issue_utilization,
                               core_view_cycles_per_issue(v)) },
        { "units", units_text(v) },
        { "steady", steady_text(v) },
        { "memory", memory_text(v) },
        { "notice", device_costs_notice(v->result, &v->c->device.device) },
    };
    struct view_block *block;
    size_t n = 0;

    for (size_t i = 0; i < COUNT(facts); i++)
        n += facts[i].text != NULL;
    block = view_add_facts(v->result, n);
    for (size_t i = 0, k = 0; block && i < COUNT(facts); i++)
        if (facts[i].text) {
            block->names[k] = facts[i].name;
            block->texts[k++] = facts[i].text;
        }
}

/* A kernel's warps and schedulers are the device's where they are not given. */
static const char *origin_text(const struct core_view *v)
{
    const char *skip = "issue wait body mix kernel device frames seed cycles jitter";
    const char *name = v->c->device.device.name;

    if (!call_given(v->call, "kernel"))
        return result_text(v->result, "core model of %s   %s", name,
                           call_parameters_text(v->call, skip));
    return result_text(v->result, "core model of %s   %s warps=%d schedulers=%d block=%d policy=%s",
                       name, v->c->text, v->c->warps, v->c->config.partitions,
                       v->c->config.warps_per_block * WARP,
                       scheduler_policy_name(v->s->pattern.policy));
}

static const char *closing_text(const struct core_view *v)
{
    const struct device *dev = &v->c->device.device;
    int held = v->c->config.partitions * (dev->warps_per_sm / (int)max_i64(dev->partitions, 1));

    if (call_given(v->call, "body") && strlen(v->c->text) <= 30 && v->c->warps < held)
        return result_text(v->result,
                           "Next: %%simulate body=\"%s\" warps=1..%d draws how it fills.",
                           v->c->text, held);
    return "Next: policy=[gto,lrr], ilp=1..8 or device=[A100,H200] draws a curve.";
}

int simulate_show_core(struct result *result, const struct call *call,
                       const struct core_simulation *c, const struct simulation *s, struct err *err)
{
    const struct core_view v = { result, call, c, s };

    if (core_view_set_fields(&v, err) < 0)
        return -1;
    result->view.answer = simulate_answer(result, s);
    result->view.origin = origin_text(&v);
    add_lines(&v);
    add_stalls(&v);
    add_facts(&v);
    core_view_add_figure(&v);
    result->view.closing = closing_text(&v);
    return 0;
}
