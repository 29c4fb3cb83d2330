/*
 * Every colour has a hatch, a dash or a shape beside it: one person in twelve
 * cannot tell some of the colours apart, and many printers none of them.
 * Colours follow Okabe and Ito's palette, darkened where thin marks need it.
 * Source: M. Okabe, K. Ito, "Color Universal Design", 2008.
 */
#include "cells/render/pen.h"

#include "cells/render/text.h"

#include <stdio.h>
#include <stdlib.h>

void pen_number(struct buf *out, int tenths)
{
    int size = abs(tenths);

    if (tenths < 0)
        buf_putc(out, '-');
    if (size % PX)
        buf_printf(out, "%d.%d", size / PX, size % PX);
    else
        buf_printf(out, "%d", size / PX);
}

void pen_point(struct buf *out, int x, int y)
{
    pen_number(out, x);
    buf_putc(out, ' ');
    pen_number(out, y);
}

/* Hundredths of an em of one character in DejaVu Sans, the widest of the usual fonts. */
static int advance(uint32_t c)
{
    static const struct {
        const char *set;
        int width;
    } widths[] = {
        { " ijlI.,:;'|!", 34 },
        { "ftr()[]{}-/\\", 42 },
        { "csxyzvk\"J?*_", 56 },
        { "mMW@%", 98 },
        { "w=+<>~#&", 84 },
        { "ABCDGHKNOPQRUVXY", 74 },
        { "0123456789abdeghnopqu", 64 },
        { "EFLSTZ$", 66 },
    };
    size_t i;

    if (c < 0x80)
        for (i = 0; i < COUNT(widths); i++)
            if (strchr(widths[i].set, (int)c))
                return widths[i].width;
    return c >= 0x1100 ? 100 : 66;
}

int pen_text_width(enum text_size size, enum text_look look, const char *text)
{
    bool is_bold = look == LOOK_STRONG || look == LOOK_HALO;
    int64_t hundredths = 0;

    while (*text && hundredths < 1000000)
        hundredths += advance(text_next(&text));
    return (int)(hundredths * (int)size * PX / 100 * (is_bold ? 110 : 100) / 100);
}

/* The longest beginning that leaves room for "…"; its bytes. */
static size_t fitting(enum text_size size, enum text_look look, int room, const char *text)
{
    int scale = look == LOOK_STRONG || look == LOOK_HALO ? 110 : 100;
    int64_t hundredths = 100; /* the dots */
    const char *at = text, *end = text;

    while (*at) {
        hundredths += advance(text_next(&at));
        if (hundredths * (int)size * PX * scale > (int64_t)room * 10000)
            break;
        end = at;
    }
    return (size_t)(end - text);
}

static void put_clipped(struct buf *out, enum text_size size, enum text_look look, int room,
                        const char *text)
{
    struct buf head = { 0 };

    if (room <= 0 || pen_text_width(size, look, text) <= room) {
        text_put_xml(out, text);
        return;
    }
    buf_put(&head, text, fitting(size, look, room, text));
    text_put_xml(out, buf_text(&head));
    buf_puts(out, "\xE2\x80\xA6");
    out->is_failed |= head.is_failed;
    buf_done(&head);
}

static void put_text_element(struct buf *out, int x, int y, const char *attributes,
                             enum text_anchor anchor, enum text_size size)
{
    static const char *const anchors[] = { "", " text-anchor=\"middle\"", " text-anchor=\"end\"" };

    buf_puts(out, "<text x=\"");
    pen_number(out, x);
    buf_puts(out, "\" y=\"");
    pen_number(out, y);
    buf_printf(out, "\" font-size=\"%d\"%s%s>", (int)size, anchors[anchor], attributes);
}

static const char *look_attributes(enum text_look look)
{
    switch (look) {
    case LOOK_MUTED:
        return " fill=\"" COLOUR_MUTED "\"";
    case LOOK_STRONG:
    case LOOK_HALO:
        return " font-weight=\"600\"";
    case LOOK_LIGHT:
        return " fill=\"#ffffff\"";
    case LOOK_PLAIN:
        break;
    }
    return "";
}

void pen_text(struct drawing *d, int x, int y, enum text_anchor anchor, enum text_size size,
              enum text_look look, int room, const char *text)
{
    if (!text || !*text)
        return;
    if (look == LOOK_HALO) {
        put_text_element(&d->body, x, y,
                         " font-weight=\"600\" fill=\"none\" stroke=\"" COLOUR_CARD
                         "\" stroke-width=\"4\" stroke-linejoin=\"round\"",
                         anchor, size);
        put_clipped(&d->body, size, look, room, text);
        buf_puts(&d->body, "</text>\n");
    }
    put_text_element(&d->body, x, y, look_attributes(look), anchor, size);
    put_clipped(&d->body, size, look, room, text);
    buf_puts(&d->body, "</text>\n");
}

