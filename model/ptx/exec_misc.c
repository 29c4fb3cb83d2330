/*
 * What is not plain arithmetic: predicates, bit fields, packing, and what asks for more than rows.
 */
#include "model/ptx/track.h"

typedef uint32_t __attribute__((may_alias)) word32;
typedef uint64_t __attribute__((may_alias)) word64;

static word32 *row32(const struct warp *w, uint32_t at)
{
    return (word32 *)(w->rows + at);
}

static word64 *row64(const struct warp *w, uint32_t at)
{
    return (word64 *)(w->rows + at);
}

/* Lanes outside the mask keep their bit. */
static void put_predicate(struct warp *w, uint32_t at, uint32_t bits, uint32_t mask)
{
    word32 *p = row32(w, at);

    *p = (*p & ~mask) | (bits & mask);
}

/* ---- Predicates ----------------------------------------------------------------------------- */

int exec_logic(struct warp *w, const struct insn *in, uint32_t mask)
{
    uint32_t a = *row32(w, in->a), b = in->option < LOGIC_NOT ? *row32(w, in->b) : 0;
    uint32_t bits = in->option == LOGIC_AND   ? a & b
                    : in->option == LOGIC_OR  ? a | b
                    : in->option == LOGIC_XOR ? a ^ b
                    : in->option == LOGIC_NOT ? ~a
                                              : a;

    put_predicate(w, in->d, bits, mask);
    return EXEC_OK;
}

/* ---- Bits ----------------------------------------------------------------------------------- */

int exec_lop3(struct warp *w, const struct insn *in, uint32_t mask)
{
    const word32 *a = row32(w, in->a), *b = row32(w, in->b), *c = row32(w, in->c);
    word32 *d = row32(w, in->d), v[WARP] = { 0 };
    uint32_t bits = 0;

    /* Bit i of the table is the result where a, b and c have the bits of i. */
    for (uint32_t i = 0; i < 8; i++) {
        uint32_t not_a = i & 4 ? 0 : UINT32_MAX, not_b = i & 2 ? 0 : UINT32_MAX;
        uint32_t not_c = i & 1 ? 0 : UINT32_MAX;

        if (in->option >> i & 1)
            for (int l = 0; l < WARP; l++)
                v[l] |= (a[l] ^ not_a) & (b[l] ^ not_b) & (c[l] ^ not_c);
    }
    for (uint32_t m = mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);

        d[l] = v[l];
        bits |= (uint32_t)(v[l] != 0) << l;
    }
    if (in->option & LOP3_JOINS) {
        uint32_t p = *row32(w, in->rows[1]);

        p = in->option & LOP3_NEGATED ? ~p : p;
        put_predicate(w, in->rows[0], in->option & LOP3_AND ? bits & p : bits | p, mask);
    }
    return EXEC_OK;
}

/* bfi: `length` low bits of a replace those of b from `position` on. */
static uint64_t insert_bits(uint64_t a, uint64_t b, uint32_t position, uint32_t length, int width)
{
    uint64_t field;

    position &= 0xff;
    length &= 0xff;
    if (!length || position >= (uint32_t)width)
        return b;
    field = (length > 63 ? UINT64_MAX : ((uint64_t)1 << length) - 1) << position;
    return (b & ~field) | (a << position & field);
}

int exec_bfi(struct warp *w, const struct insn *in, uint32_t mask)
{
    const word32 *position = row32(w, in->c), *length = row32(w, in->e);

    for (uint32_t m = mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);

        if (in->option & ACCESS_WIDE_ROWS)
            row64(w, in->d)[l] =
                insert_bits(row64(w, in->a)[l], row64(w, in->b)[l], position[l], length[l], 64);
        else
            row32(w, in->d)[l] = (uint32_t)insert_bits(row32(w, in->a)[l], row32(w, in->b)[l],
                                                       position[l], length[l], 32);
    }
    return EXEC_OK;
}

/* ---- The rest ------------------------------------------------------------------------------- */

int exec_isspacep(struct warp *w, const struct insn *in, uint32_t mask)
{
    const word64 *a = row64(w, in->a);
    uint64_t window = in->space == SPACE_SHARED  ? SHARED_WINDOW
                      : in->space == SPACE_LOCAL ? LOCAL_WINDOW
                                                 : PARAM_WINDOW;
    uint32_t bits = 0;

    for (int l = 0; l < WARP; l++) {
        bool is_window = a[l] - SHARED_WINDOW < WINDOW_BYTES ||
                         a[l] - LOCAL_WINDOW < WINDOW_BYTES || a[l] - PARAM_WINDOW < WINDOW_BYTES;
        bool is_in = in->space == SPACE_GLOBAL  ? !is_window
                     : in->space == SPACE_CONST ? false
                                                : a[l] - window < WINDOW_BYTES;

        bits |= (uint32_t)is_in << l;
    }
    put_predicate(w, in->d, bits, mask);
    return EXEC_OK;
}

int exec_nop(struct warp *w, const struct insn *in, uint32_t mask)
{
    (void)w;
    (void)in;
    (void)mask;
    return EXEC_OK;
}

int exec_fence(struct warp *w, const struct insn *in, uint32_t mask)
{
    (void)in;
    (void)mask;
    track_fence(w->cta);
    return EXEC_OK;
}

int exec_trap(struct warp *w, const struct insn *in, uint32_t mask)
{
    if (!mask)
        return EXEC_OK;
    w->fault = (struct fault_site){ .name = ERR_AssertFault, .lanes = mask, .insn = in };
    return EXEC_FAULT;
}
