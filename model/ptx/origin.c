/*
 * What an address was made from.
 *
 * A kernel that runs past x far enough lands in y, and no red zone between the two can tell. But
 * the code can: the address was made by adding to a pointer that came as the parameter x. This file
 * follows each register back to where its values come from, once, when the code is decoded. A
 * register that holds pointers of several origins, or one that was loaded, is not known, and its
 * accesses are checked against all allocations instead.
 *
 * Method: a data-flow analysis without order. Each row starts with nothing; what an instruction
 * gives its result is joined to what the row had, until nothing changes. A value goes up at most
 * twice (nothing, one origin or a number, unknown), so few passes are enough.
 */
#include "model/ptx/internal.h"

#include <stdlib.h>

/* What a row holds. Higher numbers are indices into ptx_module.bases, plus ORIGIN_FIRST. */
enum { ORIGIN_NOTHING, ORIGIN_NUMBER, ORIGIN_UNKNOWN, ORIGIN_FIRST };

enum { MAX_BASES = UINT16_MAX, SLOT_BYTES = 4 };

/* How an instruction makes its result. */
enum making {
    MAKE_NUMBER,  /* whatever comes in, a number comes out */
    MAKE_UNKNOWN, /* loaded, returned, or put together from parts */
    MAKE_COPY,    /* a */
    MAKE_SUM,     /* a + b */
    MAKE_SUM3,    /* a * b + c */
    MAKE_EITHER,  /* a or b */
};

static const struct {
    const char *prefix;
    enum making making;
} MAKINGS[] = {
    { "mov.b", MAKE_COPY },       { "mov.u", MAKE_COPY },     { "mov.s", MAKE_COPY },
    { "cvta", MAKE_COPY },        { "ld.param.", MAKE_COPY }, { "cvt.u64.u32", MAKE_COPY },
    { "cvt.u32.u64", MAKE_COPY }, { "add.s", MAKE_SUM },      { "add.u", MAKE_SUM },
    { "sub.s", MAKE_SUM },        { "sub.u", MAKE_SUM },      { "and.b", MAKE_SUM },
    { "or.b", MAKE_SUM },         { "xor.b", MAKE_SUM },      { "mad.lo.", MAKE_SUM3 },
    { "mad.wide.", MAKE_SUM3 },   { "selp.", MAKE_EITHER },   { "min.u64", MAKE_EITHER },
    { "max.u64", MAKE_EITHER },   { "min.s64", MAKE_EITHER }, { "max.s64", MAKE_EITHER },
    { "ld.", MAKE_UNKNOWN },      { "ldu.", MAKE_UNKNOWN },   { "atom.", MAKE_UNKNOWN },
    { "shfl.", MAKE_UNKNOWN },    { "slct.", MAKE_UNKNOWN },  { "prmt.", MAKE_UNKNOWN },
    { "match.", MAKE_NUMBER },
};

struct flow {
    struct ptx_module *module;
    const struct function *f;
    int *rows;        /* by offset / SLOT_BYTES */
    uint8_t *makings; /* by instruction */
    bool has_changed;
};

static int *row_at(struct flow *flow, uint32_t row)
{
    return &flow->rows[row / SLOT_BYTES];
}

static int either(int a, int b)
{
    if (a == b || b == ORIGIN_NOTHING)
        return a;
    return a == ORIGIN_NOTHING ? b : ORIGIN_UNKNOWN;
}

/* A pointer and a number make a pointer; two pointers make nothing that could be followed. */
static int sum(int a, int b)
{
    if (a == ORIGIN_NOTHING || b == ORIGIN_NOTHING)
        return ORIGIN_NOTHING; /* not known yet */
    if (a == ORIGIN_NUMBER)
        return b;
    return b == ORIGIN_NUMBER ? a : ORIGIN_UNKNOWN;
}

static void give(struct flow *flow, uint32_t row, int value)
{
    int *at = row_at(flow, row), joined = either(*at, value);

    flow->has_changed |= joined != *at;
    *at = joined;
}

static enum making making_of(const struct insn *in)
{
    bool is_loop_carried =
        in->full == exec_pack || in->full == exec_unpack || in->full == exec_move_wide;

    if (is_loop_carried)
        return MAKE_UNKNOWN;
    if (in->full == exec_param_load || in->control == CONTROL_CALL)
        return MAKE_UNKNOWN;
    if (in->full == exec_load && in->vector == 1 && !(in->option & ACCESS_WIDE_ROWS))
        return MAKE_NUMBER; /* 32 bits: an index; a shared address is not kept in memory */
    if (in->full == exec_load)
        return MAKE_UNKNOWN;
    for (size_t i = 0; i < COUNT(MAKINGS); i++)
        if (!strncmp(in->spelling, MAKINGS[i].prefix, strlen(MAKINGS[i].prefix)))
            return MAKINGS[i].making;
    return MAKE_NUMBER;
}

static void follow(struct flow *flow, int i)
{
    const struct insn *in = &flow->f->insns[i];
    enum making making = flow->makings[i];
    int value = ORIGIN_NUMBER;

    if (making == MAKE_UNKNOWN)
        value = ORIGIN_UNKNOWN;
    else if (making == MAKE_COPY)
        value = *row_at(flow, in->a);
    else if (making == MAKE_SUM)
        value = sum(*row_at(flow, in->a), *row_at(flow, in->b));
    else if (making == MAKE_SUM3)
        value = *row_at(flow, in->c);
    else if (making == MAKE_EITHER)
        value = either(*row_at(flow, in->a), *row_at(flow, in->b));
    if (making == MAKE_NUMBER || making == MAKE_UNKNOWN)
        for (int k = 0; k < in->deps->write_count; k++)
            give(flow, in->deps->writes[k], value);
    else
        give(flow, in->d, value);
}

