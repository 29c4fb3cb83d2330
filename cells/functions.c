/*
 * The functions of expressions: one row each. Those on numbers first, then
 * those that look at whole lists.
 */
#include "cells/expr.h"

#include "cells/internal.h"
#include "cells/real.h"
#include "model/base/buf.h"

#include <math.h>

struct call_state {
    struct scope *scope;
    const struct expr *expr;
    struct value *args;
    size_t count;
    struct value *out;
    struct err *err;
};

struct function {
    struct function_help help;
    size_t least, most;
    int (*run)(struct call_state *c, int which);
    int which;
};

static int bad_argument(struct call_state *c, size_t i, const char *what)
{
    const struct value *v = &c->args[i];

    expr_fail(c->scope, c->expr->kids[i], c->err, ERR_UsageError, "%s takes %s, not %s",
              c->expr->text, what, value_a_type(v->type));
    return v->type == VALUE_NULL
               ? err_next(c->err, "where a device cannot count, use device=model: it counts all")
               : -1;
}

static int float_arg(struct call_state *c, size_t i, double *out)
{
    if (!value_as_float(&c->args[i], out))
        return bad_argument(c, i, "a number");
    if (isnan(*out))
        c->scope->saw_nan = true;
    return 0;
}

static int list_arg(struct call_state *c, size_t i)
{
    return c->args[i].type == VALUE_LIST ? 0 : bad_argument(c, i, "a list");
}

static void give_float(struct call_state *c, double f)
{
    *c->out = (struct value){ .type = VALUE_FLOAT, .f = f };
}

static void give_int(struct call_state *c, int64_t i)
{
    *c->out = (struct value){ .type = VALUE_INT, .i = i };
}

static void give_bool(struct call_state *c, bool b)
{
    *c->out = (struct value){ .type = VALUE_BOOL, .b = b };
}

enum { CEIL, FLOOR, ROUND, ABS, SQRT, LOG2, EXP, LOG, SIN, COS, TANH, TO_INT, TO_FLOAT };

static double rounded(double f, int which)
{
    return which == CEIL    ? ceil(f)
           : which == FLOOR ? floor(f)
           : which == ROUND ? round(f)
                            : trunc(f);
}

/* ceil floor round int: integers stay; decimals become integers when they fit. */
static int run_round(struct call_state *c, int which)
{
    double f;

    if (c->args[0].type == VALUE_INT) {
        *c->out = c->args[0];
        return 0;
    }
    if (float_arg(c, 0, &f) < 0)
        return -1;
    f = rounded(f, which);
    if (!(f >= -0x1p63 && f < 0x1p63))
        return expr_fail(c->scope, c->expr, c->err, ERR_ValueError,
                         "%s of %g does not fit in 64 bits", c->expr->text, f);
    give_int(c, (int64_t)f);
    return 0;
}

static int run_abs(struct call_state *c, int which)
{
    double f;

    (void)which;
    if (c->args[0].type == VALUE_INT) {
        if (c->args[0].i == INT64_MIN)
            return expr_fail(c->scope, c->expr, c->err, ERR_ValueError,
                             "abs of -2^63 overflows a 64-bit integer");
        give_int(c, c->args[0].i < 0 ? -c->args[0].i : c->args[0].i);
        return 0;
    }
    if (float_arg(c, 0, &f) < 0)
        return -1;
    give_float(c, fabs(f));
    return 0;
}

/* None is the C library's, whose last digits differ from version to version (cells/real.h). */
static double real_of(int which, double f)
{
    switch (which) {
    case SQRT:
        return sqrt(f);
    case LOG2:
        return real_log2(f);
    case EXP:
        return real_exp(f);
    case LOG:
        return real_log(f);
    case SIN:
        return real_sin(f);
    case COS:
        return real_cos(f);
    case TANH:
        return real_tanh(f);
    default:
        return f;
    }
}

static int run_real(struct call_state *c, int which)
{
    double f;

    /* float("inf"), as papermill writes what JSON cannot. */
    if (which == TO_FLOAT && c->args[0].type == VALUE_STRING) {
        const char *text = c->args[0].text;

        if (strcmp(text, "nan") && strcmp(text, "inf") && strcmp(text, "-inf"))
            return bad_argument(c, 0, "a number, \"nan\", \"inf\" or \"-inf\"");
        give_float(c, *text == 'n' ? (double)NAN : *text == '-' ? -HUGE_VAL : HUGE_VAL);
        return 0;
    }
    if (float_arg(c, 0, &f) < 0)
        return -1;
    give_float(c, real_of(which, f));
    return 0;
}

