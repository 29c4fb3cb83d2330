/*
 * %run: lessons and experiments. A lesson's rungs are rows of kernels/lessons.c, an experiment is a
 * row of kernels/experiments/; this file has the keys of both, lists them and runs a lesson.
 */
#include "cells/magics/run.h"

#include "cells/cell.h"
#include "cells/magics.h"
#include "cells/render/text.h"

enum {
    MODEL_BLOCKS = 64, /* of a launch, spread evenly: all blocks of a lesson do the same work */
    MOST_ELEMENTS = 1 << 24,
};

static void list_rungs(const struct lesson *lesson, struct buf *text)
{
    enum { TEACHES_AT = 30 }; /* column */

    for (size_t k = 0; k < lesson->rung_count; k++) {
        buf_printf(text, "      %-22s  ", lesson->rungs[k].name);
        text_put_wrapped(text, lesson->rungs[k].teaches, TEACHES_AT, TEACHES_AT);
        buf_putc(text, '\n');
    }
}

static void list_experiment(const struct experiment *e, struct buf *text)
{
    enum { QUESTION_AT = 15 }; /* column */

    buf_printf(text, "  %-12s ", e->name);
    text_put_wrapped(text, e->question, QUESTION_AT, QUESTION_AT);
    buf_printf(text, "\n%*s%s=", QUESTION_AT, "", e->axis.name);
    if (e->series.name)
        buf_printf(text, " %s=", e->series.name);
    buf_putc(text, '\n');
}

static int list_lessons(const struct call *call, struct err *err)
{
    struct buf text = { 0 };
    int rc = 0;

    buf_puts(&text, "A sweep each, measured on a GPU and modelled:\n");
    for (size_t i = 0; i < EXPERIMENT_COUNT; i++)
        list_experiment(EXPERIMENTS[i], &text);
    buf_puts(&text, "Variants of one kernel:\n");
    for (size_t i = 0; i < LESSON_COUNT; i++) {
        buf_printf(&text, "  %s  %s\n", LESSONS[i].name, LESSONS[i].question);
        list_rungs(&LESSONS[i], &text);
    }
    buf_printf(&text, "%%run %s runs one; %%source %s prints its kernels.\n", EXPERIMENTS[0]->name,
               EXPERIMENTS[0]->name);
    if (text.is_failed)
        rc = err_set(err, ERR_ResourceError, "out of memory");
    else
        sink_printf(call->sink, STREAM_STDOUT, "%s", text.data);
    buf_done(&text);
    return rc;
}

static int unknown_lesson(const struct call *call, const char *name, struct err *err)
{
    struct nearest nearest = { .wanted = name };

    for (size_t i = 0; i < LESSON_COUNT; i++)
        nearest_try(&nearest, LESSONS[i].name);
    for (size_t i = 0; i < EXPERIMENT_COUNT; i++)
        nearest_try(&nearest, EXPERIMENTS[i]->name);
    err_next(err, "%%run alone lists the lessons");
    if (nearest.best)
        return call_fail(call, "name", err, ERR_NameError,
                         "no lesson is called %.60s; %s is the nearest", name, nearest.best);
    return call_fail(call, "name", err, ERR_NameError, "no lesson is called %.60s", name);
}

int run_choose_device(const struct call *call, struct session_device *device, bool *use_gpu,
                      bool *use_model, struct err *err)
{
    if (call_device(call, device, err) < 0)
        return -1;
    *use_gpu = device->is_gpu;
    *use_model = !device->is_gpu || !call_given(call, "device");
    return 0;
}

static int run_lesson(struct call *call, const struct lesson *lesson, struct err *err)
{
    struct lesson_run *run = arena_alloc(call->arena, sizeof(*run));
    struct result *result;

    if (!run)
        return err_set(err, ERR_ResourceError, "out of memory");
    run->lesson = lesson;
    run->n = call_int(call, "n");
    run->block = (int)call_int(call, "block");
    run->repeat = (int)call_int(call, "repeat");
    run->seed = (uint64_t)call_int(call, "seed");
    run->model_blocks = MODEL_BLOCKS;
    if (run_choose_device(call, &run->device, &run->use_gpu, &run->use_model, err) < 0 ||
        lesson_run(call, run, err) < 0)
        return call_mark(call, err);
    result = result_new("run", 1);
    if (!result)
        return err_set(err, ERR_ResourceError, "out of memory");
    return call_finish(call, result, run_fill_result(result, call, run, err) < 0, err);
}