static void put_attribute(struct buf *out, const char *name, int tenths)
{
    buf_printf(out, " %s=\"", name);
    pen_number(out, tenths);
    buf_putc(out, '"');
}

void pen_line(struct drawing *d, int x1, int y1, int x2, int y2, const char *attributes)
{
    buf_puts(&d->body, "<path d=\"M");
    pen_point(&d->body, x1, y1);
    buf_putc(&d->body, 'L');
    pen_point(&d->body, x2, y2);
    buf_printf(&d->body, "\" fill=\"none\" %s/>\n", attributes);
}

void pen_rect(struct drawing *d, struct box box, int radius, const char *attributes)
{
    buf_puts(&d->body, "<rect");
    put_attribute(&d->body, "x", box.x);
    put_attribute(&d->body, "y", box.y);
    put_attribute(&d->body, "width", box.width);
    put_attribute(&d->body, "height", box.height);
    if (radius)
        put_attribute(&d->body, "rx", radius);
    buf_printf(&d->body, " %s/>\n", attributes);
}

void pen_put_mark(struct buf *path, struct box box)
{
    buf_putc(path, 'M');
    pen_point(path, box.x, box.y);
    buf_putc(path, 'h');
    pen_number(path, box.width);
    buf_putc(path, 'v');
    pen_number(path, box.height);
    buf_putc(path, 'h');
    pen_number(path, -box.width);
    buf_putc(path, 'z');
}

/* A tile of 6 by 6 pixels: ground, and strokes over it. */
struct hatch {
    const char *ground, *ink;
    const char *strokes; /* NULL: a plain colour */
    int turn;            /* degrees */
};

static const struct hatch HATCHES[] = {
    [FILL_BLUE] = { "#0072b2", NULL, NULL, 0 },
    [FILL_ORANGE_DOTS] = { "#f8d488", "#b97f00", "M1.5 3h1.6M4.5 0h1.6M4.5 6h1.6", 0 },
    [FILL_GREY_RISING] = { "#e9edf1", "#a7b2bd", "M0 0V6", 45 },
    [FILL_PINK_FALLING] = { "#f5d9e7", "#b5528b", "M0 0V6", -45 },
    [FILL_GREEN_LEVEL] = { "#d5eee5", "#1f8a6b", "M0 3H6", 0 },
    [FILL_VIOLET_CROSS] = { "#e6dcf3", "#7a5ba6", "M0 0V6M0 0H6", 45 },
    [FILL_RED_UPRIGHT] = { "#fbe2d5", "#d55e00", "M3 0V6", 0 },
    [FILL_NOTHING] = { "#f6f7f9", "#d7dde4", "M0 0V6", 45 },
};

const char *pen_fill(struct drawing *d, enum fill fill)
{
    static const char *const urls[] = { "url(#wb-0)", "url(#wb-1)", "url(#wb-2)", "url(#wb-3)",
                                        "url(#wb-4)", "url(#wb-5)", "url(#wb-6)", "url(#wb-7)" };

    _Static_assert(COUNT(urls) == FILL_COUNT && COUNT(HATCHES) == FILL_COUNT, "one a fill");
    if (!HATCHES[fill].strokes)
        return HATCHES[fill].ground;
    d->fills |= 1u << fill;
    return urls[fill];
}

void pen_put_hatches(struct buf *out, unsigned fills)
{
    size_t i;

    if (!fills)
        return;
    buf_puts(out, "<defs>\n");
    for (i = 0; i < COUNT(HATCHES); i++) {
        const struct hatch *h = &HATCHES[i];

        if (!(fills >> i & 1))
            continue;
        buf_printf(out,
                   "<pattern id=\"wb-%zu\" width=\"6\" height=\"6\" "
                   "patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(%d)\">"
                   "<rect width=\"6\" height=\"6\" fill=\"%s\"/>"
                   "<path d=\"%s\" stroke=\"%s\" stroke-width=\"1.6\"/></pattern>\n",
                   i, h->turn, h->ground, h->strokes, h->ink);
    }
    buf_puts(out, "</defs>\n");
}

static const char *const CURVE_COLOURS[] = { "#0072b2", "#d55e00", "#009e73", "#b5528b",
                                             "#9a6a00", "#1b2733", "#3a8fd0", "#7a5ba6" };

const char *pen_series_colour(size_t series)
{
    return CURVE_COLOURS[series % COUNT(CURVE_COLOURS)];
}

const char *pen_series_dashes(size_t series)
{
    static const char *const dashes[] = { "",        "7 3",   "2 3",          "9 3 2 3",
                                          "5 2 5 5", "1.5 2", "12 3 2 3 2 3", "4 4" };

    return dashes[series % COUNT(dashes)];
}

