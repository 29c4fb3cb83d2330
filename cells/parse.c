/*
 * Expression parser: one function a level of C's precedence would be a dozen
 * look-alikes, so binary operators are a table of strengths and one loop climbs
 * it. Nesting is limited, because the tree is walked by recursion.
 */
#include "cells/expr.h"

#include "cells/parse_c.h"

#include <stdlib.h>

enum { MAX_DEPTH = 200, MAX_TREE = 1000 };

struct parser {
    struct lexer *lexer;
    int depth;
    bool is_wide;       /* (1,2,3,4) and {1,2} are lists: the right side of %buffer */
    bool in_comparison; /* +- here is a tolerance, not a sum with a negative number */
};

static const struct {
    int op, strength;
} BINARY[] = {
    { OP_OR, 1 },  { OP_AND, 2 }, { '|', 3 }, { '^', 4 },   { '&', 5 },   { OP_EQ, 6 },
    { OP_NE, 6 },  { '<', 7 },    { '>', 7 }, { OP_LE, 7 }, { OP_GE, 7 }, { OP_SHL, 8 },
    { OP_SHR, 8 }, { '+', 9 },    { '-', 9 }, { '*', 10 },  { '/', 10 },  { '%', 10 },
};

enum { STRENGTH_COMPARE_EQUAL = 6, STRENGTH_COMPARE = 7, STRENGTH_SUM = 9 };

static int parse_ternary(struct parser *p, struct expr **out, struct err *err);
static int parse_range(struct parser *p, struct expr **out, struct err *err);
static int parse_unary(struct parser *p, struct expr **out, struct err *err);
static int parse_primary(struct parser *p, struct expr **out, struct err *err);
static int parse_binary(struct parser *p, int least, struct expr **out, struct err *err);

static int strength_of(const struct token *t)
{
    if (t->kind != TOKEN_OP)
        return 0;
    for (size_t i = 0; i < COUNT(BINARY); i++)
        if (BINARY[i].op == t->op)
            return BINARY[i].strength;
    return 0;
}

static struct expr *new_expr(struct parser *p, enum expr_kind kind, struct err *err)
{
    struct expr *e = arena_alloc(p->lexer->arena, sizeof(*e));

    if (e)
        e->kind = kind;
    else
        err_set(err, ERR_ResourceError, "the expression does not fit in the cell's memory");
    return e;
}

static int add_kid(struct parser *p, struct expr *e, struct expr *kid, struct err *err)
{
    size_t room = 4;

    /* Capacities are the powers of two from 4 on: a full one is a power of two. */
    while (room < e->count)
        room *= 2;
    if (e->count == 0 || e->count == room) {
        struct expr **grown =
            arena_array(p->lexer->arena, e->count ? room * 2 : room, sizeof(*grown));

        if (!grown)
            return err_set(err, ERR_ResourceError,
                           "the expression does not fit in the cell's memory");
        if (e->count)
            memcpy(grown, e->kids, e->count * sizeof(*grown));
        e->kids = grown;
    }
    e->kids[e->count++] = kid;
    e->depth = e->depth > kid->depth ? e->depth : kid->depth + 1;
    if (e->depth <= MAX_TREE)
        return 0;
    return lexer_fail_at(p->lexer, kid->start, kid->start + 1, err, ERR_SyntaxError,
                         "an expression has at most %d terms and levels", MAX_TREE);
}

static int enter(struct parser *p, struct err *err)
{
    struct token t;

    if (++p->depth <= MAX_DEPTH)
        return 0;
    if (lexer_peek(p->lexer, &t, err) < 0)
        return -1;
    return lexer_fail_at(p->lexer, t.start, t.end, err, ERR_SyntaxError,
                         "an expression nests at most %d levels deep", MAX_DEPTH);
}

static int expect(struct parser *p, int op, size_t opened, struct err *err)
{
    struct token t;

    if (lexer_peek(p->lexer, &t, err) < 0)
        return -1;
    if (t.kind == TOKEN_OP && t.op == op)
        return lexer_next(p->lexer, &t, err);
    if (t.kind == TOKEN_END)
        return lexer_fail_at(p->lexer, opened, opened + 1, err, ERR_SyntaxError,
                             "the %c that opens here is never closed",
                             p->lexer->source.text.data[opened]);
    return lexer_fail_at(p->lexer, t.start, t.end, err, ERR_SyntaxError,
                         "%s stands where %c or , should", token_show(p->lexer, &t), op);
}

