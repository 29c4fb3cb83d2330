/*
 * Which accesses to shared memory cannot race, whatever runs: found in the code, once.
 *
 * Between two barriers of all threads, a thread executes what can be reached from the first without
 * passing another. All threads stand between the same two (barriers at different places are a fault
 * of their own). So an access races only with what is reached from a barrier that reaches it too,
 * and where none of that writes the same variable, it cannot race: the inner loop of a tiled matrix
 * product reads tiles that are written on the other side of a barrier.
 *
 * Here too: accesses that order others. An atomic exchange or compare-and-swap is taken as a lock,
 * an atomic whose result is used beside a fence as a ticket, and a volatile read in a loop as
 * waiting for a flag.
 */
#include "model/ptx/async.h"
#include "model/ptx/shadow.h"
#include "model/ptx/sync.h"

#include <stdlib.h>

/* Barriers times blocks that are walked at most; beyond, every access may race. */
#define MOST_STEPS ((int64_t)20 << 20)

struct phases {
    struct ptx_module *module;
    struct function *f;
    bool *is_seen; /* by block */
    int *stack;
    int *reached; /* accesses, by instruction */
    int reached_count;
    bool has_unknown; /* a call, which may write anything */
    bool *written;    /* by shared variable plus 1; [0]: some that is not known */
};

static bool is_barrier(const struct insn *in)
{
    return in->full == exec_barrier && in->guard_kind == GUARD_NONE &&
           in->option & BARRIER_ALIGNED && !(in->option & BARRIER_COUNTS);
}

static bool is_shared(const struct insn *in)
{
    return in->counter >= 0 && (in->space == SPACE_SHARED || in->space == SPACE_GENERIC);
}

static int block_after(const struct function *f, const struct insn *in)
{
    for (int i = 0; i < f->block_count; i++)
        if (in >= f->blocks[i].first && in < f->blocks[i].end)
            return i;
    return -1;
}

/* Adds accesses from `in` to the end of its block. False: a barrier ends the way. */
static bool walk(struct phases *p, const struct block *b, const struct insn *in)
{
    for (; in < b->end; in++) {
        if (is_barrier(in))
            return false;
        if (is_shared(in))
            p->reached[p->reached_count++] = (int)(in - p->f->insns);
    }
    p->has_unknown |= b->kind == END_CALL;
    return true;
}

static void push(struct phases *p, int *n, int block)
{
    if (block < 0 || block >= p->f->block_count || p->is_seen[block])
        return;
    p->is_seen[block] = true;
    p->stack[(*n)++] = block;
}

static void push_next(struct phases *p, int *n, const struct block *b)
{
    if (b->kind == END_RETURN || b->kind == END_EXIT)
        return;
    push(p, n, b->next);
    if (b->kind == END_BRANCH)
        push(p, n, b->target);
}

/* Everything between here and the next barriers. */
static void reach(struct phases *p, int block, const struct insn *from)
{
    int n = 0;

    memset(p->is_seen, 0, (size_t)p->f->block_count);
    p->reached_count = 0;
    p->has_unknown = false;
    if (from) {
        if (walk(p, &p->f->blocks[block], from))
            push_next(p, &n, &p->f->blocks[block]);
    } else {
        push(p, &n, block);
    }
    while (n) {
        const struct block *b = &p->f->blocks[p->stack[--n]];

        if (walk(p, b, b->first))
            push_next(p, &n, b);
    }
}

/* 0: any variable, or memory that may not be shared at all. */
static int variable_of(const struct phases *p, const struct insn *in)
{
    const struct base *b = &p->module->bases[in->base];

    return b->kind == BASE_SHARED ? (int)b->at + 1 : 0;
}

/* Global memory through a pointer that the code shows to be one. */
static bool is_elsewhere(const struct phases *p, const struct insn *in)
{
    enum base_kind kind = p->module->bases[in->base].kind;

    return in->space == SPACE_GENERIC && (kind == BASE_PARAMETER || kind == BASE_VARIABLE);
}

/* What was reached may race where some of it writes the same variable. */
static void mark(struct phases *p, bool is_after_call)
{
    bool is_any = p->has_unknown || is_after_call;

    memset(p->written, 0, (size_t)p->module->shared_count + 1);
    for (int i = 0; i < p->reached_count; i++) {
        const struct insn *in = &p->f->insns[p->reached[i]];

        if (!(in->flags & INSN_WRITES) || is_elsewhere(p, in))
            continue;
        p->written[variable_of(p, in)] = true;
        is_any = true;
    }
    for (int i = 0; i < p->reached_count && is_any; i++) {
        struct insn *in = &p->f->insns[p->reached[i]];
        int variable = variable_of(p, in);

        if (is_elsewhere(p, in))
            continue;
        if (!variable || p->written[variable] || p->written[0] || p->has_unknown || is_after_call)
            in->checks &= (uint8_t)~CHECK_NO_RACE;
    }
}

