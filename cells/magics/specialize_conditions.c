/*
 * %specialize conditions: when roles pay. The peak and the issue slots are the
 * same with roles and without, so they pay only where one stream cannot be: its
 * resources do not fit, its plan meets latencies that vary, or its waits stop work
 * that could go on. Each condition is run with it absent and with it present.
 */
#include "cells/magics/specialize_budget.h"

#include "cells/internal.h"

enum { CASES = 2 }; /* without the condition, and with it */

/* One stream and roles under the same parameters. */
struct condition {
    const char *name, *without, *with, *line;
    enum async_program_id stream, roles;
    struct async_params params[CASES];
};

#define COMMON .steps = 256, .groups = 2, .seed = 1
static const struct condition CONDITIONS[] = {
    { "latency varies",
      "loads take 25",
      "loads take 10..100",
      "program=[static,dynamic] plan=25 compute=5 pipe=8 load=10 jitter=90",
      ASYNC_STATIC,
      ASYNC_DYNAMIC,
      { { COMMON, .pipe = 8, .load = 25, .plan = 25, .compute = 5 },
        { COMMON, .pipe = 8, .load = 10, .plan = 25, .compute = 5, .jitter = 90 } } },
    { "waits block",
      "a wait adds 0",
      "a wait adds 207",
      "program=[v1,ring] load=700 compute=1000 wake=207",
      ASYNC_V1,
      ASYNC_RING,
      { { COMMON, .pipe = 4, .load = 700, .compute = 1000 },
        { COMMON, .pipe = 4, .load = 700, .compute = 1000, .wake = 207 } } },
};
#undef COMMON

/* The accumulators of a tile in half precision, in one group of warps and in two. */
struct fit {
    int tile, registers[CASES];
};

struct outcome {
    double stream[CASES], roles[CASES];
};

static int run_one(enum async_program_id id, const struct async_params *params,
                   const struct call *call, double *busy, struct err *err)
{
    struct specialization s = { .id = id, .params = *params };

    if (specialize_run(&s, 0, call->arena, call_stop(call), err) < 0)
        return -1;
    *busy = s.run.busy;
    return 0;
}

static int run_condition(const struct condition *c, const struct call *call, struct outcome *out,
                         struct err *err)
{
    for (int i = 0; i < CASES; i++)
        if (run_one(c->stream, &c->params[i], call, &out->stream[i], err) < 0 ||
            run_one(c->roles, &c->params[i], call, &out->roles[i], err) < 0)
            return -1;
    return 0;
}

/* Registers a thread: elements / 2 a register / threads of one or two groups. */
static struct fit fit_of(int tile)
{
    return (struct fit){ tile, { tile * tile / 2 / 128, tile * tile / 2 / 256 } };
}

/* ---- fields ---- */

static json_t *condition_json(const struct condition *c, const struct outcome *out)
{
    return json_pack("{s:s, s:{s:s, s:f, s:f}, s:{s:s, s:f, s:f}}", "condition", c->name, "off",
                     "case", c->without, "one_stream", out->stream[0], "roles", out->roles[0], "on",
                     "case", c->with, "one_stream", out->stream[1], "roles", out->roles[1]);
}

static json_t *fit_json(const struct fit fits[CASES], int limit)
{
    json_t *object = json_pack("{s:s}", "condition", "resources");
    static const char *const keys[CASES] = { "off", "on" };
    int failed = 0;

    for (int i = 0; i < CASES; i++)
        failed |= json_object_set_new(object, keys[i],
                                      json_pack("{s:s+, s:i, s:i, s:b, s:b}", "case", "tile ",
                                                i ? "256 x 256" : "128 x 128",
                                                "one_stream_registers", fits[i].registers[0],
                                                "roles_registers", fits[i].registers[1],
                                                "one_stream_fits", fits[i].registers[0] <= limit,
                                                "roles_fit", fits[i].registers[1] <= limit));
    return json_whole(object, failed);
}

static int set_fields(struct result *result, const struct outcome *outcomes,
                      const struct fit fits[CASES], int limit, struct err *err)
{
    json_t *list = json_array();
    int failed = json_array_append_new(list, fit_json(fits, limit));

    for (size_t i = 0; i < COUNT(CONDITIONS); i++)
        failed |= json_array_append_new(list, condition_json(&CONDITIONS[i], &outcomes[i]));
    if (failed || json_object_set_new(result->fields, "conditions", list) < 0)
        return err_set(err, ERR_ResourceError, "out of memory");
    return 0;
}

/* ---- the view ---- */

static const struct view_column COLUMNS[] = {
    { "condition", VIEW_LEFT }, { "case", VIEW_LEFT },  { "one stream", VIEW_RIGHT },
    { "roles", VIEW_RIGHT },    { "gain", VIEW_RIGHT },
};

static const char *registers_text(struct result *result, int registers, int limit)
{
    return registers > limit ? result_text(result, "%d regs > %d", registers, limit)
                             : result_text(result, "%d regs", registers);
}

