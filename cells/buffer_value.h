/*
 * Buffers as values of the cell language: x, x[3], A[2][5], x[0..10], x + 16, p[3].vx.
 * A place inside a buffer is a VALUE_BUFFER; a number of it is a number; what nobody wrote
 * is VALUE_UNWRITTEN, which no arithmetic takes and no check passes.
 */
#ifndef WB_CELLS_BUFFER_VALUE_H
#define WB_CELLS_BUFFER_VALUE_H

#include "cells/buffer.h"
#include "cells/buffer_struct.h"
#include "cells/expr.h"
#include "model/base/buf.h"

/* The whole buffer as a place; of a symbol that is no array its number. */
struct value buffer_value_of(struct buffer *buffer);

/* What one element of the place is: the buffer's type, or that of a member. */
const struct element_type *buffer_value_type(const struct value *v);

/* The dimensions that are left, and their number: 0 for a single element. */
int buffer_value_shape(const struct value *v, int64_t *shape);
int64_t buffer_value_elements(const struct value *v);

/* Bytes from the start of the buffer to element i of the place. */
size_t buffer_value_offset(const struct value *v, int64_t i);

/* A number of an element: path ".x", ".pos.y", ".id[2]" or "" and where it lies. */
struct leaf {
    const char *path;
    enum scalar_kind kind;
    size_t offset; /* bytes into the element */
};
enum { LEAVES_MAX = 1024 };
/* All numbers of an element in memory order. Fails with ResourceError or UnsupportedError. */
int element_leaves(struct arena *arena, const struct element_type *type, const struct leaf **out,
                   size_t *count, struct err *err) MUST_CHECK;

/* The number of a leaf of element i: INT, FLOAT, BOOL or UNWRITTEN. */
struct value buffer_leaf_value(const struct value *v, int64_t i, const struct leaf *leaf);

/* As %print writes it: "[0, 1, 2]", "(1, 2, 3, 4)", at most `most` elements. */
void buffer_value_put(struct buf *out, const struct value *v, size_t most);
/* "x", "x + 16", "A[2]": how errors and JSON name the place. */
const char *buffer_value_name(struct arena *arena, const struct value *v);
json_t *buffer_value_name_json(const struct value *v);

/* "[1000]", "[3][5]": where element i of a place with this shape stands. In the arena. */
const char *buffer_index_text(struct arena *arena, int rank, const int64_t *shape, int64_t i);

/* owner[index]... when the innermost owner is a buffer: all indexes of the chain at once. */
int buffer_index_eval(struct scope *scope, const struct expr *expr, bool *is_buffer,
                      struct value *out, struct err *err) MUST_CHECK;
/* v[3].x */
int buffer_field_eval(struct scope *scope, const struct expr *expr, const struct value *owner,
                      struct value *out, struct err *err) MUST_CHECK;
/* x + 16 and x - 16: a place. Other operators fail and say what to write. */
int buffer_arithmetic(struct scope *scope, const struct expr *expr, const struct value *a,
                      const struct value *b, struct value *out, struct err *err) MUST_CHECK;

/* Fails with UsageError: x is a buffer where a number should stand. */
int buffer_no_number(struct scope *scope, const struct expr *expr, const struct value *v,
                     struct err *err);

#endif
