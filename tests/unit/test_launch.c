/*
 * Launches of kernels of cells: what is read, what is refused before anything runs, what
 * comes back, and what a launch that fails leaves as it was.
 */
#include "cell_harness.h"

#include "cells/launch_line.h"
#include "kernels/child.h"

#include <glob.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

static struct harness *one;

/* One session for all: each test starts from nothing but its children, which stay warm. */
static int set_up(void **state)
{
    *state = one;
    if (harness_run(one, "%reset") < 0)
        return -1;
    return 0;
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

static void run_cell(struct harness *h, const char *code)
{
    if (harness_run(h, code) < 0) {
        harness_print_report(h);
        fail_msg("%s", code);
    }
}

static const char *traceback(const struct harness *h)
{
    static char text[16384];
    size_t n = 0;

    text[0] = '\0';
    for (size_t i = 0; i < h->report.traceback_lines; i++)
        n += (size_t)snprintf(text + n, sizeof(text) - n, "%s\n", h->report.traceback[i]);
    return text;
}

#define assert_has(text, part)                                                                     \
    do {                                                                                           \
        if (!strstr(text, part))                                                                   \
            fail_msg("\"%s\" is not in\n%s", part, text);                                          \
    } while (0)

#define SAXPY                                                                                      \
    "__global__ void saxpy(int n, float a, const float *x, float *y)\n"                            \
    "{\n"                                                                                          \
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"                                         \
    "    if (i < n)\n"                                                                             \
    "        y[i] = a * x[i] + y[i];\n"                                                            \
    "}\n"                                                                                          \
    "n = 1000\n"                                                                                   \
    "%buffer x float[1000] = iota\n"                                                               \
    "%buffer y float[1000] = ones\n"

/* ---- reading ---- */

