/*
 * One pattern of %access as a person reads it: how much of what moves is asked
 * for, request by request, and where each lane's word is.
 */
#include "cells/internal.h"
#include "cells/magics/access.h"
#include "model/base/buf.h"

enum { MOST_WARPS = 16, MOST_LINES = 16 };

/* ---- fields ---- */

static json_t *count_or_null(bool is_known, int64_t v)
{
    return is_known ? json_integer(v) : json_null();
}

static json_t *per_warp_json(const struct access_point *p)
{
    json_t *list = json_array();
    int failed = 0;

    for (int w = 0; w < p->layout.warps; w++) {
        const struct access_request *r = &p->warps[w];

        failed |=
            json_array_append_new(list, json_pack("{s:i, s:i, s:o, s:i, s:o, s:o}", "warp", w,
                                                  "lanes", __builtin_popcount(r->mask), "sectors",
                                                  count_or_null(!p->is_shared, r->sectors), "lines",
                                                  r->lines, "passes",
                                                  count_or_null(p->is_shared, r->passes), "degree",
                                                  count_or_null(p->is_shared, r->degree)));
    }
    return json_whole(list, failed);
}

static int set_fields(struct result *result, const struct access_point *p, struct err *err)
{
    bool is_global = !p->is_shared;
    double lines = (double)p->lines * LINE_BYTES;
    json_t *fields =
        json_pack("{s:I, s:f, s:o, s:o, s:o, s:I, s:f, s:I, s:o, s:o, s:o, s:o, s:o, s:o}",
                  "requests", (json_int_t)p->requests, "efficiency", p->efficiency, "sectors",
                  count_or_null(is_global, p->sectors), "best_sectors",
                  count_or_null(is_global, p->best_sectors), "sectors_per_request",
                  is_global && p->requests ? json_real((double)p->sectors / (double)p->requests)
                                           : json_null(),
                  "lines", (json_int_t)p->lines, "line_utilization",
                  p->lines ? (double)p->useful_bytes / lines : 1.0, "useful_bytes",
                  (json_int_t)p->useful_bytes, "moved_bytes",
                  count_or_null(is_global, p->moved_bytes), "passes",
                  count_or_null(p->is_shared, p->passes), "best_passes",
                  count_or_null(p->is_shared, p->best_passes), "conflicts",
                  count_or_null(p->is_shared, p->conflicts), "degree",
                  count_or_null(p->is_shared, p->degree), "per_warp", per_warp_json(p));
    int rc = fields ? json_object_update(result->fields, fields) : -1;

    json_decref(fields);
    return rc < 0 ? err_set(err, ERR_ResourceError, "out of memory") : 0;
}

/* ---- the answer ---- */

static const char *requests_text(struct result *r, const struct access_point *p)
{
    return p->requests == 1 ? "one request"
                            : result_text(r, "%s requests", access_number(r, p->requests));
}

static const char *answer(struct result *r, const struct access_point *p)
{
    if (!p->requests)
        return "No thread takes part: no request, nothing moves.";
    if (!p->is_shared)
        return result_text(r, "Useful %s: %s move%s %s sector%s for %s bytes (best %s).",
                           access_percent(r, p->efficiency), requests_text(r, p),
                           p->requests == 1 ? "s" : "", access_number(r, p->sectors),
                           p->sectors == 1 ? "" : "s", access_number(r, p->useful_bytes),
                           access_number(r, p->best_sectors));
    if (!p->conflicts)
        return result_text(r, "No bank conflict: %s take%s %s pass%s, the fewest possible.",
                           requests_text(r, p), p->requests == 1 ? "s" : "",
                           access_number(r, p->passes), p->passes == 1 ? "" : "es");
    return result_text(r, "%d-way bank conflict: %s take%s %s passes (best %s), %s too many.",
                       p->degree, requests_text(r, p), p->requests == 1 ? "s" : "",
                       access_number(r, p->passes), access_number(r, p->best_passes),
                       access_number(r, p->conflicts));
}

/* ---- the requests ---- */

static bool is_alike(const struct access_request *a, const struct access_request *b)
{
    return a->mask == b->mask && a->sectors == b->sectors && a->lines == b->lines &&
           a->passes == b->passes && a->degree == b->degree && a->useful_bytes == b->useful_bytes;
}

static int alike_end(const struct access_point *p, int w)
{
    int end = w + 1;

    while (end < p->layout.warps && is_alike(&p->warps[w], &p->warps[end]))
        end++;
    return end;
}

static void put_request(struct result *r, struct view_table *table, size_t row,
                        const struct access_point *p, int w, int end)
{
    const struct access_request *q = &p->warps[w];
    double moved = p->is_shared ? q->passes : (double)q->sectors * SECTOR_BYTES;
    double used = p->is_shared ? q->best_passes : q->useful_bytes;

    view_cell(table, row, 0,
              end == w + 1 ? result_text(r, "%d", w) : result_text(r, "%d..%d", w, end - 1));
    view_cell(table, row, 1, result_text(r, "%d", __builtin_popcount(q->mask)));
    view_cell(table, row, 2, result_text(r, "%d", p->is_shared ? q->passes : q->sectors));
    view_cell(table, row, 3,
              result_text(r, "%d",
                          p->is_shared ? q->best_passes
                                       : (int)ceil_div(q->useful_bytes, SECTOR_BYTES)));
    view_cell(table, row, 4, access_percent(r, moved > 0 ? used / moved : 1));
    view_cell(table, row, 5, result_text(r, "%d", p->is_shared ? q->degree : q->lines));
}

