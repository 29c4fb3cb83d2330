/*
 * %plot draws buffers: curves over the index, or one two-dimensional buffer as a map.
 * A million numbers do not fit on a thousand dots: each group of them is drawn from its
 * smallest to its largest, so that no peak is lost, and the figure says so.
 */
#include "cells/cell.h"
#include "cells/figure.h"
#include "cells/internal.h"
#include "cells/magics.h"
#include "cells/render/text.h"
#include "cells/window.h"

#include <math.h>
#include <stdio.h>

enum {
    SERIES_MOST = 8,
    POINTS_MOST = 2000, /* of a curve that is drawn point by point */
    GROUPS = 1000,      /* else so many, two points each */
    TILES = 64,         /* rows and columns of a map */
};

struct plot {
    struct call *call;
    struct scope scope;
    struct lexer lexer;
    struct window windows[SERIES_MOST];
    struct window_facts facts[SERIES_MOST];
    size_t leaves[SERIES_MOST]; /* which number of the element */
    const char *names[SERIES_MOST];
    size_t count;
    int64_t group; /* numbers that one point, or tile, stands for */
    struct result *result;
};

/* ---- reading ---- */

static int add_series(struct plot *p, const struct expr *expr, const struct window *w, size_t leaf,
                      struct err *err)
{
    const char *name;

    if (p->count == SERIES_MOST)
        return expr_fail(&p->scope, expr, err, ERR_ValueError, "a plot has at most %d curves",
                         SERIES_MOST);
    if (window_facts(w, leaf, &p->facts[p->count], err) < 0)
        return -1;
    name = arena_printf(p->call->arena, "%s%s", w->name,
                        w->leaf_count > 1 ? w->leaves[leaf].path : "");
    if (!name)
        return err_set(err, ERR_ResourceError, "out of memory");
    if (p->facts[p->count].unwritten == p->facts[p->count].count) {
        expr_fail(&p->scope, expr, err, ERR_ValueError, "%s was never written: nothing to draw",
                  name);
        return err_next(err, "a launch or %%buffer NAME = ... gives it values");
    }
    p->windows[p->count] = *w;
    p->leaves[p->count] = leaf;
    p->names[p->count++] = name;
    return 0;
}

static int read_one(struct plot *p, struct err *err)
{
    struct expr *expr;
    struct value value;
    struct window w;
    bool is_window;

    if (expr_parse(&p->lexer, &expr, err) < 0 ||
        window_read(&p->scope, expr, &w, &is_window, &value, err) < 0)
        return -1;
    if (!is_window) {
        expr_fail(&p->scope, expr, err, ERR_UsageError, "%s is %s: a plot takes buffers and lists",
                  expr_show(&p->scope, expr), value_a_type(value.type));
        return err_next(err, value.type == VALUE_RESULT
                                 ? "a sweep draws its own figure; [..] of one field is a list"
                                 : "such as: %%plot x[0..100]");
    }
    if (w.rank == 0 && w.leaf_count == 1)
        return expr_fail(&p->scope, expr, err, ERR_UsageError, "%s is one number", w.name);
    for (size_t l = 0; l < w.leaf_count; l++)
        if (add_series(p, expr, &w, l, err) < 0)
            return -1;
    return 0;
}

static int read_all(struct plot *p, struct err *err)
{
    bool is_more = true;
    struct token t;

    lexer_init(&p->lexer, call_source(p->call, "what"), p->call->arena);
    p->scope =
        (struct scope){ .session = p->call->session, .lexer = &p->lexer, .arena = p->call->arena };
    while (is_more) {
        if (read_one(p, err) < 0 || lexer_take_op(&p->lexer, ',', &is_more, err) < 0 ||
            lexer_peek(&p->lexer, &t, err) < 0)
            return -1;
        is_more |= t.kind != TOKEN_END; /* %plot x y */
    }
    return 0;
}

/* ---- curves ---- */

