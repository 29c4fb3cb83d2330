/*
 * The async layer: rings, loops without roles and warps give their closed forms,
 * one curve is the other, events say what happened, and wrong programs are named.
 */
#include "model/async_programs.h"
#include "model/base/philox.h"
#include "model/scheduler.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

enum { MOST_EVENTS = 4096 };

/* L = 8, C = 2: what text 000 calls wait 8, issue 2. */
static struct async_params usual(int pipe)
{
    return (struct async_params){ .pipe = pipe,
                                  .steps = 256,
                                  .groups = 2,
                                  .load = 8,
                                  .compute = 2,
                                  .softmax = 2,
                                  .plan = 25,
                                  .fp = 1,
                                  .integer = 2,
                                  .seed = 1 };
}

/* The arena keeps program and events; the caller frees it. */
static struct async_run run_in(struct arena *arena, enum async_program_id id,
                               struct async_params params, struct async_program **program)
{
    struct async_program *p;
    struct async_run out = { 0 };
    struct err err = { 0 };

    assert_non_null(arena);
    if (async_build(id, &params, arena, &p, &err) < 0 ||
        async_run(p, MOST_EVENTS, arena, NULL, &out, &err) < 0)
        fail_msg("%s: %s", async_program_name(id), err.text);
    if (program)
        *program = p;
    return out;
}

static struct async_run run(enum async_program_id id, struct async_params params)
{
    struct arena *arena = arena_new(0);
    struct async_run out = run_in(arena, id, params, NULL);

    out.events = NULL;
    arena_free(&arena);
    return out;
}

static double formula_of(enum async_program_id id, struct async_params params)
{
    double busy = -1;

    assert_true(async_formula(id, &params, &busy));
    return busy;
}

/* facts/model.md 4.6; LESSONS.md F155 */
static void a_ring_of_1_to_5_slots_is_20_to_100_percent_busy(void **state)
{
    (void)state;
    for (int pipe = 1; pipe <= 8; pipe++) {
        double want = pipe < 5 ? 0.2 * pipe : 1;

        assert_true(fabs(run(ASYNC_RING, usual(pipe)).busy - want) < 1e-12);
        assert_true(fabs(formula_of(ASYNC_RING, usual(pipe)) - want) < 1e-12);
    }
}

static double scheduler_busy(int warps, int64_t issue, int64_t wait)
{
    struct pattern pattern = { .warps = warps,
                               .issue = (int)issue,
                               .wait = (int)wait,
                               .schedulers = 1,
                               .policy = POLICY_GTO };
    struct arena *arena = arena_new(0);
    struct steady steady;
    struct err err = { 0 };

    if (scheduler_steady(&pattern, arena, &steady, NULL, &err) < 0)
        fail_msg("%s", err.text);
    arena_free(&arena);
    return steady.issue_utilization;
}

/*
 * N warps that issue I and wait W, on the pattern layer and as roles of this one, and N slots that
 * take L to fill and C to use, are the same curve: min(1, N I / (I + W)) and min(1, P C / (L + C)).
 */
static void the_schedulers_curve_is_the_rings_curve(void **state)
{
    int compared = 0;

    (void)state;
    for (int pipe = 1; pipe <= 12; pipe++)
        for (int64_t load = 0; load <= 60; load += 4)
            for (int64_t compute = 1; compute <= 9; compute += 2) {
                struct async_params a = usual(pipe);
                double ring, want;

                a.load = load;
                a.compute = compute;
                want = fmin(1, (double)(pipe * compute) / (double)(load + compute));
                ring = run(ASYNC_RING, a).busy;
                assert_true(fabs(ring - want) < 1e-12);
                assert_true(fabs(run(ASYNC_WARPS, a).busy - ring) < 1e-12);
                assert_true(fabs(scheduler_busy(pipe, compute, load) - ring) < 1e-12);
                assert_true(formula_of(ASYNC_RING, a) == formula_of(ASYNC_WARPS, a));
                compared++;
            }
    assert_int_equal(compared, 12 * 16 * 5);
}

static void loops_without_roles_follow_their_formulas(void **state)
{
    static const enum async_program_id ids[] = { ASYNC_RING, ASYNC_V1, ASYNC_V2 };

    (void)state;
    for (size_t i = 0; i < COUNT(ids); i++)
        for (int pipe = 2; pipe <= 8; pipe++)
            for (int64_t load = 0; load <= 40; load += 5)
                for (int64_t compute = 1; compute <= 9; compute += 4)
                    for (int64_t tma = 0; tma <= 8; tma += 4) {
                        struct async_params a = usual(pipe);

                        a.load = load;
                        a.compute = compute;
                        a.tma = tma;
                        assert_true(fabs(run(ids[i], a).busy - formula_of(ids[i], a)) < 1e-12);
                    }
}

