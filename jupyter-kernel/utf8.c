/* See cells/characters.h for what is well-formed; here it is JSON, and cursors. */
#include "jupyter-kernel/utf8.h"

#include "cells/characters.h"
#include "cells/result.h"

json_t *utf8_json(const char *text)
{
    struct buf repaired = { 0 };
    json_t *json = text ? json_string(text) : json_string("");

    if (json)
        return json;
    characters_repair_all(bytes_of(text), &repaired);
    json = repaired.is_failed ? NULL : json_stringn(buf_text(&repaired), repaired.size);
    buf_done(&repaired);
    return json;
}

json_t *utf8_json_lines(char *const *lines, size_t n)
{
    json_t *list = json_array();
    int failed = 0;

    for (size_t i = 0; i < n; i++)
        failed |= json_array_append_new(list, utf8_json(lines[i]));
    return json_whole(list, failed);
}

static bool starts_character(char c)
{
    return ((unsigned char)c & 0xC0) != 0x80;
}

size_t utf8_bytes(struct bytes text, size_t count)
{
    size_t at = 0;

    for (; at < text.size; at++)
        if (starts_character(text.data[at]) && count-- == 0)
            return at;
    return text.size;
}

size_t utf8_points(struct bytes text, size_t n)
{
    size_t count = 0;

    for (size_t at = 0; at < n && at < text.size; at++)
        count += starts_character(text.data[at]);
    return count;
}
