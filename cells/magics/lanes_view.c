/*
 * One launch of %lanes as a person reads it: what the branch costs, which lanes
 * work in which pass, and who issues when under both orders.
 */
#include "cells/internal.h"
#include "cells/magics/lanes.h"
#include "cells/render/text.h"
#include "model/base/buf.h"

enum {
    MOST_ROWS = 40,
    MOST_WARPS_JSON = 64,
    SHOWN_CYCLES = 72,
    TIMELINE_CYCLES = 512,
};

static const char PATH_MARKS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef";

/* ---- names ---- */

/* "then then else": how the conditions inside each other came out. */
static const char *conditions_text(struct result *result, const struct lanes_point *p, int64_t key)
{
    struct buf out = { 0 };
    const char *text;

    for (int k = p->conditions - 1; k >= 0; k--)
        buf_printf(&out, "%s%s", key >> k & 1 ? "else" : "then", k ? " " : "");
    text = result_text(result, "%s", buf_text(&out));
    buf_done(&out);
    return text;
}

const char *lanes_path_name(struct result *result, const struct lanes_point *p, int64_t key)
{
    if (p->form == LANES_IF)
        return conditions_text(result, p, key);
    return result_text(result, "path %lld", (long long)key);
}

const char *lanes_stretch_name(struct result *result, const struct lanes_point *p,
                               const struct lanes_warp *warp, int stretch)
{
    const struct lanes_stretch *s = &warp->stretches[stretch];

    if (p->form != LANES_TRIPS)
        return lanes_path_name(result, p, s->key);
    if (s->passes == 1)
        return result_text(result, "trip %lld", (long long)s->key);
    return result_text(result, "trips %lld..%lld", (long long)(s->key - s->passes + 1),
                       (long long)s->key);
}

const char *lanes_warp_text(struct result *result, int64_t w, int64_t alike)
{
    if (alike == 1)
        return result_text(result, "%lld", (long long)w);
    return result_text(result, "%lld..%lld", (long long)w, (long long)(w + alike - 1));
}

/* ---- fields ---- */

static json_t *stretches_json(const struct lanes_warp *w)
{
    json_t *list = json_array();
    int failed = 0;

    for (int i = 0; i < w->count; i++)
        failed |=
            json_array_append_new(list, json_pack("{s:I, s:I, s:I, s:I}", "mask",
                                                  (json_int_t)w->stretches[i].mask, "path",
                                                  (json_int_t)w->stretches[i].key, "length",
                                                  (json_int_t)w->stretches[i].length, "passes",
                                                  (json_int_t)w->stretches[i].passes));
    return json_whole(list, failed);
}

static json_t *masks_json(const struct lanes_warp *w)
{
    json_t *list = json_array();
    int failed = 0;

    for (int i = 0; i < w->count; i++)
        failed |= json_array_append_new(list, json_integer(w->stretches[i].mask));
    return json_whole(list, failed);
}

static json_t *per_warp_json(const struct lanes_point *p)
{
    json_t *list = json_array();
    int failed = 0;

    for (int64_t w = 0; w < p->total.warps && w < MOST_WARPS_JSON; w++) {
        const struct lanes_warp *warp = &p->warps[w];
        int64_t around = p->before + p->after;

        failed |= json_array_append_new(
            list,
            json_pack("{s:I, s:b, s:i, s:I, s:I, s:I, s:I, s:o, s:o}", "warp", (json_int_t)w,
                      "split", warp->is_split, "paths", warp->paths, "passes",
                      (json_int_t)warp->passes, "issue_slots",
                      (json_int_t)(warp->issue_slots + around), "lane_slots",
                      (json_int_t)(warp->lane_slots + around * __builtin_popcount(warp->threads)),
                      "cycles", (json_int_t)p->of_warp[w], "masks", masks_json(warp), "stretches",
                      stretches_json(warp)));
    }
    return json_whole(list, failed);
}

