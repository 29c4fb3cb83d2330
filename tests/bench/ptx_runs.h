/*
 * What the benchmarks of the interpreter share: kernels of tests/data/ptx with their launches, and
 * several processes that run the same launch at once. Those show what a machine gives to so many
 * host threads that have nothing to do with each other: the ceiling for threads of one launch.
 */
#ifndef WB_TESTS_BENCH_PTX_RUNS_H
#define WB_TESTS_BENCH_PTX_RUNS_H

#include "model/ptx/ptx.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_BUFFERS = 3, MOST_TWINS = 16 };

struct row {
    const char *name, *file, *kernel;
    struct ptx_dim grid, block;
    size_t bytes[MOST_BUFFERS]; /* of the buffers it takes, in order */
    int n;
    double limit; /* G/s that the AVX2 build with default checks should reach; 0: none */
    bool is_output_undefined; /* the last buffer is only written */
    bool has_indices;         /* the first buffer holds indices */
};

#define FLOATS  (4 * (size_t)N)
#define SQUARE  (4 * (size_t)SIDE * SIDE)
#define DSQUARE (8 * (size_t)SIDE * SIDE)

static double clock_s(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void fail(const char *what, const struct err *err)
{
    fprintf(stderr, "%s: %s\n%s\n", what, err->text, err->detail ? err->detail : "");
    exit(1);
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

static struct ptx_module *load(const char *file, enum ptx_lanes lanes)
{
    struct ptx_module *module;
    struct err err = { 0 };
    size_t size;
    char *text = read_sample(file, &size);

    if (ptx_module_load_for((struct bytes){ text, size }, lanes, &module, &err) < 0)
        fail(file, &err);
    free(text);
    return module;
}

static void fill(const struct row *row, struct ptx_buffer *buffers)
{
    for (int i = 0; i < MOST_BUFFERS; i++) {
        float *data = calloc(1, row->bytes[i] + 64);

        if (!data)
            exit(1);
        for (size_t k = 0; k < row->bytes[i] / 4; k++)
            data[k] = (float)(k % 1000) / 1000.0f;
        for (size_t k = 0; i == 0 && row->has_indices && k < row->bytes[i] / 4; k++)
            memcpy(&data[k], &(uint32_t){ (uint32_t)(k * 40503U) }, 4);
        buffers[i] = (struct ptx_buffer){ .address = 0x10000000 * (uint64_t)(i + 1),
                                          .data = data,
                                          .size = row->bytes[i] };
    }
}

static void end_buffer(struct ptx_buffer *buffer)
{
    free(buffer->data);
    free(buffer->defined);
}

static int buffer_count(const struct row *row)
{
    int n = 0;

    while (n < MOST_BUFFERS && row->bytes[n])
        n++;
    return n;
}

/* As after `%buffer c = float[n]`: what the kernel only writes has no values before. */
static void undefine(const struct row *row, struct ptx_buffer *buffers)
{
    int last = buffer_count(row) - 1;
    size_t size = row->bytes[last] / 8 + 8;

    if (!row->is_output_undefined)
        return;
    if (!buffers[last].defined)
        buffers[last].defined = malloc(size);
    if (!buffers[last].defined)
        exit(1);
    memset(buffers[last].defined, 0, size);
}

/* The kernels here are fit to run side by side; nothing of theirs is ever undone. */
static void restore(void *context, size_t i, size_t at, size_t size)
{
    fprintf(stderr, "blocks met in buffer %zu of %s at %zu, %zu bytes\n", i,
            ((const struct row *)context)->name, at, size);
    exit(1);
}

/* When a run began and ended, on the clock that was asked for. */
struct span {
    double start, end;
};

/* One launch; the counted instructions go to *instructions. */
static struct span run_once(const struct ptx_module *module, const struct row *row,
                            struct ptx_buffer *buffers, const struct ptx_launch *how,
                            clockid_t clock, int64_t *instructions)
{
    uint64_t parameters[MOST_BUFFERS + 1] = { 0 };
    struct ptx_launch l = *how;
    struct arena *arena = arena_new(0);
    struct ptx_facts facts;
    struct err err = { 0 };
    struct span span;

    undefine(row, buffers);
    l.kernel = ptx_kernel_find(module, row->kernel);
    l.grid = row->grid;
    l.block = row->block;
    l.parameters = parameters;
    l.buffers = buffers;
    l.restore = restore;
    l.restore_context = (void *)(uintptr_t)row;
    l.buffer_count = (size_t)buffer_count(row);
    l.device = device_find("H200");
    for (int i = 0; i < buffer_count(row); i++)
        parameters[i] = buffers[i].address;
    parameters[buffer_count(row)] = (uint64_t)row->n;
    span.start = clock_s(clock);
    if (!l.kernel || !arena || ptx_run(module, &l, arena, &facts, NULL, &err) < 0)
        fail(row->name, &err);
    span.end = clock_s(clock);
    *instructions = facts.thread_instructions;
    arena_free(&arena);
    return span;
}

/* ---- Processes that run a launch on one thread each, all at once ---------------------------- */

/* What they share: a page. */
struct twins {
    pthread_barrier_t barrier;
    int count; /* this process included */
    bool is_over;
    struct span spans[MOST_TWINS];
};

static const struct ptx_launch ONE_THREAD = { .host_threads = 1, .checks = PTX_CHECK_DEFAULT };

/* False: there is no more to run. */
static bool run_twin(struct twins *t, int index, const struct ptx_module *module,
                     const struct row *row, struct ptx_buffer *buffers)
{
    int64_t instructions;

    pthread_barrier_wait(&t->barrier);
    if (t->is_over)
        return false;
    t->spans[index] = run_once(module, row, buffers, &ONE_THREAD, CLOCK_MONOTONIC, &instructions);
    pthread_barrier_wait(&t->barrier);
    return true;
}

/* Processes with this one's modules and buffers; each has run once, in pages of its own. */
static struct twins *twins_new(int count, const struct ptx_module *module, const struct row *row,
                               struct ptx_buffer *buffers)
{
    struct twins *t =
        mmap(NULL, sizeof *t, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_barrierattr_t shared;

    if (t == MAP_FAILED || count > MOST_TWINS)
        exit(1);
    pthread_barrierattr_init(&shared);
    pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&t->barrier, &shared, (unsigned)count);
    t->count = count;
    fflush(stdout);
    for (int i = 1; i < count; i++) {
        pid_t child = fork();

        if (child < 0)
            exit(1);
        while (child == 0)
            if (!run_twin(t, i, module, row, buffers))
                _exit(0);
    }
    run_twin(t, 0, module, row, buffers);
    return t;
}

/* Seconds from the first start to the last end of a run by each. */
static double twins_run(struct twins *t, const struct ptx_module *module, const struct row *row,
                        struct ptx_buffer *buffers)
{
    double first, last;

    run_twin(t, 0, module, row, buffers);
    first = t->spans[0].start;
    last = t->spans[0].end;
    for (int i = 1; i < t->count; i++) {
        first = fmin(first, t->spans[i].start);
        last = fmax(last, t->spans[i].end);
    }
    return last - first;
}

static void twins_end(struct twins *t, const struct ptx_module *module, const struct row *row,
                      struct ptx_buffer *buffers)
{
    t->is_over = true;
    run_twin(t, 0, module, row, buffers);
    while (wait(NULL) > 0)
        ;
    pthread_barrier_destroy(&t->barrier);
    munmap(t, sizeof *t);
}

#endif
