/*
 * Loads and stores of every width in every shape of addresses, the same instruction meeting one
 * shape after another and each twice in a row, so that what it learnt of the last is used, and
 * dropped when it no longer fits. What must come out, and the sectors and passes that it takes, are
 * worked out lane by lane.
 */
#include "model/memory.h"
#include "tests/unit/ptx_rig.h"

enum { ROUNDS = 26, SPAN = 4096 /* bytes that a round may touch */, MOST_PARTS = 4 };

struct kind {
    const char *load, *store; /* "u8": behind the space */
    const char *registers;    /* "r" or "rd", parts of them */
    int parts, bytes;         /* of a part */
    bool is_signed;
};

static const struct kind KINDS[] = {
    { "u8", "u8", "r", 1, 1, false },          { "s8", "u8", "r", 1, 1, true },
    { "u16", "u16", "r", 1, 2, false },        { "s16", "u16", "r", 1, 2, true },
    { "u32", "u32", "r", 1, 4, false },        { "s32", "u32", "rd", 1, 4, true },
    { "u32", "u32", "rd", 1, 4, false },       { "b64", "b64", "rd", 1, 8, false },
    { "v2.u32", "v2.u32", "r", 2, 4, false },  { "v4.u32", "v4.u32", "r", 4, 4, false },
    { "v2.b64", "v2.b64", "rd", 2, 8, false }, { "v4.u8", "v4.u8", "r", 4, 1, false },
    { "v2.s16", "v2.u16", "r", 2, 2, true },
};

static const char *const SPACES[] = { "global", "shared", "generic" };

/* Byte offset of a lane in units of the access; shapes come in pairs of rounds. */
static uint32_t place(int round, int lane, uint32_t *seed)
{
    int shift = round % 2 * 3;

    switch (round / 2) {
    case 0:
    case 7:
        return (uint32_t)(lane + shift);
    case 1:
        return (uint32_t)shift;
    case 2:
        return (uint32_t)(40 - lane + shift);
    case 3:
        return (uint32_t)(2 * lane + shift);
    case 4:
        return (uint32_t)(lane % 16 + 48 * (lane / 16) + shift);
    case 5:
        return (uint32_t)(lane / 8 * 9 + shift);
    case 6:
        return (uint32_t)(lane % 8 + 64 * (3 - lane / 8) + shift);
    case 8:
        return (uint32_t)(lane % 8 + shift);
    case 9: /* lane 5 elsewhere, in the second round only */
        return (uint32_t)(lane + (lane == 5 && shift ? 77 : 0));
    case 10:
        return (uint32_t)(lane ^ 1);
    default:
        *seed = *seed * 1664525U + 1013904223U;
        return *seed >> 24;
    }
}

static void put_registers(struct buf *b, const struct kind *k)
{
    if (k->parts > 1)
        buf_puts(b, "{");
    for (int i = 0; i < k->parts; i++)
        buf_printf(b, "%s%%v%d", i ? ", " : "", i);
    buf_puts(b, k->parts > 1 ? "}" : "");
}

/*
 * For each round: v = in[at[round * 32 + lane]]; out[round * SPAN + the same] = v. In shared
 * memory, the input is copied there first.
 */
static void put_kernel(struct buf *b, const struct kind *k, int number, const char *space)
{
    bool is_shared = !strcmp(space, "shared"), is_generic = !strcmp(space, "generic");
    const char *dot = is_shared ? ".shared" : is_generic ? "" : ".global";

    buf_printf(b, ".visible .entry k%d(.param .u64 a, .param .u64 b, .param .u64 c)\n{\n", number);
    buf_printf(b, ".reg .pred %%p;\n.reg .b32 %%r<9>;\n.reg .b64 %%q<9>;\n.reg .b%d %%v<4>;\n",
               !strcmp(k->registers, "rd") ? 64 : 32);
    buf_printf(b, ".shared .align 16 .b8 tile%d[%d];\n", number, SPAN);
    buf_puts(b, "ld.param.u64 %q1, [a];\nld.param.u64 %q2, [b];\nld.param.u64 %q3, [c];\n"
                "mov.u32 %r1, %tid.x;\nshl.b32 %r2, %r1, 2;\ncvt.u64.u32 %q4, %r2;\n"
                "add.s64 %q2, %q2, %q4;\nmov.u32 %r3, 0;\n");
    if (is_shared)
        buf_printf(b,
                   "mov.u32 %%r5, tile%d;\nadd.u32 %%r6, %%r5, %%r2;\nadd.s64 %%q5, %%q1, %%q4;\n"
                   "FILL%d:\nld.global.u32 %%r7, [%%q5];\nst.shared.u32 [%%r6], %%r7;\n"
                   "add.s64 %%q5, %%q5, 128;\nadd.u32 %%r6, %%r6, 128;\nadd.u32 %%r3, %%r3, 128;\n"
                   "setp.lt.u32 %%p, %%r3, %d;\n@%%p bra FILL%d;\nmov.u32 %%r3, 0;\nbar.sync 0;\n",
                   number, number, SPAN, number);
    buf_printf(b, "LOOP%d:\nld.global.u32 %%r4, [%%q2];\ncvt.u64.u32 %%q6, %%r4;\n", number);
    if (is_shared)
        buf_puts(b, "add.u32 %r6, %r5, %r4;\n");
    else
        buf_puts(b, "add.s64 %q7, %q1, %q6;\n");
    buf_printf(b, "ld%s.%s ", dot, k->load);
    put_registers(b, k);
    buf_printf(b, ", [%s];\nadd.s64 %%q8, %%q3, %%q6;\nst%s.%s [%%q8], ", is_shared ? "%r6" : "%q7",
               is_shared ? ".global" : dot, k->store);
    put_registers(b, k);
    buf_printf(b,
               ";\nadd.s64 %%q2, %%q2, 128;\nadd.s64 %%q3, %%q3, %d;\nadd.u32 %%r3, %%r3, 1;\n"
               "setp.lt.u32 %%p, %%r3, %d;\n@%%p bra LOOP%d;\nret;\n}\n",
               SPAN, ROUNDS, number);
}

