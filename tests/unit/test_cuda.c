/*
 * CUDA C in a session: definitions by name across cells, what is compiled with
 * what, errors in the cell's own lines, and the table of resources.
 */
#include "cells/cuda_source.h"
#include "cells/internal.h"
#include "kernels/child.h"
#include "model/device.h"
#include "tests/unit/cell_harness.h"

#include <stdio.h>

/* ---- cutting a cell into items ---- */

struct split {
    struct arena *arena;
    struct cuda_items items;
    struct err err;
};

static void split(struct split *s, const char *source)
{
    *s = (struct split){ .arena = arena_new(0) };
    assert_int_equal(cuda_split(s->arena, bytes_of(source), 1, 3, &s->items, &s->err), 0);
}

static void split_done(struct split *s)
{
    free(s->items.list);
    arena_free(&s->arena);
}

static void every_kind_of_definition_is_found_with_its_names(void **state)
{
    static const struct {
        const char *source;
        enum item_kind kind;
        const char *names; /* separated by blanks */
    } cases[] = {
        { "#include <stdio.h>", ITEM_INCLUDE, "" },
        { "#define N 1000", ITEM_MACRO, "N" },
        { "#define SQ(x) ((x) * (x))", ITEM_MACRO, "SQ" },
        { "#define LONG(x) \\\n    ((x) * 2)", ITEM_MACRO, "LONG" },
        { "constexpr int TILE = 32;", ITEM_CONSTANT, "TILE" },
        { "const float A = 1, B = 2;", ITEM_CONSTANT, "A B" },
        { "using namespace std;", ITEM_OTHER, "" },
        { "using real = float;", ITEM_TYPE, "real" },
        { "typedef unsigned int uint;", ITEM_TYPE, "uint" },
        { "struct __align__(16) S { int a; float b[3]; void f() { a = 1; } };", ITEM_TYPE, "S" },
        { "enum Color { RED, GREEN };", ITEM_TYPE, "RED GREEN Color" },
        { "__constant__ float F[3] = { 1, 2, 3 };", ITEM_VARIABLE, "F" },
        { "__device__ int a = 0, b;", ITEM_VARIABLE, "a b" },
        { "template <typename T> __device__ T add(T a, T b) { return a + b; }", ITEM_FUNCTION,
          "add" },
        { "__device__ float f(float x);", ITEM_PROTOTYPE, "f" },
        { "__device__ float f(float x) { /* } */ return x; }", ITEM_FUNCTION, "f" },
        { "__device__ auto g(int a) -> int { return a; }", ITEM_FUNCTION, "g" },
        { "extern \"C\" __global__ void __launch_bounds__(256, 2) k(int *p)\n{ *p = 1; }",
          ITEM_KERNEL, "k" },
        { "template <int N> __global__ void k(int *p) { *p = N; }", ITEM_KERNEL, "k" },
        { "__global__ void k() { const char *s = \"}\"; char c = '{'; }", ITEM_KERNEL, "k" },
        { "__global__ void k() { const char *s = R\"x(})\")x\"; }", ITEM_KERNEL, "k" },
        { "extern \"C\" { __global__ void k(); }", ITEM_PROTOTYPE, "k" },
        { "namespace m { __device__ int inner(int a) { return a; } }", ITEM_FUNCTION, "inner" },
        { "namespace a::b { inline namespace { struct S { int x; }; } }", ITEM_TYPE, "S" },
        { "namespace cg = cooperative_groups;", ITEM_TYPE, "cg" },
        { "enum class E : int { A, B };", ITEM_TYPE, "E" },
        { "enum { A = 1, B = f(A, 2), C };", ITEM_TYPE, "A B C" },
        { "typedef struct P_ { int x; } P, *PP;", ITEM_TYPE, "P P_ PP" },
        { "typedef void (*callback)(int, float);", ITEM_TYPE, "callback" },
        { "struct S final : public Base<int, 3>, Other { int x; };", ITEM_TYPE, "S" },
        { "template <typename T, int N = (3 > 2)> struct V { T x[N]; };", ITEM_TYPE, "V" },
        { "template <> struct V<int, 3> { int y; };", ITEM_TYPE, "V" },
        { "__device__ Pair<int, float> a, b;", ITEM_VARIABLE, "a b" },
        { "__device__ float (*op)(float, float) = add;", ITEM_VARIABLE, "op" },
        { "__device__ P::P(int a) : x(a), y{ 1 } { z = 2; }", ITEM_FUNCTION, "P" },
        { "__global__ void BOUNDS(256) k(int n) {}", ITEM_KERNEL, "k" },
        { "template <> __global__ void k<float>(float *p) { *p = 1; }", ITEM_KERNEL, "k" },
        { "template __global__ void k<int>(int *);", ITEM_ONCE, "" },
        { "#undef N", ITEM_UNDEF, "N" },
        { "#if 0\n__global__ void a() {}\n#else\n__global__ void b() {}\n#endif", ITEM_OTHER, "b" },
        { "#ifdef X\n__global__ void k(int a) {\n#else\n__global__ void k() {\n#endif\n}",
          ITEM_OTHER, "k" },
        { "MAKE(add, +)", ITEM_OTHER, "" },
        { "__device__ const char *s = u8R\"x(\"{)x\";", ITEM_VARIABLE, "s" },
        { "#if 1\n__global__ void a() {}\n#else\n__global__ void b() {}\n#endif", ITEM_OTHER,
          "a b" },
        { "void host() { k<<<1, 1>>>(); }", ITEM_FUNCTION, "host" },
        { "struct P make(int a) { return { a }; }", ITEM_FUNCTION, "make" },
        { "auto f = [](int a) { return a; };", ITEM_VARIABLE, "f" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct split s;
        char names[100] = "";

        split(&s, cases[i].source);
        for (size_t k = 0; s.items.count > 0 && k < s.items.list[0].name_count; k++)
            snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s",
                     names[0] ? " " : "", s.items.list[0].names[k].name);
        if (s.items.count != 1 || s.items.list[0].kind != cases[i].kind ||
            strcmp(names, cases[i].names) != 0)
            fail_msg("%s: %zu items, kind %d, names '%s'", cases[i].source, s.items.count,
                     s.items.count ? (int)s.items.list[0].kind : -1, names);
        split_done(&s);
    }
}

