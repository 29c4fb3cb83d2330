/*
 * Declarations of CUDA C, read for the memory that they describe: `float x, y[4];`,
 * `unsigned long long *p`. For the members of structs and for device variables.
 */
#ifndef WB_CELLS_BUFFER_DECLARE_H
#define WB_CELLS_BUFFER_DECLARE_H

#include "cells/buffer_struct.h"
#include "cells/cuda_scan.h"

/* What is read, and for whom. */
struct declare {
    struct session *session;
    struct arena *arena; /* names, types and layouts go here */
    struct scanner scanner;
    struct scan_token ahead; /* the token that stands next */
    const char *of;          /* the struct or variable, for errors */
    int depth;               /* structs in structs */
    struct err *err;
};

void declare_init(struct declare *d, struct session *session, struct arena *arena,
                  struct bytes text, const char *of, int depth, struct err *err);

/* Takes the next token, or skips to the sign that closes the bracket that is ahead. */
struct scan_token declare_next(struct declare *d);
void declare_skip_group(struct declare *d);
bool declare_at(const struct declare *d, char sign);

/* Words that say nothing of the memory's layout: const, static, __device__, ... */
void declare_skip_qualifiers(struct declare *d, size_t *align);

/* The type at the scanner, without its declarators. Fails with UnsupportedError or NameError. */
int declare_type(struct declare *d, struct element_type *out) MUST_CHECK;

struct declarator {
    const char *name;
    bool is_pointer;
    int rank; /* of an array; 0: none */
    int64_t shape[BUFFER_RANK_MAX];
    bool is_open;         /* float x[] */
    struct bytes initial; /* behind =, braces included; or empty */
};

/* `*name[3] = ...` up to the comma or semicolon. Fails with UnsupportedError, and as expressions.
 */
int declare_declarator(struct declare *d, struct declarator *out) MUST_CHECK;

/* UnsupportedError: "particle: WHAT". Returns -1. */
int declare_refuse(struct declare *d, const char *what);

/* Most levels of structs in structs, and of typedefs of typedefs. */
enum { DECLARE_DEPTH = 8 };
int struct_type_at(struct session *session, struct arena *arena, const char *name, int depth,
                   struct element_type *out, struct err *err) MUST_CHECK;
/* The members between the braces that stand ahead; those of a union all lie at its start. */
int struct_body(struct declare *d, const char *name, size_t align, bool is_union,
                struct element_type *out) MUST_CHECK;

#endif
