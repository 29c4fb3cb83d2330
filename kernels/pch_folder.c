/*
 * NVRTC's own choice is a folder in /tmp that nobody removes. The name of ours says
 * whose it is, so that the next compiler can tell a leftover from a neighbour.
 */
#include "kernels/pch_folder.h"

#include "model/base/base.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char PREFIX[] = "warpbook-pch-";
static char folder[PATH_MAX];

static const char *temporary(void)
{
    const char *dir = getenv("TMPDIR");

    return dir && *dir ? dir : "/tmp";
}

/* The files in it, then the folder: it holds no folders. */
static void remove_folder(const char *path)
{
    DIR *dir = opendir(path);
    const struct dirent *entry;

    while (dir && (entry = readdir(dir)))
        if (entry->d_name[0] != '.')
            unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir)
        closedir(dir);
    rmdir(path);
}

static void remove_own(void)
{
    if (folder[0])
        remove_folder(folder);
}

/* The process of a name is gone, and the folder is ours to remove. */
static bool is_leftover(const char *path, const char *name)
{
    long pid = strtol(name + strlen(PREFIX), NULL, 10);
    struct stat info;

    return pid > 0 && pid < INT_MAX && kill((pid_t)pid, 0) < 0 && errno == ESRCH &&
           lstat(path, &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == getuid();
}

void pch_folder_clean(void)
{
    DIR *dir = opendir(temporary());
    const struct dirent *entry;
    char path[PATH_MAX];

    while (dir && (entry = readdir(dir))) {
        int n = snprintf(path, sizeof(path), "%s/%s", temporary(), entry->d_name);

        if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) == 0 && n > 0 &&
            (size_t)n < sizeof(path) && is_leftover(path, entry->d_name))
            remove_folder(path);
    }
    if (dir)
        closedir(dir);
}

const char *pch_folder(void)
{
    static bool is_asked;
    int n;

    if (is_asked)
        return folder;
    is_asked = true;
    pch_folder_clean();
    n = snprintf(folder, sizeof(folder), "%s/%s%ld-XXXXXX", temporary(), PREFIX, (long)getpid());
    if (n < 0 || (size_t)n >= sizeof(folder) || !mkdtemp(folder))
        folder[0] = '\0';
    else
        atexit(remove_own);
    return folder;
}
