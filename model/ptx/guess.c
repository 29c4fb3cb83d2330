/*
 * What led to an index outside an array: guessed from the numbers, and said only where they fit.
 *
 * The lanes' indices are compared with what kernels commonly compute: the number of the thread, a
 * neighbour's, a multiple of it, row * width + column, the same for all. The arguments of the
 * launch that happen to be the array's length or its size in bytes give the names.
 */
#include "model/ptx/report.h"

#include <inttypes.h>
#include <stdio.h>

typedef uint32_t __attribute__((may_alias)) word32;
typedef uint64_t __attribute__((may_alias)) word64;

/* What is known of the lanes: how they index an array of `count` elements of `unit` bytes. */
struct lanes {
    const struct warp *w;
    const struct ptx_launch *launch;
    uint32_t mask, wrong; /* all that take part; those outside */
    int64_t index[WARP];
    int64_t x[WARP], y[WARP]; /* of the thread in the whole grid */
    int64_t count, unit, total_x, total_y;
    int first; /* lane */
    const char *name;
    char line[48];
};

static void read_lanes(struct lanes *t, const struct region *r)
{
    const struct warp *w = t->w;
    const struct insn *in = w->fault.insn;
    const struct ptx_dim *block = &t->launch->block, at = w->cta->index;

    for (int l = 0; l < WARP; l++) {
        struct ptx_dim thread = report_thread(w->cta, w->index, l);
        uint64_t address =
            in->option & ACCESS_ADDRESS_32
                ? (uint32_t)(((const word32 *)(w->rows + in->a))[l] + (uint32_t)in->offset)
                : ((const word64 *)(w->rows + in->a))[l] + (uint64_t)in->offset;
        int64_t distance = (int64_t)(address - r->start);

        t->index[l] = distance >= 0 ? distance / t->unit : -((t->unit - 1 - distance) / t->unit);
        t->x[l] = (int64_t)at.x * block->x + thread.x;
        t->y[l] = (int64_t)at.y * block->y + thread.y;
    }
}

/* ---- Arguments by value --------------------------------------------------------------------- */

/* An integer argument as it was passed; false: the parameter is none. */
static bool argument(const struct lanes *t, size_t i, int64_t *value)
{
    const struct ptx_parameter *p = &t->launch->kernel->parameters[i];
    const uint8_t *data = (const uint8_t *)t->launch->parameters + p->offset;
    int32_t narrow;

    if (p->size == 4 && p->type[0] != 'f') {
        memcpy(&narrow, data, sizeof narrow);
        *value = narrow;
        return true;
    }
    if (p->size != 8 || p->type[0] == 'f')
        return false;
    memcpy(value, data, sizeof *value);
    return *value > INT32_MIN && *value < (int64_t)1 << 40 &&
           !region_find(t->w->cta->run, (uint64_t)*value);
}

/* "n = 1000" for the first argument of that value, else "1000". */
static const char *named(const struct lanes *t, int64_t value, char *out, size_t size)
{
    char name[64];
    int64_t v;

    for (size_t i = 0; i < t->launch->kernel->parameter_count; i++)
        if (argument(t, i, &v) && v == value) {
            snprintf(out, size, "%s = %" PRId64,
                     report_parameter_name(name, sizeof name, t->w->cta->run, (int)i), v);
            return out;
        }
    snprintf(out, size, "%" PRId64, value);
    return out;
}

/* "n", or the number itself. */
static const char *short_name(const struct lanes *t, int64_t value, char *out, size_t size)
{
    const char *const *names = t->launch->parameter_names;
    int64_t v;

    for (size_t i = 0; names && i < t->launch->kernel->parameter_count; i++)
        if (names[i] && argument(t, i, &v) && v == value) {
            snprintf(out, size, "%.60s", names[i]);
            return out;
        }
    snprintf(out, size, "%" PRId64, value);
    return out;
}

