/*
 * One scan finds the <<<, the >>> that belongs to it and the brackets of the
 * arguments; commas count only outside brackets, quotes and comments. What stands
 * between them is for the expressions of the cell language.
 */
#include "cells/launch_line.h"

enum { MAX_ARGUMENTS = 1024 };

static char char_at(const struct source *s, size_t at)
{
    return at < s->text.size ? s->text.data[at] : '\0';
}

static bool is_space(char c)
{
    return is_blank(c) || c == '\n' || c == '\r';
}

/* Behind a quoted text or a comment that starts at `at`, else `at` itself. */
static size_t skip_quiet(const struct source *s, size_t at)
{
    char quote = char_at(s, at);
    size_t i = at + 1;

    if (quote == '/' && char_at(s, i) == '*') {
        for (i++; i < s->text.size; i++)
            if (char_at(s, i) == '*' && char_at(s, i + 1) == '/')
                return i + 2;
        return s->text.size;
    }
    if (quote == '/' && char_at(s, i) == '/') {
        while (i < s->text.size && char_at(s, i) != '\n')
            i++;
        return i;
    }
    if (quote != '"' && quote != '\'')
        return at;
    while (i < s->text.size && char_at(s, i) != quote)
        i += char_at(s, i) == '\\' ? 2 : 1;
    return i < s->text.size ? i + 1 : at + 1;
}

static bool is_sign(const struct source *s, size_t at, char c)
{
    return char_at(s, at) == c && char_at(s, at + 1) == c && char_at(s, at + 2) == c;
}

struct source launch_piece(const struct source *source, size_t from, size_t to)
{
    struct source out;

    while (from < to && is_space(source->text.data[from]))
        from++;
    while (to > from && is_space(source->text.data[to - 1]))
        to--;
    out.text = (struct bytes){ source->text.data + from, to - from };
    source_place(source, from, &out.line, &out.column);
    return out;
}

static int fail(const struct source *s, size_t start, size_t end, struct arena *arena,
                struct err *err, const char *what)
{
    struct lexer lexer;

    lexer_init(&lexer, *s, arena);
    lexer_fail_at(&lexer, start, end, err, ERR_SyntaxError, "%s", what);
    return err_next(err, "a launch is kernel<<<grid, block>>>(arguments);");
}

/*
 * From `at` to the end of a list: a closing bracket that nothing in it opened, or >>> when
 * is_sign_ended. Calls on_part for each stretch between commas. The end, or SIZE_MAX.
 */
struct part_list {
    struct source *items;
    size_t count, most;
};

static void add_part(struct part_list *parts, const struct source *s, size_t from, size_t to)
{
    if (parts->count < parts->most)
        parts->items[parts->count] = launch_piece(s, from, to);
    parts->count++;
}

static size_t split(const struct source *s, size_t at, bool is_sign_ended, struct part_list *parts)
{
    size_t start = at, end = s->text.size;
    int depth = 0;

    while (at < end) {
        size_t behind = skip_quiet(s, at);
        char c = char_at(s, at);

        if (behind > at) {
            at = behind;
            continue;
        }
        if (depth == 0 &&
            (is_sign_ended ? is_sign(s, at, '>') : c == ')' || c == '}' || c == ']')) {
            struct source last = launch_piece(s, start, at);

            if (last.text.size || parts->count)
                add_part(parts, s, start, at);
            return at;
        }
        if (c == '(' || c == '[' || c == '{')
            depth++;
        else if ((c == ')' || c == ']' || c == '}') && depth > 0)
            depth--;
        else if (c == ',' && depth == 0) {
            add_part(parts, s, start, at);
            start = at + 1;
        }
        at++;
    }
    return SIZE_MAX;
}

static int check_parts(const struct source *s, const struct part_list *parts, size_t at,
                       struct arena *arena, struct err *err)
{
    for (size_t i = 0; i < parts->count && i < parts->most; i++)
        if (!parts->items[i].text.size)
            return fail(s, at, at + 1, arena, err, "nothing stands between two commas");
    return 0;
}