/* Items up to the closing bracket; the opening one is taken already. */
static int parse_items(struct parser *p, struct expr *e, int close, size_t opened, struct err *err)
{
    bool was_in_comparison = p->in_comparison, is_done, is_comma;
    struct expr *item;

    p->in_comparison = false;
    if (lexer_take_op(p->lexer, close, &is_done, err) < 0)
        return -1;
    while (!is_done) {
        if (parse_range(p, &item, err) < 0 || add_kid(p, e, item, err) < 0 ||
            lexer_take_op(p->lexer, ',', &is_comma, err) < 0)
            return -1;
        if (lexer_take_op(p->lexer, close, &is_done, err) < 0)
            return -1;
        if (!is_done && !is_comma)
            return expect(p, close, opened, err);
    }
    e->end = p->lexer->last_end;
    p->in_comparison = was_in_comparison;
    return 0;
}

/* (a) groups, (a,b) and (a,b,c) are dimensions; {a} groups inside a key. */
static int parse_group(struct parser *p, const struct token *open, struct expr **out,
                       struct err *err)
{
    int close = open->op == '(' ? ')' : '}';
    struct expr *e = new_expr(p, EXPR_DIM, err);

    if (!e || parse_items(p, e, close, open->start, err) < 0)
        return -1;
    e->start = open->start;
    if (e->count == 1) {
        *out = e->kids[0];
        (*out)->is_grouped = true;
        (*out)->start = e->start;
        (*out)->end = e->end;
        return 0;
    }
    if (p->is_wide && e->count && (e->count > 3 || close == '}')) {
        e->kind = EXPR_LIST;
        *out = e;
        return 0;
    }
    if (e->count == 0 || e->count > 3 || close == '}')
        return lexer_fail_at(p->lexer, e->start, e->end, err, ERR_SyntaxError,
                             e->count ? "a dimension has 1 to 3 numbers, not %zu"
                                      : "nothing stands between the brackets",
                             e->count);
    *out = e;
    return 0;
}

static int parse_list(struct parser *p, const struct token *open, struct expr **out,
                      struct err *err)
{
    struct expr *e = new_expr(p, EXPR_LIST, err);

    if (!e || parse_items(p, e, ']', open->start, err) < 0)
        return -1;
    e->start = open->start;
    *out = e;
    return 0;
}

static const struct {
    const char *text;
    struct value value;
} CONSTANTS[] = {
    { "true", { .type = VALUE_BOOL, .b = true } },
    { "false", { .type = VALUE_BOOL, .b = false } },
    { "True", { .type = VALUE_BOOL, .b = true } },
    { "False", { .type = VALUE_BOOL, .b = false } },
    { "yes", { .type = VALUE_BOOL, .b = true } },
    { "no", { .type = VALUE_BOOL, .b = false } },
    { "null", { .type = VALUE_NULL } },
    { "None", { .type = VALUE_NULL } },
    { "nothing", { .type = VALUE_NULL } },
    { "inf", { .type = VALUE_FLOAT, .f = __builtin_inf() } },
    { "nan", { .type = VALUE_FLOAT, .f = __builtin_nan("") } },
    { "warpSize", { .type = VALUE_INT, .i = WARP } },
};

bool expr_is_reserved(const char *name)
{
    for (size_t i = 0; i < COUNT(CONSTANTS); i++)
        if (strcmp(CONSTANTS[i].text, name) == 0)
            return true;
    return strcmp(name, "_") == 0;
}

/* sizeof(unsigned char): its type is one name of two words. */
static int parse_sizeof(struct parser *p, const char *type, struct expr *e, struct err *err)
{
    struct expr *name = new_expr(p, EXPR_NAME, err);
    struct token t;

    if (!name || lexer_peek(p->lexer, &t, err) < 0)
        return -1;
    name->text = type;
    name->start = t.start;
    name->end = p->lexer->last_end;
    return add_kid(p, e, name, err);
}

static int parse_arguments(struct parser *p, struct expr *e, struct err *err)
{
    struct lexer behind;
    struct token open;
    const char *type =
        strcmp(e->text, "sizeof") == 0 ? c_type_in_brackets(p->lexer, &behind) : NULL;

    e->kind = EXPR_CALL;
    if (type) {
        *p->lexer = behind;
        return parse_sizeof(p, type, e, err);
    }
    return lexer_next(p->lexer, &open, err) < 0 ? -1 : parse_items(p, e, ')', open.start, err);
}

/* true, null, warpSize; NULL: no such constant. */
static const struct value *constant_of(struct bytes word)
{
    for (size_t i = 0; i < COUNT(CONSTANTS); i++)
        if (bytes_equal(word, CONSTANTS[i].text))
            return &CONSTANTS[i].value;
    return NULL;
}

