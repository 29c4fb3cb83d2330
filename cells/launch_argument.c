/*
 * Arguments against a signature. C would convert in silence and a launch through the
 * runtime API would read whatever bytes it was given; here a value has to be of the
 * parameter's kind and width, or the error shows the signature.
 */
#include "cells/buffer_struct.h"
#include "cells/internal.h"
#include "cells/launch_plan.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>

enum { MAX_DEPTH = 8 };

/* What every step of one argument needs. */
struct argument {
    struct call *call;
    const struct cuda_image *image;
    const struct cuda_parameter *parameter;
    size_t index;
    struct source where; /* the whole argument: carets */
    const struct local *locals;
    size_t local_count;
    struct launch_value *out;
};

static int fail(const struct argument *a, struct err *err, enum err_name name, const char *fmt, ...)
    PRINTF_LIKE(4, 5);

static int fail(const struct argument *a, struct err *err, enum err_name name, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    err_setv(err, name, fmt, args);
    va_end(args);
    err_at(err, a->where.line, a->where.column, (int)a->where.text.size);
    return err_next(err, "%.290s", a->image->signature);
}

/* "argument 2 (float a)" */
static const char *name_of(const struct argument *a)
{
    const struct cuda_parameter *p = a->parameter;
    size_t n = strlen(p->type);
    const char *glue = n && strchr("*&", p->type[n - 1]) ? "" : " ";
    const char *text = arena_printf(a->call->arena, "argument %zu (%s%s%s)", a->index + 1, p->type,
                                    *p->name ? glue : "", p->name);

    return text ? text : "an argument";
}

static const char *shown(const struct argument *a, struct source text)
{
    return text_show(a->call->arena, text.text, 48);
}

static int evaluate(const struct argument *a, struct source text, struct value *out,
                    struct err *err)
{
    if (expr_eval_with(a->call->session, text, a->locals, a->local_count, a->call->arena, out,
                       err) == 0)
        return 0;
    /* One that the parser could not place is this argument's. */
    return err_at(err, text.line, text.column, (int)text.text.size);
}

/* ---- casts ---- */

struct cast {
    bool is_pointer, is_given;
    enum scalar_kind kind;
};

/*
 * reinterpret_cast<float4 *>(x) and thrust::raw_pointer_cast(x) in front of a pointer: *text
 * becomes x. Does the cast give a type?
 */
static bool strip_named(struct source *text)
{
    static const char *const NAMES[] = { "reinterpret_cast<", "thrust::raw_pointer_cast(",
                                         "raw_pointer_cast(" };
    const struct bytes all = text->text;

    for (size_t i = 0; i < COUNT(NAMES); i++) {
        size_t n = strlen(NAMES[i]);
        const char *open;

        if (all.size <= n || memcmp(all.data, NAMES[i], n) != 0 || all.data[all.size - 1] != ')')
            continue;
        open = memchr(all.data, '(', all.size);
        *text = launch_piece(text, (size_t)(open - all.data) + 1, all.size - 1);
        return i == 0;
    }
    return false;
}

/* "(float)" or "(char *)" in front of a value: *text becomes what follows it. */
static void strip_cast(const struct argument *a, struct source *text, struct cast *cast)
{
    bool is_typed = strip_named(text);
    const char *close = text->text.size ? memchr(text->text.data, ')', text->text.size) : NULL;
    struct element_type type;
    struct err ignored = { 0 };
    struct source rest;
    size_t n;
    char *name;

    cast->is_pointer = cast->is_given = is_typed;
    if (!close || text->text.data[0] != '(')
        return;
    n = (size_t)(close - text->text.data);
    rest = launch_piece(text, n + 1, text->text.size);
    if (!rest.text.size || !is_name_start(text->text.data[1]))
        return;
    while (n > 1 && (text->text.data[n - 1] == '*' || is_blank(text->text.data[n - 1]))) {
        cast->is_pointer = cast->is_pointer || text->text.data[n - 1] == '*';
        n--;
    }
    name = arena_copy(a->call->arena, text->text.data + 1, n - 1);
    if (!name)
        return;
    if (strncmp(name, "const ", 6) == 0)
        name += 6;
    if (cast->is_pointer) {
        cast->is_given = true;
        *text = rest;
    } else if (!session_variable(a->call->session, name) &&
               element_type_find(a->call->session, name, &type, &ignored) == 0 && type.lanes == 1) {
        cast->is_given = true;
        cast->kind = type.kind;
        *text = rest;
    }
    err_done(&ignored);
}

