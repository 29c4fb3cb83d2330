/*
 * The value of one key of a magic line, as the key's row wants it: a number, a
 * word, a dimension, or a range or list of them.
 */
#ifndef WB_CELLS_ARG_VALUE_H
#define WB_CELLS_ARG_VALUE_H

#include "cells/lex.h"
#include "cells/magic.h"

/*
 * Reads the value that stands at the lexer and checks it against its row. Sets values, count and
 * is_sweep of *out, in the lexer's arena. session: what {braces} and expressions may name.
 *
 * Fails with UsageError (not of the type, no choice of the row, a list where one value is due),
 * ValueError (outside the limits), SyntaxError, NameError or ResourceError; the caret is set.
 */
int arg_value_read(struct session *session, struct lexer *lexer, const struct param *p,
                   struct arg *out, struct err *err) MUST_CHECK;

#endif
