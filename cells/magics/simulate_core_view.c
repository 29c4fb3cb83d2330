/*
 * One run of the core layer as a person reads it: how busy the schedulers are, who issues in each
 * of the first cycles and why the others do not, and where the warps' cycles go, in the words and
 * with the identities of Nsight Compute.
 */
#include "cells/magics/simulate.h"

#include "cells/internal.h"
#include "cells/magics/device.h"
#include "cells/render/text.h"
#include "model/base/buf.h"
#include "model/memory.h"

enum {
    SHOWN_CYCLES = 72,
    SHOWN_WARPS = 24,
    CHART_CYCLES = 200,
    CHART_ROWS = 64,
    BODY_COLUMNS = 66,
    LEGEND_COLUMNS = 48,
    MOST_LEGENDS = 4,
};

static const char STATE_MARKS[] = {
    [STALL_selected] = '#',
    [STALL_not_selected] = '.',
    [STALL_wait] = '-',
    [STALL_long_scoreboard] = 'L',
    [STALL_short_scoreboard] = 'S',
    [STALL_math_pipe] = 'P',
    [STALL_lg_throttle] = 'G',
    [STALL_mio_throttle] = 'M',
    [STALL_barrier] = 'B',
    [STALL_branch] = 'R',
    [STALL_drain] = 'D',
    [CORE_NO_WARP] = ' ',
};

/* What a run of the core layer is read for. */
struct core_view {
    struct result *result;
    const struct call *call;
    const struct core_simulation *c;
    const struct simulation *s;
};

/* Cycles of warps in a state, for each instruction that issues. */
static double per_issue(const struct core_view *v, enum stall stall)
{
    const struct core_totals *sums = &v->c->steady.sums;

    return sums->issued ? (double)sums->stalls[stall] / (double)sums->issued : 0;
}

static double active_warps(const struct core_view *v)
{
    double sum = 0;

    for (int i = 0; i < STALL_COUNT; i++)
        sum += (double)v->c->steady.sums.stalls[i];
    return sum / ((double)v->c->steady.cycles * v->c->config.partitions);
}

/* Some warp is eligible in a cycle in which a scheduler issues, or changes the warp. */
static double some_eligible(const struct core_view *v)
{
    const struct core_totals *sums = &v->c->steady.sums;

    return (double)(sums->issued + sums->switching) /
           ((double)v->c->steady.cycles * v->c->config.partitions);
}

static double cycles_per_issue(const struct core_view *v)
{
    double sum = 0;

    for (int i = 0; i < STALL_COUNT; i++)
        sum += per_issue(v, (enum stall)i);
    return sum;
}

static json_t *round_cycles_json(const struct core_view *v)
{
    return v->s->round_cycles > 0 ? json_real(v->s->round_cycles) : json_null();
}

static double lane_efficiency(const struct core_view *v)
{
    const struct body *body = &v->c->body;

    return body->instructions ? (double)body->lanes / ((double)body->instructions * WARP) : 0;
}

static double unit_share(const struct core_view *v, int unit)
{
    return (double)v->c->steady.sums.unit_busy[unit] /
           ((double)v->c->steady.cycles * v->c->config.partitions);
}

/* ---- fields ---- */

/* "long scoreboard" as a key: long_scoreboard. */
static void put_key(char *key, const char *name)
{
    for (; *name; name++)
        *key++ = *name == ' ' ? '_' : (char)(*name >= 'A' && *name <= 'Z' ? *name | 32 : *name);
    *key = '\0';
}

static json_t *stalls_json(const struct core_view *v)
{
    json_t *object = json_object();
    int failed = 0;

    for (int i = 0; i < STALL_COUNT; i++) {
        char key[40];

        put_key(key, stall_name((enum stall)i));
        failed |= json_object_set_new(object, key, json_real(per_issue(v, (enum stall)i)));
    }
    return json_whole(object, failed);
}

