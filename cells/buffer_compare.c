/*
 * A pass over two sequences of numbers. Both are programs (elementwise.h); where a
 * side is plain memory, an element that nobody wrote is a difference, not an error,
 * so that the check can say how many there are and which is the first.
 */
#include "cells/buffer_compare.h"

#include "cells/buffer_number.h"
#include "cells/elementwise.h"
#include "cells/internal.h"

#include <math.h>
#include <stdio.h>

struct side {
    const struct expr *expr;
    struct elementwise *program;
    enum scalar_kind kind; /* of plain memory; else SCALAR_STRUCT */
    struct value place;    /* of plain memory */
    struct leaf leaf;
    bool is_whole; /* all of it was written */
    const int64_t *ints;
    const double *floats;
};

struct comparing {
    struct scope *scope;
    struct compare_rule rule;
    struct elements elements;
    struct side side[2];
    enum scalar_kind narrow; /* both sides are rounded to it; SCALAR_DOUBLE: neither */
    struct comparison *out;
    const char *path; /* of the number in the element: ".x" */
    double worst;
    int64_t worst_at;
    struct err *err;
};

static bool is_written(const struct side *s, int64_t i)
{
    return s->is_whole || s->kind == SCALAR_STRUCT ||
           buffer_is_defined(s->place.buffer.buffer,
                             buffer_value_offset(&s->place, i) + s->leaf.offset,
                             scalar_bytes(s->kind));
}

/* ---- one pair ---- */

static double number(const struct side *s, size_t k, enum scalar_kind narrow)
{
    if (s->floats)
        return scalar_round(narrow, s->floats[k]);
    return s->kind == SCALAR_ULONG ? (double)(uint64_t)s->ints[k] : (double)s->ints[k];
}

/* Two integers in 65 bits: a ulong beyond 2^63 is above every int64. */
static int order_ints(const struct side *a, const struct side *b, size_t k)
{
    bool is_above = a->kind == SCALAR_ULONG && a->ints[k] < 0;
    bool is_below = b->kind == SCALAR_ULONG && b->ints[k] < 0;

    if (is_above != is_below)
        return is_above ? 1 : -1;
    return (a->ints[k] > b->ints[k]) - (a->ints[k] < b->ints[k]);
}

static bool holds(int op, bool is_less, bool is_equal, bool is_more)
{
    switch (op) {
    case OP_EQ:
        return is_equal;
    case OP_NE:
        return !is_equal;
    case '<':
        return is_less;
    case '>':
        return is_more;
    case OP_LE:
        return is_less || is_equal;
    default:
        return is_more || is_equal;
    }
}

static bool pair_holds(struct comparing *c, size_t k, int64_t i)
{
    const struct side *a = &c->side[0], *b = &c->side[1];
    double x, y, off;
    bool is_inside;
    int order;

    if (a->ints && b->ints && !c->rule.has_tolerance) {
        order = order_ints(a, b, k);
        return holds(c->rule.op, order<0, order == 0, order> 0);
    }
    x = number(a, k, c->narrow);
    y = number(b, k, c->narrow);
    if (isnan(x) || isnan(y)) {
        c->scope->saw_nan = true;
        return false;
    }
    if (!c->rule.has_tolerance)
        return holds(c->rule.op, x<y, x == y, x> y);
    off = x == y ? 0 : fabs(x - y);
    if (off > c->worst) {
        c->worst = off;
        c->worst_at = i;
    }
    is_inside = x == y || off <= c->rule.atol + c->rule.rtol * fabs(y);
    return is_inside == (c->rule.op == OP_EQ);
}

/* ---- the pass ---- */

static int run_side(struct comparing *c, struct side *s, int64_t first, size_t n)
{
    return elementwise_run(s->program, first, n, &s->ints, &s->floats, c->err);
}

static int note(struct comparing *c, int64_t i)
{
    const char *where;

    if (c->out->differing++)
        return 0;
    c->out->first = (size_t)i;
    where = arena_printf(c->scope->arena, "%s%s",
                         buffer_index_text(c->scope->arena, c->elements.rank, c->elements.shape, i),
                         c->path);
    c->out->where = where ? where : "";
    /* The values are taken again: the programs may stand at other elements by then. */
    for (int k = 0; k < 2; k++)
        if (elementwise_value(c->side[k].program, i, k ? &c->out->right : &c->out->left, c->err) <
            0)
            return -1;
    return 0;
}

