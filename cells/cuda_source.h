/*
 * A session's CUDA C as a list of definitions. A cell is cut into its top-level
 * items (a macro, a function, a struct, a variable), each with the names that it
 * defines; the text of a compilation is put together from the items that it needs,
 * every one under a #line with its own cell's name, so that messages point there.
 *
 * This is no C++ parser: it finds where items end and what they are called, and
 * leaves every judgement to the compiler.
 */
#ifndef WB_CELLS_CUDA_SOURCE_H
#define WB_CELLS_CUDA_SOURCE_H

#include "cells/cuda.h"
#include "model/base/arena.h"
#include "model/base/buf.h"

enum item_kind {
    ITEM_KERNEL,
    ITEM_FUNCTION,  /* __device__, constexpr, or of no known space */
    ITEM_HOST,      /* for the host alone: never compiled */
    ITEM_PROTOTYPE, /* names a function, defines none */
    ITEM_TYPE,
    ITEM_VARIABLE,
    ITEM_CONSTANT,
    ITEM_MACRO,
    ITEM_UNDEF,    /* #undef: of its cell; an older macro of the name is gone */
    ITEM_INCLUDE,  /* hoisted to the top, so that precompiled headers work */
    ITEM_OPERATOR, /* used without its name: always compiled; replaced by its signature */
    ITEM_OTHER,    /* using namespace, MACRO(x), #if ... #endif with what is in it */
    ITEM_ONCE,     /* #warning, template f<int>(): compiled with its own cell alone */
};

/* One name that an item defines; a block of #if has many. Texts are the arena's. */
struct item_name {
    const char *name;  /* without its scope */
    const char *scope; /* "m::", "P::" of P::f; "" */
    const char *head;  /* one line: of a function up to its body */
    enum item_kind kind;
    bool is_template, is_specialization;
    uint32_t hash; /* of the name: tells most apart at once */
};

struct cuda_item {
    enum item_kind kind;
    struct bytes text;       /* as in the cell */
    int line, column;        /* of its first byte in the cell, 1-based */
    int cell;                /* the n of In[n] */
    struct arena *arena;     /* that holds the texts below: one a segment */
    struct item_name *names; /* that it defines */
    size_t name_count, name_capacity;
    const char *head;                   /* one line: a function's up to its body */
    const char *open, *close;           /* what it stands in: "namespace m {" and "}"; "" */
    struct bytes value;                 /* of a macro or constant; empty when there is none */
    const struct cuda_options *options; /* of its %%kernel, in its arena; or NULL */
    int segment;                        /* number of the stretch of CUDA C that it was run with */
    struct cuda_item *inner; /* of a block of #if: the items inside, texts in its own; arena's */
    size_t inner_count;
    bool is_unannotated; /* a function or variable without __device__ and its like */
};

struct cuda_items {
    struct cuda_item *list;
    size_t count, capacity;
};

/*
 * Cuts a segment into items (allocated in the arena, which must outlive them; source is copied,
 * carriage returns and #line directives are taken out). What stands in extern "C" { } or a
 * namespace are items of their own. An unclosed brace or comment makes the rest one item: the
 * compiler will say what is wrong. Fails with ResourceError.
 */
int cuda_split(struct arena *arena, struct bytes source, int first_line, int cell,
               struct cuda_items *out, struct err *err) MUST_CHECK;

/*
 * The members of a struct's or class's text, cut like a cell (texts are parts of it). Nothing when
 * it has no body. Fails with ResourceError.
 */
int cuda_split_members(const struct cuda_item *item, struct cuda_items *out,
                       struct err *err) MUST_CHECK;

/* True when the text uses the identifier (comments and strings do not count). */
bool cuda_uses(struct bytes text, const char *name);

/*
 * Appends to out the text to compile so that every item with is_root[i] is in it: the items
 * that they use, directly or not, before those that use them; includes first; then the rest
 * in order. Fails with ResourceError.
 */
int cuda_compose(const struct cuda_items *items, const bool *is_root, struct buf *out,
                 struct err *err) MUST_CHECK;

/* The same as people would write it: without #line, items apart by blank lines. */
int cuda_extract(const struct cuda_items *items, const bool *is_root, struct buf *out,
                 struct err *err) MUST_CHECK;

/* Is this item the include of a header, or of one in its folder? name: "cooperative_groups.h". */
bool cuda_includes(const struct cuda_item *item, struct bytes name);

/*
 * The include that stands on a line of a composed text, where they have no #line of their own:
 * its index; items->count when there is none.
 */
size_t cuda_include_at(const struct cuda_items *items, struct bytes composed, int line);

/* The plain name in a linked one: "_Z5saxpyifPKfPf" is "saxpy". Writes at most capacity bytes. */
void cuda_plain_name(const char *symbol, char *out, size_t capacity);

/* Is a linked name that of `name` in a scope, "a::b::" or ""? "_ZN1a1kEPf" is k in "a::". */
bool cuda_symbol_is(const char *symbol, const char *scope, const char *name);

/* ---- for cuda_split.c and cuda_declare.c ---- */

struct scanner;
struct scan_token;

/* Adds a name to an item; copies. -1 with ResourceError. */
int cuda_item_add_name(struct cuda_item *item, struct item_name name, struct bytes text,
                       struct err *err) MUST_CHECK;

/* The names of a block of #if are those of its inner items, host code aside. */
int cuda_item_take_names(struct cuda_item *item, struct err *err) MUST_CHECK;

/*
 * Reads one declaration whose first token is given (item: text.data, arena, open and scope are
 * set): moves the scanner behind it and fills text, kind, names, head and value.
 */
int cuda_read_declaration(struct scanner *s, struct scan_token first, const char *scope,
                          struct cuda_item *item, struct err *err) MUST_CHECK;

/* One line with single blanks and without comments: for completion and signatures. NULL: memory. */
char *cuda_one_line(struct arena *arena, struct bytes text);

#endif
