/*
 * Where the lanes of an access lie, and what they cost.
 *
 * An access is one step for all lanes wherever it can be: the allocation is found once for the
 * lowest and the highest address, and alignment is checked on all addresses or'ed together. Only an
 * access that spans allocations, or is wrong, is looked at lane by lane.
 */
#include "model/ptx/access.h"

#include "model/ptx/footprint.h"
#include "model/ptx/heap.h"
#include "model/ptx/shadow.h"
#include "model/ptx/track.h"

typedef uint32_t __attribute__((may_alias)) word32;
typedef uint64_t __attribute__((may_alias)) word64;
typedef uint64_t __attribute__((may_alias, aligned(1))) bytes8; /* at any address */

enum { MANY_MISSES = 8, LEARN_EVERY = 32 };

const int ACCESS_KIND_BYTES[] = { 1, 1, 2, 2, 4, 4, 8 };

int access_fault(struct warp *w, const struct insn *in, uint32_t lanes, uint64_t address, int bytes,
                 const char *why)
{
    w->fault = (struct fault_site){ .name = ERR_MemoryFault,
                                    .lanes = lanes,
                                    .address = address,
                                    .bytes = bytes,
                                    .insn = in,
                                    .why = why };
    return EXEC_FAULT;
}

static void read_addresses(const struct warp *w, const struct insn *in, struct access *a)
{
    const word32 *narrow = (const word32 *)(w->rows + in->a);
    const word64 *wide = (const word64 *)(w->rows + in->a);

    if (in->option & ACCESS_ADDRESS_32)
        for (int l = 0; l < WARP; l++)
            a->address[l] = (uint32_t)(narrow[l] + (uint32_t)in->offset);
    else
        for (int l = 0; l < WARP; l++)
            a->address[l] = wide[l] + (uint64_t)in->offset;
}

/* All lanes, and each as far from the one before. */
static bool find_step(struct access *a)
{
    uint64_t step = a->address[1] - a->address[0], differs = 0;

    for (uint64_t l = 0; l < WARP; l++)
        differs |= a->address[l] ^ (a->address[0] + step * l);
    a->step = step;
    a->is_linear = !differs;
    return a->is_linear;
}

static void find_range(struct access *a, uint32_t mask)
{
    if (mask == FULL_MASK && find_step(a)) {
        bool is_falling = (int64_t)a->step < 0;

        a->low = a->address[is_falling ? WARP - 1 : 0];
        a->high = a->address[is_falling ? 0 : WARP - 1];
        if (a->low <= a->high)
            return;
    }
    a->is_linear = false;
    a->low = UINT64_MAX;
    a->high = 0;
    if (mask == FULL_MASK) {
        for (int l = 0; l < WARP; l++) {
            a->low = a->address[l] < a->low ? a->address[l] : a->low;
            a->high = a->address[l] > a->high ? a->address[l] : a->high;
        }
        return;
    }
    for (uint32_t m = mask; m; m &= m - 1) {
        uint64_t v = a->address[__builtin_ctz(m)];

        a->low = v < a->low ? v : a->low;
        a->high = v > a->high ? v : a->high;
    }
}

/* The lanes that are not aligned, or 0. */
static uint32_t misaligned(const struct access *a, uint32_t mask)
{
    uint64_t bits = 0, most = (uint64_t)(a->bytes - 1);
    uint32_t lanes = 0;

    if (a->is_linear)
        bits = a->address[0] | a->step;
    else
        for (uint32_t m = mask; m; m &= m - 1)
            bits |= a->address[__builtin_ctz(m)];
    if (!(bits & most))
        return 0;
    for (uint32_t m = mask; m; m &= m - 1)
        if (a->address[__builtin_ctz(m)] & most)
            lanes |= m & -m;
    return lanes;
}

uint64_t access_window(enum space space)
{
    return space == SPACE_SHARED  ? SHARED_WINDOW
           : space == SPACE_LOCAL ? LOCAL_WINDOW
           : space == SPACE_PARAM ? PARAM_WINDOW
                                  : 0;
}

/* Lanes whose address does not fit in [start, end). */
static uint32_t lanes_outside(const struct access *a, uint32_t mask, uint64_t start, uint64_t end)
{
    uint32_t lanes = 0;

    for (uint32_t m = mask; m; m &= m - 1) {
        uint64_t v = a->address[__builtin_ctz(m)];

        if (v < start || v >= end || end - v < (uint64_t)a->bytes)
            lanes |= m & -m;
    }
    return lanes;
}

