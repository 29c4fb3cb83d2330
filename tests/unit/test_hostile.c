/*
 * What a class types by accident and a tester on purpose: each once cost a session a wrong
 * word, a lost report or a process.
 */
#include "kernels/child.h"
#include "tests/unit/cell_harness.h"

#include <stdio.h>
#include <string.h>

static struct harness *one;

static int set_up(void **state)
{
    *state = one;
    return harness_run(one, "%reset");
}

static void run_cell(struct harness *h, const char *code)
{
    if (harness_run(h, code) < 0) {
        harness_print_report(h);
        fail_msg("%s", code);
    }
}

static bool has_compiler(struct harness *h)
{
    return harness_run(h, "__global__ void probe() {}") == 0 ||
           strcmp(h->report.ename, "DeviceError") != 0;
}

#define need_compiler(h)                                                                           \
    do {                                                                                           \
        if (!has_compiler(h))                                                                      \
            skip();                                                                                \
    } while (0)

static const char *traceback(const struct harness *h)
{
    static char text[16384];
    size_t n = 0;

    text[0] = '\0';
    for (size_t i = 0; i < h->report.traceback_lines; i++)
        n += (size_t)snprintf(text + n, sizeof(text) - n, "%s\n", h->report.traceback[i]);
    return text;
}

#define assert_reports(h, code, name, part)                                                        \
    do {                                                                                           \
        assert_int_equal(harness_run(h, code), -1);                                                \
        if (strcmp((h)->report.ename, name) != 0 || !strstr(traceback(h), part))                   \
            fail_msg("no %s, or \"%s\" is not in\n%s", name, part, traceback(h));                  \
        for (size_t i_ = 0; i_ < (h)->report.traceback_lines; i_++)                                \
            assert_in_range(strlen((h)->report.traceback[i_]), 0, 83);                             \
    } while (0)

/* ---- faults ---- */

/* Regions of the heap are a list of their own: a neighbour was looked for behind its end. */
static void memory_after_its_free_is_named(void **state)
{
    struct harness *h = *state;

    need_compiler(h);
    run_cell(h, "__device__ int d[1000];\n"
                "__global__ void late(int *o) {\n"
                "    int *p = (int *)malloc(8);\n"
                "    free(p);\n"
                "    o[0] = *p + d[o[1]]; }\n"
                "__global__ void beyond(int *o) {\n"
                "    int *p = (int *)malloc(8);\n"
                "    o[0] = p[o[0]]; }\n"
                "%buffer int o[4] = {100 * i + 100}");
    assert_reports(h, "late<<<1, 1>>>(o)", "MemoryFault", "after its free");
    assert_non_null(strstr(traceback(h), "free in In["));
    assert_reports(h, "beyond<<<1, 1>>>(o)", "MemoryFault", "malloc in In[");
    assert_prints(h, "%print o[0]", "100\n");
}

/* A variable that a failed launch met first lives no longer, and was never freed by anybody. */
static void a_failed_launch_frees_no_variables(void **state)
{
    struct harness *h = *state;

    need_compiler(h);
    run_cell(h, "__device__ double large[1 << 20];\n"
                "__global__ void far(int *o) { o[0] = (int)large[o[1]]; o[100000] = 2; }\n"
                "%buffer int o[4] = zeros");
    assert_reports(h, "far<<<1, 1>>>(o)", "MemoryFault", "o[100000]");
    assert_reports(h, "far<<<1, 1>>>(o)", "MemoryFault", "o[100000]");
    assert_null(strstr(traceback(h), "freed"));
}

/* A kernel on one line is wider than a page: what is shown of it is where the caret is. */
static void a_long_line_is_shown_at_its_caret(void **state)
{
    struct harness *h = *state;

    need_compiler(h);
    run_cell(h, "%buffer float x[64] = iota\n%buffer float y[64] = iota\n"
                "__global__ void wide(int n, float a, float *x, float *y) { int i = blockIdx.x * "
                "blockDim.x + threadIdx.x; if (i < n) { y[0] = 1; y[i + 3] = a * x[i]; } }");
    assert_reports(h, "wide<<<1, 64>>>(64, 2, x, y)", "MemoryFault", "^ i + 3 = 64");
    assert_non_null(strstr(traceback(h), "y[i + 3] = a * x[i]"));
}

/* ---- launch lines ---- */

static void a_slip_is_named_for_what_it_is(void **state)
{
    struct harness *h = *state;

    assert_reports(h, "%buffer float x[1.5]", "UsageError", "1.5: an integer is needed here");
    need_compiler(h);
    run_cell(h, "__global__ void k(int n) {}");
    /* It was taken for host code without a name, and left out without a word. */
    assert_reports(h, "<<<4, 256>>>(1);", "SyntaxError", "a kernel's name stands before <<<");
    assert_reports(h, "k<<<4, -256>>>(1);", "LaunchError", "block is -256: it is 1 to 1024");
}

/* ---- large buffers ---- */

/* Each byte was asked for on its own: minutes for a gigabyte, deaf to an interrupt. */
static void what_was_never_written_is_counted_by_the_word(void **state)
{
    struct harness *h = *state;

    run_cell(h, "%buffer char big[1500M]");
    assert_reports(h, "%save big /tmp/never.npy", "ValueError",
                   "big[0] was never written (1572864000 of 1572864000 elements");
    run_cell(h, "%buffer float part[200000]");
    assert_reports(h, "%save part /tmp/never.npy", "ValueError", "200000 of 200000");
    run_cell(h, "%who");
}

static int group_set_up(void **state)
{
    void *made = NULL;
    int rc = harness_set_up(&made);

    one = made;
    *state = made;
    return rc;
}

static int group_tear_down(void **state)
{
    void *made = one;

    (void)state;
    return harness_tear_down(&made);
}

int main(int argc, char **argv)
{
#define SESSION_TEST(name) cmocka_unit_test_setup(name, set_up)
    const struct CMUnitTest tests[] = {
        SESSION_TEST(memory_after_its_free_is_named),
        SESSION_TEST(a_failed_launch_frees_no_variables),
        SESSION_TEST(a_long_line_is_shown_at_its_caret),
        SESSION_TEST(a_slip_is_named_for_what_it_is),
        SESSION_TEST(what_was_never_written_is_counted_by_the_word),
    };

    /* Children are this program again. */
    if (argc > 1 && strcmp(argv[1], "child") == 0)
        return child_main(argc - 1, argv + 1);
    return cmocka_run_group_tests(tests, group_set_up, group_tear_down);
}
