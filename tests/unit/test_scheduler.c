/*
 * The pattern simulation: equal to the reference row by row, its identities hold,
 * and a second, naive scheduler agrees with it on random patterns.
 */
#include "model/base/philox.h"
#include "model/scheduler.h"
#include "tests/unit/rows.h"

#include <math.h>
#include <time.h>

static struct pattern pattern_of(int warps, int issue, int wait, const char *policy)
{
    return (struct pattern){
        .warps = warps,
        .issue = issue,
        .wait = wait,
        .schedulers = 1,
        .policy = (enum scheduler_policy)scheduler_policy_find(policy),
        .seed = 1,
    };
}

static struct arena *new_arena(void)
{
    struct arena *arena = arena_new(0);

    assert_non_null(arena);
    return arena;
}

static struct steady steady_of(struct pattern pattern, struct arena *arena)
{
    struct steady steady;
    struct err err = { 0 };

    if (scheduler_steady(&pattern, arena, &steady, NULL, &err) < 0)
        fail_msg("%s", err.text);
    return steady;
}

/* "0011223344....": who issues in each cycle, of scheduler 0. */
static void issued_text(struct pattern pattern, int cycles, char *text)
{
    struct arena *arena = new_arena();
    struct timeline timeline;
    struct err err = { 0 };

    assert_int_equal(scheduler_timeline(&pattern, cycles, arena, &timeline, &err), 0);
    for (int i = 0; i < cycles; i++)
        text[i] = timeline.issuer[i] < 0 ? '.' : (char)('0' + timeline.issuer[i]);
    text[cycles] = '\0';
    arena_free(&arena);
}

static void every_case_of_the_reference_is_met(void **state)
{
    struct rows rows;

    (void)state;
    for (rows_open(&rows, "tests/data/simulate.csv"); rows_next(&rows);) {
        struct pattern pattern = pattern_of(rows_int(&rows, "warps"), rows_int(&rows, "issue"),
                                            rows_int(&rows, "wait"), rows_text(&rows, "policy"));
        struct arena *arena = new_arena();
        struct timeline timeline;
        struct steady steady;
        struct err err = { 0 };

        pattern.schedulers = rows_int(&rows, "schedulers");
        steady = steady_of(pattern, arena);
        assert_int_equal(scheduler_timeline(&pattern, 60, arena, &timeline, &err), 0);
        if (fabs(steady.issue_utilization - rows_float(&rows, "issue_utilization")) > 1e-9 ||
            fabs(steady.eligible - rows_float(&rows, "eligible_mean")) > 1e-9 ||
            timeline.issued != rows_int(&rows, "issued_in_60_cycles"))
            fail_msg("%s: was %.9f, %.9f, %lld", rows.text, steady.issue_utilization,
                     steady.eligible, (long long)timeline.issued);
        arena_free(&arena);
    }
    assert_int_equal(rows.count, 400);
}

