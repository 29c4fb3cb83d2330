/*
 * %layout: how threads become warps, and where one thread is. The arithmetic is
 * model/layout.c's; here a call becomes launches and questions about them. What a
 * person reads is in layout_view.c and layout_figure.c (one launch) and in
 * layout_sweep.c (ranges and lists).
 */
#include "cells/magics/layout.h"

#include "cells/internal.h"
#include "cells/magics.h"
#include "cells/render/text.h"

#include <math.h>

const char *layout_percent(struct result *result, double fraction)
{
    char text[TEXT_NUMBER];

    return result_text(result, "%s", text_percent(text, fraction));
}

const char *layout_count(struct result *result, int64_t v)
{
    char text[TEXT_NUMBER];

    return result_text(result, "%s", text_number(text, (double)v));
}

const char *layout_block_text(struct result *result, const struct layout_point *p)
{
    return extent_text(result, p->layout.block, extent_rank_of(p->layout.block));
}

const char *layout_thread_text(struct result *result, const struct layout_point *p, int tid)
{
    return extent_text(result, extent_place(p->layout.block, tid), extent_rank_of(p->layout.block));
}

const char *layout_test_text(struct result *result, const struct layout_point *p)
{
    const char *text =
        result_text(result, "%s < %s", p->is_linear ? "i" : "x", layout_count(result, p->n.x));

    if (!p->is_linear)
        text = result_text(result, "%s && y < %s", text, layout_count(result, p->n.y));
    if (!p->is_linear && p->layout.block.z * p->layout.grid.z > 1)
        text = result_text(result, "%s && z < %s", text, layout_count(result, p->n.z));
    return text;
}

double layout_split_share(const struct layout_point *p)
{
    return (double)p->bounds.split / (double)p->layout.all_warps;
}

/* ---- the launch ---- */

static bool sweep_has(const struct sweep *sweep, const char *name)
{
    return call_arg(sweep->call, name)->count > 0;
}

/* As many blocks as n needs, where grid= was not given. */
static struct extent grid_for(const struct layout_point *p, struct extent block)
{
    if (!p->has_n)
        return (struct extent){ 1, 1, 1 };
    if (p->is_linear)
        return (struct extent){ max_i64(1, ceil_div(p->n.x, extent_count(block))), 1, 1 };
    return (struct extent){ max_i64(1, ceil_div(p->n.x, block.x)),
                            max_i64(1, ceil_div(p->n.y, block.y)),
                            max_i64(1, ceil_div(p->n.z, block.z)) };
}

static int read_launch(const struct sweep *sweep, size_t i, struct layout_point *p, struct err *err)
{
    struct extent block = extent_of_value(sweep_value(sweep, i, "block"), 1), grid;
    const struct value *n = sweep_value(sweep, i, "n");

    p->has_n = n != NULL;
    if (n) {
        p->is_linear = n->type == VALUE_INT;
        p->n = extent_of_value(n, 1);
    }
    grid = sweep_has(sweep, "grid") ? extent_of_value(sweep_value(sweep, i, "grid"), 1)
                                    : grid_for(p, block);
    if (call_layout(sweep->call, block, grid, sweep_has(sweep, "grid") ? "grid" : "n", &p->layout,
                    err) < 0)
        return -1;
    if (n)
        layout_bounds(&p->layout, p->n, p->is_linear, &p->bounds);
    return 0;
}

/* ---- the question ---- */

/* A place, or a number, that must lie in a size. */
static int read_place(const struct call *call, const char *key, struct extent size,
                      struct extent *out, struct err *err)
{
    const struct value *v = &call_arg(call, key)->values[0];
    int64_t most = extent_count(size);

    if (v->type == VALUE_INT) {
        if (v->i >= most)
            return call_fail(call, key, err, ERR_ValueError,
                             "%s=%lld: there are %lld, numbered 0 to %lld", key, (long long)v->i,
                             (long long)most, (long long)most - 1);
        *out = extent_place(size, v->i);
        return 0;
    }
    *out = extent_of_value(v, 0);
    if (out->x < size.x && out->y < size.y && out->z < size.z)
        return 0;
    return call_fail(call, key, err, ERR_ValueError, "%s=%s: the last one is (%lld,%lld,%lld)", key,
                     call_arg(call, key)->text, (long long)size.x - 1, (long long)size.y - 1,
                     (long long)size.z - 1);
}

