/*
 * How long a launch on the interpreter will take, before it runs.
 */
#ifndef WB_KERNELS_MODEL_ESTIMATE_H
#define WB_KERNELS_MODEL_ESTIMATE_H

#include "model/ptx/ptx.h"

enum { ESTIMATE_FROM_MS = 5000 }; /* a launch that takes at least so long says so */

struct launch_estimate {
    int64_t ms;    /* wall time; 0: less than ESTIMATE_FROM_MS, or not known */
    bool is_least; /* a sampled block did not come to its end: it takes that or more */
};

/*
 * Tries three blocks, undoes what they did, and multiplies (ptx_launch_cost). A launch that it says
 * nothing about is charged some tens of microseconds, a long one at most a tenth of its time.
 */
struct launch_estimate model_estimate(const struct ptx_module *module,
                                      const struct ptx_launch *launch, struct arena *arena);

#endif
