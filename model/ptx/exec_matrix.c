/*
 * Products of small matrices by a whole warp: fragments become matrices, the
 * products are summed, and the sums become fragments.
 *
 * Halves, bfloats and tf32 are summed as tensor cores do it: the products are exact, the terms of
 * one sum are aligned to the largest exponent and cut there, added as whole numbers, and the result
 * is cut to a float (rounded to a half). Source: Fasi, Higham, Mikaitis, Pranesh, "Numerical
 * behavior of NVIDIA tensor cores"; Khattak, Mikaitis, "Accurate models of NVIDIA tensor cores":
 * Hopper keeps two bits more than a float has. See docs/accuracy.md for what that bounds.
 */
#include "model/ptx/matrix.h"

#include "model/ptx/half.h"
#include "model/ptx/soft.h"

typedef uint32_t __attribute__((may_alias)) word32;
typedef uint64_t __attribute__((may_alias)) word64;

enum { FRACTION_BITS = 25 }; /* of an aligned term: a float's 23 and two more */
enum { CHUNK = 16 };         /* products that are summed at once */

/* Where an element of a lane's register is: row of A or column of B, and k. */
static void matrix_place(const struct side *side, int lane, int reg, int element, int *outer,
                         int *k)
{
    int per_register = side->bits > 32 ? 1 : 32 / side->bits, width = 1 + side->is_wide;
    int per_tile = side->k / (4 * per_register) * width;
    int tile, in_tile;

    reg %= side->registers;
    tile = reg / per_tile;
    in_tile = reg % per_tile;
    *outer = lane / 4 + 8 * (in_tile % width) + 8 * width * tile;
    *k = lane % 4 * per_register + element + in_tile / width * 4 * per_register;
}

/* Where element i of a lane's C is. */
static void matrix_place_sum(bool is_turned, int m, int n, int lane, int i, int *row, int *column)
{
    int outer = lane / 4 + 8 * (i / 2 % 2), inner = lane % 4 * 2 + i % 2, tile = i / 4;

    if (is_turned) {
        *row = inner;
        *column = outer + 16 * tile;
        return;
    }
    *row = outer + (n == 8 && m > 16 ? 16 * tile : 0);
    *column = inner + (n > 8 ? 8 * tile : 0);
}

static void find_side(const struct side *side, uint8_t (*outers)[WARP], uint8_t (*ks)[WARP])
{
    for (int r = 0; r < side->registers; r++)
        for (int l = 0; l < WARP; l++) {
            int outer, k;

            matrix_place(side, l, r, 0, &outer, &k);
            outers[r][l] = (uint8_t)outer;
            ks[r][l] = (uint8_t)k;
        }
}

void matrix_find_places(struct multiply *x)
{
    find_side(&x->a, x->places.outer_a, x->places.k_a);
    find_side(&x->b, x->places.outer_b, x->places.k_b);
    for (int i = 0; i < x->m * x->n / WARP; i++)
        for (int l = 0; l < WARP; l++) {
            int row, column;

            matrix_place_sum(x->is_turned, x->m, x->n, l, i, &row, &column);
            x->places.row[i][l] = (uint8_t)row;
            x->places.column[i][l] = (uint8_t)column;
        }
}

/* A lane's register: 32 bits, or 64 of a double. */
static uint64_t get(const struct warp *w, uint32_t row, int lane, bool is_wide)
{
    return is_wide ? ((const word64 *)(w->rows + row))[lane]
                   : ((const word32 *)(w->rows + row))[lane];
}

static void put(struct warp *w, uint32_t row, int lane, bool is_wide, uint64_t v)
{
    if (is_wide)
        ((word64 *)(w->rows + row))[lane] = v;
    else
        ((word32 *)(w->rows + row))[lane] = (uint32_t)v;
}

/* Bits of the elements of A or B, by outer index and k. */
struct grid {
    uint64_t bits[MATRIX_OUTER][MATRIX_K];
};

