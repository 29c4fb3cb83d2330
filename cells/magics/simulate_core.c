/*
 * %simulate with a body, a mix or a kernel: the call becomes the input of the core layer
 * (model/core.h), and what it settles into a simulation like those of the pattern layer. What a
 * person reads is in simulate_core_view.c.
 */
#include "cells/magics/simulate.h"

#include "cells/internal.h"
#include "model/occupancy.h"
#include "model/ptx/ptx.h"

enum { DEFAULT_WINDOW = 16, DEFAULT_TRIPS = 16, DEFAULT_BLOCK = 256 };

bool simulate_is_core(const struct call *call)
{
    return call_given(call, "body") || call_given(call, "mix") || call_given(call, "kernel");
}

/* What belongs to one layer is refused in the other. */
int simulate_check_layer(const struct call *call, struct err *err)
{
    static const char *const core[] = { "order", "window", "paths", "device",
                                        "block", "hit",    "trips" };
    static const char *const pattern[] = { "issue", "wait" }, *const kernel[] = { "hit", "trips" };
    bool is_core = simulate_is_core(call);
    int sources = call_given(call, "body") + call_given(call, "mix") + call_given(call, "kernel");

    for (size_t i = 0; i < COUNT(core) && !is_core; i++)
        if (call_given(call, core[i]))
            return call_fail(call, core[i], err, ERR_UsageError,
                             "%s= is of the core layer: it needs body=, mix= or a kernel", core[i]);
    for (size_t i = 0; i < COUNT(pattern) && is_core; i++)
        if (call_given(call, pattern[i]))
            return call_fail(call, pattern[i], err, ERR_UsageError,
                             "%s= is of the pattern layer: without body=, mix= and kernel",
                             pattern[i]);
    for (size_t i = 0; i < COUNT(kernel) && is_core && !call_given(call, "kernel"); i++)
        if (call_given(call, kernel[i])) {
            call_fail(call, kernel[i], err, ERR_UsageError,
                      "%s= is of a kernel: a body says it of its instructions", kernel[i]);
            return err_next(err, "such as body=\"(ldg hit=l1; use)*16\"");
        }
    if (sources > 1)
        return call_fail(call, "body", err, ERR_UsageError,
                         "one of body=, mix= and a kernel says what warps run");
    return 0;
}

/* ---- What warps run ---- */

/* The caret stands inside the string where that is written as it reads. */
static int mark_place(const struct call *call, const char *name, const char *text,
                      const struct body_place *place, struct err *err)
{
    const struct arg *arg = call_arg(call, name);

    if (!arg->is_sweep && arg->length == (int)strlen(text) + 2)
        return err_at(err, arg->line, arg->column + 1 + (int)place->start,
                      (int)(place->end - place->start));
    return err_at(err, arg->line, arg->column, arg->length);
}

static int read_body(const struct sweep *sweep, size_t i, struct core_simulation *c,
                     struct arena *arena, struct err *err)
{
    const struct call *call = sweep->call;
    bool is_mix = call_given(call, "mix");
    const char *given = sweep_text(sweep, i, is_mix ? "mix" : "body");
    struct body_place place;

    c->text = given;
    if (is_mix && body_from_mix(given, arena, &c->text, &place, err) < 0)
        return mark_place(call, "mix", given, &place, err);
    if (body_parse(c->text, simulate_optional(sweep, i, "ilp", 1), c->config.costs, arena, &c->body,
                   &place, err) < 0)
        return is_mix ? call_fail(call, "mix", err, ERR_ValueError, "no such mix")
                      : mark_place(call, "body", given, &place, err);
    for (int k = 0; k < CORE_PLACE_COUNT; k++)
        c->config.places[k] = (uint8_t)k;
    c->config.blocks = c->body.blocks;
    c->config.register_count = c->body.register_count;
    c->config.has_forks = c->body.has_forks;
    return 0;
}

static void count_kernel(struct core_simulation *c)
{
    const struct core_stream *stream = &c->body.stream;

    for (int s = 0; s < stream->step_count; s++) {
        const struct core_block *block = &c->config.blocks[stream->steps[s].block];

        for (int k = 0; k < block->count; k++) {
            const struct class_cost *cost = &c->config.costs->classes[block->ops[k].class];

            c->body.instructions += cost->slots ? stream->steps[s].repeat : 0;
        }
    }
    c->body.lanes = c->body.instructions * WARP;
}

