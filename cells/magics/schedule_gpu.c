/*
 * %schedule device=gpu: the launch runs on a card, as blocks that take the cycles which the
 * model gave them and write where and when they were (kernels/timeline.cu).
 *
 * The SM's clock is fine and its own; the nanosecond timer is common and coarse. So durations
 * are the clock's, and the timer only says how the SMs' clocks stand to each other: read
 * together, a clock less its nanoseconds is least right after a tick, and that least value is the
 * clock's zero, the more exactly the more blocks an SM had.
 */
#include "cells/magics/schedule.h"

#include "cells/cuda_table.h"
#include "cells/images.h"
#include "cells/internal.h"
#include "cells/lesson_memory.h"
#include "kernels/launch.h"
#include "kernels/lessons.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_BLOCKS = 1 << 20, LAUNCHES = 2 /* the first one warms up */ };

struct measuring {
    struct call *call;
    const struct schedule *modelled;
    const struct image *image;
    struct lesson_memory stays, costs;
    int64_t dynamic_bytes;
    int driver_per_sm;
};

static int out_of_memory(struct err *err)
{
    return err_set(err, ERR_ResourceError, "out of memory for a timeline");
}

/* ---- the launch ---- */

static void note_cost(void *data, const struct grid_block *b)
{
    int64_t *costs = data;

    costs[b->block] = b->end - b->placed;
}

/* What each block takes, jitter included, and nothing else. */
static int fill_costs(struct measuring *m, struct err *err)
{
    struct schedule plain = *m->modelled;

    plain.grid.start = plain.grid.launch = 0;
    plain.grid.start_interval = 0;
    return schedule_visit(m->call, &plain, note_cost, m->costs.data, err);
}

/*
 * The most shared memory with which so many blocks still fit: the card then holds as many as the
 * model, whichever resource is scarce there.
 */
static int64_t shared_for(const struct device *d, int per_sm)
{
    int64_t each = d->shared_per_sm / per_sm / d->shared_unit * d->shared_unit - d->shared_reserved;
    int64_t most = d->shared_per_block_optin;

    /* The kernel's own few bytes take a unit. */
    return max_i64(min_i64(each, most) - d->shared_unit, 0);
}

static int compile(struct measuring *m, struct err *err)
{
    const struct device *d = &m->modelled->device.device;
    struct bytes source = lesson_timeline_source();
    struct session *session = m->call->session;
    char arch[24];
    char *text = arena_printf(m->call->arena, "#line 1 \"timeline.cu\"\n%.*s", (int)source.size,
                              source.data);

    image_arch(d, arch, sizeof(arch));
    if (!text)
        return out_of_memory(err);
    if (!arch[0])
        return err_set(err, ERR_DeviceError, "no code can be compiled for capability %d.%d",
                       d->cc_major, d->cc_minor);
    return image_get(cuda_images(session_cuda(session)), session_workers(session), bytes_of(text),
                     arch, false, &m->image, err);
}

static void put_buffer(struct child_message *request, const char *name,
                       const struct lesson_memory *memory, uint64_t address, uint32_t flags)
{
    struct launch_buffer row = { .address = address,
                                 .size = memory->size,
                                 .fd = (uint32_t)request->fd_count,
                                 .flags = flags,
                                 .element_bytes = 8 };
    struct launch_buffer_texts texts = { .name = name };

    request->fds[request->fd_count++] = memory->fd;
    launch_put_buffer(&request->body, &row, &texts);
}

static void put_request(struct measuring *m, struct child_message *request)
{
    const struct schedule *s = m->modelled;
    struct launch_config config = { .grid = { (unsigned)s->grid.blocks, 1, 1 },
                                    .block = { (unsigned)s->shape.block, 1, 1 },
                                    .dynamic_shared_bytes = (int32_t)m->dynamic_bytes };
    struct launch_options options = { .gpu_index = s->device.gpu_index, .is_writing = 1 };
    uint64_t stays = LESSON_FIRST_ADDRESS, costs = stays + ((uint64_t)1 << 32);

    launch_put_module(&request->body, m->image->cubin, 0);
    put_buffer(request, "stays", &m->stays, stays, 0);
    put_buffer(request, "cycles", &m->costs, costs, LAUNCH_READ_ONLY);
    launch_put_options(&request->body, &options);
    for (int i = 0; i < LAUNCHES; i++) {
        size_t begin = launch_begin(&request->body, &config, "timeline");

        launch_put_pointer(&request->body, stays);
        launch_put_pointer(&request->body, costs);
        launch_end(&request->body, begin);
    }
}

