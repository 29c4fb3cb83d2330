/*
 * %let names a value for the cells that follow. `n = 1000` alone on a line says
 * the same; %let is for lines that should look like a magic.
 */
#include "cells/cell.h"
#include "cells/magics.h"

static int run(struct call *call, struct err *err)
{
    return cell_assign(call->session->cell, call_source(call, "assignment"), err);
}

static const struct param PARAMS[] = {
    { .name = "assignment",
      .type = PARAM_REST,
      .flags = PARAM_POSITIONAL | PARAM_REQUIRED,
      .help = "NAME = VALUE; the value is any expression, or a magic that gives a result" },
};

const struct magic MAGIC_LET = {
    .name = "let",
    .flags = MAGIC_SILENT,
    .summary = "sets a variable: %let n = 1000",
    .about = "The name holds the value until it is set again or %reset. Values are integers (64 "
             "bits), decimals, yes and no, texts in quotes, lists, ranges, dimensions and results. "
             "`n = 1000` alone on a line means the same, and is what papermill writes.",
    .example = "%let n = 1000\n%let blocks = (n + 255) / 256\n%let sizes = [32, 64, 128]",
    .params = PARAMS,
    .param_count = COUNT(PARAMS),
    .run = run,
};
