/*
 * %little: how much must be under way at once, and how fast a kernel with so much
 * under way is. The forms are model/little.c's; here a call becomes cases. What a
 * person reads is in little_law.c (the bare law), little_view.c (one kernel) and
 * little_sweep.c (ranges and lists).
 */
#include "cells/magics/little.h"

#include "cells/internal.h"
#include "cells/magics.h"
#include "cells/render/text.h"
#include "model/costs.h"

const char *little_percent(struct result *result, double fraction)
{
    char text[TEXT_NUMBER];

    return result_text(result, "%s", text_percent(text, fraction));
}

const char *little_unit_text(enum little_bound unit)
{
    static const char *const texts[LITTLE_BOUND_COUNT] = { "", "bandwidth", "FP32 units",
                                                           "issue slots" };

    return texts[unit];
}

double little_bytes(const struct little_case *c, double iterations)
{
    return iterations * c->kernel.bytes_per_warp;
}

double little_warps_for(const struct little_case *c, double iterations)
{
    /* A hundredth of a warp is not worth another one. */
    int64_t whole = (int64_t)(iterations / c->ilp + 0.99);

    return (double)max_i64(whole, 1);
}

int little_case_run(struct little_case *c, struct err *err)
{
    struct little_kernel plain = c->kernel;

    plain.queue = 0;
    if (little_run(&c->machine, &plain, &c->plain, err) < 0)
        return -1;
    return little_run(&c->machine, &c->kernel, &c->loaded, err);
}

static json_t *reached_json(const struct little_case *c, const struct little_point *p)
{
    double per_second = p->throughput * c->device.device.clock_mhz * 1e6 * c->device.device.sms;
    json_t *object =
        json_pack("{s:f, s:f, s:f, s:s}", "fraction", p->fraction, "latency", p->latency, "ipc",
                  p->throughput * (c->kernel.alpha + (c->is_arithmetic ? 0 : 1)), "bound",
                  little_bound_name(p->bound));

    if (object && !c->is_arithmetic &&
        json_object_set_new(object, "bandwidth_gbs",
                            json_real(per_second * c->kernel.bytes_per_warp * 1e-9)) < 0) {
        json_decref(object);
        return NULL;
    }
    return object;
}

/* The same of the core layer; null where it was not asked. */
static json_t *simulated_json(const struct little_case *c, const struct little_simulated *s)
{
    struct little_point point = {
        .fraction = s->fraction,
        .latency = s->latency,
        .throughput = s->throughput,
        .bound = s->fraction < 0.995 ? LITTLE_BOUND_LATENCY : c->plain.unit,
    };
    json_t *object = s->cycles ? reached_json(c, &point) : json_null();

    if (s->cycles)
        return json_whole(object, json_object_set_new(object, "cycles", json_integer(s->cycles)));
    return object;
}

json_t *little_reached_json(const struct little_case *c)
{
    json_t *object = reached_json(c, &c->plain);
    int failed = object == NULL;

    failed |= json_object_set_new(object, "simulated", simulated_json(c, &c->simulated));
    if (!c->is_arithmetic) {
        json_t *loaded = reached_json(c, &c->loaded);

        failed |= json_object_set_new(loaded, "simulated", simulated_json(c, &c->crowded));
        failed |= json_object_set_new(object, "loaded", loaded);
    }
    failed |= json_object_set_new(object, "warps", json_integer((json_int_t)c->kernel.warps));
    failed |= json_object_set_new(object, "occupancy", json_real(c->kernel.warps / c->max_warps));
    return json_whole(object, failed);
}

/* ---- the call ---- */

/* The value of a key of numbers, or what stands for it when it was not given. */
static double number_or(const struct sweep *sweep, size_t i, const char *name, double otherwise)
{
    const struct value *v = sweep_value(sweep, i, name);
    double number = otherwise;

    if (v)
        value_as_float(v, &number);
    return number;
}

