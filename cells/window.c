/*
 * A window is a box of indexes. Where it lies in memory is worked out for each row of
 * the innermost dimension, whose elements follow each other.
 */
#include "cells/window.h"

#include "cells/buffer_number.h"
#include "cells/internal.h"

#include <math.h>

enum { CHAIN_MAX = 8 };

/* ---- reading ---- */

static int add_programs(struct window *w, const struct expr *expr, struct err *err)
{
    struct elements elements;

    elements_of(&w->place, &elements);
    w->programs = arena_array(w->scope->arena, w->leaf_count, sizeof(*w->programs));
    if (!w->programs)
        return err_set(err, ERR_ResourceError, "out of memory");
    for (size_t l = 0; l < w->leaf_count; l++) {
        if (elementwise_load(w->scope, expr, &w->place, &w->leaves[l], &elements, &w->programs[l],
                             err) < 0)
            return -1;
        elementwise_plain(w->programs[l]); /* never-written numbers are shown as such */
    }
    return 0;
}

static void take_shape(struct window *w)
{
    w->rank = buffer_value_shape(&w->place, w->whole);
    for (int d = 0; d < w->rank; d++) {
        w->first[d] = 0;
        w->count[d] = w->whole[d];
    }
}

static int take_place(struct window *w, const struct expr *expr, const struct value *place,
                      struct err *err)
{
    w->source = WINDOW_PLACE;
    w->place = *place;
    w->name = buffer_value_name(w->scope->arena, place);
    take_shape(w);
    if (element_leaves(w->scope->arena, buffer_value_type(place), &w->leaves, &w->leaf_count, err) <
        0)
        return -1;
    return add_programs(w, expr, err);
}

static int outside(const struct window *w, const struct expr *expr, int64_t i, int64_t limit,
                   struct err *err)
{
    return expr_fail(w->scope, expr, err, ERR_ValueError, "%s[%lld]: the index goes from 0 to %lld",
                     w->name, (long long)i, (long long)limit - 1);
}

/* One index of a chain narrows its dimension: a range to a piece, a number to one, gone after. */
static int narrow(struct window *w, const struct expr *index, int d, bool *is_fixed,
                  struct err *err)
{
    struct value v[2];
    int64_t ends[2];
    bool is_range = index->kind == EXPR_RANGE;

    if (is_range && index->count > 2)
        return expr_fail(w->scope, index, err, ERR_UsageError,
                         "%s: a piece of a buffer has no steps", expr_show(w->scope, index));
    for (int k = 0; k < (is_range ? 2 : 1); k++) {
        const struct expr *e = is_range ? index->kids[k] : index;

        if (expr_eval(w->scope, e, &v[k], err) < 0 ||
            expr_need_int(w->scope, e, &v[k], &ends[k], err) < 0)
            return -1;
        if (ends[k] < 0 || ends[k] >= w->whole[d])
            return outside(w, e, ends[k], w->whole[d], err);
    }
    if (!is_range)
        ends[1] = ends[0];
    if (ends[1] < ends[0])
        return expr_fail(w->scope, index, err, ERR_ValueError,
                         "%s is empty: a range goes upward, its end included",
                         expr_show(w->scope, index));
    w->first[d] = ends[0];
    w->count[d] = ends[1] - ends[0] + 1;
    *is_fixed = !is_range;
    w->is_piece |= is_range;
    return 0;
}

/* Dimensions with a fixed index disappear when they lead: A[2][0..3] is a piece of A's row. */
static void drop_leading(struct window *w, const bool *is_fixed)
{
    int fixed = 0;
    int64_t inner;

    while (fixed < w->rank && is_fixed[fixed])
        fixed++;
    for (int d = 0; d < fixed; d++) {
        inner = 1;
        for (int e = d + 1; e < w->rank; e++)
            inner *= w->whole[e];
        w->skipped += w->first[d] * inner;
    }
    w->rank -= fixed;
    memmove(w->whole, w->whole + fixed, (size_t)w->rank * sizeof(w->whole[0]));
    memmove(w->first, w->first + fixed, (size_t)w->rank * sizeof(w->first[0]));
    memmove(w->count, w->count + fixed, (size_t)w->rank * sizeof(w->count[0]));
}

