/*
 * A failing check must help: it names the side that is wrong, what was expected
 * and which element. So the tree of the expression is taken apart here: of
 * a && b the part that fails is reported, of a comparison both sides.
 */
#include "cells/check.h"

#include "cells/buffer_compare.h"
#include "cells/elementwise.h"

#include <math.h>
#include <sodium.h>
#include <stdio.h>

/* ---- sealed answers ---- */

static void seal_hash(const char *salt, const char *text, unsigned char *hash)
{
    crypto_hash_sha256_state state;

    crypto_hash_sha256_init(&state);
    crypto_hash_sha256_update(&state, (const unsigned char *)salt, 16);
    crypto_hash_sha256_update(&state, (const unsigned char *)":", 1);
    crypto_hash_sha256_update(&state, (const unsigned char *)text, strlen(text));
    crypto_hash_sha256_final(&state, hash);
    for (int i = 1; i < SEAL_ROUNDS; i++)
        crypto_hash_sha256(hash, hash, crypto_hash_sha256_BYTES);
}

static int seal_with(const char *salt, const struct value *v, char *out, struct err *err)
{
    struct arena *arena = arena_new(CELL_MEMORY_LIMIT);
    char *text = arena ? value_text(arena, v) : NULL;
    unsigned char hash[crypto_hash_sha256_BYTES];
    char hex[2 * sizeof(hash) + 1];

    if (text) {
        seal_hash(salt, text, hash);
        sodium_bin2hex(hex, sizeof(hex), hash, sizeof(hash));
        snprintf(out, SEAL_TEXT, "wb1$%.16s$%s", salt, hex);
    }
    arena_free(&arena);
    return text ? 0 : err_set(err, ERR_ResourceError, "out of memory");
}

int check_seal(const struct value *v, char *out, struct err *err)
{
    unsigned char bytes[8];
    char salt[17];

    if (sodium_init() < 0)
        return err_set(err, ERR_InternalError, "no source of random numbers");
    randombytes_buf(bytes, sizeof(bytes));
    sodium_bin2hex(salt, sizeof(salt), bytes, sizeof(bytes));
    return seal_with(salt, v, out, err);
}

static bool is_hex(const char *text, size_t n)
{
    return strspn(text, "0123456789abcdef") >= n;
}

int check_unseal(const char *sealed, const struct value *v, bool *is_same, struct err *err)
{
    char again[SEAL_TEXT];

    if (strlen(sealed) != SEAL_TEXT - 1 || strncmp(sealed, "wb1$", 4) != 0 ||
        !is_hex(sealed + 4, 16) || sealed[20] != '$' || !is_hex(sealed + 21, 64)) {
        err_set(err, ERR_UsageError, "sealed= is no sealed answer: wb1$, 16 digits, $, 64 digits");
        return err_next(err, "%%check EXPR sealed=new prints one");
    }
    if (seal_with(sealed + 4, v, again, err) < 0)
        return -1;
    *is_same = sodium_memcmp(again, sealed, SEAL_TEXT - 1) == 0;
    return 0;
}

/* ---- failing ---- */

struct check {
    struct scope *scope;
    const struct check_options *options;
    struct err *err;
};

/* Of a hidden check the left side alone is shown, and nothing of what is no comparison. */
static const char *subject(const struct check *c, const struct expr *expr)
{
    if (c->options->label)
        return text_show(c->scope->arena, bytes_of(c->options->label), 120);
    if (c->options->hide_expected && expr->kind != EXPR_COMPARE)
        return "the check";
    if (c->options->hide_expected)
        expr = expr->kids[0];
    return text_show(c->scope->arena, expr_source(c->scope, expr), 120);
}

static const char *short_text(const struct check *c, const struct value *v)
{
    const char *text = value_text(c->scope->arena, v);

    return text ? text_show(c->scope->arena, bytes_of(text), 100) : "?";
}

static int mark(const struct check *c, const struct expr *expr)
{
    return lexer_mark(c->scope->lexer, expr->start, expr->end, c->err);
}

static const char *operator_words(int op)
{
    switch (op) {
    case OP_NE:
        return "something other than ";
    case '<':
        return "less than ";
    case '>':
        return "more than ";
    case OP_LE:
        return "at most ";
    case OP_GE:
        return "at least ";
    default:
        return "";
    }
}

static const char *tolerance_words(const struct check *c, const struct expr *compare)
{
    if (compare->count < 3)
        return "";
    return text_show(c->scope->arena,
                     (struct bytes){ c->scope->lexer->source.text.data + compare->kids[1]->end,
                                     compare->end - compare->kids[1]->end },
                     40);
}

