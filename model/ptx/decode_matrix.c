/*
 * Decoding of matrix instructions: the shape, the layouts and the types, each
 * part read on its own, against the table of what there is.
 */
#include "model/ptx/decode.h"
#include "model/ptx/matrix.h"

#include <stdio.h>

static const struct {
    const char *name;
    enum element element;
    int bits;
} ELEMENTS[] = {
    { "f16", ELEMENT_F16, 16 },  { "bf16", ELEMENT_BF16, 16 }, { "tf32", ELEMENT_TF32, 32 },
    { "e4m3", ELEMENT_E4M3, 8 }, { "e5m2", ELEMENT_E5M2, 8 },  { "f32", ELEMENT_F32, 32 },
    { "f64", ELEMENT_F64, 64 },  { "s8", ELEMENT_S8, 8 },      { "u8", ELEMENT_U8, 8 },
    { "s4", ELEMENT_S4, 4 },     { "u4", ELEMENT_U4, 4 },      { "b1", ELEMENT_B1, 32 },
    { "s32", ELEMENT_S32, 32 },
};

/* Shapes by the type of A, of mma.sync and of wmma. Source: PTX ISA 9.0, "Matrix Shape". */
static const struct shape {
    bool is_wmma;
    int m, n, k;
    const char *types; /* of A, between blanks */
} SHAPES[] = {
    { false, 16, 8, 8, " f16 bf16 tf32 f64 " },
    { false, 16, 8, 16, " f16 bf16 s8 u8 f64 e4m3 e5m2 " },
    { false, 16, 8, 4, " tf32 f64 " },
    { false, 8, 8, 4, " f64 " },
    { false, 8, 8, 16, " s8 u8 " },
    { false, 16, 8, 32, " s8 u8 s4 u4 e4m3 e5m2 " },
    { false, 8, 8, 32, " s4 u4 " },
    { false, 16, 8, 64, " s4 u4 " },
    { false, 8, 8, 128, " b1 " },
    { false, 16, 8, 128, " b1 " },
    { false, 16, 8, 256, " b1 " },
    { true, 16, 16, 16, " f16 bf16 s8 u8 " },
    { true, 32, 8, 16, " f16 bf16 s8 u8 " },
    { true, 8, 32, 16, " f16 bf16 s8 u8 " },
    { true, 16, 16, 8, " tf32 " },
    { true, 8, 8, 4, " f64 " },
    { true, 8, 8, 32, " s4 u4 " },
    { true, 8, 8, 128, " b1 " },
};

struct parts {
    const struct shape *shape;
    int m, n, k;
    int layouts, types;
    bool is_row[2];
    int type[4]; /* indices of ELEMENTS */
    bool saturates, is_xor, is_and, has_popc, is_transposed;
    int count; /* .x4 */
    bool has_space, has_sync, has_aligned;
};

static bool read_shape(struct bytes part, struct parts *p)
{
    int *numbers[] = { &p->m, &p->n, &p->k };
    const char *letters = "mnk";
    size_t at = 0;

    for (int i = 0; i < 3; i++) {
        int v = 0;

        if (at >= part.size || part.data[at++] != letters[i])
            return false;
        while (at < part.size && part.data[at] >= '0' && part.data[at] <= '9' && v < 1000)
            v = 10 * v + (part.data[at++] - '0');
        *numbers[i] = v;
        if (i == 1 && at == part.size) /* ldmatrix: "m8n8" */
            return true;
    }
    return at == part.size;
}

static bool read_type(struct bytes part, struct parts *p)
{
    for (size_t i = 0; i < COUNT(ELEMENTS); i++)
        if (p->types < 4 && bytes_equal(part, ELEMENTS[i].name)) {
            p->type[p->types++] = (int)i;
            return true;
        }
    return false;
}

