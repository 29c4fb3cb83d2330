/*
 * Directed rounding by the host's rounding mode, and the special functions by
 * range reduction and a polynomial in double precision: many more digits than a
 * float has, so that the one rounding at the end decides.
 */
#include "model/ptx/numbers.h"

/*
 * The compiler may move arithmetic across fesetround; volatile operands and result pin it. Modes
 * are restored at once: no other code runs in a mode that is not the default.
 */
#define IN_MODE(type, mode, expr)                                                                  \
    volatile type result;                                                                          \
    fesetround(mode);                                                                              \
    result = (expr);                                                                               \
    fesetround(FE_TONEAREST);                                                                      \
    return result

float add_rounded(float a, float b, int mode)
{
    volatile float x = a, y = b;
    IN_MODE(float, mode, x + y);
}

float mul_rounded(float a, float b, int mode)
{
    volatile float x = a, y = b;
    IN_MODE(float, mode, x *y);
}

float div_rounded(float a, float b, int mode)
{
    volatile float x = a, y = b;
    IN_MODE(float, mode, x / y);
}

double add_rounded64(double a, double b, int mode)
{
    volatile double x = a, y = b;
    IN_MODE(double, mode, x + y);
}

double mul_rounded64(double a, double b, int mode)
{
    volatile double x = a, y = b;
    IN_MODE(double, mode, x *y);
}

double div_rounded64(double a, double b, int mode)
{
    volatile double x = a, y = b;
    IN_MODE(double, mode, x / y);
}

double sqrt_rounded64(double a, int mode)
{
    volatile double x = a;
    IN_MODE(double, mode, sqrt(x));
}

/* The library's fma is right in every rounding mode; it takes the mode from the environment. */
float fma_rounded(float a, float b, float c, int mode)
{
    volatile float x = a, y = b, z = c;
    IN_MODE(float, mode, fmaf(x, y, z));
}

double fma_rounded64(double a, double b, double c, int mode)
{
    volatile double x = a, y = b, z = c;
    IN_MODE(double, mode, fma(x, y, z));
}

float sqrt_rounded(float a, int mode)
{
    volatile float x = a;
    IN_MODE(float, mode, sqrtf(x));
}

static const double LN2 = 0.693147180559945309417232;

/* 2^v for |v| < 1000: 2^k e^f with |f| <= ln 2 / 2; the series of e^f to f^11 leaves 2e-16. */
static double exp2_double(double v)
{
    double k = __builtin_rint(v), f = (v - k) * LN2, sum = 1.0;

    for (int i = 11; i > 0; i--)
        sum = 1.0 + sum * f / i;
    return sum * f64_of_bits((uint64_t)(1023 + (int64_t)k) << 52);
}

float approx_ex2(float v)
{
    if (v != v)
        return v;
    if (v >= 128.0f)
        return INFINITY;
    if (v < -150.0f)
        return 0.0f;
    return (float)exp2_double((double)v);
}

/* v = m 2^e with m in [0.7, 1.41): log2 v = e + 2 atanh((m - 1) / (m + 1)) / ln 2. */
float approx_lg2(float v)
{
    uint64_t bits = bits_of_f64((double)v);
    int e = (int)(bits >> 52 & 0x7ff) - 1023;
    double m = f64_of_bits((bits & 0x000fffffffffffffULL) | 0x3ff0000000000000ULL), z, sum = 0.0;

    if (v != v || v < 0.0f)
        return NAN;
    if (v == 0.0f)
        return -INFINITY;
    if (v == INFINITY)
        return v;
    if (m > 1.4142135623730951) {
        m /= 2.0;
        e++;
    }
    z = (m - 1.0) / (m + 1.0);
    for (int i = 19; i > 0; i -= 2)
        sum = sum * z * z + 1.0 / i;
    return (float)(e + 2.0 * z * sum / LN2);
}

/* The card multiplies with the reciprocal, and that of what is above 2^126 is flushed to zero. */
float approx_div(float a, float b)
{
    float size = __builtin_fabsf(b);

    return size > 0x1p126f && size < INFINITY ? a * __builtin_copysignf(0.0f, b) : a / b;
}

/*
 * sin(v + quadrants * pi / 2). The card counts turns: v / 2 pi in single precision, rounded toward
 * zero, whose fraction is all that acts; so a large v loses its bits, and 2^25 or more is no angle.
 * Then the series of sine or cosine in [-pi/4, pi/4].
 */
static float sine(float v, int64_t quadrants)
{
    static const double PIO2 = 1.57079632679489655800e+00, PER_TURN = 0x1.45f306p-3;
    double turns, n, r, r2, sum = 1.0;
    int first;

    if (!(__builtin_fabsf(v) < INFINITY))
        return NAN;
    turns = 4.0 * f64_of_bits(bits_of_f64((double)v * PER_TURN) & ~(((uint64_t)1 << 29) - 1));
    n = __builtin_rint(turns);
    r = (turns - n) * PIO2;
    r2 = r * r;
    quadrants += (int64_t)(n - 4.0 * __builtin_floor(n / 4.0));
    first = quadrants & 1 ? 1 : 2; /* cosine: 1 - r2/(1 2) ..., sine: r - r r2/(2 3) ... */
    for (int i = first + 14; i >= first; i -= 2)
        sum = 1.0 - sum * r2 / (i * (i + 1));
    if (first == 2)
        sum *= r;
    return (float)(quadrants & 2 ? -sum : sum);
}

float approx_sin(float v)
{
    return sine(v, 0);
}

float approx_cos(float v)
{
    return sine(v, 1);
}

float approx_tanh(float v)
{
    double x = __builtin_fabs((double)v), e;

    if (v != v)
        return v;
    if (x < 1e-4)
        return (float)((double)v * (1.0 - (double)v * (double)v / 3.0));
    e = x > 20.0 ? 0.0 : exp2_double(-2.0 * x / LN2);
    return __builtin_copysignf((float)((1.0 - e) / (1.0 + e)), v);
}
