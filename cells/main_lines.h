/*
 * What a host program does on the device, as lines of a cell: for those who paste one.
 */
#ifndef WB_CELLS_MAIN_LINES_H
#define WB_CELLS_MAIN_LINES_H

#include "model/base/arena.h"
#include "model/base/buf.h"

/*
 * Appends the lines that stand for a program's cudaMalloc, launches and copies back: its numbers
 * and shapes, %buffer, the launches as written, %show. Nothing when the text launches no kernel.
 * A buffer that the program copies into starts as iota, as what the host computes is not known
 * here. The text need not be a whole program; out of memory it may be cut.
 */
void main_lines_of(struct arena *arena, struct bytes program, struct buf *out);

#endif
