/*
 * What the blocks of %schedule cost: a number of cycles for all, or an expression in the block's
 * number i, which is evaluated for each of them.
 */
#include "cells/magics/schedule.h"

#include "cells/expr.h"
#include "cells/internal.h"
#include "cells/magics.h"

#include <math.h>

enum {
    MOST_COSTS = 1 << 20, /* blocks that an expression is evaluated for */
    MOST_LEFT = 1 << 20,  /* bytes of evaluations before their memory is freed */
};

/* The expression's value for block i as cycles. */
static int eval_cost(const struct call *call, struct scope *scope, const struct expr *expr,
                     int64_t i, int64_t *out, struct err *err)
{
    struct local local = { "i", value_int(i) };
    struct value v;
    double cycles;

    scope->locals = &local;
    scope->local_count = 1;
    if (expr_eval(scope, expr, &v, err) < 0)
        return -1;
    if (!value_as_float(&v, &cycles) || !(cycles >= 1 && cycles <= GRID_MAX_CYCLES))
        return call_fail(call, "cost", err, ERR_ValueError,
                         "cost of block %lld is %s: a block takes 1 to %d cycles", (long long)i,
                         value_text(scope->arena, &v), GRID_MAX_CYCLES);
    *out = (int64_t)floor(cycles + 0.5);
    return 0;
}

/* What an evaluation leaves behind is freed before it is much. */
static int renew_arena(const struct call *call, struct scope *scope, struct err *err)
{
    if (call_check_stop(call, err) < 0)
        return -1;
    if (scope->arena && arena_used(scope->arena) < MOST_LEFT)
        return 0;
    arena_free(&scope->arena);
    scope->arena = arena_new(CELL_MEMORY_LIMIT);
    return scope->arena ? 0 : err_set(err, ERR_ResourceError, "out of memory");
}

/* "1000 + 50 * (i % 3)": parsed once, evaluated for every block with memory that ends soon. */
static int eval_costs(const struct call *call, const char *text, int64_t blocks, int64_t *costs,
                      struct err *err)
{
    const struct arg *arg = call_arg(call, "cost");
    struct lexer lexer;
    struct scope scope = { .session = call->session, .lexer = &lexer };
    struct token rest;
    struct expr *expr;
    int rc = 0;

    /* The text starts behind its quote: carets go there. */
    lexer_init(&lexer, (struct source){ bytes_of(text), arg->line, arg->column + 1 }, call->arena);
    if (expr_parse(&lexer, &expr, err) < 0 || lexer_peek(&lexer, &rest, err) < 0)
        return -1;
    if (rest.kind != TOKEN_END)
        return lexer_fail_at(&lexer, rest.start, rest.end, err, ERR_SyntaxError,
                             "%s stands behind the expression of cost=", token_show(&lexer, &rest));
    for (int64_t i = 0; rc == 0 && i < blocks; i++) {
        rc = renew_arena(call, &scope, err);
        if (rc == 0)
            rc = eval_cost(call, &scope, expr, i, &costs[i], err);
    }
    arena_free(&scope.arena);
    return rc;
}

int schedule_read_cost(const struct sweep *sweep, size_t i, struct grid *grid, struct arena *arena,
                       struct err *err)
{
    const struct call *call = sweep->call;
    const struct value *v = sweep_value(sweep, i, "cost");
    const char *text = v->type == VALUE_STRING ? v->text : NULL;
    int64_t *costs;
    double cycles;

    if (!text && value_as_float(v, &cycles)) {
        if (!(cycles >= 1 && cycles <= GRID_MAX_CYCLES))
            return call_fail(call, "cost", err, ERR_ValueError,
                             "cost=%s: a block takes 1 to %d cycles", value_text(call->arena, v),
                             GRID_MAX_CYCLES);
        grid->cost = (int64_t)floor(cycles + 0.5);
        return 0;
    }
    if (!text) {
        call_fail(call, "cost", err, ERR_UsageError,
                  "cost= takes cycles, or an expression in the block's number i");
        return err_next(err, "such as cost=1000, or cost=\"1000 + 50 * (i %% 3)\"");
    }
    if (grid->blocks > MOST_COSTS)
        return call_fail(call, "cost", err, ERR_ValueError,
                         "grid of %lld blocks: a cost in i is evaluated for %d blocks at most",
                         (long long)grid->blocks, MOST_COSTS);
    costs = arena_array(arena, (size_t)grid->blocks, sizeof(*costs));
    if (!costs)
        return err_set(err, ERR_ResourceError, "the costs do not fit in memory");
    grid->costs = costs;
    return eval_costs(call, text, grid->blocks, costs, err);
}