static void collect(const struct warp *w, const struct side *side, const uint8_t (*outers)[WARP],
                    const uint8_t (*ks)[WARP], struct grid *grid)
{
    int per_register = side->bits > 32 ? 1 : 32 / side->bits;
    uint64_t low = side->bits > 63 ? UINT64_MAX : ((uint64_t)1 << side->bits) - 1;

    for (int r = 0; r < side->registers; r++)
        for (int l = 0; l < WARP; l++) {
            uint64_t v = get(w, side->rows[r], l, side->bits > 32);
            uint64_t *to = &grid->bits[outers[r][l]][ks[r][l]];

            for (int e = 0; e < per_register; e++)
                to[e] = v >> (e * side->bits) & low;
        }
}

/* ---- Whole numbers -------------------------------------------------------------------------- */

static int64_t whole(enum element element, uint64_t bits)
{
    switch (element) {
    case ELEMENT_S8:
        return (int8_t)bits;
    case ELEMENT_S4:
        return (int64_t)(bits & 7) - (int64_t)(bits & 8);
    default:
        return (int64_t)bits;
    }
}

static uint64_t sum_whole(const struct multiply *x, const uint64_t *a, const uint64_t *b,
                          uint64_t c)
{
    int64_t sum = (int32_t)c;

    for (int k = 0; k < x->a.k; k++) {
        if (x->a.element == ELEMENT_B1)
            sum += __builtin_popcountll(x->is_and ? a[k] & b[k] : a[k] ^ b[k]);
        else
            sum += whole(x->a.element, a[k]) * whole(x->b.element, b[k]);
    }
    return (uint32_t)(x->saturates ? saturate_s32(sum) : sum);
}

/* ---- Floats --------------------------------------------------------------------------------- */

/*
 * The factors of a sum: significand * 2^(exponent - digits). The exponent of a zero is so low that
 * no sum is aligned to it.
 */
struct factors {
    int32_t significand[MATRIX_OUTER][MATRIX_K]; /* with its sign */
    int32_t exponent[MATRIX_OUTER][MATRIX_K];
    int digits; /* of the fraction */
};

enum { NO_EXPONENT = -10000, ALL_ZERO = -4000, MOST_SHIFT = 31 };

static const struct soft_format *format_of(enum element element)
{
    static const char *const NAMES[] = { "f16", "bf16", "tf32", "e4m3", "e5m2", "f32", "f64" };
    const char *name = NAMES[element];

    return soft_format_find(name, (int)strlen(name));
}

static double value_of(const struct soft_format *f, uint64_t bits)
{
    struct soft v = soft_unpack(f, bits);
    double magnitude = v.class == SOFT_NAN        ? NAN
                       : v.class == SOFT_INFINITY ? INFINITY
                                                  : ldexp((double)v.significand, v.exponent);

    return v.is_negative ? -magnitude : magnitude;
}

/* The formats of 8 to 19 bits differ in widths alone. True when it is infinite or NaN. */
static bool set_factor(struct factors *to, int outer, int k, const struct soft_format *f,
                       uint32_t bits)
{
    int digits = f->precision - 1, width = f->bits - f->shift;
    uint32_t v = bits >> f->shift, fraction = v & ((1U << digits) - 1);
    uint32_t top = (1U << (width - 1 - digits)) - 1, field = v >> digits & top;
    int32_t significand = (int32_t)(field ? fraction | 1U << digits : fraction);

    to->significand[outer][k] = v >> (width - 1) & 1 ? -significand : significand;
    to->exponent[outer][k] = significand ? (int)(field ? field : 1) - 1 + f->e_min : NO_EXPONENT;
    return field == top && (f->has_infinity || fraction == (1U << digits) - 1);
}

/*
 * A term in units of the largest exponent's last bit, cut. It has 27 bits at most: two digits
 * before the point of a product, and FRACTION_BITS.
 */
static int32_t align(int32_t v, int below)
{
    int32_t magnitude = (v < 0 ? -v : v) >> (below > MOST_SHIFT ? MOST_SHIFT : below);

    return v < 0 ? -magnitude : magnitude;
}

