/*
 * Tagged fields: the body of a message between the front and a child process.
 *
 * A field is a 16-bit tag, 16 zero bits, a 32-bit size and that many bytes, in
 * the machine's byte order: both ends are the same binary on the same machine.
 * A list is a tag that repeats; a record is a field whose bytes are fields. The
 * reader believes no size: it stops at the first field that does not fit.
 */
#ifndef WB_KERNELS_FIELDS_H
#define WB_KERNELS_FIELDS_H

#include "model/base/base.h"
#include "model/base/buf.h"
#include "model/base/err.h"

#include <stdbool.h>

struct field_reader {
    struct bytes left;
    bool is_bad; /* what is left is no field */
};

/* One field as read; data is borrowed from the message. */
struct field_item {
    unsigned tag;
    struct bytes data;
};

/* Writing. A failed allocation is remembered in body->is_failed, as buf.h says. */
void fields_put(struct buf *body, unsigned tag, struct bytes data);
void fields_put_text(struct buf *body, unsigned tag, const char *text); /* NULL: nothing */
void fields_put_int(struct buf *body, unsigned tag, int64_t v);

/* A record: begin, put its fields, end with what begin returned. Records nest. */
size_t fields_begin(struct buf *body, unsigned tag);
void fields_end(struct buf *body, size_t begin);

/* Reads the next field; false at the end, or with is_bad when the rest is damaged. */
bool fields_next(struct field_reader *reader, struct field_item *out);

/* The n-th (from 0) field with a tag; false when there is none. */
bool fields_find(struct bytes body, unsigned tag, size_t n, struct bytes *out);

/* The fallback when the field is missing or has another size. */
int64_t fields_int(struct bytes body, unsigned tag, int64_t fallback);

/* True when the whole body is well-formed fields (records are not entered). */
bool fields_are_sound(struct bytes body);

/* An error as a record of one tag, there and back; the reader fills e and returns -1. */
void fields_put_err(struct buf *body, unsigned tag, const struct err *e);
int fields_err(struct bytes record, struct err *e);

#endif