static void apply_cast(const struct cast *cast, struct value *v)
{
    double f;

    if (!cast->is_given || cast->is_pointer || cast->kind == SCALAR_STRUCT ||
        !value_as_float(v, &f))
        return;
    if (scalar_is_float(cast->kind))
        *v = value_float(f);
    else if (v->type == VALUE_FLOAT && fabs(f) < 0x1p63)
        *v = value_int((int64_t)f);
}

/* ---- numbers ---- */

/* A double rounded to nearest, ties to even, in a format of so many exponent and fraction bits. */
static uint16_t small_float(double v, int exponent_bits, int fraction_bits)
{
    int bias = (1 << (exponent_bits - 1)) - 1, exponent;
    uint16_t sign = signbit(v) ? 0x8000 : 0,
             infinity = (uint16_t)(((1 << exponent_bits) - 1) << fraction_bits);
    double m = fabs(v), scaled;
    int64_t units;

    if (isnan(v))
        return (uint16_t)(infinity | 1 << (fraction_bits - 1));
    if (isinf(v))
        return sign | infinity;
    if (m == 0)
        return sign;
    frexp(m, &exponent);
    exponent = exponent - 1 < 1 - bias ? 1 - bias : exponent - 1; /* subnormals share one */
    scaled = ldexp(m, fraction_bits - exponent);
    units = (int64_t)nearbyint(scaled);
    units += (int64_t)(exponent + bias - 1) << fraction_bits;
    return sign | (units >= infinity ? infinity : (uint16_t)units);
}

static void store_float(enum scalar_kind kind, double v, void *out)
{
    float f = (float)v;
    uint16_t h = kind == SCALAR_HALF ? small_float(v, 5, 10) : small_float(v, 8, 7);

    if (kind == SCALAR_DOUBLE)
        memcpy(out, &v, sizeof(v));
    else if (kind == SCALAR_FLOAT)
        memcpy(out, &f, sizeof(f));
    else
        memcpy(out, &h, sizeof(h));
}

static bool is_unsigned(enum scalar_kind kind)
{
    return kind == SCALAR_UCHAR || kind == SCALAR_USHORT || kind == SCALAR_UINT ||
           kind == SCALAR_ULONG || kind == SCALAR_BOOL;
}

static int store_integer(const struct argument *a, enum scalar_kind kind, int64_t v, void *out,
                         struct err *err)
{
    int bits = 8 * (int)scalar_bytes(kind);
    int64_t low = bits == 64 ? INT64_MIN : -((int64_t)1 << (bits - 1));
    int64_t high =
        bits == 64 ? INT64_MAX : ((int64_t)1 << (is_unsigned(kind) ? bits : bits - 1)) - 1;
    bool flag = v != 0;

    if (kind == SCALAR_BOOL) {
        memcpy(out, &flag, sizeof(flag));
        return 0;
    }
    /* A negative number for an unsigned one is what C makes of -1: all bits set. */
    if (v < low || v > high)
        return fail(a, err, ERR_ValueError, "%s is %" PRId64 ": %s holds %" PRId64 " to %" PRId64,
                    name_of(a), v, scalar_name(kind), is_unsigned(kind) ? 0 : low, high);
    memcpy(out, &v, scalar_bytes(kind)); /* little-endian, as the device is */
    return 0;
}

static int store_number(const struct argument *a, enum scalar_kind kind, const struct value *v,
                        struct source text, void *out, struct err *err)
{
    double f;

    if (v->type == VALUE_BUFFER)
        return fail(a, err, ERR_UsageError, "%s takes a value, and %s is a buffer", name_of(a),
                    shown(a, text));
    if (v->type == VALUE_STRING && strlen(v->text) == 1 && scalar_bytes(kind) == 1)
        return store_integer(a, kind, (unsigned char)v->text[0], out, err);
    if (!value_as_float(v, &f))
        return fail(a, err, ERR_UsageError, "%s takes a number, and %s is %s", name_of(a),
                    shown(a, text), value_a_type(v->type));
    if (scalar_is_float(kind)) {
        store_float(kind, f, out);
        return 0;
    }
    if (v->type == VALUE_FLOAT && kind != SCALAR_BOOL)
        return fail(a, err, ERR_UsageError, "%s takes an integer, and %s is %g", name_of(a),
                    shown(a, text), f);
    return store_integer(a, kind, v->type == VALUE_INT ? v->i : f != 0, out, err);
}

/* ---- vectors and structs ---- */

static int store_type(const struct argument *a, const struct element_type *type, struct source text,
                      void *out, int depth, struct err *err);

