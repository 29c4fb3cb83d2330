/*
 * Half and bfloat arithmetic against quadruple precision, rounded by search: each form with edge
 * values and random bits, one value and two in a register.
 */
#include "tests/unit/ptx_forms.h"
#include "tests/unit/ptx_reference.h"

enum { ROWS = 4096 };

enum operation { ADD, SUB, MUL, FMA, MIN, MAX };
enum { FTZ = 1, SAT = 2, RELU = 4, WITH_NAN = 8, XOR_SIGN = 16 };

struct half_form {
    const char *opcode; /* without type */
    enum operation operation;
    int sources, flags;
};

static const struct half_form FORMS[] = {
    { "add", ADD, 2, 0 },
    { "add.rn", ADD, 2, 0 },
    { "add.ftz", ADD, 2, FTZ },
    { "add.sat", ADD, 2, SAT },
    { "add.ftz.sat", ADD, 2, FTZ | SAT },
    { "sub", SUB, 2, 0 },
    { "sub.rn.ftz.sat", SUB, 2, FTZ | SAT },
    { "mul", MUL, 2, 0 },
    { "mul.sat", MUL, 2, SAT },
    { "mul.ftz", MUL, 2, FTZ },
    { "fma.rn", FMA, 3, 0 },
    { "fma.rn.ftz", FMA, 3, FTZ },
    { "fma.rn.sat", FMA, 3, SAT },
    { "fma.rn.relu", FMA, 3, RELU },
    { "fma.rn.ftz.relu", FMA, 3, FTZ | RELU },
    { "min", MIN, 2, 0 },
    { "max", MAX, 2, 0 },
    { "min.ftz", MIN, 2, FTZ },
    { "max.ftz.NaN", MAX, 2, FTZ | WITH_NAN },
    { "min.NaN", MIN, 2, WITH_NAN },
    { "max.NaN", MAX, 2, WITH_NAN },
    { "min.xorsign.abs", MIN, 2, XOR_SIGN },
    { "max.NaN.xorsign.abs", MAX, 2, WITH_NAN | XOR_SIGN },
};

/* bf16 has no .ftz and no .sat. */
static bool has_form(const struct ref_format *f, const struct half_form *form)
{
    return f == &REF_F16 || !(form->flags & (FTZ | SAT));
}

static bool is_nan(const struct ref_format *f, uint64_t code)
{
    return (code & 0x7fff) > f->infinity;
}

static uint64_t flush(const struct ref_format *f, uint64_t code)
{
    return (code & 0x7fff) >> f->digits ? code : code & 0x8000;
}

/* min and max of codes: their order is the order of the values, -0 below +0. */
static uint64_t extreme(const struct ref_format *f, const struct half_form *form, uint64_t a,
                        uint64_t b)
{
    uint64_t sign = (a ^ b) & 0x8000, v;
    int x, y;

    if (form->flags & XOR_SIGN) {
        a &= 0x7fff;
        b &= 0x7fff;
    }
    if (is_nan(f, a) || is_nan(f, b)) {
        if (form->flags & WITH_NAN || (is_nan(f, a) && is_nan(f, b)))
            return f->nan;
        v = is_nan(f, a) ? b : a;
    } else {
        x = a & 0x8000 ? -1 - (int)(a & 0x7fff) : (int)a;
        y = b & 0x8000 ? -1 - (int)(b & 0x7fff) : (int)b;
        v = (form->operation == MIN) == (x < y) ? a : b;
    }
    return form->flags & XOR_SIGN ? (v & 0x7fff) | sign : v;
}

static uint64_t expected(const struct ref_format *f, const struct half_form *form,
                         const uint64_t *codes)
{
    uint64_t s[3], code;
    double a, b, c, plain;
    quad exact;

    for (int i = 0; i < 3; i++)
        s[i] = form->flags & FTZ ? flush(f, codes[i] & 0xffff) : codes[i] & 0xffff;
    if (form->operation == MIN || form->operation == MAX)
        return extreme(f, form, s[0], s[1]);
    a = ref_value(f, s[0]);
    b = ref_value(f, s[1]);
    c = ref_value(f, s[2]);
    plain = form->operation == ADD   ? a + b
            : form->operation == SUB ? a - b
            : form->operation == MUL ? a * b
                                     : fma(a, b, c);
    exact = form->operation == ADD   ? (quad)a + b
            : form->operation == SUB ? (quad)a - b
            : form->operation == MUL ? (quad)a * b
                                     : (quad)a * b + c;
    if (isnan(plain))
        return form->flags & SAT ? 0 : f->nan;
    if (form->flags & (SAT | RELU) && plain <= 0)
        return 0;
    if (form->flags & SAT && plain >= 1)
        return ref_code(f, 1.0, REF_RN);
    code = isinf(plain) ? ref_code(f, plain, REF_RN) : ref_round(f, exact, signbit(plain), REF_RN);
    return form->flags & FTZ ? flush(f, code) : code;
}

