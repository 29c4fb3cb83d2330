/*
 * One point of %occupancy as a person reads it: the answer, a row for each
 * resource with the binding one first, and the one change worth making. Why the
 * numbers are rounded as they are is in occupancy_reasons.c, what a neighbouring
 * choice would give in occupancy_what_if.c.
 */
#include "cells/magics/occupancy.h"

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

const char *occupancy_number(struct result *result, int64_t v)
{
    char text[TEXT_NUMBER];

    return result_text(result, "%s", text_number(text, (double)v));
}

static const char *use_text(struct result *result, int64_t used, int64_t has)
{
    return result_text(result, "%s  %6s", occupancy_number(result, used),
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
        view_cell(table, i, 1, occupancy_number(result, row->takes));
        view_cell(table, i, 2, occupancy_number(result, row->has));
        view_cell(table, i, 3,
                  fit == OCCUPANCY_NO_LIMIT ? "no limit" : occupancy_number(result, fit));
        if (row->limit != OCCUPANCY_CLUSTER)
            view_cell(table, i, 4, use_text(result, row->takes * occ->active_blocks, row->has));
        if (occ->limiters >> row->limit & 1)
            view_mark(table, i);
    }
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
    occupancy_add_facts(result, point);
    result->view.closing = closing_text(result, point, &advice);
    occupancy_add_what_ifs(result, point);
    return 0;
}
