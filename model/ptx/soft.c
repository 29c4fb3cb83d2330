/*
 * One rounding for every format. A float is a quantum (the worth of its last digit) and a whole
 * number of them, and the encoding is such that a carry out of the significand walks into the
 * exponent by itself: rounding up the largest number makes infinity.
 */
#include "model/ptx/soft.h"

#include "model/base/base.h"

#include <string.h>

static const struct soft_format FORMATS[] = {
    { .name = "u8", .kind = SOFT_UNSIGNED, .bits = 8 },
    { .name = "u16", .kind = SOFT_UNSIGNED, .bits = 16 },
    { .name = "u32", .kind = SOFT_UNSIGNED, .bits = 32 },
    { .name = "u64", .kind = SOFT_UNSIGNED, .bits = 64 },
    { .name = "s8", .kind = SOFT_SIGNED, .bits = 8 },
    { .name = "s16", .kind = SOFT_SIGNED, .bits = 16 },
    { .name = "s32", .kind = SOFT_SIGNED, .bits = 32 },
    { .name = "s64", .kind = SOFT_SIGNED, .bits = 64 },
    { "f16", SOFT_FLOAT, 16, 11, -14, 15, true, 0, 0x7fff },
    { "bf16", SOFT_FLOAT, 16, 8, -126, 127, true, 0, 0x7fff },
    { "f32", SOFT_FLOAT, 32, 24, -126, 127, true, 0, 0x7fffffff },
    { "tf32", SOFT_FLOAT, 32, 11, -126, 127, true, 13, 0x7fffe000 },
    { "f64", SOFT_FLOAT, 64, 53, -1022, 1023, true, 0, 0 },
    { "e4m3", SOFT_FLOAT, 8, 4, -6, 8, false, 0, 0x7f },
    { "e5m2", SOFT_FLOAT, 8, 3, -14, 15, true, 0, 0x7f },
};

const struct soft_format *soft_format_find(const char *name, int size)
{
    for (size_t i = 0; i < COUNT(FORMATS); i++)
        if ((int)strlen(FORMATS[i].name) == size && !memcmp(FORMATS[i].name, name, (size_t)size))
            return &FORMATS[i];
    return NULL;
}

static uint64_t low_bits(int n)
{
    return n > 63 ? UINT64_MAX : ((uint64_t)1 << n) - 1;
}

static struct soft unpack_float(const struct soft_format *f, uint64_t bits)
{
    struct soft v = { .class = SOFT_NUMBER };
    int digits = f->precision - 1;
    int exponent_bits = f->bits - f->shift - digits - 1;
    uint64_t field, top = low_bits(exponent_bits);

    v.is_negative = bits >> (f->bits - 1) & 1;
    bits >>= f->shift;
    v.significand = bits & low_bits(digits);
    field = bits >> digits & top;
    if (field == top && (f->has_infinity || v.significand == low_bits(digits))) {
        v.class = v.significand ? SOFT_NAN : SOFT_INFINITY;
        v.exponent = digits;
        return v;
    }
    if (field)
        v.significand |= (uint64_t)1 << digits;
    v.exponent = (field ? (int)field - 1 : 0) + f->e_min - digits;
    return v;
}

struct soft soft_unpack(const struct soft_format *f, uint64_t bits)
{
    struct soft v = { .class = SOFT_NUMBER };

    bits &= low_bits(f->bits);
    if (f->kind == SOFT_FLOAT)
        return unpack_float(f, bits);
    v.is_negative = f->kind == SOFT_SIGNED && bits >> (f->bits - 1) & 1;
    v.significand = v.is_negative ? (0 - bits) & low_bits(f->bits) : bits;
    return v;
}

/* v in whole quanta of 2^quantum; the caller knows that they fit into 64 bits. */
static uint64_t round_to(struct soft v, int quantum, enum soft_rounding rounding)
{
    int shift = quantum - v.exponent;
    uint64_t n, rest, half;
    bool is_up;

    if (shift <= 0)
        return v.significand << -shift;
    if (shift > 64) { /* less than half a quantum */
        n = 0;
        rest = v.significand != 0;
        half = 2;
    } else {
        n = shift == 64 ? 0 : v.significand >> shift;
        rest = v.significand & low_bits(shift);
        half = (uint64_t)1 << (shift - 1);
    }
    switch (rounding) {
    case ROUND_NEAREST:
        is_up = rest > half || (rest == half && (n & 1));
        break;
    case ROUND_AWAY:
        is_up = rest >= half;
        break;
    case ROUND_DOWN:
        is_up = rest && v.is_negative;
        break;
    case ROUND_UP:
        is_up = rest && !v.is_negative;
        break;
    default:
        is_up = false;
        break;
    }
    return n + is_up;
}

