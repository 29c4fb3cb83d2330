/*
 * How fast the models are: occupancy against NVIDIA's own header in the same
 * run, a sweep with its figure through the session, blocks on SMs, and the pattern
 * simulation.
 *
 * cuda_occupancy.h is the user's (CUDA_HOME), never the project's: where it is
 * not found its row says so.
 */
#include "cells/session.h"
#include "model/base/philox.h"
#include "model/body.h"
#include "model/occupancy.h"
#include "model/scheduler.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#if defined(__has_include)
#if __has_include(<cuda_occupancy.h>)
#define HAS_HEADER 1
#include <cuda_occupancy.h>
#endif
#endif

enum { SHAPES = 4096, REPEATS = 15 };

/* Processor time: nothing here waits, and other work of the host is not the models'. */
static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The median of REPEATS runs of fn, in seconds. */
static double median_s(void (*fn)(void *), void *context)
{
    double times[REPEATS], start;

    fn(context);
    for (int i = 0; i < REPEATS; i++) {
        start = now_s();
        fn(context);
        times[i] = now_s() - start;
    }
    qsort(times, REPEATS, sizeof(times[0]), by_value);
    return times[REPEATS / 2];
}

static void row(const char *what, double value, const char *unit, const char *limit)
{
    printf("  %-46s %12.4g  %-16s %s\n", what, value, unit, limit);
}

/* ---- occupancy ---- */

static struct launch_shape shapes[SHAPES];
static const struct device *devices[SHAPES];
static int answers[SHAPES], header_answers[SHAPES];

static void make_shapes(void)
{
    static const char *const names[] = { "A100", "L40S", "H200", "T4", "RTX 5090" };

    for (uint64_t i = 0; i < SHAPES; i++) {
        struct philox r = philox_at(1, i, 0), q = philox_at(1, i, 1);

        devices[i] = device_find(names[philox_below(r.word[0], COUNT(names) - 1)]);
        shapes[i] = (struct launch_shape){
            .block = 1 + (int)philox_below(r.word[1], 1023),
            .regs = (int)philox_below(r.word[2], 255),
            .dynamic_bytes = philox_below(r.word[3], 1) * philox_below(q.word[0], 48 * 1024),
            .carveout = OCCUPANCY_DEFAULT_CARVEOUT,
        };
    }
}

static void ours(void *context)
{
    struct occupancy occ;

    (void)context;
    for (int i = 0; i < SHAPES; i++)
        answers[i] = occupancy_of(devices[i], &shapes[i], &occ, NULL) < 0 ? -1 : occ.active_blocks;
}

/* Every block of whole warps with every number of registers. */
static void map(void *context)
{
    struct launch_shape shape = { .carveout = OCCUPANCY_DEFAULT_CARVEOUT };
    struct occupancy occ;
    int64_t *sum = context;

    for (shape.block = WARP; shape.block <= 1024; shape.block += WARP)
        for (shape.regs = 1; shape.regs <= 255; shape.regs++)
            *sum += occupancy_of(devices[0], &shape, &occ, NULL) < 0 ? 0 : occ.active_warps;
}

#ifdef HAS_HEADER
static cudaOccDeviceProp properties[SHAPES];
static cudaOccFuncAttributes attributes[SHAPES];

static void make_header_input(void)
{
    for (int i = 0; i < SHAPES; i++) {
        const struct device *dev = devices[i];

        properties[i] = (cudaOccDeviceProp){
            .computeMajor = dev->cc_major,
            .computeMinor = dev->cc_minor,
            .maxThreadsPerBlock = dev->threads_per_block,
            .maxThreadsPerMultiprocessor = dev->threads_per_sm,
            .regsPerBlock = dev->registers_per_block,
            .regsPerMultiprocessor = dev->registers_per_sm,
            .warpSize = WARP,
            .sharedMemPerBlock = (size_t)dev->shared_per_block,
            .sharedMemPerMultiprocessor = (size_t)dev->shared_per_sm,
            .numSms = dev->sms,
            .sharedMemPerBlockOptin = (size_t)dev->shared_per_block_optin,
            .reservedSharedMemPerBlock = (size_t)dev->shared_reserved,
        };
        attributes[i] = (cudaOccFuncAttributes){
            .maxThreadsPerBlock = INT_MAX,
            .numRegs = shapes[i].regs,
            .sharedSizeBytes = (size_t)shapes[i].static_bytes,
            .shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN,
            .maxDynamicSharedSizeBytes = (size_t)shapes[i].dynamic_bytes,
            .numBlockBarriers = 1,
        };
    }
}

