/*
 * Which magics there are, in the order of %help: the one list. A new magic is its
 * file in cells/magics/, with its row MAGIC_NAME, and one line here.
 */
#ifndef WB_CELLS_MAGICS_H
#define WB_CELLS_MAGICS_H

#include "cells/magic.h"

/* clang-format off */
#define MAGIC_ROWS(X) \
    /* the models */ \
    X(OCCUPANCY) \
    X(SIMULATE) \
    X(SCHEDULE) \
    X(SPECIALIZE) \
    X(LAYOUT) \
    X(LANES) \
    X(LITTLE) \
    X(ROOFLINE) \
    X(ACCESS) \
    X(DEVICE) \
    X(DEVICES) \
    /* the experiments */ \
    X(LAUNCH) \
    X(LINES) \
    X(BENCH) \
    X(RUN) \
    X(SOURCE) \
    X(KERNEL) \
    X(PTX) \
    X(SASS) \
    /* the language */ \
    X(BUFFER) \
    X(SHOW) \
    X(PLOT) \
    X(SAVE) \
    X(COMPARE) \
    X(EXPORT) \
    X(LET) \
    X(PRINT) \
    X(CHECK) \
    X(SCORE) \
    X(GRADE) \
    X(FOR) \
    /* the session */ \
    X(HELP) \
    X(WHO) \
    X(RESET) \
    X(DOCTOR) \
    /* the front end */ \
    X(ECHO) \
    X(INPUT) \
    X(SLEEP) \
    X(CLEAR)
/* clang-format on */

#define X(name) extern const struct magic MAGIC_##name;
MAGIC_ROWS(X)
#undef X

#endif