static void unfinished_text_becomes_one_item(void **state)
{
    static const char *const sources[] = {
        "__global__ void k() {",
        "/* never closed",
        "#if 1\nint a;",
        "\"",
        "'",
        "R\"x(",
        "(((",
        "}",
        ")",
        "__device__ int",
        "template <",
        "#",
        "#define",
        "# 12",
        "\\",
        "extern \"C\" {",
        "namespace {",
        "{",
        "int a[",
        "R\"",
        "#\\\n",
        "a,b,c,d",
        ";;;;",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(sources); i++) {
        struct split s;
        struct buf out = { 0 };
        bool *roots;

        split(&s, sources[i]);
        roots = calloc(s.items.count + 1, sizeof(*roots));
        for (size_t k = 0; k < s.items.count; k++)
            roots[k] = true;
        assert_int_equal(cuda_compose(&s.items, roots, &out, &s.err), 0);
        buf_done(&out);
        free(roots);
        split_done(&s);
    }
}

/* Each level's text is copied and read again, so there is an end to them. */
static void blocks_in_blocks_take_no_more_than_a_few_copies(void **state)
{
    static const char *const blocks[] = { "#if 1\n", "namespace a{", "extern \"C\"{" };
    enum { LEVELS = 20000 };

    (void)state;
    for (size_t i = 0; i < COUNT(blocks); i++) {
        struct arena *arena = arena_new(32 << 20);
        struct cuda_items items = { 0 };
        struct buf source = { 0 };
        struct err err = { 0 };

        for (int level = 0; level < LEVELS; level++)
            buf_puts(&source, blocks[i]);
        buf_puts(&source, "int x;\n");
        buf_fill(&source, '}', i ? LEVELS : 0);
        assert_false(source.is_failed);
        assert_int_equal(cuda_split(arena, bytes_of(source.data), 1, 3, &items, &err), 0);
        assert_int_equal(items.count, 1);
        free(items.list);
        buf_done(&source);
        arena_free(&arena);
    }
}

