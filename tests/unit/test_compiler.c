/*
 * The compiler child's work, called in this process: what a kernel takes, in both
 * builds and for several cards, and how the compiler's words become an error.
 */
#include "kernels/compiler.h"
#include "kernels/cubin.h"
#include "kernels/toolkit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static const char SOURCE[] =
    "#line 1 \"In[3]\"\n"
    "extern \"C\" __global__ void saxpy(int n, float a, const float *x, float *y)\n"
    "{\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < n)\n"
    "        y[i] = a * x[i] + y[i];\n"
    "}\n"
    "__global__ void tile(float *y)\n"
    "{\n"
    "    __shared__ float t[33][32];\n"
    "    t[threadIdx.y][threadIdx.x] = y[threadIdx.x];\n"
    "    __syncthreads();\n"
    "    y[threadIdx.x] = t[threadIdx.x][threadIdx.y];\n"
    "}\n"
    "__global__ void __launch_bounds__(512, 2) spill(float *y)\n"
    "{\n"
    "    float v[96];\n"
    "    for (int i = 0; i < 96; i++)\n"
    "        v[i] = y[i * threadIdx.x];\n"
    "    for (int k = 0; k < 8; k++)\n"
    "        for (int i = 0; i < 96; i++)\n"
    "            v[i] = v[i] * v[(i * 7 + 1) % 96];\n"
    "    for (int i = 0; i < 96; i++)\n"
    "        y[i * threadIdx.x] = v[i];\n"
    "}\n";

struct compilation {
    struct child_message request, answer;
    struct err err;
    int rc;
};

/* Compiles; the test is skipped where there is no NVRTC. */
static void compile(struct compilation *c, const char *source, const char *arch, bool is_debug)
{
    *c = (struct compilation){ .request = { .op = OP_COMPILE } };
    fields_put_text(&c->request.body, TAG_SOURCE, source);
    fields_put_text(&c->request.body, TAG_ARCH, arch);
    fields_put_int(&c->request.body, TAG_IS_DEBUG, is_debug);
    c->rc = compiler_serve(&c->request, &c->answer, &c->err);
    if (c->err.name == ERR_DeviceError)
        skip();
}

static void done(struct compilation *c)
{
    child_message_done(&c->request);
    child_message_done(&c->answer);
    err_done(&c->err);
}

static bool find_kernel(const struct compilation *c, const char *symbol, struct bytes *record)
{
    struct bytes name;

    for (size_t i = 0; fields_find(child_message_body(&c->answer), TAG_KERNEL, i, record); i++)
        if (fields_find(*record, TAG_NAME, 0, &name) && bytes_equal(name, symbol))
            return true;
    return false;
}

/* The assembler's own count from its report, to compare the machine code's with. */
static int registers_in_report(const struct compilation *c, const char *symbol)
{
    struct bytes log;
    const char *at;
    char heading[80], *text;
    int n;

    assert_true(fields_find(child_message_body(&c->answer), TAG_LOG, 0, &log));
    text = strndup(log.data, log.size);
    snprintf(heading, sizeof(heading), "entry function '%s'", symbol);
    at = strstr(text, heading);
    assert_non_null(at);
    at = strstr(at, "Used ");
    assert_non_null(at);
    n = atoi(at + 5);
    free(text);
    return n;
}

