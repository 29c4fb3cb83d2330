/*
 * From text to numbers. The kernel comes first, as its signature says what the
 * arguments have to be; then the shape, whose limits are the device's.
 */
#include "cells/launch_plan.h"

#include "cells/cell.h"
#include "cells/cuda_overload.h"
#include "cells/internal.h"
#include "kernels/launch.h"

#include <inttypes.h>

enum { MAX_LOCALS = 3, MAX_BLOCK = 1024 /* threads */ };

/* One plan while it is made. */
struct maker {
    struct call *call;
    const struct launch_line *line;
    const struct sweep *sweep;
    size_t point;
    struct local locals[MAX_LOCALS]; /* keys that were given: names in the expressions */
    size_t local_count;
    struct source *arguments; /* behind <<< >>>, or of args= */
    size_t argument_count;
    struct source arguments_place; /* carets */
    struct launch_plan *out;
};

static const char *const PLACE_NAMES[LAUNCH_PLACES] = { "grid", "block", "dynamic", "stream" };

static bool has_key(const struct call *call, const char *name)
{
    for (size_t i = 0; i < call->magic->param_count; i++)
        if (strcmp(call->magic->params[i].name, name) == 0)
            return true;
    return false;
}

/* ---- the shape ---- */

static int fail_at(const struct source *where, struct err *err)
{
    return err_at(err, where->line, where->column, (int)where->text.size);
}

/* (4,4) alone is C's comma operator, which throws the first value away. */
static int refuse_comma(struct maker *m, const struct source *where, const struct source *brackets,
                        struct err *err)
{
    struct source *parts = NULL;
    size_t count = 0;

    if (launch_split(*brackets, m->call->arena, &parts, &count, NULL) < 0 || count < 2)
        return 0;
    err_set(err, ERR_LaunchError,
            "%s is C's comma operator: it means %s, its last value, and no dimension",
            text_show(m->call->arena, where->text, 40),
            text_show(m->call->arena, parts[count - 1].text, 20));
    fail_at(where, err);
    return err_next(err, "write dim3%s", text_show(m->call->arena, brackets->text, 60));
}

static int to_dim(struct maker *m, const struct value *v, const char *what,
                  const struct source *where, struct ptx_dim *out, struct err *err)
{
    int64_t axes[3] = { 1, 1, 1 };

    if (v->type == VALUE_INT) {
        axes[0] = v->i;
    } else if (v->type == VALUE_DIM) {
        axes[0] = v->dim.x;
        axes[1] = v->dim.y;
        axes[2] = v->dim.z;
    } else {
        char *text = value_text(m->call->arena, v);

        err_set(err, ERR_UsageError, "%s is %.60s: it is a whole number or dim3(x, y, z)", what,
                v->type == VALUE_FLOAT && text ? text : value_a_type(v->type));
        if (v->type == VALUE_LIST)
            err_next(err, "%s=[64,128] behind the launch runs it for each of several", what);
        return where ? fail_at(where, err) : -1;
    }
    for (int i = 0; i < 3; i++)
        if (axes[i] < 0 || axes[i] > UINT32_MAX) {
            err_set(err, ERR_LaunchError, "%s is %" PRId64 ": it is 1 to %d", what, axes[i],
                    strcmp(what, "block") == 0 ? MAX_BLOCK : INT32_MAX);
            return where ? fail_at(where, err) : -1;
        }
    *out = (struct ptx_dim){ (unsigned)axes[0], (unsigned)axes[1], (unsigned)axes[2] };
    return 0;
}

static int read_shape(struct maker *m, const struct source *where, const char *what,
                      struct ptx_dim *out, struct err *err)
{
    struct source brackets;
    struct bytes name;
    struct value v;

    if (launch_is_call(where, &name, &brackets) && name.size == 0 &&
        refuse_comma(m, where, &brackets, err) < 0)
        return -1;
    if (launch_dim_read(m->call, *where, m->locals, m->local_count, &v, err) < 0)
        return -1;
    return to_dim(m, &v, what, where, out, err);
}

/* A key wins over its place in <<< >>>: that is how one launch line runs in several shapes. */
static int read_place(struct maker *m, enum launch_place place, struct ptx_dim *out,
                      struct err *err)
{
    const char *what = PLACE_NAMES[place];
    const struct value *key = sweep_value(m->sweep, m->point, what);
    const struct arg *arg = call_arg(m->call, what);

    if (arg->is_given) {
        if (to_dim(m, key, what, NULL, out, err) == 0)
            return 0;
        return err_at(err, arg->line, arg->column, arg->length);
    }
    if (place < m->line->config_count)
        return read_shape(m, &m->line->config[place], what, out, err);
    err_set(err, ERR_UsageError, "%s has no %s", text_show(m->call->arena, m->line->whole.text, 40),
            what);
    fail_at(&m->line->kernel, err);
    return err_next(err, "kernel<<<grid, block>>>(arguments), or grid=4 block=256 args=(n, x)");
}