static void lines_and_columns_are_those_of_the_cell(void **state)
{
    struct split s;

    (void)state;
    split(&s, "// first\n\n  __device__ int a; __device__ int b;\n/* x\n */ __device__ int c;");
    assert_int_equal(s.items.count, 3);
    assert_int_equal(s.items.list[0].line, 3);
    assert_int_equal(s.items.list[0].column, 3);
    assert_int_equal(s.items.list[1].line, 3);
    assert_int_equal(s.items.list[1].column, 21);
    assert_int_equal(s.items.list[2].line, 5);
    split_done(&s);
}

static void a_composition_holds_what_is_used_and_no_more(void **state)
{
    struct buf out = { 0 };
    bool roots[8] = { false };
    struct split s;

    (void)state;
    split(&s, "#include <cuda_fp16.h>\n"
              "#define SCALE 2\n"
              "__device__ int unused(int a) { return a; }\n"
              "__device__ int twice(int a) { return SCALE * a; }\n"
              "__global__ void other() {}\n"
              "__global__ void k(int *p) { *p = twice(21); }\n");
    assert_int_equal(s.items.count, 6);
    roots[5] = true;
    assert_int_equal(cuda_compose(&s.items, roots, &out, &s.err), 0);
    assert_string_equal(buf_text(&out), "#include <cuda_fp16.h>\n"
                                        "#pragma nv_hdrstop\n"
                                        "#line 2 \"In[3]\"\n#define SCALE 2\n"
                                        "#line 4 \"In[3]\"\n"
                                        "__device__ int twice(int a) { return SCALE * a; }\n"
                                        "#line 6 \"In[3]\"\n"
                                        "__global__ void k(int *p) { *p = twice(21); }\n");
    buf_done(&out);
    split_done(&s);
}

static void linked_names_become_plain_ones(void **state)
{
    static const char *const cases[][2] = {
        { "saxpy", "saxpy" },
        { "_Z5saxpyifPKfPf", "saxpy" },
        { "_ZN1m5innerEi", "inner" },
        { "_Z2e31TPi", "e3" },
        { "_ZL1s1S", "s" },
        { "_Z1kILi32EEvPf", "k" },
        { "_ZN12_GLOBAL__N_11kEv", "k" },
        { "_Z", "_Z" },
        { "_Z99x", "_Z99x" },
        { "", "" },
    };
    char name[40];

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        cuda_plain_name(cases[i][0], name, sizeof(name));
        assert_string_equal(name, cases[i][1]);
    }
}

/* ---- in a session ---- */

static void need_compiler(struct harness *h)
{
    if (harness_run(h, "__global__ void probe() {}") < 0 &&
        strcmp(h->report.ename, "DeviceError") == 0)
        skip();
}

/* What a beginner types first, and what the compiler's words do not explain. */
static void a_line_that_is_no_c_gets_a_hint(void **state)
{
    static const struct {
        const char *cell, *hint;
    } cases[] = {
        { "n", "%print n shows the variable" },
        { "print(n)", "a magic starts with %: %print" },
        { "occupancy regs=32", "a magic starts with %: %occupancy" },
        { "import numpy", "no Python" },
        { "for i in range(3): pass", "%%for" },
    };
    struct harness *h = *state;
    struct buf all = { 0 };

    need_compiler(h);
    assert_prints(h, "n = 5", "");
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(harness_run(h, cases[i].cell), -1);
        buf_cut(&all, 0);
        for (size_t k = 0; k < h->report.traceback_lines; k++)
            buf_puts(&all, h->report.traceback[k]);
        assert_non_null(strstr(buf_text(&all), cases[i].hint));
    }
    buf_done(&all);
}

