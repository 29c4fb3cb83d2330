/*
 * What the session's definitions are called, for everyone who asks by name; the
 * texts of its cells as they were run; and what an error of the compiler's has to
 * do with cells that its reader cannot see.
 */
#include "cells/cuda_condition.h"
#include "cells/cuda_host.h"
#include "cells/cuda_overload.h"
#include "cells/cuda_scan.h"
#include "cells/cuda_state.h"
#include "cells/internal.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- kernels ---- */

/* Where the template's arguments or the types of an overload begin. */
static size_t name_size(const char *name)
{
    size_t n = strcspn(name, "<(");

    while (n > 0 && name[n - 1] == ' ')
        n--;
    return n;
}

static struct bytes base_of(const char *name)
{
    size_t n = name_size(name), start = n;

    while (start > 0 && name[start - 1] != ':')
        start--;
    return (struct bytes){ name + start, n - start };
}

void cuda_base_name(const char *name, struct buf *out)
{
    struct bytes base = base_of(name);

    buf_put(out, base.data, base.size);
}

static bool is_failed(const struct cuda *cuda, struct bytes name, int *cell)
{
    for (size_t i = 0; i < cuda->failed_count; i++)
        if (bytes_equal(name, cuda->failed[i].name)) {
            *cell = cuda->failed[i].cell;
            return true;
        }
    return false;
}

static int no_such_kernel(const struct cuda *cuda, const char *name, struct err *err)
{
    struct nearest nearest = { .wanted = name };

    for (size_t i = 0; i < cuda->items.count; i++)
        for (size_t k = 0; k < cuda->items.list[i].name_count; k++) {
            const struct item_name *n = &cuda->items.list[i].names[k];

            if (n->kind == ITEM_KERNEL)
                nearest_try(&nearest, n->name);
            if (strcmp(n->name, name) == 0 && cuda_is_lost_kernel(&cuda->items.list[i]))
                err_next(err, "In[%d] left it out: it launches kernels itself",
                         cuda->items.list[i].cell);
            else if (strcmp(n->name, name) == 0 && n->kind == ITEM_HOST)
                err_next(err, "In[%d] defines it as host code, without __global__",
                         cuda->items.list[i].cell);
            else if (strcmp(n->name, name) == 0 && n->kind == ITEM_FUNCTION)
                err_next(err,
                         "In[%d] defines it as a __device__ function: only kernels are "
                         "launched",
                         cuda->items.list[i].cell);
        }
    if (nearest.best)
        return err_set(err, ERR_NameError, "%.100s: no kernel has this name; %s is the nearest",
                       name, nearest.best);
    err_set(err, ERR_NameError, "%.100s: no kernel has this name", name);
    return err_next(err, "define it in a cell of CUDA C: __global__ void %.60s(...) { ... }", name);
}

/* "m::" before the name matches the scope "a::m::"; nothing matches every scope. */
static bool is_in_scope(const struct item_name *n, const char *name, struct bytes base)
{
    size_t wanted = (size_t)(base.data - name), has = strlen(n->scope);

    if (wanted >= 2 && strncmp(name, "::", 2) == 0) {
        name += 2;
        wanted -= 2;
    }
    return wanted <= has && memcmp(n->scope + has - wanted, name, wanted) == 0;
}

/*
 * A specialization stands behind its template, a plain kernel behind a template for k<float>, and
 * m::k behind k where just k is asked for.
 */
static bool is_second_choice(const struct item_name *n, const char *name, struct bytes base)
{
    size_t written = (size_t)(base.data - name) - (strncmp(name, "::", 2) == 0 ? 2 : 0);

    return n->is_specialization || (strchr(name, '<') && !n->is_template) ||
           strlen(n->scope) != written;
}

int cuda_find_kernel(const struct cuda *cuda, const char *name, struct kernel_found *out,
                     struct err *err)
{
    struct bytes base = base_of(name);
    int cell;

