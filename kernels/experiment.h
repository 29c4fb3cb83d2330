/*
 * Experiments: what `%run NAME` sweeps, on a card and on the model.
 *
 * A lesson of kernels/lessons.h compares rungs; an experiment is a curve. It is a kernel file
 * (experiments/NAME.cu, printed by %source) and a row (experiments/NAME.c) that says which two
 * keys are swept, how a point of the sweep becomes a launch, what the launch must compute, which
 * quantity follows from the cycles or microseconds that it took, and what the curve says.
 * Running, timing and drawing are the same for all (cells/experiment_run.c, magics/run_sweep.c).
 *
 * To add one: the two files, and its name in EXPERIMENT_NAMES below. A key that no experiment has
 * yet is a row of PARAMS in cells/magics/run.c.
 *
 * Every kernel has the signature
 *
 *   extern "C" __global__ void k(const T *in, U *out, long long *clocks, int a, int b, ...)
 *
 * with words of 4 bytes in `in` and `out` and as many ints as its launch has arguments. What is
 * timed must end in `out`, so that the compiler keeps it and its result can be checked. An
 * experiment by EXPERIMENT_CLOCK reads clock64() around what it times: lane 0 of warp w of the
 * launch stores first reading, last reading and %smid to clocks[3 * w ..] (stamp(), from stamp.cu);
 * the cycles of a launch are, SM by SM, from the first reading of any warp there to the last, and
 * the median of the SMs. So several blocks may share an SM. The model's cycles are the same: from
 * the first to the last reading of the clock on the SM that it simulates.
 * One by EXPERIMENT_EVENT leaves `clocks` alone and is timed between two events of the card.
 *
 * Look at the machine code of what is timed: ptxas moves instructions, volatile or not, as far as
 * registers let it. What must stay in order has to depend on each other.
 */
#ifndef WB_KERNELS_EXPERIMENT_H
#define WB_KERNELS_EXPERIMENT_H

#include "kernels/launch.h"
#include "model/base/buf.h"
#include "model/costs.h"
#include "model/device.h"
#include "model/ptx/ptx.h"

#include <stdbool.h>

enum {
    EXPERIMENT_MAX_SERIES = 8,
    EXPERIMENT_MAX_VALUES = 64, /* of the axis */
    EXPERIMENT_MAX_ARGUMENTS = 6,
};

enum experiment_basis {
    EXPERIMENT_CLOCK, /* cycles between readings of clock64 in the kernel */
    EXPERIMENT_EVENT, /* microseconds of the launch, between two events */
};

/* A key of %run: the axis of the sweep, or what tells its curves apart. */
struct experiment_key {
    const char *name;      /* "warps"; NULL: there is one curve */
    const char *label;     /* "warps a scheduler": axis and table; NULL: the name */
    const int64_t *values; /* that are swept when the key is not given */
    size_t count;
    int64_t min, max;
    const char *const *names; /* values 0, 1, ... are these words ("fp32"); NULL: numbers */
    bool is_log;              /* drawn on a scale of powers of two */
    bool is_bytes;            /* 4K, 1M */
};

struct experiment_point {
    int64_t x, series; /* values of the two keys; series 0 when there is one curve */
    const struct device *device;
    const struct costs *costs; /* the model's numbers for it */
};

/* A point as a launch. Starts as zeros; grid and block as 1 x 1 x 1. */
struct experiment_launch {
    char kernel[48];     /* the extern "C" name */
    const char *options; /* further options of NVRTC, one a line ("-DTILE=16"); NULL: none. Points
                            with the same text are compiled together */
    struct ptx_dim grid, block;
    int dynamic_bytes;
    int32_t arguments[EXPERIMENT_MAX_ARGUMENTS];
    int argument_count;
    int64_t in_words, out_words; /* `in` is one buffer for all points, as large as the largest */
    bool is_scratch;             /* the kernel writes to `in`: what it finds there is anything */
    int64_t model_blocks;        /* the interpreter runs so many, evenly spread; 0: all */
    enum launch_way way;         /* EVENT: what the card is asked for when it is timed */
    char skipped[96];            /* why there is no such launch; empty: there is */
};

/* What a launch took, measured or modelled. */
struct experiment_time {
    double cycles;    /* CLOCK: between the readings; EVENT: time_us at the clock */
    double time_us;   /* EVENT: of one launch; CLOCK: 0 */
    double clock_mhz; /* of the SM */
    const struct experiment_launch *launch;
    int registers;     /* a thread; 0: unknown */
    int spill_bytes;   /* a thread: of the instructions that store and load spilled registers */
    int blocks_per_sm; /* as the driver or the model says */
};

