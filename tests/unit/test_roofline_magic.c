/*
 * %roofline as a cell sees it: fields, words, and what has no roof refused.
 */
#include "tests/unit/cell_harness.h"

#include "cells/render/text.h"

static void fields_are_as_documented(void **state)
{
    static const char *const cells[] = {
        "%roofline device=H200\n%check _.ridge == 13.94 +- 0.01\n%check _.bandwidth_gbs == 4800\n"
        "%check _.type == \"fp32\"\n%check _.device.source == \"model\"",
        "%roofline device=H200 flops=100 bytes=100\n%check _.kernel.bound == \"memory\"\n"
        "%check _.kernel.intensity == 1\n%check _.kernel.attainable_gflops == 4800 +- 0.001",
        "%roofline device=A100 type=fp64 flops=1e9 bytes=1e7 time_us=200\n"
        "%check _.kernel.bound == \"compute\"\n%check _.kernel.achieved_gflops == 5000 +- 0.001\n"
        "%check _.kernel.fraction == _.kernel.least_time_us / 200 +- 0.000001",
        "%roofline device=L40S type=tensor peak=362e12\n%check _.peak_gflops == 362000",
        "%roofline device=H200 peak=42.4e12 bandwidth=3.76TB/s\n%check _.ridge == 11.28 +- 0.01",
    };

    harness_passes(*state, cells, COUNT(cells));
}

static void what_has_no_roof_is_refused(void **state)
{
    static const struct harness_failure cases[] = {
        { "%roofline device=L40S type=tensor", "ValueError", "the tensor rate of L40S is unknown" },
        { "%roofline device=cc=9.0", "ValueError", "the fp32 rate of cc 9.0 is unknown" },
        { "%roofline device=TX2", "ValueError", "the bandwidth of Jetson TX2 is unknown" },
        { "%roofline peak=3GB/s", "UsageError", "peak=3GB/s: not in this unit" },
        { "%roofline flops=1ms bytes=1", "UsageError", "flops=1ms: not in this unit" },
        { "%roofline time_us=3", "UsageError", "time_us= belongs to a kernel" },
        { "%roofline flops=3", "UsageError", "bytes= is missing" },
        { "%roofline bytes=3", "UsageError", "flops= is missing" },
        { "%roofline flops=0 bytes=0", "ValueError", "there is nothing to do" },
        { "%roofline flops=-1", "ValueError", "flops=-1: flops is 0 to" },
        { "%roofline nosuch flops=1", "NameError", "nosuch is no result of one launch" },
        { "o = %occupancy\n%roofline o flops=1", "NameError", "o is no result of one launch" },
        { "%roofline type=fp8", "UsageError", "type=fp8 is unknown" },
    };
    struct harness *h = *state;

    harness_fails(h, cases, COUNT(cases));
}

static void tables_say_what_they_should(void **state)
{
    static const char *const cases[][2] = {
        { "%roofline device=H200", "Ridge at 13.94 FLOP a byte: 66.91 TFLOP/s over 4,800 GB/s." },
        { "%roofline device=H200 flops=1 bytes=6",
          "At most 800 GFLOP/s: 0.1667 FLOP a byte is below the ridge, 13.94. Bound: memory." },
        { "%roofline device=H200 flops=1e9 bytes=1e7 time_us=20",
          "It took 20 us (as said): 74.7 % of what the roof allows." },
        { "%roofline device=H200 flops=1e9 bytes=1e7 time_us=2",
          "It took 2 us, less than the roof allows: caches served bytes, or a number is wrong." },
        { "%roofline device=H200 flops=1e9 bytes=0", "At most 66.91 TFLOP/s: it moves no bytes." },
        { "%roofline device=\"RTX PRO 6000 Blackwell\" flops=123456789 bytes=98765",
          "fewer operations, or a faster type of them" },
    };
    struct harness *h = *state;

    for (size_t i = 0; i < COUNT(cases); i++) {
        harness_must_run(h, cases[i][0]);
        if (!strstr(buf_text(&h->display), cases[i][1]))
            fail_msg("%s lacks \"%s\":\n%s", cases[i][0], cases[i][1], buf_text(&h->display));
        for (const char *line = buf_text(&h->display); *line;) {
            size_t n = strcspn(line, "\n");

            if (text_columns(line, n) > TEXT_COLUMNS)
                fail_msg("%s: too wide: %.*s", cases[i][0], (int)n, line);
            line += n + (line[n] == '\n');
        }
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(fields_are_as_documented, harness_set_up,
                                        harness_tear_down),
        cmocka_unit_test_setup_teardown(what_has_no_roof_is_refused, harness_set_up,
                                        harness_tear_down),
        cmocka_unit_test_setup_teardown(tables_say_what_they_should, harness_set_up,
                                        harness_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
