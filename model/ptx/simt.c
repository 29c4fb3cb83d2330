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
#include "model/ptx/simt.h"

#include "model/ptx/call.h"
#include "model/ptx/sync.h"

enum {
    WAIT_COST = 1 << 10,   /* a block that reads a flag or tries a lock costs so many spins */
    POLL_INTERVAL = 10000, /* warp instructions between looks at the stop flag: far below 1 ms */
};

typedef uint32_t __attribute__((may_alias)) word32;

/* ---- The end of a block --------------------------------------------------------------------- */

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
    struct group *rest = group_new(w);

    if (!is_end && !group_is_awaited_at(g, b->rejoin)) {
        struct join *j = join_new(w);

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
        return GROUP_FAULT;
    if (taken && b->is_backward)
        g->spins--;
    if (taken && taken != g->mask) {
        split(w, g, taken);
        return GROUP_TURN;
    }
    g->block = &blocks[taken ? b->target : b->next];
    g->at = NULL;
    return g->spins < 0 ? GROUP_TURN : GROUP_OK;
}

static int leave_block(struct warp *w, struct group *g)
{
    switch (g->block->kind) {
    case END_FALL:
        g->block = &g->frame->function->blocks[g->block->next];
        g->at = NULL;
        return GROUP_OK;
    case END_BRANCH:
        return branch(w, g);
    case END_CALL:
        return call_enter(w, g);
    case END_RETURN:
        return call_return(w, g);
    case END_EXIT:
        return call_end(w, g);
    }
    return GROUP_OK;
}

/* ---- The straight part ---------------------------------------------------------------------- */

/* mask: the lanes of the group that the guard lets through. */
static int handle(struct warp *w, struct group *g, int result, uint32_t mask)
{
    switch (result) {
    case EXEC_PARK:
        sync_park(w, g, mask);
        return GROUP_TURN;
    case EXEC_BARRIER:
        return barrier_arrive(w, g, mask) < 0 ? GROUP_FAULT : GROUP_TURN;
    default:
        return GROUP_FAULT;
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
    return GROUP_OK;
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
    return GROUP_OK;
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
        return GROUP_FAULT;
    }
    if (w->instructions > w->cta->run->thread_budget) {
        w->fault = (struct fault_site){ .name = ERR_Timeout, .lanes = w->mask };
        return GROUP_FAULT;
    }
    return GROUP_OK;
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
    return w->cta->poll < 0 ? poll(w, b->control ? b->control : b->first) : GROUP_OK;
}

/* Runs a group until it parts, waits, ends or gives way. */
static int run_group(struct warp *w, struct group *g)
{
    int rc = GROUP_OK;

    while (rc == GROUP_OK && g->state == GROUP_READY) {
        w->rows = g->frame->rows;
        w->frame = g->frame;
        w->mask = g->mask;
        if (!g->at) {
            if (group_is_awaited_at(g, (int)(g->block - g->frame->function->blocks))) {
                join_arrive(w, g);
                return GROUP_TURN;
            }
            if (enter_block(w, g) < 0)
                return GROUP_FAULT;
        }
        if (g->mask == g->frame->lanes) {
            rc = run_full(w, g);
        } else {
            expand_mask(w, g->mask);
            rc = run_masked(w, g);
        }
        if (rc == GROUP_OK)
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
            group_free(w, g);
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
           (is_other_ready(w, g) || group_detach(w));
}

/* Runs a warp until every group waits or has ended, or all have had turns that led nowhere. */
int simt_run_warp(struct warp *w, bool *has_moved, struct err *err)
{
    int tired = 0;
    struct group *g;

    while ((g = pick_group(w)) != NULL) {
        *has_moved = true;
        if (run_group(w, g) < 0)
            return check_fault(w, err);
        if (w->cta->has_full_barrier && barrier_complete(w->cta, has_moved, err) < 0)
            return GROUP_FAULT;
        if (give_way(w, g) && (!has_others(w, g) || tired++ > __builtin_popcount(w->used_groups)))
            return GROUP_TURN;
    }
    return GROUP_OK;
}
