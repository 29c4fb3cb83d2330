/*
 * NVRTC compiles for the device alone and refuses a program over its first host
 * function. So what carries no mark of the device is left out, which is what it means
 * to nvcc too: kernels cannot call it. Only a function that reads threadIdx was meant
 * for the device, and is an error.
 */
#include "cells/cuda_host.h"

#include "cells/cuda_scan.h"

#include <stdio.h>

enum { MAX_LISTED = 6 };

static bool is_one_of(struct bytes word, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (bytes_equal(word, words[i]))
            return true;
    return false;
}

static bool uses_one_of(struct bytes text, const char *const *words, size_t count)
{
    struct scanner s = { text.data, text.data + text.size, true };
    struct scanner directive = { text.data, text.data, false };
    struct bytes word;

    while (scan_identifier(&s, &directive, &word))
        if (is_one_of(word, words, count))
            return true;
    return false;
}

/* What only a function that runs on the device can read. */
static const char *const DEVICE_WORDS[] = { "threadIdx",       "blockIdx",   "blockDim",
                                            "gridDim",         "warpSize",   "__syncthreads",
                                            "__shared__",      "__syncwarp", "__shfl_sync",
                                            "__shfl_down_sync" };

/* Types and calls that no struct of the device holds. */
static const char *const HOST_WORDS[] = {
    "cudaEvent_t",
    "cudaStream_t",
    "cudaError_t",
    "cudaMalloc",
    "cudaFree",
    "cudaMemcpy",
    "cudaMallocManaged",
    "FILE",
    "fopen",
    "vector",
    "unordered_map",
    "unique_ptr",
    "shared_ptr",
    "ostream",
    "ifstream",
    "ofstream",
    "stringstream",
    "cout",
    "cerr",
    "mt19937",
    "chrono",
    "runtime_error",
    "thrust",
    "cublasHandle_t",
    "cufftHandle",
    "cudaDeviceProp",
    "initializer_list",
    "curandGenerator_t",
};

/* The #define of a name, whether it stands alone or inside #if; NULL: none. */
static const struct cuda_item *macro_named(const struct cuda_items *items, struct bytes word)
{
    for (size_t i = items->count; i > 0; i--)
        for (size_t k = 0; k < items->list[i - 1].name_count; k++)
            if (items->list[i - 1].names[k].kind == ITEM_MACRO &&
                bytes_equal(word, items->list[i - 1].names[k].name))
                return &items->list[i - 1];
    return NULL;
}

struct marks {
    bool is_global, is_device;
};

static void note_macro(const struct cuda_item *macro, struct marks *marks)
{
    static const char *const device[] = { "__device__", "__constant__", "__managed__",
                                          "__shared__" };

    if (!macro)
        return;
    marks->is_global |= cuda_uses(macro->text, "__global__");
    marks->is_device |= uses_one_of(macro->text, device, COUNT(device));
}

/* The marks that macros in a head stand for: HD, KERNEL. */
static struct marks marks_of(const struct cuda *cuda, const struct cuda_items *fresh,
                             const char *head)
{
    struct scanner s = { head, head + strlen(head), false };
    struct marks marks = { false, false };
    struct scan_token t;

    while ((t = scan_next(&s)).kind != SCAN_END)
        if (t.kind == SCAN_WORD) {
            note_macro(macro_named(&cuda->items, t.text), &marks);
            note_macro(macro_named(fresh, t.text), &marks);
        }
    return marks;
}

static void set_kind(struct cuda_item *item, enum item_kind kind)
{
    item->kind = kind;
    for (size_t k = 0; k < item->name_count; k++)
        item->names[k].kind = kind;
}

static bool is_function(const struct cuda_item *item)
{
    return item->kind == ITEM_FUNCTION || item->kind == ITEM_OPERATOR;
}

static int forgot_mark(const struct cuda_item *item, struct err *err)
{
    const char *name = item->name_count > 0 ? item->names[0].name : "the function";

    snprintf(err->place, sizeof(err->place), "In[%d]", item->cell);
    err_set(err, ERR_CompileError,
            "%.100s runs on the device but nothing says so: it has no __global__ or __device__",
            name);
    err_at(err, item->line, item->column,
           (int)min_i64((int64_t)strcspn(item->text.data, "\n("), 80));
    return err_next(err, "write __global__ before it for a kernel, __device__ for a function that "
                         "kernels call");
}

static int mark(const struct cuda *cuda, const struct cuda_items *fresh, struct cuda_item *item,
                struct err *err)
{
    struct marks marks;

