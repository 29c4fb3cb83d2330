/*
 * Fuzzer of the cell language: an input is a cell. It is completed, inspected and judged at
 * several cursors, and run when it needs no child process. The session lives on from input to
 * input, as a kernel's does, and must still compute afterwards.
 */
#include "cells/cell.h"
#include "cells/complete_launch.h"
#include "cells/cuda_host.h"
#include "cells/cuda_macro.h"
#include "cells/cuda_parameters.h"
#include "cells/segment.h"
#include "tests/fuzz/fuzz.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

enum { PATIENCE_MS = 300, CURSORS = 3 };

/* Long waits and loops are interrupted, as a person would. */
static struct session *session;
static atomic_int running_since_ms;

static int now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int)(t.tv_sec * 1000 + t.tv_nsec / 1000000) | 1;
}

static void *interrupt_the_slow(void *unused)
{
    struct timespec pause = { .tv_nsec = 50000000 };

    for (;;) {
        int since = atomic_load(&running_since_ms);

        if (since && now_ms() - since > PATIENCE_MS)
            session_interrupt(session);
        nanosleep(&pause, NULL);
    }
    return unused;
}

static void start(void)
{
    struct session_options options = { .device = "L40S", .self = "/nonexistent" };
    pthread_t thread;

    if (session_new(&options, &session, NULL) < 0 ||
        pthread_create(&thread, NULL, interrupt_the_slow, NULL))
        abort();
}

static void take_stream(struct sink *sink, enum stream_name name, const char *text, size_t n)
{
    (void)sink;
    (void)name;
    (void)text;
    (void)n;
}

static void take_display(struct sink *sink, json_t *data, json_t *metadata, const char *id,
                         bool is_update)
{
    (void)sink;
    (void)metadata;
    (void)id;
    (void)is_update;
    /* What is displayed must be fit for a message: UTF-8 JSON. */
    free(json_dumps(data, 0));
}

/* CUDA C, and the magics that start a child process. */
static bool needs_children(struct bytes code)
{
    static const char *const WORDS[] = { "run", "doctor", "gpu", "source" };
    struct arena *arena = arena_new(CELL_MEMORY_LIMIT);
    struct segmenter s;
    struct segment segment;
    bool found = true, needs = false;

    for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]); i++)
        needs |= code.size && memmem(code.data, code.size, WORDS[i], strlen(WORDS[i]));
    if (!arena || segmenter_init(&s, (struct source){ code, 1, 1 }, arena, NULL) < 0)
        abort();
    while (!needs && found && segmenter_next(&s, &segment, &found, NULL) == 0)
        needs = found && (segment.kind == SEGMENT_CUDA || segment.kind == SEGMENT_CELL_MAGIC);
    arena_free(&arena);
    return needs;
}

/* %%for and %%grade are run when their bodies hold no CUDA C either. */
static bool body_needs_children(struct bytes code)
{
    const char *nl = code.size > 2 && code.data[0] == '%' && code.data[1] == '%'
                         ? memchr(code.data, '\n', code.size)
                         : NULL;

    if (!nl)
        return needs_children(code);
    return needs_children((struct bytes){ nl + 1, code.size - (size_t)(nl + 1 - code.data) });
}

static void ask_around(struct bytes code)
{
    char indent[64];

    session_is_complete(session, code, indent);
    for (size_t i = 0; i < CURSORS; i++) {
        size_t cursor = code.size * i / (CURSORS - 1);
        struct completions found;
        json_t *data = NULL;

        if (session_complete(session, code, cursor, &found, NULL) == 0)
            completions_done(&found);
        if (session_inspect(session, code, cursor, 1, &data, NULL) == 0)
            json_decref(data);
    }
}

/* The same bytes as CUDA C: cut into definitions and put together again. */
static void cut_as_cuda(struct bytes code)
{
    struct arena *arena = arena_new(CELL_MEMORY_LIMIT);
    struct cuda *cuda = cuda_new();
    struct cuda_items items = { 0 };
    struct cuda_parameter *list;
    struct launch_cursor cursor;
    struct buf out = { 0 };
    struct err err = { 0 };
    bool *roots, all_known;
    size_t count;

    if (!arena || !cuda)
        abort();
    if (cuda_split(arena, code, 1, 1, &items, &err) == 0 &&
        cuda_expand_calls(cuda, &items, &err) == 0 && cuda_mark_host(cuda, &items, &err) == 0) {
        roots = arena_array(arena, items.count + 1, sizeof(*roots));
        for (size_t i = 0; i < items.count; i++) {
            roots[i] = true;
            if (items.list[i].head && cuda_read_parameters(arena, items.list[i].head, &list, &count,
                                                           &all_known, NULL) < 0)
                break;
        }
        if (cuda_compose(&items, roots, &out, &err) < 0 && err.name != ERR_ResourceError)
            abort();
    }
    complete_launch_find(code, code.size, arena, &cursor);
    err_done(&err);
    buf_done(&out);
    free(items.list);
    cuda_free(&cuda);
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes code = { (const char *)data, size }, sum = bytes_of("2 + 3");
    struct sink sink = { .stream = take_stream, .display = take_display };
    struct error_report report;
    json_t *value = NULL;

    if (!session)
        start();
    ask_around(code);
    cut_as_cuda(code);
    if (!body_needs_children(code)) {
        atomic_store(&running_since_ms, now_ms());
        if (session_run_cell(session, code, NULL, &sink, &report) < 0 && !report.ename)
            abort();
        atomic_store(&running_since_ms, 0);
        report_done(&report);
    }
    if (session_evaluate(session, sum, &value, NULL) < 0)
        abort();
    json_decref(value);
    return 0;
}
