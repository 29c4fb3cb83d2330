/*
 * %lanes: what a branch or loop costs where the lanes of a warp disagree. The
 * counting is model/lanes.c's, the keys are read in lanes_point.c; what a person
 * reads is in lanes_view.c and lanes_figure.c (one launch) and lanes_sweep.c
 * (ranges and lists).
 */
#include "cells/magics/lanes.h"

#include "cells/internal.h"
#include "cells/magics.h"
#include "cells/render/text.h"

const char *lanes_percent(struct result *result, double fraction)
{
    char text[TEXT_NUMBER];

    return result_text(result, "%s", text_percent(text, fraction));
}

const char *lanes_count(struct result *result, int64_t v)
{
    char text[TEXT_NUMBER];

    return result_text(result, "%s", text_number(text, (double)v));
}

/* "2", "1.5", "1.35": up to two decimals. */
const char *lanes_ratio(struct result *result, double ratio)
{
    const char *text = result_text(result, "%.2f", ratio);
    size_t n = text ? strlen(text) : 0;

    while (n && text[n - 1] == '0')
        n--;
    n -= n && text[n - 1] == '.';
    return result_text(result, "%.*s", (int)n, text ? text : "");
}

int64_t lanes_point_cycles(const struct lanes_point *p)
{
    return p->order.is_its ? p->its_cycles : p->stack_cycles;
}

int64_t lanes_shown_warp(const struct lanes_point *p)
{
    for (int64_t w = 0; w < p->total.warps; w++)
        if (p->warps[w].is_split)
            return w;
    return 0;
}

int lanes_path_place(const struct lanes_point *p, const struct lanes_warp *warp, int stretch)
{
    if (p->key_count <= WARP)
        for (int i = 0; i < p->key_count; i++)
            if (p->keys[i] == warp->stretches[stretch].key)
                return i;
    return stretch;
}

/* A sweep keeps of each point the numbers, not the warps: their arena ends with it. */
static int run_all(const struct sweep *sweep, struct lanes_point *points, struct err *err)
{
    int rc = 0;

    if (!sweep->key_count)
        return lanes_point_run(sweep, 0, sweep->call->arena, points, err);
    for (size_t i = 0; rc == 0 && i < sweep->points; i++) {
        struct arena *arena = arena_new(0);

        rc = arena ? lanes_point_run(sweep, i, arena, &points[i], err)
                   : err_set(err, ERR_ResourceError, "out of memory");
        points[i].warps = NULL;
        points[i].of_warp = NULL;
        arena_free(&arena);
    }
    return rc;
}

static int run(struct call *call, struct err *err)
{
    struct lanes_point *points;
    struct result *result;
    struct sweep sweep;
    int rc;

    points = sweep_start(&sweep, call, sizeof(*points), err);
    if (!points || run_all(&sweep, points, err) < 0)
        return -1;
    result = result_new("lanes", 1);
    if (!result)
        return err_set(err, ERR_ResourceError, "out of memory");
    rc = call_set_model(call, result, err);
    if (rc == 0)
        rc = sweep.key_count ? lanes_show_sweep(result, &sweep, points, err)
                             : lanes_show_one(result, call, points, err);
    return call_finish(call, result, rc < 0, err);
}

/* ---- the row ---- */

