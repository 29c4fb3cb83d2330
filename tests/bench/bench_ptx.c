/*
 * How fast the interpreter is: thread instructions a second on everyday kernels, with the default
 * checks and the AVX2 build of the lane loops beside the best one, no checks, the check for global
 * races, the timing model, and two host threads; then what a launch costs to start, and its memory.
 *
 * One host thread is measured in processor time, two in wall time beside one in wall time; where
 * other work takes the cores, the processor time of both threads, halved, says what two free cores
 * would give (a launch that is run by one thread whatever it is offered is not halved). A figure is
 * the best of several runs, interleaved so that a busy machine is fair to all.
 */
#include "tests/bench/ptx_runs.h"

#include <sys/resource.h>

enum { N = 1 << 20, SIDE = 256, BODIES = 4096, RUNS = 5, STARTS = 200 };

enum mode {
    MODE_AVX2,
    MODE_BEST,
    MODE_OFF,
    MODE_RACES,
    MODE_TIMED,
    MODE_ONE,
    MODE_TWINS,
    MODE_TWO,
    MODE_TWO_CPU,
    MODES
};
static const char *const MODE_NAMES[] = { "AVX2",  "best",    "checks=off", "races=all", "timed",
                                          "1 thr", "2 procs", "2 thr",      "2 thr cpu" };

#define FLOATS  (4 * (size_t)N)
#define SQUARE  (4 * (size_t)SIDE * SIDE)
#define DSQUARE (8 * (size_t)SIDE * SIDE)
/* clang-format off */
static const struct row ROWS[] = {
    /* name, file, kernel, grid, block, bytes, n, limit, is_output_undefined, has_indices */
    { "vectorAdd", "basics.opt", "vector_add", { N / 256, 1, 1 }, { 256, 1, 1 },
      { FLOATS, FLOATS, FLOATS }, N, 0.5, true, false },
    { "matmul naive", "basics.opt", "matmul_naive", { 16, 16, 1 }, { 16, 16, 1 },
      { SQUARE, SQUARE, SQUARE }, SIDE, 1.2, true, false },
    { "n-body", "bench.opt", "nbody", { BODIES / 128, 1, 1 }, { 128, 1, 1 },
      { 16 * BODIES, 16 * BODIES }, BODIES, 1.2, true, false },
    { "matmul tiled", "basics.opt", "matmul_tiled", { 16, 16, 1 }, { 16, 16, 1 },
      { SQUARE, SQUARE, SQUARE }, SIDE, 0.3, true, false },
    { "reduction, shuffles", "bench.opt", "reduce_shuffle", { N / 256, 1, 1 }, { 256, 1, 1 },
      { FLOATS, 4 }, N, 0.3, false, false },
    { "dgemm", "bench.opt", "dgemm", { 16, 16, 1 }, { 16, 16, 1 },
      { DSQUARE, DSQUARE, DSQUARE }, SIDE, 0.3, true, false },
    { "transpose", "basics.opt", "transpose", { 32, 32, 1 }, { 32, 32, 1 },
      { FLOATS, FLOATS }, 1024, 0, true, false },
    { "histogram, atomics", "basics.opt", "histogram", { 256, 1, 1 }, { 256, 1, 1 },
      { N, 1024 }, N, 0, false, false },
    { "divergence", "bench.opt", "divergent", { 256, 1, 1 }, { 256, 1, 1 },
      { 4 * 65536, 4 * 65536 }, 65536, 0, true, false },
    { "gather", "bench.opt", "gather", { 1024, 1, 1 }, { 256, 1, 1 },
      { FLOATS, FLOATS, FLOATS }, 1 << 18, 0, true, true },
    { "vectorAdd -G", "basics.debug", "vector_add", { N / 256, 1, 1 }, { 256, 1, 1 },
      { FLOATS, FLOATS, FLOATS }, N, 0, true, false },
};
/* clang-format on */

/* Seconds of one run; the counted instructions go to *instructions. */
static double run_mode(const struct ptx_module *module, const struct row *row,
                       struct ptx_buffer *buffers, enum mode mode, int64_t *instructions)
{
    clockid_t clock = mode == MODE_TWO_CPU ? CLOCK_PROCESS_CPUTIME_ID
                      : mode >= MODE_ONE   ? CLOCK_MONOTONIC
                                           : CLOCK_THREAD_CPUTIME_ID;
    struct ptx_launch how = {
        .checks = mode == MODE_OFF     ? 0
                  : mode == MODE_RACES ? PTX_CHECK_DEFAULT | PTX_CHECK_GLOBAL_RACES
                                       : PTX_CHECK_DEFAULT,
        .host_threads = mode >= MODE_TWO ? 2 : 1,
        .is_timed = mode == MODE_TIMED,
    };
    struct span span = run_once(module, row, buffers, &how, clock, instructions);

    return span.end - span.start;
}