static bool read_flag(struct bytes part, struct parts *p)
{
    static const char *const SPACES[] = { "global", "shared", "shared::cta" };
    const struct {
        const char *name;
        bool *flag;
    } flags[] = {
        { "sync", &p->has_sync },       { "aligned", &p->has_aligned },
        { "satfinite", &p->saturates }, { "xor", &p->is_xor },
        { "and", &p->is_and },          { "popc", &p->has_popc },
        { "trans", &p->is_transposed },
    };

    for (size_t i = 0; i < COUNT(flags); i++)
        if (bytes_equal(part, flags[i].name) && !*flags[i].flag) {
            *flags[i].flag = true;
            return true;
        }
    for (size_t i = 0; i < COUNT(SPACES); i++)
        if (bytes_equal(part, SPACES[i])) {
            p->has_space = true;
            return true;
        }
    if (p->layouts < 2 && (bytes_equal(part, "row") || bytes_equal(part, "col"))) {
        p->is_row[p->layouts++] = part.data[0] == 'r';
        return true;
    }
    if (part.size == 2 && part.data[0] == 'x' && strchr("124", part.data[1])) {
        p->count = part.data[1] - '0';
        return true;
    }
    return false;
}

static int read_parts(struct decoder *d, int first, struct parts *p)
{
    for (int i = first; i < d->opcode.count; i++) {
        struct bytes part = d->opcode.parts[i];

        if (read_type(part, p) || read_flag(part, p))
            continue;
        if (!p->m && part.size > 3 && part.data[0] == 'm' && read_shape(part, p))
            continue;
        /* The rounding of doubles, which is the only one. */
        if (bytes_equal(part, "rn"))
            continue;
        return decode_refuse(d, "a matrix instruction of a form that is not executed");
    }
    if (!p->has_sync || !p->has_aligned)
        return decode_refuse(d, "a matrix instruction without .sync.aligned");
    return 0;
}

/* A as (type a), or the accumulator as for any type that has the shape. */
static int find_shape(struct decoder *d, bool is_wmma, const char *type, struct parts *p)
{
    char wanted[16];

    snprintf(wanted, sizeof wanted, " %s ", type ? type : "");
    for (size_t i = 0; i < COUNT(SHAPES); i++) {
        const struct shape *s = &SHAPES[i];

        if (s->is_wmma == is_wmma && s->m == p->m && s->n == p->n && s->k == p->k &&
            (!type || strstr(s->types, wanted))) {
            p->shape = s;
            return 0;
        }
    }
    return decode_refuse(d, "a shape of matrices that is not executed for this type");
}

static struct side side_of(const struct parts *p, int type, bool is_a, bool is_wmma)
{
    struct side side = { .element = ELEMENTS[type].element, .bits = ELEMENTS[type].bits };
    int per_register, k = p->k;

    if (side.element == ELEMENT_B1)
        k /= 32; /* words */
    side.outer = is_a ? p->m : p->n;
    side.k = k;
    /* Tiles of 16: the rows of A, but of m8n32 the columns of B; m16n16 has one and two. */
    side.is_wide = is_a ? p->m > 8 : p->m == 8 && p->n == 32;
    per_register = side.bits > 32 ? 1 : 32 / side.bits;
    side.registers = side.outer * k / WARP / per_register;
    side.held = is_wmma && side.element == ELEMENT_F16 ? 8 : side.registers;
    return side;
}

static struct sum sum_of(const struct parts *p, int type)
{
    struct sum sum = { .element = ELEMENTS[type].element };

    sum.registers = p->m * p->n / WARP / (sum.element == ELEMENT_F16 ? 2 : 1);
    return sum;
}

static int take_fragment(struct decoder *d, int operand, int count, int bits, bool is_source,
                         uint32_t *rows)
{
    const struct operand *o = decode_operand(d, operand);
    bool is_vector = o && o->kind == OPERAND_VECTOR;

    if (!o || (is_vector ? o->count : 1) != count || count > MATRIX_REGISTERS)
        return decode_refuse(d, "a fragment of another number of registers than it has");
    for (int i = 0; i < count; i++) {
        const struct operand *item = is_vector ? &o->items[i] : o;

        if (!take(is_source ? decode_source(d, item, bits) : decode_destination(d, item, bits),
                  &rows[i]))
            return -1;
    }
    return 0;
}

static bool is_int_element(enum element e)
{
    return e == ELEMENT_S8 || e == ELEMENT_U8 || e == ELEMENT_S4 || e == ELEMENT_U4;
}

