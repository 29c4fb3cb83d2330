/*
 * What went wrong, in words: who (threads), where (buffer and line), and what a
 * reader can do about it.
 */
#include "model/base/buf.h"
#include "model/ptx/heap.h"
#include "model/ptx/sync.h"
#include "model/ptx/internal.h"

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

/* ---- Who ------------------------------------------------------------------------------------ */

static struct ptx_dim thread_at(const struct cta *cta, int warp, int lane)
{
    const struct ptx_dim *block = &cta->run->launch->block;
    unsigned thread = (unsigned)warp * WARP + (unsigned)lane;

    return (struct ptx_dim){ thread % block->x, thread / block->x % block->y,
                             thread / block->x / block->y };
}

/* "12", or "(3,4)" and "(3,4,5)" where the launch has more dimensions. */
static const char *dim_text(char *out, size_t size, struct ptx_dim at, const struct ptx_dim *shape)
{
    if (shape->z > 1)
        snprintf(out, size, "(%u,%u,%u)", at.x, at.y, at.z);
    else if (shape->y > 1)
        snprintf(out, size, "(%u,%u)", at.x, at.y);
    else
        snprintf(out, size, "%u", at.x);
    return out;
}

static void put_lanes(struct buf *b, uint32_t lanes)
{
    bool is_first = true;

    for (int l = 0; l < WARP; l++) {
        int last = l;

        if (!(lanes >> l & 1))
            continue;
        while (last + 1 < WARP && lanes >> (last + 1) & 1)
            last++;
        buf_printf(b, last > l ? "%s%d..%d" : "%s%d", is_first ? "" : ", ", l, last);
        is_first = false;
        l = last;
    }
}

static void put_who(struct buf *b, const struct warp *w, uint32_t lanes)
{
    const struct ptx_launch *launch = w->cta->run->launch;
    char block[48], thread[48];

    buf_printf(b, "  who     thread %s of block %s (warp %d, lanes ",
               dim_text(thread, sizeof thread, thread_at(w->cta, w->index, __builtin_ctz(lanes)),
                        &launch->block),
               dim_text(block, sizeof block, w->cta->index, &launch->grid), w->index);
    put_lanes(b, lanes);
    buf_puts(b, ")\n");
}

/* ---- Where ---------------------------------------------------------------------------------- */

static const struct source_loc *loc_of(const struct cta *cta, const struct insn *in)
{
    return &cta->run->module->ast.locs[in ? in->loc : 0];
}

static const char *file_of(const struct cta *cta, const struct insn *in)
{
    const struct ast_module *ast = &cta->run->module->ast;
    const struct source_loc *loc = loc_of(cta, in);

    if (!in || !in->loc || loc->file >= ast->file_count)
        return NULL;
    return ast->files[loc->file];
}

static void set_place(const struct cta *cta, const struct insn *in, struct err *err)
{
    const struct source_loc *loc = loc_of(cta, in);
    const char *file = file_of(cta, in);

    if (!err || !file)
        return;
    snprintf(err->place, sizeof err->place, "%.60s", file);
    err_at(err, loc->line, loc->column, 1);
}

