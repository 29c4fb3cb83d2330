/*
 * The device table: names lead to rows, rows agree with themselves, and a device
 * that somebody makes up must make sense.
 */
#include "model/device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void names_ignore_case_blanks_and_dashes(void **state)
{
    static const struct {
        const char *name, *found;
    } cases[] = {
        { "L40S", "L40S" },
        { "l40s", "L40S" },
        { "rtx4090", "RTX 4090" },
        { "RTX-4090", "RTX 4090" },
        { "rtx_4090", "RTX 4090" },
        { "NVIDIA GeForce RTX 4090", "RTX 4090" },
        { "Tesla T4", "T4" },
        { "NVIDIA H200", "H200" },
        { "h100", "H100 SXM" },
        { "H100 PCIe", "H100 PCIe" },
        { "NVIDIA H100 80GB HBM3", "H100 SXM" },
        { "a100", "A100 40 GB" },
        { "NVIDIA A100-SXM4-80GB", "A100 80 GB" },
        { "GB10", "DGX Spark" },
        { "cc=8.9", "cc 8.9" },
        { "cc8.9", "cc 8.9" },
        { "CC 8.9", "cc 8.9" },
        { "8.9", "cc 8.9" },
        { "sm_89", "cc 8.9" },
        { "compute_90", "cc 9.0" },
        { "12.1", "cc 12.1" },
        { "sm_121", "cc 12.1" },
        { "cc 10.3", "cc 10.3" },
    };
    const struct device *dev;

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        dev = device_find(cases[i].name);
        if (!dev || strcmp(dev->name, cases[i].found) != 0)
            fail_msg("\"%s\": %s, not %s", cases[i].name, dev ? dev->name : "nothing",
                     cases[i].found);
    }
}

static void unknown_names_find_nothing(void **state)
{
    static const char *const names[] = {
        "",
        " ",
        "L40X",
        "cc",
        "cc=",
        "cc=8",
        "8",
        "8.",
        ".9",
        "8.9.",
        "8..9",
        "sm_",
        "sm_8.",
        "cc=3.5",
        "cc=10.2",
        "13.0",
        "89.9",
        "99999999999999999999",
        "nvidia",
        "RTX",
        "-1",
        "a name so long that it does not fit in any buffer that a sane person would set aside",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++)
        if (device_find(names[i]))
            fail_msg("\"%s\" is %s", names[i], device_find(names[i])->name);
}

