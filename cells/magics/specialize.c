/*
 * %specialize: warps with different programs that pass tiles to each other, and
 * the same work without roles. The machine is model/async.c's, the programs are
 * model/async_programs.c's; here a call becomes parameters. What a person reads
 * is in specialize_view.c (one program), specialize_time.c (its timeline),
 * specialize_sweep.c (ranges and lists) and specialize_conditions.c.
 */
#include "cells/magics/specialize.h"

#include "cells/expr.h"
#include "cells/internal.h"
#include "cells/magics.h"
#include "cells/magics/specialize_budget.h"
#include "cells/render/text.h"
#include "model/scheduler.h"

const char *specialize_percent(struct result *result, double fraction)
{
    char text[TEXT_NUMBER];

    return result_text(result, "%s", text_percent(text, fraction));
}

const char *specialize_count(struct result *result, double v)
{
    char text[TEXT_NUMBER];

    return result_text(result, "%s", text_number(text, v));
}

/* ---- running ---- */

/* The ring's slots as warps of text 000, on the layer that knows nothing of rings. */
static int run_as_warps(struct specialization *s, struct arena *arena, const atomic_bool *stop,
                        struct err *err)
{
    const struct async_params *a = &s->params;
    struct pattern pattern = { .warps = a->pipe,
                               .issue = (int)a->compute,
                               .wait = (int)(s->id == ASYNC_WARPS ? a->load
                                                                  : a->load + a->tma + 2 * a->wake),
                               .schedulers = 1,
                               .policy = POLICY_GTO };
    struct steady steady;

    s->as_warps = -1;
    if ((s->id != ASYNC_RING && s->id != ASYNC_WARPS) || a->jitter || a->tma > a->compute ||
        a->compute < 1 || a->compute > PATTERN_MAX_ISSUE || pattern.wait > PATTERN_MAX_WAIT)
        return 0;
    if (scheduler_steady(&pattern, arena, &steady, stop, err) < 0)
        return -1;
    s->as_warps = steady.issue_utilization;
    return 0;
}

int specialize_run(struct specialization *s, size_t events, struct arena *arena,
                   const atomic_bool *stop, struct err *err)
{
    if (async_build(s->id, &s->params, arena, &s->program, err) < 0 ||
        async_run(s->program, events, arena, stop, &s->run, err) < 0)
        return -1;
    s->has_formula = async_formula(s->id, &s->params, &s->formula);
    return run_as_warps(s, arena, stop, err);
}

/* ---- the call ---- */

static int read_device(const struct sweep *sweep, size_t i, struct session_device *out,
                       struct err *err)
{
    const char *name = sweep_text(sweep, i, "device");

    if (session_find_device(sweep->call->session, name, out, err) < 0)
        return call_fail(sweep->call, "device", err, ERR_NameError, "no device is called %s", name);
    out->is_gpu = false;
    return 0;
}

static bool has_loader(enum async_program_id id)
{
    return id == ASYNC_RING || id == ASYNC_DYNAMIC || id == ASYNC_ATTENTION ||
           id == ASYNC_BLACKWELL;
}

static int eval_waits(const struct call *call, struct scope *scope, const struct expr *expr,
                      const struct async_params *a, uint8_t *waits, struct err *err)
{
    struct local locals[] = { { "k", value_int(0) }, { "pipe", value_int(a->pipe) } };
    struct value v;
    bool holds;

    scope->locals = locals;
    scope->local_count = COUNT(locals);
    for (int k = 0; k < a->steps; k++) {
        locals[0].value = value_int(k);
        if ((k % 1024 == 0 && call_check_stop(call, err) < 0) ||
            expr_eval(scope, expr, &v, err) < 0 || expr_truth(scope, expr, &v, &holds, err) < 0)
            return -1;
        waits[k] = holds;
    }
    return 0;
}

/* "k >= pipe": evaluated for each step. */
static int read_waits(const struct sweep *sweep, size_t i, struct specialization *s,
                      struct arena *arena, struct err *err)
{
    const struct call *call = sweep->call;
    const struct arg *arg = call_arg(call, "wait_when");
    const char *text = sweep_text(sweep, i, "wait_when");
    struct lexer lexer;
    struct scope scope = { .session = call->session, .lexer = &lexer, .arena = arena };
    struct expr *expr;
    struct token rest;
    uint8_t *waits;

