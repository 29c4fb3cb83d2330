/*
 * Fuzzer of what crosses between processes and of what the compiler hands back. The first byte
 * chooses the reader: a message on a socket, a launch request, a cubin, a compiler's log, or the
 * CUDA C of a cell.
 */
#include "cells/cuda_source.h"
#include "kernels/child.h"
#include "kernels/compiler.h"
#include "kernels/cubin.h"
#include "kernels/launch.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

enum reader { READ_MESSAGE, READ_LAUNCH, READ_CUBIN, READ_LOG, READ_SOURCE, READERS };

static void read_message(struct bytes input)
{
    struct child_message got;
    struct err err = { 0 };
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return;
    if (send(pair[0], input.data, input.size, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0 || !input.size) {
        close(pair[0]);
        if (child_receive(pair[1], &got, &err) > 0)
            child_message_done(&got);
    } else {
        close(pair[0]);
    }
    close(pair[1]);
    err_done(&err);
}

static void read_launch(struct bytes input)
{
    struct child_message m = { .op = OP_RUN };
    struct launch_request request;
    struct err err = { 0 };
    size_t size;

    m.fds[0] = memfd_create("x", MFD_CLOEXEC);
    if (m.fds[0] < 0)
        return;
    m.fd_count = 1;
    if (ftruncate(m.fds[0], 65536) == 0) {
        buf_put(&m.body, input.data, input.size);
        if (launch_request_read(&m, &request, &err) == 0) {
            for (size_t i = 0; i < request.launch_count; i++)
                launch_parameters(&request, &request.launches[i], NULL, &size, &err);
            launch_request_done(&request);
        }
    }
    child_message_done(&m);
    err_done(&err);
}

static void touch_kernel(void *arg, const struct cubin_kernel *k)
{
    *(size_t *)arg += strlen(k->symbol);
}

static void read_cubin(struct bytes input)
{
    struct err err = { 0 };
    size_t sum = 0;

    if (cubin_each_kernel(input, touch_kernel, &sum, &err) < 0)
        err_done(&err);
    (void)cubin_origin_of(input);
}

static void read_log(struct bytes input)
{
    char *log = strndup(input.data, input.size);
    struct err err = { 0 };
    int stores, loads;

    if (!log)
        return;
    ptxas_spills(log, "k", &stores, &loads);
    compiler_explain(log, &err);
    err_done(&err);
    free(log);
}

static void read_source(struct bytes input)
{
    struct arena *arena = arena_new(0);
    struct cuda_items items = { 0 };
    struct err err = { 0 };
    struct buf out = { 0 };
    bool *roots;

    if (arena && cuda_split(arena, input, 1, 1, &items, &err) == 0) {
        roots = calloc(items.count + 1, sizeof(*roots));
        for (size_t i = 0; roots && i < items.count; i++)
            roots[i] = i % 2 == 0;
        if (roots && cuda_compose(&items, roots, &out, &err) == 0)
            cuda_include_at(&items, (struct bytes){ buf_text(&out), out.size }, 1);
        free(roots);
    }
    buf_done(&out);
    free(items.list);
    arena_free(&arena);
    err_done(&err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const readers[READERS])(struct bytes) = {
        [READ_MESSAGE] = read_message, [READ_LAUNCH] = read_launch, [READ_CUBIN] = read_cubin,
        [READ_LOG] = read_log,         [READ_SOURCE] = read_source,
    };

    if (size > 0)
        readers[data[0] % READERS]((struct bytes){ (const char *)data + 1, size - 1 });
    return 0;
}
