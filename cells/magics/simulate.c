/*
 * %simulate: warps that issue and wait, cycle by cycle. The machine is
 * model/scheduler.c's; here a call becomes patterns, and what they settle into
 * becomes fields. What a person reads is in simulate_view.c (one pattern) and
 * simulate_sweep.c (ranges and lists).
 */
#include "cells/magics/simulate.h"

#include "cells/internal.h"
#include "cells/magics.h"
#include "cells/render/text.h"

enum {
    MOST_CELLS = 1000000, /* warps * cycles of one timeline */
};

const char *simulate_percent(struct result *result, double fraction)
{
    char text[TEXT_NUMBER];

    return result_text(result, "%s", text_percent(text, fraction));
}

/* Runs pattern and cycles; what it fills lives in the arena. stop may be NULL. */
static int simulation_run(struct simulation *s, struct arena *arena, const atomic_bool *stop,
                          struct err *err)
{
    if (scheduler_timeline(&s->pattern, s->cycles, arena, &s->timeline, err) < 0)
        return -1;
    return scheduler_steady(&s->pattern, arena, &s->steady, stop, err);
}

/* ---- the call ---- */

int simulate_optional(const struct sweep *sweep, size_t i, const char *name, int preset)
{
    return call_given(sweep->call, name) ? (int)sweep_int(sweep, i, name) : preset;
}

static int read_pattern(const struct sweep *sweep, size_t i, struct simulation *s, struct err *err)
{
    s->pattern = (struct pattern){
        .warps = (int)sweep_int(sweep, i, "warps"),
        .issue = (int)sweep_int(sweep, i, "issue") * simulate_optional(sweep, i, "ilp", 1),
        .wait = (int)sweep_int(sweep, i, "wait"),
        .schedulers = (int)sweep_int(sweep, i, "schedulers"),
        .policy = (enum scheduler_policy)scheduler_policy_find(sweep_text(sweep, i, "policy")),
        .jitter = (int)sweep_int(sweep, i, "jitter"),
        .seed = (uint64_t)sweep_int(sweep, i, "seed"),
        .switch_cost = simulate_optional(sweep, i, "switch_cost", 0),
    };
    s->cycles = (int)sweep_int(sweep, i, "cycles");
    if ((int64_t)s->pattern.warps * s->cycles > MOST_CELLS)
        return call_fail(sweep->call, "cycles", err, ERR_ValueError,
                         "warps=%d cycles=%d: a timeline has at most %d cells (warps x cycles)",
                         s->pattern.warps, s->cycles, MOST_CELLS);
    return 0;
}

static int run_core_point(const struct sweep *sweep, size_t i, struct simulation *s,
                          struct arena *arena, struct err *err)
{
    struct core_simulation *c = arena_alloc(arena, sizeof *c);

    if (!c)
        return err_set(err, ERR_ResourceError, "out of memory");
    return simulate_core_run(sweep, i, c, s, arena, err);
}

/* A sweep keeps of each point the numbers, not the timeline: its arena ends with it. */
static int run_point(const struct sweep *sweep, size_t i, struct simulation *s, struct err *err)
{
    struct arena *arena = arena_new(0);
    int rc;

    if (!arena)
        return err_set(err, ERR_ResourceError, "out of memory");
    if (simulate_is_core(sweep->call))
        rc = run_core_point(sweep, i, s, arena, err);
    else
        rc = simulation_run(s, arena, call_stop(sweep->call), err);
    s->steady.warp_issued = NULL;
    s->timeline = (struct timeline){ .cycles = s->cycles, .issued = s->timeline.issued };
    s->core = NULL;
    arena_free(&arena);
    return rc;
}

/* Frames are drawn from their timelines, which stay as long as the cell. */
static int run_kept(const struct sweep *sweep, size_t i, struct simulation *s, struct err *err)
{
    if (simulate_is_core(sweep->call))
        return run_core_point(sweep, i, s, sweep->call->arena, err);
    return simulation_run(s, sweep->call->arena, call_stop(sweep->call), err);
}

