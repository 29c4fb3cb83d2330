/*
 * Frames of a figure as a slider: HTML that moves without script, also in a
 * saved page, because radio buttons choose the frame and CSS shows it.
 */
#ifndef WB_CELLS_RENDER_SLIDER_H
#define WB_CELLS_RENDER_SLIDER_H

#include "cells/figure.h"
#include "model/base/buf.h"

enum {
    SLIDER_MAX_FRAMES = 64,
    SLIDER_LIMIT = 900 * 1000, /* bytes of all pictures together, before base64 */
};

/*
 * The frames of figure, the first one chosen. A page that drops the style (JupyterLab in a
 * notebook that is not trusted) shows the first frame and says how to get the others.
 */
void slider_put_html(struct buf *out, const struct figure *figure);

/* The conclusion of the figure, then one line a frame. */
void slider_put_text(struct buf *out, const struct figure *figure);

#endif
