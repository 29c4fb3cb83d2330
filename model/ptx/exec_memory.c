/*
 * Loads, stores and atomics of a warp, for any mask and any addresses; lanes_memory.h has the
 * usual case. Lanes that ask for neighbouring words are copied as a block.
 */
#include "model/ptx/footprint.h"
#include "model/ptx/half.h"
#include "model/ptx/numbers.h"
#include "model/ptx/shadow.h"

/* Registers and memory: a parameter may lie anywhere. */
typedef uint16_t __attribute__((may_alias, aligned(1))) half16;
typedef uint32_t __attribute__((may_alias, aligned(1))) word32;
typedef uint64_t __attribute__((may_alias, aligned(1))) word64;

/* ---- Loads and stores ----------------------------------------------------------------------- */

/* As many bytes of memory as a register takes, or a part of it: little endian, as PTX is. */
MAY_RACE static uint64_t get_memory(const uint8_t *p, int bytes)
{
    switch (bytes) {
    case 1:
        return *p;
    case 2:
        return *(const half16 *)(const void *)p;
    case 4:
        return *(const word32 *)(const void *)p;
    default:
        return *(const word64 *)(const void *)p;
    }
}

MAY_RACE static void put_memory(uint8_t *p, int bytes, uint64_t v)
{
    switch (bytes) {
    case 1:
        *p = (uint8_t)v;
        break;
    case 2:
        *(half16 *)(void *)p = (uint16_t)v;
        break;
    case 4:
        *(word32 *)(void *)p = (uint32_t)v;
        break;
    default:
        *(word64 *)(void *)p = v;
        break;
    }
}