static int run_all(const struct sweep *sweep, struct simulation *simulations, bool keeps_timelines,
                   struct err *err)
{
    for (size_t i = 0; i < sweep->points; i++) {
        int rc = simulate_is_core(sweep->call) ? 0 : read_pattern(sweep, i, &simulations[i], err);

        if (rc == 0)
            rc = keeps_timelines ? run_kept(sweep, i, &simulations[i], err)
                                 : run_point(sweep, i, &simulations[i], err);
        if (rc < 0 || call_check_stop(sweep->call, err) < 0)
            return call_fail(sweep->call, NULL, err, ERR_ValueError, "no such pattern");
    }
    return 0;
}

/* The numbers are the model's, whatever the session's device is. */
static int set_device(const struct call *call, struct result *result, struct err *err)
{
    struct session_device device = *session_device(call->session);

    device.is_gpu = false;
    if (json_object_set_new(result->fields, "device", session_device_json(&device)) < 0)
        return err_set(err, ERR_ResourceError, "out of memory");
    return 0;
}

enum { MOST_FRAMES = 64 };

static int check_frames(const struct sweep *sweep, struct err *err)
{
    if (!call_bool(sweep->call, "frames"))
        return 0;
    if (sweep->key_count != 1)
        return call_fail(sweep->call, "frames", err, ERR_UsageError,
                         "frames=yes needs one key with a range or list, such as warps=1..12");
    if (sweep->points > MOST_FRAMES)
        return call_fail(sweep->call, "frames", err, ERR_ValueError,
                         "%zu frames: a slider has at most %d", sweep->points, MOST_FRAMES);
    return 0;
}

/* What does not act on the core layer is no input of its result. */
static int set_core_input(struct result *result, const struct call *call,
                          const struct session_device *device, struct err *err)
{
    json_t *input = call_bool(call, "frames")
                        ? json_pack("{s:n, s:n}", "issue", "wait")
                        : json_pack("{s:n, s:n, s:n}", "issue", "wait", "frames");

    if (json_object_set_new(result->fields, "input", input) < 0 ||
        (device && json_object_set_new(result->fields, "device", session_device_json(device)) < 0))
        return err_set(err, ERR_ResourceError, "out of memory");
    return 0;
}

/* One run of the core layer, with its timeline. */
static int run_core(struct call *call, const struct sweep *sweep, struct err *err)
{
    struct core_simulation *c = arena_alloc(call->arena, sizeof *c);
    struct simulation s;
    struct result *result;

    if (!c)
        return err_set(err, ERR_ResourceError, "out of memory");
    if (simulate_core_run(sweep, 0, c, &s, call->arena, err) < 0)
        return call_fail(call, NULL, err, ERR_ValueError, "no such body");
    result = result_new("simulate", 1);
    if (!result)
        return err_set(err, ERR_ResourceError, "out of memory");
    return call_finish(call, result,
                       set_core_input(result, call, &c->device, err) < 0 ||
                           simulate_show_core(result, call, c, &s, err) < 0,
                       err);
}

static int run(struct call *call, struct err *err)
{
    struct simulation *simulations;
    struct result *result;
    struct sweep sweep;
    int rc;

    if (simulate_check_layer(call, err) < 0 || sweep_init(&sweep, call, err) < 0 ||
        check_frames(&sweep, err) < 0)
        return -1;
    if (simulate_is_core(call) && !sweep.key_count)
        return run_core(call, &sweep, err);
    simulations = sweep_array(&sweep, sizeof(*simulations), err);
    if (!simulations)
        return -1;
    if (run_all(&sweep, simulations, !sweep.key_count || call_bool(call, "frames"), err) < 0)
        return -1;
    result = result_new("simulate", 1);
    if (!result)
        return err_set(err, ERR_ResourceError, "out of memory");
    rc = set_device(call, result, err);
    if (rc == 0 && simulate_is_core(call))
        rc = set_core_input(result, call, NULL, err);
    if (rc == 0)
        rc = sweep.key_count ? simulate_show_sweep(result, &sweep, simulations, err)
                             : simulate_show_one(result, call, simulations, err);
    return call_finish(call, result, rc < 0, err);
}

/* ---- the row ---- */

