/*
 * A cell's text, cut at its top level. What stands in the braces of a namespace or
 * of extern "C" is cut further, each piece remembering what it stood in, so that a
 * cell can use one function of a namespace without the rest. A block of #if is one
 * piece with the names of everything inside: which branch holds, the compiler knows.
 */
#include "cells/cuda_scan.h"
#include "cells/cuda_source.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    MAX_NESTED = 16,     /* #if in #if, namespace in namespace: deeper names are not looked for */
    MAX_NAMES = 1 << 16, /* of one item */
};

/* Where a stretch of text stands. */
struct place {
    struct arena *arena;
    const char *open, *close; /* "namespace m {\n" */
    const char *scope;        /* "m::" */
    int cell, depth;
};

/* Counts lines up to a place; remembers where it was. */
struct position {
    const char *at, *line_start;
    int line;
};

static int split(const struct place *place, struct bytes text, struct position *p,
                 struct cuda_items *out, struct err *err);

static int no_memory(struct err *err)
{
    return err_set(err, ERR_ResourceError, "out of memory for the cell's definitions");
}

int cuda_item_add_name(struct cuda_item *item, struct item_name name, struct bytes text,
                       struct err *err)
{
    if (text.size == 0 || item->name_count == MAX_NAMES)
        return 0;
    if (item->name_count == item->name_capacity) {
        size_t capacity = item->name_capacity ? item->name_capacity * 2 : 2;
        struct item_name *list = arena_array(item->arena, capacity, sizeof(*list));

        if (!list)
            return no_memory(err);
        if (item->name_count > 0)
            memcpy(list, item->names, item->name_count * sizeof(*list));
        item->names = list;
        item->name_capacity = capacity;
    }
    name.name = arena_copy(item->arena, text.data, text.size);
    if (!name.name)
        return no_memory(err);
    name.hash = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < text.size; i++)
        name.hash = (name.hash ^ (unsigned char)text.data[i]) * 16777619u;
    item->names[item->name_count++] = name;
    return 0;
}

static void advance(struct position *p, const char *to)
{
    for (; p->at < to; p->at++)
        if (*p->at == '\n') {
            p->line++;
            p->line_start = p->at + 1;
        }
}

static struct cuda_item *add_item(struct cuda_items *items)
{
    if (items->count == items->capacity) {
        size_t capacity = items->capacity ? items->capacity * 2 : 16;
        struct cuda_item *list = realloc(items->list, capacity * sizeof(*list));

        if (!list)
            return NULL;
        items->list = list;
        items->capacity = capacity;
    }
    items->list[items->count] = (struct cuda_item){ .kind = ITEM_OTHER };
    return &items->list[items->count++];
}

/* ---- directives ---- */

/* The word after # and the blanks behind it. */
static struct bytes directive_word(struct bytes text, struct bytes *rest)
{
    struct scanner s = { text.data + 1, text.data + text.size, false };
    struct scan_token t = scan_next(&s);

    *rest = (struct bytes){ s.at, (size_t)(s.end - s.at) };
    return t.kind == SCAN_WORD || t.kind == SCAN_NUMBER ? t.text : (struct bytes){ "", 0 };
}

static struct bytes without_comment(struct bytes text)
{
    const char *comment = memmem(text.data, text.size, "//", 2);
    const char *other = memmem(text.data, text.size, "/*", 2);

    if (comment)
        text.size = (size_t)(comment - text.data);
    if (other && (!comment || other < comment))
        text.size = (size_t)(other - text.data);
    return scan_trimmed(text);
}

static int read_define(struct cuda_item *item, enum item_kind kind, struct bytes rest,
                       struct err *err)
{
    struct scanner s = { rest.data, rest.data + rest.size, false };
    struct scan_token t = scan_next(&s);

