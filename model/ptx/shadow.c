/*
 * Which accesses the checks look at, and the check for bytes without a value.
 *
 * A read of such a byte is a fault where it is read, as the initcheck of compute-sanitizer has it.
 * Padding is not: the compiler says which bytes of a load it looks at, and a copy of a struct whose
 * other bytes have a value copies its padding too (docs/checks.md).
 */
#include "model/ptx/shadow.h"

#include "model/ptx/report.h"

enum {
    MEMBER_REACH = 64, /* bytes from one part of a struct to another, at most */
    PROBES = 16,       /* of a buffer that may have values all over */
};

static bool has_check(const struct run *run, int check)
{
    return run->launch->checks & check;
}

static bool is_write(const struct insn *in)
{
    return in->flags & INSN_WRITES;
}

/* ---- Memory --------------------------------------------------------------------------------- */

/* Some places first: the bitmap of a large buffer takes longer to read than a launch to start. */
static bool is_all_defined(const struct region *r)
{
    uint64_t size = r->end - r->start;

    for (uint64_t i = 1; i <= PROBES && size; i++)
        if (!defined_all(r->defined, (size - 1) / PROBES * i, 1))
            return false;
    return defined_all(r->defined, 0, size);
}

void shadow_regions(struct run *run)
{
    for (int i = 0; i < run->region_count; i++) {
        struct region *r = &run->regions[i];

        if (r->defined && !r->is_freed && is_all_defined(r))
            r->defined = NULL;
    }
}

int shadow_new(struct cta *cta)
{
    const struct run *run = cta->run;

    if (has_check(run, PTX_CHECK_UNINITIALISED) && run->shared_bytes) {
        cta->shared_defined = arena_alloc(cta->arena, run->shared_bytes / 8 + 16);
        if (!cta->shared_defined)
            return -1;
    }
    for (int i = 0; has_check(run, PTX_CHECK_LOCALS) && i < run->warps_per_block; i++) {
        cta->warps[i].local_defined =
            arena_alloc(cta->arena, (size_t)WARP * run->stack_bytes / 8 + 16);
        if (!cta->warps[i].local_defined)
            return -1;
    }
    return race_new(cta);
}

void shadow_block(struct cta *cta)
{
    if (cta->shared_defined)
        memset(cta->shared_defined, 0, cta->run->shared_bytes / 8 + 1);
    cta->shared_undefined = cta->shared_defined ? cta->run->shared_bytes : 0;
    cta->undefined_by = NULL;
    race_block(cta);
}

/* Stacks lie in pieces of 16 bytes, those of the lanes side by side: two bytes of bits each. */
void shadow_frame(struct warp *w, const struct frame *frame, uint32_t mask)
{
    size_t from = frame->stack_at / 16, to = from + (size_t)frame->function->local_bytes / 16;

    if (!w->local_defined || from == to)
        return;
    if (mask == FULL_MASK) {
        memset(w->local_defined + from * WARP * 2, 0, (to - from) * WARP * 2);
        return;
    }
    for (size_t piece = from; piece < to; piece++)
        for (uint32_t m = mask; m; m &= m - 1)
            memset(w->local_defined + (piece * WARP + (size_t)__builtin_ctz(m)) * 2, 0, 2);
}

/* ---- Bytes without a value ------------------------------------------------------------------ */

/* The bitmap of what an access lies in and the bit of a lane's first byte; NULL: all have values.
 */
static uint8_t *bits_of(const struct warp *w, const struct access *a, int lane, uint64_t *at)
{
    const struct region *r = a->region;

    if (a->space == SPACE_SHARED) {
        *at = a->address[lane];
        return w->cta->shared_defined;
    }
    if (a->space == SPACE_LOCAL) {
        *at = access_private(a->address[lane], lane);
        return w->local_defined;
    }
    if (a->space == SPACE_PARAM)
        return NULL;
    if (!r)
        r = region_find(w->cta->run, a->address[lane]);
    *at = a->address[lane] - r->start;
    return r->defined;
}

static void define_lane(struct warp *w, const struct access *a, int lane)
{
    uint64_t at = 0, n = (uint64_t)a->bytes;
    uint8_t *bits = bits_of(w, a, lane, &at);

    if (!bits || defined_all(bits, at, n))
        return;
    if (a->space == SPACE_SHARED)
        w->cta->shared_undefined -= (int64_t)(n - defined_count(bits, at, n));
    defined_set(bits, at, n);
}

