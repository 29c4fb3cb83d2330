/*
 * First values as C++: the nodes of an element's expression (elementwise.h) become the
 * loop that a programmer would write. Types are known, constants are worked out.
 */
#include "cells/buffer_number.h"
#include "cells/elementwise_internal.h"
#include "cells/export.h"
#include "cells/internal.h"
#include "cells/npy.h"
#include "cells/real.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

enum { USED_MAX = 16, LITERALS_MAX = 4096 };

struct writer {
    struct session *session;
    const struct buffer *buffer;
    struct buf *out;
    const struct buffer *used[USED_MAX]; /* whose elements are read on the host */
    size_t used_count;
    unsigned lane;
    enum scalar_kind kind;
    bool is_failed; /* no way to say it */
};

void export_type(const struct element_type *type, struct buf *out)
{
    static const char *const NAMES[SCALAR_COUNT] = {
        "char",      "unsigned char",
        "short",     "unsigned short",
        "int",       "unsigned int",
        "long long", "unsigned long long",
        "__half",    "__nv_bfloat16",
        "float",     "double",
        "bool",      "",
    };

    if (type->kind == SCALAR_STRUCT)
        buf_puts(out, type->name);
    else if (type->lanes == 1 && strcmp(type->name, "long") != 0)
        buf_puts(out, NAMES[type->kind]);
    else if (type->lanes == 1)
        buf_puts(out, "long");
    else if (type->kind == SCALAR_HALF)
        buf_puts(out, "__half2");
    else if (type->kind == SCALAR_BF16)
        buf_puts(out, "__nv_bfloat162");
    else
        buf_puts(out, type->name);
}

/* ---- numbers ---- */

static void put_double(struct buf *out, double v)
{
    char text[40];

    if (isnan(v) || isinf(v)) {
        buf_puts(out, isnan(v) ? "NAN" : v > 0 ? "INFINITY" : "-INFINITY");
        return;
    }
    float_text(SCALAR_DOUBLE, v, text, sizeof(text));
    buf_puts(out, text);
    if (!strpbrk(text, ".e"))
        buf_puts(out, ".0");
}

static void put_int(struct buf *out, int64_t v)
{
    if (v == INT64_MIN)
        buf_puts(out, "(-9223372036854775807LL - 1)");
    else
        buf_printf(out, v > INT32_MAX || v < INT32_MIN ? "%lldLL" : "%lld", (long long)v);
}

/* ---- nodes ---- */

/* The loop's variable: the index itself where there is only one. */
static const char *element(const struct writer *w)
{
    return w->buffer->rank == 1 ? "i" : "e";
}

static void put_node(struct writer *w, const struct node *n);

static void use(struct writer *w, const struct buffer *b)
{
    for (size_t i = 0; i < w->used_count; i++)
        if (w->used[i] == b)
            return;
    if (w->used_count == USED_MAX || b->is_symbol)
        w->is_failed = true;
    else
        w->used[w->used_count++] = b;
}

static void put_element(struct writer *w, const struct node *n, const char *open, const char *close)
{
    const struct buffer *b = n->place.buffer.buffer;

    use(w, b);
    buf_printf(w->out, "(%s)%s_host[", n->is_float ? "double" : "long long", b->name);
    if (n->place.buffer.offset)
        buf_printf(w->out, "%lld + ", (long long)n->place.buffer.offset);
    buf_puts(w->out, open);
    if (n->kind == NODE_GATHER)
        put_node(w, n->kids[0]);
    else
        buf_puts(w->out, element(w));
    buf_puts(w->out, close);
    buf_printf(w->out, "]%s", n->path ? n->path : "");
}

/* sum * size + index, as C lays arrays out. */
static void put_bound(struct writer *w, const struct node *n)
{
    if (n->kids[1]) {
        buf_puts(w->out, "(");
        put_node(w, n->kids[1]);
        buf_printf(w->out, ") * %lld + ", (long long)n->a);
    }
    put_node(w, n->kids[0]);
}

static const char *operator_text(int op)
{
    static const struct {
        int op;
        const char *text;
    } ROWS[] = {
        { OP_EQ, "==" },  { OP_NE, "!=" },  { OP_LE, "<=" }, { OP_GE, ">=" },
        { OP_SHL, "<<" }, { OP_SHR, ">>" }, { '+', "+" },    { '-', "-" },
        { '*', "*" },     { '/', "/" },     { '%', "%" },    { '&', "&" },
        { '|', "|" },     { '^', "^" },     { '<', "<" },    { '>', ">" },
    };

    for (size_t i = 0; i < COUNT(ROWS); i++)
        if (ROWS[i].op == op)
            return ROWS[i].text;
    return "?";
}

static void put_two(struct writer *w, const struct node *n, const char *op)
{
    buf_putc(w->out, '(');
    put_node(w, n->kids[0]);
    buf_printf(w->out, " %s ", op);
    put_node(w, n->kids[1]);
    buf_putc(w->out, ')');
}