static void check(struct rig *rig, const struct kind *k, int number, const char *space)
{
    uint64_t parameters[3];
    uint32_t seed = 5, fill = 9;
    uint8_t *in, *out, *want = calloc(ROUNDS, SPAN);
    size_t bytes = (size_t)(k->parts * k->bytes);
    int64_t sectors = 0, passes = 0;
    uint32_t *at;
    char name[16];

    assert_non_null(want);
    rig->launch.buffer_count = 0;
    in = rig_buffer(rig, SPAN, &parameters[0]);
    at = rig_buffer(rig, ROUNDS * WARP * 4, &parameters[1]);
    out = rig_buffer(rig, ROUNDS * SPAN, &parameters[2]);
    for (int i = 0; i < SPAN; i++) {
        fill = fill * 1664525U + 1013904223U;
        in[i] = (uint8_t)(fill >> 24);
    }
    for (int r = 0; r < ROUNDS; r++) {
        uint64_t address[WARP];

        for (int l = 0; l < WARP; l++) {
            size_t from = (size_t)place(r, l, &seed) * bytes % (SPAN / 4 * 4);

            at[r * WARP + l] = (uint32_t)from;
            memcpy(want + (size_t)r * SPAN + from, in + from, bytes);
            address[l] = from;
        }
        sectors += memory_sectors(address, UINT32_MAX, (int)bytes);
        passes += memory_passes(address, UINT32_MAX, (int)bytes);
    }
    snprintf(name, sizeof name, "k%d", number);
    rig_run(rig, name, 1, WARP, parameters);
    /* The addresses are 4 sectors a round; shared memory was filled by 32 stores of 4. */
    if (strcmp(space, "shared")) {
        assert_int_equal(rig->facts.global_load.sectors, sectors + 4 * ROUNDS);
        if (rig->facts.global_store.sectors != sectors)
            fail_msg("%s %s %d: %d sectors, not %d", space, k->load, number,
                     (int)rig->facts.global_store.sectors, (int)sectors);
    } else {
        if (rig->facts.shared.passes != passes + SPAN / 128)
            fail_msg("%s %s %d: %d passes, not %d", space, k->load, number,
                     (int)rig->facts.shared.passes, (int)passes + SPAN / 128);
    }
    for (size_t i = 0; i < (size_t)ROUNDS * SPAN; i++)
        if (out[i] != want[i])
            fail_msg("%s %s in registers %s: round %zu byte %zu is %d, not %d", space, k->load,
                     k->registers, i / SPAN, i % SPAN, out[i], want[i]);
    free(want);
}

static void every_width_and_shape_moves_its_bytes(void **state)
{
    struct buf text = { 0 };
    struct rig rig;
    int n = 0;

    (void)state;
    buf_puts(&text, ".version 8.0\n.target sm_80\n.address_size 64\n");
    for (size_t s = 0; s < COUNT(SPACES); s++)
        for (size_t i = 0; i < COUNT(KINDS); i++)
            put_kernel(&text, &KINDS[i], n++, SPACES[s]);
    assert_false(text.is_failed);
    rig_load(&rig, (struct bytes){ text.data, text.size });
    n = 0;
    for (size_t s = 0; s < COUNT(SPACES); s++)
        for (size_t i = 0; i < COUNT(KINDS); i++)
            check(&rig, &KINDS[i], n++, SPACES[s]);
    rig_done(&rig);
    buf_done(&text);
}

/* What a register gets of a narrow load: zeros or the sign above. */
static void narrow_loads_extend(void **state)
{
    static const struct {
        const char *load;
        uint64_t want; /* of bytes that are all 0x80 + lane */
    } CASES[] = { { "u8", 0x80 },
                  { "s8", 0xffffff80 },
                  { "u16", 0x8080 },
                  { "s16", 0xffff8080 },
                  { "u32", 0x80808080 } };

    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct buf text = { 0 };
        uint64_t parameters[2];
        uint32_t *out;
        struct rig rig;
        uint8_t *in;

        buf_printf(&text,
                   ".version 8.0\n.target sm_80\n.address_size 64\n"
                   ".visible .entry k(.param .u64 a, .param .u64 b)\n{\n.reg .pred %%p;\n"
                   ".reg .b32 %%r<4>;\n.reg .b64 %%q<4>;\nld.param.u64 %%q1, [a];\n"
                   "ld.param.u64 %%q2, [b];\nmov.u32 %%r1, 0;\nL:\nld.global.%s %%r2, [%%q1];\n"
                   "st.global.u32 [%%q2], %%r2;\nadd.u32 %%r1, %%r1, 1;\n"
                   "setp.lt.u32 %%p, %%r1, 3;\n@%%p bra L;\nret;\n}\n",
                   CASES[i].load);
        rig_load(&rig, (struct bytes){ text.data, text.size });
        in = rig_buffer(&rig, 64, &parameters[0]);
        out = rig_buffer(&rig, 64, &parameters[1]);
        memset(in, 0x80, 64);
        rig_run(&rig, "k", 1, WARP, parameters);
        assert_int_equal(out[0], CASES[i].want);
        rig_done(&rig);
        buf_done(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_width_and_shape_moves_its_bytes),
        cmocka_unit_test(narrow_loads_extend),
    };

    return rig_run_builds(tests, COUNT(tests));
}
