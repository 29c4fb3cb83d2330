/*
 * Values: how one is written, copied, and read out of a result's JSON.
 */
#include "cells/value.h"

#include "cells/buffer_number.h"
#include "cells/buffer_value.h"
#include "cells/internal.h"
#include "cells/json_text.h"
#include "model/base/buf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    PRINTED_ITEMS = 1000, /* of a list; the rest is counted */
    MAX_NESTED = 256,     /* lists in lists: values are walked by recursion */
};

const char *value_type_name(enum value_type type)
{
    static const char *const NAMES[] = {
        "null",      "int",  "float",  "bool",   "text",   "name",
        "dimension", "list", "result", "object", "buffer", "never written",
    };

    return (size_t)type < COUNT(NAMES) ? NAMES[type] : "value";
}

const char *value_a_type(enum value_type type)
{
    static const char *const NAMES[] = {
        "null",        "an int", "a float",  "a bool",    "a text",   "a name",
        "a dimension", "a list", "a result", "an object", "a buffer", "never written",
    };

    return (size_t)type < COUNT(NAMES) ? NAMES[type] : "a value";
}

bool value_as_float(const struct value *v, double *out)
{
    switch (v->type) {
    case VALUE_INT:
        *out = (double)v->i;
        return true;
    case VALUE_FLOAT:
        *out = v->f;
        return true;
    case VALUE_BOOL:
        *out = v->b;
        return true;
    default:
        return false;
    }
}

static void put_float(struct buf *b, const struct value *v)
{
    char text[64];

    float_text((enum scalar_kind)v->kind, v->f, text, sizeof(text));
    buf_puts(b, text);
}

static void put_value(struct buf *b, const struct value *v)
{
    switch (v->type) {
    case VALUE_NULL:
        buf_puts(b, "null");
        break;
    case VALUE_INT:
        buf_printf(b, "%lld", (long long)v->i);
        break;
    case VALUE_FLOAT:
        put_float(b, v);
        break;
    case VALUE_BOOL:
        buf_puts(b, v->b ? "true" : "false");
        break;
    case VALUE_STRING:
    case VALUE_NAME:
        buf_puts(b, v->text);
        break;
    case VALUE_DIM:
        buf_printf(b, "(%lld,%lld", (long long)v->dim.x, (long long)v->dim.y);
        if (v->dim.count > 2)
            buf_printf(b, ",%lld", (long long)v->dim.z);
        buf_putc(b, ')');
        break;
    case VALUE_LIST:
        buf_putc(b, '[');
        for (size_t i = 0; i < v->list.count && i < PRINTED_ITEMS; i++) {
            buf_puts(b, i ? ", " : "");
            put_value(b, &v->list.items[i]);
        }
        if (v->list.count > PRINTED_ITEMS)
            buf_printf(b, ", ... %zu more", v->list.count - PRINTED_ITEMS);
        buf_putc(b, ']');
        break;
    case VALUE_RESULT:
        json_text(v->result->fields, JSON_TEXT_LINE, b);
        break;
    case VALUE_JSON:
        json_text(v->json, JSON_TEXT_LINE, b);
        break;
    case VALUE_BUFFER:
        buffer_value_put(b, v, PRINTED_ITEMS);
        break;
    case VALUE_UNWRITTEN:
        buf_puts(b, "never written");
        break;
    }
}

char *value_text(struct arena *arena, const struct value *v)
{
    struct buf b = { 0 };
    char *text = NULL;

    put_value(&b, v);
    if (!b.is_failed)
        text = arena_copy(arena, buf_text(&b), b.size);
    buf_done(&b);
    return text;
}

static int copy_nested(struct arena *arena, const struct value *from, struct value *to, int depth,
                       struct err *err);

static int copy_list(struct arena *arena, const struct value *from, struct value *to, int depth,
                     struct err *err)
{
    struct value *items = arena_array(arena, from->list.count, sizeof(*items));

    if (depth > MAX_NESTED)
        return err_set(err, ERR_ResourceError, "lists nest at most %d deep", MAX_NESTED);
    if (!items)
        return err_set(err, ERR_ResourceError, "a list of %zu values does not fit in memory",
                       from->list.count);
    for (size_t i = 0; i < from->list.count; i++)
        if (copy_nested(arena, &from->list.items[i], &items[i], depth, err) < 0) {
            while (i > 0)
                value_drop(&items[--i]);
            return -1;
        }
    *to = *from;
    to->list.items = items;
    return 0;
}

static int copy_nested(struct arena *arena, const struct value *from, struct value *to, int depth,
                       struct err *err)
{
    *to = *from;
    switch (from->type) {
    case VALUE_STRING:
    case VALUE_NAME:
        to->text = arena_string(arena, from->text);
        if (!to->text)
            return err_set(err, ERR_ResourceError, "a text of %zu bytes does not fit in memory",
                           strlen(from->text));
        return 0;
    case VALUE_LIST:
        return copy_list(arena, from, to, depth + 1, err);
    case VALUE_RESULT:
        result_keep(to->result);
        return 0;
    case VALUE_JSON:
        json_incref(to->json);
        return 0;
    case VALUE_BUFFER:
        err_set(err, ERR_UsageError, "%.60s is a buffer: a variable cannot hold it",
                from->buffer.buffer->name);
        return err_next(err, "%%buffer copy = %.60s copies it; x[0..10] is a list of its values",
                        from->buffer.buffer->name);
    default:
        return 0;
    }
}

