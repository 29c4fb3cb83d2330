/*
 * The reader of CUDA C keeps three things: how many brackets are open, whether
 * it is inside a comment or a text, and what the last token was. A line is
 * Warpbook's only when no bracket is open and the last token ended a
 * declaration, so that
 *     int r = a
 *     % 32;
 * stays the C that it is.
 */
#include "cells/segment.h"

#include "cells/launch_line.h"
#include "cells/magic.h"

static const char *const DIRECTIVES[] = {
    "define", "undef", "include", "if",      "ifdef",  "ifndef", "elif",
    "else",   "endif", "error",   "warning", "pragma", "line",
};

/* True for words such as include and define that follow '#'. */
static bool is_directive(struct bytes word)
{
    for (size_t i = 0; i < COUNT(DIRECTIVES); i++)
        if (bytes_equal(word, DIRECTIVES[i]))
            return true;
    return false;
}

int segmenter_init(struct segmenter *segmenter, struct source source, struct arena *arena,
                   struct err *err)
{
    *segmenter = (struct segmenter){ .source = source, .line = source.line, .is_first = true };
    segmenter->text = arena_copy(arena, source.text.data, source.text.size);
    if (!segmenter->text)
        return err_set(err, ERR_ResourceError, "a cell of %zu bytes does not fit in memory",
                       source.text.size);
    return 0;
}

