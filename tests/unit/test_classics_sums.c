/*
 * Classic kernels over lists: reductions, scans, sorts, histograms, sparse matrices, graphs.
 */
#include "tests/classics/classics.h"

static const int SIZES[] = { 1, 31, 128, 1000, 4097 };

/* ---- Reductions ----------------------------------------------------------------------------- */

struct reduction {
    const char *file, *kernel;
    unsigned per_block; /* values of a block; 0: a grid of 5 blocks strides */
    bool is_odd;        /* sums odd values only */
};

static int sum_of(struct rig *rig, const struct reduction *r, const int *x, int n)
{
    struct arguments a = { .size = 0 };
    uint64_t at_x, at_out;
    int *out;

    rig->launch.buffer_count = 0;
    classic_buffer(rig, x, (size_t)n * sizeof *x, &at_x);
    out = classic_buffer(rig, NULL, sizeof *out, &at_out);
    give_pointer(&a, at_x);
    give_pointer(&a, at_out);
    give_int(&a, n);
    classic_run(rig, r->kernel, dim(r->per_block ? ((unsigned)n - 1) / r->per_block + 1 : 5, 1),
                dim(128, 1), &a);
    return *out;
}

static void check_reductions(const struct reduction *rows, size_t count, size_t builds)
{
    for (size_t b = 0; b < builds; b++)
        for (size_t r = 0; r < count; r++)
            for (size_t s = 0; s < COUNT(SIZES); s++) {
                struct rig rig;
                int n = SIZES[s], want = 0, *x;

                classic_open(&rig, rows[r].file, &CLASSIC_BUILDS[b]);
                x = arena_array(rig.arena, (size_t)n, sizeof *x);
                for (int i = 0; i < n; i++) {
                    x[i] = i * 7 % 101 - 20;
                    want += rows[r].is_odd && x[i] % 2 == 0 ? 0 : x[i];
                }
                for (int repeat = 0; repeat < 2; repeat++)
                    if (sum_of(&rig, &rows[r], x, n) != want)
                        fail_msg("%s of %d (%s): not %d", rows[r].kernel, n, CLASSIC_BUILDS[b].name,
                                 want);
                rig_done(&rig);
            }
}

static void every_step_of_a_reduction_gives_the_sum(void **state)
{
    static const struct reduction ROWS[] = {
        { "reduce.cu", "by_modulo", 128, false },       { "reduce.cu", "by_stride", 128, false },
        { "reduce.cu", "by_halves", 128, false },       { "reduce.cu", "add_on_load", 256, false },
        { "reduce.cu", "last_warp_alone", 256, false }, { "reduce.cu", "unrolled", 0, false },
        { "reduce.cu", "by_shuffles", 0, false },       { "reduce.cu", "by_redux", 0, false },
        { "reduce.cu", "last_block_adds", 0, false },   { "reduce.cu", "by_swaps", 128, false },
    };

    (void)state;
    check_reductions(ROWS, COUNT(ROWS), COUNT(CLASSIC_BUILDS));
}

static void cooperative_groups_give_the_sum(void **state)
{
    static const struct reduction ROWS[] = {
        { "groups.cu", "tile_sums", 0, false },
        { "groups.cu", "elected_sums", 128, true },
    };

    (void)state;
    check_reductions(ROWS, COUNT(ROWS), COUNT(CLASSIC_BUILDS));
}

/* ---- Scans ---------------------------------------------------------------------------------- */

enum { SCAN_BLOCK = 256, SCAN_MOST = 20000 };

/* Scans by three launches: parts, their sums (by the host here), and the sums added. */
static void scan_by_parts(struct rig *rig, const char *kernel, int per_block, uint64_t x,
                          uint64_t y, uint64_t at_sums, int *sums, int n)
{
    struct arguments a = { .size = 0 }, add = { .size = 0 };
    unsigned blocks = (unsigned)((n - 1) / per_block + 1);

    give_pointer(&a, x);
    give_pointer(&a, y);
    give_pointer(&a, at_sums);
    give_int(&a, n);
    classic_run(rig, kernel, dim(blocks, 1), dim(SCAN_BLOCK, 1), &a);
    for (unsigned i = 1; i < blocks; i++)
        sums[i] += sums[i - 1];
    give_pointer(&add, y);
    give_pointer(&add, at_sums);
    give_int(&add, n);
    give_int(&add, per_block);
    classic_run(rig, "add_sums", dim(blocks, 1), dim(SCAN_BLOCK, 1), &add);
}

