/* Lanes part, take turns and meet again. */
#include "tests/unit/ptx_rig.h"

#define HEAD                                                                                       \
    ".version 9.0\n.target sm_80\n.address_size 64\n"                                              \
    ".visible .entry k(.param .u64 k_param_0)\n{\n"                                                \
    ".reg .pred %p<64>;\n.reg .b32 %r<64>;\n.reg .b64 %rd<8>;\n"                                   \
    ".loc 1 1 0\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, 0;\n"
#define TAIL ".loc 1 99 0\nret;\n}\n.file 1 \"k.cu\"\n"

enum { LEAF = 10 /* the line that the tests count */ };

static void run_text(struct rig *rig, const char *body, unsigned threads)
{
    char text[4096];
    uint64_t nothing = 0;

    snprintf(text, sizeof text, "%s%s%s", HEAD, body, TAIL);
    rig_load(rig, bytes_of(text));
    rig_run(rig, "k", 1, threads, &nothing);
}

/* A tree of ifs on bits of the lane; every leaf is an instruction of line LEAF. */
static void put_ifs(struct buf *b, int depth, int most, int id)
{
    if (depth == most) {
        buf_printf(b, ".loc 1 %d 0\nadd.s32 %%r2, %%r2, 1;\n.loc 1 2 0\n", LEAF);
        return;
    }
    buf_printf(b, "shr.u32 %%r3, %%r1, %d;\nand.b32 %%r4, %%r3, 1;\nsetp.ne.s32 %%p1, %%r4, 0;\n",
               depth);
    buf_printf(b, "@%%p1 bra $then%d;\n", id);
    put_ifs(b, depth + 1, most, 2 * id);
    buf_printf(b, "bra.uni $join%d;\n$then%d:\n", id, id);
    put_ifs(b, depth + 1, most, 2 * id + 1);
    buf_printf(b, "$join%d:\n", id);
}

static void nested_ifs_have_min_of_two_to_the_depth_and_32_paths(void **state)
{
    (void)state;
    for (int depth = 0; depth <= 7; depth++) {
        struct buf body = { 0 };
        struct rig rig;
        char *text;
        uint64_t nothing = 0;
        int paths = 1 << (depth < 5 ? depth : 5);

        buf_puts(&body, HEAD);
        put_ifs(&body, 0, depth, 1);
        buf_puts(&body, TAIL);
        text = buf_take(&body);
        assert_non_null(text);
        rig_load(&rig, bytes_of(text));
        rig_run(&rig, "k", 1, 32, &nothing);
        assert_int_equal(rig_line(&rig, LEAF).warp_instructions, paths);
        assert_int_equal(rig_line(&rig, LEAF).thread_instructions, 32);
        assert_int_equal(rig.facts.divergent_branches, paths - 1);
        assert_int_equal(rig_line(&rig, 99).warp_instructions, 1); /* all meet again */
        rig_done(&rig);
        free(text);
    }
}

static void trips_of_4_to_8_by_lane_take_8_passes_at_189_of_256_lanes(void **state)
{
    struct rig rig;

    (void)state;
    run_text(&rig,
             "rem.u32 %r3, %r1, 5;\nadd.s32 %r3, %r3, 4;\n"
             "$loop:\n.loc 1 10 0\nadd.s32 %r2, %r2, 1;\n.loc 1 11 0\n"
             "setp.lt.s32 %p1, %r2, %r3;\n@%p1 bra $loop;\n",
             32);
    assert_int_equal(rig_line(&rig, LEAF).warp_instructions, 8);
    assert_int_equal(rig_line(&rig, LEAF).thread_instructions, 189);
    assert_int_equal(rig.facts.divergent_branches, 4);
    rig_done(&rig);
}

static void a_24_8_split_and_join_uses_64_of_96_lanes(void **state)
{
    struct rig rig;

    (void)state;
    run_text(&rig,
             "setp.lt.u32 %p1, %r1, 24;\n@%p1 bra $a;\n"
             ".loc 1 10 0\nadd.s32 %r2, %r2, 1;\nbra.uni $join;\n"
             "$a:\nadd.s32 %r2, %r2, 2;\nbra.uni $join;\n$join:\nadd.s32 %r2, %r2, 3;\n"
             "bra.uni $end;\n$end:\n",
             32);
    assert_int_equal(rig_line(&rig, LEAF).warp_instructions, 6);
    assert_int_equal(rig_line(&rig, LEAF).thread_instructions, 2 * 64);
    rig_done(&rig);
}

