/*
 * Lists, ranges and dimensions. A range includes its end and is spread out into
 * its points, at most RANGE_MAX_POINTS of them.
 */
#include "cells/expr.h"
#include "cells/internal.h"

#include <math.h>

static int too_many(struct scope *scope, const struct expr *expr, struct err *err)
{
    return expr_fail(scope, expr, err, ERR_ValueError, "%s has more than %d points",
                     expr_show(scope, expr), RANGE_MAX_POINTS);
}

static int fill_int_range(struct scope *scope, const struct expr *expr, int64_t lo, int64_t hi,
                          int64_t step, struct value *items, size_t *count, struct err *err)
{
    int64_t v = lo;

    for (*count = 0; v <= hi; ++*count) {
        if (*count == RANGE_MAX_POINTS)
            return too_many(scope, expr, err);
        if (items)
            items[*count] = value_int(v);
        if (expr->is_geometric ? __builtin_mul_overflow(v, step, &v)
                               : __builtin_add_overflow(v, step, &v)) {
            ++*count;
            break;
        }
    }
    return 0;
}

static int fill_float_range(struct scope *scope, const struct expr *expr, double lo, double hi,
                            double step, struct value *items, size_t *count, struct err *err)
{
    /* The end belongs to 0..1:0.1 although ten tenths do not add up to 1. */
    double slack = fabs(step) * 1e-9, v = lo;

    for (*count = 0; v <= hi + (expr->is_geometric ? hi * 1e-12 : slack); ++*count) {
        if (*count == RANGE_MAX_POINTS)
            return too_many(scope, expr, err);
        if (items)
            items[*count] = value_float(v);
        v = expr->is_geometric ? v * step : lo + (double)(*count + 1) * step;
    }
    return 0;
}

static int check_range(struct scope *scope, const struct expr *expr, double lo, double hi,
                       double step, struct err *err)
{
    if (!isfinite(lo) || !isfinite(hi) || !isfinite(step))
        return expr_fail(scope, expr, err, ERR_ValueError, "a range needs finite ends");
    if (hi < lo)
        return expr_fail(scope, expr, err, ERR_ValueError,
                         "%s is empty: a range goes upward, its end included",
                         expr_show(scope, expr));
    if (expr->is_geometric ? step <= 1 || lo <= 0 : step <= 0)
        return expr_fail(scope, expr, err, ERR_ValueError,
                         expr->is_geometric ? "%s: a factor is above 1 and starts above 0"
                                            : "%s: a step is above 0",
                         expr_show(scope, expr));
    return 0;
}

int range_eval(struct scope *scope, const struct expr *expr, struct value *out, struct err *err)
{
    struct value part[3] = { [2] = value_int(1) }, *items = NULL;
    double f[3];
    bool is_float = false;
    size_t count;

    for (size_t i = 0; i < expr->count; i++)
        if (expr_eval(scope, expr->kids[i], &part[i], err) < 0 ||
            expr_need_number(scope, expr->kids[i], &part[i], err) < 0)
            return -1;
    for (size_t i = 0; i < 3; i++) {
        value_as_float(&part[i], &f[i]);
        is_float |= part[i].type == VALUE_FLOAT;
        if (part[i].type == VALUE_BOOL)
            part[i] = value_int(part[i].b);
    }
    if (check_range(scope, expr, f[0], f[1], f[2], err) < 0)
        return -1;
    /* Once to count, once to fill. */
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1) {
            items = arena_array(scope->arena, count, sizeof(*items));
            if (!items)
                return expr_fail(scope, expr, err, ERR_ResourceError,
                                 "%zu points do not fit in the cell's memory", count);
        }
        if ((is_float ? fill_float_range(scope, expr, f[0], f[1], f[2], items, &count, err)
                      : fill_int_range(scope, expr, part[0].i, part[1].i, part[2].i, items, &count,
                                       err)) < 0)
            return -1;
    }
    *out = (struct value){ .type = VALUE_LIST, .list = { items, count } };
    return 0;
}

/* [1, 8..10, x]: a range inside a list gives its points. */
int list_eval(struct scope *scope, const struct expr *expr, struct value *out, struct err *err)
{
    struct value *parts = arena_array(scope->arena, expr->count, sizeof(*parts)), *items;
    size_t count = 0, n = 0;

    if (!parts)
        return expr_fail(scope, expr, err, ERR_ResourceError, "the list does not fit in memory");
    for (size_t i = 0; i < expr->count; i++) {
        if (expr_eval(scope, expr->kids[i], &parts[i], err) < 0)
            return -1;
        count += expr->kids[i]->kind == EXPR_RANGE ? parts[i].list.count : 1;
        if (count > RANGE_MAX_POINTS)
            return too_many(scope, expr, err);
    }
    items = arena_array(scope->arena, count, sizeof(*items));
    if (!items)
        return expr_fail(scope, expr, err, ERR_ResourceError, "the list does not fit in memory");
    for (size_t i = 0; i < expr->count; i++) {
        if (expr->kids[i]->kind != EXPR_RANGE)
            items[n++] = parts[i];
        else
            for (size_t j = 0; j < parts[i].list.count; j++)
                items[n++] = parts[i].list.items[j];
    }
    *out = (struct value){ .type = VALUE_LIST, .list = { items, count } };
    return 0;
}

int dim_eval(struct scope *scope, const struct expr *expr, struct value *out, struct err *err)
{
    int64_t n[3] = { 1, 1, 1 };
    struct value v;

    for (size_t i = 0; i < expr->count; i++)
        if (expr_eval(scope, expr->kids[i], &v, err) < 0 ||
            expr_need_int(scope, expr->kids[i], &v, &n[i], err) < 0)
            return -1;
    *out = (struct value){ .type = VALUE_DIM, .dim = { n[0], n[1], n[2], (int)expr->count } };
    return 0;
}
