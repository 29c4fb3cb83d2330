/*
 * What a core settles into. Without jitter its state is finite, so it must come back to one that it
 * was in. States are compared when a certain warp ends a round, with one that is kept; the kept one
 * is renewed after 1, 2, 4, 8... rounds (Brent's algorithm), and with it the warp, because a policy
 * may starve the one that was chosen.
 */
#include "model/core.h"

enum { EVENTS_BETWEEN_POLLS = 1024, MEASURED_CYCLES = 1 << 17, WARMUP_CYCLES = 1 << 13 };

/* The core at some cycle. */
struct snapshot {
    int64_t cycle;
    uint64_t state;
    struct core_totals totals;
    int64_t warp_issued[CORE_MAX_WARPS], warp_rounds[CORE_MAX_WARPS];
};

static void take_snapshot(const struct core *core, struct snapshot *out)
{
    out->cycle = core_next_cycle(core);
    core_totals(core, out->cycle, &out->totals);
    core_warp_issued(core, out->warp_issued);
    for (int w = 0; w < CORE_MAX_WARPS; w++)
        out->warp_rounds[w] = core_rounds(core, w);
}

static void take_difference(const struct snapshot *from, const struct snapshot *to,
                            struct core_steady *out)
{
    const struct core_totals *a = &from->totals, *b = &to->totals;
    struct core_totals *sums = &out->sums;

    out->warmup = from->cycle;
    out->cycles = sums->cycles = to->cycle - from->cycle;
    sums->issued = b->issued - a->issued;
    sums->instructions = b->instructions - a->instructions;
    sums->lanes = b->lanes - a->lanes;
    sums->switching = b->switching - a->switching;
    sums->blocks_ended = b->blocks_ended - a->blocks_ended;
    sums->rounds = b->rounds - a->rounds;
    for (int i = 0; i < STALL_COUNT; i++)
        sums->stalls[i] = b->stalls[i] - a->stalls[i];
    for (int i = 0; i < LAT_COUNT; i++)
        sums->unit_busy[i] = b->unit_busy[i] - a->unit_busy[i];
    for (int i = 0; i < CORE_PLACE_COUNT; i++)
        sums->sectors[i] = b->sectors[i] - a->sectors[i];
    for (int w = 0; w < CORE_MAX_WARPS; w++) {
        out->warp_issued[w] = to->warp_issued[w] - from->warp_issued[w];
        out->warp_rounds[w] = to->warp_rounds[w] - from->warp_rounds[w];
    }
}

static int poll_stop(const atomic_bool *stop, int64_t events, struct err *err)
{
    if (stop && events % EVENTS_BETWEEN_POLLS == 0 && atomic_load(stop))
        return err_set(err, ERR_Interrupted, "interrupted");
    return 0;
}

/* The search for a state that recurs. */
struct search {
    struct snapshot kept, now;
    int warp;             /* whose rounds are looked at; -1: none is chosen */
    int64_t rounds;       /* of that warp at the last look */
    int64_t looks, power; /* since the kept state was taken */
    int64_t all_rounds;   /* of all warps when it was taken */
};

static void keep_state(struct search *s, const struct core *core)
{
    s->warp = core_last_round(core);
    s->rounds = core_rounds(core, s->warp);
    s->looks = 0;
    take_snapshot(core, &s->kept);
    s->kept.state = core_state(core);
    s->all_rounds = s->kept.totals.rounds;
}

/* After an event in which some warp ended a round. True: the kept state is back. */
static bool look(struct search *s, const struct core *core, int64_t all_rounds)
{
    if (s->warp < 0) {
        keep_state(s, core);
        return false;
    }
    if (core_rounds(core, s->warp) == s->rounds) {
        /* It has starved for long: another one is looked at. */
        if (all_rounds - s->all_rounds > 2 * CORE_MAX_WARPS * (s->looks + 1))
            keep_state(s, core);
        return false;
    }
    s->rounds = core_rounds(core, s->warp);
    if (core_state(core) == s->kept.state)
        return true;
    if (++s->looks >= s->power) {
        s->power *= 2;
        keep_state(s, core);
    }
    return false;
}

/* Steps until the state recurs, for `most` events. */
static int find_period(struct core *core, int64_t from, struct search *s, bool *found, int64_t most,
                       const atomic_bool *stop, struct err *err)
{
    int64_t rounds = core_rounds(core, -1), events = 0;

    for (*found = false; !*found && events < most; events++) {
        int64_t now;

        if (poll_stop(stop, events, err) < 0)
            return -1;
        if (!core_step(core))
            return 0;
        if (core_next_cycle(core) < from)
            continue;
        now = core_rounds(core, -1);
        if (now != rounds)
            *found = look(s, core, now);
        rounds = now;
    }
    return 0;
}

static int run_to(struct core *core, int64_t cycle, const atomic_bool *stop, struct err *err)
{
    for (int64_t n = 0; core_next_cycle(core) < cycle; n++) {
        if (poll_stop(stop, n, err) < 0)
            return -1;
        if (!core_step(core))
            return 0;
    }
    return 0;
}

int core_settle(const struct core_config *config, const struct core_record *record,
                struct arena *arena, struct core_steady *out, const atomic_bool *stop,
                struct err *err)
{
    struct core *core = core_new(config, record, arena);
    struct search *s = arena_alloc(arena, sizeof *s);
    /* A window is searched at each event of its warp: 64 instructions cost what 8 do in order. */
    int64_t most = config->window ? CORE_MAX_EVENTS / 8 : CORE_MAX_EVENTS;
    int64_t shown = record ? record->cycles : 0;
    bool found = false;

    *out = (struct core_steady){ 0 };
    if (!core || !s)
        return err_set(err, ERR_ResourceError, "out of memory for the warps of a core");
    s->warp = -1;
    s->power = 1;
    if (run_to(core, shown, stop, err) < 0)
        return -1;
    if (record)
        core_finish_record(core);
    if (!config->jitter && config->burst <= 1 &&
        find_period(core, shown, s, &found, most, stop, err) < 0)
        return -1;
    if (!found) {
        if (run_to(core, core_next_cycle(core) + WARMUP_CYCLES, stop, err) < 0)
            return -1;
        take_snapshot(core, &s->kept);
        if (run_to(core, s->kept.cycle + MEASURED_CYCLES, stop, err) < 0)
            return -1;
    }
    take_snapshot(core, &s->now);
    take_difference(&s->kept, &s->now, out);
    out->is_exact = found;
    return 0;
}
