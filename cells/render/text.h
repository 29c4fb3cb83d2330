/*
 * Text as renderers need it: how wide it is, and how it stays harmless. Names
 * and labels come from users, so every byte of them may be anything: what is
 * not UTF-8 becomes U+FFFD, control characters become blanks.
 */
#ifndef WB_CELLS_RENDER_TEXT_H
#define WB_CELLS_RENDER_TEXT_H

#include "model/base/buf.h"

/* Widest line of a table: a notebook beside its side bar, an 85-column terminal. */
enum { TEXT_COLUMNS = 83 };

/* The next code point of a terminated text that is not at its end; U+FFFD for a wrong byte. */
uint32_t text_next(const char **at);

/* Columns of a terminal: 0 for combining marks, 2 for East Asian wide characters. */
size_t text_columns(const char *text, size_t size);

void text_put(struct buf *out, const char *text, size_t size);

/* The same with < > & " escaped, fit for XML and HTML content and attributes. */
void text_put_xml(struct buf *out, const char *text);

/*
 * text at the end of the current line, which has `at` columns already, broken at blanks so
 * that no line exceeds TEXT_COLUMNS where a blank allows it; further lines start after
 * `hang` blanks. Parts that three or more blanks separate stay whole where they fit a line. A '\n'
 * in it breaks too. Does not end the last line.
 */
void text_put_wrapped(struct buf *out, const char *text, size_t at, size_t hang);

/* Up to four significant digits below 10,000, else a whole number: 12,288 1,980 83.33 0.0125 */
enum { TEXT_NUMBER = 32 };
const char *text_number(char out[TEXT_NUMBER], double v);

/* 83.3 % for 0.833: one decimal, none for a whole number. */
const char *text_percent(char out[TEXT_NUMBER], double fraction);

/* 48K, 1.5M, 1,000: powers of 1024, only where the number is a short multiple of one. */
const char *text_bytes(char out[TEXT_NUMBER], double v);

#endif
