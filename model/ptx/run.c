/*
 * A launch: check its shape, lay out memory, run the blocks on host threads, and
 * add up what was counted.
 *
 * Host threads take blocks in order, some at a time, from a common counter, and
 * note what they read and wrote (footprint.c). Where that shows that the order
 * could matter, or something failed, all is undone and the blocks run in order on
 * one thread, as do those of kernels that ask for an order (order.c).
 */
#include "model/memory.h"
#include "model/ptx/footprint.h"
#include "model/ptx/heap.h"
#include "model/ptx/print.h"
#include "model/ptx/system.h"
#include "model/ptx/shadow.h"

#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

enum {
    MAX_HOST_THREADS = 64,
    DEFAULT_REGISTERS = 32,
    DEFAULT_STACK = 1024, /* bytes of a thread, as cudaLimitStackSize */
    MAX_BATCH = 64,       /* blocks that a host thread takes at a time */
    BATCHES = 16,         /* that each should get, to share the work evenly */
    SMALL_LAUNCH = 20000, /* warp instructions that are not worth a second host thread */
    LOOP_WEIGHT = 32,     /* what a loop's code counts for in that */
    MAX_TRACED = 1024,    /* blocks whose warps are kept for the timing model */
};

#define DEFAULT_MEMORY_LIMIT ((size_t)1 << 30)
#define DEFAULT_BUDGET       ((int64_t)1 << 32)
#define MAX_GRID_X           INT32_MAX
#define MAX_GRID_YZ          65535

/* ---- Checks before anything runs ------------------------------------------------------------ */

static int check_axis(struct err *err, const char *what, unsigned n, unsigned most)
{
    if (n >= 1 && n <= most)
        return 0;
    return err_set(err, ERR_LaunchError, "%s=%u: it is 1 to %u", what, n, most);
}

static int check_shape(const struct ptx_launch *l, struct err *err)
{
    uint64_t threads;

    if (check_axis(err, "grid x", l->grid.x, MAX_GRID_X) < 0 ||
        check_axis(err, "grid y", l->grid.y, MAX_GRID_YZ) < 0 ||
        check_axis(err, "grid z", l->grid.z, MAX_GRID_YZ) < 0 ||
        check_axis(err, "block x", l->block.x, 1024) < 0 ||
        check_axis(err, "block y", l->block.y, 1024) < 0 ||
        check_axis(err, "block z", l->block.z, 64) < 0)
        return -1;
    threads = (uint64_t)l->block.x * l->block.y * l->block.z;
    if (threads > 1024)
        return err_set(err, ERR_LaunchError, "block=%" PRIu64 ": a block has 1 to 1024 threads",
                       threads);
    if (l->kernel->max_threads && threads > (uint64_t)l->kernel->max_threads)
        return err_set(err, ERR_LaunchError,
                       "block=%" PRIu64 ": __launch_bounds__ of %s allows %d threads", threads,
                       l->kernel->name, l->kernel->max_threads);
    return 0;
}

static int check_shared(const struct ptx_launch *l, struct err *err)
{
    int64_t most =
        l->device->shared_per_block_optin > 0 ? l->device->shared_per_block_optin : 49152;
    int64_t total = (int64_t)l->kernel->static_shared_bytes + l->dynamic_shared_bytes;

    if (l->dynamic_shared_bytes < 0 || total > most)
        return err_set(err, ERR_LaunchError,
                       "shared=%" PRId64 " bytes: %s gives a block at most %" PRId64, total,
                       l->device->name, most);
    return 0;
}

static int check_launch(const struct ptx_module *m, const struct ptx_launch *l, struct err *err)
{
    if (!l->kernel || l->kernel < m->kernels || l->kernel >= m->kernels + m->kernel_count)
        return err_set(err, ERR_LaunchError, "the kernel is not of this module");
    if (!l->device)
        return err_set(err, ERR_LaunchError, "the launch names no device");
    if (l->kernel->parameter_bytes && !l->parameters)
        return err_set(err, ERR_LaunchError, "%s takes %d bytes of parameters and got none",
                       l->kernel->name, l->kernel->parameter_bytes);
    if (check_shape(l, err) < 0)
        return -1;
    return check_shared(l, err);
}