/* All numbers of a window in a row, whatever its dimensions. */
static int take_numbers(struct plot *p, size_t i, double **out, int64_t *count, struct err *err)
{
    const struct window *w = &p->windows[i];
    int64_t row = w->rank ? w->count[w->rank - 1] : 1, rows = window_count(w) / row;

    *count = window_count(w);
    *out = arena_array(p->call->arena, (size_t)*count, sizeof(**out));
    if (!*out)
        return err_set(err, ERR_ResourceError,
                       "%s numbers of %s do not fit in the cell's memory: draw a piece of it",
                       result_text(p->result, "%lld", (long long)*count), p->names[i]);
    for (int64_t r = 0; r < rows; r++) {
        int64_t at[BUFFER_RANK_MAX] = { 0 }, rest = r;

        for (int d = w->rank - 2; d >= 0; d--) {
            at[d] = rest % w->count[d];
            rest /= w->count[d];
        }
        if (window_row(w, at, p->leaves[i], row, *out + r * row, err) < 0)
            return -1;
    }
    return 0;
}

/* Least and greatest of each group, at the group's first index; NaN when it has no number. */
static size_t take_extremes(const double *from, int64_t count, int64_t group, double first,
                            double *x, double *y)
{
    size_t n = 0;

    for (int64_t g = 0; g < count; g += group) {
        double least = (double)NAN, most = (double)NAN;

        for (int64_t i = g; i < count && i < g + group; i++) {
            if (isnan(from[i]))
                continue;
            least = isnan(least) || from[i] < least ? from[i] : least;
            most = isnan(most) || from[i] > most ? from[i] : most;
        }
        x[n] = first + (double)g;
        y[n++] = least;
        x[n] = first + (double)g;
        y[n++] = most;
    }
    return n;
}

static int64_t group_of(const struct plot *p)
{
    int64_t longest = 0;

    for (size_t i = 0; i < p->count; i++)
        longest = max_i64(longest, window_count(&p->windows[i]));
    return longest <= POINTS_MOST ? 1 : ceil_div(longest, GROUPS);
}

static int add_curve(struct plot *p, struct panel *panel, size_t i, struct err *err)
{
    const struct window *w = &p->windows[i];
    double *numbers, *x, *y, first = w->rank == 1 ? (double)w->first[0] : 0;
    int64_t count;
    size_t n;

    if (take_numbers(p, i, &numbers, &count, err) < 0)
        return -1;
    n = (size_t)(p->group > 1 ? 2 * ceil_div(count, p->group) : count);
    x = arena_array(p->call->arena, n, sizeof(*x));
    y = arena_array(p->call->arena, n, sizeof(*y));
    if (!x || !y)
        return err_set(err, ERR_ResourceError, "out of memory");
    if (p->group > 1)
        n = take_extremes(numbers, count, p->group, first, x, y);
    else
        for (size_t k = 0; k < n; k++) {
            x[k] = first + (double)k;
            y[k] = numbers[k];
        }
    panel_add_series(panel, p->names[i], x, y, n);
    return 0;
}

static const char *facts_text(const struct plot *p, size_t i)
{
    const struct window_facts *f = &p->facts[i];
    struct buf b = { 0 };
    char number[TEXT_NUMBER];
    const char *text;

    buf_printf(&b, "%s: %s elements", p->names[i], text_number(number, (double)f->count));
    if (f->unwritten + f->nans < f->count)
        buf_printf(&b, ", %.6g to %.6g, mean %.6g", f->min, f->max, f->mean);
    if (f->unwritten)
        buf_printf(&b, ", %s never written", text_number(number, (double)f->unwritten));
    if (f->nans)
        buf_printf(&b, ", %s nan", text_number(number, (double)f->nans));
    text = result_text(p->result, "%s", buf_text(&b));
    buf_done(&b);
    return text ? text : "";
}

static const char *all_names(const struct plot *p)
{
    struct buf b = { 0 };
    const char *text;

    for (size_t i = 0; i < p->count; i++)
        buf_printf(&b, "%s%s", i ? ", " : "", p->names[i]);
    text = result_text(p->result, "%s", buf_text(&b));
    buf_done(&b);
    return text ? text : "";
}

static const char *all_facts(const struct plot *p, const char *note)
{
    struct buf b = { 0 };
    const char *text;

    for (size_t i = 0; i < p->count; i++)
        buf_printf(&b, "%s%s.", i ? "\n" : "", facts_text(p, i));
    if (note)
        buf_printf(&b, "\n%s", note);
    text = result_text(p->result, "%s", buf_text(&b));
    buf_done(&b);
    return text ? text : "";
}

