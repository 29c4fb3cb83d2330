/*
 * Buffers: global memory that the session owns, as `%buffer x float[1M] = iota` makes it.
 *
 * The bytes lie in a memfd, so that a worker process can map what the session maps, and
 * nothing is copied for a launch. Addresses are virtual: they follow from the order of
 * creation alone, so that the same cells print the same pointers and fault at the same
 * places on every machine. An address is never used twice in a session, and what was freed
 * stays known: a kernel that still holds its pointer can be told whose it was.
 */
#ifndef WB_CELLS_BUFFER_H
#define WB_CELLS_BUFFER_H

#include "cells/session.h"
#include "model/base/base.h"
#include "model/base/err.h"

#include <stdbool.h>

enum {
    BUFFERS_MAX = 512,   /* of a session at one time; each holds a descriptor */
    BUFFER_RANK_MAX = 3, /* dimensions */
};

/* Bytes between two allocations at least, which no access may touch. */
#define BUFFER_RED_ZONE ((uint64_t)4096)
/* The first address, and the end of what addresses there are. */
#define BUFFER_ADDRESS_BASE ((uint64_t)0x700000000000)
#define BUFFER_ADDRESS_END  ((uint64_t)0x7e0000000000)

/* X(constant, name in a cell, bytes): what one number of an element can be. */
#define SCALAR_KINDS(X)                                                                            \
    X(CHAR, "char", 1)                                                                             \
    X(UCHAR, "uchar", 1)                                                                           \
    X(SHORT, "short", 2)                                                                           \
    X(USHORT, "ushort", 2)                                                                         \
    X(INT, "int", 4)                                                                               \
    X(UINT, "uint", 4)                                                                             \
    X(LONG, "long", 8)                                                                             \
    X(ULONG, "ulong", 8)                                                                           \
    X(HALF, "half", 2)                                                                             \
    X(BF16, "bf16", 2)                                                                             \
    X(FLOAT, "float", 4)                                                                           \
    X(DOUBLE, "double", 8)                                                                         \
    X(BOOL, "bool", 1)                                                                             \
    X(STRUCT, "struct", 0)

/* clang-format off */
enum scalar_kind {
#define X(kind, name, bytes) SCALAR_##kind,
    SCALAR_KINDS(X)
#undef X
    SCALAR_COUNT
};
/* clang-format on */

/* "float"; "struct" for structs. Static. */
const char *scalar_name(enum scalar_kind kind);
/* Bytes of one number: 4 for SCALAR_FLOAT; 0 for SCALAR_STRUCT. */
size_t scalar_bytes(enum scalar_kind kind);
/* HALF, BF16, FLOAT and DOUBLE: a number with a point. */
bool scalar_is_float(enum scalar_kind kind);

struct struct_layout; /* cells/buffer_struct.h: the members of a struct */

struct element_type {
    const char *name; /* as the user writes it: "float", "float4", "particle" */
    enum scalar_kind kind;
    int lanes; /* 1, 2..4 of a vector type */
    size_t bytes, align;
    const struct struct_layout *layout; /* of SCALAR_STRUCT; else NULL */
};

/*
 * The type that a name means: C's spellings ("unsigned int", "int32_t", "__half2") and CUDA's
 * vector types with CUDA's sizes and alignments (vector_types.h of CUDA 13.0); else a struct of
 * an earlier cell. Strings and layout of *out live as long as the running cell.
 *
 * Fails with NameError (the nearest name given), or UnsupportedError for a struct whose layout
 * is not known here (the member is named).
 */
int element_type_find(struct session *session, const char *name, struct element_type *out,
                      struct err *err) MUST_CHECK;