/* What was begun beside another compilation is what would have been compiled; asked for once. */
static void code_that_was_begun_ahead_is_the_same(void **state)
{
    struct child_message first = { .op = OP_COMPILE }, written = { .op = OP_COMPILE },
                         answer = { 0 };
    struct compilation plain;
    struct bytes begun, compiled;
    struct err err = { 0 };

    (void)state;
    compile(&plain, SOURCE, "compute_80", true);
    assert_int_equal(plain.rc, 0);
    fields_put(&written.body, TAG_SOURCE, bytes_of(SOURCE));
    fields_put_text(&written.body, TAG_ARCH, "compute_80");
    fields_put_int(&written.body, TAG_IS_DEBUG, true);
    fields_put_text(&first.body, TAG_SOURCE, "__global__ void other() {}");
    fields_put_text(&first.body, TAG_ARCH, "compute_80");
    fields_put(&first.body, TAG_AHEAD, child_message_body(&written));
    assert_int_equal(compiler_serve(&first, &answer, &err), 0);
    child_message_done(&answer);
    for (int i = 0; i < 2; i++) {
        answer = (struct child_message){ 0 };
        assert_int_equal(compiler_serve(&written, &answer, &err), 0);
        assert_true(fields_find(child_message_body(&answer), TAG_PTX, 0, &begun));
        assert_true(fields_find(child_message_body(&plain.answer), TAG_PTX, 0, &compiled));
        assert_int_equal(begun.size, compiled.size);
        assert_memory_equal(begun.data, compiled.data, begun.size);
        child_message_done(&answer);
    }

    /* Begun in vain: the error is that of the compilation which is asked for. */
    child_message_done(&first);
    child_message_done(&written);
    first = written = (struct child_message){ .op = OP_COMPILE };
    fields_put_text(&written.body, TAG_SOURCE, "__global__ void wrong() { int i = ; }");
    fields_put_text(&written.body, TAG_ARCH, "compute_80");
    fields_put_int(&written.body, TAG_IS_DEBUG, true);
    fields_put_text(&first.body, TAG_SOURCE, "__global__ void other() {}");
    fields_put_text(&first.body, TAG_ARCH, "compute_80");
    fields_put(&first.body, TAG_AHEAD, child_message_body(&written));
    answer = (struct child_message){ 0 };
    assert_int_equal(compiler_serve(&first, &answer, &err), 0);
    child_message_done(&answer);
    assert_int_equal(compiler_serve(&written, &answer, &err), -1);
    assert_int_equal(err.name, ERR_CompileError);
    err_done(&err);
    child_message_done(&answer);
    child_message_done(&first);
    child_message_done(&written);
    done(&plain);
}

static void resources_are_those_of_the_assembler(void **state)
{
    static const char *const archs[] = { "sm_75", "sm_80", "sm_89", "sm_90", "sm_120" };
    static const char *const symbols[] = { "saxpy", "_Z4tilePf", "_Z5spillPf" };

    (void)state;
    for (size_t a = 0; a < COUNT(archs); a++) {
        struct compilation c;
        struct bytes record;

        compile(&c, SOURCE, archs[a], false);
        assert_int_equal(c.rc, 0);
        for (size_t k = 0; k < COUNT(symbols); k++) {
            assert_true(find_kernel(&c, symbols[k], &record));
            assert_int_equal(fields_int(record, TAG_REGISTERS, -1),
                             registers_in_report(&c, symbols[k]));
        }
        find_kernel(&c, "_Z4tilePf", &record);
        assert_int_equal(fields_int(record, TAG_STATIC_BYTES, -1), 33 * 32 * 4);
        find_kernel(&c, "saxpy", &record);
        assert_int_equal(fields_int(record, TAG_STATIC_BYTES, -1), 0);
        assert_int_equal(fields_int(record, TAG_SPILL_STORE_BYTES, -1), 0);
        find_kernel(&c, "_Z5spillPf", &record);
        assert_true(fields_int(record, TAG_SPILL_STORE_BYTES, -1) > 0);
        assert_true(fields_int(record, TAG_SPILL_LOAD_BYTES, -1) > 0);
        assert_true(fields_int(record, TAG_STACK_BYTES, -1) > 0);
        done(&c);
    }
}

static void a_compute_arch_gives_ptx_and_no_machine_code(void **state)
{
    struct compilation c;
    struct bytes data;

    (void)state;
    compile(&c, SOURCE, "compute_80", false);
    assert_int_equal(c.rc, 0);
    assert_true(fields_find(child_message_body(&c.answer), TAG_PTX, 0, &data));
    assert_non_null(memmem(data.data, data.size, ".target sm_80", 13));
    assert_non_null(memmem(data.data, data.size, "In[3]", 5));
    assert_false(fields_find(child_message_body(&c.answer), TAG_CUBIN, 0, &data));
    done(&c);
}

static void the_debug_build_keeps_what_was_written(void **state)
{
    struct compilation c;
    struct bytes data;

    (void)state;
    compile(&c, SOURCE, "compute_80", true);
    assert_int_equal(c.rc, 0);
    assert_true(fields_find(child_message_body(&c.answer), TAG_PTX, 0, &data));
    assert_non_null(memmem(data.data, data.size, "sm_80, debug", 12));
    done(&c);
}