/* Which D and C go with A and B. */
static bool do_types_fit(const struct multiply *x, const struct parts *p)
{
    enum element a = x->a.element, b = x->b.element, c = x->c.element, d = x->d.element;
    bool is_bits = a == ELEMENT_B1, is_float8 = a == ELEMENT_E4M3 || a == ELEMENT_E5M2;
    bool is_sum_float =
        (c == ELEMENT_F32 || c == ELEMENT_F16) && (d == ELEMENT_F32 || d == ELEMENT_F16);

    if ((p->is_xor || p->is_and || p->has_popc) != is_bits ||
        (is_bits && (p->is_xor == p->is_and || !p->has_popc)) ||
        (p->saturates && !is_int_element(a) && a != ELEMENT_F16))
        return false;
    if (is_int_element(a) || is_bits)
        return x->a.bits == x->b.bits && is_int_element(b) == !is_bits && c == ELEMENT_S32 &&
               d == ELEMENT_S32;
    if (a == ELEMENT_F64)
        return b == a && c == a && d == a;
    if (is_float8)
        return (b == ELEMENT_E4M3 || b == ELEMENT_E5M2) && is_sum_float && c == d;
    if (a == ELEMENT_F16)
        return b == a && is_sum_float;
    return (a == ELEMENT_BF16 || a == ELEMENT_TF32) && b == a && c == ELEMENT_F32 &&
           d == ELEMENT_F32;
}

/*
 * Multiplications, in those of half precision: tensor cores do twice as many of half the bits in
 * the same time. Source: data sheets of A100 and H100, dense rates by type.
 */
static int work_of(const struct multiply *x)
{
    int bits = x->a.element == ELEMENT_B1 ? 1 : x->a.bits, k = x->a.k;

    if (x->a.element == ELEMENT_B1)
        k *= 32; /* elements of 32 bits */
    return x->m * x->n * k * bits / 16;
}

enum { WORK_OF_LONG = 16 * 8 * 16, WORK_OF_F64 = 8 * 8 * 4 * 4 };

enum latency_class matrix_class(const struct multiply *x)
{
    if (x->a.element == ELEMENT_F64)
        return LAT_MMA_F64;
    return work_of(x) < WORK_OF_LONG ? LAT_MMA_SHORT : LAT_MMA;
}

int matrix_instructions(const struct multiply *x)
{
    int one = x->a.element == ELEMENT_F64 ? WORK_OF_F64 : WORK_OF_LONG;

    return (int)max_i64(work_of(x) / one, 1);
}

static int decode_multiply(struct decoder *d, bool is_wmma, int first)
{
    struct multiply *x = arena_alloc(d->module->arena, sizeof *x);
    struct parts p = { 0 };
    int types[4]; /* of d, a, b, c */

    if (!x)
        return err_set(d->err, ERR_ResourceError, "out of memory while the PTX was decoded");
    if (read_parts(d, first, &p) < 0)
        return -1;
    memcpy(types, p.type, sizeof types);
    if (is_wmma && p.types == 2) { /* of halves only D and C are named */
        types[3] = p.type[1];
        types[1] = types[2] = 0;
    } else if (p.types != 4) {
        return decode_refuse(d, "a product of matrices without the types of all four");
    }
    if (p.layouts != 2 || p.has_space || p.count || p.is_transposed)
        return decode_refuse(d, "a product of matrices of a form that is not executed");
    if (find_shape(d, is_wmma, ELEMENTS[types[1]].name, &p) < 0)
        return -1;
    /* mma.sync has one layout: A by rows, B by columns. */
    if (!is_wmma && (!p.is_row[0] || p.is_row[1]))
        return decode_refuse(d, "a layout of matrices that this shape does not have");
    x->m = p.m;
    x->n = p.n;
    x->is_turned = p.m == 8 && p.n == 32;
    x->saturates = p.saturates;
    x->is_and = p.is_and;
    x->a = side_of(&p, types[1], true, is_wmma);
    x->b = side_of(&p, types[2], false, is_wmma);
    x->c = sum_of(&p, types[3]);
    x->d = sum_of(&p, types[0]);
    if (!do_types_fit(x, &p))
        return decode_refuse(d, "types of matrices that do not go together");
    matrix_find_places(x);
    set_exec(d->insn, exec_multiply, matrix_class(x));
    d->insn->extra = x;
    if (d->ast_insn->operand_count != 4)
        return decode_refuse(d, "another number of operands than it has");
    return take_fragment(d, 1, x->a.held, x->a.bits > 32 ? 64 : 32, true, x->a.rows) < 0 ||
                   take_fragment(d, 2, x->b.held, x->b.bits > 32 ? 64 : 32, true, x->b.rows) < 0 ||
                   take_fragment(d, 3, x->c.registers, x->c.element == ELEMENT_F64 ? 64 : 32, true,
                                 x->c.rows) < 0 ||
                   take_fragment(d, 0, x->d.registers, x->d.element == ELEMENT_F64 ? 64 : 32, false,
                                 x->d.rows) < 0
               ? -1
               : 0;
}

