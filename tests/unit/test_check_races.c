/* Shared memory: mistakes are named with both lines, and right programs raise no alarm. */
#include "tests/unit/ptx_rig.h"

static void run(struct rig *rig, const char *kernel, unsigned block, bool is_y_only, int *rc)
{
    struct {
        uint64_t x, y;
        int n;
    } p = { .n = 3 };
    uint64_t y_only;

    rig_load_sample(rig, "races.opt");
    rig_buffer(rig, 4096, &p.x);
    rig_buffer(rig, 4096, &p.y);
    for (int i = 0; i < 1024; i++)
        ((int *)rig->buffers[0].data)[i] = i;
    y_only = p.y;
    *rc = rig_try(rig, kernel, 1, block, is_y_only ? (const void *)&y_only : &p);
}

static void a_race_names_both_lines_and_threads(void **state)
{
    static const struct {
        const char *kernel;
        unsigned block;
        bool is_y_only;
        int first, second; /* lines, in any order */
        const char *what;
    } cases[] = {
        { "reverse_bad", 256, false, 6, 7, "__syncthreads() after line 6" },
        { "sum_bad", 256, false, 23, 23, "atomic" },
        { "tile_bad", 64, false, 34, 36, "__syncthreads() after line 34" },
        { "warp_error", 64, false, 70, 74, "__syncwarp()" },
        { "winner", 64, true, 136, 136, "different values" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct rig rig;
        int rc, low, high;

        run(&rig, cases[i].kernel, cases[i].block, cases[i].is_y_only, &rc);
        if (rc == 0 || rig.err.name != ERR_RaceFault || !strstr(rig.err.detail, cases[i].what))
            fail_msg("%s: %s\n%s", cases[i].kernel, rig.err.text,
                     rig.err.detail ? rig.err.detail : "no fault");
        low = rig.fault.line < rig.fault.other.line ? rig.fault.line : rig.fault.other.line;
        high = rig.fault.line < rig.fault.other.line ? rig.fault.other.line : rig.fault.line;
        assert_true(rig.fault.other.is_known);
        assert_int_equal(low, cases[i].first);
        assert_int_equal(high, cases[i].second);
        rig_done(&rig);
    }
}

static void a_right_program_raises_no_alarm(void **state)
{
    static const struct {
        const char *kernel;
        unsigned block;
        bool is_y_only;
    } cases[] = {
        { "reverse_ok", 256, false }, { "reduce_ok", 256, false }, { "lock_ok", 128, true },
        { "chars_ok", 256, false },   { "flag_ok", 256, false },   { "hist_ok", 256, false },
        { "warpsync_ok", 64, false }, { "named_ok", 128, false },  { "arrive_ok", 64, false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct rig rig;
        int rc;

        run(&rig, cases[i].kernel, cases[i].block, cases[i].is_y_only, &rc);
        if (rc < 0 || rig.facts.warning_count)
            fail_msg("%s: %s\n%s", cases[i].kernel, rig.err.text,
                     rig.err.detail ? rig.err.detail : "a warning");
        rig_done(&rig);
    }
}

static void volatile_code_in_lockstep_is_a_warning(void **state)
{
    struct rig rig;
    int rc;

    (void)state;
    run(&rig, "lockstep", 32, false, &rc);
    assert_int_equal(rc, 0);
    assert_true(rig.facts.warning_count > 0);
    assert_int_equal(rig.facts.warnings[0].kind, PTX_WARNING_WARP_RACE);
    assert_non_null(strstr(rig.facts.warnings[0].text, "__syncwarp()"));
    rig_done(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_race_names_both_lines_and_threads),
        cmocka_unit_test(a_right_program_raises_no_alarm),
        cmocka_unit_test(volatile_code_in_lockstep_is_a_warning),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
