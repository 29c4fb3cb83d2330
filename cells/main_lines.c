/*
 * A host program around kernels is nearly always the same: numbers, cudaMalloc, copies in, shapes,
 * launches, copies out. Each of these statements has one line of a cell that does the same, so
 * the program is read statement by statement and those lines are kept. Numbers and shapes are
 * kept as far as what follows uses them.
 */
#include "cells/main_lines.h"

#include "cells/cuda_scan.h"
#include "cells/cuda_source.h"

#include <stdlib.h>

enum { MAX_TOKENS = 160, MAX_LINES = 48, WIDTH = 79 /* an error's lines are cut at 83 */ };

struct statement {
    struct scan_token tokens[MAX_TOKENS];
    size_t count;
};

struct line {
    const char *text;
    const char *name; /* of a number or shape: kept where it is used */
    bool is_kept;
};

struct reader {
    struct arena *arena;
    struct bytes program;
    struct line lines[MAX_LINES];
    size_t count;
    bool has_launch;
};

/* ---- statements ---- */

/* Over the body of a function of the device: its opening brace was read. */
static void skip_body(struct scanner *s)
{
    for (int depth = 1; depth > 0;) {
        struct scan_token t = scan_next(s);

        if (t.kind == SCAN_END)
            return;
        depth += scan_is_sign(t, '{') - scan_is_sign(t, '}');
    }
}

/* Up to the next ; { or } outside parentheses; false at the end of the program. */
static bool next_statement(struct scanner *s, struct statement *out)
{
    bool is_device = false;
    int depth = 0;

    out->count = 0;
    for (;;) {
        struct scan_token t = scan_next(s);

        if (t.kind == SCAN_END)
            return out->count > 0;
        if (t.kind == SCAN_DIRECTIVE)
            continue;
        is_device |= scan_is_word(t, "__global__") || scan_is_word(t, "__device__");
        depth += scan_is_sign(t, '(') - scan_is_sign(t, ')');
        if (scan_is_sign(t, '{') && is_device)
            skip_body(s);
        if ((scan_is_sign(t, ';') && depth <= 0) || scan_is_sign(t, '{') || scan_is_sign(t, '}'))
            return true;
        if (out->count < MAX_TOKENS)
            out->tokens[out->count++] = t;
    }
}

static bool is_sign(const struct statement *s, size_t i, char c)
{
    return i < s->count && scan_is_sign(s->tokens[i], c);
}

static bool is_word(const struct statement *s, size_t i, const char *word)
{
    return i < s->count && scan_is_word(s->tokens[i], word);
}

static size_t find_word(const struct statement *s, const char *word)
{
    for (size_t i = 0; i < s->count; i++)
        if (is_word(s, i, word))
            return i;
    return s->count;
}

/* The tokens from one to another as one line, as they were written. */
static const char *text_of(struct arena *arena, const struct statement *s, size_t from, size_t to)
{
    struct bytes text = { "", 0 };

    if (to > s->count)
        to = s->count;
    if (from < to)
        text = (struct bytes){ s->tokens[from].text.data,
                               (size_t)(s->tokens[to - 1].text.data + s->tokens[to - 1].text.size -
                                        s->tokens[from].text.data) };
    return cuda_one_line(arena, text);
}

static const char *name_at(const struct reader *r, const struct statement *s, size_t i)
{
    return arena_copy(r->arena, s->tokens[i].text.data, s->tokens[i].text.size);
}

static void add_line(struct reader *r, const char *text, const char *name)
{
    if (text && r->count < MAX_LINES)
        r->lines[r->count++] = (struct line){ text, name, name == NULL };
}

/* Behind the bracket that closes the one at `open`. */
static size_t behind(const struct statement *s, size_t open, char opening, char closing)
{
    int depth = 0;

    for (size_t i = open; i < s->count; i++) {
        depth += is_sign(s, i, opening) - is_sign(s, i, closing);
        if (depth == 0)
            return i + 1;
    }
    return s->count;
}

