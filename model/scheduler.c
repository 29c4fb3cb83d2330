/*
 * One scheduler is a small machine: a set of eligible warps, a queue of waiting
 * ones in the order in which they wake, and a rule that picks. A step is one
 * issue and the idle cycles after it, so that long waits cost nothing.
 *
 * Without jitter the machine is deterministic and its state finite, so it must
 * come back to a state that it was in, and from there on repeat itself for ever.
 * Finding that recurrence (Brent's algorithm) gives the steady state exactly,
 * with nothing to average and no run that was too short.
 */
#include "model/scheduler.h"
#include "model/base/philox.h"

enum {
    BITS = 64,
    WORDS = PATTERN_MAX_WARPS / BITS,
    STEPS_BETWEEN_POLLS = 128, /* of at most some microseconds each */
    MEASURED_CYCLES = 1 << 17, /* where there is no period */
    WARMUP_ROUNDS = 8,
};

/* Steps after which a period is given up: some tenths of a second. */
static const int64_t MAX_STEPS = INT64_C(1) << 22;

/* Warps are counted locally here: warp w of the pattern is w / S of scheduler w mod S. */
struct scheduler {
    const struct pattern *pattern;
    int number, count;
    int64_t now; /* the next cycle; some warp is eligible in it */
    int last;    /* issued last, -1: none yet */
    int64_t issued_at;
    uint64_t ready[WORDS];
    int ready_count;
    int waiting_head, waiting_count, waiting_mask, queue_head, queue_count;
    int active[POLICY_ACTIVE_SET], active_count, pending_count; /* two-level */

    int *left;                        /* instructions before its next wait */
    int64_t *since;                   /* eligible since this cycle, or from this cycle on */
    uint64_t *round;                  /* waits so far */
    int *waiting;                     /* ring of waiting warps, the first to wake first */
    int *pending;                     /* two-level: queue of warps outside the active set */
    int *queue;                       /* longest-ready: ring of eligible warps, the first first */
    int64_t *issued;                  /* instructions so far */
    int64_t all_issued, all_eligible; /* sums over cycles */
    int unlike;                       /* a warp in which the last state compared was another */
};

/* ---- Eligible warps ---- */

static bool is_ready(const struct scheduler *s, int warp)
{
    return s->ready[warp / BITS] >> (warp % BITS) & 1;
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
    s->ready[warp / BITS] |= UINT64_C(1) << (warp % BITS);
    s->ready_count++;
    if (s->pattern->policy == POLICY_LONGEST_READY)
        join_queue(s, warp);
}

static void clear_ready(struct scheduler *s, int warp)
{
    s->ready[warp / BITS] &= ~(UINT64_C(1) << (warp % BITS));
    s->ready_count--;
}

/* The lowest eligible warp from `from` on, or -1. */
static int lowest_ready(const struct scheduler *s, int from)
{
    uint64_t word;

    if (from >= s->count)
        return -1;
    word = s->ready[from / BITS] >> (from % BITS) << (from % BITS);
    for (int i = from / BITS;; word = s->ready[i]) {
        if (word)
            return i * BITS + __builtin_ctzll(word);
        if (++i > (s->count - 1) / BITS)
            return -1;
    }
}

