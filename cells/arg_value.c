/*
 * A bare word is a text and a number may be an expression, so the row's type
 * decides how a value is read; what was read is then made to fit the type, or
 * refused with key, value and limit.
 */
#include "cells/arg_value.h"

#include "cells/expr.h"
#include "cells/internal.h"

#include <math.h>

struct value_reader {
    struct session *session;
    struct lexer *lexer;
};

/* ---- checking ---- */

static int refuse_value(struct value_reader *r, const struct param *p, size_t start, size_t end,
                        struct err *err, enum err_name name, const char *why)
{
    struct bytes written = { r->lexer->source.text.data + start, end - start };

    return lexer_fail_at(r->lexer, start, end, err, name, "%s=%s: %s", p->name,
                         text_show(r->lexer->arena, written, 40), why);
}

static const char *bound(struct arena *arena, double v)
{
    struct value value = { .type = VALUE_FLOAT, .f = v };
    const char *text = value_text(arena, &value);

    return text ? text : "?";
}

static int check_limits(struct value_reader *r, const struct param *p, double v, size_t start,
                        size_t end, struct err *err)
{
    struct arena *arena = r->lexer->arena;
    const char *why;

    if (p->min == 0 && p->max == 0)
        return 0;
    if (v >= p->min && v <= p->max)
        return 0;
    why = isinf(p->max) ? arena_printf(arena, "%s is at least %s (%s)", p->name,
                                       bound(arena, p->min), p->help ? p->help : "")
                        : arena_printf(arena, "%s is %s to %s (%s)", p->name, bound(arena, p->min),
                                       bound(arena, p->max), p->help ? p->help : "");
    return refuse_value(r, p, start, end, err, ERR_ValueError, why ? why : "outside its limits");
}

static bool has_choice(const char *choices, const char *word)
{
    size_t n = strlen(word);

    for (const char *p = choices; p && n && *p; p += strcspn(p, " "), p += strspn(p, " "))
        if (strcspn(p, " ") == n && strncasecmp(p, word, n) == 0)
            return true;
    return false;
}

static int unknown_choice(struct value_reader *r, const struct param *p, const char *word,
                          size_t start, size_t end, struct err *err)
{
    struct nearest near = { .wanted = word };
    char *copy = arena_string(r->lexer->arena, p->choices), *rest = NULL;

    if (!copy)
        return err_set(err, ERR_ResourceError, "out of memory");
    for (char *c = strtok_r(copy, " ", &rest); c; c = strtok_r(NULL, " ", &rest))
        nearest_try(&near, c);
    if (near.best)
        lexer_fail_at(r->lexer, start, end, err, ERR_UsageError,
                      "%s=%.40s is unknown; %s is the nearest", p->name, word, near.best);
    else
        lexer_fail_at(r->lexer, start, end, err, ERR_UsageError, "%s=%.40s is unknown", p->name,
                      word);
    return err_next(err, "%s= takes %s", p->name, p->choices);
}

/* Spelled as the table spells it, so that run() can compare. */
static const char *canonical_choice(struct arena *arena, const char *choices, const char *word)
{
    size_t n = strlen(word);

    for (const char *p = choices; *p; p += strcspn(p, " "), p += strspn(p, " "))
        if (strcspn(p, " ") == n && strncasecmp(p, word, n) == 0)
            return arena_copy(arena, p, n);
    return NULL;
}

static void whole_to_int(struct value *v)
{
    if (v->type == VALUE_FLOAT && floor(v->f) == v->f && fabs(v->f) < 0x1p62)
        *v = (struct value){ .type = VALUE_INT, .i = (int64_t)v->f };
}

static int to_int(struct value_reader *r, const struct param *p, struct value *v, size_t start,
                  size_t end, struct err *err)
{
    whole_to_int(v);
    if (v->type != VALUE_INT)
        return refuse_value(r, p, start, end, err, ERR_UsageError, "an integer is needed");
    return check_limits(r, p, (double)v->i, start, end, err);
}

