/*
 * Classic kernels over grids and matrices: transposes, products, softmax, attention, stencils,
 * convolutions, n-body, Mandelbrot, Monte Carlo, random numbers.
 */
#include "tests/classics/classics.h"

#include <math.h>

/* ---- Matrices ------------------------------------------------------------------------------- */

static void every_transpose_transposes(void **state)
{
    static const char *const KERNELS[] = { "transpose_plain", "transpose_tiled" };
    static const int SHAPES[][2] = { { 1, 1 }, { 16, 16 }, { 33, 50 }, { 17, 128 } };

    (void)state;
    for (size_t b = 0; b < COUNT(CLASSIC_BUILDS); b++)
        for (size_t k = 0; k < COUNT(KERNELS); k++)
            for (size_t s = 0; s < COUNT(SHAPES); s++) {
                struct rig rig;
                struct arguments a = { .size = 0 };
                int rows = SHAPES[s][0], columns = SHAPES[s][1];
                uint64_t at_x, at_y;
                float *x, *y;

                classic_open(&rig, "matrix.cu", &CLASSIC_BUILDS[b]);
                x = classic_floats(&rig, (size_t)(rows * columns), 1);
                classic_buffer(&rig, x, (size_t)(rows * columns) * 4, &at_x);
                y = classic_buffer(&rig, NULL, (size_t)(rows * columns) * 4, &at_y);
                give_pointer(&a, at_x);
                give_pointer(&a, at_y);
                give_int(&a, rows);
                give_int(&a, columns);
                classic_run(&rig, KERNELS[k],
                            dim((unsigned)columns / 16 + 1, (unsigned)rows / 16 + 1), dim(16, 16),
                            &a);
                for (int i = 0; i < rows * columns; i++)
                    assert_true(y[i % columns * rows + i / columns] == x[i]);
                rig_done(&rig);
            }
}

/* Whole numbers: every order of summing gives the same. */
static void every_product_is_right(void **state)
{
    static const struct {
        const char *kernel;
        int tile; /* results of a block, each way */
    } ROWS[] = { { "product_plain", 16 }, { "product_tiled", 16 }, { "product_registers", 32 } };
    static const int SHAPES[][3] = { { 1, 1, 1 }, { 16, 32, 16 }, { 33, 17, 50 } };

    (void)state;
    for (size_t b = 0; b < COUNT(CLASSIC_BUILDS); b++)
        for (size_t r = 0; r < COUNT(ROWS); r++)
            for (size_t s = 0; s < COUNT(SHAPES); s++) {
                struct rig rig;
                struct arguments a = { .size = 0 };
                int m = SHAPES[s][0], n = SHAPES[s][1], k = SHAPES[s][2], tile = ROWS[r].tile;
                uint64_t at[3];
                float *x, *y, *c;

                classic_open(&rig, "matrix.cu", &CLASSIC_BUILDS[b]);
                x = classic_buffer(&rig, NULL, (size_t)(m * k) * 4, &at[0]);
                y = classic_buffer(&rig, NULL, (size_t)(k * n) * 4, &at[1]);
                c = classic_buffer(&rig, NULL, (size_t)(m * n) * 4, &at[2]);
                for (int i = 0; i < m * k; i++)
                    x[i] = (float)(i * 7 % 11 - 5);
                for (int i = 0; i < k * n; i++)
                    y[i] = (float)(i * 5 % 13 - 6);
                for (int i = 0; i < 3; i++)
                    give_pointer(&a, at[i]);
                give_int(&a, m);
                give_int(&a, n);
                give_int(&a, k);
                classic_run(&rig, ROWS[r].kernel,
                            dim((unsigned)((n - 1) / tile + 1), (unsigned)((m - 1) / tile + 1)),
                            dim(16, 16), &a);
                for (int i = 0; i < m * n; i++) {
                    float want = 0;

                    for (int l = 0; l < k; l++)
                        want += x[i / n * k + l] * y[l * n + i % n];
                    assert_true(c[i] == want);
                }
                rig_done(&rig);
            }
}

