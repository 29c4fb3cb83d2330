/*
 * Rows of a CSV file of tests/data: named columns, no quotes. A file that is
 * missing fails the test, as its rows are the specification. Tests run from the
 * top of the tree.
 */
#ifndef WB_TESTS_UNIT_ROWS_H
#define WB_TESTS_UNIT_ROWS_H

#include "model/base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { ROWS_MAX_COLUMNS = 16, ROWS_MAX_LINE = 400 };

struct rows {
    FILE *file;
    char head[ROWS_MAX_LINE], line[ROWS_MAX_LINE]; /* cut into fields by '\0' */
    const char *names[ROWS_MAX_COLUMNS], *fields[ROWS_MAX_COLUMNS];
    char text[ROWS_MAX_LINE]; /* the row as written, for messages */
    size_t columns, count;    /* rows read so far */
};

static inline size_t rows_cut(char *line, const char **fields)
{
    size_t n = 0;

    line[strcspn(line, "\r\n")] = '\0';
    for (char *at = line; at && n < ROWS_MAX_COLUMNS; n++) {
        fields[n] = at;
        at = strchr(at, ',');
        if (at)
            *at++ = '\0';
    }
    return n;
}

static inline void rows_open(struct rows *rows, const char *path)
{
    *rows = (struct rows){ .file = fopen(path, "r") };
    if (!rows->file || !fgets(rows->head, sizeof(rows->head), rows->file))
        fail_msg("%s: cannot be read; tests run from the top of the tree", path);
    rows->columns = rows_cut(rows->head, rows->names);
}

/* False at the end, which closes the file. */
static inline bool rows_next(struct rows *rows)
{
    if (!fgets(rows->line, sizeof(rows->line), rows->file)) {
        fclose(rows->file);
        return false;
    }
    rows->line[strcspn(rows->line, "\r\n")] = '\0';
    memcpy(rows->text, rows->line, sizeof(rows->text));
    if (rows_cut(rows->line, rows->fields) != rows->columns)
        fail_msg("row %zu has another number of columns: %s", rows->count + 1, rows->text);
    rows->count++;
    return true;
}

static inline const char *rows_text(const struct rows *rows, const char *column)
{
    for (size_t i = 0; i < rows->columns; i++)
        if (strcmp(rows->names[i], column) == 0)
            return rows->fields[i];
    fail_msg("no column %s", column);
    return "";
}

static inline int rows_int(const struct rows *rows, const char *column)
{
    return (int)strtol(rows_text(rows, column), NULL, 10);
}

static inline double rows_float(const struct rows *rows, const char *column)
{
    return strtod(rows_text(rows, column), NULL);
}

#endif
