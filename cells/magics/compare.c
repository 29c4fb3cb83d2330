/*
 * %compare lays two results side by side, or two buffers. What differs most comes
 * first: of results by ratio, because cycles and bytes have no common unit; of
 * buffers by the difference itself.
 */
#include "cells/cell.h"
#include "cells/internal.h"
#include "cells/magics.h"
#include "cells/render/text.h"
#include "cells/window.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS_SHOWN = 20, ELEMENTS_SHOWN = 10, FIELDS_MOST = 4096, NESTED_MOST = 16 };

/* One number of both results. */
struct pair {
    const char *path; /* "global.load.sectors" */
    double a, b;
    double weight; /* how much they differ: the ratio above 1, infinite when one is 0; 0: equal */
};

struct compare {
    struct call *call;
    struct scope scope;
    struct lexer lexer;
    struct expr *exprs[2];
    const char *names[2];
    struct pair *pairs;
    size_t count, differing;
    struct result *result;
};

/* ---- results ---- */

static double weight_of(double a, double b)
{
    if (a == b || (isnan(a) && isnan(b)))
        return 0;
    if (a == 0 || b == 0 || !isfinite(a) || !isfinite(b) || (a < 0) != (b < 0))
        return HUGE_VAL;
    return fabs(b) > fabs(a) ? b / a : a / b;
}

static bool number_of(const json_t *json, double *out)
{
    if (json_is_number(json))
        *out = json_number_value(json);
    else if (json_is_boolean(json))
        *out = json_is_true(json);
    else
        return false;
    return true;
}

/* Walks two objects together; lists are left to those who name an element. */
static int add_fields(struct compare *c, json_t *a, json_t *b, const char *prefix, int depth,
                      struct err *err)
{
    const char *key;
    json_t *left;

    if (depth > NESTED_MOST)
        return 0;
    json_object_foreach(a, key, left)
    {
        json_t *right = json_object_get(b, key);
        const char *path = arena_printf(c->call->arena, "%s%s%s", prefix, *prefix ? "." : "", key);
        struct pair *pair = &c->pairs[c->count];

        if (!path)
            return err_set(err, ERR_ResourceError, "out of memory");
        if (depth == 0 &&
            (!strcmp(key, "schema") || !strcmp(key, "input") || !strcmp(key, "device")))
            continue;
        if (json_is_object(left) && json_is_object(right)) {
            if (add_fields(c, left, right, path, depth + 1, err) < 0)
                return -1;
            continue;
        }
        if (!number_of(left, &pair->a) || !number_of(right, &pair->b))
            continue;
        pair->path = path;
        pair->weight = weight_of(pair->a, pair->b);
        c->differing += pair->weight > 0;
        if (++c->count == FIELDS_MOST)
            return 0;
    }
    return 0;
}

static int by_weight(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    double dx = fabs(x->a - x->b), dy = fabs(y->a - y->b);

    if (x->weight != y->weight)
        return x->weight < y->weight ? 1 : -1;
    if (dx != dy)
        return dx < dy ? 1 : -1;
    return strcmp(x->path, y->path);
}

static const char *number_text(struct compare *c, double v)
{
    char text[TEXT_NUMBER];

    return result_text(c->result, "%s", text_number(text, v));
}

static const char *ratio_text(struct compare *c, const struct pair *p)
{
    if (p->a == 0 || !isfinite(p->b / p->a))
        return "";
    if (fabs(p->b / p->a) >= 100)
        return result_text(c->result, "%sx", number_text(c, round(p->b / p->a)));
    return result_text(c->result, "%.3gx", p->b / p->a);
}