static void a_product_by_tensor_cores_is_right(void **state)
{
    enum { M = 32, N = 48, K = 64 };

    (void)state;
    for (size_t b = 0; b < COUNT(CLASSIC_BUILDS); b++) {
        struct rig rig;
        struct arguments a = { .size = 0 };
        static float x[M * K], y[K * N];
        uint64_t at_x, at_y, at_hx, at_hy, at_c;
        float *c;

        for (int i = 0; i < M * K; i++)
            x[i] = (float)(i * 7 % 11 - 5) / 8;
        for (int i = 0; i < K * N; i++)
            y[i] = (float)(i * 5 % 13 - 6) / 4;
        classic_open(&rig, "matrix.cu", &CLASSIC_BUILDS[b]);
        classic_buffer(&rig, x, sizeof x, &at_x);
        classic_buffer(&rig, y, sizeof y, &at_y);
        classic_buffer(&rig, NULL, M * K * 2, &at_hx);
        classic_buffer(&rig, NULL, K * N * 2, &at_hy);
        c = classic_buffer(&rig, NULL, M * N * 4, &at_c);
        for (int i = 0; i < 2; i++) {
            a.size = 0;
            give_pointer(&a, i ? at_y : at_x);
            give_pointer(&a, i ? at_hy : at_hx);
            give_int(&a, i ? K * N : M * K);
            classic_run(&rig, "to_half", dim(32, 1), dim(128, 1), &a);
        }
        a.size = 0;
        give_pointer(&a, at_hx);
        give_pointer(&a, at_hy);
        give_pointer(&a, at_c);
        give_int(&a, M);
        give_int(&a, N);
        give_int(&a, K);
        classic_run(&rig, "product_wmma", dim(N / 16, M / 16), dim(32, 1), &a);
        for (int i = 0; i < M * N; i++) {
            float want = 0;

            for (int l = 0; l < K; l++)
                want += x[i / N * K + l] * y[l * N + i % N];
            assert_true(c[i] == want);
        }
        rig_done(&rig);
    }
}

static void rows_are_normed(void **state)
{
    static const int LENGTHS[] = { 1, 33, 128, 200 };
    enum { ROWS = 5 };

    (void)state;
    for (size_t b = 0; b < COUNT(CLASSIC_BUILDS); b++)
        for (size_t s = 0; s < COUNT(LENGTHS); s++)
            for (int is_softmax = 0; is_softmax < 2; is_softmax++) {
                struct rig rig;
                struct arguments a = { .size = 0 };
                int n = LENGTHS[s];
                uint64_t at_x, at_y;
                float *x, *y, *want;

                classic_open(&rig, "matrix.cu", &CLASSIC_BUILDS[b]);
                x = classic_floats(&rig, (size_t)(ROWS * n), 2);
                want = classic_floats(&rig, (size_t)(ROWS * n), 2);
                classic_buffer(&rig, x, (size_t)(ROWS * n) * 4, &at_x);
                y = classic_buffer(&rig, NULL, (size_t)(ROWS * n) * 4, &at_y);
                give_pointer(&a, at_x);
                give_pointer(&a, at_y);
                give_int(&a, n);
                classic_run(&rig, is_softmax ? "softmax" : "layer_norm", dim(ROWS, 1), dim(64, 1),
                            &a);
                for (int r = 0; r < ROWS; r++) {
                    double sum = 0, squares = 0, mean;

                    for (int i = 0; i < n; i++)
                        sum += is_softmax ? exp((double)x[r * n + i]) : (double)x[r * n + i];
                    mean = sum / n;
                    for (int i = 0; i < n; i++)
                        squares += ((double)x[r * n + i] - mean) * ((double)x[r * n + i] - mean);
                    for (int i = r * n; i < (r + 1) * n; i++)
                        want[i] =
                            (float)(is_softmax ? exp((double)x[i]) / sum
                                               : ((double)x[i] - mean) / sqrt(squares / n + 1e-5));
                }
                classic_equal(is_softmax ? "softmax" : "layer_norm", &CLASSIC_BUILDS[b], y, want,
                              (size_t)(ROWS * n), 1e-5f);
                rig_done(&rig);
            }
}