/* facts: the golden figures of the lessons, and when policies differ. */
static void policies_fill_the_gaps_as_published(void **state)
{
    static const struct {
        const char *policy;
        int issue, wait;
        double percent[13]; /* from 1 warp on; 0 ends */
    } cases[] = {
        { "gto", 2, 8, { 20, 40, 60, 80, 100, 100 } },
        { "lrr", 2, 8, { 20, 36.4, 50, 61.5, 71.4, 80, 87.5, 94.1, 100 } },
        { "longest-ready", 2, 8, { 20, 40, 60, 80, 90.9, 100 } },
        { "gto", 4, 12, { 25, 50, 75, 100 } },
        { "lrr", 4, 12, { 25, 42.1, 54.5, 64, 71.4, 77.4, 82.4, 86.5, 90, 93, 95.7, 98, 100 } },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        for (int n = 1; n <= 13 && cases[i].percent[n - 1] > 0; n++) {
            struct arena *arena = new_arena();
            double u =
                steady_of(pattern_of(n, cases[i].issue, cases[i].wait, cases[i].policy), arena)
                    .issue_utilization;

            if (fabs(u * 100 - cases[i].percent[n - 1]) > 0.06)
                fail_msg("%s, %d warps of %d/%d: %.2f %%, not %.1f", cases[i].policy, n,
                         cases[i].issue, cases[i].wait, u * 100, cases[i].percent[n - 1]);
            arena_free(&arena);
        }
}

static void who_issues_is_as_published(void **state)
{
    static const struct {
        int warps;
        const char *policy, *issued;
    } cases[] = {
        { 5, "gto", "00112233440011223344" },     { 5, "gty", "44332211004433221100" },
        { 5, "lrr", "0123401234....0123401234" }, { 3, "gto", "001122....001122...." },
        { 1, "gto", "00........00........00" },
    };
    char text[100];

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        issued_text(pattern_of(cases[i].warps, 2, 8, cases[i].policy), (int)strlen(cases[i].issued),
                    text);
        if (strcmp(text, cases[i].issued) != 0)
            fail_msg("%d warps, %s: %s, not %s", cases[i].warps, cases[i].policy, text,
                     cases[i].issued);
    }
}

static void a_warp_too_many_starves_under_a_greedy_rule_alone(void **state)
{
    static const struct {
        const char *policy;
        int starving;
    } cases[] = {
        { "gto", 5 }, { "gty", 0 }, { "oldest", 5 }, { "lrr", -1 }, { "longest-ready", -1 }
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct arena *arena = new_arena();
        struct steady steady = steady_of(pattern_of(6, 2, 8, cases[i].policy), arena);

        for (int w = 0; w < 6; w++)
            if ((steady.warp_issued[w] == 0) != (w == cases[i].starving))
                fail_msg("%s: warp %d issues %lld in %lld cycles", cases[i].policy, w,
                         (long long)steady.warp_issued[w], (long long)steady.cycles);
        arena_free(&arena);
    }
}