#define X(id, name, help) name " "
#define POLICIES          SCHEDULER_POLICIES(X)
static const struct param PARAMS[] = {
    { .name = "warps",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP,
      .preset = "5",
      .min = 1,
      .max = PATTERN_MAX_WARPS,
      .help = "warps, all schedulers together" },
    { .name = "issue",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP,
      .preset = "2",
      .min = 1,
      .max = PATTERN_MAX_ISSUE,
      .help = "instructions that a warp issues before it waits" },
    { .name = "wait",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP,
      .preset = "8",
      .min = 0,
      .max = PATTERN_MAX_WAIT,
      .help = "cycles that it then waits" },
    { .name = "schedulers",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP,
      .preset = "1",
      .min = 1,
      .max = PATTERN_MAX_SCHEDULERS,
      .help = "warp schedulers; warp w belongs to scheduler w mod schedulers" },
    { .name = "policy",
      .type = PARAM_CHOICE,
      .flags = PARAM_SWEEP,
      .preset = "gto",
      .choices = POLICIES,
      .help = "which eligible warp is issued" },
    { .name = "jitter",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP,
      .preset = "0",
      .min = 0,
      .max = PATTERN_MAX_WAIT,
      .help = "a wait is longer by 0 to jitter cycles, at random" },
    { .name = "seed",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP,
      .preset = "1",
      .help = "of the jitter: the same seed gives the same waits" },
    { .name = "ilp",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP | PARAM_OPTIONAL,
      .min = 1,
      .max = BODY_MAX_ILP,
      .help = "independent chains of a warp: every instruction is there so many times (1)" },
    { .name = "switch_cost",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP | PARAM_OPTIONAL,
      .min = 0,
      .max = PATTERN_MAX_SWITCH,
      .help = "cycles that a scheduler loses when it takes another warp; a GPU: 0" },
    { .name = "body",
      .type = PARAM_TEXT,
      .flags = PARAM_SWEEP | PARAM_OPTIONAL,
      .help = "core layer: what each warp repeats, \"fma*8; ldg hit=l1; use\"" },
    { .name = "mix",
      .type = PARAM_TEXT,
      .flags = PARAM_SWEEP | PARAM_OPTIONAL,
      .help = "core layer: shares, \"fma=60% iadd=30% ldg.l2=10%\", each needs the one before" },
    { .name = "kernel",
      .type = PARAM_NAME,
      .flags = PARAM_POSITIONAL | PARAM_OPTIONAL,
      .help = "core layer: a kernel of this session, its code without running it" },
    { .name = "device",
      .type = PARAM_DEVICE,
      .flags = PARAM_SWEEP,
      .help = "core layer: whose units and latencies; else the session's device" },
    { .name = "order",
      .type = PARAM_CHOICE,
      .flags = PARAM_SWEEP | PARAM_OPTIONAL,
      .choices = "in out",
      .help = "core layer: in, as GPUs issue, or out of order, as CPUs do (in)" },
    { .name = "window",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP | PARAM_OPTIONAL,
      .min = 1,
      .max = CORE_MAX_WINDOW,
      .help = "core layer: instructions that order=out looks ahead (16)" },
    { .name = "paths",
      .type = PARAM_CHOICE,
      .flags = PARAM_SWEEP | PARAM_OPTIONAL,
      .choices = "its stack",
      .help = "core layer: paths of a warp in turns, or one after the other (its)" },
    { .name = "block",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP | PARAM_OPTIONAL,
      .min = 1,
      .max = 1024,
      .help = "core layer: threads that meet at a barrier (all; of a kernel 256)" },
    { .name = "hit",
      .type = PARAM_CHOICE,
      .flags = PARAM_SWEEP | PARAM_OPTIONAL,
      .choices = "l1 l2 far dram",
      .help = "kernel: where its global accesses find their data (dram)" },
    { .name = "trips",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP | PARAM_OPTIONAL,
      .min = 1,
      .max = 10000,
      .help = "kernel: how often its loops go round (16)" },
    { .name = "cycles",
      .type = PARAM_INT,
      .preset = "60",
      .min = 1,
      .max = PATTERN_MAX_CYCLES,
      .help = "cycles of the timeline, from the start" },
    { .name = "frames",
      .type = PARAM_BOOL,
      .preset = "no",
      .help = "yes: a slider over the swept key, one Gantt chart a value" },
};
#undef X

