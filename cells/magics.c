/*
 * The table of magics, and what every magic may ask while it runs: its
 * arguments, its device, and where its result goes.
 */
#include "cells/magics.h"

#include "cells/cell.h"
#include "cells/render/render.h"
#include "model/base/buf.h"

#include <assert.h>
#include <stdio.h>

const struct magic *const MAGICS[] = {
#define X(name) &MAGIC_##name,
    MAGIC_ROWS(X)
#undef X
};
const size_t MAGIC_COUNT = COUNT(MAGICS);

const struct magic *magic_find(const char *name, bool is_cell)
{
    for (size_t i = 0; i < MAGIC_COUNT; i++) {
        bool takes_cell = MAGICS[i]->flags & MAGIC_CELL;
        bool takes_line = !takes_cell || (MAGICS[i]->flags & MAGIC_BOTH);

        if (strcmp(MAGICS[i]->name, name) == 0 && (is_cell ? takes_cell : takes_line))
            return MAGICS[i];
    }
    return NULL;
}

const char *magic_signs(const struct magic *magic)
{
    return (magic->flags & MAGIC_CELL) && !(magic->flags & MAGIC_BOTH) ? "%%" : "%";
}

/* ---- arguments ---- */

const struct arg *call_arg(const struct call *call, const char *name)
{
    static const struct arg absent;

    for (size_t i = 0; i < call->magic->param_count; i++)
        if (strcmp(call->magic->params[i].name, name) == 0)
            return &call->args[i];
    assert(!"a magic asks for a key that its row has not");
    return &absent;
}

bool call_given(const struct call *call, const char *name)
{
    return call_arg(call, name)->is_given;
}

static const struct value *first_value(const struct call *call, const char *name)
{
    static const struct value null = { .type = VALUE_NULL };
    const struct arg *arg = call_arg(call, name);

    return arg->count ? &arg->values[0] : &null;
}

int64_t call_int(const struct call *call, const char *name)
{
    const struct value *v = first_value(call, name);

    return v->type == VALUE_INT ? v->i : v->type == VALUE_DIM ? v->dim.x : 0;
}

double call_float(const struct call *call, const char *name)
{
    double f = 0;

    value_as_float(first_value(call, name), &f);
    return f;
}

bool call_bool(const struct call *call, const char *name)
{
    const struct value *v = first_value(call, name);

    return v->type == VALUE_BOOL && v->b;
}

const char *call_text(const struct call *call, const char *name)
{
    const struct value *v = first_value(call, name);

    return v->type == VALUE_STRING || v->type == VALUE_NAME ? v->text : NULL;
}

struct source call_source(const struct call *call, const char *name)
{
    const struct arg *arg = call_arg(call, name);
    const char *text = call_text(call, name);

    return (struct source){ bytes_of(text ? text : ""), arg->line ? arg->line : call->line,
                            arg->line ? arg->column : call->column };
}

/* ---- errors ---- */

int call_mark(const struct call *call, struct err *err)
{
    return err_at(err, call->line, call->column,
                  (int)(strlen(magic_signs(call->magic)) + strlen(call->magic->name)));
}

int call_fail(const struct call *call, const char *name, struct err *err, enum err_name ename,
              const char *fmt, ...)
{
    const struct arg *arg = name ? call_arg(call, name) : NULL;
    va_list args;

    va_start(args, fmt);
    err_setv(err, ename, fmt, args);
    va_end(args);
    if (arg && arg->line)
        return err_at(err, arg->line, arg->column, arg->length);
    return call_mark(call, err);
}

const atomic_bool *call_stop(const struct call *call)
{
    return session_stop(call->session);
}

int call_check_stop(const struct call *call, struct err *err)
{
    return session_check_stop(call->session, err);
}

/* ---- devices ---- */

static const struct param *device_param(const struct magic *magic)
{
    for (size_t i = 0; i < magic->param_count; i++)
        if (magic->params[i].type == PARAM_DEVICE)
            return &magic->params[i];
    return NULL;
}

int call_device(const struct call *call, struct session_device *out, struct err *err)
{
    const struct param *p = device_param(call->magic);
    const char *name = p ? call_text(call, p->name) : NULL;
    const struct arg *arg = p ? call_arg(call, p->name) : NULL;

    if (!name) {
        *out = *session_device(call->session);
        return 0;
    }
    if (session_find_device(call->session, name, out, err) < 0)
        return arg->line ? err_at(err, arg->line, arg->column, arg->length) : call_mark(call, err);
    return 0;
}

