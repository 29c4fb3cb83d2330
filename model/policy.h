/*
 * Which of several eligible warps a scheduler issues: the names that the pattern layer
 * (scheduler.h) and the core layer (core.h) have in common.
 */
#ifndef WB_MODEL_POLICY_H
#define WB_MODEL_POLICY_H

/* One row makes the enum, the names and the help. */
#define SCHEDULER_POLICIES(X)                                                                      \
    X(GTO, "gto", "greedy, then oldest: the last issued if eligible, else the lowest id")          \
    X(GTY, "gty", "greedy, then youngest: the last issued if eligible, else the highest id")       \
    X(LRR, "lrr", "loose round robin: the next id after the last issued one")                      \
    X(OLDEST, "oldest", "the lowest id, always")                                                   \
    X(LONGEST_READY, "longest-ready", "the one eligible for longest, ties to the lowest id")       \
    X(TWO_LEVEL, "two-level", "round robin in an active set of 8; who waits leaves the set")

enum scheduler_policy {
#define X(id, name, help) POLICY_##id,
    SCHEDULER_POLICIES(X)
#undef X
        POLICY_COUNT
};

/* "gto". Static. */
const char *scheduler_policy_name(enum scheduler_policy policy);

/* The policy of a name; -1: none. */
int scheduler_policy_find(const char *name);

enum { POLICY_ACTIVE_SET = 8 }; /* warps of two-level's active set */

#endif
