/*
 * Experiments: rows and kernel files agree, wrong keys are named, and on the model every curve has
 * the shape that its kernel file promises: knees, plateaus, slopes. That results are right is part
 * of each run: every word is compared with the host's.
 */
#include "kernels/experiment.h"

#include "tests/unit/cell_harness.h"

#include <math.h>

static void every_row_is_complete(void **state)
{
    (void)state;
    for (size_t i = 0; i < EXPERIMENT_COUNT; i++) {
        const struct experiment *e = EXPERIMENTS[i];

        assert_ptr_equal(experiment_find(e->name), e);
        assert_true(strlen(e->question) > 0 && strlen(e->teaches) > 0 && strlen(e->left_out) > 0);
        assert_true(e->axis.count > 0 && e->axis.count <= EXPERIMENT_MAX_VALUES);
        assert_true(e->series.count <= EXPERIMENT_MAX_SERIES);
        assert_true(!e->formula == !e->closed_form);
        assert_true(e->goal_percent > 0);
        for (size_t k = 0; k < e->axis.count; k++)
            assert_in_range(e->axis.values[k], e->axis.min, e->axis.max);
    }
    assert_null(experiment_find("nothing"));
}

/* What each point launches by itself is in the kernel file, as an extern "C" kernel or a macro. */
static void every_point_is_planned_or_says_why_not(void **state)
{
    (void)state;
    for (size_t i = 0; i < EXPERIMENT_COUNT; i++)
        for (size_t k = 0; k < EXPERIMENTS[i]->axis.count; k++) {
            const struct experiment *e = EXPERIMENTS[i];
            const struct device *device = device_find("H200");
            struct experiment_point p = { .x = e->axis.values[k],
                                          .series = e->series.count ? e->series.values[0] : 0,
                                          .device = device,
                                          .costs = costs_of(device) };
            struct experiment_launch l = { .grid = { 1, 1, 1 }, .block = { 1, 1, 1 } };

            e->plan(&p, &l);
            assert_true(l.skipped[0] || l.kernel[0]);
            assert_true(l.skipped[0] ||
                        (l.out_words > 0 && l.argument_count <= EXPERIMENT_MAX_ARGUMENTS));
            if (e->formula)
                assert_false(isnan(e->formula(&p)));
        }
}

static void the_mean_error_is_over_points_that_both_have(void **state)
{
    const double a[] = { 11, (double)NAN, 8, 5 }, b[] = { 10, 3, 10, 0 };

    (void)state;
    assert_true(fabs(experiment_error(a, b, 3) - 15) < 1e-9); /* 10 % and 20 % */
    assert_true(fabs(experiment_error(a, b, 4) - 15) < 1e-9); /* nothing is a percentage of 0 */
    assert_true(isnan(experiment_error(a + 1, b + 1, 1)));
}

/* A line, and what must hold of its points: series by series, each in the order of the axis. */
static const struct {
    const char *run, *checks[4];
} SHAPES[] = {
    { "%run chase device=H200 footprint=[16K,1M,64M] -> t",
      { "t.points[0].modelled.value < 60", "t.points[1].modelled.value > 200",
        "t.points[1].modelled.value < 400", "t.points[2].modelled.value > 500" } },
    { "%run policy device=H200 warps=[1,2,16] issue=8 -> t",
      { "t.points[1].modelled.value == 2 * t.points[0].modelled.value +- 2%",
        "t.points[2].modelled.value > 0.9", "t.points[2].modelled.value <= 1",
        "t.points[2].closed_form == 1" } },
    { "%run ilp device=H200 warps=[1,4] chains=[1,4] -> t",
      { "t.points[0].modelled.value == 0.25 +- 3%", "t.points[1].modelled.value > 0.9",
        "t.points[2].modelled.value > 0.85",
        "t.points[3].modelled.value >= t.points[2].modelled.value" } },
    { "%run units device=H200 unit=[fp32,fp64,sfu] -> t",
      { "t.points[1].modelled.value == 2 * t.points[0].modelled.value +- 15%",
        "t.points[3].modelled.value < 1.2", "t.points[4].modelled.value == 2 +- 5%",
        "t.points[5].modelled.value == 8 +- 5%" } },
    { "%run order device=H200 warps=[1,8] -> t",
      { "t.points[0].modelled.value < 0.9 * t.points[2].modelled.value",
        "t.points[1].modelled.value < 0.9 * t.points[3].modelled.value",
        "t.points[3].modelled.value > 0.9", "t.points[0].closed_form == 0.8" } },
    { "%run predication device=H200 body=[1,128] -> t",
      { "t.points[0].modelled.value < 1.2 * t.points[2].modelled.value",
        "t.points[1].modelled.value == 1.9 * t.points[3].modelled.value +- 6%",
        "t.points[0].registers > 0", "t.points[1].correct" } },
    { "%run trips device=H200 spread=[0,3,6] -> t",
      { "t.points[1].modelled.value == 1.5 * t.points[0].modelled.value +- 3%",
        "t.points[2].modelled.value == 2 * t.points[0].modelled.value +- 3%",
        "t.points[2].closed_form == 12", "t.points[0].correct" } },
    { "%run nested device=H200 depth=[0,1,5,7] -> t",
      { "t.points[1].modelled.value == 2 * t.points[0].modelled.value +- 4%",
        "t.points[2].modelled.value == 32 * t.points[0].modelled.value +- 4%",
        "t.points[3].modelled.value == t.points[2].modelled.value +- 2%",
        "t.points[3].closed_form == 32" } },
    { "%run banks device=H200 stride=[1,2,3,32] -> t",
      { "t.points[2].modelled.value == t.points[0].modelled.value",
        "t.points[3].modelled.value > t.points[0].modelled.value + 31",
        "t.points[7].modelled.value == 32 +- 2%",
        "t.points[5].modelled.value == 2 * t.points[4].modelled.value +- 10%" } },
    { "%run barrier device=H200 warps=[1,16,32] -> t",
      { "t.points[1].modelled.value > t.points[0].modelled.value + 15",
        "t.points[2].modelled.value > t.points[1].modelled.value + 15",
        "t.points[0].modelled.value < 40", "t.points[2].correct" } },
    { "%run its device=H200 paths=[1,8] -> t",
      { "t.points[1].modelled.value > 4 * t.points[0].modelled.value",
        "t.points[2].modelled.value > 4 * t.points[0].modelled.value",
        "t.points[3].closed_form == 8 * t.points[2].closed_form", "t.points[3].correct" } },
};

