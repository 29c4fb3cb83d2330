/* Blocks that wait for each other: grid barriers, flags between blocks, and waits without end. */
#include "tests/unit/ptx_rig.h"

static const char *const BUILDS[] = { "grid.opt", "grid.debug" };
#define EACH_BUILD(b) for (size_t b = 0; b < COUNT(BUILDS); b++)

static void a_cooperative_grid_takes_each_step_together(void **state)
{
    (void)state;
    EACH_BUILD(b)
    {
        enum { BLOCKS = 40, THREADS = 64, N = BLOCKS * THREADS, STEPS = 5 };
        struct {
            uint64_t a, b;
            int n;
        } p = { .n = STEPS };
        struct rig rig;
        int *x, want[N], next[N];

        rig_load_sample(&rig, BUILDS[b]);
        x = rig_buffer(&rig, 4 * N, &p.a);
        rig_buffer(&rig, 4 * N, &p.b);
        for (int i = 0; i < N; i++)
            want[i] = x[i] = i * 7 % 1000;
        for (int k = 0; k < STEPS; k++) {
            for (int i = 0; i < N; i++)
                next[i] = want[(i + 1) % N] + want[(i + N / 2) % N];
            for (int i = 0; i < N; i++)
                want[i] = next[N - 1 - i] % 1000;
        }
        rig.launch.is_cooperative = true;
        rig.launch.host_threads = 3;
        rig.launch.is_timed = true;
        rig_run(&rig, "steps", BLOCKS, THREADS, &p);
        assert_memory_equal(x, want, sizeof want);
        assert_int_equal(rig.facts.blocks, BLOCKS);
        assert_true(rig.facts.timing.cycles > 0);
        /* Without the attribute a grid has no barrier: the group traps. */
        rig.launch.is_cooperative = false;
        assert_int_equal(rig_try(&rig, "steps", BLOCKS, THREADS, &p), -1);
        assert_int_equal(rig.err.name, ERR_AssertFault);
        rig_done(&rig);
    }
}

static void a_cooperative_grid_that_is_not_resident_is_refused(void **state)
{
    uint64_t p[2];
    struct rig rig;

    (void)state;
    rig_load_sample(&rig, BUILDS[0]);
    rig_buffer(&rig, 4, &p[0]);
    rig_buffer(&rig, 4, &p[1]);
    rig.launch.is_cooperative = true;
    /* An H200 has 132 SMs with 2048 threads each. */
    assert_int_equal(rig_try(&rig, "for_ever", 132 * 2 + 1, 1024, p), -1);
    assert_int_equal(rig.err.name, ERR_LaunchError);
    assert_non_null(strstr(rig.err.text, "264"));
    rig_done(&rig);
}

static void blocks_wait_at_a_barrier_of_their_own(void **state)
{
    (void)state;
    EACH_BUILD(b)
    {
        enum { BLOCKS = 150, THREADS = 64 };
        uint64_t p[2];
        struct rig rig;
        int *count, *x;

        rig_load_sample(&rig, BUILDS[b]);
        count = rig_buffer(&rig, 4, &p[0]);
        x = rig_buffer(&rig, 4 * BLOCKS * THREADS, &p[1]);
        rig_run(&rig, "own_barrier", BLOCKS, THREADS, p);
        assert_int_equal(*count, 2 * BLOCKS);
        for (int i = 0; i < BLOCKS * THREADS; i++)
            assert_int_equal(x[i], (i / THREADS + 1) % BLOCKS);
        rig_done(&rig);
    }
}

static void early_blocks_may_wait_for_late_ones(void **state)
{
    (void)state;
    EACH_BUILD(b)
    {
        enum { BLOCKS = 200 };
        uint64_t p[2];
        struct rig rig;
        int *out;

        rig_load_sample(&rig, BUILDS[b]);
        rig_buffer(&rig, 4 * BLOCKS, &p[0]);
        out = rig_buffer(&rig, 4 * BLOCKS, &p[1]);
        rig_run(&rig, "backwards", BLOCKS, 32, p);
        for (int i = 0; i < BLOCKS; i++)
            assert_int_equal(out[i], BLOCKS - 1 - i);
        rig_done(&rig);
    }
}