    if (!text)
        return 0;
    if (!has_loader(s->id)) {
        call_fail(call, "wait_when", err, ERR_UsageError,
                  "wait_when= says when a loader waits, and %s has no loader",
                  async_program_name(s->id));
        return err_next(err, "ring, dynamic, attention and blackwell have one");
    }
    waits = arena_array(arena, (size_t)s->params.steps, sizeof(*waits));
    if (!waits)
        return err_set(err, ERR_ResourceError, "out of memory");
    /* The text starts behind its quote: carets go there. */
    lexer_init(&lexer, (struct source){ bytes_of(text), arg->line, arg->column + 1 }, arena);
    if (expr_parse(&lexer, &expr, err) < 0 || lexer_peek(&lexer, &rest, err) < 0)
        return -1;
    if (rest.kind != TOKEN_END)
        return lexer_fail_at(&lexer, rest.start, rest.end, err, ERR_SyntaxError,
                             "%s stands behind the condition", token_show(&lexer, &rest));
    s->params.waits = waits;
    return eval_waits(call, &scope, expr, &s->params, waits, err);
}

static void read_params(const struct sweep *sweep, size_t i, struct specialization *s)
{
    bool has_plan = sweep_value(sweep, i, "plan") != NULL;

    s->id = (enum async_program_id)async_program_find(sweep_text(sweep, i, "program"));
    s->params = (struct async_params){
        .pipe = (int)sweep_int(sweep, i, "pipe"),
        .steps = (int)sweep_int(sweep, i, "steps"),
        .groups = (int)sweep_int(sweep, i, "groups"),
        .load = sweep_int(sweep, i, "load"),
        .tma = sweep_int(sweep, i, "tma"),
        .compute = sweep_int(sweep, i, "compute"),
        .softmax = sweep_int(sweep, i, "softmax"),
        .wake = sweep_int(sweep, i, "wake"),
        .plan = sweep_int(sweep, i, has_plan ? "plan" : "load"),
        .jitter = sweep_int(sweep, i, "jitter"),
        .fp = sweep_int(sweep, i, "fp"),
        .integer = sweep_int(sweep, i, "int"),
        .seed = (uint64_t)sweep_int(sweep, i, "seed"),
    };
}

/* A sweep keeps the numbers of a point: its memory ends with it. */
static int run_point(const struct sweep *sweep, size_t i, struct specialization *s, struct err *err)
{
    struct arena *own = sweep->key_count ? arena_new(0) : NULL;
    struct arena *arena = sweep->key_count ? own : sweep->call->arena;
    int rc = arena ? 0 : err_set(err, ERR_ResourceError, "out of memory");

    if (rc == 0)
        rc = read_device(sweep, i, &s->device, err);
    if (rc == 0) {
        read_params(sweep, i, s);
        rc = budget_read_tile(sweep, i, s, err);
    }
    if (rc == 0)
        rc = read_waits(sweep, i, s, arena, err);
    if (rc == 0)
        rc = specialize_run(s, sweep->key_count ? 0 : SPECIALIZE_EVENTS, arena,
                            call_stop(sweep->call), err);
    if (rc == 0)
        rc = budget_read_registers(sweep, i, s, err);
    if (own) {
        s->program = NULL;
        s->params.waits = NULL;
        s->run.events = NULL;
    }
    arena_free(&own);
    return rc;
}

static int run_all(const struct sweep *sweep, struct specialization *points, struct err *err)
{
    for (size_t i = 0; i < sweep->points; i++)
        if (call_check_stop(sweep->call, err) < 0 || run_point(sweep, i, &points[i], err) < 0)
            return call_fail(sweep->call, err->name == ERR_ValueError && !err->line ? "pipe" : NULL,
                             err, ERR_ValueError, "no such program");
    return 0;
}

static int show(struct result *result, const struct sweep *sweep, struct err *err)
{
    struct specialization *points = sweep_array(sweep, sizeof(*points), err);
    json_t *device;

    if (!points)
        return -1;
    if (run_all(sweep, points, err) < 0)
        return -1;
    device = session_device_json(&points->device);
    if (json_object_set_new(result->fields, "device", device) < 0)
        return err_set(err, ERR_ResourceError, "out of memory");
    return sweep->key_count ? specialize_show_sweep(result, sweep, points, err)
                            : specialize_show_one(result, sweep->call, points, err);
}

static bool is_conditions(const struct call *call)
{
    const struct arg *arg = call_arg(call, "program");

    return arg->count == 1 && !arg->is_sweep && strcmp(arg->values->text, "conditions") == 0;
}

static int check_words(const struct sweep *sweep, struct err *err)
{
    for (size_t i = 0; i < sweep->points; i++)
        if (async_program_find(sweep_text(sweep, i, "program")) < 0)
            return call_fail(sweep->call, "program", err, ERR_UsageError,
                             "conditions stands alone: it compares programs itself");
    return 0;
}

