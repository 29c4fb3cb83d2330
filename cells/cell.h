/*
 * Running one cell: segment by segment, up to the first error.
 * The public door is session_run_cell in cells/session.h.
 */
#ifndef WB_CELLS_CELL_H
#define WB_CELLS_CELL_H

#include "cells/internal.h"

/* ---- what the magics of this room use beside cells/magic.h ---- */

/* The text of a PARAM_REST argument, with its place in the cell. */
struct source call_source(const struct call *call, const char *name);

/* Where the magic itself stands, as the place of an error. Returns -1. */
int call_mark(const struct call *call, struct err *err);

/* `NAME = value` at the start of a source (as written by %let, assignment lines, papermill). */
int cell_assign(struct cell *cell, struct source source, struct err *err) MUST_CHECK;

/* foreign.c: says why there is no magic of this name, and what comes near. Returns -1. */
int magic_refuse(const struct lexer *lexer, const char *name, bool is_cell, size_t end,
                 struct err *err);

/* cell_hint.c: adds to a CompileError what the line that it points at may have meant. */
void cell_hint_line(struct cell *cell, struct err *err);

#endif
