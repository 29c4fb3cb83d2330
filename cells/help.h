/*
 * What is said of a name: a magic, a variable, a kernel, a word of the field.
 * %help, %name?, Shift-Tab and completion all read it from here.
 */
#ifndef WB_CELLS_HELP_H
#define WB_CELLS_HELP_H

#include "cells/internal.h"
#include "model/base/buf.h"

/*
 * Writes the page of a name. is_short: as a tooltip shows it, without the long part.
 * False when nothing is known of the name.
 */
bool help_text(struct session *session, const char *name, bool is_short, struct buf *out);

/* "%simulate warps=5 issue=2": one line; for signatures. */
void help_usage(const struct magic *magic, struct buf *out);

#endif
