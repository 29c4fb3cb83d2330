/*
 * Completion, inspection and is_complete: `|` in a case is the cursor.
 */
#include "kernels/child.h"
#include "tests/unit/cell_harness.h"

#include <stdio.h>

/* "text text ..." of what completes at the |, and the word that is replaced. */
static void complete(struct harness *h, const char *marked, char *out, size_t size, char *word)
{
    const char *bar = strchr(marked, '|');
    size_t cursor = (size_t)(bar - marked), n = 0;
    char code[300];
    struct completions found;
    struct err err = { 0 };

    snprintf(code, sizeof(code), "%.*s%s", (int)cursor, marked, bar + 1);
    assert_int_equal(session_complete(h->session, bytes_of(code), cursor, &found, &err), 0);
    out[0] = '\0';
    for (size_t i = 0; i < found.count; i++)
        n += (size_t)snprintf(out + n, n < size ? size - n : 0, "%s%s", i ? " " : "",
                              found.items[i].text);
    snprintf(word, 64, "%.*s", (int)(found.end - found.start), code + found.start);
    completions_done(&found);
}

static void tab_offers_what_may_stand_there(void **state)
{
    static const struct {
        const char *code, *items, *word;
    } cases[] = {
        { "%pri|", "%print", "%pri" },
        { "x = %pri|", "%print", "%pri" },
        { "n = 5\n%ec|ho", "%echo", "%echo" },
        { "%print siz|", "sizes", "siz" },
        { "%print siz|es", "sizes", "sizes" },
        { "%print flo|", "float floor", "flo" },
        { "m = siz|", "sizes", "siz" },
        { "%print cou|, 2", "count", "cou" },
        { "__glo|", "__global__", "__glo" },
        { "int i = threadI|", "threadIdx", "threadI" },
        { "%nosuch a|", "abs", "a" },
        { "%run div|", "divergence", "div" },
        { "%help war|", "warp warp scheduler", "war" },
        { "%simulate pol|", "policy=", "pol" },
        { "%simulate policy=l|", "longest-ready lrr", "l" },
        { "%simulate policy=longest-r|", "longest-ready", "longest-r" },
        { "%simulate policy=[gto,l|]", "longest-ready lrr", "l" },
        { "%simulate warps=3 policy=gto wa|", "wait=", "wa" },
        { "%occupancy device=L4|", "L4 L40S", "L4" },
        { "%occupancy device=rtx4|", "RTX4090", "rtx4" },
        { "%occupancy device=cc=12.|", "cc=12.0 cc=12.1", "cc=12." },
        { "x = %occupancy blo|", "block=", "blo" },
        { "%print occ.limit|", "limiters limits", "limit" },
        { "%print occ.limits.reg|", "registers", "reg" },
        { "m = occ.limits.reg|", "registers", "reg" },
        { "%check occ.act|", "active_blocks active_warps", "act" },
        { "%check n == 1 hid|", "hide_expected=", "hid" },
        { "%%for i in [1]\n%pri|", "%print", "%pri" },
        { "k<<<1, siz|", "sizes", "siz" },
        { "k<<<1, 32>>>(siz|", "sizes", "siz" },
        { "k<<<1, 32>>>(x) timeo|", "timeout=", "timeo" },
        { "k<<<1, 32>>>(x) build=|", "debug opt", "" },
        { "%launch k<<<1, 32>>>(x) coop|", "cooperative=", "coop" },
        { "%bench rep|", "repeat=", "rep" },
        { "%%gra|", "%%grade", "%%gra" },
        { "%reset d|", "data", "d" },
        { "%occupancy block={siz|}", "sizes", "siz" },
        { "|", "_ occ sizes", "" },
    };
    struct harness *h = *state;
    char items[4000], word[64];

    assert_prints(h, "sizes = [1,2]\n%occupancy -> occ", "");
    for (size_t i = 0; i < COUNT(cases); i++) {
        complete(h, cases[i].code, items, sizeof(items), word);
        if (strcmp(items, cases[i].items) != 0)
            print_message("%s\n", cases[i].code);
        assert_string_equal(items, cases[i].items);
        assert_string_equal(word, cases[i].word);
    }
}

