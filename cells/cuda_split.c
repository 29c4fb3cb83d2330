/*
 * An item ends at a semicolon outside all brackets, at the brace that closes a
 * function, or with its directive. What it is and which names it defines is read
 * off the words at its top, outside every bracket.
 */
#include "cells/cuda_scan.h"
#include "cells/cuda_source.h"

#include <ctype.h>
#include <stdlib.h>

enum { MAX_NESTED = 16 }; /* #if in #if, namespace in namespace: deeper names are not looked for */

static int split(struct arena *arena, struct bytes source, int first_line, int cell, int depth,
                 struct cuda_items *out, struct err *err);

/* Words before a parenthesis that are attributes, not the function's name. */
static bool is_attribute(struct scan_token t)
{
    static const char *const words[] = {
        "__launch_bounds__", "__align__",   "__attribute__",  "__declspec",       "alignas",
        "decltype",          "__maxnreg__", "__block_size__", "__cluster_dims__", "noexcept",
        "__grid_constant__", "explicit",    "requires",
    };

    for (size_t i = 0; i < COUNT(words); i++)
        if (scan_is_word(t, words[i]))
            return true;
    return false;
}

static bool is_type_keyword(struct scan_token t)
{
    return scan_is_word(t, "struct") || scan_is_word(t, "class") || scan_is_word(t, "union") ||
           scan_is_word(t, "enum");
}

/* What was seen of the declaration that is being read. */
struct reading {
    int parens, braces, squares;
    bool is_function; /* NAME ( at the top */
    bool has_body, has_assign, is_type, is_typedef, is_using, is_namespace, is_block, is_operator,
        is_macro_call;
    bool is_global, is_device, is_const;
    struct scan_token name; /* the best guess so far */
    struct scan_token last; /* at the top */
    const char *body;       /* where { begins, or NULL */
    const char *assign;     /* behind the = at the top, or NULL */
};

static bool is_top(const struct reading *r)
{
    return r->parens == 0 && r->braces == 0 && r->squares == 0;
}

static int add_name(struct arena *arena, struct cuda_item *item, struct bytes name)
{
    char *copy;

    if (name.size == 0 || item->name_count == ITEM_MAX_NAMES)
        return 0;
    copy = arena_copy(arena, name.data, name.size);
    if (!copy)
        return -1;
    item->names[item->name_count++] = copy;
    return 0;
}

/* Takes note of one token at the top of a declaration. 0, or -1 when out of memory. */
static int note_top(struct arena *arena, struct cuda_item *item, struct reading *r,
                    struct scan_token t)
{
    if (t.kind == SCAN_WORD) {
        r->is_global |= scan_is_word(t, "__global__");
        r->is_device |= scan_is_word(t, "__device__") || scan_is_word(t, "__constant__") ||
                        scan_is_word(t, "__managed__") || scan_is_word(t, "__shared__");
        r->is_const |= scan_is_word(t, "constexpr") || scan_is_word(t, "const");
        r->is_typedef |= scan_is_word(t, "typedef");
        r->is_using |= scan_is_word(t, "using");
        r->is_namespace |= scan_is_word(t, "namespace") && !r->is_using;
        if (is_type_keyword(t) && !r->is_function && !r->is_typedef)
            r->is_type = true;
        else if (!r->has_assign && !r->is_function && !(r->is_type && r->has_body))
            r->name = t;
    }
    r->is_operator |= scan_is_word(t, "operator");
    if (scan_is_sign(t, '(') && (r->is_operator || r->last.kind == SCAN_WORD) &&
        !is_attribute(r->last) && !r->is_function && !r->has_assign && !r->is_typedef &&
        !(r->is_type && r->has_body)) {
        r->is_function = true;
        r->is_type = false; /* struct S f(int) */
        r->name = r->last;
    }
    if (scan_is_sign(t, '=') && !r->is_function && !r->has_assign) {
        r->has_assign = true;
        r->assign = t.text.data + 1;
    }
    if (scan_is_sign(t, ',') && !r->is_function && !r->is_type && !r->is_using) {
        r->has_assign = false;
        return add_name(arena, item, r->name.text);
    }
    return 0;
}

