/*
 * The pen: how marks and words of an SVG are written. Coordinates are whole
 * tenths of a pixel (PX of them), so that a picture is the same bytes on every
 * machine. Colours and hatches are chosen here once, for all panels.
 */
#ifndef WB_CELLS_RENDER_PEN_H
#define WB_CELLS_RENDER_PEN_H

#include "cells/figure.h"
#include "model/base/buf.h"

enum { PX = 10 };

/* Sizes of text in pixels; nothing that carries meaning is smaller than SIZE_SMALL. */
enum text_size {
    SIZE_SMALL = 11,
    SIZE_NORMAL = 12,
    SIZE_TITLE = 15,
};

enum text_anchor {
    ANCHOR_START,
    ANCHOR_MIDDLE,
    ANCHOR_END,
};

enum text_look {
    LOOK_PLAIN,  /* ink */
    LOOK_MUTED,  /* axis labels, ticks */
    LOOK_STRONG, /* bold ink */
    LOOK_HALO,   /* bold ink on a white edge: over curves */
    LOOK_LIGHT,  /* white: on dark marks */
};

#define COLOUR_INK    "#1b2733"
#define COLOUR_MUTED  "#4f5d6b"
#define COLOUR_GRID   "#e3e8ee"
#define COLOUR_AXIS   "#8795a3"
#define COLOUR_CARD   "#fdfdfe"
#define COLOUR_BORDER "#d3dae2"

/* Hatched fills: FILL_* number them; those used are defined once at the top of the picture. */
enum fill {
    FILL_BLUE, /* plain: no hatch needed for the most frequent mark */
    FILL_ORANGE_DOTS,
    FILL_GREY_RISING,
    FILL_PINK_FALLING,
    FILL_GREEN_LEVEL,
    FILL_VIOLET_CROSS,
    FILL_RED_UPRIGHT,
    FILL_NOTHING, /* where a value is missing */
    FILL_COUNT,
};

/* A picture in the making. */
struct drawing {
    struct buf body;
    unsigned fills; /* bit i: FILL i is used */
    int coarseness; /* 0: every mark; each step merges twice as many neighbours */
    bool is_coarse; /* something was merged or left out */
};

struct box {
    int x, y, width, height;
};

void pen_number(struct buf *out, int tenths);
void pen_point(struct buf *out, int x, int y); /* "12.5 30" */

/* y is the base line. Text that is wider than `room` (0: no limit) ends in "…". */
void pen_text(struct drawing *d, int x, int y, enum text_anchor anchor, enum text_size size,
              enum text_look look, int room, const char *text);

/* Width of a text in tenths of a pixel: an upper estimate for the usual sans-serif fonts. */
int pen_text_width(enum text_size size, enum text_look look, const char *text);

void pen_line(struct drawing *d, int x1, int y1, int x2, int y2, const char *attributes);
void pen_rect(struct drawing *d, struct box box, int radius, const char *attributes);

/* A rectangle as part of the path that many marks of one fill share. */
void pen_put_mark(struct buf *path, struct box box);

/* The value of a fill attribute; marks the hatch as used. */
const char *pen_fill(struct drawing *d, enum fill fill);
void pen_put_hatches(struct buf *out, unsigned fills);

/* Looks of curves: colour, dashes, marker, all different for the first eight. */
const char *pen_series_colour(size_t series);
const char *pen_series_dashes(size_t series); /* "" for a solid line */
void pen_put_marker(struct buf *path, size_t series, int x, int y);

/*
 * Steps of a heat map, light to dark, in one hue order that stays ordered without colour.
 * Words on a step are dark or light.
 */
enum { RAMP_STEPS = 8 };
const char *pen_ramp_colour(size_t step);
bool pen_ramp_is_dark(size_t step);

/* Fills of bar series and of the tones of a timeline. */
enum fill pen_series_fill(size_t series);
enum fill pen_tone_fill(enum figure_tone tone);

/*
 * Legend entries one after the other from (x, y) on, in rows of at most `width`. With
 * is_dry nothing is drawn. Both return the height used.
 */
enum legend_kind {
    LEGEND_CURVES,
    LEGEND_BARS,
    LEGEND_FILLS,
    LEGEND_RAMP,
};
struct legend_entry {
    const char *name;
    enum legend_kind kind;
    size_t look; /* series number, enum fill, or step of the ramp */
};
enum { LEGEND_MAX = 24 };
int pen_legend(struct drawing *d, int x, int y, int width, const struct legend_entry *entries,
               size_t count, bool is_dry);

#endif
