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

/* ---- What a scheduler sees of its warps ----------------------------------------------------- */

/*
 * Cycles before `cycle` that began with a unit taken; nothing was given to it since. The cycle in
 * which it gets an instruction is none: it was free, and another warp there was not selected.
 */
static int64_t busy_until(const struct sub_core *sub, int unit, int64_t cycle)
{
    return sub->unit_busy[unit] -
           max_i64(sub->unit_free[unit] - max_i64(cycle, sub->unit_from[unit]), 0);
}

/* Copies the warp's next instruction to where its scheduler looks. */
static void show_next(const struct core *core, struct sub_core *sub, int l)
{
    const struct core_warp *w = &core->warps[warp_of(core, sub, l)];
    const struct path *p = &w->paths[w->current];
    int unit = p->next->class;
    int64_t ready_at = p->ready_at;

    if (w->window) {
        const struct waiting_op *op = &w->window->ops[w->window->chosen];

        unit = op->op->class;
        ready_at = op->ready_at;
    }
    if (ready_at != sub->ready_at[l] || unit != sub->unit[l])
        sub->mark[l] = -1;
    sub->ready_at[l] = ready_at;
    sub->by_unit[sub->unit[l]] &= ~(UINT64_C(1) << l);
    sub->by_unit[unit] |= UINT64_C(1) << l;
    sub->units |= UINT32_C(1) << unit;
    sub->unit[l] = (uint8_t)unit;
}

/* The warp's scheduler looks at it no more. */
static void hide(struct core *core, int warp)
{
    struct sub_core *sub = sub_core_of(core, warp);
    int l = local_of(core, warp);

    sub->running &= ~(UINT64_C(1) << l);
    sub->ready &= ~(UINT64_C(1) << l);
    sub->by_unit[sub->unit[l]] &= ~(UINT64_C(1) << l);
}

static void choose_again(const struct core *core, struct sub_core *sub, int l, int64_t cycle)
{
    struct core_warp *w = (struct core_warp *)&core->warps[warp_of(core, sub, l)];

    if (w->window)
        window_choose(core, sub, w, cycle);
    else
        warp_choose_path(core, sub, w, cycle);
    show_next(core, sub, l);
}

static void wake(struct sub_core *sub, int64_t cycle)
{
    cycle = max_i64(cycle, sub->issue_free);
    sub->next = min_i64(sub->next, cycle);
}

/* A warp that has started, or may go on, has a next instruction. */
static void offer(struct core *core, int warp)
{
    struct sub_core *sub = sub_core_of(core, warp);
    struct core_warp *w = &core->warps[warp];
    int l = local_of(core, warp);
    uint64_t bit = UINT64_C(1) << l;

    sub->running |= bit;
    sub->ready &= ~bit;
    sub->many &= ~bit;
    if (w->window || (w->path_count > 1 && warp_runnable_paths(w) > 1 && !core->config.is_stack))
        sub->many |= bit;
    sub->since[l] = w->since;
    sub->mark[l] = -1;
    if (w->window)
        window_choose(core, sub, w, w->since);
    show_next(core, sub, l);
    sub->wake_at = min_i64(sub->wake_at, sub->ready_at[l]);
    wake(sub, sub->many & bit ? w->since : sub->ready_at[l]);
}

/* ---- Blocks and barriers -------------------------------------------------------------------- */

static void open_barrier(struct core *core, struct resident_block *b, int64_t cycle)
{
    const struct costs *costs = core->config.costs;
    int64_t at = cycle + costs->barrier_base + (int64_t)costs->barrier_per_warp * b->running;

    for (int i = 0; i < b->warps; i++) {
        struct core_warp *w = &core->warps[b->first_warp + i];

        if (w->place != WARP_AT_BARRIER)
            continue;
        w->place = WARP_RUNS;
        w->paths[w->current].blocked_until = at;
        w->paths[w->current].blocked_by = STALL_barrier;
        if (w->window)
            window_fill(core, w);
        else
            warp_look(w);
        offer(core, b->first_warp + i);
    }
    b->at_barrier = 0;
}

