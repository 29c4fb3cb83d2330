/*
 * cvt: every pair of types with every rounding and modifier, against rounding by
 * search (ptx_reference.h) and integers of the C compiler.
 */
#include "tests/unit/ptx_forms.h"
#include "tests/unit/ptx_reference.h"

enum { ROWS = 600 };

struct number {
    const char *name;
    char shape; /* of a register that holds it */
    int bits;
    bool is_signed;
    const struct ref_format *format; /* NULL: a whole number */
};

static const struct number NUMBERS[] = {
    { "u8", 'h', 8, false, NULL },      { "s8", 'h', 8, true, NULL },
    { "u16", 'h', 16, false, NULL },    { "s16", 'h', 16, true, NULL },
    { "u32", 'r', 32, false, NULL },    { "s32", 'r', 32, true, NULL },
    { "u64", 'd', 64, false, NULL },    { "s64", 'd', 64, true, NULL },
    { "f16", 'h', 16, true, &REF_F16 }, { "bf16", 'h', 16, true, &REF_BF16 },
    { "f32", 'r', 32, true, &REF_F32 }, { "f64", 'd', 64, true, &REF_F64 },
};

struct rounding {
    const char *name;
    enum ref_mode mode;
};
static const struct rounding FRACTIONS[] = {
    { "rn", REF_RN }, { "rz", REF_RZ }, { "rm", REF_RM }, { "rp", REF_RP }
};
static const struct rounding INTEGRALS[] = {
    { "rni", REF_RN }, { "rzi", REF_RZ }, { "rmi", REF_RM }, { "rpi", REF_RP }
};

static uint64_t low(uint64_t v, int bits)
{
    return bits > 63 ? v : v & (((uint64_t)1 << bits) - 1);
}

static __int128 whole(const struct number *n, uint64_t code)
{
    code = low(code, n->bits);
    if (n->is_signed && code >> (n->bits - 1) & 1)
        return (__int128)code - ((__int128)1 << n->bits);
    return code;
}

static uint64_t clamp(const struct number *n, quad v)
{
    quad least = n->is_signed ? -(quad)((__int128)1 << (n->bits - 1)) : 0;
    quad most = (quad)(((__int128)1 << (n->bits - n->is_signed)) - 1);

    v = v < least ? least : v > most ? most : v;
    return low((uint64_t)(__int128)v, n->bits);
}

/* v, of at most 64 digits, made integral: by the nearest whole number and what is left. */
static quad integral(double v, enum ref_mode mode)
{
    double f = floor(v), rest = v - f;

    switch (mode) {
    case REF_RN:
        if (rest != 0.5)
            return rest > 0.5 ? f + 1 : f;
        return fmod(f, 2) != 0 ? f + 1 : f;
    case REF_RZ:
        return v < 0 && rest != 0 ? f + 1 : f;
    case REF_RM:
        return f;
    default:
        return rest != 0 ? f + 1 : f;
    }
}

/* Random bits, and often a number near a power of two or a tie. */
static uint64_t pick(const struct number *n, uint64_t *seed)
{
    uint64_t r = form_random(seed);

    if (n->format && r % 3 == 0) {
        double v = ldexp((double)(form_random(seed) % 4096) / 8.0, (int)(r >> 8 & 63) - 24);

        return ref_code(n->format, r >> 20 & 1 ? -v : v, REF_RN);
    }
    if (n->format && r % 17 == 0)
        return (r >> 8 & 1 ? n->format->infinity : n->format->nan) | (r >> 9 & 1) << (n->bits - 1);
    if (!n->format && r % 3 == 0)
        return low(((uint64_t)1 << (r >> 8 & 63)) - (r >> 16 & 1), n->bits);
    return low(r >> 1 | r << 63, n->bits);
}

static uint64_t expected(const struct number *to, const struct number *from, uint64_t code,
                         enum ref_mode mode, bool is_integral, bool is_sat)
{
    double v = 0;
    quad exact;

