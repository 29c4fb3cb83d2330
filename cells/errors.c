/*
 * An error as the user reads it: what is wrong first, then the line of the cell
 * with a caret under the place, then what to do. Front ends cut tracebacks at
 * the right, graders keep only the first lines: so the useful line is line 1
 * and no line is wider than 82 columns.
 */
#include "cells/characters.h"
#include "cells/internal.h"
#include "cells/render/text.h"
#include "model/base/buf.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 82, TAB = 4, DETAIL_LINES = 60 };

/* ---- display width ---- */

/* One character of user text: its bytes, its columns, and what is printed for it. */
struct glyph {
    size_t size;
    int width;
    const char *text;
    size_t text_size;
};

static struct glyph glyph_at(const char *data, size_t n, int column)
{
    size_t size = character_size((struct bytes){ data, n }, NULL);
    unsigned char c = (unsigned char)*data;

    if (c == '\t')
        return (struct glyph){ 1, TAB - column % TAB, "    ", (size_t)(TAB - column % TAB) };
    if (!size || c < ' ' || c == 0x7F)
        return (struct glyph){ size ? size : 1, 1, "\xEF\xBF\xBD", 3 };
    return (struct glyph){ size, (int)text_columns(data, size), data, size };
}

static int width_of(struct bytes text)
{
    int column = 0;

    for (size_t at = 0; at < text.size;) {
        struct glyph g = glyph_at(text.data + at, text.size - at, column);

        column += g.width;
        at += g.size;
    }
    return column;
}

/* ---- lines of the report ---- */

struct lines {
    char **items;
    size_t count, capacity;
    bool is_failed;
};

static void add_line(struct lines *lines, const char *text, size_t n)
{
    char **grown;
    size_t capacity = lines->capacity ? lines->capacity * 2 : 16;

    if (lines->is_failed)
        return;
    if (lines->count == lines->capacity) {
        grown = realloc(lines->items, capacity * sizeof(*grown));
        if (!grown) {
            lines->is_failed = true;
            return;
        }
        lines->items = grown;
        lines->capacity = capacity;
    }
    while (n && text[n - 1] == ' ')
        n--;
    lines->items[lines->count] = strndup(text, n);
    if (lines->items[lines->count])
        lines->count++;
    else
        lines->is_failed = true;
}

/* Bytes of text that fit into so many columns, broken at a blank where there is one. */
static size_t fit(struct bytes text, int columns)
{
    size_t at = 0, blank = 0;
    int column = 0;

    while (at < text.size) {
        struct glyph g = glyph_at(text.data + at, text.size - at, column);

        if (column + g.width > columns)
            break;
        if (text.data[at] == ' ' && at)
            blank = at;
        column += g.width;
        at += g.size;
    }
    if (at >= text.size)
        return text.size;
    if (text.data[at] == ' ')
        return at;
    return blank ? blank : at ? at : 1;
}

/* head, then text, further lines under the text. */
static void add_wrapped(struct lines *lines, const char *head, int indent, const char *text)
{
    struct bytes left = bytes_of(text);
    struct buf line = { 0 };

    buf_puts(&line, head);
    while (left.size) {
        size_t n = fit(left, WIDTH - width_of((struct bytes){ buf_text(&line), line.size }));

        buf_put(&line, left.data, n);
        add_line(lines, buf_text(&line), line.size);
        while (n < left.size && left.data[n] == ' ')
            n++;
        left = (struct bytes){ left.data + n, left.size - n };
        buf_cut(&line, 0);
        buf_fill(&line, ' ', (size_t)indent);
    }
    lines->is_failed |= line.is_failed;
    buf_done(&line);
}

/* ---- the line with the caret ---- */

static bool find_line(struct bytes code, int number, struct bytes *out)
{
    const char *p = code.data, *end = code.data + code.size, *nl;

    for (int line = 1; p && p <= end; line++) {
        nl = p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;
        if (line == number) {
            *out = (struct bytes){ p, (size_t)((nl ? nl : end) - p) };
            if (out->size && out->data[out->size - 1] == '\r')
                out->size--;
            return true;
        }
        if (!nl)
            return false;
        p = nl + 1;
    }
    return false;
}

/* Skips whole characters from the left until the caret's column is inside the window. */
static size_t window_start(struct bytes line, size_t caret, int room)
{
    size_t at = 0;
    int before = width_of((struct bytes){ line.data, caret });

    if (width_of(line) <= room || before < room - 10)
        return 0;
    while (at < caret && before > room / 2) {
        struct glyph g = glyph_at(line.data + at, line.size - at, 0);

        before -= g.width;
        at += g.size;
    }
    return at;
}

