/*
 * A view as HTML, in the same order as its text: what a notebook shows.
 */
#ifndef WB_CELLS_RENDER_HTML_H
#define WB_CELLS_RENDER_HTML_H

#include "cells/result.h"
#include "model/base/buf.h"

/*
 * One <div class="warpbook">. No script, no <style>, no id: only inline styles that a
 * notebook's sanitizer keeps, and no colour, so that it reads in light and dark themes.
 */
void html_put_view(struct buf *out, const struct view *view);

#endif