static void attention_by_tiles_is_attention(void **state)
{
    enum { DEPTH = 16, MOST = 100 };
    static const int LENGTHS[] = { 1, 32, 100 };

    (void)state;
    for (size_t b = 0; b < COUNT(CLASSIC_BUILDS); b++)
        for (size_t s = 0; s < COUNT(LENGTHS); s++) {
            struct rig rig;
            struct arguments a = { .size = 0 };
            int n = LENGTHS[s];
            size_t bytes = (size_t)n * DEPTH * 4;
            uint64_t at[4];
            float *q, *k, *v, *out;
            static float want[MOST * DEPTH];

            classic_open(&rig, "matrix.cu", &CLASSIC_BUILDS[b]);
            q = classic_buffer(&rig, classic_floats(&rig, (size_t)n * DEPTH, 1), bytes, &at[0]);
            k = classic_buffer(&rig, classic_floats(&rig, (size_t)n * DEPTH, 2), bytes, &at[1]);
            v = classic_buffer(&rig, classic_floats(&rig, (size_t)n * DEPTH, 3), bytes, &at[2]);
            out = classic_buffer(&rig, NULL, bytes, &at[3]);
            for (int i = 0; i < 4; i++)
                give_pointer(&a, at[i]);
            give_int(&a, n);
            classic_run(&rig, "attention", dim((unsigned)n / 64 + 1, 1), dim(64, 1), &a);
            for (int i = 0; i < n; i++) {
                double p[MOST], sum = 0, value;

                for (int j = 0; j < n; j++) {
                    double score = 0;

                    for (int d = 0; d < DEPTH; d++)
                        score += (double)q[i * DEPTH + d] * (double)k[j * DEPTH + d];
                    sum += p[j] = exp(score * 0.25 - 20);
                }
                for (int d = 0; d < DEPTH; d++) {
                    value = 0;
                    for (int j = 0; j < n; j++)
                        value += p[j] / sum * (double)v[j * DEPTH + d];
                    want[i * DEPTH + d] = (float)value;
                }
            }
            classic_equal("attention", &CLASSIC_BUILDS[b], out, want, (size_t)n * DEPTH, 1e-4f);
            rig_done(&rig);
        }
}

/* ---- Stencils ------------------------------------------------------------------------------- */

static const float MASK[7] = { 1, -2, 3, 5, 3, -2, 1 };

static float at_or_zero(const float *x, int i, int n)
{
    return i >= 0 && i < n ? x[i] : 0;
}

static void a_stencil_in_one_dimension_reads_its_halo(void **state)
{
    static const int LENGTHS[] = { 1, 5, 128, 1000 };

    (void)state;
    for (size_t b = 0; b < COUNT(CLASSIC_BUILDS); b++)
        for (size_t s = 0; s < COUNT(LENGTHS); s++) {
            struct rig rig;
            struct arguments a = { .size = 0 };
            int n = LENGTHS[s];
            uint64_t at_x, at_y;
            float *x, *y, *want;

            classic_open(&rig, "grid.cu", &CLASSIC_BUILDS[b]);
            classic_keep_variables(&rig);
            classic_set_variable(&rig, "mask", MASK, sizeof MASK);
            x = classic_floats(&rig, (size_t)n, 4);
            want = classic_floats(&rig, (size_t)n, 4);
            classic_buffer(&rig, x, (size_t)n * 4, &at_x);
            y = classic_buffer(&rig, NULL, (size_t)n * 4, &at_y);
            give_pointer(&a, at_x);
            give_pointer(&a, at_y);
            give_int(&a, n);
            classic_run(&rig, "stencil_1d", dim((unsigned)(n - 1) / 128 + 1, 1), dim(128, 1), &a);
            for (int i = 0; i < n; i++) {
                want[i] = 0;
                for (int k = -3; k <= 3; k++)
                    want[i] += MASK[k + 3] * at_or_zero(x, i + k, n);
            }
            classic_equal("stencil_1d", &CLASSIC_BUILDS[b], y, want, (size_t)n, 1e-5f);
            rig_done(&rig);
        }
}

static float wanted_convolution(const float *x, int r, int c, int rows, int columns)
{
    float sum = 0;

    for (int dr = -3; dr <= 3; dr++)
        for (int dc = -3; dc <= 3; dc++)
            if (r + dr >= 0 && r + dr < rows && c + dc >= 0 && c + dc < columns)
                sum += MASK[dr + 3] * MASK[dc + 3] * x[(r + dr) * columns + c + dc];
    return sum;
}

static float wanted_stencil(const float *x, int r, int c, int rows, int columns)
{
    const float *p = x + r * columns + c;

    return r == 0 || c == 0 || r == rows - 1 || c == columns - 1
               ? *p
               : 0.25f * (p[-columns] + p[columns] + p[-1] + p[1]);
}