static void fill_fault(struct warp *w)
{
    struct cta *cta = w->cta;
    const struct fault_site *site = &w->fault;
    const struct source_loc *loc = loc_of(cta, site->insn);
    struct ptx_fault *f = cta->fault;

    *f = (struct ptx_fault){ .name = site->name,
                             .kernel = cta->run->entry->name,
                             .file = file_of(cta, site->insn),
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
        f->thread = thread_at(cta, w->index, __builtin_ctz(site->lanes));
    if (site->insn) {
        f->is_write = site->insn->flags & INSN_WRITES;
        f->is_atomic = site->insn->flags & INSN_ATOMIC;
    }
}

/* The buffer that an address just missed: the one before it, or the next when that is nearer. */
static const struct region *nearest_region(const struct run *run, uint64_t address)
{
    const struct region *before = region_find(run, address), *after;

    if (run->heap && address >= HEAP_WINDOW)
        return before;
    after = before ? before + 1 : run->regions;
    if (after >= run->regions + run->region_count)
        return before;
    if (before && address - before->end <= after->start - address)
        return before;
    return after;
}

static const struct ptx_buffer *buffer_of(const struct run *run, const struct region *r)
{
    return r && r->buffer >= 0 ? &run->launch->buffers[r->buffer] : NULL;
}

/* An access this far from every buffer is no index that went astray, nor one this low. */
#define NEAR_BYTES ((uint64_t)1 << 30)
#define NULL_BYTES ((uint64_t)1 << 16)

static int fail_far(const struct warp *w, struct err *err)
{
    uint64_t address = w->fault.address;

    if (address < NULL_BYTES) {
        err_set(err, ERR_MemoryFault, "%s %s address 0x%" PRIx64 ", which is a null pointer",
                w->cta->run->entry->name,
                w->fault.insn->flags & INSN_WRITES ? "writes to" : "reads", address);
        return err_next(err, "pass a buffer where the kernel got 0");
    }
    err_set(err, ERR_MemoryFault,
            "%s %s address 0x%" PRIx64 ", which is in no buffer of the launch",
            w->cta->run->entry->name, w->fault.insn->flags & INSN_WRITES ? "writes to" : "reads",
            address);
    return err_next(err, "a pointer into the host's memory cannot be used in a kernel");
}

static int fail_near(struct warp *w, const struct region *r, struct err *err)
{
    const struct run *run = w->cta->run;
    const struct ptx_buffer *b = buffer_of(run, r);
    struct ptx_fault *f = w->cta->fault;
    int64_t distance = (int64_t)(w->fault.address - r->start), size = (int64_t)(r->end - r->start);
    int unit = b && b->element_bytes > 0 ? b->element_bytes : 1;
    const char *verb = w->fault.insn->flags & INSN_WRITES ? "writes" : "reads";
    const char *name = r->name ? r->name : "a buffer";

    f->buffer = r->buffer;
    f->index = distance >= 0 ? distance / unit : -((unit - 1 - distance) / unit);
    f->past_end = distance < 0 ? distance : distance - size;
    if (b && b->freed && distance >= 0 && distance < size) {
        err_set(err, ERR_MemoryFault, "%s %s %s[%" PRId64 "], but %s was freed", run->entry->name,
                verb, name, f->index, name);
        return err_next(err, "make %s again before the launch", name);
    }
    if (r->is_read_only && distance >= 0 && distance < size)
        return err_set(err, ERR_MemoryFault, "%s writes %s[%" PRId64 "], which is constant",
                       run->entry->name, name, f->index);
    err_set(err, ERR_MemoryFault,
            "%s %s %s[%" PRId64 "], but %s has %" PRId64 " %s%s (%d thread%s)", run->entry->name,
            verb, name, f->index, name, size / unit,
            b && b->element_bytes > 0 && b->element_type ? b->element_type : "byte",
            size / unit == 1 ? "" : "s", __builtin_popcount(w->fault.lanes),
            __builtin_popcount(w->fault.lanes) == 1 ? "" : "s");
    return err_next(err, distance < 0 ? "let the index not fall below 0"
                                      : "test the index against the number of elements first");
}

static void put_where(struct buf *b, const struct warp *w)
{
    const struct ptx_fault *f = w->cta->fault;
    const struct ptx_buffer *buffer =
        f->buffer >= 0 ? &w->cta->run->launch->buffers[f->buffer] : NULL;

    if (!buffer)
        return;
    if (f->past_end < 0)
        buf_printf(b, "  where   %" PRId64 " bytes before the start of %s", -f->past_end,
                   buffer->name ? buffer->name : "the buffer");
    else
        buf_printf(b, "  where   %" PRId64 " bytes past the end of %s", f->past_end,
                   buffer->name ? buffer->name : "the buffer");
    if (buffer->element_type && buffer->element_bytes > 0)
        buf_printf(b, ": %s[%zu]", buffer->element_type,
                   buffer->size / (size_t)buffer->element_bytes);
    if (buffer->origin)
        buf_printf(b, ", %s", buffer->origin);
    buf_putc(b, '\n');
}

static void put_launch(struct buf *b, const struct run *run)
{
    const struct ptx_launch *l = run->launch;
    char grid[48], block[48];
    int64_t threads = (int64_t)l->grid.x * l->grid.y * l->grid.z * run->threads_per_block;

    buf_printf(b, "  launch  %s<<<%s, %s>>> starts %" PRId64 " threads\n", run->entry->name,
               dim_text(grid, sizeof grid, l->grid, &l->grid),
               dim_text(block, sizeof block, l->block, &l->block), threads);
}

static int fail_memory_fault(struct warp *w, struct err *err)
{
    const struct fault_site *site = &w->fault;
    const char *verb = site->insn->flags & INSN_WRITES ? "writes" : "reads";
    const struct region *r;

    if (!site->bytes) {
        err_set(err, ERR_MemoryFault, "%s: %s", w->cta->run->entry->name, site->why);
        if (site->hint)
            return err_next(err, "%s", site->hint);
        return err_next(err, "look at how deep the calls go, and at the pointers to functions");
    }
    if (!site->why) {
        err_set(err, ERR_MemoryFault, "%s %s %d bytes at 0x%" PRIx64 ", which is no multiple of %d",
                w->cta->run->entry->name, verb, site->bytes, site->address, site->bytes);
        return err_next(err, "a value is read at a multiple of its size: look at the pointer cast");
    }
    if (strcmp(site->why, "any buffer")) {
        err_set(err, ERR_MemoryFault, "%s %s %d bytes outside %s", w->cta->run->entry->name, verb,
                site->bytes, site->why);
        return err_next(err, "test the index against the size of the array first");
    }
    r = w->cta->run->base_regions[site->insn->base];
    if (!r)
        r = nearest_region(w->cta->run, site->address);
    if (!r || site->address < NULL_BYTES ||
        (site->address < r->start && r->start - site->address > NEAR_BYTES) ||
        (site->address >= r->end && site->address - r->end > NEAR_BYTES))
        return fail_far(w, err);
    return fail_near(w, r, err);
}

static void take_report(struct buf *b, struct err *err)
{
    if (err)
        err_take_detail(err, buf_take(b));
    buf_done(b);
}

int check_fault(struct warp *w, struct err *err)
{
    const char *kernel = w->cta->run->entry->name;
    struct buf report = { 0 };

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
        err_set(err, ERR_BarrierFault, "%s: %s", kernel, w->fault.why);
        break;
    case ERR_AssertFault:
        if (w->fault.why) {
            err_set(err, ERR_AssertFault, "%s: assertion `%s` failed (%d thread%s)", kernel,
                    w->fault.why, __builtin_popcount(w->fault.lanes),
                    __builtin_popcount(w->fault.lanes) == 1 ? "" : "s");
            err_next(err, "print the values that the assertion compares, in the thread named below");
        } else {
            err_set(err, ERR_AssertFault, "%s reached a trap", kernel);
        }
        break;
    default:
        fail_memory_fault(w, err);
        break;
    }
    set_place(w->cta, w->fault.insn, err);
    put_who(&report, w, w->fault.lanes);
    put_where(&report, w);
    put_launch(&report, w->cta->run);
    take_report(&report, err);
    return -1;
}

