/* Programs may print any bytes; JSON is UTF-8. */
#ifndef WB_CELLS_CHARACTERS_H
#define WB_CELLS_CHARACTERS_H

#include "model/base/base.h"
#include "model/base/buf.h"

/*
 * Bytes of the well-formed character at the start of text, 1..4, or 0 when there is none:
 * no surrogates, no overlong forms, nothing above U+10FFFF. *point, unless NULL: its number.
 */
size_t character_size(struct bytes text, uint32_t *point);

/* Appends text to out with U+FFFD for each byte that is part of no character. */
void characters_repair(struct bytes text, struct buf *out);

#endif