/* static_cast<int>(x) is int(x). */
static int parse_name(struct parser *p, const struct token *t, struct expr *e, struct err *err)
{
    struct token ahead;
    struct lexer behind;
    const char *made = c_cast_named(t->text, p->lexer, &behind);

    e->text = made ? made : arena_copy(p->lexer->arena, t->text.data, t->text.size);
    if (!e->text)
        return err_set(err, ERR_ResourceError, "out of memory");
    if (made)
        *p->lexer = behind;
    else
        c_skip_template(p->lexer);
    if (lexer_peek(p->lexer, &ahead, err) < 0)
        return -1;
    if (ahead.kind == TOKEN_OP && ahead.op == '(' && !ahead.blank_before)
        return parse_arguments(p, e, err);
    return 0;
}

static int parse_word(struct parser *p, struct token *t, struct expr **out, struct err *err)
{
    const struct value *constant;
    struct lexer behind;

    if (c_skip_scopes(p->lexer, t, err) < 0)
        return -1;
    if (c_is_no_call(t->text, p->lexer, &behind)) {
        *p->lexer = behind;
        return parse_primary(p, out, err);
    }
    constant = constant_of(t->text);
    *out = new_expr(p, constant ? EXPR_VALUE : EXPR_NAME, err);
    if (!*out)
        return -1;
    if (constant) {
        (*out)->value = *constant;
        return 0;
    }
    return parse_name(p, t, *out, err);
}

static int parse_literal(struct parser *p, const struct token *t, struct expr **out,
                         struct err *err)
{
    struct expr *e = new_expr(p, EXPR_VALUE, err);

    if (!e)
        return -1;
    if (t->kind == TOKEN_INT)
        e->value = (struct value){ .type = VALUE_INT, .i = t->i };
    else if (t->kind == TOKEN_FLOAT)
        e->value = (struct value){ .type = VALUE_FLOAT, .f = t->f };
    else
        e->value =
            (struct value){ .type = VALUE_STRING,
                            .text = arena_copy(p->lexer->arena, t->text.data, t->text.size) };
    if (t->kind == TOKEN_STRING && !e->value.text)
        return err_set(err, ERR_ResourceError, "out of memory");
    e->is_percent = t->unit == NUMBER_PERCENT;
    e->unit = t->unit;
    *out = e;
    return 0;
}

static int parse_primary(struct parser *p, struct expr **out, struct err *err)
{
    struct token t;
    int rc;

    if (lexer_next(p->lexer, &t, err) < 0)
        return -1;
    if (t.kind == TOKEN_END)
        return lexer_fail_at(p->lexer, t.start, t.end, err, ERR_SyntaxError,
                             "a value is missing at the end of the line");
    if (t.kind == TOKEN_OP && (t.op == '(' || t.op == '{'))
        return parse_group(p, &t, out, err);
    if (t.kind == TOKEN_OP && t.op == '[')
        return parse_list(p, &t, out, err);
    if (t.kind == TOKEN_OP)
        return lexer_fail_at(p->lexer, t.start, t.end, err, ERR_SyntaxError,
                             "%s stands where a value should", token_show(p->lexer, &t));
    rc = t.kind == TOKEN_WORD ? parse_word(p, &t, out, err) : parse_literal(p, &t, out, err);
    if (rc == 0) {
        (*out)->start = t.start;
        (*out)->end = p->lexer->last_end;
    }
    return rc;
}

static int parse_field(struct parser *p, struct expr **left, struct err *err)
{
    struct expr *e = new_expr(p, EXPR_FIELD, err);
    struct token name, ahead;

    if (!e || lexer_next(p->lexer, &name, err) < 0)
        return -1;
    if (name.kind != TOKEN_WORD)
        return lexer_fail_at(p->lexer, name.start, name.end, err, ERR_SyntaxError,
                             "a field's name is missing after the point");
    if (add_kid(p, e, *left, err) < 0)
        return -1;
    e->text = arena_copy(p->lexer->arena, name.text.data, name.text.size);
    if (!e->text)
        return err_set(err, ERR_ResourceError, "out of memory");
    if (lexer_peek(p->lexer, &ahead, err) < 0)
        return -1;
    if (ahead.kind == TOKEN_OP && ahead.op == '(' && !ahead.blank_before) {
        struct expr *method = new_expr(p, EXPR_METHOD, err);

        if (!method || lexer_next(p->lexer, &ahead, err) < 0 ||
            add_kid(p, method, *left, err) < 0 || parse_items(p, method, ')', ahead.start, err) < 0)
            return -1;
        method->text = e->text;
        e = method;
    }
    e->start = (*left)->start;
    e->end = p->lexer->last_end;
    *left = e;
    return 0;
}