static int ask(struct measuring *m, struct err *err)
{
    struct child_message request = { .op = OP_RUN }, answer;
    struct bytes done;
    int rc;

    put_request(m, &request);
    rc = workers_ask(session_workers(m->call->session), CHILD_GPU, &request, &answer, err);
    request.fd_count = 0; /* they are still ours */
    child_message_done(&request);
    if (rc < 0)
        return -1;
    if (fields_find(child_message_body(&answer), TAG_DONE, LAUNCHES - 1, &done))
        m->driver_per_sm = (int)fields_int(done, TAG_BLOCKS_PER_SM, 0);
    child_message_done(&answer);
    return 0;
}

/* ---- from clocks to one time ---- */

struct sm_clock {
    double zero; /* the clock at nanosecond 0 */
    int64_t first, last;
    uint64_t first_ns, last_ns;
    int64_t blocks;
};

static void note_clock(struct sm_clock *sm, const struct timeline_stay *s)
{
    if (!sm->blocks++ || s->start < sm->first) {
        sm->first = s->start;
        sm->first_ns = s->start_ns;
    }
    if (sm->blocks == 1 || s->end > sm->last) {
        sm->last = s->end;
        sm->last_ns = s->end_ns;
    }
}

/* Cycles a nanosecond: all SMs together, so that the timer's steps cancel out. */
static double clock_rate(const struct sm_clock *sms)
{
    double cycles = 0, ns = 0;

    for (int i = 0; i < GRID_MAX_SMS; i++) {
        cycles += (double)(sms[i].last - sms[i].first);
        ns += (double)(sms[i].last_ns - sms[i].first_ns);
    }
    return ns > 0 ? cycles / ns : 0;
}

/* Nanoseconds count from the first one of the launch: their own size leaves a double no digits. */
static double zero_of(int64_t clock, uint64_t ns, uint64_t first_ns, double rate)
{
    return (double)clock - rate * (double)(ns - first_ns);
}

static void find_zeros(struct sm_clock *sms, const struct timeline_stay *stays, int64_t n,
                       uint64_t first_ns, double rate)
{
    for (int i = 0; i < GRID_MAX_SMS; i++)
        sms[i].zero = INFINITY;
    for (int64_t i = 0; i < n; i++) {
        struct sm_clock *sm = &sms[stays[i].sm];

        sm->zero = fmin(sm->zero, zero_of(stays[i].start, stays[i].start_ns, first_ns, rate));
        sm->zero = fmin(sm->zero, zero_of(stays[i].end, stays[i].end_ns, first_ns, rate));
    }
}

static int read_clocks(struct measuring *m, struct sm_clock *sms, double *rate, struct err *err)
{
    const struct timeline_stay *stays = m->stays.data;
    int64_t n = m->modelled->grid.blocks;
    uint64_t first_ns = UINT64_MAX;

    for (int64_t i = 0; i < n; i++) {
        if (stays[i].sm >= GRID_MAX_SMS || stays[i].end <= stays[i].start)
            return err_set(err, ERR_DeviceError,
                           "block %lld wrote no time that can be: SM %u, %lld to %lld",
                           (long long)i, stays[i].sm, (long long)stays[i].start,
                           (long long)stays[i].end);
        note_clock(&sms[stays[i].sm], &stays[i]);
        first_ns = stays[i].start_ns < first_ns ? stays[i].start_ns : first_ns;
    }
    *rate = clock_rate(sms);
    if (*rate <= 0)
        return err_set(err, ERR_DeviceError,
                       "the card's nanosecond timer did not move: take "
                       "cost=10000 and more");
    find_zeros(sms, stays, n, first_ns, *rate);
    return 0;
}

/* ---- blocks with places ---- */

static int by_sm_and_start(const void *a, const void *b)
{
    const struct grid_block *x = a, *y = b;

    if (x->sm != y->sm)
        return x->sm < y->sm ? -1 : 1;
    if (x->placed != y->placed)
        return x->placed < y->placed ? -1 : 1;
    return (x->block > y->block) - (x->block < y->block);
}

