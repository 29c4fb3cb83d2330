/*
 * Little's law: what is under way at once is what finishes a cycle times how
 * many cycles each takes. A latency cannot be made shorter by asking for it, so
 * a kernel that wants more throughput must have more under way: more warps, more
 * independent work in each, or more bytes in each load.
 *
 * The law needs the latency under load. Memory that is asked for nearly all that
 * it has makes its callers wait, and then more must be under way than the latency
 * of an idle device says.
 */
#include "model/little.h"

#include <math.h>

static const char *const BOUND_NAMES[] = {
#define X(id, name) name,
    LITTLE_BOUNDS(X)
#undef X
};

const char *little_bound_name(enum little_bound bound)
{
    return BOUND_NAMES[bound];
}

const struct little_measured LITTLE_MEASURED[] = {
    { 16, 31 },   { 64, 122 },    { 128, 245 },   { 256, 486 },
    { 512, 935 }, { 1024, 1715 }, { 1536, 2314 }, { 2048, 2775 },
};
const size_t LITTLE_MEASURED_COUNT = COUNT(LITTLE_MEASURED);

int little_solve(struct little_law *law, enum little_term unknown, struct err *err)
{
    static const char *const names[] = { "concurrency", "latency", "throughput" };
    double *const terms[] = { &law->concurrency, &law->latency, &law->throughput };

    for (int i = 0; i < (int)COUNT(terms); i++)
        if (i != (int)unknown && !(*terms[i] > 0))
            return err_set(err, ERR_ValueError, "%s=%g: it is above 0", names[i], *terms[i]);
    if (unknown == LITTLE_CONCURRENCY)
        law->concurrency = law->latency * law->throughput;
    else if (unknown == LITTLE_LATENCY)
        law->latency = law->concurrency / law->throughput;
    else
        law->throughput = law->concurrency / law->latency;
    return 0;
}

struct little_machine little_machine_of(const struct device *dev, double bandwidth)
{
    double rate = bandwidth > 0 ? bandwidth : dev->bandwidth_gbs * 1e9;

    return (struct little_machine){
        .issue_rate = dev->partitions,
        .alu_rate = (double)dev->fp32_lanes / WARP,
        .memory_rate = dev->sms && dev->clock_mhz ? rate / (dev->clock_mhz * 1e6) / dev->sms : 0,
    };
}

/*
 * Throughput, in parts u of the memory's rate, at which n iterations are under way, both sides in
 * cycles: n = u (latency + queue u / (1 - u)). In u it is
 * (latency - queue) u^2 - (n + latency) u + n = 0, of which the smaller root is below 1.
 */
static double loaded_part(double n, double latency, double queue)
{
    double a = latency - queue, b = n + latency;

    return 2 * n / (b + sqrt(b * b - 4 * a * n));
}

/* What each unit allows, in iterations a cycle. */
static void unit_limits(const struct little_machine *m, const struct little_kernel *k,
                        double limits[LITTLE_BOUND_COUNT])
{
    double instructions = k->alpha + (k->bytes_per_warp > 0);

    limits[LITTLE_BOUND_LATENCY] = INFINITY;
    limits[LITTLE_BOUND_MEMORY] =
        k->bytes_per_warp > 0 ? m->memory_rate / k->bytes_per_warp : INFINITY;
    limits[LITTLE_BOUND_ARITHMETIC] = k->alpha > 0 ? m->alu_rate / k->alpha : INFINITY;
    limits[LITTLE_BOUND_ISSUE] = m->issue_rate / instructions;
}

static int check(const struct little_machine *m, const struct little_kernel *k, struct err *err)
{
    if (k->warps < 1 || k->ilp < 1)
        return err_set(err, ERR_ValueError, "warps=%g ilp=%g: both are at least 1", k->warps,
                       k->ilp);
    if (k->alpha < 0 || k->alpha + k->bytes_per_warp <= 0)
        return err_set(err, ERR_ValueError, "alpha=%g: an iteration has at least one instruction",
                       k->alpha);
    if (k->bytes_per_warp > 0 && !(m->memory_rate > 0))
        return err_set(err, ERR_ValueError, "the device's bandwidth, clock or SMs are unknown");
    return 0;
}

int little_run(const struct little_machine *machine, const struct little_kernel *kernel,
               struct little_point *out, struct err *err)
{
    double limits[LITTLE_BOUND_COUNT], n = kernel->warps * kernel->ilp, alone, wanted;

    if (check(machine, kernel, err) < 0)
        return -1;
    unit_limits(machine, kernel, limits);
    *out = (struct little_point){ .unit = LITTLE_BOUND_MEMORY };
    for (int i = LITTLE_BOUND_MEMORY; i < LITTLE_BOUND_COUNT; i++)
        if (limits[i] < limits[out->unit])
            out->unit = (enum little_bound)i;
    out->limit = limits[out->unit];

    alone = kernel->alpha * machine->alu_latency +
            (kernel->bytes_per_warp > 0 ? machine->memory_latency : 0);
    wanted = n / alone;
    if (kernel->queue > 0 && kernel->bytes_per_warp > 0)
        wanted = limits[LITTLE_BOUND_MEMORY] *
                 loaded_part(n / limits[LITTLE_BOUND_MEMORY], alone, kernel->queue);
    out->needed = out->limit * alone;
    out->throughput = wanted < out->limit ? wanted : out->limit;
    out->fraction = out->throughput / out->limit;
    out->latency = n / out->throughput;
    out->bound = wanted < out->limit ? LITTLE_BOUND_LATENCY : out->unit;
    return 0;
}
