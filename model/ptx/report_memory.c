/*
 * Reports of accesses to memory: outside, misaligned, freed, constant, without a value.
 */
#include "model/ptx/async.h"
#include "model/ptx/heap.h"
#include "model/ptx/report.h"
#include "model/ptx/shadow.h"

#include <inttypes.h>
#include <stdio.h>

/* An access this far from every buffer is no index that went astray, nor one this low. */
#define NEAR_BYTES ((uint64_t)1 << 36)
#define NULL_BYTES ((uint64_t)1 << 16)
/* No shared memory and no stack is larger than that. */
#define BEFORE_BYTES ((uint64_t)1 << 20)
/* Programs and their heaps lie above this on 64-bit hosts; buffers of the session lie below. */
#define HOST_BYTES ((uint64_t)1 << 40)
#define HOST_END   ((uint64_t)1 << 47)

struct memory_report {
    struct warp *w;
    const struct run *run;
    const struct insn *in;
    const char *kernel, *verb, *name;
    char what[64]; /* storage of name */
    char place[96];
    char made[112]; /* storage of origin */
    uint64_t address;
    int64_t distance, size; /* from the start of what it was meant for; its bytes */
    int unit;               /* bytes of an element */
    const char *type;       /* "float", or NULL */
    const char *origin;
    struct buf text;
    struct err *err;
};

static struct ptx_fault *fault_of(struct memory_report *m)
{
    return m->w->cta->fault;
}

/* "(In[3] line 4, 24 threads)" */
static const char *tail(const struct memory_report *m, char *out, size_t size)
{
    int n = __builtin_popcount(m->w->fault.lanes);

    snprintf(out, size, "(%s, %d thread%s)", m->place, n, n == 1 ? "" : "s");
    return out;
}

/* ---- The allocation ------------------------------------------------------------------------- */

/* The buffer that an address just missed: the one before it, or the next when that is nearer. */
static const struct region *nearest_region(const struct run *run, uint64_t address)
{
    const struct region *before = region_find(run, address), *after;

    if (run->heap && address >= HEAP_WINDOW) /* another list, and nothing lies behind it */
        return before;
    after = before ? before + 1 : run->regions;
    if (after >= run->regions + run->region_count)
        return before;
    if (before && address - before->end <= after->start - address)
        return before;
    return after;
}

static const struct ptx_buffer *buffer_of(const struct run *run, const struct region *r)
{
    return r && r->buffer >= 0 ? &run->launch->buffers[r->buffer] : NULL;
}

static bool is_near(const struct region *r, uint64_t address)
{
    if (!r || address < NULL_BYTES)
        return false;
    return address < r->start ? r->start - address <= NEAR_BYTES
                              : address < r->end || address - r->end <= NEAR_BYTES;
}

/* What the access was meant for: what its pointer came from, else what is nearest. */
static const struct region *meant_region(struct memory_report *m)
{
    const struct region *r = m->run->base_regions[m->in->base];

    if (!r)
        r = nearest_region(m->run, m->address);
    return is_near(r, m->address) || (r && m->run->base_regions[m->in->base]) ? r : NULL;
}

static bool is_of_heap(const struct memory_report *m, const struct region *r)
{
    return m->run->heap && r->start >= HEAP_WINDOW;
}

/* "malloc in In[3] line 4" */
static const char *made_by(struct memory_report *m, const struct region *r)
{
    char place[96];

    if (!is_of_heap(m, r))
        return "a variable of the module";
    report_place(place, sizeof place, m->w->cta, heap_maker(m->run->heap, r->start));
    snprintf(m->made, sizeof m->made, "malloc in %s", place);
    return m->made;
}

static void take_region(struct memory_report *m, const struct region *r)
{
    const struct ptx_buffer *b = buffer_of(m->run, r);
    struct ptx_fault *f = fault_of(m);

    m->distance = (int64_t)(m->address - r->start);
    m->size = (int64_t)(r->end - r->start);
    m->unit = b && b->element_bytes > 0 ? b->element_bytes : b ? 1 : m->w->fault.bytes;
    m->type = b && b->element_bytes > 0 ? b->element_type : NULL;
    m->name = r->name ? report_demangle(m->what, sizeof m->what, r->name) : "the buffer";
    m->origin = b ? b->origin : made_by(m, r);
    f->buffer = r->buffer;
    f->index = m->distance >= 0 ? m->distance / m->unit : -((m->unit - 1 - m->distance) / m->unit);
    f->past_end = m->distance < 0 ? m->distance : m->distance - m->size;
}