/* Starts at the entry, behind each barrier, and behind each call. */
static void mark_all(struct phases *p)
{
    struct function *f = p->f;

    reach(p, 0, NULL);
    mark(p, false);
    for (int i = 0; i < f->block_count; i++) {
        const struct block *b = &f->blocks[i];

        for (const struct insn *in = b->first; in < b->end; in++) {
            if (!is_barrier(in))
                continue;
            reach(p, i, in + 1);
            mark(p, false);
        }
        if (b->kind == END_CALL) {
            reach(p, b->next, NULL);
            mark(p, true);
        }
    }
}

/* ---- What orders ---------------------------------------------------------------------------- */

static bool is_fence(const struct insn *in)
{
    return !strncmp(in->spelling, "membar", 6) || !strncmp(in->spelling, "fence", 5);
}

/* The block can be reached from itself. */
static bool is_in_loop(struct phases *p, int block)
{
    int n = 0;

    memset(p->is_seen, 0, (size_t)p->f->block_count);
    push_next(p, &n, &p->f->blocks[block]);
    while (n)
        push_next(p, &n, &p->f->blocks[p->stack[--n]]);
    return p->is_seen[block];
}

static bool is_result_used(const struct insn *in)
{
    return !strncmp(in->spelling, "atom", 4);
}

static void find_orders(struct phases *p, bool has_fence)
{
    for (int i = 0; i < p->f->insn_count; i++) {
        struct insn *in = &p->f->insns[i];
        bool is_lock =
            in->full == exec_atomic && (in->memory == ATOMIC_CAS || in->memory == ATOMIC_EXCH);

        if (in->counter < 0)
            continue;
        if (in->flags & INSN_ATOMIC) {
            if (is_lock || (has_fence && is_result_used(in)))
                in->checks |= CHECK_ORDERS;
        } else if (in->flags & INSN_VOLATILE) {
            if (in->flags & INSN_WRITES || is_in_loop(p, block_after(p->f, in)))
                in->checks |= CHECK_ORDERS;
        }
    }
}

/* ---- A module ------------------------------------------------------------------------------- */

static bool has_fences(const struct ptx_module *m)
{
    for (int i = 0; i < m->ast.function_count; i++)
        for (int k = 0; k < m->functions[i].insn_count; k++)
            if (is_fence(&m->functions[i].insns[k]))
                return true;
    return false;
}

static int access_bytes(const struct insn *in)
{
    if (in->flags & INSN_ATOMIC)
        return 4;
    return ACCESS_KIND_BYTES[in->memory];
}

/* At first nothing is known to race; device functions stay unknown. */
static int64_t begin(struct ptx_module *m, struct function *f)
{
    int64_t starts = 1; /* far above MOST_STEPS: nothing is known */

    for (int k = 0; k < f->insn_count; k++) {
        struct insn *in = &f->insns[k];

        if (is_async(in)) /* what happens between two barriers is not only what stands there */
            starts = INT32_MAX;
        starts += is_barrier(in) || in->control == CONTROL_CALL;
        if (is_shared(in) && f->is_entry)
            in->checks |= CHECK_NO_RACE;
        if (is_shared(in) && in->full != exec_atomic)
            m->has_narrow_shared |= access_bytes(in) < 4;
    }
    return starts * f->block_count;
}

int phases_find(struct ptx_module *module, struct err *err)
{
    bool has_fence = has_fences(module);

    for (int i = 0; i < module->ast.function_count; i++) {
        struct function *f = &module->functions[i];
        struct arena *scratch = f->is_defined ? arena_new(0) : NULL;
        struct phases p = { .module = module, .f = f };
        int64_t steps;

        if (!f->is_defined)
            continue;
        if (scratch) {
            p.is_seen = arena_array(scratch, (size_t)f->block_count + 1, 1);
            p.stack = arena_array(scratch, (size_t)f->block_count + 1, sizeof *p.stack);
            p.written = arena_array(scratch, (size_t)module->shared_count + 1, 1);
            p.reached = arena_array(scratch, 2U * (size_t)f->insn_count + 1, sizeof *p.reached);
        }
        if (!p.is_seen || !p.stack || !p.reached || !p.written) {
            arena_free(&scratch);
            return err_set(err, ERR_ResourceError, "out of memory while the PTX was decoded");
        }
        steps = begin(module, f);
        find_orders(&p, has_fence);
        if (f->is_entry && steps <= MOST_STEPS)
            mark_all(&p);
        for (int k = 0; k < f->insn_count; k++) {
            struct insn *in = &f->insns[k];

            if (is_shared(in) && f->is_entry && steps > MOST_STEPS)
                in->checks &= (uint8_t)~CHECK_NO_RACE;
            module->has_racing |=
                is_shared(in) && !is_elsewhere(&p, in) && !(in->checks & CHECK_NO_RACE);
        }
        arena_free(&scratch);
    }
    return 0;
}
