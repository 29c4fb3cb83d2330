/*
 * A figure: what a result looks like. A magic says what is to be seen (series,
 * bars, a map, a timeline) with its numbers and words; how it is drawn (colours,
 * ticks, room for labels) is the renderer's business, so that all figures of
 * Warpbook read alike.
 *
 * Everything lives in the arena of the result that it belongs to. The builders
 * copy what they are given, accept NULL where an earlier one ran out of memory,
 * and return NULL then: a magic builds its figure without a single check, and a
 * result without memory for its figure is still a result.
 */
#ifndef WB_CELLS_FIGURE_H
#define WB_CELLS_FIGURE_H

#include "cells/result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum figure_scale {
    SCALE_LINEAR,
    SCALE_LOG2,  /* values above 0; others are left out */
    SCALE_LOG10, /* the same */
};

enum figure_unit {
    UNIT_NUMBER,  /* 12,288 */
    UNIT_PERCENT, /* a fraction 0..1, shown as 83.3 % */
    UNIT_BYTES,   /* 48K = 48 * 1024 */
    UNIT_POW2,    /* 1,024: a number whose ticks are multiples of powers of two */
};

/* One axis, or the values of bars and cells. min == max: chosen from the data. */
struct figure_axis {
    const char *label; /* "registers a thread"; NULL or "": none */
    enum figure_scale scale;
    enum figure_unit unit;
    double min, max;
};

/* One curve. Points with a NaN or an infinity break it. */
struct figure_series {
    const char *name;
    const double *x, *y;
    size_t count;
    bool is_step;     /* y holds from its x up to the next one: cliffs */
    bool has_markers; /* a dot at each point; a line of 40 points or fewer has them anyway */
    bool is_points;   /* dots and no line: what was measured */
    bool is_bare;     /* a line and no dots: what was computed beside it */
    size_t look;      /* colour, dashes and dot of the look-th series (from 1); 0: its own */
    struct figure_series *next;
};

/* A dashed line across a panel: "all 48 warps" at y = 48, or at an x. */
struct figure_reference {
    double at;
    bool is_vertical;
    const char *label;
    struct figure_reference *next;
};

struct figure_lines {
    struct figure_axis x, y;
    struct figure_series *series, *last_series;
    struct figure_reference *references;
    bool has_highlight; /* the point that was asked for */
    double highlight_x;
    const char *highlight_label; /* "regs=42: 83.3 %", or NULL */
};

/* Grouped bars, horizontal so that names have room: values[group * series_count + series]. */
struct figure_bars {
    struct figure_axis value;
    const char **groups; /* "long, odd/even lanes" */
    const char **series; /* "measured", "model" */
    size_t group_count, series_count;
    const double *values;
    double base;         /* where bars begin: 0, or 1 for ratios on a logarithmic axis */
    const char **labels; /* beside each bar, as values; NULL, all or one: the number */
};

/* Two swept keys: values[y * x_count + x]. NaN: no value (a launch that cannot be). */
struct figure_heat {
    struct figure_axis x, y; /* label only; the ticks are the names */
    struct figure_axis value;
    const char **x_names, **y_names;
    size_t x_count, y_count;
    const double *values;
    bool has_highlight;
    size_t highlight_x, highlight_y;
};

/* How a state of a timeline looks; several stall reasons differ in colour and hatch. */
enum figure_tone {
    TONE_NONE,         /* nothing drawn: not started, finished */
    TONE_SELECTED,     /* issues in this cycle */
    TONE_NOT_SELECTED, /* could issue, another one was chosen */
    TONE_STALLED,      /* waits */
    TONE_STALLED_2,    /* waits for another reason */
    TONE_STALLED_3,
    TONE_STALLED_4,
    TONE_IDLE, /* a scheduler that issues nothing */
    TONE_COUNT,
};

struct figure_state {
    const char *name; /* "not selected", "stalled (long scoreboard)": the legend */
    enum figure_tone tone;
};

/* One row of a timeline. Rows of one group stand together under its name. */
struct figure_row {
    const char *name;       /* "warp 3" */
    const char *group;      /* "scheduler 0", or NULL */
    const uint8_t *states;  /* per cycle: an index into states of the panel */
    const int32_t *numbers; /* per cycle: written into the mark (who issues), -1: none; or NULL */
};

struct figure_gantt {
    struct figure_axis x; /* label: "cycle"; min is the number of the first cycle. max, where it is
                             above min, that after the last: a column is several cycles then */
    const struct figure_state *states;
    size_t state_count;
    struct figure_row *rows;
    size_t row_count, cycle_count;
};

/* One row of a grid of marks: lanes of a pass, words of a line, threads of a block's row. */
struct figure_marks {
    const char *name;      /* at its left: "then", "warp 3" */
    const char *group;     /* rows of one group stand together under its name; or NULL */
    const char *note;      /* at its right: "24 lanes"; or NULL */
    const uint8_t *states; /* per column: an index into states of the panel; more: nothing drawn */
    const char *const *texts; /* per column: written into the mark where all of them fit; or NULL */
};

