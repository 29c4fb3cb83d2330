/*
 * The parser of PTX: recursive descent, one token ahead. A name is resolved where
 * it stands, as PTX declares before use; only labels may come later, so a label's
 * symbol is made on first sight and placed when its line is met.
 */
#include "model/ptx/parse.h"

#include "model/ptx/lex.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

enum { BUCKETS = 1024, MAX_FILES = 4096, MAX_DEPTH = 64 };

/* Largest sizes that are believed: a variable and the registers of a function. */
#define MAX_VARIABLE  ((uint64_t)1 << 30)
#define MAX_REGISTERS 200000

struct scope {
    struct symbol *symbols;
    struct scope *outer;
};

struct parser {
    struct lexer lexer;
    struct token token; /* the one ahead */
    struct arena *arena;
    struct ast_module *module;
    struct ast_function *function; /* NULL outside */
    struct scope *scope;
    struct symbol *buckets[BUCKETS];
    int loc;
    int depth; /* of braces in a body */
    struct err *err;
};

struct type type_of(struct bytes name)
{
    static const struct type TYPES[] = {
        { TYPE_BITS, 8, "b8" },       { TYPE_BITS, 16, "b16" },     { TYPE_BITS, 32, "b32" },
        { TYPE_BITS, 64, "b64" },     { TYPE_BITS, 128, "b128" },   { TYPE_UNSIGNED, 8, "u8" },
        { TYPE_UNSIGNED, 16, "u16" }, { TYPE_UNSIGNED, 32, "u32" }, { TYPE_UNSIGNED, 64, "u64" },
        { TYPE_SIGNED, 8, "s8" },     { TYPE_SIGNED, 16, "s16" },   { TYPE_SIGNED, 32, "s32" },
        { TYPE_SIGNED, 64, "s64" },   { TYPE_FLOAT, 16, "f16" },    { TYPE_BITS, 32, "f16x2" },
        { TYPE_FLOAT, 32, "f32" },    { TYPE_FLOAT, 64, "f64" },    { TYPE_BITS, 16, "bf16" },
        { TYPE_BITS, 32, "bf16x2" },  { TYPE_BITS, 32, "tf32" },    { TYPE_PRED, 1, "pred" },
    };

    for (size_t i = 0; i < COUNT(TYPES); i++)
        if (bytes_equal(name, TYPES[i].name))
            return TYPES[i];
    return (struct type){ .kind = TYPE_NONE };
}

/* ---- Errors and tokens ---------------------------------------------------------------------- */

int ptx_fail(const struct ast_module *module, enum err_name name, int loc, int ptx_line,
             struct err *err, const char *fmt, ...)
{
    char text[400];
    va_list args;

    if (!err || err->name != ERR_none)
        return -1;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    err_set(err, name, "%s (line %d of the PTX)", text, ptx_line);
    if (loc > 0 && loc < module->loc_count) {
        const struct source_loc *at = &module->locs[loc];

        if (at->file < module->file_count && module->files[at->file])
            snprintf(err->place, sizeof err->place, "%.60s", module->files[at->file]);
        err_at(err, at->line, at->column, 1);
    }
    return -1;
}

static int fail_memory(struct parser *p)
{
    return err_set(p->err, ERR_ResourceError, "out of memory while the PTX was read");
}

static int fail_syntax(struct parser *p, const char *wanted)
{
    struct bytes got = p->token.text;

    return ptx_fail(p->module, ERR_SyntaxError, p->loc, p->token.line, p->err,
                    "'%.*s' where PTX has %s", (int)min_i64((int64_t)got.size, 40),
                    got.data ? got.data : "", wanted);
}

static void advance(struct parser *p)
{
    p->token = ptx_lex_next(&p->lexer);
}

static bool at_punct(const struct parser *p, char c)
{
    return p->token.kind == TOKEN_PUNCT && p->token.punct == c;
}

static bool accept(struct parser *p, char c)
{
    if (!at_punct(p, c))
        return false;
    advance(p);
    return true;
}

static int expect(struct parser *p, char c)
{
    char wanted[] = { '\'', c, '\'', '\0' };

    return accept(p, c) ? 0 : fail_syntax(p, wanted);
}

static bool at_directive(const struct parser *p, const char *name)
{
    return p->token.kind == TOKEN_DIRECTIVE && bytes_equal(p->token.text, name);
}

