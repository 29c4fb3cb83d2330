/*
 * cp.async.bulk: one thread copies many bytes between global and shared memory.
 *
 * The bytes are there at once. Those in shared memory are still nobody's but the copy's until the
 * mbarrier that counts them is found complete: race.c has them as written by no thread that goes
 * on. Counted are requests of 32 pieces of 16 bytes, as a warp would make them. Source:
 * "cp.async.bulk", PTX ISA 9.0.
 */
#include "model/ptx/async.h"
#include "model/ptx/shadow.h"

typedef uint32_t __attribute__((may_alias)) word32;
typedef uint64_t __attribute__((may_alias)) word64;

enum { PIECE = 16 };

static uint64_t address_of(const struct warp *w, const struct insn *in, int lane)
{
    if (in->option & ACCESS_ADDRESS_32)
        return ((const word32 *)(w->rows + in->a))[lane] + (uint32_t)in->offset;
    return ((const word64 *)(w->rows + in->a))[lane] + (uint64_t)in->offset;
}

/* The pieces from `at` on, one a lane of a row of addresses. */
static int locate(struct warp *w, const struct insn *in, uint32_t row, int lane, uint64_t at,
                  uint32_t pieces, struct access *a)
{
    uint64_t first = address_of(w, in, lane) + at;
    struct insn part = *in;

    for (uint64_t i = 0; i < WARP; i++)
        ((word64 *)(w->rows + row))[i] = first + PIECE * i;
    part.a = row;
    part.offset = 0;
    part.option &= (uint16_t)~ACCESS_ADDRESS_32;
    if (access_locate(w, &part, pieces, PIECE, a) < 0) {
        w->fault.insn = in;
        w->fault.lanes = (uint32_t)1 << lane;
        return EXEC_FAULT;
    }
    access_count(w, in, a, pieces);
    return EXEC_OK;
}

/* Shows a piece as an access of the lane that copies. */
static int show(struct warp *w, const struct insn *in, const struct access *a, int piece, int lane)
{
    struct access one = *a;

    one.address[lane] = a->address[piece];
    one.is_linear = false;
    one.low = one.high = one.address[lane];
    return shadow_needs(w, in, &one) ? shadow_access(w, in, &one, (uint32_t)1 << lane) : EXEC_OK;
}

static int copy_lane(struct warp *w, const struct insn *in, int lane)
{
    const struct async_copy *copy = in->extra;
    uint64_t size = ((const word32 *)(w->rows + copy->size))[lane];
    struct access from, to;

    if (size % PIECE) {
        access_fault(w, in, (uint32_t)1 << lane, address_of(w, in, lane), (int)(size % INT32_MAX),
                     "a bulk copy of a number of bytes that is no multiple of 16");
        w->fault.name = ERR_BarrierFault;
        w->fault.hint = "cp.async.bulk copies multiples of 16 bytes";
        return EXEC_FAULT;
    }
    for (uint64_t at = 0; at < size; at += WARP * PIECE) {
        uint64_t n = (size - at) / PIECE;
        uint32_t pieces = n >= WARP ? FULL_MASK : ((uint32_t)1 << n) - 1;

        if (locate(w, &copy->source, copy->row, lane, at, pieces, &from) < 0 ||
            locate(w, in, copy->row, lane, at, pieces, &to) < 0)
            return EXEC_FAULT;
        for (uint32_t m = pieces; m; m &= m - 1) {
            int i = __builtin_ctz(m);

            if (show(w, &copy->source, &from, i, lane) < 0 || show(w, in, &to, i, lane) < 0)
                return EXEC_FAULT;
            access_copy(access_host(w, &to, i), access_host(w, &from, i), PIECE);
        }
    }
    return EXEC_OK;
}

int exec_bulk_copy(struct warp *w, const struct insn *in, uint32_t mask)
{
    const struct async_copy *copy = in->extra;

    for (uint32_t m = mask; m; m &= m - 1)
        if (copy_lane(w, in, __builtin_ctz(m)) < 0)
            return EXEC_FAULT;
    return copy->barrier.full ? exec_mbarrier(w, &copy->barrier, mask) : EXEC_OK;
}
