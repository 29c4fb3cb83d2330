/*
 * Moves and their like: registers packed and taken apart, special registers, logic
 * of three operands, prmt and the other instructions that pick bits.
 */
#include "tests/unit/ptx_forms.h"

/* A kernel of one thread: body leaves %q0 ... %q3, which become out[0..3]. */
static void run(const char *body, uint64_t *out)
{
    struct buf b = { 0 };
    struct rig rig;
    uint64_t address, *data;

    buf_puts(&b, ".version 9.0\n.target sm_90\n.address_size 64\n"
                 ".visible .entry k(.param .u64 x)\n{\n.reg .pred %p<4>;\n.reg .b16 %h<8>;\n"
                 ".reg .b32 %r<8>;\n.reg .b64 %rd<8>, %q<4>;\n.reg .b128 %w<4>;\n"
                 "ld.param.u64 %rd7, [x];\nmov.b64 %q0, 0;\nmov.b64 %q1, 0;\nmov.b64 %q2, 0;\n"
                 "mov.b64 %q3, 0;\n");
    buf_puts(&b, body);
    buf_puts(&b, "st.global.v2.b64 [%rd7], {%q0, %q1};\nst.global.v2.b64 [%rd7+16], {%q2, %q3};\n"
                 "ret;\n}\n");
    rig_load(&rig, (struct bytes){ b.data, b.size });
    data = rig_buffer(&rig, 32, &address);
    rig.launch.dynamic_shared_bytes = 96;
    rig_run(&rig, "k", 1, 1, &address);
    memcpy(out, data, 32);
    rig_done(&rig);
    buf_done(&b);
}

static void registers_are_packed_and_taken_apart(void **state)
{
    static const struct {
        const char *body;
        uint64_t want[4];
    } cases[] = {
        { "mov.b64 %q0, {0x11, 0x22};\nmov.b64 {%r1, %r2}, %q0;\ncvt.u64.u32 %q1, %r2;\n",
          { 0x2200000011, 0x22 } },
        { "mov.b32 %r1, {0x1234, 0xabcd};\ncvt.u64.u32 %q0, %r1;\nmov.b32 {_, %h1}, %r1;\n"
          "cvt.u64.u16 %q1, %h1;\nmov.b32 {%h2, _}, %r1;\ncvt.u64.u16 %q2, %h2;\n",
          { 0xabcd1234, 0xabcd, 0x1234 } },
        { "mov.b64 %q0, {0x1, 0x2, 0x3, 0x8004};\nmov.b64 {%h1, %h2, %h3, %h4}, %q0;\n"
          "cvt.s64.s16 %q1, %h4;\ncvt.u64.u16 %q2, %h2;\n",
          { 0x8004000300020001, 0xffffffffffff8004, 2 } },
        { "mov.b16 %h1, {0x12, 0x34};\ncvt.u64.u16 %q0, %h1;\nmov.b32 %r1, {1, 2, 3, 0x84};\n"
          "cvt.u64.u32 %q1, %r1;\n",
          { 0x3412, 0x84030201 } },
        { "mov.b64 %rd1, 0x1111222233334444;\nmov.b128 %w1, {%rd1, 0x5};\nmov.b128 %w2, %w1;\n"
          "mov.b128 {%q0, %q1}, %w2;\n",
          { 0x1111222233334444, 5 } },
        { "mov.b128 %w1, {0x7, 0x9};\nmov.b128 _, %w1;\nmov.b128 {_, %q0}, %w1;\n", { 9 } },
        { "lop3.b32 %r1, 0xf0f0f0f0, 0xcccccccc, 0xaaaaaaaa, 0x96;\ncvt.u64.u32 %q0, %r1;\n"
          "lop3.b32 %r1, 0xf0f0f0f0, 0xcccccccc, 0xaaaaaaaa, 0xe8;\ncvt.u64.u32 %q1, %r1;\n",
          { 0x96969696, 0xe8e8e8e8 } },
        { "setp.eq.u32 %p1, 1, 1;\nlop3.and.b32 %r1|%p2, 5, 2, 0, 0xc0, %p1;\n"
          "selp.b64 %q0, 1, 2, %p2;\nlop3.or.b32 %r1|%p2, 5, 4, 0, 0xc0, !%p1;\n"
          "selp.b64 %q1, 1, 2, %p2;\ncvt.u64.u32 %q2, %r1;\n",
          { 2, 1, 4 } },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        uint64_t out[4];

        run(cases[i].body, out);
        for (int k = 0; k < 4; k++)
            if (out[k] != cases[i].want[k])
                fail_msg("case %zu, word %d: 0x%llx, not 0x%llx", i, k, (unsigned long long)out[k],
                         (unsigned long long)cases[i].want[k]);
    }
}

