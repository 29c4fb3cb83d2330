/*
 * Products of matrices in registers: mma.sync with fragments placed by the formulas that the PTX
 * ISA prints with its figures, on small whole numbers (every sum is exact) and on random ones
 * within the bound that docs/accuracy.md states; and ldmatrix, stmatrix, movmatrix.
 */
#include "tests/unit/ptx_matrices.h"

/* ---- mma.sync ------------------------------------------------------------------------------- */

/* Element i of a lane, as the PTX ISA gives it: groupID g, threadID_in_group t. */
typedef void place_fn(int g, int t, int i, int *row, int *column);

static void a_16x16_of_16(int g, int t, int i, int *row, int *column)
{
    *row = (i >= 0 && i < 2) || (i >= 4 && i < 6) ? g : g + 8;
    *column = i < 4 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8;
}

static void b_16x8_of_16(int g, int t, int i, int *row, int *column)
{
    *row = i < 2 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8;
    *column = g;
}

static void a_16x8_of_16(int g, int t, int i, int *row, int *column)
{
    *row = i < 2 ? g : g + 8;
    *column = t * 2 + (i & 1);
}

static void b_8x8_of_16(int g, int t, int i, int *row, int *column)
{
    *row = t * 2 + i;
    *column = g;
}

static void a_16x8_of_32(int g, int t, int i, int *row, int *column)
{
    *row = i == 0 || i == 2 ? g : g + 8;
    *column = i < 2 ? t : t + 4;
}

static void b_8x8_of_32(int g, int t, int i, int *row, int *column)
{
    *row = i == 0 ? t : t + 4;
    *column = g;
}

static void a_16x4_of_32(int g, int t, int i, int *row, int *column)
{
    *row = i == 0 ? g : g + 8;
    *column = t;
}

static void b_4x8(int g, int t, int i, int *row, int *column)
{
    (void)i;
    *row = t;
    *column = g;
}

static void a_16x16_of_8(int g, int t, int i, int *row, int *column)
{
    *row = i < 4 ? g : g + 8;
    *column = t * 4 + (i & 3);
}

static void b_16x8_of_8(int g, int t, int i, int *row, int *column)
{
    *row = t * 4 + i;
    *column = g;
}

static void a_16x32_of_8(int g, int t, int i, int *row, int *column)
{
    *row = (i >= 0 && i < 4) || (i >= 8 && i < 12) ? g : g + 8;
    *column = i < 8 ? t * 4 + (i & 3) : t * 4 + (i & 3) + 16;
}

static void b_32x8_of_8(int g, int t, int i, int *row, int *column)
{
    *row = i < 4 ? t * 4 + (i & 3) : t * 4 + (i & 3) + 16;
    *column = g;
}

static void a_8x16_of_8(int g, int t, int i, int *row, int *column)
{
    *row = g;
    *column = t * 4 + i;
}

static void a_16x64_of_4(int g, int t, int i, int *row, int *column)
{
    *row = (i >= 0 && i < 8) || (i >= 16 && i < 24) ? g : g + 8;
    *column = i < 16 ? t * 8 + (i & 7) : t * 8 + (i & 7) + 32;
}

static void b_64x8_of_4(int g, int t, int i, int *row, int *column)
{
    *row = i < 8 ? t * 8 + (i & 7) : t * 8 + (i & 7) + 32;
    *column = g;
}

static void a_16x32_of_4(int g, int t, int i, int *row, int *column)
{
    *row = i < 8 ? g : g + 8;
    *column = t * 8 + (i & 7);
}

static void b_32x8_of_4(int g, int t, int i, int *row, int *column)
{
    *row = t * 8 + i;
    *column = g;
}

static void a_16x256_of_1(int g, int t, int i, int *row, int *column)
{
    *row = (i >= 0 && i < 32) || (i >= 64 && i < 96) ? g : g + 8;
    *column = i < 64 ? t * 32 + (i & 31) : t * 32 + (i & 31) + 128;
}

static void b_256x8_of_1(int g, int t, int i, int *row, int *column)
{
    *row = i < 32 ? t * 32 + i : t * 32 + (i & 31) + 128;
    *column = g;
}

