/*
 * Threads to warps and lanes: every case of the lesson texts, and the counting
 * of blocks by kinds against going through all of their threads.
 */
#include "model/layout.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct layout cut(struct extent block, struct extent grid)
{
    struct err err = { 0 };
    struct layout out;

    if (layout_of(block, grid, &out, &err) < 0)
        fail_msg("%s", err.text);
    return out;
}

static void threads_are_cut_into_warps_of_32(void **state)
{
    static const struct {
        struct extent block, grid;
        int warps, idle_lanes;
        int64_t all_warps;
        double lane_efficiency;
    } cases[] = {
        { { 256, 1, 1 }, { 1, 1, 1 }, 8, 0, 8, 1 },
        { { 256, 1, 1 }, { 3, 1, 1 }, 8, 0, 24, 1 },       /* F62 */
        { { 100, 1, 1 }, { 1, 1, 1 }, 4, 28, 4, 0.78125 }, /* F3 */
        { { 4, 4, 1 }, { 1, 1, 1 }, 1, 16, 1, 0.5 },       /* F65 */
        { { 16, 16, 1 }, { 1, 1, 1 }, 8, 0, 8, 1 },
        { { 8, 8, 2 }, { 1, 1, 1 }, 4, 0, 4, 1 },
        { { 1, 1, 1 }, { 5, 2, 3 }, 1, 31, 30, 1.0 / 32 },
        { { 1024, 1, 1 }, { 1, 1, 1 }, 32, 0, 32, 1 },
        { { 1, 16, 64 }, { 1, 1, 1 }, 32, 0, 32, 1 },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct layout l = cut(cases[i].block, cases[i].grid);

        if (l.warps != cases[i].warps || l.idle_lanes != cases[i].idle_lanes ||
            l.all_warps != cases[i].all_warps || l.lane_efficiency != cases[i].lane_efficiency)
            fail_msg("case %zu: %d warps, %d idle, %lld in all, %g", i, l.warps, l.idle_lanes,
                     (long long)l.all_warps, l.lane_efficiency);
    }
}

static void only_the_last_warp_has_lanes_without_a_thread(void **state)
{
    struct layout l = cut((struct extent){ 100, 1, 1 }, (struct extent){ 1, 1, 1 });

    (void)state;
    assert_int_equal(layout_mask(&l, 0), UINT32_MAX);
    assert_int_equal(layout_mask(&l, 2), UINT32_MAX);
    assert_int_equal(layout_mask(&l, 3), 0xf);
}

