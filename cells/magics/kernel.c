/*
 * %%kernel runs its cell with options for the compiler, which are remembered with
 * what the cell defines: a launch later uses them too.
 */
#include "cells/cell.h"
#include "cells/internal.h"
#include "cells/magics.h"

#include <sys/stat.h>

static int no_memory(struct err *err)
{
    return err_set(err, ERR_ResourceError, "out of memory for the cell's options");
}

/* A name, or NAME=VALUE: what may follow -D. */
static bool is_definition(struct bytes word)
{
    size_t n = 0;

    if (word.size == 0 || !is_name_start(word.data[0]))
        return false;
    while (n < word.size && is_name_char(word.data[n]))
        n++;
    return n == word.size || word.data[n] == '=';
}

/* Each word of a key's text becomes an option: -DTILE=16. */
static int put_words(const struct call *call, const char *key, const char *option, struct buf *out,
                     struct err *err)
{
    const char *text = call_text(call, key);

    for (const char *at = text ? text : ""; *at;) {
        size_t n = strcspn(at, " ;");
        struct bytes word = { at, n };

        if (n > 0 && strcmp(key, "define") == 0 && !is_definition(word)) {
            call_fail(call, key, err, ERR_UsageError,
                      "%.*s is no macro: a name comes first, as in TILE=16",
                      (int)min_i64((int64_t)n, 60), at);
            return -1;
        }
        if (n > 0)
            buf_printf(out, "%s%.*s\n", option, (int)n, at);
        at += n + (at[n] != '\0');
    }
    return 0;
}

static int put_folders(const struct call *call, struct buf *out, struct err *err)
{
    const char *text = call_text(call, "include");
    struct stat info;

    for (const char *at = text ? text : ""; *at;) {
        size_t n = strcspn(at, ":");
        const char *folder = arena_copy(call->arena, at, n);

        if (!folder)
            return no_memory(err);
        if (n > 0 && (stat(folder, &info) < 0 || !S_ISDIR(info.st_mode)))
            return call_fail(call, "include", err, ERR_FileError, "%.200s is no folder", folder);
        if (n > 0)
            buf_printf(out, "-I%s\n", folder);
        at += n + (at[n] != '\0');
    }
    return 0;
}

/* sm_89, sm_90a: what the compiler then knows or not, it says itself. */
static int check_arch(const struct call *call, struct err *err)
{
    const char *arch = call_text(call, "arch");
    size_t digits = arch && strncmp(arch, "sm_", 3) == 0 ? strspn(arch + 3, "0123456789") : 0;

    if (!arch || (digits >= 2 && digits <= 3 &&
                  strspn(arch + 3 + digits, "af") == strlen(arch + 3 + digits)))
        return 0;
    call_fail(call, "arch", err, ERR_UsageError, "%.40s is no architecture", arch);
    return err_next(err, "such as arch=sm_89 or arch=sm_90a");
}

static int read_options(const struct call *call, struct buf *text, struct cuda_options *out,
                        struct err *err)
{
    const char *arch = call_text(call, "arch");

    if (check_arch(call, err) < 0)
        return -1;
    if (call_given(call, "maxreg"))
        buf_printf(text, "--maxrregcount=%d\n", (int)call_int(call, "maxreg"));
    if (call_bool(call, "fast_math"))
        buf_puts(text, "--use_fast_math\n");
    if (call_given(call, "std"))
        buf_printf(text, "--std=%s\n", call_text(call, "std"));
    if (put_words(call, "define", "-D", text, err) < 0 || put_folders(call, text, err) < 0)
        return -1;
    *out = (struct cuda_options){ .compiler = buf_text(text),
                                  .arch = arch ? arch : "",
                                  .is_debug = strcmp(call_text(call, "build"), "debug") == 0,
                                  .is_clean = call_bool(call, "clean") };
    return text->is_failed ? no_memory(err) : 0;
}

static int run(struct call *call, struct err *err)
{
    struct cuda *cuda = session_cuda(call->session);
    struct source body = { call->body, call->body_line, 1 };
    struct cuda_options options;
    const struct cuda_options *before;
    struct buf text = { 0 };
    int rc = read_options(call, &text, &options, err);

    if (rc == 0) {
        before = cuda_set_options(cuda, &options);
        rc = cell_run_body(call->session->cell, body, err);
        cuda_set_options(cuda, before);
    }
    buf_done(&text);
    return rc;
}

static const struct param PARAMS[] = {
    { .name = "maxreg",
      .type = PARAM_INT,
      .min = 16,
      .max = 255,
      .help = "most registers a thread may take; what does not fit is spilled" },
    { .name = "fast_math",
      .type = PARAM_BOOL,
      .preset = "no",
      .help = "yes: faster, less exact functions and division; no subnormal numbers" },
    { .name = "define", .type = PARAM_TEXT, .help = "macros: \"TILE=16 DEBUG\"" },
    { .name = "include", .type = PARAM_TEXT, .help = "folders with headers, : between them" },
    { .name = "arch",
      .type = PARAM_NAME,
      .help = "what to compile for: sm_89, sm_90a; else the session's device" },
    { .name = "build",
      .type = PARAM_CHOICE,
      .preset = "opt",
      .choices = "opt debug",
      .help = "debug: launches run the code as written, every branch in it" },
    { .name = "std",
      .type = PARAM_CHOICE,
      .preset = "c++17",
      .choices = "c++11 c++14 c++17 c++20",
      .help = "the language" },
    { .name = "clean",
      .type = PARAM_BOOL,
      .preset = "no",
      .help = "yes: the cell sees nothing that other cells define" },
};

const struct magic MAGIC_KERNEL = {
    .name = "kernel",
    .flags = MAGIC_CELL | MAGIC_SILENT,
    .summary = "compiles its cell with options: maxreg, fast_math, define, arch, ...",
    .about = "The options belong to what the cell defines: a launch, %occupancy and %ptx of its "
             "kernels use them, until the names are defined again. The rest of the cell may hold "
             "whatever a cell may hold.\n\n"
             "fast_math also rounds division and square root less exactly and flushes subnormal "
             "numbers to zero, as nvcc's option does.",
    .example = "%%kernel maxreg=32 define=\"SCALE=2\"\n"
               "__global__ void scale(float *x) { x[threadIdx.x] *= SCALE; }",
    .params = PARAMS,
    .param_count = COUNT(PARAMS),
    .run = run,
};
