/*
 * The decoder: instructions by name become functions over rows.
 *
 * An opcode is cut at its dots. Arithmetic is looked up in the table that ops.def makes, after
 * parts that change nothing were dropped; the rest (memory, control, predicates, exchange between
 * lanes) has a function each. What is in neither is refused here, before anything runs.
 */
#include "model/ptx/decode.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- Errors --------------------------------------------------------------------------------- */

int decode_fail_memory(struct decoder *d)
{
    return err_set(d->err, ERR_ResourceError, "out of memory while the PTX was decoded");
}

int decode_refuse(struct decoder *d, const char *why)
{
    struct bytes opcode = d->ast_insn->opcode;

    ptx_fail(&d->module->ast, ERR_UnsupportedError, d->ast_insn->loc, d->ast_insn->ptx_line, d->err,
             "%.*s in %s: %s", (int)min_i64((int64_t)opcode.size, 80), opcode.data, d->f->name,
             why);
    return err_next(d->err, "device=gpu runs it, where there is a GPU");
}

/* What CUDA C has such an instruction from, and what to write in its place. */
static int refuse_by_name(struct decoder *d)
{
    static const char *const TEXTURE =
        "pass the array itself: const float *x and x[i], or __ldg(&x[i]); a texture's clamping "
        "and filtering are two lines of arithmetic";
    static const char *const GPU = "device=gpu runs it, where there is a GPU";
    static const struct {
        const char *name, *what, *next;
    } FAMILIES[] = {
        { "tex", "textures (tex1D, tex2D, tex1Dfetch) are not executed", TEXTURE },
        { "tld4", "textures (tex2Dgather) are not executed", TEXTURE },
        { "txq", "textures are not executed", TEXTURE },
        { "suld", "surfaces (surf1Dread, surf2Dread) are not executed", TEXTURE },
        { "sust", "surfaces (surf1Dwrite, surf2Dwrite) are not executed", TEXTURE },
        { "sured", "surfaces are not executed", TEXTURE },
        { "suq", "surfaces are not executed", TEXTURE },
        { "mapa", "blocks of a cluster do not see each other's shared memory", GPU },
        { "getctarank", "blocks of a cluster do not see each other's shared memory", GPU },
        { "wgmma", "products of four warps (wgmma) are not executed; mma.sync is", GPU },
        { "brx", "a jump by a table (brx.idx) is not executed", "write a switch in CUDA C" },
    };

    for (size_t i = 0; i < COUNT(FAMILIES); i++)
        if (is_op(d, FAMILIES[i].name)) {
            decode_refuse(d, FAMILIES[i].what);
            d->err->next[0] = '\0';
            return err_next(d->err, "%s", FAMILIES[i].next);
        }
    return decode_refuse(d, "not an instruction that is executed");
}

/* ---- Opcodes -------------------------------------------------------------------------------- */

static int cut_opcode(struct decoder *d)
{
    struct bytes left = d->ast_insn->opcode;
    struct opcode *o = &d->opcode;

    o->count = 0;
    while (left.size) {
        const char *dot = memchr(left.data, '.', left.size);
        size_t n = dot ? (size_t)(dot - left.data) : left.size;

        if (o->count == MAX_PARTS)
            return decode_refuse(d, "more than 16 parts");
        o->parts[o->count++] = (struct bytes){ left.data, n };
        left.data += n + (dot != NULL);
        left.size -= n + (dot != NULL);
    }
    return 0;
}

bool opcode_has(const struct opcode *opcode, const char *part)
{
    for (int i = 1; i < opcode->count; i++)
        if (bytes_equal(opcode->parts[i], part))
            return true;
    return false;
}

struct type opcode_type(const struct opcode *opcode)
{
    return type_of(opcode->parts[opcode->count - 1]);
}

/* ---- Arithmetic ----------------------------------------------------------------------------- */

/* Parts that change nothing: the default rounding. */
static bool is_idle_part(const struct decoder *d, int i)
{
    return bytes_equal(d->opcode.parts[i], "rn") && !opcode_has(&d->opcode, "rz") &&
           !opcode_has(&d->opcode, "rm") && !opcode_has(&d->opcode, "rp") &&
           (is_op(d, "add") || is_op(d, "sub") || is_op(d, "mul") || is_op(d, "fma") ||
            is_op(d, "mad"));
}

static void spell(const struct decoder *d, const char *type, char *out, size_t size)
{
    size_t n = 0;

    for (int i = 0; i < d->opcode.count; i++) {
        struct bytes part = d->opcode.parts[i];
        bool is_type = i == d->opcode.count - 1 && type;
        bool is_mad =
            i == 0 && bytes_equal(part, "mad") && opcode_type(&d->opcode).kind == TYPE_FLOAT;

        if (i > 0 && is_idle_part(d, i))
            continue;
        n += (size_t)snprintf(out + n, size - n, "%s%.*s", i ? "." : "",
                              is_type  ? (int)strlen(type)
                              : is_mad ? 3
                                       : (int)part.size,
                              is_type  ? type
                              : is_mad ? "fma"
                                       : part.data);
        if (n >= size)
            n = size - 1;
    }
}

