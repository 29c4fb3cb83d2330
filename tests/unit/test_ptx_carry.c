/*
 * Long numbers by carries: sums, differences and products of many words against
 * the same in wider types, with the carry kept a lane.
 */
#include "tests/unit/ptx_forms.h"

enum { ROWS = 2048 };

typedef unsigned __int128 wide;

struct row {
    uint64_t a[2], b[2], c[2], out[4];
};

/*
 * A kernel over rows of 128-bit numbers a, b, c. body computes %q0 (low) to %q3 from
 * %w0 %w1 (a), %w2 %w3 (b), %w4 %w5 (c) in 64-bit words, and in 32-bit ones %v0 ... %v11.
 */
static void run(const char *body, struct row *rows, int count)
{
    struct buf b = { 0 };
    struct rig rig;
    uint64_t address;
    void *table;

    buf_puts(&b,
             ".version 9.0\n.target sm_80\n.address_size 64\n"
             ".visible .entry k(.param .u64 table)\n{\n.reg .pred %p<3>;\n.reg .b32 %r<4>, %v<12>, "
             "%o<8>;\n.reg .b64 %rd<4>, %w<6>, %q<4>;\nld.param.u64 %rd1, [table];\n"
             "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmad.lo.s32 %r1, %r2, 128, %r1;\n");
    buf_printf(&b,
               "setp.ge.s32 %%p1, %%r1, %d;\n@%%p1 bra $end;\nmul.wide.s32 %%rd2, %%r1, %zu;\n"
               "add.s64 %%rd1, %%rd1, %%rd2;\n",
               count, sizeof(struct row));
    for (int i = 0; i < 6; i++)
        buf_printf(&b, "ld.global.b64 %%w%d, [%%rd1+%d];\nmov.b64 {%%v%d, %%v%d}, %%w%d;\n", i,
                   8 * i, 2 * i, 2 * i + 1, i);
    for (int i = 0; i < 8; i++)
        buf_printf(&b, "mov.b32 %%o%d, 0;\n", i);
    for (int i = 0; i < 4; i++)
        buf_printf(&b, "mov.b64 %%q%d, 0;\n", i);
    buf_puts(&b, body);
    for (int i = 0; i < 4; i++)
        buf_printf(&b, "st.global.b64 [%%rd1+%d], %%q%d;\n", 48 + 8 * i, i);
    buf_puts(&b, "$end:\nret;\n}\n");
    assert_false(b.is_failed);
    rig_load(&rig, (struct bytes){ b.data, b.size });
    table = rig_buffer(&rig, (size_t)count * sizeof *rows, &address);
    memcpy(table, rows, (size_t)count * sizeof *rows);
    rig_run(&rig, "k", (unsigned)(count + 127) / 128, 128, &address);
    memcpy(rows, table, (size_t)count * sizeof *rows);
    rig_done(&rig);
    buf_done(&b);
}

static wide number(const uint64_t *words)
{
    return (wide)words[1] << 64 | words[0];
}

static void fill(struct row *rows)
{
    uint64_t seed = 5;

    for (int i = 0; i < ROWS; i++) {
        uint64_t *words = rows[i].a;

        for (int k = 0; k < 6; k++) {
            uint64_t r = form_random(&seed);

            /* Often all ones or zeros, so that carries travel. */
            words[k] = r % 4 == 0 ? 0 : r % 4 == 1 ? UINT64_MAX : form_random(&seed);
        }
    }
}

static const char JOIN_32[] = "mov.b64 %q0, {%o0, %o1};\nmov.b64 %q1, {%o2, %o3};\n"
                              "mov.b64 %q2, {%o4, %o5};\nmov.b64 %q3, {%o6, %o7};\n";

static void check(const char *what, const char *body, wide (*want)(const struct row *, wide *upper))
{
    struct row *rows = calloc(ROWS, sizeof *rows);
    char text[2048];

    assert_non_null(rows);
    snprintf(text, sizeof text, "%s%s", body, strstr(body, "%q") ? "" : JOIN_32);
    fill(rows);
    run(text, rows, ROWS);
    for (int i = 0; i < ROWS; i++) {
        wide upper = 0, lower = want(&rows[i], &upper);

        if (number(rows[i].out) != lower || number(rows[i].out + 2) != upper)
            fail_msg("%s: row %d gives %016llx%016llx %016llx%016llx", what, i,
                     (unsigned long long)rows[i].out[3], (unsigned long long)rows[i].out[2],
                     (unsigned long long)rows[i].out[1], (unsigned long long)rows[i].out[0]);
    }
    free(rows);
}

static wide sum(const struct row *r, wide *upper)
{
    wide v = number(r->a) + number(r->b);

    *upper = v < number(r->a);
    return v;
}

static wide difference(const struct row *r, wide *upper)
{
    *upper = number(r->a) < number(r->b) ? ~(wide)0 : 0;
    return number(r->a) - number(r->b);
}

/* a * b + c in 256 bits by hand. */
static wide product(const struct row *r, wide *upper)
{
    wide ll = (wide)r->a[0] * r->b[0], lh = (wide)r->a[0] * r->b[1], hl = (wide)r->a[1] * r->b[0];
    wide hh = (wide)r->a[1] * r->b[1], middle = (ll >> 64) + (uint64_t)lh + (uint64_t)hl;
    wide low = middle << 64 | (uint64_t)ll, high = hh + (lh >> 64) + (hl >> 64) + (middle >> 64);
    wide v = low + number(r->c);

    *upper = high + (v < low);
    return v;
}