static double power_of_two(int e)
{
    return f64_of_bits((uint64_t)(1023 + e) << 52);
}

/* The products of CHUNK factors and c, cut where the largest exponent leaves them no room. */
static double add_products(const int32_t *a, const int32_t *b, const int32_t *a_exponent,
                           const int32_t *b_exponent, int count, int digits, float c)
{
    uint32_t bits = bits_of_f32(c), field = bits >> 23 & 0xff;
    int32_t start = (int32_t)(bits & 0x7fffff) | (field ? 0x800000 : 0);
    int64_t sum;
    int32_t exponents[CHUNK];
    int c_exponent = start ? (field ? (int)field : 1) - 127 : NO_EXPONENT, most = c_exponent;

    for (int k = 0; k < count; k++) {
        exponents[k] = a_exponent[k] + b_exponent[k];
        most = exponents[k] > most ? exponents[k] : most;
    }
    if (most < ALL_ZERO)
        return 0.0;
    sum = align((bits >> 31 ? -start : start) * (1 << (FRACTION_BITS - 23)), most - c_exponent);
    for (int k = 0; k < count; k++)
        sum += align(a[k] * b[k] * (1 << (FRACTION_BITS - digits)), most - exponents[k]);
    return (double)sum * power_of_two(most - FRACTION_BITS);
}

/* Toward zero, but what is too large is infinite. */
static float cut_to_float(double v)
{
    float f = (float)v;

    if (__builtin_fabs((double)f) > __builtin_fabs(v) && __builtin_fabs(v) < 0x1p128)
        f = f32_of_bits(bits_of_f32(f) - 1);
    return f;
}

struct float_sum {
    const struct soft_format *format_a, *format_b, *format_c;
    struct factors a, b;
    bool is_special; /* some element is infinite or NaN */
};

static uint64_t pack_sum(enum element element, double v)
{
    return element == ELEMENT_F16 ? f16_of_f32(narrow_odd(v)) : bits_of_f32(NUM(cut_to_float(v)));
}

/* With infinities and NaN in it no digit counts. */
static double sum_special(const struct multiply *x, const struct float_sum *s, const uint64_t *a,
                          const uint64_t *b, double c)
{
    for (int k = 0; k < x->a.k; k++)
        c += value_of(s->format_a, a[k]) * value_of(s->format_b, b[k]);
    return c;
}

static float float_of_sum(enum element element, uint64_t bits)
{
    return element == ELEMENT_F16 ? f32_of_f16((uint32_t)bits) : f32_of_bits((uint32_t)bits);
}

/* The float so far is a term of the next chunk's sum. */
static uint64_t sum_floats(const struct multiply *x, const struct float_sum *s, int m, int n,
                           float c)
{
    uint64_t bits = 0;

    for (int k = 0; k < x->a.k; k += CHUNK) {
        int count = x->a.k - k < CHUNK ? x->a.k - k : CHUNK;

        bits = pack_sum(x->d.element, add_products(&s->a.significand[m][k], &s->b.significand[n][k],
                                                   &s->a.exponent[m][k], &s->b.exponent[n][k],
                                                   count, s->a.digits + s->b.digits, c));
        c = float_of_sum(x->d.element, bits);
    }
    return bits;
}

static void prepare_side(struct float_sum *s, const struct soft_format *f, const struct side *side,
                         const struct grid *grid, struct factors *factors)
{
    factors->digits = f->precision - 1;
    for (int o = 0; o < side->outer; o++)
        for (int k = 0; k < side->k; k++)
            s->is_special |= set_factor(factors, o, k, f, (uint32_t)grid->bits[o][k]);
}

/* Doubles: one fused step after the other, each rounded. */
static uint64_t sum_doubles(const struct multiply *x, const uint64_t *a, const uint64_t *b,
                            uint64_t c)
{
    double sum = f64_of_bits(c);

    for (int k = 0; k < x->a.k; k++)
        sum = fma(f64_of_bits(a[k]), f64_of_bits(b[k]), sum);
    return bits_of_f64(sum);
}