static int run_pass(struct comparing *c)
{
    /* Lists differ when some element does; every other comparison holds for all elements. */
    if (c->rule.op == OP_NE)
        c->rule.op = OP_EQ;
    for (int64_t first = 0; first < c->elements.count; first += ELEMENTWISE_CHUNK) {
        size_t n = (size_t)min_i64(ELEMENTWISE_CHUNK, c->elements.count - first);
        uint8_t differs[ELEMENTWISE_CHUNK];
        size_t found = 0;

        if (run_side(c, &c->side[0], first, n) < 0 || run_side(c, &c->side[1], first, n) < 0)
            return -1;
        for (size_t k = 0; k < n; k++) {
            int64_t i = first + (int64_t)k;

            differs[k] =
                !is_written(&c->side[0], i) || !is_written(&c->side[1], i) || !pair_holds(c, k, i);
            found += differs[k];
        }
        for (size_t k = 0; found && k < n; k++)
            if (differs[k] && note(c, first + (int64_t)k) < 0)
                return -1;
    }
    return 0;
}

/* ---- setting up ---- */

/* Is it plain memory: a buffer, a row, a member of all elements? Then its place. */
static int take_place(struct comparing *c, struct side *s, const struct leaf *leaf)
{
    if (s->place.type == VALUE_BUFFER)
        return elementwise_load(c->scope, s->expr, &s->place, leaf, &c->elements, &s->program,
                                c->err);
    return elementwise_compile(c->scope, s->expr, &c->elements, &s->program, c->err);
}

/* The side as a whole place: x, A[2], not in braces, not with a member. */
static int find_place(struct scope *scope, struct side *s, struct err *err)
{
    struct value first;

    s->place.type = VALUE_NULL;
    if ((s->expr->kind != EXPR_NAME && s->expr->kind != EXPR_INDEX) ||
        !elementwise_is(scope, s->expr, &first))
        return 0;
    if (s->expr->kind == EXPR_INDEX) {
        struct err ignored = { 0 };
        int rc = expr_eval(scope, s->expr, &first, &ignored);

        err_done(&ignored);
        if (rc < 0) /* {x[i]}: not a place but an element of each */
            return 0;
    } else if (expr_eval(scope, s->expr, &first, err) < 0) {
        return -1;
    }
    if (first.type == VALUE_BUFFER)
        s->place = first;
    return 0;
}

static int set_leaf(struct comparing *c, struct side *s, const struct leaf *leaf)
{
    if (take_place(c, s, leaf) < 0)
        return -1;
    s->kind = elementwise_plain(s->program);
    if (s->kind == SCALAR_STRUCT)
        return 0;
    elementwise_place(s->program, &s->place, &s->leaf);
    s->is_whole = !buffer_defined(s->place.buffer.buffer);
    return 0;
}

/* 0.1f is what C gives for 0.1 beside a float: the other side is rounded as well. */
static enum scalar_kind narrow_kind(const struct comparing *c)
{
    const struct side *a = &c->side[0], *b = &c->side[1];
    bool a_is = a->kind != SCALAR_STRUCT && scalar_is_float(a->kind);
    bool b_is = b->kind != SCALAR_STRUCT && scalar_is_float(b->kind);

    if (c->rule.has_tolerance || a_is == b_is)
        return SCALAR_DOUBLE;
    return a_is ? a->kind : b->kind;
}

static const char *side_name(struct comparing *c, const struct side *s)
{
    const char *name;

    if (s->kind == SCALAR_STRUCT)
        name = expr_show(c->scope, s->expr);
    else
        name = buffer_value_name(c->scope->arena, &s->place);
    return name;
}

static int compare_leaf(struct comparing *c, const struct leaf *left, const struct leaf *right)
{
    for (int k = 0; k < 2; k++)
        if (set_leaf(c, &c->side[k], k ? right : left) < 0)
            return -1;
    c->path = left ? left->path : c->side[0].kind != SCALAR_STRUCT ? c->side[0].leaf.path : "";
    c->narrow = narrow_kind(c);
    c->out->name = side_name(c, &c->side[0]);
    c->out->is_plain = c->side[0].kind != SCALAR_STRUCT;
    return run_pass(c);
}

static int compare_elements(struct comparing *c)
{
    const struct leaf *leaves[2];
    size_t count[2];
    const struct value *places[2] = { &c->side[0].place, &c->side[1].place };

    if (places[0]->type != VALUE_BUFFER || places[1]->type != VALUE_BUFFER)
        return compare_leaf(c, NULL, NULL);
    for (int k = 0; k < 2; k++)
        if (element_leaves(c->scope->arena, buffer_value_type(places[k]), &leaves[k], &count[k],
                           c->err) < 0)
            return -1;
    if (count[0] == 1 && count[1] == 1)
        return compare_leaf(c, NULL, NULL);
    if (count[0] != count[1])
        return expr_fail(c->scope, c->side[1].expr, c->err, ERR_UsageError,
                         "%s has elements of type %s, %s of type %s",
                         places[0]->buffer.buffer->name, buffer_value_type(places[0])->name,
                         places[1]->buffer.buffer->name, buffer_value_type(places[1])->name);
    for (size_t l = 0; l < count[0]; l++) {
        struct value again[2] = { c->side[0].place, c->side[1].place };

        if (compare_leaf(c, &leaves[0][l], &leaves[1][l]) < 0)
            return -1;
        c->side[0].place = again[0];
        c->side[1].place = again[1];
    }
    return 0;
}

