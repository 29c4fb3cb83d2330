/* mkdir -p, up to the last slash. */
#include "jupyter-kernel/files.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

int files_make_parents(const char *path, unsigned mode)
{
    char *copy = strdup(path);
    int rc = copy && copy[0] ? 0 : -1;
    char *slash = rc == 0 ? strchr(copy + 1, '/') : NULL;

    for (; slash && rc == 0; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(copy, mode) < 0 && errno != EEXIST)
            rc = -1;
        *slash = '/';
    }
    free(copy);
    return rc;
}