static void scan_in_one_pass(struct rig *rig, uint64_t x, uint64_t y, int n)
{
    struct arguments a = { .size = 0 };

    give_pointer(&a, x);
    give_pointer(&a, y);
    give_int(&a, n);
    classic_run(rig, "look_back", dim((unsigned)((n - 1) / SCAN_BLOCK + 1), 1), dim(SCAN_BLOCK, 1),
                &a);
}

static void every_scan_gives_the_prefix_sums(void **state)
{
    static const struct {
        const char *kernel;
        int per_block; /* 0: in one pass */
    } ROWS[] = {
        { "hillis_steele", 256 }, { "blelloch", 512 }, { "by_shuffles", 256 }, { "look_back", 0 }
    };
    static const int LENGTHS[] = { 1, 33, 512, 777, 20000 };

    (void)state;
    for (size_t b = 0; b < COUNT(CLASSIC_BUILDS); b++)
        for (size_t r = 0; r < COUNT(ROWS); r++)
            for (size_t s = 0; s < COUNT(LENGTHS); s++) {
                struct rig rig;
                uint64_t at_x, at_y, at_sums;
                int n = LENGTHS[s], want = 0, *x, *y, *sums;

                classic_open(&rig, "scan.cu", &CLASSIC_BUILDS[b]);
                x = classic_buffer(&rig, NULL, (size_t)n * sizeof *x, &at_x);
                y = classic_buffer(&rig, NULL, (size_t)n * sizeof *y, &at_y);
                sums = classic_buffer(&rig, NULL, 128 * sizeof *sums, &at_sums);
                for (int i = 0; i < n; i++)
                    x[i] = i * 13 % 37 - 9;
                if (ROWS[r].per_block)
                    scan_by_parts(&rig, ROWS[r].kernel, ROWS[r].per_block, at_x, at_y, at_sums,
                                  sums, n);
                else
                    scan_in_one_pass(&rig, at_x, at_y, n);
                for (int i = 0; i < n; i++)
                    if (y[i] != (want += x[i]))
                        fail_msg("%s of %d (%s): [%d] is %d, not %d", ROWS[r].kernel, n,
                                 CLASSIC_BUILDS[b].name, i, y[i], want);
                rig_done(&rig);
            }
}

/* ---- Sorts, merges, histograms --------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

    return (x > y) - (x < y);
}

enum sort { BITONIC_STEPS, BITONIC_SHARED, RADIX };

static void sort_with(struct rig *rig, enum sort sort, uint64_t x, uint64_t y, int n)
{
    struct arguments a = { .size = 0 };
    unsigned blocks = (unsigned)((n - 1) / 128 + 1);

    give_pointer(&a, x);
    if (sort == BITONIC_STEPS) {
        for (int k = 2; k <= n; k *= 2)
            for (int j = k / 2; j > 0; j /= 2) {
                a.size = 8;
                give_int(&a, n);
                give_int(&a, j);
                give_int(&a, k);
                classic_run(rig, "bitonic_step", dim(blocks, 1), dim(128, 1), &a);
            }
    } else if (sort == BITONIC_SHARED) {
        classic_run(rig, "bitonic_shared", dim((unsigned)n / 256, 1), dim(128, 1), &a);
    } else {
        give_pointer(&a, y);
        give_int(&a, n);
        rig->launch.dynamic_shared_bytes = n * 4;
        classic_run(rig, "radix_block", dim(1, 1), dim(128, 1), &a);
    }
}

static void every_sort_sorts(void **state)
{
    static const struct {
        const char *name;
        enum sort sort;
        int n, part; /* each part of so many is sorted */
    } ROWS[] = { { "bitonic by launches", BITONIC_STEPS, 2, 2 },
                 { "bitonic by launches", BITONIC_STEPS, 1024, 1024 },
                 { "bitonic in shared memory", BITONIC_SHARED, 768, 256 },
                 { "radix", RADIX, 1, 1 },
                 { "radix", RADIX, 777, 777 } };

    (void)state;
    for (size_t b = 0; b < COUNT(CLASSIC_BUILDS); b++)
        for (size_t r = 0; r < COUNT(ROWS); r++) {
            struct rig rig;
            uint64_t at_x, at_y, seed = 5;
            size_t bytes = (size_t)ROWS[r].n * sizeof(unsigned);
            unsigned *x, *y, *want;

            classic_open(&rig, "sort.cu", &CLASSIC_BUILDS[b]);
            x = classic_buffer(&rig, NULL, bytes, &at_x);
            y = classic_buffer(&rig, NULL, bytes, &at_y);
            want = arena_alloc(rig.arena, bytes);
            for (int i = 0; i < ROWS[r].n; i++)
                want[i] = x[i] = i % 5 ? classic_random(&seed) * 2 : 42;
            for (int i = 0; i < ROWS[r].n; i += ROWS[r].part)
                qsort(want + i, (size_t)ROWS[r].part, sizeof *want, by_value);
            sort_with(&rig, ROWS[r].sort, at_x, at_y, ROWS[r].n);
            if (ROWS[r].sort == BITONIC_SHARED) { /* part k falls where k is odd, for a merge */
                assert_memory_equal(x, want, 1024);
            } else {
                assert_memory_equal(ROWS[r].sort == RADIX ? y : x, want, bytes);
            }
            rig_done(&rig);
        }
}

