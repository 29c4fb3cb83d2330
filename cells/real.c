/*
 * Each function is brought to a short interval first, where a power series with a
 * handful of terms is as good as the last bit. Contraction to fused operations is off
 * in the whole build, or the bits would depend on the machine after all.
 */
#include "cells/real.h"

#include <math.h>
#include <stddef.h>

/* Constants in two or three parts: the first ones have so few bits that k * part is exact. */
static const double LN2_HIGH = 0x1.62e42feep-1, LN2_LOW = 0x1.a39ef35793c76p-33;
static const double LOG2_E = 0x1.71547652b82fep+0;
static const double HALF_PI_1 = 0x1.921fb544p+0, HALF_PI_2 = 0x1.0b4611a6p-34,
                    HALF_PI_3 = 0x1.3198a2e037073p-69;
static const double TWO_OVER_PI = 0x1.45f306dc9c883p-1;

/* 1 / n!: what the series of exp, sin and cos share. */
static const double INVERSE_FACTORIAL[] = {
    1.0,
    1.0,
    1.0 / 2,
    1.0 / 6,
    1.0 / 24,
    1.0 / 120,
    1.0 / 720,
    1.0 / 5040,
    1.0 / 40320,
    1.0 / 362880,
    1.0 / 3628800,
    1.0 / 39916800,
    1.0 / 479001600,
    1.0 / 6227020800,
    1.0 / 87178291200,
    1.0 / 1307674368000,
    1.0 / 20922789888000,
    1.0 / 355687428096000,
    1.0 / 6402373705728000,
};

double real_exp(double x)
{
    double k, r, sum = 0;

    if (x != x)
        return x;
    if (x > 709.8)
        return HUGE_VAL;
    if (x < -745.2)
        return 0;
    k = floor(x * LOG2_E + 0.5);
    r = x - k * LN2_HIGH - k * LN2_LOW;
    /* sum r^n / n!, |r| <= 0.35: the 14th term is below 2^-57. */
    for (int n = 14; n > 0; n--)
        sum = (sum + INVERSE_FACTORIAL[n]) * r;
    return ldexp(1 + sum, (int)k);
}

/* log of m in sqrt(1/2) .. sqrt(2), as 2 atanh((m - 1) / (m + 1)). */
static double log_near_1(double m)
{
    static const double INVERSE_ODD[] = { 1.0 / 3,  1.0 / 5,  1.0 / 7,  1.0 / 9,
                                          1.0 / 11, 1.0 / 13, 1.0 / 15, 1.0 / 17,
                                          1.0 / 19, 1.0 / 21, 1.0 / 23 };
    double s = (m - 1) / (m + 1), z = s * s, sum = 0;

    for (int n = 10; n >= 0; n--)
        sum = (sum + INVERSE_ODD[n]) * z;
    return 2 * s + 2 * s * sum;
}

static double split(double x, int *exponent)
{
    double m = frexp(x, exponent);

    if (m < 0x1.6a09e667f3bcdp-1) {
        m *= 2;
        --*exponent;
    }
    return m;
}

double real_log(double x)
{
    int e;
    double m;

    if (!(x > 0))
        return x == 0 ? -HUGE_VAL : (double)NAN;
    if (isinf(x))
        return x;
    m = split(x, &e);
    return e * LN2_HIGH + (e * LN2_LOW + log_near_1(m));
}

double real_log2(double x)
{
    int e;
    double m;

    if (!(x > 0))
        return x == 0 ? -HUGE_VAL : (double)NAN;
    if (isinf(x))
        return x;
    m = split(x, &e);
    return e + log_near_1(m) * LOG2_E;
}

/* x as r + quarter * pi/2, |r| <= pi/4. */
static double reduce(double x, int *quarter)
{
    double k;

    if (fabs(x) > 0x1p20)
        x = fmod(x, 0x1.921fb54442d18p+2);
    k = floor(x * TWO_OVER_PI + 0.5);
    *quarter = (int)k & 3;
    return x - k * HALF_PI_1 - k * HALF_PI_2 - k * HALF_PI_3;
}

/* r - r^3/3! + r^5/5! - ...: the signs alternate with z = -r^2. */
static double sin_near_0(double r)
{
    double z = -r * r, sum = 0;

    for (int n = 17; n >= 3; n -= 2)
        sum = (sum + INVERSE_FACTORIAL[n]) * z;
    return r + r * sum;
}

static double cos_near_0(double r)
{
    double z = -r * r, sum = 0;

    for (int n = 18; n >= 4; n -= 2)
        sum = (sum + INVERSE_FACTORIAL[n]) * z;
    return 1 + (z / 2 + z * sum);
}

static double turned(double x, int more)
{
    int quarter;
    double r, v;

    if (x != x || isinf(x))
        return (double)NAN;
    r = reduce(x, &quarter);
    quarter = (quarter + more) & 3;
    v = quarter & 1 ? cos_near_0(r) : sin_near_0(r);
    return quarter & 2 ? -v : v;
}

double real_sin(double x)
{
    return turned(x, 0);
}

double real_cos(double x)
{
    return turned(x, 1);
}

/* sinh of |x| < 1/2 by its series. */
static double sinh_near_0(double x)
{
    double z = x * x, sum = 0;

    for (int n = 15; n >= 3; n -= 2)
        sum = (sum + INVERSE_FACTORIAL[n]) * z;
    return x + x * sum;
}

double real_tanh(double x)
{
    double a = fabs(x), e, s, t;

    if (x != x)
        return x;
    if (a < 0.5) { /* 1 - e^-2a would cancel */
        s = sinh_near_0(x);
        return s / sqrt(1 + s * s);
    }
    e = a > 22 ? 0 : real_exp(-2 * a);
    t = (1 - e) / (1 + e);
    return x < 0 ? -t : t;
}

double real_pow(double x, double y)
{
    double v = 1, base = x;

    if (y == floor(y) && fabs(y) <= 1024) {
        for (unsigned n = (unsigned)fabs(y); n; n >>= 1) {
            if (n & 1)
                v *= base;
            base *= base;
        }
        return y < 0 ? 1 / v : v;
    }
    return x == 0 && y > 0 ? 0 : real_exp(y * real_log(x));
}
