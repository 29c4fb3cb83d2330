/*
 * Lanes that wait for each other: the .sync instructions of a warp, and the barriers of a block.
 */
#ifndef WB_MODEL_PTX_SYNC_H
#define WB_MODEL_PTX_SYNC_H

#include "model/ptx/internal.h"

/* What a .sync does once its lanes are there; insn.extra. */
struct sync_op;
extern const struct sync_op SYNC_SHFL, SYNC_VOTE, SYNC_MATCH, SYNC_REDUX, SYNC_ELECT, SYNC_BARRIER;

/* insn.option of match and of redux. */
enum { MATCH_ANY, MATCH_ALL, MATCH_64 = 1 << 1 };
enum { REDUX_ADD, REDUX_MIN, REDUX_MAX, REDUX_AND, REDUX_OR, REDUX_XOR, REDUX_SIGNED = 1 << 3 };

/* insn.option of a barrier of the block. */
enum {
    BARRIER_COUNTS = 1 << 0,  /* row b has the number of threads */
    BARRIER_ARRIVES = 1 << 1, /* and does not wait */
    BARRIER_POPC = 1 << 2,    /* the reductions of predicate c */
    BARRIER_AND = 1 << 3,
    BARRIER_OR = 1 << 4,
    BARRIER_NEGATED = 1 << 5, /* of !c */
    BARRIER_ALIGNED = 1 << 6, /* all threads of a warp at one place: __syncthreads() */
    BARRIER_CLUSTER = 1 << 7, /* of the cluster, which is one block here */
};

enum { CLUSTER_BARRIER = MAX_BARRIERS /* its number, behind those of the block */ };

/*
 * Group g came to a .sync whose lanes (`mask` of the group: those that its guard lets through) are
 * not all here, or name different lanes. It waits; when it is the last that was waited for, all
 * that meet run the instruction and go on.
 */
void sync_park(struct warp *w, struct group *g, uint32_t mask);

/* Lanes ended: who waits for them looks again. */
void sync_recheck(struct warp *w);

/* Group g came to a barrier of the block. EXEC_FAULT: there is no such barrier. */
int barrier_arrive(struct warp *w, struct group *g, uint32_t mask);

/* Lets go who waits at barriers that are complete. */
int barrier_complete(struct cta *cta, bool *has_moved, struct err *err) MUST_CHECK;

#endif
