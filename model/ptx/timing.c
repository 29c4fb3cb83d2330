/*
 * How long a launch takes, by one SM.
 *
 * The SM with the most blocks decides when the launch ends, so that SM alone is simulated, issue by
 * issue: four schedulers, each in loose round robin, in front of units that take a new instruction
 * every few cycles. A warp waits for the results that its next instruction reads, as its trace and
 * the decoded instructions say. Memory is a latency and a server with a rate: what is asked for
 * faster than the rate queues. Time is skipped to the next event, and cycles are integers: the same
 * launch gives the same cycles everywhere.
 *
 * A launch with more instructions than MAX_ISSUES an SM is simulated for these, and the rest is
 * added at the rate of their second half.
 *
 * Left out: instruction fetch, register banks, distance to L2 slices, DRAM pages.
 */
#include "model/memory.h"
#include "model/occupancy.h"
#include "model/ptx/costs.h"
#include "model/server.h"

enum {
    MAX_PARTITIONS = 4,
    MAX_RESIDENT = 64, /* warps of an SM */
    MAX_ISSUES = 3000000,
};

#define NEVER INT64_MAX

/* An instruction as the model sees it; registers are numbered over the module. */
struct op_cost {
    uint8_t class;
    bool is_access, is_store, is_end;
    uint8_t read_count, write_count;
    uint16_t reads[MAX_DEPS], writes[MAX_DEPS];
};

struct op_list {
    const struct op_cost *ops;
    int count;
};

enum warp_state { WARP_EMPTY, WARP_RUNS, WARP_AT_BARRIER };

struct lane_warp {
    enum warp_state state;
    const struct warp_class *trace;
    int step, repeats_left, op, access; /* where it stands */
    int slot;                           /* of its block */
    int64_t since;                      /* cycle after its last issue */
    int64_t ready_at;                   /* when its next instruction may issue */
    enum ptx_stall reason;              /* why not before */
    int64_t blocked_until;              /* branches and barriers */
    enum ptx_stall blocked_by;
    int64_t *result_at; /* by register */
    uint8_t *result_by; /* enum ptx_stall of whoever makes it */
};

struct resident_block {
    int class; /* -1: empty */
    int first_warp, warps, running, at_barrier;
};

struct sub_core {
    int64_t next;                 /* cycle of its next issue; NEVER */
    int64_t issue_free;           /* cycle from which it may issue */
    int64_t unit_free[LAT_COUNT]; /* cycle from which the unit takes an instruction */
};

struct sm {
    const struct timing_input *input;
    const struct costs *costs;
    const struct op_list *blocks; /* by block id */
    int register_count;
    int partitions, resident_warps;
    struct lane_warp warps[MAX_RESIDENT];
    struct resident_block slots[MAX_RESIDENT];
    int slot_count;
    struct sub_core cores[MAX_PARTITIONS];
    struct server l1, l2;   /* sectors or passes; bytes */
    struct server starts;   /* of blocks */
    int64_t start_interval; /* between starts on this SM, in cycles x 100 */
    int64_t l2_rate;        /* bytes of L2 or memory in 16 cycles */
    int load_latency;
    int64_t next_block, blocks_here; /* of this SM */
    int64_t issued, last_cycle;
    int64_t stalls[PTX_STALL_COUNT];
};

const char *ptx_stall_name(enum ptx_stall stall)
{
    static const char *const NAMES[] = {
#define X(name, text) text,
        PTX_STALLS(X)
#undef X
    };

    return NAMES[stall];
}

/* ---- The code as costs ---------------------------------------------------------------------- */

struct numbering {
    int *number_at; /* by frame offset / 4 of one function; -1 */
    int next;
};

/* Rows that are never written (constants, parameters) make nobody wait: number 0. */
static uint16_t number_of(const struct numbering *n, uint32_t row)
{
    int v = n->number_at[row / 4];

    return (uint16_t)(v > 0 ? v : 0);
}

static void number_writes(struct numbering *n, const struct function *f)
{
    for (int i = 0; i < f->insn_count; i++)
        for (int k = 0; k < f->insns[i].deps->write_count; k++) {
            int *v = &n->number_at[f->insns[i].deps->writes[k] / 4];

            if (*v == 0 && n->next < UINT16_MAX)
                *v = n->next++;
        }
}

