/*
 * Whole kernels as nvcc compiles them, in both builds: sums, products, transposes, histograms,
 * recursion, structs, votes, constants and atomics give what the same work gives in C.
 */
#include "tests/unit/ptx_rig.h"

#include <math.h>

static const char *const BUILDS[] = { "opt", "debug" };

static void load(struct rig *rig, const char *file, size_t build)
{
    char name[64];

    snprintf(name, sizeof name, "%s.%s", file, BUILDS[build]);
    rig_load_sample(rig, name);
}

static float random_float(uint32_t *seed)
{
    *seed = *seed * 1664525U + 1013904223U;
    return (float)(*seed >> 8) / 16777216.0f;
}

static void vector_add_adds(void **state)
{
    (void)state;
    for (size_t build = 0; build < COUNT(BUILDS); build++) {
        enum { N = 1000 };
        struct {
            uint64_t a, b, c;
            int n;
        } p = { .n = N };
        struct rig rig;
        float *a, *b, *c;
        uint32_t seed = 1;

        load(&rig, "basics", build);
        a = rig_buffer(&rig, 4 * N, &p.a);
        b = rig_buffer(&rig, 4 * N, &p.b);
        c = rig_buffer(&rig, 4 * N, &p.c);
        for (int i = 0; i < N; i++) {
            a[i] = random_float(&seed);
            b[i] = random_float(&seed);
        }
        rig_run(&rig, "vector_add", 4, 256, &p);
        for (int i = 0; i < N; i++)
            assert_true(c[i] == a[i] + b[i]);
        rig_done(&rig);
    }
}

static void both_matmuls_multiply(void **state)
{
    static const char *const kernels[] = { "matmul_naive", "matmul_tiled" };

    (void)state;
    for (size_t i = 0; i < COUNT(kernels) * COUNT(BUILDS); i++) {
        enum { N = 48 };
        struct {
            uint64_t a, b, c;
            int n;
        } p = { .n = N };
        struct rig rig;
        float *a, *b, *c;
        uint32_t seed = 2;

        load(&rig, "basics", i % 2);
        a = rig_buffer(&rig, 4 * N * N, &p.a);
        b = rig_buffer(&rig, 4 * N * N, &p.b);
        c = rig_buffer(&rig, 4 * N * N, &p.c);
        for (int k = 0; k < N * N; k++) {
            a[k] = random_float(&seed);
            b[k] = random_float(&seed);
        }
        rig.launch.grid.y = 3;
        rig.launch.block.y = 16;
        rig_run(&rig, kernels[i / 2], 3, 16, &p);
        for (int row = 0; row < N; row++)
            for (int col = 0; col < N; col++) {
                float sum = 0.0f;

                /* The compiler contracts to fma only when it optimizes. */
                for (int k = 0; k < N; k++)
                    sum = i % 2 ? a[row * N + k] * b[k * N + col] + sum
                                : fmaf(a[row * N + k], b[k * N + col], sum);
                assert_true(c[row * N + col] == sum);
            }
        rig_done(&rig);
    }
}

static void transpose_turns_and_its_bank_conflicts_are_counted(void **state)
{
    (void)state;
    for (size_t build = 0; build < COUNT(BUILDS); build++) {
        enum { N = 64 };
        struct {
            uint64_t in, out;
            int n;
        } p = { .n = N };
        struct rig rig;
        float *in, *out;

        load(&rig, "basics", build);
        in = rig_buffer(&rig, 4 * N * N, &p.in);
        out = rig_buffer(&rig, 4 * N * N, &p.out);
        for (int i = 0; i < N * N; i++)
            in[i] = (float)i;
        rig.launch.grid.y = 2;
        rig.launch.block.y = 32;
        rig_run(&rig, "transpose", 2, 32, &p);
        for (int y = 0; y < N; y++)
            for (int x = 0; x < N; x++)
                assert_true(out[x * N + y] == in[y * N + x]);
        assert_int_equal(rig.facts.shared.requests, 4 * 32 * 2);
        assert_int_equal(rig.facts.shared.passes, 4 * 32 * 33);
        assert_int_equal(rig.facts.shared_conflicts, 4 * 32 * 31);
        assert_int_equal(rig.facts.global_load.sectors, 4 * 32 * 4);
        assert_int_equal(rig.facts.barriers, 4 * 32);
        rig_done(&rig);
    }
}

