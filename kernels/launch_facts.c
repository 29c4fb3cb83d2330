/*
 * Facts cross as the structs they are: both ends are the same binary. Their pointers
 * do not: lines follow one by one with the name of their file, and a reader gets
 * everything in its own arena.
 */
#include "kernels/launch.h"

static void put_line(struct buf *body, const struct ptx_line_facts *line)
{
    size_t begin = fields_begin(body, TAG_LINE);
    struct ptx_line_facts plain = *line;

    plain.file = NULL;
    buf_put(body, (const char *)&plain, sizeof(plain));
    buf_puts(body, line->file ? line->file : "");
    fields_end(body, begin);
}

void launch_put_facts(struct buf *body, const struct ptx_facts *facts)
{
    struct ptx_facts plain = *facts;

    plain.lines = NULL;
    plain.line_count = 0;
    fields_put(body, TAG_FACTS, (struct bytes){ (const char *)&plain, sizeof(plain) });
    for (size_t i = 0; i < facts->line_count; i++)
        put_line(body, &facts->lines[i]);
}

static bool read_line(struct bytes data, struct arena *arena, struct ptx_line_facts *out)
{
    if (data.size < sizeof(*out))
        return false;
    memcpy(out, data.data, sizeof(*out));
    out->file = arena_copy(arena, data.data + sizeof(*out), data.size - sizeof(*out));
    return out->file != NULL;
}

static size_t count_lines(struct bytes done)
{
    struct field_reader reader = { done, false };
    struct field_item item;
    size_t n = 0;

    while (fields_next(&reader, &item))
        n += item.tag == TAG_LINE;
    return n;
}

bool launch_read_facts(struct bytes done, struct arena *arena, struct ptx_facts *out)
{
    struct ptx_line_facts *lines = arena_array(arena, count_lines(done), sizeof(*lines));
    struct field_reader reader = { done, false };
    struct field_item item;
    struct bytes data;
    size_t n = 0;

    if (!lines || !fields_find(done, TAG_FACTS, 0, &data) || data.size != sizeof(*out))
        return false;
    memcpy(out, data.data, sizeof(*out));
    while (fields_next(&reader, &item))
        if (item.tag == TAG_LINE && !read_line(item.data, arena, &lines[n++]))
            return false;
    out->lines = lines;
    out->line_count = n;
    return true;
}

void launch_put_fault(struct buf *body, const struct ptx_fault *fault)
{
    size_t begin = fields_begin(body, TAG_FAULT);
    struct ptx_fault plain = *fault;

    plain.kernel = plain.file = plain.instruction = NULL;
    fields_put(body, TAG_ROW, (struct bytes){ (const char *)&plain, sizeof(plain) });
    fields_put_text(body, TAG_NAME, fault->file);
    fields_end(body, begin);
}

bool launch_read_fault(struct bytes body, struct arena *arena, struct ptx_fault *out)
{
    struct bytes record, data;

    if (!fields_find(body, TAG_FAULT, 0, &record) || !fields_find(record, TAG_ROW, 0, &data) ||
        data.size != sizeof(*out))
        return false;
    memcpy(out, data.data, sizeof(*out));
    out->kernel = out->file = out->instruction = NULL;
    if (fields_find(record, TAG_NAME, 0, &data))
        out->file = arena_copy(arena, data.data, data.size);
    return true;
}
