/*
 * Rows and operands: where in a warp's frame a value lies.
 *
 * A register has a row of 32 cells, one a lane, from its first use on. A constant, a special
 * register and the address of a variable have rows too, filled before the function starts, so that
 * an instruction never asks what kind its operand is: it reads a row.
 */
#include "model/ptx/decode.h"

/* ---- Rows ----------------------------------------------------------------------------------- */

uint32_t decode_room(struct decoder *d, uint32_t bytes)
{
    uint32_t at = d->frame_bytes;

    d->frame_bytes += (uint32_t)round_up(bytes, 64);
    return at;
}

uint32_t decode_predicate(struct decoder *d)
{
    if (d->predicates_used == WARP) {
        d->predicate_row = decode_room(d, ROW32);
        d->predicates_used = 0;
    }
    return d->predicate_row + 4 * (uint32_t)d->predicates_used++;
}

static uint32_t room_for(struct decoder *d, int bits)
{
    if (bits == 1)
        return decode_predicate(d);
    return decode_room(d, bits > 64 ? 2 * ROW64 : bits > 32 ? ROW64 : ROW32);
}

int64_t decode_fixed(struct decoder *d, int bytes, enum special special, uint64_t value)
{
    unsigned bucket = (unsigned)((value ^ value >> 17 ^ value >> 40) * 31 + (unsigned)special * 7 +
                                 (unsigned)bytes) %
                      CONSTANT_BUCKETS;
    struct constant *c = d->constants[bucket];

    while (c && (c->row.value != value || c->row.special != special || c->row.bytes != bytes))
        c = c->next;
    if (c)
        return c->row.row;
    c = arena_alloc(d->module->arena, sizeof *c);
    if (!c)
        return decode_fail_memory(d);
    c->row = (struct fixed_row){ .row = room_for(d, bytes ? bytes * 8 : 1),
                                 .bytes = (uint8_t)bytes,
                                 .special = (uint8_t)special,
                                 .value = value };
    c->next = d->constants[bucket];
    d->constants[bucket] = c;
    d->constant_count++;
    return c->row.row;
}

int64_t decode_constant(struct decoder *d, int bytes, uint64_t value)
{
    return decode_fixed(d, bytes, SPECIAL_NONE, bytes == 4 ? (uint32_t)value : value);
}

void decode_reads(struct decoder *d, uint32_t row)
{
    if (d->deps->read_count < MAX_DEPS)
        d->deps->reads[d->deps->read_count++] = row;
}

void decode_writes(struct decoder *d, uint32_t row)
{
    if (d->deps->write_count < MAX_DEPS)
        d->deps->writes[d->deps->write_count++] = row;
}

/* The row of a register operand whatever its size; *bits is that of its type. */
static int64_t decode_register(struct decoder *d, const struct operand *o, int *bits)
{
    int64_t *row = &d->register_rows[o->symbol->first_id + o->index];

    *bits = o->symbol->type.bits;
    if (*row == NO_ROW)
        *row = room_for(d, *bits);
    return *row;
}

struct area decode_area(struct decoder *d, struct symbol *s)
{
    int words = (int)ceil_div((int64_t)max_i64((int64_t)s->size, 1), 4);

    if (!s->address)
        s->address = (uint64_t)decode_room(d, (uint32_t)words * ROW32) + 1;
    return (struct area){ .row = (uint32_t)(s->address - 1), .words = words };
}

/* ---- Operands ------------------------------------------------------------------------------- */