static int split_values(const struct argument *a, struct source text, size_t wanted,
                        const char *what, struct source **parts, struct err *err)
{
    struct source brackets;
    struct bytes name;
    size_t count;

    if (!launch_is_call(&text, &name, &brackets))
        return fail(a, err, ERR_UsageError, "%s takes %zu values in brackets for %s, and got %s",
                    name_of(a), wanted, what, shown(a, text));
    if (launch_split(brackets, a->call->arena, parts, &count, err) < 0)
        return -1;
    if (count != wanted)
        return fail(a, err, ERR_UsageError, "%s takes %zu values for %s, and got %zu", name_of(a),
                    wanted, what, count);
    return 0;
}

static int store_vector(const struct argument *a, const struct element_type *type,
                        struct source text, char *out, struct err *err)
{
    struct source *parts;
    struct value v;

    if (split_values(a, text, (size_t)type->lanes, type->name, &parts, err) < 0)
        return -1;
    for (int i = 0; i < type->lanes; i++)
        if (evaluate(a, parts[i], &v, err) < 0 ||
            store_number(a, type->kind, &v, parts[i], out + (size_t)i * scalar_bytes(type->kind),
                         err) < 0)
            return -1;
    return 0;
}

/* A pointer in a struct: its buffer's address, whose place is noted for cards. */
static int store_pointer(const struct argument *a, const struct struct_member *m,
                         struct source text, char *out, struct err *err)
{
    struct launch_value *value = a->out;
    struct cast cast = { 0 };
    uint64_t address = 0;
    struct value v;

    if (m->rank > 0 || value->pointer_count == COUNT(value->pointers))
        return fail(a, err, ERR_UnsupportedError,
                    "%s: member %s has more pointers than can be "
                    "passed",
                    name_of(a), m->name);
    strip_cast(a, &text, &cast);
    if (!bytes_equal(text.text, "nullptr") && !bytes_equal(text.text, "NULL")) {
        if (evaluate(a, text, &v, err) < 0)
            return -1;
        if (v.type == VALUE_BUFFER && !v.buffer.buffer->is_symbol)
            address =
                v.buffer.buffer->address + (uint64_t)v.buffer.offset * v.buffer.buffer->type.bytes;
        else if (v.type != VALUE_INT || v.i != 0)
            return fail(a, err, ERR_UsageError, "%s: member %s takes a buffer, and %s is %s",
                        name_of(a), m->name, shown(a, text), value_a_type(v.type));
    }
    memcpy(out, &address, sizeof(address));
    value->pointers[value->pointer_count++] =
        (struct launch_place_of_pointer){ (size_t)(out - (char *)value->bytes), address };
    return 0;
}

static int store_member(const struct argument *a, const struct struct_member *m, struct source text,
                        char *out, int depth, struct err *err)
{
    struct source *parts;

    if (m->is_pointer)
        return store_pointer(a, m, text, out, err);
    if (m->rank == 0)
        return store_type(a, &m->type, text, out, depth, err);
    if (split_values(a, text, (size_t)m->count, m->name, &parts, err) < 0)
        return -1;
    for (int64_t i = 0; i < m->count; i++)
        if (store_type(a, &m->type, parts[i], out + (size_t)i * m->type.bytes, depth, err) < 0)
            return -1;
    return 0;
}

static int store_struct(const struct argument *a, const struct element_type *type,
                        struct source text, char *out, int depth, struct err *err)
{
    struct source *parts;

    if (!type->layout || depth > MAX_DEPTH)
        return fail(a, err, ERR_UnsupportedError, "%s: the layout of %s is not known", name_of(a),
                    type->name);
    if (split_values(a, text, type->layout->count, type->name, &parts, err) < 0)
        return -1;
    for (size_t i = 0; i < type->layout->count; i++) {
        const struct struct_member *m = &type->layout->members[i];

        if (store_member(a, m, parts[i], out + m->offset, depth + 1, err) < 0)
            return -1;
    }
    return 0;
}

/* A buffer with one element of the type stands for its value. */
static bool store_element(const struct argument *a, const struct element_type *type,
                          struct source text, char *out)
{
    struct err ignored = { 0 };
    struct value v;
    bool is_one = expr_eval_with(a->call->session, text, a->locals, a->local_count, a->call->arena,
                                 &v, &ignored) == 0 &&
                  v.type == VALUE_BUFFER && v.buffer.buffer->type.bytes == type->bytes &&
                  strcmp(v.buffer.buffer->type.name, type->name) == 0 &&
                  v.buffer.offset < v.buffer.buffer->count;

    if (is_one)
        memcpy(out, (char *)v.buffer.buffer->data + (size_t)v.buffer.offset * type->bytes,
               type->bytes);
    err_done(&ignored);
    return is_one;
}

