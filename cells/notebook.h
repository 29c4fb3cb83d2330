/*
 * `warpbook run`: executes a notebook without Jupyter. The file that it saves is
 * the one that Jupyter's own client would have saved, so notebooks can be run
 * on a cluster, in a test, or by make, and compared by their bytes.
 */
#ifndef WB_CELLS_NOTEBOOK_H
#define WB_CELLS_NOTEBOOK_H

#include "model/base/err.h"

#include <jansson.h>
#include <stdbool.h>

/*
 * Exit status: 0, 1 when a cell failed (or the result could not be saved), 2 for a wrong
 * command line or a notebook that cannot be read.
 */
int notebook_main(int argc, char **argv);

extern const char NOTEBOOK_HELP[];

/* One -p NAME=VALUE. */
struct parameter {
    const char *name;
    const char *value;
};

/*
 * Puts the parameters into a notebook as papermill does: a code cell with the tag
 * injected-parameters that replaces an earlier one, else follows the cell with the tag
 * parameters, else comes first. Its lines are `NAME = VALUE`; a VALUE that is no number, list,
 * dimension, text or yes/no/true/false is written as a text. Fails with ResourceError.
 */
int notebook_inject(json_t *notebook, const struct parameter *parameters, size_t count,
                    struct err *err) MUST_CHECK;

#endif
