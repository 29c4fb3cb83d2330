/*
 * One launch of %layout as a person reads it: how full its warps are, which
 * threads each holds, where the thread that was asked for is and how its numbers
 * come about, and what a boundary test does.
 */
#include "cells/internal.h"
#include "cells/magics/layout.h"
#include "cells/render/text.h"
#include "model/base/buf.h"

enum {
    MOST_WARPS = 12, /* rows of the table; more are told apart by their ends */
    MOST_MAP_X = 64,
    MOST_MAP_ROWS = 36,
};

/* ---- fields ---- */

static json_t *per_warp_json(const struct layout_point *p)
{
    json_t *list = json_array();
    int failed = 0;

    for (int w = 0; w < p->layout.warps; w++) {
        int last = (int)min_i64(p->layout.threads, (w + 1) * WARP) - 1;

        failed |= json_array_append_new(
            list, json_pack("{s:i, s:o, s:o, s:i, s:I}", "warp", w, "first",
                            extent_json(extent_place(p->layout.block, w * WARP)), "last",
                            extent_json(extent_place(p->layout.block, last)), "lanes",
                            last - w * WARP + 1, "mask", (json_int_t)layout_mask(&p->layout, w)));
    }
    return json_whole(list, failed);
}

static struct extent global_of(const struct layout_point *p)
{
    return (struct extent){ p->block_at.x * p->layout.block.x + p->at.x,
                            p->block_at.y * p->layout.block.y + p->at.y,
                            p->block_at.z * p->layout.block.z + p->at.z };
}

static json_t *thread_json(const struct layout_point *p)
{
    struct extent global = global_of(p);

    if (p->question != LAYOUT_THREAD)
        return json_null();
    return json_pack("{s:o, s:o, s:i, s:i, s:i, s:I, s:I, s:I, s:I}", "threadIdx",
                     extent_json(p->at), "blockIdx", extent_json(p->block_at), "tid", p->tid,
                     "warp", p->warp, "lane", p->lane, "i", (json_int_t)p->i, "x",
                     (json_int_t)global.x, "y", (json_int_t)global.y, "z", (json_int_t)global.z);
}

static json_t *bounds_json(const struct layout_point *p)
{
    if (!p->has_n)
        return json_null();
    return json_pack("{s:I, s:I, s:I, s:I, s:f, s:f}", "inside", (json_int_t)p->bounds.inside,
                     "whole", (json_int_t)p->bounds.whole, "split", (json_int_t)p->bounds.split,
                     "out", (json_int_t)p->bounds.out, "split_share", layout_split_share(p),
                     "lane_efficiency", p->bounds.lane_efficiency);
}

static int set_fields(struct result *result, const struct layout_point *p, struct err *err)
{
    const struct layout *l = &p->layout;
    json_t *fields =
        json_pack("{s:i, s:i, s:i, s:f, s:I, s:I, s:I, s:o, s:o, s:o}", "threads", l->threads,
                  "warps", l->warps, "idle_lanes", l->idle_lanes, "lane_efficiency",
                  l->lane_efficiency, "blocks", (json_int_t)l->blocks, "total_threads",
                  (json_int_t)l->all_threads, "total_warps", (json_int_t)l->all_warps, "per_warp",
                  per_warp_json(p), "thread", thread_json(p), "bounds", bounds_json(p));
    int rc = fields ? json_object_update(result->fields, fields) : -1;

    json_decref(fields);
    return rc < 0 ? err_set(err, ERR_ResourceError, "out of memory") : 0;
}

/* ---- the answer ---- */

static const char *plural(int64_t n)
{
    return n == 1 ? "" : "s";
}

