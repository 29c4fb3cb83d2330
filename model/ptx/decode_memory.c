/*
 * Decoding of loads, stores, atomics and calls: by space, type and width.
 */
#include "model/ptx/decode.h"
#include "model/ptx/system.h"

#include <stdio.h>

enum space decode_space(const struct opcode *opcode)
{
    static const struct {
        const char *name;
        enum space space;
    } SPACES[] = {
        { "global", SPACE_GLOBAL },
        { "shared", SPACE_SHARED },
        { "local", SPACE_LOCAL },
        { "const", SPACE_CONST },
        { "shared::cta", SPACE_SHARED },
        { "param", SPACE_PARAM },
        { "param::entry", SPACE_PARAM },
        { "shared::cluster", SPACE_SHARED }, /* which has one block */
    };

    for (size_t i = 0; i < COUNT(SPACES); i++)
        if (opcode_has(opcode, SPACES[i].name))
            return SPACES[i].space;
    return SPACE_GENERIC;
}

static enum latency_class latency_of(enum space space)
{
    return space == SPACE_SHARED  ? LAT_SHARED
           : space == SPACE_PARAM ? LAT_FREE
           : space == SPACE_CONST ? LAT_ALU
                                  : LAT_GLOBAL;
}

static int memory_kind_of(struct type type)
{
    bool is_signed = type.kind == TYPE_SIGNED;

    switch (type.bits) {
    case 8:
        return is_signed ? MEMORY_S8 : MEMORY_U8;
    case 16:
        return is_signed ? MEMORY_S16 : MEMORY_U16;
    case 32:
        return is_signed ? MEMORY_S32 : MEMORY_U32;
    case 64:
        return MEMORY_64;
    default:
        return -1;
    }
}

/* The registers of an access: one, or a vector of two or four of the same size. */
static int take_registers(struct decoder *d, const struct operand *o, bool is_load)
{
    struct insn *in = d->insn;
    int count = o && o->kind == OPERAND_VECTOR ? o->count : 1;
    int type_bits = opcode_type(&d->opcode).bits;
    bool is_known = false;

    if (count > MAX_VECTOR || count != in->vector)
        return decode_refuse(d, "another number of registers than the vector has");
    for (int i = 0; i < count; i++) {
        const struct operand *item = o && o->kind == OPERAND_VECTOR ? &o->items[i] : o;
        int bits = type_bits;
        int64_t row;

        if (item && item->kind == OPERAND_REGISTER) {
            bits = item->symbol->type.bits;
            if (bits < type_bits && bits != 1 && (type_bits > 32 || bits > 32))
                return decode_refuse(d, "a register that is too small");
            if (is_known && (bits > 32) != !!(in->option & ACCESS_WIDE_ROWS))
                return decode_refuse(d, "registers of different sizes");
            is_known = true;
            in->option |= bits > 32 ? ACCESS_WIDE_ROWS : 0;
        } else if (!is_known && type_bits > 32) {
            in->option |= ACCESS_WIDE_ROWS;
        }
        row = is_load ? decode_destination(d, item, bits) : decode_source(d, item, bits);
        if (row < 0)
            return -1;
        in->rows[i] = (uint32_t)row;
    }
    return 0;
}

/* [register + offset], [symbol + offset] or [number] */
int decode_address(struct decoder *d, const struct operand *o)
{
    struct insn *in = d->insn;
    const struct operand *base;
    bool is_small = in->space == SPACE_SHARED || in->space == SPACE_LOCAL;
    int bits = is_small ? 32 : 64;
    int64_t row;

    if (!o || o->kind != OPERAND_ADDRESS)
        return decode_refuse(d, "an address is missing");
    in->offset = (int64_t)o->value;
    base = o->count ? &o->items[0] : NULL;
    if (base && base->kind == OPERAND_REGISTER)
        bits = base->symbol->type.bits;
    else
        in->option |= ACCESS_UNIFORM;
    if (bits != 32 && bits != 64)
        return decode_refuse(d, "an address in a register of other than 32 or 64 bits");
    if (base)
        row = decode_source(d, base, bits);
    else
        row = decode_constant(d, bits / 8, 0);
    if (row < 0)
        return -1;
    if (base && base->kind == OPERAND_SYMBOL && base->symbol->space == SPACE_LOCAL)
        in->option &= (uint16_t)~ACCESS_UNIFORM; /* each thread has its own */
    in->option |= bits == 32 ? ACCESS_ADDRESS_32 : 0;
    in->a = (uint32_t)row;
    return 0;
}