int launch_split(struct source brackets, struct arena *arena, struct source **items, size_t *count,
                 struct err *err)
{
    struct part_list parts = { .most = 0 };
    size_t end = split(&brackets, 1, false, &parts);

    if (end == SIZE_MAX)
        return fail(&brackets, 0, 1, arena, err, "this bracket is never closed");
    if (parts.count > MAX_ARGUMENTS)
        return fail(&brackets, 0, 1, arena, err, "more than 1024 values stand in these brackets");
    parts.items = arena_array(arena, parts.count, sizeof(*parts.items));
    if (!parts.items)
        return err_set(err, ERR_ResourceError, "out of memory");
    parts.most = parts.count;
    parts.count = 0;
    (void)split(&brackets, 1, false, &parts);
    *items = parts.items;
    *count = parts.count;
    return check_parts(&brackets, &parts, 0, arena, err);
}

bool launch_is_call(const struct source *text, struct bytes *name, struct source *brackets)
{
    struct part_list none = { .most = 0 };
    size_t end = 0, open, close;

    while (is_name_char(char_at(text, end)))
        end++;
    for (open = end; is_space(char_at(text, open)); open++)
        ;
    if (char_at(text, open) != '(' && char_at(text, open) != '{')
        return false;
    close = split(text, open + 1, false, &none);
    if (close == SIZE_MAX || close + 1 != text->text.size)
        return false;
    *name = (struct bytes){ text->text.data, end };
    *brackets = launch_piece(text, open, text->text.size);
    return true;
}

static int read_config(const struct source *s, size_t sign, struct arena *arena,
                       struct launch_line *out, size_t *end, struct err *err)
{
    struct part_list parts = { .items = out->config, .most = LAUNCH_PLACES };

    *end = split(s, sign + 3, true, &parts);
    if (*end == SIZE_MAX)
        return fail(s, sign, sign + 3, arena, err, "<<< is never closed by >>>");
    if (parts.count > LAUNCH_PLACES)
        return fail(s, sign, *end + 3, arena, err,
                    "<<< >>> holds grid, block, dynamic shared bytes and a stream, no more");
    if (parts.count < 2)
        return fail(s, sign, *end + 3, arena, err, "<<< >>> needs a grid and a block at least");
    out->config_count = parts.count;
    *end += 3;
    return check_parts(s, &parts, sign, arena, err);
}

/* tmeout=5 behind the arguments is a key that the magic does not have. */
static int refuse_rest(const struct source *s, size_t at, struct arena *arena, struct err *err)
{
    struct lexer lexer;
    size_t end = at;

    while (is_name_char(char_at(s, end)))
        end++;
    if (end == at || char_at(s, end) != '=')
        return fail(s, at, s->text.size, arena, err,
                    "the launch ends with its arguments; this stands behind them");
    lexer_init(&lexer, *s, arena);
    lexer_fail_at(&lexer, at, end, err, ERR_UsageError, "a launch has no key %.*s",
                  (int)min_i64((int64_t)(end - at), 40), s->text.data + at);
    return err_next(err, "%%launch? lists its keys, such as timeout= device= build= races=");
}

static int read_arguments(const struct source *s, size_t open, struct arena *arena,
                          struct launch_line *out, struct err *err)
{
    struct part_list none = { .most = 0 };
    size_t close = split(s, open + 1, false, &none), behind;

    if (close == SIZE_MAX)
        return fail(s, open, open + 1, arena, err, "the arguments are never closed by )");
    for (behind = close + 1; is_space(char_at(s, behind)) || char_at(s, behind) == ';'; behind++)
        ;
    if (behind < s->text.size && skip_quiet(s, behind) == behind)
        return refuse_rest(s, behind, arena, err);
    out->has_arguments = true;
    out->parens = launch_piece(s, open, close + 1);
    return launch_split(out->parens, arena, &out->arguments, &out->argument_count, err);
}

