/*
 * The report of a launch that went wrong. The interpreter says who, where and why;
 * here it gets the lines of the source with a caret, the launch as it was typed, and
 * what became of the buffers.
 */
#include "cells/internal.h"
#include "cells/launch_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { TAB = 4, WIDTH = 82, INDEX_MAX = 30 /* bytes of an index that is shown with its value */ };

/* ---- the source ---- */

/* "In[3]" to 3; 0: it is no cell. */
static int cell_of(const char *place)
{
    int cell = 0;

    return place && sscanf(place, "In[%d]", &cell) == 1 ? cell : 0;
}

static bool get_line(struct call *call, int cell, int line, struct bytes *out)
{
    return cell > 0 && line > 0 && cuda_source_line(call->session, cell, line, out);
}

/* Tabs as blanks, so that a caret can stand under a column. */
static void put_code(struct buf *out, struct bytes line)
{
    size_t column = 0;

    for (size_t i = 0; i < line.size; i++) {
        size_t n = line.data[i] == '\t' ? TAB - column % TAB : 1;

        if (line.data[i] == '\t')
            buf_fill(out, ' ', n);
        else
            buf_putc(out, line.data[i]);
        column += n;
    }
}

/* The text of a line from a column on; what was left out shows as dots. */
static void put_code_from(struct buf *out, struct bytes line, size_t from)
{
    struct buf text = { 0 };

    put_code(&text, line);
    if (from && from + 3 < text.size && !text.is_failed) {
        size_t start = from + 3;

        buf_puts(out, "...");
        for (; start < text.size && ((unsigned char)buf_text(&text)[start] & 0xc0) == 0x80; start++)
            buf_putc(out, ' '); /* the rest of a character that starts further left */
        buf_put(out, buf_text(&text) + start, text.size - start);
    } else {
        buf_put(out, buf_text(&text), text.size);
    }
    out->is_failed |= text.is_failed;
    buf_done(&text);
}

static size_t column_of(struct bytes line, size_t offset)
{
    size_t column = 0;

    for (size_t i = 0; i < offset && i < line.size; i++)
        column += line.data[i] == '\t' ? TAB - column % TAB : 1;
    return column;
}

static size_t match_bracket(struct bytes line, size_t open)
{
    int depth = 0;

    for (size_t i = open; i < line.size; i++) {
        depth += line.data[i] == '[' ? 1 : line.data[i] == ']' ? -1 : 0;
        if (depth == 0)
            return i;
    }
    return line.size;
}

/* A literal other than the value, or the value of anything else. */
static bool may_be(struct bytes line, size_t at, int64_t value)
{
    int64_t literal = 0;
    size_t i = at;

    for (; i < line.size && line.data[i] >= '0' && line.data[i] <= '9' && i - at < 18; i++)
        literal = literal * 10 + (line.data[i] - '0');
    return i == at || i == line.size || line.data[i] != ']' || literal == value;
}

/*
 * Where name[ stands in a line, from `from` on, else from its start, with an index that may
 * have had the value; line.size: nowhere.
 */
static size_t find_access(struct bytes line, const char *name, size_t from, int64_t value)
{
    size_t n = strlen(name);

    for (int pass = 0; pass < 2; pass++)
        for (size_t i = pass ? 0 : from; i + n < line.size; i++)
            if (memcmp(line.data + i, name, n) == 0 && line.data[i + n] == '[' &&
                (i == 0 || !is_name_char(line.data[i - 1])) && may_be(line, i + n + 1, value))
                return i + n + 1;
    return line.size;
}

/* What stands at the caret: the text of an index and the value that it must have had. */
struct mark {
    size_t offset; /* in the line */
    struct bytes index;
    int64_t value;
    bool has_value;
};

