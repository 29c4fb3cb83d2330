/*
 * Little's law and what follows from it: how much must be under way at once to
 * keep a unit busy, and how busy a kernel keeps it. Closed forms; nothing is
 * simulated here and nothing allocates. Only the four operations and square
 * roots are used, so that every machine gives the same bits.
 *
 * Sources. The law: J. D. C. Little, Operations Research 9 (1961). The kernel of one load and
 * alpha dependent operations, and throughput as the least of concurrency / latency and the
 * hardware's limits: V. Volkov, Understanding Latency Hiding on GPUs, thesis, Berkeley 2016.
 */
#ifndef WB_MODEL_LITTLE_H
#define WB_MODEL_LITTLE_H

#include "model/base/base.h"
#include "model/base/err.h"
#include "model/device.h"

/* Things under way at once = cycles that one takes x things finished a cycle. */
struct little_law {
    double concurrency, latency, throughput;
};

enum little_term {
    LITTLE_CONCURRENCY,
    LITTLE_LATENCY,
    LITTLE_THROUGHPUT,
};

/* Fills the term that is not known from the other two, which must be above 0 (ValueError). */
int little_solve(struct little_law *law, enum little_term unknown, struct err *err) MUST_CHECK;

/* One SM: what it finishes a cycle at most, and how long a thing takes that is alone. */
struct little_machine {
    double issue_rate;     /* warp instructions a cycle: one a scheduler */
    double alu_rate;       /* FP32 warp instructions a cycle: lanes / 32 */
    double memory_rate;    /* bytes a cycle: its share of the device's bandwidth; 0: unknown */
    double memory_latency; /* cycles of a load that goes to memory */
    double alu_latency;    /* cycles until a dependent operation may start */
};

/*
 * The machine of a device without its latencies, which the caller knows. bandwidth: bytes a second
 * of the whole device; 0: the device's own, and memory_rate 0 where that is unknown too.
 */
struct little_machine little_machine_of(const struct device *dev, double bandwidth);

/* The same iteration in every warp, over and over: a load, then alpha operations that follow
 * from it, one from the other. */
struct little_kernel {
    double warps;          /* resident on the SM, 1 or more */
    double ilp;            /* iterations of a warp that are under way at once */
    double bytes_per_warp; /* of the load; 0: there is none */
    double alpha;          /* operations an iteration */
    double queue;          /* 0: a load takes the same whatever the load; else see below */
};

/* What keeps a kernel from more: too little under way, or a unit that is full. */
#define LITTLE_BOUNDS(X)                                                                           \
    X(LATENCY, "latency")                                                                          \
    X(MEMORY, "memory")                                                                            \
    X(ARITHMETIC, "arithmetic")                                                                    \
    X(ISSUE, "issue")

enum little_bound {
#define X(id, name) LITTLE_BOUND_##id,
    LITTLE_BOUNDS(X)
#undef X
        LITTLE_BOUND_COUNT
};

/* "latency". Static. */
const char *little_bound_name(enum little_bound bound);

struct little_point {
    double latency;    /* cycles of an iteration at this throughput */
    double throughput; /* iterations a cycle, all warps together */
    double limit;      /* the most that the units allow */
    double fraction;   /* throughput / limit, 0..1 */
    double needed;     /* iterations under way for the limit at the unloaded latency */
    enum little_bound bound;
    enum little_bound unit; /* whose limit is the least */
};

/*
 * How fast a kernel runs on one SM.
 *
 * With queue = 0 an iteration takes memory_latency + alpha x alu_latency, whatever the load:
 * throughput is the least of (warps x ilp) / latency and each unit's limit.
 *
 * With queue = q, memory at the fraction u of its rate takes q x u / (1 - u) cycles longer: the
 * wait of a single server in front of which requests come at random. That latency and the
 * throughput that it allows meet in a quadratic equation, which is solved exactly.
 *
 * ValueError: less than one warp, ilp or operation, or a load on a machine whose rate is unknown.
 */
int little_run(const struct little_machine *machine, const struct little_kernel *kernel,
               struct little_point *out, struct err *err) MUST_CHECK;

/*
 * Loaded latency as it was measured: a streaming read of 8 bytes a thread on a GH200 with more and
 * more threads an SM, at 1,980 MHz.
 *
 * Source: RRZE gpu-benches (https://github.com/RRZE-HPC/gpu-benches), GH200, bandwidth by
 * occupancy. The bytes under way are threads x 8 x 132.
 */
struct little_measured {
    int threads_per_sm;
    double gbs;
};
extern const struct little_measured LITTLE_MEASURED[];
extern const size_t LITTLE_MEASURED_COUNT;

/*
 * The wait in front of memory, in parts of the unloaded latency. With a fifth, 1,085 cycles and the
 * device's nominal 4,022 GB/s little_run meets all eight measurements within 2 %, and foretells
 * those of a triad of 24 bytes a thread on the same machine, which had no part in the fit, within
 * 4 % (test_little.c checks both). 1,085 cycles are more than the 642 to 689 of a pointer chase:
 * each of these threads reads once, so that the start of a block and its index belong to them.
 */
#define LITTLE_QUEUE 0.2

#endif