/* "AAAA....BBBB": who issues in each of the first cycles. */
static const char *order_text(struct result *result, const struct lanes_point *p, int64_t w,
                              bool is_its, int64_t most)
{
    struct lanes_order order = p->order;
    int8_t issuer[TIMELINE_CYCLES];
    struct buf out = { 0 };
    const char *text;
    int64_t n;

    order.is_its = is_its;
    n = min_i64(lanes_cycles(&p->warps[w], &order, issuer, TIMELINE_CYCLES), TIMELINE_CYCLES);
    buf_fill(&out, '<', (size_t)min_i64(p->before, most));
    for (int64_t c = 0; c < n; c++)
        buf_putc(&out,
                 issuer[c] < 0 ? '.' : PATH_MARKS[lanes_path_place(p, &p->warps[w], issuer[c])]);
    if (n < TIMELINE_CYCLES)
        buf_fill(&out, '>', (size_t)min_i64(p->after, most));
    if ((int64_t)out.size > most)
        buf_cut(&out, (size_t)most);
    text = result_text(result, "%s", buf_text(&out));
    buf_done(&out);
    return text ? text : "";
}

static int set_fields(struct result *result, const struct lanes_point *p, struct err *err)
{
    const struct lanes_total *t = &p->total;
    int64_t w = lanes_shown_warp(p);
    json_t *fields =
        json_pack("{s:I, s:i, s:I, s:I, s:f, s:f, s:f, s:I, s:I, s:I, s:{s:I, s:I, s:I, s:I}, s:o, "
                  "s:{s:I, s:s, s:s}}",
                  "passes", (json_int_t)t->passes, "paths", p->paths, "issue_slots",
                  (json_int_t)t->issue_slots, "lane_slots", (json_int_t)t->lane_slots,
                  "lane_efficiency", t->lane_efficiency, "undivided_slots", t->undivided_slots,
                  "time_ratio", t->time_ratio, "cycles", (json_int_t)lanes_point_cycles(p),
                  "cycles_stack", (json_int_t)p->stack_cycles, "cycles_its",
                  (json_int_t)p->its_cycles, "warps", "total", (json_int_t)t->warps, "uniform",
                  (json_int_t)t->uniform, "split", (json_int_t)t->split, "idle",
                  (json_int_t)t->idle, "per_warp", per_warp_json(p), "timeline", "warp",
                  (json_int_t)w, "stack", order_text(result, p, w, false, TIMELINE_CYCLES), "its",
                  order_text(result, p, w, true, TIMELINE_CYCLES));
    int rc = fields ? json_object_update(result->fields, fields) : -1;

    json_decref(fields);
    return rc < 0 ? err_set(err, ERR_ResourceError, "out of memory") : 0;
}

/* ---- the answer ---- */

static const char *undivided_text(struct result *r, const struct lanes_point *p)
{
    char text[TEXT_NUMBER];

    return result_text(r, "%s",
                       text_number(text, (double)(int64_t)(p->total.undivided_slots * 10) / 10));
}

static const char *cost_text(struct result *r, const struct lanes_point *p)
{
    return result_text(r, "%s slots for the work of %s (%sx)", lanes_count(r, p->total.issue_slots),
                       undivided_text(r, p), lanes_ratio(r, p->total.time_ratio));
}

static const char *answer(struct result *r, const struct lanes_point *p)
{
    const struct lanes_total *t = &p->total;
    const char *busy = lanes_percent(r, t->lane_efficiency);

    if (!t->split)
        return result_text(r, "Lanes busy %s: no warp splits, so the %s costs nothing (1x).", busy,
                           p->form == LANES_TRIPS ? "loop" : "branch");
    if (t->warps > 1)
        return result_text(r, "Lanes busy %s: %s of %s warps split%s, %s.", busy,
                           lanes_count(r, t->split), lanes_count(r, t->warps),
                           t->split == 1 ? "s" : "", cost_text(r, p));
    if (p->form == LANES_TRIPS)
        return result_text(r, "Lanes busy %s: %s trips of the longest lane, %s.", busy,
                           lanes_count(r, t->passes), cost_text(r, p));
    return result_text(r, "Lanes busy %s: %d paths in %s pass%s, %s.", busy, p->paths,
                       lanes_count(r, t->passes), t->passes == 1 ? "" : "es", cost_text(r, p));
}

/* ---- the masks ---- */

static const char *marks_text(struct result *r, uint32_t mask, uint32_t threads)
{
    char marks[WARP + 1] = "";

    for (int l = 0; l < WARP; l++)
        marks[l] = mask >> l & 1 ? '#' : threads >> l & 1 ? '.' : ' ';
    return result_text(r, "%s", marks);
}

