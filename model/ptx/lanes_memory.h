/*
 * Loads and stores by all 32 lanes in the shape that the instruction had last time (access.h): one
 * comparison of 32 addresses stands for every check, and lanes that are neighbours in memory are
 * copied together. Anything else goes to exec_memory.c, which learns the new shape.
 *
 * Included by lanes.h, once for each build of the lane loops.
 */
#include "model/ptx/footprint.h"

/* Memory of the host: a parameter may lie anywhere. */
typedef uint8_t __attribute__((may_alias)) memory_u8;
typedef int8_t __attribute__((may_alias)) memory_s8;
typedef uint16_t __attribute__((may_alias, aligned(1))) memory_u16;
typedef int16_t __attribute__((may_alias, aligned(1))) memory_s16;
typedef uint32_t __attribute__((may_alias, aligned(1))) memory_u32;
typedef int32_t __attribute__((may_alias, aligned(1))) memory_s32;
typedef uint64_t __attribute__((may_alias, aligned(1))) memory_u64;

/* A form of the switch below: kind of memory, and registers of 64 bits. */
enum { WIDE_FORM = 8 };

/* Lane 0's address as the register has it. */
static inline uint64_t first_address(const struct warp *w, const struct insn *in)
{
    if (in->option & ACCESS_ADDRESS_32)
        return (uint32_t)(*ROW_OF(u32, in->a) + (uint32_t)in->offset);
    return *ROW_OF(u64, in->a) + (uint64_t)in->offset;
}

static inline bool has_shape_wide(const cell_u64 *row, const struct pattern *p)
{
    uint64_t first = row[0], differs = 0;

    for (int l = 0; l < WARP; l++)
        differs |= (row[l] - first) ^ p->relative.wide[l];
    return !differs;
}

static inline bool has_shape_narrow(const cell_u32 *row, const struct pattern *p)
{
    uint32_t first = row[0], differs = 0;

    for (int l = 0; l < WARP; l++)
        differs |= (row[l] - first) ^ p->relative.narrow[l];
    return !differs;
}

/* The shape is known, and lies in the allocation and aligned from `first` on. */
static inline bool is_as_before(const struct warp *w, const struct insn *in,
                                const struct pattern *p, uint64_t first)
{
    uint64_t low = first + (uint64_t)p->low, high = first + (uint64_t)p->high;

    if (p->shape == SHAPE_UNKNOWN || low < p->start || high > p->end || low >= high ||
        ((first | p->bits) & (uint64_t)(p->bytes - 1)))
        return false;
    return in->option & ACCESS_ADDRESS_32 ? has_shape_narrow(ROW_OF(u32, in->a), p)
                                          : has_shape_wide(ROW_OF(u64, in->a), p);
}

static inline int cost_at(struct pattern *p, uint64_t first)
{
    uint8_t *n = &p->cost[first % SECTOR_BYTES];

    if (!*n)
        *n = (uint8_t)access_cost(p, first);
    return *n;
}

/* What the timing model has to know: as cost_at, by the place in a granule. */
static inline core_access traced_at(const struct warp *w, const struct insn *in, struct pattern *p,
                                    uint64_t first, int n)
{
    uint8_t *granules = &p->granules[first % GRANULE_BYTES];

    if (p->space != SPACE_GLOBAL)
        return core_access_of(p->space, n);
    if (!*granules)
        *granules = (uint8_t)access_granules(p, first);
    return access_traced(w, in, n, *granules, first + (uint64_t)p->low,
                         first + (uint64_t)p->high - 1);
}

static inline void count_pattern(struct warp *w, const struct insn *in, struct pattern *p,
                                 uint64_t first)
{
    struct access_counts *c = &w->cta->counts.accesses[in->counter];
    int n = cost_at(p, first);

    c->requests++;
    c->bytes += p->bytes * WARP;
    c->space_seen |= (uint32_t)1 << p->space;
    if (p->space == SPACE_SHARED) {
        c->passes += n;
        c->best += p->best;
    } else {
        c->sectors += n;
    }
    if (w->trace)
        trace_access(w->trace, traced_at(w, in, p, first, n));
}

/* Those who want to know of an access before it is made: first who saves what it overwrites. */
static inline int tell(struct warp *w, const struct insn *in, const struct pattern *p,
                       uint64_t first)
{
    if (p->is_followed)
        footprint_pattern(w->cta->footprint, in, p, first);
    return p->watch ? access_watch(w, in, p, first) : EXEC_OK;
}

/* How far lane l is from lane 0 on the host. */
static inline int64_t lane_at(const struct insn *in, const struct pattern *p, int l)
{
    if (p->is_private)
        return l * 16;
    return in->option & ACCESS_ADDRESS_32 ? (int32_t)p->relative.narrow[l]
                                          : (int64_t)p->relative.wide[l];
}

static inline uint8_t *host_of(const struct warp *w, const struct pattern *p, uint64_t first)
{
    if (p->is_private)
        return w->local + access_private(first - p->start, 0);
    return (uint8_t *)(p->base + first);
}

/*
 * 32 bytes of a row, and as many values of memory. They are named as vectors because the compiler
 * takes loops of eight lanes apart, and a row that was stored lane by lane is slow to be read
 * whole.
 */
#define LANES_OF(CELL) (32 / (int)sizeof(CELL))
#define VECTOR_OF(T, CELL)                                                                         \
    __attribute__((vector_size(sizeof(T) * LANES_OF(CELL)), aligned(1), may_alias)) T