/* What the parameters of the two do not share: "block=32 | block=64". */
static const char *inputs_text(struct compare *c, json_t *a, json_t *b)
{
    json_t *left = json_object_get(a, "input"), *right = json_object_get(b, "input"), *value;
    const char *key, *text;
    struct buf out = { 0 };

    json_object_foreach(left, key, value)
    {
        json_t *other = json_object_get(right, key);
        char *x, *y;

        if (!other || json_equal(value, other))
            continue;
        x = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
        y = json_dumps(other, JSON_ENCODE_ANY | JSON_COMPACT);
        if (x && y && strlen(x) + strlen(y) < 60)
            buf_printf(&out, "%s%s: %s and %s", out.size ? "   " : "", key, x, y);
        free(x);
        free(y);
    }
    text = result_text(c->result, "%s", out.size ? buf_text(&out) : "the same parameters");
    buf_done(&out);
    return text;
}

static int put_fields(struct compare *c, const char *left, const char *right, int64_t count,
                      int64_t differing, json_t *differences, struct err *err)
{
    json_t *fields = json_pack("{s:s, s:s, s:I, s:I, s:o}", "left", left, "right", right, "count",
                               (json_int_t)count, "differing", (json_int_t)differing, "differences",
                               differences);
    int rc = fields ? json_object_update(c->result->fields, fields) : -1;

    json_decref(fields);
    return rc < 0 ? err_set(err, ERR_ResourceError, "out of memory") : 0;
}

static int fill_results(struct compare *c, json_t *a, json_t *b, struct err *err)
{
    struct view_column columns[] = { { "field", VIEW_LEFT },
                                     { c->names[0], VIEW_RIGHT },
                                     { c->names[1], VIEW_RIGHT },
                                     { result_text(c->result, "%s / %s", c->names[1], c->names[0]),
                                       VIEW_RIGHT } };
    size_t rows = c->differing < ROWS_SHOWN ? c->differing : ROWS_SHOWN;
    struct view_table *table = rows ? view_add_table(c->result, columns, 4, rows) : NULL;
    json_t *list = json_array();
    int failed = 0;

    for (size_t i = 0; i < c->differing; i++) {
        const struct pair *p = &c->pairs[i];

        failed |=
            json_array_append_new(list, json_pack("{s:s, s:o, s:o, s:o}", "field", p->path, "left",
                                                  json_number(p->a), "right", json_number(p->b),
                                                  "ratio", json_number(p->b / p->a)));
        if (!table || i >= rows)
            continue;
        view_cell(table, i, 0, result_text(c->result, "%s", p->path));
        view_cell(table, i, 1, number_text(c, p->a));
        view_cell(table, i, 2, number_text(c, p->b));
        view_cell(table, i, 3, ratio_text(c, p));
    }
    if (table)
        view_mark(table, 0);
    if (c->differing)
        c->result->view.answer =
            result_text(c->result, "%s and %s differ in %zu of %zu numbers, most in %s: %s and %s.",
                        c->names[0], c->names[1], c->differing, c->count, c->pairs[0].path,
                        number_text(c, c->pairs[0].a), number_text(c, c->pairs[0].b));
    else
        c->result->view.answer = result_text(c->result, "%s and %s are equal in all %zu numbers.",
                                             c->names[0], c->names[1], c->count);
    c->result->view.origin = inputs_text(c, a, b);
    if (c->differing > rows)
        c->result->view.closing =
            result_text(c->result, "Shown: %zu of the %zu that differ.", rows, c->differing);
    return put_fields(c, c->names[0], c->names[1], (int64_t)c->count, (int64_t)c->differing,
                      json_whole(list, failed), err);
}

static int compare_results(struct compare *c, json_t *a, json_t *b, struct err *err)
{
    const char *kind[2] = { json_string_value(json_object_get(a, "kind")),
                            json_string_value(json_object_get(b, "kind")) };

    if (kind[0] && kind[1] && strcmp(kind[0], kind[1]) != 0)
        return call_fail(c->call, "what", err, ERR_UsageError,
                         "%s is a result of %%%s, %s of %%%s: only the same kinds compare",
                         c->names[0], kind[0], c->names[1], kind[1]);
    c->pairs = arena_array(c->call->arena, FIELDS_MOST + 1, sizeof(*c->pairs));
    if (!c->pairs)
        return err_set(err, ERR_ResourceError, "out of memory");
    if (add_fields(c, a, b, "", 0, err) < 0)
        return -1;
    if (!c->count)
        return call_fail(c->call, "what", err, ERR_UsageError,
                         "%s and %s share no field with a number", c->names[0], c->names[1]);
    qsort(c->pairs, c->count, sizeof(*c->pairs), by_weight);
    return fill_results(c, a, b, err);
}

