/*
 * The C that people write around a launch: dim3, and calls of the runtime API. A
 * declaration becomes a variable of the session; a call that waits for the GPU has
 * nothing to wait for, as a launch here ends before the next line runs.
 */
#include "cells/internal.h"
#include "cells/launch_plan.h"

static int fail_at(const struct source *where, struct err *err)
{
    return err_at(err, where->line, where->column, (int)where->text.size);
}

/* The parts of dim3(4, 4) or {4, 4}; missing ones are 1. */
static int read_parts(struct call *call, struct source brackets, const struct local *locals,
                      size_t local_count, struct value *out, struct err *err)
{
    struct source *parts;
    size_t count;
    int64_t axes[3] = { 1, 1, 1 };

    if (launch_split(brackets, call->arena, &parts, &count, err) < 0)
        return -1;
    if (count > 3) {
        err_set(err, ERR_UsageError, "a dim3 has at most 3 values, not %zu", count);
        return fail_at(&brackets, err);
    }
    for (size_t i = 0; i < count; i++) {
        struct value v;

        if (expr_eval_with(call->session, parts[i], locals, local_count, call->arena, &v, err) < 0)
            return -1;
        if (v.type != VALUE_INT) {
            err_set(err, ERR_UsageError, "a dim3 takes whole numbers, and %s is %s",
                    text_show(call->arena, parts[i].text, 40), value_a_type(v.type));
            return fail_at(&parts[i], err);
        }
        axes[i] = v.i;
    }
    *out = (struct value){ .type = VALUE_DIM, .dim = { axes[0], axes[1], axes[2], (int)count } };
    return 0;
}

int launch_dim_read(struct call *call, struct source where, const struct local *locals,
                    size_t local_count, struct value *out, struct err *err)
{
    static const char *const NAMES[] = { "dim3", "uint3", "make_uint3", "int3", "make_int3" };
    struct source brackets;
    struct bytes name;

    if (launch_is_call(&where, &name, &brackets))
        for (size_t i = 0; i < COUNT(NAMES); i++)
            if (bytes_equal(name, NAMES[i]))
                return read_parts(call, brackets, locals, local_count, out, err);
    return expr_eval_with(call->session, where, locals, local_count, call->arena, out, err);
}

/* "block(16, 16)", "block = dim3(16, 16)", "block": one name of a declaration. */
static int declare_one(struct call *call, struct source part, struct err *err)
{
    struct value v = { .type = VALUE_DIM, .dim = { 1, 1, 1, 0 } };
    struct source brackets, right;
    struct bytes name = { part.text.data, 0 };
    size_t at;
    char *copy;
    int rc = 0;

    while (name.size < part.text.size && is_name_char(part.text.data[name.size]))
        name.size++;
    for (at = name.size; at < part.text.size && is_blank(part.text.data[at]); at++)
        ;
    if (at < part.text.size && part.text.data[at] == '=') {
        right = launch_piece(&part, at + 1, part.text.size);
        rc = right.text.size && right.text.data[0] == '{'
                 ? read_parts(call, right, NULL, 0, &v, err)
                 : launch_dim_read(call, right, NULL, 0, &v, err);
    } else if (launch_is_call(&part, &name, &brackets)) {
        rc = read_parts(call, brackets, NULL, 0, &v, err);
    } else if (at < part.text.size || !name.size) {
        err_set(err, ERR_SyntaxError, "a dim3 is declared as dim3 block(16, 16);");
        return fail_at(&part, err);
    }
    if (rc < 0)
        return -1;
    if (v.type == VALUE_INT)
        v = (struct value){ .type = VALUE_DIM, .dim = { v.i, 1, 1, 1 } };
    if (v.type != VALUE_DIM) {
        err_set(err, ERR_UsageError, "%s is %s, and no dim3", text_show(call->arena, part.text, 40),
                value_a_type(v.type));
        return fail_at(&part, err);
    }
    copy = arena_copy(call->arena, name.data, name.size);
    if (!copy)
        return err_set(err, ERR_ResourceError, "out of memory");
    if (expr_is_reserved(copy)) {
        err_set(err, ERR_SyntaxError, "%s has its own meaning and cannot be set", copy);
        return fail_at(&part, err);
    }
    return session_set(call->session, copy, &v, err);
}