/* "float[1000], made in In[4] line 1" */
static void put_shape(struct memory_report *m, struct buf *b)
{
    if (m->type)
        buf_printf(b, ": %s[%" PRId64 "]", m->type, m->size / m->unit);
    else
        buf_printf(b, ", %" PRId64 " bytes", m->size);
    if (m->origin)
        buf_printf(b, ", %s", m->origin);
}

static void put_where(struct memory_report *m)
{
    const struct ptx_fault *f = fault_of(m);
    struct buf b = { 0 };

    if (f->past_end < 0 && m->distance < 0)
        buf_printf(&b, "%" PRId64 " bytes before the start of %s", -m->distance, m->name);
    else if (m->distance >= m->size)
        buf_printf(&b, "%" PRId64 " bytes past the end of %s", m->distance - m->size, m->name);
    else
        buf_printf(&b, "byte %" PRId64 " of %s", m->distance, m->name);
    put_shape(m, &b);
    report_row(&m->text, "where", "%s", buf_text(&b));
    buf_done(&b);
}

/* Where a wild index ended up, when that is another allocation. */
static void put_landing(struct memory_report *m, const struct region *meant)
{
    const struct region *r = region_find(m->run, m->address);
    int64_t at = r ? (int64_t)(m->address - r->start) : 0;
    const struct ptx_buffer *b = buffer_of(m->run, r);
    int64_t unit = b && b->element_bytes > 0 ? b->element_bytes : 1;

    if (!r || r == meant || m->address >= r->end)
        return;
    report_row(&m->text, "lands", "in %s%s%" PRId64 "]%s: a GPU would %s without a word",
               r->name ? r->name : "another buffer", unit > 1 ? "[" : " [byte ", at / unit,
               r->is_freed ? ", which was freed" : "",
               m->in->flags & INSN_WRITES ? "overwrite it" : "read that");
}

/* ---- Texts ---------------------------------------------------------------------------------- */

static void say(struct memory_report *m, const struct guess *g)
{
    report_why(&m->text, m->w->cta, g->why, g->try_);
    if (g->try_[0])
        err_next(m->err, "%s", g->try_);
}

#define WHY(g, ...) snprintf((g)->why, sizeof(g)->why, __VA_ARGS__)
#define TRY(g, ...) snprintf((g)->try_, sizeof(g)->try_, __VA_ARGS__)

static int fail_null(struct memory_report *m)
{
    const struct base *b = &m->run->module->bases[m->in->base];
    struct guess g = { .why = "" };
    char t[160], name[80];

    err_set(m->err, ERR_MemoryFault, "%s %s address 0x%" PRIx64 ", which is a null pointer %s",
            m->kernel, m->verb, m->address, tail(m, t, sizeof t));
    if (b->kind == BASE_PARAMETER) {
        report_parameter_name(name, sizeof name, m->run, report_parameter(m->run, b->at));
        WHY(&g, "%s is 0: the launch passed no buffer for it", name);
        TRY(&g, "pass a buffer for %s", name);
    } else {
        WHY(&g, "the pointer was 0 where it was used");
        TRY(&g, "let it point to a buffer, or test it first");
    }
    report_row(&m->text, "where", "address 0x%" PRIx64 ": no memory has it", m->address);
    say(m, &g);
    return -1;
}

static int fail_far(struct memory_report *m)
{
    struct guess g = { .why = "" };
    bool is_host = m->address >= HOST_BYTES && m->address < HOST_END;
    const struct base *b = &m->run->module->bases[m->in->base];
    char t[160], name[80] = "a pointer";

    if (b->kind == BASE_PARAMETER)
        report_parameter_name(name, sizeof name, m->run, report_parameter(m->run, b->at));
    err_set(m->err, ERR_MemoryFault,
            is_host ? "%s %s 0x%" PRIx64 ", which is an address of the host, in no buffer %s"
                    : "%s %s address 0x%" PRIx64 ", which is in no buffer of the launch %s",
            m->kernel, m->verb, m->address, tail(m, t, sizeof t));
    report_row(&m->text, "where", "address 0x%" PRIx64 ": no buffer is near", m->address);
    if (is_host) {
        WHY(&g,
            "%s holds an address of host memory (malloc, new, a local variable, a reference); "
            "a kernel reaches device memory only",
            name);
        TRY(&g, "a buffer (%%buffer; in a program cudaMalloc and cudaMemcpy) in its place");
    } else {
        WHY(&g, "%s was not made from the address of a buffer, or went far from it", name);
        TRY(&g, "print the pointer and the index before %s", m->place);
    }
    say(m, &g);
    return -1;
}

