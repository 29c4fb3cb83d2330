/*
 * Decoding of cp.async and mbarrier.
 */
#include "model/ptx/async.h"
#include "model/ptx/decode.h"

/* ---- cp.async ------------------------------------------------------------------------------- */

static bool is_predicate(const struct operand *o)
{
    return o->kind == OPERAND_REGISTER && o->symbol->type.kind == TYPE_PRED;
}

/* The read: an instruction of its own, with its own address and counter. */
static int take_source_of_copy(struct decoder *d, enum space space, struct async_copy *copy)
{
    struct insn *write = d->insn, *read = &copy->source;
    int rc;

    *read = *write;
    read->space = (uint8_t)space;
    read->flags = 0;
    read->option = 0;
    read->guard_kind = GUARD_NONE;
    read->full = read->masked = exec_load;
    read->counter = d->module->counter_count++;
    d->insn = read;
    rc = decode_address(d, decode_operand(d, 1));
    d->insn = write;
    return rc;
}

/* cp.async.{ca,cg}.shared.global{...} [to], [from], bytes{, size | ignore}{, policy} */
static int decode_copy(struct decoder *d)
{
    struct async_copy *copy = arena_alloc(d->module->arena, sizeof *copy);
    const struct operand *bytes = decode_operand(d, 2), *more;
    int count = d->ast_insn->operand_count;
    struct insn *in = d->insn;

    if (!copy)
        return err_set(d->err, ERR_ResourceError, "out of memory while the PTX was decoded");
    if (decode_space(&d->opcode) != SPACE_GLOBAL && decode_space(&d->opcode) != SPACE_SHARED)
        return decode_refuse(d, "a copy between other spaces than global and shared");
    if (!bytes || bytes->kind != OPERAND_INT ||
        (bytes->value != 4 && bytes->value != 8 && bytes->value != 16))
        return decode_refuse(d, "a copy of other than 4, 8 or 16 bytes");
    set_exec(in, exec_async_copy, LAT_GLOBAL);
    in->extra = copy;
    in->space = SPACE_SHARED;
    in->memory = MEMORY_U32;
    in->vector = (uint8_t)(bytes->value / 4);
    in->flags = INSN_WRITES;
    in->counter = d->module->counter_count++;
    if (take_source_of_copy(d, SPACE_GLOBAL, copy) < 0 ||
        decode_address(d, decode_operand(d, 0)) < 0)
        return -1;
    count -= opcode_has(&d->opcode, "L2::cache_hint");
    if (count < 4)
        return 0;
    more = decode_operand(d, 3);
    if (is_predicate(more)) {
        in->option |= ASYNC_IGNORES | (more->is_negated ? ASYNC_NEGATED : 0);
        return take(decode_source(d, more, 1), &copy->ignores) ? 0 : -1;
    }
    in->option |= ASYNC_SIZED;
    return take(decode_source(d, more, 32), &copy->size) ? 0 : -1;
}

/* cp.async.wait_group n; cp.async.wait_all */
static int decode_wait(struct decoder *d)
{
    const struct operand *n = decode_operand(d, 0);
    struct insn *in = d->insn;

    set_exec(in, exec_async_wait, LAT_GLOBAL);
    if (opcode_has(&d->opcode, "wait_all")) {
        in->option = ASYNC_ALL;
        return 0;
    }
    if (!n || n->kind != OPERAND_INT || n->value > INT32_MAX)
        return decode_refuse(d, "a number of groups that is no constant");
    in->offset = (int64_t)n->value;
    return 0;
}

static void set_mbarrier(struct decoder *d, enum mbarrier_op op, int flags)
{
    struct insn *in = d->insn;

    set_exec(in, exec_mbarrier, LAT_ATOM);
    in->space = (uint8_t)decode_space(&d->opcode);
    in->memory = MEMORY_64;
    in->vector = 1;
    in->option = (uint16_t)(op << 8);
    in->flags = (uint8_t)flags;
    in->d = d->sink;
    in->counter = d->module->counter_count++;
}

