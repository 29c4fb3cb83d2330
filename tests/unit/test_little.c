/*
 * Little's law: the texts' numbers, the forms' properties, the pattern scheduler
 * as a second opinion, and what was measured on a GH200.
 */
#include "model/little.h"
#include "model/scheduler.h"
#include "tests/unit/rows.h"

#include <math.h>

static struct little_point run(const struct little_machine *m, struct little_kernel k)
{
    struct little_point out;

    assert_int_equal(little_run(m, &k, &out, NULL), 0);
    return out;
}

static void one_term_follows_from_the_other_two(void **state)
{
    struct little_law law = { .latency = 5, .throughput = 6 };
    struct err err = { 0 };

    (void)state;
    assert_int_equal(little_solve(&law, LITTLE_CONCURRENCY, &err), 0);
    assert_float_equal(law.concurrency, 30, 0);
    assert_int_equal(little_solve(&law, LITTLE_THROUGHPUT, &err), 0);
    assert_float_equal(law.throughput, 6, 0);
    law.throughput = 3;
    assert_int_equal(little_solve(&law, LITTLE_LATENCY, &err), 0);
    assert_float_equal(law.latency, 10, 0);
    law.throughput = 0;
    assert_int_equal(little_solve(&law, LITTLE_LATENCY, &err), -1);
    assert_string_equal(err.text, "throughput=0: it is above 0");
}

/* F132: 4.8 TB/s x 690 cycles at 1.98 GHz. */
static void an_h200_needs_99_lines_in_flight_an_sm(void **state)
{
    struct little_machine m = little_machine_of(device_find("H200"), 0);
    struct little_point p;

    (void)state;
    m.memory_latency = 690;
    p = run(&m, (struct little_kernel){ .warps = 64, .ilp = 1, .bytes_per_warp = 128 });
    assert_float_equal(p.needed, 99, 0.01);
    assert_float_equal(p.fraction, 64.0 / 99, 1e-4);
    assert_int_equal(p.bound, LITTLE_BOUND_LATENCY);
    p = run(&m, (struct little_kernel){ .warps = 64, .ilp = 1, .bytes_per_warp = 512 });
    assert_float_equal(p.needed * 512, 12672, 1);
    assert_float_equal(p.fraction, 1, 0);
    assert_int_equal(p.bound, LITTLE_BOUND_MEMORY);
    /* A full unit makes its callers wait: so many under way, each for longer. */
    assert_float_equal(p.latency, 64 / p.throughput, 1e-9);
    assert_true(p.latency > 690);
}

static void operations_in_flight_are_latency_times_lanes(void **state)
{
    static const struct {
        const char *device;
        double needed;
    } cases[] = { { "L40S", 16 }, { "A100", 8 }, { "H200", 16 } };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct little_machine m = little_machine_of(device_find(cases[i].device), 0);

        m.alu_latency = 4;
        assert_float_equal(
            run(&m, (struct little_kernel){ .warps = 1, .ilp = 1, .alpha = 1 }).needed,
            cases[i].needed, 0);
    }
}

/* F131: what counts is the product. F45: 4 warps x 4 loads > 12 x 1. */
static void warps_and_ilp_stand_for_each_other(void **state)
{
    struct little_machine m = little_machine_of(device_find("L40S"), 0);

    (void)state;
    m.memory_latency = 274;
    m.memory_rate = 32; /* L2's share: memory of an L40S is full with 12 loads already */
    m.alu_latency = 4;
    for (int product = 1; product <= 64; product++)
        for (int ilp = 1; ilp <= product; ilp++)
            if (product % ilp == 0)
                assert_float_equal(run(&m, (struct little_kernel){ .warps = product / ilp,
                                                                   .ilp = ilp,
                                                                   .bytes_per_warp = 128,
                                                                   .alpha = 3,
                                                                   .queue = 120 })
                                       .throughput,
                                   run(&m, (struct little_kernel){ .warps = product,
                                                                   .ilp = 1,
                                                                   .bytes_per_warp = 128,
                                                                   .alpha = 3,
                                                                   .queue = 120 })
                                       .throughput,
                                   0);
    assert_float_equal(
        run(&m, (struct little_kernel){ .warps = 4, .ilp = 4, .bytes_per_warp = 128 }).throughput /
            run(&m, (struct little_kernel){ .warps = 12, .ilp = 1, .bytes_per_warp = 128 })
                .throughput,
        16.0 / 12, 1e-12);
}

/* The scheduler of the pattern layer, cycle by cycle, says what the form says. */
static void the_pattern_scheduler_agrees(void **state)
{
    struct little_machine m = little_machine_of(device_find("L40S"), 0);
    struct arena *arena = arena_new(0);

    (void)state;
    m.alu_latency = 4;
    for (int warps = 1; warps <= 48; warps++)
        for (int ilp = 1; ilp <= 4; ilp++) {
            struct pattern pattern = {
                .warps = warps, .issue = ilp, .wait = 4 - ilp, .schedulers = 4
            };
            struct little_kernel k = { .warps = warps, .ilp = ilp, .alpha = 1 };
            struct steady steady;

            assert_int_equal(scheduler_steady(&pattern, arena, &steady, NULL, NULL), 0);
            /* Warps go round the schedulers; where they do not divide, some have one more. */
            if (warps % 4 == 0 || (warps + 3) / 4 * ilp <= 4)
                assert_float_equal(run(&m, k).fraction, steady.issue_utilization, 1e-12);
            else
                assert_true(run(&m, k).fraction >= steady.issue_utilization);
        }
    arena_free(&arena);
}

