/*
 * %show: numbers as a table that can be read by index. A row of 8 begins at a multiple
 * of 8, a matrix has its own rows and columns, a struct a column for each member.
 * Long buffers show their beginning; the first line speaks of all of it.
 */
#include "cells/cell.h"
#include "cells/internal.h"
#include "cells/magics.h"
#include "cells/render/render.h"
#include "cells/render/text.h"
#include "cells/window.h"

#include <stdio.h>

enum {
    SHOWN_VALUES = 64,    /* of a whole buffer */
    SHOWN_MOST = 1024,    /* of a range that was asked for */
    SHOWN_ROWS = 16,      /* of a matrix or of structs */
    SHOWN_ROWS_MOST = 64, /* of a range */
};

struct show {
    struct call *call;
    struct window w;
    struct window_facts facts; /* of the first leaf */
    struct result *result;
    int64_t rows, columns; /* shown: elements across, or leaves */
    const char **texts;    /* rows * columns; NULL behind the last */
    struct value *values;
    size_t width; /* of the widest text */
    int64_t shown;
};

/* ---- the numbers ---- */

static size_t digits(int64_t v)
{
    char text[24];

    return (size_t)snprintf(text, sizeof(text), "%lld", (long long)v);
}

static int take_cell(struct show *s, int64_t cell, const int64_t *at, size_t leaf, struct err *err)
{
    if (window_text(&s->w, at, leaf, &s->texts[cell], err) < 0 ||
        window_value(&s->w, at, leaf, &s->values[cell], err) < 0)
        return -1;
    if (strlen(s->texts[cell]) > s->width)
        s->width = strlen(s->texts[cell]);
    return 0;
}

static int reserve(struct show *s, int64_t rows, int64_t columns, struct err *err)
{
    s->rows = rows;
    s->columns = columns;
    s->texts = arena_array(s->call->arena, (size_t)(rows * columns), sizeof(*s->texts));
    s->values = arena_array(s->call->arena, (size_t)(rows * columns), sizeof(*s->values));
    return s->texts && s->values ? 0 : err_set(err, ERR_ResourceError, "out of memory");
}

static int take_vector(struct show *s, struct err *err)
{
    int64_t most = s->w.is_piece ? SHOWN_MOST : SHOWN_VALUES;
    int64_t n = s->w.rank ? min_i64(s->w.count[0], most) : 1, at[BUFFER_RANK_MAX] = { 0 };

    if (reserve(s, 1, n, err) < 0)
        return -1;
    for (; at[0] < n; at[0]++)
        if (take_cell(s, at[0], at, 0, err) < 0)
            return -1;
    s->shown = n;
    return 0;
}

/* As many columns as a line holds, in all rows that are shown. */
static int take_matrix(struct show *s, struct err *err)
{
    int d = s->w.rank - 2;
    int64_t rows = min_i64(s->w.count[d], s->w.is_piece ? SHOWN_ROWS_MOST : SHOWN_ROWS);
    int64_t columns = min_i64(s->w.count[d + 1], TEXT_COLUMNS / 2), at[BUFFER_RANK_MAX] = { 0 };
    int64_t fit;

    if (reserve(s, rows, columns, err) < 0)
        return -1;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < columns; c++) {
            at[d] = r;
            at[d + 1] = c;
            if (take_cell(s, r * columns + c, at, 0, err) < 0)
                return -1;
        }
    fit = (int64_t)((TEXT_COLUMNS - 4 - digits(s->w.first[d] + rows)) /
                    (max_i64((int64_t)s->width, (int64_t)digits(s->w.first[d + 1] + columns)) + 2));
    for (int64_t r = 0; fit < columns && r < rows; r++)
        for (int64_t c = 0; c < fit; c++) {
            s->texts[r * fit + c] = s->texts[r * columns + c];
            s->values[r * fit + c] = s->values[r * columns + c];
        }
    s->columns = min_i64(fit, columns);
    s->shown = s->rows * s->columns;
    return 0;
}

