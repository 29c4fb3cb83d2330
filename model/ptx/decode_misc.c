/*
 * Decoding of what is not plain arithmetic: comparisons and predicates, bit fields.
 */
#include "model/ptx/decode.h"

#include <stdio.h>

/* ---- Predicates and bits -------------------------------------------------------------------- */

static const char *const COMPARISONS[] = { "eq",  "ne",  "lt",  "le",  "gt",  "ge",
                                           "lo",  "ls",  "hi",  "hs",  "equ", "neu",
                                           "ltu", "leu", "gtu", "geu", "num", "nan" };

/* The comparison of setp and set: which, and of which type. */
static compare_fn *find_comparison(struct decoder *d, struct type type)
{
    char spelling[32];
    const char *ftz = opcode_has(&d->opcode, "ftz") ? "ftz." : "";

    for (size_t i = 0; i < COUNT(COMPARISONS); i++) {
        const char *name = COMPARISONS[i];
        char kind = type.kind == TYPE_FLOAT ? 'f' : type.kind == TYPE_SIGNED ? 's' : 'u';

        if (!opcode_has(&d->opcode, name))
            continue;
        /* lo ls hi hs: the unsigned lt le gt ge. */
        if (!strcmp(name, "lo") || !strcmp(name, "ls"))
            name = name[1] == 'o' ? "lt" : "le";
        else if (!strcmp(name, "hi") || !strcmp(name, "hs"))
            name = name[1] == 'i' ? "gt" : "ge";
        snprintf(spelling, sizeof spelling, "%s.%s%c%d", name, ftz, kind, type.bits);
        return ops_find_comparison(d->table, spelling);
    }
    return NULL;
}

int decode_setp(struct decoder *d)
{
    struct type type = opcode_type(&d->opcode);
    const struct operand *to = decode_operand(d, 0), *extra = decode_operand(d, 3);
    bool is_pair = to && to->kind == OPERAND_PAIR;
    struct insn *in = d->insn;
    compare_fn *compare = find_comparison(d, type);

    if (!compare)
        return decode_refuse(d, "a comparison that is not executed");
    set_exec(in, exec_setp, type.bits == 64 && type.kind == TYPE_FLOAT ? LAT_F64 : LAT_ALU);
    memcpy(&in->extra, &compare, sizeof compare);
    in->option = opcode_has(&d->opcode, "and")   ? SETP_AND
                 : opcode_has(&d->opcode, "or")  ? SETP_OR
                 : opcode_has(&d->opcode, "xor") ? SETP_XOR
                                                 : SETP_ALONE;
    if (extra && in->option != SETP_ALONE) {
        in->option |= extra->is_negated ? SETP_NEGATED : 0;
        if (!take(decode_source(d, extra, 1), &in->c))
            return -1;
    }
    if (!take_source(d, 1, type.bits, &in->a) || !take_source(d, 2, type.bits, &in->b) ||
        !take(decode_destination(d, is_pair ? &to->items[0] : to, 1), &in->d))
        return -1;
    in->e = d->sink;
    return !is_pair || take(decode_destination(d, &to->items[1], 1), &in->e) ? 0 : -1;
}

/* set.CMP.dtype.stype d, a, b: all ones (or 1.0) where it holds. */
int decode_set(struct decoder *d)
{
    struct type type = opcode_type(&d->opcode), to = { 0 };
    struct insn *in = d->insn;
    compare_fn *compare = find_comparison(d, type);

    if (d->opcode.count > 3)
        to = type_of(d->opcode.parts[d->opcode.count - 2]);
    if (!compare || to.bits != 32 || d->ast_insn->operand_count != 3)
        return decode_refuse(d, "a comparison that is not executed");
    set_exec(in, exec_set, LAT_ALU);
    memcpy(&in->extra, &compare, sizeof compare);
    in->option = to.kind == TYPE_FLOAT;
    return take_source(d, 1, type.bits, &in->a) && take_source(d, 2, type.bits, &in->b) &&
                   take_destination(d, 0, 32, &in->d)
               ? 0
               : -1;
}

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
