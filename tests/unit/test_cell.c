/*
 * Whole cells: what papermill writes, what an error looks like, and that no
 * input ends the session.
 */
#include "tests/unit/cell_harness.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void papermill_parameters_are_read_in_every_spelling(void **state)
{
    struct harness *h = *state;

    assert_prints(h,
                  "# Parameters\n"
                  "warps = 5\nname = \"a 'b'\"\nother = 'it\\'s'\nflag = True\noff = False\n"
                  "none = None\nlist = [1, \"a\", 2.5]\nneg = -3\nx = float('inf')\n"
                  "%print warps, name, other, flag, off, none, list, neg, x",
                  "5 a 'b' it's true false null [1, a, 2.5] -3 inf\n");
    assert_prints(h,
                  "# Parameters\nwarps=7\npolicy=gto\npath=/tmp/a-b.txt\nname='a b'\nflag=true\n"
                  "none=\nratio=0.5\n%print warps, policy, path, name, flag, none, ratio",
                  "7 gto /tmp/a-b.txt a b true null 0.5\n");
    assert_prints(h, "// Parameters\nvar warps = 9;\nvar b = true;\n%print warps, b", "9 true\n");
    assert_prints(h, "val warps = 3\nm = nothing\n%print warps, m", "3 null\n");
    assert_fails(h, "n = gto", "NameError", "no variable is called gto");
    assert_fails(h, "n = {\"a\": 1}", "UsageError", "no dictionary");
    assert_fails(h, "true = 1", "SyntaxError", "its own meaning");
}

static void first_line(struct harness *h, const char *cell, size_t line, const char *expected)
{
    assert_int_equal(harness_run(h, cell), -1);
    if (h->report.traceback_lines <= line || strcmp(h->report.traceback[line], expected) != 0)
        harness_print_report(h);
    assert_true(h->report.traceback_lines > line);
    assert_string_equal(h->report.traceback[line], expected);
}

static void an_error_shows_its_line_with_a_caret(void **state)
{
    struct harness *h = *state;

    first_line(h, "n = 1\n%print 1 / 0", 0, "ValueError: 1 / 0 divides by zero");
    first_line(h, "n = 1\n%print 1 / 0", 1, "");
    first_line(h, "n = 1\n%print 1 / 0", 2, "In[3]  2  %print 1 / 0");
    first_line(h, "n = 1\n%print 1 / 0", 3, "                 ^^^^^");
    /* Wide characters take two columns, tabs reach to the next stop, marks take none. */
    first_line(h, "%print \"\xE6\x97\xA5\xE6\x9C\xAC\", zzz", 3, "                         ^^^");
    first_line(h, "%print\t1,\tzzz", 2, "In[6]  1  %print  1,  zzz");
    first_line(h, "%print\t1,\tzzz", 3, "                      ^^^");
    first_line(h, "%print \"e\xCC\x81\", zzz", 3, "                      ^^^");
    /* In the body of a cell magic, and on a continued line. */
    first_line(h, "%%for i in [1]\n%print 1\n%print zzz", 2, "In[9]  3  %print zzz");
    first_line(h, "%print [1,\n  2,\n  zzz]", 2, "In[10]  3    zzz]");
    first_line(h, "%print [1,\n  2,\n  zzz]", 3, "             ^^^");
    /* The next step. */
    first_line(h, "%pint 1", 0, "UnknownMagic: no magic is called %pint; %print is the nearest");
    first_line(h, "%pint 1", 5, "  try     %help lists the magics");
}

static void no_line_of_a_report_is_wider_than_82_columns(void **state)
{
    struct harness *h = *state;
    char cell[4000];

    memset(cell, 'a', sizeof(cell));
    memcpy(cell, "%print ", 7);
    memcpy(cell + sizeof(cell) - 40, " + nowhere(1, 2, 3)", 20);
    assert_int_equal(harness_run(h, cell), -1);
    for (size_t i = 0; i < h->report.traceback_lines; i++)
        assert_true(strlen(h->report.traceback[i]) <= 82);
    memset(cell, ' ', sizeof(cell));
    memcpy(cell, "%print ", 7);
    strcpy(cell + 2000, "nowhere");
    assert_int_equal(harness_run(h, cell), -1);
    assert_true(h->report.traceback_lines >= 4);
    assert_non_null(strstr(h->report.traceback[2], "nowhere"));
    for (size_t i = 0; i < h->report.traceback_lines; i++)
        assert_true(strlen(h->report.traceback[i]) <= 82);
}