static void a_launch_line_is_taken_apart(void **state)
{
    static const struct {
        const char *text, *parts;
    } cases[] = {
        { "k<<<1, 32>>>()", "k|1|32" },
        { "k<<<1, 32>>>();", "k|1|32" },
        { "k <<< n / 2 , dim3(4, 4), 16, 0 >>> ( x , y + 1 ) ; // c",
          "k|n / 2|dim3(4, 4)|16|0;x;y + 1" },
        { "ns::k<float, (3 > 2)><<<f(1, 2), [1, 2]>>>({1, 2})",
          "ns::k<float, (3 > 2)>|f(1, 2)|[1, 2];{1, 2}" },
        { "k<<<1,\n 2>>>\n(\n\"a,)\" /* , */)", "k|1|2;\"a,)\" /* , */" },
        { "k", "k" },
        { "k<<<1>>>()", "!" },
        { "k<<<1,2,3,4,5>>>()", "!" },
        { "k<<<1,>>>()", "!" },
        { "k<<<1, 2>>>", "!" },
        { "k<<<1, 2>>>(", "!" },
        { "k<<<1, 2>>(x)", "!" },
        { "<<<1, 2>>>()", "!" },
        { "k<<<1, 2>>>() + 1", "!" },
        { "k<<<1, 2>>>(a,,b)", "!" },
        { "k<<<1, (2>>>()", "!" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct arena *arena = arena_new(0);
        struct launch_line line;
        struct err err = { 0 };
        struct buf out = { 0 };

        if (launch_line_read((struct source){ bytes_of(cases[i].text), 1, 1 }, arena, &line, &err) <
            0) {
            buf_putc(&out, '!');
            assert_int_equal(err.line > 0, 1);
        } else {
            buf_put(&out, line.kernel.text.data, line.kernel.text.size);
            for (size_t k = 0; k < line.config_count; k++)
                buf_printf(&out, "|%.*s", (int)line.config[k].text.size, line.config[k].text.data);
            for (size_t k = 0; k < line.argument_count; k++)
                buf_printf(&out, ";%.*s", (int)line.arguments[k].text.size,
                           line.arguments[k].text.data);
        }
        assert_string_equal(buf_text(&out), cases[i].parts);
        buf_done(&out);
        err_done(&err);
        arena_free(&arena);
    }
}

/* ---- running ---- */

static void a_launch_changes_buffers_and_has_facts(void **state)
{
    struct harness *h = *state;

    need_compiler(h);
    run_cell(h, SAXPY "saxpy<<<(n + 255) / 256, 256>>>(n, 2.0f, x, y) -> t");
    assert_has(buf_text(&h->display), "saxpy ran: ");
    assert_has(buf_text(&h->display), "<<<4, 256>>>   build=opt   -> t");
    assert_has(buf_text(&h->display), "1,024 threads, 32 warps, 4 blocks");
    assert_prints(h,
                  "%print y[0] + y[1] + y[999]\n%print t.blocks\n%print t.warps\n"
                  "%print t.branches > 0\n%print t.divergent_branches\n"
                  "%print t.global.load.requests\n%print t.line(5).sectors > 3.9\n"
                  "%print t.measured\n%print t.modelled.cycles == t.cycles\n"
                  "%print t.as_written.divergent_branches",
                  "2003\n4\n32\ntrue\n1\n64\ntrue\nnull\ntrue\n1\n");
}

static void keys_say_the_same_as_the_sign(void **state)
{
    struct harness *h = *state;

    need_compiler(h);
    run_cell(h, SAXPY "%launch saxpy grid=4 block=256 args=(n, 2.0, x, y)");
    assert_prints(h, "%print y[3]\n%print _.input.grid", "7\n[4, 1, 1]\n");
    run_cell(h, "__global__ void where(int *o) { int t = threadIdx.y * blockDim.x + threadIdx.x;\n"
                "    int b = blockIdx.y * gridDim.x + blockIdx.x;\n"
                "    o[b * blockDim.x * blockDim.y + t] = b * 1000 + t; }\n"
                "%buffer o int[4096] = zeros\n"
                "dim3 b(16, 16), g(2, 3);\nwhere<<<g, b>>>(o); cudaDeviceSynchronize();");
    assert_prints(h, "%print o[1535]\n%print o[1536]", "5255\n0\n");
    run_cell(
        h,
        "where<<<sizeof(half), dim3{sizeof(float), sizeof(o) / 2}>>>(o + 0 * 2);\nwhere<<<1, 1>>>(o + 4095)");
    run_cell(h, "int n = 16; float half = n / 3.0f;\nsize_t most = half * 2,\n    two = 2;\n"
                "r = where<<<1, n>>>(&o[two * 10]);");
    assert_prints(h, "%print r.threads\n%print most\n%print o[35]", "16\n10\n15\n");
    assert_prints(h, "%print o[4095]\n%print _.threads", "0\n16\n");
    assert_fails(h, "where<<<1, 1>>>(&o)", "UsageError", "leave & out");
    assert_fails(h, "where<<<1, 1>>>(oo)", "NameError", "oo");
    assert_has(traceback(h), "%buffer oo int[1000] = zeros");
}

static void a_failed_launch_leaves_buffers_and_unsets_results(void **state)
{
    struct harness *h = *state;

    need_compiler(h);
    run_cell(h, SAXPY "__global__ void bad(float *y) {\n"
                      "    y[threadIdx.x] = 5;\n"
                      "    __syncthreads();\n"
                      "    if (threadIdx.x == 3)\n"
                      "        y[threadIdx.x + 1000] = 7;\n"
                      "}");
    run_cell(h, "saxpy<<<4, 256>>>(n, 1.0f, x, y) -> t");
    assert_fails(h, "bad<<<1, 32>>>(y) -> t", "MemoryFault", "y[1003]");
    assert_has(traceback(h), "        y[threadIdx.x + 1000] = 7;");
    assert_has(traceback(h), "^ threadIdx.x + 1000 = 1003");
    assert_has(traceback(h), ": bad<<<1, 32>>>(y) starts 32 threads");
    assert_has(traceback(h), "  state   y is as before the launch");
    assert_prints(h, "%print y[3]", "4\n");
    assert_fails(h, "%print t.time_us", "NameError", "failed");
    assert_fails(h, "%print _.time_us", "NameError", "failed");
}

/* The rows of a report: at most 82 columns, in the order who where launch why try state. */
static void a_report_keeps_its_order_and_width(void **state)
{
    static const char *const ORDER[] = { "\n  who ", "\n  where ", "\n  launch ", "\n  state " };
    struct harness *h = *state;
    const char *at;

    need_compiler(h);
    run_cell(h, SAXPY);
    assert_fails(h, "saxpy<<<5, 256>>>(n + 100, 2.0f, x, y)", "MemoryFault", "[1000]");
    at = traceback(h);
    for (size_t i = 0; i < COUNT(ORDER); i++) {
        assert_has(at, ORDER[i]);
        at = strstr(at, ORDER[i]);
    }
    assert_has(traceback(h), "saxpy<<<5, 256>>>(1100, 2, x, y) starts 1,280 threads");
    assert_has(traceback(h), "x and y are as before the launch");
    for (size_t i = 0; i < h->report.traceback_lines; i++)
        assert_in_range(strlen(h->report.traceback[i]), 0, 82);
}

static void what_no_gpu_would_start_is_refused_with_its_limit(void **state)
{
    static const struct {
        const char *launch, *name, *part;
    } cases[] = {
        { "k<<<1, 1025>>>(x)", "LaunchError", "1025" },
        { "k<<<1, dim3(32, 33)>>>(x)", "LaunchError", "1056" },
        { "k<<<1, dim3(1, 1, 65)>>>(x)", "LaunchError", "block z is 65: it is 1 to 64" },
        { "k<<<0, 32>>>(x)", "LaunchError", "grid x is 0" },
        { "k<<<1, 0>>>(x)", "LaunchError", "block x is 0" },
        { "k<<<-1, 32>>>(x)", "LaunchError", "-1" },
        { "k<<<dim3(1, 65536), 32>>>(x)", "LaunchError", "65536" },
        { "k<<<3000000000, 32>>>(x)", "LaunchError", "2147483647" },
        { "k<<<1, 32, 200000>>>(x)", "LaunchError", "101376" },
        { "k<<<(4,4), 32>>>(x)", "LaunchError", "comma operator" },
        { "k<<<4, (16,16)>>>(x)", "LaunchError", "means 16" },
        { "k<<<1.5, 32>>>(x)", "UsageError", "1.5" },
        { "k<<<[1,2], 32>>>(x)", "UsageError", "grid" },
        { "k<<<dim3(1,2,3,4), 32>>>(x)", "UsageError", "3 values" },
        { "k<<<n, 32>>>(x)", "NameError", "n" },
        { "k<<<1, 32>>>(x) cluster=2", "LaunchError", "9.0" },
        { "k<<<1, 32>>>(x) cluster=16 device=H200", "LaunchError", "16" },
        { "k<<<3, 32>>>(x) cluster=2 device=H200", "LaunchError", "multiple" },
        { "k<<<100000, 32>>>(x) cooperative=yes", "LaunchError", "at once" },
        { "greedy<<<1, 1024>>>(x)", "LaunchError", "too many resources requested" },
        { "shared<<<1, 32>>>(x)", "LaunchError", "extern __shared__" },
        { "kk<<<1, 32>>>(x)", "NameError", "k is the nearest" },
        { "%launch k", "UsageError", "grid" },
        { "%launch k grid=1 args=(x)", "UsageError", "block" },
        { "k<<<1, 32>>>(x) tmeout=3", "UsageError", "tmeout" },
        { "k<<<1, 32>>>(x) build=fast", "UsageError", "build" },
        { "cudaMalloc(&p, 4);", "UsageError", "cudaMalloc" },
        { "dim3 b(1.5);", "UsageError", "dim3" },
    };
    struct harness *h = *state;

    need_compiler(h);
    run_cell(h, "%buffer x float[64] = zeros\n"
                "__global__ void k(float *x) { x[threadIdx.x] = 1; }\n"
                "__global__ void shared(float *x) {\n"
                "    extern __shared__ float s[];\n"
                "    s[threadIdx.x] = 1;\n"
                "    __syncthreads();\n"
                "    x[threadIdx.x] = s[31 - threadIdx.x];\n"
                "}\n"
                "__global__ void greedy(float *x) {\n"
                "    float a[100];\n"
                "    for (int i = 0; i < 100; i++) a[i] = x[i % 64] * i;\n"
                "    for (int k = 0; k < 9; k++)\n"
                "#pragma unroll\n"
                "        for (int i = 1; i < 100; i++) a[i] = a[i] * a[i - 1] + a[(i * 7) % 100];\n"
                "#pragma unroll\n"
                "    for (int i = 0; i < 100; i++) x[i % 64] += a[i];\n"
                "}");
    for (size_t i = 0; i < COUNT(cases); i++) {
        int rc = harness_run(h, cases[i].launch);

        if (rc == 0 || strcmp(h->report.ename, cases[i].name) != 0 ||
            !strstr(h->report.evalue, cases[i].part))
            fail_msg("%s: %s: %s", cases[i].launch, rc ? h->report.ename : "ran",
                     rc ? h->report.evalue : "");
    }
}

static void a_slip_in_a_launch_line_does_not_cost_the_kernel(void **state)
{
    static const char *const SLIPS[] = { "saxpy<<4, 256>>>(n, 2.0f, x, y);",
                                         "saxpy(n, 2.0f, x, y);",
                                         "bench saxpy<<<4, 256>>>(n, 2.0f, x, y)" };
    struct harness *h = *state;

    need_compiler(h);
    run_cell(h, SAXPY);
    for (size_t i = 0; i < COUNT(SLIPS); i++) {
        (void)!harness_run(h, SLIPS[i]);
        run_cell(h, "saxpy<<<4, 256>>>(n, 0, x, y)");
    }
}

/* ---- arguments ---- */

static void arguments_fit_the_signature_or_are_refused(void **state)
{
    static const struct {
        const char *argument, *name, *part;
    } cases[] = {
        { "i(3)", NULL, "3" },
        { "i(-1)", NULL, "-1" },
        { "i(true)", NULL, "1" },
        { "i((int)2.9)", NULL, "2" },
        { "i(2.9)", "UsageError", "int n" },
        { "i(2147483648)", "ValueError", "2147483647" },
        { "i(x)", "UsageError", "x is a buffer" },
        { "i(\"abc\")", "UsageError", "number" },
        { "i(zz)", "NameError", "zz" },
        { "i()", "UsageError", "takes 2 arguments, and got 1" },
        { "i(1, 2)", "UsageError", "got 3" },
        { "u(0xFFFFFFFF)", NULL, "4294967295" },
        { "u(-1)", NULL, "4294967295" },
        { "u(4294967296)", "ValueError", "4294967295" },
        { "d(2)", NULL, "2" },
        { "d(0.1)", NULL, "0.1" },
        { "c('A')", NULL, "65" },
        { "c(300)", "ValueError", "300" },
        { "h(0.1)", NULL, "0.0999755859375" },
        { "h(65520)", NULL, "inf" },
        { "f4((1, 2, 3, 4))", NULL, "10" },
        { "f4(make_float4(1, 2, 3, 4))", NULL, "10" },
        { "f4((1, 2))", "UsageError", "4 values" },
        { "p({1, 2.5, {3, 4}})", NULL, "10.5" },
        { "p({1, 2.5})", "UsageError", "3 values" },
        { "p({1.5, 2.5, {3, 4}})", "UsageError", "integer" },
        { "vw({x + 2, 3, nullptr})", NULL, "3" },
        { "vw({7, 3, nullptr})", "UsageError", "member at takes a buffer" },
        { "v4(x)", NULL, "0" },
        { "v4(x + 1)", "ValueError", "multiple of 16" },
        { "v4(x + 62)", "ValueError", "too small" },
        { "v4(b)", "UsageError", "int[64]" },
        { "any(b)", NULL, "0" },
        { "any(nullptr)", NULL, "1" },
        { "any(0)", NULL, "1" },
        { "any(7)", "UsageError", "buffer" },
        { "ui(b)", NULL, "0" },
        { "ui(x)", "UsageError", "float[64]" },
        { "ui((unsigned *)x)", NULL, "0" },
    };
    struct harness *h = *state;

    need_compiler(h);
    run_cell(
        h, "#include <cuda_fp16.h>\n"
           "struct pair { int a; double b; float c[2]; };\n"
           "%buffer x float[64] = zeros\n%buffer b int[64] = zeros\n%buffer r double[1] = zeros\n"
           "__global__ void i(double *r, int n) { r[0] = n; }\n"
           "__global__ void u(double *r, unsigned n) { r[0] = n; }\n"
           "__global__ void d(double *r, double n) { r[0] = n; }\n"
           "__global__ void c(double *r, char n) { r[0] = n; }\n"
           "__global__ void h(double *r, half n) { r[0] = __half2float(n); }\n"
           "__global__ void f4(double *r, float4 v) { r[0] = v.x + v.y + v.z + v.w; }\n"
           "__global__ void p(double *r, pair v) { r[0] = v.a + v.b + v.c[0] + v.c[1]; }\n"
           "struct view { float *at; int n; const float *none; };\n"
           "__global__ void vw(double *r, view v) { r[0] = v.at[0] + v.n + (v.none != nullptr); }\n"
           "__global__ void v4(double *r, const float4 *v) { r[0] = v[0].x; }\n"
           "__global__ void any(double *r, const void *v) { r[0] = v == nullptr; }\n"
           "__global__ void ui(double *r, const unsigned *v) { r[0] = v[0]; }\n"
           "__global__ void ref(double *r, const int &n) { r[0] = n; }\n");
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *open = strchr(cases[i].argument, '('), *inside = open + 1;
        char code[200];
        int rc;

        snprintf(code, sizeof(code), "%.*s<<<1, 1>>>(r%s%s\n%%print r[0]",
                 (int)(open - cases[i].argument), cases[i].argument, *inside == ')' ? "" : ", ",
                 inside);
        rc = harness_run(h, code);
        if (cases[i].name
                ? rc == 0 || strcmp(h->report.ename, cases[i].name) != 0 ||
                      !strstr(h->report.evalue, cases[i].part)
                : rc < 0 || strncmp(buf_text(&h->out), cases[i].part, strlen(cases[i].part)) != 0)
            fail_msg("%s: %s %s", cases[i].argument, rc < 0 ? h->report.ename : "gave",
                     rc < 0 ? h->report.evalue : buf_text(&h->out));
        if (cases[i].name && strcmp(cases[i].name, "NameError") != 0)
            assert_has(traceback(h), "__global__ void");
    }
    assert_fails(h, "ref<<<1, 1>>>(r, 3)", "UsageError",
                 "argument 2 (const int &n) is a reference");
    assert_fails(h, "ref<<<1, 1>>>(r, b)", "UsageError", "address of host memory");
}