static bool accept_directive(struct parser *p, const char *name)
{
    if (!at_directive(p, name))
        return false;
    advance(p);
    return true;
}

static int parse_int(struct parser *p, int64_t *out)
{
    bool is_negative = accept(p, '-');

    if (p->token.kind != TOKEN_INT)
        return fail_syntax(p, "a number");
    *out = (int64_t)(is_negative ? 0 - p->token.value : p->token.value);
    advance(p);
    return 0;
}

static char *copy_text(struct parser *p, struct bytes text)
{
    char *name = arena_copy(p->arena, text.data, text.size);

    if (!name)
        fail_memory(p);
    return name;
}

/* ---- Symbols -------------------------------------------------------------------------------- */

static unsigned hash_of(struct bytes name)
{
    unsigned h = 2166136261U;

    for (size_t i = 0; i < name.size; i++)
        h = (h ^ (unsigned char)name.data[i]) * 16777619U;
    return h % BUCKETS;
}

static struct symbol *find_exact(struct parser *p, struct bytes name)
{
    struct symbol *s = p->buckets[hash_of(name)];

    while (s && !bytes_equal(name, s->name))
        s = s->next_in_bucket;
    return s;
}

/* "%r12" is number 12 of the range "%r<20>". */
static struct symbol *find_symbol(struct parser *p, struct bytes name, int *index)
{
    struct symbol *s = find_exact(p, name);
    size_t n = name.size;
    long number = 0;

    *index = 0;
    if (s)
        return s;
    while (n > 0 && name.data[n - 1] >= '0' && name.data[n - 1] <= '9')
        n--;
    if (n == name.size || n == 0 || name.size - n > 8)
        return NULL;
    for (size_t i = n; i < name.size; i++)
        number = number * 10 + (name.data[i] - '0');
    s = find_exact(p, (struct bytes){ name.data, n });
    if (!s || s->kind != SYMBOL_REGISTER || number >= s->count)
        return NULL;
    *index = (int)number;
    return s;
}

static struct symbol *add_symbol(struct parser *p, struct bytes name, enum symbol_kind kind)
{
    struct symbol *s = arena_alloc(p->arena, sizeof *s);
    struct symbol **bucket = &p->buckets[hash_of(name)];

    if (!s || !(s->name = arena_copy(p->arena, name.data, name.size))) {
        fail_memory(p);
        return NULL;
    }
    s->kind = kind;
    s->label_at = -1;
    s->next_in_bucket = *bucket;
    *bucket = s;
    s->next_in_scope = p->scope->symbols;
    p->scope->symbols = s;
    return s;
}

static int open_scope(struct parser *p)
{
    struct scope *scope = arena_alloc(p->arena, sizeof *scope);

    if (!scope)
        return fail_memory(p);
    if (++p->depth > MAX_DEPTH)
        return fail_syntax(p, "at most 64 nested braces");
    scope->outer = p->scope;
    p->scope = scope;
    return 0;
}

/* The newest symbol of a bucket is its head, so a scope's symbols leave in reverse order. */
static void close_scope(struct parser *p)
{
    for (struct symbol *s = p->scope->symbols; s; s = s->next_in_scope)
        p->buckets[hash_of(bytes_of(s->name))] = s->next_in_bucket;
    p->scope = p->scope->outer;
    p->depth--;
}

/* ---- Operands ------------------------------------------------------------------------------- */

static int parse_operand(struct parser *p, struct operand *out);

static struct operand *copy_items(struct parser *p, const struct operand *items, int count)
{
    struct operand *copy = arena_array(p->arena, (size_t)count, sizeof *copy);

    if (copy && count)
        memcpy(copy, items, (size_t)count * sizeof *copy);
    else if (!copy)
        fail_memory(p);
    return copy;
}

/* a, b, ... up to `close`; AST_MAX_ITEMS bounds what is collected on the stack. */
static int parse_items(struct parser *p, char close, struct operand *out)
{
    struct operand items[AST_MAX_ITEMS];
    int n = 0;

    if (++p->depth > MAX_DEPTH)
        return fail_syntax(p, "at most 64 nested braces");
    while (!accept(p, close)) {
        if (n && expect(p, ',') < 0)
            return -1;
        if (n == AST_MAX_ITEMS)
            return fail_syntax(p, "at most 256 items");
        items[n] = (struct operand){ 0 };
        if (parse_operand(p, &items[n++]) < 0)
            return -1;
    }
    p->depth--;
    out->count = n;
    out->items = copy_items(p, items, n);
    return out->items ? 0 : -1;
}