/* base[..][..] with at least one range: a piece. */
static int read_piece(struct scope *scope, const struct expr *expr, struct window *w,
                      bool *is_piece, struct err *err)
{
    const struct expr *indexes[CHAIN_MAX], *base = expr;
    bool is_fixed[BUFFER_RANK_MAX] = { false }, has_range = false;
    struct value place;
    size_t n = 0;

    *is_piece = false;
    for (; base->kind == EXPR_INDEX && n < CHAIN_MAX; base = base->kids[0]) {
        indexes[CHAIN_MAX - ++n] = base->kids[1];
        has_range |= base->kids[1]->kind == EXPR_RANGE;
    }
    if (!has_range || (base->kind != EXPR_NAME && !base->is_grouped))
        return 0;
    if (expr_eval(scope, base, &place, err) < 0)
        return -1;
    if (place.type != VALUE_BUFFER || buffer_value_shape(&place, w->whole) < (int)n)
        return 0;
    *is_piece = true;
    if (take_place(w, base, &place, err) < 0)
        return -1;
    for (size_t d = 0; d < n; d++)
        if (narrow(w, indexes[CHAIN_MAX - n + d], (int)d, &is_fixed[d], err) < 0)
            return -1;
    drop_leading(w, is_fixed);
    w->name = expr_show(scope, expr);
    return 0;
}

static int read_program(struct scope *scope, const struct expr *expr, const struct value *first,
                        struct window *w, struct err *err)
{
    struct elements elements;
    struct leaf *leaf = arena_alloc(scope->arena, sizeof(*leaf));

    w->source = WINDOW_PROGRAM;
    w->place = *first;
    w->name = expr_show(scope, expr);
    w->leaf_count = 1;
    w->programs = arena_array(scope->arena, 1, sizeof(*w->programs));
    if (!leaf || !w->programs)
        return err_set(err, ERR_ResourceError, "out of memory");
    leaf->path = "";
    leaf->kind = SCALAR_DOUBLE;
    w->leaves = leaf;
    take_shape(w);
    elements_of(first, &elements);
    if (elementwise_compile(scope, expr, &elements, &w->programs[0], err) < 0)
        return -1;
    if (elementwise_plain(w->programs[0]) != SCALAR_STRUCT)
        leaf->kind = elementwise_plain(w->programs[0]);
    else if (!elementwise_is_float(w->programs[0]))
        leaf->kind = SCALAR_LONG;
    return 0;
}

static bool is_numbers(const struct value *list)
{
    double f;

    for (size_t i = 0; i < list->list.count; i++)
        if (!value_as_float(&list->list.items[i], &f) &&
            list->list.items[i].type != VALUE_UNWRITTEN)
            return false;
    return list->list.count > 0;
}

static int take_list(struct scope *scope, const struct expr *expr, const struct value *list,
                     struct window *w, struct err *err)
{
    struct leaf *leaf = arena_alloc(scope->arena, sizeof(*leaf));

    if (!leaf)
        return err_set(err, ERR_ResourceError, "out of memory");
    leaf->path = "";
    leaf->kind = SCALAR_DOUBLE;
    w->source = WINDOW_LIST;
    w->name = expr_show(scope, expr);
    w->leaves = leaf;
    w->leaf_count = 1;
    w->items = list->list.items;
    w->rank = 1;
    w->whole[0] = w->count[0] = (int64_t)list->list.count;
    return 0;
}

int window_read(struct scope *scope, const struct expr *expr, struct window *out, bool *is_window,
                struct value *value, struct err *err)
{
    struct value first;