/* The .param variable that an access names directly, or NULL. */
static struct symbol *named_parameter(const struct operand *o)
{
    struct symbol *s = o && o->kind == OPERAND_ADDRESS && o->count ? o->items[0].symbol : NULL;

    return s && s->kind == SYMBOL_VARIABLE && s->space == SPACE_PARAM ? s : NULL;
}

static bool is_formal_of_kernel(const struct decoder *d, const struct symbol *s)
{
    for (int i = 0; d->f->is_entry && i < d->ast->parameter_count; i++)
        if (d->ast->parameters[i] == s)
            return true;
    return false;
}

/* A kernel's parameters are the same in every lane of every warp: fixed rows, moved. */
static int load_kernel_parameter(struct decoder *d, const struct operand *o, const struct symbol *s)
{
    struct insn *in = d->insn;
    int bytes = opcode_type(&d->opcode).bits / 8;
    uint64_t at = s->address + o->value + o->items[0].value;
    bool is_wide = in->option & ACCESS_WIDE_ROWS;
    const struct op *move = ops_find(d->table, is_wide ? "mov.b64" : "mov.b32");
    int64_t row;

    if (at - s->address + (uint64_t)(bytes * in->vector) > s->size)
        return decode_refuse(d, "a read past the end of the parameter");
    if (in->vector == 1) {
        row = decode_fixed(d, is_wide ? 8 : 4, SPECIAL_PARAM, at | (uint64_t)in->memory << 32);
        if (row < 0)
            return -1;
        in->full = move->full;
        in->masked = move->masked;
        in->sources = move->sources;
        in->d = in->rows[0];
        in->a = (uint32_t)row;
        return 0;
    }
    /* Vectors of parameters come from structs passed by value, once: by address. */
    in->option |= ACCESS_UNIFORM;
    in->offset = (int64_t)at;
    row = decode_constant(d, 8, 0);
    in->a = (uint32_t)row;
    return row < 0 ? -1 : 0;
}

/* A word is a row, as a register is: by far the most frequent, and a plain move. */
static void move_word(struct decoder *d, uint64_t at)
{
    const struct op *move = ops_find(d->table, "mov.b32");
    struct insn *in = d->insn;
    uint32_t word = in->a + (uint32_t)(at / 4) * ROW32;
    bool is_store = in->flags & INSN_WRITES;

    in->full = move->full;
    in->masked = move->masked;
    in->sources = move->sources;
    in->d = is_store ? word : in->rows[0];
    in->a = is_store ? in->rows[0] : word;
}

static int use_area(struct decoder *d, struct symbol *s, const struct operand *o, exec_fn *fn)
{
    struct insn *in = d->insn;
    uint64_t at = o->value + o->items[0].value;
    uint64_t bytes = (uint64_t)(opcode_type(&d->opcode).bits / 8) * in->vector;

    if (at + bytes > s->size || at > s->size)
        return decode_refuse(d, "an access past the end of the parameter");
    in->full = in->masked = fn;
    in->latency = LAT_ALU; /* the calling convention moves registers */
    in->a = decode_area(d, s).row;
    in->offset = (int64_t)at;
    if (in->vector == 1 && bytes == 4 && !(in->option & ACCESS_WIDE_ROWS))
        move_word(d, at);
    return 0;
}

static int start_access(struct decoder *d)
{
    struct insn *in = d->insn;
    struct type type = opcode_type(&d->opcode);
    int kind = memory_kind_of(type);

    if (kind < 0)
        return decode_refuse(d, "an access of another size than 8, 16, 32 or 64 bits");
    in->memory = (uint8_t)kind;
    in->space = (uint8_t)decode_space(&d->opcode);
    in->latency = (uint8_t)latency_of(in->space);
    in->vector = opcode_has(&d->opcode, "v4") ? 4 : opcode_has(&d->opcode, "v2") ? 2 : 1;
    if (opcode_has(&d->opcode, "v8"))
        return decode_refuse(d, "a vector of 8 registers");
    if (opcode_has(&d->opcode, "volatile") || opcode_has(&d->opcode, "relaxed") ||
        opcode_has(&d->opcode, "acquire") || opcode_has(&d->opcode, "release"))
        in->flags |= INSN_VOLATILE | INSN_ORDERED;
    if (in->space != SPACE_GLOBAL && in->space != SPACE_GENERIC)
        in->flags &= (uint8_t)~INSN_ORDERED;
    return 0;
}