/* The parameter through which the kernel came to the buffer that it missed. */
static void mark_index(const struct launch_plan *plan, const struct ptx_fault *fault,
                       struct bytes line, struct mark *mark)
{
    for (size_t i = 0; i < plan->value_count; i++) {
        const struct cuda_parameter *p = &plan->image.parameters[i];
        const struct launch_value *v = &plan->values[i];
        int64_t distance = (int64_t)(fault->address - v->address);
        size_t at, end;

        if (!v->is_pointer || v->address == 0 || p->bytes == 0 || !*p->name ||
            llabs(distance) > (int64_t)1 << 40 || distance % (int64_t)p->bytes)
            continue;
        at = find_access(line, p->name, mark->offset, distance / (int64_t)p->bytes);
        if (at >= line.size)
            continue;
        end = match_bracket(line, at - 1);
        if (mark->has_value && llabs(distance) >= llabs(mark->value) * (int64_t)p->bytes)
            continue; /* another parameter is nearer */
        *mark =
            (struct mark){ at, { line.data + at, end - at }, distance / (int64_t)p->bytes, true };
    }
}

/* " i + 3 = 64" behind the caret; "": nothing that the line does not say itself. */
static void mark_text(const struct mark *mark, char *out, size_t size)
{
    char value[32];

    snprintf(value, sizeof(value), "%" PRId64, mark->value);
    *out = '\0';
    if (mark->has_value && mark->index.size <= INDEX_MAX && !bytes_equal(mark->index, value))
        snprintf(out, size, " %.*s = %s", (int)mark->index.size, mark->index.data, value);
}

static void put_excerpt(struct call *call, const struct launch_plan *plan,
                        const struct ptx_fault *fault, const struct err *err, struct buf *out)
{
    int cell = cell_of(err->place), width, digits;
    struct bytes line, above;
    char number[16], words[INDEX_MAX + 32];
    struct mark mark = { .offset = err->column > 0 ? (size_t)err->column - 1 : 0 };
    size_t head, column, from = 0;

    if (!get_line(call, cell, err->line, &line))
        return;
    if (mark.offset > line.size)
        mark.offset = 0;
    if (fault && fault->name == ERR_MemoryFault)
        mark_index(plan, fault, line, &mark);
    width = (int)strlen(err->place);
    digits = snprintf(number, sizeof(number), "%d", err->line);
    head = (size_t)width + (size_t)digits + 4;
    column = column_of(line, mark.offset);
    mark_text(&mark, words, sizeof(words));
    if (head + column + 1 + strlen(words) > WIDTH && column > WIDTH / 4)
        from = column - WIDTH / 4; /* as far as the caret and its words are seen */
    if (get_line(call, cell, err->line - 1, &above)) {
        buf_printf(out, "%s  %*d  ", err->place, digits, err->line - 1);
        put_code(out, above);
        buf_putc(out, '\n');
        buf_printf(out, "%*s  %s  ", width, ">", number);
    } else {
        buf_printf(out, "%s> %s  ", err->place, number);
    }
    put_code_from(out, line, from);
    buf_putc(out, '\n');
    if (err->column <= 0 && !mark.has_value)
        return;
    buf_fill(out, ' ', head + column - from);
    buf_putc(out, '^');
    buf_puts(out, words);
    buf_putc(out, '\n');
}

/* ---- the rows ---- */

/* The name of the row that a line of a report starts, or the one that it continues. */
static bool starts_row(const char *line, const char *name)
{
    size_t n = strlen(name);

    return strncmp(line, "  ", 2) == 0 && strncmp(line + 2, name, n) == 0 && line[2 + n] == ' ';
}

/* The interpreter's rows, those before why and try or those from there on; its launch row goes. */
static void put_rows(struct buf *out, const char *report, bool is_tail)
{
    bool in_tail = false, is_dropped = false;

    for (const char *p = report; *p;) {
        size_t n = strcspn(p, "\n");

        if (strncmp(p, "   ", 3) != 0) {
            in_tail |= starts_row(p, "why") || starts_row(p, "try");
            is_dropped = starts_row(p, "launch") || starts_row(p, "state");
        }
        if (in_tail == is_tail && !is_dropped) {
            buf_put(out, p, n);
            buf_putc(out, '\n');
        }
        p += n + (p[n] == '\n');
    }
}

static void put_row(struct buf *out, const char *name, const char *text)
{
    struct bytes left = bytes_of(text);
    const int indent = 10;

    buf_printf(out, "  %-8s", name);
    for (;;) {
        size_t n = left.size;

        if ((int)n > WIDTH - indent) {
            for (n = (size_t)(WIDTH - indent); n > 0 && left.data[n] != ' '; n--)
                ;
            if (n == 0)
                n = (size_t)(WIDTH - indent);
        }
        buf_put(out, left.data, n);
        buf_putc(out, '\n');
        while (n < left.size && left.data[n] == ' ')
            n++;
        left = (struct bytes){ left.data + n, left.size - n };
        if (!left.size)
            return;
        buf_fill(out, ' ', (size_t)indent);
    }
}

