/*
 * Arithmetic of f32 and f64 in every rounding, with .ftz and .sat, against
 * quadruple precision rounded by search; and the forms whose result the PTX ISA
 * bounds, against long doubles.
 */
#include "tests/unit/ptx_forms.h"
#include "tests/unit/ptx_reference.h"

#include <float.h>

enum { ROWS = 600 };

enum operation { ADD, SUB, MUL, FMA, DIV, RCP, SQRT };

static const struct {
    const char *name;
    enum operation operation;
    int sources;
    bool has_sat;
} OPERATIONS[] = {
    { "add", ADD, 2, true },  { "sub", SUB, 2, true },    { "mul", MUL, 2, true },
    { "fma", FMA, 3, true },  { "mad", FMA, 3, true },    { "div", DIV, 2, false },
    { "rcp", RCP, 1, false }, { "sqrt", SQRT, 1, false },
};

static const struct {
    const char *name;
    enum ref_mode mode;
} ROUNDINGS[] = { { "rn", REF_RN }, { "rz", REF_RZ }, { "rm", REF_RM }, { "rp", REF_RP } };

/* Numbers whose sums and products a quad holds exactly; edges, often. */
static double pick(const struct ref_format *f, int scale, uint64_t *seed)
{
    static const double edges[] = { 0, -0.0, 1, -1, 2, 0.5, 3, INFINITY, -INFINITY, NAN };
    uint64_t r = form_random(seed);
    double fraction = (double)(form_random(seed) >> (f->bits == 64 ? 11 : 40));
    int exponent = (int)(r >> 8 & 15) - 8 + scale;

    if (r % 9 == 0)
        return ldexp(edges[(r >> 16) % COUNT(edges)], scale);
    if (f->bits == 64) /* the sum of a product of two and a third has 113 digits at most */
        fraction = (double)((uint64_t)fraction & ~(uint64_t)0xfff);
    if (r % 9 == 2)
        fraction = (double)((uint64_t)fraction & ~(uint64_t)0xffff);
    return (r >> 17 & 1 ? -1 : 1) * ldexp(fraction, exponent - f->digits);
}

static uint64_t flush(const struct ref_format *f, uint64_t code)
{
    uint64_t sign = (uint64_t)1 << (f->bits - 1);

    return (code & (sign - 1)) >> f->digits ? code : code & sign;
}

/* What no number of digits settles: is the quotient or root above, at or below `m`? */
static int compare_exact(enum operation op, quad a, quad b, quad m)
{
    quad left = op == SQRT ? m * m : m * (b < 0 ? -b : b), right = a < 0 ? -a : a;

    return left < right ? -1 : left > right;
}

/* The magnitude of a quotient or a root, as a quad that lies on the right side of each code. */
static quad inexact_magnitude(const struct ref_format *f, enum operation op, quad a, quad b)
{
    uint64_t low = 0, high = f->largest;
    quad below, above, middle;

    while (low < high) {
        uint64_t code = low + (high - low + 1) / 2;

        if (compare_exact(op, a, b, ref_magnitude(f, code)) <= 0)
            low = code;
        else
            high = code - 1;
    }
    below = ref_magnitude(f, low);
    if (compare_exact(op, a, b, below) == 0)
        return below;
    above = low == f->largest ? below + (below - (quad)ref_magnitude(f, low - 1))
                              : (quad)ref_magnitude(f, low + 1);
    middle = (below + above) / 2;
    if (low == f->largest && compare_exact(op, a, b, above) <= 0)
        return above + above;
    switch (compare_exact(op, a, b, middle)) {
    case 0:
        return middle;
    case -1:
        return (middle + above) / 2;
    default:
        return (below + middle) / 2;
    }
}