static int64_t symbol_row(struct decoder *d, const struct operand *o, int bits)
{
    struct symbol *s = o->symbol;
    int bytes = bits > 32 ? 8 : 4;

    if (s->kind == SYMBOL_FUNCTION)
        return decode_constant(d, bytes, CODE_WINDOW + 16 * (uint64_t)(s->body->index + 1));
    /* PTX ISA, "Constants": WARP_SZ is the one predefined name. CUDA's warpSize becomes it. */
    if (s->kind != SYMBOL_VARIABLE && bytes_equal(o->text, "WARP_SZ"))
        return decode_constant(d, bytes, WARP);
    if (s->kind != SYMBOL_VARIABLE)
        return decode_refuse(d, "a name that is not declared");
    if (s->space == SPACE_SHARED && !s->size)
        d->f->is_dynamic_shared = true;
    if (s->space == SPACE_LOCAL)
        return decode_fixed(d, bytes, SPECIAL_LOCAL, s->address + o->value);
    if (s->space == SPACE_SHARED)
        return decode_fixed(d, bytes, SPECIAL_SHARED,
                            (uint32_t)(s->address + o->value) | (uint64_t)s->shared_index << 32);
    if (s->space == SPACE_PARAM && !d->f->is_entry)
        return decode_refuse(d, "the address of a parameter");
    return decode_constant(d, bytes, s->address + o->value);
}

static uint64_t float_bits(const struct operand *o, int bits)
{
    double wide;
    float narrow;
    uint32_t narrow_bits;

    if (o->kind == OPERAND_F32 && bits == 64) {
        narrow_bits = (uint32_t)o->value;
        memcpy(&narrow, &narrow_bits, sizeof narrow);
        wide = narrow;
        memcpy(&narrow_bits, &narrow, sizeof narrow_bits);
        uint64_t wide_bits;
        memcpy(&wide_bits, &wide, sizeof wide_bits);
        return wide_bits;
    }
    if (o->kind == OPERAND_F64 && bits <= 32) {
        memcpy(&wide, &o->value, sizeof wide);
        narrow = (float)wide;
        memcpy(&narrow_bits, &narrow, sizeof narrow_bits);
        return narrow_bits;
    }
    return o->value;
}

/* 8, 16 and 32 bits share rows of 32-bit cells. */
static bool is_same_row(int bits, int wanted)
{
    return (bits == 1) == (wanted == 1) && (bits > 32) == (wanted > 32) &&
           (bits > 64) == (wanted > 64);
}

static int64_t any_source(struct decoder *d, const struct operand *o, int bits)
{
    int register_bits;
    int64_t row;
    int bytes = bits == 1 ? 0 : bits > 32 ? 8 : 4;

    if (!o)
        return decode_refuse(d, "an operand is missing");
    if (o->part.size)
        return decode_refuse(d, "a part of a register");
    switch (o->kind) {
    case OPERAND_REGISTER:
        row = decode_register(d, o, &register_bits);
        if (!is_same_row(register_bits, bits))
            return decode_refuse(d, "a register of another size than the instruction");
        return row;
    case OPERAND_SPECIAL:
        return decode_special(d, o, bits);
    case OPERAND_INT:
        if (bits == 16)
            return decode_constant(d, bytes, (uint16_t)o->value);
        return decode_constant(d, bytes, bits == 1 ? (o->value ? FULL_MASK : 0) : o->value);
    case OPERAND_F32:
    case OPERAND_F64:
        return decode_constant(d, bytes, float_bits(o, bits));
    case OPERAND_SYMBOL:
        return symbol_row(d, o, bits);
    case OPERAND_ADDRESS:
    case OPERAND_VECTOR:
    case OPERAND_LIST:
    case OPERAND_PAIR:
    case OPERAND_SINK:
        break;
    }
    return decode_refuse(d, "an operand of a form that it does not have");
}

int64_t decode_source(struct decoder *d, const struct operand *o, int bits)
{
    int64_t row = any_source(d, o, bits);

    if (row >= 0)
        decode_reads(d, (uint32_t)row);
    return row;
}

int64_t decode_destination(struct decoder *d, const struct operand *o, int bits)
{
    int register_bits;
    int64_t row;

    if (o && o->kind == OPERAND_SINK)
        return d->sink;
    if (!o || o->kind != OPERAND_REGISTER || o->part.size)
        return decode_refuse(d, "a destination that is no register");
    row = decode_register(d, o, &register_bits);
    if (!is_same_row(register_bits, bits))
        return decode_refuse(d, "a register of another size than the instruction");
    decode_writes(d, (uint32_t)row);
    return row;
}

const struct operand *decode_operand(struct decoder *d, int i)
{
    return i < d->ast_insn->operand_count ? &d->ast_insn->operands[i] : NULL;
}