static void add_fit_rows(struct result *result, struct view_table *table,
                         const struct fit fits[CASES], int limit)
{
    for (int i = 0; i < CASES; i++) {
        size_t r = (size_t)i;

        view_cell(table, r, 0, i ? "" : "resources");
        view_cell(table, r, 1, result_text(result, "%d x %d tile", fits[i].tile, fits[i].tile));
        view_cell(table, r, 2, registers_text(result, fits[i].registers[0], limit));
        view_cell(table, r, 3, registers_text(result, fits[i].registers[1], limit));
        view_cell(table, r, 4, fits[i].registers[0] > limit ? "it runs" : "none");
        if (fits[i].registers[0] > limit)
            view_mark(table, r);
    }
}

static void add_rows(struct result *result, struct view_table *table, const struct condition *c,
                     const struct outcome *out, size_t first)
{
    for (int i = 0; i < CASES; i++) {
        size_t r = first + (size_t)i;
        double gain = out->roles[i] / out->stream[i];

        view_cell(table, r, 0, i ? "" : c->name);
        view_cell(table, r, 1, i ? c->with : c->without);
        view_cell(table, r, 2,
                  result_text(result, "%s busy", specialize_percent(result, out->stream[i])));
        view_cell(table, r, 3,
                  result_text(result, "%s busy", specialize_percent(result, out->roles[i])));
        view_cell(table, r, 4, gain < 1.005 ? "none" : result_text(result, "%.2fx", gain));
        if (gain >= 1.005)
            view_mark(table, r);
    }
}

static void add_lines(struct result *result)
{
    struct view_block *facts = view_add_facts(result, COUNT(CONDITIONS) + 1);

    if (!facts)
        return;
    facts->names[0] = "resources";
    facts->texts[0] =
        "accumulators of FP16, two groups of one program do as well: %specialize tile=256 acc=16 groups=[1,2]";
    for (size_t i = 0; i < COUNT(CONDITIONS); i++) {
        facts->names[i + 1] = CONDITIONS[i].name;
        facts->texts[i + 1] = result_text(result, "%%specialize %s", CONDITIONS[i].line);
    }
}

static void add_figure(struct result *result, const struct outcome *outcomes)
{
    enum { BARS = CASES * COUNT(CONDITIONS) };
    static const char *const series[] = { "one stream", "roles" };
    struct figure_axis value = { .label = "busy", .unit = UNIT_PERCENT, .min = 0, .max = 1 };
    const char *groups[BARS];
    double values[BARS * COUNT(series)];
    struct figure *figure =
        figure_new(result, "When roles pay", result->view.answer, result->view.answer);

    for (size_t i = 0; i < BARS; i++) {
        const struct condition *c = &CONDITIONS[i / CASES];

        groups[i] = i % CASES ? c->with : c->without;
        values[2 * i] = outcomes[i / CASES].stream[i % CASES];
        values[2 * i + 1] = outcomes[i / CASES].roles[i % CASES];
    }
    if (figure)
        figure_add_bars(figure, NULL, value, groups, BARS, series, COUNT(series), values, NULL);
}

static int check_alone(const struct call *call, struct err *err)
{
    for (size_t i = 0; i < call->magic->param_count; i++) {
        const char *name = call->magic->params[i].name;

        if (call->args[i].is_given && strcmp(name, "program") != 0) {
            call_fail(call, name, err, ERR_UsageError,
                      "conditions has its own values: %s= does not act on it", name);
            return err_next(err, "%%specialize conditions prints the lines to change");
        }
    }
    return 0;
}

int specialize_show_conditions(struct result *result, const struct call *call, struct err *err)
{
    const struct fit fits[CASES] = { fit_of(128), fit_of(256) };
    int limit = session_device(call->session)->device.registers_per_thread;
    struct outcome outcomes[COUNT(CONDITIONS)];
    struct view_table *table;

    if (check_alone(call, err) < 0)
        return -1;
    for (size_t i = 0; i < COUNT(CONDITIONS); i++)
        if (run_condition(&CONDITIONS[i], call, &outcomes[i], err) < 0)
            return -1;
    if (set_fields(result, outcomes, fits, limit, err) < 0)
        return -1;
    result->view.answer =
        result_text(result,
                    "Roles gain %.2fx where latency varies, %.2fx where waits block, else nothing.",
                    outcomes[0].roles[1] / outcomes[0].stream[1],
                    outcomes[1].roles[1] / outcomes[1].stream[1]);
    result->view.origin = "async model   each condition without it, then with it";
    table = view_add_table(result, COLUMNS, COUNT(COLUMNS), CASES * (COUNT(CONDITIONS) + 1));
    add_fit_rows(result, table, fits, limit);
    for (size_t i = 0; i < COUNT(CONDITIONS); i++)
        add_rows(result, table, &CONDITIONS[i], &outcomes[i], CASES * (i + 1));
    add_lines(result);
    result->view.closing = "Next: %specialize v1 load=700 compute=1000 wake=207 shows the bubble.";
    add_figure(result, outcomes);
    return 0;
}
