/* The program that elementwise.c compiles and elementwise_run.c runs. */
#ifndef WB_CELLS_ELEMENTWISE_INTERNAL_H
#define WB_CELLS_ELEMENTWISE_INTERNAL_H

#include "cells/elementwise.h"

enum node_kind {
    NODE_CONST,   /* i or f */
    NODE_INDEX,   /* which: the dimension */
    NODE_IOTA,    /* element number * a + b */
    NODE_LOAD,    /* number at the same place of a buffer */
    NODE_GATHER,  /* number at kids[0] of a buffer, counted in elements from its place */
    NODE_BOUND,   /* kids[0], which must lie in 0 .. limit - 1 */
    NODE_LIST,    /* items[element number] */
    NODE_FLOAT,   /* kids[0] as a double */
    NODE_TRUTH,   /* kids[0] != 0 */
    NODE_UNARY,   /* which: - ~ ! */
    NODE_BINARY,  /* which: the operator; both kids of the node's own type */
    NODE_COMPARE, /* which; kids of one type; with kids[2]: a tolerance */
    NODE_AND,
    NODE_OR,
    NODE_CHOOSE,   /* kids[0] ? kids[1] : kids[2] */
    NODE_FUNCTION, /* which: enum element_function */
    NODE_RANDOM,   /* which: enum element_random; lo, hi in f, g */
};

enum element_function {
    FUNCTION_MIN,
    FUNCTION_MAX,
    FUNCTION_ABS,
    FUNCTION_CEIL,
    FUNCTION_FLOOR,
    FUNCTION_ROUND,
    FUNCTION_TRUNC,
    FUNCTION_REAL, /* function of one double */
    FUNCTION_POW,
};

enum element_random {
    RANDOM_UNIFORM,
    RANDOM_NORMAL,
};

struct node {
    enum node_kind kind;
    int which;
    bool is_float; /* floats, else ints, holds the values of a chunk */
    bool is_relative;
    const struct expr *expr; /* for the caret; borrowed */
    struct node *kids[3];
    int64_t a, b; /* CONST, IOTA; BOUND: the limit is a */
    double f, g;  /* CONST; RANDOM: lo and hi, or mean and deviation */
    double (*real)(double);
    uint64_t seed;
    struct value place; /* LOAD, GATHER */
    const char *path;   /* of the number in the element: ".x" */
    size_t inner;       /* bytes into the element */
    enum scalar_kind number;
    bool may_be_unwritten;
    const struct value *items; /* LIST */
    int64_t *ints;             /* ELEMENTWISE_CHUNK of them */
    double *floats;
};

struct elementwise {
    struct scope *scope;
    struct elements elements;
    struct node *root;
    int64_t first;
    size_t n;
    struct err *err;
};

#endif
