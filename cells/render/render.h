/*
 * From a result to what a front end shows: MIME bundles, in the order in which
 * they are displayed. The numbers are never only in a picture, and no bundle
 * offers HTML beside an SVG, because front ends would prefer the HTML.
 */
#ifndef WB_CELLS_RENDER_RENDER_H
#define WB_CELLS_RENDER_RENDER_H

#include "cells/figure.h"
#include "cells/result.h"
#include "model/base/err.h"

#include <jansson.h>

enum { RENDER_MAX_BUNDLES = 3 };

/*
 * 1. the table: text/plain, text/html, application/vnd.warpbook.v1+json
 * 2. the figure, when it has panels: image/svg+xml, text/plain
 * 3. the slider, when the figure has frames: text/html, text/plain
 */
struct rendering {
    json_t *bundles[RENDER_MAX_BUNDLES]; /* objects; owned */
    size_t count;
};

/* The same bytes for the same result, on every machine. Fails with ResourceError only. */
int render_result(const struct result *result, struct rendering *out, struct err *err) MUST_CHECK;
void rendering_done(struct rendering *rendering);

#endif
