/*
 * Places in buffers. All indexes of A[2][0..3] are applied together, because a
 * range in the middle keeps its dimension: the result is the block of the matrix,
 * as nested lists, that a reader expects.
 */
#include "cells/buffer_value.h"

#include "cells/buffer_number.h"
#include "cells/buffer_symbol.h"
#include "cells/internal.h"

#include <stdio.h>

const struct element_type *buffer_value_type(const struct value *v)
{
    return v->buffer.type ? v->buffer.type : &v->buffer.buffer->type;
}

int buffer_value_shape(const struct value *v, int64_t *shape)
{
    const struct buffer *b = v->buffer.buffer;
    int rank = 0;

    if (v->buffer.level < 0) {
        shape[0] = b->count - v->buffer.offset;
        return 1;
    }
    for (int i = v->buffer.level; i < b->rank; i++)
        shape[rank++] = b->shape[i];
    return rank;
}

int64_t buffer_value_elements(const struct value *v)
{
    int64_t shape[BUFFER_RANK_MAX], n = 1;
    int rank = buffer_value_shape(v, shape);

    for (int i = 0; i < rank; i++)
        n *= shape[i];
    return n;
}

size_t buffer_value_offset(const struct value *v, int64_t i)
{
    return (size_t)(v->buffer.offset + i) * v->buffer.buffer->type.bytes + v->buffer.inner;
}

/* ---- the numbers of an element ---- */

struct leaf_list {
    struct arena *arena;
    struct leaf *leaves;
    size_t count;
};

static int add_leaves(struct leaf_list *list, const char *path, const struct element_type *type,
                      size_t offset, struct err *err);

static int add_leaf(struct leaf_list *list, const char *path, enum scalar_kind kind, size_t offset,
                    struct err *err)
{
    if (list->count == LEAVES_MAX)
        return err_set(err, ERR_UnsupportedError, "an element of more than %d numbers", LEAVES_MAX);
    list->leaves[list->count++] = (struct leaf){ path, kind, offset };
    return 0;
}

static int add_member(struct leaf_list *list, const char *path, const struct struct_member *m,
                      size_t offset, struct err *err)
{
    for (int64_t i = 0; i < m->count; i++) {
        const char *index = m->rank ? buffer_index_text(list->arena, m->rank, m->shape, i) : "";
        const char *name = arena_printf(list->arena, "%s.%s%s", path, m->name, index);

        if (!name)
            return err_set(err, ERR_ResourceError, "out of memory");
        if (add_leaves(list, name, &m->type, offset + m->offset + (size_t)i * m->type.bytes, err) <
            0)
            return -1;
    }
    return 0;
}

static int add_leaves(struct leaf_list *list, const char *path, const struct element_type *type,
                      size_t offset, struct err *err)
{
    static const char *const LANES[] = { "x", "y", "z", "w" };

    if (type->layout) {
        for (size_t i = 0; i < type->layout->count; i++)
            if (add_member(list, path, &type->layout->members[i], offset, err) < 0)
                return -1;
        return 0;
    }
    if (type->lanes == 1)
        return add_leaf(list, path, type->kind, offset, err);
    for (int i = 0; i < type->lanes; i++) {
        const char *name = arena_printf(list->arena, "%s.%s", path, LANES[i]);

        if (!name)
            return err_set(err, ERR_ResourceError, "out of memory");
        if (add_leaf(list, name, type->kind, offset + (size_t)i * scalar_bytes(type->kind), err) <
            0)
            return -1;
    }
    return 0;
}

int element_leaves(struct arena *arena, const struct element_type *type, const struct leaf **out,
                   size_t *count, struct err *err)
{
    struct leaf_list list = { .arena = arena };

    list.leaves = arena_array(arena, LEAVES_MAX, sizeof(*list.leaves));
    if (!list.leaves)
        return err_set(err, ERR_ResourceError, "out of memory");
    if (add_leaves(&list, "", type, 0, err) < 0)
        return -1;
    *out = list.leaves;
    *count = list.count;
    return 0;
}

