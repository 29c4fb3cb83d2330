/*
 * What the files of this room share: the session's inside, the cell that runs,
 * and the few helpers that several of them need. Nobody else includes this.
 */
#ifndef WB_CELLS_INTERNAL_H
#define WB_CELLS_INTERNAL_H

#include "cells/cuda.h"
#include "cells/lex.h"
#include "cells/magic.h"
#include "cells/session.h"
#include "cells/value.h"
#include "cells/workers.h"
#include "model/base/buf.h"
#include "model/base/nearest.h"

#include <stdatomic.h>

enum {
    SESSION_MAX_VARIABLES = 4096,
    SESSION_MAX_DEVICES = 64,
    RANGE_MAX_POINTS = 1000000,
    SWEEP_MAX_POINTS = 65536, /* a point takes about 1 KB: memory, and bytes in the notebook */
};

/* Most bytes that one cell, and that one variable, may take. */
#define CELL_MEMORY_LIMIT     ((size_t)512 << 20)
#define VARIABLE_MEMORY_LIMIT ((size_t)128 << 20)
/* Most bytes that all variables of a session take together, results by estimate. */
#define VARIABLES_MEMORY_LIMIT ((size_t)512 << 20)

/* A name and what it holds; the value lives in the variable's own arena. */
struct variable {
    char *name;
    struct arena *arena;
    struct value value;
    size_t bytes; /* of its memory: counts towards VARIABLES_MEMORY_LIMIT */
    char *unset;  /* why it holds nothing: "its %occupancy in In[9] failed"; NULL when it holds */
};

/* One check of a running %%grade. */
struct grade_row {
    const char *label;
    double points, score;
    const char *remark; /* why it failed, or "" */
};

struct grading {
    struct arena *arena; /* of the rows and their texts */
    struct grade_row *rows;
    size_t count, capacity;
};

/* The cell that runs: what all its segments share. */
struct cell {
    struct session *session;
    struct sink *sink;
    struct arena *arena;
    struct bytes code;
    bool allow_stdin;
    struct grading *grading; /* inside %%grade, else NULL */
    int depth;               /* cell magics inside cell magics */
};

struct buffers;

struct session {
    struct workers *workers;
    struct cuda *cuda;
    struct launch_history *launches; /* cells/launch_recall.h */
    struct buffers *buffers;
    struct export_log *exports;
    struct session_device device; /* once has_device; ask session_device */
    bool has_device;
    struct session_device made[SESSION_MAX_DEVICES]; /* by %device NAME key=...; names owned */
    size_t made_count;
    struct variable *variables; /* in order of creation; "_" is one of them */
    size_t variable_count, variable_capacity, variable_bytes;
    int run_count;
    atomic_bool stop;       /* the running cell was interrupted */
    atomic_bool is_running; /* a cell runs: an interrupt means something */
    int stop_fd;            /* eventfd, readable once interrupted */
    struct cell *cell;      /* the running one, or NULL */
};

/* ---- session.c ---- */

const atomic_bool *session_stop(const struct session *session);
int session_stop_fd(const struct session *session); /* poll it beside other descriptors */
struct workers *session_workers(struct session *session);
struct cuda *session_cuda(struct session *session);

/* The session's device; without a choice yet, the first GPU, else the model of an L40S. */
const struct session_device *session_device(struct session *session);
void session_set_device(struct session *session, const struct session_device *device);

/* {"name", "cc", "source"}: how a result says whose numbers it holds. New, or NULL. */
json_t *session_device_json(const struct session_device *device);

/* Keeps a made-up device under its name (copied), replacing one of that name. */
int session_add_device(struct session *session, const struct device *device,
                       struct err *err) MUST_CHECK;

/* What device= takes. Fails with NameError and the nearest names, or DeviceError. */
int session_find_device(struct session *session, const char *name, struct session_device *out,
                        struct err *err) MUST_CHECK;

/* The variable of a name, unset ones included; NULL: there is none. */
const struct variable *session_variable(const struct session *session, const char *name);

/* Copies the value into the session. Fails with ResourceError. */
int session_set(struct session *session, const char *name, const struct value *value,
                struct err *err) MUST_CHECK;

/* Forgets a variable, when there is one. */
void session_remove(struct session *session, const char *name);

/* From now on reading the name fails with this reason. Out of memory: the name is removed. */
void session_unset(struct session *session, const char *name, const char *reason);
void session_reset_variables(struct session *session);

/* ---- value.c ---- */

/*
 * A deep copy in another arena. Results and JSON in it are shared: the copy holds references,
 * which value_drop gives back (on failure nothing is held). Fails with ResourceError, also for
 * lists that nest deeper than any expression can be read.
 */
int value_copy(struct arena *arena, const struct value *from, struct value *to,
               struct err *err) MUST_CHECK;
void value_drop(struct value *v);
/* Bytes of the results and JSON that a copy shares, about. */
size_t value_shared_bytes(const struct value *v);
/* The view of a JSON value: numbers, texts, lists; objects stay JSON (borrowed). */
int value_from_json(struct arena *arena, json_t *json, struct value *out,
                    struct err *err) MUST_CHECK;
json_t *value_to_json(const struct value *v);            /* new reference, or NULL: out of memory */
bool value_as_float(const struct value *v, double *out); /* INT, FLOAT, BOOL */

static inline struct value value_int(int64_t i)
{
    return (struct value){ .type = VALUE_INT, .i = i };
}

static inline struct value value_float(double f)
{
    return (struct value){ .type = VALUE_FLOAT, .f = f };
}

static inline struct value value_bool(bool b)
{
    return (struct value){ .type = VALUE_BOOL, .b = b };
}

/* ---- args.c ---- */

/*
 * Reads the words and keys of a magic line behind its name. *args: one for each row of
 * magic->params, in the arena; *target: the name behind ->, or NULL.
 */
int args_parse(struct session *session, const struct magic *magic, struct lexer *lexer,
               struct arg **args, const char **target, struct err *err) MUST_CHECK;

/* The value as written; a text with blanks in its quotes, so that the line can be typed again. */
void arg_put(struct buf *out, const struct arg *arg);

/* ---- cell.c ---- */

/* The same with memory of its own, which ends with the lines: for bodies that repeat. */
int cell_run_body(struct cell *cell, struct source source, struct err *err) MUST_CHECK;

/*
 * Runs all lines whatever fails: a line that is no check and fails is a row of cell->grading that
 * is worth nothing. Fails when interrupted or out of memory only.
 */
int cell_run_graded(struct cell *cell, struct source source, struct err *err) MUST_CHECK;

/* Fails with Interrupted when the running cell was interrupted. */
int session_check_stop(const struct session *session, struct err *err) MUST_CHECK;

/* ---- help.c ---- */

/* Shows the page of a magic (or variable, kernel, term; "": the list) by a page payload. */
int help_page(struct session *session, struct sink *sink, const char *name,
              struct err *err) MUST_CHECK;

/* ---- errors.c ---- */

/* Words err for the user; code is the cell (for the line with the caret). */
int report_make(const struct err *err, struct bytes code, int run_count,
                struct error_report *out) MUST_CHECK;

#endif
