/*
 * Programs pasted into a cell: host code around the kernels, headers with guards, odd
 * texts. Kernels are found and compiled; the rest is left out and said so.
 */
#include "cells/internal.h"
#include "kernels/child.h"
#include "model/base/buf.h"
#include "tests/unit/cell_harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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
        fail_msg("%.300s", code);
    }
}

static bool has_kernel(const struct harness *h, const char *name)
{
    const struct cuda *cuda = session_cuda(h->session);

    for (size_t i = 0; i < cuda_name_count(cuda); i++)
        if (cuda_name_at(cuda, i).kind == CUDA_KERNEL &&
            strcmp(cuda_name_at(cuda, i).name, name) == 0)
            return true;
    return false;
}

static bool report_has(const struct harness *h, const char *part)
{
    for (size_t i = 0; i < h->report.traceback_lines; i++)
        if (strstr(h->report.traceback[i], part))
            return true;
    harness_print_report(h);
    return false;
}

static void every_program_has_its_kernels(void **state)
{
    static const struct {
        const char *cell, *kernel, *notice;
    } cases[] = {
        /* host functions, templates of them, variables */
        { "#include <vector>\n#define CHECK(call) do { cudaError_t e = (call); if (e) exit(1); } "
          "while (0)\n"
          "float *d_x; static int n = 1 << 20; std::vector<float> h_x;\n"
          "template <typename T> void fill(std::vector<T> &v) { for (auto &x : v) x = 1; }\n"
          "__global__ void k(float *x, int count) { if (threadIdx.x < count) x[threadIdx.x] = 2; }\n"
          "void run(float *x) { CHECK(cudaMalloc(&d_x, 4 * n)); k<<<n / 256, 256>>>(d_x, n); }\n",
          "k", "A launch is a line by itself: k<<<n / 256, 256>>>(d_x, n);" },
        /* a mark behind a macro, in a guard, in an #ifdef */
        { "#ifndef KERNELS_H\n#define KERNELS_H\n#include <string>\n"
          "#ifdef __CUDACC__\n#define HD __host__ __device__\n#define KERNEL extern \"C\" "
          "__global__\n#else\n#define HD\n#endif\n"
          "HD inline float twice(float x) { return x + x; }\n"
          "KERNEL void k2(float *x) { x[0] = twice(x[0]); }\n"
          "std::string name() { return \"x\"; }\n#endif\n",
          "k2", "name()" },
        /* a struct that allocates on the host and is used on the device */
        { "struct Lock { int *m; Lock() { cudaMalloc((void **)&m, 4); } ~Lock() { cudaFree(m); }\n"
          "  __device__ void lock() { while (atomicCAS(m, 0, 1)) { } } };\n"
          "struct Timer { cudaEvent_t a; void start() { cudaEventRecord(a); } };\n"
          "__global__ void k3(Lock l) { l.lock(); }\n",
          "k3", "Timer" },
        /* what only the compiler of the host knows, inside #if and out */
        { "#if defined(_WIN32)\n#include <windows.h>\n#else\n#include <pthread.h>\n"
          "typedef pthread_t thread;\n#endif\n"
          "typedef void *(*routine)(pthread_attr_t);\n"
          "__global__ void k4(int *x) { *x = 1; }\n",
          "k4", "" },
        /* namespaces, lambdas, overloads, a constexpr function, specializations */
        { "namespace v1 { namespace detail {\n"
          "constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }\n"
          "template <typename T> struct zero { static __device__ T get() { return T(0); } };\n"
          "template <> struct zero<float> { static __device__ float get() { return 0.5f; } };\n"
          "__device__ int pick(int a) { return a; }\n__device__ float pick(float a) { return a; }\n"
          "} using detail::pick;\n"
          "__global__ void k5(float *x) { __shared__ float t[detail::ceil_div(100, 8)];\n"
          "  auto f = [=](float a) { return pick(a) + detail::zero<float>::get(); };\n"
          "  t[threadIdx.x % 13] = f(x[0]); __syncthreads(); x[0] = t[0]; } }\n",
          "k5", "" },
        /* two heads of one function, line ends of Windows, a #line, a raw string */
        { "#ifdef WIDE\r\n__global__ void k6(long *x) {\r\n#else\r\n__global__ void k6(int *x) "
          "{\r\n#endif\r\n#line 900 \"elsewhere.cu\"\r\n  printf(R\"({)\"); *x = \\\r\n 1; }\r\n",
          "k6", "" },
        /* inline PTX, names beyond ASCII in comments, operators and unions */
        { "// \xC3\xA4\xE2\x82\xAC { \"\nunion word { float f; unsigned u; };\n"
          "__device__ float4 operator*(float4 a, float s) "
          "{ return make_float4(a.x * s, a.y * s, a.z * s, a.w * s); }\n"
          "__global__ void k7(float4 *x) { word w; asm volatile(\"{ mov.b32 %0, 0f3F800000; }\" : "
          "\"=r\"(w.u)); x[0] = x[0] * w.f; }\n",
          "k7", "" },
        /* #if around host variables; functions of the host that give a dim3 or fill launch
         * parameters; a number that only the compiler can compute */
        { "__device__ int aligned(int a) { int b = a % 64; return a - b; }\n"
          "int tiles = aligned(512) / 8;\n"
          "#ifdef TIMING\n#include \"timing.h\"\nstruct timeval tv;\nfloat init_time = 0, "
          "copy_time = 0;\nint *p = 0;\n#endif\n"
          "dim3 shape_of(int n, int threads)\n{\n  dim3 grid(n / threads);\n  return grid;\n}\n"
          "void fill(cudaKernelNodeParams &node) { node.blockDim = dim3(32); node . gridDim = 1; }\n"
          "__global__ void k8(int *x) { *x = 1; }\n",
          "k8", "left out int tiles = aligned(512) / 8;, as aligned is known to kernels alone" },
        /* what was in CUDA and C++ once */
        { "__global__ void k9(int *x) { register int v = threadIdx.x; x[v] = __shfl_xor(v, 1) + "
          "__any(v == 3); }\n",
          "k9", "__shfl, __any and their like are gone from CUDA" },
    };
    struct harness *h = *state;

    need_compiler(h);
    for (size_t i = 0; i < COUNT(cases); i++) {
        run_cell(h, cases[i].cell);
        if (!has_kernel(h, cases[i].kernel) || !strstr(buf_text(&h->display), cases[i].kernel) ||
            !strstr(buf_text(&h->out), cases[i].notice))
            fail_msg("%s\nstdout: %s\n%s", cases[i].cell, buf_text(&h->out), buf_text(&h->display));
    }
}

