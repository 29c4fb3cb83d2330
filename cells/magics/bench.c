/*
 * %bench: how long a launch takes, again and again. On a card that is measured: median
 * and spread of samples between two events, buffers restored and caches flushed before
 * each. Without one it is the model's answer, and says so.
 */
#include "cells/figure.h"
#include "cells/internal.h"
#include "cells/images.h"
#include "cells/cuda_table.h"
#include "cells/gpus.h"
#include "cells/magics.h"
#include "cells/magics/launch.h"
#include "cells/magics/occupancy.h"
#include "cells/render/text.h"
#include "cells/samples.h"
#include "kernels/lessons.h"

#include <math.h>
#include <stdlib.h>

struct bench {
    struct launch_point point;
    double median_us, iqr_us, min_us, max_us, clock_mhz;
    double bytes, flops; /* of one launch; 0: not known */
    bool is_counted;     /* bytes are those of the sectors that the interpreter counted */
    double peak_gbs;     /* of the device; 0: not known */
    bool is_asked;       /* the driver said it, else it is the table's */
};

/* ---- numbers ---- */

static double median_of(struct arena *arena, const double *values, size_t n)
{
    double *sorted = n ? arena_array(arena, n, sizeof(*sorted)) : NULL;

    if (!sorted)
        return 0;
    memcpy(sorted, values, n * sizeof(*sorted));
    samples_sort(sorted, n);
    return samples_quantile(sorted, n, 0.5);
}

static int take_times(struct call *call, struct bench *b, struct err *err)
{
    const struct launch_outcome *o = &b->point.outcome;
    struct launch_time modelled = launch_modelled(&b->point);
    double *sorted;

    if (!o->is_measured) {
        b->median_us = b->min_us = b->max_us = modelled.us;
        return modelled.is_known ? 0
                                 : call_fail(call, "build", err, ERR_UsageError,
                                             "the code as written has no time: no GPU runs it");
    }
    sorted = arena_array(call->arena, o->sample_count, sizeof(*sorted));
    if (!sorted)
        return err_set(err, ERR_ResourceError, "out of memory");
    memcpy(sorted, o->samples_us, o->sample_count * sizeof(*sorted));
    samples_sort(sorted, o->sample_count);
    b->median_us = samples_quantile(sorted, o->sample_count, 0.5);
    b->iqr_us = samples_quantile(sorted, o->sample_count, 0.75) -
                samples_quantile(sorted, o->sample_count, 0.25);
    b->min_us = sorted[0];
    b->max_us = sorted[o->sample_count - 1];
    b->clock_mhz = o->clocks_mhz ? median_of(call->arena, o->clocks_mhz, o->sample_count) : 0;
    return 0;
}

static void take_work(const struct call *call, struct bench *b)
{
    const struct launch_outcome *o = &b->point.outcome;

    b->flops = call_given(call, "flops") ? call_float(call, "flops") : 0;
    b->bytes = call_given(call, "bytes") ? call_float(call, "bytes") : 0;
    if (call_given(call, "bytes") || !o->has_facts)
        return;
    b->is_counted = true;
    b->bytes = 32.0 * (double)(o->facts.global_load.sectors + o->facts.global_store.sectors);
}

/* What 100 % is: the card's own numbers where there is one. */
static int find_peak(const struct call *call, struct bench *b, struct err *err)
{
    const struct session_device *d = &b->point.plan.device;
    const struct gpu_info *info;

    b->peak_gbs = d->device.bandwidth_gbs;
    if (!d->is_gpu)
        return 0;
    if (workers_gpu_info(session_workers(call->session), d->gpu_index, &info, err) < 0)
        return -1;
    b->is_asked = gpu_info_bandwidth_gbs(info) > 0;
    if (b->is_asked)
        b->peak_gbs = gpu_info_bandwidth_gbs(info);
    return 0;
}

static double gbs(const struct bench *b)
{
    return b->median_us > 0 ? b->bytes / b->median_us / 1e3 : 0;
}

static double gflops(const struct bench *b)
{
    return b->median_us > 0 ? b->flops / b->median_us / 1e3 : 0;
}

/* Two operations, a multiply and an add, a lane and cycle; 0: not known. */
static double peak_gflops(const struct device *d)
{
    return 2.0 * d->fp32_lanes * d->sms * d->clock_mhz / 1e3;
}

static double share(double value, double peak)
{
    return peak > 0 ? value / peak : NAN;
}

/* ---- fields ---- */