static void note_brackets(struct reading *r, struct scan_token t)
{
    if (t.kind != SCAN_SIGN)
        return;
    switch (t.text.data[0]) {
    case '(':
        r->parens++;
        break;
    case ')':
        r->parens -= r->parens > 0;
        break;
    case '[':
        r->squares++;
        break;
    case ']':
        r->squares -= r->squares > 0;
        break;
    case '{':
        r->braces++;
        break;
    case '}':
        r->braces -= r->braces > 0;
        break;
    default:
        break;
    }
}

/* At the { that opens at the top: what is it? */
static void note_open_brace(struct reading *r, struct scan_token t)
{
    if (!r->body)
        r->body = t.text.data;
    r->has_body = true;
    r->is_block |= r->last.kind == SCAN_TEXT || r->is_namespace;
}

/* True when the } at the top ends the declaration: a function's body, extern "C" {}, namespace. */
static bool ends_at_brace(const struct reading *r)
{
    return r->is_block || (r->is_function && !r->has_assign);
}

static enum item_kind kind_of(const struct reading *r, struct bytes text)
{
    struct bytes body;

    if (r->is_block || r->is_using || r->is_macro_call)
        return ITEM_OTHER;
    if (r->is_operator && r->is_function)
        return ITEM_OPERATOR;
    if (r->is_function && !r->has_body)
        return ITEM_PROTOTYPE;
    if (r->is_function && r->is_global)
        return ITEM_KERNEL;
    if (r->is_function) {
        body = (struct bytes){ r->body, (size_t)(text.data + text.size - r->body) };
        if (!r->is_device && memmem(body.data, body.size, "<<<", 3))
            return ITEM_HOST;
        return ITEM_FUNCTION;
    }
    if (r->is_type || r->is_typedef)
        return ITEM_TYPE;
    return r->is_const && !r->is_device ? ITEM_CONSTANT : ITEM_VARIABLE;
}

static struct bytes trimmed(struct bytes b)
{
    while (b.size > 0 && isspace((unsigned char)b.data[0])) {
        b.data++;
        b.size--;
    }
    while (b.size > 0 && isspace((unsigned char)b.data[b.size - 1]))
        b.size--;
    return b;
}

/* One line without its body and with single blanks: for completion and signatures. */
static char *head_of(struct arena *arena, struct bytes text)
{
    char *head = arena_copy(arena, text.data, text.size);
    size_t n = 0;

    for (size_t i = 0; head && i < text.size; i++) {
        if (!isspace((unsigned char)head[i]))
            head[n++] = head[i];
        else if (n > 0 && head[n - 1] != ' ')
            head[n++] = ' ';
    }
    while (head && n > 0 && head[n - 1] == ' ')
        n--;
    if (head)
        head[n] = '\0';
    return head;
}

/* The names that a part of an item defines: its items are split again. */
static int add_inner_names(struct arena *arena, struct cuda_item *item, struct bytes part,
                           int depth, struct err *err)
{
    struct cuda_items inner = { 0 };
    int rc;

    if (depth == MAX_NESTED)
        return 0;
    rc = split(arena, part, 1, 0, depth + 1, &inner, err);
    for (size_t i = 0; rc == 0 && i < inner.count; i++)
        for (size_t k = 0; rc == 0 && k < inner.list[i].name_count; k++)
            rc = add_name(arena, item, bytes_of(inner.list[i].names[k]));
    free(inner.list);
    return rc;
}

/* What stands in the braces of extern "C" { } or a namespace. */
static struct bytes block_of(const struct cuda_item *item, const char *body)
{
    const char *end = item->text.data + item->text.size;

    if (!body || body + 1 >= end)
        return (struct bytes){ "", 0 };
    return (struct bytes){ body + 1, (size_t)(end - body - 2) };
}

