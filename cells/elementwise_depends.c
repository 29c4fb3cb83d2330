/*
 * Whether an expression has a value for each element of a place, and which names make it so:
 * whole buffers, and i, j, k. x[3] and sum(x) have one value, x and x[i] have one for each
 * element, and A[2] is a row, which is gone over.
 */
#include "cells/buffer_symbol.h"
#include "cells/elementwise_internal.h"
#include "cells/internal.h"

#include <stdio.h>

bool elementwise_is_braced(const struct scope *scope, const struct expr *expr)
{
    return expr->is_grouped && expr->start < scope->lexer->source.text.size &&
           scope->lexer->source.text.data[expr->start] == '{';
}

/* Does the name mean something of the session: then it is i, j or k in braces only. */
static bool is_taken(const struct scope *scope, const char *name)
{
    struct bytes text;

    return scope->session &&
           (session_variable(scope->session, name) || buffer_find(scope->session, name) ||
            cuda_constant_text(session_cuda(scope->session), name, &text));
}

int elementwise_index(const struct scope *scope, const char *name, bool in_braces)
{
    if (!name[0] || name[1] || name[0] < 'i' || name[0] > 'k' || expr_is_local(scope, name))
        return -1;
    return in_braces || !is_taken(scope, name) ? name[0] - 'i' : -1;
}

struct buffer *elementwise_buffer(const struct scope *scope, const struct expr *expr)
{
    struct err ignored = { 0 };
    struct buffer *buffer;

    if (expr->kind != EXPR_NAME || !scope->session || expr_is_local(scope, expr->text) ||
        session_variable(scope->session, expr->text))
        return NULL;
    buffer = buffer_find(scope->session, expr->text);
    if (!buffer && symbol_find(scope->session, expr->text, &buffer, &ignored) < 0)
        buffer = NULL; /* who evaluates the name hears why */
    err_done(&ignored);
    return buffer;
}

static bool prefix(char *path, size_t size, const char *sign, const char *text, const char *end)
{
    char old[200];

    memcpy(old, path, sizeof(old));
    return (size_t)snprintf(path, size, "%s%s%s%s", sign, text, end, old) < size;
}

/* Members first, as they stand outermost; then the indexes of the buffer itself. */
bool elementwise_access(const struct scope *scope, const struct expr *expr, struct access *a)
{
    bool is_member = true;

    *a = (struct access){ .base = NULL };
    for (const struct expr *e = expr;; e = e->kids[0]) {
        if (e->kind == EXPR_FIELD && is_member) {
            if (!prefix(a->path, sizeof(a->path), ".", e->text, ""))
                return false;
        } else if (e->kind == EXPR_INDEX && e->kids[0]->kind == EXPR_FIELD && is_member) {
            char number[24];

            if (e->kids[1]->kind != EXPR_VALUE || e->kids[1]->value.type != VALUE_INT)
                return false;
            snprintf(number, sizeof(number), "%lld", (long long)e->kids[1]->value.i);
            if (!prefix(a->path, sizeof(a->path), "[", number, "]"))
                return false;
        } else if (e->kind == EXPR_INDEX) {
            is_member = false;
            if (a->count == ACCESS_INDEXES)
                return false;
            memmove(a->indexes + 1, a->indexes, a->count * sizeof(a->indexes[0]));
            a->indexes[0] = e->kids[1];
            a->count++;
        } else {
            a->base = e;
            break;
        }
    }
    if (a->base->kind == EXPR_BINARY && a->base->is_grouped && a->count)
        return elementwise_buffer(scope, a->base->kids[0]) ||
               elementwise_buffer(scope, a->base->kids[1]);
    return elementwise_buffer(scope, a->base) != NULL;
}

static bool is_whole_function(const struct expr *call)
{
    static const char *const NAMES[] = { "sum", "mean", "count", "maxerr", "close", "same" };

    for (size_t i = 0; i < COUNT(NAMES); i++)
        if (strcmp(NAMES[i], call->text) == 0)
            return true;
    return call->count == 1 && (!strcmp(call->text, "min") || !strcmp(call->text, "max"));
}

bool elementwise_is_random(const char *name)
{
    return !strcmp(name, "random") || !strcmp(name, "uniform") || !strcmp(name, "normal");
}

struct look {
    struct scope *scope;
    struct value *first; /* the first place that is gone over */
    bool has_first;
};

static bool depends(struct look *look, const struct expr *expr, bool in_braces);

static bool access_depends(struct look *look, const struct access *a, bool in_braces)
{
    struct buffer *b = elementwise_buffer(look->scope, a->base);
    bool is_varying = false;
    struct value place = { .type = VALUE_BUFFER, .buffer = { .buffer = b } };

    for (size_t i = 0; i < a->count; i++)
        is_varying |= depends(look, a->indexes[i], in_braces);
    if (!b)
        return is_varying;
    if (!b->rank) /* a device variable that is no array: a number */
        return is_varying;
    /* x[0..3] is a list; A[2] is a row, which is gone over. */
    for (size_t i = 0; i < a->count; i++)
        if (a->indexes[i]->kind == EXPR_RANGE)
            return is_varying;
    if (!is_varying && a->count >= (size_t)b->rank)
        return false;
    if (!look->has_first && look->first) {
        struct err ignored = { 0 };
        const struct expr *row = NULL;

        /* The row itself is the place, when it can be told. */
        if (!is_varying && a->count)
            row = a->indexes[a->count - 1];
        if (row) {
            struct value v = place;

            for (size_t i = 0; i < a->count; i++) {
                struct value index;
                int64_t inner = 1;

                if (expr_eval(look->scope, a->indexes[i], &index, &ignored) < 0 ||
                    index.type != VALUE_INT)
                    break;
                for (int d = (int)i + 1; d < b->rank; d++)
                    inner *= b->shape[d];
                v.buffer.offset += index.i * inner;
                v.buffer.level++;
            }
            err_done(&ignored);
            place = v;
        }
        *look->first = place;
        look->has_first = true;
    }
    return true;
}

static bool depends(struct look *look, const struct expr *expr, bool in_braces)
{
    struct access a;
    bool is = false;

    in_braces |= elementwise_is_braced(look->scope, expr);
    if (expr->kind == EXPR_NAME && elementwise_index(look->scope, expr->text, in_braces) >= 0)
        return true;
    if (elementwise_access(look->scope, expr, &a))
        return access_depends(look, &a, in_braces);
    if (expr->kind == EXPR_CALL && is_whole_function(expr))
        return false;
    if (expr->kind == EXPR_CALL && elementwise_is_random(expr->text))
        is = true;
    for (size_t i = 0; i < expr->count; i++)
        is |= depends(look, expr->kids[i], in_braces);
    return is;
}

bool elementwise_is(struct scope *scope, const struct expr *expr, struct value *first)
{
    struct look look = { .scope = scope, .first = first };

    return depends(&look, expr, false) && look.has_first;
}

bool elementwise_depends(struct scope *scope, const struct expr *expr, bool in_braces)
{
    struct look look = { .scope = scope };

    return depends(&look, expr, in_braces);
}
