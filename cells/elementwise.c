/*
 * From a tree to a program. What does not depend on the element (n, sum(x), x[3])
 * is worked out once, here; the rest becomes nodes whose types are known, int64 or
 * double, so that running them is loops over arrays.
 */
#include "cells/elementwise.h"

#include "cells/buffer_symbol.h"
#include "cells/elementwise_internal.h"
#include "cells/internal.h"
#include "cells/random.h"
#include "cells/real.h"

#include <math.h>
#include <stdio.h>

enum { ACCESS_INDEXES = 8 };

void elements_of(const struct value *place, struct elements *out)
{
    *out = (struct elements){ .count = buffer_value_elements(place) };
    out->rank = buffer_value_shape(place, out->shape);
    if (!out->rank)
        out->shape[out->rank++] = 1;
}

/* ---- what an expression speaks of ---- */

static bool is_braced(const struct scope *scope, const struct expr *expr)
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

static int index_of_name(const struct scope *scope, const char *name, bool in_braces)
{
    if (!name[0] || name[1] || name[0] < 'i' || name[0] > 'k')
        return -1;
    return in_braces || !is_taken(scope, name) ? name[0] - 'i' : -1;
}

static struct buffer *named_buffer(const struct scope *scope, const struct expr *expr)
{
    struct err ignored = { 0 };
    struct buffer *buffer;

    if (expr->kind != EXPR_NAME || !scope->session || session_variable(scope->session, expr->text))
        return NULL;
    buffer = buffer_find(scope->session, expr->text);
    if (!buffer && symbol_find(scope->session, expr->text, &buffer, &ignored) < 0)
        buffer = NULL; /* who evaluates the name hears why */
    err_done(&ignored);
    return buffer;
}

/* x, x[a][b], x[a].pos.y, x.id[2]: a buffer, indexes, and the path of a member. */
struct access {
    const struct expr *base;
    const struct expr *indexes[ACCESS_INDEXES];
    size_t count;
    char path[200];
};

static bool prefix(char *path, size_t size, const char *sign, const char *text, const char *end)
{
    char old[200];

    memcpy(old, path, sizeof(old));
    return (size_t)snprintf(path, size, "%s%s%s%s", sign, text, end, old) < size;
}

/* Members first, as they stand outermost; then the indexes of the buffer itself. */
static bool find_access(const struct scope *scope, const struct expr *expr, struct access *a)
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
        return named_buffer(scope, a->base->kids[0]) || named_buffer(scope, a->base->kids[1]);
    return named_buffer(scope, a->base) != NULL;
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
    struct buffer *b = named_buffer(look->scope, a->base);
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

    in_braces |= is_braced(look->scope, expr);
    if (expr->kind == EXPR_NAME && index_of_name(look->scope, expr->text, in_braces) >= 0)
        return true;
    if (find_access(look->scope, expr, &a))
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

/* ---- nodes ---- */

struct compiler {
    struct elementwise *e;
    struct err *err;
    bool in_braces;
};

static int compile(struct compiler *c, const struct expr *expr, struct node **out);

static struct node *new_node(struct compiler *c, enum node_kind kind, const struct expr *expr,
                             bool is_float)
{
    struct arena *arena = c->e->scope->arena;
    struct node *node = arena_alloc(arena, sizeof(*node));
    void *values = arena_array(arena, ELEMENTWISE_CHUNK, sizeof(int64_t));

    if (!node || !values) {
        err_set(c->err, ERR_ResourceError, "the expression does not fit in the cell's memory");
        return NULL;
    }
    *node = (struct node){ .kind = kind, .expr = expr, .is_float = is_float };
    if (is_float)
        node->floats = values;
    else
        node->ints = values;
    return node;
}

static int unary_node(struct compiler *c, enum node_kind kind, bool is_float, struct node **node)
{
    struct node *n = new_node(c, kind, (*node)->expr, is_float);

    if (!n)
        return -1;
    n->kids[0] = *node;
    *node = n;
    return 0;
}

