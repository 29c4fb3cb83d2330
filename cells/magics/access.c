/*
 * %access: sectors of global memory and bank passes of shared memory that an index
 * pattern takes. The counting is model/memory.c's, the same that launches use; here
 * a call becomes the addresses of each warp. What a person reads is in access_view.c
 * and access_figure.c (one pattern) and in access_sweep.c (ranges and lists).
 */
#include "cells/magics/access.h"

#include "cells/internal.h"
#include "cells/magics.h"
#include "cells/render/text.h"

enum { MOST_STRIDE = 1 << 20, MOST_OFFSET = 1 << 30 };

/* Indexes above it are no array's: 2^44 elements of 16 bytes are 256 TB. */
#define MOST_INDEX ((int64_t)1 << 44)

const char *access_percent(struct result *result, double fraction)
{
    char text[TEXT_NUMBER];

    return result_text(result, "%s", text_percent(text, fraction));
}

const char *access_number(struct result *result, int64_t v)
{
    char text[TEXT_NUMBER];

    return result_text(result, "%s", text_number(text, (double)v));
}

/* ---- lines and words of a request ---- */

int access_lines(const struct access_request *r, uint64_t lines[WARP])
{
    int n = 0;

    for (uint32_t m = r->mask; m; m &= m - 1) {
        uint64_t line = r->address[__builtin_ctz(m)] / LINE_BYTES;
        int at = n;

        while (at > 0 && lines[at - 1] > line)
            at--;
        if (at > 0 && lines[at - 1] == line)
            continue;
        memmove(&lines[at + 1], &lines[at], (size_t)(n - at) * sizeof(*lines));
        lines[at] = line;
        n++;
    }
    return n;
}

enum access_word access_word_of(const struct access_point *p, const struct access_request *r,
                                uint64_t line, int word, int *lane)
{
    uint64_t first = line * LINE_BYTES + (uint64_t)word * BANK_BYTES;
    enum access_word out = WORD_UNTOUCHED;

    *lane = -1;
    for (uint32_t m = r->mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        uint64_t at = r->address[l];

        if (at < first + BANK_BYTES && at + (uint64_t)p->bytes > first) {
            *lane = l;
            return WORD_USED;
        }
        if (at / SECTOR_BYTES == first / SECTOR_BYTES)
            out = WORD_MOVED;
    }
    return out;
}

/* ---- the call ---- */

struct pattern {
    const struct sweep *sweep;
    struct thread_expr *index, *active; /* active NULL: every thread takes part */
    int64_t stride, offset, pad, row, base;
};

static int check_bytes(const struct call *call, int64_t bytes, struct err *err)
{
    int64_t nearest = 16;

    if (bytes <= 16 && (bytes & (bytes - 1)) == 0)
        return 0;
    while (nearest / 2 >= bytes)
        nearest /= 2;
    call_fail(call, "bytes", err, ERR_ValueError,
              "bytes=%lld: a lane reads or writes 1, 2, 4, 8 or 16 bytes at once",
              (long long)bytes);
    return err_next(err, "bytes=%lld is the nearest that holds them", (long long)nearest);
}

static int check_base(const struct call *call, int64_t base, int bytes, struct err *err)
{
    if (base % bytes == 0)
        return 0;
    call_fail(call, "base", err, ERR_ValueError,
              "base=%lld is misaligned: an access of %d bytes starts at a multiple of %d",
              (long long)base, bytes, bytes);
    return err_next(err, "base=%lld or base=%lld is aligned", (long long)(base / bytes * bytes),
                    (long long)(base / bytes * bytes + bytes));
}

static int open_pattern(const struct sweep *sweep, size_t i, struct access_point *p,
                        struct pattern *out, struct err *err)
{
    const struct call *call = sweep->call;
    int k = sweep_find(sweep, "index");

