/*
 * Right sides. Each becomes programs, one for every number of an element, that run
 * over the buffer block by block and are stored by its type: what the type cannot
 * hold ends it, with the element's place.
 */
#include "cells/buffer_fill.h"

#include "cells/buffer_number.h"
#include "cells/buffer_struct.h"
#include "cells/elementwise.h"
#include "cells/internal.h"
#include "cells/npy.h"
#include "cells/random.h"

#include <stdio.h>
#include <unistd.h>

struct fill {
    struct scope scope;
    struct initial *initial;
    struct buffer *buffer;
    struct elements elements;
    const struct leaf *leaves;
    size_t leaf_count;
    struct err *err;
};

/* ---- reading ---- */

static bool is_file_name(struct bytes text)
{
    static const char END[] = ".npy";
    size_t n = sizeof(END) - 1;

    for (size_t i = 0; i < text.size; i++)
        if (is_blank(text.data[i]) || strchr("(){}[]\"'", text.data[i]))
            return false;
    return text.size > n && memcmp(text.data + text.size - n, END, n) == 0;
}

static int read_text(struct initial *out, const char *text, size_t size, struct arena *arena,
                     struct err *err)
{
    out->text = arena_copy(arena, text, size);
    if (!out->text)
        return err_set(err, ERR_ResourceError, "out of memory");
    out->kind = size > 4 && strcmp(out->text + size - 4, ".npy") == 0 ? INITIAL_FILE : INITIAL_TEXT;
    return 0;
}

int initial_read(struct session *session, struct source source, struct arena *arena,
                 struct initial *out, struct err *err)
{
    struct scope scope = { .session = session, .lexer = &out->lexer, .arena = arena };
    struct bytes text = { source.text.data, line_strip(source.text) };
    struct value first;
    struct token t;

    *out = (struct initial){ .kind = INITIAL_EXPRESSION, .source = source };
    lexer_init(&out->lexer, source, arena);
    if (is_file_name(text))
        return read_text(out, text.data, text.size, arena, err);
    if (expr_parse_initial(&out->lexer, &out->expr, err) < 0 ||
        lexer_peek(&out->lexer, &t, err) < 0)
        return -1;
    if (t.kind != TOKEN_END)
        return lexer_fail_at(&out->lexer, t.start, t.end, err, ERR_SyntaxError,
                             "%s stands where the line should end", token_show(&out->lexer, &t));
    if (out->expr->kind == EXPR_VALUE && out->expr->value.type == VALUE_STRING)
        return read_text(out, out->expr->value.text, strlen(out->expr->value.text), arena, err);
    /* (1,2) and {1,2} are the elements; {(1,2)} are the numbers of each element. */
    if ((out->expr->kind == EXPR_LIST || out->expr->kind == EXPR_DIM) &&
        !(out->expr->is_grouped && text.data[out->expr->start] == '{')) {
        out->kind = INITIAL_TUPLE;
        return 0;
    }
    if (out->expr->kind == EXPR_FIELD && !out->expr->is_grouped &&
        elementwise_is(&scope, out->expr, &out->place)) {
        out->kind = INITIAL_MEMBER;
        return 0;
    }
    /* x, A[2] and p.vx have the type of what they name; {x} is an expression. */
    if ((out->expr->kind == EXPR_NAME || out->expr->kind == EXPR_INDEX) && !out->expr->is_grouped &&
        elementwise_is(&scope, out->expr, &first) &&
        expr_eval(&scope, out->expr, &first, err) == 0 && first.type == VALUE_BUFFER) {
        out->kind = INITIAL_COPY;
        out->place = first;
    }
    return err->name ? -1 : 0;
}

/* ---- shapes ---- */

/* Rows of a nested tuple: ((1,2),(3,4)) is 2 by 2. Uneven ones count as flat. */
static int64_t count_leaves(const struct expr *expr)
{
    int64_t n = 0;

    if (expr->kind != EXPR_LIST && expr->kind != EXPR_DIM)
        return 1;
    for (size_t i = 0; i < expr->count; i++)
        n += count_leaves(expr->kids[i]);
    return n;
}

