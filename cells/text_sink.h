/* A sink for a terminal: text/plain of every output, as it comes. */
#ifndef WB_CELLS_TEXT_SINK_H
#define WB_CELLS_TEXT_SINK_H

#include "cells/sink.h"

#include <stdbool.h>
#include <stdio.h>

struct text_sink {
    struct sink sink; /* first: what a cell is given */
    FILE *out, *err;  /* borrowed */
    bool is_inside;   /* the last line has no end yet */
};

void text_sink_init(struct text_sink *sink, FILE *out, FILE *err);

/*
 * Ends the cell: its last line gets an end, and everything is flushed. Fails with FileError when
 * some of the output could not be written.
 */
int text_sink_end(struct text_sink *sink, struct err *err) MUST_CHECK;

#endif