static json_t *samples_json(const struct launch_outcome *o)
{
    json_t *list = json_array();
    int failed = 0;

    for (size_t i = 0; i < o->sample_count; i++)
        failed |= json_array_append_new(list, json_number(o->samples_us[i]));
    return json_whole(list, failed);
}

static json_t *measured_json(const struct bench *b)
{
    const struct launch_outcome *o = &b->point.outcome;

    if (!o->is_measured)
        return json_null();
    return json_pack("{s:o,s:o,s:o,s:i,s:i,s:o,s:o}", "median_us", json_number(b->median_us),
                     "iqr_us", json_number(b->iqr_us), "min_us", json_number(b->min_us), "repeat",
                     (int)o->sample_count, "rejected", o->rejected, "clock_mhz",
                     b->clock_mhz > 0 ? json_number(b->clock_mhz) : json_null(), "samples_us",
                     samples_json(o));
}

static json_t *known(bool is_known, double v)
{
    return is_known ? json_number(v) : json_null();
}

static const char *peak_source(const struct bench *b)
{
    return b->is_asked ? "driver" : "table";
}

static int set_fields(struct result *result, struct call *call, const struct bench *b,
                      struct err *err)
{
    const struct device *d = &b->point.plan.device.device;
    double copy = b->point.outcome.copy_gbs;
    json_t *f = result->fields;
    int failed = launch_set_fields(result, call, &b->point, err);

    if (failed)
        return -1;
    failed |= json_object_set_new(f, "measured", measured_json(b));
    failed |= json_object_set_new(f, "median_us", json_number(b->median_us));
    failed |= json_object_set_new(f, "iqr_us", known(b->point.outcome.is_measured, b->iqr_us));
    failed |= json_object_set_new(f, "min_us", json_number(b->min_us));
    failed |= json_object_set_new(f, "bytes", known(b->bytes > 0, b->bytes));
    failed |= json_object_set_new(f, "gbs", known(b->bytes > 0, gbs(b)));
    failed |= json_object_set_new(f, "peak_gbs", known(b->peak_gbs > 0, b->peak_gbs));
    failed |= json_object_set_new(f, "peak_source",
                                  b->peak_gbs > 0 ? json_string(peak_source(b)) : json_null());
    failed |=
        json_object_set_new(f, "bandwidth_share",
                            known(b->bytes > 0 && b->peak_gbs > 0, share(gbs(b), b->peak_gbs)));
    failed |= json_object_set_new(f, "copy_gbs", known(copy > 0, copy));
    failed |=
        json_object_set_new(f, "copy_share", known(b->bytes > 0 && copy > 0, share(gbs(b), copy)));
    failed |= json_object_set_new(f, "gflops", known(b->flops > 0, gflops(b)));
    failed |= json_object_set_new(f, "flops_share",
                                  known(b->flops > 0 && peak_gflops(d) > 0,
                                        share(gflops(b), peak_gflops(d))));
    return failed ? err_set(err, ERR_ResourceError, "out of memory") : 0;
}

/* ---- the view ---- */

static const char *us(struct result *r, double v)
{
    return v < 100 ? result_text(r, "%.2f us", v) : result_text(r, "%.0f us", v);
}

/* Three digits: what a measurement is good for. */
static const char *rate(struct result *r, double v)
{
    char number[TEXT_NUMBER];

    return v < 100 ? result_text(r, "%.3g", v) : result_text(r, "%s", text_number(number, v));
}

static const char *of_peak(struct result *r, double fraction, double peak, const char *unit)
{
    char number[TEXT_NUMBER], percent[TEXT_NUMBER];

    if (isnan(fraction))
        return "";
    if (fraction > 0 && fraction < 0.001)
        snprintf(percent, sizeof(percent), "under 0.1 %%");
    else if (fraction < 0.1)
        text_percent(percent, fraction);
    else
        snprintf(percent, sizeof(percent), "%.0f %%", 100 * fraction);
    return result_text(r, ", %s of %s %s", percent, text_number(number, peak), unit);
}

static const char *answer(struct result *r, const struct bench *b)
{
    const char *how = b->point.outcome.is_measured ? "measured" : "modelled";
    const char *text =
        result_text(r, "%.40s takes %s (%s)", b->point.plan.kernel, us(r, b->median_us), how);

    if (b->bytes > 0)
        text = result_text(r, "%s: %s GB/s%s", text, rate(r, gbs(b)),
                           of_peak(r, share(gbs(b), b->peak_gbs), b->peak_gbs, "GB/s"));
    return result_text(r, "%s.", text);
}

