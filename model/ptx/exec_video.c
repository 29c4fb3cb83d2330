/*
 * Video instructions a lane at a time, in the steps of the PTX ISA: select and
 * extend, compute with room to spare, saturate, then a second operation with c or a
 * place within c.
 */
#include "model/ptx/video.h"

typedef uint32_t __attribute__((may_alias)) word32;

static int64_t extend(uint32_t v, int bits, bool is_signed)
{
    uint64_t low = v & (((uint64_t)1 << bits) - 1);

    return is_signed && low >> (bits - 1) & 1 ? (int64_t)low - ((int64_t)1 << bits) : (int64_t)low;
}

static bool holds(enum video_compare compare, int64_t a, int64_t b)
{
    switch (compare) {
    case COMPARE_EQ:
        return a == b;
    case COMPARE_NE:
        return a != b;
    case COMPARE_LT:
        return a < b;
    case COMPARE_LE:
        return a <= b;
    case COMPARE_GT:
        return a > b;
    default:
        return a >= b;
    }
}

static int64_t shift_by(const struct video *v, int64_t b)
{
    return v->wraps ? b & 31 : b > 32 ? 32 : b;
}

/* Of 65 bits: what is to be saturated is held where 64 show on which side it is. */
static int64_t multiply_add(const struct video *v, int64_t a, int64_t b, int64_t c)
{
    __int128 t = ((__int128)a * b + c) >> v->shift;

    if (v->saturates && t > INT64_MAX)
        return INT64_MAX;
    return (int64_t)t;
}

static int64_t compute(const struct video *v, int64_t a, int64_t b, int64_t c)
{
    int64_t sum = a + b;

    switch (v->op) {
    case VIDEO_ADD:
        return sum;
    case VIDEO_SUB:
        return a - b;
    case VIDEO_ABSDIFF:
        return a > b ? a - b : b - a;
    case VIDEO_MIN:
        return a < b ? a : b;
    case VIDEO_MAX:
        return a > b ? a : b;
    case VIDEO_AVERAGE: /* halves away from zero upward: (a + b + 1) / 2 of what is not negative */
        return (sum >= 0 ? sum + 1 : sum) >> 1;
    case VIDEO_SET:
        return holds(v->compare, a, b);
    case VIDEO_SHL:
        return (int64_t)((uint64_t)a << shift_by(v, b));
    case VIDEO_SHR:
        return a >> shift_by(v, b);
    case VIDEO_MAD:
        return multiply_add(v, a, b, c);
    }
    return 0;
}

static int64_t saturate(int64_t v, int bits, bool is_signed)
{
    int64_t least = is_signed ? -((int64_t)1 << (bits - 1)) : 0;
    int64_t most = ((int64_t)1 << (bits - is_signed)) - 1;

    return max_i64(least, min_i64(v, most));
}

static uint32_t scalar(const struct video *v, uint32_t a, uint32_t b, uint32_t c)
{
    int64_t x = extend(a >> (v->select_a[0] * 8), v->a_bits, v->is_a_signed);
    int64_t y = extend(b >> (v->select_b[0] * 8), v->b_bits, v->is_b_signed);
    int64_t third = extend(c, 32, v->is_d_signed), t = compute(v, x, y, third);
    uint32_t low = v->bits > 31 ? UINT32_MAX : (1U << v->bits) - 1, field;

    if (v->saturates)
        t = saturate(t, v->bits, v->is_d_signed);
    if (v->merge >= 0) {
        field = low << v->merge;
        return (c & ~field) | ((uint32_t)t << v->merge & field);
    }
    t = extend((uint32_t)t, 32, v->is_d_signed);
    switch (v->second) {
    case SECOND_ADD:
        return (uint32_t)(t + third);
    case SECOND_MIN:
        return (uint32_t)min_i64(t, third);
    case SECOND_MAX:
        return (uint32_t)max_i64(t, third);
    default:
        return (uint32_t)t;
    }
}

static uint32_t parallel(const struct video *v, uint32_t a, uint32_t b, uint32_t c)
{
    uint64_t both = (uint64_t)b << 32 | a;
    uint32_t d = v->second == SECOND_ADD ? c : 0, low = (1U << v->bits) - 1;

    for (int i = 0; i < v->parts; i++) {
        uint32_t x = (uint32_t)(both >> (v->select_a[i] * v->bits));
        uint32_t y = (uint32_t)(both >> (v->select_b[i] * v->bits));
        int64_t t =
            compute(v, extend(x, v->bits, v->is_a_signed), extend(y, v->bits, v->is_b_signed), 0);
        bool is_written = v->mask >> i & 1;

        if (v->saturates)
            t = saturate(t, v->bits, v->is_d_signed);
        if (v->second != SECOND_ADD)
            d |= (is_written ? (uint32_t)t & low : c >> (i * v->bits) & low) << (i * v->bits);
        else if (is_written)
            d += (uint32_t)t;
    }
    return d;
}

int exec_video(struct warp *w, const struct insn *in, uint32_t mask)
{
    const struct video *v = in->extra;
    const word32 *a = (const word32 *)(w->rows + in->a), *b = (const word32 *)(w->rows + in->b);
    const word32 *c = (const word32 *)(w->rows + in->c);
    word32 *d = (word32 *)(w->rows + in->d);

    for (uint32_t m = mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);

        d[l] = v->parts == 1 ? scalar(v, a[l], b[l], c[l]) : parallel(v, a[l], b[l], c[l]);
    }
    return EXEC_OK;
}
