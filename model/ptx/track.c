#include "model/ptx/track.h"

#include "model/ptx/footprint.h"
#include "model/ptx/heap.h"
#include "model/ptx/report.h"

#include <stdlib.h>

/*
 * A cell, from the lowest bit: which of the word's bytes, PLAIN, lane, warp, memory instruction,
 * barriers that the block had passed, block. 0: nobody so far. Blocks are told apart by 24 bits,
 * instructions by 12, barriers by 13; more barriers than that are not told apart, and then only
 * blocks race.
 */
typedef uint64_t cell;
enum {
    WORD = 4,
    BYTES_MASK = 0xf,
    PLAIN = 1 << 4, /* of an atomic: its block stored there otherwise too */
    LANE_AT = 5,
    WARP_AT = 10,
    COUNTER_AT = 15,
    EPOCH_AT = 27,
    BLOCK_AT = 40,
    MAX_COUNTER = (1 << 12) - 1,
    MAX_EPOCH = (1 << 13) - 1,
    MAX_BLOCK = (1 << 24) - 1,
};

#define WARP_BITS   ((cell)31 << WARP_AT)
#define THREAD_BITS ((cell)31 << LANE_AT | WARP_BITS)
#define EPOCH_BITS  ((cell)MAX_EPOCH << EPOCH_AT)
#define BLOCK_BITS  ((cell)MAX_BLOCK << BLOCK_AT)

struct shadow_words {
    cell *writers, *readers; /* by word; NULL: the code never writes it */
};

/*
 * Which blocks are known to be done with what they wrote, a bit each; block 4096 has the bit of
 * block 0. So a large grid may hide a race, and never makes one up.
 */
enum { KNOWN_BITS = 4096, KNOWN_WORDS = KNOWN_BITS / 64, SYNC_SLOTS = 64 };
struct known {
    uint64_t bits[KNOWN_WORDS];
};

/* A block in flight: several are when they wait for each other. */
struct track_view {
    cell block;        /* bits of the block, and of its epoch */
    int64_t epoch;     /* barriers that it passed */
    int64_t linear;    /* its index */
    bool has_acquired; /* a warp of it may know that others of it are done */
    bool has_fenced;   /* so that others may learn of it */
    struct known known;
};

struct track {
    const struct run *run;
    struct shadow_words *regions;   /* by index in run->regions */
    struct known given[SYNC_SLOTS]; /* by address of an atomic or a flag: what is learnt there */
};

/* ---- Making --------------------------------------------------------------------------------- */

struct track *track_new(const struct run *run)
{
    struct track *t = calloc(1, sizeof *t);
    bool *is_written = calloc((size_t)run->region_count + 1, sizeof *is_written);
    bool is_complete = t && is_written;

    if (t) {
        t->run = run;
        t->regions = calloc((size_t)run->region_count + 1, sizeof *t->regions);
    }
    is_complete = is_complete && t->regions;
    if (is_complete)
        footprint_find_written(run, is_written);
    for (int i = 0; is_complete && i < run->region_count; i++) {
        const struct region *r = &run->regions[i];
        size_t words = (size_t)(r->end - r->start + WORD - 1) / WORD;

        if (!is_written[i] || r->is_freed || !words)
            continue;
        t->regions[i].writers = calloc(words, sizeof(cell));
        t->regions[i].readers = calloc(words, sizeof(cell));
        is_complete = t->regions[i].writers && t->regions[i].readers;
    }
    free(is_written);
    if (!is_complete)
        track_free(&t);
    return t;
}

void track_free(struct track **track)
{
    struct track *t = *track;

    *track = NULL;
    if (!t)
        return;
    for (int i = 0; t->regions && i < t->run->region_count; i++) {
        free(t->regions[i].writers);
        free(t->regions[i].readers);
    }
    free(t->regions);
    free(t);
}

static void place(struct track_view *v)
{
    v->block = (cell)(v->linear & MAX_BLOCK) << BLOCK_AT | (cell)min_i64(v->epoch, MAX_EPOCH)
                                                               << EPOCH_AT;
}

int track_block(struct cta *cta)
{
    if (!cta->view)
        cta->view = arena_alloc(cta->arena, sizeof *cta->view);
    if (!cta->view)
        return -1;
    *cta->view = (struct track_view){ .linear = cta->linear };
    place(cta->view);
    return 0;
}

void track_barrier(struct cta *cta)
{
    cta->view->epoch++;
    place(cta->view);
}

void track_fence(struct cta *cta)
{
    if (cta->view)
        cta->view->has_fenced = true;
}

/* What malloc gave in the kernel is no region of the launch, and is not looked at. */
bool track_needs(const struct track *t, const struct region *region)
{
    if (!t || !region)
        return t;
    return region->start < HEAP_WINDOW && t->regions[region - t->run->regions].writers;
}

