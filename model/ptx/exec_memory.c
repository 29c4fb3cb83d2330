/*
 * Loads, stores and atomics of a warp.
 *
 * An access is one step for all lanes wherever it can be: the allocation is found once for the
 * lowest and the highest address, alignment is checked on all addresses or'ed together, and lanes
 * that ask for neighbouring words are copied as a block. Only an access that spans allocations, or
 * is wrong, is looked at lane by lane, in check.c.
 */
#include "model/memory.h"
#include "model/ptx/internal.h"
#include "model/ptx/numbers.h"

typedef uint32_t __attribute__((may_alias)) word32;
typedef uint64_t __attribute__((may_alias)) word64;

static const int KIND_BYTES[] = { 1, 1, 2, 2, 4, 4, 8 };

/* Where the lanes of an access lie. */
struct access {
    uint64_t address[WARP];
    uint64_t low, high; /* of the first bytes, over the mask */
    uint64_t step;      /* from lane to lane, when is_linear: all 32 lanes take part */
    bool is_linear;
    uintptr_t base;  /* host address = base + address, when is_one; wraps */
    bool is_one;     /* all lanes in one allocation */
    bool is_private; /* local memory: base is of lane 0, lanes are stack_bytes apart */
    enum space space;
    int bytes; /* of a lane, the whole vector */
};

