/*
 * %roofline: which of a device's two limits a kernel meets: how many operations a
 * second it computes, or how many bytes a second its memory moves.
 */
#include "cells/figure.h"
#include "cells/internal.h"
#include "cells/magics.h"
#include "cells/magics/occupancy.h"
#include "cells/render/text.h"
#include "model/roofline.h"

#include <math.h>

enum { SECTOR_BYTES = 32 };

struct roofline_case {
    struct session_device device;
    const char *type; /* "fp32" */
    struct roofline roof;
    bool has_kernel, has_time, is_given, is_measured; /* is_given: time_us= said it */
    double flops, bytes, time_us;
    struct roofline_point point;
};

static const char *number(struct result *result, double v)
{
    char text[TEXT_NUMBER];

    return result_text(result, "%s", text_number(text, v));
}

/* "66.9 TFLOP/s" */
static const char *rate_text(struct result *result, double flops)
{
    if (flops >= 1e12)
        return result_text(result, "%s TFLOP/s", number(result, flops * 1e-12));
    return result_text(result, "%s GFLOP/s", number(result, flops * 1e-9));
}

/* ---- the call ---- */

static double number_at(const json_t *fields, const char *side, const char *name)
{
    return json_number_value(
        json_object_get(json_object_get(json_object_get(fields, "global"), side), name));
}

/* A launch says what it moved, by the sectors that went, and how long it took. */
static int read_launch(const struct call *call, struct roofline_case *c, struct err *err)
{
    const char *name = call_text(call, "launch");
    const struct variable *v = name ? session_variable(call->session, name) : NULL;
    const json_t *fields, *time;

    if (!name)
        return 0;
    if (!v || v->unset || v->value.type != VALUE_RESULT ||
        !json_object_get(v->value.result->fields, "global")) {
        call_fail(call, "launch", err, ERR_NameError, "%s is no result of one launch", name);
        return err_next(err, "t = kernel<<<grid, block>>>(...) makes one");
    }
    fields = v->value.result->fields;
    c->bytes = SECTOR_BYTES *
               (number_at(fields, "load", "sectors") + number_at(fields, "store", "sectors"));
    time = json_object_get(fields, "time_us");
    c->time_us = json_number_value(time);
    c->has_time = json_is_number(time);
    c->is_measured =
        strcmp(json_string_value(json_object_get(json_object_get(fields, "device"), "source"))
                   ?: "",
               "gpu") == 0;
    if (!call_given(call, "flops"))
        return call_fail(call, "launch", err, ERR_UsageError,
                         "a launch does not count its operations: flops={2*n} says them");
    return 0;
}

static int read_roof(const struct call *call, struct roofline_case *c, struct err *err)
{
    const struct device *dev = &c->device.device;
    enum roofline_type type;

    c->type = call_text(call, "type");
    type = (enum roofline_type)roofline_type_find(c->type);
    c->roof.peak = call_given(call, "peak") ? call_float(call, "peak") : roofline_peak(dev, type);
    c->roof.bandwidth =
        call_given(call, "bandwidth") ? call_float(call, "bandwidth") : dev->bandwidth_gbs * 1e9;
    if (!(c->roof.peak > 0))
        return call_fail(call, call_given(call, "type") ? "type" : "device", err, ERR_ValueError,
                         "the %s rate of %s is unknown: peak=50e12 says it", c->type, dev->name);
    if (!(c->roof.bandwidth > 0))
        return call_fail(call, "device", err, ERR_ValueError,
                         "the bandwidth of %s is unknown: bandwidth=300GB/s says it", dev->name);
    return 0;
}

