#include "model/ptx/footprint.h"

#include <stdlib.h>

enum {
    GRAIN = 4,   /* bytes that share a bit: blocks that share a word run in order */
    PAGE = 4096, /* bytes that are saved together */
    PAGE_BITS = PAGE / GRAIN / 8, /* bytes of a page's bits */
    MAX_DEFERRED = 1 << 20,       /* atomics on the list of a host thread */
    PAGE_FREE = 0,
    PAGE_BUSY,
    PAGE_SAVED,
};

/* A bit a grain of an allocation, for what one host thread did; NULL: it did nothing of the kind.
 */
struct marks {
    uint8_t *read, *written, *combined;
    uint32_t combiner; /* operation and type of its atomics, plus 1 */
};

struct saved {
    atomic_uchar *pages; /* PAGE_..., by page; NULL: the code never writes it */
    uint8_t *old;        /* content of saved pages, at their place; NULL: who launched has it */
    uint8_t *defined;    /* the same of the bits of defined bytes, or NULL: there are none */
};

struct undo {
    const struct run *run;
    struct saved *regions; /* by index in run->regions */
};

struct deferred {
    int64_t place; /* of the block */
    const struct insn *insn;
    uint8_t *at;
    uint64_t operand;
};

struct footprint {
    struct undo *undo;
    struct marks *regions;
    struct deferred *list;
    int64_t place;
    int count, capacity, next; /* next: the first that is not done */
    bool is_mixed;             /* something that this file cannot put in order */
};

static size_t size_of(const struct region *r)
{
    return (size_t)(r->end - r->start);
}

static size_t pages_of(const struct region *r)
{
    return (size_of(r) + PAGE - 1) / PAGE;
}

/* ---- What may be written -------------------------------------------------------------------- */

static bool is_global_write(const struct insn *in)
{
    return in->flags & INSN_WRITES && (in->space == SPACE_GLOBAL || in->space == SPACE_GENERIC);
}

/* A store through a pointer that was loaded may go anywhere. */
void footprint_find_written(const struct run *run, bool *is_written)
{
    const struct ptx_module *m = run->module;

    for (int i = 0; i < m->ast.function_count; i++) {
        const struct function *f = &m->functions[i];

        if (!run->is_reached[i])
            continue;
        for (int k = 0; k < f->insn_count; k++) {
            const struct region *to = run->base_regions[f->insns[k].base];

            if (!is_global_write(&f->insns[k]))
                continue;
            for (int r = 0; r < run->region_count; r++)
                if (to ? to == &run->regions[r] : !run->regions[r].is_read_only)
                    is_written[r] = true;
        }
    }
}

/* Room for the pages as they were, unless the launch can be asked for them. */
static int make_room(struct saved *s, const struct run *run, const struct region *r)
{
    s->pages = calloc(pages_of(r), sizeof *s->pages);
    if (!s->pages || (run->launch->restore && r->buffer >= 0))
        return s->pages ? 0 : -1;
    s->old = malloc(pages_of(r) * PAGE);
    s->defined = r->defined ? malloc(pages_of(r) * (PAGE / 8)) : NULL;
    return s->old && (s->defined || !r->defined) ? 0 : -1;
}

static int follow(struct undo *undo, const bool *is_written, size_t *bits)
{
    const struct run *run = undo->run;

    for (int i = 0; i < run->region_count; i++) {
        const struct region *r = &run->regions[i];

        if (!is_written[i] || r->is_freed || !size_of(r))
            continue;
        if (make_room(&undo->regions[i], run, r) < 0)
            return -1;
        *bits += 2 * pages_of(r) * PAGE_BITS;
    }
    return 0;
}

struct undo *undo_new(const struct run *run, int threads, size_t limit)
{
    struct undo *undo = calloc(1, sizeof *undo);
    bool *is_written = calloc((size_t)run->region_count + 1, sizeof *is_written);
    size_t bits = 0;

