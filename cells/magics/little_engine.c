/*
 * %little's points on the core layer: the closed forms are curves, and what an SM's schedulers make
 * of the same warps are points beside them. Points cost instructions, so a call has a budget of
 * them; in a long sweep only every n-th value of the first key is simulated.
 */
#include "cells/magics/little.h"

#include "cells/internal.h"
#include "model/little_core.h"

#include <math.h>

/* How long a call may simulate: instructions, and rounds of each case's warps. */
struct patience {
    int64_t budget;
    int least, most;
};
static const struct patience ALONE = { 300000, 4, 16 };
/* Bursts are random: the fewer there are, the less they say. */
static const struct patience CROWDED = { 600000, 64, 256 };

static int64_t instructions(const struct little_case *c, int rounds)
{
    return little_core_instructions(&c->device.device, &c->machine, &c->kernel, rounds);
}

static int64_t instructions_of_all(const struct little_case *cases, size_t count, size_t inner,
                                   size_t stride)
{
    int64_t sum = 0;

    for (size_t i = 0; i < count; i++)
        if (i / inner % stride == 0)
            sum += instructions(&cases[i], 1);
    return sum;
}

static int simulate_one(struct little_case *c, bool is_crowded, int rounds, struct err *err)
{
    struct little_kernel kernel = c->kernel;

    if (!is_crowded)
        kernel.queue = 0;
    return little_core_run(&c->device.device, &c->machine, &kernel, rounds, c->plain.limit,
                           is_crowded ? &c->crowded : &c->simulated, err);
}

static bool has_crowd(const struct little_case *c)
{
    return !c->is_arithmetic && c->kernel.queue > 0;
}

static int simulate(struct little_case *cases, size_t count, size_t inner, bool is_crowded,
                    const struct call *call, struct err *err)
{
    const struct patience *p = is_crowded ? &CROWDED : &ALONE;
    size_t stride = 1;
    int64_t all;
    int rounds;

    while (stride * inner < count &&
           instructions_of_all(cases, count, inner, stride) * p->least > p->budget)
        stride++;
    all = max_i64(instructions_of_all(cases, count, inner, stride), 1);
    rounds = (int)max_i64(min_i64(p->budget / all, p->most), p->least);
    for (size_t i = 0; i < count; i++) {
        int64_t cost = instructions(&cases[i], rounds);

        if (i / inner % stride || !cost || cost > p->budget ||
            (is_crowded && !has_crowd(&cases[i])))
            continue;
        if (call_check_stop(call, err) < 0 || simulate_one(&cases[i], is_crowded, rounds, err) < 0)
            return -1;
    }
    return 0;
}

int little_simulate(struct little_case *cases, size_t count, size_t inner, const struct call *call,
                    struct err *err)
{
    return simulate(cases, count, inner, false, call, err);
}

int little_simulate_crowded(struct little_case *cases, size_t count, size_t inner,
                            const struct call *call, struct err *err)
{
    return simulate(cases, count, inner, true, call, err);
}

struct little_agreement little_compare(const struct little_case *cases, size_t count,
                                       bool is_crowded)
{
    struct little_agreement out = { 0 };

    for (size_t i = 0; i < count; i++) {
        const struct little_case *c = &cases[i];
        const struct little_simulated *s = is_crowded ? &c->crowded : &c->simulated;
        double difference = fabs(s->fraction - (is_crowded ? &c->loaded : &c->plain)->fraction);

        if (!s->cycles)
            continue;
        out.simulated++;
        if (out.simulated == 1 || difference > out.difference) {
            out.difference = difference;
            out.at = i;
        }
    }
    return out;
}
