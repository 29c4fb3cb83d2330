/*
 * One scanner knows comments, strings and directives; everything else asks it for
 * the next token. An item ends at a semicolon outside all brackets, at the brace
 * that closes a function, or with its directive.
 */
#include "cells/cuda_source.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

enum token_kind {
    TOKEN_END,
    TOKEN_WORD,
    TOKEN_NUMBER,
    TOKEN_TEXT,      /* a string or character literal */
    TOKEN_DIRECTIVE, /* from # to the end of its last line */
    TOKEN_SIGN,      /* one character */
};

struct token {
    enum token_kind kind;
    struct bytes text;
};

struct scanner {
    const char *at, *end;
    bool is_line_start; /* only blanks since the line began: a # is a directive */
};

static bool starts(const struct scanner *s, const char *word)
{
    size_t n = strlen(word);

    return (size_t)(s->end - s->at) >= n && memcmp(s->at, word, n) == 0;
}

static void skip_to(struct scanner *s, const char *word)
{
    while (s->at < s->end && !starts(s, word))
        s->at++;
    s->at += (size_t)(s->end - s->at) < strlen(word) ? s->end - s->at : (ptrdiff_t)strlen(word);
}

/* Blanks and comments. A comment does not end the start of a line. */
static void skip_blanks(struct scanner *s)
{
    while (s->at < s->end) {
        if (*s->at == '\n') {
            s->is_line_start = true;
            s->at++;
        } else if (isspace((unsigned char)*s->at)) {
            s->at++;
        } else if (starts(s, "//")) {
            while (s->at < s->end && *s->at != '\n')
                s->at++;
        } else if (starts(s, "/*")) {
            s->at += 2;
            skip_to(s, "*/");
        } else {
            return;
        }
    }
}

static void skip_quoted(struct scanner *s, char quote)
{
    s->at++;
    while (s->at < s->end && *s->at != quote && *s->at != '\n')
        s->at += *s->at == '\\' && s->end - s->at > 1 ? 2 : 1;
    if (s->at < s->end && *s->at == quote)
        s->at++;
}

/* R"tag( ... )tag" */
static void skip_raw(struct scanner *s)
{
    char close[24];
    const char *open = memchr(s->at, '(', (size_t)(s->end - s->at));
    size_t tag = open ? (size_t)(open - s->at - 2) : 99;

    if (tag > 16) {
        skip_quoted(s, '"');
        return;
    }
    snprintf(close, sizeof(close), ")%.*s\"", (int)tag, s->at + 2);
    skip_to(s, close);
}

static void skip_directive(struct scanner *s)
{
    while (s->at < s->end && *s->at != '\n') {
        if (starts(s, "/*")) {
            s->at += 2;
            skip_to(s, "*/");
        } else if (starts(s, "//")) {
            while (s->at < s->end && *s->at != '\n')
                s->at++;
        } else {
            s->at += *s->at == '\\' && s->end - s->at > 1 ? 2 : 1;
        }
    }
}

static struct token next_token(struct scanner *s)
{
    struct token t = { TOKEN_END, { s->end, 0 } };
    bool is_line_start;
    const char *from;

    skip_blanks(s);
    if (s->at >= s->end)
        return t;
    from = s->at;
    is_line_start = s->is_line_start;
    s->is_line_start = false;
    if (*from == '#' && is_line_start) {
        t.kind = TOKEN_DIRECTIVE;
        skip_directive(s);
    } else if (starts(s, "R\"")) {
        t.kind = TOKEN_TEXT;
        skip_raw(s);
    } else if (*from == '"' || *from == '\'') {
        t.kind = TOKEN_TEXT;
        skip_quoted(s, *from);
    } else if (isalpha((unsigned char)*from) || *from == '_' || (*from & 0x80)) {
        t.kind = TOKEN_WORD;
        while (s->at < s->end &&
               (isalnum((unsigned char)*s->at) || *s->at == '_' || (*s->at & 0x80)))
            s->at++;
    } else if (isdigit((unsigned char)*from)) {
        t.kind = TOKEN_NUMBER;
        while (s->at < s->end &&
               (isalnum((unsigned char)*s->at) || *s->at == '.' ||
                (*s->at == '\'' && s->end - s->at > 1 && isalnum((unsigned char)s->at[1]))))
            s->at++;
    } else {
        t.kind = TOKEN_SIGN;
        s->at++;
    }
    t.text = (struct bytes){ from, (size_t)(s->at - from) };
    return t;
}