/* Operations that give the same bits for signed, unsigned and bits; of mul and mad, .lo does. */
static bool is_blind_to_sign(const struct decoder *d)
{
    static const char *const NAMES[] = { "add", "sub", "neg", "mov", "selp", "shl", "mul", "mad" };
    bool is_product = is_op(d, "mul") || is_op(d, "mad");

    for (size_t i = 0; i < COUNT(NAMES); i++)
        if (is_op(d, NAMES[i]))
            return !is_product || opcode_has(&d->opcode, "lo");
    return false;
}

/* "add.s32" is found as "add.u32", "selp.f32" as "selp.b32": what does not care has one row. */
static const struct op *find_op(struct decoder *d)
{
    char spelling[96], type[8];
    struct type t = opcode_type(&d->opcode);
    const struct op *op;
    bool moves = is_op(d, "mov") || is_op(d, "selp");

    spell(d, NULL, spelling, sizeof spelling);
    op = ops_find(d->table, spelling);
    for (const char *kind = "ub"; !op && *kind && t.kind != TYPE_NONE; kind++) {
        bool fits = *kind == 'b' ? moves
                                 : (t.kind == TYPE_SIGNED && is_blind_to_sign(d)) ||
                                       (t.kind == TYPE_BITS && is_op(d, "shr"));

        if (!fits)
            continue;
        snprintf(type, sizeof type, "%c%d", *kind, t.bits);
        spell(d, type, spelling, sizeof spelling);
        op = ops_find(d->table, spelling);
    }
    return op;
}

/* The optimized build writes a register once, so a mov of a constant makes it one. */
static bool is_constant(const struct decoder *d, const struct operand *o)
{
    if (!o || o->kind != OPERAND_REGISTER)
        return o && (o->kind == OPERAND_INT || (o->kind == OPERAND_SYMBOL));
    return d->is_constant[o->symbol->first_id + o->index];
}

static void note_constant(struct decoder *d)
{
    const struct operand *to = decode_operand(d, 0);

    if (to && to->kind == OPERAND_REGISTER)
        d->is_constant[to->symbol->first_id + to->index] =
            is_op(d, "mov") && is_constant(d, decode_operand(d, 1));
}

/* By a constant, the compiler warns itself. */
static void watch_open(struct decoder *d, const struct op *op)
{
    struct insn *in = d->insn;
    bool is_division =
        (is_op(d, "div") || is_op(d, "rem")) && opcode_type(&d->opcode).kind != TYPE_FLOAT;

    if ((!is_division && !is_op(d, "shl") && !is_op(d, "shr")) ||
        is_constant(d, decode_operand(d, 2)))
        return;
    in->extra = op;
    in->full = is_division ? exec_division_full : exec_shift_full;
    in->masked = is_division ? exec_division_masked : exec_shift_masked;
}

int decode_table(struct decoder *d)
{
    const struct op *op = find_op(d);
    struct insn *in = d->insn;

    if (!op)
        return refuse_by_name(d);
    in->full = op->full;
    in->masked = op->masked;
    in->latency = op->latency;
    in->sources = op->sources;
    note_constant(d);
    if ((is_op(d, "div") || is_op(d, "rem")) && is_constant(d, decode_operand(d, 2)))
        in->latency = LAT_DIVIDE_CONSTANT;
    if (d->ast_insn->operand_count != op->sources + 1)
        return decode_refuse(d, "another number of operands than it has");
    if (!take_source(d, 1, op->a_bits, &in->a))
        return -1;
    if (op->sources > 1 && !take_source(d, 2, op->b_bits, &in->b))
        return -1;
    if (op->sources > 2 && !take_source(d, 3, op->c_bits, &in->c))
        return -1;
    watch_open(d, op);
    return take_destination(d, 0, op->d_bits, &in->d) ? 0 : -1;
}

/* ---- Control -------------------------------------------------------------------------------- */

/* A block's threads run in turn here: only who looks for races wants to know of fences. */
static int decode_fence(struct decoder *d)
{
    bool is_wide = opcode_has(&d->opcode, "gl") || opcode_has(&d->opcode, "gpu") ||
                   opcode_has(&d->opcode, "sys");

    set_exec(d->insn, is_wide ? exec_fence : exec_nop, LAT_ALU);
    return 0;
}

static int decode_nothing(struct decoder *d)
{
    set_exec(d->insn, exec_nop, LAT_ALU);
    return 0;
}

