/*
 * The inside of main_lines.c: a program's statements, read again and again, and the lines so far.
 */
#ifndef WB_CELLS_MAIN_INTERNAL_H
#define WB_CELLS_MAIN_INTERNAL_H

#include "cells/cuda_scan.h"
#include "model/base/arena.h"

enum {
    MAX_TOKENS = 160,
    MAX_LINES = 64,
    MAX_RENAMES = 64,
    MAX_FUNCTIONS = 64,
    MAX_PARAMETERS = 16,
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

/* ---- main_read.c: statements ---- */

/* Up to the next ; { or } outside parentheses; false at the end of the program. */
bool main_next_statement(struct scanner *s, struct statement *out);

/* Over the body of a function: its opening brace was read. */
void main_skip_body(struct scanner *s);

/* Is token i this sign, this word? False behind the end. */
bool main_is_sign(const struct statement *s, size_t i, char c);
bool main_is_word(const struct statement *s, size_t i, const char *word);

/* The first token that is the word; count: none. */
size_t main_find_word(const struct statement *s, const char *word);

/* Over words of a list that NULL ends, from token i on. */
size_t main_skip_words(const struct statement *s, size_t i, const char *const *words);

/* Behind the bracket that closes the one at `open`. */
size_t main_behind(const struct statement *s, size_t open, char opening, char closing);

/* The end of an argument: its comma, or the parenthesis that closes the call. */
size_t main_argument_end(const struct statement *s, size_t from);

/* Tokens as one line, and the word at i: what parameters stand for in their place. The arena's. */
const char *main_text_of(const struct reader *r, const struct statement *s, size_t from, size_t to);
const char *main_name_at(const struct reader *r, const struct statement *s, size_t i);

/* Is this, from token `from` on, something that expressions of cells compute? */
bool main_is_plain(const struct statement *s, size_t from);

/* The type in `float *a, *name` of any statement; NULL: not found. */
const char *main_pointee_of(const struct reader *r, const char *name);

/* The right side of the first `name = ...` in the program. */
bool main_definition_of(const struct reader *r, const char *name, struct statement *out);

/* Finds all functions of the host, and one by its name; NULL: there is none. */
void main_find_functions(struct reader *r);
const struct host_function *main_function_named(const struct reader *r, struct bytes name);

/* ---- main_values.c: names without a value ---- */

/* Lines before those that use them, for names that nothing gives a value. */
void main_give_values(struct reader *r);

/* Keeps each %show of a buffer that some line makes, once. */
void main_drop_shows(struct reader *r);

#endif
