/*
 * `warpbook cell`: runs cells from a file without Jupyter, and a page of HTML, a line of
 * JSON a cell, or plain text comes out.
 */
#ifndef WB_CELLS_SCRIPT_H
#define WB_CELLS_SCRIPT_H

#include "model/base/base.h"

#include <stdbool.h>

/* Exit status: 0, 1 when a cell failed, 2 for a wrong command line or an unreadable file. */
int script_main(int argc, char **argv);

extern const char SCRIPT_HELP[];

/*
 * Takes the next cell off *rest: the lines up to one that holds just `%%`. False at the end.
 * An empty script is one empty cell.
 */
bool script_next_cell(struct bytes *rest, struct bytes *cell);

#endif
