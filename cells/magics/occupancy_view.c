/*
 * One point of %occupancy as a person reads it: the answer, a row for each
 * resource with the binding one first, why the numbers are rounded as they are,
 * what a neighbouring choice would give, and the one change worth making.
 */
#include "cells/magics/occupancy.h"

#include "cells/figure.h"
#include "cells/render/text.h"
#include "model/base/buf.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- fields ---- */

static json_t *blocks_json(int blocks)
{
    return blocks == OCCUPANCY_NO_LIMIT ? json_null() : json_integer(blocks);
}

static const char *change_key(enum occupancy_change change)
{
    static const char *const keys[] = { "", "block", "regs", "dynamic", "static" };

    return keys[change];
}

/* "40 registers, __launch_bounds__(256, 6); costs 2 registers, may spill" */
static const char *advice_text(struct result *result, const struct occupancy_point *point,
                               const struct occupancy_advice *advice)
{
    const struct device *dev = &point->device.device;
    char to[TEXT_NUMBER], cost[TEXT_NUMBER];

    text_number(to, (double)advice->to);
    text_number(cost, (double)llabs(advice->from - advice->to));
    switch (advice->change) {
    case OCCUPANCY_CHANGE_BLOCK:
        return result_text(result, "blocks of %s threads; costs nothing but another grid size", to);
    case OCCUPANCY_CHANGE_REGS:
        return result_text(result,
                           "%s registers, __launch_bounds__(%d, %d); costs %s register%s, may "
                           "spill",
                           to, point->shape.block, advice->after.active_blocks, cost,
                           advice->from - advice->to == 1 ? "" : "s");
    case OCCUPANCY_CHANGE_STATIC:
        if (point->shape.static_bytes > dev->static_shared_per_block)
            return result_text(result,
                               "at most %s bytes of static shared memory; more must be dynamic "
                               "(extern __shared__)",
                               to);
        return result_text(result, "%s bytes of static shared memory; costs %s bytes a block", to,
                           cost);
    case OCCUPANCY_CHANGE_DYNAMIC:
        return result_text(result, "%s bytes of dynamic shared memory; costs %s bytes a block", to,
                           cost);
    case OCCUPANCY_CHANGE_NONE:
        break;
    }
    return NULL;
}

static json_t *advice_json(struct result *result, const struct occupancy_point *point,
                           const struct occupancy_advice *advice)
{
    if (advice->change == OCCUPANCY_CHANGE_NONE)
        return json_null();
    return json_pack("{s:s, s:I, s:I, s:f, s:i, s:i, s:s}", "change", change_key(advice->change),
                     "from", (json_int_t)advice->from, "to", (json_int_t)advice->to, "occupancy",
                     advice->after.occupancy, "active_blocks", advice->after.active_blocks,
                     "active_warps", advice->after.active_warps, "text",
                     advice_text(result, point, advice));
}

int occupancy_set_fields(struct result *result, const struct occupancy_point *point,
                         const struct occupancy_advice *advice, struct err *err)
{
    const struct occupancy *occ = &point->occ;
    json_t *limits = json_object();
    json_t *fields;
    int failed = 0, rc = 0;

    for (int i = 0; i < OCCUPANCY_LIMIT_COUNT; i++)
        failed |= json_object_set_new(limits, occupancy_limit_name((enum occupancy_limit)i),
                                      blocks_json(occ->limits[i]));
    fields =
        json_pack("{s:i, s:i, s:i, s:f, s:o, s:o, s:{s:I, s:I}, s:o}", "active_blocks",
                  occ->active_blocks, "active_warps", occ->active_warps, "max_warps",
                  occ->max_warps, "occupancy", occ->occupancy, "limiters",
                  occupancy_limiters_json(occ), "limits", json_whole(limits, failed), "allocated",
                  "registers_per_block", (json_int_t)occ->registers_per_block, "shared_per_block",
                  (json_int_t)occ->shared_per_block, "advice", advice_json(result, point, advice));
    if (point->kernel)
        rc |= json_object_set_new(fields, "spills", occupancy_spills_json(point));
    if (point->rule >= 0)
        rc |= json_object_set_new(fields, "compare", occupancy_other_json(point));
    if (occ->max_clusters)
        rc |= json_object_set_new(fields, "max_clusters", json_integer(occ->max_clusters));
    rc |= json_object_update(result->fields, fields);
    json_decref(fields);
    return rc < 0 ? err_set(err, ERR_ResourceError, "out of memory") : 0;
}

