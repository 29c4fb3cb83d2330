/*
 * Loads PTX and runs a kernel over a few buffers: what the interpreter's tests share.
 */
#ifndef WB_TESTS_UNIT_PTX_RIG_H
#define WB_TESTS_UNIT_PTX_RIG_H

#include "model/base/buf.h"
#include "model/ptx/ptx.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* The build of the lane loops that rig_load takes. */
static enum ptx_lanes rig_lanes = PTX_LANES_BEST;

enum { RIG_BUFFERS = 6 };

struct rig {
    struct ptx_module *module;
    struct ptx_launch launch;
    struct ptx_buffer buffers[RIG_BUFFERS];
    struct arena *arena;
    struct ptx_facts facts;
    struct ptx_fault fault;
    struct err err;
};

static inline char *rig_read(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    char *data = NULL;
    long n;

    if (!f)
        fail_msg("%s is missing", path);
    fseek(f, 0, SEEK_END);
    n = ftell(f);
    rewind(f);
    data = malloc((size_t)n + 1);
    assert_non_null(data);
    *size = fread(data, 1, (size_t)n, f);
    data[*size] = '\0';
    fclose(f);
    return data;
}

static inline void rig_load(struct rig *rig, struct bytes text)
{
    memset(rig, 0, sizeof *rig);
    if (ptx_module_load_for(text, rig_lanes, &rig->module, &rig->err) < 0)
        fail_msg("%s", rig->err.text);
    rig->arena = arena_new(0);
    assert_non_null(rig->arena);
    rig->launch.device = device_find("H200");
    rig->launch.grid = rig->launch.block = (struct ptx_dim){ 1, 1, 1 };
    rig->launch.checks = PTX_CHECK_DEFAULT;
    rig->launch.buffers = rig->buffers;
}

/* "divergence.opt": a file of tests/data/ptx. */
static inline void rig_load_sample(struct rig *rig, const char *name)
{
    char path[128];
    size_t size;
    char *text;

    snprintf(path, sizeof path, "tests/data/ptx/%s.ptx", name);
    text = rig_read(path, &size);
    rig_load(rig, (struct bytes){ text, size });
    free(text);
}

/* The next buffer, of zeros; its address is what a kernel gets. */
static inline void *rig_buffer(struct rig *rig, size_t size, uint64_t *address)
{
    struct ptx_buffer *b = &rig->buffers[rig->launch.buffer_count];

    b->address = 0x10000000ULL * ++rig->launch.buffer_count;
    b->size = size;
    b->data = arena_alloc(rig->arena, size);
    assert_non_null(b->data);
    *address = b->address;
    return b->data;
}

/* What ptx_run returns; the error is in rig->err. */
static inline int rig_try(struct rig *rig, const char *kernel, unsigned grid, unsigned block,
                          const void *parameters)
{
    rig->launch.kernel = ptx_kernel_find(rig->module, kernel);
    assert_non_null(rig->launch.kernel);
    rig->launch.grid.x = grid;
    rig->launch.block.x = block;
    rig->launch.parameters = parameters;
    return ptx_run(rig->module, &rig->launch, rig->arena, &rig->facts, &rig->fault, &rig->err);
}

static inline void rig_run(struct rig *rig, const char *kernel, unsigned grid, unsigned block,
                           const void *parameters)
{
    if (rig_try(rig, kernel, grid, block, parameters) < 0)
        fail_msg("%s: %s %s\n%s", kernel, err_spelling(rig->err.name), rig->err.text,
                 rig->err.detail ? rig->err.detail : "");
}

/* The counts of a line, all zeros when it has none. */
static inline struct ptx_line_facts rig_line(const struct rig *rig, int line)
{
    for (size_t i = 0; i < rig->facts.line_count; i++)
        if (rig->facts.lines[i].line == line)
            return rig->facts.lines[i];
    return (struct ptx_line_facts){ 0 };
}

static inline void rig_done(struct rig *rig)
{
    err_done(&rig->err);
    arena_free(&rig->arena);
    ptx_module_free(&rig->module);
}

/*
 * Runs the tests with each build of the lane loops, so that all give the same bits; one that the
 * processor cannot run is skipped by name.
 */
static inline int rig_run_builds(const struct CMUnitTest *tests, size_t count)
{
    static const struct {
        enum ptx_lanes lanes;
        const char *name;
    } BUILDS[] = { { PTX_LANES_BASELINE, "baseline" },
                   { PTX_LANES_AVX2, "AVX2" },
                   { PTX_LANES_AVX512, "AVX-512" } };
    int failed = 0;

    for (size_t i = 0; i < COUNT(BUILDS); i++) {
        char name[96];

        snprintf(name, sizeof name, "lane loops for %s", BUILDS[i].name);
        if (!ptx_lanes_run(BUILDS[i].lanes)) {
            printf("ok 0 - %s # SKIP this processor has none\n", name);
            continue;
        }
        rig_lanes = BUILDS[i].lanes;
        failed += _cmocka_run_group_tests(name, tests, count, NULL, NULL);
    }
    return failed;
}

#endif