static int read_case(const struct call *call, struct roofline_case *c, struct err *err)
{
    if (call_device(call, &c->device, err) < 0 || read_roof(call, c, err) < 0 ||
        read_launch(call, c, err) < 0)
        return -1;
    if (call_given(call, "bytes"))
        c->bytes = call_float(call, "bytes");
    if (call_given(call, "flops"))
        c->flops = call_float(call, "flops");
    if (call_given(call, "time_us")) {
        c->time_us = call_float(call, "time_us");
        c->has_time = c->is_given = true;
        c->is_measured = false;
    }
    c->has_kernel = call_given(call, "flops") || call_given(call, "bytes");
    if (!c->has_kernel && c->has_time)
        return call_fail(call, "time_us", err, ERR_UsageError,
                         "time_us= belongs to a kernel: flops= and bytes= say what it did");
    if (!c->has_kernel)
        return 0;
    if (!call_given(call, "launch") && (!call_given(call, "flops") || !call_given(call, "bytes")))
        return call_fail(call, call_given(call, "flops") ? "flops" : "bytes", err, ERR_UsageError,
                         "a kernel is its operations and its bytes: %s= is missing",
                         call_given(call, "flops") ? "bytes" : "flops");
    if (roofline_at(&c->roof, c->flops, c->bytes, &c->point, err) < 0)
        return call_fail(call, "flops", err, ERR_ValueError, "nothing to do");
    return 0;
}

/* ---- fields ---- */

static double achieved(const struct roofline_case *c)
{
    return c->flops / (c->time_us * 1e-6);
}

