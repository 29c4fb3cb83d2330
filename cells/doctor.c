/*
 * A library that is there need not work, so nothing is believed by its name: a
 * kernel is compiled, and the driver is asked. Only the paths are looked up.
 */
#include "cells/doctor.h"

#include "cells/internal.h"
#include "cells/render/render.h"
#include "kernels/toolkit.h"
#include "model/base/version.h"

#include <limits.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char DOCTOR_HELP[] =
    "usage: warpbook doctor\n"
    "\n"
    "Says which of the CUDA compiler, headers, driver, GPU and disassembler\n"
    "was found where, and what to install when one is missing.\n"
    "Exit status: 0 when CUDA C compiles, 1 when something for it is missing.\n";

enum { MAX_GPUS = 16, ROWS = 8 };

static const char LOOKED[] =
    "Looked in $CUDA_HOME, $CUDA_PATH, /usr/local/cuda, beside nvcc on PATH, in $VIRTUAL_ENV, the "
    ".venv of this checkout, $CONDA_PREFIX, and where the linker looks";
static const char INSTALL_COMPILER[] =
    "Install it: `make lab` does in a checkout; elsewhere the CUDA Toolkit, or in a virtual "
    "environment pip install nvidia-cuda-nvrtc==13.0.* nvidia-cuda-runtime==13.0.* "
    "nvidia-cuda-crt==13.0.* nvidia-cuda-cccl==13.0.*";

struct examination {
    struct toolkit toolkit;
    int nvrtc; /* 13000 for 13.0; 0: nothing could be compiled */
    struct err no_compiler;
    bool has_node; /* the device file of a card is there */
    struct gpu_info gpus[MAX_GPUS];
    size_t gpu_count;
    struct err no_gpu;
    char nvdisasm[PATH_MAX]; /* "": not found */
};

/* ---- looking ---- */

static int compile_something(struct session *session, struct examination *e)
{
    struct child_message request = { .op = OP_COMPILE }, answer = { 0 };
    int rc;

    fields_put_text(&request.body, TAG_SOURCE, "extern \"C\" __global__ void k() {}\n");
    fields_put_text(&request.body, TAG_ARCH, "compute_80");
    rc = workers_ask(session_workers(session), CHILD_COMPILER, &request, &answer, &e->no_compiler);
    if (rc == 0)
        e->nvrtc = (int)fields_int(child_message_body(&answer), TAG_VERSION, 0);
    child_message_done(&request);
    child_message_done(&answer);
    return rc;
}

static void ask_for_gpus(struct session *session, struct examination *e)
{
    struct workers *workers = session_workers(session);

    e->has_node = workers_gpu_present(workers);
    while (e->has_node && e->gpu_count < MAX_GPUS) {
        const struct gpu_info *info;
        struct err end = { 0 };

        if (workers_gpu_info(workers, (int)e->gpu_count, &info, &end) < 0) {
            if (e->gpu_count == 0)
                e->no_gpu = end;
            else
                err_done(&end);
            return;
        }
        e->gpus[e->gpu_count++] = *info;
    }
}

static bool is_program(char *out, const char *folder, size_t n, const char *name)
{
    int size = snprintf(out, PATH_MAX, "%.*s/%s", (int)n, folder, name);

    if (n > 0 && size > 0 && size < PATH_MAX && access(out, X_OK) == 0)
        return true;
    out[0] = '\0';
    return false;
}

/* Beside the toolkit's headers, then on PATH. */
static void find_nvdisasm(struct examination *e)
{
    char bin[TOOLKIT_PATH + 8];

    snprintf(bin, sizeof(bin), "%s/../bin", e->toolkit.include);
    if (e->toolkit.include[0] && is_program(e->nvdisasm, bin, strlen(bin), "nvdisasm"))
        return;
    for (const char *path = getenv("PATH"); path && *path; path += *path == ':') {
        size_t n = strcspn(path, ":");

        if (is_program(e->nvdisasm, path, n, "nvdisasm"))
            return;
        path += n;
    }
}

