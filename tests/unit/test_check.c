/*
 * %check, %score and %%grade: what passes, what a failure says, what a grader gets.
 */
#include "tests/unit/cell_harness.h"

#include <stdio.h>
#include <string.h>

static void a_check_that_holds_is_one_line(void **state)
{
    struct harness *h = *state;

    assert_prints(h, "n = 5\n%check n == 5", "ok    n == 5\n");
    assert_prints(h, "%check n == 5.4 +- 0.5 label=\"near\"", "ok    near\n");
    assert_prints(h, "%check n > 1 && n < 9, points=2", "ok    n > 1 && n < 9\n");
    assert_prints(h, "%check close([1,2],[1,2.0000001])", "ok    close([1,2],[1,2.0000001])\n");
}

static void a_failure_says_both_sides_and_where(void **state)
{
    static const struct {
        const char *check, *says;
    } cases[] = {
        { "n == 6", "n == 6: got 5, expected 6" },
        { "n < 3 label=\"small\"", "small: got 5, expected less than 3" },
        { "n == 7 +- 1", "n == 7 +- 1: got 5, expected 7 +- 1" },
        { "n > 1 && n > 8", "n > 8: got 5, expected more than 8" },
        { "[1,2,3] == [1,2,4]", "[1,2,3][2]: got 3, expected 4; 1 of 3 differ, first 2" },
        { "x <= 2", "x[2]: got 3, expected at most 2; 1 of 3 differ, first 2" },
        { "n == 6 hide_expected=yes", "n: got 5, which is not it" },
        { "close(n, 6)", "close(n, 6): it is false" },
        { "0", "0: it is 0" },
        { "0/0.0 != 1", "nan never passes" },
        { "max([1, 0/0.0]) != 1", "nan never passes" },
    };
    struct harness *h = *state;
    char cell[200];

    assert_prints(h, "n = 5\nx = [1,2,3]", "");
    for (size_t i = 0; i < COUNT(cases); i++) {
        snprintf(cell, sizeof(cell), "%%check %s", cases[i].check);
        assert_fails(h, cell, "CheckFailed", cases[i].says);
    }
}

static void a_hidden_answer_is_nowhere_in_the_report(void **state)
{
    /* A student's unset variable, or one of another type, shows no more than a wrong value. */
    static const struct {
        const char *check, *name, *says;
    } cases[] = {
        { "n == 987", "CheckFailed", "n: got 5, which is not it" },
        { "[n, 1] == [987, 1]", "CheckFailed", "[n, 1][0] is 5; 1 of 2 differ, first 0" },
        { "unset == 987", "NameError", "no variable is called unset" },
        { "n[3] == 987", "UsageError", "n is an int: only lists have elements" },
        { "n == \"987\"", "UsageError", "the check cannot be decided" },
        { "[n] == [987, 1]", "UsageError", "the check cannot be decided" },
        { "close(n, 987, \"\")", "UsageError", "the check cannot be decided" },
        { "n == 987/0", "ValueError", "the check cannot be decided" },
        { "n == 987 987", "SyntaxError", "the check cannot be decided" },
    };
    struct harness *h = *state;
    char cell[200];

    assert_prints(h, "n = 5", "");
    for (size_t i = 0; i < COUNT(cases); i++) {
        snprintf(cell, sizeof(cell), "%%check %s hide_expected=yes", cases[i].check);
        assert_fails(h, cell, cases[i].name, cases[i].says);
        assert_null(strstr(h->report.evalue, "987"));
        for (size_t j = 0; j < h->report.traceback_lines; j++)
            assert_null(strstr(h->report.traceback[j], "987"));
    }
    assert_prints(h,
                  "%%grade\n%check [n] == [987] hide_expected=yes\n"
                  "%check n == \"987\" hide_expected=yes\n%check 1 == 1",
                  "");
    assert_null(strstr(buf_text(&h->display), "987"));
}