/* ---- Memory --------------------------------------------------------------------------------- */

static int compare_regions(const void *a, const void *b)
{
    const struct region *x = a, *y = b;

    return x->start < y->start ? -1 : x->start > y->start;
}

static int add_variables(struct run *run, struct arena *arena, struct err *err)
{
    const struct ptx_module *m = run->module;

    for (size_t i = 0; i < m->variable_count; i++) {
        const struct ptx_variable *v = &m->variables[i];
        const struct ptx_buffer *own = run->launch->variables ? &run->launch->variables[i] : NULL;
        uint8_t *data = own ? own->data : arena_alloc(arena, v->size + 1);

        if (!data || (own && own->size < v->size))
            return err_set(err, ERR_ResourceError, "no memory for variable %s of %zu bytes",
                           v->name, v->size);
        if (!own && v->size)
            memcpy(data, v->initial, v->size);
        run->regions[run->region_count++] = (struct region){ .start = v->address,
                                                             .end = v->address + v->size,
                                                             .data = data,
                                                             .is_read_only = v->is_constant,
                                                             .buffer = -1,
                                                             .name = v->name };
    }
    return 0;
}

static int map_memory(struct run *run, struct arena *arena, struct err *err)
{
    const struct ptx_launch *l = run->launch;
    size_t most = l->buffer_count + run->module->variable_count;

    run->regions = arena_array(arena, most, sizeof *run->regions);
    if (!run->regions)
        return err_set(err, ERR_ResourceError, "no memory for the list of %zu buffers", most);
    for (size_t i = 0; i < l->buffer_count; i++) {
        const struct ptx_buffer *b = &l->buffers[i];

        run->regions[run->region_count++] = (struct region){ .start = b->address,
                                                             .end = b->address + b->size,
                                                             .data = b->data,
                                                             .defined = b->defined,
                                                             .is_read_only = b->is_read_only,
                                                             .is_freed = b->freed != NULL,
                                                             .buffer = (int)i,
                                                             .name = b->name };
    }
    if (add_variables(run, arena, err) < 0)
        return -1;
    qsort(run->regions, (size_t)run->region_count, sizeof *run->regions, compare_regions);
    for (int i = 1; i < run->region_count; i++)
        if (run->regions[i].start < run->regions[i - 1].end)
            return err_set(err, ERR_LaunchError, "two buffers overlap at address 0x%" PRIx64,
                           run->regions[i].start);
    return 0;
}

static void shape_run(struct run *run, const struct ptx_launch *l)
{
    int threads = (int)(l->block.x * l->block.y * l->block.z);
    uint64_t shared = (uint64_t)l->kernel->static_shared_bytes;

    run->threads_per_block = threads;
    run->warps_per_block = (int)ceil_div(threads, WARP);
    if (l->dynamic_shared_bytes)
        shared = (uint64_t)run->module->dynamic_shared_base + (uint64_t)l->dynamic_shared_bytes;
    run->shared_bytes = (uint32_t)shared;
    run->stack_bytes =
        (uint32_t)round_up(max_i64(l->kernel->local_bytes,
                                   l->stack_bytes ? (int64_t)l->stack_bytes : DEFAULT_STACK),
                           16);
    run->thread_budget =
        l->max_thread_instructions > 0 ? l->max_thread_instructions : DEFAULT_BUDGET;
}

/* ---- Host threads --------------------------------------------------------------------------- */

/* What the host threads of a launch share. */
struct team {
    const struct run *run;
    int64_t blocks;     /* of the grid */
    int64_t executed;   /* of these, when sampled */
    int64_t traced;     /* of those, for the timing model */
    int *trace_classes; /* by traced block: class in the classes of who ran it */
    uint8_t *trace_owners;
    struct print_queue printed;
    int64_t batch;       /* places that a host thread takes at a time */
    atomic_llong next;   /* place in the order of executed blocks */
    atomic_llong failed; /* lowest place that failed */
};

struct worker {
    struct team *team;
    struct cta cta;
    struct classes classes;
    struct ptx_fault fault;
    struct err err;
    int64_t failed_at;
    int64_t done; /* blocks */
    int index;
    pthread_t thread;
    bool is_started;
};

