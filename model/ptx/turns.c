/*
 * The warps of a block take turns, round after round, until all threads have ended.
 *
 * A block that waits for another one gives its host thread away: it is told from one that computes
 * by what its rounds leave behind.
 */
#include "model/ptx/async.h"
#include "model/ptx/shadow.h"
#include "model/ptx/simt.h"
#include "model/ptx/sync.h"

enum { LONG_WAIT = 256 /* rounds of a block with looks at memory before others get a turn */ };

static bool detach_all(struct cta *cta)
{
    bool is_any = false;

    for (int i = 0; i < cta->run->warps_per_block; i++)
        is_any |= group_detach(&cta->warps[i]);
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
    group_start(group_new(w), w->live, &cta->run->entry->blocks[0], frame, NULL);
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

/* A turn of every warp. GROUP_TURN: those that moved only went round loops. */
static int run_round(struct cta *cta, struct err *err)
{
    bool has_moved = false, is_at_work = false;

    for (int i = 0; i < cta->run->warps_per_block; i++) {
        bool is_moving = false;
        int rc = simt_run_warp(&cta->warps[i], &is_moving, err);

        if (rc < 0)
            return GROUP_FAULT;
        has_moved |= is_moving;
        is_at_work |= is_moving && rc == GROUP_OK;
    }
    if (barrier_complete(cta, &is_at_work, err) < 0)
        return GROUP_FAULT;
    if (is_at_work || !cta->live_threads)
        return GROUP_OK;
    if (has_moved)
        return GROUP_TURN;
    if (cta->run->launch->groups == PTX_GROUPS_ITS && detach_all(cta))
        return GROUP_OK;
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
        stores = rc == GROUP_TURN ? count_stores(cta) : -1;
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