/* LESSONS.md F19, F20, F25. */
static void mean_states_are_exact_and_sum_to_the_warps(void **state)
{
    static const struct {
        int warps, wait;
        double selected, not_selected, stalled;
        int64_t period;
    } cases[] = {
        { 5, 8, 1, 0, 4, 10 },
        { 6, 8, 1, 1, 4, 10 },
        { 8, 8, 1, 3, 4, 10 },
        { 12, 8, 1, 7, 4, 10 },
        { 12, 400, 24.0 / 402, 12.0 * 11 / 402, 12 - 24.0 / 402 - 12.0 * 11 / 402, 402 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct arena *arena = new_arena();
        struct steady s = steady_of(pattern_of(cases[i].warps, 2, cases[i].wait, "gto"), arena);

        if (!s.is_exact || s.period != cases[i].period ||
            fabs(s.selected - cases[i].selected) > 1e-12 ||
            fabs(s.selected + s.not_selected + s.stalled - cases[i].warps) > 1e-12 ||
            fabs(s.eligible - s.selected - s.not_selected) > 1e-12)
            fail_msg("%d warps, wait %d: period %lld, %.6f + %.6f + %.6f", cases[i].warps,
                     cases[i].wait, (long long)s.period, s.selected, s.not_selected, s.stalled);
        if (cases[i].wait == 8)
            assert_true(s.not_selected == cases[i].not_selected && s.stalled == cases[i].stalled);
        arena_free(&arena);
    }
}

/* The rules once more, cycle by cycle and as slowly as they are written. */
struct naive {
    struct pattern p;
    int left[64], order[64], order_count, queue[64], queue_count;
    int64_t since[64];
    uint64_t round[64];
    int last;
};

static bool naive_eligible(const struct naive *n, int w, int64_t cycle)
{
    return n->since[w] <= cycle;
}

static int naive_pick(struct naive *n, int64_t cycle)
{
    int best = -1, count = n->p.warps;
    const char *policy = scheduler_policy_name(n->p.policy);

    if (strcmp(policy, "two-level") == 0) {
        for (int i = 0; i < n->queue_count && n->order_count < 8; i++)
            if (naive_eligible(n, n->queue[i], cycle)) {
                n->order[n->order_count++] = n->queue[i];
                for (int k = i + 1; k < n->queue_count; k++)
                    n->queue[k - 1] = n->queue[k];
                n->queue_count--;
                break;
            }
        for (int i = 0; i < n->order_count; i++)
            if (n->order[i] == n->last)
                best = i;
        return n->order_count ? n->order[(best + 1) % n->order_count] : -1;
    }
    if (policy[0] == 'g' && n->last >= 0 && naive_eligible(n, n->last, cycle))
        return n->last;
    for (int i = 0; i < count; i++) {
        int w = strcmp(policy, "lrr") == 0 ? (n->last + 1 + i) % count : i;

        if (!naive_eligible(n, w, cycle))
            continue;
        if (best < 0 || strcmp(policy, "gty") == 0 ||
            (strcmp(policy, "longest-ready") == 0 && n->since[w] < n->since[best]))
            best = w;
    }
    return best;
}

static void naive_issue(struct naive *n, int w, int64_t cycle)
{
    int64_t wait = 0;

    n->last = w;
    if (--n->left[w] == 0) {
        n->left[w] = n->p.issue;
        wait = n->p.wait + philox_below(philox_at(n->p.seed, n->round[w]++, (uint64_t)w).word[0],
                                        (uint32_t)n->p.jitter);
    }
    n->since[w] = cycle + 1 + wait;
    if (wait > 0 && n->p.policy == POLICY_TWO_LEVEL) {
        int at = 0;

        while (n->order[at] != w)
            at++;
        for (n->order_count--; at < n->order_count; at++)
            n->order[at] = n->order[at + 1];
        n->queue[n->queue_count++] = w;
    }
}

static void a_naive_scheduler_agrees_on_random_patterns(void **state)
{
    enum { CASES = 400, CYCLES = 700 };

    (void)state;
    for (uint64_t i = 0; i < CASES; i++) {
        struct philox r = philox_at(20, i, 0), r2 = philox_at(20, i, 1);
        struct naive n = { .p = { .warps = 1 + (int)philox_below(r.word[0], 39),
                                  .issue = 1 + (int)philox_below(r.word[1], 6),
                                  .wait = (int)philox_below(r.word[2], 30),
                                  .schedulers = 1,
                                  .policy = (enum scheduler_policy)(i % POLICY_COUNT),
                                  .jitter = (int)philox_below(r2.word[0], 1) *
                                            (int)philox_below(r.word[3], 20),
                                  .seed = i } };
        struct arena *arena = new_arena();
        struct timeline timeline;
        struct err err = { 0 };

        n.last = -1;
        for (int w = 0; w < n.p.warps; w++) {
            n.left[w] = n.p.issue;
            n.queue[n.queue_count++] = w;
        }
        assert_int_equal(scheduler_timeline(&n.p, CYCLES, arena, &timeline, &err), 0);
        for (int64_t cycle = 0; cycle < CYCLES; cycle++) {
            int w = naive_pick(&n, cycle);

            for (int k = 0; k < n.p.warps; k++) {
                int expected = k == w                         ? WARP_SELECTED
                               : naive_eligible(&n, k, cycle) ? WARP_NOT_SELECTED
                                                              : WARP_STALLED;

                if (timeline.states[(int64_t)k * CYCLES + cycle] != expected)
                    fail_msg("%d warps %d/%d+%d %s: warp %d in cycle %lld: not state %d", n.p.warps,
                             n.p.issue, n.p.wait, n.p.jitter, scheduler_policy_name(n.p.policy), k,
                             (long long)cycle, expected);
            }
            assert_int_equal(timeline.issuer[cycle], w);
            if (w >= 0)
                naive_issue(&n, w, cycle);
        }
        arena_free(&arena);
    }
}

static void the_steady_state_is_what_a_long_run_repeats(void **state)
{
    enum { CASES = 120, CYCLES = 9000 };

    (void)state;
    for (uint64_t i = 0; i < CASES; i++) {
        struct philox r = philox_at(21, i, 0);
        struct pattern p = { .warps = 1 + (int)philox_below(r.word[0], 20),
                             .issue = 1 + (int)philox_below(r.word[1], 5),
                             .wait = (int)philox_below(r.word[2], 30),
                             .schedulers = 1 + (int)philox_below(r.word[3], 1),
                             .policy = (enum scheduler_policy)(i % POLICY_COUNT) };
        struct arena *arena = new_arena();
        struct steady s = steady_of(p, arena);
        struct timeline t;
        struct err err = { 0 };

        assert_int_equal(scheduler_timeline(&p, CYCLES, arena, &t, &err), 0);
        if (s.warmup + 2 * s.period < CYCLES)
            for (int k = 0; k < p.schedulers; k++)
                for (int64_t c = s.warmup; c + s.period < CYCLES; c++)
                    if (t.issuer[k * CYCLES + c] != t.issuer[k * CYCLES + c + s.period])
                        fail_msg("%d warps %d/%d %s: cycle %lld is not repeated after %lld",
                                 p.warps, p.issue, p.wait, scheduler_policy_name(p.policy),
                                 (long long)c, (long long)s.period);
        arena_free(&arena);
    }
}

static void schedulers_share_the_warps_and_nothing_else(void **state)
{
    struct pattern p = pattern_of(9, 2, 8, "gto");
    struct arena *arena = new_arena();
    struct steady s;

    (void)state;
    p.schedulers = 4; /* 3, 2, 2, 2 warps: 60, 40, 40, 40 % */
    s = steady_of(p, arena);
    assert_true(fabs(s.issue_utilization - 0.45) < 1e-12);
    assert_int_equal(s.period, 10);
    assert_int_equal(s.issued, 18);
    p.warps = 1; /* three schedulers without any */
    s = steady_of(p, arena);
    assert_true(fabs(s.issue_utilization - 0.05) < 1e-12);
    assert_int_equal(s.issued, 2);
    arena_free(&arena);
}

static void jitter_gives_no_period_and_the_same_numbers_each_time(void **state)
{
    struct pattern p = pattern_of(5, 2, 8, "gto");
    struct arena *arena = new_arena();
    struct steady a, b;

    (void)state;
    p.jitter = 4;
    a = steady_of(p, arena);
    b = steady_of(p, arena);
    assert_false(a.is_exact);
    assert_int_equal(a.period, 0);
    assert_int_equal(a.issued, b.issued);
    assert_in_range(a.cycles, 1 << 17, (1 << 17) + 100);
    /* Five warps with a mean round of 12 cycles: a little under 10 / 12. */
    assert_true(a.issue_utilization > 0.75 && a.issue_utilization < 10.0 / 12);
    p.seed = 2;
    assert_int_not_equal(steady_of(p, arena).issued, a.issued);
    arena_free(&arena);
}

static void warps_to_fill_differ_by_policy(void **state)
{
    static const struct {
        const char *policy;
        int issue, wait, schedulers, warps;
    } cases[] = {
        { "gto", 2, 8, 1, 5 },      { "lrr", 2, 8, 1, 9 },       { "longest-ready", 2, 8, 1, 6 },
        { "gto", 4, 12, 1, 4 },     { "lrr", 4, 12, 1, 13 },     { "gto", 2, 400, 1, 201 },
        { "lrr", 2, 400, 1, 401 },  { "gto", 2, 8, 4, 20 },      { "gto", 1, 0, 1, 1 },
        { "gto", 1, 100000, 1, 0 }, { "gto", 1, 4095, 1, 4096 }, { "lrr", 1, 4, 1, 5 },
    };
    struct err err = { 0 };
    int warps;

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct pattern p = pattern_of(1, cases[i].issue, cases[i].wait, cases[i].policy);

        p.schedulers = cases[i].schedulers;
        if (scheduler_warps_to_fill(&p, PATTERN_MAX_WARPS, &warps, NULL, &err) < 0 ||
            warps != cases[i].warps)
            fail_msg("%s %d/%d: %d, not %d %s", cases[i].policy, cases[i].issue, cases[i].wait,
                     warps, cases[i].warps, err.text);
    }
}