/* cp.async.mbarrier.arrive{.noinc}.shared.b64 [barrier] */
static int decode_follow(struct decoder *d)
{
    set_mbarrier(d, MBARRIER_FOLLOW, INSN_WRITES | INSN_ATOMIC);
    d->insn->option |= opcode_has(&d->opcode, "noinc") ? MBARRIER_COUNTED : 0;
    return take(decode_constant(d, 4, 1), &d->insn->b) ? decode_address(d, decode_operand(d, 0))
                                                       : -1;
}

/* The barrier that counts the bytes of a bulk copy: an instruction of its own. */
static int take_barrier(struct decoder *d, struct async_copy *copy)
{
    struct insn *write = d->insn, *barrier = &copy->barrier;
    int rc;

    *barrier = *write;
    barrier->guard_kind = GUARD_NONE;
    d->insn = barrier;
    set_mbarrier(d, MBARRIER_COMPLETE, INSN_WRITES | INSN_ATOMIC);
    barrier->space = SPACE_SHARED;
    barrier->extra = NULL;
    barrier->b = copy->size;
    rc = decode_address(d, decode_operand(d, 3));
    d->insn = write;
    return rc;
}

static enum space space_of_part(const struct decoder *d, int i)
{
    struct opcode one = { .count = 2 };

    if (i < d->opcode.count)
        one.parts[1] = d->opcode.parts[i];
    return i < d->opcode.count ? decode_space(&one) : SPACE_GENERIC;
}

/* cp.async.bulk.TO.FROM{.mbarrier::complete_tx::bytes | .bulk_group} [to], [from], size{,
 * [barrier]} */
static int decode_bulk(struct decoder *d)
{
    static const char *const REFUSED[] = { "tensor", "multicast::cluster", "cp_mask", "reduce" };
    struct async_copy *copy = arena_alloc(d->module->arena, sizeof *copy);
    enum space to = space_of_part(d, 3), from = space_of_part(d, 4);
    struct insn *in = d->insn;

    if (!copy)
        return err_set(d->err, ERR_ResourceError, "out of memory while the PTX was decoded");
    for (size_t i = 0; i < COUNT(REFUSED); i++)
        if (opcode_has(&d->opcode, REFUSED[i]))
            return decode_refuse(d, "a bulk copy of a form that is not executed");
    if (opcode_has(&d->opcode, "commit_group") || opcode_has(&d->opcode, "wait_group") ||
        opcode_has(&d->opcode, "prefetch")) {
        set_exec(in, exec_nop, LAT_ALU);
        return 0;
    }
    if ((to != SPACE_SHARED && to != SPACE_GLOBAL) ||
        (from != SPACE_SHARED && from != SPACE_GLOBAL) ||
        (to == SPACE_GLOBAL && from == SPACE_GLOBAL))
        return decode_refuse(d, "a copy between other spaces than global and shared");
    set_exec(in, exec_bulk_copy, LAT_GLOBAL);
    in->extra = copy;
    in->space = (uint8_t)to;
    in->memory = MEMORY_U32;
    in->vector = MAX_VECTOR;
    in->flags = INSN_WRITES;
    in->counter = d->module->counter_count++;
    for (int i = 0; i < MAX_VECTOR; i++)
        in->rows[i] = d->sink;
    copy->row = decode_room(d, ROW64);
    if (!take_source(d, 2, 32, &copy->size) || take_source_of_copy(d, from, copy) < 0 ||
        decode_address(d, decode_operand(d, 0)) < 0)
        return -1;
    if (to == SPACE_GLOBAL)
        return 0;
    return take_barrier(d, copy);
}