/* One register of each lane from memory, as T, into a row of CELL. */
#define LOAD(CELL, T)                                                                              \
    for (int i = 0; i < vector; i++) {                                                             \
        typedef VECTOR_OF(CELL, CELL) row_part;                                                    \
        typedef VECTOR_OF(T, CELL) memory_part;                                                    \
        enum { PART = LANES_OF(CELL) };                                                            \
        CELL *D = (CELL *)(void *)(w->rows + in->rows[i]);                                         \
        const uint8_t *from = host + i * (int)sizeof(T);                                           \
                                                                                                   \
        if (shape == SHAPE_NEXT && vector == 1)                                                    \
            for (int l = 0; l < WARP; l += PART) {                                                 \
                const T *S = (const T *)(const void *)(from + p->group_at[l / GROUP_LANES]);       \
                                                                                                   \
                *(row_part *)(D + l) =                                                             \
                    __builtin_convertvector(*(const memory_part *)(S + l % GROUP_LANES),           \
                                            row_part);                                             \
            }                                                                                      \
        else if (shape == SHAPE_SAME)                                                              \
            for (int l = 0; l < WARP; l += PART)                                                   \
                *(row_part *)(D + l) =                                                             \
                    (row_part){ 0 } +                                                              \
                    (CELL) * (const T *)(const void *)(from + p->group_at[l / GROUP_LANES]);       \
        else                                                                                       \
            _Pragma("GCC ivdep") for (int l = 0; l < WARP; l++) D[l] =                             \
                (CELL) * (const T *)(const void *)(from + lane_at(in, p, l));                      \
    }

MAY_RACE static inline void copy_in(struct warp *w, const struct insn *in, const struct pattern *p,
                                    const uint8_t *host)
{
    int vector = in->vector, shape = p->is_private ? SHAPE_ANY : p->shape;

    switch (in->memory + (in->option & ACCESS_WIDE_ROWS ? WIDE_FORM : 0)) {
    case MEMORY_U8:
        LOAD(cell_u32, memory_u8)
        break;
    case MEMORY_S8:
        LOAD(cell_u32, memory_s8)
        break;
    case MEMORY_U16:
        LOAD(cell_u32, memory_u16)
        break;
    case MEMORY_S16:
        LOAD(cell_u32, memory_s16)
        break;
    case MEMORY_U32:
    case MEMORY_S32:
        LOAD(cell_u32, memory_u32)
        break;
    case WIDE_FORM + MEMORY_U32:
        LOAD(cell_u64, memory_u32)
        break;
    case WIDE_FORM + MEMORY_S32:
        LOAD(cell_u64, memory_s32)
        break;
    default:
        LOAD(cell_u64, memory_u64)
        break;
    }
}

#undef LOAD

static int load_full(struct warp *w, const struct insn *in, uint32_t mask)
{
    struct pattern *p = &w->cta->patterns[in->counter];
    uint64_t first = first_address(w, in);

    if (mask != FULL_MASK || !is_as_before(w, in, p, first))
        return exec_load(w, in, mask);
    if (tell(w, in, p, first) < 0)
        return EXEC_FAULT;
    p->misses = 0;
    count_pattern(w, in, p, first);
    copy_in(w, in, p, host_of(w, p, first));
    return EXEC_OK;
}

/* Lanes in ascending order: where two write the same, the higher one stays. */
#define STORE(CELL, T)                                                                             \
    for (int i = 0; i < vector; i++) {                                                             \
        typedef VECTOR_OF(CELL, CELL) row_part;                                                    \
        typedef VECTOR_OF(T, CELL) memory_part;                                                    \
        enum { PART = LANES_OF(CELL) };                                                            \
        const CELL *S = (const CELL *)(const void *)(w->rows + in->rows[i]);                       \
        uint8_t *to = host + i * (int)sizeof(T);                                                   \
                                                                                                   \
        if (shape == SHAPE_NEXT && vector == 1)                                                    \
            for (int l = 0; l < WARP; l += PART) {                                                 \
                T *D = (T *)(void *)(to + p->group_at[l / GROUP_LANES]);                           \
                                                                                                   \
                *(memory_part *)(D + l % GROUP_LANES) =                                            \
                    __builtin_convertvector(*(const row_part *)(S + l), memory_part);              \
            }                                                                                      \
        else                                                                                       \
            for (int l = 0; l < WARP; l++)                                                         \
                *(T *)(void *)(to + lane_at(in, p, l)) = (T)S[l];                                  \
    }

MAY_RACE static inline void copy_out(struct warp *w, const struct insn *in, const struct pattern *p,
                                     uint8_t *host)
{
    int vector = in->vector, shape = p->is_private ? SHAPE_ANY : p->shape;

    switch (in->memory + (in->option & ACCESS_WIDE_ROWS ? WIDE_FORM : 0)) {
    case MEMORY_U8:
    case MEMORY_S8:
        STORE(cell_u32, memory_u8)
        break;
    case MEMORY_U16:
    case MEMORY_S16:
        STORE(cell_u32, memory_u16)
        break;
    case MEMORY_U32:
    case MEMORY_S32:
        STORE(cell_u32, memory_u32)
        break;
    case WIDE_FORM + MEMORY_U32:
    case WIDE_FORM + MEMORY_S32:
        STORE(cell_u64, memory_u32)
        break;
    default:
        STORE(cell_u64, memory_u64)
        break;
    }
}

#undef STORE

static int store_full(struct warp *w, const struct insn *in, uint32_t mask)
{
    struct pattern *p = &w->cta->patterns[in->counter];
    uint64_t first = first_address(w, in);

    if (mask != FULL_MASK || !is_as_before(w, in, p, first))
        return exec_store(w, in, mask);
    if (tell(w, in, p, first) < 0)
        return EXEC_FAULT;
    p->misses = 0;
    count_pattern(w, in, p, first);
    copy_out(w, in, p, host_of(w, p, first));
    return EXEC_OK;
}