static const uint16_t EDGES[] = { 0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400, 0x3c00, 0xbc00,
                                  0x3c01, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0xffff, 0x7f80,
                                  0xff80, 0x7f7f, 0x3f80, 0xbf80, 0x0080, 0x007f, 0x4000, 0x3800 };

static void fill(struct form_row *rows, const struct ref_format *f, uint64_t *seed)
{
    for (int i = 0; i < ROWS; i++)
        for (int s = 0; s < 3; s++) {
            uint64_t r = form_random(seed), two = 0;

            for (int half = 0; half < 2; half++) {
                uint64_t code = r >> (16 * half) & 0xffff;

                if ((r >> (40 + 4 * half) & 7) == 0)
                    code = EDGES[(r >> (48 + 4 * half)) % COUNT(EDGES)];
                else if (f == &REF_BF16 && (code & 0x7f80) != 0x7f80) /* what quad can add */
                    code = (code & 0x80ff) | (((code >> 7 & 0x3f) + 95) << 7 & 0x7f80);
                two |= code << (16 * half);
            }
            rows[i].source[s] = two;
        }
}

static void check(const struct ref_format *f, const struct half_form *form, bool is_pair,
                  struct form_row *rows)
{
    static const char *const SHAPES[2][2] = { { "hhh", "hhhh" }, { "rrr", "rrrr" } };
    char opcode[64];

    snprintf(opcode, sizeof opcode, "%s.%s%s", form->opcode, f->name, is_pair ? "x2" : "");
    form_run(opcode, SHAPES[is_pair][form->sources - 2], rows, ROWS);
    for (int i = 0; i < ROWS; i++)
        for (int half = 0; half <= is_pair; half++) {
            uint64_t s[3], want;

            for (int k = 0; k < 3; k++)
                s[k] = rows[i].source[k] >> (16 * half);
            want = expected(f, form, s);
            if ((rows[i].got >> (16 * half) & 0xffff) != want)
                fail_msg("%s(0x%04x, 0x%04x, 0x%04x), half %d: 0x%04x, not 0x%04x", opcode,
                         (unsigned)s[0] & 0xffff, (unsigned)s[1] & 0xffff, (unsigned)s[2] & 0xffff,
                         half, (unsigned)(rows[i].got >> (16 * half)) & 0xffff, (unsigned)want);
        }
}

static void arithmetic_rounds_once(void **state)
{
    static const struct ref_format *const formats[] = { &REF_F16, &REF_BF16 };
    struct form_row *rows = calloc(ROWS, sizeof *rows);
    uint64_t seed = 16;

    (void)state;
    assert_non_null(rows);
    for (size_t f = 0; f < COUNT(formats); f++)
        for (size_t i = 0; i < COUNT(FORMS); i++)
            for (int is_pair = 0; is_pair < 2; is_pair++) {
                if (!has_form(formats[f], &FORMS[i]))
                    continue;
                fill(rows, formats[f], &seed);
                check(formats[f], &FORMS[i], is_pair, rows);
            }
    free(rows);
}

/* Far from one another, beyond quadruple precision: what is small decides a tie and nothing else.
 */
