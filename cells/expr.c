/*
 * Evaluation: what a name means, and who evaluates each kind of expression. A NaN
 * that anything met is remembered, so that a check cannot pass on it.
 */
#include "cells/expr.h"

#include "cells/buffer_compare.h"
#include "cells/buffer_symbol.h"
#include "cells/buffer_value.h"
#include "cells/internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_CONSTANT_DEPTH = 16 };

struct bytes expr_source(const struct scope *scope, const struct expr *expr)
{
    return (struct bytes){ scope->lexer->source.text.data + expr->start, expr->end - expr->start };
}

const char *expr_show(const struct scope *scope, const struct expr *expr)
{
    return text_show(scope->arena, expr_source(scope, expr), 48);
}

int expr_fail(const struct scope *scope, const struct expr *expr, struct err *err,
              enum err_name name, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    err_setv(err, name, fmt, args);
    va_end(args);
    return lexer_mark(scope->lexer, expr->start, expr->end, err);
}

/* What stands where a number should: null has its own reason. */
static int not_a_number(struct scope *scope, const struct expr *expr, const struct value *v,
                        struct err *err)
{
    if (v->type == VALUE_NULL) {
        expr_fail(scope, expr, err, ERR_UsageError, "%s is null: there is no number here",
                  expr_show(scope, expr));
        return err_next(err,
                        "null is no limit, nothing set, or what a device cannot count: for that "
                        "use device=model");
    }
    if (v->type == VALUE_BUFFER)
        return buffer_no_number(scope, expr, v, err);
    if (v->type == VALUE_UNWRITTEN) {
        expr_fail(scope, expr, err, ERR_ValueError, "%s was never written", expr_show(scope, expr));
        return err_next(err, "a launch or %%buffer NAME = ... gives it a value");
    }
    expr_fail(scope, expr, err, ERR_UsageError, "%s is %s, not a number", expr_show(scope, expr),
              value_a_type(v->type));
    if (v->type == VALUE_RESULT || v->type == VALUE_JSON)
        err_next(err, "name one of its fields; %%print %s shows them", expr_show(scope, expr));
    if (v->type == VALUE_LIST)
        err_next(err, "pick one with [i], or take sum min max mean count of it");
    return -1;
}

int expr_need_number(struct scope *scope, const struct expr *expr, const struct value *v,
                     struct err *err)
{
    double f;

    return value_as_float(v, &f) ? 0 : not_a_number(scope, expr, v, err);
}

int expr_need_int(struct scope *scope, const struct expr *expr, const struct value *v, int64_t *out,
                  struct err *err)
{
    if (v->type == VALUE_INT || v->type == VALUE_BOOL) {
        *out = v->type == VALUE_INT ? v->i : v->b;
        return 0;
    }
    if (v->type == VALUE_FLOAT && expr->kind == EXPR_VALUE)
        return expr_fail(scope, expr, err, ERR_UsageError, "%s: an integer is needed here",
                         expr_show(scope, expr));
    if (v->type == VALUE_FLOAT)
        return expr_fail(scope, expr, err, ERR_UsageError, "%s is %g: an integer is needed here",
                         expr_show(scope, expr), v->f);
    return not_a_number(scope, expr, v, err);
}

int expr_truth(struct scope *scope, const struct expr *expr, const struct value *v, bool *out,
               struct err *err)
{
    double f;

    if (!value_as_float(v, &f))
        return not_a_number(scope, expr, v, err);
    *out = f != 0;
    return 0;
}

int expr_eval_truth(struct scope *scope, const struct expr *expr, bool *out, struct err *err)
{
    struct value v;

    return expr_eval(scope, expr, &v, err) < 0 ? -1 : expr_truth(scope, expr, &v, out, err);
}

/* ---- names ---- */

static int unknown_name(struct scope *scope, const char *name, struct err *err)
{
    struct nearest near = { .wanted = name };

    for (size_t i = 0; i < scope->local_count; i++)
        nearest_try(&near, scope->locals[i].name);
    for (size_t i = 0; scope->session && i < scope->session->variable_count; i++)
        nearest_try(&near, scope->session->variables[i].name);
    for (size_t i = 0; scope->session && i < buffer_count(scope->session); i++)
        nearest_try(&near, buffer_at(scope->session, i)->name);
    for (size_t i = 0; i < function_count(); i++)
        nearest_try(&near, function_help_at(i)->name);
    if (near.best)
        err_set(err, ERR_NameError, "no variable is called %.60s; %s is the nearest", name,
                near.best);
    else
        err_set(err, ERR_NameError, "no variable is called %.60s", name);
    return err_next(err, "%s = 1 makes one; text stands in \"quotes\"; %%who lists them",
                    strlen(name) < 40 ? name : "n");
}