static int read_warp(const struct call *call, struct layout_point *p, struct err *err)
{
    int threads = p->layout.threads;

    p->question = LAYOUT_WARP;
    p->warp = (int)call_int(call, "warp");
    if (p->warp >= p->layout.warps)
        return call_fail(call, "warp", err, ERR_ValueError,
                         "warp=%d: the block has %d warp%s, numbered 0 to %d", p->warp,
                         p->layout.warps, p->layout.warps == 1 ? "" : "s", p->layout.warps - 1);
    if (!call_given(call, "lane"))
        return 0;
    p->question = LAYOUT_THREAD;
    p->lane = (int)call_int(call, "lane");
    p->tid = p->warp * WARP + p->lane;
    if (p->tid >= threads)
        return call_fail(call, "lane", err, ERR_ValueError,
                         "lane=%d of warp %d is idle: the block ends with lane %d (thread %d)",
                         p->lane, p->warp, (threads - 1) % WARP, threads - 1);
    return 0;
}

/* The thread whose number in the grid is i: its block, and itself. */
static int read_element(const struct call *call, struct layout_point *p, struct err *err)
{
    int64_t i = call_int(call, "i");

    p->question = LAYOUT_THREAD;
    if (i >= p->layout.all_threads)
        return call_fail(call, "i", err, ERR_ValueError,
                         "i=%lld: the grid has %lld threads, numbered 0 to %lld", (long long)i,
                         (long long)p->layout.all_threads, (long long)p->layout.all_threads - 1);
    p->tid = (int)(i % p->layout.threads);
    p->block_at = extent_place(p->layout.grid, i / p->layout.threads);
    return 0;
}

static int check_one_question(const struct call *call, struct err *err)
{
    static const char *const keys[] = { "thread", "warp", "i" };
    const char *first = NULL;

    for (size_t k = 0; k < COUNT(keys); k++) {
        if (!call_given(call, keys[k]))
            continue;
        if (first)
            return call_fail(call, keys[k], err, ERR_UsageError,
                             "%s= and %s= both say which thread: one of them is enough", first,
                             keys[k]);
        first = keys[k];
    }
    if (call_given(call, "lane") && !call_given(call, "warp"))
        return call_fail(call, "lane", err, ERR_UsageError, "lane= needs warp= beside it");
    if (call_given(call, "i") && call_given(call, "blockIdx"))
        return call_fail(call, "blockIdx", err, ERR_UsageError,
                         "i= says already which block the thread is in");
    return 0;
}

static int read_question(const struct call *call, struct layout_point *p, struct err *err)
{
    if (check_one_question(call, err) < 0)
        return -1;
    if (call_given(call, "blockIdx") &&
        read_place(call, "blockIdx", p->layout.grid, &p->block_at, err) < 0)
        return -1;
    if (call_given(call, "thread")) {
        p->question = LAYOUT_THREAD;
        if (read_place(call, "thread", p->layout.block, &p->at, err) < 0)
            return -1;
        p->tid = (int)extent_rank(p->layout.block, p->at);
    }
    if (call_given(call, "warp") && read_warp(call, p, err) < 0)
        return -1;
    if (call_given(call, "i") && read_element(call, p, err) < 0)
        return -1;
    if (p->question == LAYOUT_THREAD) {
        p->at = extent_place(p->layout.block, p->tid);
        p->warp = p->tid / WARP;
        p->lane = p->tid % WARP;
        p->i = extent_rank(p->layout.grid, p->block_at) * p->layout.threads + p->tid;
    }
    return 0;
}

static int read_all(const struct sweep *sweep, struct layout_point *points, struct err *err)
{
    for (size_t i = 0; i < sweep->points; i++) {
        if (i % 1024 == 0 && call_check_stop(sweep->call, err) < 0)
            return -1;
        if (read_launch(sweep, i, &points[i], err) < 0)
            return -1;
    }
    return sweep->key_count ? 0 : read_question(sweep->call, points, err);
}