/* The first argument for which it holds; its name in `out`. */
static bool find_argument(const struct lanes *t, bool (*fits)(const struct lanes *, int64_t),
                          int64_t *value, char *out, size_t size)
{
    for (size_t i = 0; i < t->launch->kernel->parameter_count; i++)
        if (argument(t, i, value) && fits(t, *value)) {
            report_parameter_name(out, size, t->w->cta->run, (int)i);
            return true;
        }
    return false;
}

static bool is_size_in_bytes(const struct lanes *t, int64_t v)
{
    return t->unit > 1 && v == t->count * t->unit;
}

static bool is_larger_count(const struct lanes *t, int64_t v)
{
    return v > t->count && v <= 16 * t->count + 1024 && t->index[t->first] < v;
}

/* ---- Shapes of an index --------------------------------------------------------------------- */

/* index = factor * (number of the thread) + shift in every lane that takes part. */
static bool fit_linear(const struct lanes *t, int64_t *factor, int64_t *shift)
{
    int a = t->first, b = -1;

    for (uint32_t m = t->mask; m; m &= m - 1)
        if (t->x[__builtin_ctz(m)] != t->x[a])
            b = __builtin_ctz(m);
    if (b < 0) { /* one lane: the thread's number, or near it */
        *factor = 1;
        *shift = t->index[a] - t->x[a];
        return *shift > -64 && *shift < 64;
    }
    if ((t->index[b] - t->index[a]) % (t->x[b] - t->x[a]))
        return false;
    *factor = (t->index[b] - t->index[a]) / (t->x[b] - t->x[a]);
    *shift = t->index[a] - *factor * t->x[a];
    for (uint32_t m = t->mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);

        if (t->index[l] != *factor * t->x[l] + *shift)
            return false;
    }
    return true;
}

/* index = y * width + x, with a width that is an argument or the grid's. */
static bool fit_plane(const struct lanes *t, int64_t *width, bool *is_swapped)
{
    for (size_t i = 0; i <= t->launch->kernel->parameter_count; i++)
        for (int swapped = 0; swapped < 2; swapped++) {
            int64_t w = swapped ? t->total_y : t->total_x;
            bool fits = true;

            if (i < t->launch->kernel->parameter_count && !argument(t, i, &w))
                continue;
            for (uint32_t m = t->mask; m && fits; m &= m - 1) {
                int l = __builtin_ctz(m);
                int64_t row = swapped ? t->x[l] : t->y[l], column = swapped ? t->y[l] : t->x[l];

                fits = t->index[l] == row * w + column;
            }
            if (!fits || w < 1)
                continue;
            *width = w;
            *is_swapped = swapped;
            return true;
        }
    return false;
}

/* Some lane beyond the wrong ones' limit takes part, so nothing keeps them out. */
static bool is_untested(const struct lanes *t)
{
    for (uint32_t m = t->mask; m; m &= m - 1)
        if (t->index[__builtin_ctz(m)] > t->count)
            return true;
    return false;
}

#define WHY(...) snprintf(out->why, sizeof out->why, __VA_ARGS__)
#define TRY(...) snprintf(out->try_, sizeof out->try_, __VA_ARGS__)

static bool guess_thread_number(const struct lanes *t, struct guess *out)
{
    int64_t threads = t->total_x, most = threads - 1;
    char n[96], limit[64];

    named(t, t->count, n, sizeof n);
    short_name(t, t->count, limit, sizeof limit);
    if (t->index[t->first] == t->count && !is_untested(t) && threads > t->count + 1) {
        WHY("only the thread whose number is %s goes past: a test that lets it pass says <=", n);
        TRY("if (i < %s), not <=, before %s", limit, t->line);
        return true;
    }
    if (t->launch->block.x > 1 && threads > t->count)
        WHY("blocks are whole, so i runs to %" PRId64 "; no test keeps i below %s", most, n);
    else
        WHY("the number i of the thread runs to %" PRId64 "; no test keeps i below %s", most, n);
    TRY("if (i < %s) before %s", limit, t->line);
    return true;
}