static void a_8x4_of_64(int g, int t, int i, int *row, int *column)
{
    (void)i;
    *row = g;
    *column = t;
}

static void c_16x8(int g, int t, int i, int *row, int *column)
{
    *row = i < 2 ? g : g + 8;
    *column = t * 2 + (i & 1);
}

static const struct {
    struct product p;
    place_fn *a, *b;
} MMA[] = {
    { { &F16, &F16, &F32, &F32, 16, 8, 16, 0 }, a_16x16_of_16, b_16x8_of_16 },
    { { &F16, &F16, &F16, &F16, 16, 8, 16, 0 }, a_16x16_of_16, b_16x8_of_16 },
    { { &F16, &F16, &F32, &F32, 16, 8, 8, 0 }, a_16x8_of_16, b_8x8_of_16 },
    { { &F16, &F16, &F16, &F16, 16, 8, 8, 0 }, a_16x8_of_16, b_8x8_of_16 },
    { { &BF16, &BF16, &F32, &F32, 16, 8, 16, 0 }, a_16x16_of_16, b_16x8_of_16 },
    { { &BF16, &BF16, &F32, &F32, 16, 8, 8, 0 }, a_16x8_of_16, b_8x8_of_16 },
    { { &TF32, &TF32, &F32, &F32, 16, 8, 8, 0 }, a_16x8_of_32, b_8x8_of_32 },
    { { &TF32, &TF32, &F32, &F32, 16, 8, 4, 0 }, a_16x4_of_32, b_4x8 },
    { { &F64, &F64, &F64, &F64, 8, 8, 4, 0 }, a_8x4_of_64, b_4x8 },
    { { &F64, &F64, &F64, &F64, 16, 8, 4, 0 }, a_16x4_of_32, b_4x8 },
    { { &F64, &F64, &F64, &F64, 16, 8, 8, 0 }, a_16x8_of_32, b_8x8_of_32 },
    { { &S8, &S8, &S32, &S32, 16, 8, 32, 0 }, a_16x32_of_8, b_32x8_of_8 },
    { { &S8, &U8, &S32, &S32, 16, 8, 16, 0 }, a_16x16_of_8, b_16x8_of_8 },
    { { &U8, &S8, &S32, &S32, 8, 8, 16, 0 }, a_8x16_of_8, b_16x8_of_8 },
    { { &S4, &U4, &S32, &S32, 16, 8, 64, 0 }, a_16x64_of_4, b_64x8_of_4 },
    { { &U4, &S4, &S32, &S32, 16, 8, 32, 0 }, a_16x32_of_4, b_32x8_of_4 },
    { { &B1, &B1, &S32, &S32, 16, 8, 256, false }, a_16x256_of_1, b_256x8_of_1 },
    { { &B1, &B1, &S32, &S32, 16, 8, 256, true }, a_16x256_of_1, b_256x8_of_1 },
    { { &E4M3, &E5M2, &F32, &F32, 16, 8, 32, 0 }, a_16x32_of_8, b_32x8_of_8 },
    { { &E4M3, &E4M3, &F16, &F16, 16, 8, 32, 0 }, a_16x32_of_8, b_32x8_of_8 },
};

/* Registers of lane l: 8 words of A, of B and of C, then of D; doubles take two words. */
enum { LANE_WORDS = 16 };
struct lane {
    uint32_t a[LANE_WORDS], b[LANE_WORDS], c[LANE_WORDS], d[LANE_WORDS];
};

static void put_moves(struct buf *b, const char *op, const char *name, const struct kind *kind,
                      int count, size_t at)
{
    bool is_wide = kind == &F64;

    for (int i = 0; i < count; i++)
        if (*op == 'l')
            buf_printf(b, "ld.global.b%d %%%c%s%d, [%%rd1+%zu];\n", is_wide ? 64 : 32,
                       is_wide ? 'd' : 'r', name, i, at + (size_t)i * (is_wide ? 8 : 4));
        else
            buf_printf(b, "st.global.b%d [%%rd1+%zu], %%%c%s%d;\n", is_wide ? 64 : 32,
                       at + (size_t)i * (is_wide ? 8 : 4), is_wide ? 'd' : 'r', name, i);
}

