/*
 * Names of C and of the program that expressions may call: what a math header defines, and the
 * macros and functions of the session that are one expression themselves.
 */
#include "cells/expr.h"

#include "cells/cuda_formula.h"
#include "cells/cuda_scan.h"
#include "cells/internal.h"

#include <float.h>
#include <limits.h>
#include <math.h>

enum { MAX_FORMULA_DEPTH = 16 };

bool expr_header_constant(const char *name, struct value *out)
{
    static const struct {
        const char *name;
        double f;
    } DECIMALS[] = {
        { "INFINITY", HUGE_VAL },
        { "FLT_MAX", FLT_MAX },
        { "FLT_MIN", FLT_MIN },
        { "FLT_EPSILON", FLT_EPSILON },
        { "DBL_MAX", DBL_MAX },
        { "DBL_MIN", DBL_MIN },
        { "DBL_EPSILON", DBL_EPSILON },
        { "M_PI", M_PI },
        { "M_E", M_E },
        { "M_SQRT2", M_SQRT2 },
        { "CUDART_INF_F", HUGE_VAL },
        { "CUDART_INF", HUGE_VAL },
        { "CUDART_PI_F", M_PI },
        { "CUDART_PI", M_PI },
    };
    static const struct {
        const char *name;
        int64_t i;
    } INTEGERS[] = {
        { "INT_MAX", INT_MAX },     { "INT_MIN", INT_MIN },     { "UINT_MAX", UINT_MAX },
        { "LONG_MAX", LONG_MAX },   { "LLONG_MAX", LLONG_MAX }, { "RAND_MAX", INT_MAX },
        { "INT32_MAX", INT32_MAX }, { "UINT32_MAX", UINT_MAX }, { "CHAR_BIT", CHAR_BIT },
        { "SIZE_MAX", LLONG_MAX },
    };

    for (size_t i = 0; i < COUNT(DECIMALS); i++)
        if (strcmp(DECIMALS[i].name, name) == 0) {
            *out = (struct value){ .type = VALUE_FLOAT, .f = DECIMALS[i].f };
            return true;
        }
    for (size_t i = 0; i < COUNT(INTEGERS); i++)
        if (strcmp(INTEGERS[i].name, name) == 0) {
            *out = (struct value){ .type = VALUE_INT, .i = INTEGERS[i].i };
            return true;
        }
    return false;
}

/* int f(float x): C converts arguments and result. */
static void convert(enum formula_type type, struct value *v)
{
    double f;

    if (!value_as_float(v, &f))
        return;
    if (type == FORMULA_FLOAT)
        *v = (struct value){ .type = VALUE_FLOAT, .f = f };
    else if (type == FORMULA_INT && v->type == VALUE_FLOAT && f > -0x1p63 && f < 0x1p63)
        *v = (struct value){ .type = VALUE_INT, .i = (int64_t)f };
}

/* dim3(16, 16): a shape; missing numbers are 1. */
static int make_dim(struct scope *scope, const struct expr *call, const struct value *args,
                    struct value *out, struct err *err)
{
    int64_t sizes[3] = { 1, 1, 1 };

    for (size_t i = 0; i < call->count; i++)
        if (expr_need_int(scope, call->kids[i], &args[i], &sizes[i], err) < 0)
            return -1;
    *out = (struct value){ .type = VALUE_DIM,
                           .dim = { sizes[0], sizes[1], sizes[2], (int)call->count } };
    return 0;
}

/* A text in the place of the call, which sees so many locals. */
static int eval_text(struct scope *scope, struct bytes text, const struct local *locals,
                     size_t local_count, struct value *out, struct err *err)
{
    struct lexer lexer;
    struct scope inner = *scope;
    struct expr *expr;
    struct token t;

    lexer_init(&lexer, (struct source){ text, 1, 1 }, scope->arena);
    inner.lexer = &lexer;
    inner.depth++;
    inner.locals = locals;
    inner.local_count = local_count;
    if (expr_parse(&lexer, &expr, err) < 0 || lexer_peek(&lexer, &t, err) < 0)
        return -1;
    if (t.kind != TOKEN_END)
        return err_set(err, ERR_UsageError, "%s follows it", token_show(&lexer, &t));
    if (expr_eval(&inner, expr, out, err) < 0)
        return -1;
    scope->saw_nan |= inner.saw_nan;
    return 0;
}

/* The argument that a word of a macro's body stands for; -1: none. */
static int parameter_at(const struct formula *formula, struct bytes word)
{
    for (size_t i = 0; i < formula->count; i++)
        if (bytes_equal(word, formula->parameters[i]))
            return (int)i;
    return -1;
}

/* The preprocessor replaces words by words: SQ(1 + 2) of x * x is 1 + 2 * 1 + 2. */
static int eval_macro(struct scope *scope, const struct expr *call, const struct formula *formula,
                      struct value *out, struct err *err)
{
    struct scanner s = { formula->body.data, formula->body.data + formula->body.size, false };
    const char *from = formula->body.data;
    struct buf text = { 0 };
    char *copy;

    for (struct scan_token t; (t = scan_next(&s)).kind != SCAN_END; from = s.at) {
        int i = t.kind == SCAN_WORD ? parameter_at(formula, t.text) : -1;
        struct bytes word = i < 0 ? t.text : expr_source(scope, call->kids[i]);

        buf_put(&text, from, (size_t)(t.text.data - from));
        buf_put(&text, word.data, word.size);
    }
    copy = text.is_failed ? NULL : arena_copy(scope->arena, buf_text(&text), text.size);
    buf_done(&text);
    if (!copy)
        return err_set(err, ERR_ResourceError, "out of memory");
    return eval_text(scope, bytes_of(copy), scope->locals, scope->local_count, out, err);
}

static int eval_function(struct scope *scope, const struct formula *formula,
                         const struct value *args, struct value *out, struct err *err)
{
    struct local locals[FORMULA_PARAMETERS];

    for (size_t i = 0; i < formula->count; i++) {
        locals[i] = (struct local){ formula->parameters[i], args[i] };
        convert(formula->types[i], &locals[i].value);
    }
    if (eval_text(scope, formula->body, locals, formula->count, out, err) < 0)
        return -1;
    convert(formula->result, out);
    return 0;
}

int expr_call_formula(struct scope *scope, const struct expr *call, const struct value *args,
                      bool *is_found, struct value *out, struct err *err)
{
    struct err inner_err = { 0 };
    struct formula formula;
    int rc = 0;

    *is_found = strcmp(call->text, "dim3") == 0 && call->count > 0 && call->count <= 3;
    if (*is_found)
        return make_dim(scope, call, args, out, err);
    *is_found = scope->session &&
                cuda_formula(session_cuda(scope->session), call->text, scope->arena, &formula) &&
                formula.count == call->count;
    if (!*is_found)
        return 0;
    if (scope->depth >= MAX_FORMULA_DEPTH)
        return expr_fail(scope, call, err, ERR_ValueError, "%s is defined by way of itself",
                         call->text);
    rc = formula.is_macro ? eval_macro(scope, call, &formula, out, &inner_err)
                          : eval_function(scope, &formula, args, out, &inner_err);
    if (rc < 0)
        expr_fail(scope, call, err, ERR_UsageError, "%s() is %s, which is no value here: %.200s",
                  call->text, text_show(scope->arena, formula.body, 60), inner_err.text);
    err_done(&inner_err);
    return rc;
}