/* Fills kind, names, head and value of a declaration whose text is known. */
static int finish_declaration(struct arena *arena, struct cuda_item *item, const struct reading *r,
                              int depth, struct err *err)
{
    const char *end = item->text.data + item->text.size;
    struct bytes head = item->text;

    item->kind = kind_of(r, item->text);
    if (r->body && (r->is_function || r->is_type || r->is_block))
        head.size = (size_t)(r->body - head.data);
    item->head = head_of(arena, trimmed(head));
    if (r->assign && item->kind == ITEM_CONSTANT && item->name_count == 0)
        item->value = trimmed((struct bytes){ r->assign, (size_t)(end - 1 - r->assign) });
    if (!item->head)
        return err_set(err, ERR_ResourceError, "out of memory for the cell's definitions");
    if (item->kind == ITEM_OPERATOR)
        return add_name(arena, item, bytes_of(item->head)) < 0
                   ? err_set(err, ERR_ResourceError, "out of memory for the cell's definitions")
                   : 0;
    if (r->is_block && add_inner_names(arena, item, block_of(item, r->body), depth, err) < 0)
        return -1;
    /* `using namespace x;` is no name; `using real = float;` is. */
    if (r->is_block || r->is_macro_call || (r->is_using && !r->has_assign) ||
        r->name.kind != SCAN_WORD)
        return 0;
    if (r->is_using)
        item->kind = ITEM_TYPE;
    if (add_name(arena, item, r->name.text) < 0)
        return err_set(err, ERR_ResourceError, "out of memory for the cell's definitions");
    return 0;
}

/* `MACRO(x)` without a semicolon looks like a function's head until the next declaration begins. */
static bool begins_another(struct reading *r, struct scan_token t)
{
    static const char *const words[] = { "__global__", "__device__", "__constant__", "template",
                                         "extern",     "struct",     "constexpr" };

    for (size_t i = 0; i < COUNT(words); i++)
        if (r->is_function && !r->has_body && scan_is_sign(r->last, ')') &&
            scan_is_word(t, words[i])) {
            r->is_macro_call = true;
            return true;
        }
    return false;
}

/* Reads one declaration whose first token is given; sets item->text. */
static int read_declaration(struct arena *arena, struct scanner *s, struct scan_token t,
                            struct cuda_item *item, int depth, struct err *err)
{
    struct reading r = { .name = { SCAN_END, { "", 0 } }, .last = { SCAN_END, { "", 0 } } };

    for (; t.kind != SCAN_END; t = scan_next(s)) {
        bool was_top = is_top(&r);

        if (t.kind == SCAN_DIRECTIVE)
            continue;
        if (was_top && begins_another(&r, t)) {
            s->at = t.text.data;
            break;
        }
        if (was_top && scan_is_sign(t, '{'))
            note_open_brace(&r, t);
        else if (was_top && note_top(arena, item, &r, t) < 0)
            return err_set(err, ERR_ResourceError, "out of memory for the cell's definitions");
        note_brackets(&r, t);
        if (is_top(&r) && (scan_is_sign(t, ';') || (scan_is_sign(t, '}') && ends_at_brace(&r))))
            break;
        if (was_top || is_top(&r))
            r.last = t;
    }
    item->text.size = (size_t)(s->at - item->text.data);
    return finish_declaration(arena, item, &r, depth, err);
}

/* The word after # and the blanks behind it. */
static struct bytes directive_word(struct bytes text, struct bytes *rest)
{
    struct scanner s = { text.data + 1, text.data + text.size, false };
    struct scan_token t = scan_next(&s);

    *rest = (struct bytes){ s.at, (size_t)(s.end - s.at) };
    return t.kind == SCAN_WORD ? t.text : (struct bytes){ "", 0 };
}