    *out = (struct window){ .scope = scope };
    *is_window = true;
    if (read_piece(scope, expr, out, is_window, err) < 0)
        return -1;
    if (*is_window)
        return 0;
    *is_window = true;
    *out = (struct window){ .scope = scope };
    if (elementwise_is(scope, expr, &first) && expr->kind != EXPR_NAME && expr->kind != EXPR_INDEX)
        return read_program(scope, expr, &first, out, err);
    if (expr_eval(scope, expr, value, err) < 0)
        return -1;
    if (value->type == VALUE_BUFFER)
        return take_place(out, expr, value, err);
    if (value->type == VALUE_LIST && is_numbers(value))
        return take_list(scope, expr, value, out, err);
    *is_window = false;
    return 0;
}

/* ---- numbers ---- */

int64_t window_count(const struct window *w)
{
    int64_t n = 1;

    for (int d = 0; d < w->rank; d++)
        n *= w->count[d];
    return n;
}

/* The element, counted in the place. */
static int64_t element(const struct window *w, const int64_t *at)
{
    int64_t i = 0;

    for (int d = 0; d < w->rank; d++)
        i = i * w->whole[d] + w->first[d] + at[d];
    return w->skipped + i;
}

int window_value(const struct window *w, const int64_t *at, size_t leaf, struct value *out,
                 struct err *err)
{
    if (w->source == WINDOW_LIST) {
        *out = w->items[element(w, at)];
        return 0;
    }
    return elementwise_value(w->programs[leaf], element(w, at), out, err);
}

int window_text(const struct window *w, const int64_t *at, size_t leaf, const char **out,
                struct err *err)
{
    struct value v;
    size_t offset;
    char text[64];

    if (w->source == WINDOW_PLACE) {
        offset = buffer_value_offset(&w->place, element(w, at)) + w->leaves[leaf].offset;
        if (!buffer_is_defined(w->place.buffer.buffer, offset,
                               scalar_bytes(w->leaves[leaf].kind))) {
            *out = "-";
            return 0;
        }
        scalar_text(w->leaves[leaf].kind, (const char *)w->place.buffer.buffer->data + offset, text,
                    sizeof(text));
        *out = arena_string(w->scope->arena, text);
    } else {
        if (window_value(w, at, leaf, &v, err) < 0)
            return -1;
        *out = v.type == VALUE_UNWRITTEN ? "-" : value_text(w->scope->arena, &v);
    }
    return *out ? 0 : err_set(err, ERR_ResourceError, "out of memory");
}

static bool is_written(const struct window *w, size_t leaf, int64_t i)
{
    const struct buffer *b = w->place.buffer.buffer;
    enum scalar_kind kind = w->leaves[leaf].kind;
    struct value place = w->place;
    struct leaf at = w->leaves[leaf];

    if (w->source == WINDOW_PROGRAM) {
        kind = elementwise_plain(w->programs[leaf]);
        if (kind == SCALAR_STRUCT)
            return true;
        elementwise_place(w->programs[leaf], &place, &at);
        b = place.buffer.buffer;
    }
    return buffer_is_defined(b, buffer_value_offset(&place, i) + at.offset, scalar_bytes(kind));
}

enum written { WRITTEN_NONE, WRITTEN_SOME, WRITTEN_ALL };

/* Of n elements at once, where they lie in a buffer: most are all there or all not. */
static enum written written_in(const struct window *w, size_t leaf, int64_t first, int64_t n)
{
    const struct buffer *b = w->place.buffer.buffer;
    size_t start, size, missing;

    if (w->source != WINDOW_PLACE)
        return WRITTEN_SOME;
    start = buffer_value_offset(&w->place, first) + w->leaves[leaf].offset;
    size = buffer_value_offset(&w->place, first + n - 1) + w->leaves[leaf].offset +
           scalar_bytes(w->leaves[leaf].kind) - start;
    missing = buffer_count_undefined(b, start, size);
    return !missing ? WRITTEN_ALL : missing == size ? WRITTEN_NONE : WRITTEN_SOME;
}

int window_row(const struct window *w, const int64_t *at, size_t leaf, int64_t n, double *out,
               struct err *err)
{
    int64_t first = element(w, at);
    const int64_t *ints;
    const double *floats;