static int run(struct call *call, struct err *err)
{
    const char *name = call_text(call, "name");
    const struct lesson *lesson = name ? lesson_find(name) : NULL;
    const struct experiment *experiment = name ? experiment_find(name) : NULL;

    if (!name)
        return list_lessons(call, err);
    if (experiment)
        return run_experiment(call, experiment, err);
    return lesson ? run_lesson(call, lesson, err) : unknown_lesson(call, name, err);
}

/* ---- the row ---- */

static const struct param PARAMS[] = {
    { .name = "name",
      .type = PARAM_NAME,
      .flags = PARAM_POSITIONAL,
      .help = "the lesson; without it they are listed" },
    { .name = "device",
      .type = PARAM_DEVICE,
      .help = "gpu measures, model or a name models; else the session's card does both" },
    /* Keys of experiments: without a value, an experiment's own. */
    { .name = "warps",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP | PARAM_OPTIONAL,
      .min = 1,
      .max = 64,
      .help = "policy, ilp, order: warps a scheduler; barrier: warps of the block" },
    { .name = "order",
      .type = PARAM_NAME,
      .flags = PARAM_SWEEP | PARAM_OPTIONAL,
      .help = "order: paired or alternating" },
    { .name = "body",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP | PARAM_OPTIONAL,
      .min = 1,
      .max = 128,
      .help = "predication: steps on each way of the if" },
    { .name = "split",
      .type = PARAM_NAME,
      .flags = PARAM_SWEEP | PARAM_OPTIONAL,
      .help = "predication: lanes or warps, which disagree" },
    { .name = "spread",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP | PARAM_OPTIONAL,
      .min = 0,
      .max = 6,
      .help = "trips: lanes make 6 - spread to 6 + spread trips" },
    { .name = "paths",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP | PARAM_OPTIONAL,
      .min = 1,
      .max = 8,
      .help = "its: paths of the warp" },
    { .name = "from",
      .type = PARAM_NAME,
      .flags = PARAM_SWEEP | PARAM_OPTIONAL,
      .help = "its: shared or l2" },
    { .name = "footprint",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP | PARAM_OPTIONAL,
      .min = 1,
      .max = 1 << 30,
      .help = "chase: bytes, a power of two" },
    { .name = "depth",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP | PARAM_OPTIONAL,
      .min = 0,
      .max = 7,
      .help = "nested: ifs in each other" },
    { .name = "unit",
      .type = PARAM_NAME,
      .flags = PARAM_SWEEP | PARAM_OPTIONAL,
      .help = "units: fp32 half2 fp64 int32 imad sfu shuffle" },
    { .name = "way",
      .type = PARAM_NAME,
      .flags = PARAM_SWEEP | PARAM_OPTIONAL,
      .help = "units, banks: chain (latency) stream (rate); launch: stream graph" },
    { .name = "stride",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP | PARAM_OPTIONAL,
      .min = 1,
      .max = 64,
      .help = "banks, coalesce: words from lane to lane" },
    { .name = "issue",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP | PARAM_OPTIONAL,
      .min = 8,
      .max = 32,
      .help = "policy: instructions of a batch" },
    { .name = "chains",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP | PARAM_OPTIONAL,
      .min = 1,
      .max = 64,
      .help = "ilp: independent chains of a thread" },
    { .name = "threads",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP | PARAM_OPTIONAL,
      .min = 32,
      .max = 1024,
      .help = "blocksize: threads a block" },
    { .name = "kernel",
      .type = PARAM_NAME,
      .flags = PARAM_SWEEP | PARAM_OPTIONAL,
      .help = "blocksize, registers, scaling: which kernels" },
    { .name = "registers",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP | PARAM_OPTIONAL,
      .min = 24,
      .max = 128,
      .help = "registers: of a thread" },
    { .name = "dynamic",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP | PARAM_OPTIONAL,
      .min = 4,
      .max = 232448,
      .help = "shared: bytes a block asks for" },
    { .name = "offset",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP | PARAM_OPTIONAL,
      .min = 0,
      .max = 31,
      .help = "coalesce: in words" },
    { .name = "inflight",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP | PARAM_OPTIONAL,
      .min = 512,
      .max = 262144,
      .help = "little: bytes in flight on an SM" },
    { .name = "load",
      .type = PARAM_NAME,
      .flags = PARAM_SWEEP | PARAM_OPTIONAL,
      .help = "little: what a thread loads: float float2 float4 floatx4 float4x4 float4x8" },
    { .name = "blocks",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP | PARAM_OPTIONAL,
      .min = 1,
      .max = 1600,
      .help = "waves: in percent of the SMs; scaling: a number" },
    { .name = "addresses",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP | PARAM_OPTIONAL,
      .min = 1,
      .max = 4096,
      .help = "atomics: how many" },
    { .name = "space",
      .type = PARAM_NAME,
      .flags = PARAM_SWEEP | PARAM_OPTIONAL,
      .help = "atomics: shared global" },
    { .name = "pipe",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP | PARAM_OPTIONAL,
      .min = 1,
      .max = 8,
      .help = "pipeline: slots of the ring" },
    { .name = "roles",
      .type = PARAM_NAME,
      .flags = PARAM_SWEEP | PARAM_OPTIONAL,
      .help = "pipeline: roles one" },
    { .name = "steps",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP | PARAM_OPTIONAL,
      .min = 0,
      .max = 1048576,
      .help = "launch: multiplications in a row" },
    { .name = "live",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP | PARAM_OPTIONAL,
      .min = 1,
      .max = 300,
      .help = "spill: sums kept at once" },
    { .name = "cap",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP | PARAM_OPTIONAL,
      .min = 64,
      .max = 255,
      .help = "spill: registers a thread may take" },
    { .name = "n",
      .type = PARAM_INT,
      .preset = "1M",
      .min = 1,
      .max = MOST_ELEMENTS,
      .help = "elements, one thread each" },
    { .name = "block",
      .type = PARAM_INT,
      .preset = "256",
      .min = 1,
      .max = 1024,
      .help = "threads a block" },
    { .name = "repeat",
      .type = PARAM_INT,
      .preset = "20",
      .min = 3,
      .max = 1000,
      .help = "measured repeats of each variant (gpu)" },
    { .name = "seed",
      .type = PARAM_INT,
      .preset = "1",
      .min = 0,
      .max = 9007199254740992.0,
      .help = "of the random input" },
};

