/*
 * How fast the interpreter is, with its default checks, on one host thread: thread instructions a
 * second of processor time on everyday kernels (tests/data/ptx), best of several runs.
 */
#include "model/ptx/ptx.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { N = 1 << 20, SIDE = 256, RUNS = 5 };

struct row {
    const char *name, *file, *kernel;
    struct ptx_dim grid, block;
    int n;
    bool is_timed;
};

static const struct row ROWS[] = {
    { "vectorAdd", "basics.opt", "vector_add", { N / 256, 1, 1 }, { 256, 1, 1 }, N, false },
    { "matmul naive", "basics.opt", "matmul_naive", { 16, 16, 1 }, { 16, 16, 1 }, SIDE, false },
    { "matmul tiled", "basics.opt", "matmul_tiled", { 16, 16, 1 }, { 16, 16, 1 }, SIDE, false },
    { "transpose", "basics.opt", "transpose", { 8, 8, 1 }, { 32, 32, 1 }, SIDE, false },
    { "arithmetic", "divergence.opt", "trips_by_lane", { N / 256, 1, 1 }, { 256, 1, 1 }, N, false },
    { "vectorAdd -G", "basics.debug", "vector_add", { N / 256, 1, 1 }, { 256, 1, 1 }, N, false },
    { "vectorAdd timed", "basics.opt", "vector_add", { N / 256, 1, 1 }, { 256, 1, 1 }, N, true },
};

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static char *read_sample(const char *name, size_t *size)
{
    char path[128];
    char *text = malloc(1 << 20);
    FILE *f;

    snprintf(path, sizeof path, "tests/data/ptx/%s.ptx", name);
    f = fopen(path, "rb");
    if (!f || !text) {
        fprintf(stderr, "%s cannot be read\n", path);
        exit(1);
    }
    *size = fread(text, 1, 1 << 20, f);
    fclose(f);
    return text;
}

/* Seconds of one run; the counted instructions go to *instructions. */
static double run_once(const struct ptx_module *module, const struct row *row,
                       const struct ptx_buffer *buffers, int64_t *instructions)
{
    struct {
        uint64_t a, b, c;
        int n;
    } three = { buffers[0].address, buffers[1].address, buffers[2].address, row->n };
    struct {
        uint64_t a, b;
        int n;
    } two = { buffers[0].address, buffers[2].address, row->n };
    struct ptx_launch l = { .kernel = ptx_kernel_find(module, row->kernel),
                            .grid = row->grid,
                            .block = row->block,
                            .buffers = buffers,
                            .buffer_count = 3,
                            .device = device_find("H200"),
                            .checks = PTX_CHECK_DEFAULT,
                            .is_timed = row->is_timed };
    struct arena *arena = arena_new(0);
    struct ptx_facts facts;
    struct err err = { 0 };
    double start = now_s();

    l.parameters = l.kernel->parameter_count == 4 ? (void *)&three : (void *)&two;
    if (!arena || ptx_run(module, &l, arena, &facts, NULL, &err) < 0) {
        fprintf(stderr, "%s: %s\n", row->name, err.text);
        exit(1);
    }
    *instructions = facts.thread_instructions;
    arena_free(&arena);
    return now_s() - start;
}

static void run_row(const struct row *row, const struct ptx_buffer *buffers)
{
    struct ptx_module *module;
    struct err err = { 0 };
    double best = 1e9, load_s;
    int64_t instructions = 0;
    size_t size;
    char *text = read_sample(row->file, &size);

    load_s = now_s();
    if (ptx_module_load((struct bytes){ text, size }, &module, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    load_s = now_s() - load_s;
    for (int i = 0; i < RUNS; i++) {
        double s = run_once(module, row, buffers, &instructions);

        best = s < best ? s : best;
    }
    printf("  %-18s %8.1f M thread instructions  %8.2f ms  %6.2f G/s   load %.1f ms\n", row->name,
           (double)instructions / 1e6, best * 1e3, (double)instructions / best / 1e9, load_s * 1e3);
    ptx_module_free(&module);
    free(text);
}

int main(void)
{
    struct ptx_buffer buffers[3];

    for (int i = 0; i < 3; i++) {
        float *data = malloc(sizeof(float) * N);

        if (!data)
            return 1;
        for (int k = 0; k < N; k++)
            data[k] = (float)(k % 1000) / 1000.0f;
        buffers[i] = (struct ptx_buffer){ .address = 0x10000000 * (uint64_t)(i + 1),
                                          .data = data,
                                          .size = sizeof(float) * N };
    }
    printf("interpreter, one host thread, default checks (best of %d)\n", RUNS);
    for (size_t i = 0; i < COUNT(ROWS); i++)
        run_row(&ROWS[i], buffers);
    for (int i = 0; i < 3; i++)
        free(buffers[i].data);
    return 0;
}