static void reduce_sums_with_shuffles_and_an_atomic(void **state)
{
    (void)state;
    for (size_t build = 0; build < COUNT(BUILDS); build++) {
        enum { N = 10000 };
        struct {
            uint64_t x, out;
            int n;
        } p = { .n = N };
        struct rig rig;
        float *x, *out;

        load(&rig, "basics", build);
        x = rig_buffer(&rig, 4 * N, &p.x);
        out = rig_buffer(&rig, 4, &p.out);
        for (int i = 0; i < N; i++)
            x[i] = (float)(i % 7);
        rig.launch.dynamic_shared_bytes = 8 * 4;
        rig_run(&rig, "reduce", 4, 256, &p);
        assert_true(*out == 29994.0f); /* sum of i % 7 below 10000: whole numbers are exact */
        assert_int_equal(rig.facts.shfl, 4 * 8 * 5);
        assert_int_equal(rig.facts.atom, 4);
        rig_done(&rig);
    }
}

static void histogram_counts_with_shared_atomics(void **state)
{
    (void)state;
    for (size_t build = 0; build < COUNT(BUILDS); build++) {
        enum { N = 5000 };
        struct {
            uint64_t bytes, bins;
            int n;
        } p = { .n = N };
        struct rig rig;
        unsigned char *bytes;
        uint32_t *bins, want[256] = { 0 };

        load(&rig, "basics", build);
        bytes = rig_buffer(&rig, N, &p.bytes);
        bins = rig_buffer(&rig, 4 * 256, &p.bins);
        for (int i = 0; i < N; i++) {
            bytes[i] = (unsigned char)(i * i % 251);
            want[bytes[i]]++;
        }
        rig_run(&rig, "histogram", 3, 128, &p);
        assert_memory_equal(bins, want, sizeof want);
        rig_done(&rig);
    }
}

static void recursion_has_frames_of_its_own(void **state)
{
    static const int fibonacci[] = { 0, 1, 1, 2, 3, 5, 8, 13, 21, 34 };

    (void)state;
    for (size_t build = 0; build < COUNT(BUILDS); build++) {
        struct rig rig;
        uint64_t p;
        int *out;

        load(&rig, "basics", build);
        out = rig_buffer(&rig, 4 * 64, &p);
        rig_run(&rig, "fibonacci", 1, 64, &p);
        for (int t = 0; t < 64; t++)
            assert_int_equal(out[t], fibonacci[t % 10]);
        rig_done(&rig);
    }
}

struct pair {
    double weight;
    int16_t left, right;
    char tag[4];
};

static void structs_are_passed_and_returned_by_value(void **state)
{
    (void)state;
    for (size_t build = 0; build < COUNT(BUILDS); build++) {
        struct {
            struct pair first;
            uint64_t out;
        } p = { .first = { 1.25, 100, -7, "abc" } };
        struct rig rig;
        struct pair *out;

        load(&rig, "basics", build);
        out = rig_buffer(&rig, 40 * sizeof *out, &p.out);
        rig_run(&rig, "structs", 1, 40, &p);
        for (int t = 0; t < 40; t++) {
            assert_true(out[t].weight == 2.5);
            assert_int_equal(out[t].left, -7);
            assert_int_equal(out[t].right, 100 + t);
            assert_memory_equal(out[t].tag, "axc", 4);
        }
        rig_done(&rig);
    }
}

static void votes_and_shuffles_see_the_other_lanes(void **state)
{
    (void)state;
    for (size_t build = 0; build < COUNT(BUILDS); build++) {
        uint64_t p[2];
        struct rig rig;
        uint32_t *out, ballot = 0;
        int *x, any = 0, all = 1;

        load(&rig, "basics", build);
        x = rig_buffer(&rig, 4 * 32, &p[0]);
        out = rig_buffer(&rig, 4 * 32, &p[1]);
        for (int t = 0; t < 32; t++) {
            x[t] = t * 37 % 64 - 31;
            ballot |= (uint32_t)(x[t] > 0) << t;
            any |= x[t] > 100;
            all &= x[t] > -100;
        }
        rig_run(&rig, "votes", 1, 32, p);
        for (int t = 0; t < 32; t++) {
            uint32_t active = x[t] > 0 ? ballot : 0;
            uint32_t want = ballot ^ active ^ (uint32_t)any << 1 ^ (uint32_t)all << 2 ^
                            (uint32_t)__builtin_popcount(ballot) ^ (uint32_t)x[3] ^
                            (uint32_t)x[t ^ 5] ^ (uint32_t)x[t < 2 ? t : t - 2];

            assert_int_equal(out[t], want);
        }
        rig_done(&rig);
    }
}

