/*
 * Integer instructions over random and edge operands, against the wide arithmetic
 * of the C compiler, bit by bit where the PTX ISA says so.
 */
#include "tests/unit/ptx_forms.h"

enum { ROWS = 1024 };

typedef __int128 wide;

/* What an instruction gives, from 64-bit source registers; the low bits count. */
typedef uint64_t model_fn(uint64_t a, uint64_t b, uint64_t c);

#define S16(v) ((wide)(int16_t)(v))
#define U16(v) ((wide)(uint16_t)(v))
#define S32(v) ((wide)(int32_t)(v))
#define U32(v) ((wide)(uint32_t)(v))
#define S64(v) ((wide)(int64_t)(v))
#define U64(v) ((wide)(uint64_t)(v))

static wide distance(wide a, wide b)
{
    return a > b ? a - b : b - a;
}

static wide into(wide v, wide least, wide most)
{
    return v < least ? least : v > most ? most : v;
}

static wide low24(uint64_t v)
{
    return (wide)(v & 0xffffff);
}

static wide low24s(uint64_t v)
{
    return low24(v) - ((v >> 23 & 1) ? (wide)1 << 24 : 0);
}

#define MODEL(name, expr)                                                                          \
    static uint64_t name(uint64_t a, uint64_t b, uint64_t c)                                       \
    {                                                                                              \
        (void)a, (void)b, (void)c;                                                                 \
        return (uint64_t)(expr);                                                                   \
    }
MODEL(sad_u16, distance(U16(a), U16(b)) + U16(c))
MODEL(sad_s16, distance(S16(a), S16(b)) + U16(c))
MODEL(sad_u64, distance(U64(a), U64(b)) + U64(c))
MODEL(sad_s64, distance(S64(a), S64(b)) + U64(c))
MODEL(mad_hi_u16, (U16(a) * U16(b) >> 16) + U16(c))
MODEL(mad_hi_s16, (S16(a) * S16(b) >> 16) + S16(c))
MODEL(mad_hi_u64, (wide)((unsigned __int128)U64(a) * (unsigned __int128)U64(b) >> 64) + U64(c))
MODEL(mad_hi_s64, (S64(a) * S64(b) >> 64) + S64(c))
MODEL(mad_hi_sat, into((S32(a) * S32(b) >> 32) + S32(c), INT32_MIN, INT32_MAX))
MODEL(mad24_lo_u, low24(a) * low24(b) + U32(c))
MODEL(mad24_lo_s, low24s(a) * low24s(b) + S32(c))
MODEL(mad24_hi_u, (low24(a) * low24(b) >> 16) + U32(c))
MODEL(mad24_hi_s, (low24s(a) * low24s(b) >> 16) + S32(c))
MODEL(mad24_hi_sat, into((low24s(a) * low24s(b) >> 16) + S32(c), INT32_MIN, INT32_MAX))
MODEL(min_relu, into(S32(a) < S32(b) ? S32(a) : S32(b), 0, INT32_MAX))
MODEL(max_relu, into(S32(a) > S32(b) ? S32(a) : S32(b), 0, INT32_MAX))

static uint64_t sum_of_products(uint64_t a, uint64_t b, uint64_t c, bool a_signed, bool b_signed,
                                int a_bits, int shift_b, int count)
{
    wide sum = (wide)(uint32_t)c;

    for (int i = 0; i < count; i++) {
        uint32_t x = (uint32_t)a >> (a_bits * i), y = (uint32_t)b >> (shift_b + 8 * i);
        wide p = a_bits == 8 ? (a_signed ? (wide)(int8_t)x : (wide)(uint8_t)x)
                             : (a_signed ? S16(x) : U16(x));

        sum += p * (b_signed ? (wide)(int8_t)y : (wide)(uint8_t)y);
    }
    return (uint64_t)sum;
}
MODEL(dp4a_uu, sum_of_products(a, b, c, false, false, 8, 0, 4))
MODEL(dp4a_us, sum_of_products(a, b, c, false, true, 8, 0, 4))
MODEL(dp4a_su, sum_of_products(a, b, c, true, false, 8, 0, 4))
MODEL(dp4a_ss, sum_of_products(a, b, c, true, true, 8, 0, 4))
MODEL(dp2a_lo_ss, sum_of_products(a, b, c, true, true, 16, 0, 2))
MODEL(dp2a_hi_us, sum_of_products(a, b, c, false, true, 16, 16, 2))
MODEL(dp2a_hi_su, sum_of_products(a, b, c, true, false, 16, 16, 2))