/* A row of the table: which lanes run how many instructions. */
struct row {
    const char *warps, *passes, *name;
    uint32_t mask, threads;
    int64_t slots;
};

static void put_row(struct result *r, struct view_table *table, size_t at, const struct row *row)
{
    view_cell(table, at, 0, row->warps);
    view_cell(table, at, 1, row->passes);
    view_cell(table, at, 2, row->name);
    view_cell(table, at, 3, marks_text(r, row->mask, row->threads));
    view_cell(table, at, 4, lanes_count(r, row->slots));
    view_cell(table, at, 5, result_text(r, "%d", __builtin_popcount(row->mask)));
    view_cell(table, at, 6, result_text(r, "0x%08x", row->mask));
}

static size_t rows_of(const struct lanes_point *p, int64_t w)
{
    size_t n = (size_t)p->warps[w].count + (p->before > 0) + (p->after > 0);

    return n ? n : 1;
}

static size_t row_count(const struct lanes_point *p)
{
    size_t n = 0;

    for (int64_t w = 0; w < p->total.warps && n < MOST_ROWS; w += lanes_alike(p, w))
        n += rows_of(p, w);
    return n < MOST_ROWS ? n : MOST_ROWS;
}

/* What all threads of a warp run outside the branch. */
static size_t add_around(struct result *r, struct view_table *table, size_t at, struct row row,
                         const char *name, int64_t slots)
{
    row.name = name;
    row.slots = slots;
    row.mask = slots ? row.threads : 0;
    put_row(r, table, at, &row);
    return at + 1;
}

static size_t add_rows(struct result *r, const struct lanes_point *p, int64_t w,
                       struct view_table *table, size_t at)
{
    const struct lanes_warp *warp = &p->warps[w];
    struct row row = { .warps = lanes_warp_text(r, w, lanes_alike(p, w)),
                       .threads = warp->threads };
    int64_t pass = 1;

    if (p->before)
        at = add_around(r, table, at, row, "before", p->before);
    for (int i = 0; i < warp->count; i++) {
        const struct lanes_stretch *s = &warp->stretches[i];
        int64_t last = pass + s->passes - 1;
        struct row own = row;

        own.mask = s->mask;
        own.slots = s->passes * s->length;
        own.passes = pass == last ? result_text(r, "%lld", (long long)pass)
                                  : result_text(r, "%lld..%lld", (long long)pass, (long long)last);
        own.name = lanes_stretch_name(r, p, warp, i);
        if (!warp->is_loop)
            own.name = result_text(r, "%c %s", PATH_MARKS[lanes_path_place(p, warp, i)], own.name);
        put_row(r, table, at++, &own);
        pass = last + 1;
    }
    if (p->after)
        at = add_around(r, table, at, row, "after", p->after);
    if (!warp->count && !p->before && !p->after)
        at = add_around(r, table, at, row, "nothing to do", 0);
    return at;
}

static void add_masks(struct result *r, const struct lanes_point *p)
{
    static const struct view_column columns[] = {
        { "warp", VIEW_RIGHT },  { "pass", VIEW_RIGHT },
        { "runs", VIEW_LEFT },   { "0       8       16      24", VIEW_CODE },
        { "slots", VIEW_RIGHT }, { "lanes", VIEW_RIGHT },
        { "mask", VIEW_LEFT },
    };
    struct view_table *table = view_add_table(r, columns, COUNT(columns), row_count(p));
    size_t at = 0;
    int64_t w;

    for (w = 0; w < p->total.warps && at + rows_of(p, w) <= MOST_ROWS; w += lanes_alike(p, w))
        at = add_rows(r, p, w, table, at);
    if (table)
        table->row_count = at < table->row_count ? at : table->row_count;
    if (w < p->total.warps)
        view_fact(r, "more",
                  result_text(r, "%s warps, like these or not; per_warp has the first %d",
                              lanes_count(r, p->total.warps - w), MOST_WARPS_JSON));
}

/* ---- who issues when ---- */

static const char *ruler(struct result *r, int64_t cycles)
{
    struct buf out = { 0 };
    const char *text;

    buf_puts(&out, "  cycle  ");
    for (int64_t c = 0; c < cycles; c += 10) {
        size_t at = 9 + (size_t)c;

        if (out.size < at)
            buf_fill(&out, ' ', at - out.size);
        buf_printf(&out, "%lld", (long long)c);
    }
    text = result_text(r, "%s", buf_text(&out));
    buf_done(&out);
    return text;
}