static void a_merge_along_diagonals_merges(void **state)
{
    static const int SHAPES[][2] = { { 1, 1 }, { 0, 5 }, { 300, 511 }, { 1000, 3 } };

    (void)state;
    for (size_t b = 0; b < COUNT(CLASSIC_BUILDS); b++)
        for (size_t s = 0; s < COUNT(SHAPES); s++) {
            struct rig rig;
            struct arguments a = { .size = 0 };
            int na = SHAPES[s][0], nb = SHAPES[s][1], *x, *y, *out, i = 0, j = 0;
            uint64_t at[3];

            classic_open(&rig, "sort.cu", &CLASSIC_BUILDS[b]);
            x = classic_buffer(&rig, NULL, (size_t)na * 4 + 4, &at[0]);
            y = classic_buffer(&rig, NULL, (size_t)nb * 4 + 4, &at[1]);
            out = classic_buffer(&rig, NULL, (size_t)(na + nb) * 4, &at[2]);
            for (int k = 0; k < na; k++)
                x[k] = 3 * k;
            for (int k = 0; k < nb; k++)
                y[k] = 2 * k;
            give_pointer(&a, at[0]);
            give_int(&a, na);
            give_pointer(&a, at[1]);
            give_int(&a, nb);
            give_pointer(&a, at[2]);
            give_int(&a, 7);
            classic_run(&rig, "merge_path", dim((unsigned)((na + nb) / 7 / 128 + 1), 1),
                        dim(128, 1), &a);
            for (int k = 0; k < na + nb; k++) {
                int want = j >= nb || (i < na && x[i] <= y[j]) ? x[i++] : y[j++];

                assert_int_equal(out[k], want);
            }
            rig_done(&rig);
        }
}

static void every_histogram_counts(void **state)
{
    static const struct {
        const char *kernel;
        int shift; /* of a value to its bin */
    } ROWS[] = { { "histogram_global", 0 }, { "histogram_shared", 0 }, { "histogram_private", 2 } };

    (void)state;
    for (size_t b = 0; b < COUNT(CLASSIC_BUILDS); b++)
        for (size_t r = 0; r < COUNT(ROWS); r++)
            for (size_t s = 0; s < COUNT(SIZES); s++) {
                struct rig rig;
                struct arguments a = { .size = 0 };
                uint64_t at_x, at_bins, seed = 3;
                int n = SIZES[s];
                unsigned *bins, want[256] = { 0 };
                uint8_t *x;

                classic_open(&rig, "sort.cu", &CLASSIC_BUILDS[b]);
                x = classic_buffer(&rig, NULL, (size_t)n, &at_x);
                bins = classic_buffer(&rig, NULL, sizeof want, &at_bins);
                for (int i = 0; i < n; i++) {
                    x[i] = i % 3 ? (uint8_t)classic_random(&seed) : 65;
                    want[x[i] >> ROWS[r].shift]++;
                }
                give_pointer(&a, at_x);
                give_int(&a, n);
                give_pointer(&a, at_bins);
                classic_run(&rig, ROWS[r].kernel, dim(3, 1), dim(128, 1), &a);
                assert_memory_equal(bins, want, sizeof want);
                rig_done(&rig);
            }
}