/* LESSONS.md F160, F151: a wait that blocks costs v1 its wake in each step, v2 and the ring
 * nothing. */
static void a_blocking_wait_costs_v1_a_bubble_a_step(void **state)
{
    struct async_params a = usual(4);
    struct async_run v1, v2, ring;

    (void)state;
    a.compute = 1000;
    a.load = 700;
    a.wake = 207;
    v1 = run(ASYNC_V1, a);
    v2 = run(ASYNC_V2, a);
    ring = run(ASYNC_RING, a);
    assert_true(fabs(v1.busy - 1 / 1.207) < 1e-12);
    assert_true(fabs(v1.busy - 0.828) < 0.001);
    assert_true(fabs(v1.idle_per_work - 207) < 1e-9);
    assert_true(v2.busy == 1 && ring.busy == 1);
    assert_true(fabs(v2.busy / v1.busy - 1.207) < 1e-12);
    a.wake = 0;
    assert_true(run(ASYNC_V1, a).busy == 1);
}

static int count_ops(const struct async_run *run, const char *name, int64_t from, int64_t to)
{
    int n = 0;

    for (size_t i = 0; i < run->event_count; i++) {
        const struct async_event *e = &run->events[i];

        n += e->engine != ASYNC_NONE && strcmp(e->op->name, name) == 0 && e->from >= from &&
             e->from < to;
    }
    return n;
}

/* LESSONS.md F161: pipe loads before the first MMA, one MMA a step, and the last ones without
 * loads. */
static void a_loop_has_prologue_body_and_drain(void **state)
{
    static const struct {
        enum async_program_id id;
        int drain_phase, drained;
    } cases[] = { { ASYNC_RING, 0, 0 }, { ASYNC_V1, 2, 4 }, { ASYNC_V2, 3, 3 } };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct arena *arena = arena_new(0);
        struct async_params a = usual(4);
        struct async_program *p;
        struct async_run out = run_in(arena, cases[i].id, a, &p);
        const struct async_phase *drain = &p->roles[0].phases[cases[i].drain_phase];

        assert_true(out.has_all_events);
        assert_int_equal(count_ops(&out, "mma", 0, INT64_MAX), a.steps);
        assert_int_equal(count_ops(&out, "load", 0, INT64_MAX), a.steps);
        assert_int_equal(count_ops(&out, "load", 0, 1), 4);
        if (cases[i].drained)
            assert_int_equal(drain->to - drain->from, cases[i].drained);
        arena_free(&arena);
    }
}

static void v2_has_one_mma_under_way_when_it_waits(void **state)
{
    struct arena *arena = arena_new(0);
    struct async_program *p;
    struct async_params a = usual(4);
    struct async_run out;
    int seen = 0;

    (void)state;
    a.load = 1;
    a.compute = 10;
    out = run_in(arena, ASYNC_V2, a, &p);
    for (size_t i = 0; i < out.event_count; i++) {
        const struct async_event *e = &out.events[i];

        if (e->engine == ASYNC_NONE && e->state == ASYNC_WAITING &&
            !strcmp(p->tokens[e->op->token].name, "done") && e->step < a.steps - 1) {
            /* The MMA of the next step starts in the cycle in which the wait ends. */
            assert_int_equal(e->to, 1 + 10 * (e->step + 1));
            seen++;
        }
    }
    assert_in_range(seen, a.steps - 4 - 1, a.steps);
    arena_free(&arena);
}

/* The text waits only when k > PIPE: step PIPE goes into slot 0 at once. */
static void a_wait_that_comes_a_step_late_overwrites_a_tile(void **state)
{
    uint8_t late[256], right[256];
    struct async_params a = usual(4);
    struct async_run out;

    (void)state;
    for (int k = 0; k < 256; k++) {
        late[k] = k > 4;
        right[k] = k >= 4;
    }
    a.waits = late;
    out = run(ASYNC_RING, a);
    assert_int_equal(out.overwrites, 1);
    assert_int_equal(out.overwrite[0].slot, 0);
    assert_int_equal(out.overwrite[0].writer, 4);
    assert_int_equal(out.overwrite[0].reader, 0);
    assert_int_equal(out.overwrite[0].written, 0);
    assert_int_equal(out.overwrite[0].read_from, 8);
    assert_int_equal(out.overwrite[0].read_until, 10);
    a.waits = right;
    assert_int_equal(run(ASYNC_RING, a).overwrites, 0);
    memset(right, 0, sizeof(right));
    assert_int_equal(run(ASYNC_RING, a).overwrites, 256 - 4);
}