/* ---- The instruction ------------------------------------------------------------------------ */

static int bits_of_sum(enum element element)
{
    return element == ELEMENT_F64 ? 64 : element == ELEMENT_F16 ? 16 : 32;
}

/* .aligned: all threads of the warp execute the same instruction. */
static int check_whole_warp(struct warp *w, const struct insn *in, uint32_t mask)
{
    if (mask == FULL_MASK)
        return EXEC_OK;
    w->fault = (struct fault_site){
        .name = ERR_BarrierFault,
        .lanes = mask,
        .insn = in,
        .why = "a matrix instruction needs all 32 lanes of the warp, and some are not here",
        .hint = "take it out of the branch, and start blocks of a multiple of 32 threads",
    };
    return EXEC_FAULT;
}

static uint64_t sum_element(const struct multiply *x, const struct float_sum *s,
                            const struct grid *a, const struct grid *b, int row, int column,
                            uint64_t c)
{
    float start = float_of_sum(x->c.element, c);

    if (s->is_special || !(__builtin_fabsf(start) < INFINITY))
        return pack_sum(x->d.element,
                        sum_special(x, s, a->bits[row], b->bits[column], value_of(s->format_c, c)));
    return sum_floats(x, s, row, column, start);
}

int exec_multiply(struct warp *w, const struct insn *in, uint32_t mask)
{
    const struct multiply *x = in->extra;
    struct grid a, b;
    struct float_sum floats;
    uint64_t sums[WARP][MATRIX_REGISTERS * 2];
    int bits_c = bits_of_sum(x->c.element), bits_d = bits_of_sum(x->d.element);
    int per_c = bits_c == 16 ? 2 : 1, per_d = bits_d == 16 ? 2 : 1;
    int count = x->m * x->n / WARP;
    bool is_float = x->d.element == ELEMENT_F32 || x->d.element == ELEMENT_F16;

    if (!mask)
        return EXEC_OK;
    if (check_whole_warp(w, in, mask) < 0)
        return EXEC_FAULT;
    collect(w, &x->a, x->places.outer_a, x->places.k_a, &a);
    collect(w, &x->b, x->places.outer_b, x->places.k_b, &b);
    if (is_float) {
        floats.format_a = format_of(x->a.element);
        floats.format_b = format_of(x->b.element);
        floats.format_c = format_of(x->c.element);
        floats.is_special = false;
        prepare_side(&floats, floats.format_a, &x->a, &a, &floats.a);
        prepare_side(&floats, floats.format_b, &x->b, &b, &floats.b);
    }
    for (int l = 0; l < WARP; l++)
        for (int i = 0; i < count; i++) {
            uint64_t c = get(w, x->c.rows[i / per_c], l, bits_c > 32);
            int row = x->places.row[i][l], column = x->places.column[i][l];

            c = bits_c == 16 ? c >> (16 * (i % 2)) & 0xffff : c;
            if (!is_float)
                sums[l][i] = x->d.element == ELEMENT_F64
                                 ? sum_doubles(x, a.bits[row], b.bits[column], c)
                                 : sum_whole(x, a.bits[row], b.bits[column], c);
            else
                sums[l][i] = sum_element(x, &floats, &a, &b, row, column, c);
        }
    for (int l = 0; l < WARP; l++)
        for (int r = 0; r < x->d.registers; r++)
            put(w, x->d.rows[r], l, bits_d > 32,
                per_d == 2 ? sums[l][2 * r] | sums[l][2 * r + 1] << 16 : sums[l][r]);
    return EXEC_OK;
}

/* ---- To and from memory --------------------------------------------------------------------- */

static uint64_t base_of(const struct warp *w, const struct matrix_move *x, int lane)
{
    return get(w, x->address, lane, !x->is_narrow) + (uint64_t)x->offset;
}

/* One element, or one register of neighbours, of each lane: addresses in, values out (or in). */
static int move_lanes(struct warp *w, const struct matrix_move *x, enum memory_kind kind,
                      bool is_store)
{
    const struct insn *access = &x->accesses[kind];

    return is_store ? exec_store(w, access, FULL_MASK) : exec_load(w, access, FULL_MASK);
}

