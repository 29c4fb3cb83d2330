/*
 * One bundle for the words, one for the picture, one for the slider: a front
 * end shows the best form of each bundle, so what must be seen together is
 * never an alternative of the other.
 */
#include "cells/render/render.h"

#include "cells/render/html.h"
#include "cells/render/json.h"
#include "cells/render/slider.h"
#include "cells/render/svg.h"
#include "cells/render/table.h"
#include "cells/render/text.h"

/* Takes what was written: a JSON string, or NULL when memory ran out. */
static json_t *take_string(struct buf *text)
{
    json_t *string = text->is_failed ? NULL : json_stringn(buf_text(text), text->size);

    buf_done(text);
    return string;
}

static int fill_table(json_t *bundle, const struct result *result)
{
    struct buf text = { 0 }, html = { 0 };
    int rc = 0;

    table_put_view(&text, &result->view);
    html_put_view(&html, &result->view);
    rc |= json_object_set_new(bundle, "text/plain", take_string(&text));
    rc |= json_object_set_new(bundle, "text/html", take_string(&html));
    rc |= json_object_set_new(bundle, JSON_MIME, json_of_result(result));
    return rc;
}

static int fill_figure(json_t *bundle, const struct result *result)
{
    struct buf svg = { 0 }, text = { 0 };
    int rc = 0;

    svg_put_figure(&svg, result->figure, SVG_LIMIT);
    text_put_wrapped(&text, result->figure->conclusion, 0, 0);
    rc |= json_object_set_new(bundle, "image/svg+xml", take_string(&svg));
    rc |= json_object_set_new(bundle, "text/plain", take_string(&text));
    return rc;
}

static int fill_slider(json_t *bundle, const struct result *result)
{
    struct buf html = { 0 }, text = { 0 };
    int rc = 0;

    slider_put_html(&html, result->figure);
    slider_put_text(&text, result->figure);
    rc |= json_object_set_new(bundle, "text/html", take_string(&html));
    rc |= json_object_set_new(bundle, "text/plain", take_string(&text));
    return rc;
}

static int add_bundle(struct rendering *out, const struct result *result,
                      int (*fill)(json_t *bundle, const struct result *result))
{
    json_t *bundle = json_object();

    if (!bundle || fill(bundle, result) < 0) {
        json_decref(bundle);
        return -1;
    }
    out->bundles[out->count++] = bundle;
    return 0;
}

int render_result(const struct result *result, struct rendering *out, struct err *err)
{
    const struct figure *figure = result->figure;
    int rc;

    *out = (struct rendering){ 0 };
    rc = add_bundle(out, result, fill_table);
    if (rc == 0 && figure && figure->first)
        rc = add_bundle(out, result, fill_figure);
    if (rc == 0 && figure && figure->frames)
        rc = add_bundle(out, result, fill_slider);
    if (rc == 0)
        return 0;
    rendering_done(out);
    return err_set(err, ERR_ResourceError, "out of memory while drawing the result");
}

void rendering_done(struct rendering *rendering)
{
    size_t i;

    for (i = 0; i < rendering->count; i++)
        json_decref(rendering->bundles[i]);
    *rendering = (struct rendering){ 0 };
}
