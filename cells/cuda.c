/*
 * A cell's definitions join the session only when they compiled. Until then they
 * stand in a second list, the session's definitions as they would be: older ones
 * of the same names left out, the new ones behind them. When the compiler agrees
 * that list becomes the session's; when it does not, the names are remembered as
 * failed, so that nobody runs an older version without noticing.
 */
#include "cells/cuda.h"

#include "cells/cuda_state.h"
#include "cells/cuda_table.h"
#include "cells/internal.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    MAX_SEGMENT = 1 << 20, /* bytes */
    MAX_ITEMS = 4096,
};

struct cuda *cuda_new(void)
{
    return calloc(1, sizeof(struct cuda));
}

/* Ends the arenas of a list that are in none of the items of `kept` (which may be NULL). */
static void free_arenas(struct cuda_items *items, const struct cuda_items *kept)
{
    for (size_t i = 0; i < items->count; i++) {
        struct arena *arena = items->list[i].arena;
        bool is_kept = false;

        for (size_t k = 0; kept && !is_kept && k < kept->count; k++)
            is_kept = kept->list[k].arena == arena;
        if (is_kept || !arena)
            continue;
        for (size_t k = i; k < items->count; k++)
            if (items->list[k].arena == arena)
                items->list[k].arena = NULL;
        arena_free(&arena);
    }
    free(items->list);
    *items = (struct cuda_items){ 0 };
}

static void forget_failed(struct cuda *cuda, const char *name)
{
    for (size_t i = 0; i < cuda->failed_count; i++) {
        if (name && strcmp(cuda->failed[i].name, name) != 0)
            continue;
        free(cuda->failed[i].name);
        cuda->failed[i--] = cuda->failed[--cuda->failed_count];
    }
}

void cuda_reset(struct cuda *cuda)
{
    free_arenas(&cuda->items, NULL);
    forget_failed(cuda, NULL);
}

static void drop_oldest_source(struct cuda *cuda)
{
    cuda->source_bytes -= cuda->sources[0].size;
    free(cuda->sources[0].text);
    memmove(cuda->sources, cuda->sources + 1, --cuda->source_count * sizeof(*cuda->sources));
}

void cuda_keep_source(struct cuda *cuda, int cell, int first_line, struct bytes text)
{
    char *copy = malloc(text.size + 1);

    if (!copy)
        return;
    memcpy(copy, text.data, text.size);
    while (cuda->source_count > 0 && (cuda->source_count == CUDA_MAX_SOURCES ||
                                      cuda->source_bytes + text.size > CUDA_SOURCES_LIMIT))
        drop_oldest_source(cuda);
    cuda->sources[cuda->source_count++] = (struct cell_source){ cell, first_line, copy, text.size };
    cuda->source_bytes += text.size;
}

void cuda_free(struct cuda **cuda)
{
    if (!*cuda)
        return;
    cuda_reset(*cuda);
    while ((*cuda)->source_count > 0)
        drop_oldest_source(*cuda);
    images_done(&(*cuda)->images);
    free(*cuda);
    *cuda = NULL;
}

struct images *cuda_images(struct cuda *cuda)
{
    return &cuda->images;
}

/* ---- a segment ---- */

static bool share_a_name(const struct cuda_item *a, const struct cuda_item *b)
{
    for (size_t i = 0; i < a->name_count; i++)
        for (size_t k = 0; k < b->name_count; k++)
            if (strcmp(a->names[i], b->names[k]) == 0)
                return true;
    return false;
}

static bool is_same_text(const struct cuda_item *a, const struct cuda_item *b)
{
    return a->text.size == b->text.size && memcmp(a->text.data, b->text.data, a->text.size) == 0;
}

/* True when the older item has no place beside a new one: same name, or the same nameless line. */
static bool is_replaced(const struct cuda_item *old, const struct cuda_items *fresh)
{
    for (size_t i = 0; i < fresh->count; i++) {
        const struct cuda_item *item = &fresh->list[i];

        if (item->kind != ITEM_PROTOTYPE && share_a_name(old, item))
            return true;
        if (old->name_count == 0 && item->name_count == 0 && is_same_text(old, item))
            return true;
    }
    return false;
}

/* The session's items as they would be: copies of rows, texts shared. */
static int merge(const struct cuda *cuda, const struct cuda_items *fresh, struct cuda_items *out,
                 struct err *err)
{
    size_t most = cuda->items.count + fresh->count;

