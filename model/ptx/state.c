/*
 * The state of a block as one number: where its lanes stand, and all that their registers and
 * stacks hold. Equal states with equal memory go on equally, so a block that comes back to a state
 * while nobody changed memory goes round for ever.
 */
#include "model/ptx/access.h"
#include "model/ptx/sync.h"

/* Mixes a number into a hash: the finalizer of splitmix64. */
static uint64_t mix(uint64_t hash, uint64_t v)
{
    hash = (hash ^ v) * 0xbf58476d1ce4e5b9ULL;
    return hash ^ hash >> 29;
}

static uint64_t mix_bytes(uint64_t hash, const uint8_t *data, size_t size)
{
    uint64_t v;

    for (size_t i = 0; i + sizeof v <= size; i += sizeof v) {
        memcpy(&v, data + i, sizeof v);
        hash = mix(hash, v);
    }
    return hash;
}

/* Rows are multiples of 64 bytes, and a stack's pieces of 16 lie side by side for all lanes. */
static uint64_t mix_group(uint64_t hash, const struct warp *w, const struct group *g)
{
    size_t deepest = g->frame->stack_at + (size_t)g->frame->function->local_bytes;

    hash = mix(hash, (uint64_t)g->state << 32 | g->mask);
    hash = mix(hash, (uint64_t)(uintptr_t)g->block);
    hash = mix(hash, (uint64_t)(uintptr_t)g->at);
    for (const struct frame *f = g->frame; f; f = f->caller)
        hash = mix_bytes(hash, f->rows, f->function->frame_bytes);
    return mix_bytes(hash, w->local, access_private((uint64_t)round_up((int64_t)deepest, 16), 0));
}

uint64_t simt_state(const struct cta *cta)
{
    uint64_t hash = (uint64_t)cta->live_threads;

    for (int i = 0; i < cta->run->warps_per_block; i++)
        for (uint32_t used = cta->warps[i].used_groups; used; used &= used - 1)
            hash = mix_group(hash, &cta->warps[i], &cta->warps[i].groups[__builtin_ctz(used)]);
    return hash;
}