/* LESSONS.md F150, F154 */
static void two_roles_do_what_a_reordering_cpu_does(void **state)
{
    struct async_params hopper = usual(1), older = usual(1);

    (void)state;
    older.fp = 2;
    assert_true(fabs(run(ASYNC_FFII, hopper).busy - 0.8) < 1e-12);
    assert_true(fabs(run(ASYNC_FFII, older).busy - 2.0 / 3) < 1e-12);
    assert_true(run(ASYNC_FIFI, hopper).busy == 1);
    assert_true(run(ASYNC_FIFI, older).busy == 1);
    assert_true(run(ASYNC_FFII_ROLES, hopper).busy == 1);
    assert_true(run(ASYNC_FFII_ROLES, older).busy == 1);
    assert_int_equal(run(ASYNC_FFII_ROLES, hopper).cycles, run(ASYNC_FIFI, hopper).cycles);
}

/* LESSONS.md F149: a plan for 25 cycles fits 25 and not 10 to 100. */
static void a_static_plan_loses_to_latency_that_varies(void **state)
{
    struct async_params a = usual(8);
    double planned, varied;

    (void)state;
    a.load = 25;
    a.compute = 5;
    planned = run(ASYNC_STATIC, a).busy;
    assert_true(planned == 1);
    assert_true(run(ASYNC_DYNAMIC, a).busy > 0.99);
    a.load = 10;
    a.jitter = 90;
    varied = run(ASYNC_STATIC, a).busy;
    assert_true(varied < 0.6 && varied > 0.4);
    assert_true(run(ASYNC_DYNAMIC, a).busy > 0.99);
}

/* LESSONS.md F145, F166 */
static void attention_gains_from_roles(void **state)
{
    struct arena *arena = arena_new(0);
    struct async_program *three, *five;
    struct async_params a = usual(4);
    struct async_run one;

    (void)state;
    a.compute = 100;
    a.softmax = 100;
    one = run(ASYNC_ATTENTION_ONE, a);
    assert_true(fabs(one.busy - 2.0 / 3) < 1e-12); /* the softmax is a hole of a third */
    assert_true(run_in(arena, ASYNC_ATTENTION, a, &three).busy > 0.99);
    assert_true(run_in(arena, ASYNC_BLACKWELL, a, &five).busy > one.busy);
    assert_int_equal(three->role_count, 3);
    assert_int_equal(five->role_count, 5);
    arena_free(&arena);
}

/* A role's states and the events of an engine never overlap, and sum to what is counted. */
static void events_partition_time(void **state)
{
    (void)state;
    for (int id = 0; id < ASYNC_PROGRAM_COUNT; id++) {
        struct arena *arena = arena_new(0);
        struct async_params a = usual(3);
        struct async_program *p;
        struct async_run out;

        a.steps = 40;
        a.jitter = 5;
        a.wake = 3;
        a.tma = 1;
        out = run_in(arena, (enum async_program_id)id, a, &p);
        assert_true(out.has_all_events);
        for (int r = 0; r < p->role_count; r++) {
            int64_t at = 0, sum = 0;

            for (size_t i = 0; i < out.event_count; i++)
                if (out.events[i].role == r && out.events[i].engine == ASYNC_NONE) {
                    assert_int_equal(out.events[i].from, at);
                    at = out.events[i].to;
                }
            for (int s = 0; s < ASYNC_STATES; s++)
                sum += out.role_cycles[r][s];
            assert_int_equal(at, out.role_end[r]);
            assert_int_equal(sum, out.role_end[r]);
        }
        for (int e = 0; e < p->engine_count; e++) {
            int64_t at = 0, busy = 0;

            for (size_t i = 0; i < out.event_count; i++)
                if (out.events[i].engine == e) {
                    assert_true(out.events[i].from >= at);
                    at = out.events[i].to;
                    busy += at - out.events[i].from;
                }
            assert_int_equal(busy, out.engine_busy[e]);
            assert_true(at <= out.cycles);
        }
        arena_free(&arena);
    }
}

