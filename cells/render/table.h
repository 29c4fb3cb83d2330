/*
 * A view as aligned text: what a terminal, a log and a screen reader get.
 */
#ifndef WB_CELLS_RENDER_TABLE_H
#define WB_CELLS_RENDER_TABLE_H

#include "cells/result.h"
#include "model/base/buf.h"

/*
 * The whole view, in the order answer, origin, blocks, closing; the last line is not ended.
 * Lines have at most TEXT_COLUMNS columns wherever blanks allow it: long texts wrap, and a
 * table that is still too wide continues below itself with its first column repeated. No
 * number is ever cut. Preformatted lines (VIEW_LINES) stay as they are.
 */
void table_put_view(struct buf *out, const struct view *view);

#endif
