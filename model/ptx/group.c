#include "model/ptx/group.h"

/* Every group has a lane: there are never more than lanes. */
struct group *group_new(struct warp *w)
{
    int i = __builtin_ctz(~w->used_groups);

    w->used_groups |= (uint32_t)1 << i;
    return &w->groups[i];
}

void group_free(struct warp *w, struct group *g)
{
    g->state = GROUP_FREE;
    w->used_groups &= ~((uint32_t)1 << (g - w->groups));
}

struct group *group_part(struct warp *w, struct group *g, uint32_t lanes)
{
    struct group *rest = group_new(w);

    *rest = *g;
    rest->state = GROUP_READY;
    rest->mask = lanes;
    g->mask &= ~lanes;
    return rest;
}

void group_start(struct group *g, uint32_t mask, const struct block *block, struct frame *frame,
                 struct join *join)
{
    *g = (struct group){ .state = GROUP_READY,
                         .mask = mask,
                         .block = block,
                         .frame = frame,
                         .join = join,
                         .spins = SPIN_BUDGET };
}

/* Each join on a chain awaits a lane that the next does not, so 4 * 32 is never reached. */
struct join *join_new(struct warp *w)
{
    for (int i = 0; i < MAX_JOINS / 64; i++)
        if (~w->used_joins[i]) {
            int bit = __builtin_ctzll(~w->used_joins[i]);

            w->used_joins[i] |= (uint64_t)1 << bit;
            return &w->joins[64 * i + bit];
        }
    return NULL;
}

static void join_free(struct warp *w, struct join *j)
{
    int at = (int)(j - w->joins);

    j->is_used = false;
    w->used_joins[at / 64] &= ~((uint64_t)1 << at % 64);
}

static const struct block *join_block(const struct join *j)
{
    const struct function *f = j->frame->function;

    return &f->blocks[j->block == BLOCK_EXIT ? f->block_count : j->block];
}

/* Those who have arrived go on together, to be awaited at the next join outwards. */
static void join_release(struct warp *w, struct join *j)
{
    struct group *g = group_new(w);

    group_start(g, j->arrived, join_block(j), j->frame, j->outer);
    /* A loop that parts and joins in each round is still one loop. */
    g->spins = j->spins;
    g->turns = j->turns;
    j->spins = SPIN_BUDGET;
    j->turns = 0;
    j->expected &= ~j->arrived;
    j->arrived = 0;
    if (!j->expected)
        join_free(w, j);
}

/* Lanes that will not come to a join: they ended, or left by another way. */
void join_forgo(struct warp *w, struct join *j, uint32_t lanes)
{
    j->expected &= ~lanes;
    if (!j->expected)
        join_free(w, j);
    else if (j->arrived == j->expected)
        join_release(w, j);
}

void join_arrive(struct warp *w, struct group *g)
{
    struct join *j = g->join;

    j->arrived |= g->mask;
    j->spins = min_i64(j->spins, g->spins);
    j->turns = max_i64(j->turns, g->turns);
    group_free(w, g);
    if (j->arrived == j->expected)
        join_release(w, j);
}

/* Groups that wait at a join go on without the rest. False: there are none. */
bool group_detach(struct warp *w)
{
    bool is_any = false;

    for (int i = 0; (w->used_joins[0] | w->used_joins[1]) && i < MAX_JOINS; i++) {
        if (!w->joins[i].is_used || !w->joins[i].arrived)
            continue;
        join_release(w, &w->joins[i]);
        is_any = true;
    }
    return is_any;
}