static int outside(struct warp *w, const struct insn *in, const struct access *a, uint32_t lanes,
                   const char *why)
{
    return access_fault(w, in, lanes, a->address[__builtin_ctz(lanes)] + access_window(a->space),
                        a->bytes, why);
}

/* What the variable that an address was made from takes of shared memory. */
static void shared_extent(const struct run *run, int base, uint64_t *start, uint64_t *end)
{
    const struct base *b = &run->module->bases[base];
    const struct shared_variable *v = b->kind == BASE_SHARED ? &run->module->shared[b->at] : NULL;

    *start = v ? v->address : 0;
    *end = v && v->size ? *start + v->size : run->shared_bytes;
}

/* The stack of the functions that run now: what lies beyond is nobody's yet. */
static uint64_t stack_end(const struct warp *w)
{
    return w->frame->stack_at + (uint64_t)w->frame->function->local_bytes;
}

static int locate_shared(struct warp *w, const struct insn *in, struct access *a, uint32_t mask)
{
    const struct run *run = w->cta->run;
    uint64_t size = run->shared_bytes, start, end;

    a->base = (uintptr_t)w->cta->shared;
    a->is_one = true;
    if (a->high >= size || size - a->high < (uint64_t)a->bytes)
        return outside(w, in, a, lanes_outside(a, mask, 0, size), "shared memory");
    if (!in->base)
        return EXEC_OK;
    shared_extent(run, in->base, &start, &end);
    if (a->low >= start && a->high + (uint64_t)a->bytes <= end)
        return EXEC_OK;
    return outside(w, in, a, lanes_outside(a, mask, start, end), "the shared variable");
}

static int locate_local(struct warp *w, const struct insn *in, struct access *a, uint32_t mask)
{
    uint64_t size = stack_end(w);
    uint32_t lanes;

    a->base = (uintptr_t)w->local;
    a->is_one = false;
    a->is_private = true;
    if (a->high < size && size - a->high >= (uint64_t)a->bytes)
        return EXEC_OK;
    lanes = lanes_outside(a, mask, 0, size);
    return outside(w, in, a, lanes, "the thread's stack");
}

static int locate_parameter(struct warp *w, const struct insn *in, struct access *a, uint32_t mask)
{
    const struct ptx_launch *launch = w->cta->run->launch;
    uint64_t size = (uint64_t)launch->kernel->parameter_bytes;
    uint32_t lanes;

    if (a->high < size && size - a->high >= (uint64_t)a->bytes && !(in->flags & INSN_WRITES)) {
        a->base = (uintptr_t)launch->parameters;
        a->is_one = true;
        return EXEC_OK;
    }
    lanes = in->flags & INSN_WRITES ? mask : lanes_outside(a, mask, 0, size);
    return outside(w, in, a, lanes, "the kernel's parameters");
}

static bool fits(const struct region *r, uint64_t low, uint64_t high, int bytes)
{
    return r && low >= r->start && high < r->end && r->end - high >= (uint64_t)bytes &&
           !r->is_freed;
}

static int locate_global(struct warp *w, const struct insn *in, struct access *a, uint32_t mask)
{
    const struct region *own = w->cta->run->base_regions[in->base];
    const struct region *r = own ? own : region_find(w->cta->run, a->low);
    bool is_write = in->flags & INSN_WRITES;
    uint32_t lanes = 0;

    if (fits(r, a->low, a->high, a->bytes) && !(is_write && r->is_read_only)) {
        a->base = (uintptr_t)r->data - r->start;
        a->is_one = true;
        a->region = r;
        return EXEC_OK;
    }
    for (uint32_t m = mask; m; m &= m - 1) {
        uint64_t v = a->address[__builtin_ctz(m)];

        /* Another allocation than the pointer's own is as wrong as none. */
        r = own ? own : region_find(w->cta->run, v);
        if (!fits(r, v, v, a->bytes) || (is_write && r->is_read_only))
            lanes |= m & -m;
    }
    a->is_one = false;
    return lanes ? outside(w, in, a, lanes, "any buffer") : EXEC_OK;
}

static int locate_in(struct warp *w, const struct insn *in, struct access *a, uint32_t mask)
{
    uint32_t lanes = misaligned(a, mask);

    if (lanes)
        return outside(w, in, a, lanes, NULL);
    switch (a->space) {
    case SPACE_SHARED:
        return locate_shared(w, in, a, mask);
    case SPACE_LOCAL:
        return locate_local(w, in, a, mask);
    case SPACE_PARAM:
        return locate_parameter(w, in, a, mask);
    default:
        return locate_global(w, in, a, mask);
    }
}

