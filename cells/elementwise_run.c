/*
 * Running a program over a block of elements: each node fills an array. A mask says
 * which elements count, because {i > 0 ? 10 / i : 0} divides by zero nowhere.
 */
#include "cells/buffer_number.h"
#include "cells/elementwise_internal.h"
#include "cells/internal.h"
#include "cells/random.h"
#include "cells/real.h"

#include <math.h>
#include <stdio.h>

static int eval(struct elementwise *e, struct node *node, const uint8_t *mask);

static bool counts(const uint8_t *mask, size_t k)
{
    return !mask || mask[k];
}

/* "i=2, j=3": which element of the chunk. */
static const char *where(struct elementwise *e, size_t k, char *out, size_t size)
{
    int64_t at = e->first + (int64_t)k, index[BUFFER_RANK_MAX] = { 0 };
    size_t n = 0;

    for (int d = e->elements.rank - 1; d >= 0; d--) {
        index[d] = d ? at % e->elements.shape[d] : at;
        at /= d ? e->elements.shape[d] : 1;
    }
    for (int d = 0; d < e->elements.rank; d++)
        n += (size_t)snprintf(out + n, size - n, "%s%c=%lld", d ? ", " : "", "ijk"[d],
                              (long long)index[d]);
    return out;
}

static int fail(struct elementwise *e, const struct node *node, size_t k, const char *what)
{
    char text[100];

    return expr_fail(e->scope, node->expr, e->err, ERR_ValueError, "%s %s at %s",
                     expr_show(e->scope, node->expr), what, where(e, k, text, sizeof(text)));
}

/* ---- leaves of the tree ---- */

static void run_index(struct elementwise *e, struct node *node)
{
    int64_t inner = 1, size = e->elements.shape[node->which], at, rest;

    for (int d = node->which + 1; d < e->elements.rank; d++)
        inner *= e->elements.shape[d];
    if (node->which == 0)
        size = INT64_MAX;
    at = e->first / inner;
    at = node->which ? at % size : at;
    rest = e->first % inner;
    for (size_t k = 0; k < e->n; k++) {
        node->ints[k] = at;
        if (++rest == inner) {
            rest = 0;
            if (++at == size)
                at = 0;
        }
    }
}

static int big(struct elementwise *e, const struct node *node, const int64_t *ints, size_t n,
               const uint8_t *mask)
{
    for (size_t k = 0; k < n; k++)
        if (ints[k] < 0 && counts(mask, k))
            return fail(e, node, k, "is above 2^63 - 1, the largest integer here,");
    return 0;
}

/* "[3]": the element that a load or a gather reads. */
static const char *element_text(struct elementwise *e, const struct node *node, size_t k)
{
    int64_t shape[BUFFER_RANK_MAX],
        i = node->kids[0] ? node->kids[0]->ints[k] : e->first + (int64_t)k;
    int rank = buffer_value_shape(&node->place, shape);

    return buffer_index_text(e->scope->arena, rank, shape, i);
}

static int check_written(struct elementwise *e, const struct node *node, size_t k,
                         const uint8_t *mask, size_t offset)
{
    if (!counts(mask, k) || node->may_be_unwritten ||
        buffer_is_defined(node->place.buffer.buffer, offset, scalar_bytes(node->number)))
        return 0;
    expr_fail(e->scope, node->expr, e->err, ERR_ValueError, "%s%s%s was never written",
              buffer_value_name(e->scope->arena, &node->place), element_text(e, node, k),
              node->path ? node->path : "");
    return err_next(e->err, "a launch or %%buffer %s = ... gives it a value",
                    node->place.buffer.buffer->name);
}

