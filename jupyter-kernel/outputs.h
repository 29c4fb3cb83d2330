/*
 * The sink of a kernel's cells: what a cell writes becomes iopub messages that
 * carry the cell's execute_request as parent.
 *
 * Streams are collected and sent by size, by time, and before anything else
 * that belongs to the cell: 20,000 printed lines are a few messages, and their
 * order among displays stays as the cell made it. What one cell may send is
 * capped, so that nothing in the kernel's memory grows without end.
 */
#ifndef WB_JUPYTER_OUTPUTS_H
#define WB_JUPYTER_OUTPUTS_H

#include "cells/sink.h"
#include "jupyter-kernel/internal.h"

enum {
    OUTPUTS_STREAM_LIMIT = 8 << 20,   /* bytes that one cell may print */
    OUTPUTS_DISPLAY_LIMIT = 64 << 20, /* bytes of JSON that one cell may display */
};

int outputs_new(struct kernel *kernel, struct outputs **out, struct err *err) MUST_CHECK;
void outputs_free(struct outputs **outputs);

/*
 * Between begin and end, outputs belong to request. Silent: the sink drops everything.
 * Returns the sink to give to the cell.
 */
struct sink *outputs_begin(struct outputs *outputs, const struct request *request, bool is_silent);

/* What a cell leaves for its reply and the history. */
struct leftovers {
    json_t *payload; /* a list */
    char *result;    /* text/plain of the execute_result, or NULL */
};

/* Sends what still waits. *left is the caller's: leftovers_done. */
void outputs_end(struct outputs *outputs, struct leftovers *left);
void leftovers_done(struct leftovers *left);

/* I/O thread, TIMER_FLUSH: a stream has waited long enough. */
void outputs_flush_late(struct outputs *outputs);

#endif