/* Bits one by one. */
static uint64_t extended(uint64_t a, uint64_t width, bool is_signed)
{
    uint64_t v = 0;

    for (uint64_t i = 0; i < 32; i++) {
        uint64_t from = i < width ? i : width - 1;

        if (width && (i < width || is_signed))
            v |= (a >> from & 1) << i;
    }
    return v;
}
MODEL(szext_wrap_s, extended(a, b & 31, true))
MODEL(szext_wrap_u, extended(a, b & 31, false))
MODEL(szext_clamp_s, extended(a, (uint32_t)b > 32 ? 32 : (uint32_t)b, true))
MODEL(szext_clamp_u, extended(a, (uint32_t)b > 32 ? 32 : (uint32_t)b, false))

/* The pseudocode of the PTX ISA. */
static uint64_t nth_set(uint64_t mask, uint64_t base, uint64_t c)
{
    int32_t offset = (int32_t)c;
    int found = 0;

    if (offset == 0)
        return (uint32_t)base < 32 && mask >> base & 1 ? base : UINT32_MAX;
    for (int64_t at = (uint32_t)base; at >= 0 && at < 32; at += offset < 0 ? -1 : 1)
        if (mask >> at & 1 && ++found == (offset < 0 ? -offset : offset))
            return (uint64_t)at;
    return UINT32_MAX;
}

/* Two at a time: the model of one over both halves. */
#define HALVES(name, expr)                                                                         \
    static uint64_t name(uint64_t x, uint64_t y, uint64_t z)                                       \
    {                                                                                              \
        uint64_t v = 0;                                                                            \
        (void)z;                                                                                   \
        for (int at = 0; at < 32; at += 16) {                                                      \
            uint64_t a = x >> at, b = y >> at;                                                     \
            v |= (uint64_t)(uint16_t)(expr) << at;                                                 \
        }                                                                                          \
        return v;                                                                                  \
    }
HALVES(add_16x2, U16(a) + U16(b))
HALVES(min_u16x2, U16(a) < U16(b) ? U16(a) : U16(b))
HALVES(max_s16x2, S16(a) > S16(b) ? S16(a) : S16(b))
HALVES(min_s16x2_relu, into(S16(a) < S16(b) ? S16(a) : S16(b), 0, 32767))
HALVES(max_s16x2_relu, into(S16(a) > S16(b) ? S16(a) : S16(b), 0, 32767))

/* Four bytes at a time, for the video instructions. */
#define BYTES(name, expr)                                                                          \
    static uint64_t name(uint64_t x, uint64_t y, uint64_t z)                                       \
    {                                                                                              \
        uint64_t v = 0;                                                                            \
        (void)z;                                                                                   \
        for (int at = 0; at < 32; at += 8) {                                                       \
            int64_t a = (int8_t)(x >> at), b = (int8_t)(y >> at);                                  \
            uint64_t ua = (uint8_t)(x >> at), ub = (uint8_t)(y >> at);                             \
            (void)a, (void)b, (void)ua, (void)ub;                                                  \
            v |= (uint64_t)(uint8_t)(expr) << at;                                                  \
        }                                                                                          \
        return v;                                                                                  \
    }
BYTES(vadd4_wrap, ua + ub)
BYTES(vadd4_sat, into(a + b, -128, 127))
BYTES(vsub4_usat, into((wide)ua - ub, 0, 255))
BYTES(vabsdiff4, ua > ub ? ua - ub : ub - ua)
BYTES(vavrg4, (ua + ub + 1) / 2)
BYTES(vmin4, a < b ? a : b)
BYTES(vset4, ua < ub)

static uint64_t vabsdiff4_add(uint64_t x, uint64_t y, uint64_t z)
{
    uint64_t v = z;

    for (int at = 0; at < 32; at += 8)
        v += (uint64_t)distance((uint8_t)(x >> at), (uint8_t)(y >> at));
    return v;
}

static uint64_t vabsdiff2_add(uint64_t x, uint64_t y, uint64_t z)
{
    return z + (uint64_t)(distance(U16(x), U16(y)) + distance(U16(x >> 16), U16(y >> 16)));
}
MODEL(vadd_sat_add, into(S32(a) + U32(b), INT32_MIN, INT32_MAX) + S32(c))
MODEL(vabsdiff_max,
      (distance(S32(a), S32(b)) & UINT32_MAX) > U32(c) ? distance(S32(a), S32(b)) : U32(c))
MODEL(vmad_shr, (U32(a) * U32(b) + U32(c)) >> 7)
MODEL(vmad_sat, into(U32(a) * U32(b) + U32(c), 0, UINT32_MAX))
MODEL(vshl_wrap, U32(a) << (b & 31))
MODEL(vshr_clamp, S32(a) >> ((uint32_t)b > 32 ? 32 : (uint32_t)b))
MODEL(vset_ge, S32(a) >= S32(b))