int buffer_compare(struct scope *scope, const struct expr *left, const struct expr *right,
                   const struct compare_rule *rule, struct comparison *out, struct err *err)
{
    struct comparing c = { .scope = scope,
                           .rule = *rule,
                           .side = { { .expr = left }, { .expr = right } },
                           .out = out,
                           .path = "",
                           .err = err };
    struct value first;

    *out = (struct comparison){ .is_list = true, .where = "", .name = "" };
    if (!elementwise_is(scope, left, &first) && !elementwise_is(scope, right, &first))
        return err_set(err, ERR_InternalError, "a comparison without elements");
    elements_of(&first, &c.elements);
    if (find_place(scope, &c.side[0], err) < 0 || find_place(scope, &c.side[1], err) < 0 ||
        compare_elements(&c) < 0)
        return -1;
    out->total = (size_t)c.elements.count;
    out->holds = (out->differing == 0) == (rule->op != OP_NE);
    out->worst = c.worst;
    if (c.worst > 0)
        out->worst_where =
            buffer_index_text(scope->arena, c.elements.rank, c.elements.shape, c.worst_at);
    return 0;
}

/* ---- functions ---- */

struct folding {
    struct scope *scope;
    const struct expr *call;
    struct elements elements;
    struct elementwise *program;
    struct value *out;
    struct err *err;
};

/* Compensated, so that 16 million floats of 0.1 add up to what they are. Neumaier, 1974. */
struct precise_sum {
    double sum, lost;
};

static void add(struct precise_sum *s, double v)
{
    double t = s->sum + v;

    s->lost += fabs(s->sum) >= fabs(v) ? (s->sum - t) + v : (v - t) + s->sum;
    s->sum = t;
}

static int fold_sum(struct folding *f, bool is_mean)
{
    struct precise_sum sum = { 0, 0 };
    int64_t exact = 0;
    const int64_t *ints;
    const double *floats;

    for (int64_t first = 0; first < f->elements.count; first += ELEMENTWISE_CHUNK) {
        size_t n = (size_t)min_i64(ELEMENTWISE_CHUNK, f->elements.count - first);

        if (elementwise_run(f->program, first, n, &ints, &floats, f->err) < 0)
            return -1;
        for (size_t k = 0; k < n; k++) {
            if (floats || is_mean)
                add(&sum, floats ? floats[k] : (double)ints[k]);
            else if (__builtin_add_overflow(exact, ints[k], &exact))
                return expr_fail(f->scope, f->call, f->err, ERR_ValueError,
                                 "the sum overflows a 64-bit integer (-2^63 to 2^63 - 1)");
        }
    }
    if (!isfinite(sum.sum + sum.lost))
        sum.lost = 0; /* inf - inf on the way */
    *f->out = elementwise_is_float(f->program) || is_mean ? value_float(sum.sum + sum.lost)
                                                          : value_int(exact);
    if (is_mean)
        f->out->f /= (double)f->elements.count;
    return 0;
}

static int fold_extreme(struct folding *f, bool is_max)
{
    int64_t at = 0, best = 0;
    double best_float = 0;
    const int64_t *ints;
    const double *floats;

    for (int64_t first = 0; first < f->elements.count; first += ELEMENTWISE_CHUNK) {
        size_t n = (size_t)min_i64(ELEMENTWISE_CHUNK, f->elements.count - first);

        if (elementwise_run(f->program, first, n, &ints, &floats, f->err) < 0)
            return -1;
        for (size_t k = 0; k < n; k++) {
            bool is_first = first + (int64_t)k == 0;

            /* A NaN wins, so that it cannot hide behind a number. */
            if (floats && isnan(best_float))
                break;
            if (floats ? is_first || isnan(floats[k]) ||
                             (is_max ? floats[k] > best_float : floats[k] < best_float)
                       : is_first || (is_max ? ints[k] > best : ints[k] < best)) {
                at = first + (int64_t)k;
                best = ints ? ints[k] : 0;
                best_float = floats ? floats[k] : 0;
            }
        }
    }
    return elementwise_value(f->program, at, f->out, f->err);
}