int value_copy(struct arena *arena, const struct value *from, struct value *to, struct err *err)
{
    return copy_nested(arena, from, to, 0, err);
}

void value_drop(struct value *v)
{
    if (v->type == VALUE_RESULT)
        result_release(&v->result);
    else if (v->type == VALUE_JSON)
        json_decref(v->json);
    else if (v->type == VALUE_LIST)
        for (size_t i = 0; i < v->list.count; i++) {
            struct value item = v->list.items[i];

            value_drop(&item);
        }
    *v = (struct value){ .type = VALUE_NULL };
}

/* As Jansson 2.14 allocates, measured on sweeps of 2^18 points: 1.1 KB for six keys. */
enum { JSON_OBJECT_BYTES = 320, JSON_KEY_BYTES = 96, JSON_OTHER_BYTES = 64 };

static size_t json_bytes(json_t *json)
{
    size_t bytes = JSON_OTHER_BYTES, i;
    const char *key;
    json_t *item;

    if (json_is_object(json)) {
        bytes = JSON_OBJECT_BYTES;
        json_object_foreach(json, key, item) bytes += JSON_KEY_BYTES + json_bytes(item);
    } else if (json_is_array(json)) {
        json_array_foreach(json, i, item) bytes += sizeof(item) + json_bytes(item);
    }
    return bytes + json_string_length(json);
}

size_t value_shared_bytes(const struct value *v)
{
    size_t bytes = 0;

    if (v->type == VALUE_RESULT)
        return arena_used(v->result->arena) + json_bytes(v->result->fields);
    if (v->type == VALUE_JSON)
        return json_bytes(v->json);
    for (size_t i = 0; v->type == VALUE_LIST && i < v->list.count; i++)
        bytes += value_shared_bytes(&v->list.items[i]);
    return bytes;
}

/* JSON has no inf and nan: results spell them as texts. */
static struct value from_text(const char *text)
{
    if (strcmp(text, "nan") == 0)
        return (struct value){ .type = VALUE_FLOAT, .f = (double)NAN };
    if (strcmp(text, "inf") == 0)
        return (struct value){ .type = VALUE_FLOAT, .f = (double)INFINITY };
    if (strcmp(text, "-inf") == 0)
        return (struct value){ .type = VALUE_FLOAT, .f = -(double)INFINITY };
    return (struct value){ .type = VALUE_STRING, .text = text };
}

static int list_from_json(struct arena *arena, json_t *json, struct value *out, struct err *err)
{
    size_t n = json_array_size(json);
    struct value *items = arena_array(arena, n, sizeof(*items));

    if (!items)
        return err_set(err, ERR_ResourceError, "a list of %zu values does not fit in memory", n);
    for (size_t i = 0; i < n; i++)
        if (value_from_json(arena, json_array_get(json, i), &items[i], err) < 0)
            return -1;
    *out = (struct value){ .type = VALUE_LIST, .list = { items, n } };
    return 0;
}

int value_from_json(struct arena *arena, json_t *json, struct value *out, struct err *err)
{
    *out = (struct value){ .type = VALUE_NULL };
    switch (json_typeof(json)) {
    case JSON_OBJECT:
        *out = (struct value){ .type = VALUE_JSON, .json = json };
        return 0;
    case JSON_ARRAY:
        return list_from_json(arena, json, out, err);
    case JSON_STRING:
        *out = from_text(json_string_value(json));
        return 0;
    case JSON_INTEGER:
        *out = (struct value){ .type = VALUE_INT, .i = json_integer_value(json) };
        return 0;
    case JSON_REAL:
        *out = (struct value){ .type = VALUE_FLOAT, .f = json_real_value(json) };
        return 0;
    case JSON_TRUE:
    case JSON_FALSE:
        *out = (struct value){ .type = VALUE_BOOL, .b = json_is_true(json) };
        return 0;
    default:
        return 0;
    }
}

static json_t *list_to_json(const struct value *v)
{
    json_t *array = json_array();

    for (size_t i = 0; array && i < v->list.count; i++)
        if (json_array_append_new(array, value_to_json(&v->list.items[i])) < 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

json_t *value_to_json(const struct value *v)
{
    switch (v->type) {
    case VALUE_NULL:
        return json_null();
    case VALUE_INT:
        return json_integer(v->i);
    case VALUE_FLOAT:
        return json_number(v->f);
    case VALUE_BOOL:
        return json_boolean(v->b);
    case VALUE_STRING:
    case VALUE_NAME:
        return json_string(v->text);
    case VALUE_DIM:
        return json_pack("[I,I,I]", (json_int_t)v->dim.x, (json_int_t)v->dim.y,
                         (json_int_t)v->dim.z);
    case VALUE_LIST:
        return list_to_json(v);
    case VALUE_RESULT:
        return json_incref(v->result->fields);
    case VALUE_JSON:
        return json_incref(v->json);
    case VALUE_BUFFER:
        return buffer_value_name_json(v);
    case VALUE_UNWRITTEN:
        return json_null();
    }
    return NULL;
}
