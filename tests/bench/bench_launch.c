/*
 * What a launch costs beside its kernel: a plain kernel from its text to its result, the
 * same launch again, and launches beside large buffers that they do not touch; then the memory of
 * the process that runs it.
 *
 * Wall time is what a user waits; other work takes some of it. Processor time, of this process and
 * its children together, is what the cells cost (in ticks of 10 ms, so of all of them, divided).
 */
#include "cells/session.h"
#include "kernels/child.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { KERNELS = 11, REPEATS = 101 };

static double now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* Of one process, and of those that it waited for; 0: it is gone. */
static double process_ms(long pid)
{
    char path[64], text[1024], *at;
    unsigned long user = 0, system = 0, waited[2] = { 0 };
    FILE *f;
    size_t n;

    snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
    f = fopen(path, "r");
    if (!f)
        return 0;
    n = fread(text, 1, sizeof(text) - 1, f);
    fclose(f);
    text[n] = '\0';
    at = strrchr(text, ')'); /* proc(5): the name may hold anything; fields 14 to 17 */
    if (at)
        sscanf(at, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %lu %lu", &user, &system,
               &waited[0], &waited[1]);
    return 1e3 * (double)(user + system + waited[0] + waited[1]) / (double)sysconf(_SC_CLK_TCK);
}

static double processor_ms(void)
{
    double sum = process_ms(getpid());
    char path[64];
    long pid;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
    f = fopen(path, "r");
    while (f && fscanf(f, "%ld", &pid) == 1)
        sum += process_ms(pid);
    if (f)
        fclose(f);
    return sum;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static bool run(struct session *session, const char *code)
{
    struct sink sink = { 0 };
    struct error_report report = { 0 };
    struct cell_options options = { 0 };
    int rc = session_run_cell(session, bytes_of(code), &options, &sink, &report);

    if (rc < 0)
        printf("  %s: %s\n", report.ename, report.evalue);
    report_done(&report);
    return rc == 0;
}

/* processor: of all of them */
static void row(const char *what, double *times, size_t n, double processor, const char *limit)
{
    qsort(times, n, sizeof(*times), by_value);
    printf("  %-44s %9.3f %9.3f %9.3f   %s\n", what, times[n / 2], times[0], processor / (double)n,
           limit);
}

/* Definition and launch in one cell, each time a kernel that nobody compiled before. */
static bool first_launches(struct session *session)
{
    double times[KERNELS], processor = processor_ms();

    for (int i = 0; i < KERNELS; i++) {
        char code[400];
        double began = now_ms();

        snprintf(code, sizeof(code),
                 "__global__ void k%d(int n, float *x) {\n"
                 "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                 "    if (i < n) x[i] = x[i] * %d.5f;\n}\n"
                 "k%d<<<4, 256>>>(1000, x)",
                 i, i, i);
        if (!run(session, code))
            return false;
        times[i] = now_ms() - began;
    }
    row("a new kernel, compiled and launched", times, KERNELS, processor_ms() - processor,
        "under 100");
    return true;
}

/* The first cell with them makes the precompiled headers and is not counted. */
static bool cooperative_launches(struct session *session)
{
    double times[KERNELS], processor = 0;

    for (int i = -1; i < KERNELS; i++) {
        char code[500];
        double began = now_ms();

        snprintf(code, sizeof(code),
                 "#include <cooperative_groups.h>\n"
                 "__global__ void g%d(float *x) {\n"
                 "    auto tile = cooperative_groups::tiled_partition<32>(\n"
                 "        cooperative_groups::this_thread_block());\n"
                 "    x[threadIdx.x] = tile.shfl_down(x[threadIdx.x], 1) * %d.5f;\n}\n"
                 "g%d<<<1, 256>>>(x)",
                 i + 1, i + 1, i + 1);
        if (!run(session, code))
            return false;
        if (i >= 0)
            times[i] = now_ms() - began;
        else
            processor = processor_ms();
    }
    row("the same with cooperative groups", times, KERNELS, processor_ms() - processor,
        "under 400");
    return true;
}

static bool again(struct session *session, const char *what, const char *code, const char *limit)
{
    double times[REPEATS], processor;

    if (!run(session, code))
        return false;
    processor = processor_ms();
    for (int i = 0; i < REPEATS; i++) {
        double began = now_ms();

        if (!run(session, code))
            return false;
        times[i] = now_ms() - began;
    }
    row(what, times, REPEATS, processor_ms() - processor, limit);
    return true;
}

