/*
 * Operators. Integers are exact or an error: no result is ever silently wrapped,
 * because a student's block count that overflowed looks like a model that is
 * wrong. Doubles are IEEE's.
 */
#include "cells/buffer_value.h"
#include "cells/expr.h"
#include "cells/internal.h"

#include <math.h>

static int overflow(struct scope *scope, const struct expr *expr, struct err *err)
{
    return expr_fail(scope, expr, err, ERR_ValueError,
                     "%s overflows a 64-bit integer (-2^63 to 2^63 - 1)", expr_show(scope, expr));
}

int operator_unary(struct scope *scope, const struct expr *expr, struct value *out, struct err *err)
{
    struct value v;
    int64_t i;
    bool b = false;

    if (expr->op == '!') {
        if (expr_eval_truth(scope, expr->kids[0], &b, err) < 0)
            return -1;
        *out = value_bool(!b);
        return 0;
    }
    if (expr_eval(scope, expr->kids[0], &v, err) < 0)
        return -1;
    if (v.type == VALUE_FLOAT && expr->op != '~') {
        *out = value_float(expr->op == '-' ? -v.f : v.f);
        return 0;
    }
    if (expr_need_int(scope, expr->kids[0], &v, &i, err) < 0)
        return -1;
    if (expr->op == '-' && __builtin_sub_overflow((int64_t)0, i, &i))
        return overflow(scope, expr, err);
    *out = value_int(expr->op == '~' ? ~i : i);
    return 0;
}

static int eval_shift(struct scope *scope, const struct expr *expr, int64_t a, int64_t b,
                      int64_t *out, struct err *err)
{
    if (b < 0 || b > 63)
        return expr_fail(scope, expr, err, ERR_ValueError, "a shift by %lld: 0 to 63 are allowed",
                         (long long)b);
    if (expr->op == OP_SHR) {
        *out = a >> b;
        return 0;
    }
    *out = (int64_t)((uint64_t)a << b);
    return *out >> b == a ? 0 : overflow(scope, expr, err);
}

static int eval_divide(struct scope *scope, const struct expr *expr, int64_t a, int64_t b,
                       int64_t *out, struct err *err)
{
    if (b == 0)
        return expr_fail(scope, expr, err, ERR_ValueError, "%s divides by zero",
                         expr_show(scope, expr));
    if (a == INT64_MIN && b == -1)
        return overflow(scope, expr, err);
    *out = expr->op == '/' ? a / b : a % b;
    return 0;
}

static int eval_integers(struct scope *scope, const struct expr *expr, int64_t a, int64_t b,
                         struct value *out, struct err *err)
{
    bool is_over = false;
    int rc = 0;

    *out = value_int(0);
    switch (expr->op) {
    case '+':
        is_over = __builtin_add_overflow(a, b, &out->i);
        break;
    case '-':
        is_over = __builtin_sub_overflow(a, b, &out->i);
        break;
    case '*':
        is_over = __builtin_mul_overflow(a, b, &out->i);
        break;
    case '/':
    case '%':
        rc = eval_divide(scope, expr, a, b, &out->i, err);
        break;
    case OP_SHL:
    case OP_SHR:
        rc = eval_shift(scope, expr, a, b, &out->i, err);
        break;
    case '&':
        out->i = a & b;
        break;
    case '|':
        out->i = a | b;
        break;
    case '^':
        out->i = a ^ b;
        break;
    }
    return is_over ? overflow(scope, expr, err) : rc;
}

static int eval_floats(struct scope *scope, const struct expr *expr, double a, double b,
                       struct value *out, struct err *err)
{
    switch (expr->op) {
    case '+':
        *out = value_float(a + b);
        return 0;
    case '-':
        *out = value_float(a - b);
        return 0;
    case '*':
        *out = value_float(a * b);
        return 0;
    case '/':
        *out = value_float(a / b);
        return 0;
    case '%':
        *out = value_float(fmod(a, b));
        return 0;
    default:
        return expr_fail(scope, expr, err, ERR_UsageError,
                         "%s: shifts and bits are for integers, not for decimals",
                         expr_show(scope, expr));
    }
}

/* && and || look at their right side only when the left one has not decided. */
static int eval_logic(struct scope *scope, const struct expr *expr, struct value *out,
                      struct err *err)
{
    bool b = false;

    if (expr_eval_truth(scope, expr->kids[0], &b, err) < 0 ||
        (b == (expr->op == OP_AND) && expr_eval_truth(scope, expr->kids[1], &b, err) < 0))
        return -1;
    *out = value_bool(b);
    return 0;
}

int operator_binary(struct scope *scope, const struct expr *expr, struct value *out,
                    struct err *err)
{
    struct value a, b;
    int64_t i, j;
    double f, g;

    if (expr->op == OP_AND || expr->op == OP_OR)
        return eval_logic(scope, expr, out, err);
    if (expr_eval(scope, expr->kids[0], &a, err) < 0 ||
        expr_eval(scope, expr->kids[1], &b, err) < 0)
        return -1;
    if (a.type == VALUE_BUFFER || b.type == VALUE_BUFFER)
        return buffer_arithmetic(scope, expr, &a, &b, out, err);
    if (expr_need_number(scope, expr->kids[0], &a, err) < 0 ||
        expr_need_number(scope, expr->kids[1], &b, err) < 0)
        return -1;
    if (a.type == VALUE_FLOAT || b.type == VALUE_FLOAT) {
        value_as_float(&a, &f);
        value_as_float(&b, &g);
        return eval_floats(scope, expr, f, g, out, err);
    }
    i = a.type == VALUE_INT ? a.i : a.b;
    j = b.type == VALUE_INT ? b.i : b.b;
    return eval_integers(scope, expr, i, j, out, err);
}
