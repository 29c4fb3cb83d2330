/* Buffers in use: elements in expressions and checks, and what comes out through the magics. */
#include "kernels/child.h"
#include "tests/unit/cell_harness.h"

/* ---- expressions and checks ---- */

static const char DATA[] = "%buffer float x[1K] = iota\n"
                           "%buffer float y[1K] = {i < 1000 ? 2*i + 1 : 0}\n"
                           "%buffer int ref[1K] = {2*i + 1}\n"
                           "%buffer float u[1K]\n"
                           "%buffer float f[3] = (0.1, 0.2, 0.3)\n"
                           "%buffer float A[4][4] = {4*i + j}\n"
                           "%buffer float4 v[8] = {(i, 0, 0, 1)}\n"
                           "%buffer float4 w[8] = {(i, 0, i == 5, 1)}\n"
                           "%buffer float n[4] = (1, nan, 3, 4)\n"
                           "%buffer ulong big[2] = random(3)\n";

static void elements_and_functions_are_values(void **state)
{
    static const struct harness_row rows[] = {
        { "%print x[3], x[0..3], A[2][1], A[3], A[1..2][2..3]",
          "3 [0, 1, 2, 3] 9 [12, 13, 14, 15] [[6, 7], [10, 11]]\n" },
        { "%print (x + 16)[2], u[7], u[0..1]",
          "18 never written [never written, never written]\n" },
        { "%print sum(x), mean(x), min(x), max(x), count(x)", "523776 511.5 0 1023 1024\n" },
        { "%print sum(ref), max(A[1]), min({x[i] - 5}), sum(2*x + 1)", "1048576 7 -5 1048576\n" },
        { "%print maxerr(x, {i + 0.5}), close(x, {i + 0.001}, 0, 0.01), same(x, {i})",
          "0.5 true true\n" },
        { "%print f, f[1], max(f), big[0]", "[0.1, 0.2, 0.3] 0.2 0.3 2155051375293123959\n" },
        { "%print v[2].w, sum(v.x), max(w.z)", "1 28 1\n" },
        { "%buffer float t[1M] = {0.1}\n%print mean(t) == t[0]", "true\n" },
        { "k = 5\n%print x[k], x[k..k+1]", "5 [5, 6]\n" },
        { "%buffer int i1[3] = iota\n%print sum(i1 > 0 ? i1 : 7)", "10\n" },
    };
    static const struct harness_failure bad[] = {
        { "%print x[1024]", "ValueError", "the index goes from 0 to 1023" },
        { "%print x[-1]", "ValueError", "the index goes from 0 to 1023" },
        { "%print A[2][4]", "ValueError", "A[2][4]: the index goes from 0 to 3" },
        { "%print A[0][0][0]", "UsageError", "no more dimensions" },
        { "%print x + 2000", "ValueError", "points outside" },
        { "%print (x + 16)[1008]", "ValueError", "0 to 1007" },
        { "%print x * 2", "UsageError", "x is a buffer" },
        { "%print u[3] + 1", "ValueError", "was never written" },
        { "%print sum(u)", "ValueError", "u[0] was never written" },
        { "%print sum(v)", "UsageError", "elements of type float4" },
        { "%print maxerr(x, f)", "UsageError", "equal lengths" },
        { "%print min(x, 3)", "UsageError", "x is a buffer" },
        { "%print xx[3]", "NameError", "xx" },
    };
    struct harness *h = *state;

    harness_must_run(h, DATA);
    harness_prints(h, rows, COUNT(rows));
    harness_fails(h, bad, COUNT(bad) - 2);
    harness_fails(h, bad + COUNT(bad) - 1, 1);
}

