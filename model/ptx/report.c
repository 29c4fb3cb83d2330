/*
 * Words that all reports share: threads, places, names.
 */
#include "model/ptx/report.h"

#include <stdio.h>

enum { MAX_RANGES = 4, MAX_CLIMB = 8 /* calls up from a function of CUDA's */ };

/* ---- Who ------------------------------------------------------------------------------------ */

struct ptx_dim report_thread(const struct cta *cta, int warp, int lane)
{
    const struct ptx_dim *block = &cta->run->launch->block;
    unsigned thread = (unsigned)warp * WARP + (unsigned)lane;

    return (struct ptx_dim){ thread % block->x, thread / block->x % block->y,
                             thread / block->x / block->y };
}

const char *report_dim(char *out, size_t size, struct ptx_dim at, const struct ptx_dim *shape)
{
    if (shape->z > 1)
        snprintf(out, size, "(%u,%u,%u)", at.x, at.y, at.z);
    else if (shape->y > 1)
        snprintf(out, size, "(%u,%u)", at.x, at.y);
    else
        snprintf(out, size, "%u", at.x);
    return out;
}

const char *report_block_of(char *out, size_t size, const struct cta *cta)
{
    return report_dim(out, size, cta->index, &cta->run->launch->grid);
}

const char *report_thread_of(char *out, size_t size, const struct warp *w, int lane)
{
    return report_dim(out, size, report_thread(w->cta, w->index, lane),
                      &w->cta->run->launch->block);
}

/* The bits of a mask as ranges of numbers from `first` on. */
static void put_ranges(struct buf *b, uint32_t lanes, int first)
{
    bool is_first = true;

    for (int l = 0; l < WARP; l++) {
        int last = l;

        if (!(lanes >> l & 1))
            continue;
        while (last + 1 < WARP && lanes >> (last + 1) & 1)
            last++;
        buf_printf(b, last > l ? "%s%d..%d" : "%s%d", is_first ? "" : ", ", first + l,
                   first + last);
        is_first = false;
        l = last;
    }
}

static int range_count(uint32_t lanes)
{
    return __builtin_popcount(lanes & ~(lanes << 1));
}

void report_lanes(struct buf *b, uint32_t lanes)
{
    put_ranges(b, lanes, 0);
}

void report_threads(struct buf *b, const struct warp *w, uint32_t lanes)
{
    const struct ptx_launch *launch = w->cta->run->launch;
    int n = __builtin_popcount(lanes);
    char block[48], thread[48];

    if (n == 1)
        buf_printf(b, "thread %s",
                   report_thread_of(thread, sizeof thread, w, __builtin_ctz(lanes)));
    else if (launch->block.y > 1 || launch->block.z > 1 || range_count(lanes) > MAX_RANGES)
        buf_printf(b, "%d threads", n);
    else {
        buf_puts(b, "threads ");
        put_ranges(b, lanes, w->index * WARP);
    }
    buf_printf(b, " of block %s (warp %d, lane%s ", report_block_of(block, sizeof block, w->cta),
               w->index, n == 1 ? "" : "s");
    report_lanes(b, lanes);
    buf_putc(b, ')');
}

void report_who(struct buf *b, const struct warp *w, uint32_t lanes)
{
    struct buf who = { 0 };
    char thread[48];

    if (!lanes)
        return;
    report_threads(&who, w, lanes);
    if (lanes & (lanes - 1))
        buf_printf(&who, "; first: thread %s",
                   report_thread_of(thread, sizeof thread, w, __builtin_ctz(lanes)));
    report_row(b, "who", "%s", buf_text(&who));
    buf_done(&who);
}

/* ---- Rows ----------------------------------------------------------------------------------- */

enum { LABEL_COLUMNS = 10 };

