/*
 * A module: parse, give every variable its address, decode, and say what is in it.
 */
#include "model/ptx/async.h"
#include "model/ptx/shadow.h"

#include <stdlib.h>

enum { SHARED_ALIGN = 16, LINE_BUCKETS = 4096, MAX_CALL_DEPTH = 1000 };

/* Bytes that the parser and decoder may take: far above what any real kernel needs. */
#define MODULE_LIMIT ((size_t)2 << 30)

static int fail_memory(struct err *err)
{
    return err_set(err, ERR_ResourceError, "out of memory while the PTX was read");
}

/* ---- Addresses ------------------------------------------------------------------------------ */

static uint64_t place(uint64_t at, struct symbol *s)
{
    at = (uint64_t)round_up((int64_t)at, (int64_t)s->align);
    s->address = at;
    return at + s->size;
}

/* Global and constant variables, 256 bytes apart so that running past one is noticed. */
static void place_variables(struct ptx_module *m)
{
    uint64_t at = VARIABLE_WINDOW;

    for (struct symbol *s = m->ast.variables; s; s = s->next) {
        if (s->space != SPACE_GLOBAL && s->space != SPACE_CONST)
            continue;
        at = (uint64_t)round_up((int64_t)place(at, s), 256) + 256;
        m->variable_count++;
    }
}

static uint64_t place_shared(struct ptx_module *m, uint64_t at, struct symbol *list)
{
    for (struct symbol *s = list; s; s = s->next) {
        if (s->space != SPACE_SHARED)
            continue;
        s->shared_index = ++m->shared_count;
        if (s->size)
            at = place(at, s);
    }
    return at;
}

/*
 * Shared variables of the module and of device functions come first, each kernel's own after them,
 * and `extern __shared__` starts where the largest kernel ends: one address for all kernels, as a
 * device function may use it for any of them.
 */
static void place_all_shared(struct ptx_module *m, uint64_t *common)
{
    uint64_t at = place_shared(m, 0, m->ast.variables), most;

    for (struct ast_function *f = m->ast.functions; f; f = f->next)
        if (!f->is_entry)
            at = place_shared(m, at, f->variables);
    *common = most = at;
    for (struct ast_function *f = m->ast.functions; f; f = f->next)
        if (f->is_entry)
            most = (uint64_t)max_i64((int64_t)most, (int64_t)place_shared(m, at, f->variables));
    m->dynamic_shared_base = (uint32_t)round_up((int64_t)most, SHARED_ALIGN);
    for (struct symbol *s = m->ast.variables; s; s = s->next)
        if (s->space == SPACE_SHARED && !s->size)
            s->address = m->dynamic_shared_base;
}

static void describe_shared(struct ptx_module *m, const struct symbol *list,
                            const struct ast_function *kernel)
{
    for (const struct symbol *s = list; s; s = s->next)
        if (s->space == SPACE_SHARED)
            m->shared[s->shared_index - 1] = (struct shared_variable){
                .name = s->name,
                .address = (uint32_t)s->address,
                .size = (uint32_t)s->size,
                .kernel = kernel,
            };
}

static int describe_all_shared(struct ptx_module *m, struct err *err)
{
    m->shared = arena_array(m->arena, (size_t)m->shared_count, sizeof *m->shared);
    if (!m->shared)
        return fail_memory(err);
    describe_shared(m, m->ast.variables, NULL);
    for (const struct ast_function *f = m->ast.functions; f; f = f->next)
        describe_shared(m, f->variables, f->is_entry ? f : NULL);
    return 0;
}

static uint64_t shared_end(const struct ast_function *f, uint64_t common)
{
    uint64_t end = common;

    for (const struct symbol *s = f->variables; s; s = s->next)
        if (s->space == SPACE_SHARED)
            end = (uint64_t)max_i64((int64_t)end, (int64_t)(s->address + s->size));
    return end;
}