static int fault(struct warp *w, const struct insn *in, uint32_t lanes, uint64_t address, int bytes,
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

/* Which window a generic address is in; anything outside the windows is global. */
static enum space space_at(uint64_t address)
{
    if (address - SHARED_WINDOW < WINDOW_BYTES)
        return SPACE_SHARED;
    if (address - LOCAL_WINDOW < WINDOW_BYTES)
        return SPACE_LOCAL;
    if (address - PARAM_WINDOW < WINDOW_BYTES)
        return SPACE_PARAM;
    return SPACE_GLOBAL;
}

static uint64_t window_of(enum space space)
{
    return space == SPACE_SHARED  ? SHARED_WINDOW
           : space == SPACE_LOCAL ? LOCAL_WINDOW
           : space == SPACE_PARAM ? PARAM_WINDOW
                                  : 0;
}

/* Lanes whose address does not fit in [0, size). */
static uint32_t lanes_outside(const struct access *a, uint32_t mask, uint64_t size)
{
    uint32_t lanes = 0;

    for (uint32_t m = mask; m; m &= m - 1) {
        uint64_t v = a->address[__builtin_ctz(m)];

        if (v >= size || size - v < (uint64_t)a->bytes)
            lanes |= m & -m;
    }
    return lanes;
}

static int outside(struct warp *w, const struct insn *in, const struct access *a, uint32_t lanes,
                   const char *why)
{
    return fault(w, in, lanes, a->address[__builtin_ctz(lanes)] + window_of(a->space), a->bytes,
                 why);
}

static int locate_shared(struct warp *w, const struct insn *in, struct access *a, uint32_t mask)
{
    const struct run *run = w->cta->run;
    uint64_t size = run->shared_bytes;
    uint32_t lanes;

    a->base = (uintptr_t)w->cta->shared;
    a->is_one = true;
    if (a->high < size && size - a->high >= (uint64_t)a->bytes)
        return EXEC_OK;
    lanes = lanes_outside(a, mask, size);
    return outside(w, in, a, lanes, "shared memory");
}

static int locate_local(struct warp *w, const struct insn *in, struct access *a, uint32_t mask)
{
    uint64_t size = w->cta->run->stack_bytes;
    uint32_t lanes;

    a->base = (uintptr_t)w->local;
    a->is_one = false;
    a->is_private = true;
    if (a->high < size && size - a->high >= (uint64_t)a->bytes)
        return EXEC_OK;
    lanes = lanes_outside(a, mask, size);
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
    lanes = in->flags & INSN_WRITES ? mask : lanes_outside(a, mask, size);
    return outside(w, in, a, lanes, "the kernel's parameters");
}

static bool fits(const struct region *r, uint64_t low, uint64_t high, int bytes)
{
    return r && low >= r->start && high < r->end && r->end - high >= (uint64_t)bytes &&
           !r->is_freed;
}

static int locate_global(struct warp *w, const struct insn *in, struct access *a, uint32_t mask)
{
    const struct region *r = region_find(w->cta->run, a->low);
    bool is_write = in->flags & INSN_WRITES;
    uint32_t lanes = 0;

    if (fits(r, a->low, a->high, a->bytes) && !(is_write && r->is_read_only)) {
        a->base = (uintptr_t)r->data - r->start;
        a->is_one = true;
        return EXEC_OK;
    }
    for (uint32_t m = mask; m; m &= m - 1) {
        uint64_t v = a->address[__builtin_ctz(m)];

        r = region_find(w->cta->run, v);
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

/* The addresses of the lanes, in one space; generic ones are told apart by the lowest lane. */
static int locate(struct warp *w, const struct insn *in, uint32_t mask, int bytes, struct access *a)
{
    a->bytes = bytes;
    a->is_one = a->is_private = a->is_linear = false;
    read_addresses(w, in, a);
    find_range(a, mask);
    a->space = in->space;
    if (in->space == SPACE_GENERIC) {
        a->space = space_at(a->low);
        if (window_of(a->space)) {
            for (int l = 0; l < WARP; l++)
                a->address[l] -= window_of(a->space);
            a->low -= window_of(a->space);
            a->high -= window_of(a->space);
        }
    }
    return locate_in(w, in, a, mask);
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
static uint32_t same_space(const struct warp *w, const struct insn *in, uint32_t mask)
{
    const word64 *wide = (const word64 *)(w->rows + in->a);
    uint32_t same = 0;
    enum space first;

    if (in->option & ACCESS_ADDRESS_32 || !is_any_in_window(wide, (uint64_t)in->offset))
        return mask;
    first = space_at(wide[__builtin_ctz(mask)] + (uint64_t)in->offset);
    for (uint32_t m = mask; m; m &= m - 1)
        if (space_at(wide[__builtin_ctz(m)] + (uint64_t)in->offset) == first)
            same |= m & -m;
    return same;
}

static uint8_t *host_address(const struct warp *w, const struct access *a, int lane)
{
    const struct region *r;

    if (a->is_private)
        return (uint8_t *)(a->base + (size_t)lane * w->cta->run->stack_bytes + a->address[lane]);
    if (a->is_one)
        return (uint8_t *)(a->base + a->address[lane]);
    r = region_find(w->cta->run, a->address[lane]);
    return r->data + (a->address[lane] - r->start);
}

/* ---- Counting ------------------------------------------------------------------------------- */

static void count(struct warp *w, const struct insn *in, const struct access *a, uint32_t mask)
{
    struct access_counts *c;
    int n;

    if (in->counter < 0)
        return;
    c = &w->cta->counts.accesses[in->counter];
    c->requests++;
    c->bytes += (int64_t)a->bytes * __builtin_popcount(mask);
    if (a->space == SPACE_SHARED) {
        n = a->is_linear && (a->step == 0 || (a->step == 4 && a->bytes == 4))
                ? 1
                : memory_passes(a->address, mask, a->bytes);
        c->passes += n;
        c->best += memory_best_passes(mask, a->bytes);
    } else if (a->space == SPACE_GLOBAL || a->space == SPACE_CONST) {
        n = a->is_linear ? memory_sectors_linear(a->address[0], a->step, a->bytes)
                         : memory_sectors(a->address, mask, a->bytes);
        c->sectors += n;
    } else {
        n = (int)ceil_div((int64_t)a->bytes * __builtin_popcount(mask), SECTOR_BYTES);
        c->sectors += n;
    }
    c->space_seen |= (uint32_t)1 << a->space;
    if (w->trace)
        trace_access(w->trace, a->space, n);
}

/* ---- Loads and stores ----------------------------------------------------------------------- */

static uint64_t read_value(const uint8_t *p, enum memory_kind kind)
{
    uint64_t v = 0;

    memcpy(&v, p, (size_t)KIND_BYTES[kind]); /* little endian, as PTX is */
    switch (kind) {
    case MEMORY_S8:
        return (uint64_t)(int64_t)(int8_t)v;
    case MEMORY_S16:
        return (uint64_t)(int64_t)(int16_t)v;
    case MEMORY_S32:
        return (uint64_t)(int64_t)(int32_t)v;
    default:
        return v;
    }
}

static void put_register(struct warp *w, const struct insn *in, uint32_t row, int lane, uint64_t v)
{
    if (in->option & ACCESS_WIDE_ROWS)
        ((word64 *)(w->rows + row))[lane] = v;
    else
        ((word32 *)(w->rows + row))[lane] = (uint32_t)v;
}

static uint64_t get_register(const struct warp *w, const struct insn *in, uint32_t row, int lane)
{
    return in->option & ACCESS_WIDE_ROWS ? ((const word64 *)(w->rows + row))[lane]
                                         : ((const word32 *)(w->rows + row))[lane];
}

/* All lanes, one after the other in memory, with registers as wide as the words. */
static bool is_block(const struct insn *in, const struct access *a)
{
    return a->is_linear && a->is_one && in->vector == 1 && a->step == (uint64_t)a->bytes &&
           a->bytes == (in->option & ACCESS_WIDE_ROWS ? 8 : 4);
}

static bool is_word_gather(const struct insn *in, const struct access *a)
{
    return a->is_one && in->vector == 1 && a->bytes == 4 && !(in->option & ACCESS_WIDE_ROWS);
}

/* Four bytes a lane from one allocation: by far the most frequent. */
static void gather_words(struct warp *w, const struct insn *in, const struct access *a,
                         uint32_t mask)
{
    word32 *d = (word32 *)(w->rows + in->rows[0]);

    if (a->is_linear && !a->step) {
        uint32_t v = *(const word32 *)(a->base + a->address[0]);

        for (int l = 0; l < WARP; l++)
            d[l] = v;
        return;
    }
    if (mask == FULL_MASK) {
        for (int l = 0; l < WARP; l++)
            d[l] = *(const word32 *)(a->base + a->address[l]);
        return;
    }
    for (uint32_t m = mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);

        d[l] = *(const word32 *)(a->base + a->address[l]);
    }
}

static void load_lanes(struct warp *w, const struct insn *in, const struct access *a, uint32_t mask)
{
    int bytes = KIND_BYTES[in->memory];

    for (uint32_t m = mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        const uint8_t *p = host_address(w, a, l);

        for (int i = 0; i < in->vector; i++)
            put_register(w, in, in->rows[i], l, read_value(p + i * bytes, in->memory));
    }
}

static int load_some(struct warp *w, const struct insn *in, uint32_t mask)
{
    struct access a;

    if (locate(w, in, mask, KIND_BYTES[in->memory] * in->vector, &a) < 0)
        return EXEC_FAULT;
    count(w, in, &a, mask);
    if (is_block(in, &a))
        memcpy(w->rows + in->rows[0], (const void *)(a.base + a.address[0]),
               (size_t)a.bytes * WARP);
    else if (is_word_gather(in, &a))
        gather_words(w, in, &a, mask);
    else
        load_lanes(w, in, &a, mask);
    return EXEC_OK;
}

static void store_lanes(struct warp *w, const struct insn *in, const struct access *a,
                        uint32_t mask)
{
    int bytes = KIND_BYTES[in->memory];

    for (uint32_t m = mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        uint8_t *p = host_address(w, a, l);

        for (int i = 0; i < in->vector; i++) {
            uint64_t v = get_register(w, in, in->rows[i], l);

            memcpy(p + i * bytes, &v, (size_t)bytes);
        }
    }
}

static int store_some(struct warp *w, const struct insn *in, uint32_t mask)
{
    struct access a;

    if (locate(w, in, mask, KIND_BYTES[in->memory] * in->vector, &a) < 0)
        return EXEC_FAULT;
    count(w, in, &a, mask);
    if (is_block(in, &a))
        memcpy((void *)(a.base + a.address[0]), w->rows + in->rows[0], (size_t)a.bytes * WARP);
    else
        store_lanes(w, in, &a, mask);
    return EXEC_OK;
}

typedef int some_fn(struct warp *w, const struct insn *in, uint32_t mask);

/* A generic access may have lanes in several spaces: one after the other. */
static int by_space(struct warp *w, const struct insn *in, uint32_t mask, some_fn *fn)
{
    if (in->space != SPACE_GENERIC)
        return fn(w, in, mask);
    while (mask) {
        uint32_t some = same_space(w, in, mask);

        if (fn(w, in, some) < 0)
            return EXEC_FAULT;
        mask &= ~some;
    }
    return EXEC_OK;
}

int exec_load(struct warp *w, const struct insn *in, uint32_t mask)
{
    return by_space(w, in, mask, load_some);
}

int exec_store(struct warp *w, const struct insn *in, uint32_t mask)
{
    return by_space(w, in, mask, store_some);
}

/* ---- .param variables of calls -------------------------------------------------------------- */

/* Word k of lane l is at row + k * 128 + l * 4; narrower values are parts of a word. */
static uint8_t *param_at(struct warp *w, const struct insn *in, int64_t offset, int lane)
{
    return w->rows + in->a + offset / 4 * ROW32 + 4 * lane + offset % 4;
}

int exec_param_load(struct warp *w, const struct insn *in, uint32_t mask)
{
    int bytes = KIND_BYTES[in->memory];

    for (int i = 0; i < in->vector; i++) {
        int64_t at = in->offset + (int64_t)i * bytes;

        for (uint32_t m = mask; m; m &= m - 1) {
            int l = __builtin_ctz(m);
            uint8_t value[8];

            memcpy(value, param_at(w, in, at, l), (size_t)min_i64(bytes, 4));
            if (bytes == 8)
                memcpy(value + 4, param_at(w, in, at + 4, l), 4);
            put_register(w, in, in->rows[i], l, read_value(value, in->memory));
        }
    }
    return EXEC_OK;
}

int exec_param_store(struct warp *w, const struct insn *in, uint32_t mask)
{
    int bytes = KIND_BYTES[in->memory];

    for (int i = 0; i < in->vector; i++) {
        int64_t at = in->offset + (int64_t)i * bytes;

        for (uint32_t m = mask; m; m &= m - 1) {
            int l = __builtin_ctz(m);
            uint64_t v = get_register(w, in, in->rows[i], l);
            uint32_t high = (uint32_t)(v >> 32);

            memcpy(param_at(w, in, at, l), &v, (size_t)min_i64(bytes, 4));
            if (bytes == 8)
                memcpy(param_at(w, in, at + 4, l), &high, 4);
        }
    }
    return EXEC_OK;
}

/* ---- Atomics -------------------------------------------------------------------------------- */

static uint64_t combine_integer(enum atomic_op op, enum number_kind kind, uint64_t old, uint64_t b,
                                uint64_t c)
{
    bool is_narrow = kind == NUMBER_U32 || kind == NUMBER_S32;
    bool is_less = kind == NUMBER_S32   ? (int32_t)old < (int32_t)b
                   : kind == NUMBER_S64 ? (int64_t)old < (int64_t)b
                                        : old < b;

    switch (op) {
    case ATOMIC_ADD:
        return is_narrow ? (uint32_t)(old + b) : old + b;
    case ATOMIC_MIN:
        return is_less ? old : b;
    case ATOMIC_MAX:
        return is_less ? b : old;
    case ATOMIC_INC: /* wraps to 0 after b */
        return old >= b ? 0 : old + 1;
    case ATOMIC_DEC: /* wraps to b after 0 */
        return old == 0 || old > b ? b : old - 1;
    case ATOMIC_AND:
        return old & b;
    case ATOMIC_OR:
        return old | b;
    case ATOMIC_XOR:
        return old ^ b;
    case ATOMIC_EXCH:
        return b;
    case ATOMIC_CAS:
        return old == b ? c : old;
    }
    return old;
}

static uint64_t combine(const struct insn *in, uint64_t old, uint64_t b, uint64_t c)
{
    enum atomic_op op = in->memory;

    if (op == ATOMIC_ADD && in->vector == NUMBER_F32)
        return bits_of_f32(NUM(f32_of_bits((uint32_t)old) + f32_of_bits((uint32_t)b)));
    if (op == ATOMIC_ADD && in->vector == NUMBER_F64)
        return bits_of_f64(f64_of_bits(old) + f64_of_bits(b));
    return combine_integer(op, in->vector, old, b, c);
}

/* Lanes in ascending order: what a GPU leaves open has one answer here. */
static int atomic_some(struct warp *w, const struct insn *in, uint32_t mask)
{
    int bytes = in->option & ACCESS_WIDE_ROWS ? 8 : 4;
    struct access a;

    if (locate(w, in, mask, bytes, &a) < 0)
        return EXEC_FAULT;
    count(w, in, &a, mask);
    for (uint32_t m = mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        uint8_t *p = host_address(w, &a, l);
        uint64_t old = 0, b = get_register(w, in, in->b, l);
        uint64_t c = in->memory == ATOMIC_CAS ? get_register(w, in, in->c, l) : 0, v;

        memcpy(&old, p, (size_t)bytes);
        v = combine(in, old, b, c);
        memcpy(p, &v, (size_t)bytes);
        put_register(w, in, in->d, l, old);
    }
    return EXEC_OK;
}

int exec_atomic(struct warp *w, const struct insn *in, uint32_t mask)
{
    return by_space(w, in, mask, atomic_some);
}