/* The process that runs launches: a child whose command line ends in "model"; 0: there is none. */
static long worker_pid(void)
{
    char path[64], line[4096];
    long pid, found = 0;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
    f = fopen(path, "r");
    while (f && fscanf(f, "%ld", &pid) == 1) {
        FILE *c;
        size_t n = 0;

        snprintf(path, sizeof(path), "/proc/%ld/cmdline", pid);
        c = fopen(path, "r");
        if (c) {
            n = fread(line, 1, sizeof(line) - 1, c);
            fclose(c);
        }
        if (n > 6 && memcmp(line + n - 6, "model", 6) == 0)
            found = pid;
    }
    if (f)
        fclose(f);
    return found;
}

/* Most resident bytes since they were forgotten, in MiB (proc(5): VmHWM, clear_refs); 0: unknown.
 */
static double peak_mib(long pid)
{
    char path[64], line[256];
    double kib = 0;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%ld/status", pid);
    f = fopen(path, "r");
    while (f && fgets(line, sizeof(line), f))
        if (strncmp(line, "VmHWM:", 6) == 0)
            kib = strtod(line + 6, NULL);
    if (f)
        fclose(f);
    return kib / 1024;
}

static void forget_peak(long pid)
{
    char path[64];
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%ld/clear_refs", pid);
    f = fopen(path, "w");
    if (!f)
        return;
    fputs("5", f);
    fclose(f);
}

/* Three buffers of 88 MiB, one of them written: what the worker holds beside those that it maps. */
static bool memory(struct session *session)
{
    static const struct {
        const char *what, *code;
        double limit;
    } CASES[] = {
        { "vectorAdd", "add<<<90112, 256>>>(22M, a, b, c)", 2 },
        { "vectorAdd, races=all", "%launch add grid=90112 block=256 args=(22M, a, b, c) races=all",
          5 },
    };
    double buffers = 3 * 88;

    if (!run(session, "%buffer a float[22M] = ones\n%buffer b float[22M] = ones\n"
                      "%buffer c float[22M]\n"
                      "__global__ void add(int n, const float *a, const float *b, float *c) {\n"
                      "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                      "    if (i < n) c[i] = a[i] + b[i];\n}\n"
                      "add<<<1, 32>>>(32, a, b, c)"))
        return false;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        double peak;

        forget_peak(worker_pid());
        if (!run(session, CASES[i].code))
            return false;
        peak = peak_mib(worker_pid());
        printf(
            "  memory of the worker, %-22s %9.0f MiB  %.2f x buffers of %.0f MiB   limit %.0f  %s\n",
            CASES[i].what, peak, peak / buffers, buffers, CASES[i].limit,
            peak / buffers <= CASES[i].limit ? "ok" : "LOW");
    }
    return true;
}

int main(int argc, char **argv)
{
    struct session_options options = { .device = "L40S" };
    struct session *session;
    struct err err = { 0 };

    /* Children are this program again. */
    if (argc > 1 && strcmp(argv[1], "child") == 0)
        return child_main(argc - 1, argv + 1);
    if (session_new(&options, &session, &err) < 0) {
        printf("launches: %s\n", err.text);
        return 1;
    }
    printf("Launches on the interpreter, ms a cell           median      best processor\n");
    if (!run(session,
             "%buffer x float[1000] = ones\n__global__ void warm() {}\nwarm<<<1, 1>>>()")) {
        printf("  no compiler here: nothing is measured\n");
        session_free(&session);
        return 0;
    }
    if (first_launches(session) && cooperative_launches(session) &&
        again(session, "the same launch again", "k0<<<4, 256>>>(1000, x)",
              "under 1 beyond its work") &&
        run(session, "%buffer big float[64M] = zeros") &&
        again(session, "beside a buffer of 256 MiB", "k0<<<4, 256>>>(1000, x)", "under 1") &&
        again(session, "over one page of it", "k0<<<4, 256>>>(1000, big)", "under 1") &&
        run(session, "%buffer part float[64M]\n"
                     "__global__ void fill(float *x) {\n"
                     "    x[blockIdx.x * blockDim.x + threadIdx.x] = 1.0f;\n}\n"
                     "fill<<<131072, 256>>>(part)") &&
        again(session, "beside one of which half has no values", "k0<<<4, 256>>>(1000, x)",
              "under 1") &&
        again(session, "over one page of that", "k0<<<4, 256>>>(1000, part)", "under 1") &&
        again(session, "a fault", "%%grade points=1\nk0<<<8, 256>>>(2000, x)\n%check 1 == 1", ""))
        memory(session);
    session_free(&session);
    return 0;
}
