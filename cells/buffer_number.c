/*
 * The kinds of numbers, and their limits. Reading is exact. Writing rounds to
 * nearest even where C does, straight from the double, so that no number is
 * rounded twice on its way into a half.
 */
#include "cells/buffer_number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Of the kinds with a point: bits of the fraction, the bias, and the largest finite number. */
struct format {
    int fraction_bits, bias;
    double largest;
};
static const struct format HALF = { 10, 15, 65504.0 };
static const struct format BF16 = { 7, 127, 0x1.fep127 };

static const char *const LIMITS[SCALAR_COUNT] = {
    [SCALAR_CHAR] = "-128 to 127",
    [SCALAR_UCHAR] = "0 to 255",
    [SCALAR_SHORT] = "-32768 to 32767",
    [SCALAR_USHORT] = "0 to 65535",
    [SCALAR_INT] = "-2147483648 to 2147483647",
    [SCALAR_UINT] = "0 to 4294967295",
    [SCALAR_LONG] = "-2^63 to 2^63 - 1",
    [SCALAR_ULONG] = "0 to 2^64 - 1",
    [SCALAR_HALF] = "-65504 to 65504",
    [SCALAR_BF16] = "-3.39e38 to 3.39e38",
    [SCALAR_FLOAT] = "-3.4028e38 to 3.4028e38",
    [SCALAR_DOUBLE] = "-1.797e308 to 1.797e308",
    [SCALAR_BOOL] = "0 and 1",
    [SCALAR_STRUCT] = "",
};

const char *scalar_limits(enum scalar_kind kind)
{
    return LIMITS[kind];
}

/* ---- half and bf16 ---- */

static uint16_t pack(const struct format *f, double v)
{
    int exponent_bits = 15 - f->fraction_bits, shift, e;
    uint16_t infinity = (uint16_t)(((1U << exponent_bits) - 1) << f->fraction_bits), sign, packed;
    uint64_t bits, m, rest, tie;

    memcpy(&bits, &v, sizeof(bits));
    sign = (uint16_t)(bits >> 63 << 15);
    e = (int)(bits >> 52 & 0x7ff) - 1023;
    m = (bits & (((uint64_t)1 << 52) - 1)) | (uint64_t)1 << 52;
    if (v != v)
        return 0x7fff; /* as CUDA's conversions give */
    if (e > f->bias)
        return sign | infinity;
    shift = 52 - f->fraction_bits;
    if (e < 1 - f->bias)
        shift += 1 - f->bias - e; /* subnormal: fewer bits of it are left */
    if (shift > 53)
        return sign;
    rest = m & (((uint64_t)1 << shift) - 1);
    tie = (uint64_t)1 << (shift - 1);
    m >>= shift;
    m += rest > tie || (rest == tie && (m & 1));
    /* m holds the leading one: it adds 1 to the exponent, and a carry out of it one more. */
    packed =
        (uint16_t)(e < 1 - f->bias ? m : m + ((uint64_t)(e + f->bias - 1) << f->fraction_bits));
    return sign | packed;
}

static double unpack(const struct format *f, uint16_t bits)
{
    int exponent = bits >> f->fraction_bits & ((1 << (15 - f->fraction_bits)) - 1);
    int fraction = bits & ((1 << f->fraction_bits) - 1);
    double v;

    if (exponent == (1 << (15 - f->fraction_bits)) - 1)
        v = fraction ? (double)NAN : HUGE_VAL;
    else if (exponent == 0)
        v = ldexp(fraction, 1 - f->bias - f->fraction_bits);
    else
        v = ldexp(fraction | 1 << f->fraction_bits, exponent - f->bias - f->fraction_bits);
    return bits >> 15 ? -v : v;
}

double scalar_round(enum scalar_kind kind, double v)
{
    switch (kind) {
    case SCALAR_HALF:
        return unpack(&HALF, pack(&HALF, v));
    case SCALAR_BF16:
        return unpack(&BF16, pack(&BF16, v));
    case SCALAR_FLOAT:
        return (double)(float)v;
    default:
        return v;
    }
}

/* ---- reading ---- */

/* X(kind, C type): the kinds whose bytes are a C number. */
#define INTEGER_KINDS(X)                                                                           \
    X(CHAR, int8_t)                                                                                \
    X(UCHAR, uint8_t)                                                                              \
    X(SHORT, int16_t)                                                                              \
    X(USHORT, uint16_t)                                                                            \
    X(INT, int32_t)                                                                                \
    X(UINT, uint32_t)                                                                              \
    X(LONG, int64_t)                                                                               \
    X(BOOL, uint8_t)