static void what_is_wrong_has_a_next_step(void **state)
{
    static const struct {
        const char *cell, *part, *next;
    } cases[] = {
        { "void k(float *x) { x[threadIdx.x] = 1; }", "no __global__ or __device__",
          "write __global__ before it" },
        { "int sq(int a) { return a * a; }\n__global__ void k(int *x) { *x = sq(2); }", "sq",
          "defines sq for the host: write __device__" },
        { "__global__ void k(float *x, int n) { __shared__ float s[n]; x[0] = s[0]; }",
          "must have a constant value", "extern __shared__ float s[]" },
        { "__global__ void k(real *x) { x[0] = 1; }", "identifier \"real\" is undefined", "" },
        { "__global__ void p(int *x) { p<<<1, 1>>>(x); }", "kernel launch",
          "give each launch a line" },
        { "__global__ void k(int *x)\n{\n    # if you read this\n    *x = 1;\n}", "", "//" },
    };
    struct harness *h = *state;

    need_compiler(h);
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_fails(h, cases[i].cell, "CompileError", cases[i].part);
        if (!report_has(h, cases[i].next))
            fail_msg("%s", cases[i].cell);
    }
}

/* The exchange between lanes as it was before Volta takes place among the lanes that are there. */
static void old_shuffles_give_what_they_gave(void **state)
{
    struct harness *h = *state;

    need_compiler(h);
    run_cell(
        h, "__global__ void old(int *x, double *d) {\n"
           "  int i = threadIdx.x, v = i;\n"
           "  for (int m = 16; m; m /= 2) v += __shfl_xor(v, m);\n"
           "  x[i] = v + 1000 * __any(i == 9) + 2000 * __all(i == 9) + (__ballot(i == 4) == 16);\n"
           "  d[i] = __shfl(d[i], 3);\n"
           "  if (i >= 20) d[i] = __shfl_down((double)i, 2);\n}");
    run_cell(h, "%buffer int x[32]\n%buffer double d[32] = {i}\nold<<<1, 32>>>(x, d)\n"
                "%check x == {496 + 1000 + 1}\n%check d[5] == 3\n%check d[22] == 24");
}

