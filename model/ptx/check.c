/*
 * What went wrong, in words: who (threads), where (buffer and line), and what a
 * reader can do about it.
 */
#include "model/base/buf.h"
#include "model/ptx/heap.h"
#include "model/ptx/report.h"
#include "model/ptx/sync.h"

#include <inttypes.h>
#include <stdio.h>

enum { MAX_WAITERS = 8 /* rows of a report on who waits where */ };

/* Regions are sorted by address; the one before the first that starts later may hold it. */
const struct region *region_find(const struct run *run, uint64_t address)
{
    int low = 0, high = run->region_count;

    if (run->heap && address >= HEAP_WINDOW)
        return heap_region(run->heap, address);
    while (low < high) {
        int middle = (low + high) / 2;

        if (run->regions[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &run->regions[low - 1] : NULL;
}

static void fill_fault(struct warp *w)
{
    struct cta *cta = w->cta;
    const struct fault_site *site = &w->fault;
    const struct source_loc *loc = report_loc(cta, site->insn);
    struct ptx_fault *f = cta->fault;

    *f = (struct ptx_fault){ .name = site->name,
                             .kernel = report_kernel(cta->run),
                             .file = report_file(cta, site->insn),
                             .line = loc->line,
                             .column = loc->column,
                             .ptx_line = site->insn ? site->insn->ptx_line : 0,
                             .instruction = site->insn ? site->insn->spelling : "",
                             .block = cta->index,
                             .warp = w->index,
                             .lanes = site->lanes,
                             .threads = __builtin_popcount(site->lanes),
                             .address = site->address,
                             .bytes = site->bytes,
                             .buffer = -1 };
    if (site->lanes)
        f->thread = report_thread(cta, w->index, __builtin_ctz(site->lanes));
    if (site->insn) {
        f->is_write = site->insn->flags & INSN_WRITES;
        f->is_atomic = site->insn->flags & INSN_ATOMIC;
    }
}

static void take_report(struct buf *b, struct err *err)
{
    if (err)
        err_take_detail(err, buf_take(b));
    buf_done(b);
}

/* grid.sync() reads where its blocks meet from %envreg, and traps when a launch gave it no such
 * place. */
static bool wants_cooperation(const struct run *run)
{
    const struct function *f = run->entry;

    for (int i = 0; i < f->fixed_count && !run->launch->is_cooperative; i++)
        if (f->fixed[i].special == SPECIAL_ENVREG1 || f->fixed[i].special == SPECIAL_ENVREG2)
            return true;
    return false;
}

static int report_late(struct warp *w, struct err *err);

/* A trap, or an assertion in the words of whoever met it. */
static int report_assert(struct warp *w, struct err *err)
{
    const char *kernel = report_kernel(w->cta->run);
    int n = __builtin_popcount(w->fault.lanes);
    struct buf report = { 0 };
    char place[96];

    report_place(place, sizeof place, w->cta, w->fault.insn);
    if (w->fault.why) {
        err_set(err, ERR_AssertFault, "%s: assertion `%s` failed (%s, %d thread%s)", kernel,
                w->fault.why, place, n, n == 1 ? "" : "s");
        err_next(err,
                 "print the values that the assertion compares, in the first thread named above");
    } else {
        err_set(err, ERR_AssertFault, "%s reached a trap (%s, %d thread%s)", kernel, place, n,
                n == 1 ? "" : "s");
        if (wants_cooperation(w->cta->run))
            err_next(err, "grid.sync() works in a cooperative launch only: %%launch ... "
                          "cooperative=yes");
    }
    report_set_place(w->cta, w->fault.insn, err);
    report_who(&report, w, w->fault.lanes);
    report_callers(&report, w, w->fault.insn);
    take_report(&report, err);
    return -1;
}

/* In the words of whoever met it. */
static int report_plain(struct warp *w, enum err_name name, struct err *err)
{
    struct buf report = { 0 };
    char place[96];

    report_place(place, sizeof place, w->cta, w->fault.insn);
    err_set(err, name, "%s: %s (%s)", report_kernel(w->cta->run), w->fault.why, place);
    report_set_place(w->cta, w->fault.insn, err);
    report_who(&report, w, w->fault.lanes);
    report_callers(&report, w, w->fault.insn);
    if (w->fault.hint)
        err_next(err, "%s", w->fault.hint);
    report_why(&report, w->cta, NULL, w->fault.hint);
    take_report(&report, err);
    return -1;
}

int check_pending(struct cta *cta, struct err *err)
{
    struct warp *w = cta->undefined_by;

    if (!w)
        return 0;
    cta->undefined_by = NULL;
    w->fault = cta->undefined;
    return check_fault(w, err);
}

int check_fault(struct warp *w, struct err *err)
{
    const char *kernel = report_kernel(w->cta->run);

    /* A value that was never written may have led to what comes after. */
    if (w->cta->undefined_by && w->fault.name == ERR_MemoryFault)
        return check_pending(w->cta, err);
    report_from(w->cta, w->frame, w->fault.insn);
    fill_fault(w);
    switch (w->fault.name) {
    case ERR_Interrupted:
        err_set(err, ERR_Interrupted, "%s was stopped", kernel);
        return report_late(w, err);
    case ERR_Timeout:
        return check_budget(w, err);
    case ERR_ResourceError:
        return err_set(err, ERR_ResourceError, "%s: the launch needs more memory than it may take",
                       kernel);
    case ERR_BarrierFault:
        return report_plain(w, ERR_BarrierFault, err);
    case ERR_RaceFault:
        return report_race(w, w->fault.race, err);
    case ERR_AssertFault:
        return report_assert(w, err);
    default:
        return report_memory(w, err);
    }
}

/* ---- Who waits where ------------------------------------------------------------------------ */

/* Where a group waits; of one that goes round a loop, what it looks at there. NULL: it does not. */
static const struct insn *waits_at(const struct group *g)
{
    if (g->state == GROUP_BARRIER)
        return g->at - 1;
    if (g->state == GROUP_PARKED)
        return g->at;
    if (g->state != GROUP_READY)
        return NULL;
    for (const struct insn *in = g->block->first; in < g->block->end; in++)
        if (in->flags & (INSN_VOLATILE | INSN_LOOKS))
            return in;
    return g->at && g->at != g->block->end ? g->at
           : g->block->control             ? g->block->control
                                           : g->block->first;
}

/* What stands for that in the code of the user: of a function of CUDA's, the call that led to it.
 */
static const struct insn *shown_at(const struct cta *cta, const struct group *g)
{
    const struct insn *in = waits_at(g);
    const struct frame *f = g->frame;

    for (; f && f->caller && !report_is_users(cta, in); f = f->caller)
        in = f->call_block->control;
    return in;
}

/* The compiler left nothing in the loop but its jump: no read, so nothing that could change. */
static bool is_branch(const struct insn *in)
{
    return strncmp(in->spelling, "bra", 3) == 0;
}

static void put_waiter(struct buf *b, const struct warp *w, const struct group *g)
{
    const struct insn *in = waits_at(g), *shown = shown_at(w->cta, g);
    const struct source_loc *loc = report_loc(w->cta, shown);
    const char *file = report_file(w->cta, shown);

    buf_puts(b, "  waits   ");
    report_threads(b, w, g->mask);
    if (in)
        buf_printf(b,
                   g->state != GROUP_READY ? " at %s"
                   : is_branch(in)         ? " round a loop"
                                           : " round a loop with %s",
                   in->spelling);
    if (file)
        buf_printf(b, " (%s line %d)", file, loc->line);
    buf_putc(b, '\n');
}

static void report_waiters(struct cta *cta, const char *why, const char *try_, struct err *err)
{
    struct buf report = { 0 };
    int rows = 0;

    for (int i = 0; i < cta->run->warps_per_block; i++)
        for (int k = 0; k < MAX_GROUPS; k++) {
            const struct group *g = &cta->warps[i].groups[k];

            if (!waits_at(g))
                continue;
            if (rows++ < MAX_WAITERS)
                put_waiter(&report, &cta->warps[i], g);
        }
    if (rows > MAX_WAITERS)
        buf_printf(&report, "  waits   and %d more groups of lanes\n", rows - MAX_WAITERS);
    report_why(&report, cta, why, try_);
    take_report(&report, err);
}

static void fault_at(struct cta *cta, enum err_name name, struct warp *w, const struct group *g)
{
    const struct insn *in = waits_at(g);

    w->fault = (struct fault_site){ .name = name, .lanes = g->mask, .insn = in };
    fill_fault(w);
    (void)cta;
}

/* Of the block, the warp that has run most instructions and still runs; w when no other does. */
static struct warp *furthest_warp(struct warp *w)
{
    struct cta *cta = w->cta;
    struct warp *best = w;

    for (int i = 0; i < cta->run->warps_per_block; i++)
        if (cta->warps[i].used_groups && cta->warps[i].instructions > best->instructions)
            best = &cta->warps[i];
    return best;
}

static const struct group *running_group(const struct warp *w)
{
    const struct group *best = NULL;

    for (uint32_t used = w->used_groups; used; used &= used - 1) {
        const struct group *g = &w->groups[__builtin_ctz(used)];

        if (g->state == GROUP_READY && (!best || g->mask == w->mask))
            best = g;
    }
    return best;
}

/* A launch that was stopped or ran too long: whose loop it is, and where. -1. */
static int report_late(struct warp *w, struct err *err)
{
    const struct group *g = running_group(w = furthest_warp(w));
    struct cta *cta = w->cta;
    struct ptx_dim thread;
    const struct insn *in;
    char why[REPORT_TEXT], block[48];

    if (!g || !g->block)
        return -1;
    in = waits_at(g);
    if (!(in->flags & (INSN_VOLATILE | INSN_LOOKS)))
        in = g->block->control ? g->block->control : g->block->first;
    report_set_place(cta, in, err);
    w->fault = (struct fault_site){ .name = err->name, .lanes = g->mask, .insn = in };
    fill_fault(w);
    thread = report_thread(cta, w->index, __builtin_ctz(g->mask));
    snprintf(why, sizeof why,
             "thread (%u,%u,%u) of block %s is furthest, with %" PRId64
             " instructions, and still there",
             thread.x, thread.y, thread.z, report_block_of(block, sizeof block, cta),
             w->instructions);
    report_waiters(cta, why, NULL, err);
    return -1;
}

/* Where threads of the block wait, by instruction. */
struct place {
    const struct insn *in, *shown;
    int threads;
    struct warp *warp; /* of the first that waits there */
    const struct group *group;
};

enum { MAX_PLACES = 6 };

static int find_places(struct cta *cta, enum group_state state, int barrier, struct place *places)
{
    int n = 0, k;

    for (int i = 0; i < cta->run->warps_per_block; i++)
        for (uint32_t used = cta->warps[i].used_groups; used; used &= used - 1) {
            const struct group *g = &cta->warps[i].groups[__builtin_ctz(used)];
            const struct insn *in = waits_at(g), *shown;

            if (g->state != state || (state == GROUP_BARRIER && g->barrier != barrier))
                continue;
            shown = shown_at(cta, g);
            for (k = 0; k < n && (places[k].in != in || places[k].shown != shown); k++)
                ;
            if (k == MAX_PLACES)
                continue;
            if (k == n)
                places[n++] =
                    (struct place){ .in = in, .shown = shown, .warp = &cta->warps[i], .group = g };
            places[k].threads += __builtin_popcount(g->mask);
        }
    return n;
}

/* "96 threads at line 5, 32 at line 9" */
static void put_places(struct buf *b, const struct cta *cta, const struct place *places, int n)
{
    char line[48];

    for (int i = 0; i < n; i++)
        buf_printf(b, "%s%d %sat %s", i ? ", " : "", places[i].threads,
                   i                        ? ""
                   : places[i].threads == 1 ? "thread "
                                            : "threads ",
                   report_line(line, sizeof line, cta, places[i].shown));
}

/*
 * sync() of a group that is the whole block: barrier.sync in a header of CUDA's. In code of the
 * user's own that instruction may stand at several places, which meet.
 */
static bool is_of_group(const struct cta *cta, const struct place *p)
{
    return p->in != p->shown || report_is_header(cta, p->in) || report_loc(cta, p->in)->in_line;
}

/* Of a function that was inlined or unrolled there are copies, whose line is one. */
static bool are_one_line(const struct cta *cta, const struct place *places, int n)
{
    const struct source_loc *first = report_loc(cta, places[0].shown);

    for (int i = 1; i < n; i++) {
        const struct source_loc *loc = report_loc(cta, places[i].shown);

        if (loc->line != first->line || loc->file != first->file)
            return false;
    }
    return true;
}

/*
 * __syncthreads is one place that all threads of a block reach: two places are a fault. So is
 * sync() of the block's group; its copies in one line are one place.
 */
int check_barrier(struct cta *cta, int barrier, struct err *err)
{
    const char *name = "__syncthreads()";
    struct place places[MAX_PLACES];
    struct buf text = { 0 };
    char block[48], try_[64];
    int n;

    if (!(cta->run->launch->checks & PTX_CHECK_BARRIERS) || cta->barriers[barrier].expected)
        return 0;
    n = find_places(cta, GROUP_BARRIER, barrier, places);
    for (int i = 0; i < n; i++) {
        if (places[i].in->option & BARRIER_ALIGNED)
            continue;
        if (!is_of_group(cta, &places[i]))
            return 0;
        name = "sync() of their block";
    }
    if (n < 2 || (*name != '_' && are_one_line(cta, places, n)))
        return 0;
    put_places(&text, cta, places, n);
    err_set(err, ERR_BarrierFault, "%s: threads of block %s wait at different %s: %s (%s)",
            report_kernel(cta->run), report_block_of(block, sizeof block, cta), name,
            buf_text(&text),
            report_file(cta, places[0].shown) ? report_file(cta, places[0].shown) : "PTX");
    buf_done(&text);
    snprintf(try_, sizeof try_, "move %s out of the branch", name);
    err_next(err, "%s, so that all threads reach the same one", try_);
    report_set_place(cta, places[n - 1].shown, err);
    fault_at(cta, ERR_BarrierFault, places[n - 1].warp, places[n - 1].group);
    cta->fault->other = (struct ptx_party){ .is_known = true,
                                            .file = report_file(cta, places[0].shown),
                                            .line = report_loc(cta, places[0].shown)->line,
                                            .ptx_line = places[0].in->ptx_line,
                                            .instruction = places[0].in->spelling,
                                            .block = cta->index,
                                            .warp = places[0].warp->index,
                                            .lanes = places[0].group->mask };
    report_waiters(cta,
                   "a branch or a loop took them to different barriers; every thread of the "
                   "block that still runs must reach the same one",
                   try_, err);
    return -1;
}

/* A .sync waits for lanes that will not come: which, and where they are. */
static int fail_parked(struct cta *cta, const struct place *p, struct err *err)
{
    const struct group *g = p->group;
    uint32_t named, missing;
    struct buf lanes = { 0 };
    char place[96], why[REPORT_TEXT];

    memcpy(&named, g->frame->rows + p->in->rows[0] + 4 * __builtin_ctz(g->mask), sizeof named);
    missing = named & p->warp->live & ~g->mask;
    report_lanes(&lanes, missing);
    report_place(place, sizeof place, cta, p->in);
    err_set(err, ERR_BarrierFault,
            "%s: %s names the lanes 0x%08x, but lane%s %s will not come to it (%s, warp %d)",
            report_kernel(cta->run), p->in->spelling, named, missing & (missing - 1) ? "s" : "",
            buf_text(&lanes), place, p->warp->index);
    err_next(err,
             "name only lanes that come there: the mask of the branch, by __ballot_sync before it");
    report_set_place(cta, p->in, err);
    fault_at(cta, ERR_BarrierFault, p->warp, g);
    snprintf(why, sizeof why,
             "the mask has lanes that took another branch and wait elsewhere themselves (0x%08x)",
             missing);
    buf_done(&lanes);
    report_waiters(cta, why, "the mask of the lanes that take this branch: __ballot_sync before it",
                   err);
    return -1;
}

static bool has_ready(const struct cta *cta)
{
    for (int i = 0; i < cta->run->warps_per_block; i++)
        for (int k = 0; k < MAX_GROUPS; k++)
            if (cta->warps[i].groups[k].state == GROUP_READY)
                return true;
    return false;
}

int check_deadlock(struct cta *cta, struct err *err)
{
    struct place places[MAX_PLACES];
    bool has_loop = has_ready(cta);
    const char *kernel = report_kernel(cta->run);
    char place[96];
    int n = find_places(cta, has_loop ? GROUP_READY : GROUP_PARKED, 0, places);

    if (n && !has_loop)
        return fail_parked(cta, &places[0], err);
    for (int i = 0; !n && i <= MAX_BARRIERS; i++)
        n = find_places(cta, GROUP_BARRIER, i, places);
    if (!n)
        return err_set(err, ERR_Deadlock, "%s: no thread can go on", kernel);
    report_place(place, sizeof place, cta, places[0].in);
    if (has_loop && is_branch(places[0].in)) {
        err_set(err, ERR_Deadlock,
                "%s: threads go round a loop that changes and reads nothing, so it never ends (%s)",
                kernel, place);
        err_next(err, "change in the loop what it tests; a flag that another thread sets is read "
                      "through volatile or an atomic");
    } else if (has_loop) {
        err_set(err, ERR_Deadlock,
                "%s: threads go round a loop with %s, and nothing will ever change it (%s)", kernel,
                places[0].in->spelling, place);
        err_next(err, "look at who is to write what the loop waits for, and whether that "
                      "thread can get there");
    } else {
        err_set(err, ERR_Deadlock, "%s: threads wait at %s for others that do not come (%s)",
                kernel, places[0].in->spelling, place);
        err_next(err, "let every thread that is waited for reach the same place");
    }
    report_set_place(cta, places[0].in, err);
    fault_at(cta, ERR_Deadlock, places[0].warp, places[0].group);
    report_waiters(cta, NULL, NULL, err);
    return -1;
}

int check_budget(struct warp *w, struct err *err)
{
    const struct run *run = w->cta->run;

    err_set(err, ERR_Timeout,
            "%s: a thread ran more than %" PRId64 " instructions; its loop may never end",
            report_kernel(run), run->thread_budget);
    report_late(w, err);
    return err_next(err, "look at the loop's condition, or raise timeout=");
}