static int fail_freed(struct memory_report *m, const struct ptx_buffer *b)
{
    struct guess g = { .why = "" };
    char t[160];

    err_set(m->err, ERR_MemoryFault, "%s %s %s[%" PRId64 "], but %s was freed %s", m->kernel,
            m->verb, m->name, fault_of(m)->index, m->name, tail(m, t, sizeof t));
    put_where(m);
    WHY(&g, "%s was %s; its memory may be anybody's now", m->name, b->freed);
    TRY(&g, "make %s again before the launch, or launch before it is freed", m->name);
    say(m, &g);
    return -1;
}

/* Of the device heap: the model knows who gave it back. */
static int fail_given_back(struct memory_report *m, const struct region *r)
{
    struct guess g = { .why = "" };
    char t[160], by[96];

    report_place(by, sizeof by, m->w->cta, heap_freer(m->run->heap, r->start));
    err_set(m->err, ERR_MemoryFault, "%s %s memory of the device heap after its free %s", m->kernel,
            m->verb, tail(m, t, sizeof t));
    put_where(m);
    WHY(&g, "free in %s gave it back; a later malloc may hand it to any thread", by);
    TRY(&g, "free after the last use, and set the pointer to nullptr there");
    say(m, &g);
    return -1;
}

static int fail_constant(struct memory_report *m)
{
    struct guess g = { .why = "" };
    char t[160];

    err_set(m->err, ERR_MemoryFault, "%s writes %s[%" PRId64 "], which is constant %s", m->kernel,
            m->name, fault_of(m)->index, tail(m, t, sizeof t));
    put_where(m);
    WHY(&g, "%s is constant: a kernel can read it only", m->name);
    TRY(&g, "__device__ in place of __constant__, or write to another buffer");
    say(m, &g);
    return -1;
}

static int fail_outside(struct memory_report *m, const struct region *r)
{
    const struct ptx_buffer *b = buffer_of(m->run, r);
    int64_t count = m->size / m->unit;
    struct guess g = { .why = "" };
    bool is_inside = m->distance >= 0 && m->distance < m->size;
    char t[160];

    if (b && b->freed && is_inside)
        return fail_freed(m, b);
    if (r->is_freed && is_inside && is_of_heap(m, r))
        return fail_given_back(m, r);
    if (r->is_read_only && is_inside && m->in->flags & INSN_WRITES &&
        m->distance + m->w->fault.bytes <= m->size)
        return fail_constant(m);
    if (is_inside) {
        err_set(m->err, ERR_MemoryFault,
                "%s %s %d bytes from %s[%" PRId64 "] on, but %s ends %" PRId64
                " bytes after that %s",
                m->kernel, m->verb, m->w->fault.bytes, m->name, fault_of(m)->index, m->name,
                m->size - m->distance, tail(m, t, sizeof t));
        WHY(&g,
            "an access of %d bytes does not fit into what is left; %s has %" PRId64 " elements "
            "of %d bytes",
            m->w->fault.bytes, m->name, count, m->unit);
        TRY(&g, "a buffer whose size is a multiple of %d bytes", m->w->fault.bytes);
    } else {
        err_set(m->err, ERR_MemoryFault, "%s %s %s[%" PRId64 "], but %s has %" PRId64 " %s%s %s",
                m->kernel, m->verb, m->name, fault_of(m)->index, m->name, count,
                m->type        ? m->type
                : m->unit == 1 ? "byte"
                               : "element",
                count == 1 ? "" : "s", tail(m, t, sizeof t));
        guess_index(m->w, r, m->unit, &g);
    }
    put_where(m);
    put_landing(m, r);
    say(m, &g);
    return -1;
}

