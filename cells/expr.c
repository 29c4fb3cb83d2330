/*
 * Evaluation. Integers are exact or an error: no result is ever silently
 * wrapped, because a student's block count that overflowed looks like a model
 * that is wrong. Doubles are IEEE's, and a NaN that anything met is remembered,
 * so that a check cannot pass on it.
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
    if (strcmp(name, "_") == 0) {
        lexer_fail_at(scope->lexer, start, end, err, ERR_NameError,
                      "_ is the last result, and there is none yet");
        return err_next(err, "run a magic such as %%occupancy first");
    }
    unknown_name(scope, name, err);
    return lexer_mark(scope->lexer, start, end, err);
}

/* ---- fields and elements ---- */

static json_t *object_of(const struct value *v)
{
    return v->type == VALUE_RESULT ? v->result->fields : v->type == VALUE_JSON ? v->json : NULL;
}

static int unknown_field(struct scope *scope, const struct expr *expr, json_t *object,
                         struct err *err)
{
    struct nearest near = { .wanted = expr->text };
    char list[200] = "";
    size_t n = 0;
    const char *key;
    json_t *value;

    json_object_foreach(object, key, value)
    {
        nearest_try(&near, key);
        if (n + strlen(key) + 2 < sizeof(list))
            n += (size_t)snprintf(list + n, sizeof(list) - n, "%s%s", n ? " " : "", key);
    }
    if (near.best)
        err_set(err, ERR_NameError, "%s has no field %.60s; %s is the nearest",
                expr_show(scope, expr->kids[0]), expr->text, near.best);
    else
        err_set(err, ERR_NameError, "%s has no field %.60s", expr_show(scope, expr->kids[0]),
                expr->text);
    lexer_mark(scope->lexer, expr->end - strlen(expr->text), expr->end, err);
    return err_next(err, "its fields: %s", list);
}

/* sweep.occupancy: a field of every object of a list is a list. */
static int field_of_list(struct scope *scope, const struct expr *expr, const struct value *list,
                         struct value *out, struct err *err)
{
    struct value *items = arena_array(scope->arena, list->list.count, sizeof(*items));

    if (!items)
        return expr_fail(scope, expr, err, ERR_ResourceError, "the list does not fit in memory");
    for (size_t i = 0; i < list->list.count; i++) {
        json_t *object = object_of(&list->list.items[i]);
        json_t *field = object ? json_object_get(object, expr->text) : NULL;

        if (!object)
            return expr_fail(scope, expr->kids[0], err, ERR_UsageError,
                             "%s is a list of plain values: they have no field %.60s",
                             expr_show(scope, expr->kids[0]), expr->text);
        if (!field)
            return unknown_field(scope, expr, object, err);
        if (value_from_json(scope->arena, field, &items[i], err) < 0)
            return lexer_mark(scope->lexer, expr->start, expr->end, err);
    }
    *out = (struct value){ .type = VALUE_LIST, .list = { items, list->list.count } };
    return 0;
}

static int eval_field(struct scope *scope, const struct expr *expr, struct value *out,
                      struct err *err)
{
    struct value owner;
    json_t *object, *field;

    if (expr_eval(scope, expr->kids[0], &owner, err) < 0)
        return -1;
    if (owner.type == VALUE_BUFFER)
        return buffer_field_eval(scope, expr, &owner, out, err);
    if (owner.type == VALUE_LIST)
        return field_of_list(scope, expr, &owner, out, err);
    if (owner.type == VALUE_DIM && strlen(expr->text) == 1 && strchr("xyz", expr->text[0])) {
        *out = value_int(expr->text[0] == 'x'   ? owner.dim.x
                         : expr->text[0] == 'y' ? owner.dim.y
                                                : owner.dim.z);
        return 0;
    }
    object = object_of(&owner);
    if (!object) {
        expr_fail(scope, expr->kids[0], err, ERR_UsageError, "%s is %s, which has no fields",
                  expr_show(scope, expr->kids[0]), value_a_type(owner.type));
        return owner.type == VALUE_NULL
                   ? err_next(err, "null is what was not measured, or what a device cannot count: "
                                   "for that use device=model")
                   : -1;
    }
    field = json_object_get(object, expr->text);
    if (!field)
        return unknown_field(scope, expr, object, err);
    if (value_from_json(scope->arena, field, out, err) < 0)
        return lexer_mark(scope->lexer, expr->start, expr->end, err);
    return 0;
}

/* variants["trips 4..8 by lane"]: the object of a list whose name is this. */
static int element_by_name(struct scope *scope, const struct expr *expr, const struct value *list,
                           const char *name, struct value *out, struct err *err)
{
    struct nearest near = { .wanted = name };

    for (size_t i = 0; i < list->list.count; i++) {
        json_t *object = object_of(&list->list.items[i]);
        const char *is = object ? json_string_value(json_object_get(object, "name")) : NULL;

        if (is && strcmp(is, name) == 0) {
            *out = list->list.items[i];
            return 0;
        }
        if (is)
            nearest_try(&near, is);
    }
    expr_fail(scope, expr->kids[1], err, ERR_NameError, "no element of %s is named \"%.80s\"",
              expr_show(scope, expr->kids[0]), name);
    return near.best ? err_next(err, "\"%s\" is the nearest", near.best) : -1;
}