static bool guess_neighbour(const struct lanes *t, int64_t shift, struct guess *out)
{
    const char *plus = shift > 0 ? "+" : "-";
    int64_t by = shift > 0 ? shift : -shift;
    char limit[64];

    if (by > 4096)
        return false;
    short_name(t, t->count, limit, sizeof limit);
    if (shift < 0) {
        WHY("thread i uses element i - %" PRId64 ", and i - %" PRId64
            " is below 0 in thread %" PRId64,
            by, by, t->x[t->first]);
        TRY("if (i >= %" PRId64 ") before %s, or another value at the edge", by, t->line);
    } else {
        WHY("thread i uses element i %s %" PRId64 ", and i %s %" PRId64 " runs past %" PRId64, plus,
            by, plus, by, t->count - 1);
        TRY("if (i + %" PRId64 " < %s) before %s, or another value at the edge", by, limit,
            t->line);
    }
    return true;
}

static bool guess_multiple(const struct lanes *t, int64_t factor, int64_t shift, struct guess *out)
{
    if (factor < 2 || shift < 0 || shift >= factor)
        return false;
    if (factor == t->unit && !shift) {
        WHY("the index is %" PRId64 " * i, the size of an element times i; an index counts "
            "elements, not bytes",
            factor);
        TRY("%s[i]: C multiplies by the size itself", t->name);
        return true;
    }
    WHY("thread i uses element %" PRId64 " * i%s, so %" PRId64 " threads need %" PRId64
        " elements and %s has %" PRId64,
        factor, shift ? " and the next" : "", t->total_x, factor * t->total_x, t->name, t->count);
    TRY("if (%" PRId64 " * i < %" PRId64 ") before %s, or 1 / %" PRId64 " of the threads", factor,
        t->count, t->line, factor);
    return true;
}

static bool guess_same(const struct lanes *t, struct guess *out)
{
    int64_t at = t->index[t->first];
    char n[96], limit[64];

    for (uint32_t m = t->mask; m; m &= m - 1)
        if (t->index[__builtin_ctz(m)] != at)
            return false;
    if (!(t->mask & (t->mask - 1)) || at < t->count)
        return false;
    named(t, t->count, n, sizeof n);
    short_name(t, t->count, limit, sizeof limit);
    if (at == t->count) {
        WHY("all lanes use the same element, the one just past the last: a loop or a constant "
            "that goes to %s and not below it",
            n);
        TRY("< %s in the loop's condition, not <=", limit);
        return true;
    }
    WHY("all lanes use the same element %" PRId64 ": a loop or a constant that is too large", at);
    TRY("let the index stay below %s in %s", limit, t->line);
    return true;
}

static bool guess_plane(const struct lanes *t, struct guess *out)
{
    int64_t width, rows;
    bool is_swapped;
    char w[96];

    if ((t->launch->block.y <= 1 && t->launch->grid.y <= 1) || !fit_plane(t, &width, &is_swapped))
        return false;
    rows = t->count / width;
    named(t, width, w, sizeof w);
    WHY("index = %s * %s + %s; %s has %" PRId64 " rows of that, and the grid has x to %" PRId64
        ", y to %" PRId64,
        is_swapped ? "x" : "y", w, is_swapped ? "y" : "x", t->name, rows, t->total_x - 1,
        t->total_y - 1);
    TRY("if (x < %" PRId64 " && y < %" PRId64 ") before %s", is_swapped ? rows : width,
        is_swapped ? width : rows, t->line);
    return true;
}

/* An index that no array has: it wrapped. */
static bool guess_wrapped(const struct lanes *t, struct guess *out)
{
    int64_t at = t->index[t->first], wrapped = (int64_t)1 << 32;

    if (at >= wrapped - (1 << 24) && at < wrapped) {
        WHY("an unsigned index fell below 0 and became %" PRId64 ": that is %" PRId64
            " + 4294967296",
            at, at - wrapped);
        TRY("compare before you subtract, or an int for the index");
        return true;
    }
    if (at > -(1 << 28) || at < INT32_MIN)
        return false;
    WHY("an int index overflowed: %" PRId64 " is what an int makes of %" PRId64
        ", beyond 2147483647",
        at, at + wrapped);
    TRY("(size_t) or long for the product in %s", t->line);
    return true;
}