static void put_mma(struct buf *b, const struct product *p, const char *suffix)
{
    int ra = matrix_registers(p->a, p->m * p->k, false),
        rb = matrix_registers(p->b, p->k * p->n, false);
    int rc = matrix_registers(p->c, p->m * p->n, false),
        rd = matrix_registers(p->d, p->m * p->n, false);

    buf_puts(b,
             ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 x)\n{\n"
             ".reg .b64 %rd<3>;\n.reg .b32 %t;\n");
    matrix_put_registers(b);
    buf_printf(b,
               "ld.param.u64 %%rd1, [x];\nmov.u32 %%t, %%tid.x;\nmul.wide.u32 %%rd2, %%t, %zu;\n"
               "add.s64 %%rd1, %%rd1, %%rd2;\n",
               sizeof(struct lane));
    put_moves(b, "l", "a", p->a, ra, offsetof(struct lane, a));
    put_moves(b, "l", "b", p->b, rb, offsetof(struct lane, b));
    put_moves(b, "l", "c", p->c, rc, offsetof(struct lane, c));
    buf_printf(b, "mma.sync.aligned.m%dn%dk%d.row.col%s.%s.%s.%s.%s%s ", p->m, p->n, p->k, suffix,
               p->d->name, p->a->name, p->b->name, p->c->name,
               p->a != &B1 ? ""
               : p->is_and ? ".and.popc"
                           : ".xor.popc");
    matrix_put_list(b, "e", p->d, rd);
    buf_puts(b, ", ");
    matrix_put_list(b, "a", p->a, ra);
    buf_puts(b, ", ");
    matrix_put_list(b, "b", p->b, rb);
    buf_puts(b, ", ");
    matrix_put_list(b, "c", p->c, rc);
    buf_puts(b, ";\n");
    put_moves(b, "s", "e", p->d, rd, offsetof(struct lane, d));
    buf_puts(b, "ret;\n}\n");
}

static void run_mma(size_t index, bool is_whole, struct matrices *x, uint64_t *seed)
{
    const struct product *p = &MMA[index].p;
    struct buf text = { 0 };
    struct lane *lanes;
    struct rig rig;
    uint64_t address;
    char what[80];

    put_mma(&text, p, "");
    assert_false(text.is_failed);
    snprintf(what, sizeof what, "mma m%dn%dk%d of %s and %s", p->m, p->n, p->k, p->a->name,
             p->c->name);
    rig_load(&rig, (struct bytes){ text.data, text.size });
    lanes = rig_buffer(&rig, 32 * sizeof *lanes, &address);
    matrix_fill(x, p, is_whole, seed);
    for (int l = 0; l < 32; l++) {
        int row, column;

        for (int i = 0; i < p->m * p->k / 32; i++) {
            MMA[index].a(l / 4, l % 4, i, &row, &column);
            matrix_put(p->a, lanes[l].a, i, x->a[row * p->k + column]);
        }
        for (int i = 0; i < p->k * p->n / 32; i++) {
            MMA[index].b(l / 4, l % 4, i, &row, &column);
            matrix_put(p->b, lanes[l].b, i, x->b[row * p->n + column]);
        }
        for (int i = 0; i < p->m * p->n / 32; i++) {
            c_16x8(l / 4, l % 4, i, &row, &column);
            matrix_put(p->c, lanes[l].c, i, x->c[row * p->n + column]);
        }
    }
    rig_run(&rig, "k", 1, 32, &address);
    for (int l = 0; l < 32; l++)
        for (int i = 0; i < p->m * p->n / 32; i++) {
            int row, column;

            c_16x8(l / 4, l % 4, i, &row, &column);
            matrix_check(what, p, x, row, column, matrix_get(p->d, lanes[l].d, i), is_whole);
        }
    rig_done(&rig);
    buf_done(&text);
}

static void mma_multiplies_fragments_as_the_figures_show(void **state)
{
    struct matrices *x = calloc(1, sizeof *x);
    uint64_t seed = 9;

    (void)state;
    assert_non_null(x);
    for (size_t i = 0; i < COUNT(MMA); i++)
        for (int is_whole = 0; is_whole < 2; is_whole++)
            run_mma(i, is_whole, x, &seed);
    free(x);
}

