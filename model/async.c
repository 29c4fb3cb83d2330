/*
 * The role whose next op can begin first goes next, so that engines are asked
 * in the order of time. When an op's end is known its token gets that time at
 * once, and whoever waits for it knows when to go on: no queue of events is needed.
 */
#include "model/async.h"

#include "model/base/philox.h"
#include "model/server.h"

#include <stdio.h>

#define NEVER INT64_MAX

enum { STOP_EVERY = 1 << 14 };

/* Where a role stands. */
struct place {
    int phase, k, op;
    int64_t ready; /* cycle from which its next op may begin */
    int64_t last;  /* cycle of its last op that held it: who waited longest goes first */
};

/* The arrivals of one token, by step. */
struct raised {
    int64_t *at; /* NEVER while some are missing */
    int32_t *missing;
    int64_t *latest;
};

/* What happened to the tile of each step. */
struct tiles {
    int64_t *written, *read_from, *read_until; /* NEVER: not yet */
};

struct state {
    const struct async_program *p;
    struct place places[ASYNC_MAX_ROLES];
    struct server engines[ASYNC_MAX_ENGINES];
    struct raised tokens[ASYNC_MAX_TOKENS];
    struct tiles tiles;
    int64_t *main_starts, *main_before; /* of each of its works: the cycle, and its work before */
    int64_t main_capacity;
    struct async_event *events;
    size_t event_capacity;
    struct async_run out;
};

/* ---- where a role stands ---- */

static const struct async_op *current(const struct state *s, int role)
{
    const struct place *at = &s->places[role];
    const struct async_role *r = &s->p->roles[role];

    return at->phase < r->phase_count ? &r->phases[at->phase].ops[at->op] : NULL;
}

static bool is_skipped(const struct async_op *op, int k)
{
    return (op->guard && !op->guard[k]) || k + op->shift < 0;
}

/* Moves to an op that is not skipped (a guard says so, or it is about a step before the first);
 * phases without a step or an op are passed over. */
static void settle(const struct async_program *p, int role, struct place *at)
{
    const struct async_role *r = &p->roles[role];

    for (; at->phase < r->phase_count; at->phase++, at->k = INT32_MIN, at->op = 0) {
        const struct async_phase *phase = &r->phases[at->phase];

        if (at->k == INT32_MIN)
            at->k = phase->from;
        for (; at->k < phase->to; at->k++, at->op = 0)
            for (; at->op < phase->op_count; at->op++)
                if (!is_skipped(&phase->ops[at->op], at->k))
                    return;
    }
}

static int64_t free_at(const struct state *s, int engine)
{
    return engine == ASYNC_NONE ? 0 : ceil_div(s->engines[engine].free_at, SERVER_FINE);
}

/* When the next op of a role can begin; NEVER: not as things stand. */
static int64_t begin_of(const struct state *s, int role)
{
    const struct async_op *op = current(s, role);
    const struct place *at = &s->places[role];
    int64_t begin = at->ready, raised;

    if (!op)
        return NEVER;
    if (op->kind == ASYNC_WAIT) {
        raised = s->tokens[op->token].at[at->k + op->shift];
        if (raised == NEVER)
            return NEVER;
        return raised > begin ? raised + s->p->wake : begin;
    }
    if (op->hold)
        begin = max_i64(begin, free_at(s, s->p->roles[role].port));
    return op->kind == ASYNC_WORK ? max_i64(begin, free_at(s, op->engine)) : begin;
}

/* ---- what happens ---- */

static void note(struct state *s, struct async_event event)
{
    if (s->out.event_count < s->event_capacity)
        s->events[s->out.event_count++] = event;
    else
        s->out.has_all_events = false;
}

static void spend(struct state *s, int role, enum async_state state, const struct async_op *op,
                  int64_t from, int64_t to)
{
    s->out.role_cycles[role][state] += to - from;
    if (to > from)
        note(s, (struct async_event){ .from = from,
                                      .to = to,
                                      .role = role,
                                      .engine = ASYNC_NONE,
                                      .state = state,
                                      .op = op,
                                      .step = s->places[role].k + op->shift });
}