static void a_template_names_its_arguments(void **state)
{
    struct harness *h = *state;

    need_compiler(h);
    run_cell(h, "template <typename T, int N> __global__ void fill(T *x)\n"
                "{ for (int i = threadIdx.x; i < N; i += blockDim.x) x[i] = N; }\n"
                "%buffer x float[64] = zeros\nfill<float, 40><<<1, 32>>>(x)");
    assert_prints(h, "%print x[39]\n%print x[40]", "40\n0\n");
    assert_fails(h, "fill<<<1, 32>>>(x)", "UsageError", "template");
}

/* ---- memory that stays ---- */

static void device_variables_keep_their_values(void **state)
{
    struct harness *h = *state;

    need_compiler(h);
    run_cell(h, "__device__ int count = 5;\n__constant__ float F[3] = { 1, 2, 3 };\n"
                "__global__ void up(float *y) { y[atomicAdd(&count, 1)] = F[2]; }\n"
                "__global__ void fails(float *y) { count = 100; __syncthreads(); y[1000] = 1; }\n"
                "%buffer y float[64] = zeros\n"
                "up<<<1, 2>>>(y)\nup<<<1, 2>>>(y)");
    assert_prints(h, "%print y[5..9]\n%print count", "[3, 3, 3, 3, 0]\n9\n");
    assert_fails(h, "fails<<<1, 1>>>(y)", "MemoryFault", "y[1000]");
    assert_prints(h, "%print count", "9\n");
    run_cell(h, "%buffer F = (7, 8, 9)\nup<<<1, 1>>>(y)");
    assert_prints(h, "%print y[9]", "9\n");
    run_cell(h, "__device__ int count = 20;");
    run_cell(h, "up<<<1, 1>>>(y)");
    assert_prints(h, "%print y[20]\n%print count", "9\n21\n");
}

