/*
 * What a module cannot run hinders only the kernels that need it.
 *
 * A cell often holds one kernel with a texture beside five without. A function that the decoder
 * refuses keeps the reason in place of its body; a launch asks whether its kernel can come to such
 * a function, by calls. A module in which every kernel can is refused when it is loaded.
 */
#include "model/ptx/internal.h"

struct walk {
    const struct ptx_module *m;
    bool *is_seen;
    int *open; /* functions to look at */
    int open_count;
};

int refuse_keep(struct ptx_module *m, struct function *f, struct err *err)
{
    struct ast_insn *body = f->ast->insns;

    if (err->name != ERR_UnsupportedError || !f->ast->insn_count)
        return -1;
    f->refusal = arena_alloc(m->arena, sizeof *f->refusal);
    if (!f->refusal)
        return -1;
    *f->refusal = *err;
    *err = (struct err){ .name = ERR_none };
    m->has_refusal = true;

    /* A body of its own, which nothing can come to: launches are checked before. */
    body[0].opcode = (struct bytes){ "trap", 4 };
    body[0].guard = NULL;
    body[0].operand_count = 0;
    f->ast->insn_count = 1;
    return 0;
}

static void open_function(struct walk *w, int index)
{
    if (w->is_seen[index] || !w->m->functions[index].is_defined)
        return;
    w->is_seen[index] = true;
    w->open[w->open_count++] = index;
}

/* A call by address may be one of any device function. */
static void open_callees(struct walk *w, const struct function *f)
{
    for (int i = 0; i < f->insn_count; i++) {
        const struct call *call = f->insns[i].extra;

        if (f->insns[i].control != CONTROL_CALL)
            continue;
        if (call->callee)
            open_function(w, call->callee->index);
        for (int k = 0; !call->callee && k < w->m->ast.function_count; k++)
            if (!w->m->functions[k].is_entry)
                open_function(w, k);
    }
}

/* The first refused function that a kernel can come to; NULL: none. */
static const struct function *find_refused(struct walk *w, int entry)
{
    memset(w->is_seen, 0, (size_t)w->m->ast.function_count * sizeof *w->is_seen);
    w->open_count = 0;
    open_function(w, entry);
    while (w->open_count) {
        const struct function *f = &w->m->functions[w->open[--w->open_count]];

        if (f->refusal)
            return f;
        open_callees(w, f);
    }
    return NULL;
}

static int start_walk(struct walk *w, const struct ptx_module *m, struct arena *arena,
                      struct err *err)
{
    size_t n = (size_t)m->ast.function_count;

    *w = (struct walk){ .m = m };
    w->is_seen = arena_array(arena, n, sizeof *w->is_seen);
    w->open = arena_array(arena, n, sizeof *w->open);
    if (!w->is_seen || !w->open)
        return err_set(err, ERR_ResourceError, "out of memory while the PTX was read");
    return 0;
}

int refuse_check(const struct ptx_module *m, int entry, struct arena *arena, struct err *err)
{
    const struct function *refused;
    struct walk w;

    if (!m->has_refusal)
        return 0;
    if (start_walk(&w, m, arena, err) < 0)
        return -1;
    refused = find_refused(&w, entry);
    if (!refused)
        return 0;
    *err = *refused->refusal;
    return -1;
}

int refuse_all(struct ptx_module *m, struct err *err)
{
    const struct err *first = NULL;
    struct walk w;

    if (!m->has_refusal)
        return 0;
    if (start_walk(&w, m, m->arena, err) < 0)
        return -1;
    for (int i = 0; i < m->ast.function_count; i++) {
        const struct function *refused;

        if (!m->functions[i].is_entry || !m->functions[i].is_defined)
            continue;
        refused = find_refused(&w, i);
        if (!refused)
            return 0;
        first = first ? first : refused->refusal;
    }
    if (!first)
        return 0;
    *err = *first;
    return -1;
}