/* Blocks run side by side, and the kernel may write there. */
static bool is_followed(const struct warp *w, const struct access *a)
{
    return a->space == SPACE_GLOBAL && footprint_needs(w->cta->footprint, a->region);
}

static void note_written(const struct region *r)
{
    if (r && r->is_written && !atomic_load_explicit(r->is_written, memory_order_relaxed))
        atomic_store_explicit(r->is_written, true, memory_order_relaxed);
}

/* A buffer that was not written need not be looked through when the launch ends. */
static void note_all_written(const struct warp *w, const struct access *a, uint32_t mask)
{
    if (a->is_one)
        note_written(a->region);
    for (uint32_t m = a->is_one ? 0 : mask; m; m &= m - 1)
        note_written(region_find(w->cta->run, a->address[__builtin_ctz(m)]));
}

/* Atomics and flags order blocks wherever they lie. */
static bool is_tracked(const struct warp *w, const struct insn *in, const struct access *a)
{
    return a->space == SPACE_GLOBAL &&
           (track_needs(w->cta->track, a->region) ||
            (w->cta->track && in->flags & (INSN_ATOMIC | INSN_VOLATILE)));
}

/* The addresses of the lanes, in one space; generic ones are told apart by the lowest lane. */
int access_locate(struct warp *w, const struct insn *in, uint32_t mask, int bytes, struct access *a)
{
    a->bytes = bytes;
    a->is_one = a->is_private = a->is_linear = false;
    a->is_generic = in->space == SPACE_GENERIC;
    a->region = NULL;
    read_addresses(w, in, a);
    find_range(a, mask);
    a->space = in->space;
    if (in->space == SPACE_GENERIC) {
        a->space = address_space(a->low);
        if (access_window(a->space)) {
            for (int l = 0; l < WARP; l++)
                a->address[l] -= access_window(a->space);
            a->low -= access_window(a->space);
            a->high -= access_window(a->space);
        }
    }
    if (locate_in(w, in, a, mask) < 0)
        return EXEC_FAULT;
    if (in->flags & INSN_WRITES && a->space == SPACE_GLOBAL)
        note_all_written(w, a, mask);
    if (is_followed(w, a))
        footprint_access(w->cta->footprint, in, a, mask);
    return is_tracked(w, in, a) ? track_access(w, in, a, mask) : EXEC_OK;
}

/* All windows have the same top byte, which no buffer has. */
static bool is_any_in_window(const word64 *address, uint64_t offset)
{
    uint64_t is_any = 0;

    for (int l = 0; l < WARP; l++)
        is_any |= (address[l] + offset) >> 40 == SHARED_WINDOW >> 40;
    return is_any;
}

/* Lanes of a generic access that are in the same space as the lowest one. */
uint32_t access_same_space(const struct warp *w, const struct insn *in, uint32_t mask)
{
    const word64 *wide = (const word64 *)(w->rows + in->a);
    uint32_t same = 0;
    enum space first;

    if (in->option & ACCESS_ADDRESS_32 || !is_any_in_window(wide, (uint64_t)in->offset))
        return mask;
    first = address_space(wide[__builtin_ctz(mask)] + (uint64_t)in->offset);
    for (uint32_t m = mask; m; m &= m - 1)
        if (address_space(wide[__builtin_ctz(m)] + (uint64_t)in->offset) == first)
            same |= m & -m;
    return same;
}

uint8_t *access_host(const struct warp *w, const struct access *a, int lane)
{
    const struct region *r;

    if (a->is_private)
        return (uint8_t *)(a->base + access_private(a->address[lane], lane));
    if (a->is_one)
        return (uint8_t *)(a->base + a->address[lane]);
    r = region_find(w->cta->run, a->address[lane]);
    return r->data + (a->address[lane] - r->start);
}

MAY_RACE void access_copy(void *to, const void *from, size_t n)
{
    uint8_t *d = to;
    const uint8_t *s = from;
    size_t i = 0;

    for (; n - i >= 8; i += 8)
        *(bytes8 *)(d + i) = *(const bytes8 *)(s + i);
    for (; i < n; i++)
        d[i] = s[i];
}

/* ---- Counting ------------------------------------------------------------------------------- */