#define POLICY_LINE(id, name, help) name ": " help "\n"

static const struct field FIELDS[] = {
    { "issue_utilization", "0..1", "cycles in which a scheduler issues, in the steady state" },
    { "period", "cycles", "after which the steady state repeats; null with jitter" },
    { "warmup", "cycles", "before the first state that repeats" },
    { "issued", "instructions", "issued in cycles 0..cycles-1, all schedulers" },
    { "warp_states.selected", "warps", "mean per scheduler: issues in this cycle" },
    { "warp_states.not_selected", "warps", "mean: could issue, another one was chosen" },
    { "warp_states.stalled", "warps", "mean: waits" },
    { "warp_states.eligible", "warps", "mean: selected + not selected" },
    { "per_warp", "", "of each warp: issued (in the timeline), per_period, starved" },
    { "timeline", "", "issuer (warp or -1) per scheduler and cycle; states (# . -) per warp" },
    { "sweep", "", "with ranges or lists: one entry a point" },
    { "layer", "", "core: body=, mix= or a kernel was run; the fields below are its own" },
    { "scheduler", "",
      "Nsight Compute's numbers: one_or_more_eligible + no_eligible = 1, issued_per_scheduler, "
      "active_warps, eligible_warps, warp_cycles_per_issued = active / issued" },
    { "stalls_per_issue", "cycles", "of a warp, by state; they sum to warp_cycles_per_issued" },
    { "units", "0..1", "share of cycles in which a unit is taken by an instruction" },
    { "memory", "bytes/cycle", "that came from each level; passes a cycle of shared memory" },
    { "round_instructions", "instructions", "of a warp in one round of the body" },
    { "round_cycles", "cycles", "that a warp takes for a round, on average; null: no round ended" },
    { "lane_efficiency", "0..1", "active lanes / (32 * instructions)" },
    { "ipc", "instructions/cycle", "of all schedulers simulated" },
};

const struct magic MAGIC_SIMULATE = {
    .name = "simulate",
    .summary = "warps that issue and wait: how busy the scheduler is, cycle by cycle",
    .about =
        "Each warp repeats: `issue` instructions, then a wait of `wait` cycles. Each cycle each "
        "scheduler issues one instruction of one eligible warp, or idles. Policies, gto being the "
        "default:\n" SCHEDULER_POLICIES(
            POLICY_LINE) "\n"
                         "The steady state is exact: the scheduler's state recurs, and the numbers are those of "
                         "one period. With jitter waits are random and nothing recurs: the numbers are counted "
                         "over 131,072 cycles.\n\n"
                         "With body=, mix= or a kernel warps run instructions on the schedulers, units and "
                         "memory of a device (the core layer), as many as it holds; schedulers=4 is a whole SM. "
                         "A body is instructions with ';' between them: fma iadd imul hfma2 dfma mufu div shfl "
                         "lds sts ldg stg ldl stl atom bar bra mma, each with *n and keys: dep=d (needs the result "
                         "of the d-th before), hit=l1|l2|far|dram, bytes= stride= sectors= (of a load or store), "
                         "conflict= (of lds, sts), lanes= mask= lat=. `use` needs what the last load brings, use=2 "
                         "the load before. Groups: (A)*16 and, by lane, (A)*4..8; if lanes=24 (A) else (B); "
                         "split=8 (A). Without dep and use instructions are independent.",
    .example = "%simulate warps=5 issue=2 wait=8\n"
               "%simulate body=\"fma*8; ldg hit=l1; use\" warps=6\n"
               "%simulate body=\"fp*2; int*2\" warps=1 order=[in,out] device=[A100,H200]\n"
               "%simulate body=\"ldg hit=dram; use\" warps=1..12 ilp=[1,4]\n"
               "%simulate warps=1..12 policy=[gto,lrr]\n"
               "%simulate warps=1..8 frames=yes",
    .params = PARAMS,
    .param_count = COUNT(PARAMS),
    .fields = FIELDS,
    .field_count = COUNT(FIELDS),
    .run = run,
};
