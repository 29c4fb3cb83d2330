/*
 * The classic kernels on the interpreter: a .cu file of tests/classics in both builds, run with one
 * and with two host threads, over sizes that fit and sizes that do not, against a reference in C.
 */
#ifndef WB_TESTS_CLASSICS_CLASSICS_H
#define WB_TESTS_CLASSICS_CLASSICS_H

#include "kernels/compiler.h"
#include "tests/unit/ptx_rig.h"

#include <math.h>

enum { CLASSIC_PARAMETERS = 128 };

/* A kernel's arguments in order, each at its own alignment. */
struct arguments {
    uint8_t bytes[CLASSIC_PARAMETERS];
    size_t size;
};

static inline void give(struct arguments *a, const void *value, size_t size)
{
    a->size = (a->size + size - 1) / size * size;
    memcpy(a->bytes + a->size, value, size);
    a->size += size;
}

static inline void give_int(struct arguments *a, int value)
{
    give(a, &value, sizeof value);
}

static inline void give_pointer(struct arguments *a, uint64_t address)
{
    give(a, &address, sizeof address);
}

/* The PTX of a file of tests/classics, kept for the next call; the test skips without NVRTC. */
static inline struct bytes classic_ptx(const char *file, bool is_debug)
{
    static struct kept {
        char file[40];
        bool is_debug;
        struct child_message answer;
    } kept[16];
    struct child_message request = { .op = OP_COMPILE };
    struct err err = { 0 };
    struct bytes ptx;
    struct kept *k = kept;
    char path[80], *source;
    size_t size;

    while (k->file[0] && (strcmp(k->file, file) || k->is_debug != is_debug))
        k++;
    assert_true(k < kept + COUNT(kept));
    if (!k->file[0]) {
        snprintf(path, sizeof path, "tests/classics/%s", file);
        source = rig_read(path, &size);
        fields_put_text(&request.body, TAG_SOURCE, source);
        fields_put_text(&request.body, TAG_ARCH, "compute_80");
        fields_put_int(&request.body, TAG_IS_DEBUG, is_debug);
        free(source);
        if (compiler_serve(&request, &k->answer, &err) < 0) {
            child_message_done(&request);
            if (err.name == ERR_DeviceError)
                skip();
            fail_msg("%s: %s\n%s", file, err.text, err.detail ? err.detail : "");
        }
        child_message_done(&request);
        snprintf(k->file, sizeof k->file, "%s", file);
        k->is_debug = is_debug;
    }
    if (!fields_find(child_message_body(&k->answer), TAG_PTX, 0, &ptx))
        fail_msg("%s has no PTX", file);
    return ptx;
}

struct build {
    const char *name;
    bool is_debug;
    int host_threads;
};

static const struct build CLASSIC_BUILDS[] = {
    { "opt, 1 host thread", false, 1 },
    { "opt, 2 host threads", false, 2 },
    { "debug, 2 host threads", true, 2 },
};

static inline void classic_open(struct rig *rig, const char *file, const struct build *build)
{
    rig_load(rig, classic_ptx(file, build->is_debug));
    rig->launch.host_threads = build->host_threads;
}

/* A buffer with content; NULL: zeros. */
static inline void *classic_buffer(struct rig *rig, const void *content, size_t size,
                                   uint64_t *address)
{
    void *data = rig_buffer(rig, size, address);

    if (content)
        memcpy(data, content, size);
    return data;
}

static inline void classic_run(struct rig *rig, const char *kernel, struct ptx_dim grid,
                               struct ptx_dim block, const struct arguments *a)
{
    rig->launch.grid = grid;
    rig->launch.block = block;
    rig->launch.kernel = ptx_kernel_find(rig->module, kernel);
    assert_non_null(rig->launch.kernel);
    assert_true((size_t)rig->launch.kernel->parameter_bytes <= sizeof a->bytes);
    rig->launch.parameters = a->bytes;
    if (ptx_run(rig->module, &rig->launch, rig->arena, &rig->facts, &rig->fault, &rig->err) < 0)
        fail_msg("%s: %s %s\n%s", kernel, err_spelling(rig->err.name), rig->err.text,
                 rig->err.detail ? rig->err.detail : "");
}

/* Gives the module's variables storage that lasts from launch to launch, with their first values.
 */
static inline void classic_keep_variables(struct rig *rig)
{
    size_t n = ptx_variable_count(rig->module);
    struct ptx_buffer *buffers = arena_array(rig->arena, n, sizeof *buffers);

    assert_non_null(buffers);
    for (size_t i = 0; i < n; i++) {
        const struct ptx_variable *v = ptx_variable_at(rig->module, i);

        buffers[i] = (struct ptx_buffer){ .address = v->address, .size = v->size };
        buffers[i].data = arena_alloc(rig->arena, v->size);
        assert_non_null(buffers[i].data);
        if (v->initial)
            memcpy(buffers[i].data, v->initial, v->size);
    }
    rig->launch.variables = buffers;
}

/* As cudaMemcpyToSymbol. */
static inline void classic_set_variable(struct rig *rig, const char *name, const void *content,
                                        size_t size)
{
    for (size_t i = 0; i < ptx_variable_count(rig->module); i++) {
        const struct ptx_variable *v = ptx_variable_at(rig->module, i);

        if (strcmp(v->name, name))
            continue;
        assert_true(size <= v->size);
        memcpy(rig->launch.variables[i].data, content, size);
        return;
    }
    fail_msg("no variable %s", name);
}

static inline struct ptx_dim dim(unsigned x, unsigned y)
{
    return (struct ptx_dim){ x, y, 1 };
}

static inline unsigned classic_random(uint64_t *state)
{
    *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(*state >> 33);
}

static inline float *classic_floats(struct rig *rig, size_t n, uint64_t seed)
{
    float *x = arena_array(rig->arena, n, sizeof *x);

    assert_non_null(x);
    for (size_t i = 0; i < n; i++)
        x[i] = (float)(int)(classic_random(&seed) % 2001 - 1000) / 512.0f;
    return x;
}

/* A NaN fails too. */
static inline void classic_equal(const char *what, const struct build *build, const float *got,
                                 const float *want, size_t n, float tolerance)
{
    for (size_t i = 0; i < n; i++)
        if (!(fabsf(got[i] - want[i]) <= tolerance * (1.0f + fabsf(want[i]))))
            fail_msg("%s (%s, %zu values): [%zu] is %.9g, not %.9g", what, build->name, n, i,
                     (double)got[i], (double)want[i]);
}

#endif
