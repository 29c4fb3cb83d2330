/*
 * Tokens, names and operands of PTX. A name is resolved where it stands, as PTX
 * declares before use; only labels may come later, so a label's symbol is made on
 * first sight and placed when its line is met.
 */
#include "model/ptx/parser.h"

#include <stdio.h>

struct type type_of(struct bytes name)
{
    static const struct type TYPES[] = {
        { TYPE_BITS, 8, "b8" },        { TYPE_BITS, 16, "b16" },     { TYPE_BITS, 32, "b32" },
        { TYPE_BITS, 64, "b64" },      { TYPE_BITS, 128, "b128" },   { TYPE_UNSIGNED, 8, "u8" },
        { TYPE_UNSIGNED, 16, "u16" },  { TYPE_UNSIGNED, 32, "u32" }, { TYPE_UNSIGNED, 64, "u64" },
        { TYPE_SIGNED, 8, "s8" },      { TYPE_SIGNED, 16, "s16" },   { TYPE_SIGNED, 32, "s32" },
        { TYPE_SIGNED, 64, "s64" },    { TYPE_FLOAT, 16, "f16" },    { TYPE_HALVES, 32, "f16x2" },
        { TYPE_FLOAT, 32, "f32" },     { TYPE_FLOAT, 64, "f64" },    { TYPE_FLOAT, 16, "bf16" },
        { TYPE_HALVES, 32, "bf16x2" }, { TYPE_BITS, 32, "tf32" },    { TYPE_PRED, 1, "pred" },
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

int parser_fail_memory(struct parser *p)
{
    return err_set(p->err, ERR_ResourceError, "out of memory while the PTX was read");
}

int parser_fail(struct parser *p, const char *wanted)
{
    struct bytes got = p->token.text;

    return ptx_fail(p->module, ERR_SyntaxError, p->loc, p->token.line, p->err,
                    "'%.*s' where PTX has %s", (int)min_i64((int64_t)got.size, 40),
                    got.data ? got.data : "", wanted);
}

void parser_advance(struct parser *p)
{
    p->token = ptx_lex_next(&p->lexer);
}

bool parser_at(const struct parser *p, char c)
{
    return p->token.kind == TOKEN_PUNCT && p->token.punct == c;
}

bool parser_accept(struct parser *p, char c)
{
    if (!parser_at(p, c))
        return false;
    parser_advance(p);
    return true;
}

int parser_expect(struct parser *p, char c)
{
    char wanted[] = { '\'', c, '\'', '\0' };

    return parser_accept(p, c) ? 0 : parser_fail(p, wanted);
}

bool parser_at_directive(const struct parser *p, const char *name)
{
    return p->token.kind == TOKEN_DIRECTIVE && bytes_equal(p->token.text, name);
}

bool parser_accept_directive(struct parser *p, const char *name)
{
    if (!parser_at_directive(p, name))
        return false;
    parser_advance(p);
    return true;
}

int parser_int(struct parser *p, int64_t *out)
{
    bool is_negative = parser_accept(p, '-');

    if (p->token.kind != TOKEN_INT)
        return parser_fail(p, "a number");
    *out = (int64_t)(is_negative ? 0 - p->token.value : p->token.value);
    parser_advance(p);
    return 0;
}

/* ---- Symbols -------------------------------------------------------------------------------- */

static unsigned hash_of(struct bytes name)
{
    unsigned h = 2166136261U;

    for (size_t i = 0; i < name.size; i++)
        h = (h ^ (unsigned char)name.data[i]) * 16777619U;
    return h % BUCKETS;
}

struct symbol *parser_find_exact(struct parser *p, struct bytes name)
{
    struct symbol *s = p->buckets[hash_of(name)];

    while (s && !bytes_equal(name, s->name))
        s = s->next_in_bucket;
    return s;
}

/* "%r12" is number 12 of the range "%r<20>". */
struct symbol *parser_find(struct parser *p, struct bytes name, int *index)
{
    struct symbol *s = parser_find_exact(p, name);
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
    s = parser_find_exact(p, (struct bytes){ name.data, n });
    if (!s || s->kind != SYMBOL_REGISTER || number >= s->count)
        return NULL;
    *index = (int)number;
    return s;
}

struct symbol *parser_add_symbol(struct parser *p, struct bytes name, enum symbol_kind kind)
{
    struct symbol *s = arena_alloc(p->arena, sizeof *s);
    struct symbol **bucket = &p->buckets[hash_of(name)];

    if (!s || !(s->name = arena_copy(p->arena, name.data, name.size))) {
        parser_fail_memory(p);
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

int parser_open_scope(struct parser *p)
{
    struct scope *scope = arena_alloc(p->arena, sizeof *scope);

    if (!scope)
        return parser_fail_memory(p);
    if (++p->depth > MAX_DEPTH)
        return parser_fail(p, "at most 64 nested braces");
    scope->outer = p->scope;
    p->scope = scope;
    return 0;
}

/* A function's name comes after its result and outlives it, so the head may be another's. */
void parser_close_scope(struct parser *p)
{
    for (struct symbol *s = p->scope->symbols; s; s = s->next_in_scope) {
        struct symbol **at = &p->buckets[hash_of(bytes_of(s->name))];

        while (*at != s)
            at = &(*at)->next_in_bucket;
        *at = s->next_in_bucket;
    }
    p->scope = p->scope->outer;
    p->depth--;
}

/* ---- Operands ------------------------------------------------------------------------------- */

struct operand *parser_copy_items(struct parser *p, const struct operand *items, int count)
{
    struct operand *copy = arena_array(p->arena, (size_t)count, sizeof *copy);

    if (copy && count)
        memcpy(copy, items, (size_t)count * sizeof *copy);
    else if (!copy)
        parser_fail_memory(p);
    return copy;
}

/* a, b, ... up to `close`; AST_MAX_ITEMS bounds what is collected on the stack. */
static int parse_items(struct parser *p, char close, struct operand *out)
{
    struct operand items[AST_MAX_ITEMS];
    int n = 0;

    if (++p->depth > MAX_DEPTH)
        return parser_fail(p, "at most 64 nested braces");
    while (!parser_accept(p, close)) {
        if (n && parser_expect(p, ',') < 0)
            return -1;
        if (n == AST_MAX_ITEMS)
            return parser_fail(p, "at most 256 items");
        items[n] = (struct operand){ 0 };
        if (parser_operand(p, &items[n++]) < 0)
            return -1;
    }
    p->depth--;
    out->count = n;
    out->items = parser_copy_items(p, items, n);
    return out->items ? 0 : -1;
}

int parser_offset(struct parser *p, uint64_t *offset)
{
    int64_t v = 0;
    bool is_plus = parser_accept(p, '+');

    if (!is_plus && !parser_at(p, '-'))
        return 0;
    if (parser_int(p, &v) < 0)
        return -1;
    *offset += (uint64_t)v;
    return 0;
}

static int parse_address(struct parser *p, struct operand *out)
{
    struct operand base = { 0 };

    parser_advance(p);
    out->kind = OPERAND_ADDRESS;
    if (parser_operand(p, &base) < 0)
        return -1;
    if (base.kind == OPERAND_INT) {
        out->value = base.value;
    } else {
        out->count = 1;
        out->items = parser_copy_items(p, &base, 1);
        if (!out->items)
            return -1;
    }
    if (parser_offset(p, &out->value) < 0)
        return -1;
    /* Coordinates of a texture or tensor; no instruction that has them is executed. */
    while (parser_accept(p, ','))
        if (parser_operand(p, &base) < 0)
            return -1;
    return parser_expect(p, ']');
}

/* "%r1.h10" is a part of register %r1. */
static struct symbol *find_part(struct parser *p, struct bytes name, struct operand *out)
{
    const char *dot = memchr(name.data, '.', name.size);
    struct symbol *s;

    if (!dot)
        return NULL;
    s = parser_find(p, (struct bytes){ name.data, (size_t)(dot - name.data) }, &out->index);
    if (!s || s->kind != SYMBOL_REGISTER)
        return NULL;
    out->part = (struct bytes){ dot + 1, name.size - (size_t)(dot - name.data) - 1 };
    return s;
}

int parser_name(struct parser *p, struct operand *out)
{
    struct bytes name = p->token.text;
    struct symbol *s = parser_find(p, name, &out->index);

    if (!s)
        s = find_part(p, name, out);
    out->text = name;
    parser_advance(p);
    if (bytes_equal(name, "_")) {
        out->kind = OPERAND_SINK;
        return 0;
    }
    if (!s && name.data[0] == '%') {
        out->kind = OPERAND_SPECIAL;
        return 0;
    }
    if (!s) /* a label that comes later */
        s = parser_add_symbol(p, name, SYMBOL_LABEL);
    if (!s)
        return -1;
    out->symbol = s;
    out->kind = s->kind == SYMBOL_REGISTER ? OPERAND_REGISTER : OPERAND_SYMBOL;
    if (out->kind == OPERAND_REGISTER)
        return 0;
    return parser_offset(p, &out->value);
}

static int parse_number(struct parser *p, struct operand *out)
{
    bool is_negative = parser_accept(p, '-');

    out->kind = p->token.kind == TOKEN_F32   ? OPERAND_F32
                : p->token.kind == TOKEN_F64 ? OPERAND_F64
                                             : OPERAND_INT;
    if (p->token.kind != TOKEN_INT && p->token.kind != TOKEN_F32 && p->token.kind != TOKEN_F64)
        return parser_fail(p, "an operand");
    out->value = p->token.value;
    if (is_negative && out->kind == OPERAND_INT)
        out->value = 0 - out->value;
    else if (is_negative)
        out->value ^= (uint64_t)1 << (out->kind == OPERAND_F32 ? 31 : 63);
    parser_advance(p);
    return 0;
}

int parser_single(struct parser *p, struct operand *out)
{
    if (parser_at(p, '['))
        return parse_address(p, out);
    if (parser_accept(p, '{')) {
        out->kind = OPERAND_VECTOR;
        return parse_items(p, '}', out);
    }
    if (parser_accept(p, '(')) {
        out->kind = OPERAND_LIST;
        return parse_items(p, ')', out);
    }
    if (parser_accept(p, '!')) {
        out->is_negated = true;
        return p->token.kind == TOKEN_WORD ? parser_name(p, out) : parser_fail(p, "a predicate");
    }
    if (p->token.kind == TOKEN_WORD)
        return parser_name(p, out);
    return parse_number(p, out);
}

int parser_operand(struct parser *p, struct operand *out)
{
    struct operand pair[2] = { 0 };

    if (parser_single(p, &pair[0]) < 0)
        return -1;
    if (!parser_at(p, '|')) {
        *out = pair[0];
        return 0;
    }
    parser_advance(p);
    if (parser_single(p, &pair[1]) < 0)
        return -1;
    out->kind = OPERAND_PAIR;
    out->count = 2;
    out->items = parser_copy_items(p, pair, 2);
    return out->items ? 0 : -1;
}