static void arrive(struct state *s, int token, int step, int64_t cycle)
{
    struct raised *t = &s->tokens[token];

    t->latest[step] = max_i64(t->latest[step], cycle);
    if (--t->missing[step] == 0)
        t->at[step] = t->latest[step];
}

static void touch_slot(struct state *s, const struct async_op *op, int step, int64_t from,
                       int64_t to)
{
    struct tiles *t = &s->tiles;

    if (op->access == ASYNC_WRITES)
        t->written[step] = from;
    if (op->access != ASYNC_READS)
        return;
    t->read_from[step] = min_i64(t->read_from[step], from);
    t->read_until[step] = t->read_until[step] == NEVER ? to : max_i64(t->read_until[step], to);
}

static void use_main(struct state *s, int64_t from, int64_t cycles)
{
    s->main_starts[s->out.main_works] = from;
    s->main_before[s->out.main_works++] = s->out.engine_busy[s->p->main_engine];
    s->out.engine_busy[s->p->main_engine] += cycles;
}

/* An engine takes the work; returns when it is done. It arrives `delay` cycles later. */
static int64_t use_engine(struct state *s, int engine, int role, const struct async_op *op,
                          int64_t begin, int64_t cycles, int64_t delay)
{
    int64_t end = server_take(&s->engines[engine], begin, cycles, 1);

    if (engine == s->p->main_engine)
        use_main(s, end - cycles, cycles);
    else
        s->out.engine_busy[engine] += cycles;
    note(s, (struct async_event){ .from = end - cycles,
                                  .to = end,
                                  .arrived = end + delay,
                                  .role = role,
                                  .engine = engine,
                                  .op = op,
                                  .step = s->places[role].k + op->shift });
    s->out.cycles = max_i64(s->out.cycles, end);
    return end;
}

static int64_t jitter_of(const struct state *s, int role, const struct async_op *op, int step)
{
    uint64_t stream = (uint64_t)role << 8 | (uint64_t)op->token;

    if (!op->jitter)
        return 0;
    return philox_below(philox_at(s->p->seed, (uint64_t)step, stream).word[0],
                        (uint32_t)op->jitter);
}

static void perform(struct state *s, int role, int64_t begin)
{
    const struct async_op *op = current(s, role);
    struct place *at = &s->places[role];
    int port = s->p->roles[role].port, step = at->k + op->shift;
    int64_t end = begin + op->hold, delay = op->latency + jitter_of(s, role, op, step);

    spend(s, role, op->kind == ASYNC_WAIT ? ASYNC_WAITING : ASYNC_BLOCKED, op, at->ready, begin);
    if (op->kind != ASYNC_WAIT) {
        if (op->hold && port != ASYNC_NONE)
            use_engine(s, port, role, op, begin, op->hold, 0);
        if (op->engine != ASYNC_NONE && op->engine != port)
            end = use_engine(s, op->engine, role, op, begin, op->cycles, delay);
        touch_slot(s, op, step, end - op->cycles, end);
        if (op->token != ASYNC_NONE)
            arrive(s, op->token, step, end + delay);
        spend(s, role, ASYNC_HELD, op, begin, begin + op->hold);
        at->last = begin;
    }
    at->ready = begin + op->hold;
    s->out.role_end[role] = at->ready;
    s->out.cycles = max_i64(s->out.cycles, at->ready);
    at->op++;
    settle(s->p, role, at);
}

/* ---- who goes next ---- */

/* The earliest; of several the one that has not worked for longest. ASYNC_NONE: nobody can. */
static int next_role(const struct state *s, int64_t *begin)
{
    int best = ASYNC_NONE;

    *begin = NEVER;
    for (int r = 0; r < s->p->role_count; r++) {
        int64_t b = begin_of(s, r);

        if (b < *begin || (b < NEVER && b == *begin && s->places[r].last < s->places[best].last)) {
            best = r;
            *begin = b;
        }
    }
    return best;
}

