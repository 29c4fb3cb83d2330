/*
 * %buffer makes global memory: a name, a type and a length, and what it starts
 * with. Both `x float[1M]` and C's own `float x[1M]` are read; without `=` nothing
 * is written, and a kernel that reads it before writing is told so.
 */
#include "cells/buffer.h"

#include "cells/buffer_fill.h"
#include "cells/buffer_struct.h"
#include "cells/buffer_symbol.h"
#include "cells/cell.h"
#include "cells/export.h"
#include "cells/internal.h"
#include "cells/magics.h"

#include <stdio.h>

enum { WORDS_MAX = 6 };

struct declaration {
    const struct call *call;
    struct scope scope;
    struct lexer lexer;
    const char *words[WORDS_MAX];
    size_t starts[WORDS_MAX], ends[WORDS_MAX];
    size_t count;
    int rank; /* 0: no brackets */
    int64_t shape[BUFFER_RANK_MAX];
    bool is_open; /* float x[] = ... */
    size_t right; /* offset of what follows =; 0: no = */
    const char *name;
    struct element_type type;
    bool has_type;
};

/* ---- the left side ---- */

static int add_word(struct declaration *d, const struct token *t, struct err *err)
{
    if (d->rank || d->is_open)
        return lexer_fail_at(&d->lexer, t->start, t->end, err, ERR_SyntaxError,
                             "%s stands behind the dimensions: = and a value may",
                             token_show(&d->lexer, t));
    if (d->count == WORDS_MAX)
        return lexer_fail_at(&d->lexer, t->start, t->end, err, ERR_SyntaxError,
                             "too many words in front of the dimensions");
    d->words[d->count] = arena_copy(d->lexer.arena, t->text.data, t->text.size);
    if (!d->words[d->count])
        return err_set(err, ERR_ResourceError, "out of memory");
    d->starts[d->count] = t->start;
    d->ends[d->count++] = t->end;
    return 0;
}

static int add_dimension(struct declaration *d, struct err *err)
{
    struct expr *expr;
    struct value v;

    if (expr_parse(&d->lexer, &expr, err) < 0 || expr_eval(&d->scope, expr, &v, err) < 0)
        return -1;
    if (d->rank == BUFFER_RANK_MAX)
        return expr_fail(&d->scope, expr, err, ERR_ValueError, "a buffer has at most %d dimensions",
                         BUFFER_RANK_MAX);
    if (v.type == VALUE_FLOAT && v.f == (double)(int64_t)v.f)
        v = value_int((int64_t)v.f); /* 1e6 */
    if (expr_need_int(&d->scope, expr, &v, &d->shape[d->rank], err) < 0)
        return -1;
    if (d->shape[d->rank] < 1)
        return expr_fail(&d->scope, expr, err, ERR_ValueError,
                         "a dimension of %lld: 1 is the least", (long long)d->shape[d->rank]);
    d->rank++;
    return 0;
}

/* [n], [n, m] or [] behind the opening bracket. */
static int read_dimensions(struct declaration *d, const struct token *open, struct err *err)
{
    struct token t;
    bool is_closed, is_comma;

    if (lexer_take_op(&d->lexer, ']', &is_closed, err) < 0)
        return -1;
    if (is_closed) {
        if (d->rank || d->is_open)
            return lexer_fail_at(&d->lexer, open->start, open->end + 1, err, ERR_SyntaxError,
                                 "only the first dimension can be left open");
        d->is_open = true;
        return 0;
    }
    do {
        if (add_dimension(d, err) < 0 || lexer_take_op(&d->lexer, ',', &is_comma, err) < 0)
            return -1;
    } while (is_comma);
    if (lexer_next(&d->lexer, &t, err) < 0)
        return -1;
    if (t.kind != TOKEN_OP || t.op != ']')
        return lexer_fail_at(&d->lexer, t.start, t.end, err, ERR_SyntaxError,
                             "%s stands where ] should", token_show(&d->lexer, &t));
    return 0;
}

