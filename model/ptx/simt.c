/*
 * How lanes part, take turns and meet again.
 *
 * A warp is a set of groups: lanes that stand at the same instruction. A branch on which lanes
 * disagree makes two groups of one and a join at the branch's immediate post-dominator, where who
 * comes first waits for the rest. That alone is the stack of GPUs before Volta, in which a lane
 * that spins on a lock waits for ever for the lane that holds it and waits at the join. So groups
 * take turns: one that has gone round a loop often enough gives way, and when nobody else can move,
 * those who wait at a join go on without the rest. They meet at the next join instead.
 *
 * Turns depend on counts only, so that the same launch takes the same turns everywhere.
 */
#include "model/ptx/async.h"
#include "model/ptx/shadow.h"
#include "model/ptx/sync.h"

enum {
    SPIN_BUDGET = 1 << 16, /* backward branches before others get a turn */
    WAIT_COST = 1 << 10,   /* a block that reads a flag or tries a lock costs so many */
    MAX_DEPTH = 4096,      /* of calls */
    LONG_WAIT = 256,       /* rounds of a block with looks at memory before others get a turn */
    POLL_INTERVAL = 10000, /* warp instructions between looks at the stop flag: far below 1 ms */
};

typedef uint32_t __attribute__((may_alias)) word32;

enum run_result { RUN_FAULT = -1, RUN_OK, RUN_TURN };

/* ---- Groups and joins ----------------------------------------------------------------------- */

/* Every group has a lane: there are never more than lanes. */
static struct group *new_group(struct warp *w)
{
    int i = __builtin_ctz(~w->used_groups);

    w->used_groups |= (uint32_t)1 << i;
    return &w->groups[i];
}

static void free_group(struct warp *w, struct group *g)
{
    g->state = GROUP_FREE;
    w->used_groups &= ~((uint32_t)1 << (g - w->groups));
}

struct group *simt_split(struct warp *w, struct group *g, uint32_t lanes)
{
    struct group *rest = new_group(w);

    *rest = *g;
    rest->state = GROUP_READY;
    rest->mask = lanes;
    g->mask &= ~lanes;
    return rest;
}

static void start_group(struct group *g, uint32_t mask, const struct block *block,
                        struct frame *frame, struct join *join)
{
    *g = (struct group){ .state = GROUP_READY,
                         .mask = mask,
                         .block = block,
                         .frame = frame,
                         .join = join,
                         .spins = SPIN_BUDGET };
}

/* Each join on a chain awaits a lane that the next does not, so 4 * 32 is never reached. */
static struct join *new_join(struct warp *w)
{
    for (int i = 0; i < MAX_JOINS / 64; i++)
        if (~w->used_joins[i]) {
            int bit = __builtin_ctzll(~w->used_joins[i]);

            w->used_joins[i] |= (uint64_t)1 << bit;
            return &w->joins[64 * i + bit];
        }
    return NULL;
}

static void free_join(struct warp *w, struct join *j)
{
    int at = (int)(j - w->joins);

    j->is_used = false;
    w->used_joins[at / 64] &= ~((uint64_t)1 << at % 64);
}

static const struct block *join_block(const struct join *j)
{
    const struct function *f = j->frame->function;

    return &f->blocks[j->block == BLOCK_EXIT ? f->block_count : j->block];
}

/* Those who have arrived go on together, to be awaited at the next join outwards. */
static void release(struct warp *w, struct join *j)
{
    struct group *g = new_group(w);

    start_group(g, j->arrived, join_block(j), j->frame, j->outer);
    /* A loop that parts and joins in each round is still one loop. */
    g->spins = j->spins;
    g->turns = j->turns;
    j->spins = SPIN_BUDGET;
    j->turns = 0;
    j->expected &= ~j->arrived;
    j->arrived = 0;
    if (!j->expected)
        free_join(w, j);
}

/* Lanes that will not come to a join: they ended, or left by another way. */
static void forgo(struct warp *w, struct join *j, uint32_t lanes)
{
    j->expected &= ~lanes;
    if (!j->expected)
        free_join(w, j);
    else if (j->arrived == j->expected)
        release(w, j);
}

static void arrive(struct warp *w, struct group *g)
{
    struct join *j = g->join;

    j->arrived |= g->mask;
    j->spins = min_i64(j->spins, g->spins);
    j->turns = max_i64(j->turns, g->turns);
    free_group(w, g);
    if (j->arrived == j->expected)
        release(w, j);
}

