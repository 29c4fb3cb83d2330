/*
 * What the files of %lanes share: a launch whose warps meet one branch or loop,
 * and its two readers: one launch, or a sweep.
 */
#ifndef WB_CELLS_MAGICS_LANES_H
#define WB_CELLS_MAGICS_LANES_H

#include "cells/sweep.h"
#include "cells/threads.h"
#include "model/lanes.h"

/* How the branch was said. */
enum lanes_form {
    LANES_IF,    /* if={lane < 24}, or a list of conditions inside each other */
    LANES_DEPTH, /* depth=5: ifs inside each other, each on a bit of the lane */
    LANES_PATHS, /* paths=32: lane % 32 */
    LANES_PATH,  /* path={lane / 8}: a switch */
    LANES_TRIPS, /* trips={4 + lane % 5}: a loop */
};

struct lanes_point {
    enum lanes_form form;
    int conditions; /* of an IF */
    struct layout layout;
    int64_t before, after; /* instructions that all threads run */
    struct lanes_order order;
    struct lanes_total total;
    int paths;                    /* the most of any warp */
    int64_t keys[WARP];           /* of the launch's paths, in their order */
    int key_count;                /* of keys; WARP + 1: there are more than letters, see below */
    struct lanes_warp *warps;     /* total.warps of them, in the order of the grid */
    int64_t stack_cycles;         /* of the slowest warp, from first to last instruction */
    int64_t its_cycles, *of_warp; /* of_warp: per warp, in the order that was asked for */
};

/* Reads and runs one point; its warps live in the arena. */
int lanes_point_run(const struct sweep *sweep, size_t i, struct arena *arena,
                    struct lanes_point *out, struct err *err) MUST_CHECK;

/* "66.7 %", "12,288", "1.5"; the result's arena. */
const char *lanes_percent(struct result *result, double fraction);
const char *lanes_count(struct result *result, int64_t v);
const char *lanes_ratio(struct result *result, double ratio);

/* The keys that act, for the line below the answer; the call's arena. */
const char *lanes_parameters(const struct call *call, const struct lanes_point *p);

/* Cycles of the order that was asked for. */
int64_t lanes_point_cycles(const struct lanes_point *p);

/* Fields, view and figure of one launch, and of all points of a sweep. */
int lanes_show_one(struct result *result, const struct call *call, const struct lanes_point *p,
                   struct err *err) MUST_CHECK;
int lanes_show_sweep(struct result *result, const struct sweep *sweep,
                     const struct lanes_point *points, struct err *err) MUST_CHECK;

/* "then", "path 3", "trip 5 to 8": what the lanes of a stretch do. */
const char *lanes_stretch_name(struct result *result, const struct lanes_point *p,
                               const struct lanes_warp *warp, int stretch);

/* "then", "path 3": the path with this key; not of a loop. */
const char *lanes_path_name(struct result *result, const struct lanes_point *p, int64_t key);

/*
 * The place of a stretch's path among those of the launch, so that one path has one letter and one
 * colour in every warp. Of a launch with more than 32 paths, the place in its own warp.
 */
int lanes_path_place(const struct lanes_point *p, const struct lanes_warp *warp, int stretch);

/* How many warps from w on do the same as it, in the same kind of block. */
int64_t lanes_alike(const struct lanes_point *p, int64_t w);

/* "warp 3", "warps 0..2"; of several blocks they are counted through the grid. */
const char *lanes_warp_text(struct result *result, int64_t w, int64_t alike);

/* The first warp that splits, else the first one: what a timeline shows. */
int64_t lanes_shown_warp(const struct lanes_point *p);

/* The masks of each kind of warp, and who issues when. */
void lanes_add_figure(struct result *result, const struct lanes_point *p);

#endif