/* ---- the table ---- */

struct resource {
    const char *name;
    enum occupancy_limit limit;
    int64_t takes, has;
};

/* Scarcest first; the usual order among equals. */
static size_t list_resources(const struct occupancy_point *point, struct resource *rows)
{
    const struct device *dev = &point->device.device;
    const struct occupancy *occ = &point->occ;
    const struct resource all[] = {
        { "registers", OCCUPANCY_REGISTERS, occ->registers_per_block, dev->registers_per_sm },
        { "warps", OCCUPANCY_WARPS, occ->warps_per_block, dev->warps_per_sm },
        { "shared bytes", OCCUPANCY_SHARED, occ->shared_per_block, occ->shared_capacity },
        { "block slots", OCCUPANCY_BLOCKS, 1, dev->blocks_per_sm },
        { "cluster", OCCUPANCY_CLUSTER, point->shape.cluster, dev->cluster_max },
    };
    size_t count = 0, at;

    for (size_t i = 0; i < COUNT(all); i++) {
        if (all[i].limit == OCCUPANCY_CLUSTER && point->shape.cluster <= 1)
            continue;
        for (at = count; at > 0; at--) {
            if (occ->limits[rows[at - 1].limit] <= occ->limits[all[i].limit])
                break;
            rows[at] = rows[at - 1];
        }
        rows[at] = all[i];
        count++;
    }
    return count;
}

static const char *number_text(struct result *result, int64_t v)
{
    char text[TEXT_NUMBER];

    return result_text(result, "%s", text_number(text, (double)v));
}

static const char *use_text(struct result *result, int64_t used, int64_t has)
{
    return result_text(result, "%s  %6s", number_text(result, used),
                       occupancy_percent(result, has ? (double)used / (double)has : 0));
}

static void add_table(struct result *result, const struct occupancy_point *point)
{
    const struct occupancy *occ = &point->occ;
    struct resource rows[OCCUPANCY_LIMIT_COUNT];
    size_t count = list_resources(point, rows);
    const struct view_column columns[] = {
        { "", VIEW_LEFT },
        { "a block takes", VIEW_RIGHT },
        { "an SM has", VIEW_RIGHT },
        { "blocks fit", VIEW_RIGHT },
        { result_text(result, "%d block%s use%s", occ->active_blocks,
                      occ->active_blocks == 1 ? "" : "s", occ->active_blocks == 1 ? "s" : ""),
          VIEW_RIGHT },
    };
    struct view_table *table = view_add_table(result, columns, COUNT(columns), count);

    for (size_t i = 0; i < count; i++) {
        const struct resource *row = &rows[i];
        int fit = occ->limits[row->limit];

        view_cell(table, i, 0, row->name);
        view_cell(table, i, 1, number_text(result, row->takes));
        view_cell(table, i, 2, number_text(result, row->has));
        view_cell(table, i, 3, fit == OCCUPANCY_NO_LIMIT ? "no limit" : number_text(result, fit));
        if (row->limit != OCCUPANCY_CLUSTER)
            view_cell(table, i, 4, use_text(result, row->takes * occ->active_blocks, row->has));
        if (occ->limiters >> row->limit & 1)
            view_mark(table, i);
    }
}

/* ---- why: roundings and rules that acted ---- */

struct facts {
    struct result *result;
    const char *names[16], *texts[16];
    size_t count;
};

static void add_fact(struct facts *facts, const char *name, const char *text)
{
    if (facts->count == COUNT(facts->names) || !text)
        return;
    facts->names[facts->count] = name;
    facts->texts[facts->count++] = text;
}

