/*
 * Code as the core layer sees it: each instruction its class, the registers that it waits for and
 * those that it makes. And a kernel as a stream without running it: from the entry on, with the
 * branches forward not taken and the loops gone round a given number of times.
 */
#include "model/ptx/internal.h"

#include "model/memory.h"
#include "model/ptx/access.h"
#include "model/ptx/matrix.h"

/* ---- Instructions --------------------------------------------------------------------------- */

struct numbering {
    int *number_at; /* by frame offset / 4 of one function; -1 */
    int next;
};

/* Rows that are never written (constants, parameters) make nobody wait: number 0. */
static uint16_t number_of(const struct numbering *n, uint32_t row)
{
    int v = n->number_at[row / 4];

    return (uint16_t)(v > 0 ? v : 0);
}

static void number_writes(struct numbering *n, const struct function *f)
{
    for (int i = 0; i < f->insn_count; i++)
        for (int k = 0; k < f->insns[i].deps->write_count; k++) {
            int *v = &n->number_at[f->insns[i].deps->writes[k] / 4];

            if (*v == 0 && n->next < UINT16_MAX)
                *v = n->next++;
        }
}

/* L1 writes through, and keeps nothing of what others may change meanwhile. */
static bool is_past_l1(const struct insn *in)
{
    static const char *const WORDS[] = { ".cg", ".cv", ".volatile", ".relaxed", ".acquire" };

    if (in->flags & (INSN_WRITES | INSN_ATOMIC))
        return true;
    for (size_t i = 0; i < COUNT(WORDS); i++)
        if (in->spelling && strstr(in->spelling, WORDS[i]))
            return true;
    return false;
}

static void fill_op(struct core_op *op, const struct numbering *n, const struct insn *in)
{
    op->class = in->latency;
    op->is_access = in->counter >= 0;
    op->is_clock = insn_exec(in) == exec_clock;
    op->is_past_l1 = op->is_access && in->space != SPACE_LOCAL && is_past_l1(in);
    op->lanes = WARP;
    for (int k = 0; k < in->deps->read_count; k++) {
        uint16_t v = number_of(n, in->deps->reads[k]);

        if (v)
            op->reads[op->read_count++] = v;
    }
    for (int k = 0; k < in->deps->write_count; k++) {
        uint16_t v = number_of(n, in->deps->writes[k]);

        if (v)
            op->writes[op->write_count++] = v;
    }
}

/*
 * The machine instructions of one of PTX: one, but for products of matrices, of which a tensor core
 * takes so much at once; without one for double precision each lane has eight multiply-adds.
 */
enum { DFMA_OF_PRODUCT = 8 };

static int expansion(const struct insn *in, const struct costs *costs, uint8_t *class)
{
    int n;

    *class = in->latency;
    if (insn_exec(in) != exec_multiply)
        return 1;
    n = matrix_instructions(in->extra);
    if (*class != LAT_MMA_F64 || costs->classes[LAT_MMA_F64].interval)
        return n;
    *class = LAT_F64;
    return n * DFMA_OF_PRODUCT;
}

static int translate_block(struct core_block *list, const struct block *b,
                           const struct numbering *n, const struct costs *costs,
                           struct arena *arena)
{
    struct core_op *ops;
    uint8_t class;
    int count = 0;

    for (int i = 0; i < b->insn_count; i++)
        count += expansion(b->first + i, costs, &class);
    ops = arena_array(arena, (size_t)count, sizeof *ops);
    if (!ops)
        return -1;
    *list = (struct core_block){ ops, count };
    for (int i = 0; i < b->insn_count; i++) {
        int parts = expansion(b->first + i, costs, &class);

        for (int k = 0; k < parts; k++, ops++) {
            fill_op(ops, n, b->first + i);
            ops->class = class;
            if (k + 1 < parts)
                ops->write_count = 0; /* the last one has the result */
        }
    }
    return 0;
}

int stream_translate(const struct ptx_module *m, const bool *used, struct arena *arena,
                     struct core_config *out)
{
    struct core_block *lists = arena_array(arena, (size_t)m->block_count, sizeof *lists);
    struct numbering n = { .next = 1 };

    if (!lists)
        return -1;
    for (int i = 0; i < m->ast.function_count; i++) {
        const struct function *f = &m->functions[i];
        bool is_needed = false;

        for (int b = 0; f->is_defined && b < f->block_count; b++)
            is_needed |= used[f->blocks[b].id];
        if (!is_needed)
            continue;
        n.number_at = arena_array(arena, f->frame_bytes / 4 + 1, sizeof *n.number_at);
        if (!n.number_at)
            return -1;
        number_writes(&n, f);
        for (int b = 0; b < f->block_count; b++)
            if (used[f->blocks[b].id] &&
                translate_block(&lists[f->blocks[b].id], &f->blocks[b], &n, out->costs, arena) < 0)
                return -1;
    }
    out->blocks = lists;
    out->register_count = n.next;
    return 0;
}