/* The declarators of a statement behind its type, of so many bytes, up to the semicolon. */
static int split_declarators(struct call *call, struct source statement, size_t type_end,
                             struct source **parts, size_t *count, struct err *err)
{
    size_t end = statement.text.size;
    struct source list;
    char *text;

    while (end > type_end &&
           (is_blank(statement.text.data[end - 1]) || statement.text.data[end - 1] == ';' ||
            statement.text.data[end - 1] == '\n'))
        end--;
    /* In brackets, so that one function splits it; a bracket more on the left shifts nothing. */
    list = launch_piece(&statement, type_end, end);
    text = arena_printf(call->arena, "(%.*s)", (int)list.text.size, list.text.data);
    if (!text)
        return err_set(err, ERR_ResourceError, "out of memory");
    list = (struct source){ bytes_of(text), list.line, list.column - 1 };
    return launch_split(list, call->arena, parts, count, err);
}

static size_t skip_blanks(struct bytes text, size_t at)
{
    while (at < text.size && is_blank(text.data[at]))
        at++;
    return at;
}

static size_t skip_word(struct bytes text, size_t at)
{
    while (at < text.size && is_name_char(text.data[at]))
        at++;
    return at;
}

/* Behind the dim3, const dim3 or auto of a declaration. */
static size_t type_end_of(struct bytes text)
{
    size_t from = skip_blanks(text, 0), end = skip_word(text, from);

    while (bytes_equal((struct bytes){ text.data + from, end - from }, "const") ||
           bytes_equal((struct bytes){ text.data + from, end - from }, "constexpr")) {
        from = skip_blanks(text, end);
        end = skip_word(text, from);
    }
    return end;
}

