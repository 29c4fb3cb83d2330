/*
 * Divergence: the counts of the lesson texts, and the two orders of the paths
 * against closed forms.
 */
#include "model/lanes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct lanes_warp branch(int64_t (*key)(int64_t), int64_t (*length)(int64_t))
{
    int64_t keys[WARP], lengths[WARP];
    struct lanes_warp out;

    for (int l = 0; l < WARP; l++) {
        keys[l] = key(l);
        lengths[l] = length(keys[l]);
    }
    lanes_branch(UINT32_MAX, keys, lengths, &out);
    return out;
}

static struct lanes_warp loop(int64_t (*trips)(int64_t), int64_t length)
{
    int64_t values[WARP];
    struct lanes_warp out;

    for (int l = 0; l < WARP; l++)
        values[l] = trips(l);
    lanes_loop(UINT32_MAX, values, length, &out);
    return out;
}

static struct lanes_total total_of(const struct lanes_warp *warp, int64_t around)
{
    struct lanes_total total = { 0 };

    lanes_add(&total, warp, around);
    lanes_finish(&total);
    return total;
}

static int64_t is_even(int64_t lane)
{
    return lane % 2;
}
static int64_t split_24(int64_t lane)
{
    return lane >= 24;
}
static int64_t own(int64_t lane)
{
    return lane;
}
static int64_t none(int64_t lane)
{
    return lane * 0;
}
static int64_t four(int64_t path)
{
    return path * 0 + 4;
}
static int64_t ten_then_nothing(int64_t path)
{
    return path ? 0 : 10;
}
static int64_t four_to_eight(int64_t lane)
{
    return 4 + lane % 5;
}
static int64_t quarter(int64_t lane)
{
    return lane / 8;
}
static int64_t rising(int64_t path)
{
    return path + 1;
}

