/*
 * Expressions: what a value is, and what is refused instead of being wrong.
 */
#include "tests/unit/cell_harness.h"

#include <stdio.h>

static void arithmetic_is_that_of_c(void **state)
{
    static const struct {
        const char *expr, *prints;
    } cases[] = {
        { "2 + 3 * 4", "14\n" },
        { "(2 + 3) * 4", "20\n" },
        { "7 / 2", "3\n" },
        { "-7 / 2", "-3\n" },
        { "-7 % 3", "-1\n" },
        { "10%3", "1\n" },
        { "7 / 2.0", "3.5\n" },
        { "0.1 + 0.2", "0.30000000000000004\n" },
        { "1 << 4 | 1", "17\n" },
        { "6 & 3 ^ 1", "3\n" },
        { "~0", "-1\n" },
        { "!3, !0", "false true\n" },
        { "1 < 2 && 2 < 1 || 1", "true\n" },
        { "1 ? 2 : 3", "2\n" },
        { "0 ? 2 : 0 ? 3 : 4", "4\n" },
        { "0x1F, 16K, 1.5K, 2M", "31 16384 1536 2097152\n" },
        { "1.f / 4, 2.F", "0.25 2\n" },
        { "static_cast<int>(3.7), static_cast<unsigned int>(2.5) / 2", "3 1\n" },
        { "static_cast<float>(1) / 2", "0.5\n" },
        { "std::max(1, 2), std::min<int>(3, 4)", "2 3\n" },
        { "sqrtf(16), fabs(-2.5), fminf(1.5, 2)", "4 2.5 1.5\n" },
        { "sizeof(unsigned char), sizeof(unsigned long long), sizeof(float *)", "1 8 8\n" },
        { "INT_MAX, FLT_MAX > 3e38, -INFINITY", "2147483647 true -inf\n" },
        { "50%", "0.5\n" },
        { "0.1us, 864GB/s, 1.98GHz", "1e-07 864000000000 1980000000\n" },
        { "1e3, 1.5e-3, 1e300", "1000 0.0015 1e+300\n" },
        { "1 +- 3", "-2\n" },
        { "9223372036854775807", "9223372036854775807\n" },
        { "1/0.0, -1/0.0, 0/0.0", "inf -inf nan\n" },
        { "\"a b\", 'c'", "a b c\n" },
        { "true, no, null", "true false null\n" },
        { "0 && 1/0, 1 || 1/0", "false true\n" },
    };
    struct harness *h = *state;
    char cell[200];

    for (size_t i = 0; i < COUNT(cases); i++) {
        snprintf(cell, sizeof(cell), "%%print %s", cases[i].expr);
        assert_prints(h, cell, cases[i].prints);
    }
}

static void lists_and_ranges(void **state)
{
    static const struct {
        const char *expr, *prints;
    } cases[] = {
        { "[1, 2.5, \"x\"]", "[1, 2.5, x]\n" },
        { "1..5", "[1, 2, 3, 4, 5]\n" },
        { "32..128:32", "[32, 64, 96, 128]\n" },
        { "1..64:*2", "[1, 2, 4, 8, 16, 32, 64]\n" },
        { "0.0..1.0:0.25", "[0, 0.25, 0.5, 0.75, 1]\n" },
        { "count(0.0..1.0:0.1)", "11\n" },
        { "[1, 8..10]", "[1, 8, 9, 10]\n" },
        { "(16,16)", "(16,16)\n" },
        { "(1,2,3).y", "2\n" },
        { "[5,6,7][1]", "6\n" },
        { "[5,6,7][1..2]", "[6, 7]\n" },
        { "sum([1,2,3]), mean([1,2]), min([3,1]), max(1,5,2), count([])", "6 1.5 1 5 0\n" },
        { "maxerr([1,2],[1,2.5]), close(1.0, 1.000001), same([1,2],[1,2])", "0.5 true true\n" },
        { "ceil(1.2), floor(-1.2), round(2.5), abs(-3), sqrt(9), log2(8), clamp(9,0,5)",
          "2 -2 3 3 3 3 5\n" },
        { "9223372036854775806..9223372036854775807",
          "[9223372036854775806, 9223372036854775807]\n" },
    };
    struct harness *h = *state;
    char cell[200];

    for (size_t i = 0; i < COUNT(cases); i++) {
        snprintf(cell, sizeof(cell), "%%print %s", cases[i].expr);
        assert_prints(h, cell, cases[i].prints);
    }
}

