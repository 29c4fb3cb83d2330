/*
 * A form of its own scopes the radio buttons, so that two copies of one slider
 * in a notebook do not disturb each other and no id is needed; method=dialog
 * makes the form one that goes nowhere. Pictures are <img>: a sanitizer keeps
 * those and removes inline SVG. It keeps an inline display:none too (and drops
 * `hidden`), so where the <style> is gone only the first frame is left.
 */
#include "cells/render/slider.h"

#include "cells/render/svg.h"
#include "cells/render/text.h"

static void put_base64(struct buf *out, const char *data, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *p = (const unsigned char *)data;
    size_t i;

    for (i = 0; i < size; i += 3) {
        size_t left = size - i;
        uint32_t v = (uint32_t)p[i] << 16;

        if (left > 1)
            v |= (uint32_t)p[i + 1] << 8;
        if (left > 2)
            v |= p[i + 2];
        buf_putc(out, digits[v >> 18]);
        buf_putc(out, digits[v >> 12 & 63]);
        buf_putc(out, left > 1 ? digits[v >> 6 & 63] : '=');
        buf_putc(out, left > 2 ? digits[v & 63] : '=');
    }
}

static size_t frame_count(const struct figure *figure)
{
    const struct frame *frame;
    size_t n = 0;

    for (frame = figure->frames; frame; frame = frame->next)
        n++;
    return n;
}

static size_t drawn_count(const struct figure *figure)
{
    size_t n = frame_count(figure);

    return n < SLIDER_MAX_FRAMES ? n : SLIDER_MAX_FRAMES;
}

/* One rule a frame; they are the same in every slider, so that sliders share a page. */
static void put_style(struct buf *out, size_t n)
{
    size_t i;

    buf_puts(
        out,
        "<style>\n"
        ".wb-slider input{appearance:none;-webkit-appearance:none;display:inline-block!important;"
        "width:auto;height:auto;min-width:2.4em;margin:0 2px 4px 0;padding:2px 6px;"
        "box-sizing:border-box;border:1px solid #8795a3;border-radius:4px;background:none;"
        "color:inherit;font:inherit;font-size:13px;text-align:center;cursor:pointer}\n"
        ".wb-slider input::before{content:attr(value)}\n"
        ".wb-slider input:hover{border-color:#0072b2}\n"
        ".wb-slider input:checked{background:#0072b2;border-color:#0072b2;color:#fff}\n"
        ".wb-slider input:focus-visible{outline:2px solid #d55e00;outline-offset:1px}\n"
        ".wb-slider .wb-note,.wb-slider .wb-frames>div{display:none}\n");
    for (i = 1; i <= n; i++)
        buf_printf(out, "%s.wb-slider input:nth-of-type(%zu):checked~.wb-frames>div:nth-child(%zu)",
                   i > 1 ? ",\n" : "", i, i);
    buf_puts(out, "{display:block!important}\n</style>\n");
}

/* "5" of "warps=5": the key stands in front of the row already. */
static const char *short_label(const struct frame *frame)
{
    const char *label = frame->label ? frame->label : "", *value = strchr(label, '=');

    return value && value[1] ? value + 1 : label;
}

static void put_buttons(struct buf *out, const struct figure *figure, size_t n)
{
    const struct frame *frame = figure->frames;
    size_t i;

    for (i = 0; i < n; i++, frame = frame->next) {
        buf_puts(out, "<input type=\"radio\" name=\"frame\" value=\"");
        text_put_xml(out, short_label(frame));
        buf_puts(out, "\" title=\"");
        text_put_xml(out, frame->label ? frame->label : "");
        buf_printf(out, "\"%s style=\"display:none\">\n", i ? "" : " checked");
    }
}

static void put_frame(struct buf *out, const struct figure *figure, bool is_first, size_t limit)
{
    struct buf svg = { 0 };

    svg_put_figure(&svg, figure, limit);
    buf_printf(out, "<div%s><img style=\"max-width:100%%\" alt=\"",
               is_first ? "" : " style=\"display:none\"");
    text_put_xml(out, figure->conclusion);
    buf_puts(out, "\" src=\"data:image/svg+xml;base64,");
    put_base64(out, buf_text(&svg), svg.size);
    buf_puts(out, "\"></div>\n");
    out->is_failed |= svg.is_failed;
    buf_done(&svg);
}

static void put_note(struct buf *out, size_t drawn, size_t all)
{
    if (drawn < all)
        buf_printf(out, "<p>The first %zu of %zu frames.</p>\n", drawn, all);
    if (drawn > 1)
        buf_printf(out,
                   "<p class=\"wb-note\">1 of %zu frames: trust this notebook to move through "
                   "the others.</p>\n",
                   drawn);
}

void slider_put_html(struct buf *out, const struct figure *figure)
{
    size_t n = drawn_count(figure), limit, i;
    const struct frame *frame = figure->frames;

    if (!n)
        return;
    limit = SLIDER_LIMIT / n < SVG_LIMIT ? SLIDER_LIMIT / n : SVG_LIMIT;
    buf_puts(out, "<div class=\"warpbook\">\n");
    put_style(out, n);
    buf_puts(out, "<form class=\"wb-slider\" method=\"dialog\">\n");
    if (figure->frames_key) {
        buf_puts(out, "<strong>");
        text_put_xml(out, figure->frames_key);
        buf_puts(out, "</strong>\n");
    }
    put_buttons(out, figure, n);
    buf_puts(out, "<div class=\"wb-frames\">\n");
    for (i = 0; i < n; i++, frame = frame->next)
        put_frame(out, frame->figure, i == 0, limit);
    buf_puts(out, "</div>\n");
    put_note(out, n, frame_count(figure));
    buf_puts(out, "</form>\n</div>");
}

void slider_put_text(struct buf *out, const struct figure *figure)
{
    const struct frame *frame;

    if (*figure->conclusion)
        text_put_wrapped(out, figure->conclusion, 0, 0);
    for (frame = figure->frames; frame; frame = frame->next) {
        const char *text = frame->figure->conclusion;
        struct buf line = { 0 };

        buf_printf(&line, "%s  ", frame->label ? frame->label : "");
        buf_put(&line, text, strcspn(text, "\n"));
        if (out->size)
            buf_putc(out, '\n');
        text_put_wrapped(out, buf_text(&line), 0, 4);
        out->is_failed |= line.is_failed;
        buf_done(&line);
    }
}
