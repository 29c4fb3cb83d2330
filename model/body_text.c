/*
 * A refusal names what it means: so many characters from where it stands.
 */
#include "model/body_text.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>

int body_text_fail(struct body_reader *r, size_t start, size_t end, enum err_name name,
                   const char *fmt, ...)
{
    va_list args;

    *r->place = (struct body_place){ start, end > start ? end : start + 1 };
    va_start(args, fmt);
    err_setv(r->err, name, fmt, args);
    va_end(args);
    return -1;
}

char body_text_skip(struct body_reader *r)
{
    while (r->text[r->at] && strchr(" \t\r\n", r->text[r->at]))
        r->at++;
    return r->text[r->at];
}

bool body_text_take(struct body_reader *r, char c)
{
    if (body_text_skip(r) != c)
        return false;
    r->at++;
    return true;
}

struct body_place body_text_word(struct body_reader *r, char *word)
{
    struct body_place at;
    size_t n = 0;

    body_text_skip(r);
    at.start = r->at;
    for (; isalnum((unsigned char)r->text[r->at]) || r->text[r->at] == '_'; r->at++)
        if (n < BODY_NAME_SIZE - 1)
            word[n++] = (char)tolower((unsigned char)r->text[r->at]);
    word[n] = '\0';
    at.end = r->at;
    return at;
}

int body_text_unexpected(struct body_reader *r, const char *wanted)
{
    char c = body_text_skip(r);
    size_t end = r->at;

    if (!c)
        return body_text_fail(r, r->at, r->at, ERR_SyntaxError, "%s expected, but the body ends",
                              wanted);
    while (isalnum((unsigned char)r->text[end]))
        end++;
    if (end == r->at) /* a character of several bytes is shown whole */
        do
            end++;
        while (((unsigned char)r->text[end] & 0xc0) == 0x80);
    return body_text_fail(r, r->at, end, ERR_SyntaxError, "%s expected, not %.*s", wanted,
                          (int)min_i64((int64_t)(end - r->at), 20), r->text + r->at);
}

int body_text_expect(struct body_reader *r, char c, const char *wanted)
{
    return body_text_take(r, c) ? 0 : body_text_unexpected(r, wanted);
}

int body_text_number(struct body_reader *r, const char *name, int64_t least, int64_t most,
                     int64_t *out)
{
    char word[BODY_NAME_SIZE], *end;
    struct body_place at;
    bool is_negative = body_text_take(r, '-');
    size_t start = r->at - is_negative;

    at = body_text_word(r, word);
    if (!isdigit((unsigned char)word[0])) {
        r->at = at.start;
        return body_text_unexpected(r, "a number");
    }
    *out = (int64_t)strtoull(word, &end, word[1] == 'x' ? 16 : 10);
    if (*end || at.end - at.start >= BODY_NAME_SIZE - 1)
        return body_text_fail(r, at.start, at.end, ERR_SyntaxError, "%s is no number", word);
    if (is_negative || *out < least || *out > most)
        return body_text_fail(r, is_negative ? start : at.start, at.end, ERR_ValueError,
                              "%s=%s%s: %s is %lld to %lld", name, is_negative ? "-" : "", word,
                              name, (long long)least, (long long)most);
    return 0;
}

int body_text_int(struct body_reader *r, const char *name, int least, int most, int *out)
{
    int64_t v;

    if (body_text_number(r, name, least, most, &v) < 0)
        return -1;
    *out = (int)v;
    return 0;
}

int body_text_mask(struct body_reader *r, uint32_t *out)
{
    int64_t v;

    if (body_text_number(r, "mask", 1, UINT32_MAX, &v) < 0)
        return -1;
    *out = (uint32_t)v;
    return 0;
}
