/*
 * Lines that a cell can run: each name in them has a value. What the host computes in ways that
 * are not read here gets one of its kind, and the line says so.
 */
#include "cells/main_internal.h"

#include "cells/cuda_source.h"
#include "model/base/buf.h"

/* Does `int n = 1, m[4];` declare the name? */
static bool is_declaration_of(const struct statement *s, const char *name)
{
    size_t at = main_find_word(s, name);

    return at > 0 && at < s->count &&
           (at + 1 == s->count || main_is_sign(s, at + 1, '=') || main_is_sign(s, at + 1, '[') ||
            main_is_sign(s, at + 1, ',') || main_is_sign(s, at + 1, '{'));
}

/* Is the word in a directive, or does it stand outside of all functions and structs? */
static bool is_of_program(const struct reader *r, const char *name)
{
    struct scanner scanner = { r->program.data, r->program.data + r->program.size, true };
    struct scan_token t;
    struct statement s;

    while ((t = scan_next(&scanner)).kind != SCAN_END)
        if (t.kind == SCAN_DIRECTIVE && cuda_uses(t.text, name))
            return true;
    scanner = (struct scanner){ r->program.data, r->program.data + r->program.size, true };
    while (main_next_statement(&scanner, &s)) {
        const char *body = scanner.at;

        if (body[-1] == ';' && is_declaration_of(&s, name))
            return true;
        if (body[-1] != '{' || main_is_word(&s, 0, "namespace") || main_is_word(&s, 0, "extern"))
            continue;
        main_skip_body(&scanner);
        if (main_is_word(&s, 0, "enum") &&
            cuda_uses((struct bytes){ body, (size_t)(scanner.at - body) }, name))
            return true;
    }
    return false;
}

/* `int m = 1, n = 2;` and `dim3 grid(4), block;` declare each name that a comma is followed by. */
static bool declares(const struct line *line, const char *name)
{
    struct scanner s = { line->text, line->text + strlen(line->text), false };
    struct scan_token t, before = { SCAN_END, { "", 0 } };
    int depth = 0;

    if (!line->is_kept || !line->name)
        return false;
    if (strcmp(line->name, name) == 0)
        return true;
    for (; (t = scan_next(&s)).kind != SCAN_END; before = t) {
        depth += scan_is_sign(t, '(') + scan_is_sign(t, '{') - scan_is_sign(t, ')') -
                 scan_is_sign(t, '}');
        if (depth == 0 && scan_is_sign(before, ',') && scan_is_word(t, name))
            return true;
    }
    return false;
}

/* Is the word given a value, or a buffer made of it, before line `before`? */
static bool is_line_name(const struct reader *r, const char *name, size_t before)
{
    for (size_t i = 0; i < before; i++)
        if (declares(&r->lines[i], name))
            return true;
    return false;
}

static bool insert_line(struct reader *r, size_t at, const char *text, const char *name)
{
    if (!text || r->count == MAX_LINES)
        return false;
    memmove(&r->lines[at + 1], &r->lines[at], (r->count++ - at) * sizeof(r->lines[0]));
    r->lines[at] = (struct line){ text, name, true };
    return true;
}

/* The n of `std::vector<float> name(n)`; 1024 when it is not found. */
static const char *vector_size(const struct reader *r, const char *name)
{
    struct scanner scanner = { r->program.data, r->program.data + r->program.size, true };
    struct statement s;

    while (main_next_statement(&scanner, &s)) {
        size_t at = main_find_word(&s, name);

        if (at > 0 && main_is_sign(&s, at - 1, '>') && main_is_sign(&s, at + 1, '('))
            return arena_printf(r->arena, "(%s)",
                                main_text_of(r, &s, at + 2, main_argument_end(&s, at + 2)));
    }
    return "1024";
}

/* The member behind `options.` or `p->`, which a cell has no owner of; size 0: none stands here. */
static struct bytes member_at(struct scanner s)
{
    struct scan_token point = scan_next(&s), member;

    if (scan_is_sign(point, '-'))
        point = scan_next(&s);
    member = scan_next(&s);
    if ((!scan_is_sign(point, '.') && !scan_is_sign(point, '>')) || member.kind != SCAN_WORD ||
        (member.text.size == 1 && strchr("xyz", member.text.data[0])) ||
        (*s.at == '(' && !scan_is_word(member, "size")))
        return (struct bytes){ "", 0 };
    return member.text;
}

