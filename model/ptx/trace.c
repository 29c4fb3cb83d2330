/*
 * What a warp executed, for the timing model: blocks in order, each with the cost
 * of its accesses. A loop of one block is one step with a count. Warps with equal
 * steps are one class, and blocks of equal warps too, so that a launch of
 * thousands of equal blocks is timed once.
 */
#include "model/ptx/internal.h"

enum {
    MAX_STEPS = 1 << 18,  /* of one warp; of a longer one the rest is only counted */
    MAX_REACHES = 1 << 14 /* accesses whose end is kept for the warp beside it */
};

struct trace {
    struct arena *arena;
    size_t room; /* bytes that it may still take */
    struct core_step *steps;
    core_access *accesses;
    int step_count, step_capacity, access_count, access_capacity;
    uint32_t *reaches; /* by access to global memory: the last sector of it; NULL: no room */
    int reach_count;
    int in_block;               /* instructions of the last block */
    int64_t instructions, lost; /* all that it executed; those of no step */
    bool is_cut;
};

struct trace *trace_new(struct arena *arena, size_t room)
{
    struct trace *t = arena_alloc(arena, sizeof *t);

    if (!t)
        return NULL;
    *t = (struct trace){ .arena = arena, .room = room };
    if (room / 4 >= MAX_REACHES * sizeof *t->reaches)
        t->reaches = arena_array(arena, MAX_REACHES, sizeof *t->reaches);
    t->room -= t->reaches ? MAX_REACHES * sizeof *t->reaches : 0;
    return t;
}

void trace_restart(struct trace *trace)
{
    trace->step_count = trace->access_count = trace->reach_count = 0;
    trace->instructions = trace->lost = 0;
    trace->is_cut = false;
}

/* Doubles an array of the arena; what it had is copied. NULL: out of memory. */
static void *grow(struct arena *arena, const void *old, int count, int *capacity, size_t size)
{
    int larger = *capacity ? *capacity * 2 : 32;
    void *data = arena_array(arena, (size_t)larger, size);

    if (!data)
        return NULL;
    if (count)
        memcpy(data, old, (size_t)count * size);
    *capacity = larger;
    return data;
}

/* As grow, within the trace's room: a trace that does not fit is cut, as one that is too long. */
static void *grow_within(struct trace *t, const void *old, int count, int *capacity, size_t size)
{
    size_t bytes = (size_t)(*capacity ? *capacity * 2 : 32) * size;
    void *larger = bytes <= t->room ? grow(t->arena, old, count, capacity, size) : NULL;

    if (larger)
        t->room -= bytes;
    else
        t->is_cut = true;
    return larger;
}

/* The step before is complete: when it equals the one before it, both become one. */
static void fold(struct trace *t)
{
    struct core_step *last, *before;

    if (t->step_count < 2)
        return;
    last = &t->steps[t->step_count - 1];
    before = last - 1;
    if (last->block != before->block || last->accesses != before->accesses)
        return;
    if (last->accesses && memcmp(t->accesses + last->access, t->accesses + before->access,
                                 (size_t)last->accesses * sizeof *t->accesses) != 0)
        return;
    before->repeat += last->repeat;
    t->access_count = last->access;
    t->step_count--;
}

/* False: it does not fit, and the trace is cut. */
static bool add_step(struct trace *t, const struct block *block)
{
    fold(t);
    t->is_cut |= t->step_count == MAX_STEPS;
    if (!t->is_cut && t->step_count == t->step_capacity) {
        struct core_step *larger =
            grow_within(t, t->steps, t->step_count, &t->step_capacity, sizeof *t->steps);

        t->steps = larger ? larger : t->steps;
    }
    if (t->is_cut)
        return false;
    t->steps[t->step_count++] =
        (struct core_step){ .block = block->id, .repeat = 1, .access = t->access_count };
    return true;
}

void trace_block(struct trace *t, const struct block *block, uint32_t mask)
{
    (void)mask;
    t->in_block = block->insn_count;
    t->instructions += t->in_block;
    if (!t->is_cut && add_step(t, block))
        return;
    t->lost += t->in_block;
}

/*
 * A warp whose words begin behind the start of a sector shares that sector with the warp beside it,
 * which asks for it at about the same time: L1 gets it once for both. The n-th access of one is
 * compared with the n-th of the other.
 */
enum trace_sharing trace_reach(struct trace *t, const struct trace *beside, uint64_t low,
                               uint64_t high)
{
    uint32_t first = (uint32_t)(low / SECTOR_BYTES), other;
    int at = t->reach_count;
    bool is_known = beside && at < beside->reach_count;

    if (t->reaches && at < MAX_REACHES)
        t->reaches[t->reach_count++] = (uint32_t)(high / SECTOR_BYTES);
    if (!is_known)
        return SHARES_NOTHING;
    other = beside->reaches[at];
    if (other == first)
        return SHARES_SECTOR;
    return other / (GRANULE_BYTES / SECTOR_BYTES) == first / (GRANULE_BYTES / SECTOR_BYTES)
               ? SHARES_GRANULE
               : SHARES_NOTHING;
}