static const struct field FIELDS[] = {
    { "experiment", "", "the name of a sweep; its points are below. Variants: see there" },
    { "points", "",
      "one entry a point: x, series, correct, measured, modelled, closed_form, ratio" },
    { "points[0].measured", "",
      "median, iqr, min, cycles, repeat, clock_mhz, samples; null: no GPU" },
    { "points[0].modelled", "", "value, cycles, time_us; null: not modelled" },
    { "points[0].closed_form", "", "the same by a formula; null: there is none" },
    { "mape", "%", "mean of |modelled - measured| / measured; null: not both" },
    { "parameters", "", "calibrated: by this experiment, on an H200; predicted: by none" },
    { "left_out", "", "what the model lacks, where mape is above goal_percent; else null" },
    { "variants", "", "one entry a variant: name, kernel, correct, branch, lane_efficiency, ..." },
    { "variants[0].branch", "", "what the compiler made of the branch: bra loop selp" },
    { "variants[0].lane_efficiency", "0..1", "lanes busy, of 32, over all instructions" },
    { "variants[0].as_written", "", "the same counts for the code as written (build=debug)" },
    { "variants[0].measured", "us", "median_us, iqr_us, cycles, repeat, clock_mhz; null: no GPU" },
    { "variants[0].modelled", "us", "time_us, cycles; null: not modelled" },
    { "variants[0].model_ratio", "", "modelled / measured time" },
    { "variants[0].twin_ratio", "", "time over that of the twin, which does the same work" },
    { "conclusion", "", "the first lines of the table" },
};

const struct magic MAGIC_RUN = {
    .name = "run",
    .summary = "an experiment: a sweep or variants, checked, modelled, measured on a GPU",
    .about =
        "Each point of a sweep, each variant, is a kernel that %source prints: compiled for the "
        "device, run on the interpreter, and compared with the CPU's result before anything is "
        "timed; a wrong one has no time. A GPU is warmed up, points are measured in turn so that "
        "drift meets all alike, and the median and the inter-quartile range are shown: of the time "
        "between two events, or of the cycles between two readings of the SM's clock. The model "
        "has the same launches. A sweep's keys are named in the list of %run; a variant's twin "
        "does the same work with whole warps on one path.",
    .example = "%run\n"
               "%run ilp device=H200 warps=1..8 chains=[1,4]\n"
               "%run divergence device=model\n"
               "%run divergence device=L40S n=64K block=128",
    .params = PARAMS,
    .param_count = COUNT(PARAMS),
    .fields = FIELDS,
    .field_count = COUNT(FIELDS),
    .run = run,
};
