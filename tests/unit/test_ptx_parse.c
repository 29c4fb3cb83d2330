/* PTX texts, good and bad: what a module says of itself, and how it refuses. */
#include "tests/unit/ptx_rig.h"

#define HEAD       ".version 9.0\n.target sm_80\n.address_size 64\n"
#define BODY(text) HEAD ".visible .entry k()\n{\n.reg .b32 %r<4>;\n" text "ret;\n}\n"

static int load(const char *text, struct err *err)
{
    struct ptx_module *module = NULL;
    int rc = ptx_module_load(bytes_of(text), &module, err);

    ptx_module_free(&module);
    return rc;
}

static void a_bad_text_is_a_syntax_error_that_names_the_line(void **state)
{
    static const struct {
        const char *text;
        const char *line;
    } cases[] = {
        { "hello", "line 1" },
        { HEAD "\n.entry", "line 5" },
        { HEAD ".visible .entry k(.param .u64 a", "line 4" },
        { HEAD ".visible .entry k()\n{\n", "line 6" },
        { BODY(".reg .b32 %q<0>;\n"), "line 7" },
        { BODY(".reg .b32 %q<999999999>;\n"), "line 7" },
        { BODY("mov.u32 %r1 %r2;\n"), "line 7" },
        { BODY("mov.u32 %r1, [%r2;\n"), "line 7" },
        { BODY("@ bra $x;\n"), "line 7" },
        { BODY("$a:\n$a:\n"), "line 8" },
        { HEAD ".global .b8 x[99999999999];\n", "line 4" },
        { HEAD ".global .align 3 .b8 x[4];\n", "line 4" },
        { HEAD ".global .b8 x[2] = {1, 2, 3};\n", "line 4" },
        { HEAD ".global .b8 x[2] = \"ab\";\n", "line 4" },
        { "\"", "line 1" },
        { "{{{{{{{{", "line 1" },
        { "/* never closed", NULL },
        { "", NULL },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct err err = { 0 };
        int rc = load(cases[i].text, &err);

        if (!cases[i].line) {
            assert_int_equal(rc, 0); /* no functions, and no harm */
        } else if (rc == 0 || err.name != ERR_SyntaxError || !strstr(err.text, cases[i].line)) {
            fail_msg("%s: %s", cases[i].text, err.text);
        }
        err_done(&err);
    }
}

static void every_cut_of_a_sample_is_refused_or_loaded(void **state)
{
    size_t size;
    char *text = rig_read("tests/data/ptx/basics.opt.ptx", &size);

    (void)state;
    for (size_t n = 0; n < size; n += 97) {
        struct ptx_module *module = NULL;
        struct err err = { 0 };
        char *exact = malloc(n + 1); /* so that a sanitizer sees a read past the end */

        assert_non_null(exact);
        memcpy(exact, text, n);
        if (ptx_module_load((struct bytes){ exact, n }, &module, &err) < 0)
            assert_int_not_equal(err.name, ERR_none);
        ptx_module_free(&module);
        err_done(&err);
        free(exact);
    }
    free(text);
}

static void an_instruction_that_is_not_executed_is_refused_with_its_lines(void **state)
{
    static const char *const opcodes[] = {
        "tex.2d.v4.f32.s32 {%r0, %r1, %r2, %r3}, [%r0, {%r1, %r2}];\n",
        "frobnicate.u32 %r1, %r2;\n",
        "add.q32 %r1, %r2, %r3;\n",
        "ld.global.b128 %r1, [%r2];\n",
        "shfl.down.b32 %r1, %r2, 1, 31;\n",
        "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r0}, [%r1];\n",
        "mov.u32 %r1, %nosuchregister;\n",
        "bra $nowhere;\n",
        "call.uni nobody;\n",
        "add.s32 %r1, %r2;\n",
        "mov.b64 %r1, %r2;\n",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(opcodes); i++) {
        struct err err = { 0 };
        char text[512];
        size_t opcode_size = strcspn(opcodes[i], " ");

        snprintf(text, sizeof text, "%s.loc 1 42 3\n%sret;\n}\n.file 1 \"/tmp/In[3]\"\n",
                 HEAD ".visible .entry k()\n{\n.reg .b32 %r<4>;\n", opcodes[i]);
        assert_int_equal(load(text, &err), -1);
        if (err.name != ERR_UnsupportedError || strncmp(err.text, opcodes[i], opcode_size) != 0 ||
            !strstr(err.text, "line 8 of the PTX"))
            fail_msg("%s: %s", opcodes[i], err.text);
        assert_int_equal(err.line, 42);
        assert_string_equal(err.place, "In[3]");
        err_done(&err);
    }
}

