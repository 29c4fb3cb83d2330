/*
 * Devices as rows: what one SM can hold follows from the compute capability
 * alone, how many SMs there are and how fast they run is the product's. So a
 * capability is written once, and a product is its capability and four numbers.
 *
 * Sources, column by column: docs/devices.md.
 */
#include "model/device.h"

#include "model/base/nearest.h"

#include <ctype.h>

enum { KB = 1024 };

/* Shared memory sizes that the L1 cache can be split into, in KB. */
#define SPLIT_NONE   .carveout_count = 0
#define SPLIT_VOLTA  .carveouts_kb = { 0, 8, 16, 32, 64, 96 }, .carveout_count = 6
#define SPLIT_TURING .carveouts_kb = { 32, 64 }, .carveout_count = 2
#define SPLIT_100    .carveouts_kb = { 0, 8, 16, 32, 64, 100 }, .carveout_count = 6
#define SPLIT_164    .carveouts_kb = { 0, 8, 16, 32, 64, 100, 132, 164 }, .carveout_count = 8
#define SPLIT_228                                                                                  \
    .carveouts_kb = { 0, 8, 16, 32, 64, 100, 132, 164, 196, 228 }, .carveout_count = 10

/*
 * One compute capability. optin: most shared KB of a block after opting in; kept: bytes that the
 * system takes of every block; parts: warp schedulers; portable, largest: blocks of a cluster.
 */
#define LIMITS(major, minor, warps, blocks, block_registers, shared, optin, kept, unit, parts,     \
               fp32, portable, largest)                                                            \
    .cc_major = (major), .cc_minor = (minor), .threads_per_sm = (warps)*WARP,                      \
    .warps_per_sm = (warps), .blocks_per_sm = (blocks), .threads_per_block = 1024,                 \
    .registers_per_sm = 65536, .registers_per_block = (block_registers),                           \
    .registers_per_thread = 255, .register_unit = 256, .shared_per_sm = (shared)*KB,               \
    .shared_per_block_optin = (optin)*KB, .shared_per_block = 48 * KB,                             \
    .static_shared_per_block = 48 * KB, .shared_reserved = (kept), .shared_unit = (unit),          \
    .partitions = (parts), .fp32_lanes = (fp32), .cluster_portable = (portable),                   \
    .cluster_max = (largest)

/* clang-format off */
/*                     warps blk regs/blk shared optin kept unit parts fp32 cluster  cache split */
#define CC_5_0  LIMITS( 5, 0, 64, 32, 65536,  64,  48,    0, 256, 4, 128, 0,  0), SPLIT_NONE
#define CC_5_2  LIMITS( 5, 2, 64, 32, 65536,  96,  48,    0, 256, 4, 128, 0,  0), SPLIT_NONE
#define CC_5_3  LIMITS( 5, 3, 64, 32, 32768,  64,  48,    0, 256, 4, 128, 0,  0), SPLIT_NONE
#define CC_6_0  LIMITS( 6, 0, 64, 32, 65536,  64,  48,    0, 256, 2,  64, 0,  0), SPLIT_NONE
#define CC_6_1  LIMITS( 6, 1, 64, 32, 65536,  96,  48,    0, 256, 4, 128, 0,  0), SPLIT_NONE
#define CC_6_2  LIMITS( 6, 2, 64, 32, 32768,  64,  48,    0, 256, 4, 128, 0,  0), SPLIT_NONE
#define CC_7_0  LIMITS( 7, 0, 64, 32, 65536,  96,  96,    0, 256, 4,  64, 0,  0), SPLIT_VOLTA
#define CC_7_2  LIMITS( 7, 2, 64, 32, 65536,  96,  96,    0, 256, 4,  64, 0,  0), SPLIT_VOLTA
#define CC_7_5  LIMITS( 7, 5, 32, 16, 65536,  64,  64,    0, 256, 4,  64, 0,  0), SPLIT_TURING
#define CC_8_0  LIMITS( 8, 0, 64, 32, 65536, 164, 163, 1024, 128, 4,  64, 0,  0), SPLIT_164
#define CC_8_6  LIMITS( 8, 6, 48, 16, 65536, 100,  99, 1024, 128, 4, 128, 0,  0), SPLIT_100
#define CC_8_7  LIMITS( 8, 7, 48, 16, 65536, 164, 163, 1024, 128, 4, 128, 0,  0), SPLIT_164
#define CC_8_8  LIMITS( 8, 8, 48, 16, 65536, 100,  99, 1024, 128, 4, 128, 0,  0), SPLIT_100
#define CC_8_9  LIMITS( 8, 9, 48, 24, 65536, 100,  99, 1024, 128, 4, 128, 0,  0), SPLIT_100
#define CC_9_0  LIMITS( 9, 0, 64, 32, 65536, 228, 227, 1024, 128, 4, 128, 8, 16), SPLIT_228
#define CC_10_0 LIMITS(10, 0, 64, 32, 65536, 228, 227, 1024, 128, 4, 128, 8, 16), SPLIT_228
#define CC_10_1 LIMITS(10, 1, 48, 24, 65536, 228, 227, 1024, 128, 4, 128, 8,  8), SPLIT_228
#define CC_10_3 LIMITS(10, 3, 64, 32, 65536, 228, 227, 1024, 128, 4, 128, 8,  8), SPLIT_228
#define CC_11_0 LIMITS(11, 0, 48, 24, 65536, 228, 227, 1024, 128, 4, 128, 8,  8), SPLIT_228
#define CC_12_0 LIMITS(12, 0, 48, 24, 65536, 100,  99, 1024, 128, 4, 128, 8,  8), SPLIT_100
#define CC_12_1 LIMITS(12, 1, 48, 24, 65536, 100,  99, 1024, 128, 4, 128, 8,  8), SPLIT_100

