/*
 * What the files of the core layer share: the state of an SM.
 *
 * core.c         events, issue, blocks, the sums
 * core_warp.c    where a warp stands in its streams; paths; operands
 * core_memory.c  levels, latencies, rates
 * core_record.c  the first cycles as they were
 * core_window.c  warps that issue out of order
 * core_policy.c  which of the eligible warps
 * core_state.c   when a state recurs
 */
#ifndef WB_MODEL_CORE_INTERNAL_H
#define WB_MODEL_CORE_INTERNAL_H

#include "model/core.h"
#include "model/server.h"

#define CORE_NEVER INT64_MAX

/* A place in a stream, and the instruction there. A warp has several while its lanes are apart. */
enum path_state { PATH_FREE, PATH_RUNS, PATH_WAITS /* for the paths of its fork */ };
struct path {
    enum path_state state;
    int parent, children; /* index of the path that forked, -1; paths that it waits for */
    int depth;
    const struct core_stream *stream;
    int step, left, op, access; /* left: repeats of the step */
    int64_t blocked_until;      /* branches and barriers */
    uint8_t blocked_by;         /* enum stall */

    const struct core_op *next;
    int64_t ready_at; /* when its operands are there */
    uint8_t reason;   /* enum stall: why not before */
};

/* An instruction between its fetch and the issue of all before it. */
struct waiting_op {
    const struct core_op *op;
    core_access access;
    int64_t number; /* of the warp's instructions, from 1 */
    bool is_issued;
    int missing; /* results that nobody has issued yet */
    int64_t ready_at;
    uint8_t reason;
    int64_t producers[CORE_MAX_DEPS]; /* numbers of those, 0: it is known */
};

struct window {
    struct waiting_op ops[CORE_MAX_WINDOW]; /* a ring: instruction n is at n mod its size */
    int64_t head, tail;                     /* the oldest that is not issued; the next to fetch */
    int64_t *writers;                       /* by register: who writes it last in program order */
    int chosen;                             /* of ops */
    bool is_fenced;                         /* a barrier is in it: nothing behind is fetched */
    bool is_at_end;                         /* of the stream */
};

enum warp_place { WARP_EMPTY, WARP_RUNS, WARP_AT_BARRIER };

struct core_warp {
    enum warp_place place;
    int slot; /* of its block */
    int path_count, current;
    struct path *paths;
    struct window *window;
    int64_t since;      /* cycle after its last issue */
    int64_t *result_at; /* by register */
    uint8_t *result_by; /* enum stall of whoever makes it */
    int64_t issued, rounds;
    uint64_t id, draws; /* of the jitter */
};

struct resident_block {
    int first_warp, warps, running, at_barrier;
};

/* A scheduler and its units. Its warps are counted here: warp l is l * partitions + index. */
struct sub_core {
    int64_t next;                                       /* cycle of its next event; CORE_NEVER */
    int64_t issue_free;                                 /* cycle from which it may issue */
    int64_t unit_free[LAT_COUNT];                       /* from when it takes an instruction */
    int64_t unit_from[LAT_COUNT], unit_busy[LAT_COUNT]; /* last taken from; cycles so far */
    uint64_t running;                                   /* warps that may come to issue */
    uint64_t ready;              /* those of them whose operands are there, `many` left out */
    int64_t wake_at;             /* no other one's operands are there before */
    uint64_t by_unit[LAT_COUNT]; /* running warps by the unit that they need next */
    uint32_t units;              /* those that any may need */
    uint64_t many;               /* those with several next instructions: chosen anew each time */
    int last;                    /* issued last, -1: nobody yet */
    int switching_to;
    int active[POLICY_ACTIVE_SET], active_count; /* two-level */
    int pending[CORE_MAX_WARPS], pending_count;

    /* Of the next instruction of each warp: what is looked at in every event. */
    int64_t ready_at[CORE_MAX_WARPS];
    int64_t mark[CORE_MAX_WARPS]; /* unit_busy when the operands were there; -1: not yet */
    int64_t since[CORE_MAX_WARPS];
    uint8_t unit[CORE_MAX_WARPS];
};

struct core {
    struct core_config config;
    const struct core_record *record;
    uint8_t *unit_taken; /* of the record: [(partition * LAT_COUNT + class) * cycles + cycle] */
    int warp_count;
    struct core_warp warps[CORE_MAX_WARPS];
    struct resident_block slots[CORE_MAX_WARPS];
    struct sub_core sub_cores[CORE_MAX_PARTITIONS];
    struct server l1, l2, dram; /* sectors or passes; bytes; bytes */
    struct server starts;       /* of blocks */
    int64_t next_block, last_cycle;
    int64_t first_clock, last_clock; /* cycles in which the clock was read; -1: not yet */
    int last_round; /* warp */
    struct core_totals totals;
};

static inline struct sub_core *sub_core_of(struct core *core, int warp)
{
    return &core->sub_cores[warp % core->config.partitions];
}

static inline int local_of(const struct core *core, int warp)
{
    return warp / core->config.partitions;
}

static inline int warp_of(const struct core *core, const struct sub_core *sub, int l)
{
    return l * core->config.partitions + (int)(sub - core->sub_cores);
}

static inline enum stall reason_of(const struct core_warp *w)
{
    return (enum stall)(w->window ? w->window->ops[w->window->chosen].reason
                                  : w->paths[w->current].reason);
}

/* ---- core_record.c ---- */
int record_init(struct core *core, struct arena *arena); /* -1: out of memory */
void record_issue(struct core *core, const struct sub_core *sub, int l, int64_t cycle);
void record_switch(struct core *core, const struct sub_core *sub, int64_t from, int64_t to);

/* ---- core_memory.c ---- */

/* When the data of an access that was issued in a cycle is there. */
int64_t memory_access_done(struct core *core, const struct core_op *op, core_access access,
                           int64_t cycle);

/* ---- core_warp.c ---- */

/* At the first instruction of a stream. False: it has none. */
bool warp_start(struct core *core, struct core_warp *w, const struct core_stream *stream,
                int64_t cycle);

/* After the next instruction was issued: to the one behind it. False: the warp has ended. */
bool warp_advance(struct core *core, struct core_warp *w);

/* When the operands of the current path's next instruction are there, after a barrier opened. */
void warp_look(struct core_warp *w);

/* Of several paths the one that can issue first, at a cycle. Sets w->current. */
void warp_choose_path(const struct core *core, const struct sub_core *sub, struct core_warp *w,
                      int64_t cycle);
int warp_runnable_paths(const struct core_warp *w);

/* The root path to its next instruction, whether the one before was issued or not. */
bool warp_fetch(struct core *core, struct core_warp *w);

/* The instruction that the warp issues next, and its access. */
const struct core_op *warp_next(const struct core_warp *w, core_access *access);
void warp_set_results(struct core_warp *w, const struct core_op *op, int64_t at, enum stall by);

/* ---- core_window.c ---- */
void window_start(struct core *core, struct core_warp *w);
void window_fill(struct core *core, struct core_warp *w);
void window_choose(const struct core *core, const struct sub_core *sub, struct core_warp *w,
                   int64_t cycle);
/* False: the warp has ended. */
bool window_issued(struct core *core, struct core_warp *w, int64_t result_at, enum stall by);

/* ---- core_policy.c ---- */

/* Which warp of a mask that is not 0; -1: none of them may now (two-level). */
int policy_pick(const struct core_config *config, struct sub_core *sub, uint64_t eligible);
/* After warp l issued; it may go on in the next cycle or not. */
void policy_issued(const struct core_config *config, struct sub_core *sub, int l, bool goes_on);

#endif
