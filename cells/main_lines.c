/*
 * A host program around kernels is nearly always the same: numbers, cudaMalloc, copies in, shapes,
 * launches, copies out. Each of these statements has one line of a cell that does the same, so
 * the program is read statement by statement, from main() on and into the functions that it calls,
 * whose parameters are what they were called with. Numbers and shapes are kept as far as what
 * follows uses them; a name that nothing gives a value gets one.
 */
#include "cells/main_lines.h"

#include "cells/cuda_scan.h"
#include "cells/cuda_source.h"

#include <stdlib.h>

enum {
    MAX_TOKENS = 160,
    MAX_LINES = 64,
    MAX_RENAMES = 64,
    MAX_FUNCTIONS = 64,
    MAX_PARAMETERS = 16,
    MAX_CALLS = 24, /* that are followed, in all */
    MAX_DEPTH = 5,
    WIDTH = 79, /* an error's lines are cut at 83 */
};

struct statement {
    struct scan_token tokens[MAX_TOKENS];
    size_t count;
};

struct line {
    const char *text;
    const char *name; /* of a number, shape or buffer: kept where it is used */
    bool is_kept;
};

/* A function of the host: its name, its parameters' names, and what its braces hold. */
struct host_function {
    struct bytes name, parameters[MAX_PARAMETERS], body;
    size_t parameter_count;
};

/* What a parameter's name stands for in the call that is followed. */
struct rename {
    struct bytes name;
    const char *text;
};

