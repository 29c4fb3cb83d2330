/*
 * The first cycles as they were, painted when a warp issues: what it waited for since its last
 * issue is known then. Whether its unit or its turn kept it shows the unit's own row of cycles.
 */
#include "model/core_internal.h"

static void paint(struct core *core, int warp, int64_t from, int64_t to, enum stall state)
{
    const struct core_record *r = core->record;

    to = min_i64(to, r->cycles);
    if (to > from)
        memset(&r->states[(size_t)warp * (size_t)r->cycles + (size_t)from], (int)state,
               (size_t)(to - from));
}

static uint8_t *taken_row(const struct core *core, const struct sub_core *sub, int unit)
{
    size_t row = (size_t)(sub - core->sub_cores) * LAT_COUNT + (size_t)unit;

    return &core->unit_taken[row * (size_t)core->record->cycles];
}

/* While its operands were there: whether its unit was taken or another warp chosen. */
static void paint_turn(struct core *core, const struct sub_core *sub, int l, int64_t from,
                       int64_t to)
{
    enum stall throttle = (enum stall)core->config.costs->classes[sub->unit[l]].throttle;
    const uint8_t *taken;

    taken = taken_row(core, sub, sub->unit[l]);
    for (int64_t c = from; c < min_i64(to, core->record->cycles); c++)
        paint(core, warp_of(core, sub, l), c, c + 1, taken[c] ? throttle : STALL_not_selected);
}

void record_issue(struct core *core, const struct sub_core *sub, int l, int64_t cycle)
{
    const struct core_record *r = core->record;
    const struct core_warp *w = &core->warps[warp_of(core, sub, l)];
    const struct class_cost *cost = &core->config.costs->classes[sub->unit[l]];
    int warp = warp_of(core, sub, l);

    if (!r)
        return;
    paint(core, warp, w->since, sub->ready_at[l], reason_of(w));
    paint_turn(core, sub, l, max_i64(sub->ready_at[l], w->since), cycle);
    paint(core, warp, cycle, cycle + cost->slots, STALL_selected);
    for (int64_t c = cycle; c < min_i64(cycle + cost->slots, r->cycles); c++)
        r->issuer[(sub - core->sub_cores) * r->cycles + c] = warp;
    for (int64_t c = cycle + 1; c < min_i64(cycle + cost->interval * cost->slots, r->cycles); c++)
        taken_row(core, sub, sub->unit[l])[c] = 1;
}

void record_switch(struct core *core, const struct sub_core *sub, int64_t from, int64_t to)
{
    const struct core_record *r = core->record;

    for (int64_t c = from; r && c < min_i64(to, r->cycles); c++)
        r->issuer[(sub - core->sub_cores) * r->cycles + c] = -2;
}

/* What is not over at the end of the record is painted up to there. */
void core_finish_record(struct core *core)
{
    for (int i = 0; i < core->warp_count; i++) {
        const struct core_warp *w = &core->warps[i];
        const struct sub_core *sub = sub_core_of(core, i);
        int l = local_of(core, i);
        int64_t end = core->record->cycles;

        if (w->place == WARP_AT_BARRIER)
            paint(core, i, w->since, end, STALL_barrier);
        if (w->place != WARP_RUNS)
            continue;
        paint(core, i, w->since, min_i64(sub->ready_at[l], end), reason_of(w));
        paint_turn(core, sub, l, max_i64(sub->ready_at[l], w->since), end);
    }
}

int record_init(struct core *core, struct arena *arena)
{
    const struct core_record *r = core->record;
    size_t cycles;

    if (!r)
        return 0;
    cycles = (size_t)r->cycles;
    core->unit_taken = arena_array(arena, (size_t)core->config.partitions * LAT_COUNT, cycles);
    memset(r->states, CORE_NO_WARP, (size_t)core->warp_count * cycles);
    memset(r->issuer, 0xff, (size_t)core->config.partitions * cycles * sizeof *r->issuer);
    return core->unit_taken ? 0 : -1;
}