static int decode_branch(struct decoder *d)
{
    const struct operand *to = decode_operand(d, 0);

    if (!to || to->kind != OPERAND_SYMBOL || to->symbol->kind != SYMBOL_LABEL)
        return decode_refuse(d, "a branch to what is no label");
    if (to->symbol->label_at < 0 || to->symbol->label_at > d->ast->insn_count)
        return decode_refuse(d, "a branch to a label that is not there");
    d->insn->latency = LAT_BRANCH;
    d->insn->control = CONTROL_BRANCH;
    d->insn->offset = to->symbol->label_at;
    return 0;
}

/* Under a predicate it is a branch to the end of the body, where the return is. */
static int decode_end(struct decoder *d)
{
    d->insn->latency = LAT_BRANCH;
    if (d->insn->guard_kind != GUARD_NONE) {
        if (is_op(d, "exit") && !d->f->is_entry)
            return decode_refuse(d, "an exit under a predicate in a device function");
        d->insn->control = CONTROL_BRANCH;
        d->insn->offset = d->ast->insn_count;
        return 0;
    }
    d->insn->control = is_op(d, "exit") ? CONTROL_EXIT : CONTROL_RETURN;
    return 0;
}

static int decode_trap(struct decoder *d)
{
    set_exec(d->insn, exec_trap, LAT_ALU);
    return 0;
}

typedef int decode_fn(struct decoder *d);

static const struct {
    const char *name;
    decode_fn *decode;
} FAMILIES[] = {
    /* clang-format off: a line a family, so that two new ones do not touch the same line */
    { "mov", decode_mov },
    { "slct", decode_slct },
    { "cvta", decode_cvta },
    { "setp", decode_setp },
    { "set", decode_set },
    { "testp", decode_testp },
    { "cvt", decode_convert },
    { "addc", decode_carry },
    { "subc", decode_carry },
    { "madc", decode_carry },
    { "wmma", decode_wmma },
    { "mma", decode_mma },
    { "ldmatrix", decode_ldmatrix },
    { "stmatrix", decode_stmatrix },
    { "movmatrix", decode_movmatrix },
    { "and", decode_logic },
    { "or", decode_logic },
    { "xor", decode_logic },
    { "not", decode_logic },
    { "lop3", decode_lop3 },
    { "bfi", decode_bfi },
    { "ld", decode_load },
    { "ldu", decode_load },
    { "st", decode_store },
    { "atom", decode_atomic },
    { "red", decode_atomic },
    { "shfl", decode_shfl },
    { "vote", decode_vote },
    { "match", decode_match },
    { "redux", decode_redux },
    { "elect", decode_elect },
    { "activemask", decode_activemask },
    { "bar", decode_barrier },
    { "barrier", decode_barrier },
    { "membar", decode_fence },
    { "fence", decode_fence },
    { "prefetch", decode_nothing },
    { "prefetchu", decode_nothing },
    { "discard", decode_nothing },
    { "nanosleep", decode_nothing },
    { "pmevent", decode_nothing },
    { "brkpt", decode_nothing },
    { "applypriority", decode_nothing },
    { "griddepcontrol", decode_nothing },
    { "cp", decode_cp },
    { "mbarrier", decode_mbarrier },
    { "isspacep", decode_isspacep },
    { "bra", decode_branch },
    { "call", decode_call },
    { "ret", decode_end },
    { "exit", decode_end },
    { "trap", decode_trap },
    /* clang-format on */
};

static int decode_guard(struct decoder *d)
{
    const struct ast_insn *ast = d->ast_insn;
    struct operand guard = { .kind = OPERAND_REGISTER,
                             .symbol = ast->guard,
                             .index = ast->guard_index };

    if (!ast->guard)
        return 0;
    d->insn->guard_kind = ast->is_guard_negated ? GUARD_UNLESS : GUARD_IF;
    return take(decode_source(d, &guard, 1), &d->insn->guard) ? 0 : -1;
}

static int decode_instruction(struct decoder *d)
{
    struct insn *in = d->insn;

    in->counter = -1;
    in->loc = d->ast_insn->loc;
    in->ptx_line = d->ast_insn->ptx_line;
    in->used_bytes = (uint16_t)d->ast_insn->used_bytes;
    d->deps = arena_alloc(d->module->arena, sizeof *d->deps);
    in->spelling = arena_copy(d->module->arena, d->ast_insn->opcode.data, d->ast_insn->opcode.size);
    if (!d->deps || !in->spelling)
        return decode_fail_memory(d);
    in->deps = d->deps;
    if (cut_opcode(d) < 0 || decode_guard(d) < 0)
        return -1;
    for (size_t i = 0; i < COUNT(FAMILIES); i++)
        if (is_op(d, FAMILIES[i].name))
            return FAMILIES[i].decode(d);
    if (opcode_has(&d->opcode, "cc"))
        return decode_carry(d);
    if (d->opcode.parts[0].size > 1 && d->opcode.parts[0].data[0] == 'v')
        return decode_video(d);
    return decode_table(d);
}