static void tuple_shape(const struct expr *expr, int *rank, int64_t *shape)
{
    *rank = 0;
    while ((expr->kind == EXPR_LIST || expr->kind == EXPR_DIM) && *rank < BUFFER_RANK_MAX) {
        shape[(*rank)++] = (int64_t)expr->count;
        if (!expr->count)
            return;
        for (size_t i = 1; i < expr->count; i++)
            if (expr->kids[i]->kind != expr->kids[0]->kind ||
                expr->kids[i]->count != expr->kids[0]->count)
                return;
        expr = expr->kids[0];
    }
}

static int file_shape(struct initial *initial, struct element_type *type, int *rank, int64_t *shape,
                      struct err *err)
{
    struct npy npy;
    int fd;

    if (npy_open(initial->text, &npy, &fd, err) < 0)
        return lexer_mark(&initial->lexer, 0, initial->source.text.size, err);
    close(fd);
    element_type_builtin(scalar_name(npy.kind), type);
    *rank = npy.rank ? npy.rank : 1;
    for (int d = 0; d < npy.rank && d < BUFFER_RANK_MAX; d++)
        shape[d] = npy.shape[d];
    if (!npy.rank)
        shape[0] = 1;
    if (npy.rank > BUFFER_RANK_MAX) {
        err_set(err, ERR_UnsupportedError, "%.200s has %d dimensions, a buffer at most %d",
                initial->text, npy.rank, BUFFER_RANK_MAX);
        return err_next(err, "in Python: array.reshape(-1) has one");
    }
    return 0;
}

static int member_shape(struct session *session, struct initial *initial, struct arena *arena,
                        struct element_type *type, int *rank, int64_t *shape, struct err *err)
{
    struct scope scope = { .session = session, .lexer = &initial->lexer, .arena = arena };
    struct elements elements;
    struct elementwise *e;
    enum scalar_kind kind;

    elements_of(&initial->place, &elements);
    if (elementwise_compile(&scope, initial->expr, &elements, &e, err) < 0)
        return -1;
    kind = elementwise_plain(e);
    if (kind == SCALAR_STRUCT)
        return expr_fail(&scope, initial->expr, err, ERR_UsageError,
                         "%s is no member of all elements", expr_show(&scope, initial->expr));
    element_type_builtin(scalar_name(kind), type);
    *rank = elements.rank;
    memcpy(shape, elements.shape, sizeof(elements.shape));
    return 0;
}

int initial_shape(struct session *session, struct initial *initial, struct arena *arena,
                  struct element_type *type, bool *has_type, int *rank, int64_t *shape,
                  struct err *err)
{
    *has_type = false;
    *rank = 0;
    switch (initial->kind) {
    case INITIAL_COPY:
        *type = *buffer_value_type(&initial->place);
        *has_type = true;
        *rank = buffer_value_shape(&initial->place, shape);
        if (!*rank)
            shape[(*rank)++] = 1;
        return 0;
    case INITIAL_MEMBER:
        *has_type = true;
        return member_shape(session, initial, arena, type, rank, shape, err);
    case INITIAL_FILE:
        *has_type = true;
        return file_shape(initial, type, rank, shape, err);
    case INITIAL_TEXT:
        *rank = 1;
        shape[0] = (int64_t)strlen(initial->text) + 1;
        return 0;
    case INITIAL_TUPLE:
        tuple_shape(initial->expr, rank, shape);
        return 0;
    default:
        return 0;
    }
}

/* ---- storing ---- */

static const char *element_name(struct fill *f, int64_t i, const struct leaf *leaf)
{
    const char *text =
        arena_printf(f->scope.arena, "%s%s%s", f->buffer->name,
                     buffer_index_text(f->scope.arena, f->buffer->rank, f->buffer->shape, i),
                     leaf->path);

    return text ? text : f->buffer->name;
}

