/*
 * The hardware gives registers per warp, in units, inside a partition; shared
 * memory in units, with some kept back; and warps whole. Each rule here leaves some
 * of that out, or shares it out in another way.
 */
#include "model/occupancy_compare.h"

int occupancy_rule_find(const char *name)
{
    static const char *const names[] = {
#define X(id, name, help) name,
        OCCUPANCY_RULES(X)
#undef X
    };

    for (int i = 0; i < OCCUPANCY_RULE_COUNT; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

static int divided(int64_t has, int64_t takes)
{
    return takes ? (int)min_i64(has / takes, OCCUPANCY_NO_LIMIT - 1) : OCCUPANCY_NO_LIMIT;
}

static void count_naive(const struct device *dev, const struct launch_shape *shape,
                        const struct occupancy *exact, struct occupancy_other *out)
{
    int64_t shared = shape->static_bytes + shape->dynamic_bytes;

    out->limits[OCCUPANCY_WARPS] = divided(dev->threads_per_sm, shape->block);
    out->limits[OCCUPANCY_BLOCKS] = dev->blocks_per_sm;
    out->limits[OCCUPANCY_REGISTERS] =
        divided(dev->registers_per_sm, (int64_t)shape->block * shape->regs);
    out->limits[OCCUPANCY_SHARED] = divided(dev->shared_per_sm, shared);
    out->limits[OCCUPANCY_CLUSTER] = exact->limits[OCCUPANCY_CLUSTER];
    out->blocks = OCCUPANCY_NO_LIMIT;
    for (int i = 0; i < OCCUPANCY_LIMIT_COUNT; i++)
        if (out->limits[i] < out->blocks)
            out->blocks = out->limits[i];
}

static int count_fixed(const struct device *dev, const struct launch_shape *shape,
                       const struct occupancy *exact, int parts)
{
    bool fits = shape->block <= dev->threads_per_sm / parts &&
                exact->registers_per_block <= dev->registers_per_sm / parts &&
                exact->shared_per_block <= exact->shared_capacity / parts;

    if (!fits)
        return 0;
    return exact->active_blocks < parts ? exact->active_blocks : parts;
}

int occupancy_compare(const struct device *dev, const struct launch_shape *shape,
                      const struct occupancy *exact, enum occupancy_rule rule, int parts,
                      struct occupancy_other *out, struct err *err)
{
    double by_threads = (double)exact->active_blocks * shape->block / dev->threads_per_sm;

    struct occupancy best;

    *out = (struct occupancy_other){ .block = shape->block,
                                     .blocks = exact->active_blocks,
                                     .occupancy = by_threads };
    switch (rule) {
    case OCCUPANCY_RULE_NAIVE:
        count_naive(dev, shape, exact, out);
        out->occupancy = (double)out->blocks * shape->block / dev->threads_per_sm;
        out->difference = out->occupancy - by_threads;
        break;
    case OCCUPANCY_RULE_FIXED:
        if (parts < 1 || parts > dev->blocks_per_sm)
            return err_set(err, ERR_ValueError, "parts=%d: an SM of %s has 1 to %d parts", parts,
                           dev->name, dev->blocks_per_sm);
        out->blocks = count_fixed(dev, shape, exact, parts);
        out->occupancy = (double)out->blocks * exact->warps_per_block / dev->warps_per_sm;
        out->difference = exact->occupancy - out->occupancy;
        break;
    case OCCUPANCY_RULE_BEST:
        if (occupancy_best_block(dev, shape, 0, &out->block, &best, err) < 0)
            return -1;
        out->blocks = best.active_blocks;
        out->occupancy = (double)out->blocks * out->block / dev->threads_per_sm;
        out->difference = out->occupancy - by_threads;
        break;
    case OCCUPANCY_RULE_THREADS:
    case OCCUPANCY_RULE_COUNT:
        out->difference = exact->occupancy - by_threads;
        break;
    }
    return 0;
}
