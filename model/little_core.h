/*
 * The kernels of little.h on the core layer (core.h): the same warps, loads and operations, issued
 * one by one by an SM's schedulers, with memory as a latency and a server with a rate. Where the
 * closed form only multiplies, this sees which scheduler a warp belongs to, that a warp issues in
 * order, and who waits for a unit; so the two differ, and by how much is worth knowing.
 */
#ifndef WB_MODEL_LITTLE_CORE_H
#define WB_MODEL_LITTLE_CORE_H

#include "model/little.h"

struct little_simulated {
    int64_t cycles;    /* over which iterations were counted; 0: it was not simulated */
    double throughput; /* iterations a cycle, all warps together */
    double latency;    /* cycles of an iteration */
    double fraction;   /* of the closed form's limit */
};

/*
 * Warp instructions that a simulation of `rounds` rounds of every warp issues; 0: the core layer
 * cannot have the kernel, because it has whole cycles and operations and at most 64 warps.
 */
int64_t little_core_instructions(const struct device *dev, const struct little_machine *machine,
                                 const struct little_kernel *kernel, int rounds);

/*
 * Runs a kernel that little_core_instructions is not 0 of: half of the rounds (2 or more) to
 * settle, the others counted. limit: the closed form's, iterations a cycle. Fails with
 * ResourceError.
 *
 * A load alone takes memory_latency, its way through L1 and memory included. With kernel->queue
 * memory works in bursts that make who comes wait as long on average (core.h), so that latency
 * rises with load here too; that is random, and takes some 256 rounds to be known to 1 or 2 %.
 */
int little_core_run(const struct device *dev, const struct little_machine *machine,
                    const struct little_kernel *kernel, int rounds, double limit,
                    struct little_simulated *out, struct err *err) MUST_CHECK;

#endif
