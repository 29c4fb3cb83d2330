/*
 * Help is written from the table of magics, so that it cannot disagree with
 * what a magic accepts.
 */
#include "cells/help.h"

#include "cells/buffer_value.h"
#include "cells/expr.h"
#include "cells/glossary.h"

#include <math.h>
#include <stdio.h>

enum { WIDTH = 79 };

/*
 * Words of a text, wrapped, behind a head and indented under its own start. A '\n' in the text
 * starts a new line.
 */
static void put_hanging(struct buf *out, const char *head, size_t indent, const char *text)
{
    size_t column = strlen(head), word;

    buf_puts(out, head);
    for (; *text; text += word + (text[word] != '\0')) {
        word = strcspn(text, " \n");
        if (word && column > 0 && (column == indent || column + 1 + word > WIDTH)) {
            buf_putc(out, '\n');
            column = 0;
        }
        if (word) {
            size_t blanks = column < indent ? indent - column : column > 0;

            buf_fill(out, ' ', blanks);
            buf_put(out, text, word);
            column += blanks + word;
        }
        if (text[word] == '\n') {
            buf_putc(out, '\n');
            column = 0;
        }
    }
    if (column)
        buf_putc(out, '\n');
}

static void put_wrapped(struct buf *out, const char *text, size_t indent)
{
    put_hanging(out, "", indent, text);
}

/* Lines as they are, indented. */
static void put_lines(struct buf *out, const char *text, size_t indent)
{
    while (*text) {
        size_t n = strcspn(text, "\n");

        buf_fill(out, ' ', indent);
        buf_put(out, text, n);
        buf_putc(out, '\n');
        text += n + (text[n] == '\n');
    }
}

static bool is_switch(const struct param *p)
{
    return p->type == PARAM_BOOL && strlen(p->name) == 1;
}

void help_usage(const struct magic *magic, struct buf *out)
{
    buf_printf(out, "%s%s", magic_signs(magic), magic->name);
    for (size_t i = 0; i < magic->param_count; i++) {
        const struct param *p = &magic->params[i];
        bool is_optional = !(p->flags & PARAM_REQUIRED) && !p->preset;

        buf_puts(out, is_optional || is_switch(p) ? " [" : " ");
        if (is_switch(p))
            buf_printf(out, "-%s", p->name);
        else if (p->flags & PARAM_POSITIONAL)
            for (const char *c = p->name; *c; c++)
                buf_putc(out, *c >= 'a' && *c <= 'z' ? (char)(*c - 32) : *c);
        else
            buf_printf(out, "%s=%s", p->name, p->preset ? p->preset : "");
        if (is_optional || is_switch(p))
            buf_putc(out, ']');
    }
    if (magic->field_count)
        buf_puts(out, " [-> NAME]");
}

static void put_number(struct buf *out, double v)
{
    if (floor(v) == v && fabs(v) < 1e15)
        buf_printf(out, "%.0f", v);
    else
        buf_printf(out, "%g", v);
}

/* Words have no range between them. */
static bool has_ranges(const struct param *p)
{
    return p->type == PARAM_INT || p->type == PARAM_FLOAT || p->type == PARAM_DIM ||
           p->type == PARAM_VALUE;
}

static void put_param(struct buf *out, const struct param *p)
{
    struct buf head = { 0 }, text = { 0 };

    if (is_switch(p))
        buf_printf(&head, "  -%s", p->name);
    else if (p->flags & PARAM_POSITIONAL)
        buf_printf(&head, "  %s", p->name);
    else
        buf_printf(&head, "  %s=%s", p->name, p->preset ? p->preset : "");
    buf_puts(&text, p->help ? p->help : "");
    if (p->choices)
        buf_printf(&text, ": %s", p->choices);
    if ((p->min != 0 || p->max != 0) && !isinf(p->max)) {
        buf_puts(&text, ", ");
        put_number(&text, p->min);
        buf_puts(&text, " to ");
        put_number(&text, p->max);
    }
    if (p->flags & PARAM_SWEEP)
        buf_puts(&text, has_ranges(p) ? " (or a range, a list)" : " (or a list)");
    put_hanging(out, buf_text(&head), 21, buf_text(&text));
    out->is_failed |= head.is_failed || text.is_failed;
    buf_done(&head);
    buf_done(&text);
}