static void add_requests(struct result *r, const struct access_point *p)
{
    const struct view_column columns[] = {
        { "warp", VIEW_RIGHT },
        { "lanes", VIEW_RIGHT },
        { p->is_shared ? "passes" : "sectors", VIEW_RIGHT },
        { "best", VIEW_RIGHT },
        { p->is_shared ? "efficiency" : "useful", VIEW_RIGHT },
        { p->is_shared ? "degree" : "lines", VIEW_RIGHT },
    };
    size_t rows = 0, row = 0;
    struct view_table *table;

    for (int w = 0; w < p->layout.warps && rows < MOST_WARPS; w = alike_end(p, w))
        rows++;
    table = view_add_table(r, columns, COUNT(columns), rows);
    for (int w = 0; w < p->layout.warps && row < rows; w = alike_end(p, w))
        put_request(r, table, row++, p, w, alike_end(p, w));
}

/* ---- the picture in characters ---- */

static const char *line_text(struct result *r, const struct access_point *p,
                             const struct access_request *q, uint64_t line)
{
    char marks[4 * 9 + 1] = "";
    int lane, at = 0;

    for (int word = 0; word < LINE_BYTES / BANK_BYTES; word++) {
        if (word && word % 8 == 0)
            marks[at++] = ' ';
        marks[at++] = ".-#"[access_word_of(p, q, line, word, &lane)];
    }
    return result_text(r, "  %10llu  %s", (unsigned long long)line * LINE_BYTES, marks);
}

static void add_lines(struct result *r, const struct access_point *p, int w)
{
    const struct access_request *q = &p->warps[w];
    uint64_t lines[WARP];
    int n = access_lines(q, lines), shown = n < MOST_LINES ? n : MOST_LINES;
    struct view_block *block = n ? view_add_lines(r, (size_t)shown + 2) : NULL;

    if (!block)
        return;
    block->texts[0] = "        byte  sector 0 sector 1 sector 2 sector 3";
    for (int i = 0; i < shown; i++)
        block->texts[i + 1] = line_text(r, p, q, lines[i]);
    block->texts[shown + 1] =
        result_text(r, "              warp %d, 4 bytes a mark: # asked for, - moved, . not%s", w,
                    n > shown ? result_text(r, "; %d lines more", n - shown) : "");
}

static void add_passes(struct result *r, const struct access_point *p, int w)
{
    const struct access_request *q = &p->warps[w];
    int8_t lane[WARP][BANKS];
    int degree, n = memory_schedule(q->address, q->mask, p->bytes, lane, &degree);
    int shown = n < MOST_LINES ? n : MOST_LINES;
    struct view_block *block = n ? view_add_lines(r, (size_t)shown + 2) : NULL;

    if (!block)
        return;
    block->texts[0] = "  bank     0       8       16      24";
    for (int i = 0; i < shown; i++) {
        char marks[BANKS + 1] = "";

        for (int b = 0; b < BANKS; b++)
            marks[b] = lane[i][b] < 0 ? '.' : '#';
        block->texts[i + 1] = result_text(r, "  pass %-3d %s", i + 1, marks);
    }
    block->texts[shown + 1] =
        result_text(r, "           warp %d: # the bank serves a word, . it idles%s", w,
                    n > shown ? result_text(r, "; %d passes more", n - shown) : "");
}

/* ---- the rest ---- */

static const char *closing(struct result *r, const struct call *call, const struct access_point *p,
                           const struct access_point *changed)
{
    if (p->is_shared && changed->passes < p->passes)
        return result_text(r,
                           "With pad=%lld, %s pass%s: rows of %lld elements start in other banks.",
                           (long long)call_int(call, "pad") + 1, access_number(r, changed->passes),
                           changed->passes == 1 ? "" : "es",
                           (long long)(call_int(call, "row") + call_int(call, "pad") + 1));
    if (!p->is_shared && changed->sectors < p->sectors)
        return result_text(r,
                           "With offset=0 base=0, %s sectors: the warp starts where a sector does.",
                           access_number(r, changed->sectors));
    if (p->is_shared ? p->conflicts > 0 : p->sectors > p->best_sectors)
        return result_text(r, "Neighbouring lanes should ask for neighbouring words: %s is best.",
                           call_given(call, "stride") ? "stride=1" : "index={tid}");
    return p->is_shared ? "Next: %access stride=1..32 space=shared shows which strides conflict."
                        : "Next: %access stride=1..32 shows what a stride costs.";
}

const char *access_parameters(const struct call *call)
{
    static const char *const quiet[] = { "stride", "offset", "pad", "row", "base", "warp" };
    struct buf skip = { 0 };
    const char *text;

    for (size_t k = 0; k < COUNT(quiet); k++)
        if (!call_given(call, quiet[k]))
            buf_printf(&skip, "%s ", quiet[k]);
    text = call_parameters_text(call, buf_text(&skip));
    buf_done(&skip);
    return text;
}

int access_show_one(struct result *result, const struct call *call, const struct access_point *p,
                    const struct access_point *changed, struct err *err)
{
    int w = (int)call_int(call, "warp");

    if (set_fields(result, p, err) < 0)
        return -1;
    result->view.answer = answer(result, p);
    result->view.origin = result_text(result, "memory model   %s", access_parameters(call));
    add_requests(result, p);
    if (p->is_shared)
        add_passes(result, p, w);
    else
        add_lines(result, p, w);
    if (!p->is_shared && p->lines)
        view_fact(result, "lines",
                  result_text(result, "%s of 128 bytes touched, %s of them asked for",
                              access_number(result, p->lines),
                              access_percent(result, (double)p->useful_bytes /
                                                         ((double)p->lines * LINE_BYTES))));
    result->view.closing = closing(result, call, p, changed);
    if (p->warps[w].mask)
        access_add_figure(result, p, w);
    return 0;
}