static void stencils_in_two_dimensions_are_right_at_every_edge(void **state)
{
    static const struct {
        const char *kernel;
        float (*want)(const float *, int, int, int, int);
    } ROWS[] = { { "convolution_2d", wanted_convolution }, { "stencil_2d", wanted_stencil } };
    static const int SHAPES[][2] = { { 1, 1 }, { 16, 16 }, { 35, 50 } };

    (void)state;
    for (size_t b = 0; b < COUNT(CLASSIC_BUILDS); b++)
        for (size_t k = 0; k < COUNT(ROWS); k++)
            for (size_t s = 0; s < COUNT(SHAPES); s++) {
                struct rig rig;
                struct arguments a = { .size = 0 };
                int rows = SHAPES[s][0], columns = SHAPES[s][1];
                size_t n = (size_t)(rows * columns);
                uint64_t at_x, at_y;
                float *x, *y, *want;

                classic_open(&rig, "grid.cu", &CLASSIC_BUILDS[b]);
                classic_keep_variables(&rig);
                classic_set_variable(&rig, "mask", MASK, sizeof MASK);
                x = classic_floats(&rig, n, 6);
                want = classic_floats(&rig, n, 6);
                classic_buffer(&rig, x, n * 4, &at_x);
                y = classic_buffer(&rig, NULL, n * 4, &at_y);
                give_pointer(&a, at_x);
                give_pointer(&a, at_y);
                give_int(&a, rows);
                give_int(&a, columns);
                classic_run(&rig, ROWS[k].kernel,
                            dim((unsigned)(columns - 1) / 16 + 1, (unsigned)(rows - 1) / 16 + 1),
                            dim(16, 16), &a);
                for (int i = 0; i < rows * columns; i++)
                    want[i] = ROWS[k].want(x, i / columns, i % columns, rows, columns);
                classic_equal(ROWS[k].kernel, &CLASSIC_BUILDS[b], y, want, n, 1e-4f);
                rig_done(&rig);
            }
}

static void a_stencil_in_three_dimensions_marches_along_z(void **state)
{
    enum { NX = 19, NY = 10, NZ = 7, N = NX * NY * NZ };

    (void)state;
    for (size_t b = 0; b < COUNT(CLASSIC_BUILDS); b++) {
        struct rig rig;
        struct arguments a = { .size = 0 };
        uint64_t at_x, at_y;
        float *x, *y, *want;

        classic_open(&rig, "grid.cu", &CLASSIC_BUILDS[b]);
        x = classic_floats(&rig, N, 7);
        want = arena_array(rig.arena, N, sizeof *want);
        classic_buffer(&rig, x, N * 4, &at_x);
        y = classic_buffer(&rig, NULL, N * 4, &at_y);
        give_pointer(&a, at_x);
        give_pointer(&a, at_y);
        give_int(&a, NX);
        give_int(&a, NY);
        give_int(&a, NZ);
        classic_run(&rig, "stencil_3d", dim(2, 2), dim(16, 8), &a);
        for (int i = 0; i < N; i++) {
            int c = i % NX, r = i / NX % NY, p = i / NX / NY;

            if (c > 0 && r > 0 && p > 0 && c < NX - 1 && r < NY - 1 && p < NZ - 1)
                want[i] = x[i - NX * NY] + x[i + NX * NY] + x[i - 1] + x[i + 1] + x[i - NX] +
                          x[i + NX] - 6 * x[i];
        }
        classic_equal("stencil_3d", &CLASSIC_BUILDS[b], y, want, N, 1e-5f);
        rig_done(&rig);
    }
}

/* ---- Numbers by the point -------------------------------------------------------------------- */

/* Contraction (fma) moves points on the border: nearly all must agree, and the sum must be close.
 */
