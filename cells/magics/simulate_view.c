/*
 * One pattern of %simulate as a person reads it: how busy the scheduler is, who
 * issues in each of the first cycles, what the warps do on average, who starves,
 * what another policy would give, and how many warps fill the gaps.
 */
#include "cells/magics/simulate.h"

#include "cells/internal.h"
#include "cells/render/text.h"
#include "model/base/buf.h"

enum {
    SHOWN_CYCLES = 72, /* of a text line of 83 columns */
    SHOWN_WARPS = 24,
    SHOWN_SCHEDULERS = 8,
    FILL_STEPS = 1 << 17,
    CHART_CYCLES = 200,
    CHART_ROWS = 64,
};

static const char STATE_MARKS[WARP_STATE_COUNT + 1] = "#.-";

static char state_mark(uint8_t state)
{
    return STATE_MARKS[state];
}

/* 0..9 a..z A..Z, then '+': one column a warp. */
static char warp_mark(int warp)
{
    static const char marks[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

    return warp < 0 ? '.' : warp < (int)sizeof(marks) - 1 ? marks[warp] : '+';
}

static const char *mean_text(struct result *result, double mean)
{
    const char *text = result_text(result, "%.2f", mean);
    size_t n = text ? strlen(text) : 0;

    if (n > 3 && strcmp(text + n - 3, ".00") == 0)
        return result_text(result, "%.*s", (int)n - 3, text);
    return text ? text : "";
}

static const char *count_text(struct result *result, int64_t v)
{
    char text[TEXT_NUMBER];

    return result_text(result, "%s", text_number(text, (double)v));
}

/* ---- fields ---- */

static json_t *per_warp_json(const struct simulation *s)
{
    json_t *list = json_array();
    int failed = 0;

    for (int w = 0; w < s->pattern.warps; w++)
        failed |= json_array_append_new(list, json_pack("{s:I, s:I, s:b}", "issued",
                                                        (json_int_t)s->timeline.warp_issued[w],
                                                        "per_period",
                                                        (json_int_t)s->steady.warp_issued[w],
                                                        "starved", s->steady.warp_issued[w] == 0));
    return json_whole(list, failed);
}

static json_t *timeline_json(const struct simulation *s, struct arena *arena)
{
    json_t *issuer = json_array(), *states = json_array();
    size_t cycles = (size_t)s->cycles;
    char *text = arena_array(arena, cycles + 1, 1);
    int failed = text == NULL;

    for (int i = 0; i < s->pattern.schedulers; i++) {
        json_t *row = json_array();

        for (size_t c = 0; c < cycles; c++)
            failed |=
                json_array_append_new(row,
                                      json_integer(s->timeline.issuer[(size_t)i * cycles + c]));
        failed |= json_array_append_new(issuer, row);
    }
    for (int w = 0; text && w < s->pattern.warps; w++) {
        for (size_t c = 0; c < cycles; c++)
            text[c] = state_mark(s->timeline.states[(size_t)w * cycles + c]);
        failed |= json_array_append_new(states, json_string(text));
    }
    return json_pack("{s:i, s:o, s:o}", "cycles", s->cycles, "issuer", issuer, "states",
                     json_whole(states, failed));
}

static int set_fields(struct result *result, const struct simulation *s, struct err *err)
{
    const struct steady *steady = &s->steady;
    json_t *fields =
        json_pack("{s:f, s:o, s:I, s:I, s:{s:f, s:f, s:f, s:f}, s:o, s:o}", "issue_utilization",
                  steady->issue_utilization, "period",
                  steady->period ? json_integer(steady->period) : json_null(), "warmup",
                  (json_int_t)steady->warmup, "issued", (json_int_t)s->timeline.issued,
                  "warp_states", "selected", steady->selected, "not_selected", steady->not_selected,
                  "stalled", steady->stalled, "eligible", steady->eligible, "per_warp",
                  per_warp_json(s), "timeline", timeline_json(s, result->arena));
    int rc = fields ? json_object_update(result->fields, fields) : -1;

    json_decref(fields);
    return rc < 0 ? err_set(err, ERR_ResourceError, "out of memory") : 0;
}

/* ---- the answer ---- */

const char *simulate_answer(struct result *result, const struct simulation *s)
{
    const struct steady *steady = &s->steady;
    const char *busy = simulate_percent(result, steady->issue_utilization);
    int64_t slots = steady->cycles * s->pattern.schedulers;

    if (s->pattern.schedulers > 1)
        return result_text(result,
                           "Schedulers busy %s: the %d of them issue in %s of every %s "
                           "slots.",
                           busy, s->pattern.schedulers, count_text(result, steady->issued),
                           count_text(result, slots));
    if (steady->is_exact && steady->issued == steady->cycles)
        return result_text(result, "Scheduler busy %s: it issues in every cycle.", busy);
    if (steady->is_exact)
        return result_text(result,
                           "Scheduler busy %s: it issues in %s of every %s cycles and idles in %s.",
                           busy, count_text(result, steady->issued),
                           count_text(result, steady->cycles),
                           count_text(result, steady->cycles - steady->issued));
    return result_text(result, "Scheduler busy %s: it issued in %s of %s cycles.", busy,
                       count_text(result, steady->issued), count_text(result, steady->cycles));
}

/* ---- the first cycles as text ---- */

static void put_ruler(struct buf *out, int cycles)
{
    size_t start = out->size;

    for (int c = 0; c < cycles; c += 10) {
        if (start + (size_t)c > out->size)
            buf_fill(out, ' ', start + (size_t)c - out->size);
        buf_printf(out, "%d", c);
    }
}

const char *simulate_issued_line(struct result *result, const struct simulation *s, int scheduler,
                                 int cycles)
{
    struct buf out = { 0 };
    const char *text;

    if (s->pattern.schedulers > 1)
        buf_printf(&out, "sched %d  ", scheduler);
    else
        buf_puts(&out, "issued   ");
    for (int c = 0; c < cycles; c++)
        buf_putc(&out, warp_mark(s->timeline.issuer[scheduler * s->cycles + c]));
    text = result_text(result, "%s", buf_text(&out));
    buf_done(&out);
    return text;
}

static const char *warp_line(struct result *result, const struct simulation *s, int warp,
                             int cycles)
{
    struct buf out = { 0 };
    const char *text;

    buf_printf(&out, "warp %-4d", warp);
    for (int c = 0; c < cycles; c++)
        buf_putc(&out,
                 state_mark(s->timeline.states[(size_t)warp * (size_t)s->cycles + (size_t)c]));
    text = result_text(result, "%s", buf_text(&out));
    buf_done(&out);
    return text;
}

const char *simulate_ruler_line(struct result *result, int cycles)
{
    struct buf out = { 0 };
    const char *text;

    buf_puts(&out, "cycle    ");
    put_ruler(&out, cycles);
    text = result_text(result, "%s", buf_text(&out));
    buf_done(&out);
    return text;
}

static void add_lines(struct result *result, const struct simulation *s)
{
    int cycles = s->cycles < SHOWN_CYCLES ? s->cycles : SHOWN_CYCLES;
    int warps = s->pattern.warps < SHOWN_WARPS ? s->pattern.warps : SHOWN_WARPS;
    int schedulers =
        s->pattern.schedulers < SHOWN_SCHEDULERS ? s->pattern.schedulers : SHOWN_SCHEDULERS;
    bool is_cut = warps < s->pattern.warps;
    size_t n = 0, count = (size_t)(1 + schedulers + warps + is_cut + 1);
    struct view_block *block = view_add_lines(result, count);

    if (!block)
        return;
    block->texts[n++] = simulate_ruler_line(result, cycles);
    for (int i = 0; i < schedulers; i++)
        block->texts[n++] = simulate_issued_line(result, s, i, cycles);
    for (int w = 0; w < warps; w++)
        block->texts[n++] = warp_line(result, s, w, cycles);
    if (is_cut)
        block->texts[n++] = result_text(result, "         %d more warps in the timeline field",
                                        s->pattern.warps - warps);
    block->texts[n++] =
        "         # selected (issues)   . not selected (could issue)   - stalled (waits)";
}

/* ---- the facts ---- */

static const char *mean_line(struct result *result, const struct simulation *s)
{
    const struct steady *steady = &s->steady;

    return result_text(result, "selected %s + not selected %s + stalled %s = %s%s",
                       mean_text(result, steady->selected), mean_text(result, steady->not_selected),
                       mean_text(result, steady->stalled),
                       mean_text(result, (double)s->pattern.warps / s->pattern.schedulers),
                       s->pattern.schedulers > 1 ? " per scheduler" : "");
}

/* "warps 5, 8..11", for the warps that never issue in the steady state; NULL: there is none. */
static const char *starving_text(struct result *result, const struct simulation *s)
{
    const int64_t *issued = s->steady.warp_issued;
    struct buf out = { 0 };
    int count = 0, warps = s->pattern.warps;
    const char *text;

    for (int w = 0, end; w < warps; w = end) {
        for (end = w; end < warps && (issued[end] == 0) == (issued[w] == 0); end++)
            ;
        if (issued[w])
            continue;
        buf_printf(&out, count ? ", %d" : "%d", w);
        if (end - w > 1)
            buf_printf(&out, "..%d", end - 1);
        count += end - w;
    }
    text =
        count ? result_text(result, "%s %s", count == 1 ? "warp" : "warps", buf_text(&out)) : NULL;
    buf_done(&out);
    return text;
}

/* "issues 2", "issue 2 each" or "issue 1 to 3 each", of those that issue at all. */
static const char *share_text(struct result *result, const struct simulation *s)
{
    int64_t least = INT64_MAX, most = 0, issued;

    for (int w = 0; w < s->pattern.warps; w++) {
        issued = s->steady.warp_issued[w];
        if (issued && issued < least)
            least = issued;
        most = max_i64(most, issued);
    }
    if (least == most)
        return count_text(result, most);
    return result_text(result, "%s to %s", count_text(result, least), count_text(result, most));
}

static const char *steady_line(struct result *result, const struct simulation *s)
{
    const char *starving = starving_text(result, s), *share = share_text(result, s);
    const char *cycles = count_text(result, s->steady.cycles), *from, *who;
    bool is_one = starving && strncmp(starving, "warp ", 5) == 0;

    if (!s->steady.period)
        from = result_text(result,
                           s->pattern.jitter ? "random waits: counted over %s cycles"
                                             : "no common period: counted over %s cycles",
                           cycles);
    else
        from = result_text(result, "exact: period %s", cycles);
    if (!starving)
        who = result_text(result, "every warp issues %s of %s, none starves", share, cycles);
    else
        who = result_text(result, "%s never issue%s (starve%s), others %s of %s", starving,
                          is_one ? "s" : "", is_one ? "s" : "", share, cycles);
    return result_text(result, "%s, %s", from, who);
}

static enum scheduler_policy other_policy(const struct simulation *s)
{
    return s->pattern.policy == POLICY_GTO ? POLICY_LRR : POLICY_GTO;
}

/* The same pattern under another policy, and why it differs: an idle cycle is one in which all
 * wait. */
static int other_line(struct result *result, const struct call *call, const struct simulation *s,
                      const char **text, struct err *err)
{
    struct simulation other = *s;
    double mine = s->steady.issue_utilization, theirs;
    const char *name = scheduler_policy_name(other_policy(s)), *busy;

    other.pattern.policy = other_policy(s);
    if (scheduler_steady(&other.pattern, call->arena, &other.steady, call_stop(call), err) < 0)
        return -1;
    theirs = other.steady.issue_utilization;
    busy = simulate_percent(result, theirs);
    if (theirs == mine)
        *text = result_text(result, "%s: it makes no difference here", busy);
    else if (theirs >= 1)
        *text = result_text(result, "%s: the waits fall apart; under %s all %d wait together", busy,
                            scheduler_policy_name(s->pattern.policy), s->pattern.warps);
    else if (mine >= 1)
        *text =
            result_text(result, "%s: under %s all %d wait together", busy, name, s->pattern.warps);
    else
        *text = result_text(result, "%s", busy);
    return 0;
}

static const char *fill_text(struct result *result, int warps, int reach, const char *unit,
                             enum scheduler_policy policy)
{
    if (!warps)
        return result_text(result, "more than %d%s under %s", reach, unit,
                           scheduler_policy_name(policy));
    return result_text(result, "%s%s under %s", count_text(result, warps), unit,
                       scheduler_policy_name(policy));
}

/* How many warps leave no idle cycle, under gto and under this policy (or lrr). */
static int fill_line(struct result *result, const struct call *call, const struct simulation *s,
                     const char **text, int *most, struct err *err)
{
    struct pattern greedy = s->pattern, other = s->pattern;
    /* A round of all warps takes so many steps; the search goes on while that is soon done. */
    int reach = (int)min_i64(PATTERN_MAX_WARPS, FILL_STEPS / s->pattern.issue), first, second;

    greedy.policy = POLICY_GTO;
    if (other.policy == POLICY_GTO)
        other.policy = POLICY_LRR;
    if (scheduler_warps_to_fill(&greedy, reach, &first, call_stop(call), err) < 0 ||
        scheduler_warps_to_fill(&other, reach, &second, call_stop(call), err) < 0)
        return -1;
    *most = first > second ? first : second;
    *text = result_text(result, "%s, %s", fill_text(result, first, reach, " warps", greedy.policy),
                        fill_text(result, second, reach, "", other.policy));
    return 0;
}

/* More warps than the device's schedulers hold are fine here, and no launch brings them there. */
static const char *notice_line(struct result *result, const struct call *call,
                               const struct simulation *s)
{
    const struct device *dev = &session_device(call->session)->device;
    int held = dev->warps_per_sm / dev->partitions * s->pattern.schedulers;

    if (s->pattern.warps <= held)
        return NULL;
    return result_text(result, "%d warps: %s holds %d a scheduler; the model goes on to %d",
                       s->pattern.warps, dev->name, dev->warps_per_sm / dev->partitions,
                       PATTERN_MAX_WARPS);
}

static const char *closing_text(struct result *result, const struct call *call,
                                const struct simulation *s, int fill)
{
    const char *issue = "", *wait = "";
    int last = fill + fill / 3;

    if (call_given(call, "issue"))
        issue = result_text(result, " issue=%d", s->pattern.issue);
    if (call_given(call, "wait"))
        wait = result_text(result, " wait=%d", s->pattern.wait);
    if (last < 12)
        last = 12;
    if (last > PATTERN_MAX_WARPS)
        last = PATTERN_MAX_WARPS;
    return result_text(result,
                       "Next: %%simulate warps=1..%d%s%s policy=[gto,lrr] draws both curves.", last,
                       issue, wait);
}

static int add_facts(struct result *result, const struct call *call, const struct simulation *s,
                     struct err *err)
{
    const char *names[5], *texts[5], *notice = notice_line(result, call, s);
    const char *other = result_text(result, "same, %s", scheduler_policy_name(other_policy(s)));
    struct view_block *block;
    size_t n = 0;
    int fill = 0;

    names[n] = "mean warps";
    texts[n++] = mean_line(result, s);
    names[n] = "steady";
    texts[n++] = steady_line(result, s);
    names[n] = other;
    if (other_line(result, call, s, &texts[n++], err) < 0)
        return -1;
    if (!s->pattern.jitter && !s->pattern.switch_cost) {
        names[n] = "to be full";
        if (fill_line(result, call, s, &texts[n++], &fill, err) < 0)
            return -1;
    }
    if (notice) {
        names[n] = "notice";
        texts[n++] = notice;
    }
    block = view_add_facts(result, n);
    for (size_t i = 0; block && i < n; i++) {
        block->names[i] = names[i];
        block->texts[i] = texts[i];
    }
    result->view.closing = closing_text(result, call, s, fill);
    return 0;
}

/* ---- the chart ---- */

static const struct figure_state STATES[] = {
    [WARP_SELECTED] = { "selected (issues)", TONE_SELECTED },
    [WARP_NOT_SELECTED] = { "not selected (could issue)", TONE_NOT_SELECTED },
    [WARP_STALLED] = { "stalled (waits)", TONE_STALLED },
    [WARP_STATE_COUNT] = { "scheduler idle", TONE_IDLE },
};

static void add_scheduler_row(struct panel *panel, size_t row, const char *group,
                              const struct simulation *s, int scheduler, size_t cycles)
{
    size_t first = (size_t)scheduler * (size_t)s->cycles;
    uint8_t states[CHART_CYCLES];

    for (size_t c = 0; c < cycles; c++)
        states[c] = s->timeline.issuer[first + c] < 0 ? WARP_STATE_COUNT : WARP_SELECTED;
    panel_row(panel, row, "issued", group, states, s->timeline.issuer + first);
}

void simulate_add_gantt(struct figure *figure, const struct simulation *s)
{
    struct figure_axis x = { .label = "cycle" };
    size_t cycles = (size_t)(s->cycles < CHART_CYCLES ? s->cycles : CHART_CYCLES), row = 0;
    int schedulers = s->pattern.schedulers, all = schedulers + s->pattern.warps;
    size_t rows = (size_t)(all < CHART_ROWS ? all : CHART_ROWS);
    struct panel *panel = figure_add_gantt(figure, NULL, x, STATES, COUNT(STATES), rows, cycles);
    const char *group = NULL;

    for (int i = 0; panel && i < schedulers; i++) {
        if (schedulers > 1)
            group = result_text(figure->result, "scheduler %d", i);
        if (row < rows)
            add_scheduler_row(panel, row++, group, s, i, cycles);
        for (int w = i; w < s->pattern.warps && row < rows; w += schedulers)
            panel_row(panel, row++, result_text(figure->result, "warp %d", w), group,
                      &s->timeline.states[(size_t)w * (size_t)s->cycles], NULL);
    }
}

static void add_figure(struct result *result, const struct simulation *s)
{
    const char *title = result_text(result, "%d warp%s, issue %d, wait %d, %s", s->pattern.warps,
                                    s->pattern.warps == 1 ? "" : "s", s->pattern.issue,
                                    s->pattern.wait, scheduler_policy_name(s->pattern.policy));
    struct figure *figure =
        figure_new(result, title,
                   result_text(result, "A row for each warp and a column for each cycle. %s",
                               result->view.answer),
                   result_text(result, "%s Mean warps: %s.", result->view.answer,
                               mean_line(result, s)));

    if (figure)
        simulate_add_gantt(figure, s);
}

int simulate_show_one(struct result *result, const struct call *call, const struct simulation *s,
                      struct err *err)
{
    if (set_fields(result, s, err) < 0)
        return -1;
    result->view.answer = simulate_answer(result, s);
    result->view.origin =
        result_text(result, "pattern model   %s",
                    call_parameters_text(call,
                                         s->pattern.jitter ? "frames" : "seed cycles frames"));
    add_lines(result, s);
    if (add_facts(result, call, s, err) < 0)
        return -1;
    add_figure(result, s);
    return 0;
}
