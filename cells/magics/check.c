/*
 * %check states a fact. It is silent but for one line when the fact holds, and
 * ends the cell when it does not: for a grader, an error is zero points.
 */
#include "cells/check.h"
#include "cells/magics.h"

/* The unit of points inside %%grade: a check that does not say is worth one. */
static double points_of(const struct call *call)
{
    return call_given(call, "points") ? call_float(call, "points") : 1;
}

static const char *label_of(const struct call *call)
{
    const char *label = call_text(call, "label");

    if (label)
        return text_show(call->arena, bytes_of(label), 120);
    if (call_bool(call, "hide_expected"))
        return "check";
    return text_show(call->arena, bytes_of(call_text(call, "expression")), 60);
}

static int seal(struct call *call, struct err *err)
{
    struct value v;
    char sealed[SEAL_TEXT];

    if (expr_eval_source(call->session, call_source(call, "expression"), call->arena, &v, err) <
            0 ||
        check_seal(&v, sealed, err) < 0)
        return -1;
    sink_printf(call->sink, STREAM_STDOUT, "sealed=\"%s\"\n", sealed);
    return 0;
}

/* "got 4, expected 5", without the label that the row shows anyway. */
static const char *remark_of(struct call *call, const struct err *err)
{
    const char *label = label_of(call), *text = err->text, *hint = call_text(call, "hint");
    size_t n = strlen(label);

    if (strncmp(text, label, n) == 0 && strncmp(text + n, ": ", 2) == 0)
        text += n + 2;
    if (err->name != ERR_CheckFailed)
        text = arena_printf(call->arena, "%s: %s", err_spelling(err->name), text);
    if (text && hint)
        text = arena_printf(call->arena, "%s (%s)", text, hint);
    return text ? text : "";
}

/* Inside %%grade a failing check is a row of the table. */
static int record(struct call *call, int rc, struct err *err)
{
    double points = points_of(call), score = rc < 0 ? 0 : points;
    const char *remark = "";

    if (err->name == ERR_Interrupted || err->name == ERR_ResourceError)
        return -1;
    if (rc < 0) {
        remark = arena_string(call->arena, remark_of(call, err));
        err_done(err);
    }
    return grading_add(call->session->cell->grading, label_of(call), points, score,
                       remark ? remark : "", err);
}

static int run(struct call *call, struct err *err)
{
    struct check_options options = { .label = call_text(call, "label"),
                                     .sealed = call_text(call, "sealed"),
                                     .hide_expected = call_bool(call, "hide_expected") };
    int rc;

    if (options.sealed && strcmp(options.sealed, "new") == 0)
        return seal(call, err);
    rc = check_run(call->session, call_source(call, "expression"), &options, call->arena, err);
    if (call->session->cell->grading)
        return record(call, rc, err);
    if (rc < 0) {
        if (call_text(call, "hint") && err->name == ERR_CheckFailed)
            err_next(err, "%s", call_text(call, "hint"));
        return -1;
    }
    sink_printf(call->sink, STREAM_STDOUT, "ok    %s\n", label_of(call));
    return 0;
}

static const struct param PARAMS[] = {
    { .name = "expression",
      .type = PARAM_REST,
      .flags = PARAM_POSITIONAL | PARAM_REQUIRED,
      .help = "what must hold; == takes a tolerance: a == b +- 0.5, +- 1%" },
    { .name = "label", .type = PARAM_TEXT, .help = "\"text\" shown instead of the expression" },
    { .name = "hint", .type = PARAM_TEXT, .help = "\"text\" shown as the next step when it fails" },
    { .name = "points", .type = PARAM_FLOAT, .min = 0, .max = 1e6, .help = "worth inside %%grade" },
    { .name = "hide_expected",
      .type = PARAM_BOOL,
      .preset = "no",
      .help = "yes: a failure does not show what was expected" },
    { .name = "sealed",
      .type = PARAM_TEXT,
      .help = "a sealed answer that the value must match; sealed=new prints one" },
};

const struct magic MAGIC_CHECK = {
    .name = "check",
    .flags = MAGIC_SILENT,
    .summary = "fails the cell unless a fact holds: %check occ.active_warps == 40",
    .about = "A failure is a CheckFailed error that shows both sides and where they differ. nan "
             "never passes. A value that the device cannot count (null) is a UsageError.\n"
             "sealed= compares with a salted, stretched SHA-256 instead of a visible answer: "
             "wb1$SALT$HASH, where HASH is SHA-256 of SALT:VALUE, hashed 20,000 times in all.",
    .example = "%check 2 + 3 == 5\n"
               "%check [1, 2] == [1, 2.001] +- 0.01 label=\"nearly the same\" points=2\n"
               "%check 41 + 1 sealed=new",
    .params = PARAMS,
    .param_count = COUNT(PARAMS),
    .run = run,
};
