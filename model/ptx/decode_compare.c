/*
 * Decoding of comparisons: setp, set and testp. Each part of the opcode is read,
 * so that one that is not known is refused.
 */
#include "model/ptx/decode.h"

#include <stdio.h>

static const char *const COMPARISONS[] = { "eq",  "ne",  "lt",  "le",  "gt",  "ge",
                                           "lo",  "ls",  "hi",  "hs",  "equ", "neu",
                                           "ltu", "leu", "gtu", "geu", "num", "nan" };

/* lo ls hi hs: the unsigned lt le gt ge. */
static const char *plain_name(const char *name)
{
    static const char *const UNSIGNED[][2] = {
        { "lo", "lt" }, { "ls", "le" }, { "hi", "gt" }, { "hs", "ge" }
    };

    for (size_t i = 0; i < COUNT(UNSIGNED); i++)
        if (!strcmp(name, UNSIGNED[i][0]))
            return UNSIGNED[i][1];
    return name;
}

struct parts {
    const char *comparison;
    bool is_ftz;
    int join;
};

static int read_part(struct decoder *d, struct bytes part, struct parts *p)
{
    static const struct {
        const char *name;
        int join;
    } JOINS[] = { { "and", SETP_AND }, { "or", SETP_OR }, { "xor", SETP_XOR } };

    for (size_t i = 0; i < COUNT(COMPARISONS); i++)
        if (!p->comparison && bytes_equal(part, COMPARISONS[i])) {
            p->comparison = COMPARISONS[i];
            return 0;
        }
    for (size_t i = 0; i < COUNT(JOINS); i++)
        if (p->join == SETP_ALONE && bytes_equal(part, JOINS[i].name)) {
            p->join = JOINS[i].join;
            return 0;
        }
    if (bytes_equal(part, "ftz")) {
        p->is_ftz = true;
        return 0;
    }
    return decode_refuse(d, "a comparison of a form that is not executed");
}

/* "lt.s32", "high.ltu.ftz.f16": of two halves the name is that of one. */
static compare_fn *find(const struct decoder *d, const struct parts *p, struct type type,
                        bool is_high)
{
    char spelling[40], name[8];
    size_t n;

    snprintf(name, sizeof name, "%s", type.name);
    n = strlen(name);
    if (type.kind == TYPE_BITS)
        name[0] = 'u';
    else if (type.kind == TYPE_HALVES)
        name[n - 2] = '\0'; /* "f16x2" */
    snprintf(spelling, sizeof spelling, "%s.%s%s%s", plain_name(p->comparison),
             is_high ? "high." : "", p->is_ftz ? "ftz." : "", name);
    return ops_find_comparison(d->table, spelling);
}

/* Parts 1 to `last`; then the functions. */
static int find_comparing(struct decoder *d, int last, struct type type, struct comparing **out)
{
    struct parts p = { .join = SETP_ALONE };
    struct comparing *by = arena_alloc(d->module->arena, sizeof *by);
    bool is_halves = type.kind == TYPE_HALVES;

    if (!by)
        return err_set(d->err, ERR_ResourceError, "out of memory while the PTX was decoded");
    for (int i = 1; i <= last; i++)
        if (read_part(d, d->opcode.parts[i], &p) < 0)
            return -1;
    if (p.comparison && type.kind != TYPE_NONE && type.kind != TYPE_PRED) {
        by->low = find(d, &p, type, false);
        by->high = is_halves ? find(d, &p, type, true) : NULL;
    }
    if (!by->low || (is_halves && !by->high))
        return decode_refuse(d, "a comparison that is not executed");
    d->insn->option = (uint16_t)p.join;
    d->insn->extra = by;
    *out = by;
    return 0;
}

/* Operand 3 is there when, and only when, the comparison is joined with it. */
static int take_joined(struct decoder *d)
{
    const struct operand *c = decode_operand(d, 3);
    bool is_joined = d->insn->option != SETP_ALONE;

    if (d->ast_insn->operand_count != 3 + is_joined)
        return decode_refuse(d, "another number of operands than it has");
    if (!is_joined)
        return 0;
    d->insn->option |= c->is_negated ? SETP_NEGATED : 0;
    return take(decode_source(d, c, 1), &d->insn->c) ? 0 : -1;
}

