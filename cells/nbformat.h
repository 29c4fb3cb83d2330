/*
 * Notebook files, nbformat 4.5: read with every text in one piece, written
 * as Jupyter writes them.
 */
#ifndef WB_CELLS_NBFORMAT_H
#define WB_CELLS_NBFORMAT_H

#include "model/base/base.h"
#include "model/base/buf.h"
#include "model/base/err.h"

#include <jansson.h>
#include <stdbool.h>

/*
 * Parses a notebook. Texts that are lists of lines are joined; an older minor version becomes 4.5
 * and cells without an id get one that depends on their place and text alone. *out: a new
 * reference, with "cells" a list of objects that each have cell_type, id, metadata and source,
 * and code cells outputs and execution_count. Fails with FileError (what is wrong, and where).
 */
int nbformat_read(struct bytes file, json_t **out, struct err *err) MUST_CHECK;

/* A new code cell with no outputs; NULL: out of memory. */
json_t *nbformat_code_cell(const char *id, const char *source, size_t n);

/* True when the cell's metadata has the tag. */
bool nbformat_has_tag(const json_t *cell, const char *tag);

/* Appends the file's text. Splits the texts inside notebook into lines, which ends its use. */
void nbformat_write(json_t *notebook, struct buf *out);

#endif
