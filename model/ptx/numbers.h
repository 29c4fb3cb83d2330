/*
 * Numbers as PTX has them where C differs, is undefined, or leaves a choice.
 *
 * Everything here is exact or has a stated bound, and uses no transcendental function of the C
 * library, so that a kernel computes the same bytes on every machine.
 */
#ifndef WB_MODEL_PTX_NUMBERS_H
#define WB_MODEL_PTX_NUMBERS_H

#include <fenv.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t bits_of_f32(float v)
{
    uint32_t bits;

    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static inline float f32_of_bits(uint32_t bits)
{
    float v;

    memcpy(&v, &bits, sizeof v);
    return v;
}

static inline uint64_t bits_of_f64(double v)
{
    uint64_t bits;

    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static inline double f64_of_bits(uint64_t bits)
{
    double v;

    memcpy(&v, &bits, sizeof v);
    return v;
}

/* "NaN payloads are not supported": every single precision NaN is this one. */
static inline float NUM(float v)
{
    return v == v ? v : f32_of_bits(0x7fffffffU);
}

/* A subnormal becomes a zero of its sign. */
static inline float FTZ(float v)
{
    return __builtin_fabsf(v) < 0x1p-126f ? __builtin_copysignf(0.0f, v) : v;
}

static inline double FTZ64(double v)
{
    return __builtin_fabs(v) < 0x1p-1022 ? __builtin_copysign(0.0, v) : v;
}

/* min and max: a NaN loses against a number, and -0 is below +0. */
static inline float min_f32(float a, float b)
{
    float v = a == b ? f32_of_bits(bits_of_f32(a) | bits_of_f32(b)) : a < b ? a : b;

    return a != a ? NUM(b) : b != b ? a : v;
}

static inline float max_f32(float a, float b)
{
    float v = a == b ? f32_of_bits(bits_of_f32(a) & bits_of_f32(b)) : a > b ? a : b;

    return a != a ? NUM(b) : b != b ? a : v;
}

static inline double min_f64(double a, double b)
{
    double v = a == b ? f64_of_bits(bits_of_f64(a) | bits_of_f64(b)) : a < b ? a : b;

    return a != a ? b : b != b ? a : v;
}

static inline double max_f64(double a, double b)
{
    double v = a == b ? f64_of_bits(bits_of_f64(a) & bits_of_f64(b)) : a > b ? a : b;

    return a != a ? b : b != b ? a : v;
}

/* .sat: into [0, 1]; a NaN gives 0. */
static inline float saturate_f32(float v)
{
    return v > 0.0f ? (v < 1.0f ? v : 1.0f) : 0.0f;
}

static inline int32_t saturate_s32(int64_t v)
{
    return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : (int32_t)v;
}

static inline uint64_t high_u64(uint64_t a, uint64_t b)
{
    return (uint64_t)(((unsigned __int128)a * b) >> 64);
}

static inline int64_t high_s64(int64_t a, int64_t b)
{
    return (int64_t)(((__int128)a * b) >> 64);
}

static inline int32_t sign_extend24(int32_t v)
{
    return (int32_t)((uint32_t)v << 8) >> 8;
}

/* INT_MIN / -1 overflows in C; the GPU gives INT_MIN. */
static inline uint32_t divide_s32(int32_t a, int32_t b)
{
    return b == 0 ? UINT32_MAX : b == -1 ? 0U - (uint32_t)a : (uint32_t)(a / b);
}

static inline uint64_t divide_s64(int64_t a, int64_t b)
{
    return b == 0 ? UINT64_MAX : b == -1 ? 0ULL - (uint64_t)a : (uint64_t)(a / b);
}

static inline uint32_t find_msb(uint64_t v)
{
    return v ? 63U - (uint32_t)__builtin_clzll(v) : UINT32_MAX;
}

/* bfind.shiftamt: how far the highest bit is from the top. */
static inline uint32_t find_shift(uint64_t v, uint32_t top)
{
    return v ? top - find_msb(v) : UINT32_MAX;
}

static inline uint32_t reverse_u32(uint32_t v)
{
    v = (v >> 1 & 0x55555555U) | (v & 0x55555555U) << 1;
    v = (v >> 2 & 0x33333333U) | (v & 0x33333333U) << 2;
    v = (v >> 4 & 0x0f0f0f0fU) | (v & 0x0f0f0f0fU) << 4;
    return __builtin_bswap32(v);
}

/* bfe: length bits from position; both are bytes. */
static inline uint64_t extract_u64(uint64_t v, uint32_t position, uint32_t length)
{
    position &= 0xff;
    length &= 0xff;
    if (position > 63 || !length)
        return 0;
    return length > 63 ? v >> position : v >> position & (((uint64_t)1 << length) - 1);
}

/* The sign is the field's highest bit, or the operand's (bit `top`) when the field reaches past. */
static inline int64_t extract_s64(int64_t v, uint32_t position, uint32_t length, uint32_t top)
{
    uint32_t sign_at;
    uint64_t field;

    position &= 0xff;
    length &= 0xff;
    if (!length)
        return 0;
    sign_at = position + length - 1 > top ? top : position + length - 1;
    field = extract_u64((uint64_t)v & (top == 31 ? UINT32_MAX : UINT64_MAX), position, length);
    if (!((uint64_t)v >> sign_at & 1))
        return (int64_t)field;
    if (position > top)
        return -1;
    return (int64_t)(sign_at - position > 62 ? field : field | UINT64_MAX << (sign_at - position));
}

/* bmsk: b ones from bit a. */
static inline uint32_t bit_mask(uint32_t a, uint32_t b)
{
    uint64_t ones = b > 31 ? UINT32_MAX : ((uint64_t)1 << b) - 1;

    return a > 31 ? 0 : (uint32_t)(ones << a);
}

/* shf: b above a. */
static inline uint64_t funnel(uint32_t a, uint32_t b)
{
    return (uint64_t)b << 32 | a;
}

/* prmt: four bytes out of eight; bit 3 of a selector repeats the sign of its byte. */
static inline uint32_t permute(uint32_t a, uint32_t b, uint32_t selectors)
{
    uint64_t source = funnel(a, b);
    uint32_t v = 0;

    for (int i = 0; i < 4; i++) {
        uint32_t selector = selectors >> (4 * i) & 0xf;
        uint32_t byte = (uint32_t)(source >> (8 * (selector & 7))) & 0xff;

        if (selector & 8)
            byte = byte & 0x80 ? 0xff : 0;
        v |= byte << (8 * i);
    }
    return v;
}

/*
 * The selectors that prmt's other modes stand for, by the two lowest bits of c. Source: PTX ISA,
 * the table of modes in "prmt".
 */
enum permute_mode { PERMUTE_f4e, PERMUTE_b4e, PERMUTE_rc8, PERMUTE_ecl, PERMUTE_ecr, PERMUTE_rc16 };

static inline uint32_t permute_selectors(enum permute_mode mode, uint32_t c)
{
    static const uint16_t SELECTORS[][4] = {
        { 0x3210, 0x4321, 0x5432, 0x6543 }, /* forward 4 extract */
        { 0x5670, 0x6701, 0x7012, 0x0123 }, /* backward 4 extract */
        { 0x0000, 0x1111, 0x2222, 0x3333 }, /* replicate 8 */
        { 0x3210, 0x3211, 0x3222, 0x3333 }, /* edge clamp left */
        { 0x0000, 0x1110, 0x2210, 0x3210 }, /* edge clamp right */
        { 0x1010, 0x3232, 0x1010, 0x3232 }, /* replicate 16 */
    };

    return SELECTORS[mode][c & 3];
}

/* szext: the b lowest bits of a, extended; the PTX ISA gives 0 for a width of 0. */
static inline uint32_t extend_bits(uint32_t a, uint32_t b, bool is_signed)
{
    uint32_t low = b > 31 ? UINT32_MAX : (1U << b) - 1;

    if (!b || b > 31)
        return b ? a : 0;
    return is_signed && a >> (b - 1) & 1 ? a | ~low : a & low;
}

/* fns: the offset-th set bit of mask from bit `base` on, up or (offset < 0) down; 0: base itself.
 */
static inline uint32_t find_nth_set(uint32_t mask, uint32_t base, int32_t offset)
{
    int step = offset < 0 ? -1 : 1;
    int64_t left = offset < 0 ? -(int64_t)offset : offset;

    if (base > 31)
        return UINT32_MAX;
    if (!left)
        return mask >> base & 1 ? base : UINT32_MAX;
    for (int at = (int)base; at >= 0 && at < 32; at += step)
        if (mask >> at & 1 && --left == 0)
            return (uint32_t)at;
    return UINT32_MAX;
}

static inline int64_t byte_of(uint32_t v, int i, bool is_signed)
{
    uint32_t byte = v >> (8 * i) & 0xff;

    return is_signed ? (int8_t)byte : (int64_t)byte;
}

/* dp4a: the products of four bytes, summed. */
static inline uint32_t dot_bytes(uint32_t a, uint32_t b, bool is_a_signed, bool is_b_signed)
{
    int64_t sum = 0;

    for (int i = 0; i < 4; i++)
        sum += byte_of(a, i, is_a_signed) * byte_of(b, i, is_b_signed);
    return (uint32_t)sum;
}

/* dp2a: two words of a with two bytes of b. */
static inline uint32_t dot_words(uint32_t a, uint32_t b, bool is_a_signed, bool is_b_signed)
{
    int64_t sum = 0;

    for (int i = 0; i < 2; i++) {
        uint32_t word = a >> (16 * i) & 0xffff;

        sum += (is_a_signed ? (int16_t)word : (int64_t)word) * byte_of(b, i, is_b_signed);
    }
    return (uint32_t)sum;
}

/* |a - b| of part l of so many bits, each signed or not. */
static inline uint32_t difference(uint32_t a, uint32_t b, int bits, int l, int a_signed,
                                  int b_signed)
{
    int up = 32 - bits - l * bits, down = 32 - bits;
    int32_t x = a_signed ? (int32_t)(a << up) >> down : (int32_t)(a << up >> down);
    int32_t y = b_signed ? (int32_t)(b << up) >> down : (int32_t)(b << up >> down);

    return (uint32_t)(x > y ? x - y : y - x);
}

static inline uint32_t differences(uint32_t a, uint32_t b, int bits, int a_signed, int b_signed)
{
    uint32_t v = 0, ones = (1U << bits) - 1;

    for (int l = 0; l < 32 / bits; l++)
        v |= (difference(a, b, bits, l, a_signed, b_signed) & ones) << l * bits;
    return v;
}

static inline uint32_t sum_of_differences(uint32_t a, uint32_t b, int bits, int a_signed,
                                          int b_signed)
{
    uint32_t sum = 0;

    for (int l = 0; l < 32 / bits; l++)
        sum += difference(a, b, bits, l, a_signed, b_signed);
    return sum;
}

/* To the nearest integral value, ties to even, in the default rounding mode of the host. */
static inline double round_even(double v)
{
    return __builtin_rint(v);
}

static inline float round_evenf(float v)
{
    return __builtin_rintf(v);
}

/* Float to integer: v is integral already; what does not fit becomes the nearest that does. */
static inline uint8_t to_u8(double v)
{
    return v > 0 ? (v < UINT8_MAX ? (uint8_t)v : UINT8_MAX) : 0;
}

static inline int8_t to_s8(double v)
{
    return v > INT8_MIN ? (v < INT8_MAX ? (int8_t)v : INT8_MAX) : v == v ? INT8_MIN : 0;
}

static inline uint16_t to_u16(double v)
{
    return v > 0 ? (v < UINT16_MAX ? (uint16_t)v : UINT16_MAX) : 0;
}

static inline int16_t to_s16(double v)
{
    return v > INT16_MIN ? (v < INT16_MAX ? (int16_t)v : INT16_MAX) : v == v ? INT16_MIN : 0;
}

static inline uint32_t to_u32(double v)
{
    return v > 0 ? (v < UINT32_MAX ? (uint32_t)v : UINT32_MAX) : 0;
}

static inline int32_t to_s32(double v)
{
    return v > INT32_MIN ? (v < INT32_MAX ? (int32_t)v : INT32_MAX) : v == v ? INT32_MIN : 0;
}

static inline uint64_t to_u64(double v)
{
    if (v != v)
        return (uint64_t)1 << 63;
    return v > 0 ? (v < 0x1p64 ? (uint64_t)v : UINT64_MAX) : 0;
}

static inline int64_t to_s64(double v)
{
    return v > -0x1p63 ? (v < 0x1p63 ? (int64_t)v : INT64_MAX) : INT64_MIN;
}

/* A NaN keeps its sign and the upper part of its payload, and is quiet. */
static inline float narrow(double v)
{
    uint64_t bits = bits_of_f64(v);

    return v == v ? (float)v
                  : f32_of_bits((uint32_t)(bits >> 32 & 0x80000000U) | 0x7fc00000U |
                                (uint32_t)(bits >> 29 & 0x3fffff));
}

#define TOP_BIT(type) ((uint64_t)1 << (8 * sizeof(type) - 1))

static inline double high_half(double v)
{
    return f64_of_bits(bits_of_f64(v) & 0xffffffff00000000ULL);
}

/* numbers.c: rounding in a direction (FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD). */
float add_rounded(float a, float b, int mode);
float mul_rounded(float a, float b, int mode);
float fma_rounded(float a, float b, float c, int mode);
float div_rounded(float a, float b, int mode);
float sqrt_rounded(float a, int mode);
double add_rounded64(double a, double b, int mode);
double mul_rounded64(double a, double b, int mode);
double fma_rounded64(double a, double b, double c, int mode);
double div_rounded64(double a, double b, int mode);
double sqrt_rounded64(double a, int mode);

/*
 * The .approx functions: within 1 ulp of the true value, which is inside the bounds that the PTX
 * ISA states for each (ex2 2 ulp, lg2 and sin, cos an absolute 2^-22 and 2^-20.5). The GPU's tables
 * may give a neighbour of these values.
 */
float approx_div(float a, float b);
float approx_sin(float v);
float approx_cos(float v);
float approx_lg2(float v);
float approx_ex2(float v);
float approx_tanh(float v);

#endif
