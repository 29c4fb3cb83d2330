/*
 * Devices: the limits of one SM per compute capability, and well-known GPUs.
 */
#ifndef WB_MODEL_DEVICE_H
#define WB_MODEL_DEVICE_H

#include "model/base/base.h"
#include "model/base/err.h"

enum { DEVICE_MAX_CARVEOUTS = 10 };

/*
 * One GPU. What no source states is 0 (counts, rates) and shown as unknown.
 * Sizes in bytes, KB = 1024 bytes. Sources: docs/devices.md, column by column.
 */
struct device {
    const char *name;    /* "L40S"; "cc 8.9" for a bare compute capability */
    const char *aliases; /* further names, separated by '|'; NULL: none */
    int cc_major, cc_minor;

    /* Limits of one SM or one block, by compute capability. */
    int threads_per_sm, warps_per_sm, blocks_per_sm;
    int threads_per_block;
    int registers_per_sm, registers_per_block, registers_per_thread;
    int register_unit; /* registers handed to a warp at a time: 256 */
    int shared_per_sm, shared_per_block_optin, shared_per_block, static_shared_per_block;
    int shared_reserved, shared_unit;       /* kept by the system per block; allocation unit */
    int partitions;                         /* sub-partitions = warp schedulers of an SM */
    int fp32_lanes;                         /* per SM */
    int carveouts_kb[DEVICE_MAX_CARVEOUTS]; /* what shared memory may take of the cache, rising */
    int carveout_count;                     /* 0: shared memory has a room of its own (5.x, 6.x) */
    int cluster_portable, cluster_max;      /* blocks of a cluster; 0: no clusters */

    /* The product; 0 for a bare compute capability. */
    int sms;
    int clock_mhz;        /* boost, as the driver reports the maximum SM clock */
    double bandwidth_gbs; /* 10^9 bytes a second */
    int64_t l2_bytes;

    /* Cycles that a made-up device has invented; 0: those of its compute capability. */
    int fma_latency, shared_latency, l1_latency, l2_latency, memory_latency;
};

/* The rows, in the order of %devices: products first. */
extern const struct device DEVICES[];
extern const size_t DEVICE_COUNT;

/*
 * Finds a device by name or alias; case, blanks, '-' and '_' do not count ("rtx4090" is
 * "RTX 4090"), nor do the words NVIDIA, GeForce, Tesla and Quadro in front, so that the name that
 * a driver reports is found as well. "cc=8.9", "cc8.9", "8.9", "sm_89" and "compute_89" name a
 * bare compute capability. NULL: unknown.
 */
const struct device *device_find(const char *name);
const struct device *device_by_cc(int major, int minor);

/* The name that a misspelt one was meant to be; NULL: none is near. Static. */
const char *device_nearest(const char *name);

/*
 * Checks a device that somebody made up: every limit positive and in line with the others. Fails
 * with ValueError that names the limit: "warps=0: an SM holds 1 to 256 warps".
 */
int device_check(const struct device *dev, struct err *err) MUST_CHECK;

#endif
