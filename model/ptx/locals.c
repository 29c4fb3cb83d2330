/*
 * Local variables of a debug build that may be read before they have a value.
 *
 * In such code a scalar variable is a register, and one that is not assigned on every path is alive
 * where its function starts. So the registers that are alive there may have no value, and so may
 * what is moved from them: through moves, masks and shifts, selections, shuffles, arguments and
 * results of calls. Each gets a mark, a word with a bit a lane (exec_locals.c), and the
 * instructions that touch a mark are run under its eyes. Compilers copy variables at every join
 * whether they have a value or not: a copy is not a read.
 *
 * Code without -G is left alone, as are registers that CUDA's own headers leave open.
 */
#include "model/ptx/report.h"

enum { SLOT_BYTES = 4, MAX_TOUCHED = MAX_DEPS + 2 * MAX_VECTOR };

/* Analysis of one function. */
struct search {
    struct ptx_module *module;
    struct function *f;
    bool *maybe;  /* by slot of the frame: may have no value */
    int *mark_of; /* by slot: number of its mark, and one */
    int slot_count;
};

struct slots {
    int count;
    uint32_t rows[MAX_TOUCHED];
};

static int fail_memory(struct err *err)
{
    return err_set(err, ERR_ResourceError, "out of memory while the PTX was decoded");
}

/* ---- What an instruction touches ------------------------------------------------------------ */

static bool starts_with(const struct insn *in, const char *text)
{
    return !strncmp(in->spelling, text, strlen(text));
}

static void add(struct slots *s, uint32_t row)
{
    if (s->count < MAX_TOUCHED)
        s->rows[s->count++] = row;
}

/* The words of a .param variable that ld.param reads or st.param writes. */
static void add_words(struct slots *s, const struct insn *in)
{
    int bytes = in->memory == MEMORY_64    ? 8
                : in->memory >= MEMORY_U32 ? 4
                : in->memory >= MEMORY_U16 ? 2
                                           : 1;
    int64_t end = in->offset + (int64_t)bytes * in->vector;

    if (in->full == exec_param_load || in->full == exec_param_store)
        for (int64_t at = in->offset / 4; at * 4 < end; at++)
            add(s, in->a + (uint32_t)at * ROW32);
    else if (in->full != exec_load)
        add(s, in->flags & INSN_WRITES ? in->d : in->a);
}

static void reads_of(const struct insn *in, struct slots *s)
{
    s->count = 0;
    for (int k = 0; k < in->deps->read_count; k++)
        add(s, in->deps->reads[k]);
    if (starts_with(in, "ld.param"))
        add_words(s, in);
}

static void writes_of(const struct insn *in, struct slots *s)
{
    s->count = 0;
    for (int k = 0; k < in->deps->write_count; k++)
        add(s, in->deps->writes[k]);
    if (starts_with(in, "st.param"))
        add_words(s, in);
}

/* Conversions between integers move a small variable to where it is used. */
static enum local_kind kind_of(const struct insn *in)
{
    static const char *const MOVES[] = { "mov.",  "cvta.",    "and.",    "or.",  "xor.",
                                         "not.",  "shl.",     "shr.",    "bfe.", "bfi.",
                                         "prmt.", "ld.param", "st.param" };

    if (in->control == CONTROL_CALL)
        return LOCAL_CALLS;
    if (starts_with(in, "shfl."))
        return LOCAL_SHUFFLES;
    if (starts_with(in, "selp."))
        return LOCAL_SELECTS;
    if (starts_with(in, "cvt.") && !strstr(in->spelling, ".f") && !strstr(in->spelling, ".bf"))
        return LOCAL_MOVES;
    for (size_t i = 0; i < COUNT(MOVES); i++)
        if (starts_with(in, MOVES[i]))
            return LOCAL_MOVES;
    return LOCAL_LOOKS;
}

/* ---- Registers that are alive at the start -------------------------------------------------- */

struct liveness {
    const struct function *f;
    int *id; /* by slot: number of the register, and one; 0: none */
    int count, words;
    uint64_t *reads, *writes,
        *alive; /* by block: read before written; written; alive at its start */
};

