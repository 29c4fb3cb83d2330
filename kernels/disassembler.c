/*
 * nvdisasm takes a file by name and writes to its standard output. The file is in
 * memory: the child inherits its descriptor, and /proc/self/fd names it.
 */
#include "kernels/disassembler.h"

#include "kernels/toolkit.h"

#include <errno.h>
#include <limits.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_TEXT = 16 << 20 };

static bool is_program(char *out, const char *folder, size_t n)
{
    int size = snprintf(out, PATH_MAX, "%.*s/nvdisasm", (int)n, folder);

    return n > 0 && size > 0 && size < PATH_MAX && access(out, X_OK) == 0;
}

/* Beside the toolkit's headers (a wheel keeps it in bin too), then on PATH. */
static bool find_program(char *out)
{
    struct toolkit toolkit;
    char bin[TOOLKIT_PATH + 8];

    toolkit_find(&toolkit);
    snprintf(bin, sizeof(bin), "%s/../bin", toolkit.include);
    if (toolkit.include[0] && is_program(out, bin, strlen(bin)))
        return true;
    for (const char *path = getenv("PATH"); path && *path; path += *path == ':') {
        size_t n = strcspn(path, ":");

        if (is_program(out, path, n))
            return true;
        path += n;
    }
    return false;
}

/* Standard output of the program, or -1. */
static int start(const char *program, int file, pid_t *pid, struct err *err)
{
    char name[32];
    char *arguments[] = { (char *)"nvdisasm", (char *)"-c", name, NULL };
    posix_spawn_file_actions_t actions;
    int ends[2], rc;

    snprintf(name, sizeof(name), "/proc/self/fd/%d", file);
    if (pipe2(ends, O_CLOEXEC) < 0)
        return err_set(err, ERR_ResourceError, "no pipe for nvdisasm: too many open files");
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    rc = posix_spawn(pid, program, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (rc == 0)
        return ends[0];
    close(ends[0]);
    return err_set(err, ERR_UnsupportedError, "%.200s cannot be started: %s", program,
                   strerror(rc));
}

static void read_all(int from, struct buf *out)
{
    char piece[4096];
    ssize_t n;

    while (out->size < MAX_TEXT &&
           ((n = read(from, piece, sizeof(piece))) > 0 || (n < 0 && errno == EINTR)))
        if (n > 0)
            buf_put(out, piece, (size_t)n);
}

static int disassemble(const char *program, struct bytes cubin, struct buf *out, struct err *err)
{
    int file = memfd_create("cubin", 0), from = -1, status = 0;
    pid_t pid;
    int rc = -1;

    if (file < 0 || write(file, cubin.data, cubin.size) != (ssize_t)cubin.size) {
        err_set(err, ERR_ResourceError, "no memory file for %zu bytes of machine code", cubin.size);
        goto out;
    }
    from = start(program, file, &pid, err);
    if (from < 0)
        goto out;
    read_all(from, out);
    close(from);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
    rc = status == 0 && out->size > 0
             ? 0
             : err_set(err, ERR_InternalError, "nvdisasm refuses the machine code (status %d)",
                       status);
out:
    if (file >= 0)
        close(file);
    return rc;
}

/* The section `.text.SYMBOL:` of the listing, up to the next section. */
static void put_section(struct bytes text, struct bytes symbol, struct buf *out)
{
    const char *at = text.data, *end = text.data + text.size;
    bool is_inside = false;

    while (at < end) {
        const char *nl = memchr(at, '\n', (size_t)(end - at));
        size_t n = (size_t)((nl ? nl : end) - at);
        const char *section = memmem(at, n, ".section", 8);

        if (section) {
            const char *name = memmem(at, n, ".text.", 6);
            size_t left = name ? (size_t)(at + n - name - 6) : 0;

            is_inside = name && left > symbol.size &&
                        memcmp(name + 6, symbol.data, symbol.size) == 0 &&
                        (name[6 + symbol.size] == ',' || name[6 + symbol.size] == ' ');
        } else if (is_inside && memmem(at, n, "/*", 2)) {
            while (n > 0 && (at[n - 1] == ' ' || at[n - 1] == '\t'))
                n--;
            while (n > 0 && (*at == ' ' || *at == '\t')) {
                at++;
                n--;
            }
            buf_put(out, at, n);
            buf_putc(out, '\n');
        } else if (is_inside && n > 0 && *at == '.' && at[n - 1] == ':') {
            buf_put(out, at, n);
            buf_putc(out, '\n');
        }
        at = nl ? nl + 1 : end;
    }
}

int disassembler_serve(const struct child_message *request, struct child_message *answer,
                       struct err *err)
{
    struct bytes body = child_message_body(request), cubin, symbol = { "", 0 };
    struct buf text = { 0 }, section = { 0 };
    char program[PATH_MAX];
    int rc;

    if (!fields_find(body, TAG_CUBIN, 0, &cubin) || !fields_find(body, TAG_NAME, 0, &symbol))
        return err_set(err, ERR_InternalError, "no machine code to disassemble");
    if (!find_program(program)) {
        err_set(err, ERR_UnsupportedError,
                "machine code needs nvdisasm to be read, and there is none");
        return err_next(err, "it is in the CUDA Toolkit and in the wheel nvidia-cuda-nvdisasm: "
                             "put it on PATH. %%ptx needs nothing");
    }
    rc = disassemble(program, cubin, &text, err);
    if (rc == 0)
        put_section((struct bytes){ buf_text(&text), text.size }, symbol, &section);
    if (rc == 0)
        fields_put_text(&answer->body, TAG_LOG,
                        section.size ? buf_text(&section) : buf_text(&text));
    buf_done(&text);
    buf_done(&section);
    return rc;
}