static void define(struct warp *w, const struct access *a, uint32_t mask)
{
    uint64_t n = (uint64_t)a->bytes * WARP;

    if (a->space == SPACE_SHARED && mask == FULL_MASK && a->is_linear &&
        a->step == (uint64_t)a->bytes) {
        w->cta->shared_undefined -=
            (int64_t)(n - defined_count(w->cta->shared_defined, a->address[0], n));
        defined_set(w->cta->shared_defined, a->address[0], n);
        return;
    }
    for (uint32_t m = mask; m; m &= m - 1)
        define_lane(w, a, __builtin_ctz(m));
}

/* Of a struct in local memory: one part that has no value, beside others that have. */
static bool is_empty_member(const struct warp *w, const struct insn *in, const struct access *a,
                            int lane)
{
    uint64_t from = a->address[lane], end = w->cta->run->stack_bytes;

    if (!(in->checks & CHECK_MEMBER))
        return false;
    end = end - from > MEMBER_REACH ? from + MEMBER_REACH : end;
    for (uint64_t at = from > MEMBER_REACH ? from - MEMBER_REACH : 0; at < end; at++)
        if (defined_all(w->local_defined, access_private(at, lane), 1))
            return true;
    return false;
}

/* Of a struct that has some values: its padding has none, and a copy takes it along. */
static bool is_padding(const struct warp *w, const struct insn *in, const struct access *a,
                       int lane)
{
    const struct run *run = w->cta->run;
    const struct ptx_buffer *b;
    const struct region *r;
    uint64_t at, element;

    if (a->space == SPACE_LOCAL)
        return is_empty_member(w, in, a, lane);
    if (!(in->checks & CHECK_COPY) || a->space == SPACE_SHARED)
        return false;
    r = a->region ? a->region : region_find(run, a->address[lane]);
    b = r->buffer >= 0 ? &run->launch->buffers[r->buffer] : NULL;
    if (!b || b->element_bytes <= a->bytes)
        return false;
    at = a->address[lane] - r->start;
    element = at / (uint64_t)b->element_bytes * (uint64_t)b->element_bytes;
    return defined_count(r->defined, element, (uint64_t)b->element_bytes) != 0;
}

static bool is_lane_defined(const struct warp *w, const struct insn *in, const struct access *a,
                            int lane)
{
    uint64_t at = 0;
    const uint8_t *bits = bits_of(w, a, lane, &at);
    bool is_all = true;

    if (!bits || in->checks & CHECK_FIELD || defined_all(bits, at, (uint64_t)a->bytes))
        return true;
    for (int i = 0; i < a->bytes && in->used_bytes; i++)
        if (in->used_bytes >> i & 1 && !defined_all(bits, at + (uint64_t)i, 1))
            is_all = false;
    if (in->used_bytes)
        return is_all;
    /* A vector of which some members were set, copied before the code looks at those. */
    if (in->checks & CHECK_COPY && in->vector > 1 && defined_count(bits, at, (uint64_t)a->bytes))
        return true;
    return is_padding(w, in, a, lane);
}

/*
 * A thread that reads shared memory too early finds no value there, as warps run one after the
 * other. So the fault waits for the next barrier: who writes there until then makes it a race.
 */
static int read_undefined(struct warp *w, const struct insn *in, const struct access *a,
                          uint32_t lanes)
{
    struct cta *cta = w->cta;

    access_fault(w, in, lanes, access_shown(a, __builtin_ctz(lanes)), a->bytes, NULL);
    w->fault.reason = REASON_UNDEFINED;
    if (a->space != SPACE_SHARED || !cta->race || in->checks & CHECK_NO_RACE)
        return EXEC_FAULT;
    if (!cta->undefined_by) {
        cta->undefined_by = w;
        cta->undefined = w->fault;
    }
    return EXEC_OK;
}

/* Words of 4 bytes in one allocation, all with values: half a byte of bits each. */
static bool are_words_defined(const struct warp *w, const struct access *a, uint32_t mask)
{
    const uint8_t *bits = a->space == SPACE_SHARED ? w->cta->shared_defined
                          : a->region              ? a->region->defined
                                                   : NULL;
    uint64_t start = a->space == SPACE_SHARED ? 0 : a->region ? a->region->start : 0;
    unsigned all = 15;

    if (!bits || a->bytes != 4)
        return false;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint64_t at = a->address[__builtin_ctz(m)] - start;

        all &= (unsigned)__atomic_load_n(&bits[at >> 3], __ATOMIC_RELAXED) >> (at & 4);
    }
    return all == 15;
}

