/*
 * CUDA's math library as the compiler expands it: polynomials, table look-ups, slow
 * paths of large angles. Each function is compared with a long double of the host
 * within the error that NVIDIA documents for it (CUDA C++ Programming Guide,
 * "Mathematical Functions", table of maximum ulp errors).
 */
#include "tests/unit/ptx_rig.h"

#include <math.h>

enum { BLOCKS = 8, THREADS = 256, ROWS = BLOCKS * THREADS };

typedef long double unary_fn(long double);
typedef long double binary_fn(long double, long double);

static long double reciprocal_root(long double v)
{
    return 1 / sqrtl(v);
}

static long double normal_cdf(long double v)
{
    return erfcl(-v / sqrtl(2)) / 2;
}

static const struct {
    const char *kernel;
    unary_fn *unary;
    binary_fn *binary;
    double ulps;
} FUNCTIONS[] = {
    { "f_sin", sinl, NULL, 2 },
    { "f_tan", tanl, NULL, 4 },
    { "f_exp", expl, NULL, 2 },
    { "f_log", logl, NULL, 1 },
    { "f_log1p", log1pl, NULL, 1 },
    { "f_cbrt", cbrtl, NULL, 1 },
    { "f_sqrt", sqrtl, NULL, 0 },
    { "f_rsqrt", reciprocal_root, NULL, 2 },
    { "f_tanh", tanhl, NULL, 2 },
    { "f_acos", acosl, NULL, 2 },
    { "f_erf", erfl, NULL, 2 },
    { "f_erfc", erfcl, NULL, 4 },
    { "f_tgamma", tgammal, NULL, 5 },
    { "f_normcdf", normal_cdf, NULL, 5 },
    { "f_pow", NULL, powl, 4 },
    { "f_atan2", NULL, atan2l, 3 },
    { "f_hypot", NULL, hypotl, 3 },
    { "f_fmod", NULL, fmodl, 0 },
    { "d_sin", sinl, NULL, 2 },
    { "d_exp", expl, NULL, 1 },
    { "d_log", logl, NULL, 1 },
    { "d_cbrt", cbrtl, NULL, 1 },
    { "d_rsqrt", reciprocal_root, NULL, 1 },
    { "d_erf", erfl, NULL, 2 },
    { "d_tanh", tanhl, NULL, 2 },
    { "d_pow", NULL, powl, 2 },
    { "d_hypot", NULL, hypotl, 2 },
};

static double random_unit(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(*seed >> 11) * 0x1p-53;
}

/* Near 0 and 1, small and large, of all magnitudes; whole numbers; and the special values. */
static double pick(int i, bool is_double, uint64_t *seed)
{
    static const double specials[] = { 0,   -0.0, 1, -1,     INFINITY, -INFINITY,
                                       NAN, 0.5,  2, 1e-310, 0x1p-149 };
    double u = random_unit(seed), sign = random_unit(seed) < 0.5 ? -1 : 1;
    int most = is_double ? 1000 : 120;

    if (i < (int)COUNT(specials))
        return specials[i];
    switch (i % 6) {
    case 0:
        return sign * u;
    case 1:
        return sign * u * 10;
    case 2:
        return sign * u * 100;
    case 3:
        return 1 + (u - 0.5) * 0.01;
    case 4:
        return sign * ldexp(1 + u, (int)(random_unit(seed) * 2 * most) - most);
    default:
        return sign * floor(u * 80) / 2;
    }
}

struct table {
    bool is_double;
    void *x, *y, *out;
};

static double element(const struct table *t, const void *row, int i)
{
    return t->is_double ? ((const double *)row)[i] : (double)((const float *)row)[i];
}

static void put(const struct table *t, void *row, int i, double v)
{
    if (t->is_double)
        ((double *)row)[i] = v;
    else
        ((float *)row)[i] = (float)v;
}

static void check(const struct table *t, size_t f, int i)
{
    long double x = element(t, t->x, i), y = element(t, t->y, i);
    long double want = FUNCTIONS[f].unary ? FUNCTIONS[f].unary(x) : FUNCTIONS[f].binary(x, y);
    double got = element(t, t->out, i), rounded = t->is_double ? (double)want : (double)(float)want;
    int exponent, digits = t->is_double ? 53 : 24, least = t->is_double ? -1021 : -125;
    bool is_right;

    if (isnan(rounded) || isinf(rounded)) {
        is_right = isnan(rounded) ? isnan(got) : got == rounded;
    } else {
        frexpl(want, &exponent);
        exponent = exponent < least ? least : exponent;
        /* Half a unit more: the documented error is against the rounded value. */
        is_right = fabsl(got - want) <= (FUNCTIONS[f].ulps + 0.5) * ldexpl(1, exponent - digits);
    }
    if (!is_right)
        fail_msg("%s(%La, %La): %a, not %La", FUNCTIONS[f].kernel, x, y, got, want);
}

static void functions_keep_the_documented_error(void **state)
{
    uint64_t seed = 17;

    (void)state;
    for (size_t f = 0; f < COUNT(FUNCTIONS); f++) {
        struct table t = { .is_double = FUNCTIONS[f].kernel[0] == 'd' };
        size_t size = ROWS * (t.is_double ? sizeof(double) : sizeof(float));
        uint64_t parameters[3];
        struct rig rig;

        rig_load_sample(&rig, "math.opt");
        t.x = rig_buffer(&rig, size, &parameters[0]);
        t.y = rig_buffer(&rig, size, &parameters[1]);
        t.out = rig_buffer(&rig, size, &parameters[2]);
        for (int i = 0; i < ROWS; i++) {
            put(&t, t.x, i, pick(i, t.is_double, &seed));
            put(&t, t.y, i, pick(i * 7 % 11, t.is_double, &seed));
        }
        for (int i = 16; i < ROWS; i++)
            put(&t, t.y, i, pick(i / 6, t.is_double, &seed));
        rig_run(&rig, FUNCTIONS[f].kernel, BLOCKS, THREADS, parameters);
        for (int i = 0; i < ROWS; i++)
            check(&t, f, i);
        rig_done(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_keep_the_documented_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
