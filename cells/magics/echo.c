/*
 * %echo writes a line as it is: for headings between outputs, and for tests of streams.
 */
#include "cells/magics.h"

static int run(struct call *call, struct err *err)
{
    const char *text = call_text(call, "text");

    (void)err;
    sink_printf(call->sink, call_bool(call, "e") ? STREAM_STDERR : STREAM_STDOUT, "%s\n",
                text ? text : "");
    return 0;
}

static const struct param PARAMS[] = {
    { .name = "e", .type = PARAM_BOOL, .preset = "no", .help = "-e: to stderr instead of stdout" },
    { .name = "text",
      .type = PARAM_REST,
      .flags = PARAM_POSITIONAL,
      .help = "the rest of the line, as written" },
};

const struct magic MAGIC_ECHO = {
    .name = "echo",
    .flags = MAGIC_SILENT | MAGIC_PLAIN,
    .summary = "writes the rest of the line to stdout, with -e to stderr",
    .about = "The text is written as it stands, without the blanks around it and without a "
             "comment at its end. Graders take any text on stderr as a failure.",
    .example = "%echo a warp has 32 lanes",
    .params = PARAMS,
    .param_count = COUNT(PARAMS),
    .run = run,
};