static void written_bytes_are_known_after_a_launch(void **state)
{
    struct harness *h = *state;

    need_compiler(h);
    run_cell(h, "__global__ void even(float *x) { x[2 * threadIdx.x] = threadIdx.x; }\n"
                "%buffer x float[64]\neven<<<1, 16>>>(x)");
    assert_prints(h, "%print x[30]", "15\n");
    assert_int_equal(harness_run(h, "%check x[31] == 0"), -1);
    run_cell(h, "even<<<1, 32>>>(x)\n%check x[62] == 31");
}

static void a_sampled_launch_changes_nothing(void **state)
{
    struct harness *h = *state;

    need_compiler(h);
    run_cell(h, SAXPY "saxpy<<<4, 256>>>(n, 2.0f, x, y) sample=2 -> t");
    assert_has(buf_text(&h->display), "2 of 4 blocks ran for their counts; no buffer was changed");
    assert_prints(h, "%print y[9]\n%print t.is_sampled\n%print t.warps", "1\ntrue\n32\n");
}

/* ---- sweeps and relatives ---- */

static void a_sweep_starts_each_point_from_the_same_buffers(void **state)
{
    struct harness *h = *state;

    need_compiler(h);
    run_cell(h, SAXPY "%launch saxpy<<<(n + block - 1) / block, block>>>(n, 2.0f, x, y) "
                      "block=[32,256,1000] -> s");
    assert_has(buf_text(&h->display), "3 points");
    assert_prints(h,
                  "%print y[9]\n%print s.sweep.block\n%print s.sweep.blocks\n%print count(s.sweep)",
                  "19\n[32, 256, 1000]\n[32, 4, 1]\n3\n");
    run_cell(h, "%launch saxpy grid=[1,2] block=32 build=[opt,debug] args=(n, 1, x, y)");
    assert_prints(h, "%print count(_.sweep)", "4\n");
    assert_fails(h, "%launch saxpy grid=4 block=[64,2000] args=(n, 1, x, y)", "LaunchError",
                 "2000");
    assert_prints(h, "%print y[9]", "28\n");
}

