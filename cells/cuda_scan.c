/*
 * One scanner knows comments, strings and directives, so that everything above it
 * can ask for the next token and never meets a brace in a string.
 */
#include "cells/cuda_scan.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>

static bool starts(const struct scanner *s, const char *word)
{
    size_t n = strlen(word);

    return (size_t)(s->end - s->at) >= n && memcmp(s->at, word, n) == 0;
}

static void skip_to(struct scanner *s, const char *word)
{
    while (s->at < s->end && !starts(s, word))
        s->at++;
    s->at += (size_t)(s->end - s->at) < strlen(word) ? s->end - s->at : (ptrdiff_t)strlen(word);
}

/* To the newline that ends a comment: a backslash before one does not. */
static void skip_line(struct scanner *s)
{
    while (s->at < s->end && *s->at != '\n')
        s->at += *s->at == '\\' && s->end - s->at > 1 ? 2 : 1;
}

/* Blanks and comments. A comment does not end the start of a line. */
static void skip_blanks(struct scanner *s)
{
    while (s->at < s->end) {
        if (*s->at == '\n') {
            s->is_line_start = true;
            s->at++;
        } else if (isspace((unsigned char)*s->at)) {
            s->at++;
        } else if (starts(s, "//")) {
            skip_line(s);
        } else if (*s->at == '\\' && s->end - s->at > 1 && s->at[1] == '\n') {
            s->at += 2; /* the line goes on */
        } else if (starts(s, "/*")) {
            s->at += 2;
            skip_to(s, "*/");
        } else {
            return;
        }
    }
}

static void skip_quoted(struct scanner *s, char quote)
{
    s->at++;
    while (s->at < s->end && *s->at != quote && *s->at != '\n')
        s->at += *s->at == '\\' && s->end - s->at > 1 ? 2 : 1;
    if (s->at < s->end && *s->at == quote)
        s->at++;
}

/* Behind a word: does R"tag( follow, as in u8R"(x)"? Then the word is a raw text's prefix. */
static bool is_raw_prefix(struct bytes word)
{
    return bytes_equal(word, "R") || bytes_equal(word, "LR") || bytes_equal(word, "uR") ||
           bytes_equal(word, "UR") || bytes_equal(word, "u8R");
}

/* R"tag( ... )tag" */
static void skip_raw(struct scanner *s)
{
    char close[24];
    const char *open = memchr(s->at, '(', (size_t)(s->end - s->at));
    size_t tag = open ? (size_t)(open - s->at - 2) : 99;

    if (tag > 16) {
        skip_quoted(s, '"');
        return;
    }
    snprintf(close, sizeof(close), ")%.*s\"", (int)tag, s->at + 2);
    skip_to(s, close);
}

static void skip_directive(struct scanner *s)
{
    while (s->at < s->end && *s->at != '\n') {
        if (starts(s, "/*")) {
            s->at += 2;
            skip_to(s, "*/");
        } else if (starts(s, "//")) {
            skip_line(s);
        } else {
            s->at += *s->at == '\\' && s->end - s->at > 1 ? 2 : 1;
        }
    }
}

struct scan_token scan_next(struct scanner *s)
{
    struct scan_token t = { SCAN_END, { s->end, 0 } };
    bool is_line_start;
    const char *from;

    skip_blanks(s);
    if (s->at >= s->end)
        return t;
    from = s->at;
    is_line_start = s->is_line_start;
    s->is_line_start = false;
    if (*from == '#' && is_line_start) {
        t.kind = SCAN_DIRECTIVE;
        skip_directive(s);
    } else if (*from == '"' || *from == '\'') {
        t.kind = SCAN_TEXT;
        skip_quoted(s, *from);
    } else if (isalpha((unsigned char)*from) || *from == '_' || (*from & 0x80)) {
        t.kind = SCAN_WORD;
        while (s->at < s->end &&
               (isalnum((unsigned char)*s->at) || *s->at == '_' || (*s->at & 0x80)))
            s->at++;
        if (s->at < s->end && *s->at == '"' &&
            is_raw_prefix((struct bytes){ from, (size_t)(s->at - from) })) {
            t.kind = SCAN_TEXT;
            s->at--;
            skip_raw(s);
        }
    } else if (isdigit((unsigned char)*from)) {
        t.kind = SCAN_NUMBER;
        while (s->at < s->end &&
               (isalnum((unsigned char)*s->at) || *s->at == '.' ||
                (*s->at == '\'' && s->end - s->at > 1 && isalnum((unsigned char)s->at[1]))))
            s->at++;
    } else {
        t.kind = SCAN_SIGN;
        s->at++;
    }
    t.text = (struct bytes){ from, (size_t)(s->at - from) };
    return t;
}

bool scan_is_sign(struct scan_token t, char c)
{
    return t.kind == SCAN_SIGN && t.text.data[0] == c;
}

bool scan_is_word(struct scan_token t, const char *word)
{
    return t.kind == SCAN_WORD && bytes_equal(t.text, word);
}

bool scan_identifier(struct scanner *s, struct scanner *directive, struct bytes *out)
{
    for (;;) {
        struct scanner *from = directive->at < directive->end ? directive : s;
        struct scan_token t = scan_next(from);

        if (t.kind == SCAN_WORD) {
            *out = t.text;
            return true;
        }
        if (t.kind == SCAN_DIRECTIVE)
            *directive = (struct scanner){ t.text.data + 1, t.text.data + t.text.size, false };
        else if (t.kind == SCAN_END && from == s)
            return false;
    }
}

struct bytes scan_trimmed(struct bytes text)
{
    while (text.size > 0 && isspace((unsigned char)text.data[0])) {
        text.data++;
        text.size--;
    }
    while (text.size > 0 && isspace((unsigned char)text.data[text.size - 1]))
        text.size--;
    return text;
}