static int element_at(struct scope *scope, const struct expr *expr, const struct value *list,
                      const struct value *index, struct value *out, struct err *err)
{
    int64_t i;

    if (index->type == VALUE_STRING)
        return element_by_name(scope, expr, list, index->text, out, err);
    if (expr_need_int(scope, expr->kids[1], index, &i, err) < 0)
        return -1;
    if (i < 0 || (size_t)i >= list->list.count)
        return expr_fail(scope, expr->kids[1], err, ERR_ValueError,
                         "%s[%lld]: %s has %zu elements, 0 to %lld",
                         expr_show(scope, expr->kids[0]), (long long)i,
                         expr_show(scope, expr->kids[0]), list->list.count,
                         (long long)list->list.count - 1);
    *out = list->list.items[i];
    return 0;
}

static int eval_index(struct scope *scope, const struct expr *expr, struct value *out,
                      struct err *err)
{
    struct value owner, index, *items;
    bool is_buffer;

    if (buffer_index_eval(scope, expr, &is_buffer, out, err) < 0)
        return -1;
    if (is_buffer)
        return 0;
    if (expr_eval(scope, expr->kids[0], &owner, err) < 0 ||
        expr_eval(scope, expr->kids[1], &index, err) < 0)
        return -1;
    if (owner.type != VALUE_LIST)
        return expr_fail(scope, expr->kids[0], err, ERR_UsageError,
                         "%s is %s: only lists have elements", expr_show(scope, expr->kids[0]),
                         value_a_type(owner.type));
    if (index.type != VALUE_LIST)
        return element_at(scope, expr, &owner, &index, out, err);
    items = arena_array(scope->arena, index.list.count, sizeof(*items));
    if (!items)
        return expr_fail(scope, expr, err, ERR_ResourceError, "the list does not fit in memory");
    for (size_t i = 0; i < index.list.count; i++)
        if (element_at(scope, expr, &owner, &index.list.items[i], &items[i], err) < 0)
            return -1;
    *out = (struct value){ .type = VALUE_LIST, .list = { items, index.list.count } };
    return 0;
}

/* t.line(6): the source line 6 of a launch's lines. */
static int eval_method(struct scope *scope, const struct expr *expr, struct value *out,
                       struct err *err)
{
    struct value owner, number;
    json_t *lines, *line;
    int64_t wanted;
    size_t i;

    if (expr_eval(scope, expr->kids[0], &owner, err) < 0)
        return -1;
    lines = object_of(&owner) ? json_object_get(object_of(&owner), "lines") : NULL;
    if (strcmp(expr->text, "line") != 0 || expr->count != 2 || !json_is_array(lines))
        return expr_fail(scope, expr, err, ERR_NameError, "%s has no function %.40s",
                         expr_show(scope, expr->kids[0]), expr->text);
    if (expr_eval(scope, expr->kids[1], &number, err) < 0 ||
        expr_need_int(scope, expr->kids[1], &number, &wanted, err) < 0)
        return -1;
    json_array_foreach(lines, i, line) if (json_integer_value(json_object_get(line, "line")) ==
                                           wanted) return value_from_json(scope->arena, line, out,
                                                                          err);
    return expr_fail(scope, expr->kids[1], err, ERR_ValueError,
                     "no instruction of %s is on line %lld", expr_show(scope, expr->kids[0]),
                     (long long)wanted);
}

/* ---- operators ---- */

static int overflow(struct scope *scope, const struct expr *expr, struct err *err)
{
    return expr_fail(scope, expr, err, ERR_ValueError,
                     "%s overflows a 64-bit integer (-2^63 to 2^63 - 1)", expr_show(scope, expr));
}

static int eval_unary(struct scope *scope, const struct expr *expr, struct value *out,
                      struct err *err)
{
    struct value v;
    int64_t i;
    bool b = false;

    if (expr_eval(scope, expr->kids[0], &v, err) < 0)
        return -1;
    if (expr->op == '!') {
        if (expr_truth(scope, expr->kids[0], &v, &b, err) < 0)
            return -1;
        *out = value_bool(!b);
        return 0;
    }
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
    struct value v;
    bool b = false;

    if (expr_eval(scope, expr->kids[0], &v, err) < 0 ||
        expr_truth(scope, expr->kids[0], &v, &b, err) < 0)
        return -1;
    if (b == (expr->op == OP_AND) && (expr_eval(scope, expr->kids[1], &v, err) < 0 ||
                                      expr_truth(scope, expr->kids[1], &v, &b, err) < 0))
        return -1;
    *out = value_bool(b);
    return 0;
}

static int eval_binary(struct scope *scope, const struct expr *expr, struct value *out,
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
    return function_call(scope, expr, args, expr->count, out, err);
}

static int eval_choose(struct scope *scope, const struct expr *expr, struct value *out,
                       struct err *err)
{
    struct value v;
    bool b = false;

    if (expr_eval(scope, expr->kids[0], &v, err) < 0 ||
        expr_truth(scope, expr->kids[0], &v, &b, err) < 0)
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
        return eval_field(scope, expr, out, err);
    case EXPR_INDEX:
        return eval_index(scope, expr, out, err);
    case EXPR_METHOD:
        return eval_method(scope, expr, out, err);
    case EXPR_CALL:
        return eval_call(scope, expr, out, err);
    case EXPR_UNARY:
        return eval_unary(scope, expr, out, err);
    case EXPR_BINARY:
        return eval_binary(scope, expr, out, err);
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