static int take_structs(struct show *s, struct err *err)
{
    int64_t rows = min_i64(window_count(&s->w), s->w.is_piece ? SHOWN_ROWS_MOST : SHOWN_ROWS);
    int64_t columns = min_i64((int64_t)s->w.leaf_count, 64);

    if (reserve(s, rows, columns, err) < 0)
        return -1;
    for (int64_t r = 0; r < rows; r++) {
        int64_t at[BUFFER_RANK_MAX] = { 0 }, rest = r;

        for (int d = s->w.rank - 1; d >= 0; d--) {
            at[d] = rest % s->w.count[d];
            rest /= s->w.count[d];
        }
        for (int64_t c = 0; c < columns; c++)
            if (take_cell(s, r * columns + c, at, (size_t)c, err) < 0)
                return -1;
    }
    s->shown = rows;
    return 0;
}

/* ---- as tables ---- */

static struct view_column *new_columns(struct show *s, size_t count)
{
    struct view_column *columns = arena_array(s->call->arena, count, sizeof(*columns));

    for (size_t i = 0; columns && i < count; i++)
        columns[i] = (struct view_column){ "", VIEW_RIGHT };
    return columns;
}

static void view_vector(struct show *s)
{
    static const int64_t ACROSS[] = { 16, 8, 4, 2, 1 };
    int64_t first = s->w.rank ? s->w.first[0] : 0, across = 1, rows;
    size_t label = digits(first + s->shown);
    struct view_column *columns;
    struct view_table *table;

    for (size_t i = 0; i < COUNT(ACROSS); i++) {
        across = ACROSS[i];
        if (2 + label + (size_t)across * (max_i64((int64_t)s->width, 3) + 2) <= TEXT_COLUMNS)
            break;
    }
    /* A few numbers stand under their own indexes. */
    if (s->shown <= across)
        across = s->shown;
    rows = ceil_div(s->shown, across);
    columns = new_columns(s, (size_t)across + 1);
    for (int64_t c = 0; columns && c < across; c++)
        columns[c + 1].title = rows == 1 ? result_text(s->result, "%lld", (long long)(first + c))
                                         : result_text(s->result, "+%lld", (long long)c);
    table = columns ? view_add_table(s->result, columns, (size_t)across + 1, (size_t)rows) : NULL;
    for (int64_t i = 0; table && i < s->shown; i++) {
        if (i % across == 0 && rows > 1)
            view_cell(table, (size_t)(i / across), 0,
                      result_text(s->result, "%lld", (long long)(first + i)));
        view_cell(table, (size_t)(i / across), (size_t)(i % across) + 1,
                  result_text(s->result, "%s", s->texts[i]));
    }
}

static void view_matrix(struct show *s)
{
    int d = s->w.rank - 2;
    struct view_column *columns = new_columns(s, (size_t)s->columns + 1);
    struct view_table *table;

    for (int64_t c = 0; columns && c < s->columns; c++)
        columns[c + 1].title = result_text(s->result, "%lld", (long long)(s->w.first[d + 1] + c));
    table = columns ? view_add_table(s->result, columns, (size_t)s->columns + 1, (size_t)s->rows)
                    : NULL;
    for (int64_t r = 0; table && r < s->rows; r++) {
        view_cell(table, (size_t)r, 0,
                  result_text(s->result, "%lld", (long long)(s->w.first[d] + r)));
        for (int64_t c = 0; c < s->columns; c++)
            view_cell(table, (size_t)r, (size_t)c + 1,
                      result_text(s->result, "%s", s->texts[r * s->columns + c]));
    }
}

static void view_structs(struct show *s)
{
    struct view_column *columns = new_columns(s, (size_t)s->columns + 1);
    struct view_table *table;

    for (int64_t c = 0; columns && c < s->columns; c++)
        columns[c + 1].title = result_text(s->result, "%s", s->w.leaves[c].path + 1);
    table = columns ? view_add_table(s->result, columns, (size_t)s->columns + 1, (size_t)s->rows)
                    : NULL;
    for (int64_t r = 0; table && r < s->rows; r++) {
        int64_t index[BUFFER_RANK_MAX] = { 0 }, rest = r;
        char text[80] = "";
        size_t n = 0;

        for (int d = s->w.rank - 1; d >= 0; d--) {
            index[d] = s->w.first[d] + rest % s->w.count[d];
            rest /= s->w.count[d];
        }
        for (int d = 0; d < s->w.rank; d++)
            n += (size_t)snprintf(text + n, sizeof(text) - n, s->w.rank > 1 ? "[%lld]" : "%lld",
                                  (long long)index[d]);
        view_cell(table, (size_t)r, 0, result_text(s->result, "%s", text));
        for (int64_t c = 0; c < s->columns; c++)
            view_cell(table, (size_t)r, (size_t)c + 1,
                      result_text(s->result, "%s", s->texts[r * s->columns + c]));
    }
}

