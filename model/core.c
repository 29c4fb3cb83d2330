/*
 * An event is a cycle in which some scheduler may issue. Each such scheduler looks at its warps,
 * has the policy pick one of the eligible, and notes when it must look again: in the next cycle if
 * others were eligible, else when the first operand or unit is due. All between is skipped.
 *
 * What a warp waited for is counted when it issues: first its operands, then its unit, then its
 * turn. How long the unit was taken in between follows from the unit's own count of busy cycles,
 * so that the states are exact without looking at every cycle.
 */
#include "model/core.h"
#include "model/core_internal.h"

#include "model/base/philox.h"

/* ---- Blocks and barriers -------------------------------------------------------------------- */

static void open_barrier(struct core *core, struct resident_block *b, int64_t cycle)
{
    const struct costs *costs = core->config.costs;
    int64_t told = b->first_arrival + (int64_t)costs->barrier_per_warp * b->running;
    int64_t at = max_i64(cycle, told) + costs->barrier_base;

    for (int i = 0; i < b->warps; i++) {
        struct core_warp *w = warp_at(core, b->first_warp + i);

        if (w->place != WARP_AT_BARRIER)
            continue;
        w->place = WARP_RUNS;
        w->path->blocked = due_at(at, STALL_barrier);
        if (w->window)
            window_fill(core, w);
        else
            warp_look(w);
        ready_offer(core, w);
    }
    b->at_barrier = 0;
}

/* True: it was the last of its block. */
static bool end_warp(struct core *core, struct core_warp *w, int64_t cycle)
{
    struct resident_block *b = &core->slots[w->slot];

    w->place = WARP_EMPTY;
    if (--b->running == 0) {
        core->totals.blocks_ended++;
        return true;
    }
    if (b->at_barrier == b->running)
        open_barrier(core, b, cycle);
    return false;
}

static void place_warp(struct core *core, int slot, int i, int64_t cycle)
{
    const struct core_config *c = &core->config;
    struct core_warp *w = warp_at(core, core->slots[slot].first_warp + i);

    w->place = WARP_RUNS;
    w->slot = slot;
    w->id = (uint64_t)(core->next_block * c->warps_per_block + i);
    w->draws = 0;
    if (!warp_start(core, w, c->stream_of(c->context, core->next_block, i), cycle))
        w->place = WARP_EMPTY;
    if (c->policy == CORE_LEAST_RECENT)
        policy_renew(w->sub, w);
}

/* The next block takes a place, and so on while blocks have nothing to do. */
static void start_block(struct core *core, int slot, int64_t cycle)
{
    struct resident_block *b = &core->slots[slot];
    bool is_over = true;

    while (is_over && core->next_block < core->config.block_count) {
        cycle = server_take(&core->starts, cycle, core->config.start_interval, 100);
        b->running = b->warps = core->config.warps_per_block;
        b->at_barrier = 0;
        for (int i = 0; i < b->warps; i++)
            place_warp(core, slot, i, cycle);
        core->next_block++;
        is_over = false;
        for (int i = 0; i < b->warps; i++) {
            struct core_warp *w = warp_at(core, b->first_warp + i);

            if (w->place == WARP_RUNS)
                ready_offer(core, w);
            else
                is_over |= end_warp(core, w, cycle);
        }
        cycle += core->config.start_latency;
    }
}

/* ---- Issue ---------------------------------------------------------------------------------- */

/* Adds what a warp did from its last issue to `cycle`, in which it has not issued yet. */
static inline void account(const struct core *core, const struct core_warp *w, int64_t cycle,
                           int64_t *stalls)
{
    const struct unit *unit = &w->sub->units[w->unit];
    int64_t ready_at = min_i64(max_i64(due_cycle(w->next->ready), w->since), cycle);
    int64_t mark = w->mark < 0 ? unit_busy_until(unit, ready_at) : w->mark;
    int64_t turn = cycle - ready_at;
    int64_t throttled = min_i64(max_i64(unit_busy_until(unit, cycle) - mark, 0), turn);

    stalls[due_stall(w->next->ready)] += ready_at - w->since;
    stalls[core->classes[w->unit].throttle] += throttled;
    stalls[STALL_not_selected] += turn - throttled;
}

static int64_t draw_jitter(struct core *core, struct core_warp *w)
{
    uint32_t word = philox_at(core->config.seed, w->draws++, w->id).word[0];

    return philox_below(word, (uint32_t)core->config.jitter);
}

/* When the result of an instruction is there. */
static int64_t result_time(struct core *core, struct core_warp *w, const struct class_cost *cost,
                           int64_t cycle)
{
    const struct core_op *op = w->next->op;
    int64_t done = op->is_access ? memory_access_done(core, w->next, cycle)
                                 : cycle + (op->latency ? op->latency : cost->latency);

    if (core->config.jitter && (op->class == LAT_GLOBAL || op->class == LAT_ATOM))
        done += draw_jitter(core, w);
    return done;
}