static const struct {
    const char *opcode, *shape;
    model_fn *model;
} FORMS[] = {
    { "sad.u16", "hhhh", sad_u16 },
    { "sad.s16", "hhhh", sad_s16 },
    { "sad.u64", "dddd", sad_u64 },
    { "sad.s64", "dddd", sad_s64 },
    { "mad.hi.u16", "hhhh", mad_hi_u16 },
    { "mad.hi.s16", "hhhh", mad_hi_s16 },
    { "mad.hi.u64", "dddd", mad_hi_u64 },
    { "mad.hi.s64", "dddd", mad_hi_s64 },
    { "mad.hi.sat.s32", "rrrr", mad_hi_sat },
    { "mad24.lo.u32", "rrrr", mad24_lo_u },
    { "mad24.lo.s32", "rrrr", mad24_lo_s },
    { "mad24.hi.u32", "rrrr", mad24_hi_u },
    { "mad24.hi.s32", "rrrr", mad24_hi_s },
    { "mad24.hi.sat.s32", "rrrr", mad24_hi_sat },
    { "min.s32.relu", "rrr", min_relu },
    { "max.s32.relu", "rrr", max_relu },
    { "dp4a.u32.u32", "rrrr", dp4a_uu },
    { "dp4a.u32.s32", "rrrr", dp4a_us },
    { "dp4a.s32.u32", "rrrr", dp4a_su },
    { "dp4a.s32.s32", "rrrr", dp4a_ss },
    { "dp2a.lo.s32.s32", "rrrr", dp2a_lo_ss },
    { "dp2a.hi.u32.s32", "rrrr", dp2a_hi_us },
    { "dp2a.hi.s32.u32", "rrrr", dp2a_hi_su },
    { "szext.wrap.s32", "rrr", szext_wrap_s },
    { "szext.wrap.u32", "rrr", szext_wrap_u },
    { "szext.clamp.s32", "rrr", szext_clamp_s },
    { "szext.clamp.u32", "rrr", szext_clamp_u },
    { "fns.b32", "rrrr", nth_set },
    { "add.u16x2", "rrr", add_16x2 },
    { "add.s16x2", "rrr", add_16x2 },
    { "min.u16x2", "rrr", min_u16x2 },
    { "max.s16x2", "rrr", max_s16x2 },
    { "min.s16x2.relu", "rrr", min_s16x2_relu },
    { "max.s16x2.relu", "rrr", max_s16x2_relu },
    { "vadd4.u32.u32.u32", "rrrr", vadd4_wrap },
    { "vadd4.s32.s32.s32.sat", "rrrr", vadd4_sat },
    { "vsub4.u32.u32.u32.sat", "rrrr", vsub4_usat },
    { "vabsdiff4.u32.u32.u32", "rrrr", vabsdiff4 },
    { "vavrg4.u32.u32.u32", "rrrr", vavrg4 },
    { "vmin4.s32.s32.s32", "rrrr", vmin4 },
    { "vset4.u32.u32.lt", "rrrr", vset4 },
    { "vabsdiff4.u32.u32.u32.add", "rrrr", vabsdiff4_add },
    { "vabsdiff2.u32.u32.u32.add", "rrrr", vabsdiff2_add },
    { "vadd.s32.s32.u32.sat.add", "rrrr", vadd_sat_add },
    { "vabsdiff.u32.s32.s32.max", "rrrr", vabsdiff_max },
    { "vmad.u32.u32.u32.shr7", "rrrr", vmad_shr },
    { "vmad.u32.u32.u32.sat", "rrrr", vmad_sat },
    { "vshl.u32.u32.u32.wrap", "rrr", vshl_wrap },
    { "vshr.s32.s32.u32.clamp", "rrr", vshr_clamp },
    { "vset.s32.s32.ge", "rrr", vset_ge },
};

static uint64_t pick(uint64_t *seed)
{
    static const uint64_t edges[] = { 0,
                                      1,
                                      2,
                                      0x7f,
                                      0x80,
                                      0xff,
                                      0x7fff,
                                      0x8000,
                                      0xffff,
                                      0x7fffffff,
                                      0x80000000,
                                      0xffffffff,
                                      UINT64_MAX,
                                      0x7fffffffffffffff,
                                      0x8000000000000000 };
    uint64_t r = form_random(seed);

    if (r % 5 == 0)
        return edges[(r >> 8) % COUNT(edges)];
    if (r % 5 == 1)
        return (r >> 8) % 70; /* widths and positions */
    if (r % 5 == 2)
        return 0 - (r >> 8) % 40;
    return form_random(seed);
}

