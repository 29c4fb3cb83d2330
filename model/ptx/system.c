/*
 * Functions that a kernel calls and that no PTX has: printf, assert, malloc and free.
 *
 * The compiler leaves them as calls of undefined functions; on a GPU the driver links its own. Here
 * each is an instruction whose operands are the .param variables of the call.
 */
#include "model/ptx/system.h"

#include "model/ptx/heap.h"
#include "model/ptx/print.h"

#include <inttypes.h>

typedef uint32_t __attribute__((may_alias)) word32;

/* ---- Arguments ------------------------------------------------------------------------------ */

/* Word k of lane l of a .param variable is at row + k * ROW32 + 4 * l. */
static uint64_t argument(const struct warp *w, const struct insn *in, int i, int lane)
{
    const struct call *call = in->extra;
    const struct area *area = &call->arguments[i];
    const word32 *low = (const word32 *)(w->rows + area->row);
    const word32 *high = (const word32 *)(w->rows + area->row + ROW32);

    return low[lane] | (area->words > 1 ? (uint64_t)high[lane] << 32 : 0);
}

static void give(struct warp *w, const struct insn *in, int lane, uint64_t v)
{
    const struct call *call = in->extra;
    const struct area *area = call->results;

    if (!call->result_count)
        return;
    ((word32 *)(w->rows + area->row))[lane] = (uint32_t)v;
    if (area->words > 1)
        ((word32 *)(w->rows + area->row + ROW32))[lane] = (uint32_t)(v >> 32);
}

static int fail(struct warp *w, const struct insn *in, uint32_t lanes, uint64_t address,
                const char *why, const char *hint)
{
    w->fault = (struct fault_site){ .name = ERR_MemoryFault,
                                    .lanes = lanes,
                                    .address = address,
                                    .insn = in,
                                    .why = why ? why : "out of memory",
                                    .hint = hint };
    return EXEC_FAULT;
}

/* ---- printf --------------------------------------------------------------------------------- */

/* A lane's record is its own: lanes in ascending order, as one warp prints on a GPU. */
static int exec_vprintf(struct warp *w, const struct insn *in, uint32_t mask)
{
    struct arena *arena = w->cta->arena;
    struct buf record = { 0 };
    int rc = EXEC_OK;

    for (uint32_t m = mask; m && rc == EXEC_OK; m &= m - 1) {
        int lane = __builtin_ctz(m), count;
        uint64_t bad = 0;

        count = print_format(w, lane, argument(w, in, 0, lane), argument(w, in, 1, lane), &record,
                             &bad);
        if (count < 0 && argument(w, in, 0, lane))
            rc = fail(w, in, m & -m, bad,
                      arena_printf(arena,
                                   "printf reads a string or value at 0x%" PRIx64
                                   ", which is not in device memory",
                                   bad),
                      "look at the format and the pointers that printf gets: %s takes a string");
        print_add(&w->cta->printed, &record);
        buf_cut(&record, 0);
        give(w, in, lane, (uint32_t)count);
    }
    buf_done(&record);
    return rc;
}

/* ---- assert --------------------------------------------------------------------------------- */

static const char *text_at(const struct warp *w, int lane, uint64_t address)
{
    struct buf text = { 0 };
    const char *copy = "";

    if (address_read_text(w, lane, address, &text))
        copy = arena_copy(w->cta->arena, buf_text(&text), (size_t)min_i64((int64_t)text.size, 400));
    buf_done(&text);
    return copy ? copy : "";
}

/* The instruction, or where a header's function without lines of its own was called. */
static const struct insn *user_site(const struct warp *w, const struct insn *in)
{
    const struct frame *f = w->frame;

    for (; !in->loc && f->caller; f = f->caller)
        in = f->call_block->control;
    return in;
}

/* __assertfail(message, file, line, function, size of a character) */
static int exec_assertfail(struct warp *w, const struct insn *in, uint32_t mask)
{
    int lane = __builtin_ctz(mask);
    const char *message = text_at(w, lane, argument(w, in, 0, lane));

    w->fault = (struct fault_site){
        .name = ERR_AssertFault, .lanes = mask, .insn = user_site(w, in), .why = message
    };
    return EXEC_FAULT;
}

/* ---- malloc and free ------------------------------------------------------------------------ */

static int exec_malloc(struct warp *w, const struct insn *in, uint32_t mask)
{
    for (uint32_t m = mask; m; m &= m - 1) {
        int lane = __builtin_ctz(m);

        give(w, in, lane, heap_take(w->cta->run->heap, w, lane, in, argument(w, in, 0, lane)));
    }
    return EXEC_OK;
}

static int fail_free(struct warp *w, const struct insn *in, int lane, uint64_t address,
                     enum heap_result result)
{
    struct arena *arena = w->cta->arena;
    const struct insn *by = heap_freer(w->cta->run->heap, address);
    uint32_t bit = (uint32_t)1 << lane;

