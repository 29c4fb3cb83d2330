/*
 * What Warpbook found on this machine, what it lacks, and what to do about it:
 * `warpbook doctor` prints it, %doctor shows it in a notebook.
 */
#ifndef WB_CELLS_DOCTOR_H
#define WB_CELLS_DOCTOR_H

#include "cells/result.h"
#include "cells/session.h"
#include "model/base/err.h"

/*
 * Looks at everything, by the session's own children: the compiler has compiled something, and
 * the driver has been asked for its cards. *out: a new result of kind "doctor"; its field
 * is_ready is true when CUDA C compiles with all headers. Fails with ResourceError or Interrupted.
 */
int doctor_examine(struct session *session, struct result **out, struct err *err) MUST_CHECK;

/* Exit status: 0 when ready, 1 when something is missing, 2 for a wrong command line. */
int doctor_main(int argc, char **argv);

extern const char DOCTOR_HELP[];

#endif
