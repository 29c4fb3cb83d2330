/*
 * On disk a text is a list of lines, so that version control shows what changed;
 * in memory it is one string. Source: nbformat 5, v4/rwbase.py (rejoin_lines,
 * split_lines, strip_transient) and v4/nbjson.py (JSONWriter).
 */
#include "cells/nbformat.h"

#include "cells/json_text.h"
#include "cells/characters.h"

#include <stdio.h>
#include <string.h>

enum { MINOR = 5 };

/* ---- lines to text ---- */

static bool is_json_type(const char *mime)
{
    size_t n = strlen(mime);

    return strcmp(mime, "application/json") == 0 ||
           (strncmp(mime, "application/", 12) == 0 && n >= 5 && strcmp(mime + n - 5, "+json") == 0);
}

/* The lines of a list as one string; NULL when they are not all strings. */
static json_t *joined(const json_t *lines)
{
    struct buf text = { 0 };
    json_t *string = NULL;
    size_t n = json_array_size(lines);

    for (size_t i = 0; i < n; i++) {
        const json_t *line = json_array_get(lines, i);

        if (!json_is_string(line))
            goto out;
        buf_put(&text, json_string_value(line), json_string_length(line));
    }
    if (!text.is_failed)
        string = json_stringn(buf_text(&text), text.size);
out:
    buf_done(&text);
    return string;
}

static void join(json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    json_t *text = json_is_array(value) ? joined(value) : NULL;

    if (text)
        json_object_set_new(object, key, text);
}

static void join_bundle(json_t *bundle)
{
    void *position;
    const char *key;
    json_t *value;

    json_object_foreach_safe(bundle, position, key, value)
    {
        if (!is_json_type(key))
            join(bundle, key);
    }
}

static void join_cell(json_t *cell)
{
    json_t *attachment, *output;
    const char *name;
    size_t i;

    join(cell, "source");
    json_object_foreach(json_object_get(cell, "attachments"), name, attachment)
        join_bundle(attachment);
    json_array_foreach(json_object_get(cell, "outputs"), i, output)
    {
        join_bundle(json_object_get(output, "data"));
        join(output, "text");
    }
}

/* ---- what a notebook must have ---- */

