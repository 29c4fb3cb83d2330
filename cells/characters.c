/*
 * Ill-formed input is replaced the way browsers do it: one U+FFFD for each
 * longest start of a character that cannot go on.
 *
 * Source: The Unicode Standard 15.0, table 3-7 "Well-Formed UTF-8 Byte
 * Sequences", and "U+FFFD Substitution of Maximal Subparts".
 */
#include "cells/characters.h"

#include <stdbool.h>

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

size_t character_size(struct bytes text, uint32_t *point)
{
    static const unsigned char payload[] = { 0, 0x7F, 0x1F, 0x0F, 0x07 };
    unsigned char lead = text.size ? (unsigned char)text.data[0] : 0;
    size_t n = text.size ? length_of(lead) : 0;
    uint32_t v = lead & payload[n];

    if (n > text.size)
        return 0;
    for (size_t i = 1; i < n; i++) {
        unsigned char c = (unsigned char)text.data[i];

        if (!may_follow(lead, i, c))
            return 0;
        v = v << 6 | (c & 0x3F);
    }
    if (n && point)
        *point = v;
    return n;
}

/* One byte of a character under way, or the first of the next. */
static void put_byte(struct characters_carry *carry, unsigned char c, struct buf *out)
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

void characters_repair(struct characters_carry *carry, struct bytes text, struct buf *out)
{
    size_t at = 0, run;

    while (at < text.size) {
        run = 0;
        if (!carry->size)
            while (at + run < text.size && (unsigned char)text.data[at + run] < 0x80)
                run++;
        if (run) {
            buf_put(out, text.data + at, run);
            at += run;
        } else {
            put_byte(carry, (unsigned char)text.data[at++], out);
        }
    }
}

void characters_finish(struct characters_carry *carry, struct buf *out)
{
    if (carry->size)
        buf_puts(out, REPLACEMENT);
    carry->size = 0;
}

void characters_repair_all(struct bytes text, struct buf *out)
{
    struct characters_carry carry = { 0 };

    characters_repair(&carry, text, out);
    characters_finish(&carry, out);
}