static void lines_and_bench_repeat_the_last_launch(void **state)
{
    struct harness *h = *state;

    need_compiler(h);
    run_cell(h, SAXPY);
    assert_fails(h, "%lines saxpy", "UsageError", "not launched yet");
    assert_fails(h, "r = 3\n%lines r", "UsageError", "r is a variable; %lines takes a kernel");
    run_cell(h, "saxpy<<<4, 256>>>(n, 2.0f, x, y)");
    run_cell(h, "%lines saxpy");
    assert_has(buf_text(&h->display), "build=debug");
    assert_has(buf_text(&h->display), "the code as written");
    run_cell(h, "%bench saxpy bytes={12*n} flops={2*n}");
    assert_has(buf_text(&h->display), "(modelled)");
    assert_prints(h,
                  "%print _.measured\n%print _.iqr_us\n%print _.gbs == 12 * n / _.median_us / 1000 "
                  "+- 1%\n%print y[9]",
                  "null\nnull\ntrue\n19\n");
    run_cell(h, "%bench saxpy bytes={n / 100}");
    assert_has(buf_text(&h->display), "under 0.1 % of 864 GB/s");
}

/* The code as written runs whole when its threads end soon, else a sample of its blocks. */
static void the_last_block_s_branch_counts_as_written(void **state)
{
    struct harness *h = *state;

    need_compiler(h);
    run_cell(h, "__global__ void tail(int n, int trips, float *y) {\n"
                "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                "    float s = 0;\n"
                "    for (int k = 0; k < trips; k++)\n"
                "        s = s / 2 + k;\n"
                "    if (i < n)\n"
                "        y[i] += s;\n"
                "}\n"
                "n = 100001\n"
                "%buffer y float[n] = zeros\n"
                "t = tail<<<(n + 255) / 256, 256>>>(n, 0, y)");
    assert_has(buf_text(&h->display), "1 divergent of");
    assert_prints(h, "%print t.as_written.divergent_branches, t.as_written.is_sampled",
                  "1 false\n");
    run_cell(h, "t = tail<<<(n + 255) / 256, 256>>>(n, 200, y)");
    assert_has(buf_text(&h->display), "scaled from a sample of the blocks");
    assert_prints(h, "%print t.as_written.is_sampled, y[n - 1] > 0", "true true\n");
}