static int run_pow(struct call_state *c, int which)
{
    double x, y;

    (void)which;
    if (float_arg(c, 0, &x) < 0 || float_arg(c, 1, &y) < 0)
        return -1;
    give_float(c, real_pow(x, y));
    return 0;
}

static int run_clamp(struct call_state *c, int which)
{
    double v, lo, hi;

    (void)which;
    if (float_arg(c, 0, &v) < 0 || float_arg(c, 1, &lo) < 0 || float_arg(c, 2, &hi) < 0)
        return -1;
    if (!(lo <= hi))
        return expr_fail(c->scope, c->expr, c->err, ERR_ValueError,
                         "clamp's limits are %g and %g: the lower one comes first", lo, hi);
    *c->out = v < lo ? c->args[1] : v > hi ? c->args[2] : c->args[0];
    return 0;
}

/* ---- over lists, or over the arguments themselves ---- */

static const struct value *items_of(struct call_state *c, size_t *count)
{
    if (c->count == 1 && c->args[0].type == VALUE_LIST) {
        *count = c->args[0].list.count;
        return c->args[0].list.items;
    }
    *count = c->count;
    return c->args;
}

static int item_number(struct call_state *c, const struct value *item, size_t i, double *out)
{
    bool is_list = c->count == 1 && c->args[0].type == VALUE_LIST;

    if (!value_as_float(item, out)) {
        if (!is_list)
            return bad_argument(c, i, "numbers");
        return expr_fail(c->scope, c->expr, c->err, ERR_UsageError,
                         "%s: element %zu is %s, not a number", c->expr->text, i,
                         value_a_type(item->type));
    }
    if (isnan(*out))
        c->scope->saw_nan = true;
    return 0;
}

enum { MIN, MAX };

static int run_extreme(struct call_state *c, int which)
{
    size_t n;
    const struct value *items = items_of(c, &n);
    double best = 0, f;

    if (n == 0)
        return expr_fail(c->scope, c->expr, c->err, ERR_ValueError, "%s of an empty list",
                         c->expr->text);
    for (size_t i = 0; i < n; i++) {
        if (item_number(c, &items[i], i, &f) < 0)
            return -1;
        /* A NaN wins, so that it cannot hide behind a number. */
        if (i == 0 || isnan(f) || (which == MIN ? f < best : f > best)) {
            best = f;
            *c->out = items[i];
        }
        if (isnan(f))
            break;
    }
    return 0;
}

enum { SUM, MEAN };

static int run_sum(struct call_state *c, int which)
{
    size_t n;
    const struct value *items = items_of(c, &n);
    double f, sum = 0;
    int64_t exact = 0;
    bool is_int = which == SUM;

    if (n == 0 && which == MEAN)
        return expr_fail(c->scope, c->expr, c->err, ERR_ValueError, "mean of an empty list");
    for (size_t i = 0; i < n; i++) {
        if (item_number(c, &items[i], i, &f) < 0)
            return -1;
        sum += f;
        if (items[i].type == VALUE_FLOAT)
            is_int = false;
        else if (is_int &&
                 __builtin_add_overflow(exact, items[i].type == VALUE_INT ? items[i].i : items[i].b,
                                        &exact))
            return expr_fail(c->scope, c->expr, c->err, ERR_ValueError,
                             "the sum overflows a 64-bit integer (-2^63 to 2^63 - 1)");
    }
    if (is_int)
        give_int(c, exact);
    else
        give_float(c, which == MEAN ? sum / (double)n : sum);
    return 0;
}

static int run_count(struct call_state *c, int which)
{
    (void)which;
    if (list_arg(c, 0) < 0)
        return -1;
    give_int(c, (int64_t)c->args[0].list.count);
    return 0;
}

/* ---- two lists ---- */

/* The pair of numbers at i; a number beside a list stands for all its elements. */
static int pair_at(struct call_state *c, size_t i, double *a, double *b)
{
    for (size_t k = 0; k < 2; k++) {
        const struct value *v = &c->args[k];
        double *out = k ? b : a;

        if (v->type == VALUE_LIST)
            v = &v->list.items[i];
        if (!value_as_float(v, out))
            return expr_fail(c->scope, c->expr->kids[k], c->err, ERR_UsageError,
                             "%s compares numbers; element %zu is %s", c->expr->text, i,
                             value_a_type(v->type));
        if (isnan(*out))
            c->scope->saw_nan = true;
    }
    return 0;
}