static int store_type(const struct argument *a, const struct element_type *type, struct source text,
                      void *out, int depth, struct err *err)
{
    struct cast cast = { 0 };
    struct value v;

    if ((type->lanes > 1 || type->kind == SCALAR_STRUCT) && store_element(a, type, text, out))
        return 0;
    if (type->kind == SCALAR_STRUCT)
        return store_struct(a, type, text, out, depth, err);
    if (type->lanes > 1)
        return store_vector(a, type, text, out, err);
    strip_cast(a, &text, &cast);
    if (evaluate(a, text, &v, err) < 0)
        return -1;
    apply_cast(&cast, &v);
    return store_number(a, type->kind, &v, text, out, err);
}

/* ---- pointers ---- */

/* float4* takes a float buffer, void* and char* take any; signedness is ignored. */
static bool takes_buffer(const struct argument *a, const struct buffer *b)
{
    const struct cuda_parameter *p = a->parameter;
    struct element_type pointee;
    struct err ignored = { 0 };
    bool is_known;

    if (strcmp(p->pointee, "void") == 0 || p->bytes == 0 || strchr(p->pointee, '*'))
        return true;
    if (p->kind == SCALAR_CHAR || p->kind == SCALAR_UCHAR)
        return true;
    if (p->kind == SCALAR_STRUCT) {
        is_known = element_type_find(a->call->session, p->pointee, &pointee, &ignored) == 0;
        err_done(&ignored);
        return !is_known || b->type.kind != SCALAR_STRUCT ||
               strcmp(b->type.name, pointee.name) == 0;
    }
    if (b->type.kind == SCALAR_STRUCT)
        return false;
    if (scalar_is_float(p->kind) || scalar_is_float(b->type.kind))
        return p->kind == b->type.kind;
    return scalar_bytes(p->kind) == scalar_bytes(b->type.kind);
}

static int read_buffer(const struct argument *a, const struct value *v, bool is_cast,
                       struct source text, struct launch_value *out, struct err *err)
{
    const struct buffer *b = v->buffer.buffer;
    const struct cuda_parameter *p = a->parameter;
    int64_t offset = v->buffer.offset * (int64_t)b->type.bytes, left = (int64_t)b->size - offset;
    char type[80];

    buffer_type_text(b, type, sizeof(type));
    if (b->is_symbol)
        return fail(a, err, ERR_UnsupportedError,
                    "%s: %s is a device variable, which kernels know by its name", name_of(a),
                    b->name);
    if (!is_cast && !takes_buffer(a, b))
        return fail(a, err, ERR_UsageError, "%s cannot point into %s, which is %s", name_of(a),
                    b->name, type);
    if (p->bytes && left < (int64_t)p->bytes)
        return fail(a, err, ERR_ValueError,
                    "%s: %s is too small: %s leaves %" PRId64 " bytes, and one %s has %zu",
                    name_of(a), shown(a, text), type, max_i64(left, 0), p->pointee, p->bytes);
    if (p->align && (b->address + (uint64_t)offset) % p->align)
        return fail(a, err, ERR_ValueError,
                    "%s: %s lies at byte %" PRId64
                    " of the buffer, and a %s has to lie at a multiple of %zu",
                    name_of(a), shown(a, text), offset, p->pointee, p->align);
    out->address = b->address + (uint64_t)offset;
    return 0;
}

/* &x[16] is x + 16; &x is no pointer into the buffer but one to it. */
static int strip_address(const struct argument *a, struct source *text, struct err *err)
{
    struct source whole = *text;
    size_t open = 0, n = whole.text.size;
    const char *sum;

    if (!n || whole.text.data[0] != '&')
        return 0;
    while (open < n && whole.text.data[open] != '[')
        open++;
    if (open == n || whole.text.data[n - 1] != ']')
        return fail(a, err, ERR_UsageError, "%s: a buffer is a pointer already: leave & out",
                    name_of(a));
    sum = arena_printf(a->call->arena, "%.*s + (%.*s)", (int)open - 1, whole.text.data + 1,
                       (int)(n - open) - 2, whole.text.data + open + 1);
    if (!sum)
        return err_set(err, ERR_ResourceError, "out of memory");
    *text = (struct source){ bytes_of(sum), whole.line, whole.column };
    return 0;
}

static bool is_name(struct bytes text)
{
    for (size_t i = 0; i < text.size; i++)
        if (!(i ? is_name_char(text.data[i]) : is_name_start(text.data[i])))
            return false;
    return text.size > 0;
}