/* ---- time, output, interrupts ---- */

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#define ENDLESS                                                                                    \
    "__global__ void endless(volatile int *x) { while (x[0] == 0) x[1] = x[1] + 1; }\n"            \
    "%buffer x int[2] = zeros\n"

static void an_endless_launch_ends_by_its_timeout(void **state)
{
    struct harness *h = *state;
    double began;

    need_compiler(h);
    run_cell(h, ENDLESS);
    began = seconds();
    assert_fails(h, "endless<<<1, 32>>>(x) timeout=0.2", "Timeout", "0.2 s");
    assert_true(seconds() - began < 3);
    assert_has(traceback(h), "while (x[0] == 0)");
    assert_prints(h, "%print x[1]", "0\n");
}

/* Its first block would end after many seconds: the estimate comes from blocks that were tried. */
static void a_long_launch_says_its_estimate_first(void **state)
{
    struct harness *h = *state;

    need_compiler(h);
    run_cell(h, "__global__ void slow(int n, int *x) {\n"
                "    for (int i = 0; i < n; i++) x[threadIdx.x] = x[threadIdx.x] * 3 + i;\n}\n"
                "%buffer x int[64] = zeros\nslow<<<1, 64>>>(1, x)");
    assert_fails(h, "slow<<<20000, 64>>>(1 << 30, x) timeout=2", "Timeout", "2 s");
    assert_has(buf_text(&h->display), "slow runs: 0 of 20,000 blocks (0 %), at least");
    assert_has(buf_text(&h->display), "slow was stopped");
    assert_prints(h, "%print x[1]", "0\n");
}