static int read_stream(const struct sweep *sweep, size_t i, const struct cuda_image *image,
                       struct core_simulation *c, struct arena *arena, struct err *err)
{
    struct ptx_module *module;
    const struct ptx_kernel *kernel;
    struct ptx_stream stream;
    int rc = -1;

    if (ptx_module_load(image->ptx, &module, err) < 0)
        return -1;
    kernel = ptx_kernel_find(module, image->symbol);
    if (!kernel)
        err_set(err, ERR_InternalError, "%s is not in its own code", image->symbol);
    else
        rc = ptx_kernel_stream(module, kernel, simulate_optional(sweep, i, "trips", DEFAULT_TRIPS),
                               c->config.costs, arena, &stream, err);
    ptx_module_free(&module);
    if (rc < 0)
        return -1;
    c->config.blocks = stream.blocks;
    c->config.register_count = stream.register_count;
    c->body.stream = stream.stream;
    c->is_cut = stream.is_cut;
    count_kernel(c);
    return 0;
}

static enum core_place hit_of(const struct sweep *sweep, size_t i)
{
    static const char *const NAMES[] = { "l1", "l2", "far", "dram" };
    const char *name = call_given(sweep->call, "hit") ? sweep_text(sweep, i, "hit") : "dram";

    for (size_t k = 0; k < COUNT(NAMES); k++)
        if (strcmp(name, NAMES[k]) == 0)
            return (enum core_place)(CORE_L1 + k);
    return CORE_DRAM;
}

/* The blocks of a kernel that an SM holds; with warps= so many of them. */
static int place_blocks(const struct sweep *sweep, size_t i, const struct cuda_image *image,
                        struct core_simulation *c, struct err *err)
{
    const struct call *call = sweep->call;
    const struct device *dev = &c->device.device;
    struct launch_shape shape = { .block = simulate_optional(sweep, i, "block", DEFAULT_BLOCK),
                                  .regs = image->resources.registers,
                                  .static_bytes = image->resources.static_bytes,
                                  .carveout = OCCUPANCY_DEFAULT_CARVEOUT };
    struct occupancy occupancy;
    int per_block = (shape.block + WARP - 1) / WARP, blocks;

    if (occupancy_of(dev, &shape, &occupancy, err) < 0)
        return -1;
    blocks = occupancy.active_blocks;
    if (call_given(call, "warps"))
        blocks = (int)min_i64(blocks, sweep_int(sweep, i, "warps") / per_block);
    if (occupancy.active_blocks < 1)
        return call_fail(call, "kernel", err, ERR_ValueError,
                         "no block of %d warps of %s fits on an SM of %s", per_block, image->kernel,
                         dev->name);
    if (blocks < 1) {
        call_fail(call, "warps", err, ERR_ValueError,
                  "warps=%lld is less than a block of %s, which has %d warps",
                  (long long)sweep_int(sweep, i, "warps"), image->kernel, per_block);
        return err_next(err, "whole blocks run: warps=%d is the least, or block=32 with it",
                        per_block);
    }
    c->config.warps_per_block = per_block;
    c->config.resident_blocks = (int)min_i64(blocks, CORE_MAX_WARPS / per_block);
    c->warps = c->config.resident_blocks * per_block;
    c->config.block_count = INT64_MAX;
    c->config.start_latency = c->config.costs->block_start_cycles;
    return 0;
}

static int read_kernel(const struct sweep *sweep, size_t i, struct core_simulation *c,
                       struct arena *arena, struct err *err)
{
    const struct call *call = sweep->call;
    struct cuda_image image;

    c->text = sweep_text(sweep, i, "kernel");
    if (c->config.window)
        return call_fail(call, "order", err, ERR_UsageError,
                         "order=out is for body= and mix=, whose branches are known");
    if (simulate_optional(sweep, i, "ilp", 1) > 1)
        return call_fail(call, "ilp", err, ERR_UsageError,
                         "ilp= is for body= and mix=; a kernel has the ILP that it has");
    if (cuda_kernel_image(call->session, c->text, &c->device.device, IMAGE_PTX, arena, &image,
                          err) < 0 ||
        read_stream(sweep, i, &image, c, arena, err) < 0 ||
        place_blocks(sweep, i, &image, c, err) < 0)
        return call_fail(call, "kernel", err, ERR_NameError, "no such kernel");
    ptx_stream_places(hit_of(sweep, i), c->config.places);
    return 0;
}

