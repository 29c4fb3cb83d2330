/*
 * One scheduler is a small machine: a set of eligible warps, a queue of waiting
 * ones in the order in which they wake, and a rule that picks. A step is one
 * issue and the idle cycles after it, so that long waits cost nothing.
 */
#include "model/scheduler_machine.h"

#include "model/base/philox.h"

/* ---- Eligible warps ---- */

static bool is_ready(const struct scheduler *s, int warp)
{
    return s->ready[warp / SCHEDULER_BITS] >> (warp % SCHEDULER_BITS) & 1;
}

static int queued_at(const struct scheduler *s, int i)
{
    return s->queue[(s->queue_head + i) & s->waiting_mask];
}

/* By since, then by number: a new one belongs to the end of the queue or close to it. */
static void join_queue(struct scheduler *s, int warp)
{
    int at = s->queue_count++;

    for (; at > 0; at--) {
        int before = queued_at(s, at - 1);

        if (s->since[before] < s->since[warp] ||
            (s->since[before] == s->since[warp] && before < warp))
            break;
        s->queue[(s->queue_head + at) & s->waiting_mask] = before;
    }
    s->queue[(s->queue_head + at) & s->waiting_mask] = warp;
}

static void set_ready(struct scheduler *s, int warp)
{
    s->ready[warp / SCHEDULER_BITS] |= UINT64_C(1) << (warp % SCHEDULER_BITS);
    s->ready_count++;
    if (s->pattern->policy == POLICY_LONGEST_READY)
        join_queue(s, warp);
}

static void clear_ready(struct scheduler *s, int warp)
{
    s->ready[warp / SCHEDULER_BITS] &= ~(UINT64_C(1) << (warp % SCHEDULER_BITS));
    s->ready_count--;
}

/* The lowest eligible warp from `from` on, or -1. */
static int lowest_ready(const struct scheduler *s, int from)
{
    uint64_t word;

    if (from >= s->count)
        return -1;
    word = s->ready[from / SCHEDULER_BITS] >> (from % SCHEDULER_BITS) << (from % SCHEDULER_BITS);
    for (int i = from / SCHEDULER_BITS;; word = s->ready[i]) {
        if (word)
            return i * SCHEDULER_BITS + __builtin_ctzll(word);
        if (++i > (s->count - 1) / SCHEDULER_BITS)
            return -1;
    }
}

static int highest_ready(const struct scheduler *s)
{
    for (int i = (s->count - 1) / SCHEDULER_BITS; i >= 0; i--)
        if (s->ready[i])
            return i * SCHEDULER_BITS + SCHEDULER_BITS - 1 - __builtin_clzll(s->ready[i]);
    return -1;
}

/* ---- Policies: which of the eligible warps, of which there is at least one ---- */

static bool last_is_ready(const struct scheduler *s)
{
    return s->last >= 0 && is_ready(s, s->last);
}

static int pick_gto(struct scheduler *s)
{
    return last_is_ready(s) ? s->last : lowest_ready(s, 0);
}

static int pick_gty(struct scheduler *s)
{
    return last_is_ready(s) ? s->last : highest_ready(s);
}

static int pick_oldest(struct scheduler *s)
{
    return lowest_ready(s, 0);
}

static int pick_lrr(struct scheduler *s)
{
    int next = lowest_ready(s, s->last + 1);

    return next >= 0 ? next : lowest_ready(s, 0);
}

static int pick_longest_ready(struct scheduler *s)
{
    return queued_at(s, 0);
}

/* The head has issued: it leaves the queue, or goes to its end. */
static void requeue(struct scheduler *s, int warp, bool is_ready_again)
{
    s->queue_head = (s->queue_head + 1) & s->waiting_mask;
    s->queue_count--;
    if (is_ready_again)
        join_queue(s, warp);
}

/* The first eligible warp of the pending queue joins the active set; false: there is none. */
static bool admit_pending(struct scheduler *s)
{
    for (int i = 0; i < s->pending_count; i++)
        if (is_ready(s, s->pending[i])) {
            s->active[s->active_count++] = s->pending[i];
            s->pending_count--;
            memmove(&s->pending[i], &s->pending[i + 1],
                    (size_t)(s->pending_count - i) * sizeof(*s->pending));
            return true;
        }
    return false;
}

static int active_index(const struct scheduler *s, int warp)
{
    for (int i = 0; i < s->active_count; i++)
        if (s->active[i] == warp)
            return i;
    return -1;
}

