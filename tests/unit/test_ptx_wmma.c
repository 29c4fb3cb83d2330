/*
 * Products of matrices through memory: wmma in every shape, type and layout. Elements are small
 * whole numbers, so that every sum is exact; then random ones within the bound that
 * docs/accuracy.md states.
 */
#include "tests/unit/ptx_matrices.h"

static const struct product WMMA[] = {
    { &F16, &F16, &F32, &F32, 16, 16, 16, 0 },   { &F16, &F16, &F32, &F32, 32, 8, 16, 0 },
    { &F16, &F16, &F32, &F32, 8, 32, 16, 0 },    { &F16, &F16, &F16, &F16, 16, 16, 16, 0 },
    { &F16, &F16, &F16, &F16, 32, 8, 16, 0 },    { &F16, &F16, &F16, &F16, 8, 32, 16, 0 },
    { &F16, &F16, &F16, &F32, 16, 16, 16, 0 },   { &F16, &F16, &F32, &F16, 8, 32, 16, 0 },
    { &BF16, &BF16, &F32, &F32, 16, 16, 16, 0 }, { &BF16, &BF16, &F32, &F32, 32, 8, 16, 0 },
    { &BF16, &BF16, &F32, &F32, 8, 32, 16, 0 },  { &TF32, &TF32, &F32, &F32, 16, 16, 8, 0 },
    { &S8, &S8, &S32, &S32, 16, 16, 16, 0 },     { &S8, &S8, &S32, &S32, 32, 8, 16, 0 },
    { &U8, &U8, &S32, &S32, 8, 32, 16, 0 },      { &U8, &U8, &S32, &S32, 16, 16, 16, 0 },
    { &F64, &F64, &F64, &F64, 8, 8, 4, 0 },      { &S4, &S4, &S32, &S32, 8, 8, 32, 0 },
    { &U4, &U4, &S32, &S32, 8, 8, 32, 0 },       { &B1, &B1, &S32, &S32, 8, 8, 128, false },
    { &B1, &B1, &S32, &S32, 8, 8, 128, true },
};

/* Loads by the layouts, multiplies and stores; the base addresses are parameters. */
static void put_wmma(struct buf *b, const struct product *p, bool a_row, bool b_row, bool c_row)
{
    static const char *const ROWS[] = { "col", "row" };
    int ld_a = a_row ? p->k : p->m, ld_b = b_row ? p->n : p->k, ld_c = c_row ? p->n : p->m;
    int ra = matrix_registers(p->a, p->m * p->k, true),
        rb = matrix_registers(p->b, p->k * p->n, true);
    int rc = matrix_registers(p->c, p->m * p->n, false),
        rd = matrix_registers(p->d, p->m * p->n, false);
    char shape[32];

    snprintf(shape, sizeof shape, "m%dn%dk%d", p->m, p->n, p->k);
    buf_puts(b, ".version 9.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 a, "
                ".param .u64 b, .param .u64 c, .param .u64 d)\n{\n.reg .b64 %rd<5>;\n.reg .b32 "
                "%ld;\n");
    matrix_put_registers(b);
    buf_puts(b, "ld.param.u64 %rd1, [a];\nld.param.u64 %rd2, [b];\nld.param.u64 %rd3, [c];\n"
                "ld.param.u64 %rd4, [d];\n");
    buf_printf(b, "wmma.load.a.sync.aligned.%s.%s.global.%s ", ROWS[a_row], shape, p->a->name);
    matrix_put_list(b, "a", p->a, ra);
    buf_printf(b, ", [%%rd1], %d;\nmov.u32 %%ld, %d;\n", ld_a, ld_b);
    buf_printf(b, "wmma.load.b.sync.aligned.%s.%s.%s ", ROWS[b_row], shape, p->b->name);
    matrix_put_list(b, "b", p->b, rb);
    buf_printf(b, ", [%%rd2], %%ld;\nwmma.load.c.sync.aligned.%s.%s.global.%s ", ROWS[c_row], shape,
               p->c->name);
    matrix_put_list(b, "c", p->c, rc);
    buf_printf(b, ", [%%rd3+0], %d;\nwmma.mma%s.sync.aligned.%s.%s.%s%s", ld_c,
               p->a != &B1 ? ""
               : p->is_and ? ".and.popc"
                           : ".xor.popc",
               ROWS[a_row], ROWS[b_row], shape, p->a == &F64 ? ".rn" : "");
    if (p->a == &F16)
        buf_printf(b, ".%s.%s ", p->d->name, p->c->name);
    else
        buf_printf(b, ".%s.%s.%s.%s ", p->d->name, p->a->name, p->b->name, p->c->name);
    matrix_put_list(b, "e", p->d, rd);
    buf_puts(b, ", ");
    matrix_put_list(b, "a", p->a, ra);
    buf_puts(b, ", ");
    matrix_put_list(b, "b", p->b, rb);
    buf_puts(b, ", ");
    matrix_put_list(b, "c", p->c, rc);
    buf_printf(b, ";\nwmma.store.d.sync.aligned.%s.%s.global.%s [%%rd4], ", ROWS[c_row], shape,
               p->d->name);
    matrix_put_list(b, "e", p->d, rd);
    buf_printf(b, ", %d;\nret;\n}\n", ld_c);
}