static int read_left(struct declaration *d, struct err *err)
{
    struct token t;

    for (;;) {
        if (lexer_next(&d->lexer, &t, err) < 0)
            return -1;
        if (t.kind == TOKEN_END)
            return 0;
        if (t.kind == TOKEN_OP && t.op == '=') {
            d->right = t.end;
            return 0;
        }
        if (t.kind == TOKEN_OP && t.op == '(') {
            lexer_fail_at(&d->lexer, t.start, t.end, err, ERR_SyntaxError,
                          "a length stands in [ ], as C declares an array");
            return err_next(err, "such as: %%buffer float x[1024]");
        }
        if (t.kind == TOKEN_OP && t.op == '*') {
            lexer_fail_at(&d->lexer, t.start, t.end, err, ERR_SyntaxError,
                          "a buffer is the memory itself, not a pointer to it");
            return err_next(err, "%%buffer float x[1024] makes 1,024 floats; a kernel gets their "
                                 "address");
        }
        if (t.kind == TOKEN_OP && t.op == '[' ? read_dimensions(d, &t, err) < 0
            : t.kind == TOKEN_WORD            ? add_word(d, &t, err) < 0
                                   : lexer_fail_at(&d->lexer, t.start, t.end, err, ERR_SyntaxError,
                                                   "%s stands where a name, a type or [ should",
                                                   token_show(&d->lexer, &t)))
            return -1;
    }
}

/* ---- name and type ---- */

static int join(struct declaration *d, size_t first, size_t last, const char **out, struct err *err)
{
    struct buf text = { 0 };

    for (size_t i = first; i < last; i++) {
        if (strcmp(d->words[i], "const") == 0 || strcmp(d->words[i], "volatile") == 0)
            continue;
        buf_puts(&text, text.size ? " " : "");
        buf_puts(&text, d->words[i]);
    }
    *out = arena_copy(d->lexer.arena, buf_text(&text), text.size);
    buf_done(&text);
    return *out ? 0 : err_set(err, ERR_ResourceError, "out of memory");
}

static int try_type(struct declaration *d, size_t first, size_t last, struct err *err)
{
    const char *name;

    if (join(d, first, last, &name, err) < 0 ||
        element_type_find(d->call->session, name, &d->type, err) < 0)
        return -1;
    d->has_type = true;
    return 0;
}

/* `float x` as in C, else `x float`; one word alone is the name. */
static int find_name(struct declaration *d, struct err *err)
{
    struct err c_style = { 0 }, name_first = { 0 };
    size_t n = d->count;

    if (n == 0)
        return lexer_fail_at(&d->lexer, 0, d->lexer.source.text.size, err, ERR_SyntaxError,
                             "a buffer needs a name");
    d->name = d->words[n - 1];
    if (n == 1)
        return 0;
    if (try_type(d, 0, n - 1, &c_style) == 0)
        return 0;
    d->name = d->words[0];
    if (try_type(d, 1, n, &name_first) == 0) {
        err_done(&c_style);
        return 0;
    }
    /* The nearer one to a type is what was meant. */
    if (name_first.name == ERR_UnsupportedError || strstr(name_first.text, "nearest")) {
        err_set(err, name_first.name, "%s", name_first.text);
        err_next(err, "%s", name_first.next);
        lexer_mark(&d->lexer, d->starts[1], d->ends[n - 1], err);
    } else {
        err_set(err, c_style.name, "%s", c_style.text);
        err_next(err, "%s", c_style.next);
        lexer_mark(&d->lexer, d->starts[0], d->ends[n - 2], err);
    }
    err_done(&c_style);
    err_done(&name_first);
    return -1;
}

static int check_name(struct declaration *d, struct err *err)
{
    struct element_type type;
    static const char *const WORDS[] = { "zeros", "ones", "iota", "random", "uniform", "normal" };
    bool is_bad = expr_is_reserved(d->name) || element_type_builtin(d->name, &type);

    for (size_t i = 0; i < COUNT(WORDS); i++)
        is_bad |= strcmp(WORDS[i], d->name) == 0;
    if (is_bad)
        return lexer_fail_at(&d->lexer, d->starts[0], d->ends[d->count - 1], err, ERR_SyntaxError,
                             "%s has its own meaning and cannot name a buffer", d->name);
    if (strlen(d->name) > 60)
        return lexer_fail_at(&d->lexer, d->starts[0], d->ends[0], err, ERR_SyntaxError,
                             "a name of %zu characters: 60 are allowed", strlen(d->name));
    return 0;
}

