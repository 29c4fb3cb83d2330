/*
 * One byte of lookahead is enough for every token but a number's tail, which
 * decides what the digits mean: 16K, 50%, 0.1us, 1..8.
 */
#include "cells/lex.h"

#include "cells/characters.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

bool is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool is_name_char(char c)
{
    return is_name_start(c) || is_digit(c);
}

bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

void source_place(const struct source *source, size_t offset, int *line, int *column)
{
    const char *data = source->text.data;
    size_t start = 0;

    *line = source->line;
    if (offset > source->text.size)
        offset = source->text.size;
    for (const char *p = data; (p = memchr(p, '\n', offset - (size_t)(p - data))) != NULL; p++) {
        ++*line;
        start = (size_t)(p - data) + 1;
    }
    *column = (int)(offset - start) + (start ? 1 : source->column);
}

int lexer_mark(const struct lexer *lexer, size_t start, size_t end, struct err *err)
{
    int line, column;

    source_place(&lexer->source, start, &line, &column);
    return err_at(err, line, column, end > start ? (int)(end - start) : 1);
}

int lexer_fail_at(const struct lexer *lexer, size_t start, size_t end, struct err *err,
                  enum err_name name, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    err_setv(err, name, fmt, args);
    va_end(args);
    return lexer_mark(lexer, start, end, err);
}

const char *text_show(struct arena *arena, struct bytes text, size_t max)
{
    size_t n = 0, step;
    char *out;

    while (n < text.size && n < max) {
        step = character_size((struct bytes){ text.data + n, text.size - n }, NULL);
        if (!step || n + step > max)
            break;
        n += step;
    }
    out = arena_printf(arena, "%.*s%s", (int)n, text.size ? text.data : "",
                       n < text.size ? "..." : "");
    if (!out)
        return "?";
    for (char *p = out; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7F)
            *p = ' ';
    return out;
}

const char *token_show(const struct lexer *lexer, const struct token *token)
{
    struct bytes text = { lexer->source.text.data + token->start, token->end - token->start };

    if (token->kind == TOKEN_END)
        return "the end of the line";
    return text_show(lexer->arena, text, 40);
}

void lexer_init(struct lexer *lexer, struct source source, struct arena *arena)
{
    *lexer = (struct lexer){ .source = source, .arena = arena };
}

void lexer_seek(struct lexer *lexer, size_t offset)
{
    lexer->at = offset;
    lexer->has_ahead = false;
}

static char char_at(const struct lexer *lexer, size_t at)
{
    return at < lexer->source.text.size ? lexer->source.text.data[at] : '\0';
}

static bool is_line_comment(const struct lexer *lexer, size_t at)
{
    bool is_after_blank = at == 0 || is_blank(char_at(lexer, at - 1));

    return is_after_blank && (char_at(lexer, at) == '#' ||
                              (char_at(lexer, at) == '/' && char_at(lexer, at + 1) == '/'));
}

/* Blanks, line continuations, comments, and the ';' that only ends the line. */
static size_t skip_blanks(const struct lexer *lexer, size_t at)
{
    size_t end = lexer->source.text.size;

    while (at < end) {
        if (is_blank(char_at(lexer, at))) {
            at++;
        } else if (char_at(lexer, at) == '\\' && char_at(lexer, at + 1) == '\n') {
            at += 2;
        } else if (char_at(lexer, at) == '\\' && char_at(lexer, at + 1) == '\r' &&
                   char_at(lexer, at + 2) == '\n') {
            at += 3;
        } else if (is_line_comment(lexer, at)) {
            while (at < end && char_at(lexer, at) != '\n')
                at++;
        } else {
            break;
        }
    }
    return at;
}

/* What was found behind a run of ';' is remembered, or a line full of them would take forever. */
static bool only_end_follows(struct lexer *lexer, size_t at)
{
    if (at < lexer->code_at)
        return false;
    while (char_at(lexer, at) == ';')
        at = skip_blanks(lexer, at + 1);
    if (at >= lexer->source.text.size)
        return true;
    lexer->code_at = at;
    return false;
}

/* ---- numbers ---- */

struct suffix {
    const char *text;
    enum number_unit unit;
    double factor;
};