static void put_field(struct buf *out, const struct field *field)
{
    struct buf head = { 0 };

    buf_printf(&head, "  %-28s %s", field->path, field->unit);
    put_hanging(out, buf_text(&head), 42, field->help);
    out->is_failed |= head.is_failed;
    buf_done(&head);
}

static void magic_text(const struct magic *magic, bool is_short, struct buf *out)
{
    struct buf usage = { 0 };

    buf_printf(out, "%s%s: %s\n\n", magic_signs(magic), magic->name, magic->summary);
    help_usage(magic, &usage);
    put_wrapped(out, buf_text(&usage), 4);
    out->is_failed |= usage.is_failed;
    buf_done(&usage);
    if (magic->param_count)
        buf_puts(out, "\n");
    for (size_t i = 0; i < magic->param_count; i++)
        put_param(out, &magic->params[i]);
    if (is_short)
        return;
    buf_puts(out, "\n");
    put_wrapped(out, magic->about, 0);
    if (magic->field_count)
        buf_puts(out, "\nThe result's fields (`_` is the last result, -> NAME names it):\n");
    for (size_t i = 0; i < magic->field_count; i++)
        put_field(out, &magic->fields[i]);
    buf_puts(out, "\nExamples:\n");
    put_lines(out, magic->example, 2);
}

/* The list of all magics. */
static void help_list(struct buf *out)
{
    struct buf functions = { 0 };

    buf_puts(out, "The magics of Warpbook. %NAME? explains one; Tab completes, Shift-Tab "
                  "shows.\n\n");
    for (size_t i = 0; i < MAGIC_COUNT; i++) {
        char name[48];

        snprintf(name, sizeof(name), "  %s%s", magic_signs(MAGICS[i]), MAGICS[i]->name);
        put_hanging(out, name, 16, MAGICS[i]->summary);
    }
    buf_puts(out, "\nEverything else in a cell is CUDA C. n = 1000 sets a variable; {n} in a key "
                  "is its\nvalue.\n");
    buf_puts(&functions, "Functions:");
    for (size_t i = 0; i < function_count(); i++)
        buf_printf(&functions, " %s", function_help_at(i)->name);
    buf_puts(&functions, ".\nWords of the field have pages too: %help warp, %help occupancy, "
                         "%help stall.");
    put_wrapped(out, buf_text(&functions), 0);
    out->is_failed |= functions.is_failed;
    buf_done(&functions);
}

static void variable_text(const struct variable *v, bool is_short, struct buf *out)
{
    struct arena *arena = arena_new(1 << 20);
    char *text = NULL;

    if (v->unset) {
        buf_printf(out, "%s has no value: %s\n", v->name, v->unset);
    } else {
        buf_printf(out, "%s: %s\n", v->name, value_type_name(v->value.type));
        if (arena)
            text = value_text(arena, &v->value);
        if (text)
            put_wrapped(out, text_show(arena, bytes_of(text), is_short ? 300 : 4000), 2);
    }
    arena_free(&arena);
}

static void buffer_text(const struct buffer *b, bool is_short, struct buf *out)
{
    struct arena *arena = arena_new(1 << 20);
    struct value v = buffer_value_of((struct buffer *)b);
    char type[120], *text = arena ? value_text(arena, &v) : NULL;

    buffer_type_text(b, type, sizeof(type));
    buf_printf(out, "%s: %s, %s %s, %zu bytes at 0x%llx\n", b->name, type,
               b->is_symbol ? "a device variable" : "a buffer", b->origin, b->size,
               (unsigned long long)b->address);
    if (text)
        put_wrapped(out, text_show(arena, bytes_of(text), is_short ? 300 : 4000), 2);
    arena_free(&arena);
}

static const char *kind_name(enum cuda_name_kind kind)
{
    static const char *const NAMES[] = { "kernel",   "function", "type",
                                         "variable", "constant", "macro" };

    return (size_t)kind < COUNT(NAMES) ? NAMES[kind] : "name";
}

static bool cuda_text(struct session *session, const char *name, struct buf *out)
{
    const struct cuda *cuda = session_cuda(session);

    for (size_t i = cuda_name_count(cuda); i > 0; i--) {
        struct cuda_name n = cuda_name_at(cuda, i - 1);

        if (strcmp(n.name, name) != 0)
            continue;
        buf_printf(out, "%s: %s of In[%d]\n\n", n.name, kind_name(n.kind), n.cell);
        put_lines(out, n.head, 2);
        return true;
    }
    return false;
}

