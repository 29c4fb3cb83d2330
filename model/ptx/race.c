/*
 * Races in shared memory.
 *
 * Two accesses to a byte by different threads race when one writes and nothing orders them. Here
 * the warps of a block run one after the other, so order shows only in what was waited for: every
 * access gets the next number of a clock, every cell of shared memory keeps the stamp of who wrote
 * it last and of who read it, and each warp knows up to which time it has waited for each other
 * warp. An earlier access whose time lies beyond that was not waited for, whichever ran first.
 *
 * Barriers of all threads move the base below which everybody knows everything; barriers with a
 * count pass on what those who arrive know; an atomic that takes or gives a lock passes it on from
 * the last one at the same address. Within a warp every .sync counts, per lane.
 *
 * What is benign: atomics among each other, two writes of the same value, and different bytes of a
 * word. A read races with a write whatever the values: a tile of ones is no excuse for a missing
 * barrier. Source of what races: "Memory Consistency Model", PTX ISA 9.0; the classes RAW, WAR and
 * WAW are those of compute-sanitizer's racecheck. docs/checks.md has the choices.
 */
#include "model/ptx/async.h"
#include "model/ptx/report.h"
#include "model/ptx/shadow.h"

#include <stdlib.h>

typedef uint32_t __attribute__((may_alias)) word32;
typedef uint64_t __attribute__((may_alias)) word64;

enum { SLOTS = 256, LATE = 1 << 30, MAX_SITES = 1 << 20 };

/* A stamp: time, counter of the instruction, whether several lanes, warp, lane. */
#define STAMP_TIME(s) ((uint32_t)((s) >> 32))
#define STAMP_SITE(s) ((int)((s) >> 12 & (MAX_SITES - 1)))
#define STAMP_WARP(s) ((int)((s) >> 5 & 31))
#define STAMP_LANE(s) ((int)((s)&31))
#define STAMP_MANY    ((uint64_t)1 << 11)

struct cell {
    uint64_t write, read, other; /* other: a reader of another warp than read */
};

/* What the last who gave a lock at this address knew. */
struct slot {
    uint32_t time; /* below the base: of another block, or known anyway */
    uint32_t knows[MAX_WARPS];
};

struct race {
    struct cell *cells;
    int shift;                            /* a cell has 1 << shift bytes */
    uint32_t now, base;                   /* the next access; everybody knows what is before base */
    uint32_t knows[MAX_WARPS][MAX_WARPS]; /* of the first about the second */
    uint32_t lanes[MAX_WARPS][WARP];      /* each lane about its own warp */
    uint32_t whole[MAX_WARPS];            /* and what all lanes of a warp know at least */
    uint32_t gathered[MAX_BARRIERS + 1][MAX_WARPS];
    struct slot slots[SLOTS];
};