static const char *unit_name(int unit)
{
    static const char *const NAMES[LAT_COUNT] = {
        [LAT_FREE] = "none",
        [LAT_ALU] = "int",
        [LAT_IMUL] = "imul",
        [LAT_FMA] = "fp32",
        [LAT_HALF] = "fp16",
        [LAT_F64] = "fp64",
        [LAT_SFU] = "sfu",
        [LAT_DIVIDE] = "divide",
        [LAT_DIVIDE64] = "divide64",
        [LAT_SHFL] = "shuffle",
        [LAT_SHARED] = "shared",
        [LAT_GLOBAL] = "global",
        [LAT_ATOM] = "atomic",
        [LAT_BARRIER] = "barrier",
        [LAT_BRANCH] = "branch",
        [LAT_MMA] = "mma",
        [LAT_MMA_SHORT] = "mma_short",
        [LAT_MMA_F64] = "mma_fp64",
        [LAT_DIVIDE_CONSTANT] = "divide_constant",
    };

    return NAMES[unit];
}

static json_t *units_json(const struct core_view *v)
{
    json_t *object = json_object();
    int failed = 0;

    for (int u = 0; u < LAT_COUNT; u++)
        if (v->c->steady.sums.unit_busy[u])
            failed |= json_object_set_new(object, unit_name(u), json_real(unit_share(v, u)));
    return json_whole(object, failed);
}

/* Bytes a cycle, passes a cycle for shared memory. */
static double place_rate(const struct core_view *v, int place)
{
    double n = (double)v->c->steady.sums.sectors[place] / (double)v->c->steady.cycles;

    return place == CORE_SHARED ? n : n * SECTOR_BYTES;
}

static json_t *memory_json(const struct core_view *v)
{
    static const char *const KEYS[] = { "shared_passes", "l1_bytes", "l2_bytes", "far_bytes",
                                        "dram_bytes" };
    json_t *object = json_object();
    int failed = 0;

    for (int i = 0; i < CORE_PLACE_COUNT; i++)
        failed |= json_object_set_new(object, KEYS[i], json_real(place_rate(v, i)));
    return json_whole(object, failed);
}

static json_t *timeline_json(const struct core_view *v)
{
    json_t *issuer = json_array(), *states = json_array();
    size_t cycles = (size_t)v->s->cycles;
    char *text = arena_array(v->result->arena, cycles + 1, 1);
    int failed = text == NULL;

    for (int i = 0; i < v->c->config.partitions; i++) {
        json_t *row = json_array();

        for (size_t k = 0; k < cycles; k++)
            failed |= json_array_append_new(
                row, json_integer(max_i64(v->c->record.issuer[(size_t)i * cycles + k], -1)));
        failed |= json_array_append_new(issuer, row);
    }
    for (int w = 0; text && w < v->c->warps; w++) {
        for (size_t k = 0; k < cycles; k++)
            text[k] = STATE_MARKS[v->c->record.states[(size_t)w * cycles + k]];
        failed |= json_array_append_new(states, json_string(text));
    }
    return json_pack("{s:i, s:o, s:o}", "cycles", v->s->cycles, "issuer", issuer, "states",
                     json_whole(states, failed));
}

static json_t *per_warp_json(const struct core_view *v)
{
    json_t *list = json_array();
    int failed = 0;

    for (int w = 0; w < v->c->warps; w++)
        failed |=
            json_array_append_new(list,
                                  json_pack("{s:I, s:I, s:b}", "issued",
                                            (json_int_t)v->s->timeline.warp_issued[w], "per_period",
                                            (json_int_t)v->c->steady.warp_issued[w], "starved",
                                            v->c->steady.warp_issued[w] == 0));
    return json_whole(list, failed);
}

static json_t *scheduler_json(const struct core_view *v)
{
    const struct steady *steady = &v->s->steady;

    return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f}", "one_or_more_eligible", some_eligible(v),
                     "no_eligible", 1 - some_eligible(v), "issued_per_scheduler",
                     steady->issue_utilization, "active_warps", active_warps(v), "eligible_warps",
                     steady->eligible, "warp_cycles_per_issued", cycles_per_issue(v));
}