/* One warp a cycle may join. Members never wait, so every one is eligible. */
static int pick_two_level(struct scheduler *s)
{
    if (s->active_count < POLICY_ACTIVE_SET && s->ready_count > s->active_count)
        admit_pending(s);
    return s->active[(active_index(s, s->last) + 1) % s->active_count];
}

static void leave_active(struct scheduler *s, int warp)
{
    int i = active_index(s, warp);

    s->active_count--;
    memmove(&s->active[i], &s->active[i + 1], (size_t)(s->active_count - i) * sizeof(*s->active));
    s->pending[s->pending_count++] = warp;
}

static const struct policy {
    int (*pick)(struct scheduler *s);
    bool has_last;  /* the pick depends on who was issued last */
    bool has_since; /* ... on how long a warp has been eligible */
} POLICIES[POLICY_COUNT] = {
    [POLICY_GTO] = { pick_gto, true, false },
    [POLICY_GTY] = { pick_gty, true, false },
    [POLICY_LRR] = { pick_lrr, true, false },
    [POLICY_OLDEST] = { pick_oldest, false, false },
    [POLICY_LONGEST_READY] = { pick_longest_ready, false, true },
    [POLICY_TWO_LEVEL] = { pick_two_level, true, false },
};

static const char *const POLICY_NAMES[POLICY_COUNT] = {
#define X(id, name, help) name,
    SCHEDULER_POLICIES(X)
#undef X
};

const char *scheduler_policy_name(enum scheduler_policy policy)
{
    return POLICY_NAMES[policy];
}

int scheduler_policy_find(const char *name)
{
    for (int i = 0; i < POLICY_COUNT; i++)
        if (strcmp(POLICY_NAMES[i], name) == 0)
            return i;
    return -1;
}

/* ---- One step ---- */

static int waiting_at(const struct scheduler *s, int i)
{
    return s->waiting[(s->waiting_head + i) & s->waiting_mask];
}

/* Waits are nearly all of one length, so a new one goes to the end of the ring or close to it. */
static void join_waiting(struct scheduler *s, int warp)
{
    int at = s->waiting_count++;

    for (; at > 0 && s->since[waiting_at(s, at - 1)] > s->since[warp]; at--)
        s->waiting[(s->waiting_head + at) & s->waiting_mask] = waiting_at(s, at - 1);
    s->waiting[(s->waiting_head + at) & s->waiting_mask] = warp;
}

/* Moves to `cycle`: who has waited until then is eligible. */
static void advance(struct scheduler *s, int64_t cycle)
{
    s->now = cycle;
    while (s->waiting_count && s->since[waiting_at(s, 0)] <= cycle) {
        set_ready(s, waiting_at(s, 0));
        s->waiting_head = (s->waiting_head + 1) & s->waiting_mask;
        s->waiting_count--;
    }
}

static int64_t draw_wait(struct scheduler *s, int warp)
{
    const struct pattern *p = s->pattern;
    uint64_t id = (uint64_t)warp * (uint64_t)p->schedulers + (uint64_t)s->number;

    if (!p->jitter)
        return p->wait;
    return p->wait + (int64_t)philox_below(philox_at(p->seed, s->round[warp]++, id).word[0],
                                           (uint32_t)p->jitter);
}

/* Another warp than the last one: cycles go by in which eligible warps are not selected. */
static void change_warp(struct scheduler *s, int warp)
{
    if (s->last < 0 || s->last == warp)
        return;
    for (int i = 0; i < s->pattern->switch_cost; i++) {
        s->all_eligible += s->ready_count;
        advance(s, s->now + 1);
    }
}

int scheduler_step(struct scheduler *s)
{
    int warp = POLICIES[s->pattern->policy].pick(s);
    int64_t wait;

    change_warp(s, warp);
    s->issued_at = s->now;
    s->all_eligible += s->ready_count;
    s->all_issued++;
    s->issued[warp]++;
    s->last = warp;
    s->since[warp] = s->now + 1;
    if (--s->left[warp] == 0) {
        s->left[warp] = s->pattern->issue;
        wait = draw_wait(s, warp);
        if (wait > 0) {
            s->since[warp] += wait;
            clear_ready(s, warp);
            join_waiting(s, warp);
            if (s->pattern->policy == POLICY_TWO_LEVEL)
                leave_active(s, warp);
        }
    }
    if (s->pattern->policy == POLICY_LONGEST_READY)
        requeue(s, warp, is_ready(s, warp));
    advance(s, s->now + 1);
    if (!s->ready_count)
        advance(s, s->since[waiting_at(s, 0)]);
    return warp;
}