static int pair_count(struct call_state *c, size_t *n)
{
    bool a = c->args[0].type == VALUE_LIST, b = c->args[1].type == VALUE_LIST;

    if (a && b && c->args[0].list.count != c->args[1].list.count)
        return expr_fail(c->scope, c->expr, c->err, ERR_UsageError,
                         "%s: one list has %zu elements, the other %zu", c->expr->text,
                         c->args[0].list.count, c->args[1].list.count);
    *n = a ? c->args[0].list.count : b ? c->args[1].list.count : 1;
    return 0;
}

static int run_maxerr(struct call_state *c, int which)
{
    double a, b, worst = 0;
    size_t n;

    (void)which;
    if (pair_count(c, &n) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (pair_at(c, i, &a, &b) < 0)
            return -1;
        if (a != b && !(fabs(a - b) <= worst))
            worst = fabs(a - b);
        if (isnan(worst))
            break;
    }
    give_float(c, worst);
    return 0;
}

/* |a - b| <= atol + rtol * |b|, element by element, in a way that NaN fails. */
static int run_close(struct call_state *c, int which)
{
    double a, b, rtol = 1e-5, atol = 1e-8;
    size_t n;

    (void)which;
    if (pair_count(c, &n) < 0 || (c->count > 2 && float_arg(c, 2, &rtol) < 0) ||
        (c->count > 3 && float_arg(c, 3, &atol) < 0))
        return -1;
    if (!(rtol >= 0) || !(atol >= 0))
        return expr_fail(c->scope, c->expr, c->err, ERR_ValueError,
                         "close's tolerances are 0 or more, not %g and %g", rtol, atol);
    for (size_t i = 0; i < n; i++) {
        if (pair_at(c, i, &a, &b) < 0)
            return -1;
        if (a != b && !(fabs(a - b) <= atol + rtol * fabs(b))) {
            give_bool(c, false);
            return 0;
        }
    }
    give_bool(c, true);
    return 0;
}

static bool same_value(const struct value *a, const struct value *b)
{
    double f, g;

    if (value_as_float(a, &f) && value_as_float(b, &g))
        return a->type == VALUE_INT && b->type == VALUE_INT ? a->i == b->i : f == g;
    if ((a->type == VALUE_STRING || a->type == VALUE_NAME) &&
        (b->type == VALUE_STRING || b->type == VALUE_NAME))
        return strcmp(a->text, b->text) == 0;
    if (a->type != b->type)
        return false;
    if (a->type == VALUE_DIM)
        return a->dim.x == b->dim.x && a->dim.y == b->dim.y && a->dim.z == b->dim.z;
    if (a->type == VALUE_JSON)
        return json_equal(a->json, b->json);
    if (a->type == VALUE_RESULT)
        return json_equal(a->result->fields, b->result->fields);
    return a->type == VALUE_NULL;
}

static int run_same(struct call_state *c, int which)
{
    const struct value *a = &c->args[0], *b = &c->args[1];
    bool is_same = a->type == b->type || a->type != VALUE_LIST;

    (void)which;
    if (a->type == VALUE_LIST && b->type == VALUE_LIST) {
        is_same = a->list.count == b->list.count;
        for (size_t i = 0; is_same && i < a->list.count; i++)
            is_same = same_value(&a->list.items[i], &b->list.items[i]);
    } else {
        is_same = same_value(a, b);
    }
    give_bool(c, is_same);
    return 0;
}

