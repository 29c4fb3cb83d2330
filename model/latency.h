/*
 * Latencies and rates as others published them: who measured what on which
 * card. What the model runs on is costs.h; this is what it is held against.
 */
#ifndef WB_MODEL_LATENCY_H
#define WB_MODEL_LATENCY_H

#include "model/device.h"

/* What was measured. Latencies are those of a chain in which each instruction needs the one before.
 */
#define LATENCIES(X)                                                                               \
    X(FMA, "fma", "cycles", "FP32 add, multiply, FMA")                                             \
    X(INTEGER, "integer", "cycles", "32-bit integer add, multiply-add")                            \
    X(INTEGER64, "integer64", "cycles", "64-bit integer add")                                      \
    X(HALF, "half", "cycles", "half2 add, FMA")                                                    \
    X(DOUBLE, "double", "cycles", "FP64 add, FMA")                                                 \
    X(EX2, "ex2", "cycles", "special function 2^x")                                                \
    X(RCP, "rcp", "cycles", "special function 1/x")                                                \
    X(MMA, "mma", "cycles", "mma.sync m16n8k16, FP16")                                             \
    X(WGMMA, "wgmma", "cycles", "wgmma m64n16k16, start to result")                                \
    X(SHARED, "shared", "cycles", "load from shared memory, no conflict")                          \
    X(L1, "l1", "cycles", "load that hits L1")                                                     \
    X(L2, "l2", "cycles", "load that hits L2")                                                     \
    X(L2_FAR, "l2_far", "cycles", "load that hits the far half of L2")                             \
    X(MEMORY, "memory", "cycles", "load from the card's memory")                                   \
    X(CLUSTER, "cluster", "cycles", "load from another SM's shared memory")                        \
    X(BARRIER, "barrier", "cycles", "__syncthreads, 1 to 32 warps")                                \
    X(ARRIVE, "arrive", "cycles", "mbarrier: arrive")                                              \
    X(TRY_WAIT, "try_wait", "cycles", "mbarrier: try_wait that succeeds")                          \
    X(INTEGER_LANES, "integer_lanes", "lanes/SM", "32-bit integer lanes of an SM")                 \
    X(DOUBLE_LANES, "double_lanes", "lanes/SM", "FP64 lanes of an SM")                             \
    X(SPECIAL_LANES, "special_lanes", "lanes/SM", "special function lanes of an SM")               \
    X(TENSOR, "tensor", "FLOP/cycle", "dense FP16 on an SM's tensor cores")                        \
    X(SHARED_BYTES, "shared_bytes", "B/cycle", "shared memory of an SM")                           \
    X(L1_BYTES, "l1_bytes", "B/cycle", "L1 of an SM")                                              \
    X(L2_BYTES, "l2_bytes", "B/cycle", "L2 of the whole device")                                   \
    X(MEMORY_RATE, "memory_rate", "GB/s", "the card's memory, as a kernel reaches it")

enum latency {
#define X(id, name, unit, text) LATENCY_##id,
    LATENCIES(X)
#undef X
        LATENCY_COUNT
};

/* How a quantity is called ("l2"), measured ("cycles") and explained. Static. */
const char *latency_name(enum latency what);
const char *latency_unit(enum latency what);
const char *latency_text(enum latency what);

/* One statement: what a source says of the cards of one compute capability. */
struct latency_row {
    enum latency what;
    int cc_major, cc_minor;
    double least, most;      /* in the unit of what; equal when it gives one number */
    const char *measured_on; /* the card */
    const char *source;      /* document and name, short */
    const char *note;        /* what to know when reading it, or NULL */
};

/* Every statement, by compute capability, then in the order of enum latency. */
extern const struct latency_row LATENCY_ROWS[];
extern const size_t LATENCY_ROW_COUNT;

/* All that is known of one quantity on one compute capability. */
struct latency_range {
    double least, most; /* over all sources */
    size_t sources;     /* 0: nobody says, and least and most are 0 */
};

/* Only statements on this very compute capability count: what is not measured is unknown. */
struct latency_range latency_of(int cc_major, int cc_minor, enum latency what);

/* True when any statement is about this compute capability. */
bool latency_is_known(int cc_major, int cc_minor);

#endif
