/*
 * Without jitter a scheduler is deterministic and its state finite, so it must
 * come back to a state that it was in, and from there on repeat itself for ever.
 * Finding that recurrence (Brent's algorithm) gives the steady state exactly,
 * with nothing to average and no run that was too short.
 */
#include "model/scheduler.h"

#include "model/scheduler_machine.h"

enum {
    STEPS_BETWEEN_POLLS = 128, /* of at most some microseconds each */
    MEASURED_CYCLES = 1 << 17, /* where there is no period */
    WARMUP_ROUNDS = 8,
};

/* Steps after which a period is given up: some tenths of a second. */
static const int64_t MAX_STEPS = INT64_C(1) << 22;

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
        scheduler_step(runner);
        ++*steps;
        if (scheduler_is_same_state(saved, runner))
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
        scheduler_step(ahead);
    }
    for (int64_t n = 0; !scheduler_is_same_state(behind, ahead); n++) {
        if (poll_stop(stop, n, err) < 0)
            return -1;
        scheduler_step(behind);
        scheduler_step(ahead);
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
        scheduler_step(to);
    }
    scheduler_copy(from, to);
    while (to->now < from->now + max_i64(MEASURED_CYCLES, warmup)) {
        if (poll_stop(stop, n++, err) < 0)
            return -1;
        scheduler_step(to);
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
        int warp = scheduler_step(s), id = warp * s->pattern->schedulers + s->number;
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