/* It changes what lies there, and is not one of an mbarrier. */
static bool is_atomic(const struct insn *in)
{
    return insn_exec(in) == exec_atomic || insn_exec(in) == exec_atomic_vector;
}

static int passes_of(const struct insn *in, const struct access *a, uint32_t mask)
{
    bool is_simple = a->is_linear && a->bytes == 4 && (a->step == 0 || a->step == 4);

    if (is_atomic(in))
        return memory_atomic_passes(a->address, mask, a->bytes);
    return is_simple ? 1 : memory_passes(a->address, mask, a->bytes);
}

static int sectors_of(const struct access *a, uint32_t mask)
{
    if (a->space != SPACE_GLOBAL && a->space != SPACE_CONST)
        return (int)ceil_div((int64_t)a->bytes * mask_lanes(mask), SECTOR_BYTES);
    return a->is_linear ? memory_sectors_linear(a->address[0], a->step, a->bytes)
                        : memory_sectors(a->address, mask, a->bytes);
}

core_access access_traced(const struct warp *w, const struct insn *in, int n, int granules,
                          uint64_t low, uint64_t high)
{
    const struct trace *beside = w->index ? w->cta->warps[w->index - 1].trace : NULL;
    enum trace_sharing sharing = trace_reach(w->trace, beside, low, high);
    bool is_load = !(in->flags & (INSN_WRITES | INSN_ATOMIC));

    return core_access_with(core_access_of(SPACE_GLOBAL, n),
                            n - (is_load && sharing == SHARES_SECTOR),
                            granules - (sharing != SHARES_NOTHING));
}

static core_access atomic_traced(struct warp *w, const struct access *a, uint32_t mask, int n)
{
    return core_access_with(core_access_of(SPACE_GLOBAL, n),
                            memory_atomic_operations(a->address, mask, w->cta->run->slices,
                                                     w->cta->counts.slices),
                            memory_granules(a->address, mask));
}

static void trace_it(struct warp *w, const struct insn *in, const struct access *a, uint32_t mask,
                     int n)
{
    core_access access = core_access_of(a->space, n);

    if (a->space == SPACE_GLOBAL)
        access = is_atomic(in) ? atomic_traced(w, a, mask, n)
                               : access_traced(w, in, n, memory_granules(a->address, mask), a->low,
                                               a->high + (uint64_t)a->bytes - 1);
    trace_access(w->trace, access);
}

void access_count(struct warp *w, const struct insn *in, const struct access *a, uint32_t mask)
{
    struct access_counts *c;
    int n;

    if (in->counter < 0)
        return;
    c = &w->cta->counts.accesses[in->counter];
    c->requests++;
    c->bytes += (int64_t)a->bytes * mask_lanes(mask);
    if (a->space == SPACE_SHARED) {
        c->passes += n = passes_of(in, a, mask);
        c->best += memory_best_passes(mask, a->bytes);
    } else {
        c->sectors += n = sectors_of(a, mask);
    }
    c->space_seen |= (uint32_t)1 << a->space;
    if (w->trace)
        trace_it(w, in, a, mask, n);
}

/* ---- Learning ------------------------------------------------------------------------------- */

static void relate(struct pattern *p, const struct access *a)
{
    uint64_t first = a->address[0], bits = 0;
    int64_t low = 0, high = 0;

    for (int l = 0; l < WARP; l++) {
        uint64_t v = a->address[l] - first;

        bits |= v;
        low = (int64_t)v < low ? (int64_t)v : low;
        high = (int64_t)v > high ? (int64_t)v : high;
        if (p->is_narrow)
            p->relative.narrow[l] = (uint32_t)v;
        else
            p->relative.wide[l] = v;
    }
    p->bits = bits;
    p->low = low;
    p->high = high + a->bytes;
}

static enum shape shape_of(struct pattern *p, const struct access *a)
{
    uint64_t same = 0, next = 0;

    for (int g = 0; g < GROUPS; g++) {
        const uint64_t *v = a->address + g * GROUP_LANES;

        p->group_at[g] = (int64_t)(v[0] - a->address[0]);
        for (int l = 1; l < GROUP_LANES; l++) {
            same |= v[l] ^ v[0];
            next |= (v[l] - v[0]) ^ (uint64_t)(l * a->bytes);
        }
    }
    return !same ? SHAPE_SAME : !next ? SHAPE_NEXT : SHAPE_ANY;
}

