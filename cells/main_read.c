/*
 * A program's text as statements. Nothing is kept of them: whoever looks for a name's definition
 * reads the program again, which is short. Parameters of the function that is followed are seen
 * as the arguments of its call.
 */
#include "cells/main_internal.h"

#include "cells/cuda_source.h"

/* ---- statements ---- */

/* Over the body of a function of the device: its opening brace was read. */
void main_skip_body(struct scanner *s)
{
    for (int depth = 1; depth > 0;) {
        struct scan_token t = scan_next(s);

        if (t.kind == SCAN_END)
            return;
        depth += scan_is_sign(t, '{') - scan_is_sign(t, '}');
    }
}

/* Up to the next ; { or } outside parentheses; false at the end of the program. */
bool main_next_statement(struct scanner *s, struct statement *out)
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
            main_skip_body(s);
        if ((scan_is_sign(t, ';') && depth <= 0) || scan_is_sign(t, '{') || scan_is_sign(t, '}'))
            return true;
        if (out->count < MAX_TOKENS)
            out->tokens[out->count++] = t;
    }
}

bool main_is_sign(const struct statement *s, size_t i, char c)
{
    return i < s->count && scan_is_sign(s->tokens[i], c);
}

bool main_is_word(const struct statement *s, size_t i, const char *word)
{
    return i < s->count && scan_is_word(s->tokens[i], word);
}

size_t main_find_word(const struct statement *s, const char *word)
{
    for (size_t i = 0; i < s->count; i++)
        if (main_is_word(s, i, word))
            return i;
    return s->count;
}

/* What a word stands for: the argument of a parameter, or itself (NULL). */
static const char *renamed(const struct reader *r, const struct statement *s, size_t i)
{
    bool is_member =
        i > 0 && (main_is_sign(s, i - 1, '.') ||
                  (main_is_sign(s, i - 1, '>') && i > 1 && main_is_sign(s, i - 2, '-')));

    for (size_t k = r->rename_count; k > 0 && s->tokens[i].kind == SCAN_WORD && !is_member; k--) {
        struct bytes name = r->renames[k - 1].name, word = s->tokens[i].text;

        if (name.size == word.size && memcmp(name.data, word.data, word.size) == 0)
            return r->renames[k - 1].text;
    }
    return NULL;
}

/* The tokens from one to another as one line: as they were written, but for renamed parameters. */
const char *main_text_of(const struct reader *r, const struct statement *s, size_t from, size_t to)
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

const char *main_name_at(const struct reader *r, const struct statement *s, size_t i)
{
    const char *other = renamed(r, s, i);

    return other ? other : arena_copy(r->arena, s->tokens[i].text.data, s->tokens[i].text.size);
}

/* Behind the bracket that closes the one at `open`. */
size_t main_behind(const struct statement *s, size_t open, char opening, char closing)
{
    int depth = 0;

    for (size_t i = open; i < s->count; i++) {
        depth += main_is_sign(s, i, opening) - main_is_sign(s, i, closing);
        if (depth == 0)
            return i + 1;
    }
    return s->count;
}

/* The end of an argument: its comma, or the parenthesis that closes the call. */
size_t main_argument_end(const struct statement *s, size_t from)
{
    int depth = 0;

    for (size_t i = from; i < s->count; i++) {
        if (depth == 0 && (main_is_sign(s, i, ',') || main_is_sign(s, i, ')')))
            return i;
        depth += main_is_sign(s, i, '(') - main_is_sign(s, i, ')');
    }
    return s->count;
}

/* ---- what the program says of a name ---- */

size_t main_skip_words(const struct statement *s, size_t i, const char *const *words)
{
    for (size_t k = 0; words[k];)
        if (main_is_word(s, i, words[k])) {
            i++;
            k = 0;
        } else {
            k++;
        }
    return i;
}

/* Is this something that expressions of cells compute? */
bool main_is_plain(const struct statement *s, size_t from)
{
    static const char *const CALLS[] = { "sizeof", "min",         "max",  "ceil", "floor",
                                         "sqrt",   "static_cast", "log2", "pow",  "dim3" };

    for (size_t i = from; i < s->count; i++) {
        bool is_call = s->tokens[i].kind == SCAN_WORD && main_is_sign(s, i + 1, '('),
             is_known = false;

        for (size_t k = 0; k < COUNT(CALLS); k++)
            is_known |= main_is_word(s, i, CALLS[k]);
        if (s->tokens[i].kind == SCAN_TEXT || main_is_sign(s, i, '[') || main_is_sign(s, i, '&') ||
            main_is_sign(s, i, ':') || (is_call && !is_known))
            return false;
    }
    return true;
}