    if (is_failed(cuda, base, &cell))
        return err_set(err, ERR_NameError, "%.100s: its definition in In[%d] did not compile", name,
                       cell);
    *out = (struct kernel_found){ NULL, NULL, NULL };
    for (size_t i = cuda->items.count; i > 0; i--) {
        const struct cuda_item *item = &cuda->items.list[i - 1];

        for (size_t k = 0; k < item->name_count; k++) {
            const struct item_name *n = &item->names[k];

            if (n->kind != ITEM_KERNEL || !bytes_equal(base, n->name) ||
                !is_in_scope(n, name, base) || (out->item && is_second_choice(n, name, base)))
                continue;
            if (out->item && !is_second_choice(out->name, name, base))
                continue;
            if (!cuda_is_overload(name, n->head ? n->head : item->head))
                continue;
            *out = (struct kernel_found){ item, n, n->head ? n->head : item->head };
        }
    }
    return out->item ? 0 : no_such_kernel(cuda, name, err);
}

/* ---- every name ---- */

static bool is_listed(const struct item_name *n)
{
    return n->kind != ITEM_HOST && n->kind != ITEM_INCLUDE && n->kind != ITEM_OPERATOR &&
           n->kind != ITEM_UNDEF && !n->is_specialization;
}

size_t cuda_name_count(const struct cuda *cuda)
{
    size_t n = 0;

    for (size_t i = 0; i < cuda->items.count; i++)
        for (size_t k = 0; k < cuda->items.list[i].name_count; k++)
            n += is_listed(&cuda->items.list[i].names[k]);
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

        for (size_t m = 0; m < item->name_count; m++) {
            const struct item_name *n = &item->names[m];

            if (!is_listed(n) || i-- > 0)
                continue;
            return (struct cuda_name){ n->name, name_kind(n->kind),
                                       n->head      ? n->head
                                       : item->head ? item->head
                                                    : "",
                                       item->cell };
        }
    }
    return (struct cuda_name){ "", CUDA_FUNCTION, "", 0 };
}

bool cuda_definition(const struct cuda *cuda, const char *name, struct bytes *text, int *cell,
                     int *line)
{
    for (size_t i = cuda->items.count; i > 0; i--) {
        const struct cuda_item *item = &cuda->items.list[i - 1];

        for (size_t k = 0; k < item->name_count; k++) {
            if (strcmp(item->names[k].name, name) != 0 || item->kind == ITEM_PROTOTYPE)
                continue;
            item = cuda_active_item(cuda, item, name, NULL);
            if (!item)
                break;
            *text = item->text;
            *cell = item->cell;
            *line = item->line;
            return true;
        }
    }
    return false;
}

/* What stands behind `name =` in `const int n = 1000, block = 256;`. */
static bool declared_value(const struct cuda_item *item, const char *name, struct bytes *value)
{
    struct scanner s = { item->text.data, item->text.data + item->text.size, true };
    struct scan_token t, before = { SCAN_END, { "", 0 } };
    const char *from = NULL;
    int depth = 0;

    while ((t = scan_next(&s)).kind != SCAN_END) {
        depth += scan_is_sign(t, '(') + scan_is_sign(t, '{') - scan_is_sign(t, ')') -
                 scan_is_sign(t, '}');
        if (!from && scan_is_sign(t, '=') && scan_is_word(before, name))
            from = s.at;
        if (from && depth == 0 && (scan_is_sign(t, ',') || scan_is_sign(t, ';'))) {
            *value = scan_trimmed((struct bytes){ from, (size_t)(t.text.data - from) });
            return value->size > 0;
        }
        before = t;
    }
    return false;
}

/* The value of one of several constants that stand in one declaration. */
static bool one_of_several(const struct cuda_item *item, const char *name, struct bytes *value)
{
    if (item->kind != ITEM_CONSTANT && !(item->kind == ITEM_HOST && cuda_uses(item->text, "const")))
        return false;
    for (size_t k = 0; k < item->name_count && item->name_count > 1; k++)
        if (strcmp(item->names[k].name, name) == 0)
            return declared_value(item, name, value);
    return false;
}