static int run(struct call *call, struct err *err)
{
    struct layout_point *points;
    struct result *result;
    struct sweep sweep;
    int rc;

    points = sweep_start(&sweep, call, sizeof(*points), err);
    if (!points || read_all(&sweep, points, err) < 0)
        return -1;
    result = result_new("layout", 1);
    if (!result)
        return err_set(err, ERR_ResourceError, "out of memory");
    rc = call_set_model(call, result, err);
    if (rc == 0)
        rc = sweep.key_count ? layout_show_sweep(result, &sweep, points, err)
                             : layout_show_one(result, call, points, err);
    return call_finish(call, result, rc < 0, err);
}

/* ---- the row ---- */

static const struct param PARAMS[] = {
    { .name = "block",
      .type = PARAM_DIM,
      .flags = PARAM_SWEEP,
      .preset = "256",
      .min = 1,
      .max = LAYOUT_BLOCK_THREADS,
      .help = "threads a block: 256, (16,16) or (8,8,2)" },
    { .name = "grid",
      .type = PARAM_DIM,
      .flags = PARAM_SWEEP,
      .min = 1,
      .max = INT32_MAX,
      .help = "blocks: 4 or (4,4); else as many as n needs, or 1" },
    { .name = "n",
      .type = PARAM_DIM,
      .flags = PARAM_SWEEP,
      .min = 0,
      .max = 1e15,
      .help = "limit of the boundary test: i < n for a number, x < n.x && y < n.y for (nx,ny)" },
    { .name = "thread",
      .type = PARAM_DIM,
      .min = 0,
      .max = HUGE_VAL,
      .help = "which thread of the block: threadIdx as (x,y,z), or its number" },
    { .name = "blockIdx",
      .type = PARAM_DIM,
      .min = 0,
      .max = HUGE_VAL,
      .help = "which block of the grid that thread is in: (x,y,z), or its number" },
    { .name = "warp",
      .type = PARAM_INT,
      .min = 0,
      .max = LAYOUT_BLOCK_WARPS - 1,
      .help = "which warp of the block" },
    { .name = "lane",
      .type = PARAM_INT,
      .min = 0,
      .max = WARP - 1,
      .help = "with warp: which of its lanes" },
    { .name = "i",
      .type = PARAM_INT,
      .min = 0,
      .max = HUGE_VAL,
      .help = "which thread of the whole grid: its number" },
};

static const struct field FIELDS[] = {
    { "threads", "", "of a block" },
    { "warps", "", "of a block: threads / 32, rounded up" },
    { "idle_lanes", "", "lanes of the last warp without a thread" },
    { "lane_efficiency", "0..1", "threads / (32 * warps)" },
    { "blocks", "", "of the grid" },
    { "total_threads", "", "of the grid" },
    { "total_warps", "", "of the grid" },
    { "per_warp", "", "of each warp of a block: warp, first and last thread, lanes, mask" },
    { "thread", "", "of the thread asked for: threadIdx, blockIdx, tid, warp, lane, i, x, y, z" },
    { "bounds", "",
      "with n: warps that pass whole, split or stay out; inside; split_share; "
      "lane_efficiency" },
    { "sweep", "", "with ranges or lists: one entry a point" },
};

const struct magic MAGIC_LAYOUT = {
    .name = "layout",
    .summary = "which warp and lane a thread is, and which lanes stay idle",
    .about =
        "The threads of a block are numbered x fastest, then y, then z: tid = x + y * blockDim.x + "
        "z * blockDim.x * blockDim.y. Each 32 in a row are a warp; what does not fill the last one "
        "are lanes that stay idle. thread= (or warp= and lane=, or i=) says where one thread is and "
        "how its global index comes about.\n\n"
        "With n= the warps are counted that a boundary test splits: only the last one that the "
        "limit cuts diverges, so the share shrinks as n grows.\n\n"
        "Source: CUDA C++ Programming Guide 13.0, Thread Hierarchy and SIMT Architecture.",
    .example = "%layout block=(8,8,2)\n"
               "%layout block=256 grid=3 thread=77 blockIdx=2\n"
               "%layout block=256 n=1000\n"
               "%layout block=1..256",
    .params = PARAMS,
    .param_count = COUNT(PARAMS),
    .fields = FIELDS,
    .field_count = COUNT(FIELDS),
    .run = run,
};