static void curves_have_the_shape_that_they_teach(void **state)
{
    struct harness *h = *state;

    for (size_t i = 0; i < COUNT(SHAPES); i++) {
        if (harness_run(h, SHAPES[i].run) < 0) {
            harness_print_report(h);
            fail_msg("%s", SHAPES[i].run);
        }
        for (size_t k = 0; k < COUNT(SHAPES[i].checks); k++) {
            char line[160];

            snprintf(line, sizeof(line), "%%check %s", SHAPES[i].checks[k]);
            if (harness_run(h, line) < 0) {
                harness_print_report(h);
                fail_msg("%s: %s", SHAPES[i].run, line);
            }
        }
    }
}

static void what_is_modelled_is_never_called_measured(void **state)
{
    struct harness *h = *state;

    assert_int_equal(harness_run(h, "%run ilp device=H200 warps=[1,4] chains=1 -> t"), 0);
    assert_non_null(strstr(buf_text(&h->display), "Modelled: "));
    assert_null(strstr(buf_text(&h->display), "measured"));
    assert_int_equal(harness_run(h, "%check t.mape == 0"), -1);
    assert_string_equal(h->report.ename, "UsageError"); /* null: nothing was measured */
}

static void a_key_that_an_experiment_does_not_have_is_named(void **state)
{
    struct harness *h = *state;

    assert_fails(h, "%run barrier chains=2", "UsageError", "its keys are warps=");
    assert_fails(h, "%run units unit=fp23", "ValueError", "the nearest is fp32");
    assert_fails(h, "%run barrier warps=33", "ValueError", "barrier sweeps 1 to 32");
    assert_fails(h, "%run barier", "NameError", "barrier is the nearest");
}

static void a_point_that_cannot_be_is_skipped_with_its_reason(void **state)
{
    struct harness *h = *state;

    assert_int_equal(harness_run(h, "%run policy device=H200 warps=1 issue=[8,9] -> t"), 0);
    assert_non_null(strstr(buf_text(&h->display), "issue=9: there are"));
    assert_int_equal(harness_run(h, "%check t.points[0].correct"), 0);
}

static void sources_are_no_wider_than_a_page(void **state)
{
    struct harness *h = *state;

    for (size_t i = 0; i < EXPERIMENT_COUNT; i++) {
        char code[80];

        snprintf(code, sizeof(code), "%%source %s", EXPERIMENTS[i]->name);
        assert_int_equal(harness_run(h, code), 0);
        for (const char *l = buf_text(&h->out); *l; l += strcspn(l, "\n"), l += *l == '\n')
            if (strcspn(l, "\n") > 83)
                fail_msg("%s: %.*s", EXPERIMENTS[i]->name, (int)strcspn(l, "\n"), l);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_complete),
        cmocka_unit_test(every_point_is_planned_or_says_why_not),
        cmocka_unit_test(the_mean_error_is_over_points_that_both_have),
        cmocka_unit_test_setup_teardown(curves_have_the_shape_that_they_teach, harness_set_up,
                                        harness_tear_down),
        cmocka_unit_test_setup_teardown(what_is_modelled_is_never_called_measured, harness_set_up,
                                        harness_tear_down),
        cmocka_unit_test_setup_teardown(a_key_that_an_experiment_does_not_have_is_named,
                                        harness_set_up, harness_tear_down),
        cmocka_unit_test_setup_teardown(a_point_that_cannot_be_is_skipped_with_its_reason,
                                        harness_set_up, harness_tear_down),
        cmocka_unit_test_setup_teardown(sources_are_no_wider_than_a_page, harness_set_up,
                                        harness_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
