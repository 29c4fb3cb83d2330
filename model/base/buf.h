/*
 * A string that grows. A failed allocation is remembered, later writes are
 * dropped, and the caller asks once at the end.
 */
#ifndef WB_MODEL_BASE_BUF_H
#define WB_MODEL_BASE_BUF_H

#include "model/base/base.h"

#include <stdarg.h>
#include <stdbool.h>

struct buf {
    char *data; /* always terminated once anything was written; NULL before */
    size_t size, capacity;
    bool is_failed; /* an allocation failed: the content is incomplete */
};

/* Start from { 0 }. buf_done releases and makes it empty again. */
void buf_done(struct buf *b);

void buf_put(struct buf *b, const char *data, size_t n);
void buf_puts(struct buf *b, const char *text);
void buf_putc(struct buf *b, char c);
void buf_fill(struct buf *b, char c, size_t n);
void buf_printf(struct buf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
void buf_vprintf(struct buf *b, const char *fmt, va_list args);

/* Shortens to n bytes (n <= size) and keeps the memory. */
void buf_cut(struct buf *b, size_t n);

/* The text so far, "" when empty; borrowed until the next write. */
const char *buf_text(const struct buf *b);

/* Hands the malloc'ed text to the caller and empties b; NULL when an allocation failed. */
char *buf_take(struct buf *b);

#endif