/* A name that nothing has, where a buffer is due: how to make one. */
static int hint_at_buffer(const struct argument *a, struct bytes text, struct err *err)
{
    const char *pointee = *a->parameter->pointee && strcmp(a->parameter->pointee, "void") != 0
                              ? a->parameter->pointee
                              : "float";

    if (err && err->name == ERR_NameError && is_name(text)) {
        err->next[0] = '\0';
        err_next(err, "%%buffer %.*s %s[1000] = zeros makes a buffer", (int)text.size, text.data,
                 pointee);
    }
    return -1;
}

static int read_pointer(const struct argument *a, struct source text, struct launch_value *out,
                        struct err *err)
{
    struct cast cast = { 0 };
    struct value v;

    out->is_pointer = true;
    out->size = out->align = sizeof(uint64_t);
    strip_cast(a, &text, &cast);
    if (bytes_equal(text.text, "nullptr") || bytes_equal(text.text, "NULL"))
        return 0;
    if (strip_address(a, &text, err) < 0)
        return -1;
    if (evaluate(a, text, &v, err) < 0)
        return hint_at_buffer(a, text.text, err);
    if (v.type == VALUE_BUFFER)
        return read_buffer(a, &v, cast.is_pointer, text, out, err);
    if (v.type == VALUE_INT && v.i == 0)
        return 0;
    fail(a, err, ERR_UsageError, "%s takes a buffer, and %s is %s of the host", name_of(a),
         shown(a, text), value_a_type(v.type));
    return -1;
}

/* ---- references ---- */

/* What nvcc compiles and no kernel can use: the address is one of the host's stack. */
static int refuse_reference(const struct argument *a, struct err *err)
{
    const struct cuda_parameter *p = a->parameter;
    const char *base = strncmp(p->type, "const ", 6) == 0 ? p->type + 6 : p->type;

    fail(a, err, ERR_UsageError,
         "%s is a reference: the kernel would get an address of host memory, which a GPU cannot "
         "read",
         name_of(a));
    err->next[0] = '\0';
    return err_next(err, "take %.*s %s, its value, or %.*s *%s and a buffer for what comes back",
                    (int)strcspn(base, " &"), base, p->name, (int)strcspn(base, " &"), base,
                    p->name);
}

/* ---- one argument ---- */

/* What tables show: the number that it came to, else the text as written. */
static const char *text_of(const struct argument *a)
{
    const struct cuda_parameter *p = a->parameter;
    struct err ignored = { 0 };
    const char *text = NULL;
    struct value v;

    if (!p->is_pointer && p->lanes <= 1 && p->kind != SCALAR_STRUCT &&
        expr_eval_with(a->call->session, a->where, a->locals, a->local_count, a->call->arena, &v,
                       &ignored) == 0)
        text = value_text(a->call->arena, &v);
    err_done(&ignored);
    return text ? text : text_show(a->call->arena, a->where.text, 40);
}

bool launch_value_is_in(const struct launch_value *value, const struct buffer *buffer)
{
    if (value->is_pointer)
        return value->address >= buffer->address &&
               value->address - buffer->address <= buffer->size;
    for (size_t i = 0; i < value->pointer_count; i++)
        if (value->pointers[i].address >= buffer->address &&
            value->pointers[i].address - buffer->address <= buffer->size)
            return true;
    return false;
}

int launch_argument_read(struct call *call, const struct cuda_image *image, size_t index,
                         struct source where, const struct local *locals, size_t local_count,
                         struct launch_value *out, struct err *err)
{
    const struct cuda_parameter *p = &image->parameters[index];
    struct argument a = { call, image, p, index, where, locals, local_count, out };
    struct element_type type = { .name = p->type, .kind = p->kind, .lanes = p->lanes };

    *out = (struct launch_value){ .text = text_of(&a) };
    if (strchr(p->type, '&'))
        return refuse_reference(&a, err);
    if (p->is_pointer)
        return read_pointer(&a, where, out, err);
    if (p->bytes == 0)
        return fail(&a, err, ERR_UnsupportedError, "%s: the size of %s is not known", name_of(&a),
                    p->type);
    if (p->kind == SCALAR_STRUCT || p->lanes > 1) { /* base: without const, __grid_constant__ */
        if (element_type_find(call->session, p->base, &type, err) < 0)
            return err_at(err, where.line, where.column, (int)where.text.size);
    }
    out->size = p->bytes;
    out->align = p->align ? p->align : 1;
    out->bytes = arena_alloc(call->arena, p->bytes + sizeof(int64_t));
    if (!out->bytes)
        return err_set(err, ERR_ResourceError, "out of memory for an argument");
    return store_type(&a, &type, where, out->bytes, 0, err);
}
