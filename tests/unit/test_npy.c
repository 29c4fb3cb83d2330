/* .npy files: what NumPy writes is read, everything else is refused by name. */
#include "cells/npy.h"
#include "kernels/child.h"
#include "tests/unit/cell_harness.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file of version 1 with this dictionary and `bytes` zeros behind it. */
static size_t make(char *out, const char *dictionary, size_t bytes)
{
    size_t n = strlen(dictionary);

    memcpy(out, "\x93NUMPY\x01\x00", 8);
    out[8] = (char)(n & 0xff);
    out[9] = (char)(n >> 8);
    memcpy(out + 10, dictionary, n);
    memset(out + 10 + n, 0, bytes);
    return 10 + n + bytes;
}

static void what_numpy_writes_is_read(void **state)
{
    static const struct {
        const char *dictionary;
        size_t bytes;
        enum scalar_kind kind;
        int rank;
        int64_t shape[3];
    } rows[] = {
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }   \n",
          12,
          SCALAR_FLOAT,
          1,
          { 3 } },
        { "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }\n",
          48,
          SCALAR_DOUBLE,
          2,
          { 2, 3 } },
        { "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 2, 2)}",
          8,
          SCALAR_UCHAR,
          3,
          { 2, 2, 2 } },
        { "{'descr': '|b1', 'fortran_order': False, 'shape': ()}", 1, SCALAR_BOOL, 0, { 0 } },
        { "{\"shape\":(4,),\"fortran_order\":True,\"descr\":\"<i2\"}", 8, SCALAR_SHORT, 1, { 4 } },
        { "{'descr': '<f2', 'fortran_order': False, 'shape': (4L,), }", 8, SCALAR_HALF, 1, { 4 } },
        { "{'descr': '<u8', 'fortran_order': False, 'shape': (0,), }", 0, SCALAR_ULONG, 1, { 0 } },
    };
    char file[512];

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        size_t n = make(file, rows[i].dictionary, rows[i].bytes);
        struct err err = { 0 };
        struct npy npy;

        if (npy_parse((struct bytes){ file, n }, n, "a.npy", &npy, &err) < 0)
            print_message("  %s\n  %s\n", rows[i].dictionary, err.text);
        assert_int_equal(err.name, ERR_none);
        assert_int_equal(npy.kind, rows[i].kind);
        assert_int_equal(npy.rank, rows[i].rank);
        for (int d = 0; d < npy.rank; d++)
            assert_int_equal(npy.shape[d], rows[i].shape[d]);
        assert_int_equal(npy.data_at, n - rows[i].bytes);
    }
}

static void everything_else_is_refused_by_name(void **state)
{
    static const struct {
        const char *dictionary;
        size_t bytes;
        enum err_name name;
        const char *part;
    } rows[] = {
        { "{'descr': '>f4', 'fortran_order': False, 'shape': (3,)}", 12, ERR_UnsupportedError,
          "big-endian" },
        { "{'descr': '|O', 'fortran_order': False, 'shape': (3,)}", 24, ERR_UnsupportedError,
          "Python objects" },
        { "{'descr': '<c8', 'fortran_order': False, 'shape': (3,)}", 24, ERR_UnsupportedError,
          "complex" },
        { "{'descr': '<U5', 'fortran_order': False, 'shape': (3,)}", 60, ERR_UnsupportedError,
          "texts" },
        { "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3,)}", 12,
          ERR_UnsupportedError, "records" },
        { "{'descr': '<f4', 'fortran_order': True, 'shape': (3, 2)}", 24, ERR_UnsupportedError,
          "Fortran order" },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1)}", 4, ERR_UnsupportedError,
          "more than 3 dimensions" },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}", 11, ERR_FileError,
          "12 bytes of numbers, the file has 11" },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}", 13, ERR_FileError, "has 13" },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807,)}", 4,
          ERR_FileError, "more bytes than 64 bits" },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 3)}", 4,
          ERR_FileError, "more numbers than 64 bits" },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", 4,
          ERR_FileError, "64 bits do not hold" },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", 4, ERR_FileError,
          "dimension is missing" },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': 3}", 12, ERR_FileError, "no tuple" },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (3,", 12, ERR_FileError, "" },
        { "{'descr': '<f4', 'fortran_order': 0, 'shape': (3,)}", 12, ERR_FileError, "no bool" },
        { "{'descr': '<f4', 'shape': (3,)}", 12, ERR_FileError, "lacks" },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), 'x': 1}", 12, ERR_FileError,
          "a key" },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (3,)} + __import__('os')", 12,
          ERR_FileError, "behind its dictionary" },
        { "{'descr': '<f4\\x00', 'fortran_order': False, 'shape': (3,)}", 12, ERR_FileError, "" },
        { "{'descr': '<f4", 12, ERR_FileError, "no end" },
        { "", 0, ERR_FileError, "no dictionary" },
        { "{}", 0, ERR_FileError, "lacks" },
    };
    char file[512];

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        size_t n = make(file, rows[i].dictionary, rows[i].bytes);
        struct err err = { 0 };
        struct npy npy;

        assert_int_equal(npy_parse((struct bytes){ file, n }, n, "a.npy", &npy, &err), -1);
        if (err.name != rows[i].name || !strstr(err.text, rows[i].part))
            print_message("  %s\n  %s\n", rows[i].dictionary, err.text);
        assert_int_equal(err.name, rows[i].name);
        assert_non_null(strstr(err.text, rows[i].part));
        err_done(&err);
    }
}