static int not_stored(struct fill *f, enum store_result why, int64_t i, const struct leaf *leaf,
                      const char *number)
{
    const char *element = element_name(f, i, leaf), *type = scalar_name(leaf->kind);

    if (why == STORE_RANGE)
        err_set(f->err, ERR_ValueError, "%s: %s does not fit in %s (%s)", element, number, type,
                scalar_limits(leaf->kind));
    else
        err_set(f->err, ERR_ValueError, "%s: %s is no integer, and %s holds integers", element,
                number, type);
    lexer_mark(&f->initial->lexer, 0, f->initial->source.text.size, f->err);
    return why == STORE_FRACTION
               ? err_next(f->err, "int(...) cuts the decimals off, round(...) rounds")
               : -1;
}

static int store(struct fill *f, const struct leaf *leaf, int64_t first, size_t n,
                 const int64_t *ints, const double *floats)
{
    size_t stride = f->buffer->type.bytes, stored;
    char *to = (char *)f->buffer->data + (size_t)first * stride + leaf->offset, number[64];
    enum store_result rc = ints ? scalar_store_ints(leaf->kind, to, stride, ints, n, &stored)
                                : scalar_store_floats(leaf->kind, to, stride, floats, n, &stored);

    if (rc == STORE_OK)
        return 0;
    if (ints)
        snprintf(number, sizeof(number), "%lld", (long long)ints[stored]);
    else
        float_text(SCALAR_DOUBLE, floats[stored], number, sizeof(number));
    return not_stored(f, rc, first + (int64_t)stored, leaf, number);
}

static int run(struct fill *f, const struct leaf *leaf, struct elementwise *e)
{
    const int64_t *ints;
    const double *floats;

    for (int64_t first = 0; first < f->buffer->count; first += ELEMENTWISE_CHUNK) {
        size_t n = (size_t)min_i64(ELEMENTWISE_CHUNK, f->buffer->count - first);

        if (elementwise_run(e, first, n, &ints, &floats, f->err) < 0 ||
            store(f, leaf, first, n, ints, floats) < 0)
            return -1;
    }
    return 0;
}

/* ---- the words ---- */

static int fill_constant(struct fill *f, int64_t v)
{
    struct elementwise *e;

    if (v == 0)
        return 0; /* fresh memory is zeros */
    for (size_t l = 0; l < f->leaf_count; l++)
        if (elementwise_iota(&f->scope, f->initial->expr, 0, v, &e, f->err) < 0 ||
            run(f, &f->leaves[l], e) < 0)
            return -1;
    return 0;
}

/* 0, 1, 2, ... in memory order: the lanes of a float4 are numbers of their own. */
static int fill_iota(struct fill *f)
{
    struct elementwise *e;

    for (size_t l = 0; l < f->leaf_count; l++)
        if (elementwise_iota(&f->scope, f->initial->expr, (int64_t)f->leaf_count, (int64_t)l, &e,
                             f->err) < 0 ||
            run(f, &f->leaves[l], e) < 0)
            return -1;
    return 0;
}

static bool is_word(const struct fill *f, const char *word)
{
    const struct expr *expr = f->initial->expr;

    return expr->kind == EXPR_NAME && strcmp(expr->text, word) == 0 &&
           !session_variable(f->scope.session, word) && !buffer_find(f->scope.session, word);
}

/* ---- random integers ---- */

static int integer_argument(struct fill *f, size_t i, int64_t *out)
{
    const struct expr *kid = f->initial->expr->kids[i];
    struct value v;

    if (expr_eval(&f->scope, kid, &v, f->err) < 0)
        return -1;
    if (v.type == VALUE_FLOAT && v.f == (double)(int64_t)v.f)
        v = value_int((int64_t)v.f);
    return expr_need_int(&f->scope, kid, &v, out, f->err);
}