int decode_cp(struct decoder *d)
{
    if (opcode_has(&d->opcode, "bulk"))
        return decode_bulk(d);
    if (!opcode_has(&d->opcode, "async"))
        return decode_refuse(d, "a copy of a form that is not executed");
    if (opcode_has(&d->opcode, "commit_group")) {
        set_exec(d->insn, exec_async_commit, LAT_ALU);
        return 0;
    }
    if (opcode_has(&d->opcode, "wait_group") || opcode_has(&d->opcode, "wait_all"))
        return decode_wait(d);
    return opcode_has(&d->opcode, "mbarrier") ? decode_follow(d) : decode_copy(d);
}

/* ---- mbarrier ------------------------------------------------------------------------------- */

/* mbarrier.arrive{_drop}{.expect_tx}... state, [barrier]{, count or bytes} */
static int decode_arrive(struct decoder *d, enum mbarrier_op op)
{
    bool expects = opcode_has(&d->opcode, "expect_tx");
    const struct operand *to = decode_operand(d, 0), *count = decode_operand(d, 2);
    struct insn *in = d->insn;
    uint32_t *row;

    set_mbarrier(d, op, INSN_WRITES | INSN_ATOMIC);
    row = expects ? &in->c : &in->b;
    in->option |= (uint16_t)((expects ? MBARRIER_EXPECTS : 0) |
                             (opcode_has(&d->opcode, "noComplete") ? MBARRIER_NO_COMPLETE : 0));
    if (!take(count ? decode_source(d, count, 32) : decode_constant(d, 4, 1), row) ||
        decode_address(d, decode_operand(d, 1)) < 0)
        return -1;
    if (to->kind == OPERAND_SINK)
        return 0;
    return take(decode_destination(d, to, 64), &in->d) ? 0 : -1;
}

/* mbarrier.test_wait{.parity}... p, [barrier], state or parity; try_wait: a hint of time behind */
static int decode_test(struct decoder *d)
{
    bool is_parity = opcode_has(&d->opcode, "parity");
    struct insn *in = d->insn;

    set_mbarrier(d, MBARRIER_TEST, INSN_ATOMIC | INSN_VOLATILE);
    in->option |= is_parity ? MBARRIER_PARITY : 0;
    return take_source(d, 2, is_parity ? 32 : 64, &in->b) &&
                   decode_address(d, decode_operand(d, 1)) == 0 && take_destination(d, 0, 1, &in->d)
               ? 0
               : -1;
}

int decode_mbarrier(struct decoder *d)
{
    static const struct {
        const char *name;
        enum mbarrier_op op;
        int flags;
        bool has_number;
    } OPS[] = {
        { "init", MBARRIER_INIT, INSN_WRITES, true },
        { "inval", MBARRIER_INVAL, INSN_WRITES, false },
        { "expect_tx", MBARRIER_EXPECT, INSN_WRITES | INSN_ATOMIC, true },
        { "complete_tx", MBARRIER_COMPLETE, INSN_WRITES | INSN_ATOMIC, true },
    };
    struct bytes what = d->opcode.count > 1 ? d->opcode.parts[1] : (struct bytes){ "", 0 };

    if (bytes_equal(what, "arrive"))
        return decode_arrive(d, MBARRIER_ARRIVE);
    if (bytes_equal(what, "arrive_drop"))
        return decode_arrive(d, MBARRIER_DROP);
    if (bytes_equal(what, "test_wait") || bytes_equal(what, "try_wait"))
        return decode_test(d);
    if (bytes_equal(what, "pending_count")) {
        set_exec(d->insn, exec_pending_count, LAT_ALU);
        return take_source(d, 1, 64, &d->insn->a) && take_destination(d, 0, 32, &d->insn->d) ? 0
                                                                                             : -1;
    }
    for (size_t i = 0; i < COUNT(OPS); i++) {
        if (!bytes_equal(what, OPS[i].name))
            continue;
        set_mbarrier(d, OPS[i].op, OPS[i].flags);
        if (OPS[i].has_number && !take_source(d, 1, 32, &d->insn->b))
            return -1;
        return decode_address(d, decode_operand(d, 0));
    }
    return decode_refuse(d, "a barrier in memory that is not executed");
}