/* ---- buffers ---- */

struct element {
    int64_t i; /* in the window, last dimension fastest */
    size_t leaf;
    double off; /* |a - b|; infinite when one of them was never written or is nan */
};

/* Keeps the largest differences, largest first; the earlier one of equals. */
static void keep(struct element *top, size_t *count, struct element e)
{
    size_t at = *count;

    while (at > 0 && top[at - 1].off < e.off)
        at--;
    if (at == ELEMENTS_SHOWN)
        return;
    if (*count < ELEMENTS_SHOWN)
        ++*count;
    memmove(top + at + 1, top + at, (*count - at - 1) * sizeof(*top));
    top[at] = e;
}

static void indexes_of(const struct window *w, int64_t i, int64_t *at)
{
    for (int d = w->rank - 1; d >= 0; d--) {
        at[d] = i % w->count[d];
        i /= w->count[d];
    }
}

static int scan(const struct window *w, size_t leaf, struct element *top, size_t *count,
                int64_t *differing, struct err *err)
{
    double a[ELEMENTWISE_CHUNK], b[ELEMENTWISE_CHUNK];
    int64_t row = w->rank ? w->count[w->rank - 1] : 1, all = window_count(w);

    for (int64_t i = 0; i < all;) {
        int64_t n = min_i64(min_i64(ELEMENTWISE_CHUNK, row - i % row), all - i);
        int64_t at[2][BUFFER_RANK_MAX] = { { 0 }, { 0 } };

        indexes_of(&w[0], i, at[0]);
        indexes_of(&w[1], i, at[1]);
        /* Rows of the two may differ in length: no further than both go. */
        if (w[1].rank)
            n = min_i64(n, w[1].count[w[1].rank - 1] - at[1][w[1].rank - 1]);
        if (window_row(&w[0], at[0], leaf, n, a, err) < 0 ||
            window_row(&w[1], at[1], leaf, n, b, err) < 0)
            return -1;
        for (int64_t k = 0; k < n; k++) {
            double off = fabs(a[k] - b[k]);

            if (a[k] == b[k])
                continue;
            ++*differing;
            keep(top, count, (struct element){ i + k, leaf, isnan(off) ? HUGE_VAL : off });
        }
        i += n;
    }
    return 0;
}

static int put_element(struct compare *c, const struct window *w, const struct element *e,
                       struct view_table *table, size_t row, json_t *list, struct err *err)
{
    const char *text[2], *where;
    int64_t at[BUFFER_RANK_MAX] = { 0 }, index[BUFFER_RANK_MAX] = { 0 };
    struct value v[2];

    for (int k = 0; k < 2; k++) {
        indexes_of(&w[k], e->i, at);
        if (window_text(&w[k], at, e->leaf, &text[k], err) < 0 ||
            window_value(&w[k], at, e->leaf, &v[k], err) < 0)
            return -1;
    }
    indexes_of(&w[0], e->i, index);
    for (int d = 0; d < w->rank; d++)
        index[d] += w->first[d];
    where = w->rank == 1   ? arena_printf(c->call->arena, "[%lld]", (long long)index[0])
            : w->rank == 2 ? arena_printf(c->call->arena, "[%lld][%lld]", (long long)index[0],
                                          (long long)index[1])
                           : arena_printf(c->call->arena, "[%lld][%lld][%lld]", (long long)index[0],
                                          (long long)index[1], (long long)index[2]);
    where = arena_printf(c->call->arena, "%s%s", w->rank && where ? where : "",
                         w->leaves[e->leaf].path);
    if (!where ||
        json_array_append_new(list, json_pack("{s:s, s:o, s:o, s:o}", "index", where, "left",
                                              value_to_json(&v[0]), "right", value_to_json(&v[1]),
                                              "difference", json_number(e->off))) < 0)
        return err_set(err, ERR_ResourceError, "out of memory");
    if (!table)
        return 0;
    view_cell(table, row, 0, result_text(c->result, "%s", where));
    view_cell(table, row, 1, result_text(c->result, "%s", text[0]));
    view_cell(table, row, 2, result_text(c->result, "%s", text[1]));
    view_cell(table, row, 3, isinf(e->off) ? "" : result_text(c->result, "%.6g", e->off));
    return 0;
}