/* True: it was the last of its block. */
static bool end_warp(struct core *core, int index, int64_t cycle)
{
    struct core_warp *w = &core->warps[index];
    struct resident_block *b = &core->slots[w->slot];

    w->place = WARP_EMPTY;
    hide(core, index);
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
    struct core_warp *w = &core->warps[core->slots[slot].first_warp + i];

    w->place = WARP_RUNS;
    w->slot = slot;
    w->id = (uint64_t)(core->next_block * c->warps_per_block + i);
    w->draws = 0;
    if (!warp_start(core, w, c->stream_of(c->context, core->next_block, i), cycle))
        w->place = WARP_EMPTY;
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
        for (int i = 0; i < b->warps; i++)
            if (core->warps[b->first_warp + i].place == WARP_RUNS)
                offer(core, b->first_warp + i);
            else
                is_over |= end_warp(core, b->first_warp + i, cycle);
        cycle += core->config.start_latency;
    }
}

/* ---- Issue ---------------------------------------------------------------------------------- */

/* Adds what warp l did from its last issue to `cycle`, in which it has not issued yet. */
static void account(const struct core *core, const struct sub_core *sub, int l, int64_t cycle,
                    int64_t *stalls)
{
    const struct core_warp *w = &core->warps[warp_of(core, sub, l)];
    int unit = sub->unit[l];
    int64_t ready_at = min_i64(max_i64(sub->ready_at[l], w->since), cycle);
    int64_t mark = sub->mark[l] < 0 ? busy_until(sub, unit, ready_at) : sub->mark[l];
    int64_t turn = cycle - ready_at;
    int64_t throttled = min_i64(max_i64(busy_until(sub, unit, cycle) - mark, 0), turn);

    stalls[reason_of(w)] += ready_at - w->since;
    stalls[core->config.costs->classes[unit].throttle] += throttled;
    stalls[STALL_not_selected] += turn - throttled;
}

static int64_t draw_jitter(struct core *core, struct core_warp *w)
{
    uint32_t word = philox_at(core->config.seed, w->draws++, w->id).word[0];

    return philox_below(word, (uint32_t)core->config.jitter);
}

/* When the result of an instruction is there. */
static int64_t result_time(struct core *core, struct core_warp *w, const struct core_op *op,
                           core_access access, int64_t cycle)
{
    int64_t done = op->is_access ? memory_access_done(core, op, access, cycle)
                   : op->latency ? cycle + op->latency
                                 : cycle + core->config.costs->classes[op->class].latency;

    if (core->config.jitter && (op->class == LAT_GLOBAL || op->class == LAT_ATOM))
        done += draw_jitter(core, w);
    return done;
}

static void take_unit(struct core *core, struct sub_core *sub, int l, const struct core_op *op,
                      int64_t cycle)
{
    const struct class_cost *cost = &core->config.costs->classes[op->class];
    int taken = cost->interval * cost->slots;
    struct core_warp *w = &core->warps[warp_of(core, sub, l)];

    account(core, sub, l, cycle, core->totals.stalls);
    record_issue(core, sub, l, cycle);
    core->totals.stalls[STALL_selected] += cost->slots;
    core->totals.issued += cost->slots;
    core->totals.instructions++;
    core->totals.lanes += op->lanes;
    core->totals.unit_busy[op->class] += taken;
    w->issued++;
    sub->issue_free = cycle + cost->slots;
    sub->unit_free[op->class] = cycle + taken;
    sub->unit_from[op->class] = cycle + 1;
    sub->unit_busy[op->class] += taken - 1;
    w->since = cycle + cost->slots;
    core->last_cycle = max_i64(core->last_cycle, w->since);
}

/* To the instruction behind the one that was issued. False: the warp has ended. */
static bool go_on(struct core *core, struct core_warp *w, const struct core_op *op, int64_t done,
                  int64_t cycle)
{
    const struct class_cost *cost = &core->config.costs->classes[op->class];
    struct path *p = &w->paths[w->current];

    if (w->window)
        return window_issued(core, w, done, (enum stall)cost->stall);
    warp_set_results(w, op, done, (enum stall)cost->stall);
    p->blocked_until = w->since;
    p->blocked_by = STALL_wait;
    if (op->class == LAT_BRANCH) {
        p->blocked_until = cycle + cost->latency;
        p->blocked_by = STALL_branch;
    }
    return warp_advance(core, w);
}

static void arrive(struct core *core, int warp, int64_t cycle)
{
    struct core_warp *w = &core->warps[warp];
    struct resident_block *b = &core->slots[w->slot];

    w->place = WARP_AT_BARRIER;
    hide(core, warp);
    if (++b->at_barrier == b->running)
        open_barrier(core, b, cycle);
}

