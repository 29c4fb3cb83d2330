/*
 * Decoding of what lanes do together: exchange within a warp, and barriers.
 */
#include "model/ptx/decode.h"
#include "model/ptx/sync.h"

/* ---- Within a warp -------------------------------------------------------------------------- */

static void set_sync(struct insn *in, exec_fn *fn, const struct sync_op *op)
{
    set_exec(in, fn, LAT_SHFL);
    in->extra = op;
}

/* d, or d|p with its second destination; without one, the sink. */
static int take_pair(struct decoder *d, const struct operand *to, int bits)
{
    bool is_pair = to && to->kind == OPERAND_PAIR;

    d->insn->e = d->sink;
    if (!take(decode_destination(d, is_pair ? &to->items[0] : to, bits), &d->insn->d))
        return -1;
    return !is_pair || take(decode_destination(d, &to->items[1], 1), &d->insn->e) ? 0 : -1;
}

static int refuse_old(struct decoder *d)
{
    return decode_refuse(d, "the form without .sync, which sm_70 and later do not have");
}

/* shfl.sync.MODE.b32 d|p, a, b, c, mask */
int decode_shfl(struct decoder *d)
{
    struct insn *in = d->insn;

    if (!opcode_has(&d->opcode, "sync"))
        return refuse_old(d);
    set_sync(in, exec_shfl, &SYNC_SHFL);
    in->full = d->table->shuffle;
    in->option = opcode_has(&d->opcode, "up")     ? SHFL_UP
                 : opcode_has(&d->opcode, "down") ? SHFL_DOWN
                 : opcode_has(&d->opcode, "bfly") ? SHFL_BFLY
                                                  : SHFL_IDX;
    if (!take_source(d, 1, 32, &in->a) || !take_source(d, 2, 32, &in->b) ||
        !take_source(d, 3, 32, &in->c) || !take_source(d, 4, 32, &in->rows[0]))
        return -1;
    return take_pair(d, decode_operand(d, 0), 32);
}

/* vote.sync.MODE.pred p, a, mask; vote.sync.ballot.b32 d, a, mask */
int decode_vote(struct decoder *d)
{
    const struct operand *a = decode_operand(d, 1);
    struct insn *in = d->insn;
    bool is_ballot = opcode_has(&d->opcode, "ballot");

    if (!opcode_has(&d->opcode, "sync"))
        return refuse_old(d);
    set_sync(in, exec_vote, &SYNC_VOTE);
    in->option = is_ballot                       ? VOTE_BALLOT
                 : opcode_has(&d->opcode, "all") ? VOTE_ALL
                 : opcode_has(&d->opcode, "any") ? VOTE_ANY
                                                 : VOTE_UNI;
    in->option |= a && a->is_negated ? VOTE_NEGATED : 0;
    return take_source(d, 1, 1, &in->a) && take_source(d, 2, 32, &in->rows[0]) &&
                   take_destination(d, 0, is_ballot ? 32 : 1, &in->d)
               ? 0
               : -1;
}

/* match.any.sync.TYPE d, a, mask; match.all.sync.TYPE d|p, a, mask */
int decode_match(struct decoder *d)
{
    int bits = opcode_type(&d->opcode).bits;
    struct insn *in = d->insn;

    if (bits != 32 && bits != 64)
        return decode_refuse(d, "a match of other than 32 or 64 bits");
    set_sync(in, exec_sync, &SYNC_MATCH);
    in->option = opcode_has(&d->opcode, "all") ? MATCH_ALL : MATCH_ANY;
    in->option |= bits == 64 ? MATCH_64 : 0;
    if (!take_source(d, 1, bits, &in->a) || !take_source(d, 2, 32, &in->rows[0]))
        return -1;
    return take_pair(d, decode_operand(d, 0), 32);
}