static bool some_program_uses(const struct call *call, const char *key)
{
    const struct arg *arg = call_arg(call, "program");

    for (size_t i = 0; i < arg->count; i++) {
        int id = async_program_find(arg->values[i].text);

        if (id >= 0 && async_program_uses((enum async_program_id)id, key))
            return true;
    }
    return false;
}

/* "attention-one, attention, blackwell": who uses a key. */
static const char *users_text(const struct call *call, const char *key)
{
    const char *text = "";

    for (int i = 0; i < ASYNC_PROGRAM_COUNT && text; i++)
        if (async_program_uses((enum async_program_id)i, key))
            text = arena_printf(call->arena, *text ? "%s, %s" : "%s%s", text,
                                async_program_name((enum async_program_id)i));
    return text ? text : "";
}

/* What does not act would read as if it did. */
static int check_keys(const struct call *call, struct err *err)
{
    static const char *const of_programs[] = { "pipe",   "load", "tma",     "compute",
                                               "groups", "wake", "softmax", "plan",
                                               "jitter", "fp",   "int" };
    static const char *const of_tiles[] = { "ktile", "acc", "rate" };
    bool has_tile = call_given(call, "tile");

    for (size_t i = 0; i < COUNT(of_programs); i++) {
        const char *key = of_programs[i];

        if (!call_given(call, key) || some_program_uses(call, key) ||
            (has_tile && strcmp(key, "groups") == 0))
            continue;
        call_fail(call, key, err, ERR_UsageError, "%s= does not act on %s", key,
                  call_arg(call, "program")->text ? call_arg(call, "program")->text : "ring");
        return err_next(err, "%s= is for %s", key, users_text(call, key));
    }
    for (size_t i = 0; i < COUNT(of_tiles) && !has_tile; i++)
        if (call_given(call, of_tiles[i]))
            return call_fail(call, of_tiles[i], err, ERR_UsageError,
                             "%s= is of a tile: it needs tile= beside it", of_tiles[i]);
    return 0;
}

static int run(struct call *call, struct err *err)
{
    struct result *result;
    struct sweep sweep;
    int rc;

    if (sweep_init(&sweep, call, err) < 0)
        return -1;
    if (!is_conditions(call) && (check_words(&sweep, err) < 0 || check_keys(call, err) < 0))
        return -1;
    result = result_new("specialize", 1);
    if (!result)
        return err_set(err, ERR_ResourceError, "out of memory");
    rc = is_conditions(call) ? specialize_show_conditions(result, call, err)
                             : show(result, &sweep, err);
    return call_finish(call, result, rc < 0, err);
}

/* ---- the row ---- */

#define X(id, name, help) name " "
#define PROGRAMS          ASYNC_PROGRAMS(X) "conditions"

static const struct param PARAMS[] = {
    { .name = "program",
      .type = PARAM_CHOICE,
      .flags = PARAM_POSITIONAL | PARAM_SWEEP,
      .preset = "ring",
      .choices = PROGRAMS,
      .help = "what runs; the list below says what each is" },
    { .name = "pipe",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP,
      .preset = "4",
      .min = 1,
      .max = ASYNC_MAX_PIPE,
      .help = "slots of the ring" },
    { .name = "load",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP,
      .preset = "8",
      .min = 0,
      .max = ASYNC_MAX_CYCLES,
      .help = "cycles from the start of a copy until its tile is there" },
    { .name = "compute",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP,
      .preset = "2",
      .min = 1,
      .max = ASYNC_MAX_CYCLES,
      .help = "cycles that a tile's MMA takes the tensor cores" },
    { .name = "steps",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP,
      .preset = "64",
      .min = 1,
      .max = ASYNC_MAX_STEPS,
      .help = "tiles, K / KTILE" },
    { .name = "wake",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP,
      .preset = "0",
      .min = 0,
      .max = ASYNC_MAX_CYCLES,
      .help = "cycles that a wait which blocked adds" },
    { .name = "tma",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP,
      .preset = "0",
      .min = 0,
      .max = ASYNC_MAX_CYCLES,
      .help = "cycles that a tile takes the copy engine: its bytes / the rate" },
    { .name = "softmax",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP,
      .preset = "2",
      .min = 0,
      .max = ASYNC_MAX_CYCLES,
      .help = "attention: cycles that a tile's softmax takes the ALUs" },
    { .name = "plan",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP,
      .min = 0,
      .max = ASYNC_MAX_CYCLES,
      .help = "static, dynamic: cycles of other work beside each load; else load=" },
    { .name = "jitter",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP,
      .preset = "0",
      .min = 0,
      .max = ASYNC_MAX_CYCLES,
      .help = "a load takes 0 to jitter cycles more, at random" },
    { .name = "seed",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP,
      .preset = "1",
      .help = "of the jitter: the same seed gives the same loads" },
    { .name = "fp",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP,
      .preset = "1",
      .min = 1,
      .max = 64,
      .help = "ffii, fifi: cycles between two instructions of the FP unit" },
    { .name = "int",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP,
      .preset = "2",
      .min = 1,
      .max = 64,
      .help = "ffii, fifi: cycles between two instructions of the INT unit" },
    { .name = "wait_when",
      .type = PARAM_TEXT,
      .flags = PARAM_SWEEP,
      .help = "at which steps the loader waits for its slot: \"k >= pipe\"" },
    { .name = "tile",
      .type = PARAM_DIM,
      .flags = PARAM_SWEEP,
      .min = 1,
      .max = 1024,
      .help = "of the output: (rows,columns) or one number; sets compute=" },
    { .name = "ktile",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP,
      .preset = "64",
      .min = 1,
      .max = 1024,
      .help = "K of one step, in half-precision elements" },
    { .name = "acc",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP,
      .preset = "32",
      .min = 16,
      .max = 32,
      .help = "bits of an accumulator: 16 or 32" },
    { .name = "groups",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP,
      .preset = "2",
      .min = 1,
      .max = 8,
      .help = "groups of 4 warps that share a tile's accumulators" },
    { .name = "rate",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP,
      .preset = "4096",
      .min = 1,
      .max = 1 << 20,
      .help = "FLOP a cycle of an SM's tensor cores: H100, FP16" },
    { .name = "regs",
      .type = PARAM_TEXT,
      .help = "setmaxnreg: registers a thread by role, \"loader=40 consumer=232\"" },
    { .name = "device",
      .type = PARAM_DEVICE,
      .flags = PARAM_SWEEP,
      .preset = "H200",
      .help = "whose registers and shared memory" },
};
#undef X

