/*
 * Decoding of what is not plain arithmetic: predicates and bit fields.
 */
#include "model/ptx/decode.h"

#include <stdio.h>

/* ---- Predicates and bits -------------------------------------------------------------------- */

int decode_logic(struct decoder *d)
{
    struct insn *in = d->insn;

    if (opcode_type(&d->opcode).kind != TYPE_PRED)
        return decode_table(d);
    set_exec(in, exec_logic, LAT_ALU);
    in->option = is_op(d, "and")   ? LOGIC_AND
                 : is_op(d, "or")  ? LOGIC_OR
                 : is_op(d, "xor") ? LOGIC_XOR
                                   : LOGIC_NOT;
    if (!take_source(d, 1, 1, &in->a) || !take_destination(d, 0, 1, &in->d))
        return -1;
    return in->option == LOGIC_NOT || take_source(d, 2, 1, &in->b) ? 0 : -1;
}

int decode_lop3(struct decoder *d)
{
    const struct operand *table = decode_operand(d, 4);
    struct insn *in = d->insn;

    if (!table || table->kind != OPERAND_INT || opcode_type(&d->opcode).bits != 32)
        return decode_refuse(d, "a form that is not executed");
    set_exec(in, exec_lop3, LAT_ALU);
    in->option = (uint8_t)table->value;
    return take_source(d, 1, 32, &in->a) && take_source(d, 2, 32, &in->b) &&
                   take_source(d, 3, 32, &in->c) && take_destination(d, 0, 32, &in->d)
               ? 0
               : -1;
}

/* bfi d, a, b, position, length: a's bits into b. */
int decode_bfi(struct decoder *d)
{
    int bits = opcode_type(&d->opcode).bits;
    struct insn *in = d->insn;

    set_exec(in, exec_bfi, LAT_ALU);
    in->option = bits == 64 ? ACCESS_WIDE_ROWS : 0;
    return take_source(d, 1, bits, &in->a) && take_source(d, 2, bits, &in->b) &&
                   take_source(d, 3, 32, &in->c) && take_source(d, 4, 32, &in->e) &&
                   take_destination(d, 0, bits, &in->d)
               ? 0
               : -1;
}

/* ---- Address spaces ------------------------------------------------------------------------- */

int decode_isspacep(struct decoder *d)
{
    struct insn *in = d->insn;

    set_exec(in, exec_isspacep, LAT_ALU);
    in->space = opcode_has(&d->opcode, "shared")   ? SPACE_SHARED
                : opcode_has(&d->opcode, "local")  ? SPACE_LOCAL
                : opcode_has(&d->opcode, "global") ? SPACE_GLOBAL
                : opcode_has(&d->opcode, "const")  ? SPACE_CONST
                                                   : SPACE_PARAM;
    return take_source(d, 1, 64, &in->a) && take_destination(d, 0, 1, &in->d) ? 0 : -1;
}