static void a_module_says_what_its_kernels_take(void **state)
{
    struct rig rig;
    const struct ptx_kernel *k;

    (void)state;
    rig_load_sample(&rig, "basics.opt");
    assert_int_equal(ptx_kernel_count(rig.module), 12);
    k = ptx_kernel_find(rig.module, "saxpy");
    assert_non_null(k);
    assert_int_equal(k->parameter_count, 4);
    assert_int_equal(k->parameter_bytes, 24);
    assert_int_equal(k->parameters[1].offset, 4);
    assert_string_equal(k->parameters[1].type, "f32");
    assert_int_equal(k->parameters[3].offset, 16);
    assert_int_equal(k->line, 11);
    assert_int_equal(ptx_kernel_find(rig.module, "matmul_tiled")->static_shared_bytes, 2048);
    assert_int_equal(ptx_kernel_find(rig.module, "vector_add")->static_shared_bytes, 0);
    assert_null(ptx_kernel_find(rig.module, "nosuch"));
    rig_done(&rig);
}

static void a_struct_parameter_keeps_its_size_and_alignment(void **state)
{
    struct rig rig;
    const struct ptx_kernel *k;

    (void)state;
    rig_load_sample(&rig, "basics.debug");
    k = ptx_kernel_find(rig.module, "structs");
    assert_int_equal(k->parameters[0].size, 16);
    assert_int_equal(k->parameters[0].align, 8);
    assert_int_equal(k->parameter_bytes, 24);
    assert_int_equal(k->local_bytes, 32); /* its own 16 and those of what it calls */
    rig_done(&rig);
}

static void a_module_lists_its_variables_with_their_values(void **state)
{
    static const float weights[] = { 0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f };
    struct rig rig;
    const struct ptx_variable *v;

    (void)state;
    rig_load_sample(&rig, "basics.opt");
    assert_int_equal(ptx_variable_count(rig.module), 2);
    v = ptx_variable_at(rig.module, 0);
    assert_string_equal(v->name, "weights");
    assert_true(v->is_constant);
    assert_int_equal(v->size, 20);
    assert_memory_equal(v->initial, weights, sizeof weights);
    assert_string_equal(ptx_variable_at(rig.module, 1)->name, "launches");
    assert_false(ptx_variable_at(rig.module, 1)->is_constant);
    rig_done(&rig);
}

static void an_initial_value_may_be_an_address(void **state)
{
    struct rig rig;
    const uint64_t *values;

    (void)state;
    rig_load(&rig, bytes_of(HEAD ".global .align 4 .b8 a[16] = {1, 0, 0, 0, 2};\n"
                                 ".global .align 8 .u64 p[2] = {97, generic(a)+8};\n"));
    values = ptx_variable_at(rig.module, 1)->initial;
    assert_int_equal(values[0], 97);
    assert_int_equal(values[1], ptx_variable_at(rig.module, 0)->address + 8);
    rig_done(&rig);
}