/* #define TILE 32 and constexpr int N = 2 * TILE; are names here too. */
static int constant_value(struct scope *scope, struct bytes text, size_t start, size_t end,
                          struct value *out, struct err *err)
{
    struct lexer lexer;
    struct scope inner = *scope;
    struct expr *expr;
    struct token t;
    struct err inner_err = { 0 };
    int rc;

    if (scope->depth >= MAX_CONSTANT_DEPTH)
        return lexer_fail_at(scope->lexer, start, end, err, ERR_ValueError,
                             "this constant is defined by way of itself");
    lexer_init(&lexer, (struct source){ text, 1, 1 }, scope->arena);
    inner.lexer = &lexer;
    inner.depth++;
    rc = expr_parse(&lexer, &expr, &inner_err);
    if (rc == 0)
        rc = lexer_peek(&lexer, &t, &inner_err);
    if (rc == 0 && t.kind != TOKEN_END)
        rc = err_set(&inner_err, ERR_UsageError, "%s follows it", token_show(&lexer, &t));
    if (rc == 0)
        rc = expr_eval(&inner, expr, out, &inner_err);
    if (rc < 0)
        lexer_fail_at(scope->lexer, start, end, err, ERR_UsageError,
                      "the constant is %s, which is no value here: %.200s",
                      text_show(scope->arena, text, 60), inner_err.text);
    err_done(&inner_err);
    return rc;
}

bool expr_is_local(const struct scope *scope, const char *name)
{
    for (size_t i = 0; i < scope->local_count; i++)
        if (strcmp(scope->locals[i].name, name) == 0)
            return true;
    return false;
}

/* The value of a name: a variable, a constant of CUDA C. Fails with NameError. */
static int expr_name_value(struct scope *scope, const char *name, size_t start, size_t end,
                           struct value *out, struct err *err)
{
    const struct variable *v = scope->session ? session_variable(scope->session, name) : NULL;
    struct buffer *buffer;
    struct bytes text;

    for (size_t i = 0; i < scope->local_count; i++)
        if (strcmp(scope->locals[i].name, name) == 0) {
            *out = scope->locals[i].value;
            return 0;
        }
    if (v && v->unset)
        return lexer_fail_at(scope->lexer, start, end, err, ERR_NameError, "%.60s: %.300s", name,
                             v->unset);
    if (v) {
        *out = v->value;
        return 0;
    }
    buffer = scope->session ? buffer_find(scope->session, name) : NULL;
    if (!buffer && scope->session && symbol_find(scope->session, name, &buffer, err) < 0)
        return lexer_mark(scope->lexer, start, end, err);
    if (buffer) {
        *out = buffer_value_of(buffer);
        return 0;
    }
    if (scope->session && cuda_constant_text(session_cuda(scope->session), name, &text))
        return constant_value(scope, text, start, end, out, err);
    if (expr_header_constant(name, out))
        return 0;
    if (strcmp(name, "_") == 0) {
        lexer_fail_at(scope->lexer, start, end, err, ERR_NameError,
                      "_ is the last result, and there is none yet");
        return err_next(err, "run a magic such as %%occupancy first");
    }
    unknown_name(scope, name, err);
    return lexer_mark(scope->lexer, start, end, err);
}

/* ---- the rest ---- */

/* sizeof(float4): bytes of a type, or of a buffer's element. */
static int eval_sizeof(struct scope *scope, const struct expr *expr, struct value *out,
                       struct err *err)
{
    const struct expr *kid = expr->kids[0];
    struct element_type type;
    struct value v;

    if (kid->kind == EXPR_NAME && !session_variable(scope->session, kid->text) &&
        !buffer_find(scope->session, kid->text)) {
        if (element_type_find(scope->session, kid->text, &type, err) < 0)
            return lexer_mark(scope->lexer, kid->start, kid->end, err);
        *out = value_int((int64_t)type.bytes);
        return 0;
    }
    if (expr_eval(scope, kid, &v, err) < 0)
        return -1;
    if (v.type != VALUE_BUFFER)
        return expr_fail(scope, kid, err, ERR_UsageError, "sizeof takes a type, and %s is %s",
                         expr_show(scope, kid), value_a_type(v.type));
    *out = value_int((int64_t)v.buffer.buffer->type.bytes);
    return 0;
}

