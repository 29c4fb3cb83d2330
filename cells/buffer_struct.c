/*
 * Layouts of structs. Each member lies at the next multiple of its alignment, and the
 * whole is a multiple of the strictest one, so that arrays of it stay aligned: the rule
 * of C that device code and host code share.
 */
#include "cells/buffer_struct.h"

#include "cells/buffer_declare.h"
#include "cells/internal.h"

const struct struct_member *struct_member_find(const struct struct_layout *layout, const char *name)
{
    for (size_t i = 0; layout && i < layout->count; i++)
        if (strcmp(layout->members[i].name, name) == 0)
            return &layout->members[i];
    return NULL;
}

int element_type_copy(struct arena *arena, const struct element_type *from, struct element_type *to,
                      struct err *err)
{
    struct struct_layout *layout;
    struct struct_member *members;

    *to = *from;
    to->name = arena_string(arena, from->name);
    if (!to->name)
        return err_set(err, ERR_ResourceError, "out of memory");
    if (!from->layout)
        return 0;
    layout = arena_alloc(arena, sizeof(*layout));
    members = arena_array(arena, from->layout->count, sizeof(*members));
    if (!layout || !members)
        return err_set(err, ERR_ResourceError, "out of memory");
    *layout = *from->layout;
    layout->members = members;
    to->layout = layout;
    for (size_t i = 0; i < layout->count; i++) {
        members[i] = from->layout->members[i];
        members[i].name = arena_string(arena, members[i].name);
        if (!members[i].name)
            return err_set(err, ERR_ResourceError, "out of memory");
        if (element_type_copy(arena, &from->layout->members[i].type, &members[i].type, err) < 0)
            return -1;
    }
    return 0;
}

/* ---- from the text of a definition ---- */

enum { MEMBERS_MAX = 256 };

struct layout_builder {
    struct struct_member members[MEMBERS_MAX];
    size_t count;
    size_t at, align; /* bytes so far, and the strictest member */
    bool is_union;    /* every member lies at the start */
};

static size_t align_up(size_t at, size_t align)
{
    return (at + align - 1) / align * align;
}

static int add_member(struct declare *d, struct layout_builder *b, const struct element_type *type,
                      const struct declarator *name)
{
    struct struct_member *m = &b->members[b->count];
    int64_t bytes;

    if (b->count == MEMBERS_MAX)
        return declare_refuse(d, "more than 256 members");
    if (name->is_open)
        return declare_refuse(d, "an array without a length");
    *m = (struct struct_member){ .name = name->name,
                                 .type = *type,
                                 .rank = name->rank,
                                 .count = 1,
                                 .is_pointer = name->is_pointer };
    if (name->is_pointer)
        element_type_builtin("ulong", &m->type);
    if (!m->type.bytes)
        return declare_refuse(d, "a void member");
    for (int i = 0; i < name->rank; i++) {
        m->shape[i] = name->shape[i];
        if (__builtin_mul_overflow(m->count, name->shape[i], &m->count))
            return declare_refuse(d, "so large an array");
    }
    if (__builtin_mul_overflow(m->count, (int64_t)m->type.bytes, &bytes) || bytes > INT32_MAX)
        return declare_refuse(d, "so large an array");
    m->offset = b->is_union ? 0 : align_up(b->at, m->type.align);
    b->at = (size_t)max_i64((int64_t)b->at, (int64_t)m->offset + bytes);
    if (b->at > INT32_MAX)
        return declare_refuse(d, "so large a struct");
    b->align = m->type.align > b->align ? m->type.align : b->align;
    b->count++;
    return 0;
}

/* A member function: its parameters, what stands behind them, its body. */
static void skip_function(struct declare *d)
{
    while (d->ahead.kind != SCAN_END && !declare_at(d, '{') && !declare_at(d, ';')) {
        if (declare_at(d, '('))
            declare_skip_group(d);
        else
            declare_next(d);
    }
    if (declare_at(d, '{'))
        declare_skip_group(d);
    if (declare_at(d, ';'))
        declare_next(d);
}

/* What stands ahead up to ; or { is a function when a ( follows a name there. */
static bool is_function(const struct declare *d)
{
    struct declare probe = *d;
    struct scan_token last = { .kind = SCAN_END };

    for (;;) {
        struct scan_token t = declare_next(&probe);

        if (scan_is_word(t, "operator"))
            return true;
        if (scan_is_word(t, "alignas") || scan_is_word(t, "__align__")) {
            declare_skip_group(&probe);
            t = (struct scan_token){ .kind = SCAN_END };
            last = t;
            continue;
        }
        if (scan_is_sign(t, '('))
            return last.kind == SCAN_WORD && !scan_is_sign(probe.ahead, '*');
        if (t.kind == SCAN_END || scan_is_sign(t, ';') || scan_is_sign(t, '{') ||
            scan_is_sign(t, '=') || scan_is_sign(t, '[') || scan_is_sign(t, '}'))
            return false;
        last = t;
    }
}

