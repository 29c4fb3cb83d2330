/*
 * Two things that JSON and Jupyter ask of text: messages are UTF-8, whatever
 * the bytes were; and cursors count code points, where C counts bytes.
 */
#ifndef WB_JUPYTER_UTF8_H
#define WB_JUPYTER_UTF8_H

#include "model/base/base.h"

#include <jansson.h>

/* A JSON string of repaired text; NULL when out of memory. text may be NULL: "". */
json_t *utf8_json(const char *text);

/* A JSON list of such strings; NULL when out of memory. */
json_t *utf8_json_lines(char *const *lines, size_t n);

/* Bytes of the first count code points of valid UTF-8; all of it when there are fewer. */
size_t utf8_bytes(struct bytes text, size_t count);

/* Code points in the first n bytes (n <= text.size). */
size_t utf8_points(struct bytes text, size_t n);

#endif