static void add_times(struct result *r, const struct call *call, const struct bench *b)
{
    const struct launch_outcome *o = &b->point.outcome;
    char number[TEXT_NUMBER];

    if (!o->is_measured) {
        view_fact(r, "time",
                  result_text(r, "%s cycles = %s, every time the same",
                              text_number(number, (double)o->facts.timing.cycles),
                              us(r, b->median_us)));
        return;
    }
    view_fact(r, "time",
              result_text(r, "median %s, iqr %s, min %s, max %s", us(r, b->median_us),
                          us(r, b->iqr_us), us(r, b->min_us), us(r, b->max_us)));
    view_fact(r, "samples",
              result_text(r, "%zu, one launch each, %s; %d thrown away (throttled)",
                          o->sample_count,
                          call_bool(call, "cold") ? "caches flushed before" : "caches warm",
                          o->rejected));
    view_fact(r, "clock",
              b->clock_mhz > 0 ? result_text(r, "SM %s MHz", text_number(number, b->clock_mhz))
                               : "not read");
}

/* Percentages say of what: the memory's own numbers, and what a copy reached just now. */
static void add_bytes(struct result *r, const struct bench *b)
{
    double copy = b->point.outcome.copy_gbs;
    char number[TEXT_NUMBER];

    if (b->bytes > 0)
        view_fact(r, "bytes",
                  result_text(r, "%s a launch (%s): %s GB/s%s", text_number(number, b->bytes),
                              b->is_counted ? "32 for each sector counted" : "as said",
                              rate(r, gbs(b)),
                              of_peak(r, share(gbs(b), b->peak_gbs), b->peak_gbs, "GB/s")));
    if (b->bytes > 0 && b->is_asked)
        view_fact(r, "peak",
                  "2 x memory clock x bus width, as the driver says; no program reaches it all");
    if (b->bytes > 0 && copy > 0)
        view_fact(r, "copy",
                  result_text(r,
                              "within the card, in this run: %s GB/s; the launch has %.0f %% of it",
                              rate(r, copy), 100 * share(gbs(b), copy)));
}

static void add_flops(struct result *r, const struct bench *b)
{
    const struct device *d = &b->point.plan.device.device;
    char number[TEXT_NUMBER];

    if (b->flops > 0)
        view_fact(r, "flops",
                  result_text(r, "%s a launch (as said): %s GFLOP/s%s",
                              text_number(number, b->flops), rate(r, gflops(b)),
                              of_peak(r, share(gflops(b), peak_gflops(d)), peak_gflops(d),
                                      "GFLOP/s (fp32)")));
}

static int show(struct result *r, struct call *call, const struct bench *b, struct err *err)
{
    r->view.answer = answer(r, b);
    r->view.origin = launch_origin(r, call, &b->point);
    if (!r->view.answer || !r->view.origin)
        return err_set(err, ERR_ResourceError, "out of memory");
    if (!b->point.outcome.is_measured)
        r->view.closing = "No GPU ran here: device=gpu measures, where there is one.";
    else if (!b->bytes && !b->flops)
        r->view.closing = "To compare it with the card's peak: bytes={12*n} flops={2*n}";
    add_times(r, call, b);
    add_bytes(r, b);
    add_flops(r, b);
    return 0;
}

/* ---- the magic ---- */

/* The kernel that reads the SM's clock, as machine code of the card. */
static int get_probe(struct call *call, const struct launch_plan *plan, struct bytes *out,
                     struct err *err)
{
    struct bytes source = lesson_clock_source();
    const struct image *image;
    char arch[24];
    char *text =
        arena_printf(call->arena, "#line 1 \"clock.cu\"\n%.*s", (int)source.size, source.data);

    if (!text)
        return err_set(err, ERR_ResourceError, "out of memory");
    image_arch(&plan->device.device, arch, sizeof(arch));
    if (image_get(cuda_images(session_cuda(call->session)), session_workers(call->session),
                  bytes_of(text), arch, false, &image, err) < 0)
        return -1;
    *out = image->cubin;
    return 0;
}