void report_row(struct buf *b, const char *name, const char *fmt, ...)
{
    struct buf text = { 0 };
    int column = LABEL_COLUMNS;
    const char *at;
    va_list args;

    va_start(args, fmt);
    buf_vprintf(&text, fmt, args);
    va_end(args);
    buf_printf(b, "  %-8s", name);
    for (at = buf_text(&text); *at;) {
        int n = (int)strcspn(at, " ");

        if (column > LABEL_COLUMNS && column + n > REPORT_COLUMNS) {
            buf_putc(b, '\n');
            buf_fill(b, ' ', LABEL_COLUMNS);
            column = LABEL_COLUMNS;
        } else if (column > LABEL_COLUMNS) {
            buf_putc(b, ' ');
        }
        buf_put(b, at, (size_t)n);
        column += n + 1;
        at += n;
        at += strspn(at, " ");
    }
    buf_putc(b, '\n');
    buf_done(&text);
}

void report_why(struct buf *b, struct cta *cta, const char *why, const char *try_)
{
    if (why && *why) {
        report_row(b, "why", "%s", why);
        cta->fault->why = arena_string(cta->arena, why);
    }
    if (try_ && *try_) {
        report_row(b, "try", "%s", try_);
        cta->fault->try_ = arena_string(cta->arena, try_);
    }
}

/* ---- Where in the source -------------------------------------------------------------------- */

const char *report_kernel(const struct run *run)
{
    return run->launch->kernel_name ? run->launch->kernel_name : run->entry->name;
}

/* The place that the compiler gave it. */
static const struct source_loc *own_loc(const struct run *run, const struct insn *in)
{
    return &run->module->ast.locs[in ? in->loc : 0];
}

bool report_is_header(const struct cta *cta, const struct insn *in)
{
    const struct ast_module *m = &cta->run->module->ast;
    int file = own_loc(cta->run, in)->file;

    return in && in->loc && file >= 0 && file < m->file_count && m->is_header[file];
}

bool report_is_users(const struct cta *cta, const struct insn *in)
{
    return in && in->loc && !report_is_header(cta, in);
}

static bool holds(const struct function *f, const struct insn *in)
{
    return f->insns && in >= f->insns && in < f->insns + f->insn_count;
}

/* The first call of the function that holds an instruction; NULL: none is known. */
static const struct insn *call_of(const struct run *run, const struct insn *in)
{
    const struct ptx_module *m = run->module;
    const struct function *callee = NULL;

    for (int i = 0; i < m->ast.function_count && !callee; i++)
        callee = holds(&m->functions[i], in) ? &m->functions[i] : NULL;
    for (int i = 0; callee && i < m->ast.function_count; i++)
        for (int k = 0; k < m->functions[i].insn_count; k++) {
            const struct insn *call = &m->functions[i].insns[k];

            if (call->control == CONTROL_CALL && call->extra &&
                ((const struct call *)call->extra)->callee == callee)
                return call;
        }
    return NULL;
}

/* What stands for the instruction in the user's own code. */
static const struct insn *users_insn(const struct cta *cta, const struct insn *in)
{
    const struct insn *at = in;

    if (in && in == cta->called_in)
        return cta->called_from;
    for (int depth = 0; at && depth < MAX_CLIMB && !report_is_users(cta, at); depth++)
        at = call_of(cta->run, at);
    return at && report_is_users(cta, at) ? at : in;
}

/*
 * In a debug build, code of a header that was inlined in another header names no line of the
 * user's; the .loc before it does.
 */
const struct source_loc *report_loc(const struct cta *cta, const struct insn *in)
{
    const struct ast_module *m = &cta->run->module->ast;
    const struct insn *at = users_insn(cta, in);

    for (int i = at ? at->loc : 0; i > 0; i--)
        if (m->locs[i].line && !(m->locs[i].file >= 0 && m->is_header[m->locs[i].file]))
            return &m->locs[i];
    return own_loc(cta->run, at);
}

