/*
 * C puts a type, then names with stars and brackets around them. What is beyond that
 * (bit-fields, references, pointers to functions) is refused by name: a wrong layout
 * would show wrong numbers.
 */
#include "cells/buffer_declare.h"

#include "cells/expr.h"
#include "cells/internal.h"

#include <stdio.h>

void declare_init(struct declare *d, struct session *session, struct arena *arena,
                  struct bytes text, const char *of, int depth, struct err *err)
{
    *d = (struct declare){ .session = session,
                           .arena = arena,
                           .scanner = { text.data, text.data + text.size, true },
                           .of = of,
                           .depth = depth,
                           .err = err };
    d->ahead = scan_next(&d->scanner);
}

struct scan_token declare_next(struct declare *d)
{
    struct scan_token t = d->ahead;

    d->ahead = scan_next(&d->scanner);
    return t;
}

bool declare_at(const struct declare *d, char sign)
{
    return scan_is_sign(d->ahead, sign);
}

void declare_skip_group(struct declare *d)
{
    int depth = 0;

    do {
        struct scan_token t = declare_next(d);

        if (t.kind == SCAN_END)
            return;
        if (scan_is_sign(t, '(') || scan_is_sign(t, '[') || scan_is_sign(t, '{'))
            depth++;
        if (scan_is_sign(t, ')') || scan_is_sign(t, ']') || scan_is_sign(t, '}'))
            depth--;
    } while (depth > 0);
}

int declare_refuse(struct declare *d, const char *what)
{
    err_set(d->err, ERR_UnsupportedError, "%.60s: the layout of %s is not known here", d->of, what);
    return err_next(d->err, "plain numbers, vectors, arrays, pointers and structs of them are");
}

static bool is_word_of(struct scan_token t, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (scan_is_word(t, words[i]))
            return true;
    return false;
}

/* The number in alignas(16) or __align__(16) that stands ahead. */
static void take_align(struct declare *d, size_t *align)
{
    const char *start = d->ahead.text.data, *end;
    struct arena *arena = d->arena;
    struct err ignored = { 0 };
    struct value v;

    if (!declare_at(d, '('))
        return;
    declare_skip_group(d);
    end = d->ahead.kind == SCAN_END ? d->scanner.end : d->ahead.text.data;
    while (end > start && end[-1] != ')')
        end--;
    if (expr_eval_source(d->session, (struct source){ { start, (size_t)(end - start) }, 1, 1 },
                         arena, &v, &ignored) == 0 &&
        v.type == VALUE_INT && v.i > 0 && v.i <= 4096 && (v.i & (v.i - 1)) == 0)
        *align = (size_t)v.i > *align ? (size_t)v.i : *align;
    err_done(&ignored);
}

void declare_skip_qualifiers(struct declare *d, size_t *align)
{
    static const char *const WORDS[] = {
        "const",    "volatile",   "static",       "extern",          "inline",
        "mutable",  "constexpr",  "__device__",   "__constant__",    "__managed__",
        "__host__", "__shared__", "__restrict__", "typename",        "register",
        "struct",   "class",      "enum",         "__forceinline__",
    };

    for (;;) {
        if (is_word_of(d->ahead, WORDS, COUNT(WORDS))) {
            declare_next(d);
        } else if (scan_is_word(d->ahead, "alignas") || scan_is_word(d->ahead, "__align__")) {
            declare_next(d);
            take_align(d, align);
        } else {
            return;
        }
    }
}

/* ---- types ---- */

struct words {
    bool is_unsigned, is_signed, is_short, has_other;
    int longs;
    const char *base; /* char int float double bool void */
};

static bool add_word(struct words *w, struct scan_token t)
{
    static const char *const BASES[] = { "char", "int", "float", "double", "bool", "void" };

    if (scan_is_word(t, "unsigned"))
        w->is_unsigned = true;
    else if (scan_is_word(t, "signed"))
        w->is_signed = true;
    else if (scan_is_word(t, "short"))
        w->is_short = true;
    else if (scan_is_word(t, "long"))
        w->longs++;
    else {
        for (size_t i = 0; i < COUNT(BASES); i++)
            if (scan_is_word(t, BASES[i])) {
                w->base = BASES[i];
                return true;
            }
        return false;
    }
    w->has_other = true;
    return true;
}

/* The name that the table of types has for it: "unsigned long int" is ulong. */
static const char *plain_name(const struct words *w)
{
    bool u = w->is_unsigned;

    if (w->base && strcmp(w->base, "int") != 0 && strcmp(w->base, "char") != 0)
        return w->longs && !strcmp(w->base, "double") ? NULL : w->base;
    if (w->base && strcmp(w->base, "char") == 0)
        return u ? "uchar" : "char";
    if (w->is_short)
        return u ? "ushort" : "short";
    if (w->longs)
        return u ? "ulong" : "long";
    return u ? "uint" : "int";
}