static void words_from_elsewhere_get_a_sentence(void **state)
{
    static const struct {
        const char *cell, *name, *part;
    } cases[] = {
        { "%timeit x", "UnknownMagic", "IPython's" },
        { "%load_ext nvcc4jupyter", "UnknownMagic", "needs no extension" },
        { "%lsmagic", "UnknownMagic", "IPython's" },
        { "%env A=1", "UnknownMagic", "environment" },
        { "%%cu\nint main() {}", "UnknownMagic", "nvcc4jupyter" },
        { "!pip install x", "UsageError", "shell command" },
        { "%pip install x", "UnknownMagic", "no Python packages" },
        { "k<<<1, 32>>>(x);", "NameError", "kernel" },
        { "%launch k<<<1,1>>>()", "NameError", "kernel" },
        { "%log start x.jsonl", "UnsupportedError", "not in this version" },
        { "%%cuda\nint main() {}", "UnsupportedError", "not in this version" },
        { "int main() { }", "UnsupportedError", "main()" },
        { "%%print 1", "UsageError", "this magic is one line" },
        { "%for i in [1]", "UsageError", "takes a whole cell" },
        { "%print 1\n%%for i in [1]", "SyntaxError", "first line of its cell" },
        { "/* no end\n%print 1", "SyntaxError", "never closed" },
        { "%print 1\n/* a */ int *p; /* no end\n", "SyntaxError", "never closed" },
        { "%print 1e999", "ValueError", "1e999 is above the largest double" },
        { "%%grade pints=3\n%check 1", "UsageError", "%%grade has no key pints" },
        { "%%for\n%print 1", "UsageError", "%%for needs NAME in LIST: a list" },
    };
    struct harness *h = *state;

    for (size_t i = 0; i < COUNT(cases); i++)
        assert_fails(h, cases[i].cell, cases[i].name, cases[i].part);
}

static void a_failed_magic_unsets_what_it_would_have_set(void **state)
{
    struct harness *h = *state;

    assert_prints(h, "t = 5\n%print t", "5\n");
    assert_int_equal(harness_run(h, "t = %print zzz"), -1);
    assert_fails(h, "%check t == 5", "NameError", "t: its %print in In[2] failed");
    assert_prints(h, "t = 6\n%print t", "6\n");
    assert_fails(h, "%print _", "NameError", "_ is the last result");
    assert_prints(h, "%occupancy -> occ\nu = %occupancy\n%print occ.active_warps, u.kind",
                  "48 occupancy\n");
    assert_int_equal(harness_run(h, "%print 1 / 0\n%occupancy regs=64 -> occ\nu = %occupancy"), -1);
    assert_fails(h, "%check occ.active_warps == 48", "NameError", "In[7] failed before the line");
    assert_fails(h, "%check u.active_warps == 48", "NameError", "In[7] failed before the line");
    assert_fails(h, "%check _.active_warps == 48", "NameError", "In[7] failed before the line");
}

/* Under a sanitizer every step costs ten times as much; the steps are the same. */
#ifdef __SANITIZE_ADDRESS__
enum { HOSTILE_BYTES = 1 << 20 };
#else
enum { HOSTILE_BYTES = 10 << 20 };
#endif

static void hostile_cells_end_in_an_error_and_lose_nothing(void **state)
{
    struct harness *h = *state;
    size_t big = HOSTILE_BYTES;
    char *cell = malloc(big + 1);
    struct timespec start, end;

    assert_non_null(cell);
    assert_prints(h, "kept = 42", "");
    assert_int_equal(harness_run_bytes(h, "%print 1\0", 9), -1);
    assert_string_equal(h->report.ename, "SyntaxError");
    assert_int_equal(harness_run_bytes(h, "%print \"\xFF\"", 10), -1);
    assert_non_null(strstr(h->report.evalue, "0xFF is not UTF-8"));
    assert_int_equal(harness_run_bytes(h, "\xED\xA0\x80", 3), -1);
    clock_gettime(CLOCK_MONOTONIC, &start);
    memset(cell, '(', big);
    memcpy(cell, "%print ", 7);
    assert_int_equal(harness_run_bytes(h, cell, big), -1);
    memset(cell, '-', big);
    memcpy(cell, "%print ", 7);
    assert_int_equal(harness_run_bytes(h, cell, big), -1);
    for (size_t i = 7; i + 1 < big; i += 2)
        memcpy(cell + i, "1+", 2);
    assert_int_equal(harness_run_bytes(h, cell, big), -1);
    memset(cell, '[', big);
    memcpy(cell, "%print ", 7);
    assert_int_equal(harness_run_bytes(h, cell, big), -1);
    for (size_t i = 8; i + 1 < big; i += 2)
        memcpy(cell + i, "1,", 2);
    cell[7] = '[';
    cell[big - 1] = ']';
    assert_int_equal(harness_run_bytes(h, cell, big), big / 2 > 1000000 ? -1 : 0);
    memset(cell, '\n', big);
    assert_int_equal(harness_run_bytes(h, cell, big), 0);
    memset(cell, '9', big);
    memcpy(cell, "%print ", 7);
    assert_int_equal(harness_run_bytes(h, cell, big), -1);
    memset(cell, 'a', big);
    memcpy(cell, "%", 1);
    assert_int_equal(harness_run_bytes(h, cell, big), -1);
    memset(cell, '#', big);
    assert_int_equal(harness_run_bytes(h, cell, big), 0);
    for (size_t i = 0; i + 8 <= big; i += 8)
        memcpy(cell + i, "x =1   \n", 8);
    assert_int_equal(harness_run_bytes(h, cell, big / 8 * 8), 0);
    clock_gettime(CLOCK_MONOTONIC, &end);
    assert_true(end.tv_sec - start.tv_sec < 60);
    /* What would make a careless reader start over at every byte. */
    memset(cell, ';', big);
    memcpy(cell, "%reset ", 7);
    cell[big - 1] = 'x';
    assert_int_equal(harness_run_bytes(h, cell, big), -1);
    for (size_t i = 8; i + 1 < big; i += 2)
        memcpy(cell + i, "\\'", 2);
    memcpy(cell, "%print '", 8);
    cell[big - 1] = 'x';
    assert_int_equal(harness_run_bytes(h, cell, big), -1);
    for (size_t i = 0; i + 2 <= big; i += 2)
        memcpy(cell + i, "R\"", 2);
    assert_int_equal(session_is_complete(h->session, (struct bytes){ cell, big }, (char[64]){ 0 }),
                     CELL_INCOMPLETE);
    /* A tree that leans to the left is as deep as it is long. */
    memset(cell, '(', 157);
    memcpy(cell, "%print ", 7);
    cell[157] = '1';
    for (size_t level = 0, at = 158; level < 150; level++) {
        for (size_t i = 0; i < 400; i++, at += 2)
            memcpy(cell + at, "+1", 2);
        cell[at++] = ')';
        cell[at] = '\0';
    }
    assert_fails(h, cell, "SyntaxError", "at most 1000 terms and levels");
    free(cell);
    assert_prints(h, "%print kept", "42\n");
}