    out->list = calloc(most + 1, sizeof(*out->list));
    if (!out->list)
        return err_set(err, ERR_ResourceError, "out of memory for the session's definitions");
    out->capacity = most + 1;
    for (size_t i = 0; i < cuda->items.count; i++)
        if (!is_replaced(&cuda->items.list[i], fresh))
            out->list[out->count++] = cuda->items.list[i];
    for (size_t i = 0; i < fresh->count; i++)
        out->list[out->count++] = fresh->list[i];
    if (out->count > MAX_ITEMS)
        return err_set(err, ERR_ResourceError, "%zu CUDA definitions: a session has at most %d",
                       out->count, MAX_ITEMS);
    return 0;
}

static void remember_failed(struct cuda *cuda, const struct cuda_items *fresh, int cell)
{
    for (size_t i = 0; i < fresh->count; i++)
        for (size_t k = 0; k < fresh->list[i].name_count; k++) {
            char *name;

            forget_failed(cuda, fresh->list[i].names[k]);
            name = cuda->failed_count < CUDA_MAX_FAILED ? strdup(fresh->list[i].names[k]) : NULL;
            if (name)
                cuda->failed[cuda->failed_count++] = (struct failed_name){ name, cell };
        }
}

static void forget_failed_of(struct cuda *cuda, const struct cuda_items *fresh)
{
    for (size_t i = 0; i < fresh->count; i++)
        for (size_t k = 0; k < fresh->list[i].name_count; k++)
            forget_failed(cuda, fresh->list[i].names[k]);
}

/* The n-th line (1-based) of a text that starts on first_line; empty when it is not there. */
static struct bytes line_of(struct bytes source, int first_line, int line)
{
    const char *at = source.data, *end = source.data + source.size, *newline;

    for (int i = first_line; i < line && at < end; i++) {
        newline = memchr(at, '\n', (size_t)(end - at));
        at = newline ? newline + 1 : end;
    }
    if (line < first_line)
        at = end;
    newline = memchr(at, '\n', (size_t)(end - at));
    return (struct bytes){ at, (size_t)((newline ? newline : end) - at) };
}

/* A macro of an earlier cell in the wrong line is worth a hint: nobody sees it there. */
static void hint_at_macro(const struct cuda_items *items, struct bytes line, int cell,
                          struct err *err)
{
    for (size_t i = 0; i < items->count; i++) {
        const struct cuda_item *item = &items->list[i];

        if (item->kind == ITEM_MACRO && item->cell != cell && item->name_count > 0 &&
            cuda_uses(line, item->names[0])) {
            err_next(err, "In[%d] defines a macro %s, which this line uses", item->cell,
                     item->names[0]);
            return;
        }
    }
}

/* Adds to a compiler's error what only the session knows. */
static void explain(const struct cuda_items *items, struct bytes source, int first_line, int cell,
                    struct err *err)
{
    char here[32];
    size_t i;

    snprintf(here, sizeof(here), "In[%d]", cell);
    if (strcmp(err->place, "cell.cu") == 0) { /* an include: they stand first, without #line */
        i = cuda_include_at(items, err->line);
        if (i < items->count) {
            snprintf(err->place, sizeof(err->place), "In[%d]", items->list[i].cell);
            err->line = items->list[i].line;
        }
    }
    if (strcmp(err->place, here) == 0)
        hint_at_macro(items, line_of(source, first_line, err->line), cell, err);
}

/* Warnings about the cell go to stdout: they did not stop it. */
static void print_warnings(const char *log, int cell, struct sink *sink)
{
    char here[32];

    snprintf(here, sizeof(here), "In[%d](", cell);
    while (*log) {
        size_t n = strcspn(log, "\n");
        const char *warning = memmem(log, n, "): warning", 10);

        if (warning && strncmp(log, here, strlen(here)) == 0)
            for (int line = 0; line < 3 && *log && n > 0; line++) { /* text, source, caret */
                sink_printf(sink, STREAM_STDOUT, "%.*s\n", (int)min_i64((int64_t)n, 2000), log);
                log += n + (log[n] == '\n');
                n = strcspn(log, "\n");
            }
        else
            log += n + (log[n] == '\n');
    }
}

static void print_skipped(const struct cuda_items *fresh, int cell, struct sink *sink)
{
    for (size_t i = 0; i < fresh->count; i++)
        if (fresh->list[i].kind == ITEM_HOST && fresh->list[i].name_count > 0)
            sink_printf(sink, STREAM_STDOUT,
                        "In[%d] line %d: %s() is host code that launches with <<< >>>, so it was "
                        "skipped.\nWrite the launch by itself at the top level: "
                        "kernel<<<grid, block>>>(arguments);\n",
                        cell, fresh->list[i].line, fresh->list[i].names[0]);
}

static bool has_code(const struct cuda_items *fresh)
{
    for (size_t i = 0; i < fresh->count; i++)
        if (fresh->list[i].kind != ITEM_HOST)
            return true;
    return false;
}