static void theirs(void *context)
{
    cudaOccDeviceState state = { .carveoutConfig = SHAREDMEM_CARVEOUT_DEFAULT };
    cudaOccResult result;

    (void)context;
    for (int i = 0; i < SHAPES; i++)
        header_answers[i] =
            cudaOccMaxActiveBlocksPerMultiprocessor(&result, &properties[i], &attributes[i], &state,
                                                    shapes[i].block,
                                                    (size_t)shapes[i].dynamic_bytes) ==
                    CUDA_OCC_SUCCESS
                ? result.activeBlocksPerMultiprocessor
                : -1;
}
#endif

static int bench_occupancy(void)
{
    double rate, header_rate;
    int64_t warps = 0;
    int different = 0;

    make_shapes();
    rate = SHAPES / median_s(ours, NULL);
    row("occupancy_of", rate * 1e-6, "M evaluations/s", "");
    row("map of 32 x 255 occupancies", median_s(map, &warps) * 1e3, "ms", "under 5");
#ifdef HAS_HEADER
    make_header_input();
    header_rate = SHAPES / median_s(theirs, NULL);
    row("cuda_occupancy.h, the same inputs", header_rate * 1e-6, "M evaluations/s", "");
    row("ratio", rate / header_rate, "x", "at least 1");
    for (int i = 0; i < SHAPES; i++)
        different += answers[i] != header_answers[i];
    row("answers that differ", different, "of 4096", "0");
#else
    (void)header_rate;
    (void)header_answers;
    printf("  cuda_occupancy.h: skipped, not found (CUDA_HOME)\n");
#endif
    return different;
}

/* ---- through the session ---- */

struct cell_run {
    struct session *session;
    const char *code;
    bool is_failed;
};

static void run_cell(void *context)
{
    struct cell_run *cell = context;
    struct cell_options options = { 0 };
    struct sink sink = { 0 };

    cell->is_failed |=
        session_run_cell(cell->session, bytes_of(cell->code), &options, &sink, NULL) < 0;
}

static int bench_cells(void)
{
    static const struct {
        const char *code, *limit;
    } cells[] = {
        { "%occupancy regs=32..255 device=L40S", "under 10" },
        { "%occupancy block=32..1024:32 regs=16..128:8 device=L40S", "" },
        { "%occupancy block=32..1024:32 regs=1..255 device=L40S", "" },
        { "%simulate warps=1..12 policy=[gto,lrr]", "" },
        { "%simulate", "" },
        { "%schedule grid=1320 device=H200 per_sm=1", "under 50" },
        { "%schedule grid=1320 device=H200 per_sm=1 jitter=500", "under 50" },
        { "%schedule grid=1..532 device=H200 per_sm=1", "" },
    };
    struct session_options options = { .device = "L40S" };
    struct session *session;
    struct err err = { 0 };
    int failed = 0;

    if (session_new(&options, &session, &err) < 0) {
        printf("  no session: %s\n", err.text);
        return 1;
    }
    for (size_t i = 0; i < COUNT(cells); i++) {
        struct cell_run cell = { session, cells[i].code, false };

        row(cells[i].code, median_s(run_cell, &cell) * 1e3, "ms with figure", cells[i].limit);
        failed += cell.is_failed;
    }
    session_free(&session);
    return failed;
}

/* ---- the pattern simulation ---- */

/* With jitter nothing recurs, so that a known number of cycles is simulated. */
static void run_pattern(void *context)
{
    struct pattern *pattern = context;
    struct arena *arena = arena_new(0);
    struct steady steady;

    if (!arena || scheduler_steady(pattern, arena, &steady, NULL, NULL) < 0)
        abort();
    arena_free(&arena);
}