    item->kind = kind;
    if (t.kind != SCAN_WORD)
        return 0;
    if (kind == ITEM_MACRO && s.at < s.end && *s.at != '(') /* one with parameters has no value */
        item->value = without_comment((struct bytes){ s.at, (size_t)(s.end - s.at) });
    return cuda_item_add_name(item, (struct item_name){ .scope = "", .kind = kind }, t.text, err);
}

/* if, ifdef, ifndef */
static bool is_if(struct bytes word)
{
    return word.size >= 2 && memcmp(word.data, "if", 2) == 0;
}

static bool is_else(struct bytes word)
{
    return bytes_equal(word, "else") || bytes_equal(word, "elif") || bytes_equal(word, "elifdef") ||
           bytes_equal(word, "elifndef");
}

/* A list outlives its cutting in the arena. */
static int keep_inner(struct cuda_item *item, const struct cuda_items *items, struct err *err)
{
    item->inner = arena_array(item->arena, items->count, sizeof(*item->inner));
    if (!item->inner)
        return no_memory(err);
    if (items->count > 0)
        memcpy(item->inner, items->list, items->count * sizeof(*items->list));
    item->inner_count = items->count;
    return cuda_item_take_names(item, err);
}

int cuda_item_take_names(struct cuda_item *item, struct err *err)
{
    item->name_count = 0;
    for (size_t i = 0; i < item->inner_count; i++) {
        const struct cuda_item *inner = &item->inner[i];

        for (size_t k = 0; k < inner->name_count; k++) {
            struct item_name name = inner->names[k];

            if (!name.head)
                name.head = inner->head;
            if (name.kind != ITEM_UNDEF && name.kind != ITEM_HOST &&
                cuda_item_add_name(item, name, bytes_of(name.name), err) < 0)
                return -1;
        }
    }
    return 0;
}

/* A part of an item is cut like a cell: what is in it, and the names that the item defines. */
static int split_inner(const struct place *place, struct cuda_item *item, struct bytes part,
                       struct position p, struct err *err)
{
    struct place inner = *place;
    struct cuda_items items = { 0 };
    int rc;

    if (place->depth == MAX_NESTED)
        return 0;
    inner.depth++;
    advance(&p, part.data);
    rc = split(&inner, part, &p, &items, err);
    if (rc == 0)
        rc = keep_inner(item, &items, err);
    free(items.list);
    return rc;
}

/*
 * From #if to its #endif is one item, with the names of everything inside, those behind #if 0 left
 * out. Where the first branch leaves a brace open (two heads of one function), the rest of that
 * function belongs to it.
 */
static int read_conditional(const struct place *place, struct scanner *s, struct bytes condition,
                            const struct position *p, struct cuda_item *item, struct err *err)
{
    const char *inside = s->at;
    bool is_dead = bytes_equal(without_comment(condition), "0");
    bool is_first = true; /* in the first branch of the outermost #if */
    int open = 1, braces = 0;

    while (open > 0 || braces > 0) {
        struct scan_token t = scan_next(s);
        struct bytes rest, word;

        if (t.kind == SCAN_END)
            break;
        if (open == 0 || is_first)
            braces += scan_is_sign(t, '{') - scan_is_sign(t, '}');
        if (t.kind != SCAN_DIRECTIVE)
            continue;
        word = directive_word(t.text, &rest);
        if (open == 1 && is_else(word)) {
            is_first = false;
            if (is_dead)
                inside = s->at;
            is_dead = false;
        }
        open += is_if(word) - bytes_equal(word, "endif");
    }
    item->text.size = (size_t)(s->at - item->text.data);
    if (is_dead)
        return 0;
    return split_inner(place, item, (struct bytes){ inside, (size_t)(s->at - inside) }, *p, err);
}

