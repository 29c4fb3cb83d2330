/*
 * The header of a .npy file is read as what it is, untrusted text: a small reader of
 * the one dictionary that NumPy writes, which knows no other Python.
 */
#include "cells/npy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static const char MAGIC[6] = { '\x93', 'N', 'U', 'M', 'P', 'Y' };

/* What `descr` may say behind its byte order: the letter is NumPy's kind of number. */
static const struct {
    const char *descr;
    enum scalar_kind kind;
} DESCRS[] = {
    { "i1", SCALAR_CHAR }, { "u1", SCALAR_UCHAR }, { "i2", SCALAR_SHORT },  { "u2", SCALAR_USHORT },
    { "i4", SCALAR_INT },  { "u4", SCALAR_UINT },  { "i8", SCALAR_LONG },   { "u8", SCALAR_ULONG },
    { "f2", SCALAR_HALF }, { "f4", SCALAR_FLOAT }, { "f8", SCALAR_DOUBLE }, { "b1", SCALAR_BOOL },
};

struct reader {
    const char *at, *end;
    const char *name;
    struct err *err;
};

static int torn(const struct reader *r, const char *what)
{
    return err_set(r->err, ERR_FileError, "%.200s is no .npy file: %s", r->name, what);
}

static void skip_blanks(struct reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n'))
        r->at++;
}

static bool take(struct reader *r, char c)
{
    skip_blanks(r);
    if (r->at >= r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

static bool take_word(struct reader *r, const char *word)
{
    size_t n = strlen(word);

    skip_blanks(r);
    if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n) != 0)
        return false;
    r->at += n;
    return true;
}

/* 'text' or "text", without escapes: none of the three keys and types has any. */
static int take_text(struct reader *r, char *out, size_t size)
{
    char quote;
    size_t n = 0;

    skip_blanks(r);
    if (r->at >= r->end || (*r->at != '\'' && *r->at != '"'))
        return torn(r, "a text is missing in its header");
    for (quote = *r->at++; r->at < r->end && *r->at != quote; r->at++) {
        if (*r->at == '\\' || n + 1 >= size)
            return torn(r, "a text in its header is none that NumPy writes");
        out[n++] = *r->at;
    }
    if (r->at >= r->end)
        return torn(r, "a text in its header has no end");
    r->at++;
    out[n] = '\0';
    return 0;
}

static int take_number(struct reader *r, int64_t *out)
{
    int digits = 0;

    skip_blanks(r);
    for (*out = 0; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++, digits++)
        if (__builtin_mul_overflow(*out, (int64_t)10, out) ||
            __builtin_add_overflow(*out, (int64_t)(*r->at - '0'), out))
            return torn(r, "a dimension that 64 bits do not hold");
    if (r->at < r->end && *r->at == 'L') /* Python 2 wrote 3L */
        r->at++;
    return digits ? 0 : torn(r, "a dimension is missing in its shape");
}

static int unsupported(const struct reader *r, const char *descr)
{
    const char *what = descr[0] == '>'                      ? "big-endian numbers"
                       : descr[1] == 'O' || descr[0] == 'O' ? "Python objects"
                       : descr[1] == 'c'                    ? "complex numbers"
                       : descr[1] == 'S' || descr[1] == 'U' ? "texts"
                       : descr[1] == 'V'                    ? "raw records"
                       : descr[1] == 'M' || descr[1] == 'm' ? "dates"
                                                            : "numbers of another sort";

    err_set(r->err, ERR_UnsupportedError,
            "%.200s holds %s ('%.20s'): little-endian plain numbers "
            "can be read",
            r->name, what, descr);
    return err_next(r->err, "in Python: np.save(file, array.astype('<f4'))");
}

static int take_descr(struct reader *r, enum scalar_kind *kind)
{
    char descr[40];

    skip_blanks(r);
    if (r->at < r->end && *r->at == '[') {
        err_set(r->err, ERR_UnsupportedError,
                "%.200s holds records with named fields: "
                "plain numbers can be read",
                r->name);
        return err_next(r->err, "in Python: save one field at a time");
    }
    if (take_text(r, descr, sizeof(descr)) < 0)
        return -1;
    for (size_t i = 0; i < COUNT(DESCRS); i++) {
        bool is_byte = DESCRS[i].descr[1] == '1';

        if (strlen(descr) == 3 && strcmp(descr + 1, DESCRS[i].descr) == 0 &&
            (descr[0] == '<' || descr[0] == '=' || (is_byte && strchr("|><", descr[0])))) {
            *kind = DESCRS[i].kind;
            return 0;
        }
    }
    return unsupported(r, descr);
}