int decode_mma(struct decoder *d)
{
    return decode_multiply(d, false, 1);
}

/* ---- Moves ---------------------------------------------------------------------------------- */

static enum space move_space(const struct decoder *d)
{
    return opcode_has(&d->opcode, "global") ? SPACE_GLOBAL
           : opcode_has(&d->opcode, "shared") || opcode_has(&d->opcode, "shared::cta")
               ? SPACE_SHARED
               : SPACE_GENERIC;
}

/* [register + offset] and the access that the lanes make, through scratch rows. */
static int take_matrix_address(struct decoder *d, int operand, bool is_store, struct matrix_move *x)
{
    const struct operand *o = decode_operand(d, operand), *base;
    struct insn *in = d->insn;
    int bits;

    if (!o || o->kind != OPERAND_ADDRESS || !o->count)
        return decode_refuse(d, "an address is missing");
    base = &o->items[0];
    in->space = (uint8_t)move_space(d);
    bits = base->kind == OPERAND_REGISTER ? base->symbol->type.bits
           : in->space == SPACE_SHARED    ? 32
                                          : 64;
    if (bits != 32 && bits != 64)
        return decode_refuse(d, "an address in a register of other than 32 or 64 bits");
    x->is_narrow = bits == 32;
    x->offset = (int64_t)o->value;
    if (!take(decode_source(d, base, bits), &x->address))
        return -1;
    x->at = decode_room(d, ROW64);
    x->value = decode_room(d, ROW64);
    in->latency = in->space == SPACE_SHARED ? LAT_SHARED : LAT_GLOBAL;
    in->flags |= is_store ? INSN_WRITES : 0;
    in->a = x->at;
    in->vector = 1;
    in->memory = MEMORY_U32;
    in->rows[0] = x->value;
    in->counter = d->module->counter_count++;
    return 0;
}

/* The instruction as it is now, but for what runs it. */
static void make_access(struct decoder *d, struct matrix_move *x)
{
    for (int kind = MEMORY_U8; kind <= MEMORY_64; kind++) {
        struct insn *access = &x->accesses[kind];

        *access = *d->insn;
        access->offset = 0;
        access->extra = NULL;
        access->memory = (uint8_t)kind;
        access->option |= kind == MEMORY_64 ? ACCESS_WIDE_ROWS : 0;
    }
    d->insn->extra = x;
}

/* wmma.load.{a,b,c} and wmma.store.d */
static int decode_wmma_move(struct decoder *d, bool is_store)
{
    struct matrix_move *x = arena_alloc(d->module->arena, sizeof *x);
    struct bytes part = d->opcode.count > 2 ? d->opcode.parts[2] : (struct bytes){ 0 };
    struct parts p = { 0 };
    int fragment = is_store ? 1 : 0, bits;
    bool is_sum = is_store || bytes_equal(part, "c");

    if (!x)
        return err_set(d->err, ERR_ResourceError, "out of memory while the PTX was decoded");
    if (is_store ? !bytes_equal(part, "d")
                 : !bytes_equal(part, "a") && !bytes_equal(part, "b") && !is_sum)
        return decode_refuse(d, "a part of a matrix that is not executed");
    if (read_parts(d, 3, &p) < 0)
        return -1;
    if (p.types != 1 || p.layouts != 1 || p.saturates || p.is_xor || p.is_and || p.has_popc ||
        p.is_transposed || p.count)
        return decode_refuse(d, "a move of a matrix of a form that is not executed");
    if (find_shape(d, true, is_sum ? NULL : ELEMENTS[p.type[0]].name, &p) < 0)
        return -1;
    x->part = is_sum ? MATRIX_C : bytes_equal(part, "a") ? MATRIX_A : MATRIX_B;
    x->m = p.m;
    x->n = p.n;
    x->is_turned = p.m == 8 && p.n == 32;
    x->is_row = p.is_row[0];
    if (is_sum) {
        x->sum = sum_of(&p, p.type[0]);
        bits = x->sum.element == ELEMENT_F64 ? 64 : 32;
        if (x->sum.element != ELEMENT_F16 && x->sum.element != ELEMENT_F32 &&
            x->sum.element != ELEMENT_S32 && x->sum.element != ELEMENT_F64)
            return decode_refuse(d, "a type of sums that is not executed");
    } else {
        x->side = side_of(&p, p.type[0], x->part == MATRIX_A, true);
        bits = x->side.bits > 32 ? 64 : 32;
        if (x->side.bits < 8 || x->side.element == ELEMENT_B1)
            if (x->is_row != (x->part == MATRIX_A))
                return decode_refuse(d, "a layout that matrices of less than a byte do not have");
    }
    if (take_matrix_address(d, is_store ? 0 : 1, is_store, x) < 0)
        return -1;
    if (is_sum ? take_fragment(d, fragment, x->sum.registers, bits, is_store, x->sum.rows) < 0
               : take_fragment(d, fragment, x->side.held, bits, false, x->side.rows) < 0)
        return -1;
    x->has_stride = d->ast_insn->operand_count == 3;
    if (d->ast_insn->operand_count > 3 || (x->has_stride && !take_source(d, 2, 32, &x->stride)))
        return decode_refuse(d, "another number of operands than it has");
    make_access(d, x);
    d->insn->full = d->insn->masked = is_store ? exec_matrix_store : exec_matrix_load;
    return 0;
}