void report_from(struct cta *cta, const struct frame *frame, const struct insn *in)
{
    const struct insn *at = in;

    for (const struct frame *f = frame; f && f->caller && !report_is_users(cta, at); f = f->caller)
        at = f->call_block->control;
    cta->called_in = in;
    cta->called_from = report_is_users(cta, at) ? at : in;
}

static const char *file_at(const struct run *run, int file)
{
    const struct ast_module *ast = &run->module->ast;

    return file > 0 && file < ast->file_count ? ast->files[file] : NULL;
}

const char *report_file(const struct cta *cta, const struct insn *in)
{
    const struct source_loc *loc = report_loc(cta, in);

    return loc->line ? file_at(cta->run, loc->file) : NULL;
}

const char *report_place(char *out, size_t size, const struct cta *cta, const struct insn *in)
{
    const char *file = report_file(cta, in);

    if (file)
        snprintf(out, size, "%.60s line %d", file, report_loc(cta, in)->line);
    else
        snprintf(out, size, "PTX line %d", in ? in->ptx_line : 0);
    return out;
}

const char *report_line(char *out, size_t size, const struct cta *cta, const struct insn *in)
{
    if (report_file(cta, in))
        snprintf(out, size, "line %d", report_loc(cta, in)->line);
    else
        snprintf(out, size, "PTX line %d", in ? in->ptx_line : 0);
    return out;
}

void report_set_place(const struct cta *cta, const struct insn *in, struct err *err)
{
    const struct source_loc *loc = report_loc(cta, in);
    const char *file = report_file(cta, in);

    if (!err || !file)
        return;
    snprintf(err->place, sizeof err->place, "%.60s", file);
    err_at(err, loc->line, loc->column, 1);
}

/* ---- Names ---------------------------------------------------------------------------------- */

/*
 * Itanium C++ ABI, "Mangling": a name is its length and its letters; Z ... E encloses a function's
 * name, N ... E those of namespaces. The last name before the types is the one that was written.
 */
const char *report_demangle(char *out, size_t size, const char *name)
{
    const char *at = name, *last = NULL;
    size_t length = 0;

    snprintf(out, size, "%s", name);
    if (strncmp(name, "_Z", 2))
        return out;
    for (at += 2; *at;) {
        size_t n = 0;
        const char *digits = at;

        if (*at >= '1' && *at <= '9') {
            while (*at >= '0' && *at <= '9' && n < 4096)
                n = n * 10 + (size_t)(*at++ - '0');
            if (n > strlen(at))
                break;
            last = at;
            length = n;
            at += n;
            continue;
        }
        if (last && *at != 'E' && strncmp(name, "_ZZ", 3) && strncmp(name, "_ZN", 3))
            break; /* the types of the arguments */
        (void)digits;
        at++;
    }
    if (last)
        snprintf(out, size, "%.*s", (int)min_i64((int64_t)length, (int64_t)size - 1), last);
    return out;
}

const struct shared_variable *report_shared(const struct run *run, uint64_t address, int base)
{
    const struct ptx_module *m = run->module;
    const struct shared_variable *found = NULL;

    if (m->bases[base].kind == BASE_SHARED)
        return &m->shared[m->bases[base].at];
    for (int i = 0; i < m->shared_count; i++) {
        const struct shared_variable *v = &m->shared[i];
        uint64_t end = v->size ? (uint64_t)v->address + v->size : run->shared_bytes;

        if (v->kernel && v->kernel != run->entry->ast)
            continue;
        if (address >= v->address && address < end && (!found || v->size))
            found = v;
    }
    return found;
}

int report_parameter(const struct run *run, uint64_t offset)
{
    const struct ptx_kernel *k = run->launch->kernel;

    for (size_t i = 0; i < k->parameter_count; i++) {
        const struct ptx_parameter *p = &k->parameters[i];

        if (offset >= (uint64_t)p->offset && offset < (uint64_t)p->offset + (uint64_t)p->size)
            return (int)i;
    }
    return -1;
}

