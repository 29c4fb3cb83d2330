/*
 * The grid layer: which block of a launch runs on which SM, and when.
 *
 * Blocks wait in one list and leave it in order. Whenever an SM has room the next block goes to the
 * SM with the most of it (ties to the lowest id), stays there until it ends, and its place is
 * taken at once: a wave is only a way to count, nobody waits for the end of one.
 *
 * Sources: Gilman, Ogden, Walls, "Demystifying the placement policies of the NVIDIA GPU thread
 * block scheduler" (SIGMETRICS Performance Evaluation Review 2020): most room, not round robin, on
 * Pascal, Volta and Turing. NVIDIA, "CUDA Pro Tip: Minimize the Tail Effect", discussion: launched
 * block by block. Left out: that blocks on one SM share its units and slow each other down.
 */
#ifndef WB_MODEL_GRID_H
#define WB_MODEL_GRID_H

#include "model/base/arena.h"
#include "model/base/base.h"
#include "model/base/err.h"
#include "model/device.h"

#include <stdatomic.h>
#include <stdbool.h>

enum {
    GRID_MAX_BLOCKS = 1 << 22, /* simulated one by one, in a second or two */
    GRID_MAX_SMS = 1024,
    GRID_MAX_PER_SM = 64,
    GRID_MAX_CYCLES = 1000000000, /* of one block, of its jitter, of what a start costs */
};

struct grid {
    int64_t blocks;       /* 1..GRID_MAX_BLOCKS */
    int sms;              /* 1..GRID_MAX_SMS */
    int per_sm;           /* blocks that one SM holds at once, 1..GRID_MAX_PER_SM */
    int64_t cost;         /* cycles of a block, 1..GRID_MAX_CYCLES */
    const int64_t *costs; /* of each block instead; borrowed, or NULL */
    int64_t jitter;       /* a block takes 0..jitter cycles more, drawn by (seed, block) */
    uint64_t seed;
    int64_t launch;     /* cycles before the first block can start */
    int64_t start;      /* from being placed to a block's first cycle */
    int start_interval; /* between two starts anywhere on the device, in hundredths of a cycle */
};

/* One block's stay on an SM: cycles placed..end-1, all its threads on this SM. */
struct grid_block {
    int64_t block;
    int sm, slot;
    int64_t placed, end;
};

/* Called for each block, in the order of blocks. */
typedef void grid_visit(void *data, const struct grid_block *block);

struct grid_run {
    int64_t cycles;    /* from the launch to the end of the last block */
    int64_t work;      /* cycles of all blocks together, without what starting costs */
    int64_t tail;      /* cycles in which some place stays empty because no block is left */
    int64_t sm_cycles; /* in which an SM holds at least one block, summed over the SMs */
    int64_t resident_most;
    double efficiency; /* work / (cycles of all places): 0..1 */
    double sm_busy;    /* sm_cycles / (cycles of all SMs): 0..1 */
};

/*
 * Runs the launch. visit may be NULL. Costs about 100 ns a block, and memory for each place, not
 * for each block. Fails with ValueError (a limit above, by name), Interrupted (stop, which may be
 * NULL) or ResourceError.
 */
int grid_run(const struct grid *grid, grid_visit *visit, void *data, struct arena *arena,
             const atomic_bool *stop, struct grid_run *out, struct err *err) MUST_CHECK;

/*
 * Sets launch, start and start_interval to what they cost on a device, in cycles of its clock.
 * Returns false, with launch = 0, when the clock is unknown. Source: model/ptx/costs.c, measured on
 * an H200.
 */
bool grid_add_overheads(const struct device *device, struct grid *grid);

/* The same launch counted in waves, as if all blocks took the same time and starts were free. */
struct grid_waves {
    int64_t places;    /* blocks that are on the device at once: sms * per_sm */
    double waves;      /* blocks / places: "Waves Per SM" of Nsight Compute */
    int64_t full;      /* whole waves */
    int64_t partial;   /* blocks of the last, partial wave; 0: there is none */
    double efficiency; /* waves / ceil(waves) */
    double
        tail_share; /* of the time that the partial wave takes: 1 / (1 + full); 0: there is none */
    bool has_tail;  /* Nsight Compute would warn: a whole wave and a share of 20 % and more */
};

/*
 * grid: blocks, sms and per_sm act. Source of tail_share and has_tail: the rule
 * "LaunchConfiguration" (tail effect) in the sections of Nsight Compute.
 */
struct grid_waves grid_waves_of(const struct grid *grid);

#endif
