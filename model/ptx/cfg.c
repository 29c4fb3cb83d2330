/*
 * Basic blocks, and where lanes that parted meet again.
 *
 * Lanes that take different sides of a branch meet at its immediate post-dominator: the first block
 * that every path to the end passes. One exception makes `if (i >= n) return;` behave as on a GPU:
 * a kernel's lane that goes straight to a return is gone, so that path does not count.
 *
 * Method: Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm", on the reversed graph.
 */
#include "model/ptx/internal.h"

struct graph {
    struct function *f;
    int *block_at;              /* by instruction: its block */
    int *order;                 /* blocks in postorder of the reversed graph, the end last */
    int *number;                /* by block: place in that order; -1: cannot reach the end */
    int *meet;                  /* by block: immediate post-dominator */
    int *heads, *links, *froms; /* predecessors: lists by block, through edges */
    int edge_count;
    int end; /* the virtual block behind all returns: block_count */
};

static bool ends_block(const struct insn *in)
{
    return in->control != CONTROL_NONE;
}

static int count_blocks(struct function *f, int *starts)
{
    int n = 0;

    starts[0] = 1;
    for (int i = 0; i < f->insn_count; i++) {
        if (f->insns[i].control == CONTROL_BRANCH && f->insns[i].offset < f->insn_count)
            starts[f->insns[i].offset] = 1;
        if (ends_block(&f->insns[i]) && i + 1 < f->insn_count)
            starts[i + 1] = 1;
    }
    for (int i = 0; i < f->insn_count; i++)
        n += starts[i];
    return n;
}

/* A label at the very end of a body stands for the return that follows it: block_count. */
static int block_of(const struct graph *g, int64_t insn)
{
    return insn < g->f->insn_count ? g->block_at[insn] : g->f->block_count;
}

static void fill_block(struct graph *g, struct block *b, int first, int end)
{
    const struct insn *last = &g->f->insns[end - 1];
    int index = (int)(b - g->f->blocks);

    b->first = &g->f->insns[first];
    b->control = ends_block(last) ? last : NULL;
    b->end = b->control ? last : last + 1;
    b->insn_count = end - first;
    b->next = index + 1;
    b->target = index + 1;
    b->kind = END_FALL;
    for (int i = first; i < end; i++)
        b->is_waiting |= (g->f->insns[i].flags & (INSN_VOLATILE | INSN_LOOKS)) != 0;
    if (!b->control)
        return;
    switch (last->control) {
    case CONTROL_BRANCH:
        b->kind = END_BRANCH;
        b->target = block_of(g, last->offset);
        b->is_backward = b->target <= index;
        if (last->guard_kind == GUARD_NONE)
            b->next = b->target;
        break;
    case CONTROL_CALL:
        b->kind = END_CALL;
        break;
    case CONTROL_RETURN:
        b->kind = END_RETURN;
        break;
    default:
        b->kind = END_EXIT;
        break;
    }
}

static void cut_blocks(struct graph *g, const int *starts)
{
    int block = -1, first = 0;

    for (int i = 0; i < g->f->insn_count; i++)
        g->block_at[i] = block += starts[i];
    for (int i = 1; i <= g->f->insn_count; i++) {
        if (i < g->f->insn_count && !starts[i])
            continue;
        fill_block(g, &g->f->blocks[g->block_at[first]], first, i);
        first = i;
    }
}

/* A block that only ends a kernel's thread. */
static bool is_bare_end(const struct graph *g, int block)
{
    const struct block *b;

    if (!g->f->is_entry)
        return false;
    if (block >= g->f->block_count)
        return true;
    b = &g->f->blocks[block];
    return b->first == b->end && (b->kind == END_RETURN || b->kind == END_EXIT);
}

static void add_edge(struct graph *g, int from, int to)
{
    g->froms[g->edge_count] = from;
    g->links[g->edge_count] = g->heads[to];
    g->heads[to] = g->edge_count++;
}

static void add_edges(struct graph *g)
{
    for (int i = 0; i < g->f->block_count; i++) {
        const struct block *b = &g->f->blocks[i];
        bool is_next_end = is_bare_end(g, b->next), is_target_end = is_bare_end(g, b->target);

        if (b->kind == END_RETURN || b->kind == END_EXIT) {
            add_edge(g, i, g->end);
        } else if (b->kind != END_BRANCH || b->next == b->target) {
            add_edge(g, i, b->next);
        } else {
            if (!is_target_end || is_next_end)
                add_edge(g, i, b->target);
            if (!is_next_end)
                add_edge(g, i, b->next);
        }
    }
}