/* ---- what is made ---- */

static int no_type(struct declaration *d, struct err *err)
{
    lexer_fail_at(&d->lexer, d->starts[0], d->ends[0], err, ERR_UsageError,
                  "%s needs a type and a length", d->name);
    return err_next(err, "such as: %%buffer float %s[1024] = zeros", d->name);
}

/* Type and shape from what they were: `%buffer x = iota` fills x again. */
static bool take_old(struct declaration *d, const struct buffer *old)
{
    if (!old)
        return false;
    d->type = old->type;
    d->rank = old->rank;
    memcpy(d->shape, old->shape, sizeof(d->shape));
    return true;
}

/* The first dimension of float x[][4] is what the others leave of the whole. */
static int close_shape(struct declaration *d, int rank, const int64_t *shape, struct err *err)
{
    int64_t whole = 1, rest = d->has_type && d->type.lanes > 1 ? d->type.lanes : 1;

    for (int i = 0; i < rank; i++)
        whole *= shape[i];
    if (d->rank && rank > 1 && whole / shape[rank - 1] * shape[rank - 1] == whole)
        rest = 1;
    for (int i = 0; i < d->rank; i++)
        rest *= d->shape[i];
    if (!rank || whole < rest || whole % rest)
        return lexer_fail_at(&d->lexer, d->starts[0], d->ends[d->count - 1], err, ERR_UsageError,
                             rank ? "%s[]: %lld numbers do not make whole rows"
                                  : "%s[]: the value does not say how many elements there are",
                             d->name, (long long)whole);
    if (d->rank == BUFFER_RANK_MAX)
        return lexer_fail_at(&d->lexer, d->starts[0], d->ends[0], err, ERR_ValueError,
                             "a buffer has at most %d dimensions", BUFFER_RANK_MAX);
    memmove(d->shape + 1, d->shape, (size_t)d->rank * sizeof(d->shape[0]));
    d->shape[0] = whole / rest;
    d->rank++;
    return 0;
}

static int settle_shape(struct declaration *d, struct initial *initial, bool *is_symbol,
                        struct err *err)
{
    struct session *session = d->call->session;
    struct element_type type = { .name = NULL };
    int64_t shape[BUFFER_RANK_MAX] = { 0 };
    const struct buffer *old = buffer_find(session, d->name);
    bool has_type = false, is_found;
    int rank = 0;

    if (initial &&
        initial_shape(session, initial, d->scope.arena, &type, &has_type, &rank, shape, err) < 0)
        return -1;
    if (!d->has_type) {
        if (d->rank || d->is_open || !initial)
            return no_type(d, err);
        if (!old || old->is_symbol) {
            /* A device variable has the type of its declaration. */
            if (symbol_type(session, d->name, &is_found, &d->type, &d->rank, d->shape, err) < 0)
                return lexer_mark(&d->lexer, d->starts[0], d->ends[0], err);
            *is_symbol = is_found;
            if (is_found)
                return 0;
        }
        if (has_type) {
            d->type = type;
            d->rank = rank;
            memcpy(d->shape, shape, sizeof(shape));
            return 0;
        }
        return take_old(d, old) ? 0 : no_type(d, err);
    }
    if (d->is_open)
        return close_shape(d, rank, shape, err);
    if (!d->rank && initial && (has_type || initial->kind == INITIAL_TUPLE) && rank) {
        d->rank = rank; /* %buffer double d = x: as long as x */
        memcpy(d->shape, shape, sizeof(shape));
    } else if (!d->rank) {
        d->shape[d->rank++] = 1;
    }
    return 0;
}