    *out = (struct pattern){ .sweep = sweep,
                             .stride = sweep_int(sweep, i, "stride"),
                             .offset = sweep_int(sweep, i, "offset"),
                             .pad = sweep_int(sweep, i, "pad"),
                             .row = sweep_int(sweep, i, "row"),
                             .base = sweep_int(sweep, i, "base") };
    p->bytes = (int)sweep_int(sweep, i, "bytes");
    p->is_shared = strcmp(sweep_text(sweep, i, "space"), "shared") == 0;
    p->shared_limit = session_device(call->session)->device.shared_per_block_optin;
    if (check_bytes(call, p->bytes, err) < 0 || check_base(call, out->base, p->bytes, err) < 0 ||
        thread_expr_open(call, "index", k < 0 ? 0 : sweep_index(sweep, i, (size_t)k), NULL,
                         &out->index, err) < 0)
        return -1;
    return call_given(call, "if") ? thread_expr_open(call, "if", 0, NULL, &out->active, err) : 0;
}

/* The byte that a thread starts at. */
static int address_of(const struct access_point *p, const struct pattern *pattern,
                      const struct thread *t, uint64_t *out, struct err *err)
{
    int64_t index, element;

    if (thread_expr_eval(pattern->index, t, 0, &index, err) < 0)
        return -1;
    if (index < 0)
        return thread_expr_fail(pattern->index, err,
                                "the index is %lld for thread %d: an array starts at 0",
                                (long long)index, t->tid);
    if (index > MOST_INDEX / (pattern->stride ? pattern->stride : 1))
        return thread_expr_fail(pattern->index, err,
                                "the index is %lld for thread %d: with its stride it is at most "
                                "2^44",
                                (long long)index, t->tid);
    element = index * pattern->stride + pattern->offset;
    element += element / pattern->row * pattern->pad;
    *out = (uint64_t)(pattern->base + element * p->bytes);
    if (p->is_shared && *out + (uint64_t)p->bytes > (uint64_t)p->shared_limit)
        return thread_expr_fail(pattern->index, err,
                                "thread %d reaches byte %llu: shared memory of a block ends at "
                                "%lld",
                                t->tid, (unsigned long long)*out, (long long)p->shared_limit);
    return 0;
}

static int run_warp(const struct access_point *p, const struct pattern *pattern, int w,
                    struct access_request *r, struct err *err)
{
    int8_t lanes[WARP][BANKS];

    *r = (struct access_request){ .mask = layout_mask(&p->layout, w) };
    for (uint32_t m = r->mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        struct thread t = thread_of(&p->layout, (struct extent){ 0, 0, 0 }, w * WARP + l);
        bool is_active = true;

        if (pattern->active && thread_expr_truth(pattern->active, &t, &is_active, err) < 0)
            return -1;
        if (!is_active)
            r->mask &= ~((uint32_t)1 << l);
        else if (address_of(p, pattern, &t, &r->address[l], err) < 0)
            return -1;
    }
    r->useful_bytes = memory_distinct_bytes(r->address, r->mask, p->bytes);
    r->lines = memory_lines(r->address, r->mask);
    if (p->is_shared) {
        r->passes = memory_schedule(r->address, r->mask, p->bytes, lanes, &r->degree);
        r->best_passes = memory_best_passes(r->mask, p->bytes);
    } else {
        r->sectors = memory_sectors(r->address, r->mask, p->bytes);
    }
    return 0;
}

static void add_request(struct access_point *p, const struct access_request *r)
{
    if (!r->mask)
        return;
    p->requests++;
    p->lanes += __builtin_popcount(r->mask);
    p->sectors += r->sectors;
    p->best_sectors += p->is_shared ? 0 : ceil_div(r->useful_bytes, SECTOR_BYTES);
    p->lines += r->lines;
    p->useful_bytes += r->useful_bytes;
    p->moved_bytes += (int64_t)r->sectors * SECTOR_BYTES;
    p->passes += r->passes;
    p->best_passes += r->best_passes;
    p->degree = r->degree > p->degree ? r->degree : p->degree;
}