struct soft soft_integral(struct soft v, enum soft_rounding rounding)
{
    if (v.class != SOFT_NUMBER || v.exponent >= 0)
        return v;
    v.significand = round_to(v, 0, rounding);
    v.exponent = 0;
    return v;
}

/* The exponent of the first digit of a number that is not zero. */
static int magnitude(struct soft v)
{
    return 63 - __builtin_clzll(v.significand) + v.exponent;
}

/* An H200's NaNs (tests/data/battery): nearly always the one, but those from f64 keep their bits.
 */
static uint64_t nan_of(struct soft v, const struct soft_format *f, int flags)
{
    int digits = f->precision - 1;
    uint64_t ones = (uint64_t)(f->e_max - f->e_min + 2) << digits;
    uint64_t quiet = flags & SOFT_NAN_KEEPS ? (uint64_t)1 << (digits - 1) : 0;

    if (flags & (SOFT_NAN_KEEPS | SOFT_NAN_IS_CUT) && v.exponent >= digits)
        return (uint64_t)v.is_negative << (f->bits - 1) |
               (ones | quiet | v.significand >> (v.exponent - digits)) << f->shift;
    return f->bits == 64 ? 0x7ff8000000000000ULL : f->nan;
}

static uint64_t pack_float(struct soft v, const struct soft_format *f, enum soft_rounding rounding,
                           int flags)
{
    int digits = f->precision - 1, exponent, quantum;
    uint64_t sign, top, n = 0;

    if (flags & SOFT_SATURATE && (v.class == SOFT_NAN || v.is_negative))
        return 0;
    if (v.class == SOFT_NAN)
        return nan_of(v, f, flags);
    if (flags & SOFT_RELU && v.is_negative)
        return 0;
    if (flags & SOFT_SATURATE && (v.class == SOFT_INFINITY || (v.significand && magnitude(v) >= 0)))
        v = (struct soft){ .class = SOFT_NUMBER, .significand = 1 };
    sign = (uint64_t)v.is_negative << (f->bits - 1);
    /* The code above the largest number: infinity, or e4m3's NaN. */
    top = (uint64_t)(f->e_max - f->e_min + 2) << digits;
    if (!f->has_infinity)
        top = low_bits(f->bits - 1);
    if (v.class == SOFT_NUMBER && v.significand) {
        exponent = magnitude(v);
        quantum = (exponent > f->e_min ? exponent : f->e_min) - digits;
        if (exponent > f->e_max) {
            n = top;
        } else {
            n = round_to(v, quantum, rounding);
            n += (uint64_t)(quantum + digits - f->e_min) << digits;
        }
        if (n >= top) {
            bool is_kept = rounding == ROUND_ZERO || (rounding == ROUND_DOWN && !v.is_negative) ||
                           (rounding == ROUND_UP && v.is_negative);

            n = flags & SOFT_FINITE || is_kept ? top - 1 : top;
        }
        if (flags & SOFT_FLUSH_TO && n >> digits == 0)
            n = 0;
    } else if (v.class == SOFT_INFINITY) {
        n = flags & SOFT_FINITE ? top - 1 : top;
    }
    return sign | n << f->shift;
}

static uint64_t pack_int(struct soft v, const struct soft_format *f, enum soft_rounding rounding,
                         bool clamps, int flags)
{
    bool is_signed = f->kind == SOFT_SIGNED;
    uint64_t most = low_bits(f->bits - is_signed), n;
    uint64_t least = is_signed ? most + 1 : 0; /* the magnitude of the lowest */

    if (v.class == SOFT_NAN)
        return !(flags & SOFT_NAN_IS_TOP) ? 0 : is_signed ? ~most : (uint64_t)1 << (f->bits - 1);
    if (v.class == SOFT_INFINITY || (v.significand && magnitude(v) >= 64))
        return v.is_negative ? 0 - least : most;
    n = v.significand ? round_to(v, 0, rounding) : 0;
    if (clamps && n > (v.is_negative ? least : most))
        n = v.is_negative ? least : most;
    if (v.is_negative)
        n = 0 - n;
    if (is_signed && f->bits < 64)
        return (uint64_t)((int64_t)(n << (64 - f->bits)) >> (64 - f->bits));
    return n & low_bits(f->bits);
}

uint64_t soft_pack(struct soft v, const struct soft_format *to, enum soft_rounding rounding,
                   bool was_float, int flags)
{
    if (to->kind == SOFT_FLOAT)
        return pack_float(v, to, rounding, flags);
    return pack_int(v, to, rounding, was_float || flags & SOFT_SATURATE, flags);
}