/* Two definitions of a name, of which the compiler sees one. */
static void a_choice_by_a_macro_is_followed(void **state)
{
    static const char TYPES[] = "#ifdef WIDE\ntypedef double real;\n#define N 5\n#else\n"
                                "typedef float real;\n#define N 7\n#endif\n"
                                "#if 0\n#define M 1\n#else\n#if !defined(WIDE)\n#define M 2\n"
                                "#elif N == 5\n#define M 3\n#endif\n#endif\n"
                                "__global__ void inc(const real *x, real *y)\n"
                                "{ y[threadIdx.x] = x[threadIdx.x] + 1; }\n";
    struct harness *h = *state;
    char cell[800];

    need_compiler(h);
    run_cell(h, TYPES);
    run_cell(h, "%buffer float x[N] = iota\n%buffer real y[N]\ninc<<<1, N>>>(x, y)\n"
                "%check y[6] == 7\n%check N == 7 && M == 2");
    snprintf(cell, sizeof(cell), "#define WIDE\n%s", TYPES);
    run_cell(h, cell);
    run_cell(h, "%check N == 5 && M == 3\n%buffer double xx[N] = iota\n%buffer real yy[N]\n"
                "inc<<<1, N>>>(xx, yy)\n%check yy[4] == 5");
    assert_fails(h, "inc<<<1, N>>>(x, y)", "UsageError", "const real");
    run_cell(h, "#undef WIDE");
    run_cell(h, "%check N == 7");
}

static void a_template_in_a_namespace_goes_by_any_of_its_names(void **state)
{
    struct harness *h = *state;

    need_compiler(h);
    run_cell(h, "namespace a { namespace b {\n"
                "template <class T> __global__ void two(T *x) { x[threadIdx.x] += 2; }\n} }");
    run_cell(h, "%buffer float x[4] = zeros\ntwo<float><<<1, 4>>>(x)\nb::two<float><<<1, 4>>>(x)\n"
                "a::b::two<float><<<1, 4>>>(x)\n%check x == {6}");
    assert_fails(h, "two<flaot><<<1, 4>>>(x)", "CompileError", "two<flaot>: identifier \"flaot\"");
    if (report_has(h, "nv_name_map"))
        fail();
}

static void a_templates_arguments_follow_from_the_launch(void **state)
{
    struct harness *h = *state;

    need_compiler(h);
    run_cell(h, "struct pair { float a, b; };\n"
                "template <class T> __global__ void scale(T *x, T a) { x[threadIdx.x] *= a; }\n"
                "template <typename T, int TILE = 4> __global__ void tile(T *x)\n"
                "{ x[threadIdx.x] += TILE; }\n"
                "template <class T> __global__ void size(T a, int *x) { x[0] = sizeof(T); }\n"
                "template <class P> __global__ void first(const P *p, float *f) { f[0] = p->b; }\n"
                "template <int N> __global__ void fixed(int *x) { x[0] = N; }\n");
    run_cell(h, "%buffer float f[4] = {i}\n%buffer int x[4] = {i}\n%buffer pair p[1] = {(1, 7)}\n"
                "scale<<<1, 4>>>(f, 2)\n%check f == {2*i}\n"
                "scale<<<1, 4>>>(x, 3)\ntile<<<1, 4>>>(x + 1 - 1)\n%check x == {3*i + 4}\n"
                "size<<<1, 1>>>(2.5, x)\n%check x[0] == 8\n"
                "size<<<1, 1>>>(2.5f, x)\n%check x[0] == 4\n"
                "first<<<1, 1>>>(p, f)\n%check f[0] == 7");
    assert_fails(h, "fixed<<<1, 1>>>(x)", "UsageError", "fixed is a template");
    assert_fails(h, "scale<<<1, 4>>>(f)", "UsageError", "scale is a template");
}

