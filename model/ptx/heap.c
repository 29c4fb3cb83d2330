/*
 * The device heap.
 *
 * Every allocation is a region of its own, as a buffer is: an access past its end, or after its
 * free, is then found by the same look-up. Addresses only grow, so a new one goes to the end of
 * the sorted list and a freed one stays there to be recognised.
 */
#include "model/ptx/heap.h"

#include <stdlib.h>

enum { RED_ZONE = 256, GRAIN = 16 /* what an allocation takes at least, and its alignment */ };

struct allocation {
    const struct insn *made, *freed;
    struct ptx_dim block, thread;
};

struct heap {
    struct allocation *allocations;
    struct region *regions; /* of the allocations, by address */
    int count, capacity;
    uint64_t next;
    size_t used, limit;
};

struct heap *heap_new(size_t limit)
{
    struct heap *h = calloc(1, sizeof *h);

    if (!h)
        return NULL;
    h->next = HEAP_WINDOW;
    h->limit = limit;
    return h;
}

void heap_free(struct heap **heap)
{
    struct heap *h = *heap;

    *heap = NULL;
    if (!h)
        return;
    for (int i = 0; i < h->count; i++) {
        free(h->regions[i].data);
        free(h->regions[i].defined);
    }
    free(h->regions);
    free(h->allocations);
    free(h);
}

static bool make_room(struct heap *h)
{
    int larger = h->capacity ? 2 * h->capacity : 64;
    struct allocation *allocations;
    struct region *regions;

    if (h->count < h->capacity)
        return true;
    allocations = realloc(h->allocations, (size_t)larger * sizeof *allocations);
    if (!allocations)
        return false;
    h->allocations = allocations;
    regions = realloc(h->regions, (size_t)larger * sizeof *regions);
    if (!regions)
        return false;
    h->regions = regions;
    h->capacity = larger;
    return true;
}

uint64_t heap_take(struct heap *h, const struct warp *w, int lane, const struct insn *in,
                   uint64_t size)
{
    uint8_t *data, *defined;
    size_t takes;

    takes = size > h->limit ? h->limit + 1 : (size_t)round_up((int64_t)(size ? size : 1), GRAIN);
    if (takes > h->limit - h->used || !make_room(h))
        return 0;
    data = calloc(1, takes);
    defined = calloc(1, takes / 8 + 1);
    if (!data || !defined) {
        free(data);
        free(defined);
        return 0;
    }
    h->regions[h->count] = (struct region){ .start = h->next,
                                            .end = h->next + size,
                                            .data = data,
                                            .defined = defined,
                                            .buffer = -1,
                                            .name = "what malloc gave" };
    h->allocations[h->count++] = (struct allocation){
        .made = in, .block = w->cta->index, .thread = cta_thread(w->cta, w->index, lane)
    };
    h->used += takes;
    h->next = (uint64_t)round_up((int64_t)(h->next + size), RED_ZONE) + RED_ZONE;
    return h->regions[h->count - 1].start;
}

/* The allocation that starts at or before the address; -1: none. */
static int find(const struct heap *h, uint64_t address)
{
    int low = 0, high = h->count;

    while (low < high) {
        int middle = (low + high) / 2;

        if (h->regions[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low - 1;
}

const struct region *heap_region(const struct heap *h, uint64_t address)
{
    int i = find(h, address);

    return i < 0 ? NULL : &h->regions[i];
}

enum heap_result heap_give(struct heap *h, uint64_t address, const struct insn *in)
{
    int i = find(h, address);
    struct region *r;

    if (i < 0)
        return HEAP_NO_ALLOCATION;
    r = &h->regions[i];
    if (address != r->start)
        return address < r->end ? HEAP_INSIDE : HEAP_NO_ALLOCATION;
    if (r->is_freed)
        return HEAP_FREED_TWICE;
    free(r->data);
    free(r->defined);
    r->data = r->defined = NULL;
    r->is_freed = true;
    h->allocations[i].freed = in;
    h->used -= (size_t)round_up((int64_t)(r->end > r->start ? r->end - r->start : 1), GRAIN);
    return HEAP_OK;
}

const struct insn *heap_maker(const struct heap *h, uint64_t address)
{
    int i = h ? find(h, address) : -1;

    return i < 0 ? NULL : h->allocations[i].made;
}

const struct insn *heap_freer(const struct heap *h, uint64_t address)
{
    int i = h ? find(h, address) : -1;

    return i < 0 ? NULL : h->allocations[i].freed;
}

int heap_leaks(const struct heap *h, struct heap_leak *out, int most)
{
    int n = 0;

    for (int i = 0; h && i < h->count; i++) {
        const struct allocation *a = &h->allocations[i];
        const struct region *r = &h->regions[i];
        int k = 0;

        if (a->freed)
            continue;
        while (k < n && out[k].insn != a->made)
            k++;
        if (k == most)
            continue;
        if (k == n)
            out[n++] =
                (struct heap_leak){ .insn = a->made, .block = a->block, .thread = a->thread };
        out[k].count++;
        out[k].bytes += (int64_t)(r->end - r->start);
    }
    return n;
}
