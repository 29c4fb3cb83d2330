/*
 * Which code asks for blocks to run in order.
 *
 * Blocks may run side by side when nothing shows in which order they ran (footprint.c). An atomic
 * shows it by its result, unless nobody looks at that: then those on integers commute, and those on
 * floats can be done later. The compiler leaves `atom` with a result that is not used, so the code
 * must be asked whether the register is ever read.
 */
#include "model/ptx/internal.h"

#include <stdlib.h>

static void mark_reads(const struct function *f, uint8_t *is_read, bool *is_known)
{
    for (int i = 0; i < f->insn_count; i++) {
        const struct deps *deps = f->insns[i].deps;

        if (deps->read_count == MAX_DEPS)
            *is_known = false; /* there may have been more */
        for (int k = 0; k < deps->read_count; k++)
            is_read[deps->reads[k] / 4] = 1;
    }
}

/* insn.memory and insn.vector of an atomic: does it matter who comes first? */
static int merging_of(const struct insn *in)
{
    bool is_float = in->vector == NUMBER_F32 || in->vector == NUMBER_F64 ||
                    in->vector == NUMBER_F16X2 || in->vector == NUMBER_BF16X2;

    switch ((enum atomic_op)in->memory) {
    case ATOMIC_ADD:
        return is_float ? INSN_DEFERS : in->vector <= NUMBER_S64 ? INSN_COMMUTES : 0;
    case ATOMIC_MIN:
    case ATOMIC_MAX:
    case ATOMIC_AND:
    case ATOMIC_OR:
    case ATOMIC_XOR:
        return in->vector <= NUMBER_S64 ? INSN_COMMUTES : 0;
    default:
        return 0;
    }
}

int order_find(struct function *f, struct err *err)
{
    uint8_t *is_read = calloc(f->frame_bytes / 4 + 1, 1);
    bool is_known = true;

    if (!is_read)
        return err_set(err, ERR_ResourceError, "out of memory while the PTX was decoded");
    mark_reads(f, is_read, &is_known);
    for (int i = 0; i < f->insn_count; i++) {
        struct insn *in = &f->insns[i];
        int merging = in->full == exec_atomic ? merging_of(in) : 0;

        if (!merging || !is_known || is_read[in->d / 4])
            continue;
        in->flags = (uint8_t)((in->flags & ~INSN_ORDERED) | merging);
    }
    free(is_read);
    return 0;
}

bool order_matters(const struct run *run)
{
    const struct ptx_module *m = run->module;

    for (int i = 0; i < m->ast.function_count; i++) {
        const struct function *f = &m->functions[i];

        if (!run->is_reached[i])
            continue;
        for (int k = 0; k < f->insn_count; k++)
            if (f->insns[k].flags & INSN_ORDERED)
                return true;
    }
    return false;
}