static void a_cell_is_complete_incomplete_or_invalid(void **state)
{
    static const struct {
        const char *code;
        enum completeness is;
        const char *indent;
    } cases[] = {
        { "", CELL_COMPLETE, "" },
        { "// a comment", CELL_COMPLETE, "" },
        { "%print 1", CELL_COMPLETE, "" },
        { "n = 1000", CELL_COMPLETE, "" },
        { "n = [1,", CELL_INCOMPLETE, "" },
        { "%print (1 +", CELL_INCOMPLETE, "" },
        { "%print 1 + \\", CELL_INCOMPLETE, "" },
        { "%print \"abc", CELL_INCOMPLETE, "" },
        { "%echo it's (", CELL_COMPLETE, "" },
        { "__global__ void k() {", CELL_INCOMPLETE, "    " },
        { "__global__ void k() {\n    if (x) {", CELL_INCOMPLETE, "        " },
        { "__global__ void k() {\n    int i = 0;", CELL_INCOMPLETE, "    " },
        { "__global__ void k() { }", CELL_COMPLETE, "" },
        { "__global__ void k()", CELL_INCOMPLETE, "" },
        { "/* open", CELL_INCOMPLETE, "" },
        { "#define A \\", CELL_INCOMPLETE, "" },
        { "#define BEGIN {", CELL_COMPLETE, "" },
        { "int a = );", CELL_INVALID, "" },
        { "%print 12abc", CELL_INVALID, "" },
        { "%print 1\n%%for i in [1]", CELL_INVALID, "" },
    };
    struct harness *h = *state;
    char indent[64];

    for (size_t i = 0; i < COUNT(cases); i++) {
        enum completeness is = session_is_complete(h->session, bytes_of(cases[i].code), indent);

        if (is != cases[i].is || strcmp(indent, cases[i].indent) != 0)
            print_message("%s\n", cases[i].code);
        assert_int_equal(is, cases[i].is);
        assert_string_equal(indent, cases[i].indent);
    }
}

static void inspect(struct harness *h, const char *marked, char *out, size_t size)
{
    const char *bar = strchr(marked, '|');
    size_t cursor = (size_t)(bar - marked);
    char code[300];
    struct err err = { 0 };
    json_t *data = NULL;

    snprintf(code, sizeof(code), "%.*s%s", (int)cursor, marked, bar + 1);
    assert_int_equal(session_inspect(h->session, bytes_of(code), cursor, 0, &data, &err), 0);
    snprintf(out, size, "%s", data ? json_string_value(json_object_get(data, "text/plain")) : "");
    json_decref(data);
}

static void shift_tab_explains_the_word_under_the_cursor(void **state)
{
    static const struct {
        const char *code, *part;
    } cases[] = {
        { "%pri|nt 1", "writes values to stdout" },
        { "%print siz|es", "[1, 2]" },
        { "%print sqr|t(4)", "square root" },
        { "%print 1|", "writes values to stdout" },
        { "__syncthr|eads();", "waits for all threads" },
        { "warp|", "32 threads" },
        { "%let occu|pancy = 3", "Active warps" },
    };
    struct harness *h = *state;
    char text[4000];

    assert_prints(h, "sizes = [1,2]", "");
    for (size_t i = 0; i < COUNT(cases); i++) {
        inspect(h, cases[i].code, text, sizeof(text));
        if (!strstr(text, cases[i].part))
            print_message("%s\n%s\n", cases[i].code, text);
        assert_non_null(strstr(text, cases[i].part));
    }
    inspect(h, "int qqq|;", text, sizeof(text));
    assert_string_equal(text, "");
}

static void an_expression_on_the_side_has_a_text(void **state)
{
    struct harness *h = *state;
    struct err err = { 0 };
    json_t *data;

    assert_prints(h, "n = 20", "");
    assert_int_equal(session_evaluate(h->session, bytes_of("n * 2 + 2"), &data, &err), 0);
    assert_string_equal(json_string_value(json_object_get(data, "text/plain")), "42");
    json_decref(data);
    assert_int_equal(session_evaluate(h->session, bytes_of("nn"), &data, &err), -1);
    assert_string_equal(err_spelling(err.name), "NameError");
    err_done(&err);
}