/* The end of an argument: its comma, or the parenthesis that closes the call. */
static size_t argument_end(const struct statement *s, size_t from)
{
    int depth = 0;

    for (size_t i = from; i < s->count; i++) {
        if (depth == 0 && (is_sign(s, i, ',') || is_sign(s, i, ')')))
            return i;
        depth += is_sign(s, i, '(') - is_sign(s, i, ')');
    }
    return s->count;
}

/* `(void **)&d_x` is about d_x. */
static const char *last_word(const struct reader *r, const struct statement *s, size_t from,
                             size_t to)
{
    for (size_t i = to; i > from; i--)
        if (s->tokens[i - 1].kind == SCAN_WORD)
            return name_at(r, s, i - 1);
    return NULL;
}

/* ---- numbers and shapes ---- */

static size_t skip_words(const struct statement *s, size_t i, const char *const *words)
{
    for (size_t k = 0; words[k];)
        if (is_word(s, i, words[k])) {
            i++;
            k = 0;
        } else {
            k++;
        }
    return i;
}

/* Is this something that expressions of cells compute? */
static bool is_plain(const struct statement *s, size_t from)
{
    static const char *const CALLS[] = { "sizeof", "min", "max", "ceil", "floor", "sqrt" };

    for (size_t i = from; i < s->count; i++) {
        bool is_call = s->tokens[i].kind == SCAN_WORD && is_sign(s, i + 1, '('), is_known = false;

        for (size_t k = 0; k < COUNT(CALLS); k++)
            is_known |= is_word(s, i, CALLS[k]);
        if (s->tokens[i].kind == SCAN_TEXT || is_sign(s, i, '[') || is_sign(s, i, '&') ||
            is_sign(s, i, ':') || (is_call && !is_known))
            return false;
    }
    return true;
}

/* `const int n = 1 << 20` */
static bool is_number(const struct statement *s, size_t *name)
{
    static const char *const MARKS[] = { "static", "const", "constexpr", NULL };
    static const char *const TYPES[] = { "unsigned", "long",   "short",    "int",     "size_t",
                                         "float",    "double", "uint32_t", "int32_t", "uint64_t",
                                         "int64_t",  "auto",   "const",    NULL };
    size_t first = skip_words(s, 0, MARKS);

    *name = skip_words(s, first, TYPES);
    return *name > first && *name < s->count && s->tokens[*name].kind == SCAN_WORD &&
           is_sign(s, *name + 1, '=');
}

static bool read_number(struct reader *r, const struct statement *s)
{
    size_t name;

    if (is_word(s, 0, "dim3") && s->count > 1)
        name = 1;
    else if (!is_number(s, &name))
        return false;
    if (is_word(s, 0, "dim3") || is_plain(s, name + 2))
        add_line(r, arena_printf(r->arena, "%s;", text_of(r->arena, s, 0, s->count)),
                 name_at(r, s, name));
    else /* atoi(argv[1]): some number, and what it stands for */
        add_line(r,
                 arena_printf(r->arena, "%s 1024; // in place of %s",
                              text_of(r->arena, s, 0, name + 2),
                              text_of(r->arena, s, name + 2, s->count)),
                 name_at(r, s, name));
    return true;
}

/* ---- memory ---- */

/* The type in `float *a, *name` of any statement; NULL: not found. */
static const char *pointee_of(const struct reader *r, const char *name)
{
    static const char *const MARKS[] = { "static", "const", "struct", NULL };
    struct scanner scanner = { r->program.data, r->program.data + r->program.size, true };
    struct statement s;

    while (next_statement(&scanner, &s)) {
        size_t from = skip_words(&s, 0, MARKS), star = from;

        while (star < s.count && s.tokens[star].kind == SCAN_WORD)
            star++;
        if (star == from || !is_sign(&s, star, '*') || is_word(&s, from, "return"))
            continue;
        for (size_t i = star; i + 1 < s.count; i++)
            if (is_sign(&s, i, '*') && is_word(&s, i + 1, name))
                return is_word(&s, from, "void") ? "char" : text_of(r->arena, &s, from, star);
    }
    return NULL;
}