static void note_clock(struct core *core, int64_t cycle)
{
    if (core->first_clock < 0)
        core->first_clock = cycle;
    core->last_clock = cycle;
}

static void issue(struct core *core, struct sub_core *sub, int l, int64_t cycle)
{
    int warp = warp_of(core, sub, l);
    struct core_warp *w = &core->warps[warp];
    core_access access;
    const struct core_op *op = warp_next(w, &access);
    int64_t done;

    take_unit(core, sub, l, op, cycle);
    if (op->is_clock)
        note_clock(core, cycle);
    done = result_time(core, w, op, access, cycle);
    if (!go_on(core, w, op, done, cycle)) {
        policy_issued(&core->config, sub, l, false);
        if (end_warp(core, warp, w->since))
            start_block(core, w->slot, w->since + core->config.start_latency);
        return;
    }
    if (op->class == LAT_BARRIER) {
        policy_issued(&core->config, sub, l, false);
        arrive(core, warp, cycle);
        return;
    }
    offer(core, warp);
    policy_issued(&core->config, sub, l, sub->ready_at[l] <= w->since);
}

/* ---- Events --------------------------------------------------------------------------------- */

/* Warps whose operands have come are ready, and it is known how long their unit was taken before.
 */
static void find_ready(struct sub_core *sub, int64_t cycle)
{
    sub->wake_at = CORE_NEVER;
    for (uint64_t rest = sub->running & ~sub->ready & ~sub->many; rest; rest &= rest - 1) {
        int l = __builtin_ctzll(rest);

        if (sub->ready_at[l] > cycle) {
            sub->wake_at = min_i64(sub->wake_at, sub->ready_at[l]);
            continue;
        }
        sub->ready |= UINT64_C(1) << l;
        sub->mark[l] = busy_until(sub, sub->unit[l], sub->ready_at[l]);
    }
}

/* Of warps with several next instructions: each is chosen anew. */
static uint64_t find_among_many(struct core *core, struct sub_core *sub, int64_t cycle,
                                int64_t *next)
{
    uint64_t eligible = 0;

    for (uint64_t rest = sub->running & sub->many; rest; rest &= rest - 1) {
        int l = __builtin_ctzll(rest);
        int64_t at;

        choose_again(core, sub, l, cycle);
        if (sub->ready_at[l] <= cycle && sub->mark[l] < 0)
            sub->mark[l] = busy_until(sub, sub->unit[l], sub->ready_at[l]);
        at = max_i64(sub->unit_free[sub->unit[l]], sub->ready_at[l]);
        if (at <= cycle)
            eligible |= UINT64_C(1) << l;
        else
            *next = min_i64(*next, at);
    }
    return eligible;
}

/* The warps that can issue in a cycle; *next: when the first of the others can. */
static uint64_t find_eligible(struct core *core, struct sub_core *sub, int64_t cycle, int64_t *next)
{
    uint64_t eligible = 0;

    if (sub->wake_at <= cycle)
        find_ready(sub, cycle);
    *next = sub->wake_at;
    for (uint32_t rest = sub->units; rest; rest &= rest - 1) {
        int u = __builtin_ctz(rest);
        uint64_t waiting = sub->by_unit[u] & sub->ready;

        if (sub->unit_free[u] <= cycle)
            eligible |= waiting;
        else if (waiting)
            *next = min_i64(*next, sub->unit_free[u]);
    }
    if (sub->many)
        eligible |= find_among_many(core, sub, cycle, next);
    return eligible;
}

/* False: the scheduler has another warp now, and issues it when the switch is done. */
static bool switch_to(struct core *core, struct sub_core *sub, int l, int64_t cycle)
{
    int cost = core->config.switch_cost;

    if (!cost || sub->last < 0 || sub->last == l || sub->switching_to == l)
        return true;
    sub->switching_to = l;
    sub->issue_free = sub->next = cycle + cost;
    core->totals.switching += cost;
    record_switch(core, sub, cycle, cycle + cost);
    return false;
}