/* "loader waits for empty[0], consumer for full[4]" */
static int fail_deadlock(const struct state *s, struct err *err)
{
    char text[300] = "";
    size_t n = 0;

    for (int r = 0; r < s->p->role_count && n < sizeof(text) - 80; r++) {
        const struct async_op *op = current(s, r);

        if (op)
            n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%.24s waits for %.24s[%d]",
                                  n ? ", " : "", s->p->roles[r].name, s->p->tokens[op->token].name,
                                  s->places[r].k + op->shift);
    }
    return err_set(err, ERR_Deadlock, "%s: %s, which nobody will raise", s->p->name, text);
}

static int run_roles(struct state *s, const atomic_bool *stop, struct err *err)
{
    int64_t begin;
    int left = 0;

    for (long done = 0;; done++) {
        int role = next_role(s, &begin);

        if (done % STOP_EVERY == 0 && stop && atomic_load(stop))
            return err_set(err, ERR_Interrupted, "interrupted in cycle %lld",
                           (long long)s->out.cycles);
        if (role == ASYNC_NONE)
            break;
        perform(s, role, begin);
    }
    for (int r = 0; r < s->p->role_count; r++)
        left += current(s, r) != NULL;
    return left ? fail_deadlock(s, err) : 0;
}

/* ---- what it came to ---- */

/* Whole periods of the main engine's works, as many as there are in the second half. */
static void measure_steady(struct state *s)
{
    int64_t period = s->p->period_works, last = s->out.main_works - 1;
    int64_t periods = period > 0 ? (last - last / 2) / period : 0, first, cycles, work;

    s->out.utilization =
        s->out.cycles ? (double)s->out.engine_busy[s->p->main_engine] / (double)s->out.cycles : 0;
    s->out.busy = s->out.utilization;
    if (periods < 1)
        return;
    first = last - periods * period;
    cycles = s->main_starts[last] - s->main_starts[first];
    work = s->main_before[last] - s->main_before[first];
    s->out.busy = cycles ? (double)work / (double)cycles : 0;
    s->out.idle_per_work = (double)(cycles - work) / (double)(last - first);
}

/* Events were noted when they were planned; those of one cycle stay in that order. */
static void sort_events(struct async_event *events, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct async_event e = events[i];
        size_t to = i;

        for (; to && events[to - 1].from > e.from; to--)
            events[to] = events[to - 1];
        events[to] = e;
    }
}

static void find_overwrites(struct state *s)
{
    const struct tiles *t = &s->tiles;

    for (int reader = 0; reader + s->p->pipe < s->p->steps; reader++) {
        int writer = reader + s->p->pipe;

        if (t->written[writer] == NEVER || t->read_until[reader] == NEVER ||
            t->written[writer] >= t->read_until[reader])
            continue;
        if (s->out.overwrites < ASYNC_MAX_OVERWRITES)
            s->out.overwrite[s->out.overwrites] = (struct async_overwrite){
                reader % s->p->pipe,  writer, reader, t->written[writer], t->read_from[reader],
                t->read_until[reader]
            };
        s->out.overwrites++;
    }
}

/* ---- the whole ---- */

static int check(const struct async_program *p, struct err *err)
{
    const struct {
        const char *name;
        int64_t value, min, max;
    } limits[] = {
        { "steps", p->steps, 1, ASYNC_MAX_STEPS },
        { "pipe", p->pipe, 1, ASYNC_MAX_PIPE },
        { "wake", p->wake, 0, ASYNC_MAX_CYCLES },
        { "roles", p->role_count, 1, ASYNC_MAX_ROLES },
        { "engines", p->engine_count, 1, ASYNC_MAX_ENGINES },
        { "tokens", p->token_count, 0, ASYNC_MAX_TOKENS },
    };

    for (size_t i = 0; i < COUNT(limits); i++)
        if (limits[i].value < limits[i].min || limits[i].value > limits[i].max)
            return err_set(err, ERR_ValueError, "%s=%lld: %s is %lld to %lld", limits[i].name,
                           (long long)limits[i].value, limits[i].name, (long long)limits[i].min,
                           (long long)limits[i].max);
    return 0;
}

