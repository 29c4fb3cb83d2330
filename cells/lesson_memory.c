/*
 * The file has no name and is sealed: a child that shrank it could end this process.
 */
#include "cells/lesson_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

int lesson_memory_init(struct lesson_memory *m, const char *name, size_t size, struct err *err)
{
    *m = (struct lesson_memory){ .fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING),
                                 .size = size };
    if (m->fd < 0 || ftruncate(m->fd, (off_t)size) < 0 ||
        fcntl(m->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) < 0)
        return err_set(err, ERR_ResourceError, "%s: %zu bytes: %s", name, size, strerror(errno));
    m->data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, m->fd, 0);
    if (m->data == MAP_FAILED) {
        m->data = NULL;
        return err_set(err, ERR_ResourceError, "%s: %zu bytes: %s", name, size, strerror(errno));
    }
    return 0;
}

void lesson_memory_done(struct lesson_memory *m)
{
    if (m->data)
        munmap(m->data, m->size);
    if (m->fd >= 0)
        close(m->fd);
    *m = (struct lesson_memory){ .fd = -1 };
}
