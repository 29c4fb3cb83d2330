/*
 * NVRTC is opened with dlopen, so that the binary starts where there is none and
 * the 110 MB library never lives in the front. One process compiles many cells:
 * the library's precompiled headers live as long as it does.
 *
 * Headers of the host that every CUDA file includes out of habit are answered from
 * device_headers.c: NVRTC has none.
 */
#include "kernels/compiler.h"

#include "kernels/compiler_ahead.h"
#include "kernels/cubin.h"
#include "kernels/device_headers.h"
#include "kernels/disassembler.h"
#include "kernels/pch_folder.h"
#include "kernels/toolkit.h"
#include "model/base/arena.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct nvrtc_program *nvrtc_program; /* opaque, as nvrtcProgram */

enum { NVRTC_OK = 0, NVRTC_COMPILE_FAILED = 6, NVRTC_INVALID_OPTION = 5, NVRTC_CANCELLED = 13 };
enum { MAX_OPTIONS = 64 };

/* Functions of nvrtc.h (CUDA 13.0). The last one came with 12.8 and may be missing. */
#define NVRTC_FUNCTIONS(X)                                                                         \
    X(Version, (int *major, int *minor))                                                           \
    X(CreateProgram, (nvrtc_program *, const char *source, const char *name, int headers,          \
                      const char *const *texts, const char *const *names))                         \
    X(DestroyProgram, (nvrtc_program *))                                                           \
    X(CompileProgram, (nvrtc_program, int options, const char *const *))                           \
    X(GetPTXSize, (nvrtc_program, size_t *))                                                       \
    X(GetPTX, (nvrtc_program, char *))                                                             \
    X(GetCUBINSize, (nvrtc_program, size_t *))                                                     \
    X(GetCUBIN, (nvrtc_program, char *))                                                           \
    X(GetProgramLogSize, (nvrtc_program, size_t *))                                                \
    X(GetProgramLog, (nvrtc_program, char *))                                                      \
    X(AddNameExpression, (nvrtc_program, const char *expression))                                  \
    X(GetLoweredName, (nvrtc_program, const char *expression, const char **lowered))

static struct nvrtc {
    bool is_open;
    struct toolkit toolkit;
#define X(name, parameters) int(*name) parameters;
    NVRTC_FUNCTIONS(X)
#undef X
    int (*SetFlowCallback)(nvrtc_program, int (*)(void *, void *), void *);
    const char *(*GetErrorString)(int);
} nvrtc;

