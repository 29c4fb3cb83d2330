/*
 * Occupancy: how many warps an SM can hold at once, what limits it, and what
 * would lift it. Pure arithmetic over a device's row; nothing allocates.
 *
 * Source of every formula: cuda_occupancy.h of CUDA 13.0, by function name.
 * Where the header is known to be wrong the comment says so.
 */
#ifndef WB_MODEL_OCCUPANCY_H
#define WB_MODEL_OCCUPANCY_H

#include "model/device.h"

#include <limits.h>
#include <stdbool.h>

enum {
    OCCUPANCY_DEFAULT_CARVEOUT = -1,
    OCCUPANCY_NO_LIMIT = INT_MAX,
};

/* What one block of a launch takes. */
struct launch_shape {
    int block;             /* threads */
    int regs;              /* registers a thread, as the compiler counts them; 0: no limit */
    int64_t static_bytes;  /* shared memory, declared */
    int64_t dynamic_bytes; /* shared memory, asked for at the launch */
    int carveout; /* percent 0..100 of the SM's most shared memory, or OCCUPANCY_DEFAULT_CARVEOUT */
    int cluster;  /* blocks of a cluster; 0 and 1: none */

    /*
     * The kernel's dynamic limit was not raised (cudaFuncAttributeMaxDynamicSharedMemorySize):
     * static + dynamic must stay within 48 KB.
     */
    bool is_opted_out;
};

/* In the order of tables, JSON and `limiters`. */
#define OCCUPANCY_LIMITS(X)                                                                        \
    X(WARPS, warps)                                                                                \
    X(BLOCKS, blocks)                                                                              \
    X(REGISTERS, registers)                                                                        \
    X(SHARED, shared)                                                                              \
    X(CLUSTER, cluster)

enum occupancy_limit {
#define X(id, name) OCCUPANCY_##id,
    OCCUPANCY_LIMITS(X)
#undef X
        OCCUPANCY_LIMIT_COUNT
};

struct occupancy {
    int active_blocks, active_warps;   /* on one SM at the same time */
    int max_warps;                     /* of an SM */
    double occupancy;                  /* active_warps / max_warps */
    int limits[OCCUPANCY_LIMIT_COUNT]; /* blocks that each allows, or OCCUPANCY_NO_LIMIT */
    unsigned limiters;                 /* 1 << limit for each that equals active_blocks */

    int warps_per_block;
    int64_t registers_per_warp;  /* after rounding */
    int64_t registers_per_block; /* after rounding */
    int64_t shared_per_block;    /* after rounding, with what the system keeps */
    int shared_capacity;         /* bytes of an SM under this carve-out, for these blocks */
    int64_t max_clusters;        /* upper bound on the whole device; 0: unknown or no cluster */
};

/*
 * How many blocks of a launch fit on one SM at the same time.
 *
 * dev     limits of one SM (borrowed)
 * shape   what one block takes (borrowed)
 * out     filled on success
 *
 * Returns 0 (with 0 blocks when nothing fits, also above 1024 threads), or -1 with ValueError for
 * what no launch can have: block below 1, negative registers or bytes, carve-out outside -1..100
 * where the device has one. Never allocates.
 *
 * A cluster limits to 0 blocks when the device has no cluster of that size and not at all
 * otherwise; max_clusters is a bound, as the SMs of a GPC differ from chip to chip.
 *
 * Source: cudaOccMaxActiveBlocksPerMultiprocessor, except that a thread has at most 255 registers
 * from 7.0 on (the header says 256; the CUDA Programming Guide and ptxas say 255). Partitioned
 * global caching is off, a block has one barrier.
 */
int occupancy_of(const struct device *dev, const struct launch_shape *shape, struct occupancy *out,
                 struct err *err) MUST_CHECK;

/* "registers". Static. */
const char *occupancy_limit_name(enum occupancy_limit limit);

/*
 * The block size with the most resident threads; the largest of several. most: largest size to
 * consider, 0 for the device's. *block is 0 when no size fits. Errors as occupancy_of.
 *
 * Source: cudaOccMaxPotentialOccupancyBlockSize.
 */
int occupancy_best_block(const struct device *dev, const struct launch_shape *shape, int most,
                         int *block, struct occupancy *out, struct err *err) MUST_CHECK;

/*
 * The most dynamic shared bytes with which `blocks` blocks of this shape (dynamic_bytes ignored)
 * still fit on an SM. ValueError when they do not fit with 0 bytes either.
 *
 * Source: cudaOccAvailableDynamicSMemPerBlock, except that what the system keeps of every block
 * (1 KB from 8.0) is subtracted. The header forgets it, and one block fewer fits with its answer.
 */
int occupancy_available_dynamic(const struct device *dev, const struct launch_shape *shape,
                                int blocks, int64_t *bytes, struct err *err) MUST_CHECK;

enum occupancy_change {
    OCCUPANCY_CHANGE_NONE, /* full already, or no single change helps */
    OCCUPANCY_CHANGE_BLOCK,
    OCCUPANCY_CHANGE_REGS,
    OCCUPANCY_CHANGE_DYNAMIC, /* bytes */
    OCCUPANCY_CHANGE_STATIC,  /* bytes */
};

struct occupancy_advice {
    enum occupancy_change change;
    int64_t from, to;
    struct occupancy after;
};

/*
 * The one change of block, registers or shared bytes that lifts occupancy.
 *
 * A block size is free to choose, so it comes first and goes for the most that it can reach (the
 * nearest size, a multiple of 32); registers and shared bytes cost, so they give up as few as the
 * next step asks for. Where shared memory alone limits, it comes first: a larger block would have
 * less of it a thread. Errors as occupancy_of.
 */
int occupancy_advise(const struct device *dev, const struct launch_shape *shape,
                     struct occupancy_advice *out, struct err *err) MUST_CHECK;

#endif