static uint64_t expected(const struct ref_format *f, enum operation op, enum ref_mode mode,
                         bool ftz, bool sat, const double *s)
{
    double a = op == RCP ? 1.0 : s[0], b = op == RCP ? s[0] : s[1], c = s[2], plain;
    uint64_t code;
    quad exact;

    plain = op == ADD    ? a + b
            : op == SUB  ? a - b
            : op == MUL  ? a * b
            : op == FMA  ? (isinf(a) || isinf(b) || isnan(c) || isinf(c) ? a * b + c : fma(a, b, c))
            : op == SQRT ? sqrt(a)
                         : a / b;
    if (isnan(plain))
        return sat ? 0 : f->nan;
    if (isinf(a) || isinf(b) || isinf(c) || (op >= DIV && op != SQRT && b == 0)) {
        code = ref_code(f, plain, REF_RN);
    } else {
        exact = op == ADD   ? (quad)a + b
                : op == SUB ? (quad)a - b
                : op == MUL ? (quad)a * b
                : op == FMA ? (quad)a * b + c
                            : inexact_magnitude(f, op, a, b);
        if (op >= DIV && signbit(plain))
            exact = -exact;
        /* An exact zero of two signs is -0 only when rounding down. */
        if (exact == 0 && (op == ADD || op == SUB || op == FMA)) {
            double x = op == FMA ? a * b : a, y = op == SUB ? -b : op == FMA ? c : b;

            code = (signbit(x) && signbit(y)) || (signbit(x) != signbit(y) && mode == REF_RM)
                       ? (uint64_t)1 << (f->bits - 1)
                       : 0;
            if (x != 0 || y != 0) /* they cancel */
                code = mode == REF_RM ? (uint64_t)1 << (f->bits - 1) : 0;
        } else {
            code = ref_round(f, exact, signbit(plain), mode);
        }
    }
    if (sat) {
        double v = ref_value(f, code);

        return v <= 0 ? 0 : v >= 1 ? ref_code(f, 1.0, REF_RN) : ftz ? flush(f, code) : code;
    }
    return ftz ? flush(f, code) : code;
}

static void check(const struct ref_format *f, size_t o, size_t r, bool ftz, bool sat,
                  struct form_row *rows, uint64_t *seed)
{
    bool is_wide = f->bits == 64;
    char opcode[64], shape[5] = { 0 };

    snprintf(opcode, sizeof opcode, "%s.%s%s%s.%s", OPERATIONS[o].name, ROUNDINGS[r].name,
             ftz ? ".ftz" : "", sat ? ".sat" : "", f->name);
    memset(shape, is_wide ? 'd' : 'r', (size_t)OPERATIONS[o].sources + 1);
    for (int i = 0; i < ROWS; i++)
        for (int s = 0; s < 3; s++) {
            /* Some rows are about the least float, and some about the largest. */
            int scale = is_wide || i % 4 ? 0 : i % 8 ? 115 : -140;

            if (OPERATIONS[o].operation == FMA && s < 2)
                scale /= 2;
            rows[i].source[s] = ref_code(f, pick(f, scale, seed), REF_RN);
        }
    form_run(opcode, shape, rows, ROWS);
    for (int i = 0; i < ROWS; i++) {
        double s[3] = { 0 };
        uint64_t want;

        for (int k = 0; k < OPERATIONS[o].sources; k++)
            s[k] = ref_value(f, ftz ? flush(f, rows[i].source[k]) : rows[i].source[k]);
        want = expected(f, OPERATIONS[o].operation, ROUNDINGS[r].mode, ftz, sat, s);
        if (is_wide && want == f->nan && isnan(ref_value(f, rows[i].got)))
            continue;
        if (rows[i].got != want)
            fail_msg("%s(%a, %a, %a): 0x%llx, not 0x%llx", opcode, s[0], s[1], s[2],
                     (unsigned long long)rows[i].got, (unsigned long long)want);
    }
}

static void arithmetic_rounds_in_every_way(void **state)
{
    struct form_row *rows = calloc(ROWS, sizeof *rows);
    uint64_t seed = 11;

    (void)state;
    assert_non_null(rows);
    for (size_t o = 0; o < COUNT(OPERATIONS); o++)
        for (size_t r = 0; r < COUNT(ROUNDINGS); r++) {
            for (int flags = 0; flags < 4; flags++)
                if (!(flags & 2) || OPERATIONS[o].has_sat)
                    check(&REF_F32, o, r, flags & 1, flags & 2, rows, &seed);
            check(&REF_F64, o, r, false, false, rows, &seed);
        }
    free(rows);
}

/* ---- Bounded forms -------------------------------------------------------------------------- */

typedef long double bound_fn(long double v);

static long double reciprocal(long double v)
{
    return 1 / v;
}

static long double reciprocal_root(long double v)
{
    return 1 / sqrtl(v);
}

