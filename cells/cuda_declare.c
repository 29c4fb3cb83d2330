/*
 * One declaration at the top level. It ends at a semicolon outside all brackets, or
 * at the brace that closes a function's body. What it is and which names it defines
 * is read off the words at its top, outside every bracket, template arguments
 * included: only there can a word be a name.
 */
#include "cells/cuda_scan.h"
#include "cells/cuda_source.h"

#include <ctype.h>

/* What was seen of the declaration that is being read. */
struct reading {
    struct cuda_item *item;
    struct scanner *scanner;
    const char *scope;
    struct err *err;
    int parens, braces, squares, angles;
    bool is_function; /* NAME ( at the top */
    bool has_body, has_assign, is_type, is_enum, is_typedef, is_using, is_operator, is_macro_call;
    bool is_alias; /* namespace a = b; */
    bool is_global, is_device, is_host, is_constexpr, is_const;
    bool is_template, is_specialization, is_instantiation;
    bool wants_tag;   /* behind struct, union, class, enum */
    bool in_bases;    /* behind struct S : */
    bool in_inits;    /* behind a constructor's ) : */
    bool is_declared; /* (*name): the name is known */
    struct scan_token first, name, tag, last;
    const char *body;   /* where { begins, or NULL */
    const char *assign; /* behind the = at the top, or NULL */
    int init_brace;     /* braces deep at which a member's initializer ends; 0: none */
};

static bool is_one_of(struct scan_token t, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (scan_is_word(t, words[i]))
            return true;
    return false;
}

/* Words before a parenthesis that are attributes, not the function's name. */
static bool is_attribute(struct scan_token t)
{
    static const char *const words[] = {
        "__launch_bounds__", "__align__",         "__attribute__",  "__declspec", "alignas",
        "decltype",          "__maxnreg__",       "__block_size__", "noexcept",   "explicit",
        "__cluster_dims__",  "__grid_constant__", "requires",       "throw",      "__nv_pure__",
    };

    return is_one_of(t, words, COUNT(words));
}

/* Words that a type's own name follows. */
static bool is_type_keyword(struct scan_token t)
{
    static const char *const words[] = { "struct", "class", "union", "enum" };

    return is_one_of(t, words, COUNT(words));
}

static bool is_top(const struct reading *r)
{
    return r->parens == 0 && r->braces == 0 && r->squares == 0;
}

/* Words that are never a name: what is left of a declaration that breaks off. */
static bool is_keyword(struct scan_token t)
{
    static const char *const words[] = { "extern", "static", "inline", "namespace", "const",
                                         "struct", "union",  "class",  "enum",      "void",
                                         "int",    "float",  "double", "char",      "template" };

    return is_one_of(t, words, COUNT(words));
}

static int add_name(struct reading *r, struct scan_token t, enum item_kind kind)
{
    struct item_name name = { .scope = r->scope,
                              .kind = kind,
                              .is_template = r->is_template && !r->is_specialization,
                              .is_specialization = r->is_specialization };

    if (t.kind != SCAN_WORD || is_keyword(t))
        return 0;
    return cuda_item_add_name(r->item, name, t.text, r->err);
}

/* template <...>: what stands in the brackets names nothing. */
static void read_template_head(struct reading *r)
{
    struct scanner ahead = *r->scanner;
    struct scan_token t = scan_next(&ahead);
    int parens = 0, angles = 0, count = 0;

    if (!scan_is_sign(t, '<')) {
        r->is_instantiation = true; /* template void f<int>(); */
        return;
    }
    r->is_template = true;
    for (; t.kind != SCAN_END; t = scan_next(&ahead), count++) {
        parens += (scan_is_sign(t, '(') || scan_is_sign(t, '{')) -
                  (scan_is_sign(t, ')') || scan_is_sign(t, '}'));
        if (parens == 0)
            angles += scan_is_sign(t, '<') - scan_is_sign(t, '>');
        if (scan_is_sign(t, ';') && parens == 0)
            return; /* never closed: let the compiler say so */
        if (angles == 0)
            break;
    }
    if (t.kind == SCAN_END)
        return;
    r->is_specialization |= count == 1;
    *r->scanner = ahead;
}

static enum item_kind data_kind(const struct reading *r)
{
    return (r->is_const || r->is_constexpr) && !r->is_device ? ITEM_CONSTANT : ITEM_VARIABLE;
}