static int run_load(struct elementwise *e, struct node *node, const uint8_t *mask)
{
    const struct buffer *b = node->place.buffer.buffer;
    size_t offset = buffer_value_offset(&node->place, e->first) + node->inner;
    size_t stride = b->type.bytes;
    const char *from = (const char *)b->data + offset;
    bool is_big = false;

    if (buffer_defined(b) && !node->may_be_unwritten)
        for (size_t k = 0; k < e->n; k++)
            if (check_written(e, node, k, mask, offset + k * stride) < 0)
                return -1;
    if (node->is_float)
        scalar_load_floats(node->number, from, stride, node->floats, e->n);
    else
        scalar_load_ints(node->number, from, stride, node->ints, e->n, &is_big);
    /* Plain numbers may be large: who compares them knows their kind. */
    return is_big && !node->may_be_unwritten ? big(e, node, node->ints, e->n, mask) : 0;
}

static int run_gather(struct elementwise *e, struct node *node, const uint8_t *mask)
{
    const struct buffer *b = node->place.buffer.buffer;
    const int64_t *at = node->kids[0]->ints;
    bool is_big = false;

    if (eval(e, node->kids[0], mask) < 0)
        return -1;
    for (size_t k = 0; k < e->n; k++) {
        size_t offset;

        if (!counts(mask, k)) {
            if (node->is_float)
                node->floats[k] = 0;
            else
                node->ints[k] = 0;
            continue;
        }
        offset = buffer_value_offset(&node->place, at[k]) + node->inner;
        if (b->defined_offset && check_written(e, node, k, mask, offset) < 0)
            return -1;
        if (node->is_float)
            scalar_load_floats(node->number, (const char *)b->data + offset, 0, &node->floats[k],
                               1);
        else
            scalar_load_ints(node->number, (const char *)b->data + offset, 0, &node->ints[k], 1,
                             &is_big);
        if (is_big)
            return fail(e, node, k, "is above 2^63 - 1, the largest integer here,");
    }
    return 0;
}

/* kids[0] is the index of this dimension, kids[1] what the dimensions before it came to. */
static int run_bound(struct elementwise *e, struct node *node, const uint8_t *mask)
{
    const int64_t *index = node->kids[0]->ints;

    if (eval(e, node->kids[0], mask) < 0 || (node->kids[1] && eval(e, node->kids[1], mask) < 0))
        return -1;
    for (size_t k = 0; k < e->n; k++) {
        if (counts(mask, k) && (index[k] < 0 || index[k] >= node->a)) {
            char text[100];

            return expr_fail(e->scope, node->expr, e->err, ERR_ValueError,
                             "%s is %lld at %s: the index of %s goes from 0 to %lld",
                             expr_show(e->scope, node->expr), (long long)index[k],
                             where(e, k, text, sizeof(text)), node->place.buffer.buffer->name,
                             (long long)node->a - 1);
        }
        node->ints[k] =
            counts(mask, k) ? index[k] + (node->kids[1] ? node->kids[1]->ints[k] * node->a : 0) : 0;
    }
    return 0;
}

static void run_list(struct elementwise *e, struct node *node)
{
    for (size_t k = 0; k < e->n; k++) {
        const struct value *v = &node->items[(size_t)e->first + k];

        if (node->is_float)
            value_as_float(v, &node->floats[k]);
        else
            node->ints[k] = v->type == VALUE_INT ? v->i : v->b;
    }
}

/* A number that rounds up to the upper limit is the one below it: hi itself is never drawn. */
static double below(enum scalar_kind kind, double v, double lo, double hi)
{
    if (scalar_round(kind, v) < hi)
        return v;
    v = kind == SCALAR_FLOAT ? (double)nextafterf((float)hi, (float)lo) : nextafter(hi, lo);
    return v < lo ? lo : v;
}

static void run_random(struct elementwise *e, struct node *node)
{
    enum scalar_kind kind = e->elements.kind;

    for (size_t k = 0; k < e->n; k++) {
        uint64_t index = (uint64_t)e->first + k;
        double u;

        if (node->which == RANDOM_NORMAL) {
            node->floats[k] =
                node->f + node->g * random_normal(node->seed, index, e->elements.lane);
            continue;
        }
        u = random_uniform(node->seed, index, e->elements.lane, kind == SCALAR_DOUBLE);
        node->floats[k] = below(kind, node->f + (node->g - node->f) * u, node->f, node->g);
    }
}

