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

enum { OUT = 1, ERRORS = 2, MOST_OUTPUT = 1 << 20, MOST_ASSERT = 4096 };

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

void gpu_output_explain(struct err *err)
{
    size_t size;
    char *text;

    fflush(stderr);
    gpu_output_flush();
    text = read_file(ERRORS, MOST_ASSERT, &size);
    if (!text)
        return;
    if (err->name == ERR_AssertFault)
        err_take_detail(err, text);
    else
        free(text);
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
        return err_next(err, "%s",
                        ERRORS_OF_KERNELS[i].next
                            ? ERRORS_OF_KERNELS[i].next
                            : "%launch ... device=model names the thread, the line and why");
    }
    return driver_check(cu, code, kernel, err);
}