/* One element of D: A and B have ones, C is `c`. */
static uint32_t one_sum(const struct product *p, const char *suffix, uint32_t a, uint32_t b,
                        uint32_t c)
{
    struct buf text = { 0 };
    struct lane *lanes;
    struct rig rig;
    uint64_t address;
    uint32_t d;

    put_mma(&text, p, suffix);
    rig_load(&rig, (struct bytes){ text.data, text.size });
    lanes = rig_buffer(&rig, 32 * sizeof *lanes, &address);
    for (int l = 0; l < 32; l++) {
        for (int i = 0; i < 4; i++)
            lanes[l].a[i] = a;
        for (int i = 0; i < 4; i++)
            lanes[l].b[i] = b;
        for (int i = 0; i < 4; i++)
            lanes[l].c[i] = c;
    }
    rig_run(&rig, "k", 1, 32, &address);
    d = lanes[5].d[1];
    rig_done(&rig);
    buf_done(&text);
    return d;
}

static void special_sums(void **state)
{
    static const struct product halves = { &F16, &F16, &F32, &F32, 16, 8, 16, 0 };
    static const struct product bytes = { &S8, &S8, &S32, &S32, 16, 8, 32, 0 };

    (void)state;
    assert_int_equal(one_sum(&halves, "", 0x7c003c00, 0x3c003c00, 0), 0x7f800000);
    assert_int_equal(one_sum(&halves, "", 0x7c003c00, 0x00003c00, 0), 0x7fffffff);
    assert_int_equal(one_sum(&halves, "", 0x7c00fc00, 0x3c003c00, 0), 0x7fffffff);
    assert_int_equal(one_sum(&halves, "", 0x3c003c00, 0x3c003c00, 0x7fc00001), 0x7fffffff);
    assert_int_equal(one_sum(&halves, "", 0x00010001, 0x3c003c00, 0), 0x35800000); /* 16 2^-24 */
    assert_int_equal(one_sum(&bytes, "", 0x01010101, 0x01010101, 0x7ffffff0), 0x80000010);
    assert_int_equal(one_sum(&bytes, ".satfinite", 0x01010101, 0x01010101, 0x7ffffff0), 0x7fffffff);
    assert_int_equal(one_sum(&bytes, ".satfinite", 0x80808080, 0x7f7f7f7f, 0x80000000), 0x80000000);
}

/* ---- Rows of eight halves ------------------------------------------------------------------- */

static const char ROWS_TEXT[] =
    ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"
    ".shared .align 16 .b8 s[2048];\n.reg .b32 %r<24>;\n.reg .b64 %rd<6>;\n"
    "ld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, s;\n"
    /* Thread t fills row t with halves 8 t ... 8 t + 7. */
    "shl.b32 %r3, %r1, 3;\nshl.b32 %r4, %r1, 4;\nadd.u32 %r4, %r4, %r2;\n"
    "shl.b32 %r5, %r3, 16;\nor.b32 %r5, %r5, %r3;\nadd.u32 %r6, %r5, 0x00010000;\n"
    "add.u32 %r7, %r5, 0x00030002;\nadd.u32 %r8, %r5, 0x00050004;\nadd.u32 %r9, %r5, 0x00070006;\n"
    "st.shared.v4.b32 [%r4], {%r6, %r7, %r8, %r9};\nbar.sync 0;\n"
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r4];\n"
    "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r14, %r15}, [%r4];\n"
    "ldmatrix.sync.aligned.m8n8.x1.b16 {%r16}, [%rd3];\n"
    "movmatrix.sync.aligned.m8n8.trans.b16 %r17, %r10;\nbar.sync 0;\n"
    "add.u32 %r18, %r4, 512;\n"
    "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%r18], {%r10, %r11, %r12, %r13};\n"
    "bar.sync 0;\nld.shared.v4.b32 {%r19, %r20, %r21, %r22}, [%r18];\n"
    "mul.wide.u32 %rd4, %r1, 64;\nadd.s64 %rd5, %rd1, %rd4;\n"
    "st.global.v4.b32 [%rd5], {%r10, %r11, %r12, %r13};\n"
    "st.global.v4.b32 [%rd5+16], {%r14, %r15, %r16, %r17};\n"
    "st.global.v4.b32 [%rd5+32], {%r19, %r20, %r21, %r22};\nret;\n}\n";

