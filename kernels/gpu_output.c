/*
 * The files are memfds in the place of descriptors 1 and 2, so that no pipe can fill
 * up while the driver writes and nobody reads. A card says which error a kernel made
 * and not where: the interpreter knows, and each error says how to ask it.
 */
#include "kernels/gpu_output.h"

#include "kernels/launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { OUT = 1, ERRORS = 2, MOST_OUTPUT = 1 << 20, MOST_ASSERT = 1 << 20 };

static const char RERUN[] =
    "the same launch with device=model: the interpreter names the thread, the line and why";

static bool is_kept;

static bool replace(int fd)
{
    int file = memfd_create("output", MFD_CLOEXEC);
    bool is_done = file >= 0 && dup2(file, fd) == fd;

    if (file >= 0)
        close(file);
    return is_done;
}

static void empty(int fd)
{
    if (ftruncate(fd, 0) == 0)
        lseek(fd, 0, SEEK_SET);
}

void gpu_output_begin(void)
{
    fflush(stdout);
    if (!is_kept)
        is_kept = replace(OUT) && replace(ERRORS);
    if (!is_kept)
        return;
    empty(OUT);
    empty(ERRORS);
}

/* A malloc'ed copy of what a file holds, at most so much of it. NULL: nothing. */
static char *read_file(int fd, size_t most, size_t *size)
{
    off_t end = lseek(fd, 0, SEEK_END);
    char *text;
    ssize_t n;

    *size = 0;
    if (!is_kept || end <= 0)
        return NULL;
    text = malloc((size_t)min_i64(end, (int64_t)most) + 1);
    n = text ? pread(fd, text, (size_t)min_i64(end, (int64_t)most), 0) : -1;
    if (n <= 0) {
        free(text);
        return NULL;
    }
    text[n] = '\0';
    *size = (size_t)n;
    return text;
}

void gpu_output_flush(void)
{
    struct buf body = { 0 };
    size_t size;
    char *text;

    fflush(stdout);
    text = read_file(OUT, MOST_OUTPUT, &size);
    if (!text)
        return;
    fields_put(&body, TAG_PRINT, (struct bytes){ text, size });
    if (!body.is_failed)
        child_say(&body);
    buf_done(&body);
    free(text);
    empty(OUT);
}

/* What the driver writes for each thread that fails an assert. */
struct assertion {
    char file[64], text[200];
    int line;
    unsigned block[3], thread[3];
};

/* "In[1]:13: void k(int): block: [0,0,0], thread: [3,0,0] Assertion `n < 0` failed." */
static bool read_assertion(const char *line, struct assertion *a)
{
    const char *where = strstr(line, ": block: ["), *text = strstr(line, " Assertion `"), *end;

    if (!where || !text || sscanf(line, "%63[^:]:%d:", a->file, &a->line) != 2 ||
        sscanf(where, ": block: [%u,%u,%u], thread: [%u,%u,%u]", &a->block[0], &a->block[1],
               &a->block[2], &a->thread[0], &a->thread[1], &a->thread[2]) != 6)
        return false;
    text += strlen(" Assertion `");
    end = strstr(text, "` failed");
    if (!end)
        return false;
    snprintf(a->text, sizeof(a->text), "%.*s", (int)(end - text), text);
    return true;
}

static int count_lines(const char *text)
{
    int n = 0;

    for (const char *at = strstr(text, "` failed"); at; at = strstr(at + 1, "` failed"))
        n++;
    return n;
}

/* The error as the interpreter would say it, from the text of the first thread. */
static void explain_assertion(const char *kernel, const char *report, struct err *err)
{
    struct assertion a;
    int threads = count_lines(report);
    char *who = NULL;

    if (!read_assertion(report, &a))
        return;
    err_done(err);
    err_set(err, ERR_AssertFault, "%s: assertion `%s` failed (%s line %d, %d thread%s)", kernel,
            a.text, a.file, a.line, threads, threads == 1 ? "" : "s");
    err_next(err, "%s", RERUN);
    snprintf(err->place, sizeof(err->place), "%s", a.file);
    err->line = a.line;
    if (asprintf(&who, "  who     thread (%u,%u,%u) of block (%u,%u,%u)%s\n", a.thread[0],
                 a.thread[1], a.thread[2], a.block[0], a.block[1], a.block[2],
                 threads == 1 ? "" : ", the first that was heard of") >= 0)
        err_take_detail(err, who);
}

void gpu_output_explain(const char *kernel, struct err *err)
{
    size_t size;
    char *text;

    fflush(stderr);
    gpu_output_flush();
    text = read_file(ERRORS, MOST_ASSERT, &size);
    if (text && err->name == ERR_AssertFault)
        explain_assertion(kernel, text, err);
    free(text);
    if (is_kept)
        empty(ERRORS);
}

/* Numbers of CUresult in cuda.h, which stay. */
static const struct {
    cu_result code;
    enum err_name name;
    const char *text, *next;
} ERRORS_OF_KERNELS[] = {
    { 700, ERR_MemoryFault, "read or wrote outside its memory (CUDA_ERROR_ILLEGAL_ADDRESS)", NULL },
    { 716, ERR_MemoryFault,
      "used an address that is no multiple of its size "
      "(CUDA_ERROR_MISALIGNED_ADDRESS)",
      NULL },
    { 717, ERR_MemoryFault,
      "used an address of another memory space "
      "(CUDA_ERROR_INVALID_ADDRESS_SPACE)",
      NULL },
    { 718, ERR_MemoryFault, "jumped to where no code is (CUDA_ERROR_INVALID_PC)", NULL },
    { 714, ERR_MemoryFault, "overflowed its stack (CUDA_ERROR_HARDWARE_STACK_ERROR)", NULL },
    { 715, ERR_AssertFault, "ran an illegal instruction (CUDA_ERROR_ILLEGAL_INSTRUCTION)", NULL },
    { 710, ERR_AssertFault, "failed an assert (CUDA_ERROR_ASSERT)", NULL },
    { 719, ERR_AssertFault, "was ended: a trap, or a fault of memory (CUDA_ERROR_LAUNCH_FAILED)",
      NULL },
    { 702, ERR_Timeout, "ran longer than the display's driver allows (CUDA_ERROR_LAUNCH_TIMEOUT)",
      "use a card without a display, or less work a launch" },
    { 701, ERR_LaunchError,
      "asks for more registers or shared memory than a block can have "
      "(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES)",
      "take fewer threads a block" },
    { 720, ERR_LaunchError,
      "has more blocks than are resident at once, and is cooperative "
      "(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE)",
      "take fewer blocks" },
    { 1, ERR_LaunchError, "was refused by the driver (CUDA_ERROR_INVALID_VALUE)",
      "look at grid, block and shared bytes" },
};

int gpu_error(const struct driver *cu, cu_result code, const char *kernel, struct err *err)
{
    if (code == CU_OK)
        return 0;
    for (size_t i = 0; i < COUNT(ERRORS_OF_KERNELS); i++) {
        if (ERRORS_OF_KERNELS[i].code != code)
            continue;
        err_set(err, ERRORS_OF_KERNELS[i].name, "%s %s", kernel, ERRORS_OF_KERNELS[i].text);
        return err_next(err, "%s", ERRORS_OF_KERNELS[i].next ? ERRORS_OF_KERNELS[i].next : RERUN);
    }
    return driver_check(cu, code, kernel, err);
}