static const struct function FUNCTIONS[] = {
    { { "min", "min(a, b, ...) or min(list)", "the smallest; a NaN wins" },
      1,
      64,
      run_extreme,
      MIN },
    { { "max", "max(a, b, ...) or max(list)", "the largest; a NaN wins" },
      1,
      64,
      run_extreme,
      MAX },
    { { "ceil", "ceil(x)", "rounded up, an integer" }, 1, 1, run_round, CEIL },
    { { "floor", "floor(x)", "rounded down, an integer" }, 1, 1, run_round, FLOOR },
    { { "round", "round(x)", "nearest integer, halves away from 0" }, 1, 1, run_round, ROUND },
    { { "int", "int(x)", "towards 0, an integer" }, 1, 1, run_round, TO_INT },
    { { "float", "float(x)", "as a decimal" }, 1, 1, run_real, TO_FLOAT },
    { { "abs", "abs(x)", "without its sign" }, 1, 1, run_abs, ABS },
    { { "sqrt", "sqrt(x)", "square root" }, 1, 1, run_real, SQRT },
    { { "log2", "log2(x)", "logarithm to base 2" }, 1, 1, run_real, LOG2 },
    { { "log", "log(x)", "natural logarithm" }, 1, 1, run_real, LOG },
    { { "exp", "exp(x)", "e to the power of x" }, 1, 1, run_real, EXP },
    { { "sin", "sin(x)", "sine of an angle in radians" }, 1, 1, run_real, SIN },
    { { "cos", "cos(x)", "cosine of an angle in radians" }, 1, 1, run_real, COS },
    { { "tanh", "tanh(x)", "hyperbolic tangent" }, 1, 1, run_real, TANH },
    { { "pow", "pow(x, y)", "x to the power of y, a decimal" }, 2, 2, run_pow, 0 },
    { { "clamp", "clamp(x, lo, hi)", "x, but at least lo and at most hi" }, 3, 3, run_clamp, 0 },
    { { "sum", "sum(list)", "of integers exact, else a decimal" }, 1, 64, run_sum, SUM },
    { { "mean", "mean(list)", "arithmetic mean" }, 1, 64, run_sum, MEAN },
    { { "count", "count(list)", "number of elements" }, 1, 1, run_count, 0 },
    { { "maxerr", "maxerr(a, b)", "largest |a[i] - b[i]|" }, 2, 2, run_maxerr, 0 },
    { { "close", "close(a, b, rtol=1e-5, atol=1e-8)", "|a - b| <= atol + rtol |b| for all" },
      2,
      4,
      run_close,
      0 },
    { { "same", "same(a, b)", "equal in every element" }, 2, 2, run_same, 0 },
};

size_t function_count(void)
{
    return COUNT(FUNCTIONS);
}

const struct function_help *function_help_at(size_t i)
{
    return &FUNCTIONS[i].help;
}

/* What C calls the same in single precision or by another name; a row's name or NULL. */
static const char *name_in_c(const char *name, char *shorter, size_t capacity)
{
    static const char *const OTHERS[][2] = { { "fabs", "abs" },
                                             { "fmax", "max" },
                                             { "fmin", "min" } };
    size_t n = strlen(name);

    if (n > 1 && n < capacity && name[n - 1] == 'f') {
        memcpy(shorter, name, n - 1);
        shorter[n - 1] = '\0';
        name = shorter;
    }
    for (size_t i = 0; i < COUNT(OTHERS); i++)
        if (strcmp(OTHERS[i][0], name) == 0)
            return OTHERS[i][1];
    return name;
}

/* The row of a function; NULL: there is none. */
static const struct function *find(const char *name)
{
    char shorter[16];

    for (size_t i = 0; i < COUNT(FUNCTIONS); i++)
        if (strcmp(FUNCTIONS[i].help.name, name) == 0)
            return &FUNCTIONS[i];
    name = name_in_c(name, shorter, sizeof(shorter));
    for (size_t i = 0; i < COUNT(FUNCTIONS); i++)
        if (strcmp(FUNCTIONS[i].help.name, name) == 0)
            return &FUNCTIONS[i];
    return NULL;
}

bool function_is(const char *name)
{
    return find(name) != NULL;
}

static int unknown_function(struct scope *scope, const struct expr *call, struct err *err)
{
    struct nearest near = { .wanted = call->text };
    struct buf names = { 0 };

    for (size_t i = 0; i < COUNT(FUNCTIONS); i++) {
        nearest_try(&near, FUNCTIONS[i].help.name);
        buf_printf(&names, " %s", FUNCTIONS[i].help.name);
    }
    err_set(err, ERR_NameError,
            near.best ? "no function is called %.40s; %s is the nearest"
                      : "no function is called %.40s",
            call->text, near.best);
    lexer_mark(scope->lexer, call->start, call->start + strlen(call->text), err);
    err_next(err, "functions:%s", buf_text(&names));
    buf_done(&names);
    return -1;
}

int function_call(struct scope *scope, const struct expr *call, struct value *args, size_t count,
                  struct value *out, struct err *err)
{
    struct call_state c = { scope, call, args, count, out, err };

    const struct function *f = find(call->text);

    if (!f)
        return unknown_function(scope, call, err);
    if (count < f->least || count > f->most) {
        expr_fail(scope, call, err, ERR_UsageError, "%s has %zu arguments here", call->text, count);
        return err_next(err, "%s", f->help.signature);
    }
    return f->run(&c, f->which);
}