static void mandelbrots_set_has_its_steps(void **state)
{
    enum { WIDTH = 61, HEIGHT = 40, MOST = 60 };

    (void)state;
    for (size_t b = 0; b < COUNT(CLASSIC_BUILDS); b++) {
        struct rig rig;
        struct arguments a = { .size = 0 };
        uint64_t at;
        int *steps, different = 0;

        classic_open(&rig, "grid.cu", &CLASSIC_BUILDS[b]);
        steps = classic_buffer(&rig, NULL, WIDTH * HEIGHT * sizeof *steps, &at);
        give_pointer(&a, at);
        give_int(&a, WIDTH);
        give_int(&a, HEIGHT);
        give_int(&a, MOST);
        classic_run(&rig, "mandelbrot", dim(4, 5), dim(16, 8), &a);
        for (int i = 0; i < WIDTH * HEIGHT; i++) {
            double cx = -2 + 3.0 * (i % WIDTH) / WIDTH, cy = -1 + 2.0 * (i / WIDTH) / HEIGHT;
            double x = 0, y = 0;
            int k = 0;

            for (; k < MOST && x * x + y * y < 4; k++) {
                double next = x * x - y * y + cx;

                y = 2 * x * y + cy;
                x = next;
            }
            different += steps[i] != k;
        }
        assert_true(different < WIDTH * HEIGHT / 50);
        rig_done(&rig);
    }
}

static void bodies_attract_each_other(void **state)
{
    enum { MOST = 200 };
    static const int COUNTS[] = { 1, 128, 200 };

    (void)state;
    for (size_t b = 0; b < COUNT(CLASSIC_BUILDS); b++)
        for (size_t s = 0; s < COUNT(COUNTS); s++) {
            struct rig rig;
            struct arguments a = { .size = 0 };
            int n = COUNTS[s];
            uint64_t at_x, at_y;
            float *x, *y, *want;

            classic_open(&rig, "grid.cu", &CLASSIC_BUILDS[b]);
            x = classic_floats(&rig, (size_t)n * 4, 8);
            want = classic_floats(&rig, (size_t)n * 4, 8);
            classic_buffer(&rig, x, (size_t)n * 16, &at_x);
            y = classic_buffer(&rig, NULL, (size_t)n * 16, &at_y);
            give_pointer(&a, at_x);
            give_pointer(&a, at_y);
            give_int(&a, n);
            classic_run(&rig, "forces", dim((unsigned)(n - 1) / 128 + 1, 1), dim(128, 1), &a);
            for (int i = 0; i < n; i++) {
                double sum[3] = { 0 };

                for (int j = 0; j < n; j++) {
                    double d[3], square = 0.01f;

                    for (int c = 0; c < 3; c++) {
                        d[c] = (double)x[4 * j + c] - (double)x[4 * i + c];
                        square += d[c] * d[c];
                    }
                    for (int c = 0; c < 3; c++)
                        sum[c] += d[c] * (double)x[4 * j + 3] / (square * sqrt(square));
                }
                for (int c = 0; c < 4; c++)
                    want[4 * i + c] = c < 3 ? (float)sum[c] : 0;
            }
            classic_equal("forces", &CLASSIC_BUILDS[b], y, want, (size_t)n * 4, 2e-4f);
            rig_done(&rig);
        }
}

static void random_points_give_pi(void **state)
{
    (void)state;
    for (size_t b = 0; b < COUNT(CLASSIC_BUILDS); b++) {
        struct rig rig;
        struct arguments a = { .size = 0 };
        uint64_t at, *hits;

        classic_open(&rig, "grid.cu", &CLASSIC_BUILDS[b]);
        hits = classic_buffer(&rig, NULL, sizeof *hits, &at);
        give_pointer(&a, at);
        give_int(&a, 40);
        classic_run(&rig, "monte_carlo", dim(8, 1), dim(128, 1), &a);
        assert_true(fabs(4.0 * (double)*hits / (1024 * 40) - 3.14159265) < 0.03);
        rig_done(&rig);
    }
}