/* ---- A kernel that is not run --------------------------------------------------------------- */

enum { MAX_STEPS = 1 << 16, MAX_CALLS = 16 };

struct walk {
    const struct ptx_module *module;
    int trips, depth;
    bool *used;
    struct core_step *steps;
    core_access *accesses;
    int step_count, access_count;
    bool is_cut; /* the code goes on */
};

/* What an access of a whole warp asks for where lanes lie side by side. */
static core_access best_access(const struct insn *in)
{
    int bytes = ACCESS_KIND_BYTES[in->memory] * (in->flags & INSN_ATOMIC ? 1 : in->vector);
    int amount = in->space == SPACE_SHARED ? (bytes + BANK_BYTES - 1) / BANK_BYTES
                                           : (bytes * WARP + SECTOR_BYTES - 1) / SECTOR_BYTES;

    return core_access_of(in->space, amount);
}

static void add_accesses(struct walk *walk, struct core_step *step, const struct block *b)
{
    step->access = walk->access_count;
    for (const struct insn *in = b->first; in < b->end; in++)
        if (in->counter >= 0)
            walk->accesses[walk->access_count++] = best_access(in);
    step->accesses = walk->access_count - step->access;
}

/* False: there is no room for what follows. */
static bool add_block(struct walk *walk, const struct block *b)
{
    struct core_step *last = walk->step_count ? &walk->steps[walk->step_count - 1] : NULL;

    if (last && last->block == b->id) {
        last->repeat++;
        return true;
    }
    if (walk->step_count == MAX_STEPS || walk->access_count + (b->end - b->first) > MAX_STEPS) {
        walk->is_cut = true;
        return false;
    }
    walk->used[b->id] = true;
    walk->steps[walk->step_count] = (struct core_step){ .block = b->id, .repeat = 1 };
    add_accesses(walk, &walk->steps[walk->step_count++], b);
    return true;
}

/* Which block comes after b; -1: none. taken: how often each branch backward was. */
static int follow(const struct walk *walk, const struct block *b, int *taken)
{
    bool is_certain = b->control && b->control->guard_kind == GUARD_NONE;

    if ((b->kind == END_EXIT || b->kind == END_RETURN) && is_certain)
        return -1;
    if (b->kind != END_BRANCH)
        return b->next;
    if (!b->is_backward)
        return is_certain ? b->target : b->next;
    if (++*taken < walk->trips)
        return b->target;
    *taken = 0;
    return is_certain ? -1 : b->next;
}

static int walk_function(struct walk *walk, const struct function *f, struct arena *arena)
{
    int *taken = arena_array(arena, (size_t)f->block_count, sizeof *taken);

    if (!taken)
        return -1;
    for (int i = 0; i >= 0 && i < f->block_count && !walk->is_cut;) {
        const struct block *b = &f->blocks[i];
        const struct call *call = b->kind == END_CALL ? b->control->extra : NULL;

        if (!add_block(walk, b))
            break;
        if (call && call->callee && walk->depth < MAX_CALLS) {
            walk->depth++;
            if (walk_function(walk, call->callee, arena) < 0)
                return -1;
            walk->depth--;
        }
        i = follow(walk, b, &taken[i]);
    }
    return 0;
}

static const struct function *function_of(const struct ptx_module *m,
                                          const struct ptx_kernel *kernel)
{
    return &m->functions[m->kernel_functions[kernel - m->kernels]];
}

int ptx_kernel_stream(const struct ptx_module *m, const struct ptx_kernel *kernel, int trips,
                      const struct costs *costs, struct arena *arena, struct ptx_stream *out,
                      struct err *err)
{
    const struct function *f = function_of(m, kernel);
    struct walk walk = { .module = m,
                         .trips = trips,
                         .used = arena_array(arena, (size_t)m->block_count, sizeof *walk.used),
                         .steps = arena_array(arena, MAX_STEPS, sizeof *walk.steps),
                         .accesses = arena_array(arena, MAX_STEPS, sizeof *walk.accesses) };
    struct core_config code = { .costs = costs };

    *out = (struct ptx_stream){ 0 };
    if (f->refusal)
        return err_set(err, f->refusal->name, "%s", f->refusal->text);
    if (!walk.used || !walk.steps || !walk.accesses || walk_function(&walk, f, arena) < 0 ||
        stream_translate(m, walk.used, arena, &code) < 0)
        return err_set(err, ERR_ResourceError, "no memory for the stream of %s", kernel->name);
    out->blocks = code.blocks;
    out->register_count = code.register_count;
    out->is_cut = walk.is_cut;
    out->stream = (struct core_stream){ .steps = walk.steps,
                                        .step_count = walk.step_count,
                                        .accesses = walk.accesses };
    return 0;
}

void ptx_stream_places(enum core_place global, uint8_t places[8])
{
    memset(places, CORE_L1, 8);
    places[SPACE_SHARED] = CORE_SHARED;
    places[SPACE_GLOBAL] = (uint8_t)global;
}