/* ---- The SM ---- */

static int read_device(const struct sweep *sweep, size_t i, struct core_simulation *c,
                       struct err *err)
{
    const struct call *call = sweep->call;
    const char *name = call_given(call, "device") ? sweep_text(sweep, i, "device") : NULL;

    if (!name)
        c->device = *session_device(call->session);
    else if (session_find_device(call->session, name, &c->device, err) < 0)
        return call_fail(call, "device", err, ERR_NameError, "no device is called %s", name);
    c->device.is_gpu = false;
    c->config.costs = costs_with(&c->device.device, &c->room);
    core_set_memory(&c->config, &c->device.device, max_i64(c->device.device.sms, 1));
    return 0;
}

static int read_schedulers(const struct sweep *sweep, size_t i, struct core_simulation *c,
                           struct err *err)
{
    const struct device *dev = &c->device.device;
    int has = (int)min_i64(max_i64(dev->partitions, 1), CORE_MAX_PARTITIONS);

    c->config.partitions = (int)sweep_int(sweep, i, "schedulers");
    if (call_given(sweep->call, "kernel") && !call_given(sweep->call, "schedulers"))
        c->config.partitions = has;
    if (c->config.partitions > has)
        return call_fail(sweep->call, "schedulers", err, ERR_ValueError,
                         "schedulers=%d: an SM of %s has %d", c->config.partitions, dev->name, has);
    return 0;
}

/* The core layer has an SM's limits; only the pattern layer goes beyond. */
static int check_warps(const struct sweep *sweep, struct core_simulation *c, struct err *err)
{
    const struct device *dev = &c->device.device;
    int each = dev->warps_per_sm / (int)max_i64(dev->partitions, 1);
    int most = (int)min_i64((int64_t)each * c->config.partitions, CORE_MAX_WARPS);

    if (c->warps <= most)
        return 0;
    call_fail(sweep->call, "warps", err, ERR_ValueError,
              "warps=%d: a scheduler of %s holds %d warps, %d here is the most", c->warps,
              dev->name, each, most);
    return err_next(err, "schedulers=%d holds %d; only patterns (issue=, wait=) go on to %d",
                    dev->partitions, dev->warps_per_sm, PATTERN_MAX_WARPS);
}

/* The warps of a body; those that meet at a barrier are one block. */
static int place_warps(const struct sweep *sweep, size_t i, struct core_simulation *c,
                       struct err *err)
{
    int block;

    c->warps = (int)sweep_int(sweep, i, "warps");
    if (check_warps(sweep, c, err) < 0)
        return -1;
    block = (simulate_optional(sweep, i, "block", c->warps * WARP) + WARP - 1) / WARP;
    if (c->warps % block)
        return call_fail(sweep->call, "block", err, ERR_ValueError,
                         "block=%d: %d warps are no whole number of blocks of %d",
                         simulate_optional(sweep, i, "block", 0), c->warps, block);
    c->config.warps_per_block = block;
    c->config.resident_blocks = c->warps / block;
    c->config.block_count = c->config.resident_blocks;
    return 0;
}

static const struct core_stream *stream_of(const void *context, int64_t block, int warp)
{
    (void)block;
    (void)warp;
    return context;
}

static int read_core(const struct sweep *sweep, size_t i, struct core_simulation *c,
                     struct arena *arena, struct err *err)
{
    const struct call *call = sweep->call;
    const char *order = call_given(call, "order") ? sweep_text(sweep, i, "order") : "in";
    const char *paths = call_given(call, "paths") ? sweep_text(sweep, i, "paths") : "its";

