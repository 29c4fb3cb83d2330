/*
 * The host threads of a launch.
 *
 * They take blocks in order, some at a time, from a common counter, and note what they read and
 * wrote (footprint.c). Where that shows that the order could matter, or something failed, all is
 * undone and the blocks run in order on one thread, as do those of kernels that ask for an order
 * (order.c).
 */
#ifndef WB_MODEL_PTX_TEAM_H
#define WB_MODEL_PTX_TEAM_H

#include "model/ptx/internal.h"
#include "model/ptx/print.h"

#include <pthread.h>

enum { MAX_HOST_THREADS = 64 };

struct worker;

/* What the host threads of a launch share. */
struct team {
    const struct run *run;
    int64_t blocks;     /* of the grid */
    int64_t executed;   /* of these, when sampled */
    int64_t traced;     /* of those, for the timing model */
    int *trace_classes; /* by traced block: class in the classes of who ran it */
    uint8_t *trace_owners;
    struct worker *workers;
    int worker_count;
    struct print_queue printed;
    int64_t batch;       /* places that a host thread takes at a time */
    atomic_llong next;   /* place in the order of executed blocks */
    atomic_llong failed; /* lowest place that failed */
    int processor;       /* that the first host thread ran on when it made the others */
};

struct slot;

struct worker {
    struct team *team;
    struct arena *arena;
    struct counts counts;        /* of all its blocks */
    struct slot *slots;          /* blocks in flight, and room for more */
    struct track *track;         /* who touched which word, for races=all; else NULL */
    struct footprint *footprint; /* when blocks run side by side; else NULL */
    struct classes classes;
    struct ptx_fault fault;
    struct err err;
    int64_t failed_at;
    int64_t done; /* blocks */
    int index;
    pthread_t thread;
    bool is_started;
};

/* Makes a team for a run; -1: out of memory. team_done ends it, also after a failure. */
int team_init(struct team *team, const struct run *run, struct arena *arena,
              struct err *err) MUST_CHECK;
void team_done(struct team *team);

/*
 * Runs the blocks. Fails as ptx_run does, with the fault of the first block in order that met one;
 * its texts are the arena's. fault may be NULL.
 */
int team_run(struct team *team, struct arena *arena, struct ptx_fault *fault,
             struct err *err) MUST_CHECK;

/* Host threads that a launch of so many blocks is worth; run->entry is known. */
int team_host_threads(const struct run *run, int64_t blocks);

/* Runs the blocks of a sample and undoes what they did; what they counted stays. */
int team_try(struct team *team, struct arena *arena, struct err *err) MUST_CHECK;

/* count.c: thread instructions that all workers ran so far. */
int64_t count_thread_instructions(const struct team *team);

/* Adds what was noted while the blocks ran to the facts. -1: out of memory. */
int team_warn(struct team *team, struct arena *arena, struct ptx_facts *facts) MUST_CHECK;

/* count.c: what all workers counted, added up, and the time of the launch when it is asked for. */
int count_facts(struct ptx_facts *facts, struct team *team, struct arena *arena,
                struct err *err) MUST_CHECK;

#endif