static void limits_are_named(void **state)
{
    static const struct {
        struct pattern pattern;
        const char *text;
    } cases[] = {
        { { .warps = 0, .issue = 1, .schedulers = 1 }, "warps=0: 1 to 4096 warps" },
        { { .warps = 4097, .issue = 1, .schedulers = 1 }, "warps=4097: 1 to 4096 warps" },
        { { .warps = 1, .issue = 0, .schedulers = 1 },
          "issue=0: 1 to 1000 instructions before a wait" },
        { { .warps = 1, .issue = 1, .wait = -1, .schedulers = 1 }, "wait=-1: 0 to 100000 cycles" },
        { { .warps = 1, .issue = 1, .schedulers = 0 }, "schedulers=0: 1 to 64 schedulers" },
        { { .warps = 1, .issue = 1, .schedulers = 1, .jitter = -1 },
          "jitter=-1: 0 to 100000 cycles" },
    };
    struct arena *arena = new_arena();
    struct timeline timeline;
    struct steady steady;

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct err err = { 0 };

        assert_int_equal(scheduler_steady(&cases[i].pattern, arena, &steady, NULL, &err), -1);
        assert_int_equal(err.name, ERR_ValueError);
        assert_string_equal(err.text, cases[i].text);
        assert_int_equal(scheduler_timeline(&cases[i].pattern, 10, arena, &timeline, &err), -1);
    }
    arena_free(&arena);
}

