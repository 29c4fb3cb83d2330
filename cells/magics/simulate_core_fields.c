/*
 * The numbers of a run of the core layer, with the identities of Nsight Compute, and its fields.
 */
#include "cells/internal.h"
#include "cells/magics/simulate_core_view.h"
#include "model/memory.h"

const char CORE_VIEW_MARKS[] = {
    [STALL_selected] = '#',
    [STALL_not_selected] = '.',
    [STALL_wait] = '-',
    [STALL_long_scoreboard] = 'L',
    [STALL_short_scoreboard] = 'S',
    [STALL_math_pipe] = 'P',
    [STALL_lg_throttle] = 'G',
    [STALL_mio_throttle] = 'M',
    [STALL_barrier] = 'B',
    [STALL_branch] = 'R',
    [STALL_drain] = 'D',
    [CORE_NO_WARP] = ' ',
};

void core_view_find_states(const struct core_view *v, bool is_used[STALL_COUNT + 1])
{
    for (size_t i = 0; i < (size_t)v->c->warps * (size_t)v->s->cycles; i++)
        is_used[v->c->record.states[i]] = true;
}

/* Cycles of warps in a state, for each instruction that issues. */
double core_view_per_issue(const struct core_view *v, enum stall stall)
{
    const struct core_totals *sums = &v->c->steady.sums;

    return sums->issued ? (double)sums->stalls[stall] / (double)sums->issued : 0;
}

double core_view_active_warps(const struct core_view *v)
{
    double sum = 0;

    for (int i = 0; i < STALL_COUNT; i++)
        sum += (double)v->c->steady.sums.stalls[i];
    return sum / ((double)v->c->steady.cycles * v->c->config.partitions);
}

/* Some warp is eligible in a cycle in which a scheduler issues, or changes the warp. */
double core_view_some_eligible(const struct core_view *v)
{
    const struct core_totals *sums = &v->c->steady.sums;

    return (double)(sums->issued + sums->switching) /
           ((double)v->c->steady.cycles * v->c->config.partitions);
}

double core_view_cycles_per_issue(const struct core_view *v)
{
    double sum = 0;

    for (int i = 0; i < STALL_COUNT; i++)
        sum += core_view_per_issue(v, (enum stall)i);
    return sum;
}

static json_t *round_cycles_json(const struct core_view *v)
{
    return v->s->round_cycles > 0 ? json_real(v->s->round_cycles) : json_null();
}

double core_view_lane_efficiency(const struct core_view *v)
{
    const struct body *body = &v->c->body;

    return body->instructions ? (double)body->lanes / ((double)body->instructions * WARP) : 0;
}

double core_view_unit_share(const struct core_view *v, int unit)
{
    return (double)v->c->steady.sums.unit_busy[unit] /
           ((double)v->c->steady.cycles * v->c->config.partitions);
}

/* ---- fields ---- */

/* "long scoreboard" as a key: long_scoreboard. */
static void put_key(char *key, const char *name)
{
    for (; *name; name++)
        *key++ = *name == ' ' ? '_' : (char)(*name >= 'A' && *name <= 'Z' ? *name | 32 : *name);
    *key = '\0';
}

static json_t *stalls_json(const struct core_view *v)
{
    json_t *object = json_object();
    int failed = 0;

    for (int i = 0; i < STALL_COUNT; i++) {
        char key[40];

        put_key(key, stall_name((enum stall)i));
        failed |=
            json_object_set_new(object, key, json_real(core_view_per_issue(v, (enum stall)i)));
    }
    return json_whole(object, failed);
}

const char *core_view_unit_name(int unit)
{
    static const char *const NAMES[LAT_COUNT] = {
        [LAT_FREE] = "none",
        [LAT_ALU] = "int",
        [LAT_IMUL] = "imul",
        [LAT_FMA] = "fp32",
        [LAT_HALF] = "fp16",
        [LAT_F64] = "fp64",
        [LAT_SFU] = "sfu",
        [LAT_DIVIDE] = "divide",
        [LAT_DIVIDE64] = "divide64",
        [LAT_SHFL] = "shuffle",
        [LAT_SHARED] = "shared",
        [LAT_GLOBAL] = "global",
        [LAT_ATOM] = "atomic",
        [LAT_BARRIER] = "barrier",
        [LAT_BRANCH] = "branch",
        [LAT_MMA] = "mma",
        [LAT_MMA_SHORT] = "mma_short",
        [LAT_MMA_F64] = "mma_fp64",
        [LAT_DIVIDE_CONSTANT] = "divide_constant",
    };

    return NAMES[unit];
}