static int check_op(const struct async_op *op, struct err *err)
{
    const struct {
        const char *name;
        int64_t value;
    } limits[] = {
        { "cycles", op->cycles },
        { "latency", op->latency },
        { "jitter", op->jitter },
        { "hold", op->hold },
    };

    for (size_t i = 0; i < COUNT(limits); i++)
        if (limits[i].value < 0 || limits[i].value > ASYNC_MAX_CYCLES)
            return err_set(err, ERR_ValueError, "%s of %s is %lld: 0 to %d cycles are possible",
                           limits[i].name, op->name ? op->name : "a wait",
                           (long long)limits[i].value, ASYNC_MAX_CYCLES);
    return 0;
}

/* Also counts the works of the main engine. */
static int check_ops(struct state *s, struct err *err)
{
    for (int r = 0; r < s->p->role_count; r++) {
        const struct async_role *role = &s->p->roles[r];

        for (int f = 0; f < role->phase_count; f++)
            for (int i = 0; i < role->phases[f].op_count; i++) {
                const struct async_op *op = &role->phases[f].ops[i];
                bool is_main = op->engine == s->p->main_engine ||
                               (op->hold && role->port == s->p->main_engine);

                if (check_op(op, err) < 0)
                    return -1;
                if (is_main && op->kind != ASYNC_WAIT)
                    s->main_capacity += max_i64(role->phases[f].to - role->phases[f].from, 0);
            }
    }
    return 0;
}

static int64_t *new_times(struct arena *arena, int count, int64_t value)
{
    int64_t *times = arena_array(arena, (size_t)count, sizeof(*times));

    for (int i = 0; times && i < count; i++)
        times[i] = value;
    return times;
}

static int allocate(struct state *s, size_t most_events, struct arena *arena, struct err *err)
{
    int steps = s->p->steps;
    bool is_short = false;

    for (int t = 0; t < s->p->token_count; t++) {
        struct raised *token = &s->tokens[t];

        token->at = new_times(arena, steps, NEVER);
        token->latest = new_times(arena, steps, 0);
        token->missing = arena_array(arena, (size_t)steps, sizeof(*token->missing));
        for (int i = 0; token->missing && i < steps; i++)
            token->missing[i] = s->p->tokens[t].arrivals;
        is_short |= !token->at || !token->latest || !token->missing;
    }
    s->tiles = (struct tiles){ new_times(arena, steps, NEVER), new_times(arena, steps, NEVER),
                               new_times(arena, steps, NEVER) };
    s->main_starts = arena_array(arena, (size_t)s->main_capacity, sizeof(*s->main_starts));
    s->main_before = arena_array(arena, (size_t)s->main_capacity, sizeof(*s->main_before));
    s->events = arena_array(arena, most_events, sizeof(*s->events));
    s->event_capacity = most_events;
    is_short |= !s->tiles.written || !s->tiles.read_from || !s->tiles.read_until ||
                !s->main_starts || !s->main_before || !s->events;
    return is_short ? err_set(err, ERR_ResourceError, "out of memory") : 0;
}

int async_run(const struct async_program *program, size_t most_events, struct arena *arena,
              const atomic_bool *stop, struct async_run *out, struct err *err)
{
    struct state *s;

    if (check(program, err) < 0)
        return -1;
    s = arena_alloc(arena, sizeof(*s));
    if (!s)
        return err_set(err, ERR_ResourceError, "out of memory");
    s->p = program;
    s->out.has_all_events = true;
    if (check_ops(s, err) < 0 || allocate(s, most_events, arena, err) < 0)
        return -1;
    for (int r = 0; r < program->role_count; r++) {
        s->places[r] = (struct place){ .k = INT32_MIN, .last = -1 };
        settle(program, r, &s->places[r]);
    }
    if (run_roles(s, stop, err) < 0)
        return -1;
    measure_steady(s);
    find_overwrites(s);
    sort_events(s->events, s->out.event_count);
    s->out.events = s->events;
    *out = s->out;
    return 0;
}
