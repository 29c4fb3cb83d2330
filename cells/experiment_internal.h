/*
 * What the files that run an experiment share: the work in hand, and what each does with it.
 *
 * experiment_run.c      plans, holds the memory, runs the model, sums up
 * experiment_compile.c  a module for each set of the compiler's options
 * experiment_ask.c      launches as requests to a child
 * experiment_check.c    every word against the host's
 * experiment_gpu.c      times of a card
 */
#ifndef WB_CELLS_EXPERIMENT_INTERNAL_H
#define WB_CELLS_EXPERIMENT_INTERNAL_H

#include "cells/experiment_run.h"
#include "cells/images.h"
#include "cells/lesson_memory.h"
#include "kernels/launch.h"

enum {
    EXPERIMENT_MAX_MODULES = 64,
    EXPERIMENT_STAMP = 3,       /* words of a warp in clocks: first reading, last reading, SM */
    EXPERIMENT_WARM_ROUNDS = 1, /* of the clock, that do not count */
};

/* Points with the same options of the compiler. */
struct experiment_module {
    const char *options;
    const struct image *machine, *ptx;
};

struct experiment_work {
    struct call *call;
    struct experiment_run *run;
    struct experiment_module modules[EXPERIMENT_MAX_MODULES];
    size_t module_count;
    const struct image *probe;
    struct lesson_memory in, out, clocks;
    int64_t in_words;
    size_t *out_at, *clocks_at; /* byte of each point's stretch */
    size_t *clock_bytes;        /* of one launch */
    int rounds;                 /* of clocks: with those that warm up */
};

/* A request: which points, how often, and what is asked of the child. */
struct experiment_asking {
    enum child_kind kind;
    struct launch_options options;
    int rounds;        /* each round has every point once */
    size_t most;       /* points; 0: all */
    bool only_correct; /* points */
};

static inline int experiment_no_memory(struct err *err)
{
    return err_set(err, ERR_ResourceError, "out of memory for the experiment");
}

static inline bool experiment_is_by_clock(const struct experiment_work *w)
{
    return w->run->experiment->basis == EXPERIMENT_CLOCK;
}

static inline bool experiment_exists(const struct experiment_outcome *o)
{
    return !o->launch.skipped[0];
}

static inline bool experiment_takes_part(const struct experiment_outcome *o, bool only_correct)
{
    return experiment_exists(o) && (!only_correct || (o->is_checked && o->is_correct));
}

static inline uint32_t *experiment_out_of(const struct experiment_work *w, size_t i)
{
    return (uint32_t *)(void *)((char *)w->out.data + w->out_at[i]);
}

/* ---- experiment_run.c ---- */
int64_t experiment_warps_of(const struct experiment_launch *l);
/* Puts into every word of `out` what no kernel writes. Fails with Interrupted. */
int experiment_poison(const struct experiment_work *w, struct err *err) MUST_CHECK;
struct experiment_time experiment_start_time(const struct experiment_outcome *o);

/* ---- experiment_compile.c ---- */
/* All modules, the clock's probe and the points' registers. Fails as image_of does. */
int experiment_compile(struct experiment_work *w, struct err *err) MUST_CHECK;
size_t experiment_module_of(const struct experiment_work *w, const struct experiment_launch *l);

/* ---- experiment_ask.c ---- */
/* Fails as workers_ask does; the answer has a TAG_DONE for each launch, in order. */
int experiment_ask(struct experiment_work *w, const struct experiment_asking *a,
                   struct child_message *answer, struct err *err) MUST_CHECK;

/* ---- experiment_check.c ---- */
/* Compares `out` of every point that was right so far with the host's. */
int experiment_check_all(struct experiment_work *w, bool is_model, struct err *err) MUST_CHECK;

/* ---- experiment_gpu.c ---- */
/* Runs every point once, checks it, and times those that are right. */
int experiment_run_gpu(struct experiment_work *w, struct err *err) MUST_CHECK;

#endif
