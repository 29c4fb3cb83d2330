/*
 * The file is read line by line, and every complaint shows the line with a
 * caret: who writes a device by hand looks at the file, not at the cell.
 */
#include "cells/device_file.h"

#include "cells/internal.h"
#include "cells/render/text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_BYTES = 1 << 16, NAME_MAX_BYTES = 40 };

/* One line in the making of a device. */
struct reader {
    struct arena *arena;
    const char *path;
    struct bytes text;
    struct device_file *out;
    struct bytes line; /* without its comment */
    size_t whole;      /* bytes with it */
    int number;
};

/* ---- errors ---- */

static struct bytes line_of(struct bytes text, int number)
{
    const char *p = text.data, *end = text.data + text.size, *newline;

    for (; number > 1 && (newline = memchr(p, '\n', (size_t)(end - p))); number--)
        p = newline + 1;
    newline = memchr(p, '\n', (size_t)(end - p));
    return (struct bytes){ p, (size_t)((newline ? newline : end) - p) };
}

int device_file_fail(const char *path, struct bytes text, int line, int column, int length,
                     struct err *err)
{
    enum { SHOWN = 60 };
    struct bytes whole = line_of(text, line);
    struct buf detail = { 0 };
    char said[sizeof(err->text)];

    if (whole.size && whole.data[whole.size - 1] == '\r')
        whole.size--;
    snprintf(said, sizeof(said), "%s", err->text);
    snprintf(err->text, sizeof(err->text), "%.60s line %d: %.500s", path, line, said);
    buf_printf(&detail, "%.20s  %d  ", path, line);
    column += (int)detail.size;
    for (size_t i = 0; i < whole.size && i < SHOWN; i++)
        buf_printf(&detail, "%c", iscntrl((unsigned char)whole.data[i]) ? ' ' : whole.data[i]);
    buf_printf(&detail, "\n%*s", column - 1, "");
    buf_fill(&detail, '^', (size_t)(length > 0 ? length : 1));
    buf_puts(&detail, "\n");
    return err_take_detail(err, buf_take(&detail));
}

/* The error that was just set is about `what`, a piece of the line. */
static int fail(const struct reader *r, struct bytes what, struct err *err)
{
    return device_file_fail(r->path, r->text, r->number, (int)(what.data - r->line.data) + 1,
                            (int)what.size, err);
}

/* ---- lines ---- */

static struct bytes trim(struct bytes text)
{
    while (text.size && isspace((unsigned char)*text.data))
        text = (struct bytes){ text.data + 1, text.size - 1 };
    while (text.size && isspace((unsigned char)text.data[text.size - 1]))
        text.size--;
    return text;
}

static const struct {
    const char *unit;
    double factor;
    int kinds; /* bits of enum device_kind */
} UNITS[] = {
    { "", 1, ~0 },
    { "K", 1024, 1 << DEVICE_INT | 1 << DEVICE_INT64 },
    { "M", 1 << 20, 1 << DEVICE_INT | 1 << DEVICE_INT64 },
    { "MHz", 1, 1 << DEVICE_MHZ },
    { "GHz", 1e3, 1 << DEVICE_MHZ },
    { "GB/s", 1, 1 << DEVICE_GBS },
    { "TB/s", 1e3, 1 << DEVICE_GBS },
};

/* A number with a unit that the key has; false: it is none. */
static bool read_number(struct bytes text, const struct device_key *key, double *out)
{
    char copy[32], *end;

    if (!text.size || text.size >= sizeof(copy) || !strchr("-0123456789", *text.data))
        return false;
    memcpy(copy, text.data, text.size);
    copy[text.size] = '\0';
    if (strpbrk(copy, "xX"))
        return false; /* strtod reads hexadecimal */
    *out = strtod(copy, &end);
    while (*end == ' ')
        end++;
    for (size_t i = 0; i < COUNT(UNITS); i++)
        if (strcmp(end, UNITS[i].unit) == 0 && UNITS[i].kinds & 1 << key->kind) {
            *out *= UNITS[i].factor;
            return end > copy;
        }
    return false;
}

static int read_limit(struct reader *r, const struct device_key *key, struct bytes name,
                      struct bytes value, struct err *err)
{
    struct device_change *change = &r->out->changes[r->out->count];
    double number;

    for (size_t i = 0; i < r->out->count; i++)
        if (r->out->changes[i].key == key) {
            err_set(err, ERR_UsageError, "%s stands in line %d already", key->name,
                    r->out->changes[i].line);
            return fail(r, name, err);
        }
    if (!read_number(value, key, &number)) {
        err_set(err, ERR_ValueError, "%s=%s is no number (%s)", key->name,
                value.size ? text_show(r->arena, value, 30) : "", key->help);
        return fail(r, value.size ? value : name, err);
    }
    *change = (struct device_change){ key, number, r->number, (int)(value.data - r->line.data) + 1,
                                      (int)value.size };
    r->out->count++;
    return 0;
}