static void bench_patterns(void)
{
    static const struct {
        const char *name;
        struct pattern pattern;
    } cases[] = {
        { "12 warps, 2/8, gto",
          { .warps = 12, .issue = 2, .wait = 8, .schedulers = 1, .policy = POLICY_GTO } },
        { "12 warps, 2/8, lrr",
          { .warps = 12, .issue = 2, .wait = 8, .schedulers = 1, .policy = POLICY_LRR } },
        { "12 warps, 2/400, gto (idle time is skipped)",
          { .warps = 12, .issue = 2, .wait = 400, .schedulers = 1, .policy = POLICY_GTO } },
        { "48 warps, 4 schedulers, two-level",
          { .warps = 48, .issue = 4, .wait = 40, .schedulers = 4, .policy = POLICY_TWO_LEVEL } },
        { "64 warps, 2/400, longest-ready",
          { .warps = 64,
            .issue = 2,
            .wait = 400,
            .schedulers = 1,
            .policy = POLICY_LONGEST_READY } },
        { "4096 warps, 2/400, gto",
          { .warps = 4096, .issue = 2, .wait = 400, .schedulers = 1, .policy = POLICY_GTO } },
    };
    enum { CYCLES = 1 << 17 };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct pattern pattern = cases[i].pattern;

        pattern.jitter = 1;
        row(cases[i].name, (double)pattern.warps * CYCLES / median_s(run_pattern, &pattern) * 1e-6,
            "M warp-cycles/s", "over 50");
    }
}

/* ---- the core layer ---- */

struct core_case {
    const char *name, *text;
    int policy;
    int64_t instructions; /* that the last run issued */
};

static const struct core_stream *only_stream(const void *context, int64_t block, int warp)
{
    (void)block;
    (void)warp;
    return context;
}

/* A whole SM of an H200 with 64 warps, for as many events as make a million instructions. */
static void run_core(void *context)
{
    enum { INSTRUCTIONS = 1000000 };
    const struct device *dev = device_find("H200");
    struct core_case *t = context;
    struct arena *arena = arena_new(0);
    struct core_config config = { .costs = costs_of(dev),
                                  .partitions = 4,
                                  .policy = t->policy,
                                  .resident_blocks = 8,
                                  .warps_per_block = 8,
                                  .block_count = 8,
                                  .stream_of = only_stream };
    struct body_place place;
    struct body body;
    struct core *core;

    if (!arena || body_parse(t->text, 1, config.costs, arena, &body, &place, NULL) < 0)
        abort();
    for (int i = 0; i < CORE_PLACE_COUNT; i++)
        config.places[i] = (uint8_t)i;
    config.blocks = body.blocks;
    config.register_count = body.register_count;
    config.context = &body.stream;
    core_set_memory(&config, dev, dev->sms);
    core = core_new(&config, NULL, arena);
    if (!core)
        abort();
    while (core_issued(core) < INSTRUCTIONS && core_step(core))
        ;
    t->instructions = core_issued(core);
    arena_free(&arena);
}

static void bench_core(void)
{
    struct core_case cases[] = {
        { "core: fma chains, 64 warps, gto", "fma dep=1", POLICY_GTO, 0 },
        { "core: 8 fma, a load from L1, its use, gto", "fma*8; ldg hit=l1; use", POLICY_GTO, 0 },
        { "core: the same, who issued longest ago", "fma*8; ldg hit=l1; use", CORE_LEAST_RECENT,
          0 },
        { "core: load from memory, 4 fma, barrier", "ldg; use; fma*4 dep=1; bar", POLICY_LRR, 0 },
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        double seconds = median_s(run_core, &cases[i]);

        row(cases[i].name, (double)cases[i].instructions / seconds * 1e-6, "M warp-instr/s",
            "over 10");
    }
    printf(
        "  (Accel-Sim 0.006 to 0.012, MGPUSim 0.028: they do more work for each, such as fetch,\n"
        "  caches, interconnect and DRAM)\n");
}

int main(void)
{
    int failed;

    printf("Models, one core, processor time, median of %d runs\n", REPEATS);
    printf("  %-46s %12s  %-16s %s\n", "what", "", "unit", "limit");
    failed = bench_occupancy();
    failed += bench_cells();
    bench_patterns();
    bench_core();
    return failed != 0;
}