void pen_put_marker(struct buf *path, size_t series, int x, int y)
{
    static const char *const shapes[] = {
        "m-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0z", /* circle */
        "m-3-3h6v6h-6z",                      /* square */
        "m0-4l3.7 6.6h-7.4z",                 /* triangle */
        "m0-4l4 4l-4 4l-4-4z",                /* diamond */
    };

    buf_putc(path, 'M');
    pen_point(path, x, y);
    buf_puts(path, shapes[series % COUNT(shapes)]);
}

/* Source: YlGnBu of colorbrewer2.org (Cynthia Brewer), which is safe for colour blindness. */
static const char *const RAMP[RAMP_STEPS] = { "#ffffd9", "#edf8b1", "#c7e9b4", "#7fcdbb",
                                              "#41b6c4", "#1d91c0", "#225ea8", "#253494" };

const char *pen_ramp_colour(size_t step)
{
    return RAMP[step < RAMP_STEPS ? step : RAMP_STEPS - 1];
}

bool pen_ramp_is_dark(size_t step)
{
    return step >= 6; /* dark words have the higher contrast up to step 5 */
}

enum fill pen_series_fill(size_t series)
{
    static const enum fill fills[] = { FILL_BLUE,         FILL_ORANGE_DOTS,  FILL_GREEN_LEVEL,
                                       FILL_PINK_FALLING, FILL_VIOLET_CROSS, FILL_GREY_RISING,
                                       FILL_RED_UPRIGHT };

    return fills[series % COUNT(fills)];
}

enum fill pen_tone_fill(enum figure_tone tone)
{
    static const enum fill fills[] = {
        [TONE_NONE] = FILL_NOTHING,
        [TONE_SELECTED] = FILL_BLUE,
        [TONE_NOT_SELECTED] = FILL_ORANGE_DOTS,
        [TONE_STALLED] = FILL_GREY_RISING,
        [TONE_STALLED_2] = FILL_PINK_FALLING,
        [TONE_STALLED_3] = FILL_GREEN_LEVEL,
        [TONE_STALLED_4] = FILL_VIOLET_CROSS,
        [TONE_IDLE] = FILL_RED_UPRIGHT,
    };

    _Static_assert(COUNT(fills) == TONE_COUNT, "one a tone");
    return tone < TONE_COUNT ? fills[tone] : FILL_NOTHING;
}

enum { LEGEND_ROW = 18 * PX, LEGEND_SAMPLE = 24 * PX, LEGEND_GAP = 16 * PX };

static void legend_sample(struct drawing *d, int x, int y, enum legend_kind kind, size_t look)
{
    struct box swatch = { x, y - 9 * PX, 16 * PX, 11 * PX };
    struct buf *out = &d->body;
    const char *fill;
    char attributes[160];

    if (kind == LEGEND_CURVES) {
        snprintf(attributes, sizeof(attributes),
                 "stroke=\"%s\" stroke-width=\"2\" stroke-dasharray=\"%s\"",
                 pen_series_colour(look),
                 *pen_series_dashes(look) ? pen_series_dashes(look) : "none");
        pen_line(d, x, y - 4 * PX, x + LEGEND_SAMPLE - 4 * PX, y - 4 * PX, attributes);
        buf_puts(out, "<path d=\"");
        pen_put_marker(out, look, x + LEGEND_SAMPLE / 2 - 2 * PX, y - 4 * PX);
        buf_printf(out, "\" fill=\"%s\"/>\n", pen_series_colour(look));
        return;
    }
    if (kind == LEGEND_RAMP)
        fill = pen_ramp_colour(look);
    else
        fill = pen_fill(d, kind == LEGEND_BARS ? pen_series_fill(look) : (enum fill)look);
    snprintf(attributes, sizeof(attributes),
             "fill=\"%s\" stroke=\"" COLOUR_AXIS "\" stroke-width=\"0.5\"", fill);
    pen_rect(d, swatch, 0, attributes);
}

int pen_legend(struct drawing *d, int x, int y, int width, const struct legend_entry *entries,
               size_t count, bool is_dry)
{
    int at = x, base = y + 12 * PX, height = count ? LEGEND_ROW : 0;
    size_t i;

    for (i = 0; i < count; i++) {
        const char *name = entries[i].name ? entries[i].name : "";
        int need = LEGEND_SAMPLE + pen_text_width(SIZE_SMALL, LOOK_PLAIN, name);

        if (need > width)
            need = width;
        if (at > x && at + need > x + width) {
            at = x;
            base += LEGEND_ROW;
            height += LEGEND_ROW;
        }
        if (!is_dry) {
            legend_sample(d, at, base, entries[i].kind, entries[i].look);
            pen_text(d, at + LEGEND_SAMPLE, base, ANCHOR_START, SIZE_SMALL, LOOK_PLAIN,
                     width - LEGEND_SAMPLE, name);
        }
        at += need + LEGEND_GAP;
    }
    return height;
}
