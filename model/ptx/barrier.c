/*
 * Barriers of a block, as Volta and later count them: by thread, at any place.
 *
 * A barrier without a count waits for every thread of the block that has not ended; one with a
 * count for so many arrivals, of threads that wait (bar.sync, bar.red) and of those that do not
 * (bar.arrive). It is complete the moment the last one arrives, and can then be used again.
 *
 * Source: "bar, barrier" and "barrier.cluster", PTX ISA 9.0.
 */
#include "model/ptx/group.h"
#include "model/ptx/shadow.h"
#include "model/ptx/sync.h"
#include "model/ptx/track.h"
#include "model/ptx/warning.h"

typedef uint32_t __attribute__((may_alias)) word32;

static uint32_t word_of(const struct group *g, uint32_t row, int lane)
{
    return ((const word32 *)(g->frame->rows + row))[lane];
}

static uint32_t count_of(const struct group *g, int lane)
{
    return g->at->option & BARRIER_COUNTS ? word_of(g, g->at->b, lane) : 0;
}

/* All lanes hold the same word. */
static bool is_one_word(const word32 *row)
{
    return !memcmp(row, row + 1, ROW32 - sizeof *row);
}

/* Lanes that the guard holds go on; lanes that name another barrier come to it in their turn. */
static void keep_equal(struct warp *w, struct group *g, uint32_t mask)
{
    int first = __builtin_ctz(mask);
    uint32_t equal = 0;

    if (mask == g->mask && !(g->at->option & BARRIER_COUNTS) &&
        is_one_word((const word32 *)(g->frame->rows + g->at->a)))
        return;
    for (uint32_t m = mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);

        if (word_of(g, g->at->a, l) == word_of(g, g->at->a, first) &&
            count_of(g, l) == count_of(g, first))
            equal |= m & -m;
    }
    if (g->mask & ~mask)
        group_part(w, g, g->mask & ~mask)->at++;
    if (g->mask & ~equal)
        group_part(w, g, g->mask & ~equal);
}

static uint32_t predicates_of(const struct group *g)
{
    uint32_t bits = word_of(g, g->at->c, 0);

    return (g->at->option & BARRIER_NEGATED ? ~bits : bits) & g->mask;
}

static bool is_of_all(const struct cta *cta, const struct barrier *b)
{
    return !b->expected || b->expected >= cta->run->threads_per_block;
}

static bool is_complete(const struct cta *cta, const struct barrier *b)
{
    return b->arrived && b->arrived >= (b->expected ? b->expected : cta->live_threads);
}

/* barrier.cluster.wait: only threads that arrived in a phase that is not over wait. */
static void wait_for_cluster(struct warp *w, struct group *g)
{
    uint32_t waits = g->mask & w->cluster_arrived;

    if (!waits) {
        g->at++;
        return;
    }
    if (g->mask & ~waits)
        group_part(w, g, g->mask & ~waits)->at++;
    g->state = GROUP_BARRIER;
    g->barrier = CLUSTER_BARRIER;
    g->at++;
}

int barrier_arrive(struct warp *w, struct group *g, uint32_t mask)
{
    const struct insn *in = g->at;
    struct cta *cta = w->cta;
    struct barrier *b;
    uint32_t number;
    int lanes;

    keep_equal(w, g, mask);
    number =
        in->option & BARRIER_CLUSTER ? CLUSTER_BARRIER : word_of(g, in->a, __builtin_ctz(g->mask));
    if (number >= MAX_BARRIERS && !(in->option & BARRIER_CLUSTER)) {
        w->fault = (struct fault_site){ .name = ERR_BarrierFault,
                                        .lanes = g->mask,
                                        .insn = in,
                                        .why = "a block has the barriers 0 to 15" };
        return EXEC_FAULT;
    }
    cta->used_barriers = (int)max_i64(cta->used_barriers, (int64_t)number + 1);
    if ((in->option & BARRIER_CLUSTER) && !(in->option & BARRIER_ARRIVES)) {
        wait_for_cluster(w, g);
        return EXEC_OK;
    }
    b = &cta->barriers[number];
    lanes = mask_lanes(g->mask);
    b->arrived += lanes;
    b->expected = (int)min_i64(count_of(g, __builtin_ctz(g->mask)), INT32_MAX);
    if (in->option & (BARRIER_POPC | BARRIER_AND | BARRIER_OR)) {
        int trues = __builtin_popcount(predicates_of(g));

        b->trues += trues;
        b->falses += lanes - trues;
    }
    if (in->option & BARRIER_CLUSTER)
        w->cluster_arrived |= g->mask;
    if (!(in->option & BARRIER_ARRIVES)) {
        g->state = GROUP_BARRIER;
        g->barrier = (int)number;
    }
    g->at++;
    race_arrive(w, (int)number, in->option & BARRIER_COUNTS);
    cta->has_full_barrier |= is_complete(cta, b);
    return EXEC_OK;
}

