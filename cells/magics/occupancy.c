/*
 * %occupancy: how many warps of a launch fit on an SM, what limits them, and
 * what would lift the limit. The arithmetic is model/occupancy.c's; here a call
 * becomes points, and points become fields. What a person reads is in
 * occupancy_view.c (one point) and occupancy_sweep.c (ranges and lists).
 */
#include "cells/magics/occupancy.h"

#include "cells/internal.h"
#include "cells/magics.h"
#include "cells/render/text.h"
#include "model/base/buf.h"

enum { USUAL_PARTS = 8 }; /* of an SM under compare=fixed: 192 threads of an L40S, 256 of an A100 */

/* A device of the call, and the kernel as compiled for it. */
struct target {
    struct session_device device;
    struct cuda_kernel kernel; /* registers and static_bytes act when the call names a kernel */
};

int occupancy_point_eval(struct occupancy_point *point, struct err *err)
{
    const struct device *dev = &point->device.device;

    /* The compiler refuses larger static arrays, so raising the dynamic limit is no help. */
    point->shape.is_opted_out = point->shape.static_bytes > dev->static_shared_per_block;
    return occupancy_of(dev, &point->shape, &point->occ, err);
}

const char *occupancy_percent(struct result *result, double fraction)
{
    char text[TEXT_NUMBER];

    return result_text(result, "%s", text_percent(text, fraction));
}

const char *occupancy_device_text(struct result *result, const struct session_device *device)
{
    const struct device *dev = &device->device;

    if (device->is_gpu)
        return result_text(result, "%s gpu:%d (cc %d.%d)", dev->name, device->gpu_index,
                           dev->cc_major, dev->cc_minor);
    if (strncmp(dev->name, "cc ", 3) == 0)
        return result_text(result, "%s (model)", dev->name);
    return result_text(result, "%s (model, cc %d.%d)", dev->name, dev->cc_major, dev->cc_minor);
}

const char *occupancy_origin(struct result *result, const char *device, const char *parameters)
{
    const char *text = result_text(result, "%s  %s  theoretical", device, parameters);

    if (text && strlen(text) > TEXT_COLUMNS)
        text = result_text(result, "%s  %s", device, parameters);
    return text;
}

const char *occupancy_limiters_text(struct result *result, const struct occupancy *occ)
{
    static const char *const words[OCCUPANCY_LIMIT_COUNT] = { "warps", "block slots", "registers",
                                                              "shared memory", "cluster size" };
    struct buf out = { 0 };
    int left = __builtin_popcount(occ->limiters);
    const char *text;

    for (int i = 0; i < OCCUPANCY_LIMIT_COUNT; i++)
        if (occ->limiters >> i & 1) {
            buf_puts(&out, words[i]);
            left--;
            buf_puts(&out, left > 1 ? ", " : left == 1 ? " and " : "");
        }
    text = result_text(result, "%s", buf_text(&out));
    buf_done(&out);
    return text;
}

json_t *occupancy_limiters_json(const struct occupancy *occ)
{
    json_t *list = json_array();
    int failed = 0;

    for (int i = 0; i < OCCUPANCY_LIMIT_COUNT; i++)
        if (occ->limiters >> i & 1)
            failed |=
                json_array_append_new(list,
                                      json_string(occupancy_limit_name((enum occupancy_limit)i)));
    return json_whole(list, failed);
}

/* ---- the call ---- */

static int read_target(const struct call *call, const char *name, int maxreg, struct target *out,
                       struct err *err)
{
    const char *kernel = call_text(call, "kernel");

    if (!name)
        out->device = *session_device(call->session);
    else if (session_find_device(call->session, name, &out->device, err) < 0)
        return call_fail(call, "device", err, ERR_NameError, "no device is called %s", name);
    if (kernel && cuda_kernel_capped(call->session, kernel, &out->device.device, maxreg,
                                     &out->kernel, err) < 0)
        return call_fail(call, "kernel", err, ERR_NameError, "no kernel is called %s", kernel);
    return call_check_stop(call, err);
}

