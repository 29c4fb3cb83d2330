/*
 * What %show and %plot look at: a place in a buffer or a piece of one (x[0..10],
 * A[0..3][0..3], p.mass), an expression over elements ({2*x}), or a list of values.
 * All are numbers that can be asked for one by one, with the indexes that they have.
 */
#ifndef WB_CELLS_WINDOW_H
#define WB_CELLS_WINDOW_H

#include "cells/elementwise.h"

enum window_source {
    WINDOW_PLACE,   /* numbers of a buffer */
    WINDOW_PROGRAM, /* an expression over the elements of one */
    WINDOW_LIST,
};

struct window {
    struct scope *scope;
    enum window_source source;
    const char *name;   /* "x", "A[2]", "{2*x}" */
    struct value place; /* PLACE; of a PROGRAM the buffer that it goes over, or NULL */
    const struct leaf *leaves;
    size_t leaf_count;              /* numbers of an element; 1 but for vectors and structs */
    struct elementwise **programs;  /* PLACE and PROGRAM: one a leaf */
    const struct value *items;      /* LIST */
    int rank;                       /* dimensions that are left: 0 (one element) to 3 */
    int64_t whole[BUFFER_RANK_MAX]; /* of the place */
    int64_t first[BUFFER_RANK_MAX], count[BUFFER_RANK_MAX];
    int64_t skipped; /* elements in front of the first, for indexes that were fixed */
    bool is_piece;   /* a range was asked for */
};

/*
 * Reads an expression as a window. *is_window: false when its value is no sequence of numbers
 * (a number, a text, a result), which is then in *value.
 */
int window_read(struct scope *scope, const struct expr *expr, struct window *out, bool *is_window,
                struct value *value, struct err *err) MUST_CHECK;

/* Elements of the window. */
int64_t window_count(const struct window *w);

/* The number of leaf `leaf` at the indexes at[0 .. rank-1], counted from the window's first. */
int window_value(const struct window *w, const int64_t *at, size_t leaf, struct value *out,
                 struct err *err) MUST_CHECK;
/* The same as text: exact, "-" for what was never written. In the scope's arena. */
int window_text(const struct window *w, const int64_t *at, size_t leaf, const char **out,
                struct err *err) MUST_CHECK;

/* Of all numbers of a leaf; nan counts apart. */
struct window_facts {
    int64_t count, unwritten, nans; /* count: all of them */
    double min, max, mean;          /* of what is a number; 0 when there is none */
    struct value least, most;       /* the same, exactly */
};
int window_facts(const struct window *w, size_t leaf, struct window_facts *out,
                 struct err *err) MUST_CHECK;

/*
 * n consecutive numbers of the innermost dimension as doubles, from element `at`; what was
 * never written is NaN. For figures.
 */
int window_row(const struct window *w, const int64_t *at, size_t leaf, int64_t n, double *out,
               struct err *err) MUST_CHECK;

#endif
