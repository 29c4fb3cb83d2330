/*
 * Time moves from one event to the next: a block ends, or the block scheduler
 * is free for the next start. SMs with equally much room are a set of bits, so
 * that the one with most room and the lowest id is found without a search.
 */
#include "model/grid.h"

#include "model/base/philox.h"
#include "model/costs.h"
#include "model/server.h"

enum {
    WORDS = GRID_MAX_SMS / 64,
    STOP_EVERY = 4096, /* blocks */
};

/* A place that is taken until `end`. */
struct taken {
    int64_t end;
    int sm, slot;
};

struct state {
    const struct grid *grid;
    struct taken *heap; /* the earliest end first */
    size_t taken;
    uint64_t room[GRID_MAX_PER_SM + 1][WORDS]; /* SMs with so many free places */
    int with_room[GRID_MAX_PER_SM + 1];        /* how many these are */
    int free[GRID_MAX_SMS];
    uint64_t slots[GRID_MAX_SMS];     /* free places of an SM */
    int64_t busy_since[GRID_MAX_SMS]; /* while it holds a block */
    struct server starter;            /* of blocks, one after the other */
    struct grid_run out;
};

/* ---- the earliest end ---- */

static void heap_put(struct state *s, struct taken t)
{
    size_t i = s->taken++;

    for (; i && s->heap[(i - 1) / 2].end > t.end; i = (i - 1) / 2)
        s->heap[i] = s->heap[(i - 1) / 2];
    s->heap[i] = t;
}

static struct taken heap_take(struct state *s)
{
    struct taken first = s->heap[0], last = s->heap[--s->taken];
    size_t i = 0, child;

    for (; (child = 2 * i + 1) < s->taken; i = child) {
        child += child + 1 < s->taken && s->heap[child + 1].end < s->heap[child].end;
        if (s->heap[child].end >= last.end)
            break;
        s->heap[i] = s->heap[child];
    }
    s->heap[i] = last;
    return first;
}

/* ---- room ---- */

static void set_room(struct state *s, int sm, int room)
{
    s->room[s->free[sm]][sm / 64] &= ~(1ULL << sm % 64);
    s->with_room[s->free[sm]]--;
    s->free[sm] = room;
    s->room[room][sm / 64] |= 1ULL << sm % 64;
    s->with_room[room]++;
}

/* The SM with most room, the lowest id of several; -1: all are full. */
static int find_sm(const struct state *s)
{
    for (int room = s->grid->per_sm; room > 0; room--)
        if (s->with_room[room])
            for (int w = 0; w < WORDS; w++)
                if (s->room[room][w])
                    return w * 64 + __builtin_ctzll(s->room[room][w]);
    return -1;
}

static void release_first(struct state *s)
{
    struct taken t = heap_take(s);

    s->slots[t.sm] |= 1ULL << t.slot;
    set_room(s, t.sm, s->free[t.sm] + 1);
    if (s->free[t.sm] == s->grid->per_sm)
        s->out.sm_cycles += t.end - s->busy_since[t.sm];
}

static void release_until(struct state *s, int64_t cycle)
{
    while (s->taken && s->heap[0].end <= cycle)
        release_first(s);
}

/* ---- blocks ---- */

static int64_t cost_of(const struct grid *g, int64_t block)
{
    int64_t cost = g->costs ? g->costs[block] : g->cost;

    if (g->jitter)
        cost += philox_below(philox_at(g->seed, (uint64_t)block, 0).word[0], (uint32_t)g->jitter);
    return cost;
}

static void place(struct state *s, int64_t block, grid_visit *visit, void *data)
{
    const struct grid *g = s->grid;
    /* Rounded down: a start that ends within a cycle leaves the rest of it to the next one. */
    int64_t at = max_i64(g->launch, s->starter.free_at / SERVER_FINE);
    int64_t cost = cost_of(g, block);
    struct grid_block b = { .block = block };

    release_until(s, at);
    if (s->taken == (size_t)g->sms * (size_t)g->per_sm) {
        at = s->heap[0].end;
        release_until(s, at);
    }
    b.sm = find_sm(s);
    b.slot = __builtin_ctzll(s->slots[b.sm]);
    b.placed = server_take(&s->starter, at, g->start_interval, 100);
    b.end = b.placed + g->start + cost;
    if (s->free[b.sm] == g->per_sm)
        s->busy_since[b.sm] = b.placed;
    s->slots[b.sm] &= s->slots[b.sm] - 1;
    set_room(s, b.sm, s->free[b.sm] - 1);
    heap_put(s, (struct taken){ b.end, b.sm, b.slot });
    s->out.work += cost;
    s->out.cycles = max_i64(s->out.cycles, b.end);
    s->out.resident_most = max_i64(s->out.resident_most, (int64_t)s->taken);
    if (visit)
        visit(data, &b);
    if (block + 1 == g->blocks)
        s->out.tail = find_sm(s) >= 0 ? b.placed : s->heap[0].end;
}

