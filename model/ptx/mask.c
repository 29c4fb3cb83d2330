/*
 * What is wrong with the masks of .sync instructions.
 *
 * Each calling lane must be in its own mask, and all named lanes that have not ended must come with
 * the same mask ("Warp Synchronization Functions", CUDA C++ Programming Guide). That one does not
 * come shows only when nobody can move any more: check.c.
 */
#include "model/ptx/mask.h"

#include "model/ptx/warning.h"

#include <stdio.h>

typedef uint32_t __attribute__((may_alias)) word32;

int mask_check(struct warp *w, const struct insn *in, uint32_t mask)
{
    const word32 *named = (const word32 *)(w->rows + in->rows[0]);
    uint32_t absent = 0, any = 0;
    char *why;

    for (uint32_t m = mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);

        any |= named[l];
        absent |= named[l] >> l & 1 ? 0 : m & -m;
    }
    if (any & w->started & ~w->live)
        warning_note(w, PTX_WARNING_EARLY_RETURN, in, NULL, mask);
    if (!absent)
        return EXEC_OK;
    why =
        arena_printf(w->cta->arena, "lane %d calls %s with the mask 0x%08x, which does not name it",
                     __builtin_ctz(absent), in->spelling, named[__builtin_ctz(absent)]);
    w->fault = (struct fault_site){
        .name = ERR_BarrierFault,
        .lanes = absent,
        .insn = in,
        .why = why ? why : "a lane is not in its own mask",
        .hint = "the mask of the lanes that come here: __ballot_sync(...) before the branch",
        .reason = REASON_MASK,
    };
    return EXEC_FAULT;
}

int mask_absent_source(struct warp *w, const struct insn *in, uint32_t lanes, int from)
{
    uint32_t named = ((const word32 *)(w->rows + in->rows[0]))[__builtin_ctz(lanes)];
    bool has_ended = (w->started & ~w->live) >> from & 1;
    char *why =
        arena_printf(w->cta->arena,
                     "lane %d reads lane %d by %s with the mask 0x%08x, but lane %d %s",
                     __builtin_ctz(lanes), from, in->spelling, named, from,
                     has_ended                   ? "has returned"
                     : !(w->started >> from & 1) ? "does not exist: the block ends before it"
                                                 : "does not take part");

    w->fault = (struct fault_site){
        .name = ERR_BarrierFault,
        .lanes = lanes,
        .insn = in,
        .why = why ? why : "a shuffle reads a lane that is not there",
        .hint =
            "let all lanes of the warp come to the shuffle, and give those beyond n a neutral value",
        .reason = REASON_MASK,
    };
    return EXEC_FAULT;
}
