/*
 * Why the numbers of %occupancy are as they are: the roundings and rules that
 * acted on this launch, and none that did not.
 */
#include "cells/magics/occupancy.h"

#include "cells/render/text.h"

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
                             occupancy_number(facts->result, occ->registers_per_block),
                             occupancy_number(facts->result, dev->registers_per_block)));
    /* Plain division would let one more block in than the partitions do. */
    else if (per_warp && dev->registers_per_sm / (per_warp * occ->warps_per_block) !=
                             occ->limits[OCCUPANCY_REGISTERS])
        add_fact(facts, "registers:",
                 result_text(facts->result,
                             "each of the %d partitions has %s: %lld warps of %s fit in one, %lld "
                             "in all",
                             dev->partitions, occupancy_number(facts->result, part),
                             (long long)(part / per_warp),
                             occupancy_number(facts->result, per_warp),
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
                             occupancy_number(result, asked),
                             occupancy_number(result, dev->shared_reserved),
                             sum == point->occ.shared_per_block
                                 ? ""
                                 : result_text(result, ", rounded up to %s",
                                               occupancy_number(result,
                                                                point->occ.shared_per_block))));
    if (shape->is_opted_out)
        add_fact(facts, "shared:",
                 result_text(result, "%s static bytes: the compiler refuses more than %s",
                             occupancy_number(result, shape->static_bytes),
                             occupancy_number(result, dev->static_shared_per_block)));
    else if (asked > dev->shared_per_block_optin)
        add_fact(facts, "shared:",
                 result_text(result, "a block may have %s bytes at most",
                             occupancy_number(result, dev->shared_per_block_optin)));
    else if (asked > dev->shared_per_block)
        add_fact(facts, "shared:",
                 result_text(result,
                             "above %s a kernel must opt in "
                             "(cudaFuncAttributeMaxDynamicSharedMemorySize); counted as done",
                             occupancy_number(result, dev->shared_per_block)));
    if (shape->carveout != OCCUPANCY_DEFAULT_CARVEOUT && dev->carveout_count)
        add_fact(facts, "carveout:",
                 result_text(result, "%d %% of %s is rounded up to a split of the cache: %s bytes",
                             shape->carveout, occupancy_number(result, dev->shared_per_sm),
                             occupancy_number(result, point->occ.shared_capacity)));
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
                             occupancy_number(facts->result, k->spill_store_bytes),
                             occupancy_number(facts->result, k->spill_load_bytes)));
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

void occupancy_add_facts(struct result *result, const struct occupancy_point *point)
{
    struct facts facts = { .result = result };

    explain(&facts, point);
    add_fact(&facts, "regs", occupancy_regs_text(result, point));
    add_fact(&facts, "block", occupancy_block_text(result, point));
    add_fact(&facts, "shared", occupancy_shared_text(result, point));
    show_facts(&facts);
}
