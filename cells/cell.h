/*
 * Running one cell: segment by segment, up to the first error.
 * The public door is session_run_cell in cells/session.h.
 */
#ifndef WB_CELLS_CELL_H
#define WB_CELLS_CELL_H

#include "cells/internal.h"
#include "cells/segment.h"

/* ---- what the magics of this room use beside cells/magic.h ---- */

/* The text of a PARAM_REST argument, with its place in the cell. */
struct source call_source(const struct call *call, const char *name);

/* Where the magic itself stands, as the place of an error. Returns -1. */
int call_mark(const struct call *call, struct err *err);

/* `NAME = value` at the start of a source (as written by %let, assignment lines, papermill). */
int cell_assign(struct cell *cell, struct source source, struct err *err) MUST_CHECK;

/* cell_segment.c: a magic's line (body: of a cell magic, else NULL), a launch; target: or NULL. */
int cell_run_magic(struct cell *cell, struct source line, const struct source *body,
                   const char *target, struct err *err) MUST_CHECK;
int cell_run_launch(struct cell *cell, struct source line, const char *target,
                    struct err *err) MUST_CHECK;

/* Whatever it is; and what it would have set is unset, where an error above kept it from running.
 */
int cell_run_segment(struct cell *cell, const struct segment *segment, struct err *err) MUST_CHECK;
void cell_forget_segment(struct cell *cell, const struct segment *segment);

/* foreign.c: says why there is no magic of this name, and what comes near. Returns -1. */
int magic_refuse(const struct lexer *lexer, const char *name, bool is_cell, size_t end,
                 struct err *err);

/* cell_hint.c: adds to a CompileError what the line that it points at may have meant. */
void cell_hint_line(struct cell *cell, struct err *err);

#endif
