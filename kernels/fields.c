/*
 * Every size is compared with what is left before it is used, so a damaged or
 * hostile body can make a field disappear but never make the reader look
 * outside it.
 */
#include "kernels/fields.h"

#include <stdlib.h>

enum { HEAD = 8 }; /* tag, zero, size */

/* Tags inside an error record. */
enum { ERR_NAME = 1, ERR_TEXT, ERR_NEXT, ERR_PLACE, ERR_LINE, ERR_COLUMN, ERR_LENGTH, ERR_DETAIL };

static void put_head(struct buf *body, unsigned tag, size_t size)
{
    uint16_t words[2] = { (uint16_t)tag, 0 };
    uint32_t length = (uint32_t)size;

    if (size > UINT32_MAX || tag > UINT16_MAX) {
        body->is_failed = true;
        return;
    }
    buf_put(body, (const char *)words, sizeof(words));
    buf_put(body, (const char *)&length, sizeof(length));
}

void fields_put(struct buf *body, unsigned tag, struct bytes data)
{
    put_head(body, tag, data.size);
    buf_put(body, data.data, data.size);
}

void fields_put_text(struct buf *body, unsigned tag, const char *text)
{
    if (text)
        fields_put(body, tag, bytes_of(text));
}

void fields_put_int(struct buf *body, unsigned tag, int64_t v)
{
    fields_put(body, tag, (struct bytes){ (const char *)&v, sizeof(v) });
}

size_t fields_begin(struct buf *body, unsigned tag)
{
    size_t begin = body->size;

    put_head(body, tag, 0);
    return begin;
}

void fields_end(struct buf *body, size_t begin)
{
    size_t size = body->size - begin - HEAD;
    uint32_t length = (uint32_t)size;

    if (size > UINT32_MAX)
        body->is_failed = true;
    if (!body->is_failed)
        memcpy(body->data + begin + 4, &length, sizeof(length));
}

bool fields_next(struct field_reader *reader, struct field_item *out)
{
    uint16_t words[2];
    uint32_t length;

    if (reader->is_bad || reader->left.size == 0)
        return false;
    if (reader->left.size < HEAD) {
        reader->is_bad = true;
        return false;
    }
    memcpy(words, reader->left.data, sizeof(words));
    memcpy(&length, reader->left.data + 4, sizeof(length));
    if (words[1] != 0 || length > reader->left.size - HEAD) {
        reader->is_bad = true;
        return false;
    }
    out->tag = words[0];
    out->data = (struct bytes){ reader->left.data + HEAD, length };
    reader->left.data += HEAD + length;
    reader->left.size -= HEAD + (size_t)length;
    return true;
}

bool fields_find(struct bytes body, unsigned tag, size_t n, struct bytes *out)
{
    struct field_reader reader = { body, false };
    struct field_item item;

    while (fields_next(&reader, &item)) {
        if (item.tag != tag || n-- > 0)
            continue;
        *out = item.data;
        return true;
    }
    return false;
}

int64_t fields_int(struct bytes body, unsigned tag, int64_t fallback)
{
    struct bytes data;

    if (fields_find(body, tag, 0, &data) && data.size == sizeof(fallback))
        memcpy(&fallback, data.data, sizeof(fallback));
    return fallback;
}

bool fields_are_sound(struct bytes body)
{
    struct field_reader reader = { body, false };
    struct field_item item;

    while (fields_next(&reader, &item))
        ;
    return !reader.is_bad;
}

void fields_put_err(struct buf *body, unsigned tag, const struct err *e)
{
    size_t begin = fields_begin(body, tag);

    fields_put_text(body, ERR_NAME, err_spelling(e->name));
    fields_put_text(body, ERR_TEXT, e->text);
    fields_put_text(body, ERR_NEXT, e->next);
    fields_put_text(body, ERR_PLACE, e->place);
    fields_put_int(body, ERR_LINE, e->line);
    fields_put_int(body, ERR_COLUMN, e->column);
    fields_put_int(body, ERR_LENGTH, e->length);
    fields_put_text(body, ERR_DETAIL, e->detail);
    fields_end(body, begin);
}

/* Copies a text field, cut to what fits, into out; "" when it is missing. */
static void copy_text(struct bytes record, unsigned tag, char *out, size_t capacity)
{
    struct bytes text = { "", 0 };

    fields_find(record, tag, 0, &text);
    if (text.size >= capacity)
        text.size = capacity - 1;
    memcpy(out, text.data, text.size);
    out[text.size] = '\0';
}

static char *copy_detail(struct bytes record)
{
    struct bytes text;
    char *detail;

    if (!fields_find(record, ERR_DETAIL, 0, &text))
        return NULL;
    detail = malloc(text.size + 1);
    if (!detail)
        return NULL;
    memcpy(detail, text.data, text.size);
    detail[text.size] = '\0';
    return detail;
}

int fields_err(struct bytes record, struct err *e)
{
    char name[40], text[sizeof(e->text)], next[sizeof(e->next)];
    enum err_name code;

    copy_text(record, ERR_NAME, name, sizeof(name));
    copy_text(record, ERR_TEXT, text, sizeof(text));
    copy_text(record, ERR_NEXT, next, sizeof(next));
    code = err_from_spelling(name);
    if (e && e->name == ERR_none) {
        copy_text(record, ERR_PLACE, e->place, sizeof(e->place));
        err_take_detail(e, copy_detail(record));
    }
    err_set(e, code ? code : ERR_InternalError, "%s", text);
    if (next[0])
        err_next(e, "%s", next);
    return err_at(e, (int)fields_int(record, ERR_LINE, 0), (int)fields_int(record, ERR_COLUMN, 0),
                  (int)fields_int(record, ERR_LENGTH, 0));
}
