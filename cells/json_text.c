/* Source of every rule: Python's json.dumps and float.__repr__. */
#include "cells/json_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where a value stands: how deep, and in which style. */
struct place {
    enum json_style style;
    size_t depth;
};

static void write_value(const json_t *v, struct place at, struct buf *out);

/* 17 digits always read back as the same double; fewer often do. */
static int shortest(double v, char *text, size_t size)
{
    int digits;

    for (digits = 1; digits < 17; digits++) {
        snprintf(text, size, "%.*e", digits - 1, v);
        if (strtod(text, NULL) == v)
            return digits;
    }
    snprintf(text, size, "%.*e", digits - 1, v);
    return digits;
}

void json_text_real(double v, struct buf *out)
{
    char e[40]; /* -d.ddde+xx */
    int digits = shortest(v, e, sizeof(e));
    int exponent = atoi(strchr(e, 'e') + 1);

    if (exponent >= -4 && exponent < 16) {
        int decimals = digits - 1 - exponent;

        buf_printf(out, "%.*f", decimals > 1 ? decimals : 1, v);
    } else {
        buf_puts(out, e);
    }
}

static void write_string(const char *s, size_t n, struct buf *out)
{
    static const char *const named[] = {
        ['"'] = "\\\"", ['\\'] = "\\\\", ['\b'] = "\\b", ['\f'] = "\\f",
        ['\n'] = "\\n", ['\r'] = "\\r",  ['\t'] = "\\t",
    };

    buf_putc(out, '"');
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];

        if (c < COUNT(named) && named[c])
            buf_puts(out, named[c]);
        else if (c < 0x20)
            buf_printf(out, "\\u%04x", c);
        else
            buf_putc(out, (char)c);
    }
    buf_putc(out, '"');
}

/* Before an item, or (depth one less) before the closing bracket. */
static void new_line(struct place at, struct buf *out)
{
    if (at.style == JSON_TEXT_LINE)
        return;
    buf_putc(out, '\n');
    buf_fill(out, ' ', at.depth);
}

static void write_array(const json_t *v, struct place at, struct buf *out)
{
    struct place inside = { at.style, at.depth + 1 };
    size_t n = json_array_size(v);

    buf_putc(out, '[');
    for (size_t i = 0; i < n; i++) {
        if (i)
            buf_putc(out, ',');
        new_line(inside, out);
        write_value(json_array_get(v, i), inside, out);
    }
    if (n)
        new_line(at, out);
    buf_putc(out, ']');
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The keys of an object in the order of the style; free() it. NULL: out of memory. */
static const char **keys_of(json_t *v, enum json_style style)
{
    const char **keys = calloc(json_object_size(v) + 1, sizeof(*keys));
    const char *key;
    json_t *value;
    size_t n = 0;

    if (!keys)
        return NULL;
    json_object_foreach(v, key, value) keys[n++] = key;
    if (style == JSON_TEXT_NOTEBOOK)
        qsort(keys, n, sizeof(*keys), compare_keys);
    return keys;
}

static void write_object(json_t *v, struct place at, struct buf *out)
{
    struct place inside = { at.style, at.depth + 1 };
    const char **keys = keys_of(v, at.style);
    size_t n = json_object_size(v);

    if (!keys) {
        out->is_failed = true;
        return;
    }
    buf_putc(out, '{');
    for (size_t i = 0; i < n; i++) {
        if (i)
            buf_putc(out, ',');
        new_line(inside, out);
        write_string(keys[i], strlen(keys[i]), out);
        buf_puts(out, at.style == JSON_TEXT_LINE ? ":" : ": ");
        write_value(json_object_get(v, keys[i]), inside, out);
    }
    if (n)
        new_line(at, out);
    buf_putc(out, '}');
    free(keys);
}

static void write_value(const json_t *v, struct place at, struct buf *out)
{
    switch (json_typeof(v)) {
    case JSON_OBJECT:
        write_object((json_t *)v, at, out); /* iterating needs it writable and changes nothing */
        break;
    case JSON_ARRAY:
        write_array(v, at, out);
        break;
    case JSON_STRING:
        write_string(json_string_value(v), json_string_length(v), out);
        break;
    case JSON_INTEGER:
        buf_printf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
        break;
    case JSON_REAL:
        json_text_real(json_real_value(v), out);
        break;
    case JSON_TRUE:
        buf_puts(out, "true");
        break;
    case JSON_FALSE:
        buf_puts(out, "false");
        break;
    case JSON_NULL:
        buf_puts(out, "null");
        break;
    }
}

void json_text(const json_t *v, enum json_style style, struct buf *out)
{
    write_value(v, (struct place){ style, 0 }, out);
}