static void lay_out(const struct pattern *p, uint64_t first, uint64_t address[WARP])
{
    for (int l = 0; l < WARP; l++)
        address[l] =
            first + (p->is_narrow ? (uint64_t)(int32_t)p->relative.narrow[l] : p->relative.wide[l]);
}

int access_granules(const struct pattern *p, uint64_t first)
{
    uint64_t address[WARP];

    lay_out(p, first, address);
    return memory_granules(address, FULL_MASK);
}

int access_cost(const struct pattern *p, uint64_t first)
{
    uint64_t address[WARP];

    if (p->space == SPACE_LOCAL || p->space == SPACE_PARAM)
        return p->bytes * WARP / SECTOR_BYTES;
    lay_out(p, first, address);
    if (p->space == SPACE_SHARED)
        return memory_passes(address, FULL_MASK, p->bytes);
    return p->is_linear ? memory_sectors_linear(first, address[1] - first, p->bytes)
                        : memory_sectors(address, FULL_MASK, p->bytes);
}

void access_of_pattern(const struct insn *in, const struct pattern *p, uint64_t first,
                       struct access *a)
{
    uint64_t shift = in->space == SPACE_GENERIC ? access_window(p->space) : 0;

    a->space = p->space;
    a->bytes = p->bytes;
    a->region = p->region;
    a->is_linear = p->is_linear;
    a->is_one = !p->is_private;
    a->is_private = p->is_private;
    a->is_generic = in->space == SPACE_GENERIC;
    a->base = p->base + shift;
    for (int l = 0; l < WARP; l++)
        a->address[l] =
            first - shift +
            (p->is_narrow ? (uint64_t)(int32_t)p->relative.narrow[l] : p->relative.wide[l]);
    a->low = first - shift + (uint64_t)p->low;
    a->high = first - shift + (uint64_t)p->high - p->bytes;
    a->step = a->address[1] - a->address[0];
}

int access_watch(struct warp *w, const struct insn *in, const struct pattern *p, uint64_t first)
{
    if (p->watch & WATCH_TRACK && track_pattern(w, in, p, first) < 0)
        return EXEC_FAULT;
    return p->watch & WATCH_SHADOW ? shadow_pattern(w, in, p, first) : EXEC_OK;
}

/* The allocation, in the addresses that the register holds. */
static void place(struct warp *w, const struct insn *in, struct pattern *p, const struct access *a)
{
    const struct run *run = w->cta->run;
    uint64_t start = 0, end;

    p->region = a->region;
    if (a->region) {
        p->start = a->region->start;
        p->end = a->region->end;
        p->base = a->base;
        return;
    }
    end = a->space == SPACE_LOCAL ? stack_end(w) : (uint64_t)run->launch->kernel->parameter_bytes;
    if (a->space == SPACE_SHARED)
        shared_extent(run, in->base, &start, &end);
    p->start = start + (a->is_generic ? access_window(a->space) : 0);
    p->end = p->start - start + end;
    p->base = a->base + start - p->start;
}

void access_learn(struct warp *w, const struct insn *in, const struct access *a)
{
    struct pattern *p = &w->cta->patterns[in->counter];

    /* What malloc gave may be freed, and its list move: it is looked up each time. */
    if (w->cta->run->heap && a->region && a->region->start >= HEAP_WINDOW)
        return;
    if (p->misses >= MANY_MISSES && ++p->misses % LEARN_EVERY)
        return;
    if (p->misses < MANY_MISSES)
        p->misses++;
    p->shape = SHAPE_UNKNOWN;
    p->is_narrow = in->option & ACCESS_ADDRESS_32;
    relate(p, a);
    if (!a->is_one && !(a->is_private && !p->bits))
        return;
    place(w, in, p, a);
    p->space = (uint8_t)a->space;
    p->bytes = (uint8_t)a->bytes;
    p->is_linear = a->is_linear;
    p->is_private = a->is_private;
    p->is_followed = is_followed(w, a);
    p->watch = (uint8_t)((shadow_needs(w, in, a) ? WATCH_SHADOW : 0) |
                         (is_tracked(w, in, a) ? WATCH_TRACK : 0));
    memset(p->cost, 0, sizeof p->cost);
    memset(p->granules, 0, sizeof p->granules);
    p->best = a->space == SPACE_SHARED ? (uint8_t)memory_best_passes(FULL_MASK, a->bytes) : 0;
    p->shape = (uint8_t)shape_of(p, a);
}