    if (undo) {
        undo->run = run;
        undo->regions = calloc((size_t)run->region_count + 1, sizeof *undo->regions);
    }
    if (is_written && undo && undo->regions) {
        footprint_find_written(run, is_written);
        if (follow(undo, is_written, &bits) < 0 || bits * (size_t)threads > limit)
            undo_free(&undo);
    } else {
        undo_free(&undo);
    }
    free(is_written);
    return undo;
}

void undo_free(struct undo **undo)
{
    struct undo *u = *undo;

    *undo = NULL;
    if (!u)
        return;
    for (int i = 0; u->regions && i < u->run->region_count; i++) {
        free(u->regions[i].pages);
        free(u->regions[i].old);
        free(u->regions[i].defined);
    }
    free(u->regions);
    free(u);
}

static size_t page_size(const struct region *r, size_t page)
{
    size_t left = size_of(r) - page * PAGE;

    return left < PAGE ? left : PAGE;
}

static void give_back(const struct undo *undo, const struct region *r, const struct saved *s,
                      size_t page)
{
    const struct ptx_launch *l = undo->run->launch;
    size_t at = page * PAGE, size = page_size(r, page);

    if (!s->old) {
        l->restore(l->restore_context, (size_t)r->buffer, at, size);
        return;
    }
    memcpy(r->data + at, s->old + at, size);
    if (s->defined)
        memcpy(r->defined + at / 8, s->defined + at / 8, (size + 7) / 8);
}

void undo_all(struct undo *undo)
{
    for (int i = 0; i < undo->run->region_count; i++) {
        const struct region *r = &undo->run->regions[i];
        struct saved *s = &undo->regions[i];

        for (size_t p = 0; s->pages && p < pages_of(r); p++)
            if (atomic_load_explicit(&s->pages[p], memory_order_acquire) == PAGE_SAVED)
                give_back(undo, r, s, p);
    }
}

static void keep(struct saved *s, const struct region *r, size_t page)
{
    size_t at = page * PAGE, size = page_size(r, page);

    if (s->old)
        memcpy(s->old + at, r->data + at, size);
    if (s->defined)
        memcpy(s->defined + at / 8, r->defined + at / 8, (size + 7) / 8);
}

/* Whoever comes first saves; the others wait, as they must not write before. */
static void save_page(struct saved *s, const struct region *r, size_t page)
{
    unsigned char state = PAGE_FREE;

    if (atomic_compare_exchange_strong(&s->pages[page], &state, PAGE_BUSY)) {
        keep(s, r, page);
        atomic_store_explicit(&s->pages[page], PAGE_SAVED, memory_order_release);
        return;
    }
    while (atomic_load_explicit(&s->pages[page], memory_order_acquire) != PAGE_SAVED)
        ;
}

static inline void save(struct saved *s, const struct region *r, uint64_t at, uint64_t n)
{
    for (size_t p = at / PAGE; p <= (at + n - 1) / PAGE; p++)
        if (atomic_load_explicit(&s->pages[p], memory_order_acquire) != PAGE_SAVED)
            save_page(s, r, p);
}

/* ---- Marks ---------------------------------------------------------------------------------- */

struct footprint *footprint_new(struct undo *undo)
{
    struct footprint *f = calloc(1, sizeof *f);

    if (!f)
        return NULL;
    f->undo = undo;
    f->regions = calloc((size_t)undo->run->region_count + 1, sizeof *f->regions);
    if (!f->regions)
        footprint_free(&f);
    return f;
}

void footprint_free(struct footprint **footprint)
{
    struct footprint *f = *footprint;

    *footprint = NULL;
    if (!f)
        return;
    for (int i = 0; f->regions && i < f->undo->run->region_count; i++) {
        free(f->regions[i].read);
        free(f->regions[i].written);
        free(f->regions[i].combined);
    }
    free(f->regions);
    free(f->list);
    free(f);
}

bool footprint_needs(const struct footprint *f, const struct region *region)
{
    return f && (!region || f->undo->regions[region - f->undo->run->regions].pages);
}