static void add_excerpt(struct lines *lines, const struct err *err, struct bytes code,
                        const char *place)
{
    struct buf out = { 0 }, caret = { 0 };
    struct bytes line;
    size_t mark = err->column > 0 ? (size_t)err->column - 1 : 0, at, end;
    int head, column = 0, from = -1, to = 0;

    if (err->line < 1 || !find_line(code, err->line, &line))
        return;
    mark = mark < line.size ? mark : line.size;
    end = mark + (size_t)(err->length > 0 ? err->length : 1);
    buf_printf(&out, "%s  %d  ", place, err->line);
    head = (int)out.size;
    at = window_start(line, mark, WIDTH - head);
    while (at < line.size) {
        struct glyph g = glyph_at(line.data + at, line.size - at, column);

        if (head + column + g.width > WIDTH)
            break;
        if (at >= mark && from < 0)
            from = column;
        buf_put(&out, g.text, g.text_size);
        column += g.width;
        at += g.size;
        if (at <= end)
            to = column;
    }
    if (from < 0)
        from = column;
    if (to <= from)
        to = from + 1;
    add_line(lines, "", 0);
    add_line(lines, buf_text(&out), out.size);
    if (err->column > 0) {
        buf_fill(&caret, ' ', (size_t)(head + from));
        buf_fill(&caret, '^', (size_t)(to - from));
        add_line(lines, buf_text(&caret), caret.size);
    }
    lines->is_failed |= out.is_failed || caret.is_failed;
    buf_done(&out);
    buf_done(&caret);
}

/* "  who     text": a row of a report, which may be wrapped; columns where its text starts, or 0.
 */
static int row_indent(const char *line, size_t size)
{
    enum { NAME = 2, TEXT = 10 };

    if (size <= TEXT || line[0] != ' ' || line[1] != ' ' || !islower((unsigned char)line[NAME]) ||
        line[TEXT - 1] != ' ' || line[TEXT] == ' ')
        return 0;
    return TEXT;
}

/* "In[3](7): error: text", a compiler's sentence, which may be wrapped. */
static bool is_diagnostic(const char *line, size_t size)
{
    size_t at = 0;

    while (at < size && line[at] != '(' && line[at] != ' ')
        at++;
    if (!at || at == size || line[at] != '(')
        return false;
    for (at++; at < size && isdigit((unsigned char)line[at]); at++)
        ;
    return size - at > 3 && memcmp(line + at, "): ", 3) == 0;
}

static void add_detail_line(struct lines *lines, const char *line, size_t size)
{
    int indent = is_diagnostic(line, size) ? 2 : row_indent(line, size);
    struct buf row = { 0 };

    if (!indent || width_of((struct bytes){ line, size }) <= WIDTH) {
        add_line(lines, line, fit((struct bytes){ line, size }, WIDTH));
        return;
    }
    buf_put(&row, line, size);
    add_wrapped(lines, "", indent, buf_text(&row));
    lines->is_failed |= row.is_failed;
    buf_done(&row);
}

/*
 * A compiler's log or a fault's rows: as they are, but no wider and not without end. Rows wrap;
 * what may be source is cut, because a caret stands below it.
 */
static void add_detail(struct lines *lines, const char *detail)
{
    size_t n = 0;

    add_line(lines, "", 0);
    while (*detail) {
        size_t size = strcspn(detail, "\n");

        if (n++ == DETAIL_LINES) {
            add_line(lines, "  ...", 5);
            return;
        }
        add_detail_line(lines, detail, size);
        detail += size + (detail[size] == '\n');
    }
}

static int count_missing(const struct error_report *report)
{
    return !report->ename || !report->evalue || !report->traceback;
}

int report_make(const struct err *err, struct bytes code, int run_count, struct error_report *out)
{
    struct lines lines = { 0 };
    char place[64], head[64];

    *out = (struct error_report){ 0 };
    snprintf(place, sizeof(place), "In[%d]", run_count);
    snprintf(head, sizeof(head), "%s: ", err_spelling(err->name));
    add_wrapped(&lines, head, 2, err->text);
    /* Another cell's line is in the detail, if anywhere: code is this cell's. */
    if (!err->place[0] || strcmp(err->place, place) == 0)
        add_excerpt(&lines, err, code, place);
    if (err->detail && *err->detail)
        add_detail(&lines, err->detail);
    if (err->next[0]) {
        add_line(&lines, "", 0);
        add_wrapped(&lines, "  try     ", 10, err->next);
    }
    out->ename = strdup(err_spelling(err->name));
    out->evalue = strdup(err->text);
    out->traceback = lines.items;
    out->traceback_lines = lines.count;
    if (!lines.is_failed && !count_missing(out))
        return 0;
    report_done(out);
    return -1;
}