static void name_register(struct liveness *l, uint32_t row)
{
    int *id = &l->id[row / SLOT_BYTES];

    if (!*id)
        *id = ++l->count;
}

static bool has_bit(const uint64_t *bits, int i)
{
    return bits[i / 64] >> i % 64 & 1;
}

static void set_bit(uint64_t *bits, int i)
{
    bits[i / 64] |= (uint64_t)1 << i % 64;
}

static void scan_insn(struct liveness *l, const struct insn *in, uint64_t *reads, uint64_t *writes)
{
    for (int k = 0; k < in->deps->read_count; k++) {
        int id = l->id[in->deps->reads[k] / SLOT_BYTES] - 1;

        if (id >= 0 && !has_bit(writes, id))
            set_bit(reads, id);
    }
    for (int k = 0; k < in->deps->write_count && in->guard_kind == GUARD_NONE; k++)
        set_bit(writes, l->id[in->deps->writes[k] / SLOT_BYTES] - 1);
}

static void scan_blocks(struct liveness *l)
{
    for (int i = 0; i < l->f->block_count; i++) {
        const struct block *b = &l->f->blocks[i];

        for (const struct insn *in = b->first; in < b->first + b->insn_count; in++)
            scan_insn(l, in, l->reads + (size_t)i * l->words, l->writes + (size_t)i * l->words);
    }
}

static bool update(struct liveness *l, int block)
{
    const struct block *b = &l->f->blocks[block];
    size_t at = (size_t)block * l->words;
    bool is_end = b->kind == END_RETURN || b->kind == END_EXIT, has_changed = false;

    for (int i = 0; i < l->words; i++) {
        uint64_t out = 0, in;

        if (!is_end)
            out = l->alive[(size_t)b->next * l->words + i];
        if (b->kind == END_BRANCH)
            out |= l->alive[(size_t)b->target * l->words + i];
        in = l->reads[at + i] | (out & ~l->writes[at + i]);
        has_changed |= in != l->alive[at + i];
        l->alive[at + i] = in;
    }
    return has_changed;
}

static int find_alive(struct search *s, struct arena *scratch)
{
    const struct function *f = s->f;
    struct liveness l = { .f = f };
    size_t size;
    bool has_changed = true;

    l.id = arena_array(scratch, (size_t)s->slot_count, sizeof *l.id);
    if (!l.id)
        return -1;
    for (int i = 0; i < f->insn_count; i++) {
        for (int k = 0; k < f->insns[i].deps->read_count; k++)
            name_register(&l, f->insns[i].deps->reads[k]);
        for (int k = 0; k < f->insns[i].deps->write_count; k++)
            name_register(&l, f->insns[i].deps->writes[k]);
    }
    l.words = l.count / 64 + 1;
    size = (size_t)(f->block_count + 1) * (size_t)l.words;
    l.reads = arena_array(scratch, size, sizeof *l.reads);
    l.writes = arena_array(scratch, size, sizeof *l.writes);
    l.alive = arena_array(scratch, size, sizeof *l.alive);
    if (!l.reads || !l.writes || !l.alive)
        return -1;
    scan_blocks(&l);
    while (has_changed) {
        has_changed = false;
        for (int i = f->block_count - 1; i >= 0; i--)
            has_changed |= update(&l, i);
    }
    for (int i = 0; i < s->slot_count; i++)
        s->maybe[i] = l.id[i] && f->block_count && has_bit(l.alive, l.id[i] - 1);
    for (int i = 0; i < f->fixed_count; i++)
        s->maybe[f->fixed[i].row / SLOT_BYTES] = false;
    return 0;
}

/* ---- What may get no value from them -------------------------------------------------------- */

static bool may_lack(const struct search *s, uint32_t row)
{
    return s->maybe[row / SLOT_BYTES];
}

static bool mark_maybe(struct search *s, uint32_t row)
{
    bool is_new = !may_lack(s, row);

    s->maybe[row / SLOT_BYTES] = true;
    return is_new;
}

