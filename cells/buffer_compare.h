/*
 * Whole buffers in comparisons and functions: y == ref, y == {2*i + 1}, close(y, ref, 1e-5),
 * sum(x), max({x[i] - y[i]}). Elements go by in blocks; a difference keeps its place.
 */
#ifndef WB_CELLS_BUFFER_COMPARE_H
#define WB_CELLS_BUFFER_COMPARE_H

#include "cells/expr.h"

/* How two numbers compare: by op, or within atol + rtol * |right|. */
struct compare_rule {
    int op;
    bool has_tolerance;
    double rtol, atol;
};

/*
 * Compares two expressions, at least one of which goes over elements (elementwise_is). A number,
 * or a list of as many elements, may stand on the other side. An element that was never written
 * differs from everything.
 *
 * Fails with UsageError for different lengths, and as elementwise_run does.
 */
int buffer_compare(struct scope *scope, const struct expr *left, const struct expr *right,
                   const struct compare_rule *rule, struct comparison *out,
                   struct err *err) MUST_CHECK;

/*
 * A call of sum mean min max count maxerr close same whose arguments go over elements.
 * *is_done: false when it is another call, which is then evaluated as usual.
 */
int buffer_function(struct scope *scope, const struct expr *call, bool *is_done, struct value *out,
                    struct err *err) MUST_CHECK;

/* What close and same found, for the words of a failing check. *is_done as above. */
int buffer_call_compare(struct scope *scope, const struct expr *call, bool *is_done,
                        struct comparison *out, struct err *err) MUST_CHECK;

#endif
