/*
 * JSON as Python writes it: the shortest number that reads back as the same
 * double, nothing escaped but what must be. A notebook that Warpbook saved and
 * one that Jupyter saved differ in no byte.
 */
#ifndef WB_CELLS_JSON_TEXT_H
#define WB_CELLS_JSON_TEXT_H

#include "model/base/buf.h"

#include <jansson.h>

enum json_style {
    JSON_TEXT_LINE,     /* one line, keys in the order of the object */
    JSON_TEXT_NOTEBOOK, /* keys sorted, one blank a level: nbformat's files */
};

/* Appends v to out; a failed allocation is remembered in out, as buf.h says. */
void json_text(const json_t *v, enum json_style style, struct buf *out);

/* Appends v as Python's repr: 0.1, 1e-07, 1e+16, 5.0. v is finite. */
void json_text_real(double v, struct buf *out);

#endif
