/* Cells and their outputs as one HTML page that needs no other file and no script. */
#ifndef WB_CELLS_PAGE_H
#define WB_CELLS_PAGE_H

#include "model/base/base.h"
#include "model/base/buf.h"

#include <jansson.h>

void page_begin(struct buf *out);

/* A cell: its code, and its outputs as nbformat has them. */
void page_cell(struct bytes code, const json_t *outputs, struct buf *out);
void page_end(struct buf *out);

#endif