int launch_line_read(struct source text, struct arena *arena, struct launch_line *out,
                     struct err *err)
{
    size_t sign = 0, at;

    *out = (struct launch_line){ .whole = text };
    while (sign < text.text.size && !is_sign(&text, sign, '<'))
        sign++;
    out->kernel = launch_piece(&text, 0, sign);
    if (!out->kernel.text.size)
        return fail(&text, 0, 1, arena, err, "a launch starts with the name of a kernel");
    if (sign >= text.text.size)
        return 0;
    out->has_sign = true;
    if (read_config(&text, sign, arena, out, &at, err) < 0)
        return -1;
    while (is_space(char_at(&text, at)))
        at++;
    if (char_at(&text, at) != '(')
        return fail(&text, sign, at, arena, err, ">>> is followed by the arguments in ( )");
    return read_arguments(&text, at, arena, out, err);
}

/* ---- the end of a statement ---- */

/* A magic on a line of its own ends whatever was left open above it. */
static bool is_magic_line(const struct source *s, size_t newline)
{
    return char_at(s, newline + 1) == '%' &&
           (is_name_start(char_at(s, newline + 2)) || char_at(s, newline + 2) == '%');
}

/* -> name behind the semicolon still belongs to the launch. */
static bool is_arrow_behind(const struct source *s, size_t at)
{
    while (is_blank(char_at(s, at)))
        at++;
    return char_at(s, at) == '-' && char_at(s, at + 1) == '>';
}

/* A declaration whose line ends in, or is followed by, an operator has not ended. */
static bool goes_on(const struct source *s, size_t newline)
{
    static const char OPERATORS[] = "=+-*/%<>&|^?:,.";
    size_t before = newline, behind = newline + 1;

    while (before > 0 && is_space(char_at(s, before - 1)))
        before--;
    while (is_space(char_at(s, behind)))
        behind++;
    return (before > 0 && strchr(OPERATORS, char_at(s, before - 1))) ||
           (char_at(s, behind) && strchr(OPERATORS, char_at(s, behind)) &&
            !(char_at(s, behind) == '/' && strchr("/*", char_at(s, behind + 1))));
}

size_t launch_statement_end(struct bytes text, size_t at, bool is_launch,
                            struct statement_state *state)
{
    struct source s = { text, 1, 1 };
    bool in_sign = is_launch, is_before_arguments = is_launch;
    int depth = 0;

    *state = (struct statement_state){ false, false };
    while (at < text.size) {
        size_t behind = skip_quiet(&s, at);
        char c = char_at(&s, at);

        if (behind > at) {
            at = behind;
            continue;
        }
        if (c == '\n' && is_launch && is_magic_line(&s, at)) {
            state->is_open = in_sign || depth > 0;
            return at;
        }
        if (c == '\n' && depth == 0 && !is_before_arguments && (is_launch || !goes_on(&s, at))) {
            state->is_open = !is_launch;
            return at;
        }
        if (c == '\\' && char_at(&s, at + 1) == '\n')
            at++;
        else if (in_sign && depth == 0 && is_sign(&s, at, '>')) {
            in_sign = false;
            at += 2;
        } else if (c == '(' || c == '[' || c == '{') {
            depth++;
        } else if ((c == ')' || c == ']' || c == '}') && depth > 0) {
            depth--;
            is_before_arguments &= depth > 0 || in_sign;
        } else if (c == ')' || c == ']' || c == '}') {
            state->is_unbalanced = true;
        } else if (c == ';' && depth == 0 && !is_arrow_behind(&s, at + 1)) {
            return at + 1;
        }
        at++;
    }
    state->is_open = in_sign || depth > 0 || is_before_arguments || !is_launch;
    return text.size;
}
