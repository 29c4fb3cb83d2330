/*
 * The table of magics. A magic is one row and one function: the row's keys
 * drive parsing, range checks, help, completion, inspection and the README, so
 * that run() only ever sees arguments that are right.
 */
#ifndef WB_CELLS_MAGIC_H
#define WB_CELLS_MAGIC_H

#include "cells/lex.h"
#include "cells/result.h"
#include "cells/session.h"
#include "cells/sink.h"
#include "cells/value.h"
#include "model/device.h"

#include <stdatomic.h>

enum param_type {
    PARAM_INT,    /* min..max as int64 */
    PARAM_FLOAT,  /* min..max */
    PARAM_BOOL,   /* yes or no */
    PARAM_CHOICE, /* one of choices, separated by blanks */
    PARAM_NAME,   /* any bare word */
    PARAM_TEXT,   /* "string" */
    PARAM_DIM,    /* (x,y,z) or a number; each min..max */
    PARAM_DEVICE, /* gpu, gpu:1, model, L40S, cc=8.9, "RTX 4090", or a name made by %device */
    PARAM_VALUE,  /* any expression, evaluated */
    PARAM_EXPR,   /* {lane < 24}, or "lane < 24": evaluated for each thread (cells/threads.h) */
    PARAM_TUPLE,  /* (a, b): expressions in brackets, kept as written; call_source reads them */
    PARAM_REST,   /* the rest of the line, as written: last positional only (%echo, %check) */
};

enum param_flag {
    PARAM_POSITIONAL = 1, /* given without key= ; in the order of the table */
    PARAM_REQUIRED = 2,
    PARAM_SWEEP = 4,    /* takes a range or list: several points */
    PARAM_OPTIONAL = 8, /* while it is not given a result's input does not name it */
};

struct param {
    const char *name;
    enum param_type type;
    unsigned flags;
    const char *preset; /* the default, spelled as a user would; NULL: none */
    double min, max;    /* both 0: not checked; with them the error names the limits */
    const char *choices;
    const char *help; /* one line with the unit */

    /*
     * The unit that its numbers may be written with, and what makes them the key's own: 1.98GHz are
     * 1.98e9 Hz, and times 1e-6 MHz. Without one a number with a unit is refused.
     */
    enum number_unit unit;
    double per_unit;
};

/* One field of a result: what JSON, %help, completion and the docs say of it. */
struct field {
    const char *path; /* "limits.registers" */
    const char *unit; /* "", "blocks/SM", "0..1" */
    const char *help;
};

struct call;
struct source; /* cells/lex.h */

enum magic_flag {
    MAGIC_CELL = 1,   /* %%name: takes the rest of the cell */
    MAGIC_SILENT = 2, /* never sets `_` (%check, %print, %show, %log) */
    MAGIC_PLAIN = 4,  /* PARAM_REST is plain text: no keys in it, brackets do not continue it */
    MAGIC_BOTH = 8,   /* with MAGIC_CELL: %name without a body is fine too */
};

struct magic {
    const char *name; /* without % */
    unsigned flags;
    const char *summary; /* one line for %help and completion */
    const char *about;   /* paragraphs for %name?: what it computes, from which source */
    const char *example; /* lines that run as they stand (the tests run them) */
    const struct param *params;
    size_t param_count;
    const struct field *fields;
    size_t field_count;
    int (*run)(struct call *call, struct err *err);
};

struct arg {
    bool is_given; /* written by the user; else the default */
    bool is_sweep; /* a range or list, even of one point */
    size_t count;  /* points: 1 without a sweep, 0 when absent and without default */
    const struct value *values;
    const char *text;             /* as written, or the default as spelled in the table; or NULL */
    const struct source *sources; /* of an EXPR: where the text of each value stands */
    int line, column, length;     /* where it was written in the cell, for the caret */
};

/* One use of a magic, while it runs. Everything is borrowed from the cell. */
struct call {
    struct session *session;
    struct sink *sink;
    struct arena *arena; /* ends with the cell */
    const struct magic *magic;
    const struct arg *args; /* args[i] belongs to magic->params[i] */
    struct bytes body;      /* %%name: the lines below; else empty */
    int line, column;       /* where the magic was written in the cell */
    int body_line;          /* 1-based line of the cell at which body starts */
    const char *target;     /* -> name, or NULL */
    bool allow_stdin;
};

/* The argument of a key; asserts that the row has it. The typed forms read its first value. */
const struct arg *call_arg(const struct call *call, const char *name);
bool call_given(const struct call *call, const char *name);
int64_t call_int(const struct call *call, const char *name);
double call_float(const struct call *call, const char *name);
bool call_bool(const struct call *call, const char *name);
const char *call_text(const struct call *call,
                      const char *name); /* NAME CHOICE TEXT REST; or NULL */

/* Fails with a caret at the key as written (or at the magic when it was not). Returns -1. */
int call_fail(const struct call *call, const char *name, struct err *err, enum err_name ename,
              const char *fmt, ...) PRINTF_LIKE(5, 6);

/*
 * The device that device= names, else the session's. *out is a copy whose strings live
 * as long as the session.
 */
struct session_device {
    struct device device; /* limits */
    bool is_gpu;          /* a real card, gpu_index its number */
    int gpu_index;
};
int call_device(const struct call *call, struct session_device *out, struct err *err) MUST_CHECK;

/*
 * Takes the result: adds "device" and "input" (every parameter after defaults) to its
 * fields, displays table and figure, sets `_` and `-> name`.
 */
int call_take_result(struct call *call, struct result *result, struct err *err) MUST_CHECK;

/* The same for a result that may have failed on its way: then it is released, and -1 returned. */
int call_finish(struct call *call, struct result *result, bool has_failed,
                struct err *err) MUST_CHECK;

/*
 * For numbers that are the model's, whatever the session's device is: sets the field "device"
 * (name, capability, source "model").
 */
int call_set_model(const struct call *call, struct result *result, struct err *err) MUST_CHECK;

/* True once the cell was interrupted; long loops ask at least each millisecond. */
const atomic_bool *call_stop(const struct call *call);
int call_check_stop(const struct call *call, struct err *err) MUST_CHECK;

/*
 * "regs=42 static=8K  defaults: block=256 dynamic=0": the parameters that act, given ones
 * first, defaults after. skip: keys left out, separated by blanks, or NULL.
 */
const char *call_parameters_text(const struct call *call, const char *skip);

/* The table, in the order of %help: cells/magics.h lists the rows of cells/magics/. */
extern const struct magic *const MAGICS[];
extern const size_t MAGIC_COUNT;
const struct magic *magic_find(const char *name, bool is_cell);

/* "%%" for what is a cell magic only, else "%". Static. */
const char *magic_signs(const struct magic *magic);

#endif
