/*
 * Decoding of moves: special registers, vectors packed and taken apart, addresses
 * of spaces, selection by sign.
 */
#include "model/ptx/decode.h"

#include <stdlib.h>

/* ---- Special registers ---------------------------------------------------------------------- */

static const struct {
    const char *name;
    enum special special; /* SPECIAL_NONE: always `value` */
    uint32_t value;
} SPECIALS[] = {
    { "%tid.x", SPECIAL_TID_X, 0 },
    { "%tid.y", SPECIAL_TID_Y, 0 },
    { "%tid.z", SPECIAL_TID_Z, 0 },
    { "%ntid.x", SPECIAL_NTID_X, 0 },
    { "%ntid.y", SPECIAL_NTID_Y, 0 },
    { "%ntid.z", SPECIAL_NTID_Z, 0 },
    { "%ctaid.x", SPECIAL_CTAID_X, 0 },
    { "%ctaid.y", SPECIAL_CTAID_Y, 0 },
    { "%ctaid.z", SPECIAL_CTAID_Z, 0 },
    { "%nctaid.x", SPECIAL_NCTAID_X, 0 },
    { "%nctaid.y", SPECIAL_NCTAID_Y, 0 },
    { "%nctaid.z", SPECIAL_NCTAID_Z, 0 },
    { "%laneid", SPECIAL_LANEID, 0 },
    { "%warpid", SPECIAL_WARPID, 0 },
    { "%nwarpid", SPECIAL_NWARPID, 0 },
    { "%smid", SPECIAL_SMID, 0 },
    { "%nsmid", SPECIAL_NSMID, 0 },
    { "%gridid", SPECIAL_GRIDID, 0 },
    { "%lanemask_eq", SPECIAL_LANEMASK_EQ, 0 },
    { "%lanemask_lt", SPECIAL_LANEMASK_LT, 0 },
    { "%lanemask_le", SPECIAL_LANEMASK_LE, 0 },
    { "%lanemask_gt", SPECIAL_LANEMASK_GT, 0 },
    { "%lanemask_ge", SPECIAL_LANEMASK_GE, 0 },
    { "%dynamic_smem_size", SPECIAL_DYNAMIC_SMEM, 0 },
    { "%total_smem_size", SPECIAL_TOTAL_SMEM, 0 },
    { "%aggr_smem_size", SPECIAL_TOTAL_SMEM, 0 },
    /* Where the barrier of a cooperative grid is: the upper and the lower half of its address. */
    { "%envreg1", SPECIAL_ENVREG1, 0 },
    { "%envreg2", SPECIAL_ENVREG2, 0 },
    /* A launch without clusters has clusters of one block. Source: PTX ISA, "%clusterid". */
    { "%clusterid.x", SPECIAL_CTAID_X, 0 },
    { "%clusterid.y", SPECIAL_CTAID_Y, 0 },
    { "%clusterid.z", SPECIAL_CTAID_Z, 0 },
    { "%nclusterid.x", SPECIAL_NCTAID_X, 0 },
    { "%nclusterid.y", SPECIAL_NCTAID_Y, 0 },
    { "%nclusterid.z", SPECIAL_NCTAID_Z, 0 },
    { "%cluster_ctaid.x", SPECIAL_NONE, 0 },
    { "%cluster_ctaid.y", SPECIAL_NONE, 0 },
    { "%cluster_ctaid.z", SPECIAL_NONE, 0 },
    { "%cluster_nctaid.x", SPECIAL_NONE, 1 },
    { "%cluster_nctaid.y", SPECIAL_NONE, 1 },
    { "%cluster_nctaid.z", SPECIAL_NONE, 1 },
    { "%cluster_ctarank", SPECIAL_NONE, 0 },
    { "%cluster_nctarank", SPECIAL_NONE, 1 },
    { "%is_explicit_cluster", SPECIAL_NONE, 0 },
    /* Nothing of shared memory is the system's here, and no counter is set up. */
    { "%reserved_smem_offset_begin", SPECIAL_NONE, 0 },
    { "%reserved_smem_offset_end", SPECIAL_NONE, 0 },
    { "%reserved_smem_offset_cap", SPECIAL_NONE, 0 },
    { "%reserved_smem_offset_0", SPECIAL_NONE, 0 },
    { "%reserved_smem_offset_1", SPECIAL_NONE, 0 },
    { "%current_graph_exec", SPECIAL_NONE, 0 },
};

