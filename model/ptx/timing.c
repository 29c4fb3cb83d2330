/*
 * How long a launch takes, by one SM.
 *
 * The SM with the most blocks decides when the launch ends, so that SM alone is simulated, issue by
 * issue, by the core layer (model/core.c). Here a launch becomes its input: decoded instructions
 * become costs and registers, the traces of warps its streams, and the device's limits how many
 * blocks are resident and which share of the memory the SM gets.
 *
 * Each scheduler stays with a warp while it can and then takes the one that issued longest ago.
 * That it stays, the experiment policy shows on an H200 (6 % off, turns 10 %); that nobody is left
 * behind, the experiment ilp: 5 warps of dependent FFMAs use 95 % of the slots,
 * greedy-then-youngest gives 62 %. 64K threads of the divergence lesson's 32 paths take 71.2 us;
 * this policy gives 68.3, greedy-then-oldest 82.6 and greedy-then-youngest 83.0.
 *
 * A launch with more instructions than MAX_ISSUES an SM is simulated for these, and the rest is
 * added at the rate of their second half; so is what the traces of warps have no room for.
 *
 * Left out: instruction fetch, register banks, distance to L2 slices, DRAM pages.
 */
#include "model/core.h"
#include "model/memory.h"
#include "model/occupancy.h"
#include "model/ptx/internal.h"

enum { MAX_ISSUES = 3000000 };

/* A launch as the core layer sees it. */
struct sm {
    const struct timing_input *input;
    struct core_config config;
    struct core *core;
};

/* ---- Code and blocks
 * --------------------------------------------------------------------------------- */

/* The costs of the blocks that any trace has. */
static int translate(struct sm *sm, struct arena *arena)
{
    const struct ptx_module *m = sm->input->run->module;
    const struct classes *classes = sm->input->classes;
    bool *used = arena_array(arena, (size_t)m->block_count, sizeof *used);

    if (!used)
        return -1;
    for (int i = 0; i < classes->warp_count; i++)
        for (int k = 0; k < classes->warps[i].stream.step_count; k++)
            used[classes->warps[i].stream.steps[k].block] = true;
    return stream_translate(m, used, arena, &sm->config);
}

/* The class of the SM's n-th block: SMs take blocks in turn, and traced blocks stand for others. */
static const struct block_class *class_of(const struct timing_input *in, int64_t block)
{
    int sms = in->run->launch->device->sms > 0 ? in->run->launch->device->sms : 1;
    int64_t linear = block * sms, traced;

    if (linear >= in->launch_blocks)
        linear = in->launch_blocks - 1;
    traced = (int64_t)((__int128)linear * in->block_count / in->launch_blocks);
    return &in->classes->blocks[in->block_classes[traced]];
}

static const struct core_stream *stream_of(const void *context, int64_t block, int warp)
{
    const struct timing_input *in = context;

    return &in->classes->warps[class_of(in, block)->warps[warp]].stream;
}

/* ---- The launch ----------------------------------------------------------------------------- */

static int shape_sm(struct sm *sm, struct ptx_timing *out, struct err *err)
{
    const struct run *run = sm->input->run;
    const struct ptx_launch *l = run->launch;
    struct launch_shape shape = { .block = run->threads_per_block,
                                  .regs = l->registers > 0 ? l->registers : 32,
                                  .static_bytes = l->kernel->static_shared_bytes,
                                  .dynamic_bytes = l->dynamic_shared_bytes,
                                  .carveout = OCCUPANCY_DEFAULT_CARVEOUT };
    struct occupancy occupancy;

    if (occupancy_of(l->device, &shape, &occupancy, err) < 0)
        return -1;
    if (!occupancy.active_blocks)
        return err_set(err, ERR_LaunchError,
                       "%s: no block of %d threads with %d registers and %d bytes fits on an SM",
                       l->kernel->name, shape.block, shape.regs, (int)run->shared_bytes);
    out->blocks_per_sm = occupancy.active_blocks;
    out->theoretical_occupancy = occupancy.occupancy;
    sm->config.warps_per_block = run->warps_per_block;
    sm->config.resident_blocks =
        (int)min_i64(occupancy.active_blocks, CORE_MAX_WARPS / run->warps_per_block);
    sm->config.partitions = (int)min_i64(max_i64(l->device->partitions, 1), CORE_MAX_PARTITIONS);
    return 0;
}

