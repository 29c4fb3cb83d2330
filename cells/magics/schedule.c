/*
 * %schedule: which block of a launch runs on which SM, and when. The rules are
 * model/grid.c's; here a call becomes launches: how many blocks an SM holds is
 * asked from model/occupancy.c, what a block costs is read in schedule_cost.c.
 * What a person reads is in schedule_view.c (one launch) and schedule_sweep.c
 * (ranges and lists).
 */
#include "cells/magics/schedule.h"

#include "cells/internal.h"
#include "cells/magics.h"
#include "cells/magics/occupancy.h"
#include "cells/render/text.h"

/* A device of the call, and the kernel as compiled for it. */
struct target {
    struct session_device device;
    struct cuda_kernel kernel;
};

const char *schedule_count(struct result *result, int64_t v)
{
    char text[TEXT_NUMBER];

    return result_text(result, "%s", text_number(text, (double)v));
}

const char *schedule_percent(struct result *result, double fraction)
{
    char text[TEXT_NUMBER];

    return result_text(result, "%s", text_percent(text, fraction));
}

double schedule_time_us(const struct schedule *s, int64_t cycles)
{
    int mhz = s->device.device.clock_mhz;

    return mhz ? (double)cycles / mhz : 0;
}

const char *schedule_time(struct result *result, const struct schedule *s, int64_t cycles)
{
    char text[TEXT_NUMBER];

    if (!s->device.device.clock_mhz)
        return "";
    return result_text(result, " = %s us", text_number(text, schedule_time_us(s, cycles)));
}

/* ---- the call ---- */

static int read_target(const struct call *call, const char *name, struct target *out,
                       struct err *err)
{
    const char *kernel = call_text(call, "kernel");

    if (!name)
        out->device = *session_device(call->session);
    else if (session_find_device(call->session, name, &out->device, err) < 0)
        return call_fail(call, "device", err, ERR_NameError, "no device is called %s", name);
    if (kernel &&
        cuda_kernel_resources(call->session, kernel, &out->device.device, &out->kernel, err) < 0)
        return call_fail(call, "kernel", err, ERR_NameError, "no kernel is called %s", kernel);
    return 0;
}

/* One for each value of device=, so that nothing is looked up or compiled twice. */
static int read_targets(const struct call *call, struct target **out, struct err *err)
{
    const struct arg *arg = call_arg(call, "device");
    size_t n = arg->count ? arg->count : 1;

    *out = arena_array(call->arena, n, sizeof(**out));
    if (!*out)
        return err_set(err, ERR_ResourceError, "out of memory");
    for (size_t i = 0; i < n; i++)
        if (read_target(call, arg->count ? arg->values[i].text : NULL, &(*out)[i], err) < 0)
            return -1;
    return 0;
}

/* A number, or all of a dimension (x,y,z): at most `most`. */
static int read_product(const struct sweep *sweep, size_t i, const char *name, int64_t most,
                        const char *what, int64_t *out, struct err *err)
{
    const struct value *v = sweep_value(sweep, i, name);

    *out = v->type == VALUE_INT ? v->i : 1;
    if (v->type == VALUE_DIM && (__builtin_mul_overflow(v->dim.x, v->dim.y, out) ||
                                 __builtin_mul_overflow(*out, v->dim.z, out)))
        *out = INT64_MAX;
    if (*out <= most)
        return 0;
    return call_fail(sweep->call, name, err, ERR_ValueError, "%s=%s: %s has 1 to %lld", name,
                     call_arg(sweep->call, name)->text, what, (long long)most);
}

static int read_shape(const struct sweep *sweep, size_t i, const struct target *target,
                      struct schedule *s, struct err *err)
{
    const struct call *call = sweep->call;
    bool has_kernel = call_text(call, "kernel") != NULL;
    int64_t block;

    if (read_product(sweep, i, "block", 1024, "a block", &block, err) < 0)
        return -1;
    s->shape = (struct launch_shape){
        .block = (int)block,
        .regs = has_kernel && !call_given(call, "regs") ? target->kernel.registers
                                                        : (int)sweep_int(sweep, i, "regs"),
        .static_bytes = has_kernel && !call_given(call, "static") ? target->kernel.static_bytes
                                                                  : sweep_int(sweep, i, "static"),
        .dynamic_bytes = sweep_int(sweep, i, "dynamic"),
        .carveout = OCCUPANCY_DEFAULT_CARVEOUT,
    };
    return 0;
}

