/*
 * A host program around kernels is nearly always the same: numbers, cudaMalloc, copies in, shapes,
 * launches, copies out. Each of these statements has one line of a cell that does the same, so
 * the program is read statement by statement, from main() on and into the functions that it calls,
 * whose parameters are what they were called with. Numbers and shapes are kept as far as what
 * follows uses them; a name that nothing gives a value gets one.
 */
#include "cells/main_lines.h"

#include "cells/main_internal.h"
#include "cells/cuda_source.h"

enum {
    MAX_CALLS = 24, /* that are followed, in all */
    MAX_DEPTH = 5,
    WIDTH = 79, /* an error's lines are cut at 83 */
};

/* The last line with this name says the same already. */
static bool is_said(const struct reader *r, const char *text, const char *name)
{
    for (size_t i = r->count; i > 0 && name; i--)
        if (r->lines[i - 1].name && strcmp(r->lines[i - 1].name, name) == 0)
            return strcmp(r->lines[i - 1].text, text) == 0;
    return false;
}

static void add_line(struct reader *r, const char *text, const char *name)
{
    if (text && r->count < MAX_LINES && !is_said(r, text, name))
        r->lines[r->count++] = (struct line){ text, name, name == NULL };
}

/* `(void **)&d_x` is about d_x, and so are `&d_x[i]` and `d_x + i`. */
static const char *last_word(const struct reader *r, const struct statement *s, size_t from,
                             size_t to)
{
    for (size_t i = from; i < to; i++)
        if (main_is_sign(s, i, '[') || main_is_sign(s, i, '+'))
            to = i;
    for (size_t i = to; i > from; i--)
        if (s->tokens[i - 1].kind == SCAN_WORD)
            return main_name_at(r, s, i - 1);
    return NULL;
}

/* ---- numbers and shapes ---- */

/* `const int n = 1 << 20` */
static bool is_number(const struct statement *s, size_t *name)
{
    static const char *const MARKS[] = { "static", "const", "constexpr", NULL };
    static const char *const TYPES[] = { "unsigned", "long",   "short",    "int",     "size_t",
                                         "float",    "double", "uint32_t", "int32_t", "uint64_t",
                                         "int64_t",  "auto",   "const",    NULL };
    size_t first = main_skip_words(s, 0, MARKS);

    *name = main_skip_words(s, first, TYPES);
    return *name > first && *name < s->count && s->tokens[*name].kind == SCAN_WORD &&
           main_is_sign(s, *name + 1, '=');
}

/* `grid.x = 4` and `n = 1 << 20` of what was declared before. */
static bool read_assignment(struct reader *r, const struct statement *s)
{
    size_t sign = main_is_sign(s, 1, '.') ? 3 : 1;

    if (s->count <= sign + 1 || s->tokens[0].kind != SCAN_WORD || !main_is_sign(s, sign, '=') ||
        main_is_sign(s, sign + 1, '=') || !main_is_plain(s, sign + 1))
        return false;
    add_line(r, arena_printf(r->arena, "%s;", main_text_of(r, s, 0, s->count)),
             main_name_at(r, s, 0));
    return true;
}

/* A constant of main() is a variable of the cell: the kernels are compiled without it. */
static size_t without_const(const struct statement *s)
{
    static const char *const MARKS[] = { "static", "const", "constexpr", "auto", NULL };

    return main_skip_words(s, 0, MARKS);
}

static bool read_number(struct reader *r, const struct statement *s)
{
    size_t name, from = without_const(s);
    bool is_dim = main_is_word(s, from, "dim3");

    if (is_dim && s->count > from + 1)
        name = from + 1;
    else if (!is_number(s, &name))
        return read_assignment(r, s);
    if (is_dim || main_is_plain(s, name + 2))
        add_line(r, arena_printf(r->arena, "%s;", main_text_of(r, s, from, s->count)),
                 main_name_at(r, s, name));
    else /* atoi(argv[1]): some number, and what it stands for */
        add_line(r,
                 arena_printf(r->arena, "%s 1024; // in place of %s",
                              main_text_of(r, s, from, name + 2),
                              main_text_of(r, s, name + 2, s->count)),
                 main_name_at(r, s, name));
    return true;
}

/* ---- memory ---- */

/* Elements in a number of bytes: `n * sizeof(float)` without its sizeof. */
static const char *count_of(const struct reader *r, const struct statement *s, size_t from,
                            size_t to, const char *type)
{
    struct statement named;
    size_t at = from, end;

    while (at < to && !main_is_word(s, at, "sizeof"))
        at++;
    if (at == to && to - from == 1 && s->tokens[from].kind == SCAN_WORD &&
        main_definition_of(r, main_name_at(r, s, from), &named) &&
        main_find_word(&named, "sizeof") < named.count)
        return count_of(r, &named, 0, named.count, type);
    if (at == to)
        return arena_printf(r->arena, "(%s) / sizeof(%s)", main_text_of(r, s, from, to), type);
    end = main_behind(s, at + 1, '(', ')');
    if (at > from && main_is_sign(s, at - 1, '*'))
        at--;
    else if (main_is_sign(s, end, '*') && end < to)
        end++;
    if (at == from && end >= to)
        return "1";
    return arena_printf(r->arena, "%s%s%s", main_text_of(r, s, from, at),
                        at > from && end < to ? " " : "", main_text_of(r, s, end, to));
}