static void skip_statement(struct declare *d)
{
    while (d->ahead.kind != SCAN_END && !declare_at(d, ';')) {
        if (declare_at(d, '{') || declare_at(d, '('))
            declare_skip_group(d);
        else
            declare_next(d);
    }
    declare_next(d);
}

static bool is_access_word(struct declare *d)
{
    struct declare probe = *d;

    if (!scan_is_word(d->ahead, "public") && !scan_is_word(d->ahead, "private") &&
        !scan_is_word(d->ahead, "protected"))
        return false;
    declare_next(&probe);
    if (!declare_at(&probe, ':'))
        return false;
    declare_next(&probe);
    *d = probe;
    return true;
}

static int take_member_line(struct declare *d, struct layout_builder *b)
{
    struct element_type type;
    struct declarator name;

    if (d->ahead.kind == SCAN_DIRECTIVE)
        return declare_refuse(d, "a struct with a directive in it");
    if (scan_is_word(d->ahead, "virtual"))
        return declare_refuse(d, "a struct with virtual functions");
    if (scan_is_word(d->ahead, "template") || declare_at(d, '~') || is_function(d)) {
        skip_function(d);
        return 0;
    }
    if (scan_is_word(d->ahead, "static") || scan_is_word(d->ahead, "using") ||
        scan_is_word(d->ahead, "typedef") || scan_is_word(d->ahead, "friend") ||
        scan_is_word(d->ahead, "constexpr")) {
        skip_statement(d);
        return 0;
    }
    if (declare_type(d, &type) < 0)
        return -1;
    if (declare_at(d, ';') && type.layout)
        return declare_refuse(d, "a struct with a nameless member");
    for (;;) {
        if (declare_declarator(d, &name) < 0 || add_member(d, b, &type, &name) < 0)
            return -1;
        if (!declare_at(d, ','))
            break;
        declare_next(d);
    }
    if (!declare_at(d, ';'))
        return declare_refuse(d, "a member that cannot be read");
    declare_next(d);
    return 0;
}

int struct_body(struct declare *d, const char *name, size_t align, bool is_union,
                struct element_type *out)
{
    struct layout_builder *b = arena_alloc(d->arena, sizeof(*b));
    struct struct_layout *layout = arena_alloc(d->arena, sizeof(*layout));

    if (!b || !layout)
        return err_set(d->err, ERR_ResourceError, "out of memory");
    b->align = 1;
    b->is_union = is_union;
    declare_next(d); /* { */
    while (!declare_at(d, '}')) {
        if (d->ahead.kind == SCAN_END)
            return declare_refuse(d, "a struct without an end");
        if (declare_at(d, ';') || is_access_word(d)) {
            if (declare_at(d, ';'))
                declare_next(d);
            continue;
        }
        if (take_member_line(d, b) < 0)
            return -1;
    }
    declare_next(d);
    if (scan_is_word(d->ahead, "__attribute__"))
        return declare_refuse(d, "a struct with attributes");
    if (!b->count)
        return declare_refuse(d, "a struct without members");
    b->align = align > b->align ? align : b->align;
    *layout = (struct struct_layout){ b->members, b->count, align_up(b->at, b->align), b->align };
    *out = (struct element_type){ .name = name,
                                  .kind = SCALAR_STRUCT,
                                  .lanes = 1,
                                  .bytes = layout->bytes,
                                  .align = layout->align,
                                  .layout = layout };
    return 0;
}

/* struct __align__(16) NAME final { ... }; with nothing that adds hidden members. */
static int read_struct(struct declare *d, const char *name, struct element_type *out)
{
    size_t align = 0;
    bool is_union = false;

    declare_skip_qualifiers(d, &align);
    while (d->ahead.kind == SCAN_WORD) {
        if (scan_is_word(d->ahead, "__attribute__"))
            return declare_refuse(d, "a struct with attributes");
        is_union |= scan_is_word(d->ahead, "union");
        declare_next(d);
        declare_skip_qualifiers(d, &align);
    }
    if (declare_at(d, ':'))
        return declare_refuse(d, "a struct with a base");
    if (!declare_at(d, '{'))
        return declare_refuse(d, "a type that is only declared");
    return struct_body(d, name, align, is_union, out);
}

