/*
 * What instructions and memory cost on an architecture: the numbers that the
 * timing model is calibrated by, and nothing else.
 */
#ifndef WB_MODEL_PTX_COSTS_H
#define WB_MODEL_PTX_COSTS_H

#include "model/device.h"
#include "model/ptx/internal.h"

/* One class of instruction (enum latency_class). */
struct class_cost {
    uint8_t slots;    /* machine instructions that one PTX instruction becomes: issue slots */
    uint8_t interval; /* cycles that a sub-core's unit is taken by each: 32 / its lanes */
    uint8_t latency;  /* cycles until a dependent instruction may issue; memory: see below */
    uint8_t stall;    /* enum ptx_stall of who waits for the result */
};

struct costs {
    int cc_major, cc_minor; /* from this compute capability on */
    struct class_cost classes[LAT_COUNT];

    int shared_latency, l1_latency, l2_latency,
        memory_latency;      /* cycles of a load that hits there */
    int shared_pass_latency; /* cycles for each further pass */
    int sectors_per_cycle;   /* an SM's L1: 128 bytes a cycle */
    int l2_bytes_per_cycle;  /* of the whole device */
    int sm_bytes_per_cycle;  /* most that one SM takes from L2 */
    int memory_percent;      /* of the nominal bandwidth that kernels reach */
    int atomic_latency;      /* cycles of one that returns a value */
    int barrier_base, barrier_per_warp;
    int block_start_cycles;  /* from the end of a block to the first issue of the next */
    int block_start_percent; /* cycles between two starts of blocks anywhere on the device, x 100 */
    int launch_ns;           /* what a launch adds to the time of its blocks */
    int launch_least_ns;     /* an empty launch, back to back */
};

/* The row for a device: that of the newest compute capability that is not above its own. */
const struct costs *costs_of(const struct device *device);

#endif