/* Cut anywhere, or with any one byte changed: an error or a right answer, never more. */
static void a_torn_or_changed_file_does_no_harm(void **state)
{
    char file[256];
    size_t n = make(file, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", 24);

    (void)state;
    for (size_t cut = 0; cut < n; cut++) {
        char *copy = malloc(cut ? cut : 1);
        struct err err = { 0 };
        struct npy npy;

        assert_non_null(copy);
        memcpy(copy, file, cut);
        assert_int_equal(npy_parse((struct bytes){ copy, cut }, cut, "a.npy", &npy, &err), -1);
        err_done(&err);
        free(copy);
    }
    for (size_t at = 0; at < n - 24; at++)
        for (int byte = 0; byte < 256; byte++) {
            char old = file[at];
            struct err err = { 0 };
            struct npy npy;

            file[at] = (char)byte;
            if (npy_parse((struct bytes){ file, n }, n, "a.npy", &npy, &err) == 0)
                assert_int_equal(npy.count * (int64_t)scalar_bytes(npy.kind), n - npy.data_at);
            err_done(&err);
            file[at] = old;
        }
}

static void what_is_saved_is_read_again(void **state)
{
    struct harness *h = *state;
    char folder[] = "/tmp/warpbook-npy-XXXXXX", code[600], old[4096];

    assert_non_null(getcwd(old, sizeof(old)));
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    snprintf(code, sizeof(code),
             "%%buffer float x[5] = {i / 4.0}\n%%save x.npy\n%%buffer y = x.npy\n"
             "%%check same(x, y)\n%%buffer int A[2][3] = iota\n%%save A deep.npy\n"
             "%%buffer int B[2][3] = deep.npy\n%%check B == A\n%%buffer float4 v[3] = iota\n"
             "%%save v.npy\n%%buffer float4 w[3] = v.npy\n%%check v == w\n"
             "%%buffer bf16 b[3] = iota\n%%save b.npy\n%%buffer f = b.npy\n%%check f == {i}");
    assert_int_equal(harness_run(h, code), 0);
    assert_fails(h, "%buffer double x[5] = x.npy", "ValueError", "x.npy holds float[5]");
    assert_fails(h, "%buffer float x[6] = x.npy", "ValueError", "x is float[6]");
    assert_fails(h, "%buffer z = missing.npy", "FileError", "missing.npy");
    assert_int_equal(mkfifo("pipe.npy", 0600), 0);
    assert_fails(h, "%buffer z = pipe.npy", "FileError", "no plain file");
    assert_fails(h, "%buffer float u[3]\n%save u.npy", "ValueError",
                 "u[0] was never written (3 of 3");
    assert_int_equal(access("u.npy", F_OK), -1);
    assert_fails(h, "%save x", "UsageError", "ends in .npy");
    assert_fails(h, "%save q.npy", "NameError", "q");
    for (const char *const *p =
             (const char *const[]){ "x.npy", "deep.npy", "v.npy", "b.npy", "pipe.npy", NULL };
         *p; p++)
        assert_int_equal(unlink(*p), 0);
    assert_int_equal(chdir(old), 0);
    assert_int_equal(rmdir(folder), 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_numpy_writes_is_read),
        cmocka_unit_test(everything_else_is_refused_by_name),
        cmocka_unit_test(a_torn_or_changed_file_does_no_harm),
        cmocka_unit_test_setup_teardown(what_is_saved_is_read_again, harness_set_up,
                                        harness_tear_down),
    };

    /* Children are this program again. */
    if (argc > 1 && strcmp(argv[1], "child") == 0)
        return child_main(argc - 1, argv + 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
