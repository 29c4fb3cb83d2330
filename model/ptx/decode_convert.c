/*
 * Decoding of cvt. The pairs of types that are frequent have a loop in ops.def; every other pair,
 * rounding and modifier is a struct conversion, read from the parts of the opcode one by one, so
 * that a part which is not known is refused and none is passed over.
 */
#include "model/ptx/convert.h"
#include "model/ptx/decode.h"

static const struct {
    const char *name;
    enum soft_rounding rounding;
    bool is_integral;
} ROUNDINGS[] = {
    { "rn", ROUND_NEAREST, false }, { "rz", ROUND_ZERO, false },  { "rm", ROUND_DOWN, false },
    { "rp", ROUND_UP, false },      { "rna", ROUND_AWAY, false }, { "rni", ROUND_NEAREST, true },
    { "rzi", ROUND_ZERO, true },    { "rmi", ROUND_DOWN, true },  { "rpi", ROUND_UP, true },
};

static const struct {
    const char *name;
    int flag;
} FLAGS[] = {
    { "sat", SOFT_SATURATE },
    { "satfinite", SOFT_FINITE },
    { "relu", SOFT_RELU },
    { "ftz", SOFT_FLUSH_FROM | SOFT_FLUSH_TO },
};

struct parts {
    bool has_rounding, is_integral;
    bool is_from_pair, is_to_pair;
    struct conversion c;
};

static int read_modifier(struct decoder *d, struct bytes part, struct parts *p)
{
    for (size_t i = 0; i < COUNT(ROUNDINGS); i++)
        if (!p->has_rounding && bytes_equal(part, ROUNDINGS[i].name)) {
            p->has_rounding = true;
            p->c.rounding = ROUNDINGS[i].rounding;
            p->is_integral = ROUNDINGS[i].is_integral;
            return 0;
        }
    for (size_t i = 0; i < COUNT(FLAGS); i++)
        if (bytes_equal(part, FLAGS[i].name)) {
            p->c.flags |= FLAGS[i].flag;
            return 0;
        }
    return decode_refuse(d, "a modifier of cvt that is not executed");
}

static const struct soft_format *read_type(struct bytes name, bool *is_pair)
{
    *is_pair = name.size > 2 && !memcmp(name.data + name.size - 2, "x2", 2);
    return soft_format_find(name.data, (int)name.size - 2 * *is_pair);
}

/* The rules of the PTX ISA on which rounding goes with which types. */
static int check_rounding(struct decoder *d, const struct parts *p)
{
    bool is_from_float = p->c.from->kind == SOFT_FLOAT, is_to_float = p->c.to->kind == SOFT_FLOAT;

    if (!is_from_float && !is_to_float && p->has_rounding)
        return decode_refuse(d, "a rounding between whole numbers");
    if (is_from_float && !is_to_float && !p->is_integral)
        return decode_refuse(d, "a float to a whole number without .rni, .rzi, .rmi or .rpi");
    if (!is_from_float && is_to_float && (!p->has_rounding || p->is_integral))
        return decode_refuse(d, "a whole number to a float without .rn, .rz, .rm or .rp");
    if (is_from_float && is_to_float && !p->has_rounding &&
        p->c.to->precision < p->c.from->precision)
        return decode_refuse(d, "a narrower float without a rounding");
    if (p->c.flags & (SOFT_RELU | SOFT_FINITE) && !(is_from_float && is_to_float))
        return decode_refuse(d, ".relu or .satfinite of a whole number");
    return 0;
}

static int register_bits(const struct operand *o, int bits)
{
    return o && o->kind == OPERAND_REGISTER ? o->symbol->type.bits : bits;
}

/* cvt.pack.sat.TYPE.s32{.b32} d, a, b{, c} */
static int decode_convert_pack(struct decoder *d)
{
    struct insn *in = d->insn;
    struct opcode *o = &d->opcode;
    bool has_rest = o->count == 6 && bytes_equal(o->parts[5], "b32");
    struct bytes to = o->count > 3 ? o->parts[3] : (struct bytes){ 0 };
    int bits = 0;

    for (size_t i = 1; i < to.size && to.size < 4; i++)
        bits = bits * 10 + (to.data[i] - '0');
    if ((o->count != 5 && !has_rest) || !bytes_equal(o->parts[2], "sat") ||
        !bytes_equal(o->parts[4], "s32") || (to.data[0] != 's' && to.data[0] != 'u') ||
        (has_rest ? bits != 2 && bits != 4 && bits != 8 : bits != 16) ||
        d->ast_insn->operand_count != 3 + has_rest)
        return decode_refuse(d, "a form of cvt.pack that is not executed");
    set_exec(in, exec_convert_pack, LAT_ALU);
    in->vector = (uint8_t)bits;
    in->option = (uint16_t)((to.data[0] == 's') | has_rest << 1);
    return take_source(d, 1, 32, &in->a) && take_source(d, 2, 32, &in->b) &&
                   (!has_rest || take_source(d, 3, 32, &in->c)) &&
                   take_destination(d, 0, 32, &in->d)
               ? 0
               : -1;
}

