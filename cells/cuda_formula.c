/*
 * A grid is nearly always computed by a small function of the program, CEIL_DIV or div_up. Nothing
 * here runs the host's code; but what only returns an expression is one, over its parameters, and
 * the cell language reads those.
 */
#include "cells/cuda_formula.h"

#include "cells/cuda_condition.h"
#include "cells/cuda_scan.h"
#include "cells/cuda_state.h"

static enum formula_type type_of_word(struct scan_token t, enum formula_type before)
{
    static const char *const INTEGERS[] = { "int",     "unsigned", "long",    "short",
                                            "char",    "size_t",   "int32_t", "uint32_t",
                                            "int64_t", "uint64_t", "uint" };

    if (scan_is_word(t, "float") || scan_is_word(t, "double"))
        return FORMULA_FLOAT;
    for (size_t i = 0; i < COUNT(INTEGERS); i++)
        if (scan_is_word(t, INTEGERS[i]))
            return FORMULA_INT;
    return before;
}

/* `a, b)` behind the parenthesis, with types or without. */
static bool read_parameters(struct scanner *s, struct arena *arena, struct formula *out)
{
    struct scan_token t, last = { SCAN_END, { "", 0 } };
    enum formula_type type = FORMULA_AS_IS;

    out->count = 0;
    for (;;) {
        t = scan_next(s);
        if (scan_is_sign(t, ',') || scan_is_sign(t, ')')) {
            if (last.kind == SCAN_END && scan_is_sign(t, ')'))
                return true;
            if (last.kind != SCAN_WORD || out->count == FORMULA_PARAMETERS)
                return false;
            out->types[out->count] = type;
            out->parameters[out->count] = arena_copy(arena, last.text.data, last.text.size);
            if (!out->parameters[out->count++])
                return false;
            if (scan_is_sign(t, ')'))
                return true;
            last = (struct scan_token){ SCAN_END, { "", 0 } };
            type = FORMULA_AS_IS;
        } else if (t.kind == SCAN_WORD) {
            last = t;
            type = type_of_word(t, type);
        } else if (!scan_is_sign(t, '&')) {
            return false;
        }
    }
}

/* `{ return EXPRESSION; }` and nothing else. */
static bool read_return(struct scanner *s, struct bytes *body)
{
    struct scan_token t = scan_next(s);
    const char *from;

    while (t.kind == SCAN_WORD) /* noexcept */
        t = scan_next(s);
    if (!scan_is_sign(t, '{') || !scan_is_word(scan_next(s), "return"))
        return false;
    from = s->at;
    do {
        t = scan_next(s);
        if (t.kind == SCAN_END || scan_is_sign(t, '{') || scan_is_sign(t, '}'))
            return false;
    } while (!scan_is_sign(t, ';'));
    *body = scan_trimmed((struct bytes){ from, (size_t)(t.text.data - from) });
    return scan_is_sign(scan_next(s), '}');
}

/* The scanner moves behind the name and its parenthesis. What stood before is of the result. */
static bool find_head(struct scanner *s, const char *name, enum formula_type *result)
{
    struct scan_token t;
    int angles = 0;

    *result = FORMULA_AS_IS;
    while ((t = scan_next(s)).kind != SCAN_END && !scan_is_sign(t, '{')) {
        angles += scan_is_sign(t, '<') - scan_is_sign(t, '>');
        if (scan_is_word(t, name))
            return scan_is_sign(scan_next(s), '(');
        if (angles == 0)
            *result = type_of_word(t, *result);
    }
    return false;
}

/* `#define NAME(a, b) body`: its continued lines are joined. */
static bool read_macro(const struct cuda_item *item, const char *name, struct arena *arena,
                       struct formula *out)
{
    char *copy = arena_copy(arena, item->text.data, item->text.size);
    struct scanner s;
    enum formula_type ignored;

    if (!copy)
        return false;
    for (size_t i = 0; i + 1 < item->text.size; i++)
        if (copy[i] == '\\' && (copy[i + 1] == '\n' || copy[i + 1] == '\r'))
            copy[i] = copy[i + 1] = ' ';
    s = (struct scanner){ copy + 1, copy + item->text.size, false }; /* behind the # */
    if (!find_head(&s, name, &ignored) || s.at[-1] != '(' || !read_parameters(&s, arena, out))
        return false;
    out->body = scan_trimmed((struct bytes){ s.at, (size_t)(s.end - s.at) });
    out->is_macro = true;
    return out->body.size > 0;
}

static bool read_function(const struct cuda_item *item, const char *name, struct arena *arena,
                          struct formula *out)
{
    struct scanner s = { item->text.data, item->text.data + item->text.size, true };

    return find_head(&s, name, &out->result) && read_parameters(&s, arena, out) &&
           read_return(&s, &out->body);
}

static bool has_name(const struct cuda_item *item, const char *name)
{
    for (size_t k = 0; k < item->name_count; k++)
        if (strcmp(item->names[k].name, name) == 0)
            return true;
    return false;
}

bool cuda_formula(const struct cuda *cuda, const char *name, struct arena *arena,
                  struct formula *out)
{
    for (size_t i = cuda->items.count; i > 0; i--) {
        const struct cuda_item *item = &cuda->items.list[i - 1];

        if (!has_name(item, name))
            continue;
        if (item->inner_count > 0)
            item = cuda_active_item(cuda, item, name, NULL);
        *out = (struct formula){ .count = 0 };
        if (item && item->kind == ITEM_MACRO && read_macro(item, name, arena, out))
            return true;
        if (item && (item->kind == ITEM_HOST || item->kind == ITEM_FUNCTION) &&
            read_function(item, name, arena, out))
            return true;
    }
    return false;
}