/* ---- saying ---- */

static const char *version_text(struct result *r, int version)
{
    return result_text(r, "%d.%d", version / 1000, version % 1000 / 10);
}

static const char *compiler_text(struct result *r, const struct examination *e)
{
    if (!e->nvrtc)
        return result_text(r, "missing: %s. %s. %s", e->no_compiler.text, LOOKED, INSTALL_COMPILER);
    return result_text(r, "NVRTC %s from %s", version_text(r, e->nvrtc),
                       e->toolkit.nvrtc[0] ? e->toolkit.nvrtc : "the linker's search");
}

static const char *headers_text(const struct examination *e)
{
    if (!e->toolkit.include[0])
        return "missing: cuda_fp16.h and its like. They come with the compiler, from the wheels "
               "nvidia-cuda-runtime and nvidia-cuda-crt";
    return e->toolkit.include;
}

static const char *cccl_text(const struct examination *e)
{
    if (!e->toolkit.cccl[0])
        return "missing: cuda/std, which cooperative groups need. It comes with the compiler, from "
               "the wheel nvidia-cuda-cccl";
    return e->toolkit.cccl;
}

static const char *gpu_text(struct result *r, const struct examination *e)
{
    const char *text = "";

    if (!e->has_node)
        return "none here: kernels run on the interpreter, which needs none";
    if (!e->gpu_count)
        return result_text(r, "a card, but it cannot be used: %s", e->no_gpu.text);
    for (size_t i = 0; i < e->gpu_count && text; i++) {
        const struct gpu_info *g = &e->gpus[i];

        text = result_text(r, "%s%sgpu:%zu %s, cc %d.%d, %lld MB", text, i ? "; " : "", i,
                           g->device.name, g->device.cc_major, g->device.cc_minor,
                           (long long)(g->memory_bytes >> 20));
    }
    return text;
}

/*
 * Machine code runs on a driver of the same major version, whichever the minor (CUDA Compatibility,
 * "Minor Version Compatibility"); a newer driver takes older code.
 */
static const char *driver_text(struct result *r, const struct examination *e)
{
    int driver = e->gpu_count ? e->gpus[0].driver_version : 0;

    if (!driver)
        return e->has_node ? "missing: install NVIDIA's driver (libcuda.so.1)"
                           : "none, and none is needed without a GPU";
    if (e->nvrtc && driver / 1000 < e->nvrtc / 1000)
        return result_text(r,
                           "for CUDA %s, too old for NVRTC %s: update it, or install "
                           "nvidia-cuda-nvrtc-cu%d and nvidia-cuda-runtime-cu%d",
                           version_text(r, driver), version_text(r, e->nvrtc), driver / 1000,
                           driver / 1000);
    return result_text(r, "for CUDA %s; it runs what this compiler makes", version_text(r, driver));
}

static const char *nvdisasm_text(const struct examination *e)
{
    return e->nvdisasm[0] ? e->nvdisasm
                          : "missing, and only needed to read machine code: it is "
                            "in the CUDA Toolkit and in the wheel nvidia-cuda-nvdisasm";
}

static bool is_ready(const struct examination *e)
{
    return e->nvrtc && e->toolkit.include[0] && e->toolkit.cccl[0];
}

static void fill_view(struct result *r, const struct examination *e)
{
    const char *const facts[ROWS][2] = {
        { "compiler", compiler_text(r, e) },
        { "headers", headers_text(e) },
        { "C++ library", cccl_text(e) },
        { "GPU", gpu_text(r, e) },
        { "driver", driver_text(r, e) },
        { "nvdisasm", nvdisasm_text(e) },
        { "libraries", result_text(r, "Jansson %s, libsodium %s", jansson_version_str(),
                                   sodium_version_string()) },
        { "warpbook", WARPBOOK_VERSION },
    };
    struct view_block *block = view_add_facts(r, ROWS);

    for (size_t i = 0; block && i < ROWS; i++) {
        block->names[i] = facts[i][0];
        block->texts[i] = result_text(r, "%s", facts[i][1] ? facts[i][1] : "");
    }
    r->view.answer = !is_ready(e)   ? "Not ready: CUDA C cells cannot be compiled."
                     : e->gpu_count ? "Ready: CUDA C compiles and runs on the GPU and on the model."
                                    : "Ready: CUDA C compiles and runs on the model; no GPU.";
    r->view.origin = "this machine";
    r->view.closing = is_ready(e) ? "Next: %help lists what can be done."
                                  : "To be ready: install what is called missing above.";
}