    if (from->format)
        v = ref_value(from->format, code);
    if (from->format && !to->format) {
        if (isnan(v)) /* PTX ISA, "cvt": the highest bit where 64 bits are about, else 0 */
            return from->bits == 64 || to->bits == 64 ? (uint64_t)1 << (to->bits - 1) : 0;
        return clamp(to, isinf(v) ? (v < 0 ? -(quad)0x1p100 : (quad)0x1p100) : integral(v, mode));
    }
    if (!from->format && !to->format) {
        __int128 w = whole(from, code);

        return is_sat ? clamp(to, (quad)w) : low((uint64_t)w, to->bits);
    }
    if (from->format && is_integral && isfinite(v))
        v = copysign((double)integral(v, mode), v);
    exact = from->format ? (quad)v : (quad)whole(from, code);
    if (is_sat) {
        if (isnan(v) || exact <= 0)
            return 0;
        if (exact >= 1)
            return ref_code(to->format, 1.0, REF_RN);
    }
    if (from->bits == 64 && isnan(v)) /* sign and payload stay, and it is quiet */
        return code >> 63 << (to->bits - 1) | to->format->infinity |
               (uint64_t)1 << (to->format->digits - 1) |
               low(code >> (52 - to->format->digits), to->format->digits);
    if (from->format && !isfinite(v))
        return ref_code(to->format, v, mode);
    return ref_round(to->format, exact, from->format && signbit(v), mode);
}

static void check(const struct number *to, const struct number *from, const char *rounding,
                  enum ref_mode mode, bool is_integral, bool is_sat, struct form_row *rows,
                  uint64_t *seed)
{
    char opcode[64], shape[] = { to->shape, from->shape, '\0' };

    snprintf(opcode, sizeof opcode, "cvt%s%s%s.%s.%s", *rounding ? "." : "", rounding,
             is_sat ? ".sat" : "", to->name, from->name);
    for (int i = 0; i < ROWS; i++)
        rows[i].source[0] = pick(from, seed);
    form_run(opcode, shape, rows, ROWS);
    for (int i = 0; i < ROWS; i++) {
        uint64_t want = expected(to, from, rows[i].source[0], mode, is_integral, is_sat);

        if (to->format == &REF_F64 && want == REF_F64.nan && /* doubles keep what a NaN carries */
            isnan(ref_value(to->format, rows[i].got)))
            continue;
        if (low(rows[i].got, to->bits) != want)
            fail_msg("%s(0x%llx): 0x%llx, not 0x%llx", opcode,
                     (unsigned long long)rows[i].source[0], (unsigned long long)rows[i].got,
                     (unsigned long long)want);
    }
}

static void each_pair_of_types_rounds_in_each_way(void **state)
{
    struct form_row *rows = calloc(ROWS, sizeof *rows);
    uint64_t seed = 1;

    (void)state;
    assert_non_null(rows);
    for (size_t t = 0; t < COUNT(NUMBERS); t++)
        for (size_t f = 0; f < COUNT(NUMBERS); f++) {
            const struct number *to = &NUMBERS[t], *from = &NUMBERS[f];
            bool is_narrower =
                to->format && (!from->format || from->format->digits > to->format->digits ||
                               (from != to && from->bits == to->bits));
            bool has_none = !is_narrower && !(from->format && !to->format);

            for (int sat = 0; sat < 2; sat++) {
                for (size_t m = 0; is_narrower && m < COUNT(FRACTIONS); m++)
                    check(to, from, FRACTIONS[m].name, FRACTIONS[m].mode, false, sat, rows, &seed);
                for (size_t m = 0;
                     from->format && (!to->format || to == from) && m < COUNT(INTEGRALS); m++)
                    check(to, from, INTEGRALS[m].name, INTEGRALS[m].mode, true, sat, rows, &seed);
                if (has_none)
                    check(to, from, "", REF_RN, false, sat, rows, &seed);
            }
        }
    free(rows);
}

/* ---- Two at a time, and formats of 8 and 19 bits -------------------------------------------- */

struct packed {
    const char *opcode, *shape;
    const struct ref_format *to, *from;
    enum ref_mode mode;
    bool is_finite, is_relu;
};