static int fail_misaligned(struct memory_report *m)
{
    const struct region *r = meant_region(m);
    struct guess g = { .why = "" };
    int bytes = m->w->fault.bytes;
    char t[160];

    err_set(m->err, ERR_MemoryFault,
            "%s %s %d bytes at 0x%" PRIx64 ", which is no multiple of %d %s", m->kernel, m->verb,
            bytes, m->address, bytes, tail(m, t, sizeof t));
    if (r) {
        take_region(m, r);
        put_where(m);
    }
    if (r && m->type && m->unit < bytes)
        WHY(&g,
            "a value of %d bytes is read at a multiple of %d; the pointer to %s, whose elements "
            "have %d bytes, was cast to a wider type",
            bytes, bytes, m->type, m->unit);
    else
        WHY(&g,
            "a value of %d bytes lies at a multiple of %d; a cast or an offset in bytes moved "
            "the pointer",
            bytes, bytes);
    TRY(&g, "let the index be a multiple of %d bytes, or memcpy the bytes", bytes);
    say(m, &g);
    return -1;
}

/* ---- Shared and local memory ---------------------------------------------------------------- */

static int fail_shared(struct memory_report *m)
{
    uint64_t at = m->address - SHARED_WINDOW;
    const struct shared_variable *v = report_shared(m->run, at, m->in->base);
    int64_t end = v && v->size ? (int64_t)v->address + v->size : m->run->shared_bytes;
    int64_t distance = v ? (int64_t)at - v->address : (int64_t)at;
    int64_t size = end - (v ? v->address : 0);
    int unit = m->w->fault.bytes;
    struct region extent = { .name = NULL };
    struct guess g = { .why = "" };
    char t[160], name[64] = "shared memory";

    if (at > UINT32_MAX / 2 && at <= UINT32_MAX) /* 32-bit addresses wrap below 0 */
        distance = (int64_t)(int32_t)(uint32_t)at - (v ? (int64_t)v->address : 0);
    if (v)
        report_demangle(name, sizeof name, v->name);
    if (v && !v->size && !m->run->launch->dynamic_shared_bytes) {
        err_set(m->err, ERR_MemoryFault,
                "%s %s %s[%" PRId64 "], but the launch gives no dynamic shared memory %s",
                m->kernel, m->verb, name, distance / unit, tail(m, t, sizeof t));
        WHY(&g, "extern __shared__ %s has as many bytes as the third value in <<<>>> says: 0",
            name);
        TRY(&g, "%s<<<grid, block, bytes>>>", m->kernel);
        report_row(&m->text, "where", "0 bytes of dynamic shared memory");
        say(m, &g);
        return -1;
    }
    err_set(m->err, ERR_MemoryFault,
            "%s %s %s[%" PRId64 "], but %s has %" PRId64 " bytes, %" PRId64 " of %d %s", m->kernel,
            m->verb, name, distance >= 0 ? distance / unit : -((unit - 1 - distance) / unit), name,
            size, size / unit, unit, tail(m, t, sizeof t));
    if (distance < 0)
        report_row(&m->text, "where",
                   "%" PRId64 " bytes before the start of %s, shared memory of a block", -distance,
                   name);
    else
        report_row(&m->text, "where",
                   "%" PRId64 " bytes past the end of %s, shared memory of a block",
                   distance - size, name);
    extent.name = name;
    extent.start = (m->in->space == SPACE_GENERIC ? SHARED_WINDOW : 0) + (v ? v->address : 0);
    extent.end = extent.start + (uint64_t)size;
    guess_index(m->w, &extent, unit, &g);
    say(m, &g);
    return -1;
}

static int fail_local(struct memory_report *m)
{
    uint64_t at = m->address - LOCAL_WINDOW;
    int64_t end = (int64_t)m->w->frame->stack_at + m->w->frame->function->local_bytes;
    struct guess g = { .why = "" };
    char t[160];

    err_set(m->err, ERR_MemoryFault, "%s %s %d bytes outside its local variables %s", m->kernel,
            m->verb, m->w->fault.bytes, tail(m, t, sizeof t));
    report_row(&m->text, "where",
               "byte %" PRId64
               " of the thread's stack, of which the functions that run have %" PRId64,
               (int64_t)(int32_t)(uint32_t)at, end);
    WHY(&g, "an index into an array of the thread itself went past it, or a pointer to a variable "
            "outlived its function");
    TRY(&g, "test the index against the array's length before %s", m->place);
    say(m, &g);
    return -1;
}