static const char *cut_answer(struct result *r, const struct layout_point *p)
{
    const struct layout *l = &p->layout;
    const char *use = layout_percent(r, l->lane_efficiency), *all = "";

    if (l->blocks > 1)
        all = result_text(r, "; %s blocks: %s warps", layout_count(r, l->blocks),
                          layout_count(r, l->all_warps));
    if (!l->idle_lanes)
        return result_text(r, "Lanes in use %s: %s threads are %d warp%s of 32%s.", use,
                           layout_count(r, l->threads), l->warps, plural(l->warps), all);
    return result_text(r,
                       "Lanes in use %s: %d thread%s take%s %d warp%s, and %d lane%s of the last "
                       "%s idle%s.",
                       use, l->threads, plural(l->threads), l->threads == 1 ? "s" : "", l->warps,
                       plural(l->warps), l->idle_lanes, plural(l->idle_lanes),
                       l->idle_lanes == 1 ? "is" : "are", all);
}

static const char *bounds_answer(struct result *r, const struct layout_point *p)
{
    const struct layout_bounds *b = &p->bounds;

    return result_text(r, "%s of %s warp%s split%s at %s (%s): %s pass whole, %s stay out.",
                       layout_count(r, b->split), layout_count(r, p->layout.all_warps),
                       plural(p->layout.all_warps), b->split == 1 ? "s" : "",
                       layout_test_text(r, p), layout_percent(r, layout_split_share(p)),
                       layout_count(r, b->whole), layout_count(r, b->out));
}

static const char *warp_answer(struct result *r, const struct layout_point *p)
{
    int first = p->warp * WARP, last = (int)min_i64(p->layout.threads, first + WARP) - 1;

    if (extent_rank_of(p->layout.block) == 1)
        return result_text(r, "Warp %d holds threads %d to %d.", p->warp, first, last);
    return result_text(r, "Warp %d holds threads %s to %s: numbers %d to %d of the block.", p->warp,
                       layout_thread_text(r, p, first), layout_thread_text(r, p, last), first,
                       last);
}

static const char *answer(struct result *r, const struct layout_point *p)
{
    if (p->question == LAYOUT_THREAD)
        return result_text(r, "Thread %s is lane %d of warp %d%s.",
                           layout_thread_text(r, p, p->tid), p->lane, p->warp,
                           p->layout.blocks > 1 ? result_text(r, ", and its global index is %s",
                                                              layout_count(r, p->i))
                                                : "");
    if (p->question == LAYOUT_WARP)
        return warp_answer(r, p);
    return p->has_n ? bounds_answer(r, p) : cut_answer(r, p);
}

/* ---- the warps ---- */

/* '#' where a thread is, '.' where the lane is idle. */
static const char *lane_marks(struct result *r, uint32_t mask)
{
    char marks[WARP + 1] = "";

    for (int lane = 0; lane < WARP; lane++)
        marks[lane] = mask >> lane & 1 ? '#' : '.';
    return result_text(r, "%s", marks);
}

static void add_warp(struct result *r, struct view_table *table, size_t row,
                     const struct layout_point *p, int w)
{
    int first = w * WARP, last = (int)min_i64(p->layout.threads, first + WARP) - 1;
    bool is_asked = p->question != LAYOUT_CUT && p->warp == w;
    size_t column = 0;

    view_cell(table, row, column++, result_text(r, "%d", w));
    view_cell(table, row, column++, result_text(r, "%d..%d", first, last));
    if (extent_rank_of(p->layout.block) > 1) {
        view_cell(table, row, column++, layout_thread_text(r, p, first));
        view_cell(table, row, column++, layout_thread_text(r, p, last));
    }
    view_cell(table, row, column++, result_text(r, "%d", last - first + 1));
    view_cell(table, row, column,
              extent_rank_of(p->layout.block) > 1
                  ? result_text(r, "0x%08x", layout_mask(&p->layout, w))
                  : lane_marks(r, layout_mask(&p->layout, w)));
    if (is_asked || (p->question == LAYOUT_CUT && last - first + 1 < WARP))
        view_mark(table, row);
}