/* The n-th of `some` blocks spread evenly over `all`. */
static int64_t spread(int64_t n, int64_t some, int64_t all)
{
    return some >= all ? n : (int64_t)((__int128)n * all / some);
}

static struct ptx_dim block_index(const struct ptx_dim *grid, int64_t linear)
{
    return (struct ptx_dim){ (unsigned)(linear % grid->x), (unsigned)(linear / grid->x % grid->y),
                             (unsigned)(linear / grid->x / grid->y) };
}

/* The place among the traced blocks when place n is one of them, else -1. */
static int64_t traced_place(const struct team *team, int64_t n)
{
    int64_t k;

    if (!team->traced)
        return -1;
    k = (int64_t)(((__int128)n * team->traced + team->executed - 1) / team->executed);
    return k < team->traced && spread(k, team->traced, team->executed) == n ? k : -1;
}

static void set_tracing(struct worker *w, bool is_traced, struct trace **traces)
{
    for (int i = 0; i < w->cta.run->warps_per_block; i++) {
        w->cta.warps[i].trace = is_traced ? traces[i] : NULL;
        if (is_traced)
            trace_restart(traces[i]);
    }
}

static int run_block(struct worker *w, int64_t place, struct trace **traces)
{
    struct team *team = w->team;
    int64_t linear = spread(place, team->executed, team->blocks);
    int64_t traced = traced_place(team, place);

    w->cta.linear = linear;
    w->cta.index = block_index(&team->run->launch->grid, linear);
    if (w->cta.footprint)
        footprint_block(w->cta.footprint, place);
    set_tracing(w, traced >= 0, traces);
    if (simt_run_block(&w->cta, &w->err) < 0) {
        if (!w->cta.footprint)
            (void)print_place(&team->printed, place, &w->cta.printed, true);
        return -1;
    }
    /* Kernels that print run in order, so that nothing is printed that is undone later. */
    if (!w->cta.footprint && print_place(&team->printed, place, &w->cta.printed, false) < 0)
        return err_set(&w->err, ERR_ResourceError, "no memory for what the kernel prints");
    if (traced >= 0) {
        team->trace_classes[traced] = classes_add_block(&w->classes, &w->cta);
        team->trace_owners[traced] = (uint8_t)w->index;
    }
    w->done++;
    if (team->run->launch->progress)
        atomic_fetch_add(team->run->launch->progress, 1);
    return 0;
}

static void note_failure(struct worker *w, int64_t place)
{
    long long lowest = atomic_load(&w->team->failed);

    w->failed_at = place;
    while (place < lowest && !atomic_compare_exchange_weak(&w->team->failed, &lowest, place))
        ;
}

static int make_worker_state(struct worker *w, struct trace **traces)
{
    const struct run *run = w->team->run;
    const struct ptx_module *m = run->module;
    struct cta *cta = &w->cta;

    cta->run = run;
    cta->fault = &w->fault;
    cta->shared = arena_alloc(cta->arena, run->shared_bytes + 16U);
    cta->warps = arena_array(cta->arena, (size_t)run->warps_per_block, sizeof *cta->warps);
    cta->counts.block_runs =
        arena_array(cta->arena, (size_t)m->block_count, sizeof *cta->counts.block_runs);
    cta->counts.block_lanes =
        arena_array(cta->arena, (size_t)m->block_count, sizeof *cta->counts.block_lanes);
    cta->counts.branch_splits =
        arena_array(cta->arena, (size_t)m->block_count, sizeof *cta->counts.branch_splits);
    cta->counts.accesses =
        arena_array(cta->arena, (size_t)m->counter_count, sizeof *cta->counts.accesses);
    cta->patterns = arena_array(cta->arena, (size_t)m->counter_count, sizeof *cta->patterns);
    if (!cta->patterns || !cta->shared || !cta->warps || !cta->counts.block_runs ||
        !cta->counts.block_lanes || !cta->counts.branch_splits || !cta->counts.accesses)
        return -1;
    for (int i = 0; i < run->warps_per_block; i++) {
        struct warp *warp = &cta->warps[i];

        warp->cta = cta;
        warp->index = i;
        warp->free_frames =
            arena_array(cta->arena, (size_t)m->ast.function_count, sizeof *warp->free_frames);
        warp->local = arena_alloc(cta->arena, (size_t)WARP * run->stack_bytes);
        traces[i] = w->team->traced ? trace_new(cta->arena, m) : NULL;
        if (!warp->free_frames || !warp->local || (w->team->traced && !traces[i]))
            return -1;
    }
    return shadow_new(cta);
}

