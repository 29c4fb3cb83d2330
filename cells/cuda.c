/*
 * A cell's definitions join the session only when they compiled. Until then they
 * stand in a second list, the session's definitions as they would be: older ones
 * of the same names left out, the new ones behind them. When the compiler agrees
 * that list becomes the session's; when it does not, the names are remembered as
 * failed, so that nobody runs an older version without noticing.
 */
#include "cells/cuda.h"

#include "cells/cuda_headers.h"
#include "cells/cuda_host.h"
#include "cells/cuda_macro.h"
#include "cells/cuda_state.h"
#include "cells/cuda_table.h"
#include "cells/internal.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    MAX_SEGMENT = 1 << 20, /* bytes */
    MAX_ITEMS = 1 << 14,
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

        if (!arena)
            continue;
        for (size_t k = 0; kept && !is_kept && k < kept->count; k++)
            is_kept = kept->list[k].arena == arena;
        for (size_t k = i; k < items->count; k++)
            if (items->list[k].arena == arena)
                items->list[k].arena = NULL;
        if (!is_kept)
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

void cuda_free(struct cuda **cuda)
{
    if (!*cuda)
        return;
    cuda_reset(*cuda);
    cuda_drop_sources(*cuda);
    images_done(&(*cuda)->images);
    free(*cuda);
    *cuda = NULL;
}

struct images *cuda_images(struct cuda *cuda)
{
    return &cuda->images;
}

const struct cuda_options *cuda_set_options(struct cuda *cuda, const struct cuda_options *options)
{
    const struct cuda_options *old = cuda->options;

    cuda->options = options;
    return old;
}

/* ---- the session's list ---- */

static bool is_same_name(const struct cuda_item *a, const struct item_name *x,
                         const struct cuda_item *b, const struct item_name *y)
{
    if (x->hash != y->hash || strcmp(x->name, y->name) != 0 || strcmp(x->scope, y->scope) != 0)
        return false;
    /* template <> f<int>: beside its template, and beside others of its sort. */
    return x->is_specialization || y->is_specialization
               ? x->is_specialization && y->is_specialization && strcmp(a->head, b->head) == 0
               : true;
}

static bool share_a_name(const struct cuda_item *a, const struct cuda_item *b)
{
    for (size_t i = 0; i < a->name_count; i++)
        for (size_t k = 0; k < b->name_count; k++)
            if (is_same_name(a, &a->names[i], b, &b->names[k]))
                return true;
    return false;
}

static bool is_same_text(const struct cuda_item *a, const struct cuda_item *b)
{
    return a->text.size == b->text.size && strcmp(a->open, b->open) == 0 &&
           memcmp(a->text.data, b->text.data, a->text.size) == 0;
}

