/*
 * Where in a cell the cursor stands: in CUDA C, in a magic's name, behind a key.
 * Completion and inspection both start from it.
 */
#ifndef WB_CELLS_CONTEXT_H
#define WB_CELLS_CONTEXT_H

#include "cells/internal.h"

enum context_kind {
    CONTEXT_CUDA,  /* CUDA C, or the start of a line that is nothing yet */
    CONTEXT_MAGIC, /* a magic's name, signs included */
    CONTEXT_KEY,   /* a word of a magic line that is no value yet */
    CONTEXT_VALUE, /* behind key= */
    CONTEXT_EXPR,  /* in an expression: an assignment, {braces}, %print */
};

struct context {
    enum context_kind kind;
    size_t start, end;         /* the word under the cursor, offsets into the code */
    const struct magic *magic; /* of the line, or NULL */
    const struct param *param; /* CONTEXT_VALUE */
    struct bytes line;         /* the magic line up to the cursor */
    bool is_cell_name;         /* %% stands before the name */
};

/* The magic of a line such as %name ... or x = %name ...; NULL: none is known by that name. */
const struct magic *magic_of_line(struct bytes line, struct arena *arena);

/* cursor <= code.size. Works on any bytes; arena: for what it reads on the way. */
void context_find(struct bytes code, size_t cursor, struct arena *arena, struct context *out);

#endif