static int read_define(struct arena *arena, struct cuda_item *item, struct bytes rest)
{
    struct scanner s = { rest.data, rest.data + rest.size, false };
    struct scan_token t = scan_next(&s);
    const char *comment;

    item->kind = ITEM_MACRO;
    if (t.kind != SCAN_WORD)
        return 0;
    if (s.at < s.end && *s.at != '(') { /* a function-like macro has no value */
        item->value = trimmed((struct bytes){ s.at, (size_t)(s.end - s.at) });
        comment = memmem(item->value.data, item->value.size, "//", 2);
        if (comment)
            item->value =
                trimmed((struct bytes){ item->value.data, (size_t)(comment - item->value.data) });
    }
    return add_name(arena, item, t.text);
}

/* if, ifdef, ifndef */
static bool is_if(struct bytes word)
{
    return word.size >= 2 && memcmp(word.data, "if", 2) == 0;
}

/* From #if to its #endif is one item, with the names of everything inside. */
static int read_conditional(struct arena *arena, struct scanner *s, struct cuda_item *item,
                            int depth, struct err *err)
{
    const char *inside = s->at, *inside_end = s->at;
    int open = 1;

    while (open > 0) {
        struct scan_token t = scan_next(s);
        struct bytes rest, word;

        if (t.kind == SCAN_END)
            break;
        if (t.kind != SCAN_DIRECTIVE)
            continue;
        word = directive_word(t.text, &rest);
        open += is_if(word) - bytes_equal(word, "endif");
        inside_end = t.text.data;
    }
    item->text.size = (size_t)(s->at - item->text.data);
    return add_inner_names(arena, item, (struct bytes){ inside, (size_t)(inside_end - inside) },
                           depth, err);
}

static int read_directive(struct arena *arena, struct scanner *s, struct scan_token t,
                          struct cuda_item *item, int depth, struct err *err)
{
    struct bytes rest, word = directive_word(t.text, &rest);

    item->text = t.text;
    item->kind = ITEM_OTHER;
    item->head = head_of(arena, t.text);
    if (!item->head)
        return err_set(err, ERR_ResourceError, "out of memory for the cell's definitions");
    if (bytes_equal(word, "include"))
        item->kind = ITEM_INCLUDE;
    else if (bytes_equal(word, "define"))
        return read_define(arena, item, rest);
    else if (is_if(word))
        return read_conditional(arena, s, item, depth, err);
    return 0;
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

/* Counts lines up to a place; remembers where it was. */
struct position {
    const char *at, *line_start;
    int line;
};

static void advance(struct position *p, const char *to)
{
    for (; p->at < to; p->at++)
        if (*p->at == '\n') {
            p->line++;
            p->line_start = p->at + 1;
        }
}

static int split(struct arena *arena, struct bytes source, int first_line, int cell, int depth,
                 struct cuda_items *out, struct err *err)
{
    char *copy = arena_copy(arena, source.data, source.size);
    struct scanner s = { copy, copy ? copy + source.size : copy, true };
    struct position p = { copy, copy, first_line };
    struct scan_token t;

    if (!copy)
        return err_set(err, ERR_ResourceError, "out of memory for the cell's source");
    while ((t = scan_next(&s)).kind != SCAN_END) {
        struct cuda_item *item;
        int rc;

        if (scan_is_sign(t, ';'))
            continue;
        item = add_item(out);
        if (!item)
            return err_set(err, ERR_ResourceError, "out of memory for the cell's definitions");
        advance(&p, t.text.data);
        item->text = t.text;
        item->line = p.line;
        item->column = (int)(t.text.data - p.line_start) + 1;
        item->cell = cell;
        item->arena = arena;
        rc = t.kind == SCAN_DIRECTIVE ? read_directive(arena, &s, t, item, depth, err)
                                      : read_declaration(arena, &s, t, item, depth, err);
        if (rc < 0)
            return -1;
    }
    return 0;
}

int cuda_split(struct arena *arena, struct bytes source, int first_line, int cell,
               struct cuda_items *out, struct err *err)
{
    return split(arena, source, first_line, cell, 0, out, err);
}
