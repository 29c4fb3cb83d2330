/*
 * %launch: a kernel of a cell over buffers of the session, as
 * kernel<<<grid, block>>>(arguments); alone on a line says it too.
 */
#include "cells/magics/launch.h"

#include "cells/cell.h"
#include "cells/internal.h"
#include "cells/launch_recall.h"
#include "cells/magics.h"

int launch_set_fields(struct result *result, struct call *call, const struct launch_point *point,
                      struct err *err)
{
    json_t *fields = launch_fields(call, point), *input = launch_input(call, point);
    int failed = !fields || !input || json_object_set(result->fields, "input", input) < 0 ||
                 json_object_set_new(result->fields, "device",
                                     session_device_json(&point->plan.device)) < 0 ||
                 json_object_update(result->fields, fields) < 0;

    json_decref(fields);
    json_decref(input);
    return failed ? err_set(err, ERR_ResourceError, "out of memory") : 0;
}

static int run_one(struct call *call, const struct launch_line *line, const struct sweep *sweep,
                   struct err *err)
{
    struct launch_request_options options = { .is_writing = true, .wants_written = true };
    struct launch_point point = { 0 };
    struct result *result;

    if (launch_plan_make(call, line, sweep, 0, &point.plan, err) < 0 ||
        launch_run(call, &point.plan, &options, &point.outcome, err) < 0)
        return -1;
    launch_note(call->session, point.plan.kernel, point.plan.text);
    result = result_new("launch", 1);
    if (!result)
        return err_set(err, ERR_ResourceError, "out of memory");
    if (launch_set_fields(result, call, &point, err) < 0 ||
        launch_view(result, call, &point, err) < 0) {
        result_release(&result);
        return -1;
    }
    return call_take_result(call, result, err);
}

static int run_sweep(struct call *call, const struct launch_line *line, const struct sweep *sweep,
                     struct err *err)
{
    struct result *result = result_new("launch", 1);

    if (!result)
        return err_set(err, ERR_ResourceError, "out of memory");
    if (launch_sweep_run(result, call, line, sweep, err) < 0) {
        result_release(&result);
        return -1;
    }
    return call_take_result(call, result, err);
}

int launch_read(struct call *call, bool is_recalling, struct launch_line *line, struct err *err)
{
    struct source what = call_source(call, "what");
    const char *name, *last;

    if (launch_line_read(what, call->arena, line, err) < 0)
        return -1;
    if (!is_recalling || line->has_sign || call_given(call, "args"))
        return 0;
    name = arena_copy(call->arena, line->kernel.text.data, line->kernel.text.size);
    last = name ? launch_last(call->session, name) : NULL;
    if (!last) {
        call_fail(call, "what", err, ERR_UsageError, "%.60s was not launched yet",
                  name ? name : "");
        return err_next(err, "write it as a launch: %%%s %.60s<<<grid, block>>>(arguments)",
                        call->magic->name, name ? name : "");
    }
    last = arena_string(call->arena, last);
    if (!last)
        return err_set(err, ERR_ResourceError, "out of memory");
    return launch_line_read((struct source){ bytes_of(last), what.line, what.column }, call->arena,
                            line, err);
}

static int run(struct call *call, struct err *err)
{
    struct source what = call_source(call, "what");
    struct launch_line line;
    struct sweep sweep;

    if (launch_read(call, false, &line, err) < 0 || sweep_init(&sweep, call, err) < 0)
        return -1;
    if ((sweep.key_count ? run_sweep(call, &line, &sweep, err)
                         : run_one(call, &line, &sweep, err)) < 0)
        return err_at(err, what.line, what.column, (int)what.text.size);
    return 0;
}

static const struct param PARAMS[] = {
    LAUNCH_KEYS("opt"),
    { .name = "races",
      .type = PARAM_CHOICE,
      .preset = "shared",
      .choices = "shared all none",
      .help = "which races are looked for; all: in global memory too" },
    { .name = "checks",
      .type = PARAM_BOOL,
      .preset = "yes",
      .help = "no: only what cannot be run is an error" },
    { .name = "its",
      .type = PARAM_CHOICE,
      .preset = "on",
      .choices = "on off",
      .help = "off: one side of a branch runs to the join first, as before Volta" },
    { .name = "sample",
      .type = PARAM_INT,
      .preset = "0",
      .min = 0,
      .max = 2147483647,
      .help = "run so many blocks, for facts alone: buffers stay as they are; 0: all" },
};

static const struct field FIELDS[] = {
    { "time_us", "us", "measured on a GPU, modelled else" },
};

const struct magic MAGIC_LAUNCH = {
    .name = "launch",
    .summary = "runs a kernel of a cell over buffers: `kernel<<<grid, block>>>(arguments);`",
    .about = "A kernel of a cell runs over buffers of the session.",
    .example = "%launch?",
    .params = PARAMS,
    .param_count = COUNT(PARAMS),
    .fields = FIELDS,
    .field_count = COUNT(FIELDS),
    .run = run,
};