static void *work(void *context)
{
    struct worker *w = context;
    struct team *team = w->team;
    struct trace *traces[MAX_WARPS];

    if (make_worker_state(w, traces) < 0) {
        err_set(&w->err, ERR_ResourceError, "a block's state does not fit into the memory limit");
        note_failure(w, 0);
        return NULL;
    }
    for (;;) {
        int64_t place = atomic_fetch_add(&team->next, team->batch);
        int64_t end = min_i64(place + team->batch, team->executed);

        if (place >= team->executed)
            return NULL;
        for (; place < end; place++) {
            if (place > atomic_load_explicit(&team->failed, memory_order_relaxed))
                return NULL;
            if (run_block(w, place, traces) < 0) {
                note_failure(w, place);
                return NULL;
            }
        }
    }
}

static void run_team(struct worker *workers, int n)
{
    for (int i = 1; i < n; i++)
        workers[i].is_started = pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0;
    work(&workers[0]);
    for (int i = 1; i < n; i++)
        if (workers[i].is_started)
            pthread_join(workers[i].thread, NULL);
}

/* ---- Facts ---------------------------------------------------------------------------------- */

static void add_counts(struct counts *to, const struct counts *from, const struct ptx_module *m)
{
    for (int i = 0; i < m->block_count; i++) {
        to->block_runs[i] += from->block_runs[i];
        to->block_lanes[i] += from->block_lanes[i];
        to->branch_splits[i] += from->branch_splits[i];
    }
    for (int i = 0; i < m->counter_count; i++) {
        struct access_counts *a = &to->accesses[i];
        const struct access_counts *b = &from->accesses[i];

        a->requests += b->requests;
        a->sectors += b->sectors;
        a->passes += b->passes;
        a->best += b->best;
        a->bytes += b->bytes;
        a->space_seen |= b->space_seen;
    }
    to->barriers += from->barriers;
}

/* Counts of a sample stand for the grid. */
static int64_t scaled(int64_t v, const struct team *team)
{
    return team->executed == team->blocks ? v
                                          : (int64_t)((__int128)v * team->blocks / team->executed);
}

static void add_access(struct ptx_access_facts *to, const struct access_counts *c,
                       const struct team *team)
{
    to->requests += scaled(c->requests, team);
    to->sectors += scaled(c->sectors, team);
    to->passes += scaled(c->passes, team);
    to->bytes += scaled(c->bytes, team);
}

static void count_memory(struct ptx_facts *facts, struct ptx_line_facts *lines,
                         const struct counts *counts, const struct team *team)
{
    const struct ptx_module *m = team->run->module;

    for (int i = 0; i < m->counter_count; i++) {
        const struct access_counts *c = &counts->accesses[i];
        const struct insn *in = m->counted[i];
        bool is_shared = c->space_seen & 1U << SPACE_SHARED;
        bool is_local = c->space_seen & 1U << SPACE_LOCAL;

        if (!c->requests)
            continue;
        add_access(is_shared                 ? &facts->shared
                   : is_local                ? &facts->local
                   : in->flags & INSN_WRITES ? &facts->global_store
                                             : &facts->global_load,
                   c, team);
        if (is_shared)
            facts->shared_conflicts += scaled(c->passes - c->best, team);
        if (in->flags & INSN_ATOMIC)
            facts->atom += scaled(c->requests, team);
        if (!is_local)
            add_access(is_shared ? &lines[in->line].shared : &lines[in->line].global, c, team);
    }
}

static void count_insn(struct ptx_facts *facts, struct ptx_line_facts *lines, const struct insn *in,
                       int64_t runs, int64_t lanes)
{
    lines[in->line].warp_instructions += runs;
    lines[in->line].thread_instructions += lanes;
    facts->shfl += in->full == exec_shfl ? runs : 0;
    facts->vote += in->full == exec_vote ? runs : 0;
    facts->calls += in->control == CONTROL_CALL ? runs : 0;
}