int cuda_compose_from(const struct cuda_items *items, size_t first, size_t count, struct buf *out,
                      struct err *err)
{
    bool *is_root = calloc(items->count + 1, sizeof(*is_root));
    int rc;

    if (!is_root)
        return err_set(err, ERR_ResourceError, "out of memory for a cell's source");
    for (size_t i = 0; i < count; i++)
        is_root[first + i] = true;
    rc = cuda_compose(items, is_root, out, err);
    free(is_root);
    return rc;
}

/*
 * Compiles for a device; where the compiler has no machine code for it, for compute_80, which
 * says whether the code is right and leaves the registers unknown.
 */
static int compile(struct session *session, const struct cuda_items *items, size_t first_root,
                   size_t root_count, const struct device *device, const struct image **out,
                   struct err *err)
{
    struct images *images = &session_cuda(session)->images;
    struct workers *workers = session_workers(session);
    struct buf source = { 0 };
    char arch[24];
    int rc;

    if (cuda_compose_from(items, first_root, root_count, &source, err) < 0) {
        buf_done(&source);
        return -1;
    }
    image_arch(device, arch, sizeof(arch));
    rc = image_get(images, workers, (struct bytes){ buf_text(&source), source.size },
                   arch[0] ? arch : "compute_80", false, out, err);
    buf_done(&source);
    return rc;
}

/* Puts the merged list in the place of the session's. */
static void commit(struct cuda *cuda, struct cuda_items *merged, const struct cuda_items *fresh)
{
    struct cuda_items old = cuda->items;

    forget_failed_of(cuda, fresh);
    cuda->items = *merged;
    *merged = (struct cuda_items){ 0 };
    free_arenas(&old, &cuda->items);
}

static int run_items(struct session *session, struct cuda_items *fresh, struct bytes source,
                     int first_line, struct sink *sink, struct err *err)
{
    struct cuda *cuda = session_cuda(session);
    const struct device *device = &session_device(session)->device;
    int cell = session_run_count(session);
    struct cuda_items merged = { 0 };
    const struct image *image = NULL;
    int rc;

    rc = merge(cuda, fresh, &merged, err);
    if (rc == 0 && has_code(fresh))
        rc = compile(session, &merged, merged.count - fresh->count, fresh->count, device, &image,
                     err);
    if (rc < 0 && err->name == ERR_CompileError) {
        explain(&merged, source, first_line, cell, err);
        remember_failed(cuda, fresh, cell);
    }
    if (rc == 0) {
        print_skipped(fresh, cell, sink);
        commit(cuda, &merged, fresh);
    }
    free(merged.list);
    if (rc < 0 || !image)
        return rc;
    print_warnings(image->log, cell, sink);
    return cuda_show_kernels(session, fresh, image, sink, err);
}

int cuda_run_segment(struct session *session, struct bytes source, int first_line,
                     struct sink *sink, struct err *err)
{
    struct cuda_items fresh = { 0 };
    struct arena *arena;
    bool is_kept = false;
    int rc;

    if (source.size > MAX_SEGMENT)
        return err_set(err, ERR_ResourceError, "%zu bytes of CUDA C: a cell has at most %d",
                       source.size, MAX_SEGMENT);
    arena = arena_new(0);
    if (!arena)
        return err_set(err, ERR_ResourceError, "out of memory for the cell's source");
    cuda_keep_source(session_cuda(session), session_run_count(session), first_line, source);
    rc = cuda_split(arena, source, first_line, session_run_count(session), &fresh, err);
    if (rc == 0 && fresh.count > 0)
        rc = run_items(session, &fresh, source, first_line, sink, err);
    for (size_t i = 0; i < session_cuda(session)->items.count && !is_kept; i++)
        is_kept = session_cuda(session)->items.list[i].arena == arena;
    if (!is_kept)
        arena_free(&arena);
    free(fresh.list);
    return rc;
}

/* ---- what others ask ---- */

static bool defines(const struct cuda_item *item, const char *name)
{
    for (size_t k = 0; k < item->name_count; k++)
        if (strcmp(item->names[k], name) == 0)
            return true;
    return false;
}

static void no_such_kernel(const struct cuda *cuda, const char *name, struct err *err)
{
    struct nearest nearest = { .wanted = name };

    for (size_t i = 0; i < cuda->items.count; i++)
        if (cuda->items.list[i].kind == ITEM_KERNEL && cuda->items.list[i].name_count > 0)
            nearest_try(&nearest, cuda->items.list[i].names[0]);
    if (nearest.best) {
        err_set(err, ERR_NameError, "%.100s: no kernel has this name; %s is the nearest", name,
                nearest.best);
        return;
    }
    err_set(err, ERR_NameError, "%.100s: no kernel has this name", name);
    err_next(err, "define it in a cell of CUDA C: __global__ void %.60s(...) { ... }", name);
}

