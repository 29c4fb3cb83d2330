/*
 * Exchange between the lanes of a warp.
 *
 * A .sync names lanes, and completes when all of them that still live have come to one with the
 * same qualifiers and the same mask: not to the same place. So __syncwarp() in both arms of an if
 * lets both arms pass, as on Volta and later. Every instruction here is two steps: gather what the
 * lanes bring, deliver what they get. When all lanes are at one place, as nearly always, the steps
 * follow at once; else each group waits (is parked) and the last to come runs them for all.
 *
 * Source: "Parallel Synchronization and Communication Instructions", PTX ISA 9.0.
 */
#include "model/ptx/sync.h"

#include "model/ptx/group.h"
#include "model/ptx/mask.h"
#include "model/ptx/shadow.h"

typedef uint32_t __attribute__((may_alias)) word32;
typedef uint64_t __attribute__((may_alias)) word64;

/* Lanes at one place. */
struct party {
    uint8_t *rows;
    const struct insn *in;
    uint32_t lanes;
};

struct meeting {
    uint32_t named, lanes; /* by the mask; who came */
    uint32_t bits;         /* what predicates they bring */
    uint32_t unset;        /* who brings a variable without a value */
    uint32_t values[WARP];
    uint64_t wide[WARP]; /* match.b64 */
};

typedef void step_fn(const struct party *p, struct meeting *m);

struct sync_op {
    step_fn *gather, *deliver;
    uint16_t options; /* the bits of insn.option that are qualifiers */
};

static word32 *row32(const struct party *p, uint32_t at)
{
    return (word32 *)(p->rows + at);
}

static void put_predicate(const struct party *p, uint32_t at, uint32_t bits)
{
    word32 *word = row32(p, at);

    *word = (*word & ~p->lanes) | (bits & p->lanes);
}

static void put_all(const struct party *p, uint32_t v)
{
    for (uint32_t m = p->lanes; m; m &= m - 1)
        row32(p, p->in->d)[__builtin_ctz(m)] = v;
}

/* Lanes that nobody brought keep what the first party's registers have for them. */
static void gather_values(const struct party *p, struct meeting *m)
{
    const word32 *a = row32(p, p->in->a);
    const struct local_use *use = p->in->locals;

    if (use && use->kind == LOCAL_SHUFFLES && use->read_count)
        m->unset |= *row32(p, use->reads[0].mark) & p->lanes;
    if (!m->lanes) {
        memcpy(m->values, a, sizeof m->values);
        return;
    }
    for (uint32_t l = p->lanes; l; l &= l - 1)
        m->values[__builtin_ctz(l)] = a[__builtin_ctz(l)];
}

/* ---- shfl ----------------------------------------------------------------------------------- */

/*
 * Which lane each lane reads. c holds the clamp (bits 0..4) and the segment mask (bits 8..12), as
 * in the pseudocode of "shfl.sync".
 */
static int source_lane(int lane, uint32_t b, uint32_t c, int mode, bool *is_valid)
{
    int clamp = (int)(c & 31), segment = (int)(c >> 8 & 31), by = (int)(b & 31);
    int most = (lane & segment) | (clamp & ~segment), least = lane & segment, from;

    switch (mode) {
    case SHFL_UP:
        from = lane - by;
        *is_valid = from >= most;
        break;
    case SHFL_DOWN:
        from = lane + by;
        *is_valid = from <= most;
        break;
    case SHFL_BFLY:
        from = lane ^ by;
        *is_valid = from <= most;
        break;
    default:
        from = least | (by & ~segment);
        *is_valid = from <= most;
        break;
    }
    return *is_valid ? from : lane;
}

static void deliver_shfl(const struct party *p, struct meeting *m)
{
    const word32 *b = row32(p, p->in->b), *c = row32(p, p->in->c);
    word32 *d = row32(p, p->in->d);
    const struct local_use *use = p->in->locals;
    uint32_t valid = 0, unset = 0;

    for (uint32_t lanes = p->lanes; lanes; lanes &= lanes - 1) {
        int l = __builtin_ctz(lanes), from;
        bool is_valid;

        from = source_lane(l, b[l], c[l], p->in->option, &is_valid);
        d[l] = m->values[from];
        valid |= (uint32_t)is_valid << l;
        unset |= (m->unset >> from & 1) << l;
    }
    if (use && use->write_count)
        put_predicate(p, use->writes[0].mark, unset);
    put_predicate(p, p->in->e, valid);
}

/* ---- vote ----------------------------------------------------------------------------------- */

static void gather_vote(const struct party *p, struct meeting *m)
{
    uint32_t bits = *row32(p, p->in->a);

    m->bits |= (p->in->option & VOTE_NEGATED ? ~bits : bits) & p->lanes & m->named;
}

