/*
 * Threads as keys name them. A place counts from 0 and a size from 1, so a
 * dimension that was not written means something else in each.
 */
#include "cells/threads.h"

#include "cells/internal.h"

struct extent extent_of_value(const struct value *v, int64_t missing)
{
    if (v->type != VALUE_DIM)
        return (struct extent){ v->i, missing, missing };
    return (struct extent){ v->dim.x, v->dim.count > 1 ? v->dim.y : missing,
                            v->dim.count > 2 ? v->dim.z : missing };
}

const char *extent_text(struct result *result, struct extent e, int rank)
{
    if (rank <= 1)
        return result_text(result, "%lld", (long long)e.x);
    if (rank == 2)
        return result_text(result, "(%lld,%lld)", (long long)e.x, (long long)e.y);
    return result_text(result, "(%lld,%lld,%lld)", (long long)e.x, (long long)e.y, (long long)e.z);
}

int extent_rank_of(struct extent size)
{
    return size.z > 1 ? 3 : size.y > 1 ? 2 : 1;
}

json_t *extent_json(struct extent e)
{
    return json_pack("[I, I, I]", (json_int_t)e.x, (json_int_t)e.y, (json_int_t)e.z);
}