static void the_same_seed_gives_the_same_run(void **state)
{
    struct async_params a = usual(3);
    struct async_run first, again;

    (void)state;
    a.jitter = 20;
    first = run(ASYNC_RING, a);
    again = run(ASYNC_RING, a);
    assert_memory_equal(&first, &again, sizeof(first));
    a.seed = 2;
    assert_int_not_equal(run(ASYNC_RING, a).cycles, first.cycles);
}

/* ---- programs that cannot be, and programs that end in a knot ---- */

static void a_knot_says_who_waits_for_what(void **state)
{
    struct arena *arena = arena_new(0);
    struct async_params a = usual(2);
    struct async_program *p;
    struct async_run out;
    struct err err = { 0 };

    (void)state;
    assert_int_equal(async_build(ASYNC_RING, &a, arena, &p, &err), 0);
    p->tokens[1].arrivals = 2; /* a slot is free after two readers, and there is one */
    assert_int_equal(async_run(p, 0, arena, NULL, &out, &err), -1);
    assert_int_equal(err.name, ERR_Deadlock);
    assert_string_equal(err.text, "ring: loader waits for empty[0], consumer waits for full[2], "
                                  "which nobody will raise");
    arena_free(&arena);
}

static void impossible_programs_are_refused_by_name(void **state)
{
    static const struct {
        enum async_program_id id;
        struct async_params params;
        const char *text;
    } cases[] = {
        { ASYNC_RING, { .pipe = 0, .groups = 1, .steps = 4 }, "pipe=0: ring has 1 to 64" },
        { ASYNC_RING, { .pipe = 1, .steps = 4 }, "groups=0: ring has 1 to 8" },
        { ASYNC_RING, { .pipe = 65, .groups = 1, .steps = 4 }, "pipe=65: ring has 1 to 64" },
        { ASYNC_RING, { .pipe = 1, .groups = 1, .steps = 0 }, "steps=0: ring has 1 to 65536" },
        { ASYNC_V2, { .pipe = 1, .groups = 1, .steps = 4 }, "pipe=1: v2 needs at least 2 slots" },
        { ASYNC_V1, { .pipe = 4, .groups = 1, .steps = 3 }, "steps=3: v1 fills all 4 slots first" },
        { ASYNC_RING, { .pipe = 1, .groups = 1, .steps = 4, .load = -1 }, "latency of load is -1" },
        { ASYNC_RING, { .pipe = 1, .groups = 1, .steps = 4, .wake = -1 }, "wake=-1: wake is 0 to" },
        { ASYNC_RING,
          { .pipe = 1, .groups = 1, .steps = 4, .compute = 1000001 },
          "cycles of mma is 1000001" },
    };
    struct arena *arena = arena_new(0);

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct async_program *p;
        struct async_run out;
        struct err err = { 0 };

        if (async_build(cases[i].id, &cases[i].params, arena, &p, &err) == 0)
            assert_int_equal(async_run(p, 0, arena, NULL, &out, &err), -1);
        assert_int_equal(err.name, ERR_ValueError);
        if (strncmp(err.text, cases[i].text, strlen(cases[i].text)) != 0)
            assert_string_equal(err.text, cases[i].text);
    }
    arena_free(&arena);
}

static void every_program_is_found_by_its_name(void **state)
{
    (void)state;
    for (int id = 0; id < ASYNC_PROGRAM_COUNT; id++)
        assert_int_equal(async_program_find(async_program_name((enum async_program_id)id)), id);
    assert_int_equal(async_program_find("rings"), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ring_of_1_to_5_slots_is_20_to_100_percent_busy),
        cmocka_unit_test(the_schedulers_curve_is_the_rings_curve),
        cmocka_unit_test(loops_without_roles_follow_their_formulas),
        cmocka_unit_test(a_blocking_wait_costs_v1_a_bubble_a_step),
        cmocka_unit_test(a_loop_has_prologue_body_and_drain),
        cmocka_unit_test(v2_has_one_mma_under_way_when_it_waits),
        cmocka_unit_test(a_wait_that_comes_a_step_late_overwrites_a_tile),
        cmocka_unit_test(two_roles_do_what_a_reordering_cpu_does),
        cmocka_unit_test(a_static_plan_loses_to_latency_that_varies),
        cmocka_unit_test(attention_gains_from_roles),
        cmocka_unit_test(events_partition_time),
        cmocka_unit_test(the_same_seed_gives_the_same_run),
        cmocka_unit_test(a_knot_says_who_waits_for_what),
        cmocka_unit_test(impossible_programs_are_refused_by_name),
        cmocka_unit_test(every_program_is_found_by_its_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
