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

static void put_warning(struct buf *body, const struct ptx_warning *warning)
{
    size_t begin = fields_begin(body, TAG_WARNING);
    struct ptx_warning plain = *warning;

    plain.text = plain.file = NULL;
    fields_put(body, TAG_ROW, (struct bytes){ (const char *)&plain, sizeof(plain) });
    fields_put_text(body, TAG_TEXT, warning->text);
    fields_put_text(body, TAG_NAME, warning->file);
    fields_end(body, begin);
}

void launch_put_facts(struct buf *body, const struct ptx_facts *facts)
{
    struct ptx_facts plain = *facts;

    plain.lines = NULL;
    plain.line_count = 0;
    plain.warnings = NULL;
    plain.warning_count = 0;
    fields_put(body, TAG_FACTS, (struct bytes){ (const char *)&plain, sizeof(plain) });
    for (size_t i = 0; i < facts->line_count; i++)
        put_line(body, &facts->lines[i]);
    for (size_t i = 0; i < facts->warning_count; i++)
        put_warning(body, &facts->warnings[i]);
}

static bool read_line(struct bytes data, struct arena *arena, struct ptx_line_facts *out)
{
    if (data.size < sizeof(*out))
        return false;
    memcpy(out, data.data, sizeof(*out));
    out->file = arena_copy(arena, data.data + sizeof(*out), data.size - sizeof(*out));
    return out->file != NULL;
}

/* A text of a record, terminated; NULL when it is not there. */
static const char *read_text(struct arena *arena, struct bytes record, unsigned tag)
{
    struct bytes data;

    return fields_find(record, tag, 0, &data) ? arena_copy(arena, data.data, data.size) : NULL;
}

static bool read_warning(struct bytes record, struct arena *arena, struct ptx_warning *out)
{
    struct bytes data;

    if (!fields_find(record, TAG_ROW, 0, &data) || data.size != sizeof(*out))
        return false;
    memcpy(out, data.data, sizeof(*out));
    out->text = read_text(arena, record, TAG_TEXT);
    out->file = read_text(arena, record, TAG_NAME);
    return out->text != NULL;
}

static size_t count_tag(struct bytes done, unsigned tag)
{
    struct field_reader reader = { done, false };
    struct field_item item;
    size_t n = 0;

    while (fields_next(&reader, &item))
        n += item.tag == tag;
    return n;
}

bool launch_read_facts(struct bytes done, struct arena *arena, struct ptx_facts *out)
{
    struct ptx_line_facts *lines = arena_array(arena, count_tag(done, TAG_LINE), sizeof(*lines));
    struct ptx_warning *warnings =
        arena_array(arena, count_tag(done, TAG_WARNING), sizeof(*warnings));
    struct field_reader reader = { done, false };
    struct field_item item;
    struct bytes data;
    size_t n = 0, w = 0;

    if (!lines || !warnings || !fields_find(done, TAG_FACTS, 0, &data) || data.size != sizeof(*out))
        return false;
    memcpy(out, data.data, sizeof(*out));
    while (fields_next(&reader, &item))
        if ((item.tag == TAG_LINE && !read_line(item.data, arena, &lines[n++])) ||
            (item.tag == TAG_WARNING && !read_warning(item.data, arena, &warnings[w++])))
            return false;
    out->lines = lines;
    out->line_count = n;
    out->warnings = warnings;
    out->warning_count = w;
    return true;
}

void launch_put_fault(struct buf *body, const struct ptx_fault *fault)
{
    size_t begin = fields_begin(body, TAG_FAULT);
    struct ptx_fault plain = *fault;

    plain.kernel = plain.file = plain.instruction = plain.why = plain.try_ = NULL;
    plain.other.file = plain.other.instruction = NULL;
    fields_put(body, TAG_ROW, (struct bytes){ (const char *)&plain, sizeof(plain) });
    fields_put_text(body, TAG_NAME, fault->file);
    fields_put_text(body, TAG_OTHER_FILE, fault->other.file);
    fields_put_text(body, TAG_WHY, fault->why);
    fields_put_text(body, TAG_TRY, fault->try_);
    fields_end(body, begin);
}

bool launch_read_fault(struct bytes body, struct arena *arena, struct ptx_fault *out)
{
    struct bytes record, data;

    if (!fields_find(body, TAG_FAULT, 0, &record) || !fields_find(record, TAG_ROW, 0, &data) ||
        data.size != sizeof(*out))
        return false;
    memcpy(out, data.data, sizeof(*out));
    out->kernel = out->instruction = out->other.instruction = NULL;
    out->file = read_text(arena, record, TAG_NAME);
    out->other.file = read_text(arena, record, TAG_OTHER_FILE);
    out->why = read_text(arena, record, TAG_WHY);
    out->try_ = read_text(arena, record, TAG_TRY);
    return true;
}