static int named_type(struct declare *d, struct scan_token t, struct element_type *out)
{
    char name[120];

    while (scan_is_sign(d->ahead, ':')) { /* std::uint32_t, ns::vec */
        declare_next(d);
        if (!scan_is_sign(d->ahead, ':'))
            return declare_refuse(d, "a bit-field");
        declare_next(d);
        t = declare_next(d);
    }
    if (t.kind != SCAN_WORD || t.text.size >= sizeof(name))
        return declare_refuse(d, "what stands where a type should");
    snprintf(name, sizeof(name), "%.*s", (int)t.text.size, t.text.data);
    if (scan_is_sign(d->ahead, '<')) {
        snprintf(name, sizeof(name), "the template %.*s", (int)min_i64((int64_t)t.text.size, 60),
                 t.text.data);
        return declare_refuse(d, name);
    }
    /* A list's node points to nodes: a pointer needs no layout of what it points to. */
    if (declare_at(d, '*'))
        return element_type_builtin("ulong", out) ? 0 : -1;
    {
        char *kept = arena_string(d->arena, name);

        if (!kept)
            return err_set(d->err, ERR_ResourceError, "out of memory");
        if (element_type_builtin(kept, out) ||
            struct_type_at(d->session, d->arena, kept, d->depth + 1, out, d->err) == 0)
            return 0;
    }
    if (d->err->name)
        return -1;
    err_set(d->err, ERR_NameError, "%.60s: no type is called %.60s", d->of, name);
    return -1;
}

int declare_type(struct declare *d, struct element_type *out)
{
    struct words w = { .longs = 0 };
    size_t align = 0;
    const char *name;

    declare_skip_qualifiers(d, &align);
    if (declare_at(d, '{')) /* struct { ... } pos; */
        return struct_body(d, "struct", align, false, out);
    while (add_word(&w, d->ahead)) {
        declare_next(d);
        declare_skip_qualifiers(d, &align);
    }
    if (!w.base && !w.has_other) {
        struct scan_token t = declare_next(d);
        bool is_union = scan_is_word(t, "union");

        if (is_union && !declare_at(d, '{')) /* union { ... } a; has no tag */
            t = declare_next(d);
        if (declare_at(d, '{')) { /* struct vec { ... } a; */
            char *tag = arena_copy(d->arena, t.text.data, t.text.size);

            return tag ? struct_body(d, tag, align, is_union, out)
                       : err_set(d->err, ERR_ResourceError, "out of memory");
        }
        if (named_type(d, t, out) < 0)
            return -1;
    } else {
        name = plain_name(&w);
        if (!name)
            return declare_refuse(d, "a long double");
        if (strcmp(name, "void") == 0)
            *out = (struct element_type){ .name = "void", .lanes = 1, .align = 1 };
        else if (!element_type_builtin(name, out))
            return declare_refuse(d, name);
    }
    declare_skip_qualifiers(d, &align);
    if (align > out->align)
        out->align = align;
    return 0;
}

/* ---- declarators ---- */

static int take_dimension(struct declare *d, struct declarator *out)
{
    const char *start = d->ahead.text.data + 1, *end;
    struct value v;

    declare_skip_group(d);
    end = d->ahead.kind == SCAN_END ? d->scanner.end : d->ahead.text.data;
    while (end > start && *end != ']')
        end--;
    while (start < end && (*start == ' ' || *start == '\n' || *start == '\t'))
        start++;
    if (start == end && out->rank == 0 && !out->is_open) {
        out->is_open = true;
        return 0;
    }
    if (out->rank + out->is_open == BUFFER_RANK_MAX)
        return declare_refuse(d, "an array of more than 3 dimensions");
    if (expr_eval_source(d->session, (struct source){ { start, (size_t)(end - start) }, 1, 1 },
                         d->arena, &v, d->err) < 0)
        return -1;
    if (v.type != VALUE_INT || v.i < 1)
        return declare_refuse(d, "an array without a length");
    out->shape[out->rank++] = v.i;
    return 0;
}

static void take_initial(struct declare *d, struct declarator *out)
{
    const char *start = d->ahead.text.data, *end = start;

    while (d->ahead.kind != SCAN_END && !declare_at(d, ',') && !declare_at(d, ';')) {
        if (declare_at(d, '{') || declare_at(d, '(') || declare_at(d, '['))
            declare_skip_group(d);
        else
            declare_next(d);
        end = d->ahead.kind == SCAN_END ? d->scanner.end : d->ahead.text.data;
    }
    out->initial = (struct bytes){ start, (size_t)(end - start) };
}

int declare_declarator(struct declare *d, struct declarator *out)
{
    size_t ignored = 0;
    struct scan_token t;

    *out = (struct declarator){ .rank = 0 };
    declare_skip_qualifiers(d, &ignored);
    while (declare_at(d, '*')) {
        declare_next(d);
        out->is_pointer = true;
        declare_skip_qualifiers(d, &ignored);
    }
    if (declare_at(d, '&'))
        return declare_refuse(d, "a reference");
    if (declare_at(d, '('))
        return declare_refuse(d, "a pointer to a function or an array");
    t = declare_next(d);
    if (t.kind != SCAN_WORD)
        return declare_refuse(d, "a member without a name");
    out->name = arena_copy(d->arena, t.text.data, t.text.size);
    if (!out->name)
        return err_set(d->err, ERR_ResourceError, "out of memory");
    while (declare_at(d, '['))
        if (take_dimension(d, out) < 0)
            return -1;
    if (declare_at(d, ':'))
        return declare_refuse(d, "a bit-field");
    if (declare_at(d, '=')) {
        declare_next(d);
        take_initial(d, out);
    } else if (declare_at(d, '{')) {
        take_initial(d, out);
    }
    return 0;
}