/* A launch knows its kernel: which buffers fit, and what Shift-Tab says. */
static void a_launch_line_offers_what_fits_its_parameters(void **state)
{
    static const struct {
        const char *code, *items;
    } cases[] = {
        { "sax|", "saxpy saxpy<<<1, 256>>>(n, x, q);" },
        { "saxpy<<<1, 32>>>(count, |", "xf y4" },
        { "saxpy<<<1, 32>>>(count, x|", "xf" },
        { "saxpy<<<1, 32>>>(f(1, 2), xf, |", "ints" },
        { "ns::tk<real, 3><<<1, 32>>>(|", "xf y4" },
        { "if (x) { saxpy<<<1, 32>>>(3, i|", "" },
        { "two|", "two two<<<1, 256>>>(a, n); two<<<1, 256>>>(n, d);" },
        { "two<<<1, 32>>>(x|", "xf" },
        { "two<<<1, 32>>>(8, d|", "d" },
    };
    struct harness *h = *state;
    char got[400], word[64];
    json_t *page;
    struct err err = { 0 };
    const char *code = "saxpy<<<1, 32>>>(3, ";

    if (harness_run(h, "__global__ void probe() {}") < 0 &&
        strcmp(h->report.ename, "DeviceError") == 0)
        skip();
    assert_prints(h, "typedef float real;", "");
    assert_int_equal(harness_run(h, "__global__ void saxpy(int n, const real *x, unsigned *q) {}\n"
                                    "namespace ns { template <class T, int N> __global__ void "
                                    "tk(T *t) {} }\n__global__ void two(float *a, int n) {}\n"
                                    "__global__ void two(int n, double *d) {}"),
                     0);
    assert_int_equal(harness_run(h, "%buffer float xf[8]\n%buffer float4 y4[8]\n"
                                    "%buffer int ints[4]\n%buffer double d[4]"),
                     0);
    for (size_t i = 0; i < COUNT(cases); i++) {
        complete(h, cases[i].code, got, sizeof(got), word);
        if (strcmp(got, cases[i].items) != 0)
            fail_msg("%s: '%s'", cases[i].code, got);
    }
    assert_int_equal(session_inspect(h->session, bytes_of(code), strlen(code), 0, &page, &err), 0);
    assert_non_null(page);
    assert_non_null(
        strstr(json_string_value(json_object_get(page, "text/plain")), "> const real * x"));
    assert_non_null(
        strstr(json_string_value(json_object_get(page, "text/plain")), "registers a thread"));
    json_decref(page);
    assert_int_equal(session_inspect(h->session, bytes_of("two"), 3, 0, &page, &err), 0);
    assert_non_null(page);
    code = json_string_value(json_object_get(page, "text/plain"));
    assert_non_null(strstr(code, "void two(float *a, int n)"));
    assert_non_null(strstr(code, "void two(int n, double *d)"));
    json_decref(page);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_launch_line_offers_what_fits_its_parameters,
                                        harness_set_up, harness_tear_down),
        cmocka_unit_test_setup_teardown(tab_offers_what_may_stand_there, harness_set_up,
                                        harness_tear_down),
        cmocka_unit_test_setup_teardown(a_cell_is_complete_incomplete_or_invalid, harness_set_up,
                                        harness_tear_down),
        cmocka_unit_test_setup_teardown(shift_tab_explains_the_word_under_the_cursor,
                                        harness_set_up, harness_tear_down),
        cmocka_unit_test_setup_teardown(an_expression_on_the_side_has_a_text, harness_set_up,
                                        harness_tear_down),
    };

    /* Children are this program again. */
    if (argc > 1 && strcmp(argv[1], "child") == 0)
        return child_main(argc - 1, argv + 1);
    return cmocka_run_group_tests_name("complete", tests, NULL, NULL);
}
