/* What history and install both need of the file system. */
#ifndef WB_JUPYTER_FILES_H
#define WB_JUPYTER_FILES_H

#include "model/base/base.h"

/* Makes the folders that path stands in, with mode; those that exist are left. -1: errno. */
int files_make_parents(const char *path, unsigned mode) MUST_CHECK;

#endif