static void paths_add_up(void **state)
{
    const struct {
        const char *name;
        struct lanes_warp warp;
        int64_t around, passes, issue_slots, lane_slots;
        double time_ratio;
    } cases[] = {
        { "two halves", branch(is_even, four), 0, 2, 8, 128, 2 },              /* F40 */
        { "24 and 8, then all", branch(split_24, four), 4, 2, 12, 256, 1.5 },  /* F71 */
        { "32 paths", branch(own, four), 0, 32, 128, 128, 32 },                /* F75 */
        { "agreed", branch(none, four), 0, 1, 4, 128, 1 },                     /* F42 */
        { "4 to 8 trips", loop(four_to_eight, 1), 0, 8, 8, 189, 256.0 / 189 }, /* F77 */
        { "trips of 3", loop(four_to_eight, 3), 0, 8, 24, 567, 256.0 / 189 },
        { "lengths 1 2 3 4", branch(quarter, rising), 0, 4, 10, 80, 4 }, /* F74 */
        { "no else", branch(split_24, ten_then_nothing), 0, 1, 10, 240, 32.0 / 24 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct lanes_total t = total_of(&cases[i].warp, cases[i].around);

        if (t.passes != cases[i].passes || t.issue_slots != cases[i].issue_slots ||
            t.lane_slots != cases[i].lane_slots || t.time_ratio != cases[i].time_ratio)
            fail_msg("%s: %lld passes, %lld slots, %lld lane slots, %g", cases[i].name,
                     (long long)t.passes, (long long)t.issue_slots, (long long)t.lane_slots,
                     t.time_ratio);
    }
}

static void masks_are_those_of_the_lanes(void **state)
{
    struct lanes_warp w = branch(is_even, four);

    (void)state;
    assert_int_equal(w.count, 2);
    assert_int_equal(w.stretches[0].mask, 0x55555555); /* F115 */
    assert_int_equal(w.stretches[1].mask, 0xaaaaaaaa);
    w = branch(split_24, four);
    assert_int_equal(w.stretches[0].mask, 0x00ffffff);
    assert_int_equal(w.stretches[1].mask, 0xff000000);
    w = loop(four_to_eight, 1);
    assert_int_equal(w.count, 5);
    assert_int_equal(w.stretches[0].mask, UINT32_MAX);
    assert_int_equal(w.stretches[0].passes, 4);
    for (int i = 1; i < 5; i++) {
        assert_int_equal(w.stretches[i].passes, 1);
        assert_int_equal(w.stretches[i].key, 4 + i);
        assert_int_equal(w.stretches[i].mask & ~w.stretches[i - 1].mask, 0);
    }
}

/* Every thread works in exactly the passes that are its own, whatever the pattern. */
static void every_thread_does_its_own_work(void **state)
{
    uint64_t seed = 7;

    (void)state;
    for (int round = 0; round < 500; round++) {
        int64_t key[WARP], length[WARP], want = 0;
        uint32_t threads;
        struct lanes_warp b, l;

        for (int lane = 0; lane < WARP; lane++) {
            seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
            key[lane] = (int64_t)(seed >> 60) - 8;
            length[lane] = (key[lane] + 8) % 5;
        }
        threads = (uint32_t)(seed >> 20) | 1;
        for (int lane = 0; lane < WARP; lane++)
            want += threads >> lane & 1 ? length[lane] : 0;
        lanes_branch(threads, key, length, &b);
        lanes_loop(threads, length, 1, &l);
        assert_int_equal(b.lane_slots, want);
        assert_int_equal(l.lane_slots, want);
        assert_true(b.paths >= l.paths);
        for (int i = 0; i < b.count; i++)
            for (int k = 0; k < i; k++)
                assert_int_equal(b.stretches[i].mask & b.stretches[k].mask, 0);
    }
}

static void warps_add_up(void **state)
{
    struct lanes_warp split = branch(is_even, four), whole = branch(none, four);
    struct lanes_warp idle = branch(none, none);
    struct lanes_total t = { 0 };

    (void)state;
    lanes_add(&t, &split, 0);
    lanes_add(&t, &split, 0);
    lanes_add(&t, &whole, 0);
    lanes_add(&t, &idle, 0);
    lanes_finish(&t);
    assert_int_equal(t.warps, 4);
    assert_int_equal(t.split, 2);
    assert_int_equal(t.uniform, 1);
    assert_int_equal(t.idle, 1);
    assert_int_equal(t.passes, 5);
    assert_int_equal(t.issue_slots, 20);
    assert_true(t.time_ratio == 20.0 / 12);
}

static void both_orders_issue_the_same_and_only_waits_are_saved(void **state)
{
    const struct {
        const char *name;
        struct lanes_warp warp;
        int64_t wait, turns, stack, its;
    } cases[] = {
        { "no wait", branch(is_even, four), 0, 0, 8, 8 },
        { "no wait, in turns", branch(is_even, four), 0, 1, 8, 8 },
        /* One path's wait hides behind the other's instructions. */
        { "wait 8", branch(is_even, four), 8, 0, 2 * (4 + 8), 4 + 4 + 8 },
        { "wait 8, in turns", branch(is_even, four), 8, 1, 24, 16 },
        { "32 paths, wait 100", branch(own, four), 100, 0, 32 * 104, 32 * 4 + 100 },
        { "one path", branch(none, four), 8, 0, 12, 12 },
        { "nothing", branch(none, none), 8, 0, 0, 0 },
        /* A loop stays together: each pass waits for its own. */
        { "loop", loop(four_to_eight, 3), 10, 0, 8 * 13, 8 * 13 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct lanes_order stack = { false, cases[i].wait, cases[i].turns }, its = stack;
        int8_t who[2][4096];
        int64_t cycles[2], issued[2] = { 0, 0 };

        its.is_its = true;
        cycles[0] = lanes_cycles(&cases[i].warp, &stack, who[0], 4096);
        cycles[1] = lanes_cycles(&cases[i].warp, &its, who[1], 4096);
        if (cycles[0] != cases[i].stack || cycles[1] != cases[i].its)
            fail_msg("%s: %lld and %lld cycles", cases[i].name, (long long)cycles[0],
                     (long long)cycles[1]);
        for (int k = 0; k < 2; k++)
            for (int64_t c = 0; c < cycles[k]; c++)
                issued[k] += who[k][c] >= 0;
        assert_int_equal(issued[0], cases[i].warp.issue_slots);
        assert_int_equal(issued[1], cases[i].warp.issue_slots);
    }
}

static void in_turns_the_paths_alternate(void **state)
{
    struct lanes_warp w = branch(is_even, four);
    struct lanes_order order = { .is_its = true, .turns = 1 };
    int8_t who[8];

    (void)state;
    assert_int_equal(lanes_cycles(&w, &order, who, 8), 8);
    for (int c = 0; c < 8; c++)
        assert_int_equal(who[c], c % 2);
    order.turns = 2;
    lanes_cycles(&w, &order, who, 8);
    for (int c = 0; c < 8; c++)
        assert_int_equal(who[c], c / 2 % 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_add_up),
        cmocka_unit_test(masks_are_those_of_the_lanes),
        cmocka_unit_test(every_thread_does_its_own_work),
        cmocka_unit_test(warps_add_up),
        cmocka_unit_test(both_orders_issue_the_same_and_only_waits_are_saved),
        cmocka_unit_test(in_turns_the_paths_alternate),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