/* `%buffer float C[4]` beside `__constant__ float C[4]`: two things of one name, said once. */
static void warn_of_variable(const struct declaration *d, bool is_symbol)
{
    const struct cuda *cuda = session_cuda(d->call->session);

    for (size_t i = cuda_name_count(cuda); i > 0 && !is_symbol; i--) {
        struct cuda_name name = cuda_name_at(cuda, i - 1);

        if (name.kind != CUDA_VARIABLE || strcmp(name.name, d->name) != 0)
            continue;
        sink_printf(
            d->call->sink, STREAM_STDOUT,
            "%s is a device variable of In[%d] too, and kernels that name it read that one:\n"
            "%%buffer %s = (1, 2, 3) without a type fills it.\n",
            d->name, name.cell, d->name);
        return;
    }
}

static int run(struct call *call, struct err *err)
{
    struct declaration d = { .call = call };
    struct source source = call_source(call, "declaration"), right;
    struct initial initial, *given = NULL;
    struct buffer *buffer;
    bool is_symbol = false;

    lexer_init(&d.lexer, source, call->arena);
    d.scope = (struct scope){ .session = call->session, .lexer = &d.lexer, .arena = call->arena };
    if (read_left(&d, err) < 0 || find_name(&d, err) < 0 || check_name(&d, err) < 0)
        return -1;
    if (d.right) {
        while (d.right < source.text.size && is_blank(source.text.data[d.right]))
            d.right++;
        right.text = (struct bytes){ source.text.data + d.right, source.text.size - d.right };
        source_place(&source, d.right, &right.line, &right.column);
        if (!line_strip(right.text))
            return lexer_fail_at(&d.lexer, 0, d.right, err, ERR_SyntaxError, "%s = has no value",
                                 d.name);
        if (initial_read(call->session, right, call->arena, &initial, err) < 0)
            return -1;
        given = &initial;
    }
    if (settle_shape(&d, given, &is_symbol, err) < 0)
        return -1;
    if (buffer_prepare(call->session, d.name, &d.type, d.rank, d.shape, is_symbol, &buffer, err) <
        0)
        return lexer_mark(&d.lexer, 0, d.right ? d.right : source.text.size, err);
    buffer_set_origin(buffer, "made in In[%d] line %d", session_run_count(call->session),
                      call->line);
    if (given && initial_fill(call->session, given, call->arena, buffer, err) < 0) {
        buffer_discard(&buffer);
        return -1;
    }
    export_note_buffer(call->session, buffer, given, call->arena);
    warn_of_variable(&d, is_symbol);
    return buffer_commit(call->session, buffer, err);
}

static const struct param PARAMS[] = {
    { .name = "declaration",
      .type = PARAM_REST,
      .flags = PARAM_POSITIONAL | PARAM_REQUIRED,
      .help = "TYPE NAME[n] or NAME TYPE[n], then = and a value" },
};

const struct magic MAGIC_BUFFER = {
    .name = "buffer",
    .flags = MAGIC_SILENT,
    .summary = "makes global memory: %buffer float x[1M] = iota",
    .about =
        "Types: char uchar short ushort int uint long ulong (64 bits) half bf16 float double bool, "
        "CUDA's vectors (float4), structs of earlier cells; up to 3 dimensions.\n"
        "Values: zeros, ones, iota (0, 1, 2, ...), random(seed) (0 <= x < 1; of integers every "
        "value), uniform(seed, lo, hi), normal(seed), an expression in i (and j, k), a tuple, "
        "another buffer, a .npy file. Without = it is uninitialised, as cudaMalloc's.\n"
        "Random numbers are Philox4x32-10 with the element's number as counter: the same on every "
        "machine. A device variable is filled by its name: %buffer F = (1,2,1).",
    .example = "%buffer float x[1K] = iota\n"
               "%buffer y float[1K]\n"
               "%buffer float A[4][4] = {i == j}\n"
               "%buffer float4 v[8] = {(i, 0, 0, 1)}",
    .params = PARAMS,
    .param_count = COUNT(PARAMS),
    .run = run,
};