/* ---- operators ---- */

static int shift(struct elementwise *e, const struct node *node, size_t k, int64_t a, int64_t b,
                 int64_t *out)
{
    if (b < 0 || b > 63)
        return fail(e, node, k, "shifts by less than 0 or more than 63");
    if (node->which == OP_SHR) {
        *out = a >> b;
        return 0;
    }
    *out = (int64_t)((uint64_t)a << b);
    return *out >> b == a ? 0 : fail(e, node, k, "overflows a 64-bit integer");
}

static int divide(struct elementwise *e, const struct node *node, size_t k, int64_t a, int64_t b,
                  int64_t *out)
{
    if (b == 0)
        return fail(e, node, k, "divides by zero");
    if (b == -1 && a == INT64_MIN)
        return fail(e, node, k, "overflows a 64-bit integer");
    *out = node->which == '/' ? a / b : a % b;
    return 0;
}

#define EACH(condition)                                                                            \
    for (size_t k = 0; k < e->n; k++)                                                              \
        if ((condition) && counts(mask, k))                                                        \
    return fail(e, node, k, "overflows a 64-bit integer")

static int run_ints(struct elementwise *e, struct node *node, const uint8_t *mask)
{
    const int64_t *a = node->kids[0]->ints, *b = node->kids[1]->ints;
    int64_t *out = node->ints;
    bool is_shift = node->which == OP_SHL || node->which == OP_SHR;

    switch (node->which) {
    case '+':
        EACH(__builtin_add_overflow(a[k], b[k], &out[k]));
        return 0;
    case '-':
        EACH(__builtin_sub_overflow(a[k], b[k], &out[k]));
        return 0;
    case '*':
        EACH(__builtin_mul_overflow(a[k], b[k], &out[k]));
        return 0;
    case '&':
        for (size_t k = 0; k < e->n; k++)
            out[k] = a[k] & b[k];
        return 0;
    case '|':
        for (size_t k = 0; k < e->n; k++)
            out[k] = a[k] | b[k];
        return 0;
    case '^':
        for (size_t k = 0; k < e->n; k++)
            out[k] = a[k] ^ b[k];
        return 0;
    }
    for (size_t k = 0; k < e->n; k++) {
        out[k] = 0;
        if (counts(mask, k) && (is_shift ? shift(e, node, k, a[k], b[k], &out[k])
                                         : divide(e, node, k, a[k], b[k], &out[k])) < 0)
            return -1;
    }
    return 0;
}

static void run_floats(struct elementwise *e, struct node *node)
{
    const double *a = node->kids[0]->floats, *b = node->kids[1]->floats;
    double *out = node->floats;

    switch (node->which) {
    case '+':
        for (size_t k = 0; k < e->n; k++)
            out[k] = a[k] + b[k];
        break;
    case '-':
        for (size_t k = 0; k < e->n; k++)
            out[k] = a[k] - b[k];
        break;
    case '*':
        for (size_t k = 0; k < e->n; k++)
            out[k] = a[k] * b[k];
        break;
    case '/':
        for (size_t k = 0; k < e->n; k++)
            out[k] = a[k] / b[k];
        break;
    default:
        for (size_t k = 0; k < e->n; k++)
            out[k] = fmod(a[k], b[k]);
    }
}

static int run_unary(struct elementwise *e, struct node *node, const uint8_t *mask)
{
    struct node *a = node->kids[0];

    for (size_t k = 0; k < e->n; k++) {
        if (node->is_float)
            node->floats[k] = -a->floats[k];
        else if (node->which == '!')
            node->ints[k] = !a->ints[k];
        else if (node->which == '~')
            node->ints[k] = ~a->ints[k];
        else if (__builtin_sub_overflow((int64_t)0, a->ints[k], &node->ints[k]) && counts(mask, k))
            return fail(e, node, k, "overflows a 64-bit integer");
    }
    return 0;
}

