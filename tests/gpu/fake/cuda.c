/*
 * A CUDA driver for tests: libcuda.so.1 of our own on the host's memory, found because
 * LD_LIBRARY_PATH names its folder. With it a machine without a GPU tests how the GPU
 * process lives and dies, and what is said then.
 *
 * It runs no machine code. It reads a cubin's symbols, and a kernel whose name it knows
 * (KERNELS below) does in C what the test's CUDA C of that name would do on a card; all
 * of them have the parameters (int n, int *x). The environment says what card this is:
 *
 *   FAKE_CUDA          no_device, version_mismatch: what cuInit answers
 *   FAKE_CUDA_VERSION  of the driver, 13000 when not given
 *   FAKE_CUDA_CARDS    how many, 1 when not given
 *   FAKE_CUDA_CC       compute capability, 90 when not given
 *   FAKE_CUDA_MEMORY   bytes of a card, 1 GiB when not given
 *   FAKE_CUDA_START    milliseconds that cuInit takes
 *   FAKE_CUDA_LOG      a file that gets a line for each process, context and launch
 */
#include "kernels/driver.h"
#include "kernels/lessons.h"

#include "tests/gpu/fake/image.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    INVALID_DEVICE = 101,
    INVALID_IMAGE = 200,
    NO_BINARY = 209,
    NOT_FOUND = 500,
    ILLEGAL_ADDRESS = 700,
    OUT_OF_RESOURCES = 701,
    ASSERT = 710,
    MISALIGNED = 716,
    LAUNCH_FAILED = 719,
    MISMATCH = 803,
    MOST_CARDS = 8,
    SMS = 4,
    SHARED_BYTES = 233472, /* of an SM */
    LAUNCH_US = 10,        /* on the card's own clock, which runs only while it works */
};

struct cu_context {
    int card;
    bool is_alive;
};

struct cu_event {
    double at_us;
};

static struct cu_context contexts[MOST_CARDS];
static cu_result sticky;    /* an error that stays with the process */
static double card_us;      /* the card's clock */
static double busy_until_s; /* of the host's clock; a kernel runs until then */
static size_t used;         /* bytes */

/* ---- the environment ---- */

static long setting(const char *name, long preset)
{
    const char *text = getenv(name);

    return text ? atol(text) : preset;
}

static void note(const char *what, int number)
{
    const char *path = getenv("FAKE_CUDA_LOG");
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;

    if (fd < 0)
        return;
    dprintf(fd, "%d %s %d\n", (int)getpid(), what, number);
    close(fd);
}

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- the driver and its cards ---- */

cu_result cuInit(unsigned flags)
{
    const char *how = getenv("FAKE_CUDA");

    (void)flags;
    usleep((useconds_t)(1000 * setting("FAKE_CUDA_START", 0)));
    note("init", 0);
    if (how && strcmp(how, "no_device") == 0)
        return CU_NO_DEVICE;
    return how && strcmp(how, "version_mismatch") == 0 ? MISMATCH : CU_OK;
}

cu_result cuDriverGetVersion(int *version)
{
    *version = (int)setting("FAKE_CUDA_VERSION", 13000);
    return CU_OK;
}

/* NVRTC asks it for tables of its own, and does without. */
cu_result cuGetExportTable(const void **table, const void *id)
{
    (void)id;
    *table = NULL;
    return NOT_FOUND;
}