    if (item->kind == ITEM_TYPE && !cuda_uses(item->text, "__device__") &&
        uses_one_of(item->text, HOST_WORDS, COUNT(HOST_WORDS)))
        set_kind(item, ITEM_HOST);
    if (item->kind == ITEM_CONSTANT && uses_one_of(item->text, HOST_WORDS, COUNT(HOST_WORDS)))
        set_kind(item, ITEM_HOST);
    if (!item->is_unannotated)
        return 0;
    marks = marks_of(cuda, fresh, item->head);
    if (marks.is_global && is_function(item))
        set_kind(item, ITEM_KERNEL);
    if (marks.is_global || marks.is_device)
        return 0;
    if (is_function(item) && uses_one_of(item->text, DEVICE_WORDS, COUNT(DEVICE_WORDS)) &&
        !memmem(item->text.data, item->text.size, "<<<", 3))
        return forgot_mark(item, err);
    set_kind(item, ITEM_HOST);
    return 0;
}

int cuda_mark_host(const struct cuda *cuda, struct cuda_items *fresh, struct err *err)
{
    for (size_t i = 0; i < fresh->count; i++)
        if (mark(cuda, fresh, &fresh->list[i], err) < 0)
            return -1;
    return 0;
}

/* ---- what the user is told ---- */

/* `k<<<grid, block>>>(args)` as the host code has it, on one line; "" when it has none. */
static void find_launch(struct bytes text, char *out, size_t size)
{
    const char *sign = memmem(text.data, text.size, "<<<", 3), *end = text.data + text.size;
    const char *from = sign, *to;
    size_t n = 0;

    out[0] = '\0';
    if (!sign)
        return;
    while (from > text.data && from[-1] != ';' && from[-1] != '{' && from[-1] != '}' &&
           from[-1] != '\n')
        from--;
    while (from < sign && (*from == ' ' || *from == '\t'))
        from++;
    to = memchr(sign, ';', (size_t)(end - sign));
    for (const char *p = from; p < (to ? to : end) && n + 1 < size; p++)
        if (*p != '\n' && *p != '\t' && !(*p == ' ' && n > 0 && out[n - 1] == ' '))
            out[n++] = *p;
    out[n] = '\0';
}

static bool is_told(const struct cuda_item *item)
{
    /* A prototype defines nothing, so nothing is lost. */
    return item->kind == ITEM_HOST && item->name_count > 0 && item->text.size > 0 &&
           !(item->text.data[item->text.size - 1] == ';' &&
             memchr(item->head, '(', strlen(item->head)) &&
             !memchr(item->text.data, '=', item->text.size));
}

void cuda_print_host(const struct cuda_items *fresh, int cell, struct sink *sink)
{
    struct buf list = { 0 };
    char launch[120] = "";
    size_t n = 0;

    for (size_t i = 0; i < fresh->count; i++) {
        const struct cuda_item *item = &fresh->list[i];

        if (!is_told(item))
            continue;
        if (n < MAX_LISTED)
            buf_printf(&list, "%s%s%s", n ? ", " : "", item->names[0].name,
                       memchr(item->head, '(', strlen(item->head)) ? "()" : "");
        n++;
        if (!launch[0])
            find_launch(item->text, launch, sizeof(launch));
    }
    if (n > MAX_LISTED)
        buf_printf(&list, " and %zu more", n - MAX_LISTED);
    if (n > 0)
        sink_printf(sink, STREAM_STDOUT,
                    "In[%d]: left out host code, which has no __device__: %s.\n", cell,
                    buf_text(&list));
    if (launch[0])
        sink_printf(sink, STREAM_STDOUT, "A launch is a line by itself: %s;\n", launch);
    buf_done(&list);
}

/* The word in quotes of `identifier "sq" is undefined`. */
static struct bytes undefined_name(const char *text)
{
    const char *open = strstr(text, "identifier \""), *close;

    if (!open)
        return (struct bytes){ "", 0 };
    open += strlen("identifier \"");
    close = strchr(open, '"');
    return close ? (struct bytes){ open, (size_t)(close - open) } : (struct bytes){ "", 0 };
}

void cuda_hint_at_host(const struct cuda_items *items, struct err *err)
{
    struct bytes name = undefined_name(err->text);

    for (size_t i = items->count; i > 0 && name.size > 0; i--) {
        const struct cuda_item *item = &items->list[i - 1];

        for (size_t k = 0; k < item->name_count; k++)
            if (item->kind == ITEM_HOST && bytes_equal(name, item->names[k].name)) {
                err_next(err, "In[%d] line %d defines %s for the host: write __device__ before it",
                         item->cell, item->line, item->names[k].name);
                return;
            }
    }
}
