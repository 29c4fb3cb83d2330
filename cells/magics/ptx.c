/*
 * %ptx prints what the compiler made of a kernel, each stretch of instructions under
 * the source line that it comes from. That is what the interpreter runs, and what a
 * driver makes machine code of.
 */
#include "cells/internal.h"
#include "cells/magics.h"

#include <ctype.h>
#include <stdlib.h>

enum { MAX_FILES = 256 };

/* The text while it is printed. */
struct printer {
    struct call *call;
    int files[MAX_FILES]; /* the n of In[n] for each .file; 0: no cell */
    int file, line;       /* of the .loc in force */
    struct buf out;
    int instructions;
};

static struct bytes next_line(const char **at, const char *end)
{
    const char *nl = memchr(*at, '\n', (size_t)(end - *at));
    struct bytes line = { *at, (size_t)((nl ? nl : end) - *at) };

    *at = nl ? nl + 1 : end;
    return line;
}

static bool begins(struct bytes line, const char *word)
{
    size_t n = strlen(word);

    while (line.size > 0 && isspace((unsigned char)line.data[0])) {
        line.data++;
        line.size--;
    }
    return line.size >= n && memcmp(line.data, word, n) == 0;
}

/* `.file 1 "DIRECTORY/In[3]"`: which number is which cell. */
static void read_files(struct printer *p, struct bytes ptx)
{
    for (const char *at = ptx.data, *end = ptx.data + ptx.size; at < end;) {
        struct bytes line = next_line(&at, end);
        const char *name;
        int number;

        if (!begins(line, ".file"))
            continue;
        number = atoi((const char *)memmem(line.data, line.size, ".file", 5) + 5);
        name = memmem(line.data, line.size, "In[", 3);
        if (name && number >= 0 && number < MAX_FILES)
            p->files[number] = atoi(name + 3);
    }
}

/* A source line once, where its first instruction stands. */
static void note_place(struct printer *p, struct bytes line)
{
    const char *at = (const char *)memmem(line.data, line.size, ".loc", 4) + 4;
    int file = (int)strtol(at, (char **)(uintptr_t)&at, 10), number = atoi(at);
    struct bytes source;
    int cell = file >= 0 && file < MAX_FILES ? p->files[file] : 0;

    if (number == 0 || (file == p->file && number == p->line))
        return;
    p->file = file;
    p->line = number;
    if (cell && cuda_source_line(p->call->session, cell, number, &source))
        buf_printf(&p->out, "// In[%d] %d  %.*s\n", cell, number,
                   (int)min_i64((int64_t)source.size, 400), source.data);
}

static void print_instruction(struct printer *p, struct bytes line)
{
    bool is_label = line.size > 0 && line.data[0] == '$';

    if (is_label) {
        buf_put(&p->out, line.data, line.size);
    } else {
        buf_puts(&p->out, "    ");
        for (size_t i = 0; i < line.size; i++)
            if (line.data[i] != '\t')
                buf_putc(&p->out, line.data[i]);
            else if (i > 0 && line.data[i - 1] != ' ' && line.data[i - 1] != '\t')
                buf_putc(&p->out, ' ');
        p->instructions++;
    }
    buf_putc(&p->out, '\n');
}

static bool is_noise(struct bytes line)
{
    static const char *const words[] = { ".reg", ".pragma", ".local", ".param", ".callprototype" };

    for (size_t i = 0; i < COUNT(words); i++)
        if (begins(line, words[i]))
            return true;
    return line.size == 0 || begins(line, "$L__tmp") || begins(line, "$L__func") ||
           begins(line, "//") || begins(line, "{") || begins(line, "}");
}

/* The lines of one function, from its { to the } in the first column. */
static const char *print_body(struct printer *p, const char *at, const char *end)
{
    while (at < end) {
        struct bytes line = next_line(&at, end);

        if (line.size > 0 && line.data[0] == '}')
            break;
        if (begins(line, ".loc"))
            note_place(p, line);
        else if (!is_noise(line))
            print_instruction(p, line);
    }
    return at;
}