static int set_fields(const struct core_view *v, struct err *err)
{
    const struct steady *steady = &v->s->steady;
    json_t *fields = json_pack(
        "{s:s, s:f, s:o, s:I, s:I, s:{s:f, s:f, s:f, s:f}, s:o, s:o, s:o, s:o, s:I, s:o, s:f, "
        "s:f, s:o, s:o}",
        "layer", "core", "issue_utilization", steady->issue_utilization, "period",
        steady->period ? json_integer(steady->period) : json_null(), "warmup",
        (json_int_t)steady->warmup, "issued", (json_int_t)v->s->timeline.issued, "warp_states",
        "selected", steady->selected, "not_selected", steady->not_selected, "stalled",
        steady->stalled, "eligible", steady->eligible, "scheduler", scheduler_json(v),
        "stalls_per_issue", stalls_json(v), "units", units_json(v), "memory", memory_json(v),
        "round_instructions", (json_int_t)v->c->body.instructions, "round_cycles",
        round_cycles_json(v), "lane_efficiency", lane_efficiency(v), "ipc",
        steady->issue_utilization * v->c->config.partitions, "per_warp", per_warp_json(v),
        "timeline", timeline_json(v));
    int rc = fields ? json_object_update(v->result->fields, fields) : -1;

    json_decref(fields);
    return rc < 0 ? err_set(err, ERR_ResourceError, "out of memory") : 0;
}

/* ---- the first cycles as text ---- */

static const char *warp_line(const struct core_view *v, int warp, int cycles)
{
    struct buf out = { 0 };
    const char *text;

    buf_printf(&out, "warp %-4d", warp);
    for (int k = 0; k < cycles; k++)
        buf_putc(&out, STATE_MARKS[v->c->record.states[warp * v->s->cycles + k]]);
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
        buf_printf(&out, out.size ? "  %c %s" : "%c %s", STATE_MARKS[i], stall_name((enum stall)i));
    }
    texts[n++] = result_text(v->result, "         %s", buf_text(&out));
    buf_done(&out);
    return n;
}

static void find_used(const struct core_view *v, bool is_used[STALL_COUNT + 1])
{
    for (size_t i = 0; i < (size_t)v->c->warps * (size_t)v->s->cycles; i++)
        is_used[v->c->record.states[i]] = true;
}