const struct cuda_item *cuda_find_kernel(const struct cuda *cuda, const char *name, struct err *err)
{
    for (size_t i = 0; i < cuda->failed_count; i++)
        if (strcmp(cuda->failed[i].name, name) == 0) {
            err_set(err, ERR_NameError, "%s: its definition in In[%d] did not compile", name,
                    cuda->failed[i].cell);
            return NULL;
        }
    for (size_t i = cuda->items.count; i > 0; i--) {
        const struct cuda_item *item = &cuda->items.list[i - 1];

        if ((item->kind == ITEM_KERNEL || item->kind == ITEM_OTHER) && defines(item, name))
            return item;
    }
    no_such_kernel(cuda, name, err);
    return NULL;
}

int cuda_kernel_resources(struct session *session, const char *name, const struct device *device,
                          struct cuda_kernel *out, struct err *err)
{
    struct cuda *cuda = session_cuda(session);
    const struct cuda_item *item = cuda_find_kernel(cuda, name, err);
    const struct cuda_kernel *kernel;
    const struct image *image;
    char arch[24];

    if (!item)
        return -1;
    image_arch(device, arch, sizeof(arch));
    if (!arch[0]) {
        err_set(err, ERR_ValueError,
                "%s: the compiler makes no code below compute capability 7.5, and %s has %d.%d",
                name, device->name, device->cc_major, device->cc_minor);
        return err_next(err, "say how many registers it takes: regs=32");
    }
    if (compile(session, &cuda->items, (size_t)(item - cuda->items.list), 1, device, &image, err) <
        0)
        return -1;
    kernel = image_kernel(image, name);
    if (!kernel) {
        err_set(err, ERR_NameError, "%s is a template: it has registers only once it is used",
                name);
        return err_next(err, "say how many: regs=32, or define a kernel that is no template");
    }
    *out = *kernel;
    return 0;
}

static bool is_listed(const struct cuda_item *item)
{
    return item->kind != ITEM_HOST && item->kind != ITEM_INCLUDE && item->kind != ITEM_OPERATOR;
}

size_t cuda_name_count(const struct cuda *cuda)
{
    size_t n = 0;

    for (size_t i = 0; i < cuda->items.count; i++)
        if (is_listed(&cuda->items.list[i]))
            n += cuda->items.list[i].name_count;
    return n;
}

static enum cuda_name_kind name_kind(enum item_kind kind)
{
    switch (kind) {
    case ITEM_KERNEL:
        return CUDA_KERNEL;
    case ITEM_TYPE:
        return CUDA_TYPE;
    case ITEM_VARIABLE:
        return CUDA_VARIABLE;
    case ITEM_CONSTANT:
        return CUDA_CONSTANT;
    case ITEM_MACRO:
        return CUDA_MACRO;
    default:
        return CUDA_FUNCTION;
    }
}

struct cuda_name cuda_name_at(const struct cuda *cuda, size_t i)
{
    for (size_t k = 0; k < cuda->items.count; k++) {
        const struct cuda_item *item = &cuda->items.list[k];

        if (!is_listed(item))
            continue;
        if (i < item->name_count)
            return (struct cuda_name){ item->names[i], name_kind(item->kind),
                                       item->head ? item->head : "", item->cell };
        i -= item->name_count;
    }
    return (struct cuda_name){ "", CUDA_FUNCTION, "", 0 };
}

bool cuda_definition(const struct cuda *cuda, const char *name, struct bytes *text, int *cell,
                     int *line)
{
    for (size_t i = cuda->items.count; i > 0; i--) {
        const struct cuda_item *item = &cuda->items.list[i - 1];

        for (size_t k = 0; k < item->name_count; k++) {
            if (strcmp(item->names[k], name) != 0)
                continue;
            *text = item->text;
            *cell = item->cell;
            *line = item->line;
            return true;
        }
    }
    return false;
}

bool cuda_constant_text(const struct cuda *cuda, const char *name, struct bytes *text)
{
    for (size_t i = cuda->items.count; i > 0; i--) {
        const struct cuda_item *item = &cuda->items.list[i - 1];

        if ((item->kind == ITEM_MACRO || item->kind == ITEM_CONSTANT) && item->name_count == 1 &&
            strcmp(item->names[0], name) == 0) {
            *text = item->value;
            return item->value.size > 0;
        }
    }
    return false;
}