static enum figure_scale scale_of(const struct call *call)
{
    const char *scale = call_text(call, "scale");

    return strcmp(scale, "log2") == 0    ? SCALE_LOG2
           : strcmp(scale, "log10") == 0 ? SCALE_LOG10
                                         : SCALE_LINEAR;
}

static int draw_curves(struct plot *p, struct err *err)
{
    struct figure_axis x = { .label = "element" }, y = { .scale = scale_of(p->call) };
    const char *note = NULL;
    struct figure *figure;
    struct panel *panel;
    char group[TEXT_NUMBER];

    p->group = group_of(p);
    if (p->group > 1)
        note = result_text(p->result,
                           "Drawn: the smallest and the largest of each %s consecutive elements.",
                           text_number(group, (double)p->group));
    y.label = p->count == 1 ? p->names[0] : NULL;
    figure = figure_new(p->result, all_names(p), all_facts(p, note), all_facts(p, note));
    panel = figure_add_lines(figure, NULL, x, y);
    for (size_t i = 0; i < p->count; i++)
        if (add_curve(p, panel, i, err) < 0)
            return -1;
    p->result->view.closing = note;
    return 0;
}

/* ---- a map ---- */

struct map {
    int64_t rows, columns, tile_rows, tile_columns;
    double *sums;
    int64_t *counts;
};

static int add_tiles(struct plot *p, struct map *m, struct err *err)
{
    const struct window *w = &p->windows[0];
    int64_t columns = w->count[w->rank - 1], at[BUFFER_RANK_MAX] = { 0 };
    double *row = arena_array(p->call->arena, (size_t)columns, sizeof(*row));

    if (!row)
        return err_set(err, ERR_ResourceError, "out of memory");
    for (; at[w->rank - 2] < w->count[w->rank - 2]; at[w->rank - 2]++) {
        /* A map is drawn upwards, a matrix is read downwards: row 0 comes last. */
        int64_t tile = (m->rows - 1 - at[w->rank - 2] / m->tile_rows) * m->columns;
        double *sums = m->sums + tile;
        int64_t *counts = m->counts + tile;

        if (window_row(w, at, p->leaves[0], columns, row, err) < 0)
            return -1;
        for (int64_t c = 0; c < columns; c++)
            if (!isnan(row[c])) {
                sums[c / m->tile_columns] += row[c];
                counts[c / m->tile_columns]++;
            }
    }
    return 0;
}

static const char **tile_names(struct plot *p, int64_t first, int64_t tile, int64_t count)
{
    const char **names = arena_array(p->call->arena, (size_t)count, sizeof(*names));

    for (int64_t i = 0; names && i < count; i++)
        names[i] = result_text(p->result, "%lld", (long long)(first + i * tile));
    return names;
}

static int draw_map(struct plot *p, struct err *err)
{
    const struct window *w = &p->windows[0];
    int d = w->rank - 2;
    struct map m = { .tile_rows = ceil_div(w->count[d], TILES),
                     .tile_columns = ceil_div(w->count[d + 1], TILES) };
    const char *note = NULL, **x_names, **y_names;
    struct figure *figure;
    size_t cells;

    m.rows = ceil_div(w->count[d], m.tile_rows);
    m.columns = ceil_div(w->count[d + 1], m.tile_columns);
    cells = (size_t)(m.rows * m.columns);
    m.sums = arena_array(p->call->arena, cells, sizeof(*m.sums));
    m.counts = arena_array(p->call->arena, cells, sizeof(*m.counts));
    x_names = tile_names(p, w->first[d + 1], m.tile_columns, m.columns);
    y_names = tile_names(p, w->first[d] + (m.rows - 1) * m.tile_rows, -m.tile_rows, m.rows);
    if (!m.sums || !m.counts || !x_names || !y_names)
        return err_set(err, ERR_ResourceError, "out of memory");
    if (add_tiles(p, &m, err) < 0)
        return -1;
    for (size_t i = 0; i < cells; i++)
        m.sums[i] = m.counts[i] ? m.sums[i] / (double)m.counts[i] : (double)NAN;
    p->group = m.tile_rows * m.tile_columns;
    if (p->group > 1)
        note = result_text(p->result, "Drawn: the mean of each tile of %lld x %lld elements.",
                           (long long)m.tile_rows, (long long)m.tile_columns);
    else if (w->rank > 2)
        note = "Drawn: the first plane.";
    figure = figure_new(p->result, p->names[0], all_facts(p, note), all_facts(p, note));
    figure_add_heat(figure, NULL, (struct figure_axis){ .label = "column" },
                    (struct figure_axis){ .label = "row" },
                    (struct figure_axis){ .label = p->names[0] }, x_names, (size_t)m.columns,
                    y_names, (size_t)m.rows, m.sums);
    p->result->view.closing = note;
    return 0;
}