/* A compilation takes a tenth of a second and more. */
enum { MOST_COMPILATIONS = 256 };

static int check_maxreg(const struct call *call, size_t count, struct err *err)
{
    if (!call_given(call, "maxreg"))
        return 0;
    if (!call_text(call, "kernel")) {
        call_fail(call, "maxreg", err, ERR_UsageError,
                  "maxreg= caps what the compiler gives a kernel: name one");
        return err_next(err, "%%occupancy saxpy maxreg=32..64:8, or regs=32 without a kernel");
    }
    if (call_given(call, "regs"))
        return call_fail(call, "regs", err, ERR_UsageError,
                         "regs= says what maxreg= asks the compiler: give one of them");
    if (count > MOST_COMPILATIONS)
        return call_fail(call, "maxreg", err, ERR_ValueError,
                         "%zu compilations: maxreg= and device= give at most %d", count,
                         MOST_COMPILATIONS);
    return 0;
}

/* One for each value of device= and maxreg=, so that nothing is looked up or compiled twice. */
static int read_targets(const struct sweep *sweep, struct target **out, struct err *err)
{
    const struct call *call = sweep->call;
    const struct arg *devices = call_arg(call, "device"), *caps = call_arg(call, "maxreg");
    size_t n = devices->count ? devices->count : 1, m = caps->count ? caps->count : 1;

    if (check_maxreg(call, n * m, err) < 0)
        return -1;
    *out = arena_array(call->arena, n * m, sizeof(**out));
    if (!*out)
        return err_set(err, ERR_ResourceError, "out of memory");
    for (size_t i = 0; i < n * m; i++)
        if (read_target(call, devices->count ? devices->values[i / m].text : NULL,
                        caps->count ? (int)caps->values[i % m].i : 0, &(*out)[i], err) < 0)
            return -1;
    return 0;
}

static const struct target *target_of(const struct sweep *sweep, const struct target *targets,
                                      size_t i)
{
    const struct arg *caps = call_arg(sweep->call, "maxreg");
    int device = sweep_find(sweep, "device"), cap = sweep_find(sweep, "maxreg");
    size_t d = device < 0 ? 0 : sweep_index(sweep, i, (size_t)device);
    size_t c = cap < 0 ? 0 : sweep_index(sweep, i, (size_t)cap);

    return &targets[d * (caps->count ? caps->count : 1) + c];
}

static int read_point(const struct sweep *sweep, const struct target *targets, size_t i,
                      struct occupancy_point *point, struct err *err)
{
    const struct call *call = sweep->call;
    const struct target *target = target_of(sweep, targets, i);
    const char *rule = call_text(call, "compare");
    bool has_kernel = call_text(call, "kernel") != NULL;

    point->device = target->device;
    point->kernel = call_given(call, "maxreg") ? &target->kernel : NULL;
    point->shape = (struct launch_shape){
        .block = (int)sweep_int(sweep, i, "block"),
        .regs = has_kernel && !call_given(call, "regs") ? target->kernel.registers
                                                        : (int)sweep_int(sweep, i, "regs"),
        .static_bytes = has_kernel && !call_given(call, "static") ? target->kernel.static_bytes
                                                                  : sweep_int(sweep, i, "static"),
        .dynamic_bytes = sweep_int(sweep, i, "dynamic"),
        .carveout = (int)sweep_int(sweep, i, "carveout"),
        .cluster = (int)sweep_int(sweep, i, "cluster"),
    };
    point->rule = rule ? occupancy_rule_find(rule) : -1;
    if (call_given(call, "parts") && point->rule != OCCUPANCY_RULE_FIXED)
        return call_fail(call, "parts", err, ERR_UsageError,
                         "parts= is of compare=fixed: the equal parts of an SM");
    if (occupancy_point_eval(point, err) < 0)
        return -1;
    if (!rule)
        return 0;
    return occupancy_compare(&point->device.device, &point->shape, &point->occ,
                             (enum occupancy_rule)point->rule,
                             sweep_value(sweep, i, "parts") ? (int)sweep_int(sweep, i, "parts")
                                                            : USUAL_PARTS,
                             &point->other, err);
}

