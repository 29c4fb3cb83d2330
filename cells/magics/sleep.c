/*
 * %sleep waits, and wakes at once when the cell is interrupted.
 */
#include "cells/internal.h"
#include "cells/magics.h"

#include <poll.h>
#include <time.h>

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int run(struct call *call, struct err *err)
{
    struct pollfd stop = { .fd = session_stop_fd(call->session), .events = POLLIN };
    int64_t end = now_ms() + (int64_t)(call_float(call, "seconds") * 1000), left;

    while ((left = end - now_ms()) > 0) {
        poll(&stop, 1, (int)left);
        if (call_check_stop(call, err) < 0)
            return -1;
    }
    return call_check_stop(call, err);
}

static const struct param PARAMS[] = {
    { .name = "seconds",
      .type = PARAM_FLOAT,
      .flags = PARAM_POSITIONAL | PARAM_REQUIRED,
      .min = 0,
      .max = 86400,
      .unit = NUMBER_TIME,
      .per_unit = 1,
      .help = "how long, in seconds; 100ms is fine too" },
};

const struct magic MAGIC_SLEEP = {
    .name = "sleep",
    .flags = MAGIC_SILENT,
    .summary = "waits some seconds",
    .about = "An interrupt ends the wait at once.",
    .example = "%sleep 0.01",
    .params = PARAMS,
    .param_count = COUNT(PARAMS),
    .run = run,
};
