/*
 * %run of an experiment: which values of its two keys are swept. A key of another experiment is an
 * error that names the ones that there are.
 */
#include "cells/cell.h"
#include "cells/internal.h"
#include "cells/magics.h"
#include "cells/magics/run.h"

/* The values that every run takes; the others belong to experiments or lessons. */
static bool is_common(const struct param *p)
{
    static const char *const COMMON[] = { "name", "device", "repeat", "seed" };

    for (size_t i = 0; i < COUNT(COMMON); i++)
        if (strcmp(p->name, COMMON[i]) == 0)
            return true;
    return false;
}

static bool is_key(const struct experiment *e, const char *name)
{
    return strcmp(e->axis.name, name) == 0 || (e->series.name && strcmp(e->series.name, name) == 0);
}

static int check_keys(const struct call *call, const struct experiment *e, struct err *err)
{
    for (size_t i = 0; i < call->magic->param_count; i++) {
        const struct param *p = &call->magic->params[i];

        if (!call->args[i].is_given || is_common(p) || is_key(e, p->name))
            continue;
        return call_fail(call, p->name, err, ERR_UsageError,
                         "%s has no %s=; its keys are %s=%s%s%s repeat= seed= device=", e->name,
                         p->name, e->axis.name, e->series.name ? " " : "",
                         e->series.name ? e->series.name : "", e->series.name ? "=" : "");
    }
    return 0;
}

static int64_t find_word(const struct experiment_key *key, const char *word)
{
    for (int64_t i = key->min; i <= key->max; i++)
        if (strcmp(key->names[i], word) == 0)
            return i;
    return key->min - 1;
}

static int bad_word(const struct call *call, const struct experiment *e,
                    const struct experiment_key *key, const char *word, struct err *err)
{
    struct nearest nearest = { .wanted = word };
    struct buf all = { 0 };

    for (int64_t i = key->min; i <= key->max; i++) {
        nearest_try(&nearest, key->names[i]);
        buf_printf(&all, " %s", key->names[i]);
    }
    call_fail(call, key->name, err, ERR_ValueError, "%s=%.40s: %s knows%s%s%s", key->name, word,
              e->name, buf_text(&all), nearest.best ? "; the nearest is " : "",
              nearest.best ? nearest.best : "");
    buf_done(&all);
    return -1;
}

/* One value of a key as the experiment counts it. */
static int read_value(const struct call *call, const struct experiment *e,
                      const struct experiment_key *key, const struct value *v, int64_t *out,
                      struct err *err)
{
    if (key->names) {
        *out = v->text ? find_word(key, v->text) : key->min - 1;
        return *out >= key->min ? 0 : bad_word(call, e, key, v->text ? v->text : "", err);
    }
    *out = v->i;
    if (v->i >= key->min && v->i <= key->max)
        return 0;
    return call_fail(call, key->name, err, ERR_ValueError, "%s=%lld: %s sweeps %lld to %lld",
                     key->name, (long long)v->i, e->name, (long long)key->min, (long long)key->max);
}

static int read_key(const struct call *call, const struct experiment *e,
                    const struct experiment_key *key, size_t most, const int64_t **out,
                    size_t *count, struct err *err)
{
    static const int64_t NONE[] = { 0 };
    const struct arg *arg = key->name ? call_arg(call, key->name) : NULL;
    int64_t *values;

    *out = key->name ? key->values : NONE;
    *count = key->name ? key->count : 1;
    if (!arg || !arg->is_given)
        return 0;
    if (arg->count > most)
        return call_fail(call, key->name, err, ERR_ValueError, "%s: %zu values, %s takes %zu",
                         key->name, arg->count, e->name, most);
    values = arena_array(call->arena, arg->count, sizeof(*values));
    if (!values)
        return err_set(err, ERR_ResourceError, "out of memory");
    for (size_t i = 0; i < arg->count; i++)
        if (read_value(call, e, key, &arg->values[i], &values[i], err) < 0)
            return -1;
    *out = values;
    *count = arg->count;
    return 0;
}

int run_experiment(struct call *call, const struct experiment *e, struct err *err)
{
    struct experiment_run run = { .experiment = e,
                                  .repeat = (int)call_int(call, "repeat"),
                                  .seed = (uint64_t)call_int(call, "seed") };
    struct result *result;

    if (check_keys(call, e, err) < 0 ||
        read_key(call, e, &e->axis, EXPERIMENT_MAX_VALUES, &run.xs, &run.x_count, err) < 0 ||
        read_key(call, e, &e->series, EXPERIMENT_MAX_SERIES, &run.series, &run.series_count, err) <
            0)
        return -1;
    if (run_choose_device(call, &run.device, &run.use_gpu, &run.use_model, err) < 0 ||
        experiment_run(call, &run, err) < 0)
        return call_mark(call, err);
    result = result_new("experiment", 1);
    if (!result)
        return err_set(err, ERR_ResourceError, "out of memory");
    return call_finish(call, result, run_fill_sweep(result, &run, err) < 0, err);
}
