/*
 * What the files of %access share: one memory instruction of a block's warps with
 * its sectors or bank passes, and its two readers: one pattern, or a sweep.
 */
#ifndef WB_CELLS_MAGICS_ACCESS_H
#define WB_CELLS_MAGICS_ACCESS_H

#include "cells/sweep.h"
#include "cells/threads.h"
#include "model/memory.h"

/* One warp's instruction: a request. */
struct access_request {
    uint64_t address[WARP]; /* of lanes in mask: bytes from the start of the array's space */
    uint32_t mask;
    int sectors, lines, useful_bytes; /* global */
    int passes, best_passes, degree;  /* shared */
};

struct access_point {
    struct layout layout;
    bool is_shared;
    int bytes;
    int64_t shared_limit;         /* bytes of shared memory that a block can have */
    struct access_request *warps; /* layout.warps of them */
    int64_t requests, lanes;
    int64_t sectors, best_sectors, lines, useful_bytes, moved_bytes;
    int64_t passes, best_passes, conflicts;
    int degree;        /* the highest of any request */
    double efficiency; /* useful / moved bytes, or best / actual passes */
};

/* "50 %", "12,288"; the result's arena. */
const char *access_percent(struct result *result, double fraction);
const char *access_number(struct result *result, int64_t v);

/* The keys that act, for the line below the answer; the call's arena. */
const char *access_parameters(const struct call *call);

/* Fields, view and figure of one pattern, and of all points of a sweep. */
int access_show_one(struct result *result, const struct call *call, const struct access_point *p,
                    const struct access_point *changed, struct err *err) MUST_CHECK;
int access_show_sweep(struct result *result, const struct sweep *sweep,
                      const struct access_point *points, struct err *err) MUST_CHECK;

/* Which lane touches which word of which line, or is served by which bank in which pass. */
void access_add_figure(struct result *result, const struct access_point *p, int warp);

/* The lines of a request in rising order, at most WARP; returns how many. */
int access_lines(const struct access_request *r, uint64_t lines[WARP]);

/* What a word of 4 bytes of a line is to the request, and its lowest lane. */
enum access_word {
    WORD_UNTOUCHED, /* in no sector that is moved */
    WORD_MOVED,     /* in one, and nobody asked for it */
    WORD_USED,
};
enum access_word access_word_of(const struct access_point *p, const struct access_request *r,
                                uint64_t line, int word, int *lane);

#endif
