/*
 * What a launch gets of a kernel: its parameters, its code for the interpreter and
 * for a device, the device variables it uses.
 */
#include "cells/cuda_parameters.h"
#include "cells/internal.h"
#include "kernels/child.h"
#include "model/device.h"
#include "tests/unit/cell_harness.h"

#include <stdio.h>

/* ---- heads ---- */

static void describe_parameter(const struct cuda_parameter *p, char *out, size_t size)
{
    snprintf(out, size, "%s|%s|%s|%d|%d|%zu", p->type, p->name, p->is_pointer ? p->pointee : "-",
             (int)p->kind, p->lanes, p->bytes);
}

static void a_parameter_is_read_as_written(void **state)
{
    static const struct {
        const char *parameter, *expected; /* type|name|pointee|kind|lanes|bytes */
    } cases[] = {
        { "int n", "int|n|-|4|1|4" },
        { "unsigned n", "unsigned|n|-|5|1|4" },
        { "unsigned long long int n", "unsigned long long int|n|-|7|1|8" },
        { "const float *x", "const float *|x|float|10|1|4" },
        { "const float* __restrict__ x", "const float* __restrict__|x|float|10|1|4" },
        { "float4 *const x", "float4 *const|x|float4|10|4|16" },
        { "float x[]", "float|x|float|10|1|4" },
        { "void *p", "void *|p|void|1|1|0" },
        { "int **p", "int **|p|int *|7|1|8" },
        { "size_t n = 4", "size_t|n|-|7|1|8" },
        { "float", "float||-|10|1|4" },
        { "float *", "float *||float|10|1|4" },
        { "const struct P p", "const struct P|p|-|13|1|0" },
        { "m::P *p", "m::P *|p|m::P|13|1|0" },
        { "A<int, 3> a", "A<int, 3>|a|-|13|1|0" },
        { "const __half2 *h", "const __half2 *|h|__half2|8|2|4" },
        { "volatile\n  int *flag", "volatile int *|flag|int|4|1|4" },
        { "const __grid_constant__ uint3 d", "const __grid_constant__ uint3|d|-|5|3|12" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct arena *arena = arena_new(0);
        struct cuda_parameter *list;
        struct err err = { 0 };
        char head[200], got[200];
        bool all_known;
        size_t n;

        snprintf(head, sizeof(head), "__global__ void __launch_bounds__(256, 2) k(%s, int last)",
                 cases[i].parameter);
        assert_int_equal(cuda_read_parameters(arena, head, &list, &n, &all_known, &err), 0);
        assert_int_equal(n, 2);
        describe_parameter(&list[0], got, sizeof(got));
        assert_string_equal(got, cases[i].expected);
        describe_parameter(&list[1], got, sizeof(got));
        assert_string_equal(got, "int|last|-|4|1|4");
        arena_free(&arena);
    }
}

static void a_head_without_parameters_has_none(void **state)
{
    static const char *const heads[] = {
        "__global__ void k()", "__global__ void k(void)", "__global__ void k( )", "", "k", "(", ")"
    };

    (void)state;
    for (size_t i = 0; i < COUNT(heads); i++) {
        struct arena *arena = arena_new(0);
        struct cuda_parameter *list;
        struct err err = { 0 };
        bool all_known;
        size_t n;

        assert_int_equal(cuda_read_parameters(arena, heads[i], &list, &n, &all_known, &err), 0);
        assert_int_equal(n, 0);
        arena_free(&arena);
    }
}

/* ---- in a session ---- */

static void need_compiler(struct harness *h)
{
    if (harness_run(h, "__global__ void probe() {}") < 0 &&
        strcmp(h->report.ename, "DeviceError") == 0)
        skip();
}

static void run_cell(struct harness *h, const char *code)
{
    if (harness_run(h, code) < 0) {
        harness_print_report(h);
        fail_msg("the cell failed");
    }
}

struct made {
    struct arena *arena;
    struct cuda_image image;
    struct err err;
};

static int make(struct harness *h, const char *name, int needs, struct made *out)
{
    struct cell cell = { .session = h->session };
    int rc;

    *out = (struct made){ .arena = arena_new(0) };
    cell.arena = out->arena;
    h->session->cell = &cell; /* launches run in a cell, which holds what types are read into */
    rc = cuda_kernel_image(h->session, name, &session_device(h->session)->device, needs, out->arena,
                           &out->image, &out->err);
    h->session->cell = NULL;
    return rc;
}

static void made_done(struct made *m)
{
    err_done(&m->err);
    arena_free(&m->arena);
}

static void an_image_has_what_was_asked_for(void **state)
{
    struct harness *h = *state;
    struct made m;

    need_compiler(h);
    run_cell(h, "struct P { double a; char b; };\n"
                "__constant__ float F[3];\n"
                "__global__ void k(int n, const float *x, P p, half *h) { *(float *)x = F[n]; }\n"
                "#include <cuda_fp16.h>\n");
    assert_int_equal(make(h, "k", IMAGE_PTX | IMAGE_CUBIN, &m), 0);
    assert_string_equal(m.image.symbol, "_Z1kiPKf1PP6__half");
    assert_non_null(memmem(m.image.ptx.data, m.image.ptx.size, ".entry _Z1kiPKf1PP6__half", 25));
    assert_true(m.image.cubin.size > 0);
    assert_true(m.image.resources.registers > 0);
    assert_int_equal(m.image.parameter_count, 4);
    assert_int_equal(m.image.parameters[2].kind, SCALAR_STRUCT);
    assert_int_equal(m.image.parameters[2].bytes, 16);
    assert_int_equal(m.image.parameters[2].align, 8);
    assert_int_equal(m.image.parameters[3].kind, SCALAR_HALF);
    assert_int_equal(m.image.symbol_count, 1);
    assert_string_equal(m.image.symbols[0].name, "F");
    assert_true(m.image.symbols[0].is_constant);
    assert_int_equal(m.image.symbols[0].bytes, 12);
    made_done(&m);
    assert_int_equal(make(h, "k", IMAGE_PTX_DEBUG, &m), 0);
    assert_non_null(memmem(m.image.ptx.data, m.image.ptx.size, ", debug", 7));
    assert_int_equal(m.image.cubin.size, 0);
    made_done(&m);
}

static void a_template_is_made_for_its_arguments(void **state)
{
    struct harness *h = *state;
    struct made a, b;

    need_compiler(h);
    run_cell(h, "template <typename T, int N> __global__ void k(T *p) { *p = N; }");
    assert_int_equal(make(h, "k", IMAGE_PTX, &a), -1);
    assert_int_equal(a.err.name, ERR_UsageError);
    made_done(&a);
    assert_int_equal(make(h, "k<float,32>", IMAGE_PTX, &a), 0);
    assert_int_equal(make(h, "k<double, 32>", IMAGE_PTX, &b), 0);
    assert_string_equal(a.image.symbol, "_Z1kIfLi32EEvPT_");
    assert_string_equal(b.image.symbol, "_Z1kIdLi32EEvPT_");
    assert_true(a.image.id != b.image.id);
    made_done(&a);
    made_done(&b);
}

/* Through typedefs, macros and template arguments, a launch sees what the pointer points to. */
static void a_type_is_followed_to_what_it_is(void **state)
{
    static const struct {
        const char *parameter, *expected; /* type|name|pointee|kind|lanes|bytes */
    } cases[] = {
        { "real r", "real|r|-|11|1|8" },
        { "const real *x", "const real *|x|double|11|1|8" },
        { "pointer p", "pointer|p|float|10|1|4" },
        { "pointer *p", "pointer *|p|float *|7|1|8" },
        { "vec v", "vec|v|-|10|4|16" },
        { "m::index i", "m::index|i|-|5|1|4" },
        { "REAL *x", "REAL *|x|float|10|1|4" },
        { "Color c", "Color|c|-|4|1|4" },
        { "P *p", "P *|p|P|13|1|24" },
        { "Q q", "Q|q|-|13|1|8" },
        { "T *t", "T *|t|double|11|1|8" },
        { "U u", "U|u|-|5|1|4" },
    };
    struct harness *h = *state;

    need_compiler(h);
    run_cell(h, "typedef double real; typedef float *pointer; using vec = float4;\n"
                "namespace m { using index = unsigned int; }\n"
                "#define REAL float\nenum Color { RED, GREEN };\n"
                "struct P { double a; int b; float c[2]; }; typedef struct { int x; float y; } Q;");
    for (size_t i = 0; i < COUNT(cases); i++) {
        char cell[300], got[200];
        struct made m;

        snprintf(cell, sizeof(cell),
                 "template <typename T, int N, class U = unsigned> __global__ void k%zu(%s, T *o) "
                 "{ *o = N; }",
                 i, cases[i].parameter);
        run_cell(h, cell);
        snprintf(cell, sizeof(cell), "k%zu<real, 3>", i);
        if (make(h, cell, IMAGE_PTX, &m) < 0)
            fail_msg("%s: %s", cell, m.err.text);
        describe_parameter(&m.image.parameters[0], got, sizeof(got));
        assert_string_equal(got, cases[i].expected);
        made_done(&m);
    }
}

static void lines_of_cells_are_kept_as_they_were_run(void **state)
{
    struct harness *h = *state;
    struct bytes line;

    need_compiler(h); /* In[1] */
    run_cell(h, "%let a = 1\n\n__global__ void k()\n{\n} // end");
    assert_true(cuda_source_line(h->session, 2, 5, &line));
    assert_int_equal(line.size, 8);
    assert_memory_equal(line.data, "} // end", 8);
    assert_false(cuda_source_line(h->session, 2, 6, &line));
    assert_false(cuda_source_line(h->session, 9, 1, &line));
}

int main(int argc, char **argv)
{
#define SESSION_TEST(name) cmocka_unit_test_setup_teardown(name, harness_set_up, harness_tear_down)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_parameter_is_read_as_written),
        cmocka_unit_test(a_head_without_parameters_has_none),
        SESSION_TEST(an_image_has_what_was_asked_for),
        SESSION_TEST(a_template_is_made_for_its_arguments),
        SESSION_TEST(a_type_is_followed_to_what_it_is),
        SESSION_TEST(lines_of_cells_are_kept_as_they_were_run),
    };

    /* Children are this program again. */
    if (argc > 1 && strcmp(argv[1], "child") == 0)
        return child_main(argc - 1, argv + 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