static int fold_maxerr(struct folding *f)
{
    struct elementwise *other;
    double worst = 0;
    const int64_t *ints[2];
    const double *floats[2];

    if (elementwise_compile(f->scope, f->call->kids[1], &f->elements, &other, f->err) < 0)
        return -1;
    for (int64_t first = 0; first < f->elements.count; first += ELEMENTWISE_CHUNK) {
        size_t n = (size_t)min_i64(ELEMENTWISE_CHUNK, f->elements.count - first);

        if (elementwise_run(f->program, first, n, &ints[0], &floats[0], f->err) < 0 ||
            elementwise_run(other, first, n, &ints[1], &floats[1], f->err) < 0)
            return -1;
        for (size_t k = 0; k < n && !isnan(worst); k++) {
            double a = floats[0] ? floats[0][k] : (double)ints[0][k];
            double b = floats[1] ? floats[1][k] : (double)ints[1][k];

            if (a != b && !(fabs(a - b) <= worst))
                worst = fabs(a - b);
        }
    }
    *f->out = value_float(worst);
    return 0;
}

static int arguments(struct scope *scope, const struct expr *call, size_t least, size_t most,
                     const char *signature, struct err *err)
{
    if (call->count >= least && call->count <= most)
        return 0;
    expr_fail(scope, call, err, ERR_UsageError, "%s has %zu arguments here", call->text,
              call->count);
    return err_next(err, "%s", signature);
}

static int tolerance(struct scope *scope, const struct expr *call, size_t i, double *out,
                     struct err *err)
{
    struct value v;

    if (call->count <= i)
        return 0;
    if (expr_eval(scope, call->kids[i], &v, err) < 0 ||
        expr_need_number(scope, call->kids[i], &v, err) < 0)
        return -1;
    value_as_float(&v, out);
    if (!(*out >= 0))
        return expr_fail(scope, call->kids[i], err, ERR_ValueError,
                         "a tolerance is 0 or more, not %g", *out);
    return 0;
}

static bool goes_over_elements(struct scope *scope, const struct expr *call, struct value *first)
{
    for (size_t i = 0; i < call->count && i < 2; i++)
        if (elementwise_is(scope, call->kids[i], first))
            return true;
    return false;
}

int buffer_call_compare(struct scope *scope, const struct expr *call, bool *is_done,
                        struct comparison *out, struct err *err)
{
    bool is_close = strcmp(call->text, "close") == 0;
    struct compare_rule rule = { .op = OP_EQ, .has_tolerance = is_close };
    struct value first;

    *is_done = false;
    if ((!is_close && strcmp(call->text, "same") != 0) || !goes_over_elements(scope, call, &first))
        return 0;
    *is_done = true;
    rule.rtol = 1e-5;
    rule.atol = 1e-8;
    if (arguments(scope, call, 2, is_close ? 4 : 2,
                  is_close ? "close(a, b, rtol=1e-5, atol=1e-8)" : "same(a, b)", err) < 0 ||
        tolerance(scope, call, 2, &rule.rtol, err) < 0 ||
        tolerance(scope, call, 3, &rule.atol, err) < 0)
        return -1;
    return buffer_compare(scope, call->kids[0], call->kids[1], &rule, out, err);
}

static int count_elements(struct folding *f)
{
    *f->out = value_int(f->elements.count);
    return 0;
}

int buffer_function(struct scope *scope, const struct expr *call, bool *is_done, struct value *out,
                    struct err *err)
{
    static const char *const NAMES[] = { "sum", "mean", "min", "max", "count", "maxerr" };
    struct folding f = { .scope = scope, .call = call, .out = out, .err = err };
    struct comparison found;
    struct value first;
    size_t which = 0;

    if (buffer_call_compare(scope, call, is_done, &found, err) < 0)
        return -1;
    if (*is_done) {
        *out = value_bool(found.holds);
        return 0;
    }
    while (which < COUNT(NAMES) && strcmp(NAMES[which], call->text) != 0)
        which++;
    if (which == COUNT(NAMES) || !goes_over_elements(scope, call, &first) ||
        (which < 5 && call->count != 1))
        return 0;
    *is_done = true;
    if (which == 5 && arguments(scope, call, 2, 2, "maxerr(a, b)", err) < 0)
        return -1;
    elements_of(&first, &f.elements);
    if (which == 4)
        return count_elements(&f);
    if (elementwise_compile(scope, call->kids[0], &f.elements, &f.program, err) < 0)
        return -1;
    switch (which) {
    case 0:
    case 1:
        return fold_sum(&f, which == 1);
    case 2:
    case 3:
        return fold_extreme(&f, which == 3);
    default:
        return fold_maxerr(&f);
    }
}