static int highest_ready(const struct scheduler *s)
{
    for (int i = (s->count - 1) / BITS; i >= 0; i--)
        if (s->ready[i])
            return i * BITS + BITS - 1 - __builtin_clzll(s->ready[i]);
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

/* Issues one instruction in cycle s->now, then goes to the next cycle in which one can be issued.
 */
static int step(struct scheduler *s)
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

static struct scheduler *scheduler_new(const struct pattern *p, int number, struct arena *arena)
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

/* Makes `to`, a scheduler of the same warps, the same as `from`. */
static void scheduler_copy(struct scheduler *to, const struct scheduler *from)
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

/* Do both do the same from here on, apart from the number of the cycle? Nearly always not, which
 * what comes next tells without a look at all warps. */
static bool is_same_state(struct scheduler *a, const struct scheduler *b)
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

static int poll_stop(const atomic_bool *stop, int64_t steps, struct err *err)
{
    if (stop && steps % STEPS_BETWEEN_POLLS == 0 && atomic_load(stop))
        return err_set(err, ERR_Interrupted, "interrupted");
    return 0;
}

/* ---- The steady state of one scheduler ---- */

/* What one scheduler does in a stretch of its steady state. */
struct stretch {
    bool is_exact;
    int64_t warmup, cycles, issued, eligible;
    const int64_t *warp_issued;
};

/* Brent: a saved state is compared with all that follow; it moves on at powers of two. */
static int find_period(struct scheduler *saved, struct scheduler *runner, int64_t *steps,
                       const atomic_bool *stop, struct err *err)
{
    int64_t power = 1;

    *steps = 0;
    for (int64_t n = 1; n < MAX_STEPS; n++) {
        if (poll_stop(stop, n, err) < 0)
            return -1;
        step(runner);
        ++*steps;
        if (is_same_state(saved, runner))
            return 0;
        if (*steps == power) {
            scheduler_copy(saved, runner);
            power *= 2;
            *steps = 0;
        }
    }
    *steps = 0; /* none within reach */
    return 0;
}

static void take_stretch(const struct scheduler *from, const struct scheduler *to,
                         struct stretch *out)
{
    out->warmup = from->now;
    out->cycles = to->now - from->now;
    out->issued = to->all_issued - from->all_issued;
    out->eligible = to->all_eligible - from->all_eligible;
    for (int w = 0; w < to->count; w++)
        to->issued[w] -= from->issued[w];
    out->warp_issued = to->issued;
}

/* Two runners one period apart meet in the first state that recurs. */
static int run_period(const struct scheduler *start, struct scheduler *behind,
                      struct scheduler *ahead, int64_t period_steps, struct stretch *out,
                      const atomic_bool *stop, struct err *err)
{
    scheduler_copy(behind, start);
    scheduler_copy(ahead, start);
    for (int64_t n = 0; n < period_steps; n++) {
        if (poll_stop(stop, n, err) < 0)
            return -1;
        step(ahead);
    }
    for (int64_t n = 0; !is_same_state(behind, ahead); n++) {
        if (poll_stop(stop, n, err) < 0)
            return -1;
        step(behind);
        step(ahead);
    }
    out->is_exact = true;
    take_stretch(behind, ahead, out);
    return 0;
}

/* Without a period: count for long, after the start has been forgotten. */
static int run_stretch(const struct scheduler *start, struct scheduler *from, struct scheduler *to,
                       struct stretch *out, const atomic_bool *stop, struct err *err)
{
    const struct pattern *p = start->pattern;
    int64_t warmup = WARMUP_ROUNDS * ((int64_t)p->issue + p->wait + p->jitter);
    int64_t n = 0;

    scheduler_copy(to, start);
    while (to->now < warmup) {
        if (poll_stop(stop, n++, err) < 0)
            return -1;
        step(to);
    }
    scheduler_copy(from, to);
    while (to->now < from->now + max_i64(MEASURED_CYCLES, warmup)) {
        if (poll_stop(stop, n++, err) < 0)
            return -1;
        step(to);
    }
    out->is_exact = false;
    take_stretch(from, to, out);
    return 0;
}

static int settle(const struct pattern *p, int number, struct arena *arena, struct stretch *out,
                  const atomic_bool *stop, struct err *err)
{
    struct scheduler *start = scheduler_new(p, number, arena);
    struct scheduler *behind = scheduler_new(p, number, arena);
    struct scheduler *ahead = scheduler_new(p, number, arena);
    int64_t period_steps = 0;

    if (!start || !behind || !ahead)
        return err_set(err, ERR_ResourceError, "out of memory for %d warps", p->warps);
    if (!start->count) {
        *out = (struct stretch){ .is_exact = true, .cycles = 1 };
        return 0;
    }
    if (!p->jitter && find_period(behind, ahead, &period_steps, stop, err) < 0)
        return -1;
    if (period_steps)
        return run_period(start, behind, ahead, period_steps, out, stop, err);
    return run_stretch(start, behind, ahead, out, stop, err);
}

/* ---- All schedulers ---- */

static int check_pattern(const struct pattern *p, struct err *err)
{
    const struct {
        const char *name, *meaning;
        int value, least, most;
    } rows[] = {
        { "warps", "warps", p->warps, 1, PATTERN_MAX_WARPS },
        { "issue", "instructions before a wait", p->issue, 1, PATTERN_MAX_ISSUE },
        { "wait", "cycles", p->wait, 0, PATTERN_MAX_WAIT },
        { "schedulers", "schedulers", p->schedulers, 1, PATTERN_MAX_SCHEDULERS },
        { "jitter", "cycles", p->jitter, 0, PATTERN_MAX_WAIT },
        { "switch_cost", "cycles", p->switch_cost, 0, PATTERN_MAX_SWITCH },
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        if (rows[i].value < rows[i].least || rows[i].value > rows[i].most)
            return err_set(err, ERR_ValueError, "%s=%d: %d to %d %s", rows[i].name, rows[i].value,
                           rows[i].least, rows[i].most, rows[i].meaning);
    if ((unsigned)p->policy >= POLICY_COUNT)
        return err_set(err, ERR_ValueError, "policy %d: there are %d", (int)p->policy,
                       POLICY_COUNT);
    return 0;
}

/* The least common multiple, or 0 when it is above 2^62 (or one of them is 0). */
static int64_t common_multiple(int64_t a, int64_t b)
{
    int64_t x = a, y = b, rest, product;

    while (y) {
        rest = x % y;
        x = y;
        y = rest;
    }
    if (!x || __builtin_mul_overflow(a / x, b, &product) || product > INT64_C(1) << 62)
        return 0;
    return product;
}

/* Means over the schedulers, each over its own period; counts over the common one. */
static void combine(const struct pattern *p, const struct stretch *parts, struct steady *out,
                    int64_t *warp_issued)
{
    int64_t period = 1;
    double selected = 0, eligible = 0;

    out->is_exact = true;
    for (int i = 0; i < p->schedulers; i++) {
        period = common_multiple(period, parts[i].cycles);
        out->is_exact &= parts[i].is_exact;
        out->warmup = max_i64(out->warmup, parts[i].warmup);
        selected += (double)parts[i].issued / (double)parts[i].cycles;
        eligible += (double)parts[i].eligible / (double)parts[i].cycles;
    }
    out->cycles = period ? period : parts[0].cycles;
    out->period = out->is_exact ? period : 0;
    for (int w = 0; w < p->warps; w++) {
        const struct stretch *part = &parts[w % p->schedulers];

        warp_issued[w] =
            part->warp_issued[w / p->schedulers] * (period ? period / part->cycles : 1);
        out->issued += period ? warp_issued[w] : 0;
    }
    out->warp_issued = warp_issued;
    out->selected = out->issue_utilization = selected / p->schedulers;
    out->eligible = eligible / p->schedulers;
    out->not_selected = (eligible - selected) / p->schedulers;
    out->stalled = (p->warps - eligible) / p->schedulers;
}

int scheduler_steady(const struct pattern *p, struct arena *arena, struct steady *out,
                     const atomic_bool *stop, struct err *err)
{
    struct stretch *parts;
    int64_t *warp_issued;

    *out = (struct steady){ 0 };
    if (check_pattern(p, err) < 0)
        return -1;
    parts = arena_array(arena, (size_t)p->schedulers, sizeof(*parts));
    warp_issued = arena_array(arena, (size_t)p->warps, sizeof(*warp_issued));
    if (!parts || !warp_issued)
        return err_set(err, ERR_ResourceError, "out of memory for %d warps", p->warps);
    for (int i = 0; i < p->schedulers; i++) {
        /* Without jitter schedulers with as many warps do the same. */
        bool is_twin = !p->jitter && i > 0 && (p->warps - i) % p->schedulers != 0;

        if (is_twin)
            parts[i] = parts[i - 1];
        else if (settle(p, i, arena, &parts[i], stop, err) < 0)
            return -1;
    }
    combine(p, parts, out, warp_issued);
    return 0;
}

/* ---- The first cycles ---- */

/* Every warp starts as eligible; issues and waits are painted over that. */
static void paint(struct scheduler *s, int cycles, uint8_t *states, int32_t *issuer,
                  int64_t *warp_issued, int64_t *issued)
{
    while (s->count && s->now < cycles) {
        int warp = step(s), id = warp * s->pattern->schedulers + s->number;
        int64_t at = s->issued_at, until;

        if (at >= cycles)
            return;
        states[(size_t)id * (size_t)cycles + (size_t)at] = WARP_SELECTED;
        issuer[at] = id;
        warp_issued[id]++;
        ++*issued;
        until = min_i64(s->since[warp], cycles);
        if (until > at + 1)
            memset(&states[(size_t)id * (size_t)cycles + (size_t)at + 1], WARP_STALLED,
                   (size_t)(until - at - 1));
    }
}

int scheduler_timeline(const struct pattern *p, int cycles, struct arena *arena,
                       struct timeline *out, struct err *err)
{
    size_t columns = (size_t)cycles;
    uint8_t *states;
    int32_t *issuer;
    int64_t *warp_issued;
    struct scheduler *s;

    *out = (struct timeline){ .cycles = cycles };
    if (check_pattern(p, err) < 0)
        return -1;
    if (cycles < 1 || cycles > PATTERN_MAX_CYCLES)
        return err_set(err, ERR_ValueError, "cycles=%d: 1 to %d", cycles, PATTERN_MAX_CYCLES);
    states = arena_array(arena, (size_t)p->warps, columns);
    issuer = arena_array(arena, (size_t)p->schedulers, columns * sizeof(*issuer));
    warp_issued = arena_array(arena, (size_t)p->warps, sizeof(*warp_issued));
    if (!states || !issuer || !warp_issued)
        return err_set(err, ERR_ResourceError, "out of memory for %d warps in %d cycles", p->warps,
                       cycles);
    memset(states, WARP_NOT_SELECTED, (size_t)p->warps * columns);
    memset(issuer, 0xff, (size_t)p->schedulers * columns * sizeof(*issuer)); /* -1: idle */
    for (int i = 0; i < p->schedulers; i++) {
        s = scheduler_new(p, i, arena);
        if (!s)
            return err_set(err, ERR_ResourceError, "out of memory for %d warps", p->warps);
        paint(s, cycles, states, &issuer[(size_t)i * columns], warp_issued, &out->issued);
    }
    out->states = states;
    out->issuer = issuer;
    out->warp_issued = warp_issued;
    return 0;
}

/* ---- How many warps fill it ---- */

static int is_full(const struct pattern *pattern, int per_scheduler, bool *full,
                   const atomic_bool *stop, struct err *err)
{
    struct pattern tried = *pattern;
    struct steady steady;
    struct arena *arena = arena_new(0);
    int rc;

    if (!arena)
        return err_set(err, ERR_ResourceError, "out of memory");
    tried.warps = per_scheduler * pattern->schedulers;
    rc = scheduler_steady(&tried, arena, &steady, stop, err);
    *full = rc == 0 && steady.issue_utilization >= 1;
    arena_free(&arena);
    return rc;
}

int scheduler_warps_to_fill(const struct pattern *pattern, int most, int *warps,
                            const atomic_bool *stop, struct err *err)
{
    int64_t low, high, middle;
    bool full = false;

    *warps = 0;
    if (check_pattern(pattern, err) < 0)
        return -1;
    /* Each warp brings `issue` busy cycles a round: `low` of them cannot fill it. */
    low = ceil_div((int64_t)pattern->issue + pattern->wait, pattern->issue) - 1;
    high = low + 1;
    most = (int)min_i64(most, PATTERN_MAX_WARPS) / pattern->schedulers;
    if (high > most)
        return 0;
    while (!full) {
        if (is_full(pattern, (int)high, &full, stop, err) < 0)
            return -1;
        if (!full && high == most)
            return 0;
        if (!full) {
            low = high;
            high = min_i64(2 * high, most);
        }
    }
    while (high - low > 1) {
        middle = (low + high) / 2;
        if (is_full(pattern, (int)middle, &full, stop, err) < 0)
            return -1;
        *(full ? &high : &low) = middle;
    }
    *warps = (int)high * pattern->schedulers;
    return 0;
}