/* ---- in words ---- */

static const char *type_text(const struct show *s, bool with_piece)
{
    const struct window *w = &s->w;
    const char *name = w->source == WINDOW_PLACE          ? buffer_value_type(&w->place)->name
                       : w->leaves[0].kind == SCALAR_LONG ? "long"
                                                          : scalar_name(w->leaves[0].kind);
    char text[160];
    size_t n = (size_t)snprintf(text, sizeof(text), "%.60s", name);

    for (int d = 0; d < w->rank; d++)
        n += (size_t)snprintf(text + n, sizeof(text) - n, "[%lld]",
                              (long long)(with_piece ? w->count[d] : w->whole[d]));
    return result_text(s->result, "%s", text);
}

static const char *short_value(const struct show *s, const struct value *v)
{
    const char *text = value_text(s->call->arena, v);

    /* The table has all digits; the first line is for the eye. */
    if (v->type == VALUE_FLOAT && text && strlen(text) > 10)
        text = arena_printf(s->call->arena, "%.7g", v->f);
    return text ? text_show(s->call->arena, bytes_of(text), 24) : "?";
}

static void put_answer(struct show *s)
{
    const struct window_facts *f = &s->facts;
    struct buf b = { 0 };
    char number[TEXT_NUMBER], mean[64];

    buf_printf(&b, "%s: ", s->w.name);
    if (s->w.source == WINDOW_LIST)
        buf_printf(&b, "%s values", text_number(number, (double)f->count));
    else
        buf_puts(&b, type_text(s, true));
    if (f->unwritten == f->count) {
        buf_puts(&b, ", never written");
    } else if (s->w.leaf_count == 1 && f->count > 1 && f->unwritten + f->nans < f->count) {
        snprintf(mean, sizeof(mean), "%.6g", f->mean);
        buf_printf(&b, ", %s to %s, mean %s", short_value(s, &f->least), short_value(s, &f->most),
                   mean);
    }
    if (f->nans)
        buf_printf(&b, ", %s nan", text_number(number, (double)f->nans));
    if (f->unwritten && f->unwritten < f->count)
        buf_printf(&b, ", %s never written (-)", text_number(number, (double)f->unwritten));
    buf_putc(&b, '.');
    s->result->view.answer = result_text(s->result, "%s", buf_text(&b));
    buf_done(&b);
}

static void put_origin(struct show *s)
{
    const struct buffer *b = s->w.place.buffer.buffer;
    char bytes[TEXT_NUMBER];

    if (s->w.source == WINDOW_LIST)
        return;
    if (s->w.source == WINDOW_PROGRAM) {
        s->result->view.origin = result_text(s->result, "for each element of %s", b->name);
        return;
    }
    s->result->view.origin =
        result_text(s->result, "%s %s   %s bytes at 0x%llx",
                    b->is_symbol ? "device variable," : "buffer,", b->origin,
                    text_number(bytes, (double)b->size), (unsigned long long)b->address);
}

