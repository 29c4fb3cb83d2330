/*
 * What more host threads give: launches on 1, 2, 4, 8 and 16 of them, beside as many processes that
 * run the whole launch on one thread each. Those share nothing but the machine (its memory, caches,
 * power and clock), so what they reach is the ceiling; what threads lack to it is lost by us.
 *
 * Wall time: other work on the machine counts against both.
 */
#include "tests/bench/ptx_runs.h"

enum { N = 1 << 23, SIDE = 384, BODIES = 6144, RUNS = 2 };

#define FLOATS (4 * (size_t)N)
#define SQUARE (4 * (size_t)SIDE * SIDE)
/* clang-format off */
static const struct row ROWS[] = {
    /* name, file, kernel, grid, block, bytes, n, limit, is_output_undefined, has_indices */
    { "vectorAdd", "basics.opt", "vector_add", { N / 256, 1, 1 }, { 256, 1, 1 },
      { FLOATS, FLOATS, FLOATS }, N, 0, true, false },
    { "matmul naive", "basics.opt", "matmul_naive", { SIDE / 16, SIDE / 16, 1 }, { 16, 16, 1 },
      { SQUARE, SQUARE, SQUARE }, SIDE, 0, true, false },
    { "n-body", "bench.opt", "nbody", { BODIES / 128, 1, 1 }, { 128, 1, 1 },
      { 16 * BODIES, 16 * BODIES }, BODIES, 0, true, false },
    { "matmul tiled", "basics.opt", "matmul_tiled", { SIDE / 16, SIDE / 16, 1 }, { 16, 16, 1 },
      { SQUARE, SQUARE, SQUARE }, SIDE, 0, true, false },
    { "reduction, shuffles", "bench.opt", "reduce_shuffle", { N / 256, 1, 1 }, { 256, 1, 1 },
      { FLOATS, 4 }, N, 0, false, false },
    { "transpose", "basics.opt", "transpose", { 64, 64, 1 }, { 32, 32, 1 },
      { 4 << 22, 4 << 22 }, 2048, 0, true, false },
    { "histogram, atomics", "basics.opt", "histogram", { 1024, 1, 1 }, { 256, 1, 1 },
      { N, 1024 }, N, 0, false, false },
};
/* clang-format on */
static const int COUNTS[] = { 1, 2, 4, 8, 16 };

/* Times of one thread alone: by threads of one launch, and by processes. */
struct gain {
    double threads[COUNT(COUNTS)], processes[COUNT(COUNTS)];
};

static double by_threads(const struct ptx_module *module, const struct row *row,
                         struct ptx_buffer *buffers, int threads)
{
    struct ptx_launch how = { .host_threads = threads, .checks = PTX_CHECK_DEFAULT };
    double best = INFINITY;
    int64_t instructions;

    for (int i = 0; i < RUNS; i++) {
        struct span s = run_once(module, row, buffers, &how, CLOCK_MONOTONIC, &instructions);

        best = fmin(best, s.end - s.start);
    }
    return best;
}

static double by_processes(const struct ptx_module *module, const struct row *row,
                           struct ptx_buffer *buffers, int processes)
{
    struct twins *twins = twins_new(processes, module, row, buffers);
    double best = INFINITY;

    for (int i = 0; i < RUNS; i++)
        best = fmin(best, twins_run(twins, module, row, buffers));
    twins_end(twins, module, row, buffers);
    return best;
}

static void measure(const struct row *row, int counts, struct gain *gain)
{
    struct ptx_module *module = load(row->file, PTX_LANES_BEST);
    struct ptx_buffer buffers[MOST_BUFFERS];
    double alone;

    fill(row, buffers);
    alone = by_threads(module, row, buffers, 1);
    printf("  %-20s %8.1f", row->name, 1e3 * alone);
    for (int i = 0; i < counts; i++) {
        gain->threads[i] = alone / by_threads(module, row, buffers, COUNTS[i]);
        gain->processes[i] = COUNTS[i] * alone / by_processes(module, row, buffers, COUNTS[i]);
        printf("   %5.2f of %5.2f", gain->threads[i], gain->processes[i]);
        fflush(stdout);
    }
    printf("\n");
    for (int i = 0; i < MOST_BUFFERS; i++)
        end_buffer(&buffers[i]);
    ptx_module_free(&module);
}

/* Counts that the machine has processors for, and 2 at the least. */
static int count_counts(void)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    int n = 2;

    while (n < (int)COUNT(COUNTS) && COUNTS[n] <= processors)
        n++;
    return n;
}

int main(void)
{
    static struct gain gains[COUNT(ROWS)];
    int counts = count_counts();

    printf("Interpreter: host threads of one launch, and processes with one each\n"
           "  times the speed of one thread, best of %d runs: threads of processes\n"
           "  %-20s %8s",
           RUNS, "kernel", "ms");
    for (int i = 0; i < counts; i++)
        printf("   %8d      ", COUNTS[i]);
    printf("\n");
    for (size_t i = 0; i < COUNT(ROWS); i++)
        measure(&ROWS[i], counts, &gains[i]);
    printf("  %-20s %8s", "geometric mean", "");
    for (int k = 0; k < counts; k++) {
        double threads = 0, processes = 0;

        for (size_t i = 0; i < COUNT(ROWS); i++) {
            threads += log(gains[i].threads[k]) / (double)COUNT(ROWS);
            processes += log(gains[i].processes[k]) / (double)COUNT(ROWS);
        }
        printf("   %5.2f of %5.2f", exp(threads), exp(processes));
    }
    printf("\n");
    return 0;
}