    c->config = (struct core_config){
        .policy = scheduler_policy_find(sweep_text(sweep, i, "policy")),
        .switch_cost = simulate_optional(sweep, i, "switch_cost", 0),
        .window = strcmp(order, "out") ? 0 : simulate_optional(sweep, i, "window", DEFAULT_WINDOW),
        .is_stack = strcmp(paths, "stack") == 0,
        .jitter = (int)sweep_int(sweep, i, "jitter"),
        .seed = (uint64_t)sweep_int(sweep, i, "seed"),
        .stream_of = stream_of,
        .context = &c->body.stream,
    };
    if (read_device(sweep, i, c, err) < 0 || read_schedulers(sweep, i, c, err) < 0)
        return -1;
    if (call_given(call, "kernel"))
        return read_kernel(sweep, i, c, arena, err) < 0 ? -1 : check_warps(sweep, c, err);
    if (read_body(sweep, i, c, arena, err) < 0)
        return -1;
    if (c->config.window && c->body.has_forks)
        return call_fail(call, "order", err, ERR_UsageError,
                         "order=out is for bodies without if and split");
    return place_warps(sweep, i, c, err);
}

/* ---- The run ---- */

static int64_t sum_of_stalls(const struct core_totals *sums)
{
    int64_t sum = 0;

    for (int i = STALL_not_selected + 1; i < STALL_COUNT; i++)
        sum += sums->stalls[i];
    return sum;
}

/* The same numbers that a pattern has. */
static void fill_simulation(const struct core_simulation *c, struct simulation *s)
{
    const struct core_steady *steady = &c->steady;
    double slots = (double)steady->cycles * c->config.partitions;
    const int64_t *stalls = steady->sums.stalls;

    s->pattern = (struct pattern){ .warps = c->warps,
                                   .schedulers = c->config.partitions,
                                   .policy = (enum scheduler_policy)c->config.policy,
                                   .jitter = c->config.jitter };
    s->core = c;
    s->ipc = (double)steady->sums.issued / (double)steady->cycles;
    if (steady->sums.rounds)
        s->round_cycles = (double)steady->cycles * c->warps / (double)steady->sums.rounds;
    s->steady = (struct steady){
        .is_exact = steady->is_exact,
        .period = steady->is_exact ? steady->cycles : 0,
        .warmup = steady->warmup,
        .cycles = steady->cycles,
        .issued = steady->sums.issued,
        .issue_utilization = (double)steady->sums.issued / slots,
        .selected = (double)stalls[STALL_selected] / slots,
        .not_selected = (double)stalls[STALL_not_selected] / slots,
        .eligible = (double)(stalls[STALL_selected] + stalls[STALL_not_selected]) / slots,
        .stalled = (double)sum_of_stalls(&steady->sums) / slots,
        .warp_issued = steady->warp_issued,
    };
}

static int64_t *count_timeline(const struct core_simulation *c, struct simulation *s,
                               struct arena *arena)
{
    int64_t *issued = arena_array(arena, CORE_MAX_WARPS, sizeof *issued);
    size_t cells = (size_t)c->config.partitions * (size_t)s->cycles;

    s->timeline.issued = 0;
    for (size_t k = 0; issued && k < cells; k++)
        if (c->record.issuer[k] >= 0) {
            issued[c->record.issuer[k]]++;
            s->timeline.issued++;
        }
    return issued;
}

int simulate_core_run(const struct sweep *sweep, size_t i, struct core_simulation *c,
                      struct simulation *s, struct arena *arena, struct err *err)
{
    size_t cycles = (size_t)sweep_int(sweep, i, "cycles");

    *c = (struct core_simulation){ 0 };
    *s = (struct simulation){ .cycles = (int)cycles };
    if (read_core(sweep, i, c, arena, err) < 0)
        return -1;
    c->record = (struct core_record){
        .cycles = (int)cycles,
        .states = arena_array(arena, (size_t)c->warps, cycles),
        .issuer = arena_array(arena, (size_t)c->config.partitions * cycles, sizeof(int32_t)),
    };
    if (!c->record.states || !c->record.issuer)
        return err_set(err, ERR_ResourceError, "out of memory for %d warps", c->warps);
    if (core_settle(&c->config, &c->record, arena, &c->steady, call_stop(sweep->call), err) < 0)
        return -1;
    s->timeline = (struct timeline){ .cycles = (int)cycles,
                                     .states = c->record.states,
                                     .issuer = c->record.issuer };
    s->timeline.warp_issued = count_timeline(c, s, arena);
    if (!s->timeline.warp_issued)
        return err_set(err, ERR_ResourceError, "out of memory");
    fill_simulation(c, s);
    return 0;
}