static int fail_list(const struct check *c, const struct expr *compare,
                     const struct comparison *found)
{
    const struct value *left = &found->left, *right = &found->right;
    size_t i = found->first;
    const struct value *got = left->type == VALUE_LIST ? &left->list.items[i] : left;
    const struct value *want = right->type == VALUE_LIST ? &right->list.items[i] : right;
    const char *name = text_show(c->scope->arena, expr_source(c->scope, compare->kids[0]), 40);

    if (compare->op == OP_NE && !found->differing)
        err_set(c->err, ERR_CheckFailed, "%s: all %zu elements are equal", subject(c, compare),
                found->total);
    else if (c->options->hide_expected)
        err_set(c->err, ERR_CheckFailed, "%s%s%s[%zu] is %s; %zu of %zu differ, first %zu",
                c->options->label ? subject(c, compare) : "", c->options->label ? ": " : "", name,
                i, short_text(c, got), found->differing, found->total, i);
    else
        err_set(c->err, ERR_CheckFailed,
                "%s%s%s[%zu]: got %s, expected %s%s%s; %zu of %zu differ, first %zu",
                c->options->label ? subject(c, compare) : "", c->options->label ? ": " : "", name,
                i, short_text(c, got), operator_words(compare->op), short_text(c, want),
                tolerance_words(c, compare), found->differing, found->total, i);
    return mark(c, compare);
}

/* y[1000]: got never written, expected 2001; 24 of 1024 differ, first 1000 */
static int fail_elements(const struct check *c, const struct expr *expr,
                         const struct comparison *found)
{
    const char *label = c->options->label ? subject(c, expr) : "", *name = found->name;
    const char *colon = c->options->label ? ": " : "", *first = found->where, *expected = "";
    const char *words = expr->kind == EXPR_COMPARE ? operator_words(expr->op) : "";
    char worst[80] = "";

    if (expr->kind == EXPR_COMPARE && expr->op == OP_NE) {
        err_set(c->err, ERR_CheckFailed, "%s: all %zu elements are equal", subject(c, expr),
                found->total);
        return mark(c, expr);
    }
    if (!c->options->hide_expected)
        expected =
            arena_printf(c->scope->arena, ", expected %s%s%s", words, short_text(c, &found->right),
                         expr->kind == EXPR_COMPARE ? tolerance_words(c, expr) : "");
    /* [1000] alone is a plain number in words. */
    if (found->where[0] == '[' && !strchr(found->where + 1, '[') && !strchr(found->where, '.'))
        first = arena_printf(c->scope->arena, "%zu", found->first);
    if (found->worst > 0 && found->worst_where && !c->options->hide_expected)
        snprintf(worst, sizeof(worst), ", largest difference %.3g at %s", found->worst,
                 found->worst_where);
    err_set(c->err, ERR_CheckFailed, "%s%s%s%s%s: got %s%s; %zu of %zu differ, first %s%s", label,
            colon, name, found->is_plain ? "" : " at ", found->where, short_text(c, &found->left),
            expected ? expected : "", found->differing, found->total, first ? first : "", worst);
    return mark(c, expr);
}

static int fail_compare(const struct check *c, const struct expr *compare,
                        const struct comparison *found)
{
    if (found->where)
        return fail_elements(c, compare, found);
    if (found->is_list)
        return fail_list(c, compare, found);
    if (c->options->hide_expected)
        err_set(c->err, ERR_CheckFailed, "%s: got %s, which is not it", subject(c, compare),
                short_text(c, &found->left));
    else
        err_set(c->err, ERR_CheckFailed, "%s: got %s, expected %s%s%s", subject(c, compare),
                short_text(c, &found->left), operator_words(compare->op),
                short_text(c, &found->right), tolerance_words(c, compare));
    return mark(c, compare);
}

static int fail_nan(const struct check *c, const struct expr *expr)
{
    err_set(c->err, ERR_CheckFailed,
            "%s: a value in it is not a number (nan), and nan never passes", subject(c, expr));
    return mark(c, expr);
}

static int fail_plain(const struct check *c, const struct expr *expr, const struct value *v)
{
    err_set(c->err, ERR_CheckFailed, "%s: it is %s", subject(c, expr), short_text(c, v));
    return mark(c, expr);
}

/* ---- hiding ---- */

/* The place is kept out of sight: the line itself would show the answer. */
static void hide_line(const struct check *c)
{
    snprintf(c->err->place, sizeof(c->err->place), "In[%d] line %d",
             session_run_count(c->scope->session), c->scope->lexer->source.line);
}

/*
 * A student's unset variable must not print the answer that stands beside it. What a name or the
 * left side got wrong is told; other words may quote the answer, so they are replaced.
 */