static int fail_parameter(struct memory_report *m)
{
    struct guess g = { .why = "" };
    char t[160];

    err_set(m->err, ERR_MemoryFault, "%s %s %d bytes outside the kernel's parameters %s", m->kernel,
            m->verb, m->w->fault.bytes, tail(m, t, sizeof t));
    WHY(&g, m->in->flags & INSN_WRITES
                ? "parameters are constant"
                : "an index into an array in a struct argument went past it");
    TRY(&g, "copy the argument to a variable first, and test the index");
    say(m, &g);
    return -1;
}

/* ---- Bytes without a value ------------------------------------------------------------------ */

/* Bytes from the start that have values, when those are all that have. -1: they are not. */
static int64_t defined_prefix(const struct region *r)
{
    uint64_t size = r->end - r->start, all = defined_count(r->defined, 0, size);

    return defined_all(r->defined, 0, all ? all : 1) || !all ? (int64_t)all : -1;
}

static void guess_undefined(struct memory_report *m, const struct region *r, struct guess *g)
{
    int64_t prefix = defined_prefix(r), count = m->size / m->unit;

    if (prefix == 0) {
        WHY(g, "%s was made without values, and nothing has written to it", m->name);
        TRY(g, "give %s values first: %%buffer ... = zeros, or a kernel that writes it", m->name);
    } else if (prefix == count && m->unit > 1) {
        WHY(g,
            "only the first %" PRId64 " bytes of %s have values: %" PRId64
            " is its number of elements, but a size counts bytes (%" PRId64 ")",
            prefix, m->name, count, m->size);
        TRY(g, "%" PRId64 " * sizeof(%s) in the memset or copy", count,
            m->type ? m->type : "element");
    } else if (prefix > 0) {
        WHY(g, "only %s[0..%" PRId64 "] has values; what wrote it stopped there", m->name,
            prefix / m->unit - 1);
        TRY(g, "write all %" PRId64 " elements first, or read %" PRId64 " only", count,
            prefix / m->unit);
    } else {
        WHY(g, "%" PRId64 " of the %" PRId64 " bytes of %s have values, these have not",
            (int64_t)defined_count(r->defined, 0, (uint64_t)m->size), m->size, m->name);
        TRY(g, "let the thread read what was written only, or write all of %s first", m->name);
    }
}

static int fail_undefined_global(struct memory_report *m)
{
    const struct region *r = region_find(m->run, m->address);
    struct guess g = { .why = "" };
    char t[160];

    take_region(m, r);
    err_set(m->err, ERR_MemoryFault, "%s reads %s[%" PRId64 "], which was never written %s",
            m->kernel, m->name, fault_of(m)->index, tail(m, t, sizeof t));
    put_where(m);
    guess_undefined(m, r, &g);
    say(m, &g);
    return -1;
}

static int fail_undefined_shared(struct memory_report *m)
{
    uint64_t at = m->address - SHARED_WINDOW;
    const struct shared_variable *v = report_shared(m->run, at, m->in->base);
    const struct insn *copy = async_under_way(m->w->cta, at);
    int unit = m->w->fault.bytes;
    struct guess g = { .why = "" };
    char t[160], name[64] = "shared memory", line[96];

    if (v)
        report_demangle(name, sizeof name, v->name);
    at -= v ? v->address : 0;
    err_set(m->err, ERR_MemoryFault,
            "%s reads %s[%" PRIu64 "], which no thread of the block wrote %s", m->kernel, name,
            at / (uint64_t)unit, tail(m, t, sizeof t));
    report_row(&m->text, "where", "byte %" PRIu64 " of %s, shared memory of a block", at, name);
    if (copy) {
        WHY(&g, "a copy to it is under way (%s), which its thread has not waited for",
            report_line(line, sizeof line, m->w->cta, copy));
        TRY(&g,
            "wait for it (cp.async.wait_group, __pipeline_wait_prior) before %s, then "
            "__syncthreads()",
            m->place);
        say(m, &g);
        return -1;
    }
    WHY(&g, "shared memory has no values when a block starts, and none was written here");
    TRY(&g, "write %s[%" PRIu64 "] before %s, then __syncthreads()", name, at / (uint64_t)unit,
        m->place);
    say(m, &g);
    return -1;
}