static void sums_carry_through_words_of_32_and_64_bits(void **state)
{
    (void)state;
    check("add 32",
          "add.cc.u32 %o0, %v0, %v4;\naddc.cc.u32 %o1, %v1, %v5;\naddc.cc.u32 %o2, %v2, %v6;\n"
          "addc.cc.s32 %o3, %v3, %v7;\naddc.u32 %o4, 0, 0;\n",
          sum);
    check("add 64", "add.cc.u64 %q0, %w0, %w2;\naddc.cc.s64 %q1, %w1, %w3;\naddc.u64 %q2, 0, 0;\n",
          sum);
}

static void differences_borrow(void **state)
{
    (void)state;
    check("sub 32",
          "sub.cc.u32 %o0, %v0, %v4;\nsubc.cc.u32 %o1, %v1, %v5;\nsubc.cc.u32 %o2, %v2, %v6;\n"
          "subc.cc.u32 %o3, %v3, %v7;\nsubc.u32 %o4, 0, 0;\nmov.b32 %o5, %o4;\nmov.b32 %o6, %o4;\n"
          "mov.b32 %o7, %o4;\n",
          difference);
    check("sub 64",
          "sub.cc.s64 %q0, %w0, %w2;\nsubc.cc.u64 %q1, %w1, %w3;\nsubc.u64 %q2, 0, 0;\n"
          "mov.b64 %q3, %q2;\n",
          difference);
}

static void products_accumulate(void **state)
{
    (void)state;
    check("mad 64",
          "mad.lo.cc.u64 %q0, %w0, %w2, %w4;\nmadc.hi.cc.u64 %q1, %w0, %w2, %w5;\n"
          "addc.u64 %q2, 0, 0;\n"
          "mad.lo.cc.u64 %q1, %w0, %w3, %q1;\nmadc.hi.cc.u64 %q2, %w0, %w3, %q2;\n"
          "addc.u64 %q3, 0, 0;\n"
          "mad.lo.cc.u64 %q1, %w1, %w2, %q1;\nmadc.hi.cc.u64 %q2, %w1, %w2, %q2;\n"
          "addc.u64 %q3, %q3, 0;\n"
          "mad.lo.cc.u64 %q2, %w1, %w3, %q2;\nmadc.hi.u64 %q3, %w1, %w3, %q3;\n",
          product);
}

static wide signed_high(const struct row *r, wide *upper)
{
    __int128 p = (__int128)(int64_t)r->a[0] * (int64_t)r->b[0];
    wide v = (wide)(uint64_t)(p >> 64) + r->c[0];
    uint64_t s = (uint64_t)((int64_t)(int32_t)r->a[1] * (int32_t)r->b[1]) >> 32;
    wide w = (wide)s + (uint32_t)r->c[1];

    *upper = (wide)(uint64_t)(w >> 32) << 64 | (uint32_t)w;
    return (wide)(uint64_t)(v >> 64) << 64 | (uint64_t)v;
}

static void signed_products_have_signed_upper_halves(void **state)
{
    (void)state;
    check("mad.hi.cc.s",
          "mad.hi.cc.s64 %q0, %w0, %w2, %w4;\naddc.u64 %q1, 0, 0;\n"
          "mad.hi.cc.s32 %o0, %v2, %v6, %v10;\naddc.u32 %o1, 0, 0;\ncvt.u64.u32 %q2, %o0;\n"
          "cvt.u64.u32 %q3, %o1;\n",
          signed_high);
}

static wide odd_rows(const struct row *r, wide *upper)
{
    uint64_t carry = r->a[0] + r->b[0] < r->a[0];

    *upper = 0;
    return r->c[0] & 1 ? (wide)carry : 0;
}

/* Lanes that skip an instruction keep the carry of the one before. */
static void a_carry_is_a_lane_s_own(void **state)
{
    (void)state;
    check("lanes",
          "add.cc.u64 %q3, 0, 0;\nand.b32 %r3, %v8, 1;\nsetp.eq.u32 %p2, %r3, 0;\n@%p2 bra $skip;\n"
          "add.cc.u64 %q3, %w0, %w2;\n$skip:\naddc.u64 %q0, 0, 0;\nmov.b64 %q3, 0;\n",
          odd_rows);
}

static void forms_that_no_gpu_has_are_refused(void **state)
{
    static const struct {
        const char *opcode, *shape;
    } cases[] = {
        { "add.cc.u16", "hhh" },  { "add.cc.sat.s32", "rrr" },   { "addc.f32", "rrr" },
        { "mad.cc.u32", "rrrr" }, { "mad.wide.cc.u32", "drrd" }, { "addc.cc.b32", "rrr" },
        { "mul.cc.u32", "rrr" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        if (!form_is_refused(cases[i].opcode, cases[i].shape))
            fail_msg("%s is not refused", cases[i].opcode);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_carry_through_words_of_32_and_64_bits),
        cmocka_unit_test(differences_borrow),
        cmocka_unit_test(products_accumulate),
        cmocka_unit_test(signed_products_have_signed_upper_halves),
        cmocka_unit_test(a_carry_is_a_lane_s_own),
        cmocka_unit_test(forms_that_no_gpu_has_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
