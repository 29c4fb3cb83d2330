/*
 * Policies as scheduler.h has them, over the warps of one scheduler as bits of a word. One more is
 * the engine's own: the same again while it can, then the one that issued longest ago.
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

/* The warp whose operands came first; the lowest of several. */
static int longest_ready(const struct sub_core *sub, uint64_t mask)
{
    int64_t best = CORE_NEVER;

    for (uint64_t rest = mask; rest; rest &= rest - 1) {
        const struct core_warp *w = &sub->warps[lowest(rest)];

        best = min_i64(best, due_cycle(w->next->ready) << 6 | w->local);
    }
    return (int)(best & 63);
}

/* ---- Who issued longest ago ---- */

static int least_recent(const struct sub_core *sub, uint64_t eligible)
{
    int l = sub->age.next[CORE_MAX_WARPS];

    while (!(eligible >> l & 1))
        l = sub->age.next[l];
    return l;
}

static void link_behind(struct age_list *list, uint8_t before, uint8_t l)
{
    uint8_t after = list->next[before];

    list->next[before] = list->prev[after] = l;
    list->prev[l] = before;
    list->next[l] = after;
}

static bool issued_before(const struct core_warp *a, const struct core_warp *b)
{
    return a->since < b->since || (a->since == b->since && a->local < b->local);
}

void policy_add(struct sub_core *sub, const struct core_warp *w)
{
    sub->pending[sub->pending_count++] = w->local;
    link_behind(&sub->age, sub->age.prev[CORE_MAX_WARPS], w->local);
}

/* To the end, but for warps of a block that starts in some cycles. */
void policy_renew(struct sub_core *sub, const struct core_warp *w)
{
    struct age_list *list = &sub->age;
    uint8_t before;

    list->next[list->prev[w->local]] = list->next[w->local];
    list->prev[list->next[w->local]] = list->prev[w->local];
    before = list->prev[CORE_MAX_WARPS];
    while (before != CORE_MAX_WARPS && issued_before(w, &sub->warps[before]))
        before = list->prev[before];
    link_behind(list, before, w->local);
}

/* ---- Two-level ---- */

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
        return longest_ready(sub, eligible);
    case POLICY_TWO_LEVEL:
        return pick_two_level(sub, eligible);
    case CORE_LEAST_RECENT:
        return has_last && eligible >> sub->last & 1 ? sub->last : least_recent(sub, eligible);
    default: /* POLICY_OLDEST */
        return lowest(eligible);
    }
}

/* Who has to wait leaves the active set for the end of the queue. */
void policy_suspend(struct sub_core *sub, int l)
{
    int i = active_index(sub, l);

    sub->active_count--;
    memmove(&sub->active[i], &sub->active[i + 1],
            (size_t)(sub->active_count - i) * sizeof *sub->active);
    sub->pending[sub->pending_count++] = l;
}
