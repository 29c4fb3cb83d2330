/*
 * The limits of a device by the names that users write: the keys of %device and
 * the lines of a device file are this one list.
 */
#ifndef WB_CELLS_DEVICE_KEYS_H
#define WB_CELLS_DEVICE_KEYS_H

#include "model/device.h"

/* How a value is kept and written. */
enum device_kind {
    DEVICE_INT,   /* int: a count, bytes or cycles */
    DEVICE_INT64, /* int64_t: bytes */
    DEVICE_MHZ,   /* int: MHz; 1.98GHz is 1,980 */
    DEVICE_GBS,   /* double: 10^9 bytes a second; 4.8TB/s is 4,800 */
};

/* clang-format off */
#define DEVICE_KEYS(X) \
    /* key, member of struct device, kind, least, most, what it is */ \
    X(threads, threads_per_sm, DEVICE_INT, WARP, 256 * WARP, "threads of an SM, a multiple of 32") \
    X(warps, warps_per_sm, DEVICE_INT, 1, 256, "warps of an SM: threads / 32") \
    X(blocks, blocks_per_sm, DEVICE_INT, 1, 256, "blocks of an SM") \
    X(block_threads, threads_per_block, DEVICE_INT, 1, 1024, "threads of a block") \
    X(registers, registers_per_sm, DEVICE_INT, 16, 1 << 20, "registers of an SM") \
    X(block_registers, registers_per_block, DEVICE_INT, 16, 1 << 20, "registers of a block") \
    X(thread_registers, registers_per_thread, DEVICE_INT, 1, 255, "registers of a thread") \
    X(register_unit, register_unit, DEVICE_INT, 1, 1 << 20, "registers that a warp gets at a time") \
    X(shared, shared_per_sm, DEVICE_INT, 1024, 1 << 24, "shared bytes of an SM") \
    X(block_shared, shared_per_block_optin, DEVICE_INT, 1, 1 << 24, "shared bytes of a block, after opting in") \
    X(default_shared, shared_per_block, DEVICE_INT, 1, 1 << 24, "shared bytes of a block, before opting in") \
    X(static_shared, static_shared_per_block, DEVICE_INT, 1, 1 << 24, "static shared bytes of a block") \
    X(reserved, shared_reserved, DEVICE_INT, 0, 1 << 20, "bytes that the system keeps of each block") \
    X(shared_unit, shared_unit, DEVICE_INT, 1, 1 << 20, "shared bytes that a block gets at a time") \
    X(partitions, partitions, DEVICE_INT, 1, 16, "warp schedulers of an SM") \
    X(fp32, fp32_lanes, DEVICE_INT, 1, 1024, "FP32 lanes of an SM") \
    X(cluster, cluster_max, DEVICE_INT, 0, 64, "blocks of the largest cluster; 0: none") \
    X(sms, sms, DEVICE_INT, 1, 1024, "SMs of the device") \
    X(clock, clock_mhz, DEVICE_MHZ, 1, 100000, "MHz, or with a unit: 1.98GHz") \
    X(bandwidth, bandwidth_gbs, DEVICE_GBS, 1, 1e6, "GB/s of the memory, or with a unit: 4.8TB/s") \
    X(l2, l2_bytes, DEVICE_INT64, 1, 1e12, "bytes of the L2") \
    X(fma_latency, fma_latency, DEVICE_INT, 1, 255, "cycles from an FMA to who needs it") \
    X(shared_latency, shared_latency, DEVICE_INT, 1, 100000, "cycles of a load from shared memory") \
    X(l1_latency, l1_latency, DEVICE_INT, 1, 100000, "cycles of a load that hits L1") \
    X(l2_latency, l2_latency, DEVICE_INT, 1, 100000, "cycles of a load that hits L2") \
    X(memory_latency, memory_latency, DEVICE_INT, 1, 100000, "cycles of a load from memory")
/* clang-format on */

struct device_key {
    const char *name;
    enum device_kind kind;
    size_t offset; /* into struct device */
    double least, most;
    const char *help;
};

enum {
#define X(key, member, kind, least, most, help) DEVICE_KEY_##key,
    DEVICE_KEYS(X)
#undef X
        DEVICE_KEY_COUNT
};

extern const struct device_key DEVICE_KEY_ROWS[DEVICE_KEY_COUNT];

/* The key of a name, or NULL. */
const struct device_key *device_key_find(const char *name);

double device_key_get(const struct device *dev, const struct device_key *key);

/* A limit that somebody wrote; the place is the caller's own. */
struct device_change {
    const struct device_key *key;
    double value;
    int line, column, length;
};

/*
 * Makes a device up: base with the changes, and what follows from them (a block has no more
 * registers than its SM, the cache is split where its shared memory allows). *wrong becomes the
 * change to blame, or NULL. Fails with ValueError that names a limit: "blocks=0: ...".
 *
 * base's strings stay borrowed; out's name is base's until the caller sets it.
 */
int device_make(const struct device *base, const struct device_change *changes, size_t count,
                struct device *out, const struct device_change **wrong, struct err *err) MUST_CHECK;

#endif
