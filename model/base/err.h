/*
 * An error on its way to the user: a name from the list below, one sentence
 * with value, place and limit, the place in the cell, and the next step.
 *
 * A function that can fail returns 0 or -1 and takes a struct err * last. The
 * first cause wins: setting an error that is already set changes nothing, so
 * a caller may add its own view without hiding what went wrong below.
 */
#ifndef WB_MODEL_BASE_ERR_H
#define WB_MODEL_BASE_ERR_H

#include "model/base/base.h"

#include <stdarg.h>
#include <stdbool.h>

/* ename of docs/errors; BadMessage is logged and never shown. One list makes enum and names. */
#define ERR_NAMES(X)                                                                               \
    X(SyntaxError)                                                                                 \
    X(UnknownMagic)                                                                                \
    X(UsageError)                                                                                  \
    X(NameError)                                                                                   \
    X(ValueError)                                                                                  \
    X(CompileError)                                                                                \
    X(UnsupportedError)                                                                            \
    X(LaunchError)                                                                                 \
    X(MemoryFault)                                                                                 \
    X(RaceFault)                                                                                   \
    X(BarrierFault)                                                                                \
    X(Deadlock)                                                                                    \
    X(Timeout)                                                                                     \
    X(AssertFault)                                                                                 \
    X(ProgramError)                                                                                \
    X(CheckFailed)                                                                                 \
    X(Interrupted)                                                                                 \
    X(Aborted)                                                                                     \
    X(DeviceError)                                                                                 \
    X(FileError)                                                                                   \
    X(LogError)                                                                                    \
    X(ResourceError)                                                                               \
    X(InternalError)                                                                               \
    X(BadMessage)

/* clang-format off */
enum err_name {
    ERR_none = 0,
#define X(name) ERR_##name,
    ERR_NAMES(X)
#undef X
    ERR_COUNT
};
/* clang-format on */

struct err {
    enum err_name name; /* ERR_none while nothing went wrong */
    char text[600];     /* evalue: one sentence, UTF-8, no newline */
    char next[300];     /* what to do or type next, or "" */
    char place[64];     /* "In[3]"; "" while unknown */
    int line, column;   /* 1-based, column in bytes; 0: unknown */
    int length;         /* bytes that the caret underlines; 0 counts as 1 */
    char *detail; /* further lines of the report (compiler log, fault table); owned, or NULL */
};

/* Start from { 0 } or err_init. err_done releases detail and makes e empty again. */
void err_done(struct err *e);

/* Sets name and text unless e is set already. e may be NULL. Always returns -1. */
int err_set(struct err *e, enum err_name name, const char *fmt, ...) PRINTF_LIKE(3, 4);
int err_setv(struct err *e, enum err_name name, const char *fmt, va_list args);

/* Adds the next step, unless there is one. Always returns -1, as the three below. */
int err_next(struct err *e, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Adds the place, unless there is one: line and column are 1-based, length in bytes. */
int err_at(struct err *e, int line, int column, int length);

/* Takes a malloc'ed report (may be NULL); frees it when e has one already. */
int err_take_detail(struct err *e, char *detail);

/* "MemoryFault"; "" for ERR_none. Static. */
const char *err_spelling(enum err_name name);

/* The name for a spelling, or ERR_none: for what arrives from a child process. */
enum err_name err_from_spelling(const char *spelling);

#endif