bool cuda_constant_text(const struct cuda *cuda, const char *name, struct bytes *text)
{
    for (size_t i = cuda->items.count; i > 0; i--) {
        const struct cuda_item *item = &cuda->items.list[i - 1];

        if (item->inner_count > 0)
            item = cuda_active_item(cuda, item, name, NULL);
        if (item &&
            (item->kind == ITEM_MACRO || item->kind == ITEM_CONSTANT || item->kind == ITEM_UNDEF ||
             item->kind == ITEM_HOST) &&
            item->name_count == 1 && strcmp(item->names[0].name, name) == 0) {
            *text = item->value;
            return item->value.size > 0;
        }
        if (item && one_of_several(item, name, text))
            return true;
    }
    return false;
}

/* ---- texts of cells ---- */

static void drop_oldest_source(struct cuda *cuda)
{
    cuda->source_bytes -= cuda->sources[0].size;
    free(cuda->sources[0].text);
    memmove(cuda->sources, cuda->sources + 1, --cuda->source_count * sizeof(*cuda->sources));
}

void cuda_drop_sources(struct cuda *cuda)
{
    while (cuda->source_count > 0)
        drop_oldest_source(cuda);
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

/* The line-th line of a text that starts at line `first`; false when it ends before. */
static bool line_at(const struct cell_source *s, int line, struct bytes *out)
{
    const char *at = s->text, *end = s->text + s->size;

    for (int i = s->first_line; i < line; i++) {
        at = memchr(at, '\n', (size_t)(end - at));
        if (!at)
            return false;
        at++;
    }
    out->data = at;
    at = memchr(at, '\n', (size_t)(end - at));
    out->size = (size_t)((at ? at : end) - out->data);
    if (out->size > 0 && out->data[out->size - 1] == '\r')
        out->size--;
    return true;
}

bool cuda_source_line(struct session *session, int cell, int line, struct bytes *out)
{
    const struct cuda *cuda = session_cuda(session);

    for (size_t i = cuda->source_count; i > 0; i--) {
        const struct cell_source *s = &cuda->sources[i - 1];

        if (s->cell == cell && line >= s->first_line)
            return line_at(s, line, out);
    }
    return false;
}

/* ---- errors ---- */

/* A macro of an earlier cell in the wrong line is worth a hint: nobody sees it there. */
static void hint_at_macro(const struct cuda_items *items, struct bytes line, int cell,
                          struct err *err)
{
    for (size_t i = 0; i < items->count; i++) {
        const struct cuda_item *item = &items->list[i];

        if (item->kind == ITEM_MACRO && item->cell != cell && item->name_count > 0 &&
            cuda_uses(line, item->names[0].name)) {
            err_next(err, "In[%d] defines a macro %s, which this line uses", item->cell,
                     item->names[0].name);
            return;
        }
    }
}

void cuda_explain(const struct cuda_items *items, struct bytes composed, int cell,
                  struct bytes source, int first_line, struct err *err)
{
    struct cell_source text = { cell, first_line, (char *)(uintptr_t)source.data, source.size };
    struct bytes line;
    char here[32];
    size_t i;

    snprintf(here, sizeof(here), "In[%d]", cell);
    if (strcmp(err->place, "cell.cu") == 0) { /* an include: they stand first, without #line */
        i = cuda_include_at(items, composed, err->line);
        if (i < items->count) {
            snprintf(err->place, sizeof(err->place), "In[%d]", items->list[i].cell);
            err->line = items->list[i].line;
        }
    }
    cuda_hint_at_host(items, err);
    cuda_hint_at_missing(items, cell, err);
    if (strcmp(err->place, here) == 0 && err->line >= first_line &&
        line_at(&text, err->line, &line))
        hint_at_macro(items, line, cell, err);
}
