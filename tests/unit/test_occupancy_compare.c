/*
 * Other ways to count: how each stands to the hardware's answer over all shapes,
 * and the numbers of the lessons (LESSONS.md F92, F94, F105).
 */
#include "model/occupancy_compare.h"
#include "tests/unit/rows.h"

static struct occupancy_other compare(const char *device, struct launch_shape shape,
                                      enum occupancy_rule rule, int parts, struct occupancy *exact)
{
    const struct device *dev = device_find(device);
    struct occupancy_other other;

    shape.carveout = OCCUPANCY_DEFAULT_CARVEOUT;
    assert_int_equal(occupancy_of(dev, &shape, exact, NULL), 0);
    assert_int_equal(occupancy_compare(dev, &shape, exact, rule, parts, &other, NULL), 0);
    return other;
}

static void plain_division_differs_where_the_lessons_say(void **state)
{
    static const struct {
        const char *device;
        int block, regs;
        int64_t dynamic;
        int exact, naive;
    } cases[] = {
        { "A100", 224, 92, 0, 2, 3 },        /* 5 warps a partition, 20 an SM */
        { "A100", 512, 33, 0, 3, 3 },        /* rounding alone changes nothing here */
        { "A100", 256, 33, 0, 6, 7 },        /* 33 count as 40 */
        { "L40S", 256, 42, 0, 5, 6 },        /* 42 count as 48 */
        { "L40S", 256, 32, 50 << 10, 1, 2 }, /* 1 KB of each block is the system's */
        { "L40S", 100, 32, 0, 12, 15 },      /* a warp is given whole */
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct occupancy exact;
        struct occupancy_other other =
            compare(cases[i].device,
                    (struct launch_shape){ .block = cases[i].block,
                                           .regs = cases[i].regs,
                                           .dynamic_bytes = cases[i].dynamic },
                    OCCUPANCY_RULE_NAIVE, 0, &exact);

        assert_int_equal(exact.active_blocks, cases[i].exact);
        assert_int_equal(other.blocks, cases[i].naive);
    }
}

/* Rounding up, partitions and reserves only take away, and a block size is only chosen to win. */
static void no_rule_is_on_the_wrong_side(void **state)
{
    static const char *const devices[] = { "cc=5.3", "cc=6.0", "T4", "A100", "L40S", "H200" };
    enum occupancy_rule rules[] = { OCCUPANCY_RULE_NAIVE, OCCUPANCY_RULE_THREADS,
                                    OCCUPANCY_RULE_FIXED, OCCUPANCY_RULE_BEST };
    struct occupancy exact;

    (void)state;
    for (size_t d = 0; d < COUNT(devices); d++)
        for (int block = 1; block <= 1024; block += 31)
            for (int regs = 0; regs <= 255; regs += 15)
                for (size_t r = 0; r < COUNT(rules); r++) {
                    struct occupancy_other other =
                        compare(devices[d],
                                (struct launch_shape){
                                    .block = block, .regs = regs, .dynamic_bytes = regs * 100 },
                                rules[r], 4, &exact);

                    assert_in_range((uintmax_t)(other.difference * 1e6 + 1), 1, 1000001);
                }
}

/* LESSONS.md F92 */
static void warps_and_threads_agree_on_whole_warps_only(void **state)
{
    struct occupancy exact;
    struct occupancy_other other;

    (void)state;
    other = compare("L40S", (struct launch_shape){ .block = 100, .regs = 32 },
                    OCCUPANCY_RULE_THREADS, 0, &exact);
    assert_float_equal(exact.occupancy, 1, 0);
    assert_float_equal(other.occupancy, 1200.0 / 1536, 1e-12);
    for (int block = 32; block <= 1024; block += 32)
        assert_float_equal(compare("L40S", (struct launch_shape){ .block = block, .regs = 32 },
                                   OCCUPANCY_RULE_THREADS, 0, &exact)
                               .difference,
                           0, 0);
}

/* A part of an A100 cut in 8: 256 threads, 8,192 registers, 20.5 KB. */
static void fixed_parts_waste_small_blocks_and_refuse_large_ones(void **state)
{
    static const struct {
        int block, regs, dynamic, parts, blocks;
    } cases[] = {
        { 256, 32, 0, 8, 8 }, { 32, 32, 0, 8, 8 },         { 512, 32, 0, 8, 0 },
        { 256, 33, 0, 8, 0 }, { 192, 40, 0, 8, 8 },        { 128, 32, 19 << 10, 8, 8 },
        { 512, 32, 0, 4, 4 }, { 128, 32, 20 << 10, 8, 0 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct occupancy exact;

        assert_int_equal(compare("A100",
                                 (struct launch_shape){ .block = cases[i].block,
                                                        .regs = cases[i].regs,
                                                        .dynamic_bytes = cases[i].dynamic },
                                 OCCUPANCY_RULE_FIXED, cases[i].parts, &exact)
                             .blocks,
                         cases[i].blocks);
    }
}

static void an_sm_has_no_more_parts_than_blocks(void **state)
{
    const struct device *dev = device_find("L40S");
    struct launch_shape shape = { .block = 32, .carveout = OCCUPANCY_DEFAULT_CARVEOUT };
    struct occupancy exact;
    struct occupancy_other other;
    struct err err = { 0 };

    (void)state;
    assert_int_equal(occupancy_of(dev, &shape, &exact, NULL), 0);
    assert_int_equal(occupancy_compare(dev, &shape, &exact, OCCUPANCY_RULE_FIXED, 25, &other, &err),
                     -1);
    assert_string_equal(err.text, "parts=25: an SM of L40S has 1 to 24 parts");
    assert_int_equal(occupancy_rule_find("fixed"), OCCUPANCY_RULE_FIXED);
    assert_int_equal(occupancy_rule_find("nosuch"), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_division_differs_where_the_lessons_say),
        cmocka_unit_test(no_rule_is_on_the_wrong_side),
        cmocka_unit_test(warps_and_threads_agree_on_whole_warps_only),
        cmocka_unit_test(fixed_parts_waste_small_blocks_and_refuse_large_ones),
        cmocka_unit_test(an_sm_has_no_more_parts_than_blocks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