static void set_bits(uint8_t *bits, uint64_t at, uint64_t n)
{
    unsigned skip = (unsigned)(at / GRAIN % 8);

    n = (at % GRAIN + n + GRAIN - 1) / GRAIN;
    bits += at / GRAIN / 8;
    if (skip + n <= 8) {
        *bits |= (uint8_t)(((1U << n) - 1) << skip);
        return;
    }
    if (skip) {
        *bits++ |= (uint8_t)(0xffU << skip);
        n -= 8 - skip;
    }
    for (; n >= 8; n -= 8)
        *bits++ = 0xff;
    if (n)
        *bits |= (uint8_t)((1U << n) - 1);
}

static uint8_t **marks_of(struct footprint *f, int region, const struct insn *in)
{
    struct marks *m = &f->regions[region];
    uint32_t combiner = 1 + (in->memory | (uint32_t)in->vector << 8);

    if (!(in->flags & INSN_WRITES))
        return &m->read;
    if (!(in->flags & (INSN_COMMUTES | INSN_DEFERS)))
        return &m->written;
    if (m->combiner && m->combiner != combiner)
        f->is_mixed = true;
    m->combiner = combiner;
    return &m->combined;
}

static void note(struct footprint *f, const struct insn *in, const struct region *r, uint64_t at,
                 uint64_t n)
{
    int index = (int)(r - f->undo->run->regions);
    struct saved *s = &f->undo->regions[index];
    uint8_t **bits = marks_of(f, index, in);

    if (!*bits)
        *bits = calloc(pages_of(r), PAGE_BITS);
    if (in->flags & INSN_WRITES)
        save(s, r, at, n);
    if (*bits)
        set_bits(*bits, at, n);
    else
        f->is_mixed = true;
}

void footprint_access(struct footprint *f, const struct insn *in, const struct access *a,
                      uint32_t mask)
{
    if (a->region && a->is_linear && a->step == (uint64_t)a->bytes && mask == FULL_MASK) {
        note(f, in, a->region, a->low - a->region->start, (uint64_t)a->bytes * WARP);
        return;
    }
    for (uint32_t m = mask; m; m &= m - 1) {
        uint64_t address = a->address[__builtin_ctz(m)];
        const struct region *r = a->region ? a->region : region_find(f->undo->run, address);

        if (footprint_needs(f, r))
            note(f, in, r, address - r->start, (uint64_t)a->bytes);
    }
}

void footprint_pattern(struct footprint *f, const struct insn *in, const struct pattern *p,
                       uint64_t first)
{
    uint64_t at = first - p->region->start, bytes = p->bytes;

    if (p->shape == SHAPE_NEXT && p->is_linear) {
        note(f, in, p->region, at, bytes * WARP);
    } else if (p->shape == SHAPE_NEXT || p->shape == SHAPE_SAME) {
        for (int g = 0; g < GROUPS; g++)
            note(f, in, p->region, at + (uint64_t)p->group_at[g],
                 p->shape == SHAPE_SAME ? bytes : bytes * GROUP_LANES);
    } else {
        for (int l = 0; l < WARP; l++)
            note(f, in, p->region,
                 at + (p->is_narrow ? (uint64_t)(int32_t)p->relative.narrow[l]
                                    : p->relative.wide[l]),
                 bytes);
    }
}

/* ---- Conflicts ------------------------------------------------------------------------------ */

/* What the host threads before did with a page. */
struct page_marks {
    uint64_t read[PAGE_BITS / 8], written[PAGE_BITS / 8], combined[PAGE_BITS / 8];
};

static const uint64_t *page_bits(const uint8_t *bits, size_t page)
{
    static const uint64_t NONE[PAGE_BITS / 8];

    return bits ? (const uint64_t *)(const void *)(bits + page * PAGE_BITS) : NONE;
}

