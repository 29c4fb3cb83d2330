/*
 * What is derived from one launch, once, for tables, fields and figures alike.
 */
#include "cells/internal.h"
#include "cells/magics/launch.h"
#include "cells/samples.h"

#include <stdio.h>
#include <stdlib.h>

struct launch_time launch_measured(const struct launch_point *point)
{
    const struct launch_outcome *o = &point->outcome;
    struct launch_time t = { .is_known = o->is_measured && o->sample_count > 0 };
    double *sorted = t.is_known ? malloc(o->sample_count * sizeof(*sorted)) : NULL;

    if (!sorted)
        return (struct launch_time){ 0 };
    memcpy(sorted, o->samples_us, o->sample_count * sizeof(*sorted));
    samples_sort(sorted, o->sample_count);
    t.us = sorted[o->sample_count / 2];
    if (o->sample_count % 2 == 0)
        t.us = (t.us + sorted[o->sample_count / 2 - 1]) / 2;
    free(sorted);
    if (o->clocks_mhz && o->clocks_mhz[0] > 0)
        t.cycles = t.us * o->clocks_mhz[0];
    return t;
}

struct launch_time launch_modelled(const struct launch_point *point)
{
    const struct launch_outcome *o = &point->outcome;

    if (!o->has_facts || o->facts.timing.cycles <= 0)
        return (struct launch_time){ 0 };
    return (struct launch_time){ true, o->facts.timing.time_us, (double)o->facts.timing.cycles };
}

double launch_waves(const struct launch_point *point)
{
    int64_t resident = (int64_t)point->plan.occupancy.active_blocks * point->plan.device.device.sms;

    return resident > 0 ? (double)point->plan.blocks / (double)resident : 0;
}

double launch_line_lanes(const struct ptx_line_facts *line)
{
    return line->warp_instructions
               ? (double)line->thread_instructions / ((double)line->warp_instructions * WARP)
               : 0;
}

bool launch_line_text(struct call *call, const struct ptx_line_facts *line, struct bytes *out)
{
    int cell = 0;

    if (sscanf(line->file, "In[%d]", &cell) != 1 ||
        !cuda_source_line(call->session, cell, line->line, out))
        return false;
    while (out->size && is_blank(out->data[0])) {
        out->data++;
        out->size--;
    }
    while (out->size && (is_blank(out->data[out->size - 1]) || out->data[out->size - 1] == '\r'))
        out->size--;
    return true;
}