/* ---- Making and copying ---- */

struct scheduler *scheduler_new(const struct pattern *p, int number, struct arena *arena)
{
    struct scheduler *s = arena_alloc(arena, sizeof(*s));
    size_t n = (size_t)((p->warps - number + p->schedulers - 1) / p->schedulers), ring = 1;

    while (ring < n)
        ring *= 2;
    if (!s)
        return NULL;
    s->pattern = p;
    s->number = number;
    s->count = (int)n;
    s->last = -1;
    s->waiting_mask = (int)ring - 1;
    s->left = arena_array(arena, n, sizeof(*s->left));
    s->since = arena_array(arena, n, sizeof(*s->since));
    s->round = arena_array(arena, n, sizeof(*s->round));
    s->waiting = arena_array(arena, ring, sizeof(*s->waiting));
    s->pending = arena_array(arena, n + 1, sizeof(*s->pending));
    s->issued = arena_array(arena, n, sizeof(*s->issued));
    s->queue = arena_array(arena, ring, sizeof(*s->queue));
    if (!s->left || !s->since || !s->round || !s->waiting || !s->pending || !s->issued || !s->queue)
        return NULL;
    for (int w = 0; w < s->count; w++) {
        s->left[w] = p->issue;
        s->pending[s->pending_count++] = w;
        set_ready(s, w);
    }
    return s;
}

void scheduler_copy(struct scheduler *to, const struct scheduler *from)
{
    struct scheduler mine = *to;
    size_t n = (size_t)from->count;

    *to = *from;
    to->left = memcpy(mine.left, from->left, n * sizeof(*to->left));
    to->since = memcpy(mine.since, from->since, n * sizeof(*to->since));
    to->round = memcpy(mine.round, from->round, n * sizeof(*to->round));
    to->waiting = memcpy(mine.waiting, from->waiting,
                         (size_t)(from->waiting_mask + 1) * sizeof(*to->waiting));
    to->pending = memcpy(mine.pending, from->pending, n * sizeof(*to->pending));
    to->queue =
        memcpy(mine.queue, from->queue, (size_t)(from->waiting_mask + 1) * sizeof(*to->queue));
    to->issued = memcpy(mine.issued, from->issued, n * sizeof(*to->issued));
}

/* When the first that waits wakes, from now on; -1: nobody waits. */
static int64_t next_wake(const struct scheduler *s)
{
    return s->waiting_count ? s->since[waiting_at(s, 0)] - s->now : -1;
}

/* Is each warp eligible as long, or as soon, in both? Looks first where it was not the last time.
 */
static bool have_same_times(struct scheduler *a, const struct scheduler *b, bool has_since)
{
    for (int i = 0, w = a->unlike; i < a->count; i++, w = w + 1 < a->count ? w + 1 : 0)
        if ((has_since || !is_ready(a, w)) && a->since[w] - a->now != b->since[w] - b->now) {
            a->unlike = w;
            return false;
        }
    return true;
}

/* Nearly always not, which what comes next tells without a look at all warps. */
bool scheduler_is_same_state(struct scheduler *a, const struct scheduler *b)
{
    const struct policy *policy = &POLICIES[a->pattern->policy];

    if (next_wake(a) != next_wake(b) ||
        (a->queue_count && b->queue_count && queued_at(a, 0) != queued_at(b, 0)) ||
        (b->last >= 0 && a->left[b->last] != b->left[b->last]))
        return false;
    if (a->ready_count != b->ready_count || (policy->has_last && a->last != b->last) ||
        memcmp(a->ready, b->ready, sizeof(a->ready)) != 0 ||
        memcmp(a->left, b->left, (size_t)a->count * sizeof(*a->left)) != 0)
        return false;
    return have_same_times(a, b, policy->has_since) && a->active_count == b->active_count &&
           a->pending_count == b->pending_count &&
           memcmp(a->active, b->active, (size_t)a->active_count * sizeof(*a->active)) == 0 &&
           memcmp(a->pending, b->pending, (size_t)a->pending_count * sizeof(*a->pending)) == 0;
}