static void take_unit(struct core *core, struct core_warp *w, const struct class_cost *cost,
                      int64_t cycle)
{
    struct unit *unit = &w->sub->units[w->unit];
    int taken = cost->interval * cost->slots;

    w->since = w->sub->issue_free = cycle + cost->slots;
    w->issued++;
    unit->free_at = cycle + taken;
    unit->from = cycle + 1;
    unit->busy += taken - 1;
    unit->issues++;
    if (cost->interval > 1)
        w->sub->taken |= UINT32_C(1) << w->unit;
    core->totals.issued += cost->slots;
    core->totals.lanes += w->next->op->lanes;
    core->last_cycle = max_i64(core->last_cycle, w->since);
}

/* To the instruction behind the one that was issued. False: the warp has ended. */
static bool go_on(struct core *core, struct core_warp *w, due result, int64_t cycle)
{
    if (w->window)
        return window_issued(core, w, result);
    warp_set_results(w, w->next->op, result);
    w->path->blocked = due_at(w->since, STALL_wait);
    if (w->unit == LAT_BRANCH)
        w->path->blocked = due_at(cycle + core->classes[LAT_BRANCH].latency, STALL_branch);
    return warp_advance(core, w);
}

static void arrive(struct core *core, struct core_warp *w, int64_t cycle)
{
    struct resident_block *b = &core->slots[w->slot];

    w->place = WARP_AT_BARRIER;
    if (b->at_barrier++ == 0)
        b->first_arrival = cycle;
    if (b->at_barrier == b->running)
        open_barrier(core, b, cycle);
}

/* What the warp that issued does next. True: it may issue in the next cycle. */
static bool leave(struct core *core, struct core_warp *w, bool has_next, int64_t cycle)
{
    if (!has_next) {
        if (end_warp(core, w, w->since))
            start_block(core, w->slot, w->since + core->config.start_latency);
        return false;
    }
    if (w->unit == LAT_BARRIER) {
        arrive(core, w, cycle);
        return false;
    }
    ready_offer(core, w);
    return due_cycle(w->next->ready) <= w->since;
}

static void note_clock(struct core *core, int64_t cycle)
{
    if (core->first_clock < 0)
        core->first_clock = cycle;
    core->last_clock = cycle;
}

/* Not inlined: the registers of its caller's loop are worth less here than w in one. */
__attribute__((noinline)) static void issue(struct core *core, struct core_warp *w, int64_t cycle)
{
    const struct class_cost *cost = &core->classes[w->unit];
    struct sub_core *sub = w->sub;
    bool has_next, may_go_on;
    due result;

    account(core, w, cycle, core->totals.stalls);
    if (core->record)
        record_issue(core, w, cycle);
    take_unit(core, w, cost, cycle);
    if (w->next->op->is_clock)
        note_clock(core, cycle);
    result = due_at(result_time(core, w, cost, cycle), (enum stall)cost->stall);
    sub->last = w->local;
    if (core->config.policy == CORE_LEAST_RECENT)
        policy_renew(sub, w);
    sub->ready &= ~(UINT64_C(1) << w->local);
    if (core->has_choice)
        sub->many &= ~(UINT64_C(1) << w->local);
    has_next = go_on(core, w, result, cycle);
    may_go_on = leave(core, w, has_next, cycle);
    if (core->config.policy == POLICY_TWO_LEVEL && !may_go_on)
        policy_suspend(sub, sub->last);
}

/* ---- Events --------------------------------------------------------------------------------- */

/* False: the scheduler has another warp now, and issues it when the switch is done. */
static bool switch_to(struct core *core, struct sub_core *sub, int l, int64_t cycle)
{
    int cost = core->config.switch_cost;

    if (!cost || sub->last < 0 || sub->last == l || sub->switching_to == l)
        return true;
    sub->switching_to = l;
    sub->issue_free = core->next[sub->index] = cycle + cost;
    core->totals.switching += cost;
    record_switch(core, sub, cycle, cycle + cost);
    return false;
}

static void schedule(struct core *core, struct sub_core *sub, int64_t cycle)
{
    int64_t *next = &core->next[sub->index];
    uint64_t eligible = ready_find(core, sub, cycle, next);
    int l = sub->switching_to;

    if (!eligible)
        return;
    if (l < 0)
        l = policy_pick(&core->config, sub, eligible);
    if (l < 0 || !switch_to(core, sub, l, cycle)) {
        if (l < 0)
            *next = cycle + 1;
        return;
    }
    sub->switching_to = -1;
    issue(core, &sub->warps[l], cycle);
    if (eligible & (eligible - 1))
        *next = sub->issue_free;
    *next = max_i64(*next, sub->issue_free);
}

int64_t core_next_cycle(const struct core *core)
{
    int64_t cycle = CORE_NEVER;

    for (int i = 0; i < CORE_MAX_PARTITIONS; i++)
        cycle = min_i64(cycle, core->next[i]);
    return cycle;
}