static int open_nvrtc(struct err *err)
{
    char reason[300];
    void *library;

    if (nvrtc.is_open)
        return 0;
    toolkit_find(&nvrtc.toolkit);
    library = toolkit_open_nvrtc(&nvrtc.toolkit, reason, sizeof(reason));
    if (!library) {
        err_set(err, ERR_DeviceError, "no CUDA compiler (libnvrtc) could be opened: %s", reason);
        return err_next(err, "`make lab` installs one; `warpbook doctor` shows where it looked");
    }
#define X(name, parameters)                                                                        \
    *(void **)&nvrtc.name = dlsym(library, "nvrtc" #name);                                         \
    if (!nvrtc.name)                                                                               \
        return err_set(err, ERR_DeviceError, "%s has no function nvrtc%s", nvrtc.toolkit.nvrtc,    \
                       #name);
    NVRTC_FUNCTIONS(X)
#undef X
    *(void **)&nvrtc.SetFlowCallback = dlsym(library, "nvrtcSetFlowCallback");
    *(void **)&nvrtc.GetErrorString = dlsym(library, "nvrtcGetErrorString");
    nvrtc.is_open = true;
    return 0;
}

struct options {
    const char *list[MAX_OPTIONS];
    int count;
    char include[TOOLKIT_PATH + 2], cccl[TOOLKIT_PATH + 2], pch[PATH_MAX + 16], arch[40];
};

static int add_option(struct options *o, const char *text, struct err *err)
{
    if (o->count == MAX_OPTIONS)
        return err_set(err, ERR_UsageError, "%s: a cell takes at most %d options", text,
                       MAX_OPTIONS);
    o->list[o->count++] = text;
    return 0;
}

/* Copies a text field into the arena as a terminated string; NULL when it is missing. */
static const char *text_field(struct arena *arena, struct bytes body, unsigned tag, size_t n)
{
    struct bytes text;

    return fields_find(body, tag, n, &text) ? arena_copy(arena, text.data, text.size) : NULL;
}

/*
 * A source that includes something is compiled with precompiled headers: cooperative groups take
 * 1.9 s the first time and 0.14 s then. They end at the first #line, which is no news.
 */
static int add_precompiled_headers(struct options *o, const char *source, struct err *err)
{
    const char *folder = strstr(source, "#include") ? pch_folder() : "";

    if (!folder[0])
        return 0;
    snprintf(o->pch, sizeof(o->pch), "--pch-dir=%s", folder);
    return add_option(o, o->pch, err) | add_option(o, "--pch", err) |
           add_option(o, "--pch-messages=false", err) |
           add_option(o, "-diag-suppress=20283,629,630", err);
}

static int collect_options(struct arena *arena, struct bytes body, const char *source,
                           struct options *o, struct err *err)
{
    const char *arch = text_field(arena, body, TAG_ARCH, 0), *option;
    bool has_standard = false;
    int rc = 0;

    snprintf(o->arch, sizeof(o->arch), "-arch=%.30s", arch ? arch : "compute_80");
    rc |= add_option(o, o->arch, err);
    rc |= add_option(o, fields_int(body, TAG_IS_DEBUG, 0) ? "-G" : "-lineinfo", err);
    for (size_t i = 0; (option = text_field(arena, body, TAG_OPTION, i)); i++) {
        rc |= add_option(o, option, err);
        has_standard |= strncmp(option, "--std=", 6) == 0;
    }
    if (!has_standard)
        rc |= add_option(o, "--std=c++17", err);
    /* constexpr functions, and methods of structs, are for kernels too. */
    rc |= add_option(o, "-default-device", err);
    rc |= add_option(o, "--ptxas-options=-v", err);
    if (nvrtc.toolkit.include[0]) {
        snprintf(o->include, sizeof(o->include), "-I%s", nvrtc.toolkit.include);
        rc |= add_option(o, o->include, err);
    }
    if (nvrtc.toolkit.cccl[0]) {
        snprintf(o->cccl, sizeof(o->cccl), "-I%s", nvrtc.toolkit.cccl);
        rc |= add_option(o, o->cccl, err);
    }
    return rc | add_precompiled_headers(o, source, err);
}

static int keep_going(void *payload, void *reserved)
{
    (void)payload;
    (void)reserved;
    return atomic_load(&child_stop); /* 1 cancels the compilation */
}

static int create(struct arena *arena, const char *source, nvrtc_program *program, struct err *err)
{
    const char **names = arena_array(arena, DEVICE_HEADER_COUNT, sizeof(*names));
    const char **texts = arena_array(arena, DEVICE_HEADER_COUNT, sizeof(*texts));
    int code;

    if (!names || !texts)
        return err_set(err, ERR_ResourceError, "out of memory for the source of a cell");
    for (size_t i = 0; i < DEVICE_HEADER_COUNT; i++) {
        names[i] = DEVICE_HEADERS[i].name;
        texts[i] = DEVICE_HEADERS[i].text;
    }
    code = nvrtc.CreateProgram(program, source, "cell.cu", (int)DEVICE_HEADER_COUNT, texts, names);
    if (code != NVRTC_OK)
        return err_set(err, ERR_InternalError, "NVRTC cannot take the source: error %d", code);
    if (nvrtc.SetFlowCallback)
        nvrtc.SetFlowCallback(*program, keep_going, NULL);
    return 0;
}

/* One output of a program: its size, then its bytes. NULL when NVRTC has none. */
static char *fetch(struct arena *arena, nvrtc_program program,
                   int (*get_size)(nvrtc_program, size_t *), int (*get)(nvrtc_program, char *),
                   size_t *size)
{
    char *data;

    *size = 0;
    if (get_size(program, size) != NVRTC_OK || *size == 0)
        return NULL;
    data = arena_alloc(arena, *size + 1);
    if (!data || get(program, data) != NVRTC_OK)
        return NULL;
    return data;
}

struct kernel_sink {
    struct buf *body;
    const char *log;
};

static void put_kernel(void *arg, const struct cubin_kernel *k)
{
    struct kernel_sink *sink = arg;
    size_t begin = fields_begin(sink->body, TAG_KERNEL);
    int stores, loads;

    ptxas_spills(sink->log, k->symbol, &stores, &loads);
    fields_put_text(sink->body, TAG_NAME, k->symbol);
    fields_put_int(sink->body, TAG_REGISTERS, k->registers);
    fields_put_int(sink->body, TAG_STATIC_BYTES, k->static_bytes);
    fields_put_int(sink->body, TAG_STACK_BYTES, k->stack_bytes);
    fields_put_int(sink->body, TAG_SPILL_STORE_BYTES, stores);
    fields_put_int(sink->body, TAG_SPILL_LOAD_BYTES, loads);
    fields_end(sink->body, begin);
}

static int answer_program(struct arena *arena, nvrtc_program program, const char *log,
                          struct buf *body, struct err *err)
{
    struct kernel_sink sink = { body, log };
    int major = 0, minor = 0;
    size_t size;
    char *data;

    fields_put_text(body, TAG_LOG, log);
    if (nvrtc.Version(&major, &minor) == NVRTC_OK)
        fields_put_int(body, TAG_VERSION, 1000 * major + 10 * minor);
    data = fetch(arena, program, nvrtc.GetPTXSize, nvrtc.GetPTX, &size);
    if (data)
        fields_put(body, TAG_PTX, (struct bytes){ data, size - 1 }); /* it counts the final zero */
    data = fetch(arena, program, nvrtc.GetCUBINSize, nvrtc.GetCUBIN, &size);
    if (!data)
        return 0;
    fields_put(body, TAG_CUBIN, (struct bytes){ data, size });
    return cubin_each_kernel((struct bytes){ data, size }, put_kernel, &sink, err);
}

static int compile(struct arena *arena, nvrtc_program program, const char *source,
                   struct bytes body, struct buf *answer, struct err *err)
{
    const char *expression = text_field(arena, body, TAG_EXPRESSION, 0), *lowered;
    struct options options = { .count = 0 };
    size_t size;
    char *log;
    int code;

    if (collect_options(arena, body, source, &options, err) < 0)
        return -1;
    if (expression && nvrtc.AddNameExpression(program, expression) != NVRTC_OK)
        return err_set(err, ERR_CompileError, "the compiler does not take the name %.200s",
                       expression);
    code = nvrtc.CompileProgram(program, options.count, options.list);
    if (atomic_load(&child_stop))
        return err_set(err, ERR_Interrupted, "the compilation was interrupted");
    log = fetch(arena, program, nvrtc.GetProgramLogSize, nvrtc.GetProgramLog, &size);
    if (!log)
        log = arena_string(arena, "");
    if (!log)
        return err_set(err, ERR_ResourceError, "out of memory for the compiler's report");
    if (code == NVRTC_COMPILE_FAILED)
        return compiler_explain(log, err);
    if (code == NVRTC_INVALID_OPTION)
        return err_set(err, ERR_UsageError, "the compiler refuses %s: %.300s", options.arch, log);
    if (code != NVRTC_OK)
        return err_set(err, ERR_InternalError, "NVRTC failed: %s (%d)",
                       nvrtc.GetErrorString ? nvrtc.GetErrorString(code) : "no text", code);
    if (expression && nvrtc.GetLoweredName(program, expression, &lowered) == NVRTC_OK)
        fields_put_text(answer, TAG_LOWERED, lowered);
    return answer_program(arena, program, log, answer, err);
}

/* FNV-1a over the lines of a source that include something; 0: none does. */
static uint64_t includes_of(const char *source)
{
    uint64_t h = 0;

    for (const char *at = strstr(source, "#include"); at; at = strstr(at + 1, "#include"))
        for (size_t i = 0; at[i] && at[i] != '\n'; i++)
            h = ((h ? h : 0xcbf29ce484222325u) ^ (unsigned char)at[i]) * 0x100000001b3u;
    return h;
}

/* What the last code as written included: its precompiled headers are this process's. */
static uint64_t written_includes;

static int serve_body(struct bytes body, struct buf *answer, struct err *err)
{
    struct arena *arena = arena_new(0);
    const char *source = arena ? text_field(arena, body, TAG_SOURCE, 0) : NULL;
    nvrtc_program program = NULL;
    int rc = -1;

    if (!source)
        err_set(err, ERR_ResourceError, "out of memory for the source of a cell");
    else if (create(arena, source, &program, err) == 0)
        rc = compile(arena, program, source, body, answer, err);
    if (rc == 0 && fields_int(body, TAG_IS_DEBUG, 0))
        written_includes = includes_of(source);
    if (program)
        nvrtc.DestroyProgram(&program);
    arena_free(&arena);
    return rc;
}

/*
 * Precompiled headers that a fork makes end with it: seconds of work, which the next compilation
 * would do again.
 */
static void begin_ahead(struct bytes body)
{
    struct bytes ahead, text;
    uint64_t includes;
    char *source;

    if (!fields_find(body, TAG_AHEAD, 0, &ahead) || !fields_find(ahead, TAG_SOURCE, 0, &text))
        return;
    source = strndup(text.data, text.size);
    if (!source)
        return;
    includes = includes_of(source);
    free(source);
    if (includes == 0 || includes == written_includes)
        ahead_begin(ahead, serve_body);
}

int compiler_serve(const struct child_message *request, struct child_message *answer,
                   struct err *err)
{
    struct bytes body = child_message_body(request);

    if (request->op == OP_DISASSEMBLE)
        return disassembler_serve(request, answer, err);
    if (request->op != OP_COMPILE)
        return err_set(err, ERR_InternalError, "the compiler has no request %u", request->op);
    if (open_nvrtc(err) < 0)
        return -1;
    if (ahead_take(body, &answer->body))
        return 0;
    begin_ahead(body);
    return serve_body(body, &answer->body, err);
}