void trace_access(struct trace *t, core_access access)
{
    if (t->is_cut || !t->step_count)
        return;
    if (t->access_count == t->access_capacity) {
        core_access *larger =
            grow_within(t, t->accesses, t->access_count, &t->access_capacity, sizeof *t->accesses);

        if (!larger) {
            t->step_count--; /* a step has all of its accesses, or is not there */
            t->lost += t->in_block;
            return;
        }
        t->accesses = larger;
    }
    t->accesses[t->access_count++] = access;
    t->steps[t->step_count - 1].accesses++;
}

/* ---- Classes -------------------------------------------------------------------------------- */

/* Mixes a number into a hash: the finalizer of splitmix64. */
static uint64_t mix(uint64_t hash, uint64_t v)
{
    hash ^= v + 0x9e3779b97f4a7c15ULL + (hash << 6) + (hash >> 2);
    hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9ULL;
    hash = (hash ^ hash >> 27) * 0x94d049bb133111ebULL;
    return hash ^ hash >> 31;
}

static uint64_t hash_of(const struct trace *t)
{
    uint64_t hash = (uint64_t)t->lost;

    for (int i = 0; i < t->step_count; i++)
        hash = mix(hash, (uint64_t)t->steps[i].block << 32 | (uint32_t)t->steps[i].repeat);
    for (int i = 0; i < t->access_count; i++)
        hash = mix(hash, t->accesses[i]);
    return hash;
}

static int find_warp(const struct classes *c, uint64_t hash)
{
    for (int i = 0; i < c->warp_count; i++)
        if (c->warps[i].hash == hash)
            return i;
    return -1;
}

static int find_block(const struct classes *c, uint64_t hash)
{
    for (int i = 0; i < c->block_count; i++)
        if (c->blocks[i].hash == hash)
            return i;
    return -1;
}

static int add_warp(struct classes *c, const struct warp_class *warp)
{
    if (c->warp_count == c->warp_capacity) {
        struct warp_class *larger =
            grow(c->arena, c->warps, c->warp_count, &c->warp_capacity, sizeof *c->warps);

        if (!larger)
            return -1;
        c->warps = larger;
    }
    c->warps[c->warp_count] = *warp;
    return c->warp_count++;
}

static int add_block(struct classes *c, uint64_t hash, const int *warps, int warp_count)
{
    struct block_class *b;

    if (c->block_count == c->block_capacity) {
        struct block_class *larger =
            grow(c->arena, c->blocks, c->block_count, &c->block_capacity, sizeof *c->blocks);

        if (!larger)
            return -1;
        c->blocks = larger;
    }
    b = &c->blocks[c->block_count];
    *b = (struct block_class){ .hash = hash, .warp_count = warp_count };
    b->warps = arena_array(c->arena, (size_t)warp_count, sizeof *b->warps);
    if (!b->warps)
        return -1;
    memcpy(b->warps, warps, (size_t)warp_count * sizeof *warps);
    return c->block_count++;
}

static int keep_warp(struct classes *c, struct trace *t)
{
    struct warp_class warp = { .instructions = t->instructions, .lost = t->lost };
    struct core_step *steps;
    core_access *accesses;
    int found;

    fold(t);
    warp.hash = hash_of(t);
    found = find_warp(c, warp.hash);
    if (found >= 0)
        return found;
    steps = arena_array(c->arena, (size_t)t->step_count, sizeof *steps);
    accesses = arena_array(c->arena, (size_t)t->access_count, sizeof *accesses);
    if (!steps || !accesses)
        return -1;
    if (t->step_count)
        memcpy(steps, t->steps, (size_t)t->step_count * sizeof *steps);
    if (t->access_count)
        memcpy(accesses, t->accesses, (size_t)t->access_count * sizeof *accesses);
    warp.stream =
        (struct core_stream){ .steps = steps, .step_count = t->step_count, .accesses = accesses };
    return add_warp(c, &warp);
}

int classes_add_block(struct classes *c, struct cta *cta)
{
    int warps[MAX_WARPS], found;
    uint64_t hash = 0;

    for (int i = 0; i < cta->run->warps_per_block; i++) {
        warps[i] = c->is_full ? -1 : keep_warp(c, cta->warps[i].trace);
        if (warps[i] < 0) {
            c->is_full = true;
            return c->block_count ? 0 : -1;
        }
        hash = mix(hash, c->warps[warps[i]].hash);
    }
    found = find_block(c, hash);
    if (found < 0)
        found = add_block(c, hash, warps, cta->run->warps_per_block);
    return found;
}

int classes_merge_block(struct classes *to, const struct classes *from, int block)
{
    const struct block_class *b = &from->blocks[block];
    int warps[MAX_WARPS], found = find_block(to, b->hash);

    if (found >= 0)
        return found;
    for (int i = 0; i < b->warp_count; i++) {
        const struct warp_class *warp = &from->warps[b->warps[i]];

        warps[i] = find_warp(to, warp->hash);
        if (warps[i] < 0)
            warps[i] = add_warp(to, warp);
        if (warps[i] < 0)
            return -1;
    }
    return add_block(to, b->hash, warps, b->warp_count);
}