/* "Shown: 64 of 1,024. Next: %show x[64..127]" */
static void put_closing(struct show *s)
{
    const struct window *w = &s->w;
    char shown[TEXT_NUMBER], all[TEXT_NUMBER];
    bool is_matrix = w->rank >= 2 && w->leaf_count == 1;
    const char *buffer =
        w->source == WINDOW_PLACE ? buffer_value_name(s->call->arena, &w->place) : NULL;
    int64_t from, to;
    int d = w->rank - 2;

    text_number(shown, (double)s->shown);
    text_number(all, (double)window_count(w));
    if (s->shown == window_count(w))
        return;
    if (is_matrix) {
        s->result->view.closing = result_text(
            s->result,
            "Shown: %lld of %lld rows, %lld of %lld columns%s. A piece: %%show %s%s[0..%lld][0..%lld]",
            (long long)s->rows, (long long)w->count[d], (long long)s->columns,
            (long long)w->count[d + 1], w->rank > 2 ? " of the first plane" : "",
            buffer ? buffer : w->name, w->rank > 2 ? "[1]" : "", (long long)s->rows - 1,
            (long long)s->columns - 1);
        return;
    }
    from = w->first[0] + s->shown;
    to = min_i64(w->first[0] + w->count[0], from + s->shown) - 1;
    if (w->rank != 1 || !buffer || w->skipped)
        s->result->view.closing = result_text(s->result, "Shown: the first %s of %s.", shown, all);
    else
        s->result->view.closing =
            result_text(s->result, "Shown: the first %s of %s. Next: %%show %s[%lld..%lld]", shown,
                        all, buffer, (long long)from, (long long)to);
}

/* ---- fields ---- */

static json_t *values_json(const struct show *s)
{
    json_t *all = json_array();
    bool is_nested = s->rows > 1 || s->w.leaf_count > 1;
    int failed = 0;

    for (int64_t r = 0; r < s->rows; r++) {
        json_t *row = is_nested ? json_array() : all;

        for (int64_t c = 0; c < s->columns; c++)
            failed |= json_array_append_new(row, value_to_json(&s->values[r * s->columns + c]));
        if (is_nested)
            failed |= json_array_append_new(all, row);
    }
    return json_whole(all, failed);
}

static json_t *list_json(const int64_t *list, int n)
{
    json_t *array = json_array();
    int failed = 0;

    for (int i = 0; i < n; i++)
        failed |= json_array_append_new(array, json_integer(list[i]));
    return json_whole(array, failed);
}

static int set_fields(struct show *s, struct err *err)
{
    const struct window_facts *f = &s->facts;
    json_t *fields = s->result->fields, *columns = json_array();
    bool has_numbers = s->w.leaf_count == 1 && f->unwritten + f->nans < f->count;
    int failed = 0;

    for (size_t l = 0; s->w.leaf_count > 1 && l < s->w.leaf_count; l++)
        failed |= json_array_append_new(columns, json_string(s->w.leaves[l].path + 1));
    failed |= json_object_set_new(fields, "name", json_string(s->w.name));
    failed |= json_object_set_new(fields, "type", json_string(type_text(s, true)));
    failed |= json_object_set_new(fields, "shape", list_json(s->w.count, s->w.rank));
    failed |= json_object_set_new(fields, "first", list_json(s->w.first, s->w.rank));
    failed |= json_object_set_new(fields, "count", json_integer(f->count));
    failed |= json_object_set_new(fields, "unwritten", json_integer(f->unwritten));
    failed |= json_object_set_new(fields, "nan", json_integer(f->nans));
    failed |=
        json_object_set_new(fields, "min", has_numbers ? value_to_json(&f->least) : json_null());
    failed |=
        json_object_set_new(fields, "max", has_numbers ? value_to_json(&f->most) : json_null());
    failed |= json_object_set_new(fields, "mean", has_numbers ? json_number(f->mean) : json_null());
    failed |= json_object_set_new(fields, "columns", json_whole(columns, failed));
    failed |= json_object_set_new(fields, "shown", json_integer(s->shown));
    failed |= json_object_set_new(fields, "values", values_json(s));
    return failed ? err_set(err, ERR_ResourceError, "out of memory") : 0;
}

/* ---- the magic ---- */

static int show_window(struct show *s, struct err *err)
{
    bool is_structs = s->w.leaf_count > 1;

    s->result = result_new("show", 1);
    if (!s->result)
        return err_set(err, ERR_ResourceError, "out of memory");
    if (window_facts(&s->w, 0, &s->facts, err) < 0 ||
        (is_structs       ? take_structs(s, err)
         : s->w.rank >= 2 ? take_matrix(s, err)
                          : take_vector(s, err)) < 0 ||
        set_fields(s, err) < 0) {
        result_release(&s->result);
        return -1;
    }
    put_answer(s);
    put_origin(s);
    if (is_structs)
        view_structs(s);
    else if (s->w.rank >= 2)
        view_matrix(s);
    else
        view_vector(s);
    put_closing(s);
    return call_take_result(s->call, s->result, err);
}

