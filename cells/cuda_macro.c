/*
 * The preprocessor's work as far as names go: parameters are replaced by arguments,
 * # makes a text and ## joins. What comes out is cut like a cell, and a call in it is
 * expanded again; the compiler expands for itself.
 */
#include "cells/cuda_macro.h"

#include "cells/cuda_scan.h"

#include <ctype.h>
#include <stdlib.h>

enum { MAX_PARTS = 32, MAX_DEPTH = 4, MAX_EXPANSION = 1 << 16 };

/* A macro's definition, or a call of one. */
struct parts {
    struct bytes name, list[MAX_PARTS], rest; /* rest: the body */
    size_t count;
    bool is_variadic;
};

/* NAME ( part , part ): commas outside all brackets part. False for anything else. */
static bool read_parts(struct bytes text, struct parts *out)
{
    struct scanner s = { text.data, text.data + text.size, false };
    struct scan_token t = scan_next(&s);
    const char *from;
    int depth = 1;

    *out = (struct parts){ .name = t.text };
    if (t.kind != SCAN_WORD || !scan_is_sign(scan_next(&s), '('))
        return false;
    for (from = s.at; depth > 0;) {
        t = scan_next(&s);
        if (t.kind == SCAN_END)
            return false;
        depth += (scan_is_sign(t, '(') || scan_is_sign(t, '{')) -
                 (scan_is_sign(t, ')') || scan_is_sign(t, '}'));
        if (depth > 0 && !(depth == 1 && scan_is_sign(t, ',')))
            continue;
        if (out->count == MAX_PARTS)
            return false;
        out->list[out->count++] =
            scan_trimmed((struct bytes){ from, (size_t)(t.text.data - from) });
        from = s.at;
    }
    out->rest = (struct bytes){ s.at, (size_t)(s.end - s.at) };
    return true;
}

/* `#define NAME(a, b) body`, its continued lines joined (in the arena). */
static bool read_definition(struct arena *arena, struct bytes directive, struct parts *out)
{
    char *copy = arena_copy(arena, directive.data, directive.size);
    struct scanner s;

    if (!copy)
        return false;
    for (size_t i = 0; i + 1 < directive.size; i++)
        if (copy[i] == '\\' && copy[i + 1] == '\n')
            copy[i] = copy[i + 1] = ' ';
    s = (struct scanner){ copy + 1, copy + directive.size, false };
    if (!scan_is_word(scan_next(&s), "define") ||
        !read_parts((struct bytes){ s.at, (size_t)(s.end - s.at) }, out))
        return false;
    if (out->count > 0 && bytes_equal(out->list[out->count - 1], "...")) {
        out->is_variadic = true;
        out->list[out->count - 1] = bytes_of("__VA_ARGS__");
    }
    return true;
}

/* What a word of the body stands for; with __VA_ARGS__ the rest of the arguments. */
static bool argument_of(const struct parts *macro, const struct parts *call, struct bytes word,
                        struct bytes *out)
{
    for (size_t i = 0; i < macro->count; i++) {
        if (macro->list[i].size != word.size ||
            memcmp(macro->list[i].data, word.data, word.size) != 0)
            continue;
        *out = i < call->count ? call->list[i] : (struct bytes){ "", 0 };
        if (macro->is_variadic && i + 1 == macro->count && i < call->count) {
            const struct bytes *last = &call->list[call->count - 1];

            out->size = (size_t)(last->data + last->size - out->data);
        }
        return true;
    }
    return false;
}

static void cut_blanks(struct buf *out)
{
    while (out->size > 0 && out->data[out->size - 1] == ' ')
        buf_cut(out, out->size - 1);
}

static void expand(const struct parts *macro, const struct parts *call, struct buf *out)
{
    struct scanner s = { macro->rest.data, macro->rest.data + macro->rest.size, false };
    const char *end = s.at;
    bool is_joined = false;

    for (struct scan_token t; (t = scan_next(&s)).kind != SCAN_END && out->size < MAX_EXPANSION;
         end = s.at) {
        struct bytes text = t.text;

        if (scan_is_sign(t, '#') && s.at < s.end && *s.at == '#') {
            s.at++;
            cut_blanks(out);
            is_joined = true;
            continue;
        }
        if (scan_is_sign(t, '#')) { /* #name: a text, of which nothing is named */
            scan_next(&s);
            text = bytes_of("\"\"");
        }
        if (!is_joined && t.text.data > end)
            buf_putc(out, ' ');
        is_joined = false;
        if (t.kind == SCAN_WORD)
            argument_of(macro, call, t.text, &text);
        buf_put(out, text.data, text.size);
    }
}

static const struct cuda_item *macro_named(const struct cuda_item *list, size_t count,
                                           struct bytes name)
{
    for (size_t i = count; i > 0; i--) {
        const struct cuda_item *item = &list[i - 1], *inner;

        if (item->kind == ITEM_MACRO && item->name_count > 0 &&
            bytes_equal(name, item->names[0].name))
            return item;
        inner = item->inner_count > 0 ? macro_named(item->inner, item->inner_count, name) : NULL;
        if (inner)
            return inner;
    }
    return NULL;
}

/* The list and the session that it joins: where macros are looked for. */
struct scope {
    const struct cuda *cuda;
    const struct cuda_items *fresh;
};

static int expand_call(const struct scope *scope, struct cuda_item *item, int depth,
                       struct err *err);

static int expand_list(const struct scope *scope, struct cuda_item *list, size_t count, int depth,
                       struct err *err)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].kind == ITEM_OTHER && list[i].name_count == 0 && list[i].inner_count == 0 &&
            expand_call(scope, &list[i], depth, err) < 0)
            return -1;
    return 0;
}

static int keep_expansion(const struct scope *scope, struct cuda_item *item, struct bytes text,
                          int depth, struct err *err)
{
    struct cuda_items inner = { 0 };
    int rc = cuda_split(item->arena, text, item->line, item->cell, &inner, err);

    if (rc == 0)
        rc = expand_list(scope, inner.list, inner.count, depth + 1, err);
    if (rc == 0 && inner.count > 0) {
        item->inner = arena_array(item->arena, inner.count, sizeof(*item->inner));
        if (item->inner) {
            memcpy(item->inner, inner.list, inner.count * sizeof(*inner.list));
            item->inner_count = inner.count;
            rc = cuda_item_take_names(item, err);
        } else {
            rc = err_set(err, ERR_ResourceError, "out of memory for the cell's macros");
        }
    }
    free(inner.list);
    return rc;
}

static int expand_call(const struct scope *scope, struct cuda_item *item, int depth,
                       struct err *err)
{
    const struct cuda_item *found;
    struct parts call, macro;
    struct buf text = { 0 };
    int rc;

    if (depth == MAX_DEPTH || !read_parts(item->text, &call))
        return 0;
    found = macro_named(scope->fresh->list, scope->fresh->count, call.name);
    if (!found)
        found = macro_named(scope->cuda->items.list, scope->cuda->items.count, call.name);
    if (!found || !read_definition(item->arena, found->text, &macro))
        return 0;
    expand(&macro, &call, &text);
    rc = keep_expansion(scope, item, (struct bytes){ buf_text(&text), text.size }, depth, err);
    buf_done(&text);
    return rc;
}

int cuda_expand_calls(const struct cuda *cuda, struct cuda_items *fresh, struct err *err)
{
    struct scope scope = { cuda, fresh };

    return expand_list(&scope, fresh->list, fresh->count, 0, err);
}