struct buffer {
    char *name;
    struct element_type type;       /* strings and layout are the buffer's */
    int64_t shape[BUFFER_RANK_MAX]; /* the last dimension lies densest; 1 behind rank */
    int rank;      /* 1 to 3; 0 for a symbol that is no array: `__device__ int n;` */
    int64_t count; /* elements: the product of shape */
    size_t size;   /* bytes of data */
    int fd;        /* the memfd, CLOEXEC, which never shrinks; data starts at offset 0 */
    void *data;    /* the memfd, mapped shared */
    /*
     * Bytes into the memfd (a multiple of the page size) at which a bitmap starts, one bit for
     * each byte of data, lowest bit first: set once the byte was written. 0: all is defined.
     */
    size_t defined_offset;
    size_t settled;      /* so many of the first bytes are known to be defined */
    uint64_t address;    /* virtual, a multiple of 256 */
    char *origin;        /* "made in In[4] line 1" */
    bool is_symbol;      /* a __device__ or __constant__ variable */
    struct arena *arena; /* of the strings above; the buffer's own */
    size_t mapped;       /* bytes mapped at data: data and bitmap */
};

/*
 * Makes a buffer of zeros that nobody wrote yet: every byte is undefined until buffer_define
 * says otherwise. A buffer of that name (of the same sort: symbol or not) is replaced, and so
 * is a variable of that name; the old buffer is freed only when the new one is there.
 *
 * rank   1 to 3, for a symbol 0 too
 * shape  rank numbers, 1 or more each
 *
 * *out is borrowed from the session until the name is replaced or reset. Fails with ValueError
 * (a dimension below 1) or ResourceError (larger than what memory allows; the text has the
 * numbers).
 */
int buffer_make(struct session *session, const char *name, const struct element_type *type,
                int rank, const int64_t *shape, bool is_symbol, struct buffer **out,
                struct err *err) MUST_CHECK;

/*
 * The same in two steps, for data that are read from the buffer that is replaced: prepared ones
 * belong to the caller and have no address; commit gives it to the session, discard ends it.
 */
int buffer_prepare(struct session *session, const char *name, const struct element_type *type,
                   int rank, const int64_t *shape, bool is_symbol, struct buffer **out,
                   struct err *err) MUST_CHECK;
int buffer_commit(struct session *session, struct buffer *take, struct err *err) MUST_CHECK;
void buffer_discard(struct buffer **buffer);

/* The buffer of a name, else the device symbol that holds it; NULL: none. Borrowed. */
struct buffer *buffer_find(struct session *session, const char *name);
/* The symbol alone. */
struct buffer *buffer_find_symbol(struct session *session, const char *name);

/* Buffers and symbols in order of creation. */
size_t buffer_count(const struct session *session);
struct buffer *buffer_at(const struct session *session, size_t i);

/* "made in In[4] line 1": what buffer_make could not know is the line. Out of memory: unchanged. */
void buffer_set_origin(struct buffer *buffer, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Frees one, all that are no symbols, or all symbols; how: "freed by %reset in In[7]". */
void buffer_drop(struct session *session, struct buffer *buffer, const char *how);
void buffers_drop_all(struct session *session, bool symbols, const char *how);

/* ---- which bytes were ever written ---- */

/* The bitmap, or NULL when all is defined. */
uint8_t *buffer_defined(const struct buffer *buffer);
/* Marks bytes [offset, offset + size) as written; marking all drops the bitmap. */
void buffer_define(struct buffer *buffer, size_t offset, size_t size);
/* Were all bytes of [offset, offset + size) written? */
bool buffer_is_defined(const struct buffer *buffer, size_t offset, size_t size);
/* How many of these bytes were never written. */
size_t buffer_count_undefined(const struct buffer *buffer, size_t offset, size_t size);
/* Drops the bitmap when every bit of it is set: after a launch wrote into it. */
void buffer_settle(struct buffer *buffer);

/* ---- what is gone ---- */

/* A buffer that was: for reports on pointers that outlived it. */
struct freed_buffer {
    const char *name;
    uint64_t address;
    size_t size;       /* bytes */
    const char *where; /* "replaced by %buffer in In[7]" */
};
/* In order of their end. A session remembers the last FREED_MAX. Borrowed until the next end. */
enum { FREED_MAX = 4096 };
size_t freed_count(const struct session *session);
const struct freed_buffer *freed_at(const struct session *session, size_t i);

/* "float[64][64]", into out. */
void buffer_type_text(const struct buffer *buffer, char *out, size_t size);

/* Most bytes that all buffers of a session take together: half of the memory there is. */
size_t buffers_limit(void);

/* ---- for session.c ---- */
struct buffers;
struct buffers *buffers_new(void);
void buffers_free(struct buffers **buffers);

#endif
