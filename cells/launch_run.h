/*
 * Running a planned launch in its child process, and what came of it. Buffers change only
 * when the launch succeeds; then they and what they say of written bytes are the
 * session's new state.
 */
#ifndef WB_CELLS_LAUNCH_RUN_H
#define WB_CELLS_LAUNCH_RUN_H

#include "cells/launch_plan.h"
#include "cells/workers.h"
#include "kernels/child.h"

struct launch_outcome {
    bool has_facts; /* counted by the interpreter */
    struct ptx_facts facts;
    bool has_written; /* counts of the code as written, from a few blocks */
    struct ptx_facts written;
    bool is_measured; /* timed on a card */
    double *samples_us, *clocks_mhz;
    size_t sample_count;
    int rejected, inner, blocks_per_sm; /* blocks_per_sm: as the driver says; 0: it was not asked */
    double copy_gbs;                    /* a copy within the card's memory; 0: not measured */
    bool printed;                       /* the kernel wrote to stdout */
};

struct launch_request_options {
    bool is_writing;           /* buffers change */
    bool is_quiet;             /* what the kernel prints is dropped, no progress is shown */
    int repeat;                /* GPU: 0 once, else times so many samples */
    bool wants_written;        /* interpreter: count a few blocks of the code as written, too */
    bool is_cold;              /* GPU: flush caches before each sample */
    bool wants_copy;           /* GPU, timed: measure a copy, too */
    const struct bytes *probe; /* GPU: machine code of kernels/clock.cu; NULL: no clock is read */
};

/*
 * Runs one launch. Facts live in the call's arena. Fails with what the kernel did wrong (its report
 * completed by the source's lines, the launch and the state of the buffers), Timeout, Interrupted,
 * DeviceError, ResourceError or InternalError.
 */
int launch_run(struct call *call, const struct launch_plan *plan,
               const struct launch_request_options *options, struct launch_outcome *out,
               struct err *err) MUST_CHECK;

/* ---- launch_progress.c ---- */

/* Without timeout= a launch ends once no block finished for so long: it is endless. */
enum { LAUNCH_STUCK_MS = 20000 };

/* A display that says how far a long launch is. */
struct launch_progress {
    struct call *call;
    const struct launch_plan *plan;
    struct launch_status *status;
    bool is_quiet;
    int64_t asked_ms, began_ms, last_shown_ms, last_block_ms, last_done;
    int last_launches;
    bool is_shown, is_whole; /* said that all blocks ran */
    bool is_stopped;         /* told to stop because the time is up */
    char id[40];             /* of the display */
    bool printed;
};

int launch_progress_begin(struct launch_progress *p, struct call *call,
                          const struct launch_plan *plan, bool is_quiet, int *fd,
                          struct err *err) MUST_CHECK;
enum watch_answer launch_progress_tick(void *progress, struct err *err);
void launch_progress_part(void *progress, struct bytes body);
void launch_progress_end(struct launch_progress *p, bool is_ok);

/*
 * Adds to the error of a launch what only the front knows: source, launch and state. lost: what
 * went with the GPU's process, or NULL.
 */
void launch_explain(struct call *call, const struct launch_plan *plan,
                    const struct ptx_fault *fault, const char *lost, struct err *err);

#endif