static void put_call(struct writer *w, const char *name, const struct node *n)
{
    buf_printf(w->out, "%s(", name);
    put_node(w, n->kids[0]);
    if (n->kids[1]) {
        buf_puts(w->out, ", ");
        put_node(w, n->kids[1]);
    }
    buf_putc(w->out, ')');
}

static void put_function(struct writer *w, const struct node *n)
{
    static const char *const NAMES[] = { "std::min",   "std::max",   "std::abs",  "std::ceil",
                                         "std::floor", "std::round", "std::trunc" };
    static const struct {
        double (*real)(double);
        const char *name;
    } REALS[] = {
        { sqrt, "std::sqrt" },      { real_log2, "std::log2" }, { real_exp, "std::exp" },
        { real_log, "std::log" },   { real_sin, "std::sin" },   { real_cos, "std::cos" },
        { real_tanh, "std::tanh" },
    };

    if (n->which == FUNCTION_POW) {
        put_call(w, "std::pow", n);
        return;
    }
    if (n->which != FUNCTION_REAL) {
        const char *type = n->is_float ? "<double>" : "<long long>";
        char name[40];

        snprintf(name, sizeof(name), "%s%s%s", n->which >= FUNCTION_CEIL ? "(long long)" : "",
                 NAMES[n->which], n->which <= FUNCTION_MAX ? type : "");
        put_call(w, name, n);
        return;
    }
    for (size_t i = 0; i < COUNT(REALS); i++)
        if (REALS[i].real == n->real) {
            put_call(w, REALS[i].name, n);
            return;
        }
    w->is_failed = true;
}

static void put_random(struct writer *w, const struct node *n)
{
    if (n->which == RANDOM_NORMAL) {
        buf_puts(w->out, "(");
        put_double(w->out, n->f);
        buf_puts(w->out, " + ");
        put_double(w->out, n->g);
        buf_printf(w->out, " * wb_normal(%lluULL, %s, %u))", (unsigned long long)n->seed,
                   element(w), w->lane);
        return;
    }
    buf_puts(w->out, "(");
    put_double(w->out, n->f);
    buf_puts(w->out, " + ");
    put_double(w->out, n->g - n->f);
    buf_printf(w->out, " * wb_uniform(%lluULL, %s, %u, %s))", (unsigned long long)n->seed,
               element(w), w->lane, w->kind == SCALAR_DOUBLE ? "true" : "false");
}

static void put_compare(struct writer *w, const struct node *n)
{
    if (!n->kids[2]) {
        put_two(w, n, operator_text(n->which));
        return;
    }
    buf_puts(w->out, n->which == OP_EQ ? "(std::fabs" : "!(std::fabs");
    put_two(w, n, "-");
    buf_puts(w->out, " <= ");
    put_node(w, n->kids[2]);
    if (n->is_relative) {
        buf_puts(w->out, " * std::fabs(");
        put_node(w, n->kids[1]);
        buf_puts(w->out, ")");
    }
    buf_puts(w->out, ")");
}

static void put_node(struct writer *w, const struct node *n)
{
    switch (n->kind) {
    case NODE_CONST:
        if (n->is_float)
            put_double(w->out, n->floats[0]);
        else
            put_int(w->out, n->ints[0]);
        break;
    case NODE_INDEX:
        buf_putc(w->out, "ijk"[n->which]);
        break;
    case NODE_IOTA:
        if (n->a == 0)
            put_int(w->out, n->b);
        else if (n->a == 1 && !n->b)
            buf_puts(w->out, element(w));
        else
            buf_printf(w->out, "(%s * %lld + %lld)", element(w), (long long)n->a, (long long)n->b);
        break;
    case NODE_LOAD:
    case NODE_GATHER:
        put_element(w, n, "", "");
        break;
    case NODE_BOUND:
        put_bound(w, n);
        break;
    case NODE_LIST:
        w->is_failed = true;
        break;
    case NODE_FLOAT:
        buf_puts(w->out, "(double)");
        if (n->kids[0]->kind == NODE_CONST || n->kids[0]->kind == NODE_INDEX) {
            put_node(w, n->kids[0]);
            break;
        }
        buf_putc(w->out, '(');
        put_node(w, n->kids[0]);
        buf_putc(w->out, ')');
        break;
    case NODE_TRUTH:
        if (n->kids[0]->kind == NODE_COMPARE || n->kids[0]->kind == NODE_AND ||
            n->kids[0]->kind == NODE_OR) { /* true or false already */
            put_node(w, n->kids[0]);
            break;
        }
        buf_putc(w->out, '(');
        put_node(w, n->kids[0]);
        buf_puts(w->out, " != 0)");
        break;
    case NODE_UNARY:
        buf_printf(w->out, "%c(", n->which);
        put_node(w, n->kids[0]);
        buf_putc(w->out, ')');
        break;
    case NODE_BINARY:
        if (n->is_float && n->which == '%')
            put_call(w, "std::fmod", n);
        else
            put_two(w, n, operator_text(n->which));
        break;
    case NODE_COMPARE:
        put_compare(w, n);
        break;
    case NODE_AND:
        put_two(w, n, "&&");
        break;
    case NODE_OR:
        put_two(w, n, "||");
        break;
    case NODE_CHOOSE:
        buf_putc(w->out, '(');
        put_node(w, n->kids[0]);
        buf_puts(w->out, " ? ");
        put_node(w, n->kids[1]);
        buf_puts(w->out, " : ");
        put_node(w, n->kids[2]);
        buf_putc(w->out, ')');
        break;
    case NODE_FUNCTION:
        put_function(w, n);
        break;
    case NODE_RANDOM:
        put_random(w, n);
        break;
    }
}