/* `options.width` is width, and `host.size()` the n that it was made with. */
static void flatten_members(struct reader *r, struct line *line)
{
    struct scanner s = { line->text, line->text + strlen(line->text), false };
    const char *from = line->text;
    struct buf out = { 0 };
    struct scan_token t;

    while ((t = scan_next(&s)).kind != SCAN_END) {
        struct bytes member = t.kind == SCAN_WORD ? member_at(s) : (struct bytes){ "", 0 };
        const char *name = member.size ? arena_copy(r->arena, t.text.data, t.text.size) : NULL;

        if (!name)
            continue;
        buf_put(&out, from, (size_t)(t.text.data - from));
        s.at = from = member.data + member.size;
        if (bytes_equal(member, "size") && strncmp(from, "()", 2) == 0) {
            buf_puts(&out, vector_size(r, name));
            s.at = from = from + 2;
        } else {
            buf_put(&out, member.data, member.size);
        }
    }
    buf_puts(&out, from);
    if (from != line->text && !out.is_failed)
        line->text = arena_copy(r->arena, buf_text(&out), out.size);
    buf_done(&out);
}

/* A line that gives the name what the program gives it somewhere, or something of its kind. */
static bool give_value(struct reader *r, size_t at, const char *name)
{
    const char *type = main_pointee_of(r, name);
    struct statement s;

    if (type)
        return insert_line(r, at, arena_printf(r->arena, "%%buffer %s %s[1024] = iota", type, name),
                           name);
    if (main_definition_of(r, name, &s) && s.count > 0 && main_is_plain(&s, 0))
        return insert_line(
            r, at, arena_printf(r->arena, "%s = %s;", name, main_text_of(r, &s, 0, s.count)), name);
    return insert_line(r, at,
                       arena_printf(r->arena, "%s = 1024; // in place of what the host computes",
                                    name),
                       name);
}

/* Words of lines that no line and no program defines. */
static bool is_word_of_c(const struct scan_token *t)
{
    static const char *const WORDS[] = {
        "int",      "unsigned", "long",    "short",    "char",    "float",       "double",
        "bool",     "size_t",   "const",   "dim3",     "sizeof",  "void",        "nullptr",
        "NULL",     "true",     "false",   "struct",   "auto",    "uint",        "uint8_t",
        "int8_t",   "half",     "__half",  "uint32_t", "int32_t", "uint64_t",    "int64_t",
        "uint16_t", "int16_t",  "std",     "iota",     "zeros",   "buffer",      "show",
        "thrust",   "INFINITY", "FLT_MAX", "signed",   "INT_MAX", "static_cast", "reinterpret_cast",
    };

    for (size_t i = 0; i < COUNT(WORDS); i++)
        if (scan_is_word(*t, WORDS[i]))
            return true;
    return false;
}

/*
 * The first word of a line that has no value there: not called, no member, no type, no name that a
 * line before it or the program gives one; NULL: all have.
 */
static const char *first_unknown(const struct reader *r, size_t at)
{
    const struct line *line = &r->lines[at];
    const char *text = line->text, *launch = strstr(text, "<<<"), *comment = strstr(text, " //");
    struct scanner s = { launch ? launch : text, comment ? comment : text + strlen(text), false };
    struct scan_token t, before = { SCAN_SIGN, { "", 0 } };

    for (; (t = scan_next(&s)).kind != SCAN_END; before = t) {
        const char *name = arena_copy(r->arena, t.text.data, t.text.size);

        if (t.kind != SCAN_WORD || scan_is_sign(before, '.') || scan_is_sign(before, ':') ||
            scan_is_sign(before, '>') || *s.at == '(' || *s.at == ':' || is_word_of_c(&t) || !name)
            continue;
        if (declares(line, name))
            continue;
        if (strncmp(text, "%buffer ", 8) == 0 && t.text.data < text + strcspn(text, "["))
            continue;
        if (!is_line_name(r, name, at) && !is_of_program(r, name))
            return name;
    }
    return NULL;
}

void main_give_values(struct reader *r)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->lines[i].is_kept)
            flatten_members(r, &r->lines[i]);
    for (size_t i = 0; i < r->count;) {
        const char *name = r->lines[i].is_kept && strncmp(r->lines[i].text, "%show", 5) != 0
                               ? first_unknown(r, i)
                               : NULL;

        /* The line before it is looked at next: it may use names itself. */
        if (!name || !give_value(r, i, name))
            i++;
    }
}

/* What is shown is a buffer of some line, and shown once. */
static bool is_worth_showing(const struct reader *r, size_t at)
{
    bool has_buffer = false;

    for (size_t i = 0; i < r->count; i++) {
        if (i < at && r->lines[i].is_kept && strcmp(r->lines[i].text, r->lines[at].text) == 0)
            return false;
        has_buffer |= strncmp(r->lines[i].text, "%buffer ", 8) == 0 &&
                      declares(&r->lines[i], r->lines[at].text + strlen("%show "));
    }
    return has_buffer;
}

void main_drop_shows(struct reader *r)
{
    for (size_t i = 0; i < r->count; i++)
        if (strncmp(r->lines[i].text, "%show ", 6) == 0)
            r->lines[i].is_kept = is_worth_showing(r, i);
}