static const struct param PARAMS[] = {
    { .name = "if",
      .type = PARAM_EXPR,
      .preset = "{lane < 24}",
      .help = "the condition of each thread; a list of them are ifs inside each other" },
    { .name = "then",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP,
      .min = 0,
      .max = LANES_MAX_LENGTH,
      .help = "instructions where the condition holds; else length" },
    { .name = "else",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP,
      .min = 0,
      .max = LANES_MAX_LENGTH,
      .help = "instructions where it does not; 0: an if without else" },
    { .name = "depth",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP,
      .min = 0,
      .max = 30,
      .help = "instead: so many ifs inside each other, each on one bit of the lane" },
    { .name = "paths",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP,
      .min = 1,
      .max = WARP,
      .help = "instead: so many paths, lane mod paths says which" },
    { .name = "path",
      .type = PARAM_EXPR,
      .help = "instead: the number of each thread's path, as a switch: {lane / 8}" },
    { .name = "trips",
      .type = PARAM_EXPR,
      .help = "instead: a loop, and how often each thread runs its body: {4 + lane % 5}" },
    { .name = "length",
      .type = PARAM_EXPR,
      .preset = "4",
      .help = "instructions of a path or of the loop's body; may name path: {2 + path}" },
    { .name = "before",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP,
      .preset = "0",
      .min = 0,
      .max = LANES_MAX_LENGTH,
      .help = "instructions that all threads run before it" },
    { .name = "after",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP,
      .preset = "0",
      .min = 0,
      .max = LANES_MAX_LENGTH,
      .help = "instructions that all threads run after the join" },
    { .name = "wait",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP,
      .preset = "0",
      .min = 0,
      .max = LANES_MAX_LENGTH,
      .help = "cycles that each path waits at its end, for memory" },
    { .name = "its",
      .type = PARAM_CHOICE,
      .flags = PARAM_SWEEP,
      .preset = "on",
      .choices = "on off",
      .help = "on: a path that waits lets another one issue (Volta and later); off: a stack" },
    { .name = "turns",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP,
      .preset = "0",
      .min = 0,
      .max = LANES_MAX_LENGTH,
      .help = "with its=on: instructions until the next path's turn; 0: when it waits" },
    { .name = "block",
      .type = PARAM_DIM,
      .flags = PARAM_SWEEP,
      .preset = "32",
      .min = 1,
      .max = LAYOUT_BLOCK_THREADS,
      .help = "threads a block: 64, (16,16)" },
    { .name = "grid",
      .type = PARAM_DIM,
      .flags = PARAM_SWEEP,
      .preset = "1",
      .min = 1,
      .max = INT32_MAX,
      .help = "blocks" },
};

static const struct field FIELDS[] = {
    { "passes", "", "of the branch or loop, all warps: runs of one path with its lanes alone" },
    { "paths", "", "different ways through it, of the warp that has most" },
    { "issue_slots", "instructions", "issued, all warps" },
    { "lane_slots", "", "the same times the lanes that worked" },
    { "lane_efficiency", "0..1", "lane_slots / (32 * issue_slots)" },
    { "undivided_slots", "instructions", "the same work, if no warp had to split" },
    { "time_ratio", "", "issue_slots / undivided_slots" },
    { "cycles", "cycles",
      "of the slowest warp alone, one instruction a cycle, in the order of its=" },
    { "cycles_stack", "cycles", "the same with its=off" },
    { "cycles_its", "cycles", "the same with its=on" },
    { "warps", "", "total, uniform, split, idle (nothing to do in any lane)" },
    { "per_warp", "", "of the first 64: split, paths, passes, slots, cycles, masks and stretches" },
    { "timeline", "", "who issues in each cycle (A B ...; . waits): warp, stack, its" },
    { "sweep", "", "with ranges or lists: one entry a point" },
};

const struct magic MAGIC_LANES = {
    .name = "lanes",
    .summary = "what a branch or loop costs where the lanes of a warp disagree",
    .about =
        "A warp has one instruction stream. Where its lanes take different paths it runs through "
        "them one after the other, each with its own lanes: a pass. Passes add up; they never "
        "multiply. A loop runs until its last lane is done. Warps that agree pay nothing, whatever "
        "the other warps do.\n\n"
        "An expression is evaluated for each thread and may name lane, warp, tid, i (number in the "
        "grid), x y z (position in the grid), tx ty tz, threadIdx, blockIdx, blockDim, gridDim, and "
        "the session's variables.\n\n"
        "its=off runs one path to the join before the next (the stack of masks of GPUs before "
        "Volta); its=on lets another path issue while one waits. Both issue the same instructions: "
        "only waits overlap. The branch itself is not counted, and short branches compile to "
        "selects without any (%ptx shows which).\n\n"
        "Sources: CUDA C++ Programming Guide 13.0, SIMT Architecture; arXiv 2607.23402 (time "
        "linear in the number of paths, Pascal to Blackwell); arXiv 2407.02944 (the two modes).",
    .example = "%lanes if={lane < 24} then=4 else=4 after=4\n"
               "%lanes if={tid % 2 == 0} block=64\n"
               "%lanes trips={4 + lane % 5} length=1\n"
               "%lanes paths=2 wait=8 its=[off,on]\n"
               "%lanes depth=0..7",
    .params = PARAMS,
    .param_count = COUNT(PARAMS),
    .fields = FIELDS,
    .field_count = COUNT(FIELDS),
    .run = run,
};
