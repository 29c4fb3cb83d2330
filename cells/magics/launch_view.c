/*
 * How a launch reads: what happened first, then where to look.
 */
#include "cells/magics/launch.h"

#include "cells/internal.h"

int launch_fill_result(struct result *result, struct call *call, const struct launch_point *point,
                       struct err *err)
{
    const struct launch_outcome *o = &point->outcome;

    (void)call;
    result->view.answer = result_text(
        result, "%s ran: %lld cycles = %.1f us (model), no fault found.", point->plan.kernel,
        (long long)o->facts.timing.cycles, o->facts.timing.time_us);
    json_object_set_new(result->fields, "time_us", json_number(o->facts.timing.time_us));
    return result->view.answer ? 0 : err_set(err, ERR_ResourceError, "out of memory");
}
