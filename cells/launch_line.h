/*
 * A launch as it was written, taken apart but not evaluated:
 * k<float, 32><<<grid, block, dynamic, stream>>>(arguments), or a name alone, whose grid,
 * block and arguments then stand in keys. Every part knows its place in the cell.
 */
#ifndef WB_CELLS_LAUNCH_LINE_H
#define WB_CELLS_LAUNCH_LINE_H

#include "cells/lex.h"

enum launch_place {
    LAUNCH_GRID,
    LAUNCH_BLOCK,
    LAUNCH_DYNAMIC,
    LAUNCH_STREAM,
    LAUNCH_PLACES,
};

struct launch_line {
    struct source whole;
    struct source kernel; /* "saxpy", "k<float, 32>" */
    bool has_sign;        /* <<< >>> was written */
    struct source config[LAUNCH_PLACES];
    size_t config_count;
    bool has_arguments;   /* ( ) was written */
    struct source parens; /* the arguments with their brackets */
    struct source *arguments;
    size_t argument_count;
};

/*
 * Reads a launch; its parts are borrowed from the text, the list of arguments is the arena's.
 * Fails with SyntaxError, caret included: a bracket or sign that does not close, an empty part,
 * what stands behind the arguments.
 */
int launch_line_read(struct source text, struct arena *arena, struct launch_line *out,
                     struct err *err) MUST_CHECK;

/* The parts of "(a, f(b, c), d)" between its commas; the brackets may be {}. */
int launch_split(struct source brackets, struct arena *arena, struct source **parts, size_t *count,
                 struct err *err) MUST_CHECK;

/*
 * Where the statement that starts at `at` ends: a launch behind its arguments and the keys that
 * follow them on the line, anything else at a ; or the end of the line; brackets and the inside of
 * <<< >>> go on over lines.
 */
struct statement_state {
    bool is_open;       /* the text, or the line, ended before the statement did */
    bool is_unbalanced; /* a bracket was closed that nothing opened */
};
size_t launch_statement_end(struct bytes text, size_t at, bool is_launch,
                            struct statement_state *state);

/* A stretch of a source without the blanks around it. */
struct source launch_piece(const struct source *source, size_t from, size_t to);

/* "dim3" of "dim3(4, 4)", "(4, 4)" in *brackets; false when it is not a word and its brackets. */
bool launch_is_call(const struct source *text, struct bytes *name, struct source *brackets);

#endif
