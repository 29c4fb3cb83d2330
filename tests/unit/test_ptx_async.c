/* Copies beside the threads and barriers in shared memory: what they give, and how misuse reads. */
#include "tests/unit/ptx_rig.h"

/* For sm_80, for sm_90 and for debugging; the last has no kernels of the cuda:: headers. */
static const char *const BUILDS[] = { "async.opt", "async.hopper", "async.debug" };
enum { WITH_HEADERS = 2, ALL = 3 };

static int number(int i)
{
    return i * 7919 % 1009 - 300;
}

static void stages_of_copies_arrive_when_they_are_waited_for(void **state)
{
    (void)state;
    for (int b = 0; b < ALL; b++) {
        enum { STEPS = 5, THREADS = 64 };
        struct rig rig;
        struct {
            uint64_t x, out;
            int n;
        } p = { .n = STEPS };
        float *x, *out;

        rig_load_sample(&rig, BUILDS[b]);
        x = rig_buffer(&rig, STEPS * THREADS * 16, &p.x);
        out = rig_buffer(&rig, THREADS * 4, &p.out);
        for (int i = 0; i < STEPS * THREADS * 4; i++)
            x[i] = (float)number(i);
        rig_run(&rig, "staged", 1, THREADS, &p);
        for (int t = 0; t < THREADS; t++) {
            float sum = 0;

            for (int i = 0; i < STEPS; i++)
                for (int k = 0; k < 4; k++)
                    sum += (float)((k + 1) * number(4 * (i * THREADS + THREADS - 1 - t) + k));
            assert_true(out[t] == sum);
        }
        rig_done(&rig);
    }
}

/* The copies count as reads of global memory: 16 bytes of each of 64 threads are 32 sectors. */
static void copies_are_counted_as_reads_of_global_memory(void **state)
{
    struct rig rig;
    struct {
        uint64_t x, out;
        int n;
    } p = { .n = 1 };

    (void)state;
    rig_load_sample(&rig, "async.opt");
    rig_buffer(&rig, 64 * 16, &p.x);
    rig_buffer(&rig, 64 * 4, &p.out);
    rig_run(&rig, "staged", 1, 64, &p);
    assert_int_equal(rig.facts.global_load.sectors, 32);
    assert_int_equal(rig.facts.global_load.bytes, 64 * 16);
    assert_int_equal(rig.facts.global_store.sectors, 8);
    rig_done(&rig);
}

static void the_rest_of_a_short_copy_is_zero(void **state)
{
    (void)state;
    for (int b = 0; b < ALL; b++) {
        struct rig rig;
        uint64_t p[2];
        int *x, *out;

        rig_load_sample(&rig, BUILDS[b]);
        x = rig_buffer(&rig, 4 * 128, &p[0]);
        out = rig_buffer(&rig, 4 * 7 * 32, &p[1]);
        for (int i = 0; i < 128; i++)
            x[i] = -1 - number(i) * 65537;
        rig_run(&rig, "filled", 1, 32, p);
        for (int t = 0; t < 32; t++) {
            const int *o = out + 7 * t;

            /* 8 of 16 bytes are left out, then 5 of 8, then all 4 */
            assert_int_equal(o[0], x[4 * t]);
            assert_int_equal(o[1], x[4 * t + 1]);
            assert_int_equal(o[2], 0);
            assert_int_equal(o[3], 0);
            assert_int_equal(o[4], x[2 * t] & 0xffffff);
            assert_int_equal(o[5], 0);
            assert_int_equal(o[6], 0);
        }
        rig_done(&rig);
    }
}