/* ---- Functions ------------------------------------------------------------------------------ */

/* Local variables one after the other; the whole is what a call needs of a thread's stack. */
static void place_locals(struct decoder *d)
{
    uint64_t at = 0;

    for (struct symbol *s = d->ast->variables; s; s = s->next) {
        if (s->space != SPACE_LOCAL)
            continue;
        at = (uint64_t)round_up((int64_t)at, (int64_t)s->align);
        s->address = at;
        at += s->size;
    }
    d->f->local_bytes = (int)round_up((int64_t)at, 16);
}

static int place_formals(struct decoder *d, struct symbol **symbols, int count,
                         const struct area **out)
{
    struct area *areas = arena_array(d->module->arena, (size_t)count, sizeof *areas);

    if (!areas)
        return decode_fail_memory(d);
    for (int i = 0; i < count; i++)
        areas[i] = decode_area(d, symbols[i]);
    *out = areas;
    return 0;
}

/* The kernel's parameters as one blob: each at its own alignment. */
static void place_parameters(struct decoder *d)
{
    uint64_t at = 0;

    for (int i = 0; i < d->ast->parameter_count; i++) {
        struct symbol *s = d->ast->parameters[i];

        at = (uint64_t)round_up((int64_t)at, (int64_t)s->align);
        s->address = at;
        at += s->size;
    }
}

static int keep_constants(struct decoder *d)
{
    struct fixed_row *fixed =
        arena_array(d->module->arena, (size_t)d->constant_count, sizeof *fixed);
    int n = 0;

    if (!fixed)
        return decode_fail_memory(d);
    for (int is_first = 1; is_first >= 0; is_first--) {
        for (int i = 0; i < CONSTANT_BUCKETS; i++)
            for (struct constant *c = d->constants[i]; c; c = c->next)
                if (frame_is_changing(c->row.special) == is_first)
                    fixed[n++] = c->row;
        if (is_first)
            d->f->changing_count = n;
    }
    d->f->fixed = fixed;
    d->f->fixed_count = n;
    return 0;
}

static int decode_body(struct decoder *d)
{
    struct function *f = d->f;

    f->insn_count = d->ast->insn_count;
    f->insns = arena_array(d->module->arena, (size_t)f->insn_count, sizeof *f->insns);
    if (!f->insns)
        return decode_fail_memory(d);
    for (int i = 0; i < f->insn_count; i++) {
        d->ast_insn = &d->ast->insns[i];
        d->insn = &f->insns[i];
        if (decode_instruction(d) < 0)
            return -1;
    }
    return 0;
}

static int decode_function(struct ptx_module *module, struct function *f, struct err *err)
{
    struct decoder *d = arena_alloc(module->arena, sizeof *d);
    size_t registers = (size_t)f->ast->register_count;

    if (!d)
        return err_set(err, ERR_ResourceError, "out of memory while the PTX was decoded");
    d->module = module;
    d->f = f;
    d->ast = f->ast;
    d->err = err;
    d->table = module->ops;
    d->predicates_used = WARP;
    d->carry = NO_ROW;
    d->sink = decode_room(d, 2 * ROW64);
    d->register_rows = arena_array(module->arena, registers, sizeof *d->register_rows);
    d->is_constant = arena_array(module->arena, registers, sizeof *d->is_constant);
    if (!d->register_rows || !d->is_constant)
        return decode_fail_memory(d);
    for (size_t i = 0; i < registers; i++)
        d->register_rows[i] = NO_ROW;

    place_locals(d);
    f->parameter_count = f->ast->parameter_count;
    f->result_count = f->ast->result_count;
    if (f->is_entry)
        place_parameters(d);
    else if (place_formals(d, f->ast->parameters, f->parameter_count, &f->parameters) < 0 ||
             place_formals(d, f->ast->results, f->result_count, &f->results) < 0)
        return -1;
    if (decode_body(d) < 0 || keep_constants(d) < 0)
        return -1;
    f->frame_bytes = d->frame_bytes;
    f->register_rows = d->register_rows;
    if (cfg_build(module, f, err) < 0)
        return -1;
    if (uses_find(f, err) < 0 || origin_find(module, f, err) < 0)
        return -1;
    return order_find(f, err);
}

int ptx_decode(struct ptx_module *module, struct err *err)
{
    for (int i = 0; i < module->ast.function_count; i++) {
        struct function *f = &module->functions[i];

        if (f->is_defined && decode_function(module, f, err) < 0 &&
            (refuse_keep(module, f, err) < 0 || decode_function(module, f, err) < 0))
            return -1;
    }
    return refuse_all(module, err);
}