/* ---- Who meets whom ------------------------------------------------------------------------- */

static const struct insn *insn_of(const struct track *t, cell c)
{
    int counter = (int)(c >> COUNTER_AT & MAX_COUNTER);

    return counter < t->run->module->counter_count ? t->run->module->counted[counter] : NULL;
}

static bool knows(const struct track_view *v, cell c)
{
    unsigned block = (unsigned)(c >> BLOCK_AT) % KNOWN_BITS;

    return v->known.bits[block / 64] >> block % 64 & 1;
}

/* Nothing puts an access by `me` and the one of a cell in an order. */
static inline bool is_unordered(const struct track_view *v, cell c, cell me)
{
    if (!(c & me & BYTES_MASK))
        return false;
    if ((c ^ me) & BLOCK_BITS)
        return !knows(v, c);
    return !v->has_acquired && !((c ^ me) & EPOCH_BITS) && v->epoch < MAX_EPOCH &&
           (c ^ me) & WARP_BITS;
}

static bool is_of_block(const struct insn *in)
{
    return strstr(in->spelling, ".cta") || strstr(in->spelling, "membar.cta");
}

/*
 * Atomics among each other, and one that reads a flag while another sets it, are what such accesses
 * are for; unless one is for its own block only. So is the first guess of a loop that exchanges.
 */
static bool is_exempt(const struct track *t, cell c, cell me, const struct insn *in, bool is_write)
{
    const struct insn *other = insn_of(t, c);
    enum { STRONG = INSN_ATOMIC | INSN_VOLATILE };

    if (!other)
        return false;
    if ((c ^ me) & BLOCK_BITS && (is_of_block(in) || is_of_block(other) || c & PLAIN))
        return false;
    if (in->checks & CHECK_SEEDS || other->checks & CHECK_SEEDS)
        return (in->flags | other->flags) & INSN_ATOMIC;
    if (in->flags & other->flags & INSN_ATOMIC)
        return true;
    return in->flags & STRONG && other->flags & STRONG &&
           !(is_write && in->flags & INSN_WRITES && other->flags & INSN_WRITES);
}

/* ---- What is learnt from whom --------------------------------------------------------------- */

static bool releases(const struct track_view *v, const struct insn *in)
{
    return in->flags & INSN_WRITES &&
           (v->has_fenced || strstr(in->spelling, ".release") || strstr(in->spelling, ".acq_rel"));
}

static void learn(struct known *to, const struct known *from)
{
    for (int i = 0; i < KNOWN_WORDS; i++)
        to->bits[i] |= from->bits[i];
}

/*
 * A lock, a ticket or a flag: who reads it knows of those who set it after a fence, and of all that
 * they knew.
 */
static void meet(struct track *t, struct track_view *v, const struct insn *in, uint64_t address)
{
    struct known *given = &t->given[(address / 4 ^ address >> 10) % SYNC_SLOTS];
    unsigned own = (unsigned)(v->linear % KNOWN_BITS);

    if (in->flags & INSN_ATOMIC || !(in->flags & INSN_WRITES))
        learn(&v->known, given);
    if (!releases(v, in))
        return;
    learn(given, &v->known);
    given->bits[own / 64] |= (uint64_t)1 << own % 64;
}

static void meet_all(struct track *t, struct track_view *v, const struct insn *in,
                     const struct access *a, uint32_t mask)
{
    uint64_t last = 0;

    for (uint32_t m = mask; m; m &= m - 1) {
        uint64_t address = a->address[__builtin_ctz(m)];

        if (address != last)
            meet(t, v, in, address);
        last = address;
    }
}

/* The lane stores what memory holds already. */
static bool stores_the_same(const struct warp *w, const struct insn *in, int lane,
                            const uint8_t *host)
{
    size_t bytes = (size_t)ACCESS_KIND_BYTES[in->memory];

    for (int i = 0; i < in->vector; i++) {
        const uint8_t *row = w->rows + in->rows[i];

        if (memcmp(row + (in->option & ACCESS_WIDE_ROWS ? 8 : 4) * lane, host + (size_t)i * bytes,
                   bytes) != 0)
            return false;
    }
    return true;
}

/* One lane's access. */
struct touch {
    const struct insn *insn;
    const struct region *region;
    uint64_t address;
    int lane, bytes;
    bool is_store;
};

/* What the lane is about to store, as a number. */
static uint64_t stored(const struct warp *w, const struct touch *touch)
{
    const struct insn *in = touch->insn;
    size_t bytes = (size_t)ACCESS_KIND_BYTES[in->memory],
           step = in->option & ACCESS_WIDE_ROWS ? 8 : 4;
    uint8_t value[MAX_VECTOR * 8] = { 0 };
    uint64_t v;

    for (int i = 0; i < in->vector; i++)
        memcpy(value + (size_t)i * bytes, w->rows + in->rows[i] + step * (size_t)touch->lane,
               bytes);
    memcpy(&v, value, sizeof v);
    return v;
}