/* The copy that was not waited for: a race, or bytes without a value. */
static void a_copy_that_nobody_waits_for_is_found(void **state)
{
    static const struct {
        const char *kernel;
        int waits;
        enum err_name name;
    } CASES[] = { { "hasty", 1, ERR_none },
                  { "hasty", 0, ERR_MemoryFault }, /* without a value */
                  { "hasty_own", 0, ERR_RaceFault },
                  { "overtaking", 0, ERR_RaceFault } };

    (void)state;
    for (size_t i = 0; i < COUNT(CASES) * ALL; i++) {
        size_t c = i / ALL;
        struct rig rig;
        struct {
            uint64_t x, out;
            int waits;
        } p = { .waits = CASES[c].waits };
        int *x, *out;

        rig_load_sample(&rig, BUILDS[i % ALL]);
        x = rig_buffer(&rig, 4 * 64, &p.x);
        out = rig_buffer(&rig, 4 * 128, &p.out);
        for (int t = 0; t < 64; t++)
            x[t] = number(t);
        rig_try(&rig, CASES[c].kernel, 1, 64, &p);
        if (rig.err.name != CASES[c].name)
            fail_msg("%s of %s: %s %s", CASES[c].kernel, BUILDS[i % ALL],
                     err_spelling(rig.err.name), rig.err.text);
        if (CASES[c].name == ERR_MemoryFault)
            assert_non_null(strstr(rig.err.detail, "a copy to it is under way"));
        for (int t = 0; t < 64 && CASES[c].name == ERR_none; t++)
            assert_int_equal(out[t], x[63 - t]);
        rig_done(&rig);
    }
}

static void a_copy_from_outside_is_a_fault(void **state)
{
    (void)state;
    for (int b = 0; b < ALL; b++) {
        struct rig rig;
        uint64_t p[2];

        rig_load_sample(&rig, BUILDS[b]);
        rig_buffer(&rig, 4 * 64, &p[0]);
        rig_buffer(&rig, 4 * 64, &p[1]);
        assert_int_equal(rig_try(&rig, "outside", 1, 64, p), -1);
        assert_int_equal(rig.err.name, ERR_MemoryFault);
        assert_int_equal(rig.fault.thread.x, 63);
        rig_done(&rig);
    }
}

static void phases_of_a_barrier_order_threads(void **state)
{
    (void)state;
    for (int b = 0; b < WITH_HEADERS; b++) {
        enum { THREADS = 128, STEPS = 6 };
        struct rig rig;
        struct {
            uint64_t out;
            int n, missing;
        } p = { .n = STEPS, .missing = -1 };
        int *out;

        rig_load_sample(&rig, BUILDS[b]);
        out = rig_buffer(&rig, 4 * THREADS, &p.out);
        rig_run(&rig, "phases", 1, THREADS, &p);
        for (int t = 0; t < THREADS; t++) {
            int sum = 0;

            for (int i = 0; i < STEPS; i++)
                sum += (t + 37) % THREADS + i;
            assert_int_equal(out[t], sum);
        }
        rig_done(&rig);
    }
}

/* Thread 5 arrives once a round where the others do twice: nobody gets on. */
static void an_arrival_that_is_missing_is_a_deadlock(void **state)
{
    (void)state;
    for (int b = 0; b < WITH_HEADERS; b++) {
        struct rig rig;
        struct {
            uint64_t out;
            int n, missing;
        } p = { .n = 1, .missing = 5 };

        rig_load_sample(&rig, BUILDS[b]);
        rig_buffer(&rig, 4 * 128, &p.out);
        assert_int_equal(rig_try(&rig, "phases", 1, 128, &p), -1);
        if (rig.err.name != ERR_Deadlock && rig.err.name != ERR_RaceFault)
            fail_msg("%s: %s %s", BUILDS[b], err_spelling(rig.err.name), rig.err.text);
        rig_done(&rig);
    }
}

static void one_half_makes_what_the_other_takes(void **state)
{
    (void)state;
    for (int b = 0; b < WITH_HEADERS; b++) {
        struct rig rig;
        struct {
            uint64_t out;
            int n;
        } p = { .n = 7 };
        int *out;

        rig_load_sample(&rig, BUILDS[b]);
        out = rig_buffer(&rig, 4 * 64, &p.out);
        rig_run(&rig, "made_and_taken", 1, 64, &p);
        for (int t = 0; t < 32; t++) {
            assert_int_equal(out[t], 0);
            assert_int_equal(out[32 + t], 7 * 3 * (31 - t) + 21);
        }
        rig_done(&rig);
    }
}

static void who_leaves_is_not_expected_again(void **state)
{
    (void)state;
    for (int b = 0; b < WITH_HEADERS; b++) {
        struct rig rig;
        uint64_t p[1];
        int *out;

        rig_load_sample(&rig, BUILDS[b]);
        out = rig_buffer(&rig, 4 * 64, &p[0]);
        rig_run(&rig, "leaving", 1, 64, p);
        for (int t = 0; t < 64; t++)
            assert_int_equal(out[t], t % 2 ? 0 : 5 * (62 - t) + 1);
        rig_done(&rig);
    }
}

