/* The program that elementwise.c compiles and elementwise_run.c runs, and what compiles it. */
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

/* ---- elementwise_depends.c: what an expression speaks of ---- */

enum { ACCESS_INDEXES = 8 };

/* x, x[a][b], x[a].pos.y, x.id[2]: a buffer, indexes, and the path of a member. */
struct access {
    const struct expr *base;
    const struct expr *indexes[ACCESS_INDEXES];
    size_t count;
    char path[200];
};

/* Whether it stands in { }: i, j and k come before variables there. */
bool elementwise_is_braced(const struct scope *scope, const struct expr *expr);

/* The dimension that the name counts: 0 of i, 1 of j, 2 of k, or -1 for what is no index. */
int elementwise_index(const struct scope *scope, const char *name, bool in_braces);

/* The buffer that a bare name means; NULL: none. */
struct buffer *elementwise_buffer(const struct scope *scope, const struct expr *expr);

/* Reads an access of a buffer, or of x - y in parentheses: false for anything else. */
bool elementwise_access(const struct scope *scope, const struct expr *expr, struct access *a);

/* Whether the expression has a value for each element, and none of its own. */
bool elementwise_depends(struct scope *scope, const struct expr *expr, bool in_braces);

/* ---- the compiler: elementwise.c, and elementwise_function.c for calls ---- */

struct compiler {
    struct elementwise *e;
    struct err *err;
    bool in_braces;
};

/* In the scope's arena, with room for the values of a chunk; NULL with ResourceError. */
struct node *node_new(struct compiler *c, enum node_kind kind, const struct expr *expr,
                      bool is_float);
int node_compile(struct compiler *c, const struct expr *expr, struct node **out) MUST_CHECK;
int node_call(struct compiler *c, const struct expr *call, struct node **out) MUST_CHECK;

/* Puts a conversion to double above a node of integers; where one of two is double, above both. */
int node_to_float(struct compiler *c, struct node **node) MUST_CHECK;
int node_same_type(struct compiler *c, struct node **a, struct node **b) MUST_CHECK;

#endif