/* How many blocks an SM holds: as asked, or what its resources allow. */
static int read_per_sm(const struct sweep *sweep, size_t i, struct schedule *s, struct err *err)
{
    struct occupancy_point point = { .device = s->device, .shape = s->shape };
    struct result *texts;

    s->grid.per_sm = (int)sweep_int(sweep, i, "per_sm");
    if (s->grid.per_sm)
        return 0;
    if (occupancy_point_eval(&point, err) < 0)
        return -1;
    s->occ = point.occ;
    s->shape = point.shape;
    s->grid.per_sm = point.occ.active_blocks;
    if (s->grid.per_sm)
        return 0;
    texts = result_new("schedule", 1);
    call_fail(sweep->call, "block", err, ERR_LaunchError,
              "no block of %d threads with %d registers a thread and %lld shared bytes fits on an "
              "SM of %s: limit %s",
              s->shape.block, s->shape.regs,
              (long long)(s->shape.static_bytes + s->shape.dynamic_bytes), s->device.device.name,
              texts ? occupancy_limiters_text(texts, &point.occ) : "");
    result_release(&texts);
    return err_next(err, "%%occupancy with the same keys says what would make it fit");
}

static int read_sms(const struct sweep *sweep, size_t i, struct schedule *s, struct err *err)
{
    s->grid.sms = (int)sweep_int(sweep, i, "sms");
    if (!s->grid.sms)
        s->grid.sms = s->device.device.sms;
    if (s->grid.sms)
        return 0;
    call_fail(sweep->call, "device", err, ERR_ValueError,
              "%s has no number of SMs: a compute capability alone does not fix it",
              s->device.device.name);
    return err_next(err, "add sms=132, or name a product: device=H200");
}

/* ---- one launch ---- */

/* start= and launch= take cycles, or the word device. */
static int read_overheads(const struct sweep *sweep, size_t i, struct schedule *s, struct err *err)
{
    static const char *const keys[] = { "start", "launch" };
    struct grid device = { 0 };
    bool has_clock = grid_add_overheads(&s->device.device, &device);

    s->grid.start = sweep_int(sweep, i, "start");
    s->grid.launch = sweep_int(sweep, i, "launch");
    /* Beside a card's blocks, which pay for their starts, the model's pay, too. */
    if (sweep_text(sweep, i, "start") || (s->is_on_card && !call_given(sweep->call, "start"))) {
        s->grid.start = device.start;
        s->grid.start_interval = device.start_interval;
    }
    if (!sweep_text(sweep, i, "launch"))
        return 0;
    s->grid.launch = device.launch;
    if (has_clock)
        return 0;
    return call_fail(sweep->call, keys[1], err, ERR_ValueError,
                     "launch=device: the clock of %s is unknown, so its launch has no cycles",
                     s->device.device.name);
}

static int read_point(const struct sweep *sweep, const struct target *targets, size_t i,
                      struct schedule *s, struct arena *arena, struct err *err)
{
    int device_key = sweep_find(sweep, "device");
    const struct target *target =
        &targets[device_key < 0 ? 0 : sweep_index(sweep, i, (size_t)device_key)];

    s->device = target->device;
    /* A card that is the session's device lends its limits alone: a model is quicker to ask. */
    s->is_on_card = s->device.is_gpu && call_given(sweep->call, "device") && !sweep->key_count;
    s->device.is_gpu = false; /* its limits; the times are the model's */
    s->grid.jitter = sweep_int(sweep, i, "jitter");
    s->grid.seed = (uint64_t)sweep_int(sweep, i, "seed");
    if (read_product(sweep, i, "grid", GRID_MAX_BLOCKS, "a grid that is run block by block",
                     &s->grid.blocks, err) < 0 ||
        read_shape(sweep, i, target, s, err) < 0 || read_sms(sweep, i, s, err) < 0 ||
        read_per_sm(sweep, i, s, err) < 0 || schedule_read_cost(sweep, i, &s->grid, arena, err) < 0)
        return -1;
    return read_overheads(sweep, i, s, err);
}

/* A sweep keeps the numbers of a point; its memory ends with it. */
static int run_point(const struct sweep *sweep, const struct target *targets, size_t i,
                     struct schedule *s, struct err *err)
{
    struct arena *own = sweep->key_count ? arena_new(0) : NULL;
    struct arena *arena = sweep->key_count ? own : sweep->call->arena;
    int rc;

    if (!arena)
        return err_set(err, ERR_ResourceError, "out of memory");
    rc = read_point(sweep, targets, i, s, arena, err);
    if (rc == 0)
        rc = grid_run(&s->grid, NULL, NULL, arena, call_stop(sweep->call), &s->run, err);
    if (rc == 0)
        s->waves = grid_waves_of(&s->grid);
    if (own)
        s->grid.costs = NULL;
    arena_free(&own);
    return rc;
}