/* random(seed): every value of the type; uniform(seed, lo, hi): whole numbers, both included. */
static int fill_random_integers(struct fill *f, const struct leaf *leaf, unsigned lane)
{
    const struct expr *call = f->initial->expr;
    size_t bytes = scalar_bytes(leaf->kind), stride = f->buffer->type.bytes;
    char *to = (char *)f->buffer->data + leaf->offset;
    int64_t seed, lo = 0, hi = 0;
    bool is_plain = call->count == 1;

    if (integer_argument(f, 0, &seed) < 0 ||
        (!is_plain && (integer_argument(f, 1, &lo) < 0 || integer_argument(f, 2, &hi) < 0)))
        return -1;
    if (seed < 0 || lo > hi)
        return expr_fail(&f->scope, call, f->err, ERR_ValueError,
                         seed < 0 ? "a seed is 0 or more" : "the lower limit comes first");
    for (int64_t i = 0; i < f->buffer->count; i++, to += stride) {
        uint64_t bits = random_bits((uint64_t)seed, (uint64_t)i, lane);
        int64_t v;

        if (i % ELEMENTWISE_CHUNK == 0 && session_check_stop(f->scope.session, f->err) < 0)
            return -1;
        if (is_plain && leaf->kind == SCALAR_BOOL)
            bits &= 1;
        if (is_plain) {
            memcpy(to, &bits, bytes);
            continue;
        }
        v = random_between((uint64_t)seed, (uint64_t)i, lane, lo, hi);
        if (store(f, leaf, i, 1, &v, NULL) < 0)
            return -1;
    }
    return 0;
}

static bool is_random_integers(const struct fill *f, const struct leaf *leaf)
{
    const struct expr *expr = f->initial->expr;

    return expr->kind == EXPR_CALL && !scalar_is_float(leaf->kind) &&
           ((strcmp(expr->text, "random") == 0 && expr->count == 1) ||
            (strcmp(expr->text, "uniform") == 0 && expr->count == 3));
}

/* ---- expressions and tuples ---- */

/* {(i, 2*i)} sets one number each. */
static bool is_element_tuple(const struct fill *f)
{
    const struct expr *expr = f->initial->expr;

    return expr->kind == EXPR_DIM || expr->kind == EXPR_LIST;
}

static int fill_expression(struct fill *f)
{
    const struct expr *expr = f->initial->expr;
    bool is_tuple = is_element_tuple(f);
    struct elementwise *e;

    if (is_word(f, "zeros") || is_word(f, "ones"))
        return fill_constant(f, is_word(f, "ones"));
    if (is_word(f, "iota"))
        return fill_iota(f);
    if ((is_tuple && expr->count != f->leaf_count) ||
        (!is_tuple && f->buffer->type.layout && expr->kind != EXPR_VALUE)) {
        expr_fail(&f->scope, expr, f->err, ERR_UsageError,
                  "a %s has %zu numbers, and %zu %s given for each", f->buffer->type.name,
                  f->leaf_count, is_tuple ? expr->count : 1, is_tuple ? "are" : "is");
        return err_next(f->err, "{(a, b, ...)} gives each number its own expression");
    }
    for (size_t l = 0; l < f->leaf_count; l++) {
        const struct leaf *leaf = &f->leaves[l];
        int rc;

        f->elements.kind = leaf->kind;
        f->elements.lane = (unsigned)l;
        if (!is_tuple && is_random_integers(f, leaf))
            rc = fill_random_integers(f, leaf, (unsigned)l);
        else
            rc = elementwise_compile(&f->scope, is_tuple ? expr->kids[l] : expr, &f->elements, &e,
                                     f->err) < 0
                     ? -1
                     : run(f, leaf, e);
        if (rc < 0)
            return -1;
    }
    return 0;
}

static int store_item(struct fill *f, const struct expr *expr, int64_t *next)
{
    const struct leaf *leaf = &f->leaves[(size_t)*next % f->leaf_count];
    int64_t element = *next / (int64_t)f->leaf_count;
    struct value v;

    if (expr->kind == EXPR_LIST || expr->kind == EXPR_DIM) {
        for (size_t i = 0; i < expr->count; i++)
            if (store_item(f, expr->kids[i], next) < 0)
                return -1;
        return 0;
    }
    if (expr_eval(&f->scope, expr, &v, f->err) < 0 ||
        expr_need_number(&f->scope, expr, &v, f->err) < 0)
        return -1;
    ++*next;
    if (v.type == VALUE_BOOL)
        v = value_int(v.b);
    if (store(f, leaf, element, 1, v.type == VALUE_INT ? &v.i : NULL,
              v.type == VALUE_FLOAT ? &v.f : NULL) < 0) {
        f->err->line = 0; /* the item, not the whole right side */
        return lexer_mark(&f->initial->lexer, expr->start, expr->end, f->err);
    }
    return 0;
}