/* ---- fields and view ---- */

static json_t *series_json(const struct plot *p)
{
    json_t *all = json_array();
    int failed = 0;

    for (size_t i = 0; i < p->count; i++) {
        const struct window_facts *f = &p->facts[i];
        bool has = f->unwritten + f->nans < f->count;

        failed |=
            json_array_append_new(all,
                                  json_pack("{s:s, s:I, s:I, s:I, s:o, s:o, s:o}", "name",
                                            p->names[i], "count", (json_int_t)f->count, "unwritten",
                                            (json_int_t)f->unwritten, "nan", (json_int_t)f->nans,
                                            "min", has ? json_number(f->min) : json_null(), "max",
                                            has ? json_number(f->max) : json_null(), "mean",
                                            has ? json_number(f->mean) : json_null()));
    }
    return json_whole(all, failed);
}

static void put_view(struct plot *p)
{
    struct view_block *facts;

    p->result->view.answer = result_text(p->result, "%s.", facts_text(p, 0));
    if (p->count == 1)
        return;
    facts = view_add_facts(p->result, p->count - 1);
    for (size_t i = 1; facts && i < p->count; i++) {
        const char *text = facts_text(p, i), *colon = strstr(text, ": ");

        facts->names[i - 1] = result_text(p->result, "%s", p->names[i]);
        facts->texts[i - 1] = colon ? colon + 2 : text;
    }
}

static int run(struct call *call, struct err *err)
{
    struct plot p = { .call = call, .group = 1 };
    int rc;

    p.result = result_new("plot", 1);
    if (!p.result)
        return err_set(err, ERR_ResourceError, "out of memory");
    rc = read_all(&p, err);
    if (rc == 0)
        rc = p.count == 1 && p.windows[0].rank >= 2 ? draw_map(&p, err) : draw_curves(&p, err);
    if (rc == 0 && (json_object_set_new(p.result->fields, "series", series_json(&p)) < 0 ||
                    json_object_set_new(p.result->fields, "group", json_integer(p.group)) < 0))
        rc = err_set(err, ERR_ResourceError, "out of memory");
    if (rc < 0) {
        result_release(&p.result);
        return -1;
    }
    put_view(&p);
    return call_take_result(call, p.result, err);
}

static const struct param PARAMS[] = {
    { .name = "what",
      .type = PARAM_REST,
      .flags = PARAM_POSITIONAL | PARAM_REQUIRED,
      .help = "buffers, pieces of them, lists or {expressions}; blanks or commas between" },
    { .name = "scale",
      .type = PARAM_CHOICE,
      .preset = "linear",
      .choices = "linear log2 log10",
      .help = "of the numbers; a logarithmic one leaves out what is not above 0" },
};

static const struct field FIELDS[] = {
    { "series", "", "one object a curve: name, count, unwritten, nan, min, max, mean" },
    { "group", "elements", "that one point or tile stands for; 1: every element is drawn" },
};

const struct magic MAGIC_PLOT = {
    .name = "plot",
    .flags = MAGIC_SILENT,
    .summary = "draws buffers as curves, or one with rows and columns as a map",
    .about = "Curves go over the index. A buffer of two dimensions alone is a map of its numbers. "
             "More than 2,000 elements are drawn in groups, each from its smallest to its largest; "
             "of a map of more than 64 rows or columns each tile is a mean. The figure says so.",
    .example = "%buffer float x[100] = {sin(0.1 * i)}\n"
               "%plot x\n"
               "%plot x[0..30], {x[i] * x[i]}\n"
               "%buffer float A[16][16] = {i * j}\n"
               "%plot A",
    .params = PARAMS,
    .param_count = COUNT(PARAMS),
    .fields = FIELDS,
    .field_count = COUNT(FIELDS),
    .run = run,
};
