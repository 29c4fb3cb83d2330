/* An output shows the richest of its forms: a picture, then HTML, then text. */
#include "cells/page.h"

#include "cells/characters.h"

static const char HEAD[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>Warpbook</title>\n"
    "<style>\n"
    "body { font: 15px/1.5 system-ui, sans-serif; max-width: 60em; margin: 2em auto;\n"
    "       padding: 0 1em; color: #1f2328; background: #fff; }\n"
    "pre { font: 13px/1.4 ui-monospace, monospace; overflow-x: auto; margin: 0.5em 0; }\n"
    ".code { background: #f4f5f7; border-left: 3px solid #9aa4b2; padding: 0.6em 1em; }\n"
    ".stderr, .error { background: #fdf0ee; padding: 0.6em 1em; }\n"
    "table { border-collapse: collapse; font-size: 13px; margin: 0.5em 0; }\n"
    "th, td { padding: 0.25em 0.6em; }\n"
    "svg { max-width: 100%; height: auto; }\n"
    "</style>\n";

static void escape(struct bytes text, struct buf *out)
{
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] == '&')
            buf_puts(out, "&amp;");
        else if (text.data[i] == '<')
            buf_puts(out, "&lt;");
        else
            buf_putc(out, text.data[i]);
    }
}

static struct bytes string_at(const json_t *object, const char *key)
{
    const json_t *v = json_object_get(object, key);

    return (struct bytes){ json_string_value(v), json_string_length(v) };
}

static void preformatted(const char *class, struct bytes text, struct buf *out)
{
    buf_printf(out, "<pre class=\"%s\">", class);
    escape(text, out);
    buf_puts(out, "</pre>\n");
}

static void write_bundle(const json_t *data, struct buf *out)
{
    static const char *const rich[] = { "image/svg+xml", "text/html" };

    for (size_t i = 0; i < COUNT(rich); i++) {
        struct bytes text = string_at(data, rich[i]);

        if (!text.data)
            continue;
        buf_puts(out, "<div>");
        buf_put(out, text.data, text.size);
        buf_puts(out, "</div>\n");
        return;
    }
    preformatted("text", string_at(data, "text/plain"), out);
}

static void write_error(const json_t *output, struct buf *out)
{
    const json_t *lines = json_object_get(output, "traceback");

    buf_puts(out, "<pre class=\"error\">");
    for (size_t i = 0; i < json_array_size(lines); i++) {
        const json_t *line = json_array_get(lines, i);

        escape((struct bytes){ json_string_value(line), json_string_length(line) }, out);
        buf_putc(out, '\n');
    }
    buf_puts(out, "</pre>\n");
}

static void write_output(const json_t *output, struct buf *out)
{
    struct bytes type = string_at(output, "output_type");

    if (bytes_equal(type, "stream"))
        preformatted(json_string_value(json_object_get(output, "name")), string_at(output, "text"),
                     out);
    else if (bytes_equal(type, "error"))
        write_error(output, out);
    else
        write_bundle(json_object_get(output, "data"), out);
}

void page_begin(struct buf *out)
{
    buf_puts(out, HEAD);
}

void page_cell(struct bytes code, const json_t *outputs, struct buf *out)
{
    struct buf text = { 0 };

    while (code.size && strchr("\r\n", code.data[code.size - 1]))
        code.size--;
    characters_repair_all(code, &text);
    preformatted("code", (struct bytes){ buf_text(&text), text.size }, out);
    out->is_failed = out->is_failed || text.is_failed;
    buf_done(&text);
    for (size_t i = 0; i < json_array_size(outputs); i++)
        write_output(json_array_get(outputs, i), out);
}

void page_end(struct buf *out)
{
    buf_puts(out, "</html>\n");
}