static int relocate(const struct symbol *s, struct err *err)
{
    for (const struct relocation *r = s->relocations; r; r = r->next) {
        uint64_t value = r->to->kind == SYMBOL_FUNCTION
                             ? CODE_WINDOW + 16 * (uint64_t)(r->to->body->index + 1)
                             : r->to->address;

        if (r->to->kind == SYMBOL_VARIABLE && r->to->space == SPACE_SHARED)
            return err_set(err, ERR_UnsupportedError,
                           "%s: an initial value that is an address in shared memory", s->name);
        value += (uint64_t)r->addend;
        memcpy(s->initial + r->offset, &value, (size_t)r->bytes);
    }
    return 0;
}

static int describe_variables(struct ptx_module *m, struct err *err)
{
    struct ptx_variable *v = arena_array(m->arena, m->variable_count, sizeof *v);

    if (!v)
        return fail_memory(err);
    m->variables = v;
    for (struct symbol *s = m->ast.variables; s; s = s->next) {
        if (s->space != SPACE_GLOBAL && s->space != SPACE_CONST)
            continue;
        if (!s->initial && !(s->initial = arena_alloc(m->arena, s->size)))
            return fail_memory(err);
        if (relocate(s, err) < 0)
            return -1;
        *v++ = (struct ptx_variable){ .name = s->name,
                                      .is_constant = s->space == SPACE_CONST,
                                      .size = s->size,
                                      .align = s->align,
                                      .address = s->address,
                                      .initial = s->initial };
    }
    return 0;
}

/* ---- Tables by number ----------------------------------------------------------------------- */

static int make_functions(struct ptx_module *m, struct err *err)
{
    m->functions = arena_array(m->arena, (size_t)m->ast.function_count, sizeof *m->functions);
    if (!m->functions)
        return fail_memory(err);
    for (struct ast_function *f = m->ast.functions; f; f = f->next)
        m->functions[f->index] = (struct function){ .name = f->name,
                                                    .index = f->index,
                                                    .is_entry = f->is_entry,
                                                    .is_defined = f->is_defined,
                                                    .ast = f };
    return 0;
}

static int number_blocks(struct ptx_module *m, struct err *err)
{
    size_t n = (size_t)m->block_count;

    m->blocks = arena_array(m->arena, n, sizeof *m->blocks);
    m->owners = arena_array(m->arena, n, sizeof *m->owners);
    m->counted = arena_array(m->arena, (size_t)m->counter_count, sizeof *m->counted);
    if (!m->blocks || !m->owners || !m->counted)
        return fail_memory(err);
    for (int i = 0; i < m->ast.function_count; i++) {
        const struct function *f = &m->functions[i];

        for (int b = 0; f->is_defined && b <= f->block_count; b++) {
            m->blocks[f->blocks[b].id] = &f->blocks[b];
            m->owners[f->blocks[b].id] = f;
        }
        for (int k = 0; k < f->insn_count; k++) {
            if (f->insns[k].counter >= 0)
                m->counted[f->insns[k].counter] = &f->insns[k];
            for (int p = 0; p < ASYNC_PARTS; p++) {
                const struct insn *part = async_part(&f->insns[k], p);

                if (part)
                    m->counted[part->counter] = part;
            }
        }
    }
    return 0;
}

/* Lines of the source with code get a number in the order of first use. */
static int number_lines(struct ptx_module *m, struct err *err)
{
    struct arena *scratch = arena_new(0);
    int *line_of, *buckets, *links, rc = -1;

    if (!scratch)
        return fail_memory(err);
    line_of = arena_array(scratch, (size_t)m->ast.loc_count, sizeof *line_of);
    buckets = arena_array(scratch, LINE_BUCKETS, sizeof *buckets);
    links = arena_array(scratch, (size_t)m->ast.loc_count + 1, sizeof *links);
    m->lines = arena_array(m->arena, (size_t)m->ast.loc_count + 1, sizeof *m->lines);
    if (!line_of || !buckets || !links || !m->lines) {
        fail_memory(err);
        goto out;
    }
    for (int i = 0; i < m->ast.loc_count; i++) {
        const struct source_loc *loc = &m->ast.locs[i];
        int bucket = (int)(((unsigned)loc->file * 131U + (unsigned)loc->line) % LINE_BUCKETS);
        int n = buckets[bucket]; /* a number plus 1; 0 ends the list */

        while (n && (m->lines[n - 1].file != loc->file || m->lines[n - 1].line != loc->line))
            n = links[n];
        if (!n) {
            m->lines[m->line_count++] = (struct line){ loc->file, loc->line };
            n = m->line_count;
            links[n] = buckets[bucket];
            buckets[bucket] = n;
        }
        line_of[i] = n - 1;
    }
    for (int i = 0; i < m->ast.function_count; i++)
        for (int k = 0; k < m->functions[i].insn_count; k++) {
            struct insn *in = &m->functions[i].insns[k];

            in->line = line_of[in->loc];
            for (int p = 0; p < ASYNC_PARTS; p++)
                if (async_part(in, p))
                    async_part(in, p)->line = in->line;
        }
    rc = 0;
out:
    arena_free(&scratch);
    return rc;
}