static void each_form_agrees_with_its_model(void **state)
{
    struct form_row *rows = calloc(ROWS, sizeof *rows);
    uint64_t seed = 3;

    (void)state;
    assert_non_null(rows);
    for (size_t i = 0; i < COUNT(FORMS); i++) {
        int bits = form_bits(FORMS[i].shape[0]);

        for (int k = 0; k < ROWS; k++)
            for (int s = 0; s < 3; s++)
                rows[k].source[s] =
                    pick(&seed) & (form_bits(FORMS[i].shape[1]) == 64 ? UINT64_MAX : UINT32_MAX);
        form_run(FORMS[i].opcode, FORMS[i].shape, rows, ROWS);
        for (int k = 0; k < ROWS; k++) {
            const uint64_t *s = rows[k].source;
            uint64_t want = FORMS[i].model(s[0], s[1], s[2]);

            if (bits < 64)
                want &= ((uint64_t)1 << bits) - 1;
            if (rows[k].got != want)
                fail_msg("%s(0x%llx, 0x%llx, 0x%llx): 0x%llx, not 0x%llx", FORMS[i].opcode,
                         (unsigned long long)s[0], (unsigned long long)s[1],
                         (unsigned long long)s[2], (unsigned long long)rows[k].got,
                         (unsigned long long)want);
        }
    }
    free(rows);
}

/* Parts of registers; the operands follow the opcode here. */
static void video_operands_name_parts(void **state)
{
    static const struct {
        const char *text; /* between the moves of a, b, c into %a %b %c and that of %o */
        uint32_t want;
    } cases[] = {
        /* a = 0x81828384, b = 0x11121314, c = 0xa0b0c0d0 */
        { "vadd.u32.u32.u32 %o, %a.b3, %b.h0", 0x81 + 0x1314 },
        { "vadd.s32.s32.u32 %o, %a.h1, %b.b0", 0xffff8182 + 0x14 },
        { "vadd.u32.u32.u32 %o.b1, %a.b0, %b.b0, %c", 0xa0b098d0 },
        { "vsub.u32.u32.u32.sat %o.h1, %b.b0, %a.b0, %c", 0x0000c0d0 },
        { "vadd2.u32.u32.u32 %o.h1, %a.h01, %b.h33, %c", 0x9496c0d0 },
        { "vadd4.u32.u32.u32 %o.b20, %a.b7777, %b.b0123, %c", 0xa094c092 },
        { "vadd4.u32.u32.u32.add %o.b20, %a, %b, %c", 0xa0b0c0d0 + 0x94 + 0x98 },
        { "vset2.u32.u32.gt %o, %a.h10, %b.h32, %c", 0x00010001 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct buf text = { 0 };
        struct rig rig;
        uint64_t address;
        uint32_t *out;

        buf_printf(
            &text,
            ".version 9.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 x)\n"
            "{\n.reg .b32 %%a, %%b, %%c, %%o;\n.reg .b64 %%p;\nld.param.u64 %%p, [x];\n"
            "mov.b32 %%a, 0x81828384;\nmov.b32 %%b, 0x11121314;\nmov.b32 %%c, 0xa0b0c0d0;\n"
            "%s;\nst.global.b32 [%%p], %%o;\nret;\n}\n",
            cases[i].text);
        rig_load(&rig, (struct bytes){ text.data, text.size });
        out = rig_buffer(&rig, 4, &address);
        rig_run(&rig, "k", 1, 1, &address);
        if (*out != cases[i].want)
            fail_msg("%s: 0x%08x, not 0x%08x", cases[i].text, *out, cases[i].want);
        rig_done(&rig);
        buf_done(&text);
    }
}

static void what_no_gpu_has_is_refused(void **state)
{
    static const struct {
        const char *opcode, *shape;
    } cases[] = {
        { "add.u8", "hhh" },
        { "mul.u32", "rrr" },
        { "mul.wide.s64", "ddd" },
        { "dp4a.u32", "rrrr" },
        { "dp3a.u32.u32", "rrrr" },
        { "add.sat.u32", "rrr" },
        { "min.s16.relu", "hhh" },
        { "abs.u32", "rr" },
        { "vadd3.u32.u32.u32", "rrrr" },
        { "vadd.u32.u32", "rrr" },
        { "vset.s32.s32", "rrr" },
        { "vadd4.u32.u32.u32.max", "rrrr" },
        { "vshl.u32.u32.u32", "rrr" },
        { "sad.f32", "rrrr" },
        { "fns.b64", "dddd" },
        { "bfe.b32", "rrrr" },
        { "shf.l.b32", "rrrr" },
        { "add.b32", "rrr" },
        { "mad.hi.sat.u32", "rrrr" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        if (!form_is_refused(cases[i].opcode, cases[i].shape))
            fail_msg("%s is not refused", cases[i].opcode);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_form_agrees_with_its_model),
        cmocka_unit_test(video_operands_name_parts),
        cmocka_unit_test(what_no_gpu_has_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
