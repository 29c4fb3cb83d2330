/*
 * Decoding of arithmetic with a carry: {add,sub,mad}.cc and {addc,subc,madc}{.cc}.
 */
#include "model/ptx/carry.h"
#include "model/ptx/decode.h"

static const struct form {
    const char *name; /* without its c, .cc and type */
    const char *part; /* "lo", "hi", NULL: neither */
    exec_fn *u32, *s32, *u64, *s64;
    int sources;
    enum latency_class latency;
} FORMS[] = {
    { "add", NULL, exec_carry_add32, exec_carry_add32, exec_carry_add64, exec_carry_add64, 2,
      LAT_ALU },
    { "sub", NULL, exec_carry_sub32, exec_carry_sub32, exec_carry_sub64, exec_carry_sub64, 2,
      LAT_ALU },
    { "mad", "lo", exec_carry_mad_lo32, exec_carry_mad_lo32, exec_carry_mad_lo64,
      exec_carry_mad_lo64, 3, LAT_IMUL },
    { "mad", "hi", exec_carry_mad_hi_u32, exec_carry_mad_hi_s32, exec_carry_mad_hi_u64,
      exec_carry_mad_hi_s64, 3, LAT_IMUL },
};

/* "addc" reads the carry, "add" with .cc only writes it. */
static const struct form *find_form(const struct decoder *d, bool reads)
{
    struct bytes name = d->opcode.parts[0];

    name.size -= reads;
    for (size_t i = 0; i < COUNT(FORMS); i++)
        if (bytes_equal(name, FORMS[i].name) &&
            (!FORMS[i].part || opcode_has(&d->opcode, FORMS[i].part)))
            return &FORMS[i];
    return NULL;
}

int decode_carry(struct decoder *d)
{
    struct insn *in = d->insn;
    struct bytes name = d->opcode.parts[0];
    bool reads = name.data[name.size - 1] == 'c', writes = opcode_has(&d->opcode, "cc");
    struct type type = opcode_type(&d->opcode);
    const struct form *form = find_form(d, reads);
    bool is_signed = type.kind == TYPE_SIGNED;

    if (!form || (type.bits != 32 && type.bits != 64) ||
        (type.kind != TYPE_UNSIGNED && !is_signed) ||
        d->opcode.count != 2 + writes + (form->part != NULL))
        return decode_refuse(d, "a carry of a form that is not executed");
    if (d->ast_insn->operand_count != form->sources + 1)
        return decode_refuse(d, "another number of operands than it has");
    set_exec(in,
             type.bits == 32 ? (is_signed ? form->s32 : form->u32)
                             : (is_signed ? form->s64 : form->u64),
             form->latency);
    in->option = (uint16_t)((reads ? CARRY_READS : 0) | (writes ? CARRY_WRITES : 0));
    if (d->carry == NO_ROW)
        d->carry = decode_predicate(d);
    if (!take(d->carry, &in->e) || !take_source(d, 1, type.bits, &in->a) ||
        !take_source(d, 2, type.bits, &in->b))
        return -1;
    in->c = in->a;
    if (form->sources == 3 && !take_source(d, 3, type.bits, &in->c))
        return -1;
    if (reads)
        decode_reads(d, in->e);
    if (writes)
        decode_writes(d, in->e);
    return take_destination(d, 0, type.bits, &in->d) ? 0 : -1;
}
