/*
 * Conversions a lane at a time: unpack, round once, pack (soft.c).
 */
#include "model/ptx/convert.h"

#include <string.h>

typedef uint32_t __attribute__((may_alias)) word32;
typedef uint64_t __attribute__((may_alias)) word64;

static bool is_subnormal(const struct soft_format *f, struct soft v)
{
    return v.class == SOFT_NUMBER && !(v.significand >> (f->precision - 1));
}

static uint64_t convert(const struct conversion *c, uint64_t bits)
{
    struct soft v = soft_unpack(c->from, bits);

    if (c->flags & SOFT_FLUSH_FROM && is_subnormal(c->from, v))
        v.significand = 0;
    if (c->is_integral)
        v = soft_integral(v, c->rounding);
    return soft_pack(v, c->to, c->rounding, c->from->kind == SOFT_FLOAT, c->flags);
}

static uint64_t source_of(const struct warp *w, uint32_t row, bool is_wide, int l)
{
    return is_wide ? ((const word64 *)(w->rows + row))[l] : ((const word32 *)(w->rows + row))[l];
}

int exec_convert(struct warp *w, const struct insn *in, uint32_t mask)
{
    const struct conversion *c = in->extra;

    for (uint32_t m = mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        uint64_t a = source_of(w, in->a, c->is_wide_from, l), v;

        if (!c->is_pair) {
            v = convert(c, a);
        } else {
            uint64_t low = c->from_pair ? a : source_of(w, in->b, false, l);
            uint64_t high = c->from_pair ? a >> c->from->bits : a;

            v = convert(c, low) | convert(c, high) << c->to->bits;
        }
        if (c->register_bits > 32)
            ((word64 *)(w->rows + in->d))[l] = v;
        else
            ((word32 *)(w->rows + in->d))[l] = c->register_bits == 16 ? (uint16_t)v : (uint32_t)v;
    }
    return EXEC_OK;
}

/* cvt.pack.sat: a above b, both clamped; what is left of the register comes from c. */
int exec_convert_pack(struct warp *w, const struct insn *in, uint32_t mask)
{
    int bits = in->vector;
    bool is_signed = in->option & 1, has_rest = in->option & 2;
    int64_t least = is_signed ? -((int64_t)1 << (bits - 1)) : 0;
    int64_t most = ((int64_t)1 << (bits - is_signed)) - 1;
    uint32_t low = (1U << bits) - 1;

    for (uint32_t m = mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        int64_t a = (int32_t)((const word32 *)(w->rows + in->a))[l];
        int64_t b = (int32_t)((const word32 *)(w->rows + in->b))[l];
        uint32_t high = (uint32_t)max_i64(least, min_i64(a, most)) & low;
        uint32_t v = high << bits | ((uint32_t)max_i64(least, min_i64(b, most)) & low);

        if (has_rest)
            v |= ((const word32 *)(w->rows + in->c))[l] << (2 * bits);
        ((word32 *)(w->rows + in->d))[l] = v;
    }
    return EXEC_OK;
}