/* ---- the loop ---- */

static void put_indexes(struct writer *w)
{
    const struct buffer *b = w->buffer;
    int64_t inner = 1;

    if (b->rank == 1)
        return;
    for (int d = b->rank - 1; d >= 0; d--) {
        buf_printf(w->out, "            const long long %c = e / %lld %% %lld;\n", "ijk"[d],
                   (long long)inner, (long long)b -> shape[d]);
        inner *= b->shape[d];
    }
    for (int d = 0; d < b->rank; d++)
        buf_printf(w->out, "%s(void)%c;%s", d ? " " : "            ", "ijk"[d],
                   d + 1 == b->rank ? "\n" : "");
}

/* host[e].x = (float)(...); */
static void put_store(struct writer *w, const struct leaf *leaf)
{
    struct element_type type;

    buf_printf(w->out, "            host[%s]%s = (", element(w), leaf->path);
    element_type_builtin(scalar_name(leaf->kind), &type);
    export_type(&type, w->out);
    buf_puts(w->out, ")(");
}

static void put_uses(struct writer *w, struct buf *before)
{
    for (size_t i = 0; i < w->used_count; i++)
        buf_printf(before, "        auto %s_host = %s.host();\n", w->used[i]->name,
                   w->used[i]->name);
}

static void put_literal(struct writer *w, const struct leaf *leaf, int64_t i)
{
    const char *p =
        (const char *)w->buffer->data + (size_t)i * w->buffer->type.bytes + leaf->offset;
    char text[64];

    if (scalar_is_float(leaf->kind)) {
        put_double(w->out, scalar_double(leaf->kind, p));
        return;
    }
    scalar_text(leaf->kind, p, text, sizeof(text));
    buf_puts(w->out, text);
    if (strlen(text) > 9)
        buf_puts(w->out, leaf->kind == SCALAR_ULONG ? "ULL" : "LL");
}

static bool put_literals(struct writer *w, const struct leaf *leaves, size_t count)
{
    struct element_type type;

    if (w->buffer->count * (int64_t)count > LITERALS_MAX)
        return false;
    for (int64_t i = 0; i < w->buffer->count; i++)
        for (size_t l = 0; l < count; l++) {
            buf_printf(w->out, "        host[%lld]%s = (", (long long)i, leaves[l].path);
            element_type_builtin(scalar_name(leaves[l].kind), &type);
            export_type(&type, w->out);
            buf_puts(w->out, ")");
            put_literal(w, &leaves[l], i);
            buf_puts(w->out, ";\n");
        }
    return true;
}

static bool is_random_call(const struct expr *expr, const struct leaf *leaf)
{
    return expr->kind == EXPR_CALL && !scalar_is_float(leaf->kind) &&
           (strcmp(expr->text, "random") == 0 || strcmp(expr->text, "uniform") == 0);
}

static bool put_random_integer(struct writer *w, struct scope *scope, const struct expr *call)
{
    int64_t v[3] = { 0 };
    struct value value;

    for (size_t i = 0; i < call->count && i < 3; i++) {
        if (expr_eval(scope, call->kids[i], &value, NULL) < 0)
            return false;
        v[i] = value.type == VALUE_FLOAT ? (int64_t)value.f : value.i;
    }
    if (call->count == 1)
        buf_printf(w->out,
                   w->kind == SCALAR_BOOL ? "wb_bits(%lluULL, %s, %u) & 1"
                                          : "wb_bits(%lluULL, %s, %u)",
                   (unsigned long long)v[0], element(w), w->lane);
    else
        buf_printf(w->out, "wb_between(%lluULL, %s, %u, %lldLL, %lldLL)", (unsigned long long)v[0],
                   element(w), w->lane, (long long)v[1], (long long)v[2]);
    return true;
}