static int run_all(const struct sweep *sweep, struct schedule *schedules, struct err *err)
{
    struct target *targets;

    if (read_targets(sweep->call, &targets, err) < 0)
        return -1;
    for (size_t i = 0; i < sweep->points; i++)
        if (call_check_stop(sweep->call, err) < 0 ||
            run_point(sweep, targets, i, &schedules[i], err) < 0)
            return call_fail(sweep->call, NULL, err, ERR_ValueError, "no such launch");
    return 0;
}

/* ---- where it comes from ---- */

/* Keys that do not act in this call, or are said elsewhere. */
static const char *skipped_keys(const struct call *call, struct result *result)
{
    const char *compiled = call_text(call, "kernel") ? " regs static" : "";
    const char *shape = call_given(call, "per_sm") ? " block regs static dynamic" : "";
    const char *random = call_given(call, "jitter") ? "" : " jitter seed";
    const char *start = call_given(call, "start") ? "" : " start";
    const char *launch = call_given(call, "launch") ? "" : " launch";

    return result_text(result, "kernel device%s%s%s%s%s", compiled, shape, random, start, launch);
}

static const char *origin_text(const struct call *call, struct result *result,
                               const struct sweep *sweep, const struct schedule *s)
{
    const char *kernel = call_text(call, "kernel");
    struct session_device device = s->device;
    const char *who;
    int k = sweep_find(sweep, "device");

    device.is_gpu = s->is_on_card;
    who = occupancy_device_text(result, &device);
    if (k >= 0)
        who = result_text(result, "%zu devices (model)", sweep->keys[k].arg->count);
    if (kernel)
        who = result_text(result, "%s  %s: regs=%d static=%lld", who, kernel, s->shape.regs,
                          (long long)s->shape.static_bytes);
    return result_text(result, "%s  %s", who,
                       call_parameters_text(call, skipped_keys(call, result)));
}

/* The one launch of a call: on the card, too, when that was asked for. */
static int show_one(struct call *call, struct result *result, const struct schedule *s,
                    const char *origin, struct err *err)
{
    struct schedule *both;

    if (!s->is_on_card)
        return schedule_show_one(result, call, s, origin, err);
    both = arena_array(call->arena, 2, sizeof(*both));
    if (!both)
        return err_set(err, ERR_ResourceError, "out of memory");
    if (schedule_measure(call, s, &both[0], &both[1], err) < 0)
        return call_fail(call, "device", err, ERR_DeviceError, "no timeline");
    return schedule_show_measured(result, call, &both[0], &both[1], origin, err);
}

static int show(struct call *call, struct result *result, const struct sweep *sweep,
                const struct schedule *schedules, struct err *err)
{
    const char *origin = origin_text(call, result, sweep, schedules);
    struct session_device device = schedules->device;

    device.is_gpu = schedules->is_on_card;
    if (json_object_set_new(result->fields, "device", session_device_json(&device)) < 0)
        return err_set(err, ERR_ResourceError, "out of memory");
    return sweep->key_count ? schedule_show_sweep(result, sweep, schedules, origin, err)
                            : show_one(call, result, schedules, origin, err);
}

static int run(struct call *call, struct err *err)
{
    struct schedule *schedules;
    struct result *result;
    struct sweep sweep;

    schedules = sweep_start(&sweep, call, sizeof(*schedules), err);
    if (!schedules || run_all(&sweep, schedules, err) < 0)
        return -1;
    result = result_new("schedule", 1);
    if (!result)
        return err_set(err, ERR_ResourceError, "out of memory");
    return call_finish(call, result, show(call, result, &sweep, schedules, err) < 0, err);
}

/* ---- the row ---- */