static void fill_op(struct op_cost *op, const struct numbering *n, const struct insn *in)
{
    op->class = in->latency;
    op->is_access = in->counter >= 0;
    op->is_store = in->flags & INSN_WRITES && !(in->flags & INSN_ATOMIC);
    op->is_end = in->control == CONTROL_EXIT;
    for (int k = 0; k < in->deps->read_count; k++) {
        uint16_t v = number_of(n, in->deps->reads[k]);

        if (v)
            op->reads[op->read_count++] = v;
    }
    for (int k = 0; k < in->deps->write_count; k++) {
        uint16_t v = number_of(n, in->deps->writes[k]);

        if (v)
            op->writes[op->write_count++] = v;
    }
}

/* Which blocks any trace has: only these are translated. */
static void mark_used(const struct classes *classes, bool *used)
{
    for (int i = 0; i < classes->warp_count; i++)
        for (int k = 0; k < classes->warps[i].step_count; k++)
            used[classes->warps[i].steps[k].block] = true;
}

static int translate_block(struct op_list *list, const struct block *b, const struct numbering *n,
                           struct arena *arena)
{
    int count = (int)(b->end - b->first) + (b->control != NULL);
    struct op_cost *ops = arena_array(arena, (size_t)count, sizeof *ops);

    if (!ops)
        return -1;
    for (int i = 0; i < count; i++)
        fill_op(&ops[i], n, b->first + i);
    *list = (struct op_list){ ops, count };
    return 0;
}

static int translate(struct sm *sm, struct arena *arena)
{
    const struct ptx_module *m = sm->input->run->module;
    struct op_list *lists = arena_array(arena, (size_t)m->block_count, sizeof *lists);
    bool *used = arena_array(arena, (size_t)m->block_count, sizeof *used);
    struct numbering n = { .next = 1 };

    if (!lists || !used)
        return -1;
    mark_used(sm->input->classes, used);
    for (int i = 0; i < m->ast.function_count; i++) {
        const struct function *f = &m->functions[i];
        bool is_needed = false;

        for (int b = 0; f->is_defined && b < f->block_count; b++)
            is_needed |= used[f->blocks[b].id];
        if (!is_needed)
            continue;
        n.number_at = arena_array(arena, f->frame_bytes / 4 + 1, sizeof *n.number_at);
        if (!n.number_at)
            return -1;
        number_writes(&n, f);
        for (int b = 0; b < f->block_count; b++)
            if (used[f->blocks[b].id] &&
                translate_block(&lists[f->blocks[b].id], &f->blocks[b], &n, arena) < 0)
                return -1;
    }
    sm->blocks = lists;
    sm->register_count = n.next;
    return 0;
}

/* ---- Warps ---------------------------------------------------------------------------------- */

static const struct op_cost *current(const struct sm *sm, const struct lane_warp *w)
{
    return &sm->blocks[w->trace->steps[w->step].block].ops[w->op];
}

/* To the next instruction; false at the end of the trace. */
static bool advance(const struct sm *sm, struct lane_warp *w)
{
    const struct step *step = &w->trace->steps[w->step];

    if (current(sm, w)->is_access)
        w->access++;
    if (++w->op < sm->blocks[step->block].count)
        return true;
    w->op = 0;
    for (;;) {
        step = &w->trace->steps[w->step];
        if (--w->repeats_left > 0) {
            w->access = step->access;
        } else {
            if (++w->step == w->trace->step_count)
                return false;
            step = &w->trace->steps[w->step];
            w->repeats_left = step->repeat;
            w->access = step->access;
        }
        if (sm->blocks[step->block].count)
            return true;
    }
}

/* When the registers that an instruction reads or writes are there, and who makes the last. */
static int64_t operands_at(const struct lane_warp *w, const struct op_cost *op,
                           enum ptx_stall *reason)
{
    int64_t at = w->blocked_until;

    *reason = w->blocked_by;
    for (int i = 0; i < op->read_count; i++)
        if (w->result_at[op->reads[i]] > at) {
            at = w->result_at[op->reads[i]];
            *reason = w->result_by[op->reads[i]];
        }
    for (int i = 0; i < op->write_count; i++)
        if (w->result_at[op->writes[i]] > at) {
            at = w->result_at[op->writes[i]];
            *reason = w->result_by[op->writes[i]];
        }
    return at;
}

