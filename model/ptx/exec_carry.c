/*
 * Arithmetic of long numbers: the carry that one word leaves and the next one takes. CC.CF is a
 * predicate of the frame, a bit a lane. A sum is worked out in a wider type, whose bit above the
 * word is the carry, or the borrow of a difference.
 */
#include "model/ptx/carry.h"

typedef uint32_t __attribute__((may_alias)) word32;
typedef uint64_t __attribute__((may_alias)) word64;
typedef unsigned __int128 wide;

#define ROW(type, at) ((type *)(w->rows + (at)))

/* expr: the exact result from a, b, c and the carry, of twice the bits. */
#define DEFINE(name, word, bits, expr)                                                             \
    int exec_carry_##name(struct warp *w, const struct insn *in, uint32_t mask)                    \
    {                                                                                              \
        uint32_t carries = in->option & CARRY_READS ? *ROW(word32, in->e) : 0, out = 0;            \
                                                                                                   \
        for (uint32_t m = mask; m; m &= m - 1) {                                                   \
            int l = __builtin_ctz(m);                                                              \
            wide a = ROW(word, in->a)[l], b = ROW(word, in->b)[l], c = ROW(word, in->c)[l];        \
            wide carry = carries >> l & 1, v = expr;                                               \
                                                                                                   \
            (void)c;                                                                               \
            ROW(word, in->d)[l] = (word)v;                                                         \
            out |= (uint32_t)(v >> bits & 1) << l;                                                 \
        }                                                                                          \
        if (in->option & CARRY_WRITES)                                                             \
            *ROW(word32, in->e) = (*ROW(word32, in->e) & ~mask) | out;                             \
        return EXEC_OK;                                                                            \
    }

/* The upper half of a product of signed numbers, as a word. */
#define HIGH_S32(a, b) ((uint32_t)(((int64_t)(int32_t)(a) * (int32_t)(b)) >> 32))
#define HIGH_S64(a, b) ((uint64_t)(((__int128)(int64_t)(a) * (int64_t)(b)) >> 64))

DEFINE(add32, word32, 32, a + b + carry)
DEFINE(sub32, word32, 32, a - b - carry)
DEFINE(mad_lo32, word32, 32, (uint32_t)(a *b) + c + carry)
DEFINE(mad_hi_u32, word32, 32, (uint32_t)((a * b) >> 32) + c + carry)
DEFINE(mad_hi_s32, word32, 32, HIGH_S32(a, b) + c + carry)
DEFINE(add64, word64, 64, a + b + carry)
DEFINE(sub64, word64, 64, a - b - carry)
DEFINE(mad_lo64, word64, 64, (uint64_t)(a *b) + c + carry)
DEFINE(mad_hi_u64, word64, 64, (uint64_t)((a * b) >> 64) + c + carry)
DEFINE(mad_hi_s64, word64, 64, HIGH_S64(a, b) + c + carry)