bool core_step(struct core *core)
{
    int64_t cycle = core_next_cycle(core);

    if (cycle == CORE_NEVER)
        return false;
    for (int i = 0; i < core->config.partitions; i++)
        if (core->next[i] == cycle)
            schedule(core, &core->sub_cores[i], cycle);
    return true;
}

/* ---- Making and reading --------------------------------------------------------------------- */

static int make_warp(struct core *core, int number, struct arena *arena)
{
    const struct core_config *c = &core->config;
    size_t registers = (size_t)c->register_count;
    struct core_warp *w = warp_at(core, number);

    w->number = number;
    w->sub = &core->sub_cores[number % c->partitions];
    w->local = (uint8_t)(w - w->sub->warps);
    policy_add(w->sub, w);
    w->paths = w->path = arena_array(arena, c->has_forks ? CORE_MAX_PATHS : 1, sizeof *w->paths);
    w->results = arena_array(arena, registers, sizeof *w->results);
    if (c->window) {
        w->window = arena_alloc(arena, sizeof *w->window);
        if (!w->window)
            return -1;
        w->window->writers = arena_array(arena, registers, sizeof *w->window->writers);
        if (!w->window->writers)
            return -1;
    }
    return w->paths && w->results ? 0 : -1;
}

static void make_sub_core(struct core *core, int index)
{
    struct sub_core *sub = &core->sub_cores[index];

    sub->index = index;
    sub->wake_at = core->next[index] = CORE_NEVER;
    sub->last = sub->switching_to = -1;
    sub->age.next[CORE_MAX_WARPS] = sub->age.prev[CORE_MAX_WARPS] = CORE_MAX_WARPS;
}

struct core *core_new(const struct core_config *config, const struct core_record *record,
                      struct arena *arena)
{
    struct core *core = arena_alloc(arena, sizeof *core);

    if (!core)
        return NULL;
    core->config = *config;
    core->classes = config->costs->classes;
    core->has_choice = config->window || config->has_forks;
    core->record = record;
    core->last_round = -1;
    core->first_clock = core->last_clock = -1;
    core->warp_count = config->resident_blocks * config->warps_per_block;
    if (record_init(core, arena) < 0)
        return NULL;
    for (int i = 0; i < CORE_MAX_PARTITIONS; i++)
        make_sub_core(core, i);
    for (int i = 0; i < core->warp_count; i++)
        if (make_warp(core, i, arena) < 0)
            return NULL;
    for (int i = 0; i < config->resident_blocks; i++) {
        core->slots[i].first_warp = i * config->warps_per_block;
        start_block(core, i, 0);
    }
    return core;
}

int64_t core_last_cycle(const struct core *core)
{
    return core->last_cycle;
}

int64_t core_drained(const struct core *core)
{
    return core->drained;
}

int64_t core_issued(const struct core *core)
{
    return core->totals.issued;
}

/* What is begun at `cycle` and not over: waits count up to there, issues from there on do not. */
static void close_warp(const struct core *core, int warp, int64_t cycle, struct core_totals *out)
{
    const struct core_warp *w = warp_at(core, warp);

    if (w->place == WARP_EMPTY || w->since > cycle)
        return;
    if (w->place == WARP_AT_BARRIER)
        out->stalls[STALL_barrier] += cycle - w->since;
    else
        account(core, w, cycle, out->stalls);
}

/* What follows from how often a unit was given an instruction. */
static void add_unit(const struct core *core, const struct sub_core *sub, int class, int64_t cycle,
                     struct core_totals *out)
{
    const struct class_cost *cost = &core->classes[class];
    const struct unit *unit = &sub->units[class];

    out->instructions += unit->issues;
    out->unit_busy[class] +=
        unit->issues * cost->interval * cost->slots - max_i64(unit->free_at - cycle, 0);
}

void core_totals(const struct core *core, int64_t cycle, struct core_totals *out)
{
    *out = core->totals;
    out->cycles = cycle;
    out->stalls[STALL_selected] = out->issued;
    for (int i = 0; i < core->warp_count; i++)
        close_warp(core, i, cycle, out);
    for (int i = 0; i < core->config.partitions; i++) {
        const struct sub_core *sub = &core->sub_cores[i];
        int64_t ahead = max_i64(sub->issue_free - cycle, 0);

        if (sub->switching_to >= 0) {
            out->switching -= ahead;
        } else {
            out->issued -= ahead;
            out->stalls[STALL_selected] -= ahead;
        }
        for (int u = 0; u < LAT_COUNT; u++)
            add_unit(core, sub, u, cycle, out);
    }
}

int core_last_round(const struct core *core)
{
    return core->last_round;
}

int64_t core_rounds(const struct core *core, int warp)
{
    return warp < 0 ? core->totals.rounds : warp_at(core, warp)->rounds;
}

int64_t core_clock_cycles(const struct core *core)
{
    return core->last_clock - core->first_clock;
}

void core_warp_issued(const struct core *core, int64_t *out)
{
    for (int i = 0; i < CORE_MAX_WARPS; i++)
        out[i] = i < core->warp_count ? warp_at(core, i)->issued : 0;
}