static void a_stop_ends_a_long_search(void **state)
{
    struct pattern p = pattern_of(4096, 7, 1000, "longest-ready");
    struct arena *arena = new_arena();
    struct steady steady;
    atomic_bool stop = true;
    struct err err = { 0 };

    (void)state;
    assert_int_equal(scheduler_steady(&p, arena, &steady, &stop, &err), -1);
    assert_int_equal(err.name, ERR_Interrupted);
    arena_free(&arena);
}

/* Thousands of warps: 79 s when each issue looked at all of them, and a period was sought for 2^25
 * issues. */
static void many_warps_are_searched_in_moments(void **state)
{
    struct pattern p = {
        .warps = 63, .issue = 5, .wait = 4000, .schedulers = 1, .policy = POLICY_LONGEST_READY
    };
    clock_t from = clock();
    int warps;

    (void)state;
    assert_return_code(scheduler_warps_to_fill(&p, PATTERN_MAX_WARPS, &warps, NULL, NULL), 0);
    assert_int_equal(warps, 802);
    assert_true(clock() - from < 5 * CLOCKS_PER_SEC);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_case_of_the_reference_is_met),
        cmocka_unit_test(policies_fill_the_gaps_as_published),
        cmocka_unit_test(who_issues_is_as_published),
        cmocka_unit_test(a_warp_too_many_starves_under_a_greedy_rule_alone),
        cmocka_unit_test(mean_states_are_exact_and_sum_to_the_warps),
        cmocka_unit_test(a_naive_scheduler_agrees_on_random_patterns),
        cmocka_unit_test(the_steady_state_is_what_a_long_run_repeats),
        cmocka_unit_test(schedulers_share_the_warps_and_nothing_else),
        cmocka_unit_test(jitter_gives_no_period_and_the_same_numbers_each_time),
        cmocka_unit_test(warps_to_fill_differ_by_policy),
        cmocka_unit_test(limits_are_named),
        cmocka_unit_test(a_stop_ends_a_long_search),
        cmocka_unit_test(many_warps_are_searched_in_moments),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