static void explain_registers(struct facts *facts, const struct occupancy_point *point)
{
    const struct device *dev = &point->device.device;
    const struct occupancy *occ = &point->occ;
    int64_t per_warp = occ->registers_per_warp, asked = (int64_t)point->shape.regs * WARP;
    int part = dev->registers_per_sm / dev->partitions;

    if (asked != per_warp)
        add_fact(facts, "registers:",
                 result_text(facts->result, "a warp gets units of %d, so %d a thread count as %lld",
                             dev->register_unit, point->shape.regs, (long long)(per_warp / WARP)));
    if (occ->limits[OCCUPANCY_REGISTERS] == 0)
        add_fact(facts, "registers:",
                 result_text(facts->result,
                             "one block needs %s, and %s is all that a block may "
                             "have",
                             number_text(facts->result, occ->registers_per_block),
                             number_text(facts->result, dev->registers_per_block)));
    /* Plain division would let one more block in than the partitions do. */
    else if (per_warp && dev->registers_per_sm / (per_warp * occ->warps_per_block) !=
                             occ->limits[OCCUPANCY_REGISTERS])
        add_fact(facts, "registers:",
                 result_text(facts->result,
                             "each of the %d partitions has %s: %lld warps of %s fit in one, %lld "
                             "in all",
                             dev->partitions, number_text(facts->result, part),
                             (long long)(part / per_warp), number_text(facts->result, per_warp),
                             (long long)(part / per_warp * dev->partitions)));
}

static void explain_shared(struct facts *facts, const struct occupancy_point *point)
{
    struct result *result = facts->result;
    const struct device *dev = &point->device.device;
    const struct launch_shape *shape = &point->shape;
    int64_t asked = shape->static_bytes + shape->dynamic_bytes;
    int64_t sum = asked + dev->shared_reserved;

    if (asked && dev->shared_reserved)
        add_fact(facts, "shared:",
                 result_text(result, "%s asked + %s reserved by the system for every block%s",
                             number_text(result, asked), number_text(result, dev->shared_reserved),
                             sum == point->occ.shared_per_block
                                 ? ""
                                 : result_text(result, ", rounded up to %s",
                                               number_text(result, point->occ.shared_per_block))));
    if (shape->is_opted_out)
        add_fact(facts, "shared:",
                 result_text(result, "%s static bytes: the compiler refuses more than %s",
                             number_text(result, shape->static_bytes),
                             number_text(result, dev->static_shared_per_block)));
    else if (asked > dev->shared_per_block_optin)
        add_fact(facts, "shared:",
                 result_text(result, "a block may have %s bytes at most",
                             number_text(result, dev->shared_per_block_optin)));
    else if (asked > dev->shared_per_block)
        add_fact(facts, "shared:",
                 result_text(result,
                             "above %s a kernel must opt in "
                             "(cudaFuncAttributeMaxDynamicSharedMemorySize); counted as done",
                             number_text(result, dev->shared_per_block)));
    if (shape->carveout != OCCUPANCY_DEFAULT_CARVEOUT && dev->carveout_count)
        add_fact(facts, "carveout:",
                 result_text(result, "%d %% of %s is rounded up to a split of the cache: %s bytes",
                             shape->carveout, number_text(result, dev->shared_per_sm),
                             number_text(result, point->occ.shared_capacity)));
}

static void explain_block(struct facts *facts, const struct occupancy_point *point)
{
    int warps = point->occ.warps_per_block, idle = warps * WARP - point->shape.block;
    const struct device *dev = &point->device.device;

    if (idle)
        add_fact(facts, "block:",
                 result_text(facts->result,
                             "%d threads are %d warp%s with %d idle lane%s: %s by threads",
                             point->shape.block, warps, warps == 1 ? "" : "s", idle,
                             idle == 1 ? "" : "s",
                             occupancy_percent(facts->result, (double)point->occ.active_blocks *
                                                                  point->shape.block /
                                                                  dev->threads_per_sm)));
    if (point->shape.cluster <= 1)
        return;
    if (point->shape.cluster > dev->cluster_max)
        add_fact(facts, "cluster:",
                 dev->cluster_max
                     ? result_text(facts->result, "the largest has %d blocks", dev->cluster_max)
                     : "this device has none (they came with compute capability 9.0)");
    else if (point->shape.cluster > dev->cluster_portable)
        add_fact(facts, "cluster:",
                 result_text(facts->result,
                             "above %d blocks a kernel must allow the non-portable size",
                             dev->cluster_portable));
    if (point->occ.max_clusters)
        add_fact(facts, "cluster:",
                 result_text(facts->result,
                             "at most %lld on the device; a cluster stays in one GPC, so fewer may "
                             "fit",
                             (long long)point->occ.max_clusters));
}