static const struct param PARAMS[] = {
    { .name = "kernel",
      .type = PARAM_NAME,
      .flags = PARAM_POSITIONAL,
      .help = "a kernel of this session: its registers and static shared memory" },
    { .name = "grid",
      .type = PARAM_DIM,
      .flags = PARAM_SWEEP,
      .preset = "1000",
      .min = 1,
      .max = GRID_MAX_BLOCKS,
      .help = "blocks of the launch: a number or (x,y,z)" },
    { .name = "block",
      .type = PARAM_DIM,
      .flags = PARAM_SWEEP,
      .preset = "256",
      .min = 1,
      .max = 1024,
      .help = "threads a block: a number or (x,y,z)" },
    { .name = "cost",
      .type = PARAM_VALUE,
      .flags = PARAM_SWEEP,
      .preset = "1000",
      .help = "cycles of a block: a number, or \"an expression in its number i\"" },
    { .name = "device",
      .type = PARAM_DEVICE,
      .flags = PARAM_SWEEP,
      .help = "whose SMs and limits: L40S, H200, toy; gpu measures; else the session's" },
    { .name = "sms",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP,
      .min = 1,
      .max = GRID_MAX_SMS,
      .help = "SMs; else the device's" },
    { .name = "per_sm",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP,
      .min = 1,
      .max = GRID_MAX_PER_SM,
      .help = "blocks that an SM holds; else what block, regs and shared bytes allow" },
    { .name = "regs",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP,
      .preset = "32",
      .min = 0,
      .max = 255,
      .help = "registers a thread; 0: no limit" },
    { .name = "static",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP,
      .preset = "0",
      .min = 0,
      .max = 1 << 30,
      .help = "bytes of static shared memory a block" },
    { .name = "dynamic",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP,
      .preset = "0",
      .min = 0,
      .max = 1 << 30,
      .help = "bytes of dynamic shared memory a block" },
    { .name = "jitter",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP,
      .preset = "0",
      .min = 0,
      .max = GRID_MAX_CYCLES,
      .help = "a block takes 0 to jitter cycles more, at random" },
    { .name = "seed",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP,
      .preset = "1",
      .help = "of the jitter: the same seed gives the same costs" },
    { .name = "start",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP,
      .preset = "0",
      .min = 0,
      .max = GRID_MAX_CYCLES,
      .choices = "device",
      .help = "cycles from a block's place to its first work; device: as calibrated" },
    { .name = "launch",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP,
      .preset = "0",
      .min = 0,
      .max = GRID_MAX_CYCLES,
      .choices = "device",
      .help = "cycles before the first block starts; device: as calibrated" },
};

static const struct field FIELDS[] = {
    { "blocks", "blocks", "of the grid" },
    { "sms", "", "SMs that run them" },
    { "blocks_per_sm", "blocks/SM", "blocks that one SM holds at once" },
    { "places", "blocks",
      "sms * blocks_per_sm: resident at once, the most of a cooperative launch" },
    { "waves", "", "blocks / places" },
    { "full_waves", "", "whole waves" },
    { "partial_blocks", "blocks", "of the last, partial wave; 0: there is none" },
    { "tail_efficiency", "0..1", "waves / ceil(waves): with equal blocks and free starts" },
    { "cycles", "cycles", "from the launch to the end of the last block" },
    { "time_us", "us", "cycles at the device's clock; null: the clock is unknown" },
    { "efficiency", "0..1", "work of all blocks / cycles of all places" },
    { "sm_busy", "0..1", "cycles in which an SM holds a block, mean over the SMs" },
    { "work", "cycles", "of all blocks together" },
    { "tail", "", "cycles with an empty place; share of the partial wave; warns as Nsight does" },
    { "occupancy", "0..1", "of an SM that is full; null with per_sm=" },
    { "timeline", "",
      "first blocks: block, sm, slot, start, end; SMs that did the same; resident" },
    { "measured", "",
      "device=gpu: cycles, time_us, efficiency, sm_busy, tail, clock_mhz, sms_used, replace_cycles, "
      "strangers; the fields above are then the card's, too; else null" },
    { "modelled", "", "cycles, time_us, efficiency, sm_busy, tail: the model's, whatever else" },
    { "sweep", "", "with ranges or lists: one entry a point" },
};

const struct magic MAGIC_SCHEDULE = {
    .name = "schedule",
    .summary = "blocks on SMs: waves, the tail, and who runs where",
    .about =
        "A launch is a list of blocks. Each goes whole to the SM with most free room (ties to the "
        "lowest id) and stays there; when it ends the next one takes its place at once, so a wave "
        "is a way to count and nothing waits for its end. The last, partial wave leaves places "
        "empty: efficiency = waves / ceil(waves) where all blocks take the same time.\n\n"
        "A block takes `cost` cycles, whatever runs beside it; cost=\"expression in i\" gives each "
        "block its own (costs[i] reads a buffer), jitter= adds random cycles. start=device and "
        "launch=device add what starting costs, as calibrated on an H200.\n\n"
        "device=gpu, written in the line, runs the launch on the card as well: blocks that wait for "
        "their cost and write their SM (%smid) and their times. As many fit on an SM as in the "
        "model, by their shared memory. Measured and modelled stand side by side, from the first "
        "block's start on; the model's blocks then pay start=device.\n\n"
        "Sources: Gilman et al. 2020 (placement); Nsight Compute's rule of the tail effect: a whole "
        "wave and a share 1 / (1 + full waves) of 20 % and more.",
    .example = "%schedule grid=1000 block=256\n"
               "%schedule grid=1..532 device=H200 per_sm=1\n"
               "%schedule grid=264 sms=[2,4,132] per_sm=1\n"
               "%schedule grid=40 sms=4 per_sm=2 cost=\"1000 + 500 * (i % 3)\"",
    .params = PARAMS,
    .param_count = COUNT(PARAMS),
    .fields = FIELDS,
    .field_count = COUNT(FIELDS),
    .run = run,
};
