/*
 * Classic kernels with something of everything: cells that live, means that move, pairs of halves,
 * atomics by groups, a radix sort of one block, copies that overlap with sums.
 */
#include "tests/classics/classics.h"

#include <stdlib.h>

static void cells_live_on_a_torus(void **state)
{
    enum { ROWS = 37, COLUMNS = 50, CELLS = ROWS * COLUMNS };

    (void)state;
    for (size_t b = 0; b < COUNT(CLASSIC_BUILDS); b++) {
        unsigned char want[CELLS], before[CELLS], *cells[2];
        uint64_t at[2], seed = 5;
        struct rig rig;

        classic_open(&rig, "mixed.cu", &CLASSIC_BUILDS[b]);
        for (int i = 0; i < 2; i++)
            cells[i] = classic_buffer(&rig, NULL, CELLS, &at[i]);
        for (int i = 0; i < CELLS; i++)
            want[i] = cells[0][i] = classic_random(&seed) % 3 == 0;
        for (int step = 0; step < 5; step++) {
            struct arguments a = { .size = 0 };

            give_pointer(&a, at[step % 2]);
            give_pointer(&a, at[1 - step % 2]);
            give_int(&a, ROWS);
            give_int(&a, COLUMNS);
            classic_run(&rig, "life", dim(4, 3), dim(16, 16), &a);
            memcpy(before, want, sizeof before);
            for (int i = 0; i < CELLS; i++) {
                int alive = -before[i];

                for (int k = 0; k < 9; k++)
                    alive += before[(i / COLUMNS + k / 3 + ROWS - 1) % ROWS * COLUMNS +
                                    (i % COLUMNS + k % 3 + COLUMNS - 1) % COLUMNS];
                want[i] = alive == 3 || (alive == 2 && before[i]);
            }
            assert_memory_equal(cells[1 - step % 2], want, sizeof want);
        }
        rig_done(&rig);
    }
}

/* Coordinates are whole numbers, so that their sums are exact in any order. */
static void points_go_to_the_nearest_mean(void **state)
{
    enum { N = 1000, K = 5 };

    (void)state;
    for (size_t b = 0; b < COUNT(CLASSIC_BUILDS); b++) {
        float points[2 * N], centres[2 * K], want[2 * K] = { 0 }, *sums;
        int counted[K] = { 0 }, *owner, *counts;
        struct arguments a = { .size = 0 };
        uint64_t at[5], seed = 11;
        struct rig rig;

        for (int i = 0; i < 2 * N; i++)
            points[i] = (float)(classic_random(&seed) % 1000);
        for (int j = 0; j < 2 * K; j++)
            centres[j] = points[7 * j] + 0.25f;
        classic_open(&rig, "mixed.cu", &CLASSIC_BUILDS[b]);
        classic_buffer(&rig, points, sizeof points, &at[0]);
        classic_buffer(&rig, centres, sizeof centres, &at[1]);
        owner = classic_buffer(&rig, NULL, N * sizeof *owner, &at[2]);
        sums = classic_buffer(&rig, NULL, sizeof want, &at[3]);
        counts = classic_buffer(&rig, NULL, sizeof counted, &at[4]);
        for (int i = 0; i < 5; i++)
            give_pointer(&a, at[i]);
        give_int(&a, N);
        give_int(&a, K);
        rig.launch.dynamic_shared_bytes = 3 * K * (int)sizeof(float);
        classic_run(&rig, "nearest_centre", dim(N / 128 + 1, 1), dim(128, 1), &a);
        for (int i = 0; i < N; i++) {
            const float *p = points + 2 * (size_t)i, *c = centres + 2 * (size_t)owner[i];

            for (int j = 0; j < K; j++)
                assert_true(powf(p[0] - c[0], 2) + powf(p[1] - c[1], 2) <=
                            powf(p[0] - centres[2 * j], 2) + powf(p[1] - centres[2 * j + 1], 2));
            counted[owner[i]]++;
            want[2 * owner[i]] += p[0];
            want[2 * owner[i] + 1] += p[1];
        }
        assert_memory_equal(counts, counted, sizeof counted);
        assert_memory_equal(sums, want, sizeof want);
        rig_done(&rig);
    }
}

static void pairs_of_halves_add_up(void **state)
{
    enum { N = 1002 };

    (void)state;
    for (size_t b = 0; b < COUNT(CLASSIC_BUILDS); b++) {
        _Float16 x[N], y[N], want[N], *got;
        struct arguments a = { .size = 0 };
        float factor = 0.5f;
        uint64_t at_x, at_y;
        struct rig rig;

        for (int i = 0; i < N; i++) { /* quarters below 2,048 / 4: exact */
            x[i] = (_Float16)(i % 61 - 30);
            y[i] = (_Float16)(i % 97);
            want[i] = (_Float16)(0.5f * (float)(i % 61 - 30) + (float)(i % 97));
        }
        classic_open(&rig, "mixed.cu", &CLASSIC_BUILDS[b]);
        got = classic_buffer(&rig, y, sizeof y, &at_y);
        classic_buffer(&rig, x, sizeof x, &at_x);
        give_pointer(&a, at_y);
        give_pointer(&a, at_x);
        give(&a, &factor, sizeof factor);
        give_int(&a, N / 2);
        classic_run(&rig, "axpy_pairs", dim(3, 1), dim(64, 1), &a);
        assert_memory_equal(got, want, sizeof want);
        rig_done(&rig);
    }
}