static void memory_is_bounded(void **state)
{
    struct harness *h = *state;

    assert_prints(h, "a = 1..1000000", "");
    assert_fails(h, "b = [a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a]", "ResourceError", "memory");
    assert_prints(h, "%print count(a)", "1000000\n");
    assert_prints(h, "%%for i in 1..50\n%let x = sum(a)\n", "");
    /* Lists in lists are walked by recursion. */
    assert_prints(h, "deep = [1]", "");
    assert_fails(h, "%%for i in 1..100000\ndeep = [[[[[[[[[[deep]]]]]]]]]]", "ResourceError",
                 "lists nest at most 256 deep");
}

static void variables_are_bounded_together(void **state)
{
    struct harness *h = *state;

    assert_prints(h, "a = 1..500000\nb = [a,a,a,a,a]\nc = b\nd = b\ne = b", "");
    assert_fails(h, "f = b\ng = b\nh = b", "ResourceError", "512 are allowed");
    assert_prints(h, "%print count(e)\nb = 1\nc = 1\nf = e\n%print count(f)", "5\n5\n");
}

static void *interrupt_soon(void *session)
{
    usleep(50000);
    session_interrupt(session);
    return NULL;
}

static void an_interrupt_ends_what_waits_and_what_loops(void **state)
{
    static const char *const cells[] = {
        "%sleep 20",
        "%%for i in 1..1000000\n%let x = i\n",
        "%%grade\n%sleep 20\n%check 1 == 1",
    };
    struct harness *h = *state;
    pthread_t thread;
    struct timespec start, end;

    session_interrupt(h->session); /* idle: nothing happens */
    assert_prints(h, "%print 1", "1\n");
    for (size_t i = 0; i < COUNT(cells); i++) {
        clock_gettime(CLOCK_MONOTONIC, &start);
        assert_int_equal(pthread_create(&thread, NULL, interrupt_soon, h->session), 0);
        assert_int_equal(harness_run(h, cells[i]), -1);
        pthread_join(thread, NULL);
        clock_gettime(CLOCK_MONOTONIC, &end);
        assert_string_equal(h->report.ename, "Interrupted");
        assert_true(end.tv_sec - start.tv_sec < 2);
    }
    assert_prints(h, "%print 2", "2\n");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, harness_set_up, harness_tear_down)
    const struct CMUnitTest tests[] = {
        T(papermill_parameters_are_read_in_every_spelling),
        T(an_error_shows_its_line_with_a_caret),
        T(no_line_of_a_report_is_wider_than_82_columns),
        T(words_from_elsewhere_get_a_sentence),
        T(a_failed_magic_unsets_what_it_would_have_set),
        T(hostile_cells_end_in_an_error_and_lose_nothing),
        T(memory_is_bounded),
        T(variables_are_bounded_together),
        T(an_interrupt_ends_what_waits_and_what_loops),
    };

    return cmocka_run_group_tests_name("cell", tests, NULL, NULL);
}
