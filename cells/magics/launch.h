/*
 * What the files of %launch and its relatives share: one launch as planned and as it
 * went, and how it becomes fields and a view.
 */
#ifndef WB_CELLS_MAGICS_LAUNCH_H
#define WB_CELLS_MAGICS_LAUNCH_H

#include "cells/launch_run.h"
#include "cells/magic.h"

struct launch_point {
    struct launch_plan plan;
    struct launch_outcome outcome;
};

/* launch_point.c: what tables, fields and figures all read. */
struct launch_time {
    bool is_known;
    double us, cycles; /* cycles 0: not known */
};
struct launch_time launch_measured(const struct launch_point *point);
struct launch_time launch_modelled(const struct launch_point *point);

/* Grid over what the device holds at once; 0: not known. */
double launch_waves(const struct launch_point *point);

/* Lanes of a line at work, 0..1. */
double launch_line_lanes(const struct ptx_line_facts *line);

/* A number of an access per request; 0 when there was none. */
double launch_per_request(const struct ptx_access_facts *access, int64_t of);

/* The text of a line without its indentation; false when it is not known. */
bool launch_line_text(struct call *call, const struct ptx_line_facts *line, struct bytes *out);

/* launch_fields.c: new objects, or NULL when out of memory. */
json_t *launch_fields(struct call *call, const struct launch_point *point);
json_t *launch_input(struct call *call, const struct launch_point *point);

/* launch.c: joins both to what every result has. Fails with ResourceError. */
int launch_set_fields(struct result *result, struct call *call, const struct launch_point *point,
                      struct err *err) MUST_CHECK;

/* launch_view.c: the view of one launch. Fails with ResourceError. */
int launch_view(struct result *result, struct call *call, const struct launch_point *point,
                struct err *err) MUST_CHECK;

/* Device, launch and keys: "L40S (model, cc 8.9)   <<<4, 256>>>   build=opt   -> t". */
const char *launch_origin(struct result *result, struct call *call,
                          const struct launch_point *point);

/*
 * launch_sweep.c: runs a launch at every point of a sweep, each from the same buffers; fills
 * fields, table and figure. Fails as launch_plan_make and launch_run do.
 */
int launch_sweep_run(struct result *result, struct call *call, const struct launch_line *line,
                     const struct sweep *sweep, struct err *err) MUST_CHECK;

/*
 * launch.c: the launch that the line names. is_recalling: a kernel's name alone means its last
 * launch in the session. Fails with SyntaxError or UsageError.
 */
int launch_read(struct call *call, bool is_recalling, struct launch_line *line,
                struct err *err) MUST_CHECK;

/* launch_hint.c: where to look first. */
struct launch_hint {
    const char *text; /* "Look at line 6: ..."; NULL: nothing stands out */
    size_t line;      /* index of its line in the facts; SIZE_MAX: none */
};
struct launch_hint launch_find_hint(struct result *result, const struct launch_point *point);

#endif
