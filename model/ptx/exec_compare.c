/*
 * Comparisons: a loop of ops.def gives a bit a lane; here they become predicates
 * (setp) or numbers (set).
 */
#include "model/ptx/internal.h"

typedef uint32_t __attribute__((may_alias)) word32;

static word32 *row32(const struct warp *w, uint32_t at)
{
    return (word32 *)(w->rows + at);
}

static uint32_t join(const struct warp *w, const struct insn *in, uint32_t bits)
{
    uint32_t c;

    if ((in->option & 3) == SETP_ALONE)
        return bits;
    c = in->option & SETP_NEGATED ? ~*row32(w, in->c) : *row32(w, in->c);
    switch (in->option & 3) {
    case SETP_AND:
        return bits & c;
    case SETP_OR:
        return bits | c;
    default:
        return bits ^ c;
    }
}

/* Lanes outside the mask keep their bit. */
static void put_predicate(struct warp *w, uint32_t at, uint32_t bits, uint32_t mask)
{
    word32 *p = row32(w, at);

    *p = (*p & ~mask) | (bits & mask);
}

/*
 * setp p|q: p gets the comparison joined with c, q its negation joined with c. Of two halves p is
 * the lower one's comparison and q the upper one's.
 */
int exec_setp(struct warp *w, const struct insn *in, uint32_t mask)
{
    const struct comparing *by = in->extra;
    const void *a = w->rows + in->a, *b = w->rows + in->b;
    uint32_t p = by->low(a, b), q = by->high ? by->high(a, b) : ~p;

    p = join(w, in, p);
    q = join(w, in, q);
    put_predicate(w, in->d, p, mask);
    put_predicate(w, in->e, q, mask);
    return EXEC_OK;
}

int exec_set(struct warp *w, const struct insn *in, uint32_t mask)
{
    const struct comparing *by = in->extra;
    const void *a = w->rows + in->a, *b = w->rows + in->b;
    uint32_t low = join(w, in, by->low(a, b));
    uint32_t high = by->high ? join(w, in, by->high(a, b)) : 0;
    word32 *d = row32(w, in->d);

    for (uint32_t m = mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);

        d[l] = (low >> l & 1 ? by->if_low : 0) | (high >> l & 1 ? by->if_high : 0);
    }
    return EXEC_OK;
}