/* l2 in MB (2^20 bytes). 0: no source states it. */
#define GPU(gpu, also, cc, sm_count, mhz, gbs, l2)                                                 \
    { .name = (gpu), .aliases = (also), cc, .sms = (sm_count), .clock_mhz = (mhz),                 \
      .bandwidth_gbs = (gbs), .l2_bytes = (int64_t)((l2) * KB * KB) }
#define BARE(text, cc) { .name = (text), cc }

const struct device DEVICES[] = {
    /*   name                       also known as                          cc       SMs clock  GB/s    L2 */
    GPU("P100",                     "GP100|P100 SXM2|P100 PCIe",           CC_6_0,   56, 1442,  732,    4),
    GPU("Jetson TX2",               "TX2",                                 CC_6_2,    2, 1300,    0,    0.5),
    GPU("V100",                     "V100 SXM2",                           CC_7_0,   80, 1530,  900,    6),
    GPU("Jetson AGX Xavier",        "Xavier|AGX Xavier",                   CC_7_2,    8, 1377,    0,    0.5),
    GPU("T4",                       NULL,                                  CC_7_5,   40, 1590,  320,    4),
    GPU("RTX 2080 Ti",              "2080 Ti",                             CC_7_5,   68, 1545,  616,    5.5),
    GPU("A100 40 GB",               "A100|A100 SXM|A100 SXM4 40 GB",       CC_8_0,  108, 1410, 1555,   40),
    GPU("A100 80 GB",               "A100 SXM 80 GB|A100 SXM4 80 GB",      CC_8_0,  108, 1410, 2039,   40),
    GPU("A10",                      NULL,                                  CC_8_6,   72, 1695,  600,    6),
    GPU("A40",                      NULL,                                  CC_8_6,   84, 1740,  696,    6),
    GPU("RTX 3090",                 "3090",                                CC_8_6,   82, 1695,  936,    6),
    GPU("RTX A6000",                "A6000",                               CC_8_6,   84, 1800,  768,    6),
    GPU("Jetson AGX Orin",          "Orin|AGX Orin|Jetson AGX Orin 64 GB", CC_8_7,   16, 1300,  204.8,  4),
    GPU("L4",                       NULL,                                  CC_8_9,   58, 2040,  300,   48),
    GPU("L40S",                     NULL,                                  CC_8_9,  142, 2520,  864,   96),
    GPU("RTX 4090",                 "4090",                                CC_8_9,  128, 2520, 1008,   72),
    GPU("H100 SXM",                 "H100|H100 SXM5|H100 80GB HBM3",       CC_9_0,  132, 1980, 3352,   50),
    GPU("H100 PCIe",                NULL,                                  CC_9_0,  114, 1755, 2039,   50),
    GPU("H200",                     "H200 SXM",                            CC_9_0,  132, 1980, 4800,   60),
    GPU("GH200",                    "GH200 96 GB|GH200 480GB",             CC_9_0,  132, 1980, 4022,   60),
    GPU("B100",                     NULL,                                  CC_10_0,   0,    0,    0,    0),
    GPU("B200",                     NULL,                                  CC_10_0, 148, 1965, 8000,  126),
    GPU("GB200",                    NULL,                                  CC_10_0, 152, 2062, 8000,    0),
    GPU("Jetson Thor",              "Thor|Jetson AGX Thor",                CC_11_0,  20, 1049,  273,   32),
    GPU("RTX 5090",                 "5090",                                CC_12_0, 170, 2407, 1792,   96),
    GPU("RTX PRO 6000 Blackwell",   "RTX PRO 6000",                        CC_12_0, 188, 2617, 1792,  128),
    GPU("DGX Spark",                "GB10|Spark",                          CC_12_1,  48, 2418,  273,   24),
    BARE("cc 5.0", CC_5_0),   BARE("cc 5.2", CC_5_2),   BARE("cc 5.3", CC_5_3),
    BARE("cc 6.0", CC_6_0),   BARE("cc 6.1", CC_6_1),   BARE("cc 6.2", CC_6_2),
    BARE("cc 7.0", CC_7_0),   BARE("cc 7.2", CC_7_2),   BARE("cc 7.5", CC_7_5),
    BARE("cc 8.0", CC_8_0),   BARE("cc 8.6", CC_8_6),   BARE("cc 8.7", CC_8_7),
    BARE("cc 8.8", CC_8_8),   BARE("cc 8.9", CC_8_9),   BARE("cc 9.0", CC_9_0),
    BARE("cc 10.0", CC_10_0), BARE("cc 10.1", CC_10_1), BARE("cc 10.3", CC_10_3),
    BARE("cc 11.0", CC_11_0), BARE("cc 12.0", CC_12_0), BARE("cc 12.1", CC_12_1),
};
/* clang-format on */