static int fill_buffers(struct compare *c, const struct window *w, const struct element *top,
                        size_t count, int64_t differing, struct err *err)
{
    struct view_column columns[] = { { "element", VIEW_LEFT },
                                     { c->names[0], VIEW_RIGHT },
                                     { c->names[1], VIEW_RIGHT },
                                     { "difference", VIEW_RIGHT } };
    int64_t all = window_count(w) * (int64_t)w->leaf_count;
    struct view_table *table = count ? view_add_table(c->result, columns, 4, count) : NULL;
    json_t *list = json_array();
    char text[2][TEXT_NUMBER], worst[40] = "";

    for (size_t i = 0; list && i < count; i++)
        if (put_element(c, w, &top[i], table, i, list, err) < 0) {
            json_decref(list);
            return -1;
        }
    if (!list)
        return err_set(err, ERR_ResourceError, "out of memory");
    if (table)
        view_mark(table, 0);
    if (count && !isinf(top[0].off))
        snprintf(worst, sizeof(worst), ", by %.6g at most", top[0].off);
    c->result->view.answer =
        differing ? result_text(c->result, "%s and %s differ in %s of %s numbers%s.", c->names[0],
                                c->names[1], text_number(text[0], (double)differing),
                                text_number(text[1], (double)all), worst)
                  : result_text(c->result, "%s and %s are equal in all %s numbers.", c->names[0],
                                c->names[1], text_number(text[1], (double)all));
    if (count && isinf(top[0].off))
        c->result->view.closing = "-: never written. It differs from every number, as nan does.";
    else if (differing > (int64_t)count)
        c->result->view.closing =
            result_text(c->result, "Shown: the %zu largest differences.", count);
    if (json_object_set_new(c->result->fields, "max_difference",
                            json_number(count ? top[0].off : 0)) < 0) {
        json_decref(list);
        return err_set(err, ERR_ResourceError, "out of memory");
    }
    return put_fields(c, c->names[0], c->names[1], all, differing, list, err);
}

static int compare_windows(struct compare *c, const struct window *w, struct err *err)
{
    struct element top[ELEMENTS_SHOWN];
    size_t count = 0;
    int64_t differing = 0;

    if (w[0].leaf_count != w[1].leaf_count)
        return call_fail(c->call, "what", err, ERR_UsageError,
                         "an element of %s has %zu number%s, one of %s %zu: compare a member, "
                         "such as %s.x",
                         c->names[0], w[0].leaf_count, w[0].leaf_count == 1 ? "" : "s", c->names[1],
                         w[1].leaf_count, c->names[w[0].leaf_count == 1]);
    if (window_count(&w[0]) != window_count(&w[1]))
        return call_fail(c->call, "what", err, ERR_UsageError,
                         "%s has %lld elements, %s %lld: only equal lengths compare", c->names[0],
                         (long long)window_count(&w[0]), c->names[1],
                         (long long)window_count(&w[1]));
    for (size_t l = 0; l < w->leaf_count; l++)
        if (scan(w, l, top, &count, &differing, err) < 0)
            return -1;
    return fill_buffers(c, w, top, count, differing, err);
}