/* Headers copy and mask what they never set, such as the empty half of a group's handle. */
static bool is_in_header(const struct warp *w, const struct insn *in)
{
    return report_is_header(w->cta, in);
}

static int check_defined(struct warp *w, const struct insn *in, const struct access *a,
                         uint32_t mask)
{
    int check = a->space == SPACE_LOCAL ? PTX_CHECK_LOCALS : PTX_CHECK_UNINITIALISED;
    uint32_t lanes = 0;

    if (are_words_defined(w, a, mask))
        return EXEC_OK;
    if (!has_check(w->cta->run, check) || (a->space == SPACE_SHARED && !w->cta->shared_undefined))
        return EXEC_OK;
    /* Code for a warp in lockstep reads past what was written, and does not use it. */
    if (a->space == SPACE_SHARED && in->flags & INSN_VOLATILE)
        return EXEC_OK;
    for (uint32_t m = mask; m; m &= m - 1)
        if (!is_lane_defined(w, in, a, __builtin_ctz(m)))
            lanes |= m & -m;
    if (lanes && a->space == SPACE_LOCAL && is_in_header(w, in))
        return EXEC_OK;
    return lanes ? read_undefined(w, in, a, lanes) : EXEC_OK;
}

/* ---- Accesses ------------------------------------------------------------------------------- */

bool shadow_needs(const struct warp *w, const struct insn *in, const struct access *a)
{
    const struct run *run = w->cta->run;

    if (run->is_racing && in->checks & CHECK_ORDERS)
        return true;
    switch (a->space) {
    case SPACE_SHARED:
        return w->cta->shared_defined || (run->is_racing && !(in->checks & CHECK_NO_RACE));
    case SPACE_LOCAL:
        return w->local_defined;
    case SPACE_PARAM:
        return false;
    default:
        return !a->region ||
               (a->region->defined && (is_write(in) || has_check(run, PTX_CHECK_UNINITIALISED)));
    }
}

void shadow_define(struct warp *w, const struct access *a, uint32_t lanes)
{
    if (w->cta->shared_undefined)
        define(w, a, lanes);
}

int shadow_access(struct warp *w, const struct insn *in, const struct access *a, uint32_t mask)
{
    bool is_read = !is_write(in) || in->flags & INSN_ATOMIC;

    if (is_read && check_defined(w, in, a, mask) < 0)
        return EXEC_FAULT;
    if (in->checks & CHECK_ORDERS)
        race_order(w, in, a, mask);
    if (a->space == SPACE_SHARED && w->cta->run->is_racing && !(in->checks & CHECK_NO_RACE) &&
        race_access(w, in, a, mask) < 0)
        return EXEC_FAULT;
    if (!is_write(in) || (a->space == SPACE_SHARED && !w->cta->shared_undefined))
        return EXEC_OK;
    define(w, a, mask);
    return EXEC_OK;
}

/* All 32 lanes side by side in global memory: a range of bits. */
static bool shadow_range(const struct insn *in, const struct pattern *p, uint64_t first)
{
    uint8_t *bits = p->region ? p->region->defined : NULL;
    uint64_t at, n = (uint64_t)p->bytes * WARP;

    if (!bits || !p->is_linear || p->low || (uint64_t)p->high != n || p->shape != SHAPE_NEXT)
        return false;
    at = first - p->region->start;
    if (!is_write(in))
        return defined_all(bits, at, n);
    defined_set(bits, at, n);
    return true;
}

int shadow_pattern(struct warp *w, const struct insn *in, const struct pattern *p, uint64_t first)
{
    struct access a;

    if (!(in->checks & CHECK_ORDERS) && shadow_range(in, p, first))
        return EXEC_OK;
    if (p->space == SPACE_SHARED && !w->cta->shared_undefined &&
        (!w->cta->run->is_racing || in->checks & CHECK_NO_RACE))
        return EXEC_OK;
    access_of_pattern(in, p, first, &a);
    return shadow_access(w, in, &a, FULL_MASK);
}