static int read_directive(const struct place *place, struct scanner *s, struct scan_token t,
                          const struct position *p, struct cuda_item *item, struct err *err)
{
    struct bytes rest, word = directive_word(t.text, &rest);

    item->text = t.text;
    item->kind = ITEM_OTHER;
    item->head = cuda_one_line(place->arena, t.text);
    if (!item->head)
        return no_memory(err);
    if (bytes_equal(word, "include"))
        item->kind = ITEM_INCLUDE;
    else if (bytes_equal(word, "define"))
        return read_define(item, ITEM_MACRO, rest, err);
    else if (bytes_equal(word, "undef"))
        return read_define(item, ITEM_UNDEF, rest, err);
    else if (is_if(word))
        return read_conditional(place, s, rest, p, item, err);
    else if (!bytes_equal(word, "pragma") || bytes_equal(scan_trimmed(rest), "once"))
        item->kind = ITEM_ONCE; /* #warning, #error; #pragma once means nothing here */
    return 0;
}

/* ---- guards ---- */

/* Conditions that always hold here, and need no judgement of the compiler's. */
static bool is_always_true(struct bytes word, struct bytes rest)
{
    static const char *const defined[] = { "__CUDACC__", "__cplusplus", "__NVCC__",
                                           "defined(__CUDACC__)", "defined(__cplusplus)" };

    if (bytes_equal(word, "if") && bytes_equal(rest, "1"))
        return true;
    for (size_t i = 0; i < COUNT(defined); i++)
        if (bytes_equal(rest, defined[i]))
            return bytes_equal(word, memchr(defined[i], '(', strlen(defined[i])) ? "if" : "ifdef");
    return false;
}

/* #ifndef X and #define X right behind it: a header that was pasted as a whole. */
static bool is_guard(const struct scanner *s, struct bytes word, struct bytes name)
{
    struct scanner ahead = *s;
    struct scan_token t = scan_next(&ahead);
    struct bytes rest;

    if (!bytes_equal(word, "ifndef") || t.kind != SCAN_DIRECTIVE ||
        !bytes_equal(directive_word(t.text, &rest), "define"))
        return false;
    rest = without_comment(rest);
    return rest.size == name.size && memcmp(rest.data, name.data, name.size) == 0;
}

/*
 * What stands between such a line and its #endif is cut like the rest of the cell, as if neither
 * were there. 1: done; 0: it is an ordinary #if (it has an #else, or a brace stays open); -1.
 */
static int split_guarded(const struct place *place, struct scanner *s, struct scan_token t,
                         struct position *p, struct cuda_items *out, struct err *err)
{
    struct bytes rest, word = directive_word(t.text, &rest);
    struct scanner ahead = *s;
    struct bytes inside = { s->at, 0 };
    struct place inner = *place;
    int open = 1, braces = 0;

    rest = without_comment(rest);
    if (place->depth == MAX_NESTED || !is_if(word) ||
        !(is_always_true(word, rest) || is_guard(s, word, rest)))
        return 0;
    while (open > 0) {
        struct bytes unused;

        t = scan_next(&ahead);
        if (t.kind == SCAN_END)
            return 0;
        braces += scan_is_sign(t, '{') - scan_is_sign(t, '}');
        if (t.kind != SCAN_DIRECTIVE)
            continue;
        word = directive_word(t.text, &unused);
        if (open == 1 && is_else(word))
            return 0;
        open += is_if(word) - bytes_equal(word, "endif");
    }
    if (braces != 0)
        return 0;
    inside.size = (size_t)(t.text.data - inside.data);
    inner.depth++;
    if (split(&inner, inside, p, out, err) < 0)
        return -1;
    *s = ahead;
    return 1;
}

/* ---- blocks ---- */

/*
 * `namespace a::b {` or `extern "C" {` at a token: moves the scanner behind the brace and gives the
 * namespace's name. False when it is none, and the scanner stays.
 */