/* "where_am_i: regs=8 static=0  block=256 ...": what the compiler said stands before the rest. */
static const char *parameters_text(const struct call *call, struct result *result,
                                   const struct occupancy_point *point)
{
    const char *kernel = call_text(call, "kernel");
    const char *skip = "kernel device carveout cluster";

    if (kernel && call_arg(call, "maxreg")->is_sweep)
        return result_text(result, "%s  %s", kernel,
                           call_parameters_text(call, "kernel device regs static carveout "
                                                      "cluster"));
    if (kernel)
        return result_text(result, "%s: regs=%d static=%lld  %s", kernel, point->shape.regs,
                           (long long)point->shape.static_bytes,
                           call_parameters_text(call, "kernel device regs static carveout "
                                                      "cluster"));
    if (call_given(call, "carveout"))
        skip = call_given(call, "cluster") ? "kernel device" : "kernel device cluster";
    else if (call_given(call, "cluster"))
        skip = "kernel device carveout";
    return call_parameters_text(call, skip);
}

/* What the compiler said replaces the defaults in "input". */
static int set_kernel_input(const struct call *call, struct result *result,
                            const struct occupancy_point *point, struct err *err)
{
    json_t *input;

    if (!call_text(call, "kernel"))
        return 0;
    input = json_pack("{s:i, s:I}", "regs", point->shape.regs, "static",
                      (json_int_t)point->shape.static_bytes);
    if (json_object_set_new(result->fields, "input", input) < 0)
        return err_set(err, ERR_ResourceError, "out of memory");
    return 0;
}

static int eval_all(const struct sweep *sweep, struct occupancy_point *points, struct err *err)
{
    struct target *targets;

    if (read_targets(sweep, &targets, err) < 0)
        return -1;
    for (size_t i = 0; i < sweep->points; i++) {
        if (i % 4096 == 0 && call_check_stop(sweep->call, err) < 0)
            return -1;
        if (read_point(sweep, targets, i, &points[i], err) < 0)
            return call_fail(sweep->call, call_given(sweep->call, "parts") ? "parts" : NULL, err,
                             ERR_ValueError, "no such launch");
    }
    return 0;
}

static int show(struct result *result, const struct sweep *sweep,
                const struct occupancy_point *points, const char *parameters, struct err *err)
{
    if (sweep->key_count == 1 && sweep_find(sweep, "maxreg") == 0 && points->rule < 0)
        return occupancy_show_spills(result, sweep, points, parameters, err);
    if (points->rule < 0)
        return sweep->key_count ? occupancy_show_sweep(result, sweep, points, parameters, err)
                                : occupancy_show_point(result, points, parameters, err);
    return sweep->key_count ? occupancy_show_comparisons(result, sweep, points, parameters, err)
                            : occupancy_show_comparison(result, points, parameters, err);
}

static int run(struct call *call, struct err *err)
{
    struct occupancy_point *points;
    struct result *result;
    struct sweep sweep;
    const char *parameters;
    int rc;

    points = sweep_start(&sweep, call, sizeof(*points), err);
    if (!points || eval_all(&sweep, points, err) < 0)
        return -1;
    result = result_new("occupancy", 1);
    if (!result)
        return err_set(err, ERR_ResourceError, "out of memory");
    parameters = parameters_text(call, result, points);
    rc = set_kernel_input(call, result, points, err);
    if (rc == 0)
        rc = show(result, &sweep, points, parameters, err);
    return call_finish(call, result, rc < 0, err);
}

