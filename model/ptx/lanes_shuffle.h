/*
 * shfl.sync by all 32 lanes, each of which names all: nobody is waited for, and where each lane
 * reads is a loop over the rows like any other. Anything else goes to sync.c, which has the same
 * rules lane by lane.
 *
 * Included by lanes.h, once for each build of the lane loops.
 */
#include "model/ptx/shadow.h"

/* Bits of the row c, as in the pseudocode of "shfl.sync" (PTX ISA 9.0). */
#define SHFL_CLAMP(c)   ((int)((c)&31))
#define SHFL_SEGMENT(c) ((int)((c) >> 8 & 31))

/* The lane that each lane reads, and whether it lies in its segment. */
#define SOURCES(at_expr, is_in)                                                                    \
    for (int l = 0; l < WARP; l++) {                                                               \
        int by = (int)(B[l] & 31), segment = SHFL_SEGMENT(C[l]), least = l & segment;              \
        int most = least | (SHFL_CLAMP(C[l]) & ~segment), at = at_expr;                            \
                                                                                                   \
        (void)least;                                                                               \
        is_valid[l] = is_in;                                                                       \
        from[l] = is_in ? at : l;                                                                  \
    }

static inline bool names_all(const cell_u32 *named)
{
    uint32_t all = FULL_MASK;

    for (int l = 0; l < WARP; l++)
        all &= named[l];
    return all == FULL_MASK;
}

static int shuffle_full(struct warp *w, const struct insn *in, uint32_t mask)
{
    const cell_u32 *A = ROW_OF(u32, in->a), *B = ROW_OF(u32, in->b), *C = ROW_OF(u32, in->c);
    cell_u32 *D = ROW_OF(u32, in->d);
    uint32_t values[WARP], valid = 0;
    int from[WARP], is_valid[WARP];

    if (mask != FULL_MASK || in->locals || !names_all(ROW_OF(u32, in->rows[0])))
        return exec_shfl(w, in, mask);
    switch (in->option) {
    case SHFL_UP:
        SOURCES(l - by, at >= most)
        break;
    case SHFL_DOWN:
        SOURCES(l + by, at <= most)
        break;
    case SHFL_BFLY:
        SOURCES(l ^ by, at <= most)
        break;
    default:
        SOURCES(least | (by & ~segment), at <= most)
        break;
    }
    memcpy(values, A, sizeof values); /* d may be a */
    for (int l = 0; l < WARP; l++)
        D[l] = values[from[l] & (WARP - 1)];
    for (int l = 0; l < WARP; l++)
        valid |= (uint32_t)is_valid[l] << l;
    *ROW_OF(u32, in->e) = valid;
    race_meet(w, mask);
    return EXEC_OK;
}
#undef SOURCES