const char *report_parameter_name(char *out, size_t size, const struct run *run, int parameter)
{
    const char *const *names = run->launch->parameter_names;

    if (names && names[parameter])
        snprintf(out, size, "%.60s", names[parameter]);
    else
        snprintf(out, size, "argument %d", parameter + 1);
    return out;
}

/* ---- Callers -------------------------------------------------------------------------------- */

/* The string at a label of the section .debug_str: `.b8 95,90,...,0`. */
static void read_string(const struct ast_module *m, struct bytes label, int skip, char *out,
                        size_t size)
{
    const char *text = m->text.data, *end = text + m->text.size, *at = text;
    size_t n = 0;

    out[0] = '\0';
    while ((at = memmem(at, (size_t)(end - at), label.data, label.size)) != NULL) {
        at += label.size;
        if (at < end && *at == ':' && (size_t)(at - text) > label.size &&
            at[-(ptrdiff_t)label.size - 1] == '\n')
            break;
    }
    if (!at)
        return;
    at++;
    while (at < end && n + 1 < size) {
        unsigned v = 0;

        while (at < end && (*at < '0' || *at > '9')) {
            if (*at == '}' || *at == ':')
                goto out;
            if (*at == '.' && end - at > 3)
                at += 3; /* .b8 */
            else
                at++;
        }
        while (at < end && *at >= '0' && *at <= '9')
            v = v * 10 + (unsigned)(*at++ - '0');
        if (skip-- > 0)
            continue;
        if (!v)
            break;
        out[n++] = (char)v;
    }
out:
    out[n] = '\0';
}

/* The place that a place was inlined at, as one of the module's; NULL: it was not inlined. */
static const struct source_loc *inlined_at(const struct ast_module *m, const struct source_loc *loc,
                                           struct source_loc *out)
{
    if (!loc->at_line)
        return NULL;
    *out =
        (struct source_loc){ .file = loc->at_file, .line = loc->at_line, .column = loc->at_column };
    for (int i = 1; i < m->loc_count; i++) {
        const struct source_loc *l = &m->locs[i];

        if (l->file == out->file && l->line == out->line && l->column == out->column && l->at_line)
            return l;
    }
    return out;
}

static void put_function(struct buf *b, const struct ast_module *m, const struct source_loc *loc)
{
    char mangled[256], name[256];

    if (!loc->function.size)
        return;
    read_string(m, loc->function, loc->function_skip, mangled, sizeof mangled);
    if (mangled[0])
        buf_printf(b, "%s%s()", b->size ? ", in " : "",
                   report_demangle(name, sizeof name, mangled));
}

static void put_call(struct buf *b, const struct run *run, const struct source_loc *loc)
{
    const char *file = file_at(run, loc->file);

    buf_printf(b, " called in %s%sline %d", file ? file : "", file ? " " : "", loc->line);
}

void report_callers(struct buf *b, const struct warp *w, const struct insn *in)
{
    const struct run *run = w->cta->run;
    const struct ast_module *m = &run->module->ast;
    const struct source_loc *loc = own_loc(run, in), *outer;
    struct source_loc place;
    struct buf text = { 0 };
    char name[256];

    for (int depth = 0; depth < 8 && (outer = inlined_at(m, loc, &place)) != NULL; depth++) {
        put_function(&text, m, loc);
        if (text.size)
            put_call(&text, run, outer);
        if (outer == &place)
            break;
        loc = outer;
    }
    for (const struct frame *f = w->frame; f && f->caller; f = f->caller) {
        const struct insn *call = f->call_block->control;

        buf_printf(&text, "%s%s()", text.size ? ", in " : "",
                   report_demangle(name, sizeof name, f->function->name));
        put_call(&text, run, report_loc(w->cta, call));
        if (text.size > REPORT_TEXT)
            break;
    }
    if (text.size)
        report_row(b, "inside", "%s", buf_text(&text));
    buf_done(&text);
}