static void a_failing_check_names_the_first_element_that_differs(void **state)
{
    static const struct harness_failure bad[] = {
        { "%check y == ref", "CheckFailed",
          "y[1000]: got 0, expected 2001; 24 of 1024 differ, first 1000" },
        { "%check u == ref", "CheckFailed",
          "u[0]: got never written, expected 1; 1024 of 1024 differ, first 0" },
        { "%check u[1000] == 2001", "CheckFailed", "got never written, expected 2001" },
        { "%check u[1000] != 2001", "CheckFailed", "got never written" },
        { "%check close(y, ref, 1e-5, 1e-6)", "CheckFailed",
          "y[1000]: got 0, expected 2001; 24 of 1024 differ, first 1000, largest difference" },
        { "%check y == {2*i + 1} label=\"doubled\"", "CheckFailed",
          "doubled: y[1000]: got 0, exp" },
        { "%check y == {2*i + 1} +- 1%", "CheckFailed", "expected 2001 +- 1%; 24 of" },
        { "%check x < 500", "CheckFailed", "x[500]: got 500, expected less than 500; 524 of 1024" },
        { "%check v == w", "CheckFailed", "v[5].z: got 0, expected 1; 1 of 8 differ, first [5].z" },
        { "%check A == {j}", "CheckFailed",
          "A[1][0]: got 4, expected 0; 12 of 16 differ, first [1]" },
        { "%check A[1] == A[2]", "CheckFailed", "A[1][0]: got 4, expected 8; 4 of 4 differ" },
        { "%check x != x", "CheckFailed", "all 1024 elements are equal" },
        { "%check n == {i + 1}", "CheckFailed", "n[1]: got nan, expected 2; 1 of 4" },
        { "%check close(n, n)", "CheckFailed", "n[1]: got nan" },
        { "%check same(n, n)", "CheckFailed", "n[1]: got nan" },
        { "%check sum(n) > 0", "CheckFailed", "nan never passes" },
        { "%check big < 5", "CheckFailed", "big[0]: got 2155051375293123959" },
        { "%check x[5] > 2 && y == ref", "CheckFailed", "y[1000]" },
        { "%check y == x + 1", "UsageError", "x + 1 is a pointer into x" },
        { "%check y == [1, 2]", "UsageError", "a list of 2 beside 1024 elements" },
        { "%check y == f", "UsageError", "only equal lengths go together" },
    };
    static const struct harness_row good[] = {
        { "%check x == {i}", "ok    x == {i}\n" },
        { "%check ref == {2*x + 1}", "ok    ref == {2*x + 1}\n" },
        { "%check 2*x + 1 == ref", "ok    2*x + 1 == ref\n" },
        { "%check f == (0.1, 0.2, 0.3)", NULL },
        { "%check f == [0.1, 0.2, 0.3]", "ok    f == [0.1, 0.2, 0.3]\n" },
        { "%check f[0] == 0.1", "ok    f[0] == 0.1\n" },
        { "%check f == {0.1*(i + 1)} +- 1e-6", "ok    f == {0.1*(i + 1)} +- 1e-6\n" },
        { "%check x >= 0", "ok    x >= 0\n" },
        { "%check x != y", "ok    x != y\n" },
        { "%check v.x == {i}", "ok    v.x == {i}\n" },
        { "%check A[2] == {8 + i}", "ok    A[2] == {8 + i}\n" },
        { "%check A == [0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]", NULL },
        { "%check x[0..2] == [0, 1, 2]", "ok    x[0..2] == [0, 1, 2]\n" },
    };
    struct harness *h = *state;

    harness_must_run(h, DATA);
    harness_fails(h, bad, COUNT(bad));
    for (size_t i = 0; i < COUNT(good); i++)
        if (good[i].expected)
            harness_prints(h, &good[i], 1);
    harness_must_run(h, "%%grade\n%check y == ref points=3\n%check x == {i} points=2");
    assert_non_null(strstr(buf_text(&h->display), "24 of 1024 differ"));
}

static void a_hidden_answer_stays_hidden(void **state)
{
    struct harness *h = *state;

    harness_must_run(h, DATA);
    assert_fails(h, "%check y == {2*i + 1} hide_expected=yes", "CheckFailed",
                 "y[1000]: got 0; 24 of");
    assert_null(strstr(h->report.evalue, "2001"));
    for (size_t i = 0; i < h->report.traceback_lines; i++)
        assert_null(strstr(h->report.traceback[i], "2*i"));
}

/* ---- magics ---- */

static void show_is_a_table_by_index(void **state)
{
    struct harness *h = *state;

    harness_must_run(h, DATA);
    harness_must_run(h, "%show x");
    assert_non_null(strstr(buf_text(&h->display), "x: float[1024], 0 to 1023, mean 511.5.\n"));
    assert_non_null(
        strstr(buf_text(&h->display), "\n  56   56   57   58   59   60   61   62   63\n"));
    assert_non_null(strstr(buf_text(&h->display), "Next: %show x[64..127]"));
    harness_must_run(h, "%show x[5..7]");
    assert_non_null(strstr(buf_text(&h->display), "float[3], 5 to 7, mean 6."));
    harness_must_run(h, "%show A[1..2][0..1]");
    assert_non_null(strstr(buf_text(&h->display), "\n  1   4   5\n  2   8   9\n"));
    harness_must_run(h, "%show u");
    assert_non_null(strstr(buf_text(&h->display), "u: float[1024], never written."));
    harness_must_run(h, "%show v");
    assert_non_null(strstr(buf_text(&h->display), "x   y   z   w\n  0   0   0   0   1\n"));
    harness_must_run(h, "%show n, {2*x}");
    assert_non_null(strstr(buf_text(&h->display), "1 nan"));
    assert_non_null(strstr(buf_text(&h->display), "0 to 2046"));
    assert_prints(h, "%show 3 + 4", "3 + 4 = 7\n");
    assert_fails(h, "%show x[2000..2001]", "ValueError", "goes from 0 to 1023");
    assert_fails(h, "%show x[7..5]", "ValueError", "empty");
    assert_fails(h, "%show q", "NameError", "q");
}

