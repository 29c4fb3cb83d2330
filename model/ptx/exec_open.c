/*
 * What C leaves open and a GPU does in silence: integers divided by zero, and shifts by as many
 * bits as the value has. The value is that of the instruction; a warning tells who did it.
 */
#include "model/ptx/warning.h"

typedef uint32_t __attribute__((may_alias)) word32;
typedef uint64_t __attribute__((may_alias)) word64;

static void warn_division(struct warp *w, const struct insn *in, uint32_t mask)
{
    const struct op *op = in->extra;
    uint32_t zero = 0;

    for (uint32_t m = mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        uint64_t b = op->b_bits > 32    ? ((const word64 *)(w->rows + in->b))[l]
                     : op->b_bits == 16 ? (uint16_t)((const word32 *)(w->rows + in->b))[l]
                                        : ((const word32 *)(w->rows + in->b))[l];

        zero |= b ? 0 : m & -m;
    }
    if (zero)
        warning_note(w, PTX_WARNING_DIVISION_BY_ZERO, in, NULL, zero);
}

static void warn_shift(struct warp *w, const struct insn *in, uint32_t mask)
{
    const struct op *op = in->extra;
    const word32 *b = (const word32 *)(w->rows + in->b);
    uint32_t too_far = 0;

    for (uint32_t m = mask; m; m &= m - 1)
        too_far |= b[__builtin_ctz(m)] < op->d_bits ? 0 : m & -m;
    if (too_far)
        warning_note(w, PTX_WARNING_SHIFT, in, NULL, too_far);
}

int exec_division_full(struct warp *w, const struct insn *in, uint32_t mask)
{
    warn_division(w, in, mask);
    return ((const struct op *)in->extra)->full(w, in, mask);
}

int exec_division_masked(struct warp *w, const struct insn *in, uint32_t mask)
{
    warn_division(w, in, mask);
    return ((const struct op *)in->extra)->masked(w, in, mask);
}

int exec_shift_full(struct warp *w, const struct insn *in, uint32_t mask)
{
    warn_shift(w, in, mask);
    return ((const struct op *)in->extra)->full(w, in, mask);
}

int exec_shift_masked(struct warp *w, const struct insn *in, uint32_t mask)
{
    warn_shift(w, in, mask);
    return ((const struct op *)in->extra)->masked(w, in, mask);
}