static bool is_word(const struct expr *expr, const char *word)
{
    return expr->kind == EXPR_NAME && strcmp(expr->text, word) == 0;
}

static bool put_one(struct writer *w, struct scope *scope, struct initial *initial,
                    const struct leaf *leaf, size_t leaf_count)
{
    const struct expr *expr = initial->expr;
    struct elements elements = { .rank = w->buffer->rank ? w->buffer->rank : 1,
                                 .count = w->buffer->count,
                                 .is_initial = true,
                                 .kind = leaf->kind,
                                 .lane = w->lane };
    struct elementwise *e;

    memcpy(elements.shape, w->buffer->shape, sizeof(elements.shape));
    if (is_word(expr, "zeros") || is_word(expr, "ones")) {
        buf_puts(w->out, is_word(expr, "ones") ? "1" : "0");
        return true;
    }
    if (is_word(expr, "iota")) {
        if (leaf_count == 1)
            buf_puts(w->out, element(w));
        else
            buf_printf(w->out, "%s * %zu + %u", element(w), leaf_count, w->lane);
        return true;
    }
    if ((expr->kind == EXPR_LIST || expr->kind == EXPR_DIM) && w->lane < expr->count)
        expr = expr->kids[w->lane];
    else if (is_random_call(expr, leaf))
        return put_random_integer(w, scope, expr);
    if (initial->kind == INITIAL_COPY
            ? elementwise_load(scope, expr, &initial->place, NULL, &elements, &e, NULL) < 0
            : elementwise_compile(scope, expr, &elements, &e, NULL) < 0)
        return false;
    put_node(w, e->root);
    return !w->is_failed;
}

static bool put_loop(struct writer *w, struct scope *scope, struct initial *initial,
                     const struct leaf *leaves, size_t count)
{
    buf_printf(w->out, "        for (long long %s = 0; %s < %lld; %s++) {\n", element(w),
               element(w), (long long)w->buffer->count, element(w));
    put_indexes(w);
    for (size_t l = 0; l < count; l++) {
        w->lane = (unsigned)l;
        w->kind = leaves[l].kind;
        put_store(w, &leaves[l]);
        if (!put_one(w, scope, initial, &leaves[l], count))
            return false;
        buf_puts(w->out, ");\n");
    }
    buf_puts(w->out, "        }\n");
    return true;
}

/* The numbers behind the header of a .npy file. */
static bool put_file(struct writer *w, const struct initial *initial)
{
    struct npy npy;
    int fd;

    if (strpbrk(initial->text, "\"\\\n") || npy_open(initial->text, &npy, &fd, NULL) < 0)
        return false;
    close(fd);
    buf_printf(w->out, "        wb_read(\"%s\", %zu, host.get(), %zu);\n", initial->text,
               npy.data_at, w->buffer->size);
    return true;
}

static bool is_same_memory(const struct element_type *a, const struct element_type *b)
{
    return a->kind == b->kind && a->lanes == b->lanes && a->bytes == b->bytes;
}

bool export_initial(struct session *session, const struct buffer *buffer, struct initial *initial,
                    struct arena *arena, bool *is_device, struct buf *out)
{
    struct buf body = { 0 };
    struct writer w = { .session = session, .buffer = buffer, .out = &body };
    struct scope scope = { .session = session, .lexer = &initial->lexer, .arena = arena };
    const struct leaf *leaves;
    size_t count;
    bool is_done;

    *is_device = false;
    if (element_leaves(arena, &buffer->type, &leaves, &count, NULL) < 0)
        return false;
    if (initial->kind == INITIAL_COPY && !buffer->is_symbol &&
        !initial->place.buffer.buffer->is_symbol &&
        is_same_memory(buffer_value_type(&initial->place), &buffer->type) &&
        !initial->place.buffer.type) {
        *is_device = true;
        buf_printf(out,
                   "    WB_CHECK(cudaMemcpy(%s.p, %s.p + %lld, %s.bytes(), "
                   "cudaMemcpyDeviceToDevice));\n",
                   buffer->name, initial->place.buffer.buffer->name,
                   (long long)initial->place.buffer.offset, buffer->name);
        return true;
    }
    if (initial->kind == INITIAL_TUPLE || initial->kind == INITIAL_TEXT)
        is_done = put_literals(&w, leaves, count);
    else if (initial->kind == INITIAL_FILE)
        is_done = put_file(&w, initial);
    else
        is_done = put_loop(&w, &scope, initial, leaves, count) && !w.is_failed;
    /* What C++ cannot say is written out, where that is short. */
    if (!is_done) {
        buf_cut(&body, 0);
        w.used_count = 0;
        is_done = buffer_defined(buffer) == NULL && put_literals(&w, leaves, count);
    }
    if (is_done) {
        put_uses(&w, out);
        buf_puts(out, buf_text(&body));
    }
    buf_done(&body);
    return is_done;
}