/* redux.sync.OP.TYPE d, a, mask */
int decode_redux(struct decoder *d)
{
    static const struct {
        const char *name;
        int option;
    } OPS[] = {
        { "add", REDUX_ADD }, { "min", REDUX_MIN }, { "max", REDUX_MAX },
        { "and", REDUX_AND }, { "or", REDUX_OR },   { "xor", REDUX_XOR },
    };
    struct type type = opcode_type(&d->opcode);
    struct insn *in = d->insn;
    size_t op = 0;

    while (op < COUNT(OPS) && !opcode_has(&d->opcode, OPS[op].name))
        op++;
    if (op == COUNT(OPS) || type.bits != 32 || type.kind == TYPE_FLOAT)
        return decode_refuse(d, "a reduction that is not executed");
    set_sync(in, exec_sync, &SYNC_REDUX);
    in->option = (uint16_t)(OPS[op].option | (type.kind == TYPE_SIGNED ? REDUX_SIGNED : 0));
    return take_source(d, 1, 32, &in->a) && take_source(d, 2, 32, &in->rows[0]) &&
                   take_destination(d, 0, 32, &in->d)
               ? 0
               : -1;
}

/* elect.sync d|p, mask */
int decode_elect(struct decoder *d)
{
    set_sync(d->insn, exec_sync, &SYNC_ELECT);
    if (!take_source(d, 1, 32, &d->insn->rows[0]))
        return -1;
    return take_pair(d, decode_operand(d, 0), 32);
}

int decode_activemask(struct decoder *d)
{
    set_exec(d->insn, exec_activemask, LAT_ALU);
    return take_destination(d, 0, 32, &d->insn->d) ? 0 : -1;
}

/* ---- Barriers of the block ------------------------------------------------------------------ */

/* barrier.cluster.arrive, barrier.cluster.wait: a cluster is one block here. */
static int decode_cluster_barrier(struct decoder *d)
{
    struct insn *in = d->insn;

    set_exec(in, exec_barrier, LAT_BARRIER);
    in->option = BARRIER_CLUSTER;
    in->option |= opcode_has(&d->opcode, "arrive") ? BARRIER_ARRIVES : 0;
    return take(decode_constant(d, 4, 0), &in->a) ? 0 : -1;
}

/* bar.red.popc.u32 d, a{, b}, {!}c; bar.red.and.pred p, a{, b}, {!}c */
static int take_reduction(struct decoder *d, int count)
{
    const struct operand *c = decode_operand(d, count - 1);
    bool is_popc = opcode_has(&d->opcode, "popc");
    struct insn *in = d->insn;

    if (count < 3)
        return decode_refuse(d, "another number of operands than it has");
    in->option |= is_popc ? BARRIER_POPC : opcode_has(&d->opcode, "and") ? BARRIER_AND : BARRIER_OR;
    in->option |= c->is_negated ? BARRIER_NEGATED : 0;
    return take_source(d, count - 1, 1, &in->c) && take_destination(d, 0, is_popc ? 32 : 1, &in->d)
               ? 0
               : -1;
}

/* bar.sync a{, b}; bar.arrive a, b; bar.red; barrier{.cta} likewise; bar.warp.sync mask */
int decode_barrier(struct decoder *d)
{
    int count = d->ast_insn->operand_count;
    bool is_red = opcode_has(&d->opcode, "red"), is_arrive = opcode_has(&d->opcode, "arrive");
    struct insn *in = d->insn;

    if (opcode_has(&d->opcode, "warp")) {
        set_sync(in, exec_sync, &SYNC_BARRIER);
        in->latency = LAT_ALU;
        return take_source(d, 0, 32, &in->rows[0]) ? 0 : -1;
    }
    if (opcode_has(&d->opcode, "cluster"))
        return decode_cluster_barrier(d);
    if (!is_red && !is_arrive && !opcode_has(&d->opcode, "sync"))
        return decode_refuse(d, "a barrier that is not executed");
    set_exec(in, exec_barrier, LAT_BARRIER);
    in->option = is_op(d, "bar") || opcode_has(&d->opcode, "aligned") ? BARRIER_ALIGNED : 0;
    in->option |= is_arrive ? BARRIER_ARRIVES : 0;
    if (is_red && take_reduction(d, count) < 0)
        return -1;
    if (!take_source(d, is_red, 32, &in->a))
        return -1;
    if (count - 2 * is_red < 2)
        return is_arrive ? decode_refuse(d, "an arrival without a number of threads") : 0;
    in->option |= BARRIER_COUNTS;
    return take_source(d, is_red + 1, 32, &in->b) ? 0 : -1;
}
