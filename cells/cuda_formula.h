/*
 * Functions of the host and macros that are one expression: CEIL_DIV(n, 256) in a launch.
 */
#ifndef WB_CELLS_CUDA_FORMULA_H
#define WB_CELLS_CUDA_FORMULA_H

#include "cells/cuda.h"

enum { FORMULA_PARAMETERS = 8 };

/* What a parameter's or a result's type makes of a value. */
enum formula_type { FORMULA_AS_IS, FORMULA_INT, FORMULA_FLOAT };

struct formula {
    const char *parameters[FORMULA_PARAMETERS]; /* the arena's */
    enum formula_type types[FORMULA_PARAMETERS], result;
    size_t count;
    struct bytes body; /* an expression; the session's, or the arena's */
    bool is_macro;     /* arguments stand in the body as they were written, brackets or none */
};

/*
 * The newest definition of a name as a macro with parameters, or as a function whose body is one
 * return. False: there is none. Types of templates leave values as they are.
 */
bool cuda_formula(const struct cuda *cuda, const char *name, struct arena *arena,
                  struct formula *out);

#endif