const size_t DEVICE_COUNT = COUNT(DEVICES);

/* Names are compared in this form: "NVIDIA GeForce RTX 4090" and "rtx_4090" are "rtx4090". */
struct plain {
    char text[64];
    size_t size;
};

static struct plain plain_of(const char *name, size_t n)
{
    static const char *const makers[] = { "nvidia", "geforce", "tesla", "quadro" };
    struct plain p = { 0 };
    size_t length;

    for (size_t i = 0; i < n && p.size + 1 < sizeof(p.text); i++)
        if (!strchr(" \t-_=", name[i]))
            p.text[p.size++] = (char)tolower((unsigned char)name[i]);
    for (size_t i = 0; i < COUNT(makers); i++) {
        length = strlen(makers[i]);
        if (p.size > length && memcmp(p.text, makers[i], length) == 0) {
            memmove(p.text, p.text + length, p.size - length + 1);
            p.size -= length;
        }
    }
    return p;
}

static struct plain plain_text(const char *name)
{
    return plain_of(name, strlen(name));
}

/* Walks through name and aliases: *at starts as NULL; false after the last one. */
static bool next_name(const struct device *dev, const char **at, struct plain *out)
{
    size_t n;

    if (!*at) {
        *out = plain_text(dev->name);
        *at = dev->aliases ? dev->aliases : "";
        return true;
    }
    if (!**at)
        return false;
    n = strcspn(*at, "|");
    *out = plain_of(*at, n);
    *at += n + ((*at)[n] == '|');
    return true;
}

/* "cc8.9", "8.9", "sm89": the capability, whose last digit is the minor number. */
static const struct device *find_capability(const char *text)
{
    static const char *const prefixes[] = { "cc", "sm", "compute" };
    int number = 0, digits = 0;

    for (size_t i = 0; i < COUNT(prefixes); i++)
        if (strncmp(text, prefixes[i], strlen(prefixes[i])) == 0) {
            text += strlen(prefixes[i]);
            break;
        }
    for (; *text && digits < 4; text++) {
        if (*text == '.' && digits && text[1] && !text[2])
            continue; /* before the last digit only */
        if (*text < '0' || *text > '9')
            return NULL;
        number = number * 10 + (*text - '0');
        digits++;
    }
    return *text || digits < 2 ? NULL : device_by_cc(number / 10, number % 10);
}

const struct device *device_by_cc(int major, int minor)
{
    for (size_t i = 0; i < DEVICE_COUNT; i++)
        if (DEVICES[i].cc_major == major && DEVICES[i].cc_minor == minor && !DEVICES[i].sms &&
            strncmp(DEVICES[i].name, "cc ", 3) == 0)
            return &DEVICES[i];
    return NULL;
}

const struct device *device_find(const char *name)
{
    struct plain wanted = plain_text(name), have;

    for (size_t i = 0; i < DEVICE_COUNT; i++)
        for (const char *at = NULL; next_name(&DEVICES[i], &at, &have);)
            if (strcmp(have.text, wanted.text) == 0)
                return &DEVICES[i];
    return find_capability(wanted.text);
}