/* The type in `float *a, *name` of any statement; NULL: not found. */
const char *main_pointee_of(const struct reader *r, const char *name)
{
    static const char *const MARKS[] = { "static", "const", "struct", NULL };
    struct scanner scanner = { r->program.data, r->program.data + r->program.size, true };
    struct statement s;

    while (main_next_statement(&scanner, &s)) {
        size_t from = main_skip_words(&s, 0, MARKS), star = from;

        while (star < s.count && s.tokens[star].kind == SCAN_WORD)
            star++;
        if (star == from || !main_is_sign(&s, star, '*') || main_is_word(&s, from, "return"))
            continue;
        for (size_t i = star; i + 1 < s.count; i++)
            if (main_is_sign(&s, i, '*') && main_is_word(&s, i + 1, name))
                return main_is_word(&s, from, "void") ? "char" : main_text_of(r, &s, from, star);
    }
    return NULL;
}

/* What initializes one of several declared names, or the variable of a loop: up to , ; or ). */
static void cut_initial(struct statement *s)
{
    int depth = 0;

    for (size_t i = 0; i < s->count; i++) {
        if (main_is_sign(s, i, ';') ||
            (depth == 0 && (main_is_sign(s, i, ',') || main_is_sign(s, i, ')'))))
            s->count = i;
        depth += main_is_sign(s, i, '(') - main_is_sign(s, i, ')');
    }
}

/* The right side of `name = ...` in the program, for a count of bytes that has a name. */
bool main_definition_of(const struct reader *r, const char *name, struct statement *out)
{
    struct scanner scanner = { r->program.data, r->program.data + r->program.size, true };

    while (name && main_next_statement(&scanner, out))
        for (size_t i = 0; i + 2 < out->count; i++)
            if (main_is_word(out, i, name) && main_is_sign(out, i + 1, '=') &&
                !main_is_sign(out, i + 2, '=')) {
                out->count -= i + 2;
                memmove(out->tokens, out->tokens + i + 2, out->count * sizeof(*out->tokens));
                cut_initial(out);
                return true;
            }
    return false;
}

/* ---- functions ---- */

/* Is this the head of a function, `void f(int n)`? name: the index of its name. */
static bool is_function_head(const struct statement *s, size_t *name)
{
    for (size_t i = 1; i < s->count; i++)
        if (main_is_sign(s, i, '(')) {
            *name = i - 1;
            return s->tokens[i - 1].kind == SCAN_WORD && main_behind(s, i, '(', ')') == s->count &&
                   !main_is_word(s, i - 1, "if") && !main_is_word(s, i - 1, "for") &&
                   !main_is_word(s, i - 1, "while") && !main_is_word(s, i - 1, "switch");
        }
    return false;
}

/* The parenthesis that the one at `close` closes; inside (*f) the word: a step back for each. */
static size_t matching_open(const struct statement *s, size_t close)
{
    int depth = 0;

    for (size_t i = close + 1; i > 0; i--) {
        depth += main_is_sign(s, i - 1, ')') - main_is_sign(s, i - 1, '(');
        if (depth == 0)
            return i > 1 && main_is_sign(s, i - 2, ')') ? i - 2 : i - 1;
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

        end = main_argument_end(s, at);
        for (last = at; last < end && !main_is_sign(s, last, '=') && !main_is_sign(s, last, '[');
             last++)
            ;
        /* A pointer to a function, void (*f)(int), ends with a bracket: (*f is its beginning. */
        while (last > at && main_is_sign(s, last - 1, ')'))
            last = matching_open(s, last - 1);
        f->parameters[f->parameter_count++] =
            last > at ? s->tokens[last - 1].text : (struct bytes){ "", 0 };
        if (end + 1 >= s->count)
            break;
    }
}

/* All functions of the host, those inside namespaces and classes too. */
void main_find_functions(struct reader *r)
{
    struct scanner scanner = { r->program.data, r->program.data + r->program.size, true };
    struct statement s;

    while (r->function_count < MAX_FUNCTIONS && main_next_statement(&scanner, &s)) {
        const char *from = scanner.at;
        size_t name;

        if (from[-1] != '{' || main_find_word(&s, "__global__") < s.count ||
            main_find_word(&s, "__device__") < s.count || !is_function_head(&s, &name))
            continue;
        main_skip_body(&scanner);
        add_function(r, &s, name, (struct bytes){ from, (size_t)(scanner.at - from) });
    }
}

const struct host_function *main_function_named(const struct reader *r, struct bytes name)
{
    for (size_t i = 0; i < r->function_count; i++)
        if (r->functions[i].name.size == name.size &&
            memcmp(r->functions[i].name.data, name.data, name.size) == 0)
            return &r->functions[i];
    return NULL;
}