/* Sectors of global memory that the warps of one block ask for. */
static int64_t sectors_of_block(const struct sm *sm, const struct block_class *block)
{
    int64_t sum = 0;

    for (int w = 0; w < block->warp_count; w++) {
        const struct core_stream *s = &sm->input->classes->warps[block->warps[w]].stream;

        for (int i = 0; i < s->step_count; i++)
            for (int k = 0; k < s->steps[i].accesses; k++) {
                core_access access = s->accesses[s->steps[i].access + k];

                if (core_access_key(access) == SPACE_GLOBAL)
                    sum += (int64_t)core_access_amount(access) * s->steps[i].repeat;
            }
    }
    return sum;
}

/*
 * One level for a whole launch: the first that all its buffers fit into. Data come to L1 only when
 * somebody asks again: those of a launch do when its first block reads all of them twice and more.
 * L2 has one latency: an H200 takes 298 cycles where 32M of its 50M are used, and 280 before.
 */
static enum core_place level_of(const struct sm *sm)
{
    const struct device *d = sm->input->run->launch->device;
    int64_t bytes = sm->input->bytes_touched, shared = sm->input->run->shared_bytes;

    if (bytes <= costs_l1_bytes(d) - shared &&
        sectors_of_block(sm, class_of(sm->input, 0)) * SECTOR_BYTES >= 2 * bytes)
        return CORE_L1;
    return !d->l2_bytes || bytes <= d->l2_bytes ? CORE_L2 : CORE_DRAM;
}

/* What this SM gets of L2 and of memory, and which of them global accesses come from. */
static void set_memory(struct sm *sm, int64_t busy_sms)
{
    const struct device *d = sm->input->run->launch->device;
    const struct costs *costs = sm->config.costs;

    core_set_memory(&sm->config, d, busy_sms);
    if (sm->input->atomics_all)
        core_set_atomics(&sm->config, d, busy_sms, sm->input->atomics_all, sm->input->atomics_most);
    ptx_stream_places(level_of(sm), sm->config.places);
    sm->config.start_interval = busy_sms * costs->block_start_percent;
    sm->config.start_latency = costs->block_start_cycles;
}

/* Issue slots of a warp, of all blocks of this SM. */
static int64_t slots_of_warp(const struct core_config *config, const struct core_stream *stream)
{
    int64_t sum = 0;

    for (int i = 0; i < stream->step_count; i++) {
        const struct core_block *block = &config->blocks[stream->steps[i].block];
        int64_t slots = 0;

        for (int k = 0; k < block->count; k++)
            slots += config->costs->classes[block->ops[k].class].slots;
        sum += slots * stream->steps[i].repeat;
    }
    return sum;
}

static int64_t slots_of_all(const struct sm *sm, int64_t *by_class)
{
    const struct classes *classes = sm->input->classes;
    int64_t sum = 0;

    for (int i = 0; i < classes->warp_count; i++) {
        const struct warp_class *w = &classes->warps[i];
        int64_t kept = max_i64(w->instructions - w->lost, 1);

        /* What a trace that was cut does not have is like what it has. */
        by_class[i] = slots_of_warp(&sm->config, &w->stream);
        by_class[i] += (int64_t)((__int128)by_class[i] * w->lost / kept);
    }
    for (int64_t i = 0; i < sm->config.block_count; i++) {
        const struct block_class *block = class_of(sm->input, i);

        for (int k = 0; k < block->warp_count; k++)
            sum += by_class[block->warps[k]];
    }
    return sum;
}

/* A launch has ended when all that it wrote is there, though no warp waits for that. */
static int64_t end_of(const struct core *core)
{
    return max_i64(core_last_cycle(core), core_drained(core));
}