static void a_lane_that_returns_early_is_not_awaited(void **state)
{
    struct rig rig;

    (void)state;
    run_text(&rig,
             "setp.ge.u32 %p1, %r1, 20;\n@%p1 bra $end;\n"
             "and.b32 %r3, %r1, 1;\nsetp.ne.s32 %p2, %r3, 0;\n@%p2 bra $odd;\n"
             "add.s32 %r2, %r2, 1;\n$odd:\n.loc 1 10 0\nadd.s32 %r2, %r2, 1;\n$end:\n",
             32);
    assert_int_equal(rig_line(&rig, LEAF).warp_instructions, 1);
    assert_int_equal(rig_line(&rig, LEAF).thread_instructions, 20);
    rig_done(&rig);
}

static void the_last_warp_has_only_the_threads_of_the_block(void **state)
{
    struct rig rig;

    (void)state;
    run_text(&rig, ".loc 1 10 0\nadd.s32 %r2, %r2, 1;\n", 40);
    assert_int_equal(rig_line(&rig, LEAF).warp_instructions, 2);
    assert_int_equal(rig_line(&rig, LEAF).thread_instructions, 40);
    rig_done(&rig);
}

static void a_spin_lock_between_lanes_of_a_warp_ends(void **state)
{
    static const char *const samples[] = { "divergence.opt", "divergence.debug" };
    static const char *const kernels[] = { "spin_lock", "naive_lock" };

    (void)state;
    for (size_t i = 0; i < COUNT(samples) * COUNT(kernels); i++) {
        struct rig rig;
        uint64_t parameters[2];
        int *lock, *count;

        rig_load_sample(&rig, samples[i / 2]);
        lock = rig_buffer(&rig, 4, &parameters[0]);
        count = rig_buffer(&rig, 4, &parameters[1]);
        rig_run(&rig, kernels[i % 2], 2, 64, parameters);
        assert_int_equal(*count, 128);
        assert_int_equal(*lock, 0);
        rig_done(&rig);
    }
}

static void before_volta_a_naive_lock_hangs(void **state)
{
    struct rig rig;
    uint64_t parameters[2];

    (void)state;
    rig_load_sample(&rig, "divergence.opt");
    rig_buffer(&rig, 4, &parameters[0]);
    rig_buffer(&rig, 4, &parameters[1]);
    rig.launch.groups = PTX_GROUPS_STACK;
    rig.launch.max_thread_instructions = 1000000;
    assert_int_equal(rig_try(&rig, "naive_lock", 1, 32, parameters), -1);
    assert_int_equal(rig.err.name, ERR_Deadlock);
    rig_done(&rig);
}

static void threads_that_ended_are_not_awaited_at_a_barrier(void **state)
{
    static const char *const samples[] = { "basics.opt", "basics.debug" };

    (void)state;
    for (size_t i = 0; i < COUNT(samples); i++) {
        struct rig rig;
        struct {
            uint64_t out;
            int n;
        } parameters = { .n = 40 };
        int *out;

        rig_load_sample(&rig, samples[i]);
        out = rig_buffer(&rig, 4 * 96, &parameters.out);
        rig_run(&rig, "early_exit", 1, 96, &parameters);
        for (int t = 0; t < 96; t++)
            assert_int_equal(out[t], t < 40 ? 40 : 0);
        rig_done(&rig);
    }
}

#define BARRIERS                                                                                   \
    "setp.lt.u32 %p1, %r1, 16;\n@%p1 bra $a;\n.loc 1 10 0\nbar.sync 0;\nbra.uni $join;\n"          \
    "$a:\n.loc 1 12 0\nbar.sync 0;\n$join:\n"

static void a_barrier_in_both_arms_of_an_if_is_a_fault_that_names_the_line(void **state)
{
    struct rig rig;
    uint64_t nothing = 0;

    (void)state;
    rig_load(&rig, bytes_of(HEAD BARRIERS TAIL));
    assert_int_equal(rig_try(&rig, "k", 1, 32, &nothing), -1);
    assert_int_equal(rig.err.name, ERR_BarrierFault);
    assert_true(rig.err.line == 10 || rig.err.line == 12);
    assert_string_equal(rig.err.place, "k.cu");
    assert_non_null(strstr(rig.err.detail, "lanes 0..15) at bar.sync (k.cu line 12)"));
    assert_non_null(strstr(rig.err.detail, "lanes 16..31) at bar.sync (k.cu line 10)"));
    rig_done(&rig);
}

