/* A reader never sees half a file: rename() replaces the old one by the whole new one. */
#include "cells/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail(struct err *err, const char *path)
{
    return err_set(err, ERR_FileError, "%s: %s", path, strerror(errno));
}

static int read_all(int fd, const char *path, struct buf *out, struct err *err)
{
    char piece[64 << 10];
    ssize_t n;

    while ((n = read(fd, piece, sizeof(piece))) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail(err, path);
        if (out->size + (size_t)n > FILE_MAX)
            return err_set(err, ERR_FileError, "%s: larger than %d MB", path, FILE_MAX >> 20);
        buf_put(out, piece, (size_t)n);
    }
    return out->is_failed ? err_set(err, ERR_ResourceError, "out of memory") : 0;
}

int file_read(const char *path, struct buf *out, struct err *err)
{
    int is_input = strcmp(path, "-") == 0;
    int fd = is_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    int rc;

    if (fd < 0)
        return fail(err, path);
    rc = read_all(fd, path, out, err);
    if (!is_input)
        close(fd);
    return rc;
}

int file_read_plain(const char *path, struct buf *out, struct err *err)
{
    /* Not waiting for the writer of a pipe, which is refused. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc;
    struct stat st;

    if (fd < 0)
        return fail(err, path);
    if (fstat(fd, &st) < 0)
        rc = fail(err, path);
    else if (!S_ISREG(st.st_mode))
        rc = err_set(err, ERR_FileError, "%.300s is no plain file", path);
    else
        rc = read_all(fd, path, out, err);
    close(fd);
    return rc;
}

static int write_part(int fd, struct bytes data)
{
    while (data.size) {
        ssize_t n = write(fd, data.data, data.size);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        data = (struct bytes){ data.data + n, data.size - (size_t)n };
    }
    return 0;
}

static int write_all(int fd, const struct bytes *parts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (write_part(fd, parts[i]) < 0)
            return -1;
    return 0;
}

/* The mode that the new file gets: the old one's, else what umask leaves of 0666. */
static mode_t mode_for(const char *path)
{
    struct stat old;
    mode_t mask;

    if (stat(path, &old) == 0)
        return old.st_mode & 0777;
    mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

int file_write(const char *path, struct bytes data, struct err *err)
{
    return file_write_parts(path, &data, 1, err);
}

int file_write_parts(const char *path, const struct bytes *parts, size_t count, struct err *err)
{
    struct buf beside = { 0 };
    int fd, rc = -1;

    if (strcmp(path, "-") == 0)
        return write_all(STDOUT_FILENO, parts, count) < 0 ? fail(err, "standard output") : 0;
    buf_printf(&beside, "%s.XXXXXX", path);
    if (beside.is_failed)
        return err_set(err, ERR_ResourceError, "out of memory");
    fd = mkostemp(beside.data, O_CLOEXEC);
    if (fd < 0) {
        fail(err, path);
        goto out;
    }
    rc =
        write_all(fd, parts, count) < 0 || fchmod(fd, mode_for(path)) < 0 || fsync(fd) < 0 ? -1 : 0;
    if (close(fd) < 0)
        rc = -1;
    if (rc == 0)
        rc = rename(beside.data, path);
    if (rc < 0) {
        fail(err, path);
        unlink(beside.data);
    }
out:
    buf_done(&beside);
    return rc;
}
