/*
 * Matrices for the tests of wmma and mma.sync: kinds of elements, packed as memory and fragments
 * hold them, and products that are worked out by row and column.
 */
#ifndef WB_TESTS_UNIT_PTX_MATRICES_H
#define WB_TESTS_UNIT_PTX_MATRICES_H

#include "tests/unit/ptx_forms.h"
#include "tests/unit/ptx_reference.h"

enum { MOST = 32 * 256 };

struct kind {
    const char *name;
    int bits; /* in memory */
    const struct ref_format *format;
    int least, most; /* whole numbers that it holds, for exact sums */
};

static const struct kind F16 = { "f16", 16, &REF_F16, -8, 8 };
static const struct kind BF16 = { "bf16", 16, &REF_BF16, -8, 8 };
static const struct kind TF32 = { "tf32", 32, &REF_TF32, -8, 8 };
static const struct kind F32 = { "f32", 32, &REF_F32, -50, 50 };
static const struct kind F64 = { "f64", 64, &REF_F64, -8, 8 };
static const struct kind S8 = { "s8", 8, NULL, -128, 127 };
static const struct kind U8 = { "u8", 8, NULL, 0, 255 };
static const struct kind S4 = { "s4", 4, NULL, -8, 7 };
static const struct kind U4 = { "u4", 4, NULL, 0, 15 };
static const struct kind B1 = { "b1", 1, NULL, 0, 1 };
static const struct kind S32 = { "s32", 32, NULL, -1000, 1000 };
static const struct kind E4M3 = { "e4m3", 8, &REF_E4M3, -8, 8 };
static const struct kind E5M2 = { "e5m2", 8, &REF_E5M2, -4, 4 };

static inline void matrix_put(const struct kind *kind, void *data, int i, double v)
{
    uint64_t code = kind->format ? ref_code(kind->format, v, REF_RN) : (uint64_t)(int64_t)v;
    uint8_t *bytes = data;

    for (int b = 0; b < kind->bits; b++) {
        int at = i * kind->bits + b;

        bytes[at / 8] =
            (uint8_t)((bytes[at / 8] & ~(1 << at % 8)) | (int)(code >> b & 1) << at % 8);
    }
}

static inline double matrix_get(const struct kind *kind, const void *data, int i)
{
    const uint8_t *bytes = data;
    uint64_t code = 0;

    for (int b = 0; b < kind->bits; b++) {
        int at = i * kind->bits + b;

        code |= (uint64_t)(bytes[at / 8] >> at % 8 & 1) << b;
    }
    if (kind->format)
        return ref_value(kind->format, code);
    if (kind->least < 0 && code >> (kind->bits - 1) & 1)
        return (double)((int64_t)code - ((int64_t)1 << kind->bits));
    return (double)code;
}

struct product {
    const struct kind *a, *b, *c, *d;
    int m, n, k;
    bool is_and; /* of b1; the other is xor */
};

struct matrices {
    double a[MOST], b[MOST], c[MOST], want[MOST], size[MOST]; /* a: m x k, b: k x n, by rows */
};

static inline double matrix_random(const struct kind *kind, bool is_whole, uint64_t *seed)
{
    uint64_t r = form_random(seed);

    if (is_whole || !kind->format)
        return kind->least + (double)(r % (uint64_t)(kind->most - kind->least + 1));
    return ref_value(kind->format,
                     ref_code(kind->format, ldexp((double)(int64_t)r, -63 + (int)(r % 5)), REF_RN));
}

static inline void matrix_fill(struct matrices *x, const struct product *p, bool is_whole,
                               uint64_t *seed)
{
    for (int i = 0; i < p->m * p->k; i++)
        x->a[i] = matrix_random(p->a, is_whole, seed);
    for (int i = 0; i < p->k * p->n; i++)
        x->b[i] = matrix_random(p->b, is_whole, seed);
    for (int i = 0; i < p->m * p->n; i++)
        x->c[i] = matrix_random(p->c, is_whole, seed);
    for (int m = 0; m < p->m; m++)
        for (int n = 0; n < p->n; n++) {
            double sum = x->c[m * p->n + n], size = fabs(sum);

            for (int k = 0; k < p->k; k++) {
                double a = x->a[m * p->k + k], b = x->b[k * p->n + n];

                sum += p->a != &B1 ? a * b : p->is_and ? a && b : a != b;
                size += fabs(a * b);
            }
            x->want[m * p->n + n] = sum;
            x->size[m * p->n + n] = size;
        }
}

/* Exact, or within k + 2 units in the last place (2^-23 of f32, 2^-10 of f16) of the sum of sizes.
 */
static inline void matrix_check(const char *what, const struct product *p, const struct matrices *x,
                                int m, int n, double got, bool is_whole)
{
    double want = x->want[m * p->n + n], bound = 0;

    if (!is_whole && p->d->format && p->d != &F64)
        bound = (p->d == &F16 ? 0x1p-10 : (p->k + 2) * 0x1p-25 + 0x1p-23) * x->size[m * p->n + n];
    if (p->d == &F64)
        bound = is_whole ? 0 : p->k * 0x1p-53 * x->size[m * p->n + n];
    if (!(fabs(got - want) <= bound))
        fail_msg("%s: element (%d, %d) is %.9g, not %.9g", what, m, n, got, want);
}

/* 32-bit registers that one lane holds, or 64-bit ones of f64. */
static inline int matrix_registers(const struct kind *kind, int elements, bool has_copies)
{
    if (kind == &F16 && has_copies)
        return 8;
    return elements / 32 / (kind->bits > 32 ? 1 : 32 / kind->bits);
}

static inline void matrix_put_list(struct buf *b, const char *name, const struct kind *kind,
                                   int count)
{
    buf_putc(b, '{');
    for (int i = 0; i < count; i++)
        buf_printf(b, "%s%%%c%s%d", i ? ", " : "", kind == &F64 ? 'd' : 'r', name, i);
    buf_putc(b, '}');
}

static inline void matrix_put_registers(struct buf *b)
{
    static const char NAMES[] = "abce";

    for (int i = 0; NAMES[i]; i++)
        buf_printf(b, ".reg .b32 %%r%c<16>;\n.reg .b64 %%d%c<16>;\n", NAMES[i], NAMES[i]);
}

#endif