/* ---- what if ---- */

enum { SHOWN_STEPS = 4 };

/* Neighbouring values that give the same occupancy. */
struct run {
    int64_t from, to;
    double occupancy;
};

struct runs {
    struct run run[256];
    size_t count, current; /* current: the run of the value that was asked for; count: none */
};

static void join_run(struct runs *runs, int64_t at, double occupancy, bool is_current)
{
    struct run *last = runs->count ? &runs->run[runs->count - 1] : NULL;

    if (last && last->occupancy == occupancy) {
        last->to = at;
    } else if (runs->count < COUNT(runs->run)) {
        runs->run[runs->count++] = (struct run){ at, at, occupancy };
    }
    if (is_current)
        runs->current = runs->count - 1;
}

static double occupancy_with(const struct occupancy_point *point, const struct launch_shape *shape)
{
    struct occupancy_point tried = *point;

    tried.shape = *shape;
    return occupancy_point_eval(&tried, NULL) < 0 ? 0 : tried.occ.occupancy;
}

static void runs_of_regs(const struct occupancy_point *point, struct runs *runs)
{
    struct launch_shape shape = point->shape;

    *runs = (struct runs){ .current = SIZE_MAX };
    for (shape.regs = 1; shape.regs <= point->device.device.registers_per_thread; shape.regs++)
        join_run(runs, shape.regs, occupancy_with(point, &shape), shape.regs == point->shape.regs);
}

/* Shown around the current one: the one below it, itself, and what follows. */
static size_t first_shown(size_t current, size_t count)
{
    size_t first = current == SIZE_MAX || current == 0 ? 0 : current - 1;

    if (first + SHOWN_STEPS > count)
        first = count > SHOWN_STEPS ? count - SHOWN_STEPS : 0;
    return first;
}

static const char *regs_text(struct result *result, const struct occupancy_point *point)
{
    struct runs runs;
    struct buf out = { 0 };
    const char *text;
    size_t first;

    runs_of_regs(point, &runs);
    first = first_shown(runs.current, runs.count);
    for (size_t i = first; i < runs.count && i < first + SHOWN_STEPS; i++) {
        const struct run *run = &runs.run[i];

        buf_puts(&out, i > first ? "    " : "");
        if (run->from > 1)
            buf_printf(&out, "%lld", (long long)run->from);
        if (run->to > run->from)
            buf_printf(&out, "..%lld", (long long)run->to);
        buf_printf(&out, ": %s%s", occupancy_percent(result, run->occupancy),
                   i == runs.current ? " <" : "");
    }
    text = result_text(result, "%s", buf_text(&out));
    buf_done(&out);
    return text;
}

static const char *block_text(struct result *result, const struct occupancy_point *point)
{
    static const int usual[] = { 32, 64, 128, 192, 256, 384, 512, 768, 1024 };
    struct launch_shape shape = point->shape;
    int sizes[COUNT(usual) + 1];
    size_t count = 0, current = SIZE_MAX, first;
    struct buf out = { 0 };
    const char *text;

    for (size_t i = 0; i < COUNT(usual); i++) {
        if (current == SIZE_MAX && shape.block <= usual[i]) {
            current = count;
            if (shape.block < usual[i])
                sizes[count++] = shape.block;
        }
        sizes[count++] = usual[i];
    }
    first = first_shown(current ? current - 1 : 0, count);
    for (size_t i = first; i < first + SHOWN_STEPS; i++) {
        shape.block = sizes[i];
        buf_printf(&out, "%s%d: %s%s", i > first ? "    " : "", sizes[i],
                   occupancy_percent(result, occupancy_with(point, &shape)),
                   i == current ? " <" : "");
    }
    text = result_text(result, "%s", buf_text(&out));
    buf_done(&out);
    return text;
}

