/*
 * Where a cell's output goes. A cell writes to the sink it is given and knows
 * nothing of Jupyter: the kernel, `warpbook cell`, the notebook runner and a
 * unit test each bring their own, so a cell runs the same in all four.
 */
#ifndef WB_CELLS_SINK_H
#define WB_CELLS_SINK_H

#include "model/base/base.h"
#include "model/base/err.h"

#include <jansson.h>
#include <stdbool.h>

enum stream_name {
    STREAM_STDOUT,
    STREAM_STDERR,
};

/* What stopped a cell, worded for the user. All strings malloc'ed; report_done releases. */
struct error_report {
    char *ename;
    char *evalue;
    char **traceback; /* lines without newline; the useful one first, under 83 columns */
    size_t traceback_lines;
};

/*
 * Every function is called on the executor's thread and must not block on the
 * reader of its output. Arguments are borrowed (JSON too: take a reference to
 * keep it). Any pointer may be NULL: that output is dropped; input then fails.
 */
struct sink {
    /* Program text, UTF-8 or not; any split. */
    void (*stream)(struct sink *sink, enum stream_name name, const char *text, size_t n);

    /*
     * display_data. data: MIME bundle, always with text/plain. metadata: an object or NULL.
     * display_id: NULL, or the id that a later call with is_update replaces.
     */
    void (*display)(struct sink *sink, json_t *data, json_t *metadata, const char *display_id,
                    bool is_update);

    /* execute_result: scores alone (nbgrader reads it as the grade). */
    void (*result)(struct sink *sink, json_t *data, json_t *metadata);

    void (*error)(struct sink *sink, const struct error_report *report);

    /* clear_output; wait: only when the next output arrives. */
    void (*clear)(struct sink *sink, bool wait);

    /* A reply payload: {"source": "page", ...} or {"source": "set_next_input", ...}. */
    void (*payload)(struct sink *sink, json_t *payload);

    /*
     * Asks the person at the front end for a line. *reply is malloc'ed, without newline.
     * Fails with UsageError where nobody can answer, Interrupted when interrupted.
     */
    int (*input)(struct sink *sink, const char *prompt, bool is_password, char **reply,
                 struct err *err);
};

/* Callers' side of the above; NULL members are handled here. */
void sink_write(struct sink *sink, enum stream_name name, const char *text, size_t n);
void sink_printf(struct sink *sink, enum stream_name name, const char *fmt, ...) PRINTF_LIKE(3, 4);
void sink_display(struct sink *sink, json_t *data, json_t *metadata, const char *display_id,
                  bool is_update);

/* An execute_result that is text alone: a score. Fails with ResourceError. */
int sink_result_text(struct sink *sink, const char *text, struct err *err) MUST_CHECK;

void report_done(struct error_report *report);

#endif