/* The right side of `name = ...` in the program, for a count of bytes that has a name. */
static bool definition_of(const struct reader *r, const struct statement *use, size_t at,
                          struct statement *out)
{
    struct scanner scanner = { r->program.data, r->program.data + r->program.size, true };
    const char *name = name_at(r, use, at);

    while (name && next_statement(&scanner, out))
        for (size_t i = 0; i + 2 < out->count; i++)
            if (is_word(out, i, name) && is_sign(out, i + 1, '=') && !is_sign(out, i + 2, '=')) {
                out->count -= i + 2;
                memmove(out->tokens, out->tokens + i + 2, out->count * sizeof(*out->tokens));
                return true;
            }
    return false;
}

/* Elements in a number of bytes: `n * sizeof(float)` without its sizeof. */
static const char *count_of(const struct reader *r, const struct statement *s, size_t from,
                            size_t to, const char *type)
{
    struct statement named;
    size_t at = from, end;

    while (at < to && !is_word(s, at, "sizeof"))
        at++;
    if (at == to && to - from == 1 && s->tokens[from].kind == SCAN_WORD &&
        definition_of(r, s, from, &named) && find_word(&named, "sizeof") < named.count)
        return count_of(r, &named, 0, named.count, type);
    if (at == to)
        return arena_printf(r->arena, "(%s) / sizeof(%s)", text_of(r->arena, s, from, to), type);
    end = behind(s, at + 1, '(', ')');
    if (at > from && is_sign(s, at - 1, '*'))
        at--;
    else if (is_sign(s, end, '*') && end < to)
        end++;
    if (at == from && end >= to)
        return "1";
    return arena_printf(r->arena, "%s%s%s", text_of(r->arena, s, from, at),
                        at > from && end < to ? " " : "", text_of(r->arena, s, end, to));
}

/* Does the program copy from the host to this pointer? */
static bool is_filled(const struct reader *r, const char *name)
{
    struct scanner scanner = { r->program.data, r->program.data + r->program.size, true };
    struct statement s;

    while (next_statement(&scanner, &s)) {
        size_t call = find_word(&s, "cudaMemcpy");

        call = call < s.count ? call : find_word(&s, "cudaMemcpyAsync");
        if (call < s.count && find_word(&s, "cudaMemcpyHostToDevice") < s.count) {
            const char *to = last_word(r, &s, call + 2, argument_end(&s, call + 2));

            if (to && strcmp(to, name) == 0)
                return true;
        }
    }
    return false;
}

static void read_malloc(struct reader *r, const struct statement *s, size_t call, bool is_managed)
{
    size_t comma = argument_end(s, call + 2), end = argument_end(s, comma + 1);
    const char *name = last_word(r, s, call + 2, comma), *type, *count;

    if (!name || !is_sign(s, comma, ','))
        return;
    type = pointee_of(r, name);
    type = type ? type : "float";
    count = count_of(r, s, comma + 1, end, type);
    if (count)
        add_line(r,
                 arena_printf(r->arena, "%%buffer %s %s[%s] = %s", type, name, count,
                              is_managed || is_filled(r, name) ? "iota" : "zeros"),
                 NULL);
}

static void read_copy_back(struct reader *r, const struct statement *s, size_t call)
{
    size_t comma = argument_end(s, call + 2);
    const char *from = last_word(r, s, comma + 1, argument_end(s, comma + 1));

    if (from)
        add_line(r, arena_printf(r->arena, "%%show %s", from), NULL);
}

/* ---- launches ---- */

static size_t find_launch(const struct statement *s)
{
    for (size_t i = 1; i + 2 < s->count; i++)
        if (is_sign(s, i, '<') && is_sign(s, i + 1, '<') && is_sign(s, i + 2, '<'))
            return i;
    return s->count;
}

/* Where `a::k<float>` before the <<< begins. */
static size_t kernel_start(const struct statement *s, size_t launch)
{
    size_t i = launch;

    for (int depth = 0; i > 0 && (is_sign(s, i - 1, '>') || depth > 0); i--)
        depth += is_sign(s, i - 1, '>') - is_sign(s, i - 1, '<');
    while (i > 0 && (s->tokens[i - 1].kind == SCAN_WORD || is_sign(s, i - 1, ':')) &&
           !is_word(s, i - 1, "else") && !is_word(s, i - 1, "do"))
        i--;
    return i;
}

