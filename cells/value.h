/*
 * Values of the cell language: what a variable holds, an expression yields and
 * a magic's key receives.
 */
#ifndef WB_CELLS_VALUE_H
#define WB_CELLS_VALUE_H

#include "cells/result.h"
#include "model/base/arena.h"
#include "model/base/base.h"

#include <stdbool.h>

struct buffer; /* cells/buffer.h */
struct element_type;

enum value_type {
    VALUE_NULL,  /* a field that the device cannot count */
    VALUE_INT,   /* int64 */
    VALUE_FLOAT, /* double */
    VALUE_BOOL,
    VALUE_STRING,    /* "text" */
    VALUE_NAME,      /* a bare word: gto, L40S */
    VALUE_DIM,       /* (x,y,z): missing ones are 1 */
    VALUE_LIST,      /* [a,b,c], a range, or a list field */
    VALUE_RESULT,    /* what a magic gave; fields by name */
    VALUE_JSON,      /* an object inside a result */
    VALUE_BUFFER,    /* a buffer, or a place in it: x, x + 16, A[2] */
    VALUE_UNWRITTEN, /* an element that nobody ever wrote */
};

struct value {
    enum value_type type;
    /*
     * Of a FLOAT: the enum scalar_kind of the buffer that it came from, so that 0.1f compares
     * with 0.1 and is written as 0.1; 0 (no kind with a point) for every other one.
     */
    int kind;
    union {
        int64_t i;
        double f;
        bool b;
        const char *text; /* STRING and NAME: terminated; borrowed from the arena or session */
        struct {
            int64_t x, y, z;
            int count; /* how many were written */
        } dim;
        struct {
            const struct value *items;
            size_t count;
        } list;
        struct result *result; /* borrowed, unless the owner says otherwise */
        json_t *json;          /* borrowed */
        struct {
            struct buffer *buffer; /* borrowed from the session */
            int64_t offset;        /* of the place, in elements from the start */
            int level;             /* indexes applied: 1 for the row A[2]; -1: x + 16, flat */
            unsigned inner;        /* bytes into the element: a member of a struct */
            const struct element_type *type; /* of that member; NULL: the buffer's own */
        } buffer;
    };
};

/* "int", "float", ... as errors spell it. Static. */
const char *value_type_name(enum value_type type);

/* "an int", "a float", ...: the same within a sentence. Static. */
const char *value_a_type(enum value_type type);

/* As %print writes it: shortest text that reads back as the same number. NULL: out of memory. */
char *value_text(struct arena *arena, const struct value *v);

#endif