/* Volkov: the more operations follow a load, the fewer loads fill memory, and the more warps. */
static void the_least_unit_is_the_limit(void **state)
{
    static const struct {
        double alpha;
        enum little_bound unit;
        double limit;
    } cases[] = {
        { 0, LITTLE_BOUND_MEMORY, 18.3636 / 128 },
        { 10, LITTLE_BOUND_MEMORY, 18.3636 / 128 },
        { 40, LITTLE_BOUND_ISSUE, 4.0 / 41 },
    };
    struct little_machine m = little_machine_of(device_find("H200"), 0);
    struct little_machine a100 = little_machine_of(device_find("A100"), 0);

    (void)state;
    m.memory_latency = a100.memory_latency = 600;
    m.alu_latency = a100.alu_latency = 4;
    m.memory_rate = 18.3636;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct little_point p =
            run(&m, (struct little_kernel){
                        .warps = 1000, .ilp = 1, .bytes_per_warp = 128, .alpha = cases[i].alpha });

        assert_int_equal(p.unit, cases[i].unit);
        assert_int_equal(p.bound, cases[i].unit);
        assert_float_equal(p.limit, cases[i].limit, 1e-9);
        assert_float_equal(p.needed, cases[i].limit * (600 + 4 * cases[i].alpha), 1e-6);
    }
    /* 16 lanes a scheduler: a warp instruction takes its unit for two cycles. */
    assert_int_equal(run(&a100,
                         (struct little_kernel){
                             .warps = 64, .ilp = 4, .bytes_per_warp = 128, .alpha = 200 })
                         .bound,
                     LITTLE_BOUND_ARITHMETIC);
}

/* The throughput solves its equation, rises with warps, and stays below the naive one. */
static void loaded_latency_meets_its_throughput(void **state)
{
    struct little_machine m = little_machine_of(device_find("H200"), 0);
    double last = 0;

    (void)state;
    m.memory_latency = 690;
    for (int warps = 1; warps <= 4096; warps *= 2) {
        struct little_kernel k = { .warps = warps, .ilp = 2, .bytes_per_warp = 128 };
        double naive = run(&m, k).throughput, u;
        struct little_point p;

        k.queue = 138;
        p = run(&m, k);
        u = p.throughput * 128 / m.memory_rate;
        assert_true(u > last && u < 1 && p.throughput <= naive);
        last = u;
        assert_float_equal(p.latency, 690 + 138 * u / (1 - u), 1e-6 * p.latency);
    }
}

/* Facts of RRZE: the read has eight points, the triad is foretold. */
static void a_gh200_behaves_so(void **state)
{
    static const struct {
        int threads;
        double gbs;
    } triad[] = { { 512, 2367 }, { 1024, 3338 }, { 2048, 3783 } };
    struct little_machine m = little_machine_of(device_find("GH200"), 0);
    double to_gbs = 132 * 1.98;

    (void)state;
    m.memory_latency = 1085;
    for (size_t i = 0; i < LITTLE_MEASURED_COUNT; i++) {
        struct little_kernel k = { .warps = 1,
                                   .ilp = LITTLE_MEASURED[i].threads_per_sm,
                                   .bytes_per_warp = 8,
                                   .queue = LITTLE_QUEUE * 1085 };

        assert_float_equal(run(&m, k).throughput * 8 * to_gbs / LITTLE_MEASURED[i].gbs, 1, 0.02);
    }
    for (size_t i = 0; i < COUNT(triad); i++) {
        struct little_kernel k = {
            .warps = 1, .ilp = triad[i].threads, .bytes_per_warp = 24, .queue = LITTLE_QUEUE * 1085
        };

        assert_float_equal(run(&m, k).throughput * 24 * to_gbs / triad[i].gbs, 1, 0.04);
    }
}

static void what_no_kernel_is_is_refused(void **state)
{
    static const struct {
        const char *device;
        struct little_kernel kernel;
        const char *text;
    } cases[] = {
        { "H200", { .warps = 0, .ilp = 1, .alpha = 1 }, "warps=0 ilp=1: both are at least 1" },
        { "H200", { .warps = 1, .ilp = 0, .alpha = 1 }, "warps=1 ilp=0: both are at least 1" },
        { "H200", { .warps = 1, .ilp = 1 }, "alpha=0: an iteration has at least one instruction" },
        { "cc=9.0",
          { .warps = 1, .ilp = 1, .bytes_per_warp = 128 },
          "the device's bandwidth, clock or SMs are unknown" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct little_machine m = little_machine_of(device_find(cases[i].device), 0);
        struct little_point out;
        struct err err = { 0 };

        assert_int_equal(little_run(&m, &cases[i].kernel, &out, &err), -1);
        assert_string_equal(err.text, cases[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_term_follows_from_the_other_two),
        cmocka_unit_test(an_h200_needs_99_lines_in_flight_an_sm),
        cmocka_unit_test(operations_in_flight_are_latency_times_lanes),
        cmocka_unit_test(warps_and_ilp_stand_for_each_other),
        cmocka_unit_test(the_pattern_scheduler_agrees),
        cmocka_unit_test(the_least_unit_is_the_limit),
        cmocka_unit_test(loaded_latency_meets_its_throughput),
        cmocka_unit_test(a_gh200_behaves_so),
        cmocka_unit_test(what_no_kernel_is_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
