/*
 * A launch: check its shape, lay out memory, run the blocks (team.c), and add up what was counted
 * (count.c).
 */
#include "model/ptx/heap.h"
#include "model/ptx/resident.h"
#include "model/ptx/shadow.h"
#include "model/ptx/system.h"
#include "model/ptx/team.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>

enum {
    DEFAULT_STACK = 1024,  /* bytes of a thread, as cudaLimitStackSize */
    COST_SAMPLE = 3,       /* blocks that an estimate runs */
    COST_BUDGET = 1 << 20, /* instructions of a thread in it */
    WORKSPACE_BYTES = 256,
};

#define DEFAULT_BUDGET ((int64_t)1 << 32)
#define MAX_GRID_X     INT32_MAX
#define MAX_GRID_YZ    65535

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

static int check_cooperative(const struct ptx_launch *l, struct err *err)
{
    int64_t blocks = (int64_t)l->grid.x * l->grid.y * l->grid.z, most = resident_most(l);

    if (!l->is_cooperative || blocks <= most)
        return 0;
    return err_set(err, ERR_LaunchError,
                   "grid=%" PRId64 ": a cooperative launch has all blocks resident, and %s holds "
                   "%" PRId64 " of these at a time",
                   blocks, l->device->name, most);
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
    if (check_shared(l, err) < 0)
        return -1;
    return check_cooperative(l, err);
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

/*
 * What cooperative groups find through %envreg1 and %envreg2: a size, and the counter at which the
 * blocks of a grid wait (struct grid_workspace of cooperative_groups/details/sync.h, CUDA 13.0).
 */
static int add_workspace(struct run *run, struct arena *arena, struct err *err)
{
    uint32_t *data = arena_alloc(arena, WORKSPACE_BYTES);

    if (!data)
        return err_set(err, ERR_ResourceError, "out of memory before the launch");
    data[0] = WORKSPACE_BYTES;
    run->workspace = WORKSPACE_WINDOW;
    run->regions[run->region_count++] = (struct region){ .start = WORKSPACE_WINDOW,
                                                         .end = WORKSPACE_WINDOW + WORKSPACE_BYTES,
                                                         .data = (uint8_t *)data,
                                                         .buffer = -1,
                                                         .name = "the grid's barrier" };
    return 0;
}

static int map_memory(struct run *run, struct arena *arena, struct err *err)
{
    const struct ptx_launch *l = run->launch;
    size_t most = l->buffer_count + run->module->variable_count + 1;

    run->regions = arena_array(arena, most, sizeof *run->regions);
    if (!run->regions)
        return err_set(err, ERR_ResourceError, "no memory for the list of %zu buffers", most);
    for (size_t i = 0; i < l->buffer_count; i++) {
        const struct ptx_buffer *b = &l->buffers[i];

        run->regions[run->region_count++] = (struct region){ .start = b->address,
                                                             .end = b->address + b->size,
                                                             .data = b->data,
                                                             .defined = b->defined,
                                                             .is_written = b->is_written,
                                                             .is_read_only = b->is_read_only,
                                                             .is_freed = b->freed != NULL,
                                                             .buffer = (int)i,
                                                             .name = b->name };
    }
    if (add_variables(run, arena, err) < 0 ||
        (l->is_cooperative && add_workspace(run, arena, err) < 0))
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
    run->slices = costs_of(l->device)->l2_slices;
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

/* ---- The launch ----------------------------------------------------------------------------- */

/* Everything that the blocks need before the first starts; `run->heap` is the caller's to free. */
static int prepare(struct run *run, struct arena *arena, struct err *err)
{
    const struct ptx_launch *l = run->launch;
    const struct ptx_module *m = run->module;

    if (check_launch(m, l, err) < 0)
        return -1;
    run->entry = &m->functions[m->kernel_functions[l->kernel - m->kernels]];
    if (refuse_check(m, run->entry->index, arena, err) < 0)
        return -1;
    shape_run(run, l);
    if (map_memory(run, arena, err) < 0)
        return -1;
    shadow_regions(run);
    run->is_racing = l->checks & PTX_CHECK_SHARED_RACES && m->has_racing && run->shared_bytes;
    if (m->has_heap)
        run->heap = heap_new(l->heap_bytes ? l->heap_bytes : HEAP_DEFAULT_BYTES);
    if ((m->has_heap && !run->heap) || reach_find(run, arena) < 0 || origin_resolve(run, arena) < 0)
        return err_set(err, ERR_ResourceError, "out of memory before the launch");
    return 0;
}

int ptx_run(const struct ptx_module *module, const struct ptx_launch *launch, struct arena *arena,
            struct ptx_facts *facts, struct ptx_fault *fault, struct err *err)
{
    struct run run = { .module = module, .launch = launch };
    struct team team = { 0 };
    int rc = -1;

    *facts = (struct ptx_facts){ 0 };
    if (fault)
        *fault = (struct ptx_fault){ 0 };
    if (prepare(&run, arena, err) < 0)
        goto out;
    if (team_init(&team, &run, arena, err) == 0 && team_run(&team, arena, fault, err) == 0)
        rc = count_facts(facts, &team, arena, err);
    if (rc == 0 && (team_warn(&team, arena, facts) < 0 ||
                    system_warn(&run, team.printed.lost, arena, facts) < 0))
        rc = err_set(err, ERR_ResourceError, "out of memory while the launch was counted");
    team_done(&team);
out:
    heap_free(&run.heap);
    return rc;
}

int ptx_launch_cost(const struct ptx_module *module, const struct ptx_launch *launch,
                    int64_t max_thread_instructions, struct arena *arena, struct ptx_cost *cost,
                    struct err *err)
{
    struct ptx_launch sample = *launch;
    struct run run = { .module = module, .launch = &sample };
    struct team team = { 0 };
    struct err met = { 0 };
    int64_t blocks = (int64_t)launch->grid.x * launch->grid.y * launch->grid.z;
    int rc = -1;

    *cost = (struct ptx_cost){ .blocks = launch->sample_blocks > 0
                                             ? min_i64(launch->sample_blocks, blocks)
                                             : blocks };
    sample.sample_blocks = min_i64(COST_SAMPLE, cost->blocks);
    sample.max_thread_instructions =
        max_thread_instructions > 0 ? max_thread_instructions : COST_BUDGET;
    sample.host_threads = 1;
    sample.is_timed = false;
    sample.checks &= ~PTX_CHECK_GLOBAL_RACES;
    sample.print = NULL;
    sample.progress = NULL;
    if (prepare(&run, arena, err) < 0)
        goto out;
    run.launch = launch;
    cost->host_threads = team_host_threads(&run, cost->blocks);
    run.launch = &sample;
    if (team_init(&team, &run, arena, err) < 0)
        goto out;
    rc = team_try(&team, arena, &met);
    if (rc < 0 && (met.name == ERR_Interrupted || met.name == ERR_ResourceError)) {
        err_set(err, met.name, "%s", met.text);
        goto out;
    }
    cost->is_cut = rc < 0;
    cost->sampled = count_thread_instructions(&team);
    cost->sampled_blocks = team.workers->done + (rc < 0);
    cost->thread_instructions =
        (int64_t)((__int128)cost->sampled * cost->blocks / max_i64(cost->sampled_blocks, 1));
    rc = 0;
out:
    err_done(&met);
    team_done(&team);
    heap_free(&run.heap);
    return rc;
}