/* All warps of a block, or the first ones, the one that was asked for, and the last. */
static void add_warps(struct result *r, const struct layout_point *p)
{
    static const struct view_column flat[] = {
        { "warp", VIEW_RIGHT },
        { "threads", VIEW_LEFT },
        { "lanes", VIEW_RIGHT },
        { "0       8       16      24", VIEW_CODE },
    };
    static const struct view_column shaped[] = {
        { "warp", VIEW_RIGHT },     { "numbers", VIEW_LEFT }, { "from thread", VIEW_LEFT },
        { "to thread", VIEW_LEFT }, { "lanes", VIEW_RIGHT },  { "mask", VIEW_LEFT },
    };
    bool is_flat = extent_rank_of(p->layout.block) == 1;
    int warps = p->layout.warps, shown = warps > MOST_WARPS ? MOST_WARPS : warps, row = 0;
    int asked = p->question == LAYOUT_CUT ? warps - 1 : p->warp;
    int rest = shown - 1 - (asked >= shown - 1 && asked < warps - 1);
    struct view_table *table = view_add_table(r, is_flat ? flat : shaped,
                                              is_flat ? COUNT(flat) : COUNT(shaped), (size_t)shown);

    for (int w = 0; w < warps; w++)
        if (warps <= MOST_WARPS || w < rest || w == asked || w == warps - 1)
            add_warp(r, table, (size_t)row++, p, w);
}

/* ---- the picture in characters ---- */

static char warp_mark(int warp)
{
    return "0123456789abcdefghijklmnopqrstuv"[warp];
}

/* A row of threads of the block, each as the mark of its warp. */
static const char *map_line(struct result *r, const struct layout_point *p, int64_t y, int64_t z)
{
    char marks[MOST_MAP_X + 1] = "";
    const char *name = p->layout.block.z > 1
                           ? result_text(r, "z=%lld y=%lld", (long long)z, (long long)y)
                           : result_text(r, "y=%lld", (long long)y);

    for (int64_t x = 0; x < p->layout.block.x; x++)
        marks[x] = warp_mark((int)extent_rank(p->layout.block, (struct extent){ x, y, z }) / WARP);
    return result_text(r, "  %-9s %s", name, marks);
}

static void add_map(struct result *r, const struct layout_point *p)
{
    int64_t rows = p->layout.block.y * p->layout.block.z, at = 0;
    struct view_block *block;

    if (extent_rank_of(p->layout.block) == 1 || p->layout.block.x > MOST_MAP_X ||
        rows > MOST_MAP_ROWS)
        return;
    block = view_add_lines(r, (size_t)rows + 1);
    if (!block)
        return;
    block->texts[at++] = p->layout.warps > 10
                             ? "  the warp of each thread (a is 10, v is 31), x to the right"
                             : "  the warp of each thread, x to the right";
    for (int64_t z = 0; z < p->layout.block.z; z++)
        for (int64_t y = 0; y < p->layout.block.y; y++)
            block->texts[at++] = map_line(r, p, y, z);
}

/* ---- how the numbers come about ---- */

static void add_index(struct result *r, const struct layout_point *p)
{
    const struct extent *b = &p->layout.block, *at = &p->at, *of = &p->block_at;
    struct extent global = global_of(p);
    int rank = extent_rank_of(*b);

    if (rank == 3)
        view_fact(r, "number in block",
                  result_text(r, "x + y*%lld + z*%lld = %lld + %lld*%lld + %lld*%lld = %d",
                              (long long)b->x, (long long)(b->x * b->y), (long long)at->x,
                              (long long)at->y, (long long)b->x, (long long)at->z,
                              (long long)(b->x * b->y), p->tid));
    if (rank == 2)
        view_fact(r, "number in block",
                  result_text(r, "x + y*%lld = %lld + %lld*%lld = %d", (long long)b->x,
                              (long long)at->x, (long long)at->y, (long long)b->x, p->tid));
    view_fact(r, "warp and lane",
              result_text(r, "%d / 32 = %d, %d %% 32 = %d", p->tid, p->warp, p->tid, p->lane));
    view_fact(r, rank == 1 ? "i" : "x",
              result_text(r, "blockIdx.x * blockDim.x + threadIdx.x = %lld*%lld + %lld = %lld",
                          (long long)of->x, (long long)b->x, (long long)at->x,
                          (long long)global.x));
    if (rank > 1)
        view_fact(r, "y",
                  result_text(r, "blockIdx.y * blockDim.y + threadIdx.y = %lld*%lld + %lld = %lld",
                              (long long)of->y, (long long)b->y, (long long)at->y,
                              (long long)global.y));
    if (rank > 2)
        view_fact(r, "z",
                  result_text(r, "blockIdx.z * blockDim.z + threadIdx.z = %lld*%lld + %lld = %lld",
                              (long long)of->z, (long long)b->z, (long long)at->z,
                              (long long)global.z));
    if (rank > 1)
        view_fact(r, "number in grid",
                  result_text(r, "block %lld * %d threads + %d = %lld",
                              (long long)extent_rank(p->layout.grid, *of), p->layout.threads,
                              p->tid, (long long)p->i));
}