static json_t *kernel_json(const struct roofline_case *c)
{
    json_t *object;

    if (!c->has_kernel)
        return json_null();
    object = json_pack("{s:f, s:f, s:o, s:f, s:s, s:f}", "flops", c->flops, "bytes", c->bytes,
                       "intensity", json_number(c->point.intensity), "attainable_gflops",
                       c->point.attainable * 1e-9, "bound",
                       c->point.is_memory_bound ? "memory" : "compute", "least_time_us",
                       c->point.least_s * 1e6);
    if (object && c->has_time &&
        (json_object_set_new(object, "achieved_gflops", json_real(achieved(c) * 1e-9)) < 0 ||
         json_object_set_new(object, "fraction", json_real(c->point.least_s * 1e6 / c->time_us)) <
             0)) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static int set_fields(struct result *result, const struct roofline_case *c, struct err *err)
{
    json_t *fields = json_pack("{s:s, s:f, s:f, s:f, s:o}", "type", c->type, "peak_gflops",
                               c->roof.peak * 1e-9, "bandwidth_gbs", c->roof.bandwidth * 1e-9,
                               "ridge", c->roof.peak / c->roof.bandwidth, "kernel", kernel_json(c));
    int rc = json_object_update(result->fields, fields);

    json_decref(fields);
    return rc < 0 ? err_set(err, ERR_ResourceError, "out of memory") : 0;
}

/* ---- words ---- */

static const char *answer_text(struct result *result, const struct roofline_case *c)
{
    double ridge = c->roof.peak / c->roof.bandwidth;

    if (!c->has_kernel)
        return result_text(result, "Ridge at %s FLOP a byte: %s over %s GB/s.",
                           number(result, ridge), rate_text(result, c->roof.peak),
                           number(result, c->roof.bandwidth * 1e-9));
    if (!isfinite(c->point.intensity))
        return result_text(result, "At most %s: it moves no bytes. Bound: compute.",
                           rate_text(result, c->point.attainable));
    return result_text(result, "At most %s: %s FLOP a byte is %s the ridge, %s. Bound: %s.",
                       rate_text(result, c->point.attainable), number(result, c->point.intensity),
                       c->point.is_memory_bound ? "below" : "above", number(result, ridge),
                       c->point.is_memory_bound ? "memory" : "compute");
}

static void add_table(struct result *result, const struct roofline_case *c)
{
    static const struct view_column columns[] = { { "", VIEW_LEFT },
                                                  { "the kernel", VIEW_RIGHT },
                                                  { "at most", VIEW_RIGHT },
                                                  { "takes at least", VIEW_RIGHT } };
    struct view_table *table;

    if (!c->has_kernel)
        return;
    table = view_add_table(result, columns, COUNT(columns), 2);
    view_cell(table, 0, 0, result_text(result, "operations, %s", c->type));
    view_cell(table, 0, 1, number(result, c->flops));
    view_cell(table, 0, 2, rate_text(result, c->roof.peak));
    view_cell(table, 0, 3,
              result_text(result, "%s us", number(result, c->flops / c->roof.peak * 1e6)));
    view_cell(table, 1, 0, "bytes");
    view_cell(table, 1, 1, number(result, c->bytes));
    view_cell(table, 1, 2,
              result_text(result, "%s GB/s", number(result, c->roof.bandwidth * 1e-9)));
    view_cell(table, 1, 3,
              result_text(result, "%s us", number(result, c->bytes / c->roof.bandwidth * 1e6)));
    view_mark(table, c->point.is_memory_bound);
}

static const char *closing_text(struct result *result, const struct roofline_case *c)
{
    char text[TEXT_NUMBER];

    if (!c->has_kernel)
        return "Next: %roofline flops=2M bytes=12M asks where a kernel stands.";
    if (c->has_time && c->time_us < c->point.least_s * 1e6)
        return result_text(result,
                           "It took %s us, less than the roof allows: caches served bytes, or a "
                           "number is wrong.",
                           number(result, c->time_us));
    if (c->has_time)
        return result_text(result, "It took %s us (%s): %s of what the roof allows.",
                           number(result, c->time_us),
                           c->is_measured ? "measured"
                           : c->is_given  ? "as said"
                                          : "modelled",
                           text_percent(text, c->point.least_s * 1e6 / c->time_us));
    return c->point.is_memory_bound ? "To lift it: move fewer bytes, or use each one more often."
                                    : "To lift it: fewer operations, or a faster type of them.";
}

/* ---- figure ---- */

static void add_figure(struct result *result, const struct roofline_case *c)
{
    double ridge = c->roof.peak / c->roof.bandwidth, from = ridge / 256, to = ridge * 16;
    double at = c->has_kernel ? c->point.intensity : ridge, lowest;
    struct figure *figure;
    struct panel *panel;

    /* Room around the point, so that it stands on no edge. */
    if (at > 0 && at < 4 * from)
        from = at / 4;
    if (at > to / 4 && at < 1e30)
        to = at * 4;
    lowest = from * c->roof.bandwidth;
    if (c->has_kernel && c->has_time)
        lowest = fmin(lowest, achieved(c) / 4);
    figure = figure_new(result,
                        result_text(result, "Roofline of %s, %s", c->device.device.name, c->type),
                        "A slanted line, the memory's, that ends at the ridge in a level one, the "
                        "peak: operations a second over operations a byte, both logarithmic.",
                        result->view.answer);
    panel = figure_add_lines(figure, NULL,
                             (struct figure_axis){ .label = "FLOP a byte", .scale = SCALE_LOG10 },
                             (struct figure_axis){ .label = "GFLOP/s",
                                                   .scale = SCALE_LOG10,
                                                   .min = lowest * 1e-9,
                                                   .max = c->roof.peak * 2e-9 });
    panel_add_series(panel, "roof", (const double[]){ from, ridge, to },
                     (const double[]){ from * c->roof.bandwidth * 1e-9, c->roof.peak * 1e-9,
                                       c->roof.peak * 1e-9 },
                     3);
    if (c->has_kernel && c->has_time)
        panel_add_series(panel, "this kernel", &at, (const double[]){ achieved(c) * 1e-9 }, 1);
    panel_add_reference(panel, ridge, true, result_text(result, "ridge %s", number(result, ridge)));
    if (c->has_kernel)
        panel_highlight(panel, at, rate_text(result, c->point.attainable));
}

static int run(struct call *call, struct err *err)
{
    struct roofline_case c = { .flops = 0 };
    struct result *result;

    if (read_case(call, &c, err) < 0)
        return -1;
    result = result_new("roofline", 1);
    if (!result)
        return err_set(err, ERR_ResourceError, "out of memory");
    /* The roofs are the table's, whatever device the session runs on. */
    c.device.is_gpu = false;
    if (set_fields(result, &c, err) < 0 ||
        json_object_set_new(result->fields, "device", session_device_json(&c.device)) < 0) {
        result_release(&result);
        return err_set(err, ERR_ResourceError, "out of memory");
    }
    result->view.answer = answer_text(result, &c);
    result->view.origin = result_text(result, "%s  %s", occupancy_device_text(result, &c.device),
                                      call_parameters_text(call, "device"));
    add_table(result, &c);
    result->view.closing = closing_text(result, &c);
    add_figure(result, &c);
    return call_take_result(call, result, err);
}

/* ---- the row ---- */

#define X(id, name, help) name " "
#define TYPES             ROOFLINE_TYPES(X)
static const struct param PARAMS[] = {
    { .name = "launch",
      .type = PARAM_NAME,
      .flags = PARAM_POSITIONAL,
      .help = "a result of a launch: its bytes and its time" },
    { .name = "device",
      .type = PARAM_DEVICE,
      .help = "whose roofs: H200, L40S; else the session's device" },
    { .name = "type",
      .type = PARAM_CHOICE,
      .preset = "fp32",
      .choices = TYPES,
      .help = "of the operations" },
    { .name = "flops",
      .type = PARAM_FLOAT,
      .min = 0,
      .max = 1e24,
      .help = "operations of the kernel; a multiply-add is two" },
    { .name = "bytes",
      .type = PARAM_FLOAT,
      .min = 0,
      .max = 1e24,
      .help = "bytes that it moves to and from memory" },
    { .name = "time_us",
      .type = PARAM_FLOAT,
      .min = 1e-6,
      .max = 1e15,
      .unit = NUMBER_TIME,
      .per_unit = 1e6,
      .help = "microseconds that it took" },
    { .name = "peak",
      .type = PARAM_FLOAT,
      .min = 1,
      .max = 1e24,
      .unit = NUMBER_FLOPS,
      .per_unit = 1,
      .help = "operations a second, such as 42.4e12; else the device's" },
    { .name = "bandwidth",
      .type = PARAM_FLOAT,
      .min = 1e6,
      .max = 1e18,
      .unit = NUMBER_RATE,
      .per_unit = 1,
      .help = "bytes a second, such as 3.76TB/s; else the device's" },
};
#undef X

static const struct field FIELDS[] = {
    { "type", "", "fp32, fp64, fp16 or tensor" },
    { "peak_gflops", "GFLOP/s", "operations a second at most" },
    { "bandwidth_gbs", "GB/s", "of the memory" },
    { "ridge", "FLOP/byte", "peak / bandwidth: below it memory is the limit" },
    { "kernel.intensity", "FLOP/byte", "of the kernel; kernel is null when none was given" },
    { "kernel.attainable_gflops", "GFLOP/s", "the least of peak and intensity x bandwidth" },
    { "kernel.bound", "", "memory or compute" },
    { "kernel.least_time_us", "us", "that the work takes at least" },
    { "kernel.achieved_gflops", "GFLOP/s", "with a time" },
    { "kernel.fraction", "0..1", "least_time_us over the time" },
};

#define TYPE_LINE(id, name, help) name ": " help "\n"

const struct magic MAGIC_ROOFLINE = {
    .name = "roofline",
    .summary = "is a kernel bound by memory or by arithmetic, and how far from its roof",
    .about =
        "A device does operations and moves bytes at the same time, each at its rate. A kernel "
        "that does fewer operations a byte than the ridge (peak / bandwidth) waits for memory, one "
        "that does more for arithmetic. Types of operations:\n" ROOFLINE_TYPES(
            TYPE_LINE) "\n"
                       "Peaks are 2 x lanes x SMs x boost clock; a rate that no source states is unknown, and "
                       "peak= says it. t = kernel<<<...>>>(...), then %roofline t flops={2*n}, takes bytes and "
                       "time from a launch. S. Williams and others, CACM 52 (2009).",
    .example = "%roofline device=H200\n"
               "%roofline device=H200 flops=2M bytes=12M\n"
               "%roofline device=A100 type=fp64 flops=1e9 bytes=1e7 time_us=200",
    .params = PARAMS,
    .param_count = COUNT(PARAMS),
    .fields = FIELDS,
    .field_count = COUNT(FIELDS),
    .run = run,
};
