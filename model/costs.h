/*
 * What instructions and memory cost on an architecture: the numbers that the
 * timing models are calibrated by, and nothing else.
 */
#ifndef WB_MODEL_COSTS_H
#define WB_MODEL_COSTS_H

#include "model/device.h"

#include <stdbool.h>

/* Units of an SM as the timing models tell them apart. */
enum latency_class {
    LAT_FREE,   /* no machine instruction: a move, a conversion of address space, a parameter */
    LAT_ALU,    /* integer and logic */
    LAT_IMUL,   /* integer multiply-add */
    LAT_FMA,    /* single precision */
    LAT_HALF,   /* half precision */
    LAT_F64,    /* double precision */
    LAT_SFU,    /* special functions, conversions */
    LAT_DIVIDE, /* a division or root: a sequence of some ten instructions */
    LAT_DIVIDE64,
    LAT_DIVIDE_CONSTANT, /* an integer by a constant: a multiplication and shifts */
    LAT_SHFL,
    LAT_SHARED,
    LAT_GLOBAL,
    LAT_ATOM,
    LAT_BARRIER,
    LAT_BRANCH,
    LAT_MMA,       /* a matrix product of a warp, as long as m16n8k16 in half precision */
    LAT_MMA_SHORT, /* half as long, such as m16n8k8 */
    LAT_MMA_F64,   /* m8n8k4 in double precision; interval 0: the device has no unit for it */
    LAT_COUNT
};

/* Where a scheduler's resident warps spend their cycles, in the words of Nsight Compute. */
#define STALLS(X)                                                                                  \
    X(selected, "selected")                                                                        \
    X(not_selected, "not selected")                                                                \
    X(wait, "wait")                                                                                \
    X(long_scoreboard, "long scoreboard")                                                          \
    X(short_scoreboard, "short scoreboard")                                                        \
    X(math_pipe, "math pipe throttle")                                                             \
    X(lg_throttle, "LG throttle")                                                                  \
    X(mio_throttle, "MIO throttle")                                                                \
    X(barrier, "barrier")                                                                          \
    X(branch, "branch resolving")                                                                  \
    X(drain, "drain")

enum stall {
#define X(name, text) STALL_##name,
    STALLS(X)
#undef X
        STALL_COUNT
};

/* "long scoreboard". Static. */
const char *stall_name(enum stall stall);

/* One class of instruction (enum latency_class). */
struct class_cost {
    uint8_t slots;    /* machine instructions that one PTX instruction becomes: issue slots */
    uint8_t interval; /* cycles that a sub-core's unit is taken by each: 32 / its lanes */
    uint8_t latency;  /* cycles until a dependent instruction may issue; memory: see below */
    uint8_t stall;    /* enum stall of who waits for the result */
    uint8_t throttle; /* enum stall of who waits for the unit */
};

struct costs {
    int cc_major, cc_minor; /* from this compute capability on */
    struct class_cost classes[LAT_COUNT];

    int shared_latency, l1_latency, l2_latency,
        memory_latency;      /* cycles of a load that hits there */
    int far_latency;         /* of one that hits in the far half of L2; 0: there is one L2 */
    int shared_pass_latency; /* cycles for each further pass */
    int sectors_per_cycle;   /* an SM's L1: 128 bytes a cycle */
    int l2_bytes_per_cycle;  /* of the whole device */
    int sm_bytes_per_cycle;  /* most that one SM takes from L2 */
    int memory_percent;      /* of the nominal bandwidth that kernels reach */
    int atomic_latency;      /* cycles of one that returns a value */
    int l2_slices;           /* each does one atomic operation in a cycle of */
    int l2_mhz;              /* L2's clock; 0: the SMs' */
    int barrier_base, barrier_per_warp;
    int block_start_cycles;  /* from the end of a block to the first issue of the next */
    int block_start_percent; /* cycles between two starts of blocks anywhere on the device, x 100 */
    int launch_ns;           /* what a launch adds to the time of its blocks */
    int launch_least_ns;     /* an empty launch, back to back */
};

/*
 * What L1 and shared memory of an SM hold together: shared memory takes its part of it. 0: L1 has a
 * room of its own (before 7.0).
 *
 * Source: CUDA C++ Programming Guide, "Compute Capabilities": unified data cache of 128 KB (7.0),
 * 96 (7.5), 192 (8.0), 128 (8.6, 8.9), 256 (9.0): 28 KB, on 7.x 32, more than shared memory may
 * take.
 */
int64_t costs_l1_bytes(const struct device *device);

/* The row for a device: that of the newest compute capability that is not above its own. */
const struct costs *costs_of(const struct device *device);

/* Whether that row is of this compute capability; else it stands in for one nobody measured. */
bool costs_are_own(const struct device *device);

/*
 * Cycles that an FP32 instruction of a warp takes the units of a scheduler: 32 / their lanes,
 * rounded up; 1 to 255.
 */
int costs_fma_interval(const struct device *device);

/*
 * The same row as far as this device differs: its own FP32 lanes, the latencies that a made-up
 * device has invented (device.h), and before 7.0 integers at the rate of FP32 (6.0 too: 64 lanes
 * for both) and no tensor cores (interval 0). Fills room and returns it.
 *
 * Source: CUDA C++ Programming Guide 12, "Throughput of Native Arithmetic Instructions": 32-bit
 * integer additions an SM and cycle are 128 on 5.x, 6.1 and 6.2 and 64 on 6.0.
 */
const struct costs *costs_with(const struct device *device, struct costs *room);

#endif