#define SAXPY                                                                                      \
    "__global__ void saxpy(int n, float a, const float *x, float *y)\n"                            \
    "{\n"                                                                                          \
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"                                         \
    "    if (i < n)\n"                                                                             \
    "        y[i] = a * x[i] + y[i];\n"                                                            \
    "}\n"

static void assert_shows(struct harness *h, const char *code, const char *part)
{
    int rc = harness_run(h, code);

    if (rc < 0)
        harness_print_report(h);
    assert_int_equal(rc, 0);
    if (!strstr(buf_text(&h->display), part))
        assert_string_equal(buf_text(&h->display), part);
}

static void a_cell_shows_what_its_kernels_take(void **state)
{
    struct harness *h = *state;

    need_compiler(h);
    assert_shows(h, SAXPY, "saxpy takes ");
    assert_shows(h, SAXPY, "100 % occupancy in blocks of 256");
    assert_prints(h, "%print _.kernels[0].registers <= 16, _.kernels[0].spills", "true 0\n");
    assert_shows(h,
                 "__global__ void tile(float *y) { __shared__ float t[8192]; "
                 "t[threadIdx.x] = *y; __syncthreads(); *y = t[threadIdx.x ^ 1]; }",
                 "Limit: shared");
}

static void a_kernel_uses_what_earlier_cells_define(void **state)
{
    struct harness *h = *state;

    need_compiler(h);
    assert_prints(h, "#define SCALE 2\n__device__ int twice(int a) { return SCALE * a; }", "");
    assert_shows(h, "__global__ void k(int *p) { *p = twice(21); }", "k takes");
    /* Redefined in a later cell: the old definition goes, its users follow the new one. */
    assert_prints(h, "__device__ float twice(float a) { return a + a; }", "");
    assert_shows(h, "__global__ void k2(float *p) { *p = twice(*p); }", "k2 takes");
    assert_shows(h, "__global__ void k(int *p) { *p = 1; }", "k takes");
}

static void operators_and_macro_calls_are_always_there(void **state)
{
    struct harness *h = *state;

    need_compiler(h);
    for (int i = 0; i < 2; i++)
        assert_prints(h,
                      "__device__ float2 operator+(float2 a, float2 b)\n"
                      "{ return make_float2(a.x + b.x, a.y + b.y); }\n"
                      "#define SQUARE(T) __device__ T square(T a) { return a * a; }\n"
                      "SQUARE(float)\n"
                      "__device__ float half_of(float a) { return a / 2; }",
                      "");
    assert_shows(h, "__global__ void k(float2 *p) { *p = *p + *p; p->x = square(half_of(p->y)); }",
                 "k takes");
}

static void macros_that_define_kernels_are_understood(void **state)
{
    struct harness *h = *state;

    need_compiler(h);
    assert_shows(h,
                 "#define TYPED(name, T, op) __global__ void name##_##T(T *x) \\\n"
                 "{ x[threadIdx.x] = x[threadIdx.x] op 2; }\n"
                 "#define BOTH(name, op) TYPED(name, int, op) TYPED(name, float, op)\n"
                 "BOTH(times, *)\nTYPED(plus, double, +);\n",
                 "3 kernels");
    assert_non_null(strstr(buf_text(&h->display), "times_float"));
    assert_non_null(strstr(buf_text(&h->display), "plus_double"));
    assert_shows(h, "%occupancy times_int", "Occupancy 100 %");
}

static void namespaces_keep_their_kernels_apart(void **state)
{
    struct harness *h = *state;

    need_compiler(h);
    assert_shows(h,
                 "namespace a { __global__ void k(int *x) { *x = 1; } __device__ int f(); }\n"
                 "namespace b { __global__ void k(int *x) { *x = 2; } }",
                 "b::k");
    assert_non_null(strstr(buf_text(&h->display), "a::k"));
    assert_shows(h, "namespace a { __global__ void k2(int *x) { *x = 3; } }", "a::k2 takes");
    assert_shows(h, "%ptx a::k", "");
    assert_non_null(strstr(buf_text(&h->out), "In[2] 1"));
    assert_shows(h, "%ptx b::k", "");
    assert_non_null(strstr(buf_text(&h->out), "In[2] 2"));
}

