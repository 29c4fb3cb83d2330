/*
 * %reset forgets: code is what cells defined in CUDA C, data the variables and buffers.
 */
#include "cells/buffer.h"
#include "cells/export.h"
#include "cells/internal.h"
#include "cells/launch_recall.h"
#include "cells/magics.h"

#include <stdio.h>

static int run(struct call *call, struct err *err)
{
    const char *what = call_text(call, "what");

    char how[64];

    (void)err;
    snprintf(how, sizeof(how), "freed by %%reset in In[%d]", call->session->run_count);
    if (!what || strcmp(what, "code") == 0) {
        cuda_reset(session_cuda(call->session));
        launch_forget_all(call->session);
    }
    if (!what || strcmp(what, "data") == 0) {
        session_reset_variables(call->session);
        buffers_drop_all(call->session, false, how);
    }
    export_forget(call->session);
    /* Device variables are of both sorts: without their declaration they are nothing. */
    buffers_drop_all(call->session, true, how);
    return 0;
}

static const struct param PARAMS[] = {
    { .name = "what",
      .type = PARAM_CHOICE,
      .flags = PARAM_POSITIONAL,
      .choices = "code data",
      .help = "only this; without it both" },
};

const struct magic MAGIC_RESET = {
    .name = "reset",
    .flags = MAGIC_SILENT,
    .summary = "forgets definitions (code), variables and buffers (data), or both",
    .about = "The session's device and the count of cells stay.",
    .example = "%reset data",
    .params = PARAMS,
    .param_count = COUNT(PARAMS),
    .run = run,
};