static void give_result(const struct group *g, const struct barrier *b)
{
    const struct insn *in = g->at - 1;
    word32 *d = (word32 *)(g->frame->rows + in->d);
    bool is_true = in->option & BARRIER_AND ? !b->falses : b->trues > 0;

    if (in->option & BARRIER_POPC)
        for (uint32_t m = g->mask; m; m &= m - 1)
            d[__builtin_ctz(m)] = (uint32_t)b->trues;
    else if (in->option & (BARRIER_AND | BARRIER_OR))
        *d = (*d & ~g->mask) | (is_true ? g->mask : 0);
}

/* A barrier that some came to with a count and others without: those were not asked yet. */
static void gather_rest(struct cta *cta, int number)
{
    for (int i = 0; i < cta->run->warps_per_block; i++) {
        struct warp *w = &cta->warps[i];

        for (uint32_t used = w->used_groups; used; used &= used - 1) {
            const struct group *g = &w->groups[__builtin_ctz(used)];

            if (g->state == GROUP_BARRIER && g->barrier == number &&
                !((g->at - 1)->option & BARRIER_COUNTS))
                race_gather(w, number);
        }
    }
}

static void release(struct cta *cta, int number)
{
    bool is_full = is_of_all(cta, &cta->barriers[number]);

    if (!is_full)
        gather_rest(cta, number);
    for (int i = 0; i < cta->run->warps_per_block; i++) {
        struct warp *w = &cta->warps[i];

        if (number == CLUSTER_BARRIER)
            w->cluster_arrived = 0;
        for (uint32_t used = w->used_groups; used; used &= used - 1) {
            struct group *g = &w->groups[__builtin_ctz(used)];

            if (g->state != GROUP_BARRIER || g->barrier != number)
                continue;
            give_result(g, &cta->barriers[number]);
            race_leave(w, number, is_full);
            g->state = GROUP_READY;
        }
    }
    cta->barriers[number] = (struct barrier){ 0 };
    race_forget(cta, number);
    if (cta->track)
        track_barrier(cta);
}

/* Legal, and worth a word: who returned before is not at the barrier. */
static void note_returned(struct cta *cta, int number)
{
    if (cta->barriers[number].expected || cta->live_threads == cta->run->threads_per_block)
        return;
    for (int i = 0; i < cta->run->warps_per_block; i++) {
        struct warp *w = &cta->warps[i];

        for (uint32_t used = w->used_groups; used; used &= used - 1) {
            const struct group *g = &w->groups[__builtin_ctz(used)];

            if (g->state != GROUP_BARRIER || g->barrier != number)
                continue;
            warning_note(w, PTX_WARNING_EARLY_RETURN, g->at - 1, NULL, g->mask);
            return;
        }
    }
}

/* Threads that have ended are not awaited. */
int barrier_complete(struct cta *cta, bool *has_moved, struct err *err)
{
    cta->has_full_barrier = false;
    for (int i = 0; i < cta->used_barriers; i++) {
        if (!is_complete(cta, &cta->barriers[i]))
            continue;
        if (check_barrier(cta, i, err) < 0 ||
            (is_of_all(cta, &cta->barriers[i]) && check_pending(cta, err) < 0))
            return -1;
        note_returned(cta, i);
        release(cta, i);
        *has_moved = true;
    }
    return 0;
}

/* A barrier ends what a warp does for now: simt.c takes the group to barrier_arrive. */
int exec_barrier(struct warp *w, const struct insn *in, uint32_t mask)
{
    (void)in;
    (void)mask;
    w->cta->counts.barriers++;
    return EXEC_BARRIER;
}