/*
 * Runs the SM. A launch of more than MAX_ISSUES issues is cut there, and what is left goes on at
 * the rate of the second half: by then every place for a block was filled anew at least once, or
 * the blocks are so long that one is like the other. So does what the traces of long warps lost.
 */
static int64_t run_sm(struct core *core, int64_t all_slots)
{
    int64_t half_cycle = 0, half_issued = 0, cycle, issued;

    while (core_issued(core) <= MAX_ISSUES && core_step(core))
        if (!half_issued && core_issued(core) > MAX_ISSUES / 2) {
            half_cycle = end_of(core);
            half_issued = core_issued(core);
        }
    cycle = end_of(core);
    issued = core_issued(core);
    if (issued >= all_slots || !issued)
        return cycle;
    if (issued <= MAX_ISSUES) /* all that there is has run: its mean counts, the end too */
        half_cycle = half_issued = 0;
    return cycle + (int64_t)((__int128)(cycle - half_cycle) * (all_slots - issued) /
                             (issued - half_issued));
}

static void fill_timing(const struct sm *sm, int64_t cycles, struct ptx_timing *out)
{
    const struct ptx_launch *l = sm->input->run->launch;
    const struct costs *costs = sm->config.costs;
    int clock = l->device->clock_mhz > 0 ? l->device->clock_mhz : 1000;
    int warps = l->device->warps_per_sm > 0 ? l->device->warps_per_sm : CORE_MAX_WARPS;
    int sms = l->device->sms > 0 ? l->device->sms : 1;
    int64_t simulated = core_last_cycle(sm->core), sum = 0;
    struct core_totals totals;

    core_totals(sm->core, simulated, &totals);
    out->cycles = cycles;
    out->clock_cycles = core_clock_cycles(sm->core);
    out->time_us = (double)cycles / clock + costs->launch_ns / 1000.0;
    if (out->time_us < costs->launch_least_ns / 1000.0)
        out->time_us = costs->launch_least_ns / 1000.0;
    out->waves = (double)sm->input->launch_blocks / ((double)out->blocks_per_sm * sms);
    for (int i = 0; i < STALL_COUNT; i++)
        sum += totals.stalls[i];
    if (!sum || !simulated)
        return;
    for (int i = 0; i < STALL_COUNT; i++)
        out->stalls[i] = (double)totals.stalls[i] / (double)sum;
    out->issue_utilization =
        (double)totals.issued / ((double)simulated * (double)sm->config.partitions);
    out->achieved_occupancy = (double)sum / ((double)simulated * warps);
}

int timing_estimate(const struct timing_input *input, struct arena *arena, struct ptx_timing *out,
                    struct err *err)
{
    const struct device *d = input->run->launch->device;
    int64_t sms = d->sms > 0 ? d->sms : 1, *slots;
    struct arena *scratch = arena_new(0);
    struct costs room;
    struct sm sm = { .input = input,
                     .config = { .costs = costs_with(d, &room),
                                 .policy = CORE_LEAST_RECENT,
                                 .block_count = ceil_div(input->launch_blocks, sms),
                                 .stream_of = stream_of,
                                 .context = input } };
    int rc = -1;

    (void)arena;
    if (!scratch)
        goto out_of_memory;
    if (shape_sm(&sm, out, err) < 0)
        goto out;
    set_memory(&sm, min_i64(sms, input->launch_blocks));
    slots = arena_array(scratch, (size_t)input->classes->warp_count, sizeof *slots);
    if (!slots || translate(&sm, scratch) < 0)
        goto out_of_memory;
    sm.core = core_new(&sm.config, NULL, scratch);
    if (!sm.core)
        goto out_of_memory;
    fill_timing(&sm, run_sm(sm.core, slots_of_all(&sm, slots)), out);
    rc = 0;
    goto out;
out_of_memory:
    err_set(err, ERR_ResourceError, "no memory for the timing model");
out:
    arena_free(&scratch);
    return rc;
}
