/*
 * Threads as keys name them. A place counts from 0 and a size from 1, so a
 * dimension that was not written means something else in each.
 *
 * An expression is parsed once and walked for each thread, with that thread's
 * names in front of the session's: C's own (threadIdx.x) and short ones (lane).
 */
#include "cells/threads.h"

#include "cells/expr.h"
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

/* block= with its sizes cut to the limits, y before z. */
static int nearest_block(struct extent block, struct err *err)
{
    int64_t y;

    block.x = min_i64(block.x, LAYOUT_BLOCK_THREADS);
    block.z = min_i64(block.z, LAYOUT_BLOCK_Z);
    y = max_i64(1, min_i64(block.y, LAYOUT_BLOCK_THREADS / block.x / block.z));
    block.z = max_i64(1, min_i64(block.z, LAYOUT_BLOCK_THREADS / block.x / y));
    return err_next(err, "block=(%lld,%lld,%lld) fits", (long long)block.x, (long long)y,
                    (long long)block.z);
}

int call_layout(const struct call *call, struct extent block, struct extent grid,
                const char *grid_key, struct layout *out, struct err *err)
{
    if (layout_of(block, grid, out, err) == 0)
        return 0;
    if (layout_of(block, (struct extent){ 1, 1, 1 }, out, NULL) == 0)
        return call_fail(call, grid_key, err, ERR_ValueError, "no such grid");
    call_fail(call, "block", err, ERR_ValueError, "no such block");
    return nearest_block(block, err);
}

struct thread thread_of(const struct layout *layout, struct extent block_at, int tid)
{
    return (struct thread){ .block = layout->block,
                            .grid = layout->grid,
                            .at = extent_place(layout->block, tid),
                            .block_at = block_at,
                            .tid = tid,
                            .i = extent_rank(layout->grid, block_at) * layout->threads + tid };
}

/* ---- expressions ---- */

enum { NAMES = 15 };

struct thread_expr {
    struct lexer lexer;
    struct scope scope;
    struct expr *expr;
    struct local names[NAMES];
    const char *text;
};

int thread_expr_open(const struct call *call, const char *key, size_t item, const char *extra,
                     struct thread_expr **out, struct err *err)
{
    static const char *const names[NAMES] = { "lane",      "warp",     "tid",      "i",      "x",
                                              "y",         "z",        "tx",       "ty",     "tz",
                                              "threadIdx", "blockIdx", "blockDim", "gridDim" };
    const struct arg *arg = call_arg(call, key);
    struct thread_expr *e = arena_alloc(call->arena, sizeof(*e));
    struct token t;

    if (!e)
        return err_set(err, ERR_ResourceError, "out of memory");
    lexer_init(&e->lexer, arg->sources[item], call->arena);
    e->text = arg->values[item].text;
    for (size_t k = 0; k < NAMES; k++)
        e->names[k].name = names[k];
    e->names[NAMES - 1].name = extra;
    e->scope = (struct scope){ .session = call->session,
                               .lexer = &e->lexer,
                               .arena = call->arena,
                               .locals = e->names,
                               .local_count = NAMES - !extra };
    if (expr_parse(&e->lexer, &e->expr, err) < 0 || lexer_peek(&e->lexer, &t, err) < 0)
        return -1;
    if (t.kind != TOKEN_END)
        return lexer_fail_at(&e->lexer, t.start, t.end, err, ERR_SyntaxError,
                             "%s stands where the expression should end",
                             token_show(&e->lexer, &t));
    *out = e;
    return 0;
}

static struct value value_dim(struct extent e)
{
    return (struct value){ .type = VALUE_DIM, .dim = { e.x, e.y, e.z, 3 } };
}

/* In the order of the names. */
static void set_names(struct thread_expr *e, const struct thread *t, int64_t extra)
{
    const struct value values[NAMES] = {
        value_int(t->tid % WARP),
        value_int(t->tid / WARP),
        value_int(t->tid),
        value_int(t->i),
        value_int(t->block_at.x * t->block.x + t->at.x),
        value_int(t->block_at.y * t->block.y + t->at.y),
        value_int(t->block_at.z * t->block.z + t->at.z),
        value_int(t->at.x),
        value_int(t->at.y),
        value_int(t->at.z),
        value_dim(t->at),
        value_dim(t->block_at),
        value_dim(t->block),
        value_dim(t->grid),
        value_int(extra),
    };

    for (size_t k = 0; k < NAMES; k++)
        e->names[k].value = values[k];
}

int thread_expr_eval(struct thread_expr *e, const struct thread *thread, int64_t extra,
                     int64_t *out, struct err *err)
{
    struct value v;

    set_names(e, thread, extra);
    if (expr_eval(&e->scope, e->expr, &v, err) < 0)
        return -1;
    return expr_need_int(&e->scope, e->expr, &v, out, err);
}

int thread_expr_truth(struct thread_expr *e, const struct thread *thread, bool *out,
                      struct err *err)
{
    struct value v;

    set_names(e, thread, 0);
    if (expr_eval(&e->scope, e->expr, &v, err) < 0)
        return -1;
    return expr_truth(&e->scope, e->expr, &v, out, err);
}

int thread_expr_fail(const struct thread_expr *e, struct err *err, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    err_setv(err, ERR_ValueError, fmt, args);
    va_end(args);
    return lexer_mark(&e->lexer, e->expr->start, e->expr->end, err);
}

const char *thread_expr_text(const struct thread_expr *e)
{
    return e->text;
}
