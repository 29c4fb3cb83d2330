/*
 * %score gives a number to the grader: the cell's execute_result.
 */
#include "cells/check.h"
#include "cells/magics.h"

#include <math.h>

static int check_bounds(struct call *call, double score, struct err *err)
{
    double of = call_float(call, "of");

    if (!isfinite(score) || score < 0)
        return call_fail(call, "expression", err, ERR_ValueError,
                         "a score of %s: it is a number from 0 up",
                         isnan(score) ? "nan" : arena_printf(call->arena, "%g", score));
    if (call_given(call, "of") && score > of)
        return call_fail(call, "expression", err, ERR_ValueError, "a score of %g is above of=%g",
                         score, of);
    return 0;
}

static int give(struct call *call, const struct value *score, struct err *err)
{
    const char *text = value_text(call->arena, score);

    return text ? sink_result_text(call->sink, text, err)
                : err_set(err, ERR_ResourceError, "out of memory");
}

static int run(struct call *call, struct err *err)
{
    struct grading *grading = call->session->cell->grading;
    struct value v;
    double score;

    if (expr_eval_source(call->session, call_source(call, "expression"), call->arena, &v, err) < 0)
        return -1;
    if (!value_as_float(&v, &score))
        return call_fail(call, "expression", err, ERR_UsageError, "a score is a number, not %s",
                         value_a_type(v.type));
    if (check_bounds(call, score, err) < 0)
        return -1;
    if (grading)
        return grading_add(grading, call_text(call, "expression"),
                           call_given(call, "of") ? call_float(call, "of") : score, score, "", err);
    if (v.type == VALUE_BOOL)
        v = (struct value){ .type = VALUE_INT, .i = v.b };
    return give(call, &v, err);
}

static const struct param PARAMS[] = {
    { .name = "expression",
      .type = PARAM_REST,
      .flags = PARAM_POSITIONAL | PARAM_REQUIRED,
      .help = "the score, a number from 0 up" },
    { .name = "of", .type = PARAM_FLOAT, .min = 0, .max = 1e6, .help = "the most that can be had" },
};

const struct magic MAGIC_SCORE = {
    .name = "score",
    .flags = MAGIC_SILENT,
    .summary = "returns a number as the cell's result, for partial credit",
    .about = "nbgrader takes the first result of a test cell as its points. Inside %%grade the "
             "score is one more row of the table instead.",
    .example = "%score 2.5 of=4",
    .params = PARAMS,
    .param_count = COUNT(PARAMS),
    .run = run,
};
