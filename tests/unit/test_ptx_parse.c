/* PTX texts, good and bad: what a module says of itself, and where a bad one is wrong. */
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
    assert_true(ptx_kernel_find(rig.module, "reduce")->is_dynamic_shared);
    assert_false(ptx_kernel_find(rig.module, "saxpy")->is_dynamic_shared);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bad_text_is_a_syntax_error_that_names_the_line),
        cmocka_unit_test(every_cut_of_a_sample_is_refused_or_loaded),
        cmocka_unit_test(a_module_says_what_its_kernels_take),
        cmocka_unit_test(a_struct_parameter_keeps_its_size_and_alignment),
        cmocka_unit_test(a_module_lists_its_variables_with_their_values),
        cmocka_unit_test(an_initial_value_may_be_an_address),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