static void cooperative_groups_compile(void **state)
{
    struct harness *h = *state;

    need_compiler(h);
    assert_shows(h,
                 "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n"
                 "__global__ void k(int *p) { auto b = cg::this_thread_block(); b.sync(); "
                 "*p = b.size(); }",
                 "k takes");
}

static void an_error_in_an_earlier_cell_is_placed_there(void **state)
{
    struct harness *h = *state;

    need_compiler(h);
    assert_prints(h, "\n__device__ int f(int a) { return a; }", "");
    assert_prints(h, "\n\n__device__ int g(int a) { return f(a); }", "");
    assert_prints(h, "__device__ int f(int a, int b) { return a + b; }", "");
    assert_fails(h, "__global__ void k(int *p) { *p = g(1); }", "CompileError", "too few");
    for (size_t i = 0; i < h->report.traceback_lines; i++)
        if (strstr(h->report.traceback[i], "In[3]"))
            return;
    harness_print_report(h);
    fail_msg("the traceback does not name In[3]");
}

static void running_a_cell_again_replaces_its_definitions(void **state)
{
    struct harness *h = *state;

    need_compiler(h);
    for (int i = 0; i < 3; i++)
        assert_shows(h,
                     "using namespace std;\nstruct P { int x; };\n"
                     "__global__ void k(P *p) { p->x = 1; }",
                     "k takes");
    assert_int_equal(cuda_name_count(session_cuda(h->session)), 3); /* probe, P and k */
}

static void an_error_stands_in_the_cells_own_line(void **state)
{
    struct harness *h = *state;

    need_compiler(h);
    assert_fails(h, "%let a = 1\n__global__ void k(float *y)\n{\n    y[0] = zz;\n}", "CompileError",
                 "identifier \"zz\" is undefined");
    assert_true(h->report.traceback_lines > 0);
    for (size_t i = 0; i < h->report.traceback_lines; i++)
        if (strstr(h->report.traceback[i], "4  ") && strstr(h->report.traceback[i], "y[0] = zz"))
            return;
    harness_print_report(h);
    fail_msg("the traceback does not show line 4");
}

static void a_failed_definition_is_not_replaced_by_the_older_one(void **state)
{
    struct harness *h = *state;
    struct cuda_kernel kernel;
    struct err e = { 0 };

    need_compiler(h);
    assert_shows(h, SAXPY, "saxpy takes");
    assert_fails(h, "__global__ void saxpy(int n) { n = zz; }", "CompileError", "zz");
    assert_int_equal(cuda_kernel_resources(h->session, "saxpy", &session_device(h->session)->device,
                                           &kernel, &e),
                     -1);
    assert_int_equal(e.name, ERR_NameError);
    assert_non_null(strstr(e.text, "did not compile"));
    err_done(&e);
    assert_shows(h, SAXPY, "saxpy takes");
    assert_int_equal(cuda_kernel_resources(h->session, "saxpy", &session_device(h->session)->device,
                                           &kernel, &e),
                     0);
    assert_string_equal(kernel.symbol, "_Z5saxpyifPKfPf");
}

static void a_clash_with_an_earlier_macro_is_named(void **state)
{
    struct harness *h = *state;
    bool is_named = false;

    need_compiler(h);
    assert_prints(h, "#define N 1000", "");
    assert_fails(h, "__global__ void k(int *p) { int N = 5; *p = N; }", "CompileError", "");
    for (size_t i = 0; i < h->report.traceback_lines; i++)
        is_named |= strstr(h->report.traceback[i], "In[2] defines a macro N") != NULL;
    if (!is_named)
        harness_print_report(h);
    assert_true(is_named);
}

static void constants_are_names_in_expressions(void **state)
{
    struct harness *h = *state;

    need_compiler(h);
    assert_prints(h, "#define N 1000 // elements\nconstexpr int TILE = 32;\n#define F(x) (x)", "");
    assert_prints(h, "%print N / TILE", "31\n");
}

