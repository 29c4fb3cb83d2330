/*
 * A sink that collects what cells write as the outputs of a notebook. Text of
 * one stream is joined, clear_output empties the cell, and a display that has
 * an id is updated wherever it stands, in an earlier cell too.
 */
#ifndef WB_CELLS_CELL_OUTPUTS_H
#define WB_CELLS_CELL_OUTPUTS_H

#include "cells/sink.h"
#include "model/base/buf.h"

#include <jansson.h>
#include <stdbool.h>

enum { CELL_OUTPUTS_MAX_TEXT = 8 << 20 }; /* bytes that one cell may print */

struct cell_outputs {
    struct sink sink; /* first: what a cell is given */
    json_t *list;     /* nbformat outputs of the cell in hand; owned */
    json_t *displays; /* display_id: list of the outputs that show it; owned */
    int execution_count;
    struct buf text; /* of stream text_name, joined, not in the list yet */
    enum stream_name text_name;
    size_t printed;
    bool is_cut;      /* more was printed, and the reader was told */
    bool clear_waits; /* clear_output(wait): the next output clears */
    bool is_failed;   /* out of memory: some output is missing */
};

/* Fails with ResourceError. */
int cell_outputs_init(struct cell_outputs *outputs, struct err *err) MUST_CHECK;
void cell_outputs_done(struct cell_outputs *outputs);

/* Starts the next cell: outputs belong to it from here on. */
void cell_outputs_begin(struct cell_outputs *outputs, int execution_count);

/*
 * Ends the cell. *list: its outputs, a new reference; later updates of displays still reach
 * it. Fails with ResourceError when any of them was lost for want of memory.
 */
int cell_outputs_end(struct cell_outputs *outputs, json_t **list, struct err *err) MUST_CHECK;

#endif