/* ---- results ---- */

static json_t *arg_to_json(const struct arg *arg)
{
    struct value list = { .type = VALUE_LIST, .list = { arg->values, arg->count } };

    if (!arg->count)
        return json_null();
    return value_to_json(arg->is_sweep || arg->count > 1 ? &list : &arg->values[0]);
}

static int set_input(const struct call *call, json_t *fields, struct err *err)
{
    /* What the magic found out by itself (a kernel's registers) it has put there already. */
    json_t *found = json_object_get(fields, "input"),
           *input = found ? json_incref(found) : json_object();

    for (size_t i = 0; input && i < call->magic->param_count; i++) {
        const struct param *p = &call->magic->params[i];

        if (p->type == PARAM_DEVICE || json_object_get(input, p->name))
            continue; /* the field "device" says which one it was */
        if (p->flags & PARAM_OPTIONAL && !call->args[i].is_given)
            continue;
        if (json_object_set_new(input, p->name, arg_to_json(&call->args[i])) < 0) {
            json_decref(input);
            input = NULL;
        }
    }
    if (!input || json_object_set_new(fields, "input", input) < 0)
        return err_set(err, ERR_ResourceError, "out of memory");
    return 0;
}

static int set_device(const struct call *call, json_t *fields, struct err *err)
{
    struct session_device device;

    if (json_object_get(fields, "device"))
        return 0;
    if (call_device(call, &device, err) < 0)
        return -1;
    if (json_object_set_new(fields, "device", session_device_json(&device)) < 0)
        return err_set(err, ERR_ResourceError, "out of memory");
    return 0;
}

int call_set_model(const struct call *call, struct result *result, struct err *err)
{
    struct session_device device = *session_device(call->session);

    device.is_gpu = false;
    if (json_object_set_new(result->fields, "device", session_device_json(&device)) < 0)
        return err_set(err, ERR_ResourceError, "out of memory");
    return 0;
}

static int display(const struct call *call, const struct result *result, struct err *err)
{
    struct rendering rendering = { 0 };
    int rc = render_result(result, &rendering, err);

    for (size_t i = 0; rc == 0 && i < rendering.count; i++)
        sink_display(call->sink, rendering.bundles[i], NULL, NULL, false);
    rendering_done(&rendering);
    return rc;
}

int call_take_result(struct call *call, struct result *result, struct err *err)
{
    struct value v = { .type = VALUE_RESULT, .result = result };
    int rc = -1;

    if (!result)
        return err_set(err, ERR_ResourceError, "out of memory");
    if (set_input(call, result->fields, err) < 0 || set_device(call, result->fields, err) < 0 ||
        display(call, result, err) < 0)
        goto out;
    if (!(call->magic->flags & MAGIC_SILENT) && session_set(call->session, "_", &v, err) < 0)
        goto out;
    if (call->target && session_set(call->session, call->target, &v, err) < 0)
        goto out;
    rc = 0;
out:
    result_release(&result);
    return rc;
}

int call_finish(struct call *call, struct result *result, bool has_failed, struct err *err)
{
    if (!has_failed)
        return call_take_result(call, result, err);
    result_release(&result);
    return -1;
}

/* ---- the parameters in words ---- */

static bool is_skipped(const char *skip, const char *name)
{
    size_t n = strlen(name);

    for (const char *p = skip; p && *p; p += strcspn(p, " "), p += strspn(p, " "))
        if (strcspn(p, " ") == n && memcmp(p, name, n) == 0)
            return true;
    return false;
}

static void put_parameters(const struct call *call, const char *skip, bool given, struct buf *out)
{
    bool is_first = true;

    for (size_t i = 0; i < call->magic->param_count; i++) {
        const struct param *p = &call->magic->params[i];
        const struct arg *arg = &call->args[i];

        if (arg->is_given != given || !arg->text || is_skipped(skip, p->name))
            continue;
        if (!given && is_first)
            buf_puts(out, out->size ? "  defaults:" : "defaults:");
        if (out->size)
            buf_putc(out, ' ');
        buf_printf(out, "%s=", p->name);
        arg_put(out, arg);
        is_first = false;
    }
}

const char *call_parameters_text(const struct call *call, const char *skip)
{
    struct buf out = { 0 };
    const char *text;

    put_parameters(call, skip, true, &out);
    put_parameters(call, skip, false, &out);
    text = arena_copy(call->arena, buf_text(&out), out.size);
    buf_done(&out);
    return text ? text : "";
}