static int ackermann(int m, int n)
{
    return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

static void functions_call_themselves_and_are_called_by_address(void **state)
{
    (void)state;
    for (size_t b = 0; b < COUNT(CLASSIC_BUILDS); b++) {
        struct rig rig;
        struct arguments a = { .size = 0 };
        uint64_t at_out, at_x, at_y;
        float *x, *y;
        int *out;

        classic_open(&rig, "grid.cu", &CLASSIC_BUILDS[b]);
        rig.launch.stack_bytes = 64 * 1024;
        out = classic_buffer(&rig, NULL, 64 * sizeof *out, &at_out);
        give_pointer(&a, at_out);
        classic_run(&rig, "recursion", dim(1, 1), dim(64, 1), &a);
        for (int t = 0; t < 64; t++)
            assert_int_equal(out[t], ackermann(t % 3, t % 5));
        x = classic_buffer(&rig, classic_floats(&rig, 200, 3), 800, &at_x);
        y = classic_buffer(&rig, NULL, 800, &at_y);
        a.size = 0;
        give_pointer(&a, at_x);
        give_pointer(&a, at_y);
        give_int(&a, 200);
        classic_run(&rig, "by_pointer", dim(2, 1), dim(128, 1), &a);
        for (int i = 0; i < 200; i++)
            assert_true(y[i] == (i % 2 ? x[i] / 2 : x[i] * x[i]));
        rig_done(&rig);
    }
}

/* ---- Random numbers ---------------------------------------------------------------------------
 */

/* Means and variances: the bits of curand are its own. */
static void curand_gives_its_distributions(void **state)
{
    static const struct {
        const char *kernel;
        double mean, variance;
    } ROWS[] = { { "uniform_numbers", 0.5, 1.0 / 12 }, { "xorwow_numbers", 0, 1 } };
    enum { N = 1024 };

    (void)state;
    for (size_t b = 0; b < 2; b++)
        for (size_t r = 0; r < COUNT(ROWS); r++) {
            struct rig rig;
            struct arguments a = { .size = 0 };
            uint64_t at, seed = 1234;
            double sum = 0, squares = 0;
            float *x;

            classic_open(&rig, "groups.cu", &CLASSIC_BUILDS[b]);
            classic_keep_variables(&rig);
            x = classic_buffer(&rig, NULL, N * 4, &at);
            give_pointer(&a, at);
            give_int(&a, N);
            give(&a, &seed, sizeof seed);
            classic_run(&rig, ROWS[r].kernel, dim(8, 1), dim(128, 1), &a);
            for (int i = 0; i < N; i++) {
                sum += (double)x[i];
                squares += (double)x[i] * (double)x[i];
            }
            sum /= N;
            squares = squares / N - sum * sum;
            assert_true(fabs(sum - ROWS[r].mean) < 0.1);
            assert_true(fabs(squares - ROWS[r].variance) < 0.15 * ROWS[r].variance);
            rig_done(&rig);
        }
}

static void all_blocks_wait_between_the_sweeps_of_jacobi(void **state)
{
    enum { N = 24, SWEEPS = 9 };

    (void)state;
    for (size_t b = 0; b < COUNT(CLASSIC_BUILDS); b++) {
        struct rig rig;
        struct arguments a = { .size = 0 };
        static float from[N * N], to[N * N];
        uint64_t at_a, at_b;
        float *x, *y;

        classic_open(&rig, "groups.cu", &CLASSIC_BUILDS[b]);
        rig.launch.is_cooperative = true;
        x = classic_buffer(&rig, NULL, sizeof from, &at_a);
        y = classic_buffer(&rig, NULL, sizeof from, &at_b);
        for (int i = 0; i < N * N; i++)
            from[i] = x[i] = (float)(i * 37 % 101);
        give_pointer(&a, at_a);
        give_pointer(&a, at_b);
        give_int(&a, N);
        give_int(&a, SWEEPS);
        classic_run(&rig, "jacobi", dim(4, 1), dim(64, 1), &a);
        for (int s = 0; s < SWEEPS; s++) {
            for (int i = 0; i < N * N; i++)
                to[i] = wanted_stencil(from, i / N, i % N, N, N);
            memcpy(from, to, sizeof to);
        }
        classic_equal("jacobi", &CLASSIC_BUILDS[b], SWEEPS % 2 ? y : x, from, N * N, 1e-6f);
        rig_done(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_transpose_transposes),
        cmocka_unit_test(every_product_is_right),
        cmocka_unit_test(rows_are_normed),
        cmocka_unit_test(attention_by_tiles_is_attention),
        cmocka_unit_test(a_product_by_tensor_cores_is_right),
        cmocka_unit_test(a_stencil_in_one_dimension_reads_its_halo),
        cmocka_unit_test(stencils_in_two_dimensions_are_right_at_every_edge),
        cmocka_unit_test(all_blocks_wait_between_the_sweeps_of_jacobi),
        cmocka_unit_test(a_stencil_in_three_dimensions_marches_along_z),
        cmocka_unit_test(mandelbrots_set_has_its_steps),
        cmocka_unit_test(bodies_attract_each_other),
        cmocka_unit_test(random_points_give_pi),
        cmocka_unit_test(functions_call_themselves_and_are_called_by_address),
        cmocka_unit_test(curand_gives_its_distributions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
