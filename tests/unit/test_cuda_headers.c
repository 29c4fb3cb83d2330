/*
 * Headers that kernels include: each compiles, and is paid for only where it is used.
 */
#include "cells/cuda_headers.h"
#include "kernels/child.h"
#include "tests/unit/cell_harness.h"

#include <stdio.h>
#include <time.h>

static void need_compiler(struct harness *h)
{
    if (harness_run(h, "__global__ void probe() {}") < 0 &&
        strcmp(h->report.ename, "DeviceError") == 0)
        skip();
}

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void run_cell(struct harness *h, const char *code)
{
    if (harness_run(h, code) < 0) {
        harness_print_report(h);
        fail_msg("%.200s", code);
    }
}

/* What only the host has costs nothing, so one cell takes all of it. */
static void headers_of_the_host_are_left_out(void **state)
{
    struct harness *h = *state;

    need_compiler(h);
    run_cell(h, "#include <stdio.h>\n#include <stdlib.h>\n#include <assert.h>\n#include <math.h>\n"
                "#include <stdint.h>\n#include <limits.h>\n#include <float.h>\n#include <time.h>\n"
                "#include <iostream>\n#include <vector>\n#include <string>\n#include <algorithm>\n"
                "#include <cstdio>\n#include <cmath>\n#include <cstdint>\n#include <chrono>\n"
                "#include <cuda_runtime.h>\n#include <device_launch_parameters.h>\n"
                "#include <thrust/device_vector.h>\n#include <cublas_v2.h>\n"
                "#include \"helper_cuda.h\"\n#include \"helper_functions.h\"\n"
                "using std::cout;\nusing namespace std;\n"
                "__global__ void k(float *x, uint32_t n) { assert(n < UINT_MAX);\n"
                "    x[0] = FLT_MAX + M_PI; printf(\"%d\", n); x[1] = std::max(x[2], x[3]);\n"
                "    x[4] = std::sqrt(x[5]); }");
}

/* What nvcc's programs take for granted; a program's own word of the same name is its own. */
static void words_that_need_no_include(void **state)
{
    static const char *const cells[] = {
        "__global__ void takes(float *x, uint32_t *u, size_t *s, uint8_t b, int64_t l, uint n)\n"
        "{ x[0] = INFINITY; x[1] = NAN; x[2] = M_PI; x[3] = FLT_MAX; x[4] = CUDART_INF_F;\n"
        "  x[5] = FLT_EPSILON; u[0] = INT_MAX; u[1] = UINT_MAX + b; s[0] = SIZE_MAX + l + n;\n"
        "  ptrdiff_t d = x - (float *)(uintptr_t)s[1]; s[2] = d; s[3] = CHAR_BIT; }",
        "__global__ void smallest(int *x) { x[0] = std::min(x[1], std::numeric_limits<int>::max());\n"
        "    x[2] = std::is_same<int, float>::value; x[3] = (int)std::sqrt(2.0f); }",
        "typedef unsigned uint;\n#define M_PI 3.0f\nconstexpr int INT_MAX = 5;\n"
        "struct pair { int a, b; };\n"
        "__global__ void c(uint *x) { pair p = { 1, 2 }; x[0] = M_PI + INT_MAX + p.b; }",
        /* C's integers beside those of cuda::std */
        "#include <cstdint>\n#include <limits.h>\n#include <limits>\n#include <cuda/atomic>\n"
        "__global__ void d(int *x, int64_t *y) { cuda::atomic_ref<int> r(*x); r += 1;\n"
        "    y[0] = std::numeric_limits<int64_t>::max() - LLONG_MAX + INT64_MAX; }",
    };
    struct harness *h = *state;

    need_compiler(h);
    for (size_t i = 0; i < COUNT(cells); i++)
        run_cell(h, cells[i]);
}

/* Most headers beside a program hold its host's helpers. */
static void a_header_that_is_not_here_is_left_out(void **state)
{
    struct harness *h = *state;

    need_compiler(h);
    run_cell(h, "#include <stdio.h>\n#include \"../common/common.h\"\n#if 1\n"
                "#include \"error.cuh\"\n#endif\n__global__ void k(int *x) { *x = 1; }\n"
                "int start() { CHECK(cudaDeviceReset()); return 0; }");
    assert_non_null(strstr(buf_text(&h->out), "left out #include \"../common/common.h\""));
}