/* All points, for the conclusion: [series * x_count + x], NaN where there is none. */
struct experiment_data {
    const struct device *device;
    const struct costs *costs;
    const int64_t *xs, *series;
    size_t x_count, series_count;
    const double *value;    /* measured where a card measured, else modelled */
    const double *modelled; /* NaN everywhere when nothing was modelled */
    const double *closed;
    double copy_gbs;  /* experiment.wants_copy: what that reached; 0: not measured */
    bool is_measured; /* what `value` is: the sentence must not call modelled measured */
};

struct experiment {
    const char *name;     /* "policy": files are experiments/policy.cu and .c */
    const char *question; /* one line for the list of %run */
    const char *teaches;  /* one or two sentences for the page of %run NAME? and the docs */
    struct bytes (*source)(void);

    struct experiment_key axis, series;
    enum experiment_basis basis;
    const char *quantity; /* "issue slots used": heading and axis */
    const char *unit;     /* "%", "cycles", "GB/s", "us", "x" */
    double scale_max;     /* 1: the quantity is a fraction shown in percent; 0: a number */
    double goal_percent;  /* largest mean error of the model that is asked for */
    bool is_calibrated; /* some number of the model was set by this experiment: not a prediction */
    const char *left_out;    /* what the model lacks where it is off: "the distance to L2 slices" */
    const char *closed_form; /* as text, "min(1, N I / (I + W))"; NULL: there is none */

    bool wants_copy; /* EVENT: a copy by the driver, read and written, is timed in the same run */

    /* Fills the launch of a point, or `skipped`. */
    void (*plan)(const struct experiment_point *, struct experiment_launch *);

    /* in[k] for the word first + k, k < count; NULL: floats uniform in [0, 1), as lesson_fill. */
    void (*fill)(uint32_t *in, int64_t first, int64_t count, uint64_t seed);

    /* out[0..out_words-1] as the host computes it; tolerance 0: equal to the bit, else floats. */
    void (*reference)(const struct experiment_point *, const struct experiment_launch *,
                      const uint32_t *in, uint32_t *out);
    double tolerance;

    /* The derived quantity; of measured and modelled times alike. */
    double (*value)(const struct experiment_point *, const struct experiment_time *);

    /*
     * Changes the model's time where the launch's own timing lacks what is measured: copies that
     * run beside the warps, spilled registers, a graph. cycles 0: the model has none. NULL: nothing
     * to change.
     */
    void (*model)(const struct experiment_point *, struct experiment_time *);

    /* The same by a formula, from the model's numbers alone; NULL: none. */
    double (*formula)(const struct experiment_point *);

    /* One sentence (no newline) from the data, with its numbers. */
    void (*conclude)(const struct experiment_data *, struct buf *out);
};

/* In the order of the list of %run. One name makes the row's declaration and its place. */
/* clang-format off */
#define EXPERIMENT_NAMES(X)                                                                        \
    X(chase) X(policy) X(ilp) X(units) X(order) X(predication) X(trips) X(nested) X(blocksize)     \
    X(registers) X(shared) X(banks) X(coalesce) X(little) X(barrier) X(waves) X(scaling)           \
    X(atomics) X(pipeline) X(launch) X(spill) X(its)
/* clang-format on */

#define X(name) extern const struct experiment EXPERIMENT_##name;
EXPERIMENT_NAMES(X)
#undef X

extern const struct experiment *const EXPERIMENTS[];
extern const size_t EXPERIMENT_COUNT;
/* experiments/stamp.cu, which stands in front of every kernel file. */
struct bytes experiment_prelude(void);

const struct experiment *experiment_find(const char *name); /* NULL: unknown */

/* The value of a point in the data. NaN: none. */
static inline double experiment_at(const struct experiment_data *d, const double *values,
                                   size_t series, size_t x)
{
    return values[series * d->x_count + x];
}

/* The index of a value of a key, or -1. */
int experiment_index(const int64_t *values, size_t count, int64_t value);

/*
 * How far values are from others, in percent of these: the mean of |a - b| / |b| over the points
 * that both have (mean absolute percentage error); NaN when there is none.
 */
double experiment_error(const double *a, const double *b, size_t n);

/* Puts "8" or the word of a value, "4K" for bytes. */
void experiment_put_value(const struct experiment_key *key, int64_t value, struct buf *out);

/* EXPERIMENT_SOURCE(policy) makes policy_source(), the embedded experiments/policy.cu. */
#define EXPERIMENT_SOURCE(name)                                                                    \
    extern const char _binary_kernels_experiments_##name##_cu_start[];                             \
    extern const char _binary_kernels_experiments_##name##_cu_end[];                               \
    static struct bytes name##_source(void)                                                        \
    {                                                                                              \
        return (struct bytes){ _binary_kernels_experiments_##name##_cu_start,                      \
                               (size_t)(_binary_kernels_experiments_##name##_cu_end -              \
                                        _binary_kernels_experiments_##name##_cu_start) };          \
    }

#endif
