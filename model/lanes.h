/*
 * What one warp does where its lanes disagree: at a branch of any number of paths,
 * or in a loop whose lanes leave it at different times.
 *
 * A warp has one instruction stream. It goes through the paths that its lanes take one after the
 * other, each with the lanes of that path alone: a pass. Sources: CUDA C++ Programming Guide 13.0,
 * "SIMT Architecture"; time linear in the number of paths on Pascal to Blackwell: arXiv 2607.23402.
 */
#ifndef WB_MODEL_LANES_H
#define WB_MODEL_LANES_H

#include "model/base/arena.h"
#include "model/base/base.h"
#include "model/base/err.h"

#include <stdbool.h>

enum {
    LANES_MAX_LENGTH = 10000,  /* instructions of a path, trips of a loop, cycles of a wait */
    LANES_MAX_SLOTS = 1000000, /* that one warp issues between the branch and the join */
};

/* A stretch of the warp's stream: the same instructions for the same lanes, `passes` times. */
struct lanes_stretch {
    uint32_t mask; /* bit l: lane l takes part */
    int64_t key;   /* the path's number; of a loop, how many trips the lanes that leave have made */
    int64_t length; /* instructions of one pass */
    int64_t passes;
};

/* One warp at a branch or loop. */
struct lanes_warp {
    uint32_t threads; /* lanes that have a thread */
    bool is_loop;
    bool is_split; /* its threads disagree */
    struct lanes_stretch stretches[WARP];
    int count;           /* of stretches; paths without an instruction have none */
    int paths;           /* that some thread takes, without an instruction too */
    int64_t passes;      /* of all stretches */
    int64_t issue_slots; /* instructions issued, each in one slot */
    int64_t lane_slots;  /* the same times the lanes that worked */
};

/*
 * Threads with equal keys take the same path, of `length` instructions; paths run in the order of
 * their keys. Only lanes of `threads` are read; equal keys have equal lengths, 0 or more.
 */
void lanes_branch(uint32_t threads, const int64_t key[WARP], const int64_t length[WARP],
                  struct lanes_warp *out);

/* Each thread goes through a body of `length` instructions trips[lane] times (0 or more). */
void lanes_loop(uint32_t threads, const int64_t trips[WARP], int64_t length,
                struct lanes_warp *out);

/* All warps together, with code before the branch and after the join that all threads run. */
struct lanes_total {
    int64_t warps, uniform, split, idle; /* idle: no thread of the warp has anything to do */
    int64_t passes, issue_slots, lane_slots;
    double lane_efficiency; /* lane_slots / (32 * issue_slots); 1 without any */
    double undivided_slots; /* that the same work takes if no warp splits */
    double time_ratio;      /* issue_slots / undivided_slots; 1 without any */
};

/* Adds a warp that runs `around` instructions outside the branch; lanes_finish fills the ratios. */
void lanes_add(struct lanes_total *total, const struct lanes_warp *warp, int64_t around);
void lanes_finish(struct lanes_total *total);

/* Who issues when, from the branch to the join. */
struct lanes_order {
    bool is_its;   /* paths take turns; else each runs to the join before the next begins */
    int64_t wait;  /* cycles that each pass waits at its end for a result */
    int64_t turns; /* its: instructions after which another path may go on; 0: only when it waits */
};

/*
 * The cycles from the branch to the join: one instruction a cycle, from one path at a time.
 *
 * issuer  NULL, or room for `most` cycles: the stretch that issues, or -1 where all wait
 *
 * Stack: the hardware before Volta, a stack of masks with their join. its: independent thread
 * scheduling, where a path that waits lets another one issue. The number of issued instructions is
 * the same; what is saved are waits. The lanes of a loop stay together in both. Source of both
 * modes: CUDA C++ Programming Guide 13.0, "Independent Thread Scheduling"; arXiv 2407.02944.
 */
int64_t lanes_cycles(const struct lanes_warp *warp, const struct lanes_order *order, int8_t *issuer,
                     int64_t most);

#endif