static void a_buffer_of_a_device_variables_name_is_said(void **state)
{
    struct harness *h = *state;

    need_compiler(h);
    run_cell(h, "__constant__ float C[4];\n__global__ void k(float *x) { x[0] = C[1]; }");
    run_cell(h, "%buffer float C[4] = {i}");
    assert_non_null(strstr(buf_text(&h->out), "C is a device variable of In[2] too"));
    run_cell(h, "%reset data\n%buffer C = (4, 5, 6, 7)");
    assert_null(strstr(buf_text(&h->out), "too"));
    run_cell(h, "%buffer float x[1]\nk<<<1, 1>>>(x)\n%check x[0] == 5");
}

/* The user of a definition follows it; a broken one is not replaced by the older. */
static void definitions_are_bound_late(void **state)
{
    struct harness *h = *state;

    need_compiler(h);
    run_cell(h, "#define STEP 2\n__device__ int next(int a) { return a + STEP; }");
    run_cell(h, "__global__ void walk(int *x) { *x = next(*x); }");
    run_cell(h, "%buffer int x[1] = 0\nwalk<<<1, 1>>>(x);\n%check x[0] == 2");
    run_cell(h, "#define STEP 30");
    run_cell(h, "walk<<<1, 1>>>(x);\n%check x[0] == 32");
    run_cell(h, "__device__ int next(int a) { return -a; }");
    run_cell(h, "walk<<<1, 1>>>(x);\n%check x[0] == -32");
    assert_fails(h, "__global__ void walk(int *x) { *x = nxt(*x); }", "CompileError", "nxt");
    assert_fails(h, "walk<<<1, 1>>>(x);", "NameError", "did not compile");
}

static void options_belong_to_their_cell(void **state)
{
    struct harness *h = *state;

    need_compiler(h);
    run_cell(h, "#define N 5");
    run_cell(h, "%%kernel define=\"TILE=16 N2\" fast_math=yes maxreg=24\n"
                "__global__ void a(float *x) { x[0] = TILE / x[1]; }");
    run_cell(h, "%ptx a");
    assert_non_null(strstr(buf_text(&h->out), "div.approx"));
    assert_fails(h, "__global__ void b(float *x) { x[0] = TILE; }", "CompileError", "TILE");
    run_cell(h, "__global__ void c(float *x) { x[0] = 1 / x[1]; }\n%ptx c");
    assert_null(strstr(buf_text(&h->out), "div.approx"));
    run_cell(
        h, "%%kernel build=debug\n__global__ void d(int *x) { int i = 1; if (*x) i = 2; *x = i; }");
    run_cell(h, "%ptx d");
    assert_non_null(strstr(buf_text(&h->out), "build=debug"));
    assert_fails(h, "%%kernel clean=yes\n__global__ void e(int *x) { *x = N; }", "CompileError",
                 "\"N\" is undefined");
    run_cell(h, "%%kernel arch=sm_90a\n__global__ void f(int *x) { *x = __CUDA_ARCH__; }");
    assert_non_null(strstr(buf_text(&h->display), "__CUDA_ARCH__=900"));
    assert_fails(h, "%%kernel define=\"3=4\"\n__global__ void g() {}", "UsageError", "no macro");
    assert_fails(h, "%%kernel arch=fermi\n__global__ void g() {}", "UsageError", "fermi");
    assert_fails(h, "%%kernel include=\"no/such\"\n__global__ void g() {}", "FileError", "no/such");
}

