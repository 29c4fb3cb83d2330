/*
 * Comparisons, of numbers, texts, dimensions and lists. One that fails can say by
 * how much and where: %check asks for that. A NaN is never within a tolerance.
 */
#include "cells/buffer_compare.h"
#include "cells/buffer_number.h"
#include "cells/elementwise.h"
#include "cells/expr.h"
#include "cells/internal.h"

#include <math.h>

static void note_nan(struct scope *scope, const struct value *v)
{
    if (v->type == VALUE_FLOAT && isnan(v->f))
        scope->saw_nan = true;
    if (v->type == VALUE_LIST)
        for (size_t i = 0; i < v->list.count && !scope->saw_nan; i++)
            note_nan(scope, &v->list.items[i]);
}

static bool is_text(const struct value *v)
{
    return v->type == VALUE_STRING || v->type == VALUE_NAME;
}

/* -1, 0, 1, or 2 when a NaN makes them unordered. An int64 and a double compare exactly enough. */
static int order(const struct value *a, const struct value *b)
{
    double f, g;

    if (a->type != VALUE_FLOAT && b->type != VALUE_FLOAT) {
        int64_t i = a->type == VALUE_INT ? a->i : a->b, j = b->type == VALUE_INT ? b->i : b->b;

        return (i > j) - (i < j);
    }
    value_as_float(a, &f);
    value_as_float(b, &g);
    /* A float beside 0.1 compares with 0.1f, as the program that wrote it meant. */
    if (a->type == VALUE_FLOAT && b->type == VALUE_FLOAT && !a->kind != !b->kind) {
        f = scalar_round((enum scalar_kind)(a->kind | b->kind), f);
        g = scalar_round((enum scalar_kind)(a->kind | b->kind), g);
    }
    return isnan(f) || isnan(g) ? 2 : (f > g) - (f < g);
}

static bool ordered(int op, int order)
{
    switch (op) {
    case OP_EQ:
        return order == 0;
    case OP_NE:
        return order != 0;
    case '<':
        return order == -1;
    case '>':
        return order == 1;
    case OP_LE:
        return order == -1 || order == 0;
    default:
        return order == 1 || order == 0;
    }
}

/* Written so that NaN is outside every tolerance. */
static bool within(const struct value *a, const struct value *b, const struct compare_rule *rule)
{
    double f, g;

    value_as_float(a, &f);
    value_as_float(b, &g);
    if (f == g)
        return true;
    return fabs(f - g) <= rule->atol + rule->rtol * fabs(g);
}

static int compare_pair(struct scope *scope, const struct expr *expr, const struct value *a,
                        const struct value *b, const struct compare_rule *rule, bool *holds,
                        struct err *err)
{
    note_nan(scope, a);
    note_nan(scope, b);
    if (is_text(a) && is_text(b) && (rule->op == OP_EQ || rule->op == OP_NE)) {
        *holds = (strcmp(a->text, b->text) == 0) == (rule->op == OP_EQ);
        return 0;
    }
    if (a->type == VALUE_DIM && b->type == VALUE_DIM && (rule->op == OP_EQ || rule->op == OP_NE)) {
        *holds = (a->dim.x == b->dim.x && a->dim.y == b->dim.y && a->dim.z == b->dim.z) ==
                 (rule->op == OP_EQ);
        return 0;
    }
    /* Nobody knows what an element holds that was never written: no comparison passes on it. */
    if (a->type == VALUE_UNWRITTEN || b->type == VALUE_UNWRITTEN) {
        *holds = false;
        return 0;
    }
    if (is_text(a) || is_text(b))
        return expr_fail(scope, expr, err, ERR_UsageError,
                         is_text(a) && is_text(b) ? "%s: texts are equal or not, never less"
                                                  : "%s compares a text with a number",
                         expr_show(scope, expr));
    if (expr_need_number(scope, expr->kids[0], a, err) < 0 ||
        expr_need_number(scope, expr->kids[1], b, err) < 0)
        return -1;
    if (rule->has_tolerance)
        *holds = within(a, b, rule) == (rule->op == OP_EQ);
    else
        *holds = ordered(rule->op, order(a, b));
    return 0;
}