static int to_float(struct value_reader *r, const struct param *p, struct value *v, size_t start,
                    size_t end, struct err *err)
{
    if (v->type == VALUE_INT)
        *v = (struct value){ .type = VALUE_FLOAT, .f = (double)v->i };
    if (v->type != VALUE_FLOAT)
        return refuse_value(r, p, start, end, err, ERR_UsageError, "a number is needed");
    if (isnan(v->f))
        return refuse_value(r, p, start, end, err, ERR_ValueError, "nan is no value for a key");
    return check_limits(r, p, v->f, start, end, err);
}

static int to_dim(struct value_reader *r, const struct param *p, struct value *v, size_t start,
                  size_t end, struct err *err)
{
    /* A number stays one, so that a range of them is an axis; 1e6 is as whole as 1000000. */
    whole_to_int(v);
    if (v->type == VALUE_INT)
        return check_limits(r, p, (double)v->i, start, end, err);
    if (v->type != VALUE_DIM)
        return refuse_value(r, p, start, end, err, ERR_UsageError,
                            "a number or a dimension such as (16,16) is needed");
    if (check_limits(r, p, (double)v->dim.x, start, end, err) < 0 ||
        check_limits(r, p, (double)v->dim.y, start, end, err) < 0)
        return -1;
    return check_limits(r, p, (double)v->dim.z, start, end, err);
}

static int to_bool(struct value_reader *r, const struct param *p, struct value *v, size_t start,
                   size_t end, struct err *err)
{
    if (v->type == VALUE_INT && (v->i == 0 || v->i == 1))
        *v = (struct value){ .type = VALUE_BOOL, .b = v->i != 0 };
    if (v->type != VALUE_BOOL)
        return refuse_value(r, p, start, end, err, ERR_UsageError, "it is yes or no");
    return 0;
}

static int to_text(struct value_reader *r, const struct param *p, struct value *v, size_t start,
                   size_t end, struct err *err)
{
    if (v->type == VALUE_INT || v->type == VALUE_FLOAT) {
        v->text = value_text(r->lexer->arena, v);
        v->type = VALUE_STRING;
        if (!v->text)
            return err_set(err, ERR_ResourceError, "out of memory");
    }
    if (v->type != VALUE_STRING && v->type != VALUE_NAME)
        return refuse_value(r, p, start, end, err, ERR_UsageError, "a word or \"text\" is needed");
    if (p->type != PARAM_CHOICE)
        return 0;
    if (!has_choice(p->choices, v->text))
        return unknown_choice(r, p, v->text, start, end, err);
    v->text = canonical_choice(r->lexer->arena, p->choices, v->text);
    return v->text ? 0 : err_set(err, ERR_ResourceError, "out of memory");
}

/* The first unit in an expression: of a number, of a list's or a range's numbers. */
static const struct expr *written_unit(const struct expr *expr)
{
    const struct expr *found = expr->unit > NUMBER_PERCENT ? expr : NULL;

    for (size_t i = 0; i < expr->count && !found; i++)
        found = written_unit(expr->kids[i]);
    return found;
}

/* 5us is no number of cycles, and 1.98GHz as MHz is 1980. */
static int to_own_unit(struct value_reader *r, const struct param *p, const struct expr *expr,
                       struct value *v, struct err *err)
{
    const struct expr *unit = written_unit(expr);
    double number;

    if (!unit || (p->type != PARAM_INT && p->type != PARAM_FLOAT))
        return 0;
    if (unit->unit != p->unit)
        return refuse_value(r, p, unit->start, unit->end, err, ERR_UsageError,
                            arena_printf(r->lexer->arena, "not in this unit (%s)",
                                         p->help ? p->help : p->name));
    value_as_float(v, &number);
    *v = (struct value){ .type = VALUE_FLOAT, .f = number * p->per_unit };
    return 0;
}

static int convert(struct value_reader *r, const struct param *p, struct value *v, size_t start,
                   size_t end, struct err *err)
{
    /* A number's key may know words too: carveout=auto. */
    if (p->choices && p->type != PARAM_CHOICE && v->type == VALUE_NAME)
        return 0;
    switch (p->type) {
    case PARAM_INT:
        return to_int(r, p, v, start, end, err);
    case PARAM_FLOAT:
        return to_float(r, p, v, start, end, err);
    case PARAM_BOOL:
        return to_bool(r, p, v, start, end, err);
    case PARAM_DIM:
        return to_dim(r, p, v, start, end, err);
    case PARAM_CHOICE:
    case PARAM_NAME:
    case PARAM_TEXT:
    case PARAM_DEVICE:
        return to_text(r, p, v, start, end, err);
    case PARAM_VALUE:
    case PARAM_EXPR:
    case PARAM_TUPLE:
    case PARAM_REST:
        return 0;
    }
    return 0;
}