static const struct packed PACKED[] = {
    { "cvt.rn.f16x2.f32", "rrr", &REF_F16, &REF_F32, REF_RN, false, false },
    { "cvt.rz.f16x2.f32", "rrr", &REF_F16, &REF_F32, REF_RZ, false, false },
    { "cvt.rn.relu.f16x2.f32", "rrr", &REF_F16, &REF_F32, REF_RN, false, true },
    { "cvt.rn.satfinite.f16x2.f32", "rrr", &REF_F16, &REF_F32, REF_RN, true, false },
    { "cvt.rn.bf16x2.f32", "rrr", &REF_BF16, &REF_F32, REF_RN, false, false },
    { "cvt.rz.relu.bf16x2.f32", "rrr", &REF_BF16, &REF_F32, REF_RZ, false, true },
    { "cvt.rn.satfinite.e4m3x2.f32", "hrr", &REF_E4M3, &REF_F32, REF_RN, true, false },
    { "cvt.rn.satfinite.relu.e4m3x2.f32", "hrr", &REF_E4M3, &REF_F32, REF_RN, true, true },
    { "cvt.rn.satfinite.e5m2x2.f32", "hrr", &REF_E5M2, &REF_F32, REF_RN, true, false },
    { "cvt.rn.satfinite.e4m3x2.f16x2", "hr", &REF_E4M3, &REF_F16, REF_RN, true, false },
    { "cvt.rn.satfinite.relu.e5m2x2.f16x2", "hr", &REF_E5M2, &REF_F16, REF_RN, true, true },
    { "cvt.rn.f16x2.e4m3x2", "rh", &REF_F16, &REF_E4M3, REF_RN, false, false },
    { "cvt.rn.relu.f16x2.e5m2x2", "rh", &REF_F16, &REF_E5M2, REF_RN, false, true },
    { "cvt.rn.relu.f16.f32", "hr", &REF_F16, &REF_F32, REF_RN, false, true },
    { "cvt.rz.bf16.f32", "hr", &REF_BF16, &REF_F32, REF_RZ, false, false },
    { "cvt.rna.tf32.f32", "rr", &REF_TF32, &REF_F32, REF_RNA, false, false },
    { "cvt.rn.tf32.f32", "rr", &REF_TF32, &REF_F32, REF_RN, false, false },
    { "cvt.rz.relu.tf32.f32", "rr", &REF_TF32, &REF_F32, REF_RZ, false, true },
    { "cvt.rna.satfinite.tf32.f32", "rr", &REF_TF32, &REF_F32, REF_RNA, true, false },
};

static uint64_t packed_want(const struct packed *p, uint64_t code)
{
    double v = ref_value(p->from, low(code, p->from->bits));

    if (p->mode == REF_RNA && isnan(v)) /* cut, quiet or not */
        return low(code, 32) & 0xffffe000U;
    if (p->is_relu && v <= 0)
        return 0;
    if (p->is_finite && !isnan(v) && fabs(v) > ref_magnitude(p->to, p->to->largest))
        return p->to->largest << p->to->shift | (uint64_t)signbit(v) << (p->to->bits - 1);
    if (isfinite(v) && fabs(v) > ref_magnitude(p->to, p->to->largest) && p->mode == REF_RZ)
        return ref_round(p->to, v, false, REF_RZ);
    if (p->is_finite && isfinite(v)) {
        uint64_t c = ref_round(p->to, v, signbit(v), p->mode);
        uint64_t top = p->to->largest << p->to->shift, sign = (uint64_t)1 << (p->to->bits - 1);

        return (c & (sign - 1)) > top ? top | (c & sign) : c;
    }
    return ref_code(p->to, v, p->mode);
}

static void packed_forms_have_the_first_operand_above(void **state)
{
    struct form_row *rows = calloc(ROWS, sizeof *rows);
    uint64_t seed = 2;

    (void)state;
    assert_non_null(rows);
    for (size_t k = 0; k < COUNT(PACKED); k++) {
        const struct packed *p = &PACKED[k];
        const struct number from = { "", 0, p->from->bits, true, p->from };
        bool is_pair = strstr(p->opcode, "x2.") != NULL, is_two = strlen(p->shape) == 3;

        for (int i = 0; i < ROWS; i++) {
            rows[i].source[0] = pick(&from, &seed);
            rows[i].source[1] = pick(&from, &seed);
            if (is_pair && !is_two)
                rows[i].source[0] |= rows[i].source[1] << p->from->bits;
        }
        form_run(p->opcode, p->shape, rows, ROWS);
        for (int i = 0; i < ROWS; i++) {
            uint64_t first = rows[i].source[0], want;

            if (!is_pair)
                want = packed_want(p, first);
            else if (is_two)
                want = packed_want(p, first) << p->to->bits | packed_want(p, rows[i].source[1]);
            else
                want =
                    packed_want(p, first >> p->from->bits) << p->to->bits | packed_want(p, first);
            if (rows[i].got != want)
                fail_msg("%s(0x%llx, 0x%llx): 0x%llx, not 0x%llx", p->opcode,
                         (unsigned long long)first, (unsigned long long)rows[i].source[1],
                         (unsigned long long)rows[i].got, (unsigned long long)want);
        }
    }
    free(rows);
}