/* A result is shown as its magic showed it. */
static int show_result(struct call *call, const struct result *result, struct err *err)
{
    struct rendering rendering = { 0 };
    int rc = render_result(result, &rendering, err);

    for (size_t i = 0; rc == 0 && i < rendering.count; i++)
        sink_display(call->sink, rendering.bundles[i], NULL, NULL, false);
    rendering_done(&rendering);
    return rc;
}

static int show_value(struct call *call, const struct scope *scope, const struct expr *expr,
                      const struct value *v, struct err *err)
{
    const char *text = value_text(call->arena, v);

    if (v->type == VALUE_RESULT)
        return show_result(call, v->result, err);
    if (!text)
        return err_set(err, ERR_ResourceError, "out of memory");
    sink_printf(call->sink, STREAM_STDOUT, "%s = %s\n", expr_show(scope, expr), text);
    return 0;
}

static int run(struct call *call, struct err *err)
{
    struct lexer lexer;
    struct scope scope = { .session = call->session, .lexer = &lexer, .arena = call->arena };
    struct expr *expr;
    struct value value;
    bool is_window, is_more = true;
    struct token t;

    lexer_init(&lexer, call_source(call, "what"), call->arena);
    while (is_more) {
        struct show s = { .call = call };

        if (expr_parse(&lexer, &expr, err) < 0 ||
            window_read(&scope, expr, &s.w, &is_window, &value, err) < 0 ||
            (is_window ? show_window(&s, err) : show_value(call, &scope, expr, &value, err)) < 0 ||
            lexer_take_op(&lexer, ',', &is_more, err) < 0 || lexer_peek(&lexer, &t, err) < 0)
            return -1;
        is_more |= t.kind == TOKEN_WORD; /* %show x y */
        if (!is_more && t.kind != TOKEN_END)
            return lexer_fail_at(&lexer, t.start, t.end, err, ERR_SyntaxError,
                                 "%s stands where the line should end", token_show(&lexer, &t));
    }
    return 0;
}

static const struct param PARAMS[] = {
    { .name = "what",
      .type = PARAM_REST,
      .flags = PARAM_POSITIONAL | PARAM_REQUIRED,
      .help = "a buffer, a piece of one, a device variable, a list or a result" },
};

static const struct field FIELDS[] = {
    { "name", "", "what is shown" },
    { "type", "", "of its elements, with the dimensions" },
    { "shape", "", "length of each dimension" },
    { "first", "", "index of the first element, by dimension" },
    { "count", "elements", "all that were asked for" },
    { "unwritten", "elements", "never written since the buffer was made" },
    { "nan", "elements", "not a number" },
    { "min", "", "smallest number; null: there is none, or elements are structs" },
    { "max", "", "largest number" },
    { "mean", "", "arithmetic mean" },
    { "columns", "", "members, for structs and vectors" },
    { "shown", "elements", "in values" },
    { "values", "", "numbers by row; null: never written" },
};

const struct magic MAGIC_SHOW = {
    .name = "show",
    .flags = MAGIC_SILENT,
    .summary = "shows numbers as a table: %show x[0..10]",
    .about = "Buffers and pieces of them (x[0..10], A[0..3][0..3]), device variables, members "
             "(p.vx), expressions over elements ({2*x}), lists, results. Long ones show their "
             "beginning; the first line speaks of all elements. - stands for what was never "
             "written.",
    .example = "%buffer float x[100] = {i * i}\n"
               "%show x[0..10]\n"
               "%buffer float A[4][4] = {i == j}\n"
               "%show A",
    .params = PARAMS,
    .param_count = COUNT(PARAMS),
    .fields = FIELDS,
    .field_count = COUNT(FIELDS),
    .run = run,
};
