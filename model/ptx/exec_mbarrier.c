/*
 * mbarrier: a barrier that is a word of shared memory, counted by arrivals and by bytes.
 *
 * The word is opaque to programs. Here it holds how many arrivals a phase expects and how many are
 * still to come, the bytes that are expected and have not come, and the number of the phase modulo
 * four; a phase is over when neither arrivals nor bytes are missing. Arrivals give what their
 * threads did to those who find the phase over. Source: "mbarrier", PTX ISA 9.0.
 */
#include "model/ptx/async.h"
#include "model/ptx/shadow.h"

typedef uint32_t __attribute__((may_alias)) word32;
typedef uint64_t __attribute__((may_alias)) word64;

enum {
    COUNT_BITS = 20,
    BYTES_BITS = 21,
    PENDING_AT = COUNT_BITS,
    BYTES_AT = 2 * COUNT_BITS,
    PHASE_AT = BYTES_AT + BYTES_BITS,
    VALID_AT = 63,
};
#define MOST_COUNT (((uint32_t)1 << COUNT_BITS) - 1)
#define MOST_BYTES MOST_COUNT

struct mbarrier {
    uint32_t expected, pending;
    int32_t bytes;
    unsigned phase; /* modulo 4 */
    bool is_valid;
};

static struct mbarrier unpack(uint64_t v)
{
    return (struct mbarrier){
        .expected = (uint32_t)v & MOST_COUNT,
        .pending = (uint32_t)(v >> PENDING_AT) & MOST_COUNT,
        .bytes = (int32_t)((uint32_t)(v >> BYTES_AT) << (32 - BYTES_BITS)) >> (32 - BYTES_BITS),
        .phase = (unsigned)(v >> PHASE_AT) & 3,
        .is_valid = v >> VALID_AT,
    };
}

static uint64_t pack(const struct mbarrier *b)
{
    uint64_t bytes = (uint32_t)b->bytes & (((uint32_t)1 << BYTES_BITS) - 1);

    return (uint64_t)b->expected | (uint64_t)b->pending << PENDING_AT | bytes << BYTES_AT |
           (uint64_t)(b->phase & 3) << PHASE_AT | (uint64_t)b->is_valid << VALID_AT;
}

static int fail(struct warp *w, const struct insn *in, const struct access *a, int lane,
                const char *why, const char *hint)
{
    access_fault(w, in, (uint32_t)1 << lane, access_shown(a, lane), a->bytes, why);
    w->fault.name = ERR_BarrierFault;
    w->fault.hint = hint;
    return EXEC_FAULT;
}

static uint32_t operand32(const struct warp *w, uint32_t row, int lane)
{
    return ((const word32 *)(w->rows + row))[lane];
}

static uint64_t operand64(const struct warp *w, uint32_t row, int lane)
{
    return ((const word64 *)(w->rows + row))[lane];
}

/* Bytes that are expected (more) or came (fewer). */
static int add_bytes(struct warp *w, const struct insn *in, const struct access *a, int lane,
                     struct mbarrier *b, uint32_t row, bool is_more)
{
    int64_t n = operand32(w, row, lane), sum = b->bytes + (is_more ? n : -n);

    if (sum < -(int64_t)MOST_BYTES || sum > (int64_t)MOST_BYTES)
        return fail(w, in, a, lane, "an mbarrier counts up to 1048575 bytes at a time", NULL);
    b->bytes = (int32_t)sum;
    return EXEC_OK;
}

static void end_phase(struct mbarrier *b)
{
    if (b->pending || b->bytes)
        return;
    b->phase++;
    b->pending = b->expected;
}

static struct mbarrier made(const struct warp *w, const struct insn *in, int lane)
{
    uint32_t count = operand32(w, in->b, lane);

    return (struct mbarrier){ .expected = count, .pending = count, .is_valid = true };
}

uint64_t mbarrier_made(const struct warp *w, const struct insn *in, int lane)
{
    struct mbarrier b = made(w, in, lane);

    return pack(&b);
}

/* The predicate of a test. */
static bool is_over(const struct warp *w, const struct insn *in, const struct mbarrier *b, int lane)
{
    if (in->option & MBARRIER_PARITY)
        return (b->phase & 1) != (operand32(w, in->b, lane) & 1);
    return b->phase != unpack(operand64(w, in->b, lane)).phase;
}

static int arrive(struct warp *w, const struct insn *in, const struct access *a, int lane,
                  struct mbarrier *b)
{
    uint32_t count = in->option & MBARRIER_EXPECTS ? 1 : operand32(w, in->b, lane);