static int hide_answer(const struct check *c, bool is_left_side)
{
    struct err *err = c->err;
    enum err_name name = err->name;

    if (name != ERR_CheckFailed && name != ERR_NameError && name != ERR_Interrupted &&
        name != ERR_ResourceError && !is_left_side) {
        err_done(err);
        err_set(err, name, "%s cannot be decided",
                c->options->label ? c->options->label : "the check");
        err_next(err, "without hide_expected=yes it says why");
    }
    hide_line(c);
    return -1;
}

/* ---- evaluating ---- */

static int check_expr(struct check *c, const struct expr *expr)
{
    struct comparison found;
    struct value v;
    bool holds, is_elements;

    if (expr->kind == EXPR_BINARY && expr->op == OP_AND) {
        if (check_expr(c, expr->kids[0]) < 0)
            return -1;
        return check_expr(c, expr->kids[1]);
    }
    if (expr->kind == EXPR_CALL) {
        if (buffer_call_compare(c->scope, expr, &is_elements, &found, c->err) < 0)
            return -1;
        if (is_elements)
            return found.holds ? 0 : fail_elements(c, expr, &found);
    }
    if (expr->kind == EXPR_COMPARE) {
        if (c->options->hide_expected && !elementwise_is(c->scope, expr->kids[0], &v) &&
            expr_eval(c->scope, expr->kids[0], &v, c->err) < 0)
            return hide_answer(c, true);
        if (expr_compare(c->scope, expr, &found, c->err) < 0)
            return -1;
        if (c->scope->saw_nan && (found.holds || !found.where))
            return fail_nan(c, expr);
        return found.holds ? 0 : fail_compare(c, expr, &found);
    }
    if (expr_eval(c->scope, expr, &v, c->err) < 0 ||
        expr_truth(c->scope, expr, &v, &holds, c->err) < 0)
        return -1;
    if (c->scope->saw_nan)
        return fail_nan(c, expr);
    return holds ? 0 : fail_plain(c, expr, &v);
}

static int check_sealed(struct check *c, const struct expr *expr)
{
    struct value v;
    bool is_same;

    if (expr_eval(c->scope, expr, &v, c->err) < 0 ||
        check_unseal(c->options->sealed, &v, &is_same, c->err) < 0)
        return -1;
    if (c->scope->saw_nan)
        return fail_nan(c, expr);
    if (is_same)
        return 0;
    err_set(c->err, ERR_CheckFailed, "%s: %s is not the sealed answer", subject(c, expr),
            short_text(c, &v));
    return lexer_mark(c->scope->lexer, expr->start, expr->end, c->err);
}

static int parse(struct lexer *lexer, struct expr **expr, struct err *err)
{
    struct token t;

    if (expr_parse(lexer, expr, err) < 0 || lexer_peek(lexer, &t, err) < 0)
        return -1;
    if (t.kind == TOKEN_END)
        return 0;
    lexer_fail_at(lexer, t.start, t.end, err, ERR_SyntaxError,
                  "%s stands where the check should end", token_show(lexer, &t));
    return t.kind == TOKEN_OP && t.op == '=' ? err_next(err, "a comparison is written ==") : -1;
}

int check_run(struct session *session, struct source source, const struct check_options *options,
              struct arena *arena, struct err *err)
{
    struct lexer lexer;
    struct scope scope = { .session = session, .lexer = &lexer, .arena = arena };
    struct check c = { &scope, options, err };
    struct expr *expr;
    int rc;

    lexer_init(&lexer, source, arena);
    rc = parse(&lexer, &expr, err);
    if (rc == 0)
        rc = options->sealed ? check_sealed(&c, expr) : check_expr(&c, expr);
    return rc < 0 && options->hide_expected && !err->place[0] ? hide_answer(&c, false) : rc;
}

/* ---- grading ---- */

int grading_add(struct grading *grading, const char *label, double points, double score,
                const char *remark, struct err *err)
{
    struct grade_row row = { .points = points, .score = score };

    if (grading->count == grading->capacity) {
        size_t more = grading->capacity ? grading->capacity * 2 : 16;
        struct grade_row *grown = arena_array(grading->arena, more, sizeof(*grown));

        if (!grown)
            return err_set(err, ERR_ResourceError, "%zu checks do not fit in memory", more);
        if (grading->count)
            memcpy(grown, grading->rows, grading->count * sizeof(*grown));
        grading->rows = grown;
        grading->capacity = more;
    }
    row.label = arena_string(grading->arena, label);
    row.remark = arena_string(grading->arena, remark);
    if (!row.label || !row.remark)
        return err_set(err, ERR_ResourceError, "the checks' texts do not fit in memory");
    grading->rows[grading->count++] = row;
    return 0;
}