static void deliver_vote(const struct party *p, struct meeting *m)
{
    uint32_t all = m->named & m->lanes;
    bool is_true = false;

    switch (p->in->option & 3) {
    case VOTE_ALL:
        is_true = m->bits == all;
        break;
    case VOTE_ANY:
        is_true = m->bits != 0;
        break;
    case VOTE_UNI:
        is_true = m->bits == all || !m->bits;
        break;
    default:
        put_all(p, m->bits);
        return;
    }
    put_predicate(p, p->in->d, is_true ? FULL_MASK : 0);
}

/* ---- match ---------------------------------------------------------------------------------- */

static void gather_match(const struct party *p, struct meeting *m)
{
    for (uint32_t lanes = p->lanes; lanes; lanes &= lanes - 1) {
        int l = __builtin_ctz(lanes);

        m->wide[l] = p->in->option & MATCH_64 ? ((const word64 *)(p->rows + p->in->a))[l]
                                              : row32(p, p->in->a)[l];
    }
}

static uint32_t equal_lanes(const struct meeting *m, uint64_t v)
{
    uint32_t equal = 0;

    for (uint32_t lanes = m->named & m->lanes; lanes; lanes &= lanes - 1)
        equal |= m->wide[__builtin_ctz(lanes)] == v ? lanes & -lanes : 0;
    return equal;
}

static void deliver_match(const struct party *p, struct meeting *m)
{
    uint32_t all = m->named & m->lanes, is_all = 0;

    for (uint32_t lanes = p->lanes; lanes; lanes &= lanes - 1) {
        int l = __builtin_ctz(lanes);
        uint32_t equal = equal_lanes(m, m->wide[l]);

        if (p->in->option & MATCH_ALL) {
            is_all |= equal == all ? lanes & -lanes : 0;
            equal = equal == all ? all : 0;
        }
        row32(p, p->in->d)[l] = equal;
    }
    put_predicate(p, p->in->e, is_all);
}

/* ---- redux, elect --------------------------------------------------------------------------- */

static uint32_t combine(int option, uint32_t a, uint32_t b)
{
    bool is_less = option & REDUX_SIGNED ? (int32_t)a < (int32_t)b : a < b;

    switch (option & 7) {
    case REDUX_ADD:
        return a + b;
    case REDUX_MIN:
        return is_less ? a : b;
    case REDUX_MAX:
        return is_less ? b : a;
    case REDUX_AND:
        return a & b;
    case REDUX_OR:
        return a | b;
    default:
        return a ^ b;
    }
}

static void deliver_redux(const struct party *p, struct meeting *m)
{
    uint32_t lanes = m->named & m->lanes, v;

    if (!lanes)
        return;
    v = m->values[__builtin_ctz(lanes)];
    for (lanes &= lanes - 1; lanes; lanes &= lanes - 1)
        v = combine(p->in->option, v, m->values[__builtin_ctz(lanes)]);
    put_all(p, v);
}

/* The lowest lane is the leader: the ISA leaves open which. */
static void deliver_elect(const struct party *p, struct meeting *m)
{
    uint32_t lanes = m->named & m->lanes;

    put_all(p, lanes ? (uint32_t)__builtin_ctz(lanes) : 0);
    put_predicate(p, p->in->e, lanes & -lanes);
}

static void nothing(const struct party *p, struct meeting *m)
{
    (void)p;
    (void)m;
}

const struct sync_op SYNC_SHFL = { gather_values, deliver_shfl, 3 };
const struct sync_op SYNC_VOTE = { gather_vote, deliver_vote, 3 };
const struct sync_op SYNC_MATCH = { gather_match, deliver_match, 3 };
const struct sync_op SYNC_REDUX = { gather_values, deliver_redux, 15 };
const struct sync_op SYNC_ELECT = { nothing, deliver_elect, 0 };
const struct sync_op SYNC_BARRIER = { nothing, nothing, 0 };

/* ---- Meeting -------------------------------------------------------------------------------- */

static void hold(const struct party *parties, int n, uint32_t named)
{
    const struct sync_op *op = parties[0].in->extra;
    struct meeting m;

    m.named = named;
    m.lanes = m.bits = m.unset = 0;
    for (int i = 0; i < n; i++) {
        op->gather(&parties[i], &m);
        m.lanes |= parties[i].lanes;
    }
    for (int i = 0; i < n; i++)
        op->deliver(&parties[i], &m);
}

/* All lanes of the mask name the same lanes, and those are here or have ended. */
static bool is_together(const struct warp *w, const struct insn *in, uint32_t mask)
{
    const word32 *named = (const word32 *)(w->rows + in->rows[0]);
    uint32_t first = named[__builtin_ctz(mask)], differs = 0;

    if (first & w->live & ~mask)
        return false;
    if (mask == FULL_MASK)
        for (int l = 0; l < WARP; l++)
            differs |= named[l] ^ first;
    else
        for (uint32_t m = mask; m; m &= m - 1)
            differs |= named[__builtin_ctz(m)] ^ first;
    return !differs;
}