static bool is_awaited_at(const struct group *g, int block)
{
    return g->join && g->join->frame == g->frame && g->join->block == block;
}

/* Groups that wait at a join go on without the rest. False: there are none. */
static bool detach_arrived(struct warp *w)
{
    bool is_any = false;

    for (int i = 0; (w->used_joins[0] | w->used_joins[1]) && i < MAX_JOINS; i++) {
        if (!w->joins[i].is_used || !w->joins[i].arrived)
            continue;
        release(w, &w->joins[i]);
        is_any = true;
    }
    return is_any;
}

/* ---- The end of a block --------------------------------------------------------------------- */

/* Copies that nobody waited for are made at last. */
static int end_lanes(struct warp *w, struct group *g)
{
    uint32_t mask = g->mask;
    struct join *outer;

    if (async_finish(w, mask, false) < 0)
        return RUN_FAULT;
    w->live &= ~mask;
    w->cta->live_threads -= mask_lanes(mask);
    for (struct frame *f = g->frame; f; f = f->caller) {
        f->lanes &= ~mask;
        if (!f->lanes && f->caller)
            frame_close(w, f);
    }
    free_group(w, g);
    for (struct join *j = g->join; j; j = outer) {
        outer = j->outer;
        forgo(w, j, mask);
    }
    sync_recheck(w);
    return RUN_TURN;
}

static void copy_areas(uint8_t *to_rows, const struct area *to, const uint8_t *from_rows,
                       const struct area *from, int count, uint32_t mask)
{
    for (int i = 0; i < count; i++)
        for (int k = 0; k < to[i].words; k++) {
            uint8_t *d = to_rows + to[i].row + k * ROW32;
            const uint8_t *s = from_rows + from[i].row + k * ROW32;

            if (mask == FULL_MASK)
                memcpy(d, s, ROW32);
            for (uint32_t m = mask == FULL_MASK ? 0 : mask; m; m &= m - 1)
                memcpy(d + 4 * __builtin_ctz(m), s + 4 * __builtin_ctz(m), 4);
        }
}

static int out_of_memory(struct warp *w)
{
    w->fault = (struct fault_site){ .name = ERR_ResourceError, .lanes = w->mask };
    return RUN_FAULT;
}

static int overflow_stack(struct warp *w, const struct insn *in)
{
    w->fault = (struct fault_site){
        .name = ERR_MemoryFault, .lanes = w->mask, .insn = in, .why = "stack overflow"
    };
    return RUN_FAULT;
}

/* The function that a lane calls through a pointer; NULL: the value is none. */
static const struct function *called_by(const struct warp *w, const struct insn *in, int lane)
{
    const struct ptx_module *m = w->cta->run->module;
    uint64_t v, index;

    memcpy(&v, w->rows + in->a + 8 * lane, sizeof v);
    index = (v - CODE_WINDOW) / 16 - 1;
    if (v % 16 || index >= (uint64_t)m->ast.function_count || !m->functions[index].is_defined)
        return NULL;
    return &m->functions[index];
}

static bool has_shape(const struct function *f, const struct call *call)
{
    if (f->is_entry || f->parameter_count != call->argument_count ||
        f->result_count != call->result_count)
        return false;
    for (int i = 0; i < f->parameter_count; i++)
        if (f->parameters[i].words != call->arguments[i].words)
            return false;
    for (int i = 0; i < f->result_count; i++)
        if (f->results[i].words != call->results[i].words)
            return false;
    return true;
}

/* Lanes of an indirect call that call another function than the first stay for a turn of their own.
 */
static const struct function *choose_callee(struct warp *w, struct group *g, const struct insn *in)
{
    const struct function *first = called_by(w, in, __builtin_ctz(g->mask));
    uint32_t others = 0;

    for (uint32_t m = g->mask; m; m &= m - 1)
        if (called_by(w, in, __builtin_ctz(m)) != first)
            others |= m & -m;
    if (others)
        simt_split(w, g, others)->at = g->block->end;
    if (first && has_shape(first, in->extra))
        return first;
    w->fault = (struct fault_site){ .name = ERR_MemoryFault,
                                    .lanes = g->mask,
                                    .insn = in,
                                    .why = "a call through a pointer to no function" };
    return NULL;
}