static int compare_lists(struct scope *scope, const struct expr *expr,
                         const struct compare_rule *rule, struct comparison *out, struct err *err)
{
    const struct value *a = &out->left, *b = &out->right;
    struct compare_rule each = *rule;
    size_t n = a->type == VALUE_LIST ? a->list.count : b->list.count;
    bool holds;

    if (a->type == VALUE_LIST && b->type == VALUE_LIST && a->list.count != b->list.count)
        return expr_fail(scope, expr, err, ERR_UsageError,
                         "%s has %zu elements, %s has %zu: only equally long lists compare",
                         expr_show(scope, expr->kids[0]), a->list.count,
                         expr_show(scope, expr->kids[1]), b->list.count);
    /* Lists differ when some element does; every other comparison holds for all elements. */
    each.op = rule->op == OP_NE ? OP_EQ : rule->op;
    out->is_list = true;
    out->total = n;
    for (size_t i = 0; i < n; i++) {
        const struct value *x = a->type == VALUE_LIST ? &a->list.items[i] : a;
        const struct value *y = b->type == VALUE_LIST ? &b->list.items[i] : b;

        if (compare_pair(scope, expr, x, y, &each, &holds, err) < 0)
            return -1;
        if (!holds && !out->differing++)
            out->first = i;
    }
    out->holds = (out->differing == 0) == (rule->op != OP_NE);
    return 0;
}

static int eval_tolerance(struct scope *scope, const struct expr *expr, struct compare_rule *rule,
                          struct err *err)
{
    struct value v;

    if (expr_eval(scope, expr, &v, err) < 0 || expr_need_number(scope, expr, &v, err) < 0)
        return -1;
    value_as_float(&v, expr->is_percent ? &rule->rtol : &rule->atol);
    rule->has_tolerance = true;
    if (!(rule->rtol >= 0 && rule->atol >= 0))
        return expr_fail(scope, expr, err, ERR_ValueError, "a tolerance is 0 or more, not %g",
                         rule->rtol + rule->atol);
    return 0;
}

/* 10us is 1e-5 seconds; t.time_us counts microseconds: such a comparison would lie. */
static int refuse_unit(struct scope *scope, const struct expr *expr, struct err *err)
{
    for (int i = 0; i < 2; i++)
        if (expr->kids[i]->unit > NUMBER_PERCENT && expr->kids[1 - i]->kind != EXPR_VALUE) {
            expr_fail(scope, expr->kids[i], err, ERR_UsageError,
                      "%s has a unit, %s is a plain number", expr_show(scope, expr->kids[i]),
                      expr_show(scope, expr->kids[1 - i]));
            return err_next(err, "compare with a plain number; a field's name says its unit");
        }
    return 0;
}

int expr_compare(struct scope *scope, const struct expr *expr, struct comparison *out,
                 struct err *err)
{
    struct compare_rule rule = { .op = expr->op };
    struct value first;

    *out = (struct comparison){ .total = 1 };
    if (elementwise_is(scope, expr->kids[0], &first) ||
        elementwise_is(scope, expr->kids[1], &first)) {
        if (refuse_unit(scope, expr, err) < 0 ||
            (expr->count > 2 && eval_tolerance(scope, expr->kids[2], &rule, err) < 0))
            return -1;
        return buffer_compare(scope, expr->kids[0], expr->kids[1], &rule, out, err);
    }
    if (refuse_unit(scope, expr, err) < 0 || expr_eval(scope, expr->kids[0], &out->left, err) < 0 ||
        expr_eval(scope, expr->kids[1], &out->right, err) < 0)
        return -1;
    if (expr->count > 2 && eval_tolerance(scope, expr->kids[2], &rule, err) < 0)
        return -1;
    if (out->left.type == VALUE_LIST || out->right.type == VALUE_LIST)
        return compare_lists(scope, expr, &rule, out, err);
    return compare_pair(scope, expr, &out->left, &out->right, &rule, &out->holds, err);
}