struct reader {
    struct arena *arena;
    struct bytes program;
    struct line lines[MAX_LINES];
    size_t count;
    struct host_function functions[MAX_FUNCTIONS];
    size_t function_count;
    struct rename renames[MAX_RENAMES];
    size_t rename_count, calls;
    int depth;
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

/* What a word stands for: the argument of a parameter, or itself (NULL). */
static const char *renamed(const struct reader *r, const struct statement *s, size_t i)
{
    bool is_member = i > 0 && (is_sign(s, i - 1, '.') ||
                               (is_sign(s, i - 1, '>') && i > 1 && is_sign(s, i - 2, '-')));

    for (size_t k = r->rename_count; k > 0 && s->tokens[i].kind == SCAN_WORD && !is_member; k--) {
        struct bytes name = r->renames[k - 1].name, word = s->tokens[i].text;

        if (name.size == word.size && memcmp(name.data, word.data, word.size) == 0)
            return r->renames[k - 1].text;
    }
    return NULL;
}

/* The tokens from one to another as one line: as they were written, but for renamed parameters. */
static const char *text_of(const struct reader *r, const struct statement *s, size_t from,
                           size_t to)
{
    struct buf text = { 0 };
    const char *line;

    to = to < s->count ? to : s->count;
    for (size_t i = from; i < to; i++) {
        struct bytes word = s->tokens[i].text;
        const char *other = renamed(r, s, i), *end;

        if (i > from) {
            end = s->tokens[i - 1].text.data + s->tokens[i - 1].text.size;
            buf_put(&text, end, (size_t)(word.data - end));
        }
        if (other)
            buf_puts(&text, other);
        else
            buf_put(&text, word.data, word.size);
    }
    line = cuda_one_line(r->arena, (struct bytes){ buf_text(&text), text.size });
    buf_done(&text);
    return line;
}

static const char *name_at(const struct reader *r, const struct statement *s, size_t i)
{
    const char *other = renamed(r, s, i);

    return other ? other : arena_copy(r->arena, s->tokens[i].text.data, s->tokens[i].text.size);
}

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

/* `(void **)&d_x` is about d_x, and so are `&d_x[i]` and `d_x + i`. */
static const char *last_word(const struct reader *r, const struct statement *s, size_t from,
                             size_t to)
{
    for (size_t i = from; i < to; i++)
        if (is_sign(s, i, '[') || is_sign(s, i, '+'))
            to = i;
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
    static const char *const CALLS[] = { "sizeof", "min",         "max",  "ceil", "floor",
                                         "sqrt",   "static_cast", "log2", "pow",  "dim3" };

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

/* `grid.x = 4` and `n = 1 << 20` of what was declared before. */
static bool read_assignment(struct reader *r, const struct statement *s)
{
    size_t sign = is_sign(s, 1, '.') ? 3 : 1;

    if (s->count <= sign + 1 || s->tokens[0].kind != SCAN_WORD || !is_sign(s, sign, '=') ||
        is_sign(s, sign + 1, '=') || !is_plain(s, sign + 1))
        return false;
    add_line(r, arena_printf(r->arena, "%s;", text_of(r, s, 0, s->count)), name_at(r, s, 0));
    return true;
}

/* A constant of main() is a variable of the cell: the kernels are compiled without it. */
static size_t without_const(const struct statement *s)
{
    static const char *const MARKS[] = { "static", "const", "constexpr", "auto", NULL };

    return skip_words(s, 0, MARKS);
}

static bool read_number(struct reader *r, const struct statement *s)
{
    size_t name, from = without_const(s);
    bool is_dim = is_word(s, from, "dim3");

    if (is_dim && s->count > from + 1)
        name = from + 1;
    else if (!is_number(s, &name))
        return read_assignment(r, s);
    if (is_dim || is_plain(s, name + 2))
        add_line(r, arena_printf(r->arena, "%s;", text_of(r, s, from, s->count)),
                 name_at(r, s, name));
    else /* atoi(argv[1]): some number, and what it stands for */
        add_line(r,
                 arena_printf(r->arena, "%s 1024; // in place of %s",
                              text_of(r, s, from, name + 2), text_of(r, s, name + 2, s->count)),
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
                return is_word(&s, from, "void") ? "char" : text_of(r, &s, from, star);
    }
    return NULL;
}

/* What initializes one of several declared names, or the variable of a loop: up to , ; or ). */
static void cut_initial(struct statement *s)
{
    int depth = 0;

    for (size_t i = 0; i < s->count; i++) {
        if (is_sign(s, i, ';') || (depth == 0 && (is_sign(s, i, ',') || is_sign(s, i, ')'))))
            s->count = i;
        depth += is_sign(s, i, '(') - is_sign(s, i, ')');
    }
}

/* The right side of `name = ...` in the program, for a count of bytes that has a name. */
static bool definition_of(const struct reader *r, const char *name, struct statement *out)
{
    struct scanner scanner = { r->program.data, r->program.data + r->program.size, true };

    while (name && next_statement(&scanner, out))
        for (size_t i = 0; i + 2 < out->count; i++)
            if (is_word(out, i, name) && is_sign(out, i + 1, '=') && !is_sign(out, i + 2, '=')) {
                out->count -= i + 2;
                memmove(out->tokens, out->tokens + i + 2, out->count * sizeof(*out->tokens));
                cut_initial(out);
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
        definition_of(r, name_at(r, s, from), &named) && find_word(&named, "sizeof") < named.count)
        return count_of(r, &named, 0, named.count, type);
    if (at == to)
        return arena_printf(r->arena, "(%s) / sizeof(%s)", text_of(r, s, from, to), type);
    end = behind(s, at + 1, '(', ')');
    if (at > from && is_sign(s, at - 1, '*'))
        at--;
    else if (is_sign(s, end, '*') && end < to)
        end++;
    if (at == from && end >= to)
        return "1";
    return arena_printf(r->arena, "%s%s%s", text_of(r, s, from, at),
                        at > from && end < to ? " " : "", text_of(r, s, end, to));
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
                 name);
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
    if (i > 0 && s->tokens[i - 1].kind == SCAN_WORD)
        i--;
    while (i > 2 && is_sign(s, i - 1, ':') && is_sign(s, i - 2, ':') &&
           s->tokens[i - 3].kind == SCAN_WORD) /* a::k, but not the label of a case */
        i -= 3;
    return i;
}

/* Where the arguments of <<< >>> end: the stream goes, as a cell's launches run in order. */
static size_t behind_shapes(const struct statement *s, size_t from, size_t to)
{
    for (int commas = 0; from < to; from++) {
        from = argument_end(s, from);
        if (from >= to || ++commas == 3)
            return from < to ? from : to;
    }
    return to;
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
             arena_printf(r->arena, "%s<<<%s>>>%s;",
                          text_of(r, s, kernel_start(s, launch), launch),
                          text_of(r, s, launch + 3, behind_shapes(s, launch + 3, open)),
                          text_of(r, s, open + 3, behind(s, open + 3, '(', ')'))),
             NULL);
}