static void a_scan_with_look_back_and_a_last_block_sum_add_up(void **state)
{
    (void)state;
    EACH_BUILD(b)
    {
        enum { BLOCKS = 100, N = BLOCKS * 64 };
        uint64_t p[5], q[3];
        struct rig rig;
        int *x, *y, *out, sum = 0;

        rig_load_sample(&rig, BUILDS[b]);
        x = rig_buffer(&rig, 4 * N, &p[0]);
        y = rig_buffer(&rig, 4 * N, &p[1]);
        rig_buffer(&rig, 4 * BLOCKS, &p[2]);
        rig_buffer(&rig, 8 * BLOCKS, &p[3]);
        out = rig_buffer(&rig, 4, &p[4]);
        for (int i = 0; i < N; i++)
            x[i] = i * 13 % 29 - 11;
        rig.launch.host_threads = 2;
        rig_run(&rig, "look_back", BLOCKS, 64, p);
        for (int i = 0; i < N; i++)
            assert_int_equal(y[i], sum += x[i]);
        q[0] = p[0];
        q[1] = p[3];
        q[2] = p[4];
        rig_run(&rig, "last_block", BLOCKS * 2, 32, q);
        assert_int_equal(*out, sum);
        rig_done(&rig);
    }
}

static void a_wait_that_nothing_will_end_is_a_deadlock_and_names_the_line(void **state)
{
    (void)state;
    EACH_BUILD(b)
    {
        uint64_t p[2];
        struct rig rig;

        rig_load_sample(&rig, BUILDS[b]);
        rig_buffer(&rig, 4, &p[0]);
        rig_buffer(&rig, 4 * 40, &p[1]);
        assert_int_equal(rig_try(&rig, "for_ever", 40, 64, p), -1);
        assert_int_equal(rig.err.name, ERR_Deadlock);
        assert_int_equal(rig.err.line, 122);
        assert_non_null(strstr(rig.err.text, "loop"));
        assert_non_null(rig.err.detail); /* who waits where */
        rig_done(&rig);
    }
}

static void a_loop_that_gives_up_is_no_deadlock(void **state)
{
    (void)state;
    EACH_BUILD(b)
    {
        struct {
            uint64_t flag, out;
            int looks;
        } p = { .looks = 20000 };
        struct rig rig;
        int *out;

        rig_load_sample(&rig, BUILDS[b]);
        rig_buffer(&rig, 4, &p.flag);
        out = rig_buffer(&rig, 4 * 64, &p.out);
        rig_run(&rig, "gives_up", 2, 32, &p);
        for (int i = 0; i < 64; i++)
            assert_int_equal(out[i], p.looks);
        rig_done(&rig);
    }
}

static void a_wait_with_barriers_in_it_lets_others_run(void **state)
{
    (void)state;
    EACH_BUILD(b)
    {
        enum { BLOCKS = 9 };
        uint64_t p[2];
        struct rig rig;
        int *out;

        rig_load_sample(&rig, BUILDS[b]);
        rig_buffer(&rig, 4 * BLOCKS, &p[0]);
        out = rig_buffer(&rig, 4 * BLOCKS * 64, &p[1]);
        rig_run(&rig, "polls_together", BLOCKS, 64, p);
        for (int i = 0; i < BLOCKS * 64; i++)
            assert_int_equal(out[i], 1);
        rig_done(&rig);
    }
}

static void a_lock_goes_from_lane_to_lane_and_block_to_block(void **state)
{
    (void)state;
    EACH_BUILD(b)
    {
        uint64_t p[2];
        struct rig rig;
        int *lock, *sum;

        rig_load_sample(&rig, BUILDS[b]);
        lock = rig_buffer(&rig, 4, &p[0]);
        sum = rig_buffer(&rig, 4, &p[1]);
        rig_run(&rig, "locked_sum", 4, 96, p);
        assert_int_equal(*sum, 4 * 96);
        *lock = 1; /* nobody ever gives it back */
        assert_int_equal(rig_try(&rig, "locked_sum", 4, 96, p), -1);
        assert_int_equal(rig.err.name, ERR_Deadlock);
        rig_done(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cooperative_grid_takes_each_step_together),
        cmocka_unit_test(a_cooperative_grid_that_is_not_resident_is_refused),
        cmocka_unit_test(blocks_wait_at_a_barrier_of_their_own),
        cmocka_unit_test(early_blocks_may_wait_for_late_ones),
        cmocka_unit_test(a_scan_with_look_back_and_a_last_block_sum_add_up),
        cmocka_unit_test(a_wait_that_nothing_will_end_is_a_deadlock_and_names_the_line),
        cmocka_unit_test(a_loop_that_gives_up_is_no_deadlock),
        cmocka_unit_test(a_wait_with_barriers_in_it_lets_others_run),
        cmocka_unit_test(a_lock_goes_from_lane_to_lane_and_block_to_block),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