/* What costs nothing passes its operands' times on. False at the end of the trace. */
static bool skip_free(const struct sm *sm, struct lane_warp *w)
{
    const struct op_cost *op = current(sm, w);

    while (sm->costs->classes[op->class].slots == 0) {
        enum ptx_stall reason;
        int64_t at = operands_at(w, op, &reason);

        for (int i = 0; i < op->write_count; i++) {
            w->result_at[op->writes[i]] = at;
            w->result_by[op->writes[i]] = (uint8_t)reason;
        }
        if (!advance(sm, w))
            return false;
        op = current(sm, w);
    }
    return true;
}

static void prepare_next(const struct sm *sm, struct lane_warp *w)
{
    w->ready_at = operands_at(w, current(sm, w), &w->reason);
    if (w->ready_at < w->since)
        w->ready_at = w->since;
}

static void start_warp(struct sm *sm, struct lane_warp *w, const struct warp_class *trace, int slot,
                       int64_t cycle)
{
    int64_t *result_at = w->result_at;
    uint8_t *result_by = w->result_by;

    *w = (struct lane_warp){ .state = WARP_RUNS,
                             .trace = trace,
                             .slot = slot,
                             .since = cycle,
                             .result_at = result_at,
                             .result_by = result_by,
                             .blocked_until = cycle,
                             .blocked_by = PTX_STALL_wait };
    memset(result_at, 0, (size_t)sm->register_count * sizeof *result_at);
    w->repeats_left = trace->step_count ? trace->steps[0].repeat : 0;
}

static const struct block_class *class_of(const struct sm *sm, int64_t block)
{
    const struct timing_input *in = sm->input;
    int sms = in->run->launch->device->sms > 0 ? in->run->launch->device->sms : 1;
    int64_t linear = block * sms, traced;

    if (linear >= in->launch_blocks)
        linear = in->launch_blocks - 1;
    traced = (int64_t)((__int128)linear * in->block_count / in->launch_blocks);
    return &in->classes->blocks[in->block_classes[traced]];
}

static void wake_core(struct sm *sm, int warp, int64_t cycle)
{
    struct sub_core *core = &sm->cores[warp % sm->partitions];

    if (core->next > cycle)
        core->next = cycle;
}

static void end_warp(struct sm *sm, int index, int64_t cycle);

static void start_block(struct sm *sm, int slot, int64_t cycle)
{
    struct resident_block *b = &sm->slots[slot];
    const struct block_class *class;

    if (sm->next_block >= sm->blocks_here) {
        b->class = -1;
        return;
    }
    cycle = server_take(&sm->starts, cycle, sm->start_interval, 100);
    class = class_of(sm, sm->next_block++);
    b->class = 0;
    b->running = b->warps = class->warp_count;
    b->at_barrier = 0;
    for (int i = 0; i < class->warp_count; i++)
        start_warp(sm, &sm->warps[b->first_warp + i], &sm->input->classes->warps[class->warps[i]],
                   slot, cycle);
    for (int i = 0; i < class->warp_count; i++) {
        int index = b->first_warp + i;
        struct lane_warp *w = &sm->warps[index];

        if (!w->trace->step_count || !skip_free(sm, w)) {
            end_warp(sm, index, cycle);
            continue;
        }
        prepare_next(sm, w);
        wake_core(sm, index, w->ready_at);
    }
}

/* ---- Barriers and ends ---------------------------------------------------------------------- */

static void open_barrier(struct sm *sm, struct resident_block *b, int64_t cycle)
{
    int64_t at =
        cycle + sm->costs->barrier_base + (int64_t)sm->costs->barrier_per_warp * b->running;

    for (int i = 0; i < b->warps; i++) {
        struct lane_warp *w = &sm->warps[b->first_warp + i];

        if (w->state != WARP_AT_BARRIER)
            continue;
        w->state = WARP_RUNS;
        w->blocked_until = at;
        w->blocked_by = PTX_STALL_barrier;
        prepare_next(sm, w);
        wake_core(sm, b->first_warp + i, w->ready_at);
    }
    b->at_barrier = 0;
}