#define PROGRAM_LINE(id, name, help) name ": " help "\n"

static const struct field FIELDS[] = {
    { "busy", "0..1", "of the main engine (tensor cores, ALU, issue) in the steady state" },
    { "utilization", "0..1", "the same over the whole run, start and end included" },
    { "formula", "0..1", "busy in closed form; null: there is none" },
    { "as_warps", "0..1", "busy of a scheduler with pipe warps, issue=compute wait=load" },
    { "cycles", "cycles", "until the last role has ended" },
    { "works", "", "pieces of work of the main engine: MMAs" },
    { "idle_per_work", "cycles", "that it idles for each of them in the steady state: the bubble" },
    { "roles", "", "of each: name, warps, registers, end, working, waiting, blocked, code" },
    { "engines", "", "of each: name, busy_cycles, utilization" },
    { "overwritten", "", "tiles that were lost: how many" },
    { "overwrites", "",
      "of the first: slot, writer and reader (steps), written, read_from, until" },
    { "registers", "", "accumulators a thread, fits, groups_needed, total and limit" },
    { "shared", "bytes", "slot_bytes, ring_bytes, limit, most_slots; null without tile=" },
    { "events", "", "first stretches: from, to, role, engine, what, step, slot" },
    { "conditions", "", "%specialize conditions: off and on, one stream and roles" },
    { "sweep", "", "with ranges or lists: one entry a point" },
};

const struct magic MAGIC_SPECIALIZE = {
    .name = "specialize",
    .summary = "warps with roles: rings of tiles, waits, registers, and when it pays",
    .about =
        "A role is a program of its own warps. It starts work on an engine (TMA, tensor cores) and "
        "goes on, works itself, or waits for a token: full[k], empty[k]. Programs:\n" ASYNC_PROGRAMS(
            PROGRAM_LINE) "conditions: the three conditions under which roles pay, each off and on\n\n"
                          "A ring of pipe slots that take `load` to fill and `compute` to use keeps the tensor "
                          "cores busy min(1, pipe * compute / (load + compute)): the curve of %simulate, with slots "
                          "for warps. tile= sets compute from rate=, and the registers and bytes that it takes.\n\n"
                          "A TMA copy and an MMA are started in no time; what their instructions cost is part of "
                          "wake=. Left out: clusters, and that engines run at other clocks under load.",
    .example = "%specialize pipe=4 load=8 compute=2\n"
               "%specialize pipe=1..8 load=8 compute=2\n"
               "%specialize program=[v1,v2,ring] load=700 compute=1000 wake=207\n"
               "%specialize pipe=4 wait_when=\"k > pipe\"\n"
               "%specialize tile=256 acc=16 groups=1 load=800\n"
               "%specialize conditions",
    .params = PARAMS,
    .param_count = COUNT(PARAMS),
    .fields = FIELDS,
    .field_count = COUNT(FIELDS),
    .run = run,
};