static bool device_text(struct session *session, const char *name, struct buf *out)
{
    struct session_device d;

    if (strncasecmp(name, "gpu", 3) == 0 || session_find_device(session, name, &d, NULL) < 0)
        return false;
    buf_printf(out, "%s: compute capability %d.%d", d.device.name, d.device.cc_major,
               d.device.cc_minor);
    if (d.device.sms)
        buf_printf(out, ", %d SMs", d.device.sms);
    buf_printf(out, "\n\n  an SM has %d threads, %d warps, %d blocks, %d registers, %d KB shared\n",
               d.device.threads_per_sm, d.device.warps_per_sm, d.device.blocks_per_sm,
               d.device.registers_per_sm, d.device.shared_per_sm / 1024);
    return true;
}

static bool function_text(const char *name, struct buf *out)
{
    for (size_t i = 0; i < function_count(); i++)
        if (strcmp(function_help_at(i)->name, name) == 0) {
            buf_printf(out, "%s: %s\n", function_help_at(i)->signature, function_help_at(i)->help);
            return true;
        }
    return false;
}

static bool term_text(const char *name, struct buf *out)
{
    const struct term *term = glossary_find(name);

    if (!term)
        return false;
    buf_printf(out, "%s\n\n", term->name);
    put_wrapped(out, term->text, 2);
    if (term->try)
        buf_printf(out, "\nTry: %s\n", term->try);
    return true;
}

bool help_text(struct session *session, const char *name, bool is_short, struct buf *out)
{
    const struct magic *magic = magic_find(name, false);
    const struct variable *v = session_variable(session, name);

    if (!magic)
        magic = magic_find(name, true);
    if (magic) {
        magic_text(magic, is_short, out);
        /* occupancy is a magic and a word. */
        if (glossary_find(name)) {
            buf_puts(out, "\nThe word: ");
            term_text(name, out);
        }
        return true;
    }
    if (v) {
        variable_text(v, is_short, out);
        return true;
    }
    if (buffer_find(session, name)) {
        buffer_text(buffer_find(session, name), is_short, out);
        return true;
    }
    return cuda_text(session, name, out) || function_text(name, out) || term_text(name, out) ||
           device_text(session, name, out);
}

static int nothing_known(struct session *session, const char *name, struct err *err)
{
    struct nearest near = { .wanted = name };

    for (size_t i = 0; i < MAGIC_COUNT; i++)
        nearest_try(&near, MAGICS[i]->name);
    for (size_t i = 0; i < session->variable_count; i++)
        nearest_try(&near, session->variables[i].name);
    for (size_t i = 0; i < buffer_count(session); i++)
        nearest_try(&near, buffer_at(session, i)->name);
    for (size_t i = 0; i < GLOSSARY_COUNT; i++)
        nearest_try(&near, GLOSSARY[i].name);
    if (near.best)
        err_set(err, ERR_NameError, "nothing is called %.60s; %s is the nearest", name, near.best);
    else
        err_set(err, ERR_NameError, "nothing is called %.60s", name);
    return err_next(err, "%%help lists the magics");
}

int help_page(struct session *session, struct sink *sink, const char *name, struct err *err)
{
    struct buf text = { 0 };
    json_t *payload;
    int rc = 0;

    if (!*name)
        help_list(&text);
    else if (!help_text(session, name, false, &text))
        rc = nothing_known(session, name, err);
    if (rc == 0 && text.is_failed)
        rc = err_set(err, ERR_ResourceError, "out of memory");
    if (rc == 0 && sink && !sink->payload) {
        /* No pager here: a terminal, a headless run. */
        sink_write(sink, STREAM_STDOUT, buf_text(&text), text.size);
    } else if (rc == 0 && sink) {
        payload = json_pack("{s:s, s:i, s:{s:s}}", "source", "page", "start", 0, "data",
                            "text/plain", buf_text(&text));
        if (payload)
            sink->payload(sink, payload);
        else
            rc = err_set(err, ERR_ResourceError, "out of memory");
        json_decref(payload);
    }
    buf_done(&text);
    return rc;
}