static void note_word(struct reading *r, struct scan_token t)
{
    r->is_global |= scan_is_word(t, "__global__");
    r->is_host |= scan_is_word(t, "__host__");
    r->is_device |= scan_is_word(t, "__device__") || scan_is_word(t, "__constant__") ||
                    scan_is_word(t, "__managed__") || scan_is_word(t, "__shared__");
    r->is_constexpr |= scan_is_word(t, "constexpr") || scan_is_word(t, "consteval");
    r->is_const |= scan_is_word(t, "const");
    r->is_typedef |= scan_is_word(t, "typedef");
    r->is_using |= scan_is_word(t, "using");
    r->is_alias |= scan_is_word(t, "namespace") && !r->is_using;
    r->is_operator |= scan_is_word(t, "operator");
    if (is_type_keyword(t)) {
        if (r->wants_tag && r->is_enum) /* enum class: its words need E:: */
            r->is_enum = false;
        r->wants_tag = !r->has_body && !r->is_function;
        r->is_enum |= scan_is_word(t, "enum") && !r->has_body;
        if (!r->is_function && !r->is_typedef && !r->has_assign)
            r->is_type = true;
        return;
    }
    if (r->in_bases || r->has_assign || r->is_declared || is_attribute(t) ||
        scan_is_word(t, "final"))
        return;
    if (r->wants_tag) {
        r->tag = t;
        r->wants_tag = false;
        r->name = t;
        return;
    }
    if (!r->is_function && !(r->is_type && r->has_body))
        r->name = t;
}

/* `(*f)(int)` and `(&f)[3]`: the name stands in parentheses. */
static bool note_declarator(struct reading *r)
{
    struct scanner ahead = *r->scanner;
    struct scan_token t = scan_next(&ahead);

    if (r->is_function || r->is_declared || r->has_assign || r->has_body ||
        !(scan_is_sign(t, '*') || scan_is_sign(t, '&')))
        return false;
    while (t.kind != SCAN_END && t.kind != SCAN_WORD && !scan_is_sign(t, ')'))
        t = scan_next(&ahead);
    if (t.kind != SCAN_WORD)
        return false;
    r->name = t;
    r->is_declared = true;
    return true;
}

static void note_open_paren(struct reading *r)
{
    bool is_name = r->last.kind == SCAN_WORD && !is_attribute(r->last);

    if (r->is_declared || note_declarator(r) || r->has_assign || r->is_typedef || r->is_using)
        return;
    if (r->is_function) {
        /* `__global__ void BOUNDS(256) k(int n)`: the first was a macro. */
        if (!r->has_body && is_name && !r->in_inits && !r->is_operator) {
            r->name = r->last;
            r->is_macro_call = false;
        }
        return;
    }
    if (!(is_name || r->is_operator || (scan_is_sign(r->last, '>') && r->name.kind)) ||
        is_attribute(r->last) || (r->is_type && r->has_body))
        return;
    r->is_function = true;
    r->is_type = r->is_enum = r->wants_tag = false; /* struct S f(int) */
    if (r->name.kind == SCAN_END)
        r->name = r->last;
    /* Nothing stands before the name: MACRO(x), no declaration. */
    r->is_macro_call = r->name.text.data == r->first.text.data && !r->is_operator;
}

