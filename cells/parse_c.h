/*
 * Spellings of C and C++ around a value that leave the value as it is, or make an integer or a
 * decimal of it: casts, std::, sizeof of a type in several words.
 */
#ifndef WB_CELLS_PARSE_C_H
#define WB_CELLS_PARSE_C_H

#include "cells/lex.h"

/*
 * What `(unsigned int)` before a value makes of it: "int" or "float"; NULL: no cast stands here.
 * behind is the lexer behind the cast.
 */
const char *c_cast_ahead(const struct lexer *lexer, struct lexer *behind);

/* The same for the <int> of static_cast<int>(x), which stands before its bracket. */
const char *c_cast_named(struct bytes word, const struct lexer *lexer, struct lexer *behind);

/*
 * Is the word one that changes nothing about the argument in its brackets? Behind
 * reinterpret_cast and const_cast the type goes, too.
 */
bool c_is_no_call(struct bytes word, const struct lexer *lexer, struct lexer *behind);

/* The type inside sizeof(unsigned char), in the arena; NULL: its brackets hold something else. */
const char *c_type_in_brackets(const struct lexer *lexer, struct lexer *behind);

/* std::max and thrust::raw_pointer_cast are max and raw_pointer_cast: *word becomes the last. */
int c_skip_scopes(struct lexer *lexer, struct token *word, struct err *err) MUST_CHECK;

/* The <int> of cdiv<int>(a, b), where only words of types stand in it. */
void c_skip_template(struct lexer *lexer);

#endif
