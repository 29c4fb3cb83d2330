/*
 * C++ chooses among functions of one name by the types of the arguments. A launch line has
 * arguments too: buffers and numbers, whose types are known. So each kernel of the name is rated
 * by how well its parameters fit, and the best one runs.
 */
#include "cells/cuda_overload.h"

#include "cells/buffer_struct.h"
#include "cells/cuda_parameters.h"
#include "cells/internal.h"
#include "model/base/buf.h"

enum {
    MAX_OVERLOADS = 64,
    /* How well an argument fits: not at all, converted, of another sign, exactly. */
    FIT_NOT = 0,
    FIT_CONVERTED = 1,
    FIT_WIDTH = 4,
    FIT_SAME = 16,
};

/* ---- which there are ---- */

static bool is_candidate(const struct cuda_item *item, const struct item_name *n)
{
    return n->kind == ITEM_KERNEL && !n->is_specialization && item->kind != ITEM_PROTOTYPE &&
           item->inner_count == 0;
}

size_t cuda_overloads(const struct cuda *cuda, const char *name, struct kernel_found *out,
                      size_t capacity)
{
    struct kernel_found newest;
    struct err ignored = { 0 };
    size_t count = 0;

    if (cuda_find_kernel(cuda, name, &newest, &ignored) < 0) {
        err_done(&ignored);
        return 0;
    }
    for (size_t i = 0; i < cuda->items.count; i++)
        for (size_t k = 0; k < cuda->items.list[i].name_count; k++) {
            const struct cuda_item *item = &cuda->items.list[i];
            const struct item_name *n = &item->names[k];

            if (!is_candidate(item, n) || strcmp(n->name, newest.name->name) != 0 ||
                strcmp(n->scope, newest.name->scope) != 0)
                continue;
            if (count < capacity)
                out[count] = (struct kernel_found){ item, n, n->head ? n->head : item->head };
            count++;
        }
    return count;
}

/* ---- their names ---- */

/* A type without what says nothing of which kernel is meant: "const float *__restrict__". */
static void put_type(const char *type, struct buf *out)
{
    static const char promise[] = "__restrict";
    const char *at = strstr(type, promise), *rest = at ? at + sizeof(promise) - 1 : "";
    size_t n = at ? (size_t)(at - type) : strlen(type);

    while (n > 0 && type[n - 1] == ' ')
        n--;
    buf_printf(out, "%.*s%s", (int)n, type, rest + strspn(rest, "_"));
}

/* The types between a head's parentheses: "float *, int". */
static bool put_types(struct arena *arena, const char *head, struct buf *out)
{
    struct cuda_parameter *list;
    struct err ignored = { 0 };
    size_t count = 0;
    bool all_known;
    int rc = cuda_read_parameters(arena, head, &list, &count, &all_known, &ignored);

    err_done(&ignored);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        size_t stars = 0;

        for (const char *p = list[i].type; *p; p++)
            stars += *p == '*';
        buf_puts(out, i ? ", " : "");
        put_type(list[i].type, out);
        if (list[i].levels > (int)stars) /* float x[] */
            buf_puts(out, " *");
    }
    return rc == 0 && !out->is_failed;
}

const char *cuda_overload_name(struct arena *arena, const char *name, const char *head)
{
    struct buf text = { 0 };
    const char *copy = NULL;

    buf_printf(&text, "%.*s(", (int)strcspn(name, "("), name);
    if (put_types(arena, head, &text)) {
        buf_putc(&text, ')');
        copy = arena_string(arena, buf_text(&text));
    }
    buf_done(&text);
    return copy;
}

const char *cuda_overload_expression(struct arena *arena, const char *scope, const char *name)
{
    size_t n = strcspn(name, "("), from = n;

    while (from > 0 && name[from - 1] != ':')
        from--;
    return arena_printf(arena, "(void (*)%s)%s%.*s", name + n, scope, (int)(n - from), name + from);
}

bool cuda_is_overload(const char *name, const char *head)
{
    struct arena *arena = strchr(name, '(') && !strchr(name, '<') ? arena_new(0) : NULL;
    const char *own = arena ? cuda_overload_name(arena, name, head) : NULL;
    bool is_it = !own || strcmp(own, name) == 0;

    arena_free(&arena);
    return is_it;
}

/* ---- which one a launch means ---- */

static bool is_whole(enum scalar_kind kind)
{
    return kind != SCALAR_HALF && kind != SCALAR_BF16 && kind != SCALAR_FLOAT &&
           kind != SCALAR_DOUBLE && kind != SCALAR_STRUCT;
}

static int fit_of_pointer(const struct cuda_parameter *p, const char *type)
{
    struct element_type given;

    if (p->levels > 1 || strcmp(p->base, "void") == 0)
        return FIT_CONVERTED;
    if (!element_type_builtin(type, &given))
        return strcmp(p->base, type) == 0 ? FIT_SAME : FIT_NOT;
    if (given.kind == p->kind && given.lanes == p->lanes)
        return FIT_SAME;
    if (is_whole(given.kind) && is_whole(p->kind) && given.bytes == p->bytes)
        return FIT_WIDTH;
    /* float4 * takes a buffer of floats, char * any. */
    return given.kind == p->kind || p->kind == SCALAR_CHAR || p->kind == SCALAR_UCHAR
               ? FIT_CONVERTED
               : FIT_NOT;
}