static bool is_inside(const struct layout_point *p)
{
    struct extent global = global_of(p);

    if (p->is_linear)
        return p->i < p->n.x;
    return global.x < p->n.x && global.y < p->n.y && global.z < p->n.z;
}

/* The warp that a limit on i cuts: it is the only one. */
static const char *split_warp(struct result *r, const struct layout_point *p)
{
    int64_t block = p->n.x / p->layout.threads, tid = p->n.x % p->layout.threads;
    int64_t first = tid / WARP * WARP, lanes = min_i64(p->layout.threads - first, WARP);

    return result_text(r, "warp %lld of block %s: %lld of its %lld threads pass",
                       (long long)(tid / WARP), layout_count(r, block), (long long)(tid - first),
                       (long long)lanes);
}

static void add_bounds(struct result *r, const struct layout_point *p)
{
    const struct layout_bounds *b = &p->bounds;

    if (!p->has_n)
        return;
    if (p->question == LAYOUT_THREAD)
        view_fact(r, "boundary",
                  result_text(r, "%s %s for this thread", layout_test_text(r, p),
                              is_inside(p) ? "holds" : "does not hold"));
    view_fact(r, "inside",
              result_text(r, "%s of %s threads", layout_count(r, b->inside),
                          layout_count(r, p->layout.all_threads)));
    if (b->split && p->is_linear)
        view_fact(r, "splits", split_warp(r, p));
    if (p->is_linear && p->n.x > p->layout.all_threads)
        view_fact(r, "too few",
                  result_text(r, "elements %s to %s have no thread: a grid of %s blocks covers n",
                              layout_count(r, p->layout.all_threads), layout_count(r, p->n.x - 1),
                              layout_count(r, ceil_div(p->n.x, p->layout.threads))));
    view_fact(r, "lanes",
              result_text(r, "%s of those behind the test are busy",
                          layout_percent(r, b->lane_efficiency)));
}

static const char *closing(struct result *r, const struct layout_point *p)
{
    const struct layout *l = &p->layout;

    if (p->has_n && p->question == LAYOUT_CUT)
        return result_text(r,
                           "Next: %%layout block=%s n=[100,1000,10000,100000] shows how the "
                           "share shrinks.",
                           layout_block_text(r, p));
    if (l->idle_lanes)
        return l->warps > 1
                   ? result_text(r, "To 100 %%: a block of %d or %d threads, a multiple of 32.",
                                 (l->warps - 1) * WARP, l->warps * WARP)
                   : result_text(r, "To 100 %%: a block of %d threads, a multiple of 32.", WARP);
    if (p->question == LAYOUT_CUT)
        return result_text(r, "Next: %%layout block=%s thread=%d shows where one thread is.",
                           layout_block_text(r, p), p->layout.threads * 3 / 5);
    return result_text(r, "Next: %%lanes block=%s if={lane < 24} shows what a branch does.",
                       layout_block_text(r, p));
}

int layout_show_one(struct result *result, const struct call *call, const struct layout_point *p,
                    struct err *err)
{
    if (set_fields(result, p, err) < 0)
        return -1;
    result->view.answer = answer(result, p);
    result->view.origin = result_text(result, "any NVIDIA GPU: a warp is 32 threads   %s",
                                      call_parameters_text(call, NULL));
    if (p->question == LAYOUT_THREAD)
        add_index(result, p);
    add_bounds(result, p);
    add_warps(result, p);
    add_map(result, p);
    result->view.closing = closing(result, p);
    layout_add_figure(result, p);
    return 0;
}
