/*
 * A result: what a magic computed. The fields are the truth (expressions,
 * grading, logs and JSON read them); the view says in which order a person
 * reads them; the figure draws them. cells/render/ turns each into text, HTML,
 * JSON and SVG and computes nothing.
 */
#ifndef WB_CELLS_RESULT_H
#define WB_CELLS_RESULT_H

#include "model/base/arena.h"
#include "model/base/base.h"
#include "model/base/err.h"

#include <jansson.h>
#include <stdbool.h>

struct figure; /* cells/figure.h */

enum view_align {
    VIEW_LEFT,
    VIEW_RIGHT,
    VIEW_CODE, /* left, monospaced in HTML too: marks that stand under their numbers */
};

struct view_column {
    const char *title; /* "" for none; '\n' splits a two-line head */
    enum view_align align;
};

/* A table: rows * columns texts, row by row. A NULL cell is empty. */
struct view_table {
    const struct view_column *columns;
    size_t column_count;
    const char **cells;
    const bool *marked; /* per row: printed with '>'; NULL: none */
    size_t row_count;
};

enum view_kind {
    VIEW_TABLE, /* table */
    VIEW_FACTS, /* "name  text" lines: names[i], texts[i]; a long text wraps under itself */
    VIEW_LINES, /* preformatted lines, monospaced in HTML too (Gantt, source) */
};

struct view_block {
    enum view_kind kind;
    struct view_table table;
    const char **names; /* VIEW_FACTS */
    const char **texts; /* VIEW_FACTS and VIEW_LINES */
    size_t count;
    struct view_block *next;
};

/*
 * The order is fixed (docs: how results read): answer with its number, where it comes
 * from and what was asked, blocks, and what to do next. At most 83 columns.
 */
struct view {
    const char *answer; /* one or two lines */
    const char *origin; /* device, source and parameters, defaults apart */
    struct view_block *first, *last;
    const char *closing; /* "To 100 %: ...", "Next: ...", or NULL */
};

/* Owned by the arena inside; freed by result_release. Reference counted: `_`, `-> t` share it. */
struct result {
    struct arena *arena; /* every string, block and figure below is allocated here */
    json_t *fields;      /* object: kind, schema, device, input, then the magic's own fields */
    struct view view;
    struct figure *figure; /* at most one, or NULL */
    int references;
};

/* A new result with one reference; fields holds kind and schema. NULL when out of memory. */
struct result *result_new(const char *kind, int schema);
struct result *result_keep(struct result *result);
void result_release(struct result **result);

/* Building a view. Each returns NULL, and the result stays usable, when out of memory. */
const char *result_text(struct result *result, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* "both points", "all 12 points"; "The first 40 of 256 points; the sweep field has all." */
const char *result_points_text(struct result *result, size_t points);
const char *result_first_text(struct result *result, size_t shown, size_t points);

struct view_table *view_add_table(struct result *result, const struct view_column *columns,
                                  size_t column_count, size_t row_count);
void view_cell(struct view_table *table, size_t row, size_t column, const char *text);
void view_mark(struct view_table *table, size_t row); /* the row that matters: printed with '>' */
struct view_block *view_add_lines(struct result *result, size_t count); /* fill texts[i] */
struct view_block *view_add_facts(struct result *result, size_t count); /* names[i], texts[i] */
/* One fact more: in the last block when that holds facts, else in a new one. NULL text: nothing. */
void view_fact(struct result *result, const char *name, const char *text);

/* A JSON number for v: non-finite values are the strings "inf" "-inf" "nan". New reference. */
json_t *json_number(double v);

/*
 * json, or NULL with json released when some part of it could not be added: is_failed collects
 * what json_object_set_new and json_array_append_new returned.
 */
json_t *json_whole(json_t *json, int is_failed);

#endif
