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
        err_next(err, "print the values that the assertion compares, in the thread named below");
    } else {
        err_set(err, ERR_AssertFault, "%s reached a trap (%s, %d thread%s)", kernel, place, n,
                n == 1 ? "" : "s");
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
    fill_fault(w);
    switch (w->fault.name) {
    case ERR_Interrupted:
        return err_set(err, ERR_Interrupted, "%s was stopped", kernel);
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
        if (in->flags & INSN_VOLATILE)
            return in;
    return g->at && g->at != g->block->end ? g->at
           : g->block->control             ? g->block->control
                                           : g->block->first;
}

static void put_waiter(struct buf *b, const struct warp *w, const struct group *g)
{
    const struct insn *in = waits_at(g);
    const struct source_loc *loc = report_loc(w->cta, in);
    const char *file = report_file(w->cta, in);

    buf_printf(b, "  waits   warp %d, lanes ", w->index);
    report_lanes(b, g->mask);
    if (in)
        buf_printf(b, g->state == GROUP_READY ? " round a loop with %s" : " at %s", in->spelling);
    if (file)
        buf_printf(b, " (%s line %d)", file, loc->line);
    buf_putc(b, '\n');
}

static void report_waiters(const struct cta *cta, struct err *err)
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
    take_report(&report, err);
}

static void fault_at(struct cta *cta, enum err_name name, struct warp *w, const struct group *g)
{
    const struct insn *in = waits_at(g);

    w->fault = (struct fault_site){ .name = name, .lanes = g->mask, .insn = in };
    fill_fault(w);
    (void)cta;
}

/* __syncthreads is one place that all threads of a block reach: two places are a fault. */
int check_barrier(struct cta *cta, int barrier, struct err *err)
{
    const struct insn *first = NULL;

    if (!(cta->run->launch->checks & PTX_CHECK_BARRIERS) || cta->barriers[barrier].expected)
        return 0;
    for (int i = 0; i < cta->run->warps_per_block; i++)
        for (int k = 0; k < MAX_GROUPS; k++) {
            const struct group *g = &cta->warps[i].groups[k];

            if (g->state != GROUP_BARRIER || g->barrier != barrier)
                continue;
            if (!((g->at - 1)->option & BARRIER_ALIGNED))
                continue; /* barrier.sync may be met at several places */
            if (!first)
                first = g->at - 1;
            if (g->at - 1 == first)
                continue;
            err_set(err, ERR_BarrierFault,
                    "%s: threads of one block wait at different __syncthreads()",
                    report_kernel(cta->run));
            err_next(err, "move __syncthreads() out of the branch, so that all threads reach it");
            report_set_place(cta, g->at - 1, err);
            fault_at(cta, ERR_BarrierFault, &cta->warps[i], g);
            report_waiters(cta, err);
            return -1;
        }
    return 0;
}

int check_deadlock(struct cta *cta, struct err *err)
{
    bool has_loop = false;

    for (int i = 0; i < cta->run->warps_per_block; i++)
        for (int k = 0; k < MAX_GROUPS; k++)
            has_loop |= cta->warps[i].groups[k].state == GROUP_READY;
    for (int i = 0; i < cta->run->warps_per_block; i++)
        for (int k = 0; k < MAX_GROUPS; k++) {
            struct warp *w = &cta->warps[i];
            const struct group *g = &w->groups[k];
            const struct insn *in = waits_at(g);

            if (!in || (has_loop && g->state != GROUP_READY))
                continue;
            if (has_loop) {
                err_set(err, ERR_Deadlock,
                        "%s: threads go round a loop with %s, and nothing will ever change it",
                        report_kernel(cta->run), in->spelling);
                err_next(err, "look at who is to write what the loop waits for, and whether that "
                              "thread can get there");
            } else {
                err_set(err, ERR_Deadlock, "%s: threads wait at %s for others that do not come",
                        report_kernel(cta->run), in->spelling);
                err_next(err, "let every thread that is waited for reach the same place");
            }
            report_set_place(cta, in, err);
            fault_at(cta, ERR_Deadlock, w, g);
            report_waiters(cta, err);
            return -1;
        }
    return err_set(err, ERR_Deadlock, "%s: no thread can go on", report_kernel(cta->run));
}

int check_budget(struct warp *w, struct err *err)
{
    const struct run *run = w->cta->run;
    const struct group *g = NULL;

    for (int k = 0; k < MAX_GROUPS && !g; k++)
        if (w->groups[k].state == GROUP_READY)
            g = &w->groups[k];
    err_set(err, ERR_Timeout,
            "%s: a thread ran more than %" PRId64 " instructions; its loop may never end",
            report_kernel(run), run->thread_budget);
    if (g && g->block)
        report_set_place(w->cta, g->block->control ? g->block->control : g->block->first, err);
    return err_next(err, "look at the loop's condition, or raise timeout=");
}