/* One pattern for all warps of the block; the warps live in the arena. */
static int run_point(const struct sweep *sweep, size_t i, const struct pattern *pattern,
                     struct arena *arena, struct access_point *p, struct err *err)
{
    if (call_layout(sweep->call, extent_of_value(sweep_value(sweep, i, "block"), 1),
                    (struct extent){ 1, 1, 1 }, "block", &p->layout, err) < 0)
        return -1;
    p->warps = arena_array(arena, (size_t)p->layout.warps, sizeof(*p->warps));
    if (!p->warps)
        return err_set(err, ERR_ResourceError, "out of memory");
    for (int w = 0; w < p->layout.warps; w++) {
        if (run_warp(p, pattern, w, &p->warps[w], err) < 0)
            return -1;
        add_request(p, &p->warps[w]);
    }
    p->conflicts = p->passes - p->best_passes;
    p->efficiency = 1;
    if (p->is_shared && p->passes)
        p->efficiency = (double)p->best_passes / (double)p->passes;
    if (!p->is_shared && p->moved_bytes)
        p->efficiency = (double)p->useful_bytes / (double)p->moved_bytes;
    return 0;
}

/* A sweep keeps of each point the numbers, not the warps. */
static int run_all(const struct sweep *sweep, struct access_point *points, struct err *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < sweep->points; i++) {
        struct arena *own = sweep->key_count ? arena_new(0) : NULL;
        struct pattern pattern;

        if (i % 64 == 0 && call_check_stop(sweep->call, err) < 0)
            rc = -1;
        if (rc == 0)
            rc = open_pattern(sweep, i, &points[i], &pattern, err);
        if (rc == 0)
            rc = run_point(sweep, i, &pattern, own ? own : sweep->call->arena, &points[i], err);
        if (own)
            points[i].warps = NULL;
        arena_free(&own);
    }
    return rc;
}

/* The same pattern with what usually helps: padding, or no offset. */
static int run_changed(const struct sweep *sweep, struct access_point *out, struct err *err)
{
    struct pattern pattern;

    if (open_pattern(sweep, 0, out, &pattern, err) < 0)
        return -1;
    if (out->is_shared) {
        pattern.pad++;
        out->shared_limit = INT64_MAX; /* padding may pass the end: it is only compared */
    } else {
        pattern.offset = 0;
        pattern.base = 0;
    }
    return run_point(sweep, 0, &pattern, sweep->call->arena, out, err);
}

static int show(struct result *result, const struct sweep *sweep, const struct access_point *points,
                struct err *err)
{
    struct access_point changed = { 0 };
    int64_t warp = call_int(sweep->call, "warp");

    if (sweep->key_count)
        return access_show_sweep(result, sweep, points, err);
    if (warp >= points->layout.warps)
        return call_fail(sweep->call, "warp", err, ERR_ValueError,
                         "warp=%lld: the block has %d warp%s, numbered 0 to %d", (long long)warp,
                         points->layout.warps, points->layout.warps == 1 ? "" : "s",
                         points->layout.warps - 1);
    if (run_changed(sweep, &changed, err) < 0)
        return -1;
    return access_show_one(result, sweep->call, points, &changed, err);
}

static int run(struct call *call, struct err *err)
{
    struct access_point *points;
    struct result *result;
    struct sweep sweep;

    points = sweep_start(&sweep, call, sizeof(*points), err);
    if (!points || run_all(&sweep, points, err) < 0)
        return -1;
    result = result_new("access", 1);
    if (!result)
        return err_set(err, ERR_ResourceError, "out of memory");
    return call_finish(call, result,
                       call_set_model(call, result, err) < 0 ||
                           show(result, &sweep, points, err) < 0,
                       err);
}

/* ---- the row ---- */