void scalar_load_ints(enum scalar_kind kind, const void *p, size_t stride, int64_t *to, size_t n,
                      bool *is_big)
{
    const char *from = p;
    uint64_t u;
    int64_t all = 0;

    switch (kind) {
#define X(kind_, type)                                                                             \
    case SCALAR_##kind_:                                                                           \
        for (size_t i = 0; i < n; i++) {                                                           \
            type v;                                                                                \
            memcpy(&v, from + i * stride, sizeof(v));                                              \
            to[i] = (int64_t)v;                                                                    \
        }                                                                                          \
        break;
        INTEGER_KINDS(X)
#undef X
    case SCALAR_ULONG:
        for (size_t i = 0; i < n; i++) {
            memcpy(&u, from + i * stride, sizeof(u));
            to[i] = (int64_t)u;
            all |= to[i];
        }
        *is_big |= all < 0;
        break;
    default:
        break;
    }
    if (kind == SCALAR_BOOL)
        for (size_t i = 0; i < n; i++)
            to[i] = to[i] != 0;
}

void scalar_load_floats(enum scalar_kind kind, const void *p, size_t stride, double *to, size_t n)
{
    const char *from = p;
    uint16_t bits;
    float f;

    switch (kind) {
    case SCALAR_FLOAT:
        for (size_t i = 0; i < n; i++) {
            memcpy(&f, from + i * stride, sizeof(f));
            to[i] = (double)f;
        }
        return;
    case SCALAR_DOUBLE:
        for (size_t i = 0; i < n; i++)
            memcpy(&to[i], from + i * stride, sizeof(to[i]));
        return;
    case SCALAR_HALF:
    case SCALAR_BF16:
        for (size_t i = 0; i < n; i++) {
            memcpy(&bits, from + i * stride, sizeof(bits));
            to[i] = unpack(kind == SCALAR_HALF ? &HALF : &BF16, bits);
        }
        return;
    default:
        for (size_t i = 0; i < n; i++)
            to[i] = scalar_double(kind, from + i * stride);
    }
}

double scalar_double(enum scalar_kind kind, const void *p)
{
    double f = 0;
    int64_t i = 0;
    bool is_big = false;

    if (scalar_is_float(kind)) {
        scalar_load_floats(kind, p, 0, &f, 1);
        return f;
    }
    scalar_load_ints(kind, p, 0, &i, 1, &is_big);
    return is_big ? (double)(uint64_t)i : (double)i;
}

struct value scalar_value(enum scalar_kind kind, const void *p)
{
    struct value v = { .type = VALUE_INT };
    bool is_big = false;

    if (scalar_is_float(kind)) {
        v = (struct value){ .type = VALUE_FLOAT, .kind = kind };
        v.f = scalar_double(kind, p);
        return v;
    }
    scalar_load_ints(kind, p, 0, &v.i, 1, &is_big);
    if (is_big)
        return (
            struct value){ .type = VALUE_FLOAT, .kind = SCALAR_DOUBLE, .f = (double)(uint64_t)v.i };
    if (kind == SCALAR_BOOL)
        return (struct value){ .type = VALUE_BOOL, .b = v.i != 0 };
    return v;
}

/* ---- writing ---- */

static bool int_limits(enum scalar_kind kind, int64_t *least, int64_t *most)
{
    switch (kind) {
    case SCALAR_CHAR:
        *least = INT8_MIN;
        *most = INT8_MAX;
        return true;
    case SCALAR_UCHAR:
        *least = 0;
        *most = UINT8_MAX;
        return true;
    case SCALAR_SHORT:
        *least = INT16_MIN;
        *most = INT16_MAX;
        return true;
    case SCALAR_USHORT:
        *least = 0;
        *most = UINT16_MAX;
        return true;
    case SCALAR_INT:
        *least = INT32_MIN;
        *most = INT32_MAX;
        return true;
    case SCALAR_UINT:
        *least = 0;
        *most = UINT32_MAX;
        return true;
    case SCALAR_LONG:
        *least = INT64_MIN;
        *most = INT64_MAX;
        return true;
    case SCALAR_ULONG:
        *least = 0;
        *most = INT64_MAX;
        return true;
    default:
        return false;
    }
}

/* How many leading numbers are inside the limits; one pass that the compiler makes wide. */
static size_t count_inside(const int64_t *from, size_t n, int64_t least, int64_t most)
{
    int64_t bad = 0;

    for (size_t i = 0; i < n; i++)
        bad |= (from[i] < least) | (from[i] > most);
    if (!bad)
        return n;
    for (size_t i = 0; i < n; i++)
        if (from[i] < least || from[i] > most)
            return i;
    return n;
}

static void put_ints(enum scalar_kind kind, char *to, size_t stride, const int64_t *from, size_t n)
{
    size_t bytes = scalar_bytes(kind);

    /* Little endian: the low bytes of a number are its narrow form. */
    for (size_t i = 0; i < n; i++)
        switch (bytes) {
        case 1:
            memcpy(to + i * stride, &from[i], 1);
            break;
        case 2:
            memcpy(to + i * stride, &from[i], 2);
            break;
        case 4:
            memcpy(to + i * stride, &from[i], 4);
            break;
        default:
            memcpy(to + i * stride, &from[i], 8);
        }
}

