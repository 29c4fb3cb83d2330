/*
 * A line from a program of C++ says std::max and static_cast<int>(n) where a cell's says max and
 * int(n). All is read by looking ahead in a copy of the lexer: whoever writes `(n)` or `a < b`
 * means these, and nothing was taken yet.
 */
#include "cells/parse_c.h"

/* Words of types: the first two make a decimal, const and struct make nothing. */
static const char *const TYPE_WORDS[] = {
    "float",    "double",  "int",      "unsigned", "signed",   "long",    "short",
    "char",     "size_t",  "uint",     "bool",     "int8_t",   "uint8_t", "int16_t",
    "uint16_t", "int32_t", "uint32_t", "int64_t",  "uint64_t", "const",   "struct",
};

enum { DECIMALS = 2, NOT_MADE = 2 };

/* What so many words of a type make of a value, *made so far. False: the word is of no type. */
static bool is_type_word(struct bytes word, const char **made)
{
    for (size_t i = 0; i < COUNT(TYPE_WORDS); i++)
        if (bytes_equal(word, TYPE_WORDS[i])) {
            if (i < DECIMALS)
                *made = "float";
            else if (i < COUNT(TYPE_WORDS) - NOT_MADE && !*made)
                *made = "int";
            return true;
        }
    return false;
}

static bool is_op(const struct token *t, int op)
{
    return t->kind == TOKEN_OP && t->op == op;
}

/* Words of types and commas from here to the operator that closes them, which is taken. */
static bool skip_types(struct lexer *lexer, int close, const char **made)
{
    struct token t;

    *made = NULL;
    for (;;) {
        if (lexer_next(lexer, &t, NULL) < 0)
            return false;
        if (is_op(&t, close))
            return *made != NULL;
        if (!is_op(&t, ',') && !(t.kind == TOKEN_WORD && is_type_word(t.text, made)))
            return false;
    }
}

static bool take(struct lexer *lexer, int op)
{
    bool is_taken;

    return lexer_take_op(lexer, op, &is_taken, NULL) == 0 && is_taken;
}

const char *c_cast_ahead(const struct lexer *lexer, struct lexer *behind)
{
    const char *made;
    struct token t;

    *behind = *lexer;
    if (!take(behind, '(') || !skip_types(behind, ')', &made) || lexer_peek(behind, &t, NULL) < 0)
        return NULL;
    return t.kind == TOKEN_WORD || t.kind == TOKEN_INT || t.kind == TOKEN_FLOAT || is_op(&t, '(') ||
                   is_op(&t, '-') || is_op(&t, '~')
               ? made
               : NULL;
}

const char *c_cast_named(struct bytes word, const struct lexer *lexer, struct lexer *behind)
{
    const char *made;

    *behind = *lexer;
    return bytes_equal(word, "static_cast") && take(behind, '<') && skip_types(behind, '>', &made)
               ? made
               : NULL;
}

bool c_is_no_call(struct bytes word, const struct lexer *lexer, struct lexer *behind)
{
    bool is_cast = bytes_equal(word, "reinterpret_cast") || bytes_equal(word, "const_cast");
    struct token t;

    *behind = *lexer;
    if (is_cast && !take(behind, '<'))
        return false;
    while (is_cast && !take(behind, '>'))
        if (lexer_next(behind, &t, NULL) < 0 || t.kind == TOKEN_END)
            return false;
    return (is_cast || bytes_equal(word, "raw_pointer_cast")) &&
           lexer_peek(behind, &t, NULL) == 0 && is_op(&t, '(');
}

const char *c_type_in_brackets(const struct lexer *lexer, struct lexer *behind)
{
    const char *text = "";
    struct token t;
    size_t words = 0;

    *behind = *lexer;
    if (!take(behind, '('))
        return NULL;
    for (;;) {
        if (lexer_next(behind, &t, NULL) < 0 || (t.kind != TOKEN_WORD && t.kind != TOKEN_OP))
            return NULL;
        if (is_op(&t, '*') && words > 0 && take(behind, ')')) /* a pointer, whatever it is to */
            return "ulong";
        if (is_op(&t, ')'))
            return words > 1 ? text : NULL;
        if (t.kind != TOKEN_WORD)
            return NULL;
        words++;
        if (bytes_equal(t.text, "const") || bytes_equal(t.text, "struct"))
            continue;
        text = arena_printf(behind->arena, "%s%s%.*s", text, *text ? " " : "", (int)t.text.size,
                            t.text.data);
        if (!text)
            return NULL;
    }
}

int c_skip_scopes(struct lexer *lexer, struct token *word, struct err *err)
{
    size_t at = word->end;
    const char *text = lexer->source.text.data;

    while (at + 2 < lexer->source.text.size && text[at] == ':' && text[at + 1] == ':') {
        lexer_seek(lexer, at + 2);
        if (lexer_next(lexer, word, err) < 0)
            return -1;
        if (word->kind != TOKEN_WORD)
            return lexer_fail_at(lexer, word->start, word->end, err, ERR_SyntaxError,
                                 "a name is missing after ::");
        at = word->end;
    }
    return 0;
}

void c_skip_template(struct lexer *lexer)
{
    struct lexer behind = *lexer;
    const char *made;
    struct token t;

    if (take(&behind, '<') && skip_types(&behind, '>', &made) &&
        lexer_peek(&behind, &t, NULL) == 0 && is_op(&t, '(') && !t.blank_before)
        *lexer = behind;
}