static void headers_of_the_host_are_answered(void **state)
{
    struct compilation c;

    (void)state;
    compile(
        &c,
        "#include <stdio.h>\n#include <stdint.h>\n#include <cuda_runtime.h>\n#include <math.h>\n"
        "#include <limits.h>\n#include <float.h>\n#include <assert.h>\n#include <iostream>\n"
        "__global__ void k(uint32_t *y) { y[0] = INT_MAX; assert(y); printf(\"%d\", 1); }",
        "sm_89", false);
    if (c.rc < 0)
        fail_msg("%s\n%s", c.err.text, c.err.detail);
    done(&c);
}

static void a_wrong_line_is_named_with_its_column(void **state)
{
    static const struct {
        const char *source, *text;
        int line, column;
    } cases[] = {
        { "#line 3 \"In[7]\"\n__global__ void k(float *y) {\n    y[0] = zz + 1;\n}",
          "identifier \"zz\" is undefined", 4, 12 },
        { "#line 3 \"In[7]\"\n__global__ void k(float *y) {\n\ty[0] = zz + 1;\n}",
          "identifier \"zz\" is undefined", 4, 9 },
        { "#line 1 \"In[7]\"\n__global__ void k(float *y) { y[0] = 1 }", "expected a \";\"", 1,
          40 },
        { "#line 1 \"In[7]\"\n__host__ int f() { return 0; }",
          "A function explicitly marked as a __host__", 1, 14 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct compilation c;

        compile(&c, cases[i].source, "sm_89", false);
        assert_int_equal(c.rc, -1);
        assert_int_equal(c.err.name, ERR_CompileError);
        assert_string_equal(c.err.place, "In[7]");
        if (strncmp(c.err.text, cases[i].text, strlen(cases[i].text)) != 0 ||
            c.err.line != cases[i].line || c.err.column != cases[i].column)
            fail_msg("case %zu: %d:%d %s", i, c.err.line, c.err.column, c.err.text);
        assert_non_null(c.err.detail);
        done(&c);
    }
}

static void a_log_without_an_error_line_still_explains(void **state)
{
    static const char *const logs[] = { "",
                                        "something went wrong\n",
                                        "error",
                                        "error:\n(",
                                        "In[3](: error: x",
                                        "a(1): error",
                                        "(((((error: ",
                                        "): error: a",
                                        "x(12): error: " };

    (void)state;
    for (size_t i = 0; i < COUNT(logs); i++) {
        struct err e = { 0 };

        assert_int_equal(compiler_explain(logs[i], &e), -1);
        assert_int_equal(e.name, ERR_CompileError);
        err_done(&e);
    }
}

static void what_the_compiler_means_is_said(void **state)
{
    static const struct {
        const char *log, *text;
        int line;
    } cases[] = {
        { "In[3](7): catastrophic error: #error directive: no\n", "#error directive: no", 7 },
        { "ptxas info    : 0 bytes gmem\n"
          "ptxas info    : Used 9 registers, used 0 barriers, 16 bytes smem\n"
          "ptxas info    : Used 10 registers, used 0 barriers, 80000 bytes smem, 8 bytes cmem[0]\n",
          "a kernel takes 80000 bytes of static shared memory; the compiler allows 49152", 0 },
        { "ptxas info    : 0 bytes gmem, 80000 bytes cmem[3]\n"
          "ptxas info    : Used 8 registers, used 0 barriers, 360 bytes cmem[0]\n",
          "80000 bytes of __constant__ memory; a device has 65536", 0 },
        { "In[2](4): error: attribute \"__global__\" does not apply here\n  __global__\n  ^\n\n"
          "In[2](5): error: incomplete type \"void\" is not allowed\n  void k(real *x)\n       ^\n\n"
          "In[2](5): error: identifier \"real\" is undefined\n  void k(real *x)\n         ^\n",
          "identifier \"real\" is undefined", 5 },
        { "__nv_name_map(2): error: identifier \"SIZE\" is undefined\n"
          "  #pragma nv_mangled_name k<SIZE>\n                            ^\n",
          "k<SIZE>: identifier \"SIZE\" is undefined", 0 },
        { "ptxas application ptx input, line 2; error   : Not a name: 'x'\nptxas fatal   : no\n",
          "the assembler refuses the inline PTX: Not a name: 'x'", 0 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct err e = { 0 };

        assert_int_equal(compiler_explain(cases[i].log, &e), -1);
        assert_int_equal(e.name, ERR_CompileError);
        assert_string_equal(e.text, cases[i].text);
        assert_int_equal(e.line, cases[i].line);
        err_done(&e);
    }
}

static void an_arch_that_nvrtc_lacks_is_a_usage_error(void **state)
{
    struct compilation c;

    (void)state;
    compile(&c, SOURCE, "sm_35", false);
    assert_int_equal(c.rc, -1);
    assert_int_equal(c.err.name, ERR_UsageError);
    assert_non_null(strstr(c.err.text, "sm_35"));
    done(&c);
}

static void ignore_kernel(void *arg, const struct cubin_kernel *k)
{
    (void)arg;
    (void)k;
}

static void a_damaged_cubin_is_an_error_and_no_crash(void **state)
{
    struct compilation c;
    struct bytes cubin;
    char *copy;

    (void)state;
    compile(&c, SOURCE, "sm_90", false);
    assert_int_equal(c.rc, 0);
    assert_true(fields_find(child_message_body(&c.answer), TAG_CUBIN, 0, &cubin));
    for (size_t n = 0; n < cubin.size; n += 37) { /* every prefix, on memory of just its size */
        struct err e = { 0 };

        copy = malloc(n + 1);
        assert_non_null(copy);
        memcpy(copy, cubin.data, n);
        if (cubin_each_kernel((struct bytes){ copy, n }, ignore_kernel, NULL, &e) < 0)
            assert_int_equal(e.name, ERR_InternalError);
        err_done(&e);
        free(copy);
    }
    copy = malloc(cubin.size);
    assert_non_null(copy);
    for (size_t at = 0; at < cubin.size; at += 11) {
        struct err e = { 0 };

        memcpy(copy, cubin.data, cubin.size);
        copy[at] = (char)~copy[at];
        if (cubin_each_kernel((struct bytes){ copy, cubin.size }, ignore_kernel, NULL, &e) < 0)
            assert_int_equal(e.name, ERR_InternalError);
        err_done(&e);
    }
    free(copy);
    done(&c);
}

static void a_cubin_says_who_made_it_and_for_what(void **state)
{
    static const struct {
        const char *arch;
        int sm;
    } cases[] = { { "sm_75", 75 }, { "sm_90", 90 } };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct cubin_origin origin;
        struct compilation c;
        struct bytes cubin;
        int64_t version;

        compile(&c, SOURCE, cases[i].arch, false);
        assert_int_equal(c.rc, 0);
        assert_true(fields_find(child_message_body(&c.answer), TAG_CUBIN, 0, &cubin));
        version = fields_int(child_message_body(&c.answer), TAG_VERSION, 0);
        origin = cubin_origin_of(cubin);
        assert_int_equal(origin.sm, cases[i].sm);
        /* Older assemblers left no note. */
        if (origin.toolkit_major || version >= 13000)
            assert_int_equal(1000 * origin.toolkit_major + 10 * origin.toolkit_minor, version);
        assert_int_equal(cubin_origin_of((struct bytes){ cubin.data, cubin.size / 2 }).sm, 0);
        done(&c);
    }
}

static void the_toolkit_says_where_it_comes_from(void **state)
{
    struct toolkit t;

    (void)state;
    if (!toolkit_find(&t))
        skip();
    assert_non_null(strstr(t.nvrtc, "libnvrtc.so"));
    assert_true(t.origin[0] != '\0');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_that_was_begun_ahead_is_the_same),
        cmocka_unit_test(resources_are_those_of_the_assembler),
        cmocka_unit_test(a_compute_arch_gives_ptx_and_no_machine_code),
        cmocka_unit_test(the_debug_build_keeps_what_was_written),
        cmocka_unit_test(headers_of_the_host_are_answered),
        cmocka_unit_test(a_wrong_line_is_named_with_its_column),
        cmocka_unit_test(a_log_without_an_error_line_still_explains),
        cmocka_unit_test(what_the_compiler_means_is_said),
        cmocka_unit_test(an_arch_that_nvrtc_lacks_is_a_usage_error),
        cmocka_unit_test(a_damaged_cubin_is_an_error_and_no_crash),
        cmocka_unit_test(a_cubin_says_who_made_it_and_for_what),
        cmocka_unit_test(the_toolkit_says_where_it_comes_from),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