static json_t *units_json(const struct core_view *v)
{
    json_t *object = json_object();
    int failed = 0;

    for (int u = 0; u < LAT_COUNT; u++)
        if (v->c->steady.sums.unit_busy[u])
            failed |= json_object_set_new(object, core_view_unit_name(u),
                                          json_real(core_view_unit_share(v, u)));
    return json_whole(object, failed);
}

/* Bytes a cycle, passes a cycle for shared memory. */
double core_view_place_rate(const struct core_view *v, int place)
{
    double n = (double)v->c->steady.sums.sectors[place] / (double)v->c->steady.cycles;

    return place == CORE_SHARED ? n : n * SECTOR_BYTES;
}

static json_t *memory_json(const struct core_view *v)
{
    static const char *const KEYS[] = { "shared_passes", "l1_bytes", "l2_bytes", "far_bytes",
                                        "dram_bytes" };
    json_t *object = json_object();
    int failed = 0;

    for (int i = 0; i < CORE_PLACE_COUNT; i++)
        failed |= json_object_set_new(object, KEYS[i], json_real(core_view_place_rate(v, i)));
    return json_whole(object, failed);
}

static json_t *timeline_json(const struct core_view *v)
{
    json_t *issuer = json_array(), *states = json_array();
    size_t cycles = (size_t)v->s->cycles;
    char *text = arena_array(v->result->arena, cycles + 1, 1);
    int failed = text == NULL;

    for (int i = 0; i < v->c->config.partitions; i++) {
        json_t *row = json_array();

        for (size_t k = 0; k < cycles; k++)
            failed |= json_array_append_new(
                row, json_integer(max_i64(v->c->record.issuer[(size_t)i * cycles + k], -1)));
        failed |= json_array_append_new(issuer, row);
    }
    for (int w = 0; text && w < v->c->warps; w++) {
        for (size_t k = 0; k < cycles; k++)
            text[k] = CORE_VIEW_MARKS[v->c->record.states[(size_t)w * cycles + k]];
        failed |= json_array_append_new(states, json_string(text));
    }
    return json_pack("{s:i, s:o, s:o}", "cycles", v->s->cycles, "issuer", issuer, "states",
                     json_whole(states, failed));
}

static json_t *per_warp_json(const struct core_view *v)
{
    json_t *list = json_array();
    int failed = 0;

    for (int w = 0; w < v->c->warps; w++)
        failed |=
            json_array_append_new(list,
                                  json_pack("{s:I, s:I, s:b}", "issued",
                                            (json_int_t)v->s->timeline.warp_issued[w], "per_period",
                                            (json_int_t)v->c->steady.warp_issued[w], "starved",
                                            v->c->steady.warp_issued[w] == 0));
    return json_whole(list, failed);
}

static json_t *scheduler_json(const struct core_view *v)
{
    const struct steady *steady = &v->s->steady;

    return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f}", "one_or_more_eligible",
                     core_view_some_eligible(v), "no_eligible", 1 - core_view_some_eligible(v),
                     "issued_per_scheduler", steady->issue_utilization, "active_warps",
                     core_view_active_warps(v), "eligible_warps", steady->eligible,
                     "warp_cycles_per_issued", core_view_cycles_per_issue(v));
}

int core_view_set_fields(const struct core_view *v, struct err *err)
{
    const struct steady *steady = &v->s->steady;
    json_t *fields = json_pack(
        "{s:s, s:f, s:o, s:I, s:I, s:{s:f, s:f, s:f, s:f}, s:o, s:o, s:o, s:o, s:I, s:o, s:f, "
        "s:f, s:o, s:o}",
        "layer", "core", "issue_utilization", steady->issue_utilization, "period",
        steady->period ? json_integer(steady->period) : json_null(), "warmup",
        (json_int_t)steady->warmup, "issued", (json_int_t)v->s->timeline.issued, "warp_states",
        "selected", steady->selected, "not_selected", steady->not_selected, "stalled",
        steady->stalled, "eligible", steady->eligible, "scheduler", scheduler_json(v),
        "stalls_per_issue", stalls_json(v), "units", units_json(v), "memory", memory_json(v),
        "round_instructions", (json_int_t)v->c->body.instructions, "round_cycles",
        round_cycles_json(v), "lane_efficiency", core_view_lane_efficiency(v), "ipc",
        steady->issue_utilization * v->c->config.partitions, "per_warp", per_warp_json(v),
        "timeline", timeline_json(v));
    int rc = fields ? json_object_update(v->result->fields, fields) : -1;

    json_decref(fields);
    return rc < 0 ? err_set(err, ERR_ResourceError, "out of memory") : 0;
}
