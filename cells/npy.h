/*
 * NumPy's .npy files, versions 1 to 3: a header that is a Python dictionary, then the numbers.
 * Read are little-endian plain numbers in C order; everything else is refused by name.
 *
 * Source: NumPy's documentation, "NPY format" (numpy.lib.format).
 */
#ifndef WB_CELLS_NPY_H
#define WB_CELLS_NPY_H

#include "cells/buffer.h"

struct npy {
    enum scalar_kind kind;
    int rank; /* 0: one number */
    int64_t shape[BUFFER_RANK_MAX + 1];
    int64_t count;
    size_t data_at; /* bytes before the numbers */
};

/*
 * Parses a header: the first bytes of a file (at least NPY_HEADER_MOST of them, or all), and the
 * size of the whole. name: the file's, for the errors.
 *
 * Fails with FileError (no .npy, torn, or of another length than its header says), or
 * UnsupportedError (big endian, Fortran order, objects, records: the text says what it is).
 */
enum { NPY_HEADER_MOST = 1 << 16 };
int npy_parse(struct bytes head, uint64_t file_size, const char *name, struct npy *out,
              struct err *err) MUST_CHECK;

/* Opens a file and reads its header; *fd is the caller's to close. FileError too for a pipe. */
int npy_open(const char *path, struct npy *out, int *fd, struct err *err) MUST_CHECK;

/* Reads all numbers behind the header. Fails with FileError. */
int npy_read(int fd, const struct npy *npy, const char *name, void *to, size_t size,
             struct err *err) MUST_CHECK;

/*
 * The header for numbers of a kind (not BF16, which NumPy has not, nor STRUCT), padded to 64
 * bytes. Returns its length; out holds at least 256 bytes.
 */
size_t npy_header(enum scalar_kind kind, int rank, const int64_t *shape, char *out);

#endif
