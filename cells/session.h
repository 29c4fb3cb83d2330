/*
 * A session: everything that lives from one cell to the next (variables, last
 * result, kernel sources, buffers, the session's device), and the one way to
 * run a cell in it. Used by one thread, except session_interrupt.
 */
#ifndef WB_CELLS_SESSION_H
#define WB_CELLS_SESSION_H

#include "cells/sink.h"
#include "model/base/base.h"
#include "model/base/err.h"

#include <jansson.h>
#include <stdbool.h>

struct session;

struct session_options {
    const char *device; /* as %device takes it; NULL: the GPU if there is one, else L40S */
    const char *self;   /* path of this executable, for child processes; NULL: /proc/self/exe */
};

struct cell_options {
    bool is_silent;      /* nothing may reach the sink; user_expressions still work */
    bool allow_stdin;    /* %input may ask */
    const char *cell_id; /* the front end's cell id, or NULL */
};

int session_new(const struct session_options *options, struct session **out,
                struct err *err) MUST_CHECK;
void session_free(struct session **session);

/*
 * Runs one cell: its segments in order up to the first error, which is reported to
 * sink->error and, when report is not NULL, copied there for the reply (the caller
 * releases it with report_done). Returns 0, or -1 when the cell failed. Variables
 * survive every failure.
 */
int session_run_cell(struct session *session, struct bytes code, const struct cell_options *options,
                     struct sink *sink, struct error_report *report) MUST_CHECK;

/* Number of cells run, the n of In[n]. */
int session_run_count(const struct session *session);

/* Stops the running cell soon: it fails with Interrupted. Any thread; does nothing when idle. */
void session_interrupt(struct session *session);

/*
 * Evaluates an expression for user_expressions. *data becomes a new MIME bundle with
 * text/plain.
 */
int session_evaluate(struct session *session, struct bytes expression, json_t **data,
                     struct err *err) MUST_CHECK;

struct completion {
    char *text;      /* what replaces start..end */
    char *type;      /* JupyterLab's icon names: "magic", "keyword", "function", "instance", ... */
    char *signature; /* one line, or NULL */
};

/* Offsets are bytes into code; jupyter-kernel turns them into code points. */
struct completions {
    struct completion *items;
    size_t count;
    size_t start, end;
};

int session_complete(struct session *session, struct bytes code, size_t cursor,
                     struct completions *out, struct err *err) MUST_CHECK;
void completions_done(struct completions *completions);

/* *data: a new MIME bundle with text/plain and text/html, or NULL when there is nothing to say. */
int session_inspect(struct session *session, struct bytes code, size_t cursor, int detail_level,
                    json_t **data, struct err *err) MUST_CHECK;

enum completeness {
    CELL_COMPLETE,
    CELL_INCOMPLETE,
    CELL_INVALID,
};

/* indent (at least 33 bytes) gets the blanks that a continuation line should start with. */
enum completeness session_is_complete(struct session *session, struct bytes code, char *indent);

#endif
