/*
 * Two things that JSON and Jupyter ask of text: programs may print any bytes,
 * but messages are UTF-8; and cursors count code points, where C counts bytes.
 */
#ifndef WB_JUPYTER_UTF8_H
#define WB_JUPYTER_UTF8_H

#include "model/base/base.h"
#include "model/base/buf.h"

#include <jansson.h>
#include <stdbool.h>

/* The start of a character whose rest has not arrived yet. Start from { 0 }. */
struct utf8_carry {
    char bytes[4];
    size_t size;
};

/*
 * Appends text to out with U+FFFD for every ill-formed sequence. A sequence cut at the end
 * waits in carry for the next call.
 */
void utf8_repair(struct utf8_carry *carry, const char *text, size_t n, struct buf *out);

/* What still waits will not be completed any more: it becomes U+FFFD. */
void utf8_finish(struct utf8_carry *carry, struct buf *out);

/* A JSON string of repaired text; NULL when out of memory. text may be NULL: "". */
json_t *utf8_json(const char *text);

/* Bytes of the first count code points of valid UTF-8; all of it when there are fewer. */
size_t utf8_bytes(struct bytes text, size_t count);

/* Code points in the first n bytes (n <= text.size). */
size_t utf8_points(struct bytes text, size_t n);

#endif