int decode_wmma(struct decoder *d)
{
    struct opcode *o = &d->opcode;

    if (o->count > 1 && bytes_equal(o->parts[1], "mma"))
        return decode_multiply(d, true, 2);
    if (o->count > 1 && bytes_equal(o->parts[1], "load"))
        return decode_wmma_move(d, false);
    if (o->count > 1 && bytes_equal(o->parts[1], "store"))
        return decode_wmma_move(d, true);
    return decode_refuse(d, "a matrix instruction of a form that is not executed");
}

/* ldmatrix.sync.aligned.m8n8.xN{.trans}{.shared}.b16 {d}, [a]; stmatrix likewise */
static int decode_matrix_rows(struct decoder *d, bool is_store)
{
    struct matrix_move *x = arena_alloc(d->module->arena, sizeof *x);
    struct parts p = { 0 };

    if (!x)
        return err_set(d->err, ERR_ResourceError, "out of memory while the PTX was decoded");
    if (!bytes_equal(d->opcode.parts[d->opcode.count - 1], "b16"))
        return decode_refuse(d, "a type of elements that is not executed");
    d->opcode.count--;
    if (read_parts(d, 1, &p) < 0)
        return -1;
    if (p.m != 8 || p.n != 8 || p.k || !p.count || p.types || p.layouts || p.saturates ||
        p.is_xor || p.is_and || p.has_popc || d->ast_insn->operand_count != 2)
        return decode_refuse(d, "a form that is not executed");
    x->count = p.count;
    x->is_transposed = p.is_transposed;
    if (take_matrix_address(d, is_store ? 0 : 1, is_store, x) < 0 ||
        take_fragment(d, is_store ? 1 : 0, p.count, 32, is_store, x->side.rows) < 0)
        return -1;
    make_access(d, x);
    d->insn->full = d->insn->masked = is_store ? exec_stmatrix : exec_ldmatrix;
    return 0;
}

int decode_ldmatrix(struct decoder *d)
{
    return decode_matrix_rows(d, false);
}

int decode_stmatrix(struct decoder *d)
{
    return decode_matrix_rows(d, true);
}

/* movmatrix.sync.aligned.m8n8.trans.b16 d, a */
int decode_movmatrix(struct decoder *d)
{
    static const char *const PARTS[] = { "movmatrix", "sync", "aligned", "m8n8", "trans", "b16" };
    bool is_known = d->opcode.count == (int)COUNT(PARTS) && d->ast_insn->operand_count == 2;

    for (int i = 0; is_known && i < d->opcode.count; i++)
        is_known = bytes_equal(d->opcode.parts[i], PARTS[i]);
    if (!is_known)
        return decode_refuse(d, "a form that is not executed");
    set_exec(d->insn, exec_movmatrix, LAT_SHFL);
    return take_source(d, 1, 32, &d->insn->a) && take_destination(d, 0, 32, &d->insn->d) ? 0 : -1;
}