/* Host threads that run it when it is offered two. */
static int threads_of(const struct ptx_module *module, const struct row *row,
                      struct ptx_buffer *buffers)
{
    uint64_t parameters[MOST_BUFFERS + 1] = { 0 };
    struct ptx_launch l = { .kernel = ptx_kernel_find(module, row->kernel),
                            .grid = row->grid,
                            .block = row->block,
                            .parameters = parameters,
                            .buffers = buffers,
                            .buffer_count = (size_t)buffer_count(row),
                            .device = device_find("H200"),
                            .host_threads = 2 };
    struct arena *arena = arena_new(0);
    struct ptx_cost cost;
    struct err err = { 0 };

    for (int i = 0; i < buffer_count(row); i++)
        parameters[i] = buffers[i].address;
    parameters[buffer_count(row)] = (uint64_t)row->n;
    if (!l.kernel || !arena || ptx_launch_cost(module, &l, 0, arena, &cost, &err) < 0)
        fail(row->name, &err);
    arena_free(&arena);
    return cost.host_threads;
}

/* Speeds in G/s by mode; 0 where this processor has no such build. */
static void measure(const struct row *row, double speed[MODES], double *millions)
{
    bool has_avx2 = ptx_lanes_run(PTX_LANES_AVX2);
    struct ptx_module *best = load(row->file, PTX_LANES_BEST);
    struct ptx_module *avx2 = has_avx2 ? load(row->file, PTX_LANES_AVX2) : NULL;
    struct ptx_buffer buffers[MOST_BUFFERS];
    int64_t instructions = 0;
    struct twins *twins;
    int threads;

    fill(row, buffers);
    threads = threads_of(best, row, buffers);
    twins = twins_new(2, avx2 ? avx2 : best, row, buffers);
    for (int m = 0; m < MODES; m++)
        speed[m] = 0;
    for (int i = 0; i < RUNS; i++)
        for (int m = 0; m < MODES; m++) {
            const struct ptx_module *module = m == MODE_BEST ? best : avx2 ? avx2 : best;
            double s;

            if (m == MODE_AVX2 && !has_avx2)
                continue;
            if (m == MODE_TWINS)
                s = twins_run(twins, module, row, buffers) / 2;
            else
                s = run_mode(module, row, buffers, m, &instructions);
            if (m == MODE_TWO_CPU)
                s /= threads;
            speed[m] = fmax(speed[m], (double)instructions / s / 1e9);
        }
    *millions = (double)instructions / 1e6;
    twins_end(twins, avx2 ? avx2 : best, row, buffers);
    for (int i = 0; i < MOST_BUFFERS; i++)
        end_buffer(&buffers[i]);
    ptx_module_free(&best);
    ptx_module_free(&avx2);
}

/* What the mean of a mode is compared with, and how large the quotient should be; 0: none. */
struct comparison {
    enum mode mode, base;
    const char *what;
    double limit;
};
static const struct comparison COMPARISONS[] = {
    { MODE_OFF, MODE_AVX2, "of AVX2, whose checks are on", 1.5 },
    { MODE_TWINS, MODE_ONE, "of one: what two cores of this machine give", 0 },
    { MODE_TWO, MODE_ONE, "of one", 1.8 },
    { MODE_TWO, MODE_TWINS, "of two processes", 0 },
    { MODE_TWO_CPU, MODE_AVX2, "of AVX2, on two free cores", 1.8 },
};

static double mean_of(double (*speed)[MODES], enum mode mode)
{
    double sum = 0;

    for (size_t i = 0; i < COUNT(ROWS); i++)
        sum += log(speed[i][mode] > 0 ? speed[i][mode] : 1e-9);
    return exp(sum / (double)COUNT(ROWS));
}

static void print_limit(double value, double limit)
{
    if (limit > 0)
        printf("   limit %.2f  %s", limit, value >= limit ? "ok" : "LOW");
    printf("\n");
}

static void print_means(double (*speed)[MODES])
{
    static const double LIMITS[MODES] = {
        [MODE_AVX2] = 0.6, [MODE_RACES] = 0.15, [MODE_TIMED] = 0.05
    };

    printf("\ngeometric mean                   G/s\n");
    for (int m = 0; m < MODES; m++) {
        printf("  %-27s %8.3f", MODE_NAMES[m], mean_of(speed, m));
        print_limit(mean_of(speed, m), LIMITS[m]);
    }
    printf("\nratios of these\n");
    for (size_t i = 0; i < COUNT(COMPARISONS); i++) {
        const struct comparison *c = &COMPARISONS[i];
        double ratio = mean_of(speed, c->mode) / mean_of(speed, c->base);

        printf("  %-27s %7.2fx  %s", MODE_NAMES[c->mode], ratio, c->what);
        print_limit(ratio, c->limit);
    }
}

/* By kernel: without checks, beside the default, and beside 1.5 times what the default should do.
 */
