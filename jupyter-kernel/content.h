/*
 * Reading a request's content: clients leave fields out and send null or a
 * wrong type, so every reader takes the value that the protocol gives a
 * missing field.
 */
#ifndef WB_JUPYTER_CONTENT_H
#define WB_JUPYTER_CONTENT_H

#include "model/base/base.h"

#include <jansson.h>
#include <stdbool.h>

/* The text of a string, borrowed from content; empty when it is none. */
struct bytes content_text(const json_t *content, const char *name);

bool content_bool(const json_t *content, const char *name, bool preset);

/* Also from a real number, cut to what 64 bits hold. */
int64_t content_int(const json_t *content, const char *name, int64_t preset);

/*
 * cursor_pos as bytes into code. The protocol counts code points; missing or null means the
 * end, as old clients mean it; what lies outside is moved to the nearer end.
 */
size_t content_cursor(const json_t *content, struct bytes code);

#endif