/* The kernel, and in a debug build the functions that are not part of it. */
static void print_compact(struct printer *p, const struct cuda_image *image)
{
    struct bytes ptx = image->ptx;
    size_t n = strlen(image->symbol);

    for (const char *at = ptx.data, *end = ptx.data + ptx.size; at < end;) {
        struct bytes line = next_line(&at, end);
        const char *entry = memmem(line.data, line.size, ".entry ", 7);
        bool is_wanted = entry && (size_t)(line.data + line.size - entry) >= 7 + n &&
                         memcmp(entry + 7, image->symbol, n) == 0 &&
                         (entry[7 + n] == '(' || isspace((unsigned char)entry[7 + n]));

        if (!is_wanted)
            continue;
        while (at < end && *at != '{')
            next_line(&at, end);
        if (at < end)
            next_line(&at, end);
        p->file = p->line = -1;
        print_body(p, at, end);
        return;
    }
}

static struct bytes target_of(struct bytes ptx)
{
    const char *at = memmem(ptx.data, ptx.size, ".target ", 8);
    size_t n = 0;

    if (!at)
        return bytes_of("?");
    at += 8;
    while (at + n < ptx.data + ptx.size && at[n] != '\n' && at[n] != ',')
        n++;
    return (struct bytes){ at, n };
}

static int run(struct call *call, struct err *err)
{
    struct printer p = { .call = call };
    bool is_debug = strcmp(call_text(call, "build"), "debug") == 0;
    struct session_device device;
    struct cuda_image image;
    struct bytes target;

    if (call_device(call, &device, err) < 0)
        return -1;
    if (cuda_kernel_image(call->session, call_text(call, "kernel"), &device.device,
                          is_debug ? IMAGE_PTX_DEBUG : IMAGE_PTX, call->arena, &image, err) < 0)
        return call_fail(call, "kernel", err, ERR_NameError, "no such kernel");
    if (call_bool(call, "full")) {
        sink_printf(call->sink, STREAM_STDOUT, "%.*s\n", (int)image.ptx.size, image.ptx.data);
        return 0;
    }
    read_files(&p, image.ptx);
    print_compact(&p, &image);
    target = target_of(image.ptx);
    if (p.out.is_failed) {
        buf_done(&p.out);
        return err_set(err, ERR_ResourceError, "out of memory for the PTX of a kernel");
    }
    sink_printf(call->sink, STREAM_STDOUT, "%s: %d instructions of PTX for %.*s, build=%s\n",
                image.kernel, p.instructions, (int)target.size, target.data,
                memmem(image.ptx.data, image.ptx.size, ", debug", 7) ? "debug" : "opt");
    sink_printf(call->sink, STREAM_STDOUT, "%s", buf_text(&p.out));
    buf_done(&p.out);
    return 0;
}

static const struct param PARAMS[] = {
    { .name = "kernel",
      .type = PARAM_NAME,
      .flags = PARAM_POSITIONAL | PARAM_REQUIRED,
      .help = "a kernel of this session; a template with its arguments: k<float,32>" },
    { .name = "build",
      .type = PARAM_CHOICE,
      .preset = "opt",
      .choices = "opt debug",
      .help = "debug: the code as written, every variable and branch in it" },
    { .name = "full",
      .type = PARAM_BOOL,
      .preset = "no",
      .help = "yes: the whole text, declarations and all" },
    { .name = "device", .type = PARAM_DEVICE, .help = "for which; else the session's device" },
};

const struct magic MAGIC_PTX = {
    .name = "ptx",
    .flags = MAGIC_SILENT,
    .summary = "prints a kernel's PTX under the source lines that it comes from",
    .about = "PTX is the compiler's portable assembly: the interpreter runs it, a driver makes "
             "machine code of it. It is made for compute capability 8.0 or the device's 8.x, "
             "unless the code asks for __CUDA_ARCH__ or %%kernel arch= says otherwise. A branch "
             "that is missing here became a select, or was decided by the compiler; build=debug "
             "shows the code as written.\n\n"
             "Instructions: PTX ISA 9.0.",
    .example = "__global__ void twice(float *x) { x[threadIdx.x] *= 2; }\n"
               "%ptx twice",
    .params = PARAMS,
    .param_count = COUNT(PARAMS),
    .run = run,
};