/* The most shared bytes a block for one block more, as many, and one and two fewer. */
static const char *shared_text(struct result *result, const struct occupancy_point *point)
{
    const struct launch_shape *shape = &point->shape;
    struct launch_shape bare = *shape;
    int now = point->occ.active_blocks, shown = 0;
    struct buf out = { 0 };
    const char *text;
    int64_t bytes;

    if (!shape->static_bytes && !shape->dynamic_bytes)
        return NULL;
    bare.static_bytes = 0;
    bare.is_opted_out = false;
    for (int blocks = now + 1; blocks >= 1 && blocks >= now - 2; blocks--) {
        if (occupancy_available_dynamic(&point->device.device, &bare, blocks, &bytes, NULL) < 0)
            continue;
        bare.dynamic_bytes = bytes;
        buf_printf(&out, "%s..%s: %s%s", shown++ ? "    " : "", number_text(result, bytes),
                   occupancy_percent(result, occupancy_with(point, &bare)),
                   blocks == now ? " <" : "");
    }
    text = shown ? result_text(result, "%s", buf_text(&out)) : NULL;
    buf_done(&out);
    return text;
}

static void show_facts(const struct facts *facts)
{
    struct view_block *block = facts->count ? view_add_facts(facts->result, facts->count) : NULL;

    for (size_t i = 0; block && i < facts->count; i++) {
        block->names[i] = facts->names[i];
        block->texts[i] = facts->texts[i];
    }
}

static void explain_spills(struct facts *facts, const struct occupancy_point *point)
{
    const struct cuda_kernel *k = point->kernel;

    if (k)
        add_fact(facts, "spills:",
                 result_text(facts->result,
                             "%s bytes stored and %s loaded a thread, each time the code is run "
                             "through",
                             number_text(facts->result, k->spill_store_bytes),
                             number_text(facts->result, k->spill_load_bytes)));
}

static void explain(struct facts *facts, const struct occupancy_point *point)
{
    explain_registers(facts, point);
    explain_spills(facts, point);
    explain_shared(facts, point);
    explain_block(facts, point);
}

void occupancy_add_reasons(struct result *result, const struct occupancy_point *point)
{
    struct facts facts = { .result = result };

    explain(&facts, point);
    show_facts(&facts);
}

static void add_facts(struct result *result, const struct occupancy_point *point)
{
    struct facts facts = { .result = result };

    explain(&facts, point);
    add_fact(&facts, "regs", regs_text(result, point));
    add_fact(&facts, "block", block_text(result, point));
    add_fact(&facts, "shared", shared_text(result, point));
    show_facts(&facts);
}

/* ---- the figure: three what-if panels ---- */

enum { MOST_PANEL_POINTS = 256 };

struct panel_data {
    double x[MOST_PANEL_POINTS], y[MOST_PANEL_POINTS];
    size_t count;
};

static void put_point(struct panel_data *data, double x, double y)
{
    if (data->count == MOST_PANEL_POINTS)
        return;
    data->x[data->count] = x;
    data->y[data->count++] = y;
}

/* A staircase of one parameter; the value that was asked for carries its number. */
static void add_panel(struct figure *figure, const char *title, struct figure_axis x,
                      const struct panel_data *data, double current, const char *label)
{
    struct figure_axis y = { .label = "occupancy", .unit = UNIT_PERCENT, .min = 0, .max = 1 };
    struct panel *panel = figure_add_lines(figure, title, x, y);

    panel_add_steps(panel, "occupancy", data->x, data->y, data->count);
    if (current >= data->x[0] && current <= data->x[data->count - 1])
        panel_highlight(panel, current, label);
}