/* ---- functions ---- */

/* Is this the head of a function, `void f(int n)`? name: the index of its name. */
static bool is_function_head(const struct statement *s, size_t *name)
{
    for (size_t i = 1; i < s->count; i++)
        if (is_sign(s, i, '(')) {
            *name = i - 1;
            return s->tokens[i - 1].kind == SCAN_WORD && behind(s, i, '(', ')') == s->count &&
                   !is_word(s, i - 1, "if") && !is_word(s, i - 1, "for") &&
                   !is_word(s, i - 1, "while") && !is_word(s, i - 1, "switch");
        }
    return false;
}

/* The parenthesis that the one at `close` closes; inside (*f) the word: a step back for each. */
static size_t matching_open(const struct statement *s, size_t close)
{
    int depth = 0;

    for (size_t i = close + 1; i > 0; i--) {
        depth += is_sign(s, i - 1, ')') - is_sign(s, i - 1, '(');
        if (depth == 0)
            return i > 1 && is_sign(s, i - 2, ')') ? i - 2 : i - 1;
    }
    return 0;
}

static void add_function(struct reader *r, const struct statement *s, size_t name,
                         struct bytes body)
{
    struct host_function *f = &r->functions[r->function_count++];
    size_t at = name + 2, end;

    *f = (struct host_function){ .name = s->tokens[name].text, .body = body };
    for (; at < s->count && f->parameter_count < MAX_PARAMETERS; at = end + 1) {
        size_t last;

        end = argument_end(s, at);
        for (last = at; last < end && !is_sign(s, last, '=') && !is_sign(s, last, '['); last++)
            ;
        /* A pointer to a function, void (*f)(int), ends with a bracket: (*f is its beginning. */
        while (last > at && is_sign(s, last - 1, ')'))
            last = matching_open(s, last - 1);
        f->parameters[f->parameter_count++] =
            last > at ? s->tokens[last - 1].text : (struct bytes){ "", 0 };
        if (end + 1 >= s->count)
            break;
    }
}

/* All functions of the host, those inside namespaces and classes too. */
static void find_functions(struct reader *r)
{
    struct scanner scanner = { r->program.data, r->program.data + r->program.size, true };
    struct statement s;

    while (r->function_count < MAX_FUNCTIONS && next_statement(&scanner, &s)) {
        const char *from = scanner.at;
        size_t name;

        if (from[-1] != '{' || find_word(&s, "__global__") < s.count ||
            find_word(&s, "__device__") < s.count || !is_function_head(&s, &name))
            continue;
        skip_body(&scanner);
        add_function(r, &s, name, (struct bytes){ from, (size_t)(scanner.at - from) });
    }
}

static const struct host_function *function_named(const struct reader *r, struct bytes name)
{
    for (size_t i = 0; i < r->function_count; i++)
        if (r->functions[i].name.size == name.size &&
            memcmp(r->functions[i].name.data, name.data, name.size) == 0)
            return &r->functions[i];
    return NULL;
}

/* The function that a word names, by way of a parameter too. */
static const struct host_function *function_at(const struct reader *r, const struct statement *s,
                                               size_t i)
{
    const char *name = name_at(r, s, i);

    return name ? function_named(r, bytes_of(name)) : NULL;
}