static void constants_and_device_variables_are_initialised(void **state)
{
    static const float weights[] = { 0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f };

    (void)state;
    for (size_t build = 0; build < COUNT(BUILDS); build++) {
        enum { N = 300 };
        struct {
            uint64_t in, out;
            int n;
        } p = { .n = N };
        struct rig rig;
        float *in, *out;

        load(&rig, "basics", build);
        in = rig_buffer(&rig, 4 * N, &p.in);
        out = rig_buffer(&rig, 4 * N, &p.out);
        for (int i = 0; i < N; i++)
            in[i] = (float)(i * i % 17);
        rig_run(&rig, "stencil", 2, 160, &p);
        for (int i = 0; i < N; i++) {
            float sum = 0.0f;

            for (int k = -2; k <= 2; k++) {
                int j = i + k < 0 ? 0 : i + k > N - 1 ? N - 1 : i + k;

                sum = fmaf(weights[k + 2], in[j], sum);
            }
            assert_true(out[i] == sum);
        }
        rig_done(&rig);
    }
}

static void vectors_and_local_arrays_keep_their_elements(void **state)
{
    (void)state;
    for (size_t build = 0; build < COUNT(BUILDS); build++) {
        uint64_t p[4], q[2];
        struct rig rig;
        float *a, *out;
        int *b, *x, *y;
        int16_t *halves;

        load(&rig, "numbers", build);
        a = rig_buffer(&rig, 16 * 32, &p[0]);
        b = rig_buffer(&rig, 8 * 32, &p[1]);
        out = rig_buffer(&rig, 16 * 32, &p[2]);
        halves = rig_buffer(&rig, 8 * 32, &p[3]);
        for (int i = 0; i < 128; i++)
            a[i] = (float)i;
        for (int i = 0; i < 64; i++)
            b[i] = i * 70000;
        rig_run(&rig, "vectors", 1, 32, p);
        for (int t = 0; t < 32; t++) {
            assert_true(out[4 * t] == a[4 * t + 3] + (float)b[2 * t]);
            assert_true(out[4 * t + 1] == a[4 * t + 2] - (float)b[2 * t + 1]);
            assert_true(out[4 * t + 2] == a[4 * t + 1] * 2.0f);
            assert_true(out[4 * t + 3] == a[4 * t]);
            assert_int_equal(halves[4 * t], (int16_t)b[2 * t]);
            assert_int_equal(halves[4 * t + 2], (int16_t)(b[2 * t] >> 16));
            assert_int_equal(halves[4 * t + 3], 7);
        }
        x = rig_buffer(&rig, 4 * 32, &q[0]);
        y = rig_buffer(&rig, 4 * 32, &q[1]);
        for (int i = 0; i < 32; i++)
            x[i] = i * 7 + 3;
        rig_run(&rig, "local_array", 1, 32, q);
        for (int t = 0; t < 32; t++)
            assert_int_equal(y[t], x[x[t] & 15] * t + x[(x[t] + t) & 15] * t);
        rig_done(&rig);
    }
}

static void atomics_combine_all_threads(void **state)
{
    (void)state;
    for (size_t build = 0; build < COUNT(BUILDS); build++) {
        uint64_t p[4], *l;
        struct rig rig;
        uint32_t *u;
        float *f;
        int *i;

        load(&rig, "numbers", build);
        i = rig_buffer(&rig, 4 * 80, &p[0]);
        u = rig_buffer(&rig, 4 * 8, &p[1]);
        f = rig_buffer(&rig, 4, &p[2]);
        l = rig_buffer(&rig, 8, &p[3]);
        u[0] = 0xff;
        rig_run(&rig, "atomics", 1, 64, p);
        assert_int_equal(i[0], 63 * 64 / 2);
        assert_int_equal(i[1], -7);
        assert_int_equal(i[2], 63);
        assert_int_equal(i[3], 63); /* lanes in ascending order */
        assert_int_equal(i[8 + 63], 62);
        assert_int_equal(u[0], 0xf0);
        assert_int_equal(u[1], 0xffffffff);
        assert_int_equal(u[2], 0);
        assert_int_equal(u[3], 4); /* 64 steps of 0..9 */
        assert_true(*f == 32.0f);
        assert_true(*l == 64ULL << 33);
        rig_done(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vector_add_adds),
        cmocka_unit_test(both_matmuls_multiply),
        cmocka_unit_test(transpose_turns_and_its_bank_conflicts_are_counted),
        cmocka_unit_test(reduce_sums_with_shuffles_and_an_atomic),
        cmocka_unit_test(histogram_counts_with_shared_atomics),
        cmocka_unit_test(recursion_has_frames_of_its_own),
        cmocka_unit_test(structs_are_passed_and_returned_by_value),
        cmocka_unit_test(votes_and_shuffles_see_the_other_lanes),
        cmocka_unit_test(constants_and_device_variables_are_initialised),
        cmocka_unit_test(vectors_and_local_arrays_keep_their_elements),
        cmocka_unit_test(atomics_combine_all_threads),
    };

    return rig_run_builds(tests, COUNT(tests));
}