static json_t *path_json(const char *path)
{
    return path[0] ? json_string(path) : json_null();
}

static json_t *gpus_json(const struct examination *e)
{
    json_t *list = json_array();

    for (size_t i = 0; i < e->gpu_count; i++) {
        const struct gpu_info *g = &e->gpus[i];

        if (json_array_append_new(list, json_pack("{s:s, s:s, s:I}", "name", g->device.name, "uuid",
                                                  g->uuid ? g->uuid : "", "memory_bytes",
                                                  (json_int_t)g->memory_bytes)) < 0)
            break;
    }
    return list;
}

static int fill_fields(struct result *r, const struct examination *e, struct err *err)
{
    json_t *fields =
        json_pack("{s:s, s:b, s:i, s:o, s:s, s:o, s:o, s:i, s:o, s:o}", "warpbook",
                  WARPBOOK_VERSION, "is_ready", is_ready(e), "nvrtc_version", e->nvrtc,
                  "nvrtc_path", path_json(e->toolkit.nvrtc), "nvrtc_origin", e->toolkit.origin,
                  "headers", path_json(e->toolkit.include), "cccl", path_json(e->toolkit.cccl),
                  "driver_version", e->gpu_count ? e->gpus[0].driver_version : 0, "gpus",
                  gpus_json(e), "nvdisasm", path_json(e->nvdisasm));
    int rc = json_object_update(r->fields, fields);

    json_decref(fields);
    return rc < 0 ? err_set(err, ERR_ResourceError, "out of memory") : 0;
}

int doctor_examine(struct session *session, struct result **out, struct err *err)
{
    struct examination *e = calloc(1, sizeof(*e));
    struct result *r = result_new("doctor", 1);
    int rc = -1;

    if (!e || !r) {
        err_set(err, ERR_ResourceError, "out of memory");
        goto out;
    }
    toolkit_find(&e->toolkit);
    if (compile_something(session, e) < 0 && e->no_compiler.name == ERR_Interrupted) {
        err_set(err, ERR_Interrupted, "%s", e->no_compiler.text);
        goto out;
    }
    ask_for_gpus(session, e);
    find_nvdisasm(e);
    fill_view(r, e);
    rc = fill_fields(r, e, err);
out:
    if (e) {
        err_done(&e->no_compiler);
        err_done(&e->no_gpu);
    }
    free(e);
    if (rc < 0 && r)
        result_release(&r);
    *out = r;
    return rc;
}

/* ---- the command ---- */

static int print(const struct result *r, struct err *err)
{
    struct rendering rendering = { 0 };

    if (render_result(r, &rendering, err) < 0)
        return -1;
    puts(json_string_value(json_object_get(rendering.bundles[0], "text/plain")));
    rendering_done(&rendering);
    return json_is_true(json_object_get(r->fields, "is_ready"));
}

int doctor_main(int argc, char **argv)
{
    struct session_options options = { 0 };
    struct session *session = NULL;
    struct result *result = NULL;
    struct err err = { 0 };
    int ready = -1;

    if (argc > 1) {
        fprintf(stderr, "warpbook doctor: %s: takes no argument\n", argv[1]);
        return 2;
    }
    if (session_new(&options, &session, &err) == 0 && doctor_examine(session, &result, &err) == 0)
        ready = print(result, &err);
    if (err.name)
        fprintf(stderr, "warpbook doctor: %s\n", err.text);
    err_done(&err);
    if (result)
        result_release(&result);
    session_free(&session);
    return ready == 1 ? 0 : 1;
}