static void count_access(struct decoder *d)
{
    if (d->insn->space != SPACE_PARAM)
        d->insn->counter = d->module->counter_count++;
}

/* lanes_memory.h has no bytes in registers of 64 bits. */
static bool has_shape_form(const struct insn *in)
{
    return in->counter >= 0 && (!(in->option & ACCESS_WIDE_ROWS) || in->memory >= MEMORY_U32);
}

int decode_load(struct decoder *d)
{
    struct insn *in = d->insn;
    const struct operand *address = decode_operand(d, 1);
    struct symbol *parameter = named_parameter(address);

    if (start_access(d) < 0 || take_registers(d, decode_operand(d, 0), true) < 0)
        return -1;
    in->full = in->masked = exec_load;
    if (in->space == SPACE_PARAM && parameter && is_formal_of_kernel(d, parameter))
        return load_kernel_parameter(d, address, parameter);
    if (in->space == SPACE_PARAM && parameter)
        return use_area(d, parameter, address, exec_param_load);
    count_access(d);
    if (has_shape_form(in))
        in->full = d->table->load;
    return decode_address(d, address);
}

int decode_store(struct decoder *d)
{
    struct insn *in = d->insn;
    const struct operand *address = decode_operand(d, 0);
    struct symbol *parameter = named_parameter(address);

    if (start_access(d) < 0 || take_registers(d, decode_operand(d, 1), false) < 0)
        return -1;
    in->full = in->masked = exec_store;
    in->flags |= INSN_WRITES;
    if (in->space == SPACE_PARAM && (!parameter || is_formal_of_kernel(d, parameter)))
        return decode_refuse(d, "a store to a parameter of the kernel");
    if (in->space == SPACE_PARAM)
        return use_area(d, parameter, address, exec_param_store);
    count_access(d);
    if (has_shape_form(in))
        in->full = d->table->store;
    return decode_address(d, address);
}

static int number_kind_of(struct type type)
{
    bool is_bf16 = type.name && !strncmp(type.name, "bf16", 4);

    if (type.kind == TYPE_HALVES)
        return is_bf16 ? NUMBER_BF16X2 : NUMBER_F16X2;
    if (type.kind == TYPE_FLOAT && type.bits == 16)
        return is_bf16 ? NUMBER_BF16 : NUMBER_F16;
    if (type.kind == TYPE_BITS && type.bits == 16)
        return NUMBER_U16;
    if (type.bits != 32 && type.bits != 64)
        return -1;
    switch (type.kind) {
    case TYPE_FLOAT:
        return type.bits == 32 ? NUMBER_F32 : NUMBER_F64;
    case TYPE_SIGNED:
        return type.bits == 32 ? NUMBER_S32 : NUMBER_S64;
    case TYPE_UNSIGNED:
    case TYPE_BITS:
        return type.bits == 32 ? NUMBER_U32 : NUMBER_U64;
    case TYPE_HALVES:
    case TYPE_NONE:
    case TYPE_PRED:
        break;
    }
    return -1;
}

/* The type of an atomic stands last, but for some vectors: "v2.f32.add". */
static struct type atomic_type(const struct opcode *opcode)
{
    for (int i = opcode->count - 1; i > 0; i--)
        if (type_of(opcode->parts[i]).kind != TYPE_NONE)
            return type_of(opcode->parts[i]);
    return opcode_type(opcode);
}

/* Halves are only added, and words of 16 bits only compared. */
static bool is_atomic_known(enum atomic_op op, int kind)
{
    bool is_float = kind >= NUMBER_F32 && kind <= NUMBER_BF16X2;

    if (kind == NUMBER_U16)
        return op == ATOMIC_CAS;
    return !is_float || op == ATOMIC_ADD;
}

static int take_values(struct decoder *d, const struct operand *o, int count, bool is_to, int bits,
                       uint32_t *rows)
{
    if (!o || o->kind != OPERAND_VECTOR || o->count != count)
        return decode_refuse(d, "another number of registers than the vector has");
    for (int i = 0; i < count; i++) {
        const struct operand *item = &o->items[i];

        if (!take(is_to ? decode_destination(d, item, bits) : decode_source(d, item, bits),
                  &rows[i]))
            return -1;
    }
    return 0;
}