static void approximations_keep_their_bounds(void **state)
{
    static const struct {
        const char *opcode;
        bound_fn *want;
        double least, most, ulps;
    } cases[] = {
        { "rcp.approx.f32", reciprocal, -1e30, 1e30, 1 },
        { "rsqrt.approx.f32", reciprocal_root, 1e-30, 1e30, 1 },
        { "rsqrt.approx.ftz.f32", reciprocal_root, 1e-30, 1e30, 1 },
        { "sqrt.approx.f32", sqrtl, 0, 1e30, 1 },
        { "ex2.approx.f32", exp2l, -126, 127, 2 },
        { "ex2.approx.ftz.f32", exp2l, -125, 127, 2 },
        { "lg2.approx.f32", log2l, 4, 1e30, 2 },
        { "tanh.approx.f32", tanhl, -10, 10, 1 },
    };
    struct form_row *rows = calloc(ROWS, sizeof *rows);
    uint64_t seed = 13;

    (void)state;
    assert_non_null(rows);
    for (size_t k = 0; k < COUNT(cases); k++) {
        for (int i = 0; i < ROWS; i++) {
            double u = (double)(form_random(&seed) >> 11) * 0x1p-53;

            rows[i].source[0] =
                ref_code(&REF_F32, cases[k].least + u * u * u * (cases[k].most - cases[k].least),
                         REF_RN);
        }
        form_run(cases[k].opcode, "rr", rows, ROWS);
        for (int i = 0; i < ROWS; i++) {
            double v = ref_value(&REF_F32, rows[i].source[0]);
            double got = ref_value(&REF_F32, rows[i].got);
            long double want = cases[k].want(v);
            int exponent;

            frexpl(want, &exponent);
            if (!(fabsl(got - want) <= cases[k].ulps * ldexpl(1, exponent - 24)))
                fail_msg("%s(%a): %a, not %La", cases[k].opcode, v, got, want);
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
        { "min.xorsign.abs.f32", "rrr", { 0xc0000000, 0x3f800000 }, 0xbf800000 },
        { "max.xorsign.abs.f32", "rrr", { 0xc0000000, 0xbf800000 }, 0x40000000 },
        { "max.NaN.f32", "rrr", { 0x7fc00000, 0x3f800000 }, 0x7fffffff },
        { "min.ftz.NaN.f32", "rrr", { 0x00000001, 0x3f800000 }, 0x00000000 },
        { "min.ftz.f32", "rrr", { 0x80000001, 0x3f800000 }, 0x80000000 },
        { "slct.ftz.f32.f32", "rrrr", { 7, 8, 0x80000001 }, 7 },
        { "slct.f32.f32", "rrrr", { 7, 8, 0x80000001 }, 8 },
        { "slct.s16.s32", "hhhr", { 7, 8, 0xffffffff }, 8 },
        { "testp.finite.f32", "pr", { 0x7f800000 }, 0 },
        { "testp.finite.f32", "pr", { 0x00000001 }, 1 },
        { "testp.infinite.f32", "pr", { 0xff800000 }, 1 },
        { "testp.number.f32", "pr", { 0x7f800000 }, 1 },
        { "testp.notanumber.f64", "pd", { 0x7ff8000000000001 }, 1 },
        { "testp.normal.f64", "pd", { 0x0000000000000001 }, 0 },
        { "testp.normal.f32", "pr", { 0x3f800000 }, 1 },
        { "testp.subnormal.f64", "pd", { 0x8000000000000001 }, 1 },
        { "testp.subnormal.f32", "pr", { 0 }, 0 },
        { "copysign.f32", "rrr", { 0x80000000, 0x3f800000 }, 0xbf800000 },
        { "sqrt.rz.ftz.f32", "rr", { 0x00000001 }, 0 },
    };
    static const struct {
        const char *opcode, *shape;
    } refused[] = {
        { "add.rna.f32", "rrr" },      { "add.ftz.f64", "ddd" },   { "div.f32", "rrr" },
        { "fma.rn.relu.f32", "rrrr" }, { "sqrt.f32", "rr" },       { "sin.f32", "rr" },
        { "sin.approx.f64", "dd" },    { "min.f32", "rrrr" },      { "rcp.rn.sat.f32", "rr" },
        { "testp.odd.f32", "pr" },     { "add.rn.rz.f32", "rrr" }, { "tanh.approx.ftz.f32", "rr" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct form_row row = { 0 };

        memcpy(row.source, cases[i].source, sizeof cases[i].source);
        form_run(cases[i].opcode, cases[i].shape, &row, 1);
        if (row.got != cases[i].want)
            fail_msg("%s: row %zu gives 0x%llx", cases[i].opcode, i, (unsigned long long)row.got);
    }
    for (size_t i = 0; i < COUNT(refused); i++)
        if (!form_is_refused(refused[i].opcode, refused[i].shape))
            fail_msg("%s is not refused", refused[i].opcode);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arithmetic_rounds_in_every_way),
        cmocka_unit_test(approximations_keep_their_bounds),
        cmocka_unit_test(details),
    };

    return rig_run_builds(tests, COUNT(tests));
}