static void end_warp(struct sm *sm, int index, int64_t cycle)
{
    struct lane_warp *w = &sm->warps[index];
    struct resident_block *b = &sm->slots[w->slot];

    w->state = WARP_EMPTY;
    b->running--;
    if (b->running > 0) {
        if (b->at_barrier == b->running)
            open_barrier(sm, b, cycle);
        return;
    }
    start_block(sm, w->slot, cycle + sm->costs->block_start_cycles);
}

/* ---- Memory --------------------------------------------------------------------------------- */

/* When the data of an access is there. */
static int64_t access_done(struct sm *sm, const struct lane_warp *w, const struct op_cost *op,
                           int64_t cycle)
{
    trace_count count = w->trace->accesses[w->access];
    int n = (int)(count & 0xffff);
    enum space space = (enum space)(count >> 16);
    int64_t l1, l2;

    if (space == SPACE_SHARED) {
        l1 = server_take(&sm->l1, cycle, n, 1);
        return l1 + sm->costs->shared_latency +
               (int64_t)(n - 1) * (sm->costs->shared_pass_latency - 1);
    }
    l1 = server_take(&sm->l1, cycle, n, sm->costs->sectors_per_cycle);
    if (space != SPACE_GLOBAL)
        return l1 + sm->costs->l1_latency;
    l2 = server_take(&sm->l2, l1, (int64_t)n * SECTOR_BYTES * 16, sm->l2_rate);
    if (op->class == LAT_ATOM)
        return l2 + sm->costs->atomic_latency;
    return l2 + sm->load_latency;
}

/* ---- Issue ---------------------------------------------------------------------------------- */

/*
 * What kept a warp from issuing since its last issue: first its operands, then others. While it
 * waits for a unit that takes an instruction every n cycles, one cycle in n is another warp's turn.
 */
static void account(struct sm *sm, const struct lane_warp *w, int interval, int64_t unit_at,
                    int64_t cycle)
{
    int64_t busy = unit_at > cycle ? cycle : unit_at;

    busy = busy > w->ready_at ? (busy - w->ready_at) * (interval - 1) / interval : 0;
    sm->stalls[w->reason] += w->ready_at - w->since;
    sm->stalls[PTX_STALL_math_pipe] += busy;
    sm->stalls[PTX_STALL_not_selected] += cycle - w->ready_at - busy;
}

static void set_results(struct lane_warp *w, const struct op_cost *op, int64_t at,
                        enum ptx_stall by)
{
    for (int i = 0; i < op->write_count; i++) {
        w->result_at[op->writes[i]] = at;
        w->result_by[op->writes[i]] = (uint8_t)by;
    }
}

static void issue(struct sm *sm, struct sub_core *core, int index, int64_t cycle)
{
    struct lane_warp *w = &sm->warps[index];
    const struct op_cost *op = current(sm, w);
    const struct class_cost *cost = &sm->costs->classes[op->class];
    int64_t done = cycle + cost->latency;

    account(sm, w, cost->interval, core->unit_free[op->class], cycle);
    sm->stalls[PTX_STALL_selected] += cost->slots;
    sm->issued += cost->slots;
    core->issue_free = cycle + cost->slots;
    core->unit_free[op->class] = cycle + (int64_t)cost->interval * cost->slots;
    w->since = cycle + cost->slots;
    w->blocked_until = w->since;
    w->blocked_by = PTX_STALL_wait;
    if (sm->last_cycle < w->since)
        sm->last_cycle = w->since;

    if (op->is_access)
        done = access_done(sm, w, op, cycle);
    set_results(w, op, done, cost->stall);
    if (op->class == LAT_BRANCH) {
        w->blocked_until = cycle + cost->latency;
        w->blocked_by = PTX_STALL_branch;
    }
    if (!advance(sm, w) || !skip_free(sm, w)) {
        end_warp(sm, index, w->since);
        return;
    }
    if (op->class == LAT_BARRIER) {
        struct resident_block *b = &sm->slots[w->slot];

        w->state = WARP_AT_BARRIER;
        if (++b->at_barrier == b->running)
            open_barrier(sm, b, cycle);
        return;
    }
    prepare_next(sm, w);
}

