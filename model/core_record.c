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
    size_t row = (size_t)sub->index * LAT_COUNT + (size_t)unit;

    return &core->unit_taken[row * (size_t)core->record->cycles];
}

/* While its operands were there: whether its unit was taken or another warp chosen. */
static void paint_turn(struct core *core, const struct core_warp *w, int64_t from, int64_t to)
{
    enum stall throttle = (enum stall)core->classes[w->unit].throttle;
    const uint8_t *taken = taken_row(core, w->sub, w->unit);

    for (int64_t c = from; c < min_i64(to, core->record->cycles); c++)
        paint(core, w->number, c, c + 1, taken[c] ? throttle : STALL_not_selected);
}

/* What it waited for since its last issue. */
static void paint_wait(struct core *core, const struct core_warp *w, int64_t to)
{
    int64_t ready_at = due_cycle(w->next->ready);

    paint(core, w->number, w->since, min_i64(ready_at, to), due_stall(w->next->ready));
    paint_turn(core, w, max_i64(ready_at, w->since), to);
}

void record_issue(struct core *core, const struct core_warp *w, int64_t cycle)
{
    const struct core_record *r = core->record;
    const struct class_cost *cost = &core->classes[w->unit];
    int32_t *issuer = &r->issuer[(int64_t)w->sub->index * r->cycles];
    int64_t taken = min_i64(cycle + cost->interval * cost->slots, r->cycles);

    paint_wait(core, w, cycle);
    paint(core, w->number, cycle, cycle + cost->slots, STALL_selected);
    for (int64_t c = cycle; c < min_i64(cycle + cost->slots, r->cycles); c++)
        issuer[c] = w->number;
    for (int64_t c = cycle + 1; c < taken; c++)
        taken_row(core, w->sub, w->unit)[c] = 1;
}

void record_switch(struct core *core, const struct sub_core *sub, int64_t from, int64_t to)
{
    const struct core_record *r = core->record;

    for (int64_t c = from; r && c < min_i64(to, r->cycles); c++)
        r->issuer[(int64_t)sub->index * r->cycles + c] = -2;
}

/* What is not over at the end of the record is painted up to there. */
void core_finish_record(struct core *core)
{
    for (int i = 0; i < core->warp_count; i++) {
        const struct core_warp *w = warp_at(core, i);
        int64_t end = core->record->cycles;

        if (w->place == WARP_AT_BARRIER)
            paint(core, i, w->since, end, STALL_barrier);
        if (w->place == WARP_RUNS)
            paint_wait(core, w, end);
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