static int unknown_key(const struct reader *r, struct bytes name, struct err *err)
{
    struct nearest near = { .wanted = arena_copy(r->arena, name.data, name.size) };

    if (!near.wanted)
        return err_set(err, ERR_ResourceError, "out of memory");
    for (size_t i = 0; i < DEVICE_KEY_COUNT; i++)
        nearest_try(&near, DEVICE_KEY_ROWS[i].name);
    nearest_try(&near, "name");
    nearest_try(&near, "from");
    if (near.best)
        err_set(err, ERR_UsageError, "no limit is called %.40s; %s is the nearest", near.wanted,
                near.best);
    else
        err_set(err, ERR_UsageError, "no limit is called %s", text_show(r->arena, name, 40));
    err_next(err, "%%device L40S save=\"my.device\" writes a file with all of them");
    return fail(r, name, err);
}

static int read_line(struct reader *r, struct err *err)
{
    struct bytes all = trim(r->line), name, value;
    const char *equals = all.size ? memchr(all.data, '=', all.size) : NULL;
    const struct device_key *key;
    const char *text;

    if (!all.size)
        return 0;
    if (!equals) {
        err_set(err, ERR_UsageError, "a line is `name = value`, as in threads = 1536");
        return fail(r, all, err);
    }
    name = trim((struct bytes){ all.data, (size_t)(equals - all.data) });
    value = trim((struct bytes){ equals + 1, (size_t)(all.data + all.size - equals - 1) });
    text = arena_copy(r->arena, value.data, value.size);
    key = device_key_find(text ? arena_copy(r->arena, name.data, name.size) : "");
    if (!text)
        return err_set(err, ERR_ResourceError, "out of memory");
    if (key)
        return read_limit(r, key, name, value, err);
    if (bytes_equal(name, "name") && !r->out->name) {
        r->out->name = text;
        return 0;
    }
    if (bytes_equal(name, "from") && !r->out->from) {
        r->out->from = text;
        r->out->from_line = r->number;
        r->out->from_column = (int)(value.data - r->line.data) + 1;
        r->out->from_length = (int)value.size;
        return 0;
    }
    return unknown_key(r, name, err);
}

int device_file_read(struct arena *arena, const char *path, struct bytes text,
                     struct device_file *out, struct err *err)
{
    struct reader r = { .arena = arena, .path = path, .text = text, .out = out };
    const char *hash, *newline, *end = text.data + text.size;

    *out = (struct device_file){ 0 };
    if (text.size > MOST_BYTES || (text.size && memchr(text.data, '\0', text.size)))
        return err_set(err, ERR_FileError, "%.60s is no device file: it is %s", path,
                       text.size > MOST_BYTES ? "longer than 64 KB" : "not text");
    for (const char *p = text.data; p && p < end; p += r.whole + 1) {
        newline = memchr(p, '\n', (size_t)(end - p));
        r.whole = (size_t)((newline ? newline : end) - p);
        r.line = (struct bytes){ p, r.whole };
        r.number++;
        hash = r.line.size ? memchr(r.line.data, '#', r.line.size) : NULL;
        if (hash)
            r.line.size = (size_t)(hash - r.line.data);
        if (read_line(&r, err) < 0)
            return -1;
    }
    return 0;
}

/* ---- writing ---- */

static void put_value(struct buf *out, const struct device_key *key, double value)
{
    if (key->kind == DEVICE_GBS)
        buf_printf(out, "%.10g", value);
    else
        buf_printf(out, "%lld", (long long)value);
}

void device_file_write(const struct device *dev, struct buf *out)
{
    struct buf line = { 0 };

    buf_printf(out,
               "# A device for %%device file=. One limit a line; from = says whose limits count "
               "where\n# nothing is written. What nobody knows is left out.\n"
               "name = my %s\nfrom = cc=%d.%d\n\n",
               dev->name, dev->cc_major, dev->cc_minor);
    for (size_t i = 0; i < DEVICE_KEY_COUNT; i++) {
        const struct device_key *key = &DEVICE_KEY_ROWS[i];
        double value = device_key_get(dev, key);

        /* warps follows from threads; 0 is unknown, or nothing invented. */
        if (i == DEVICE_KEY_warps || (value == 0 && key->least > 0))
            continue;
        buf_cut(&line, 0);
        buf_printf(&line, "%s = ", key->name);
        put_value(&line, key, value);
        if (line.size < 28)
            buf_fill(&line, ' ', 28 - line.size);
        buf_printf(out, "%s # %s\n", buf_text(&line), key->help);
    }
    out->is_failed |= line.is_failed;
    buf_done(&line);
}