static void a_barrier_that_nobody_made_is_a_fault(void **state)
{
    (void)state;
    for (int b = 0; b < ALL; b++) {
        struct rig rig;
        uint64_t p[1];

        rig_load_sample(&rig, BUILDS[b]);
        rig_buffer(&rig, 4 * 32, &p[0]);
        assert_int_equal(rig_try(&rig, "unmade", 1, 32, p), -1);
        assert_int_equal(rig.err.name, ERR_BarrierFault);
        assert_non_null(strstr(rig.err.text, "nobody made one"));
        rig_done(&rig);
    }
}

static void copies_of_the_libraries_arrive(void **state)
{
    static const struct {
        const char *kernel;
        int threads;
    } CASES[] = { { "together", 128 }, { "followed", 64 }, { "piped", 64 } };

    (void)state;
    for (size_t i = 0; i < COUNT(CASES) * WITH_HEADERS; i++) {
        int n = CASES[i / WITH_HEADERS].threads;
        struct rig rig;
        struct {
            uint64_t x, out;
            int n;
        } p = { .n = 5 };
        int *x, *out;

        rig_load_sample(&rig, BUILDS[i % WITH_HEADERS]);
        x = rig_buffer(&rig, 4 * 5 * (size_t)n, &p.x);
        out = rig_buffer(&rig, 4 * (size_t)n, &p.out);
        for (int k = 0; k < 5 * n; k++)
            x[k] = number(k);
        rig.launch.dynamic_shared_bytes = 512;
        rig_run(&rig, CASES[i / WITH_HEADERS].kernel, 1, (unsigned)n, &p);
        for (int t = 0; t < n; t++) {
            int sum = 0;

            for (int k = 0; k < 5; k++)
                sum += number(k * n + n - 1 - t) * (k + 1);
            assert_int_equal(out[t], sum);
        }
        rig_done(&rig);
    }
}

static void tiles_come_and_go_in_bulk(void **state)
{
    (void)state;
    for (int waits = 0; waits < 2; waits++) {
        enum { TILE = 512, TILES = 3 };
        struct rig rig;
        struct {
            uint64_t x, out;
            int n, waits;
        } p = { .n = TILES, .waits = waits };
        int *x, *out;

        rig_load_sample(&rig, "async.hopper");
        x = rig_buffer(&rig, 4 * TILE * TILES, &p.x);
        out = rig_buffer(&rig, 4 * TILE * TILES, &p.out);
        for (int i = 0; i < TILE * TILES; i++)
            x[i] = number(i);
        rig_try(&rig, "bulk", 1, 96, &p);
        if (rig.err.name != (waits ? ERR_none : ERR_RaceFault))
            fail_msg("waits %d: %s %s", waits, err_spelling(rig.err.name), rig.err.text);
        for (int i = 0; i < TILE * TILES && waits; i++)
            assert_int_equal(out[i], x[i / TILE * TILE + TILE - 1 - i % TILE]);
        if (waits) /* 4 requests of 512 bytes a tile */
            assert_int_equal(rig.facts.global_load.sectors, TILES * TILE * 4 / 32);
        rig_done(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stages_of_copies_arrive_when_they_are_waited_for),
        cmocka_unit_test(copies_are_counted_as_reads_of_global_memory),
        cmocka_unit_test(the_rest_of_a_short_copy_is_zero),
        cmocka_unit_test(a_copy_that_nobody_waits_for_is_found),
        cmocka_unit_test(a_copy_from_outside_is_a_fault),
        cmocka_unit_test(phases_of_a_barrier_order_threads),
        cmocka_unit_test(an_arrival_that_is_missing_is_a_deadlock),
        cmocka_unit_test(one_half_makes_what_the_other_takes),
        cmocka_unit_test(who_leaves_is_not_expected_again),
        cmocka_unit_test(a_barrier_that_nobody_made_is_a_fault),
        cmocka_unit_test(copies_of_the_libraries_arrive),
        cmocka_unit_test(tiles_come_and_go_in_bulk),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