static int take_shape(struct reader *r, struct npy *out)
{
    out->rank = 0;
    out->count = 1;
    if (!take(r, '('))
        return torn(r, "its shape is no tuple");
    while (!take(r, ')')) {
        if (out->rank > BUFFER_RANK_MAX) {
            err_set(r->err, ERR_UnsupportedError,
                    "%.200s has more than %d dimensions, the most of a buffer", r->name,
                    BUFFER_RANK_MAX);
            return err_next(r->err, "in Python: array.reshape(-1) has one");
        }
        if (take_number(r, &out->shape[out->rank]) < 0)
            return -1;
        if (__builtin_mul_overflow(out->count, out->shape[out->rank], &out->count))
            return torn(r, "a shape of more numbers than 64 bits count");
        out->rank++;
        if (!take(r, ',')) {
            if (!take(r, ')'))
                return torn(r, "its shape has no end");
            break;
        }
    }
    return 0;
}

enum { HAS_DESCR = 1, HAS_ORDER = 2, HAS_SHAPE = 4, HAS_ALL = 7 };

static int take_entry(struct reader *r, struct npy *out, bool *is_fortran, int *have)
{
    char key[40];

    if (take_text(r, key, sizeof(key)) < 0)
        return -1;
    if (!take(r, ':'))
        return torn(r, "a colon is missing in its header");
    if (strcmp(key, "descr") == 0) {
        *have |= HAS_DESCR;
        return take_descr(r, &out->kind);
    }
    if (strcmp(key, "shape") == 0) {
        *have |= HAS_SHAPE;
        return take_shape(r, out);
    }
    if (strcmp(key, "fortran_order") != 0)
        return torn(r, "its header has a key that NumPy does not write");
    *have |= HAS_ORDER;
    *is_fortran = take_word(r, "True");
    return *is_fortran || take_word(r, "False") ? 0 : torn(r, "fortran_order is no bool");
}

static int take_dictionary(struct reader *r, struct npy *out)
{
    bool is_fortran = false;
    int have = 0;

    if (!take(r, '{'))
        return torn(r, "its header is no dictionary");
    while (!take(r, '}')) {
        if (take_entry(r, out, &is_fortran, &have) < 0)
            return -1;
        if (!take(r, ',')) {
            if (!take(r, '}'))
                return torn(r, "its header has no end");
            break;
        }
    }
    if (have != HAS_ALL)
        return torn(r, "its header lacks descr, fortran_order or shape");
    if (is_fortran && out->rank > 1) {
        err_set(r->err, ERR_UnsupportedError,
                "%.200s is in Fortran order, column by column: C order can be read", r->name);
        return err_next(r->err, "in Python: np.save(file, np.ascontiguousarray(array))");
    }
    return 0;
}

/* Version 1 has 2 bytes of length, versions 2 and 3 have 4. */
static int find_header(struct bytes head, struct reader *r, size_t *data_at)
{
    const unsigned char *p = (const unsigned char *)head.data;
    size_t length, start;

    if (head.size < 10 || memcmp(head.data, MAGIC, sizeof(MAGIC)) != 0)
        return torn(r, "it does not start as one");
    if (p[6] < 1 || p[6] > 3 || p[7] != 0)
        return err_set(r->err, ERR_UnsupportedError,
                       "%.200s has version %d.%d: versions 1.0 to 3.0 can be read", r->name, p[6],
                       p[7]);
    start = p[6] == 1 ? 10 : 12;
    if (head.size < start)
        return torn(r, "it ends in its header");
    length = p[8] | (size_t)p[9] << 8;
    if (p[6] > 1)
        length |= (size_t)p[10] << 16 | (size_t)p[11] << 24;
    if (length > NPY_HEADER_MOST - start || length > head.size - start)
        return torn(r, length > NPY_HEADER_MOST - start ? "its header is too long"
                                                        : "it ends in its header");
    r->at = head.data + start;
    r->end = r->at + length;
    *data_at = start + length;
    return 0;
}