static void a_sync_that_names_a_lane_that_never_comes_is_a_barrier_fault(void **state)
{
    struct rig rig;
    uint64_t nothing = 0;

    (void)state;
    rig_load(&rig, bytes_of(HEAD "setp.lt.u32 %p1, %r1, 16;\n@%p1 bra $a;\n"
                                 ".loc 1 10 0\nbar.warp.sync -1;\nbra.uni $join;\n"
                                 "$a:\nbar.sync 1;\n$join:\n" TAIL));
    assert_int_equal(rig_try(&rig, "k", 1, 32, &nothing), -1);
    assert_int_equal(rig.err.name, ERR_BarrierFault);
    assert_non_null(strstr(rig.err.text, "0xffffffff, but lanes 0..15 will not come"));
    rig_done(&rig);
}

static void an_endless_loop_runs_into_its_budget(void **state)
{
    struct rig rig;
    uint64_t nothing = 0;

    (void)state;
    rig_load(&rig,
             bytes_of(HEAD "$loop:\n.loc 1 10 0\nadd.s32 %r2, %r2, 1;\nbra.uni $loop;\n" TAIL));
    rig.launch.max_thread_instructions = 1000000;
    assert_int_equal(rig_try(&rig, "k", 1, 32, &nothing), -1);
    assert_int_equal(rig.err.name, ERR_Timeout);
    assert_int_equal(rig.err.line, 10);
    rig_done(&rig);
}

static void a_stop_ends_an_endless_loop(void **state)
{
    struct rig rig;
    uint64_t nothing = 0;
    atomic_bool stop = true;

    (void)state;
    rig_load(&rig, bytes_of(HEAD "$loop:\nbra.uni $loop;\n" TAIL));
    rig.launch.stop = &stop;
    assert_int_equal(rig_try(&rig, "k", 1, 32, &nothing), -1);
    assert_int_equal(rig.err.name, ERR_Interrupted);
    rig_done(&rig);
}

static void facts_are_the_same_for_any_number_of_host_threads(void **state)
{
    struct ptx_facts first = { 0 };

    (void)state;
    for (int threads = 1; threads <= 4; threads++) {
        struct {
            uint64_t x, y;
            int n;
        } parameters = { .n = 5000 };
        struct rig rig;
        float *x, *y;

        rig_load_sample(&rig, "divergence.opt");
        x = rig_buffer(&rig, 4 * 5000, &parameters.x);
        y = rig_buffer(&rig, 4 * 5000, &parameters.y);
        for (int i = 0; i < 5000; i++)
            x[i] = (float)i;
        rig.launch.host_threads = threads;
        rig.launch.is_timed = true;
        rig_run(&rig, "long_by_lane", 20, 256, &parameters);
        assert_true(y[4999] > 2.6f && y[4999] < 2.7f); /* odd: v/4 + 2 ends at 8/3 */
        rig.facts.lines = NULL;
        if (threads == 1)
            first = rig.facts;
        assert_memory_equal(&rig.facts, &first, sizeof first);
        rig_done(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nested_ifs_have_min_of_two_to_the_depth_and_32_paths),
        cmocka_unit_test(trips_of_4_to_8_by_lane_take_8_passes_at_189_of_256_lanes),
        cmocka_unit_test(a_24_8_split_and_join_uses_64_of_96_lanes),
        cmocka_unit_test(a_lane_that_returns_early_is_not_awaited),
        cmocka_unit_test(the_last_warp_has_only_the_threads_of_the_block),
        cmocka_unit_test(a_spin_lock_between_lanes_of_a_warp_ends),
        cmocka_unit_test(before_volta_a_naive_lock_hangs),
        cmocka_unit_test(threads_that_ended_are_not_awaited_at_a_barrier),
        cmocka_unit_test(a_barrier_in_both_arms_of_an_if_is_a_fault_that_names_the_line),
        cmocka_unit_test(a_sync_that_names_a_lane_that_never_comes_is_a_barrier_fault),
        cmocka_unit_test(an_endless_loop_runs_into_its_budget),
        cmocka_unit_test(a_stop_ends_an_endless_loop),
        cmocka_unit_test(facts_are_the_same_for_any_number_of_host_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
