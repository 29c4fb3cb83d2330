#include "model/ptx/team.h"

#include "model/ptx/footprint.h"
#include "model/ptx/resident.h"
#include "model/ptx/shadow.h"
#include "model/ptx/track.h"
#include "model/ptx/warning.h"

#include <sched.h>

enum {
    MAX_BATCH = 64,       /* blocks that a host thread takes at a time */
    BATCHES = 16,         /* that each should get, to share the work evenly */
    SMALL_LAUNCH = 20000, /* warp instructions that are not worth a second host thread */
    LOOP_WEIGHT = 32,     /* what a loop's code counts for in that */
    MAX_TRACED = 1024,    /* blocks whose warps are kept for the timing model */
};

#define DEFAULT_MEMORY_LIMIT ((size_t)1 << 30)

/* ---- Blocks --------------------------------------------------------------------------------- */

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

/* A block in flight, and what its warps executed. */
struct slot {
    struct cta cta; /* first: the one is found from the other */
    struct trace *traces[MAX_WARPS];
    int64_t place;
    bool is_in_flight;
    struct slot *next;
};

static void set_tracing(struct slot *slot, bool is_traced)
{
    for (int i = 0; i < slot->cta.run->warps_per_block; i++) {
        slot->cta.warps[i].trace = is_traced ? slot->traces[i] : NULL;
        if (is_traced)
            trace_restart(slot->traces[i]);
    }
}

static int begin_block(void *worker, struct cta *cta, int64_t place)
{
    struct worker *w = worker;
    struct team *team = w->team;
    struct slot *slot = (struct slot *)(void *)cta;

    slot->place = place;
    slot->is_in_flight = true;
    cta->linear = spread(place, team->executed, team->blocks);
    cta->index = block_index(&team->run->launch->grid, cta->linear);
    if (cta->footprint)
        footprint_block(cta->footprint, place);
    if (cta->track && track_block(cta) < 0)
        return err_set(&w->err, ERR_ResourceError, "no memory to look for races in");
    set_tracing(slot, traced_place(team, place) >= 0);
    return simt_start(cta, &w->err);
}

static int end_block(void *worker, struct cta *cta, int64_t place)
{
    struct worker *w = worker;
    struct team *team = w->team;
    int64_t traced = traced_place(team, place);

    ((struct slot *)(void *)cta)->is_in_flight = false;
    /* Kernels that print run in order, so that nothing is printed that is undone later. */
    if (!cta->footprint && print_place(&team->printed, place, &cta->printed, false) < 0)
        return err_set(&w->err, ERR_ResourceError, "no memory for what the kernel prints");
    if (traced >= 0) {
        team->trace_classes[traced] = classes_add_block(&w->classes, cta);
        team->trace_owners[traced] = (uint8_t)w->index;
    }
    w->counts.barriers += cta->counts.barriers;
    cta->counts.barriers = 0;
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

static size_t memory_limit(const struct run *run)
{
    return run->launch->memory_limit ? run->launch->memory_limit : DEFAULT_MEMORY_LIMIT;
}

/* The counters of a host thread: all its blocks add to the same. */
static int make_counts(struct worker *w)
{
    const struct ptx_module *m = w->team->run->module;
    struct counts *c = &w->counts;

    c->block_runs = arena_array(w->arena, (size_t)m->block_count, sizeof *c->block_runs);
    c->block_lanes = arena_array(w->arena, (size_t)m->block_count, sizeof *c->block_lanes);
    c->branch_splits = arena_array(w->arena, (size_t)m->block_count, sizeof *c->branch_splits);
    c->accesses = arena_array(w->arena, (size_t)m->counter_count, sizeof *c->accesses);
    c->slices = arena_array(w->arena, (size_t)w->team->run->slices, sizeof *c->slices);
    return c->slices && c->block_runs && c->block_lanes && c->branch_splits && c->accesses ? 0 : -1;
}

/*
 * Half of a host thread's memory is for traces, shared by the warps that it has in flight: those of
 * one block, or of all its blocks in a cooperative launch. The other half holds their classes.
 */
static size_t trace_room(const struct team *team)
{
    const struct run *run = team->run;
    size_t of_worker = memory_limit(run) / (size_t)team->worker_count;
    int64_t slots = run->launch->is_cooperative ? ceil_div(team->blocks, team->worker_count) : 1;

    return of_worker / 2 / (size_t)(slots * run->warps_per_block);
}

static int make_warps(struct worker *w, struct slot *slot)
{
    const struct run *run = w->team->run;
    size_t functions = (size_t)run->module->ast.function_count;

    for (int i = 0; i < run->warps_per_block; i++) {
        struct warp *warp = &slot->cta.warps[i];

        warp->cta = &slot->cta;
        warp->index = i;
        warp->free_frames = arena_array(w->arena, functions, sizeof *warp->free_frames);
        warp->local = arena_alloc(w->arena, (size_t)WARP * run->stack_bytes);
        slot->traces[i] = w->team->traced ? trace_new(w->arena, trace_room(w->team)) : NULL;
        if (!warp->free_frames || !warp->local || (w->team->traced && !slot->traces[i]))
            return -1;
    }
    return 0;
}

/* Room for one more block in flight; NULL: it does not fit into the launch's memory. */
static struct cta *make_slot(void *worker)
{
    struct worker *w = worker;
    const struct run *run = w->team->run;
    struct slot *slot = arena_alloc(w->arena, sizeof *slot);
    struct cta *cta;

    if (!slot)
        return NULL;
    cta = &slot->cta;
    cta->run = run;
    cta->arena = w->arena;
    cta->fault = &w->fault;
    cta->counts = w->counts;
    cta->footprint = w->footprint;
    cta->track = w->track;
    cta->shared = arena_alloc(w->arena, run->shared_bytes + 16U);
    cta->warps = arena_array(w->arena, (size_t)run->warps_per_block, sizeof *cta->warps);
    cta->patterns =
        arena_array(w->arena, (size_t)run->module->counter_count, sizeof *cta->patterns);
    if (!cta->patterns || !cta->shared || !cta->warps || make_warps(w, slot) < 0 ||
        shadow_new(cta) < 0)
        return NULL;
    slot->next = w->slots;
    w->slots = slot;
    return cta;
}

static void run_batches(struct worker *w, struct cta *cta)
{
    struct team *team = w->team;

    for (;;) {
        int64_t place = atomic_fetch_add(&team->next, team->batch);
        int64_t end = min_i64(place + team->batch, team->executed);

        if (place >= team->executed)
            return;
        for (; place < end; place++) {
            if (place > atomic_load_explicit(&team->failed, memory_order_relaxed))
                return;
            if (begin_block(w, cta, place) < 0 || simt_run(cta, &w->err) < 0 ||
                end_block(w, cta, place) < 0) {
                note_failure(w, place);
                return;
            }
        }
    }
}

/*
 * A new thread often starts on the processor of the one that made it, and stays there until the
 * system next balances loads: some milliseconds, as long as a short launch. So it goes to another
 * processor at once, and may be moved as the system likes from then on.
 */
static void leave_processor(const struct worker *w)
{
    cpu_set_t all, one;
    int left = w->index;

    if (pthread_getaffinity_np(pthread_self(), sizeof all, &all) != 0)
        return;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (cpu == w->team->processor || !CPU_ISSET(cpu, &all) || --left)
            continue;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        pthread_setaffinity_np(pthread_self(), sizeof one, &one);
        pthread_setaffinity_np(pthread_self(), sizeof all, &all);
        return;
    }
}

