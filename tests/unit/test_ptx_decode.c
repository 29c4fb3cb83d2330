/* What is decoded, and how the rest is refused before anything runs. */
#include "tests/unit/ptx_rig.h"

#define HEAD ".version 9.0\n.target sm_80\n.address_size 64\n"

static int load(const char *text, struct err *err)
{
    struct ptx_module *module = NULL;
    int rc = ptx_module_load(bytes_of(text), &module, err);

    ptx_module_free(&module);
    return rc;
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

#define SOUND(name) ".visible .entry " name "()\n{\nret;\n}\n"
#define TEXTURE                                                                                    \
    ".visible .entry textured()\n{\n.reg .b32 %r<4>;\n"                                            \
    "tex.2d.v4.f32.s32 {%r0, %r1, %r2, %r3}, [%r0, {%r1, %r2}];\nret;\n}\n"
#define HELPER  ".func helper()\n{\n.reg .b32 %r<2>;\nfrobnicate.u32 %r0, %r1;\nret;\n}\n"
#define CALLING ".visible .entry calls()\n{\ncall.uni helper;\nret;\n}\n"
#define BY_ADDRESS                                                                                 \
    ".visible .entry jumps()\n{\n.reg .b64 %rd<1>;\nmov.u64 %rd0, 16;\n"                           \
    "p: .callprototype _ ();\ncall %rd0, p;\nret;\n}\n"

static void a_refused_function_hinders_only_the_kernels_that_come_to_it(void **state)
{
    static const struct {
        const char *kernels, *launched;
        const char *refused; /* how the error starts; "": it runs */
    } rows[] = {
        { TEXTURE SOUND("sound"), "sound", "" },
        { TEXTURE SOUND("sound"), "textured", "tex.2d.v4.f32.s32 in textured" },
        { HELPER SOUND("sound") CALLING, "sound", "" },
        { HELPER SOUND("sound") CALLING, "calls", "frobnicate.u32 in helper" },
        { HELPER SOUND("sound") BY_ADDRESS, "jumps", "frobnicate.u32 in helper" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rig rig;
        char text[1024];

        snprintf(text, sizeof text, "%s%s", HEAD, rows[i].kernels);
        rig_load(&rig, bytes_of(text));
        if (rig_try(&rig, rows[i].launched, 1, 1, NULL) == 0
                ? rows[i].refused[0] != '\0'
                : !rows[i].refused[0] ||
                      strncmp(rig.err.text, rows[i].refused, strlen(rows[i].refused)) != 0)
            fail_msg("%s: %s", rows[i].launched, rig.err.text);
        rig_done(&rig);
    }
}

static void a_managed_variable_is_one_of_the_device(void **state)
{
    struct rig rig;

    (void)state;
    rig_load(&rig, bytes_of(HEAD ".visible .global .attribute(.managed) .align 4 .u32 total = 5;\n"
                                 ".global .attribute(.unified(1, 2)) .align 8 .b8 far[24];\n" SOUND(
                                     "k")));
    assert_int_equal(ptx_variable_count(rig.module), 2);
    assert_string_equal(ptx_variable_at(rig.module, 0)->name, "total");
    assert_int_equal(*(const uint32_t *)ptx_variable_at(rig.module, 0)->initial, 5);
    assert_int_equal(ptx_variable_at(rig.module, 1)->size, 24);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_instruction_that_is_not_executed_is_refused_with_its_lines),
        cmocka_unit_test(a_refused_function_hinders_only_the_kernels_that_come_to_it),
        cmocka_unit_test(a_managed_variable_is_one_of_the_device),
        cmocka_unit_test(the_short_branch_is_a_select_in_the_optimised_build_only),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
