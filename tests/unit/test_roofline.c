/*
 * The roofline: peaks as the vendors state them, the ridge, and both sides of it
 * (LESSONS.md F48).
 */
#include "model/roofline.h"
#include "tests/unit/rows.h"

#include <math.h>

static void peaks_are_those_of_the_data_sheets(void **state)
{
    static const struct {
        const char *device;
        enum roofline_type type;
        double tflops; /* as stated, to the digits given */
    } cases[] = {
        { "H200", ROOFLINE_FP32, 66.9 }, { "H200", ROOFLINE_FP64, 33.5 },
        { "A100", ROOFLINE_FP32, 19.5 }, { "A100", ROOFLINE_FP64, 9.7 },
        { "L40S", ROOFLINE_FP32, 91.6 }, { "V100", ROOFLINE_FP64, 7.8 },
        { "T4", ROOFLINE_FP32, 8.1 },    { "V100", ROOFLINE_FP16, 31.3 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_float_equal(roofline_peak(device_find(cases[i].device), cases[i].type) * 1e-12,
                           cases[i].tflops, 0.06);
    assert_float_equal(roofline_peak(device_find("B200"), ROOFLINE_FP64), 0, 0);
    assert_float_equal(roofline_peak(device_find("cc=9.0"), ROOFLINE_FP32), 0, 0);
}

static void the_ridge_parts_memory_from_compute(void **state)
{
    const struct device *h200 = device_find("H200");
    struct roofline roof = { roofline_peak(h200, ROOFLINE_FP32), 4.8e12 };
    struct roofline_point p;

    (void)state;
    assert_float_equal(roof.peak / roof.bandwidth, 14, 0.1);
    assert_int_equal(roofline_at(&roof, 2, 12, &p, NULL), 0);
    assert_true(p.is_memory_bound);
    assert_float_equal(p.attainable, 4.8e12 / 6, 1);
    assert_float_equal(p.least_s, 12 / 4.8e12, 1e-18);
    assert_int_equal(roofline_at(&roof, 200, 12, &p, NULL), 0);
    assert_false(p.is_memory_bound);
    assert_float_equal(p.attainable, roof.peak, 1e-3 * roof.peak);
    assert_int_equal(roofline_at(&roof, 200, 0, &p, NULL), 0);
    assert_true(isinf(p.intensity));
    assert_int_equal(roofline_at(&roof, 0, 12, &p, NULL), 0);
    assert_float_equal(p.attainable, 0, 0);
}

static void what_is_unknown_is_refused(void **state)
{
    struct roofline none = { 0, 1e12 }, roof = { 1e12, 1e12 };
    struct roofline_point p;
    struct err err = { 0 };

    (void)state;
    assert_int_equal(roofline_at(&none, 1, 1, &p, &err), -1);
    assert_string_equal(err.text, "the device's peak or bandwidth is unknown");
    err = (struct err){ 0 };
    assert_int_equal(roofline_at(&roof, 0, 0, &p, &err), -1);
    assert_string_equal(err.text, "flops=0 bytes=0: there is nothing to do");
    assert_int_equal(roofline_type_find("tensor"), ROOFLINE_TENSOR);
    assert_int_equal(roofline_type_find("fp8"), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(peaks_are_those_of_the_data_sheets),
        cmocka_unit_test(the_ridge_parts_memory_from_compute),
        cmocka_unit_test(what_is_unknown_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
