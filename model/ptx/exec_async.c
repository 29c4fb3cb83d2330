/*
 * cp.async: copies from global to shared memory that a thread starts, and later waits for.
 *
 * Copies belong to the group that the next commit closes. A wait names how many of the latest
 * groups may still be under way; the copies of older ones are made there, in the order in which
 * they were started. Source: "Asynchronous copy" and "cp.async", PTX ISA 9.0.
 */
#include "model/ptx/async.h"
#include "model/ptx/shadow.h"

typedef uint32_t __attribute__((may_alias)) word32;

enum { MOST_BYTES = 16 };

/* A copy under way, of some lanes. */
struct pending {
    struct pending *next;
    const struct insn *in;
    uint32_t lanes;
    uint32_t since; /* race.c's time when it was started */
    struct access to;
    uint32_t group[WARP]; /* of each lane: so many commits were before */
    uint8_t data[WARP][MOST_BYTES];
};

static struct pending *take_pending(struct cta *cta)
{
    struct pending *p = cta->free_pending;

    if (!p)
        return arena_alloc(cta->arena, sizeof *p);
    cta->free_pending = p->next;
    return p;
}

static void give_pending(struct cta *cta, struct pending *p)
{
    p->next = cta->free_pending;
    cta->free_pending = p;
}

void async_start(struct warp *w)
{
    while (w->pending) {
        struct pending *p = w->pending;

        w->pending = p->next;
        give_pending(w->cta, p);
    }
    if (w->has_commits)
        memset(w->commits, 0, sizeof w->commits);
    w->has_commits = false;
}

struct insn *async_part(const struct insn *in, int i)
{
    struct async_copy *copy = (struct async_copy *)(uintptr_t)in->extra;

    if (in->full != exec_async_copy && in->full != exec_bulk_copy)
        return NULL;
    if (i == 0)
        return &copy->source;
    return copy->barrier.full ? &copy->barrier : NULL;
}

/* ---- Reading -------------------------------------------------------------------------------- */

/* How many bytes a lane reads. */
static int size_of(const struct warp *w, const struct insn *in, int lane)
{
    const struct async_copy *copy = in->extra;
    int bytes = ACCESS_KIND_BYTES[in->memory] * in->vector;
    uint32_t bits;

    if (in->option & ASYNC_IGNORES) {
        bits = *(const word32 *)(w->rows + copy->ignores);
        bits = in->option & ASYNC_NEGATED ? ~bits : bits;
        return bits >> lane & 1 ? 0 : bytes;
    }
    if (in->option & ASYNC_SIZED)
        return (int)min_i64(((const word32 *)(w->rows + copy->size))[lane], bytes);
    return bytes;
}

/* The lanes of mask, which all read `size` bytes. */
static int read_lanes(struct warp *w, const struct insn *in, uint32_t mask, int size,
                      struct pending *p)
{
    const struct insn *source = async_part(in, 0);
    /* Less than a whole copy is looked at byte by byte: its size is no power of two. */
    int step = size & (size - 1) ? 1 : size;

    for (int at = 0; at < size; at += step) {
        struct insn part = *source;
        struct access a;

        part.offset += at;
        if (access_locate(w, &part, mask, step, &a) < 0 ||
            (shadow_needs(w, &part, &a) && shadow_access(w, &part, &a, mask) < 0)) {
            w->fault.insn = source;
            return EXEC_FAULT;
        }
        if (!at)
            access_count(w, source, &a, mask);
        for (uint32_t m = mask; m; m &= m - 1) {
            int l = __builtin_ctz(m);

            access_copy(p->data[l] + at, access_host(w, &a, l), (size_t)step);
        }
    }
    return EXEC_OK;
}

static int read_source(struct warp *w, const struct insn *in, uint32_t mask, struct pending *p)
{
    memset(p->data, 0, sizeof p->data);
    while (mask) {
        int size = size_of(w, in, __builtin_ctz(mask));
        uint32_t same = 0;

        for (uint32_t m = mask; m; m &= m - 1)
            same |= size_of(w, in, __builtin_ctz(m)) == size ? m & -m : 0;
        if (size && read_lanes(w, in, same, size, p) < 0)
            return EXEC_FAULT;
        mask &= ~same;
    }
    return EXEC_OK;
}

