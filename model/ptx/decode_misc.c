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
    if (d->opcode.count != 2 || d->ast_insn->operand_count != (is_op(d, "not") ? 2 : 3))
        return decode_refuse(d, "a form that is not executed");
    set_exec(in, exec_logic, LAT_ALU);
    in->option = is_op(d, "and")   ? LOGIC_AND
                 : is_op(d, "or")  ? LOGIC_OR
                 : is_op(d, "xor") ? LOGIC_XOR
                                   : LOGIC_NOT;
    if (!take_source(d, 1, 1, &in->a) || !take_destination(d, 0, 1, &in->d))
        return -1;
    return in->option == LOGIC_NOT || take_source(d, 2, 1, &in->b) ? 0 : -1;
}

/* lop3.b32 d, a, b, c, table; lop3.{and,or}.b32 d|p, a, b, c, table, q: p is d != 0 joined with q
 */
int decode_lop3(struct decoder *d)
{
    const struct operand *table = decode_operand(d, 4), *to = decode_operand(d, 0);
    bool is_and = opcode_has(&d->opcode, "and"), joins = is_and || opcode_has(&d->opcode, "or");
    bool is_pair = to && to->kind == OPERAND_PAIR;
    struct insn *in = d->insn;

    if (!table || table->kind != OPERAND_INT || table->value > 255 ||
        !bytes_equal(d->opcode.parts[d->opcode.count - 1], "b32") || d->opcode.count != 2 + joins ||
        is_pair != joins || d->ast_insn->operand_count != 5 + joins)
        return decode_refuse(d, "a form that is not executed");
    set_exec(in, exec_lop3, LAT_ALU);
    in->option = (uint16_t)table->value;
    if (joins) {
        const struct operand *q = decode_operand(d, 5);

        in->option |=
            (uint16_t)(LOP3_JOINS | (is_and ? LOP3_AND : 0) | (q->is_negated ? LOP3_NEGATED : 0));
        if (!take(decode_source(d, q, 1), &in->rows[1]) ||
            !take(decode_destination(d, &to->items[1], 1), &in->rows[0]))
            return -1;
        to = &to->items[0];
    }
    return take_source(d, 1, 32, &in->a) && take_source(d, 2, 32, &in->b) &&
                   take_source(d, 3, 32, &in->c) && take(decode_destination(d, to, 32), &in->d)
               ? 0
               : -1;
}

/* bfi d, a, b, position, length: a's bits into b. */
int decode_bfi(struct decoder *d)
{
    int bits = opcode_type(&d->opcode).bits;
    struct insn *in = d->insn;

    if (d->opcode.count != 2 || opcode_type(&d->opcode).kind != TYPE_BITS ||
        (bits != 32 && bits != 64) || d->ast_insn->operand_count != 5)
        return decode_refuse(d, "a form that is not executed");
    set_exec(in, exec_bfi, LAT_ALU);
    in->option = bits == 64 ? ACCESS_WIDE_ROWS : 0;
    return take_source(d, 1, bits, &in->a) && take_source(d, 2, bits, &in->b) &&
                   take_source(d, 3, 32, &in->c) && take_source(d, 4, 32, &in->e) &&
                   take_destination(d, 0, bits, &in->d)
               ? 0
               : -1;
}

/* ---- Address spaces ------------------------------------------------------------------------- */

/* isspacep.SPACE p, a; a cluster has one block, so its shared memory is the block's. */
int decode_isspacep(struct decoder *d)
{
    static const struct {
        const char *name;
        enum space space;
    } SPACES[] = {
        { "shared", SPACE_SHARED },
        { "shared::cta", SPACE_SHARED },
        { "shared::cluster", SPACE_SHARED },
        { "local", SPACE_LOCAL },
        { "global", SPACE_GLOBAL },
        { "const", SPACE_CONST },
        { "param", SPACE_PARAM },
        { "param::entry", SPACE_PARAM },
    };
    struct insn *in = d->insn;

    for (size_t i = 0; d->opcode.count == 2 && i < COUNT(SPACES); i++) {
        if (!bytes_equal(d->opcode.parts[1], SPACES[i].name))
            continue;
        set_exec(in, exec_isspacep, LAT_ALU);
        in->space = (uint8_t)SPACES[i].space;
        return take_source(d, 1, 64, &in->a) && take_destination(d, 0, 1, &in->d) ? 0 : -1;
    }
    return decode_refuse(d, "a space that is not known");
}