static void put_number(struct buf *out, int64_t v)
{
    char digits[32];
    int n = snprintf(digits, sizeof(digits), "%" PRId64, v);

    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            buf_putc(out, ',');
        buf_putc(out, digits[i]);
    }
}

static void put_launch(struct call *call, const struct launch_plan *plan, struct buf *out)
{
    struct buf text = { 0 };

    buf_printf(&text, "In[%d]: %s starts ", session_run_count(call->session), plan->text);
    put_number(&text, plan->blocks * plan->threads);
    buf_puts(&text, plan->blocks * plan->threads == 1 ? " thread" : " threads");
    put_row(out, "launch", buf_text(&text));
    out->is_failed |= text.is_failed;
    buf_done(&text);
}

/* "x and y are as before the launch": buffers that the arguments point into, each once. */
static void put_state(struct call *call, const struct launch_plan *plan,
                      const struct ptx_fault *fault, const char *lost, struct buf *out)
{
    const char *names[64];
    size_t n = 0, most = COUNT(names);
    struct buf text = { 0 };

    for (size_t i = 0; i < buffer_count(call->session) && n < most; i++) {
        const struct buffer *b = buffer_at(call->session, i);
        bool is_used = false;

        for (size_t k = 0; k < plan->value_count; k++)
            is_used |= launch_value_is_in(&plan->values[k], b);
        if (is_used && !b->is_symbol)
            names[n++] = b->name;
    }
    for (size_t i = 0; i < n; i++)
        buf_printf(&text, "%s%s", i == 0 ? "" : i + 1 == n ? " and " : ", ", names[i]);
    if (n == 0)
        buf_puts(&text, "all buffers");
    buf_printf(&text, " %s as before the launch", n == 1 ? "is" : "are");
    if (fault && fault->name == ERR_MemoryFault && fault->buffer >= 0)
        buf_puts(&text, "; a GPU might not have noticed at all");
    if (lost)
        buf_printf(&text, "; %s", lost);
    put_row(out, "state", buf_text(&text));
    out->is_failed |= text.is_failed;
    buf_done(&text);
}

/* "tex.1d in _Z4copyPf" is about copy. */
static void put_plain_name(const struct launch_plan *plan, struct err *err)
{
    const char *symbol = plan->image.symbol;
    char *at = strstr(err->text, symbol);
    char rest[sizeof(err->text)];

    if (!at || strlen(symbol) < strlen(plan->kernel))
        return;
    snprintf(rest, sizeof(rest), "%s", at + strlen(symbol));
    snprintf(at, sizeof(err->text) - (size_t)(at - err->text), "%s%s", plan->kernel, rest);
}

void launch_explain(struct call *call, const struct launch_plan *plan,
                    const struct ptx_fault *fault, const char *lost, struct err *err)
{
    static const enum err_name PLAIN[] = { ERR_Interrupted,   ERR_LaunchError, ERR_UnsupportedError,
                                           ERR_ResourceError, ERR_DeviceError, ERR_InternalError };
    struct buf out = { 0 };
    char *report = err->detail;

    put_plain_name(plan, err);
    for (size_t i = 0; i < COUNT(PLAIN); i++)
        if (err->name == PLAIN[i])
            return;
    err->detail = NULL;
    put_excerpt(call, plan, fault, err, &out);
    if (out.size)
        buf_putc(&out, '\n');
    if (report)
        put_rows(&out, report, false);
    put_launch(call, plan, &out);
    if (report)
        put_rows(&out, report, true);
    if (err->next[0] && !(report && strstr(report, "\n  try ")))
        put_row(&out, "try", err->next);
    err->next[0] = '\0';
    put_state(call, plan, fault, lost, &out);
    free(report);
    err->detail = buf_take(&out);
    buf_done(&out);
    if (err->detail)
        err->line = 0; /* its line is in the detail */
}
