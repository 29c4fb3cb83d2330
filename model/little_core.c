/*
 * A round of a warp is `ilp` loads side by side, then alpha times an operation on each of what they
 * brought; the next round's loads need what the last operations made. Throughput is counted from
 * the end of some round to the end of one that is whole rounds of all warps later.
 */
#include "model/little_core.h"

#include "model/core.h"
#include "model/memory.h"
#include "model/server.h"

#include <math.h>

enum {
    RATE_CYCLES = 4096,
    NO_LIMIT = 1 << 24,
    MOST_LATENCY = 60000,
    MOST_ILP = 64,
    MOST_BURST = 1 << 20,
};

/* What a round is made of. */
struct round {
    struct core_op loads[MOST_ILP], operations[MOST_ILP];
    core_access accesses[MOST_ILP];
    struct core_block blocks[2];
    struct core_step steps[2];
    struct core_stream stream;
};

static bool is_whole(double v, double least, double most)
{
    return v >= least && v <= most && v == floor(v);
}

/* The closed form's rate is that of the unit, if a warp takes it for whole cycles. */
static bool is_whole_interval(const struct device *dev)
{
    return dev->fp32_lanes * costs_fma_interval(dev) == WARP * dev->partitions;
}

int64_t little_core_instructions(const struct device *dev, const struct little_machine *machine,
                                 const struct little_kernel *kernel, int rounds)
{
    bool has_load = kernel->bytes_per_warp > 0;

    if (!is_whole(kernel->warps, 1, CORE_MAX_WARPS) || !is_whole(kernel->ilp, 1, MOST_ILP) ||
        !is_whole(kernel->alpha, 0, 1e6) || !is_whole(machine->alu_latency, 1, MOST_LATENCY) ||
        (has_load && !is_whole(machine->memory_latency, 1, MOST_LATENCY)) ||
        dev->partitions > CORE_MAX_PARTITIONS || !is_whole_interval(dev))
        return 0;
    return (int64_t)(kernel->warps * kernel->ilp * (kernel->alpha + has_load)) * rounds;
}

/* What a load that is alone spends in the servers on its way, which is part of its latency. */
static int64_t way(const struct core_config *config, int64_t sectors)
{
    struct server l1 = { 0 }, memory = { 0 };
    int64_t at = server_take(&l1, 0, sectors, config->costs->sectors_per_cycle);

    return server_take(&memory, at, sectors * SECTOR_BYTES * config->rate_cycles,
                       config->dram_rate);
}

/* The burst that makes the closed form's wait (core.h): queue = burst / 2 x the time of a load. */
static int burst_of(const struct little_machine *machine, const struct little_kernel *kernel)
{
    double own = machine->memory_rate > 0 ? kernel->bytes_per_warp / machine->memory_rate : 0;

    return kernel->queue > 0 && own > 0 ? (int)fmin(2 * kernel->queue / own + 0.5, MOST_BURST) : 0;
}

static void fill_round(const struct little_machine *machine, const struct little_kernel *kernel,
                       const struct core_config *config, struct round *r)
{
    int64_t sectors = (int64_t)kernel->bytes_per_warp / SECTOR_BYTES;
    int ilp = (int)kernel->ilp, steps = 0;
    double latency = sectors ? fmax(machine->memory_latency - (double)way(config, sectors), 1) : 0;

    for (int i = 0; i < ilp; i++) {
        uint16_t result = (uint16_t)(1 + i);
        struct core_op op = { .class = LAT_FMA,
                              .lanes = WARP,
                              .latency = (uint16_t)machine->alu_latency,
                              .read_count = 1,
                              .write_count = 1,
                              .reads = { result },
                              .writes = { result } };

        r->operations[i] = r->loads[i] = op;
        r->loads[i].class = LAT_GLOBAL;
        r->loads[i].is_access = true;
        r->loads[i].latency = (uint16_t)latency;
        r->accesses[i] = core_access_of(CORE_DRAM, sectors);
    }
    r->blocks[0] = (struct core_block){ r->loads, ilp };
    r->blocks[1] = (struct core_block){ r->operations, ilp };
    if (sectors)
        r->steps[steps++] = (struct core_step){ .block = 0, .repeat = 1, .accesses = ilp };
    if (kernel->alpha > 0)
        r->steps[steps++] = (struct core_step){ .block = 1, .repeat = (int)kernel->alpha };
    r->stream = (struct core_stream){
        .steps = r->steps, .step_count = steps, .accesses = r->accesses, .is_endless = true
    };
}

static const struct core_stream *stream_of(const void *context, int64_t block, int warp)
{
    (void)block;
    (void)warp;
    return context;
}

/* To the event in which the warps' rounds reach a number; the cycle behind it. */
static int64_t run_rounds(struct core *core, int64_t rounds)
{
    while (core_rounds(core, -1) < rounds && core_step(core))
        ;
    return core_last_cycle(core);
}

/* Instructions and not ends of rounds, which may come in bursts. */
static void count_rounds(struct core *core, const struct little_kernel *kernel, int rounds,
                         double limit, struct little_simulated *out)
{
    double in_iteration = kernel->alpha + (kernel->bytes_per_warp > 0);
    int64_t warps = (int64_t)kernel->warps, settle = max_i64(rounds / 2, 1);
    int64_t from = run_rounds(core, warps * settle), issued = core_issued(core);
    int64_t to = run_rounds(core, core_rounds(core, -1) + warps * (rounds - settle));

    out->cycles = to - from;
    out->throughput = (double)(core_issued(core) - issued) / in_iteration / (double)out->cycles;
    out->latency = kernel->warps * kernel->ilp / out->throughput;
    out->fraction = out->throughput / limit;
}

int little_core_run(const struct device *dev, const struct little_machine *machine,
                    const struct little_kernel *kernel, int rounds, double limit,
                    struct little_simulated *out, struct err *err)
{
    struct arena *arena = arena_new(0);
    struct costs costs;
    struct core_config config = { .costs = costs_with(dev, &costs),
                                  .partitions = dev->partitions,
                                  .policy = POLICY_LRR,
                                  .l2_rate = (int64_t)NO_LIMIT * RATE_CYCLES,
                                  .dram_rate = (int64_t)(machine->memory_rate * RATE_CYCLES),
                                  .rate_cycles = RATE_CYCLES,
                                  .burst = burst_of(machine, kernel),
                                  .seed = 1,
                                  .places = { [CORE_DRAM] = CORE_DRAM },
                                  .register_count = (int)kernel->ilp + 1,
                                  .resident_blocks = (int)kernel->warps,
                                  .warps_per_block = 1,
                                  .block_count = (int)kernel->warps,
                                  .stream_of = stream_of };
    struct round *round = arena ? arena_alloc(arena, sizeof *round) : NULL;
    struct core *core = NULL;

    if (round) {
        config.dram_rate = max_i64(config.dram_rate, 1);
        fill_round(machine, kernel, &config, round);
        config.blocks = round->blocks;
        config.context = &round->stream;
        core = core_new(&config, NULL, arena);
    }
    if (core)
        count_rounds(core, kernel, rounds, limit, out);
    arena_free(&arena);
    return core ? 0 : err_set(err, ERR_ResourceError, "out of memory for the warps of a core");
}