    if (in->option & MBARRIER_EXPECTS && add_bytes(w, in, a, lane, b, in->c, true) < 0)
        return EXEC_FAULT;
    if (count > b->pending || !count)
        return fail(w, in, a, lane, "more arrivals than the barrier still expects in this phase",
                    "the count that mbarrier.init gets is that of all arrivals of a phase");
    if (in->option & MBARRIER_NO_COMPLETE && count == b->pending)
        return fail(w, in, a, lane, "the last arrival of a phase, made as one that is not",
                    "let the last thread arrive without .noComplete");
    b->pending -= count;
    if (MBARRIER_OP(in) == MBARRIER_DROP)
        b->expected -= count;
    end_phase(b);
    return EXEC_OK;
}

/* One lane: the word at p from what it was to what it is. */
static int step(struct warp *w, const struct insn *in, const struct access *a, int lane,
                uint32_t *passed)
{
    uint8_t *p = access_host(w, a, lane);
    uint64_t before, after;
    struct mbarrier b;

    memcpy(&before, p, sizeof before);
    b = unpack(before);
    if (!b.is_valid && MBARRIER_OP(in) != MBARRIER_INIT)
        return fail(w, in, a, lane, "there is no mbarrier at this address: nobody made one",
                    "mbarrier.init (init of cuda::barrier) by one thread, then __syncthreads()");
    switch (MBARRIER_OP(in)) {
    case MBARRIER_INIT:
        b = made(w, in, lane);
        if (!b.expected || b.expected > MOST_COUNT)
            return fail(w, in, a, lane, "an mbarrier expects 1 to 1048575 arrivals", NULL);
        break;
    case MBARRIER_INVAL:
        b = (struct mbarrier){ 0 };
        break;
    case MBARRIER_ARRIVE:
    case MBARRIER_DROP:
        if (arrive(w, in, a, lane, &b) < 0)
            return EXEC_FAULT;
        ((word64 *)(w->rows + in->d))[lane] = before;
        break;
    case MBARRIER_FOLLOW:
        if (in->option & MBARRIER_COUNTED && arrive(w, in, a, lane, &b) < 0)
            return EXEC_FAULT;
        break;
    case MBARRIER_TEST:
        *passed |= (uint32_t)is_over(w, in, &b, lane) << lane;
        return EXEC_OK;
    case MBARRIER_EXPECT:
        if (add_bytes(w, in, a, lane, &b, in->b, true) < 0)
            return EXEC_FAULT;
        break;
    case MBARRIER_COMPLETE:
        if (add_bytes(w, in, a, lane, &b, in->b, false) < 0)
            return EXEC_FAULT;
        end_phase(&b);
        break;
    }
    after = pack(&b);
    w->cta->changes += after != before;
    memcpy(p, &after, sizeof after);
    return EXEC_OK;
}

static bool is_init(const struct insn *in)
{
    return MBARRIER_OP(in) == MBARRIER_INIT;
}

static bool is_arrival(const struct insn *in)
{
    return in->flags & INSN_ATOMIC && in->flags & INSN_WRITES;
}

int exec_mbarrier(struct warp *w, const struct insn *in, uint32_t mask)
{
    uint32_t passed = 0;
    struct access a;

    if (access_locate(w, in, mask, 8, &a) < 0)
        return EXEC_FAULT;
    if (a.space != SPACE_SHARED)
        return fail(w, in, &a, __builtin_ctz(mask), "an mbarrier lies in shared memory", NULL);
    if (MBARRIER_OP(in) == MBARRIER_FOLLOW && async_finish(w, mask, false) < 0)
        return EXEC_FAULT;
    access_count(w, in, &a, mask);
    /* Threads may make it side by side, all alike: that shows before it is made. */
    if (is_init(in) && shadow_needs(w, in, &a) && shadow_access(w, in, &a, mask) < 0)
        return EXEC_FAULT;
    if (is_arrival(in))
        race_pass(w, &a, mask, true, false);
    for (uint32_t m = mask; m; m &= m - 1)
        if (step(w, in, &a, __builtin_ctz(m), &passed) < 0)
            return EXEC_FAULT;
    if (!is_init(in) && shadow_needs(w, in, &a) && shadow_access(w, in, &a, mask) < 0)
        return EXEC_FAULT;
    if (MBARRIER_OP(in) == MBARRIER_TEST) {
        word32 *d = (word32 *)(w->rows + in->d);

        *d = (*d & ~mask) | passed;
        if (passed)
            race_pass(w, &a, passed, false, true);
    }
    return EXEC_OK;
}

/* mbarrier.pending_count: of the state that an arrival returned. */
int exec_pending_count(struct warp *w, const struct insn *in, uint32_t mask)
{
    for (uint32_t m = mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);

        ((word32 *)(w->rows + in->d))[l] = unpack(operand64(w, in->a, l)).pending;
    }
    return EXEC_OK;
}