static int to_float(struct compiler *c, struct node **node)
{
    return (*node)->is_float ? 0 : unary_node(c, NODE_FLOAT, true, node);
}

static int to_truth(struct compiler *c, struct node **node)
{
    return unary_node(c, NODE_TRUTH, false, node);
}

static int same_type(struct compiler *c, struct node **a, struct node **b)
{
    if ((*a)->is_float == (*b)->is_float)
        return 0;
    return (*a)->is_float ? to_float(c, b) : to_float(c, a);
}

static int constant(struct compiler *c, const struct expr *expr, const struct value *v,
                    struct node **out)
{
    if (v->type == VALUE_DIM) { /* F == (1, 2, 1) */
        struct value *items = arena_array(c->e->scope->arena, 3, sizeof(*items)), list;

        if (!items)
            return err_set(c->err, ERR_ResourceError, "out of memory");
        items[0] = value_int(v->dim.x);
        items[1] = value_int(v->dim.y);
        items[2] = value_int(v->dim.z);
        list = (struct value){ .type = VALUE_LIST, .list = { items, (size_t)v->dim.count } };
        return constant(c, expr, &list, out);
    }
    if (v->type == VALUE_LIST) {
        if ((int64_t)v->list.count != c->e->elements.count)
            return expr_fail(c->e->scope, expr, c->err, ERR_UsageError,
                             "a list of %zu beside %lld elements: only equal lengths go together",
                             v->list.count, (long long)c->e->elements.count);
        *out = new_node(c, NODE_LIST, expr, false);
        if (!*out)
            return -1;
        (*out)->items = v->list.items;
        for (size_t i = 0; i < v->list.count; i++) {
            if (expr_need_number(c->e->scope, expr, &v->list.items[i], c->err) < 0)
                return -1;
            (*out)->is_float |= v->list.items[i].type == VALUE_FLOAT;
        }
        if ((*out)->is_float)
            (*out)->floats = (double *)(*out)->ints;
        return 0;
    }
    if (expr_need_number(c->e->scope, expr, v, c->err) < 0)
        return -1;
    *out = new_node(c, NODE_CONST, expr, v->type == VALUE_FLOAT);
    if (!*out)
        return -1;
    for (size_t i = 0; i < ELEMENTWISE_CHUNK; i++)
        if (v->type == VALUE_FLOAT)
            (*out)->floats[i] = v->f;
        else
            (*out)->ints[i] = v->type == VALUE_INT ? v->i : v->b;
    return 0;
}

/* ---- buffers ---- */