static void print_unchecked(double (*speed)[MODES])
{
    double more = 1;
    int n = 0;

    printf("\nchecks=off                      G/s  of AVX2   1.5 x limit of AVX2\n");
    for (size_t i = 0; i < COUNT(ROWS); i++) {
        double limit = 1.5 * ROWS[i].limit, off = speed[i][MODE_OFF];

        printf("  %-24s %8.3f %7.2fx", ROWS[i].name, off, off / speed[i][MODE_AVX2]);
        if (limit > 0) {
            printf("   %.2f  %s, %.1fx of it", limit, off >= limit ? "ok" : "LOW", off / limit);
            more *= off / limit;
            n++;
        }
        printf("\n");
    }
    printf("  geometric mean of those with a limit: %.1fx of 1.5 x limit\n", pow(more, 1.0 / n));
}

static void print_speeds(void)
{
    static double speed[COUNT(ROWS)][MODES];

    printf("Interpreter: thread instructions a second in G/s, best of %d runs\n", RUNS);
    printf("  %-20s %8s", "kernel", "M instr");
    for (int m = 0; m < MODES; m++)
        printf(" %10s", MODE_NAMES[m]);
    printf("  limit of AVX2\n");
    for (size_t i = 0; i < COUNT(ROWS); i++) {
        double millions;

        measure(&ROWS[i], speed[i], &millions);
        printf("  %-20s %8.1f", ROWS[i].name, millions);
        for (int m = 0; m < MODES; m++)
            printf(" %10.3f", speed[i][m]);
        if (ROWS[i].limit > 0)
            printf("  %.2f %s", ROWS[i].limit, speed[i][MODE_AVX2] >= ROWS[i].limit ? "ok" : "LOW");
        printf("\n");
        fflush(stdout);
    }
    print_means(speed);
    print_unchecked(speed);
}

/* Loading a module, and a launch of one warp of it. */
static void print_start(void)
{
    static const struct row TINY = {
        "start", "basics.opt", "vector_add", { 1, 1, 1 }, { 32, 1, 1 }, { 128, 128, 128 }, 32,
        0,       false,        false
    };
    struct ptx_module *module = load(TINY.file, PTX_LANES_BEST);
    struct ptx_buffer buffers[MOST_BUFFERS];
    double load_s = 1e9, start_s = 1e9;
    int64_t instructions;

    fill(&TINY, buffers);
    for (int i = 0; i < STARTS; i++) {
        double s = clock_s(CLOCK_THREAD_CPUTIME_ID);

        ptx_module_free(&module);
        module = load(TINY.file, PTX_LANES_BEST);
        load_s = fmin(load_s, clock_s(CLOCK_THREAD_CPUTIME_ID) - s);
        start_s = fmin(start_s, run_mode(module, &TINY, buffers, MODE_BEST, &instructions));
    }
    printf("\nlaunch of one warp               %8.3f ms   limit 1.00  %s\n", start_s * 1e3,
           start_s < 1e-3 ? "ok" : "LOW");
    printf("load of a module (basics.opt)    %8.3f ms\n", load_s * 1e3);
    for (int i = 0; i < MOST_BUFFERS; i++)
        end_buffer(&buffers[i]);
    ptx_module_free(&module);
}

/* Most resident bytes of a child that has the buffers, and runs the kernel when asked to. */
static double peak_mb(const struct row *row, bool is_running, enum mode mode)
{
    struct rusage use;
    int status;
    pid_t child;

    fflush(stdout);
    child = fork();
    if (child == 0) {
        struct ptx_module *module = load(row->file, PTX_LANES_BEST);
        struct ptx_buffer buffers[MOST_BUFFERS];
        int64_t instructions;

        fill(row, buffers);
        if (is_running)
            run_mode(module, row, buffers, mode, &instructions);
        _exit(0);
    }
    if (child < 0 || wait4(child, &status, 0, &use) < 0 || status)
        exit(1);
    return (double)use.ru_maxrss / 1024.0;
}

/* vectorAdd writes a third of what it has; scale would write all. */
static void print_memory(void)
{
    static const struct row LARGE = { "memory",      "parallel.opt",
                                      "scale",       { 65536, 1, 1 },
                                      { 256, 1, 1 }, { (size_t)64 << 20 },
                                      1 << 24,       0,
                                      false,         false };
    double buffers = (double)LARGE.bytes[0] / (1 << 20), idle = peak_mb(&LARGE, false, MODE_ONE);
    static const struct {
        enum mode mode;
        double limit;
    } CASES[] = { { MODE_ONE, 2 }, { MODE_TWO, 2 }, { MODE_RACES, 5 } };

    for (size_t i = 0; i < COUNT(CASES); i++) {
        double times = 1 + (peak_mb(&LARGE, true, CASES[i].mode) - idle) / buffers;

        printf("memory, all written, %-10s %8.2f x buffers   limit %.0f  %s\n",
               MODE_NAMES[CASES[i].mode], times, CASES[i].limit,
               times <= CASES[i].limit + 0.3 ? "ok" : "LOW");
    }
}

int main(void)
{
    print_speeds();
    print_start();
    print_memory();
    return 0;
}
