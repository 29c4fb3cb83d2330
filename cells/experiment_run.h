/*
 * Running an experiment: every point of the sweep compiled, launched on the model and on a card,
 * compared with what the host computes, and only then timed. What comes out are numbers;
 * cells/magics/run_sweep.c words them.
 */
#ifndef WB_CELLS_EXPERIMENT_RUN_H
#define WB_CELLS_EXPERIMENT_RUN_H

#include "cells/magic.h"
#include "kernels/experiment.h"

struct experiment_outcome {
    struct experiment_point point;
    struct experiment_launch launch; /* launch.skipped says why there is none */
    int registers, spill_bytes;      /* for the device; registers 0: unknown */

    bool is_checked, is_correct; /* of all runs, the model's and the card's */
    int64_t checked, wrong;      /* words */
    int64_t first;               /* the first wrong word, and its bits */
    uint32_t got, want;

    bool is_modelled;
    struct ptx_timing model;
    double modelled; /* the quantity */

    bool is_measured;
    double median, iqr, min; /* of the quantity */
    double cycles, time_us;  /* medians; time_us 0 where the clock of the SM was read */
    double clock_mhz;
    int repeat, rejected, launches_a_sample, blocks_per_sm;
    double *samples; /* repeat of them, of the quantity */
};

struct experiment_run {
    /* Asked for. */
    const struct experiment *experiment;
    struct session_device device; /* of the model, and the card when use_gpu */
    bool use_gpu, use_model;
    int repeat;
    uint64_t seed;
    const int64_t *xs, *series;
    size_t x_count, series_count;

    /* Found; the arena's. */
    struct experiment_outcome *points; /* [series * x_count + x] */
    size_t count;
    struct experiment_data data;
    double error_percent;         /* mean of |modelled - measured| / measured; NaN: not both */
    double formula_error_percent; /* the closed form's, against measured; NaN: not both */
    double clock_low_mhz, clock_high_mhz;
    double copy_gbs; /* of a copy within the card's memory in the same run; 0: not measured */
};

/*
 * Runs it. Fails as the children do, with Interrupted, or with CompileError where a kernel's
 * source was broken. A point whose result is wrong is no failure: it is reported, and has no time.
 */
int experiment_run(struct call *call, struct experiment_run *run, struct err *err) MUST_CHECK;

#endif