/* Moves of what stays the same are passed over: nobody may see it, and they count. */
static void a_move_may_be_passed_over_where_its_source_stays(void **state)
{
    static const struct {
        const char *body;
        uint64_t want[4];
    } cases[] = {
        /* Read through a chain, by arithmetic, a comparison, an address and a store. */
        { "mov.u32 %r1, %ntid.x;\nmov.u32 %r2, %r1;\nadd.u32 %r3, %r2, 41;\n"
          "setp.eq.u32 %p1, %r2, 1;\nselp.b64 %q1, 5, 6, %p1;\ncvt.u64.u32 %q0, %r3;\n"
          "mov.u32 %r4, 16;\nmov.u32 %r5, %r4;\nst.shared.u32 [%r5+4], %r2;\n"
          "ld.shared.u32 %r6, [%r4+4];\ncvt.u64.u32 %q2, %r6;\nmov.b64 %q3, %rd7;\n"
          "sub.u64 %q3, %q3, %rd7;\n",
          { 42, 5, 1, 0 } },
        /* The source is written again, and so is the copy. */
        { "mov.b32 %r1, 7;\nmov.b32 %r2, %r1;\nmov.b32 %r1, 8;\ncvt.u64.u32 %q0, %r2;\n"
          "cvt.u64.u32 %q1, %r1;\nmov.b32 %r3, 3;\nsetp.eq.u32 %p1, %r1, 8;\n"
          "@%p1 mov.b32 %r3, 4;\ncvt.u64.u32 %q2, %r3;\n",
          { 7, 8, 4 } },
        /* Turns of a loop. */
        { "mov.b32 %r1, 0;\nmov.b32 %r2, 5;\nL:\nmov.u32 %r3, %ntid.x;\nadd.u32 %r1, %r1, %r2;\n"
          "mov.b32 %r4, %r2;\nsub.u32 %r2, %r2, %r3;\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 bra L;\n"
          "cvt.u64.u32 %q0, %r1;\ncvt.u64.u32 %q1, %r4;\n",
          { 15, 1 } },
        /* Readers that are no loop over lanes. */
        { "mov.b32 %r1, 6;\nshfl.sync.idx.b32 %r2, %r1, 0, 31, 1;\ncvt.u64.u32 %q0, %r2;\n"
          "mov.b32 %r3, 9;\nmov.b64 %q1, {%r3, %r1};\nmov.b32 %r4, 32;\n"
          "st.shared.u32 [32], %r3;\natom.shared.add.u32 %r5, [%r4], %r1;\n"
          "ld.shared.u32 %r6, [%r4];\ncvt.u64.u32 %q2, %r6;\n",
          { 6, 0x600000009, 15 } },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        uint64_t out[4];

        run(cases[i].body, out);
        for (int k = 0; k < 4; k++)
            if (out[k] != cases[i].want[k])
                fail_msg("case %zu, word %d: 0x%llx, not 0x%llx", i, k, (unsigned long long)out[k],
                         (unsigned long long)cases[i].want[k]);
    }
}