/* ---- Where it begins ------------------------------------------------------------------------ */

static int base_index(struct ptx_module *m, enum base_kind kind, int function, uint64_t at)
{
    for (int i = 1; i < m->base_count; i++)
        if (m->bases[i].kind == kind && m->bases[i].function == function && m->bases[i].at == at)
            return i;
    if (m->base_count > MAX_BASES - 1)
        return -1;
    if ((m->base_count & (m->base_count - 1)) == 0) { /* full: twice as large */
        struct base *larger = arena_array(m->arena, 2U * (size_t)m->base_count, sizeof *larger);

        if (!larger)
            return -1;
        memcpy(larger, m->bases, (size_t)m->base_count * sizeof *larger);
        m->bases = larger;
    }
    m->bases[m->base_count] = (struct base){ .kind = kind, .function = function, .at = at };
    return m->base_count++;
}

static int origin_of_fixed(struct flow *flow, const struct fixed_row *f)
{
    int base = -1;

    if (f->special == SPECIAL_PARAM && f->bytes == 8)
        base = base_index(flow->module, BASE_PARAMETER, flow->f->index, (uint32_t)f->value);
    else if (f->special == SPECIAL_SHARED)
        base = base_index(flow->module, BASE_SHARED, 0, (f->value >> 32) - 1);
    else if (f->special == SPECIAL_NONE && f->bytes == 8 && f->value >= VARIABLE_WINDOW &&
             f->value < SHARED_WINDOW)
        base = base_index(flow->module, BASE_VARIABLE, 0, f->value);
    else
        return f->special == SPECIAL_LOCAL ? ORIGIN_UNKNOWN : ORIGIN_NUMBER;
    return base < 0 ? ORIGIN_UNKNOWN : base + ORIGIN_FIRST;
}

static void begin_areas(struct flow *flow, const struct area *areas, int count)
{
    for (int i = 0; i < count; i++)
        for (int k = 0; k < areas[i].words; k++)
            *row_at(flow, areas[i].row + (uint32_t)k * ROW32) = ORIGIN_UNKNOWN;
}

static void begin(struct flow *flow)
{
    const struct function *f = flow->f;

    for (int i = 0; i < f->fixed_count; i++)
        *row_at(flow, f->fixed[i].row) = origin_of_fixed(flow, &f->fixed[i]);
    begin_areas(flow, f->parameters, f->is_entry ? 0 : f->parameter_count);
    for (int i = 0; i < f->insn_count; i++) {
        const struct call *call = f->insns[i].extra;

        flow->makings[i] = (uint8_t)making_of(&f->insns[i]);
        if (f->insns[i].control == CONTROL_CALL)
            begin_areas(flow, call->results, call->result_count);
    }
}

static bool is_access(const struct insn *in)
{
    return in->counter >= 0 && in->space != SPACE_LOCAL && in->space != SPACE_PARAM;
}

int origin_find(struct ptx_module *module, struct function *f, struct err *err)
{
    struct arena *scratch = arena_new(0);
    struct flow flow = { .module = module, .f = f, .has_changed = true };

    if (!module->bases) {
        module->bases = arena_alloc(module->arena, sizeof *module->bases);
        module->base_count = 1;
    }
    if (scratch) {
        flow.rows = arena_array(scratch, f->frame_bytes / SLOT_BYTES + 1, sizeof *flow.rows);
        flow.makings = arena_array(scratch, (size_t)f->insn_count + 1, 1);
    }
    if (!module->bases || !flow.rows || !flow.makings) {
        arena_free(&scratch);
        return err_set(err, ERR_ResourceError, "out of memory while the PTX was decoded");
    }
    begin(&flow);
    while (flow.has_changed) {
        flow.has_changed = false;
        for (int i = 0; i < f->insn_count; i++)
            follow(&flow, i);
    }
    for (int i = 0; i < f->insn_count; i++) {
        int origin = *row_at(&flow, f->insns[i].a);

        if (is_access(&f->insns[i]) && origin >= ORIGIN_FIRST)
            f->insns[i].base = (uint16_t)(origin - ORIGIN_FIRST);
    }
    arena_free(&scratch);
    return 0;
}

/* ---- At a launch ---------------------------------------------------------------------------- */

/* A pointer may stand one past the last element. */
static const struct region *region_at(const struct run *run, uint64_t address)
{
    const struct region *r = region_find(run, address);

    return r && address <= r->end ? r : NULL;
}

int origin_resolve(struct run *run, struct arena *arena)
{
    const struct ptx_module *m = run->module;
    const uint8_t *parameters = run->launch->parameters;

    run->base_regions = arena_array(arena, (size_t)m->base_count + 1, sizeof *run->base_regions);
    if (!run->base_regions)
        return -1;
    for (int i = 1; i < m->base_count; i++) {
        const struct base *b = &m->bases[i];
        uint64_t address = b->at;

        if (b->kind == BASE_SHARED ||
            (b->kind == BASE_PARAMETER && b->function != run->entry->index))
            continue;
        if (b->kind == BASE_PARAMETER)
            memcpy(&address, parameters + b->at, sizeof address);
        run->base_regions[i] = region_at(run, address);
    }
    return 0;
}