/*
 * Loose round robin: of those that can issue, the one that issued longest ago. Also finds when the
 * core could issue next if nobody can now.
 *
 * With few warps the policy shows: 64K threads of the divergence lesson's 32 paths take 71.2 us on
 * an H200; this policy gives 69.3 us, greedy-then-oldest 82.6 and greedy-then-youngest 83.0.
 */
static int choose(struct sm *sm, int core_index, int64_t cycle, int64_t *next)
{
    struct sub_core *core = &sm->cores[core_index];
    int best = -1;

    *next = NEVER;
    for (int i = core_index; i < sm->resident_warps; i += sm->partitions) {
        const struct lane_warp *w = &sm->warps[i];
        int64_t at;

        if (w->state != WARP_RUNS)
            continue;
        at = core->unit_free[current(sm, w)->class];
        at = at > w->ready_at ? at : w->ready_at;
        at = at > core->issue_free ? at : core->issue_free;
        if (at > cycle) {
            *next = at < *next ? at : *next;
            continue;
        }
        if (best < 0 || w->since < sm->warps[best].since)
            best = i;
    }
    return best;
}

/* One event: false when every block is done. */
static bool step(struct sm *sm)
{
    int64_t cycle = NEVER, next;
    int warp;

    for (int i = 0; i < sm->partitions; i++)
        cycle = sm->cores[i].next < cycle ? sm->cores[i].next : cycle;
    if (cycle == NEVER)
        return false;
    for (int i = 0; i < sm->partitions; i++) {
        struct sub_core *core = &sm->cores[i];

        if (core->next != cycle)
            continue;
        warp = choose(sm, i, cycle, &next);
        if (warp < 0) {
            core->next = next;
            continue;
        }
        core->next = NEVER;
        issue(sm, core, warp, cycle);
        wake_core(sm, i, core->issue_free);
    }
    return true;
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
    sm->slot_count = (int)min_i64(occupancy.active_blocks, MAX_RESIDENT / run->warps_per_block);
    sm->resident_warps = sm->slot_count * run->warps_per_block;
    sm->partitions = (int)min_i64(max_i64(l->device->partitions, 1), MAX_PARTITIONS);
    return 0;
}

/* Bytes per 16 cycles for this SM: its share of the level that the data comes from. */
static void set_memory(struct sm *sm, int64_t busy_sms)
{
    const struct device *d = sm->input->run->launch->device;
    bool is_in_l2 = !d->l2_bytes || sm->input->bytes_touched <= d->l2_bytes;
    int64_t device_rate = (int64_t)sm->costs->l2_bytes_per_cycle * 16;

    sm->load_latency = is_in_l2 ? sm->costs->l2_latency : sm->costs->memory_latency;
    if (!is_in_l2 && d->clock_mhz > 0 && d->bandwidth_gbs > 0)
        device_rate = (int64_t)(d->bandwidth_gbs * 1000.0 / d->clock_mhz * 16.0) *
                      sm->costs->memory_percent / 100;
    sm->l2_rate = min_i64(device_rate / busy_sms, (int64_t)sm->costs->sm_bytes_per_cycle * 16);
    sm->l2_rate = max_i64(sm->l2_rate, 1);
}

static int make_warps(struct sm *sm, struct arena *arena)
{
    for (int i = 0; i < sm->resident_warps; i++) {
        struct lane_warp *w = &sm->warps[i];

        w->result_at = arena_array(arena, (size_t)sm->register_count, sizeof *w->result_at);
        w->result_by = arena_array(arena, (size_t)sm->register_count, sizeof *w->result_by);
        if (!w->result_at || !w->result_by)
            return -1;
    }
    return 0;
}

/* Issue slots of a warp, of all blocks of this SM. */
static int64_t slots_of_warp(const struct sm *sm, const struct warp_class *warp)
{
    int64_t sum = 0;

    for (int i = 0; i < warp->step_count; i++) {
        const struct op_list *list = &sm->blocks[warp->steps[i].block];
        int64_t slots = 0;

        for (int k = 0; k < list->count; k++)
            slots += sm->costs->classes[list->ops[k].class].slots;
        sum += slots * warp->steps[i].repeat;
    }
    return sum;
}