static void misspelt_names_are_given_the_nearest(void **state)
{
    static const struct {
        const char *name, *nearest;
    } cases[] = {
        { "L40X", "L40S" },
        { "L40", "L40S" },
        { "RTX4900", "RTX 4090" },
        { "H20", "H200" },
        { "A10O", "A100 40 GB" },
        { "cc=8.5", "cc 7.5" },
        { "jetsonorin", "Jetson AGX Orin" },
        { "rtx pro", "RTX PRO 6000 Blackwell" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *nearest = device_nearest(cases[i].name);

        if (!nearest || strcmp(nearest, cases[i].nearest) != 0)
            fail_msg("\"%s\": %s, not %s", cases[i].name, nearest ? nearest : "none",
                     cases[i].nearest);
    }
    assert_null(device_nearest("nothing like any card"));
    assert_null(device_nearest("toy"));
}

static void every_capability_has_a_row_and_every_product_its_limits(void **state)
{
    static const int capabilities[] = { 50, 52, 53, 60, 61,  62,  70,  72,  75,  80, 86,
                                        87, 88, 89, 90, 100, 101, 103, 110, 120, 121 };
    const struct device *bare, *dev;

    (void)state;
    for (size_t i = 0; i < COUNT(capabilities); i++)
        if (!device_by_cc(capabilities[i] / 10, capabilities[i] % 10))
            fail_msg("no row for %d.%d", capabilities[i] / 10, capabilities[i] % 10);
    for (size_t i = 0; i < DEVICE_COUNT; i++) {
        dev = &DEVICES[i];
        bare = device_by_cc(dev->cc_major, dev->cc_minor);
        if (!bare || bare->warps_per_sm != dev->warps_per_sm ||
            bare->blocks_per_sm != dev->blocks_per_sm || bare->shared_per_sm != dev->shared_per_sm)
            fail_msg("%s differs from its capability", dev->name);
        assert_ptr_equal(device_find(dev->name), dev);
    }
}

static void rows_agree_with_themselves(void **state)
{
    struct err err = { 0 };

    (void)state;
    for (size_t i = 0; i < DEVICE_COUNT; i++) {
        const struct device *dev = &DEVICES[i];
        int last = dev->carveout_count ? dev->carveouts_kb[dev->carveout_count - 1] * 1024 : 0;

        if (device_check(dev, &err) < 0)
            fail_msg("%s: %s", dev->name, err.text);
        if (dev->carveout_count && last != dev->shared_per_sm)
            fail_msg("%s: the largest carve-out is not all of its shared memory", dev->name);
        if (dev->cc_major >= 8 &&
            dev->shared_per_block_optin + dev->shared_reserved != dev->shared_per_sm)
            fail_msg("%s: opt-in and reservation are not all of its shared memory", dev->name);
    }
}

/* LESSONS.md F7, F10, F22, F23, F52, F88, F107. */
static void lessons_find_their_numbers(void **state)
{
    const struct device *l40s = device_find("L40S"), *a100 = device_find("A100"),
                        *h200 = device_find("H200");

    (void)state;
    assert_int_equal(l40s->sms * l40s->fp32_lanes, 18176);
    assert_int_equal(l40s->sms * l40s->threads_per_sm, 218112);
    assert_int_equal(l40s->partitions, 4);
    assert_int_equal(l40s->registers_per_sm, 65536);
    assert_int_equal(a100->sms * a100->fp32_lanes, 6912);
    assert_int_equal(a100->threads_per_sm / a100->fp32_lanes, 32);
    assert_int_equal(h200->sms, 132);
    assert_int_equal(h200->sms * h200->threads_per_sm, 270336);
}

static void a_made_up_device_must_make_sense(void **state)
{
    static const struct {
        size_t offset;
        int value;
        const char *text;
    } cases[] = {
        { offsetof(struct device, threads_per_sm), 0, "threads=0: " },
        { offsetof(struct device, threads_per_sm), 1000000, "threads=1000000: " },
        { offsetof(struct device, warps_per_sm), 49, "warps=49: " },
        { offsetof(struct device, blocks_per_sm), -4, "blocks=-4: " },
        { offsetof(struct device, partitions), 0, "partitions=0: " },
        { offsetof(struct device, registers_per_block), 65537, "block_registers=65537: " },
        { offsetof(struct device, register_unit), 0, "register_unit=0: " },
        { offsetof(struct device, shared_per_block_optin), 102400, "block_shared=102400: " },
        { offsetof(struct device, shared_unit), 0, "shared_unit=0: " },
        { offsetof(struct device, sms), -1, "sms=-1: " },
    };
    struct device dev;

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct err err = { 0 };

        dev = *device_find("L40S");
        *(int *)((char *)&dev + cases[i].offset) = cases[i].value;
        if (device_check(&dev, &err) == 0 || err.name != ERR_ValueError ||
            strncmp(err.text, cases[i].text, strlen(cases[i].text)) != 0)
            fail_msg("%s... was \"%s\"", cases[i].text, err.text);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_ignore_case_blanks_and_dashes),
        cmocka_unit_test(unknown_names_find_nothing),
        cmocka_unit_test(misspelt_names_are_given_the_nearest),
        cmocka_unit_test(every_capability_has_a_row_and_every_product_its_limits),
        cmocka_unit_test(rows_agree_with_themselves),
        cmocka_unit_test(lessons_find_their_numbers),
        cmocka_unit_test(a_made_up_device_must_make_sense),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