/*
 * Lanes that read a lane which is not here get no value. One case is common and harmless: the upper
 * lanes of a tree of shfl.down read beyond it, and nobody uses what they get.
 */
static int check_sources(struct warp *w, const struct insn *in, uint32_t mask)
{
    const word32 *b = (const word32 *)(w->rows + in->b), *c = (const word32 *)(w->rows + in->c);
    uint32_t wrong = 0, ended = w->started & ~w->live;
    int from = 0;

    for (uint32_t m = mask; m; m &= m - 1) {
        int l = __builtin_ctz(m), source;
        bool is_valid;
        bool is_upper =
            in->option == SHFL_UP || (in->option == SHFL_DOWN && (uint32_t)l >= (b[l] & 31));

        source = source_lane(l, b[l], c[l], in->option, &is_valid);
        if (!is_valid || mask >> source & 1 || (is_upper && !(ended >> source & 1)))
            continue;
        from = wrong ? from : source;
        wrong |= m & -m;
    }
    return wrong ? mask_absent_source(w, in, wrong, from) : EXEC_OK;
}

int exec_sync(struct warp *w, const struct insn *in, uint32_t mask)
{
    struct party here = { .rows = w->rows, .in = in, .lanes = mask };

    if (!mask)
        return EXEC_OK;
    if (w->cta->run->launch->checks & PTX_CHECK_MASKS && mask_check(w, in, mask) < 0)
        return EXEC_FAULT;
    if (!is_together(w, in, mask))
        return EXEC_PARK;
    if (mask != FULL_MASK && in->extra == &SYNC_SHFL &&
        w->cta->run->launch->checks & PTX_CHECK_MASKS && check_sources(w, in, mask) < 0)
        return EXEC_FAULT;
    hold(&here, 1, ((const word32 *)(w->rows + in->rows[0]))[__builtin_ctz(mask)]);
    race_meet(w, mask);
    return EXEC_OK;
}

int exec_shfl(struct warp *w, const struct insn *in, uint32_t mask)
{
    return exec_sync(w, in, mask);
}

int exec_vote(struct warp *w, const struct insn *in, uint32_t mask)
{
    return exec_sync(w, in, mask);
}

int exec_activemask(struct warp *w, const struct insn *in, uint32_t mask)
{
    for (uint32_t m = mask; m; m &= m - 1)
        ((word32 *)(w->rows + in->d))[__builtin_ctz(m)] = mask;
    return EXEC_OK;
}

/* The mask that a group's lanes name: they agree once it is parked. */
static uint32_t named_by(const struct group *g)
{
    return ((const word32 *)(g->frame->rows + g->at->rows[0]))[__builtin_ctz(g->mask)];
}

static bool is_met(const struct group *g, const struct group *other)
{
    const struct sync_op *op = g->at->extra;

    return other->state == GROUP_PARKED && other->at->extra == op &&
           !((g->at->option ^ other->at->option) & op->options) && named_by(g) == named_by(other);
}

/* Lanes that do something else leave the group: those that the guard holds, and other masks. */
static void keep_equal(struct warp *w, struct group *g, uint32_t mask)
{
    const word32 *named = (const word32 *)(g->frame->rows + g->at->rows[0]);
    uint32_t first = named[__builtin_ctz(mask)], equal = 0;

    for (uint32_t m = mask; m; m &= m - 1)
        equal |= named[__builtin_ctz(m)] == first ? m & -m : 0;
    if (g->mask & ~mask)
        group_part(w, g, g->mask & ~mask)->at++;
    if (g->mask & ~equal)
        group_part(w, g, g->mask & ~equal);
}

void sync_park(struct warp *w, struct group *g, uint32_t mask)
{
    struct party parties[MAX_GROUPS];
    struct group *met[MAX_GROUPS];
    uint32_t together = 0;
    int n = 0;

    keep_equal(w, g, mask);
    g->state = GROUP_PARKED;
    for (uint32_t used = w->used_groups; used; used &= used - 1) {
        struct group *other = &w->groups[__builtin_ctz(used)];

        if (!is_met(g, other))
            continue;
        parties[n] = (struct party){ other->frame->rows, other->at, other->mask };
        met[n++] = other;
        together |= other->mask;
    }
    if (named_by(g) & w->live & ~together)
        return;
    hold(parties, n, named_by(g));
    race_meet(w, together);
    for (int i = 0; i < n; i++) {
        met[i]->state = GROUP_READY;
        met[i]->at++;
    }
}

void sync_recheck(struct warp *w)
{
    for (uint32_t used = w->used_groups; used; used &= used - 1) {
        struct group *g = &w->groups[__builtin_ctz(used)];

        if (g->state == GROUP_PARKED)
            g->state = GROUP_READY;
    }
}
