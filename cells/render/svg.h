/*
 * A figure as SVG: one picture on its own light card, which reads well in a
 * light and in a dark notebook, printed, and with every kind of colour vision.
 */
#ifndef WB_CELLS_RENDER_SVG_H
#define WB_CELLS_RENDER_SVG_H

#include "cells/figure.h"
#include "model/base/buf.h"

/*
 * Largest picture that is put into a notebook, in bytes. Source: facts of the front ends: a
 * larger SVG slows the page, the document and its version control.
 */
enum { SVG_LIMIT = 190 * 1000 };

/*
 * Appends the picture of the panels of figure: 720 px wide, <title> and <desc> first. No
 * script, style, link, outside font or id of its own; hatches carry the same ids in every
 * picture because they are the same. A picture above limit bytes is drawn again with coarser
 * marks, and says so.
 */
void svg_put_figure(struct buf *out, const struct figure *figure, size_t limit);

#endif