/* Words that may have no value in one frame may have none where a call copies them to. */
static bool spread_areas(const struct search *from, const struct area *a, struct search *to,
                         const struct area *b, int count)
{
    bool has_changed = false;

    for (int i = 0; i < count; i++)
        for (int k = 0; k < a[i].words; k++)
            if (may_lack(from, a[i].row + (uint32_t)k * ROW32))
                has_changed |= mark_maybe(to, b[i].row + (uint32_t)k * ROW32);
    return has_changed;
}

static bool spread_call(struct search *all, struct search *s, const struct insn *in)
{
    const struct call *c = in->extra;
    struct search *callee = c->callee ? &all[c->callee->index] : NULL;

    if (!callee || !callee->maybe)
        return false;
    return spread_areas(s, c->arguments, callee, c->callee->parameters, c->argument_count) |
           spread_areas(callee, c->callee->results, s, c->results, c->result_count);
}

static bool spread_insn(struct search *all, struct search *s, const struct insn *in)
{
    enum local_kind kind = kind_of(in);
    struct slots reads, writes;
    bool is_source = false, has_changed = false;

    if (kind == LOCAL_CALLS)
        return spread_call(all, s, in);
    if (kind == LOCAL_LOOKS)
        return false;
    reads_of(in, &reads);
    for (int i = 0; i < reads.count; i++)
        is_source |= may_lack(s, reads.rows[i]);
    writes_of(in, &writes);
    for (int i = 0; is_source && i < writes.count; i++)
        has_changed |= mark_maybe(s, writes.rows[i]);
    return has_changed;
}

static void spread(struct search *all, int count)
{
    bool has_changed = true;

    while (has_changed) {
        has_changed = false;
        for (int i = 0; i < count; i++)
            for (int k = 0; all[i].maybe && k < all[i].f->insn_count; k++)
                has_changed |= spread_insn(all, &all[i], &all[i].f->insns[k]);
    }
}

/* ---- Marks ---------------------------------------------------------------------------------- */

static uint32_t mark_at(const struct search *s, uint32_t row)
{
    return s->f->marks + (uint32_t)(s->mark_of[row / SLOT_BYTES] - 1) * SLOT_BYTES;
}

/* Those that are alive at the start come first. */
static void place_marks(struct search *s, const bool *alive)
{
    struct function *f = s->f;

    for (int is_alive = 1; is_alive >= 0; is_alive--) {
        for (int i = 0; i < s->slot_count; i++)
            if (s->maybe[i] && alive[i] == is_alive)
                s->mark_of[i] = ++f->marks_count;
        if (is_alive)
            f->unset_marks = f->marks_count;
    }
    f->marks = f->frame_bytes;
    f->frame_bytes += (uint32_t)round_up((int64_t)f->marks_count * SLOT_BYTES, 64);
}

static int take_marks(const struct search *s, const struct slots *slots, const struct mark **out,
                      int *count)
{
    struct mark *marks = arena_array(s->module->arena, (size_t)slots->count, sizeof *marks);

    if (!marks)
        return -1;
    *out = marks;
    for (int i = 0; i < slots->count; i++)
        if (may_lack(s, slots->rows[i]))
            marks[(*count)++] =
                (struct mark){ .mark = mark_at(s, slots->rows[i]), .row = slots->rows[i] };
    return 0;
}

static int pair_marks(const struct search *from, const struct area *a, const struct search *to,
                      const struct area *b, int count, const struct mark_pair **out, int *n)
{
    struct mark_pair *pairs;
    size_t words = 0;

    for (int i = 0; i < count; i++)
        words += (size_t)a[i].words;
    pairs = arena_array(from->module->arena, words, sizeof *pairs);
    if (!pairs)
        return -1;
    *out = pairs;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < a[i].words; k++) {
            uint32_t x = a[i].row + (uint32_t)k * ROW32, y = b[i].row + (uint32_t)k * ROW32;

            if (may_lack(from, x) && may_lack(to, y))
                pairs[(*n)++] = (struct mark_pair){ mark_at(from, x), mark_at(to, y) };
        }
    return 0;
}

static int watch_call(const struct search *all, const struct search *s, struct insn *in,
                      struct local_use *use)
{
    const struct call *c = in->extra;
    const struct search *callee = c->callee ? &all[c->callee->index] : NULL;