static int eval_call(struct scope *scope, const struct expr *expr, struct value *out,
                     struct err *err)
{
    struct value *args;
    bool is_done;

    if (buffer_function(scope, expr, &is_done, out, err) < 0)
        return -1;
    if (is_done)
        return 0;
    if (scope->session && expr->count == 1 && strcmp(expr->text, "sizeof") == 0)
        return eval_sizeof(scope, expr, out, err);
    args = arena_array(scope->arena, expr->count, sizeof(*args));
    if (!args)
        return expr_fail(scope, expr, err, ERR_ResourceError, "the arguments do not fit in memory");
    for (size_t i = 0; i < expr->count; i++)
        if (expr_eval(scope, expr->kids[i], &args[i], err) < 0)
            return -1;
    if (!function_is(expr->text) && expr_call_formula(scope, expr, args, &is_done, out, err) < 0)
        return -1;
    return is_done ? 0 : function_call(scope, expr, args, expr->count, out, err);
}

static int eval_choose(struct scope *scope, const struct expr *expr, struct value *out,
                       struct err *err)
{
    bool b = false;

    if (expr_eval_truth(scope, expr->kids[0], &b, err) < 0)
        return -1;
    return expr_eval(scope, expr->kids[b ? 1 : 2], out, err);
}

static int eval_any(struct scope *scope, const struct expr *expr, struct value *out,
                    struct err *err)
{
    struct comparison comparison;

    switch (expr->kind) {
    case EXPR_VALUE:
        *out = expr->value;
        return 0;
    case EXPR_NAME:
        return expr_name_value(scope, expr->text, expr->start, expr->end, out, err);
    case EXPR_FIELD:
        return member_field(scope, expr, out, err);
    case EXPR_INDEX:
        return member_index(scope, expr, out, err);
    case EXPR_METHOD:
        return member_method(scope, expr, out, err);
    case EXPR_CALL:
        return eval_call(scope, expr, out, err);
    case EXPR_UNARY:
        return operator_unary(scope, expr, out, err);
    case EXPR_BINARY:
        return operator_binary(scope, expr, out, err);
    case EXPR_CHOOSE:
        return eval_choose(scope, expr, out, err);
    case EXPR_COMPARE:
        if (expr_compare(scope, expr, &comparison, err) < 0)
            return -1;
        *out = value_bool(comparison.holds);
        return 0;
    case EXPR_RANGE:
        return range_eval(scope, expr, out, err);
    case EXPR_LIST:
        return list_eval(scope, expr, out, err);
    case EXPR_DIM:
        return dim_eval(scope, expr, out, err);
    }
    return err_set(err, ERR_InternalError, "an expression of an unknown kind");
}

int expr_eval(struct scope *scope, const struct expr *expr, struct value *out, struct err *err)
{
    *out = (struct value){ .type = VALUE_NULL };
    if (eval_any(scope, expr, out, err) < 0)
        return -1;
    if (out->type == VALUE_FLOAT && isnan(out->f))
        scope->saw_nan = true;
    return 0;
}

int expr_eval_source(struct session *session, struct source source, struct arena *arena,
                     struct value *out, struct err *err)
{
    return expr_eval_with(session, source, NULL, 0, arena, out, err);
}

int expr_eval_with(struct session *session, struct source source, const struct local *locals,
                   size_t local_count, struct arena *arena, struct value *out, struct err *err)
{
    struct lexer lexer;
    struct scope scope = { .session = session,
                           .lexer = &lexer,
                           .arena = arena,
                           .locals = locals,
                           .local_count = local_count };
    struct expr *expr;
    struct token t;

    lexer_init(&lexer, source, arena);
    if (expr_parse(&lexer, &expr, err) < 0 || lexer_peek(&lexer, &t, err) < 0)
        return -1;
    if (t.kind != TOKEN_END)
        return lexer_fail_at(&lexer, t.start, t.end, err, ERR_SyntaxError,
                             "%s stands where the expression should end", token_show(&lexer, &t));
    return expr_eval(&scope, expr, out, err);
}