static int parse_index(struct parser *p, struct expr **left, size_t opened, struct err *err)
{
    struct expr *e = new_expr(p, EXPR_INDEX, err);

    if (!e || add_kid(p, e, *left, err) < 0 || parse_items(p, e, ']', opened, err) < 0)
        return -1;
    e->start = (*left)->start;
    if (e->count != 2)
        return lexer_fail_at(p->lexer, opened, e->end, err, ERR_SyntaxError,
                             "one index or range stands between [ and ]");
    *left = e;
    return 0;
}

/* A field or an index stands directly behind its owner: `n [1,2]` are two words of a line. */
static int parse_postfix(struct parser *p, struct expr **out, struct err *err)
{
    struct token t;

    if (parse_primary(p, out, err) < 0)
        return -1;
    for (;;) {
        if (lexer_peek(p->lexer, &t, err) < 0)
            return -1;
        if (t.kind != TOKEN_OP || t.blank_before || (t.op != '.' && t.op != '['))
            return 0;
        if (lexer_next(p->lexer, &t, err) < 0 ||
            (t.op == '.' ? parse_field(p, out, err) : parse_index(p, out, t.start, err)) < 0)
            return -1;
    }
}

/* (float)n / 2, as C has it: the cast binds as a sign does. */
static int parse_cast(struct parser *p, const char *made, const struct lexer *behind,
                      struct expr **out, struct err *err)
{
    struct expr *e = new_expr(p, EXPR_CALL, err), *operand;
    struct token open;

    if (!e || lexer_peek(p->lexer, &open, err) < 0)
        return -1;
    *p->lexer = *behind;
    if (parse_unary(p, &operand, err) < 0 || add_kid(p, e, operand, err) < 0)
        return -1;
    e->text = made;
    e->start = open.start;
    e->end = p->lexer->last_end;
    *out = e;
    return 0;
}

static int parse_unary(struct parser *p, struct expr **out, struct err *err)
{
    struct expr *e, *operand;
    struct lexer behind;
    struct token t;
    const char *made;

    if (lexer_peek(p->lexer, &t, err) < 0)
        return -1;
    if (t.kind == TOKEN_OP && t.op == '(' && (made = c_cast_ahead(p->lexer, &behind))) {
        if (enter(p, err) < 0 || parse_cast(p, made, &behind, out, err) < 0)
            return -1;
        p->depth--;
        return 0;
    }
    if (t.kind != TOKEN_OP || !strchr("+-!~", t.op < 256 ? t.op : ' '))
        return parse_postfix(p, out, err);
    if (enter(p, err) < 0 || lexer_next(p->lexer, &t, err) < 0)
        return -1;
    e = new_expr(p, EXPR_UNARY, err);
    if (!e || parse_unary(p, &operand, err) < 0 || add_kid(p, e, operand, err) < 0)
        return -1;
    p->depth--;
    e->op = t.op;
    e->start = t.start;
    e->end = p->lexer->last_end;
    *out = e;
    return 0;
}

static int fold_binary(struct parser *p, const struct token *op, struct expr *right,
                       struct expr **left, struct err *err)
{
    bool is_compare =
        strength_of(op) == STRENGTH_COMPARE || strength_of(op) == STRENGTH_COMPARE_EQUAL;
    struct expr *e = new_expr(p, is_compare ? EXPR_COMPARE : EXPR_BINARY, err);

    if (!e || add_kid(p, e, *left, err) < 0 || add_kid(p, e, right, err) < 0)
        return -1;
    e->op = op->op;
    e->start = (*left)->start;
    e->end = p->lexer->last_end;
    *left = e;
    return 0;
}

/* a == b +- t, read when b is complete. */
static int parse_tolerance(struct parser *p, struct expr *compare, struct err *err)
{
    struct expr *tolerance;
    struct token t;
    bool is_there;

    if (lexer_peek(p->lexer, &t, err) < 0 ||
        lexer_take_op(p->lexer, OP_TOLERANCE, &is_there, err) < 0)
        return -1;
    if (!is_there)
        return 0;
    if (compare->op != OP_EQ && compare->op != OP_NE)
        return lexer_fail_at(p->lexer, t.start, t.end, err, ERR_SyntaxError,
                             "+- gives a tolerance to == and !=, not to this comparison");
    if (parse_binary(p, STRENGTH_SUM, &tolerance, err) < 0)
        return -1;
    compare->end = p->lexer->last_end;
    return add_kid(p, compare, tolerance, err);
}