/* Row and column of an element of a lane's register, whatever the part. */
static void place(const struct matrix_move *x, int lane, int reg, int element, int *row,
                  int *column)
{
    int outer, k, per;

    if (x->part == MATRIX_C) {
        per = bits_of_sum(x->sum.element) == 16 ? 2 : 1;
        matrix_place_sum(x->is_turned, x->m, x->n, lane, per * reg + element, row, column);
        return;
    }
    matrix_place(&x->side, lane, reg, element, &outer, &k);
    *row = x->part == MATRIX_A ? outer : k;
    *column = x->part == MATRIX_A ? k : outer;
}

static int element_bits(const struct matrix_move *x)
{
    return x->part == MATRIX_C ? bits_of_sum(x->sum.element) : x->side.bits;
}

static void fill_addresses(struct warp *w, const struct matrix_move *x, int reg, int element)
{
    word64 *at = (word64 *)(w->rows + x->at);
    int bits = element_bits(x);
    bool is_bits = x->part != MATRIX_C && x->side.element == ELEMENT_B1;
    int64_t columns = x->part == MATRIX_A ? x->side.k : x->part == MATRIX_B ? x->side.outer : x->n;
    int64_t rows = x->part == MATRIX_A ? x->side.outer : x->part == MATRIX_B ? x->side.k : x->m;

    for (int l = 0; l < WARP; l++) {
        int64_t stride = x->is_row ? columns : rows, major, minor;
        int row, column;

        if (x->has_stride)
            stride = (int32_t)get(w, x->stride, l, false);
        if (is_bits && x->has_stride)
            stride /= 32; /* of words */
        place(x, l, reg, element, &row, &column);
        major = x->is_row ? row : column;
        minor = x->is_row ? column : row;
        at[l] = base_of(w, x, l) + (uint64_t)((major * stride + minor) * bits / 8);
    }
}

/* Whether the elements of a register are neighbours in memory: they follow k, or C's inner index.
 */
static bool is_dense(const struct matrix_move *x)
{
    switch (x->part) {
    case MATRIX_A:
        return x->is_row;
    case MATRIX_B:
        return !x->is_row;
    default:
        return x->is_row != x->is_turned;
    }
}

static enum memory_kind kind_of(int bits)
{
    return bits == 64 ? MEMORY_64 : bits == 32 ? MEMORY_U32 : bits == 16 ? MEMORY_U16 : MEMORY_U8;
}

static int held_registers(const struct matrix_move *x)
{
    return x->part == MATRIX_C ? x->sum.registers : x->side.held;
}

static uint32_t register_row(const struct matrix_move *x, int reg)
{
    return x->part == MATRIX_C ? x->sum.rows[reg] : x->side.rows[reg];
}

int exec_matrix_load(struct warp *w, const struct insn *in, uint32_t mask)
{
    const struct matrix_move *x = in->extra;
    int bits = element_bits(x), held = held_registers(x);
    int unique = x->part == MATRIX_C ? held : x->side.registers;
    int steps = is_dense(x) || bits >= 32 ? 1 : 32 / bits;
    uint64_t values[MATRIX_REGISTERS][WARP] = { 0 };

    if (!mask)
        return EXEC_OK;
    if (check_whole_warp(w, in, mask) < 0)
        return EXEC_FAULT;
    for (int r = 0; r < unique; r++)
        for (int e = 0; e < steps; e++) {
            fill_addresses(w, x, r, e);
            if (move_lanes(w, x, kind_of(steps > 1 || bits == 64 ? bits : 32), false) < 0)
                return EXEC_FAULT;
            for (int l = 0; l < WARP; l++)
                values[r][l] |= get(w, x->value, l, bits == 64) << (e * bits & 63);
        }
    /* The base is read for the last time: now the registers may change. */
    for (int r = 0; r < held; r++)
        for (int l = 0; l < WARP; l++)
            put(w, register_row(x, r), l, bits == 64, values[r % unique][l]);
    return EXEC_OK;
}