/* Marks that are counted one by one; columns are numbered from x.min on. */
struct figure_cells {
    struct figure_axis x;
    const struct figure_state *states;
    size_t state_count;
    struct figure_marks *rows;
    size_t row_count, column_count;
    size_t bundle; /* a gap after so many columns: 8 words a sector; 0: none */
};

/* One thing on a plan: what it is, how much of it, and its marks, which are counted one by one. */
struct figure_thing {
    const char *name; /* "registers" */
    const char *note; /* "64 KB"; or NULL */
    size_t marks;     /* 32 lanes; 0: none */
    enum figure_tone tone;
};

/* A floor plan: parts that are all alike, and below them what they share. */
struct figure_plan {
    const char *part; /* "partition": its copies are numbered from 0 */
    size_t part_count;
    const struct figure_thing *things, *shared; /* of each part; of all parts together */
    size_t thing_count, shared_count;
};

enum panel_kind {
    PANEL_LINES,
    PANEL_BARS,
    PANEL_HEAT,
    PANEL_GANTT,
    PANEL_CELLS,
    PANEL_PLAN,
};

struct panel {
    enum panel_kind kind;
    const char *title; /* "registers a thread", or NULL */
    union {
        struct figure_lines lines;
        struct figure_bars bars;
        struct figure_heat heat;
        struct figure_gantt gantt;
        struct figure_cells cells;
        struct figure_plan plan;
    };
    struct result *result; /* whose arena it is in */
    struct panel *next;
};

/* One position of a slider: a figure of its own. */
struct frame {
    const char *label; /* "warps=5" */
    struct figure *figure;
    struct frame *next;
};

/*
 * Panels are drawn into one SVG: lines side by side (up to three a row), the other
 * kinds below each other at full width. Frames become an HTML slider that works
 * without script. A figure may have both.
 */
struct figure {
    const char *title;      /* <title>, and the heading */
    const char *desc;       /* <desc>: what a reader who cannot see it should know */
    const char *conclusion; /* its text/plain, in lines of at most 83 columns */
    struct panel *first, *last;
    struct frame *frames, *last_frame;
    const char *frames_key; /* "warps": what the slider changes */
    struct result *result;
};

/* Makes the figure of a result (replacing an earlier one). */
struct figure *figure_new(struct result *result, const char *title, const char *desc,
                          const char *conclusion);

/* A curve panel. x and y: labels, scales, units; then panel_add_series for each curve. */
struct panel *figure_add_lines(struct figure *figure, const char *title, struct figure_axis x,
                               struct figure_axis y);
struct figure_series *panel_add_series(struct panel *panel, const char *name, const double *x,
                                       const double *y, size_t count);
struct figure_series *panel_add_steps(struct panel *panel, const char *name, const double *x,
                                      const double *y, size_t count);
void panel_add_reference(struct panel *panel, double at, bool is_vertical, const char *label);
void panel_highlight(struct panel *panel, double x, const char *label);

/* values[group * series_count + series]; labels the same shape, or NULL. */
struct panel *figure_add_bars(struct figure *figure, const char *title, struct figure_axis value,
                              const char *const *groups, size_t group_count,
                              const char *const *series, size_t series_count, const double *values,
                              const char *const *labels);

/* Where bars begin, if not at 0 or the end of a logarithmic axis: 1 for ratios. */
void panel_base(struct panel *panel, double base);

/* values[y * x_count + x]. */
struct panel *figure_add_heat(struct figure *figure, const char *title, struct figure_axis x,
                              struct figure_axis y, struct figure_axis value,
                              const char *const *x_names, size_t x_count,
                              const char *const *y_names, size_t y_count, const double *values);
void panel_highlight_cell(struct panel *panel, size_t x, size_t y);

/* A timeline of cycle_count cycles; rows are set with panel_row, state bytes are copied. */
struct panel *figure_add_gantt(struct figure *figure, const char *title, struct figure_axis x,
                               const struct figure_state *states, size_t state_count,
                               size_t row_count, size_t cycle_count);
void panel_row(struct panel *panel, size_t row, const char *name, const char *group,
               const uint8_t *states, const int32_t *numbers);

/*
 * A grid of marks, `bundle` columns together, at most FIGURE_MARK_COLUMNS (NULL above); rows are
 * set with panel_marks, which copies.
 */
enum { FIGURE_MARK_COLUMNS = 64 };
struct panel *figure_add_cells(struct figure *figure, const char *title, struct figure_axis x,
                               const struct figure_state *states, size_t state_count,
                               size_t row_count, size_t column_count, size_t bundle);
void panel_marks(struct panel *panel, size_t row, const struct figure_marks *marks);

struct panel *figure_add_plan(struct figure *figure, const char *title,
                              const struct figure_plan *plan);

/* A frame of a slider: returns its figure, to which panels are added as usual. */
struct figure *figure_add_frame(struct figure *figure, const char *key, const char *label,
                                const char *title, const char *desc, const char *conclusion);

#endif
