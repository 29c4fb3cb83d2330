/*
 * An expression that is evaluated for every element of a buffer: {2*i + 1}, {i == j},
 * 2*x[i] + y[i], x - y. The tree is compiled once, and runs over blocks of a thousand
 * elements, so that 16 million elements take tenths of a second.
 *
 * i, j and k are the indexes of the element, first dimension first; a bare x is its element
 * at the same place. Arithmetic is that of all expressions: int64 exact or an error, double.
 */
#ifndef WB_CELLS_ELEMENTWISE_H
#define WB_CELLS_ELEMENTWISE_H

#include "cells/buffer_value.h"
#include "cells/expr.h"

enum { ELEMENTWISE_CHUNK = 1024 };

struct elementwise;

/* What is run over: the dimensions that i, j and k go through. */
struct elements {
    int rank;
    int64_t shape[BUFFER_RANK_MAX];
    int64_t count;
    bool is_initial;       /* the right side of %buffer: i, j, k come before variables */
    enum scalar_kind kind; /* what is filled: random numbers of a double have 53 bits */
    unsigned lane;         /* of a vector: random numbers differ from lane to lane */
};

/* The dimensions of a place. */
void elements_of(const struct value *place, struct elements *out);

/*
 * Whether the expression names whole buffers or the indexes of a place, so that it has a value
 * for each element and none of its own. *first: the first buffer's place, when there is one.
 */
bool elementwise_is(struct scope *scope, const struct expr *expr, struct value *first);

/*
 * Compiles for a place. The program lives in scope's arena. Fails with NameError, UsageError (what
 * has no value for an element; buffers of different lengths), SyntaxError or ResourceError.
 */
int elementwise_compile(struct scope *scope, const struct expr *expr,
                        const struct elements *elements, struct elementwise **out,
                        struct err *err) MUST_CHECK;

/* Reads a leaf of a place: what a bare name compiles to. leaf NULL: the element is one number. */
int elementwise_load(struct scope *scope, const struct expr *expr, const struct value *place,
                     const struct leaf *leaf, const struct elements *elements,
                     struct elementwise **out, struct err *err) MUST_CHECK;

/* The number of the element, in memory order, times `factor` plus `add`. */
int elementwise_iota(struct scope *scope, const struct expr *expr, int64_t factor, int64_t add,
                     struct elementwise **out, struct err *err) MUST_CHECK;

/*
 * Values of elements first .. first + n - 1 (n <= ELEMENTWISE_CHUNK): one of *ints and *floats,
 * the other NULL; valid until the next run. Fails with ValueError (the element is named) where
 * an operation has no value or an element was never written, and with Interrupted.
 */
int elementwise_run(struct elementwise *e, int64_t first, size_t n, const int64_t **ints,
                    const double **floats, struct err *err) MUST_CHECK;

bool elementwise_is_float(const struct elementwise *e);

/*
 * When the program only reads numbers of a buffer: never-written ones are no error but are
 * found by elementwise_value. Returns its kind, or SCALAR_STRUCT.
 */
enum scalar_kind elementwise_plain(struct elementwise *e);

/* Where a plain program reads: the place, and the number in its elements. */
void elementwise_place(const struct elementwise *e, struct value *place, struct leaf *leaf);

/* The value of one element: UNWRITTEN too when the program is plain. */
int elementwise_value(struct elementwise *e, int64_t i, struct value *out,
                      struct err *err) MUST_CHECK;

/* Functions of one element that are no functions of numbers: random(seed) and its like. */
bool elementwise_is_random(const char *name);

#endif