static struct ptx_dim block_at(const struct ptx_dim *grid, int64_t linear)
{
    return (struct ptx_dim){ (unsigned)(linear % grid->x), (unsigned)(linear / grid->x % grid->y),
                             (unsigned)(linear / grid->x / grid->y) };
}

/* Says that the touch races with the access of a cell. */
static int fault(struct warp *w, const struct touch *touch, cell c, bool is_write)
{
    const struct track *t = w->cta->track;
    const struct track_view *v = w->cta->view;
    const uint8_t *host = touch->region->data + (touch->address - touch->region->start);
    int64_t low = (int64_t)(c >> BLOCK_AT), block = low + ((v->linear - low) & ~(int64_t)MAX_BLOCK);
    struct race_report *race = arena_alloc(w->cta->arena, sizeof *race);
    bool is_plain = insn_exec(touch->insn) == exec_store;

    access_fault(w, touch->insn, (uint32_t)1 << touch->lane, touch->address, touch->bytes, NULL);
    if (!race) {
        w->fault.name = ERR_ResourceError;
        return EXEC_FAULT;
    }
    *race = (struct race_report){ .is_write_first = is_write,
                                  .is_write_second = touch->is_store,
                                  .address = touch->address,
                                  .bytes = touch->bytes,
                                  .first = insn_of(t, c),
                                  .first_block = block_at(&t->run->launch->grid, block),
                                  .first_warp = (int)(c >> WARP_AT & 31),
                                  .first_lane = (int)(c >> LANE_AT & 31),
                                  .is_same_block = block == v->linear,
                                  .lane = touch->lane };
    race->first_thread = report_thread(w->cta, race->first_warp, race->first_lane);
    if (!race->first)
        race->first = touch->insn;
    race->is_same_warp = race->is_same_block && race->first_warp == w->index;
    race->is_atomic_first = race->first && race->first->flags & INSN_ATOMIC;
    memcpy(&race->value_first, host, (size_t)min_i64(touch->bytes, 8));
    race->value_second = is_plain ? stored(w, touch) : race->value_first;
    race->has_values = is_plain || (is_write && !touch->is_store);
    w->fault.name = ERR_RaceFault;
    w->fault.reason = REASON_RACE;
    w->fault.race = race;
    return EXEC_FAULT;
}

/* Slowly and exactly: the word of a touch that a cell says may race. */
static int examine(struct warp *w, const struct touch *touch, cell writer, cell reader, cell me)
{
    const struct track *t = w->cta->track;
    const struct track_view *v = w->cta->view;
    const uint8_t *host = touch->region->data + (touch->address - touch->region->start);
    bool is_same = touch->is_store && insn_exec(touch->insn) == exec_store &&
                   stores_the_same(w, touch->insn, touch->lane, host);

    if (is_unordered(v, writer, me) && !is_same && !is_exempt(t, writer, me, touch->insn, true))
        return fault(w, touch, writer, true);
    if (touch->is_store && is_unordered(v, reader, me) &&
        !is_exempt(t, reader, me, touch->insn, false))
        return fault(w, touch, reader, false);
    return EXEC_OK;
}

/* ---- Cells ---------------------------------------------------------------------------------- */

static inline void note_write(const struct track *t, cell *at, cell me, bool is_atomic)
{
    cell c = *at;
    const struct insn *before = c && is_atomic && !((c ^ me) & BLOCK_BITS) ? insn_of(t, c) : NULL;

    if (!((c ^ me) & (BLOCK_BITS | THREAD_BITS)))
        me |= c & BYTES_MASK;
    if (before && (c & PLAIN || !(before->flags & INSN_ATOMIC)))
        me |= PLAIN;
    *at = me;
}

/*
 * The first reader stays: one of an earlier block, as whoever writes the word now races with it,
 * and one of the same block until a barrier, as warps run one after the other.
 */
static inline void note_read(cell *at, cell me)
{
    cell c = *at;

    if (!c || (!((c ^ me) & BLOCK_BITS) && (c ^ me) & EPOCH_BITS))
        *at = me;
    else
        *at = c | (me & BYTES_MASK);
}

static int touch_word(struct warp *w, const struct touch *touch, size_t word, cell me)
{
    struct track *t = w->cta->track;
    const struct track_view *v = w->cta->view;
    struct shadow_words *s = &t->regions[touch->region - t->run->regions];
    cell writer = s->writers[word], reader = s->readers[word];

    if (((writer && is_unordered(v, writer, me)) ||
         (touch->is_store && reader && is_unordered(v, reader, me))) &&
        examine(w, touch, writer, reader, me) < 0)
        return EXEC_FAULT;
    if (touch->is_store)
        note_write(t, &s->writers[word], me, touch->insn->flags & INSN_ATOMIC);
    else
        note_read(&s->readers[word], me);
    return EXEC_OK;
}

