/*
 * What stands behind the = of %buffer: zeros, iota, random numbers, an expression in i, a
 * tuple, a text, another buffer, a .npy file.
 */
#ifndef WB_CELLS_BUFFER_FILL_H
#define WB_CELLS_BUFFER_FILL_H

#include "cells/buffer.h"
#include "cells/expr.h"

enum initial_kind {
    INITIAL_EXPRESSION, /* for each element */
    INITIAL_TUPLE,      /* (1,2,1) {1,2,1} [1,2,1]: the elements themselves */
    INITIAL_COPY,       /* a place */
    INITIAL_MEMBER,     /* p.mass: one number of each element */
    INITIAL_TEXT,       /* "hello" */
    INITIAL_FILE,       /* a .npy file */
};

/* A right side, read but not yet worked out. */
struct initial {
    enum initial_kind kind;
    struct lexer lexer;
    struct expr *expr;
    struct value place; /* COPY */
    const char *text;   /* TEXT, FILE: the path */
    struct source source;
};

/* Reads the text; *out points into itself and must stay where it is. */
int initial_read(struct session *session, struct source source, struct arena *arena,
                 struct initial *out, struct err *err) MUST_CHECK;

/*
 * The type and shape that the right side has by itself: of a copy, a file; the length of a
 * tuple or text (shape only, *type untouched). *rank is 0 when it has none.
 */
int initial_shape(struct session *session, struct initial *initial, struct arena *arena,
                  struct element_type *type, bool *has_type, int *rank, int64_t *shape,
                  struct err *err) MUST_CHECK;

/*
 * Fills every element. Fails with ValueError for a number that the type cannot hold (element,
 * number and limits are named), UsageError for another number of elements, FileError, or
 * Interrupted; the buffer is then half filled and good for nothing.
 */
int initial_fill(struct session *session, struct initial *initial, struct arena *arena,
                 struct buffer *buffer, struct err *err) MUST_CHECK;

#endif