static bool opens_block(struct scanner *s, struct scan_token t, struct bytes *name)
{
    struct scanner ahead = *s;
    bool is_namespace;

    if (scan_is_word(t, "inline"))
        t = scan_next(&ahead);
    is_namespace = scan_is_word(t, "namespace");
    *name = (struct bytes){ "", 0 };
    if (!is_namespace && !scan_is_word(t, "extern"))
        return false;
    t = scan_next(&ahead);
    if (!is_namespace) {
        if (t.kind != SCAN_TEXT)
            return false;
        t = scan_next(&ahead);
    } else {
        const char *from = t.text.data;

        while (t.kind == SCAN_WORD || scan_is_sign(t, ':')) {
            name->data = from;
            name->size = (size_t)(t.text.data + t.text.size - from);
            t = scan_next(&ahead);
        }
    }
    if (!scan_is_sign(t, '{'))
        return false;
    *s = ahead;
    return true;
}

/* The brace that closes a block; NULL when there is none. Moves the scanner behind it. */
static const char *find_close(struct scanner *s)
{
    struct scanner ahead = *s;
    int braces = 1;

    for (;;) {
        struct scan_token t = scan_next(&ahead);

        if (t.kind == SCAN_END)
            return NULL;
        braces += scan_is_sign(t, '{') - scan_is_sign(t, '}');
        if (braces == 0) {
            *s = ahead;
            return t.text.data;
        }
    }
}

/* What stands inside a block, as items of their own. 1: there was a block; 0: none; -1: failed. */
static int split_block(const struct place *place, struct scanner *s, struct scan_token t,
                       struct position *p, struct cuda_items *out, struct err *err)
{
    struct scanner inside = *s, behind;
    struct place inner = *place;
    struct bytes name;
    const char *close;

    if (place->depth == MAX_NESTED || !opens_block(&inside, t, &name))
        return 0;
    behind = inside;
    close = find_close(&behind);
    if (!close)
        return 0;
    inner.depth++;
    inner.open = arena_printf(place->arena, "%s%.*s\n", place->open, (int)(inside.at - t.text.data),
                              t.text.data);
    inner.close = arena_printf(place->arena, "}\n%s", place->close);
    inner.scope =
        name.size ? arena_printf(place->arena, "%s%.*s::", place->scope, (int)name.size, name.data)
                  : place->scope;
    if (!inner.open || !inner.close || !inner.scope)
        return no_memory(err);
    if (split(&inner, (struct bytes){ inside.at, (size_t)(close - inside.at) }, p, out, err) < 0)
        return -1;
    *s = behind;
    return 1;
}

/* A block that is cut no further (too deep, or never closed) has no names. */
static int read_whole_block(struct scanner *s, struct scan_token t, struct cuda_item *item,
                            struct err *err)
{
    struct bytes name;

    if (!opens_block(s, t, &name))
        return 0;
    if (!find_close(s))
        s->at = s->end;
    item->text.size = (size_t)(s->at - item->text.data);
    item->head = cuda_one_line(item->arena, t.text);
    return item->head ? 1 : no_memory(err);
}

static int read_item(const struct place *place, struct scanner *s, struct scan_token t,
                     const struct position *p, struct cuda_item *item, struct err *err)
{
    int rc = read_whole_block(s, t, item, err);

    if (rc != 0)
        return rc < 0 ? -1 : 0;
    if (t.kind == SCAN_DIRECTIVE)
        return read_directive(place, s, t, p, item, err);
    return cuda_read_declaration(s, t, place->scope, item, err);
}

static int split(const struct place *place, struct bytes text, struct position *p,
                 struct cuda_items *out, struct err *err)
{
    struct scanner s = { text.data, text.data + text.size, true };
    struct scan_token t;

    while ((t = scan_next(&s)).kind != SCAN_END) {
        struct cuda_item *item;
        int rc;

        if (scan_is_sign(t, ';'))
            continue;
        rc = t.kind == SCAN_DIRECTIVE ? split_guarded(place, &s, t, p, out, err)
                                      : split_block(place, &s, t, p, out, err);
        if (rc < 0)
            return -1;
        if (rc > 0)
            continue;
        item = add_item(out);
        if (!item)
            return no_memory(err);
        advance(p, t.text.data);
        item->text = t.text;
        item->line = p->line;
        item->column = (int)(t.text.data - p->line_start) + 1;
        item->cell = place->cell;
        item->arena = place->arena;
        item->open = place->open;
        item->close = place->close;
        if (read_item(place, &s, t, p, item, err) < 0)
            return -1;
    }
    return 0;
}