static void plot_draws_curves_and_maps_and_says_what_it_left_out(void **state)
{
    struct harness *h = *state;

    harness_must_run(h, DATA);
    harness_must_run(h, "%plot x, y");
    assert_non_null(strstr(buf_text(&h->display), "x: 1,024 elements, 0 to 1023, mean 511.5."));
    harness_must_run(h, "%buffer float b[1M] = iota\n%plot b");
    assert_non_null(strstr(buf_text(&h->display), "each 1,049 consecutive elements"));
    harness_must_run(h, "%buffer float m[100][200] = {i + j}\n%plot m");
    assert_non_null(strstr(buf_text(&h->display), "each tile of 2 x 4 elements"));
    assert_fails(h, "%plot u", "ValueError", "never written");
    assert_fails(h, "%plot 3", "UsageError", "buffers and lists");
}

static void compare_puts_the_largest_difference_first(void **state)
{
    struct harness *h = *state;

    harness_must_run(h, DATA);
    harness_must_run(h,
                     "%compare y ref\n%check _.differing == 24\n%check _.max_difference == 2047");
    assert_non_null(
        strstr(buf_text(&h->display), "differ in 24 of 1,024 numbers, by 2047 at most"));
    assert_non_null(strstr(buf_text(&h->display), "[1023]   >"));
    harness_must_run(h, "%compare x x");
    assert_non_null(strstr(buf_text(&h->display), "equal in all 1,024"));
    harness_must_run(h, "%compare x u");
    assert_non_null(strstr(buf_text(&h->display), "never written"));
    harness_must_run(h, "a = %occupancy regs=32\nb = %occupancy regs=64\n%compare a b");
    assert_non_null(strstr(buf_text(&h->display), "regs: 32 and 64"));
    assert_fails(h, "%compare x f", "UsageError", "equal lengths");
    assert_fails(h, "%compare x", "UsageError", "needs two");
}

static void who_and_completion_know_buffers(void **state)
{
    struct harness *h = *state;
    struct completions out = { 0 };
    struct err err = { 0 };
    bool is_found = false;

    harness_must_run(h, DATA);
    harness_must_run(h, "%who");
    assert_non_null(strstr(buf_text(&h->display), "0 variables, 10 buffers"));
    assert_non_null(strstr(buf_text(&h->display), "made in In[1] line 4; never written"));
    assert_int_equal(session_complete(h->session, bytes_of("%show re"), 8, &out, &err), 0);
    for (size_t i = 0; i < out.count; i++)
        is_found |= strcmp(out.items[i].text, "ref") == 0;
    assert_true(is_found);
    completions_done(&out);
}

static void export_is_a_program_in_the_order_of_what_happened(void **state)
{
    static const char *const PARTS[] = {
        "__global__ void twice(float *x, float3 by)",
        "int main()\n{\n",
        "wb_buffer<float> x(8);",
        "host[i] = (float)(i);",
        "wb_buffer<double> y(8);",
        "auto x_host = x.host();",
        "(double)((2 * i))",
        "host[0] = (unsigned char)7;",
        "wb_normal(3ULL, i, 0)",
        "cudaMemcpyToSymbol(F",
        "twice<<<1, 8>>>(x, {1, 2, 3});",
        "wb_buffer<int> x(2);",
        "x.show(\"x\");",
    };
    struct harness *h = *state;
    const char *at;

    harness_must_run(
        h, "__constant__ float F[2];\n"
           "__global__ void twice(float *x, float3 by) { x[threadIdx.x] *= by.y + F[0]; }");
    harness_must_run(
        h, "%buffer float x[8] = iota\n%buffer double y[8] = {x[i] > 3 ? 2*i : 0.5}\n"
           "%buffer uchar u[2] = (7, 8)\n%buffer half n[4] = normal(3)\n%buffer F = (1, 0)\n"
           "%launch twice<<<1, 8>>>(x, (1, 2, 3))\n%buffer int x[2] = ones\n%export");
    at = buf_text(&h->out);
    for (size_t i = 0; i < COUNT(PARTS); i++) {
        at = strstr(at, PARTS[i]);
        if (!at)
            print_message("  missing, or too early: %s\n%s\n", PARTS[i], buf_text(&h->out));
        assert_non_null(at);
    }
    harness_must_run(h, "%reset\n%export");
    assert_null(strstr(buf_text(&h->out), "twice"));
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, harness_set_up, harness_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(elements_and_functions_are_values),
        TEST(a_failing_check_names_the_first_element_that_differs),
        TEST(a_hidden_answer_stays_hidden),
        TEST(show_is_a_table_by_index),
        TEST(plot_draws_curves_and_maps_and_says_what_it_left_out),
        TEST(compare_puts_the_largest_difference_first),
        TEST(who_and_completion_know_buffers),
        TEST(export_is_a_program_in_the_order_of_what_happened),
    };

    /* Children are this program again. */
    if (argc > 1 && strcmp(argv[1], "child") == 0)
        return child_main(argc - 1, argv + 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