/* Takes note of one token at the top of a declaration. */
static int note_top(struct reading *r, struct scan_token t)
{
    if (scan_is_word(t, "template") && !r->is_function && !r->has_assign) {
        read_template_head(r);
        return 0;
    }
    if (t.kind == SCAN_WORD) {
        note_word(r, t);
        return 0;
    }
    if (t.kind != SCAN_SIGN)
        return 0;
    switch (t.text.data[0]) {
    case '(':
        note_open_paren(r);
        break;
    case '<':
        if (!r->has_assign && !r->is_operator && r->last.kind == SCAN_WORD)
            r->angles = 1;
        break;
    case ':':
        if (scan_is_sign(r->last, ')') && r->is_function)
            r->in_inits = true;
        else if (r->is_type && !r->has_body && r->scanner->at < r->scanner->end &&
                 *r->scanner->at != ':' && !scan_is_sign(r->last, ':'))
            r->in_bases = true;
        break;
    case '=':
        if (!r->is_function && !r->has_assign && !r->is_operator) {
            r->has_assign = true;
            r->assign = t.text.data + 1;
        }
        break;
    case ',':
        if (!r->is_function && !r->in_bases && !r->is_using && (!r->is_type || r->has_body)) {
            r->has_assign = r->is_declared = false;
            return r->is_type      ? 0
                   : r->is_typedef ? add_name(r, r->name, ITEM_TYPE)
                                   : add_name(r, r->name, data_kind(r));
        }
        break;
    default:
        break;
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

/* The words of template arguments at the top name nothing; a ; or { says it was no bracket. */
static bool skip_angles(struct reading *r, struct scan_token t)
{
    if (r->angles == 0 || r->parens > 0 || r->squares > 0)
        return r->angles > 0;
    r->angles += scan_is_sign(t, '<') - scan_is_sign(t, '>');
    if (scan_is_sign(t, ';') || scan_is_sign(t, '{'))
        r->angles = 0;
    else if (r->angles == 0)
        r->last = t;
    return r->angles > 0 || scan_is_sign(t, '>');
}

/* x{1} in a constructor's list is no body. */
static bool opens_initializer(const struct reading *r)
{
    return r->in_inits && !r->has_body && (r->last.kind == SCAN_WORD || scan_is_sign(r->last, '>'));
}

static void note_open_brace(struct reading *r, struct scan_token t)
{
    if (opens_initializer(r)) {
        r->init_brace = r->braces + 1;
        return;
    }
    if (!r->body)
        r->body = t.text.data;
    r->has_body = true;
    r->in_bases = false;
}

/* A b in enum { a, b = 2 } is a name too. */
static int note_enumerator(struct reading *r, struct scan_token t)
{
    bool follows = scan_is_sign(r->last, '{') || scan_is_sign(r->last, ',');

    return follows && t.kind == SCAN_WORD ? add_name(r, t, ITEM_CONSTANT) : 0;
}

static enum item_kind kind_of(const struct reading *r)
{
    if (r->is_using && !r->has_assign) /* using namespace x, using x::y */
        return ITEM_OTHER;
    if (r->is_macro_call)
        return ITEM_OTHER;
    if (r->is_instantiation)
        return ITEM_ONCE;
    if (r->is_using || r->is_typedef || r->is_alias)
        return ITEM_TYPE;
    if (r->is_operator && r->is_function)
        return ITEM_OPERATOR;
    if (r->is_function && !r->has_body)
        return ITEM_PROTOTYPE;
    if (r->is_function)
        return r->is_global ? ITEM_KERNEL : ITEM_FUNCTION;
    if (r->is_type)
        return ITEM_TYPE;
    return data_kind(r);
}

char *cuda_one_line(struct arena *arena, struct bytes text)
{
    struct scanner s = { text.data, text.data + text.size, true };
    char *line = arena_alloc(arena, text.size + 2);
    const char *end = text.data;
    size_t n = 0;

    for (struct scan_token t; line && (t = scan_next(&s)).kind != SCAN_END;
         end = t.text.data + t.text.size) {
        if (n > 0 && t.text.data > end)
            line[n++] = ' ';
        for (size_t i = 0; i < t.text.size; i++)
            line[n++] = t.text.data[i] == '\n' ? ' ' : t.text.data[i];
    }
    return line;
}

/* "P::" of a definition P::f, which is P<T>::f too; in the arena, or NULL: out of memory. */
static const char *scope_of(const struct reading *r)
{
    const char *from = r->item->text.data, *at = r->name.text.data, *end;
    int angles = 0;

    while (at > from && isspace((unsigned char)at[-1]))
        at--;
    if (at - from < 2 || at[-1] != ':' || at[-2] != ':')
        return r->scope;
    end = at - 2;
    while (end > from && (isspace((unsigned char)end[-1]) || angles > 0 || end[-1] == '>')) {
        angles += (end[-1] == '>') - (end[-1] == '<');
        end--;
    }
    at = end;
    while (at > from && (isalnum((unsigned char)at[-1]) || at[-1] == '_'))
        at--;
    return arena_printf(r->item->arena, "%s%.*s::", r->scope, (int)(end - at), at);
}

static int no_memory(struct err *err)
{
    return err_set(err, ERR_ResourceError, "out of memory for the cell's definitions");
}

static int finish(struct reading *r)
{
    struct cuda_item *item = r->item;
    const char *end = item->text.data + item->text.size;
    struct bytes head = item->text;
    bool is_data = !r->is_function && !r->is_type && !r->is_using && !r->is_typedef && !r->is_alias;
    bool is_ended = item->text.size > 0 && (end[-1] == ';' || end[-1] == '}');

    item->kind = kind_of(r);
    if (r->body && (r->is_function || r->is_type))
        head.size = (size_t)(r->body - head.data);
    item->head = cuda_one_line(item->arena, scan_trimmed(head));
    r->scope = r->name.kind == SCAN_WORD && r->is_function ? scope_of(r) : r->scope;
    if (!item->head || !r->scope)
        return no_memory(r->err);
    item->is_unannotated = is_ended && (r->is_function || is_data) && !r->is_device &&
                           !r->is_global && !(r->is_constexpr && !r->is_host) &&
                           !r->is_macro_call && item->kind != ITEM_ONCE &&
                           item->kind != ITEM_CONSTANT;
    if (r->assign && item->kind == ITEM_CONSTANT && item->name_count == 0)
        item->value = scan_trimmed((struct bytes){ r->assign, (size_t)(end - 1 - r->assign) });
    if (item->kind == ITEM_OPERATOR)
        return cuda_item_add_name(item, (struct item_name){ .scope = r->scope, .kind = item->kind },
                                  bytes_of(item->head), r->err);
    if (item->kind == ITEM_OTHER || item->kind == ITEM_ONCE)
        return 0;
    if (r->tag.kind == SCAN_WORD && r->has_body && !r->is_function &&
        r->tag.text.data != r->name.text.data && add_name(r, r->tag, ITEM_TYPE) < 0)
        return -1;
    if (r->is_using) /* the word before the = */
        return add_name(r, r->name, ITEM_TYPE);
    return add_name(r, r->name, item->kind);
}

/* `MACRO(x)` without a semicolon ends where the next line begins with a word, or another call. */
static bool begins_another(struct reading *r, struct scan_token t)
{
    const char *end = r->last.text.data + r->last.text.size;

    if (!r->is_macro_call || r->has_body || !scan_is_sign(r->last, ')'))
        return false;
    return t.kind == SCAN_DIRECTIVE ||
           (t.kind == SCAN_WORD &&
            (memchr(end, '\n', (size_t)(t.text.data - end)) ||
             (r->scanner->at < r->scanner->end && *r->scanner->at == '(' && !is_attribute(t))));
}

/* True when the } just read ends the declaration: the body of a function that it is. */
static bool ends_at_brace(struct reading *r, struct scan_token t)
{
    if (!scan_is_sign(t, '}'))
        return false;
    if (r->init_brace > 0) {
        r->init_brace = 0;
        return false;
    }
    return r->is_function && !r->has_assign && r->has_body;
}

static int read_token(struct reading *r, struct scan_token t)
{
    bool was_top = is_top(r);
    int rc = 0;

    if (r->is_enum && r->braces == 1 && r->has_body && r->parens == 0 && r->squares == 0)
        rc = note_enumerator(r, t);
    if (was_top && scan_is_sign(t, '{'))
        note_open_brace(r, t);
    else if (was_top)
        rc = note_top(r, t);
    note_brackets(r, t);
    return rc;
}

int cuda_read_declaration(struct scanner *s, struct scan_token t, const char *scope,
                          struct cuda_item *item, struct err *err)
{
    const struct scan_token none = { SCAN_END, { "", 0 } };
    struct reading r = { .item = item,
                         .scanner = s,
                         .scope = scope,
                         .err = err,
                         .first = t,
                         .name = none,
                         .tag = none,
                         .last = none };

    for (; t.kind != SCAN_END; t = scan_next(s)) {
        if (is_top(&r) && begins_another(&r, t)) {
            s->at = t.text.data;
            s->is_line_start = t.kind == SCAN_DIRECTIVE;
            break;
        }
        if (t.kind == SCAN_DIRECTIVE)
            continue;
        if (skip_angles(&r, t)) {
            note_brackets(&r, t);
            continue;
        }
        if (read_token(&r, t) < 0)
            return -1;
        if (is_top(&r) && (scan_is_sign(t, ';') || ends_at_brace(&r, t)))
            break;
        if (is_top(&r) || r.braces <= 1)
            r.last = t;
    }
    item->text.size = (size_t)(s->at - item->text.data);
    while (item->text.size > 0 && isspace((unsigned char)item->text.data[item->text.size - 1]))
        item->text.size--;
    return finish(&r);
}