int exec_matrix_store(struct warp *w, const struct insn *in, uint32_t mask)
{
    const struct matrix_move *x = in->extra;
    int bits = element_bits(x), steps = is_dense(x) || bits >= 32 ? 1 : 32 / bits;

    if (!mask)
        return EXEC_OK;
    if (check_whole_warp(w, in, mask) < 0)
        return EXEC_FAULT;
    for (int r = 0; r < x->sum.registers; r++)
        for (int e = 0; e < steps; e++) {
            fill_addresses(w, x, r, e);
            for (int l = 0; l < WARP; l++)
                put(w, x->value, l, bits == 64,
                    get(w, register_row(x, r), l, bits == 64) >> (e * bits & 31));
            if (move_lanes(w, x, kind_of(steps > 1 || bits == 64 ? bits : 32), true) < 0)
                return EXEC_FAULT;
        }
    return EXEC_OK;
}

/* ---- ldmatrix, stmatrix, movmatrix ---------------------------------------------------------- */

/* Lane 8 i + r names row r of matrix i: eight halves. Lane l has halves 2 (l % 4) of row l / 4. */
static void fill_rows(struct warp *w, const struct matrix_move *x, int i)
{
    word64 *at = (word64 *)(w->rows + x->at);

    for (int l = 0; l < WARP; l++)
        at[l] = base_of(w, x, 8 * i + l / 4) + 4 * (uint64_t)(l % 4);
}

/* Two halves of column l / 4 instead of row l / 4. */
static void transpose(uint32_t *words)
{
    uint32_t out[WARP];

    for (int l = 0; l < WARP; l++) {
        int row = 2 * (l % 4), column = l / 4;
        uint32_t low = words[row * 4 + column / 2] >> (16 * (column % 2)) & 0xffff;
        uint32_t high = words[(row + 1) * 4 + column / 2] >> (16 * (column % 2)) & 0xffff;

        out[l] = high << 16 | low;
    }
    memcpy(words, out, sizeof out);
}

int exec_ldmatrix(struct warp *w, const struct insn *in, uint32_t mask)
{
    const struct matrix_move *x = in->extra;
    uint32_t words[4][WARP];

    if (!mask)
        return EXEC_OK;
    if (check_whole_warp(w, in, mask) < 0)
        return EXEC_FAULT;
    for (int i = 0; i < x->count; i++) {
        fill_rows(w, x, i);
        if (move_lanes(w, x, MEMORY_U32, false) < 0)
            return EXEC_FAULT;
        memcpy(words[i], w->rows + x->value, sizeof words[i]);
        if (x->is_transposed)
            transpose(words[i]);
    }
    for (int i = 0; i < x->count; i++)
        memcpy(w->rows + x->side.rows[i], words[i], sizeof words[i]);
    return EXEC_OK;
}

int exec_stmatrix(struct warp *w, const struct insn *in, uint32_t mask)
{
    const struct matrix_move *x = in->extra;
    uint32_t words[WARP];

    if (!mask)
        return EXEC_OK;
    if (check_whole_warp(w, in, mask) < 0)
        return EXEC_FAULT;
    for (int i = 0; i < x->count; i++) {
        fill_rows(w, x, i);
        memcpy(words, w->rows + x->side.rows[i], sizeof words);
        if (x->is_transposed)
            transpose(words);
        memcpy(w->rows + x->value, words, sizeof words);
        if (move_lanes(w, x, MEMORY_U32, true) < 0)
            return EXEC_FAULT;
    }
    return EXEC_OK;
}

int exec_movmatrix(struct warp *w, const struct insn *in, uint32_t mask)
{
    uint32_t words[WARP];

    if (!mask)
        return EXEC_OK;
    if (check_whole_warp(w, in, mask) < 0)
        return EXEC_FAULT;
    memcpy(words, w->rows + in->a, sizeof words);
    transpose(words);
    memcpy(w->rows + in->d, words, sizeof words);
    return EXEC_OK;
}