    if (!callee || !callee->maybe)
        return 0;
    if (pair_marks(s, c->arguments, callee, c->callee->parameters, c->argument_count,
                   &use->arguments, &use->argument_count) < 0 ||
        pair_marks(callee, c->callee->results, s, c->results, c->result_count, &use->results,
                   &use->result_count) < 0)
        return -1;
    if (use->argument_count || use->result_count)
        in->locals = use;
    return 0;
}

static int watch(const struct search *all, const struct search *s, struct insn *in)
{
    struct local_use found = { .kind = kind_of(in) }, *use;
    struct slots reads, writes;

    reads_of(in, &reads);
    writes_of(in, &writes);
    if (found.kind == LOCAL_SHUFFLES) { /* the rest of its operands are the compiler's */
        reads.rows[0] = in->a;
        writes.rows[0] = in->d;
        reads.count = writes.count = 1;
    }
    if (take_marks(s, &reads, &found.reads, &found.read_count) < 0 ||
        take_marks(s, &writes, &found.writes, &found.write_count) < 0)
        return -1;
    if (found.kind != LOCAL_CALLS && !found.read_count && !found.write_count)
        return 0;
    use = arena_alloc(s->module->arena, sizeof *use);
    if (!use)
        return -1;
    *use = found;
    if (found.kind == LOCAL_CALLS)
        return watch_call(all, s, in, use);
    in->locals = use;
    if (found.kind == LOCAL_SHUFFLES || in->control != CONTROL_NONE)
        return 0;
    use->full = in->full;
    use->masked = in->masked;
    in->full = exec_local_full;
    in->masked = exec_local_masked;
    return 0;
}

/* ---- A module ------------------------------------------------------------------------------- */

/* Code that the user wrote, by the first line that it names. */
static bool is_users(const struct ptx_module *m, const struct function *f)
{
    for (int i = 0; i < f->insn_count; i++) {
        int file = f->insns[i].loc ? m->ast.locs[f->insns[i].loc].file : 0;

        if (file > 0 && file < m->ast.file_count && m->ast.files[file])
            return !m->ast.is_header[file];
    }
    return false;
}

static int search_all(struct ptx_module *m, struct search *all, bool **alive, struct arena *scratch)
{
    int count = m->ast.function_count;

    for (int i = 0; i < count; i++) {
        struct search *s = &all[i];
        struct function *f = &m->functions[i];

        *s = (struct search){ .module = m, .f = f };
        if (!f->is_defined)
            continue;
        s->slot_count = (int)(f->frame_bytes / SLOT_BYTES) + 1;
        s->maybe = arena_array(scratch, (size_t)s->slot_count, sizeof *s->maybe);
        s->mark_of = arena_array(scratch, (size_t)s->slot_count, sizeof *s->mark_of);
        alive[i] = arena_array(scratch, (size_t)s->slot_count, sizeof **alive);
        if (!s->maybe || !s->mark_of || !alive[i] || (is_users(m, f) && find_alive(s, scratch) < 0))
            return -1;
        memcpy(alive[i], s->maybe, (size_t)s->slot_count * sizeof **alive);
    }
    spread(all, count);
    for (int i = 0; i < count; i++)
        if (all[i].maybe)
            place_marks(&all[i], alive[i]);
    for (int i = 0; i < count; i++)
        for (int k = 0; all[i].maybe && k < all[i].f->insn_count; k++)
            if (watch(all, &all[i], &all[i].f->insns[k]) < 0)
                return -1;
    return 0;
}

int locals_find(struct ptx_module *module, struct err *err)
{
    size_t count = (size_t)module->ast.function_count;
    struct arena *scratch;
    struct search *all;
    bool **alive;
    int rc = -1;

    if (!module->ast.is_debug)
        return 0;
    scratch = arena_new(0);
    if (!scratch)
        return fail_memory(err);
    all = arena_array(scratch, count, sizeof *all);
    alive = arena_array(scratch, count, sizeof *alive);
    if (all && alive)
        rc = search_all(module, all, alive, scratch);
    arena_free(&scratch);
    return rc < 0 ? fail_memory(err) : 0;
}