static void a_label_is_one_line(void **state)
{
    struct harness *h = *state;

    assert_fails(h, "%check 1 == 2 label=\"a\\nb\"", "CheckFailed", "a b: got 1, expected 2");
    assert_prints(h, "%check 1 == 1 label=\"a\\nb\"", "ok    a b\n");
}

static void what_cannot_be_decided_is_no_pass(void **state)
{
    struct harness *h = *state;

    assert_fails(h, "%check nowhere == 1", "NameError", "nowhere");
    assert_fails(h, "%check null == 1", "UsageError", "null");
    assert_fails(h, "n = 1\n%check n = 1", "SyntaxError", "= stands where the check should end");
    assert_fails(h, "%check n == 1 lable=\"x\"", "SyntaxError", "lable");
}

static void a_sealed_answer_is_checked_without_being_seen(void **state)
{
    struct harness *h = *state;
    char cell[300];

    assert_int_equal(harness_run(h, "%check 40.0 + 2 sealed=new"), 0);
    assert_memory_equal(buf_text(&h->out), "sealed=\"wb1$", 12);
    snprintf(cell, sizeof(cell), "%%check 42 %s", buf_text(&h->out));
    assert_prints(h, cell, "ok    42\n");
    cell[8] = '3';
    assert_fails(h, cell, "CheckFailed", "43 is not the sealed answer");
    assert_fails(h, "%check 1 sealed=\"abc\"", "UsageError", "no sealed answer");
}

static void a_score_is_the_result(void **state)
{
    struct harness *h = *state;

    assert_prints(h, "%score 2.5 of=4", "");
    assert_string_equal(buf_text(&h->result), "2.5\n");
    assert_prints(h, "%score 1 + 2", "");
    assert_string_equal(buf_text(&h->result), "3\n");
    assert_fails(h, "%score 5 of=4", "ValueError", "above of=4");
    assert_fails(h, "%score -1", "ValueError", "from 0 up");
    assert_fails(h, "%score 0/0.0", "ValueError", "nan");
}

static void a_grade_goes_on_after_a_failure(void **state)
{
    struct harness *h = *state;

    assert_prints(h,
                  "%%grade points=6\nn = 5\n%check n == 5 points=2\n%check n == 6 points=3 "
                  "hint=\"count again\"\n%check missing > 1\n",
                  "");
    assert_string_equal(buf_text(&h->result), "2\n");
    assert_non_null(strstr(buf_text(&h->display), "2 of 6 points: 1 of 3 checks hold."));
    assert_non_null(strstr(buf_text(&h->display), "count again"));
    assert_non_null(strstr(buf_text(&h->display), "NameError"));
}

static void a_grade_of_nothing_is_a_failure(void **state)
{
    struct harness *h = *state;

    assert_fails(h, "%%grade\n%check 1 == 2", "CheckFailed", "0 of 1 points");
    assert_string_equal(buf_text(&h->result), "");
    assert_non_null(strstr(buf_text(&h->display), "0 of 1 points"));
    assert_fails(h, "%%grade points=1\n%check 1\n%check 2", "UsageError", "2 points together");
    assert_fails(h, "%%grade\nn = 5", "UsageError", "no check");
    assert_prints(h, "%%grade\n%score 1 of=2\n%check 1", "");
    assert_string_equal(buf_text(&h->result), "2\n");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, harness_set_up, harness_tear_down)
    const struct CMUnitTest tests[] = {
        T(a_check_that_holds_is_one_line),
        T(a_failure_says_both_sides_and_where),
        T(a_hidden_answer_is_nowhere_in_the_report),
        T(a_label_is_one_line),
        T(what_cannot_be_decided_is_no_pass),
        T(a_sealed_answer_is_checked_without_being_seen),
        T(a_score_is_the_result),
        T(a_grade_goes_on_after_a_failure),
        T(a_grade_of_nothing_is_a_failure),
    };

    return cmocka_run_group_tests_name("check", tests, NULL, NULL);
}