static void resources_are_compiled_for_the_device_that_is_asked_for(void **state)
{
    struct harness *h = *state;
    struct cuda_kernel kernel;
    struct err e = { 0 };

    need_compiler(h);
    assert_shows(h, SAXPY, "saxpy takes");
    assert_int_equal(cuda_kernel_resources(h->session, "saxpy", device_find("H200"), &kernel, &e),
                     0);
    assert_true(kernel.registers > 0);
    assert_int_equal(cuda_kernel_resources(h->session, "saxpy", device_by_cc(6, 1), &kernel, &e),
                     -1);
    assert_int_equal(e.name, ERR_ValueError);
    assert_non_null(strstr(e.text, "7.5"));
    err_done(&e);
    assert_int_equal(cuda_kernel_resources(h->session, "saxpi", device_find("H200"), &kernel, &e),
                     -1);
    assert_int_equal(e.name, ERR_NameError);
    assert_non_null(strstr(e.text, "saxpy"));
    err_done(&e);
}

static void host_code_that_launches_is_skipped_with_a_notice(void **state)
{
    struct harness *h = *state;

    need_compiler(h);
    assert_shows(h, "__global__ void k() {}\nvoid run() { k<<<1, 1>>>(); }", "k takes");
    assert_non_null(
        strstr(buf_text(&h->out), "left out host code, which has no __device__: run()"));
    assert_non_null(strstr(buf_text(&h->out), "A launch is a line by itself: k<<<1, 1>>>();"));
}

static void a_warning_goes_to_stdout(void **state)
{
    struct harness *h = *state;

    need_compiler(h);
    assert_shows(h, "__global__ void k()\n{\n    int unused_one;\n}", "k takes");
    assert_non_null(strstr(buf_text(&h->out), "unused_one"));
}

static void a_template_waits_for_its_use(void **state)
{
    struct harness *h = *state;

    need_compiler(h);
    assert_shows(h, "template <int N> __global__ void k(int *p) { *p = N; }", "registers are not");
}

int main(int argc, char **argv)
{
#define SESSION_TEST(name) cmocka_unit_test_setup_teardown(name, harness_set_up, harness_tear_down)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_definition_is_found_with_its_names),
        cmocka_unit_test(unfinished_text_becomes_one_item),
        cmocka_unit_test(blocks_in_blocks_take_no_more_than_a_few_copies),
        cmocka_unit_test(lines_and_columns_are_those_of_the_cell),
        cmocka_unit_test(a_composition_holds_what_is_used_and_no_more),
        cmocka_unit_test(linked_names_become_plain_ones),
        SESSION_TEST(a_cell_shows_what_its_kernels_take),
        SESSION_TEST(a_kernel_uses_what_earlier_cells_define),
        SESSION_TEST(operators_and_macro_calls_are_always_there),
        SESSION_TEST(macros_that_define_kernels_are_understood),
        SESSION_TEST(namespaces_keep_their_kernels_apart),
        SESSION_TEST(cooperative_groups_compile),
        SESSION_TEST(an_error_in_an_earlier_cell_is_placed_there),
        SESSION_TEST(running_a_cell_again_replaces_its_definitions),
        SESSION_TEST(an_error_stands_in_the_cells_own_line),
        SESSION_TEST(a_failed_definition_is_not_replaced_by_the_older_one),
        SESSION_TEST(a_clash_with_an_earlier_macro_is_named),
        SESSION_TEST(constants_are_names_in_expressions),
        SESSION_TEST(resources_are_compiled_for_the_device_that_is_asked_for),
        SESSION_TEST(host_code_that_launches_is_skipped_with_a_notice),
        SESSION_TEST(a_warning_goes_to_stdout),
        SESSION_TEST(a_template_waits_for_its_use),
        SESSION_TEST(a_line_that_is_no_c_gets_a_hint),
    };

    /* Children are this program again. */
    if (argc > 1 && strcmp(argv[1], "child") == 0)
        return child_main(argc - 1, argv + 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