/* ---- Kernels -------------------------------------------------------------------------------- */

/*
 * Bytes of a thread's stack from a function downwards. known: by function, -1 while not known; a
 * call that is still open (recursion) and one deeper than any real program's counts as nothing.
 */
static int stack_of(const struct ptx_module *m, int index, int *known, int depth)
{
    const struct function *f = &m->functions[index];
    int deepest = 0;

    if (known[index] >= 0 || depth == MAX_CALL_DEPTH)
        return known[index] >= 0 ? known[index] : 0;
    known[index] = 0;
    for (int i = 0; i < f->insn_count; i++) {
        const struct call *call = f->insns[i].extra;

        if (f->insns[i].control == CONTROL_CALL && call->callee)
            deepest = (int)max_i64(deepest, stack_of(m, call->callee->index, known, depth + 1));
    }
    known[index] = (int)min_i64((int64_t)f->local_bytes + deepest, INT32_MAX / 2);
    return known[index];
}

/* Itself, or a device function: those may be called for any kernel. */
static bool reads_dynamic(const struct ptx_module *m, const struct function *kernel)
{
    for (int i = 0; i < m->ast.function_count; i++)
        if (m->functions[i].is_dynamic_shared && !m->functions[i].is_entry)
            return true;
    return kernel->is_dynamic_shared;
}

static int describe_parameters(struct ptx_module *m, const struct ast_function *f,
                               struct ptx_kernel *kernel, struct err *err)
{
    struct ptx_parameter *p = arena_array(m->arena, (size_t)f->parameter_count, sizeof *p);

    if (!p)
        return fail_memory(err);
    kernel->parameters = p;
    kernel->parameter_count = (size_t)f->parameter_count;
    for (int i = 0; i < f->parameter_count; i++) {
        const struct symbol *s = f->parameters[i];

        p[i] = (struct ptx_parameter){ .name = s->name,
                                       .type = s->type.name,
                                       .offset = (int)s->address,
                                       .size = (int)s->size,
                                       .align = (int)s->align };
        kernel->parameter_bytes = p[i].offset + p[i].size;
    }
    return 0;
}

static bool is_select(const struct insn *in)
{
    return !strncmp(in->spelling, "selp", 4) || !strncmp(in->spelling, "slct", 4);
}

static bool is_conditional(const struct insn *in)
{
    return in->control == CONTROL_BRANCH && in->guard_kind != GUARD_NONE;
}

static void count_branches(const struct ptx_module *m, const struct function *f,
                           struct ptx_kernel *kernel)
{
    for (int i = 0; i < f->insn_count; i++) {
        kernel->conditional_branches += is_conditional(&f->insns[i]);
        kernel->selects += is_select(&f->insns[i]);
        if (!kernel->line)
            kernel->line = m->ast.locs[f->insns[i].loc].line;
    }
}

