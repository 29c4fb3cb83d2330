/*
 * The experiments by name, and the few sums that running, drawing and concluding share.
 */
#include "kernels/experiment.h"

#include <math.h>

EXPERIMENT_SOURCE(stamp)

#define X(name) &EXPERIMENT_##name,
const struct experiment *const EXPERIMENTS[] = { EXPERIMENT_NAMES(X) };
#undef X
const size_t EXPERIMENT_COUNT = COUNT(EXPERIMENTS);

struct bytes experiment_prelude(void)
{
    return stamp_source();
}

const struct experiment *experiment_find(const char *name)
{
    for (size_t i = 0; i < EXPERIMENT_COUNT; i++)
        if (strcmp(EXPERIMENTS[i]->name, name) == 0)
            return EXPERIMENTS[i];
    return NULL;
}

int experiment_index(const int64_t *values, size_t count, int64_t value)
{
    for (size_t i = 0; i < count; i++)
        if (values[i] == value)
            return (int)i;
    return -1;
}

double experiment_error(const double *a, const double *b, size_t n)
{
    double sum = 0;
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        if (isfinite(a[i]) && isfinite(b[i]) && b[i] != 0) {
            sum += fabs(a[i] - b[i]) / fabs(b[i]);
            count++;
        }
    return count ? 100 * sum / (double)count : (double)NAN;
}

void experiment_put_value(const struct experiment_key *key, int64_t value, struct buf *out)
{
    if (key->names)
        buf_puts(out, key->names[value]);
    else if (key->is_bytes && value >= 1 << 20 && value % (1 << 20) == 0)
        buf_printf(out, "%lldM", (long long)(value >> 20));
    else if (key->is_bytes && value >= 1024 && value % 1024 == 0)
        buf_printf(out, "%lldK", (long long)(value >> 10));
    else
        buf_printf(out, "%lld", (long long)value);
}