/* atom.global.v2.f32.add {d0, d1}, [a], {b0, b1}: sm_90 */
static int decode_atomic_vector(struct decoder *d, int first, int bits)
{
    struct atomic_vector *v = arena_alloc(d->module->arena, sizeof *v);
    struct insn *in = d->insn;

    if (!v)
        return err_set(d->err, ERR_ResourceError, "out of memory while the PTX was decoded");
    v->count = opcode_has(&d->opcode, "v8") ? 8 : opcode_has(&d->opcode, "v4") ? 4 : 2;
    v->bytes = bits / 8;
    if (in->memory != ATOMIC_ADD || in->vector < NUMBER_F32 || v->count * v->bytes > 16)
        return decode_refuse(d, "an atomic that is not executed");
    in->full = in->masked = exec_atomic_vector;
    in->extra = v;
    for (int i = 0; i < v->count; i++)
        v->d[i] = d->sink;
    if (decode_address(d, decode_operand(d, first)) < 0 ||
        take_values(d, decode_operand(d, first + 1), v->count, false, bits, v->b) < 0)
        return -1;
    return first ? take_values(d, decode_operand(d, 0), v->count, true, bits, v->d) : 0;
}

/* atomicAdd(&n, 0) and atomicOr(&n, 0) are how a loop waits without volatile. */
static bool changes_nothing(enum atomic_op op, const struct operand *by)
{
    return (op == ATOMIC_ADD || op == ATOMIC_OR) && by && by->kind == OPERAND_INT && !by->value;
}

/* atom{.sem}{.scope}{.space}.OP.type d, [a], b{, c}; red has no d. */
int decode_atomic(struct decoder *d)
{
    static const struct {
        const char *name;
        enum atomic_op op;
    } OPS[] = {
#define X(id, name) { name, ATOMIC_##id },
        ATOMIC_OPS(X)
#undef X
    };
    struct insn *in = d->insn;
    struct type type = atomic_type(&d->opcode);
    bool is_red = bytes_equal(d->opcode.parts[0], "red");
    int first = is_red ? 0 : 1, kind = number_kind_of(type);
    const struct operand *to = is_red ? NULL : decode_operand(d, 0);
    size_t op = 0;
    int64_t row;

    while (op < COUNT(OPS) && !opcode_has(&d->opcode, OPS[op].name))
        op++;
    if (op == COUNT(OPS) || kind < 0 || !is_atomic_known(OPS[op].op, kind))
        return decode_refuse(d, "an atomic that is not executed");
    in->full = in->masked = exec_atomic;
    in->space = (uint8_t)decode_space(&d->opcode);
    in->latency = LAT_ATOM;
    in->memory = (uint8_t)OPS[op].op;
    in->vector = (uint8_t)kind;
    in->flags = INSN_WRITES | INSN_ATOMIC;
    if (OPS[op].op == ATOMIC_CAS || OPS[op].op == ATOMIC_EXCH)
        in->flags |= INSN_VOLATILE;
    else if (to && changes_nothing(OPS[op].op, decode_operand(d, first + 1)))
        in->flags |= INSN_LOOKS;
    if (in->space != SPACE_SHARED)
        in->flags |= INSN_ORDERED;
    in->option = type.bits == 64 ? ACCESS_WIDE_ROWS : 0;
    count_access(d);
    if (opcode_has(&d->opcode, "v2") || opcode_has(&d->opcode, "v4") ||
        opcode_has(&d->opcode, "v8"))
        return decode_atomic_vector(d, first, type.bits);
    if (decode_address(d, decode_operand(d, first)) < 0)
        return -1;
    row = decode_source(d, decode_operand(d, first + 1), type.bits);
    if (row < 0)
        return -1;
    in->b = (uint32_t)row;
    if (OPS[op].op == ATOMIC_CAS) {
        row = decode_source(d, decode_operand(d, first + 2), type.bits);
        if (row < 0)
            return -1;
        in->c = (uint32_t)row;
    }
    row = to ? decode_destination(d, to, type.bits) : (int64_t)d->sink;
    in->d = (uint32_t)row;
    return row < 0 ? -1 : 0;
}

/* ---- Calls ---------------------------------------------------------------------------------- */