static int describe_kernels(struct ptx_module *m, uint64_t common, struct err *err)
{
    size_t n = (size_t)m->ast.function_count;
    int *known = arena_array(m->arena, n, sizeof *known);

    m->kernels = arena_array(m->arena, n, sizeof *m->kernels);
    m->kernel_functions = arena_array(m->arena, n, sizeof *m->kernel_functions);
    if (!known || !m->kernels || !m->kernel_functions)
        return fail_memory(err);
    for (size_t i = 0; i < n; i++)
        known[i] = -1;
    for (int i = 0; i < m->ast.function_count; i++) {
        const struct function *f = &m->functions[i];
        struct ptx_kernel *kernel = &m->kernels[m->kernel_count];

        if (!f->is_entry || !f->is_defined)
            continue;
        kernel->name = f->name;
        kernel->static_shared_bytes = (int)shared_end(f->ast, common);
        kernel->local_bytes = stack_of(m, i, known, 0);
        kernel->max_threads = f->ast->max_threads;
        kernel->is_dynamic_shared = reads_dynamic(m, f);
        count_branches(m, f, kernel);
        if (describe_parameters(m, f->ast, kernel, err) < 0)
            return -1;
        m->kernel_functions[m->kernel_count++] = i;
    }
    return 0;
}

/* ---- Public --------------------------------------------------------------------------------- */

bool ptx_lanes_run(enum ptx_lanes lanes)
{
    return ops_of(lanes) != NULL;
}

int ptx_module_load(struct bytes text, struct ptx_module **out, struct err *err)
{
    return ptx_module_load_for(text, PTX_LANES_BEST, out, err);
}

int ptx_module_load_for(struct bytes text, enum ptx_lanes lanes, struct ptx_module **out,
                        struct err *err)
{
    struct arena *arena = arena_new(MODULE_LIMIT);
    struct ptx_module *m = arena ? arena_alloc(arena, sizeof *m) : NULL;
    uint64_t common;

    *out = NULL;
    if (!m) {
        arena_free(&arena);
        return fail_memory(err);
    }
    m->arena = arena;
    m->ops = ops_of(lanes);
    if (!m->ops) {
        err_set(err, ERR_UnsupportedError, "this processor cannot run these lane loops");
        goto fail;
    }
    if (ptx_parse(text, arena, &m->ast, err) < 0)
        goto fail;
    place_variables(m);
    place_all_shared(m, &common);
    if (make_functions(m, err) < 0 || describe_all_shared(m, err) < 0 || ptx_decode(m, err) < 0 ||
        phases_find(m, err) < 0 || seeds_find(m, err) < 0 || describe_variables(m, err) < 0 ||
        number_blocks(m, err) < 0 || number_lines(m, err) < 0 ||
        describe_kernels(m, common, err) < 0 || locals_find(m, err) < 0 || copies_find(m, err) < 0)
        goto fail;
    *out = m;
    return 0;
fail:
    arena_free(&arena);
    return -1;
}

void ptx_module_free(struct ptx_module **module)
{
    struct arena *arena = *module ? (*module)->arena : NULL;

    *module = NULL;
    arena_free(&arena);
}

size_t ptx_kernel_count(const struct ptx_module *module)
{
    return module->kernel_count;
}

const struct ptx_kernel *ptx_kernel_at(const struct ptx_module *module, size_t i)
{
    return &module->kernels[i];
}

const struct ptx_kernel *ptx_kernel_find(const struct ptx_module *module, const char *name)
{
    for (size_t i = 0; i < module->kernel_count; i++)
        if (!strcmp(module->kernels[i].name, name))
            return &module->kernels[i];
    return NULL;
}

size_t ptx_variable_count(const struct ptx_module *module)
{
    return module->variable_count;
}

const struct ptx_variable *ptx_variable_at(const struct ptx_module *module, size_t i)
{
    return &module->variables[i];
}

const char *ptx_kernel_branch(const struct ptx_module *module, const char *kernel, int first_line,
                              int last_line, int *ptx_line)
{
    const struct ptx_kernel *k = ptx_kernel_find(module, kernel);
    const struct function *f =
        k ? &module->functions[module->kernel_functions[k - module->kernels]] : NULL;

    if (ptx_line)
        *ptx_line = 0;
    for (int pass = 0; f && pass < 2; pass++) {
        for (int i = 0; i < f->insn_count; i++) {
            const struct insn *in = &f->insns[i];
            int line = module->ast.locs[in->loc].line;

            if (first_line && (line < first_line || line > last_line))
                continue;
            if (pass == 0 ? !is_conditional(in) : !is_select(in))
                continue;
            if (ptx_line)
                *ptx_line = in->ptx_line;
            return pass == 0 ? "bra" : "selp";
        }
    }
    return "";
}