/* Does the program copy from the host to this pointer? */
static bool is_filled(const struct reader *r, const char *name)
{
    struct scanner scanner = { r->program.data, r->program.data + r->program.size, true };
    struct statement s;

    while (main_next_statement(&scanner, &s)) {
        size_t call = main_find_word(&s, "cudaMemcpy");

        call = call < s.count ? call : main_find_word(&s, "cudaMemcpyAsync");
        if (call < s.count && main_find_word(&s, "cudaMemcpyHostToDevice") < s.count) {
            const char *to = last_word(r, &s, call + 2, main_argument_end(&s, call + 2));

            if (to && strcmp(to, name) == 0)
                return true;
        }
    }
    return false;
}

/* Numbers that count up, as far as the type holds them. */
static const char *filling_of(const char *type)
{
    return strstr(type, "char") || strstr(type, "int8_t") ? "{i % 100}"
           : strstr(type, "bool")                         ? "{i % 2}"
                                                          : "iota";
}

static void read_malloc(struct reader *r, const struct statement *s, size_t call, bool is_managed)
{
    size_t comma = main_argument_end(s, call + 2), end = main_argument_end(s, comma + 1);
    const char *name = last_word(r, s, call + 2, comma), *type, *count;

    if (!name || !main_is_sign(s, comma, ','))
        return;
    type = main_pointee_of(r, name);
    type = type ? type : "float";
    count = count_of(r, s, comma + 1, end, type);
    if (count)
        add_line(r,
                 arena_printf(r->arena, "%%buffer %s %s[%s] = %s", type, name, count,
                              is_managed || is_filled(r, name) ? filling_of(type) : "zeros"),
                 name);
}

static void read_copy_back(struct reader *r, const struct statement *s, size_t call)
{
    size_t comma = main_argument_end(s, call + 2);
    const char *from = last_word(r, s, comma + 1, main_argument_end(s, comma + 1));

    if (from)
        add_line(r, arena_printf(r->arena, "%%show %s", from), NULL);
}

/* ---- launches ---- */

static size_t find_launch(const struct statement *s)
{
    for (size_t i = 1; i + 2 < s->count; i++)
        if (main_is_sign(s, i, '<') && main_is_sign(s, i + 1, '<') && main_is_sign(s, i + 2, '<'))
            return i;
    return s->count;
}

/* Where `a::k<float>` before the <<< begins. */
static size_t kernel_start(const struct statement *s, size_t launch)
{
    size_t i = launch;

    for (int depth = 0; i > 0 && (main_is_sign(s, i - 1, '>') || depth > 0); i--)
        depth += main_is_sign(s, i - 1, '>') - main_is_sign(s, i - 1, '<');
    if (i > 0 && s->tokens[i - 1].kind == SCAN_WORD)
        i--;
    while (i > 2 && main_is_sign(s, i - 1, ':') && main_is_sign(s, i - 2, ':') &&
           s->tokens[i - 3].kind == SCAN_WORD) /* a::k, but not the label of a case */
        i -= 3;
    return i;
}

/* Where the arguments of <<< >>> end: the stream goes, as a cell's launches run in order. */
static size_t behind_shapes(const struct statement *s, size_t from, size_t to)
{
    for (int commas = 0; from < to; from++) {
        from = main_argument_end(s, from);
        if (from >= to || ++commas == 3)
            return from < to ? from : to;
    }
    return to;
}

static void read_launch(struct reader *r, const struct statement *s, size_t launch)
{
    size_t open = launch;

    while (open < s->count && !(main_is_sign(s, open, '>') && main_is_sign(s, open + 1, '>') &&
                                main_is_sign(s, open + 2, '>')))
        open++;
    if (!main_is_sign(s, open + 3, '('))
        return;
    r->has_launch = true;
    add_line(r,
             arena_printf(r->arena, "%s<<<%s>>>%s;",
                          main_text_of(r, s, kernel_start(s, launch), launch),
                          main_text_of(r, s, launch + 3, behind_shapes(s, launch + 3, open)),
                          main_text_of(r, s, open + 3, main_behind(s, open + 3, '(', ')'))),
             NULL);
}

/* The function that a word names, by way of a parameter too. */
static const struct host_function *function_at(const struct reader *r, const struct statement *s,
                                               size_t i)
{
    const char *name = main_name_at(r, s, i);

    return name ? main_function_named(r, bytes_of(name)) : NULL;
}