/* Counts and bytes grow by 1024; rates, times and frequencies by 1000. */
static const struct suffix SUFFIXES[] = {
    { "K", NUMBER_PLAIN, 0x1p10 },     { "M", NUMBER_PLAIN, 0x1p20 },
    { "G", NUMBER_PLAIN, 0x1p30 },     { "KB", NUMBER_PLAIN, 0x1p10 },
    { "MB", NUMBER_PLAIN, 0x1p20 },    { "GB", NUMBER_PLAIN, 0x1p30 },
    { "KiB", NUMBER_PLAIN, 0x1p10 },   { "MiB", NUMBER_PLAIN, 0x1p20 },
    { "GiB", NUMBER_PLAIN, 0x1p30 },   { "B", NUMBER_PLAIN, 1 },
    { "ns", NUMBER_TIME, 1e-9 },       { "us", NUMBER_TIME, 1e-6 },
    { "ms", NUMBER_TIME, 1e-3 },       { "s", NUMBER_TIME, 1 },
    { "B/s", NUMBER_RATE, 1 },         { "KB/s", NUMBER_RATE, 1e3 },
    { "MB/s", NUMBER_RATE, 1e6 },      { "GB/s", NUMBER_RATE, 1e9 },
    { "TB/s", NUMBER_RATE, 1e12 },     { "GFLOP/s", NUMBER_FLOPS, 1e9 },
    { "TFLOP/s", NUMBER_FLOPS, 1e12 }, { "Hz", NUMBER_HERTZ, 1 },
    { "kHz", NUMBER_HERTZ, 1e3 },      { "MHz", NUMBER_HERTZ, 1e6 },
    { "GHz", NUMBER_HERTZ, 1e9 },      { "f", NUMBER_PLAIN, 1 },
    { "u", NUMBER_PLAIN, 1 },          { "F", NUMBER_PLAIN, 1 },
    { "U", NUMBER_PLAIN, 1 },          { "l", NUMBER_PLAIN, 1 },
    { "L", NUMBER_PLAIN, 1 },          { "ul", NUMBER_PLAIN, 1 },
    { "UL", NUMBER_PLAIN, 1 },         { "ll", NUMBER_PLAIN, 1 },
    { "LL", NUMBER_PLAIN, 1 },         { "ull", NUMBER_PLAIN, 1 },
    { "ULL", NUMBER_PLAIN, 1 },
};

static const struct suffix *suffix_find(struct bytes text)
{
    for (size_t i = 0; i < COUNT(SUFFIXES); i++)
        if (bytes_equal(text, SUFFIXES[i].text))
            return &SUFFIXES[i];
    return NULL;
}

static int apply_suffix(struct lexer *lexer, struct token *t, struct err *err)
{
    size_t at = t->end;
    const struct suffix *suffix;
    struct bytes text;
    int64_t product;

    while (is_name_char(char_at(lexer, at)))
        at++;
    if (char_at(lexer, at) == '/' && char_at(lexer, at + 1) == 's' &&
        !is_name_char(char_at(lexer, at + 2)) && char_at(lexer, at - 1) != '/')
        at += suffix_find((struct bytes){ lexer->source.text.data + t->end, at + 2 - t->end }) ? 2
                                                                                               : 0;
    text = (struct bytes){ lexer->source.text.data + t->end, at - t->end };
    if (!text.size)
        return 0;
    suffix = suffix_find(text);
    if (!suffix) {
        lexer_fail_at(lexer, t->start, at, err, ERR_SyntaxError, "%s is not a number",
                      text_show(lexer->arena,
                                (struct bytes){ lexer->source.text.data + t->start, at - t->start },
                                40));
        if (text.size > 1 && text.data[0] == 'x' && text.data[1] >= '0' && text.data[1] <= '9')
            return err_next(err, "a block or grid of several dimensions is (16,16) or (8,8,2)");
        return err_next(err,
                        "suffixes are K M G (powers of 1024), ns us ms s, Hz MHz GHz, GB/s TB/s");
    }
    t->end = at;
    t->unit = suffix->unit;
    if (t->kind == TOKEN_INT && suffix->unit == NUMBER_PLAIN) {
        if (__builtin_mul_overflow(t->i, (int64_t)suffix->factor, &product))
            return lexer_fail_at(lexer, t->start, t->end, err, ERR_ValueError,
                                 "%s does not fit in 64 bits", token_show(lexer, t));
        t->i = product;
        return 0;
    }
    t->f = (t->kind == TOKEN_INT ? (double)t->i : t->f) * suffix->factor;
    t->kind = TOKEN_FLOAT;
    /* 1.5K is a count: 1536. */
    if (suffix->unit == NUMBER_PLAIN && suffix->factor >= 1024 && floor(t->f) == t->f &&
        fabs(t->f) < 0x1p62) {
        t->kind = TOKEN_INT;
        t->i = (int64_t)t->f;
    }
    return 0;
}