/* ---- reading ---- */

static char here(const struct value_reader *r)
{
    return r->lexer->at < r->lexer->source.text.size ? r->lexer->source.text.data[r->lexer->at]
                                                     : '\0';
}

/* Bare words are texts here; a variable's value needs {braces}, unless the word alone is wrong. */
static int read_word_value(struct value_reader *r, const struct param *p, struct value *v,
                           struct err *err)
{
    struct scope scope = { .session = r->session, .lexer = r->lexer, .arena = r->lexer->arena };
    const struct variable *variable;
    struct expr *expr;
    struct token t;

    lexer_skip(r->lexer);
    if (here(r) == '{')
        return expr_parse(r->lexer, &expr, err) < 0 ? -1 : expr_eval(&scope, expr, v, err);
    if (lexer_word(r->lexer, &t, err) < 0)
        return -1;
    if (t.kind == TOKEN_END || t.end == t.start)
        return lexer_fail_at(r->lexer, t.start, t.start + 1, err, ERR_SyntaxError,
                             "%s= has no value", p->name);
    if (t.kind == TOKEN_WORD && strchr("=<>!&|^:+;", t.text.data[0]))
        return lexer_fail_at(r->lexer, t.start, t.end, err, ERR_SyntaxError,
                             "%s stands where a value should", token_show(r->lexer, &t));
    v->type = t.kind == TOKEN_STRING ? VALUE_STRING : VALUE_NAME;
    v->text = arena_copy(r->lexer->arena, t.text.data, t.text.size);
    if (!v->text)
        return err_set(err, ERR_ResourceError, "out of memory");
    variable = v->type == VALUE_NAME && p->type == PARAM_CHOICE && !has_choice(p->choices, v->text)
                   ? session_variable(r->session, v->text)
                   : NULL;
    if (variable && !variable->unset &&
        (variable->value.type == VALUE_STRING || variable->value.type == VALUE_NAME))
        *v = variable->value;
    return 0;
}

static int check_sweep_allowed(struct value_reader *r, const struct param *p, size_t start,
                               size_t end, struct err *err)
{
    if (p->flags & PARAM_SWEEP)
        return 0;
    return refuse_value(r, p, start, end, err, ERR_UsageError,
                        "it takes one value, no range or list");
}

/* [gto, lrr]: every item is a word. */
static int read_word_list(struct value_reader *r, const struct param *p, struct arg *arg,
                          struct err *err)
{
    size_t start = r->lexer->at, capacity = 0, at;
    struct value *items = NULL, v;
    bool is_done = false;

    lexer_seek(r->lexer, start + 1);
    for (;;) {
        lexer_skip(r->lexer);
        is_done = here(r) == ']';
        if (is_done)
            break;
        at = r->lexer->at;
        if (read_word_value(r, p, &v, err) < 0 ||
            convert(r, p, &v, at, r->lexer->last_end, err) < 0)
            return -1;
        if (arg->count == capacity) {
            size_t more = capacity ? capacity * 2 : 8;
            struct value *grown = arena_array(r->lexer->arena, more, sizeof(*grown));

            if (!grown)
                return err_set(err, ERR_ResourceError, "the list does not fit in memory");
            if (capacity)
                memcpy(grown, items, capacity * sizeof(*grown));
            items = grown;
            capacity = more;
        }
        items[arg->count++] = v;
        lexer_skip(r->lexer);
        if (here(r) == ',')
            lexer_seek(r->lexer, r->lexer->at + 1);
        else if (here(r) != ']')
            return lexer_fail_at(r->lexer, start, start + 1, err, ERR_SyntaxError,
                                 "the [ that opens here is never closed");
    }
    lexer_seek(r->lexer, r->lexer->at + 1);
    r->lexer->last_end = r->lexer->at;
    if (arg->count == 0)
        return refuse_value(r, p, start, r->lexer->at, err, ERR_UsageError, "the list is empty");
    arg->values = items;
    arg->is_sweep = true;
    return check_sweep_allowed(r, p, start, r->lexer->at, err);
}