/* ---- the row ---- */

#define X(id, name, help) name " "
#define RULES             OCCUPANCY_RULES(X)
static const struct param PARAMS[] = {
    { .name = "kernel",
      .type = PARAM_NAME,
      .flags = PARAM_POSITIONAL,
      .help = "a kernel of this session: its registers and static shared memory" },
    { .name = "device",
      .type = PARAM_DEVICE,
      .flags = PARAM_SWEEP,
      .help = "whose limits: L40S, cc=8.9, gpu; else the session's device" },
    { .name = "block",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP,
      .preset = "256",
      .min = 1,
      .max = 1024,
      .help = "threads a block" },
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
    { .name = "carveout",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP,
      .preset = "-1",
      .min = -1,
      .max = 100,
      .help = "percent of the SM's shared memory to use; -1: all of it" },
    { .name = "cluster",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP,
      .preset = "1",
      .min = 1,
      .max = 64,
      .help = "blocks a cluster; 1: none" },
    { .name = "maxreg",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP | PARAM_OPTIONAL,
      .min = 16,
      .max = 255,
      .help = "compiles the kernel with so many registers at most, which may spill" },
    { .name = "compare",
      .type = PARAM_CHOICE,
      .flags = PARAM_OPTIONAL,
      .choices = RULES,
      .help = "another way to count, beside the hardware's own" },
    { .name = "parts",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP | PARAM_OPTIONAL,
      .min = 1,
      .max = 256,
      .help = "compare=fixed: equal parts of an SM; 8 if not given" },
};
#undef X

#define RULE_LINE(id, name, help) name ": " help "\n"

static const struct field FIELDS[] = {
    { "active_blocks", "blocks/SM", "blocks on one SM at the same time" },
    { "active_warps", "warps/SM", "warps on one SM at the same time" },
    { "max_warps", "warps/SM", "warps that an SM can hold" },
    { "occupancy", "0..1", "active_warps / max_warps" },
    { "limiters", "", "every limit that binds: warps blocks registers shared cluster" },
    { "limits", "blocks/SM", "blocks that each limit allows; null: no limit" },
    { "allocated.registers_per_block", "registers", "after rounding" },
    { "allocated.shared_per_block", "bytes", "after rounding, with what the system keeps" },
    { "advice", "", "the change that lifts occupancy, and what it costs; null: none" },
    { "spills", "", "with maxreg=: registers, spill store_bytes and load_bytes, stack a thread" },
    { "compare", "", "with compare=: what the other rule says, and by how much it differs" },
    { "sweep", "", "with ranges or lists: one entry a point" },
};

const struct magic MAGIC_OCCUPANCY = {
    .name = "occupancy",
    .summary = "how many warps fit on an SM, and what limits them",
    .about =
        "A block is placed whole or not at all, so each resource of an SM (warps, block slots, "
        "registers, shared memory) is divided by what one block takes, and the scarcest one "
        "decides. Registers are handed out per warp in units of 256, within each quarter of the "
        "SM; shared memory in units of 128 bytes, with 1 KB a block kept by the system from "
        "compute capability 8.0.\n\n"
        "Agrees with cuda_occupancy.h of CUDA 13.0 and with the driver's own answers. Ranges and "
        "lists draw the cliffs: regs=16..128, block=[128,256], device=[A100,L40S].\n\n"
        "compare= puts another way to count beside it:\n" OCCUPANCY_RULES(RULE_LINE),
    .example = "%occupancy block=256 regs=42 static=8K\n"
               "%occupancy regs=16..128\n"
               "%occupancy block=32..1024:32 regs=16..128:8 device=A100\n"
               "%occupancy block=224 regs=92 device=A100 compare=naive",
    .params = PARAMS,
    .param_count = COUNT(PARAMS),
    .fields = FIELDS,
    .field_count = COUNT(FIELDS),
    .run = run,
};