static int call(struct warp *w, struct group *g)
{
    const struct insn *in = g->block->control;
    const struct call *c = in->extra;
    const struct function *callee = c->callee ? c->callee : choose_callee(w, g, in);
    struct frame *frame;

    if (!callee)
        return RUN_FAULT;
    if (g->frame->depth == MAX_DEPTH || g->frame->stack_at +
                                                (uint64_t)g->frame->function->local_bytes +
                                                (uint64_t)callee->local_bytes >
                                            w->cta->run->stack_bytes)
        return overflow_stack(w, in);
    frame = frame_open(w, callee, g->frame);
    if (!frame)
        return out_of_memory(w);
    frame->lanes = g->mask;
    shadow_frame(w, frame, g->mask);
    frame->call_block = g->block;
    copy_areas(frame->rows, callee->parameters, g->frame->rows, c->arguments, c->argument_count,
               g->mask);
    if (in->locals)
        local_pass(in, g->frame, frame, g->mask);
    g->frame = frame;
    g->block = &callee->blocks[0];
    g->at = NULL;
    return RUN_OK;
}

static int return_lanes(struct warp *w, struct group *g)
{
    struct frame *frame = g->frame, *caller = frame->caller;
    const struct block *from = frame->call_block;
    const struct call *c;

    if (!caller)
        return end_lanes(w, g);
    if (is_awaited_at(g, BLOCK_EXIT)) {
        arrive(w, g);
        return RUN_TURN;
    }
    while (g->join && g->join->frame == frame) { /* left by another way than the join */
        struct join *outer = g->join->outer;

        forgo(w, g->join, g->mask);
        g->join = outer;
    }
    c = from->control->extra;
    copy_areas(caller->rows, c->results, frame->rows, frame->function->results, c->result_count,
               g->mask);
    if (from->control->locals)
        local_return(from->control, caller, frame, g->mask);
    frame->lanes &= ~g->mask;
    if (!frame->lanes)
        frame_close(w, frame);
    g->frame = caller;
    g->block = &caller->function->blocks[from->next];
    g->at = NULL;
    return RUN_TURN;
}

static uint32_t guard_lanes(const struct warp *w, const struct insn *in, uint32_t mask)
{
    uint32_t p;

    memcpy(&p, w->rows + in->guard, sizeof p);
    return in->guard_kind == GUARD_IF ? mask & p : mask & ~p;
}

/* The lanes disagree: two groups, and a join unless they are awaited at that place already. */
static void split(struct warp *w, struct group *g, uint32_t taken)
{
    const struct block *b = g->block, *blocks = g->frame->function->blocks;
    bool is_end = b->rejoin == BLOCK_EXIT && !g->frame->caller;
    struct group *rest = new_group(w);

    if (!is_end && !is_awaited_at(g, b->rejoin)) {
        struct join *j = new_join(w);

        if (j) { /* without a join, lanes merely never meet again */
            *j = (struct join){ .block = b->rejoin,
                                .frame = g->frame,
                                .expected = g->mask,
                                .spins = SPIN_BUDGET,
                                .outer = g->join,
                                .is_used = true };
            g->join = j;
        }
    }
    *rest = *g;
    rest->mask = g->mask & ~taken;
    rest->block = &blocks[b->next];
    rest->at = NULL;
    g->mask = taken;
    g->block = &blocks[b->target];
    g->at = NULL;
    w->cta->counts.branch_splits[b->id]++;
}

static int branch(struct warp *w, struct group *g)
{
    const struct block *b = g->block, *blocks = g->frame->function->blocks;
    const struct insn *in = b->control;
    uint32_t taken = in->guard_kind == GUARD_NONE ? g->mask : guard_lanes(w, in, g->mask);

    if (in->locals && local_branch(w, in, g->mask) < 0)
        return RUN_FAULT;
    if (taken && b->is_backward)
        g->spins--;
    if (taken && taken != g->mask) {
        split(w, g, taken);
        return RUN_TURN;
    }
    g->block = &blocks[taken ? b->target : b->next];
    g->at = NULL;
    return g->spins < 0 ? RUN_TURN : RUN_OK;
}

static int leave_block(struct warp *w, struct group *g)
{
    switch (g->block->kind) {
    case END_FALL:
        g->block = &g->frame->function->blocks[g->block->next];
        g->at = NULL;
        return RUN_OK;
    case END_BRANCH:
        return branch(w, g);
    case END_CALL:
        return call(w, g);
    case END_RETURN:
        return return_lanes(w, g);
    case END_EXIT:
        return end_lanes(w, g);
    }
    return RUN_OK;
}

