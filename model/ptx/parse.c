/*
 * The parser of PTX: recursive descent, one token ahead. Here are source positions,
 * the bodies of functions, and what stands outside them.
 */
#include "model/ptx/parse.h"

#include "model/ptx/parser.h"

#include <limits.h>
#include <stdlib.h>

static char *copy_text(struct parser *p, struct bytes text)
{
    char *name = arena_copy(p->arena, text.data, text.size);

    if (!name)
        parser_fail_memory(p);
    return name;
}

/* ---- Source positions ----------------------------------------------------------------------- */

/* Grows an array of the arena: the old copy stays behind, at most as large as the new one. */
static void *grow(struct parser *p, void *old, int count, int *capacity, size_t size)
{
    int larger = *capacity ? *capacity * 2 : 64;
    void *data = arena_array(p->arena, (size_t)larger, size);

    if (!data) {
        parser_fail_memory(p);
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

static bool is_header(const struct ast_module *m, int file)
{
    return file >= 0 && file < m->file_count && m->is_header[file];
}

/*
 * A place in a header that was inlined in a header is charged to where that one was inlined. The
 * outer place has come before, as ".loc" of the PTX ISA asks for.
 */
static struct source_loc users_place(const struct ast_module *m, const struct source_loc *loc)
{
    struct source_loc users = { .file = loc->at_file,
                                .line = loc->at_line,
                                .column = loc->at_column,
                                .in_file = loc->file,
                                .in_line = loc->line,
                                .in_column = loc->column };

    for (int i = m->loc_count - 1; i > 0 && is_header(m, users.file); i--) {
        const struct source_loc *outer = &m->locs[i];

        if (outer->in_line != users.line || outer->in_file != users.file ||
            outer->in_column != users.column)
            continue;
        users.file = outer->file;
        users.line = outer->line;
        users.column = outer->column;
        break;
    }
    return users;
}

/*
 * `.loc 2 417 3, function_name $L__info_string0, inlined_at 1 20 5`: the code of a header is
 * charged to the line that called it, which is where the user can do something about it. Line 0
 * means "of no line": the line before goes on.
 */
static int parse_loc(struct parser *p)
{
    int64_t file, line, column;
    struct source_loc loc;

    if (parser_int(p, &file) < 0 || parser_int(p, &line) < 0 || parser_int(p, &column) < 0)
        return -1;
    loc = (struct source_loc){ .file = (int)file, .line = (int)line, .column = (int)column };
    while (parser_accept(p, ',')) {
        if (p->token.kind == TOKEN_WORD && bytes_equal(p->token.text, "inlined_at")) {
            parser_advance(p);
            if (parser_int(p, &file) < 0 || parser_int(p, &line) < 0 || parser_int(p, &column) < 0)
                return -1;
            loc.at_file = (int)file;
            loc.at_line = (int)line;
            loc.at_column = (int)column;
        } else { /* function_name LABEL [+ n] */
            parser_advance(p);
            loc.function = p->token.text;
            parser_advance(p);
            if (parser_accept(p, '+')) {
                loc.function_skip = (int)min_i64((int64_t)p->token.value, INT_MAX);
                parser_advance(p);
            }
        }
    }
    if (loc.at_line && is_header(p->module, loc.file))
        loc = users_place(p->module, &loc);
    if (loc.line == 0 || loc.file < 0)
        return 0;
    return add_loc(p, loc);
}

/*
 * CUDA's headers are known by where they lie, as many have no extension (<cuda/barrier>); what
 * NVRTC brings along has a name of its own.
 */
static bool is_of_cuda(struct bytes path)
{
    static const char PLACE[] = "/include/", BUILT_IN[] = "__nv_";

    return memmem(path.data, path.size, PLACE, sizeof PLACE - 1) ||
           memmem(path.data, path.size, BUILT_IN, sizeof BUILT_IN - 1);
}

static int parse_file(struct parser *p)
{
    struct ast_module *m = p->module;
    struct bytes path;
    int64_t number;
    size_t from;

    if (parser_int(p, &number) < 0)
        return -1;
    if (p->token.kind != TOKEN_STRING || number < 0 || number >= MAX_FILES)
        return parser_fail(p, "a file");
    path = p->token.text;
    parser_advance(p);
    while (parser_accept(p, ','))
        parser_advance(p);
    for (from = path.size; from > 0 && path.data[from - 1] != '/'; from--)
        ;
    m->is_header[number] = is_of_cuda(path);
    m->files[number] = copy_text(p, (struct bytes){ path.data + from, path.size - from });
    if (!m->files[number])
        return -1;
    m->file_count = (int)max_i64(m->file_count, number + 1);
    return 0;
}

static void skip_statement(struct parser *p)
{
    while (p->token.kind != TOKEN_END && !parser_at(p, ';'))
        parser_advance(p);
    parser_accept(p, ';');
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
    f->insns[f->insn_count] =
        (struct ast_insn){ .loc = p->loc, .ptx_line = p->token.line, .used_bytes = p->used_bytes };
    p->used_bytes = 0;
    return &f->insns[f->insn_count++];
}

static int parse_guard(struct parser *p, struct ast_insn *insn)
{
    struct operand guard = { 0 };

    insn->is_guard_negated = parser_accept(p, '!');
    if (p->token.kind != TOKEN_WORD || parser_name(p, &guard) < 0)
        return parser_fail(p, "a predicate");
    if (guard.kind != OPERAND_REGISTER || guard.symbol->type.kind != TYPE_PRED)
        return parser_fail(p, "a predicate");
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
    if (parser_accept(p, '@') && parse_guard(p, insn) < 0)
        return -1;
    if (p->token.kind != TOKEN_WORD)
        return parser_fail(p, "an instruction");
    insn->opcode = p->token.text;
    insn->ptx_line = p->token.line;
    parser_advance(p);
    while (!parser_accept(p, ';')) {
        if (insn->operand_count && parser_expect(p, ',') < 0)
            return -1;
        if (insn->operand_count == AST_MAX_OPERANDS)
            return parser_fail(p, "at most 8 operands");
        operands[insn->operand_count] = (struct operand){ 0 };
        if (parser_operand(p, &operands[insn->operand_count++]) < 0)
            return -1;
    }
    insn->operands = parser_copy_items(p, operands, insn->operand_count);
    return insn->operands ? 0 : -1;
}

/* `name:` is a label; `name: .callprototype ...;` and `.branchtargets` give a name to a list. */
static int parse_label(struct parser *p, struct bytes name, int line)
{
    int index;
    struct symbol *s = parser_find(p, name, &index);

    if (!s)
        s = parser_add_symbol(p, name, SYMBOL_LABEL);
    if (!s)
        return -1;
    if (parser_at_directive(p, ".callprototype")) {
        s->kind = SYMBOL_PROTOTYPE;
        skip_statement(p);
        return 0;
    }
    if (parser_at_directive(p, ".branchtargets") || parser_at_directive(p, ".calltargets"))
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

/*
 * `.pragma "used_bytes_mask 241";`: of what the next load reads, the code looks at these bytes
 * only. The rest is padding of a struct, which may be without a value.
 */
static int parse_pragma(struct parser *p)
{
    static const char NAME[] = "used_bytes_mask ";
    size_t n = sizeof NAME - 1;
    struct bytes text;

    parser_advance(p);
    text = p->token.text;
    if (p->token.kind == TOKEN_STRING && text.size > n && !memcmp(text.data, NAME, n)) {
        p->used_bytes = 0;
        for (size_t i = n; i < text.size && text.data[i] >= '0' && text.data[i] <= '9'; i++)
            p->used_bytes = (p->used_bytes * 10 + (text.data[i] - '0')) & 0xffff;
    }
    skip_statement(p);
    return 0;
}

static int parse_body_directive(struct parser *p)
{
    if (parser_accept_directive(p, ".reg"))
        return parser_registers(p);
    if (parser_accept_directive(p, ".local"))
        return parser_variables(p, SPACE_LOCAL, false);
    if (parser_accept_directive(p, ".shared"))
        return parser_variables(p, SPACE_SHARED, false);
    if (parser_accept_directive(p, ".param"))
        return parser_variables(p, SPACE_PARAM, false);
    if (parser_accept_directive(p, ".global"))
        return parser_variables(p, SPACE_GLOBAL, false);
    if (parser_accept_directive(p, ".const"))
        return parser_variables(p, SPACE_CONST, false);
    if (parser_accept_directive(p, ".loc"))
        return parse_loc(p);
    if (parser_at_directive(p, ".pragma"))
        return parse_pragma(p);
    return parser_fail(p, "a directive of a function's body");
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
    parser_advance(p);
    parser_advance(p);
    return parse_label(p, name, line);
}

static int parse_statement(struct parser *p)
{
    if (parser_accept(p, '{'))
        return parser_open_scope(p);
    if (p->token.kind == TOKEN_DIRECTIVE)
        return parse_body_directive(p);
    if (p->token.kind == TOKEN_WORD)
        return parse_word_statement(p);
    if (parser_at(p, '@'))
        return parse_instruction(p);
    return parser_fail(p, "an instruction");
}

static int parse_body(struct parser *p)
{
    int outer = p->depth;

    if (parser_open_scope(p) < 0)
        return -1;
    while (p->depth > outer) {
        if (parser_accept(p, '}'))
            parser_close_scope(p);
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

    while (!parser_accept(p, ')')) {
        struct symbol shape = { .space = SPACE_PARAM };

        if (n && parser_expect(p, ',') < 0)
            return -1;
        if (n == AST_MAX_ITEMS)
            return parser_fail(p, "at most 256 parameters");
        if (!parser_accept_directive(p, ".param") && !parser_accept_directive(p, ".reg"))
            return parser_fail(p, "'.param'");
        if (parser_qualifiers(p, &shape, &vector) < 0)
            return -1;
        formals[n] = parser_declare(p, &shape, 1);
        if (!formals[n])
            return -1;
        n++;
    }
    *count = n;
    *out = arena_array(p->arena, (size_t)n, sizeof **out);
    if (!*out)
        return parser_fail_memory(p);
    if (n)
        memcpy(*out, formals, (size_t)n * sizeof **out);
    return 0;
}

/* .maxntid 256, 1, 1 and its like; only the number of threads acts here. */
static int parse_performance(struct parser *p, struct ast_function *f)
{
    while (p->token.kind == TOKEN_DIRECTIVE) {
        bool is_maxntid = parser_at_directive(p, ".maxntid") || parser_at_directive(p, ".reqntid");
        int64_t n, product = 1;

        if (parser_at_directive(p, ".pragma")) {
            skip_statement(p);
            continue;
        }
        parser_advance(p);
        while (p->token.kind == TOKEN_INT) {
            if (parser_int(p, &n) < 0)
                return -1;
            product = n > 0 && n <= 1024 && product <= 1024 ? product * n : product;
            if (!parser_accept(p, ','))
                break;
        }
        if (is_maxntid)
            f->max_threads = (int)min_i64(product, 1024);
    }
    return 0;
}

static struct ast_function *declare_function(struct parser *p, struct bytes name, bool is_entry)
{
    struct symbol *s = parser_find_exact(p, name);

    if (s && s->kind == SYMBOL_FUNCTION)
        return s->body;
    s = parser_add_symbol(p, name, SYMBOL_FUNCTION);
    if (!s)
        return NULL;
    s->body = arena_alloc(p->arena, sizeof *s->body);
    if (!s->body) {
        parser_fail_memory(p);
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

    if (parser_accept(p, '(') && parse_formals(p, &results, &result_count) < 0)
        return -1;
    if (p->token.kind != TOKEN_WORD)
        return parser_fail(p, "a function's name");
    name = p->token.text;
    parser_advance(p);

    /* The name belongs to the module, not to the scope of its own parameters. */
    struct scope *inner = p->scope;
    p->scope = inner->outer;
    f = declare_function(p, name, is_entry);
    p->scope = inner;
    if (!f)
        return -1;
    if (f->is_defined)
        return parser_fail(p, "a function only once");
    f->results = results;
    f->result_count = result_count;
    if (parser_accept(p, '(') && parse_formals(p, &f->parameters, &f->parameter_count) < 0)
        return -1;
    if (parse_performance(p, f) < 0)
        return -1;
    if (parser_accept(p, ';'))
        return 0;
    if (parser_expect(p, '{') < 0)
        return -1;
    f->is_defined = true;
    p->function = f;
    p->loc = 0;
    return parse_body(p);
}

static int parse_function(struct parser *p, bool is_entry)
{
    int rc;

    if (parser_open_scope(p) < 0)
        return -1;
    rc = parse_function_parts(p, is_entry);
    p->function = NULL;
    if (rc < 0)
        return -1;
    parser_close_scope(p);
    return 0;
}

static int parse_section(struct parser *p)
{
    while (p->token.kind != TOKEN_END && !parser_at(p, '{'))
        parser_advance(p);
    lexer_skip_section(&p->lexer);
    parser_advance(p);
    return 0;
}

static int parse_target(struct parser *p)
{
    do {
        struct bytes name = p->token.text;

        if (p->token.kind != TOKEN_WORD)
            return parser_fail(p, "a target");
        if (name.size > 3 && !memcmp(name.data, "sm_", 3))
            p->module->target = (int)strtol(name.data + 3, NULL, 10);
        p->module->is_debug |= bytes_equal(name, "debug");
        parser_advance(p);
    } while (parser_accept(p, ','));
    return 0;
}

static int parse_top(struct parser *p)
{
    bool is_extern = false;

    while (parser_at_directive(p, ".visible") || parser_at_directive(p, ".weak") ||
           parser_at_directive(p, ".common") || parser_at_directive(p, ".extern") ||
           parser_at_directive(p, ".internal")) {
        is_extern |= parser_at_directive(p, ".extern");
        parser_advance(p);
    }
    if (parser_accept_directive(p, ".entry"))
        return parse_function(p, true);
    if (parser_accept_directive(p, ".func"))
        return parse_function(p, false);
    if (parser_accept_directive(p, ".global"))
        return parser_variables(p, SPACE_GLOBAL, is_extern);
    if (parser_accept_directive(p, ".const"))
        return parser_variables(p, SPACE_CONST, is_extern);
    if (parser_accept_directive(p, ".shared"))
        return parser_variables(p, SPACE_SHARED, is_extern);
    if (parser_accept_directive(p, ".file"))
        return parse_file(p);
    if (parser_accept_directive(p, ".section"))
        return parse_section(p);
    if (parser_accept_directive(p, ".target"))
        return parse_target(p);
    if (parser_at_directive(p, ".version") || parser_at_directive(p, ".address_size")) {
        parser_advance(p);
        parser_advance(p);
        return 0;
    }
    if (parser_at_directive(p, ".pragma") || parser_at_directive(p, ".alias")) {
        skip_statement(p);
        return 0;
    }
    return parser_fail(p, "a declaration");
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
        parser_advance(&ahead);
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
    out->is_header = arena_array(arena, MAX_FILES, sizeof *out->is_header);
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
    for (parser_advance(p); p->token.kind != TOKEN_END;)
        if (parse_top(p) < 0)
            return -1;
    return 0;
}
