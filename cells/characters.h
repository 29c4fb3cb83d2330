/*
 * UTF-8, in one place: which bytes are a character, and what becomes of those
 * that are none. Programs may print any bytes, while JSON and messages are UTF-8.
 */
#ifndef WB_CELLS_CHARACTERS_H
#define WB_CELLS_CHARACTERS_H

#include "model/base/base.h"
#include "model/base/buf.h"

/*
 * Bytes of the well-formed character at the start of text, 1..4, or 0 when there is none:
 * no surrogates, no overlong forms, nothing above U+10FFFF. *point, unless NULL: its number.
 */
size_t character_size(struct bytes text, uint32_t *point);

/* The start of a character whose rest has not arrived yet. Start from { 0 }. */
struct characters_carry {
    char bytes[4];
    size_t size;
};

/*
 * Appends text to out with U+FFFD for every ill-formed sequence. A sequence cut at the end
 * waits in carry for the next call.
 */
void characters_repair(struct characters_carry *carry, struct bytes text, struct buf *out);

/* What still waits will not be completed any more: it becomes U+FFFD. */
void characters_finish(struct characters_carry *carry, struct buf *out);

/* Both, for a text that is there as a whole. */
void characters_repair_all(struct bytes text, struct buf *out);

#endif
