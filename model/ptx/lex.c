/*
 * The lexer of PTX: one pass, no copies. Comments of both kinds are blanks.
 */
#include "model/ptx/lex.h"

#include <ctype.h>
#include <stdlib.h>

enum { MAX_DECIMAL = 64 }; /* digits of a decimal float; NVRTC writes floats in hexadecimal */

void ptx_lex_init(struct lexer *lexer, struct bytes text)
{
    *lexer = (struct lexer){ .at = text.data, .end = text.data + text.size, .line = 1 };
}

static char peek(const struct lexer *lexer, size_t n)
{
    return (size_t)(lexer->end - lexer->at) > n ? lexer->at[n] : '\0';
}

static void skip_to_line_end(struct lexer *lexer)
{
    while (lexer->at < lexer->end && *lexer->at != '\n')
        lexer->at++;
}

static void skip_comment(struct lexer *lexer)
{
    lexer->at += 2;
    while (lexer->at < lexer->end && !(*lexer->at == '*' && peek(lexer, 1) == '/')) {
        lexer->line += *lexer->at == '\n';
        lexer->at++;
    }
    lexer->at += lexer->end - lexer->at >= 2 ? 2 : lexer->end - lexer->at;
}

static void skip_blanks(struct lexer *lexer)
{
    while (lexer->at < lexer->end) {
        char c = *lexer->at;

        if (c == '/' && peek(lexer, 1) == '/')
            skip_to_line_end(lexer);
        else if (c == '/' && peek(lexer, 1) == '*')
            skip_comment(lexer);
        else if (c == '\n' || isspace((unsigned char)c))
            lexer->line += *lexer->at++ == '\n';
        else
            return;
    }
}

void lexer_skip_section(struct lexer *lexer)
{
    while (lexer->at < lexer->end && *lexer->at != '}')
        lexer->line += *lexer->at++ == '\n';
    if (lexer->at < lexer->end)
        lexer->at++;
}

static bool is_word_start(char c)
{
    return isalpha((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

/* "L1::no_allocate" is one word, "label:" is a word and a colon. */
static bool is_word_part(const struct lexer *lexer, const char *at)
{
    const char *end = lexer->end;

    if (isalnum((unsigned char)*at) || *at == '_' || *at == '$' || *at == '.')
        return true;
    if (*at != ':')
        return false;
    return (at + 2 < end && at[1] == ':' && isalnum((unsigned char)at[2])) || at[-1] == ':';
}

static struct token word(struct lexer *lexer, enum token_kind kind)
{
    const char *start = lexer->at++;

    /* Inline asm may leave the blank of ".reg .b32" out: a directive ends where the next begins. */
    while (lexer->at < lexer->end && is_word_part(lexer, lexer->at) &&
           (kind != TOKEN_DIRECTIVE || *lexer->at != '.'))
        lexer->at++;
    return (struct token){ .kind = kind,
                           .text = { start, (size_t)(lexer->at - start) },
                           .line = lexer->line };
}

static struct token digits(struct lexer *lexer, int base, int skip, enum token_kind kind)
{
    struct token t = { .kind = kind, .line = lexer->line };

    t.text.data = lexer->at;
    lexer->at += skip;
    for (; lexer->at < lexer->end && isalnum((unsigned char)*lexer->at); lexer->at++) {
        int c = tolower((unsigned char)*lexer->at);
        int digit = isdigit(c) ? c - '0' : c - 'a' + 10;

        if (digit >= base)
            break;
        t.value = t.value * (unsigned)base + (unsigned)digit;
    }
    if (lexer->at < lexer->end && *lexer->at == 'U')
        lexer->at++;
    t.text.size = (size_t)(lexer->at - t.text.data);
    return t;
}

static bool is_decimal_float(const struct lexer *lexer)
{
    const char *at = lexer->at;

    while (at < lexer->end && isdigit((unsigned char)*at))
        at++;
    return at < lexer->end && *at == '.';
}

static struct token decimal_float(struct lexer *lexer)
{
    struct token t = { .kind = TOKEN_F64, .text = { lexer->at, 0 }, .line = lexer->line };
    char copy[MAX_DECIMAL + 1];
    size_t n = 0;
    double v;

    while (n < MAX_DECIMAL && lexer->at < lexer->end &&
           (isalnum((unsigned char)*lexer->at) || *lexer->at == '.'))
        copy[n++] = *lexer->at++;
    copy[n] = '\0';
    v = strtod(copy, NULL);
    memcpy(&t.value, &v, sizeof v);
    t.text.size = n;
    return t;
}

static struct token number(struct lexer *lexer)
{
    int kind = *lexer->at == '0' ? tolower((unsigned char)peek(lexer, 1)) : 0;

    switch (kind) {
    case 'x':
        return digits(lexer, 16, 2, TOKEN_INT);
    case 'f':
        return digits(lexer, 16, 2, TOKEN_F32);
    case 'd':
        return digits(lexer, 16, 2, TOKEN_F64);
    case 'b':
        return digits(lexer, 2, 2, TOKEN_INT);
    default:
        if (is_decimal_float(lexer))
            return decimal_float(lexer);
        return digits(lexer, kind >= '0' && kind <= '7' ? 8 : 10, 0, TOKEN_INT);
    }
}

static struct token string(struct lexer *lexer)
{
    struct token t = { .kind = TOKEN_STRING, .line = lexer->line };

    t.text.data = ++lexer->at;
    while (lexer->at < lexer->end && *lexer->at != '"' && *lexer->at != '\n')
        lexer->at++;
    t.text.size = (size_t)(lexer->at - t.text.data);
    if (lexer->at < lexer->end && *lexer->at == '"')
        lexer->at++;
    else
        t.kind = TOKEN_BAD;
    return t;
}

struct token ptx_lex_next(struct lexer *lexer)
{
    struct token t = { .kind = TOKEN_END };
    char c;

    skip_blanks(lexer);
    t.line = lexer->line;
    t.text.data = lexer->at;
    if (lexer->at >= lexer->end)
        return t;
    c = *lexer->at;
    if (is_word_start(c))
        return word(lexer, TOKEN_WORD);
    if (c == '.' && isalpha((unsigned char)peek(lexer, 1)))
        return word(lexer, TOKEN_DIRECTIVE);
    if (isdigit((unsigned char)c))
        return number(lexer);
    if (c == '"')
        return string(lexer);
    t.kind = ispunct((unsigned char)c) ? TOKEN_PUNCT : TOKEN_BAD;
    t.punct = c;
    t.text.size = 1;
    lexer->at++;
    return t;
}
