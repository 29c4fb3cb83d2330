/*
 * The cell up to the cursor is cut into segments as if it ended there; the last
 * segment is the one that the cursor is in.
 */
#include "cells/context.h"

#include "cells/segment.h"

static size_t name_start(struct bytes code, size_t at)
{
    while (at > 0 && is_name_char(code.data[at - 1]))
        at--;
    return at;
}

static size_t line_start(struct bytes code, size_t at)
{
    while (at > 0 && code.data[at - 1] != '\n')
        at--;
    return at;
}

/* The word under the cursor is the start of a magic's name: %occ or x = %occ */
static bool is_magic_name(struct bytes code, struct context *c)
{
    size_t sign = c->start;

    while (sign > 0 && code.data[sign - 1] == '%' && c->start - sign < 2)
        sign--;
    if (sign == c->start)
        return false;
    if (sign != line_start(code, sign)) {
        size_t at = sign;

        /* Behind `name =` too. */
        while (at > 0 && (code.data[at - 1] == ' ' || code.data[at - 1] == '\t'))
            at--;
        if (at == 0 || code.data[at - 1] != '=')
            return false;
    }
    c->is_cell_name = c->start - sign == 2;
    c->start = sign;
    c->kind = CONTEXT_MAGIC;
    return true;
}

const struct magic *magic_of_line(struct bytes line, struct arena *arena)
{
    size_t start = 0, end;
    const struct magic *magic;
    char *name;

    /* name = %magic ... */
    if (line.size && line.data[0] != '%') {
        const char *sign = memchr(line.data, '%', line.size);

        if (!sign)
            return NULL;
        start = (size_t)(sign - line.data);
    }
    while (start < line.size && line.data[start] == '%')
        start++;
    for (end = start; end < line.size && is_name_char(line.data[end]); end++)
        ;
    name = arena_copy(arena, line.data + start, end - start);
    if (!name)
        return NULL;
    magic = magic_find(name, false);
    return magic ? magic : magic_find(name, true);
}

static bool is_expression_magic(const struct magic *magic)
{
    for (size_t i = 0; i < magic->param_count; i++)
        if (magic->params[i].type == PARAM_REST && !(magic->flags & MAGIC_PLAIN))
            return true;
    return false;
}

/* key= or key=[a, before the word; *param is the key's row. */
static bool is_behind_key(const struct context *c, struct bytes code, const struct param **param)
{
    size_t at = c->start, end;
    bool in_list = false;

    for (size_t left = c->line.size; left > 0 && at > 0; left--) {
        char before = code.data[at - 1];

        if (before == '[' || (before == ',' && !in_list))
            in_list = true;
        else if (!in_list && !is_blank(before))
            break;
        else if (in_list && before == '=')
            break;
        at--;
    }
    if (at == 0 || code.data[at - 1] != '=')
        return false;
    end = at - 1;
    while (end > 0 && is_blank(code.data[end - 1]))
        end--;
    at = name_start(code, end);
    for (size_t i = 0; c->magic && i < c->magic->param_count; i++)
        if (bytes_equal((struct bytes){ code.data + at, end - at }, c->magic->params[i].name)) {
            *param = &c->magic->params[i];
            return true;
        }
    return false;
}

static bool has_open_brace(struct bytes line)
{
    int depth = 0;

    for (size_t i = 0; i < line.size; i++)
        depth += line.data[i] == '{' ? 1 : line.data[i] == '}' && depth ? -1 : 0;
    return depth > 0;
}

/* device=RTX-4090, policy=two-level, device=cc=8.9: values reach over more than names do. */
static void widen_value(struct bytes code, struct context *c)
{
    while (c->start > 0 && code.data[c->start - 1] &&
           (is_name_char(code.data[c->start - 1]) || strchr("-:.", code.data[c->start - 1])))
        c->start--;
    if (c->start > 3 && memcmp(code.data + c->start - 3, "cc=", 3) == 0 &&
        strchr("=[, ", code.data[c->start - 4]))
        c->start -= 3;
}

static void in_magic_line(struct bytes code, struct context *c)
{
    struct context wide = *c;
    const struct param *param;

    if (has_open_brace(c->line)) {
        c->kind = CONTEXT_EXPR;
        return;
    }
    widen_value(code, &wide);
    if (is_behind_key(&wide, code, &param)) {
        *c = wide;
        c->param = param;
        c->kind = CONTEXT_VALUE;
        return;
    }
    c->kind = is_expression_magic(c->magic) ? CONTEXT_EXPR : CONTEXT_KEY;
}

/* The last segment of the text up to the cursor; into the body of a cell magic too. */
static bool last_segment(struct source source, struct arena *arena, struct segment *out, int depth)
{
    struct segmenter segmenter;
    struct segment segment;
    bool found = false, any = false;

    if (segmenter_init(&segmenter, source, arena, NULL) < 0)
        return false;
    while (segmenter_next(&segmenter, &segment, &found, NULL) == 0 && found) {
        *out = segment;
        any = true;
    }
    /* A blank line at the end belongs to no segment. */
    if (any && out->kind != SEGMENT_CUDA && source.text.size &&
        source.text.data[source.text.size - 1] == '\n' && out->kind != SEGMENT_CELL_MAGIC)
        return false;
    if (any && out->kind == SEGMENT_CELL_MAGIC && out->body.text.size && depth < 4)
        return last_segment(out->body, arena, out, depth + 1);
    return any;
}

void context_find(struct bytes code, size_t cursor, struct arena *arena, struct context *out)
{
    struct segment segment;
    struct source before = { { code.data, cursor }, 1, 1 };

    *out = (struct context){ .kind = CONTEXT_CUDA, .end = cursor };
    out->start = name_start(code, cursor);
    while (out->end < code.size && is_name_char(code.data[out->end]))
        out->end++;
    if (is_magic_name(code, out) || !last_segment(before, arena, &segment, 0))
        return;
    out->line = segment.text.text;
    if (segment.kind != SEGMENT_MAGIC && segment.kind != SEGMENT_CELL_MAGIC &&
        segment.kind != SEGMENT_ASSIGN && segment.kind != SEGMENT_LAUNCH &&
        segment.kind != SEGMENT_DIM)
        return;
    out->kind = CONTEXT_EXPR;
    out->magic = segment.kind == SEGMENT_LAUNCH ? magic_find("launch", false)
                                                : magic_of_line(out->line, arena);
    if (out->magic)
        in_magic_line(code, out);
}