    if (result == HEAP_FREED_TWICE)
        return fail(w, in, bit, address,
                    arena_printf(arena, "frees 0x%" PRIx64 ", which line %d freed before", address,
                                 w->cta->run->module->ast.locs[by ? by->loc : 0].line),
                    "one thread frees what one malloc gave, once");
    return fail(w, in, bit, address,
                arena_printf(arena,
                             result == HEAP_INSIDE
                                 ? "frees 0x%" PRIx64 ", which is inside of what malloc gave"
                                 : "frees 0x%" PRIx64 ", which malloc did not give",
                             address),
                "free takes the pointer that malloc or new gave in a kernel, unchanged");
}

static int exec_free(struct warp *w, const struct insn *in, uint32_t mask)
{
    for (uint32_t m = mask; m; m &= m - 1) {
        int lane = __builtin_ctz(m);
        uint64_t address = argument(w, in, 0, lane);
        enum heap_result result = address ? heap_give(w->cta->run->heap, address, in) : HEAP_OK;

        if (result != HEAP_OK)
            return fail_free(w, in, lane, address, result);
    }
    return EXEC_OK;
}

/* ---- Names ---------------------------------------------------------------------------------- */

/* Shapes: the words of each argument, of the result. */
static const struct system_function FUNCTIONS[] = {
    { "vprintf", exec_vprintf, "22", "1", true, false },
    { "malloc", exec_malloc, "2", "2", true, true },
    { "free", exec_free, "2", "", true, true },
    { "__assertfail", exec_assertfail, "22122", "", false, false },
};

#define NESTED "a kernel that starts kernels (dynamic parallelism) is not executed"
static const struct {
    const char *name, *why;
} REFUSED[] = {
    { "cudaGetParameterBuffer", NESTED }, { "cudaLaunchDevice", NESTED },
    { "cudaDeviceSynchronize", NESTED },  { "__cudaCDP2", NESTED },
    { "cudaStreamCreate", NESTED },       { "cudaMemcpyAsync", NESTED },
    { "cudaMemsetAsync", NESTED },
};
#undef NESTED

const struct system_function *system_find(const char *name)
{
    for (size_t i = 0; i < COUNT(FUNCTIONS); i++)
        if (!strcmp(FUNCTIONS[i].name, name))
            return &FUNCTIONS[i];
    return NULL;
}

const char *system_refusal(const char *name)
{
    for (size_t i = 0; i < COUNT(REFUSED); i++)
        if (!strncmp(REFUSED[i].name, name, strlen(REFUSED[i].name)))
            return REFUSED[i].why;
    return NULL;
}

/* ---- Afterwards ----------------------------------------------------------------------------- */

enum { MAX_LEAKS = 16 /* places that are named */ };

static void warn_leak(const struct run *run, const struct heap_leak *leak, struct arena *arena,
                      struct ptx_warning *out)
{
    const struct ast_module *ast = &run->module->ast;
    const struct source_loc *loc = &ast->locs[leak->insn->loc];

    *out = (struct ptx_warning){
        .kind = PTX_WARNING_LEAK,
        .text =
            arena_printf(arena,
                         "leak: %" PRId64 " byte%s in %" PRId64 " allocation%s of the device heap "
                         "%s never freed",
                         leak->bytes, leak->bytes == 1 ? "" : "s", leak->count,
                         leak->count == 1 ? "" : "s", leak->count == 1 ? "was" : "were"),
        .file = leak->insn->loc && loc->file < ast->file_count ? ast->files[loc->file] : NULL,
        .line = loc->line,
        .count = leak->count,
        .block = leak->block,
        .thread = leak->thread,
    };
}

int system_warn(const struct run *run, int64_t lost, struct arena *arena, struct ptx_facts *facts)
{
    struct heap_leak leaks[MAX_LEAKS];
    int count = heap_leaks(run->heap, leaks, MAX_LEAKS);
    size_t n = facts->warning_count;
    struct ptx_warning *all;

    if (!count && !lost)
        return 0;
    all = arena_array(arena, n + (size_t)count + 1, sizeof *all);
    if (!all)
        return -1;
    if (n)
        memcpy(all, facts->warnings, n * sizeof *all);
    for (int i = 0; i < count; i++)
        warn_leak(run, &leaks[i], arena, &all[n++]);
    if (lost)
        all[n++] = (struct ptx_warning){
            .kind = PTX_WARNING_PRINTF_LOST,
            .text = arena_printf(arena,
                                 "printf: a launch prints at most %d bytes, and %" PRId64
                                 " more were dropped",
                                 PTX_PRINT_LIMIT, lost),
            .count = lost,
        };
    facts->warnings = all;
    facts->warning_count = n;
    return 0;
}
