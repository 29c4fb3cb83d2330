/* Launches and accesses that cannot be: who, where and why. */
#include "tests/unit/ptx_rig.h"

static void a_launch_beyond_the_limits_is_refused_before_it_runs(void **state)
{
    struct rig rig;

    (void)state;
    rig_load(&rig, bytes_of(".version 9.0\n.target sm_80\n.address_size 64\n"
                            ".visible .entry k()\n{\nret;\n}\n"));
    assert_int_equal(rig_try(&rig, "k", 1, 1025, ""), -1);
    assert_int_equal(rig.err.name, ERR_LaunchError);
    assert_non_null(strstr(rig.err.text, "1025"));
    err_done(&rig.err);
    rig.launch.dynamic_shared_bytes = 300000;
    assert_int_equal(rig_try(&rig, "k", 1, 32, ""), -1);
    assert_int_equal(rig.err.name, ERR_LaunchError);
    rig_done(&rig);
}

static void an_access_out_of_bounds_names_thread_line_buffer_and_index(void **state)
{
    static const char *const samples[] = { "basics.opt", "basics.debug" };

    (void)state;
    for (size_t i = 0; i < COUNT(samples); i++) {
        struct {
            int n;
            float a;
            uint64_t x, y;
        } p = { 1000, 2.0f, 0, 0 };
        struct rig rig;

        rig_load_sample(&rig, samples[i]);
        rig_buffer(&rig, 4000, &p.x);
        rig_buffer(&rig, 4000, &p.y);
        for (int k = 0; k < 2; k++) {
            rig.buffers[k].name = k ? "y" : "x";
            rig.buffers[k].element_type = "float";
            rig.buffers[k].element_bytes = 4;
        }
        assert_int_equal(rig_try(&rig, "saxpy", 4, 256, &p), -1);
        assert_int_equal(rig.err.name, ERR_MemoryFault);
        assert_string_equal(
            rig.err.text,
            "saxpy reads x[1000], but x has 1000 floats (basics.cu line 14, 24 threads)");
        assert_int_equal(rig.err.line, 14);
        assert_int_equal(rig.fault.block.x, 3);
        assert_int_equal(rig.fault.thread.x, 232);
        assert_int_equal(rig.fault.warp, 7);
        assert_int_equal(rig.fault.lanes, 0xffffff00);
        assert_int_equal(rig.fault.threads, 24);
        assert_int_equal(rig.fault.buffer, 0);
        assert_int_equal(rig.fault.index, 1000);
        assert_int_equal(rig.fault.past_end, 0);
        assert_non_null(strstr(rig.err.detail, "warp 7, lanes 8..31"));
        rig_done(&rig);
    }
}

static void a_misaligned_or_foreign_address_is_told_from_an_index(void **state)
{
    static const struct {
        uint64_t x;
        const char *text;
    } cases[] = {
        { 0, "null pointer" },
        { 0x7ffe12345678, "in no buffer" },
        { 0x10000002, "no multiple of 4" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct {
            int n;
            float a;
            uint64_t x, y;
        } p = { 32, 2.0f, 0, 0 };
        struct rig rig;

        rig_load_sample(&rig, "basics.opt");
        rig_buffer(&rig, 4096, &p.y);
        p.x = cases[i].x;
        assert_int_equal(rig_try(&rig, "saxpy", 1, 32, &p), -1);
        assert_int_equal(rig.err.name, ERR_MemoryFault);
        if (!strstr(rig.err.text, cases[i].text))
            fail_msg("%s: %s", cases[i].text, rig.err.text);
        rig_done(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_launch_beyond_the_limits_is_refused_before_it_runs),
        cmocka_unit_test(an_access_out_of_bounds_names_thread_line_buffer_and_index),
        cmocka_unit_test(a_misaligned_or_foreign_address_is_told_from_an_index),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