static int by_block(const void *a, const void *b)
{
    const struct grid_block *x = a, *y = b;

    return (x->block > y->block) - (x->block < y->block);
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/*
 * A block takes the place that became free last before it starts: the one that it replaces. The
 * card says nothing of places; an SM's are numbered as they are needed.
 */
static int take_place(const int64_t *ends, int *count, int64_t start)
{
    int best = -1;

    for (int i = 0; i < *count; i++)
        if (ends[i] <= start && (best < 0 || ends[i] > ends[best]))
            best = i;
    return best >= 0 || *count == GRID_MAX_PER_SM ? best : (*count)++;
}

/* What comes out while blocks get places. */
struct placing {
    int64_t *gaps; /* before each block that took another one's place */
    int64_t gap_count;
    int64_t first_idle; /* the earliest end after which a place stayed empty */
    int most;           /* places of one SM */
};

static void end_sm(struct placing *p, const int64_t *ends, int count)
{
    for (int i = 0; i < count; i++)
        p->first_idle = min_i64(p->first_idle, ends[i]);
    p->most = count > p->most ? count : p->most;
}

/* Blocks are sorted by SM and start. */
static int place_blocks(struct grid_block *blocks, int64_t n, struct placing *p, struct err *err)
{
    int64_t ends[GRID_MAX_PER_SM];
    int count = 0;

    p->first_idle = INT64_MAX;
    for (int64_t i = 0; i < n; i++) {
        struct grid_block *b = &blocks[i];
        int before;

        if (i > 0 && b->sm != blocks[i - 1].sm) {
            end_sm(p, ends, count);
            count = 0;
        }
        before = count;
        b->slot = take_place(ends, &count, b->placed);
        if (b->slot < 0)
            return err_set(err, ERR_DeviceError, "SM %d ran more than %d blocks at once", b->sm,
                           GRID_MAX_PER_SM);
        if (count == before)
            p->gaps[p->gap_count++] = b->placed - ends[b->slot];
        ends[b->slot] = b->end;
    }
    end_sm(p, ends, count);
    return 0;
}

/* Cycles in which an SM held a block; blocks are sorted by SM and start. */
static int64_t covered_cycles(const struct grid_block *blocks, int64_t n, int *sms_used)
{
    int64_t sum = 0, until = 0;

    *sms_used = 0;
    for (int64_t i = 0; i < n; i++) {
        if (i == 0 || blocks[i].sm != blocks[i - 1].sm) {
            until = blocks[i].placed;
            ++*sms_used;
        }
        if (blocks[i].end > until) {
            sum += blocks[i].end - max_i64(until, blocks[i].placed);
            until = blocks[i].end;
        }
    }
    return sum;
}

static void sum_up(struct schedule *s, const struct grid_block *blocks, int64_t first_idle)
{
    int64_t n = s->grid.blocks;

    s->run = (struct grid_run){ 0 };
    for (int64_t i = 0; i < n; i++) {
        s->run.cycles = max_i64(s->run.cycles, blocks[i].end);
        s->run.work += blocks[i].end - blocks[i].placed;
    }
    s->run.tail = s->run.cycles - (n < s->waves.places ? 0 : first_idle);
    s->run.sm_cycles = covered_cycles(blocks, n, &s->measured.sms_used);
    s->run.efficiency = (double)s->run.work / ((double)s->run.cycles * (double)s->waves.places);
    s->run.sm_busy = (double)s->run.sm_cycles / ((double)s->run.cycles * s->grid.sms);
}

static int sort_and_place(struct schedule *s, struct grid_block *blocks, struct arena *arena,
                          struct err *err)
{
    int64_t n = s->grid.blocks;
    struct placing p = { .gaps = arena_array(arena, (size_t)n, sizeof(*p.gaps)) };

    if (!p.gaps)
        return out_of_memory(err);
    qsort(blocks, (size_t)n, sizeof(*blocks), by_sm_and_start);
    if (place_blocks(blocks, n, &p, err) < 0)
        return -1;
    s->grid.sms = blocks[n - 1].sm >= s->grid.sms ? blocks[n - 1].sm + 1 : s->grid.sms;
    s->grid.per_sm = p.most > s->grid.per_sm ? p.most : s->grid.per_sm;
    s->grid.start = s->grid.launch = 0; /* a stay begins with the block's first cycle */
    s->waves = grid_waves_of(&s->grid);
    sum_up(s, blocks, p.first_idle);
    qsort(p.gaps, (size_t)p.gap_count, sizeof(*p.gaps), by_value);
    s->measured.replace_cycles = p.gap_count ? p.gaps[p.gap_count / 2] : -1;
    qsort(blocks, (size_t)n, sizeof(*blocks), by_block);
    s->stays = blocks;
    return 0;
}

/* ---- what the card wrote ---- */

/* Each block's stay in cycles from the first start. */
static struct grid_block *make_blocks(struct measuring *m, const struct sm_clock *sms)
{
    const struct timeline_stay *stays = m->stays.data;
    int64_t n = m->modelled->grid.blocks;
    struct grid_block *blocks = arena_array(m->call->arena, (size_t)n, sizeof(*blocks));
    double first = INFINITY;

    for (int64_t i = 0; blocks && i < n; i++)
        first = fmin(first, (double)stays[i].start - sms[stays[i].sm].zero);
    for (int64_t i = 0; blocks && i < n; i++) {
        double start = (double)stays[i].start - sms[stays[i].sm].zero - first;

        blocks[i] = (struct grid_block){ .block = i,
                                         .sm = (int)stays[i].sm,
                                         .placed = (int64_t)(start + 0.5) };
        blocks[i].end = blocks[i].placed + (stays[i].end - stays[i].start);
    }
    return blocks;
}

static int read_stays(struct measuring *m, struct schedule *out, struct err *err)
{
    const struct timeline_stay *stays = m->stays.data;
    struct sm_clock *sms = arena_array(m->call->arena, GRID_MAX_SMS, sizeof(*sms));
    struct grid_block *blocks;
    double rate = 0;

    if (!sms)
        return out_of_memory(err);
    if (read_clocks(m, sms, &rate, err) < 0)
        return -1;
    blocks = make_blocks(m, sms);
    if (!blocks)
        return out_of_memory(err);
    if (sort_and_place(out, blocks, m->call->arena, err) < 0)
        return -1;
    out->measured.clock_mhz = 1000 * rate;
    out->measured.time_us = (double)out->run.cycles / (1000 * rate);
    for (int64_t i = 0; i < m->modelled->grid.blocks; i++)
        out->measured.strangers += stays[i].strangers;
    return 0;
}

/* ---- the model's blocks, as the card's see themselves ---- */

struct seen {
    struct grid_block *blocks;
    const int64_t *costs;
};

/* A block sees its own cycles alone, and not what its start took. */
static void note_seen(void *data, const struct grid_block *b)
{
    struct seen *seen = data;

    seen->blocks[b->block] = *b;
    seen->blocks[b->block].placed = b->end - seen->costs[b->block];
}

static int see_model(struct measuring *m, struct schedule *out, struct err *err)
{
    int64_t n = m->modelled->grid.blocks, first = INT64_MAX;
    struct seen seen = { arena_array(m->call->arena, (size_t)n, sizeof(*seen.blocks)),
                         m->costs.data };

    if (!seen.blocks)
        return out_of_memory(err);
    if (schedule_visit(m->call, m->modelled, note_seen, &seen, err) < 0)
        return -1;
    for (int64_t i = 0; i < n; i++)
        first = min_i64(first, seen.blocks[i].placed);
    for (int64_t i = 0; i < n; i++) {
        seen.blocks[i].placed -= first;
        seen.blocks[i].end -= first;
    }
    return sort_and_place(out, seen.blocks, m->call->arena, err);
}

/* ---- all of it ---- */

static int check(const struct schedule *s, struct err *err)
{
    if (s->grid.blocks > MOST_BLOCKS) {
        err_set(err, ERR_ValueError, "grid=%lld: a card's timeline has 1 to %d blocks",
                (long long)s->grid.blocks, MOST_BLOCKS);
        return err_next(err, "without device=gpu the model takes %d", GRID_MAX_BLOCKS);
    }
    if (s->grid.sms != s->device.device.sms) {
        err_set(err, ERR_ValueError, "sms=%d: a card runs blocks on all of its %d SMs", s->grid.sms,
                s->device.device.sms);
        return err_next(err, "leave sms= out, or device=gpu: the model takes any number");
    }
    return 0;
}

static int run(struct measuring *m, struct schedule *measured, struct schedule *modelled,
               struct err *err)
{
    size_t n = (size_t)m->modelled->grid.blocks;

    if (lesson_memory_init(&m->stays, "stays", n * sizeof(struct timeline_stay), err) < 0 ||
        lesson_memory_init(&m->costs, "cycles", n * sizeof(int64_t), err) < 0)
        return -1;
    if (fill_costs(m, err) < 0 || compile(m, err) < 0 || ask(m, err) < 0)
        return -1;
    if (m->driver_per_sm != m->modelled->grid.per_sm) {
        err_set(err, ERR_LaunchError, "the card holds %d of these blocks on an SM, and not %d",
                m->driver_per_sm, m->modelled->grid.per_sm);
        return err_next(err, "blocks of %d threads: take fewer on an SM", m->modelled->shape.block);
    }
    return read_stays(m, measured, err) < 0 ? -1 : see_model(m, modelled, err);
}

int schedule_measure(struct call *call, const struct schedule *plan, struct schedule *measured,
                     struct schedule *modelled, struct err *err)
{
    struct measuring m = {
        .call = call, .modelled = plan, .stays = { .fd = -1 }, .costs = { .fd = -1 }
    };
    int rc;

    if (check(plan, err) < 0)
        return -1;
    *measured = *modelled = *plan;
    m.dynamic_bytes = shared_for(&plan->device.device, plan->grid.per_sm);
    rc = run(&m, measured, modelled, err);
    lesson_memory_done(&m.stays);
    lesson_memory_done(&m.costs);
    return rc;
}
