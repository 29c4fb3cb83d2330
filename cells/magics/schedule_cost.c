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

/* A whole number of cycles that a block may take: from its value, or what is wrong with it. */
static int cycles_of(const struct call *call, struct arena *arena, const char *what,
                     const struct value *v, int64_t *out, struct err *err)
{
    double cycles = 0, whole;

    if (!value_as_float(v, &cycles) || isnan(cycles))
        return call_fail(call, "cost", err, ERR_ValueError,
                         "%s is no number: a block takes 1 to %d cycles", what, GRID_MAX_CYCLES);
    whole = fmin(fmax(floor(cycles + 0.5), 1), GRID_MAX_CYCLES);
    if (cycles != whole) {
        const char *text = isinf(cycles) ? "above all numbers" : value_text(arena, v);

        return call_fail(call, "cost", err, ERR_ValueError,
                         "%s is %s: a block takes 1 to %d whole cycles; %.0f is the nearest", what,
                         cycles < 0 && isinf(cycles) ? "below all numbers" : text, GRID_MAX_CYCLES,
                         whole);
    }
    *out = (int64_t)whole;
    return 0;
}

/* The expression's value for block i as cycles. */
static int eval_cost(const struct call *call, struct scope *scope, const struct expr *expr,
                     int64_t i, int64_t *out, struct err *err)
{
    struct local local = { "i", value_int(i) };
    struct value v;
    char what[40];

    scope->locals = &local;
    scope->local_count = 1;
    if (expr_eval(scope, expr, &v, err) < 0)
        return -1;
    snprintf(what, sizeof what, "cost of block %lld", (long long)i);
    return cycles_of(call, scope->arena, what, &v, out, err);
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

    if (!text && value_as_float(v, &cycles))
        return cycles_of(call, call->arena, "cost", v, &grid->cost, err);
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
