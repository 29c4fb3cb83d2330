/*
 * The groups of a warp, and the joins where they meet.
 *
 * Lanes that stand at the same instruction are a group. Where they part, a join awaits them at the
 * branch's immediate post-dominator: who comes first waits there, and when all have come, or will
 * not come any more, those who did go on as one group, awaited at the next join outwards.
 */
#ifndef WB_MODEL_PTX_GROUP_H
#define WB_MODEL_PTX_GROUP_H

#include "model/ptx/internal.h"

enum { SPIN_BUDGET = 1 << 16 /* backward branches of a group before others get a turn */ };

/* Every group has a lane: there are never more than lanes. */
struct group *group_new(struct warp *w);
void group_free(struct warp *w, struct group *g);

/* Ready at the start of a block. */
void group_start(struct group *g, uint32_t mask, const struct block *block, struct frame *frame,
                 struct join *join);

/* Lanes of g become a group of their own that is ready at the same place. */
struct group *group_part(struct warp *w, struct group *g, uint32_t lanes);

/* A free one; NULL: there is none, and lanes merely never meet again. */
struct join *join_new(struct warp *w);

/* The group, which ends, waits at its join; the last to come lets all go on. */
void join_arrive(struct warp *w, struct group *g);

/* Lanes that will not come to a join: they ended, or left by another way. */
void join_forgo(struct warp *w, struct join *j, uint32_t lanes);

/* Groups that wait at a join go on without the rest. False: there are none. */
bool group_detach(struct warp *w);

static inline bool group_is_awaited_at(const struct group *g, int block)
{
    return g->join && g->join->frame == g->frame && g->join->block == block;
}

#endif
