/*
 * NVRTC compiles for the device alone and refuses a program over its first host
 * function. So what carries no mark of the device is left out, which is what it means
 * to nvcc too: kernels cannot call it. Only a function that reads threadIdx was meant
 * for the device, and is an error.
 */
#include "cells/cuda_host.h"

#include "cells/cuda_headers.h"
#include "cells/cuda_scan.h"

#include <stdio.h>
#include <strings.h>
#include <stdlib.h>

enum { MAX_LISTED = 6 };

static bool is_one_of(struct bytes word, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (bytes_equal(word, words[i]))
            return true;
    return false;
}

/* Does a name stand behind `.` or `->`? `params.blockDim` is a member of the host's. */
static bool is_member(struct bytes text, struct bytes word)
{
    const char *at = word.data;

    while (at > text.data && (at[-1] == ' ' || at[-1] == '\t' || at[-1] == '\n'))
        at--;
    return at > text.data &&
           (at[-1] == '.' || (at[-1] == '>' && at - text.data > 1 && at[-2] == '-'));
}

static bool uses_one_of(struct bytes text, const char *const *words, size_t count)
{
    struct scanner s = { text.data, text.data + text.size, true };
    struct scanner directive = { text.data, text.data, false };
    struct bytes word;

    while (scan_identifier(&s, &directive, &word))
        if (is_one_of(word, words, count) && !is_member(text, word))
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

struct marks {
    bool is_global, is_device;
};

/* A macro that stands for a mark: HD, KERNEL. */
struct marking {
    const char *name;
    struct marks marks;
};

/* All there are; most sessions have none or two. */
struct markings {
    struct marking list[64];
    size_t count;
};

static void collect_markings(const struct cuda_item *list, size_t count, struct markings *out)
{
    static const char *const device[] = { "__device__", "__constant__", "__managed__",
                                          "__shared__" };

    for (size_t i = 0; i < count; i++) {
        const struct cuda_item *item = &list[i];
        struct marking m = { .name = item->name_count > 0 ? item->names[0].name : NULL };

        if (item->inner_count > 0) {
            collect_markings(item->inner, item->inner_count, out);
            continue;
        }
        if (item->kind != ITEM_MACRO || !m.name || out->count == COUNT(out->list))
            continue;
        m.marks.is_global = cuda_uses(item->text, "__global__");
        m.marks.is_device = uses_one_of(item->text, device, COUNT(device));
        if (m.marks.is_global || m.marks.is_device)
            out->list[out->count++] = m;
    }
}

/* The marks that macros in a head stand for. */
static struct marks marks_of(const struct markings *markings, const char *head)
{
    struct scanner s = { head, head + strlen(head), false };
    struct marks marks = { false, false };
    struct scan_token t;

    while (markings->count > 0 && (t = scan_next(&s)).kind != SCAN_END)
        for (size_t i = 0; i < markings->count; i++)
            if (scan_is_word(t, markings->list[i].name)) {
                marks.is_global |= markings->list[i].marks.is_global;
                marks.is_device |= markings->list[i].marks.is_device;
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

/* `<<<4, 256>>>(n);` defines nothing that could be left out: its name was. */
static int nameless_launch(const struct cuda_item *item, struct err *err)
{
    snprintf(err->place, sizeof(err->place), "In[%d]", item->cell);
    err_set(err, ERR_SyntaxError, "a kernel's name stands before <<<");
    err_at(err, item->line, item->column, 3);
    return err_next(err, "a launch is kernel<<<grid, block>>>(arguments);");
}

/* `using std::cout;`: of std, kernels have no more than this. */
static bool is_host_using(const struct cuda_item *item)
{
    static const char *const known[] = { "min",     "max",      "swap",    "abs",     "sqrt",
                                         "pow",     "size_t",   "clamp",   "int32_t", "uint32_t",
                                         "int64_t", "uint64_t", "uint8_t", "complex", "array" };
    struct scanner s = { item->text.data, item->text.data + item->text.size, true };

    return item->kind == ITEM_OTHER && scan_is_word(scan_next(&s), "using") &&
           scan_is_word(scan_next(&s), "std") && !uses_one_of(item->text, known, COUNT(known));
}

/* Blanks a text where it stands, which is in the copy that cuda_split made; lines stay lines. */
static void blank(struct bytes text)
{
    char *at = (char *)(uintptr_t)text.data;

    for (size_t i = 0; i < text.size; i++)
        if (at[i] != '\n')
            at[i] = ' ';
}

static int mark_inner(const struct markings *markings, struct cuda_item *item, struct err *err);

/*
 * A struct of the device may allocate itself on the host: methods without __device__ that call the
 * host's functions go, and the rest stays.
 */
static int blank_host_methods(struct cuda_item *item, struct err *err)
{
    struct cuda_items members = { 0 };
    int rc = cuda_split_members(item, &members, err);

    for (size_t i = 0; rc == 0 && i < members.count; i++) {
        const struct cuda_item *member = &members.list[i];
        bool is_method = is_function(member) && member->is_unannotated;

        /* A constructor reads as a macro's call. */
        is_method |= member->kind == ITEM_OTHER && !cuda_uses(member->text, "__device__");
        if (is_method && uses_one_of(member->text, HOST_WORDS, COUNT(HOST_WORDS)))
            blank(member->text);
    }
    free(members.list);
    return rc;
}

static int mark(const struct markings *markings, struct cuda_item *item, struct err *err)
{
    struct marks marks;

    if (item->kind == ITEM_TYPE && uses_one_of(item->text, HOST_WORDS, COUNT(HOST_WORDS)) &&
        blank_host_methods(item, err) < 0)
        return -1;
    if (item->inner_count > 0)
        return mark_inner(markings, item, err);
    if (item->kind == ITEM_TYPE && !cuda_uses(item->text, "__device__") &&
        uses_one_of(item->text, HOST_WORDS, COUNT(HOST_WORDS)))
        set_kind(item, ITEM_HOST);
    if (is_host_using(item))
        item->kind = ITEM_HOST;
    if (item->kind == ITEM_CONSTANT && uses_one_of(item->text, HOST_WORDS, COUNT(HOST_WORDS)))
        set_kind(item, ITEM_HOST);
    if (!item->is_unannotated)
        return 0;
    if (item->text.size >= 3 && memcmp(item->text.data, "<<<", 3) == 0)
        return nameless_launch(item, err);
    marks = marks_of(markings, item->head);
    if (marks.is_global && is_function(item))
        set_kind(item, ITEM_KERNEL);
    if (marks.is_global || marks.is_device)
        return 0;
    if (is_function(item) && uses_one_of(item->text, DEVICE_WORDS, COUNT(DEVICE_WORDS)) &&
        !memmem(item->text.data, item->text.size, "<<<", 3) && !cuda_uses(item->text, "dim3"))
        return forgot_mark(item, err);
    set_kind(item, ITEM_HOST);
    return 0;
}

static bool is_host_include(const struct cuda_item *item)
{
    return item->kind == ITEM_INCLUDE &&
           cuda_header_find(cuda_header_name(item->text)).kind == HEADER_HOST;
}

/* A block of #if goes to the compiler as one piece: its host code is blanked. */
static int mark_inner(const struct markings *markings, struct cuda_item *item, struct err *err)
{
    for (size_t i = 0; i < item->inner_count; i++) {
        struct cuda_item *inner = &item->inner[i];

        if (mark(markings, inner, err) < 0)
            return -1;
        if (inner->kind == ITEM_HOST || is_host_include(inner))
            blank(inner->text);
    }
    return cuda_item_take_names(item, err);
}

int cuda_mark_host(const struct cuda *cuda, struct cuda_items *fresh, struct err *err)
{
    struct markings markings = { .count = 0 };

    collect_markings(cuda->items.list, cuda->items.count, &markings);
    collect_markings(fresh->list, fresh->count, &markings);
    for (size_t i = 0; i < fresh->count; i++)
        if (mark(&markings, &fresh->list[i], err) < 0)
            return -1;
    return 0;
}

/* ---- what the compiler finds ---- */

static const char LAUNCH_INSIDE[] = "device-side kernel launch";

/* `const int grid = ceil(n / 256.0);` is a constant that the host computes when it starts. */
static const char DYNAMIC[] = "dynamic initialization";

/* Reasons for which a compiler of the host might have taken the line. */
static bool is_about_a_name(const char *text, size_t n)
{
    static const char *const reasons[] = { "is undefined",    "has no member",
                                           "no suitable",     "host function",
                                           "host variable",   "is not a template",
                                           "must be a class", "incomplete type",
                                           "not a class or",  "name must be a namespace",
                                           "type specifier",  "__host__ function",
                                           LAUNCH_INSIDE,     DYNAMIC };

    for (size_t i = 0; i < COUNT(reasons); i++)
        if (memmem(text, n, reasons[i], strlen(reasons[i])))
            return true;
    return false;
}

static int line_count(struct bytes text)
{
    int n = 1;

    for (size_t i = 0; i < text.size; i++)
        n += text.data[i] == '\n';
    return n;
}

/* The fresh item that stands on a line; NULL: none. */
static struct cuda_item *item_on_line(struct cuda_items *fresh, int line)
{
    for (size_t i = 0; i < fresh->count; i++) {
        struct cuda_item *item = &fresh->list[i];

        if (line >= item->line && line < item->line + line_count(item->text))
            return item;
    }
    return NULL;
}

/* Inside a block of #if the one that is blamed goes, unless it is the device's. */
static int give_up_inner(struct cuda_item *item, int line)
{
    struct cuda_items inside = { item->inner, item->inner_count, item->inner_count };
    struct cuda_item *inner = item_on_line(&inside, line);

    if (!inner || inner->kind == ITEM_HOST)
        return 0;
    if (inner->inner_count > 0)
        return give_up_inner(inner, line);
    if (inner->kind != ITEM_TYPE && inner->kind != ITEM_CONSTANT && inner->kind != ITEM_OTHER)
        return 0;
    blank(inner->text);
    set_kind(inner, ITEM_HOST);
    return 1;
}

/*
 * A kernel that launches kernels cannot be compiled here (dynamic parallelism needs a library of
 * the device's). The cell's other kernels can.
 */
static bool may_lose(const struct cuda_items *fresh, const struct cuda_item *item, const char *line,
                     size_t n)
{
    size_t others = 0;

    for (size_t i = 0; i < fresh->count; i++)
        others += fresh->list[i].kind == ITEM_KERNEL && &fresh->list[i] != item;
    return others > 0 && memmem(line, n, LAUNCH_INSIDE, strlen(LAUNCH_INSIDE));
}

/* Gives one line of the log its consequence. */
static int give_up_line(struct cuda_items *merged, struct cuda_items *fresh, const bool *is_needed,
                        const char *line, size_t n)
{
    const char *open = memchr(line, '(', n), *error = memmem(line, n, "): error", 8);
    size_t first = merged->count - fresh->count, i;
    struct cuda_item *item;

    if (!error || !open || strncmp(line, "In[", 3) != 0 || !is_about_a_name(line, n) ||
        fresh->count == 0 || atoi(line + 3) != fresh->list[0].cell)
        return 0;
    item = item_on_line(fresh, atoi(open + 1));
    if (!item || item->kind == ITEM_HOST || item->kind == ITEM_INCLUDE)
        return 0;
    if (item->inner_count > 0)
        return give_up_inner(item, atoi(open + 1));
    i = (size_t)(item - fresh->list);
    if (is_needed[first + i] && !may_lose(fresh, item, line, n))
        return 0;
    set_kind(item, ITEM_HOST);
    merged->list[first + i].kind = ITEM_HOST;
    return 1;
}

int cuda_give_up_host(struct cuda_items *merged, struct cuda_items *fresh, const char *log,
                      struct err *err)
{
    bool *is_needed = calloc(merged->count + 1, sizeof(*is_needed)), has_code = false;
    int given = 0;

    if (!is_needed)
        return err_set(err, ERR_ResourceError, "out of memory for a cell's source");
    if (cuda_find_needed(merged, fresh->list[0].segment, is_needed, err) < 0)
        given = -1;
    for (size_t i = 1; i <= fresh->count; i++) /* a type alone in its cell is what it is about */
        has_code |= is_needed[merged->count - i];
    has_code |= strstr(log, DYNAMIC) != NULL;
    for (const char *at = log; has_code && given >= 0 && *at;) {
        size_t n = strcspn(at, "\n");

        given += give_up_line(merged, fresh, is_needed, at, n);
        at += n + (at[n] == '\n');
    }
    free(is_needed);
    return given;
}

/* ---- headers that are not here ---- */

/* The file of an error `cannot open source file "common.h"`; empty: another error. */
static struct bytes missing_file(const char *log)
{
    static const char sign[] = "cannot open source file \"";
    const char *at = strstr(log, sign), *end;

    if (!at)
        return (struct bytes){ "", 0 };
    at += strlen(sign);
    end = strchr(at, '"');
    return end ? (struct bytes){ at, (size_t)(end - at) } : (struct bytes){ "", 0 };
}

static bool is_include_of(const struct cuda_item *item, struct bytes file)
{
    struct bytes name = cuda_header_name(item->text);

    return item->kind == ITEM_INCLUDE && name.size == file.size &&
           memcmp(name.data, file.data, file.size) == 0;
}

int cuda_leave_out_missing(struct cuda_items *merged, struct cuda_items *fresh, const char *log)
{
    size_t first = merged->count - fresh->count;
    struct bytes file = missing_file(log);
    int n = 0;

    for (size_t i = 0; i < fresh->count && file.size > 0; i++) {
        struct cuda_item *item = &fresh->list[i];

        if (is_include_of(item, file)) {
            item->kind = merged->list[first + i].kind = ITEM_HOST;
            n++;
        }
        for (size_t k = 0; k < item->inner_count; k++)
            if (is_include_of(&item->inner[k], file)) {
                blank(item->inner[k].text);
                item->inner[k].kind = ITEM_HOST;
                n++;
            }
    }
    return n;
}

/* "common.h" of an include that was left out; empty for everything else. */
static struct bytes left_out_header(const struct cuda_item *item)
{
    if (item->kind != ITEM_HOST || item->text.size == 0 || item->text.data[0] != '#')
        return (struct bytes){ "", 0 };
    return cuda_header_name(item->text);
}

void cuda_hint_at_missing(const struct cuda_items *items, int cell, struct err *err)
{
    for (size_t i = 0; i < items->count; i++) {
        struct bytes name = left_out_header(&items->list[i]);

        if (items->list[i].cell != cell || name.size == 0)
            continue;
        err_next(err,
                 "\"%.*s\" of line %d is not here: paste its device code into a cell before, or "
                 "%%%%kernel include=\"its folder\"",
                 (int)min_i64((int64_t)name.size, 200), name.data, items->list[i].line);
        return;
    }
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

bool cuda_is_lost_kernel(const struct cuda_item *item)
{
    return item->kind == ITEM_HOST && item->name_count > 0 && item->head &&
           cuda_uses(bytes_of(item->head), "__global__");
}

static bool is_told(const struct cuda_item *item)
{
    /* A prototype defines nothing, so nothing is lost; a constant's value is known all the same. */
    return item->kind == ITEM_HOST && item->name_count > 0 && item->text.size > 0 &&
           !(item->value.size > 0 && cuda_uses(item->text, "const")) &&
           !(item->text.data[item->text.size - 1] == ';' &&
             memchr(item->head, '(', strlen(item->head)) &&
             !memchr(item->text.data, '=', item->text.size));
}

void cuda_print_host(const struct cuda_items *fresh, int cell, struct sink *sink)
{
    struct buf list = { 0 };
    char launch[120] = "";
    const char *pointer = NULL;
    size_t n = 0;

    for (size_t i = 0; i < fresh->count; i++) {
        const struct cuda_item *item = &fresh->list[i];

        if (!is_told(item))
            continue;
        if (cuda_is_lost_kernel(item)) {
            sink_printf(sink, STREAM_STDOUT,
                        "In[%d]: left out the kernel %s, which launches kernels itself: "
                        "that is not done here.\n",
                        cell, item->names[0].name);
            continue;
        }
        if (n < MAX_LISTED)
            buf_printf(&list, "%s%s%s", n ? ", " : "", item->names[0].name,
                       memchr(item->head, '(', strlen(item->head)) ? "()" : "");
        n++;
        if (!pointer && memchr(item->text.data, '*', item->text.size) &&
            !memchr(item->text.data, '(', item->text.size) && item->name_count == 1)
            pointer = item->names[0].name;
        if (!launch[0])
            find_launch(item->text, launch, sizeof(launch));
    }
    for (size_t i = 0; i < fresh->count; i++) {
        struct bytes name = left_out_header(&fresh->list[i]);

        if (name.size > 0)
            sink_printf(sink, STREAM_STDOUT,
                        "In[%d]: left out #include \"%.*s\", which is not here.\n", cell,
                        (int)min_i64((int64_t)name.size, 200), name.data);
    }
    if (n > MAX_LISTED)
        buf_printf(&list, " and %zu more", n - MAX_LISTED);
    if (n > 0)
        sink_printf(sink, STREAM_STDOUT,
                    "In[%d]: left out host code, which has no __device__: %s.\n", cell,
                    buf_text(&list));
    if (pointer)
        sink_printf(sink, STREAM_STDOUT,
                    "Memory of the device is made by %%buffer %s float[1000] = zeros, without "
                    "cudaMalloc.\n",
                    pointer);
    if (launch[0])
        sink_printf(sink, STREAM_STDOUT, "A launch is a line by itself: %s;\n", launch);
    buf_done(&list);
}

/* The word in quotes of `identifier "sq" is undefined`, or of `namespace "std" has no member "sq"`.
 */
static struct bytes undefined_name(const char *text)
{
    static const char *const BEFORE[] = { "identifier \"", "has no member \"" };

    for (size_t i = 0; i < COUNT(BEFORE); i++) {
        const char *open = strstr(text, BEFORE[i]), *close;

        open = open ? open + strlen(BEFORE[i]) : NULL;
        close = open ? strchr(open, '"') : NULL;
        if (close)
            return (struct bytes){ open, (size_t)(close - open) };
    }
    return (struct bytes){ "", 0 };
}

/* What students write for what CUDA C has. */
static void hint_at_word(struct bytes name, struct err *err)
{
    static const char *const BUILTINS[] = { "threadIdx",       "blockIdx",  "blockDim",
                                            "gridDim",         "warpSize",  "__syncthreads",
                                            "__syncwarp",      "atomicAdd", "atomicMax",
                                            "__shfl_down_sync" };
    static const struct {
        const char *word, *hint;
    } WORDS[] = {
        { "cout", "a kernel writes with printf(\"%d\\n\", i); streams are the host's" },
        { "cerr", "a kernel writes with printf(\"%d\\n\", i); streams are the host's" },
        { "endl", "a kernel writes with printf(\"%d\\n\", i); streams are the host's" },
        { "vector", "a kernel has arrays and pointers: float v[8]; std::vector is the host's" },
        { "string", "a kernel has const char *; std::string is the host's" },
        { "syncthreads", "two underscores in front: __syncthreads()" },
    };

    for (size_t i = 0; i < COUNT(BUILTINS); i++)
        if (name.size == strlen(BUILTINS[i]) && strncasecmp(name.data, BUILTINS[i], name.size) == 0)
            err_next(err, "capitals count: %s", BUILTINS[i]);
    for (size_t i = 0; i < COUNT(WORDS); i++)
        if (bytes_equal(name, WORDS[i].word))
            err_next(err, "%s", WORDS[i].hint);
}

void cuda_hint_at_host(const struct cuda_items *items, struct err *err)
{
    struct bytes name = undefined_name(err->text);

    hint_at_word(name, err);
    for (size_t i = items->count; i > 0 && name.size > 0; i--) {
        const struct cuda_item *item = &items->list[i - 1];

        for (size_t k = 0; k < item->name_count; k++)
            if (item->kind == ITEM_HOST && bytes_equal(name, item->names[k].name)) {
                if (cuda_uses(item->text, "texture") || cuda_uses(item->text, "surface"))
                    err_next(err, "CUDA 12 removed texture references: read a buffer, or take a "
                                  "cudaTextureObject_t");
                err_next(err, "In[%d] line %d defines %s for the host: write __device__ before it",
                         item->cell, item->line, item->names[k].name);
                return;
            }
    }
}