static int take_areas(struct decoder *d, const struct operand *list, const struct area **out,
                      int *count)
{
    struct area *areas;

    *count = list ? list->count : 0;
    areas = arena_array(d->module->arena, (size_t)*count, sizeof *areas);
    if (!areas)
        return err_set(d->err, ERR_ResourceError, "out of memory while the PTX was decoded");
    for (int i = 0; i < *count; i++) {
        struct symbol *s = list->items[i].symbol;

        if (!s || s->kind != SYMBOL_VARIABLE || s->space != SPACE_PARAM)
            return decode_refuse(d, "an argument that is no .param variable");
        areas[i] = decode_area(d, s);
    }
    *out = areas;
    return 0;
}

static int check_shape(struct decoder *d, const struct call *call)
{
    const struct ast_function *f = call->callee->ast;

    if (call->argument_count != f->parameter_count || call->result_count != f->result_count)
        return decode_refuse(d, "a call with other arguments than the function has");
    for (int i = 0; i < f->parameter_count; i++)
        if (call->arguments[i].words !=
            (int)ceil_div(max_i64((int64_t)f->parameters[i]->size, 1), 4))
            return decode_refuse(d, "an argument of another size than the parameter");
    for (int i = 0; i < f->result_count; i++)
        if (call->results[i].words != (int)ceil_div(max_i64((int64_t)f->results[i]->size, 1), 4))
            return decode_refuse(d, "a result of another size than the function's");
    return 0;
}

static bool has_words(const struct area *areas, int count, const char *words)
{
    if ((size_t)count != strlen(words))
        return false;
    for (int i = 0; i < count; i++)
        if (areas[i].words != words[i] - '0')
            return false;
    return true;
}

/* A function that no PTX has: printf and its like run here, others are refused by name. */
static int decode_system(struct decoder *d, const struct call *call, const char *name)
{
    const struct system_function *f = system_find(name);
    const char *reason = system_refusal(name);
    struct insn *in = d->insn;
    char why[200];

    if (!f) {
        snprintf(why, sizeof why, "%.80s: %s", name,
                 reason ? reason
                        : "it is not defined, and is none of the functions that are known");
        return decode_refuse(d, why);
    }
    if (!has_words(call->arguments, call->argument_count, f->arguments) ||
        (call->result_count && !has_words(call->results, call->result_count, f->result)))
        return decode_refuse(d, "a call with other arguments than the function has");
    set_exec(in, f->exec, LAT_GLOBAL);
    in->control = CONTROL_NONE;
    in->flags |= f->is_ordered ? INSN_ORDERED : 0;
    d->module->has_heap |= f->is_heap;
    return 0;
}

/* call{.uni} {(result),} name-or-register {, (arguments)} {, prototype} */
int decode_call(struct decoder *d)
{
    struct call *call = arena_alloc(d->module->arena, sizeof *call);
    const struct operand *first = decode_operand(d, 0), *arguments, *callee;
    bool has_result = first && first->kind == OPERAND_LIST;
    struct insn *in = d->insn;
    int64_t row;

    if (!call)
        return err_set(d->err, ERR_ResourceError, "out of memory while the PTX was decoded");
    callee = decode_operand(d, has_result);
    arguments = decode_operand(d, has_result + 1);
    if (arguments && arguments->kind != OPERAND_LIST)
        arguments = NULL;
    if (in->guard_kind != GUARD_NONE)
        return decode_refuse(d, "a call under a predicate");
    in->control = CONTROL_CALL;
    in->latency = LAT_BRANCH;
    in->extra = call;
    if (take_areas(d, has_result ? first : NULL, &call->results, &call->result_count) < 0 ||
        take_areas(d, arguments, &call->arguments, &call->argument_count) < 0)
        return -1;
    if (callee && callee->kind == OPERAND_REGISTER) {
        row = decode_source(d, callee, 64);
        in->a = (uint32_t)row;
        return row < 0 ? -1 : 0;
    }
    if (!callee || callee->kind != OPERAND_SYMBOL || callee->symbol->kind != SYMBOL_FUNCTION)
        return decode_refuse(d, "a call of what is no function");
    if (!callee->symbol->body->is_defined)
        return decode_system(d, call, callee->symbol->name);
    call->callee = &d->module->functions[callee->symbol->body->index];
    return check_shape(d, call);
}