/* 1 +- 2 outside a comparison is C's 1 + -2. */
static int parse_sum_of_negative(struct parser *p, struct expr **left, struct err *err)
{
    struct token op;
    struct expr *e, *operand;

    if (lexer_next(p->lexer, &op, err) < 0)
        return -1;
    e = new_expr(p, EXPR_UNARY, err);
    if (!e || parse_binary(p, STRENGTH_SUM + 1, &operand, err) < 0 ||
        add_kid(p, e, operand, err) < 0)
        return -1;
    e->op = '-';
    e->start = op.start + 1;
    e->end = p->lexer->last_end;
    op.op = '+';
    return fold_binary(p, &op, e, left, err);
}

static int parse_operand(struct parser *p, int strength, struct expr **right, struct err *err)
{
    bool was = p->in_comparison;
    int rc;

    p->in_comparison |= strength == STRENGTH_COMPARE || strength == STRENGTH_COMPARE_EQUAL;
    rc = parse_binary(p, strength + 1, right, err);
    p->in_comparison = was;
    return rc;
}

static int parse_binary(struct parser *p, int least, struct expr **out, struct err *err)
{
    struct token t;
    struct expr *right;
    int strength;

    if (parse_unary(p, out, err) < 0)
        return -1;
    for (;;) {
        if (lexer_peek(p->lexer, &t, err) < 0)
            return -1;
        if (t.kind == TOKEN_OP && t.op == OP_TOLERANCE && !p->in_comparison &&
            least <= STRENGTH_SUM) {
            if (parse_sum_of_negative(p, out, err) < 0)
                return -1;
            continue;
        }
        strength = strength_of(&t);
        if (!strength || strength < least)
            break;
        if (lexer_next(p->lexer, &t, err) < 0 || parse_operand(p, strength, &right, err) < 0 ||
            fold_binary(p, &t, right, out, err) < 0)
            return -1;
        if ((*out)->kind == EXPR_COMPARE && parse_tolerance(p, *out, err) < 0)
            return -1;
    }
    return 0;
}

static int parse_ternary(struct parser *p, struct expr **out, struct err *err)
{
    struct expr *e, *yes, *no;
    struct token t;
    bool is_choice;

    if (enter(p, err) < 0 || parse_binary(p, 1, out, err) < 0)
        return -1;
    if (lexer_peek(p->lexer, &t, err) < 0 || lexer_take_op(p->lexer, '?', &is_choice, err) < 0)
        return -1;
    if (is_choice) {
        e = new_expr(p, EXPR_CHOOSE, err);
        if (!e || add_kid(p, e, *out, err) < 0 || parse_ternary(p, &yes, err) < 0 ||
            add_kid(p, e, yes, err) < 0 || expect(p, ':', t.start, err) < 0 ||
            parse_ternary(p, &no, err) < 0 || add_kid(p, e, no, err) < 0)
            return -1;
        e->start = (*out)->start;
        e->end = p->lexer->last_end;
        *out = e;
    }
    p->depth--;
    return 0;
}

/* lo..hi, lo..hi:step, lo..hi:*factor */
static int parse_range(struct parser *p, struct expr **out, struct err *err)
{
    struct expr *e, *part;
    bool is_range, has_step;

    if (parse_ternary(p, out, err) < 0 || lexer_take_op(p->lexer, OP_RANGE, &is_range, err) < 0)
        return -1;
    if (!is_range)
        return 0;
    e = new_expr(p, EXPR_RANGE, err);
    if (!e || add_kid(p, e, *out, err) < 0 || parse_binary(p, STRENGTH_SUM, &part, err) < 0 ||
        add_kid(p, e, part, err) < 0 || lexer_take_op(p->lexer, ':', &has_step, err) < 0)
        return -1;
    if (has_step) {
        if (lexer_take_op(p->lexer, '*', &e->is_geometric, err) < 0 ||
            parse_binary(p, STRENGTH_SUM, &part, err) < 0 || add_kid(p, e, part, err) < 0)
            return -1;
    }
    e->start = (*out)->start;
    e->end = p->lexer->last_end;
    *out = e;
    return 0;
}

int expr_parse_initial(struct lexer *lexer, struct expr **out, struct err *err)
{
    struct parser p = { .lexer = lexer, .is_wide = true };

    return parse_range(&p, out, err);
}

int expr_parse(struct lexer *lexer, struct expr **out, struct err *err)
{
    struct parser p = { .lexer = lexer };

    return parse_range(&p, out, err);
}