/* ---- the magic ---- */

static int read_two(struct compare *c, struct window *w, bool *is_window, struct value *v,
                    struct err *err)
{
    struct token t;
    bool ignored;

    lexer_init(&c->lexer, call_source(c->call, "what"), c->call->arena);
    c->scope =
        (struct scope){ .session = c->call->session, .lexer = &c->lexer, .arena = c->call->arena };
    for (int k = 0; k < 2; k++) {
        if (lexer_peek(&c->lexer, &t, err) < 0)
            return -1;
        if (t.kind == TOKEN_END) {
            call_fail(c->call, "what", err, ERR_UsageError,
                      "%%compare needs two things to compare");
            return err_next(err, "such as: %%compare a b, two results or two buffers");
        }
        if (expr_parse(&c->lexer, &c->exprs[k], err) < 0 ||
            window_read(&c->scope, c->exprs[k], &w[k], &is_window[k], &v[k], err) < 0 ||
            lexer_take_op(&c->lexer, ',', &ignored, err) < 0)
            return -1;
        c->names[k] = expr_show(&c->scope, c->exprs[k]);
    }
    if (lexer_peek(&c->lexer, &t, err) < 0)
        return -1;
    if (t.kind != TOKEN_END)
        return lexer_fail_at(&c->lexer, t.start, t.end, err, ERR_SyntaxError,
                             "%s stands behind the two: %%compare takes two",
                             token_show(&c->lexer, &t));
    return 0;
}

static json_t *object_of(const struct value *v)
{
    return v->type == VALUE_RESULT ? v->result->fields : v->type == VALUE_JSON ? v->json : NULL;
}

static int run(struct call *call, struct err *err)
{
    struct compare c = { .call = call };
    struct window w[2];
    bool is_window[2];
    struct value v[2];
    int rc = read_two(&c, w, is_window, v, err);

    if (rc < 0)
        return -1;
    c.result = result_new("compare", 1);
    if (!c.result)
        return err_set(err, ERR_ResourceError, "out of memory");
    if (is_window[0] && is_window[1]) {
        rc = compare_windows(&c, w, err);
    } else if (!is_window[0] && !is_window[1] && object_of(&v[0]) && object_of(&v[1])) {
        rc = compare_results(&c, object_of(&v[0]), object_of(&v[1]), err);
    } else {
        rc = call_fail(call, "what", err, ERR_UsageError,
                       "%s and %s: two results compare, or two buffers", c.names[0], c.names[1]);
        err_next(err, "a number is compared by %%check a == b");
    }
    return call_finish(call, c.result, rc < 0, err);
}

static const struct param PARAMS[] = {
    { .name = "what",
      .type = PARAM_REST,
      .flags = PARAM_POSITIONAL | PARAM_REQUIRED,
      .help = "two results (variables, _), or two buffers or pieces of them" },
};

static const struct field FIELDS[] = {
    { "left", "", "what stands on the left" },
    { "right", "", "what stands on the right" },
    { "count", "numbers", "compared" },
    { "differing", "numbers", "that are not equal" },
    { "max_difference", "", "of buffers: the largest |left - right|" },
    { "differences", "", "largest first: field or index, left, right, ratio or difference" },
};

const struct magic MAGIC_COMPARE = {
    .name = "compare",
    .summary = "two results or two buffers side by side, largest difference first",
    .about = "Of results every number that both have is compared, by ratio; lists inside them are "
             "left out. Of buffers every element is, and the ten largest differences are shown; an "
             "element that was never written differs from every number.",
    .example = "a = %occupancy regs=32\n"
               "b = %occupancy regs=64\n"
               "%compare a b\n"
               "%buffer float x[8] = iota\n"
               "%buffer float y[8] = {i == 5 ? 7 : i}\n"
               "%compare x y",
    .params = PARAMS,
    .param_count = COUNT(PARAMS),
    .fields = FIELDS,
    .field_count = COUNT(FIELDS),
    .run = run,
};