static void add_figure(struct result *result, const struct occupancy_point *point)
{
    const struct device *dev = &point->device.device;
    const struct launch_shape *asked = &point->shape;
    struct panel_data regs = { .count = 0 }, block = { .count = 0 }, shared = { .count = 0 };
    int64_t total = asked->static_bytes + asked->dynamic_bytes, step;
    const char *now = occupancy_percent(result, point->occ.occupancy);
    /* Where nothing is to be lifted, the answer itself is what the picture says. */
    const char *conclusion =
        point->occ.active_warps < point->occ.max_warps ? result->view.closing : result->view.answer;
    struct launch_shape shape = *asked;
    struct figure *figure =
        figure_new(result,
                   result_text(result, "Occupancy %s on %s, and what would change it", now,
                               dev->name),
                   result_text(result,
                               "Three staircases of occupancy: over registers a thread, threads a "
                               "block and shared bytes a block. Asked for: %s.",
                               now),
                   result_text(result, "%s\n  regs    %s\n  block   %s", conclusion,
                               regs_text(result, point), block_text(result, point)));

    for (shape.regs = 8; shape.regs <= dev->registers_per_thread; shape.regs++)
        put_point(&regs, shape.regs, occupancy_with(point, &shape));
    shape = *asked;
    /* A warp is given whole: 97 to 128 threads take the same. */
    for (shape.block = WARP; shape.block <= dev->threads_per_block; shape.block += WARP)
        put_point(&block, shape.block - WARP + 1, occupancy_with(point, &shape));
    put_point(&block, dev->threads_per_block, block.y[block.count - 1]);
    shape = *asked;
    shape.static_bytes = 0;
    step = round_up(max_i64(dev->shared_per_block_optin / (MOST_PANEL_POINTS - 8), 1), 512);
    for (shape.dynamic_bytes = 0; shape.dynamic_bytes <= dev->shared_per_block_optin;
         shape.dynamic_bytes += step)
        put_point(&shared, (double)shape.dynamic_bytes, occupancy_with(point, &shape));
    add_panel(figure, "Registers",
              (struct figure_axis){ .label = "registers a thread", .unit = UNIT_POW2 }, &regs,
              asked->regs, result_text(result, "%d: %s", asked->regs, now));
    add_panel(figure, "Block size",
              (struct figure_axis){ .label = "threads a block", .unit = UNIT_POW2 }, &block,
              asked->block, result_text(result, "%d: %s", asked->block, now));
    add_panel(figure, "Shared memory",
              (struct figure_axis){ .label = "shared bytes a block", .unit = UNIT_BYTES }, &shared,
              (double)total, result_text(result, "%s: %s", number_text(result, total), now));
}

/* ---- the whole ---- */

static const char *answer_text(struct result *result, const struct occupancy *occ)
{
    const char *limits = occupancy_limiters_text(result, occ);
    const char *word = __builtin_popcount(occ->limiters) == 1 ? "Limit" : "Limits";

    if (!occ->active_blocks)
        return result_text(result, "Occupancy 0 %%: no block fits, the launch would fail. %s: %s.",
                           word, limits);
    return result_text(result,
                       "Occupancy %s: %d block%s of %d warp%s = %d of %d warps an SM. %s: %s.",
                       occupancy_percent(result, occ->occupancy), occ->active_blocks,
                       occ->active_blocks == 1 ? "" : "s", occ->warps_per_block,
                       occ->warps_per_block == 1 ? "" : "s", occ->active_warps, occ->max_warps,
                       word, limits);
}

static const char *closing_text(struct result *result, const struct occupancy_point *point,
                                const struct occupancy_advice *advice)
{
    if (advice->change != OCCUPANCY_CHANGE_NONE)
        return result_text(result, "To %s: %s.",
                           point->occ.active_blocks
                               ? occupancy_percent(result, advice->after.occupancy)
                               : result_text(result, "fit, at %s",
                                             occupancy_percent(result, advice->after.occupancy)),
                           advice_text(result, point, advice));
    if (point->occ.active_warps == point->occ.max_warps)
        return "Next: %occupancy regs=16..128 draws the cliffs of the registers.";
    return point->occ.active_blocks
               ? "No single change of block, registers or shared memory lifts it."
               : "No single change of block, registers or shared memory makes it fit.";
}

int occupancy_show_point(struct result *result, const struct occupancy_point *point,
                         const char *parameters, struct err *err)
{
    struct occupancy_advice advice;

    if (occupancy_advise(&point->device.device, &point->shape, &advice, err) < 0 ||
        occupancy_set_fields(result, point, &advice, err) < 0)
        return -1;
    result->view.answer = answer_text(result, &point->occ);
    result->view.origin =
        occupancy_origin(result, occupancy_device_text(result, &point->device), parameters);
    add_table(result, point);
    add_facts(result, point);
    result->view.closing = closing_text(result, point, &advice);
    add_figure(result, point);
    return 0;
}