static bool guess_counts(const struct lanes *t, struct guess *out)
{
    int64_t value;
    char name[64];

    if (find_argument(t, is_size_in_bytes, &value, name, sizeof name)) {
        WHY("%s = %" PRId64 " is the size of %s in bytes; it has %" PRId64 " elements of %" PRId64
            " bytes",
            name, value, t->name, t->count, t->unit);
        TRY("pass the number of elements, %" PRId64 ", for %s", t->count, name);
        return true;
    }
    if (!find_argument(t, is_larger_count, &value, name, sizeof name))
        return false;
    WHY("%s = %" PRId64 ", but %s has %" PRId64 " elements only", name, value, t->name, t->count);
    TRY("pass %" PRId64 " for %s, or make %s larger", t->count, name, t->name);
    return true;
}

/* A thread that is alone has no number to blame: its loop ran too far. */
static bool guess_alone(const struct lanes *t, struct guess *out)
{
    char n[96], limit[64];

    if (t->total_x * t->total_y != 1 || t->launch->block.z * t->launch->grid.z != 1 ||
        t->index[t->first] != t->count)
        return false;
    named(t, t->count, n, sizeof n);
    short_name(t, t->count, limit, sizeof limit);
    WHY("the only thread came to the element just past the last: a loop or a length that goes to %s "
        "and not below it",
        n);
    TRY("< %s in the loop's condition, not <=; a size in bytes is the count times sizeof", limit);
    return true;
}

/* Part of the element after the thread's own: an array inside the struct ends there. */
static bool guess_member(const struct lanes *t, struct guess *out)
{
    if (t->w->fault.bytes >= t->unit || t->total_x > t->count)
        return false;
    WHY("%d bytes just behind a thread's own element of %" PRId64
        " bytes: an array inside the struct "
        "was indexed past its end; in other threads that is the next element",
        t->w->fault.bytes, t->unit);
    TRY("let the index of the member in %s stay below its length", t->line);
    return true;
}

static void guess_past(const struct lanes *t, struct guess *out)
{
    int64_t factor = 0, shift = 0;
    bool is_linear = fit_linear(t, &factor, &shift);

    if (guess_wrapped(t, out) || guess_alone(t, out) || guess_same(t, out))
        return;
    if (is_linear && factor == 1 && shift == 1 && guess_member(t, out))
        return;
    if (is_linear && factor == 1 && shift == 0) {
        if (!guess_counts(t, out))
            guess_thread_number(t, out);
        return;
    }
    if (guess_plane(t, out) || (is_linear && factor == 1 && guess_neighbour(t, shift, out)) ||
        guess_counts(t, out))
        return;
    if (is_linear && guess_multiple(t, factor, shift, out))
        return;
    WHY("%s has the elements 0..%" PRId64 ", and the index became %" PRId64, t->name, t->count - 1,
        t->index[t->first]);
    TRY("look at what the index of %s is made from; test it first", t->line);
}

void guess_index(const struct warp *w, const struct region *r, int unit, struct guess *out)
{
    const struct ptx_launch *l = w->cta->run->launch;
    struct lanes t = { .w = w,
                       .launch = l,
                       .mask = w->mask,
                       .wrong = w->fault.lanes,
                       .unit = unit,
                       .count = (int64_t)(r->end - r->start) / unit,
                       .total_x = (int64_t)l->grid.x * l->block.x,
                       .total_y = (int64_t)l->grid.y * l->block.y,
                       .first = __builtin_ctz(w->fault.lanes),
                       .name = r->name ? r->name : "the buffer" };

    *out = (struct guess){ .why = "" };
    report_line(t.line, sizeof t.line, w->cta, w->fault.insn);
    if (w->fault.insn->guard_kind != GUARD_NONE)
        t.mask = t.wrong;
    read_lanes(&t, r);
    guess_past(&t, out);
}
