/*
 * One scheduler and its warps, step by step: what scheduler.c runs until it repeats itself.
 */
#ifndef WB_MODEL_SCHEDULER_MACHINE_H
#define WB_MODEL_SCHEDULER_MACHINE_H

#include "model/scheduler.h"

enum { SCHEDULER_BITS = 64, SCHEDULER_WORDS = PATTERN_MAX_WARPS / SCHEDULER_BITS };

/* Warps are counted locally here: warp w of the pattern is w / S of scheduler w mod S. */
struct scheduler {
    const struct pattern *pattern;
    int number, count;
    int64_t now; /* the next cycle; some warp is eligible in it */
    int last;    /* issued last, -1: none yet */
    int64_t issued_at;
    uint64_t ready[SCHEDULER_WORDS];
    int ready_count;
    int waiting_head, waiting_count, waiting_mask, queue_head, queue_count;
    int active[POLICY_ACTIVE_SET], active_count, pending_count; /* two-level */

    int *left;                        /* instructions before its next wait */
    int64_t *since;                   /* eligible since this cycle, or from this cycle on */
    uint64_t *round;                  /* waits so far */
    int *waiting;                     /* ring of waiting warps, the first to wake first */
    int *pending;                     /* two-level: queue of warps outside the active set */
    int *queue;                       /* longest-ready: ring of eligible warps, the first first */
    int64_t *issued;                  /* instructions so far */
    int64_t all_issued, all_eligible; /* sums over cycles */
    int unlike;                       /* a warp in which the last state compared was another */
};

/* Scheduler `number` of a pattern, before its first step; the arena's. NULL: out of memory. */
struct scheduler *scheduler_new(const struct pattern *p, int number, struct arena *arena);

/* Makes `to`, a scheduler of the same warps, the same as `from`. */
void scheduler_copy(struct scheduler *to, const struct scheduler *from);

/*
 * Issues one instruction in cycle s->now, then goes to the next cycle in which one can be issued.
 * Returns the warp.
 */
int scheduler_step(struct scheduler *s);

/* Do both do the same from here on, apart from the number of the cycle? */
bool scheduler_is_same_state(struct scheduler *a, const struct scheduler *b);

#endif
