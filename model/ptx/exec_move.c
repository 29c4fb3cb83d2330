/*
 * Moves: registers packed into a wider one and taken apart, and the clock.
 */
#include "model/ptx/internal.h"

typedef uint32_t __attribute__((may_alias)) word32;
typedef uint64_t __attribute__((may_alias)) word64;
typedef unsigned __int128 wide;

static word32 *row32(const struct warp *w, uint32_t at)
{
    return (word32 *)(w->rows + at);
}

static word64 *row64(const struct warp *w, uint32_t at)
{
    return (word64 *)(w->rows + at);
}

/* A register of so many bits; one of 128 is two words of 64 a lane. */
static wide get(const struct warp *w, uint32_t row, int bits, int l)
{
    if (bits > 64)
        return (wide)row64(w, row)[2 * l + 1] << 64 | row64(w, row)[2 * l];
    return bits > 32 ? row64(w, row)[l] : row32(w, row)[l];
}

static void put(struct warp *w, uint32_t row, int bits, int l, wide v)
{
    if (bits > 64) {
        row64(w, row)[2 * l] = (uint64_t)v;
        row64(w, row)[2 * l + 1] = (uint64_t)(v >> 64);
    } else if (bits > 32) {
        row64(w, row)[l] = (uint64_t)v;
    } else {
        row32(w, row)[l] = (uint32_t)v;
    }
}

/* Two halves of 32 bits: all that half arithmetic needs, and worth a loop of its own. */
static void pack_halves(struct warp *w, const struct insn *in)
{
    const word32 *low = row32(w, in->rows[0]), *high = row32(w, in->rows[1]);
    word32 *d = row32(w, in->d);

    for (int l = 0; l < WARP; l++)
        d[l] = (low[l] & 0xffff) | high[l] << 16;
}

static void pack_words(struct warp *w, const struct insn *in)
{
    const word32 *low = row32(w, in->rows[0]), *high = row32(w, in->rows[1]);
    word64 *d = row64(w, in->d);

    for (int l = 0; l < WARP; l++)
        d[l] = low[l] | (uint64_t)high[l] << 32;
}

/* mov.b64 d, {a, b}: the first is the lowest part. */
int exec_pack(struct warp *w, const struct insn *in, uint32_t mask)
{
    int bits = in->option, part = bits / in->vector;
    wide low = ((wide)1 << part) - 1;

    if (mask == FULL_MASK && in->vector == 2 && bits <= 64 && part >= 16) {
        if (part == 16)
            pack_halves(w, in);
        else
            pack_words(w, in);
        return EXEC_OK;
    }
    for (uint32_t m = mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        wide v = 0;

        for (int i = 0; i < in->vector; i++)
            v |= (get(w, in->rows[i], part, l) & low) << (i * part);
        put(w, in->d, bits, l, v);
    }
    return EXEC_OK;
}

static void unpack_halves(struct warp *w, const struct insn *in)
{
    const word32 *a = row32(w, in->a);
    word32 *low = row32(w, in->rows[0]), *high = row32(w, in->rows[1]);

    for (int l = 0; l < WARP; l++) {
        uint32_t v = a[l];

        low[l] = v & 0xffff;
        high[l] = v >> 16;
    }
}

static void unpack_words(struct warp *w, const struct insn *in)
{
    const word64 *a = row64(w, in->a);
    word32 *low = row32(w, in->rows[0]), *high = row32(w, in->rows[1]);

    for (int l = 0; l < WARP; l++) {
        uint64_t v = a[l];

        low[l] = (uint32_t)v;
        high[l] = (uint32_t)(v >> 32);
    }
}

int exec_unpack(struct warp *w, const struct insn *in, uint32_t mask)
{
    int bits = in->option, part = bits / in->vector;
    wide low = ((wide)1 << part) - 1;

    if (mask == FULL_MASK && in->vector == 2 && bits <= 64 && part >= 16) {
        if (part == 16)
            unpack_halves(w, in);
        else
            unpack_words(w, in);
        return EXEC_OK;
    }
    for (uint32_t m = mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        wide v = get(w, in->a, bits, l);

        for (int i = 0; i < in->vector; i++)
            put(w, in->rows[i], part, l, v >> (i * part) & low);
    }
    return EXEC_OK;
}

int exec_move_wide(struct warp *w, const struct insn *in, uint32_t mask)
{
    for (uint32_t m = mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);

        put(w, in->d, 128, l, get(w, in->a, 128, l));
    }
    return EXEC_OK;
}

/* %clock: warp instructions so far; the interpreter has no other time. */
int exec_clock(struct warp *w, const struct insn *in, uint32_t mask)
{
    uint64_t now = (uint64_t)w->instructions >> (in->option & CLOCK_HIGH ? 32 : 0);

    for (uint32_t m = mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);

        if (in->option & ACCESS_WIDE_ROWS)
            row64(w, in->d)[l] = now;
        else
            row32(w, in->d)[l] = (uint32_t)now;
    }
    return EXEC_OK;
}