static int parse_offset(struct parser *p, uint64_t *offset)
{
    int64_t v = 0;
    bool is_plus = accept(p, '+');

    if (!is_plus && !at_punct(p, '-'))
        return 0;
    if (parse_int(p, &v) < 0)
        return -1;
    *offset += (uint64_t)v;
    return 0;
}

static int parse_address(struct parser *p, struct operand *out)
{
    struct operand base = { 0 };

    advance(p);
    out->kind = OPERAND_ADDRESS;
    if (parse_operand(p, &base) < 0)
        return -1;
    if (base.kind == OPERAND_INT) {
        out->value = base.value;
    } else {
        out->count = 1;
        out->items = copy_items(p, &base, 1);
        if (!out->items)
            return -1;
    }
    if (parse_offset(p, &out->value) < 0)
        return -1;
    /* Coordinates of a texture or tensor; no instruction that has them is executed. */
    while (accept(p, ','))
        if (parse_operand(p, &base) < 0)
            return -1;
    return expect(p, ']');
}

static int parse_name(struct parser *p, struct operand *out)
{
    struct bytes name = p->token.text;
    struct symbol *s = find_symbol(p, name, &out->index);

    out->text = name;
    advance(p);
    if (bytes_equal(name, "_")) {
        out->kind = OPERAND_SINK;
        return 0;
    }
    if (!s && name.data[0] == '%') {
        out->kind = OPERAND_SPECIAL;
        return 0;
    }
    if (!s) /* a label that comes later */
        s = add_symbol(p, name, SYMBOL_LABEL);
    if (!s)
        return -1;
    out->symbol = s;
    out->kind = s->kind == SYMBOL_REGISTER ? OPERAND_REGISTER : OPERAND_SYMBOL;
    if (out->kind == OPERAND_REGISTER)
        return 0;
    return parse_offset(p, &out->value);
}

static int parse_number(struct parser *p, struct operand *out)
{
    bool is_negative = accept(p, '-');

    out->kind = p->token.kind == TOKEN_F32   ? OPERAND_F32
                : p->token.kind == TOKEN_F64 ? OPERAND_F64
                                             : OPERAND_INT;
    if (p->token.kind != TOKEN_INT && p->token.kind != TOKEN_F32 && p->token.kind != TOKEN_F64)
        return fail_syntax(p, "an operand");
    out->value = p->token.value;
    if (is_negative && out->kind == OPERAND_INT)
        out->value = 0 - out->value;
    else if (is_negative)
        out->value ^= (uint64_t)1 << (out->kind == OPERAND_F32 ? 31 : 63);
    advance(p);
    return 0;
}

static int parse_single(struct parser *p, struct operand *out)
{
    if (at_punct(p, '['))
        return parse_address(p, out);
    if (accept(p, '{')) {
        out->kind = OPERAND_VECTOR;
        return parse_items(p, '}', out);
    }
    if (accept(p, '(')) {
        out->kind = OPERAND_LIST;
        return parse_items(p, ')', out);
    }
    if (accept(p, '!')) {
        out->is_negated = true;
        return p->token.kind == TOKEN_WORD ? parse_name(p, out) : fail_syntax(p, "a predicate");
    }
    if (p->token.kind == TOKEN_WORD)
        return parse_name(p, out);
    return parse_number(p, out);
}

static int parse_operand(struct parser *p, struct operand *out)
{
    struct operand pair[2] = { 0 };

    if (parse_single(p, &pair[0]) < 0)
        return -1;
    if (!at_punct(p, '|')) {
        *out = pair[0];
        return 0;
    }
    advance(p);
    if (parse_single(p, &pair[1]) < 0)
        return -1;
    out->kind = OPERAND_PAIR;
    out->count = 2;
    out->items = copy_items(p, pair, 2);
    return out->items ? 0 : -1;
}

/* ---- Variables ------------------------------------------------------------------------------ */

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
        return fail_memory(p);
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
        return fail_syntax(p, "no more values than elements");
    if (is_generic) {
        advance(p);
        if (expect(p, '(') < 0 || parse_single(p, &v) < 0 || expect(p, ')') < 0 ||
            parse_offset(p, &v.value) < 0)
            return -1;
    } else if (parse_single(p, &v) < 0) {
        return -1;
    }
    if (v.kind == OPERAND_SYMBOL && v.symbol->kind != SYMBOL_LABEL) {
        if (add_relocation(p, init, &v, is_generic) < 0)
            return -1;
    } else if (v.kind == OPERAND_INT || v.kind == OPERAND_F32 || v.kind == OPERAND_F64) {
        memcpy(init->data + init->at, &v.value, (size_t)init->bytes);
    } else {
        return fail_syntax(p, "an initial value");
    }
    init->at += (size_t)init->bytes;
    return 0;
}