static void details(void **state)
{
    static const struct {
        const char *opcode, *shape;
        uint64_t source[3], want;
    } cases[] = {
        /* A subnormal float, flushed on the way in or out; a half keeps its own. */
        { "cvt.ftz.f64.f32", "dr", { 0x80000001 }, 0x8000000000000000 },
        { "cvt.rp.ftz.f16.f32", "hr", { 1 }, 1 }, /* as an H200 does it: .ftz does not act */
        { "cvt.rp.f16.f32", "hr", { 1 }, 1 },
        { "cvt.ftz.f32.f16", "rh", { 1 }, 0x33800000 },
        { "cvt.rn.ftz.f32.f64", "rd", { 0x3800000000000000 }, 0 },
        { "cvt.rpi.ftz.s32.f32", "rr", { 1 }, 0 },
        { "cvt.rpi.s32.f32", "rr", { 1 }, 1 },
        { "cvt.rmi.ftz.f32.f32", "rr", { 0x80000001 }, 0x80000000 },
        { "cvt.rmi.f32.f32", "rr", { 0x80000001 }, 0xbf800000 },
        /* Registers wider than the type: the low bits of a source, the whole of a result. */
        { "cvt.s64.s8", "dd", { 0x1234567890abcd80 }, 0xffffffffffffff80 },
        { "cvt.s8.s32", "rr", { 0x180 }, 0xffffff80 },
        { "cvt.u8.u32", "rr", { 0x180 }, 0x80 },
        { "cvt.s16.s32", "rr", { 0x18000 }, 0xffff8000 },
        { "cvt.u16.u64", "rd", { 0xffff18000 }, 0x8000 },
        { "cvt.rzi.s8.f32", "rr", { 0xc2c80000 }, 0xffffff9c },
        { "cvt.sat.u8.s32", "hr", { 0xffffff00 }, 0 },
        { "cvt.sat.s8.s32", "hr", { 300 }, 127 },
        /* cvt.pack: the PTX ISA's pseudocode by hand. */
        { "cvt.pack.sat.u8.s32.b32", "rrrr", { 300, 0xfffffff0, 0x11112222 }, 0x2222ff00 },
        { "cvt.pack.sat.s8.s32.b32", "rrrr", { 0xffffff00, 5, 0x0000abcd }, 0xabcd8005 },
        { "cvt.pack.sat.u4.s32.b32", "rrrr", { 20, 3, 0x00123456 }, 0x123456f3 },
        { "cvt.pack.sat.s2.s32.b32", "rrrr", { 9, 0xfffffff0, 0x1 }, 0x16 },
        { "cvt.pack.sat.s16.s32", "rrr", { 0xffff0000, 70000 }, 0x80007fff },
        { "cvt.pack.sat.u16.s32", "rrr", { 7, 70000 }, 0x0007ffff },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct form_row row = { 0 };

        memcpy(row.source, cases[i].source, sizeof cases[i].source);
        form_run(cases[i].opcode, cases[i].shape, &row, 1);
        if (row.got != cases[i].want)
            fail_msg("%s: row %zu gives 0x%llx", cases[i].opcode, i, (unsigned long long)row.got);
    }
}

static void what_makes_no_sense_is_refused(void **state)
{
    static const struct {
        const char *opcode, *shape;
    } cases[] = {
        { "cvt.s32.f32", "rr" },           { "cvt.rn.s32.f32", "rr" },
        { "cvt.f32.s32", "rr" },           { "cvt.f16.f32", "hr" },
        { "cvt.rni.f32.s32", "rr" },       { "cvt.rn.u8.u32", "rr" },
        { "cvt.relu.u8.u32", "rr" },       { "cvt.rn.wrong.f16.f32", "hr" },
        { "cvt.rn.rz.f16.f32", "hr" },     { "cvt.u32.b32", "rr" },
        { "cvt.rs.f16x2.f32", "rrr" },     { "cvt.rn.e2m1x2.f32", "hrr" },
        { "cvt.pack.u8.s32.b32", "rrrr" }, { "cvt.pack.sat.u16.s32.b32", "rrrr" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        if (!form_is_refused(cases[i].opcode, cases[i].shape))
            fail_msg("%s is not refused", cases[i].opcode);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_pair_of_types_rounds_in_each_way),
        cmocka_unit_test(packed_forms_have_the_first_operand_above),
        cmocka_unit_test(details),
        cmocka_unit_test(what_makes_no_sense_is_refused),
    };

    return rig_run_builds(tests, COUNT(tests));
}