static void special_registers_are_known(void **state)
{
    static const struct {
        const char *name;
        int bits;
        uint64_t want;
    } cases[] = {
        { "%clusterid.x", 32, 0 },
        { "%nclusterid.x", 32, 1 },
        { "%cluster_ctaid.z", 32, 0 },
        { "%cluster_nctaid.y", 32, 1 },
        { "%cluster_ctarank", 32, 0 },
        { "%cluster_nctarank", 32, 1 },
        { "%aggr_smem_size", 32, 96 },
        { "%total_smem_size", 32, 96 },
        { "%dynamic_smem_size", 32, 96 },
        { "%pm3", 32, 0 },
        { "%pm7_64", 64, 0 },
        { "%envreg31", 32, 0 },
        { "%clock_hi", 32, 0 },
        { "%globaltimer_hi", 32, 0 },
        { "%current_graph_exec", 64, 0 },
        { "%reserved_smem_offset_cap", 32, 0 },
        { "%laneid", 32, 0 },
        { "%nctaid.z", 32, 1 },
    };
    static const char *const unknown[] = { "%pm8", "%envreg32", "%tid.w", "%nothing", "%pm" };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char body[128];
        uint64_t out[4];

        if (cases[i].bits == 64)
            snprintf(body, sizeof body, "mov.u64 %%q0, %s;\n", cases[i].name);
        else
            snprintf(body, sizeof body, "mov.u32 %%r1, %s;\ncvt.u64.u32 %%q0, %%r1;\n",
                     cases[i].name);
        run(body, out);
        if (out[0] != cases[i].want)
            fail_msg("%s is %llu", cases[i].name, (unsigned long long)out[0]);
    }
    for (size_t i = 0; i < COUNT(unknown); i++) {
        char opcode[64];

        snprintf(opcode, sizeof opcode, "mov.u32 %%r1, %s; mov.b32", unknown[i]);
        if (!form_is_refused(opcode, "rr"))
            fail_msg("%s is not refused", unknown[i]);
    }
}

static void time_passes(void **state)
{
    uint64_t out[4];

    (void)state;
    run("mov.u64 %q0, %clock64;\nadd.s64 %q3, %q0, 0;\nadd.s64 %q3, %q3, 0;\nmov.u64 %q1, %clock64;\n"
        "mov.u64 %q2, %globaltimer;\n",
        out);
    assert_true(out[1] >= out[0] && out[2] >= out[1]);
}

/* prmt by the table of the PTX ISA, a byte at a time. */
static void prmt_has_seven_modes(void **state)
{
    static const struct {
        const char *mode;
        const char *bytes[4]; /* d.b3 ... d.b0 as digits, for c = 0 .. 3 */
    } cases[] = {
        { ".f4e", { "3210", "4321", "5432", "6543" } },
        { ".b4e", { "5670", "6701", "7012", "0123" } },
        { ".rc8", { "0000", "1111", "2222", "3333" } },
        { ".ecl", { "3210", "3211", "3222", "3333" } },
        { ".ecr", { "0000", "1110", "2210", "3210" } },
        { ".rc16", { "1010", "3232", "1010", "3232" } },
    };
    const uint64_t a = 0x13121110, b = 0x17161514;

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        for (uint64_t c = 0; c < 4; c++) {
            struct form_row row = { .source = { a, b, c } };
            char opcode[32];
            uint64_t want = 0;

            for (int k = 0; k < 4; k++)
                want = want << 8 | (0x10 + (uint64_t)(cases[i].bytes[c][k] - '0'));
            snprintf(opcode, sizeof opcode, "prmt.b32%s", cases[i].mode);
            form_run(opcode, "rrrr", &row, 1);
            if (row.got != want)
                fail_msg("%s, %llu: 0x%llx", opcode, (unsigned long long)c,
                         (unsigned long long)row.got);
        }
}

static void what_is_no_move_is_refused(void **state)
{
    static const struct {
        const char *opcode, *shape;
    } cases[] = {
        { "mov.sat.b32", "rr" },         { "mov.b32.b32", "rr" },
        { "cvta.to.nowhere.u64", "dd" }, { "cvta.global.u32", "rr" },
        { "isspacep.nowhere", "pd" },    { "bfi.b16", "hhhrr" },
        { "and.pred.pred", "ppp" },      { "mov.b128 {%rd1, %rd2}, 5; mov.b32", "rr" },
        { "prmt.b32.x4e", "rrrr" },      { "selp.sat.b32", "rrrp" },
        { "shl.sat.b32", "rrr" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        if (!form_is_refused(cases[i].opcode, cases[i].shape))
            fail_msg("%s is not refused", cases[i].opcode);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registers_are_packed_and_taken_apart),
        cmocka_unit_test(a_move_may_be_passed_over_where_its_source_stays),
        cmocka_unit_test(special_registers_are_known),
        cmocka_unit_test(time_passes),
        cmocka_unit_test(prmt_has_seven_modes),
        cmocka_unit_test(what_is_no_move_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