/* ---- Who waits where ------------------------------------------------------------------------ */

static void put_waiter(struct buf *b, const struct warp *w, const struct group *g)
{
    const struct insn *in = g->state == GROUP_BARRIER ? g->at - 1 : g->at;
    const struct source_loc *loc = loc_of(w->cta, in);
    const char *file = file_of(w->cta, in);

    buf_printf(b, "  waits   warp %d, lanes ", w->index);
    put_lanes(b, g->mask);
    if (in)
        buf_printf(b, " at %s", in->spelling);
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

            if (g->state != GROUP_BARRIER && g->state != GROUP_PARKED)
                continue;
            if (rows++ < MAX_WAITERS)
                put_waiter(&report, &cta->warps[i], g);
        }
    if (rows > MAX_WAITERS)
        buf_printf(&report, "  waits   and %d more groups of lanes\n", rows - MAX_WAITERS);
    put_launch(&report, cta->run);
    take_report(&report, err);
}

static void fault_at(struct cta *cta, enum err_name name, struct warp *w, const struct group *g)
{
    const struct insn *in = g->state == GROUP_BARRIER ? g->at - 1 : g->at;

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
                    cta->run->entry->name);
            err_next(err, "move __syncthreads() out of the branch, so that all threads reach it");
            set_place(cta, g->at - 1, err);
            fault_at(cta, ERR_BarrierFault, &cta->warps[i], g);
            report_waiters(cta, err);
            return -1;
        }
    return 0;
}

int check_deadlock(struct cta *cta, struct err *err)
{
    for (int i = 0; i < cta->run->warps_per_block; i++)
        for (int k = 0; k < MAX_GROUPS; k++) {
            struct warp *w = &cta->warps[i];
            const struct group *g = &w->groups[k];
            const struct insn *in = g->state == GROUP_BARRIER ? g->at - 1 : g->at;

            if (g->state != GROUP_BARRIER && g->state != GROUP_PARKED)
                continue;
            err_set(err, ERR_Deadlock, "%s: threads wait at %s for others that do not come",
                    cta->run->entry->name, in->spelling);
            err_next(err, "let every thread that is waited for reach the same place");
            set_place(cta, in, err);
            fault_at(cta, ERR_Deadlock, w, g);
            report_waiters(cta, err);
            return -1;
        }
    return err_set(err, ERR_Deadlock, "%s: no thread can go on", cta->run->entry->name);
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
            run->entry->name, run->thread_budget);
    if (g && g->block)
        set_place(w->cta, g->block->control ? g->block->control : g->block->first, err);
    return err_next(err, "look at the loop's condition, or raise timeout=");
}
