/*
 * Policies as scheduler.h has them, over the warps of one scheduler as bits of a word. One more is
 * the engine's own: of those that can issue, the one that issued longest ago.
 */
#include "model/core_internal.h"

static int lowest(uint64_t mask)
{
    return __builtin_ctzll(mask);
}

static int highest(uint64_t mask)
{
    return 63 - __builtin_clzll(mask);
}

static uint64_t above(int l)
{
    return l >= 63 ? 0 : ~UINT64_C(0) << (l + 1);
}

/* The warp with the lowest value; the lowest of several. */
static int earliest(const int64_t *values, uint64_t mask)
{
    int best = lowest(mask);

    for (uint64_t rest = mask; rest; rest &= rest - 1)
        if (values[lowest(rest)] < values[best])
            best = lowest(rest);
    return best;
}

static int active_index(const struct sub_core *sub, int l)
{
    for (int i = 0; i < sub->active_count; i++)
        if (sub->active[i] == l)
            return i;
    return -1;
}

/* The first eligible warp of the queue joins the active set. */
static void admit_pending(struct sub_core *sub, uint64_t eligible)
{
    for (int i = 0; i < sub->pending_count; i++)
        if (eligible >> sub->pending[i] & 1) {
            sub->active[sub->active_count++] = sub->pending[i];
            sub->pending_count--;
            memmove(&sub->pending[i], &sub->pending[i + 1],
                    (size_t)(sub->pending_count - i) * sizeof *sub->pending);
            return;
        }
}

static int pick_two_level(struct sub_core *sub, uint64_t eligible)
{
    int from;

    if (sub->active_count < POLICY_ACTIVE_SET)
        admit_pending(sub, eligible);
    from = active_index(sub, sub->last) + 1;
    for (int i = 0; i < sub->active_count; i++) {
        int l = sub->active[(from + i) % sub->active_count];

        if (eligible >> l & 1)
            return l;
    }
    return -1;
}

int policy_pick(const struct core_config *config, struct sub_core *sub, uint64_t eligible)
{
    bool has_last = sub->last >= 0;

    switch (config->policy) {
    case POLICY_GTO:
        return has_last && eligible >> sub->last & 1 ? sub->last : lowest(eligible);
    case POLICY_GTY:
        return has_last && eligible >> sub->last & 1 ? sub->last : highest(eligible);
    case POLICY_LRR:
        if (has_last && eligible & above(sub->last))
            return lowest(eligible & above(sub->last));
        return lowest(eligible);
    case POLICY_LONGEST_READY:
        return earliest(sub->ready_at, eligible);
    case POLICY_TWO_LEVEL:
        return pick_two_level(sub, eligible);
    case CORE_LEAST_RECENT:
        return earliest(sub->since, eligible);
    default: /* POLICY_OLDEST */
        return lowest(eligible);
    }
}

/* Who has to wait leaves the active set for the end of the queue. */
void policy_issued(const struct core_config *config, struct sub_core *sub, int l, bool goes_on)
{
    int i;

    sub->last = l;
    if (config->policy != POLICY_TWO_LEVEL || goes_on)
        return;
    i = active_index(sub, l);
    sub->active_count--;
    memmove(&sub->active[i], &sub->active[i + 1],
            (size_t)(sub->active_count - i) * sizeof *sub->active);
    sub->pending[sub->pending_count++] = l;
}