/* ---- the text ---- */

/* The mark that editors of Windows put before a text in UTF-8. */
static void blank_byte_order_mark(char *text, size_t size)
{
    if (size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        memset(text, ' ', 3);
}

/* Line ends of Windows go: a backslash before one continues its line too. */
static size_t drop_carriage_returns(char *text, size_t size)
{
    size_t n = 0;

    for (size_t i = 0; i < size; i++)
        if (text[i] != '\r' || i + 1 >= size || text[i + 1] != '\n')
            text[n++] = text[i];
    return n;
}

/* Messages must point at the cell, whatever a #line says. */
static void blank_line_directives(char *text, size_t size)
{
    struct scanner s = { text, text + size, true };
    struct scan_token t;

    while ((t = scan_next(&s)).kind != SCAN_END) {
        struct bytes rest, word;

        if (t.kind != SCAN_DIRECTIVE)
            continue;
        word = directive_word(t.text, &rest);
        if (!bytes_equal(word, "line") && !(word.size && isdigit((unsigned char)word.data[0])))
            continue;
        for (size_t i = 0; i < t.text.size; i++)
            if (t.text.data[i] != '\n')
                text[t.text.data - text + (ptrdiff_t)i] = ' ';
    }
}

/* `[=] __device__ (int v)`: NVRTC refuses the mark, which nvcc wants; a kernel's lambda needs none.
 */
static void blank_marks_of_lambdas(char *text, size_t size)
{
    struct scanner s = { text, text + size, true };
    struct scan_token t = scan_next(&s), before = t;

    for (; t.kind != SCAN_END; before = t, t = scan_next(&s)) {
        const char *from = t.text.data, *to = from;

        if (!scan_is_sign(before, ']'))
            continue;
        while (scan_is_word(t, "__device__") || scan_is_word(t, "__host__")) {
            to = t.text.data + t.text.size;
            t = scan_next(&s);
        }
        if (scan_is_sign(t, '(') || scan_is_sign(t, '{'))
            memset(text + (from - text), ' ', (size_t)(to - from));
    }
}

int cuda_split(struct arena *arena, struct bytes source, int first_line, int cell,
               struct cuda_items *out, struct err *err)
{
    struct place place = { .arena = arena, .open = "", .close = "", .scope = "", .cell = cell };
    char *copy = arena_copy(arena, source.data, source.size);
    struct position p = { copy, copy, first_line };
    size_t size;

    if (!copy)
        return err_set(err, ERR_ResourceError, "out of memory for the cell's source");
    size = drop_carriage_returns(copy, source.size);
    copy[size] = '\0';
    blank_byte_order_mark(copy, size);
    blank_line_directives(copy, size);
    blank_marks_of_lambdas(copy, size);
    return split(&place, (struct bytes){ copy, size }, &p, out, err);
}

int cuda_split_members(const struct cuda_item *item, struct cuda_items *out, struct err *err)
{
    struct place place = { .arena = item->arena,
                           .open = "",
                           .close = "",
                           .scope = "",
                           .cell = item->cell,
                           .depth = MAX_NESTED };
    struct position p = { item->text.data, item->text.data, item->line };
    struct scanner s = { item->text.data, item->text.data + item->text.size, true }, inside;
    struct scan_token t;
    const char *close;

    do
        t = scan_next(&s);
    while (t.kind != SCAN_END && !scan_is_sign(t, '{'));
    inside = s;
    close = find_close(&s);
    if (!close)
        return 0;
    return split(&place, (struct bytes){ inside.at, (size_t)(close - inside.at) }, &p, out, err);
}
