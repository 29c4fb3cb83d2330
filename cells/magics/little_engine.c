/*
 * %little's points on the core layer: the closed forms are curves, and what an SM's schedulers make
 * of the same warps are points beside them. Points cost instructions, so a call has a budget of
 * them; in a long sweep only every n-th value of the first key is simulated.
 */
#include "cells/magics/little.h"

#include "cells/internal.h"
#include "model/little_core.h"

#include <math.h>

enum { BUDGET = 300000, LEAST_ROUNDS = 4, MOST_ROUNDS = 16 };

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

int little_simulate(struct little_case *cases, size_t count, size_t inner, const struct call *call,
                    struct err *err)
{
    size_t stride = 1;
    int64_t all;
    int rounds;

    while (stride * inner < count &&
           instructions_of_all(cases, count, inner, stride) * LEAST_ROUNDS > BUDGET)
        stride++;
    all = max_i64(instructions_of_all(cases, count, inner, stride), 1);
    rounds = (int)max_i64(min_i64(BUDGET / all, MOST_ROUNDS), LEAST_ROUNDS);
    for (size_t i = 0; i < count; i++) {
        struct little_case *c = &cases[i];
        int64_t cost = instructions(c, rounds);

        if (i / inner % stride || !cost || cost > BUDGET)
            continue;
        if (call_check_stop(call, err) < 0 ||
            little_core_run(&c->device.device, &c->machine, &c->kernel, rounds, c->plain.limit,
                            &c->simulated, err) < 0)
            return -1;
    }
    return 0;
}

struct little_agreement little_compare(const struct little_case *cases, size_t count)
{
    struct little_agreement out = { 0 };

    for (size_t i = 0; i < count; i++) {
        double difference = fabs(cases[i].simulated.fraction - cases[i].plain.fraction);

        if (!cases[i].simulated.cycles)
            continue;
        out.simulated++;
        if (out.simulated == 1 || difference > out.difference) {
            out.difference = difference;
            out.at = i;
        }
    }
    return out;
}
