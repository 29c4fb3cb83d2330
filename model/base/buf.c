/*
 * Growth by doubling, so that n bytes cost O(n) however small the pieces are.
 */
#include "model/base/buf.h"

#include <stdio.h>
#include <stdlib.h>

static bool reserve(struct buf *b, size_t more)
{
    size_t need, capacity;
    char *data;

    if (b->is_failed || __builtin_add_overflow(b->size, more, &need) || need == SIZE_MAX) {
        b->is_failed = true;
        return false;
    }
    if (need < b->capacity)
        return true;
    capacity = b->capacity ? b->capacity : 64;
    while (capacity <= need)
        capacity = capacity > SIZE_MAX / 2 ? need + 1 : capacity * 2;
    data = realloc(b->data, capacity);
    if (!data) {
        b->is_failed = true;
        return false;
    }
    b->data = data;
    b->capacity = capacity;
    return true;
}

void buf_put(struct buf *b, const char *data, size_t n)
{
    if (!reserve(b, n))
        return;
    if (n)
        memcpy(b->data + b->size, data, n);
    b->size += n;
    b->data[b->size] = '\0';
}

void buf_puts(struct buf *b, const char *text)
{
    buf_put(b, text, strlen(text));
}

void buf_putc(struct buf *b, char c)
{
    buf_put(b, &c, 1);
}

void buf_fill(struct buf *b, char c, size_t n)
{
    if (!reserve(b, n))
        return;
    memset(b->data + b->size, c, n);
    b->size += n;
    b->data[b->size] = '\0';
}

void buf_vprintf(struct buf *b, const char *fmt, va_list args)
{
    va_list again;
    int n;

    va_copy(again, args);
    n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    if (n < 0) {
        b->is_failed = true;
        return;
    }
    if (!reserve(b, (size_t)n))
        return;
    vsnprintf(b->data + b->size, (size_t)n + 1, fmt, args);
    b->size += (size_t)n;
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    buf_vprintf(b, fmt, args);
    va_end(args);
}

void buf_cut(struct buf *b, size_t n)
{
    if (n >= b->size)
        return;
    b->size = n;
    b->data[n] = '\0';
}

const char *buf_text(const struct buf *b)
{
    return b->data ? b->data : "";
}

char *buf_take(struct buf *b)
{
    char *text = NULL;

    if (!b->is_failed && reserve(b, 0)) {
        b->data[b->size] = '\0';
        text = b->data;
        *b = (struct buf){ 0 };
    }
    buf_done(b);
    return text;
}

void buf_done(struct buf *b)
{
    free(b->data);
    *b = (struct buf){ 0 };
}
