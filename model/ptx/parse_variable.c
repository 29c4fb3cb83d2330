/*
 * Declarations of PTX: variables with their initial values, and registers.
 */
#include "model/ptx/parser.h"

/* Largest sizes that are believed: a variable and the registers of a function. */
#define MAX_VARIABLE  ((uint64_t)1 << 30)
#define MAX_REGISTERS 200000

struct initializer {
    uint8_t *data;
    size_t size, at;
    int bytes; /* of one element */
    struct symbol *variable;
};

static int add_relocation(struct parser *p, struct initializer *init, const struct operand *to,
                          bool is_generic)
{
    struct relocation *r = arena_alloc(p->arena, sizeof *r);

    if (!r)
        return parser_fail_memory(p);
    *r = (struct relocation){ .offset = init->at,
                              .bytes = init->bytes,
                              .to = to->symbol,
                              .addend = (int64_t)to->value,
                              .is_generic = is_generic,
                              .next = init->variable->relocations };
    init->variable->relocations = r;
    return 0;
}

static int parse_initial_value(struct parser *p, struct initializer *init)
{
    struct operand v = { 0 };
    bool is_generic = p->token.kind == TOKEN_WORD && bytes_equal(p->token.text, "generic");

    if (init->size - init->at < (size_t)init->bytes)
        return parser_fail(p, "no more values than elements");
    if (is_generic) {
        parser_advance(p);
        if (parser_expect(p, '(') < 0 || parser_single(p, &v) < 0 || parser_expect(p, ')') < 0 ||
            parser_offset(p, &v.value) < 0)
            return -1;
    } else if (parser_single(p, &v) < 0) {
        return -1;
    }
    if (v.kind == OPERAND_SYMBOL && v.symbol->kind != SYMBOL_LABEL) {
        if (add_relocation(p, init, &v, is_generic) < 0)
            return -1;
    } else if (v.kind == OPERAND_INT || v.kind == OPERAND_F32 || v.kind == OPERAND_F64) {
        memcpy(init->data + init->at, &v.value, (size_t)init->bytes);
    } else {
        return parser_fail(p, "an initial value");
    }
    init->at += (size_t)init->bytes;
    return 0;
}

static int parse_initial_list(struct parser *p, struct initializer *init)
{
    if (!parser_accept(p, '{'))
        return parse_initial_value(p, init);
    if (++p->depth > MAX_DEPTH)
        return parser_fail(p, "at most 64 nested braces");
    for (bool is_first = true; !parser_accept(p, '}'); is_first = false) {
        if (!is_first && parser_expect(p, ',') < 0)
            return -1;
        if (parse_initial_list(p, init) < 0)
            return -1;
    }
    p->depth--;
    return 0;
}

static int parse_initializer(struct parser *p, struct symbol *s)
{
    struct initializer init = { .size = s->size, .bytes = s->type.bits / 8, .variable = s };

    if (init.bytes < 1 || init.bytes > 8)
        return parser_fail(p, "no initial value for this type");
    init.data = s->initial = arena_alloc(p->arena, s->size);
    if (!init.data)
        return parser_fail_memory(p);
    return parse_initial_list(p, &init);
}

/* [n][m]... ; [] counts as 0 elements, as `extern __shared__` has them. */
static int parse_dimensions(struct parser *p, uint64_t *count)
{
    *count = 1;
    while (parser_accept(p, '[')) {
        int64_t n = 0;

        if (!parser_at(p, ']') && parser_int(p, &n) < 0)
            return -1;
        if (n < 0 || (n && *count > MAX_VARIABLE / (uint64_t)n))
            return parser_fail(p, "an array below 1 GiB");
        *count *= (uint64_t)n;
        if (parser_expect(p, ']') < 0)
            return -1;
    }
    return 0;
}

/* `(.managed)` or `(.unified(n, n))`: who else may touch a variable; here nobody does. */
static int skip_attribute(struct parser *p)
{
    int depth = 0;

    do {
        if (p->token.kind == TOKEN_END)
            return parser_fail(p, "')'");
        depth += parser_at(p, '(') ? 1 : parser_at(p, ')') ? -1 : 0;
        parser_advance(p);
    } while (depth > 0);
    return 0;
}