static int fill_tuple(struct fill *f)
{
    int64_t wanted = f->buffer->count * (int64_t)f->leaf_count,
            given = count_leaves(f->initial->expr), next = 0;
    char type[120];

    if (wanted != given) {
        buffer_type_text(f->buffer, type, sizeof(type));
        expr_fail(&f->scope, f->initial->expr, f->err, ERR_UsageError,
                  "%s is %s: %lld numbers, and %lld are given", f->buffer->name, type,
                  (long long)wanted, (long long)given);
        if (given == (int64_t)f->leaf_count)
            return err_next(f->err, "{%s} fills each element with these",
                            text_show(f->scope.arena, f->initial->source.text, 60));
        return err_next(f->err, "%s[] takes its length from the tuple; {0} fills all elements",
                        f->buffer->name);
    }
    return store_item(f, f->initial->expr, &next);
}

/* ---- copies, texts, files ---- */

static bool is_same_type(const struct element_type *a, const struct element_type *b)
{
    return a->kind == b->kind && a->lanes == b->lanes && a->bytes == b->bytes && !a->layout &&
           !b->layout;
}

/* What was never written stays so in the copy. */
static int copy_bytes(struct fill *f)
{
    const struct buffer *from = f->initial->place.buffer.buffer;
    size_t offset = buffer_value_offset(&f->initial->place, 0), step = (size_t)1 << 20;

    for (size_t at = 0; at < f->buffer->size; at += step) {
        size_t n = f->buffer->size - at < step ? f->buffer->size - at : step;

        if (session_check_stop(f->scope.session, f->err) < 0)
            return -1;
        memcpy((char *)f->buffer->data + at, (const char *)from->data + offset + at, n);
        if (!buffer_defined(from)) {
            buffer_define(f->buffer, at, n);
            continue;
        }
        for (size_t i = 0; i < n; i++)
            if (buffer_is_defined(from, offset + at + i, 1))
                buffer_define(f->buffer, at + i, 1);
    }
    buffer_settle(f->buffer);
    return 0;
}

static int fill_copy(struct fill *f)
{
    const struct value *place = &f->initial->place;
    const struct element_type *type = buffer_value_type(place);
    const struct leaf *leaves;
    struct elementwise *e;
    size_t count;

    if (buffer_value_elements(place) != f->buffer->count) {
        expr_fail(&f->scope, f->initial->expr, f->err, ERR_UsageError,
                  "%s has %lld elements, %s %lld: a copy has as many",
                  buffer_value_name(f->scope.arena, place), (long long)buffer_value_elements(place),
                  f->buffer->name, (long long)f->buffer->count);
        return -1;
    }
    if (is_same_type(type, &f->buffer->type) ||
        (type->layout && f->buffer->type.layout && !strcmp(type->name, f->buffer->type.name) &&
         type->bytes == f->buffer->type.bytes))
        return copy_bytes(f);
    if (element_leaves(f->scope.arena, type, &leaves, &count, f->err) < 0)
        return -1;
    if (count != f->leaf_count)
        return expr_fail(&f->scope, f->initial->expr, f->err, ERR_UsageError,
                         "%s has elements of type %s, %s of type %s", place->buffer.buffer->name,
                         type->name, f->buffer->name, f->buffer->type.name);
    for (size_t l = 0; l < count; l++)
        if (elementwise_load(&f->scope, f->initial->expr, place, &leaves[l], &f->elements, &e,
                             f->err) < 0 ||
            run(f, &f->leaves[l], e) < 0)
            return -1;
    buffer_define(f->buffer, 0, f->buffer->size);
    return 0;
}