#define COMPARE(type, sign)                                                                        \
    for (size_t k = 0; k < e->n; k++)                                                              \
    out[k] = node->kids[0]->type[k] sign node->kids[1]->type[k]

static void run_compare(struct elementwise *e, struct node *node)
{
    const struct node *a = node->kids[0], *b = node->kids[1], *t = node->kids[2];
    int64_t *out = node->ints;

    for (size_t k = 0; t && k < e->n; k++) {
        double x = a->floats[k], y = b->floats[k];
        double most = node->is_relative ? t->floats[k] * fabs(y) : t->floats[k];

        out[k] = (x == y || fabs(x - y) <= most) == (node->which == OP_EQ);
    }
    if (t)
        return;
#define ROW(op, sign)                                                                              \
    if (node->which == (op)) {                                                                     \
        if (a->is_float) {                                                                         \
            COMPARE(floats, sign);                                                                 \
        } else {                                                                                   \
            COMPARE(ints, sign);                                                                   \
        }                                                                                          \
    }
    ROW(OP_EQ, ==)
    ROW(OP_NE, !=)
    ROW('<', <)
    ROW('>', >)
    ROW(OP_LE, <=)
    ROW(OP_GE, >=)
#undef ROW
}

/* Where a condition holds (or not), of what counts already. */
static void narrow(const struct elementwise *e, const uint8_t *mask, const int64_t *condition,
                   bool wanted, uint8_t *out)
{
    for (size_t k = 0; k < e->n; k++)
        out[k] = counts(mask, k) && (condition[k] != 0) == wanted;
}

static int run_choice(struct elementwise *e, struct node *node, const uint8_t *mask)
{
    const int64_t *condition = node->kids[0]->ints;
    uint8_t inner[ELEMENTWISE_CHUNK];

    if (eval(e, node->kids[0], mask) < 0)
        return -1;
    narrow(e, mask, condition, node->kind != NODE_OR, inner);
    if (eval(e, node->kids[1], inner) < 0)
        return -1;
    if (node->kind != NODE_CHOOSE) {
        for (size_t k = 0; k < e->n; k++)
            node->ints[k] = node->kind == NODE_AND ? condition[k] && node->kids[1]->ints[k]
                                                   : condition[k] || node->kids[1]->ints[k];
        return 0;
    }
    narrow(e, mask, condition, false, inner);
    if (eval(e, node->kids[2], inner) < 0)
        return -1;
    for (size_t k = 0; k < e->n; k++)
        if (node->is_float)
            node->floats[k] = node->kids[condition[k] ? 1 : 2]->floats[k];
        else
            node->ints[k] = node->kids[condition[k] ? 1 : 2]->ints[k];
    return 0;
}

/* ---- functions ---- */

static int run_rounding(struct elementwise *e, struct node *node, const uint8_t *mask)
{
    const double *a = node->kids[0]->floats;

    for (size_t k = 0; k < e->n; k++) {
        double f = node->which == FUNCTION_CEIL    ? ceil(a[k])
                   : node->which == FUNCTION_FLOOR ? floor(a[k])
                   : node->which == FUNCTION_ROUND ? round(a[k])
                                                   : trunc(a[k]);
        bool fits = f >= -0x1p63 && f < 0x1p63;

        if (!fits && counts(mask, k))
            return fail(e, node, k, "does not fit in 64 bits");
        node->ints[k] = fits ? (int64_t)f : 0;
    }
    return 0;
}

