/*
 * The core layer: warps of one SM over streams of instructions.
 *
 * An SM is some sub-cores (partitions), each with a scheduler that issues one instruction a cycle
 * of one eligible warp. A warp is eligible when the operands of its next instruction are there and
 * the unit that it needs takes one. Units take an instruction every few cycles and give its result
 * some cycles later (costs.h); memory is a latency and a server with a rate for each level
 * (server.h). Time goes from event to event: cycles in which nobody can issue cost nothing.
 *
 * One engine for all: %simulate's bodies (body.h), and the interpreter's traces (ptx/timing.c).
 */
#ifndef WB_MODEL_CORE_H
#define WB_MODEL_CORE_H

#include "model/base/arena.h"
#include "model/costs.h"
#include "model/memory.h"
#include "model/policy.h"

#include <stdatomic.h>
#include <stdbool.h>

enum {
    CORE_MAX_PARTITIONS = 4,
    CORE_MAX_WARPS = 64, /* resident on the SM */
    CORE_MAX_DEPS = 12,
    CORE_MAX_WINDOW = 64,
    CORE_MAX_PATHS = 64, /* of a warp at the same time, those that wait for others included */
};

/* Where an access finds its data. Sectors of 32 bytes, except SHARED: passes of the banks. */
enum core_place {
    CORE_SHARED,
    CORE_L1,
    CORE_L2,
    CORE_FAR,  /* the other half of L2 */
    CORE_DRAM, /* passes L2 on its way */
    CORE_PLACE_COUNT
};

/* "L1". Static. */
const char *core_place_name(enum core_place place);

/* An instruction. Registers are numbered over all streams of a core, from 1. */
struct core_op {
    uint8_t class;    /* enum latency_class */
    bool is_access;   /* takes the stream's next access */
    bool is_clock;    /* reads the clock: core_clock_cycles */
    bool is_past_l1;  /* asks L2 even for what L1 has: stores, ld.cg, volatile and relaxed ones */
    uint8_t lanes;    /* active ones, for the counts of the run */
    uint16_t latency; /* above 0: instead of the class's, or the place's */
    uint8_t read_count, write_count;
    uint16_t reads[CORE_MAX_DEPS], writes[CORE_MAX_DEPS];
};

/* Instructions that are run from the first to the last. */
struct core_block {
    const struct core_op *ops;
    int count;
};

/* One step of a stream: a block, and how often in a row with the same accesses. */
struct core_step {
    int block;    /* below 0: the stream's fork -1 - block, where the warp's lanes part */
    int repeat;   /* 1 for a fork */
    int access;   /* index of its first access in the stream's list */
    int accesses; /* how many */
};

/*
 * What an access asks for: sectors or passes, and a key of core_config.places that says where its
 * data are. What the levels behind L1 have to do may be another number: additions to one address
 * are as many operations as lanes.
 */
typedef uint32_t core_access;

enum { CORE_ACCESS_KEY = 16, CORE_ACCESS_BEHIND = 19, CORE_ACCESS_MEMORY = 25 };
#define CORE_ACCESS_IS_KNOWN (UINT32_C(1) << 31)

static inline core_access core_access_of(int key, int amount)
{
    return (core_access)amount | (core_access)key << CORE_ACCESS_KEY;
}

/*
 * The same where more is known. behind: sectors, or of an atomic operations, that L2 does; memory:
 * granules of GRANULE_BYTES that DRAM gives; each up to 63.
 */
static inline core_access core_access_with(core_access access, int behind, int memory)
{
    return access | CORE_ACCESS_IS_KNOWN | (core_access)behind << CORE_ACCESS_BEHIND |
           (core_access)memory << CORE_ACCESS_MEMORY;
}

static inline int core_access_key(core_access access)
{
    return access >> CORE_ACCESS_KEY & 7;
}

static inline int core_access_amount(core_access access)
{
    return access & 0xffff;
}

static inline int core_access_behind(core_access access)
{
    return access & CORE_ACCESS_IS_KNOWN ? (int)(access >> CORE_ACCESS_BEHIND & 63)
                                         : core_access_amount(access);
}

/* Bytes; where nothing is known, those of the sectors. */
static inline int core_access_memory_bytes(core_access access)
{
    return access & CORE_ACCESS_IS_KNOWN ? (int)(access >> CORE_ACCESS_MEMORY & 63) * GRANULE_BYTES
                                         : core_access_amount(access) * SECTOR_BYTES;
}

/* What a warp executes. */
struct core_stream {
    const struct core_step *steps;
    int step_count;
    const core_access *accesses;
    const struct core_fork *forks;
    bool is_endless; /* after the last step comes the first: until whoever calls has seen enough */
};

/* Paths that a warp takes one after the other or in turns; all end before it goes on. */
struct core_fork {
    const struct core_stream *paths;
    int count;
};

/* The same warp while it can issue, then the one that did longest ago; beside scheduler_policy. */
enum { CORE_LEAST_RECENT = POLICY_COUNT };

/* What is simulated. All is borrowed for as long as the core. */
struct core_config {
    const struct costs *costs;
    int partitions;  /* 1..CORE_MAX_PARTITIONS; warp w of the SM is in partition w mod that */
    int policy;      /* enum scheduler_policy or CORE_LEAST_RECENT */
    int switch_cost; /* cycles in which a scheduler that takes another warp issues nothing */
    int window;      /* 0: in order; else the next instructions out of which any may issue */
    bool is_stack;   /* a path runs to its end before the next; else any that can (its) */
    bool has_forks;  /* some stream has them */
    int jitter;      /* an access takes 0..jitter cycles more, by (seed, warp, access) */
    uint64_t seed;