/* The call of a function in a statement: its name's index; s->count: there is none. */
static size_t find_call(const struct reader *r, const struct statement *s)
{
    for (size_t i = 0; i + 1 < s->count; i++) {
        const struct host_function *f =
            s->tokens[i].kind == SCAN_WORD ? function_at(r, s, i) : NULL;

        if (f && is_sign(s, i + 1, '(') &&
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

    while (from < to && is_sign(s, from, '&'))
        from++;
    text = text_of(r, s, from, to);
    return to - from == 1 || !text ? text : arena_printf(r->arena, "(%s)", text);
}

static void read_part(struct reader *r, const char *from, const char *to);

/* What a function does, in place of its call. */
static void follow_call(struct reader *r, const struct statement *s, size_t call)
{
    const struct host_function *f = function_at(r, s, call);
    size_t had = r->rename_count, close = behind(s, call + 1, '(', ')') - 1, at = call + 2;
    struct rename fresh[MAX_PARAMETERS];
    size_t n = 0;

    if (r->depth == MAX_DEPTH || ++r->calls > MAX_CALLS)
        return;
    for (; n < f->parameter_count && at < close; n++) {
        size_t end = argument_end(s, at);

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

/* ---- names without a value ---- */

/* Is the word in a directive, or a constant that stands outside of all functions? */
static bool is_of_program(const struct reader *r, const char *name)
{
    struct scanner scanner = { r->program.data, r->program.data + r->program.size, true };
    struct scan_token t;
    struct statement s;
    size_t at;

    while ((t = scan_next(&scanner)).kind != SCAN_END)
        if (t.kind == SCAN_DIRECTIVE && cuda_uses(t.text, name))
            return true;
    scanner = (struct scanner){ r->program.data, r->program.data + r->program.size, true };
    while (next_statement(&scanner, &s)) {
        at = find_word(&s, name);
        if (scanner.at[-1] == '{' && is_function_head(&s, &at)) {
            if (find_word(&s, "__global__") == s.count && find_word(&s, "__device__") == s.count)
                skip_body(&scanner);
            if (is_word(&s, at, name))
                return true;
        } else if (at < s.count && (is_sign(&s, at + 1, '=') || is_sign(&s, at + 1, '[') ||
                                    at + 1 == s.count || is_sign(&s, at + 1, ','))) {
            return true;
        }
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

/* A line that gives the name what the program gives it somewhere, or something of its kind. */
static bool give_value(struct reader *r, size_t at, const char *name)
{
    const char *type = pointee_of(r, name);
    struct statement s;

    if (type)
        return insert_line(r, at, arena_printf(r->arena, "%%buffer %s %s[1024] = iota", type, name),
                           name);
    if (definition_of(r, name, &s) && s.count > 0 && is_plain(&s, 0))
        return insert_line(r, at,
                           arena_printf(r->arena, "%s = %s;", name, text_of(r, &s, 0, s.count)),
                           name);
    return insert_line(r, at,
                       arena_printf(r->arena, "%s = 1024; // in place of what the host computes",
                                    name),
                       name);
}

/* Words of lines that no line and no program defines. */
static bool is_word_of_c(const struct scan_token *t)
{
    static const char *const WORDS[] = {
        "int",      "unsigned", "long",     "short",   "char",     "float",   "double", "bool",
        "size_t",   "const",    "dim3",     "sizeof",  "void",     "nullptr", "NULL",   "true",
        "false",    "struct",   "auto",     "uint",    "uint8_t",  "int8_t",  "half",   "__half",
        "uint32_t", "int32_t",  "uint64_t", "int64_t", "uint16_t", "int16_t", "std",    "iota",
        "zeros",    "buffer",   "show",     "thrust",  "INFINITY", "FLT_MAX", "signed", "INT_MAX",
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

static void give_values(struct reader *r)
{
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

static void drop_shows(struct reader *r)
{
    for (size_t i = 0; i < r->count; i++)
        if (strncmp(r->lines[i].text, "%show ", 6) == 0)
            r->lines[i].is_kept = is_worth_showing(r, i);
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
            line->is_kept |= r->lines[k].is_kept && r->lines[k].text[1] != 's' &&
                             cuda_uses(bytes_of(r->lines[k].text), line->name);
    }
}

static void read_part(struct reader *r, const char *from, const char *to)
{
    struct scanner scanner = { from, to, true };
    struct statement s;

    while (next_statement(&scanner, &s))
        read_statement(r, &s);
}

/* From main() on; functions that nothing was seen to call, when that launched nothing. */
static void read_program(struct reader *r)
{
    const struct host_function *entry = function_named(r, bytes_of("main"));

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
    find_functions(r);
    read_program(r);
    keep_used(r);
    give_values(r);
    drop_shows(r);
    for (int is_show = 0; is_show <= 1; is_show++)
        for (size_t i = 0; i < r->count && r->has_launch; i++)
            if (r->lines[i].is_kept && (strncmp(r->lines[i].text, "%show", 5) == 0) == is_show)
                put_line(r->lines[i].text, out);
}
