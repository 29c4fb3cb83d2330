/* See the header: a missing or odd field is never an error. */
#include "jupyter-kernel/content.h"

#include "jupyter-kernel/utf8.h"

struct bytes content_text(const json_t *content, const char *name)
{
    json_t *field = json_object_get(content, name);

    if (!json_is_string(field))
        return (struct bytes){ "", 0 };
    return (struct bytes){ json_string_value(field), json_string_length(field) };
}

bool content_bool(const json_t *content, const char *name, bool preset)
{
    json_t *field = json_object_get(content, name);

    return json_is_boolean(field) ? json_is_true(field) : preset;
}

int64_t content_int(const json_t *content, const char *name, int64_t preset)
{
    json_t *field = json_object_get(content, name);
    double real;

    if (json_is_integer(field))
        return json_integer_value(field);
    if (!json_is_real(field))
        return preset;
    real = json_real_value(field);
    if (real >= 9.2e18)
        return INT64_MAX;
    return real <= -9.2e18 ? INT64_MIN : (int64_t)real;
}

size_t content_cursor(const json_t *content, struct bytes code)
{
    int64_t points = content_int(content, "cursor_pos", INT64_MAX);

    if (points < 0)
        return 0;
    return utf8_bytes(code, (size_t)points);
}