/* Memory that nobody knows the rate of has no bytes in flight to be computed. */
static int check_device(const struct call *call, const struct little_case *c, struct err *err)
{
    const struct device *dev = &c->device.device;

    if (c->is_arithmetic || c->machine.memory_rate > 0)
        return 0;
    if (!dev->sms || !dev->clock_mhz)
        return call_fail(call, "device", err, ERR_ValueError,
                         "%s has no SMs or clock that are known: name a product, such as H200",
                         dev->name);
    return call_fail(call, "device", err, ERR_ValueError,
                     "the bandwidth of %s is unknown: bandwidth=300GB/s says it", dev->name);
}

static int read_kernel(const struct sweep *sweep, size_t i, struct little_case *c, struct err *err)
{
    c->max_warps = c->device.device.warps_per_sm;
    c->ilp = (int)sweep_int(sweep, i, "ilp");
    c->bytes_per_thread = (int)sweep_int(sweep, i, "bytes_per_thread");
    c->kernel = (struct little_kernel){
        .warps = number_or(sweep, i, "warps", c->max_warps),
        .ilp = c->ilp,
        .bytes_per_warp = c->is_arithmetic ? 0 : c->bytes_per_thread * WARP,
        .alpha = c->is_arithmetic ? 1 : number_or(sweep, i, "alpha", 0),
        .queue = number_or(sweep, i, "queue", 0) * c->machine.memory_latency,
    };
    if (c->kernel.warps > c->max_warps)
        return call_fail(sweep->call, "warps", err, ERR_ValueError,
                         "warps=%g: an SM of %s holds %d warps", c->kernel.warps,
                         c->device.device.name, c->max_warps);
    return 0;
}

static int read_case(const struct sweep *sweep, size_t i, struct little_case *c, struct err *err)
{
    const struct call *call = sweep->call;
    const char *name = sweep_text(sweep, i, "device");
    const struct costs *costs;
    struct costs room;

    if (!name)
        c->device = *session_device(call->session);
    else if (session_find_device(call->session, name, &c->device, err) < 0)
        return call_fail(call, "device", err, ERR_NameError, "no device is called %s", name);
    /* The numbers are the model's, whatever device the session runs on. */
    c->device.is_gpu = false;
    costs = costs_with(&c->device.device, &room);
    c->is_arithmetic = strcmp(sweep_text(sweep, i, "what"), "arithmetic") == 0;
    c->has_own_latency = sweep_value(sweep, i, "latency") != NULL;
    c->bandwidth = number_or(sweep, i, "bandwidth", c->device.device.bandwidth_gbs * 1e9);
    c->machine = little_machine_of(&c->device.device, c->bandwidth);
    c->machine.alu_latency = number_or(sweep, i, c->is_arithmetic ? "latency" : "alu_latency",
                                       costs->classes[LAT_FMA].latency);
    c->machine.memory_latency =
        c->is_arithmetic ? 0 : number_or(sweep, i, "latency", costs->memory_latency);
    if (check_device(call, c, err) < 0 || read_kernel(sweep, i, c, err) < 0)
        return -1;
    return little_case_run(c, err) < 0
               ? call_fail(call, NULL, err, ERR_ValueError, "no such kernel")
               : 0;
}

/* Keys that say nothing about the question that was asked. */
static int refuse_keys(const struct call *call, const char *const *names, size_t count,
                       const char *question, struct err *err)
{
    for (size_t i = 0; i < count; i++)
        if (call_given(call, names[i]))
            return call_fail(call, names[i], err, ERR_UsageError, "%s= does not act on %s",
                             names[i], question);
    return 0;
}

static int check_keys(const struct call *call, bool is_law, struct err *err)
{
    static const char *const of_devices[] = { "device", "warps",     "ilp",   "bytes_per_thread",
                                              "alpha",  "bandwidth", "queue", "alu_latency" };
    static const char *const of_memory[] = { "bytes_per_thread", "alpha", "bandwidth", "queue",
                                             "alu_latency" };

    if (is_law)
        return refuse_keys(call, of_devices, COUNT(of_devices),
                           "the law alone (concurrency= latency= throughput=)", err);
    if (strcmp(call_text(call, "what"), "arithmetic") == 0)
        return refuse_keys(call, of_memory, COUNT(of_memory), "%little arithmetic", err);
    return 0;
}

