/*
 * Numbers of 16 bits: half (f16: 5 bits of exponent, 10 of fraction) and bfloat (bf16: 8 and 7).
 *
 * A lane computes in single or double precision and rounds once. That one rounding is right
 * because a float has more than twice the digits plus two (24 >= 2 * 11 + 2) where the operation is
 * a sum, a product or a quotient; where it is not, the wide result is rounded to odd: its last
 * digit tells whether something was left, so that the second rounding cannot mistake it for a tie
 * (Boldo, Melquiond: "When double rounding is odd").
 *
 * No branches: the compiler makes vectors of these.
 */
#ifndef WB_MODEL_PTX_HALF_H
#define WB_MODEL_PTX_HALF_H

#include "model/ptx/numbers.h"

/* "Canonical NaN is 0x7fff" for both types of 16 bits. */
#define NAN16 0x7fffU

static inline float f32_of_f16(uint32_t h)
{
    uint32_t magnitude = h & 0x7fff;
    /* Exponent and fraction in the places of a float: off by the difference of the biases. */
    float v = f32_of_bits(magnitude << 13) * 0x1p112f;
    uint32_t bits = bits_of_f32(v);

    bits = magnitude >= 0x7c00 ? 0x7f800000U : bits;
    bits |= (h & 0x8000) << 16;
    return f32_of_bits(magnitude > 0x7c00 ? 0x7fffffffU : bits);
}

static inline uint32_t f16_of_f32(float v)
{
    uint32_t bits = bits_of_f32(v), m = bits & 0x7fffffffU;
    /* The last digit of 0.5 is worth as much as that of a subnormal half: the sum rounds there. */
    uint32_t small = bits_of_f32(f32_of_bits(m) + 0.5f) - 0x3f000000U;
    uint32_t normal = (m - 0x38000000U + 0xfffU + (m >> 13 & 1)) >> 13;
    uint32_t h = m < 0x38800000U ? small : normal;

    h = m >= 0x477ff000U ? 0x7c00U : h; /* 65520 and more: infinity */
    h |= bits >> 16 & 0x8000U;
    return m > 0x7f800000U ? NAN16 : h;
}

static inline float f32_of_bf16(uint32_t h)
{
    return NUM(f32_of_bits(h << 16));
}

static inline uint32_t bf16_of_f32(float v)
{
    uint32_t bits = bits_of_f32(v);

    return (bits & 0x7fffffffU) > 0x7f800000U ? NAN16 : (bits + 0x7fffU + (bits >> 16 & 1)) >> 16;
}

/* A subnormal half becomes a zero of its sign. */
static inline uint32_t ftz_f16(uint32_t h)
{
    return h & 0x7c00 ? h : h & 0x8000;
}

/* The neighbour with an odd last digit when `rest` (of the exact value, beyond v) is not zero. */
static inline float odd_f32(float v, float rest)
{
    uint32_t bits = bits_of_f32(v);
    uint32_t odd = bits + ((rest < 0.0f) == bits >> 31 ? 1U : UINT32_MAX);

    return f32_of_bits((rest > 0.0f || rest < 0.0f) && !(bits & 1) ? odd : bits);
}

static inline double odd_f64(double v, double rest)
{
    uint64_t bits = bits_of_f64(v);
    uint64_t odd = bits + ((rest < 0.0) == bits >> 63 ? 1U : UINT64_MAX);

    return f64_of_bits((rest > 0.0 || rest < 0.0) && !(bits & 1) ? odd : bits);
}

static inline float narrow_odd(double v)
{
    float narrow = (float)v;
    double rest = v - (double)narrow;

    return odd_f32(narrow, rest > 0.0 ? 1.0f : rest < 0.0 ? -1.0f : 0.0f);
}

/* a * b + c of halves: the product is exact; what the sum loses is found by Knuth's TwoSum. */
static inline float fma_f16(float a, float b, float c)
{
    float p = a * b, sum = p + c, t = sum - p;

    return odd_f32(sum, (p - (sum - t)) + (c - t));
}

/* The same of bfloats, whose products a float cannot hold. */
static inline float fma_bf16(float a, float b, float c)
{
    double p = (double)a * (double)b, sum = p + (double)c, t = sum - p;

    return narrow_odd(odd_f64(sum, (p - (sum - t)) + ((double)c - t)));
}

static inline float mul_bf16(float a, float b)
{
    return narrow_odd((double)a * (double)b);
}

/* .relu: what is negative becomes 0, NaN stays. */
static inline float relu_f32(float v)
{
    return v > 0.0f || v != v ? v : 0.0f;
}

/* .NaN: a NaN wins. */
static inline float min_nan_f32(float a, float b)
{
    return a != a || b != b ? f32_of_bits(0x7fffffffU) : min_f32(a, b);
}

static inline float max_nan_f32(float a, float b)
{
    return a != a || b != b ? f32_of_bits(0x7fffffffU) : max_f32(a, b);
}

/* .xorsign.abs: the magnitude v with the product of the signs. */
static inline float xor_sign(float v, float a, float b)
{
    return v != v ? v
                  : f32_of_bits((bits_of_f32(v) & 0x7fffffffU) |
                                ((bits_of_f32(a) ^ bits_of_f32(b)) & 0x80000000U));
}

static inline uint32_t xor_sign16(uint32_t h, uint32_t a, uint32_t b)
{
    return h == NAN16 ? h : (h & 0x7fffU) | ((a ^ b) & 0x8000U);
}

#define ABS32(v) __builtin_fabsf(v)

#endif