static void run_wmma(const struct product *p, int layouts, bool is_whole, struct matrices *x,
                     uint64_t *seed)
{
    bool a_row = layouts & 1, b_row = layouts & 2, c_row = layouts & 4;
    struct buf text = { 0 };
    struct rig rig;
    uint64_t addresses[4];
    void *a, *b, *c, *d;
    char what[80];

    put_wmma(&text, p, a_row, b_row, c_row);
    assert_false(text.is_failed);
    snprintf(what, sizeof what, "wmma m%dn%dk%d of %s, %s and %s, layouts %d", p->m, p->n, p->k,
             p->a->name, p->c->name, p->d->name, layouts);
    rig_load(&rig, (struct bytes){ text.data, text.size });
    a = rig_buffer(&rig, (size_t)(p->m * p->k * p->a->bits + 7) / 8, &addresses[0]);
    b = rig_buffer(&rig, (size_t)(p->k * p->n * p->b->bits + 7) / 8, &addresses[1]);
    c = rig_buffer(&rig, (size_t)(p->m * p->n * p->c->bits) / 8, &addresses[2]);
    d = rig_buffer(&rig, (size_t)(p->m * p->n * p->d->bits) / 8, &addresses[3]);
    matrix_fill(x, p, is_whole, seed);
    for (int i = 0; i < p->m; i++)
        for (int k = 0; k < p->k; k++)
            matrix_put(p->a, a, a_row ? i * p->k + k : k * p->m + i, x->a[i * p->k + k]);
    for (int k = 0; k < p->k; k++)
        for (int i = 0; i < p->n; i++)
            matrix_put(p->b, b, b_row ? k * p->n + i : i * p->k + k, x->b[k * p->n + i]);
    for (int m = 0; m < p->m; m++)
        for (int n = 0; n < p->n; n++)
            matrix_put(p->c, c, c_row ? m * p->n + n : n * p->m + m, x->c[m * p->n + n]);
    rig_run(&rig, "k", 1, 32, addresses);
    for (int m = 0; m < p->m; m++)
        for (int n = 0; n < p->n; n++)
            matrix_check(what, p, x, m, n, matrix_get(p->d, d, c_row ? m * p->n + n : n * p->m + m),
                         is_whole);
    rig_done(&rig);
    buf_done(&text);
}

static void wmma_multiplies_in_every_shape_type_and_layout(void **state)
{
    struct matrices *x = calloc(1, sizeof *x);
    uint64_t seed = 7;

    (void)state;
    assert_non_null(x);
    for (size_t i = 0; i < COUNT(WMMA); i++)
        for (int layouts = 0; layouts < 8; layouts++) {
            if (WMMA[i].a->bits < 8 && (layouts & 3) != 1)
                continue; /* A by rows and B by columns only */
            run_wmma(&WMMA[i], layouts, true, x, &seed);
            run_wmma(&WMMA[i], layouts, false, x, &seed);
        }
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wmma_multiplies_in_every_shape_type_and_layout),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