/* A loop of ops.def does it when the registers are as wide as the types. */
static const struct op *table_form(struct decoder *d, const struct parts *p, bool has_same_rows)
{
    char spelling[96];
    size_t n = 0;

    if (!has_same_rows)
        return NULL;
    for (int i = 0; i < d->opcode.count; i++) {
        struct bytes part = d->opcode.parts[i];
        /* A float made a whole number saturates anyway, and a subnormal rounds to 0 either way. */
        bool is_idle =
            i && p->c.from->kind == SOFT_FLOAT && p->c.to->kind != SOFT_FLOAT &&
            (bytes_equal(part, "sat") || (bytes_equal(part, "ftz") && p->c.rounding != ROUND_DOWN &&
                                          p->c.rounding != ROUND_UP));

        if (is_idle)
            continue;
        if (n + part.size + 2 > sizeof spelling)
            return NULL;
        if (i)
            spelling[n++] = '.';
        memcpy(spelling + n, part.data, part.size);
        n += part.size;
    }
    spelling[n] = '\0';
    return ops_find(d->table, spelling);
}

static int take_operands(struct decoder *d, const struct parts *p, int from_bits, int to_bits)
{
    struct insn *in = d->insn;

    if (!take_source(d, 1, from_bits, &in->a))
        return -1;
    if (p->is_to_pair && !p->is_from_pair && !take_source(d, 2, from_bits, &in->b))
        return -1;
    return take_destination(d, 0, to_bits, &in->d) ? 0 : -1;
}

int decode_convert(struct decoder *d)
{
    struct parts p = { 0 };
    struct opcode *o = &d->opcode;
    struct conversion *c;
    const struct op *op;
    int from_bits, to_bits;

    if (o->count > 1 && bytes_equal(o->parts[1], "pack"))
        return decode_convert_pack(d);
    if (o->count < 3)
        return decode_refuse(d, "a conversion without two types");
    p.c.to = read_type(o->parts[o->count - 2], &p.is_to_pair);
    p.c.from = read_type(o->parts[o->count - 1], &p.is_from_pair);
    if (!p.c.to || !p.c.from || (p.is_from_pair && !p.is_to_pair))
        return decode_refuse(d, "a type of cvt that is not executed");
    for (int i = 1; i < o->count - 2; i++)
        if (read_modifier(d, o->parts[i], &p) < 0)
            return -1;
    if (check_rounding(d, &p) < 0)
        return -1;
    if (d->ast_insn->operand_count != 2 + (p.is_to_pair && !p.is_from_pair))
        return decode_refuse(d, "another number of operands than it has");

    /* A register may be wider than the type: of a source the low bits, of a result all. */
    from_bits = register_bits(decode_operand(d, 1), p.c.from->bits << p.is_from_pair);
    to_bits = register_bits(decode_operand(d, 0), p.c.to->bits << p.is_to_pair);
    if (from_bits < p.c.from->bits << p.is_from_pair || to_bits < p.c.to->bits << p.is_to_pair ||
        from_bits > 64 || to_bits > 64)
        return decode_refuse(d, "a register of a size that the type does not fit");
    op = table_form(d, &p,
                    (from_bits > 32) == (p.c.from->bits > 32) &&
                        (to_bits > 32) == (p.c.to->bits > 32) &&
                        !(p.c.to->bits == 16 && to_bits > 16));
    if (op) {
        d->insn->full = op->full;
        d->insn->masked = op->masked;
        d->insn->latency = op->latency;
        d->insn->sources = op->sources;
        return take_operands(d, &p, from_bits, to_bits);
    }

    c = arena_alloc(d->module->arena, sizeof *c);
    if (!c)
        return err_set(d->err, ERR_ResourceError, "out of memory while the PTX was decoded");
    *c = p.c;
    c->is_integral = p.is_integral && c->from->kind == SOFT_FLOAT && c->to->kind == SOFT_FLOAT;
    c->is_pair = p.is_to_pair;
    c->from_pair = p.is_from_pair;
    c->is_wide_from = from_bits > 32;
    c->register_bits = to_bits;
    /* .ftz is about single precision only, and an H200 flushes no source of an f16. */
    if (strcmp(c->from->name, "f32") != 0 || !strcmp(c->to->name, "f16"))
        c->flags &= ~SOFT_FLUSH_FROM;
    if (strcmp(c->to->name, "f32") != 0)
        c->flags &= ~SOFT_FLUSH_TO;
    if (c->from->bits == 64 || c->to->bits == 64)
        c->flags |= SOFT_NAN_IS_TOP;
    if (c->from->bits == 64)
        c->flags |= SOFT_NAN_KEEPS;
    if (!strcmp(c->to->name, "tf32") && c->rounding == ROUND_AWAY)
        c->flags |= SOFT_NAN_IS_CUT;
    set_exec(d->insn, exec_convert, LAT_SFU);
    d->insn->extra = c;
    return take_operands(d, &p, from_bits, to_bits);
}