/* 50% is a percentage; in n %2 and 10%3 the sign is C's remainder. */
static void apply_percent(struct lexer *lexer, struct token *t)
{
    char after = char_at(lexer, t->end + 1);

    if (char_at(lexer, t->end) != '%' || is_name_char(after) || after == '(')
        return;
    t->f = (t->kind == TOKEN_INT ? (double)t->i : t->f) / 100;
    t->kind = TOKEN_FLOAT;
    t->unit = NUMBER_PERCENT;
    t->end++;
}

static int read_integer(struct lexer *lexer, struct token *t, int base, struct err *err)
{
    char digits[72] = "";
    size_t n = t->end - t->start;

    if (n < sizeof(digits))
        memcpy(digits, lexer->source.text.data + t->start, n);
    errno = 0;
    t->kind = TOKEN_INT;
    t->i = strtoll(digits, NULL, base);
    if (errno || n >= sizeof(digits))
        return lexer_fail_at(lexer, t->start, t->end, err, ERR_ValueError,
                             "%s does not fit in 64 bits (at most 9223372036854775807)",
                             token_show(lexer, t));
    return 0;
}

static int read_decimal(struct lexer *lexer, struct token *t, struct err *err)
{
    char digits[400] = "";
    size_t n = t->end - t->start;

    if (n >= sizeof(digits))
        return lexer_fail_at(lexer, t->start, t->end, err, ERR_ValueError,
                             "a number of %zu characters is longer than 399", n);
    memcpy(digits, lexer->source.text.data + t->start, n);
    t->kind = TOKEN_FLOAT;
    t->f = strtod(digits, NULL);
    if (isinf(t->f))
        return lexer_fail_at(lexer, t->start, t->end, err, ERR_ValueError,
                             "%s is above the largest double, 1.8e308", token_show(lexer, t));
    return 0;
}

/* The f of 1.f, with no name behind the point. */
static bool is_float_end(const struct lexer *lexer, size_t at)
{
    return (char_at(lexer, at) | 32) == 'f' && !is_name_char(char_at(lexer, at + 1));
}

static int read_number(struct lexer *lexer, struct token *t, struct err *err)
{
    size_t at = t->start;
    bool is_decimal = false, is_hex;
    int rc;

    is_hex = char_at(lexer, at) == '0' && (char_at(lexer, at + 1) | 32) == 'x';
    if (is_hex) {
        at += 2;
        while (is_digit(char_at(lexer, at)) ||
               ((char_at(lexer, at) | 32) >= 'a' && (char_at(lexer, at) | 32) <= 'f'))
            at++;
        t->end = at;
        if (at == t->start + 2)
            return lexer_fail_at(lexer, t->start, at, err, ERR_SyntaxError,
                                 "0x needs hexadecimal digits");
        return read_integer(lexer, t, 16, err);
    }
    while (is_digit(char_at(lexer, at)))
        at++;
    /* The point needs a digit after it, so that 1..8 is a range; 1.f is a number of C. */
    if (char_at(lexer, at) == '.' &&
        (is_digit(char_at(lexer, at + 1)) || is_float_end(lexer, at + 1))) {
        is_decimal = true;
        for (at++; is_digit(char_at(lexer, at)); at++)
            ;
    }
    if ((char_at(lexer, at) | 32) == 'e') {
        size_t exp = at + 1;

        if (char_at(lexer, exp) == '+' || char_at(lexer, exp) == '-')
            exp++;
        if (is_digit(char_at(lexer, exp))) {
            is_decimal = true;
            for (at = exp; is_digit(char_at(lexer, at)); at++)
                ;
        }
    }
    t->end = at;
    rc = is_decimal ? read_decimal(lexer, t, err) : read_integer(lexer, t, 10, err);
    if (rc < 0 || apply_suffix(lexer, t, err) < 0)
        return -1;
    apply_percent(lexer, t);
    return 0;
}

/* ---- strings ---- */

static char unescape(char c)
{
    switch (c) {
    case 'n':
        return '\n';
    case 't':
        return '\t';
    case 'r':
        return '\r';
    case '"':
    case '\'':
    case '\\':
        return c;
    default:
        return '\0';
    }
}