static int parse_initial_list(struct parser *p, struct initializer *init)
{
    if (!accept(p, '{'))
        return parse_initial_value(p, init);
    if (++p->depth > MAX_DEPTH)
        return fail_syntax(p, "at most 64 nested braces");
    for (bool is_first = true; !accept(p, '}'); is_first = false) {
        if (!is_first && expect(p, ',') < 0)
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
        return fail_syntax(p, "no initial value for this type");
    init.data = s->initial = arena_alloc(p->arena, s->size);
    if (!init.data)
        return fail_memory(p);
    return parse_initial_list(p, &init);
}

/* [n][m]... ; [] counts as 0 elements, as `extern __shared__` has them. */
static int parse_dimensions(struct parser *p, uint64_t *count)
{
    *count = 1;
    while (accept(p, '[')) {
        int64_t n = 0;

        if (!at_punct(p, ']') && parse_int(p, &n) < 0)
            return -1;
        if (n < 0 || (n && *count > MAX_VARIABLE / (uint64_t)n))
            return fail_syntax(p, "an array below 1 GiB");
        *count *= (uint64_t)n;
        if (expect(p, ']') < 0)
            return -1;
    }
    return 0;
}

/* Qualifiers between the space and the name of a variable, in any order. */
static int parse_qualifiers(struct parser *p, struct symbol *shape, int *vector)
{
    *vector = 1;
    shape->align = 0;
    while (p->token.kind == TOKEN_DIRECTIVE) {
        struct bytes name = { p->token.text.data + 1, p->token.text.size - 1 };
        struct type type = type_of(name);
        int64_t n;

        advance(p);
        if (bytes_equal(name, "align")) {
            if (parse_int(p, &n) < 0)
                return -1;
            if (n < 1 || n > 4096 || (n & (n - 1)))
                return fail_syntax(p, "an alignment of 1 to 4096");
            shape->align = (size_t)n;
        } else if (bytes_equal(name, "v2") || bytes_equal(name, "v4")) {
            *vector = name.data[1] - '0';
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
        return fail_syntax(p, "a type");
    if (!shape->align)
        shape->align = (size_t)max_i64(shape->type.bits / 8, 1) * (size_t)*vector;
    return 0;
}

static struct symbol *declare_variable(struct parser *p, const struct symbol *shape, int vector)
{
    struct symbol *s;
    uint64_t count;

    if (p->token.kind != TOKEN_WORD) {
        fail_syntax(p, "a name");
        return NULL;
    }
    s = find_exact(p, p->token.text);
    if (!s || s->kind != SYMBOL_VARIABLE || !s->is_extern || shape->space == SPACE_PARAM)
        s = add_symbol(p, p->token.text, SYMBOL_VARIABLE);
    if (!s)
        return NULL;
    advance(p);
    if (parse_dimensions(p, &count) < 0)
        return NULL;
    s->space = shape->space;
    s->type = shape->type;
    s->align = shape->align;
    s->is_extern = shape->is_extern;
    s->size = (size_t)(count * (uint64_t)vector * (uint64_t)max_i64(shape->type.bits / 8, 1));
    if (s->size > MAX_VARIABLE) {
        fail_syntax(p, "an array below 1 GiB");
        return NULL;
    }
    return s;
}

/* One declaration after its space: `.align 4 .b8 name[20] = {...};` */
static int parse_variables(struct parser *p, enum space space, bool is_extern)
{
    struct symbol shape = { .space = space, .is_extern = is_extern };
    int vector;

    if (parse_qualifiers(p, &shape, &vector) < 0)
        return -1;
    do {
        struct symbol *s = declare_variable(p, &shape, vector);

        if (!s || (accept(p, '=') && parse_initializer(p, s) < 0))
            return -1;
        if (p->function) {
            s->next = p->function->variables;
            p->function->variables = s;
        } else {
            *p->module->variables_tail = s;
            p->module->variables_tail = &s->next;
        }
    } while (accept(p, ','));
    return expect(p, ';');
}

static int parse_registers(struct parser *p)
{
    struct symbol shape = { .space = SPACE_REG };
    int vector;

    if (parse_qualifiers(p, &shape, &vector) < 0)
        return -1;
    do {
        struct symbol *s;
        int64_t count = 1;

        if (p->token.kind != TOKEN_WORD)
            return fail_syntax(p, "a register");
        s = add_symbol(p, p->token.text, SYMBOL_REGISTER);
        if (!s)
            return -1;
        advance(p);
        if (accept(p, '<') && (parse_int(p, &count) < 0 || expect(p, '>') < 0))
            return -1;
        if (count < 1 || count + p->function->register_count > MAX_REGISTERS)
            return fail_syntax(p, "at most 200000 registers");
        s->type = shape.type;
        s->count = (int)count;
        s->first_id = p->function->register_count;
        p->function->register_count += (int)count;
    } while (accept(p, ','));
    return expect(p, ';');
}

/* ---- Source positions ----------------------------------------------------------------------- */

/* Grows an array of the arena: the old copy stays behind, at most as large as the new one. */
static void *grow(struct parser *p, void *old, int count, int *capacity, size_t size)
{
    int larger = *capacity ? *capacity * 2 : 64;
    void *data = arena_array(p->arena, (size_t)larger, size);

    if (!data) {
        fail_memory(p);
        return NULL;
    }
    if (count)
        memcpy(data, old, (size_t)count * size);
    *capacity = larger;
    return data;
}

static int add_loc(struct parser *p, struct source_loc loc)
{
    struct ast_module *m = p->module;

    if (m->loc_count == m->loc_capacity) {
        struct source_loc *larger =
            grow(p, m->locs, m->loc_count, &m->loc_capacity, sizeof *m->locs);

        if (!larger)
            return -1;
        m->locs = larger;
    }
    m->locs[m->loc_count] = loc;
    p->loc = m->loc_count++;
    return 0;
}

/*
 * `.loc 2 417 3, function_name $L__info_string0, inlined_at 1 20 5`: the code of a header is
 * charged to the line that called it, which is where the user can do something about it. File 1
 * is the one that was compiled; what it includes has higher numbers and "include" in its path.
 * Line 0 means "of no line": the line before goes on.
 */
static int parse_loc(struct parser *p)
{
    int64_t file, line, column;
    struct source_loc loc;
    bool is_inlined = false;

    if (parse_int(p, &file) < 0 || parse_int(p, &line) < 0 || parse_int(p, &column) < 0)
        return -1;
    loc = (struct source_loc){ (int)file, (int)line, (int)column };
    while (accept(p, ',')) {
        if (p->token.kind == TOKEN_WORD && bytes_equal(p->token.text, "inlined_at")) {
            advance(p);
            if (parse_int(p, &file) < 0 || parse_int(p, &line) < 0 || parse_int(p, &column) < 0)
                return -1;
            is_inlined = true;
        } else { /* function_name LABEL [+ n] */
            advance(p);
            advance(p);
            if (accept(p, '+'))
                advance(p);
        }
    }
    if (is_inlined && loc.file != 1)
        loc = (struct source_loc){ (int)file, (int)line, (int)column };
    if (loc.line == 0 || loc.file < 0)
        return 0;
    return add_loc(p, loc);
}

static int parse_file(struct parser *p)
{
    struct ast_module *m = p->module;
    struct bytes path;
    int64_t number;
    size_t from;

    if (parse_int(p, &number) < 0)
        return -1;
    if (p->token.kind != TOKEN_STRING || number < 0 || number >= MAX_FILES)
        return fail_syntax(p, "a file");
    path = p->token.text;
    advance(p);
    while (accept(p, ','))
        advance(p);
    for (from = path.size; from > 0 && path.data[from - 1] != '/'; from--)
        ;
    m->files[number] = copy_text(p, (struct bytes){ path.data + from, path.size - from });
    if (!m->files[number])
        return -1;
    m->file_count = (int)max_i64(m->file_count, number + 1);
    return 0;
}

static void skip_statement(struct parser *p)
{
    while (p->token.kind != TOKEN_END && !at_punct(p, ';'))
        advance(p);
    accept(p, ';');
}

/* ---- Bodies --------------------------------------------------------------------------------- */

static struct ast_insn *add_insn(struct parser *p)
{
    struct ast_function *f = p->function;

    if (f->insn_count == f->insn_capacity) {
        struct ast_insn *larger =
            grow(p, f->insns, f->insn_count, &f->insn_capacity, sizeof *f->insns);

        if (!larger)
            return NULL;
        f->insns = larger;
    }
    f->insns[f->insn_count] = (struct ast_insn){ .loc = p->loc, .ptx_line = p->token.line };
    return &f->insns[f->insn_count++];
}

static int parse_guard(struct parser *p, struct ast_insn *insn)
{
    struct operand guard = { 0 };

    insn->is_guard_negated = accept(p, '!');
    if (p->token.kind != TOKEN_WORD || parse_name(p, &guard) < 0)
        return fail_syntax(p, "a predicate");
    if (guard.kind != OPERAND_REGISTER || guard.symbol->type.kind != TYPE_PRED)
        return fail_syntax(p, "a predicate");
    insn->guard = guard.symbol;
    insn->guard_index = guard.index;
    return 0;
}

/* `call (ret), f, (a, b), prototype;` has lists; everything else has operands only. */
static int parse_instruction(struct parser *p)
{
    struct operand operands[AST_MAX_OPERANDS];
    struct ast_insn *insn = add_insn(p);

    if (!insn)
        return -1;
    if (accept(p, '@') && parse_guard(p, insn) < 0)
        return -1;
    if (p->token.kind != TOKEN_WORD)
        return fail_syntax(p, "an instruction");
    insn->opcode = p->token.text;
    insn->ptx_line = p->token.line;
    advance(p);
    while (!accept(p, ';')) {
        if (insn->operand_count && expect(p, ',') < 0)
            return -1;
        if (insn->operand_count == AST_MAX_OPERANDS)
            return fail_syntax(p, "at most 8 operands");
        operands[insn->operand_count] = (struct operand){ 0 };
        if (parse_operand(p, &operands[insn->operand_count++]) < 0)
            return -1;
    }
    insn->operands = copy_items(p, operands, insn->operand_count);
    return insn->operands ? 0 : -1;
}

/* `name:` is a label; `name: .callprototype ...;` and `.branchtargets` give a name to a list. */
static int parse_label(struct parser *p, struct bytes name, int line)
{
    int index;
    struct symbol *s = find_symbol(p, name, &index);

    if (!s)
        s = add_symbol(p, name, SYMBOL_LABEL);
    if (!s)
        return -1;
    if (at_directive(p, ".callprototype")) {
        s->kind = SYMBOL_PROTOTYPE;
        skip_statement(p);
        return 0;
    }
    if (at_directive(p, ".branchtargets") || at_directive(p, ".calltargets"))
        return ptx_fail(p->module, ERR_UnsupportedError, p->loc, p->token.line, p->err,
                        "%.*s: tables of branch targets are not executed", (int)p->token.text.size,
                        p->token.text.data);
    if (s->kind != SYMBOL_LABEL || s->label_at >= 0)
        return ptx_fail(p->module, ERR_SyntaxError, p->loc, line, p->err,
                        "%.*s: a label stands only once", (int)min_i64((int64_t)name.size, 80),
                        name.data);
    s->label_at = p->function->insn_count;
    return 0;
}

static int parse_body_directive(struct parser *p)
{
    if (accept_directive(p, ".reg"))
        return parse_registers(p);
    if (accept_directive(p, ".local"))
        return parse_variables(p, SPACE_LOCAL, false);
    if (accept_directive(p, ".shared"))
        return parse_variables(p, SPACE_SHARED, false);
    if (accept_directive(p, ".param"))
        return parse_variables(p, SPACE_PARAM, false);
    if (accept_directive(p, ".global"))
        return parse_variables(p, SPACE_GLOBAL, false);
    if (accept_directive(p, ".const"))
        return parse_variables(p, SPACE_CONST, false);
    if (accept_directive(p, ".loc"))
        return parse_loc(p);
    if (at_directive(p, ".pragma")) {
        skip_statement(p);
        return 0;
    }
    return fail_syntax(p, "a directive of a function's body");
}

/* A label is a word followed by ':'; no instruction is. */
static int parse_word_statement(struct parser *p)
{
    struct lexer ahead = p->lexer;
    struct token next = ptx_lex_next(&ahead);
    struct bytes name = p->token.text;
    int line = p->token.line;

    if (next.kind != TOKEN_PUNCT || next.punct != ':')
        return parse_instruction(p);
    advance(p);
    advance(p);
    return parse_label(p, name, line);
}

static int parse_statement(struct parser *p)
{
    if (accept(p, '{'))
        return open_scope(p);
    if (p->token.kind == TOKEN_DIRECTIVE)
        return parse_body_directive(p);
    if (p->token.kind == TOKEN_WORD)
        return parse_word_statement(p);
    if (at_punct(p, '@'))
        return parse_instruction(p);
    return fail_syntax(p, "an instruction");
}

static int parse_body(struct parser *p)
{
    int outer = p->depth;

    if (open_scope(p) < 0)
        return -1;
    while (p->depth > outer) {
        if (accept(p, '}'))
            close_scope(p);
        else if (parse_statement(p) < 0)
            return -1;
    }
    return 0;
}

/* ---- Functions ------------------------------------------------------------------------------ */

/* (.param .u64 a, .param .align 8 .b8 b[16]) into symbols of the current scope. */
static int parse_formals(struct parser *p, struct symbol ***out, int *count)
{
    struct symbol *formals[AST_MAX_ITEMS];
    int n = 0, vector;

    while (!accept(p, ')')) {
        struct symbol shape = { .space = SPACE_PARAM };

        if (n && expect(p, ',') < 0)
            return -1;
        if (n == AST_MAX_ITEMS)
            return fail_syntax(p, "at most 256 parameters");
        if (!accept_directive(p, ".param") && !accept_directive(p, ".reg"))
            return fail_syntax(p, "'.param'");
        if (parse_qualifiers(p, &shape, &vector) < 0)
            return -1;
        formals[n] = declare_variable(p, &shape, 1);
        if (!formals[n])
            return -1;
        n++;
    }
    *count = n;
    *out = arena_array(p->arena, (size_t)n, sizeof **out);
    if (!*out)
        return fail_memory(p);
    if (n)
        memcpy(*out, formals, (size_t)n * sizeof **out);
    return 0;
}

/* .maxntid 256, 1, 1 and its like; only the number of threads acts here. */
static int parse_performance(struct parser *p, struct ast_function *f)
{
    while (p->token.kind == TOKEN_DIRECTIVE) {
        bool is_maxntid = at_directive(p, ".maxntid") || at_directive(p, ".reqntid");
        int64_t n, product = 1;

        if (at_directive(p, ".pragma")) {
            skip_statement(p);
            continue;
        }
        advance(p);
        while (p->token.kind == TOKEN_INT) {
            if (parse_int(p, &n) < 0)
                return -1;
            product = n > 0 && n <= 1024 && product <= 1024 ? product * n : product;
            if (!accept(p, ','))
                break;
        }
        if (is_maxntid)
            f->max_threads = (int)min_i64(product, 1024);
    }
    return 0;
}

static struct ast_function *declare_function(struct parser *p, struct bytes name, bool is_entry)
{
    struct symbol *s = find_exact(p, name);

    if (s && s->kind == SYMBOL_FUNCTION)
        return s->body;
    s = add_symbol(p, name, SYMBOL_FUNCTION);
    if (!s)
        return NULL;
    s->body = arena_alloc(p->arena, sizeof *s->body);
    if (!s->body) {
        fail_memory(p);
        return NULL;
    }
    s->body->name = s->name;
    s->body->is_entry = is_entry;
    s->body->index = p->module->function_count++;
    s->body->line = p->token.line;
    *p->module->functions_tail = s->body;
    p->module->functions_tail = &s->body->next;
    return s->body;
}

/* The result is declared before the name, so its scope opens first. */
static int parse_function_parts(struct parser *p, bool is_entry)
{
    struct symbol **results = NULL;
    struct ast_function *f;
    struct bytes name;
    int result_count = 0;

    if (accept(p, '(') && parse_formals(p, &results, &result_count) < 0)
        return -1;
    if (p->token.kind != TOKEN_WORD)
        return fail_syntax(p, "a function's name");
    name = p->token.text;
    advance(p);

    /* The name belongs to the module, not to the scope of its own parameters. */
    struct scope *inner = p->scope;
    p->scope = inner->outer;
    f = declare_function(p, name, is_entry);
    p->scope = inner;
    if (!f)
        return -1;
    if (f->is_defined)
        return fail_syntax(p, "a function only once");
    f->results = results;
    f->result_count = result_count;
    if (accept(p, '(') && parse_formals(p, &f->parameters, &f->parameter_count) < 0)
        return -1;
    if (parse_performance(p, f) < 0)
        return -1;
    if (accept(p, ';'))
        return 0;
    if (expect(p, '{') < 0)
        return -1;
    f->is_defined = true;
    p->function = f;
    p->loc = 0;
    return parse_body(p);
}

static int parse_function(struct parser *p, bool is_entry)
{
    int rc;

    if (open_scope(p) < 0)
        return -1;
    rc = parse_function_parts(p, is_entry);
    p->function = NULL;
    if (rc < 0)
        return -1;
    close_scope(p);
    return 0;
}

static int parse_section(struct parser *p)
{
    while (p->token.kind != TOKEN_END && !at_punct(p, '{'))
        advance(p);
    lexer_skip_section(&p->lexer);
    advance(p);
    return 0;
}

static int parse_target(struct parser *p)
{
    do {
        struct bytes name = p->token.text;

        if (p->token.kind != TOKEN_WORD)
            return fail_syntax(p, "a target");
        if (name.size > 3 && !memcmp(name.data, "sm_", 3))
            p->module->target = (int)strtol(name.data + 3, NULL, 10);
        advance(p);
    } while (accept(p, ','));
    return 0;
}

static int parse_top(struct parser *p)
{
    bool is_extern = false;

    while (at_directive(p, ".visible") || at_directive(p, ".weak") || at_directive(p, ".common") ||
           at_directive(p, ".extern") || at_directive(p, ".internal")) {
        is_extern |= at_directive(p, ".extern");
        advance(p);
    }
    if (accept_directive(p, ".entry"))
        return parse_function(p, true);
    if (accept_directive(p, ".func"))
        return parse_function(p, false);
    if (accept_directive(p, ".global"))
        return parse_variables(p, SPACE_GLOBAL, is_extern);
    if (accept_directive(p, ".const"))
        return parse_variables(p, SPACE_CONST, is_extern);
    if (accept_directive(p, ".shared"))
        return parse_variables(p, SPACE_SHARED, is_extern);
    if (accept_directive(p, ".file"))
        return parse_file(p);
    if (accept_directive(p, ".section"))
        return parse_section(p);
    if (accept_directive(p, ".target"))
        return parse_target(p);
    if (at_directive(p, ".version") || at_directive(p, ".address_size")) {
        advance(p);
        advance(p);
        return 0;
    }
    if (at_directive(p, ".pragma") || at_directive(p, ".alias")) {
        skip_statement(p);
        return 0;
    }
    return fail_syntax(p, "a declaration");
}

/* .file comes last in NVRTC's texts, after the errors that would name one. */
static int find_files(struct parser *p)
{
    struct parser ahead = *p;

    for (const char *at = p->lexer.at; at + 6 < p->lexer.end; at++) {
        if (*at != '.' || memcmp(at, ".file", 5) || (at > p->module->text.data && at[-1] > ' '))
            continue;
        ahead.lexer.at = at + 5;
        ahead.err = NULL;
        advance(&ahead);
        if (parse_file(&ahead) < 0)
            continue; /* no declaration of a file: the parser proper will say so */
    }
    return 0;
}

int ptx_parse(struct bytes text, struct arena *arena, struct ast_module *out, struct err *err)
{
    struct scope top = { 0 };
    struct parser *p;

    *out = (struct ast_module){ 0 };
    if (text.size > INT_MAX)
        return err_set(err, ERR_ResourceError, "the PTX has %zu bytes; at most %d are read",
                       text.size, INT_MAX);
    out->variables_tail = &out->variables;
    out->functions_tail = &out->functions;
    out->text.data = arena_copy(arena, text.data, text.size);
    out->text.size = text.size;
    out->files = arena_array(arena, MAX_FILES, sizeof *out->files);
    p = arena_alloc(arena, sizeof *p);
    if (!out->text.data || !out->files || !p)
        return err_set(err, ERR_ResourceError, "out of memory while the PTX was read");

    p->arena = arena;
    p->module = out;
    p->err = err;
    p->scope = &top;
    ptx_lex_init(&p->lexer, out->text);
    if (find_files(p) < 0 || add_loc(p, (struct source_loc){ 0 }) < 0)
        return -1;
    p->loc = 0;
    for (advance(p); p->token.kind != TOKEN_END;)
        if (parse_top(p) < 0)
            return -1;
    return 0;
}