static int measure(struct call *call, struct bench *b, struct err *err)
{
    struct launch_plan *plan = &b->point.plan;
    struct launch_request_options options = { .is_quiet = true };
    struct bytes probe;

    if (plan->device.is_gpu) {
        /* Once to see that it is right: a kernel that faults has no time. */
        if (launch_run(call, plan, &options, &b->point.outcome, err) < 0 ||
            get_probe(call, plan, &probe, err) < 0)
            return -1;
        options.repeat = (int)call_int(call, "repeat");
        options.is_cold = call_bool(call, "cold");
        options.probe = &probe;
        options.wants_copy = true;
    }
    return launch_run(call, plan, &options, &b->point.outcome, err);
}

static int run(struct call *call, struct err *err)
{
    struct bench bench = { .median_us = 0 };
    struct launch_line line;
    struct sweep sweep;
    struct result *result;

    if (launch_read(call, true, &line, err) < 0 || sweep_init(&sweep, call, err) < 0)
        return -1;
    if (sweep.key_count)
        return call_fail(call, sweep.keys[0].param->name, err, ERR_UsageError,
                         "%%bench times one launch; %%launch takes ranges and lists");
    if (launch_plan_make(call, &line, &sweep, 0, &bench.point.plan, err) < 0 ||
        measure(call, &bench, err) < 0 || take_times(call, &bench, err) < 0 ||
        find_peak(call, &bench, err) < 0)
        return -1;
    take_work(call, &bench);
    result = result_new("bench", 1);
    if (!result)
        return err_set(err, ERR_ResourceError, "out of memory");
    return call_finish(call, result,
                       set_fields(result, call, &bench, err) < 0 ||
                           show(result, call, &bench, err) < 0,
                       err);
}

static const struct param PARAMS[] = {
    LAUNCH_KEYS("opt"),
    { .name = "repeat",
      .type = PARAM_INT,
      .preset = "50",
      .min = 3,
      .max = 10000,
      .help = "samples (gpu)" },
    { .name = "cold",
      .type = PARAM_BOOL,
      .preset = "yes",
      .help = "flush the caches before each sample (gpu)" },
    { .name = "bytes",
      .type = PARAM_FLOAT,
      .min = 0,
      .max = 1e18,
      .help = "that a launch has to move: {12*n}; else the sectors counted" },
    { .name = "flops",
      .type = PARAM_FLOAT,
      .min = 0,
      .max = 1e21,
      .help = "floating-point operations of a launch: {2*n}" },
};

static const struct field FIELDS[] = {
    { "median_us", "us", "of the samples; the model's time where nothing was measured" },
    { "iqr_us", "us", "spread of the middle half of the samples; null: modelled" },
    { "min_us", "us", "the shortest sample" },
    { "measured", "", "median_us, iqr_us, min_us, repeat, rejected, clock_mhz, samples_us; null" },
    { "modelled", "", "time_us, cycles; null: measured alone" },
    { "gbs", "GB/s", "bytes / median; null without bytes" },
    { "peak_gbs", "GB/s", "of the device's memory: what bandwidth_share is a share of" },
    { "peak_source", "",
      "driver (2 x memory clock x bus width, of a card) or table (%devices); null: unknown" },
    { "bandwidth_share", "0..1", "gbs over peak_gbs" },
    { "copy_gbs", "GB/s",
      "measured: a copy within the card's memory, read and written; else null" },
    { "copy_share", "0..1", "gbs over copy_gbs" },
    { "gflops", "GFLOP/s", "flops / median; null without flops" },
    { "flops_share", "0..1", "gflops over the device's fp32 peak" },
};

const struct magic MAGIC_BENCH = {
    .name = "bench",
    .summary = "times a launch: median and spread, GB/s, share of the peak",
    .about =
        "On a GPU the launch runs once to see that it ends well, then repeat times between two "
        "events: the card is warmed up, buffers are restored and (cold=yes) caches flushed before "
        "each sample, and samples in which the card throttled are done again. Buffers stay as "
        "they are. Shares are of the peak that the driver's numbers give, and of a copy within the "
        "card that is measured in the same run. On the model it is the model's time, which is the same each time. A kernel's "
        "name alone means its last launch.",
    .example = "__global__ void scale(int n, float *x) {\n"
               "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
               "    if (i < n)\n"
               "        x[i] *= 2;\n"
               "}\n"
               "n = 100000\n"
               "%buffer x float[100000] = ones\n"
               "%bench scale<<<(n + 255) / 256, 256>>>(n, x) bytes={8*n}",
    .params = PARAMS,
    .param_count = COUNT(PARAMS),
    .fields = FIELDS,
    .field_count = COUNT(FIELDS),
    .run = run,
};