/* ---- the whole ---- */

static int check(const struct grid *g, struct err *err)
{
    const struct {
        const char *name, *of;
        int64_t value, min, max;
    } limits[] = {
        { "blocks", "a grid here", g->blocks, 1, GRID_MAX_BLOCKS },
        { "sms", "a device", g->sms, 1, GRID_MAX_SMS },
        { "per_sm", "an SM", g->per_sm, 1, GRID_MAX_PER_SM },
        { "cost", "a block", g->costs ? 1 : g->cost, 1, GRID_MAX_CYCLES },
        { "jitter", "a block", g->jitter, 0, GRID_MAX_CYCLES },
        { "launch", "a launch", g->launch, 0, GRID_MAX_CYCLES },
        { "start", "a start", g->start, 0, GRID_MAX_CYCLES },
        { "start_interval", "a start", g->start_interval, 0, 1000000 },
    };

    for (size_t i = 0; i < COUNT(limits); i++)
        if (limits[i].value < limits[i].min || limits[i].value > limits[i].max)
            return err_set(err, ERR_ValueError, "%s=%lld: %s has %lld to %lld", limits[i].name,
                           (long long)limits[i].value, limits[i].of, (long long)limits[i].min,
                           (long long)limits[i].max);
    for (int64_t i = 0; g->costs && i < g->blocks; i++)
        if (g->costs[i] < 1 || g->costs[i] > GRID_MAX_CYCLES)
            return err_set(err, ERR_ValueError, "block %lld costs %lld cycles: a block has 1 to %d",
                           (long long)i, (long long)g->costs[i], GRID_MAX_CYCLES);
    return 0;
}

static void empty_device(struct state *s)
{
    const struct grid *g = s->grid;
    uint64_t all = g->per_sm == 64 ? UINT64_MAX : (1ULL << g->per_sm) - 1;

    for (int sm = 0; sm < g->sms; sm++) {
        s->free[sm] = g->per_sm;
        s->slots[sm] = all;
        s->room[g->per_sm][sm / 64] |= 1ULL << sm % 64;
    }
    s->with_room[g->per_sm] = g->sms;
}

int grid_run(const struct grid *grid, grid_visit *visit, void *data, struct arena *arena,
             const atomic_bool *stop, struct grid_run *out, struct err *err)
{
    struct state *s;
    double places;

    if (check(grid, err) < 0)
        return -1;
    s = arena_alloc(arena, sizeof(*s));
    if (s)
        s->heap = arena_array(arena, (size_t)grid->sms * (size_t)grid->per_sm, sizeof(*s->heap));
    if (!s || !s->heap)
        return err_set(err, ERR_ResourceError, "out of memory");
    s->grid = grid;
    empty_device(s);
    for (int64_t block = 0; block < grid->blocks; block++) {
        if (block % STOP_EVERY == 0 && stop && atomic_load(stop))
            return err_set(err, ERR_Interrupted, "interrupted at block %lld of %lld",
                           (long long)block, (long long)grid->blocks);
        place(s, block, visit, data);
    }
    release_until(s, INT64_MAX);
    s->out.tail = s->out.cycles - s->out.tail;
    places = (double)s->out.cycles * grid->sms;
    s->out.sm_busy = (double)s->out.sm_cycles / places;
    s->out.efficiency = (double)s->out.work / (places * grid->per_sm);
    *out = s->out;
    return 0;
}

struct grid_waves grid_waves_of(const struct grid *grid)
{
    struct grid_waves w = { .places = (int64_t)grid->sms * grid->per_sm };

    w.waves = (double)grid->blocks / (double)w.places;
    w.full = grid->blocks / w.places;
    w.partial = grid->blocks % w.places;
    w.efficiency = (double)grid->blocks / (double)(ceil_div(grid->blocks, w.places) * w.places);
    w.tail_share = w.partial ? 1.0 / (1.0 + (double)w.full) : 0;
    w.has_tail = w.full >= 1 && w.tail_share >= 0.2;
    return w;
}

bool grid_add_overheads(const struct device *device, struct grid *grid)
{
    const struct costs *costs = costs_of(device);

    grid->start = costs->block_start_cycles;
    grid->start_interval = costs->block_start_percent;
    grid->launch = (int64_t)costs->launch_ns * device->clock_mhz / 1000;
    return device->clock_mhz > 0;
}