static int64_t slots_of_all(const struct sm *sm, int64_t *by_class)
{
    const struct classes *classes = sm->input->classes;
    int64_t sum = 0;

    for (int i = 0; i < classes->warp_count; i++)
        by_class[i] = slots_of_warp(sm, &classes->warps[i]);
    for (int64_t i = 0; i < sm->blocks_here; i++) {
        const struct block_class *block = class_of(sm, i);

        for (int k = 0; k < block->warp_count; k++)
            sum += by_class[block->warps[k]];
    }
    return sum;
}

/*
 * Runs the SM. A launch of more than MAX_ISSUES issues is cut there, and what is left goes on at
 * the rate of the second half: by then every place for a block was filled anew at least once, or
 * the blocks are so long that one is like the other.
 */
static int64_t run_sm(struct sm *sm, int64_t all_slots)
{
    int64_t half_cycle = 0, half_issued = 0;

    for (int i = 0; i < MAX_PARTITIONS; i++)
        sm->cores[i] = (struct sub_core){ .next = NEVER };
    for (int i = 0; i < sm->slot_count; i++) {
        sm->slots[i].first_warp = i * sm->input->run->warps_per_block;
        start_block(sm, i, 0);
    }
    while (step(sm)) {
        if (!half_issued && sm->issued > MAX_ISSUES / 2) {
            half_cycle = sm->last_cycle;
            half_issued = sm->issued;
        }
        if (sm->issued > MAX_ISSUES)
            break;
    }
    if (sm->issued >= all_slots || sm->issued <= MAX_ISSUES)
        return sm->last_cycle;
    return sm->last_cycle + (int64_t)((__int128)(sm->last_cycle - half_cycle) *
                                      (all_slots - sm->issued) / (sm->issued - half_issued));
}

static void fill_timing(const struct sm *sm, int64_t cycles, struct ptx_timing *out)
{
    const struct ptx_launch *l = sm->input->run->launch;
    int clock = l->device->clock_mhz > 0 ? l->device->clock_mhz : 1000;
    int warps = l->device->warps_per_sm > 0 ? l->device->warps_per_sm : MAX_RESIDENT;
    int sms = l->device->sms > 0 ? l->device->sms : 1;
    int64_t sum = 0;

    out->cycles = cycles;
    out->time_us = (double)cycles / clock + sm->costs->launch_ns / 1000.0;
    if (out->time_us < sm->costs->launch_least_ns / 1000.0)
        out->time_us = sm->costs->launch_least_ns / 1000.0;
    out->waves = (double)sm->input->launch_blocks / ((double)out->blocks_per_sm * sms);
    for (int i = 0; i < PTX_STALL_COUNT; i++)
        sum += sm->stalls[i];
    if (!sum || !sm->last_cycle)
        return;
    for (int i = 0; i < PTX_STALL_COUNT; i++)
        out->stalls[i] = (double)sm->stalls[i] / (double)sum;
    out->issue_utilization = (double)sm->issued / ((double)sm->last_cycle * (double)sm->partitions);
    out->achieved_occupancy = (double)sum / ((double)sm->last_cycle * warps);
}

int timing_estimate(const struct timing_input *input, struct arena *arena, struct ptx_timing *out,
                    struct err *err)
{
    const struct device *d = input->run->launch->device;
    int64_t sms = d->sms > 0 ? d->sms : 1;
    struct arena *scratch = arena_new(0);
    struct sm *sm = scratch ? arena_alloc(scratch, sizeof *sm) : NULL;
    int64_t *slots;
    int rc = -1;

    (void)arena;
    if (!sm)
        goto out_of_memory;
    sm->input = input;
    sm->costs = costs_of(d);
    if (shape_sm(sm, out, err) < 0)
        goto out;
    if (translate(sm, scratch) < 0 || make_warps(sm, scratch) < 0)
        goto out_of_memory;
    slots = arena_array(scratch, (size_t)input->classes->warp_count, sizeof *slots);
    if (!slots)
        goto out_of_memory;
    sm->blocks_here = ceil_div(input->launch_blocks, sms);
    sm->start_interval = min_i64(sms, input->launch_blocks) * sm->costs->block_start_percent;
    set_memory(sm, min_i64(sms, input->launch_blocks));
    fill_timing(sm, run_sm(sm, slots_of_all(sm, slots)), out);
    rc = 0;
    goto out;
out_of_memory:
    err_set(err, ERR_ResourceError, "no memory for the timing model");
out:
    arena_free(&scratch);
    return rc;
}
