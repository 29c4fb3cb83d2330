/*
 * Occupancy: how many warps an SM can hold at once.
 *
 * A block is placed whole or not at all, so every resource is divided by what
 * one block takes and the scarcest one decides. Registers are handed out per
 * warp, in units, from the quarter of the SM that the warp's scheduler owns:
 * that is why 33 registers can cost as much as 40.
 */
#include "model/occupancy.h"

#include <stdlib.h>

static const char *const LIMIT_NAMES[] = {
#define X(id, name) #name,
    OCCUPANCY_LIMITS(X)
#undef X
};

const char *occupancy_limit_name(enum occupancy_limit limit)
{
    return LIMIT_NAMES[limit];
}

/* cudaOccMaxBlocksPerSMWarpsLimit */
static int blocks_by_warps(const struct device *dev, int block, int warps)
{
    return block > dev->threads_per_block ? 0 : dev->warps_per_sm / warps;
}

/*
 * The hardware checks a launch as if its warps filled every partition alike, so a block that would
 * fit can be refused. The 6.0 has two partitions but is checked like the rest of Pascal, which has
 * four, so that a kernel that runs on one runs on all.
 */
static bool passes_register_check(const struct device *dev, int regs, int64_t per_warp, int warps)
{
    int partitions = dev->cc_major == 6 ? 4 : dev->partitions;

    return regs <= dev->registers_per_thread &&
           per_warp * round_up(warps, partitions) <= dev->registers_per_block;
}

/* cudaOccMaxBlocksPerSMRegsLimit */
static int blocks_by_registers(const struct device *dev, int regs, int64_t per_warp, int warps)
{
    if (!passes_register_check(dev, regs, per_warp, warps))
        return 0;
    if (!per_warp)
        return OCCUPANCY_NO_LIMIT;

    /* Rounded down inside each partition: a warp cannot straddle two. */
    return dev->registers_per_sm / dev->partitions / (int)per_warp * dev->partitions / warps;
}

/* The smallest split of the cache that gives shared memory so many bytes; all of it when none. */
static int split_for(const struct device *dev, int64_t bytes)
{
    for (int i = 0; i < dev->carveout_count; i++)
        if ((int64_t)dev->carveouts_kb[i] * 1024 >= bytes)
            return dev->carveouts_kb[i] * 1024;
    return dev->shared_per_sm;
}

/* cudaOccSMemPerMultiprocessor: a carve-out is a wish, given up when it does not hold one block. */
static int shared_capacity(const struct device *dev, int carveout, int64_t per_block)
{
    int capacity = dev->shared_per_sm;

    if (dev->carveout_count && carveout != OCCUPANCY_DEFAULT_CARVEOUT)
        capacity = split_for(dev, (int64_t)carveout * dev->shared_per_sm / 100);
    return per_block <= capacity ? capacity : split_for(dev, per_block);
}

/* cudaOccMaxBlocksPerSMSmemLimit */
static int blocks_by_shared(const struct device *dev, const struct launch_shape *shape,
                            int64_t per_block, int capacity)
{
    if (shape->is_opted_out && shape->static_bytes + shape->dynamic_bytes > dev->shared_per_block)
        return 0;
    if (per_block > (int64_t)dev->shared_per_block_optin + dev->shared_reserved)
        return 0;
    return per_block ? capacity / (int)per_block : OCCUPANCY_NO_LIMIT;
}

/* Every block of a cluster is resident, on SMs of one GPC: nothing more is promised of it. */
static int blocks_by_cluster(const struct device *dev, int cluster)
{
    return cluster > 1 && cluster > dev->cluster_max ? 0 : OCCUPANCY_NO_LIMIT;
}

static int check_shape(const struct device *dev, const struct launch_shape *shape, struct err *err)
{
    /* Far above what fits anywhere, far below what could overflow below. */
    static const int64_t most_bytes = INT64_C(1) << 40;

    if (shape->block < 1)
        return err_set(err, ERR_ValueError, "block=%d: a block has 1 to %d threads", shape->block,
                       dev->threads_per_block);
    if (shape->regs < 0)
        return err_set(err, ERR_ValueError, "regs=%d: a thread has 0 to %d registers", shape->regs,
                       dev->registers_per_thread);
    if (shape->static_bytes < 0 || shape->static_bytes > most_bytes)
        return err_set(err, ERR_ValueError, "static=%lld: a block has 0 to %d bytes",
                       (long long)shape->static_bytes, dev->static_shared_per_block);
    if (shape->dynamic_bytes < 0 || shape->dynamic_bytes > most_bytes)
        return err_set(err, ERR_ValueError, "dynamic=%lld: a block has 0 to %d bytes",
                       (long long)shape->dynamic_bytes, dev->shared_per_block_optin);
    if (dev->carveout_count && (shape->carveout < -1 || shape->carveout > 100))
        return err_set(err, ERR_ValueError,
                       "carveout=%d: it is 0 to 100 percent, or -1 to leave "
                       "it to the system",
                       shape->carveout);
    if (shape->cluster < 0)
        return err_set(err, ERR_ValueError, "cluster=%d: a cluster has 1 block or more",
                       shape->cluster);
    return 0;
}

