/*
 * The warp scheduler at its simplest: warps that all repeat "issue some
 * instructions, then wait", and schedulers that issue one instruction a cycle.
 * Enough to see latency hiding, and small enough to be exact.
 *
 * Rules. Cycle 0: every warp is eligible. Warp w belongs to scheduler w mod S; schedulers are
 * independent. Each cycle a scheduler issues one instruction of one eligible warp, or idles. With
 * the last of `issue` instructions a warp starts a wait: it is eligible again wait + 1 cycles
 * later. With a switch cost a scheduler that picks another warp than the last one issues nothing
 * for so many cycles first. With jitter j a wait is wait + uniform 0..j, drawn by (seed, warp,
 * iteration), so that all policies meet the same waits.
 */
#ifndef WB_MODEL_SCHEDULER_H
#define WB_MODEL_SCHEDULER_H

#include "model/base/arena.h"
#include "model/base/base.h"
#include "model/base/err.h"
#include "model/policy.h"

#include <stdatomic.h>
#include <stdbool.h>

enum {
    PATTERN_MAX_WARPS = 4096,
    PATTERN_MAX_SCHEDULERS = 64,
    PATTERN_MAX_ISSUE = 1000,
    PATTERN_MAX_WAIT = 100000,
    PATTERN_MAX_SWITCH = 1000,
    PATTERN_MAX_CYCLES = 10000, /* of a timeline */
};

struct pattern {
    int warps;      /* all schedulers together, 1..PATTERN_MAX_WARPS */
    int issue;      /* instructions before a wait, 1..PATTERN_MAX_ISSUE */
    int wait;       /* cycles, 0..PATTERN_MAX_WAIT */
    int schedulers; /* 1..PATTERN_MAX_SCHEDULERS */
    enum scheduler_policy policy;
    int jitter; /* 0..PATTERN_MAX_WAIT */
    uint64_t seed;
    int switch_cost; /* 0..PATTERN_MAX_SWITCH: cycles without an issue before another warp's */
};

/*
 * What the pattern settles into. Means are per scheduler and cycle; selected + not_selected +
 * stalled = warps / schedulers.
 */
struct steady {
    bool is_exact;  /* a state recurred: the numbers are those of one exact period */
    int64_t period; /* cycles; 0: not exact, or schedulers whose common period exceeds 2^62 */
    int64_t warmup; /* cycles before the first state that recurs; not exact: cycles left out */
    int64_t cycles; /* over which was counted: the period, or a long stretch with jitter */
    int64_t issued; /* in those cycles, all schedulers; 0 where there is no common period */
    double issue_utilization; /* 0..1: issued / (cycles * schedulers) */
    double selected, not_selected, stalled, eligible;
    const int64_t *warp_issued; /* per warp in `cycles`; 0: it starves. The arena's */
};

/*
 * The steady state: exact without jitter, found by the recurrence of the schedulers' state; with
 * jitter counted over 2^17 cycles after a warm-up. A pattern whose state does not recur within 2^22
 * issues is counted like one with jitter.
 *
 * Fails with ValueError (a limit above), Interrupted (stop, which may be NULL) or ResourceError.
 */
int scheduler_steady(const struct pattern *pattern, struct arena *arena, struct steady *out,
                     const atomic_bool *stop, struct err *err) MUST_CHECK;

enum warp_state {
    WARP_SELECTED,     /* issues in this cycle */
    WARP_NOT_SELECTED, /* could issue, another one was chosen */
    WARP_STALLED,      /* waits */
    WARP_STATE_COUNT
};

struct timeline {
    int cycles;
    const uint8_t *states; /* [warp * cycles + cycle]: enum warp_state; the arena's */
    const int32_t *issuer; /* [scheduler * cycles + cycle]: warp, or -1 for idle; the arena's */
    const int64_t *warp_issued; /* per warp */
    int64_t issued;             /* all together */
};

/* Cycles 0..cycles-1, from the start. cycles: 1..PATTERN_MAX_CYCLES. Errors as above. */
int scheduler_timeline(const struct pattern *pattern, int cycles, struct arena *arena,
                       struct timeline *out, struct err *err) MUST_CHECK;

/*
 * How many warps, up to `most`, keep the schedulers busy in every cycle of the steady state where
 * one fewer a scheduler does not; 0: none found. pattern->warps is ignored but must be valid.
 * Errors as scheduler_steady.
 */
int scheduler_warps_to_fill(const struct pattern *pattern, int most, int *warps,
                            const atomic_bool *stop, struct err *err) MUST_CHECK;

#endif
