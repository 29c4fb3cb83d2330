/*
 * One number of a buffer: from its bytes to a value of the cell language and back. What does
 * not fit is an error that names the limit, never a wrapped number.
 */
#ifndef WB_CELLS_BUFFER_NUMBER_H
#define WB_CELLS_BUFFER_NUMBER_H

#include "cells/buffer.h"
#include "cells/value.h"

/* The number at p (any alignment) as int64 or double; a ulong above 2^63-1 becomes a double. */
struct value scalar_value(enum scalar_kind kind, const void *p);

/* What the number at p is as a double: half and bf16 exactly, 64-bit integers rounded. */
double scalar_double(enum scalar_kind kind, const void *p);

enum store_result {
    STORE_OK,
    STORE_RANGE,    /* outside the limits of the kind */
    STORE_FRACTION, /* a decimal that is no integer, for an integer kind */
    STORE_NAN,      /* nan or an infinity for an integer kind */
};

/* Writes n numbers, `stride` bytes apart, and stops at the first that does not fit: *stored. */
enum store_result scalar_store_ints(enum scalar_kind kind, void *p, size_t stride,
                                    const int64_t *from, size_t n, size_t *stored);
enum store_result scalar_store_floats(enum scalar_kind kind, void *p, size_t stride,
                                      const double *from, size_t n, size_t *stored);

/* Reads n numbers: integers of every kind but ulong are exact; is_big: some ulong was > 2^63-1. */
void scalar_load_ints(enum scalar_kind kind, const void *p, size_t stride, int64_t *to, size_t n,
                      bool *is_big);
void scalar_load_floats(enum scalar_kind kind, const void *p, size_t stride, double *to, size_t n);

/* The nearest number that the kind can hold, ties to even; infinite when it is too large. */
double scalar_round(enum scalar_kind kind, double v);

/* "-128 to 127": what the kind holds. Static. */
const char *scalar_limits(enum scalar_kind kind);

/* The fewest digits that read back as the same number of this kind: "0.1" for 0.1f. */
void scalar_text(enum scalar_kind kind, const void *p, char *out, size_t size);
void float_text(enum scalar_kind kind, double v, char *out, size_t size);

#endif
