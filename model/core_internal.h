/*
 * What the files of the core layer share: the state of an SM.
 *
 * core.c         events, issue, blocks, the sums
 * core_ready.c   which warps can issue, and when a scheduler looks again
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

/*
 * From which cycle on something is there, and what whoever waits for it waits for (enum stall). In
 * one number, so that it is kept, found and compared as one.
 */
typedef int64_t due;

static inline due due_at(int64_t cycle, enum stall by)
{
    return cycle << 8 | (int64_t)by;
}

static inline int64_t due_cycle(due d)
{
    return d >> 8;
}

static inline enum stall due_stall(due d)
{
    return (enum stall)(d & 0xff);
}

/* The same, but not before a cycle. */
static inline due due_not_before(due d, int64_t cycle)
{
    return max_i64(d, cycle << 8 | (d & 0xff));
}

/* The later one; the first of two in the same cycle. */
static inline due due_later(due a, due b)
{
    return b > (a | 0xff) ? b : a;
}

/* An instruction that a warp may issue next. */
struct candidate {
    const struct core_op *op;
    due ready;          /* its operands */
    core_access access; /* if it is one */
};

/* A place in a stream, and the instruction there. A warp has several while its lanes are apart. */
enum path_state { PATH_FREE, PATH_RUNS, PATH_WAITS /* for the paths of its fork */ };
struct path {
    struct candidate next;
    const struct core_op *end; /* behind the last of its block */
    due blocked;               /* branches and barriers */
    const struct core_stream *stream;
    int step, left, access; /* left: repeats of the step */
    enum path_state state;
    int parent, children; /* index of the path that forked, -1; paths that it waits for */
    int depth;
};

/* An instruction between its fetch and the issue of all before it. */
struct waiting_op {
    struct candidate self;
    int64_t number; /* of the warp's instructions, from 1 */
    bool is_issued;
    int missing;                      /* results that nobody has issued yet */
    int64_t producers[CORE_MAX_DEPS]; /* numbers of those, 0: it is known */
};

struct window {
    struct waiting_op ops[CORE_MAX_WINDOW]; /* a ring: instruction n is at n mod its size */
    int64_t head, tail;                     /* the oldest that is not issued; the next to fetch */
    int64_t *writers;                       /* by register: who writes it last in program order */
    bool is_fenced;                         /* a barrier is in it: nothing behind is fetched */
    bool is_at_end;                         /* of the stream */
};

enum warp_place { WARP_EMPTY, WARP_RUNS, WARP_AT_BARRIER };

struct core_warp {
    const struct candidate *next; /* what its scheduler sees of it */
    struct path *path;            /* the one that issues next, of paths */
    due *results;                 /* by register */
    int64_t since;                /* cycle after its last issue */
    int64_t mark; /* its unit's busy when its operands were there; -1: they are not yet */
    struct sub_core *sub;
    int64_t issued, rounds;
    uint8_t unit;  /* that it needs next: enum latency_class */
    uint8_t local; /* its number in its scheduler */
    int number;    /* on the SM */
    enum warp_place place;
    int slot; /* of its block */
    int path_count;
    struct path *paths;
    struct window *window;
    uint64_t id, draws; /* of the jitter */
};

struct resident_block {
    int first_warp, warps, running, at_barrier;
    int64_t first_arrival; /* cycle, when at_barrier > 0 */
};

/* What executes one class of instruction. */
struct unit {
    int64_t free_at; /* from when it takes an instruction */
    int64_t from;    /* the cycle after it was last given one */
    int64_t busy;    /* cycles that began with it taken, those up to free_at included */
    int64_t issues;
    uint64_t needed_by; /* warps whose next instruction it executes */
};

/* Warps of a scheduler, who issued longest ago first: a ring through CORE_MAX_WARPS, its start. */
struct age_list {
    uint8_t next[CORE_MAX_WARPS + 1], prev[CORE_MAX_WARPS + 1];
};

/* A scheduler, its units and its warps: warp l is number l * partitions + index of the SM. */
struct sub_core {
    int index;
    int last; /* issued last, -1: nobody yet */
    int switching_to;
    int waiting_count;
    int64_t issue_free; /* cycle from which it may issue */
    int64_t wake_at;    /* no operands of those that wait are there before */
    uint64_t ready;     /* warps whose operands are there */
    uint64_t many;      /* warps with several next instructions: chosen anew each time */
    uint32_t taken;     /* units that may be */
    int active_count, pending_count;
    struct unit units[LAT_COUNT];
    int64_t waiting[CORE_MAX_WARPS]; /* by operands, the soonest last: cycle << 6 | warp */
    struct age_list age;
    int active[POLICY_ACTIVE_SET];
    int pending[CORE_MAX_WARPS]; /* two-level */
    struct core_warp warps[CORE_MAX_WARPS];
};