/* True when the older item has no place beside a new one: same name, or the same nameless line. */
static bool is_replaced(const struct cuda_item *old, const struct cuda_items *fresh)
{
    for (size_t i = 0; i < fresh->count; i++) {
        const struct cuda_item *item = &fresh->list[i];

        /* `bench k<<<1, 32>>>(x)` without its sign reads as code of the host, and k stays. */
        if (item->kind == ITEM_HOST && old->kind == ITEM_KERNEL)
            continue;
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

/* A line that was meant as a launch and lost a sign defines nothing: the kernel stays. */
static bool is_stray(const struct cuda *cuda, const struct item_name *fresh)
{
    if (fresh->kind == ITEM_KERNEL || fresh->kind == ITEM_FUNCTION || fresh->kind == ITEM_TYPE)
        return false;
    for (size_t i = 0; i < cuda->items.count; i++)
        for (size_t k = 0; k < cuda->items.list[i].name_count; k++)
            if (cuda->items.list[i].names[k].kind == ITEM_KERNEL &&
                strcmp(cuda->items.list[i].names[k].name, fresh->name) == 0)
                return true;
    return false;
}

static void remember_failed(struct cuda *cuda, const struct cuda_items *fresh, int cell)
{
    for (size_t i = 0; i < fresh->count; i++)
        for (size_t k = 0; k < fresh->list[i].name_count; k++) {
            char *name;

            if (is_stray(cuda, &fresh->list[i].names[k]))
                continue;

            forget_failed(cuda, fresh->list[i].names[k].name);
            name =
                cuda->failed_count < CUDA_MAX_FAILED ? strdup(fresh->list[i].names[k].name) : NULL;
            if (name)
                cuda->failed[cuda->failed_count++] = (struct failed_name){ name, cell };
        }
}

/* Puts the merged list in the place of the session's. */
static void commit(struct cuda *cuda, struct cuda_items *merged, const struct cuda_items *fresh)
{
    struct cuda_items old = cuda->items;

    for (size_t i = 0; i < fresh->count; i++)
        for (size_t k = 0; k < fresh->list[i].name_count; k++)
            forget_failed(cuda, fresh->list[i].names[k].name);
    cuda->items = *merged;
    *merged = (struct cuda_items){ 0 };
    free_arenas(&old, &cuda->items);
}

/* A device variable that was defined again starts with the value of its new declaration. */
static void forget_values(struct session *session, const struct cuda_items *fresh)
{
    char how[48];

    snprintf(how, sizeof(how), "defined again in In[%d]", session_run_count(session));
    for (size_t i = 0; i < fresh->count; i++)
        for (size_t k = 0; k < fresh->list[i].name_count; k++) {
            struct buffer *b = fresh->list[i].names[k].kind == ITEM_VARIABLE
                                   ? buffer_find_symbol(session, fresh->list[i].names[k].name)
                                   : NULL;

            if (b)
                buffer_drop(session, b, how);
        }
}

/* ---- a segment ---- */

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

/* CUDA 9 put masks into the exchange between lanes; what was removed for them still runs here. */
static void print_legacy(const struct buf *composed, int cell, struct sink *sink)
{
    if (strstr(buf_text(composed), CUDA_LEGACY_WARP))
        sink_printf(
            sink, STREAM_STDOUT,
            "In[%d]: __shfl, __any and their like are gone from CUDA. Here they run among the\n"
            "lanes that are active; write __shfl_sync(mask, ...), __any_sync(mask, ...).\n",
            cell);
}

/* These bring cuda_fp16.h and cuda_bf16.h along in nvcc, too. */
static bool brings_halves(const struct cuda_item *item)
{
    static const char *const HEADERS[] = { "mma.h", "cuda_fp8.h", "cublas_v2.h" };
    struct bytes name = cuda_header_name(item->text);

    for (size_t i = 0; i < COUNT(HEADERS); i++)
        if (item->text.size > 0 && item->text.data[0] == '#' && bytes_equal(name, HEADERS[i]))
            return true;
    return false;
}

/* A kernel that was pasted without the head of its file gets CUDA's headers by its words. */
static void print_lent(const struct cuda_items *items, const struct buf *composed, int cell,
                       struct sink *sink)
{
    const char *include;

    for (size_t i = 0; (include = cuda_implied_include(i)); i++) {
        bool is_own = !cuda_implied_is_lent(i) || !strstr(buf_text(composed), include);

        for (size_t k = 0; k < items->count && !is_own; k++)
            is_own = cuda_includes(&items->list[k], cuda_header_name(bytes_of(include))) ||
                     brings_halves(&items->list[k]);
        if (!is_own)
            sink_printf(sink, STREAM_STDOUT, "In[%d]: added %s, which nvcc wants written.\n", cell,
                        include);
    }
}

static bool has_code(const struct cuda_items *fresh)
{
    for (size_t i = 0; i < fresh->count; i++)
        if (fresh->list[i].kind != ITEM_HOST)
            return true;
    return false;
}

/*
 * Compiles the fresh items for a device; where the compiler has no machine code for it, to PTX,
 * which says whether the code is right and leaves the registers unknown. composed: the text.
 */
static int compile_once(struct session *session, const struct cuda_items *merged,
                        struct buf *composed, const struct image **out, struct err *err)
{
    const struct cuda_item *last = &merged->list[merged->count - 1];
    const struct cuda_options *options = last->options;
    struct image_request request = { .options = options ? options->compiler : NULL };
    struct cuda_target target;
    char written[24];

    buf_cut(composed, 0);
    if (cuda_compose_item(merged, last, WITH_SEGMENT, NULL, composed, err) < 0)
        return -1;
    request.source = (struct bytes){ buf_text(composed), composed->size };
    cuda_target_of(&session_device(session)->device, options, request.source, &target);
    request.arch = target.machine[0] ? target.machine : target.ptx;
    if (!session_device(session)->is_gpu)
        request.written_arch = cuda_written_arch(&target, written, sizeof(written));
    return image_of(&session_cuda(session)->images, session_workers(session), &request, out, err);
}

/* The same, without what turns out to be the host's alone. */
static int compile(struct session *session, struct cuda_items *merged, struct cuda_items *fresh,
                   struct buf *composed, const struct image **out, struct err *err)
{
    for (;;) {
        struct err failed = { 0 };
        int given = 0;

        if (compile_once(session, merged, composed, out, &failed) == 0)
            return 0;
        if (failed.name == ERR_CompileError && failed.detail)
            given = cuda_leave_out_missing(merged, fresh, failed.detail);
        if (failed.name == ERR_CompileError && failed.detail && given == 0)
            given = cuda_give_up_host(merged, fresh, failed.detail, err);
        if (given <= 0) {
            if (given == 0)
                *err = failed;
            return -1;
        }
        err_done(&failed);
    }
}

static int run_items(struct session *session, struct cuda_items *fresh, struct bytes source,
                     int first_line, struct sink *sink, struct err *err)
{
    struct cuda *cuda = session_cuda(session);
    int cell = session_run_count(session);
    struct cuda_items merged = { 0 };
    const struct image *image = NULL;
    struct buf composed = { 0 };
    int rc;

    rc = merge(cuda, fresh, &merged, err);
    if (rc == 0 && has_code(fresh))
        rc = compile(session, &merged, fresh, &composed, &image, err);
    if (rc < 0 && err->name == ERR_CompileError) {
        cuda_explain(&merged, (struct bytes){ buf_text(&composed), composed.size }, cell, source,
                     first_line, err);
        remember_failed(cuda, fresh, cell);
    }
    if (rc == 0) {
        cuda_print_host(fresh, cell, sink);
        print_legacy(&composed, cell, sink);
        print_lent(&merged, &composed, cell, sink);
        forget_values(session, fresh);
        commit(cuda, &merged, fresh);
    }
    buf_done(&composed);
    free(merged.list);
    if (rc < 0 || !image)
        return rc;
    print_warnings(image->log, cell, sink);
    return cuda_show_kernels(session, fresh, image, sink, err);
}

/* The options of %%kernel, kept as long as what they are for. NULL: none, or out of memory. */
static const struct cuda_options *copy_options(struct arena *arena,
                                               const struct cuda_options *options)
{
    struct cuda_options *copy = options ? arena_alloc(arena, sizeof(*copy)) : NULL;

    if (!copy)
        return NULL;
    *copy = *options;
    copy->compiler = arena_string(arena, options->compiler);
    copy->arch = arena_string(arena, options->arch);
    return copy->compiler && copy->arch ? copy : NULL;
}

static int split(struct cuda *cuda, struct arena *arena, struct bytes source, int first_line,
                 int cell, struct cuda_items *fresh, struct err *err)
{
    const struct cuda_options *options = copy_options(arena, cuda->options);

    if (cuda->options && !options)
        return err_set(err, ERR_ResourceError, "out of memory for the cell's options");
    if (cuda_split(arena, source, first_line, cell, fresh, err) < 0)
        return -1;
    cuda->segments++;
    for (size_t i = 0; i < fresh->count; i++) {
        fresh->list[i].options = options;
        fresh->list[i].segment = cuda->segments;
    }
    if (cuda_expand_calls(cuda, fresh, err) == 0 && cuda_mark_host(cuda, fresh, err) == 0)
        return 0;
    remember_failed(cuda, fresh, cell);
    return -1;
}

int cuda_run_segment(struct session *session, struct bytes source, int first_line,
                     struct sink *sink, struct err *err)
{
    struct cuda *cuda = session_cuda(session);
    int cell = session_run_count(session);
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
    cuda_keep_source(cuda, cell, first_line, source);
    rc = split(cuda, arena, source, first_line, cell, &fresh, err);
    if (rc == 0 && fresh.count > 0)
        rc = run_items(session, &fresh, source, first_line, sink, err);
    for (size_t i = 0; i < cuda->items.count && !is_kept; i++)
        is_kept = cuda->items.list[i].arena == arena;
    if (!is_kept)
        arena_free(&arena);
    free(fresh.list);
    return rc;
}
