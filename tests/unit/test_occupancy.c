/*
 * Occupancy: equal to NVIDIA's header and to a driver's answers row by row, and
 * the advice built on it keeps what it promises.
 */
#include "model/occupancy.h"
#include "tests/unit/rows.h"

#include <stdio.h>

/* "warps+blocks" */
static const char *limiters_text(unsigned limiters, char *text, size_t size)
{
    size_t n = 0;

    text[0] = '\0';
    for (int i = 0; i < OCCUPANCY_LIMIT_COUNT; i++)
        if (limiters >> i & 1)
            n +=
                (size_t)snprintf(text + n, size - n, "%s%s", n ? "+" : "", occupancy_limit_name(i));
    return text;
}

static struct launch_shape shape_of_row(const struct rows *rows)
{
    return (struct launch_shape){
        .block = rows_int(rows, "threads_per_block"),
        .regs = rows_int(rows, "regs_per_thread"),
        .static_bytes = rows_int(rows, "static_smem_bytes"),
        .dynamic_bytes = rows_int(rows, "dynamic_smem_bytes"),
        .carveout = rows_int(rows, "carveout_percent"),
    };
}

static const struct device *device_of_row(const struct rows *rows)
{
    return device_by_cc(rows_int(rows, "cc_major"), rows_int(rows, "cc_minor"));
}

/* Each row of a file from compute capability 5.0 on; returns how many there were. */
static int check_file(const char *path)
{
    struct rows rows;
    struct launch_shape shape;
    const struct device *dev;
    struct occupancy occ;
    struct err err = { 0 };
    char text[64];
    int checked = 0;

    for (rows_open(&rows, path); rows_next(&rows);) {
        if (rows_int(&rows, "cc_major") < 5)
            continue;
        shape = shape_of_row(&rows);
        dev = device_of_row(&rows);
        if (!dev || occupancy_of(dev, &shape, &occ, &err) < 0)
            fail_msg("%s: %s", rows.text, dev ? err.text : "no such device");
        limiters_text(occ.limiters, text, sizeof(text));
        if (occ.active_blocks != rows_int(&rows, "expect_active_blocks") ||
            occ.active_warps != rows_int(&rows, "expect_active_warps") ||
            strcmp(text, rows_text(&rows, "expect_limiting")) != 0)
            fail_msg("%s: was %d,%d,%s", rows.text, occ.active_blocks, occ.active_warps, text);
        checked++;
    }
    return checked;
}

static void every_case_of_the_header_is_met(void **state)
{
    (void)state;
    assert_in_range(check_file("tests/data/occupancy.csv"), 4500, 6000);
}

static void every_worked_example_of_the_lessons_is_met(void **state)
{
    (void)state;
    assert_int_equal(check_file("tests/data/occupancy_lessons.csv"), 12);
}

static void what_the_header_refuses_is_refused(void **state)
{
    struct rows rows;
    struct launch_shape shape;
    const struct device *dev;
    struct occupancy occ;

    (void)state;
    for (rows_open(&rows, "tests/data/occupancy_invalid.csv"); rows_next(&rows);) {
        bool is_unknown = strcmp(rows_text(&rows, "expect_error"), "unknown_device") == 0;
        struct err err = { 0 };

        shape = shape_of_row(&rows);
        dev = device_of_row(&rows);
        if (is_unknown != (dev == NULL))
            fail_msg("%s: is %s device", rows.text, dev ? "a" : "no");
        if (dev && (occupancy_of(dev, &shape, &occ, &err) == 0 || err.name != ERR_ValueError))
            fail_msg("%s: was accepted", rows.text);
    }
    assert_int_equal(rows.count, 16);
}

static void every_answer_of_an_h200_driver_is_met(void **state)
{
    const struct device *h200 = device_find("H200");
    struct rows rows;
    struct occupancy occ;
    struct err err = { 0 };
    int expected;

    (void)state;
    for (rows_open(&rows, "tests/data/occupancy_h200_driver.csv"); rows_next(&rows);) {
        struct launch_shape shape = {
            .block = rows_int(&rows, "block"),
            .regs = rows_int(&rows, "regs"),
            .static_bytes = rows_int(&rows, "static"),
            .dynamic_bytes = rows_int(&rows, "dyn"),
            .carveout = rows_int(&rows, "carveout"),
            .is_opted_out = !rows_int(&rows, "opt"),
        };

        expected = rows_int(&rows, "blocks");
        if (expected < 0)
            continue;
        if (occupancy_of(h200, &shape, &occ, &err) < 0 || occ.active_blocks != expected)
            fail_msg("%s: was %d %s", rows.text, occ.active_blocks, err.text);
    }
    assert_int_equal(rows.count, 3000);
}