static void rows_of_halves_spread_over_the_lanes(void **state)
{
    struct buf text = { 0 };
    struct rig rig;
    uint64_t address;
    uint32_t *out;
    const char *generic = strstr(ROWS_TEXT, "ldmatrix.sync.aligned.m8n8.x1");

    (void)state;
    /* The generic address of the row, made before its use. */
    buf_printf(&text, "%.*scvt.u64.u32 %%rd2, %%r4;\ncvta.shared.u64 %%rd3, %%rd2;\n%s",
               (int)(generic - ROWS_TEXT), ROWS_TEXT, generic);
    rig_load(&rig, (struct bytes){ text.data, text.size });
    out = rig_buffer(&rig, 32 * 64, &address);
    rig_run(&rig, "k", 1, 32, &address);
    for (uint32_t l = 0; l < 32; l++) {
        const uint32_t *o = out + 16 * l;
        uint32_t straight = 8 * (l / 4) + 2 * (l % 4), turned = 8 * (2 * (l % 4)) + l / 4;

        for (uint32_t i = 0; i < 4; i++)
            assert_int_equal(o[i], (straight + 64 * i) | (straight + 64 * i + 1) << 16);
        for (uint32_t i = 0; i < 2; i++)
            assert_int_equal(o[4 + i], (turned + 64 * i) | (turned + 64 * i + 8) << 16);
        assert_int_equal(o[6], straight | (straight + 1) << 16);
        assert_int_equal(o[7], turned | (turned + 8) << 16);
        /* Row r of matrix i is its column r. */
        for (uint32_t k = 0; k < 4; k++) {
            uint32_t i = l / 8, r = l % 8, low = 64 * i + 8 * (2 * k) + r;

            assert_int_equal(o[8 + k], low | (low + 8) << 16);
        }
    }
    rig_done(&rig);
    buf_done(&text);
}

static void a_warp_that_is_not_whole_is_a_fault(void **state)
{
    static const struct product halves = { &F16, &F16, &F32, &F32, 16, 8, 16, 0 };
    struct buf text = { 0 };
    struct rig rig;
    uint64_t address;

    (void)state;
    put_mma(&text, &halves, "");
    rig_load(&rig, (struct bytes){ text.data, text.size });
    rig_buffer(&rig, 32 * sizeof(struct lane), &address);
    assert_int_equal(rig_try(&rig, "k", 1, 16, &address), -1);
    assert_int_equal(rig.err.name, ERR_BarrierFault);
    assert_non_null(strstr(rig.err.text, "all 32 lanes"));
    rig_done(&rig);
    buf_done(&text);
}

static void what_does_not_exist_is_refused(void **state)
{
    static const struct {
        const char *opcode, *shape;
    } cases[] = {
        { "mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16", "rrrr" },
        { "mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32", "rrrr" },
        { "mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32", "rrrr" },
        { "mma.sync.aligned.m16n8k16.row.col.f16.bf16.bf16.f16", "rrrr" },
        { "mma.sync.aligned.m16n8k16.row.col.kind.f32.f16.f16.f32", "rrrr" },
        { "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "rrrr" },
        { "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32", "rrrr" },
        { "ldmatrix.sync.aligned.m8n16.x1.b8", "rr" },
        { "movmatrix.sync.aligned.m8n8.b16", "rr" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        if (!form_is_refused(cases[i].opcode, cases[i].shape))
            fail_msg("%s is not refused", cases[i].opcode);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mma_multiplies_fragments_as_the_figures_show),
        cmocka_unit_test(special_sums),
        cmocka_unit_test(rows_of_halves_spread_over_the_lanes),
        cmocka_unit_test(a_warp_that_is_not_whole_is_a_fault),
        cmocka_unit_test(what_does_not_exist_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