static const struct {
    cu_result code;
    const char *name, *text;
} ERRORS[] = {
    { INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument" },
    { OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory" },
    { CU_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected" },
    { INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal" },
    { NO_BINARY, "CUDA_ERROR_NO_BINARY_FOR_GPU",
      "no kernel image is available for execution on the device" },
    { NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found" },
    { CU_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready" },
    { ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered" },
    { OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
      "too many resources requested for launch" },
    { ASSERT, "CUDA_ERROR_ASSERT", "device-side assert triggered" },
    { MISALIGNED, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address" },
    { LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure" },
    { MISMATCH, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "system has unsupported display driver" },
};

cu_result cuGetErrorName(cu_result code, const char **text)
{
    for (size_t i = 0; i < COUNT(ERRORS); i++)
        if (ERRORS[i].code == code) {
            *text = ERRORS[i].name;
            return CU_OK;
        }
    return INVALID_VALUE;
}

cu_result cuGetErrorString(cu_result code, const char **text)
{
    for (size_t i = 0; i < COUNT(ERRORS); i++)
        if (ERRORS[i].code == code) {
            *text = ERRORS[i].text;
            return CU_OK;
        }
    return INVALID_VALUE;
}

cu_result cuDeviceGetCount(int *count)
{
    *count = (int)setting("FAKE_CUDA_CARDS", 1);
    return CU_OK;
}

cu_result cuDeviceGet(cu_device *device, int index)
{
    int count;

    cuDeviceGetCount(&count);
    if (index < 0 || index >= count || index >= MOST_CARDS)
        return INVALID_DEVICE;
    *device = index;
    return CU_OK;
}

cu_result cuDeviceGetName(char *name, int capacity, cu_device device)
{
    snprintf(name, (size_t)capacity, "Fake %d", device);
    return CU_OK;
}

cu_result cuDeviceGetUuid_v2(unsigned char *uuid, cu_device device)
{
    memset(uuid, device + 1, 16);
    return CU_OK;
}

cu_result cuDeviceTotalMem_v2(size_t *bytes, cu_device device)
{
    (void)device;
    *bytes = (size_t)setting("FAKE_CUDA_MEMORY", 1 << 30);
    return CU_OK;
}

/* Numbers of CUdevice_attribute; what is not here answers 0, as a card without it does. */
cu_result cuDeviceGetAttribute(int *value, int attribute, cu_device device)
{
    int cc = (int)setting("FAKE_CUDA_CC", 90);
    const int known[][2] = {
        { 1, 1024 },     { 2, 1024 },     { 3, 1024 },     { 4, 64 },       { 5, 2147483647 },
        { 6, 65535 },    { 7, 65535 },    { 8, 49152 },    { 9, 65536 },    { 10, 32 },
        { 12, 65536 },   { 13, 1500000 }, { 16, SMS },     { 36, 1000000 }, { 37, 512 },
        { 38, 1 << 20 }, { 39, 2048 },    { 75, cc / 10 }, { 76, cc % 10 }, { 81, SHARED_BYTES },
        { 82, 65536 },   { 97, 232448 },  { 106, 32 },     { 111, 1024 },   { 33, 1 + device },
    };

    *value = 0;
    for (size_t i = 0; i < COUNT(known); i++)
        if (known[i][0] == attribute)
            *value = known[i][1];
    return CU_OK;
}

/* ---- contexts ---- */

cu_result cuDevicePrimaryCtxRetain(cu_context *context, cu_device device)
{
    if (sticky)
        return sticky;
    if (!contexts[device].is_alive)
        note("context", device);
    contexts[device] = (struct cu_context){ device, true };
    *context = &contexts[device];
    return CU_OK;
}

cu_result cuDevicePrimaryCtxRelease_v2(cu_device device)
{
    note("release", device);
    contexts[device].is_alive = false;
    return CU_OK;
}

cu_result cuCtxSetCurrent(cu_context context)
{
    return context && !context->is_alive ? INVALID_VALUE : sticky;
}

/* A call that waits for the card, which may be for ever. */
static cu_result wait_for_card(void)
{
    while (now_s() < busy_until_s)
        usleep(1000);
    return sticky;
}

cu_result cuCtxSynchronize(void)
{
    fflush(stdout);
    return wait_for_card();
}

/* ---- memory: each allocation carries its size in front ---- */

enum { HEAD = 256 };

cu_result cuMemGetInfo_v2(size_t *left, size_t *total)
{
    cuDeviceTotalMem_v2(total, 0);
    *left = *total - used;
    return sticky;
}

cu_result cuMemAlloc_v2(cu_address *address, size_t bytes)
{
    size_t total;
    char *at;

    cuDeviceTotalMem_v2(&total, 0);
    if (sticky || bytes == 0)
        return sticky ? sticky : INVALID_VALUE;
    if (bytes > total - used)
        return OUT_OF_MEMORY;
    at = aligned_alloc(HEAD, (bytes + 2 * HEAD - 1) / HEAD * HEAD);
    if (!at)
        return OUT_OF_MEMORY;
    memcpy(at, &bytes, sizeof(bytes));
    used += bytes;
    *address = (cu_address)(uintptr_t)(at + HEAD);
    return CU_OK;
}

cu_result cuMemFree_v2(cu_address address)
{
    char *at = (char *)(uintptr_t)address - HEAD;
    size_t bytes;

    memcpy(&bytes, at, sizeof(bytes));
    used -= bytes;
    free(at);
    return sticky;
}

cu_result cuMemcpyHtoD_v2(cu_address to, const void *from, size_t n)
{
    if (wait_for_card() == CU_OK)
        memcpy((void *)(uintptr_t)to, from, n);
    return sticky;
}

cu_result cuMemcpyDtoH_v2(void *to, cu_address from, size_t n)
{
    if (wait_for_card() == CU_OK)
        memcpy(to, (const void *)(uintptr_t)from, n);
    return sticky;
}

cu_result cuMemcpyDtoDAsync_v2(cu_address to, cu_address from, size_t n, cu_stream stream)
{
    (void)stream;
    card_us += LAUNCH_US + (double)n / 1e6; /* 1 TB/s, read and written */
    if (!sticky)
        memcpy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, n);
    return sticky;
}

cu_result cuMemsetD8Async(cu_address to, unsigned char byte, size_t n, cu_stream stream)
{
    (void)stream;
    if (!sticky)
        memset((void *)(uintptr_t)to, byte, n);
    return sticky;
}

/* ---- modules ---- */

cu_result cuModuleLoadData(cu_module *module, const void *image)
{
    int version = 0, sm;
    struct image *m;
    bool is_for_me;

    if (sticky)
        return sticky;
    m = image_open(image);
    if (!m)
        return INVALID_IMAGE;
    cuDriverGetVersion(&version);
    sm = image_sm(m);
    is_for_me = sm == setting("FAKE_CUDA_CC", 90) && image_cuda(m) <= version / 1000;
    note("module", sm);
    if (!is_for_me) {
        image_close(m);
        return NO_BINARY;
    }
    *module = (cu_module)m;
    return CU_OK;
}

cu_result cuModuleUnload(cu_module module)
{
    image_close((struct image *)module);
    return sticky;
}

cu_result cuModuleGetGlobal_v2(cu_address *address, size_t *size, cu_module module,
                               const char *name)
{
    void *at = image_variable((struct image *)module, name, size);

    *address = (cu_address)(uintptr_t)at;
    return at ? CU_OK : NOT_FOUND;
}

cu_result cuModuleGetFunction(cu_function *function, cu_module module, const char *name)
{
    *function = (cu_function)image_kernel((struct image *)module, name);
    return *function ? CU_OK : NOT_FOUND;
}

cu_result cuFuncSetAttribute(cu_function function, int attribute, int value)
{
    (void)function, (void)attribute, (void)value;
    return sticky;
}

cu_result cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, cu_function function, int block,
                                                      size_t dynamic)
{
    int by_shared = (int)(SHARED_BYTES / (dynamic + 1024));

    (void)function;
    *blocks = 2048 / block < 32 ? 2048 / block : 32;
    if (by_shared < *blocks)
        *blocks = by_shared;
    return sticky;
}

/* ---- kernels ---- */

struct arguments {
    int n;
    int *x;
};

static cu_result add_one(struct arguments a)
{
    for (int i = 0; i < a.n; i++)
        a.x[i]++;
    return CU_OK;
}

/* As on a card, it has written something by the time that it fails. */
static cu_result fault(struct arguments a, cu_result code)
{
    a.x[0] = -1;
    sticky = code;
    return CU_OK; /* it is said when the card is waited for */
}

static cu_result illegal(struct arguments a)
{
    return fault(a, ILLEGAL_ADDRESS);
}

static cu_result misaligned(struct arguments a)
{
    return fault(a, MISALIGNED);
}

static cu_result trapped(struct arguments a)
{
    return fault(a, LAUNCH_FAILED);
}

static cu_result refuted(struct arguments a)
{
    for (int i = 0; i < a.n; i++)
        fprintf(stderr,
                "In[1]:13: void refuted(int, int *): block: [0,0,0], thread: [%d,0,0] "
                "Assertion `n < 0` failed.\n",
                i);
    return fault(a, ASSERT);
}

static cu_result speak(struct arguments a)
{
    for (int i = 0; i < a.n; i++)
        printf("thread %d says %d\n", i, a.x[i]);
    return CU_OK;
}

static cu_result spin(struct arguments a)
{
    a.x[0] = -1;
    busy_until_s = 1e18;
    return CU_OK;
}

/* Ends by itself within the grace that an interrupted launch has. */
static cu_result brief(struct arguments a)
{
    busy_until_s = now_s() + 0.15;
    return add_one(a);
}

static cu_result crash(struct arguments a)
{
    a.x[0] = -1;
    fflush(stdout);
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
    return CU_OK;
}

/* The heap itself is not played: that it was used is what counts. */
static cu_result hungry(struct arguments a)
{
    return add_one(a);
}

static cu_result greedy(struct arguments a)
{
    (void)a;
    return OUT_OF_RESOURCES;
}

static const struct {
    const char *name;
    cu_result (*run)(struct arguments a);
} KERNELS[] = {
    { "add_one", add_one }, { "illegal", illegal }, { "misaligned", misaligned },
    { "trapped", trapped }, { "refuted", refuted }, { "speak", speak },
    { "spin", spin },       { "brief", brief },     { "crash", crash },
    { "greedy", greedy },   { "hungry", hungry },
};

/* kernels/clock.cu: cycles and nanoseconds, 1.5 GHz. */
static void probe_clock(void **parameters)
{
    unsigned long long **out = parameters[0], *cycles = parameters[1];

    (*out)[0] = *cycles;
    (*out)[1] = *cycles * 2 / 3;
}

/* The parameter block of CU_LAUNCH_PARAM_BUFFER_POINTER: int n, then a pointer at byte 8. */
static struct arguments read_arguments(void **extra)
{
    struct arguments a = { 0, NULL };
    size_t bytes = *(size_t *)extra[3];
    char block[16] = { 0 };

    memcpy(block, extra[1], bytes < sizeof(block) ? bytes : sizeof(block));
    memcpy(&a.n, block, sizeof(a.n));
    memcpy(&a.x, block + 8, sizeof(a.x));
    return a;
}

/*
 * kernels/experiments/barrier.cu: (const int *in, int *out, long long *clocks, int rounds), 16
 * barriers a round. Here one takes 30 cycles and 2 for each warp, and the SMs' clocks differ.
 */
static cu_result run_barrier(unsigned blocks, unsigned threads, void **extra)
{
    struct {
        const int *in;
        int *out;
        long long *clocks;
        int rounds;
    } a;
    unsigned warps = (threads + 31) / 32;

    memcpy(&a, extra[1], sizeof(a));
    for (unsigned b = 0; b < blocks; b++) {
        for (unsigned t = 0; t < threads; t++)
            a.out[b * threads + t] = a.in[t] + 16 * a.rounds;
        for (unsigned w = 0; w < warps; w++) {
            long long *stamp = a.clocks + 3 * (b * warps + w);

            stamp[0] = 1000 * (b % SMS);
            stamp[1] = stamp[0] + 16LL * a.rounds * (30 + 2 * warps);
            stamp[2] = b % SMS;
        }
    }
    card_us += 5;
    return CU_OK;
}

/*
 * kernels/timeline.cu: blocks start in order, each on the SM whose place is free first, and take
 * what they were told and 20 cycles. Each SM has a clock of its own; the timer moves in steps.
 */
static cu_result run_timeline(unsigned blocks, unsigned dynamic, void **extra)
{
    enum { PLACES = SMS * 32, STEP_NS = 32, EPOCH_NS = 1000000007 };
    struct timeline_stay *stays;
    const int64_t *cycles;
    int64_t free_at[PLACES] = { 0 };
    int per_sm;

    memcpy(&stays, extra[1], sizeof(stays));
    memcpy(&cycles, (char *)extra[1] + sizeof(stays), sizeof(cycles));
    per_sm = (int)(SHARED_BYTES / (dynamic + 1024));
    per_sm = per_sm > 32 ? 32 : per_sm;
    for (unsigned b = 0; b < blocks; b++) {
        int place = 0;
        int64_t start, end, zero;

        for (int i = 1; i < SMS * per_sm; i++)
            if (free_at[i] < free_at[place])
                place = i;
        start = free_at[place] + 30;
        end = start + cycles[b] + 20;
        free_at[place] = end;
        zero = 1000000 * (place % SMS + 1);
        stays[b] = (struct timeline_stay){
            .start_ns = EPOCH_NS + (uint64_t)start * 2 / 3 / STEP_NS * STEP_NS,
            .end_ns = EPOCH_NS + (uint64_t)end * 2 / 3 / STEP_NS * STEP_NS,
            .start = zero + start,
            .end = zero + end,
            .sm = (uint32_t)(place % SMS),
        };
    }
    return CU_OK;
}

static cu_result launch(cu_function function, unsigned blocks, unsigned threads, unsigned dynamic,
                        void **parameters, void **extra)
{
    const struct image_kernel *kernel = (const struct image_kernel *)function;

    if (sticky)
        return sticky;
    card_us += LAUNCH_US;
    if (parameters) {
        probe_clock(parameters);
        return CU_OK;
    }
    note("launch", (int)threads);
    if (strcmp(kernel->name, "timeline") == 0)
        return run_timeline(blocks, dynamic, extra);
    if (strcmp(kernel->name, "barrier") == 0)
        return run_barrier(blocks, threads, extra);
    if (strcmp(kernel->name, "trips") == 0)
        return CU_OK; /* and leaves everything as it was, as a broken kernel might */
    for (size_t i = 0; i < COUNT(KERNELS); i++)
        if (strstr(kernel->name, KERNELS[i].name))
            return KERNELS[i].run(read_arguments(extra));
    return INVALID_VALUE;
}

cu_result cuLaunchKernel(cu_function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                         unsigned by, unsigned bz, unsigned dynamic, cu_stream stream,
                         void **parameters, void **extra)
{
    (void)stream;
    return launch(function, gx * gy * gz, bx * by * bz, dynamic, parameters, extra);
}

/* ---- events ---- */

cu_result cuEventCreate(cu_event *event, unsigned flags)
{
    (void)flags;
    *event = calloc(1, sizeof(**event));
    return *event ? sticky : OUT_OF_MEMORY;
}

cu_result cuEventDestroy_v2(cu_event event)
{
    free(event);
    return sticky;
}

cu_result cuEventRecord(cu_event event, cu_stream stream)
{
    (void)stream;
    event->at_us = card_us;
    return sticky;
}

cu_result cuEventQuery(cu_event event)
{
    (void)event;
    return now_s() < busy_until_s ? CU_NOT_READY : sticky;
}

cu_result cuEventSynchronize(cu_event event)
{
    (void)event;
    return wait_for_card();
}

cu_result cuEventElapsedTime(float *ms, cu_event start, cu_event stop)
{
    *ms = (float)((stop->at_us - start->at_us) / 1000);
    return sticky;
}