static inline int touch_lane(struct warp *w, const struct touch *touch, cell me)
{
    uint64_t at = touch->address - touch->region->start;
    size_t word = (size_t)(at / WORD);

    me |= (cell)touch->lane << LANE_AT;
    if (touch->bytes <= WORD)
        return touch_word(w, touch, word, me | (((cell)1 << touch->bytes) - 1) << at % WORD);
    for (int i = 0; i < touch->bytes / WORD; i++)
        if (touch_word(w, touch, word + (size_t)i, me | BYTES_MASK) < 0)
            return EXEC_FAULT;
    return EXEC_OK;
}

static bool stores_differ(const struct warp *w, const struct insn *in, int first, int second)
{
    size_t bytes = (size_t)ACCESS_KIND_BYTES[in->memory];
    size_t step = in->option & ACCESS_WIDE_ROWS ? 8 : 4;

    for (int i = 0; i < in->vector; i++) {
        const uint8_t *row = w->rows + in->rows[i];

        if (memcmp(row + step * (size_t)first, row + step * (size_t)second, bytes) != 0)
            return true;
    }
    return false;
}

static int fault_in_warp(struct warp *w, const struct insn *in, const struct access *a, int first,
                         int second)
{
    struct touch touch = { .insn = in,
                           .region = a->region,
                           .address = a->address[second],
                           .lane = second,
                           .bytes = a->bytes,
                           .is_store = true };
    cell c = w->cta->view->block | (cell)first << LANE_AT | (cell)w->index << WARP_AT;

    if (!touch.region)
        touch.region = region_find(w->cta->run, touch.address);
    if (in->counter >= 0 && in->counter <= MAX_COUNTER)
        c |= (cell)in->counter << COUNTER_AT;
    fault(w, &touch, c, true);
    touch.lane = first;
    if (w->fault.race)
        w->fault.race->value_first = stored(w, &touch);
    return EXEC_FAULT;
}

/* Two lanes that store different values to one place in one instruction: who wins is open. */
static int check_lanes(struct warp *w, const struct insn *in, const struct access *a, uint32_t mask)
{
    for (uint32_t m = mask; m; m &= m - 1)
        for (uint32_t rest = m & (m - 1); rest; rest &= rest - 1) {
            int first = __builtin_ctz(m), second = __builtin_ctz(rest);

            if (a->address[first] == a->address[second] && stores_differ(w, in, first, second))
                return fault_in_warp(w, in, a, first, second);
        }
    return EXEC_OK;
}

/* Lanes in ascending order never meet. */
static bool may_overlap(const struct access *a, uint32_t mask)
{
    uint64_t last = 0;
    bool is_first = true;

    if (a->is_linear)
        return a->step == 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint64_t v = a->address[__builtin_ctz(m)];

        if (!is_first && v <= last)
            return true;
        last = v;
        is_first = false;
    }
    return false;
}

/* ---- Accesses ------------------------------------------------------------------------------- */

int track_access(struct warp *w, const struct insn *in, const struct access *a, uint32_t mask)
{
    struct track *t = w->cta->track;
    struct touch touch = { .insn = in, .bytes = a->bytes, .is_store = in->flags & INSN_WRITES };
    struct track_view *v = w->cta->view;
    cell me = v->block | (cell)w->index << WARP_AT |
              (cell)(unsigned)min_i64(in->counter < 0 ? MAX_COUNTER : in->counter, MAX_COUNTER)
                  << COUNTER_AT;

    if (in->flags & (INSN_ATOMIC | INSN_VOLATILE))
        meet_all(t, v, in, a, mask);
    v->has_acquired |= in->checks & CHECK_ORDERS;
    if (insn_exec(in) == exec_store && may_overlap(a, mask) && check_lanes(w, in, a, mask) < 0)
        return EXEC_FAULT;
    for (uint32_t m = mask; m; m &= m - 1) {
        touch.lane = __builtin_ctz(m);
        touch.address = a->address[touch.lane];
        touch.region = a->region ? a->region : region_find(t->run, touch.address);
        if (track_needs(t, touch.region) && touch_lane(w, &touch, me) < 0)
            return EXEC_FAULT;
    }
    return EXEC_OK;
}

int track_pattern(struct warp *w, const struct insn *in, const struct pattern *p, uint64_t first)
{
    struct access a;

    access_of_pattern(in, p, first, &a);
    return track_access(w, in, &a, FULL_MASK);
}
