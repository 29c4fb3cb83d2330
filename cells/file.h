/* Whole files, in and out. */
#ifndef WB_CELLS_FILE_H
#define WB_CELLS_FILE_H

#include "model/base/buf.h"
#include "model/base/err.h"

enum { FILE_MAX = 256 << 20 }; /* bytes; a notebook larger than this is none */

/* Appends the content of path, or of standard input for "-". Fails with FileError. */
int file_read(const char *path, struct buf *out, struct err *err) MUST_CHECK;

/* The same of a path that a cell names: no pipe, device or standard input, which may never end. */
int file_read_plain(const char *path, struct buf *out, struct err *err) MUST_CHECK;

/*
 * Replaces path by data, or leaves what was there: it is written beside, synced and renamed.
 * "-" is standard output. Fails with FileError.
 */
int file_write(const char *path, struct bytes data, struct err *err) MUST_CHECK;

/* The same for several pieces, one behind the other. */
int file_write_parts(const char *path, const struct bytes *parts, size_t count,
                     struct err *err) MUST_CHECK;

#endif