static int fit_of_value(const struct cuda_parameter *p, const char *type)
{
    struct element_type given;

    if (!type || !element_type_builtin(type, &given)) /* (1, 2, 3) */
        return p->kind == SCALAR_STRUCT || p->lanes > 1 ? FIT_CONVERTED : FIT_NOT;
    if (p->lanes > 1 || p->kind == SCALAR_STRUCT)
        return FIT_NOT;
    if (given.kind == p->kind)
        return FIT_SAME;
    return is_whole(given.kind) == is_whole(p->kind) ? FIT_WIDTH
           : is_whole(given.kind)                    ? FIT_CONVERTED
                                                     : FIT_NOT;
}

struct picking {
    struct session *session;
    const char *name;
    cuda_argument_type *type_of;
    void *arg;
    size_t argument_count;
    struct arena *arena;
};

static int fit_of(const struct picking *p, const struct kernel_found *kernel,
                  const struct cuda_parameter *parameter, size_t i)
{
    const char *type;

    /* A T that the session knows nothing of becomes what the argument is. */
    if (kernel->name->is_template && parameter->kind == SCALAR_STRUCT && !parameter->bytes)
        return p->type_of(p->arg, i, parameter->is_pointer) ? FIT_SAME : FIT_NOT;
    if (!parameter->is_pointer)
        return fit_of_value(parameter, p->type_of(p->arg, i, false));
    type = p->type_of(p->arg, i, true);
    return type ? fit_of_pointer(parameter, type) : FIT_NOT;
}

/* Above 0 when every argument fits. */
static int rate(const struct picking *p, const struct kernel_found *kernel)
{
    struct cuda_parameter *list;
    struct err ignored = { 0 };
    size_t count = 0;
    bool all_known;
    int sum = 1,
        rc = cuda_read_parameters(p->arena, kernel->head, &list, &count, &all_known, &ignored);

    for (size_t i = 0; rc == 0 && i < count; i++)
        if (list[i].kind == SCALAR_STRUCT)
            rc = cuda_resolve_type(p->session, kernel, p->name, p->arena, &list[i], &ignored);
    err_done(&ignored);
    if (rc < 0 || count != p->argument_count)
        return 0;
    for (size_t i = 0; i < count; i++) {
        int fit = fit_of(p, kernel, &list[i], i);

        if (fit == FIT_NOT)
            return 0;
        sum += fit;
    }
    /* As in C++, a template stands back when something else fits as well. */
    return sum * 2 + !kernel->name->is_template;
}

/* "k(float *) and k(int *)" */
static void put_list(struct arena *arena, const char *name, const struct kernel_found *list,
                     size_t count, struct buf *out)
{
    for (size_t i = 0; i < count; i++) {
        const char *text = cuda_overload_name(arena, name, list[i].head);

        buf_printf(out, "%s%s", i == 0 ? "" : i + 1 == count ? " and " : ", ", text ? text : name);
    }
}

static int refuse(struct arena *arena, const char *name, const struct kernel_found *list,
                  size_t count, const char *why, struct err *err)
{
    struct buf text = { 0 };

    put_list(arena, name, list, count, &text);
    err_set(err, ERR_UsageError, "%.100s: %s: %.300s", name, why, buf_text(&text));
    buf_done(&text);
    return -1;
}

int cuda_refuse_overloaded(const struct cuda *cuda, const char *name, struct err *err)
{
    struct kernel_found list[MAX_OVERLOADS];
    size_t count = cuda_overloads(cuda, name, list, MAX_OVERLOADS);
    struct arena *arena = arena_new(0);

    if (!arena)
        return err_set(err, ERR_ResourceError, "out of memory for a kernel");
    refuse(arena, name, list, (size_t)min_i64((int64_t)count, MAX_OVERLOADS),
           "several kernels have this name", err);
    err_next(err, "say which, with its types: \"%.200s\"",
             cuda_overload_name(arena, name, list[0].head));
    arena_free(&arena);
    return -1;
}

int cuda_pick_overload(struct session *session, const char *name, cuda_argument_type *type_of,
                       void *arg, size_t argument_count, struct arena *arena, const char **out,
                       struct err *err)
{
    struct picking p = { session, name, type_of, arg, argument_count, arena };
    struct kernel_found list[MAX_OVERLOADS];
    size_t best = 0, count = cuda_overloads(session_cuda(session), name, list, MAX_OVERLOADS);
    int best_sum = 0;
    bool is_tie = false;

    *out = NULL;
    if (count < 2 || strpbrk(name, "<("))
        return 0;
    count = (size_t)min_i64((int64_t)count, MAX_OVERLOADS);
    for (size_t i = 0; i < count; i++) {
        int sum = rate(&p, &list[i]);

        is_tie = sum == best_sum || (is_tie && sum < best_sum);
        if (sum > best_sum) {
            best_sum = sum;
            best = i;
        }
    }
    if (!best_sum || is_tie)
        return refuse(arena, name, list, count,
                      best_sum ? "more than one kernel of the name fits these arguments"
                               : "no kernel of the name fits these arguments",
                      err);
    *out = cuda_overload_name(arena, name, list[best].head);
    return *out ? 0 : err_set(err, ERR_ResourceError, "out of memory for a kernel");
}
