/*
 * Running a lesson's rungs: compile, launch on the model and on a card, compare
 * with the host's reference, and only then time. What comes out are numbers;
 * cells/magics/run.c words them.
 */
#ifndef WB_CELLS_LESSON_RUN_H
#define WB_CELLS_LESSON_RUN_H

#include "cells/magic.h"
#include "kernels/lessons.h"
#include "model/ptx/ptx.h"

/* Counters of one build of a rung, from the interpreter. */
struct rung_counts {
    double lane_efficiency;      /* of the whole kernel */
    double body_lane_efficiency; /* of the lines behind the bounds test; of a sample */
    int64_t branches, divergent_branches;
};

struct rung_outcome {
    const struct lesson_rung *rung;
    const struct lesson_rung *twin; /* NULL: it is one */
    size_t twin_index;
    bool is_correct;
    struct lesson_verdict verdict; /* of the run that failed, else of the last one */
    bool is_same_values;           /* checked against the twin, where the row asks for it */

    const char *branch; /* what the compiler made of the if: "bra", "loop", "selp", "" */
    int line, ptx_line; /* of the source and of the PTX */
    int registers;      /* for the device; 0: unknown */
    struct rung_counts opt, as_written;

    bool is_modelled;
    struct ptx_timing model;

    bool is_measured;
    double median_us, iqr_us, min_us;
    double clock_mhz; /* median over the repeats; 0: unknown */
    int repeat, rejected, inner, blocks_per_sm;
    double *samples_us; /* repeat of them; the arena's */
};

struct lesson_run {
    /* Asked for. */
    const struct lesson *lesson;
    struct session_device device; /* of the model, and the card when use_gpu */
    bool use_gpu, use_model;
    int64_t n;
    int block, repeat;
    uint64_t seed;
    int64_t model_blocks; /* most blocks that the interpreter runs of a launch; 0: all */

    /* Found; the arena's. */
    struct rung_outcome rungs[LESSON_MAX_RUNGS];
    size_t rung_count;
    int64_t blocks, blocks_run; /* of the grid, and by the interpreter */
    bool is_order_checked;      /* is_same_values was looked at */
    double clock_low_mhz, clock_high_mhz;
};

/*
 * Runs it; session and sink are those of the call. Fails as the children do, with Interrupted,
 * or with CompileError where the lesson's source was broken. A rung whose result is wrong is no
 * failure: it is reported, and has no time.
 */
int lesson_run(struct call *call, struct lesson_run *run, struct err *err) MUST_CHECK;

/* The time over its twin's; measured where there is one, else modelled; 0: unknown. */
double rung_twin_ratio(const struct lesson_run *run, size_t i);

#endif