static void headers_of_cuda_compile(void **state)
{
    static const char *const cells[] = {
        "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#include <cuda_fp8.h>\n"
        "__global__ void k(half *h, __nv_bfloat16 *b, float *x)\n"
        "{ x[0] = __half2float(__hadd(h[0], h[1])) + __bfloat162float(b[0]);\n"
        "  x[1] = float(__nv_fp8_e4m3(x[2])); }",
        "#include <mma.h>\nusing namespace nvcuda;\n"
        "__global__ void k(half *a, float *c)\n"
        "{ wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> f;\n"
        "  wmma::load_matrix_sync(f, a, 16); c[0] = f.x[0]; }",
        "#include <cuda/std/type_traits>\n#include <cuda/atomic>\n"
        "__global__ void k(int *x)\n"
        "{ cuda::atomic_ref<int, cuda::thread_scope_device> r(*x); r.fetch_add(1);\n"
        "  static_assert(cuda::std::is_same<int, int>::value, \"\"); }",
        "#include <cuda/barrier>\n#include <cuda/pipeline>\n"
        "__global__ void k(int *x)\n"
        "{ __shared__ cuda::barrier<cuda::thread_scope_block> b;\n"
        "  if (threadIdx.x == 0) init(&b, blockDim.x);\n  __syncthreads();\n"
        "  b.arrive_and_wait(); x[threadIdx.x] = 1; }",
        "#include <curand_kernel.h>\n"
        "__global__ void k(float *x) { curandStatePhilox4_32_10_t s; curand_init(1, 0, 0, &s);\n"
        "  x[0] = curand_uniform(&s); }",
        "#include <type_traits>\n#include <limits>\n"
        "template <class T> __device__ T most()\n"
        "{ static_assert(std::is_floating_point<T>::value, \"\");\n"
        "  return std::numeric_limits<T>::max(); }\n"
        "__global__ void k(float *x) { *x = most<float>(); }",
    };
    struct harness *h = *state;

    need_compiler(h);
    for (size_t i = 0; i < COUNT(cells); i++)
        run_cell(h, cells[i]);
}

/* The limits are 400 ms and 100 ms on an idle machine; ten times that is a fault anywhere. */
static void cooperative_groups_are_fast_from_the_second_cell_on(void **state)
{
    struct harness *h = *state;
    double start;

    need_compiler(h);
    run_cell(h, "#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\n"
                "namespace cg = cooperative_groups;\n"
                "__global__ void first(int *p) { auto b = cg::this_thread_block(); b.sync(); "
                "*p = b.size(); }");
    start = seconds();
    /* A macro between the headers and the code is none of the headers'. */
    run_cell(h, "#define OWN(x) ((x) + 1)\n__global__ void second(int *p) { *p = OWN(*p); auto t = "
                "cg::tiled_partition<32>(cg::this_thread_block());\n"
                "*p = cg::reduce(t, *p, cg::plus<int>()); }");
    assert_true(seconds() - start < 4);
    start = seconds();
    run_cell(h, "__global__ void plain(int *p) { *p = 1; }");
    assert_true(seconds() - start < 1);
}

static void a_header_that_is_not_there_has_a_next_step(void **state)
{
    struct harness *h = *state;

    need_compiler(h);
    assert_fails(h, "\n#include \"my_kernels.h\"\n__global__ void k(int *x) { *x = mine(3); }",
                 "CompileError", "\"mine\" is undefined");
    for (size_t i = 0; i < h->report.traceback_lines; i++)
        if (strstr(h->report.traceback[i], "paste its device code"))
            return;
    harness_print_report(h);
    fail_msg("no next step");
}

static void a_header_is_wanted_by_its_words(void **state)
{
    static const struct {
        const char *directive, *word;
        enum header_kind kind;
        bool is_wanted;
    } cases[] = {
        { "#include <cooperative_groups.h>", "cooperative_groups", HEADER_ON_DEMAND, true },
        { "#include <cooperative_groups.h>", "cooperative", HEADER_ON_DEMAND, false },
        { "# include \"curand_kernel.h\" // x", "curand_init", HEADER_ON_DEMAND, true },
        { "#include <vector>", "vector", HEADER_HOST, false },
        { "#include <thrust/sort.h>", "thrust", HEADER_HOST, false },
        { "#include <cuda_fp16.h>", "half", HEADER_PLAIN, false },
        { "#include <unknown.h>", "unknown", HEADER_PLAIN, false },
        { "#include", "x", HEADER_PLAIN, false },
        { "#include <", "x", HEADER_PLAIN, false },
        { "#include NAME", "x", HEADER_PLAIN, false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct cuda_header header =
            cuda_header_find(cuda_header_name(bytes_of(cases[i].directive)));

        if (header.kind != cases[i].kind ||
            cuda_header_wants(&header, bytes_of(cases[i].word)) != cases[i].is_wanted)
            fail_msg("%s: kind %d", cases[i].directive, (int)header.kind);
    }
}

int main(int argc, char **argv)
{
#define SESSION_TEST(name) cmocka_unit_test_setup_teardown(name, harness_set_up, harness_tear_down)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_header_is_wanted_by_its_words),
        SESSION_TEST(headers_of_the_host_are_left_out),
        SESSION_TEST(words_that_need_no_include),
        SESSION_TEST(a_header_that_is_not_here_is_left_out),
        SESSION_TEST(headers_of_cuda_compile),
        SESSION_TEST(cooperative_groups_are_fast_from_the_second_cell_on),
        SESSION_TEST(a_header_that_is_not_there_has_a_next_step),
    };

    /* Children are this program again. */
    if (argc > 1 && strcmp(argv[1], "child") == 0)
        return child_main(argc - 1, argv + 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
