/*
 * Calls in an expression that is evaluated for every element: functions of numbers become nodes,
 * and random numbers are drawn by the number of the element, so that one does not depend on
 * those before it.
 */
#include "cells/elementwise_internal.h"
#include "cells/internal.h"
#include "cells/real.h"

#include <math.h>

static const struct {
    const char *name;
    enum element_function function;
    size_t least, most;
    double (*real)(double);
} FUNCTIONS[] = {
    { "min", FUNCTION_MIN, 2, 64, NULL },       { "max", FUNCTION_MAX, 2, 64, NULL },
    { "abs", FUNCTION_ABS, 1, 1, NULL },        { "ceil", FUNCTION_CEIL, 1, 1, NULL },
    { "floor", FUNCTION_FLOOR, 1, 1, NULL },    { "round", FUNCTION_ROUND, 1, 1, NULL },
    { "int", FUNCTION_TRUNC, 1, 1, NULL },      { "sqrt", FUNCTION_REAL, 1, 1, sqrt },
    { "log2", FUNCTION_REAL, 1, 1, real_log2 }, { "exp", FUNCTION_REAL, 1, 1, real_exp },
    { "log", FUNCTION_REAL, 1, 1, real_log },   { "sin", FUNCTION_REAL, 1, 1, real_sin },
    { "cos", FUNCTION_REAL, 1, 1, real_cos },   { "tanh", FUNCTION_REAL, 1, 1, real_tanh },
    { "pow", FUNCTION_POW, 2, 2, NULL },
};

static int constant_number(struct compiler *c, const struct expr *expr, double *out)
{
    struct value v;

    if (expr_eval(c->e->scope, expr, &v, c->err) < 0 ||
        expr_need_number(c->e->scope, expr, &v, c->err) < 0)
        return -1;
    value_as_float(&v, out);
    return 0;
}

static int compile_random(struct compiler *c, const struct expr *call, struct node **out)
{
    bool is_normal = strcmp(call->text, "normal") == 0,
         is_plain = strcmp(call->text, "random") == 0;
    double part[3] = { 0, 0, 1 };

    if (call->count < 1 || (!is_plain && !is_normal && call->count != 3) ||
        call->count > (is_plain ? 1 : 3)) {
        expr_fail(c->e->scope, call, c->err, ERR_UsageError, "%s has %zu arguments here",
                  call->text, call->count);
        return err_next(c->err, is_plain    ? "random(seed)"
                                : is_normal ? "normal(seed), or normal(seed, mean, deviation)"
                                            : "uniform(seed, lo, hi)");
    }
    *out = node_new(c, NODE_RANDOM, call, true);
    if (!*out)
        return -1;
    for (size_t i = 0; i < call->count; i++)
        if (constant_number(c, call->kids[i], &part[i]) < 0)
            return -1;
    if (part[0] != floor(part[0]) || !(part[0] >= 0 && part[0] < 0x1p53))
        return expr_fail(c->e->scope, call->kids[0], c->err, ERR_ValueError,
                         "a seed is a whole number from 0 to 2^53, not %g", part[0]);
    if (!is_normal && !(part[1] < part[2]))
        return expr_fail(c->e->scope, call, c->err, ERR_ValueError,
                         "uniform from %g to %g: the lower limit comes first", part[1], part[2]);
    (*out)->which = is_normal ? RANDOM_NORMAL : RANDOM_UNIFORM;
    (*out)->seed = (uint64_t)part[0];
    (*out)->f = part[1];
    (*out)->g = part[2];
    return 0;
}

static int unknown_function(struct compiler *c, const struct expr *call)
{
    struct nearest near = { .wanted = call->text };

    for (size_t i = 0; i < COUNT(FUNCTIONS); i++)
        nearest_try(&near, FUNCTIONS[i].name);
    expr_fail(c->e->scope, call, c->err, ERR_NameError,
              near.best ? "%s is no function of one element; %s is the nearest"
                        : "%s is no function of one element",
              call->text, near.best);
    return err_next(c->err, "min max abs ceil floor round int float sqrt log2 exp log sin cos tanh "
                            "pow clamp random uniform normal");
}

static int function_node(struct compiler *c, const struct expr *call, size_t which,
                         struct node **nodes, struct node **out)
{
    enum element_function f = FUNCTIONS[which].function;
    bool is_real = f == FUNCTION_REAL || f == FUNCTION_POW;
    bool is_rounding = f >= FUNCTION_CEIL && f <= FUNCTION_TRUNC;

    for (size_t i = 0; is_real && i < call->count; i++)
        if (node_to_float(c, &nodes[i]) < 0)
            return -1;
    if (is_rounding && !nodes[0]->is_float) {
        *out = nodes[0];
        return 0;
    }
    *out = nodes[0];
    /* min(a, b, c) is min(min(a, b), c). */
    for (size_t i = 1; i < (call->count > 1 ? call->count : 2); i++) {
        struct node *left = *out, *right = i < call->count ? nodes[i] : NULL;

        if (right && node_same_type(c, &left, &right) < 0)
            return -1;
        *out = node_new(c, NODE_FUNCTION, call, left->is_float && !is_rounding);
        if (!*out)
            return -1;
        (*out)->which = (int)f;
        (*out)->real = FUNCTIONS[which].real;
        (*out)->kids[0] = left;
        (*out)->kids[1] = right;
    }
    return 0;
}

static int clamp_node(struct compiler *c, const struct expr *call, struct node **nodes,
                      struct node **out)
{
    for (int i = 1; i < 3; i++) {
        struct node *left = i == 1 ? nodes[0] : *out, *right = nodes[i];

        if (node_same_type(c, &left, &right) < 0)
            return -1;
        *out = node_new(c, NODE_FUNCTION, call, left->is_float);
        if (!*out)
            return -1;
        (*out)->which = i == 1 ? FUNCTION_MAX : FUNCTION_MIN;
        (*out)->kids[0] = left;
        (*out)->kids[1] = right;
    }
    return 0;
}

int node_call(struct compiler *c, const struct expr *call, struct node **out)
{
    struct node **nodes;
    size_t i = 0;

    if (elementwise_is_random(call->text))
        return compile_random(c, call, out);
    nodes = arena_array(c->e->scope->arena, call->count + 1, sizeof(struct node *));
    if (!nodes)
        return err_set(c->err, ERR_ResourceError, "out of memory");
    for (i = 0; i < call->count; i++)
        if (node_compile(c, call->kids[i], &nodes[i]) < 0)
            return -1;
    if (strcmp(call->text, "clamp") == 0 && call->count == 3)
        return clamp_node(c, call, nodes, out);
    if (strcmp(call->text, "float") == 0 && call->count == 1) {
        *out = nodes[0];
        return node_to_float(c, out);
    }
    for (i = 0; i < COUNT(FUNCTIONS); i++)
        if (strcmp(FUNCTIONS[i].name, call->text) == 0)
            break;
    if (i == COUNT(FUNCTIONS))
        return unknown_function(c, call);
    if (call->count < FUNCTIONS[i].least || call->count > FUNCTIONS[i].most)
        return expr_fail(c->e->scope, call, c->err, ERR_UsageError, "%s has %zu arguments here",
                         call->text, call->count);
    return function_node(c, call, i, nodes, out);
}