static int run_function(struct elementwise *e, struct node *node, const uint8_t *mask)
{
    const struct node *a = node->kids[0], *b = node->kids[1];
    bool is_max = node->which == FUNCTION_MAX;

    if (node->which >= FUNCTION_CEIL && node->which <= FUNCTION_TRUNC)
        return run_rounding(e, node, mask);
    for (size_t k = 0; k < e->n; k++) {
        switch (node->which) {
        case FUNCTION_REAL:
            node->floats[k] = node->real(a->floats[k]);
            break;
        case FUNCTION_POW:
            node->floats[k] = real_pow(a->floats[k], b->floats[k]);
            break;
        case FUNCTION_ABS:
            if (node->is_float)
                node->floats[k] = fabs(a->floats[k]);
            else if (a->ints[k] == INT64_MIN && counts(mask, k))
                return fail(e, node, k, "overflows a 64-bit integer");
            else
                node->ints[k] = a->ints[k] < 0 ? (int64_t)(0 - (uint64_t)a->ints[k]) : a->ints[k];
            break;
        default: /* MIN, MAX; a NaN wins, so that it cannot hide */
            if (!node->is_float) {
                node->ints[k] = (a->ints[k] > b->ints[k]) == is_max ? a->ints[k] : b->ints[k];
            } else {
                double x = a->floats[k], y = b->floats[k];

                node->floats[k] = isnan(x) || (x > y) == is_max ? x : y;
                if (isnan(y))
                    node->floats[k] = y;
            }
        }
    }
    return 0;
}

/* ---- the whole ---- */

static int eval_kids(struct elementwise *e, struct node *node, const uint8_t *mask)
{
    for (size_t i = 0; i < COUNT(node->kids); i++)
        if (node->kids[i] && eval(e, node->kids[i], mask) < 0)
            return -1;
    return 0;
}

static int eval(struct elementwise *e, struct node *node, const uint8_t *mask)
{
    switch (node->kind) {
    case NODE_CONST:
        return 0;
    case NODE_INDEX:
        run_index(e, node);
        return 0;
    case NODE_IOTA:
        for (size_t k = 0; k < e->n; k++)
            node->ints[k] = (e->first + (int64_t)k) * node->a + node->b;
        return 0;
    case NODE_LOAD:
        return run_load(e, node, mask);
    case NODE_GATHER:
        return run_gather(e, node, mask);
    case NODE_BOUND:
        return run_bound(e, node, mask);
    case NODE_LIST:
        run_list(e, node);
        return 0;
    case NODE_RANDOM:
        run_random(e, node);
        return 0;
    case NODE_AND:
    case NODE_OR:
    case NODE_CHOOSE:
        return run_choice(e, node, mask);
    default:
        break;
    }
    if (eval_kids(e, node, mask) < 0)
        return -1;
    switch (node->kind) {
    case NODE_FLOAT:
        for (size_t k = 0; k < e->n; k++)
            node->floats[k] = (double)node->kids[0]->ints[k];
        return 0;
    case NODE_TRUTH:
        for (size_t k = 0; k < e->n; k++)
            node->ints[k] = node->kids[0]->is_float ? node->kids[0]->floats[k] != 0
                                                    : node->kids[0]->ints[k] != 0;
        return 0;
    case NODE_UNARY:
        return run_unary(e, node, mask);
    case NODE_BINARY:
        if (!node->is_float)
            return run_ints(e, node, mask);
        run_floats(e, node);
        return 0;
    case NODE_COMPARE:
        run_compare(e, node);
        return 0;
    default:
        return run_function(e, node, mask);
    }
}

int elementwise_run(struct elementwise *e, int64_t first, size_t n, const int64_t **ints,
                    const double **floats, struct err *err)
{
    if (e->scope->session && session_check_stop(e->scope->session, err) < 0)
        return -1;
    e->first = first;
    e->n = n;
    e->err = err;
    if (eval(e, e->root, NULL) < 0)
        return -1;
    *ints = e->root->is_float ? NULL : e->root->ints;
    *floats = e->root->is_float ? e->root->floats : NULL;
    return 0;
}

int elementwise_value(struct elementwise *e, int64_t i, struct value *out, struct err *err)
{
    const int64_t *ints;
    const double *floats;
    const struct node *root = e->root;

    if (root->kind == NODE_LOAD) {
        struct leaf leaf = { "", root->number, root->inner };

        *out = buffer_leaf_value(&root->place, i, &leaf);
        return 0;
    }
    if (elementwise_run(e, i, 1, &ints, &floats, err) < 0)
        return -1;
    *out = ints ? value_int(ints[0]) : value_float(floats[0]);
    return 0;
}