/* A third of the letters may be wrong, and of a short name not more than half. */
const char *device_nearest(const char *name)
{
    struct plain wanted = plain_text(name), have;
    int best = (int)min_i64(1 + (int64_t)wanted.size / 3, (int64_t)wanted.size / 2);
    const char *nearest = NULL;

    for (size_t i = 0; i < DEVICE_COUNT; i++)
        for (const char *at = NULL; next_name(&DEVICES[i], &at, &have);) {
            int d = nearest_distance(wanted.text, have.text);

            if (d < best || (d == best && !nearest)) {
                best = d;
                nearest = DEVICES[i].name;
            }
        }
    return nearest;
}

/* The limits that a made-up device may have. Above them no part of the model was tried. */
enum {
    MOST_WARPS = 256,
    MOST_BLOCKS = 256,
    MOST_REGISTERS = 1 << 20,
    MOST_SHARED = 1 << 24,
    MOST_SMS = 1024,
    MOST_LATENCY = 100000,
};

#define MOST_L2 ((int64_t)1 << 40)

int device_check(const struct device *dev, struct err *err)
{
    const struct {
        const char *name, *meaning;
        int64_t value, least, most;
    } rows[] = {
        { "threads", "threads of an SM", dev->threads_per_sm, WARP, MOST_WARPS * WARP },
        { "warps", "warps of an SM", dev->warps_per_sm, 1, dev->threads_per_sm / WARP },
        { "blocks", "blocks of an SM", dev->blocks_per_sm, 1, MOST_BLOCKS },
        { "block_threads", "threads of a block", dev->threads_per_block, 1, 1024 },
        { "partitions", "partitions of an SM", dev->partitions, 1, 16 },
        { "registers", "registers of an SM", dev->registers_per_sm, dev->partitions,
          MOST_REGISTERS },
        { "block_registers", "registers of a block", dev->registers_per_block, 1,
          dev->registers_per_sm },
        { "thread_registers", "registers of a thread", dev->registers_per_thread, 1, 255 },
        { "register_unit", "registers handed out at a time", dev->register_unit, 1,
          dev->registers_per_sm },
        { "shared", "shared bytes of an SM", dev->shared_per_sm, 1, MOST_SHARED },
        { "reserved", "bytes that the system keeps of a block", dev->shared_reserved, 0,
          (int64_t)dev->shared_per_sm - 1 },
        { "block_shared", "shared bytes of a block after opting in", dev->shared_per_block_optin, 1,
          (int64_t)dev->shared_per_sm - dev->shared_reserved },
        { "static_shared", "static shared bytes of a block", dev->static_shared_per_block, 1,
          dev->shared_per_block_optin },
        { "default_shared", "shared bytes of a block before opting in", dev->shared_per_block, 1,
          dev->shared_per_block_optin },
        { "shared_unit", "shared bytes handed out at a time", dev->shared_unit, 1,
          dev->shared_per_sm },
        { "fp32", "FP32 lanes of an SM", dev->fp32_lanes, 1, 1024 },
        { "cluster", "blocks of a cluster", dev->cluster_max, 0, 64 },
        { "sms", "SMs", dev->sms, 0, MOST_SMS },
        { "clock", "MHz of the clock", dev->clock_mhz, 0, 100000 },
        { "l2", "bytes of the L2", dev->l2_bytes, 0, MOST_L2 },
        { "bandwidth", "GB/s of the memory", (int64_t)dev->bandwidth_gbs, 0, 1000000 },
        { "fma_latency", "cycles of an FMA", dev->fma_latency, 0, 255 },
        { "shared_latency", "cycles of shared memory", dev->shared_latency, 0, MOST_LATENCY },
        { "l1_latency", "cycles of the L1", dev->l1_latency, 0, MOST_LATENCY },
        { "l2_latency", "cycles of the L2", dev->l2_latency, 0, MOST_LATENCY },
        { "memory_latency", "cycles of the card's memory", dev->memory_latency, 0, MOST_LATENCY },
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        if (rows[i].value < rows[i].least || rows[i].value > rows[i].most)
            return err_set(err, ERR_ValueError, "%s=%lld: %s are %lld to %lld", rows[i].name,
                           (long long)rows[i].value, rows[i].meaning, (long long)rows[i].least,
                           (long long)rows[i].most);
    return 0;
}
