/*
 * The state of a core as one number, in which cycles are counted from the next event on: what is
 * over and only past counts as 0, so that a machine that does the same again has the same number.
 */
#include "model/core_internal.h"

/* The finalizer of splitmix64 over a running number. */
static void mix(uint64_t *hash, uint64_t v)
{
    *hash ^= v + 0x9e3779b97f4a7c15ULL + (*hash << 6) + (*hash >> 2);
    *hash = (*hash ^ *hash >> 30) * 0xbf58476d1ce4e5b9ULL;
    *hash = (*hash ^ *hash >> 27) * 0x94d049bb133111ebULL;
    *hash ^= *hash >> 31;
}

static void mix_ahead(uint64_t *hash, int64_t at, int64_t now)
{
    mix(hash, (uint64_t)max_i64(at - now, 0));
}

static void mix_path(uint64_t *hash, const struct path *p, int64_t now)
{
    mix(hash, (uint64_t)p->state << 32 | (uint32_t)p->step);
    if (p->state == PATH_FREE)
        return;
    mix(hash, (uintptr_t)p->stream);
    mix(hash, (uint64_t)p->left << 32 | (uint32_t)(p->end - p->next.op));
    mix(hash, (uint64_t)p->access << 32 | (uint32_t)p->children);
    mix_ahead(hash, due_cycle(p->blocked), now);
    mix_ahead(hash, due_cycle(p->next.ready), now);
}

static void mix_window(uint64_t *hash, const struct window *window, int64_t now)
{
    mix(hash, (uint64_t)(window->tail - window->head) << 1 | window->is_fenced);
    for (int64_t n = window->head; n < window->tail; n++) {
        const struct waiting_op *entry = &window->ops[n % CORE_MAX_WINDOW];

        mix(hash, entry->is_issued);
        mix_ahead(hash, due_cycle(entry->self.ready), now);
    }
}

static void mix_warp(uint64_t *hash, const struct core *core, const struct core_warp *w,
                     int64_t now)
{
    mix(hash, (uint64_t)w->place << 32 | (uint32_t)(w->path - w->paths));
    for (int i = 0; i < w->path_count; i++)
        mix_path(hash, &w->paths[i], now);
    if (w->window)
        mix_window(hash, w->window, now);
    for (int r = 1; r < core->config.register_count; r++)
        if (due_cycle(w->results[r]) > now) {
            mix(hash, (uint64_t)r);
            mix_ahead(hash, due_cycle(w->results[r]), now);
        }
}

static void mix_sub_core(uint64_t *hash, const struct core *core, const struct sub_core *sub,
                         int64_t now)
{
    int policy = core->config.policy;

    mix_ahead(hash, core->next[sub->index], now);
    mix_ahead(hash, sub->issue_free, now);
    mix(hash, (uint64_t)(sub->last + 1) << 32 | (uint32_t)(sub->switching_to + 1));
    for (int u = 0; u < LAT_COUNT; u++)
        mix_ahead(hash, sub->units[u].free_at, now);
    for (int i = 0; i < sub->active_count && policy == POLICY_TWO_LEVEL; i++)
        mix(hash, (uint64_t)sub->active[i]);
    for (int i = 0; i < sub->pending_count && policy == POLICY_TWO_LEVEL; i++)
        mix(hash, (uint64_t)sub->pending[i]);
    /* These policies look back: how long ago counts too. */
    for (int l = 0; l < CORE_MAX_WARPS; l++) {
        const struct core_warp *w = &sub->warps[l];

        if (w->place == WARP_RUNS && policy == POLICY_LONGEST_READY)
            mix(hash, (uint64_t)(now - due_cycle(w->next->ready)));
        if (w->place == WARP_RUNS && policy == CORE_LEAST_RECENT)
            mix(hash, (uint64_t)(now - w->since));
    }
}

uint64_t core_state(const struct core *core)
{
    int64_t now = core_next_cycle(core);
    uint64_t hash = 0;

    for (int i = 0; i < core->config.partitions; i++)
        mix_sub_core(&hash, core, &core->sub_cores[i], now);
    for (int i = 0; i < core->warp_count; i++)
        mix_warp(&hash, core, warp_at(core, i), now);
    for (int i = 0; i < core->config.resident_blocks; i++) {
        const struct resident_block *b = &core->slots[i];

        mix(&hash, (uint64_t)b->running << 32 | (uint32_t)b->at_barrier);
        if (b->at_barrier > 0)
            mix(&hash, (uint64_t)(now - b->first_arrival));
    }
    mix_ahead(&hash, core->l1.free_at, now * SERVER_FINE);
    mix_ahead(&hash, core->l2.free_at, now * SERVER_FINE);
    mix_ahead(&hash, core->dram.free_at, now * SERVER_FINE);
    mix_ahead(&hash, core->starts.free_at, now * SERVER_FINE);
    return hash;
}