/* "%pm0" to "%pm7", with "_64" or without, and "%envreg0" to "%envreg31": numbers that are 0. */
static bool is_numbered(struct bytes name, const char *prefix, int most)
{
    size_t n = strlen(prefix);
    int number = 0;

    if (name.size <= n || memcmp(name.data, prefix, n) != 0)
        return false;
    if (name.size > n + 3 && !memcmp(name.data + name.size - 3, "_64", 3))
        name.size -= 3;
    for (size_t i = n; i < name.size; i++) {
        if (name.data[i] < '0' || name.data[i] > '9' || number > most)
            return false;
        number = 10 * number + (name.data[i] - '0');
    }
    return number <= most;
}

int64_t decode_special(struct decoder *d, const struct operand *o, int bits)
{
    int bytes = bits == 1 ? 0 : bits > 32 ? 8 : 4;

    for (size_t i = 0; i < COUNT(SPECIALS); i++)
        if (bytes_equal(o->text, SPECIALS[i].name))
            return SPECIALS[i].special == SPECIAL_NONE
                       ? decode_constant(d, bytes, SPECIALS[i].value)
                       : decode_fixed(d, bytes, SPECIALS[i].special, 0);
    if (is_numbered(o->text, "%pm", 7) || is_numbered(o->text, "%envreg", 31))
        return decode_constant(d, bytes, 0);
    return decode_refuse(d, "a special register that is not known");
}

static bool is_clock(const struct operand *from, bool *is_high)
{
    static const struct {
        const char *name;
        bool is_high;
    } CLOCKS[] = {
        { "%clock", false },       { "%clock64", false },        { "%clock_hi", true },
        { "%globaltimer", false }, { "%globaltimer_lo", false }, { "%globaltimer_hi", true },
    };

    for (size_t i = 0; from && from->kind == OPERAND_SPECIAL && i < COUNT(CLOCKS); i++)
        if (bytes_equal(from->text, CLOCKS[i].name)) {
            *is_high = CLOCKS[i].is_high;
            return true;
        }
    return false;
}

/* ---- mov ------------------------------------------------------------------------------------ */

/* mov.b64 d, {a, b} or mov.b64 {a, b}, d; parts of 8 to 64 bits. */
static int decode_parts(struct decoder *d, const struct operand *many, bool is_pack, int bits)
{
    struct insn *in = d->insn;
    int part;

    if (many->count != 2 && many->count != 4)
        return decode_refuse(d, "a vector of other than 2 or 4 registers");
    part = bits / many->count;
    if (opcode_type(&d->opcode).kind != TYPE_BITS || part < 8)
        return decode_refuse(d, "a vector that is not of bits");
    if (!is_pack && bits > 64 && decode_operand(d, 1)->kind != OPERAND_REGISTER)
        return decode_refuse(d, "a constant of 128 bits");
    set_exec(in, is_pack ? exec_pack : exec_unpack, LAT_FREE);
    in->vector = (uint8_t)many->count;
    in->option = (uint16_t)bits;
    for (int i = 0; i < many->count; i++)
        if (!take(is_pack ? decode_source(d, &many->items[i], part)
                          : decode_destination(d, &many->items[i], part),
                  &in->rows[i]))
            return -1;
    return is_pack ? (take_destination(d, 0, bits, &in->d) ? 0 : -1)
                   : (take_source(d, 1, bits, &in->a) ? 0 : -1);
}