int exec_async_copy(struct warp *w, const struct insn *in, uint32_t mask)
{
    int bytes = ACCESS_KIND_BYTES[in->memory] * in->vector;
    struct pending *p = take_pending(w->cta), **end = &w->pending;

    if (!p) {
        w->fault = (struct fault_site){ .name = ERR_ResourceError, .lanes = mask, .insn = in };
        return EXEC_FAULT;
    }
    if (access_locate(w, in, mask, bytes, &p->to) < 0 || read_source(w, in, mask, p) < 0 ||
        race_start_copy(w, in, &p->to, mask, &p->since) < 0)
        return EXEC_FAULT;
    access_count(w, in, &p->to, mask);
    p->in = in;
    p->lanes = mask;
    p->next = NULL;
    memcpy(p->group, w->commits, sizeof p->group);
    while (*end)
        end = &(*end)->next;
    *end = p;
    return EXEC_OK;
}

const struct insn *async_under_way(const struct cta *cta, uint64_t address)
{
    for (int i = 0; i < cta->run->warps_per_block; i++)
        for (const struct pending *p = cta->warps[i].pending; p; p = p->next)
            for (uint32_t m = p->lanes; m; m &= m - 1)
                if (address - p->to.address[__builtin_ctz(m)] < (uint64_t)p->to.bytes)
                    return p->in;
    return NULL;
}

/* ---- Waiting -------------------------------------------------------------------------------- */

static int write_lanes(struct warp *w, struct pending *p, uint32_t lanes, bool is_waited)
{
    if (race_end_copy(w, p->in, &p->to, lanes, p->since, is_waited) < 0)
        return EXEC_FAULT;
    shadow_define(w, &p->to, lanes);
    for (uint32_t m = lanes; m; m &= m - 1) {
        int l = __builtin_ctz(m);

        access_copy(access_host(w, &p->to, l), p->data[l], (size_t)p->to.bytes);
    }
    return EXEC_OK;
}

/* Those of mask whose copy is in a group that is closed and not among the latest `under_way`. */
static uint32_t old_lanes(const struct warp *w, const struct pending *p, uint32_t mask,
                          uint32_t under_way)
{
    uint32_t lanes = 0;

    for (uint32_t m = mask & p->lanes; m; m &= m - 1) {
        int l = __builtin_ctz(m);

        if ((uint64_t)p->group[l] + under_way < w->commits[l])
            lanes |= m & -m;
    }
    return lanes;
}

static int finish(struct warp *w, uint32_t mask, int64_t under_way, bool is_waited)
{
    struct pending **at = &w->pending;

    while (*at) {
        struct pending *p = *at;
        uint32_t lanes =
            under_way < 0 ? mask & p->lanes : old_lanes(w, p, mask, (uint32_t)under_way);

        if (lanes && write_lanes(w, p, lanes, is_waited) < 0)
            return EXEC_FAULT;
        p->lanes &= ~lanes;
        if (p->lanes) {
            at = &p->next;
            continue;
        }
        *at = p->next;
        give_pending(w->cta, p);
    }
    return EXEC_OK;
}

int async_finish(struct warp *w, uint32_t lanes, bool is_waited)
{
    return w->pending ? finish(w, lanes, -1, is_waited) : EXEC_OK;
}

int exec_async_commit(struct warp *w, const struct insn *in, uint32_t mask)
{
    (void)in;
    for (uint32_t m = mask; m; m &= m - 1)
        w->commits[__builtin_ctz(m)]++;
    w->has_commits = true;
    return EXEC_OK;
}

/* in->offset: how many groups may still be under way. */
int exec_async_wait(struct warp *w, const struct insn *in, uint32_t mask)
{
    return finish(w, mask, in->option & ASYNC_ALL ? -1 : in->offset, true);
}