int occupancy_of(const struct device *dev, const struct launch_shape *shape, struct occupancy *out,
                 struct err *err)
{
    int limits[OCCUPANCY_LIMIT_COUNT], warps, blocks = OCCUPANCY_NO_LIMIT, capacity;
    int64_t per_warp, per_block;
    unsigned limiters = 0;

    if (check_shape(dev, shape, err) < 0)
        return -1;
    warps = (int)(((int64_t)shape->block + WARP - 1) / WARP);
    per_warp = round_up((int64_t)shape->regs * WARP, dev->register_unit);
    per_block = round_up(shape->static_bytes + shape->dynamic_bytes + dev->shared_reserved,
                         dev->shared_unit);
    capacity = shared_capacity(dev, shape->carveout, per_block);

    limits[OCCUPANCY_WARPS] = blocks_by_warps(dev, shape->block, warps);
    limits[OCCUPANCY_BLOCKS] = dev->blocks_per_sm;
    limits[OCCUPANCY_REGISTERS] = blocks_by_registers(dev, shape->regs, per_warp, warps);
    limits[OCCUPANCY_SHARED] = blocks_by_shared(dev, shape, per_block, capacity);
    limits[OCCUPANCY_CLUSTER] = blocks_by_cluster(dev, shape->cluster);
    for (int i = 0; i < OCCUPANCY_LIMIT_COUNT; i++)
        blocks = limits[i] < blocks ? limits[i] : blocks;
    for (int i = 0; i < OCCUPANCY_LIMIT_COUNT; i++)
        limiters |= (unsigned)(limits[i] == blocks) << i;

    /* Every field, so that none is cleared first: this runs for each point of a map. */
    *out = (struct occupancy){
        .active_blocks = blocks,
        .active_warps = blocks * warps,
        .max_warps = dev->warps_per_sm,
        .occupancy = (double)(blocks * warps) / dev->warps_per_sm,
#define X(id, name) .limits[OCCUPANCY_##id] = limits[OCCUPANCY_##id],
        OCCUPANCY_LIMITS(X)
#undef X
            .limiters = limiters,
        .warps_per_block = warps,
        .registers_per_warp = per_warp,
        .registers_per_block = per_warp * warps,
        .shared_per_block = per_block,
        .shared_capacity = capacity,
        .max_clusters = shape->cluster > 1 ? (int64_t)dev->sms * blocks / shape->cluster : 0,
    };
    return 0;
}

int occupancy_best_block(const struct device *dev, const struct launch_shape *shape, int most,
                         int *block, struct occupancy *out, struct err *err)
{
    struct launch_shape tried = *shape;
    struct occupancy occ;
    int best_threads = 0;

    if (most <= 0 || most > dev->threads_per_block)
        most = dev->threads_per_block;
    *block = 0;
    *out = (struct occupancy){ 0 };
    for (int size = (int)round_up(most, WARP); size > 0; size -= WARP) {
        tried.block = size < most ? size : most;
        if (occupancy_of(dev, &tried, &occ, err) < 0)
            return -1;
        if (tried.block * occ.active_blocks > best_threads) {
            best_threads = tried.block * occ.active_blocks;
            *block = tried.block;
            *out = occ;
        }
        if (best_threads == dev->threads_per_sm)
            break;
    }
    return 0;
}

int occupancy_available_dynamic(const struct device *dev, const struct launch_shape *shape,
                                int blocks, int64_t *bytes, struct err *err)
{
    struct launch_shape empty = *shape;
    struct occupancy occ;
    int64_t kept = dev->shared_reserved, room, most = dev->shared_per_block_optin;

    empty.dynamic_bytes = 0;
    if (blocks < 1)
        return err_set(err, ERR_ValueError, "blocks=%d: at least 1", blocks);
    if (occupancy_of(dev, &empty, &occ, err) < 0)
        return -1;
    if (occ.active_blocks < blocks)
        return err_set(err, ERR_ValueError,
                       "%d blocks do not fit on an SM: %d do without dynamic shared memory", blocks,
                       occ.active_blocks);
    if (shape->is_opted_out)
        most = dev->shared_per_block;
    /* One block alone may take all of the cache that it can get, whatever the carve-out. */
    room = blocks == 1 ? most + kept : shared_capacity(dev, shape->carveout, 1) / blocks;
    room = min_i64(room / dev->shared_unit * dev->shared_unit, most + kept);
    *bytes = max_i64(room - kept - shape->static_bytes, 0);
    return 0;
}

