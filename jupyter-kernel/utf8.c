/*
 * Ill-formed input is replaced the way browsers do it: one U+FFFD for each
 * longest start of a character that cannot go on.
 *
 * Source: The Unicode Standard 15.0, table 3-7 "Well-Formed UTF-8 Byte
 * Sequences", and "U+FFFD Substitution of Maximal Subparts".
 */
#include "jupyter-kernel/utf8.h"

#define REPLACEMENT "\xEF\xBF\xBD"

/* Bytes of the character that lead starts; 0: none does. */
static size_t length_of(unsigned char lead)
{
    if (lead < 0x80)
        return 1;
    if (lead < 0xC2)
        return 0;
    if (lead < 0xE0)
        return 2;
    if (lead < 0xF0)
        return 3;
    return lead < 0xF5 ? 4 : 0;
}

/* The second byte has narrower limits after these leads: no overlong forms, no surrogates. */
static bool may_follow(unsigned char lead, size_t at, unsigned char c)
{
    if (at == 1 && lead == 0xE0)
        return c >= 0xA0 && c <= 0xBF;
    if (at == 1 && lead == 0xED)
        return c >= 0x80 && c <= 0x9F;
    if (at == 1 && lead == 0xF0)
        return c >= 0x90 && c <= 0xBF;
    if (at == 1 && lead == 0xF4)
        return c >= 0x80 && c <= 0x8F;
    return c >= 0x80 && c <= 0xBF;
}

/* One byte of a character under way, or the first of the next. */
static void put_byte(struct utf8_carry *carry, unsigned char c, struct buf *out)
{
    if (carry->size && !may_follow((unsigned char)carry->bytes[0], carry->size, c)) {
        buf_puts(out, REPLACEMENT);
        carry->size = 0;
    }
    if (!carry->size && length_of(c) == 0) {
        buf_puts(out, REPLACEMENT);
        return;
    }
    carry->bytes[carry->size++] = (char)c;
    if (carry->size == length_of((unsigned char)carry->bytes[0])) {
        buf_put(out, carry->bytes, carry->size);
        carry->size = 0;
    }
}

void utf8_repair(struct utf8_carry *carry, const char *text, size_t n, struct buf *out)
{
    size_t at = 0, run;

    while (at < n) {
        run = 0;
        if (!carry->size)
            while (at + run < n && (unsigned char)text[at + run] < 0x80)
                run++;
        if (run) {
            buf_put(out, text + at, run);
            at += run;
        } else {
            put_byte(carry, (unsigned char)text[at++], out);
        }
    }
}

void utf8_finish(struct utf8_carry *carry, struct buf *out)
{
    if (carry->size)
        buf_puts(out, REPLACEMENT);
    carry->size = 0;
}

json_t *utf8_json(const char *text)
{
    struct utf8_carry carry = { 0 };
    struct buf repaired = { 0 };
    json_t *json = text ? json_string(text) : json_string("");

    if (json)
        return json;
    utf8_repair(&carry, text, strlen(text), &repaired);
    utf8_finish(&carry, &repaired);
    json = repaired.is_failed ? NULL : json_stringn(buf_text(&repaired), repaired.size);
    buf_done(&repaired);
    return json;
}

static bool starts_character(char c)
{
    return ((unsigned char)c & 0xC0) != 0x80;
}

size_t utf8_bytes(struct bytes text, size_t count)
{
    size_t at = 0;

    for (; at < text.size; at++)
        if (starts_character(text.data[at]) && count-- == 0)
            return at;
    return text.size;
}

size_t utf8_points(struct bytes text, size_t n)
{
    size_t count = 0;

    for (size_t at = 0; at < n && at < text.size; at++)
        count += starts_character(text.data[at]);
    return count;
}