/* ---- The straight part ---------------------------------------------------------------------- */

/* mask: the lanes of the group that the guard lets through. */
static int handle(struct warp *w, struct group *g, int result, uint32_t mask)
{
    switch (result) {
    case EXEC_PARK:
        sync_park(w, g, mask);
        return RUN_TURN;
    case EXEC_BARRIER:
        return barrier_arrive(w, g, mask) < 0 ? RUN_FAULT : RUN_TURN;
    default:
        return RUN_FAULT;
    }
}

static int run_masked(struct warp *w, struct group *g)
{
    while (g->at != g->block->end) {
        const struct insn *in = g->at;
        uint32_t mask = in->guard_kind == GUARD_NONE ? g->mask : guard_lanes(w, in, g->mask);
        int result = mask ? in->masked(w, in, mask) : EXEC_OK;

        if (result == EXEC_OK) {
            g->at += 1 + in->skip;
            continue;
        }
        return handle(w, g, result, mask);
    }
    return RUN_OK;
}

/* All lanes that the frame has: no lane needs to be kept from being written. */
static int run_full(struct warp *w, struct group *g)
{
    const struct insn *in = g->at, *end = g->block->end;
    uint32_t mask = g->mask;

    for (; in != end; in += 1 + in->skip) {
        uint32_t some = mask;
        int result;

        if (in->guard_kind == GUARD_NONE) {
            result = in->full(w, in, mask);
        } else {
            some = guard_lanes(w, in, mask);
            result = some ? in->masked(w, in, some) : EXEC_OK;
        }
        if (result != EXEC_OK) {
            g->at = in;
            return handle(w, g, result, some);
        }
    }
    g->at = end;
    return RUN_OK;
}

/* ---- A warp --------------------------------------------------------------------------------- */

/* A word of all ones for each lane, and two: a row of 64 bits is two words a lane. */
static void expand_mask(struct warp *w, uint32_t mask)
{
#define BITS4(n) 1U << (n), 2U << (n), 4U << (n), 8U << (n)
#define BITS8(n) BITS4(n), BITS4((n) + 4)
    static const uint32_t BITS[WARP] = { BITS8(0), BITS8(8), BITS8(16), BITS8(24) };
    word32 *words = (word32 *)(void *)w->lanes64;

    if (w->expanded == mask)
        return;
    w->expanded = mask;
    for (int l = 0; l < WARP; l++)
        w->lanes32[l] = mask & BITS[l] ? UINT32_MAX : 0;
    for (int l = 0; l < WARP; l++)
        words[2 * l] = words[2 * l + 1] = w->lanes32[l];
}

/* in: where the warp is, for the report of a launch that is stopped. */
static int poll(struct warp *w, const struct insn *in)
{
    const struct ptx_launch *launch = w->cta->run->launch;

    w->cta->poll = POLL_INTERVAL;
    if (launch->stop && atomic_load_explicit(launch->stop, memory_order_relaxed)) {
        w->fault = (struct fault_site){ .name = ERR_Interrupted, .insn = in };
        return RUN_FAULT;
    }
    if (w->instructions > w->cta->run->thread_budget) {
        w->fault = (struct fault_site){ .name = ERR_Timeout, .lanes = w->mask };
        return RUN_FAULT;
    }
    return RUN_OK;
}

static int enter_block(struct warp *w, struct group *g)
{
    const struct block *b = g->block;

    g->at = b->start;
    if (b->is_waiting) {
        g->spins -= WAIT_COST;
        w->cta->looks++;
    }
    w->cta->counts.block_runs[b->id]++;
    w->cta->counts.block_lanes[b->id] += mask_lanes(g->mask);
    w->instructions += b->insn_count;
    w->cta->poll -= b->insn_count;
    if (w->trace)
        trace_block(w->trace, b, g->mask);
    return w->cta->poll < 0 ? poll(w, b->control ? b->control : b->first) : RUN_OK;
}

