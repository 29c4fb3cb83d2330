/*
 * %%grade runs every line of its body whatever fails, and gives the sum of the
 * points: partial credit. The table comes first, so that a student sees which
 * check cost what; the sum is the cell's result, so that a grader can read it.
 */
#include "cells/check.h"
#include "cells/magics.h"
#include "model/base/buf.h"

#include <stdio.h>

static const char *number(struct arena *arena, double v)
{
    struct value value = { .type = VALUE_FLOAT, .f = v };
    const char *text = value_text(arena, &value);

    return text ? text : "?";
}

static double sum_of(const struct grading *grading, bool of_scores)
{
    double sum = 0;

    for (size_t i = 0; i < grading->count; i++)
        sum += of_scores ? grading->rows[i].score : grading->rows[i].points;
    return sum;
}

static json_t *rows_to_json(const struct grading *grading)
{
    json_t *rows = json_array();

    for (size_t i = 0; rows && i < grading->count; i++) {
        const struct grade_row *r = &grading->rows[i];

        if (json_array_append_new(rows, json_pack("{s:s, s:o, s:o, s:s}", "label", r->label,
                                                  "points", json_number(r->points), "score",
                                                  json_number(r->score), "remark", r->remark)) <
            0) {
            json_decref(rows);
            return NULL;
        }
    }
    return rows;
}

static void draw(struct call *call, struct result *result, const struct grading *grading,
                 double score, double points)
{
    static const struct view_column COLUMNS[] = { { "check", VIEW_LEFT },
                                                  { "points", VIEW_RIGHT },
                                                  { "remark", VIEW_LEFT } };
    struct view_table *table = view_add_table(result, COLUMNS, COUNT(COLUMNS), grading->count);
    size_t passed = 0;

    for (size_t i = 0; i < grading->count; i++) {
        const struct grade_row *r = &grading->rows[i];

        passed += r->points > 0 && r->score >= r->points;
        view_cell(table, i, 0,
                  result_text(result, "%s", text_show(call->arena, bytes_of(r->label), 40)));
        view_cell(table, i, 1,
                  result_text(result, "%s of %s", number(call->arena, r->score),
                              number(call->arena, r->points)));
        view_cell(table, i, 2, result_text(result, "%s", *r->remark ? r->remark : "ok"));
    }
    result->view.answer =
        result_text(result, "%s of %s points: %zu of %zu checks hold.", number(call->arena, score),
                    number(call->arena, points), passed, grading->count);
}

static int show(struct call *call, const struct grading *grading, double score, double points,
                struct err *err)
{
    struct result *result = result_new("grade", 1);
    json_t *rows = rows_to_json(grading);

    if (!result || !rows) {
        json_decref(rows);
        result_release(&result);
        return err_set(err, ERR_ResourceError, "out of memory");
    }
    draw(call, result, grading, score, points);
    if (json_object_set_new(result->fields, "score", json_number(score)) < 0 ||
        json_object_set_new(result->fields, "points", json_number(points)) < 0 ||
        json_object_set_new(result->fields, "checks", rows) < 0) {
        result_release(&result);
        return err_set(err, ERR_ResourceError, "out of memory");
    }
    return call_take_result(call, result, err);
}

static int fail_at_zero(struct call *call, const struct grading *grading, double points,
                        struct err *err)
{
    struct buf list = { 0 };

    for (size_t i = 0; i < grading->count; i++)
        if (grading->rows[i].score == 0)
            buf_printf(&list, "%s  failed  %s%s%s", i ? "\n" : "", grading->rows[i].label,
                       *grading->rows[i].remark ? ": " : "", grading->rows[i].remark);
    call_fail(call, NULL, err, ERR_CheckFailed, "0 of %s points: no check holds",
              number(call->arena, points));
    return err_take_detail(err, buf_take(&list));
}

static int finish(struct call *call, const struct grading *grading, struct err *err)
{
    double score = sum_of(grading, true), sum = sum_of(grading, false);
    double points = call_given(call, "points") ? call_float(call, "points") : sum;

    if (grading->count == 0 || sum == 0) {
        call_fail(call, NULL, err, ERR_UsageError, "%%%%grade has no check that is worth a point");
        return err_next(err, "put %%check lines below it, such as %%check n == 5 points=2");
    }
    if (sum > points)
        return call_fail(call, "points", err, ERR_UsageError,
                         "the checks are worth %s points together, points=%s",
                         number(call->arena, sum), number(call->arena, points));
    if (show(call, grading, score, points, err) < 0)
        return -1;
    return score > 0 ? sink_result_text(call->sink, number(call->arena, score), err)
                     : fail_at_zero(call, grading, points, err);
}

static int run(struct call *call, struct err *err)
{
    struct cell *cell = call->session->cell;
    struct grading grading = { .arena = call->arena };
    struct source body = { call->body, call->body_line, 1 };
    int rc;

    if (cell->grading)
        return call_fail(call, NULL, err, ERR_UsageError, "%%%%grade stands inside %%%%grade");
    cell->grading = &grading;
    rc = cell_run_graded(cell, body, err);
    cell->grading = NULL;
    return rc < 0 ? -1 : finish(call, &grading, err);
}

static const struct param PARAMS[] = {
    { .name = "points",
      .type = PARAM_FLOAT,
      .min = 0,
      .max = 1e6,
      .help = "the most that can be had" },
};

const struct magic MAGIC_GRADE = {
    .name = "grade",
    .flags = MAGIC_CELL | MAGIC_SILENT,
    .summary = "runs all checks of its cell and returns the sum of their points",
    .about =
        "A check that fails, or that cannot be decided because a name is missing, scores 0 and "
        "the rest goes on. A check is worth 1 unless it says points=. The result is the sum, "
        "which nbgrader takes as partial credit; a sum of 0 is a CheckFailed error.",
    .example = "%%grade points=3\nn = 5\n%check n == 5 points=2\n%check n > 9 hint=\"look at n\"",
    .params = PARAMS,
    .param_count = COUNT(PARAMS),
    .run = run,
};
