/*
 * Loads that are only the first guess of a compare-and-swap.
 *
 * "old = *p; do { seen = old; old = atomicCAS(p, seen, f(seen)); } while (old != seen);" is how the
 * CUDA C++ Programming Guide makes an atomic out of any function. Its first read races with the
 * exchanges of others, and does no harm: a wrong guess is found out and the loop goes round. So the
 * compared operand of every compare-and-swap is followed back through moves to the loads that feed
 * it; of a debug build, in which atomicCAS is a function, through its arguments.
 */
#include "model/ptx/shadow.h"

#include <stdlib.h>

enum { SLOT_BYTES = 4, WRAPPERS = 3 /* functions around a compare-and-swap */ };

static bool is_swap(const struct insn *in)
{
    return insn_exec(in) == exec_atomic && in->memory == ATOMIC_CAS;
}

/* A debug build's atomicCAS calls another function, which does it. */
static bool calls_swap(const struct insn *in, int depth)
{
    const struct call *call = in->control == CONTROL_CALL ? in->extra : NULL;
    const struct function *callee = call ? call->callee : NULL;

    for (int i = 0; callee && depth && i < callee->insn_count; i++)
        if (is_swap(&callee->insns[i]) || calls_swap(&callee->insns[i], depth - 1))
            return true;
    return false;
}

static bool is_move(const struct insn *in)
{
    return !strncmp(in->spelling, "mov.", 4) || !strncmp(in->spelling, "st.param.", 9) ||
           !strncmp(in->spelling, "ld.param.", 9);
}

static bool feed(bool *feeds, uint32_t row)
{
    bool is_new = !feeds[row / SLOT_BYTES];

    feeds[row / SLOT_BYTES] = true;
    return is_new;
}

static void begin(const struct function *f, bool *feeds)
{
    for (int i = 0; i < f->insn_count; i++) {
        const struct insn *in = &f->insns[i];
        const struct call *call = in->extra;

        if (is_swap(in))
            feed(feeds, in->b);
        if (!calls_swap(in, WRAPPERS))
            continue;
        for (int k = 0; k < call->argument_count; k++)
            feed(feeds, call->arguments[k].row);
    }
}

static bool writes_any(const struct insn *in, const bool *feeds)
{
    uint32_t word = insn_exec(in) == exec_param_store
                        ? in->a + (uint32_t)(in->offset / SLOT_BYTES) * ROW32
                        : in->d;

    if (!strncmp(in->spelling, "st.param.", 9) && feeds[word / SLOT_BYTES])
        return true;
    for (int k = 0; k < in->deps->write_count; k++)
        if (feeds[in->deps->writes[k] / SLOT_BYTES])
            return true;
    return false;
}

static bool follow(const struct function *f, bool *feeds)
{
    bool has_changed = false;

    for (int i = f->insn_count - 1; i >= 0; i--) {
        const struct insn *in = &f->insns[i];

        if (!is_move(in) || !writes_any(in, feeds))
            continue;
        for (int k = 0; k < in->deps->read_count; k++)
            has_changed |= feed(feeds, in->deps->reads[k]);
    }
    return has_changed;
}

static void mark(struct function *f, const bool *feeds)
{
    for (int i = 0; i < f->insn_count; i++) {
        struct insn *in = &f->insns[i];

        if (in->counter >= 0 && !(in->flags & INSN_WRITES) && in->vector == 1 &&
            writes_any(in, feeds))
            in->checks |= CHECK_SEEDS;
    }
}

int seeds_find(struct ptx_module *module, struct err *err)
{
    for (int i = 0; i < module->ast.function_count; i++) {
        struct function *f = &module->functions[i];
        bool *feeds;

        if (!f->is_defined)
            continue;
        feeds = calloc(f->frame_bytes / SLOT_BYTES + 1, sizeof *feeds);
        if (!feeds)
            return err_set(err, ERR_ResourceError, "out of memory while the PTX was decoded");
        begin(f, feeds);
        while (follow(f, feeds))
            ;
        mark(f, feeds);
        free(feeds);
    }
    return 0;
}
