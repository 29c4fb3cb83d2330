/*
 * The rows of the table, one a file of cells/magics/. A new magic adds its line
 * here and its row in magics.c.
 */
#ifndef WB_CELLS_MAGICS_H
#define WB_CELLS_MAGICS_H

#include "cells/magic.h"

extern const struct magic MAGIC_LET;
extern const struct magic MAGIC_PRINT;
extern const struct magic MAGIC_ECHO;
extern const struct magic MAGIC_DOCTOR;

#endif
