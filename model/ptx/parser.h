/*
 * Shared by the files of the parser: the token ahead, the names in scope, and what
 * reads operands and declarations. Every function returns 0, or -1 with p->err set.
 */
#ifndef WB_MODEL_PTX_PARSER_H
#define WB_MODEL_PTX_PARSER_H

#include "model/ptx/lex.h"
#include "model/ptx/parse.h"

enum { BUCKETS = 1024, MAX_FILES = 4096, MAX_DEPTH = 64 };

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
    int used_bytes; /* of the next instruction, by .pragma; 0: all */
    int depth;      /* of braces in a body */
    struct err *err;
};

/* parse_operand.c: tokens. */
int parser_fail_memory(struct parser *p);
int parser_fail(struct parser *p,
                const char *wanted); /* SyntaxError: `wanted` is what PTX has here */
void parser_advance(struct parser *p);
bool parser_at(const struct parser *p, char c);
bool parser_accept(struct parser *p, char c);
int parser_expect(struct parser *p, char c);
bool parser_at_directive(const struct parser *p, const char *name);
bool parser_accept_directive(struct parser *p, const char *name);
int parser_int(struct parser *p, int64_t *out);

/* Names. *index is the number of a register within its range. NULL: unknown, or out of memory. */
struct symbol *parser_find_exact(struct parser *p, struct bytes name);
struct symbol *parser_find(struct parser *p, struct bytes name, int *index);
struct symbol *parser_add_symbol(struct parser *p, struct bytes name, enum symbol_kind kind);
int parser_open_scope(struct parser *p);
void parser_close_scope(struct parser *p);

/* Operands. */
int parser_operand(struct parser *p, struct operand *out);
int parser_single(struct parser *p, struct operand *out); /* not p|q */
int parser_name(struct parser *p, struct operand *out);
int parser_offset(struct parser *p, uint64_t *offset); /* adds [+-] number, if there is one */
struct operand *parser_copy_items(struct parser *p, const struct operand *items, int count);

/* parse_variable.c: declarations after their space. */
int parser_qualifiers(struct parser *p, struct symbol *shape, int *vector);
struct symbol *parser_declare(struct parser *p, const struct symbol *shape, int vector);
int parser_variables(struct parser *p, enum space space, bool is_extern);
int parser_registers(struct parser *p);

#endif