/* ---- Sparse matrices and graphs -------------------------------------------------------------- */

enum { ROWS_MOST = 600, WIDTH = 40 };

struct sparse {
    int rows, first[ROWS_MOST + 1], columns[ROWS_MOST * WIDTH];
    float values[ROWS_MOST * WIDTH];
};

static void make_sparse(struct sparse *m, int rows)
{
    uint64_t seed = 9;

    m->rows = rows;
    m->first[0] = 0;
    for (int r = 0; r < rows; r++) {
        int count = (int)(classic_random(&seed) % (r % 7 ? 5 : WIDTH));

        m->first[r + 1] = m->first[r] + count;
        for (int k = m->first[r]; k < m->first[r + 1]; k++) {
            m->columns[k] = (int)(classic_random(&seed) % (unsigned)rows);
            m->values[k] = (float)(int)(classic_random(&seed) % 9) - 4;
        }
    }
}

/* Whole numbers, so that the order of the sums does not show. */
static void every_sparse_product_is_right(void **state)
{
    static const char *const KERNELS[] = { "csr_scalar", "csr_vector", "ell" };
    static struct sparse m;

    (void)state;
    for (size_t b = 0; b < COUNT(CLASSIC_BUILDS); b++)
        for (size_t k = 0; k < COUNT(KERNELS); k++)
            for (int rows = 1; rows <= 599; rows += 299) {
                struct rig rig;
                struct arguments a = { .size = 0 };
                bool is_ell = !strcmp(KERNELS[k], "ell");
                uint64_t at[5];
                float x[ROWS_MOST], want[ROWS_MOST], *y;

                make_sparse(&m, rows);
                classic_open(&rig, "sparse.cu", &CLASSIC_BUILDS[b]);
                int *columns = arena_array(rig.arena, (size_t)(rows * WIDTH), sizeof *columns);
                float *values = arena_array(rig.arena, (size_t)(rows * WIDTH), sizeof *values);

                for (int r = 0; r < rows; r++) {
                    x[r] = (float)(r % 11 - 5);
                    for (int c = 0; c < WIDTH; c++)
                        columns[c * rows + r] = -1;
                }
                for (int r = 0; r < rows; r++) {
                    want[r] = 0;
                    for (int e = m.first[r]; e < m.first[r + 1]; e++) {
                        want[r] += m.values[e] * x[m.columns[e]];
                        columns[(e - m.first[r]) * rows + r] = m.columns[e];
                        values[(e - m.first[r]) * rows + r] = m.values[e];
                    }
                }
                give_int(&a, rows);
                if (is_ell) {
                    give_int(&a, WIDTH);
                    classic_buffer(&rig, columns, (size_t)(rows * WIDTH) * 4, &at[1]);
                    classic_buffer(&rig, values, (size_t)(rows * WIDTH) * 4, &at[2]);
                } else {
                    classic_buffer(&rig, m.first, (size_t)(rows + 1) * 4, &at[0]);
                    give_pointer(&a, at[0]);
                    classic_buffer(&rig, m.columns, (size_t)m.first[rows] * 4 + 4, &at[1]);
                    classic_buffer(&rig, m.values, (size_t)m.first[rows] * 4 + 4, &at[2]);
                }
                classic_buffer(&rig, x, (size_t)rows * 4, &at[3]);
                y = classic_buffer(&rig, NULL, (size_t)rows * 4, &at[4]);
                for (int i = 1; i < 5; i++)
                    give_pointer(&a, at[i]);
                classic_run(&rig, KERNELS[k], dim((unsigned)(rows * 32 - 1) / 128 + 1, 1),
                            dim(128, 1), &a);
                classic_equal(KERNELS[k], &CLASSIC_BUILDS[b], y, want, (size_t)rows, 0);
                rig_done(&rig);
            }
}