/* Runs a group until it parts, waits, ends or gives way. */
static int run_group(struct warp *w, struct group *g)
{
    int rc = RUN_OK;

    while (rc == RUN_OK && g->state == GROUP_READY) {
        w->rows = g->frame->rows;
        w->frame = g->frame;
        w->mask = g->mask;
        if (!g->at) {
            if (is_awaited_at(g, (int)(g->block - g->frame->function->blocks))) {
                arrive(w, g);
                return RUN_TURN;
            }
            if (enter_block(w, g) < 0)
                return RUN_FAULT;
        }
        if (g->mask == g->frame->lanes) {
            rc = run_full(w, g);
        } else {
            expand_mask(w, g->mask);
            rc = run_masked(w, g);
        }
        if (rc == RUN_OK)
            rc = leave_block(w, g);
    }
    return rc;
}

static bool is_before(const struct group *a, const struct group *b)
{
    if (a->turns != b->turns)
        return a->turns < b->turns;
    if (a->frame->depth != b->frame->depth)
        return a->frame->depth > b->frame->depth;
    if (a->block != b->block)
        return a->block < b->block;
    return a->at < b->at; /* NULL, its start, comes first */
}

static bool is_same_place(const struct group *a, const struct group *b)
{
    return a->frame == b->frame && a->block == b->block && a->at == b->at && a->join == b->join;
}

/*
 * Who is furthest behind goes first: deepest call, then lowest place in the code, as that is where
 * others may still come to. Groups that stand at the same place become one.
 */
static struct group *pick_group(struct warp *w)
{
    struct group *best = NULL;

    for (uint32_t used = w->used_groups; used; used &= used - 1) {
        struct group *g = &w->groups[__builtin_ctz(used)];

        if (g->state != GROUP_READY)
            continue;
        if (!best) {
            best = g;
        } else if (is_same_place(g, best)) {
            best->mask |= g->mask;
            free_group(w, g);
        } else if (is_before(g, best)) {
            best = g;
        }
    }
    return best;
}

static bool is_other_ready(const struct warp *w, const struct group *g)
{
    for (uint32_t used = w->used_groups; used; used &= used - 1) {
        const struct group *other = &w->groups[__builtin_ctz(used)];

        if (other != g && other->state == GROUP_READY)
            return true;
    }
    return false;
}

/* True when the group's turn is over. */
static bool give_way(struct warp *w, struct group *g)
{
    if (g->state != GROUP_READY || g->spins >= 0)
        return false;
    g->spins = SPIN_BUDGET;
    if (w->cta->run->launch->groups == PTX_GROUPS_ITS)
        g->turns++;
    return true;
}

/* Others of the warp that go on while this group waits: each gets its turns. */
static bool has_others(struct warp *w, const struct group *g)
{
    return w->cta->run->launch->groups == PTX_GROUPS_ITS &&
           (is_other_ready(w, g) || detach_arrived(w));
}

/* Runs a warp until every group waits or has ended, or all have had turns that led nowhere. */
static int run_warp(struct warp *w, bool *has_moved, struct err *err)
{
    int tired = 0;
    struct group *g;

    while ((g = pick_group(w)) != NULL) {
        *has_moved = true;
        if (run_group(w, g) < 0)
            return check_fault(w, err);
        if (w->cta->has_full_barrier && barrier_complete(w->cta, has_moved, err) < 0)
            return RUN_FAULT;
        if (give_way(w, g) && (!has_others(w, g) || tired++ > __builtin_popcount(w->used_groups)))
            return RUN_TURN;
    }
    return RUN_OK;
}

/* ---- A block -------------------------------------------------------------------------------- */

static bool detach_all(struct cta *cta)
{
    bool is_any = false;

    for (int i = 0; i < cta->run->warps_per_block; i++)
        is_any |= detach_arrived(&cta->warps[i]);
    return is_any;
}

static int start_warp(struct cta *cta, struct warp *w)
{
    int threads = cta->run->threads_per_block - w->index * WARP;
    struct frame *frame;

    if (w->used_groups | w->used_joins[0] | w->used_joins[1]) {
        memset(w->groups, 0, sizeof w->groups);
        memset(w->joins, 0, sizeof w->joins);
        memset(w->used_joins, 0, sizeof w->used_joins);
        w->used_groups = 0;
    }
    w->started = w->live = threads >= WARP ? FULL_MASK : ((uint32_t)1 << threads) - 1;
    w->instructions = 0;
    w->cluster_arrived = 0;
    async_start(w);
    frame = frame_open(w, cta->run->entry, NULL);
    if (!frame)
        return -1;
    frame->lanes = w->live;
    shadow_frame(w, frame, w->live);
    start_group(new_group(w), w->live, &cta->run->entry->blocks[0], frame, NULL);
    w->frame = w->entry_frame = frame;
    return 0;
}