static enum latency_class latency_of(struct type type)
{
    return type.kind == TYPE_FLOAT && type.bits == 64                                ? LAT_F64
           : type.kind == TYPE_HALVES || (type.kind == TYPE_FLOAT && type.bits < 32) ? LAT_HALF
                                                                                     : LAT_ALU;
}

int decode_setp(struct decoder *d)
{
    struct type type = opcode_type(&d->opcode);
    const struct operand *to = decode_operand(d, 0);
    bool is_pair = to && to->kind == OPERAND_PAIR;
    struct insn *in = d->insn;
    struct comparing *by;

    set_exec(in, exec_setp, latency_of(type));
    in->sources = 2;
    if (find_comparing(d, d->opcode.count - 2, type, &by) < 0 || take_joined(d) < 0)
        return -1;
    if (!take_source(d, 1, type.bits, &in->a) || !take_source(d, 2, type.bits, &in->b) ||
        !take(decode_destination(d, is_pair ? &to->items[0] : to, 1), &in->d))
        return -1;
    in->e = d->sink;
    return !is_pair || take(decode_destination(d, &to->items[1], 1), &in->e) ? 0 : -1;
}

/* What set gives where the comparison holds: 1.0 as a float, all ones otherwise. */
static uint32_t truth_of(struct type type)
{
    static const struct {
        const char *name;
        uint32_t bits;
    } ONES[] = {
        { "f32", 0x3f800000 },   { "f16", 0x3c00 },        { "bf16", 0x3f80 },
        { "f16x2", 0x3c003c00 }, { "bf16x2", 0x3f803f80 }, { "u16", 0xffff },
        { "s16", 0xffff },       { "u32", UINT32_MAX },    { "s32", UINT32_MAX },
    };

    for (size_t i = 0; i < COUNT(ONES); i++)
        if (type.name && !strcmp(type.name, ONES[i].name))
            return ONES[i].bits;
    return 0;
}

/* set.CMP{.BOOL}{.ftz}.dtype.stype d, a, b{, c} */
int decode_set(struct decoder *d)
{
    struct type type = opcode_type(&d->opcode), to = { 0 };
    struct insn *in = d->insn;
    struct comparing *by;
    uint32_t truth;

    if (d->opcode.count > 3)
        to = type_of(d->opcode.parts[d->opcode.count - 2]);
    truth = truth_of(to);
    if (!truth || (type.kind == TYPE_HALVES && to.bits != 32) ||
        (to.kind == TYPE_HALVES && type.kind != TYPE_HALVES))
        return decode_refuse(d, "a comparison that is not executed");
    set_exec(in, exec_set, latency_of(type));
    in->sources = 2;
    if (find_comparing(d, d->opcode.count - 3, type, &by) < 0 || take_joined(d) < 0)
        return -1;
    by->if_low = by->high ? truth & 0xffff : truth;
    by->if_high = by->high ? truth & 0xffff0000U : 0;
    return take_source(d, 1, type.bits, &in->a) && take_source(d, 2, type.bits, &in->b) &&
                   take_destination(d, 0, to.bits, &in->d)
               ? 0
               : -1;
}

/* testp.KIND.type p, a */
int decode_testp(struct decoder *d)
{
    struct comparing *by = arena_alloc(d->module->arena, sizeof *by);
    struct type type = opcode_type(&d->opcode);
    struct insn *in = d->insn;
    char spelling[40];

    if (!by)
        return err_set(d->err, ERR_ResourceError, "out of memory while the PTX was decoded");
    if (d->opcode.count == 3) {
        snprintf(spelling, sizeof spelling, "%.*s.%s",
                 (int)min_i64((int64_t)d->opcode.parts[1].size, 16), d->opcode.parts[1].data,
                 type.name ? type.name : "");
        by->low = ops_find_comparison(d->table, spelling);
    }
    if (!by->low || d->ast_insn->operand_count != 2)
        return decode_refuse(d, "a test that is not executed");
    set_exec(in, exec_setp, LAT_ALU);
    in->extra = by;
    in->option = SETP_ALONE;
    if (!take_source(d, 1, type.bits, &in->a))
        return -1;
    in->b = in->a;
    in->e = d->sink;
    return take_destination(d, 0, 1, &in->d) ? 0 : -1;
}