struct core {
    struct core_config config;
    const struct class_cost *classes; /* of its costs */
    bool has_choice;                  /* warps may have several next instructions */
    const struct core_record *record;
    uint8_t *unit_taken; /* of the record: [(partition * LAT_COUNT + class) * cycles + cycle] */
    int warp_count;
    int64_t next[CORE_MAX_PARTITIONS]; /* cycle of a scheduler's next event; CORE_NEVER */
    struct sub_core sub_cores[CORE_MAX_PARTITIONS];
    struct resident_block slots[CORE_MAX_WARPS];
    struct server l1, l2, dram; /* sectors or passes; bytes; bytes */
    struct server atomics;      /* operations at L2 */
    uint64_t served;            /* accesses of DRAM so far, where it works in bursts */
    struct server starts;       /* of blocks */
    int64_t next_block, last_cycle;
    int64_t drained;                 /* when the levels behind L1 have done what they were given */
    int64_t first_clock, last_clock; /* cycles in which the clock was read; -1: not yet */
    int last_round;                  /* warp */
    struct core_totals totals;       /* what does not follow from the units' counts */
};

static inline struct core_warp *warp_at(const struct core *core, int number)
{
    int partitions = core->config.partitions;

    return (struct core_warp *)&core->sub_cores[number % partitions].warps[number / partitions];
}

/*
 * Cycles before `cycle` that began with a unit taken; nothing was given to it since. The cycle in
 * which it gets an instruction is none: it was free, and another warp there was not selected.
 */
static inline int64_t unit_busy_until(const struct unit *unit, int64_t cycle)
{
    return unit->busy - max_i64(unit->free_at - max_i64(cycle, unit->from), 0);
}

static inline void warp_set_results(struct core_warp *w, const struct core_op *op, due result)
{
    for (int i = 0; i < op->write_count; i++)
        w->results[op->writes[i]] = result;
}

/* ---- core_ready.c ---- */

/* A warp that has started, or may go on, has a next instruction. */
void ready_offer(struct core *core, struct core_warp *w);

/* The warps that can issue in a cycle; *next: when the first of the others can. */
uint64_t ready_find(struct core *core, struct sub_core *sub, int64_t cycle, int64_t *next);

/* ---- core_record.c ---- */
int record_init(struct core *core, struct arena *arena); /* -1: out of memory */
void record_issue(struct core *core, const struct core_warp *w, int64_t cycle);
void record_switch(struct core *core, const struct sub_core *sub, int64_t from, int64_t to);

/* ---- core_memory.c ---- */

/* When the data of an access that is issued in a cycle is there. */
int64_t memory_access_done(struct core *core, const struct candidate *c, int64_t cycle);

/* ---- core_warp.c ---- */

/* At the first instruction of a stream. False: it has none. */
bool warp_start(struct core *core, struct core_warp *w, const struct core_stream *stream,
                int64_t cycle);

/* After the next instruction was issued: to the one behind it. False: the warp has ended. */
bool warp_advance(struct core *core, struct core_warp *w);

/* When the operands of the current path's next instruction are there, after a barrier opened. */
void warp_look(struct core_warp *w);

/* Of several paths the one that can issue first, at a cycle. */
void warp_choose_path(const struct core *core, struct core_warp *w, int64_t cycle);
int warp_runnable_paths(const struct core_warp *w);

/* The root path to its next instruction, whether the one before was issued or not. */
bool warp_fetch(struct core *core, struct core_warp *w);

/* ---- core_window.c ---- */
void window_start(struct core *core, struct core_warp *w);
void window_fill(struct core *core, struct core_warp *w);
void window_choose(struct core_warp *w, int64_t cycle);
/* False: the warp has ended. */
bool window_issued(struct core *core, struct core_warp *w, due result);

/* ---- core_policy.c ---- */

/* Which warp of a mask that is not 0; -1: none of them may now (two-level). */
int policy_pick(const struct core_config *config, struct sub_core *sub, uint64_t eligible);
/* A warp more, before any has started. */
void policy_add(struct sub_core *sub, const struct core_warp *w);

/* A warp has started or issued: of all that have, it did so last (CORE_LEAST_RECENT). */
void policy_renew(struct sub_core *sub, const struct core_warp *w);

/* Two-level: warp l issued and cannot go on in the next cycle. */
void policy_suspend(struct sub_core *sub, int l);

#endif