int npy_parse(struct bytes head, uint64_t file_size, const char *name, struct npy *out,
              struct err *err)
{
    struct reader r = { .name = name, .err = err };
    int64_t bytes;

    *out = (struct npy){ .rank = 0 };
    if (find_header(head, &r, &out->data_at) < 0 || take_dictionary(&r, out) < 0)
        return -1;
    skip_blanks(&r);
    if (r.at != r.end)
        return torn(&r, "something stands behind its dictionary");
    if (__builtin_mul_overflow(out->count, (int64_t)scalar_bytes(out->kind), &bytes))
        return torn(&r, "a shape of more bytes than 64 bits count");
    if (file_size - out->data_at == (uint64_t)bytes && file_size >= out->data_at)
        return 0;
    return err_set(err, ERR_FileError,
                   "%.200s: its header speaks of %lld bytes of numbers, the file has %lld", name,
                   (long long)bytes, (long long)(file_size - out->data_at));
}

static int fail(struct err *err, const char *path)
{
    return err_set(err, ERR_FileError, "%.300s: %s", path, strerror(errno));
}

/* All of size bytes from offset, or as many as there are. */
static ssize_t read_at(int fd, void *to, size_t size, size_t offset)
{
    size_t got = 0;

    while (got < size) {
        ssize_t n = pread(fd, (char *)to + got, size - got, (off_t)(offset + got));

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        got += (size_t)n;
    }
    return (ssize_t)got;
}

int npy_open(const char *path, struct npy *out, int *fd, struct err *err)
{
    char head[NPY_HEADER_MOST];
    struct stat st;
    ssize_t n;

    /* Not waiting for the writer of a pipe, which is refused below. */
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*fd < 0) {
        fail(err, path);
        return err_next(err, "a path is relative to the notebook's folder");
    }
    if (fstat(*fd, &st) < 0) {
        fail(err, path);
        goto failed;
    }
    if (!S_ISREG(st.st_mode)) {
        err_set(err, ERR_FileError, "%.300s is no plain file", path);
        goto failed;
    }
    n = read_at(*fd, head, sizeof(head), 0);
    if (n < 0) {
        fail(err, path);
        goto failed;
    }
    if (npy_parse((struct bytes){ head, (size_t)n }, (uint64_t)st.st_size, path, out, err) == 0)
        return 0;
failed:
    close(*fd);
    *fd = -1;
    return -1;
}

int npy_read(int fd, const struct npy *npy, const char *name, void *to, size_t size,
             struct err *err)
{
    ssize_t n = read_at(fd, to, size, npy->data_at);

    if (n < 0)
        return fail(err, name);
    if ((size_t)n < size)
        return err_set(err, ERR_FileError, "%.200s became shorter while it was read", name);
    return 0;
}

size_t npy_header(enum scalar_kind kind, int rank, const int64_t *shape, char *out)
{
    char shapes[100] = "";
    size_t n = 0, length, total;
    const char *descr = "";

    for (size_t i = 0; i < COUNT(DESCRS); i++)
        if (DESCRS[i].kind == kind)
            descr = DESCRS[i].descr;
    for (int d = 0; d < rank; d++)
        n += (size_t)snprintf(shapes + n, sizeof(shapes) - n, d ? ", %lld" : "%lld",
                              (long long)shape[d]);
    memcpy(out, MAGIC, sizeof(MAGIC));
    out[6] = 1;
    out[7] = 0;
    length = (size_t)snprintf(out + 10, 200,
                              "{'descr': '%c%s', 'fortran_order': False, 'shape': (%s%s), }",
                              descr[1] == '1' ? '|' : '<', descr, shapes, rank == 1 ? "," : "");
    total = (10 + length + 1 + 63) / 64 * 64;
    memset(out + 10 + length, ' ', total - 10 - length);
    out[total - 1] = '\n';
    out[8] = (char)((total - 10) & 0xff);
    out[9] = (char)((total - 10) >> 8);
    return total;
}
