/*
 * %help lists the magics; %help NAME explains a magic, a variable, a kernel or a
 * word of the field, as %NAME? does.
 */
#include "cells/internal.h"
#include "cells/magics.h"

static int run(struct call *call, struct err *err)
{
    const char *name = call_text(call, "name");

    while (name && *name == '%')
        name++;
    if (help_page(call->session, call->sink, name ? name : "", err) < 0)
        return call_fail(call, "name", err, ERR_NameError, "nothing is called so");
    return 0;
}

static const struct param PARAMS[] = {
    { .name = "name",
      .type = PARAM_REST,
      .flags = PARAM_POSITIONAL,
      .help = "a magic, variable, kernel, device or word of the field" },
};

const struct magic MAGIC_HELP = {
    .name = "help",
    .flags = MAGIC_SILENT | MAGIC_PLAIN,
    .summary = "lists the magics; %help NAME explains one name",
    .about = "%NAME?, ?NAME and %NAME --help do the same. Words of the field (warp, occupancy, "
             "stall, ...) have pages too.",
    .example = "%help\n%help warp",
    .params = PARAMS,
    .param_count = COUNT(PARAMS),
    .run = run,
};