static uint32_t later(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* ---- A block -------------------------------------------------------------------------------- */

int race_new(struct cta *cta)
{
    const struct run *run = cta->run;
    struct race *r;

    if (!run->is_racing)
        return 0;
    r = cta->race = arena_alloc(cta->arena, sizeof *r);
    if (!r)
        return -1;
    r->shift = run->module->has_narrow_shared ? 0 : 2;
    r->now = r->base = 1;
    r->cells = arena_array(cta->arena, (run->shared_bytes >> r->shift) + 4, sizeof *r->cells);
    return r->cells ? 0 : -1;
}

/* Stamps of earlier blocks lie below the base: nothing is to be cleared. */
void race_block(struct cta *cta)
{
    struct race *r = cta->race;

    if (!r)
        return;
    if (r->now > LATE) {
        struct cell *cells = r->cells;
        int shift = r->shift;

        memset(cells, 0, ((cta->run->shared_bytes >> shift) + 4) * sizeof *cells);
        memset(r, 0, sizeof *r);
        r->cells = cells;
        r->shift = shift;
    }
    r->base = ++r->now;
}

/* ---- What is waited for --------------------------------------------------------------------- */

void race_gather(struct warp *w, int barrier)
{
    struct race *r = w->cta->race;
    uint32_t *gathered;

    if (!r)
        return;
    gathered = r->gathered[barrier];
    for (int v = 0; v < w->cta->run->warps_per_block; v++)
        gathered[v] = later(gathered[v], later(r->knows[w->index][v], r->base));
}

/* After a barrier of all threads everybody knows everything: nothing needs to be gathered. */
void race_arrive(struct warp *w, int barrier, bool is_counted)
{
    struct race *r = w->cta->race;

    if (!r)
        return;
    if (is_counted)
        race_gather(w, barrier);
    r->gathered[barrier][w->index] = ++r->now;
}

void race_leave(struct warp *w, int barrier, bool is_full)
{
    struct race *r = w->cta->race;

    if (!r)
        return;
    if (is_full) {
        r->base = r->now = r->now + 1;
        return;
    }
    for (int v = 0; v < w->cta->run->warps_per_block; v++)
        r->knows[w->index][v] = later(r->knows[w->index][v], r->gathered[barrier][v]);
    r->whole[w->index] = later(r->whole[w->index], r->gathered[barrier][w->index]);
}

void race_forget(struct cta *cta, int barrier)
{
    if (cta->race)
        memset(cta->race->gathered[barrier], 0, sizeof cta->race->gathered[barrier]);
}

void race_meet(struct warp *w, uint32_t lanes)
{
    struct race *r = w->cta->race;

    if (!r)
        return;
    r->now++;
    if (lanes == FULL_MASK)
        r->whole[w->index] = r->now;
    else
        for (uint32_t m = lanes; m; m &= m - 1)
            r->lanes[w->index][__builtin_ctz(m)] = r->now;
}

static struct slot *slot_of(struct race *r, uint64_t address)
{
    return &r->slots[(address / 4 ^ address >> 12) % SLOTS];
}

/* A lock: what the last one at this address knew is known from now on, and the other way round. */
void race_order(struct warp *w, const struct insn *in, const struct access *a, uint32_t mask)
{
    bool gives = in->flags & INSN_WRITES;

    race_pass(w, a, mask, gives, !gives || in->flags & INSN_ATOMIC);
}

void race_pass(struct warp *w, const struct access *a, uint32_t mask, bool gives, bool takes)
{
    struct race *r = w->cta->race;

    if (!r)
        return;
    for (uint32_t m = mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        struct slot *s = slot_of(r, access_shown(a, l));
        bool is_old = s->time < r->base;

        if (takes && !is_old) {
            for (int v = 0; v < w->cta->run->warps_per_block; v++)
                r->knows[w->index][v] = later(r->knows[w->index][v], s->knows[v]);
            r->lanes[w->index][l] = later(r->lanes[w->index][l], s->knows[w->index]);
        }
        if (!gives)
            continue;
        for (int v = 0; v < w->cta->run->warps_per_block; v++)
            s->knows[v] = later(is_old ? 0 : s->knows[v], later(r->knows[w->index][v], r->base));
        s->time = s->knows[w->index] = ++r->now;
    }
}

/* ---- Accesses ------------------------------------------------------------------------------- */

static bool is_ordered(const struct race *r, int warp, int lane, uint64_t stamp)
{
    uint32_t time = STAMP_TIME(stamp);

    if (time < r->base)
        return true;
    if (STAMP_WARP(stamp) != warp)
        return time < r->knows[warp][STAMP_WARP(stamp)];
    if (STAMP_LANE(stamp) == lane && !(stamp & STAMP_MANY))
        return true;
    return time < later(r->lanes[warp][lane], r->whole[warp]);
}

static const struct insn *insn_of(const struct warp *w, uint64_t stamp)
{
    return w->cta->run->module->counted[STAMP_SITE(stamp)];
}

/* Atomics among each other, and what only waits, do not race. */
static bool is_exempt(const struct insn *a, const struct insn *b)
{
    enum { WAITS = CHECK_ORDERS | CHECK_SEEDS };

    return (a->flags & INSN_ATOMIC || a->checks & WAITS) &&
           (b->flags & INSN_ATOMIC || b->checks & WAITS);
}

static bool makes_barrier(const struct insn *in)
{
    return in->full == exec_mbarrier && MBARRIER_OP(in) == MBARRIER_INIT;
}

static bool stores_registers(const struct insn *in)
{
    return !(in->flags & INSN_ATOMIC) && (!is_async(in) || makes_barrier(in));
}

/* The bytes that a lane stores. */
static void stored(const struct warp *w, const struct insn *in, int lane, uint8_t *out)
{
    int bytes = ACCESS_KIND_BYTES[in->memory];

    if (makes_barrier(in)) {
        uint64_t v = mbarrier_made(w, in, lane);

        memcpy(out, &v, sizeof v);
        return;
    }
    for (int i = 0; i < in->vector; i++) {
        uint64_t v = in->option & ACCESS_WIDE_ROWS
                         ? ((const word64 *)(w->rows + in->rows[i]))[lane]
                         : ((const word32 *)(w->rows + in->rows[i]))[lane];

        memcpy(out + i * bytes, &v, (size_t)bytes);
    }
}

/*
 * A plain store of what another thread has stored already changes nothing, nor does one of what
 * another lane stores in the same instruction.
 */
static bool changes(const struct warp *w, const struct insn *in, const struct access *a, int lane,
                    uint64_t before)
{
    uint8_t bytes[4 * 8], others[4 * 8];
    uint64_t at = a->address[lane];
    int other = STAMP_LANE(before);

    if (!stores_registers(in))
        return true;
    if (STAMP_TIME(before) == w->cta->race->now && a->address[other] == at) {
        stored(w, in, lane, bytes);
        stored(w, in, other, others);
        return memcmp(bytes, others, (size_t)a->bytes) != 0;
    }
    if (w->cta->shared_defined && !defined_all(w->cta->shared_defined, at, (uint64_t)a->bytes))
        return true;
    stored(w, in, lane, bytes);
    return memcmp(bytes, w->cta->shared + at, (size_t)a->bytes) != 0;
}

static uint64_t value_at(const struct warp *w, uint64_t at, int bytes)
{
    uint64_t v = 0;

    memcpy(&v, w->cta->shared + at, (size_t)min_i64(bytes, 8));
    return v;
}

static int found(struct warp *w, const struct insn *in, const struct access *a, int lane,
                 uint64_t stamp, bool is_write_first)
{
    const struct insn *first = insn_of(w, stamp);
    bool is_write = in->flags & INSN_WRITES;
    uint8_t bytes[4 * 8] = { 0 };
    struct race_report report = {
        .is_shared = true,
        .is_write_first = is_write_first,
        .is_write_second = is_write,
        .is_atomic_first = first->flags & INSN_ATOMIC,
        .address = a->address[lane],
        .bytes = a->bytes,
        .value_first = value_at(w, a->address[lane], a->bytes),
        .first = first,
        .first_block = w->cta->index,
        .first_thread = report_thread(w->cta, STAMP_WARP(stamp), STAMP_LANE(stamp)),
        .first_warp = STAMP_WARP(stamp),
        .first_lane = STAMP_LANE(stamp),
        .is_same_warp = STAMP_WARP(stamp) == w->index,
        .is_same_block = true,
        .lane = lane,
    };
    /* Volatile code relies on lockstep: right before Volta, open since then. */
    bool is_lockstep = report.is_same_warp && (in->flags | first->flags) & INSN_VOLATILE;

    if (is_write && stores_registers(in)) {
        stored(w, in, lane, bytes);
        memcpy(&report.value_second, bytes, sizeof report.value_second);
        if (STAMP_TIME(stamp) == w->cta->race->now) { /* in the same instruction */
            stored(w, in, STAMP_LANE(stamp), bytes);
            memcpy(&report.value_first, bytes, sizeof report.value_first);
        }
        report.has_values = true;
    } else {
        report.value_second = report.value_first;
        report.has_values = is_write_first && !is_write;
    }
    access_fault(w, in, (uint32_t)1 << lane, access_shown(a, lane), a->bytes, NULL);
    w->fault.name = ERR_RaceFault;
    w->fault.reason = REASON_RACE;
    if (is_lockstep)
        return report_lockstep(w, &report);
    w->fault.race = arena_alloc(w->cta->arena, sizeof report);
    if (!w->fault.race)
        return EXEC_OK;
    *w->fault.race = report;
    return EXEC_FAULT;
}

/* Reads by a lane of a cell; keeps two readers of different warps. */
static int see_read(struct warp *w, const struct insn *in, const struct access *a, int lane,
                    struct cell *c, uint64_t stamp)
{
    struct race *r = w->cta->race;

    if (!is_ordered(r, w->index, lane, c->write) && !is_exempt(in, insn_of(w, c->write)) &&
        found(w, in, a, lane, c->write, true) < 0)
        return EXEC_FAULT;
    if (STAMP_TIME(c->read) < r->base || STAMP_WARP(c->read) == w->index) {
        if (STAMP_TIME(c->read) == STAMP_TIME(stamp) && c->read != stamp)
            stamp |= STAMP_MANY;
        c->read = stamp;
    } else {
        c->other = stamp;
    }
    return EXEC_OK;
}

/*
 * An atomic leaves the plain write before it in its place as long as lanes of its warp may not know
 * of that: atomics do not race with this one, but all of them with that write.
 */
static bool hides_write(const struct warp *w, const struct insn *in, uint64_t before)
{
    const struct race *r = w->cta->race;

    return in->flags & INSN_ATOMIC && STAMP_TIME(before) >= r->base &&
           STAMP_WARP(before) == w->index && STAMP_TIME(before) >= r->whole[w->index] &&
           !(insn_of(w, before)->flags & INSN_ATOMIC);
}

static int see_write(struct warp *w, const struct insn *in, const struct access *a, int lane,
                     struct cell *c, uint64_t stamp)
{
    const struct race *r = w->cta->race;
    uint64_t before[3] = { c->write, c->read, c->other };
    bool is_same = false;

    for (int i = 0; i < 3; i++) {
        if (is_ordered(r, w->index, lane, before[i]) || is_exempt(in, insn_of(w, before[i])))
            continue;
        if (STAMP_TIME(before[i]) == STAMP_TIME(stamp) && i > 0)
            continue; /* an atomic reads and writes */
        if (i == 0 && !changes(w, in, a, lane, before[0]))
            is_same = true;
        else if (found(w, in, a, lane, before[i], i == 0) < 0)
            return EXEC_FAULT;
    }
    if (!is_same && !hides_write(w, in, before[0]))
        c->write = stamp;
    return EXEC_OK;
}

static int see(struct warp *w, const struct insn *in, const struct access *a, int lane,
               uint64_t stamp)
{
    struct race *r = w->cta->race;
    uint64_t from = a->address[lane] >> r->shift;
    uint64_t to = (a->address[lane] + (uint64_t)a->bytes - 1) >> r->shift;

    for (uint64_t i = from; i <= to; i++)
        if ((in->flags & INSN_WRITES ? see_write : see_read)(w, in, a, lane, &r->cells[i], stamp) <
            0)
            return EXEC_FAULT;
    return EXEC_OK;
}

/* Nobody was there since the last barrier of all: by far the most frequent. */
static bool see_alone(struct race *r, const struct insn *in, const struct access *a, int lane,
                      uint64_t stamp)
{
    struct cell *c = &r->cells[a->address[lane] >> r->shift];
    uint64_t limit = (uint64_t)r->base << 32;

    if (a->bytes != 1 << r->shift || c->write >= limit || c->read >= limit)
        return false;
    if (!(in->flags & INSN_WRITES)) {
        c->read = stamp;
        return true;
    }
    if (c->other >= limit)
        return false;
    c->write = stamp;
    return true;
}

int race_access(struct warp *w, const struct insn *in, const struct access *a, uint32_t mask)
{
    struct race *r = w->cta->race;
    uint64_t stamp = (uint64_t)++r->now << 32 | (uint64_t)(in->counter & (MAX_SITES - 1)) << 12 |
                     (uint64_t)w->index << 5;

    /* A copy is not the lane's own doing until it has waited for it. */
    stamp |= in->full == exec_async_copy || in->full == exec_bulk_copy ? STAMP_MANY : 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);

        if (!see_alone(r, in, a, l, stamp | (uint64_t)l) &&
            see(w, in, a, l, stamp | (uint64_t)l) < 0)
            return EXEC_FAULT;
    }
    return EXEC_OK;
}

