/*
 * UTF-8, widths and numbers, without the C library's locale: the same bytes
 * must come out whatever the environment of the kernel says.
 */
#include "cells/render/text.h"

#include "cells/characters.h"

#include <math.h>
#include <stdio.h>

enum { REPLACEMENT = 0xFFFD };

/* The next code point of text that ends at end, which is behind *at. */
static uint32_t next_before(const char **at, const char *end)
{
    uint32_t c = REPLACEMENT;
    size_t n = character_size((struct bytes){ *at, (size_t)(end - *at) }, &c);

    *at += n ? n : 1;
    return c;
}

uint32_t text_next(const char **at)
{
    return next_before(at, *at + strnlen(*at, 4));
}

struct span {
    uint32_t from, to;
};

/* Combining marks and zero-width characters that occur in labels. Source: Unicode 15, Mn and Cf. */
static const struct span NARROW[] = {
    { 0x0300, 0x036F }, { 0x0483, 0x0489 }, { 0x0591, 0x05BD }, { 0x064B, 0x065F },
    { 0x200B, 0x200F }, { 0x202A, 0x202E }, { 0x2060, 0x2064 }, { 0x20D0, 0x20F0 },
    { 0xFE00, 0xFE0F }, { 0xFE20, 0xFE2F }, { 0xFEFF, 0xFEFF }, { 0xE0100, 0xE01EF },
};

/* Source: Unicode 15, East Asian Width W and F, neighbouring ranges joined. */
static const struct span WIDE[] = {
    { 0x1100, 0x115F },   { 0x231A, 0x231B },   { 0x23E9, 0x23EC },   { 0x25FD, 0x25FE },
    { 0x2614, 0x2615 },   { 0x26A1, 0x26A1 },   { 0x2705, 0x2705 },   { 0x274C, 0x274C },
    { 0x2E80, 0x303E },   { 0x3041, 0x33FF },   { 0x3400, 0x4DBF },   { 0x4E00, 0x9FFF },
    { 0xA000, 0xA4CF },   { 0xA960, 0xA97F },   { 0xAC00, 0xD7A3 },   { 0xF900, 0xFAFF },
    { 0xFE30, 0xFE6F },   { 0xFF00, 0xFF60 },   { 0xFFE0, 0xFFE6 },   { 0x1F300, 0x1F64F },
    { 0x1F680, 0x1F6FF }, { 0x1F900, 0x1F9FF }, { 0x20000, 0x3FFFD },
};

static bool is_in(uint32_t c, const struct span *spans, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++)
        if (c >= spans[i].from && c <= spans[i].to)
            return true;
    return false;
}

size_t text_columns(const char *text, size_t size)
{
    const char *end = text + size;
    size_t columns = 0;

    while (text < end) {
        uint32_t c = next_before(&text, end);

        if (c < 0x300)
            columns++;
        else if (!is_in(c, NARROW, COUNT(NARROW)))
            columns += is_in(c, WIDE, COUNT(WIDE)) ? 2 : 1;
    }
    return columns;
}

static bool is_control(uint32_t c)
{
    return c < 0x20 || (c >= 0x7F && c < 0xA0);
}

/* The bytes of one code point as they came, made harmless. */
static void put_code_point(struct buf *out, uint32_t c, const char *from, const char *to)
{
    if (is_control(c))
        buf_putc(out, ' ');
    else if (c == REPLACEMENT || c == 0xFFFE || c == 0xFFFF)
        buf_puts(out, "\xEF\xBF\xBD");
    else
        buf_put(out, from, (size_t)(to - from));
}

void text_put(struct buf *out, const char *text, size_t size)
{
    const char *end = text + size, *from;

    while (text < end) {
        uint32_t c;

        from = text;
        c = next_before(&text, end);
        put_code_point(out, c, from, text);
    }
}

void text_put_xml(struct buf *out, const char *text)
{
    const char *from;

    while (*text) {
        uint32_t c;

        from = text;
        c = text_next(&text);
        switch (c) {
        case '<':
            buf_puts(out, "&lt;");
            break;
        case '>':
            buf_puts(out, "&gt;");
            break;
        case '&':
            buf_puts(out, "&amp;");
            break;
        case '"':
            buf_puts(out, "&quot;");
            break;
        default:
            put_code_point(out, c, from, text);
        }
    }
}

enum { PART_GAP = 3 };

/* How many columns of text come before its next gap of PART_GAP blanks, or its end. */
static size_t part_columns(const char *text, const char *end)
{
    size_t n = 0;

    while (text + n < end) {
        size_t blanks = 0;

        while (text + n + blanks < end && text[n + blanks] == ' ')
            blanks++;
        if (blanks >= PART_GAP)
            break;
        n += blanks ? blanks : 1;
    }
    return text_columns(text, n);
}