static void count_blocks(struct ptx_facts *facts, struct ptx_line_facts *lines,
                         const struct counts *counts, const struct team *team)
{
    const struct ptx_module *m = team->run->module;

    for (int id = 0; id < m->block_count; id++) {
        const struct block *b = m->blocks[id];
        int64_t runs = scaled(counts->block_runs[id], team);
        int64_t lanes = scaled(counts->block_lanes[id], team);
        int64_t splits = scaled(counts->branch_splits[id], team);

        if (!runs)
            continue;
        facts->warp_instructions += runs * b->insn_count;
        facts->thread_instructions += lanes * b->insn_count;
        for (const struct insn *in = b->first; in != b->end; in++)
            count_insn(facts, lines, in, runs, lanes);
        if (!b->control)
            continue;
        count_insn(facts, lines, b->control, runs, lanes);
        if (b->kind != END_BRANCH || b->control->guard_kind == GUARD_NONE)
            continue;
        facts->branches += runs;
        facts->divergent_branches += splits;
        lines[b->control->line].branches += runs;
        lines[b->control->line].divergent_branches += splits;
    }
}

static int compare_lines(const void *a, const void *b)
{
    const struct ptx_line_facts *x = a, *y = b;
    int by_file = strcmp(x->file, y->file);

    return by_file ? by_file : x->line - y->line;
}

static int collect(struct ptx_facts *facts, const struct team *team, const struct counts *counts,
                   struct arena *arena, struct err *err)
{
    const struct ptx_module *m = team->run->module;
    struct ptx_line_facts *lines = arena_array(arena, (size_t)m->line_count, sizeof *lines);
    size_t n = 0;

    if (!lines)
        return err_set(err, ERR_ResourceError, "out of memory while the launch was counted");
    for (int i = 0; i < m->line_count; i++) {
        const char *file =
            m->lines[i].file < m->ast.file_count ? m->ast.files[m->lines[i].file] : NULL;

        lines[i].file = file && m->lines[i].line ? file : "";
        lines[i].line = m->lines[i].line;
    }
    facts->blocks = team->blocks;
    facts->warps = team->blocks * team->run->warps_per_block;
    facts->threads = team->blocks * team->run->threads_per_block;
    facts->is_sampled = team->executed != team->blocks;
    facts->barriers = scaled(counts->barriers, team);
    count_blocks(facts, lines, counts, team);
    count_memory(facts, lines, counts, team);
    if (facts->warp_instructions)
        facts->lane_efficiency =
            (double)facts->thread_instructions / ((double)WARP * (double)facts->warp_instructions);
    for (int i = 0; i < m->line_count; i++)
        if (lines[i].warp_instructions)
            lines[n++] = lines[i];
    qsort(lines, n, sizeof *lines, compare_lines);
    facts->lines = lines;
    facts->line_count = n;
    return 0;
}

/* ---- Timing --------------------------------------------------------------------------------- */

static int64_t bytes_of_buffers(const struct ptx_launch *l)
{
    int64_t sum = 0;

    for (size_t i = 0; i < l->buffer_count; i++)
        sum += (int64_t)l->buffers[i].size;
    return sum;
}

static int time_launch(const struct team *team, struct worker *workers, struct arena *arena,
                       struct ptx_timing *out, struct err *err)
{
    struct classes all = { .arena = arena };
    struct timing_input input = { .run = team->run,
                                  .classes = &all,
                                  .block_count = (int)team->traced,
                                  .launch_blocks = team->blocks,
                                  .bytes_touched = bytes_of_buffers(team->run->launch) };

    for (int64_t i = 0; i < team->traced; i++) {
        const struct worker *w = &workers[team->trace_owners[i]];
        int merged = team->trace_classes[i] < 0
                         ? -1
                         : classes_merge_block(&all, &w->classes, team->trace_classes[i]);

        if (merged < 0)
            return err_set(err, ERR_ResourceError,
                           "the launch's instruction traces do not fit into the memory limit");
        team->trace_classes[i] = merged;
    }
    input.block_classes = team->trace_classes;
    return timing_estimate(&input, arena, out, err);
}

