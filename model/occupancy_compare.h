/*
 * Other ways to count what fits on an SM, beside the hardware's: the formulas that
 * textbooks print, threads in place of warps, and an SM cut into equal parts. What
 * each says too much, or leaves idle, is what a reader learns from it.
 */
#ifndef WB_MODEL_OCCUPANCY_COMPARE_H
#define WB_MODEL_OCCUPANCY_COMPARE_H

#include "model/occupancy.h"

#define OCCUPANCY_RULES(X)                                                                         \
    X(NAIVE, "naive", "plain division: nothing is rounded, no partitions, no reserved bytes")      \
    X(THREADS, "threads", "resident threads over the most, not warps: idle lanes count as idle")   \
    X(FIXED, "fixed", "the SM cut into equal parts, one block in each")                            \
    X(BEST, "best", "the block size that cudaOccupancyMaxPotentialBlockSize would choose")

enum occupancy_rule {
#define X(id, name, help) OCCUPANCY_RULE_##id,
    OCCUPANCY_RULES(X)
#undef X
        OCCUPANCY_RULE_COUNT
};

/* The rule of a name; -1: none. */
int occupancy_rule_find(const char *name);

struct occupancy_other {
    int block;        /* threads: the launch's own, but for best */
    int blocks;       /* on an SM, by this rule */
    double occupancy; /* their threads over the most that an SM holds; fixed: their warps */
    /*
     * How far it is from the launch's own answer, 0..1 of an SM: what naive promises too much, the
     * lanes of resident warps without a thread, the warps that fixed parts lose, the threads that
     * the best block size wins. Never below 0.
     */
    double difference;
    int limits[OCCUPANCY_LIMIT_COUNT]; /* naive: blocks that each allows, or OCCUPANCY_NO_LIMIT */
};

/*
 * What a rule says of a launch.
 *
 * exact  what occupancy_of says of it (borrowed)
 * parts  of fixed: 1 to the blocks of an SM (ValueError); ignored by the others
 *
 * naive: the least of block slots, threads / block, registers / (block x regs) and shared memory /
 * its bytes, in whole numbers, as printed in D. Kirk and W. Hwu, Programming Massively Parallel
 * Processors, chapter 4. It is never below the hardware's: all that it leaves out takes room.
 * fixed: a part has its share of threads, registers and shared memory; a block lives in one part or
 * not at all.
 */
int occupancy_compare(const struct device *dev, const struct launch_shape *shape,
                      const struct occupancy *exact, enum occupancy_rule rule, int parts,
                      struct occupancy_other *out, struct err *err) MUST_CHECK;

#endif