static struct value number_at(const struct buffer *buffer, size_t offset, enum scalar_kind kind)
{
    if (!buffer_is_defined(buffer, offset, scalar_bytes(kind)))
        return (struct value){ .type = VALUE_UNWRITTEN };
    return scalar_value(kind, (const char *)buffer->data + offset);
}

struct value buffer_leaf_value(const struct value *v, int64_t i, const struct leaf *leaf)
{
    return number_at(v->buffer.buffer, buffer_value_offset(v, i) + leaf->offset, leaf->kind);
}

/* ---- names and texts ---- */

const char *buffer_index_text(struct arena *arena, int rank, const int64_t *shape, int64_t i)
{
    int64_t at[BUFFER_RANK_MAX] = { 0 };
    char text[80] = "";
    size_t n = 0;
    const char *copy;

    for (int d = rank - 1; d >= 0; d--) {
        at[d] = d ? i % shape[d] : i;
        i /= shape[d];
    }
    for (int d = 0; d < rank; d++)
        n += (size_t)snprintf(text + n, sizeof(text) - n, "[%lld]", (long long)at[d]);
    copy = arena_copy(arena, text, n);
    return copy ? copy : "";
}

static void put_name(const struct value *v, char *out, size_t size)
{
    const struct buffer *b = v->buffer.buffer;
    int64_t rest = v->buffer.offset, unit = b->count;
    size_t n = (size_t)snprintf(out, size, "%.60s", b->name);

    if (v->buffer.level < 0 && v->buffer.offset)
        snprintf(out + n, size - n, " + %lld", (long long)v->buffer.offset);
    for (int d = 0; d < v->buffer.level; d++) {
        unit /= b->shape[d];
        n += (size_t)snprintf(out + n, size - n, "[%lld]", (long long)(rest / unit));
        rest %= unit;
    }
}

const char *buffer_value_name(struct arena *arena, const struct value *v)
{
    char text[160];
    const char *copy;

    put_name(v, text, sizeof(text));
    copy = arena_string(arena, text);
    return copy ? copy : v->buffer.buffer->name;
}

json_t *buffer_value_name_json(const struct value *v)
{
    char text[160];

    put_name(v, text, sizeof(text));
    return json_string(text);
}

static void put_number(struct buf *out, const struct buffer *buffer, size_t offset,
                       enum scalar_kind kind)
{
    char text[64] = "never written";

    if (buffer_is_defined(buffer, offset, scalar_bytes(kind)))
        scalar_text(kind, (const char *)buffer->data + offset, text, sizeof(text));
    buf_puts(out, text);
}

static void put_element(struct buf *out, const struct buffer *buffer, size_t offset,
                        const struct element_type *type)
{
    if (type->layout) {
        buf_putc(out, '{');
        for (size_t i = 0; i < type->layout->count; i++) {
            const struct struct_member *m = &type->layout->members[i];

            buf_printf(out, "%s%s: %s", i ? ", " : "", m->name, m->rank ? "[" : "");
            for (int64_t k = 0; k < m->count && k < 16; k++) {
                buf_puts(out, k ? ", " : "");
                put_element(out, buffer, offset + m->offset + (size_t)k * m->type.bytes, &m->type);
            }
            buf_puts(out, m->rank && m->count > 16 ? ", ...]" : m->rank ? "]" : "");
        }
        buf_putc(out, '}');
        return;
    }
    if (type->lanes > 1)
        buf_putc(out, '(');
    for (int i = 0; i < type->lanes; i++) {
        buf_puts(out, i ? ", " : "");
        put_number(out, buffer, offset + (size_t)i * scalar_bytes(type->kind), type->kind);
    }
    if (type->lanes > 1)
        buf_putc(out, ')');
}