static void *interrupt_soon(void *arg)
{
    struct harness *h = arg;

    usleep(200000);
    session_interrupt(h->session);
    return NULL;
}

static void an_interrupt_ends_a_launch_at_once(void **state)
{
    struct harness *h = *state;
    pthread_t thread;
    double began;

    need_compiler(h);
    run_cell(h, ENDLESS);
    assert_int_equal(pthread_create(&thread, NULL, interrupt_soon, h), 0);
    began = seconds();
    assert_fails(h, "endless<<<1, 32>>>(x)", "Interrupted", "interrupted");
    assert_true(seconds() - began < 0.2 + 1); /* ten times the 100 ms that are promised */
    pthread_join(thread, NULL);
    assert_prints(h, "%print x[1]", "0\n");
    run_cell(h, "%buffer x int[2] = ones\nendless<<<1, 32>>>(x)");
}

static void printf_comes_as_stdout_in_block_order(void **state)
{
    struct harness *h = *state;

    need_compiler(h);
    run_cell(h, "#include <cstdio>\n"
                "__global__ void say() { if (threadIdx.x == 0) printf(\"%d \", blockIdx.x); }\n"
                "__global__ void shout() { for (int i = 0; i < 40000; i++) "
                "printf(\"line %d of many that are too many to keep\\n\", i); }");
    assert_prints(h, "say<<<12, 32>>>()", "0 1 2 3 4 5 6 7 8 9 10 11 ");
    run_cell(h, "shout<<<1, 1>>>()");
    assert_in_range(h->out.size, 1 << 19, (1 << 20) + 4096);
}

