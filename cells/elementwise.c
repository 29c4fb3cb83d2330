/*
 * From a tree to a program. What does not depend on the element (n, sum(x), x[3])
 * is worked out once, here; the rest becomes nodes whose types are known, int64 or
 * double, so that running them is loops over arrays.
 */
#include "cells/elementwise.h"

#include "cells/elementwise_internal.h"
#include "cells/internal.h"

void elements_of(const struct value *place, struct elements *out)
{
    *out = (struct elements){ .count = buffer_value_elements(place) };
    out->rank = buffer_value_shape(place, out->shape);
    if (!out->rank)
        out->shape[out->rank++] = 1;
}

/* ---- nodes ---- */

struct node *node_new(struct compiler *c, enum node_kind kind, const struct expr *expr,
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
    struct node *n = node_new(c, kind, (*node)->expr, is_float);

    if (!n)
        return -1;
    n->kids[0] = *node;
    *node = n;
    return 0;
}

int node_to_float(struct compiler *c, struct node **node)
{
    return (*node)->is_float ? 0 : unary_node(c, NODE_FLOAT, true, node);
}

static int to_truth(struct compiler *c, struct node **node)
{
    return unary_node(c, NODE_TRUTH, false, node);
}

int node_same_type(struct compiler *c, struct node **a, struct node **b)
{
    if ((*a)->is_float == (*b)->is_float)
        return 0;
    return (*a)->is_float ? node_to_float(c, b) : node_to_float(c, a);
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
        *out = node_new(c, NODE_LIST, expr, false);
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
    *out = node_new(c, NODE_CONST, expr, v->type == VALUE_FLOAT);
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
    *out = node_new(c, NODE_LOAD, expr, scalar_is_float(kind));
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

        if (node_compile(c, a->indexes[d], &index) < 0)
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
    bool is_varying = false;
    int rank;

    for (size_t i = 0; i < a->count; i++)
        is_varying |= elementwise_depends(c->e->scope, a->indexes[i], c->in_braces);
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
    *out = node_new(c, NODE_GATHER, expr, scalar_is_float(kind));
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
    int k = elementwise_buffer(c->e->scope, expr->kids[0]) ? 0 : 1;
    const char *name = expr->kids[k]->text;

    if (c->in_braces || (expr->op != '+' && expr->op != '-') ||
        !elementwise_buffer(c->e->scope, expr->kids[k]) || expr->kids[1 - k]->kind != EXPR_VALUE ||
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

    if (refuse_pointer(c, expr) < 0 || node_compile(c, expr->kids[0], &a) < 0 ||
        node_compile(c, expr->kids[1], &b) < 0)
        return -1;
    if (is_logic ? to_truth(c, &a) < 0 || to_truth(c, &b) < 0 : node_same_type(c, &a, &b) < 0)
        return -1;
    if (!is_logic && a->is_float && !strchr("+-*/%", expr->op < 256 ? expr->op : ' '))
        return expr_fail(c->e->scope, expr, c->err, ERR_UsageError,
                         "%s: shifts and bits are for integers, not for decimals",
                         expr_show(c->e->scope, expr));
    *out = node_new(c,
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

    if (node_compile(c, expr->kids[0], &a) < 0)
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

    if (node_compile(c, expr->kids[0], &a) < 0 || node_compile(c, expr->kids[1], &b) < 0 ||
        (expr->count > 2 && (node_compile(c, expr->kids[2], &tolerance) < 0 ||
                             node_to_float(c, &a) < 0 || node_to_float(c, &tolerance) < 0)) ||
        node_same_type(c, &a, &b) < 0)
        return -1;
    n = node_new(c, NODE_COMPARE, expr, false);
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
        if (node_compile(c, expr->kids[i], &kids[i]) < 0)
            return -1;
    if (to_truth(c, &kids[0]) < 0 || node_same_type(c, &kids[1], &kids[2]) < 0)
        return -1;
    *out = node_new(c, NODE_CHOOSE, expr, kids[1]->is_float);
    if (!*out)
        return -1;
    memcpy((*out)->kids, kids, sizeof(kids));
    return 0;
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
    *out = node_new(c, NODE_INDEX, expr, false);
    if (!*out)
        return -1;
    (*out)->which = dimension;
    return 0;
}

static int compile_known(struct compiler *c, const struct expr *expr, struct node **out)
{
    struct access a;
    struct value v;
    int dimension;

    if (expr->kind == EXPR_NAME) {
        dimension = elementwise_index(c->e->scope, expr->text, c->in_braces);
        if (dimension >= 0)
            return index_node(c, expr, dimension, out);
    }
    if (!elementwise_depends(c->e->scope, expr, c->in_braces)) {
        if (expr_eval(c->e->scope, expr, &v, c->err) < 0)
            return -1;
        return constant(c, expr, &v, out);
    }
    if (elementwise_access(c->e->scope, expr, &a))
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
        return node_call(c, expr, out);
    default:
        return expr_fail(c->e->scope, expr, c->err, ERR_UsageError,
                         "%s has no value for one element", expr_show(c->e->scope, expr));
    }
}

int node_compile(struct compiler *c, const struct expr *expr, struct node **out)
{
    bool was = c->in_braces;
    int rc;

    c->in_braces |= elementwise_is_braced(c->e->scope, expr);
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

    if (!e || node_compile(&c, expr, &e->root) < 0)
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

    if (!e || !(e->root = node_new(&c, NODE_IOTA, expr, false)))
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