int launch_dim_declare(struct call *call, struct source statement, struct err *err)
{
    size_t type_end = type_end_of(statement.text), count;
    struct source *parts;

    if (split_declarators(call, statement, type_end, &parts, &count, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++)
        if (declare_one(call, parts[i], err) < 0)
            return -1;
    return 0;
}

/* "n = 1 << 20" of an integer or a floating type. */
static int declare_scalar(struct call *call, struct source part, const char *type, struct err *err)
{
    size_t name_end = skip_word(part.text, 0), at = skip_blanks(part.text, name_end);
    bool is_float = strstr(type, "float") || strstr(type, "double");
    struct source right;
    struct value v;
    double f;
    char *name = arena_copy(call->arena, part.text.data, name_end);

    if (!name)
        return err_set(err, ERR_ResourceError, "out of memory");
    if (!name_end || at >= part.text.size || part.text.data[at] != '=') {
        err_set(err, ERR_SyntaxError, "a number is declared with its value: int n = 1000;");
        return fail_at(&part, err);
    }
    if (expr_is_reserved(name)) {
        err_set(err, ERR_SyntaxError, "%s has its own meaning and cannot be set", name);
        return fail_at(&part, err);
    }
    right = launch_piece(&part, at + 1, part.text.size);
    if (expr_eval_with(call->session, right, NULL, 0, call->arena, &v, err) < 0)
        return -1;
    if (!value_as_float(&v, &f)) {
        err_set(err, ERR_UsageError, "%s is declared as a number, and %s is %s", name,
                text_show(call->arena, right.text, 40), value_a_type(v.type));
        return fail_at(&right, err);
    }
    if (is_float)
        v = value_float(f);
    else if (v.type == VALUE_FLOAT && f > -0x1p63 && f < 0x1p63)
        v = value_int((int64_t)f); /* as C does: towards zero */
    return session_set(call->session, name, &v, err);
}

int launch_scalar_declare(struct call *call, struct source statement, struct err *err)
{
    struct bytes text = statement.text;
    size_t at = skip_blanks(text, 0), start = at, type_end = at, count;
    struct source *parts;
    char *type;

    /* The last word before the = is the name; what stands before it is the type. */
    for (;;) {
        size_t end = skip_word(text, at), next = skip_blanks(text, end);

        if (end == at || (next < text.size && text.data[next] == '='))
            break;
        type_end = end;
        at = next;
    }
    type = arena_copy(call->arena, text.data + start, type_end - start);
    if (!type)
        return err_set(err, ERR_ResourceError, "out of memory");
    if (split_declarators(call, statement, type_end, &parts, &count, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++)
        if (declare_scalar(call, parts[i], type, err) < 0)
            return -1;
    return 0;
}

/* ---- the runtime API ---- */

static const struct {
    const char *name, *instead; /* instead NULL: it may stand, and does nothing */
} CALLS[] = {
    { "cudaDeviceSynchronize", NULL },
    { "cudaThreadSynchronize", NULL },
    { "cudaStreamSynchronize", NULL },
    { "cudaGetLastError", NULL },
    { "cudaPeekAtLastError", NULL },
    { "cudaSetDevice", "%device gpu:0 picks the device" },
    { "cudaMalloc", "%buffer x float[1024] makes a buffer in the device's memory" },
    { "cudaMallocManaged", "%buffer x float[1024] makes a buffer in the device's memory" },
    { "cudaMallocHost", "%buffer x float[1024] makes a buffer in the device's memory" },
    { "cudaMemcpy", "%buffer x float[1024] = iota fills a buffer, %show x reads it" },
    { "cudaMemset", "%buffer x float[1024] = zeros fills a buffer" },
    { "cudaMemcpyToSymbol", "%buffer NAME = (1, 2, 3) fills the symbol NAME" },
    { "cudaMemcpyFromSymbol", "%show NAME reads the symbol NAME" },
    { "cudaFree", "buffers stay until %reset" },
    { "cudaFuncSetAttribute", "leave it out: a launch asks for its dynamic shared memory itself" },
    { "cudaLaunchCooperativeKernel", "%launch k<<<grid, block>>>(x) cooperative=yes" },
    { "cudaOccupancyMaxActiveBlocksPerMultiprocessor", "%occupancy KERNEL says it" },
    { "cudaGetDeviceProperties", "%device gpu shows them" },
};

static int refuse_loop(const struct source *statement, size_t start, size_t n, struct err *err)
{
    err_set(err, ERR_UsageError, "%.*s is a loop of the host program, and a cell is none", (int)n,
            statement->text.data + start);
    err_at(err, statement->line, statement->column + (int)start, (int)n);
    return err_next(err, "%%%%for i in 0..9 on the first line repeats a cell's lines; a list as "
                         "[64,32,16] counts otherwise");
}

int launch_host_call(struct source statement, struct err *err)
{
    size_t start = 0, n = 0;
    struct bytes name;

    while (start < statement.text.size && is_blank(statement.text.data[start]))
        start++;
    while (start + n < statement.text.size && is_name_char(statement.text.data[start + n]))
        n++;
    name = (struct bytes){ statement.text.data + start, n };
    if (bytes_equal(name, "for") || bytes_equal(name, "while"))
        return refuse_loop(&statement, start, n, err);
    for (size_t i = 0; i < COUNT(CALLS); i++) {
        if (!bytes_equal(name, CALLS[i].name))
            continue;
        if (!CALLS[i].instead)
            return 0;
        err_next(err, "%s", CALLS[i].instead);
    }
    err_set(err, ERR_UsageError, "%.*s is a call of the host program, and a cell is none",
            (int)min_i64((int64_t)n, 60), name.data);
    err_at(err, statement.line, statement.column + (int)start, (int)n);
    return err_next(err, "a launch line, %%buffer and %%show do what host code does");
}