/* Eight hexadecimal digits from the cell's place and text (FNV-1a). */
static json_t *id_for(const json_t *cell, size_t index)
{
    const json_t *source = json_object_get(cell, "source");
    const char *text = json_string_value(source);
    size_t n = json_string_length(source);
    uint32_t hash = 2166136261u ^ (uint32_t)index;
    char id[16];

    for (size_t i = 0; i < n; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    snprintf(id, sizeof(id), "%08x", hash);
    return json_string(id);
}

/* Gives object a member unless it has one of the wanted type. Takes value. */
static int require(json_t *object, const char *key, json_t *value)
{
    const json_t *had = json_object_get(object, key);

    if (had && value && json_typeof(had) == json_typeof(value)) {
        json_decref(value);
        return 0;
    }
    return json_object_set_new(object, key, value);
}

static int check_cell(json_t *cell, size_t index, struct err *err)
{
    const char *type = json_string_value(json_object_get(cell, "cell_type"));
    int rc = 0;

    if (!type)
        return err_set(err, ERR_FileError, "cell %zu has no cell_type", index + 1);
    join_cell(cell);
    if (!json_is_string(json_object_get(cell, "source")))
        return err_set(err, ERR_FileError, "the source of cell %zu is no text", index + 1);
    if (!json_is_string(json_object_get(cell, "id")))
        rc |= json_object_set_new(cell, "id", id_for(cell, index));
    rc |= require(cell, "metadata", json_object());
    if (strcmp(type, "code") == 0) {
        rc |= require(cell, "outputs", json_array());
        if (!json_object_get(cell, "execution_count"))
            rc |= json_object_set_new(cell, "execution_count", json_null());
    }
    return rc ? err_set(err, ERR_ResourceError, "out of memory") : 0;
}

static int check_notebook(json_t *notebook, struct err *err)
{
    const json_t *major = json_object_get(notebook, "nbformat");
    const json_t *minor = json_object_get(notebook, "nbformat_minor");
    json_t *cells = json_object_get(notebook, "cells");
    json_t *cell;
    size_t i;

    if (!json_is_integer(major))
        return err_set(err, ERR_FileError, "not a notebook: no number nbformat");
    if (json_integer_value(major) != 4) {
        err_set(err, ERR_FileError, "notebook of nbformat %lld; 4 can be run",
                (long long)json_integer_value(major));
        return err_next(err, "convert it: jupyter nbconvert --to notebook FILE");
    }
    if (!json_is_array(cells))
        return err_set(err, ERR_FileError, "not a notebook: no list cells");
    json_array_foreach(cells, i, cell)
    {
        if (check_cell(cell, i, err) < 0)
            return -1;
    }
    if (json_integer_value(minor) < MINOR &&
        json_object_set_new(notebook, "nbformat_minor", json_integer(MINOR)) < 0)
        return err_set(err, ERR_ResourceError, "out of memory");
    if (require(notebook, "metadata", json_object()) < 0)
        return err_set(err, ERR_ResourceError, "out of memory");
    return 0;
}

int nbformat_read(struct bytes file, json_t **out, struct err *err)
{
    json_error_t where;
    json_t *notebook = json_loadb(file.data, file.size, JSON_ALLOW_NUL, &where);

    if (!notebook)
        return err_set(err, ERR_FileError, "not JSON: line %d column %d: %s", where.line,
                       where.column, where.text);
    if (check_notebook(notebook, err) < 0) {
        json_decref(notebook);
        return -1;
    }
    *out = notebook;
    return 0;
}

json_t *nbformat_code_cell(const char *id, const char *source, size_t n)
{
    return json_pack("{s:s, s:n, s:s, s:{}, s:[], s:s%}", "cell_type", "code", "execution_count",
                     "id", id, "metadata", "outputs", "source", source, n);
}

bool nbformat_has_tag(const json_t *cell, const char *tag)
{
    const json_t *tags = json_object_get(json_object_get(cell, "metadata"), "tags");
    size_t n = json_array_size(tags);

    for (size_t i = 0; i < n; i++) {
        const char *had = json_string_value(json_array_get(tags, i));

        if (had && strcmp(had, tag) == 0)
            return true;
    }
    return false;
}

/* ---- text to lines ---- */

/* Bytes of the line end at the start of text, 0: none. Source: Python, str.splitlines. */
static size_t line_end(struct bytes text)
{
    uint32_t c = 0;
    size_t n = character_size(text, &c);

    if (c == '\r' && text.size > 1 && text.data[1] == '\n')
        return 2;
    if ((c >= '\n' && c <= '\r') || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 ||
        c == 0x2029)
        return n;
    return 0;
}

/* The lines of a string, each with its end. NULL: out of memory. */
static json_t *lines_of(const json_t *string)
{
    struct bytes text = { json_string_value(string), json_string_length(string) };
    json_t *lines = json_array();
    size_t start = 0, at = 0;

    while (at < text.size) {
        struct bytes rest = { text.data + at, text.size - at };
        size_t end = line_end(rest);

        at += end ? end : character_size(rest, NULL);
        if (!end && at < text.size)
            continue;
        if (json_array_append_new(lines, json_stringn(text.data + start, at - start)) < 0) {
            json_decref(lines);
            return NULL;
        }
        start = at;
    }
    return lines;
}

static void split(json_t *object, const char *key, struct buf *out)
{
    json_t *value = json_object_get(object, key);

    if (json_is_string(value) && json_object_set_new(object, key, lines_of(value)) < 0)
        out->is_failed = true;
}

static void split_bundle(json_t *bundle, struct buf *out)
{
    void *position;
    const char *key;
    json_t *value;

    json_object_foreach_safe(bundle, position, key, value)
    {
        if (strncmp(key, "text/", 5) == 0 || strcmp(key, "application/javascript") == 0 ||
            strcmp(key, "image/svg+xml") == 0)
            split(bundle, key, out);
    }
}

static void split_cell(json_t *cell, struct buf *out)
{
    json_t *attachment, *output;
    const char *name;
    size_t i;

    split(cell, "source", out);
    json_object_foreach(json_object_get(cell, "attachments"), name, attachment)
        split_bundle(attachment, out);
    json_array_foreach(json_object_get(cell, "outputs"), i, output)
    {
        split_bundle(json_object_get(output, "data"), out);
        split(output, "text", out);
    }
    json_object_del(json_object_get(cell, "metadata"), "trusted");
}

void nbformat_write(json_t *notebook, struct buf *out)
{
    static const char *const transient[] = { "orig_nbformat", "orig_nbformat_minor", "signature" };
    json_t *cell;
    size_t i;

    json_array_foreach(json_object_get(notebook, "cells"), i, cell) split_cell(cell, out);
    for (i = 0; i < COUNT(transient); i++)
        json_object_del(json_object_get(notebook, "metadata"), transient[i]);
    json_text(notebook, JSON_TEXT_NOTEBOOK, out);
    buf_putc(out, '\n');
}
