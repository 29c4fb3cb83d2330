/*
 * %little's kernels on the core layer: what the law says where it holds, and what it cannot know.
 */
#include "model/little_core.h"

#include "model/costs.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { ROUNDS = 8 };

struct run {
    const struct device *device;
    struct little_machine machine;
    struct little_kernel kernel;
    struct little_point closed;
    struct little_simulated simulated;
};

static struct run run(const char *device, double warps, double ilp, double bytes, double alpha)
{
    struct run r = {
        .device = device_find(device),
        .kernel = { .warps = warps, .ilp = ilp, .bytes_per_warp = bytes * WARP, .alpha = alpha }
    };

    r.machine = little_machine_of(r.device, 0);
    r.machine.alu_latency = costs_of(r.device)->classes[LAT_FMA].latency;
    r.machine.memory_latency = bytes > 0 ? 690 : 0;
    assert_return_code(little_run(&r.machine, &r.kernel, &r.closed, NULL), 0);
    assert_true(little_core_instructions(r.device, &r.machine, &r.kernel, ROUNDS) > 0);
    assert_return_code(little_core_run(r.device, &r.machine, &r.kernel, ROUNDS, r.closed.limit,
                                       &r.simulated, NULL),
                       0);
    return r;
}

static void where_one_thing_is_the_limit_the_law_holds(void **state)
{
    static const struct {
        const char *device;
        double warps, ilp, bytes, alpha;
    } cases[] = {
        { "H200", 1, 1, 4, 0 },  { "H200", 64, 1, 4, 0 },  { "H200", 24, 4, 4, 0 },
        { "H200", 64, 4, 4, 0 }, { "H200", 28, 1, 16, 0 }, { "H200", 7, 1, 4, 10 },
        { "L40S", 4, 1, 0, 1 },  { "L40S", 4, 3, 0, 1 },   { "L40S", 11, 1, 0, 1 },
        { "L40S", 48, 1, 0, 1 }, { "A100", 8, 1, 0, 1 },   { "A100", 6, 1, 0, 1 },
        { "L40S", 11, 2, 0, 1 }, { "L40S", 35, 4, 0, 1 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct run r =
            run(cases[i].device, cases[i].warps, cases[i].ilp, cases[i].bytes, cases[i].alpha);

        if (!(fabs(r.simulated.fraction - r.closed.fraction) <= 0.002))
            fail_msg("row %zu: simulated %g, closed form %g", i, r.simulated.fraction,
                     r.closed.fraction);
        if (!(fabs(r.simulated.latency / r.closed.latency - 1) <= 0.005))
            fail_msg("row %zu: %g cycles, closed form %g", i, r.simulated.latency,
                     r.closed.latency);
    }
}

/* Two warps have two schedulers, however much each has under way; the law knows only a sum. */
static void warps_of_few_schedulers_do_not_fill_an_sm(void **state)
{
    struct run two = run("L40S", 2, 8, 0, 1), three = run("L40S", 3, 8, 0, 1);

    (void)state;
    assert_true(two.closed.fraction == 1 && three.closed.fraction == 1);
    assert_float_equal(two.simulated.fraction, 0.5, 0.001);
    assert_float_equal(three.simulated.fraction, 0.75, 0.001);
}

/* Full memory makes whoever asks wait: twice as many take twice as long. */
static void latency_rises_once_the_server_is_full(void **state)
{
    struct run knee = run("H200", 25, 4, 4, 0), twice = run("H200", 50, 4, 4, 0);

    (void)state;
    assert_float_equal(knee.simulated.fraction, 1, 0.002);
    assert_float_equal(twice.simulated.latency / knee.simulated.latency, 2, 0.01);
}

/* Memory that works in bursts makes who comes wait: as long as a GH200's does (little.h). */
static void bursts_make_latency_rise_as_it_was_measured(void **state)
{
    const struct device *dev = device_find("GH200");
    struct little_machine m = little_machine_of(dev, 0);
    double to_gbs = 256 * 1.98 * 132;

    (void)state;
    m.memory_latency = 1085;
    for (size_t i = 0; i < LITTLE_MEASURED_COUNT; i++) {
        struct little_kernel k = { .warps = LITTLE_MEASURED[i].threads_per_sm / WARP,
                                   .ilp = 1,
                                   .bytes_per_warp = 8 * WARP,
                                   .queue = LITTLE_QUEUE * 1085 };
        struct little_simulated s;

        if (k.warps < 1)
            continue;
        assert_return_code(little_core_run(dev, &m, &k, 256, 1, &s, NULL), 0);
        if (!(fabs(s.throughput * to_gbs / LITTLE_MEASURED[i].gbs - 1) <= 0.05))
            fail_msg("%d threads: %g GB/s, measured %g", LITTLE_MEASURED[i].threads_per_sm,
                     s.throughput * to_gbs, LITTLE_MEASURED[i].gbs);
    }
}

static void what_has_no_whole_cycles_is_not_simulated(void **state)
{
    const struct device *dev = device_find("H200");
    struct little_machine m = little_machine_of(dev, 0);
    struct little_kernel k = { .warps = 8, .ilp = 1, .bytes_per_warp = 128, .alpha = 1 };

    (void)state;
    m.memory_latency = 690;
    m.alu_latency = 4;
    assert_int_equal(little_core_instructions(dev, &m, &k, 4), 64);
    m.alu_latency = 4.5;
    assert_int_equal(little_core_instructions(dev, &m, &k, 4), 0);
    m.alu_latency = 4;
    m.memory_latency = 1e6;
    assert_int_equal(little_core_instructions(dev, &m, &k, 4), 0);
    m.memory_latency = 690;
    k.alpha = 0.5;
    assert_int_equal(little_core_instructions(dev, &m, &k, 4), 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(where_one_thing_is_the_limit_the_law_holds),
        cmocka_unit_test(warps_of_few_schedulers_do_not_fill_an_sm),
        cmocka_unit_test(latency_rises_once_the_server_is_full),
        cmocka_unit_test(bursts_make_latency_rise_as_it_was_measured),
        cmocka_unit_test(what_has_no_whole_cycles_is_not_simulated),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
