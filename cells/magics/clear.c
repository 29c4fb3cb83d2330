/*
 * %clear removes what the cell has shown so far.
 */
#include "cells/magics.h"

static int run(struct call *call, struct err *err)
{
    (void)err;
    if (call->sink && call->sink->clear)
        call->sink->clear(call->sink, call_bool(call, "wait"));
    return 0;
}

static const struct param PARAMS[] = {
    { .name = "wait",
      .type = PARAM_BOOL,
      .preset = "no",
      .help = "yes: only when the next output arrives, so that nothing flickers" },
};

const struct magic MAGIC_CLEAR = {
    .name = "clear",
    .flags = MAGIC_SILENT,
    .summary = "removes the cell's outputs so far",
    .about = "Variables and definitions stay; %reset forgets those.",
    .example = "%echo before\n%clear wait=yes\n%echo after",
    .params = PARAMS,
    .param_count = COUNT(PARAMS),
    .run = run,
};
