/*
 * A point is a number in mixed radix: its digits, one a swept key, say which
 * value of the key it has.
 */
#include "cells/sweep.h"

#include "cells/internal.h"

static bool is_number(const struct arg *arg)
{
    for (size_t i = 0; i < arg->count; i++)
        if (arg->values[i].type != VALUE_INT && arg->values[i].type != VALUE_FLOAT)
            return false;
    return true;
}

int sweep_init(struct sweep *sweep, const struct call *call, struct err *err)
{
    const struct magic *magic = call->magic;

    *sweep = (struct sweep){ .call = call, .points = 1 };
    for (size_t i = 0; i < magic->param_count; i++) {
        const struct arg *arg = &call->args[i];

        if (!arg->is_sweep)
            continue;
        if (sweep->key_count == SWEEP_MAX_KEYS)
            return call_fail(call, magic->params[i].name, err, ERR_UsageError,
                             "at most %d keys of one line can be ranges or lists", SWEEP_MAX_KEYS);
        sweep->keys[sweep->key_count++] =
            (struct sweep_key){ &magic->params[i], arg, is_number(arg) };
        sweep->points *= arg->count;
    }
    return 0;
}

void *sweep_array(const struct sweep *sweep, size_t size, struct err *err)
{
    void *elements = arena_array(sweep->call->arena, sweep->points, size);

    if (!elements)
        err_set(err, ERR_ResourceError, "%zu points do not fit in memory", sweep->points);
    return elements;
}

void *sweep_start(struct sweep *sweep, const struct call *call, size_t size, struct err *err)
{
    return sweep_init(sweep, call, err) < 0 ? NULL : sweep_array(sweep, size, err);
}

size_t sweep_index(const struct sweep *sweep, size_t point, size_t k)
{
    for (size_t i = sweep->key_count - 1; i > k; i--)
        point /= sweep->keys[i].arg->count;
    return point % sweep->keys[k].arg->count;
}

int sweep_find(const struct sweep *sweep, const char *name)
{
    for (size_t k = 0; k < sweep->key_count; k++)
        if (strcmp(sweep->keys[k].param->name, name) == 0)
            return (int)k;
    return -1;
}

const struct value *sweep_value(const struct sweep *sweep, size_t point, const char *name)
{
    int k = sweep_find(sweep, name);
    const struct arg *arg = call_arg(sweep->call, name);

    if (k >= 0)
        return &arg->values[sweep_index(sweep, point, (size_t)k)];
    return arg->count ? &arg->values[0] : NULL;
}

int64_t sweep_int(const struct sweep *sweep, size_t point, const char *name)
{
    const struct value *v = sweep_value(sweep, point, name);

    return v && v->type == VALUE_INT ? v->i : 0;
}

const char *sweep_text(const struct sweep *sweep, size_t point, const char *name)
{
    const struct value *v = sweep_value(sweep, point, name);

    return v && (v->type == VALUE_NAME || v->type == VALUE_STRING) ? v->text : NULL;
}

const char *sweep_label(const struct sweep *sweep, struct arena *arena, size_t point, size_t k)
{
    const struct value *v = sweep_value(sweep, point, sweep->keys[k].param->name);
    const char *text =
        v->type == VALUE_NAME || v->type == VALUE_STRING ? v->text : value_text(arena, v);

    return text ? text : "?";
}

double sweep_number(const struct sweep *sweep, size_t point, size_t k)
{
    double number = 0;

    value_as_float(sweep_value(sweep, point, sweep->keys[k].param->name), &number);
    return number;
}

json_t *sweep_to_json(const struct sweep *sweep, size_t point)
{
    json_t *object = json_object();

    for (size_t k = 0; object && k < sweep->key_count; k++) {
        const char *name = sweep->keys[k].param->name;

        if (json_object_set_new(object, name, value_to_json(sweep_value(sweep, point, name))) < 0) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}