/* Levels by the host: the same breadth-first search with a queue. */
static void levels_of(const struct sparse *m, int *level)
{
    static int queue[ROWS_MOST];
    int head = 0, tail = 0;

    for (int i = 0; i < m->rows; i++)
        level[i] = -1;
    level[0] = 0;
    queue[tail++] = 0;
    while (head < tail) {
        int v = queue[head++];

        for (int k = m->first[v]; k < m->first[v + 1]; k++)
            if (level[m->columns[k]] < 0) {
                level[m->columns[k]] = level[v] + 1;
                queue[tail++] = m->columns[k];
            }
    }
}

static void a_breadth_first_search_finds_the_levels(void **state)
{
    static struct sparse m;

    (void)state;
    make_sparse(&m, 599);
    for (size_t b = 0; b < COUNT(CLASSIC_BUILDS); b++) {
        struct rig rig;
        int want[ROWS_MOST], *level, *frontier[2], *count, n = 1;
        uint64_t at[6];

        classic_open(&rig, "sparse.cu", &CLASSIC_BUILDS[b]);
        classic_buffer(&rig, m.first, sizeof m.first, &at[0]);
        classic_buffer(&rig, m.columns, sizeof m.columns, &at[1]);
        level = classic_buffer(&rig, NULL, sizeof want, &at[2]);
        frontier[0] = classic_buffer(&rig, NULL, sizeof want, &at[3]);
        frontier[1] = classic_buffer(&rig, NULL, sizeof want, &at[4]);
        count = classic_buffer(&rig, NULL, sizeof *count, &at[5]);
        levels_of(&m, want);
        memset(level, 0xff, sizeof want);
        level[0] = 0;
        frontier[0][0] = 0;
        for (int depth = 1; n > 0; depth++) {
            struct arguments a = { .size = 0 };

            for (int i = 0; i < 3; i++)
                give_pointer(&a, at[i]);
            give_int(&a, depth);
            give_pointer(&a, at[3 + (depth + 1) % 2]);
            give_int(&a, n);
            give_pointer(&a, at[3 + depth % 2]);
            give_pointer(&a, at[5]);
            *count = 0;
            classic_run(&rig, "bfs_level", dim((unsigned)(n - 1) / 128 + 1, 1), dim(128, 1), &a);
            n = *count;
        }
        assert_memory_equal(level, want, 599 * sizeof *want);
        rig_done(&rig);
    }
}

static void floyd_and_warshall_find_the_shortest_ways(void **state)
{
    enum { N = 37 };

    (void)state;
    for (size_t b = 0; b < COUNT(CLASSIC_BUILDS); b++) {
        struct rig rig;
        uint64_t at, seed = 1;
        int want[N * N], *d;

        classic_open(&rig, "sparse.cu", &CLASSIC_BUILDS[b]);
        d = classic_buffer(&rig, NULL, sizeof want, &at);
        for (int i = 0; i < N * N; i++)
            want[i] = d[i] = i % (N + 1) ? (int)(classic_random(&seed) % 1000) + 1 : 0;
        for (int k = 0; k < N; k++) {
            struct arguments a = { .size = 0 };

            give_pointer(&a, at);
            give_int(&a, N);
            give_int(&a, k);
            classic_run(&rig, "floyd_warshall", dim(3, 3), dim(16, 16), &a);
            for (int i = 0; i < N * N; i++) {
                int through = want[i / N * N + k] + want[k * N + i % N];

                want[i] = through < want[i] ? through : want[i];
            }
        }
        assert_memory_equal(d, want, sizeof want);
        rig_done(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_step_of_a_reduction_gives_the_sum),
        cmocka_unit_test(every_scan_gives_the_prefix_sums),
        cmocka_unit_test(every_sort_sorts),
        cmocka_unit_test(a_merge_along_diagonals_merges),
        cmocka_unit_test(every_histogram_counts),
        cmocka_unit_test(every_sparse_product_is_right),
        cmocka_unit_test(a_breadth_first_search_finds_the_levels),
        cmocka_unit_test(floyd_and_warshall_find_the_shortest_ways),
        cmocka_unit_test(cooperative_groups_give_the_sum),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
