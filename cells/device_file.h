/*
 * A device as a text file: one limit a line, `name = value`, with # for
 * comments. Written by hand or by %device save=, read by %device file=.
 */
#ifndef WB_CELLS_DEVICE_FILE_H
#define WB_CELLS_DEVICE_FILE_H

#include "cells/device_keys.h"
#include "model/base/arena.h"
#include "model/base/buf.h"

struct device_file {
    const char *name; /* the arena's; NULL: the file gives none */
    const char *from; /* whose limits count where it is silent; NULL: it does not say */
    int from_line, from_column, from_length;
    struct device_change changes[DEVICE_KEY_COUNT];
    size_t count;
};

/*
 * Reads the text of a file; path is for the words of errors only. Fails with UsageError (an
 * unknown or repeated key, a line that is none) or ValueError, marked as device_file_fail does.
 */
int device_file_read(struct arena *arena, const char *path, struct bytes text,
                     struct device_file *out, struct err *err) MUST_CHECK;

/* Adds to err where in the file it is: "my.device line 3: ...", and the line with a caret. */
int device_file_fail(const char *path, struct bytes text, int line, int column, int length,
                     struct err *err);

/* Appends a file that gives this device back, every key with what it is. */
void device_file_write(const struct device *dev, struct buf *out);

#endif