static int read_string(struct lexer *lexer, struct token *t, struct err *err)
{
    char quote = char_at(lexer, t->start);
    size_t end = lexer->source.text.size, at = t->start + 1, n = 0;
    char *text;

    while (at < end && char_at(lexer, at) != quote && char_at(lexer, at) != '\n')
        at += char_at(lexer, at) == '\\' && at + 1 < end ? 2 : 1;
    if (at >= end || char_at(lexer, at) != quote)
        return lexer_fail_at(lexer, t->start, at < end ? at : end, err, ERR_SyntaxError,
                             "the text that starts here has no closing %c", quote);
    text = arena_alloc(lexer->arena, at - t->start);
    if (!text)
        return err_set(err, ERR_ResourceError, "out of memory");
    t->end = at + 1;
    for (at = t->start + 1; at + 1 < t->end; at++) {
        char c = char_at(lexer, at);

        if (c == '\\') {
            c = unescape(char_at(lexer, ++at));
            if (!c)
                return lexer_fail_at(lexer, at - 1, at + 1, err, ERR_SyntaxError,
                                     "\\%c is not an escape: \\n \\t \\r \\\" \\' and \\\\ are",
                                     char_at(lexer, at) >= ' ' && char_at(lexer, at) < 127
                                         ? char_at(lexer, at)
                                         : '?');
        }
        text[n++] = c;
    }
    t->kind = TOKEN_STRING;
    t->text = (struct bytes){ text, n };
    return 0;
}

/* ---- operators and the rest ---- */

static const struct {
    const char *text;
    int op;
} LONG_OPS[] = {
    { "<<<", OP_LAUNCH },
    { "==", OP_EQ },
    { "!=", OP_NE },
    { "<=", OP_LE },
    { ">=", OP_GE },
    { "&&", OP_AND },
    { "||", OP_OR },
    { "<<", OP_SHL },
    { ">>", OP_SHR },
    { "..", OP_RANGE },
    { "->", OP_ARROW },
    { "+-", OP_TOLERANCE },
    { "\xC2\xB1", OP_TOLERANCE },
};

/* What editors and chat programs make of a plain sign. */
static const struct {
    const char *text, *plain;
} LOOKALIKES[] = {
    { "\xE2\x80\x9C", "\"" }, { "\xE2\x80\x9D", "\"" }, { "\xE2\x80\x98", "'" },
    { "\xE2\x80\x99", "'" },  { "\xE2\x88\x92", "-" },  { "\xE2\x80\x93", "-" },
    { "\xC3\x97", "*" },      { "\xE2\x89\xA4", "<=" }, { "\xE2\x89\xA5", ">=" },
    { "\xE2\x89\xA0", "!=" }, { "\xE2\x80\xA6", ".." }, { "\xC2\xA0", "a blank" },
};

static bool starts_with(const struct lexer *lexer, size_t at, const char *text)
{
    size_t n = strlen(text);

    return lexer->source.text.size - at >= n && memcmp(lexer->source.text.data + at, text, n) == 0;
}

static int refuse_char(struct lexer *lexer, struct token *t, struct err *err)
{
    const char *data = lexer->source.text.data + t->start;
    size_t n = character_size((struct bytes){ data, lexer->source.text.size - t->start }, NULL);

    t->end = t->start + (n ? n : 1);
    for (size_t i = 0; i < COUNT(LOOKALIKES); i++)
        if (starts_with(lexer, t->start, LOOKALIKES[i].text)) {
            lexer_fail_at(lexer, t->start, t->end, err, ERR_SyntaxError,
                          "%s is not a sign of this language", token_show(lexer, t));
            return err_next(err, "write %s", LOOKALIKES[i].plain);
        }
    if (!n || (unsigned char)*data < ' ' || *data == 0x7F)
        return lexer_fail_at(lexer, t->start, t->end, err, ERR_SyntaxError,
                             "byte 0x%02X has no meaning here", (unsigned char)*data);
    return lexer_fail_at(lexer, t->start, t->end, err, ERR_SyntaxError, "%s has no meaning here",
                         token_show(lexer, t));
}

static int read_operator(struct lexer *lexer, struct token *t, struct err *err)
{
    char c = char_at(lexer, t->start);

    t->kind = TOKEN_OP;
    for (size_t i = 0; i < COUNT(LONG_OPS); i++)
        if (starts_with(lexer, t->start, LONG_OPS[i].text)) {
            t->op = LONG_OPS[i].op;
            t->end = t->start + strlen(LONG_OPS[i].text);
            return 0;
        }
    if (!c || !strchr("+-*/%<>=!&|^~?:,.;()[]{}", c))
        return refuse_char(lexer, t, err);
    t->op = (unsigned char)c;
    t->end = t->start + 1;
    return 0;
}