/* ---- The launch ----------------------------------------------------------------------------- */

/* Warp instructions, roughly: each once, and those of a function with loops some more. */
static int64_t least_work(const struct run *run, const struct team *team)
{
    const struct function *f = run->entry;
    int64_t n = f->insn_count;

    for (int i = 0; i < f->block_count; i++)
        if (f->blocks[i].is_backward)
            return n * LOOP_WEIGHT * run->warps_per_block * team->executed;
    return n * run->warps_per_block * team->executed;
}

static int host_threads_of(const struct run *run, const struct team *team)
{
    int64_t n = run->launch->host_threads > 0 ? run->launch->host_threads : 1;

    if (n == 1 || run->heap || order_matters(run) || least_work(run, team) < SMALL_LAUNCH)
        return 1;
    return (int)min_i64(min_i64(n, MAX_HOST_THREADS), max_i64(team->executed, 1));
}

static size_t memory_limit(const struct run *run)
{
    return run->launch->memory_limit ? run->launch->memory_limit : DEFAULT_MEMORY_LIMIT;
}

static int prepare_team(struct team *team, const struct run *run, struct arena *arena,
                        struct err *err)
{
    const struct ptx_launch *l = run->launch;

    team->run = run;
    team->blocks = (int64_t)l->grid.x * l->grid.y * l->grid.z;
    team->executed = l->sample_blocks > 0 ? min_i64(l->sample_blocks, team->blocks) : team->blocks;
    team->traced = l->is_timed ? min_i64(team->executed, MAX_TRACED) : 0;
    atomic_init(&team->next, 0);
    atomic_init(&team->failed, INT64_MAX);
    team->trace_classes = arena_array(arena, (size_t)team->traced, sizeof *team->trace_classes);
    team->trace_owners = arena_array(arena, (size_t)team->traced, sizeof *team->trace_owners);
    if (!team->trace_classes || !team->trace_owners)
        return err_set(err, ERR_ResourceError, "out of memory before the launch");
    return 0;
}

static int make_workers(struct worker *workers, int n, struct team *team, struct err *err)
{
    size_t limit = memory_limit(team->run) / (size_t)n;

    team->batch = max_i64(1, min_i64(MAX_BATCH, team->executed / (n * BATCHES)));
    for (int i = 0; i < n; i++) {
        workers[i].team = team;
        workers[i].index = i;
        workers[i].failed_at = INT64_MAX;
        workers[i].cta.arena = arena_new(limit);
        workers[i].classes.arena = workers[i].cta.arena;
        if (!workers[i].cta.arena)
            return err_set(err, ERR_ResourceError, "out of memory before the launch");
    }
    return 0;
}

static void end_workers(struct worker *workers, int n)
{
    for (int i = 0; i < n; i++) {
        err_done(&workers[i].err);
        buf_done(&workers[i].cta.printed.text);
        footprint_free(&workers[i].cta.footprint);
        arena_free(&workers[i].cta.arena);
    }
}

/* As if nothing had run. */
static void start_again(struct worker *workers, int n, struct team *team)
{
    for (int i = 0; i < n; i++)
        if (team->run->launch->progress)
            atomic_fetch_sub(team->run->launch->progress, workers[i].done);
    end_workers(workers, n);
    memset(workers, 0, (size_t)n * sizeof *workers);
    atomic_store(&team->next, 0);
    atomic_store(&team->failed, INT64_MAX);
}

/* A second run would not end better. */
static bool is_final(const struct worker *workers, int n)
{
    for (int i = 0; i < n; i++)
        if (workers[i].err.name == ERR_Interrupted || workers[i].err.name == ERR_Timeout)
            return true;
    return false;
}