/* One of the host threads that run blocks side by side. */
static void *work(void *context)
{
    struct worker *w = context;
    struct cta *cta = make_counts(w) < 0 ? NULL : make_slot(w);

    if (cta) {
        run_batches(w, cta);
        return NULL;
    }
    err_set(&w->err, ERR_ResourceError, "a block's state does not fit into the memory limit");
    note_failure(w, 0);
    return NULL;
}

static int step_block(void *worker, struct cta *cta)
{
    struct worker *w = worker;

    return simt_step(cta, &w->err);
}

static void report_stuck(void *worker, struct cta *cta)
{
    struct worker *w = worker;

    check_deadlock(cta, &w->err);
}

/* What the block that failed had printed, and those before it that still wait. */
static void print_rest(struct worker *w, int64_t failed_at)
{
    for (struct slot *s = w->slots; s; s = s->next) {
        bool is_failed = s->place == failed_at;

        if (s->is_in_flight && s->place <= failed_at)
            (void)print_place(&w->team->printed, s->place, &s->cta.printed, is_failed);
    }
}

static int make_track(struct worker *w)
{
    const struct run *run = w->team->run;

    if (run->launch->checks & PTX_CHECK_GLOBAL_RACES)
        w->track = track_new(run);
    return w->track || !(run->launch->checks & PTX_CHECK_GLOBAL_RACES) ? 0 : -1;
}

/* The only host thread: blocks in order, and those that wait for others in turns. */
static void run_in_order(struct worker *w)
{
    const struct ptx_launch *l = w->team->run->launch;
    struct resident_host host = { w, make_slot, begin_block, step_block, end_block, report_stuck };
    int64_t failed_at = 0;

    if (make_counts(w) == 0 && make_track(w) == 0 &&
        resident_run(&host, w->team->executed, resident_most(l), l->is_cooperative, &failed_at) ==
            0)
        return;
    err_set(&w->err, ERR_ResourceError,
            l->is_cooperative
                ? "the blocks of a cooperative launch do not fit into the memory limit together"
                : "a block's state does not fit into the memory limit");
    print_rest(w, failed_at);
    note_failure(w, failed_at);
}