static int read_dynamic(struct maker *m, int64_t *out, struct err *err)
{
    const struct arg *arg = call_arg(m->call, "dynamic");
    const struct source *where = &m->line->config[LAUNCH_DYNAMIC];
    struct value v;

    *out = 0;
    if (arg->is_given) {
        *out = sweep_int(m->sweep, m->point, "dynamic");
        return 0;
    }
    if (m->line->config_count <= LAUNCH_DYNAMIC)
        return 0;
    if (expr_eval_with(m->call->session, *where, m->locals, m->local_count, m->call->arena, &v,
                       err) < 0)
        return -1;
    if (v.type != VALUE_INT || v.i < 0 || v.i > INT32_MAX) {
        err_set(err, v.type == VALUE_INT ? ERR_LaunchError : ERR_UsageError,
                "dynamic shared memory of %s: it is a number of bytes, 0 or more",
                text_show(m->call->arena, where->text, 40));
        return fail_at(where, err);
    }
    *out = v.i;
    return 0;
}

/* ---- what acts ---- */

static void add_local(struct maker *m, const char *name)
{
    const struct value *v;

    if (!call_given(m->call, name))
        return;
    v = sweep_value(m->sweep, m->point, name);
    m->locals[m->local_count++] = (struct local){ name, *v };
    /* (128,1,1) reads as 128 in (n + block - 1) / block. */
    if (v->type == VALUE_DIM && v->dim.count <= 1)
        m->locals[m->local_count - 1].value = value_int(v->dim.x);
}

static int read_device(struct maker *m, struct err *err)
{
    const char *name = sweep_text(m->sweep, m->point, "device");
    const struct arg *arg = call_arg(m->call, "device");

    if (!name) {
        m->out->device = *session_device(m->call->session);
        return 0;
    }
    if (session_find_device(m->call->session, name, &m->out->device, err) < 0)
        return err_at(err, arg->line, arg->column, arg->length);
    return 0;
}

static bool is_key_word(const struct maker *m, const char *key, const char *word)
{
    const char *text = has_key(m->call, key) ? sweep_text(m->sweep, m->point, key) : NULL;

    return text && strcmp(text, word) == 0;
}

static int read_keys(struct maker *m, struct err *err)
{
    const struct call *call = m->call;
    struct launch_plan *p = m->out;
    const struct value *cluster = sweep_value(m->sweep, m->point, "cluster");

    p->is_debug = is_key_word(m, "build", "debug");
    p->is_stack = is_key_word(m, "its", "off");
    p->is_cooperative = call_bool(call, "cooperative");
    p->timeout_s = call_given(call, "timeout") ? call_float(call, "timeout") : 0;
    p->sample_blocks = has_key(call, "sample") ? call_int(call, "sample") : 0;
    p->checks = PTX_CHECK_DEFAULT;
    if (is_key_word(m, "races", "all"))
        p->checks |= PTX_CHECK_GLOBAL_RACES;
    if (is_key_word(m, "races", "none"))
        p->checks &= ~PTX_CHECK_SHARED_RACES;
    if (has_key(call, "checks") && !call_bool(call, "checks"))
        p->checks = LAUNCH_NO_CHECKS;
    if (!call_given(call, "cluster"))
        return 0;
    return to_dim(m, cluster, "cluster", NULL, &p->cluster, err);
}

/* ---- the kernel and its arguments ---- */

static int find_arguments(struct maker *m, struct err *err)
{
    const struct launch_line *line = m->line;

    m->arguments = line->arguments;
    m->argument_count = line->argument_count;
    m->arguments_place = line->has_arguments ? line->parens : line->kernel;
    if (line->has_arguments || !call_given(m->call, "args"))
        return 0;
    m->arguments_place = call_source(m->call, "args");
    return launch_split(m->arguments_place, m->call->arena, &m->arguments, &m->argument_count, err);
}

/* The C++ type of an argument; that of its elements for a pointer. */
static const char *argument_type(void *arg, size_t i, bool is_pointer)
{
    static const char *const NAMES[SCALAR_COUNT] = {
        [SCALAR_CHAR] = "char",      [SCALAR_UCHAR] = "unsigned char",
        [SCALAR_SHORT] = "short",    [SCALAR_USHORT] = "unsigned short",
        [SCALAR_INT] = "int",        [SCALAR_UINT] = "unsigned int",
        [SCALAR_LONG] = "long long", [SCALAR_ULONG] = "unsigned long long",
        [SCALAR_HALF] = "__half",    [SCALAR_BF16] = "__nv_bfloat16",
        [SCALAR_FLOAT] = "float",    [SCALAR_DOUBLE] = "double",
        [SCALAR_BOOL] = "bool",
    };
    const struct maker *m = arg;
    struct source text = m->arguments[i];
    struct err ignored = { 0 };
    const struct element_type *type;
    struct value v;

    if (expr_eval_with(m->call->session, text, m->locals, m->local_count, m->call->arena, &v,
                       &ignored) < 0) {
        err_done(&ignored);
        return NULL;
    }
    if (is_pointer != (v.type == VALUE_BUFFER))
        return NULL;
    if (is_pointer) {
        type = &v.buffer.buffer->type;
        return type->lanes == 1 && NAMES[type->kind] ? NAMES[type->kind] : type->name;
    }
    if (v.type == VALUE_FLOAT)
        return text.text.data[text.text.size - 1] == 'f' ? "float" : "double";
    return v.type == VALUE_INT ? "int" : v.type == VALUE_BOOL ? "bool" : NULL;
}