int decode_mov(struct decoder *d)
{
    const struct operand *to = decode_operand(d, 0), *from = decode_operand(d, 1);
    bool is_pack = from && from->kind == OPERAND_VECTOR;
    bool is_unpack = to && to->kind == OPERAND_VECTOR, is_high = false;
    struct insn *in = d->insn;
    int bits = opcode_type(&d->opcode).bits;

    if (d->opcode.count != 2 || d->ast_insn->operand_count != 2 || (is_pack && is_unpack))
        return decode_refuse(d, "a form of mov that is not executed");
    if (bits == 1) {
        set_exec(in, exec_logic, LAT_FREE);
        in->option = LOGIC_MOVE;
        return take_source(d, 1, 1, &in->a) && take_destination(d, 0, 1, &in->d) ? 0 : -1;
    }
    if (is_clock(from, &is_high)) {
        set_exec(in, exec_clock, LAT_ALU);
        in->option = (uint16_t)((bits > 32 ? ACCESS_WIDE_ROWS : 0) | (is_high ? CLOCK_HIGH : 0));
        return take_destination(d, 0, bits, &in->d) ? 0 : -1;
    }
    if (is_pack || is_unpack)
        return decode_parts(d, is_pack ? from : to, is_pack, bits);
    if (bits == 128) {
        set_exec(in, exec_move_wide, LAT_FREE);
        if (!from || from->kind != OPERAND_REGISTER)
            return decode_refuse(d, "a constant of 128 bits");
        return take_source(d, 1, 128, &in->a) && take_destination(d, 0, 128, &in->d) ? 0 : -1;
    }
    return decode_table(d);
}

/* ---- cvta, slct ----------------------------------------------------------------------------- */

/* cvta{.to}.SPACE.u64: global and constant memory are where generic addresses say. */
int decode_cvta(struct decoder *d)
{
    static const struct {
        const char *name, *canonical; /* NULL: a plain move */
    } SPACES[] = {
        { "global", NULL },          { "const", NULL },    { "shared", "shared" },
        { "shared::cta", "shared" }, { "local", "local" }, { "param", "param" },
        { "param::entry", "param" },
    };
    struct opcode *o = &d->opcode;
    bool has_to = o->count > 1 && bytes_equal(o->parts[1], "to");
    const struct op *op;

    if (o->count != 3 + has_to || !bytes_equal(o->parts[o->count - 1], "u64") ||
        d->ast_insn->operand_count != 2)
        return decode_refuse(d, "a form of cvta that is not executed");
    for (size_t i = 0; i < COUNT(SPACES); i++) {
        if (!bytes_equal(o->parts[o->count - 2], SPACES[i].name))
            continue;
        if (SPACES[i].canonical) {
            o->parts[o->count - 2] = bytes_of(SPACES[i].canonical);
            return decode_table(d);
        }
        op = ops_find(d->table, "mov.b64");
        d->insn->full = op->full;
        d->insn->masked = op->masked;
        d->insn->latency = LAT_FREE;
        d->insn->sources = op->sources;
        return take_source(d, 1, 64, &d->insn->a) && take_destination(d, 0, 64, &d->insn->d) ? 0
                                                                                             : -1;
    }
    return decode_refuse(d, "a space that cvta does not know");
}

/* slct.dtype.ctype d, a, b, c: of the first type only the size acts. */
int decode_slct(struct decoder *d)
{
    struct opcode *o = &d->opcode;
    struct type type = o->count > 2 ? type_of(o->parts[o->count - 2]) : (struct type){ 0 };

    if (type.kind != TYPE_PRED && (type.bits == 16 || type.bits == 32 || type.bits == 64))
        o->parts[o->count - 2] = bytes_of(type.bits == 16   ? "b16"
                                          : type.bits == 32 ? "b32"
                                                            : "b64");
    return decode_table(d);
}