/* One line without '\n', from text on, broken at blanks: before a part that fits a line whole. */
static void put_line_wrapped(struct buf *out, const char *text, size_t size, size_t at, size_t hang)
{
    const char *end = text + size;
    bool is_first = true;

    while (text < end) {
        const char *word = text, *stop;
        size_t blanks, columns, part;

        while (word < end && *word == ' ')
            word++;
        for (stop = word; stop < end && *stop != ' '; stop++)
            ;
        blanks = (size_t)(word - text);
        columns = text_columns(word, (size_t)(stop - word));
        part = !is_first && blanks >= PART_GAP ? part_columns(word, end) : 0;
        if (hang + part > TEXT_COLUMNS)
            part = 0;
        if (!is_first && at + blanks + (part > columns ? part : columns) > TEXT_COLUMNS) {
            buf_putc(out, '\n');
            buf_fill(out, ' ', hang);
            at = hang;
            blanks = 0;
        }
        if (columns) {
            buf_fill(out, ' ', blanks);
            text_put(out, word, (size_t)(stop - word));
        }
        at += blanks + columns;
        is_first = false;
        text = stop;
    }
}

void text_put_wrapped(struct buf *out, const char *text, size_t at, size_t hang)
{
    for (;;) {
        size_t size = strcspn(text, "\n");

        put_line_wrapped(out, text, size, at, hang);
        text += size;
        if (!*text)
            return;
        text++;
        buf_putc(out, '\n');
        buf_fill(out, ' ', hang);
        at = hang;
    }
}

/* Commas between the thousands of the digits before the point. */
static void group_thousands(char out[TEXT_NUMBER], const char *digits)
{
    size_t sign = digits[0] == '-', whole = strcspn(digits + sign, "."), n = 0, i;

    for (i = 0; digits[i] && n + 2 < TEXT_NUMBER; i++) {
        if (i > sign && i < sign + whole && (sign + whole - i) % 3 == 0)
            out[n++] = ',';
        out[n++] = digits[i];
    }
    out[n] = '\0';
}

/* "2.500" -> "2.5", "-0.0" -> "0" */
static void trim_zeros(char *digits)
{
    size_t n = strlen(digits);

    if (strchr(digits, '.')) {
        while (digits[n - 1] == '0')
            n--;
        if (digits[n - 1] == '.')
            n--;
        digits[n] = '\0';
    }
    if (strcmp(digits, "-0") == 0)
        memmove(digits, "0", 2);
}

static const char *number_with(char out[TEXT_NUMBER], double v, int decimals)
{
    char digits[64];

    snprintf(digits, sizeof(digits), "%.*f", decimals, v);
    trim_zeros(digits);
    group_thousands(out, digits);
    return out;
}

/* What has no digits, or too many for a label. */
static bool put_special(char out[TEXT_NUMBER], double v)
{
    double size = fabs(v);

    if (isnan(v))
        snprintf(out, TEXT_NUMBER, "nan");
    else if (isinf(v))
        snprintf(out, TEXT_NUMBER, v > 0 ? "inf" : "-inf");
    else if (size >= 1e15 || (size > 0 && size < 1e-4))
        snprintf(out, TEXT_NUMBER, "%.3g", v);
    else
        return false;
    return true;
}

const char *text_number(char out[TEXT_NUMBER], double v)
{
    double size = fabs(v), limit = 1000;
    int decimals = 0;

    if (put_special(out, v))
        return out;
    /* Four significant digits: 0 decimals from 1000 on, then one more for each power of ten. */
    while (size > 0 && size < limit && decimals < 7) {
        limit /= 10;
        decimals++;
    }
    return number_with(out, v, decimals);
}

const char *text_percent(char out[TEXT_NUMBER], double fraction)
{
    if (put_special(out, fraction * 100))
        return out;
    number_with(out, fraction * 100, 1);
    strcat(out, " %");
    return out;
}

const char *text_bytes(char out[TEXT_NUMBER], double v)
{
    static const char units[] = { 'K', 'M', 'G', 'T' };
    double unit = 1;
    int i = -1;
    size_t n;

    if (put_special(out, v))
        return out;
    while (i + 1 < (int)COUNT(units) && fabs(v) >= unit * 1024) {
        unit *= 1024;
        i++;
    }
    /* A quarter is exact in two decimals; anything finer would hide bytes. */
    if (i >= 0 && floor(v / unit * 4) != v / unit * 4)
        return text_number(out, v);
    number_with(out, v / unit, 2);
    n = strlen(out);
    if (i >= 0 && n + 1 < TEXT_NUMBER) {
        out[n] = units[i];
        out[n + 1] = '\0';
    }
    return out;
}
