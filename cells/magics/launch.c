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
    return call_finish(call, result,
                       launch_set_fields(result, call, &point, err) < 0 ||
                           launch_view(result, call, &point, err) < 0,
                       err);
}

static int run_sweep(struct call *call, const struct launch_line *line, const struct sweep *sweep,
                     struct err *err)
{
    struct result *result = result_new("launch", 1);

    if (!result)
        return err_set(err, ERR_ResourceError, "out of memory");
    return call_finish(call, result, launch_sweep_run(result, call, line, sweep, err) < 0, err);
}

/* `name` alone stands for its last launch, and there is none. */
static int not_launched(const struct call *call, const char *name, struct err *err)
{
    if (session_variable(call->session, name))
        return call_fail(call, "what", err, ERR_UsageError,
                         "%.60s is a variable; %%%s takes a kernel's name or a launch", name,
                         call->magic->name);
    call_fail(call, "what", err, ERR_UsageError, "%.60s was not launched yet", name);
    return err_next(err, "write it as a launch: %%%s %.60s<<<grid, block>>>(arguments)",
                    call->magic->name, name);
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
    if (!last)
        return not_launched(call, name ? name : "", err);
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
    { "time_us", "us", "measured on a GPU, else modelled; null for build=debug" },
    { "cycles", "cycles", "of the SM clock; null where it was not read" },
    { "measured", "", "time_us, cycles; null: nothing was measured" },
    { "modelled", "", "time_us, cycles; null: not modelled" },
    { "warps", "warps", "of the whole grid" },
    { "thread_instructions", "", "instructions that lanes executed; null: a GPU does not count" },
    { "warp_instructions", "", "instructions that warps executed" },
    { "lane_efficiency", "0..1", "thread_instructions / (32 * warp_instructions)" },
    { "divergent_branches", "warps", "conditional branches that split their warp, of branches" },
    { "as_written", "",
      "branches, divergent_branches, lane_efficiency of build=debug, from 2 "
      "blocks; null: not counted" },
    { "global", "", "load, store: requests, sectors, sectors_per_request, bytes" },
    { "shared", "", "requests, passes, conflicts, bytes" },
    { "local", "", "requests, sectors, sectors_per_request, bytes of arrays and spills" },
    { "barriers", "warps", "barriers that warps passed" },
    { "ops", "warps", "shfl, vote, atom, calls" },
    { "occupancy", "0..1", "theoretical, achieved, active_blocks, limiters" },
    { "issue_utilization", "0..1", "issue slots used, of the SMs that worked" },
    { "stalls", "0..1", "where resident warps spend their cycles: long_scoreboard, barrier, ..." },
    { "registers", "a thread", "and spills (bytes), static_bytes, dynamic_bytes of a block" },
    { "waves", "", "blocks over the blocks that the device holds at once" },
    { "lines", "",
      "one entry a source line: warp_instructions, lane_efficiency, sectors and "
      "passes a request, ...; t.line(6).passes" },
    { "warnings", "", "what C leaves open and a GPU does in silence: text, file, line, count" },
    { "sweep", "", "ranges and lists: one entry a point, with the fields above but lines" },
};

const struct magic MAGIC_LAUNCH = {
    .name = "launch",
    .summary = "runs a kernel of a cell over buffers: `kernel<<<grid, block>>>(arguments);`",
    .about =
        "kernel<<<grid, block, dynamic>>>(arguments); alone on a line is the same as %launch in "
        "front of it; keys may follow the arguments, and -> t names the result. Arguments are "
        "expressions of the cell language: variables, buffers, x + 16, dim3(16, 16), nullptr; "
        "they have to match the kernel's signature by kind and width. A template names its "
        "arguments: k<float, 32><<<4, 256>>>(x). Buffers change only when the launch ends "
        "well.\n"
        "A key wins over its place in <<< >>> and is a name there: k<<<(n + block - 1) / block, "
        "block>>>(n, x) block=[64,128,256]. Ranges and lists give one result with a table and a "
        "curve; each point starts from the same buffers, and the last one's writes stay.\n"
        "Without a GPU the interpreter runs the kernel: it counts, checks every access and says "
        "which thread, line and index was wrong. Counts of the code as written come from a sample "
        "of a debug build that runs beside it. Without timeout= a launch ends once no block "
        "finished for 20 seconds.",
    .example = "__global__ void saxpy(int n, float a, const float *x, float *y) {\n"
               "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
               "    if (i < n)\n"
               "        y[i] = a * x[i] + y[i];\n"
               "}\n"
               "n = 1000\n"
               "%buffer x float[1000] = iota\n"
               "%buffer y float[1000] = ones\n"
               "saxpy<<<(n + 255) / 256, 256>>>(n, 2.0f, x, y) -> t\n"
               "%check y[999] == 1999\n"
               "%launch saxpy grid=4 block=[128,256] args=(n, 2.0, x, y)",
    .params = PARAMS,
    .param_count = COUNT(PARAMS),
    .fields = FIELDS,
    .field_count = COUNT(FIELDS),
    .run = run,
};