/* Adds what one more did; true when it met what another wrote or combined. */
static bool meet(struct page_marks *all, const struct marks *m, size_t page)
{
    const uint64_t *read = page_bits(m->read, page), *written = page_bits(m->written, page);
    const uint64_t *combined = page_bits(m->combined, page);
    uint64_t both = 0;

    for (int i = 0; i < PAGE_BITS / 8; i++) {
        uint64_t before = all->read[i] | all->written[i] | all->combined[i];

        both |= written[i] & before;
        both |= read[i] & (all->written[i] | all->combined[i]);
        both |= combined[i] & (all->read[i] | all->written[i]);
        all->read[i] |= read[i];
        all->written[i] |= written[i];
        all->combined[i] |= combined[i];
    }
    return both;
}

/* An atomic on the list has not happened yet: nobody may have looked, not even its own thread. */
static bool is_list_seen(const struct page_marks *all)
{
    uint64_t both = 0;

    for (int i = 0; i < PAGE_BITS / 8; i++)
        both |= all->combined[i] & (all->read[i] | all->written[i]);
    return both;
}

static bool conflict_in(struct footprint *const *f, int n, int region, bool is_deferring)
{
    const struct undo *undo = f[0]->undo;
    const struct saved *s = &undo->regions[region];
    uint32_t combiner = 0;

    for (int t = 0; t < n; t++) {
        uint32_t own = f[t]->regions[region].combiner;

        if (own && combiner && own != combiner)
            return true;
        combiner = own ? own : combiner;
    }
    for (size_t p = 0; s->pages && p < pages_of(&undo->run->regions[region]); p++) {
        struct page_marks all = { { 0 }, { 0 }, { 0 } };

        if (atomic_load_explicit(&s->pages[p], memory_order_relaxed) == PAGE_FREE)
            continue;
        for (int t = 0; t < n; t++)
            if (meet(&all, &f[t]->regions[region], p))
                return true;
        if (is_deferring && is_list_seen(&all))
            return true;
    }
    return false;
}

bool footprints_conflict(struct footprint *const *footprints, int n)
{
    bool is_deferring = false;

    for (int t = 0; t < n; t++) {
        if (footprints[t]->is_mixed)
            return true;
        is_deferring |= footprints[t]->count > 0;
    }
    for (int i = 0; i < footprints[0]->undo->run->region_count; i++)
        if (conflict_in(footprints, n, i, is_deferring))
            return true;
    return false;
}

/* ---- Atomics on floats ---------------------------------------------------------------------- */

void footprint_block(struct footprint *f, int64_t place)
{
    f->place = place;
}

static bool grow(struct footprint *f)
{
    int larger = f->capacity ? 2 * f->capacity : 256;
    struct deferred *list =
        f->capacity < MAX_DEFERRED ? realloc(f->list, (size_t)larger * sizeof *list) : NULL;

    if (!list)
        return false;
    f->list = list;
    f->capacity = larger;
    return true;
}

bool footprint_defers(struct warp *w, const struct insn *in, uint8_t *p, uint64_t operand)
{
    struct footprint *f = w->cta->footprint;

    if (!f || !(in->flags & INSN_DEFERS))
        return false;
    if (f->count == f->capacity && !grow(f)) {
        f->is_mixed = true; /* too many to keep: the launch will be run in order */
        return true;
    }
    f->list[f->count++] =
        (struct deferred){ .place = f->place, .insn = in, .at = p, .operand = operand };
    return true;
}

static void do_now(const struct deferred *d)
{
    size_t bytes = d->insn->option & ACCESS_WIDE_ROWS ? 8 : 4;
    uint64_t v = 0;

    memcpy(&v, d->at, bytes);
    v = atomic_combine(d->insn, SPACE_GLOBAL, v, d->operand, 0);
    memcpy(d->at, &v, bytes);
}

/* Each list is in the order of its blocks; the lowest block of all comes next. */
void footprints_finish(struct footprint *const *f, int n)
{
    for (;;) {
        struct footprint *first = NULL;

        for (int t = 0; t < n; t++)
            if (f[t]->next < f[t]->count &&
                (!first || f[t]->list[f[t]->next].place < first->list[first->next].place))
                first = f[t];
        if (!first)
            return;
        do_now(&first->list[first->next++]);
    }
}
