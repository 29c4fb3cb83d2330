/*
 * The async layer: roles that work at the same time, and wait for each other.
 *
 * A role is one program, run by a warp or a group of warps, in order. It starts work on an engine
 * (a copy engine, the tensor cores) and goes on at once, works itself, or waits for a token and
 * does nothing else until it is there. An engine takes one piece of work after the other
 * (model/server.h). A token stands for one step of one thing: full[3] is "the tile of step 3 is
 * in its slot"; it is raised once as many have arrived as it counts, like an mbarrier.
 *
 * Nothing here knows about GEMM or attention: those programs are in model/async_programs.c, and one
 * of them is the pattern of model/scheduler.h, warps that issue and wait. A ring of buffers is the
 * same thing seen from the other side: slots instead of warps, a tensor core instead of a
 * scheduler.
 *
 * Time goes from one event to the next; cycles are integers.
 */
#ifndef WB_MODEL_ASYNC_H
#define WB_MODEL_ASYNC_H

#include "model/base/arena.h"
#include "model/base/base.h"
#include "model/base/err.h"

#include <stdatomic.h>
#include <stdbool.h>

enum {
    ASYNC_MAX_ROLES = 64,
    ASYNC_MAX_ENGINES = 8,
    ASYNC_MAX_TOKENS = 80,
    ASYNC_MAX_PHASES = 5,
    ASYNC_MAX_OPS = 12, /* of a phase */
    ASYNC_MAX_STEPS = 65536,
    ASYNC_MAX_PIPE = 64,
    ASYNC_MAX_CYCLES = 1000000, /* of one piece of work, a latency, a jitter */
    ASYNC_NONE = -1,            /* no engine, no token, no port */
};

enum async_kind {
    ASYNC_START, /* an engine works, the role goes on: a TMA copy, an MMA */
    ASYNC_WORK,  /* the role itself is held, and takes its turn on an engine when it has one */
    ASYNC_WAIT,  /* blocks until a token is raised */
};

/* How an op uses the slot (step modulo pipe) of the ring. */
enum async_access { ASYNC_NO_SLOT, ASYNC_WRITES, ASYNC_READS };

/* One statement in the loop over k. Its step is k + shift; it is skipped while that is below 0. */
struct async_op {
    enum async_kind kind;
    enum async_access access;
    const char *name; /* "load", "mma"; of a wait: NULL */
    int engine;       /* index, or ASYNC_NONE */
    int token;        /* raised at the end, or waited for; index, or ASYNC_NONE */
    int shift;
    int64_t cycles;       /* that the engine is taken */
    int64_t latency;      /* from the engine's end to the token */
    int64_t jitter;       /* 0..jitter cycles more, drawn by (seed, op, step) */
    int64_t hold;         /* cycles of the role itself */
    const uint8_t *guard; /* per k: 0 skips the op; borrowed, or NULL */
};

/* for k = from..to-1 */
struct async_phase {
    int from, to;
    struct async_op ops[ASYNC_MAX_OPS];
    int op_count;
};

struct async_role {
    const char *name;
    int warps;
    int port; /* an engine that each op with hold takes as well: issue slots that roles share */
    struct async_phase phases[ASYNC_MAX_PHASES];
    int phase_count;
};

struct async_token {
    const char *name;
    int arrivals; /* until it is raised, 1 or more */
};

struct async_program {
    const char *name;
    struct async_role roles[ASYNC_MAX_ROLES];
    const char *engines[ASYNC_MAX_ENGINES];
    struct async_token tokens[ASYNC_MAX_TOKENS];
    int role_count, engine_count, token_count;
    int steps, pipe;
    int main_engine;  /* whose busy time is what counts */
    int period_works; /* after so many works of the main engine the steady state repeats; 0: never
                       */
    int64_t wake;     /* cycles from a token to the next op of a role that waited for it */
    uint64_t seed;
};

/* What a role does in a stretch of cycles. */
enum async_state {
    ASYNC_HELD,    /* works itself */
    ASYNC_WAITING, /* for a token */
    ASYNC_BLOCKED, /* for an engine or a port that others use */
    ASYNC_STATES
};

/* A stretch of time of a role (engine: ASYNC_NONE) or of an engine (role: who started it). */
struct async_event {
    int64_t from, to; /* cycles from..to-1; equal: it took no time */
    int64_t arrived;  /* of an engine: when the token had its arrival */
    int role, engine;
    enum async_state state;    /* of a role */
    const struct async_op *op; /* in the program */
    int step;
};

/* Step `writer` went into a slot that step `reader` had not finished with. */
struct async_overwrite {
    int slot, writer, reader;
    int64_t written;               /* cycle in which the new tile may arrive from */
    int64_t read_from, read_until; /* of the old one */
};

enum { ASYNC_MAX_OVERWRITES = 16 };

struct async_run {
    int64_t cycles;       /* until the last role and the last engine have ended */
    int64_t main_works;   /* pieces of work of the main engine */
    double utilization;   /* of the main engine, 0..1, start and end included */
    double busy;          /* the same in the steady state: over whole periods of the second half */
    double idle_per_work; /* cycles that it idles for each piece of work there */
    int64_t role_cycles[ASYNC_MAX_ROLES][ASYNC_STATES];
    int64_t role_end[ASYNC_MAX_ROLES];
    int64_t engine_busy[ASYNC_MAX_ENGINES];
    int64_t overwrites; /* all of them; the first ones are listed */
    struct async_overwrite overwrite[ASYNC_MAX_OVERWRITES];
    const struct async_event *events; /* in the order of `from`; the arena's */
    size_t event_count;
    bool has_all_events;
};

/*
 * Runs the program (borrowed). most_events: how many stretches of time to keep, 0 for none.
 *
 * Fails with ValueError (a limit above, by name), Deadlock (all roles wait for tokens that nobody
 * will raise; the text says who waits for what), Interrupted (stop, which may be NULL) or
 * ResourceError.
 */
int async_run(const struct async_program *program, size_t most_events, struct arena *arena,
              const atomic_bool *stop, struct async_run *out, struct err *err) MUST_CHECK;

#endif
