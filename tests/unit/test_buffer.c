/* Buffers: memory, declarations and first values; structs and device variables. */
#include "cells/buffer.h"
#include "cells/internal.h"
#include "kernels/child.h"
#include "model/base/philox.h"
#include "tests/unit/cell_harness.h"

#include <fcntl.h>
#include <unistd.h>

static struct buffer *made(struct harness *h, const char *code, const char *name)
{
    struct buffer *b;

    harness_must_run(h, code);
    b = buffer_find(h->session, name);
    assert_non_null(b);
    return b;
}

/* ---- memory ---- */

static void a_buffer_is_a_memfd_that_never_shrinks(void **state)
{
    struct harness *h = *state;
    struct buffer *b = made(h, "%buffer float x[100] = iota", "x");
    float value;

    assert_int_equal(b->size, 400);
    assert_int_equal(pread(b->fd, &value, sizeof(value), 4 * 7), sizeof(value));
    assert_true(value == 7);
    assert_int_equal(fcntl(b->fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    assert_int_equal(fcntl(b->fd, F_GET_SEALS) & F_SEAL_SHRINK, F_SEAL_SHRINK);
    assert_int_equal(ftruncate(b->fd, 0), -1);
}

static void addresses_follow_the_order_of_creation_and_are_never_used_twice(void **state)
{
    struct harness *h = *state;
    uint64_t x, y, again;

    x = made(h, "%buffer float x[1000]", "x")->address;
    y = made(h, "%buffer char y[1]", "y")->address;
    assert_int_equal(x, BUFFER_ADDRESS_BASE);
    assert_int_equal(y % 256, 0);
    assert_true(y >= x + 4000 + BUFFER_RED_ZONE);
    again = made(h, "%buffer float x[10]", "x")->address;
    assert_true(again > y);
    assert_int_equal(freed_count(h->session), 1);
    assert_string_equal(freed_at(h->session, 0)->name, "x");
    assert_int_equal(freed_at(h->session, 0)->address, x);
    assert_int_equal(freed_at(h->session, 0)->size, 4000);
    harness_must_run(h, "%reset data");
    assert_int_equal(buffer_count(h->session), 0);
    assert_int_equal(freed_count(h->session), 3);
    assert_non_null(strstr(freed_at(h->session, 2)->where, "freed by %reset in In[4]"));
    assert_true(made(h, "%buffer float x[10]", "x")->address > again);
}

static void a_bitmap_says_which_bytes_were_written_until_all_were(void **state)
{
    struct harness *h = *state;
    struct buffer *b = made(h, "%buffer float x[100]", "x");

    assert_int_equal(b->defined_offset % (size_t)sysconf(_SC_PAGESIZE), 0);
    assert_true(b->defined_offset >= b->size);
    assert_false(buffer_is_defined(b, 0, 1));
    buffer_define(b, 3, 10);
    assert_true(buffer_is_defined(b, 3, 10));
    assert_false(buffer_is_defined(b, 2, 2));
    assert_false(buffer_is_defined(b, 3, 11));
    buffer_define(b, 0, 3);
    buffer_define(b, 13, 386);
    buffer_settle(b);
    assert_non_null(buffer_defined(b));
    buffer_define(b, 399, 1);
    buffer_settle(b);
    assert_null(buffer_defined(b));
    assert_true(buffer_is_defined(b, 0, 400));
    assert_null(buffer_defined(made(h, "%buffer float y[10] = zeros", "y")));
}

static void what_does_not_fit_is_refused_before_anything_is_lost(void **state)
{
    static const struct harness_failure rows[] = {
        { "%buffer float x[1000G]", "ResourceError", "takes 4000 GB" },
        { "%buffer double x[4611686018427387904]", "ResourceError", "64 bits" },
        { "%buffer char x[4294967296][4294967296][4294967296]", "ResourceError", "64 bits" },
        { "%buffer float x[0]", "ValueError", "1 is the least" },
        { "%buffer float x[-3]", "ValueError", "1 is the least" },
        { "%buffer float x[2][2][2][2]", "ValueError", "at most 3 dimensions" },
        { "%buffer float x[2.5]", "UsageError", "an integer is needed" },
        { "%buffer char x[3] = (1, 300, 2)", "ValueError", "x[1]: 300 does not fit in char" },
    };
    struct harness *h = *state;

    harness_must_run(h, "%buffer float x[3] = (1, 2, 3)");
    harness_fails(h, rows, COUNT(rows));
    assert_prints(h, "%print x", "[1, 2, 3]\n");
    assert_true(buffers_limit() > 0);
}

/* ---- declarations ---- */

static void types_have_the_sizes_and_alignments_of_cuda(void **state)
{
    static const struct {
        const char *name;
        size_t bytes, align;
    } rows[] = {
        { "char", 1, 1 },
        { "uchar", 1, 1 },
        { "short", 2, 2 },
        { "ushort", 2, 2 },
        { "int", 4, 4 },
        { "uint", 4, 4 },
        { "long", 8, 8 },
        { "ulong", 8, 8 },
        { "half", 2, 2 },
        { "bf16", 2, 2 },
        { "float", 4, 4 },
        { "double", 8, 8 },
        { "bool", 1, 1 },
        { "char2", 2, 2 },
        { "char3", 3, 1 },
        { "char4", 4, 4 },
        { "short3", 6, 2 },
        { "short4", 8, 8 },
        { "int2", 8, 8 },
        { "int3", 12, 4 },
        { "uint4", 16, 16 },
        { "long2", 16, 16 },
        { "long3", 24, 8 },
        { "ulong4", 32, 16 },
        { "longlong2", 16, 16 },
        { "half2", 4, 4 },
        { "bf162", 4, 4 },
        { "float1", 4, 4 },
        { "float3", 12, 4 },
        { "float4", 16, 16 },
        { "double2", 16, 16 },
        { "double3", 24, 8 },
        { "double4", 32, 16 },
        { "double4_32a", 32, 32 },
        { "unsigned long long", 8, 8 },
        { "__nv_bfloat16", 2, 2 },
        { "uint8_t", 1, 1 },
    };
    struct harness *h = *state;

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct element_type type = { .name = NULL };
        struct err err = { 0 };

        assert_int_equal(element_type_find(h->session, rows[i].name, &type, &err), 0);
        if (type.bytes != rows[i].bytes || type.align != rows[i].align)
            print_message("  %s\n", rows[i].name);
        assert_int_equal(type.bytes, rows[i].bytes);
        assert_int_equal(type.align, rows[i].align);
    }
}

static void both_orders_of_type_and_name_are_read(void **state)
{
    static const struct harness_row rows[] = {
        { "%buffer float x[3] = iota\n%print x", "[0, 1, 2]\n" },
        { "%buffer x float[3] = iota\n%print x", "[0, 1, 2]\n" },
        { "%buffer unsigned int x[2] = ones\n%print x", "[1, 1]\n" },
        { "%buffer x unsigned char[2] = {255}\n%print x", "[255, 255]\n" },
        { "n = 2\n%buffer int x[n][n+1] = iota\n%print x", "[[0, 1, 2], [3, 4, 5]]\n" },
        { "%buffer int x[2, 3] = iota\n%print x[1][2]", "5\n" },
        { "%buffer int x[1K] = iota\n%print count(x), x[1023]", "1024 1023\n" },
        { "%buffer int hits = 0\n%print hits, hits[0]", "[0] 0\n" },
        { "%buffer int x[] = (4, 5, 6)\n%print x", "[4, 5, 6]\n" },
        { "%buffer int x[][2] = ((1,2), (3,4), (5,6))\n%print x", "[[1, 2], [3, 4], [5, 6]]\n" },
        { "%buffer int x[2][2] = {1, 2, 3, 4}\n%print x", "[[1, 2], [3, 4]]\n" },
        { "%buffer char s[] = \"hi\"\n%print s", "[104, 105, 0]\n" },
        { "%buffer const float x[1] = 0.1\n%print x", "[0.1]\n" },
        { "%buffer float x[1e3] = iota   // a comment\n%print count(x)", "1000\n" },
        { "%buffer bool b[3] = {i != 1}\n%print b[0], b[1]", "true false\n" },
        { "%buffer float x[2] = zeros;\n%print x", "[0, 0]\n" },
    };

    harness_prints(*state, rows, COUNT(rows));
}

static void a_wrong_declaration_says_what_is_wrong(void **state)
{
    static const struct harness_failure rows[] = {
        { "%buffer", "UsageError", "%buffer needs TYPE NAME[n] or NAME TYPE[n], then" },
        { "%buffer float", "SyntaxError", "its own meaning" },
        { "%buffer x", "UsageError", "needs a type" },
        { "%buffer x = iota", "UsageError", "needs a type" },
        { "%buffer flaot x[3]", "NameError", "float is the nearest" },
        { "%buffer x flaot[3]", "NameError", "float is the nearest" },
        { "%buffer float *x", "SyntaxError", "not a pointer" },
        { "%buffer float x[3", "SyntaxError", "" },
        { "%buffer float x[3] y", "SyntaxError", "behind the dimensions" },
        { "%buffer float x[3] =", "SyntaxError", "no value" },
        { "%buffer float x[3] = 1 2", "SyntaxError", "where the line should end" },
        { "%buffer float x[]", "UsageError", "does not say how many" },
        { "%buffer float iota[3]", "SyntaxError", "its own meaning" },
        { "%buffer float x[3] = (1, 2)", "UsageError", "3 numbers, and 2 are given" },
        { "%buffer float x[3] = nothing_here", "NameError", "nothing_here" },
        { "%buffer int x[3] = \"abc\"", "UsageError", "a text fills chars" },
        { "%buffer char x[2] = \"abc\"", "ValueError", "2 chars, the text 3" },
        { "%buffer void x[2]", "NameError", "void" },
    };

    harness_fails(*state, rows, COUNT(rows));
}

/* ---- first values ---- */

static void numbers_are_stored_exactly_or_not_at_all(void **state)
{
    static const struct harness_row good[] = {
        { "%buffer char x[2] = (-128, 127)\n%print x", "[-128, 127]\n" },
        { "%buffer ulong x[1] = (9223372036854775807)\n%print x", "[9223372036854775807]\n" },
        { "%buffer float x[1] = (16777217)\n%print x", "[16777216]\n" },
        { "%buffer half x[4] = (65504, 2049, 1e-8, 0.1)\n%print x", "[65504, 2048, 0, 0.1]\n" },
        { "%buffer half x[2] = (65519.99, 6e-8)\n%print x", "[65504, 6e-08]\n" },
        { "%buffer bf16 x[3] = (1.00390625, 1.01171875, 3e38)\n%print x", "[1, 1.016, 3e+38]\n" },
        { "%buffer int x[2] = (4.0, -7.0)\n%print x", "[4, -7]\n" },
        { "%buffer float x[2] = (inf, -inf)\n%print x", "[inf, -inf]\n" },
        { "%buffer half x[1] = nan\n%print x", "[nan]\n" },
        { "%buffer bool x[3] = (0, 0.5, -3)\n%print x", "[0, 1, 1]\n" },
    };
    static const struct harness_failure bad[] = {
        { "%buffer char x[400] = i", "ValueError", "x[128]: 128 does not fit in char (-128 to" },
        { "%buffer uchar x[2] = (1, -1)", "ValueError",
          "x[1]: -1 does not fit in uchar (0 to 255)" },
        { "%buffer short x[1] = (32768)", "ValueError", "(-32768 to 32767)" },
        { "%buffer uint x[1] = (4294967296)", "ValueError", "(0 to 4294967295)" },
        { "%buffer ulong x[1] = (-1)", "ValueError", "(0 to 2^64 - 1)" },
        { "%buffer int x[3] = {i / 2.0}", "ValueError", "x[1]: 0.5 is no integer" },
        { "%buffer int x[1] = nan", "ValueError", "nan is no integer" },
        { "%buffer half x[1] = 65520", "ValueError", "65520 does not fit in half" },
        { "%buffer float x[1] = 1e39", "ValueError", "1e+39 does not fit in float" },
        { "%buffer bf16 x[1] = 3.4e38", "ValueError", "does not fit in bf16" },
        { "%buffer int x[2][3] = {i == 1 ? 1 << 40 : 0}", "ValueError", "x[1][0]: 1099511627776" },
    };

    harness_prints(*state, good, COUNT(good));
    harness_fails(*state, bad, COUNT(bad));
}

static void expressions_run_over_the_indexes(void **state)
{
    static const struct harness_row rows[] = {
        { "%buffer int x[4] = {2*i + 1}\n%print x", "[1, 3, 5, 7]\n" },
        { "%buffer int x[2][3] = {10*i + j}\n%print x", "[[0, 1, 2], [10, 11, 12]]\n" },
        { "%buffer int x[2][2][2] = {100*i + 10*j + k}\n%print x[1]",
          "[[100, 101], [110, 111]]\n" },
        { "%buffer int x[4] = {i > 0 ? 12 / i : -1}\n%print x", "[-1, 12, 6, 4]\n" },
        { "%buffer bool x[4] = {i > 0 && 12 / i > 5}\n%print x", "[0, 1, 1, 0]\n" },
        { "i = 50\n%buffer int x[3] = {i}\n%print x", "[0, 1, 2]\n" },
        { "n = 5\n%buffer int y[3] = {n - i}\n%print y", "[5, 4, 3]\n" },
        { "%buffer int z[3] = {x[2 - i] + y}\n%print z", "[7, 5, 3]\n" },
        { "%buffer int z[3] = {z + 1}\n%print z", "[8, 6, 4]\n" },
        { "%buffer float f[2] = {sum(y) / 2.0 + i}\n%print f", "[6, 7]\n" },
        { "%buffer int z[3] = {max(i, 1) - min(i, 1) + abs(i - 2)}\n%print z", "[3, 1, 1]\n" },
        { "%buffer int z[3] = {int(1.5 * i)}\n%print z", "[0, 1, 3]\n" },
        { "%buffer int z[3] = {~i & 7}\n%print z", "[7, 6, 5]\n" },
        { "%buffer double d[3] = {sqrt(i)}\n%print d[2] == sqrt(2)", "true\n" },
        { "%buffer double d[3] = {cos(i)}\n%print d[0], round(d[1] * 1e6)", "1 540302\n" },
        { "%buffer int m[3][3] = {i == j}\n%print m[1], m[1..2][0..1]",
          "[0, 1, 0] [[0, 1], [0, 0]]\n" },
        { "%buffer float4 v[3] = {(i, 0, 2*i, 1)}\n%print v[2], v[1].z", "(2, 0, 4, 1) 2\n" },
        { "%buffer int2 v[2] = iota\n%print v", "[(0, 1), (2, 3)]\n" },
        { "%buffer int2 v[2] = ((7, 8), (9, 10))\n%print v", "[(7, 8), (9, 10)]\n" },
        { "%buffer float w = v\n", "" },
    };
    static const struct harness_failure bad[] = {
        { "%buffer int x[3] = {10 / i}", "ValueError", "divides by zero at i=0" },
        { "%buffer int x[3] = {j}", "NameError", "no such dimension" },
        { "%buffer long x[3] = {9223372036854775807 + i}", "ValueError", "overflows" },
        { "%buffer int x[3] = {1 << (70 * i)}", "ValueError", "at i=1" },
        { "%buffer int q[2] = zeros\n%buffer int x[3] = {q[i]}", "ValueError",
          "the index of q goes from 0 to 1" },
        { "%buffer int q[2] = zeros\n%buffer int x[3] = {q}", "UsageError", "equal lengths" },
        { "%buffer int x[3] = {frobnicate(i)}", "NameError", "no function of one element" },
        { "%buffer float4 v[3] = {(i, 0)}", "UsageError", "a float4 has 4 numbers" },
        { "%buffer int u[3]\n%buffer int x[3] = {u + 1}", "ValueError", "u[0] was never written" },
    };

    harness_prints(*state, rows, COUNT(rows) - 1);
    harness_fails(*state, bad, COUNT(bad));
}

static uint64_t hash_of(const struct buffer *b)
{
    const unsigned char *p = b->data;
    uint64_t hash = 0xcbf29ce484222325;

    for (size_t i = 0; i < b->size; i++)
        hash = (hash ^ p[i]) * 0x100000001b3;
    return hash;
}

/* FNV-1a of all bytes: they must not depend on the machine, its libm or the order of drawing. */
static void random_numbers_are_the_same_bytes_on_every_machine(void **state)
{
    static const struct {
        const char *code;
        uint64_t hash;
    } rows[] = {
        { "%buffer float x[4099] = random(1)", 0x5a5505b9a0dfb6cc },
        { "%buffer double x[4099] = random(1)", 0xb958fa00f29e1e47 },
        { "%buffer float x[4099] = normal(7)", 0xfca6310393eee3db },
        { "%buffer double x[4099] = normal(7)", 0x10061af1261d8fa8 },
        { "%buffer half x[4099] = normal(7)", 0x52b17f89498d1ced },
        { "%buffer int x[4099] = random(1)", 0x2ddf01a7da2915af },
        { "%buffer uchar x[4099] = uniform(3, 10, 20)", 0xe9b24d26efd0d6da },
        { "%buffer float4 x[1021] = uniform(3, -1, 1)", 0x44cf697b57abadb1 },
        { "%buffer double x[4099] = {exp(-0.001*i) + sin(i) + log(i + 1) + tanh(0.01*i)}",
          0xb9129705c1b01f92 },
    };
    struct harness *h = *state;
    const struct buffer *b;
    bool is_right = true;

    for (size_t i = 0; i < COUNT(rows); i++) {
        uint64_t hash = hash_of(made(h, rows[i].code, "x"));

        if (hash != rows[i].hash)
            print_message("  %s: 0x%016llx\n", rows[i].code, (unsigned long long)hash);
        is_right &= hash == rows[i].hash;
    }
    assert_true(is_right);
    /* And they are Philox's: the element's number is the counter, the seed the key. */
    b = made(h, "%buffer float x[3] = random(9)", "x");
    for (uint64_t i = 0; i < 3; i++)
        assert_true(((const float *)b->data)[i] ==
                    (float)(philox_at(9, i, 0).word[0] >> 8) * 0x1p-24f);
}

static void random_numbers_are_what_their_names_say(void **state)
{
    static const struct harness_row rows[] = {
        { "%buffer float x[64K] = random(5)\n%print min(x) >= 0, max(x) < 1, "
          "round(100 * mean(x)), sum({x[i] * 16777216 == floor(x[i] * 16777216)})",
          "true true 50 65536\n" },
        { "%buffer float x[64K] = normal(5)\n%print round(10 * mean(x)), "
          "round(100 * mean({x[i] * x[i]}))",
          "0 100\n" },
        { "%buffer int x[64K] = uniform(5, -3, 3)\n%print min(x), max(x), round(mean(x))",
          "-3 3 0\n" },
        { "%buffer float x[64K] = uniform(5, 2, 4)\n%print min(x) >= 2, max(x) < 4, "
          "round(10 * mean(x))",
          "true true 30\n" },
        { "%buffer uchar x[64K] = random(5)\n%print min(x), max(x)", "0 255\n" },
        { "%buffer float a[9] = random(5)\n%buffer float2 v[9] = random(5)\n%print same(a, {v.x})",
          "true\n" },
    };
    static const struct harness_failure bad[] = {
        { "%buffer float x[3] = uniform(1)", "UsageError", "1 arguments" },
        { "%buffer float x[3] = uniform(1, 5, 2)", "ValueError", "lower limit comes first" },
        { "%buffer float x[3] = random(-1)", "ValueError", "a seed is" },
        { "%buffer float x[3] = random(0.5)", "ValueError", "a seed is" },
        { "%buffer uchar x[3] = uniform(1, 0, 300)", "ValueError", "does not fit in uchar" },
    };

    harness_prints(*state, rows, COUNT(rows));
    harness_fails(*state, bad, COUNT(bad));
}

static void copies_keep_type_and_what_was_never_written(void **state)
{
    static const struct harness_row rows[] = {
        { "%buffer half x[3] = (1, 2, 3)\n%buffer y = x\n%print y", "[1, 2, 3]\n" },
        { "%buffer double y[3] = x\n%print y", "[1, 2, 3]\n" },
        { "%buffer int A[2][2] = iota\n%buffer r = A[1]\n%print r", "[2, 3]\n" },
        { "%buffer float u[2]\n%buffer c = u\n%print c[1]", "never written\n" },
        { "%buffer y = y\n%print y", "[1, 2, 3]\n" },
    };
    static const struct harness_failure bad[] = {
        { "%buffer double y[4] = x", "UsageError", "a copy has as many" },
        { "%buffer char y[2] = A[1]\n%buffer int z[2] = (300, 1)\n%buffer char y[2] = z",
          "ValueError", "300 does not fit in char" },
        { "y = x", "UsageError", "a variable" },
        { "n = x", "UsageError", "a variable cannot hold it" },
    };

    harness_prints(*state, rows, COUNT(rows));
    harness_fails(*state, bad, COUNT(bad));
}

/* ---- structs and device variables ---- */

static const char DEFINITIONS[] =
    "constexpr int N = 3;\n"
    "struct particle {\n"
    "    float x, y; // place\n"
    "    float3 v;\n"
    "    int id[2];\n"
    "    double mass = 1.0;\n"
    "    __device__ float len() const { return x * y; }\n"
    "};\n"
    "struct __align__(16) node { char c; short s[N]; node *next; particle p; };\n"
    "typedef struct { unsigned char r, g, b; } rgb;\n"
    "using real = float;\n"
    "enum class color : unsigned char { red, green };\n"
    "struct bits { int a : 3; };\n"
    "struct derived : rgb { int a; };\n"
    "union both { int i; float f; unsigned char bytes[4]; };\n"
    "typedef union { double d; unsigned short h[5]; } wide;\n"
    "struct tagged { char kind; union value { int i; double d; } v; both last; };\n"
    "__constant__ float F[3] = {1, 2, 1};\n"
    "__device__ int counter = 7, grid_[N][2*N];\n"
    "__device__ float G[] = {1.5f, -2};\n"
    "__device__ constexpr int two(int n) { return 2 * n; }\n"
    "__device__ constexpr int looped(int n) { int s = 0; while (n--) s += 2; return s; }\n"
    "__device__ int K = two(3), L = looped(3);\n";

static void structs_are_laid_out_as_nvcc_does(void **state)
{
    static const struct {
        const char *name;
        size_t bytes, align;
    } types[] = {
        /* sizeof and alignof of the same definitions by nvcc 13.0 */
        { "particle", 40, 8 },
        { "node", 64, 16 },
        { "rgb", 3, 1 },
        { "real", 4, 4 },
        { "color", 1, 1 },
        { "both", 4, 4 },
        { "wide", 16, 8 },
        { "tagged", 24, 8 },
        { "curandState", 48, 8 },
        { "curandStatePhilox4_32_10_t", 64, 16 },
        { "curandStateMRG32k3a_t", 48, 8 },
        { "cuDoubleComplex", 16, 16 },
        { "clock_t", 8, 8 },
    };
    static const struct harness_row rows[] = {
        { "%buffer particle p[3] = zeros\n%print p[1]",
          "{x: 0, y: 0, v: (0, 0, 0), id: [0, 0], mass: 0}\n" },
        { "%buffer rgb c[2] = {(i, 2*i, 255)}\n%print c, sum(c.b)",
          "[{r: 0, g: 0, b: 255}, {r: 1, g: 2, b: 255}] 510\n" },
        { "%buffer particle p[2] = {(i, 2, 3, 4, 5, 6, 7*i, 0.5)}\n%print p[1].v.y, p[1].id[1]",
          "4 7\n" },
        { "%buffer m = p.mass\n%print m", "[0.5, 0.5]\n" },
        { "%buffer q = p\n%print same(p, q)", "true\n" },
    };
    static const struct harness_failure bad[] = {
        { "%buffer bits b[1]", "UnsupportedError", "a bit-field" },
        { "%buffer derived b[1]", "UnsupportedError", "with a base" },
        { "%print p[0].velo", "NameError", "no member velo" },
        { "%print p.x", "UsageError", "many elements" },
        { "%print p[0] + 1", "UsageError", "not a number" },
        { "%buffer particle z[2] = {i}", "UsageError", "a particle has 8 numbers" },
    };
    struct harness *h = *state;

    harness_must_run(h, DEFINITIONS);
    for (size_t i = 0; i < COUNT(types); i++) {
        char code[80];
        const struct buffer *b;

        snprintf(code, sizeof(code), "%%buffer %s t[2]", types[i].name);
        b = made(h, code, "t");
        if (b->type.bytes != types[i].bytes || b->type.align != types[i].align)
            print_message("  %s\n", types[i].name);
        assert_int_equal(b->type.bytes, types[i].bytes);
        assert_int_equal(b->type.align, types[i].align);
    }
    harness_prints(h, rows, COUNT(rows));
    harness_fails(h, bad, COUNT(bad));
}

static void device_variables_are_buffers_of_their_declaration(void **state)
{
    static const struct harness_row rows[] = {
        { "%print F, F[1], counter, G, grid_[2]", "[1, 2, 1] 2 7 [1.5, -2] [0, 0, 0, 0, 0, 0]\n" },
        { "%check F == (1, 2, 1)\n%check counter == 7",
          "ok    F == (1, 2, 1)\nok    counter == 7\n" },
        { "%buffer F = (3, 4, 5)\n%print F", "[3, 4, 5]\n" },
        { "%buffer counter = 12\n%print counter", "12\n" },
        { "%buffer grid_ = {10*i + j}\n%print grid_[1]", "[10, 11, 12, 13, 14, 15]\n" },
        { "%reset data\n%print F, K", "[1, 2, 1] 6\n" },
    };
    static const struct harness_failure bad[] = {
        { "%buffer F = (1, 2)", "UsageError", "3 numbers, and 2 are given" },
        { "%print L", "UnsupportedError", "no plain number" },
    };
    struct harness *h = *state;

    harness_must_run(h, DEFINITIONS);
    harness_prints(h, rows, COUNT(rows));
    harness_fails(h, bad, COUNT(bad));
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, harness_set_up, harness_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_buffer_is_a_memfd_that_never_shrinks),
        TEST(addresses_follow_the_order_of_creation_and_are_never_used_twice),
        TEST(a_bitmap_says_which_bytes_were_written_until_all_were),
        TEST(what_does_not_fit_is_refused_before_anything_is_lost),
        TEST(types_have_the_sizes_and_alignments_of_cuda),
        TEST(both_orders_of_type_and_name_are_read),
        TEST(a_wrong_declaration_says_what_is_wrong),
        TEST(numbers_are_stored_exactly_or_not_at_all),
        TEST(expressions_run_over_the_indexes),
        TEST(random_numbers_are_the_same_bytes_on_every_machine),
        TEST(random_numbers_are_what_their_names_say),
        TEST(copies_keep_type_and_what_was_never_written),
        TEST(structs_are_laid_out_as_nvcc_does),
        TEST(device_variables_are_buffers_of_their_declaration),
    };

    /* Children are this program again. */
    if (argc > 1 && strcmp(argv[1], "child") == 0)
        return child_main(argc - 1, argv + 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