/* The call of a function in a statement: its name's index; s->count: there is none. */
static size_t find_call(const struct reader *r, const struct statement *s)
{
    for (size_t i = 0; i + 1 < s->count; i++) {
        const struct host_function *f =
            s->tokens[i].kind == SCAN_WORD ? function_at(r, s, i) : NULL;

        if (f && main_is_sign(s, i + 1, '(') &&
            (memmem(f->body.data, f->body.size, "<<<", 3) ||
             memmem(f->body.data, f->body.size, "cudaMalloc", 10)))
            return i;
    }
    return s->count;
}

/* An argument as the parameter's name stands for it: &d_x is d_x, a sum is in brackets. */
static const char *argument_text(const struct reader *r, const struct statement *s, size_t from,
                                 size_t to)
{
    const char *text;

    while (from < to && main_is_sign(s, from, '&'))
        from++;
    text = main_text_of(r, s, from, to);
    return to - from == 1 || !text ? text : arena_printf(r->arena, "(%s)", text);
}

static void read_part(struct reader *r, const char *from, const char *to);

/* What a function does, in place of its call. */
static void follow_call(struct reader *r, const struct statement *s, size_t call)
{
    const struct host_function *f = function_at(r, s, call);
    size_t had = r->rename_count, close = main_behind(s, call + 1, '(', ')') - 1, at = call + 2;
    struct rename fresh[MAX_PARAMETERS];
    size_t n = 0;

    if (r->depth == MAX_DEPTH || ++r->calls > MAX_CALLS)
        return;
    for (; n < f->parameter_count && at < close; n++) {
        size_t end = main_argument_end(s, at);

        fresh[n] = (struct rename){ f->parameters[n], argument_text(r, s, at, end) };
        if (!fresh[n].text)
            return;
        at = end + 1;
    }
    for (size_t i = 0; i < n && r->rename_count < MAX_RENAMES; i++)
        r->renames[r->rename_count++] = fresh[i];
    r->depth++;
    read_part(r, f->body.data, f->body.data + f->body.size);
    r->depth--;
    r->rename_count = had;
}

/* ---- all ---- */

static void read_statement(struct reader *r, const struct statement *s)
{
    static const char *const COPIES[] = { "cudaMemcpy", "cudaMemcpyAsync" };
    size_t launch = find_launch(s), at;

    if (launch < s->count)
        read_launch(r, s, launch);
    else if ((at = find_call(r, s)) < s->count)
        follow_call(r, s, at);
    else if ((at = main_find_word(s, "cudaMalloc")) < s->count)
        read_malloc(r, s, at, false);
    else if ((at = main_find_word(s, "cudaMallocManaged")) < s->count)
        read_malloc(r, s, at, true);
    else if (!read_number(r, s) && main_find_word(s, "cudaMemcpyDeviceToHost") < s->count)
        for (size_t i = 0; i < COUNT(COPIES); i++)
            if ((at = main_find_word(s, COPIES[i])) < s->count)
                read_copy_back(r, s, at);
}

/* A number stays when a line that stays and stands behind it uses it. */
static void keep_used(struct reader *r)
{
    for (size_t i = r->count; i > 0; i--) {
        struct line *line = &r->lines[i - 1];

        for (size_t k = i; k < r->count && line->name; k++)
            line->is_kept |= r->lines[k].is_kept && r->lines[k].text[1] != 's' &&
                             cuda_uses(bytes_of(r->lines[k].text), line->name);
    }
}

static void read_part(struct reader *r, const char *from, const char *to)
{
    struct scanner scanner = { from, to, true };
    struct statement s;

    while (main_next_statement(&scanner, &s))
        read_statement(r, &s);
}

/* From main() on; functions that nothing was seen to call, when that launched nothing. */
static void read_program(struct reader *r)
{
    const struct host_function *entry = main_function_named(r, bytes_of("main"));

    if (entry)
        read_part(r, entry->body.data, entry->body.data + entry->body.size);
    for (size_t i = 0; i < r->function_count && entry && !r->has_launch; i++)
        read_part(r, r->functions[i].body.data,
                  r->functions[i].body.data + r->functions[i].body.size);
    if (!entry)
        read_part(r, r->program.data, r->program.data + r->program.size);
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

    if (!r)
        return;
    r->arena = arena;
    r->program = program;
    main_find_functions(r);
    read_program(r);
    keep_used(r);
    main_give_values(r);
    main_drop_shows(r);
    for (int is_show = 0; is_show <= 1; is_show++)
        for (size_t i = 0; i < r->count && r->has_launch; i++)
            if (r->lines[i].is_kept && (strncmp(r->lines[i].text, "%show", 5) == 0) == is_show)
                put_line(r->lines[i].text, out);
}
