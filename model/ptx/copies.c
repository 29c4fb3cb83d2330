/*
 * Moves that need not run.
 *
 * Compiled code fetches parameters, block and thread numbers into registers before it uses them: 10
 * of the 23 instructions of vectorAdd. Their values stand in rows of the frame already (frame.c),
 * and stay there. So where a register is written once, by a move from such a row, its readers are
 * pointed at the row, and the move is passed over. It still counts as an instruction: blocks are
 * counted whole, and the timing model has what the instructions depend on from before (insn.deps).
 */
#include "model/ptx/internal.h"

enum { SLOT_BYTES = 4, MOST_SKIPPED = UINT8_MAX };

struct search {
    struct function *f;
    exec_fn *move32, *move64;
    uint32_t *source; /* by slot of the frame: the row that it copies, and one; 0: none */
    uint8_t *writes;  /* by slot: how many instructions write it, up to 2 */
    bool *is_fixed, *is_needed;
};

static int fail_memory(struct err *err)
{
    return err_set(err, ERR_ResourceError, "out of memory while the PTX was decoded");
}

/* False where an instruction may touch more rows than are listed. */
static bool count_writes(struct search *s)
{
    const struct function *f = s->f;

    for (int i = 0; i < f->insn_count; i++) {
        const struct deps *deps = f->insns[i].deps;

        if (deps->read_count == MAX_DEPS || deps->write_count == MAX_DEPS)
            return false;
        for (int k = 0; k < deps->write_count; k++)
            s->writes[deps->writes[k] / SLOT_BYTES] += s->writes[deps->writes[k] / SLOT_BYTES] < 2;
    }
    for (int i = 0; i < f->fixed_count; i++)
        s->is_fixed[f->fixed[i].row / SLOT_BYTES] = true;
    return true;
}

static uint32_t source_of(const struct search *s, uint32_t row)
{
    uint32_t source = s->source[row / SLOT_BYTES];

    return source ? source - 1 : row;
}

static bool is_copy(const struct search *s, const struct insn *in)
{
    return (in->full == s->move32 || in->full == s->move64) && in->guard_kind == GUARD_NONE &&
           !in->locals && in->deps->write_count == 1 && in->deps->writes[0] == in->d &&
           s->writes[in->d / SLOT_BYTES] == 1;
}

static void find_copies(struct search *s)
{
    for (int i = 0; i < s->f->insn_count; i++) {
        const struct insn *in = &s->f->insns[i];
        uint32_t source = source_of(s, in->a);

        if (is_copy(s, in) && s->is_fixed[source / SLOT_BYTES])
            s->source[in->d / SLOT_BYTES] = source + 1;
    }
}

/* The rows that an instruction reads, where they can be others; 0: they cannot. */
static int sources_of(struct insn *in, uint32_t *rows[3 + MAX_VECTOR])
{
    bool is_memory = in->counter >= 0 && (in->masked == exec_load || in->masked == exec_store);
    int n = 0;

    if (in->locals || (!in->sources && !is_memory))
        return 0;
    rows[n++] = &in->a;
    if (in->sources > 1)
        rows[n++] = &in->b;
    if (in->sources > 2)
        rows[n++] = &in->c;
    for (int i = 0; in->masked == exec_store && i < in->vector; i++)
        rows[n++] = &in->rows[i];
    return n;
}

/* Points an instruction at what was copied; copies that it cannot do without are needed. */
static void redirect(struct search *s, struct insn *in)
{
    uint32_t *rows[3 + MAX_VECTOR];
    int n = sources_of(in, rows);

    for (int i = 0; i < n; i++)
        *rows[i] = source_of(s, *rows[i]);
    for (int k = 0; k < in->deps->read_count && !n; k++)
        s->is_needed[in->deps->reads[k] / SLOT_BYTES] = true;
}

static void drop_copies(struct search *s)
{
    for (int i = 0; i < s->f->insn_count; i++) {
        struct insn *in = &s->f->insns[i];

        if (is_copy(s, in) && s->source[in->d / SLOT_BYTES] && !s->is_needed[in->d / SLOT_BYTES])
            in->full = in->masked = exec_nop;
    }
}

/* Blocks start behind what is passed over, and each instruction leads to the next that runs. */
static void link(struct function *f)
{
    for (int i = 0; i < f->block_count; i++) {
        struct block *b = &f->blocks[i];
        struct insn *insns = f->insns + (b->first - f->insns);
        int n = (int)(b->end - b->first), skipped = 0;

        for (int k = n - 1; k >= 0; k--) {
            bool is_idle = insns[k].full == exec_nop && insns[k].guard_kind == GUARD_NONE;

            insns[k].skip = (uint8_t)skipped;
            skipped = is_idle && skipped < MOST_SKIPPED ? skipped + 1 : 0;
        }
        b->start = b->first + skipped;
    }
}

static int find_in(struct ptx_module *m, struct function *f, struct arena *scratch)
{
    size_t slots = f->frame_bytes / SLOT_BYTES + 1;
    struct search s = { .f = f,
                        .move32 = ops_find(m->ops, "mov.b32")->full,
                        .move64 = ops_find(m->ops, "mov.b64")->full,
                        .source = arena_array(scratch, slots, sizeof *s.source),
                        .writes = arena_array(scratch, slots, sizeof *s.writes),
                        .is_fixed = arena_array(scratch, slots, sizeof *s.is_fixed),
                        .is_needed = arena_array(scratch, slots, sizeof *s.is_needed) };

    if (!s.source || !s.writes || !s.is_fixed || !s.is_needed)
        return -1;
    if (count_writes(&s)) {
        find_copies(&s);
        for (int i = 0; i < f->insn_count; i++)
            redirect(&s, &f->insns[i]);
        drop_copies(&s);
    }
    link(f);
    return 0;
}

int copies_find(struct ptx_module *m, struct err *err)
{
    for (int i = 0; i < m->ast.function_count; i++) {
        struct arena *scratch = m->functions[i].is_defined ? arena_new(0) : NULL;
        int rc = scratch ? find_in(m, &m->functions[i], scratch) : 0;

        arena_free(&scratch);
        if (rc < 0)
            return fail_memory(err);
    }
    return 0;
}