static void add_lines(const struct core_view *v)
{
    int cycles = (int)min_i64(v->s->cycles, SHOWN_CYCLES);
    int warps = (int)min_i64(v->c->warps, SHOWN_WARPS), schedulers = v->c->config.partitions;
    bool is_used[STALL_COUNT + 1] = { false }, is_cut = warps < v->c->warps;
    const char *legends[MOST_LEGENDS];
    struct view_block *block;
    size_t n = 0, legend_count;

    find_used(v, is_used);
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
    double all = cycles_per_issue(v);
    struct view_table *table;
    size_t n = 1, row = 0;

    for (int i = 0; i < STALL_COUNT; i++)
        n += per_issue(v, (enum stall)i) > 0;
    table = view_add_table(v->result, columns, COUNT(columns), n);
    for (int i = 0; i < STALL_COUNT; i++) {
        double share = per_issue(v, (enum stall)i);

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
            buf_printf(&out, out.size ? ", %s %s" : "%s %s", unit_name(u),
                       simulate_percent(v->result, unit_share(v, u)));
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
                       core_place_name((enum core_place)i), place_rate(v, i),
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
                       simulate_percent(v->result, lane_efficiency(v)),
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
        { "eligible",
          result_text(v->result, "one or more %s + none %s = 100 %%; mean %.2f warps",
                      simulate_percent(v->result, some_eligible(v)),
                      simulate_percent(v->result, 1 - some_eligible(v)), v->s->steady.eligible) },
        { "warps",
          result_text(v->result, "%.2f active a scheduler / %.3f issued = %.2f cycles",
                      active_warps(v), v->s->steady.issue_utilization, cycles_per_issue(v)) },
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

/* ---- the chart ---- */

/* States that occur, each with a tone; the first four reasons have one of their own. */
static size_t list_states(const struct core_view *v, struct figure_state *states, uint8_t *index)
{
    static const enum figure_tone TONES[] = { TONE_STALLED, TONE_STALLED_2, TONE_STALLED_3,
                                              TONE_STALLED_4 };
    bool is_used[STALL_COUNT + 1] = { false };
    size_t n = 0, reasons = 0;

    find_used(v, is_used);
    is_used[STALL_selected] = true;
    for (int i = 0; i < STALL_COUNT; i++) {
        enum figure_tone tone = TONE_SELECTED;

        if (!is_used[i])
            continue;
        if (i == STALL_not_selected)
            tone = TONE_NOT_SELECTED;
        else if (i > STALL_not_selected)
            tone = TONES[min_i64((int64_t)reasons++, COUNT(TONES) - 1)];
        index[i] = (uint8_t)n;
        states[n++] = (struct figure_state){ stall_name((enum stall)i), tone };
    }
    index[CORE_NO_WARP] = (uint8_t)n;
    states[n++] = (struct figure_state){ "scheduler idle", TONE_IDLE };
    return n;
}

static void add_row(const struct core_view *v, struct panel *panel, size_t row, int warp,
                    const char *group, const uint8_t *index, size_t cycles)
{
    uint8_t states[CHART_CYCLES];

    for (size_t k = 0; k < cycles; k++)
        states[k] = index[v->c->record.states[(size_t)warp * (size_t)v->s->cycles + k]];
    panel_row(panel, row, result_text(v->result, "warp %d", warp), group, states, NULL);
}

static void add_issued_row(const struct core_view *v, struct panel *panel, size_t row,
                           int scheduler, const char *group, const uint8_t *index, size_t cycles)
{
    const int32_t *issuer = v->c->record.issuer + (size_t)scheduler * (size_t)v->s->cycles;
    uint8_t states[CHART_CYCLES];

    for (size_t k = 0; k < cycles; k++)
        states[k] = index[issuer[k] < 0 ? CORE_NO_WARP : STALL_selected];
    panel_row(panel, row, "issued", group, states, issuer);
}

static void add_chart(const struct core_view *v, struct figure *figure)
{
    size_t cycles = (size_t)min_i64(v->s->cycles, CHART_CYCLES), row = 0;
    int schedulers = v->c->config.partitions;
    size_t rows = (size_t)min_i64(schedulers + v->c->warps, CHART_ROWS);
    struct figure_state states[STALL_COUNT + 1];
    uint8_t index[STALL_COUNT + 1] = { 0 };
    size_t count = list_states(v, states, index);
    struct panel *panel = figure_add_gantt(figure, NULL, (struct figure_axis){ .label = "cycle" },
                                           states, count, rows, cycles);

    for (int i = 0; panel && i < schedulers; i++) {
        const char *group = schedulers > 1 ? result_text(v->result, "scheduler %d", i) : NULL;

        if (row < rows)
            add_issued_row(v, panel, row++, i, group, index, cycles);
        for (int w = i; w < v->c->warps && row < rows; w += schedulers)
            add_row(v, panel, row++, w, group, index, cycles);
    }
}

void simulate_core_add_gantt(struct figure *figure, const struct simulation *s)
{
    const struct core_view v = { .result = figure->result, .c = s->core, .s = s };

    add_chart(&v, figure);
}

static void add_figure(const struct core_view *v)
{
    struct figure *figure =
        figure_new(v->result,
                   result_text(v->result, "%d warps on %s, %s", v->c->warps,
                               v->c->device.device.name,
                               scheduler_policy_name(v->s->pattern.policy)),
                   result_text(v->result, "A row for each warp and a column for each cycle. %s",
                               v->result->view.answer),
                   v->result->view.answer);

    if (figure)
        add_chart(v, figure);
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

    if (set_fields(&v, err) < 0)
        return -1;
    result->view.answer = simulate_answer(result, s);
    result->view.origin = origin_text(&v);
    add_lines(&v);
    add_stalls(&v);
    add_facts(&v);
    add_figure(&v);
    result->view.closing = closing_text(&v);
    return 0;
}
