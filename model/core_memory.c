/*
 * The memory layer. A level is a latency and a server with a rate: L1 passes sectors or banks, L2
 * and DRAM bytes. An access takes its place in every level on its way, so that alone it takes its
 * latency, and with many others the time that the slowest level needs for all of them.
 */
#include "model/core_internal.h"

#include "model/base/philox.h"

/* Over so many cycles a share of a bandwidth is a whole number of bytes, nearly. */
enum { RATE_CYCLES = 16 };

const char *core_place_name(enum core_place place)
{
    static const char *const NAMES[] = { "shared", "L1", "L2", "far L2", "DRAM" };

    return NAMES[place];
}

void core_set_memory(struct core_config *config, const struct device *device, int64_t busy_sms)
{
    const struct costs *costs = config->costs;
    int64_t l2 = (int64_t)costs->l2_bytes_per_cycle * RATE_CYCLES, dram = l2;
    int64_t most = (int64_t)costs->sm_bytes_per_cycle * RATE_CYCLES;

    if (device->clock_mhz > 0 && device->bandwidth_gbs > 0)
        dram = (int64_t)(device->bandwidth_gbs * 1000.0 / device->clock_mhz * RATE_CYCLES) *
               costs->memory_percent / 100;
    config->rate_cycles = RATE_CYCLES;
    config->l2_rate = max_i64(min_i64(l2 / busy_sms, most), 1);
    config->dram_rate = max_i64(min_i64(dram / busy_sms, most), 1);
    core_set_atomics(config, device, busy_sms, costs->l2_slices, 1);
}

void core_set_atomics(struct core_config *config, const struct device *device, int64_t busy_sms,
                      int64_t all, int64_t most)
{
    int64_t clock = device->clock_mhz > 0 ? device->clock_mhz : 1000;
    int64_t l2_clock = config->costs->l2_mhz ? config->costs->l2_mhz : clock;
    int64_t slices = SERVER_FINE * max_i64(all, 1) / max_i64(most, 1);

    config->atomic_cycles = clock * busy_sms * SERVER_FINE;
    config->atomic_rate = l2_clock * max_i64(slices, SERVER_FINE);
}

static int64_t serve_l2(struct core *core, int64_t cycle, int64_t sectors)
{
    return server_take(&core->l2, cycle, sectors * SECTOR_BYTES * core->config.rate_cycles,
                       core->config.l2_rate);
}

static int64_t serve_atomics(struct core *core, int64_t cycle, int64_t operations)
{
    return server_take(&core->atomics, cycle, operations * core->config.atomic_cycles,
                       core->config.atomic_rate);
}

static int latency_of(const struct core *core, const struct core_op *op, enum core_place place)
{
    const struct costs *costs = core->config.costs;

    if (op->latency)
        return op->latency;
    if (op->class == LAT_ATOM && place > CORE_L1)
        return costs->atomic_latency;
    switch (place) {
    case CORE_SHARED:
        return costs->shared_latency;
    case CORE_L1:
        return costs->l1_latency;
    case CORE_L2:
        return costs->l2_latency;
    case CORE_FAR:
        return costs->far_latency;
    default:
        return costs->memory_latency;
    }
}

/* How many times its own time an access holds DRAM. */
static int64_t share_of_burst(struct core *core)
{
    int burst = core->config.burst;
    uint32_t word;

    if (burst <= 1)
        return 1;
    word = philox_at(core->config.seed, core->served++, 1).word[0];
    return philox_below(word, (uint32_t)burst - 1) == 0 ? burst : 0;
}

static int64_t serve_dram(struct core *core, int64_t cycle, int64_t bytes)
{
    return server_take(&core->dram, cycle, bytes * share_of_burst(core) * core->config.rate_cycles,
                       core->config.dram_rate);
}

/* When the data of an access is there: every level on the way may make it queue. */
int64_t memory_access_done(struct core *core, const struct candidate *c, int64_t cycle)
{
    const struct costs *costs = core->config.costs;
    enum core_place place = (enum core_place)core->config.places[core_access_key(c->access)];
    int64_t n = core_access_amount(c->access), at;
    int latency;

    if (place == CORE_L1 && c->op->is_past_l1)
        place = CORE_L2;
    latency = latency_of(core, c->op, place);
    core->totals.sectors[place] += n;
    if (place == CORE_SHARED)
        return server_take(&core->l1, cycle, n, 1) + latency +
               (n - 1) * (costs->shared_pass_latency - 1);
    at = server_take(&core->l1, cycle, n, costs->sectors_per_cycle);
    if (c->op->class == LAT_ATOM && place > CORE_L1 && core->config.atomic_rate)
        at = serve_atomics(core, at, core_access_behind(c->access));
    if (place == CORE_L2 || place == CORE_FAR)
        at = serve_l2(core, at, core_access_behind(c->access));
    if (place == CORE_DRAM) {
        int64_t through_l2 = serve_l2(core, at, core_access_behind(c->access));

        at = serve_dram(core, at, core_access_memory_bytes(c->access));
        at = max_i64(at, through_l2);
    }
    core->drained = max_i64(core->drained, at);
    return at + latency;
}