/* Such headers hold helpers of the host: what they call is declared, and no code is made of them.
 */
static void a_header_of_the_user_may_hold_host_code(void **state)
{
    static const char HEADER[] =
        "#pragma once\n#include <sys/time.h>\n#include <pthread.h>\n#include <cublas_v2.h>\n"
        "#define CHECK(call) do { cudaError_t e = call; if (e != cudaSuccess) { \\\n"
        "  fprintf(stderr, \"%s\\n\", cudaGetErrorString(e)); exit(EXIT_FAILURE); } } while (0)\n"
        "static double now() { struct timeval t; gettimeofday(&t, NULL); return t.tv_sec; }\n"
        "struct watch { cudaEvent_t a; void go() { CHECK(cudaEventCreate(&a)); } pthread_t t; };\n"
        "inline float *get(int n) { float *p; CHECK(cudaMalloc(&p, 4 * n)); return p; }\n"
        "inline void open(cublasHandle_t *h) { if (cublasCreate(h) != CUBLAS_STATUS_SUCCESS) abort(); }\n"
        "inline int length(const char *s) { return (int)strlen(s); }\n"
        "__device__ float twice(float a) { return 2 * a; }\n";
    struct harness *h = *state;
    char folder[] = "/tmp/warpbook-include-XXXXXX", path[64], cell[200];
    FILE *file;

    need_compiler(h);
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/mine.h", folder);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(HEADER, file);
    assert_int_equal(fclose(file), 0);
    snprintf(cell, sizeof(cell),
             "%%%%kernel include=\"%s\"\n#include \"mine.h\"\n"
             "__global__ void k(float *x) { x[0] = twice(3); }",
             folder);
    run_cell(h, cell);
    run_cell(h, "%buffer float x[1]\nk<<<1, 1>>>(x)\n%check x[0] == 6");
    unlink(path);
    rmdir(folder);
}

/* Ten thousand lines, and a macro that is the cell. */
static void large_cells_take_their_time_and_no_more(void **state)
{
    struct harness *h = *state;
    struct buf cell = { 0 };

    need_compiler(h);
    for (int i = 0; i < 3000; i++)
        buf_printf(&cell, "// %d\n#define M%d(x) ((x) + %d)\nint host%d(int a) { return a; }\n", i,
                   i, i, i);
    buf_puts(&cell, "#define BIG \\\n");
    for (int i = 0; i < 3000; i++)
        buf_printf(&cell, "  + %d \\\n", i);
    buf_puts(&cell, "\n__global__ void large(int *x) { *x = M7(1) BIG; }\n");
    assert_false(cell.is_failed);
    run_cell(h, buf_text(&cell));
    assert_true(has_kernel(h, "large"));
    run_cell(h, buf_text(&cell)); /* every name again */
    buf_done(&cell);
}

int main(int argc, char **argv)
{
#define SESSION_TEST(name) cmocka_unit_test_setup_teardown(name, harness_set_up, harness_tear_down)
    const struct CMUnitTest tests[] = {
        SESSION_TEST(every_program_has_its_kernels),
        SESSION_TEST(what_is_wrong_has_a_next_step),
        SESSION_TEST(old_shuffles_give_what_they_gave),
        SESSION_TEST(a_choice_by_a_macro_is_followed),
        SESSION_TEST(a_template_in_a_namespace_goes_by_any_of_its_names),
        SESSION_TEST(a_templates_arguments_follow_from_the_launch),
        SESSION_TEST(a_buffer_of_a_device_variables_name_is_said),
        SESSION_TEST(definitions_are_bound_late),
        SESSION_TEST(options_belong_to_their_cell),
        SESSION_TEST(a_header_of_the_user_may_hold_host_code),
        SESSION_TEST(large_cells_take_their_time_and_no_more),
    };

    /* Children are this program again. */
    if (argc > 1 && strcmp(argv[1], "child") == 0)
        return child_main(argc - 1, argv + 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