static int show_device(struct result *result, struct call *call, struct err *err)
{
    struct little_case *cases;
    struct sweep sweep;

    cases = sweep_start(&sweep, call, sizeof(*cases), err);
    if (!cases)
        return -1;
    for (size_t i = 0; i < sweep.points; i++)
        if (read_case(&sweep, i, &cases[i], err) < 0 || call_check_stop(call, err) < 0)
            return -1;
    if (sweep.key_count && little_simulate(cases, sweep.points,
                                           sweep.points / sweep.keys[0].arg->count, call, err) < 0)
        return -1;
    if (sweep.key_count &&
        little_simulate_crowded(cases, sweep.points, sweep.points / sweep.keys[0].arg->count, call,
                                err) < 0)
        return -1;
    if (sweep_find(&sweep, "device") < 0 &&
        json_object_set_new(result->fields, "device", session_device_json(&cases[0].device)) < 0)
        return err_set(err, ERR_ResourceError, "out of memory");
    return sweep.key_count ? little_show_sweep(result, &sweep, cases, err)
                           : little_show_case(result, call, cases, err);
}

static int run(struct call *call, struct err *err)
{
    bool is_law = call_given(call, "concurrency") || call_given(call, "throughput");
    struct result *result;
    int rc;

    if (check_keys(call, is_law, err) < 0)
        return -1;
    result = result_new("little", 1);
    if (!result)
        return err_set(err, ERR_ResourceError, "out of memory");
    rc = is_law ? little_show_law(result, call, err) : show_device(result, call, err);
    return call_finish(call, result, rc < 0, err);
}

/* ---- the row ---- */

static const struct param PARAMS[] = {
    { .name = "what",
      .type = PARAM_CHOICE,
      .flags = PARAM_POSITIONAL,
      .preset = "memory",
      .choices = "memory arithmetic",
      .help = "what is to be kept busy: the memory, or the FP32 units" },
    { .name = "concurrency",
      .type = PARAM_FLOAT,
      .min = 1e-6,
      .max = 1e15,
      .help = "the law alone: how many are under way" },
    { .name = "latency",
      .type = PARAM_FLOAT,
      .flags = PARAM_SWEEP,
      .min = 1e-6,
      .max = 1e9,
      .help = "cycles that one takes; else the device's" },
    { .name = "throughput",
      .type = PARAM_FLOAT,
      .min = 1e-6,
      .max = 1e15,
      .help = "the law alone: how many finish a cycle" },
    { .name = "device",
      .type = PARAM_DEVICE,
      .flags = PARAM_SWEEP,
      .help = "H200, L40S; else the session's device" },
    { .name = "warps",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP,
      .min = 1,
      .max = 4096,
      .help = "warps on an SM; else all that it holds" },
    { .name = "ilp",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP,
      .preset = "1",
      .min = 1,
      .max = 64,
      .help = "independent loads, or operations, of a warp that are under way at once" },
    { .name = "bytes_per_thread",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP,
      .preset = "4",
      .min = 1,
      .max = 32,
      .help = "bytes that a thread loads by one instruction" },
    { .name = "alpha",
      .type = PARAM_FLOAT,
      .flags = PARAM_SWEEP,
      .preset = "0",
      .min = 0,
      .max = 1e6,
      .help = "arithmetic operations that follow from each load, one from the other" },
    { .name = "bandwidth",
      .type = PARAM_FLOAT,
      .flags = PARAM_SWEEP,
      .min = 1e6,
      .max = 1e18,
      .unit = NUMBER_RATE,
      .per_unit = 1,
      .help = "bytes a second, such as 3.9TB/s; else the device's" },
    { .name = "queue",
      .type = PARAM_FLOAT,
      .flags = PARAM_SWEEP,
      .preset = "20%",
      .min = 0,
      .max = 10,
      .help = "wait in front of memory at half its rate, in parts of the latency" },
    { .name = "alu_latency",
      .type = PARAM_FLOAT,
      .flags = PARAM_SWEEP,
      .min = 1,
      .max = 1e6,
      .help = "cycles of an arithmetic operation beside loads; else the device's" },
};

