/*
 * The cost table. A row is a generation; a column's source is named once above it.
 *
 * Latency and interval by class (cycles, dependent chain; 32 / lanes):
 *   7.0  Jia et al., arXiv 1804.06826; Accel-Sim configuration QV100
 *   7.5  Jia et al., arXiv 1903.07486
 *   8.0  Abdelkhalik et al., arXiv 2208.11174; Accel-Sim configuration A100
 *   8.6, 8.9  Huerta et al., MICRO 2025 (arXiv 2503.20481); Mesa NAK's tables
 *   9.0  Luo et al., arXiv 2402.13499; FlashGPU-Sim configuration SM90_H200; below
 * Memory: pointer chase of RRZE gpu-benches (33 / 280 / 642..689 on GH200, 33 / 206 / 531 on A100,
 *   34 / 274 / 589 on L40, 33 / 250 / 545 on A40, 28 / 212 / 425 on V100). L2 bandwidth:
 *   4,200..4,800 bytes a cycle, H100. Each number with its source: model/latency.c.
 * Far half of L2: 391 on A100, 512 on GH200 (the same chase); no other device has two halves.
 * Matrix products: 2,048 multiplications a warp at the sub-core's rate of the data sheets (128 a
 *   cycle on 7.x, 8.6 and 8.9, 256 on 8.0; 9.0: 512, of which mma.sync reaches 63 %, Luo et al.);
 *   latency: Accel-Sim configuration A100, Mesa NAK's tables, FlashGPU-Sim; 7.x assumed as NAK's.
 *   Of 8, 4 and 1 bits and of tf32 that many more or fewer multiplications take the same time
 *   (data sheets of A100: 312 TFLOP/s in half precision, 156 in tf32, 624 and 1,248 TOP/s of 8 and
 *   4 bits). The latency of short products is unknown: that of long ones is taken.
 *   Double precision: 256 multiplications at 16 a cycle on 8.0 and 32 on 9.0 (data sheets, 19.5
 *   and 67 TFLOP/s), latency NAK's 25 to 26, on 9.0 assumed. Others have no such tensor cores
 *   (interval 0); that the product is eight DFMA a lane there is assumed.
 * Slices of L2: parts of memory partitions in Accel-Sim's configurations (QV100 64, A100 80; RTX
 * 2060 24 at 192 bits, so a T4 32; RTX 3070 32 at 256 bits, so 48 at 384; 8.9 as 8.6), at the clock
 * of the SMs; 9.0: FlashGPU-Sim's of an H100, 80 at 1,700 MHz. Each does one operation a cycle.
 * Share of the memory's bandwidth: 9.0: 3,010 of 3,350 GB/s, H100 (Johnsonms/NVIDIA-Hopper-
 *   Benchmark). Others are assumed a bit lower.
 *
 * Barrier: 22 + 2 W cycles (QuickRunCUDA, B300).
 * 9.0, measured on an H200 (tests/bench/results/h200-*.jsonl, 2026-12-01): half precision 4 and 2
 *   cycles, special functions 17 (experiment units), shared memory 23 and 2 for each further pass
 *   (banks), L1 32, L2 279 (chase), barrier 12 + 2 W from the first arrival (barrier). On other
 *   generations a barrier counts from the first arrival too.
 *
 * Starts of blocks and of launches: measured on an H200 (tests/bench/results/divergence-h200.md,
 *   2026-11-30): 16,384 blocks of a short kernel take 11.7 us and 65,536 take 41.8 us, so 1.21
 * cycles a block; 256 blocks take 3.1 us. Other devices are assumed to do the same.
 *
 * Slots of a class are how many machine instructions ptxas makes of it: a division in single
 * precision is some ten, a 64-bit one a subroutine.
 */
#include "model/costs.h"

#define WAIT  STALL_wait
#define SHORT STALL_short_scoreboard
#define LONG  STALL_long_scoreboard
#define MATH  STALL_math_pipe
#define LG    STALL_lg_throttle
#define MIO   STALL_mio_throttle

/* Classes in the order of enum latency_class: slots, interval, latency, stall, throttle. */
#define CLASSES(int_ii, fma_ii, half, half_ii, f64, f64_ii, sfu, mma, mma_ii, dmma_ii)             \
    {                                                                                              \
        [LAT_FREE] = { 0, 0, 0, WAIT, MATH }, [LAT_ALU] = { 1, int_ii, 4, WAIT, MATH },            \
        [LAT_IMUL] = { 1, int_ii, 4, WAIT, MATH }, [LAT_FMA] = { 1, fma_ii, 4, WAIT, MATH },       \
        [LAT_HALF] = { 1, half_ii, half, WAIT, MATH },                                             \
        [LAT_F64] = { 1, f64_ii, f64, f64_ii > 4 ? SHORT : WAIT, MATH },                           \
        [LAT_SFU] = { 1, 8, sfu, SHORT, MIO }, [LAT_DIVIDE] = { 10, 2, 60, WAIT, MATH },           \
        [LAT_DIVIDE64] = { 40, 2, 200, WAIT, MATH }, [LAT_SHFL] = { 1, 4, 24, SHORT, MIO },        \
        [LAT_DIVIDE_CONSTANT] = { 4, int_ii, 16, WAIT, MATH },                                     \
        [LAT_SHARED] = { 1, 4, 0, SHORT, MIO }, [LAT_GLOBAL] = { 1, 4, 0, LONG, LG },              \
        [LAT_ATOM] = { 1, 4, 0, LONG, LG }, [LAT_BARRIER] = { 1, 1, 0, STALL_barrier, MATH },      \
        [LAT_BRANCH] = { 1, 2, 8, STALL_branch, MATH },                                            \
        [LAT_MMA] = { 1, mma_ii, mma, WAIT, MATH },                                                \
        [LAT_MMA_SHORT] = { 1, mma_ii / 2, mma, WAIT, MATH },                                      \
        [LAT_MMA_F64] = { 1, dmma_ii, 26, WAIT, MATH },                                            \
    }