static int read_kernel(struct maker *m, struct err *err)
{
    struct launch_plan *p = m->out;
    const struct source *where = &m->line->kernel;
    int needs = p->device.is_gpu ? IMAGE_CUBIN : p->is_debug ? IMAGE_PTX_DEBUG : IMAGE_PTX;
    const char *deduced, *overload;

    p->kernel = arena_copy(m->call->arena, where->text.data, where->text.size);
    if (!p->kernel)
        return err_set(err, ERR_ResourceError, "out of memory");
    if (cuda_pick_overload(m->call->session, p->kernel, argument_type, m, m->argument_count,
                           m->call->arena, &overload, err) < 0)
        return fail_at(where, err);
    deduced = cuda_deduce_template(session_cuda(m->call->session), overload ? overload : p->kernel,
                                   argument_type, m, m->argument_count, m->call->arena);
    p->kernel = deduced ? deduced : p->kernel;
    p->asked = overload && !deduced ? overload : p->kernel;
    if (cuda_kernel_image(m->call->session, p->asked, &p->device.device, needs, m->call->arena,
                          &p->image, err) == 0)
        return 0;
    return err->name == ERR_CompileError ? -1 : fail_at(where, err);
}

static int refuse_count(const struct maker *m, struct err *err)
{
    size_t wanted = m->out->image.parameter_count;

    err_set(err, ERR_UsageError, "%s takes %zu argument%s, and got %zu", m->out->kernel, wanted,
            wanted == 1 ? "" : "s", m->argument_count);
    fail_at(&m->arguments_place, err);
    return err_next(err, "%.290s", m->out->image.signature);
}

static int read_values(struct maker *m, struct err *err)
{
    struct launch_plan *p = m->out;
    struct launch_value *values;

    if (m->argument_count != p->image.parameter_count)
        return refuse_count(m, err);
    values = arena_array(m->call->arena, m->argument_count, sizeof(*values));
    if (!values)
        return err_set(err, ERR_ResourceError, "out of memory");
    for (size_t i = 0; i < m->argument_count; i++)
        if (launch_argument_read(m->call, &p->image, i, m->arguments[i], m->locals, m->local_count,
                                 &values[i], err) < 0)
            return -1;
    p->values = values;
    p->value_count = m->argument_count;
    return 0;
}

void launch_put_dim(struct buf *out, const struct ptx_dim *dim, bool is_code)
{
    const char *open = is_code ? "dim3(" : "", *sign = is_code ? ", " : "x";

    if (dim->z > 1)
        buf_printf(out, "%s%u%s%u%s%u", open, dim->x, sign, dim->y, sign, dim->z);
    else if (dim->y > 1)
        buf_printf(out, "%s%u%s%u", open, dim->x, sign, dim->y);
    else
        buf_printf(out, "%u", dim->x);
    if (is_code && (dim->y > 1 || dim->z > 1))
        buf_putc(out, ')');
}

static int write_text(struct maker *m, struct err *err)
{
    struct launch_plan *p = m->out;
    struct buf text = { 0 };

    buf_printf(&text, "%s<<<", p->kernel);
    launch_put_dim(&text, &p->grid, true);
    buf_puts(&text, ", ");
    launch_put_dim(&text, &p->block, true);
    if (p->dynamic_bytes)
        buf_printf(&text, ", %" PRId64, p->dynamic_bytes);
    buf_puts(&text, ">>>(");
    for (size_t i = 0; i < p->value_count; i++)
        buf_printf(&text, "%s%s", i ? ", " : "", p->values[i].text);
    buf_putc(&text, ')');
    p->text = text.is_failed ? NULL : arena_copy(m->call->arena, text.data, text.size);
    buf_done(&text);
    return p->text ? 0 : err_set(err, ERR_ResourceError, "out of memory");
}

int launch_plan_make(struct call *call, const struct launch_line *line, const struct sweep *sweep,
                     size_t point, struct launch_plan *out, struct err *err)
{
    struct maker m = { .call = call, .line = line, .sweep = sweep, .point = point, .out = out };

    *out = (struct launch_plan){ 0 };
    add_local(&m, "grid");
    add_local(&m, "block");
    add_local(&m, "dynamic");
    if (read_device(&m, err) < 0 || read_keys(&m, err) < 0 || find_arguments(&m, err) < 0 ||
        read_kernel(&m, err) < 0 || read_place(&m, LAUNCH_GRID, &out->grid, err) < 0 ||
        read_place(&m, LAUNCH_BLOCK, &out->block, err) < 0 ||
        read_dynamic(&m, &out->dynamic_bytes, err) < 0 || read_values(&m, err) < 0)
        return -1;
    if (write_text(&m, err) < 0)
        return -1;
    if (launch_limits_check(out, err) < 0)
        return fail_at(&line->whole, err);
    return 0;
}