static void x_runs_fastest_then_y_then_z(void **state)
{
    static const struct extent size = { 8, 8, 2 };
    static const struct {
        struct extent at;
        int64_t rank;
    } cases[] = {
        { { 0, 0, 0 }, 0 },  { { 7, 0, 0 }, 7 },  { { 0, 1, 0 }, 8 },   { { 0, 4, 0 }, 32 },
        { { 0, 0, 1 }, 64 }, { { 3, 2, 1 }, 83 }, { { 7, 7, 1 }, 127 },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(extent_rank(size, cases[i].at), cases[i].rank);
    for (int64_t rank = 0; rank < extent_count(size); rank++)
        assert_int_equal(extent_rank(size, extent_place(size, rank)), rank);
}

static void a_boundary_splits_the_one_warp_that_it_cuts(void **state)
{
    static const struct {
        int64_t block, blocks, n, inside, whole, split, out;
    } cases[] = {
        { 128, 1, 100, 100, 3, 1, 0 }, /* F79 */
        { 256, 4, 1000, 1000, 31, 1, 0 }, { 256, 40, 10000, 10000, 312, 1, 7 },
        { 256, 4, 1024, 1024, 32, 0, 0 }, { 256, 4, 0, 0, 0, 0, 32 },
        { 256, 4, 5000, 1024, 32, 0, 0 }, { 100, 2, 150, 150, 5, 1, 2 },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct layout l =
            cut((struct extent){ cases[i].block, 1, 1 }, (struct extent){ cases[i].blocks, 1, 1 });
        struct layout_bounds b;

        layout_bounds(&l, (struct extent){ cases[i].n, 1, 1 }, true, &b);
        if (b.inside != cases[i].inside || b.whole != cases[i].whole || b.split != cases[i].split ||
            b.out != cases[i].out)
            fail_msg("case %zu: %lld inside, %lld whole, %lld split, %lld out", i,
                     (long long)b.inside, (long long)b.whole, (long long)b.split, (long long)b.out);
    }
}

/* Every thread of every block, one after the other. */
static void go_through(const struct layout *l, struct extent n, bool is_linear,
                       struct layout_bounds *out)
{
    *out = (struct layout_bounds){ 0 };
    for (int64_t b = 0; b < l->blocks; b++)
        for (int w = 0; w < l->warps; w++) {
            int passing = 0, here = 0;

            for (int t = w * WARP; t < l->threads && t < (w + 1) * WARP; t++) {
                struct extent at = extent_place(l->block, t), of = extent_place(l->grid, b);

                here++;
                passing += is_linear
                               ? b * l->threads + t < n.x
                               : of.x * l->block.x + at.x < n.x && of.y * l->block.y + at.y < n.y &&
                                     of.z * l->block.z + at.z < n.z;
            }
            out->inside += passing;
            out->whole += passing == here;
            out->split += passing && passing != here;
            out->out += !passing;
        }
}

static void kinds_of_blocks_count_like_all_blocks(void **state)
{
    static const struct extent shapes[][3] = {
        { { 16, 16, 1 }, { 3, 3, 1 }, { 40, 33, 1 } }, { { 8, 8, 2 }, { 2, 3, 4 }, { 15, 9, 5 } },
        { { 5, 7, 3 }, { 4, 2, 2 }, { 11, 14, 6 } },   { { 32, 4, 1 }, { 2, 2, 1 }, { 64, 3, 1 } },
        { { 10, 10, 1 }, { 2, 2, 1 }, { 0, 20, 1 } },  { { 33, 1, 1 }, { 9, 1, 1 }, { 101, 1, 1 } },
        { { 7, 1, 1 }, { 13, 1, 1 }, { 1000, 9, 9 } },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(shapes); i++)
        for (int is_linear = 0; is_linear < 2; is_linear++) {
            struct layout l = cut(shapes[i][0], shapes[i][1]);
            struct layout_bounds got, want;

            layout_bounds(&l, shapes[i][2], is_linear, &got);
            go_through(&l, shapes[i][2], is_linear, &want);
            if (got.inside != want.inside || got.whole != want.whole || got.split != want.split ||
                got.out != want.out)
                fail_msg("shape %zu, linear %d: %lld %lld %lld %lld, not %lld %lld %lld %lld", i,
                         is_linear, (long long)got.inside, (long long)got.whole,
                         (long long)got.split, (long long)got.out, (long long)want.inside,
                         (long long)want.whole, (long long)want.split, (long long)want.out);
        }
}

static void what_no_launch_has_is_refused_with_its_limit(void **state)
{
    static const struct {
        struct extent block, grid;
        const char *says;
    } cases[] = {
        { { 1025, 1, 1 }, { 1, 1, 1 }, "at most 1024" },
        { { 1, INT64_MAX, 1 }, { 1, 1, 1 }, "at most 1024" },
        { { 64, 32, 1 }, { 1, 1, 1 }, "has 2048 threads; 1024 are allowed" },
        { { 1, 1, 65 }, { 1, 1, 1 }, "z is at most 64" },
        { { 1, 1, 1 }, { INT64_MAX, 2, 1 }, "more than 2^53 threads" },
        { { 1024, 1, 1 }, { (int64_t)1 << 43, 2, 1 }, "more than 2^53 threads" },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct err err = { 0 };
        struct layout out;

        assert_int_equal(layout_of(cases[i].block, cases[i].grid, &out, &err), -1);
        assert_int_equal(err.name, ERR_ValueError);
        if (!strstr(err.text, cases[i].says))
            fail_msg("%s", err.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_are_cut_into_warps_of_32),
        cmocka_unit_test(only_the_last_warp_has_lanes_without_a_thread),
        cmocka_unit_test(x_runs_fastest_then_y_then_z),
        cmocka_unit_test(a_boundary_splits_the_one_warp_that_it_cuts),
        cmocka_unit_test(kinds_of_blocks_count_like_all_blocks),
        cmocka_unit_test(what_no_launch_has_is_refused_with_its_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