static void schedule(struct core *core, struct sub_core *sub, int64_t cycle)
{
    int64_t next;
    uint64_t eligible = find_eligible(core, sub, cycle, &next);
    int l = sub->switching_to;

    sub->next = next;
    if (!eligible)
        return;
    if (l < 0)
        l = policy_pick(&core->config, sub, eligible);
    if (l < 0 || !switch_to(core, sub, l, cycle)) {
        if (l < 0)
            sub->next = cycle + 1;
        return;
    }
    sub->switching_to = -1;
    issue(core, sub, l, cycle);
    if (eligible & (eligible - 1))
        sub->next = sub->issue_free;
    sub->next = max_i64(sub->next, sub->issue_free);
}

int64_t core_next_cycle(const struct core *core)
{
    int64_t cycle = CORE_NEVER;

    for (int i = 0; i < core->config.partitions; i++)
        cycle = min_i64(cycle, core->sub_cores[i].next);
    return cycle;
}

bool core_step(struct core *core)
{
    int64_t cycle = core_next_cycle(core);

    if (cycle == CORE_NEVER)
        return false;
    for (int i = 0; i < core->config.partitions; i++)
        if (core->sub_cores[i].next == cycle)
            schedule(core, &core->sub_cores[i], cycle);
    return true;
}

/* ---- Making and reading --------------------------------------------------------------------- */

static int make_warp(struct core *core, struct core_warp *w, struct arena *arena)
{
    const struct core_config *c = &core->config;
    size_t registers = (size_t)c->register_count;

    w->paths = arena_array(arena, c->has_forks ? CORE_MAX_PATHS : 1, sizeof *w->paths);
    w->result_at = arena_array(arena, registers, sizeof *w->result_at);
    w->result_by = arena_array(arena, registers, sizeof *w->result_by);
    if (c->window) {
        w->window = arena_alloc(arena, sizeof *w->window);
        if (!w->window)
            return -1;
        w->window->writers = arena_array(arena, registers, sizeof *w->window->writers);
        if (!w->window->writers)
            return -1;
    }
    return w->paths && w->result_at && w->result_by ? 0 : -1;
}

struct core *core_new(const struct core_config *config, const struct core_record *record,
                      struct arena *arena)
{
    struct core *core = arena_alloc(arena, sizeof *core);

    if (!core)
        return NULL;
    core->config = *config;
    core->record = record;
    core->last_round = -1;
    core->first_clock = core->last_clock = -1;
    core->warp_count = config->resident_blocks * config->warps_per_block;
    if (record_init(core, arena) < 0)
        return NULL;
    for (int i = 0; i < config->partitions; i++)
        core->sub_cores[i] = (struct sub_core){
            .next = CORE_NEVER, .wake_at = CORE_NEVER, .last = -1, .switching_to = -1
        };
    for (int i = 0; i < core->warp_count; i++) {
        struct sub_core *sub = sub_core_of(core, i);

        if (make_warp(core, &core->warps[i], arena) < 0)
            return NULL;
        sub->pending[sub->pending_count++] = local_of(core, i);
    }
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

int64_t core_issued(const struct core *core)
{
    return core->totals.issued;
}

/* What is begun at `cycle` and not over: waits count up to there, issues from there on do not. */
static void close_warp(const struct core *core, int warp, int64_t cycle, struct core_totals *out)
{
    const struct core_warp *w = &core->warps[warp];
    const struct sub_core *sub = &core->sub_cores[warp % core->config.partitions];

    if (w->place == WARP_EMPTY || w->since > cycle)
        return;
    if (w->place == WARP_AT_BARRIER)
        out->stalls[STALL_barrier] += cycle - w->since;
    else
        account(core, sub, local_of(core, warp), cycle, out->stalls);
}

void core_totals(const struct core *core, int64_t cycle, struct core_totals *out)
{
    *out = core->totals;
    out->cycles = cycle;
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
            out->unit_busy[u] -= max_i64(sub->unit_free[u] - cycle, 0);
    }
}

int core_last_round(const struct core *core)
{
    return core->last_round;
}

int64_t core_rounds(const struct core *core, int warp)
{
    return warp < 0 ? core->totals.rounds : core->warps[warp].rounds;
}

int64_t core_clock_cycles(const struct core *core)
{
    return core->last_clock - core->first_clock;
}

void core_warp_issued(const struct core *core, int64_t *out)
{
    for (int i = 0; i < CORE_MAX_WARPS; i++)
        out[i] = core->warps[i].issued;
}
