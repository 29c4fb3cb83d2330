/*
 * Warnings: one a kind and place, with how often and who first. A block is the first by its number,
 * not by which host thread came to it first, so that every run says the same.
 */
#include "model/ptx/warning.h"

#include "model/ptx/report.h"

#include <inttypes.h>

enum { MAX_NOTES = 64 };

struct note {
    enum ptx_warning_kind kind;
    const struct insn *in, *other;
    int64_t count, block_linear;
    struct ptx_dim block, thread;
};

struct notes {
    struct note notes[MAX_NOTES];
    int count;
};

/* Instructions of one line are one place. */
static bool is_same_line(const struct insn *a, const struct insn *b)
{
    return a == b || (a && b && a->loc && b->loc && a->line == b->line);
}

/* The note of a kind and place, made on first use; NULL: there are too many. */
static struct note *find(struct notes *all, enum ptx_warning_kind kind, const struct insn *in,
                         const struct insn *other)
{
    for (int i = 0; i < all->count; i++)
        if (all->notes[i].kind == kind && is_same_line(all->notes[i].in, in) &&
            is_same_line(all->notes[i].other, other))
            return &all->notes[i];
    if (all->count == MAX_NOTES)
        return NULL;
    all->notes[all->count] =
        (struct note){ .kind = kind, .in = in, .other = other, .block_linear = INT64_MAX };
    return &all->notes[all->count++];
}

void warning_note(struct warp *w, enum ptx_warning_kind kind, const struct insn *in,
                  const struct insn *other, uint32_t lanes)
{
    struct cta *cta = w->cta;
    struct notes *all = cta->notes ? cta->notes : arena_alloc(cta->arena, sizeof *all);
    struct note *n;

    cta->notes = all;
    n = all ? find(all, kind, in, other) : NULL;
    if (!n)
        return;
    if (cta->linear < n->block_linear) {
        n->block_linear = cta->linear;
        n->block = cta->index;
        n->thread = report_thread(cta, w->index, __builtin_ctz(lanes));
    }
    n->count += __builtin_popcount(lanes);
}

void warning_merge(struct cta *to, const struct cta *from)
{
    struct notes *all = to->notes ? to->notes : arena_alloc(to->arena, sizeof *all);

    if (!all || !from->notes)
        return;
    to->notes = all;
    for (int i = 0; i < from->notes->count; i++) {
        const struct note *n = &from->notes->notes[i];
        struct note *same = find(all, n->kind, n->in, n->other);

        if (!same)
            continue;
        same->count += n->count;
        if (n->block_linear >= same->block_linear)
            continue;
        same->block_linear = n->block_linear;
        same->block = n->block;
        same->thread = n->thread;
    }
}

static const char *text_of(const struct cta *cta, const struct note *n, struct arena *arena)
{
    const struct ptx_launch *l = cta->run->launch;
    char place[96], other[48], thread[48], block[48];

    report_place(place, sizeof place, cta, n->in);
    report_dim(thread, sizeof thread, n->thread, &l->block);
    report_dim(block, sizeof block, n->block, &l->grid);
    switch (n->kind) {
    case PTX_WARNING_DIVISION_BY_ZERO:
        return arena_printf(arena,
                            "%s divides an integer by zero, which gives no error on a GPU but a "
                            "meaningless value (%" PRId64 " times, first thread %s of block %s)",
                            place, n->count, thread, block);
    case PTX_WARNING_SHIFT:
        return arena_printf(arena,
                            "%s shifts by as many bits as the value has, or more: C leaves that "
                            "open, a GPU gives 0 or the sign (%" PRId64
                            " times, first thread %s of "
                            "block %s)",
                            place, n->count, thread, block);
    case PTX_WARNING_WARP_RACE:
        report_line(other, sizeof other, cta, n->other);
        return arena_printf(
            arena,
            "%s and %s meet in shared memory inside a warp without __syncwarp(): "
            "right only if the lanes run in lockstep, as before Volta (first thread "
            "%s of block %s)",
            place, other, thread, block);
    case PTX_WARNING_EARLY_RETURN:
        return arena_printf(arena,
                            "%s: threads that have returned do not come here; a GPU waits for the "
                            "others only (first thread %s of block %s)",
                            place, thread, block);
    case PTX_WARNING_PRINTF_LOST:
    case PTX_WARNING_LEAK:
    case PTX_WARNING_COUNT:
        break;
    }
    return NULL;
}

int warning_tell(const struct cta *cta, struct arena *arena, struct ptx_facts *facts)
{
    const struct notes *all = cta->notes;
    struct ptx_warning *w;
    size_t n = facts->warning_count;

    if (!all)
        return 0;
    w = arena_array(arena, n + (size_t)all->count, sizeof *w);
    if (!w)
        return -1;
    if (n)
        memcpy(w, facts->warnings, n * sizeof *w);
    for (int i = 0; i < all->count; i++) {
        const struct note *note = &all->notes[i];

        w[n++] = (struct ptx_warning){ .kind = note->kind,
                                       .text = text_of(cta, note, arena),
                                       .file = report_file(cta, note->in),
                                       .line = report_loc(cta, note->in)->line,
                                       .count = note->count,
                                       .block = note->block,
                                       .thread = note->thread };
        if (!w[n - 1].text)
            return -1;
    }
    facts->warnings = w;
    facts->warning_count = n;
    return 0;
}