static void a_tiny_addend_breaks_a_tie(void **state)
{
    static const struct {
        const char *opcode;
        uint64_t a, b, c, want;
    } cases[] = {
        { "fma.rn.bf16", 0x3f81, 0x3f80, 0x0001, 0x3f81 },
        { "fma.rn.bf16", 0x3c00, 0x3f00, 0x3f80, 0x3f80 }, /* 2^-7 / 2 + 1: a tie, to even */
        { "fma.rn.bf16", 0x3f88, 0x3f88, 0x0001, 0x3f91 }, /* 1.0625^2 = 1.12890625: above a tie */
        { "fma.rn.bf16", 0x3f88, 0x3f88, 0x8001, 0x3f90 }, /* and a tiny bit below it */
        { "fma.rn.bf16", 0x0080, 0x0080, 0x3f80, 0x3f80 },
        /* 1.03125^2 = 1.0634765625 is a tie of halves with an odd and an even neighbour. */
        { "fma.rn.f16", 0x3c20, 0x3c20, 0x0001, 0x3c41 },
        { "fma.rn.f16", 0x3c21, 0x3c20, 0x0000, 0x3c42 },
        { "mul.bf16", 0x0080, 0x3f00, 0, 0x0040 },
        { "mul.bf16", 0x0001, 0x3f00, 0, 0x0000 }, /* half the least: a tie, to even */
        { "mul.bf16", 0x0001, 0x3f01, 0, 0x0001 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct form_row row = { .source = { cases[i].a, cases[i].b, cases[i].c } };
        bool is_fma = !strncmp(cases[i].opcode, "fma", 3);

        form_run(cases[i].opcode, is_fma ? "hhhh" : "hhh", &row, 1);
        if (row.got != cases[i].want)
            fail_msg("%s: row %zu gives 0x%04x, not 0x%04x", cases[i].opcode, i, (unsigned)row.got,
                     (unsigned)cases[i].want);
    }
}

static void signs_are_bits(void **state)
{
    static const struct {
        const char *opcode, *shape;
        uint64_t a, want;
    } cases[] = {
        { "neg.f16", "hh", 0x3c00, 0xbc00 },        { "abs.f16", "hh", 0xbc00, 0x3c00 },
        { "neg.bf16", "hh", 0x3f80, 0xbf80 },       { "abs.bf16x2", "rr", 0xbf808000, 0x3f800000 },
        { "neg.f16x2", "rr", 0x3c00, 0x8000bc00 },  { "abs.f16x2", "rr", 0xbc008001, 0x3c000001 },
        { "neg.ftz.f16", "hh", 0x0001, 0x8000 },    { "abs.ftz.f16", "hh", 0x8001, 0x0000 },
        { "neg.bf16x2", "rr", 0x3f80, 0x8000bf80 }, { "neg.ftz.f16x2", "rr", 1, 0x80008000 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct form_row row = { .source = { cases[i].a } };

        form_run(cases[i].opcode, cases[i].shape, &row, 1);
        assert_int_equal(row.got, cases[i].want);
    }
}

/* ex2 and tanh within two units in the last place of the format, everywhere. */
static void functions_are_close(void **state)
{
    static const struct {
        const char *opcode;
        const struct ref_format *format;
        bool is_tanh;
    } cases[] = {
        { "ex2.approx.f16", &REF_F16, false },
        { "tanh.approx.f16", &REF_F16, true },
        { "ex2.approx.ftz.bf16", &REF_BF16, false },
        { "tanh.approx.bf16", &REF_BF16, true },
    };
    struct form_row *rows = calloc(FORM_ROWS_MAX, sizeof *rows);

    (void)state;
    assert_non_null(rows);
    for (size_t k = 0; k < COUNT(cases); k++) {
        const struct ref_format *f = cases[k].format;

        for (int i = 0; i < FORM_ROWS_MAX; i++)
            rows[i].source[0] = (uint64_t)i * 4 + 1;
        form_run(cases[k].opcode, "hh", rows, FORM_ROWS_MAX);
        for (int i = 0; i < FORM_ROWS_MAX; i++) {
            double a = ref_value(f, rows[i].source[0]);
            double want = cases[k].is_tanh ? tanh(a) : exp2(a);
            int64_t code = (int64_t)ref_code(f, want, REF_RN);

            if (isnan(a) ? rows[i].got != 0x7fff : llabs(code - (int64_t)rows[i].got) > 1)
                fail_msg("%s(0x%04x): 0x%04x, not 0x%04x", cases[k].opcode,
                         (unsigned)rows[i].source[0], (unsigned)rows[i].got, (unsigned)code);
        }
    }
    free(rows);
}

static void comparisons_know_halves(void **state)
{
    static const struct {
        const char *opcode, *shape;
        uint64_t a, b, c, want;
    } cases[] = {
        { "setp.lt.f16", "phh", 0x3c00, 0x4000, 0, 1 },
        { "setp.lt.f16", "phh", 0x7e00, 0x4000, 0, 0 },
        { "setp.ltu.f16", "phh", 0x7e00, 0x4000, 0, 1 },
        { "setp.eq.f16", "phh", 0x0000, 0x8000, 0, 1 },
        { "setp.eq.f16", "phh", 0x0001, 0x8000, 0, 0 },
        { "setp.eq.ftz.f16", "phh", 0x0001, 0x8000, 0, 1 },
        { "setp.ge.and.f16", "phhp", 0x4000, 0x3c00, 0, 0 },
        { "setp.gt.bf16", "phh", 0x4000, 0x3f80, 0, 1 },
        { "setp.neu.bf16", "phh", 0x7fc0, 0x3f80, 0, 1 },
        { "setp.lt.f16x2", "prr", 0x00003c00, 0x00004000, 0, 1 },
        { "set.lt.f16.f16", "hhh", 0x3c00, 0x4000, 0, 0x3c00 },
        { "set.lt.bf16.bf16", "hhh", 0x3f80, 0x4000, 0, 0x3f80 },
        { "set.eq.u32.f16", "rhh", 0x3c00, 0x3c00, 0, 0xffffffff },
        { "set.eq.s16.f16", "hhh", 0x3c00, 0x3c00, 0, 0xffff },
        { "set.gt.f16x2.f16x2", "rrr", 0x40003c00, 0x3c003c00, 0, 0x3c000000 },
        { "set.gt.u32.f16x2", "rrr", 0x40003c00, 0x3c003c00, 0, 0xffff0000 },
        { "set.le.bf16x2.bf16x2", "rrr", 0x3f804000, 0x3f803f80, 0, 0x3f800000 },
        { "set.nan.f16x2.f16x2", "rrr", 0x7e003c00, 0x3c003c00, 0, 0x3c000000 },
        { "set.lt.or.u32.f16", "rhhp", 0x4000, 0x3c00, 1, 0xffffffff },
        { "set.eq.f16.f32", "hrr", 0x3f800000, 0x3f800000, 0, 0x3c00 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct form_row row = { .source = { cases[i].a, cases[i].b, cases[i].c } };

        form_run(cases[i].opcode, cases[i].shape, &row, 1);
        if (row.got != cases[i].want)
            fail_msg("%s: row %zu gives 0x%llx", cases[i].opcode, i, (unsigned long long)row.got);
    }
}

static void a_comparison_of_two_halves_has_two_predicates(void **state)
{
    static const char text[] = ".version 9.0\n.target sm_90\n.address_size 64\n"
                               ".visible .entry k(.param .u64 out)\n{\n.reg .pred %p<4>;\n"
                               ".reg .b32 %r<6>;\n.reg .b64 %rd<2>;\nld.param.u64 %rd1, [out];\n"
                               "mov.b32 %r1, 0x40003c00;\nmov.b32 %r2, 0x3c004000;\n"
                               "setp.lt.f16x2 %p1|%p2, %r1, %r2;\nselp.b32 %r3, 1, 0, %p1;\n"
                               "selp.b32 %r4, 2, 0, %p2;\nor.b32 %r3, %r3, %r4;\n"
                               "st.global.b32 [%rd1], %r3;\nret;\n}\n";
    struct rig rig;
    uint64_t address;
    uint32_t *out;

    (void)state;
    rig_load(&rig, (struct bytes){ text, sizeof text - 1 });
    out = rig_buffer(&rig, 4, &address);
    rig_run(&rig, "k", 1, 1, &address);
    assert_int_equal(*out, 1);
    rig_done(&rig);
}

static void what_no_gpu_has_is_refused(void **state)
{
    static const struct {
        const char *opcode, *shape;
    } cases[] = {
        { "add.rz.f16", "hhh" },       { "add.sat.bf16", "hhh" }, { "div.rn.f16", "hhh" },
        { "fma.rn.ftz.bf16", "hhhh" }, { "min.s32.f16", "hhh" },  { "setp.lt.sat.f16", "phh" },
        { "add.relu.f16x2", "rrr" },   { "abs.sat.f16", "hh" },   { "sqrt.approx.f16", "hh" },
        { "add.e4m3x2", "hhh" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        if (!form_is_refused(cases[i].opcode, cases[i].shape))
            fail_msg("%s is not refused", cases[i].opcode);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arithmetic_rounds_once),
        cmocka_unit_test(a_tiny_addend_breaks_a_tie),
        cmocka_unit_test(signs_are_bits),
        cmocka_unit_test(functions_are_close),
        cmocka_unit_test(comparisons_know_halves),
        cmocka_unit_test(a_comparison_of_two_halves_has_two_predicates),
        cmocka_unit_test(what_no_gpu_has_is_refused),
    };

    return rig_run_builds(tests, COUNT(tests));
}