static int fail_undefined(struct memory_report *m)
{
    struct guess g = { .why = "" };
    char t[160];

    if (m->address - SHARED_WINDOW < WINDOW_BYTES)
        return fail_undefined_shared(m);
    if (m->address - LOCAL_WINDOW >= WINDOW_BYTES)
        return fail_undefined_global(m);
    err_set(m->err, ERR_MemoryFault, "%s reads a local variable that has no value %s", m->kernel,
            tail(m, t, sizeof t));
    WHY(&g, "a variable of the thread itself starts without a value, and this one was not written");
    TRY(&g, "= 0 where it is declared");
    say(m, &g);
    return -1;
}

/* A register of a debug build: exec_locals.c. */
static int fail_local_variable(struct memory_report *m)
{
    const struct fault_site *site = &m->w->fault;
    struct guess g = { .why = "" };
    char t[160], name[64];

    if (!report_variable(name, sizeof name, m->run, m->w->frame->function, m->in, site->row)) {
        err_set(m->err, ERR_MemoryFault, "%s reads a local variable that has no value yet %s",
                m->kernel, tail(m, t, sizeof t));
        snprintf(name, sizeof name, "it");
    } else {
        err_set(m->err, ERR_MemoryFault, "%s reads %s, which has no value yet %s", m->kernel, name,
                tail(m, t, sizeof t));
        report_row(&m->text, "where", "%s, a variable of the thread itself", name);
    }
    WHY(&g,
        "a variable of the thread itself starts without a value, and on the way that these threads "
        "took nothing was assigned to %s",
        name);
    TRY(&g, "= 0 where it is declared, or assign to it in every branch");
    say(m, &g);
    return -1;
}

/* The index fell below 0: the address lies in front of the space that the pointer was made in. */
static bool is_before(uint64_t address, uint64_t window)
{
    return window - address - 1 < BEFORE_BYTES;
}

/* ---- Which ---------------------------------------------------------------------------------- */

static int fail(struct memory_report *m)
{
    const struct fault_site *site = &m->w->fault;
    const struct region *r;

    fault_of(m)->is_unset =
        site->reason == REASON_LOCAL ||
        (site->reason == REASON_UNDEFINED && m->address - LOCAL_WINDOW < WINDOW_BYTES);
    if (site->reason == REASON_LOCAL)
        return fail_local_variable(m);
    if (site->reason == REASON_UNDEFINED)
        return fail_undefined(m);
    if (!site->why)
        return fail_misaligned(m);
    if (is_before(m->address, SHARED_WINDOW))
        return fail_shared(m);
    if (is_before(m->address, LOCAL_WINDOW))
        return fail_local(m);
    if (m->address - SHARED_WINDOW <= UINT32_MAX && strcmp(site->why, "any buffer"))
        return fail_shared(m);
    if (!strcmp(site->why, "the thread's stack"))
        return fail_local(m);
    if (!strcmp(site->why, "the kernel's parameters"))
        return fail_parameter(m);
    if (m->address < NULL_BYTES)
        return fail_null(m);
    r = meant_region(m);
    if (!r)
        return fail_far(m);
    take_region(m, r);
    return fail_outside(m, r);
}

int report_memory(struct warp *w, struct err *err)
{
    const struct fault_site *site = &w->fault;
    struct memory_report m = { .w = w,
                               .run = w->cta->run,
                               .in = site->insn,
                               .kernel = report_kernel(w->cta->run),
                               .verb = site->insn->flags & INSN_WRITES ? "writes" : "reads",
                               .address = site->address,
                               .unit = 1,
                               .err = err };

    report_place(m.place, sizeof m.place, w->cta, site->insn);
    report_set_place(w->cta, site->insn, err);
    report_who(&m.text, w, site->lanes);
    report_callers(&m.text, w, site->insn);
    if (!site->bytes) {
        err_set(err, ERR_MemoryFault, "%s: %s (%s)", m.kernel, site->why, m.place);
        if (site->hint)
            err_next(err, "%s", site->hint);
        report_why(&m.text, w->cta, NULL, site->hint);
    } else {
        fail(&m);
    }
    if (err)
        err_take_detail(err, buf_take(&m.text));
    buf_done(&m.text);
    return -1;
}