int simt_start(struct cta *cta, struct err *err)
{
    memset(cta->barriers, 0, sizeof cta->barriers);
    cta->has_full_barrier = cta->is_waiting = false;
    cta->used_barriers = 0;
    memset(cta->shared, 0, cta->run->shared_bytes);
    shadow_block(cta);
    cta->live_threads = cta->run->threads_per_block;
    for (int i = 0; i < cta->run->warps_per_block; i++)
        if (start_warp(cta, &cta->warps[i]) < 0)
            return err_set(err, ERR_ResourceError,
                           "the registers of a block do not fit into the launch's memory limit");
    return 0;
}

/* Frames go back for the next block; after a fault the launch ends and its arena with it. */
static void end_block(struct cta *cta)
{
    for (int i = 0; i < cta->run->warps_per_block; i++)
        frame_close(&cta->warps[i], cta->warps[i].entry_frame);
}

/* Stores so far, those to stacks apart, which only their own thread can see. */
static int64_t count_stores(const struct cta *cta)
{
    const struct ptx_module *m = cta->run->module;
    int64_t n = 0;

    for (int i = 0; i < m->counter_count; i++)
        if ((m->counted[i]->flags & (INSN_WRITES | INSN_ATOMIC)) == INSN_WRITES &&
            cta->counts.accesses[i].space_seen != 1U << SPACE_LOCAL)
            n += cta->counts.accesses[i].requests;
    return n;
}

/* A turn of every warp. RUN_TURN: those that moved only went round loops. */
static int run_round(struct cta *cta, struct err *err)
{
    bool has_moved = false, is_at_work = false;

    for (int i = 0; i < cta->run->warps_per_block; i++) {
        bool is_moving = false;
        int rc = run_warp(&cta->warps[i], &is_moving, err);

        if (rc < 0)
            return RUN_FAULT;
        has_moved |= is_moving;
        is_at_work |= is_moving && rc == RUN_OK;
    }
    if (barrier_complete(cta, &is_at_work, err) < 0)
        return RUN_FAULT;
    if (is_at_work || !cta->live_threads)
        return RUN_OK;
    if (has_moved)
        return RUN_TURN;
    if (cta->run->launch->groups == PTX_GROUPS_ITS && detach_all(cta))
        return RUN_OK;
    return check_deadlock(cta, err);
}

/*
 * A block that only goes round loops waits when those look at memory, and also when it came back to
 * where it was: then it needs somebody else to change something. A long computation does neither. A
 * loop with a barrier in it is told by its length alone.
 */
int simt_step(struct cta *cta, struct err *err)
{
    int64_t stores = cta->is_waiting ? count_stores(cta) : -1, rounds = 0;
    uint64_t state = 0;

    cta->has_moved = cta->is_waiting = false;
    while (cta->live_threads > 0) {
        int64_t changes = cta->changes, last = stores;
        uint64_t before = state;
        int rc;

        cta->looks = 0;
        rc = run_round(cta, err);
        if (rc < 0)
            return SIMT_FAULT;
        rounds += cta->looks > 0;
        stores = rc == RUN_TURN ? count_stores(cta) : -1;
        state = 0;
        if (stores < 0 || stores != last || cta->changes != changes) {
            cta->has_moved = true;
            cta->is_waiting = rounds >= LONG_WAIT;
        } else if (cta->looks) {
            cta->is_waiting = true;
        } else {
            state = simt_state(cta);
            cta->is_waiting = state == before;
        }
        if (cta->is_waiting)
            return SIMT_WAITS;
    }
    if (check_pending(cta, err) < 0)
        return SIMT_FAULT;
    end_block(cta);
    return SIMT_DONE;
}

int simt_run(struct cta *cta, struct err *err)
{
    uint64_t state = 0;
    int quiet_turns = 0;

    for (;;) {
        uint64_t before = state;
        int step = simt_step(cta, err);

        if (step != SIMT_WAITS)
            return step;
        state = simt_state(cta);
        quiet_turns = cta->has_moved ? 0 : quiet_turns + 1;
        if ((quiet_turns && state == before) || quiet_turns > SIMT_PATIENCE)
            return check_deadlock(cta, err);
    }
}