/* {names}: a variable's list as points; copied, because converting changes them. */
static int spread_list(struct value_reader *r, const struct param *p, struct arg *arg,
                       struct value **v, size_t start, struct err *err)
{
    size_t n = (*v)->list.count;
    struct value *copy = arena_array(r->lexer->arena, n, sizeof(*copy));

    if (!copy)
        return err_set(err, ERR_ResourceError, "the list does not fit in memory");
    if (n == 0)
        return refuse_value(r, p, start, r->lexer->last_end, err, ERR_UsageError,
                            "the list is empty");
    memcpy(copy, (*v)->list.items, n * sizeof(*copy));
    *v = copy;
    arg->values = copy;
    arg->count = n;
    arg->is_sweep = true;
    return check_sweep_allowed(r, p, start, r->lexer->last_end, err);
}

static int read_words(struct value_reader *r, const struct param *p, struct arg *arg,
                      struct err *err)
{
    struct value *v;
    size_t start;

    lexer_skip(r->lexer);
    start = r->lexer->at;
    if (here(r) == '[')
        return read_word_list(r, p, arg, err);
    v = arena_alloc(r->lexer->arena, sizeof(*v));
    if (!v)
        return err_set(err, ERR_ResourceError, "out of memory");
    if (read_word_value(r, p, v, err) < 0)
        return -1;
    arg->values = v;
    arg->count = 1;
    if (v->type == VALUE_LIST && spread_list(r, p, arg, &v, start, err) < 0)
        return -1;
    for (size_t i = 0; i < arg->count; i++)
        if (convert(r, p, &v[i], start, r->lexer->last_end, err) < 0)
            return -1;
    return 0;
}

static bool reads_as_choice(struct value_reader *r, const struct param *p)
{
    struct token t;
    const char *word;

    if (!p->choices || lexer_peek(r->lexer, &t, NULL) < 0 || t.kind != TOKEN_WORD)
        return false;
    word = arena_copy(r->lexer->arena, t.text.data, t.text.size);
    return word && has_choice(p->choices, word);
}

static int read_numbers(struct value_reader *r, const struct param *p, struct arg *arg,
                        struct err *err)
{
    struct scope scope = { .session = r->session, .lexer = r->lexer, .arena = r->lexer->arena };
    struct value v, *values;
    struct expr *expr;
    struct token t;
    bool is_list;

    if (reads_as_choice(r, p))
        return read_words(r, p, arg, err);
    if (lexer_peek(r->lexer, &t, err) < 0)
        return -1;
    if (t.kind == TOKEN_END)
        return lexer_fail_at(r->lexer, t.start, t.end, err, ERR_SyntaxError, "%s= has no value",
                             p->name);
    if (expr_parse(r->lexer, &expr, err) < 0 || expr_eval(&scope, expr, &v, err) < 0)
        return -1;
    /* A list is a value of PARAM_VALUE itself, unless the row wants it as points. */
    is_list = v.type == VALUE_LIST && (p->type != PARAM_VALUE || (p->flags & PARAM_SWEEP));
    arg->is_sweep = is_list;
    arg->count = is_list ? v.list.count : 1;
    if (is_list && check_sweep_allowed(r, p, expr->start, expr->end, err) < 0)
        return -1;
    if (arg->count == 0)
        return refuse_value(r, p, expr->start, expr->end, err, ERR_UsageError, "the list is empty");
    values = arena_array(r->lexer->arena, arg->count, sizeof(*values));
    if (!values)
        return err_set(err, ERR_ResourceError, "%zu points do not fit in the cell's memory",
                       arg->count);
    for (size_t i = 0; i < arg->count; i++) {
        values[i] = is_list ? v.list.items[i] : v;
        if (to_own_unit(r, p, expr, &values[i], err) < 0 ||
            convert(r, p, &values[i], expr->start, expr->end, err) < 0)
            return -1;
    }
    arg->values = values;
    return 0;
}

static bool is_word_type(enum param_type type)
{
    return type == PARAM_CHOICE || type == PARAM_NAME || type == PARAM_DEVICE || type == PARAM_TEXT;
}

