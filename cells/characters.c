/* Well-formed UTF-8 is table 3-7 of the Unicode standard, "Well-Formed UTF-8 Byte Sequences". */
#include "cells/characters.h"

/* Length that the first byte announces; 0: it can start nothing. */
static size_t announced(unsigned char first)
{
    if (first < 0x80)
        return 1;
    if (first < 0xC2 || first > 0xF4)
        return 0;
    return first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

size_t character_size(struct bytes text, uint32_t *point)
{
    static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
    static const unsigned char payload[] = { 0, 0x7F, 0x1F, 0x0F, 0x07 };
    size_t n = text.size ? announced((unsigned char)text.data[0]) : 0;
    uint32_t v;

    if (!n || n > text.size)
        return 0;
    v = (unsigned char)text.data[0] & payload[n];
    for (size_t i = 1; i < n; i++) {
        if (((unsigned char)text.data[i] & 0xC0) != 0x80)
            return 0;
        v = v << 6 | ((unsigned char)text.data[i] & 0x3F);
    }
    if (v < smallest[n] || (v >= 0xD800 && v <= 0xDFFF) || v > 0x10FFFF)
        return 0;
    if (point)
        *point = v;
    return n;
}

void characters_repair(struct bytes text, struct buf *out)
{
    size_t sound = 0; /* bytes at the start of text that are fine and not written yet */

    while (sound < text.size) {
        size_t n = character_size((struct bytes){ text.data + sound, text.size - sound }, NULL);

        if (n) {
            sound += n;
            continue;
        }
        buf_put(out, text.data, sound);
        buf_puts(out, "\xEF\xBF\xBD");
        text = (struct bytes){ text.data + sound + 1, text.size - sound - 1 };
        sound = 0;
    }
    buf_put(out, text.data, sound);
}
