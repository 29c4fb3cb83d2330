/*
 * Stops a cell that runs without Jupyter: after a time, or when the person at
 * the terminal presses Ctrl-C.
 */
#ifndef WB_CELLS_WATCH_H
#define WB_CELLS_WATCH_H

#include "cells/session.h"
#include "model/base/err.h"

struct watch;

enum watch_event {
    WATCH_NOTHING,
    WATCH_TIMEOUT, /* the cell took too long and was interrupted */
    WATCH_SIGNAL,  /* SIGINT or SIGTERM: nothing more should run */
};

/*
 * Takes over SIGINT and SIGTERM of the process, and interrupts session (borrowed) when one
 * comes. Called while the process has one thread. Fails with ResourceError.
 */
int watch_new(struct session *session, struct watch **out, struct err *err) MUST_CHECK;
void watch_free(struct watch **watch);

/* Around each cell. timeout_s: 0 for none. The end tells what happened during it. */
void watch_begin(struct watch *watch, double timeout_s);
enum watch_event watch_end(struct watch *watch);

#endif