static void *start_work(void *worker)
{
    leave_processor(worker);
    return work(worker);
}

static void run_workers(struct worker *workers, int n)
{
    workers->team->processor = sched_getcpu();
    for (int i = 1; i < n; i++)
        workers[i].is_started =
            pthread_create(&workers[i].thread, NULL, start_work, &workers[i]) == 0;
    work(&workers[0]);
    for (int i = 1; i < n; i++)
        if (workers[i].is_started)
            pthread_join(workers[i].thread, NULL);
}

/* ---- The team ------------------------------------------------------------------------------- */

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

    /* Who raced first is only known when blocks run in order. */
    if (run->launch->checks & PTX_CHECK_GLOBAL_RACES)
        return 1;
    if (n == 1 || run->heap || run->launch->is_cooperative || order_matters(run) ||
        least_work(run, team) < SMALL_LAUNCH)
        return 1;
    return (int)min_i64(min_i64(n, MAX_HOST_THREADS), max_i64(team->executed, 1));
}

int team_host_threads(const struct run *run, int64_t blocks)
{
    struct team team = { .executed = blocks };

    return host_threads_of(run, &team);
}

int team_init(struct team *team, const struct run *run, struct arena *arena, struct err *err)
{
    const struct ptx_launch *l = run->launch;

    *team = (struct team){ .run = run };
    print_queue_init(&team->printed, l);
    team->blocks = (int64_t)l->grid.x * l->grid.y * l->grid.z;
    team->executed = team->blocks;
    if (l->sample_blocks > 0 && !l->is_cooperative) /* a grid's barrier waits for all */
        team->executed = min_i64(l->sample_blocks, team->blocks);
    team->traced = l->is_timed ? min_i64(team->executed, MAX_TRACED) : 0;
    atomic_init(&team->next, 0);
    atomic_init(&team->failed, INT64_MAX);
    team->trace_classes = arena_array(arena, (size_t)team->traced, sizeof *team->trace_classes);
    team->trace_owners = arena_array(arena, (size_t)team->traced, sizeof *team->trace_owners);
    team->worker_count = host_threads_of(run, team);
    team->workers = arena_array(arena, (size_t)team->worker_count, sizeof *team->workers);
    if (!team->workers || !team->trace_classes || !team->trace_owners)
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
        workers[i].arena = arena_new(limit);
        workers[i].classes.arena = workers[i].arena;
        if (!workers[i].arena)
            return err_set(err, ERR_ResourceError, "out of memory before the launch");
    }
    return 0;
}

static void end_workers(struct worker *workers, int n)
{
    for (int i = 0; i < n; i++) {
        err_done(&workers[i].err);
        for (struct slot *slot = workers[i].slots; slot; slot = slot->next)
            buf_done(&slot->cta.printed.text);
        footprint_free(&workers[i].footprint);
        track_free(&workers[i].track);
        arena_free(&workers[i].arena);
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
        workers[i].footprint = footprints[i] = footprint_new(undo);
        is_done = footprints[i] != NULL;
    }
    if (is_done) {
        run_workers(workers, n);
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
        footprint_free(&workers[i].footprint);
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

int team_run(struct team *team, struct arena *arena, struct ptx_fault *fault, struct err *err)
{
    if (team->worker_count == 1 || !run_side_by_side(team->workers, team->worker_count, team)) {
        team->worker_count = 1;
        if (make_workers(team->workers, 1, team, err) < 0)
            return -1;
        run_in_order(&team->workers[0]);
    }
    return report(team->workers, team->worker_count, arena, fault, err);
}

int team_try(struct team *team, struct arena *arena, struct err *err)
{
    struct undo *undo = undo_new(team->run, 1, memory_limit(team->run) / 2);
    struct worker *w = team->workers;
    int rc = -1;

    team->worker_count = 1;
    if (!undo || make_workers(w, 1, team, err) < 0 || !(w->footprint = footprint_new(undo))) {
        err_set(err, ERR_ResourceError, "out of memory before the launch");
    } else {
        run_workers(w, 1);
        footprints_finish(&w->footprint, 1);
        undo_all(undo);
        rc = report(w, 1, arena, NULL, err);
    }
    footprint_free(&w->footprint);
    undo_free(&undo);
    return rc;
}

int team_warn(struct team *team, struct arena *arena, struct ptx_facts *facts)
{
    struct cta *first = NULL;

    for (int i = 0; i < team->worker_count; i++)
        for (struct slot *slot = team->workers[i].slots; slot; slot = slot->next) {
            if (first)
                warning_merge(first, &slot->cta);
            else
                first = &slot->cta;
        }
    return first ? warning_tell(first, arena, facts) : 0;
}

void team_done(struct team *team)
{
    if (team->workers)
        end_workers(team->workers, team->worker_count);
    print_queue_done(&team->printed);
}
