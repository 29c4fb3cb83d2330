/*
 * %bench: how long a launch takes, again and again. On a card that is measured: median
 * and spread of samples between two events, buffers restored and caches flushed before
 * each. Without one it is the model's answer, and says so.
 */
#include "cells/figure.h"
#include "cells/internal.h"
#include "cells/images.h"
#include "cells/cuda_table.h"
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

static int set_fields(struct result *result, struct call *call, const struct bench *b,
                      struct err *err)
{
    const struct device *d = &b->point.plan.device.device;
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
    failed |= json_object_set_new(f, "bandwidth_share",
                                  known(b->bytes > 0 && d->bandwidth_gbs > 0,
                                        share(gbs(b), d->bandwidth_gbs)));
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
    const struct device *d = &b->point.plan.device.device;

    if (b->bytes > 0)
        text = result_text(r, "%s: %s GB/s%s", text, rate(r, gbs(b)),
                           of_peak(r, share(gbs(b), d->bandwidth_gbs), d->bandwidth_gbs, "GB/s"));
    return result_text(r, "%s.", text);
}

static int add_rows(struct result *r, const struct call *call, const struct bench *b,
                    struct err *err)
{
    const struct launch_outcome *o = &b->point.outcome;
    const struct device *d = &b->point.plan.device.device;
    const char *names[8], *texts[8];
    struct view_block *block;
    size_t n = 0;
    char number[TEXT_NUMBER];

    if (o->is_measured) {
        names[n] = "time";
        texts[n++] = result_text(r, "median %s, iqr %s, min %s, max %s", us(r, b->median_us),
                                 us(r, b->iqr_us), us(r, b->min_us), us(r, b->max_us));
        names[n] = "samples";
        texts[n++] =
            result_text(r, "%zu, one launch each, %s; %d thrown away (throttled)", o->sample_count,
                        call_bool(call, "cold") ? "caches flushed before" : "caches warm",
                        o->rejected);
        names[n] = "clock";
        texts[n++] = b->clock_mhz > 0
                         ? result_text(r, "SM %s MHz", text_number(number, b->clock_mhz))
                         : "not read";
    } else {
        names[n] = "time";
        texts[n++] =
            result_text(r, "%s cycles = %s, every time the same",
                        text_number(number, (double)o->facts.timing.cycles), us(r, b->median_us));
    }
    if (b->bytes > 0) {
        names[n] = "bytes";
        texts[n++] =
            result_text(r, "%s a launch (%s): %s GB/s%s", text_number(number, b->bytes),
                        b->is_counted ? "32 for each sector counted" : "as said", rate(r, gbs(b)),
                        of_peak(r, share(gbs(b), d->bandwidth_gbs), d->bandwidth_gbs, "GB/s"));
    }
    if (b->flops > 0) {
        names[n] = "flops";
        texts[n++] = result_text(r, "%s a launch (as said): %s GFLOP/s%s",
                                 text_number(number, b->flops), rate(r, gflops(b)),
                                 of_peak(r, share(gflops(b), peak_gflops(d)), peak_gflops(d),
                                         "GFLOP/s (fp32)"));
    }
    block = view_add_facts(r, n);
    if (!block)
        return err_set(err, ERR_ResourceError, "out of memory");
    for (size_t i = 0; i < n; i++) {
        block->names[i] = names[i];
        block->texts[i] = texts[i] ? texts[i] : "";
    }
    return 0;
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
    return add_rows(r, call, b, err);
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
        measure(call, &bench, err) < 0 || take_times(call, &bench, err) < 0)
        return -1;
    take_work(call, &bench);
    result = result_new("bench", 1);
    if (!result)
        return err_set(err, ERR_ResourceError, "out of memory");
    if (set_fields(result, call, &bench, err) < 0 || show(result, call, &bench, err) < 0) {
        result_release(&result);
        return -1;
    }
    return call_take_result(call, result, err);
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
    { "bandwidth_share", "0..1", "gbs over the device's bandwidth" },
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
        "they are. On the model it is the model's time, which is the same each time. A kernel's "
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
