/*
 * Checks and points: what %check, %score and %%grade share. A check fails in a
 * way that shows both sides and the place; inside %%grade it costs its points
 * and the rest goes on.
 */
#ifndef WB_CELLS_CHECK_H
#define WB_CELLS_CHECK_H

#include "cells/cell.h"
#include "cells/expr.h"

struct check_options {
    const char *label;  /* NULL: the expression as written */
    const char *sealed; /* NULL, or what check_seal made */
    bool hide_expected;
};

/*
 * Evaluates the expression as a check. Returns 0 when it holds; -1 with CheckFailed when it does
 * not, with another name when it could not be decided (an unknown name, a null).
 */
int check_run(struct session *session, struct source source, const struct check_options *options,
              struct arena *arena, struct err *err) MUST_CHECK;

/*
 * Sealed answers: "wb1$SALT$HASH", SALT 16 and HASH 64 hexadecimal digits. HASH is SHA-256
 * applied SEAL_ROUNDS times: first to SALT, ':' and the value's text (as %print writes it, so
 * that 40 and 40.0 are the same answer), then to its own 32 bytes. A guess costs milliseconds,
 * not nanoseconds; an answer out of few is still found by trying, so seal whole numbers with care.
 */
enum { SEAL_ROUNDS = 20000, SEAL_TEXT = 4 + 16 + 1 + 64 + 1 };
int check_seal(const struct value *v, char *out, struct err *err) MUST_CHECK;
int check_unseal(const char *sealed, const struct value *v, bool *is_same,
                 struct err *err) MUST_CHECK;

/* Adds a row; strings are copied. Fails with ResourceError. */
int grading_add(struct grading *grading, const char *label, double points, double score,
                const char *remark, struct err *err) MUST_CHECK;

#endif