/* Qualifiers between the space and the name of a variable, in any order. */
int parser_qualifiers(struct parser *p, struct symbol *shape, int *vector)
{
    *vector = 1;
    shape->align = 0;
    while (p->token.kind == TOKEN_DIRECTIVE) {
        struct bytes name = { p->token.text.data + 1, p->token.text.size - 1 };
        struct type type = type_of(name);
        int64_t n;

        parser_advance(p);
        if (bytes_equal(name, "align")) {
            if (parser_int(p, &n) < 0)
                return -1;
            if (n < 1 || n > 4096 || (n & (n - 1)))
                return parser_fail(p, "an alignment of 1 to 4096");
            shape->align = (size_t)n;
        } else if (bytes_equal(name, "v2") || bytes_equal(name, "v4")) {
            *vector = name.data[1] - '0';
        } else if (bytes_equal(name, "attribute")) {
            if (skip_attribute(p) < 0)
                return -1;
        } else if (type.kind != TYPE_NONE) {
            shape->type = type;
        } else if (bytes_equal(name, "texref") || bytes_equal(name, "samplerref") ||
                   bytes_equal(name, "surfref")) {
            return ptx_fail(p->module, ERR_UnsupportedError, p->loc, p->token.line, p->err,
                            ".%.*s: textures and surfaces are not executed", (int)name.size,
                            name.data);
        }
    }
    if (shape->type.kind == TYPE_NONE)
        return parser_fail(p, "a type");
    if (!shape->align)
        shape->align = (size_t)max_i64(shape->type.bits / 8, 1) * (size_t)*vector;
    return 0;
}

struct symbol *parser_declare(struct parser *p, const struct symbol *shape, int vector)
{
    struct symbol *s;
    uint64_t count;

    if (p->token.kind != TOKEN_WORD) {
        parser_fail(p, "a name");
        return NULL;
    }
    s = parser_find_exact(p, p->token.text);
    if (!s || s->kind != SYMBOL_VARIABLE || !s->is_extern || shape->space == SPACE_PARAM)
        s = parser_add_symbol(p, p->token.text, SYMBOL_VARIABLE);
    if (!s)
        return NULL;
    parser_advance(p);
    if (parse_dimensions(p, &count) < 0)
        return NULL;
    s->space = shape->space;
    s->type = shape->type;
    s->align = shape->align;
    s->is_extern = shape->is_extern;
    s->size = (size_t)(count * (uint64_t)vector * (uint64_t)max_i64(shape->type.bits / 8, 1));
    if (s->size > MAX_VARIABLE) {
        parser_fail(p, "an array below 1 GiB");
        return NULL;
    }
    return s;
}

/* One declaration after its space: `.align 4 .b8 name[20] = {...};` */
int parser_variables(struct parser *p, enum space space, bool is_extern)
{
    struct symbol shape = { .space = space, .is_extern = is_extern };
    int vector;

    if (parser_qualifiers(p, &shape, &vector) < 0)
        return -1;
    do {
        struct symbol *s = parser_declare(p, &shape, vector);

        if (!s || (parser_accept(p, '=') && parse_initializer(p, s) < 0))
            return -1;
        if (p->function) {
            s->next = p->function->variables;
            p->function->variables = s;
        } else {
            *p->module->variables_tail = s;
            p->module->variables_tail = &s->next;
        }
    } while (parser_accept(p, ','));
    return parser_expect(p, ';');
}

int parser_registers(struct parser *p)
{
    struct symbol shape = { .space = SPACE_REG };
    int vector;

    if (parser_qualifiers(p, &shape, &vector) < 0)
        return -1;
    do {
        struct symbol *s;
        int64_t count = 1;

        if (p->token.kind != TOKEN_WORD)
            return parser_fail(p, "a register");
        s = parser_add_symbol(p, p->token.text, SYMBOL_REGISTER);
        if (!s)
            return -1;
        parser_advance(p);
        if (parser_accept(p, '<') && (parser_int(p, &count) < 0 || parser_expect(p, '>') < 0))
            return -1;
        if (count < 1 || count + p->function->register_count > MAX_REGISTERS)
            return parser_fail(p, "at most 200000 registers");
        s->type = shape.type;
        s->count = (int)count;
        s->first_id = p->function->register_count;
        p->function->register_count += (int)count;
    } while (parser_accept(p, ','));
    return parser_expect(p, ';');
}