static bool is_sign(struct token t, char c)
{
    return t.kind == TOKEN_SIGN && t.text.data[0] == c;
}

static bool is_word(struct token t, const char *word)
{
    return t.kind == TOKEN_WORD && bytes_equal(t.text, word);
}

/* Words before a parenthesis that are attributes, not the function's name. */
static bool is_attribute(struct token t)
{
    static const char *const words[] = {
        "__launch_bounds__", "__align__",   "__attribute__",  "__declspec",       "alignas",
        "decltype",          "__maxnreg__", "__block_size__", "__cluster_dims__", "noexcept",
        "__grid_constant__", "explicit",    "requires",
    };

    for (size_t i = 0; i < COUNT(words); i++)
        if (is_word(t, words[i]))
            return true;
    return false;
}

static bool is_type_keyword(struct token t)
{
    return is_word(t, "struct") || is_word(t, "class") || is_word(t, "union") || is_word(t, "enum");
}

/* What was seen of the declaration that is being read. */
struct reading {
    int parens, braces, squares;
    bool is_function; /* NAME ( at the top */
    bool has_body, has_assign, is_type, is_typedef, is_using, is_namespace, is_block, is_operator,
        is_macro_call;
    bool is_global, is_device, is_const;
    struct token name;  /* the best guess so far */
    struct token last;  /* at the top */
    const char *body;   /* where { begins, or NULL */
    const char *assign; /* behind the = at the top, or NULL */
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
static int note_top(struct arena *arena, struct cuda_item *item, struct reading *r, struct token t)
{
    if (t.kind == TOKEN_WORD) {
        r->is_global |= is_word(t, "__global__");
        r->is_device |= is_word(t, "__device__") || is_word(t, "__constant__") ||
                        is_word(t, "__managed__") || is_word(t, "__shared__");
        r->is_const |= is_word(t, "constexpr") || is_word(t, "const");
        r->is_typedef |= is_word(t, "typedef");
        r->is_using |= is_word(t, "using");
        r->is_namespace |= is_word(t, "namespace") && !r->is_using;
        if (is_type_keyword(t) && !r->is_function && !r->is_typedef)
            r->is_type = true;
        else if (!r->has_assign && !r->is_function && !(r->is_type && r->has_body))
            r->name = t;
    }
    r->is_operator |= is_word(t, "operator");
    if (is_sign(t, '(') && (r->is_operator || r->last.kind == TOKEN_WORD) &&
        !is_attribute(r->last) && !r->is_function && !r->has_assign && !r->is_typedef &&
        !(r->is_type && r->has_body)) {
        r->is_function = true;
        r->is_type = false; /* struct S f(int) */
        r->name = r->last;
    }
    if (is_sign(t, '=') && !r->is_function && !r->has_assign) {
        r->has_assign = true;
        r->assign = t.text.data + 1;
    }
    if (is_sign(t, ',') && !r->is_function && !r->is_type && !r->is_using) {
        r->has_assign = false;
        return add_name(arena, item, r->name.text);
    }
    return 0;
}

static void note_brackets(struct reading *r, struct token t)
{
    if (t.kind != TOKEN_SIGN)
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
static void note_open_brace(struct reading *r, struct token t)
{
    if (!r->body)
        r->body = t.text.data;
    r->has_body = true;
    r->is_block |= r->last.kind == TOKEN_TEXT || r->is_namespace;
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

/* Names defined inside extern "C" { } or a namespace: its items are split again. */
static int add_inner_names(struct arena *arena, struct cuda_item *item, const char *body,
                           struct err *err)
{
    const char *end = item->text.data + item->text.size;
    struct cuda_items inner = { 0 };
    int rc;

    if (!body || body + 1 >= end)
        return 0;
    rc = cuda_split(arena, (struct bytes){ body + 1, (size_t)(end - body - 2) }, 1, 0, &inner, err);
    for (size_t i = 0; rc == 0 && i < inner.count; i++)
        for (size_t k = 0; rc == 0 && k < inner.list[i].name_count; k++)
            rc = add_name(arena, item, bytes_of(inner.list[i].names[k]));
    free(inner.list);
    return rc;
}

/* Fills kind, names, head and value of a declaration that ends at `end`. */
static int finish_declaration(struct arena *arena, struct cuda_item *item, const struct reading *r,
                              struct err *err)
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
    if (r->is_block && add_inner_names(arena, item, r->body, err) < 0)
        return -1;
    /* `using namespace x;` is no name; `using real = float;` is. */
    if (r->is_block || r->is_macro_call || (r->is_using && !r->has_assign) ||
        r->name.kind != TOKEN_WORD)
        return 0;
    if (r->is_using)
        item->kind = ITEM_TYPE;
    if (add_name(arena, item, r->name.text) < 0)
        return err_set(err, ERR_ResourceError, "out of memory for the cell's definitions");
    return 0;
}

/* `MACRO(x)` without a semicolon looks like a function's head until the next declaration begins. */
static bool begins_another(struct reading *r, struct token t)
{
    static const char *const words[] = { "__global__", "__device__", "__constant__", "template",
                                         "extern",     "struct",     "constexpr" };

    for (size_t i = 0; i < COUNT(words); i++)
        if (r->is_function && !r->has_body && is_sign(r->last, ')') && is_word(t, words[i])) {
            r->is_macro_call = true;
            return true;
        }
    return false;
}

/* Reads one declaration whose first token is given; sets item->text. */
static int read_declaration(struct arena *arena, struct scanner *s, struct token t,
                            struct cuda_item *item, struct err *err)
{
    struct reading r = { .name = { TOKEN_END, { "", 0 } }, .last = { TOKEN_END, { "", 0 } } };

    for (; t.kind != TOKEN_END; t = next_token(s)) {
        bool was_top = is_top(&r);

        if (t.kind == TOKEN_DIRECTIVE)
            continue;
        if (was_top && begins_another(&r, t)) {
            s->at = t.text.data;
            break;
        }
        if (was_top && is_sign(t, '{'))
            note_open_brace(&r, t);
        else if (was_top && note_top(arena, item, &r, t) < 0)
            return err_set(err, ERR_ResourceError, "out of memory for the cell's definitions");
        note_brackets(&r, t);
        if (is_top(&r) && (is_sign(t, ';') || (is_sign(t, '}') && ends_at_brace(&r))))
            break;
        if (was_top || is_top(&r))
            r.last = t;
    }
    item->text.size = (size_t)(s->at - item->text.data);
    return finish_declaration(arena, item, &r, err);
}

/* The word after # and the blanks behind it. */
static struct bytes directive_word(struct bytes text, struct bytes *rest)
{
    struct scanner s = { text.data + 1, text.data + text.size, false };
    struct token t = next_token(&s);

    *rest = (struct bytes){ s.at, (size_t)(s.end - s.at) };
    return t.kind == TOKEN_WORD ? t.text : (struct bytes){ "", 0 };
}

static int read_define(struct arena *arena, struct cuda_item *item, struct bytes rest)
{
    struct scanner s = { rest.data, rest.data + rest.size, false };
    struct token t = next_token(&s);
    const char *comment;

    item->kind = ITEM_MACRO;
    if (t.kind != TOKEN_WORD)
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

/* From #if to its #endif is one item, with the names of everything inside. */
static int read_conditional(struct arena *arena, struct scanner *s, struct cuda_item *item,
                            struct err *err)
{
    const char *inside = s->at, *inside_end = s->at;
    struct cuda_items inner = { 0 };
    struct bytes rest;
    int depth = 1, rc;

    while (depth > 0) {
        struct token t = next_token(s);

        if (t.kind == TOKEN_END)
            break;
        if (t.kind != TOKEN_DIRECTIVE)
            continue;
        if (strncmp(directive_word(t.text, &rest).data, "if", 2) == 0)
            depth++;
        else if (bytes_equal(directive_word(t.text, &rest), "endif"))
            depth--;
        inside_end = t.text.data;
    }
    item->kind = ITEM_OTHER;
    item->text.size = (size_t)(s->at - item->text.data);
    rc = cuda_split(arena, (struct bytes){ inside, (size_t)(inside_end - inside) }, 1, 0, &inner,
                    err);
    for (size_t i = 0; rc == 0 && i < inner.count; i++)
        for (size_t k = 0; rc == 0 && k < inner.list[i].name_count; k++)
            rc = add_name(arena, item, bytes_of(inner.list[i].names[k]));
    free(inner.list);
    return rc;
}

static int read_directive(struct arena *arena, struct scanner *s, struct token t,
                          struct cuda_item *item, struct err *err)
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
    else if (word.size >= 2 && memcmp(word.data, "if", 2) == 0)
        return read_conditional(arena, s, item, err);
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

int cuda_split(struct arena *arena, struct bytes source, int first_line, int cell,
               struct cuda_items *out, struct err *err)
{
    char *copy = arena_copy(arena, source.data, source.size);
    struct scanner s = { copy, copy ? copy + source.size : copy, true };
    struct position p = { copy, copy, first_line };
    struct token t;

    if (!copy)
        return err_set(err, ERR_ResourceError, "out of memory for the cell's source");
    while ((t = next_token(&s)).kind != TOKEN_END) {
        struct cuda_item *item;
        int rc;

        if (is_sign(t, ';'))
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
        rc = t.kind == TOKEN_DIRECTIVE ? read_directive(arena, &s, t, item, err)
                                       : read_declaration(arena, &s, t, item, err);
        if (rc < 0)
            return -1;
    }
    return 0;
}

/* The next identifier of a text, directives included; false at its end. */
static bool next_identifier(struct scanner *s, struct scanner *directive, struct bytes *out)
{
    for (;;) {
        struct scanner *from = directive->at < directive->end ? directive : s;
        struct token t = next_token(from);

        if (t.kind == TOKEN_WORD) {
            *out = t.text;
            return true;
        }
        if (t.kind == TOKEN_DIRECTIVE)
            *directive = (struct scanner){ t.text.data + 1, t.text.data + t.text.size, false };
        else if (t.kind == TOKEN_END && from == s)
            return false;
    }
}

bool cuda_uses(struct bytes text, const char *name)
{
    struct scanner s = { text.data, text.data + text.size, true };
    struct scanner directive = { text.data, text.data, false };
    struct bytes word;

    while (next_identifier(&s, &directive, &word))
        if (bytes_equal(word, name))
            return true;
    return false;
}

/* One name and an item that defines it; sorted by name, then by item. */
struct provider {
    const char *name;
    size_t item;
};

struct composition {
    const struct cuda_items *items;
    struct provider *index;
    size_t index_count;
    bool *is_needed, *is_written;
    bool is_plain; /* no #line */
    struct buf *out;
};

static int compare_providers(const void *a, const void *b)
{
    const struct provider *p = a, *q = b;
    int order = strcmp(p->name, q->name);

    return order ? order : (p->item > q->item) - (p->item < q->item);
}

/* Where the entries of a word begin in the index, or would. */
static size_t lower_bound(const struct composition *c, struct bytes word)
{
    size_t low = 0, high = c->index_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (strncmp(c->index[middle].name, word.data, word.size) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Calls each for every item that defines an identifier which this item uses. */
static void each_provider(struct composition *c, size_t user,
                          void (*each)(struct composition *, size_t user, size_t provider))
{
    struct bytes text = c->items->list[user].text, word;
    struct scanner s = { text.data, text.data + text.size, true };
    struct scanner directive = { text.data, text.data, false };

    while (next_identifier(&s, &directive, &word))
        for (size_t i = lower_bound(c, word);
             i < c->index_count && strncmp(c->index[i].name, word.data, word.size) == 0; i++)
            if (c->index[i].item != user && strlen(c->index[i].name) == word.size)
                each(c, user, c->index[i].item);
}

static void need(struct composition *c, size_t user, size_t item)
{
    (void)user;
    if (c->is_needed[item])
        return;
    c->is_needed[item] = true;
    each_provider(c, item, need);
}

static void write_item(struct composition *c, size_t i);

/* A later item of the same cell was not visible to this one when it was written. */
static void write_provider(struct composition *c, size_t user, size_t provider)
{
    bool is_later = c->items->list[provider].cell == c->items->list[user].cell && provider > user;

    if (!is_later)
        write_item(c, provider);
}

static void write_item(struct composition *c, size_t i)
{
    const struct cuda_item *item = &c->items->list[i];

    if (c->is_written[i] || !c->is_needed[i])
        return;
    c->is_written[i] = true;
    each_provider(c, i, write_provider);
    if (c->is_plain) {
        if (c->out->size > 0)
            buf_putc(c->out, '\n');
    } else {
        buf_printf(c->out, "#line %d \"In[%d]\"\n", item->line, item->cell);
        buf_fill(c->out, ' ', (size_t)item->column - 1); /* the caret's column is the cell's */
    }
    buf_put(c->out, item->text.data, item->text.size);
    buf_putc(c->out, '\n');
}

static bool is_always_needed(const struct cuda_item *item)
{
    return item->kind == ITEM_OPERATOR || (item->kind == ITEM_OTHER && item->name_count == 0);
}

static bool is_same_include(const struct cuda_items *items, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (items->list[k].kind == ITEM_INCLUDE &&
            items->list[k].text.size == items->list[i].text.size &&
            memcmp(items->list[k].text.data, items->list[i].text.data, items->list[i].text.size) ==
                0)
            return true;
    return false;
}

size_t cuda_include_at(const struct cuda_items *items, int line)
{
    for (size_t i = 0; i < items->count; i++)
        if (items->list[i].kind == ITEM_INCLUDE && !is_same_include(items, i) && --line == 0)
            return i;
    return items->count;
}

/* Without #line, at which precompiled headers end, and each once. */
static void write_includes(struct composition *c)
{
    for (size_t i = 0; i < c->items->count; i++) {
        const struct cuda_item *item = &c->items->list[i];

        if (item->kind != ITEM_INCLUDE)
            continue;
        c->is_written[i] = true;
        if (is_same_include(c->items, i))
            continue;
        buf_put(c->out, item->text.data, item->text.size);
        buf_putc(c->out, '\n');
    }
}

static int start_composition(struct composition *c)
{
    size_t names = 0;

    for (size_t i = 0; i < c->items->count; i++)
        names += c->items->list[i].name_count;
    c->is_needed = calloc(c->items->count + 1, sizeof(bool));
    c->is_written = calloc(c->items->count + 1, sizeof(bool));
    c->index = calloc(names + 1, sizeof(*c->index));
    if (!c->is_needed || !c->is_written || !c->index)
        return -1;
    for (size_t i = 0; i < c->items->count; i++)
        for (size_t k = 0; k < c->items->list[i].name_count; k++)
            if (c->items->list[i].kind != ITEM_HOST)
                c->index[c->index_count++] = (struct provider){ c->items->list[i].names[k], i };
    qsort(c->index, c->index_count, sizeof(*c->index), compare_providers);
    return 0;
}

static int compose(struct composition *c, const bool *is_root, struct err *err)
{
    const struct cuda_items *items = c->items;

    if (start_composition(c) == 0) {
        for (size_t i = 0; i < items->count; i++)
            if (items->list[i].kind != ITEM_HOST &&
                (is_root[i] || is_always_needed(&items->list[i])))
                need(c, i, i);
        write_includes(c);
        for (size_t i = 0; i < items->count; i++)
            write_item(c, i);
    } else {
        c->out->is_failed = true;
    }
    free(c->is_needed);
    free(c->is_written);
    free(c->index);
    return c->out->is_failed ? err_set(err, ERR_ResourceError, "out of memory for a cell's source")
                             : 0;
}

int cuda_compose(const struct cuda_items *items, const bool *is_root, struct buf *out,
                 struct err *err)
{
    struct composition c = { .items = items, .out = out };

    return compose(&c, is_root, err);
}

int cuda_extract(const struct cuda_items *items, const bool *is_root, struct buf *out,
                 struct err *err)
{
    struct composition c = { .items = items, .out = out, .is_plain = true };

    return compose(&c, is_root, err);
}

/* Itanium C++ ABI: _Z <length> <name> ..., _ZN <length> <name> ... E, _ZL for internal ones. */
void cuda_plain_name(const char *symbol, char *out, size_t capacity)
{
    const char *at = symbol, *name = symbol;
    size_t n = strlen(symbol);

    if (strncmp(at, "_Z", 2) == 0) {
        at += 2;
        while (*at == 'N' || *at == 'L' || *at == 'K')
            at++;
        while (isdigit((unsigned char)*at)) {
            size_t length = (size_t)strtoul(at, (char **)(uintptr_t)&at, 10);

            if (length > strlen(at))
                break;
            name = at;
            n = length;
            at += length;
        }
    }
    snprintf(out, capacity, "%.*s", (int)min_i64((int64_t)n, 1000), name);
}