static int compare_ints(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;

    return (x > y) - (x < y);
}

static void a_group_takes_its_places_with_one_atomic(void **state)
{
    enum { N = 999 };

    (void)state;
    for (size_t b = 0; b < COUNT(CLASSIC_BUILDS); b++) {
        int x[N], want[N], kept = 0, *y, *count;
        struct arguments a = { .size = 0 };
        uint64_t at[3], seed = 3;
        struct rig rig;

        for (int i = 0; i < N; i++) {
            x[i] = (int)(classic_random(&seed) % 100000);
            if (x[i] & 1)
                want[kept++] = x[i];
        }
        classic_open(&rig, "mixed.cu", &CLASSIC_BUILDS[b]);
        classic_buffer(&rig, x, sizeof x, &at[0]);
        y = classic_buffer(&rig, NULL, sizeof x, &at[1]);
        count = classic_buffer(&rig, NULL, sizeof *count, &at[2]);
        for (int i = 0; i < 3; i++)
            give_pointer(&a, at[i]);
        give_int(&a, N);
        classic_run(&rig, "keep_odd", dim(N / 128 + 1, 1), dim(128, 1), &a);
        assert_int_equal(*count, kept);
        qsort(want, (size_t)kept, sizeof *want, compare_ints);
        qsort(y, (size_t)kept, sizeof *y, compare_ints);
        assert_memory_equal(y, want, (size_t)kept * sizeof *want);
        rig_done(&rig);
    }
}

static int compare_words(const void *a, const void *b)
{
    unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

    return (x > y) - (x < y);
}

static void digits_sort_a_block(void **state)
{
    static const int SIZES[] = { 1, 33, 1000, 1024 };

    (void)state;
    for (size_t b = 0; b < COUNT(CLASSIC_BUILDS); b++)
        for (size_t s = 0; s < COUNT(SIZES); s++) {
            unsigned want[1024], *x;
            struct arguments a = { .size = 0 };
            uint64_t at, seed = 17;
            struct rig rig;
            size_t size = (size_t)SIZES[s] * sizeof *want;

            for (int i = 0; i < SIZES[s]; i++)
                want[i] = classic_random(&seed) << 1;
            classic_open(&rig, "mixed.cu", &CLASSIC_BUILDS[b]);
            x = classic_buffer(&rig, want, size, &at);
            qsort(want, (size_t)SIZES[s], sizeof *want, compare_words);
            give_pointer(&a, at);
            give_int(&a, SIZES[s]);
            classic_run(&rig, "sort_by_digit", dim(1, 1), dim(1024, 1), &a);
            assert_memory_equal(x, want, size);
            rig_done(&rig);
        }
}

static void a_tile_is_summed_while_the_next_comes(void **state)
{
    enum { BLOCKS = 3, TILES = 6, TILE = 64 };

    (void)state;
    for (size_t b = 0; b < COUNT(CLASSIC_BUILDS); b++) {
        int x[BLOCKS * TILES * TILE], want[BLOCKS * TILE] = { 0 }, *y;
        struct arguments a = { .size = 0 };
        uint64_t at_x, at_y;
        struct rig rig;

        for (int i = 0; i < BLOCKS * TILES * TILE; i++) {
            int block = i / (TILES * TILE), tile = i / TILE % TILES;

            x[i] = i * 31 % 1009;
            want[block * TILE + TILE - 1 - i % TILE] += x[i] * (tile + 1);
        }
        classic_open(&rig, "mixed.cu", &CLASSIC_BUILDS[b]);
        classic_buffer(&rig, x, sizeof x, &at_x);
        y = classic_buffer(&rig, NULL, sizeof want, &at_y);
        give_pointer(&a, at_x);
        give_pointer(&a, at_y);
        give_int(&a, TILES);
        classic_run(&rig, "sum_of_tiles", dim(BLOCKS, 1), dim(TILE, 1), &a);
        assert_memory_equal(y, want, sizeof want);
        rig_done(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_live_on_a_torus),
        cmocka_unit_test(points_go_to_the_nearest_mean),
        cmocka_unit_test(pairs_of_halves_add_up),
        cmocka_unit_test(a_group_takes_its_places_with_one_atomic),
        cmocka_unit_test(digits_sort_a_block),
        cmocka_unit_test(a_tile_is_summed_while_the_next_comes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