static const struct param PARAMS[] = {
    { .name = "index",
      .type = PARAM_EXPR,
      .flags = PARAM_SWEEP,
      .preset = "{tid}",
      .help = "the element of each thread: {lane * 2}, {tx * 32 + ty}, {tid ^ 5}" },
    { .name = "bytes",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP,
      .preset = "4",
      .min = 1,
      .max = 16,
      .help = "bytes of an element: 1, 2, 4 (float), 8 or 16 (float4)" },
    { .name = "space",
      .type = PARAM_CHOICE,
      .flags = PARAM_SWEEP,
      .preset = "global",
      .choices = "global shared",
      .help = "global: sectors of 32 bytes; shared: passes over 32 banks of 4 bytes" },
    { .name = "stride",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP,
      .preset = "1",
      .min = 0,
      .max = MOST_STRIDE,
      .help = "the index is multiplied by it" },
    { .name = "offset",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP,
      .preset = "0",
      .min = 0,
      .max = MOST_OFFSET,
      .help = "elements added to it" },
    { .name = "pad",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP,
      .preset = "0",
      .min = 0,
      .max = 1024,
      .help = "unused elements behind each row: tile[32][32 + pad]" },
    { .name = "row",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP,
      .preset = "32",
      .min = 1,
      .max = MOST_STRIDE,
      .help = "elements of a row, for pad" },
    { .name = "base",
      .type = PARAM_INT,
      .flags = PARAM_SWEEP,
      .preset = "0",
      .min = 0,
      .max = MOST_OFFSET,
      .help = "byte at which the array starts; a multiple of bytes" },
    { .name = "if", .type = PARAM_EXPR, .help = "which threads take part: {lane < 8}; else all" },
    { .name = "block",
      .type = PARAM_DIM,
      .flags = PARAM_SWEEP,
      .preset = "32",
      .min = 1,
      .max = LAYOUT_BLOCK_THREADS,
      .help = "threads a block: each warp is one request" },
    { .name = "warp",
      .type = PARAM_INT,
      .preset = "0",
      .min = 0,
      .max = LAYOUT_BLOCK_WARPS - 1,
      .help = "the warp that is drawn" },
};

static const struct field FIELDS[] = {
    { "requests", "", "warp instructions: warps with a thread that takes part" },
    { "efficiency", "0..1", "bytes asked for / bytes moved, or best / actual passes" },
    { "sectors", "", "of 32 bytes, moved by all requests; null for shared memory" },
    { "best_sectors", "", "that would hold what is asked for" },
    { "sectors_per_request", "", "as Nsight Compute counts" },
    { "lines", "", "of 128 bytes, touched by all requests" },
    { "line_utilization", "0..1", "bytes asked for / bytes of the lines touched" },
    { "useful_bytes", "bytes", "asked for; what lanes share counts once" },
    { "moved_bytes", "bytes", "32 * sectors" },
    { "passes", "", "of the banks, all requests; null for global memory" },
    { "best_passes", "", "without conflicts" },
    { "conflicts", "", "passes - best_passes" },
    { "degree", "", "most different words that one bank is asked for at once: 1 is free" },
    { "per_warp", "", "of each warp: lanes, sectors, lines, passes, degree" },
    { "sweep", "", "with ranges or lists: one entry a point" },
};

const struct magic MAGIC_ACCESS = {
    .name = "access",
    .summary = "sectors and bank conflicts of an index pattern",
    .about =
        "The 32 lanes of a warp make one request. Global memory moves sectors of 32 bytes, four a "
        "line: neighbouring lanes should ask for neighbouring words. Shared memory has 32 banks of "
        "4 bytes; in one pass each serves one word, which any number of lanes may share. Lanes that "
        "ask one bank for different words need more passes: a stride s has gcd(s, 32) of them. "
        "Accesses of 8 bytes go by half warps, of 16 by quarters.\n\n"
        "The element is index * stride + offset, and pad elements stand behind each row. "
        "Expressions may name lane, warp, tid, tx ty tz, threadIdx, blockDim and the session's "
        "variables; ^ is exclusive or, for swizzles.\n\n"
        "Counts are those of launches (global.load.sectors, shared.passes) and of Nsight Compute's "
        "l1tex__t_sectors. Sources: CUDA C++ Programming Guide 13.0, Device Memory Accesses and "
        "Shared Memory; that time grows with the degree: A100 664, 1160, 2250, 4431, 8789 ms for 1, "
        "2, 4, 8, 16 ways (github.com/kzwrime/gpu_shm_microbench).",
    .example = "%access index={tid} stride=2\n"
               "%access index={tx * 32 + ty} block=(32,8) space=shared\n"
               "%access stride=1..32 space=shared\n"
               "%access offset=0..31",
    .params = PARAMS,
    .param_count = COUNT(PARAMS),
    .fields = FIELDS,
    .field_count = COUNT(FIELDS),
    .run = run,
};