static int read_enum(struct declare *d, struct element_type *out)
{
    while (d->ahead.kind == SCAN_WORD)
        declare_next(d);
    if (declare_at(d, ':')) {
        declare_next(d);
        return declare_type(d, out);
    }
    return element_type_builtin("int", out) ? 0 : -1;
}

/* typedef TYPE NAME; and using NAME = TYPE; */
static int read_alias(struct declare *d, const char *name, struct element_type *out)
{
    struct declarator as = { .rank = 0 };

    if (scan_is_word(d->ahead, "using")) {
        declare_next(d);
        declare_next(d);
        if (!declare_at(d, '='))
            return declare_refuse(d, "a name of another scope");
        declare_next(d);
        if (declare_type(d, out) < 0)
            return -1;
        as.is_pointer = declare_at(d, '*');
    } else {
        declare_next(d);
        if (declare_type(d, out) < 0)
            return -1;
        do {
            if (declare_at(d, ','))
                declare_next(d);
            if (declare_declarator(d, &as) < 0)
                return -1;
        } while (strcmp(as.name, name) != 0 && declare_at(d, ','));
    }
    if (as.rank || as.is_open)
        return declare_refuse(d, "a name for an array");
    if (as.is_pointer && !element_type_builtin("ulong", out))
        return -1;
    if (!out->bytes)
        return declare_refuse(d, "void");
    if (out->layout)
        out->name = name;
    return 0;
}

/*
 * Types of CUDA's headers that kernels keep in buffers. Only where things lie counts here, so the
 * members are named by their use (curand_kernel.h of CUDA 13: curandStateXORWOW,
 * curandStatePhilox4_32_10, curandStateMRG32k3a).
 */
static const struct {
    const char *name, *text;
} LIBRARY[] = {
    { "curandStateXORWOW",
      "struct s { unsigned count, x[5]; int has_float, has_double; float f; double d; };" },
    { "curandStatePhilox4_32_10",
      "struct s { uint4 counter, output; uint2 key; unsigned next; int has_float, has_double; "
      "float f; double d; };" },
    { "curandStateMRG32k3a",
      "struct s { unsigned s1[3], s2[3]; int has_float, has_double; float f; double d; };" },
    { "curandState", "typedef curandStateXORWOW s;" },
    { "curandState_t", "typedef curandStateXORWOW s;" },
    { "curandStateXORWOW_t", "typedef curandStateXORWOW s;" },
    { "curandStatePhilox4_32_10_t", "typedef curandStatePhilox4_32_10 s;" },
    { "curandStateMRG32k3a_t", "typedef curandStateMRG32k3a s;" },
};

/* The text that defines a type: a cell's, or the one above; *is_library: its own name is s. */
static bool definition_of(struct session *session, const char *name, struct bytes *text,
                          bool *is_library)
{
    int cell, line;

    *is_library = false;
    if (cuda_definition(session_cuda(session), name, text, &cell, &line))
        return true;
    for (size_t i = 0; i < COUNT(LIBRARY); i++)
        if (strcmp(LIBRARY[i].name, name) == 0) {
            *text = bytes_of(LIBRARY[i].text);
            *is_library = true;
        }
    return *is_library;
}

int struct_type_at(struct session *session, struct arena *arena, const char *name, int depth,
                   struct element_type *out, struct err *err)
{
    struct declare d;
    struct bytes text;
    bool is_library;

    if (!definition_of(session, name, &text, &is_library))
        return -1;
    declare_init(&d, session, arena, text, name, depth, err);
    if (depth > DECLARE_DEPTH)
        return declare_refuse(&d, "types that nest so deep");
    if (scan_is_word(d.ahead, "template")) {
        err_set(err, ERR_UnsupportedError, "%.60s is a template: a buffer needs a finished type",
                name);
        return err_next(err, "using vec3 = %.60s<...>; is no way here yet: write the struct out",
                        name);
    }
    if (scan_is_word(d.ahead, "typedef") || scan_is_word(d.ahead, "using"))
        return read_alias(&d, name, out);
    if (scan_is_word(d.ahead, "enum"))
        return read_enum(&d, out);
    if (scan_is_word(d.ahead, "struct") || scan_is_word(d.ahead, "class") ||
        scan_is_word(d.ahead, "union"))
        return read_struct(&d, name, out);
    return -1; /* a kernel, a variable: no type */
}

int struct_type_find(struct session *session, const char *name, struct element_type *out,
                     struct err *err)
{
    if (!session->cell)
        return -1;
    return struct_type_at(session, session->cell->arena, name, 0, out, err);
}