/* Ends each process that a thread of this one has started. */
static void *kill_children_soon(void *arg)
{
    char path[64];
    glob_t tasks;

    (void)arg;
    usleep(200000);
    snprintf(path, sizeof path, "/proc/%d/task/*/children", (int)getpid());
    if (glob(path, 0, NULL, &tasks))
        return NULL;
    for (size_t i = 0; i < tasks.gl_pathc; i++) {
        FILE *f = fopen(tasks.gl_pathv[i], "r");
        int child;

        while (f && fscanf(f, "%d", &child) == 1)
            kill(child, SIGKILL);
        if (f)
            fclose(f);
    }
    globfree(&tasks);
    return NULL;
}

static void the_worker_s_end_costs_one_launch(void **state)
{
    struct harness *h = *state;
    pthread_t thread;

    need_compiler(h);
    run_cell(h, SAXPY);
    run_cell(h, "__global__ void spin(volatile int *x) { while (x[0] == 0) x[1] = x[1] + 1; }\n"
                "%buffer z int[2] = zeros\n%let kept = 7");
    assert_int_equal(pthread_create(&thread, NULL, kill_children_soon, NULL), 0);
    assert_fails(h, "spin<<<1, 32>>>(z)", "InternalError", "ended with KILL");
    pthread_join(thread, NULL);
    assert_prints(h, "%print z[1]", "0\n");
    assert_prints(h, "%print kept", "7\n");
    run_cell(h, "saxpy<<<4, 256>>>(n, 1.0f, x, y)");
    assert_prints(h, "%print y[9]", "10\n");
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
        cmocka_unit_test(a_launch_line_is_taken_apart),
        SESSION_TEST(a_launch_changes_buffers_and_has_facts),
        SESSION_TEST(keys_say_the_same_as_the_sign),
        SESSION_TEST(a_failed_launch_leaves_buffers_and_unsets_results),
        SESSION_TEST(a_report_keeps_its_order_and_width),
        SESSION_TEST(what_no_gpu_would_start_is_refused_with_its_limit),
        SESSION_TEST(a_slip_in_a_launch_line_does_not_cost_the_kernel),
        SESSION_TEST(arguments_fit_the_signature_or_are_refused),
        SESSION_TEST(a_template_names_its_arguments),
        SESSION_TEST(device_variables_keep_their_values),
        SESSION_TEST(written_bytes_are_known_after_a_launch),
        SESSION_TEST(a_sampled_launch_changes_nothing),
        SESSION_TEST(a_sweep_starts_each_point_from_the_same_buffers),
        SESSION_TEST(lines_and_bench_repeat_the_last_launch),
        SESSION_TEST(the_last_block_s_branch_counts_as_written),
        SESSION_TEST(an_endless_launch_ends_by_its_timeout),
        SESSION_TEST(a_long_launch_says_its_estimate_first),
        SESSION_TEST(an_interrupt_ends_a_launch_at_once),
        SESSION_TEST(printf_comes_as_stdout_in_block_order),
        SESSION_TEST(the_worker_s_end_costs_one_launch),
    };

    /* Children are this program again. */
    if (argc > 1 && strcmp(argv[1], "child") == 0)
        return child_main(argc - 1, argv + 1);
    return cmocka_run_group_tests(tests, group_set_up, group_tear_down);
}