static void put_dimension(struct buf *out, const struct value *v, int rank, const int64_t *shape,
                          int64_t first, size_t *left)
{
    int64_t inner = 1;

    if (rank == 0) {
        put_element(out, v->buffer.buffer, buffer_value_offset(v, first), buffer_value_type(v));
        *left -= *left > 0;
        return;
    }
    for (int d = 1; d < rank; d++)
        inner *= shape[d];
    buf_putc(out, '[');
    for (int64_t i = 0; i < shape[0]; i++) {
        if (!*left) {
            buf_printf(out, "%s... %lld more", i ? ", " : "", (long long)(shape[0] - i));
            break;
        }
        buf_puts(out, i ? ", " : "");
        put_dimension(out, v, rank - 1, shape + 1, first + i * inner, left);
    }
    buf_putc(out, ']');
}

void buffer_value_put(struct buf *out, const struct value *v, size_t most)
{
    int64_t shape[BUFFER_RANK_MAX];
    int rank = buffer_value_shape(v, shape);

    put_dimension(out, v, rank, shape, 0, &most);
}

/* ---- indexes ---- */

enum { CHAIN_MAX = 8 };

/* The number, or the place, that no dimension is left of. */
static struct value element_value(const struct value *v)
{
    const struct element_type *type = buffer_value_type(v);

    if (type->layout || type->lanes > 1)
        return *v;
    return number_at(v->buffer.buffer, buffer_value_offset(v, 0), type->kind);
}

static int outside(struct scope *scope, const struct expr *index, const struct value *place,
                   int64_t i, int64_t limit, struct err *err)
{
    char type[120];

    buffer_type_text(place->buffer.buffer, type, sizeof(type));
    expr_fail(scope, index, err, ERR_ValueError, "%s[%lld]: the index goes from 0 to %lld",
              buffer_value_name(scope->arena, place), (long long)i, (long long)limit - 1);
    return err_next(err, "%s is %s", place->buffer.buffer->name, type);
}

static int step(struct scope *scope, const struct expr *index, const struct value *place, int64_t i,
                struct value *out, struct err *err)
{
    int64_t shape[BUFFER_RANK_MAX] = { 1 }, inner = 1;
    int rank = buffer_value_shape(place, shape);

    if (i < 0 || i >= shape[0])
        return outside(scope, index, place, i, shape[0], err);
    for (int d = 1; d < rank; d++)
        inner *= shape[d];
    *out = *place;
    out->buffer.offset += i * inner;
    out->buffer.level =
        place->buffer.level < 0 ? place->buffer.buffer->rank : place->buffer.level + 1;
    return 0;
}

static int apply(struct scope *scope, const struct expr *const *kids, const struct value *indexes,
                 size_t count, const struct value *place, size_t *made, struct value *out,
                 struct err *err)
{
    int64_t shape[BUFFER_RANK_MAX], i;
    struct value next, *items;

    if (!count) {
        *out = buffer_value_shape(place, shape) ? *place : element_value(place);
        return 0;
    }
    if (!buffer_value_shape(place, shape))
        return expr_fail(scope, kids[0], err, ERR_UsageError, "%s has no more dimensions",
                         buffer_value_name(scope->arena, place));
    if (indexes[0].type != VALUE_LIST) {
        if (expr_need_int(scope, kids[0], &indexes[0], &i, err) < 0 ||
            step(scope, kids[0], place, i, &next, err) < 0)
            return -1;
        return apply(scope, kids + 1, indexes + 1, count - 1, &next, made, out, err);
    }
    *made += indexes[0].list.count;
    if (*made > RANGE_MAX_POINTS)
        return expr_fail(scope, kids[0], err, ERR_ValueError,
                         "more than %d elements: name the buffer itself, or fewer",
                         RANGE_MAX_POINTS);
    items = arena_array(scope->arena, indexes[0].list.count, sizeof(*items));
    if (!items)
        return expr_fail(scope, kids[0], err, ERR_ResourceError, "the list does not fit in memory");
    for (size_t n = 0; n < indexes[0].list.count; n++)
        if (expr_need_int(scope, kids[0], &indexes[0].list.items[n], &i, err) < 0 ||
            step(scope, kids[0], place, i, &next, err) < 0 ||
            apply(scope, kids + 1, indexes + 1, count - 1, &next, made, &items[n], err) < 0)
            return -1;
    *out = (struct value){ .type = VALUE_LIST, .list = { items, indexes[0].list.count } };
    return 0;
}