/* Everything up to the bracket that closes the first one. */
static int read_tuple(struct value_reader *r, const struct param *p, struct arg *arg,
                      struct err *err)
{
    struct value *v = arena_alloc(r->lexer->arena, sizeof(*v));
    struct token t;
    size_t start;
    int depth = 0;

    lexer_skip(r->lexer);
    start = r->lexer->at;
    if (!v)
        return err_set(err, ERR_ResourceError, "out of memory");
    do {
        if (lexer_next(r->lexer, &t, err) < 0)
            return -1;
        if (t.kind == TOKEN_END || (depth == 0 && !(t.kind == TOKEN_OP && t.op == '('))) {
            lexer_fail_at(r->lexer, start, start + 1, err, ERR_SyntaxError,
                          t.kind == TOKEN_END ? "the ( that opens here is never closed"
                                              : "%s= takes values in round brackets",
                          p->name);
            return err_next(err, "such as %s=(n, 2.0, x, y)", p->name);
        }
        if (t.kind == TOKEN_OP && t.op < 256 && strchr("([{", t.op))
            depth++;
        if (t.kind == TOKEN_OP && t.op < 256 && strchr(")]}", t.op))
            depth--;
    } while (depth > 0);
    v->type = VALUE_STRING;
    v->text =
        arena_copy(r->lexer->arena, r->lexer->source.text.data + start, r->lexer->last_end - start);
    arg->values = v;
    arg->count = 1;
    return v->text ? 0 : err_set(err, ERR_ResourceError, "out of memory");
}

/* The text of one expression, without the braces or quotes around all of it, and its place. */
static int keep_expression(struct value_reader *r, size_t start, size_t end, bool is_wrapped,
                           struct value *v, struct source *source, struct err *err)
{
    struct bytes text = { r->lexer->source.text.data + start + is_wrapped,
                          end - start - 2 * (size_t)is_wrapped };
    char *copy = arena_copy(r->lexer->arena, text.data, text.size);

    if (!copy)
        return err_set(err, ERR_ResourceError, "out of memory");
    *v = (struct value){ .type = VALUE_STRING, .text = copy };
    source->text = (struct bytes){ copy, text.size };
    source_place(&r->lexer->source, start + is_wrapped, &source->line, &source->column);
    return 0;
}

/* {a}, "a", a, or a list of them; what the names in it mean is known to the magic alone. */
static int read_expressions(struct value_reader *r, const struct param *p, struct arg *arg,
                            struct err *err)
{
    struct expr *expr = NULL;
    struct value *values;
    struct source *sources;
    struct token t;
    size_t start;
    bool is_list;

    lexer_skip(r->lexer);
    start = r->lexer->at;
    if (here(r) == '"' ? lexer_next(r->lexer, &t, err) < 0 : expr_parse(r->lexer, &expr, err) < 0)
        return -1;
    is_list = expr && expr->kind == EXPR_LIST;
    arg->count = is_list ? expr->count : 1;
    arg->is_sweep = is_list && (p->flags & PARAM_SWEEP);
    values = arena_array(r->lexer->arena, arg->count, sizeof(*values));
    sources = arena_array(r->lexer->arena, arg->count, sizeof(*sources));
    if (!values || !sources)
        return err_set(err, ERR_ResourceError, "out of memory");
    if (!arg->count)
        return refuse_value(r, p, start, r->lexer->last_end, err, ERR_UsageError,
                            "the list is empty");
    for (size_t i = 0; i < arg->count; i++) {
        const struct expr *e = is_list ? expr->kids[i] : expr;
        size_t from = e ? e->start : start, to = e ? e->end : r->lexer->last_end;

        if (keep_expression(r, from, to,
                            !e || (e->is_grouped && strchr("{(", r->lexer->source.text.data[from])),
                            &values[i], &sources[i], err) < 0)
            return -1;
    }
    arg->values = values;
    arg->sources = sources;
    return 0;
}

int arg_value_read(struct session *session, struct lexer *lexer, const struct param *p,
                   struct arg *out, struct err *err)
{
    struct value_reader r = { session, lexer };

    if (p->type == PARAM_TUPLE)
        return read_tuple(&r, p, out, err);
    if (p->type == PARAM_EXPR)
        return read_expressions(&r, p, out, err);
    return is_word_type(p->type) ? read_words(&r, p, out, err) : read_numbers(&r, p, out, err);
}