static uint64_t read_value(const uint8_t *p, enum memory_kind kind)
{
    uint64_t v = get_memory(p, ACCESS_KIND_BYTES[kind]);

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
MAY_RACE static void gather_words(struct warp *w, const struct insn *in, const struct access *a,
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
    int bytes = ACCESS_KIND_BYTES[in->memory];

    for (uint32_t m = mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        const uint8_t *p = access_host(w, a, l);

        for (int i = 0; i < in->vector; i++)
            put_register(w, in, in->rows[i], l, read_value(p + i * bytes, in->memory));
    }
}

static int shadow(struct warp *w, const struct insn *in, const struct access *a, uint32_t mask)
{
    return shadow_needs(w, in, a) ? shadow_access(w, in, a, mask) : EXEC_OK;
}

static int load_some(struct warp *w, const struct insn *in, uint32_t mask)
{
    struct access a;

    if (access_locate(w, in, mask, ACCESS_KIND_BYTES[in->memory] * in->vector, &a) < 0 ||
        shadow(w, in, &a, mask) < 0)
        return EXEC_FAULT;
    access_count(w, in, &a, mask);
    if (mask == FULL_MASK && in->counter >= 0)
        access_learn(w, in, &a);
    if (is_block(in, &a))
        access_copy(w->rows + in->rows[0], (const void *)(a.base + a.address[0]),
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
    int bytes = ACCESS_KIND_BYTES[in->memory];

    for (uint32_t m = mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        uint8_t *p = access_host(w, a, l);

        for (int i = 0; i < in->vector; i++)
            put_memory(p + i * bytes, bytes, get_register(w, in, in->rows[i], l));
    }
}

static int store_some(struct warp *w, const struct insn *in, uint32_t mask)
{
    struct access a;

    if (access_locate(w, in, mask, ACCESS_KIND_BYTES[in->memory] * in->vector, &a) < 0 ||
        shadow(w, in, &a, mask) < 0)
        return EXEC_FAULT;
    access_count(w, in, &a, mask);
    if (mask == FULL_MASK && in->counter >= 0)
        access_learn(w, in, &a);
    if (is_block(in, &a))
        access_copy((void *)(a.base + a.address[0]), w->rows + in->rows[0], (size_t)a.bytes * WARP);
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
        uint32_t some = access_same_space(w, in, mask);

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
    int bytes = ACCESS_KIND_BYTES[in->memory];

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
    int bytes = ACCESS_KIND_BYTES[in->memory];

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

/* Single precision sums in global memory flush subnormals; those in shared memory do not. */
static uint32_t add_f32(uint32_t old, uint32_t b, enum space space)
{
    float x = f32_of_bits(old), y = f32_of_bits(b);

    return bits_of_f32(space == SPACE_SHARED ? NUM(x + y) : FTZ(NUM(FTZ(x) + FTZ(y))));
}

static uint32_t add_f16(uint32_t a, uint32_t b)
{
    return f16_of_f32(f32_of_f16(a & 0xffff) + f32_of_f16(b & 0xffff));
}

static uint32_t add_bf16(uint32_t a, uint32_t b)
{
    return bf16_of_f32(f32_of_bf16(a & 0xffff) + f32_of_bf16(b & 0xffff));
}

uint64_t atomic_combine(const struct insn *in, enum space space, uint64_t old, uint64_t b,
                        uint64_t c)
{
    enum atomic_op op = in->memory;

    if (op == ATOMIC_ADD && in->vector == NUMBER_F32)
        return add_f32((uint32_t)old, (uint32_t)b, space);
    if (op == ATOMIC_ADD && in->vector == NUMBER_F64)
        return bits_of_f64(f64_of_bits(old) + f64_of_bits(b));
    if (op == ATOMIC_ADD && in->vector == NUMBER_F16)
        return add_f16((uint32_t)old, (uint32_t)b);
    if (op == ATOMIC_ADD && in->vector == NUMBER_BF16)
        return add_bf16((uint32_t)old, (uint32_t)b);
    if (op == ATOMIC_ADD && in->vector == NUMBER_F16X2)
        return add_f16((uint32_t)old, (uint32_t)b) | add_f16((uint32_t)old >> 16, (uint32_t)b >> 16)
                                                         << 16;
    if (op == ATOMIC_ADD && in->vector == NUMBER_BF16X2)
        return add_bf16((uint32_t)old, (uint32_t)b) |
               add_bf16((uint32_t)old >> 16, (uint32_t)b >> 16) << 16;
    return combine_integer(op, in->vector, old, b, c);
}

/* With other host threads at work: an atomic of the host. */
static void combine_shared(const struct insn *in, uint8_t *p, uint64_t b)
{
    word32 *narrow = (word32 *)(void *)p, old32;
    word64 *wide = (word64 *)(void *)p, old64;

    if (in->option & ACCESS_WIDE_ROWS) {
        old64 = __atomic_load_n(wide, __ATOMIC_RELAXED);
        while (!__atomic_compare_exchange_n(wide, &old64,
                                            atomic_combine(in, SPACE_GLOBAL, old64, b, 0), true,
                                            __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            ;
        return;
    }
    old32 = __atomic_load_n(narrow, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(narrow, &old32,
                                        (uint32_t)atomic_combine(in, SPACE_GLOBAL, old32, b, 0),
                                        true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

static bool is_narrow(const struct insn *in)
{
    return in->vector == NUMBER_F16 || in->vector == NUMBER_BF16 || in->vector == NUMBER_U16;
}

/* Lanes in ascending order: what a GPU leaves open has one answer here. */
static int atomic_some(struct warp *w, const struct insn *in, uint32_t mask)
{
    int bytes = is_narrow(in) ? 2 : in->option & ACCESS_WIDE_ROWS ? 8 : 4;
    uint64_t bits = bytes == 2 ? 0xffff : UINT64_MAX;
    struct access a;

    if (access_locate(w, in, mask, bytes, &a) < 0 || shadow(w, in, &a, mask) < 0)
        return EXEC_FAULT;
    access_count(w, in, &a, mask);
    for (uint32_t m = mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        uint8_t *p = access_host(w, &a, l);
        uint64_t old, b = get_register(w, in, in->b, l) & bits;
        uint64_t c = in->memory == ATOMIC_CAS ? get_register(w, in, in->c, l) & bits : 0, v;

        if (w->cta->footprint && in->flags & (INSN_COMMUTES | INSN_DEFERS) &&
            a.space == SPACE_GLOBAL) {
            if (!footprint_defers(w, in, p, b))
                combine_shared(in, p, b);
            continue;
        }
        old = get_memory(p, bytes);
        v = atomic_combine(in, a.space, old, b, c);
        put_memory(p, bytes, v);
        w->cta->changes += v != old;
        put_register(w, in, in->d, l, old);
    }
    return EXEC_OK;
}

int exec_atomic(struct warp *w, const struct insn *in, uint32_t mask)
{
    return by_space(w, in, mask, atomic_some);
}

/* Each value is an atomic of its own; the address is that of the first. */
static int vector_some(struct warp *w, const struct insn *in, uint32_t mask)
{
    const struct atomic_vector *v = in->extra;
    struct access a;

    if (access_locate(w, in, mask, v->bytes * v->count, &a) < 0 || shadow(w, in, &a, mask) < 0)
        return EXEC_FAULT;
    access_count(w, in, &a, mask);
    for (uint32_t m = mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        uint8_t *p = access_host(w, &a, l);

        for (int i = 0; i < v->count; i++, p += v->bytes) {
            uint64_t old = get_memory(p, v->bytes), now;

            now = atomic_combine(in, a.space, old, get_register(w, in, v->b[i], l), 0);
            put_memory(p, v->bytes, now);
            w->cta->changes += now != old;
            put_register(w, in, v->d[i], l, old);
        }
    }
    return EXEC_OK;
}

int exec_atomic_vector(struct warp *w, const struct insn *in, uint32_t mask)
{
    return by_space(w, in, mask, vector_some);
}
