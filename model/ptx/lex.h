/*
 * PTX text to tokens. A spelling with dots ("ld.global.f32", "%tid.x") is one
 * token: PTX separates operands by commas, so a dot never stands alone.
 */
#ifndef WB_MODEL_PTX_LEX_H
#define WB_MODEL_PTX_LEX_H

#include "model/base/base.h"

#include <stdbool.h>

enum token_kind {
    TOKEN_END,
    TOKEN_WORD,      /* opcode, register, label, name: may hold dots, '%', '$' */
    TOKEN_DIRECTIVE, /* starts with a dot: ".reg" */
    TOKEN_INT,
    TOKEN_F32, /* 0fXXXXXXXX: bits in value */
    TOKEN_F64, /* 0dXXXXXXXXXXXXXXXX or decimal: bits in value */
    TOKEN_STRING,
    TOKEN_PUNCT,
    TOKEN_BAD, /* a byte that no PTX has, or a string without an end */
};

struct token {
    enum token_kind kind;
    struct bytes text; /* borrowed from the source; a string without its quotes */
    uint64_t value;    /* numbers */
    char punct;
    int line; /* 1-based, of the PTX text */
};

struct lexer {
    const char *at, *end;
    int line;
};

void ptx_lex_init(struct lexer *lexer, struct bytes text);
struct token ptx_lex_next(struct lexer *lexer);

/* Moves past the '}' that closes a DWARF section, whose bytes are of no use here. */
void lexer_skip_section(struct lexer *lexer);

#endif
