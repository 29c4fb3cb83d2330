/*
 * Shift-Tab: the page of the word under the cursor; on a key, what the key
 * takes; anywhere else on a magic line, the magic.
 */
#include "cells/complete_launch.h"
#include "cells/context.h"
#include "cells/expr.h"
#include "cells/glossary.h"
#include "cells/help.h"
#include "cells/words.h"

static void put_html(struct buf *out, const char *text)
{
    buf_puts(out, "<pre>");
    for (; *text; text++) {
        if (*text == '<')
            buf_puts(out, "&lt;");
        else if (*text == '>')
            buf_puts(out, "&gt;");
        else if (*text == '&')
            buf_puts(out, "&amp;");
        else
            buf_putc(out, *text);
    }
    buf_puts(out, "</pre>");
}

static const struct param *key_named(const struct magic *magic, const char *name)
{
    for (size_t i = 0; magic && i < magic->param_count; i++)
        if (strcmp(magic->params[i].name, name) == 0)
            return &magic->params[i];
    return NULL;
}

static void key_text(const struct magic *magic, const struct param *p, struct buf *out)
{
    buf_printf(out, "%s= of %%%s: %s\n", p->name, magic->name, p->help ? p->help : "");
    if (p->choices)
        buf_printf(out, "\n  one of: %s\n", p->choices);
    if (p->preset)
        buf_printf(out, "\n  default: %s\n", p->preset);
    if ((p->min != 0 || p->max != 0))
        buf_printf(out, "  from %.10g to %.10g\n", p->min, p->max);
    if (p->flags & PARAM_SWEEP)
        buf_puts(out, "  a range (1..8, 1..64:*2) or a list ([1,2,4]) gives one point each\n");
}

/* occ.limits.registers: the value where the cursor stands. */
static bool path_text(struct session *session, struct bytes code, const struct context *c,
                      struct arena *arena, struct buf *out)
{
    size_t start = c->start;
    struct value v;
    struct source source;
    const char *text;

    while (start > 0 && (is_name_char(code.data[start - 1]) || code.data[start - 1] == '.'))
        start--;
    if (start == c->start || !is_name_start(code.data[start]))
        return false;
    source = (struct source){ { code.data + start, c->end - start }, 1, 1 };
    if (expr_eval_source(session, source, arena, &v, NULL) < 0)
        return false;
    text = value_text(arena, &v);
    if (!text)
        return false;
    buf_printf(out, "%s: %s\n  %s\n", text_show(arena, source.text, 80), value_type_name(v.type),
               text_show(arena, bytes_of(text), 2000));
    return true;
}

static bool word_text(const char *name, struct buf *out)
{
    for (size_t i = 0; i < CUDA_WORD_COUNT; i++)
        if (strcmp(CUDA_WORDS[i].name, name) == 0) {
            buf_printf(out, "%s\n\n  %s\n", CUDA_WORDS[i].signature, CUDA_WORDS[i].help);
            return true;
        }
    return false;
}

/* A kernel's own name, or the launch that the cursor stands in. */
static bool launch_text(struct session *session, struct bytes code, const struct context *c,
                        const char *name, size_t cursor, struct arena *arena, struct buf *out)
{
    struct launch_cursor at;

    if (*name && !session_variable(session, name) &&
        complete_launch_page(session, name, SIZE_MAX, arena, out))
        return true;
    if (c->kind != CONTEXT_CUDA && c->kind != CONTEXT_EXPR)
        return false;
    return complete_launch_find(code, cursor, arena, &at) &&
           complete_launch_page(session, at.kernel, at.in_arguments ? at.argument : SIZE_MAX, arena,
                                out);
}

/* Where the word ends that lies behind the blank at `at`; at itself when none does. */
static size_t next_word_end(struct bytes code, size_t at)
{
    size_t end = at + 1;

    if (at >= code.size || code.data[at] != ' ')
        return at;
    while (end < code.size && is_name_char(code.data[end]))
        end++;
    return end;
}

/* The same for where the word before the blank begins. */
static size_t word_before_start(struct bytes code, size_t at)
{
    size_t start = at;

    if (at < 2 || code.data[at - 1] != ' ')
        return at;
    for (start--; start > 0 && is_name_char(code.data[start - 1]);)
        start--;
    return start;
}

/* "latency hiding", with the cursor on either word. */
static bool two_words_text(struct bytes code, const struct context *c, struct session *session,
                           bool is_short, struct arena *arena, struct buf *out)
{
    const size_t places[][2] = { { c->start, next_word_end(code, c->end) },
                                 { word_before_start(code, c->start), c->end } };

    for (size_t i = 0; i < COUNT(places); i++) {
        const char *name = arena_copy(arena, code.data + places[i][0], places[i][1] - places[i][0]);

        if (name && strchr(name, ' ') && glossary_find(name))
            return help_text(session, name, is_short, out);
    }
    return false;
}

static bool describe(struct session *session, struct bytes code, const struct context *c,
                     size_t cursor, bool is_short, struct arena *arena, struct buf *out)
{
    size_t start = c->start;
    const struct param *key;
    const char *name;

    while (start < c->end && code.data[start] == '%')
        start++;
    name = arena_copy(arena, code.data + start, c->end - start);
    if (!name)
        return false;
    key = c->kind == CONTEXT_KEY || c->kind == CONTEXT_EXPR ? key_named(c->magic, name) : NULL;
    if (key && key->type != PARAM_REST) {
        key_text(c->magic, key, out);
        return true;
    }
    if ((!*name || !magic_find(name, false)) &&
        launch_text(session, code, c, name, cursor, arena, out))
        return true;
    if (*name && (two_words_text(code, c, session, is_short, arena, out) ||
                  path_text(session, code, c, arena, out) ||
                  help_text(session, name, is_short, out) || word_text(name, out)))
        return true;
    if (c->kind == CONTEXT_VALUE && c->param) {
        key_text(c->magic, c->param, out);
        return true;
    }
    return c->magic && help_text(session, c->magic->name, is_short, out);
}

int session_inspect(struct session *session, struct bytes code, size_t cursor, int detail_level,
                    json_t **data, struct err *err)
{
    struct arena *arena = arena_new(CELL_MEMORY_LIMIT);
    struct buf text = { 0 }, html = { 0 };
    struct context context;
    int rc = 0;

    *data = NULL;
    if (!arena)
        return err_set(err, ERR_ResourceError, "out of memory");
    if (cursor > code.size)
        cursor = code.size;
    context_find(code, cursor, arena, &context);
    if (describe(session, code, &context, cursor, detail_level < 1, arena, &text)) {
        put_html(&html, buf_text(&text));
        if (!text.is_failed && !html.is_failed)
            *data = json_pack("{s:s, s:s}", "text/plain", buf_text(&text), "text/html",
                              buf_text(&html));
        if (!*data)
            rc = err_set(err, ERR_ResourceError, "out of memory");
    }
    buf_done(&text);
    buf_done(&html);
    arena_free(&arena);
    return rc;
}