static void comparisons_and_tolerances(void **state)
{
    static const struct {
        const char *expr, *prints;
    } cases[] = {
        { "1 == 1.0, 1 != 2", "true true\n" },
        { "3 == 3.4 +- 0.5, 3 == 3.6 +- 0.5", "true false\n" },
        { "3 == 3.4 \xC2\xB1 0.5", "true\n" },
        { "99 == 100 +- 1%, 98.9 == 100 +- 1%", "true false\n" },
        { "99 == 100 +- 0.5 + 0.5", "true\n" },
        { "0/0.0 == 0/0.0, 0/0.0 == 1 +- 5, 0/0.0 < 1", "false false false\n" },
        { "\"a\" == \"a\", \"a\" != \"b\"", "true true\n" },
        { "[1,2] == [1,2], [1,2] == [1,3], [1,2] != [1,3]", "true false true\n" },
        { "[1,2,3] <= 3, [1,2,3] < 3", "true false\n" },
        { "(4,4) == (4,4,1)", "true\n" },
    };
    struct harness *h = *state;
    char cell[200];

    for (size_t i = 0; i < COUNT(cases); i++) {
        snprintf(cell, sizeof(cell), "%%print %s", cases[i].expr);
        assert_prints(h, cell, cases[i].prints);
    }
}

static void what_has_no_right_value_is_an_error(void **state)
{
    static const struct {
        const char *expr, *name, *part;
    } cases[] = {
        { "9223372036854775807 + 1", "ValueError", "overflows a 64-bit integer" },
        { "-9223372036854775807 - 2", "ValueError", "overflows" },
        { "4611686018427387904 * 2", "ValueError", "overflows" },
        { "9223372036854775808", "ValueError", "does not fit in 64 bits" },
        { "1 / 0", "ValueError", "divides by zero" },
        { "1 % 0", "ValueError", "divides by zero" },
        { "1 << 64", "ValueError", "0 to 63" },
        { "1 << -1", "ValueError", "0 to 63" },
        { "1 << 63", "ValueError", "overflows" },
        { "(-9223372036854775807 - 1) / -1", "ValueError", "overflows" },
        { "1..1000001", "ValueError", "more than 1000000 points" },
        { "1..0", "ValueError", "a range goes upward" },
        { "1..5:0", "ValueError", "a step is above 0" },
        { "1..5:*1", "ValueError", "a factor is above 1" },
        { "nowhere", "NameError", "no variable is called nowhere" },
        { "nosuch(1)", "NameError", "no function is called nosuch" },
        { "sqrt()", "UsageError", "0 arguments" },
        { "\"a\" + 1", "UsageError", "is a text, not a number" },
        { "[1][3]", "ValueError", "1 elements" },
        { "1 +", "SyntaxError", "a value is missing" },
        { "(1", "SyntaxError", "never closed" },
        { "\"abc", "SyntaxError", "no closing" },
        { "1 2", "SyntaxError", "where a comma should" },
        { "0x", "SyntaxError", "hexadecimal" },
        { "12abc", "SyntaxError", "is not a number" },
        { "\xE2\x80\x9Cx\xE2\x80\x9D", "SyntaxError", "is not a sign" },
        { "1 < 2 +- 1", "SyntaxError", "+- gives a tolerance" },
        { "1 == 2 +- -1", "ValueError", "a tolerance is 0 or more" },
        { "1.5 << 2", "UsageError", "for integers" },
        { "null + 1", "UsageError", "is null" },
    };
    struct harness *h = *state;
    char cell[200];

    for (size_t i = 0; i < COUNT(cases); i++) {
        snprintf(cell, sizeof(cell), "%%print %s", cases[i].expr);
        assert_fails(h, cell, cases[i].name, cases[i].part);
        assert_true(h->report.traceback_lines >= 3);
    }
}

static void variables_live_from_cell_to_cell(void **state)
{
    struct harness *h = *state;

    assert_prints(h, "n = 1000\n%let m = n * 2", "");
    assert_prints(h, "%print n, m", "1000 2000\n");
    assert_prints(h, "n=7\n%print n", "7\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(arithmetic_is_that_of_c, harness_set_up, harness_tear_down),
        cmocka_unit_test_setup_teardown(lists_and_ranges, harness_set_up, harness_tear_down),
        cmocka_unit_test_setup_teardown(comparisons_and_tolerances, harness_set_up,
                                        harness_tear_down),
        cmocka_unit_test_setup_teardown(what_has_no_right_value_is_an_error, harness_set_up,
                                        harness_tear_down),
        cmocka_unit_test_setup_teardown(variables_live_from_cell_to_cell, harness_set_up,
                                        harness_tear_down),
    };

    return cmocka_run_group_tests_name("expr", tests, NULL, NULL);
}