/* As C: the zero behind the text may be cut off, nothing else. */
static int fill_text(struct fill *f)
{
    size_t n = strlen(f->initial->text);

    if (f->buffer->type.bytes != 1 || f->buffer->type.kind == SCALAR_BOOL) {
        lexer_mark(&f->initial->lexer, 0, f->initial->source.text.size, f->err);
        err_set(f->err, ERR_UsageError, "a text fills chars, and %s has elements of type %s",
                f->buffer->name, f->buffer->type.name);
        return err_next(f->err, "a file's name ends in .npy");
    }
    if (n > f->buffer->size)
        return err_set(f->err, ERR_ValueError, "%s has %zu chars, the text %zu", f->buffer->name,
                       f->buffer->size, n);
    memcpy(f->buffer->data, f->initial->text, n);
    return 0;
}

static int wrong_file(struct fill *f, const struct npy *npy)
{
    char type[120], shape[100];
    size_t n = (size_t)snprintf(shape, sizeof(shape), "%s", scalar_name(npy->kind));

    for (int d = 0; d < npy->rank && n < sizeof(shape); d++)
        n += (size_t)snprintf(shape + n, sizeof(shape) - n, "[%lld]", (long long)npy->shape[d]);
    buffer_type_text(f->buffer, type, sizeof(type));
    err_set(f->err, ERR_ValueError, "%.120s holds %s, and %s is %s", f->initial->text, shape,
            f->buffer->name, type);
    lexer_mark(&f->initial->lexer, 0, f->initial->source.text.size, f->err);
    return err_next(f->err, "%%buffer %s = %.80s takes type and shape from the file",
                    f->buffer->name, f->initial->text);
}

/* The same dimensions, with the lanes of a vector as the last one. */
static bool fits_file(const struct buffer *b, const struct npy *npy)
{
    int lanes = b->type.lanes > 1;

    if (b->type.layout || b->type.kind != npy->kind ||
        npy->rank + (npy->rank == 0) != b->rank + lanes)
        return false;
    for (int d = 0; d < b->rank; d++)
        if ((npy->rank ? npy->shape[d] : 1) != b->shape[d])
            return false;
    return (!lanes || npy->shape[b->rank] == b->type.lanes) &&
           npy->count * (int64_t)scalar_bytes(npy->kind) == (int64_t)b->size;
}

static int fill_file(struct fill *f)
{
    struct npy npy;
    int fd, rc;

    if (npy_open(f->initial->text, &npy, &fd, f->err) < 0)
        return lexer_mark(&f->initial->lexer, 0, f->initial->source.text.size, f->err);
    if (fits_file(f->buffer, &npy))
        rc = npy_read(fd, &npy, f->initial->text, f->buffer->data, f->buffer->size, f->err);
    else
        rc = wrong_file(f, &npy);
    close(fd);
    return rc;
}

int initial_fill(struct session *session, struct initial *initial, struct arena *arena,
                 struct buffer *buffer, struct err *err)
{
    struct fill f = { .scope = { .session = session, .lexer = &initial->lexer, .arena = arena },
                      .initial = initial,
                      .buffer = buffer,
                      .err = err };
    int rc;

    f.elements =
        (struct elements){ .rank = buffer->rank, .count = buffer->count, .is_initial = true };
    memcpy(f.elements.shape, buffer->shape, sizeof(f.elements.shape));
    if (element_leaves(arena, &buffer->type, &f.leaves, &f.leaf_count, err) < 0)
        return -1;
    switch (initial->kind) {
    case INITIAL_COPY:
        return fill_copy(&f);
    case INITIAL_TUPLE:
        rc = fill_tuple(&f);
        break;
    case INITIAL_TEXT:
        rc = fill_text(&f);
        break;
    case INITIAL_FILE:
        rc = fill_file(&f);
        break;
    default:
        rc = fill_expression(&f);
    }
    if (rc == 0)
        buffer_define(buffer, 0, buffer->size);
    return rc;
}