/* False: nothing has happened, and the blocks must run in order. */
static bool run_side_by_side(struct worker *workers, int n, struct team *team)
{
    struct err ignored = { 0 };
    struct undo *undo = undo_new(team->run, n, memory_limit(team->run) / 2);
    struct footprint *footprints[MAX_HOST_THREADS] = { NULL };
    bool is_done = undo && make_workers(workers, n, team, &ignored) == 0;

    for (int i = 0; i < n && is_done; i++) {
        workers[i].cta.footprint = footprints[i] = footprint_new(undo);
        is_done = footprints[i] != NULL;
    }
    if (is_done) {
        run_team(workers, n);
        is_done = is_final(workers, n) ||
                  (atomic_load(&team->failed) == INT64_MAX && !footprints_conflict(footprints, n));
        if (is_done)
            footprints_finish(footprints, n);
        else
            undo_all(undo);
    }
    if (!is_done)
        start_again(workers, n, team);
    for (int i = 0; i < n; i++)
        footprint_free(&workers[i].cta.footprint);
    undo_free(&undo);
    err_done(&ignored);
    return is_done;
}

static void move_error(struct err *to, struct err *from)
{
    if (!to || to->name != ERR_none)
        return;
    err_done(to);
    *to = *from;
    *from = (struct err){ 0 };
}

/* Texts of a fault are of the host thread's arena, which ends with the launch. */
static void keep_fault(struct ptx_fault *out, const struct ptx_fault *fault, struct arena *arena)
{
    *out = *fault;
    out->why = fault->why ? arena_string(arena, fault->why) : NULL;
    out->try_ = fault->try_ ? arena_string(arena, fault->try_) : NULL;
}

/* The failure of the first block in order. 0: there was none. */
static int report(struct worker *workers, int n, struct arena *arena, struct ptx_fault *fault,
                  struct err *err)
{
    struct worker *first = NULL;

    for (int i = 0; i < n; i++)
        if (workers[i].err.name != ERR_none && (!first || workers[i].failed_at < first->failed_at))
            first = &workers[i];
    if (!first)
        return 0;
    if (fault)
        keep_fault(fault, &first->fault, arena);
    move_error(err, &first->err);
    return -1;
}

int ptx_run(const struct ptx_module *module, const struct ptx_launch *launch, struct arena *arena,
            struct ptx_facts *facts, struct ptx_fault *fault, struct err *err)
{
    struct run run = { .module = module, .launch = launch };
    struct worker *workers;
    struct team team;
    int n, rc = -1;

    *facts = (struct ptx_facts){ 0 };
    if (fault)
        *fault = (struct ptx_fault){ 0 };
    if (check_launch(module, launch, err) < 0)
        return -1;
    run.entry = &module->functions[module->kernel_functions[launch->kernel - module->kernels]];
    shape_run(&run, launch);
    if (map_memory(&run, arena, err) < 0)
        return -1;
    shadow_regions(&run);
    if (origin_resolve(&run, arena) < 0)
        return err_set(err, ERR_ResourceError, "out of memory before the launch");
    if (prepare_team(&team, &run, arena, err) < 0)
        return -1;
    if (module->has_heap &&
        !(run.heap = heap_new(launch->heap_bytes ? launch->heap_bytes : HEAP_DEFAULT_BYTES)))
        return err_set(err, ERR_ResourceError, "out of memory before the launch");
    n = host_threads_of(&run, &team);
    print_queue_init(&team.printed, launch);
    workers = arena_array(arena, (size_t)n, sizeof *workers);
    if (!workers) {
        n = 0;
        err_set(err, ERR_ResourceError, "out of memory before the launch");
        goto out;
    }
    if (n == 1 || !run_side_by_side(workers, n, &team)) {
        n = 1;
        if (make_workers(workers, n, &team, err) < 0)
            goto out;
        run_team(workers, n);
    }
    if (report(workers, n, arena, fault, err) < 0)
        goto out;
    for (int i = 1; i < n; i++)
        if (workers[i].is_started)
            add_counts(&workers[0].cta.counts, &workers[i].cta.counts, module);
    if (collect(facts, &team, &workers[0].cta.counts, arena, err) < 0)
        goto out;
    if (launch->is_timed && time_launch(&team, workers, arena, &facts->timing, err) < 0)
        goto out;
    if (system_warn(&run, team.printed.lost, arena, facts) < 0) {
        err_set(err, ERR_ResourceError, "out of memory while the launch was counted");
        goto out;
    }
    rc = 0;
out:
    end_workers(workers, n);
    print_queue_done(&team.printed);
    heap_free(&run.heap);
    return rc;
}