static char char_at(const struct segmenter *s, size_t at)
{
    return at < s->source.text.size ? s->text[at] : '\0';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_line_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static size_t skip_line_blanks(const struct segmenter *s, size_t at)
{
    while (is_line_blank(char_at(s, at)))
        at++;
    return at;
}

static size_t line_end(const struct segmenter *s, size_t at)
{
    const char *nl =
        at < s->source.text.size ? memchr(s->text + at, '\n', s->source.text.size - at) : NULL;

    return nl ? (size_t)(nl - s->text) : s->source.text.size;
}

static size_t skip_name(const struct segmenter *s, size_t at)
{
    if (is_name_start(char_at(s, at)))
        while (is_name_char(char_at(s, at)))
            at++;
    return at;
}

/* ---- what a line at top level is ---- */

static bool is_percent_line(const struct segmenter *s, size_t at)
{
    return char_at(s, at) == '%' &&
           (is_name_start(char_at(s, at + 1)) ||
            (char_at(s, at + 1) == '%' && is_name_start(char_at(s, at + 2))));
}

/* `var n = 5` and `val n = 5` are how papermill writes for some languages. */
static bool is_assignment(const struct segmenter *s, size_t at)
{
    size_t end = skip_name(s, at), next;

    if (end == at)
        return false;
    next = skip_line_blanks(s, end);
    if (end - at == 3 && next > end &&
        (memcmp(s->text + at, "var", 3) == 0 || memcmp(s->text + at, "val", 3) == 0)) {
        end = skip_name(s, next);
        if (end == next)
            return false;
        next = skip_line_blanks(s, end);
    }
    return char_at(s, next) == '=' && char_at(s, next + 1) != '=';
}

static bool is_launch_sign(const struct segmenter *s, size_t at)
{
    return char_at(s, at) == '<' && char_at(s, at + 1) == '<' && char_at(s, at + 2) == '<';
}

/*
 * Editors set `k << <1, 32 >> >(x)` apart, which C++ does not mind: the copy of the text gets the
 * signs back in one piece. from: behind the kernel's name or its template's arguments.
 */
static void join_launch_signs(struct segmenter *s, size_t from)
{
    static const char *const APART[] = { "<< <", "< <<", ">> >", "> >>" };
    bool is_opened = false;

    for (size_t at = from; char_at(s, at) && char_at(s, at) != ';'; at++)
        for (size_t i = 0; i < COUNT(APART); i++) {
            bool is_opening = APART[i][0] == '<';

            if (strncmp(s->text + at, APART[i], 4) != 0 || is_opening == is_opened)
                continue;
            memcpy(s->text + at, is_opening ? " <<<" : ">>> ", 4);
            if (!is_opening)
                return;
            is_opened = true;
        }
}

/* name, ns::name or name<template arguments>, then <<< */
static bool is_launch(struct segmenter *s, size_t at)
{
    size_t end = line_end(s, at), next;
    int depth = 0;

    at = skip_line_blanks(s, at);
    for (;;) {
        next = skip_name(s, at);
        if (next == at)
            return false;
        at = next;
        if (char_at(s, at) != ':' || char_at(s, at + 1) != ':')
            break;
        at += 2;
    }
    if (char_at(s, skip_line_blanks(s, at)) == '<')
        join_launch_signs(s, at);
    at = skip_line_blanks(s, at);
    if (is_launch_sign(s, at))
        return true;
    if (char_at(s, at) != '<')
        return false;
    for (; at < end; at++) {
        if (is_launch_sign(s, at) && depth == 0)
            return true;
        depth += char_at(s, at) == '<' ? 1 : char_at(s, at) == '>' ? -1 : 0;
        if (depth == 0 && char_at(s, at) != '>' && !is_line_blank(char_at(s, at)))
            return false;
    }
    return false;
}

/* `dim3 shape(int n) {`: a function that gives one. at: its parenthesis. */
static bool is_function_head(const struct segmenter *s, size_t at)
{
    int depth = 0;

    for (; char_at(s, at); at++) {
        depth += (char_at(s, at) == '(') - (char_at(s, at) == ')');
        if (depth == 0)
            break;
    }
    at++;
    while (is_line_blank(char_at(s, at)) || char_at(s, at) == '\n')
        at++;
    return char_at(s, at) == '{';
}

static bool is_word_at(const struct segmenter *s, size_t at, const char *word)
{
    return bytes_equal((struct bytes){ s->text + at, skip_name(s, at) - at }, word);
}

/* `auto grid = dim3(4);` at: behind the name. */
static bool is_auto_dim(const struct segmenter *s, size_t at)
{
    return char_at(s, at) == '=' && is_word_at(s, skip_line_blanks(s, at + 1), "dim3");
}

/* dim3 name, const or not, and what may follow it */
static bool is_dim(const struct segmenter *s, size_t at)
{
    size_t end, name, next;

    at = skip_line_blanks(s, at);
    while (is_word_at(s, at, "const") || is_word_at(s, at, "constexpr"))
        at = skip_line_blanks(s, skip_name(s, at));
    end = skip_name(s, at);
    name = skip_line_blanks(s, end);
    next = skip_line_blanks(s, skip_name(s, name));
    if (next <= name || name <= end)
        return false;
    if (is_word_at(s, at, "auto"))
        return is_auto_dim(s, next);
    return is_word_at(s, at, "dim3") && char_at(s, next) && strchr("({=,;", char_at(s, next)) &&
           !(char_at(s, next) == '(' && is_function_head(s, next));
}

/* Words that make up the type of a number; const would make it the kernels' too. */
static bool is_type_word(const char *text, size_t n)
{
    static const char *const WORDS[] = { "int",      "unsigned", "signed",  "long",     "short",
                                         "char",     "float",    "double",  "bool",     "size_t",
                                         "int8_t",   "uint8_t",  "int16_t", "uint16_t", "int32_t",
                                         "uint32_t", "int64_t",  "uint64_t" };

    for (size_t i = 0; i < COUNT(WORDS); i++)
        if (bytes_equal((struct bytes){ text, n }, WORDS[i]))
            return true;
    return false;
}

/* int n = 1000: a variable of the host, as it stands beside a launch in a program. */
static bool is_scalar(const struct segmenter *s, size_t at)
{
    size_t end, next = skip_line_blanks(s, at);
    int words = 0;

    for (;; words++) {
        at = next;
        end = skip_name(s, at);
        next = skip_line_blanks(s, end);
        if (end == at || !is_type_word(s->text + at, end - at))
            break;
        if (next == end)
            return false;
    }
    return words > 0 && end > at && char_at(s, next) == '=' && char_at(s, next + 1) != '=';
}

/* A call of the runtime API where only declarations can stand, cudaMalloc(...), or a loop. */
static bool is_host_call(const struct segmenter *s, size_t at)
{
    size_t end;

    at = skip_line_blanks(s, at);
    end = skip_name(s, at);
    if (is_word_at(s, at, "for") || is_word_at(s, at, "while"))
        return char_at(s, skip_line_blanks(s, end)) == '(';
    return end - at > 4 && memcmp(s->text + at, "cuda", 4) == 0 && char_at(s, at + 4) >= 'A' &&
           char_at(s, at + 4) <= 'Z' && char_at(s, skip_line_blanks(s, end)) == '(';
}

/* ?name, ??name, name?, %name? at the end of a line */
static bool is_help(const struct segmenter *s, size_t at)
{
    size_t end = at;

    if (char_at(s, at) == '?')
        return true;
    while (char_at(s, end) == '%')
        end++;
    end = skip_name(s, end);
    if (end == at || char_at(s, end) != '?')
        return false;
    while (char_at(s, end) == '?')
        end++;
    return skip_line_blanks(s, end) == line_end(s, end);
}

static bool line_kind(struct segmenter *s, size_t at, enum segment_kind *kind)
{
    if (is_help(s, at))
        *kind = SEGMENT_HELP;
    else if (is_percent_line(s, at))
        *kind = char_at(s, at + 1) == '%' ? SEGMENT_CELL_MAGIC : SEGMENT_MAGIC;
    else if (char_at(s, at) == '!')
        *kind = SEGMENT_SHELL;
    else if (is_assignment(s, at))
        *kind = SEGMENT_ASSIGN;
    else if (is_launch(s, at))
        *kind = SEGMENT_LAUNCH;
    else if (is_dim(s, at))
        *kind = SEGMENT_DIM;
    else if (is_scalar(s, at))
        *kind = SEGMENT_SCALAR;
    else if (is_host_call(s, at))
        *kind = SEGMENT_HOST;
    else
        return false;
    return true;
}

/* ---- logical lines ---- */

static bool takes_plain_text(const struct segmenter *s, size_t at)
{
    char name[40] = "";
    size_t start = at, end;
    const struct magic *magic;

    while (char_at(s, start) == '%')
        start++;
    end = skip_name(s, start);
    if (end - start >= sizeof(name))
        return false;
    memcpy(name, s->text + start, end - start);
    magic = magic_find(name, false);
    return magic && (magic->flags & MAGIC_PLAIN);
}

/* *unclosed: the quote that is known to have no partner on this line, so as to look once only. */
static size_t skip_quoted(const struct segmenter *s, size_t at, size_t end, char *unclosed)
{
    char quote = char_at(s, at);

    if (*unclosed == quote)
        return at;
    for (size_t i = at + 1; i < end; i++) {
        if (char_at(s, i) == '\\')
            i++;
        else if (char_at(s, i) == quote)
            return i;
    }
    *unclosed = quote;
    return at; /* an ordinary character */
}

/*
 * The end of the line that starts at `at`, continuation lines included: after a final
 * backslash, and while a bracket is open unless the next line is a magic itself.
 */
static size_t logical_end(struct segmenter *s, size_t at, enum segment_kind kind)
{
    bool is_plain = kind == SEGMENT_SHELL || kind == SEGMENT_HELP ||
                    (kind == SEGMENT_MAGIC && takes_plain_text(s, at));
    int depth = 0;

    for (;;) {
        size_t end = line_end(s, at), last;
        bool is_comment = false;
        char unclosed = '\0';

        for (size_t i = at; i < end && !is_comment; i++) {
            char c = char_at(s, i);
            bool after_blank = i > at && is_line_blank(char_at(s, i - 1));

            is_comment = after_blank && (c == '#' || (c == '/' && char_at(s, i + 1) == '/'));
            if (c == '"' || c == '\'')
                i = skip_quoted(s, i, end, &unclosed);
            else if (strchr("([{", c) && c)
                depth++;
            else if (strchr(")]}", c) && c && depth > 0)
                depth--;
        }
        last = end;
        while (last > at && is_line_blank(char_at(s, last - 1)))
            last--;
        s->state.line_is_open =
            (depth > 0 && !is_plain) || (last > at && char_at(s, last - 1) == '\\' && !is_comment);
        if (!s->state.line_is_open || end >= s->source.text.size || is_percent_line(s, end + 1))
            return end;
        at = end + 1;
    }
}

static int count_lines(const struct segmenter *s, size_t from, size_t to)
{
    int n = 0;

    for (const char *p = s->text + from; (p = memchr(p, '\n', to - (size_t)(p - s->text))) != NULL;
         p++)
        n++;
    return n;
}

static struct source piece(const struct segmenter *s, size_t from, size_t to, int line)
{
    const char *newline = from ? memrchr(s->text, '\n', from) : NULL;
    size_t start = newline ? (size_t)(newline + 1 - s->text) : 0;
    int column = (int)(from - start) + 1;

    /* Only the first line of a source that starts inside a line is shifted. */
    if (start == 0)
        column += s->source.column - 1;
    return (struct source){ { s->text + from, to - from }, line, column };
}

/* A statement of C ends at its ; and another one may follow on the line. */
static bool is_statement(enum segment_kind kind)
{
    return kind == SEGMENT_LAUNCH || kind == SEGMENT_DIM || kind == SEGMENT_SCALAR ||
           kind == SEGMENT_HOST;
}

static size_t statement_end(struct segmenter *s, size_t at, enum segment_kind kind, size_t *next)
{
    struct bytes text = { s->text, s->source.text.size };
    struct statement_state state;
    size_t end = launch_statement_end(text, at, kind == SEGMENT_LAUNCH, &state);

    s->state.line_is_open = state.is_open;
    s->state.is_unbalanced = state.is_unbalanced;
    *next = skip_line_blanks(s, end);
    if (char_at(s, *next) == '/' && char_at(s, *next + 1) == '/')
        *next = line_end(s, *next);
    *next += char_at(s, *next) == '\n';
    return end;
}

static int refuse_cell_magic(const struct segmenter *s, size_t start, struct err *err)
{
    size_t n = skip_name(s, start + 2) - start;

    err_set(err, ERR_SyntaxError,
            "%.*s stands below other lines: a cell magic is the first line of its cell", (int)n,
            s->text + start);
    err_at(err, s->line, 1, (int)n);
    return err_next(err, "move it and what follows to a cell of its own");
}

static int take_line(struct segmenter *s, enum segment_kind kind, struct segment *out,
                     struct err *err)
{
    size_t start = s->at, end, next;
    int line = s->line;

    if (kind == SEGMENT_CELL_MAGIC && !s->is_first)
        return refuse_cell_magic(s, start, err);
    if (is_statement(kind)) {
        end = statement_end(s, start, kind, &next);
    } else {
        end = logical_end(s, start, kind);
        next = end < s->source.text.size ? end + 1 : end;
    }
    *out = (struct segment){ .kind = kind, .text = piece(s, start, end, line) };
    s->line += count_lines(s, start, next);
    if (kind == SEGMENT_CELL_MAGIC) {
        out->body = piece(s, next, s->source.text.size, s->line);
        next = s->source.text.size;
    }
    s->at = next;
    s->is_first = false;
    return 0;
}

/* ---- CUDA C ---- */

struct reader {
    size_t at, start;
    int line, start_line;
    bool has_code;              /* a token or directive was met since start */
    bool is_top;                /* the last token ended a declaration */
    int conditions;             /* #if and its like that are open */
    size_t main_at, comment_at; /* of the last block comment */
    bool has_main;
};

static void skip_block_comment(struct segmenter *s, struct reader *r)
{
    size_t end = s->source.text.size;

    r->comment_at = r->at - 2;
    s->state.in_comment = true;
    while (r->at < end) {
        if (char_at(s, r->at) == '*' && char_at(s, r->at + 1) == '/') {
            r->at += 2;
            s->state.in_comment = false;
            return;
        }
        r->line += char_at(s, r->at) == '\n';
        r->at++;
    }
    r->has_code = true; /* it swallowed the rest of the cell, and that must not pass in silence */
}

/* R"x( ... )x" */
static void skip_raw_text(struct segmenter *s, struct reader *r)
{
    size_t open = r->at + 2, end = s->source.text.size, n = 0;

    while (n <= 16 && open + n < end && char_at(s, open + n) != '(')
        n++;
    s->state.in_raw_text = true;
    for (r->at = open + n; r->at < end; r->at++) {
        r->line += char_at(s, r->at) == '\n';
        if (char_at(s, r->at) == ')' && r->at + n + 1 < end &&
            memcmp(s->text + r->at + 1, s->text + open, n) == 0 &&
            char_at(s, r->at + 1 + n) == '"') {
            r->at += n + 2;
            s->state.in_raw_text = false;
            return;
        }
    }
}

static void skip_text(struct segmenter *s, struct reader *r)
{
    char quote = char_at(s, r->at++);

    while (r->at < s->source.text.size && char_at(s, r->at) != quote && char_at(s, r->at) != '\n') {
        if (char_at(s, r->at) == '\\' && r->at + 1 < s->source.text.size) {
            r->line += char_at(s, r->at + 1) == '\n';
            r->at++;
        }
        r->at++;
    }
    if (char_at(s, r->at) == quote)
        r->at++;
}

static void read_word(struct segmenter *s, struct reader *r)
{
    size_t start = r->at, next;

    if (char_at(s, r->at) == 'R' && char_at(s, r->at + 1) == '"') {
        skip_raw_text(s, r);
        return;
    }
    while (is_name_char(char_at(s, r->at)))
        r->at++;
    next = skip_line_blanks(s, r->at);
    if (r->at - start == 4 && memcmp(s->text + start, "main", 4) == 0 && s->state.depth == 0 &&
        char_at(s, next) == '(' && !r->has_main) {
        r->has_main = true;
        r->main_at = start;
    }
}

/* One token, comment or blank of a line; stops at the newline. */
static void read_piece(struct segmenter *s, struct reader *r)
{
    char c = char_at(s, r->at);

    if (c == '/' && char_at(s, r->at + 1) == '/') {
        r->at = line_end(s, r->at);
    } else if (c == '/' && char_at(s, r->at + 1) == '*') {
        r->at += 2;
        skip_block_comment(s, r);
    } else if (is_line_blank(c)) {
        r->at++;
    } else {
        r->has_code = true;
        r->is_top = c == ';' || c == '}';
        if (c == '"' || c == '\'') {
            skip_text(s, r);
        } else if (is_name_start(c)) {
            read_word(s, r);
        } else if (is_digit(c)) {
            /* 1'000'000: the quote inside a number opens no text. */
            while (is_name_char(char_at(s, r->at)) ||
                   (char_at(s, r->at) == '\'' && is_name_char(char_at(s, r->at + 1))))
                r->at++;
        } else {
            if (c == '(' || c == '[' || c == '{') {
                s->state.depth++;
                s->state.opened = r->at;
            } else if ((c == ')' || c == ']' || c == '}') && s->state.depth > 0) {
                s->state.depth--;
            } else if (c == ')' || c == ']' || c == '}') {
                s->state.is_unbalanced = true;
            }
            r->at++;
        }
    }
}

/* To the end of the line, further where the line does not end at its newline. */
static void read_code_line(struct segmenter *s, struct reader *r)
{
    size_t end = s->source.text.size;

    s->state.is_continued = false;
    while (r->at < end && char_at(s, r->at) != '\n') {
        size_t next = skip_line_blanks(s, r->at + 1);

        if (char_at(s, r->at) == '\\' && (char_at(s, next) == '\n' || next >= end)) {
            s->state.is_continued = next + 1 >= end;
            r->line += next < end;
            r->at = next < end ? next + 1 : end;
        } else {
            read_piece(s, r);
        }
    }
    if (r->at < end) {
        r->at++;
        r->line++;
    }
}

/* What stands between #if and #endif goes to the compiler as a whole. */
static void count_condition(struct reader *r, struct bytes word)
{
    if (bytes_equal(word, "if") || bytes_equal(word, "ifdef") || bytes_equal(word, "ifndef"))
        r->conditions++;
    else if (bytes_equal(word, "endif") && r->conditions > 0)
        r->conditions--;
}

static void read_directive(struct segmenter *s, struct reader *r)
{
    int depth = s->state.depth;
    size_t opened = s->state.opened;

    /* Its brackets are its own: #define BEGIN { opens nothing here. */
    read_code_line(s, r);
    s->state.depth = depth;
    s->state.opened = opened;
    r->has_code = true;
    r->is_top = true;
}

/* # with neither a directive, a digit nor nothing behind it is a comment, and is blanked. */
static void read_hash_line(struct segmenter *s, struct reader *r)
{
    size_t hash = skip_line_blanks(s, r->at), word = skip_line_blanks(s, hash + 1);
    size_t word_end = skip_name(s, word), end = line_end(s, r->at);
    struct bytes name = { s->text + word, word_end - word };

    if (is_digit(char_at(s, word)) || word == end || is_directive(name)) {
        count_condition(r, name);
        read_directive(s, r);
        return;
    }
    memset(s->text + hash, ' ', end - hash);
    r->at = end < s->source.text.size ? end + 1 : end;
    r->line += end < s->source.text.size;
}

static bool is_hash_line(const struct segmenter *s, size_t at)
{
    return char_at(s, skip_line_blanks(s, at)) == '#';
}

static void take_cuda(struct segmenter *s, const struct reader *r, struct segment *out)
{
    *out =
        (struct segment){ .kind = SEGMENT_CUDA, .text = piece(s, r->start, r->at, r->start_line) };
    out->main_at = r->has_main ? r->main_at - r->start : out->text.text.size;
    out->open_comment_at = s->state.in_comment ? r->comment_at - r->start : out->text.text.size;
    s->at = r->at;
    s->line = r->line;
    s->is_first = false;
    s->state.is_open = !r->is_top;
}

int segmenter_next(struct segmenter *s, struct segment *out, bool *found, struct err *err)
{
    struct reader r = {
        .at = s->at, .start = s->at, .line = s->line, .start_line = s->line, .is_top = true
    };
    enum segment_kind kind;

    *found = true;
    s->state = (struct segment_state){ 0 };
    while (r.at < s->source.text.size) {
        if (is_hash_line(s, r.at)) {
            read_hash_line(s, &r);
        } else if (s->state.depth == 0 && r.is_top && line_kind(s, r.at, &kind) &&
                   (r.conditions == 0 || is_percent_line(s, r.at))) {
            if (r.has_code) {
                take_cuda(s, &r, out);
                return 0;
            }
            s->at = r.at;
            s->line = r.line;
            return take_line(s, kind, out, err);
        } else {
            read_code_line(s, &r);
        }
    }
    if (r.has_code) {
        take_cuda(s, &r, out);
        return 0;
    }
    *found = false;
    s->at = r.at;
    s->line = r.line;
    return 0;
}