static bool is_watched(const struct warp *w, const struct insn *in)
{
    return w->cta->run->is_racing && !(in->checks & CHECK_NO_RACE);
}

int race_start_copy(struct warp *w, const struct insn *in, const struct access *a, uint32_t mask,
                    uint32_t *since)
{
    if (!is_watched(w, in))
        return EXEC_OK;
    if (race_access(w, in, a, mask) < 0)
        return EXEC_FAULT;
    *since = w->cta->race->now;
    return EXEC_OK;
}

/* One lane's copy ends. */
static int end_lane(struct warp *w, const struct insn *in, const struct access *a, int lane,
                    uint32_t since, uint64_t stamp)
{
    struct race *r = w->cta->race;
    uint64_t from = a->address[lane] >> r->shift;
    uint64_t to = (a->address[lane] + (uint64_t)a->bytes - 1) >> r->shift;

    for (uint64_t i = from; i <= to; i++) {
        struct cell *c = &r->cells[i];
        uint64_t met[3] = { c->write, c->read, c->other };

        for (int k = 0; k < 3; k++)
            if (STAMP_TIME(met[k]) > since && STAMP_TIME(met[k]) < STAMP_TIME(stamp) &&
                found(w, in, a, lane, met[k], k == 0) < 0)
                return EXEC_FAULT;
        c->write = stamp;
    }
    return EXEC_OK;
}

int race_end_copy(struct warp *w, const struct insn *in, const struct access *a, uint32_t mask,
                  uint32_t since, bool is_waited)
{
    struct race *r = w->cta->race;
    uint64_t stamp;

    if (!is_watched(w, in))
        return EXEC_OK;
    stamp = (uint64_t)++r->now << 32 | (uint64_t)(in->counter & (MAX_SITES - 1)) << 12 |
            (uint64_t)w->index << 5 | (is_waited ? 0 : STAMP_MANY);
    for (uint32_t m = mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);

        if (end_lane(w, in, a, l, since, stamp | (uint64_t)l) < 0)
            return EXEC_FAULT;
    }
    return EXEC_OK;
}