static void read_launch(struct reader *r, const struct statement *s, size_t launch)
{
    size_t open = launch;

    while (open < s->count &&
           !(is_sign(s, open, '>') && is_sign(s, open + 1, '>') && is_sign(s, open + 2, '>')))
        open++;
    if (!is_sign(s, open + 3, '('))
        return;
    r->has_launch = true;
    add_line(r,
             arena_printf(r->arena, "%s;",
                          text_of(r->arena, s, kernel_start(s, launch),
                                  behind(s, open + 3, '(', ')'))),
             NULL);
}

/* ---- all ---- */

static void read_statement(struct reader *r, const struct statement *s)
{
    static const char *const COPIES[] = { "cudaMemcpy", "cudaMemcpyAsync" };
    size_t launch = find_launch(s), at;

    if (launch < s->count)
        read_launch(r, s, launch);
    else if ((at = find_word(s, "cudaMalloc")) < s->count)
        read_malloc(r, s, at, false);
    else if ((at = find_word(s, "cudaMallocManaged")) < s->count)
        read_malloc(r, s, at, true);
    else if (!read_number(r, s) && find_word(s, "cudaMemcpyDeviceToHost") < s->count)
        for (size_t i = 0; i < COUNT(COPIES); i++)
            if ((at = find_word(s, COPIES[i])) < s->count)
                read_copy_back(r, s, at);
}

/* A number stays when a line that stays and stands behind it uses it. */
static void keep_used(struct reader *r)
{
    for (size_t i = r->count; i > 0; i--) {
        struct line *line = &r->lines[i - 1];

        for (size_t k = i; k < r->count && line->name; k++)
            line->is_kept |=
                r->lines[k].is_kept && cuda_uses(bytes_of(r->lines[k].text), line->name);
    }
}

static void read_part(struct reader *r, const char *from, const char *to)
{
    struct scanner scanner = { from, to, true };
    struct statement s;

    while (next_statement(&scanner, &s))
        read_statement(r, &s);
}

/* Where `main(` stands; the end of the text when it has none. */
static const char *find_main(struct bytes program)
{
    struct scanner s = { program.data, program.data + program.size, true };
    struct scan_token t, before = { SCAN_END, { "", 0 } };

    while ((t = scan_next(&s)).kind != SCAN_END) {
        if (scan_is_word(before, "main") && scan_is_sign(t, '('))
            return before.text.data;
        before = t;
    }
    return program.data + program.size;
}

/* In pieces that a cell reads as one line: C goes on by itself, a magic with a backslash. */
static void put_line(const char *text, struct buf *out)
{
    size_t left = strlen(text);

    while (left > WIDTH && !strstr(text, "//")) {
        size_t n = WIDTH;

        while (n > WIDTH / 2 && text[n] != ' ')
            n--;
        if (text[n] != ' ')
            break;
        buf_printf(out, "%.*s%s\n    ", (int)n, text, text[0] == '%' ? " \\" : "");
        text += n + 1;
        left -= n + 1;
    }
    buf_printf(out, "%s\n", text);
}

void main_lines_of(struct arena *arena, struct bytes program, struct buf *out)
{
    struct reader *r = arena_alloc(arena, sizeof(*r));
    const char *main_at = find_main(program);

    if (!r)
        return;
    r->arena = arena;
    r->program = program;
    /* main() makes what its functions launch over. */
    read_part(r, main_at, program.data + program.size);
    read_part(r, program.data, main_at);
    keep_used(r);
    for (int is_show = 0; is_show <= 1; is_show++)
        for (size_t i = 0; i < r->count && r->has_launch; i++)
            if (r->lines[i].is_kept && (strncmp(r->lines[i].text, "%show", 5) == 0) == is_show)
                put_line(r->lines[i].text, out);
}