static int find_leaf(struct compiler *c, const struct expr *expr, const struct value *place,
                     const char *path, enum scalar_kind *kind, size_t *inner)
{
    const struct element_type *type = buffer_value_type(place);
    const struct leaf *leaves;
    size_t count;

    if (!path[0] && !type->layout && type->lanes == 1) {
        *kind = type->kind;
        *inner = 0;
        return 0;
    }
    if (element_leaves(c->e->scope->arena, type, &leaves, &count, c->err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++)
        if (strcmp(leaves[i].path, path) == 0) {
            *kind = leaves[i].kind;
            *inner = leaves[i].offset;
            return 0;
        }
    expr_fail(c->e->scope, expr, c->err, ERR_UsageError,
              path[0] ? "%s is no number of a %s"
                      : "%s has elements of type %s, which are no numbers",
              expr_show(c->e->scope, expr), type->name);
    return err_next(c->err, "name one: %s%s", place->buffer.buffer->name, leaves[0].path);
}

static int load_node(struct compiler *c, const struct expr *expr, const struct value *place,
                     const char *path, enum scalar_kind kind, size_t inner, struct node **out)
{
    int64_t count = buffer_value_elements(place);

    if (count != c->e->elements.count) {
        expr_fail(c->e->scope, expr, c->err, ERR_UsageError,
                  "%s has %lld elements, beside it stand %lld: only equal lengths go together",
                  buffer_value_name(c->e->scope->arena, place), (long long)count,
                  (long long)c->e->elements.count);
        return -1;
    }
    *out = new_node(c, NODE_LOAD, expr, scalar_is_float(kind));
    if (!*out)
        return -1;
    (*out)->place = *place;
    (*out)->path = path;
    (*out)->number = kind;
    (*out)->inner = inner;
    return 0;
}

static int gather_index(struct compiler *c, const struct access *a, const struct value *place,
                        struct node **out)
{
    int64_t shape[BUFFER_RANK_MAX];
    int rank = buffer_value_shape(place, shape);
    struct node *sum = NULL;

    for (int d = 0; d < rank; d++) {
        struct node *index, *node;

        if (compile(c, a->indexes[d], &index) < 0)
            return -1;
        if (index->is_float)
            return expr_fail(c->e->scope, a->indexes[d], c->err, ERR_UsageError,
                             "%s is a decimal: an index is an integer",
                             expr_show(c->e->scope, a->indexes[d]));
        if (unary_node(c, NODE_BOUND, false, &index) < 0)
            return -1;
        index->a = shape[d];
        index->b = sum ? 1 : 0;
        index->kids[1] = sum; /* sum * shape[d] + index */
        index->place = *place;
        node = index;
        sum = node;
    }
    *out = sum;
    return 0;
}

static int access_node(struct compiler *c, const struct expr *expr, const struct access *a,
                       struct node **out)
{
    struct value place;
    int64_t shape[BUFFER_RANK_MAX];
    enum scalar_kind kind = SCALAR_INT;
    size_t inner = 0;
    struct node *index = NULL;
    struct look look = { .scope = c->e->scope };
    bool is_varying = false;
    int rank;

    for (size_t i = 0; i < a->count; i++)
        is_varying |= depends(&look, a->indexes[i], c->in_braces);
    if (!is_varying && a->count) {
        /* A[2]: the row is a place of its own. */
        const struct expr *row = expr;

        while (row->kind == EXPR_FIELD ||
               (row->kind == EXPR_INDEX && row->kids[0]->kind == EXPR_FIELD))
            row = row->kids[0];
        if (expr_eval(c->e->scope, row, &place, c->err) < 0)
            return -1;
    } else if (expr_eval(c->e->scope, a->base, &place, c->err) < 0) {
        return -1;
    }
    rank = buffer_value_shape(&place, shape);
    if (find_leaf(c, expr, &place, a->path, &kind, &inner) < 0)
        return -1;
    if (!is_varying)
        return load_node(c, expr, &place, arena_string(c->e->scope->arena, a->path), kind, inner,
                         out);
    if ((int)a->count != rank) {
        expr_fail(c->e->scope, expr, c->err, ERR_UsageError, "%s needs %d indexes, not %zu",
                  expr_show(c->e->scope, a->base), rank, a->count);
        return -1;
    }
    if (gather_index(c, a, &place, &index) < 0)
        return -1;
    *out = new_node(c, NODE_GATHER, expr, scalar_is_float(kind));
    if (!*out)
        return -1;
    (*out)->kids[0] = index;
    (*out)->place = place;
    (*out)->number = kind;
    (*out)->inner = inner;
    return 0;
}

/* ---- operators ---- */

/* y == x + 1 outside of braces: as C reads it a pointer, as a reader means it a sum. */
static int refuse_pointer(struct compiler *c, const struct expr *expr)
{
    int k = named_buffer(c->e->scope, expr->kids[0]) ? 0 : 1;
    const char *name = expr->kids[k]->text;

    if (c->in_braces || (expr->op != '+' && expr->op != '-') ||
        !named_buffer(c->e->scope, expr->kids[k]) || expr->kids[1 - k]->kind != EXPR_VALUE ||
        expr->kids[1 - k]->value.type != VALUE_INT)
        return 0;
    expr_fail(c->e->scope, expr, c->err, ERR_UsageError,
              "%s is a pointer into %s, as in C: here it could mean a sum too",
              expr_show(c->e->scope, expr), name);
    return err_next(c->err, "in braces it goes over all elements: {%s}",
                    expr_show(c->e->scope, expr));
}

static int compile_binary(struct compiler *c, const struct expr *expr, struct node **out)
{
    struct node *a, *b;
    bool is_logic = expr->op == OP_AND || expr->op == OP_OR;

    if (refuse_pointer(c, expr) < 0 || compile(c, expr->kids[0], &a) < 0 ||
        compile(c, expr->kids[1], &b) < 0)
        return -1;
    if (is_logic ? to_truth(c, &a) < 0 || to_truth(c, &b) < 0 : same_type(c, &a, &b) < 0)
        return -1;
    if (!is_logic && a->is_float && !strchr("+-*/%", expr->op < 256 ? expr->op : ' '))
        return expr_fail(c->e->scope, expr, c->err, ERR_UsageError,
                         "%s: shifts and bits are for integers, not for decimals",
                         expr_show(c->e->scope, expr));
    *out = new_node(c,
                    expr->op == OP_AND  ? NODE_AND
                    : expr->op == OP_OR ? NODE_OR
                                        : NODE_BINARY,
                    expr, a->is_float);
    if (!*out)
        return -1;
    (*out)->which = expr->op;
    (*out)->kids[0] = a;
    (*out)->kids[1] = b;
    return 0;
}

static int compile_unary(struct compiler *c, const struct expr *expr, struct node **out)
{
    struct node *a;

    if (compile(c, expr->kids[0], &a) < 0)
        return -1;
    if (a->is_float && expr->op == '~')
        return expr_fail(c->e->scope, expr, c->err, ERR_UsageError,
                         "%s: bits are for integers, not for decimals",
                         expr_show(c->e->scope, expr));
    if (expr->op == '+') {
        *out = a;
        return 0;
    }
    if (expr->op == '!' && to_truth(c, &a) < 0)
        return -1;
    if (unary_node(c, NODE_UNARY, a->is_float, &a) < 0)
        return -1;
    a->which = expr->op;
    a->expr = expr;
    *out = a;
    return 0;
}

static int compile_compare(struct compiler *c, const struct expr *expr, struct node **out)
{
    struct node *a, *b, *tolerance = NULL, *n;

    if (compile(c, expr->kids[0], &a) < 0 || compile(c, expr->kids[1], &b) < 0 ||
        (expr->count > 2 && (compile(c, expr->kids[2], &tolerance) < 0 || to_float(c, &a) < 0 ||
                             to_float(c, &tolerance) < 0)) ||
        same_type(c, &a, &b) < 0)
        return -1;
    n = new_node(c, NODE_COMPARE, expr, false);
    if (!n)
        return -1;
    n->which = expr->op;
    n->is_relative = expr->count > 2 && expr->kids[2]->is_percent;
    n->kids[0] = a;
    n->kids[1] = b;
    n->kids[2] = tolerance;
    *out = n;
    return 0;
}

static int compile_choose(struct compiler *c, const struct expr *expr, struct node **out)
{
    struct node *kids[3];

    for (int i = 0; i < 3; i++)
        if (compile(c, expr->kids[i], &kids[i]) < 0)
            return -1;
    if (to_truth(c, &kids[0]) < 0 || same_type(c, &kids[1], &kids[2]) < 0)
        return -1;
    *out = new_node(c, NODE_CHOOSE, expr, kids[1]->is_float);
    if (!*out)
        return -1;
    memcpy((*out)->kids, kids, sizeof(kids));
    return 0;
}

/* ---- functions ---- */

static const struct {
    const char *name;
    enum element_function function;
    size_t least, most;
    double (*real)(double);
} FUNCTIONS[] = {
    { "min", FUNCTION_MIN, 2, 64, NULL },       { "max", FUNCTION_MAX, 2, 64, NULL },
    { "abs", FUNCTION_ABS, 1, 1, NULL },        { "ceil", FUNCTION_CEIL, 1, 1, NULL },
    { "floor", FUNCTION_FLOOR, 1, 1, NULL },    { "round", FUNCTION_ROUND, 1, 1, NULL },
    { "int", FUNCTION_TRUNC, 1, 1, NULL },      { "sqrt", FUNCTION_REAL, 1, 1, sqrt },
    { "log2", FUNCTION_REAL, 1, 1, real_log2 }, { "exp", FUNCTION_REAL, 1, 1, real_exp },
    { "log", FUNCTION_REAL, 1, 1, real_log },   { "sin", FUNCTION_REAL, 1, 1, real_sin },
    { "cos", FUNCTION_REAL, 1, 1, real_cos },   { "tanh", FUNCTION_REAL, 1, 1, real_tanh },
    { "pow", FUNCTION_POW, 2, 2, NULL },
};

static int constant_number(struct compiler *c, const struct expr *expr, double *out)
{
    struct value v;

    if (expr_eval(c->e->scope, expr, &v, c->err) < 0 ||
        expr_need_number(c->e->scope, expr, &v, c->err) < 0)
        return -1;
    value_as_float(&v, out);
    return 0;
}

static int compile_random(struct compiler *c, const struct expr *call, struct node **out)
{
    bool is_normal = strcmp(call->text, "normal") == 0,
         is_plain = strcmp(call->text, "random") == 0;
    double part[3] = { 0, 0, 1 };

    if (call->count < 1 || (!is_plain && !is_normal && call->count != 3) ||
        call->count > (is_plain ? 1 : 3)) {
        expr_fail(c->e->scope, call, c->err, ERR_UsageError, "%s has %zu arguments here",
                  call->text, call->count);
        return err_next(c->err, is_plain    ? "random(seed)"
                                : is_normal ? "normal(seed), or normal(seed, mean, deviation)"
                                            : "uniform(seed, lo, hi)");
    }
    *out = new_node(c, NODE_RANDOM, call, true);
    if (!*out)
        return -1;
    for (size_t i = 0; i < call->count; i++)
        if (constant_number(c, call->kids[i], &part[i]) < 0)
            return -1;
    if (part[0] != floor(part[0]) || !(part[0] >= 0 && part[0] < 0x1p53))
        return expr_fail(c->e->scope, call->kids[0], c->err, ERR_ValueError,
                         "a seed is a whole number from 0 to 2^53, not %g", part[0]);
    if (!is_normal && !(part[1] < part[2]))
        return expr_fail(c->e->scope, call, c->err, ERR_ValueError,
                         "uniform from %g to %g: the lower limit comes first", part[1], part[2]);
    (*out)->which = is_normal ? RANDOM_NORMAL : RANDOM_UNIFORM;
    (*out)->seed = (uint64_t)part[0];
    (*out)->f = part[1];
    (*out)->g = part[2];
    return 0;
}

static int unknown_function(struct compiler *c, const struct expr *call)
{
    struct nearest near = { .wanted = call->text };

    for (size_t i = 0; i < COUNT(FUNCTIONS); i++)
        nearest_try(&near, FUNCTIONS[i].name);
    expr_fail(c->e->scope, call, c->err, ERR_NameError,
              near.best ? "%s is no function of one element; %s is the nearest"
                        : "%s is no function of one element",
              call->text, near.best);
    return err_next(c->err, "min max abs ceil floor round int float sqrt log2 exp log sin cos tanh "
                            "pow clamp random uniform normal");
}

static int function_node(struct compiler *c, const struct expr *call, size_t which,
                         struct node **nodes, struct node **out)
{
    enum element_function f = FUNCTIONS[which].function;
    bool is_real = f == FUNCTION_REAL || f == FUNCTION_POW;
    bool is_rounding = f >= FUNCTION_CEIL && f <= FUNCTION_TRUNC;

    for (size_t i = 0; is_real && i < call->count; i++)
        if (to_float(c, &nodes[i]) < 0)
            return -1;
    if (is_rounding && !nodes[0]->is_float) {
        *out = nodes[0];
        return 0;
    }
    *out = nodes[0];
    /* min(a, b, c) is min(min(a, b), c). */
    for (size_t i = 1; i < (call->count > 1 ? call->count : 2); i++) {
        struct node *left = *out, *right = i < call->count ? nodes[i] : NULL;

        if (right && same_type(c, &left, &right) < 0)
            return -1;
        *out = new_node(c, NODE_FUNCTION, call, left->is_float && !is_rounding);
        if (!*out)
            return -1;
        (*out)->which = (int)f;
        (*out)->real = FUNCTIONS[which].real;
        (*out)->kids[0] = left;
        (*out)->kids[1] = right;
    }
    return 0;
}

static int clamp_node(struct compiler *c, const struct expr *call, struct node **nodes,
                      struct node **out)
{
    for (int i = 1; i < 3; i++) {
        struct node *left = i == 1 ? nodes[0] : *out, *right = nodes[i];

        if (same_type(c, &left, &right) < 0)
            return -1;
        *out = new_node(c, NODE_FUNCTION, call, left->is_float);
        if (!*out)
            return -1;
        (*out)->which = i == 1 ? FUNCTION_MAX : FUNCTION_MIN;
        (*out)->kids[0] = left;
        (*out)->kids[1] = right;
    }
    return 0;
}

static int compile_call(struct compiler *c, const struct expr *call, struct node **out)
{
    struct node **nodes;
    size_t i = 0;

    if (elementwise_is_random(call->text))
        return compile_random(c, call, out);
    nodes = arena_array(c->e->scope->arena, call->count + 1, sizeof(struct node *));
    if (!nodes)
        return err_set(c->err, ERR_ResourceError, "out of memory");
    for (i = 0; i < call->count; i++)
        if (compile(c, call->kids[i], &nodes[i]) < 0)
            return -1;
    if (strcmp(call->text, "clamp") == 0 && call->count == 3)
        return clamp_node(c, call, nodes, out);
    if (strcmp(call->text, "float") == 0 && call->count == 1) {
        *out = nodes[0];
        return to_float(c, out);
    }
    for (i = 0; i < COUNT(FUNCTIONS); i++)
        if (strcmp(FUNCTIONS[i].name, call->text) == 0)
            break;
    if (i == COUNT(FUNCTIONS))
        return unknown_function(c, call);
    if (call->count < FUNCTIONS[i].least || call->count > FUNCTIONS[i].most)
        return expr_fail(c->e->scope, call, c->err, ERR_UsageError, "%s has %zu arguments here",
                         call->text, call->count);
    return function_node(c, call, i, nodes, out);
}

/* ---- the whole ---- */

static int index_node(struct compiler *c, const struct expr *expr, int dimension, struct node **out)
{
    static const char *const ONLY[] = { "", "i", "i and j" };

    if (dimension >= c->e->elements.rank) {
        expr_fail(c->e->scope, expr, c->err, ERR_NameError,
                  "%s: there is no such dimension here, only %s", expr->text,
                  ONLY[c->e->elements.rank]);
        return -1;
    }
    *out = new_node(c, NODE_INDEX, expr, false);
    if (!*out)
        return -1;
    (*out)->which = dimension;
    return 0;
}

static int compile_known(struct compiler *c, const struct expr *expr, struct node **out)
{
    struct look look = { .scope = c->e->scope };
    struct access a;
    struct value v;
    int dimension;

    if (expr->kind == EXPR_NAME) {
        dimension = index_of_name(c->e->scope, expr->text, c->in_braces);
        if (dimension >= 0)
            return index_node(c, expr, dimension, out);
    }
    if (!depends(&look, expr, c->in_braces)) {
        if (expr_eval(c->e->scope, expr, &v, c->err) < 0)
            return -1;
        return constant(c, expr, &v, out);
    }
    if (find_access(c->e->scope, expr, &a))
        return access_node(c, expr, &a, out);
    switch (expr->kind) {
    case EXPR_UNARY:
        return compile_unary(c, expr, out);
    case EXPR_BINARY:
        return compile_binary(c, expr, out);
    case EXPR_COMPARE:
        return compile_compare(c, expr, out);
    case EXPR_CHOOSE:
        return compile_choose(c, expr, out);
    case EXPR_CALL:
        return compile_call(c, expr, out);
    default:
        return expr_fail(c->e->scope, expr, c->err, ERR_UsageError,
                         "%s has no value for one element", expr_show(c->e->scope, expr));
    }
}

static int compile(struct compiler *c, const struct expr *expr, struct node **out)
{
    bool was = c->in_braces;
    int rc;

    c->in_braces |= is_braced(c->e->scope, expr);
    rc = compile_known(c, expr, out);
    c->in_braces = was;
    return rc;
}

static struct elementwise *new_program(struct scope *scope, const struct elements *elements,
                                       struct err *err)
{
    struct elementwise *e = arena_alloc(scope->arena, sizeof(*e));

    if (!e) {
        err_set(err, ERR_ResourceError, "the expression does not fit in the cell's memory");
        return NULL;
    }
    e->scope = scope;
    e->elements = *elements;
    return e;
}

int elementwise_compile(struct scope *scope, const struct expr *expr,
                        const struct elements *elements, struct elementwise **out, struct err *err)
{
    struct elementwise *e = new_program(scope, elements, err);
    struct compiler c = { e, err, elements->is_initial };

    if (!e || compile(&c, expr, &e->root) < 0)
        return -1;
    *out = e;
    return 0;
}

int elementwise_load(struct scope *scope, const struct expr *expr, const struct value *place,
                     const struct leaf *leaf, const struct elements *elements,
                     struct elementwise **out, struct err *err)
{
    struct elementwise *e = new_program(scope, elements, err);
    struct compiler c = { e, err, false };
    enum scalar_kind kind = leaf ? leaf->kind : buffer_value_type(place)->kind;

    if (!e || load_node(&c, expr, place, leaf ? leaf->path : "", kind, leaf ? leaf->offset : 0,
                        &e->root) < 0)
        return -1;
    *out = e;
    return 0;
}

int elementwise_iota(struct scope *scope, const struct expr *expr, int64_t factor, int64_t add,
                     struct elementwise **out, struct err *err)
{
    struct elements elements = { .rank = 1, .count = INT64_MAX, .shape = { INT64_MAX } };
    struct elementwise *e = new_program(scope, &elements, err);
    struct compiler c = { e, err, false };

    if (!e || !(e->root = new_node(&c, NODE_IOTA, expr, false)))
        return -1;
    e->root->a = factor;
    e->root->b = add;
    *out = e;
    return 0;
}

bool elementwise_is_float(const struct elementwise *e)
{
    return e->root->is_float;
}

enum scalar_kind elementwise_plain(struct elementwise *e)
{
    if (e->root->kind != NODE_LOAD)
        return SCALAR_STRUCT;
    e->root->may_be_unwritten = true;
    return e->root->number;
}

void elementwise_place(const struct elementwise *e, struct value *place, struct leaf *leaf)
{
    const struct node *root = e->root;

    *place = root->place;
    *leaf = (struct leaf){ root->path ? root->path : "", root->number, root->inner };
}