static void add_order(struct result *r, const struct lanes_point *p)
{
    int64_t w = lanes_shown_warp(p);
    int64_t cycles = max_i64(p->stack_cycles, p->its_cycles);
    struct view_block *block;

    if (p->warps[w].count < 2 || p->form == LANES_TRIPS)
        return;
    block = view_add_lines(r, 4);
    if (!block)
        return;
    block->texts[0] = ruler(r, min_i64(cycles, SHOWN_CYCLES));
    block->texts[1] = result_text(r, "  stack  %s", order_text(r, p, w, false, SHOWN_CYCLES));
    block->texts[2] = result_text(r, "  its    %s", order_text(r, p, w, true, SHOWN_CYCLES));
    block->texts[3] = result_text(r, "         warp %lld%s: A B a path issues, . all wait%s%s",
                                  (long long)w, cycles > SHOWN_CYCLES ? ", first 72" : "",
                                  p->before ? ", < before" : "", p->after ? ", > after" : "");
}

static const char *order_fact(struct result *r, const struct lanes_point *p)
{
    if (p->stack_cycles == p->its_cycles)
        return result_text(r, "%s cycles under both orders: %s", lanes_count(r, p->stack_cycles),
                           p->form == LANES_TRIPS ? "the lanes of a loop stay together"
                           : p->order.wait        ? "there is no second path to overlap"
                                                  : "nothing waits, so nothing can overlap");
    return result_text(r, "stack %s cycles, its %s: one path's wait hides behind the other%s, %sx",
                       lanes_count(r, p->stack_cycles), lanes_count(r, p->its_cycles),
                       p->paths > 2 ? "s" : "",
                       lanes_ratio(r, (double)p->stack_cycles / (double)p->its_cycles));
}

static void add_facts(struct result *r, const struct lanes_point *p)
{
    const struct lanes_total *t = &p->total;

    view_fact(r, "lane slots",
              result_text(r, "%s of %s issued in 32 lanes", lanes_count(r, t->lane_slots),
                          lanes_count(r, t->issue_slots * WARP)));
    if (t->warps > 1)
        view_fact(r, "warps",
                  result_text(r, "%s split, %s take one path, %s have nothing to do",
                              lanes_count(r, t->split), lanes_count(r, t->uniform),
                              lanes_count(r, t->idle)));
    view_fact(r, "time", order_fact(r, p));
}

static const char *closing(struct result *r, const struct lanes_point *p)
{
    if (!p->total.split)
        return result_text(r, "Next: %%lanes if={tid %% 2 == 0} block=%lld splits every warp.",
                           (long long)max_i64(64, p->layout.block.x));
    if (p->form == LANES_TRIPS)
        return "Look at the longest lane: the others wait for it. Sort the work by length.";
    if (p->order.wait == 0)
        return "Next: wait=8 its=[off,on] shows what happens when a path waits for memory.";
    return "Next: %lanes if={warp % 2 == 0} block=64 branches by whole warps, which is free.";
}

/* The keys that act: those of the other forms, and what is 0 by default, say nothing. */
const char *lanes_parameters(const struct call *call, const struct lanes_point *p)
{
    static const char *const quiet[] = { "before", "after", "wait", "turns", "grid" };
    bool has_both = call_given(call, "then") && call_given(call, "else");
    struct buf skip = { 0 };
    const char *text;

    if (p->form != LANES_IF)
        buf_puts(&skip, "if ");
    if (p->form == LANES_IF && has_both)
        buf_puts(&skip, "length ");
    for (size_t k = 0; k < COUNT(quiet); k++)
        if (!call_given(call, quiet[k]))
            buf_printf(&skip, "%s ", quiet[k]);
    text = call_parameters_text(call, buf_text(&skip));
    buf_done(&skip);
    return text;
}

int lanes_show_one(struct result *result, const struct call *call, const struct lanes_point *p,
                   struct err *err)
{
    if (set_fields(result, p, err) < 0)
        return -1;
    result->view.answer = answer(result, p);
    result->view.origin = result_text(result, "lane model   %s", lanes_parameters(call, p));
    add_masks(result, p);
    add_order(result, p);
    add_facts(result, p);
    result->view.closing = closing(result, p);
    lanes_add_figure(result, p);
    return 0;
}