struct value buffer_value_of(struct buffer *buffer)
{
    struct value v = { .type = VALUE_BUFFER, .buffer = { .buffer = buffer } };

    return buffer->rank ? v : element_value(&v);
}

int buffer_index_eval(struct scope *scope, const struct expr *expr, bool *is_buffer,
                      struct value *out, struct err *err)
{
    const struct expr *kids[CHAIN_MAX], *base = expr;
    struct value indexes[CHAIN_MAX], place;
    size_t count = 0, made = 0;

    *is_buffer = false;
    while (base->kind == EXPR_INDEX && count < CHAIN_MAX) {
        count++;
        kids[CHAIN_MAX - count] = base->kids[1];
        base = base->kids[0];
    }
    /* Only a name or a field is looked at before it is known to be a buffer: no work twice. */
    if (base->kind == EXPR_NAME &&
        (expr_is_local(scope, base->text) ||
         (scope->session && session_variable(scope->session, base->text))))
        return 0;
    if (base->kind != EXPR_NAME && !base->is_grouped)
        return 0;
    if (base->kind == EXPR_NAME && scope->session && !buffer_find(scope->session, base->text)) {
        struct buffer *symbol;

        if (symbol_find(scope->session, base->text, &symbol, err) < 0)
            return lexer_mark(scope->lexer, base->start, base->end, err);
        if (!symbol)
            return 0;
    }
    if (expr_eval(scope, base, &place, err) < 0)
        return -1;
    if (place.type != VALUE_BUFFER)
        return 0;
    *is_buffer = true;
    for (size_t i = 0; i < count; i++)
        if (expr_eval(scope, kids[CHAIN_MAX - count + i], &indexes[i], err) < 0)
            return -1;
    return apply(scope, kids + CHAIN_MAX - count, indexes, count, &place, &made, out, err);
}

/* ---- members ---- */

static int no_member(struct scope *scope, const struct expr *expr, const struct element_type *type,
                     struct err *err)
{
    struct nearest near = { .wanted = expr->text };
    struct buf names = { 0 };

    for (size_t i = 0; type->layout && i < type->layout->count; i++) {
        nearest_try(&near, type->layout->members[i].name);
        buf_printf(&names, " %s", type->layout->members[i].name);
    }
    for (int i = 0; !type->layout && type->lanes > 1 && i < type->lanes; i++)
        buf_printf(&names, " %c", "xyzw"[i]);
    if (near.best)
        expr_fail(scope, expr, err, ERR_NameError, "%s has no member %.40s; %s is the nearest",
                  type->name, expr->text, near.best);
    else
        expr_fail(scope, expr, err, ERR_NameError, "%s has no member %.40s", type->name,
                  expr->text);
    if (names.size)
        err_next(err, "its members:%s", buf_text(&names));
    buf_done(&names);
    return -1;
}

static int array_member(struct scope *scope, const struct expr *expr, const struct value *owner,
                        const struct struct_member *m, struct value *out, struct err *err)
{
    struct value *items = arena_array(scope->arena, (size_t)m->count, sizeof(*items));

    if (!items)
        return expr_fail(scope, expr, err, ERR_ResourceError, "the list does not fit in memory");
    for (int64_t i = 0; i < m->count; i++) {
        struct value place = *owner;

        place.buffer.inner += (unsigned)(m->offset + (size_t)i * m->type.bytes);
        place.buffer.type = &m->type;
        items[i] = element_value(&place);
    }
    *out = (struct value){ .type = VALUE_LIST, .list = { items, (size_t)m->count } };
    for (int d = m->rank - 1; d > 0; d--) {
        /* int m[2][3] is a list of 2 lists of 3. */
        size_t inner = (size_t)m->shape[d], outer = out->list.count / inner;
        struct value *rows = arena_array(scope->arena, outer, sizeof(*rows));

        if (!rows)
            return expr_fail(scope, expr, err, ERR_ResourceError,
                             "the list does not fit in memory");
        for (size_t i = 0; i < outer; i++)
            rows[i] = (struct value){ .type = VALUE_LIST,
                                      .list = { out->list.items + i * inner, inner } };
        *out = (struct value){ .type = VALUE_LIST, .list = { rows, outer } };
    }
    return 0;
}