static const struct field FIELDS[] = {
    { "concurrency", "", "under way at once: latency x throughput; bytes, or instructions an SM" },
    { "latency", "cycles", "of one, alone" },
    { "throughput", "1/cycle", "that finish at most: bytes of the device, instructions of an SM" },
    { "needed.iterations", "", "under way on an SM that fill the unit with the least room" },
    { "needed.bytes", "bytes", "the same in bytes; null for arithmetic" },
    { "needed.lines", "lines", "the same in lines of 128 bytes; null for arithmetic" },
    { "needed.warps", "warps", "that bring so many, with this ilp" },
    { "needed.threads", "threads", "the same in threads" },
    { "needed.occupancy", "", "the same over the most that an SM holds; above 1: out of reach" },
    { "reached.fraction", "0..1", "of what the unit with the least room allows; closed form" },
    { "reached.bound", "", "latency (too little under way), memory, arithmetic or issue" },
    { "reached.latency", "cycles", "of an iteration; more than alone where a unit is full" },
    { "reached.ipc", "1/cycle", "warp instructions an SM" },
    { "reached.bandwidth_gbs", "GB/s", "of the device; memory only" },
    { "reached.loaded", "", "the same four where latency rises with load; memory only" },
    { "reached.loaded.simulated", "",
      "the same by the core layer, with memory that works in bursts; or null" },
    { "reached.simulated", "", "the same by the core layer, and over how many cycles; or null" },
    { "simulated.points", "", "points of the curves that the core layer ran" },
    { "simulated.difference", "0..1", "the furthest of them from its closed form" },
    { "sweep", "", "with ranges or lists: one entry a point" },
};

const struct magic MAGIC_LITTLE = {
    .name = "little",
    .summary = "Little's law: how much must be in flight to keep memory or arithmetic busy",
    .about =
        "What is under way at once = latency x throughput. Two of concurrency= latency= "
        "throughput= give the third. Without them the question is a device's: how many bytes must "
        "be in flight to fill its memory (%little memory), or how many operations to fill its FP32 "
        "units (%little arithmetic), how many warps bring them, and what a given number of warps "
        "reaches.\n\n"
        "A kernel is a load and alpha= operations that follow from it, over and over (V. Volkov, "
        "Understanding Latency Hiding on GPUs, 2016): throughput is the least of warps x ilp / "
        "latency and what memory, FP32 units and issue slots allow. Under load memory takes "
        "queue x u / (1 - u) longer, u being the part of its rate that is asked for; 20 % of the "
        "latency is what measurements on a GH200 say (model/little.h).\n\n"
        "These closed forms are the lines of a figure. Its points are the same warps on the core "
        "layer, issue by issue, with memory as a latency and a server (model/core.h): a warp "
        "issues in order and belongs to one scheduler, of which the law knows nothing. How far "
        "the two are apart is said. Under load its memory works in bursts (one load in so many, at "
        "random, holds it for all of these), which by the theory of queues wait as the formula "
        "says.\n\n"
        "Latencies are those of the timing model (model/costs.c), rates those of the device.",
    .example = "%little latency=5 throughput=6\n"
               "%little device=H200 latency=690\n"
               "%little arithmetic device=L40S\n"
               "%little device=H200 warps=1..64 ilp=[1,2,4]",
    .params = PARAMS,
    .param_count = COUNT(PARAMS),
    .fields = FIELDS,
    .field_count = COUNT(FIELDS),
    .run = run,
};