/* Depth first from the end against the edges, with an explicit stack. */
static void order_blocks(struct graph *g, int *stack, int *edge)
{
    int depth = 0, n = 0;

    for (int i = 0; i <= g->end; i++) {
        g->number[i] = -1;
        edge[i] = g->heads[i];
    }
    stack[depth++] = g->end;
    g->number[g->end] = 0;
    while (depth) {
        int block = stack[depth - 1], e = edge[block];

        if (e < 0) {
            g->order[n] = block;
            g->number[block] = n++;
            depth--;
            continue;
        }
        edge[block] = g->links[e];
        if (g->number[g->froms[e]] < 0) {
            g->number[g->froms[e]] = 0;
            stack[depth++] = g->froms[e];
        }
    }
    g->edge_count = n; /* blocks that reach the end */
}

static int meet_of(const struct graph *g, int a, int b)
{
    while (a != b) {
        while (g->number[a] < g->number[b])
            a = g->meet[a];
        while (g->number[b] < g->number[a])
            b = g->meet[b];
    }
    return a;
}

/* The successors that count, as add_edges has them. */
static int successors(const struct graph *g, int block, int out[2])
{
    const struct block *b = &g->f->blocks[block];
    bool is_next_end = is_bare_end(g, b->next), is_target_end = is_bare_end(g, b->target);
    int n = 0;

    if (b->kind == END_RETURN || b->kind == END_EXIT)
        out[n++] = g->end;
    else if (b->kind != END_BRANCH || b->next == b->target)
        out[n++] = b->next;
    else {
        if (!is_target_end || is_next_end)
            out[n++] = b->target;
        if (!is_next_end)
            out[n++] = b->next;
    }
    return n;
}

static void find_meets(struct graph *g, int reached)
{
    bool is_changed = true;

    for (int i = 0; i <= g->end; i++)
        g->meet[i] = -1;
    g->meet[g->end] = g->end;
    while (is_changed) {
        is_changed = false;
        for (int i = reached - 2; i >= 0; i--) { /* the end is last; nearest to it first */
            int block = g->order[i], next[2], meet = -1;
            int n = successors(g, block, next);

            for (int k = 0; k < n; k++)
                if (g->number[next[k]] >= 0 && g->meet[next[k]] >= 0)
                    meet = meet < 0 ? next[k] : meet_of(g, meet, next[k]);
            if (meet != g->meet[block]) {
                g->meet[block] = meet;
                is_changed = true;
            }
        }
    }
}

static void set_rejoins(struct graph *g)
{
    for (int i = 0; i < g->f->block_count; i++) {
        int meet = g->number[i] >= 0 ? g->meet[i] : -1;

        g->f->blocks[i].rejoin = meet < 0 || meet >= g->end ? BLOCK_EXIT : meet;
    }
}

int cfg_build(struct ptx_module *module, struct function *f, struct err *err)
{
    struct arena *scratch = arena_new(0);
    struct graph g = { .f = f };
    size_t insns = (size_t)f->insn_count, blocks;
    int *starts = NULL, *stack = NULL, *edge = NULL, rc = -1;

    if (!scratch)
        goto out_of_memory;
    starts = arena_array(scratch, insns + 1, sizeof *starts);
    g.block_at = arena_array(scratch, insns + 1, sizeof *g.block_at);
    if (!starts || !g.block_at)
        goto out_of_memory;
    f->block_count = insns ? count_blocks(f, starts) : 0;
    blocks = (size_t)f->block_count + 1;
    f->blocks = arena_array(module->arena, blocks, sizeof *f->blocks);
    g.order = arena_array(scratch, blocks, sizeof *g.order);
    g.number = arena_array(scratch, blocks, sizeof *g.number);
    g.meet = arena_array(scratch, blocks, sizeof *g.meet);
    g.heads = arena_array(scratch, blocks, sizeof *g.heads);
    g.links = arena_array(scratch, 2 * blocks, sizeof *g.links);
    g.froms = arena_array(scratch, 2 * blocks, sizeof *g.froms);
    stack = arena_array(scratch, blocks, sizeof *stack);
    edge = arena_array(scratch, blocks, sizeof *edge);
    if (!f->blocks || !g.order || !g.number || !g.meet || !g.heads || !g.links || !g.froms ||
        !stack || !edge)
        goto out_of_memory;
    g.end = f->block_count;
    for (int i = 0; i <= g.end; i++)
        g.heads[i] = -1;
    cut_blocks(&g, starts);
    /* The block behind the last: a body whose end is reached returns. */
    f->blocks[g.end].kind = END_RETURN;
    f->blocks[g.end].rejoin = BLOCK_EXIT;
    add_edges(&g);
    order_blocks(&g, stack, edge);
    find_meets(&g, g.edge_count);
    set_rejoins(&g);
    for (size_t i = 0; i < blocks; i++)
        f->blocks[i].id = module->block_count++;
    rc = 0;
    goto out;
out_of_memory:
    err_set(err, ERR_ResourceError, "out of memory while the PTX was decoded");
out:
    arena_free(&scratch);
    return rc;
}