/* clang-format off */
static const struct costs COSTS[] = {
    /*               int  fma  half half  f64  f64   sfu   mma  mma dmma    latency in
     *   cc           ii   ii   lat   ii  lat   ii   lat   lat   ii   ii    shared   L1    L2 memory   far  pass
     * then sectors a cycle; bytes a cycle of L2 and of an SM; percent of memory's bandwidth;
     * atomics, slices of L2 and their clock; barrier, and for each warp; from block to block, and
     * between two starts x 100; launch, ns */
    { 7, 0, CLASSES( 2,   2,    6,   2,    8,   4,   20,   18,  16,   0),      23,  28,  212,  425,    0,   2,
      4, 2100, 64, 85, 280,  64,    0, 22, 2, 200, 121,  1700, 3100 },
    { 7, 5, CLASSES( 2,   2,    6,   2,   45,  64,   20,   18,  16,   0),      23,  32,  188,  434,    0,   2,
      4, 1200, 64, 85, 260,  32,    0, 22, 2, 200, 121,  1700, 3100 },
    { 8, 0, CLASSES( 2,   2,    5,   2,    6,   4,   23,   12,   8,  16),      23,  33,  206,  531,  391,   2,
      4, 3800, 64, 85, 280,  80,    0, 22, 2, 200, 121,  1700, 3100 },
    { 8, 6, CLASSES( 2,   1,    5,   1,   45,  64,   23,   18,  16,   0),      24,  32,  250,  545,    0,   2,
      4, 2500, 64, 85, 280,  48,    0, 22, 2, 200, 121,  1700, 3100 },
    { 8, 9, CLASSES( 2,   1,    5,   1,   48,  64,   23,   18,  16,   0),      28,  34,  274,  600,    0,   2,
      4, 4500, 64, 85, 300,  48,    0, 22, 2, 200, 121,  1700, 3100 },
    { 9, 0, CLASSES( 2,   1,    4,   2,    8,   2,   17,   29,   6,   8),      23,  32,  279,  650,  512,   2,
      4, 4500, 64, 90, 320,  80, 1700, 12, 2, 200, 121,  1700, 3100 },
};
/* clang-format on */

const struct costs *costs_of(const struct device *device)
{
    size_t best = 0;

    for (size_t i = 0; i < COUNT(COSTS); i++)
        if (COSTS[i].cc_major * 10 + COSTS[i].cc_minor <= device->cc_major * 10 + device->cc_minor)
            best = i;
    return &COSTS[best];
}

int64_t costs_l1_bytes(const struct device *device)
{
    int most = device->carveout_count ? device->carveouts_kb[device->carveout_count - 1] : 0;

    return most ? (most + (device->cc_major == 7 ? 32 : 28)) * (int64_t)1024 : 0;
}

static int invented(int latency, int published)
{
    return latency ? latency : published;
}

int costs_fma_interval(const struct device *device)
{
    int lanes = max_i64(device->fp32_lanes, 1);

    return (int)min_i64(ceil_div((int64_t)WARP * device->partitions, lanes), UINT8_MAX);
}

/* Before 7.0: integers have the FP32 units' rate, and nothing multiplies matrices. */
static void fit_units(const struct device *device, struct costs *room)
{
    uint8_t fma = (uint8_t)costs_fma_interval(device);

    room->classes[LAT_FMA].interval = fma;
    if (device->cc_major >= 7)
        return;
    room->classes[LAT_ALU].interval = room->classes[LAT_IMUL].interval = fma;
    for (int class = LAT_MMA; class <= LAT_MMA_F64; class ++)
        room->classes[class].interval = 0;
}

const struct costs *costs_with(const struct device *device, struct costs *room)
{
    const struct costs *table = costs_of(device);

    *room = *table;
    fit_units(device, room);
    room->classes[LAT_FMA].latency =
        (uint8_t)invented(device->fma_latency, table->classes[LAT_FMA].latency);
    room->shared_latency = invented(device->shared_latency, table->shared_latency);
    room->l1_latency = invented(device->l1_latency, table->l1_latency);
    room->l2_latency = invented(device->l2_latency, table->l2_latency);
    room->memory_latency = invented(device->memory_latency, table->memory_latency);
    if (device->l2_latency)
        room->far_latency = 0; /* one L2, at one distance */
    return room;
}

bool costs_are_own(const struct device *device)
{
    const struct costs *row = costs_of(device);

    return row->cc_major == device->cc_major && row->cc_minor == device->cc_minor;
}

const char *stall_name(enum stall stall)
{
    static const char *const NAMES[] = {
#define X(name, text) text,
        STALLS(X)
#undef X
    };

    return NAMES[stall];
}