static int read_token(struct lexer *lexer, struct token *t, struct err *err)
{
    size_t start = skip_blanks(lexer, lexer->at);
    char c = char_at(lexer, start);

    *t = (struct token){ .start = start, .end = start };
    t->blank_before = start == 0 || start > lexer->at;
    if (start >= lexer->source.text.size || only_end_follows(lexer, start)) {
        t->kind = TOKEN_END;
        return 0;
    }
    if (is_digit(c) || (c == '.' && is_digit(char_at(lexer, start + 1))))
        return read_number(lexer, t, err);
    if (c == '"' || c == '\'')
        return read_string(lexer, t, err);
    if (!is_name_start(c))
        return read_operator(lexer, t, err);
    t->kind = TOKEN_WORD;
    while (is_name_char(char_at(lexer, t->end)))
        t->end++;
    t->text = (struct bytes){ lexer->source.text.data + start, t->end - start };
    return 0;
}

int lexer_peek(struct lexer *lexer, struct token *out, struct err *err)
{
    if (!lexer->has_ahead) {
        if (read_token(lexer, &lexer->ahead, err) < 0)
            return -1;
        lexer->has_ahead = true;
    }
    *out = lexer->ahead;
    return 0;
}

int lexer_next(struct lexer *lexer, struct token *out, struct err *err)
{
    if (lexer_peek(lexer, out, err) < 0)
        return -1;
    lexer->has_ahead = false;
    lexer->at = lexer->last_end = out->end;
    return 0;
}

int lexer_take_op(struct lexer *lexer, int op, bool *taken, struct err *err)
{
    struct token t;

    *taken = false;
    if (lexer_peek(lexer, &t, err) < 0)
        return -1;
    *taken = t.kind == TOKEN_OP && t.op == op;
    return *taken ? lexer_next(lexer, &t, err) : 0;
}

bool lexer_skip(struct lexer *lexer)
{
    lexer_seek(lexer, skip_blanks(lexer, lexer->at));
    return lexer->at < lexer->source.text.size && !only_end_follows(lexer, lexer->at);
}

/* Does a > follow the < on its line, before anything that no template argument has? */
static bool has_close(const struct lexer *lexer, size_t at)
{
    for (at++; at < lexer->source.text.size && !strchr("=;\n\"", char_at(lexer, at)); at++)
        if (char_at(lexer, at) == '>')
            return true;
    return false;
}

int lexer_word(struct lexer *lexer, struct token *out, struct err *err)
{
    size_t at;

    lexer->has_ahead = false;
    at = skip_blanks(lexer, lexer->at);
    *out = (struct token){ .start = at, .end = at, .blank_before = at == 0 || at > lexer->at };
    if (at >= lexer->source.text.size || only_end_follows(lexer, at)) {
        out->kind = TOKEN_END;
        return 0;
    }
    if (char_at(lexer, at) == '"' || char_at(lexer, at) == '\'') {
        if (read_string(lexer, out, err) < 0)
            return -1;
    } else {
        int angles = 0; /* k<float, 32> is one word */

        while (at < lexer->source.text.size &&
               (angles > 0 || (!is_blank(char_at(lexer, at)) && char_at(lexer, at) != ',')) &&
               !strchr("[](){}\"'\\\n", char_at(lexer, at)) &&
               !(char_at(lexer, at) == ';' && only_end_follows(lexer, at))) {
            angles += at > out->start && char_at(lexer, at) == '<' && has_close(lexer, at);
            angles -= angles > 0 && char_at(lexer, at) == '>';
            at++;
        }
        out->kind = TOKEN_WORD;
        out->end = at;
        out->text = (struct bytes){ lexer->source.text.data + out->start, at - out->start };
    }
    lexer->at = lexer->last_end = out->end;
    return 0;
}

size_t line_strip(struct bytes line)
{
    size_t n = line.size;
    bool is_quoted = false;

    for (size_t i = 0; i < n; i++) {
        char c = line.data[i];

        if (c == '"' && is_quoted) {
            is_quoted = false;
        } else if (c == '"') {
            is_quoted = memchr(line.data + i + 1, '"', n - i - 1) != NULL;
        } else if (is_quoted && c == '\\') {
            i++;
        } else if (!is_quoted && (i == 0 || is_blank(line.data[i - 1])) &&
                   (c == '#' || (c == '/' && i + 1 < n && line.data[i + 1] == '/'))) {
            n = i;
        }
    }
    while (n && (is_blank(line.data[n - 1]) || line.data[n - 1] == ';'))
        n--;
    return n;
}