/* ---- Advice ---- */

/* The multiple of 32 that reaches the most occupancy; of several the nearest, then the smaller. */
static int advise_block(const struct device *dev, const struct launch_shape *shape,
                        const struct occupancy *now, struct occupancy_advice *out, struct err *err)
{
    struct launch_shape tried = *shape;
    struct occupancy occ;
    int best_warps = now->active_warps, distance, nearest = INT_MAX;

    for (tried.block = WARP; tried.block <= dev->threads_per_block; tried.block += WARP) {
        if (occupancy_of(dev, &tried, &occ, err) < 0)
            return -1;
        distance = abs(tried.block - shape->block);
        if (occ.active_warps < best_warps || occ.active_warps == now->active_warps ||
            (occ.active_warps == best_warps && distance >= nearest))
            continue;
        best_warps = occ.active_warps;
        nearest = distance;
        *out = (struct occupancy_advice){ OCCUPANCY_CHANGE_BLOCK, shape->block, tried.block, occ };
    }
    return 0;
}

/* The most registers below shape->regs that lift occupancy. */
static int advise_regs(const struct device *dev, const struct launch_shape *shape,
                       const struct occupancy *now, struct occupancy_advice *out, struct err *err)
{
    struct launch_shape tried = *shape;
    struct occupancy occ;

    if (tried.regs > dev->registers_per_thread)
        tried.regs = dev->registers_per_thread + 1;
    while (--tried.regs > 0) {
        if (occupancy_of(dev, &tried, &occ, err) < 0)
            return -1;
        if (occ.active_warps > now->active_warps) {
            *out = (struct occupancy_advice){ OCCUPANCY_CHANGE_REGS, shape->regs, tried.regs, occ };
            return 0;
        }
    }
    return 0;
}

/* The most shared bytes that let one block more in; from the dynamic ones while they last. */
static int advise_shared(const struct device *dev, const struct launch_shape *shape,
                         const struct occupancy *now, struct occupancy_advice *out, struct err *err)
{
    struct launch_shape tried = *shape, bare = *shape;
    bool is_dynamic = shape->dynamic_bytes > 0;
    struct occupancy occ;
    int64_t bytes;

    /* How much fits does not depend on where it comes from, so ask as if all were dynamic. */
    if (is_dynamic)
        bare.dynamic_bytes = 0;
    else
        bare.static_bytes = 0;
    if (occupancy_of(dev, &bare, &occ, err) < 0)
        return -1;
    if (occ.active_blocks <= now->active_blocks)
        return 0;
    if (occupancy_available_dynamic(dev, &bare, now->active_blocks + 1, &bytes, err) < 0)
        return -1;
    *(is_dynamic ? &tried.dynamic_bytes : &tried.static_bytes) = bytes;
    if (occupancy_of(dev, &tried, &occ, err) < 0)
        return -1;
    if (occ.active_warps > now->active_warps)
        *out = (struct occupancy_advice){
            is_dynamic ? OCCUPANCY_CHANGE_DYNAMIC : OCCUPANCY_CHANGE_STATIC,
            is_dynamic ? shape->dynamic_bytes : shape->static_bytes,
            bytes,
            occ,
        };
    return 0;
}

int occupancy_advise(const struct device *dev, const struct launch_shape *shape,
                     struct occupancy_advice *out, struct err *err)
{
    typedef int advise_fn(const struct device *, const struct launch_shape *,
                          const struct occupancy *, struct occupancy_advice *, struct err *);
    static advise_fn *const usual[] = { advise_block, advise_regs, advise_shared };
    static advise_fn *const shared_first[] = { advise_shared, advise_block, advise_regs };
    advise_fn *const *order = usual;
    struct occupancy now;

    *out = (struct occupancy_advice){ 0 };
    if (occupancy_of(dev, shape, &now, err) < 0)
        return -1;
    if (now.limiters == 1u << OCCUPANCY_SHARED)
        order = shared_first;
    for (size_t i = 0; i < COUNT(usual) && out->change == OCCUPANCY_CHANGE_NONE; i++)
        if (order[i](dev, shape, &now, out, err) < 0)
            return -1;
    return 0;
}