int buffer_field_eval(struct scope *scope, const struct expr *expr, const struct value *owner,
                      struct value *out, struct err *err)
{
    const struct element_type *type = buffer_value_type(owner);
    const struct struct_member *m = struct_member_find(type->layout, expr->text);
    int64_t shape[BUFFER_RANK_MAX];

    if (buffer_value_shape(owner, shape)) {
        expr_fail(scope, expr, err, ERR_UsageError, "%s has many elements: which one's %.40s?",
                  buffer_value_name(scope->arena, owner), expr->text);
        return err_next(err, "%s[0].%.40s names one; sum(%s.%.40s), %%show and %%plot take all",
                        owner->buffer.buffer->name, expr->text, owner->buffer.buffer->name,
                        expr->text);
    }
    *out = *owner;
    if (m && m->rank)
        return array_member(scope, expr, owner, m, out, err);
    if (m) {
        out->buffer.inner += (unsigned)m->offset;
        out->buffer.type = &m->type;
        *out = element_value(out);
        return 0;
    }
    for (int i = 0; i < type->lanes && !type->layout && type->lanes > 1; i++)
        if (strlen(expr->text) == 1 && "xyzw"[i] == expr->text[0]) {
            *out = number_at(owner->buffer.buffer,
                             buffer_value_offset(owner, 0) + (size_t)i * scalar_bytes(type->kind),
                             type->kind);
            return 0;
        }
    return no_member(scope, expr, type, err);
}

/* ---- pointers ---- */

int buffer_no_number(struct scope *scope, const struct expr *expr, const struct value *v,
                     struct err *err)
{
    const char *name = v->buffer.buffer->name;
    int64_t shape[BUFFER_RANK_MAX];

    if (buffer_value_shape(v, shape) == 0) {
        expr_fail(scope, expr, err, ERR_UsageError, "%s is a %s, not a number",
                  expr_show(scope, expr), buffer_value_type(v)->name);
        return err_next(err, "name one of its members, such as %s.%s", expr_show(scope, expr),
                        buffer_value_type(v)->layout ? buffer_value_type(v)->layout->members[0].name
                                                     : "x");
    }
    expr_fail(scope, expr, err, ERR_UsageError, "%s is a buffer, not a number",
              expr_show(scope, expr));
    return err_next(err,
                    "%s[0] is its first element; sum min max mean count take all; {2*%s[i]} "
                    "beside a buffer goes over all",
                    name, name);
}

int buffer_arithmetic(struct scope *scope, const struct expr *expr, const struct value *a,
                      const struct value *b, struct value *out, struct err *err)
{
    bool is_left = a->type == VALUE_BUFFER;
    const struct value *place = is_left ? a : b, *other = is_left ? b : a;
    int64_t by, at;
    int64_t shape[BUFFER_RANK_MAX];

    if ((expr->op != '+' && (expr->op != '-' || !is_left)) || other->type == VALUE_BUFFER ||
        other->type == VALUE_FLOAT || buffer_value_shape(place, shape) == 0)
        return buffer_no_number(scope, expr->kids[is_left ? 0 : 1], place, err);
    if (expr_need_int(scope, expr->kids[is_left ? 1 : 0], other, &by, err) < 0)
        return -1;
    if ((expr->op == '-' && __builtin_sub_overflow((int64_t)0, by, &by)) ||
        __builtin_add_overflow(place->buffer.offset, by, &at) || at < 0 ||
        at > place->buffer.buffer->count) {
        expr_fail(scope, expr, err, ERR_ValueError,
                  "%s points outside of %s, which has %lld elements", expr_show(scope, expr),
                  place->buffer.buffer->name, (long long)place->buffer.buffer->count);
        return -1;
    }
    *out = *place;
    out->buffer.offset = at;
    out->buffer.level = -1;
    return 0;
}