enum store_result scalar_store_ints(enum scalar_kind kind, void *p, size_t stride,
                                    const int64_t *from, size_t n, size_t *stored)
{
    int64_t least, most;
    char *to = p;
    float f;

    *stored = n;
    if (int_limits(kind, &least, &most)) {
        *stored = count_inside(from, n, least, most);
        put_ints(kind, to, stride, from, *stored);
        return *stored == n ? STORE_OK : STORE_RANGE;
    }
    if (kind == SCALAR_BOOL) {
        for (size_t i = 0; i < n; i++)
            to[i * stride] = from[i] != 0;
        return STORE_OK;
    }
    if (kind == SCALAR_FLOAT) {
        /* Straight to float: by way of a double it would be rounded twice. */
        for (size_t i = 0; i < n; i++) {
            f = (float)from[i];
            memcpy(to + i * stride, &f, sizeof(f));
        }
        return STORE_OK;
    }
    for (size_t i = 0; i < n; i++) {
        double v = (double)from[i];
        size_t one;

        if (scalar_store_floats(kind, to + i * stride, stride, &v, 1, &one) != STORE_OK) {
            *stored = i;
            return STORE_RANGE;
        }
    }
    return STORE_OK;
}

static enum store_result store_int_of_float(enum scalar_kind kind, char *to, double v)
{
    int64_t i;
    uint64_t u;
    size_t one;

    if (kind == SCALAR_BOOL) {
        *to = v != 0;
        return STORE_OK;
    }
    if (!isfinite(v))
        return STORE_NAN;
    if (v != trunc(v))
        return STORE_FRACTION;
    if (kind == SCALAR_ULONG && v >= 0x1p63 && v < 0x1p64) {
        u = (uint64_t)v;
        memcpy(to, &u, sizeof(u));
        return STORE_OK;
    }
    if (!(v >= -0x1p63 && v < 0x1p63))
        return STORE_RANGE;
    i = (int64_t)v;
    return scalar_store_ints(kind, to, 0, &i, 1, &one);
}

/* A finite number must stay one: what would become infinite does not fit. */
static enum store_result store_float(enum scalar_kind kind, char *to, double v)
{
    uint16_t bits;
    float f;

    switch (kind) {
    case SCALAR_FLOAT:
        f = (float)v;
        memcpy(to, &f, sizeof(f));
        return isinf(f) && !isinf(v) ? STORE_RANGE : STORE_OK;
    case SCALAR_DOUBLE:
        memcpy(to, &v, sizeof(v));
        return STORE_OK;
    case SCALAR_HALF:
    case SCALAR_BF16:
        bits = pack(kind == SCALAR_HALF ? &HALF : &BF16, v);
        memcpy(to, &bits, sizeof(bits));
        return isinf(unpack(kind == SCALAR_HALF ? &HALF : &BF16, bits)) && !isinf(v) ? STORE_RANGE
                                                                                     : STORE_OK;
    default:
        return store_int_of_float(kind, to, v);
    }
}

enum store_result scalar_store_floats(enum scalar_kind kind, void *p, size_t stride,
                                      const double *from, size_t n, size_t *stored)
{
    char *to = p;
    enum store_result rc = STORE_OK;

    for (*stored = 0; *stored < n; ++*stored) {
        rc = store_float(kind, to + *stored * stride, from[*stored]);
        if (rc != STORE_OK)
            break;
    }
    return rc;
}

/* ---- as text ---- */

void float_text(enum scalar_kind kind, double v, char *out, size_t size)
{
    if (isnan(v) || isinf(v)) {
        snprintf(out, size, "%s", isnan(v) ? "nan" : v > 0 ? "inf" : "-inf");
        return;
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(out, size, "%.*g", digits, v);
        if (scalar_round(kind, strtod(out, NULL)) == v)
            break;
    }
    /* 1e+06 reads worse than 1000000. */
    if (strchr(out, 'e') && fabs(v) >= 1 && fabs(v) < 1e15 && floor(v) == v)
        snprintf(out, size, "%.0f", v);
}

void scalar_text(enum scalar_kind kind, const void *p, char *out, size_t size)
{
    int64_t i = 0;
    bool is_big = false;

    if (scalar_is_float(kind)) {
        float_text(kind, scalar_double(kind, p), out, size);
        return;
    }
    scalar_load_ints(kind, p, 0, &i, 1, &is_big);
    if (is_big)
        snprintf(out, size, "%llu", (unsigned long long)i);
    else
        snprintf(out, size, "%lld", (long long)i);
}