static struct occupancy occupancy_with(const char *device, struct launch_shape shape)
{
    struct occupancy occ = { 0 };
    struct err err = { 0 };

    if (occupancy_of(device_find(device), &shape, &occ, &err) < 0)
        fail_msg("%s", err.text);
    return occ;
}

static void registers_are_given_per_warp_in_units_of_256(void **state)
{
    static const struct {
        int regs, active_warps;
    } cases[] = {
        { 0, 48 }, { 32, 48 }, { 40, 48 }, { 41, 40 }, { 48, 40 }, { 49, 32 }, { 255, 8 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct launch_shape shape = { .block = 256, .regs = cases[i].regs, .carveout = -1 };

        if (occupancy_with("L40S", shape).active_warps != cases[i].active_warps)
            fail_msg("%d registers: not %d warps", cases[i].regs, cases[i].active_warps);
    }
}

static void what_a_block_takes_is_given_after_rounding(void **state)
{
    struct occupancy occ =
        occupancy_with("L40S",
                       (struct launch_shape){
                           .block = 250, .regs = 42, .static_bytes = 8000, .carveout = -1 });

    (void)state;
    assert_int_equal(occ.warps_per_block, 8);
    assert_int_equal(occ.registers_per_warp, 1536);
    assert_int_equal(occ.registers_per_block, 12288);
    assert_int_equal(occ.shared_per_block, 9088); /* 8000 + 1024 up to 71 * 128 */
    assert_int_equal(occ.limits[OCCUPANCY_WARPS], 6);
    assert_int_equal(occ.limits[OCCUPANCY_BLOCKS], 24);
    assert_int_equal(occ.limits[OCCUPANCY_REGISTERS], 5);
    assert_int_equal(occ.limits[OCCUPANCY_SHARED], 11);
    assert_int_equal(occ.limits[OCCUPANCY_CLUSTER], OCCUPANCY_NO_LIMIT);
    assert_int_equal(occ.active_warps, 40);
    assert_true(occ.occupancy > 0.8333 && occ.occupancy < 0.8334);
}

/* Published cases that other calculators got wrong; facts and sources in docs/devices.md. */
static void known_traps_are_avoided(void **state)
{
    static const struct {
        const char *device;
        struct launch_shape shape;
        int blocks;
    } cases[] = {
        { "cc 5.2", { .block = 128, .regs = 85, .carveout = -1 }, 5 },
        { "A100", { .block = 224, .regs = 92, .carveout = -1 }, 2 },
        { "cc 8.6", { .block = 128, .regs = 32, .dynamic_bytes = 50496, .carveout = -1 }, 1 },
        { "cc 8.6", { .block = 128, .regs = 32, .dynamic_bytes = 49984, .carveout = -1 }, 2 },
        { "RTX 5090", { .block = 32, .regs = 32, .carveout = -1 }, 24 },
        { "L40S", { .block = 256, .regs = 32, .dynamic_bytes = 50 * 1024, .carveout = -1 }, 1 },
        { "L40S", { .block = 256, .regs = 32, .dynamic_bytes = 49 * 1024, .carveout = -1 }, 2 },
        { "H200", { .block = 1024, .regs = 65, .carveout = -1 }, 0 },
        { "H200", { .block = 96, .regs = 32, .carveout = -1 }, 21 },
        { "L40S", { .block = INT_MAX, .regs = INT_MAX, .carveout = -1 }, 0 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        if (occupancy_with(cases[i].device, cases[i].shape).active_blocks != cases[i].blocks)
            fail_msg("case %zu (%s, block %d): not %d blocks", i, cases[i].device,
                     cases[i].shape.block, cases[i].blocks);
}

static void a_kernel_that_did_not_opt_in_has_48_kb(void **state)
{
    struct launch_shape shape = {
        .block = 256, .regs = 32, .dynamic_bytes = 48 * 1024, .carveout = -1, .is_opted_out = true
    };

    (void)state;
    assert_int_equal(occupancy_with("L40S", shape).active_blocks, 2);
    shape.static_bytes = 1;
    assert_int_equal(occupancy_with("L40S", shape).active_blocks, 0);
    shape.is_opted_out = false;
    assert_int_equal(occupancy_with("L40S", shape).active_blocks, 2);
}

static void clusters_limit_by_their_size_alone(void **state)
{
    static const struct {
        const char *device;
        int cluster, blocks;
        int64_t clusters;
    } cases[] = {
        { "H200", 0, 8, 0 },       { "H200", 1, 8, 0 },      { "H200", 8, 8, 132 },
        { "H200", 16, 8, 66 },     { "H200", 17, 0, 0 },     { "L40S", 2, 0, 0 },
        { "RTX 5090", 8, 6, 127 }, { "RTX 5090", 16, 0, 0 }, { "cc 9.0", 8, 8, 0 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct occupancy occ =
            occupancy_with(cases[i].device, (struct launch_shape){ .block = 256,
                                                                   .regs = 32,
                                                                   .carveout = -1,
                                                                   .cluster = cases[i].cluster });

        if (occ.active_blocks != cases[i].blocks || occ.max_clusters != cases[i].clusters)
            fail_msg("%s, cluster %d: %d blocks, %lld clusters", cases[i].device, cases[i].cluster,
                     occ.active_blocks, (long long)occ.max_clusters);
        if (!cases[i].blocks)
            assert_int_equal(occ.limiters, 1 << OCCUPANCY_CLUSTER);
    }
}

static void the_best_block_has_the_most_threads_and_is_the_largest_of_equals(void **state)
{
    static const struct {
        const char *device;
        int regs, most, block, blocks;
    } cases[] = {
        { "L40S", 32, 0, 768, 2 },  { "A100", 32, 0, 1024, 2 }, { "A100", 32, 100, 64, 32 },
        { "L40S", 64, 0, 1024, 1 }, { "L40S", 48, 0, 640, 2 },  { "T4", 32, 0, 1024, 1 },
    };
    struct occupancy occ;
    struct err err = { 0 };
    int block;

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct launch_shape shape = { .regs = cases[i].regs, .carveout = -1 };

        assert_int_equal(occupancy_best_block(device_find(cases[i].device), &shape, cases[i].most,
                                              &block, &occ, &err),
                         0);
        if (block != cases[i].block || occ.active_blocks != cases[i].blocks)
            fail_msg("%s, %d registers: %d threads, %d blocks", cases[i].device, cases[i].regs,
                     block, occ.active_blocks);
    }
}

static void available_dynamic_memory_is_the_most_that_fits(void **state)
{
    static const char *const devices[] = { "P100", "V100", "T4", "A100", "L40S", "H200" };
    static const int static_bytes[] = { 0, 256, 5000 }, carveouts[] = { -1, 0, 30, 100 };
    const struct device *dev;
    struct occupancy occ;
    int64_t bytes;

    (void)state;
    for (size_t d = 0; d < COUNT(devices); d++)
        for (size_t s = 0; s < COUNT(static_bytes); s++)
            for (size_t c = 0; c < COUNT(carveouts); c++)
                for (int n = 1; n <= 8; n++) {
                    struct launch_shape shape = { .block = 128,
                                                  .regs = 32,
                                                  .static_bytes = static_bytes[s],
                                                  .carveout = carveouts[c] };
                    struct err err = { 0 };

                    dev = device_find(devices[d]);
                    if (occupancy_available_dynamic(dev, &shape, n, &bytes, &err) < 0)
                        continue;
                    shape.dynamic_bytes = bytes;
                    occ = occupancy_with(devices[d], shape);
                    if (occ.active_blocks < n)
                        fail_msg("%s static=%d carveout=%d: %d blocks with %lld bytes, not %d",
                                 devices[d], static_bytes[s], carveouts[c], occ.active_blocks,
                                 (long long)bytes, n);
                    shape.dynamic_bytes++;
                    occ = occupancy_with(devices[d], shape);
                    if (n > 1 && carveouts[c] == -1 && occ.active_blocks >= n)
                        fail_msg("%s static=%d carveout=%d: %d blocks with %lld + 1 bytes",
                                 devices[d], static_bytes[s], carveouts[c], n, (long long)bytes);
                }
}

static void available_dynamic_memory_leaves_room_for_the_system(void **state)
{
    static const struct {
        int blocks;
        int64_t bytes;
    } cases[] = { { 1, 101376 }, { 2, 50176 }, { 3, 33024 }, { 4, 24576 } };
    struct launch_shape shape = { .block = 256, .regs = 32, .carveout = -1 };
    struct err err = { 0 };
    int64_t bytes;

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(occupancy_available_dynamic(device_find("L40S"), &shape, cases[i].blocks,
                                                     &bytes, &err),
                         0);
        assert_int_equal(bytes, cases[i].bytes);
    }
    assert_int_equal(occupancy_available_dynamic(device_find("L40S"), &shape, 7, &bytes, &err), -1);
    assert_string_equal(err.text, "7 blocks do not fit on an SM: 6 do without dynamic shared "
                                  "memory");
}

static void advice_names_the_change_that_lifts_occupancy(void **state)
{
    static const struct {
        struct launch_shape shape;
        enum occupancy_change change;
        int64_t to;
        int warps;
    } cases[] = {
        { { .block = 256, .regs = 42, .carveout = -1 }, OCCUPANCY_CHANGE_REGS, 40, 48 },
        { { .block = 256, .regs = 64, .carveout = -1 }, OCCUPANCY_CHANGE_REGS, 48, 40 },
        { { .block = 32, .regs = 32, .carveout = -1 }, OCCUPANCY_CHANGE_BLOCK, 64, 48 },
        { { .block = 1024, .regs = 32, .carveout = -1 }, OCCUPANCY_CHANGE_BLOCK, 768, 48 },
        { { .block = 256, .regs = 32, .carveout = -1 }, OCCUPANCY_CHANGE_NONE, 0, 0 },
        { { .block = 256, .regs = 32, .static_bytes = 40960, .carveout = -1 },
          OCCUPANCY_CHANGE_STATIC,
          33024,
          24 },
        { { .block = 256,
            .regs = 32,
            .static_bytes = 1024,
            .dynamic_bytes = 40960,
            .carveout = -1 },
          OCCUPANCY_CHANGE_DYNAMIC,
          32000,
          24 },
        { { .block = 256, .regs = 32, .dynamic_bytes = 200000, .carveout = -1 },
          OCCUPANCY_CHANGE_DYNAMIC,
          101376,
          8 },
        { { .block = 1024, .regs = 128, .carveout = -1 }, OCCUPANCY_CHANGE_BLOCK, 512, 16 },
    };
    struct occupancy_advice advice;
    struct err err = { 0 };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(occupancy_advise(device_find("L40S"), &cases[i].shape, &advice, &err), 0);
        if (advice.change != cases[i].change || advice.to != cases[i].to ||
            advice.after.active_warps != cases[i].warps)
            fail_msg("case %zu: change %d to %lld, %d warps", i, advice.change,
                     (long long)advice.to, advice.after.active_warps);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_case_of_the_header_is_met),
        cmocka_unit_test(every_worked_example_of_the_lessons_is_met),
        cmocka_unit_test(what_the_header_refuses_is_refused),
        cmocka_unit_test(every_answer_of_an_h200_driver_is_met),
        cmocka_unit_test(registers_are_given_per_warp_in_units_of_256),
        cmocka_unit_test(what_a_block_takes_is_given_after_rounding),
        cmocka_unit_test(known_traps_are_avoided),
        cmocka_unit_test(a_kernel_that_did_not_opt_in_has_48_kb),
        cmocka_unit_test(clusters_limit_by_their_size_alone),
        cmocka_unit_test(the_best_block_has_the_most_threads_and_is_the_largest_of_equals),
        cmocka_unit_test(available_dynamic_memory_is_the_most_that_fits),
        cmocka_unit_test(available_dynamic_memory_leaves_room_for_the_system),
        cmocka_unit_test(advice_names_the_change_that_lifts_occupancy),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