static void the_short_branch_is_a_select_in_the_optimised_build_only(void **state)
{
    static const struct {
        const char *sample, *kernel, *branch;
        int first_line, last_line;
    } cases[] = {
        { "divergence.opt", "short_by_lane", "selp", 17, 20 },
        { "divergence.debug", "short_by_lane", "bra", 17, 20 },
        { "divergence.opt", "long_by_lane", "bra", 29, 32 },
        { "divergence.opt", "long_by_lane", "", 1000, 2000 },
        { "divergence.opt", "nosuch", "", 0, 0 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct rig rig;
        int ptx_line;

        rig_load_sample(&rig, cases[i].sample);
        assert_string_equal(ptx_kernel_branch(rig.module, cases[i].kernel, cases[i].first_line,
                                              cases[i].last_line, &ptx_line),
                            cases[i].branch);
        assert_int_equal(ptx_line > 0, cases[i].branch[0] != '\0');
        rig_done(&rig);
    }
}

/* ---- Launches that cannot be --------------------------------------------------------------- */

static void a_launch_beyond_the_limits_is_refused_before_it_runs(void **state)
{
    struct rig rig;

    (void)state;
    rig_load(&rig, bytes_of(BODY("")));
    assert_int_equal(rig_try(&rig, "k", 1, 1025, ""), -1);
    assert_int_equal(rig.err.name, ERR_LaunchError);
    assert_non_null(strstr(rig.err.text, "1025"));
    err_done(&rig.err);
    rig.launch.dynamic_shared_bytes = 300000;
    assert_int_equal(rig_try(&rig, "k", 1, 32, ""), -1);
    assert_int_equal(rig.err.name, ERR_LaunchError);
    rig_done(&rig);
}

static void an_access_out_of_bounds_names_thread_line_buffer_and_index(void **state)
{
    static const char *const samples[] = { "basics.opt", "basics.debug" };

    (void)state;
    for (size_t i = 0; i < COUNT(samples); i++) {
        struct {
            int n;
            float a;
            uint64_t x, y;
        } p = { 1000, 2.0f, 0, 0 };
        struct rig rig;

        rig_load_sample(&rig, samples[i]);
        rig_buffer(&rig, 4000, &p.x);
        rig_buffer(&rig, 4000, &p.y);
        for (int k = 0; k < 2; k++) {
            rig.buffers[k].name = k ? "y" : "x";
            rig.buffers[k].element_type = "float";
            rig.buffers[k].element_bytes = 4;
        }
        assert_int_equal(rig_try(&rig, "saxpy", 4, 256, &p), -1);
        assert_int_equal(rig.err.name, ERR_MemoryFault);
        assert_string_equal(rig.err.text,
                            "saxpy reads x[1000], but x has 1000 floats (24 threads)");
        assert_int_equal(rig.err.line, 14);
        assert_int_equal(rig.fault.block.x, 3);
        assert_int_equal(rig.fault.thread.x, 232);
        assert_int_equal(rig.fault.warp, 7);
        assert_int_equal(rig.fault.lanes, 0xffffff00);
        assert_int_equal(rig.fault.threads, 24);
        assert_int_equal(rig.fault.buffer, 0);
        assert_int_equal(rig.fault.index, 1000);
        assert_int_equal(rig.fault.past_end, 0);
        assert_non_null(strstr(rig.err.detail, "warp 7, lanes 8..31"));
        rig_done(&rig);
    }
}

static void a_misaligned_or_foreign_address_is_told_from_an_index(void **state)
{
    static const struct {
        uint64_t x;
        const char *text;
    } cases[] = {
        { 0, "null pointer" },
        { 0x7ffe12345678, "in no buffer" },
        { 0x10000002, "no multiple of 4" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct {
            int n;
            float a;
            uint64_t x, y;
        } p = { 32, 2.0f, 0, 0 };
        struct rig rig;

        rig_load_sample(&rig, "basics.opt");
        rig_buffer(&rig, 4096, &p.y);
        p.x = cases[i].x;
        assert_int_equal(rig_try(&rig, "saxpy", 1, 32, &p), -1);
        assert_int_equal(rig.err.name, ERR_MemoryFault);
        if (!strstr(rig.err.text, cases[i].text))
            fail_msg("%s: %s", cases[i].text, rig.err.text);
        rig_done(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bad_text_is_a_syntax_error_that_names_the_line),
        cmocka_unit_test(every_cut_of_a_sample_is_refused_or_loaded),
        cmocka_unit_test(an_instruction_that_is_not_executed_is_refused_with_its_lines),
        cmocka_unit_test(a_module_says_what_its_kernels_take),
        cmocka_unit_test(a_struct_parameter_keeps_its_size_and_alignment),
        cmocka_unit_test(a_module_lists_its_variables_with_their_values),
        cmocka_unit_test(an_initial_value_may_be_an_address),
        cmocka_unit_test(the_short_branch_is_a_select_in_the_optimised_build_only),
        cmocka_unit_test(a_launch_beyond_the_limits_is_refused_before_it_runs),
        cmocka_unit_test(an_access_out_of_bounds_names_thread_line_buffer_and_index),
        cmocka_unit_test(a_misaligned_or_foreign_address_is_told_from_an_index),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
