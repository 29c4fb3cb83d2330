/*
 * What a scheduler sees of its warps. A warp waits until the operands of its next instruction are
 * there, in a list that is sorted by when; then it is ready, and can issue once its unit takes an
 * instruction. Both are kept as bits of a word, so that an event costs what changed since the last
 * one and not a look at every warp.
 *
 * Warps with several next instructions (paths, a window) are apart: which of them comes next
 * depends on the cycle, so each is chosen anew.
 */
#include "model/core_internal.h"

static uint64_t bit_of(const struct core_warp *w)
{
    return UINT64_C(1) << w->local;
}

static void need_unit(struct core_warp *w, uint8_t unit)
{
    if (unit == w->unit)
        return;
    w->sub->units[w->unit].needed_by &= ~bit_of(w);
    w->sub->units[unit].needed_by |= bit_of(w);
    w->unit = unit;
}

/* It is known now how long its unit was taken before its operands were there. */
static void make_ready(struct sub_core *sub, struct core_warp *w)
{
    sub->ready |= bit_of(w);
    w->mark = unit_busy_until(&sub->units[w->unit], due_cycle(w->next->ready));
}

/* To its place among those that wait. */
static void wait_for_operands(struct sub_core *sub, struct core_warp *w, int64_t ready_at)
{
    int64_t key = ready_at << 6 | w->local;
    int i = sub->waiting_count++;

    for (; i > 0 && sub->waiting[i - 1] < key; i--)
        sub->waiting[i] = sub->waiting[i - 1];
    sub->waiting[i] = key;
    w->mark = -1;
    sub->wake_at = min_i64(sub->wake_at, ready_at);
}

/* Which of its next instructions comes next is asked at each event; it may issue from now on. */
static void offer_many(struct sub_core *sub, struct core_warp *w, int64_t *next)
{
    sub->many |= bit_of(w);
    w->mark = -1;
    need_unit(w, w->next->op->class);
    sub->wake_at = min_i64(sub->wake_at, due_cycle(w->next->ready));
    *next = min_i64(*next, max_i64(w->since, sub->issue_free));
}

static bool has_choice(const struct core *core, struct core_warp *w)
{
    if (w->window)
        window_choose(w, w->since);
    return w->window || (w->path_count > 1 && !core->config.is_stack && warp_runnable_paths(w) > 1);
}

void ready_offer(struct core *core, struct core_warp *w)
{
    struct sub_core *sub = w->sub;
    int64_t *next = &core->next[sub->index], ready_at;

    if (core->has_choice && has_choice(core, w)) {
        offer_many(sub, w, next);
        return;
    }
    ready_at = due_cycle(w->next->ready);
    if (core->has_choice) /* what another one's choice left there is forgotten at the next event */
        sub->wake_at = min_i64(sub->wake_at, ready_at);
    need_unit(w, w->next->op->class);
    if (ready_at <= sub->issue_free)
        make_ready(sub, w);
    else
        wait_for_operands(sub, w, ready_at);
    *next = min_i64(*next, max_i64(ready_at, sub->issue_free));
}

/* Those whose operands have come are ready. */
static void end_waits(struct sub_core *sub, int64_t cycle)
{
    int n = sub->waiting_count;

    for (; n > 0 && sub->waiting[n - 1] >> 6 <= cycle; n--)
        make_ready(sub, &sub->warps[sub->waiting[n - 1] & 63]);
    sub->waiting_count = n;
    sub->wake_at = n ? sub->waiting[n - 1] >> 6 : CORE_NEVER;
}

static void choose_again(const struct core *core, struct core_warp *w, int64_t cycle)
{
    int64_t ready_at = due_cycle(w->next->ready);

    if (w->window)
        window_choose(w, cycle);
    else
        warp_choose_path(core, w, cycle);
    if (due_cycle(w->next->ready) != ready_at || w->next->op->class != w->unit)
        w->mark = -1;
    need_unit(w, w->next->op->class);
}

/* Of warps with several next instructions: each is chosen anew. */
static uint64_t find_among_many(const struct core *core, struct sub_core *sub, int64_t cycle,
                                int64_t *next)
{
    uint64_t eligible = 0;

    for (uint64_t rest = sub->many; rest; rest &= rest - 1) {
        struct core_warp *w = &sub->warps[__builtin_ctzll(rest)];
        const struct unit *unit;
        int64_t ready_at;

        choose_again(core, w, cycle);
        unit = &sub->units[w->unit];
        ready_at = due_cycle(w->next->ready);
        if (ready_at <= cycle && w->mark < 0)
            w->mark = unit_busy_until(unit, ready_at);
        if (max_i64(unit->free_at, ready_at) <= cycle)
            eligible |= bit_of(w);
        else
            *next = min_i64(*next, max_i64(unit->free_at, ready_at));
    }
    return eligible;
}

uint64_t ready_find(struct core *core, struct sub_core *sub, int64_t cycle, int64_t *next)
{
    uint64_t eligible;

    if (sub->wake_at <= cycle)
        end_waits(sub, cycle);
    *next = sub->wake_at;
    eligible = sub->ready;
    for (uint32_t rest = sub->taken; rest; rest &= rest - 1) {
        const struct unit *unit = &sub->units[__builtin_ctz(rest)];

        if (unit->free_at <= cycle) {
            sub->taken &= ~(rest & -rest);
        } else if (unit->needed_by & sub->ready) {
            eligible &= ~unit->needed_by;
            *next = min_i64(*next, unit->free_at);
        }
    }
    if (sub->many)
        eligible |= find_among_many(core, sub, cycle, next);
    return eligible;
}