    for (int64_t done = 0; done < n;) {
        size_t step = (size_t)min_i64(ELEMENTWISE_CHUNK, n - done);
        bool is_whole = written_in(w, leaf, first + done, (int64_t)step) == WRITTEN_ALL;

        if (w->source == WINDOW_LIST) {
            for (size_t k = 0; k < step; k++)
                if (!value_as_float(&w->items[first + done + (int64_t)k], &out[done + (int64_t)k]))
                    out[done + (int64_t)k] = (double)NAN;
            done += (int64_t)step;
            continue;
        }
        if (elementwise_run(w->programs[leaf], first + done, step, &ints, &floats, err) < 0)
            return -1;
        for (size_t k = 0; k < step; k++) {
            int64_t i = done + (int64_t)k;

            out[i] = floats                                 ? floats[k]
                     : w->leaves[leaf].kind == SCALAR_ULONG ? (double)(uint64_t)ints[k]
                                                            : (double)ints[k];
            if (!is_whole && !is_written(w, leaf, first + i))
                out[i] = (double)NAN;
        }
        done += (int64_t)step;
    }
    return 0;
}

/* ---- all of them ---- */

struct facts_state {
    struct window_facts *out;
    double sum, lost;
    int64_t numbers;
    int64_t least_at, most_at; /* elements */
};

static void add_number(struct facts_state *s, double v, int64_t i)
{
    struct window_facts *out = s->out;
    double t;

    if (isnan(v)) {
        out->nans++;
        return;
    }
    if (!s->numbers || v < out->min) {
        out->min = v;
        s->least_at = i;
    }
    if (!s->numbers || v > out->max) {
        out->max = v;
        s->most_at = i;
    }
    s->numbers++;
    /* Compensated (Neumaier): the mean of many equal numbers is that number. */
    t = s->sum + v;
    s->lost += fabs(s->sum) >= fabs(v) ? (s->sum - t) + v : (v - t) + s->sum;
    s->sum = t;
}

static int exact_value(const struct window *w, size_t leaf, int64_t i, struct value *out,
                       struct err *err)
{
    if (w->source == WINDOW_LIST) {
        *out = w->items[i];
        return 0;
    }
    return elementwise_value(w->programs[leaf], i, out, err);
}

int window_facts(const struct window *w, size_t leaf, struct window_facts *out, struct err *err)
{
    struct facts_state s = { .out = out };
    int64_t at[BUFFER_RANK_MAX] = { 0 }, row = w->rank ? w->count[w->rank - 1] : 1;
    int64_t rows = window_count(w) / row;
    double numbers[ELEMENTWISE_CHUNK];

    *out = (struct window_facts){ .count = window_count(w) };
    for (int64_t r = 0; r < rows; r++) {
        int64_t rest = r;

        for (int d = w->rank - 2; d >= 0; d--) {
            at[d] = rest % w->count[d];
            rest /= w->count[d];
        }
        for (int64_t done = 0; done < row; done += ELEMENTWISE_CHUNK) {
            int64_t n = min_i64(ELEMENTWISE_CHUNK, row - done), first;
            enum written written;

            if (w->rank)
                at[w->rank - 1] = done;
            first = element(w, at);
            written = written_in(w, leaf, first, n);
            if (written == WRITTEN_NONE) {
                out->unwritten += n;
                continue;
            }
            if (window_row(w, at, leaf, n, numbers, err) < 0)
                return -1;
            for (int64_t k = 0; k < n; k++) {
                bool is_there = written == WRITTEN_ALL ? true
                                : w->source == WINDOW_LIST
                                    ? w->items[first + k].type != VALUE_UNWRITTEN
                                    : is_written(w, leaf, first + k);

                if (is_there)
                    add_number(&s, numbers[k], first + k);
                else
                    out->unwritten++;
            }
        }
    }
    if (!s.numbers)
        return 0;
    out->mean = (isfinite(s.sum + s.lost) ? s.sum + s.lost : s.sum) / (double)s.numbers;
    return exact_value(w, leaf, s.least_at, &out->least, err) < 0 ||
                   exact_value(w, leaf, s.most_at, &out->most, err) < 0
               ? -1
               : 0;
}
