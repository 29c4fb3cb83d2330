/*
 * Any number to any other with one rounding: the exact value as a 64-bit whole number times a power
 * of two, and what a format can hold of it. The conversions that are not in ops.def use it, so that
 * a new format is a row.
 */
#ifndef WB_MODEL_PTX_SOFT_H
#define WB_MODEL_PTX_SOFT_H

#include <stdbool.h>
#include <stdint.h>

enum soft_kind { SOFT_UNSIGNED, SOFT_SIGNED, SOFT_FLOAT };

struct soft_format {
    const char *name;
    uint8_t kind;
    uint8_t bits;      /* of the whole number in memory */
    uint8_t precision; /* floats: digits of the significand, the hidden one included */
    int16_t e_min, e_max;
    bool has_infinity; /* e4m3 has none: its highest exponent holds numbers and one NaN */
    uint8_t shift;     /* the significand is so far left in its bits (tf32) */
    uint32_t nan;      /* the NaN that the GPU makes; of f64 see soft_pack */
};

/* A row by the name in an opcode ("s32", "f16", "tf32", "e4m3"), or NULL. */
const struct soft_format *soft_format_find(const char *name, int size);

enum soft_class { SOFT_NUMBER, SOFT_INFINITY, SOFT_NAN };

struct soft {
    enum soft_class class;
    bool is_negative;
    uint64_t significand; /* value = significand * 2^exponent; 0: a zero */
    int exponent;         /* of a NaN: digits of its payload, the significand */
};

enum soft_rounding {
    ROUND_NEAREST, /* ties to even */
    ROUND_ZERO,
    ROUND_DOWN,
    ROUND_UP,
    ROUND_AWAY /* to nearest, ties away from zero */
};

enum {
    SOFT_SATURATE = 1 << 0,   /* a float into [0, 1], NaN to 0; a whole number into its range */
    SOFT_FINITE = 1 << 1,     /* what is too large becomes the largest number */
    SOFT_RELU = 1 << 2,       /* negative to 0 */
    SOFT_FLUSH_FROM = 1 << 3, /* a subnormal source is a zero */
    SOFT_FLUSH_TO = 1 << 4,   /* a subnormal result likewise */
    SOFT_NAN_IS_TOP = 1 << 5, /* NaN as a whole number is the highest bit, not 0 */
    SOFT_NAN_KEEPS = 1 << 6,  /* sign and payload, made quiet: what comes from f64 */
    SOFT_NAN_IS_CUT = 1 << 7, /* the bits that fit, quiet or not: cvt.rna.tf32 */
};

/* The value of the low `format->bits` of bits. */
struct soft soft_unpack(const struct soft_format *format, uint64_t bits);

/* The nearest integral value in the direction. */
struct soft soft_integral(struct soft v, enum soft_rounding rounding);

/*
 * The bits of v in a format, rounded once. Whole numbers: out of range wraps, unless the source was
 * a float (was_float) or SOFT_SATURATE is given.
 * Signed results are sign-extended to 64 bits.
 */
uint64_t soft_pack(struct soft v, const struct soft_format *to, enum soft_rounding rounding,
                   bool was_float, int flags);

#endif
