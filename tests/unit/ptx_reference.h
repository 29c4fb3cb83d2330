/*
 * Rounding by search, for the tests: a float format is a list of values in order; the code whose
 * value is nearest is found by bisection and compared exactly, in quadruple precision. Nothing here
 * is how the interpreter does it.
 */
#ifndef WB_TESTS_UNIT_PTX_REFERENCE_H
#define WB_TESTS_UNIT_PTX_REFERENCE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef __float128 quad;

struct ref_format {
    const char *name;
    int bits, digits; /* of the whole, of the fraction */
    int bias;
    uint64_t largest;  /* code of the largest number */
    uint64_t infinity; /* its code, 0: there is none */
    uint64_t nan;      /* as the GPU makes it */
    int shift;
};

static const struct ref_format REF_F16 = { "f16", 16, 10, 15, 0x7bff, 0x7c00, 0x7fff, 0 };
static const struct ref_format REF_BF16 = { "bf16", 16, 7, 127, 0x7f7f, 0x7f80, 0x7fff, 0 };
static const struct ref_format REF_TF32 = { "tf32", 32, 10, 127, 0x3fbff, 0x3fc00, 0x7fffe000, 13 };
static const struct ref_format REF_F32 = {
    "f32", 32, 23, 127, 0x7f7fffff, 0x7f800000, 0x7fffffff, 0
};
static const struct ref_format REF_F64 = {
    "f64", 64, 52, 1023, 0x7fefffffffffffff, 0x7ff0000000000000, 0x7ff8000000000000, 0
};
static const struct ref_format REF_E4M3 = { "e4m3", 8, 3, 7, 0x7e, 0, 0x7f, 0 };
static const struct ref_format REF_E5M2 = { "e5m2", 8, 2, 15, 0x7b, 0x7c, 0x7f, 0 };

enum ref_mode { REF_RN, REF_RZ, REF_RM, REF_RP, REF_RNA };

/* The value of a code without its sign: at most the largest number's. */
static inline double ref_magnitude(const struct ref_format *f, uint64_t code)
{
    uint64_t fraction = code & (((uint64_t)1 << f->digits) - 1);
    int exponent = (int)(code >> f->digits);

    if (exponent)
        fraction += (uint64_t)1 << f->digits;
    return ldexp((double)fraction, (exponent ? exponent : 1) - f->bias - f->digits);
}

static inline double ref_value(const struct ref_format *f, uint64_t code)
{
    uint64_t sign = code >> (f->bits - 1) & 1;
    uint64_t magnitude = (code & (((uint64_t)1 << (f->bits - 1)) - 1)) >> f->shift;
    double v;

    if (magnitude > f->largest)
        v = f->infinity && magnitude == f->infinity ? INFINITY : NAN;
    else
        v = ref_magnitude(f, magnitude);
    return sign ? -v : v;
}

/* The code of x, which is finite, rounded; is_negative is the sign of a zero. */
static inline uint64_t ref_round(const struct ref_format *f, quad x, bool is_negative,
                                 enum ref_mode mode)
{
    quad m = x < 0 ? -x : x, below, above;
    uint64_t low = 0, high = f->largest, code;
    bool is_up;

    if (x != 0)
        is_negative = x < 0;
    while (low < high) { /* the largest code whose value is not above m */
        uint64_t middle = low + (high - low + 1) / 2;

        if ((quad)ref_magnitude(f, middle) <= m)
            low = middle;
        else
            high = middle - 1;
    }
    below = ref_magnitude(f, low);
    above = low == f->largest ? below + (below - (quad)ref_magnitude(f, low - 1))
                              : (quad)ref_magnitude(f, low + 1);
    is_up = mode == REF_RN    ? m - below > above - m || (m - below == above - m && (low & 1))
            : mode == REF_RNA ? m - below >= above - m
            : mode == REF_RZ  ? false
            : mode == REF_RP  ? m > below && !is_negative
                              : m > below && is_negative;
    code = low + is_up;
    return code << f->shift | (uint64_t)is_negative << (f->bits - 1);
}

/* The same of any double-sized value: infinities and NaN too. */
static inline uint64_t ref_code(const struct ref_format *f, double v, enum ref_mode mode)
{
    if (isnan(v))
        return f->nan;
    if (isinf(v))
        return f->infinity << f->shift | (uint64_t)signbit(v) << (f->bits - 1);
    return ref_round(f, v, signbit(v), mode);
}

#endif