    /*
     * DRAM works in bursts: one access in so many, at random, holds it for all of them, and the
     * others pass. Its rate is the same, and who comes waits for whoever holds it: at the part u of
     * the rate that is burst / 2 x the time of one access x u / (1 - u), by Pollaczek and
     * Khinchine's formula of a server's queue. 0, 1: each access takes its own time.
     */
    int burst;

    int64_t l2_rate, dram_rate, rate_cycles; /* bytes that this SM gets in rate_cycles cycles */
    int64_t atomic_rate, atomic_cycles;      /* operations of atomics at L2, the same way */
    uint8_t places[8];                       /* enum core_place of the upper half of an access */
    int64_t start_interval, start_latency;   /* 1/100 cycle between starts of blocks; cycles from
                                                the end of a block to the start of the next */

    const struct core_block *blocks;
    int register_count; /* highest number + 1 */
    int resident_blocks, warps_per_block;
    int64_t block_count; /* those beyond the resident ones take their places; INT64_MAX: endless */

    /* What a warp of a block runs; the same for the same block at each call. */
    const struct core_stream *(*stream_of)(const void *context, int64_t block, int warp);
    const void *context;
};

/* Sums from cycle 0 on. */
struct core_totals {
    int64_t cycles;
    int64_t issued; /* issue slots: an instruction of several slots counts as several */
    int64_t instructions, lanes;  /* those issued, and their active lanes */
    int64_t switching;            /* cycles of schedulers that changed the warp */
    int64_t blocks_ended, rounds; /* of streams: each time that a warp came to the end of its own */
    int64_t stalls[STALL_COUNT]; /* cycles of resident warps by state; selected: those that issue */
    int64_t unit_busy[LAT_COUNT]; /* cycles, of all sub-cores */
    int64_t sectors[CORE_PLACE_COUNT];
};

/* The first cycles as they were: both arrays are the caller's. */
struct core_record {
    int cycles;
    uint8_t *states; /* [warp * cycles + cycle]: enum stall, or CORE_NO_WARP */
    int32_t *issuer; /* [partition * cycles + cycle]: warp, -1: idle, -2: changes the warp */
};
enum { CORE_NO_WARP = STALL_COUNT };

struct core;

/*
 * What an SM gets of a device's L2 and memory while as many SMs are busy: its share, and of L2 at
 * most what one SM can take. What the device does not state is no limit but that. Sets the rates.
 */
void core_set_memory(struct core_config *config, const struct device *device, int64_t busy_sms);

/*
 * How fast atomics are done at L2: a slice does one operation, on one sector, in a cycle of L2's
 * clock. `all` operations of which the slice that has most does `most`, so that it decides;
 * core_set_memory takes them as spread evenly.
 */
void core_set_atomics(struct core_config *config, const struct device *device, int64_t busy_sms,
                      int64_t all, int64_t most);

/*
 * Makes the core of a config, at cycle 0, in the arena; NULL: out of memory. The config must be in
 * its limits: resident_blocks * warps_per_block in 1..CORE_MAX_WARPS. record may be NULL.
 */
struct core *core_new(const struct core_config *config, const struct core_record *record,
                      struct arena *arena);

/* To the next event, issues and all; false when every block has ended. */
bool core_step(struct core *core);

/* The cycle after the last issue, and the issue slots so far: the cheap part of the totals. */
int64_t core_last_cycle(const struct core *core);
int64_t core_issued(const struct core *core);

/* When L2 and memory have done all that was issued, whether somebody waits for it or not. */
int64_t core_drained(const struct core *core);

/*
 * The sums at a cycle that the core has reached but not passed: the states of waits that are not
 * over count up to there, so that the stalls sum to resident warps x cycles.
 */
void core_totals(const struct core *core, int64_t cycle, struct core_totals *out);

/* Cycles between the first and the last reading of the clock so far; 0: fewer than two. */
int64_t core_clock_cycles(const struct core *core);

/* Instructions that each resident warp (of CORE_MAX_WARPS) has issued. */
void core_warp_issued(const struct core *core, int64_t *out);

/* Once the core has passed the record's last cycle: completes it. */
void core_finish_record(struct core *core);

/* The cycle of the next event; INT64_MAX: none. */
int64_t core_next_cycle(const struct core *core);

/* The warp that last came to the end of its stream, -1; how often a warp did, or (-1) all. */
int core_last_round(const struct core *core);
int64_t core_rounds(const struct core *core, int warp);

/* Equal numbers (almost surely) mean that from here on the same happens, cycles apart. */
uint64_t core_state(const struct core *core);

/* What endless streams settle into. */
struct core_steady {
    bool is_exact;           /* a state recurred: the sums are those of one exact period */
    int64_t warmup;          /* cycles left out before */
    int64_t cycles;          /* over which was summed: the period, or a long stretch */
    struct core_totals sums; /* in those cycles */
    int64_t warp_issued[CORE_MAX_WARPS], warp_rounds[CORE_MAX_WARPS];
};

/*
 * Runs a core of endless streams until its state recurs; with jitter, or when it does not within
 * CORE_MAX_EVENTS events (an eighth out of order), over a long stretch after a warm-up. record may
 * be NULL.
 *
 * Fails with Interrupted (stop, which may be NULL; polled at least each millisecond) or
 * ResourceError. What is filled is the caller's; the core lives in the arena.
 */
int core_settle(const struct core_config *config, const struct core_record *record,
                struct arena *arena, struct core_steady *out, const atomic_bool *stop,
                struct err *err) MUST_CHECK;

enum { CORE_MAX_EVENTS = 1 << 20 };

#endif
